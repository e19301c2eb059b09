#include "collision/assembly.h"

#include <stdlib.h>
#include <unity.h>

void setUp(void)
{
}

void tearDown(void)
{
}

// The counts of Table 1 of the paper; triangles within one per cent.
static void assemblies_have_the_parts_surfaces_and_triangles_of_the_paper(void)
{
	static const struct {
		const char *name;
		int32_t parts, surfaces, triangles;
	} expected[TAC_ASSEMBLY_KINDS] = {
		{"digger", 5, 109, 2452}, {"box", 25, 1250, 25525}, {"plant", 8, 1073, 24415}};
	for (int k = 0; k < TAC_ASSEMBLY_KINDS; k++) {
		tac_assembly a;
		TEST_ASSERT_EQUAL(TAC_OK, tac_assembly_build((tac_assembly_kind)k, &a));
		TEST_ASSERT_EQUAL_STRING(expected[k].name, a.name);
		TEST_ASSERT_EQUAL(expected[k].parts, a.part_count);
		int32_t surfaces = 0, triangles = 0;
		for (int32_t i = 0; i < a.part_count; i++) {
			surfaces += a.parts[i].mesh->surface_count;
			triangles += a.parts[i].mesh->triangle_count;
			TEST_ASSERT_TRUE(tac_mesh_is_watertight(a.parts[i].mesh));
			TEST_ASSERT_TRUE(tac_mesh_volume(a.parts[i].mesh) > 0);
		}
		TEST_ASSERT_EQUAL(expected[k].surfaces, surfaces);
		TEST_ASSERT_EQUAL(expected[k].surfaces, a.surface_count);
		TEST_ASSERT_TRUE(abs(triangles - expected[k].triangles) <= expected[k].triangles / 100);
		TEST_ASSERT_EQUAL(triangles, a.triangle_count);
		tac_assembly_fini(&a);
		TEST_ASSERT_EQUAL(0, a.part_count);
	}
}

static void surfaces_have_names(void)
{
	tac_assembly a;
	TEST_ASSERT_EQUAL(TAC_OK, tac_assembly_build(TAC_ASSEMBLY_DIGGER, &a));
	TEST_ASSERT_EQUAL_STRING("track 0 -x", a.parts[0].mesh->surfaces[0].name);
	TEST_ASSERT_EQUAL_STRING("slewing ring 7 torus", a.parts[0].mesh->surfaces[30].name);
	TEST_ASSERT_EQUAL_STRING("pin 3 top", a.parts[4].mesh->surfaces[20].name);
	tac_assembly_fini(&a);
}

static void a_part_moves_along_its_path_to_its_assembled_position(void)
{
	tac_assembly a;
	TEST_ASSERT_EQUAL(TAC_OK, tac_assembly_build(TAC_ASSEMBLY_DIGGER, &a));
	tac_dmat3 rotation;
	tac_dvec3 at;
	tac_assembly_pose(&a, 1, 1, &rotation, &at);
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_dmat3_max_abs(tac_dmat3_sub(rotation, tac_dmat3_identity())));
	TEST_ASSERT_EQUAL_DOUBLE(.3, at.z);
	tac_assembly_pose(&a, 1, 0, &rotation, &at);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, cos(.6), rotation.m[0][0]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, sin(.6), rotation.m[1][0]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.8, at.z);
	tac_assembly_relative(&a, 1, 2, .5, &rotation, &at);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, .45 + .6, at.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, .45 + .4 - .3, at.z);
	tac_assembly_fini(&a);
}

static void a_variation_moves_the_solids_slightly_and_seed_0_moves_none(void)
{
	tac_assembly a, b, c;
	TEST_ASSERT_EQUAL(TAC_OK, tac_assembly_build(TAC_ASSEMBLY_PLANT, &a));
	TEST_ASSERT_EQUAL(TAC_OK, tac_assembly_build_varied(TAC_ASSEMBLY_PLANT, 0, &b));
	TEST_ASSERT_EQUAL(TAC_OK, tac_assembly_build_varied(TAC_ASSEMBLY_PLANT, 1, &c));
	float moved = 0;
	for (int32_t i = 0; i < a.part_count; i++) {
		const tac_mesh *m = a.parts[i].mesh, *same = b.parts[i].mesh, *other = c.parts[i].mesh;
		TEST_ASSERT_EQUAL(m->vertex_count, same->vertex_count);
		TEST_ASSERT_EQUAL_MEMORY(m->vertices, same->vertices,
					 (size_t)m->vertex_count * sizeof *m->vertices);
		TEST_ASSERT_EQUAL(m->surface_count, other->surface_count);
		TEST_ASSERT_TRUE(tac_mesh_is_watertight(other));
		moved = fmaxf(moved, tac_vec3_length(tac_vec3_sub(m->bounds_max, other->bounds_max)));
		const tac_dvec3 offset = a.parts[i].start_offset;
		TEST_ASSERT_TRUE(tac_dvec3_length(tac_dvec3_sub(offset, c.parts[i].start_offset)) <
				 .2 * tac_dvec3_length(offset));
	}
	TEST_ASSERT_TRUE(moved > 0.01f && moved < 1);
	tac_assembly_fini(&a);
	tac_assembly_fini(&b);
	tac_assembly_fini(&c);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(assemblies_have_the_parts_surfaces_and_triangles_of_the_paper);
	RUN_TEST(surfaces_have_names);
	RUN_TEST(a_variation_moves_the_solids_slightly_and_seed_0_moves_none);
	RUN_TEST(a_part_moves_along_its_path_to_its_assembled_position);
	return UNITY_END();
}
