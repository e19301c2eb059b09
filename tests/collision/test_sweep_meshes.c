// Sweeps of whole meshes, judged by the static engine in exact mode: nothing intersects up to the stop, and
// the distance there is the zone. The meshes are awkward ones of all sizes, and the reference meshes where
// they are installed. By hand: TACTUS_MOTIONS=1000 TACTUS_SEED=7.
#include "base/rng.h"
#include "collision/collider.h"
#include "collision/continuous/body_tree.h"
#include "collision/distance.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "collision/sweep.h"
#include "tests/support/limits.h"
#include "tests/support/sweep_shapes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <unity.h>

typedef struct swept_mesh {
	const char *name;
	tac_mesh *mesh;
	tac_body *body;
	tac_shape *shape;
	tac_dvec3 middle; // of its box
	double size;      // radius about the middle, m
} swept_mesh;

static const tac_collider *engine;
static tac_context *query;
static tac_sweep_context *context;
static tac_rng rng;

void setUp(void)
{
}

void tearDown(void)
{
}

static swept_mesh swept_mesh_make(const char *name, tac_mesh *mesh)
{
	swept_mesh t = {.name = name, .mesh = mesh};
	tac_body_def def = tac_body_def_default();
	def.mesh = mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &t.body));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(engine, mesh, &t.shape));
	t.middle = tac_dvec3_from_vec3(t.body->centre);
	t.size = t.body->centre_radius;
	return t;
}

static void swept_mesh_free(swept_mesh *t)
{
	tac_body_destroy(&t->body);
	tac_shape_destroy(&t->shape);
	tac_mesh_destroy(&t->mesh);
}

static tac_rigid rigid_from_drigid(const tac_drigid *T)
{
	tac_rigid m;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			m.R.m[i][j] = (float)T->R.m[i][j];
	}
	m.t = tac_vec3_from_dvec3(T->t);
	return m;
}

static bool intersects(const swept_mesh *moving, const swept_mesh *fixed, const tac_drigid *T)
{
	tac_rigid m = rigid_from_drigid(T);
	tac_overlap answer = tac_collider_query(engine, query, moving->shape, fixed->shape, &m,
						TAC_QUERY_FIRST, (tac_budget){0, 0});
	TEST_ASSERT_NOT_EQUAL(TAC_OVERLAP_UNKNOWN, answer);
	return answer == TAC_OVERLAP_HIT;
}

static double distance(const swept_mesh *moving, const swept_mesh *fixed, const tac_drigid *T)
{
	tac_rigid m = rigid_from_drigid(T);
	tac_nearest nearest;
	tac_distance_nearest(query, moving->shape, fixed->shape, &m, INFINITY, (tac_budget){0, 0}, &nearest);
	return nearest.distance;
}

typedef struct motion {
	tac_drigid T;
	tac_dvec3 v, centre, axis;
	double angle;
	bool rotates;
} motion;

static tac_drigid pose_at(const motion *m, double s)
{
	return m->rotates ? tac_sweep_rotated(&m->T, m->centre, m->axis, m->angle, s)
			  : tac_sweep_translated(&m->T, m->v, s);
}

// A start without intersection, and a motion that usually leads to contact.
static motion random_motion(const swept_mesh *moving, const swept_mesh *fixed)
{
	for (;;) {
		double size = moving->size + fixed->size, far = size * tac_rng_range_f64(&rng, 0.3, 1.2);
		tac_dvec3 at = tac_dvec3_add_scaled(fixed->middle, far, tac_rng_unit_f64(&rng));
		motion m = {.T.R = tac_dmat3_from_quat(tac_rng_rotation_f64(&rng))};
		m.T.t = tac_dvec3_sub(at, tac_dmat3_apply(m.T.R, moving->middle));
		if (intersects(moving, fixed, &m.T))
			continue;
		m.rotates = tac_rng_below(&rng, 2);
		m.v = tac_dvec3_scale(tac_dvec3_sub(fixed->middle, at), tac_rng_range_f64(&rng, 0.1, 2));
		m.v = tac_dvec3_add_scaled(m.v, 0.3 * size, tac_rng_unit_f64(&rng));
		m.centre = tac_dvec3_add_scaled(at, size * tac_rng_f64(&rng), tac_rng_unit_f64(&rng));
		m.axis = tac_rng_unit_f64(&rng);
		m.angle = tac_rng_range_f64(&rng, -6, 6);
		return m;
	}
}

static void judge(const swept_mesh *moving, const swept_mesh *fixed, int count)
{
	// The static engine takes poses in single precision: the zone must be wider than their rounding.
	double extent = tac_body_radius(moving->body) + tac_body_radius(fixed->body);
	tac_sweep_options options = tac_sweep_options_default();
	options.zone = 2e-5 * extent;
	int stopped = 0;
	char text[160];
	for (int i = 0; i < count; i++) {
		motion m = random_motion(moving, fixed);
		tac_sweep_result r = m.rotates ? tac_sweep_rotate(moving->body, fixed->body, &m.T, m.centre,
								  m.axis, m.angle, &options, context)
					       : tac_sweep_translate(moving->body, fixed->body, &m.T, m.v,
								     &options, context);
		snprintf(text, sizeof text, "%s and %s, motion %d, fraction %.17g, flags %u", moving->name,
			 fixed->name, i, r.fraction, r.flags);
		TEST_ASSERT_FALSE_MESSAGE(r.flags & TAC_SWEEP_REFUSED, text);
		if (r.flags & TAC_SWEEP_START_HIT)
			continue; // the start is closer than the rounding of the static engine's pose
		for (int k = 1; k <= 8; k++) {
			tac_drigid T = pose_at(&m, r.fraction * k / 8);
			TEST_ASSERT_FALSE_MESSAGE(intersects(moving, fixed, &T), text);
		}
		if (r.fraction == 1)
			continue;
		stopped++;
		// The zone begins there, apart from the rounding of the pose; or the start was in it.
		tac_drigid T = pose_at(&m, r.fraction);
		TEST_ASSERT_TRUE_MESSAGE(distance(moving, fixed, &T) <= options.zone * 1.05, text);
	}
	snprintf(text, sizeof text, "%s and %s: %d motions, %d stopped", moving->name, fixed->name, count,
		 stopped);
	TEST_MESSAGE(text);
	TEST_ASSERT_GREATER_THAN(count / 20, stopped);
}

static void sweeps_of_awkward_meshes_stop_at_the_zone(void)
{
	tac_mesh *mesh;
	swept_mesh meshes[8];
	int n = 0, count = from_environment("TACTUS_MOTIONS", TAC_TEST_SANITIZED ? 10 : 60);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(1, 1, 12, 12, &mesh));
	meshes[n++] = swept_mesh_make("sheet", mesh);
	meshes[n++] = swept_mesh_make("needles", loose_soup(&rng, 120, true));
	meshes[n++] = swept_mesh_make("soup", loose_soup(&rng, 150, false));
	meshes[n++] = swept_mesh_make("book", book(16));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.6f, 0.2f, 30, 16, &mesh));
	meshes[n++] = swept_mesh_make("torus", mesh);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.5f, 3, &mesh));
	meshes[n++] = swept_mesh_make("ball far away", transformed(mesh, 1, 20));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.6f, 0.2f, 40, 20, &mesh));
	meshes[n++] = swept_mesh_make("small torus", transformed(mesh, 1e-3f, 0));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 1, 1e-3f), 3, &mesh));
	meshes[n++] = swept_mesh_make("large plate", transformed(mesh, 1e3f, 0));
	static const int pairs[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 4}, {1, 1},
				       {6, 6}, {7, 7}, {6, 3}, {4, 7}, {3, 0}, {2, 4}};
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		judge(&meshes[pairs[i][0]], &meshes[pairs[i][1]], count);
	for (int i = 0; i < n; i++)
		swept_mesh_free(&meshes[i]);
}

static void sweeps_of_reference_meshes_stop_at_the_zone(void)
{
	static const char *const names[][2] = {
		{"bunny", "dragon"}, {"dragon", "filter"}, {"bunny", "buddha"}, {"filter", "bunny"}};
	int count = from_environment("TACTUS_MOTIONS", TAC_TEST_SANITIZED ? 4 : 25);
	static const char *const files[] = {"bunny", "dragon", "filter", "buddha"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[512];
		snprintf(path, sizeof path, "%s/%s.off", TACTUS_MESHES, files[i]);
		if (access(path, R_OK) != 0)
			TEST_IGNORE_MESSAGE("no reference meshes here");
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		swept_mesh two[2];
		for (int k = 0; k < 2; k++) {
			char path[512];
			tac_mesh *mesh;
			snprintf(path, sizeof path, "%s/%s.off", TACTUS_MESHES, names[i][k]);
			TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_load(path, NULL, &mesh));
			two[k] = swept_mesh_make(names[i][k], mesh);
		}
		judge(&two[0], &two[1], count);
		swept_mesh_free(&two[0]);
		swept_mesh_free(&two[1]);
	}
}

int main(void)
{
	UNITY_BEGIN();
	rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 1), 50);
	engine = tac_collider_find("wide");
	tac_context_def def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &query));
	TEST_ASSERT_EQUAL(TAC_OK, tac_sweep_context_create(&context));
	RUN_TEST(sweeps_of_awkward_meshes_stop_at_the_zone);
	RUN_TEST(sweeps_of_reference_meshes_stop_at_the_zone);
	tac_sweep_context_destroy(&context);
	tac_context_destroy(&query);
	return UNITY_END();
}
