// The mover with simplified bodies: where a tool begins, what the force becomes, and how scenes ask for them.
#include "collision/mesh_shapes.h"
#include "haptic/force/law.h"
#include "haptic/sco.h"
#include "haptic/world.h"
#include "tests/support/limits.h"
#include "tests/support/sco_scenes.h"

#include <string.h>

#define DETAIL_M 3e-4

void setUp(void)
{
}

void tearDown(void)
{
}

// A ball on a larger one, both fine, with their simplified bodies.
typedef struct balls {
	scene_body tool, scene, simple_tool, simple_scene;
	tac_sco_object object;
	tac_sco *sco;
} balls;

static balls balls_make(bool simplified)
{
	balls b = {.tool = scene_body_make(sphere_mesh(0.01, 3)),
		   .scene = scene_body_make(sphere_mesh(0.03, 3))};
	b.simple_tool = simplified_body_make(b.tool.mesh, DETAIL_M);
	b.simple_scene = simplified_body_make(b.scene.mesh, DETAIL_M);
	TEST_ASSERT_EQUAL_DOUBLE(DETAIL_M, tac_body_detail(b.simple_tool.body));
	TEST_ASSERT_EQUAL_DOUBLE(DETAIL_M, tac_body_detail(b.simple_scene.body));
	tac_sco_def def = scene_def(&b.tool, &b.scene, &b.object);
	if (simplified) {
		def.tool_detail = b.simple_tool.body;
		b.object.detail = b.simple_scene.body;
	}
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &b.sco));
	return b;
}

static void balls_free(balls *b)
{
	tac_sco_destroy(&b->sco);
	tac_body_destroy(&b->simple_tool.body);
	tac_body_destroy(&b->simple_scene.body);
	scene_body_free(&b->tool);
	scene_body_free(&b->scene);
}

static double exact_distance(const balls *b, tac_dpose T)
{
	const tac_drigid P = tac_drigid_from_pose(T);
	return tac_body_distance(b->tool.body, b->scene.body, &P, 1, NULL, NULL, NULL);
}

// The device moves around above the scene's ball, 2 mm deep.
static tac_dpose device_at(int k)
{
	const double a = 0.002 * k;
	return turned(0.038 * sin(a) * cos(3 * a), 0.038 * sin(a) * sin(3 * a), 0.038 * cos(a),
		      vec3(0, 0, a));
}

// The smallest gap that bears a load while the device moves.
static double least_loaded_gap(balls *b)
{
	double least = HUGE_VAL;
	for (int k = 0; k < 60; k++) {
		tac_sco_report r;
		tac_sco_step(b->sco, device_at(k), NULL, &r);
		TEST_ASSERT_EQUAL(0, r.flags & (TAC_SCO_FAULT | TAC_SCO_REFUSED));
		TEST_ASSERT_TRUE(exact_distance(b, r.T_world_sco) > 0);
		for (int32_t i = 0; i < r.contact_count; i++)
			least = r.contacts[i].load_m > 0 ? fmin(least, r.contacts[i].gap_m) : least;
	}
	return least;
}

static void a_tool_that_begins_within_the_tolerance_has_the_exact_bodies(void)
{
	balls b = balls_make(true);
	tac_dpose start = at(0, 0, 0.041);
	start.position.z -= exact_distance(&b, start) - 2e-5;
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 2e-5, exact_distance(&b, start));
	TEST_ASSERT_TRUE(tac_sco_reset(b.sco, start, NULL));
	TEST_ASSERT_TRUE(least_loaded_gap(&b) < 2e-5);
	// From further away the next run has the simplified ones.
	TEST_ASSERT_TRUE(tac_sco_reset(b.sco, at(0, 0, 0.042), NULL));
	TEST_ASSERT_TRUE(least_loaded_gap(&b) > 2 * DETAIL_M);
	// A tool that touches does not start with either.
	start.position.z -= 3e-5;
	TEST_ASSERT_FALSE(tac_sco_reset(b.sco, start, NULL));
	balls_free(&b);
}

// The loads of a tick without the gaps, m.
static double load_at(balls *b, int k)
{
	tac_sco_report r;
	for (int n = 0; n < 3; n++)
		tac_sco_step(b->sco, device_at(k), NULL, &r);
	tac_law_remove_gaps(&r, -1, tac_sco_def_default().metric_m);
	double sum = 0;
	for (int32_t i = 0; i < r.contact_count; i++)
		sum += r.contacts[i].load_m;
	return sum;
}

// Otherwise the force would be that of 610 µm more.
static void the_force_has_no_share_of_the_tolerance(void)
{
	balls exact = balls_make(false), simple = balls_make(true);
	TEST_ASSERT_TRUE(tac_sco_reset(exact.sco, at(0, 0, 0.042), NULL));
	TEST_ASSERT_TRUE(tac_sco_reset(simple.sco, at(0, 0, 0.042), NULL));
	double mean = 0, most = 0;
	for (int k = 0; k < 60; k++) {
		const double difference = load_at(&simple, k) - load_at(&exact, k);
		mean += difference / 60;
		most = fmax(most, fabs(difference));
	}
	TEST_ASSERT_DOUBLE_WITHIN(2e-4, 0, mean);
	TEST_ASSERT_TRUE(most < 2 * DETAIL_M);
	balls_free(&exact);
	balls_free(&simple);
}

// A margin plus the tolerance, less the tolerance, rounds to less than the margin for most of these.
static void a_flight_beside_simplified_bodies_arrives_in_one_step(void)
{
	const double details[] = {3e-5, 1e-4, 1.37e-4, 2e-4};
	for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
		scene_body tool = scene_body_make(sphere_mesh(0.01, 3)),
			   box = scene_body_make(box_mesh(0.06, 0.06, 0.02, 1)),
			   simple = simplified_body_make(tool.mesh, details[i]);
		tac_sco_object object;
		tac_sco_def def = scene_def(&tool, &box, &object);
		def.tool_detail = simple.body;
		tac_sco *sco;
		tac_sco_report r;
		TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &sco));
		TEST_ASSERT_TRUE(tac_sco_reset(sco, at(-0.01, 0, 0.03), NULL));
		tac_sco_step(sco, at(-0.01, 0, 0.03), NULL, &r);
		tac_sco_step(sco, at(0.01, 0, 0.03), NULL, &r);
		TEST_ASSERT_EQUAL(0, r.flags & TAC_SCO_BUDGET_SPENT);
		TEST_ASSERT_EQUAL(1, r.substeps);
		TEST_ASSERT_EQUAL_DOUBLE(0.01, r.T_world_sco.position.x);
		tac_sco_destroy(&sco);
		tac_body_destroy(&simple.body);
		scene_body_free(&tool);
		scene_body_free(&box);
	}
}

// --- scenes ---

static const char scene_text[] =
	"scene: fine\n"
	"tools: [{name: t, shapes: [{kind: body, radius_m: 0.008, subdivisions: 5}]}]\n"
	"objects: [{name: o, shapes: [{kind: box, segments: 2}]}]\n";

static tac_world *world_of(const char *last_line, tac_scene **out_scene)
{
	char text[512];
	tac_world *world;
	snprintf(text, sizeof text, "%s%s", scene_text, last_line);
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "scene.yaml", out_scene));
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(*out_scene, tac_collider_find("wide"), &world));
	return world;
}

static void large_bodies_of_a_scene_are_simplified_unless_it_asks_for_exact_ones(void)
{
	static const struct {
		const char *line;
		double detail_m; // that the tool's body has
	} cases[] = {{"", TAC_SCENE_DETAIL_M}, {"detail_m: 1e-3\n", 2e-5}, {"detail_m: 0\n", 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i += TAC_TEST_SANITIZED ? 2 : 1) {
		tac_scene *scene;
		tac_world *world = world_of(cases[i].line, &scene);
		const tac_body *detail = world->tools[0].detail;
		TEST_ASSERT_NULL(world->objects[0].detail); // a box has few triangles
		TEST_ASSERT_EQUAL(cases[i].detail_m > 0, detail != NULL);
		// The second: a thousandth of its size.
		if (detail)
			TEST_ASSERT_DOUBLE_WITHIN(i == 1 ? 5e-6 : 0, cases[i].detail_m,
						  tac_body_detail(detail));
		TEST_ASSERT_TRUE(detail ? world->detail_m == tac_body_detail(detail) && world->saved > 5000
					: world->saved == 0);
		TEST_ASSERT_EQUAL(0, tac_body_detail(world->tools[0].body)); // for round tools
		tac_world_destroy(&world);
		tac_scene_destroy(&scene);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_tool_that_begins_within_the_tolerance_has_the_exact_bodies);
	RUN_TEST(the_force_has_no_share_of_the_tolerance);
	RUN_TEST(a_flight_beside_simplified_bodies_arrives_in_one_step);
	RUN_TEST(large_bodies_of_a_scene_are_simplified_unless_it_asks_for_exact_ones);
	return UNITY_END();
}
