// The software side of the chip: trees as bytes and motions as registers. With them the model is tested
// against brute force over the exact triangle test, the engine `doptree` and Table 1 of the paper.
#include "tests/support/shapes.h"

#include "collision/chip/units.h"
#include "collision/chip_host.h"
#include "collision/engines/doptree_engine.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "collision/trees/doptree.h"
#include "tests/support/chip_fixture.h"

#include <string.h>

static tac_chip *chip;
static tac_rng rng;

void setUp(void)
{
	rng = tac_rng_seed(44, 0);
	tac_chip_def def = tac_chip_def_default();
	def.memory_bytes = 64U << 20;
	TEST_ASSERT_EQUAL(TAC_OK, tac_chip_create(&def, &chip));
	TEST_ASSERT_NOT_NULL(tac_doptree_collider());
}

void tearDown(void)
{
	tac_chip_destroy(&chip);
}

// ---- Table 1 ----

// Objects, "aligned nodes visited", "tumbled nodes visited" and "time in HW" (µs) as printed, and the result
// of Equation 5 for the counts (docs/collisionchip.md, Time).
static const struct {
	const char *object;
	double aligned, tumbled;
	int printed_us;
	double exact_us;
} table[] = {
	{"Filter, average", 12474, 240, 153, 153.352}, {"Filter, worst", 542888, 3553, 5638, 5637.518},
	{"Frontlight, average", 389, 73, 15, 14.636},  {"Frontlight, worst", 7065, 937, 207, 207.336},
	{"Lock, average", 279, 81, 15, 14.805},        {"Lock, worst", 4854, 877, 178, 177.528},
	{"Car body, average", 259, 66, 12, 12.361},    {"Car body, worst", 3076, 538, 110, 109.830},
	{"Buddha, average", 159, 50, 9, 9.015},        {"Buddha, worst", 3345, 301, 77, 76.713},
};

static void equation_5_gives_the_ten_times_of_table_1_to_the_printed_digit(void)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		double cycles = tac_chip_equation_5(table[i].aligned, table[i].tumbled);
		double us = cycles * TAC_CHIP_CYCLE_NS * 1e-3;
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(0.001, table[i].exact_us, us, table[i].object);
		TEST_ASSERT_EQUAL_MESSAGE(table[i].printed_us, (int)(us + 0.5), table[i].object);
		TEST_ASSERT_DOUBLE_WITHIN(1.0, 40 * table[i].tumbled + 2.5 * table[i].aligned, cycles);
	}
	TEST_ASSERT_EQUAL_DOUBLE(0.0, tac_chip_equation_5(0, 0));
}

// ---- queries ----

typedef struct {
	tac_mesh *mesh;
	tac_doptree *tree;
	uint32_t root;
} object;

static object make_object(tac_mesh *mesh, tac_doptree_layout layout, uint32_t address)
{
	object o = {.mesh = mesh, .root = address};
	TEST_ASSERT_EQUAL(TAC_OK, tac_doptree_build(mesh, layout, &o.tree));
	uint32_t bytes = tac_chip_tree_bytes(o.tree);
	TEST_ASSERT_EQUAL(0, bytes % 256);
	void *encoded = malloc(bytes);
	tac_chip_tree_encode(o.tree, address, encoded);
	tac_chip_memory_write(chip, address, encoded, bytes);
	free(encoded);
	return o;
}

static tac_overlap query_chip(const object *tumbled, const object *aligned, const tac_rigid *motion,
			      uint32_t flags)
{
	tac_chip_query query = {.root_tumbled = tumbled->root,
				.root_aligned = aligned->root,
				.extent = tumbled->tree->extent,
				.flags = flags,
				.motion = *motion};
	static tac_chip_batch batch;
	tac_chip_query_encode(&query, &batch);
	tac_chip_apply(chip, &batch);
	tac_chip_clock(chip, 1000000000);
	return tac_chip_answer(tac_chip_read(chip, TAC_CHIP_STATUS));
}

// A hundred roundings of single precision, m.
#define UNSURE 1e-5

// Counts the pairs that only the chip or only doptree reported, and checks that each is within UNSURE of
// touching.
static int compare_sets(const object *tumbled, const object *aligned, const tac_rigid *motion,
			const tac_context *context, int *out_alike)
{
	int32_t columns = aligned->mesh->triangle_count;
	size_t cells = (size_t)tumbled->mesh->triangle_count * (size_t)columns;
	uint8_t *seen = calloc(cells, 1);
	while (tac_chip_read(chip, TAC_CHIP_HIT_COUNT) > 0) {
		uint32_t a = tac_chip_read(chip, TAC_CHIP_HIT_A), b = tac_chip_read(chip, TAC_CHIP_HIT_B);
		TEST_ASSERT_EQUAL_MESSAGE(0, seen[a * (uint32_t)columns + b], "a pair reported twice");
		seen[a * (uint32_t)columns + b] |= 1;
	}
	for (int64_t k = 0; k < context->pair_count; k++)
		seen[context->moving_ids[k] * columns + context->fixed_ids[k]] |= 2;
	int different = 0;
	for (size_t c = 0; c < cells; c++) {
		if (seen[c] == 3)
			(*out_alike)++;
		if (seen[c] != 1 && seen[c] != 2)
			continue;
		double apart = fix_mesh_separation(tumbled->mesh, (int32_t)(c / (size_t)columns),
						   aligned->mesh, (int32_t)(c % (size_t)columns), motion);
		TEST_ASSERT_DOUBLE_WITHIN(UNSURE, 0.0, apart);
		different++;
	}
	free(seen);
	return different;
}

static void chip_and_doptree_find_the_same_pairs_with_the_same_visits(void)
{
	tac_context *context;
	tac_context_def def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&def, &context));
	int alike = 0, different = 0, queries = 0, touching = 0;
	for (int shape = 0; shape < 3; shape++) {
		tac_mesh *a = NULL, *b = NULL;
		if (shape == 0) {
			TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1.0F, 0.3F, 40, 20, &a));
			TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.8F, 3, &b));
		} else if (shape == 1) {
			a = soup(&rng, 300, 1.0F, 200);
			b = soup(&rng, 250, 1.0F, 150);
		} else {
			TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 1, 1), 6, &a));
			TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.7F, 0.2F, 30, 12, &b));
		}
		tac_shape *shape_a, *shape_b;
		const tac_collider *doptree = tac_doptree_collider();
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(doptree, a, &shape_a));
		TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(doptree, b, &shape_b));
		object r_a = make_object(a, TAC_DOPTREE_R, 0), r_b = make_object(b, TAC_DOPTREE_R, 8U << 20);
		object p_a = make_object(a, TAC_DOPTREE_P, 16U << 20),
		       p_b = make_object(b, TAC_DOPTREE_P, 24U << 20);
		for (int i = 0; i < 60; i++, queries++) {
			tac_rigid motion = random_motion(&rng, 1.2F);
			tac_overlap exact = tac_collider_query(doptree, context, shape_a, shape_b, &motion,
							       TAC_QUERY_PAIRS, (tac_budget){0});
			uint32_t flags = TAC_CHIP_ALL_HITS | TAC_CHIP_CLOSED_TRI | TAC_CHIP_LAYOUT_R;
			TEST_ASSERT_EQUAL(exact, query_chip(&r_a, &r_b, &motion, flags));
			touching += exact == TAC_OVERLAP_HIT;
			uint64_t counters[TAC_CHIP_COUNTER_COUNT], in_p[TAC_CHIP_COUNTER_COUNT];
			tac_chip_counters_read(chip, counters);
			TEST_ASSERT_EQUAL(context->counters.overlap_tests, counters[TAC_CHIP_OVERLAP_TESTS]);
			TEST_ASSERT_EQUAL(context->counters.transforms, counters[TAC_CHIP_TUMBLED_NODES]);
			double cycles = tac_chip_equation_5((double)counters[TAC_CHIP_OVERLAP_TESTS],
							    (double)counters[TAC_CHIP_TUMBLED_NODES]);
			TEST_ASSERT_DOUBLE_WITHIN(1.0, cycles, (double)counters[TAC_CHIP_CYCLES_TOTAL]);
			different += compare_sets(&r_a, &r_b, &motion, context, &alike);
			TEST_ASSERT_EQUAL(exact, query_chip(&p_a, &p_b, &motion, flags & ~TAC_CHIP_LAYOUT_R));
			tac_chip_counters_read(chip, in_p);
			TEST_ASSERT_EQUAL(counters[TAC_CHIP_HITS], in_p[TAC_CHIP_HITS]);
		}
		tac_doptree_destroy(&r_a.tree);
		tac_doptree_destroy(&r_b.tree);
		tac_doptree_destroy(&p_a.tree);
		tac_doptree_destroy(&p_b.tree);
		tac_shape_destroy(&shape_a);
		tac_shape_destroy(&shape_b);
		tac_mesh_destroy(&a);
		tac_mesh_destroy(&b);
	}
	printf("%d queries, %d in contact: %d pairs alike, %d differ by rounding\n", queries, touching, alike,
	       different);
	TEST_ASSERT_GREATER_THAN(queries / 4, touching);
	TEST_ASSERT_LESS_THAN(alike / 1000, different);
	tac_context_destroy(&context);
}

// The reference meshes come with the pairs found by exact arithmetic, and with the least and greatest number
// of pairs if the copy is shifted by 1e-6 in any direction.
static void the_reference_meshes_have_the_pairs_of_exact_arithmetic(void)
{
	static const char *const names[] = {"dragon", "bunny"};
	int queries = 0, beyond = 0;
	for (int n = 0; n < 2; n++) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%s.poses", TACTUS_MESHES, names[n]);
		FILE *poses = fopen(path, "r");
		snprintf(path, sizeof path, "%s/%s.expected", TACTUS_MESHES, names[n]);
		FILE *expected = fopen(path, "r");
		snprintf(path, sizeof path, "%s/%s.off", TACTUS_MESHES, names[n]);
		tac_mesh *mesh = NULL;
		if (!poses || !expected || tac_mesh_load(path, NULL, &mesh) < 0)
			TEST_IGNORE_MESSAGE("no reference meshes");
		object o = make_object(mesh, TAC_DOPTREE_R, 0);
		char line[1024];
		while (fgets(line, sizeof line, expected)) {
			int pose, hit, pairs, least, most;
			if (sscanf(line, "%d %d %d %d %d", &pose, &hit, &pairs, &least, &most) != 5)
				continue;
			tac_rigid motion;
			float t[3];
			for (int i = 0; i < 9; i++)
				TEST_ASSERT_EQUAL(1, fscanf(poses, "%f", &motion.R.m[i / 3][i % 3]));
			for (int i = 0; i < 3; i++)
				TEST_ASSERT_EQUAL(1, fscanf(poses, "%f", &t[i]));
			motion.t = tac_vec3_load(t);
			uint32_t flags = TAC_CHIP_CLOSED_TRI | TAC_CHIP_LAYOUT_R;
			tac_overlap answer = hit ? TAC_OVERLAP_HIT : TAC_OVERLAP_NONE;
			TEST_ASSERT_EQUAL(answer, query_chip(&o, &o, &motion, flags | TAC_CHIP_ALL_HITS));
			uint32_t found = tac_chip_read(chip, TAC_CHIP_HIT_COUNT);
			TEST_ASSERT_GREATER_OR_EQUAL(least, found);
			TEST_ASSERT_LESS_OR_EQUAL(most + 2, found);
			beyond += found > (uint32_t)most;
			TEST_ASSERT_EQUAL(answer, query_chip(&o, &o, &motion, flags));
			queries++;
		}
		fclose(poses);
		fclose(expected);
		tac_doptree_destroy(&o.tree);
		tac_mesh_destroy(&mesh);
	}
	TEST_ASSERT_EQUAL(720, queries);
	// A vertex within 5e-7 of a plane counts as in it, so some near misses are reported.
	TEST_ASSERT_LESS_THAN(8, beyond);
}

// ---- registers ----

static float matrix_entry(int line, int column)
{
	return tac_chip_float(tac_chip_read(chip, (uint32_t)(TAC_CHIP_MATRIX + 16 * line + 4 * column)));
}

static void a_pure_translation_gives_unit_rows_and_its_components(void)
{
	tac_chip_query query = {.flags = 0, .extent = 0.0F, .motion = identity_motion(1, 2, 3)};
	tac_chip_batch batch;
	tac_chip_query_encode(&query, &batch);
	TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_CTRL, batch.writes[0].offset);
	TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_RESET, batch.writes[0].value);
	TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_CTRL, batch.writes[batch.count - 1].offset);
	TEST_ASSERT_EQUAL_HEX32(TAC_CHIP_START, batch.writes[batch.count - 1].value);
	batch.count--;
	tac_chip_apply(chip, &batch);
	static const float offsets[3] = {1, 2, 3};
	for (int i = 0; i < 24; i++) {
		float sum = 0, most = 0;
		for (int k = 0; k < 3; k++) {
			sum += matrix_entry(i, k);
			most = fmaxf(most, matrix_entry(i, k));
		}
		TEST_ASSERT_FLOAT_WITHIN(1e-6F, 1.0F, sum);
		TEST_ASSERT_FLOAT_WITHIN(1e-6F, 1.0F, most);
		if (i % 12 < 3)
			TEST_ASSERT_EQUAL_FLOAT(i < 12 ? offsets[i % 12] : -offsets[i % 12],
						matrix_entry(i, 3));
	}
	for (int r = 0; r < 3; r++)
		for (int c = 0; c < 4; c++) {
			float forward = c == r ? 1.0F : c == 3 ? offsets[r] : 0.0F;
			float back = c == r ? 1.0F : c == 3 ? -offsets[r] : 0.0F;
			TEST_ASSERT_EQUAL_FLOAT(forward, matrix_entry(24 + r, c));
			TEST_ASSERT_EQUAL_FLOAT(back, matrix_entry(27 + r, c));
		}
	TEST_ASSERT_EQUAL(0, tac_chip_read(chip, TAC_CHIP_STATUS));
}

// No register keeps a value of an earlier query.
static void a_query_writes_every_register_that_it_reads(void)
{
	tac_chip_query query = {
		.flags = TAC_CHIP_LAYOUT_R, .extent = 1.0F, .motion = random_motion(&rng, 1.0F)};
	tac_chip_batch batch;
	tac_chip_query_encode(&query, &batch);
	uint8_t written[0x700] = {0};
	for (uint32_t i = 0; i < batch.count; i++)
		written[batch.writes[i].offset]++;
	for (uint32_t line = 0; line < 30; line++) // lines 30-32 are loaded from the leaves
		for (uint32_t k = 0; k < 4; k++)
			TEST_ASSERT_EQUAL(1, written[TAC_CHIP_MATRIX + 16 * line + 4 * k]);
	for (uint32_t line = 0; line < 66; line++)
		TEST_ASSERT_EQUAL(1, written[TAC_CHIP_CORR + 4 * line]);
	TEST_ASSERT_EQUAL(1, written[TAC_CHIP_ROOT_TUMBLED]);
	TEST_ASSERT_EQUAL(1, written[TAC_CHIP_ROOT_ALIGNED]);
	TEST_ASSERT_EQUAL(1, written[TAC_CHIP_AG2_DELAY]);
	TEST_ASSERT_EQUAL(2, written[TAC_CHIP_CTRL]);
	TEST_ASSERT_EQUAL(120 + 66 + 3 + 2, batch.count);
}

static void the_order_and_delay_of_the_rows_are_legal_for_all_rotations(void)
{
	int longer = 0;
	for (int turn = 0; turn < 20000; turn++) {
		tac_chip_query query = {.extent = 1.0F, .motion = random_motion(&rng, 1.0F)};
		tac_chip_batch batch;
		tac_chip_query_encode(&query, &batch);
		tac_chip_line lines[24];
		int delay = 0;
		for (uint32_t i = 0; i < batch.count; i++) {
			uint32_t offset = batch.writes[i].offset, value = batch.writes[i].value;
			if (offset == TAC_CHIP_AG2_DELAY)
				delay = (int)value;
			if (offset >= TAC_CHIP_CORR && offset < TAC_CHIP_CORR + 4 * 24)
				lines[(offset - TAC_CHIP_CORR) / 4] = (tac_chip_line){.i = value & 31,
										      .k = value >> 5 & 31,
										      .m = value >> 10 & 31,
										      .n = value >> 15 & 31};
		}
		tac_chip_schedule schedule = tac_chip_schedule_run(lines, delay);
		TEST_ASSERT_EQUAL(0, schedule.early_reads);
		TEST_ASSERT_EQUAL_HEX32(0, schedule.missing_results);
		TEST_ASSERT_GREATER_OR_EQUAL(12, delay);
		longer += delay > 12;
	}
	printf("%d of 20000 rotations need more than 12 cycles\n", longer);
	TEST_ASSERT_LESS_THAN(200, longer);
}

static void a_tree_has_the_memory_layout_of_the_paper(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1.0F, 0.3F, 20, 10, &mesh));
	for (int layout = 0; layout < 2; layout++) {
		const uint32_t address = 0x10000;
		tac_doptree *tree;
		TEST_ASSERT_EQUAL(
			TAC_OK, tac_doptree_build(mesh, layout == 0 ? TAC_DOPTREE_R : TAC_DOPTREE_P, &tree));
		uint32_t bytes = tac_chip_tree_bytes(tree);
		uint32_t *words = malloc(bytes);
		tac_chip_tree_encode(tree, address, words);
		// Traverse depth first from the root by addresses alone; every triangle occurs once.
		uint8_t *found = calloc((size_t)mesh->triangle_count, 1);
		uint32_t stack[128] = {0}, depth = 1; // offsets of nodes
		while (depth > 0) {
			const uint32_t *node = words + stack[--depth] / 4;
			if (node[24] == 0) {
				TEST_ASSERT_EQUAL(0, node[25] % 256);
				TEST_ASSERT_TRUE(node[25] >= address && node[25] - address < bytes);
				stack[depth++] = node[25] - address;
				stack[depth++] = node[25] - address + 128;
				continue;
			}
			TEST_ASSERT_EQUAL(1, node[24]);
			const uint32_t *record = node;
			if (layout == 0) {
				TEST_ASSERT_EQUAL(0, node[25] % 128);
				record = words + (node[25] - address) / 4;
			}
			int32_t triangle = (int32_t)record[25];
			TEST_ASSERT_TRUE(triangle >= 0 && triangle < mesh->triangle_count);
			found[triangle]++;
			float values[24]; // 9 of the vertices, 12 of the map, 3 unused
			memcpy(values, record, sizeof values);
			fix_triangle expected = fix_mesh_triangle(mesh, triangle);
			TEST_ASSERT_EQUAL_MEMORY(expected.v, values, sizeof expected.v);
			static const float unit[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
			for (int k = 0; k < 3; k++)
				for (int r = 0; r < 3; r++) {
					const float *m = values + 9 + 4 * r, *v = expected.v[k];
					double x = (double)m[0] * (double)v[0] + (double)m[1] * (double)v[1] +
						   (double)m[2] * (double)v[2] + (double)m[3];
					TEST_ASSERT_DOUBLE_WITHIN(2e-5, (double)unit[k][r], x);
				}
			for (int w = 21; w < 24; w++)
				TEST_ASSERT_EQUAL_HEX32(0, record[w]);
		}
		for (int32_t t = 0; t < mesh->triangle_count; t++)
			TEST_ASSERT_EQUAL(1, found[t]);
		TEST_ASSERT_EQUAL(2, words[32 + 24]); // the root's sibling is empty
		free(found);
		free(words);
		tac_doptree_destroy(&tree);
	}
	tac_mesh_destroy(&mesh);
}

static void only_done_without_error_is_an_answer(void)
{
	TEST_ASSERT_EQUAL(TAC_OVERLAP_NONE, tac_chip_answer(TAC_CHIP_DONE));
	TEST_ASSERT_EQUAL(TAC_OVERLAP_HIT, tac_chip_answer(TAC_CHIP_DONE | TAC_CHIP_HIT));
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, tac_chip_answer(0));
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, tac_chip_answer(TAC_CHIP_BUSY));
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, tac_chip_answer(TAC_CHIP_BUSY | TAC_CHIP_HIT));
	TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, tac_chip_answer(TAC_CHIP_HIT));
	for (uint32_t code = 1; code < 256; code++) {
		TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN, tac_chip_answer(TAC_CHIP_DONE | code << 8));
		TEST_ASSERT_EQUAL(TAC_OVERLAP_UNKNOWN,
				  tac_chip_answer(TAC_CHIP_DONE | TAC_CHIP_HIT | code << 8));
	}
	for (int c = 0; c <= TAC_CHIP_COUNTER_COUNT; c++)
		TEST_ASSERT_TRUE(tac_chip_counter_name((tac_chip_counter)c)[0] != 0);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(equation_5_gives_the_ten_times_of_table_1_to_the_printed_digit);
	RUN_TEST(chip_and_doptree_find_the_same_pairs_with_the_same_visits);
	RUN_TEST(the_reference_meshes_have_the_pairs_of_exact_arithmetic);
	RUN_TEST(a_pure_translation_gives_unit_rows_and_its_components);
	RUN_TEST(a_query_writes_every_register_that_it_reads);
	RUN_TEST(the_order_and_delay_of_the_rows_are_legal_for_all_rotations);
	RUN_TEST(a_tree_has_the_memory_layout_of_the_paper);
	RUN_TEST(only_done_without_error_is_an_answer);
	return UNITY_END();
}
