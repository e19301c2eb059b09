#include "collision/mesh_shapes.h"
#include "collision/trees/doptree.h"
#include "tests/support/shapes.h"

#include "unity.h"

#include <stdlib.h>

static tac_mesh *mesh;

void setUp(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1.0F, 0.3F, 20, 10, &mesh));
}

void tearDown(void)
{
	tac_mesh_destroy(&mesh);
}

static void check_node(const tac_doptree *tree, const tac_mesh *m, uint32_t address, int *seen)
{
	const tac_doptree_node *node = tree->nodes + address / TAC_DOPTREE_NODE_BYTES;
	if (node->type == TAC_DOPTREE_LEAF) {
		const tac_doptree_node *record = tree->layout == TAC_DOPTREE_R
							 ? tree->nodes + node->link / TAC_DOPTREE_NODE_BYTES
							 : node;
		TEST_ASSERT_TRUE((int32_t)record->link < m->triangle_count);
		seen[record->link]++;
		TEST_ASSERT_EQUAL(m->triangle_surface[record->link], (int32_t)record->owner);
		for (int k = 0; k < 3; k++) {
			tac_vec3 v = m->vertices[m->triangles[record->link].vertex[k]];
			TEST_ASSERT_EQUAL_FLOAT(v.x, record->triangle.vertices.v[k][0]);
			TEST_ASSERT_EQUAL_FLOAT(v.z, record->triangle.vertices.v[k][2]);
		}
		return;
	}
	TEST_ASSERT_EQUAL(TAC_DOPTREE_INNER, node->type);
	TEST_ASSERT_EQUAL(0, node->link % 256); // siblings side by side
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t child = node->link + i * TAC_DOPTREE_NODE_BYTES;
		const tac_doptree_node *c = tree->nodes + child / TAC_DOPTREE_NODE_BYTES;
		if (c->type == TAC_DOPTREE_INNER || tree->layout == TAC_DOPTREE_R) {
			TEST_ASSERT_EQUAL(address, c->owner);
			for (int d = 0; d < TAC_DOP_SIZE; d++)
				TEST_ASSERT_TRUE(c->dop.d[d] <= node->dop.d[d]);
		}
		check_node(tree, m, child, seen);
	}
}

static void both_layouts_hold_every_triangle_once_in_nested_dops(void)
{
	for (int layout = 0; layout < 2; layout++) {
		tac_doptree *tree;
		TEST_ASSERT_EQUAL(TAC_OK, tac_doptree_build(mesh, (tac_doptree_layout)layout, &tree));
		int *seen = calloc((size_t)mesh->triangle_count, sizeof *seen);
		check_node(tree, mesh, 0, seen);
		for (int32_t i = 0; i < mesh->triangle_count; i++)
			TEST_ASSERT_EQUAL(1, seen[i]);
		TEST_ASSERT_EQUAL(TAC_DOPTREE_EMPTY, tree->nodes[1].type);
		TEST_ASSERT_EQUAL(2 * mesh->triangle_count, tree->node_count);
		free(seen);
		tac_doptree_destroy(&tree);
	}
}

static void equal_centroids_do_not_make_a_chain(void)
{
	// 4096 triangles around one centre: no plane separates their centroids.
	enum { N = 4096 };
	static tac_vec3 v[3 * N];
	static tac_mesh_triangle t[N];
	for (int i = 0; i < N; i++)
		for (int k = 0; k < 3; k++) {
			float s = 1.0F + (float)i;
			v[3 * i + k] = k == 0   ? tac_vec3_make(s, s, s)
				       : k == 1 ? tac_vec3_make(-s, -s, -s)
						: tac_vec3_make(-s, s, -s);
			t[i].vertex[k] = 3 * i + k;
		}
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = v;
	def.vertex_count = 3 * N;
	def.triangles = t;
	def.triangle_count = N;
	tac_mesh *nested;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &nested));
	tac_doptree *tree;
	TEST_ASSERT_EQUAL(TAC_OK, tac_doptree_build(nested, TAC_DOPTREE_R, &tree));
	TEST_ASSERT_LESS_OR_EQUAL(52, tree->depth);
	tac_doptree_destroy(&tree);
	tac_mesh_destroy(&nested);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(both_layouts_hold_every_triangle_once_in_nested_dops);
	RUN_TEST(equal_centroids_do_not_make_a_chain);
	return UNITY_END();
}
