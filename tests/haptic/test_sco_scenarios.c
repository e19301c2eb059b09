// Scripted scenarios of the SCO. All judges are independent of the mover: the referee of
// tests/support/sweep_referee.h decides whether tool and scene are separate; closed forms, the support
// function over a plane and the oracle of tests/support/sco_oracle.h give the optimum.
//
//   test_sco_scenarios [WORK-UNITS]     with another budget than the servo's for small scenes
#include "haptic/sco.h"
#include "tests/support/force_watch.h"
#include "tests/support/limits.h"
#include "tests/support/sco_oracle.h"
#include "tests/support/sco_scenes.h"
#include "tests/support/sweep_referee.h"

#include "base/rng.h"

#include <stdio.h>
#include <string.h>

#define PI  3.14159265358979323846
#define RHO 0.0316227766016838
#define K   1000.0 // N/m
// Samples of the error against the optimum in most scenarios, and at most.
#define SAMPLES     (TAC_TEST_SANITIZED ? 12 : test_rounds(120))
#define MAX_SAMPLES 1000
// A pose sticks if it is further than this from the optimum, m, and has made up less than the fraction of it
// after the number of ticks. (When a minimum vanishes, a pose is far from the optimum without sticking.)
#define STICK_M        5e-5
#define STICK_FRACTION 0.02
#define STICK_TICKS    3
// Under a sanitizer the runs are this many times shorter: they must be safe, but need not reach their goal.
#define SHORTER                 12
#define TEST_REACHED(condition) TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || (condition))

void setUp(void)
{
}

void tearDown(void)
{
}

typedef struct scenario scenario;
typedef tac_dpose path_fn(const scenario *s, int tick);

struct scenario {
	const char *name;
	scene_body tool, scene;
	tac_dpose start;
	int ticks, samples;
	path_fn *path;
	tac_dpose *walk;
	tac_sco_def def;
	tac_sco_object object;
};

// The result of a run.
typedef struct outcome {
	int intersections, samples, sticks, blocked, unsettled;
	double least;              // smallest distance, m
	double median, p95, error; // of the distance to the optimum in the metric, m; error: largest
	double force_step_N;       // largest change of the force in a tick
	double force_excess_N;     // its part that the device's motion does not explain
	double depth;              // lowest z of the SCO
	tac_dpose last;
} outcome;

static double distance_between(tac_dpose a, tac_dpose b)
{
	return pose_distance(a, b, RHO * RHO);
}

static double referee(const scenario *s, tac_dpose T, double reach)
{
	ref_pose p = ref_pose_of(T);
	return ref_distance(s->tool.mesh, s->scene.mesh, &p, reach);
}

// The first argument of the program; 0: none.
static int64_t other_work_units;

static scenario scenario_make(const char *name, tac_mesh *tool, tac_mesh *scene, tac_dpose start, int ticks,
			      path_fn *path)
{
	scenario s = {.name = name, .start = start, .samples = SAMPLES, .path = path};
	s.ticks = TAC_TEST_SANITIZED ? ticks / SHORTER + 10 : ticks;
	s.tool = scene_body_make(tool);
	s.scene = scene_body_make(scene);
	s.def = scene_def(&s.tool, &s.scene, &s.object);
	if (other_work_units > 0)
		s.def.work_units = other_work_units;
	return s;
}

static void scenario_free(scenario *s)
{
	scene_body_free(&s->tool);
	scene_body_free(&s->scene);
	free(s->walk);
}

static tac_sco *sco_make(scenario *s, tac_sco_def def, tac_dpose start)
{
	tac_sco *sco;
	def.objects = &s->object;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &sco));
	TEST_ASSERT_TRUE_MESSAGE(tac_sco_reset(sco, start, NULL), s->name);
	return sco;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

// A pose that may be stuck; decided after STICK_TICKS.
typedef struct suspect {
	int tick;
	double error;
	tac_dpose pose;
} suspect;

static outcome run(scenario *s)
{
	tac_sco *sco = sco_make(s, s->def, s->start);
	oracle *solver = oracle_make(s->tool.mesh, s->scene.mesh, RHO, s->def.hold_gap_m);
	outcome o = {.least = HUGE_VAL, .depth = HUGE_VAL};
	double errors[MAX_SAMPLES];
	int sample_every = s->ticks / s->samples + 1, judge_every = test_long() ? 3 : 9;
	suspect stuck = {.tick = -1};
	tac_dvec3 force = tac_dvec3_zero();
	law_watch law = {0};
	tac_dpose device = s->start;
	for (int k = 0; k < s->ticks; k++) {
		tac_dpose last = device;
		tac_sco_report r;
		device = s->path(s, k);
		tac_sco_step(sco, device, NULL, &r);
		law_watch_step(&law, device, &r, s->def.fixed_rotation ? 0 : s->def.metric_m, s->name);
		TEST_ASSERT_TRUE_MESSAGE(tac_dpose_finite(r.T_world_sco), s->name);
		TEST_ASSERT_EQUAL_MESSAGE(0, r.flags & (TAC_SCO_FAULT | TAC_SCO_REFUSED), s->name);
		o.blocked += (r.flags & TAC_SCO_BLOCKED) != 0;
		o.depth = fmin(o.depth, r.T_world_sco.position.z);
		if (k % judge_every == 0) {
			double d = referee(s, r.T_world_sco, 1e-4);
			o.intersections += d < 0;
			o.least = fmin(o.least, d);
		}
		tac_dvec3 now = tac_dvec3_scale(tac_dvec3_sub(r.T_world_sco.position, device.position), K);
		if (k > 0) {
			tac_dvec3 w = tac_dquat_log(
				tac_dquat_mul(device.rotation, tac_dquat_conjugate(last.rotation)));
			double travel = tac_dvec3_length(tac_dvec3_sub(device.position, last.position)) +
					tac_dvec3_length(w) * tac_body_radius(s->tool.body);
			double step = tac_dvec3_length(tac_dvec3_sub(now, force));
			o.force_step_N = fmax(o.force_step_N, step);
			o.force_excess_N = fmax(o.force_excess_N, step - K * travel);
		}
		force = now;
		o.last = r.T_world_sco;
		if (stuck.tick >= 0 && k == stuck.tick + STICK_TICKS) {
			o.sticks +=
				distance_between(stuck.pose, r.T_world_sco) < STICK_FRACTION * stuck.error;
			stuck.tick = -1;
		}
		if (k % sample_every == sample_every - 1) {
			tac_dpose best = oracle_descend(solver, r.T_world_sco, device);
			double e = distance_between(r.T_world_sco, best);
			double gain =
				distance_between(r.T_world_sco, device) - distance_between(best, device);
			if (e > STICK_M && gain > 1e-6)
				stuck = (suspect){k, e, r.T_world_sco};
			o.unsettled += !solver->settled;
			errors[o.samples++] = e;
		}
	}
	qsort(errors, (size_t)o.samples, sizeof *errors, by_size);
	o.median = errors[o.samples / 2];
	o.p95 = errors[(int)(0.95 * o.samples)];
	o.error = errors[o.samples - 1];
	printf("%-16s dmin %6.2f um, hits %d | error um median %.2f p95 %.2f max %.2f (oracle unsettled %d) "
	       "| sticks %d/%d, blocked %d | force step %.4f N, excess %.4f N\n",
	       s->name, o.least * 1e6, o.intersections, o.median * 1e6, o.p95 * 1e6, o.error * 1e6,
	       o.unsettled, o.sticks, o.samples, o.blocked, o.force_step_N, o.force_excess_N);
	tac_sco_destroy(&sco);
	oracle_free(solver);
	TEST_ASSERT_EQUAL_MESSAGE(0, o.intersections, s->name);
	TEST_ASSERT_TRUE_MESSAGE(o.least >= 4.9e-6, s->name);
	// Where the oracle does not settle, the energy is flat. That must be rare.
	TEST_ASSERT_TRUE_MESSAGE(o.unsettled <= o.samples / 16 + 1, s->name);
	return o;
}

// --- device paths; t in s ---

static double smooth(double t)
{
	t = fmin(1, fmax(0, t));
	return t * t * (3 - 2 * t);
}

static tac_dvec3 about(double x, double y, double z, double angle)
{
	return tac_dvec3_scale(tac_dvec3_normalize(vec3(x, y, z)), angle);
}

static tac_dpose drag(const scenario *s, int k)
{
	(void)s;
	double t = k * 1e-3;
	return at(-0.05 + 0.05 * t, 0.013 * sin(3 * t) + 0.02 * t, 0.02 - 0.005 * smooth(5 * t) - 0.0005);
}

static tac_dpose push_into_corner(const scenario *s, int k)
{
	(void)s;
	double t = k * 1e-3, a = smooth(2 * t);
	return at(0.05 - 0.06 * a, 0.06 - 0.055 * a, 0.055 - 0.05 * a);
}

static tac_dpose pivot(const scenario *s, int k)
{
	(void)s;
	double t = k * 1e-3;
	return turned(-0.02 + 0.025 * smooth(0.5 * t), 0, 0.05 - 0.022 * smooth(2 * t),
		      about(0, 1, 0, 1.2 * smooth(0.5 * t - 0.2)));
}

static tac_dpose quarter_turn(const scenario *s, int k)
{
	(void)s;
	double t = k * 1e-3;
	return turned(0, 0, 0.015 - 0.008 * smooth(4 * t), about(0.3, 1, 0.2, PI / 2 * smooth(t - 0.3)));
}

static tac_dpose spin(const scenario *s, int k)
{
	(void)s;
	double t = k * 1e-3;
	return turned(0.01 * sin(5 * t), 0.012 * cos(4 * t), 0.012,
		      tac_dvec3_scale(vec3(sin(3 * t), cos(2 * t), sin(5 * t)), 0.8));
}

static tac_dpose ridge(const scenario *s, int k)
{
	(void)s;
	double t = k * 1e-3;
	return turned(0.03 * sin(1.5 * t), 0.008 * sin(4 * t), 0.006,
		      vec3(0.3 * sin(2 * t), 0.5 * sin(1.1 * t), 0.4 * t));
}

static tac_dpose groove(const scenario *s, int k)
{
	(void)s;
	double t = k * 1e-3;
	return turned(0.03 * cos(2 * t), 0.03 * sin(2 * t), -0.002, about(1, 1, 1, 0.3 * sin(t)));
}

static tac_dpose insert(const scenario *s, int k)
{
	(void)s;
	double t = k * 1e-3;
	return turned(0.0005 * sin(2 * t), 0.0004 * cos(3 * t) - 0.0004, 0.0275 - 0.0305 * smooth(t / 2),
		      about(1, 0.5, 0.1, 0.02 * sin(4 * t)));
}

static tac_dpose flush(const scenario *s, int k)
{
	(void)s;
	return at(0.0002, 0, 0.032 - 0.004 * smooth(k * 1e-3));
}

static tac_dpose jam(const scenario *s, int k)
{
	(void)s;
	double t = k * 1e-3;
	return turned(0.002 * sin(1.7 * t), 0, 0.012 - 0.004 * smooth(t),
		      about(0, 1, 0, 0.15 * sin(2.3 * t)));
}

static tac_dpose along_walk(const scenario *s, int k)
{
	return s->walk[k];
}

static tac_dpose plate(const scenario *s, int k)
{
	(void)s;
	return at(0.01, 0.005, k < 5 ? 0.06 : -10.0 * (k - 4));
}

static tac_dpose teleport(const scenario *s, int k)
{
	(void)s;
	tac_rng rng = tac_rng_seed((uint64_t)(k / 100), 3);
	double far = tac_rng_range_f64(&rng, 0.1, 1);
	tac_dvec3 p = tac_dvec3_add(vec3(0, 0, 0.08), tac_dvec3_scale(tac_rng_unit_f64(&rng), far));
	return tac_dpose_make(
		p, tac_dquat_exp(tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0, 3))));
}

// xorshift64 (G. Marsaglia, "Xorshift RNGs", J. Stat. Software 8(14), 2003): the tolerances of the terrain
// scenarios belong to these walks.
static double random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return -1 + 2 * ((double)(*state >> 11) * 0x1p-53);
}

static tac_dvec3 random_direction(uint64_t *state, double length)
{
	double z = random_number(state), y = random_number(state), x = random_number(state);
	return tac_dvec3_scale(tac_dvec3_normalize(vec3(x, y, z)), length);
}

// A random walk: a new direction every 50 ticks, towards `home` when further than `range`. m/s, rad/s.
static void walk(scenario *s, double speed, double turning, tac_dvec3 home, double range)
{
	uint64_t state = 99991;
	s->walk = malloc((size_t)s->ticks * sizeof *s->walk);
	s->path = along_walk;
	tac_dpose T = s->start;
	tac_dvec3 v = tac_dvec3_zero(), w = v;
	for (int k = 0; k < s->ticks; k++) {
		if (k % 50 == 0) {
			v = random_direction(&state, speed);
			tac_dvec3 back = tac_dvec3_sub(home, T.position);
			if (tac_dvec3_length(back) > range)
				v = tac_dvec3_scale(tac_dvec3_normalize(back), speed);
			w = random_direction(&state, turning);
		}
		T.position = tac_dvec3_add_scaled(T.position, 1e-3, v);
		T.rotation = tac_dquat_normalize(
			tac_dquat_mul(tac_dquat_exp(tac_dvec3_scale(w, 1e-3)), T.rotation));
		s->walk[k] = T;
	}
}

static tac_mesh *brick(void)
{
	return box_mesh(0.06, 0.03, 0.02, 1);
}

static tac_mesh *cube(int cuts)
{
	return box_mesh(0.04, 0.04, 0.04, cuts);
}

// --- closed forms: drags, a corner, a thin plate ---

static void a_box_dragged_over_a_fine_floor_follows_the_device(void)
{
	scenario s = scenario_make("drag", cube(1), plane_mesh(0.2, 24), at(-0.05, 0, 0.0301), 2000, drag);
	scenario fine =
		scenario_make("drag, 432", cube(6), plane_mesh(0.2, 24), at(-0.05, 0, 0.0301), 2000, drag);
	tac_sco *a = sco_make(&s, s.def, s.start), *b = sco_make(&fine, fine.def, fine.start);
	for (int k = 0; k < s.ticks; k++) {
		tac_dpose device = drag(&s, k);
		tac_sco_report r, q;
		tac_sco_step(a, device, NULL, &r);
		tac_sco_step(b, device, NULL, &q);
		tac_dvec3 off = tac_dvec3_sub(r.T_world_sco.position, device.position);
		TEST_ASSERT_TRUE(hypot(off.x, off.y) <= 1e-6);
		TEST_ASSERT_TRUE(hypot(off.x, off.y) * K <= 0.002);
		if (device.position.z < 0.02)
			TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0.02001, r.T_world_sco.position.z);
		TEST_ASSERT_TRUE(distance_between(r.T_world_sco, q.T_world_sco) <= 1e-7);
	}
	tac_sco_destroy(&a);
	tac_sco_destroy(&b);
	run(&s);
	run(&fine);
	scenario_free(&s);
	scenario_free(&fine);
}

static void a_box_in_a_corner_touches_all_three_walls(void)
{
	scenario s = scenario_make("corner", cube(1), corner_mesh(0.2, 0.02, 6), at(0.05, 0.06, 0.055), 1200,
				   push_into_corner);
	tac_dpose device = push_into_corner(&s, s.ticks - 1);
	TEST_REACHED(device.position.x < 0 && device.position.y < 0.02 && device.position.z < 0.02);
	outcome o = run(&s);
	TEST_REACHED(fabs(o.last.position.x - 0.02001) <= 2e-7);
	TEST_REACHED(fabs(o.last.position.y - 0.02001) <= 2e-7);
	TEST_REACHED(fabs(o.last.position.z - 0.02001) <= 2e-7);
	scenario_free(&s);
}

static void a_thin_plate_stops_a_device_of_ten_metres_a_tick(void)
{
	scenario s = scenario_make("plate", cube(1), box_mesh(0.2, 0.2, 0.001, 2), at(0.01, 0.005, 0.06), 60,
				   plate);
	tac_sco *sco = sco_make(&s, s.def, s.start);
	for (int k = 0; k < s.ticks; k++) {
		tac_sco_report r;
		tac_sco_step(sco, plate(&s, k), NULL, &r);
		if (k >= 5)
			TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0.0005 + 0.02 + 1e-5, r.T_world_sco.position.z);
	}
	tac_sco_destroy(&sco);
	run(&s);
	scenario_free(&s);
}

// --- over a plane the optimum is known: for each rotation, the tool's lowest point gives its height ---

// The free pose above the plane z = 0 with rotation q that is closest to the device.
static tac_dpose over_plane(const tac_mesh *tool, tac_dpose device, tac_dquat q)
{
	double low = HUGE_VAL;
	for (int32_t i = 0; i < tool->vertex_count; i++)
		low = fmin(low, tac_dquat_rotate(q, tac_dvec3_from_vec3(tool->vertices[i])).z);
	tac_dvec3 p = device.position;
	p.z = fmax(p.z, 1e-5 - low);
	return tac_dpose_make(p, q);
}

// The local optimum near `from`, by random steps that shrink when they fail.
static tac_dpose search_over_plane(const tac_mesh *tool, tac_dpose device, tac_dpose from)
{
	tac_rng rng = tac_rng_seed(1, 1);
	tac_dpose best = over_plane(tool, device, from.rotation);
	double least = distance_between(best, device), size = 1e-2;
	for (int i = 0; i < 4000 && size > 1e-9; i++) {
		tac_dvec3 w = tac_dvec3_scale(tac_rng_unit_f64(&rng), size * tac_rng_f64(&rng));
		tac_dpose T = over_plane(tool, device, tac_dquat_mul(tac_dquat_exp(w), best.rotation));
		double d = distance_between(T, device);
		if (d < least) {
			least = d;
			best = T;
			size = fmin(2 * size, 1e-2);
		} else {
			size *= 0.97;
		}
	}
	return best;
}

typedef struct plane_outcome {
	double pose_error, excess, least;
} plane_outcome;

static plane_outcome run_over_plane(scenario *s)
{
	tac_sco *sco = sco_make(s, s->def, s->start);
	plane_outcome o = {0, 0, HUGE_VAL};
	for (int k = 0; k < s->ticks; k++) {
		tac_sco_report r;
		tac_dpose device = s->path(s, k);
		tac_sco_step(sco, device, NULL, &r);
		if (k <= 60 || k % 7 != 0)
			continue;
		tac_dpose best = search_over_plane(s->tool.mesh, device, r.T_world_sco);
		o.pose_error = fmax(o.pose_error, distance_between(best, r.T_world_sco));
		o.excess = fmax(o.excess,
				distance_between(r.T_world_sco, device) - distance_between(best, device));
		o.least = fmin(o.least, referee(s, r.T_world_sco, 1e-4));
	}
	printf("%-16s against the support function: pose %.2f um, metric excess %.3f um, dmin %.3f um\n",
	       s->name, o.pose_error * 1e6, o.excess * 1e6, o.least * 1e6);
	tac_sco_destroy(&sco);
	return o;
}

static void a_brick_turned_against_a_plane_stays_at_the_optimum(void)
{
	scenario s = scenario_make("quarter turn", brick(), plane_mesh(0.2, 1), at(0, 0, 0.03), 1600,
				   quarter_turn);
	plane_outcome o = run_over_plane(&s);
	TEST_ASSERT_TRUE(o.excess <= 1e-6);
	TEST_ASSERT_TRUE(o.least >= 9.9e-6);
	scenario_free(&s);
}

static void a_brick_spun_on_a_plane_stays_at_the_optimum(void)
{
	scenario s = scenario_make("spin", brick(), plane_mesh(0.2, 24), at(0, 0, 0.05), 3000, spin);
	plane_outcome o = run_over_plane(&s);
	TEST_ASSERT_TRUE(o.pose_error <= 30e-6);
	scenario_free(&s);
}

// --- edges and grooves ---

static void a_brick_pivots_over_the_edge_of_a_step(void)
{
	scenario s =
		scenario_make("pivot", brick(), step_mesh(0.1, 0.02, 5), at(-0.05, 0, 0.06), 2600, pivot);
	outcome o = run(&s);
	TEST_REACHED(o.error <= 50e-6);
	TEST_REACHED(o.sticks == 0);
	TEST_REACHED(o.force_step_N <= 0.04);
	scenario_free(&s);
}

static void a_brick_on_a_ridge_tumbles_without_sticking(void)
{
	scenario s = scenario_make("ridge", brick(), step_mesh(0.1, 0.02, 5), at(0, 0, 0.05), 3000, ridge);
	outcome o = run(&s);
	TEST_REACHED(o.p95 <= 50e-6);
	TEST_REACHED(o.sticks == 0);
	s.def.slew_m_per_s = 0.5;
	s.name = "ridge, slew";
	o = run(&s);
	TEST_REACHED(o.force_step_N <= 0.6);
	scenario_free(&s);
}

static void a_box_follows_a_groove(void)
{
	scenario s = scenario_make("groove box", cube(1), groove_mesh(0.15, 0.03, 0.03, 10),
				   turned(0.03, 0, 0.03, vec3(PI / 4, 0, 0)), 3200, groove);
	outcome o = run(&s);
	TEST_REACHED(o.p95 <= 50e-6);
	TEST_REACHED(o.sticks == 0);
	TEST_REACHED(o.force_step_N > 4); // a minimum vanishes and the box snaps to the next
	s.def.slew_m_per_s = 0.5;
	s.name = "groove, slew";
	o = run(&s);
	TEST_REACHED(o.force_step_N <= 0.6);
	scenario_free(&s);
}

static void a_sphere_follows_a_groove(void)
{
	scenario s = scenario_make("groove sphere", sphere_mesh(0.02, 2), groove_mesh(0.15, 0.03, 0.03, 10),
				   at(0.03, 0, 0.02), 3200, groove);
	outcome o = run(&s);
	TEST_REACHED(o.p95 <= 50e-6);
	TEST_REACHED(o.error <= 100e-6);
	scenario_free(&s);
}

// --- pegs ---

static void pegs_slide_to_the_bottom_of_their_holes(void)
{
	const double clearance[] = {1e-3, 0.5e-3, 0.2e-3, 0.1e-3, 0.05e-3}; // of the diameter
	for (int i = 0; i < 5; i++) {
		scenario s = scenario_make("peg", cylinder_mesh(0.005, 0.06, 32),
					   hole_mesh(0.005 + clearance[i] / 2, 0.03, 32, 0.05),
					   at(0, 0, 0.028), 2600, insert);
		outcome o = run(&s);
		TEST_REACHED(o.depth <= 50e-6);
		TEST_REACHED(o.error <= 1e-6);
		TEST_REACHED(o.force_step_N <= 0.02);
		scenario_free(&s);
	}
}

static void a_peg_beside_a_tight_hole_stays_on_the_rim(void)
{
	scenario s = scenario_make("flush peg", cylinder_mesh(0.005, 0.06, 32),
				   hole_mesh(0.005025, 0.03, 32, 0.05), at(0.0002, 0, 0.032), 1500, flush);
	outcome o = run(&s);
	TEST_REACHED(o.depth > 0.03); // pressed by 2 mm; pressed by 18 mm it tilts and slips in
	scenario_free(&s);
}

static void a_jammed_peg_stays_at_its_optimum(void)
{
	scenario s = scenario_make("jam", cylinder_mesh(0.005, 0.06, 32), hole_mesh(0.0052, 0.03, 32, 0.05),
				   at(0, 0, 0.012), 3000, jam);
	outcome o = run(&s);
	TEST_REACHED(o.error <= 2e-6);
	TEST_REACHED(o.blocked == 0);
	scenario_free(&s);
}

// --- walks, teleports and small budgets ---

static scenario terrain_make(const char *name, double speed, double height, double range)
{
	scenario s = scenario_make(name, brick(), terrain_mesh(0.1, 32, 0.004), at(0, 0, 0.02), 2000, NULL);
	walk(&s, speed, fmin(20, 20 * speed), vec3(0, 0, height), range);
	return s;
}

static void a_brick_walks_slowly_over_terrain(void)
{
	scenario s = terrain_make("terrain 0.05", 0.05, 0.002, 0.012);
	outcome o = run(&s);
	TEST_REACHED(o.p95 <= 5e-6);
	TEST_REACHED(o.error <= 20e-6);
	TEST_REACHED(o.sticks == 0);
	scenario_free(&s);
}

static void a_brick_walks_over_terrain(void)
{
	scenario s = terrain_make("terrain 0.5", 0.5, 0, 0.03);
	if (!TAC_TEST_SANITIZED)
		s.samples = test_rounds(MAX_SAMPLES); // large errors are rare: fewer samples would miss them
	outcome o = run(&s);
	TEST_REACHED(o.median <= 10e-6);
	TEST_REACHED(o.p95 <= 100e-6);
	TEST_REACHED(o.sticks == 0);
	scenario_free(&s);
}

static void a_brick_rushes_over_terrain(void)
{
	scenario s = terrain_make("terrain 5", 5, 0, 0.05);
	outcome o = run(&s);
	TEST_REACHED(o.sticks == 0);
	scenario_free(&s);
}

static void a_tool_at_five_metres_a_second_does_not_pass_a_corner(void)
{
	scenario s = scenario_make("corner 5", cube(1), corner_mesh(0.2, 0.02, 6), at(0.05, 0.05, 0.05), 2000,
				   NULL);
	walk(&s, 5, 20, vec3(0.01, 0.01, 0.01), 0.03);
	outcome o = run(&s);
	TEST_ASSERT_TRUE(o.least >= 5e-6);
	TEST_REACHED(o.sticks == 0);
	scenario_free(&s);
}

static void teleports_end_at_the_optimum(void)
{
	scenario s = scenario_make("teleport", brick(), terrain_mesh(0.1, 32, 0.004), at(0, 0, 0.05), 3000,
				   teleport);
	outcome o = run(&s);
	TEST_REACHED(o.p95 <= 1e-9);
	scenario_free(&s);
	s = scenario_make("teleport corner", cube(1), corner_mesh(0.2, 0.02, 6), at(0.1, 0.1, 0.1), 3000,
			  teleport);
	o = run(&s);
	TEST_REACHED(o.p95 <= 1e-9);
	scenario_free(&s);
}

static void one_substep_a_tick_is_slow_but_safe(void)
{
	scenario s = scenario_make("one substep", brick(), terrain_mesh(0.1, 32, 0.004), at(0, 0, 0.02), 2000,
				   NULL);
	walk(&s, 0.5, 10, vec3(0, 0, 0), 0.03);
	s.def.substeps = 1;
	run(&s);
	scenario_free(&s);
}

static void a_small_work_budget_is_slow_but_safe(void)
{
	scenario s = scenario_make("small budget", brick(), terrain_mesh(0.1, 32, 0.004), at(0, 0, 0.02),
				   2000, NULL);
	walk(&s, 5, 20, vec3(0, 0, 0), 0.05);
	s.def.work_units = tac_sco_def_default().work_units;
	outcome o = run(&s);
	TEST_REACHED(o.sticks <= o.samples / 8);
	scenario_free(&s);
}

// --- the oracle itself ---

// Where the oracle descends to from a free pose.
static tac_dpose oracle_from(tac_mesh *tool, tac_mesh *scene, tac_dpose start, tac_dpose device)
{
	oracle *solver = oracle_make(tool, scene, RHO, 1e-5);
	TEST_ASSERT_TRUE(oracle_gap(solver, start, 1e-4) > 1e-5);
	tac_dpose T = oracle_descend(solver, start, device);
	TEST_ASSERT_TRUE(solver->settled);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1e-5, oracle_gap(solver, T, 1e-4));
	oracle_free(solver);
	return T;
}

static void assert_at(double x, double y, double z, tac_dpose T, double tolerance)
{
	TEST_ASSERT_DOUBLE_WITHIN(tolerance, x, T.position.x);
	TEST_ASSERT_DOUBLE_WITHIN(tolerance, y, T.position.y);
	TEST_ASSERT_DOUBLE_WITHIN(tolerance, z, T.position.z);
}

static void the_oracle_finds_known_optima(void)
{
	tac_mesh *plane = plane_mesh(0.2, 3), *corner = corner_mesh(0.2, 0.02, 2), *box = cube(1),
		 *slab = brick(), *hole = hole_mesh(0.0052, 0.03, 32, 0.05),
		 *plug = cylinder_mesh(0.005, 0.02, 32);
	tac_rng rng = tac_rng_seed(8, 8);
	for (int i = 0; i < 20; i++) {
		tac_dpose start = tac_dpose_make(vec3(0.08, 0.07, 0.06), tac_rng_rotation_f64(&rng));
		// Flat on the floor; in the corner against all three walls.
		tac_dpose T = oracle_from(box, plane, start, at(0.011, -0.02, 0.013));
		assert_at(0.011, -0.02, 0.02001, T, 2e-8);
		T = oracle_from(box, corner, at(0.05, 0.06, 0.055), at(0.01, 0.012, -0.003));
		assert_at(0.02001, 0.02001, 0.02001, T, 2e-8);
		// A tilted device: the optimum agrees with the support function.
		tac_dvec3 w = tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0.1, 0.6));
		tac_dpose device = tac_dpose_make(vec3(0.01, 0, 0.006), tac_dquat_exp(w));
		T = oracle_from(slab, plane, tac_dpose_make(vec3(0, 0, 0.06), device.rotation), device);
		tac_dpose best = search_over_plane(slab, device, T);
		TEST_ASSERT_DOUBLE_WITHIN(2e-8, distance_between(best, device), distance_between(T, device));
	}
	// Pushed aside in a hole: an edge of the plug against the middle of a flat side.
	tac_dpose T = oracle_from(plug, hole, at(0, 0, -0.015), at(0.003, 0, -0.015));
	assert_at(0.0002 - 1e-5, 0, -0.015, T, 1e-8);
	tac_mesh *meshes[] = {plane, corner, box, slab, hole, plug};
	for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
		tac_mesh_destroy(&meshes[i]);
}

int main(int argc, char **argv)
{
	other_work_units = argc > 1 ? atoll(argv[1]) : 0;
	UNITY_BEGIN();
	RUN_TEST(the_oracle_finds_known_optima);
	RUN_TEST(a_box_dragged_over_a_fine_floor_follows_the_device);
	RUN_TEST(a_box_in_a_corner_touches_all_three_walls);
	RUN_TEST(a_thin_plate_stops_a_device_of_ten_metres_a_tick);
	RUN_TEST(a_brick_turned_against_a_plane_stays_at_the_optimum);
	RUN_TEST(a_brick_spun_on_a_plane_stays_at_the_optimum);
	RUN_TEST(a_brick_pivots_over_the_edge_of_a_step);
	RUN_TEST(a_brick_on_a_ridge_tumbles_without_sticking);
	RUN_TEST(a_box_follows_a_groove);
	RUN_TEST(a_sphere_follows_a_groove);
	RUN_TEST(pegs_slide_to_the_bottom_of_their_holes);
	RUN_TEST(a_peg_beside_a_tight_hole_stays_on_the_rim);
	RUN_TEST(a_jammed_peg_stays_at_its_optimum);
	RUN_TEST(a_brick_walks_slowly_over_terrain);
	RUN_TEST(a_brick_walks_over_terrain);
	RUN_TEST(a_brick_rushes_over_terrain);
	RUN_TEST(a_tool_at_five_metres_a_second_does_not_pass_a_corner);
	RUN_TEST(teleports_end_at_the_optimum);
	RUN_TEST(one_substep_a_tick_is_slow_but_safe);
	RUN_TEST(a_small_work_budget_is_slow_but_safe);
	return UNITY_END();
}
