// A servo on a scene given as text, with a device whose pose the test sets and whose forces the test reads.
#ifndef TAC_TESTS_SUPPORT_SERVO_FIXTURE_H
#define TAC_TESTS_SUPPORT_SERVO_FIXTURE_H

#include "collision/chip_collider.h"
#include "haptic/servo.h"
#include "tests/support/force_watch.h"

#include <math.h>
#include <string.h>
#include <unity.h>

#define MS INT64_C(1000000)

// The mover's default hold gap, by which the SCO rests above a surface; the force does not contain it.
#define HOLD_GAP_M 1e-5

// A device without mechanics and delay, so the stiffness is not derated.
typedef struct puppet {
	tac_device base;
	tac_device_state state;
	tac_wrench wrench; // last written
	tac_device_status status;
	int64_t reads, writes;
} puppet;

static tac_device_status puppet_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	puppet *p = (puppet *)device;
	p->reads++;
	p->state.time_ns = now_ns;
	*out_state = p->state;
	return p->status;
}

static tac_device_status puppet_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	puppet *p = (puppet *)device;
	(void)now_ns;
	p->writes++;
	p->wrench = *wrench;
	return TAC_DEVICE_OK;
}

static void puppet_enable(tac_device *device, bool on)
{
	(void)device;
	(void)on;
}

static inline void puppet_init(puppet *p)
{
	*p = (puppet){
		.base = {.info = {.name = "puppet",
				  .position_axes = 3,
				  .rotation_axes = 3,
				  .force_axes = 3,
				  .torque_axes = 3,
				  .max_force_N = 100,
				  .max_torque_Nm = 10,
				  .period_ns = MS},
			 .read = puppet_read,
			 .write = puppet_write,
			 .enable = puppet_enable},
		.state.T_base_tool = tac_dpose_identity(),
		.status = TAC_DEVICE_OK,
	};
}

typedef struct fixture {
	tac_scene *scene;
	tac_world *world;
	puppet hand;
	tac_servo *servo;
	int64_t now_ns;
	force_watch watch;
} fixture;

// Builds the world of f->scene, and its servo.
static inline void fixture_build_scene(fixture *f, const char *collider, tac_servo_def def)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(f->scene, tac_collider_find(collider), &f->world));
	puppet_init(&f->hand);
	def.world = f->world;
	def.device = &f->hand.base;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &f->servo));
}

static inline void fixture_build(fixture *f, const char *text, const char *collider, tac_servo_def def)
{
	memset(f, 0, sizeof *f);
	if (strcmp(collider, "chip") == 0)
		TEST_ASSERT_EQUAL(TAC_OK, tac_collider_add(tac_chip_collider()));
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "test", &f->scene));
	fixture_build_scene(f, collider, def);
}

static inline void fixture_fini(fixture *f)
{
	tac_servo_destroy(&f->servo);
	tac_world_destroy(&f->world);
	tac_scene_destroy(&f->scene);
}

// Runs one tick with the hand at `position`. The force must be continuous in every tick.
static inline const tac_snapshot *step_to(fixture *f, tac_dvec3 position)
{
	f->hand.state.T_base_tool.position = position;
	tac_servo_step(f->servo, f->now_ns, NULL);
	f->now_ns += MS;
	const tac_snapshot *s = tac_servo_snapshot(f->servo, 0);
	if (f->world) // a thread that has none must not assert
		force_watch_step(&f->watch, f->world, s);
	return s;
}

// Moves the hand along a straight line to `to`, within `ticks` ticks.
static inline const tac_snapshot *move_to(fixture *f, tac_dvec3 to, int ticks)
{
	const tac_dvec3 from = f->hand.state.T_base_tool.position;
	const tac_snapshot *s = NULL;
	for (int i = 1; i <= ticks; i++)
		s = step_to(f, tac_dvec3_lerp(from, to, (double)i / ticks));
	return s;
}

static inline void assert_near(tac_dvec3 expected, tac_dvec3 found, double tolerance)
{
	TEST_ASSERT_DOUBLE_WITHIN(tolerance, expected.x, found.x);
	TEST_ASSERT_DOUBLE_WITHIN(tolerance, expected.y, found.y);
	TEST_ASSERT_DOUBLE_WITHIN(tolerance, expected.z, found.z);
}

// The nearest point to `p` at the distance `r` from a cube of half size h, where p is near its surface.
static inline tac_dvec3 outside_cube(tac_dvec3 p, double h, double r)
{
	const double q[3] = {fmax(-h, fmin(h, p.x)), fmax(-h, fmin(h, p.y)), fmax(-h, fmin(h, p.z))};
	const tac_dvec3 off = tac_dvec3_sub(p, tac_dvec3_load(q));
	if (tac_dvec3_length(off) > 0)
		return tac_dvec3_add_scaled(tac_dvec3_load(q), r, tac_dvec3_normalize(off));
	double v[3];
	tac_dvec3_store(v, p);
	int axis = 0;
	for (int k = 1; k < 3; k++)
		axis = fabs(v[k]) > fabs(v[axis]) ? k : axis;
	v[axis] = copysign(h + r, v[axis]);
	return tac_dvec3_load(v);
}

#endif
