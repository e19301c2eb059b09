#include "collision/sweep.h"

#include "base/rng.h"
#include "collision/certificate.h"
#include "collision/contacts.h"
#include "collision/continuous/bsp.h"
#include "collision/continuous/pairs.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "tests/support/allocations.h"
#include "tests/support/limits.h"
#include "tests/support/sweep_referee.h"
#include "tests/support/sweep_shapes.h"

#include <stdio.h>
#include <string.h>
#include <unity.h>

#define ZONE TAC_SWEEP_ZONE

static mesh_body made[16]; // freed at the end of each test
static int made_count;
static tac_sweep_context *context;

void setUp(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_sweep_context_create(&context));
}

static void free_bodies(void)
{
	for (int i = 0; i < made_count; i++)
		mesh_body_free(&made[i]);
	made_count = 0;
}

void tearDown(void)
{
	free_bodies();
	tac_sweep_context_destroy(&context);
}

static mesh_body make(tac_mesh *mesh, bool solid)
{
	return made[made_count++] = mesh_body_make(mesh, solid);
}

static mesh_body make_box(float x, float y, float z, int segments)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(x, y, z), segments, &mesh));
	return make(mesh, false);
}

static mesh_body make_triangle(tac_vec3 a, tac_vec3 b, tac_vec3 c)
{
	tac_vec3 v[3] = {a, b, c};
	tac_mesh_triangle t = {{0, 1, 2}};
	return make(mesh_of(v, 3, &t, 1), false);
}

static tac_drigid at(double x, double y, double z)
{
	return tac_drigid_from_pose(tac_dpose_make(tac_dvec3_make(x, y, z), tac_dquat_identity()));
}

static tac_dvec3 vec(double x, double y, double z)
{
	return tac_dvec3_make(x, y, z);
}

static void cube_thrown_ten_metres_at_a_thin_plate_stops_at_the_zone(void)
{
	mesh_body plate = make_box(1, 1, 0.001f, 1), cube = make_box(0.04f, 0.04f, 0.04f, 1);
	tac_sweep_options options = tac_sweep_options_default();
	for (int side = -1; side <= 1; side += 2) {
		tac_drigid T = at(0.1, 0.05, side * 3.0);
		tac_dvec3 v = vec(0, 0, side * -10.0);
		tac_sweep_result r = tac_sweep_translate(cube.body, plate.body, &T, v, &options, NULL);
		double surface = (double)0.001f / 2, half = (double)0.04f / 2;
		double gap = 3 - r.fraction * 10 - half - surface;
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, ZONE, gap);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, side, r.normal.z);
		TEST_ASSERT_TRUE(r.flags & TAC_SWEEP_STOPPED);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, ZONE, r.distance);
	}
}

static void rod_turned_by_179_degrees_stops_at_a_thin_plate(void)
{
	mesh_body plate = make_box(0.001f, 4, 4, 1), rod = make_box(1, 0.02f, 0.02f, 1);
	tac_sweep_options options = tac_sweep_options_default();
	// The plate lies in the plane x = 0; the axis is in front of it, and the far end of the rod meets it.
	tac_drigid T = at(0.6, 0, 0);
	double angle = 179 * 3.14159265358979323846 / 180;
	tac_dvec3 centre = vec(0.05, 0, 0);
	tac_sweep_result r =
		tac_sweep_rotate(rod.body, plate.body, &T, centre, vec(0, 0, 1), angle, &options, NULL);
	TEST_ASSERT_TRUE(r.fraction > 0 && r.fraction < 1);
	ref_pose P = ref_pose_at(&T, vec(0, 0, 0), centre, vec(0, 0, 1), angle, r.fraction);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, ZONE, ref_distance(rod.mesh, plate.mesh, &P, 1));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1, r.normal.x);
}

static void aligned_boxes_and_triangles_in_one_plane_stop_each_other(void)
{
	tac_sweep_options options = tac_sweep_options_default();
	mesh_body a = make_box(1, 1, 1, 1), b = make_box(1, 1, 1, 2);
	tac_drigid T = at(-3, 0, 0);
	tac_sweep_result r = tac_sweep_translate(a.body, b.body, &T, vec(4, 0, 0), &options, NULL);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, (2 - ZONE) / 4, r.fraction);
	// Corner to corner, edge to edge.
	T = at(-3, -1, -1);
	r = tac_sweep_translate(a.body, b.body, &T, vec(4, 0, 0), &options, NULL);
	TEST_ASSERT_TRUE(r.fraction <= 0.5);
	mesh_body p = make_triangle(tac_vec3_make(0, 0, 0), tac_vec3_make(1, 0, 0), tac_vec3_make(0, 1, 0));
	mesh_body q = make_triangle(tac_vec3_make(0, 0, 0), tac_vec3_make(-1, 0.5f, 0),
				    tac_vec3_make(-1, -0.5f, 0));
	T = at(-2, 0.25, 0);
	r = tac_sweep_translate(q.body, p.body, &T, vec(4, 0, 0), &options, NULL);
	ref_pose P = ref_pose_at(&T, vec(4, 0, 0), vec(0, 0, 0), vec(0, 0, 1), 0, r.fraction);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.5, r.fraction);
	TEST_ASSERT_TRUE(ref_distance(q.mesh, p.mesh, &P, 1) >= ZONE * (1 - 1e-6));
	T = at(0, -1, 0);
	r = tac_sweep_rotate(q.body, p.body, &T, vec(0, -1, 0), vec(0, 0, 1), -3, &options, NULL);
	P = ref_pose_at(&T, vec(0, 0, 0), vec(0, -1, 0), vec(0, 0, 1), -3, r.fraction);
	TEST_ASSERT_TRUE(r.fraction > 0.1 && r.fraction < 1);
	TEST_ASSERT_TRUE(ref_distance(q.mesh, p.mesh, &P, 1) >= ZONE * (1 - 1e-6));
}

static void open_triangle_stops_from_both_sides(void)
{
	mesh_body sheet =
		make_triangle(tac_vec3_make(-1, -1, 0), tac_vec3_make(1, -1, 0), tac_vec3_make(0, 1, 0));
	mesh_body point =
		make_triangle(tac_vec3_make(0, 0, 0), tac_vec3_make(1e-4f, 0, 0), tac_vec3_make(0, 1e-4f, 0));
	tac_sweep_options options = tac_sweep_options_default();
	for (int side = -1; side <= 1; side += 2) {
		tac_drigid T = at(0, 0, side);
		tac_sweep_result r =
			tac_sweep_translate(point.body, sheet.body, &T, vec(0, 0, -2 * side), &options, NULL);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, (1 - ZONE) / 2, r.fraction);
	}
}

// Beyond a sharp corner the lines of its edges stay close together, but the triangle ends.
static void sharp_tip_stops_nothing_beyond_itself(void)
{
	mesh_body needle =
		make_triangle(tac_vec3_make(0, 0, 0), tac_vec3_make(1, 0, 0), tac_vec3_make(1, 1e-4f, 0));
	mesh_body thorn = make_triangle(tac_vec3_make(0, 0, 0), tac_vec3_make(1e-3f, 0, -1e-3f),
					tac_vec3_make(0, 1e-3f, -1e-3f));
	tac_sweep_options options = tac_sweep_options_default();
	tac_dvec3 v = vec(-1, 0.02, -1);
	// At 0.3 of the motion the thorn's vertex lies in the plane of the needle, at `past` from its tip.
	for (double past = -0.03; past < 0.03; past += 0.004) {
		tac_drigid T = at(-past - 0.3 * v.x, -past * 0.5e-4 - 0.3 * v.y, -0.3 * v.z);
		tac_sweep_result r = tac_sweep_translate(needle.body, thorn.body, &T, v, &options, NULL);
		if (past < 0) {
			TEST_ASSERT_TRUE(r.fraction == 1);
		} else {
			TEST_ASSERT_DOUBLE_WITHIN(2e-5, 0.3, r.fraction);
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, ZONE, r.distance);
		}
	}
}

static void invalid_motion_is_refused_and_no_motion_is_free(void)
{
	mesh_body a = make_box(1, 1, 1, 1), b = make_box(1, 1, 1, 1);
	tac_sweep_options options = tac_sweep_options_default();
	tac_drigid T = at(-3, 0, 0), bad = T;
	bad.t.y = (double)NAN;
	tac_dvec3 o = vec(0, 0, 0), z = vec(0, 0, 1);
	tac_sweep_result r[] = {
		tac_sweep_translate(a.body, b.body, &T, vec((double)NAN, 0, 0), &options, NULL),
		tac_sweep_translate(a.body, b.body, &T, vec(HUGE_VAL, 0, 0), &options, NULL),
		tac_sweep_translate(a.body, b.body, &bad, vec(1, 0, 0), &options, NULL),
		tac_sweep_translate(a.body, b.body, &T, vec(1e12, 0, 0), &options, NULL),
		tac_sweep_rotate(a.body, b.body, &T, o, o, 1, &options, NULL),
		tac_sweep_rotate(a.body, b.body, &T, o, z, (double)NAN, &options, NULL),
		tac_sweep_rotate(a.body, b.body, &T, o, z, 100, &options, NULL),
		tac_sweep_rotate(a.body, b.body, &T, o, vec((double)NAN, 0, 1), 1, &options, NULL),
		tac_sweep_rotate(a.body, b.body, &T, vec((double)NAN, 0, 0), z, 1, &options, NULL),
	};
	for (size_t i = 0; i < sizeof r / sizeof r[0]; i++) {
		TEST_ASSERT_TRUE(r[i].fraction == 0);
		TEST_ASSERT_TRUE(r[i].flags & TAC_SWEEP_REFUSED);
	}
	tac_sweep_result free_ones[] = {
		tac_sweep_translate(a.body, b.body, &T, o, &options, NULL),
		tac_sweep_rotate(a.body, b.body, &T, o, z, 0, &options, NULL),
		tac_sweep_rotate(a.body, b.body, &T, o, o, 0, &options, NULL),
		// A full rotation around the other box.
		tac_sweep_rotate(a.body, b.body, &T, o, z, 6.3, &options, NULL),
	};
	for (size_t i = 0; i < sizeof free_ones / sizeof free_ones[0]; i++) {
		TEST_ASSERT_TRUE(free_ones[i].fraction == 1);
		TEST_ASSERT_EQUAL_UINT32(0, free_ones[i].flags);
		TEST_ASSERT_EQUAL(TAC_FEATURES_NONE, free_ones[i].kind);
	}
	T = at(0.5, 0.5, 0.5);
	tac_sweep_result hit = tac_sweep_translate(a.body, b.body, &T, vec(1, 0, 0), &options, NULL);
	TEST_ASSERT_TRUE(hit.fraction == 0 && (hit.flags & TAC_SWEEP_START_HIT));
}

static void rotation_by_more_than_half_a_turn_stops_at_the_same_angle(void)
{
	mesh_body wall = make_box(0.1f, 1, 1, 1), rod = make_box(1, 0.02f, 0.02f, 1);
	tac_sweep_options options = tac_sweep_options_default();
	tac_drigid T = at(0.6, 0, 0);
	// The rod rotates about z at its near end; 6 rad and -6 rad meet the wall at mirrored angles.
	tac_dvec3 c = vec(0.2, 0, 0), z = vec(0, 0, 1);
	tac_sweep_result r = tac_sweep_rotate(rod.body, wall.body, &T, c, z, 6, &options, NULL);
	tac_sweep_result m = tac_sweep_rotate(rod.body, wall.body, &T, c, z, -6, &options, NULL);
	TEST_ASSERT_TRUE(r.fraction > 0 && r.fraction < 1);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, r.fraction, m.fraction);
	tac_sweep_result s = tac_sweep_rotate(rod.body, wall.body, &T, c, z, 3, &options, NULL);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, r.fraction * 6, s.fraction * 3);
}

// A random pose of the moving body, at least 20 µm from the fixed one.
static tac_drigid random_pose(tac_rng *rng, const mesh_body *moving, const mesh_body *fixed, double spread)
{
	for (;;) {
		tac_dvec3 p = tac_dvec3_scale(tac_rng_unit_f64(rng), spread * tac_rng_range_f64(rng, 0.3, 1));
		tac_drigid T = tac_drigid_from_pose(tac_dpose_make(p, tac_rng_rotation_f64(rng)));
		if (tac_body_distance(moving->body, fixed->body, &T, 1e-3, NULL, NULL, NULL) > 2e-5)
			return T;
	}
}

typedef struct tally {
	int stopped, free;
} tally;

typedef struct motion {
	tac_drigid T;
	tac_dvec3 v, centre, axis;
	double angle; // 0: the translation v
} motion;

static double distance_at(const mesh_body *moving, const mesh_body *fixed, const motion *m, double s,
			  double reach)
{
	ref_pose P = ref_pose_at(&m->T, m->v, m->centre, m->axis, m->angle, s);
	return ref_distance(moving->mesh, fixed->mesh, &P, reach);
}

static tac_sweep_result sweep(const mesh_body *moving, const mesh_body *fixed, const motion *m,
			      const tac_sweep_options *options)
{
	return m->angle != 0 ? tac_sweep_rotate(moving->body, fixed->body, &m->T, m->centre, m->axis,
						m->angle, options, NULL)
			     : tac_sweep_translate(moving->body, fixed->body, &m->T, m->v, options, NULL);
}

// Checks with the referee that the pose of the fraction is clear, that nothing touches before it, in steps of
// at most the distance or a 500th of the motion, and that the zone or a contact is just behind it.
static void judge_motion(const mesh_body *moving, const mesh_body *fixed, const motion *m, double zone,
			 tally *sum)
{
	tac_sweep_options options = tac_sweep_options_default();
	options.zone = zone;
	tac_sweep_result r = sweep(moving, fixed, m, &options);
	double size = tac_body_radius(moving->body) + tac_body_radius(fixed->body) + tac_dvec3_length(m->T.t);
	double start = distance_at(moving, fixed, m, 0, 1e3), rounding = 1e-13 * size;
	TEST_ASSERT_FALSE(r.flags & TAC_SWEEP_REFUSED);
	TEST_ASSERT_TRUE((r.flags & TAC_SWEEP_START_HIT) ? start <= rounding && r.fraction == 0
							 : start > -rounding);
	if (start <= rounding)
		return; // whether it touches is a matter of rounding
	double clear = fmin(zone, start), length = tac_dvec3_length(m->v);
	if (m->angle != 0)
		length = fabs(m->angle) *
			 (tac_dvec3_length(tac_dvec3_sub(m->T.t, m->centre)) + tac_body_radius(moving->body));
	double d = distance_at(moving, fixed, m, r.fraction, 3 * clear);
	TEST_ASSERT_TRUE_MESSAGE(d >= clear * (1 - 1e-6) - rounding, "stopped too late");
	for (double s = 0; s < r.fraction;) {
		d = distance_at(moving, fixed, m, s, size);
		TEST_ASSERT_TRUE_MESSAGE(d > 0, "passed through");
		s += fmax(0.99 * d / length, fmax(0.002 * r.fraction, 0.25 * clear / length));
	}
	if (r.fraction == 1) {
		sum->free++;
		TEST_ASSERT_EQUAL(TAC_FEATURES_NONE, r.kind);
		return;
	}
	sum->stopped++;
	d = distance_at(moving, fixed, m, fmin(1, r.fraction + 1e-3 * clear / length), 3 * clear);
	TEST_ASSERT_TRUE_MESSAGE(d <= clear * (1 + 1e-3) + rounding, "stopped too early");
	// The reported pair is the closest one.
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * clear + rounding, clear, r.distance);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1, tac_dvec3_length(r.normal));
}

static tally judge_motions(const mesh_body *moving, const mesh_body *fixed, double spread, int count,
			   uint64_t seed)
{
	tac_rng rng = tac_rng_seed(seed, 9);
	tally sum = {0, 0};
	for (int i = 0; i < count; i++) {
		motion m = {.T = random_pose(&rng, moving, fixed, spread), .axis = vec(0, 0, 1)};
		if (i % 2) {
			// Towards the other body, and as often past it.
			tac_dvec3 target = tac_dvec3_scale(tac_rng_unit_f64(&rng), spread * 0.5);
			m.v = tac_dvec3_scale(tac_dvec3_sub(target, m.T.t), tac_rng_range_f64(&rng, 0.1, 3));
		} else {
			m.axis = tac_rng_unit_f64(&rng);
			m.centre = i % 4 ? m.T.t : tac_dvec3_scale(tac_rng_unit_f64(&rng), spread);
			m.angle = tac_rng_range_f64(&rng, -3.1, 3.1);
		}
		judge_motion(moving, fixed, &m, ZONE, &sum);
	}
	return sum;
}

static void random_motions_of_shapes_stop_at_the_zone_and_nowhere_else(void)
{
	tac_mesh *mesh;
	mesh_body box = make_box(0.3f, 0.2f, 0.1f, 2);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 12, 8, &mesh));
	mesh_body torus = make(mesh, true);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.15f, 1, &mesh));
	mesh_body ball = make(mesh, true);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(1, 1, 4, 4, &mesh));
	mesh_body sheet = make(mesh, false);
	mesh_body point =
		make_triangle(tac_vec3_make(0, 0, 0), tac_vec3_make(0.3f, 0, 0), tac_vec3_make(0, 0.2f, 0));
	mesh_body pairs[][2] = {{box, torus}, {ball, torus},  {torus, torus},
				{box, sheet}, {point, sheet}, {point, box}};
	tally sum = {0, 0};
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		tally one = judge_motions(&pairs[i][0], &pairs[i][1], 0.7, test_rounds(120), i);
		sum.stopped += one.stopped;
		sum.free += one.free;
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(150), sum.stopped);
	TEST_ASSERT_GREATER_THAN(test_rounds(150), sum.free);
}

static double eighths(double x, double unit)
{
	return round(8 * x / unit) / 8 * unit;
}

static tac_dvec3 along_an_axis(tac_rng *rng, double length)
{
	tac_dvec3 d = vec(0, 0, 0);
	(&d.x)[tac_rng_below(rng, 3)] = tac_rng_below(rng, 2) ? length : -length;
	return d;
}

// Coplanar faces, vertices above edges, axes through vertices, rotations by pi and by 4 pi, a mesh against
// itself; from 0.1 mm to 100 m, with thin and thick zones.
static void motions_on_a_grid_stop_at_the_zone_and_nowhere_else(void)
{
	static const double angles[] = {1e-9,
					1e-3,
					0.5,
					1.5707963267948966,
					3.141592653589793,
					3.1415926536,
					6.283185307179586,
					12.566370614359172,
					12.6};
	tac_rng rng = tac_rng_seed(18, 1);
	tally sum = {0, 0};
	for (int round = 0; round < 4; round++) {
		float unit = powf(10, (float)(2 * round - 4));
		tac_mesh *meshes[7];
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_splat(1), 1, &meshes[0]));
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_splat(1), 2, &meshes[1]));
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 0.5f, 0.25f), 2, &meshes[2]));
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(1, 1, 4, 4, &meshes[3]));
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cylinder(0.5f, 1, 8, 1, &meshes[4]));
		meshes[5] = book(8);
		meshes[6] = loose_soup(&rng, 12, true);
		mesh_body bodies[7];
		for (int i = 0; i < 7; i++) {
			if (i == 1)
				meshes[i] = doubled(meshes[i]);
			bodies[i] = make(transformed(meshes[i], unit, 0), false);
		}
		for (int i = 0; i < test_rounds(250); i++) {
			const mesh_body *moving = &bodies[tac_rng_below(&rng, 7)],
					*fixed = &bodies[tac_rng_below(&rng, 7)];
			double u = (double)unit;
			motion m = {.T.R = tac_dmat3_identity(), .axis = vec(0, 0, 1)};
			tac_dvec3 t =
				tac_dvec3_scale(tac_rng_unit_f64(&rng), u * tac_rng_range_f64(&rng, 0.5, 2));
			m.T.t = vec(eighths(t.x, u), eighths(t.y, u), eighths(t.z, u));
			if (i % 2) {
				m.v = i % 4 == 1 ? tac_dvec3_scale(m.T.t, -2)
						 : along_an_axis(&rng,
								 0.125 * u * (1 + tac_rng_below(&rng, 16)));
			} else {
				tac_vec3 corner = fixed->mesh->vertices[tac_rng_below(
					&rng, (uint32_t)fixed->mesh->vertex_count)];
				m.centre = i % 4 ? m.T.t : tac_dvec3_from_vec3(corner);
				m.axis = along_an_axis(&rng, tac_rng_range_f64(&rng, 1e-3, 1e3));
				m.angle = angles[tac_rng_below(&rng, sizeof angles / sizeof angles[0])];
			}
			static const double zones[] = {1e-3, 1e-5, 1e-8};
			judge_motion(moving, fixed, &m, u * zones[i % 3], &sum);
		}
		free_bodies();
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(150), sum.stopped);
	TEST_ASSERT_GREATER_THAN(test_rounds(150), sum.free);
}

static bool results_equal(const tac_sweep_result *a, const tac_sweep_result *b)
{
	return a->fraction == b->fraction && a->kind == b->kind && a->moving_feature == b->moving_feature &&
	       a->fixed_feature == b->fixed_feature && a->flags == b->flags &&
	       memcmp(&a->point, &b->point, sizeof a->point) == 0;
}

// Each optimisation disabled and enabled, with and without a context.
static void optimisations_change_nothing(void)
{
	tac_mesh *torus, *box;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 16, 12, &torus));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.3f, 0.2f, 0.1f), 3, &box));
	mesh_body plain[2] = {make(torus, true), make(box, true)}, kept[4];
	tac_mesh *meshes[2] = {torus, box};
	for (int i = 0; i < 4; i++) {
		bool all = i < 2; // all features at all triangles; the other two have a BSP
		tac_body_def def = {.mesh = meshes[i % 2],
				    .solid = true,
				    .repeat_features = all,
				    .keep_internal = all,
				    .bsp = !all};
		kept[i].mesh = NULL;
		TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &kept[i].body));
		made[made_count++] = kept[i];
	}
	tac_sweep_options on = tac_sweep_options_default(), off = on, bsp = on;
	off.cull = false;
	bsp.bsp = true;
	tac_rng rng = tac_rng_seed(10, 1);
	int stopped = 0;
	for (int i = 0; i < 400; i++) {
		tac_drigid T = random_pose(&rng, &plain[1], &plain[0], 0.7);
		tac_dvec3 v = tac_dvec3_scale(T.t, -tac_rng_range_f64(&rng, 0.2, 2)),
			  axis = tac_rng_unit_f64(&rng);
		double angle = tac_rng_range_f64(&rng, -2, 2);
		tac_sweep_result r[5];
		for (int k = 0; k < 5; k++) {
			const tac_body *m = k == 1 ? kept[1].body : plain[1].body;
			const tac_body *f = k == 1 ? kept[0].body : k == 4 ? kept[2].body : plain[0].body;
			const tac_sweep_options *o = k == 2 ? &off : k == 4 ? &bsp : &on;
			tac_sweep_context *c = k == 3 ? context : NULL;
			r[k] = i % 2 ? tac_sweep_translate(m, f, &T, v, o, c)
				     : tac_sweep_rotate(m, f, &T, vec(0, 0, 0), axis, angle, o, c);
		}
		stopped += r[0].fraction < 1;
		for (int k = 1; k < 5; k++) {
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, r[0].fraction, r[k].fraction);
			if (r[0].fraction == r[k].fraction)
				TEST_ASSERT_TRUE(results_equal(&r[0], &r[k]));
		}
	}
	TEST_ASSERT_GREATER_THAN(100, stopped);
}

// Both L faces consist of two rectangles, so flat edges lie inside them.
static void edges_of_an_l_prism_are_classified(void)
{
	// The L: (0,0) (2,0) (2,1) (1,1) (1,2) (0,2), and the vertex (1,0) at the edge between the
	// rectangles.
	static const float xy[7][2] = {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
	tac_vec3 v[14];
	for (int i = 0; i < 14; i++)
		v[i] = tac_vec3_make(xy[i % 7][0], xy[i % 7][1], i < 7 ? 0 : 1);
	tac_mesh_triangle t[24];
	int n = 0;
	// The rectangle 1,2,3,4, and the rectangle 0,1,(4),5,6 as a fan; 4 is on its side.
	static const int fans[5][3] = {{1, 2, 3}, {1, 3, 4}, {0, 1, 4}, {0, 4, 6}, {4, 5, 6}};
	for (int i = 0; i < 5; i++) {
		t[n++] = (tac_mesh_triangle){{fans[i][0] + 7, fans[i][1] + 7, fans[i][2] + 7}};
		t[n++] = (tac_mesh_triangle){{fans[i][0], fans[i][2], fans[i][1]}};
	}
	for (int i = 0; i < 7; i++) {
		int j = (i + 1) % 7;
		t[n++] = (tac_mesh_triangle){{i, j, j + 7}};
		t[n++] = (tac_mesh_triangle){{i, j + 7, i + 7}};
	}
	mesh_body prism = make(mesh_of(v, 14, t, n), false);
	TEST_ASSERT_TRUE(tac_mesh_is_watertight(prism.mesh));
	int kinds[3] = {0, 0, 0};
	for (int32_t e = 0; e < prism.mesh->edge_count; e++) {
		tac_body_edge kind = tac_body_edge_kind(prism.body, e);
		kinds[kind]++;
		const tac_mesh_edge *edge = &prism.mesh->edges[e];
		tac_vec3 a = prism.mesh->vertices[edge->vertex[0]], b = prism.mesh->vertices[edge->vertex[1]];
		bool reflex = a.x == 1 && a.y == 1 && b.x == 1 && b.y == 1;
		TEST_ASSERT_EQUAL(reflex, kind == TAC_BODY_EDGE_CONCAVE);
		bool seam =
			a.x == 1 && b.x == 1 && a.z == b.z && fminf(a.y, b.y) == 0 && fmaxf(a.y, b.y) == 1;
		if (seam)
			TEST_ASSERT_EQUAL(TAC_BODY_EDGE_FLAT, kind);
	}
	TEST_ASSERT_EQUAL_INT(1, kinds[TAC_BODY_EDGE_CONCAVE]);
	// The rims of the L faces are convex, and all upright edges but the flat one at (1,0) and the reflex
	// one.
	TEST_ASSERT_EQUAL_INT(7 + 7 + 5, kinds[TAC_BODY_EDGE_CONVEX]);
	for (int32_t i = 0; i < 14; i++)
		TEST_ASSERT_TRUE(prism.body->vertex_collides[i]);
}

static void vertices_inside_flat_faces_are_no_features(void)
{
	mesh_body box = make_box(1, 1, 1, 4);
	int colliding = 0;
	for (int32_t i = 0; i < box.mesh->vertex_count; i++)
		colliding += box.body->vertex_collides[i];
	TEST_ASSERT_EQUAL_INT(8 + 12 * 3, colliding);
}

static void swept_boxes_contain_the_body_during_a_rotation(void)
{
	tac_rng rng = tac_rng_seed(11, 1);
	mesh_body box = make_box(0.3f, 0.2f, 0.1f, 1);
	for (int n = 0; n < 1000; n++) {
		tac_drigid T = tac_drigid_from_pose(
			tac_dpose_make(tac_rng_unit_f64(&rng), tac_rng_rotation_f64(&rng)));
		tac_dvec3 axis = tac_rng_unit_f64(&rng), centre = tac_rng_unit_f64(&rng);
		double angle = tac_rng_range_f64(&rng, 0.01, 3.1);
		double arm = tac_dvec3_length(tac_dvec3_cross(tac_dvec3_sub(T.t, centre), axis)) +
			     tac_body_radius(box.body);
		tac_swept_motion sweep =
			tac_swept_motion_make(T, tac_sweep_rotated(&T, centre, axis, angle, 1), angle, arm);
		tac_dbox bound = {vec(1e9, 1e9, 1e9), vec(-1e9, -1e9, -1e9)};
		for (int32_t i = 0; i < box.mesh->triangle_count; i++) {
			tac_swept_triangle moving = tac_swept_triangle_make(&sweep, &box.body->triangles[i]);
			bound.lo = tac_dvec3_min(bound.lo, moving.box.lo);
			bound.hi = tac_dvec3_max(bound.hi, moving.box.hi);
		}
		for (int k = 0; k <= 100; k++) {
			ref_pose P = ref_pose_at(&T, vec(0, 0, 0), centre, axis, angle, k / 100.0);
			for (int32_t i = 0; i < box.mesh->vertex_count; i++) {
				ref_vec x = ref_place(&P, box.mesh->vertices[i]);
				TEST_ASSERT_TRUE(x.x >= bound.lo.x && x.y >= bound.lo.y && x.z >= bound.lo.z);
				TEST_ASSERT_TRUE(x.x <= bound.hi.x && x.y <= bound.hi.y && x.z <= bound.hi.z);
			}
		}
	}
}

static bool count_visit(void *user, int32_t triangle)
{
	uint8_t *seen = user;
	seen[triangle]++;
	return true;
}

static void bsp_finds_exactly_the_triangles_whose_boxes_meet_a_box(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 60, 40, &mesh));
	tac_body_def def = {.mesh = mesh, .solid = true, .bsp = true};
	mesh_body torus = {mesh, NULL};
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &torus.body));
	made[made_count++] = torus;
	int32_t n = mesh->triangle_count, met = 0;
	uint8_t *seen = malloc((size_t)n);
	tac_rng rng = tac_rng_seed(16, 1);
	for (int round = 0; round < 500; round++) {
		tac_dvec3 c = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.45 * tac_rng_f64(&rng));
		double half[3], lo[3], hi[3], middle[3] = {c.x, c.y, c.z};
		for (int i = 0; i < 3; i++) {
			half[i] = 0.1 * tac_rng_f64(&rng);
			lo[i] = middle[i] - half[i];
			hi[i] = middle[i] + half[i];
		}
		memset(seen, 0, (size_t)n);
		TEST_ASSERT_TRUE(tac_bsp_query(torus.body->bsp, torus.body, lo, hi, count_visit, seen));
		for (int32_t t = 0; t < n; t++) {
			tac_dvec3 v[3];
			tac_body_triangle_load(&torus.body->triangles[t], v);
			tac_dbox b = tac_dbox_of(v), q = {tac_dvec3_load(lo), tac_dvec3_load(hi)};
			TEST_ASSERT_EQUAL_INT(tac_dbox_meets_dbox(&q, &b, 0), seen[t]);
			met += seen[t];
		}
	}
	TEST_ASSERT_GREATER_THAN(1000, met);
	free(seen);
}

static void tree_distance_equals_brute_force(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 20, 12, &mesh));
	mesh_body torus = make(mesh, false), box = make_box(0.3f, 0.2f, 0.1f, 3);
	tac_rng rng = tac_rng_seed(12, 1);
	int hits = 0, near = 0;
	for (int i = 0; i < 300; i++) {
		tac_dvec3 p = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.45);
		tac_drigid T = tac_drigid_from_pose(tac_dpose_make(p, tac_rng_rotation_f64(&rng)));
		ref_pose P = ref_pose_at(&T, vec(0, 0, 0), vec(0, 0, 0), vec(0, 0, 0), 0, 0);
		double expected = ref_distance(box.mesh, torus.mesh, &P, 0.05);
		double d = tac_body_distance(box.body, torus.body, &T, 0.05, NULL, NULL, NULL);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected < 0 ? 0 : expected, d);
		hits += expected < 0;
		near += expected > 0 && expected < 0.05;
	}
	TEST_ASSERT_GREATER_THAN(20, hits);
	TEST_ASSERT_GREATER_THAN(20, near);
}

// A triangle with an edge of length 1 and the height `thin`; 0: no area.
static void random_needle(tac_rng *rng, double thin, tac_dvec3 out[3])
{
	tac_dvec3 along = tac_rng_unit_f64(rng), across = tac_rng_unit_f64(rng);
	out[0] = tac_dvec3_scale(tac_rng_unit_f64(rng), tac_rng_f64(rng));
	out[1] = tac_dvec3_add(out[0], along);
	out[2] = tac_dvec3_add_scaled(tac_dvec3_add_scaled(out[0], tac_rng_f64(rng), along), thin, across);
	if (thin == 0)
		out[2] = out[tac_rng_below(rng, 2)];
}

static void distance_from_needles_equals_the_referee(void)
{
	tac_rng rng = tac_rng_seed(17, 1);
	int faces = 0;
	for (int n = 0; n < test_rounds(40000); n++) {
		tac_dvec3 t[3], p[3];
		double thin = n % 8 ? pow(10, tac_rng_range_f64(&rng, -7, 0)) : 0;
		random_needle(&rng, thin, t);
		// A point above it, at a height between 1 nm and 0.1 m.
		tac_dvec3 normal = tac_dvec3_normalize(
			tac_dvec3_cross(tac_dvec3_sub(t[1], t[0]), tac_dvec3_sub(t[2], t[0])));
		double u = tac_rng_range_f64(&rng, -0.2, 1), v = tac_rng_range_f64(&rng, -0.2, 1);
		p[0] = tac_dvec3_add_scaled(t[0], u, tac_dvec3_sub(t[1], t[0]));
		p[0] = tac_dvec3_add_scaled(p[0], v, tac_dvec3_sub(t[2], t[0]));
		p[0] = tac_dvec3_add_scaled(p[0], pow(10, tac_rng_range_f64(&rng, -9, -1)),
					    thin > 0 ? normal : tac_rng_unit_f64(&rng));
		int region;
		tac_dvec3 x = tac_closest_on_triangle(p[0], t, &region);
		double d = tac_dvec3_length(tac_dvec3_sub(p[0], x));
		ref_vec r[3], q = {p[0].x, p[0].y, p[0].z};
		for (int k = 0; k < 3; k++)
			r[k] = (ref_vec){t[k].x, t[k].y, t[k].z};
		real squared = thin > 0 ? ref_point_face(q, r) : HUGE_VALL;
		faces += squared < 1;
		for (int k = 0; k < 3; k++) {
			if (ref_dot(ref_sub(r[(k + 1) % 3], r[k]), ref_sub(r[(k + 1) % 3], r[k])) > 0)
				squared = ref_min(squared, ref_point_segment(q, r[k], r[(k + 1) % 3]));
		}
		// The error of a needle's plane from the rounding of its vertices alone.
		double rounding = 1e-15 * (1 + (thin > 0 ? 1 / thin : 0));
		TEST_ASSERT_DOUBLE_WITHIN(rounding, (double)sqrtl(squared), d);
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(5000), faces);
}

// Pushes the body towards random targets, mostly inside of the other body; its distance must stay at the
// zone.
static void push_at_random(const mesh_body *moving, const mesh_body *fixed, tac_drigid T, int count,
			   double step, double turn)
{
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 13), 1);
	tac_sweep_options options = tac_sweep_options_default();
	tac_dvec3 home = T.t, target = vec(0, 0, 0);
	double least = 1;
	int stopped = 0;
	for (int i = 0; i < count; i++) {
		if (i % 50 == 0)
			target = tac_dvec3_add_scaled(home, 40 * step, tac_rng_unit_f64(&rng));
		tac_dvec3 v = tac_dvec3_scale(tac_rng_unit_f64(&rng), step * tac_rng_f64(&rng));
		tac_dvec3 towards = tac_dvec3_sub(target, T.t);
		if (i % 3)
			v = tac_dvec3_scale(towards, tac_rng_f64(&rng) *
							     fmin(1, 4 * step / tac_dvec3_length(towards)));
		tac_sweep_result r = tac_sweep_translate(moving->body, fixed->body, &T, v, &options, context);
		TEST_ASSERT_FALSE(r.flags & (TAC_SWEEP_START_HIT | TAC_SWEEP_REFUSED));
		stopped += r.fraction < 1;
		T = tac_sweep_translated(&T, v, r.fraction);
		tac_dvec3 axis = tac_rng_unit_f64(&rng);
		double angle = turn * tac_rng_f64(&rng);
		r = tac_sweep_rotate(moving->body, fixed->body, &T, T.t, axis, angle, &options, context);
		TEST_ASSERT_FALSE(r.flags & (TAC_SWEEP_START_HIT | TAC_SWEEP_REFUSED));
		T = tac_sweep_rotated(&T, T.t, axis, angle, r.fraction);
		T.R = tac_dmat3_from_quat(tac_dquat_normalize(tac_dquat_from_mat3(T.R)));
		ref_pose P = ref_pose_at(&T, v, vec(0, 0, 0), axis, 0, 0);
		least = fmin(least, ref_distance(moving->mesh, fixed->mesh, &P, 2 * ZONE));
	}
	TEST_ASSERT_GREATER_THAN(count / 10, stopped);
	char text[80];
	snprintf(text, sizeof text, "%d pushes, %d stopped, least distance %.9g m", count, stopped, least);
	TEST_MESSAGE(text);
	TEST_ASSERT_TRUE(least > 0.99 * ZONE);
}

static void cube_pushed_into_a_corner_keeps_its_distance(void)
{
	// Three slabs that leave the octant x, y, z > 0 free.
	tac_vec3 v[24];
	tac_mesh_triangle t[36];
	int nv = 0, nt = 0;
	for (int slab = 0; slab < 3; slab++) {
		tac_mesh *box;
		tac_vec3 size = tac_vec3_splat(0.3f), shift = tac_vec3_zero();
		(&size.x)[slab] = 0.02f;
		(&shift.x)[slab] = -0.0101f;
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(size, 1, &box));
		for (int32_t i = 0; i < box->triangle_count; i++) {
			for (int k = 0; k < 3; k++)
				t[nt].vertex[k] = box->triangles[i].vertex[k] + nv;
			nt++;
		}
		for (int32_t i = 0; i < box->vertex_count; i++)
			v[nv++] = tac_vec3_add(box->vertices[i], shift);
		tac_mesh_destroy(&box);
	}
	mesh_body corner = make(mesh_of(v, nv, t, nt), false), cube = make_box(0.04f, 0.04f, 0.04f, 1);
	push_at_random(&cube, &corner, at(0.03, 0.03, 0.03),
		       from_environment("TACTUS_PUSHES", test_rounds(4000)), 1e-3, 0.05);
}

static void peg_in_a_hole_with_50_micrometres_keeps_its_distance(void)
{
	tac_mesh_peg_def def = tac_mesh_peg_def_default();
	def.clearance = 50e-6f;
	def.segments = 16;
	tac_mesh *peg, *block;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_peg(&def, &peg));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_block(&def, &block));
	mesh_body moving = make(peg, true), fixed = make(block, true);
	push_at_random(&moving, &fixed, at(0, 0, 0.002), from_environment("TACTUS_PUSHES", test_rounds(1000)),
		       1e-4, 0.01);
}

static bool expire_at_once(void *user)
{
	(void)user;
	return true;
}

static void make_torus_and_ball(mesh_body *torus, mesh_body *ball)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 64, 32, &mesh));
	*torus = make(mesh, true);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.15f, 3, &mesh));
	*ball = make(mesh, true);
}

static void spent_budget_returns_what_is_proved(void)
{
	mesh_body torus, ball;
	make_torus_and_ball(&torus, &ball);
	tac_rng rng = tac_rng_seed(14, 1);
	int spent = 0, some = 0;
	for (int i = 0; i < 200; i++) {
		tac_drigid T = random_pose(&rng, &ball, &torus, 0.8);
		tac_dvec3 v = tac_dvec3_scale(T.t, -2);
		tac_sweep_options full = tac_sweep_options_default(), tight = full;
		tight.pair_limit = 1 + (int64_t)tac_rng_below(&rng, 150);
		tac_sweep_result complete = tac_sweep_translate(ball.body, torus.body, &T, v, &full, NULL);
		tac_sweep_result limited = tac_sweep_translate(ball.body, torus.body, &T, v, &tight, NULL);
		TEST_ASSERT_TRUE(limited.fraction <= complete.fraction);
		TEST_ASSERT_TRUE(limited.pairs <= 2 * tight.pair_limit + 2);
		TEST_ASSERT_TRUE((limited.flags & TAC_SWEEP_BUDGET_SPENT) ||
				 limited.fraction == complete.fraction);
		TEST_ASSERT_TRUE(!(limited.flags & TAC_SWEEP_BUDGET_SPENT) ||
				 (limited.flags & TAC_SWEEP_STOPPED) || limited.fraction == 1);
		spent += (limited.flags & TAC_SWEEP_BUDGET_SPENT) != 0;
		some += (limited.flags & TAC_SWEEP_BUDGET_SPENT) && limited.fraction > 0;
		tight.pair_limit = 0;
		tight.expired = expire_at_once;
		limited = tac_sweep_translate(ball.body, torus.body, &T, v, &tight, NULL);
		TEST_ASSERT_TRUE(limited.fraction <= complete.fraction);
	}
	TEST_ASSERT_GREATER_THAN(50, spent);
	TEST_ASSERT_GREATER_THAN(25, some);
}

// A work limit can end the search in the middle of a list of pairs. The pose of the fraction is still clear.
static void work_limit_returns_a_proved_and_clear_fraction(void)
{
	mesh_body torus, ball;
	make_torus_and_ball(&torus, &ball);
	tac_rng rng = tac_rng_seed(16, 1);
	int spent = 0, some = 0;
	for (int i = 0; i < test_rounds(800); i++) {
		tac_drigid T = random_pose(&rng, &ball, &torus, 0.8);
		tac_dvec3 v = tac_dvec3_scale(T.t, -2);
		tac_sweep_options options = tac_sweep_options_default();
		options.zone = 0.02;
		double start = tac_body_distance(ball.body, torus.body, &T, options.zone, NULL, NULL, NULL);
		tac_sweep_result complete = tac_sweep_translate(ball.body, torus.body, &T, v, &options, NULL);
		tac_sweep_context_set_work_limit(context, INT64_C(50) << tac_rng_below(&rng, 10));
		tac_sweep_result limited =
			tac_sweep_translate(ball.body, torus.body, &T, v, &options, context);
		TEST_ASSERT_TRUE(limited.fraction <= complete.fraction + 1e-9); // the accuracy of a stop
		TEST_ASSERT_TRUE(limited.flags & TAC_SWEEP_BUDGET_SPENT ||
				 fabs(limited.fraction - complete.fraction) < 1e-9);
		tac_drigid stop = tac_sweep_translated(&T, v, limited.fraction);
		double clear = tac_body_distance(ball.body, torus.body, &stop, 1, NULL, NULL, NULL);
		TEST_ASSERT_TRUE(clear >= start * (1 - 1e-6));
		spent += (limited.flags & TAC_SWEEP_BUDGET_SPENT) != 0;
		some += limited.flags & TAC_SWEEP_BUDGET_SPENT && limited.fraction > 0;
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(100), spent);
	TEST_ASSERT_GREATER_THAN(test_rounds(25), some);
}

static void queries_allocate_nothing(void)
{
	mesh_body a = make_box(1, 1, 1, 4), b = make_box(1, 1, 1, 4);
	tac_sweep_options options = tac_sweep_options_default();
	tac_drigid T = at(-3, 0.1, 0.2);
	TEST_ASSERT_GREATER_THAN(0, allocations); // building the bodies was counted
	allocations = 0;
	tac_sweep_translate(a.body, b.body, &T, vec(4, 0, 0), &options, NULL);
	tac_sweep_rotate(a.body, b.body, &T, vec(0, 0, 0), vec(0, 1, 1), 3, &options, NULL);
	tac_body_distance(a.body, b.body, &T, 10, NULL, NULL, NULL);
	static tac_contacts contacts;
	tac_certificate_options proof = tac_certificate_options_default();
	T = at(-1.001, 0.1, 0.2);
	for (int i = 0; i < 2; i++) {
		tac_contacts_query(a.body, b.body, &T, 0.01, i ? context : NULL, &contacts);
		TEST_ASSERT_GREATER_THAN(0, contacts.count);
		tac_certificate_check(a.body, b.body, &T, vec(0, 1e-3, 0), vec(0.01, 0, 0), &proof,
				      i ? context : NULL);
		tac_sweep_translate(a.body, b.body, &T, vec(0, 1e-3, 0), &options, i ? context : NULL);
	}
	TEST_ASSERT_EQUAL_INT(0, allocations);
}

static void body_without_triangles_and_open_solid_are_refused(void)
{
	tac_mesh *sheet;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(1, 1, 1, 1, &sheet));
	tac_body_def def = tac_body_def_default();
	tac_body *body;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_body_build(&def, &body));
	TEST_ASSERT_NULL(body);
	def.mesh = sheet;
	def.solid = true;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_body_build(&def, &body));
	tac_body_destroy(&body);
	tac_mesh_destroy(&sheet);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(cube_thrown_ten_metres_at_a_thin_plate_stops_at_the_zone);
	RUN_TEST(rod_turned_by_179_degrees_stops_at_a_thin_plate);
	RUN_TEST(aligned_boxes_and_triangles_in_one_plane_stop_each_other);
	RUN_TEST(open_triangle_stops_from_both_sides);
	RUN_TEST(sharp_tip_stops_nothing_beyond_itself);
	RUN_TEST(invalid_motion_is_refused_and_no_motion_is_free);
	RUN_TEST(rotation_by_more_than_half_a_turn_stops_at_the_same_angle);
	RUN_TEST(random_motions_of_shapes_stop_at_the_zone_and_nowhere_else);
	RUN_TEST(motions_on_a_grid_stop_at_the_zone_and_nowhere_else);
	RUN_TEST(optimisations_change_nothing);
	RUN_TEST(edges_of_an_l_prism_are_classified);
	RUN_TEST(vertices_inside_flat_faces_are_no_features);
	RUN_TEST(swept_boxes_contain_the_body_during_a_rotation);
	RUN_TEST(bsp_finds_exactly_the_triangles_whose_boxes_meet_a_box);
	RUN_TEST(tree_distance_equals_brute_force);
	RUN_TEST(distance_from_needles_equals_the_referee);
	RUN_TEST(cube_pushed_into_a_corner_keeps_its_distance);
	RUN_TEST(peg_in_a_hole_with_50_micrometres_keeps_its_distance);
	RUN_TEST(spent_budget_returns_what_is_proved);
	RUN_TEST(work_limit_returns_a_proved_and_clear_fraction);
	RUN_TEST(queries_allocate_nothing);
	RUN_TEST(body_without_triangles_and_open_solid_are_refused);
	return UNITY_END();
}
