// C++: a hand is guided along a line and feels a button click. The line is an effect of the scene; the click
// is a function of the program's own, which runs on the real-time thread. The program prints the events.
#include "devices/registry.h"
#include "haptic/tactus.hpp"

#include <cstdio>

namespace
{

constexpr char text[] = R"(
scene: a guided hand
tools:
- {name: finger, axes: 3, shapes: [{kind: sphere, radius_m: 0.005}]}
objects:
- {name: plate, position_m: [0, 0, -0.01], shapes: [{kind: box, size_m: [0.1, 0.1, 0.02], segments: 2}]}
effects:
- {kind: line, name: guide, direction: [0, 0, 1], stiffness_N_per_m: 200}
)";

// A button from 20 to 15 mm: a spring that gives way half-way down.
struct click {
	void operator()(const tac_effect_input &in, tac_effect_output &out) const noexcept
	{
		const double stiffness = 300, depth = 0.02 - in.T_world_device.position.z;
		const double pressed = depth < 0.0025 ? depth : 0.005 - depth;
		out.stiffness_N_per_m = stiffness;
		out.wrench.force_N.z = pressed > 0 ? stiffness * pressed : 0;
	}
};

} // namespace

int main()
{
	// From 30 mm, 4 mm beside the line, down to 3 mm within a second; the finger touches at 5 mm.
	tac_sim_waypoint path[2] = {};
	path[0].position_m = {0.004, 0, 0.03};
	path[1].position_m = {0.004, 0, 0.003};
	path[1].time_ns = 1000000000;
	tac_open_def hand = {};
	hand.sim_path = path;
	hand.sim_waypoints = 2;

	const auto scene = tactus::parse_scene(text, "guided");
	const auto world = tactus::build_world(scene);
	tactus::device device;
	if (!world || tac_registry_open("sim:omega3", &hand, device.out()) < TAC_OK)
		return 1;
	const click button;
	auto servo = tac_servo_def_default();
	servo.world = world;
	servo.device = device;
	servo.events = 256;
	servo.callback = tactus::callback(button);
	auto loop = tac_loop_def_default();
	loop.periods = 1200;
	const auto play = tactus::start(servo, &loop);
	if (!play)
		return 1;
	tac_play_wait(play);

	tactus::for_each_event(tac_play_servo(play), [](const tac_event &e) {
		std::printf("%s %s%s%s\n", tac_event_kind_name(e.kind), e.object_name,
			    e.surface_name[0] ? " " : "", e.surface_name);
	});
	const tac_snapshot *s = tac_servo_snapshot(tac_play_servo(play), 0);
	std::printf("%.1f mm beside the line, guided back with %.2f N; the plate pushes with %.2f N\n",
		    1e3 * s->T_world_device.position.x, -s->effects.wrench.force_N.x,
		    s->contact_count > 0 ? s->contacts[0].force_N.z : 0);
}
