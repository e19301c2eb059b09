#include "collision/engines/doptree_engine.h"
#include "collision/engines/doptree_kernel.h"
#include "collision/mesh_shapes.h"
#include "tests/support/shapes.h"

#include "base/simd.h"
#include "unity.h"

#include <string.h>

static tac_context *context;
static tac_doptree_run_fn *const runs[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_doptree_run);

void setUp(void)
{
	tac_context_def def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &context));
}

void tearDown(void)
{
	tac_context_destroy(&context);
}

// A tree made by hand. children[i][0] is the first child of node i, -1 for a leaf and less for no node;
// far[i] puts the box of node i 100 m away, all other boxes overlap.
static tac_doptree *by_hand(const int32_t (*children)[2], const bool *far, int32_t count)
{
	tac_doptree *tree = calloc(1, sizeof *tree);
	tree->node_count = 2 * count;
	const size_t bytes = (size_t)(3 * count + 3) / 2 * 256; // whole pairs of nodes, for aligned_alloc
	tree->nodes = aligned_alloc(256, bytes);
	memset(tree->nodes, 0, bytes);
	tree->extent = 200.0F;
	tree->nodes[1].type = TAC_DOPTREE_EMPTY;
	// Siblings are side by side: pair p holds the nodes 2p and 2p + 1.
	for (int32_t i = 0; i < 2 * count; i++) {
		if (i == 1 || (i > 1 && children[i][0] < -1))
			continue;
		tac_dop dop = tac_dop_empty();
		float at = far[i] ? 100.0F : 0.0F;
		tac_dop_add_point(&dop, tac_vec3_make(at - 1.0F, -1.0F, -1.0F));
		tac_dop_add_point(&dop, tac_vec3_make(at + 1.0F, 1.0F, 1.0F));
		for (int d = 0; d < 24; d++)
			dop.d[d] = fmaxf(dop.d[d],
					 (float)(tac_dop_directions[d % 12][0]) * (d < 12 ? at : -at) + 1.0F);
		tree->nodes[i].dop = dop;
		if (children[i][0] >= 0) {
			tree->nodes[i].type = TAC_DOPTREE_INNER;
			tree->nodes[i].link = (uint32_t)children[i][0] * 128;
		} else {
			tree->nodes[i].type = TAC_DOPTREE_LEAF;
			int32_t record = tree->node_count + tree->record_count++;
			tree->nodes[i].link = (uint32_t)record * 128;
			tac_doptree_node *r = &tree->nodes[record];
			r->type = TAC_DOPTREE_LEAF;
			// Triangles that never meet: each is in another plane z = constant.
			for (int k = 0; k < 3; k++) {
				r->triangle.vertices.v[k][0] = k == 1 ? 0.5F : 0.0F;
				r->triangle.vertices.v[k][1] = k == 2 ? 0.5F : 0.0F;
				r->triangle.vertices.v[k][2] = 0.01F * (float)i;
			}
		}
	}
	return tree;
}

static void the_example_of_figure_1_needs_13_transforms_classically_and_5_by_lists(void)
{
	// The aligned tree A(B(D,E), C(F,G)): A is node 0, B C are 2 3, D E are 4 5, F G are 6 7.
	static const int32_t aligned[8][2] = {{2, 0},  {-9, 0}, {4, 0},  {6, 0},
					      {-1, 0}, {-1, 0}, {-1, 0}, {-1, 0}};
	static const bool none_far[8] = {false};
	// The tumbled tree 1(2(4,5), 3): 1 is node 0, 2 3 are 2 3, 4 5 are 4 5; 3 is a leaf that meets
	// neither B nor C.
	static const int32_t tumbled[6][2] = {{2, 0}, {-9, 0}, {4, 0}, {-1, 0}, {-1, 0}, {-1, 0}};
	static const bool leaf_3_far[6] = {false, false, false, true, false, false};
	tac_doptree *a = by_hand(aligned, none_far, 4), *t = by_hand(tumbled, leaf_3_far, 3);
	t->nodes[0].dop.d[0] = 101.0F; // the root bounds its far leaf
	context->motion = identity_motion(0, 0, 0.003F);
	context->mode = TAC_QUERY_PAIRS;
	static const int32_t list_order[] = {0, 2, 4, 5, 3}; // 1 2 4 5 3 of the paper
	for (int s = 0; s < TAC_SIMD_COUNT; s++) {
		if (!tac_simd_supported((tac_simd)s) || !runs[s])
			continue;
		int32_t trace[32];
		tac_doptree_query q;
		context->counters = (tac_counters){0};
		context->nodes_left = INT64_MAX;
		tac_doptree_kernel_init(&q, context, a, t, -1);
		TEST_ASSERT_EQUAL(TAC_OVERLAP_NONE, runs[s](&q, false));
		TEST_ASSERT_EQUAL(13, context->counters.overlap_tests);
		TEST_ASSERT_EQUAL(13, context->counters.transforms);

		context->counters = (tac_counters){0};
		tac_doptree_kernel_init(&q, context, a, t, 0);
		q.trace = trace;
		q.trace_capacity = 32;
		TEST_ASSERT_EQUAL(TAC_OVERLAP_NONE, runs[s](&q, false));
		TEST_ASSERT_EQUAL(13, context->counters.overlap_tests);
		TEST_ASSERT_EQUAL(5, context->counters.transforms);
		TEST_ASSERT_EQUAL_INT32_ARRAY(list_order, trace, 5);
	}
	tac_doptree_destroy(&a);
	tac_doptree_destroy(&t);
}

static void every_m_and_layout_finds_the_pairs_of_brute_force(void)
{
	tac_rng rng = tac_rng_seed(1, 4);
	for (int i = 0; i < 40; i++) {
		tac_mesh *moving = soup(&rng, 1 + (int32_t)(tac_rng_u32(&rng) % 120), 1.0F, 100 + 5 * i);
		tac_mesh *fixed = soup(&rng, 1 + (int32_t)(tac_rng_u32(&rng) % 120), 1.0F, 300 - 5 * i);
		tac_rigid motion = random_motion(&rng, 0.7F);
		int64_t count;
		unsigned char *hit = brute_force(moving, fixed, &motion, &count);
		for (int layout = 0; layout < 2; layout++) {
			tac_doptree *a, *t;
			TEST_ASSERT_EQUAL(TAC_OK, tac_doptree_build(fixed, (tac_doptree_layout)layout, &a));
			TEST_ASSERT_EQUAL(TAC_OK, tac_doptree_build(moving, (tac_doptree_layout)layout, &t));
			for (int m = -1; m <= 2; m++)
				for (int s = 0; s < TAC_SIMD_COUNT; s++) {
					if (!tac_simd_supported((tac_simd)s) || !runs[s])
						continue;
					tac_doptree_query q;
					context->motion = motion;
					context->mode = TAC_QUERY_PAIRS;
					context->counters = (tac_counters){0};
					context->pair_count = 0;
					context->nodes_left = INT64_MAX;
					tac_doptree_kernel_init(&q, context, a, t, m);
					tac_overlap answer = runs[s](&q, false);
					TEST_ASSERT_EQUAL(count > 0 ? TAC_OVERLAP_HIT : TAC_OVERLAP_NONE,
							  answer);
					TEST_ASSERT_EQUAL(count, context->pair_count);
					for (int64_t k = 0; k < context->pair_count; k++)
						TEST_ASSERT_EQUAL(1,
								  hit[(size_t)context->fixed_ids[k] *
									      (size_t)moving->triangle_count +
								      (size_t)context->moving_ids[k]]);
				}
			tac_doptree_destroy(&a);
			tac_doptree_destroy(&t);
		}
		free(hit);
		tac_mesh_destroy(&moving);
		tac_mesh_destroy(&fixed);
	}
}

static int compare_int32(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

static void lists_transform_each_tumbled_node_at_most_once(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1.0F, 0.3F, 24, 12, &mesh));
	tac_doptree *tree;
	TEST_ASSERT_EQUAL(TAC_OK, tac_doptree_build(mesh, TAC_DOPTREE_R, &tree));
	tac_rng rng = tac_rng_seed(2, 4);
	int32_t *trace = malloc((size_t)tree->node_count * 2 * sizeof *trace);
	for (int i = 0; i < 1000; i++) {
		tac_doptree_query q;
		context->motion = random_motion(&rng, 1.2F);
		context->mode = TAC_QUERY_PAIRS;
		context->counters = (tac_counters){0};
		context->nodes_left = INT64_MAX;
		tac_doptree_kernel_init(&q, context, tree, tree, i % 3);
		q.trace = trace;
		q.trace_capacity = 2 * tree->node_count;
		runs[tac_simd_select()](&q, false);
		TEST_ASSERT_LESS_OR_EQUAL(tree->node_count, q.trace_count);
		TEST_ASSERT_EQUAL(context->counters.transforms, q.trace_count);
		qsort(trace, (size_t)q.trace_count, sizeof *trace, compare_int32);
		for (int k = 1; k < q.trace_count; k++)
			TEST_ASSERT_NOT_EQUAL(trace[k - 1], trace[k]);
	}
	free(trace);
	tac_doptree_destroy(&tree);
	tac_mesh_destroy(&mesh);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_example_of_figure_1_needs_13_transforms_classically_and_5_by_lists);
	RUN_TEST(every_m_and_layout_finds_the_pairs_of_brute_force);
	RUN_TEST(lists_transform_each_tumbled_node_at_most_once);
	return UNITY_END();
}
