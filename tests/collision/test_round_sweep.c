#include "collision/round.h"

#include "base/rng.h"
#include "collision/contacts.h"
#include "collision/continuous/round/round_list.h"
#include "collision/mesh_shapes.h"
#include "tests/support/limits.h"
#include "tests/support/sweep_referee.h"

#include <string.h>
#include <unity.h>

#define ZONE TAC_SWEEP_ZONE

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_body *build(tac_mesh *mesh)
{
	tac_body_def def = tac_body_def_default();
	def.mesh = mesh;
	tac_body *body;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &body));
	return body;
}

static tac_dvec3 vec(double x, double y, double z)
{
	return tac_dvec3_make(x, y, z);
}

static void sphere_stops_before_a_face_an_edge_and_a_corner(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(2, 2, 2), 2, &mesh));
	tac_body *box = build(mesh);
	tac_sweep_options options = tac_sweep_options_default();
	double reach = 0.25 + ZONE;
	tac_round ball = {vec(0.3, 0.2, 4), vec(0.3, 0.2, 4), 0.25};
	tac_sweep_result r = tac_round_translate(&ball, box, vec(0, 0, -10), &options, NULL);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, (3 - reach) / 10, r.fraction);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1, r.normal.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1 + ZONE, r.point.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, ZONE, r.distance);
	// 0.1 beside the face it meets the edge at x = 1.
	ball.a = ball.b = vec(1.1, 0.2, 4);
	r = tac_round_translate(&ball, box, vec(0, 0, -10), &options, NULL);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, (3 - sqrt(reach * reach - 0.01)) / 10, r.fraction);
	// Beside two faces it meets the corner.
	ball.a = ball.b = vec(1.1, 1.1, 4);
	r = tac_round_translate(&ball, box, vec(0, 0, -10), &options, NULL);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, (3 - sqrt(reach * reach - 0.02)) / 10, r.fraction);
	ball.a = ball.b = vec(1.2, 1.2, 4);
	r = tac_round_translate(&ball, box, vec(0, 0, -10), &options, NULL);
	TEST_ASSERT_TRUE(r.fraction == 1 && r.flags == 0);
	// The inside of a capsule along x meets the edge at y = 1.
	tac_round capsule = {vec(-3, 1.1, 4), vec(3, 1.1, 4), 0.25};
	r = tac_round_translate(&capsule, box, vec(0, 0, -10), &options, NULL);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, (3 - sqrt(reach * reach - 0.01)) / 10, r.fraction);
	tac_body_destroy(&box);
	tac_mesh_destroy(&mesh);
}

static void tool_in_the_zone_may_slide_and_leave_but_not_approach(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(2, 2, 3, 3, &mesh));
	tac_body *sheet = build(mesh);
	tac_sweep_options options = tac_sweep_options_default();
	for (int side = -1; side <= 1; side += 2) {
		tac_round ball = {vec(0, 0, side * (0.1 + ZONE / 2)), vec(0, 0, side * (0.1 + ZONE / 2)),
				  0.1};
		tac_sweep_result r = tac_round_translate(&ball, sheet, vec(0.3, 0.1, 0), &options, NULL);
		TEST_ASSERT_TRUE(r.fraction == 1 && r.flags == TAC_SWEEP_START_ZONE);
		TEST_ASSERT_TRUE(
			tac_round_translate(&ball, sheet, vec(0, 0.1, side * 0.1), &options, NULL).fraction ==
			1);
		TEST_ASSERT_TRUE(tac_round_translate(&ball, sheet, vec(0, 0.1, side * -0.1), &options, NULL)
					 .fraction == 0);
		ball.a.z = ball.b.z = side * 0.09;
		r = tac_round_translate(&ball, sheet, vec(0, 0, side), &options, NULL);
		TEST_ASSERT_TRUE(r.fraction == 0 && (r.flags & TAC_SWEEP_START_HIT));
	}
	tac_round bad = {vec((double)NAN, 0, 0), vec(0, 0, 0), 0.1};
	TEST_ASSERT_TRUE(tac_round_translate(&bad, sheet, vec(0, 0, 1), &options, NULL).flags &
			 TAC_SWEEP_REFUSED);
	tac_round flat = {vec(0, 0, 1), vec(0, 0, 1), 0};
	TEST_ASSERT_TRUE(tac_round_translate(&flat, sheet, vec(0, 0, 1), &options, NULL).flags &
			 TAC_SWEEP_REFUSED);
	tac_body_destroy(&sheet);
	tac_mesh_destroy(&mesh);
}

// The distance of a segment from a triangle in long double: crossing, the ends over the face, the boundaries.
static real core_distance(ref_vec a, ref_vec b, const ref_vec *t)
{
	if (ref_pierces(a, b, t))
		return 0;
	real least = ref_min(ref_point_face(a, t), ref_point_face(b, t));
	for (int k = 0; k < 3; k++) {
		ref_vec c = t[k], d = t[(k + 1) % 3];
		least = ref_min(least, ref_min(ref_point_segment(a, c, d), ref_point_segment(b, c, d)));
		ref_vec ab = ref_sub(b, a);
		if (ref_dot(ab, ab) > 0)
			least = ref_min(least, ref_segments(a, b, c, d));
	}
	return sqrtl(least);
}

static real mesh_distance(const tac_mesh *mesh, const tac_round *tool, tac_dvec3 v, real s)
{
	ref_vec a = {tool->a.x + s * v.x, tool->a.y + s * v.y, tool->a.z + s * v.z};
	ref_vec b = {tool->b.x + s * v.x, tool->b.y + s * v.y, tool->b.z + s * v.z};
	real least = HUGE_VALL;
	for (int32_t i = 0; i < mesh->triangle_count; i++)
		least = ref_min(least, core_distance(a, b, ref_load(mesh, i, NULL).v));
	return least;
}

// The tool stops where its distance is the zone, and is never closer before.
static void random_tools_stop_at_the_zone_and_nowhere_else(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 8, 6, &mesh));
	tac_body *torus = build(mesh);
	tac_sweep_options options = tac_sweep_options_default();
	tac_rng rng = tac_rng_seed(40, 1);
	int stopped = 0, passed = 0;
	for (int i = 0; i < test_rounds(600); i++) {
		tac_round tool = {.radius = tac_rng_range_f64(&rng, 0.001, 0.1)};
		tool.a = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.8);
		tool.b = i % 2 ? tool.a : tac_dvec3_add_scaled(tool.a, 0.3, tac_rng_unit_f64(&rng));
		if (mesh_distance(mesh, &tool, vec(0, 0, 0), 0) < tool.radius + ZONE)
			continue;
		tac_dvec3 v = tac_dvec3_sub(tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.45), tool.a);
		v = tac_dvec3_scale(v, tac_rng_range_f64(&rng, 0.5, 2));
		tac_sweep_result r = tac_round_translate(&tool, torus, v, &options, NULL);
		real needed = tool.radius + ZONE;
		for (int k = 1; k < 20; k++) {
			real d = mesh_distance(mesh, &tool, v, r.fraction * k / 20);
			TEST_ASSERT_TRUE_MESSAGE(d >= needed - 1e-11L, "passed too close");
		}
		real d = mesh_distance(mesh, &tool, v, r.fraction);
		if (r.fraction == 1) {
			TEST_ASSERT_TRUE(d >= needed - 1e-11L);
			passed++;
			continue;
		}
		stopped++;
		TEST_ASSERT_DOUBLE_WITHIN(1e-11, (double)needed, (double)d);
		TEST_ASSERT_TRUE(mesh_distance(mesh, &tool, v, r.fraction + 1e-6) < needed);
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(150), stopped);
	TEST_ASSERT_GREATER_THAN(test_rounds(50), passed);
	tac_body_destroy(&torus);
	tac_mesh_destroy(&mesh);
}

// The distance after a rotation; the segment's ends in long double.
static real rotated_distance(const tac_mesh *mesh, const tac_round *tool, tac_dvec3 centre, tac_dvec3 axis,
			     double angle, double s)
{
	tac_drigid origin = tac_drigid_from_pose(tac_dpose_identity());
	ref_pose P = ref_pose_at(&origin, vec(0, 0, 0), centre, axis, angle, s);
	ref_vec end[2];
	const tac_dvec3 *from[2] = {&tool->a, &tool->b};
	for (int k = 0; k < 2; k++) {
		real p[3] = {from[k]->x, from[k]->y, from[k]->z}, q[3];
		for (int i = 0; i < 3; i++)
			q[i] = P.t[i] + P.R[i][0] * p[0] + P.R[i][1] * p[1] + P.R[i][2] * p[2];
		end[k] = (ref_vec){q[0], q[1], q[2]};
	}
	real least = HUGE_VALL;
	for (int32_t i = 0; i < mesh->triangle_count; i++)
		least = ref_min(least, core_distance(end[0], end[1], ref_load(mesh, i, NULL).v));
	return least;
}

static void random_tools_rotate_up_to_the_zone(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 8, 6, &mesh));
	tac_body *torus = build(mesh);
	tac_sweep_options options = tac_sweep_options_default();
	tac_rng rng = tac_rng_seed(41, 1);
	int stopped = 0, passed = 0;
	for (int i = 0; i < test_rounds(800); i++) {
		tac_round tool = {.radius = tac_rng_range_f64(&rng, 0.001, 0.05)};
		tool.a = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.6 * tac_rng_f64(&rng));
		tool.b = i % 3 ? tac_dvec3_add_scaled(tool.a, 0.3, tac_rng_unit_f64(&rng)) : tool.a;
		double start = (double)mesh_distance(mesh, &tool, vec(0, 0, 0), 0);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, fmin(start - tool.radius, 1),
					  tac_round_distance(&tool, torus, 1));
		if (start < tool.radius + ZONE)
			continue;
		tac_dvec3 axis = tac_rng_unit_f64(&rng),
			  centre = i % 2 ? tool.a : tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.3);
		double angle = tac_rng_range_f64(&rng, -6, 6);
		tac_sweep_result r = tac_round_rotate(&tool, torus, centre, axis, angle, &options);
		double needed = tool.radius + ZONE;
		TEST_ASSERT_FALSE(r.flags & (TAC_SWEEP_BUDGET_SPENT | TAC_SWEEP_REFUSED));
		for (int k = 1; k <= 24; k++) {
			real d = rotated_distance(mesh, &tool, centre, axis, angle, r.fraction * k / 24);
			TEST_ASSERT_TRUE_MESSAGE(d >= needed - 1e-11L, "passed too close");
		}
		tac_round there = tac_round_rotated(&tool, centre, axis, angle, r.fraction);
		double d = (double)rotated_distance(mesh, &tool, centre, axis, angle, r.fraction);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, fmin(d - tool.radius, 1),
					  tac_round_distance(&there, torus, 1));
		passed += r.fraction == 1;
		if (r.fraction == 1)
			continue;
		stopped++;
		TEST_ASSERT_DOUBLE_WITHIN(1e-6 * ZONE, needed, d);
		// A little further it would be closer.
		double arm = tac_dvec3_length(tac_dvec3_sub(tool.a, centre)) + 0.3, least = 1;
		for (int k = 1; k <= 4; k++)
			least = fmin(least,
				     (double)rotated_distance(mesh, &tool, centre, axis, angle,
							      r.fraction + k * 1e-7 / (fabs(angle) * arm)));
		TEST_ASSERT_TRUE(least < needed + 1e-6 * ZONE);
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(150), stopped);
	TEST_ASSERT_GREATER_THAN(test_rounds(50), passed);
	// A ball that rotates about its own centre does not move.
	tac_round ball = {vec(0, 0, 0), vec(0, 0, 0), 0.15};
	TEST_ASSERT_TRUE(tac_round_rotate(&ball, torus, vec(0, 0, 0), vec(1, 2, 3), 3, &options).fraction ==
			 1);
	TEST_ASSERT_TRUE(tac_round_rotate(&ball, torus, vec(0, 0, 0), vec(0, 0, 0), 1, &options).flags &
			 TAC_SWEEP_REFUSED);
	tac_body_destroy(&torus);
	tac_mesh_destroy(&mesh);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(2, 2, 3, 3, &mesh));
	tac_body *sheet = build(mesh);
	// In the zone a capsule may leave but not approach.
	tac_round rod = {vec(0, 0, 0.1 + ZONE / 2), vec(0.3, 0, 0.1 + ZONE / 2), 0.1};
	tac_sweep_result r = tac_round_rotate(&rod, sheet, rod.a, vec(0, 0, 1), 2, &options);
	TEST_ASSERT_TRUE(r.fraction == 1 && r.flags == TAC_SWEEP_START_ZONE); // along the sheet
	TEST_ASSERT_TRUE(tac_round_rotate(&rod, sheet, rod.a, vec(0, 1, 0), -1, &options).fraction == 1);
	TEST_ASSERT_TRUE(tac_round_rotate(&rod, sheet, rod.a, vec(0, 1, 0), 1, &options).fraction < 1e-9);
	tac_body_destroy(&sheet);
	tac_mesh_destroy(&mesh);
}

static real moved_distance(const tac_mesh *mesh, const tac_round *tool, tac_dvec3 centre, tac_dvec3 v,
			   tac_dvec3 w, double s)
{
	tac_round there = tac_round_rotated(tool, centre, w, tac_dvec3_length(w), s);
	return mesh_distance(mesh, &there, v, (real)s);
}

// Along the proved part of a motion the referee finds nothing closer; in free space all of it is proved.
static void proved_part_of_a_combined_motion_is_free(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 10, 8, &mesh));
	tac_body *torus = build(mesh);
	tac_sweep_options options = tac_sweep_options_default();
	options.zone = 1e-6;
	static tac_round_context context;
	tac_rng rng = tac_rng_seed(43, 1);
	int whole = 0, partial = 0, none = 0;
	for (int i = 0; i < test_rounds(3000); i++) {
		tac_round tool = {.radius = tac_rng_range_f64(&rng, 0.001, 0.05)};
		tool.a = tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0.1, 0.5));
		tool.b = i % 5 ? tac_dvec3_add_scaled(tool.a, 0.2, tac_rng_unit_f64(&rng)) : tool.a;
		tac_dvec3 centre = tac_dvec3_add_scaled(tool.a, 0.1, tac_rng_unit_f64(&rng)),
			  v = tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0, 0.05)),
			  w = tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0.01, 0.9));
		double needed = tool.radius + options.zone;
		tac_sweep_result r = tac_round_prove(&tool, torus, centre, v, w, &options, &context);
		if ((double)moved_distance(mesh, &tool, centre, v, w, 0) < needed) {
			TEST_ASSERT_TRUE(r.fraction == 0);
			none++;
			continue;
		}
		whole += r.fraction == 1;
		partial += r.fraction > 0 && r.fraction < 1;
		double least = HUGE_VAL;
		for (int k = 0; k <= 16; k++)
			least = fmin(least, (double)moved_distance(mesh, &tool, centre, v, w, k / 16.0));
		for (int k = 0; k <= 16 && r.fraction > 0; k++)
			TEST_ASSERT_TRUE((double)moved_distance(mesh, &tool, centre, v, w,
								r.fraction * k / 16) >= needed);
		// With enough room all of it is proved.
		double room = 0.02 * (tac_dvec3_length(w) + 1);
		TEST_ASSERT_TRUE(least < needed + room || r.fraction == 1);
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(500), whole);
	TEST_ASSERT_GREATER_THAN(test_rounds(100), partial);
	TEST_ASSERT_GREATER_THAN(test_rounds(100), none);
	tac_round ball = {vec(0, 0, 0), vec(0, 0, 0), 0.1};
	TEST_ASSERT_TRUE(
		tac_round_prove(&ball, torus, ball.a, vec(0, 0, 0), vec(0, 0, 2), &options, &context).flags &
		TAC_SWEEP_REFUSED);
	TEST_ASSERT_TRUE(tac_round_prove(&ball, torus, ball.a, vec(0, 0, (double)NAN), vec(0, 0, 0.5),
					 &options, &context)
				 .flags &
			 TAC_SWEEP_REFUSED);
	tac_body_destroy(&torus);
	tac_mesh_destroy(&mesh);
}

// Moves a tool near the torus: mostly short steps, some jumps. It may penetrate the torus.
static void random_step(tac_rng *rng, tac_round *tool, bool capsule)
{
	if (tac_rng_f64(rng) < 0.1) {
		tool->radius = tac_rng_range_f64(rng, 0.001, 0.06);
		tool->a = tac_dvec3_scale(tac_rng_unit_f64(rng), tac_rng_range_f64(rng, 0.15, 0.5));
		tool->b = capsule ? tac_dvec3_add_scaled(tool->a, 0.15, tac_rng_unit_f64(rng)) : tool->a;
	}
	tac_dvec3 step = tac_dvec3_scale(tac_rng_unit_f64(rng), tac_rng_range_f64(rng, 0, 0.01));
	tool->a = tac_dvec3_add(tool->a, step);
	tool->b = tac_dvec3_add(tool->b, step);
}

static real triangle_distance(const tac_body *body, int32_t triangle, const tac_round *tool, tac_dvec3 v,
			      real s)
{
	ref_vec a = {tool->a.x + s * v.x, tool->a.y + s * v.y, tool->a.z + s * v.z};
	ref_vec b = {tool->b.x + s * v.x, tool->b.y + s * v.y, tool->b.z + s * v.z};
	return core_distance(a, b, ref_load(body->mesh, body->triangles[triangle].id, NULL).v);
}

static void near_triangles_are_listed_and_no_bound_exceeds_a_distance(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 20, 12, &mesh));
	tac_body *torus = build(mesh);
	static tac_round_context list;
	bool listed[480];
	tac_rng rng = tac_rng_seed(41, 1);
	int measured = 0, near = 0, kept = 0;
	tac_round tool = {vec(0.4, 0, 0.2), vec(0.4, 0, 0.2), 0.02};
	for (int i = 0; i < 400; i++) {
		for (int k = 0; k < (i % 3 ? 1 : 12); k++)
			random_step(&rng, &tool, i / 3 % 2);
		TEST_ASSERT_TRUE(tac_round_list_update(&list, torus, &tool));
		kept += list.queries_served > 0;
		tac_dvec3 v = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.03);
		const tac_dvec3 points[4] = {tool.a, tool.b, tac_dvec3_add(tool.a, v),
					     tac_dvec3_add(tool.b, v)};
		tac_round_list_measure(&list, points, tool.radius);
		memset(listed, 0, sizeof listed);
		for (int32_t n = 0; n < list.count; n++) {
			const tac_round_block *block = &list.blocks[n / TAC_BODY_WIDTH];
			int32_t t = block->triangle[n % TAC_BODY_WIDTH];
			double clearance = (double)block->clearance[n % TAC_BODY_WIDTH];
			listed[t] = true;
			for (int k = 0; k <= 4; k++)
				TEST_ASSERT_TRUE((double)triangle_distance(torus, t, &tool, v, k / 4.0L) >=
						 clearance);
			if (!(block->near_lanes >> n % TAC_BODY_WIDTH & 1))
				TEST_ASSERT_TRUE(clearance >= tool.radius);
			measured++;
		}
		for (int32_t t = 0; t < mesh->triangle_count; t++) {
			if ((double)triangle_distance(torus, t, &tool, v, 0) > tool.radius)
				continue;
			TEST_ASSERT_TRUE(listed[t]);
			near++;
		}
	}
	TEST_ASSERT_GREATER_THAN(2000, measured);
	TEST_ASSERT_GREATER_THAN(400, near);
	TEST_ASSERT_GREATER_THAN(100, kept);
	tac_body_destroy(&torus);
	tac_mesh_destroy(&mesh);
}

// Whether a segment and an edge are closest between the ends of both.
static bool edge_crosses(ref_vec a, ref_vec b, ref_vec c, ref_vec d)
{
	ref_vec u = ref_sub(b, a), w = ref_sub(d, c), r = ref_sub(c, a), n = ref_cross(u, w);
	real nn = ref_dot(n, n), s = ref_dot(ref_cross(r, w), n), t = ref_dot(ref_cross(r, u), n);
	return s > 0 && s < nn && t > 0 && t < nn;
}

// Whether x projects onto the inside of the segment.
static bool is_beside(ref_vec a, ref_vec b, ref_vec x)
{
	real s = ref_dot(ref_sub(x, a), ref_sub(b, a));
	return s > 0 && s < ref_dot(ref_sub(b, a), ref_sub(b, a));
}

// On meshes of different sizes, with rods along an axis, which are parallel to edges.
static void culling_keeps_every_feature_beside_the_core_in_each_variant(void)
{
	static tac_round_context lists[TAC_SIMD_COUNT];
	int beside = 0, crossing = 0, culled = 0;
	for (int size = 0; size < 3; size++) {
		double scale = size == 0 ? 1 : size == 1 ? 1e-3 : 100;
		tac_mesh *mesh;
		TEST_ASSERT_EQUAL(
			TAC_OK, tac_mesh_build_grid(0.4f * (float)scale, 0.4f * (float)scale, 16, 16, &mesh));
		tac_body *sheet = build(mesh);
		tac_rng rng = tac_rng_seed(46, (uint64_t)size);
		for (int i = 0; i < test_rounds(1200); i++) {
			tac_dvec3 axes[3] = {vec(1, 0, 0), vec(0, 1, 0), vec(0.7, 0.7, 0)},
				  along = i % 4 ? tac_rng_unit_f64(&rng) : axes[i / 4 % 3];
			tac_round rod = {.radius = 0.02 * scale};
			rod.a = vec(scale * tac_rng_range_f64(&rng, -0.2, 0.2),
				    scale * tac_rng_range_f64(&rng, -0.2, 0.2),
				    scale * tac_rng_range_f64(&rng, -0.01, 0.02));
			rod.b = tac_dvec3_add_scaled(rod.a, scale * tac_rng_range_f64(&rng, 0.01, 0.1),
						     along);
			const tac_dvec3 points[4] = {rod.a, rod.b, rod.a, rod.b};
			for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
				if (!tac_simd_supported((tac_simd)simd))
					continue;
				sheet->simd = simd;
				TEST_ASSERT_TRUE(tac_round_list_update(&lists[simd], sheet, &rod));
				tac_round_list_measure(&lists[simd], points, rod.radius);
				tac_round_list_cull_core(&lists[simd], rod.a, rod.b);
				TEST_ASSERT_EQUAL_INT(lists[0].count, lists[simd].count);
				for (int32_t n = 0; n < tac_round_list_block_count(&lists[0]); n++) {
					const tac_round_block *one = &lists[0].blocks[n],
							      *other = &lists[simd].blocks[n];
					TEST_ASSERT_EQUAL_INT(one->candidate_lanes, other->candidate_lanes);
					if (one->near_lanes)
						TEST_ASSERT_EQUAL_INT32_ARRAY(
							one->candidates, other->candidates, TAC_BODY_WIDTH);
				}
			}
			ref_vec a = {rod.a.x, rod.a.y, rod.a.z}, b = {rod.b.x, rod.b.y, rod.b.z};
			for (int32_t n = 0; n < lists[0].count; n++) {
				const tac_round_block *block = &lists[0].blocks[n / TAC_BODY_WIDTH];
				int lane = n % TAC_BODY_WIDTH, candidates = block->candidates[lane],
				    owned = block->owned[lane];
				if (!(block->near_lanes >> lane & 1))
					continue;
				ref_triangle t =
					ref_load(mesh, sheet->triangles[block->triangle[lane]].id, NULL);
				for (int k = 0; k < 3; k++) {
					bool edge = owned >> (TAC_ROUND_FEATURE_EDGE + k) & 1 &&
						    edge_crosses(a, b, t.v[k], t.v[(k + 1) % 3]),
					     vertex = owned >> k & 1 && is_beside(a, b, t.v[k]);
					TEST_ASSERT_TRUE(!edge ||
							 candidates >> (TAC_ROUND_FEATURE_EDGE + k) & 1);
					TEST_ASSERT_TRUE(!vertex || candidates >> k & 1);
					crossing += edge;
					beside += vertex;
				}
				culled += __builtin_popcount((unsigned)(owned & ~candidates));
			}
		}
		tac_body_destroy(&sheet);
		tac_mesh_destroy(&mesh);
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(400), crossing);
	TEST_ASSERT_GREATER_THAN(test_rounds(400), beside);
	TEST_ASSERT_GREATER_THAN(crossing + beside, culled);
}

// Sweeps and contacts with a context that served other queries are those without one, to the bit.
static void results_do_not_depend_on_the_context_or_the_variant(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 48, 24, &mesh));
	tac_body *torus = build(mesh);
	tac_sweep_options options = tac_sweep_options_default();
	static tac_round_context kept[TAC_SIMD_COUNT], fresh;
	static tac_contacts first, other;
	int stopped = 0, contacts = 0, served = 0;
	for (int capsule = 0; capsule < 2; capsule++) {
		tac_rng rng = tac_rng_seed(42, (uint64_t)capsule);
		tac_round tool = {vec(0.4, 0, 0.15), vec(0.4, 0, 0.15), 0.02};
		for (int i = 0; i < (test_long() ? 1500 : 375); i++) {
			random_step(&rng, &tool, capsule);
			tac_dvec3 v = tac_dvec3_scale(tac_rng_unit_f64(&rng), i % 7 ? 0.01 : 0.6);
			tac_sweep_result r = tac_round_translate(&tool, torus, v, &options, NULL);
			stopped += r.fraction > 0 && r.fraction < 1;
			memset(&fresh, 0, sizeof fresh);
			tac_contacts_round(&tool, torus, 0.01, &fresh, &first);
			TEST_ASSERT_TRUE(fabs(first.distance -
					      fmax(0, tac_round_distance(&tool, torus, 0.01))) < 1e-12);
			contacts += first.count;
			for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
				if (!tac_simd_supported((tac_simd)simd))
					continue;
				torus->simd = simd;
				tac_sweep_result again =
					tac_round_translate(&tool, torus, v, &options, &kept[simd]);
				TEST_ASSERT_TRUE(again.fraction == r.fraction);
				TEST_ASSERT_EQUAL_INT(r.flags, again.flags);
				TEST_ASSERT_EQUAL_INT(r.fixed_triangle, again.fixed_triangle);
				tac_contacts_round(&tool, torus, 0.01, &kept[simd], &other);
				TEST_ASSERT_TRUE(other.distance == first.distance);
				TEST_ASSERT_EQUAL_INT(first.count, other.count);
				if (first.count > 0)
					TEST_ASSERT_EQUAL_MEMORY(first.list, other.list,
								 sizeof *first.list * (size_t)first.count);
				TEST_ASSERT_EQUAL_INT(kept[TAC_SIMD_SCALAR].count, kept[simd].count);
				served += kept[simd].queries_served > 0;
			}
		}
	}
	TEST_ASSERT_GREATER_THAN(test_long() ? 100 : 25, stopped);
	TEST_ASSERT_GREATER_THAN(test_long() ? 1000 : 250, contacts);
	TEST_ASSERT_GREATER_THAN(test_long() ? 1000 : 250, served);
	tac_body_destroy(&torus);
	tac_mesh_destroy(&mesh);
}

// The triangles that a descent visits, in order.
typedef struct visits {
	tac_round_path *path;
	int32_t list[4096], count;
	double limit; // of the path after 20 visits
} visits;

static bool note_visit(void *user, int32_t triangle)
{
	visits *v = user;
	v->list[v->count++] = triangle;
	if (v->count == 20)
		v->path->limit = fmin(v->path->limit, v->limit);
	return true;
}

static bool was_visited(const visits *v, int32_t triangle)
{
	for (int32_t i = 0; i < v->count; i++) {
		if (v->list[i] == triangle)
			return true;
	}
	return false;
}

// The fraction, of TIMES samples, at which the path first comes within its radius of a triangle; 2: never.
#define TIMES 40

static real first_time(const tac_body *body, int32_t triangle, const tac_round_path *w)
{
	ref_triangle t = ref_load(body->mesh, body->triangles[triangle].id, NULL);
	for (int k = 0; k <= TIMES; k++) {
		real s = (real)k / TIMES;
		ref_vec a = {w->a.x + s * w->va.x, w->a.y + s * w->va.y, w->a.z + s * w->va.z};
		ref_vec b = {w->b.x + s * w->vb.x, w->b.y + s * w->vb.y, w->b.z + s * w->vb.z};
		if (core_distance(a, b, t.v) <= w->radius)
			return s;
	}
	return 2;
}

// Paths of spheres and capsules: straight, rotating, at rest; with limits of the path and of the budget.
static tac_round_path random_path(tac_rng *rng, int kind)
{
	tac_round_path w = {.radius = tac_rng_range_f64(rng, 0.001, 0.08),
			    .limit = kind % 5 ? 1 : tac_rng_f64(rng),
			    .budget = kind % 4 ? INT64_MAX : (int64_t)tac_rng_range_f64(rng, 1, 20)};
	w.a = w.b = tac_dvec3_scale(tac_rng_unit_f64(rng), tac_rng_range_f64(rng, 0.1, 0.6));
	w.va = w.vb = tac_dvec3_scale(tac_rng_unit_f64(rng), tac_rng_range_f64(rng, 0, 0.5));
	if (kind % 3)
		w.b = tac_dvec3_add_scaled(w.a, 0.3, tac_rng_unit_f64(rng));
	if (kind % 3 == 2)
		w.vb = tac_dvec3_add_scaled(w.va, 0.2, tac_rng_unit_f64(rng));
	if (kind % 7 == 0)
		w.va = w.vb = vec(0, 0, 0);
	return w;
}

static void triangles_near_a_path_are_visited_in_the_same_order_by_every_variant(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 14, 8, &mesh));
	tac_body *torus = build(mesh);
	static visits first, other;
	tac_rng rng = tac_rng_seed(44, 1);
	int near = 0, spent = 0, proved = 0, skipped = 0;
	const int rounds = 420; // in every build: fewer do not meet every case
	for (int i = 0; i < rounds; i++) {
		const tac_round_path whole = random_path(&rng, i);
		double limit = i % 2 ? tac_rng_f64(&rng) : 1;
		tac_round_path path = whole;
		first = (visits){.path = &path, .limit = limit};
		torus->simd = TAC_SIMD_SCALAR;
		bool complete = tac_round_visit_path(torus, &path, note_visit, &first);
		TEST_ASSERT_TRUE(complete == (path.budget >= 0));
		for (int32_t simd = 1; simd < TAC_SIMD_COUNT; simd++) {
			if (!tac_simd_supported((tac_simd)simd))
				continue;
			tac_round_path again = whole;
			other = (visits){.path = &again, .limit = limit};
			torus->simd = simd;
			TEST_ASSERT_TRUE(tac_round_visit_path(torus, &again, note_visit, &other) == complete);
			TEST_ASSERT_EQUAL_INT(first.count, other.count);
			if (first.count > 0)
				TEST_ASSERT_EQUAL_INT32_ARRAY(first.list, other.list, first.count);
			TEST_ASSERT_TRUE(again.proved == path.proved && again.budget == path.budget);
		}
		spent += !complete;
		proved += !complete && path.proved > 0;
		real until = complete ? path.limit : fmin(path.limit, path.proved * (1 - 1e-9));
		for (int32_t t = 0; t < mesh->triangle_count; t++) {
			bool visited = was_visited(&first, t);
			skipped += !visited;
			if (first_time(torus, t, &whole) > until)
				continue;
			TEST_ASSERT_TRUE(visited || (!complete && path.proved == 0));
			near++;
		}
	}
	TEST_ASSERT_GREATER_THAN(2000, near);
	TEST_ASSERT_GREATER_THAN(20, spent);
	TEST_ASSERT_GREATER_THAN(5, proved);
	TEST_ASSERT_GREATER_THAN(rounds * mesh->triangle_count / 2, skipped);
	tac_body_destroy(&torus);
	tac_mesh_destroy(&mesh);
}

// A smaller budget shortens a sweep and never lengthens it; every variant gives the same bits.
static void limited_sweep_is_a_prefix_of_the_unlimited_one(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 48, 24, &mesh));
	tac_body *torus = build(mesh);
	static tac_round_context context;
	tac_rng rng = tac_rng_seed(45, 1);
	int shorter = 0, far = 0;
	for (int i = 0; i < test_rounds(600); i++) {
		tac_round tool = {.radius = tac_rng_range_f64(&rng, 0.001, 0.05)};
		tool.a = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.6 * tac_rng_f64(&rng));
		tool.b = i % 3 ? tac_dvec3_add_scaled(tool.a, 0.2, tac_rng_unit_f64(&rng)) : tool.a;
		tac_dvec3 axis = tac_rng_unit_f64(&rng),
			  v = tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0, 0.5));
		double angle = tac_rng_range_f64(&rng, -3, 3);
		tac_sweep_options options = tac_sweep_options_default(), tight = options;
		tight.pair_limit = (int64_t)tac_rng_range_f64(&rng, 1, 80);
		torus->simd = TAC_SIMD_SCALAR;
		tac_sweep_result rotation = tac_round_rotate(&tool, torus, v, axis, angle, &options),
				 limited_rotation = tac_round_rotate(&tool, torus, v, axis, angle, &tight),
				 translation = tac_round_translate(&tool, torus, v, &options, NULL),
				 limited_translation = tac_round_translate(&tool, torus, v, &tight, &context);
		const tac_sweep_result *complete[2] = {&rotation, &translation},
				       *shortened[2] = {&limited_rotation, &limited_translation};
		for (int k = 0; k < 2; k++) {
			bool spent = shortened[k]->flags & TAC_SWEEP_BUDGET_SPENT;
			TEST_ASSERT_TRUE(shortened[k]->fraction <= complete[k]->fraction);
			TEST_ASSERT_TRUE(spent || shortened[k]->fraction == complete[k]->fraction);
			TEST_ASSERT_TRUE(shortened[k]->pairs <= tight.pair_limit + 1 || k == 1);
			shorter += spent;
			far += spent && shortened[k]->fraction > 0;
		}
		for (int32_t simd = 1; simd < TAC_SIMD_COUNT; simd++) {
			if (!tac_simd_supported((tac_simd)simd))
				continue;
			torus->simd = simd;
			tac_sweep_result again = tac_round_rotate(&tool, torus, v, axis, angle, &options);
			TEST_ASSERT_EQUAL_MEMORY(&rotation, &again, sizeof rotation);
			again = tac_round_rotate(&tool, torus, v, axis, angle, &tight);
			TEST_ASSERT_EQUAL_MEMORY(&limited_rotation, &again, sizeof rotation);
			again = tac_round_translate(&tool, torus, v, &options, NULL);
			TEST_ASSERT_EQUAL_MEMORY(&translation, &again, sizeof translation);
		}
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(100), shorter);
	TEST_ASSERT_GREATER_THAN(test_rounds(30), far);
	tac_body_destroy(&torus);
	tac_mesh_destroy(&mesh);
}

// A ball in the middle of a hollow ball: all triangles are equally near. Space that was not examined does not
// count as free.
static void too_many_triangles_lower_the_margin_and_shorten_the_sweep(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.1f, 5, &mesh));
	TEST_ASSERT_GREATER_THAN(TAC_ROUND_TRIANGLES_MAX, mesh->triangle_count);
	tac_body *hollow = build(mesh);
	tac_sweep_options options = tac_sweep_options_default();
	static tac_round_context context;
	static tac_contacts contacts;
	tac_round ball = {vec(0, 0, 0), vec(0, 0, 0), 0.095};
	tac_contacts_round(&ball, hollow, 0.02, &context, &contacts);
	TEST_ASSERT_TRUE(contacts.margin < 0.0052 && contacts.margin >= 0.0025);
	TEST_ASSERT_TRUE(contacts.distance <= contacts.margin);
	// Closer to one side all of the margin is covered.
	ball.a = ball.b = vec(0.0045, 0, 0);
	tac_contacts_round(&ball, hollow, 0.0008, &context, &contacts);
	TEST_ASSERT_TRUE(contacts.margin == 0.0008 && contacts.count > 0);
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, 0.0005, contacts.distance);
	// A path on which all triangles come near.
	ball = (tac_round){vec(0.2, 0, 0), vec(0.2, 0, 0), 0.09};
	tac_dvec3 v = vec(-0.4, 0, 0);
	double free = tac_round_translate(&ball, hollow, v, &options, NULL).fraction;
	tac_sweep_result r = tac_round_translate(&ball, hollow, v, &options, &context);
	TEST_ASSERT_TRUE(r.fraction <= free);
	TEST_ASSERT_TRUE(r.fraction == free || (r.flags & TAC_SWEEP_BUDGET_SPENT));
	tac_round inside = {vec(0, 0, 0), vec(0, 0, 0), 0.09999};
	free = tac_round_translate(&inside, hollow, vec(1e-5, 0, 0), &options, NULL).fraction;
	r = tac_round_translate(&inside, hollow, vec(1e-5, 0, 0), &options, &context);
	TEST_ASSERT_TRUE(r.fraction == free);
	options.pair_limit = 1000;
	r = tac_round_translate(&inside, hollow, vec(1e-5, 0, 0), &options, &context);
	TEST_ASSERT_TRUE(r.fraction == 0 && (r.flags & TAC_SWEEP_BUDGET_SPENT));
	tac_body_destroy(&hollow);
	tac_mesh_destroy(&mesh);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(sphere_stops_before_a_face_an_edge_and_a_corner);
	RUN_TEST(tool_in_the_zone_may_slide_and_leave_but_not_approach);
	RUN_TEST(random_tools_stop_at_the_zone_and_nowhere_else);
	RUN_TEST(random_tools_rotate_up_to_the_zone);
	RUN_TEST(proved_part_of_a_combined_motion_is_free);
	RUN_TEST(near_triangles_are_listed_and_no_bound_exceeds_a_distance);
	RUN_TEST(culling_keeps_every_feature_beside_the_core_in_each_variant);
	RUN_TEST(results_do_not_depend_on_the_context_or_the_variant);
	RUN_TEST(triangles_near_a_path_are_visited_in_the_same_order_by_every_variant);
	RUN_TEST(limited_sweep_is_a_prefix_of_the_unlimited_one);
	RUN_TEST(too_many_triangles_lower_the_margin_and_shorten_the_sweep);
	return UNITY_END();
}
