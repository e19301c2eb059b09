// Contact with soft tissue against closed forms (Hertz, the flat punch, exponential creep), against brute
// force (a projected Gauss-Seidel over every node of a small body), and against what must hold in every tick:
// the optimality conditions, the slope of the force, closed paths.
#include "base/rng.h"
#include "bench/tissue_patch.h"
#include "collision/mesh_shapes.h"
#include "tests/support/allocations.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "tissue/contact/contact_state.h"
#include "unity.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define E      10e3
#define NU     0.45
#define E_STAR (E / (1 - NU * NU))
#define R      0.01
#define PI     3.14159265358979323846
#define TICK_S 1e-3

static tac_compliance *body;
static tac_tissue *tissue, *other;
static tac_field *field;
static const tac_tissue_state *state;

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
}

void tearDown(void)
{
	tac_tissue_destroy(&tissue);
	tac_tissue_destroy(&other);
	tac_compliance_destroy(&body);
	tac_field_destroy(&field);
}

static void make_patch(tissue_patch p)
{
	tac_compliance_destroy(&body);
	body = tissue_patch_make(&p);
	TEST_ASSERT_NOT_NULL(body);
}

static void make_body(double cell_m, int side, double creep, double creep_time_s)
{
	make_patch((tissue_patch){E, NU, cell_m, side, creep, creep_time_s, 0, NULL, NULL});
}

static void make_tissue(const tac_tissue_tool *tool, bool fixed_rotation)
{
	const tac_tissue_def def = {"patch", body, *tool, fixed_rotation};
	tac_tissue_destroy(&tissue);
	TEST_ASSERT_EQUAL(TAC_OK, tac_tissue_create(&def, &tissue));
	state = tac_tissue_state_of(tissue);
}

static const tac_tissue_tool ball = {.radius_m = R};

static tac_dpose at(double x, double y, double z)
{
	return tac_dpose_make(tac_dvec3_make(x, y, z), tac_dquat_identity());
}

static double hertz_N(double depth_m)
{
	return 4.0 / 3 * E_STAR * sqrt(R) * pow(depth_m, 1.5);
}

// Lowers the tool to a pose and holds it until the normals have settled.
static double held_N(tac_dpose T)
{
	double force = 0;
	for (int i = 8; i >= -5; i--) {
		tac_dpose to = T;
		to.position.z += i > 0 ? 5e-5 * i : 0;
		force = tac_tissue_hold(tissue, to, TICK_S).force_N.z;
	}
	return force;
}

// A device that moves the tool through a coupling.
typedef struct hand {
	tac_dpose tool, device;
	double stiffness, turn_stiffness;
	const tac_tissue_rigid *rigid;
	int32_t rigid_count;
	const tac_tissue *partner;
} hand;

static tac_wrench step(tac_tissue *t, hand *h, tac_dpose device)
{
	h->device = device;
	const tac_tissue_input in = {h->tool, device,   h->stiffness,   h->turn_stiffness,
				     TICK_S,  h->rigid, h->rigid_count, h->partner};
	tac_dpose aim;
	tac_tissue_solve(t, &in, &aim);
	h->tool = aim;
	return tac_tissue_commit(t, aim);
}

// ---- closed forms ----

static void test_ball_presses_as_hertz_says(void)
{
	const double depth = 4e-4, a = sqrt(R * depth);
	for (int i = 0; i < 3; i++) {
		const double ratio = (const double[]){2, 3, 3.4}[i];
		make_body(a / ratio, 17, 0, 0);
		make_tissue(&ball, true);
		const double h = a / ratio, force = held_N(at(0.13 * h, 0.27 * h, R - depth));
		printf("  a/h %.1f: %.5f N, Hertz %.5f N, %+.2f %%, %d rows, level %d\n", ratio, force,
		       hertz_N(depth), 100 * (force / hertz_N(depth) - 1), (int)state->rows,
		       (int)state->level);
		TEST_ASSERT_EQUAL(0, state->level);
		TEST_ASSERT_DOUBLE_WITHIN((ratio < 3 ? 0.03 : 0.01) * hertz_N(depth), hertz_N(depth), force);
	}
}

// At random places, on all levels and where two of them share the contact.
static void test_ball_presses_as_hertz_says_at_every_size(void)
{
	const double h = 1e-3;
	const int rounds = test_rounds(80);
	const double step_up = TAC_TEST_SANITIZED ? 0.9 : 0.3;
	tac_rng rng = tac_rng_seed(14, 1);
	make_body(h, 37, 0, 0);
	for (double ratio = 3; ratio < 12; ratio += step_up) {
		double mean = 0, least = HUGE_VAL, most = -HUGE_VAL;
		for (int round = 0; round < rounds; round++) {
			// A flat dent: a is a fifth of the radius.
			const double a = h * (ratio + step_up * round / rounds), radius = 5 * a;
			const double depth = a * a / radius;
			const double hertz = 4.0 / 3 * E_STAR * sqrt(radius) * pow(depth, 1.5);
			make_tissue(&(tac_tissue_tool){.radius_m = radius}, true);
			const tac_dpose T = at(tac_rng_range_f64(&rng, -2 * h, 2 * h),
					       tac_rng_range_f64(&rng, -2 * h, 2 * h), radius - depth);
			held_N(T);
			for (int i = 0; i < 120; i++) // the shares of two levels rest after 100
				tac_tissue_hold(tissue, T, TICK_S);
			TEST_ASSERT_EQUAL(0, state->flags);
			const double error = state->wrench.force_N.z / hertz - 1;
			mean += error / rounds;
			least = fmin(least, error);
			most = fmax(most, error);
		}
		printf("  ball, a/h from %.1f: %+.2f %% on average, %+.2f … %+.2f %%, %d rows, level %d\n",
		       ratio, 100 * mean, 100 * least, 100 * most, (int)state->rows, (int)state->level);
		const double bound = ratio < 3.2 ? 0.011 : 0.01;
		TEST_ASSERT_TRUE(least > -bound && most < bound);
	}
}

static void test_wide_dent_keeps_its_force_on_coarser_levels(void)
{
	make_body(5e-4, 25, 0, 0);
	make_tissue(&ball, true);
	int32_t most = 0;
	for (int i = 0; i < 14; i++) {
		const double depth = 1e-4 * (4 + 0.6 * i);
		const double force = held_N(at(0, 0, R - depth));
		most = state->level > most ? state->level : most;
		TEST_ASSERT_EQUAL(0, state->flags);
		TEST_ASSERT_DOUBLE_WITHIN(0.03 * hertz_N(depth), hertz_N(depth), force);
	}
	TEST_ASSERT_TRUE(most >= 1);
}

// Over random places, turns, sizes and heights: how far the force is from the closed form, in parts of it.
typedef struct punch_errors {
	double mean, least, most;
} punch_errors;

static punch_errors press_punches(double ratio, int rounds)
{
	const double h = 1e-3;
	tac_rng rng = tac_rng_seed(12, (uint64_t)(10 * ratio));
	punch_errors e = {0, HUGE_VAL, -HUGE_VAL};
	make_body(h, 2 * (int)ceil(ratio) + 13, 0, 0);
	for (int round = 0; round < rounds; round++) {
		const double radius = h * (ratio + (double)round / rounds), depth = 0.05 * radius;
		const double height = radius * (const double[]){1.5, 0.4, 1}[round % 3];
		tac_mesh *mesh;
		tac_tissue_tool punch;
		TEST_ASSERT_EQUAL(TAC_OK,
				  tac_mesh_build_cylinder((float)radius, (float)height, 64, 4, &mesh));
		tac_field_destroy(&field);
		TEST_ASSERT_EQUAL(TAC_OK, tac_tissue_field_build("punch", mesh, &field, &punch));
		tac_mesh_destroy(&mesh);
		make_tissue(&punch, true);
		const tac_dvec3 place = tac_dvec3_make(tac_rng_range_f64(&rng, -h, h),
						       tac_rng_range_f64(&rng, -h, h), height / 2 - depth);
		const tac_dvec3 turn = tac_dvec3_make(0, 0, tac_rng_range_f64(&rng, 0, 2 * PI));
		const tac_dpose T = tac_dpose_make(place, tac_dquat_exp(turn));
		held_N(T);
		for (int i = 0; i < 120; i++) // the shares of two levels rest after 100
			tac_tissue_hold(tissue, T, TICK_S);
		// The mesh is a prism: the circle with its area has a slightly smaller radius.
		const double a = radius * sqrt(64 / (2 * PI) * sin(2 * PI / 64));
		const double error = state->wrench.force_N.z / (2 * a * E_STAR * depth) - 1;
		e.mean += error / rounds;
		e.least = fmin(e.least, error);
		e.most = fmax(e.most, error);
	}
	printf("  punch, a/h %.1f to %.1f: %+.2f %% on average, %+.2f … %+.2f %%, %d rows, level %d\n", ratio,
	       ratio + 1, 100 * e.mean, 100 * e.least, 100 * e.most, (int)state->rows, (int)state->level);
	return e;
}

// On all levels, and where two of them share the contact.
static void test_flat_punch_by_its_field_presses_as_the_closed_form_says(void)
{
	const double ratios[] = {2, 3, 4, 5.5, 7.3, 10};
	for (int i = 0; i < (TAC_TEST_SANITIZED ? 3 : 6); i++) {
		const punch_errors e = press_punches(ratios[i], test_rounds(48));
		const double most = ratios[i] < 3 ? 0.015 : 0.01;
		TEST_ASSERT_TRUE(e.least > -most && e.most < most && fabs(e.mean) < 0.005);
	}
}

static void test_field_of_a_sphere_presses_as_the_ball(void)
{
	const double depth = 4e-4, h = sqrt(R * depth) / 2.5;
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere((float)R, 5, &mesh));
	const tac_field_def def = {.name = "sphere", .mesh = mesh, .voxel_m = 3e-4};
	TEST_ASSERT_EQUAL(TAC_OK, tac_field_build(&def, &field));
	tac_mesh_destroy(&mesh);
	make_body(h, 17, 0, 0);
	make_tissue(&ball, true);
	const double exact = held_N(at(0, 0, R - depth));
	make_tissue(&(tac_tissue_tool){.field = field, .reach_m = R}, true);
	const double sampled = held_N(at(0, 0, R - depth));
	TEST_ASSERT_DOUBLE_WITHIN(0.03 * exact, exact, sampled);
}

static void test_force_along_the_surface_has_little_ripple(void)
{
	const double depth = 4e-4, h = sqrt(R * depth) / 3;
	make_body(h, 21, 0, 0);
	make_tissue(&ball, true);
	double low = HUGE_VAL, high = 0;
	held_N(at(0, 0, R - depth));
	for (int i = 0; i <= 400; i++) {
		const double s = i / 400.0;
		const double force =
			tac_tissue_hold(tissue, at(3 * h * s, 1.7 * h * s, R - depth), TICK_S).force_N.z;
		low = fmin(low, force);
		high = fmax(high, force);
	}
	printf("  ripple at a/h 3: %.2f %%\n", 200 * (high - low) / (high + low));
	TEST_ASSERT_TRUE(high - low < 0.02 * 0.5 * (high + low));
}

// A force that is distributed as Hertz's pressure: u = pi q / (32 G a) (4 (2 - nu) a^2 - (4 - nu) x^2 -
// (4 - 3 nu) y^2), q the traction in the middle (K. Johnson, Contact Mechanics, 7.2), of which the mean with
// the pressure as weight is 0.15 (2 - nu) / (G a) for each newton.
static void test_drag_of_a_patch_is_that_of_the_closed_form(void)
{
	const double depth = 4e-4, a = sqrt(R * depth), shear = E / (2 * (1 + NU));
	make_body(a / 3, 17, 0, 0);
	make_tissue(&ball, true);
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_tissue_drag_m_per_N(tissue));
	held_N(at(0, 0, R - depth));
	const double expected = 0.15 * (2 - NU) / (shear * a), drag = tac_tissue_drag_m_per_N(tissue);
	printf("  drag at a/h 3: %+.2f %%\n", 100 * (drag / expected - 1));
	TEST_ASSERT_DOUBLE_WITHIN(0.03 * expected, expected, drag);
	// What is dragged is seen: the sum of the forces has the drag, and the patch moves by it.
	tac_tissue_force forces[TAC_TISSUE_FORCES];
	tac_tissue_drag(tissue, tac_dvec3_make(0.001, 0, 0));
	const int32_t count = tac_tissue_forces(tissue, forces);
	double sum = 0, moved = 0;
	for (int32_t i = 0; i < count; i++) {
		sum += (double)forces[i].force_N.x;
		for (int32_t j = 0; j < count; j++) {
			const tac_mat3 C = tac_compliance_block(body, forces[i].point, forces[j].point);
			moved += (double)(C.m[0][0] * forces[j].force_N.x) * (double)forces[i].force_N.z /
				 -state->load_N;
		}
	}
	TEST_ASSERT_DOUBLE_WITHIN(2e-5, 0.001, sum); // normals across the patch cancel but for its place
	TEST_ASSERT_DOUBLE_WITHIN(0.1 * 0.001 * expected, 0.001 * expected, moved);
}

// ---- brute force ----

// A referee: all nodes, true gaps, projected Gauss-Seidel, normals anew until they rest. Up to two capsules
// that are held.
typedef struct referee_tool {
	tac_dvec3 a, b;
	tac_wrench wrench;
} referee_tool;

#define REFEREE_NODES 200

static void referee(referee_tool *tools, int count)
{
	static double load[2][REFEREE_NODES];
	static tac_dvec3 moved[REFEREE_NODES];
	const int32_t n = body->node_count;
	memset(load, 0, sizeof load);
	memset(moved, 0, sizeof moved);
	for (int outer = 0; outer < 8; outer++) {
		static tac_dvec3 normal[2][REFEREE_NODES], push[REFEREE_NODES];
		static double reach[2][REFEREE_NODES];
		memset(push, 0, sizeof push);
		for (int k = 0; k < count; k++) {
			for (int32_t i = 0; i < n; i++) {
				const tac_dvec3 rest = tac_dvec3_from_vec3(body->points[i]);
				const tac_dvec3 p = tac_dvec3_add(rest, moved[i]);
				const tac_dvec3 way = tac_dvec3_sub(tools[k].b, tools[k].a);
				const double length2 = tac_dvec3_length_squared(way);
				double s = length2 > 0 ? tac_dvec3_dot(tac_dvec3_sub(p, tools[k].a), way) /
								 length2
						       : 0;
				s = fmin(fmax(s, 0), 1);
				const tac_dvec3 core = tac_dvec3_add_scaled(tools[k].a, s, way);
				normal[k][i] = tac_dvec3_normalize(tac_dvec3_sub(p, core));
				reach[k][i] = tac_dvec3_dot(normal[k][i], tac_dvec3_sub(rest, core)) - R;
				push[i] = tac_dvec3_add_scaled(push[i], load[k][i], normal[k][i]);
			}
		}
		for (int sweep = 0; sweep < 40; sweep++) {
			for (int k = 0; k < count; k++) {
				for (int32_t i = 0; i < n; i++) {
					const tac_dvec3 m = normal[k][i];
					if (reach[k][i] > 5e-4 || m.z > 0)
						continue;
					tac_dvec3 u = tac_dvec3_zero();
					for (int32_t j = 0; j < n; j++) {
						if (tac_dvec3_length_squared(push[j]) > 0)
							u = tac_dvec3_add(
								u,
								tac_dmat3_apply(tac_dmat3_from_mat3(
											tac_compliance_block(
												body, i, j)),
										push[j]));
					}
					const double own = tac_dvec3_dot(
						m, tac_dmat3_apply(tac_dmat3_from_mat3(
									   tac_compliance_block(body, i, i)),
								   m));
					const double next = fmax(
						load[k][i] - (reach[k][i] + tac_dvec3_dot(m, u)) / own, 0);
					push[i] = tac_dvec3_add_scaled(push[i], next - load[k][i], m);
					load[k][i] = next;
				}
			}
		}
		for (int32_t i = 0; i < n; i++) {
			moved[i] = tac_dvec3_zero();
			for (int32_t j = 0; j < n; j++)
				moved[i] = tac_dvec3_add(
					moved[i],
					tac_dmat3_apply(tac_dmat3_from_mat3(tac_compliance_block(body, i, j)),
							push[j]));
		}
		for (int k = 0; k < count; k++) {
			tools[k].wrench = (tac_wrench){{0, 0, 0}, {0, 0, 0}};
			for (int32_t i = 0; i < n; i++)
				tools[k].wrench.force_N = tac_dvec3_add_scaled(tools[k].wrench.force_N,
									       -load[k][i], normal[k][i]);
		}
	}
}

static void test_tilted_capsule_agrees_with_brute_force(void)
{
	make_body(0.002, 13, 0, 0);
	const tac_tissue_tool capsule = {.a = {-0.004, 0, 0}, .b = {0.004, 0, 0}, .radius_m = R};
	make_tissue(&capsule, false);
	const tac_dpose T = tac_dpose_make(tac_dvec3_make(3e-4, -2e-4, R - 4e-4),
					   tac_dquat_exp(tac_dvec3_make(0, 0.1, 0.3)));
	referee_tool r = {.a = tac_dpose_apply_point(T, capsule.a), .b = tac_dpose_apply_point(T, capsule.b)};
	referee(&r, 1);
	held_N(T);
	const tac_dvec3 f = state->wrench.force_N, g = r.wrench.force_N;
	TEST_ASSERT_TRUE(g.z > 0.02);
	TEST_ASSERT_DOUBLE_WITHIN(2e-3 * g.z, 0, tac_dvec3_length(tac_dvec3_sub(f, g)));
}

static void test_two_hands_agree_with_brute_force(void)
{
	make_body(0.002, 13, 0, 0);
	make_tissue(&ball, true);
	const tac_tissue_def def = {"patch", body, ball, true};
	TEST_ASSERT_EQUAL(TAC_OK, tac_tissue_create(&def, &other));
	referee_tool r[2] = {{.a = {-0.007, 0, R - 8e-4}, .b = {-0.007, 0, R - 8e-4}},
			     {.a = {0.006, 0, R - 5e-4}, .b = {0.006, 0, R - 5e-4}}};
	referee(&r[1], 1);
	const double alone = r[1].wrench.force_N.z;
	referee(r, 2);
	// The stiffest of couplings holds the tools where the referee has them.
	hand a = {.tool = at(-0.007, 0, R), .stiffness = 1e9, .partner = other};
	hand b = {.tool = at(0.006, 0, R), .stiffness = 1e9, .partner = tissue};
	tac_wrench wa = {{0, 0, 0}, {0, 0, 0}}, wb = wa;
	for (int i = 0; i < 60; i++) {
		wa = step(tissue, &a, at(-0.007, 0, R - 8e-4));
		wb = step(other, &b, at(0.006, 0, R - 5e-4));
	}
	TEST_ASSERT_TRUE(r[1].wrench.force_N.z < 0.95 * alone);
	TEST_ASSERT_DOUBLE_WITHIN(3e-3 * r[0].wrench.force_N.z, r[0].wrench.force_N.z, wa.force_N.z);
	TEST_ASSERT_DOUBLE_WITHIN(3e-3 * r[1].wrench.force_N.z, r[1].wrench.force_N.z, wb.force_N.z);
}

// ---- every tick ----

// A hand that wanders over the patch, presses, lifts and stays.
typedef struct wander {
	tac_rng rng;
	tac_dvec3 from, to;
	int tick, ticks;
} wander;

static tac_dvec3 wander_on(wander *w, double reach_m, double deep_m)
{
	if (w->tick++ >= w->ticks) {
		w->from = w->to;
		w->to = tac_dvec3_make(tac_rng_range_f64(&w->rng, -reach_m, reach_m),
				       tac_rng_range_f64(&w->rng, -reach_m, reach_m),
				       R + tac_rng_range_f64(&w->rng, -deep_m, 1e-3));
		w->tick = 1;
		w->ticks = 20 + (int)tac_rng_below(&w->rng, 200);
	}
	return tac_dvec3_lerp(w->from, w->to, (double)w->tick / w->ticks);
}

// The problem that was solved last: loads, gaps P x + b, of which one is zero, in long double; and the slope
// of the force over the device in a random direction, J^T P_AA^-1 J over the loaded rows A, by conjugate
// gradients.
static void check_problem(double stiffness, tac_rng *rng, bool slope_too)
{
	const tac_pivot *p = &tissue->pivot;
	for (int32_t i = 0; i < p->count; i++) {
		long double gap = p->b[i];
		for (int32_t j = 0; j < p->count; j++)
			gap += (long double)p->P[i][j] * p->load[j];
		TEST_ASSERT_TRUE(p->load[i] >= 0 && gap > -1e-12L);
		TEST_ASSERT_TRUE(fabsl(gap * p->load[i]) <= 1e-12L);
	}
	if (!slope_too || p->count == 0)
		return;
	const tac_dvec3 d = tac_rng_unit_f64(rng);
	static double J[TAC_PIVOT_ROWS], x[TAC_PIVOT_ROWS], r[TAC_PIVOT_ROWS], q[TAC_PIVOT_ROWS];
	int32_t set[TAC_PIVOT_ROWS], n = 0, at = 0;
	for (int32_t k = 0; k < tissue->sheet_count; k++) {
		for (int32_t i = 0; i < tissue->sheets[k]->count; i++, at++) {
			if (!(p->load[at] > 0))
				continue;
			J[n] = tac_dvec3_dot(d, tissue->sheets[k]->rows[i].line.normal);
			set[n++] = at;
		}
	}
	double rr = 0;
	for (int32_t i = 0; i < n; i++) {
		x[i] = 0;
		r[i] = q[i] = J[i];
		rr += r[i] * r[i];
	}
	for (int round = 0; round < 4 * n && rr > 1e-20; round++) {
		static double Pq[TAC_PIVOT_ROWS];
		double qPq = 0, next = 0;
		for (int32_t i = 0; i < n; i++) {
			Pq[i] = 0;
			for (int32_t j = 0; j < n; j++)
				Pq[i] += p->P[set[i]][set[j]] * q[j];
			qPq += q[i] * Pq[i];
		}
		for (int32_t i = 0; i < n; i++) {
			x[i] += rr / qPq * q[i];
			r[i] -= rr / qPq * Pq[i];
			next += r[i] * r[i];
		}
		for (int32_t i = 0; i < n; i++)
			q[i] = r[i] + next / rr * q[i];
		rr = next;
	}
	double slope = 0;
	for (int32_t i = 0; i < n; i++)
		slope += J[i] * x[i];
	TEST_ASSERT_TRUE(slope >= 0 && slope <= stiffness * (1 + 1e-6));
}

// On coarse points, and on fine ones, where two levels share the contact.
static void wander_and_check(double spacing_m, int side, int ticks)
{
	make_body(spacing_m, side, 0.4, 0.1);
	make_tissue(&ball, true);
	wander w = {.rng = tac_rng_seed(3, 1), .from = {0, 0, R + 1e-3}, .to = {0, 0, R + 1e-3}};
	hand h = {.tool = at(0, 0, R + 1e-3), .stiffness = 1000};
	int contact = 0, spent = 0, two = 0;
	allocations = 0;
	for (int i = 0; i < ticks; i++) {
		step(tissue, &h,
		     tac_dpose_make(wander_on(&w, 0.006 + 3 * spacing_m, 6e-3), tac_dquat_identity()));
		spent += (state->flags & (TAC_TISSUE_SPENT | TAC_TISSUE_LEFT_OUT)) != 0;
		contact += state->loaded > 0;
		two += tissue->sheet_count > 1;
		double force = 0;
		tac_tissue_row row;
		for (int32_t k = 0; tac_tissue_row_of(tissue, k, &row); k++) {
			TEST_ASSERT_TRUE(row.load_N >= 0);
			TEST_ASSERT_TRUE(row.gap_m >= -1e-6);
			force += row.load_N;
		}
		TEST_ASSERT_DOUBLE_WITHIN(1e-12 + 1e-9 * force, force, state->load_N);
		// The coupling is in balance with the tissue.
		const tac_dvec3 spring =
			tac_dvec3_scale(tac_dvec3_sub(h.tool.position, h.device.position), h.stiffness);
		TEST_ASSERT_TRUE((state->flags & TAC_TISSUE_LIMITED) ||
				 tac_dvec3_length(tac_dvec3_sub(spring, state->wrench.force_N)) < 1e-3);
		if (state->factorisations == 2) // the second solution is that of the tool's balance
			check_problem(h.stiffness, &w.rng, i % 16 == 0);
	}
	printf("  points %.1f mm apart: %d ticks, %d in contact, %d with two levels, %d changes\n",
	       1e3 * spacing_m, ticks, contact, two, (int)state->level_changes);
	TEST_ASSERT_EQUAL(0, allocations);
	TEST_ASSERT_EQUAL(0, spent);
	TEST_ASSERT_TRUE(contact > ticks / 4);
	TEST_ASSERT_TRUE(spacing_m > 1.5e-3 || two > 0);
}

static void test_every_tick_meets_the_optimality_conditions(void)
{
	const int ticks = test_long() ? 1500000 : TAC_TEST_SANITIZED ? 1500 : 8000;
	wander_and_check(0.002, 17, ticks);
	wander_and_check(0.001, 27, ticks / 2);
}

// Each row is where all forces move it, block by block. The numbers of blocks that the far basis gave.
static int check_displacements(void)
{
	tac_tissue_force forces[TAC_TISSUE_FORCES];
	const int32_t count = tac_tissue_forces(tissue, forces);
	int far = 0;
	for (int32_t i = 0; i < tissue->sheets[0]->count; i++) {
		const tac_contact_row *r = &tissue->sheets[0]->rows[i];
		const size_t a = body->place[r->point].cluster;
		tac_dvec3 sum = tac_dvec3_zero();
		for (int32_t j = 0; j < count; j++) {
			const size_t b = body->place[forces[j].point].cluster, high = a > b ? a : b;
			const tac_mat3 C = tac_compliance_block(body, r->point, forces[j].point);
			far += (body->pairs[high * (high + 1) / 2 + a + b - high] & TAC_COMPLIANCE_FAR) != 0;
			sum = tac_dvec3_add(sum, tac_dmat3_apply(tac_dmat3_from_mat3(C),
								 tac_dvec3_from_vec3(forces[j].force_N)));
		}
		TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0, tac_dvec3_length(tac_dvec3_sub(sum, r->moved_m)));
	}
	return far;
}

// Points come and go while what they carried creeps on, with all blocks and with a far basis.
static void test_rows_are_where_all_forces_move_them(void)
{
	for (int exact = 0; exact < 2; exact++) {
		make_patch((tissue_patch){E, NU, 0.002, 30, 0.4, 0.5, exact ? 0 : 1, NULL, NULL});
		make_tissue(&ball, true);
		wander w = {.rng = tac_rng_seed(12, 1), .from = {0, 0, R + 1e-3}, .to = {0, 0, R - 2e-3}};
		hand h = {.tool = at(0, 0, R + 1e-3), .stiffness = 1000};
		int far = 0, rows = 0;
		int32_t most = 0;
		for (int i = 0; i < (TAC_TEST_SANITIZED ? 600 : 4000); i++) {
			step(tissue, &h, tac_dpose_make(wander_on(&w, 0.025, 6e-3), tac_dquat_identity()));
			most = most > tissue->sheets[0]->elsewhere_count ? most
									 : tissue->sheets[0]->elsewhere_count;
			if (i % 16 > 0 || tissue->sheet_count > 1)
				continue;
			far += check_displacements();
			rows += tissue->sheets[0]->count;
		}
		printf("  %s: %d rows, %d far blocks, at most %d points creep elsewhere\n",
		       exact ? "all blocks" : "far basis", rows, far, (int)most);
		TEST_ASSERT_TRUE(rows > 500 && most == TAC_TISSUE_CREEPING);
		TEST_ASSERT_TRUE(exact ? far == 0 : far > 1000);
	}
}

// At rest the rows are those of fixed normals, and load times gap vanishes.
static void test_load_times_gap_vanishes_at_rest(void)
{
	make_body(0.002, 17, 0, 0);
	make_tissue(&ball, true);
	tac_rng rng = tac_rng_seed(4, 1);
	for (int round = 0; round < test_rounds(80); round++) {
		tac_tissue_reset(tissue);
		hand h = {.tool = at(0, 0, R + 1e-4), .stiffness = 1000};
		const double x = tac_rng_range_f64(&rng, -6e-3, 6e-3),
			     y = tac_rng_range_f64(&rng, -6e-3, 6e-3);
		const double z = R - tac_rng_range_f64(&rng, 0, 5e-3);
		h.tool = at(x, y, R + 1e-4);
		for (int i = 0; i < 140; i++) // the shares of two levels rest after 100
			step(tissue, &h, at(x, y, z));
		tac_tissue_row row;
		for (int32_t k = 0; tac_tissue_row_of(tissue, k, &row); k++)
			TEST_ASSERT_TRUE(fabs(row.load_N * row.gap_m) < 1e-12 && row.gap_m > -1e-9);
	}
}

// The slope of the force over the device's displacement, N/m.
typedef struct slopes {
	double least, most; // in every tick
	double pressing;    // the least where the way is not within 20 degrees of the surface
	double step;        // the largest change of the slope in a tick in which the level changes
	int changes;        // a second level takes part
	int coarser;        // the first one has gone
} slopes;

// Down, on along a line in any direction, and up again.
static void measure_slopes(tac_rng *rng, double k, slopes *out)
{
	const double step_m = 1e-5, along = 0.35; // 20 degrees
	const tac_dvec3 start = tac_dvec3_make(tac_rng_range_f64(rng, -3e-3, 3e-3),
					       tac_rng_range_f64(rng, -3e-3, 3e-3), R + 1e-4);
	const tac_dvec3 d = tac_rng_unit_f64(rng);
	const tac_dvec3 ways[3] = {{0, 0, -1}, {d.x, d.y, -fabs(d.z)}, {0, 0, 1}};
	hand h = {.tool = tac_dpose_make(start, tac_dquat_identity()), .stiffness = k};
	tac_dvec3 to = start, force = tac_dvec3_zero();
	tac_tissue_reset(tissue);
	double slope = 0;
	for (int i = 0; i < 500; i++) {
		const tac_dvec3 way = ways[i < 200 ? 0 : i < 300 ? 1 : 2];
		const uint64_t changes = state->level_changes;
		const int32_t level = state->level;
		to = tac_dvec3_add_scaled(to, step_m, way);
		const tac_dvec3 next = step(tissue, &h, tac_dpose_make(to, tac_dquat_identity())).force_N;
		const double last = slope;
		slope = -tac_dvec3_dot(tac_dvec3_sub(next, force), way) / step_m;
		force = next;
		out->least = fmin(out->least, slope);
		out->most = fmax(out->most, slope);
		if (fabs(way.z) > along)
			out->pressing = fmin(out->pressing, slope);
		out->changes += (int)(state->level_changes - changes);
		out->coarser += state->level > level;
		if (state->level_changes > changes && i != 0 && i != 200 && i != 300)
			out->step = fmax(out->step, fabs(slope - last));
	}
}

// The largest ripple of the tissue's energy over a cell of points, of a tool that is held at a depth up to
// most_m; half of the difference between its maximum and its minimum, J.
static double energy_ripple_J(double spacing_m, double most_m)
{
	double ripple = 0;
	for (int k = 1; k <= 6; k++) {
		double low = HUGE_VAL, high = 0;
		tac_tissue_reset(tissue);
		held_N(at(0, 0, R - most_m * k / 6));
		for (int i = 0; i < 64; i++) {
			const double x = spacing_m * (i % 8) / 8, y = spacing_m * (i / 8) / 8;
			for (int again = 0; again < 3; again++)
				tac_tissue_hold(tissue, at(x, y, R - most_m * k / 6), TICK_S);
			low = fmin(low, state->energy_J);
			high = fmax(high, state->energy_J);
		}
		ripple = fmax(ripple, 0.5 * (high - low));
	}
	return ripple;
}

// In the coupling's bounds where the tool presses. Along the surface the energy of a tool on points repeats
// with their spacing, so that it cannot be convex: there the slope falls below 0 by about the ripple of the
// force, a part of the tissue's own slope that vanishes with the spacing. A change of the level is not felt.
static void test_slope_of_the_force_lies_between_zero_and_the_coupling(void)
{
	const double k = 800, soft = 2 * E_STAR * sqrt(R * 3e-3); // Hertz, deeper than the device ever is
	const struct {
		double spacing_m;
		int side, rounds;
		bool changes;
	} of[] = {{2e-3, 15, 20, false}, {1.3e-3, 21, 20, false}, {1e-3, 25, 12, true}, {5e-4, 33, 12, true}};
	double least[4];
	for (int i = 0; i < 4; i++) {
		make_body(of[i].spacing_m, of[i].side, 0, 0);
		make_tissue(&ball, true);
		tac_rng rng = tac_rng_seed(5, 1);
		slopes s = {0};
		for (int round = 0; round < test_rounds(of[i].rounds); round++)
			measure_slopes(&rng, k, &s);
		least[i] = s.least;
		printf("  points %.1f mm apart: slope %.2f … %.2f N/m, pressing from %.2f; %d changes of the "
		       "level, %d times the finer one is gone, with steps of %.2f\n",
		       1e3 * of[i].spacing_m, s.least, s.most, s.pressing, s.changes, s.coarser, s.step);
		TEST_ASSERT_TRUE(s.pressing > -1e-3 * k && s.most < k * soft / (k + soft));
		TEST_ASSERT_TRUE(s.least > -0.06 * s.most);
		TEST_ASSERT_TRUE(of[i].changes || s.least > -5e-3 * k);
		TEST_ASSERT_TRUE(!of[i].changes || s.changes > 0);
		TEST_ASSERT_TRUE(s.step < 0.2 * s.most);
	}
	TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || least[1] > 0.9 * least[0]); // few rounds meet no minimum
}

// Along the surface the energy has the period of the points. So its slope is 0 on average over a period, and
// falls below 0 unless it vanishes everywhere: a wave of amplitude A along both axes bends by at most
// 2 A (2 pi / spacing)^2. The force comes back after a period, and nothing is gained on the way.
static void test_slope_along_the_surface_is_zero_on_average(void)
{
	enum { STEPS = 200, PERIODS = 3 };
	const double k = 800, spacing = 2e-3, depth = 2e-3, step_m = spacing / STEPS;
	make_body(spacing, 21, 0, 0);
	make_tissue(&ball, true);
	const double q = 2 * PI / spacing, bend = 2 * q * q * energy_ripple_J(spacing, depth);
	tac_tissue_reset(tissue);
	const double y = 0.3 * spacing;
	double x = -1.5 * spacing, least = 0, most = 0, force = 0, work = 0, first = 0;
	hand h = {.tool = at(x, y, R + 1e-4), .stiffness = k};
	for (int i = 0; i < 100; i++)
		first = force = step(tissue, &h, at(x, y, R - depth * fmin(i / 50.0, 1))).force_N.x;
	const double stored = state->energy_J;
	for (int i = 1; i <= STEPS * PERIODS; i++) {
		x += step_m;
		const double next = step(tissue, &h, at(x, y, R - depth)).force_N.x;
		const double slope = -(next - force) / step_m;
		least = fmin(least, slope);
		most = fmax(most, slope);
		work -= 0.5 * (next + force) * step_m;
		force = next;
	}
	const double mean = -(force - first) / (STEPS * PERIODS * step_m);
	printf("  along the surface: slope %.3f … %.3f N/m, at most %.2f by the energy's ripple, %.5f on "
	       "average; "
	       "work %.2e of the stored energy\n",
	       least, most, bend, mean, work / stored);
	TEST_ASSERT_TRUE(least < 0 && most > 0);
	TEST_ASSERT_TRUE(least > -k * bend / (k - bend) && most < k * bend / (k + bend));
	TEST_ASSERT_TRUE(fabs(mean) < 0.02 * (most - least));
	TEST_ASSERT_TRUE(fabs(work) < 1e-3 * stored);
}

static void close_path(double spacing_m, int side)
{
	make_body(spacing_m, side, 0, 0);
	make_tissue(&ball, true);
	hand h = {.tool = at(0, 0, R + 1e-3), .stiffness = 1000};
	const int ticks = 4000;
	double work = 0, most = 0;
	tac_dvec3 last = h.tool.position, force = tac_dvec3_zero();
	for (int i = 1; i <= ticks; i++) {
		const double s = (double)i / ticks, down = sin(PI * s) * sin(PI * s);
		const tac_dvec3 to = tac_dvec3_make(4e-3 * sin(2 * PI * s), 3e-3 * sin(4 * PI * s),
						    R + 1e-3 - 7e-3 * down);
		const tac_dvec3 next = step(tissue, &h, tac_dpose_make(to, tac_dquat_identity())).force_N;
		const tac_dvec3 mean = tac_dvec3_scale(tac_dvec3_add(force, next), 0.5);
		work -= tac_dvec3_dot(mean, tac_dvec3_sub(to, last));
		most = fmax(most, work);
		last = to;
		force = next;
	}
	printf("  closed path: %.4f mJ at most, %.4f uJ left, %d changes of the level\n", 1e3 * most,
	       1e6 * work, (int)state->level_changes);
	TEST_ASSERT_TRUE(most > 1e-3);
	TEST_ASSERT_TRUE(fabs(work) < 1e-3 * most);
}

static void test_closed_path_returns_its_work(void)
{
	close_path(0.002, 17);
	TEST_ASSERT_EQUAL(0, state->level_changes);
	close_path(0.001, 31);
	TEST_ASSERT_TRUE(state->level_changes >= 2);
}

static void test_creep_takes_work_and_never_gives_any(void)
{
	make_body(0.002, 15, 0.5, 0.2);
	make_tissue(&ball, true);
	wander w = {.rng = tac_rng_seed(6, 1), .from = {0, 0, R + 1e-3}, .to = {0, 0, R + 1e-3}};
	hand h = {.tool = at(0, 0, R + 1e-3), .stiffness = 1000};
	double work = 0;
	tac_dvec3 last = h.tool.position, force = tac_dvec3_zero();
	for (int i = 0; i < test_rounds(20000); i++) {
		const tac_dvec3 to = wander_on(&w, 5e-3, 4e-3);
		const tac_dvec3 next = step(tissue, &h, tac_dpose_make(to, tac_dquat_identity())).force_N;
		work -= 0.5 * tac_dvec3_dot(tac_dvec3_add(force, next), tac_dvec3_sub(to, last));
		last = to;
		force = next;
		TEST_ASSERT_TRUE(work > -1e-6);
	}
	TEST_ASSERT_TRUE(work > 1e-5);
}

// ---- creep ----

// A body in contact on a fixed set of points is linear: with the tool far stiffer than the tissue the force
// relaxes from J0 to Joo with the time constant tau J0 / Joo; at a constant force the depth creeps with tau.
static void test_force_relaxes_and_depth_creeps_exponentially(void)
{
	const double creep = 0.6, tau = 0.2;
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cylinder(0.004f, 0.006f, 64, 4, &mesh));
	const tac_field_def def = {.name = "punch", .mesh = mesh, .voxel_m = 2e-4};
	TEST_ASSERT_EQUAL(TAC_OK, tac_field_build(&def, &field));
	tac_mesh_destroy(&mesh);
	make_body(0.0015, 11, creep, tau);
	make_tissue(&(tac_tissue_tool){.field = field, .reach_m = hypot(0.004, 0.003)}, true);
	const tac_dpose T = at(0, 0, 0.003 - 1e-4);
	const double first = tac_tissue_hold(tissue, T, 0).force_N.z;
	double worst = 0;
	for (int i = 1; i <= 600; i++) {
		const double force = tac_tissue_hold(tissue, T, TICK_S).force_N.z, s = i * TICK_S;
		const double expected = first / (1 + creep) * (1 + creep * exp(-s * (1 + creep) / tau));
		worst = fmax(worst, fabs(force / expected - 1));
	}
	printf("  relaxation: worst %.1e\n", worst);
	TEST_ASSERT_TRUE(worst < 1e-3); // implicit Euler: period / tau
	TEST_ASSERT_TRUE(worst > 1e-6);

	// At half the period the error halves: it is that of the integration.
	tac_tissue_reset(tissue);
	tac_tissue_hold(tissue, T, 0);
	double finer = 0;
	for (int i = 1; i <= 1200; i++) {
		const double force = tac_tissue_hold(tissue, T, TICK_S / 2).force_N.z, s = i * TICK_S / 2;
		const double expected = first / (1 + creep) * (1 + creep * exp(-s * (1 + creep) / tau));
		finer = fmax(finer, fabs(force / expected - 1));
	}
	TEST_ASSERT_DOUBLE_WITHIN(0.1 * worst, 0.5 * worst, finer);

	// A constant force: a coupling without stiffness to speak of, from far away.
	tac_tissue_reset(tissue);
	const double k = 0.05, push = 0.012;
	hand h = {.tool = at(0, 0, 0.003), .stiffness = k};
	double depth0 = 0;
	worst = 0;
	for (int i = 0; i <= 600; i++) {
		step(tissue, &h, at(0, 0, 0.003 - push / k));
		const double depth = 0.003 - h.tool.position.z;
		const double grown = 1 + creep * (1 - exp(-(i + 1) * TICK_S / tau));
		if (i == 0)
			depth0 = depth / grown;
		const double expected = depth0 * grown;
		worst = fmax(worst, fabs(depth / expected - 1));
	}
	printf("  creep: worst %.1e\n", worst);
	TEST_ASSERT_TRUE(worst < 1e-3);
}

// ---- the tool's way ----

static void test_thrown_device_leaves_the_tool_on_the_near_side(void)
{
	make_body(0.002, 17, 0, 0);
	make_tissue(&ball, true);
	for (int start = 0; start < 10; start++) {
		tac_tissue_reset(tissue);
		const double above = R + 1e-3 * start + 1e-4;
		hand h = {.tool = at(0, 0, above), .stiffness = 1000};
		bool limited = false;
		for (int i = 1; i <= 20; i++) {
			const double z = above - 0.01 * i; // 10 m/s
			step(tissue, &h, at(1e-3, 0, z));
			limited |= state->flags & TAC_TISSUE_LIMITED;
			// The tissue under the tool's lowest point gives way, and stays under it.
			tac_tissue_row row;
			for (int32_t k = 0; tac_tissue_row_of(tissue, k, &row); k++)
				TEST_ASSERT_TRUE(row.gap_m >= -1e-6);
		}
		TEST_ASSERT_TRUE(limited);
		TEST_ASSERT_TRUE(state->flags & TAC_TISSUE_STOPPED);
		TEST_ASSERT_TRUE(state->loaded > 0);
		TEST_ASSERT_DOUBLE_WITHIN(0.02 * 1000 * 0.2, 1000 * (h.tool.position.z - h.device.position.z),
					  state->wrench.force_N.z);
		TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0, h.tool.position.z); // as deep as its radius
	}
}

static void test_tool_stands_on_a_rigid_row_below_the_tissue(void)
{
	make_body(0.002, 15, 0, 0);
	make_tissue(&ball, true);
	const double floor = -1e-3; // the tool's lowest point may reach it
	hand h = {.tool = at(0, 0, R + 1e-4), .stiffness = 1000};
	for (int i = 0; i < 400; i++) {
		const tac_tissue_rigid row = {
			.point_m = tac_dvec3_add(h.tool.position, tac_dvec3_make(0, 0, -R)),
			.normal = {0, 0, -1},
			.gap_m = h.tool.position.z - R - floor};
		const tac_tissue_input in = {.T_body_tool = h.tool,
					     .T_body_device = at(0, 0, R - 2e-5 * i),
					     .stiffness_N_per_m = 1000,
					     .elapsed_s = TICK_S,
					     .rigid = &row,
					     .rigid_count = 1};
		tac_dpose aim;
		tac_tissue_solve(tissue, &in, &aim);
		// The mover: it goes to the aim, but not below the floor.
		h.tool = aim;
		h.tool.position.z = fmax(h.tool.position.z, floor + R);
		tac_tissue_commit(tissue, h.tool);
		TEST_ASSERT_FALSE(state->flags & TAC_TISSUE_HELD);
	}
	// Tissue and floor share the coupling's force: the tissue's part is that of a tool held there.
	const double shared = state->wrench.force_N.z;
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, floor + R, h.tool.position.z);
	tac_tissue_reset(tissue);
	const double alone = held_N(at(0, 0, floor + R));
	TEST_ASSERT_DOUBLE_WITHIN(1e-4 * alone, alone, shared);
	TEST_ASSERT_TRUE(shared < 0.5 * 1000 * 6e-3);
}

static void test_something_that_holds_the_tool_gives_the_loads_of_that_pose(void)
{
	make_body(0.002, 15, 0, 0);
	make_tissue(&ball, true);
	hand h = {.tool = at(0, 0, R - 2e-4), .stiffness = 1000};
	const tac_tissue_input in = {.T_body_tool = h.tool,
				     .T_body_device = at(0, 0, R - 3e-3),
				     .stiffness_N_per_m = 1000,
				     .elapsed_s = TICK_S};
	tac_dpose aim;
	tac_wrench w = {{0, 0, 0}, {0, 0, 0}};
	for (int i = 0; i < 5; i++) {
		tac_tissue_solve(tissue, &in, &aim);
		TEST_ASSERT_TRUE(aim.position.z < h.tool.position.z - 1e-4);
		w = tac_tissue_commit(tissue, h.tool);
		TEST_ASSERT_TRUE(state->flags & TAC_TISSUE_HELD);
	}
	tac_tissue_reset(tissue);
	const double alone = held_N(h.tool);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6 * alone, alone, w.force_N.z);
}

// Six axes: a capsule pressed at one end turns until coupling and tissue are in balance.
static void test_capsule_turns_until_torque_and_coupling_balance(void)
{
	make_body(0.002, 17, 0, 0);
	const tac_tissue_tool capsule = {.a = {-0.006, 0, 0}, .b = {0.006, 0, 0}, .radius_m = 0.006};
	make_tissue(&capsule, false);
	hand h = {.tool = at(0.006, 0, 0.0061), .stiffness = 800, .turn_stiffness = 0.3};
	tac_wrench w = {{0, 0, 0}, {0, 0, 0}};
	const tac_dquat tilt = tac_dquat_exp(tac_dvec3_make(0, -0.25, 0));
	for (int i = 0; i < 400; i++)
		w = step(tissue, &h,
			 tac_dpose_make(tac_dvec3_make(0.006, 0, 0.0075 - fmin(1e-5 * i, 2.5e-3)), tilt));
	const tac_dvec3 turn =
		tac_dquat_log(tac_dquat_mul(h.tool.rotation, tac_dquat_conjugate(h.device.rotation)));
	const tac_dvec3 move = tac_dvec3_sub(h.tool.position, h.device.position);
	TEST_ASSERT_TRUE(w.force_N.z > 0.02 && fabs(w.torque_Nm.y) > 1e-4);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0,
				  tac_dvec3_length(tac_dvec3_sub(w.force_N, tac_dvec3_scale(move, 800))));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0,
				  tac_dvec3_length(tac_dvec3_sub(w.torque_Nm, tac_dvec3_scale(turn, 0.3))));
}

static void test_replay_gives_the_same_bits(void)
{
	make_body(0.002, 15, 0.4, 0.1);
	tac_tissue_force forces[2][TAC_TISSUE_FORCES];
	tac_wrench end[2];
	int32_t count[2];
	memset(forces, 0, sizeof forces);
	for (int run = 0; run < 2; run++) {
		make_tissue(&ball, true);
		wander w = {.rng = tac_rng_seed(9, 1), .from = {0, 0, R + 1e-3}, .to = {0, 0, R - 2e-3}};
		hand h = {.tool = at(0, 0, R + 1e-3), .stiffness = 1000};
		for (int i = 0; i < 1500; i++)
			end[run] = step(tissue, &h,
					tac_dpose_make(wander_on(&w, 8e-3, 5e-3), tac_dquat_identity()));
		count[run] = tac_tissue_forces(tissue, forces[run]);
	}
	TEST_ASSERT_EQUAL(count[0], count[1]);
	TEST_ASSERT_TRUE(count[0] > 10);
	TEST_ASSERT_EQUAL_MEMORY(forces[0], forces[1], sizeof forces[0]);
	TEST_ASSERT_EQUAL_MEMORY(&end[0], &end[1], sizeof end[0]);
}

// Takes what the heap has left over, so that what is allocated next is fresh memory: memory that was freed
// before is cleared by calloc, and so touched. Returns a list of it.
typedef struct left_over {
	struct left_over *next;
} left_over;

static left_over *take_left_over(void)
{
	left_over *list = NULL;
	for (size_t bytes = 1 << 21; bytes >= 1 << 16; bytes /= 2) {
		left_over *one;
		do {
			one = malloc(bytes);
			TEST_ASSERT_NOT_NULL(one);
			one->next = list;
			list = one;
		} while ((char *)one < (char *)sbrk(0));
	}
	return list;
}

static void give_back(left_over *list)
{
	while (list) {
		left_over *next = list->next;
		free(list);
		list = next;
	}
}

// The memory of a contact is there before the first one, whether it can be locked or not. The other tissue
// brings the stack and the code; a fault from elsewhere may come between, so the best of some attempts
// counts.
static void test_first_contact_causes_no_page_faults(void)
{
	if (TAC_TEST_SANITIZED)
		TEST_IGNORE_MESSAGE("a sanitizer has page faults of its own");
	make_body(0.001, 40, 0.4, 0.1);
	const tac_tissue_def def = {"patch", body, ball, true};
	long least = LONG_MAX;
	for (int attempt = 0; attempt < 5 && least > 0; attempt++) {
		tac_tissue_destroy(&tissue);
		tac_tissue_destroy(&other);
		TEST_ASSERT_EQUAL(TAC_OK, tac_tissue_create(&def, &other));
		left_over *list = take_left_over();
		make_tissue(&ball, true);
		give_back(list);
		struct rusage before, after;
		for (int k = 0; k < 2; k++) { // on both levels
			hand h = {.tool = at(0, 0, R + 1e-3), .stiffness = 1000};
			getrusage(RUSAGE_THREAD, &before);
			for (int i = 0; i < 300; i++)
				step(k ? tissue : other, &h, at(0, 0, R + 1e-3 - 2e-5 * i));
			getrusage(RUSAGE_THREAD, &after);
		}
		TEST_ASSERT_TRUE(state->rows > 20 && state->level_changes > 0);
		const long faults = after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt;
		least = faults < least ? faults : least;
	}
	TEST_ASSERT_EQUAL(0, least);
}

static void test_tool_without_extent_is_refused_in_one_line(void)
{
	make_body(0.002, 5, 0, 0);
	const tac_tissue_def def = {"organ", body, {.radius_m = 0}, true};
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_tissue_create(&def, &tissue));
	TEST_ASSERT_NULL(tissue);
	TEST_ASSERT_EQUAL(1, logged_lines);
	TEST_ASSERT_NOT_NULL(strstr(logged, "organ: expected a tool with a radius above 0"));
}

int main(void)
{
	mallopt(M_MMAP_THRESHOLD, 1 << 16); // for take_left_over
	UNITY_BEGIN();
	RUN_TEST(test_ball_presses_as_hertz_says);
	RUN_TEST(test_ball_presses_as_hertz_says_at_every_size);
	RUN_TEST(test_wide_dent_keeps_its_force_on_coarser_levels);
	RUN_TEST(test_flat_punch_by_its_field_presses_as_the_closed_form_says);
	RUN_TEST(test_field_of_a_sphere_presses_as_the_ball);
	RUN_TEST(test_force_along_the_surface_has_little_ripple);
	RUN_TEST(test_drag_of_a_patch_is_that_of_the_closed_form);
	RUN_TEST(test_tilted_capsule_agrees_with_brute_force);
	RUN_TEST(test_two_hands_agree_with_brute_force);
	RUN_TEST(test_every_tick_meets_the_optimality_conditions);
	RUN_TEST(test_rows_are_where_all_forces_move_them);
	RUN_TEST(test_load_times_gap_vanishes_at_rest);
	RUN_TEST(test_slope_of_the_force_lies_between_zero_and_the_coupling);
	RUN_TEST(test_slope_along_the_surface_is_zero_on_average);
	RUN_TEST(test_closed_path_returns_its_work);
	RUN_TEST(test_creep_takes_work_and_never_gives_any);
	RUN_TEST(test_force_relaxes_and_depth_creeps_exponentially);
	RUN_TEST(test_thrown_device_leaves_the_tool_on_the_near_side);
	RUN_TEST(test_tool_stands_on_a_rigid_row_below_the_tissue);
	RUN_TEST(test_something_that_holds_the_tool_gives_the_loads_of_that_pose);
	RUN_TEST(test_capsule_turns_until_torque_and_coupling_balance);
	RUN_TEST(test_replay_gives_the_same_bits);
	RUN_TEST(test_first_contact_causes_no_page_faults);
	RUN_TEST(test_tool_without_extent_is_refused_in_one_line);
	return UNITY_END();
}
