// Outlines of bodies: exact where there is room, and otherwise close to the surface, of whatever size.
#include "share/outline.h"

#include "collision/mesh_shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unity.h>

static tac_scene *scene;
static tac_world world;
static tac_outline *outline;

void setUp(void)
{
	scene = calloc(1, sizeof *scene);
	outline = calloc(1, sizeof *outline);
	scene->tool_count = scene->object_count = 1;
	world = (tac_world){.scene = scene};
	world.tools[0].name = "tool";
	world.objects[0].name = "object";
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box((tac_vec3){.x = 0.02F, .y = 0.03F, .z = 0.04F}, 1,
						     &world.tools[0].mesh));
}

void tearDown(void)
{
	tac_mesh_destroy(&world.tools[0].mesh);
	tac_mesh_destroy(&world.objects[0].mesh);
	free(outline);
	free(scene);
}

static void small_bodies_are_exact(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.05F, 3, &world.objects[0].mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_outline_make(&world, outline));
	TEST_ASSERT_TRUE(tac_outline_valid(outline));
	TEST_ASSERT_EQUAL_INT32(2, outline->body_count);
	const tac_mesh *const meshes[] = {world.tools[0].mesh, world.objects[0].mesh};
	for (int i = 0; i < 2; i++) {
		const tac_outline_body *b = &outline->bodies[i];
		TEST_ASSERT_EQUAL_STRING(i == 0 ? "tool" : "object", b->name);
		TEST_ASSERT_EQUAL_INT32(i == 0, b->is_tool);
		TEST_ASSERT_EQUAL_INT32(meshes[i]->vertex_count, b->vertex_count);
		TEST_ASSERT_EQUAL_INT32(meshes[i]->triangle_count, b->triangle_count);
		for (int32_t k = 0; k < b->vertex_count; k++)
			TEST_ASSERT_EQUAL_FLOAT(meshes[i]->vertices[k].y,
						outline->vertices[b->vertex + k][1]);
		for (int32_t k = 0; k < b->triangle_count; k++)
			TEST_ASSERT_EQUAL_INT32(meshes[i]->triangles[k].vertex[2],
						outline->triangles[b->triangle + k][2]);
	}
}

static double coordinate(const tac_outline_body *b, int32_t triangle, int corner, int axis)
{
	const int32_t vertex = outline->triangles[b->triangle + triangle][corner];
	return (double)outline->vertices[b->vertex + vertex][axis];
}

// Six times the volume that the triangles enclose: the sum of determinants.
static double volume_m3(const tac_outline_body *b)
{
	double sum = 0;
	for (int32_t i = 0; i < b->triangle_count; i++) {
		double c[3][3];
		for (int k = 0; k < 9; k++)
			c[k / 3][k % 3] = coordinate(b, i, k / 3, k % 3);
		sum += c[0][0] * (c[1][1] * c[2][2] - c[1][2] * c[2][1]) -
		       c[0][1] * (c[1][0] * c[2][2] - c[1][2] * c[2][0]) +
		       c[0][2] * (c[1][0] * c[2][1] - c[1][1] * c[2][0]);
	}
	return sum / 6;
}

// A sphere of 327,680 triangles. The mean of points of a sphere within a cell of size s lies inside, by no
// more than the sagitta of the cell's diagonal.
static void a_large_sphere_stays_a_sphere(void)
{
	const double radius = 0.05, size = 2 * radius / 16, diagonal = sqrt(3) * size;
	const double sagitta = radius - sqrt(radius * radius - diagonal * diagonal / 4);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere((float)radius, 7, &world.objects[0].mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_outline_make(&world, outline));
	TEST_ASSERT_TRUE(tac_outline_valid(outline));
	const tac_outline_body *b = &outline->bodies[1];
	TEST_ASSERT_TRUE(b->triangle_count > 1000 && b->triangle_count <= TAC_OUTLINE_TRIANGLES);
	for (int32_t i = 0; i < b->vertex_count; i++) {
		const float *v = outline->vertices[b->vertex + i];
		const double distance = sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] +
					     (double)v[2] * (double)v[2]);
		TEST_ASSERT_TRUE(distance <= radius * (1 + 1e-5) && distance >= radius - 2 * sagitta);
	}
	const double ball = 4.0 / 3.0 * acos(-1) * radius * radius * radius;
	TEST_ASSERT_DOUBLE_WITHIN(0.05 * ball, ball, volume_m3(b));
}

static void a_full_scene_fits_and_every_body_is_there(void)
{
	scene->object_count = TAC_SCENE_OBJECTS;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.05F, 5, &world.objects[0].mesh));
	for (int i = 1; i < TAC_SCENE_OBJECTS; i++)
		world.objects[i].mesh = world.objects[0].mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_outline_make(&world, outline));
	TEST_ASSERT_TRUE(tac_outline_valid(outline));
	TEST_ASSERT_EQUAL_INT32(1 + TAC_SCENE_OBJECTS, outline->body_count);
	for (int i = 1; i <= TAC_SCENE_OBJECTS; i++)
		TEST_ASSERT_TRUE(outline->bodies[i].triangle_count >= 50);
	for (int i = 1; i < TAC_SCENE_OBJECTS; i++)
		world.objects[i].mesh = NULL;
}

static void flat_and_empty_bodies_are_no_trouble(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(0.2F, 0.1F, 200, 100, &world.objects[0].mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_outline_make(&world, outline));
	TEST_ASSERT_TRUE(tac_outline_valid(outline));
	TEST_ASSERT_TRUE(outline->bodies[1].triangle_count > 100);
	tac_mesh_destroy(&world.objects[0].mesh);
	TEST_ASSERT_EQUAL(TAC_OK, tac_outline_make(&world, outline));
	TEST_ASSERT_TRUE(tac_outline_valid(outline));
	TEST_ASSERT_EQUAL_INT32(0, outline->bodies[1].triangle_count);
}

static void foreign_outlines_are_checked(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.05F, 1, &world.objects[0].mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_outline_make(&world, outline));
	tac_outline *bad = malloc(sizeof *bad);
	for (int fault = 0; fault < 9; fault++) {
		*bad = *outline;
		tac_outline_body *b = &bad->bodies[1];
		switch (fault) {
		case 0:
			bad->body_count = -1;
			break;
		case 1:
			bad->body_count = TAC_OUTLINE_BODIES + 1;
			break;
		case 2:
			b->vertex = -1;
			break;
		case 3:
			b->vertex_count = INT32_MAX;
			break;
		case 4:
			b->triangle = TAC_OUTLINE_TRIANGLES;
			break;
		case 5:
			b->triangle_count = -1;
			break;
		case 6:
			bad->triangles[b->triangle][1] = (uint16_t)b->vertex_count;
			break;
		case 7:
			bad->vertices[b->vertex + 3][0] = NAN;
			break;
		case 8:
			memset(b->name, 'x', sizeof b->name);
			break;
		}
		TEST_ASSERT_FALSE(tac_outline_valid(bad));
	}
	free(bad);
	TEST_ASSERT_TRUE(tac_outline_valid(outline));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(small_bodies_are_exact);
	RUN_TEST(a_large_sphere_stays_a_sphere);
	RUN_TEST(a_full_scene_fits_and_every_body_is_there);
	RUN_TEST(flat_and_empty_bodies_are_no_trouble);
	RUN_TEST(foreign_outlines_are_checked);
	return UNITY_END();
}
