#include "collision/engines/solid_engine.h"
#include "collision/solid.h"

#include "base/rng.h"
#include "collision/geometry/primitives.h"
#include "collision/mesh_shapes.h"
#include "tests/support/logged.h"
#include "tests/support/shapes.h"

#include <string.h>
#include <unity.h>

static tac_context *context;

void setUp(void)
{
	tac_context_def def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &context));
}

void tearDown(void)
{
	tac_context_destroy(&context);
}

static tac_solids parsed(const char *text)
{
	tac_solids solids;
	TEST_ASSERT_TRUE_MESSAGE(tac_solids_is_description(text), text);
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_solids_parse(text, &solids), text);
	return solids;
}

static tac_shape *shape_of(const char *text)
{
	tac_solids solids = parsed(text);
	tac_shape *shape;
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build_solids(tac_solid_collider(), &solids, &shape));
	return shape;
}

// ---- the syntax ----

static void solids_are_read_from_a_text(void)
{
	tac_solids s = parsed("sphere:r=0.01");
	TEST_ASSERT_EQUAL(1, s.count);
	TEST_ASSERT_EQUAL(TAC_SOLID_SPHERE, s.solid[0].kind);
	TEST_ASSERT_EQUAL_DOUBLE(.01, s.solid[0].radius);

	s = parsed("cylinder:h=1e-1,r=0.01,x=1,y=-2,z=3,axis=x");
	TEST_ASSERT_EQUAL(TAC_SOLID_CYLINDER, s.solid[0].kind);
	TEST_ASSERT_EQUAL_DOUBLE(.1, s.solid[0].height);
	TEST_ASSERT_EQUAL_DOUBLE(-2, s.solid[0].position.y);
	tac_dvec3 axis = tac_dmat3_apply(s.solid[0].rotation, tac_dvec3_make(0, 0, 1));
	TEST_ASSERT_EQUAL_DOUBLE(1, axis.x);
	TEST_ASSERT_EQUAL_DOUBLE(1, tac_dmat3_det(s.solid[0].rotation));
	s = parsed("capsule:r=1,h=2,axis=y");
	axis = tac_dmat3_apply(s.solid[0].rotation, tac_dvec3_make(0, 0, 1));
	TEST_ASSERT_EQUAL_DOUBLE(1, axis.y);
	TEST_ASSERT_EQUAL_DOUBLE(1, tac_dmat3_det(s.solid[0].rotation));

	s = parsed("cylinder:r=0.002,h=0.04,z=0.02+cone:rb=0,rt=0.002,h=0.01,z=-0.005+toroid:R=0.02,r=0.01,"
		   "z1=0.005,concave");
	TEST_ASSERT_EQUAL(3, s.count);
	TEST_ASSERT_EQUAL(TAC_SOLID_CONE, s.solid[1].kind);
	TEST_ASSERT_EQUAL_DOUBLE(0, s.solid[1].radius);
	TEST_ASSERT_EQUAL_DOUBLE(.002, s.solid[1].top);
	TEST_ASSERT_TRUE(s.solid[2].concave);
	TEST_ASSERT_EQUAL_DOUBLE(.02, s.solid[2].radius);
	TEST_ASSERT_EQUAL_DOUBLE(.01, s.solid[2].minor);
	TEST_ASSERT_EQUAL_DOUBLE(-.01, s.solid[2].z_min);
	TEST_ASSERT_EQUAL_DOUBLE(.005, s.solid[2].z_max);
}

static void invalid_solids_are_refused_with_one_line(void)
{
	static const char *const bad[] = {
		"sphere:",
		"sphere:r",
		"sphere:r=",
		"sphere:r=0",
		"sphere:r=-1",
		"sphere:r=nan",
		"sphere:r=inf",
		"sphere:r=1x",
		"sphere:h=1",
		"sphere:r=1,",
		"sphere:r=1,q=2",
		"cube:r=1",
		"cylinder:r=1",
		"cone:rb=0,rt=0,h=1",
		"cone:rb=-1,rt=2,h=1",
		"toroid:R=1,r=2,concave",
		"toroid:R=1,r=0.5,z0=-0.6",
		"toroid:R=1,r=0.5,z0=0.1,z1=0.1",
		"sphere:r=1+",
		"+sphere:r=1",
		"sphere:r=1,axis=w",
		"sphere:r=1,concave",
		"sphere:r=1+cube:r=1",
		"",
		"sphere:r=1,x=nan",
		"sphere:r=1e+3",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tac_solids solids;
		logged_lines = 0;
		tac_log_set(keep_logged, NULL);
		TEST_ASSERT_EQUAL_MESSAGE(TAC_ERROR_FORMAT, tac_solids_parse(bad[i], &solids), bad[i]);
		TEST_ASSERT_EQUAL_MESSAGE(1, logged_lines, bad[i]);
		TEST_ASSERT_NOT_NULL(strstr(logged, "expected"));
		tac_log_set(NULL, NULL);
	}
	TEST_ASSERT_FALSE(tac_solids_is_description("meshes/sphere.obj"));
	TEST_ASSERT_FALSE(tac_solids_is_description("sphere"));
	TEST_ASSERT_FALSE(tac_solids_is_description("c:/sphere.obj"));
	char many[400] = "sphere:r=1";
	for (int i = 0; i < 16; i++)
		strcat(many, "+sphere:r=1");
	tac_solids solids;
	logged_lines = 0;
	tac_log_set(keep_logged, NULL);
	TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, tac_solids_parse(many, &solids));
	tac_log_set(NULL, NULL);
}

// ---- meshes of solids: closed, with the volume of the closed form ----

static void meshes_of_solids_have_their_volume(void)
{
	const double pi = 3.14159265358979323846;
	const struct {
		const char *text;
		double volume;
	} solids[] = {
		{"sphere:r=2,x=1", 4 * pi * 8 / 3},
		{"capsule:r=1,h=3,axis=x", pi * 3 + 4 * pi / 3},
		{"cylinder:r=2,h=3,axis=y", pi * 4 * 3},
		{"cone:rb=2,rt=1,h=3", pi * 3 * (4 + 2 + 1) / 3},
		{"cone:rb=0,rt=1,h=3", pi},
		// The integral of pi (R + sqrt(r^2 - z^2))^2 over -r … r, and with the minus sign.
		{"toroid:R=2,r=1", pi * (2 * 4 + 2 * pi * 2 / 2 * 1 + 4.0 / 3)},
		{"toroid:R=2,r=1,concave", pi * (2 * 4 - 2 * pi * 2 / 2 * 1 + 4.0 / 3)},
		{"toroid:R=0,r=1", 4 * pi / 3},
	};
	for (size_t i = 0; i < sizeof solids / sizeof *solids; i++) {
		tac_solids s = parsed(solids[i].text);
		tac_mesh *mesh;
		TEST_ASSERT_EQUAL(TAC_OK, tac_solids_build_mesh(&s, 200, &mesh));
		TEST_ASSERT_TRUE_MESSAGE(tac_mesh_is_watertight(mesh), solids[i].text);
		TEST_ASSERT_EQUAL(1, mesh->surface_count);
		TEST_ASSERT_EQUAL_STRING_LEN(solids[i].text, mesh->surfaces[0].name,
					     strlen(mesh->surfaces[0].name));
		double volume = tac_mesh_volume(mesh);
		if (fabs(volume - solids[i].volume) > 2e-3 * solids[i].volume)
			TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(solids[i].volume, volume, solids[i].text);
		tac_mesh_destroy(&mesh);
	}
}

// ---- queries ----

static const char *const probes[] = {
	"sphere:r=0.3",
	"capsule:r=0.15,h=0.5,axis=x,z=0.1",
	"cylinder:r=0.2,h=0.6,axis=y",
	"cone:rb=0.3,rt=0.05,h=0.5,x=-0.1",
	"toroid:R=0.2,r=0.15,z0=-0.1,z1=0.12",
	"toroid:R=0.3,r=0.25,z0=-0.2,z1=0.2,concave",
	"cylinder:r=0.05,h=0.6,z=0.3+cone:rb=0,rt=0.05,h=0.2,z=-0.1+sphere:r=0.1,z=0.6",
};
#define PROBES ((int)(sizeof probes / sizeof *probes))

// A reference for the test of a solid with a triangle, computed independently of the engine: the triangle is
// transformed to the solid's frame by one transposed rotation after the other.
static bool solid_meets(const tac_solid *s, const tac_rigid *motion, const tac_mesh *mesh, int32_t triangle,
			double eps)
{
	tac_dvec3 v[3];
	tac_dmat3 r = tac_dmat3_inverse(tac_dmat3_from_mat3(motion->R));
	for (int k = 0; k < 3; k++) {
		tac_dvec3 x = tac_dvec3_from_vec3(mesh->vertices[mesh->triangles[triangle].vertex[k]]);
		x = tac_dmat3_apply(r, tac_dvec3_sub(x, tac_dvec3_from_vec3(motion->t)));
		v[k] = tac_dmat3_transpose_apply(s->rotation, tac_dvec3_sub(x, s->position));
	}
	tac_triangle t = {v[0], v[1], v[2]};
	double h = s->height / 2;
	tac_dvec3 low = tac_dvec3_make(0, 0, -h), high = tac_dvec3_make(0, 0, h);
	tac_cylinder cylinder = {low, high, s->radius};
	tac_sphere a = {low, s->radius}, b = {high, s->radius}, ball = {tac_dvec3_zero(), s->radius};
	switch (s->kind) {
	case TAC_SOLID_SPHERE:
		return tac_sphere_meets_triangle(&ball, &t, eps, NULL);
	case TAC_SOLID_CAPSULE:
		return tac_sphere_meets_triangle(&a, &t, eps, NULL) ||
		       tac_sphere_meets_triangle(&b, &t, eps, NULL) ||
		       tac_cylinder_meets_triangle(&cylinder, &t, eps, NULL);
	case TAC_SOLID_CYLINDER:
		return tac_cylinder_meets_triangle(&cylinder, &t, eps, NULL);
	case TAC_SOLID_CONE: {
		tac_cone cone = {s->radius, s->top, s->height};
		t.a.z += h;
		t.b.z += h;
		t.c.z += h;
		return tac_cone_meets_triangle(&cone, &t, eps, NULL);
	}
	default: {
		tac_toroid toroid = {s->radius, s->minor, s->z_min, s->z_max, s->concave};
		return tac_toroid_meets_triangle(&toroid, &t, eps, NULL);
	}
	}
}

static void a_solid_against_a_mesh_equals_brute_force_over_its_triangles(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1, .3f, 40, 20, &mesh));
	const tac_collider *c = tac_collider_find("solid");
	TEST_ASSERT_TRUE(c == tac_solid_collider());
	tac_shape *fixed;
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(c, mesh, &fixed));
	static unsigned char hit[TAC_SOLIDS_MAX][2000];
	TEST_ASSERT_TRUE(mesh->triangle_count <= 2000);
	tac_rng rng = tac_rng_seed(1, 0);
	int hits = 0, queries = 0;
	for (int p = 0; p < PROBES; p++) {
		tac_solids solids = parsed(probes[p]);
		tac_shape *probe = shape_of(probes[p]);
		for (int i = 0; i < 40; i++, queries++) {
			tac_rigid motion = random_motion(&rng, 1.2f);
			int64_t expected = 0, surfaces = 0;
			for (int32_t s = 0; s < solids.count; s++) {
				bool any = false;
				for (int32_t t = 0; t < mesh->triangle_count; t++) {
					hit[s][t] = solid_meets(&solids.solid[s], &motion, mesh, t, 1e-9);
					expected += hit[s][t];
					any = any || hit[s][t];
				}
				surfaces += any;
			}
			tac_overlap answer = expected > 0 ? TAC_OVERLAP_HIT : TAC_OVERLAP_NONE;
			hits += expected > 0;
			TEST_ASSERT_EQUAL(answer, tac_collider_query(c, context, probe, fixed, &motion,
								     TAC_QUERY_FIRST, (tac_budget){0}));
			TEST_ASSERT_EQUAL(expected > 0, context->pair_count);
			TEST_ASSERT_EQUAL(answer, tac_collider_query(c, context, probe, fixed, &motion,
								     TAC_QUERY_SURFACES, (tac_budget){0}));
			TEST_ASSERT_EQUAL(surfaces, context->pair_count);
			TEST_ASSERT_EQUAL(answer, tac_collider_query(c, context, probe, fixed, &motion,
								     TAC_QUERY_PAIRS, (tac_budget){0}));
			TEST_ASSERT_EQUAL(expected, context->pair_count);
			for (int64_t k = 0; k < expected; k++) {
				int32_t s = probe->mesh->triangle_surface[context->moving_ids[k]];
				TEST_ASSERT_EQUAL(1, hit[s][context->fixed_ids[k]]);
				hit[s][context->fixed_ids[k]] = 2; // each pair once
			}
			// With the roles exchanged: the mesh moves against the probe.
			tac_mat3 back = tac_mat3_inverse(motion.R);
			tac_rigid inverse = {back, tac_vec3_neg(tac_mat3_apply(back, motion.t))};
			tac_collider_query(c, context, fixed, probe, &inverse, TAC_QUERY_PAIRS,
					   (tac_budget){0});
			// One pair may differ, because the inverse is rounded to float.
			TEST_ASSERT_TRUE(llabs(expected - context->pair_count) <= 1);
		}
		tac_shape_destroy(&probe);
	}
	TEST_ASSERT_TRUE(hits > queries / 10 && hits < queries / 10 * 9);
	tac_shape_destroy(&fixed);
	tac_mesh_destroy(&mesh);
}

// The batches of every instruction set and single tests give the same answers, pairs and counters.
static void every_variant_gives_the_same_answers(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1, .3f, 60, 30, &mesh));
	const char *const round[3] = {probes[0], probes[1], "sphere:r=0.3+capsule:r=0.05,h=1,y=0.2"};
	enum { POSES = 20, PAIRS_MAX = 1024 };
	static int32_t expected[POSES][2][PAIRS_MAX];
	int64_t counts[POSES], pairs = 0;
	tac_counters counters[POSES];
	for (int p = 0; p < 3; p++) {
		for (int v = 0; v < TAC_SIMD_COUNT; v++) {
			if (!tac_simd_supported((tac_simd)v))
				continue;
			setenv("TACTUS_SIMD", tac_simd_name((tac_simd)v), 1);
			const tac_collider *c = tac_solid_collider();
			TEST_ASSERT_EQUAL_STRING(tac_simd_name((tac_simd)v), c->variant);
			tac_shape *fixed, *probe = shape_of(round[p]);
			TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(c, mesh, &fixed));
			tac_rng rng = tac_rng_seed(5, (uint64_t)p);
			for (int i = 0; i < POSES; i++) {
				tac_rigid motion = random_motion(&rng, 1.2f);
				tac_collider_query(c, context, probe, fixed, &motion, TAC_QUERY_PAIRS,
						   (tac_budget){0});
				size_t bytes = (size_t)context->pair_count * sizeof(int32_t);
				if (v == TAC_SIMD_SCALAR) {
					counts[i] = context->pair_count;
					counters[i] = context->counters;
					TEST_ASSERT_TRUE(counts[i] <= PAIRS_MAX);
					memcpy(expected[i][0], context->fixed_ids, bytes);
					memcpy(expected[i][1], context->moving_ids, bytes);
					pairs += counts[i];
				}
				TEST_ASSERT_EQUAL(counts[i], context->pair_count);
				TEST_ASSERT_EQUAL_MEMORY(&counters[i], &context->counters,
							 sizeof counters[i]);
				if (counts[i] > 0) {
					TEST_ASSERT_EQUAL_MEMORY(expected[i][0], context->fixed_ids, bytes);
					TEST_ASSERT_EQUAL_MEMORY(expected[i][1], context->moving_ids, bytes);
				}
			}
			tac_shape_destroy(&probe);
			tac_shape_destroy(&fixed);
		}
	}
	unsetenv("TACTUS_SIMD");
	TEST_ASSERT_TRUE(pairs > 1000);
	tac_mesh_destroy(&mesh);
}

static tac_overlap query(tac_shape *moving, tac_shape *fixed, float x, float y, float z, tac_query_mode mode)
{
	tac_rigid motion = identity_motion(x, y, z);
	return tac_collider_query(tac_solid_collider(), context, moving, fixed, &motion, mode,
				  (tac_budget){0});
}

static void solids_meet_solids(void)
{
	static const struct {
		const char *moving, *fixed;
		float x, y, z;
		tac_overlap expected;
	} cases[] = {
		{"sphere:r=1", "sphere:r=0.5", 1.49f, 0, 0, TAC_OVERLAP_HIT},
		{"sphere:r=1", "sphere:r=0.5", 1.51f, 0, 0, TAC_OVERLAP_NONE},
		{"sphere:r=0.5", "capsule:r=0.25,h=2", .74f, 0, .9f, TAC_OVERLAP_HIT},
		{"sphere:r=0.5", "capsule:r=0.25,h=2", .76f, 0, .9f, TAC_OVERLAP_NONE},
		{"capsule:r=0.5,h=2,axis=x", "capsule:r=0.25,h=2,axis=y", 0, 0, .74f, TAC_OVERLAP_HIT},
		{"capsule:r=0.5,h=2,axis=x", "capsule:r=0.25,h=2,axis=y", 0, 0, .76f, TAC_OVERLAP_NONE},
		{"sphere:r=0.7", "cylinder:r=1,h=2", 1.5f, 0, 1.5f, TAC_OVERLAP_NONE},
		{"sphere:r=0.75", "cylinder:r=1,h=2", 1.5f, 0, 1.5f, TAC_OVERLAP_HIT},
		{"cylinder:r=1,h=2", "sphere:r=0.75", 1.5f, 0, 1.5f, TAC_OVERLAP_HIT},
		// Tested through a mesh: a cone on a cylinder, with a gap larger than the error of the mesh.
		{"cone:rb=0,rt=1,h=2", "cylinder:r=1,h=2", 0, 0, 1.99f, TAC_OVERLAP_HIT},
		{"cone:rb=0,rt=1,h=2", "cylinder:r=1,h=2", 0, 0, 2.01f, TAC_OVERLAP_NONE},
		{"cylinder:r=1,h=2", "cylinder:r=1,h=2", 1.99f, 0, 0, TAC_OVERLAP_HIT},
		{"cylinder:r=1,h=2", "cylinder:r=1,h=2", 2.01f, 0, 0, TAC_OVERLAP_NONE},
		{"sphere:r=0.4", "toroid:R=1,r=0.5,concave", .95f, 0, 0, TAC_OVERLAP_NONE},
		{"sphere:r=0.4", "toroid:R=1,r=0.5,concave", .85f, 0, 0, TAC_OVERLAP_HIT},
		// One inside the other, away from its triangles.
		{"cylinder:r=0.1,h=0.1", "cone:rb=2,rt=1,h=4", 0, 0, 0, TAC_OVERLAP_HIT},
		{"cone:rb=2,rt=1,h=4", "cylinder:r=0.1,h=0.1", 0, 0, 0, TAC_OVERLAP_HIT},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tac_shape *moving = shape_of(cases[i].moving), *fixed = shape_of(cases[i].fixed);
		for (int mode = 0; mode < 3; mode++) {
			TEST_ASSERT_EQUAL_MESSAGE(cases[i].expected,
						  query(moving, fixed, cases[i].x, cases[i].y, cases[i].z,
							(tac_query_mode)mode),
						  cases[i].moving);
			TEST_ASSERT_EQUAL(cases[i].expected == TAC_OVERLAP_HIT, context->pair_count);
		}
		tac_shape_destroy(&moving);
		tac_shape_destroy(&fixed);
	}
}

static void meshes_against_meshes_equal_brute_force(void)
{
	tac_rng rng = tac_rng_seed(2, 0);
	for (int i = 0; i < 8; i++) {
		tac_mesh *a = soup(&rng, 1 + (int32_t)tac_rng_below(&rng, 150), 1, 60 + 20 * i);
		tac_mesh *b = soup(&rng, 1 + (int32_t)tac_rng_below(&rng, 150), 1, 300 - 20 * i);
		tac_rigid motion = random_motion(&rng, 1);
		compare_with_brute_force(tac_solid_collider(), context, a, b, &motion);
		motion = identity_motion((float)(i % 3) / 1024, 0, .25f);
		compare_with_brute_force(tac_solid_collider(), context, a, b, &motion);
		tac_mesh_destroy(&a);
		tac_mesh_destroy(&b);
	}
}

static void a_spent_budget_is_unknown_and_the_query_resumes_to_the_same_answer(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1, .3f, 40, 20, &mesh));
	const tac_collider *c = tac_solid_collider();
	tac_shape *torus, *drill = shape_of(probes[6]),
			  *balls = shape_of("sphere:r=1+sphere:r=1,x=0.5+cone:rb=1,rt=0,h=2");
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(c, mesh, &torus));
	const tac_shape *pairs[4][2] = {{drill, torus}, {torus, drill}, {drill, balls}, {torus, torus}};
	for (int i = 0; i < 4; i++) {
		tac_rigid motion = identity_motion(.9f, .1f, .05f);
		TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT,
				  tac_collider_query(c, context, pairs[i][0], pairs[i][1], &motion,
						     TAC_QUERY_PAIRS, (tac_budget){0}));
		int64_t expected = context->pair_count;
		tac_overlap answer = tac_collider_query(c, context, pairs[i][0], pairs[i][1], &motion,
							TAC_QUERY_PAIRS, (tac_budget){.nodes = 2});
		int steps = 1;
		for (; context->pending; steps++) {
			TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, answer);
			answer = tac_collider_resume(c, context, (tac_budget){.nodes = 2});
		}
		TEST_ASSERT_TRUE(steps > 3);
		TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT, answer);
		TEST_ASSERT_EQUAL(expected, context->pair_count);
	}
	tac_shape_destroy(&torus);
	tac_shape_destroy(&drill);
	tac_shape_destroy(&balls);
	tac_mesh_destroy(&mesh);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(solids_are_read_from_a_text);
	RUN_TEST(invalid_solids_are_refused_with_one_line);
	RUN_TEST(meshes_of_solids_have_their_volume);
	RUN_TEST(a_solid_against_a_mesh_equals_brute_force_over_its_triangles);
	RUN_TEST(every_variant_gives_the_same_answers);
	RUN_TEST(solids_meet_solids);
	RUN_TEST(meshes_against_meshes_equal_brute_force);
	RUN_TEST(a_spent_budget_is_unknown_and_the_query_resumes_to_the_same_answer);
	return UNITY_END();
}
