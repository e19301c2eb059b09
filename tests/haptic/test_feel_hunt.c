// A search for forces that kick, vanish or pay: random scenes, tools, hands and rates. In every tick the
// change of the force keeps its bound, the force does not drop out, and a tool with three axes gets no
// torque. From one free moment to the next, the hands together gain no work beyond the bound of
// docs/forces.md, and debts are carried over; in closed loop, none leaves the port that did not enter it or
// come from a moving object.
//
//   test_feel_hunt [TICKS [SEED]]       a search over at least so many ticks
//   test_feel_hunt run NUMBER SEED      one run of it, tick by tick, as CSV
#include "base/rng.h"
#include "devices/sim.h"
#include "tests/support/limits.h"
#include "tests/support/servo_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static long wanted_ticks;
static uint64_t seed = 1;
static int64_t only_run = -1;
static bool at_length; // with the reference meshes, and several whole runs in each scene

// ---- a check that finds a hit ----

static bool fault_now;

tac_overlap __real_tac_collider_query(const tac_collider *collider, tac_context *context,
				      const tac_shape *moving, const tac_shape *fixed,
				      const tac_rigid *motion, tac_query_mode mode, tac_budget budget);
tac_overlap __wrap_tac_collider_query(const tac_collider *collider, tac_context *context,
				      const tac_shape *moving, const tac_shape *fixed,
				      const tac_rigid *motion, tac_query_mode mode, tac_budget budget);
tac_overlap __wrap_tac_collider_query(const tac_collider *collider, tac_context *context,
				      const tac_shape *moving, const tac_shape *fixed,
				      const tac_rigid *motion, tac_query_mode mode, tac_budget budget)
{
	const tac_overlap answer =
		__real_tac_collider_query(collider, context, moving, fixed, motion, mode, budget);
	return fault_now ? TAC_OVERLAP_HIT : answer;
}

// ---- scenes ----

// All objects are about 80 mm large, centred on the origin.
static const struct {
	const char *name, *shapes;
	bool mesh; // a reference mesh, which may be missing
} objects[] = {
	{"body", "{kind: body, radius_m: 0.04, bump_m: 0.004, subdivisions: 4}", false},
	{"coarse ball", "{kind: sphere, radius_m: 0.04, subdivisions: 1}", false},
	{"bunny", "{kind: mesh, file: \"" TACTUS_MESHES "/bunny.off\", scale: 0.15}", true},
	{"box", "{kind: box, size_m: [0.08, 0.07, 0.06], segments: 2}", false},
	{"buddha", "{kind: mesh, file: \"" TACTUS_MESHES "/buddha.off\", scale: 0.1}", true},
	{"cylinder", "{kind: cylinder, radius_m: 0.04, height_m: 0.08, segments: 16, rings: 4}", false},
	{"groove", "{kind: groove, size_m: [0.08, 0.08, 0.06], height_m: 0.02}", false},
	{"dragon", "{kind: mesh, file: \"" TACTUS_MESHES "/dragon.off\", scale: 0.12}", true},
	{"torus", "{kind: torus, radius_m: 0.03, minor_radius_m: 0.012, segments: 24, rings: 12}", false},
	{"tooth", "{kind: tooth, radius_m: 0.03, bump_m: 0.006, subdivisions: 4}", false},
	{"filter", "{kind: mesh, file: \"" TACTUS_MESHES "/filter.off\", scale: 0.1}", true},
	{"plate", "{kind: box, size_m: [0.1, 0.1, 0.001], segments: 24}", false},
	{"cube", "{kind: mesh, file: \"" TACTUS_MESHES "/cube.off\", scale: 0.08}", true},
};
#define OBJECTS (sizeof objects / sizeof *objects)

static const struct {
	const char *name, *shapes;
} tools[] = {
	{"sphere", "{kind: solids, solids: \"sphere:r=0.002\"}"},
	{"capsule", "{kind: solids, solids: \"capsule:r=0.003,h=0.02\"}"},
	{"box", "{kind: box, size_m: [0.01, 0.012, 0.014], segments: 1}"},
	{"mesh", "{kind: body, radius_m: 0.006, bump_m: 0.001, subdivisions: 2}"},
	{"point", "{kind: solids, solids: \"sphere:r=0.0005\"}"},
};
#define TOOLS (sizeof tools / sizeof *tools)

typedef enum motion { RESTS, RECEDES, PUSHES, MOTIONS } motion;
static const char *const motion_names[] = {"rests", "recedes", "pushes"};

typedef enum gait { WALK, SAW, JITTER, THROW, CIRCLE, RECORDED, WAIT, GAITS } gait;
static const char *const gait_names[] = {"walk", "saw", "jitter", "throws", "circles", "recorded", "waits"};

typedef enum kind { ONE_HAND, CLOSED_LOOP, TWO_HANDS, REACTIVE, FAULTS, KINDS } kind;
static const char *const kind_names[] = {"one hand", "closed loop", "two hands", "reactive mover", "faults"};

static const double rates[] = {500, 1000, 4000, 10000};
static const char *const presets[] = {"falcon", "omega3", "omega7", "touch", "premium", "six"};
static const char *const grips[] = {"light", "stylus", "wrist"};

typedef struct hunt {
	size_t object, tool;
	int axes;
	motion motion;
	double friction, stiffness, texture;
	bool weak;       // the device
	double weight_N; // of the tool, which the device supports
	// Of each run in the scene.
	kind kind;
	gait gait;
	double rate_Hz;
	int preset, grip;
	uint64_t number;
} hunt;

static void print_hunt(const hunt *h, char *text, size_t size)
{
	snprintf(text, size,
		 "run %ld: %s, %s on %s, %d axes, %s, %s, friction %.2f, %.0f N/m%s%s%s, %.0f Hz%s%s",
		 (long)h->number, kind_names[h->kind], tools[h->tool].name, objects[h->object].name, h->axes,
		 gait_names[h->gait], motion_names[h->motion], h->friction, h->stiffness,
		 h->texture > 0 ? ", textured" : "", h->weak ? ", weak" : "",
		 h->weight_N > 0 ? ", heavy" : "", h->rate_Hz, h->kind == CLOSED_LOOP ? ", " : "",
		 h->kind == CLOSED_LOOP ? presets[h->preset] : "");
}

static long ticks_of(const hunt *h)
{
	const double seconds =
		at_length ? fmax(fmin(4000 / h->rate_Hz, 3), 0.8) : fmin(1200 / h->rate_Hz, 0.8);
	return (long)(seconds * h->rate_Hz);
}

static bool build_scene(const hunt *h, tac_scene **out_scene, tac_world **out_world)
{
	static const char *const paths[] = {
		"", "path: [{time_s: 0}, {time_s: 0.4, position_m: [0.01, 0, -0.02]}, {time_s: 0.8}], ",
		"path: [{time_s: 0}, {time_s: 0.3, position_m: [0, 0.01, 0.02], rotation_rad: [0, 0, 0.3]}, "
		"{time_s: 0.5}], "};
	char tool[400], text[2400];
	snprintf(tool, sizeof tool,
		 "axes: %d, shapes: [%s], limits: {max_force_N: %g, max_torque_Nm: %g, max_speed_m_per_s: "
		 "100, %s}",
		 h->axes, tools[h->tool].shapes, h->weak ? 2.5 : 90, h->weak ? 0.02 : 9,
		 h->kind == FAULTS ? "engage_s: 0.02, deadman_button: 0" : "engage_s: 0.001");
	snprintf(text, sizeof text,
		 "scene: hunt\nmaterials: [{name: m, stiffness_N_per_m: %.17g, static_friction: %.17g, "
		 "dynamic_friction: %.17g%s}]\ntools: [{name: a, %s}%s%s%s]\n"
		 "objects: [{name: o, material: m, %sshapes: [%s]}]\n",
		 h->stiffness, h->friction, 0.7 * h->friction,
		 h->texture > 0 ? ", texture: grooves, texture_height_m: 0.00005, texture_wavelength_m: 0.002"
				: "",
		 tool, h->kind == TWO_HANDS ? ", {name: b, " : "", h->kind == TWO_HANDS ? tool : "",
		 h->kind == TWO_HANDS ? "}" : "", paths[h->motion], objects[h->object].shapes);
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "hunt", out_scene));
	if (tac_world_build(*out_scene, tac_collider_find("wide"), out_world) == TAC_OK)
		return true;
	TEST_ASSERT_TRUE(objects[h->object].mesh);
	tac_scene_destroy(out_scene);
	return false;
}

// ---- hands ----

// A hand on its way; rng is its own.
typedef struct hand {
	tac_rng rng;
	gait gait;
	bool arrives;          // on its first stroke
	double time_s, next_s; // now; when the next stroke begins
	double stroke_s, speed, noise_m;
	tac_dpose T;
	tac_dvec3 from, to, v, w, x, y;
} hand;

// The hand begins this far from the origin, and comes to the object within APPROACH_S.
#define AWAY_M     0.12
#define APPROACH_S 0.08

static hand hand_begin(uint64_t number, gait way, int which)
{
	hand h = {.rng = tac_rng_seed(seed * 1000003 + number, 17 + (uint64_t)which), .gait = way};
	h.T = tac_dpose_make(tac_dvec3_scale(tac_rng_unit_f64(&h.rng), AWAY_M), tac_dquat_identity());
	h.from = h.to = h.T.position;
	h.speed = pow(
		10, tac_rng_range_f64(&h.rng, -1.7, way == THROW ? 0 : -0.3)); // throws reach 1.9 times that
	h.noise_m = pow(10, tac_rng_range_f64(&h.rng, -5.5, -3.5));
	return h;
}

// A place in or around the object, mostly near its surface.
static tac_dvec3 place(tac_rng *rng)
{
	return tac_dvec3_scale(tac_rng_unit_f64(rng), tac_rng_range_f64(rng, 0.022, 0.05));
}

static void begin_stroke(hand *h)
{
	h->from = h->T.position;
	const bool first = h->arrives = h->next_s == 0;
	if (h->gait == SAW && !first && tac_rng_below(&h->rng, 8) > 0)
		h->to = tac_dvec3_add(tac_dvec3_scale(h->from, 1), tac_dvec3_scale(h->v, -h->stroke_s));
	else
		h->to = place(&h->rng);
	if (h->gait == SAW && !first && tac_rng_below(&h->rng, 2))
		h->to = tac_dvec3_lerp(h->from, h->to, 0.1);
	const double length = tac_dvec3_length(tac_dvec3_sub(h->to, h->from));
	h->stroke_s = first ? APPROACH_S : fmax(length / h->speed, 2e-3);
	h->x = tac_dvec3_scale(tac_dvec3_normalize(tac_dvec3_cross(h->to, tac_rng_unit_f64(&h->rng))),
			       tac_rng_range_f64(&h->rng, 1e-3, 0.02));
	h->y = tac_dvec3_cross(tac_dvec3_normalize(h->to), h->x);
	if (h->gait == WAIT && !first)
		h->stroke_s = fmax(h->stroke_s, 0.05);
	if (h->gait == CIRCLE && !first) // there, four laps
		h->stroke_s += 4 * 6.283185307179586 * tac_dvec3_length(h->x) / h->speed;
	h->next_s = h->time_s + h->stroke_s;
}

static tac_dvec3 random_in_ball(tac_rng *rng, double radius)
{
	return tac_dvec3_scale(tac_rng_unit_f64(rng), radius * tac_rng_f64(rng));
}

static tac_dvec3 on_stroke(hand *h, double dt)
{
	const double s = 1 - fmax(h->next_s - h->time_s, 0) / h->stroke_s;
	const double smooth = s * s * s * (10 - 15 * s + 6 * s * s); // minimum jerk
	if (h->arrives)
		return tac_dvec3_lerp(h->from, h->to, smooth);
	switch (h->gait) {
	case SAW:
		h->v = tac_dvec3_scale(tac_dvec3_sub(h->to, h->from), 1 / h->stroke_s);
		return tac_dvec3_lerp(h->from, h->to, s);
	case THROW:
		return tac_dvec3_lerp(h->from, h->to, smooth);
	case WAIT: { // there within a third of the time
		const double t = fmin(3 * s, 1);
		return tac_dvec3_lerp(h->from, h->to, t * t * (3 - 2 * t));
	}
	case RECORDED: { // tremor, steps of a sensor
		const double tremor = 1e-4 * sin(62.8 * h->time_s), step = 2e-5;
		const tac_dvec3 p =
			tac_dvec3_add_scaled(tac_dvec3_lerp(h->from, h->to, smooth), tremor, h->x);
		return tac_dvec3_make(step * floor(p.x / step), step * floor(p.y / step),
				      step * floor(p.z / step));
	}
	case CIRCLE: {
		const double there = tac_dvec3_length(tac_dvec3_sub(h->to, h->from)) / h->speed / h->stroke_s;
		const double angle = 4 * 6.283185307179586 * fmax(0, s - there) / (1 - there);
		const tac_dvec3 centre =
			tac_dvec3_lerp(h->from, tac_dvec3_sub(h->to, h->x), fmin(1, s / fmax(there, 1e-9)));
		return tac_dvec3_add(
			tac_dvec3_add_scaled(centre, fmin(1, s / fmax(there, 1e-9)) * cos(angle), h->x),
			tac_dvec3_scale(h->y, sin(angle)));
	}
	default: { // drawn towards its goal
		const tac_dvec3 to = tac_dvec3_sub(h->to, h->T.position);
		const double speed = fmin(h->speed, 5 * tac_dvec3_length(to)), keep = exp(-dt / 0.05);
		h->v = tac_dvec3_lerp(tac_dvec3_scale(tac_dvec3_normalize(to), speed), h->v, keep);
		return tac_dvec3_add_scaled(h->T.position, dt, h->v);
	}
	}
}

// The pose after dt.
static tac_dpose hand_step(hand *h, int axes, double dt)
{
	h->time_s += dt;
	if (h->time_s >= h->next_s)
		begin_stroke(h);
	h->T.position = on_stroke(h, dt);
	if (axes == 6) {
		const double keep = exp(-dt / 0.1);
		h->w = tac_dvec3_add_scaled(tac_dvec3_scale(h->w, keep), 2 * sqrt(dt),
					    tac_rng_unit_f64(&h->rng));
		h->T.rotation = tac_dquat_normalize(
			tac_dquat_mul(tac_dquat_exp(tac_dvec3_scale(h->w, dt)), h->T.rotation));
	}
	tac_dpose T = h->T;
	if (h->gait == JITTER)
		T.position = tac_dvec3_add(T.position, random_in_ball(&h->rng, h->noise_m));
	return T;
}

// ---- work ----

// Less work than that is not felt.
#define SMALL_J 1e-5

// The work on the hand since it was last free, by the trapezoidal rule: relative to the object, and in the
// world less what the object's own motion put in. An object that recedes faster than the force may fall takes
// more from the springs than they hold; the hand does not get it. The gain is the lesser of the two, which
// are the same where the object rests.
typedef struct purse {
	bool started;
	tac_dpose T_world_device, T_world_object;
	tac_wrench wrench;
	double work_J, world_J, held_J, slack_J, widest_m, given_J;
	bool free;
} purse;

// The motion from one pose to another, and the work that half the sum of two wrenches does along it.
typedef struct purse_motion {
	tac_dvec3 move_m, turn_rad;
} purse_motion;

static double purse_work(const tac_wrench *a, const tac_wrench *b, const purse_motion *m)
{
	return 0.5 * tac_dvec3_dot(tac_dvec3_add(a->force_N, b->force_N), m->move_m) +
	       0.5 * tac_dvec3_dot(tac_dvec3_add(a->torque_Nm, b->torque_Nm), m->turn_rad);
}

static purse_motion purse_motion_of(tac_dpose from, tac_dpose to, tac_dvec3 at)
{
	const tac_dpose moved = tac_dpose_compose(to, tac_dpose_inverse(from));
	return (purse_motion){tac_dvec3_sub(tac_dpose_apply_point(moved, at), at),
			      tac_dquat_log(moved.rotation)};
}

static bool is_zero(const tac_wrench *w)
{
	return tac_dvec3_length(w->force_N) == 0 && tac_dvec3_length(w->torque_Nm) == 0;
}

static void purse_step(purse *p, const tac_snapshot *s, double stiffness, double arm_m, double dt)
{
	const tac_wrench *w = &s->sent;
	// A hand that presses while the gate is closed is not free, nor is one whose force is still fading
	// then.
	const bool free = is_zero(w) && is_zero(&s->wanted) && s->contact_count == 0;
	if (p->started) {
		const tac_dvec3 at = p->T_world_device.position;
		const purse_motion device = purse_motion_of(p->T_world_device, s->T_world_device, at),
				   object = purse_motion_of(p->T_world_object, s->T_world_objects[0], at);
		const double on_hand = purse_work(&p->wrench, w, &device),
			     by_object = purse_work(&p->wrench, w, &object);
		p->work_J += on_hand - by_object;
		p->world_J += on_hand - fmax(by_object, 0);
		p->held_J =
			fmax(p->held_J, 0.5 * tac_dvec3_length_squared(w->force_N) / stiffness +
						(arm_m > 0 ? 0.5 * tac_dvec3_length_squared(w->torque_Nm) /
								     (stiffness * arm_m * arm_m)
							   : 0));
		// Where a contact begins or ends the rule errs by an eighth of K dx^2. The account allows for
		// that each time.
		const double far = tac_dvec3_length(tac_dvec3_sub(device.move_m, object.move_m)) +
				   arm_m * tac_dvec3_length(tac_dvec3_sub(device.turn_rad, object.turn_rad));
		p->widest_m = fmax(p->widest_m, far);
		// A hand that rests may be given what it has not paid for, at 50 mW.
		if (!free)
			p->given_J += fmax(1 - far / dt / 0.02, 0) * 0.05 * dt;
		if (free != p->free)
			p->slack_J += 0.125 * stiffness * far * far;
	}
	p->free = free;
	p->T_world_device = s->T_world_device;
	p->T_world_object = s->T_world_objects[0];
	p->wrench = *w;
	p->started = true;
}

// What the hands together have gained beyond the bound. A gain within the bound is a debt that the next
// contact has to repay: the count begins anew only when the hands are free and have gained nothing.
static double purse_gain(purse *purses, int hands, double stiffness, double dt)
{
	double work = 0, world = 0, most = SMALL_J;
	bool free = true;
	for (int i = 0; i < hands; i++) {
		const purse *p = &purses[i];
		work += p->work_J;
		world += p->world_J;
		// A force falls by up to 3 K dx: a contact that it ends between two ticks errs thrice as
		// much.
		most += p->slack_J + 3 * 0.125 * stiffness * p->widest_m * p->widest_m;
		// Of what it was given it gets the share that the bound on the force's change leaves it.
		const double speed = p->widest_m / dt;
		most += fmin(p->given_J, p->held_J) * speed / (WATCH_SLEW_M_PER_S + 3 * speed);
		free &= p->free;
	}
	if (free && fmin(work, world) <= 0) {
		for (int i = 0; i < hands; i++)
			purses[i].work_J = purses[i].world_J = purses[i].held_J = purses[i].slack_J =
				purses[i].widest_m = purses[i].given_J = 0;
	}
	return fmax(fmin(work, world) - most, 0);
}

// ---- runs ----

typedef struct tally {
	long ticks, runs, jumps, dropouts, torques, gains, monitor, contact_ticks, spent;
	double largest_ratio, gain_J, generated_J;
} tally;

static void print_tick(const tac_snapshot *s, const purse *p)
{
	if (only_run >= 0)
		printf("%ld,%.9f,%.9f,%.9f,%.6f,%.6f,%.6f,%.7f,%x,%d,%.9f,%.9f,%d\n", (long)s->tick,
		       s->T_world_device.position.x, s->T_world_device.position.y,
		       s->T_world_device.position.z, s->sent.force_N.x, s->sent.force_N.y, s->sent.force_N.z,
		       tac_dvec3_length(s->sent.torque_Nm), (unsigned)s->sco_flags, (int)s->contact_count,
		       p->work_J * 1e3, p->held_J * 1e3, (int)s->tool);
}

static void tally_watch(tally *t, const force_watch *w, const tac_snapshot *s)
{
	t->jumps += w->jumps;
	t->dropouts += w->dropouts;
	t->monitor += (long)(s->feel.jumps);
	t->largest_ratio = fmax(t->largest_ratio, w->largest_ratio);
	t->contact_ticks += (long)s->contact_ticks;
	t->spent += (long)s->budget_spent_ticks;
}

// How far the object has moved under the device. A contact may end and begin by that as well.
static double object_travel(const tac_snapshot *s, tac_dpose *T_world_object)
{
	const tac_dpose moved = tac_dpose_compose(s->T_world_objects[0], tac_dpose_inverse(*T_world_object));
	const tac_dvec3 at = s->T_world_device.position;
	*T_world_object = s->T_world_objects[0];
	return tac_dvec3_length(tac_dvec3_sub(tac_dpose_apply_point(moved, at), at));
}

static void run_open(const hunt *h, const tac_world *world, tally *t)
{
	const int hands = h->kind == TWO_HANDS ? 2 : 1;
	puppet puppets[2];
	tac_servo *servos[2] = {NULL, NULL};
	hand on_way[2];
	force_watch watches[2] = {{.counts = true}, {.counts = true}};
	purse purses[2] = {{.free = true}, {.free = true}};
	double gain_J = 0;
	tac_dpose T_world_object = tac_dpose_identity();
	tac_rng faults = tac_rng_seed(h->number, 5);
	long released = 0; // ticks for which the dead-man's button is not held
	const double dt = 1 / h->rate_Hz, arm = h->axes == 3 ? 0 : world->scene->tools[0].turn_arm_m;
	for (int i = 0; i < hands; i++) {
		tac_servo_def def = tac_servo_def_default();
		def.world = world;
		def.tool = i;
		def.period_ns = llround(1e9 * dt);
		def.mover = h->kind == REACTIVE ? TAC_SCO_REACTIVE : TAC_SCO_CONTINUOUS;
		puppet_init(&puppets[i]);
		puppets[i].base.info.weight_N = h->weight_N;
		def.device = &puppets[i].base;
		on_way[i] = hand_begin(h->number, h->gait, i);
		TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &servos[i]));
	}
	if (hands == 2)
		TEST_ASSERT_EQUAL(TAC_OK, tac_servo_join(servos[0], servos[1]));
	const long ticks = ticks_of(h);
	for (long k = 0; k < ticks; k++) {
		for (int i = 0; i < hands; i++)
			puppets[i].state.T_base_tool = hand_step(&on_way[i], h->axes, dt);
		fault_now = h->kind == FAULTS && tac_rng_below(&faults, 300) == 0;
		if (h->kind == FAULTS && --released < 0 && tac_rng_below(&faults, 400) == 0)
			released = (long)(h->rate_Hz * tac_rng_range_f64(&faults, 0.002, 0.08));
		for (int i = 0; i < hands; i++)
			puppets[i].state.buttons = released > 0 ? 0 : 1;
		tac_servo_step_all(servos, hands, k * llround(1e9 * dt), NULL);
		fault_now = false;
		for (int i = 0; i < hands; i++) {
			const tac_snapshot *s = tac_servo_snapshot(servos[i], 0);
			watches[i].travel_m += object_travel(s, &T_world_object);
			// A force that the hand has switched off is no dropout. One that vanishes while it
			// still fades is.
			if (s->limits & 1u << TAC_LIMIT_DEADMAN && s->gain == 0)
				watches[i].felt = false;
			force_watch_step(&watches[i], world, s);
			t->torques += h->axes == 3 && tac_dvec3_length(s->sent.torque_Nm) > 0;
			purse_step(&purses[i], s, h->stiffness, arm, dt);
			print_tick(s, &purses[i]);
		}
		gain_J = fmax(gain_J, purse_gain(purses, hands, h->stiffness, dt));
	}
	for (int i = 0; i < hands; i++) {
		tally_watch(t, &watches[i], tac_servo_snapshot(servos[i], 0));
		tac_servo_destroy(&servos[i]);
	}
	t->gains += gain_J > 0;
	t->gain_J = fmax(t->gain_J, gain_J);
	t->ticks += hands * ticks;
}

#define WAYPOINTS 300

// What entered the springs in this tick and not by the device's force: the object's own motion, and with
// `turned` the hand's rotation against the torque that the device lacks.
static double put_from_outside(purse *p, const tac_snapshot *s, bool turned)
{
	double put_J = 0;
	if (p->started) {
		const tac_dvec3 at = p->T_world_device.position;
		const tac_wrench forces[2] = {{p->wrench.force_N, tac_dvec3_zero()},
					      {s->sent.force_N, tac_dvec3_zero()}};
		const purse_motion object = purse_motion_of(p->T_world_object, s->T_world_objects[0], at),
				   device = purse_motion_of(p->T_world_device, s->T_world_device, at);
		put_J += fmax(purse_work(&forces[0], &forces[1], &object), 0);
		if (turned)
			put_J -= 0.5 * tac_dvec3_dot(tac_dvec3_add(p->wrench.torque_Nm, s->wanted.torque_Nm),
						     device.turn_rad);
	}
	p->T_world_device = s->T_world_device;
	p->T_world_object = s->T_world_objects[0];
	p->wrench = (tac_wrench){s->sent.force_N, s->wanted.torque_Nm};
	p->started = true;
	return put_J;
}

// A simulated device; its hand follows the path through points 10 ms apart.
static void run_closed(const hunt *h, const tac_world *world, tally *t)
{
	tac_sim_def sim;
	tac_sim_waypoint path[WAYPOINTS];
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset(presets[h->preset], grips[h->grip], &sim));
	hand on_way = hand_begin(h->number, h->gait, 0);
	for (int i = 0; i < WAYPOINTS; i++) {
		const tac_dpose T = hand_step(&on_way, h->axes, 0.01);
		path[i] = (tac_sim_waypoint){.time_ns = i * 10 * MS, .position_m = T.position};
		const tac_dvec3 turn = tac_dquat_log(T.rotation);
		path[i].rotation_rad =
			tac_dvec3_scale(turn, fmin(1, 1.5 / fmax(tac_dvec3_length(turn), 1e-9)));
	}
	sim.path = path;
	sim.waypoints = WAYPOINTS;
	sim.start_m = path[0].position_m;
	tac_device *device;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(&sim, &device));
	tac_device_enable(device, true);
	tac_servo_def def = tac_servo_def_default();
	def.world = world;
	def.device = device;
	def.period_ns = llround(1e9 / h->rate_Hz);
	tac_servo *servo;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &servo));
	force_watch watch = {.counts = true}, sent = {.device = tac_dpose_identity()};
	purse none = {0};
	const long ticks = ticks_of(h);
	// A hand that turns a device without torque does no work, but turns the tool: what it would put in
	// with torque is what it may get back by force.
	const bool asymmetric =
		h->axes == 6 && device->info.rotation_axes > 0 && device->info.torque_axes == 0;
	double least_J = 0, motion_J = 0, before_J = 0, outside_J = 0;
	purse last_poses = {0};
	for (long k = 0; k < ticks; k++) {
		tac_servo_step(servo, k * def.period_ns, NULL);
		tac_snapshot s = *tac_servo_snapshot(servo, 0);
		print_tick(&s, &none);
		t->torques += h->axes == 3 && tac_dvec3_length(s.sent.torque_Nm) > 0;
		watch_dropouts(&sent, tac_dvec3_length(s.sent.force_N),
			       watch_travel(&sent, s.T_world_device, 0));
		sent.device = s.T_world_device;
		s.sent = s.wanted; // before passivity and limit
		s.gain = 1;
		force_watch_step(&watch, world, &s);
		outside_J += put_from_outside(&last_poses, tac_servo_snapshot(servo, 0), asymmetric);
		const double absorbed_J = tac_sim_read_truth(device).absorbed_J;
		least_J = fmin(least_J, absorbed_J + outside_J);
		motion_J = fmax(motion_J, fabs(absorbed_J - before_J));
		before_J = absorbed_J;
	}
	const tac_snapshot *last = tac_servo_snapshot(servo, 0);
	tally_watch(t, &watch, last);
	t->dropouts += sent.dropouts;
	const double generated_J = -least_J - 3 * motion_J;
	t->generated_J = fmax(t->generated_J, generated_J);
	t->gains += generated_J > 2 * SMALL_J;
	t->ticks += ticks;
	tac_servo_destroy(&servo);
	tac_device_destroy(&device);
}

// ---- the search ----

// A scene; runs in it differ in hand, rate and device. Every object and tool has its turn.
static hunt choose_scene(uint64_t number)
{
	tac_rng rng = tac_rng_seed(seed * 7919 + number, 3);
	static const kind often[] = {ONE_HAND,  ONE_HAND,    CLOSED_LOOP, ONE_HAND,
				     TWO_HANDS, CLOSED_LOOP, REACTIVE,    FAULTS};
	hunt h = {.object = number % OBJECTS, .tool = tac_rng_below(&rng, TOOLS)};
	h.kind = often[(number + number / OBJECTS) % (sizeof often / sizeof *often)];
	h.axes = h.tool == 0 || h.tool == 4 ? 3 : tac_rng_below(&rng, 2) ? 3 : 6;
	h.motion = tac_rng_below(&rng, 3) ? RESTS : (motion)tac_rng_below(&rng, MOTIONS);
	h.friction = tac_rng_below(&rng, 2) ? tac_rng_range_f64(&rng, 0.1, 1) : 0;
	h.stiffness = pow(10, tac_rng_range_f64(&rng, 2.5, 3.4));
	h.texture = tac_rng_below(&rng, 6) == 0;
	h.weak = tac_rng_below(&rng, 4) == 0;
	h.weight_N = tac_rng_below(&rng, 4) == 0 ? 0.8 : 0;
	return h;
}

static void choose_run(hunt *h, uint64_t number)
{
	tac_rng rng = tac_rng_seed(seed * 104729 + number, 4);
	h->number = number;
	h->gait = (gait)tac_rng_below(&rng, WAIT);
	if (number % 8 == 5)
		h->gait = WAIT;
	h->rate_Hz = rates[tac_rng_below(&rng, 4)];
	h->preset = (int)tac_rng_below(&rng, 6);
	h->grip = (int)tac_rng_below(&rng, 3);
}

#define RUNS 6 // in each scene

static long failures(const tally *t)
{
	return t->jumps + t->dropouts + t->torques + t->gains + t->monitor;
}

static void add(tally *sum, const tally *t)
{
	sum->ticks += t->ticks;
	sum->runs++;
	sum->jumps += t->jumps;
	sum->dropouts += t->dropouts;
	sum->torques += t->torques;
	sum->gains += t->gains;
	sum->monitor += t->monitor;
	sum->contact_ticks += t->contact_ticks;
	sum->spent += t->spent;
	sum->largest_ratio = fmax(sum->largest_ratio, t->largest_ratio);
	sum->gain_J = fmax(sum->gain_J, t->gain_J);
	sum->generated_J = fmax(sum->generated_J, t->generated_J);
}

static void print_tally(const char *name, const tally *t)
{
	if (t->runs > 0)
		printf("%-16s %8ld ticks, %7ld in contact, %6ld starved; %ld jumps (%.4f of the bound), %ld "
		       "dropouts, %ld torques, %ld of %ld runs pay (%.4f mJ, %.4f mJ generated)\n",
		       name, t->ticks, t->contact_ticks, t->spent, t->jumps + t->monitor, t->largest_ratio,
		       t->dropouts, t->torques, t->gains, t->runs, 1e3 * t->gain_J, 1e3 * t->generated_J);
}

static void no_force_kicks_vanishes_or_pays(void)
{
	tally kinds[KINDS] = {{0}}, gaits[GAITS] = {{0}}, by_rate[4] = {{0}}, all = {0};
	for (uint64_t scene_number = 0; all.ticks < wanted_ticks; scene_number++) {
		if (only_run >= 0)
			scene_number = (uint64_t)only_run / RUNS;
		hunt h = choose_scene(scene_number);
		if (objects[h.object].mesh && !at_length)
			continue;
		tac_scene *scene;
		tac_world *world;
		if (!build_scene(&h, &scene, &world)) {
			TEST_ASSERT_TRUE_MESSAGE(only_run < 0, "the mesh of this run cannot be loaded");
			continue;
		}
		for (uint64_t i = 0; i < (at_length ? RUNS : 1); i++) {
			choose_run(&h, scene_number * RUNS + i);
			if (only_run >= 0 && h.number != (uint64_t)only_run)
				continue;
			char text[240];
			print_hunt(&h, text, sizeof text);
			if (only_run >= 0)
				fprintf(stderr, "%s\n", text);
			tally t = {0};
			(h.kind == CLOSED_LOOP ? run_closed : run_open)(&h, world, &t);
			add(&kinds[h.kind], &t);
			add(&gaits[h.gait], &t);
			for (int r = 0; r < 4; r++) {
				if (rates[r] == h.rate_Hz)
					add(&by_rate[r], &t);
			}
			add(&all, &t);
			if (failures(&t) > 0) {
				tally one = {0};
				add(&one, &t);
				print_tally(text, &one);
			}
		}
		tac_world_destroy(&world);
		tac_scene_destroy(&scene);
		if (only_run >= 0)
			break;
	}
	for (int i = 0; i < KINDS; i++)
		print_tally(kind_names[i], &kinds[i]);
	for (int i = 0; i < GAITS; i++)
		print_tally(gait_names[i], &gaits[i]);
	for (int i = 0; i < 4; i++) {
		char name[32];
		snprintf(name, sizeof name, "%.0f Hz", rates[i]);
		print_tally(name, &by_rate[i]);
	}
	print_tally("all", &all);
	TEST_ASSERT_EQUAL(0, failures(&all));
	TEST_ASSERT_TRUE(all.contact_ticks > all.ticks / 20);
}

// Runs that paid while the account did not limit what is sent, all behind the reactive mover: a capsule that
// retreats from 57 N (36 mJ), a point on a filter with friction (3.3 mJ), a texture on the bunny (0.13 mJ).
// In the fourth one an object waits for the tool and then recedes by millimetres in a tick. In the fifth one,
// in closed loop, the hand presses five times as hard as the device can (2.8 mJ). Three more were faults
// of another kind: contacts that end between two ticks at 2 m/s; a damping of the passivity controller that
// followed each step of the sensor, which was a dropout; and a dropout behind an SCO on a long way round. The
// last two leave at more than 1 m/s a device whose force takes 4 ms to fall (1.0 mJ and 0.6 mJ).
static void runs_that_once_failed_do_not(void)
{
	static const struct {
		uint64_t number, seed;
		bool quick;
	} runs[] = {{1014, 100, true}, {532, 917, false},  {168, 200, false},
		    {38, 4242, false}, {31, 981127, true}, {206, 7001, false},
		    {238, 32, true},   {305, 202, true},   {256, 302, true}};
	if (only_run >= 0)
		return;
	const bool all = at_length;
	at_length = true; // they are whole runs
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		seed = runs[i].seed;
		hunt h = choose_scene(runs[i].number / RUNS);
		tac_scene *scene;
		tac_world *world;
		if ((!all && !runs[i].quick) || !build_scene(&h, &scene, &world))
			continue;
		choose_run(&h, runs[i].number);
		tally t = {0}, sum = {0};
		(h.kind == CLOSED_LOOP ? run_closed : run_open)(&h, world, &t);
		add(&sum, &t);
		char text[240];
		print_hunt(&h, text, sizeof text);
		print_tally(text, &sum);
		TEST_ASSERT_EQUAL(0, failures(&t));
		TEST_ASSERT_TRUE(t.contact_ticks > 100);
		tac_world_destroy(&world);
		tac_scene_destroy(&scene);
	}
	at_length = all;
}

int main(int argc, char **argv)
{
	wanted_ticks = TAC_TEST_SANITIZED ? test_rounds(40000) : test_rounds(100000);
	at_length = test_long() || argc > 1;
	if (argc > 3 && strcmp(argv[1], "run") == 0) {
		only_run = strtol(argv[2], NULL, 10);
		seed = strtoull(argv[3], NULL, 10);
	} else {
		wanted_ticks = argc > 1 ? strtol(argv[1], NULL, 10) : wanted_ticks;
		seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	UNITY_BEGIN();
	RUN_TEST(no_force_kicks_vanishes_or_pays);
	RUN_TEST(runs_that_once_failed_do_not);
	return UNITY_END();
}
