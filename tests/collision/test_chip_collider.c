// The chip behind the interface of all engines: the pairs of `doptree`, budgets and resumption, answers with
// too little memory, shapes that are built and destroyed, several threads, no allocation.
#include "tests/support/shapes.h"

#include "collision/chip_collider.h"
#include "collision/mesh_shapes.h"
#include "tests/support/allocations.h"
#include "tests/support/chip_fixture.h"

#include <pthread.h>
#include <string.h>

static tac_context *context, *other;
static tac_rng rng;
static const tac_collider *chip, *doptree;
static const tac_budget unlimited = {0, 0};

void setUp(void)
{
	rng = tac_rng_seed(5, 5);
	TEST_ASSERT_EQUAL(TAC_OK, tac_collider_add(tac_chip_collider()));
	chip = tac_collider_find("chip");
	doptree = tac_collider_find("doptree");
	TEST_ASSERT_NOT_NULL(chip);
	tac_context_def def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &context));
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &other));
}

void tearDown(void)
{
	tac_context_destroy(&context);
	tac_context_destroy(&other);
}

static tac_shape *shape_of(const tac_collider *collider, const tac_mesh *mesh)
{
	tac_shape *shape;
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(collider, mesh, &shape));
	return shape;
}

static tac_mesh *torus(float major, int32_t segments)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(major, 0.3F, segments, segments / 2, &mesh));
	return mesh;
}

static int by_pair(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

// The pairs of a context as sorted numbers; the caller frees them.
static int64_t *sorted(const tac_context *c)
{
	int64_t *pairs = malloc((size_t)(c->pair_count + 1) * sizeof *pairs);
	for (int64_t k = 0; k < c->pair_count; k++)
		pairs[k] = (int64_t)c->fixed_ids[k] << 32 | c->moving_ids[k];
	qsort(pairs, (size_t)c->pair_count, sizeof *pairs, by_pair);
	return pairs;
}

// Single precision may be wrong about triangles that touch or miss by less than this, m.
#define UNSURE 1e-5

// Counts the pairs that only one of the two contexts has, and checks that each is within UNSURE of touching.
static int differences(const tac_mesh *moving, const tac_mesh *fixed, const tac_rigid *motion)
{
	int64_t *actual = sorted(context), *expected = sorted(other);
	int64_t i = 0, k = 0;
	int different = 0;
	while (i < context->pair_count || k < other->pair_count) {
		int64_t a = i < context->pair_count ? actual[i] : INT64_MAX,
			b = k < other->pair_count ? expected[k] : INT64_MAX;
		i += a <= b;
		k += b <= a;
		if (a == b)
			continue;
		int64_t pair = a < b ? a : b;
		double apart = fix_mesh_separation(moving, (int32_t)(pair & UINT32_MAX), fixed,
						   (int32_t)(pair >> 32), motion);
		TEST_ASSERT_DOUBLE_WITHIN(UNSURE, 0.0, apart);
		different++;
	}
	free(actual);
	free(expected);
	return different;
}

static void all_modes_answer_as_doptree_does(void)
{
	tac_mesh *meshes[4] = {torus(1.0F, 40), torus(0.7F, 30), soup(&rng, 300, 1.5F, 300),
			       soup(&rng, 200, 1.5F, 300)};
	int touching = 0, different = 0;
	int64_t pairs = 0;
	for (int which = 0; which < 4; which += 2) {
		const tac_mesh *a = meshes[which], *b = meshes[which + 1];
		tac_shape *chip_a = shape_of(chip, a), *chip_b = shape_of(chip, b);
		tac_shape *tree_a = shape_of(doptree, a), *tree_b = shape_of(doptree, b);
		for (int i = 0; i < 100; i++) {
			tac_rigid motion = random_motion(&rng, 1.3F);
			for (int mode = 0; mode < 3; mode++) {
				tac_query_mode m = (tac_query_mode)mode;
				other->coherent = false;
				tac_overlap expected = tac_collider_query(doptree, other, tree_a, tree_b,
									  &motion, m, unlimited);
				TEST_ASSERT_EQUAL(expected, tac_collider_query(chip, context, chip_a, chip_b,
									       &motion, m, unlimited));
				TEST_ASSERT_FALSE(context->pending);
				TEST_ASSERT_EQUAL(other->counters.overlap_tests,
						  context->counters.overlap_tests);
				TEST_ASSERT_EQUAL(other->counters.transforms, context->counters.transforms);
				if (m == TAC_QUERY_PAIRS) {
					different += differences(a, b, &motion);
					touching += expected == TAC_OVERLAP_HIT;
					pairs += context->pair_count;
				} else {
					TEST_ASSERT_EQUAL(other->pair_count, context->pair_count);
				}
				if (m == TAC_QUERY_FIRST && expected == TAC_OVERLAP_HIT) {
					TEST_ASSERT_EQUAL(other->fixed_ids[0], context->fixed_ids[0]);
					TEST_ASSERT_EQUAL(other->moving_ids[0], context->moving_ids[0]);
				}
			}
		}
		tac_shape_destroy(&chip_a);
		tac_shape_destroy(&chip_b);
		tac_shape_destroy(&tree_a);
		tac_shape_destroy(&tree_b);
	}
	printf("200 poses, %d in contact, %d pairs, %d differ by rounding\n", touching, (int)pairs,
	       different);
	TEST_ASSERT_GREATER_THAN(60, touching);
	TEST_ASSERT_LESS_THAN(pairs / 1000, different);
	for (int i = 0; i < 4; i++)
		tac_mesh_destroy(&meshes[i]);
}

static void the_pairs_are_those_of_surface_detection(void)
{
	const tac_collider *scd = tac_collider_find("scd");
	TEST_ASSERT_NOT_NULL(scd);
	tac_mesh *a = torus(1.0F, 40), *b;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1.1F, 1.2F, 1.3F), 8, &b));
	tac_shape *chip_a = shape_of(chip, a), *chip_b = shape_of(chip, b);
	tac_shape *scd_a = shape_of(scd, a), *scd_b = shape_of(scd, b);
	int touching = 0, different = 0;
	for (int i = 0; i < 100; i++) {
		tac_rigid motion = random_motion(&rng, 1.3F);
		tac_overlap expected =
			tac_collider_query(scd, other, scd_a, scd_b, &motion, TAC_QUERY_PAIRS, unlimited);
		TEST_ASSERT_EQUAL(expected, tac_collider_query(chip, context, chip_a, chip_b, &motion,
							       TAC_QUERY_PAIRS, unlimited));
		touching += expected == TAC_OVERLAP_HIT;
		different += differences(a, b, &motion);
	}
	TEST_ASSERT_GREATER_THAN(30, touching);
	TEST_ASSERT_LESS_THAN(10, different);
	tac_shape_destroy(&chip_a);
	tac_shape_destroy(&chip_b);
	tac_shape_destroy(&scd_a);
	tac_shape_destroy(&scd_b);
	tac_mesh_destroy(&a);
	tac_mesh_destroy(&b);
}

static void a_spent_budget_is_unknown_and_the_query_resumes_to_the_same_answer(void)
{
	tac_mesh *mesh = torus(1.0F, 80);
	tac_shape *a = shape_of(chip, mesh), *b = shape_of(chip, mesh);
	tac_rigid motion = {tac_mat3_from_axis_angle(tac_vec3_make(1, 0, 0), 0.4F),
			    tac_vec3_make(0.2F, 0, 0.1F)};
	TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT,
			  tac_collider_query(chip, other, a, b, &motion, TAC_QUERY_PAIRS, unlimited));
	TEST_ASSERT_GREATER_THAN(500, other->pair_count);
	tac_budget small = {.nodes = 100}, past = {.deadline_ns = 1};
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN,
			  tac_collider_query(chip, context, a, b, &motion, TAC_QUERY_PAIRS, small));
	TEST_ASSERT_TRUE(context->pending);
	TEST_ASSERT_LESS_THAN(other->pair_count, context->pair_count);
	int slices = 1;
	tac_overlap answer = TAC_OVERLAP_UNKNOWN;
	while (context->pending) {
		answer = tac_collider_resume(chip, context, slices % 2 == 0 ? small : past);
		TEST_ASSERT_LESS_THAN(100000, ++slices);
	}
	TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT, answer);
	TEST_ASSERT_GREATER_THAN(10, slices);
	TEST_ASSERT_EQUAL(other->pair_count, context->pair_count);
	TEST_ASSERT_EQUAL_MEMORY(&other->counters, &context->counters, sizeof other->counters);
	int64_t *actual = sorted(context), *expected = sorted(other);
	TEST_ASSERT_EQUAL_MEMORY(expected, actual, (size_t)other->pair_count * sizeof *actual);
	free(actual);
	free(expected);
	uint64_t counters[TAC_CHIP_COUNTER_COUNT];
	tac_chip_collider_counters(context, counters);
	TEST_ASSERT_EQUAL(context->pair_count, counters[TAC_CHIP_HITS]);
	TEST_ASSERT_EQUAL(256 * counters[TAC_CHIP_SDRAM_BURSTS], counters[TAC_CHIP_SDRAM_BYTES]);
	tac_shape_destroy(&a);
	tac_shape_destroy(&b);
	tac_mesh_destroy(&mesh);
}

// Each size of scratch memory gives the whole answer or unknown.
static void too_little_scratch_memory_is_unknown(void)
{
	tac_mesh *mesh = torus(1.0F, 40);
	tac_shape *a = shape_of(chip, mesh);
	tac_rigid motion = {tac_mat3_from_axis_angle(tac_vec3_make(0, 1, 0), 0.7F),
			    tac_vec3_make(0.3F, 0, 0)};
	TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT,
			  tac_collider_query(chip, other, a, a, &motion, TAC_QUERY_PAIRS, unlimited));
	int unknown = 0, answered = 0;
	for (size_t bytes = 4096; bytes < 32768; bytes += 256) {
		tac_context_def def = {.pair_capacity = 65536, .scratch_bytes = bytes};
		tac_context *tight;
		TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &tight));
		tac_overlap answer =
			tac_collider_query(chip, tight, a, a, &motion, TAC_QUERY_PAIRS, unlimited);
		TEST_ASSERT_FALSE(tight->pending);
		if (answer == TAC_OVERLAP_HIT) {
			answered++;
			TEST_ASSERT_EQUAL(other->pair_count, tight->pair_count);
		} else {
			unknown++;
			TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, answer);
		}
		tac_context_destroy(&tight);
	}
	TEST_ASSERT_GREATER_THAN(0, unknown);
	TEST_ASSERT_GREATER_THAN(0, answered);
	tac_shape_destroy(&a);
	tac_mesh_destroy(&mesh);
}

static void shapes_are_built_and_destroyed_without_disturbing_each_other(void)
{
	tac_mesh *mesh = torus(1.0F, 24);
	tac_shape *fixed = shape_of(chip, mesh), *shapes[20] = {0};
	tac_rigid motion = {tac_mat3_from_axis_angle(tac_vec3_make(0, 1, 0), 0.7F),
			    tac_vec3_make(0.3F, 0, 0)};
	tac_collider_query(chip, other, fixed, fixed, &motion, TAC_QUERY_PAIRS, unlimited);
	TEST_ASSERT_GREATER_THAN(0, other->pair_count);
	for (int i = 0; i < 400; i++) {
		tac_shape **s = &shapes[tac_rng_below(&rng, 20)];
		if (*s) {
			tac_shape_destroy(s);
			continue;
		}
		*s = shape_of(chip, mesh);
		for (int exchanged = 0; exchanged < 2; exchanged++) {
			TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT,
					  tac_collider_query(chip, context, exchanged ? fixed : *s,
							     exchanged ? *s : fixed, &motion, TAC_QUERY_PAIRS,
							     unlimited));
			TEST_ASSERT_EQUAL(other->pair_count, context->pair_count);
		}
	}
	for (int i = 0; i < 20; i++)
		tac_shape_destroy(&shapes[i]);
	tac_shape_destroy(&fixed);
	tac_mesh_destroy(&mesh);
}

typedef struct {
	tac_context *context;
	const tac_shape *a, *b;
	uint64_t pairs;
} worker;

static void *work(void *argument)
{
	worker *w = argument;
	for (int i = 0; i < 100; i++) {
		tac_rigid motion = {tac_mat3_from_axis_angle(tac_vec3_make(0, 1, 0), 0.02F * (float)i),
				    tac_vec3_make(0.3F, 0, 0)};
		tac_collider_query(chip, w->context, w->a, w->b, &motion, TAC_QUERY_PAIRS, unlimited);
		w->pairs =
			31 * w->pairs + (uint64_t)w->context->pair_count; // a hash that depends on the order
	}
	return NULL;
}

static void two_threads_over_the_same_shapes_answer_as_one_does(void)
{
	tac_mesh *mesh = torus(1.0F, 30);
	tac_shape *a = shape_of(chip, mesh), *b = shape_of(chip, mesh);
	worker workers[2] = {{.context = context, .a = a, .b = b}, {.context = other, .a = a, .b = b}};
	pthread_t thread;
	TEST_ASSERT_EQUAL(0, pthread_create(&thread, NULL, work, &workers[1]));
	work(&workers[0]);
	pthread_join(thread, NULL);
	TEST_ASSERT_NOT_EQUAL(0, workers[0].pairs);
	TEST_ASSERT_EQUAL_INT64(workers[0].pairs, workers[1].pairs);
	tac_shape_destroy(&a);
	tac_shape_destroy(&b);
	tac_mesh_destroy(&mesh);
}

static void a_query_does_not_allocate(void)
{
	tac_mesh *mesh = torus(1.0F, 30);
	tac_shape *a = shape_of(chip, mesh);
	tac_rigid motion = identity_motion(0.4F, 0.1F, 0.05F);
	const int before = allocations;
	for (int i = 0; i < 20; i++)
		tac_collider_query(chip, context, a, a, &motion, TAC_QUERY_PAIRS, unlimited);
	TEST_ASSERT_EQUAL(before, allocations);
	tac_shape_destroy(&a);
	tac_mesh_destroy(&mesh);
}

static void an_empty_mesh_touches_nothing(void)
{
	tac_mesh_def def = tac_mesh_def_default();
	tac_mesh *empty, *mesh = torus(1.0F, 10);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &empty));
	tac_shape *a = shape_of(chip, empty), *b = shape_of(chip, mesh);
	tac_rigid motion = identity_motion(0, 0, 0);
	TEST_ASSERT_EQUAL(TAC_OVERLAP_NONE,
			  tac_collider_query(chip, context, a, b, &motion, TAC_QUERY_FIRST, unlimited));
	tac_shape_destroy(&a);
	tac_shape_destroy(&b);
	tac_mesh_destroy(&empty);
	tac_mesh_destroy(&mesh);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(all_modes_answer_as_doptree_does);
	RUN_TEST(the_pairs_are_those_of_surface_detection);
	RUN_TEST(a_spent_budget_is_unknown_and_the_query_resumes_to_the_same_answer);
	RUN_TEST(too_little_scratch_memory_is_unknown);
	RUN_TEST(shapes_are_built_and_destroyed_without_disturbing_each_other);
	RUN_TEST(two_threads_over_the_same_shapes_answer_as_one_does);
	RUN_TEST(a_query_does_not_allocate);
	RUN_TEST(an_empty_mesh_touches_nothing);
	return UNITY_END();
}
