// The field against closed forms: volumes of what is carved (D01, D02), distances of known bodies, and points
// that lie on the exact surface.
#include "base/log.h"
#include "base/rng.h"
#include "collision/mesh_shapes.h"
#include "collision/solid.h"
#include "tests/support/allocations.h"
#include "tests/support/limits.h"
#include "tissue/field.h"
#include "tissue/field/bricks.h"
#include "unity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define MM 1e-3

static tac_field_points *points;

void setUp(void)
{
	points = malloc(sizeof *points);
}

void tearDown(void)
{
	free(points);
}

static void quiet(void *user, tac_log_level level, const char *message)
{
	(void)level;
	strncpy(user, message, 255);
}

static tac_field *field_of(tac_mesh *mesh, double voxel_m)
{
	const tac_field_def def = {.name = "body", .mesh = mesh, .voxel_m = voxel_m};
	tac_field *f;
	TEST_ASSERT_EQUAL(TAC_OK, tac_field_build(&def, &f));
	tac_mesh_destroy(&mesh);
	return f;
}

static tac_field *block(double x, double y, double z, double voxel_m)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make((float)x, (float)y, (float)z), 1, &mesh));
	return field_of(mesh, voxel_m);
}

// The points around a burr, found anew.
static void gather(const tac_field *f, const tac_burr *burr, double reach_m)
{
	tac_field_cache *cache;
	TEST_ASSERT_EQUAL(TAC_OK, tac_field_cache_create(f, &cache));
	tac_field_gather(f, cache, burr, reach_m, INT64_MAX, points);
	tac_field_cache_destroy(&cache);
}

static double total(const tac_field_removed *r)
{
	double sum = 0;
	for (int i = 0; i < TAC_FIELD_LABELS; i++)
		sum += r->volume_m3[i];
	return sum;
}

static double carve_ball(tac_field *f, tac_dvec3 a, tac_dvec3 b, double r)
{
	const tac_burr burr = {TAC_BURR_ROUND, a, b, r};
	const tac_field_edit edit = tac_field_edit_make(&burr);
	tac_field_removed removed = {0};
	TEST_ASSERT_TRUE(tac_field_carve(f, &edit, &removed));
	return total(&removed);
}

// ---- D01, D02 ----

static void volume_of_a_carved_ball_is_the_closed_form(void)
{
	const double r = 1 * MM, h = 0.1 * MM;
	const double expected = 4.0 / 3 * PI * r * r * r * (1 + pow(h / (2 * r), 2));
	tac_field *f = block(4 * MM, 4 * MM, 4 * MM, h);
	tac_rng rng = tac_rng_seed(1, 2);
	for (int i = 0; i < 200; i++) {
		tac_field *copy;
		TEST_ASSERT_EQUAL(TAC_OK, tac_field_copy(f, &copy));
		const tac_dvec3 c = tac_dvec3_make(tac_rng_range_f64(&rng, -0.5 * MM, 0.5 * MM),
						   tac_rng_range_f64(&rng, -0.5 * MM, 0.5 * MM),
						   tac_rng_range_f64(&rng, -0.5 * MM, 0.5 * MM));
		const double before = tac_field_volume_m3(copy, 0), removed = carve_ball(copy, c, c, r);
		TEST_ASSERT_DOUBLE_WITHIN(0.0015 * expected, expected, removed);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9 * before, before - removed, tac_field_volume_m3(copy, 0));
		tac_field_destroy(&copy);
	}
	tac_field_destroy(&f);
}

static void volume_of_a_slot_in_many_edits_is_the_closed_form(void)
{
	const double r = 1 * MM, h = 0.1 * MM;
	tac_field *f = block(9 * MM, 8 * MM, 6 * MM, h);
	const tac_dvec3 a = tac_dvec3_make(-2 * MM, -1 * MM, -0.3 * MM),
			b = tac_dvec3_make(2 * MM, 1.3 * MM, 0.4 * MM);
	const double length = tac_dvec3_length(tac_dvec3_sub(b, a));
	// The smeared surface makes a cylinder larger by the factor 1 + (h / r)^2 / 12, a ball as above.
	const double expected = PI * r * r * length * (1 + h * h / (12 * r * r)) +
				4.0 / 3 * PI * r * r * r * (1 + h * h / (4 * r * r));
	double sum = 0;
	for (int i = 0; i < 200; i++)
		sum += carve_ball(f, tac_dvec3_lerp(a, b, i / 200.0), tac_dvec3_lerp(a, b, (i + 1) / 200.0),
				  r);
	TEST_ASSERT_DOUBLE_WITHIN(0.002 * expected, expected, sum);
	tac_field_destroy(&f);
}

static void volume_of_a_carved_cylinder_is_the_closed_form(void)
{
	const double r = 1 * MM, h = 0.1 * MM, length = 3 * MM;
	tac_field *f = block(6 * MM, 6 * MM, 6 * MM, h);
	tac_rng rng = tac_rng_seed(4, 2);
	for (int i = 0; i < 20; i++) {
		tac_field *copy;
		TEST_ASSERT_EQUAL(TAC_OK, tac_field_copy(f, &copy));
		const tac_dvec3 half = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.5 * length);
		const tac_burr burr = {TAC_BURR_CYLINDER, tac_dvec3_scale(half, -1), half, r};
		const tac_field_edit edit = tac_field_edit_make(&burr);
		tac_field_removed removed = {0};
		TEST_ASSERT_TRUE(tac_field_carve(copy, &edit, &removed));
		TEST_ASSERT_DOUBLE_WITHIN(0.003 * PI * r * r * length, PI * r * r * length, total(&removed));
		tac_field_destroy(&copy);
	}
	tac_field_destroy(&f);
}

// ---- the field of a mesh ----

static void field_of_a_ball_has_its_distances_and_its_volume(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(3e-3F, 5, &mesh));
	const double volume = tac_mesh_volume(mesh), h = 0.15 * MM;
	tac_field *f = field_of(mesh, h);
	TEST_ASSERT_DOUBLE_WITHIN(0.003 * volume, volume, tac_field_volume_m3(f, 0));
	tac_rng rng = tac_rng_seed(2, 2);
	for (int i = 0; i < 1000; i++) {
		const double r = tac_rng_range_f64(&rng, 0, 5 * MM);
		const tac_dvec3 p = tac_dvec3_scale(tac_rng_unit_f64(&rng), r);
		const double exact = fmin(fmax(r - 3 * MM, -2 * h), 2 * h);
		// The mesh lies up to 2 µm inside the ball; interpolation bends by h^2 / 8r, and near the
		// clamp by up to a quarter of a voxel.
		const double kink = fabs(r - 3 * MM) > 1.2 * h && fabs(r - 3 * MM) < 3.8 * h ? 0.3 * h : 0;
		TEST_ASSERT_DOUBLE_WITHIN(5e-6 + kink, exact, tac_field_sample(f, p));
		TEST_ASSERT_TRUE(tac_field_clearance(f, p) <= fmax(r - 3 * MM, 0) + 3e-6);
	}
	TEST_ASSERT_TRUE(tac_field_clearance(f, tac_dvec3_make(0.1, 0, 0)) > 0.09);
	tac_field_destroy(&f);
}

// Every kind of shape that a scene can be made of: the volume of the field is the mesh's.
static void fields_of_concave_and_joined_shapes_have_their_volumes(void)
{
	tac_mesh *torus, *solids, *peg;
	tac_solids parsed;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(4e-3F, 1.5e-3F, 48, 24, &torus));
	TEST_ASSERT_EQUAL(
		TAC_OK,
		tac_solids_parse("sphere:r=0.002,x=-0.004+cone:rb=0.003,rt=0.001,h=0.004,x=0.003", &parsed));
	TEST_ASSERT_EQUAL(TAC_OK, tac_solids_build_mesh(&parsed, 48, &solids));
	tac_mesh_peg_def def = tac_mesh_peg_def_default();
	def.peg_radius = 2e-3F;
	def.peg_length = 8e-3F;
	def.block_size = 10e-3F;
	def.block_height = 5e-3F;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_block(&def, &peg));
	tac_mesh *const all[] = {torus, solids, peg};
	for (int i = 0; i < 3; i++) {
		const double volume = tac_mesh_volume(all[i]);
		tac_field *f = field_of(all[i], 0.15 * MM);
		TEST_ASSERT_DOUBLE_WITHIN(0.01 * volume, volume, tac_field_volume_m3(f, 0));
		tac_field_destroy(&f);
	}
}

static uint8_t shell(const void *user, tac_dvec3 point_m, double depth_m)
{
	const double thickness = *(const double *)user;
	return point_m.x > 0 ? 2 : depth_m > thickness;
}

static void labels_follow_depth_and_place(void)
{
	const double thickness = 1 * MM, r = 4 * MM;
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere((float)r, 5, &mesh));
	const tac_field_def def = {"ball", mesh, 0.1 * MM, 0, shell, &thickness};
	tac_field *f;
	TEST_ASSERT_EQUAL(TAC_OK, tac_field_build(&def, &f));
	tac_mesh_destroy(&mesh);
	// Nodes lie at x = 0 and belong to the lower half, so the border is half a voxel above.
	const double x = 0.05 * MM, inner = r - thickness;
	const double half = 2.0 / 3 * PI * pow(r, 3), lower = half + PI * (r * r * x - x * x * x / 3);
	const double core = 2.0 / 3 * PI * pow(inner, 3) + PI * (inner * inner * x - x * x * x / 3);
	TEST_ASSERT_DOUBLE_WITHIN(0.01 * lower, lower - core, tac_field_volume_m3(f, 0));
	TEST_ASSERT_DOUBLE_WITHIN(0.01 * core, core, tac_field_volume_m3(f, 1));
	TEST_ASSERT_DOUBLE_WITHIN(0.01 * half, 2 * half - lower, tac_field_volume_m3(f, 2));
	TEST_ASSERT_EQUAL(1, tac_field_label(f, tac_dvec3_make(-2 * MM, 0.3 * MM, 0)));
	TEST_ASSERT_EQUAL(0, tac_field_label(f, tac_dvec3_make(-3.5 * MM, 0.3 * MM, 0)));
	TEST_ASSERT_EQUAL(2, tac_field_label(f, tac_dvec3_make(2 * MM, 0.3 * MM, 0)));
	tac_field_removed removed = {0};
	const tac_burr burr = {TAC_BURR_ROUND, {-2 * MM, 0, 0}, {-2 * MM, 0, 0}, 0.5 * MM};
	const tac_field_edit edit = tac_field_edit_make(&burr);
	TEST_ASSERT_TRUE(tac_field_carve(f, &edit, &removed));
	TEST_ASSERT_EQUAL_DOUBLE(0, removed.volume_m3[0]);
	TEST_ASSERT_EQUAL_DOUBLE(0, removed.volume_m3[2]);
	TEST_ASSERT_DOUBLE_WITHIN(0.02 * 0.53e-9, 4.0 / 3 * PI * 0.125e-9 * 1.01, removed.volume_m3[1]);
	tac_field_destroy(&f);
}

static void bodies_that_cannot_be_drilled_are_refused_with_one_line(void)
{
	char line[256] = "";
	tac_mesh *open, *overlap, *box;
	tac_field *f;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(0.01F, 0.01F, 2, 2, &open));
	tac_solids parsed;
	tac_solids_parse("sphere:r=0.002+sphere:r=0.002,x=0.001", &parsed);
	TEST_ASSERT_EQUAL(TAC_OK, tac_solids_build_mesh(&parsed, 24, &overlap));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.01F, 0.01F, 0.01F), 1, &box));
	tac_log_set(quiet, line);
	const tac_field_def sheet = {.name = "sheet", .mesh = open, .voxel_m = 1e-4};
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_field_build(&sheet, &f));
	TEST_ASSERT_NULL(f);
	TEST_ASSERT_NOT_NULL(strstr(line, "sheet: expected a closed mesh"));
	const tac_field_def two = {.name = "two", .mesh = overlap, .voxel_m = 2e-4};
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_field_build(&two, &f));
	TEST_ASSERT_NOT_NULL(strstr(line, "two: expected shapes that do not overlap"));
	const tac_field_def fine = {.name = "fine", .mesh = box, .voxel_m = 1e-6};
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_field_build(&fine, &f));
	TEST_ASSERT_NOT_NULL(strstr(line, "fine: expected voxels that fill its box"));
	const tac_field_def few = {.name = "few", .mesh = box, .voxel_m = 2e-4, .max_bricks = 10};
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_field_build(&few, &f));
	TEST_ASSERT_NOT_NULL(strstr(line, "few: expected room for the"));
	tac_log_set(NULL, NULL);
	tac_mesh_destroy(&open);
	tac_mesh_destroy(&overlap);
	tac_mesh_destroy(&box);
}

// ---- pool ----

static void empty_pool_refuses_an_edit_and_changes_nothing(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.01F, 0.01F, 0.01F), 1, &mesh));
	tac_field_def def = {.name = "block", .mesh = mesh, .voxel_m = 1e-4};
	tac_field *f;
	TEST_ASSERT_EQUAL(TAC_OK, tac_field_build(&def, &f));
	def.max_bricks = tac_field_size_of(f).stored + 3;
	tac_field_destroy(&f);
	TEST_ASSERT_EQUAL(TAC_OK, tac_field_build(&def, &f));
	tac_mesh_destroy(&mesh);
	const uint64_t hash = tac_field_hash(f);
	const double volume = tac_field_volume_m3(f, 0);
	const tac_burr burr = {TAC_BURR_ROUND, {0, 0, 0}, {0, 0, 0}, 1e-3};
	const tac_field_edit edit = tac_field_edit_make(&burr);
	tac_field_removed removed = {0};
	TEST_ASSERT_TRUE(tac_field_may_be_full(f));
	TEST_ASSERT_FALSE(tac_field_carve(f, &edit, &removed));
	TEST_ASSERT_EQUAL_HEX64(hash, tac_field_hash(f));
	TEST_ASSERT_EQUAL_DOUBLE(volume, tac_field_volume_m3(f, 0));
	TEST_ASSERT_EQUAL_DOUBLE(0, total(&removed));
	tac_field_destroy(&f);
}

static void carving_allocates_nothing(void)
{
	tac_field *f = block(6 * MM, 6 * MM, 6 * MM, 0.1 * MM);
	const tac_dvec3 a = tac_dvec3_make(0, 0, 3 * MM), b = tac_dvec3_make(0, 0.2 * MM, -1 * MM);
	const tac_burr burr = {TAC_BURR_ROUND, b, b, 1 * MM};
	tac_field_cache *cache;
	TEST_ASSERT_EQUAL(TAC_OK, tac_field_cache_create(f, &cache));
	allocations = 0;
	carve_ball(f, a, b, 1 * MM);
	tac_field_gather(f, cache, &burr, 0.2 * MM, INT64_MAX, points);
	TEST_ASSERT_TRUE(points->complete && points->count > 1000);
	tac_field_gather_inside(f, &burr, 0.2 * MM, points);
	TEST_ASSERT_TRUE(points->complete && points->count > 1000);
	TEST_ASSERT_EQUAL(0, allocations);
	tac_field_cache_destroy(&cache);
	tac_field_destroy(&f);
}

// ---- points ----

// How far a point is from the surface of a block z < top from which a ball and a second one were removed:
// positive outside the material.
static double outside_block(tac_dvec3 p, const tac_dvec3 *balls, int count, double r, double top)
{
	double d = p.z - top;
	for (int i = 0; i < count; i++)
		d = fmax(d, r - tac_dvec3_length(tac_dvec3_sub(p, balls[i])));
	return d;
}

static tac_dvec3 point_at(const tac_field_points *p, int32_t i)
{
	return tac_dvec3_add(p->centre, tac_dvec3_make((double)p->x[i], (double)p->y[i], (double)p->z[i]));
}

// Two holes that meet the surface and each other: all points lie on what remains, and none is missing: every
// place of the exact surface near the holes, edges included, has a point within a voxel.
static void points_lie_on_what_remains_and_cover_it(void)
{
	const double h = 0.1 * MM, r = 1 * MM;
	tac_field *f = block(8 * MM, 8 * MM, 4 * MM, h);
	const tac_dvec3 balls[2] = {{0.13 * MM, 0.07 * MM, 1.61 * MM}, {1.33 * MM, 0.41 * MM, 1.77 * MM}};
	for (int i = 0; i < 2; i++)
		carve_ball(f, balls[i], balls[i], r);
	const tac_burr around = {TAC_BURR_ROUND, balls[0], balls[0], 3 * MM};
	gather(f, &around, 0);
	TEST_ASSERT_TRUE(points->complete);
	int off = 0;
	for (int32_t i = 0; i < points->count; i++) {
		const double d = outside_block(point_at(points, i), balls, 2, r, 2 * MM);
		TEST_ASSERT_DOUBLE_WITHIN(0.04 * h, 0, d); // near edges planes stand for spheres
		off += fabs(d) > 0.01 * h;
	}
	TEST_ASSERT_LESS_THAN(points->count / 20, off);
	tac_rng rng = tac_rng_seed(3, 3);
	double worst = 0, worst_edge = 0;
	for (int i = 0; i < 2000; i++) {
		// A point of the wall of a hole, or of the edge where the first hole meets the block's top.
		const bool edge = i % 4 == 0;
		const tac_dvec3 c = balls[edge ? 0 : i % 2];
		const double rise = 2 * MM - c.z, phi = tac_rng_range_f64(&rng, 0, 2 * PI);
		const double rho = sqrt(r * r - rise * rise);
		const tac_dvec3 p =
			tac_dvec3_add(c, edge ? tac_dvec3_make(rho * cos(phi), rho * sin(phi), rise)
					      : tac_dvec3_scale(tac_rng_unit_f64(&rng), r));
		if (fabs(outside_block(p, balls, 2, r, 2 * MM)) > 1e-9)
			continue; // the other hole or the block's end took it
		double nearest = HUGE_VAL;
		for (int32_t k = 0; k < points->count; k++)
			nearest = fmin(nearest, tac_dvec3_length(tac_dvec3_sub(point_at(points, k), p)));
		if (edge)
			worst_edge = fmax(worst_edge, nearest);
		else
			worst = fmax(worst, nearest);
	}
	TEST_ASSERT_TRUE(worst > 0 && worst < 0.75 * h);
	TEST_ASSERT_TRUE(worst_edge > 0 && worst_edge < h);
	tac_field_destroy(&f);
}

static void thin_walls_between_two_holes_keep_their_points(void)
{
	const double h = 0.1 * MM, r = 1 * MM, wall = 0.3 * h;
	tac_field *f = block(8 * MM, 8 * MM, 6 * MM, h);
	const tac_dvec3 left = tac_dvec3_make(-r - wall / 2 + 0.023 * MM, 0, 0),
			right = tac_dvec3_make(r + wall / 2 + 0.023 * MM, 0, 0);
	carve_ball(f, left, left, r);
	carve_ball(f, right, right, r);
	const tac_burr at = {TAC_BURR_ROUND, {0.023 * MM, 0, 0}, {0.023 * MM, 0, 0}, 0.1 * MM};
	gather(f, &at, 0.2 * MM);
	int on_left = 0, on_right = 0;
	for (int32_t i = 0; i < points->count; i++) {
		const tac_dvec3 p = point_at(points, i);
		on_left += fabs(tac_dvec3_length(tac_dvec3_sub(p, left)) - r) < 1e-8;
		on_right += fabs(tac_dvec3_length(tac_dvec3_sub(p, right)) - r) < 1e-8;
	}
	TEST_ASSERT_GREATER_THAN(4, on_left + on_right);
	tac_field_destroy(&f);
}

static void distances_of_points_are_the_burrs(void)
{
	tac_field *f = block(6 * MM, 6 * MM, 4 * MM, 0.15 * MM);
	const tac_burr big = {TAC_BURR_ROUND, {0, 0, 2 * MM}, {0, 0, 2 * MM}, 2 * MM};
	gather(f, &big, 0.5 * MM);
	static float distance[TAC_FIELD_POINTS], key[TAC_FIELD_POINTS];
	static int32_t bin[TAC_FIELD_POINTS];
	tac_rng rng = tac_rng_seed(4, 4);
	for (int i = 0; i < 30; i++) {
		const tac_dvec3 a = tac_dvec3_scale(tac_rng_unit_f64(&rng), 2 * MM);
		const double length = i % 3 == 0 ? 0 : 1.5 * MM;
		const tac_burr burr = {i % 3 == 2 ? TAC_BURR_CYLINDER : TAC_BURR_ROUND, a,
				       tac_dvec3_add_scaled(a, length, tac_rng_unit_f64(&rng)), 0.8 * MM};
		const tac_dvec3 feed = tac_dvec3_scale(tac_rng_unit_f64(&rng), 1e-5);
		tac_field_points_distances(f, points, &burr, distance);
		tac_field_points_bin(f, points, &burr, feed, 6, key, bin);
		const double error = tac_field_points_error(&burr, 6 * MM);
		TEST_ASSERT_TRUE(error < 2e-8);
		for (int32_t k = 0; k < points->count; k++) {
			tac_dvec3 n;
			const double d = tac_burr_distance(&burr, point_at(points, k), &n);
			const double along = fmax(tac_dvec3_dot(n, feed), 0);
			TEST_ASSERT_DOUBLE_WITHIN(error, d, (double)distance[k]);
			TEST_ASSERT_TRUE(bin[k] >= 0 && bin[k] < 6 * 36);
			if (d > 1e-6) // the direction is unique
				TEST_ASSERT_DOUBLE_WITHIN(error + 1e-8, d + along, (double)key[k]);
		}
	}
	tac_field_destroy(&f);
}

// The least gap of a point on a motion, by many samples of the true path.
static double least_gap(const tac_field_passage *g, tac_dvec3 v, tac_dvec3 w, tac_dvec3 p, double *out_first)
{
	double least = HUGE_VAL, allowed = 0;
	for (int k = 0; k <= 100; k++) {
		const double s = k / 100.0;
		const tac_dpose at = tac_dpose_make(
			tac_dvec3_add_scaled(g->start.position, s, v),
			tac_dquat_mul(tac_dquat_exp(tac_dvec3_scale(w, s)), g->start.rotation));
		const tac_burr burr = tac_burr_place(&g->burr, at);
		tac_dvec3 n;
		const double d = tac_burr_distance(&burr, p, &n);
		if (k == 0)
			allowed = g->allowed_m + fmax(tac_dvec3_dot(n, g->advance_m), 0);
		if (k == 0)
			*out_first = d + allowed;
		least = fmin(least, d + allowed);
	}
	return least;
}

// Every point that comes too close on a motion is among the doubted ones, and most that do not are not.
static void points_that_come_too_close_are_doubted(void)
{
	tac_field *f = block(6 * MM, 6 * MM, 4 * MM, 0.2 * MM);
	const tac_burr all = {TAC_BURR_ROUND, {0, 0, 2 * MM}, {0, 0, 2 * MM}, 2 * MM};
	gather(f, &all, 0.5 * MM);
	static int32_t index[TAC_FIELD_POINTS];
	tac_rng rng = tac_rng_seed(6, (uint64_t)from_environment("TACTUS_SEED", 6));
	int too_close = 0, doubted = 0, near = 0;
	for (int i = 0; i < test_rounds(400); i++) {
		const bool turns = i & 1;
		const double length = i % 3 == 0 ? 0 : 1 * MM,
			     way = pow(10, tac_rng_range_f64(&rng, -7, -3.7));
		const double turn = turns ? tac_rng_range_f64(&rng, 0, 0.03) : 0, reach = length + 0.8 * MM;
		const tac_dvec3 v = tac_dvec3_scale(tac_rng_unit_f64(&rng), way);
		const tac_dvec3 w = tac_dvec3_scale(tac_rng_unit_f64(&rng), turn);
		tac_field_passage g = {
			.burr = {i % 3 == 2 ? TAC_BURR_CYLINDER : TAC_BURR_ROUND,
				 {0},
				 {0, 0, length},
				 0.8 * MM},
			.start = {{0, 0, 2.8 * MM + tac_rng_range_f64(&rng, -0.01, 0.01) * MM},
				  tac_dquat_exp(tac_dvec3_scale(tac_rng_unit_f64(&rng), turns ? 0.5 : 0))},
			.keep_m = 8e-6,
			.creep_m = 1e-12,
			.allowed_m = 1e-5,
			.advance_m = tac_dvec3_scale(tac_rng_unit_f64(&rng), 1e-6),
		};
		if (g.burr.kind == TAC_BURR_CYLINDER && !turns)
			g.start.position.z -= 0.8 * MM; // it stands on its end
		g.end = tac_dpose_make(tac_dvec3_add(g.start.position, v),
				       tac_dquat_mul(tac_dquat_exp(w), g.start.rotation));
		g.reach_m = way + turn * reach + g.keep_m;
		g.bend_m = (turn * turn * (reach + g.reach_m + way) + 2 * turn * way) / 8;
		const int32_t count = tac_field_points_doubted(f, points, &g, index);
		int32_t at = 0;
		for (int32_t k = 0; k < points->count; k++) {
			const bool in = at < count && index[at] == k;
			at += in;
			double first;
			const double least = least_gap(&g, v, w, point_at(points, k), &first);
			const bool fails = least < fmin(g.keep_m, first - g.creep_m);
			TEST_ASSERT_TRUE(in || !fails);
			too_close += fails;
			doubted += in;
			near += first < g.reach_m + g.allowed_m;
		}
		TEST_ASSERT_EQUAL(count, at);
	}
	printf("%d of %d points near a burr come too close, %d are doubted\n", too_close, near, doubted);
	TEST_ASSERT_TRUE(too_close > 100 && doubted < 3 * too_close + near / 3);
	tac_field_destroy(&f);
}

static uint64_t hash_of_points(void)
{
	uint64_t hash = 0;
	for (int32_t k = 0; k < points->count; k++) {
		const float value[6] = {points->x[k],    points->y[k],    points->z[k],
					points->up_x[k], points->up_y[k], points->up_z[k]};
		for (int i = 0; i < 6; i++) {
			uint32_t bits;
			memcpy(&bits, &value[i], 4);
			hash = hash * 31 + bits;
		}
		hash = hash * 31 + (uint64_t)points->node[k] + points->label[k];
	}
	return hash;
}

// What a cache has seen before changes nothing but the work: after every edit it gives what a new one gives,
// and with little work at a time it gets there in steps.
static void cache_gives_what_is_there_now(void)
{
	tac_field *f = block(6 * MM, 6 * MM, 4 * MM, 0.1 * MM);
	tac_field_cache *old;
	TEST_ASSERT_EQUAL(TAC_OK, tac_field_cache_create(f, &old));
	tac_rng rng = tac_rng_seed(8, 8);
	int64_t work_new = 0, work_old = 0;
	int steps = 0;
	for (int i = 0; i < test_rounds(60); i++) {
		const tac_dvec3 at = tac_dvec3_make(tac_rng_range_f64(&rng, -2 * MM, 2 * MM),
						    tac_rng_range_f64(&rng, -2 * MM, 2 * MM), 2 * MM);
		if (i % 3 == 0)
			carve_ball(f, at, tac_dvec3_add_scaled(at, 0.5 * MM, tac_rng_unit_f64(&rng)),
				   0.6 * MM);
		const tac_burr burr = {TAC_BURR_ROUND, at, at, i % 7 == 0 ? 1.3 * MM : 0.7 * MM};
		gather(f, &burr, 0.1 * MM);
		const uint64_t expected = hash_of_points();
		const int32_t count = points->count;
		work_new += points->examined;
		for (int k = 0; k == 0 || !points->complete; k++) {
			TEST_ASSERT_LESS_THAN(200, k);
			tac_field_gather(f, old, &burr, 0.1 * MM, 800, points);
			work_old += points->examined;
			steps += k > 0;
		}
		TEST_ASSERT_EQUAL(count, points->count);
		TEST_ASSERT_EQUAL_HEX64(expected, hash_of_points());
	}
	TEST_ASSERT_TRUE(steps > 0 && work_old < 4 * work_new);
	tac_field_cache_destroy(&old);
	tac_field_destroy(&f);
}

// The rows of each brick that the kernels visit, kept by every edit, are those that its nodes ask for.
static void rows_follow_every_edit(void)
{
	tac_field *f = block(6 * MM, 6 * MM, 4 * MM, 0.2 * MM);
	tac_rng rng = tac_rng_seed(10, 1);
	for (int i = 0; i < 40; i++) {
		const tac_dvec3 a = tac_dvec3_scale(tac_rng_unit_f64(&rng), 2.5 * MM);
		const tac_burr burr = {i % 2 ? TAC_BURR_CYLINDER : TAC_BURR_ROUND, a,
				       tac_dvec3_add_scaled(a, 0.6 * MM, tac_rng_unit_f64(&rng)), 0.7 * MM};
		const tac_field_edit edit = tac_field_edit_make(&burr);
		tac_field_removed removed = {0};
		// A burr that holds nothing removes nothing.
		const bool holds = tac_field_holds(f, &burr, 0);
		TEST_ASSERT_TRUE(tac_field_carve(f, &edit, &removed));
		TEST_ASSERT_TRUE(holds || total(&removed) == 0);
		TEST_ASSERT_FALSE(tac_field_holds(f, &burr, 1e-9));
	}
	for (int32_t entry = 0; entry < f->stored; entry++) {
		const tac_field_rows kept = f->rows[entry];
		tac_field_find_rows(f, entry);
		TEST_ASSERT_EQUAL_HEX64(f->rows[entry].near, kept.near);
		TEST_ASSERT_EQUAL_HEX64(f->rows[entry].left, kept.left);
	}
	tac_field_destroy(&f);
}

// ---- bits ----

static uint64_t drilled_hash(const char *simd, uint64_t *points_hash)
{
	setenv("TACTUS_SIMD", simd, 1);
	tac_field *f = block(6 * MM, 6 * MM, 4 * MM, 0.1 * MM);
	unsetenv("TACTUS_SIMD");
	tac_rng rng = tac_rng_seed(9, 9);
	tac_dvec3 at = tac_dvec3_make(0, 0, 3 * MM);
	*points_hash = 0;
	for (int i = 0; i < 60; i++) {
		const tac_dvec3 to = tac_dvec3_add_scaled(at, 0.4 * MM, tac_rng_unit_f64(&rng));
		tac_burr burr = {TAC_BURR_ROUND, at, to, 0.7 * MM};
		if (i % 3 == 0)
			burr.kind = TAC_BURR_CYLINDER;
		const tac_field_edit edit = tac_field_edit_make(&burr);
		tac_field_removed removed = {0};
		TEST_ASSERT_TRUE(tac_field_carve(f, &edit, &removed));
		gather(f, &burr, 0.1 * MM);
		*points_hash = *points_hash * 31 + hash_of_points();
		at = to.z > 2.5 * MM || fabs(to.x) > 2 * MM || fabs(to.y) > 2 * MM || to.z < -1 * MM
			     ? tac_dvec3_make(0, 0, 2 * MM)
			     : to;
	}
	const uint64_t hash = tac_field_hash(f);
	tac_field_destroy(&f);
	return hash;
}

static void every_simd_variant_gives_the_same_bits(void)
{
	uint64_t first_points, other_points;
	const uint64_t first = drilled_hash("scalar", &first_points);
	for (tac_simd simd = TAC_SIMD_SSE2; simd < TAC_SIMD_COUNT; simd++) {
		if (!tac_simd_supported(simd))
			continue;
		TEST_ASSERT_EQUAL_HEX64(first, drilled_hash(tac_simd_name(simd), &other_points));
		TEST_ASSERT_EQUAL_HEX64(first_points, other_points);
	}
}

// An edit in a hole removes nothing that a node knows: the distances are the same bits as after any other,
// and the points of the surface stay as they were.
static void unseen_edit_gives_the_same_bits_and_keeps_the_version(void)
{
	tac_field *f = block(6 * MM, 6 * MM, 6 * MM, 0.1 * MM), *copy;
	carve_ball(f, tac_dvec3_make(-0.5 * MM, 0, 0), tac_dvec3_make(-0.5 * MM, 0, 0), 1 * MM);
	carve_ball(f, tac_dvec3_make(0.5 * MM, 0, 0), tac_dvec3_make(0.5 * MM, 0, 0), 1 * MM);
	TEST_ASSERT_EQUAL(TAC_OK, tac_field_copy(f, &copy));
	const tac_burr between = {TAC_BURR_ROUND, {0, 0, 0}, {0, 0, 0}, 0.84 * MM}; // sqrt(1 - 1/4) is free
	const tac_field_edit edit = tac_field_edit_make(&between);
	const uint64_t version = tac_field_version(f), hash = tac_field_hash(f);
	TEST_ASSERT_FALSE(tac_field_holds(f, &between, 1e-8));
	tac_field_removed removed = {0};
	TEST_ASSERT_TRUE(tac_field_carve_unseen(f, &edit, 0, &removed));
	TEST_ASSERT_TRUE(tac_field_carve(copy, &edit, &removed));
	TEST_ASSERT_EQUAL_DOUBLE(0, total(&removed));
	TEST_ASSERT_EQUAL_UINT64(version, tac_field_version(f));
	TEST_ASSERT_TRUE(tac_field_hash(f) != hash);
	TEST_ASSERT_EQUAL_HEX64(tac_field_hash(copy), tac_field_hash(f));
	tac_field_destroy(&copy);
	tac_field_destroy(&f);
}

static void copies_stay_equal_to_the_bit(void)
{
	tac_field *f = block(6 * MM, 6 * MM, 4 * MM, 0.1 * MM), *copy;
	carve_ball(f, tac_dvec3_make(0, 0, 2 * MM), tac_dvec3_make(1 * MM, 0, 1 * MM), 0.5 * MM);
	TEST_ASSERT_EQUAL(TAC_OK, tac_field_copy(f, &copy));
	TEST_ASSERT_EQUAL_HEX64(tac_field_hash(f), tac_field_hash(copy));
	carve_ball(f, tac_dvec3_make(0, 0, 1 * MM), tac_dvec3_make(0, 1 * MM, 0), 0.5 * MM);
	TEST_ASSERT_TRUE(tac_field_hash(f) != tac_field_hash(copy));
	carve_ball(copy, tac_dvec3_make(0, 0, 1 * MM), tac_dvec3_make(0, 1 * MM, 0), 0.5 * MM);
	TEST_ASSERT_EQUAL_HEX64(tac_field_hash(f), tac_field_hash(copy));
	tac_field_destroy(&f);
	tac_field_destroy(&copy);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(volume_of_a_carved_ball_is_the_closed_form);
	RUN_TEST(volume_of_a_slot_in_many_edits_is_the_closed_form);
	RUN_TEST(volume_of_a_carved_cylinder_is_the_closed_form);
	RUN_TEST(field_of_a_ball_has_its_distances_and_its_volume);
	RUN_TEST(fields_of_concave_and_joined_shapes_have_their_volumes);
	RUN_TEST(labels_follow_depth_and_place);
	RUN_TEST(bodies_that_cannot_be_drilled_are_refused_with_one_line);
	RUN_TEST(empty_pool_refuses_an_edit_and_changes_nothing);
	RUN_TEST(carving_allocates_nothing);
	RUN_TEST(points_lie_on_what_remains_and_cover_it);
	RUN_TEST(thin_walls_between_two_holes_keep_their_points);
	RUN_TEST(distances_of_points_are_the_burrs);
	RUN_TEST(points_that_come_too_close_are_doubted);
	RUN_TEST(cache_gives_what_is_there_now);
	RUN_TEST(rows_follow_every_edit);
	RUN_TEST(every_simd_variant_gives_the_same_bits);
	RUN_TEST(unseen_edit_gives_the_same_bits_and_keeps_the_version);
	RUN_TEST(copies_stay_equal_to_the_bit);
	return UNITY_END();
}
