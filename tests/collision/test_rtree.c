#include "collision/trees/rtree.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>
#include <unity.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static const tac_rtree_method methods[2] = {TAC_RTREE_PACK, TAC_RTREE_INSERT};

static void random_boxes(tac_rng *rng, tac_aabb *boxes, int32_t count)
{
	for (int32_t i = 0; i < count; i++) {
		bool flat = tac_rng_below(rng, 4) == 0, same = i > 0 && tac_rng_below(rng, 16) == 0;
		for (int k = 0; k < 3; k++) {
			float low = tac_rng_range_f32(rng, -1, 1), size = tac_rng_range_f32(rng, 0, .1f);
			boxes[i].min[k] = low;
			boxes[i].max[k] = low + (flat && k == 2 ? 0 : size);
		}
		if (same)
			boxes[i] = boxes[i - 1];
	}
}

// Checks a subtree and marks its items; returns its box.
static tac_aabb check_node(const tac_rtree *tree, const tac_aabb *boxes, int32_t node, int32_t level,
			   unsigned char *seen)
{
	const tac_rtree_node *n = &tree->nodes[node];
	bool root = node == 0;
	TEST_ASSERT_TRUE(n->count <= TAC_RTREE_MAX);
	TEST_ASSERT_TRUE(n->count >= (!root ? TAC_RTREE_MIN : level > 0 ? 2 : 1));
	tac_aabb all = {{2, 2, 2}, {-2, -2, -2}};
	for (int i = 0; i < n->count; i++) {
		int32_t child = n->child[i];
		tac_aabb lane = tac_rtree_node_box(n, i), box;
		if (level > 0) {
			TEST_ASSERT_TRUE(child > 0 && child < tree->node_count);
			box = check_node(tree, boxes, child, level - 1, seen);
		} else {
			TEST_ASSERT_FALSE(seen[child]);
			seen[child] = 1;
			box = boxes[child];
		}
		TEST_ASSERT_EQUAL_MEMORY(&box, &lane, sizeof box); // exactly the union
		for (int k = 0; k < 3; k++) {
			all.min[k] = box.min[k] < all.min[k] ? box.min[k] : all.min[k];
			all.max[k] = box.max[k] > all.max[k] ? box.max[k] : all.max[k];
		}
	}
	for (int i = n->count; i < TAC_RTREE_MAX; i++)
		TEST_ASSERT_TRUE(n->min[0][i] > n->max[0][i]);
	return all;
}

static int32_t deepest(int32_t count)
{
	int32_t depth = 0; // ceil(log3 count) - 1
	for (int64_t width = 3; width < count; width *= 3)
		depth++;
	return depth;
}

static void trees_keep_their_invariants_for_every_size(void)
{
	tac_rng rng = tac_rng_seed(1, 0);
	tac_aabb *boxes = malloc(5000 * sizeof *boxes);
	unsigned char *seen = malloc(5000);
	for (int m = 0; m < 2; m++) {
		for (int32_t n = 1; n <= 5000; n += n < 300 ? 1 : n < 4900 ? 97 : 25) {
			random_boxes(&rng, boxes, n);
			tac_rtree tree;
			TEST_ASSERT_EQUAL(TAC_OK, tac_rtree_build(boxes, n, methods[m], &tree));
			memset(seen, 0, 5000);
			tac_aabb all = check_node(&tree, boxes, 0, tree.depth, seen);
			TEST_ASSERT_EQUAL_MEMORY(&all, &tree.box, sizeof all);
			for (int32_t i = 0; i < n; i++)
				TEST_ASSERT_TRUE(seen[i]);
			TEST_ASSERT_TRUE(tree.depth <= deepest(n));
			tac_rtree_fini(&tree);
		}
	}
	free(boxes);
	free(seen);
}

static void queries_equal_brute_force(void)
{
	enum { COUNT = 1500 };
	tac_rng rng = tac_rng_seed(2, 0);
	static tac_aabb boxes[COUNT];
	static int32_t found[COUNT];
	static unsigned char hit[COUNT];
	random_boxes(&rng, boxes, COUNT);
	for (int m = 0; m < 2; m++) {
		tac_rtree tree;
		TEST_ASSERT_EQUAL(TAC_OK, tac_rtree_build(boxes, COUNT, methods[m], &tree));
		int64_t tests = 0, total = 0;
		for (int q = 0; q < 300; q++) {
			tac_aabb box;
			random_boxes(&rng, &box, 1);
			if (q % 3 == 0) // touching: the corner of an item
				for (int k = 0; k < 3; k++)
					box.min[k] = box.max[k] = boxes[q].max[k];
			int32_t count = tac_rtree_query(&tree, &box, found, COUNT, &tests), expected = 0;
			memset(hit, 0, sizeof hit);
			for (int32_t i = 0; i < count; i++) {
				TEST_ASSERT_FALSE(hit[found[i]]);
				hit[found[i]] = 1;
			}
			for (int32_t i = 0; i < COUNT; i++) {
				TEST_ASSERT_EQUAL(tac_aabb_overlap(&box, &boxes[i]), hit[i]);
				expected += tac_aabb_overlap(&box, &boxes[i]);
			}
			TEST_ASSERT_EQUAL(expected, count);
			// Beyond the capacity items are counted but not written.
			TEST_ASSERT_EQUAL(expected, tac_rtree_query(&tree, &box, found, 1, NULL));
			total += expected;
		}
		TEST_ASSERT_TRUE(total > 100);
		TEST_ASSERT_TRUE(tests < 300 * COUNT / 4); // far fewer than brute force
		tac_rtree_fini(&tree);
	}
}

static void boxes_that_touch_overlap(void)
{
	tac_aabb a = {{0, 0, 0}, {1, 1, 1}}, b = {{1, 1, 1}, {2, 2, 2}}, c = {{1.0000001f, 0, 0}, {2, 1, 1}};
	TEST_ASSERT_TRUE(tac_aabb_overlap(&a, &b) && tac_aabb_overlap(&b, &a));
	TEST_ASSERT_FALSE(tac_aabb_overlap(&a, &c) || tac_aabb_overlap(&c, &a));
}

static void an_empty_tree_finds_nothing(void)
{
	for (int m = 0; m < 2; m++) {
		tac_rtree tree;
		TEST_ASSERT_EQUAL(TAC_OK, tac_rtree_build(NULL, 0, methods[m], &tree));
		tac_aabb all = {{-1e30f, -1e30f, -1e30f}, {1e30f, 1e30f, 1e30f}};
		TEST_ASSERT_EQUAL(0, tac_rtree_query(&tree, &all, NULL, 0, NULL));
		tac_rtree_fini(&tree);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(trees_keep_their_invariants_for_every_size);
	RUN_TEST(queries_equal_brute_force);
	RUN_TEST(boxes_that_touch_overlap);
	RUN_TEST(an_empty_tree_finds_nothing);
	return UNITY_END();
}
