// Effects: their forces against closed forms, the bound of their change, what is stable and passive with the
// simulated devices at 500 Hz to 10 kHz, changes from another thread, and the contract of a callback.
#include "base/rng.h"
#include "devices/sim.h"
#include "haptic/play.h"
#include "haptic/stability.h"
#include "rt/clock.h"
#include "tests/support/allocations.h"
#include "tests/support/limits.h"
#include "tests/support/live_fixture.h"
#include "tests/support/logged.h"
#include "tests/support/servo_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

static tac_effect make(tac_effect_kind kind)
{
	tac_effect e = tac_effect_default(kind);
	snprintf(e.name, sizeof e.name, "%s", tac_effect_kind_name(kind));
	return e;
}

static tac_effect_motion at(tac_dvec3 position, tac_dvec3 velocity)
{
	return (tac_effect_motion){.T_world_tool = tac_dpose_make(position, tac_dquat_identity()),
				   .velocity_m_per_s = velocity,
				   .period_s = 1e-3};
}

static tac_dvec3 v3(double x, double y, double z)
{
	return tac_dvec3_make(x, y, z);
}

// ---- closed forms ----

static void fields_are_those_of_their_parameters(void)
{
	tac_effect e = make(TAC_EFFECT_CONSTANT);
	e.force_N = v3(1, -2, 0.5);
	e.torque_Nm = v3(0.01, 0, 0);
	e.tool_point_m = v3(0, 0, 0.1);
	tac_effect_motion m = at(v3(3, 4, 5), v3(1, 1, 1));
	tac_effect_sample s = tac_effect_at(&e, &m);
	assert_near(e.force_N, s.field.force_N, 0);
	// (0, 0, 0.1) x (1, -2, 0.5) = (0.2, 0.1, 0), and the torque.
	assert_near(v3(0.21, 0.1, 0), s.field.torque_Nm, 1e-15);
	m.T_world_tool.rotation = tac_dquat_exp(v3(0, 1.5707963267948966, 0)); // z becomes x
	assert_near(v3(0.01, -0.05, -0.2), tac_effect_at(&e, &m).field.torque_Nm, 1e-15);

	e = make(TAC_EFFECT_GRAVITY);
	e.mass_kg = 0.2;
	e.region = TAC_EFFECT_BALL;
	e.position_m = v3(1, 0, 0);
	e.radius_m = 0.1;
	e.border_m = 0.02;
	const double share[][2] = {{0, 1}, {0.08, 1}, {0.085, 0.75}, {0.095, 0.25}, {0.1, 0}, {0.2, 0}};
	for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
		m = at(v3(1 + share[i][0], 0, 0), v3(0, 0, 0));
		assert_near(v3(0, 0, -0.2 * 9.81 * share[i][1]), tac_effect_at(&e, &m).field.force_N, 1e-12);
	}
	e.region = TAC_EFFECT_HALF_SPACE;
	e.direction = v3(0, 0, 7);
	for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
		m = at(v3(4, 5, -0.1 + share[i][0]), v3(0, 0, 0));
		assert_near(v3(0, 0, -0.2 * 9.81 * share[i][1]), tac_effect_at(&e, &m).field.force_N, 1e-12);
	}
}

static void springs_pull_to_point_line_and_plane(void)
{
	const tac_effect_motion m = at(v3(0.03, 0.04, 0.12), v3(0.1, 0.2, 0.3));
	tac_effect e = make(TAC_EFFECT_POINT);
	e.stiffness_N_per_m = 100;
	e.damping_N_s_per_m = 2;
	tac_effect_sample s = tac_effect_at(&e, &m);
	assert_near(v3(-3, -4, -12), s.field.force_N, 1e-12);
	assert_near(v3(-0.2, -0.4, -0.6), s.damper.force_N, 1e-12);
	e.radius_m = 0.03; // the sphere about the point, from 0.13 m away
	s = tac_effect_at(&e, &m);
	assert_near(tac_dvec3_scale(v3(0.03, 0.04, 0.12), -100 * 0.1 / 0.13), s.field.force_N, 1e-12);
	const double radial = (0.03 * 0.1 + 0.04 * 0.2 + 0.12 * 0.3) / 0.13; // speed along the radius
	assert_near(tac_dvec3_scale(v3(0.03, 0.04, 0.12), -2 * radial / 0.13), s.damper.force_N, 1e-12);
	e.side = TAC_EFFECT_OUTSIDE;
	assert_near(v3(0, 0, 0), tac_effect_at(&e, &m).field.force_N, 0);
	e.radius_m = 0.2;
	assert_near(tac_dvec3_scale(v3(0.03, 0.04, 0.12), 100 * 0.07 / 0.13),
		    tac_effect_at(&e, &m).field.force_N, 1e-12);
	e.side = TAC_EFFECT_INSIDE;
	assert_near(v3(0, 0, 0), tac_effect_at(&e, &m).field.force_N, 0);

	e = make(TAC_EFFECT_LINE);
	e.stiffness_N_per_m = 100;
	e.damping_N_s_per_m = 2;
	e.position_m = v3(0, 0, 55);
	e.direction = v3(0, 0, -3);
	s = tac_effect_at(&e, &m);
	assert_near(v3(-3, -4, 0), s.field.force_N, 1e-12);
	assert_near(v3(-0.2, -0.4, 0), s.damper.force_N, 1e-12);
	e.max_force_N = 0.5;
	assert_near(v3(-0.3, -0.4, 0), tac_effect_at(&e, &m).field.force_N, 1e-12);
	e.max_force_N = 0;
	e.range_m = 0.06; // 0.05 m away: 0.01 m of it are left
	assert_near(v3(-0.6, -0.8, 0), tac_effect_at(&e, &m).field.force_N, 1e-12);
	e.range_m = 0.05;
	assert_near(v3(0, 0, 0), tac_effect_at(&e, &m).field.force_N, 1e-12);

	e = make(TAC_EFFECT_PLANE);
	e.stiffness_N_per_m = 100;
	e.damping_N_s_per_m = 2;
	e.position_m = v3(7, 7, 0.1);
	s = tac_effect_at(&e, &m);
	assert_near(v3(0, 0, -2), s.field.force_N, 1e-12);
	assert_near(v3(0, 0, -0.6), s.damper.force_N, 1e-12);
	e.side = TAC_EFFECT_OUTSIDE; // in front of the plane all is free
	assert_near(v3(0, 0, 0), tac_effect_at(&e, &m).field.force_N, 0);
	e.position_m.z = 0.14;
	assert_near(v3(0, 0, 2), tac_effect_at(&e, &m).field.force_N, 1e-12);
}

static void a_magnet_has_its_peak_and_an_inverse_square_tail(void)
{
	tac_effect e = make(TAC_EFFECT_MAGNET);
	e.peak_force_N = 2;
	e.core_m = 0.01;
	double peak = 0, where = 0;
	for (double d = 1e-5; d < 0.1; d += 1e-5) {
		const tac_effect_motion m = at(v3(0, d, 0), v3(0, 0, 0));
		const double force = -tac_effect_at(&e, &m).field.force_N.y;
		if (force > peak) {
			peak = force;
			where = d;
		}
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-5, 2, peak);
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, 0.01 / sqrt(2), where);
	const tac_effect_motion near = at(v3(1, 0, 0), v3(0, 0, 0)), far = at(v3(2, 0, 0), v3(0, 0, 0));
	TEST_ASSERT_DOUBLE_WITHIN(
		1e-3, 4, tac_effect_at(&e, &near).field.force_N.x / tac_effect_at(&e, &far).field.force_N.x);
}

static void a_vibration_follows_its_envelope(void)
{
	tac_effect e = make(TAC_EFFECT_VIBRATION);
	e.amplitude_N = 2;
	e.frequency_Hz = 50;
	e.direction = v3(0, 3, 0);
	e.attack_s = 0.1;
	e.hold_s = 0.2;
	e.release_s = 0.05;
	tac_effect_motion m = at(v3(0, 0, 0), v3(0, 0, 0));
	const double points[][2] = {{0.005, 0.05}, {0.055, 0.55}, {0.105, 1}, {0.295, 1}, {0.325, 0.5}};
	for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
		m.time_s = points[i][0]; // odd multiples of a quarter wave
		const double sign = lround(m.time_s / 0.005) % 4 == 1 ? 1 : -1;
		assert_near(v3(0, 2 * sign * points[i][1], 0), tac_effect_at(&e, &m).wave.force_N, 1e-9);
	}
	m.time_s = 0.36;
	assert_near(v3(0, 0, 0), tac_effect_at(&e, &m).wave.force_N, 0);
	e.hold_s = 0;
	m.time_s = 100.005;
	assert_near(v3(0, 2, 0), tac_effect_at(&e, &m).wave.force_N, 1e-7);
	e.frequency_Hz = 300; // at 1 kHz nothing of it can be sampled
	assert_near(v3(0, 0, 0), tac_effect_at(&e, &m).wave.force_N, 0);
	m.period_s = 1e-4;
	TEST_ASSERT_TRUE(tac_effect_at(&e, &m).wave_N_per_s > 0);
}

// ---- properties ----

static double between(tac_rng *rng, double low, double high)
{
	return low + (high - low) * tac_rng_f64(rng);
}

static tac_dvec3 in_cube(tac_rng *rng, double half)
{
	return v3(between(rng, -half, half), between(rng, -half, half), between(rng, -half, half));
}

// Any effect near the origin, with forces of a few newton.
static tac_effect any(tac_rng *rng)
{
	tac_effect e = make((tac_effect_kind)(tac_rng_u32(rng) % TAC_EFFECT_KIND_COUNT));
	e.position_m = in_cube(rng, 0.02);
	e.direction = in_cube(rng, 1);
	e.force_N = in_cube(rng, 2);
	e.mass_kg = between(rng, 0, 0.3);
	e.stiffness_N_per_m = between(rng, 0, 800);
	e.damping_N_s_per_m = tac_rng_u32(rng) % 2 ? between(rng, 0, 4) : 0;
	e.side = (int)(tac_rng_u32(rng) % 3);
	e.radius_m = tac_rng_u32(rng) % 2 ? between(rng, 0.001, 0.03) : 0;
	e.range_m = tac_rng_u32(rng) % 2 ? between(rng, 0.005, 0.04) : 0;
	e.max_force_N = tac_rng_u32(rng) % 2 ? between(rng, 0.5, 3) : 0;
	e.peak_force_N = between(rng, 0, 2);
	e.core_m = between(rng, 0.003, 0.02);
	e.region = e.radius_m > 0 ? (int)(tac_rng_u32(rng) % 3) : (int)(tac_rng_u32(rng) % 2) * 2;
	e.border_m = between(rng, 0.001, 0.01);
	e.amplitude_N = between(rng, 0, 1);
	e.frequency_Hz = between(rng, 1, 150);
	e.attack_s = between(rng, 0.001, 0.1);
	e.hold_s = tac_rng_u32(rng) % 2 ? between(rng, 0.01, 0.1) : 0;
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_effect_check(&e), logged);
	return e;
}

// The stiffness bounds the change of the field between any two places, near ones and far ones.
static void no_field_changes_faster_than_its_stiffness(void)
{
	tac_rng rng = tac_rng_seed(1, 0);
	double tightest = 0;
	for (int i = 0; i < test_rounds(400000); i++) {
		const tac_effect e = any(&rng);
		const tac_dvec3 a = in_cube(&rng, 0.05);
		const tac_dvec3 b = tac_dvec3_add(a, in_cube(&rng, pow(10, between(&rng, -6, -1.3))));
		const tac_effect_motion ma = at(a, v3(0, 0, 0)), mb = at(b, v3(0, 0, 0));
		const tac_effect_sample sa = tac_effect_at(&e, &ma), sb = tac_effect_at(&e, &mb);
		const double moved = tac_dvec3_length(tac_dvec3_sub(b, a));
		const double change = tac_dvec3_length(tac_dvec3_sub(sa.field.force_N, sb.field.force_N));
		const double most = sb.outside_m > moved ? 0 : sb.most_stiffness_N_per_m * moved;
		TEST_ASSERT_TRUE_MESSAGE(change <= most * (1 + 1e-9) + 1e-12, e.name);
		if (most > 0)
			tightest = fmax(tightest, change / most);
		// The local stiffness is that of a small motion.
		if (moved < 1e-4)
			TEST_ASSERT_TRUE_MESSAGE(
				change <= fmax(sa.stiffness_N_per_m, sb.stiffness_N_per_m) * moved * 1.05 +
							1e-12 ||
					e.kind == TAC_EFFECT_CONSTANT || e.kind == TAC_EFFECT_GRAVITY,
				e.name);
	}
	TEST_ASSERT_TRUE(tightest > 0.999);
}

// The work of a spring or magnet along a closed path is zero, whatever side, radius, range and maximum.
static void springs_and_magnets_have_a_potential(void)
{
	tac_rng rng = tac_rng_seed(2, 0);
	for (int i = 0; i < test_rounds(200); i++) {
		tac_effect e = any(&rng);
		if (e.kind != TAC_EFFECT_POINT && e.kind != TAC_EFFECT_LINE && e.kind != TAC_EFFECT_PLANE &&
		    e.kind != TAC_EFFECT_MAGNET)
			continue;
		const tac_dvec3 centre = in_cube(&rng, 0.02), u = in_cube(&rng, 0.03),
				w = in_cube(&rng, 0.03);
		const int n = 20000;
		double work = 0, path = 0;
		tac_dvec3 before = tac_dvec3_add(centre, u), force = v3(0, 0, 0);
		for (int k = 0; k <= n; k++) {
			const double t = 6.283185307179586 * k / n;
			const tac_dvec3 x =
				tac_dvec3_add_scaled(tac_dvec3_add_scaled(centre, cos(t), u), sin(t), w);
			const tac_effect_motion m = at(x, v3(0, 0, 0));
			const tac_dvec3 f = tac_effect_at(&e, &m).field.force_N,
					dx = tac_dvec3_sub(x, before);
			if (k > 0) {
				work += 0.5 * tac_dvec3_dot(tac_dvec3_add(f, force), dx);
				path += fabs(tac_dvec3_dot(f, dx));
			}
			force = f;
			before = x;
		}
		TEST_ASSERT_TRUE_MESSAGE(fabs(work) <= 1e-6 * path + 1e-9, e.name);
	}
}

// ---- in the servo ----

// The gate engages within ten ticks.
#define SCENE                                                                                                \
	"scene: effects\ntools: [{name: ball, axes: 3, limits: {engage_s: 0.01}, "                           \
	"shapes: [{kind: sphere, radius_m: 0.005}]}]\n"
#define SETTLE 60 // ticks

static void build(fixture *f, const char *effects)
{
	char text[2048];
	snprintf(text, sizeof text, SCENE "%s", effects);
	fixture_build(f, text, "wide", tac_servo_def_default());
}

// Steps at one place until no ramp is left.
static const tac_snapshot *settle(fixture *f, tac_dvec3 place)
{
	const tac_snapshot *s = NULL;
	for (int i = 0; i < SETTLE; i++)
		s = step_to(f, place);
	return s;
}

static void the_sent_force_at_rest_is_that_of_the_effects(void)
{
	fixture f;
	build(&f, "effects:\n"
		  "- {kind: constant, name: wind, force_N: [1, 0, 0]}\n"
		  "- {kind: plane, name: guide, direction: [0, 0, 1], stiffness_N_per_m: 400}\n"
		  "- {kind: point, name: off, enabled: false}\n");
	const tac_snapshot *s = settle(&f, v3(0.5, 0, -0.01));
	assert_near(v3(1, 0, 4), s->sent.force_N, 1e-9);
	assert_near(v3(1, 0, 4), s->effects.wrench.force_N, 1e-9);
	TEST_ASSERT_EQUAL_HEX32(3, s->effects.active);
	TEST_ASSERT_EQUAL_DOUBLE(400, s->effects.stiffness_N_per_m);
	TEST_ASSERT_EQUAL_UINT64(0, s->feel.jumps);
	fixture_fini(&f);
}

// The ramp: the puppet's 100 N within 0.1 s.
#define RAMP_N_PER_S 1000.0

static void switching_ramps_and_is_exact_again_at_its_end(void)
{
	fixture f;
	build(&f, "effects:\n- {kind: constant, name: wind, force_N: [3.5, 0, 0], enabled: false}\n");
	const tac_dvec3 here = v3(0, 0, 0);
	settle(&f, here);
	const int32_t wind = tac_servo_find_effect(f.servo, "wind");
	TEST_ASSERT_EQUAL_INT(0, wind);
	for (int round = 0; round < 2; round++) {
		TEST_ASSERT_EQUAL(TAC_OK, tac_servo_switch_effect(f.servo, wind, round == 0));
		for (int i = 1; i <= 5; i++) {
			const double went = fmin(3.5, i * 1e-3 * RAMP_N_PER_S);
			const tac_snapshot *s = step_to(&f, here);
			assert_near(v3(round == 0 ? went : 3.5 - went, 0, 0), s->effects.wrench.force_N,
				    1e-12);
		}
	}
	settle(&f, here);
	// Changed in the middle of a ramp.
	tac_effect e = *tac_servo_effect(f.servo, wind);
	e.enabled = true;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_set_effect(f.servo, wind, &e));
	step_to(&f, here);
	e.force_N = v3(0, 2, 0);
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_set_effect(f.servo, wind, &e));
	const double far = sqrt(1 + 4); // from (1, 0, 0) to (0, 2, 0), of which 1 N a tick
	assert_near(v3(1 - 1 / far, 2 / far, 0), step_to(&f, here)->effects.wrench.force_N, 1e-12);
	assert_near(v3(0, 2, 0), settle(&f, here)->sent.force_N, 1e-12);
	fixture_fini(&f);
}

static void invalid_effects_are_refused_and_change_nothing(void)
{
	fixture f;
	build(&f, "effects:\n- {kind: constant, name: wind, force_N: [1, 0, 0]}\n");
	tac_effect e = *tac_servo_effect(f.servo, 0);
	e.force_N.x = NAN;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_servo_set_effect(f.servo, 0, &e));
	TEST_ASSERT_EQUAL_STRING("effect: force_N: expected a number from -1000 to 1000, found 'nan'",
				 logged);
	e = make(TAC_EFFECT_LINE);
	e.direction = v3(0, 0, 0);
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_servo_set_effect(f.servo, 0, &e));
	TEST_ASSERT_EQUAL_STRING("effect: direction: expected a direction, found one of no length", logged);
	e.kind = 77;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_servo_set_effect(f.servo, 0, &e));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_servo_set_effect(f.servo, TAC_EFFECT_COUNT, &e));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_servo_switch_effect(f.servo, 5, true));
	TEST_ASSERT_EQUAL_STRING("effect: expected the index of an effect, found 5, which is empty", logged);
	TEST_ASSERT_NULL(tac_servo_effect(f.servo, 5));
	assert_near(v3(1, 0, 0), settle(&f, v3(0, 0, 0))->sent.force_N, 1e-12);
	fixture_fini(&f);
}

static void an_effect_acts_on_the_tool_that_it_names(void)
{
	static const char text[] =
		"scene: two\n"
		"tools: [{name: left, axes: 3, limits: {engage_s: 0.01}, shapes: [{kind: sphere}]},\n"
		"  {name: right, axes: 3, limits: {engage_s: 0.01}, shapes: [{kind: sphere}]}]\n"
		"effects:\n"
		"- {kind: constant, name: a, tool: left, force_N: [1, 0, 0]}\n"
		"- {kind: constant, name: b, force_N: [0, 1, 0]}\n";
	for (int32_t tool = 0; tool < 2; tool++) {
		fixture f;
		tac_servo_def def = tac_servo_def_default();
		def.tool = tool;
		fixture_build(&f, text, "wide", def);
		assert_near(v3(tool == 0, 1, 0), settle(&f, v3(0, 0, 0))->sent.force_N, 1e-12);
		fixture_fini(&f);
	}
}

// What docs/effects.md allows the force to change in a tick, computed from the parameters of the effects: the
// ramp, and K |dx| + B |dv| + 3 B |v| |dx| / fade + W T of each, with the largest values that `any` gives.
static double documented_bound(const tac_effect *effects, int count, tac_dvec3 dx, tac_dvec3 dv, tac_dvec3 v,
			       double T)
{
	const double moved = tac_dvec3_length(dx);
	double bound = RAMP_N_PER_S * T;
	for (int i = 0; i < count; i++) {
		const tac_effect *e = &effects[i];
		const bool spring = e->kind == TAC_EFFECT_POINT || e->kind == TAC_EFFECT_LINE ||
				    e->kind == TAC_EFFECT_PLANE;
		const bool bordered = e->region != TAC_EFFECT_EVERYWHERE;
		if (!e->enabled)
			continue;
		double K = 0, B = 0, fade = 0.005;
		if (spring)
			K = e->stiffness_N_per_m;
		else if (e->kind == TAC_EFFECT_MAGNET)
			K = 2.6 * e->peak_force_N / e->core_m;
		else if (e->kind == TAC_EFFECT_CONSTANT && bordered)
			K = tac_dvec3_length(e->force_N) / e->border_m;
		else if (e->kind == TAC_EFFECT_GRAVITY && bordered)
			K = e->mass_kg * 9.81 / e->border_m;
		else if (e->kind == TAC_EFFECT_VIBRATION && bordered)
			K = e->amplitude_N / e->border_m;
		if (spring || e->kind == TAC_EFFECT_VISCOUS)
			B = e->damping_N_s_per_m;
		if (e->kind == TAC_EFFECT_VISCOUS)
			fade = bordered ? e->border_m : HUGE_VAL;
		bound += K * moved + B * (tac_dvec3_length(dv) + 3 * tac_dvec3_length(v) * moved / fade);
		if (e->kind == TAC_EFFECT_VIBRATION)
			bound += T * e->amplitude_N *
				 (6.283185307179586 * e->frequency_Hz + 1 / fmin(e->attack_s, e->release_s));
	}
	return bound;
}

// A hand that wanders and shakes, effects that are set, moved and switched at random.
static void run_at_random(int64_t period_ns, uint64_t seed, int ticks)
{
	tac_rng rng = tac_rng_seed(seed, 0);
	fixture f;
	char text[512];
	snprintf(text, sizeof text, SCENE);
	tac_servo_def def = tac_servo_def_default();
	def.period_ns = period_ns;
	fixture_build(&f, text, "wide", def);
	const double T = (double)period_ns / 1e9;
	tac_effect set[6] = {0};
	tac_dvec3 x = v3(0, 0, 0), speed = v3(0, 0, 0), filtered = v3(0, 0, 0), force = v3(0, 0, 0);
	for (int i = 0; i < ticks; i++) {
		if (tac_rng_u32(&rng) % 10 == 0) {
			const int k = (int)(tac_rng_u32(&rng) % 6);
			set[k] = any(&rng);
			set[k].enabled = tac_rng_u32(&rng) % 3 > 0;
			TEST_ASSERT_EQUAL(TAC_OK, tac_servo_set_effect(f.servo, k, &set[k]));
		}
		if (tac_rng_u32(&rng) % 50 == 0)
			speed = tac_dvec3_sub(in_cube(&rng, 0.5), tac_dvec3_scale(x, 5));
		const tac_dvec3 dx = i == 0 ? v3(0, 0, 0) : tac_dvec3_scale(speed, T);
		x = tac_dvec3_add(x, dx);
		f.hand.state.T_base_tool.position = x;
		const int before = allocations;
		tac_servo_step(f.servo, f.now_ns, NULL);
		TEST_ASSERT_EQUAL_INT(before, allocations);
		f.now_ns += period_ns;
		const tac_dvec3 last = filtered;
		filtered = tac_dvec3_add(tac_dvec3_scale(filtered, 0.8),
					 tac_dvec3_scale(dx, i == 0 ? 0 : 0.2 / T));
		const tac_snapshot *s = tac_servo_snapshot(f.servo, 0);
		const double change = tac_dvec3_length(tac_dvec3_sub(s->effects.wrench.force_N, force));
		const double bound = documented_bound(set, 6, dx, tac_dvec3_sub(filtered, last), filtered, T);
		if (i > 0) {
			TEST_ASSERT_TRUE(change <= bound * (1 + 1e-9) + 1e-9);
			TEST_ASSERT_TRUE(s->effects.bound_N <= bound * (1 + 1e-9) + 1e-9);
		}
		TEST_ASSERT_EQUAL_UINT64(0, s->feel.jumps);
		force = s->effects.wrench.force_N;
	}
	fixture_fini(&f);
}

static const int64_t periods_ns[] = {2000000, 1000000, 500000, 250000, 100000};
#define RATES (sizeof periods_ns / sizeof *periods_ns)

#define SIX                                                                                                  \
	"scene: six axes\ntools: [{name: pen, limits: {engage_s: 0.01}, "                                    \
	"shapes: [{kind: capsule, radius_m: 0.002, height_m: 0.02}]}]\n"

// At rest the torque is that of the force at its point of the tool, which has turned with it.
static void an_effect_off_the_origin_turns_the_tool(void)
{
	fixture f;
	fixture_build(&f,
		      SIX "effects:\n"
			  "- {kind: plane, name: a, stiffness_N_per_m: 300, tool_point_m: [0, 0, 0.05]}\n"
			  "- {kind: gravity, name: b, mass_kg: 0.1, tool_point_m: [0.02, 0, 0]}\n",
		      "wide", tac_servo_def_default());
	const double angle = 0.4;
	f.hand.state.T_base_tool.rotation = tac_dquat_exp(v3(0, angle, 0));
	f.hand.state.T_base_tool.position = v3(0.1, 0, 0);
	for (int i = 0; i < SETTLE; i++)
		tac_servo_step(f.servo, i * MS, NULL);
	const tac_snapshot *s = tac_servo_snapshot(f.servo, 0);
	const double z = 0.05 * cos(angle), pull = -300 * z, weight = -0.981;
	assert_near(v3(0, 0, pull + weight), s->sent.force_N, 1e-9);
	// The arms are (0.05 sin, 0, z) and (0.02 cos, 0, -0.02 sin); (x, 0, z) x (0, 0, F) = (0, -x F, 0).
	assert_near(v3(0, -0.05 * sin(angle) * pull - 0.02 * cos(angle) * weight, 0), s->sent.torque_Nm,
		    1e-9);
	fixture_fini(&f);
}

// The same at random for six axes: the force within its bound, and the torque within the ramp, that of its
// force, and the turn of its arm.
static void run_six_at_random(int64_t period_ns, uint64_t seed, int ticks)
{
	tac_rng rng = tac_rng_seed(seed, 1);
	fixture f;
	tac_servo_def def = tac_servo_def_default();
	def.period_ns = period_ns;
	// With a low maximal force the ramp is slow, and the rest of the bound has to hold by itself.
	char text[512];
	snprintf(text, sizeof text, "%.*s, max_force_N: 0.1, max_torque_Nm: 0.01%s",
		 (int)(strstr(SIX, "0.01") + 4 - SIX), SIX, strstr(SIX, "0.01") + 4);
	fixture_build(&f, text, "wide", def);
	const double T = (double)period_ns / 1e9, arm = 0.05, ramp_Nm_per_s = 0.1;
	tac_dvec3 speed = v3(0, 0, 0), turning = v3(0, 0, 0);
	tac_wrench before = {{0, 0, 0}, {0, 0, 0}};
	tac_effect set[4] = {0};
	double last_N = 0;
	for (int i = 0; i < ticks; i++) {
		if (tac_rng_u32(&rng) % 15 == 0) {
			const int k = (int)(tac_rng_u32(&rng) % 4);
			set[k] = any(&rng);
			set[k].torque_Nm = in_cube(&rng, 0.05);
			set[k].tool_point_m = in_cube(&rng, 0.028); // at most `arm` long
			set[k].enabled = tac_rng_u32(&rng) % 3 > 0;
			TEST_ASSERT_EQUAL(TAC_OK, tac_servo_set_effect(f.servo, k, &set[k]));
		}
		tac_dpose *T_hand = &f.hand.state.T_base_tool;
		if (tac_rng_u32(&rng) % 50 == 0) {
			speed = tac_dvec3_sub(in_cube(&rng, 0.4), tac_dvec3_scale(T_hand->position, 5));
			turning = in_cube(&rng, 3);
		}
		T_hand->position = tac_dvec3_add_scaled(T_hand->position, i > 0 ? T : 0, speed);
		const double turn = i > 0 ? T * tac_dvec3_length(turning) : 0;
		T_hand->rotation = tac_dquat_normalize(tac_dquat_mul(
			tac_dquat_exp(tac_dvec3_scale(turning, i > 0 ? T : 0)), T_hand->rotation));
		tac_servo_step(f.servo, f.now_ns, NULL);
		f.now_ns += period_ns;
		const tac_snapshot *s = tac_servo_snapshot(f.servo, 0);
		// The sizes of all forces, and what the borders of constant torques add.
		double sum_N = 0, border_Nm = 0;
		for (int k = 0; k < 4; k++) {
			const tac_effect_motion m = {s->T_world_device, speed, turning, 0, T};
			const tac_effect_sample e = tac_effect_at(&set[k], &m);
			if (!set[k].enabled)
				continue;
			sum_N += tac_dvec3_length(e.field.force_N) + 2 * tac_dvec3_length(e.damper.force_N) +
				 set[k].amplitude_N;
			if (set[k].kind == TAC_EFFECT_CONSTANT && set[k].region != TAC_EFFECT_EVERYWHERE)
				border_Nm += tac_dvec3_length(set[k].torque_Nm) / set[k].border_m *
					     (T * tac_dvec3_length(speed) + arm * turn);
		}
		const double twist =
			tac_dvec3_length(tac_dvec3_sub(s->effects.wrench.torque_Nm, before.torque_Nm));
		const double most = ramp_Nm_per_s * T + border_Nm + arm * s->effects.bound_N +
				    arm * turn * (fmax(sum_N, last_N) + s->effects.bound_N);
		TEST_ASSERT_TRUE(i == 0 || twist <= most + 1e-9);
		const double change =
			tac_dvec3_length(tac_dvec3_sub(s->effects.wrench.force_N, before.force_N));
		TEST_ASSERT_TRUE(i == 0 || change <= s->effects.bound_N + 1e-9);
		TEST_ASSERT_EQUAL_UINT64(0, s->feel.jumps);
		before = s->effects.wrench;
		last_N = sum_N;
	}
	fixture_fini(&f);
}

static void six_axes_obey_the_bound_whatever_is_switched(void)
{
	for (size_t i = 0; i < RATES; i++)
		run_six_at_random(periods_ns[i], 300 + i, TAC_TEST_SANITIZED ? 500 : 4000);
}

static void the_force_obeys_its_bound_whatever_is_switched(void)
{
	for (size_t i = 0; i < RATES; i++)
		for (int k = 0; k < test_rounds(12); k++)
			run_at_random(periods_ns[i], 100 * i + (uint64_t)k, TAC_TEST_SANITIZED ? 500 : 3000);
}

// ---- stability ----

// The claim on which the limit of the dampers rests: up to it, damping only raises the critical stiffness.
static void dampers_up_to_their_limit_raise_the_critical_stiffness(void)
{
	static const tac_stability_hand hands[] = {
		{0, 0, 0}, {0.03, 1.5, 100}, {0.1, 5, 300}, {0.3, 10, 500}};
	static const double delays[] = {0, 3e-4, 1e-3, 3e-3}, masses[] = {0.03, 0.1, 0.3, 1},
			    dampings[] = {0.05, 0.3, 1, 3};
	const int parts = test_long() ? 4 : 1;
	for (size_t i = 0; i < 4 * RATES * 4 * 4 * 4; i++) {
		size_t k = i;
		const tac_stability_hand *hand = &hands[k % 4];
		const double T = (double)periods_ns[(k /= 4) % RATES] / 1e9;
		const double delay = delays[(k /= RATES) % 4], m = masses[(k /= 4) % 4];
		const tac_device_mechanics device = {m, dampings[(k /= 4) % 4], 0, 0};
		if (delay / T > 20 || (TAC_TEST_SANITIZED && i % 16 != 0))
			continue;
		const double mass = m + (hand->mass_kg > 0 ? 0.03 : 0);
		const double most = 0.4 * mass / (5 * T + delay);
		double last = 0;
		for (int n = 0; n <= parts; n++) {
			const tac_stability_loop loop = {T, delay, most * n / parts, 0.8};
			const double critical = tac_stability_critical(&device, hand, &loop);
			TEST_ASSERT_TRUE(critical >= last);
			last = critical;
		}
	}
}

typedef struct plant {
	tac_scene *scene;
	tac_world *world;
	tac_device *device;
	tac_servo *servo;
	int64_t period_ns, now_ns;
	double dissipated_J; // by the device's own damping
	double motion_J;     // largest exchange of a tick
	tac_sim_truth truth;
} plant;

// What the servo knows of the device's mechanics. Without its damping nothing is scaled, and the passivity
// controller alone has to keep the energy; without its mass there is no controller.
typedef enum knowledge { KNOWN, MASS_ONLY, NOTHING } knowledge;

static void plant_build(plant *p, const char *text, tac_sim_def sim, int64_t period_ns, knowledge known)
{
	*p = (plant){.period_ns = period_ns};
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_scene_parse(text, strlen(text), "test", &p->scene), logged);
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(p->scene, tac_collider_find("wide"), &p->world));
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(&sim, &p->device));
	tac_device_enable(p->device, true);
	if (known != KNOWN)
		p->device->info.linear.damping = p->device->info.max_stiffness_N_per_m = 0;
	if (known == NOTHING)
		p->device->info.linear.mass = 0;
	tac_servo_def def = tac_servo_def_default();
	def.world = p->world;
	def.device = p->device;
	def.period_ns = period_ns;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &p->servo));
	p->truth = tac_sim_read_truth(p->device);
}

static const tac_snapshot *plant_step(plant *p)
{
	tac_servo_step(p->servo, p->now_ns, NULL);
	p->now_ns += p->period_ns;
	const tac_sim_truth before = p->truth;
	p->truth = tac_sim_read_truth(p->device);
	const double v = tac_dvec3_length(p->truth.velocity_m_per_s);
	p->dissipated_J += p->device->info.linear.damping * v * v * (double)p->period_ns / 1e9;
	p->motion_J = fmax(p->motion_J, fabs(p->truth.absorbed_J - before.absorbed_J));
	return tac_servo_snapshot(p->servo, 0);
}

static void plant_fini(plant *p)
{
	tac_servo_destroy(&p->servo);
	tac_device_destroy(&p->device);
	tac_world_destroy(&p->world);
	tac_scene_destroy(&p->scene);
}

static const char *const presets[] = {"falcon", "omega7", "touch", "six"};

// Combinations that only tests/run --long takes; a sanitizer sees the first device at low rates.
static bool left_out(int64_t period_ns, size_t preset)
{
	if (TAC_TEST_SANITIZED)
		return period_ns < 1000000 || preset > 0;
	return !test_long() && period_ns < 500000 && preset % 2 == 1;
}

#define FLOOR "objects: [{name: floor, position_m: [0, 0, -0.055], shapes: [{kind: box, segments: 1}]}]\n"

// Far too stiff and too viscous: what the servo makes of it comes to rest. In the second scene the hand also
// presses on a floor.
static void effects_that_are_too_stiff_come_to_rest(void)
{
	static const char *const scenes[] = {
		SCENE "effects: [{kind: point, name: p, position_m: [0.005, 0, 0.01], "
		      "stiffness_N_per_m: 100000, damping_N_s_per_m: 500}]\n",
		SCENE FLOOR "effects: [{kind: line, name: l, position_m: [0.003, 0, 0], "
			    "stiffness_N_per_m: 100000}, {kind: viscous, name: v, damping_N_s_per_m: 100}]\n",
		SCENE "effects: [{kind: magnet, name: m, position_m: [0.004, 0.002, 0.01], peak_force_N: 5, "
		      "core_m: 0.0005}, {kind: plane, name: q, stiffness_N_per_m: 50000, "
		      "position_m: [0, 0, 0.012], side: outside}]\n",
		SIX
		"effects: [{kind: point, name: p, position_m: [0.005, 0, 0.06], tool_point_m: [0, 0, 0.05], "
		"stiffness_N_per_m: 100000, damping_N_s_per_m: 500}]\n",
	};
	for (size_t i = 0; i < RATES * 4 * 4; i++) {
		const int64_t period_ns = periods_ns[i % RATES];
		const char *preset = presets[i / RATES % 4];
		tac_sim_def sim;
		TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset(preset, "light", &sim));
		sim.linear.coulomb = 0; // friction would hide an oscillation
		sim.linear.resolution = 0;
		sim.start_m = v3(0, 0, 0.01);
		const size_t scene = i / RATES / 4;
		if (scene == 1)
			sim.preload_N = v3(0, 0, -2);
		if (left_out(period_ns, i / RATES % 4))
			continue;
		plant p;
		plant_build(&p, scenes[scene], sim, period_ns, KNOWN);
		const int ticks = (int)(INT64_C(1500000000) / period_ns);
		double early = 0, late = 0, K = 0;
		for (int k = 0; k < ticks; k++) {
			const tac_snapshot *s = plant_step(&p);
			const double v = tac_dvec3_length(p.truth.velocity_m_per_s) +
					 0.05 * tac_dvec3_length(p.truth.rotation_rate_rad_per_s);
			early = fmax(early, k < ticks / 4 ? v : 0);
			late = fmax(late, k > ticks * 3 / 4 ? v : 0);
			K = s->effects.stiffness_N_per_m;
			TEST_ASSERT_TRUE(s->effects.stiffness_N_per_m <= 0.5 * s->allowed_N_per_m * 1.000001);
			TEST_ASSERT_TRUE(s->effects.stiffness_N_per_m + s->stiffness_N_per_m <=
					 s->allowed_N_per_m * 1.000001);
			TEST_ASSERT_EQUAL_UINT64(0, s->feel.jumps);
		}
		if (scene == 3 && p.device->info.torque_axes > 0) {
			// The point's stiffness turns the tool, too, at the arm of 0.05 m.
			const double grip2 = 0.03 * 0.03;
			const tac_stability_hand hand = {0.03 * grip2, 1.5 * grip2, 100 * grip2};
			const tac_stability_loop loop = {(double)period_ns / 1e9,
							 (double)p.device->info.delay_ns / 1e9, 0, 0};
			const double critical = tac_stability_critical(&p.device->info.angular, &hand, &loop);
			TEST_ASSERT_TRUE(K * 0.05 * 0.05 <= 0.5 * 0.7 * critical);
		}
		char text[160];
		snprintf(text, sizeof text, "%s at %g Hz, scene %zu: %g N/m, speed %g m/s, at the end %g m/s",
			 preset, 1e9 / (double)period_ns, scene, K, early, late);
		TEST_ASSERT_TRUE_MESSAGE(late < 0.15 * early && early > 1e-3, text);
		plant_fini(&p);
	}
}

// ---- passivity ----

// A hand that moves to and fro through springs and viscous regions never gets energy out of them, beyond what
// the device's own damping dissipates before it and one tick's exchange.
static void springs_and_dampers_give_no_energy_to_the_hand(void)
{
	static const char text[] = SCENE
		"effects:\n"
		"- {kind: plane, name: a, stiffness_N_per_m: 3000, damping_N_s_per_m: 1, direction: [0.3, "
		"0.2, 1]}\n"
		"- {kind: point, name: b, stiffness_N_per_m: 2000, radius_m: 0.01, side: outside}\n"
		"- {kind: line, name: c, stiffness_N_per_m: 1000, range_m: 0.02, direction: [1, 1, 0]}\n"
		"- {kind: viscous, name: d, damping_N_s_per_m: 20, region: ball, radius_m: 0.02, "
		"border_m: 0.002}\n";
	for (size_t i = 0; i < RATES * 4; i++) {
		const int64_t period_ns = periods_ns[i % RATES];
		const char *preset = presets[i / RATES];
		if (left_out(period_ns, i / RATES))
			continue;
		tac_sim_def sim;
		TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset(preset, "firm", &sim));
		sim.linear.coulomb = sim.linear.resolution = 0;
		tac_sim_waypoint path[40];
		tac_rng rng = tac_rng_seed(i, 0);
		for (int k = 0; k < 40; k++)
			path[k] =
				(tac_sim_waypoint){.time_ns = k * INT64_C(50000000),
						   .position_m = k == 0 ? v3(0, 0, 0) : in_cube(&rng, 0.02)};
		sim.path = path;
		sim.waypoints = 40;
		plant p;
		plant_build(&p, text, sim, period_ns, KNOWN);
		// Switched on while the hand holds still where no spring is stretched: nothing is put in.
		double least = 0;
		for (int k = 0; k < (int)(INT64_C(2000000000) / period_ns); k++) {
			plant_step(&p);
			least = fmin(least, p.truth.absorbed_J + p.dissipated_J);
		}
		char message[160];
		snprintf(message, sizeof message, "%s at %g Hz: %g mJ, in a tick %g mJ", preset,
			 1e9 / (double)period_ns, 1e3 * least, 1e3 * p.motion_J);
		TEST_ASSERT_TRUE_MESSAGE(least >= -3 * p.motion_J - 1e-5, message);
		TEST_ASSERT_TRUE(p.motion_J > 1e-7);
		plant_fini(&p);
	}
}

// A device in a light hand swings about a point on a spring that is half as stiff again as would be stable.
// Returns the largest speed of the last quarter of `s`, relative to that of the first.
static double swing(const char *preset, int64_t period_ns, double s, knowledge known, double *out_least_J,
		    double *out_motion_J)
{
	tac_sim_def sim;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset(preset, "light", &sim));
	sim.linear.coulomb = sim.linear.resolution = 0;
	sim.max_force_N = 1000;
	sim.start_m_per_s = v3(0.05, 0, 0);
	const tac_stability_hand hand = {sim.hand.mass, sim.hand.damping, sim.hand.stiffness};
	const tac_stability_loop loop = {(double)period_ns / 1e9, (double)sim.delay_ns / 1e9, 0, 0};
	char text[512];
	snprintf(text, sizeof text, SCENE "effects: [{kind: point, name: p, stiffness_N_per_m: %.17g}]\n",
		 1.5 * tac_stability_critical(&sim.linear, &hand, &loop));
	plant p;
	plant_build(&p, text, sim, period_ns, known);
	const int ticks = (int)(s * 1e9 / (double)period_ns);
	double early = 0, late = 0;
	*out_least_J = 0;
	for (int k = 0; k < ticks && late < 10; k++) {
		plant_step(&p);
		const double v = tac_dvec3_length(p.truth.velocity_m_per_s);
		early = fmax(early, k < ticks / 4 ? v : 0);
		late = fmax(late, k > ticks * 3 / 4 ? v : 0);
		*out_least_J = fmin(*out_least_J, p.truth.absorbed_J);
	}
	*out_motion_J = p.motion_J;
	plant_fini(&p);
	return late / early;
}

static void the_controller_keeps_a_spring_from_generating_energy(void)
{
	for (size_t i = 0; i < RATES * 4; i++) {
		if (left_out(periods_ns[i % RATES], i / RATES))
			continue;
		const char *preset = presets[i / RATES];
		double least, motion, ignored[2];
		const double left = swing(preset, periods_ns[i % RATES], 1, MASS_ONLY, &least, &motion);
		const double grown =
			swing(preset, periods_ns[i % RATES], 1, NOTHING, &ignored[0], &ignored[1]);
		char message[200];
		snprintf(message, sizeof message, "%s at %g Hz: %g, without %g, %g mJ, in a tick %g mJ",
			 preset, 1e9 / (double)periods_ns[i % RATES], left, grown, 1e3 * least, 1e3 * motion);
		TEST_ASSERT_TRUE_MESSAGE(left < 1 && least >= -3 * motion - 1e-5, message);
		TEST_ASSERT_TRUE_MESSAGE(grown > 1.2, message);
	}
}

// The controller must not brake what the application asks for: fields that pull the hand along, vibrations.
static void fields_and_vibrations_are_not_damped(void)
{
	static const char *const effects[] = {
		"effects: [{kind: constant, name: a, force_N: [1.5, 0, 0.5]}]\n",
		"effects: [{kind: gravity, name: a, mass_kg: 0.2}]\n",
		"effects: [{kind: vibration, name: a, amplitude_N: 2, frequency_Hz: 40, direction: [1, 1, "
		"0]}]\n",
	};
	for (size_t i = 0; i < 3 * RATES; i++) {
		if (TAC_TEST_SANITIZED && periods_ns[i % RATES] < 1000000)
			continue;
		char text[512];
		snprintf(text, sizeof text, SCENE "%s", effects[i / RATES]);
		tac_sim_def sim;
		TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset("omega7", "light", &sim));
		sim.delay_ns = 1000000;
		plant p;
		plant_build(&p, text, sim, periods_ns[i % RATES], KNOWN);
		double most = 0, force = 0;
		for (int k = 0; k < (int)(INT64_C(1000000000) / p.period_ns); k++) {
			const tac_snapshot *s = plant_step(&p);
			most = fmax(most, s->passivity_N_s_per_m);
			force = fmax(force, tac_dvec3_length(s->sent.force_N));
		}
		TEST_ASSERT_TRUE(force > 1.4);
		TEST_ASSERT_TRUE_MESSAGE(most < 1e-9, effects[i / RATES]);
		TEST_ASSERT_TRUE(i / RATES == 2 || p.truth.absorbed_J < -1e-3); // it did give energy
		plant_fini(&p);
	}
}

// ---- a callback ----

typedef struct own {
	tac_effect_output out;
	int calls;
	int64_t sleep_ns;
} own;

static void own_force(void *user, const tac_effect_input *input, tac_effect_output *out)
{
	own *o = user;
	*out = o->out;
	o->calls++;
	TEST_ASSERT_TRUE(input->time_ns >= 0 && tac_dpose_finite(input->T_world_device));
	if (o->sleep_ns > 0)
		tac_clock_sleep_until_ns(tac_clock_now_ns() + o->sleep_ns);
}

static void build_own(fixture *f, own *o)
{
	tac_servo_def def = tac_servo_def_default();
	def.callback = (tac_effect_callback){.fn = own_force, .user = o};
	fixture_build(f, SCENE, "wide", def);
}

static void a_callback_is_followed_at_the_rate_that_it_explains(void)
{
	fixture f;
	own o = {.out.wrench.force_N = {0, 2.5, 0}};
	build_own(&f, &o);
	settle(&f, v3(0, 0, 0));
	TEST_ASSERT_EQUAL_INT(SETTLE, o.calls);
	o.out.wrench.force_N.y = -2.5; // 1 N a tick
	for (int i = 1; i <= 5; i++)
		assert_near(v3(0, 2.5 - i, 0), step_to(&f, v3(0, 0, 0))->effects.wrench.force_N, 1e-12);
	o.out.wrench.force_N.y = NAN;
	const tac_snapshot *s = settle(&f, v3(0, 0, 0));
	assert_near(v3(0, 0, 0), s->sent.force_N, 0);
	TEST_ASSERT_EQUAL_UINT64(SETTLE, s->effects.callback_invalid);
	fixture_fini(&f);
	// A slew of its own, and a stiffness.
	tac_servo_def def = tac_servo_def_default();
	o = (own){.out = {.wrench.force_N = {50, 0, 0}}};
	def.callback = (tac_effect_callback){.fn = own_force, .user = &o, .slew_N_per_s = 5000};
	fixture_build(&f, SCENE, "wide", def);
	settle(&f, v3(0, 0, 0));
	o.out.wrench.force_N.x = 0;
	o.out.stiffness_N_per_m = 1000;
	assert_near(v3(45, 0, 0), step_to(&f, v3(0, 0, 0))->effects.wrench.force_N, 1e-9);
	assert_near(v3(38, 0, 0), step_to(&f, v3(0, 0.002, 0))->effects.wrench.force_N, 1e-9);
	fixture_fini(&f);
}

static void an_overrun_is_counted_and_the_callback_rests(void)
{
	fixture f;
	own o = {.out.wrench.force_N = {0, 2, 0}};
	build_own(&f, &o);
	tac_tick tick = {0};
	settle(&f, v3(0, 0, 0)); // without a clock there are no overruns, however long it takes
	const int calls = o.calls;
	o.sleep_ns = 1000000;
	tac_servo_step(f.servo, f.now_ns, &tick);
	const tac_snapshot *s = tac_servo_snapshot(f.servo, 0);
	TEST_ASSERT_TRUE(s->effects.callback_ns >= 1000000);
	TEST_ASSERT_EQUAL_UINT64(1, s->effects.callback_overruns);
	TEST_ASSERT_TRUE(tac_tick_phase_ns(&tick, TAC_PHASE_EFFECTS) >= 1000000);
	o.sleep_ns = 0;
	for (int i = 1; i <= 1000; i++) {
		f.now_ns += MS;
		tac_servo_step(f.servo, f.now_ns, NULL);
		s = tac_servo_snapshot(f.servo, 0);
		TEST_ASSERT_EQUAL_INT(calls + 1 + (i == 1000), o.calls); // it rests for a second
		if (i < 1000)
			assert_near(v3(0, fmax(2 - i, 0), 0), s->effects.wrench.force_N, 1e-12);
	}
	TEST_ASSERT_EQUAL_UINT64(0, s->feel.jumps);
	fixture_fini(&f);
}

// ---- a live world ----

static void commands_of_a_live_world_set_and_switch_effects(void)
{
	live_fixture l;
	live_build(&l, SCENE "effects: [{kind: constant, name: wind, force_N: [1, 0, 0]}]\n");
	tac_effect e = make(TAC_EFFECT_VIBRATION);
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_servo_set_effect(l.f.servo, 0, &e));
	TEST_ASSERT_EQUAL_STRING("effect: expected a command of the live world (haptic/live.h), found one of "
				 "the servo",
				 logged);
	const tac_snapshot *s = settle(&l.f, v3(0, 0, 0));
	assert_near(v3(1, 0, 0), s->effects.wrench.force_N, 1e-12);
	e = *tac_servo_effect(l.f.servo, 0);
	e.force_N = v3(0, 0, -0.75);
	TEST_ASSERT_TRUE(tac_live_set_effect(l.live, 0, 3, &e));
	assert_near(v3(1, 0, -0.75), settle(&l.f, v3(0, 0, 0))->effects.wrench.force_N, 1e-12);
	TEST_ASSERT_TRUE(tac_live_switch_effect(l.live, 0, 0, false));
	assert_near(v3(0, 0, -0.75), settle(&l.f, v3(0, 0, 0))->effects.wrench.force_N, 1e-12);
	TEST_ASSERT_TRUE(tac_live_switch_effect(l.live, 0, 0, true));
	assert_near(v3(1, 0, -0.75), settle(&l.f, v3(0, 0, 0))->effects.wrench.force_N, 1e-12);
	e.force_N.x = INFINITY;
	TEST_ASSERT_FALSE(tac_live_set_effect(l.live, 0, 3, &e));
	TEST_ASSERT_FALSE(tac_live_switch_effect(l.live, 0, TAC_EFFECT_COUNT, true));
	TEST_ASSERT_FALSE(tac_live_switch_effect(l.live, 1, 0, true));
	live_fini(&l);
}

// ---- another thread ----

static void effects_change_while_the_loop_runs(void)
{
	fixture f;
	fixture_build(&f, SCENE, "wide", tac_servo_def_default());
	tac_servo_def def = tac_servo_def_default();
	def.world = f.world;
	def.device = &f.hand.base;
	tac_loop_def loop = tac_loop_def_default();
	loop.period_ns = def.period_ns = 250000;
	tac_play *play;
	TEST_ASSERT_EQUAL(TAC_OK, tac_play_start(&def, &loop, &play));
	tac_servo *servo = tac_play_servo(play);
	// Every set is consistent: the force is (n, 2 n) in units of 1 mN. A torn one would not be.
	tac_rng rng = tac_rng_seed(5, 0);
	tac_effect e = make(TAC_EFFECT_CONSTANT);
	for (int i = 0; i < test_rounds(8000); i++) {
		const double n = 1e-3 * (double)(tac_rng_u32(&rng) % 100);
		e.force_N = v3(n, 2 * n, 0);
		TEST_ASSERT_EQUAL(TAC_OK, tac_servo_set_effect(servo, 0, &e));
		TEST_ASSERT_EQUAL(TAC_OK, tac_servo_switch_effect(servo, 0, true));
		const tac_snapshot *s = tac_servo_snapshot(servo, 0);
		if (s)
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2 * s->effects.wrench.force_N.x,
						  s->effects.wrench.force_N.y);
		if (i % 10 == 0)
			tac_clock_sleep_until_ns(tac_clock_now_ns() + 100000);
	}
	e.force_N = v3(1, 2, 0);
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_set_effect(servo, 0, &e));
	const tac_snapshot *s = tac_servo_snapshot(servo, 0);
	for (int i = 0; i < 10000 && !(s && s->effects.wrench.force_N.x == 1); i++) {
		tac_clock_sleep_until_ns(tac_clock_now_ns() + MS);
		s = tac_servo_snapshot(servo, 0);
	}
	TEST_ASSERT_NOT_NULL(s);
	assert_near(e.force_N, s->effects.wrench.force_N, 0);
	tac_play_destroy(&play);
	fixture_fini(&f);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(commands_of_a_live_world_set_and_switch_effects);
	RUN_TEST(effects_change_while_the_loop_runs);
	if (TAC_TEST_THREADS_ONLY)
		return UNITY_END();
	RUN_TEST(fields_are_those_of_their_parameters);
	RUN_TEST(springs_pull_to_point_line_and_plane);
	RUN_TEST(a_magnet_has_its_peak_and_an_inverse_square_tail);
	RUN_TEST(a_vibration_follows_its_envelope);
	RUN_TEST(no_field_changes_faster_than_its_stiffness);
	RUN_TEST(springs_and_magnets_have_a_potential);
	RUN_TEST(the_sent_force_at_rest_is_that_of_the_effects);
	RUN_TEST(switching_ramps_and_is_exact_again_at_its_end);
	RUN_TEST(invalid_effects_are_refused_and_change_nothing);
	RUN_TEST(an_effect_acts_on_the_tool_that_it_names);
	RUN_TEST(an_effect_off_the_origin_turns_the_tool);
	RUN_TEST(six_axes_obey_the_bound_whatever_is_switched);
	RUN_TEST(the_force_obeys_its_bound_whatever_is_switched);
	RUN_TEST(dampers_up_to_their_limit_raise_the_critical_stiffness);
	RUN_TEST(effects_that_are_too_stiff_come_to_rest);
	RUN_TEST(springs_and_dampers_give_no_energy_to_the_hand);
	RUN_TEST(the_controller_keeps_a_spring_from_generating_energy);
	RUN_TEST(fields_and_vibrations_are_not_damped);
	RUN_TEST(a_callback_is_followed_at_the_rate_that_it_explains);
	RUN_TEST(an_overrun_is_counted_and_the_callback_rests);
	return UNITY_END();
}
