// Tactus in C++17: owners that destroy what they hold, and the few calls that are awkward across languages.
// Everything else is the C interface, which takes an owner as it takes a pointer. Nothing here throws or
// allocates; a function that fails returns an empty owner and leaves its message in the log (base/log.h).
//
// Owners are destroyed in the reverse order of their declaration, as C++ does it: declare scene, world, live,
// device and play in this order.
#ifndef TAC_HAPTIC_TACTUS_HPP
#define TAC_HAPTIC_TACTUS_HPP

#include "haptic/live.h"
#include "haptic/play.h"
#include "haptic/render.h"
#include "haptic/scene_builder.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tactus
{

// Owns a T, which Destroy frees. It moves and does not copy.
template <class T, class Destroy> class owner
{
      public:
	owner() noexcept = default;
	explicit owner(T *object) noexcept : object_(object)
	{
	}
	owner(owner &&other) noexcept : object_(std::exchange(other.object_, nullptr))
	{
	}
	owner &operator=(owner &&other) noexcept
	{
		if (this != &other) {
			reset();
			object_ = std::exchange(other.object_, nullptr);
		}
		return *this;
	}
	owner(const owner &) = delete;
	owner &operator=(const owner &) = delete;
	~owner()
	{
		reset();
	}

	T *get() const noexcept
	{
		return object_;
	}
	// The C interface takes the owner itself.
	operator T *() const noexcept // NOLINT: meant to be implicit
	{
		return object_;
	}
	T *operator->() const noexcept
	{
		return object_;
	}
	explicit operator bool() const noexcept
	{
		return object_ != nullptr;
	}
	// Destroys what it holds, and returns the place for an out_ parameter of the C interface.
	T **out() noexcept
	{
		reset();
		return &object_;
	}
	T *release() noexcept
	{
		return std::exchange(object_, nullptr);
	}
	void reset() noexcept
	{
		if (object_)
			Destroy{}(&object_);
		object_ = nullptr;
	}

      private:
	T *object_ = nullptr;
};

struct destroy {
	void operator()(tac_scene **p) const noexcept
	{
		tac_scene_destroy(p);
	}
	void operator()(tac_world **p) const noexcept
	{
		tac_world_destroy(p);
	}
	void operator()(tac_live **p) const noexcept
	{
		tac_live_destroy(p);
	}
	void operator()(tac_device **p) const noexcept
	{
		tac_device_destroy(p);
	}
	void operator()(tac_servo **p) const noexcept
	{
		tac_servo_destroy(p);
	}
	void operator()(tac_play **p) const noexcept
	{
		tac_play_destroy(p);
	}
	void operator()(tac_render **p) const noexcept
	{
		tac_render_destroy(p);
	}
};

using scene = owner<tac_scene, destroy>;
using world = owner<tac_world, destroy>;
using live = owner<tac_live, destroy>;
using device = owner<tac_device, destroy>; // of tac_registry_open(…, device.out()) and the like
using servo = owner<tac_servo, destroy>;
using play = owner<tac_play, destroy>;
using render = owner<tac_render, destroy>;

// ---- to make them; empty after a failure ----

inline scene load_scene(const char *path) noexcept
{
	scene s;
	tac_scene_load(path, s.out());
	return s;
}

// `name` is used in messages.
inline scene parse_scene(std::string_view text, const char *name) noexcept
{
	scene s;
	tac_scene_parse(text.data(), text.size(), name, s.out());
	return s;
}

// The scene outlives the world.
inline world build_world(const scene &of, const char *collider = "wide") noexcept
{
	world w;
	tac_world_build(of, tac_collider_find(collider), w.out());
	return w;
}

inline live make_live(const tac_live_def &def) noexcept
{
	live l;
	tac_live_create(&def, l.out());
	return l;
}

inline play start(const tac_play_def &def) noexcept
{
	play p;
	tac_play_start_hands(&def, p.out());
	return p;
}

inline play start(const tac_servo_def &hand, const tac_loop_def *loop = nullptr) noexcept
{
	play p;
	tac_play_start(&hand, loop, p.out());
	return p;
}

// ---- to use them ----

// Calls f(const tac_event &) for each event that waits; returns their number.
template <class F> std::size_t for_each_event(tac_servo *of, F &&f)
{
	tac_event event;
	std::size_t count = 0;
	for (; tac_servo_next_event(of, &event); count++)
		f(static_cast<const tac_event &>(event));
	return count;
}

// A callback that calls f(const tac_effect_input &, tac_effect_output &), which must be noexcept: it runs on
// the real-time thread, under the contract of haptic/effect.h. `f` outlives the servo.
template <class F> tac_effect_callback callback(F &f) noexcept
{
	static_assert(
		noexcept(f(std::declval<const tac_effect_input &>(), std::declval<tac_effect_output &>())),
		"a force on the real-time thread must be noexcept");
	tac_effect_callback c = {};
	c.fn = [](void *user, const tac_effect_input *in, tac_effect_output *out) {
		(*static_cast<F *>(user))(*in, *out);
	};
	c.user = const_cast<void *>(static_cast<const void *>(&f)); // F may be const
	return c;
}

} // namespace tactus

#endif
