// Whole queries on the gates and on the model: status, hits in order and all 24 counters are equal, and the
// clocks of the gates stay within the bound of docs/rtl.md.
#include "collision/mesh_load.h"
#include "collision/trees/doptree.h"
#include "tests/support/limits.h"
#include "tests/support/rtl_fixture.h"

#include <unistd.h>
#include <unity.h>

#define MIB (UINT32_C(1) << 20)

static twins t;
static tac_rng rng;

void setUp(void)
{
	rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 24), 0);
}

void tearDown(void)
{
}

static fix_motion random_motion(double reach)
{
	tac_dquat q = tac_rng_rotation_f64(&rng);
	double x = tac_rng_range_f64(&rng, -reach, reach), y = tac_rng_range_f64(&rng, -reach, reach);
	return fix_motion_of(q, x, y, tac_rng_range_f64(&rng, -reach, reach));
}

static void report(const char *what)
{
	printf("%s: %llu queries, %llu hits, %llu errors; %.0f clocks a query, %.3f of SCHED, least slack of "
	       "the bound %lld, at most %.0f %% of the allowance; %.2f million clocks a second\n",
	       what, (unsigned long long)t.queries, (unsigned long long)t.hits, (unsigned long long)t.errors,
	       (double)t.clocks / (double)t.queries, (double)t.clocks / (double)(t.sched > 0 ? t.sched : 1),
	       (long long)t.least_slack, 100 * t.most_share, 1e-6 * (double)t.clocks / t.seconds);
	TEST_ASSERT_GREATER_OR_EQUAL(0, t.least_slack);
	t.queries = t.hits = t.errors = t.clocks = t.sched = 0;
	t.seconds = t.most_share = 0;
	t.least_slack = INT64_MAX;
}

// Soups in both layouts, with both triangle tests, first hit and all hits; balanced and unbalanced trees.
static void random_scenes_give_the_same_hits_and_counters_in_eight_variants(void)
{
	int rounds = test_long() ? 1000 : 60;
	for (int scene = 0; scene < rounds; scene++) {
		fix_triangle a[60], b[60];
		int count_a = 1 + (int)tac_rng_below(&rng, 60), count_b = 1 + (int)tac_rng_below(&rng, 60);
		fix_soup(&rng, a, count_a, 0.8);
		fix_soup(&rng, b, count_b, 0.8);
		fix_motion motion = random_motion(1.5);
		for (int variant = 0; variant < 8; variant++) {
			bool layout_r = (variant & 1) != 0;
			tac_rng cuts = tac_rng_seed((uint64_t)scene, 1);
			fix_tree ta = fix_build(a, count_a, layout_r, 0, scene % 3 == 0 ? NULL : &cuts),
				 tb = fix_build(b, count_b, layout_r, MIB, scene % 3 == 0 ? NULL : &cuts);
			twins_write(&t, TAC_CHIP_CTRL, TAC_CHIP_RESET);
			twins_put(&t, &ta);
			twins_put(&t, &tb);
			fix_load_motion(t.model, &motion, ta.extent);
			twins_copy_registers(&t);
			uint32_t flags = TAC_CHIP_SCHED | (layout_r ? TAC_CHIP_LAYOUT_R : 0) |
					 ((variant & 2) != 0 ? TAC_CHIP_CLOSED_TRI : 0) |
					 ((variant & 4) != 0 ? TAC_CHIP_ALL_HITS : 0);
			char name[64];
			snprintf(name, sizeof name, "scene %d, variant %d", scene, variant);
			TEST_ASSERT_EQUAL_MESSAGE(0, twins_query(&t, flags, 0, MIB), name);
			fix_free(&ta);
			fix_free(&tb);
		}
	}
	report("soups");
}

// ---- errors ----

typedef struct {
	fix_tree a, b;
} scene;

static scene random_scene(bool layout_r, double reach)
{
	fix_triangle a[40], b[40];
	int count_a = 2 + (int)tac_rng_below(&rng, 39), count_b = 2 + (int)tac_rng_below(&rng, 39);
	fix_soup(&rng, a, count_a, 0.8);
	fix_soup(&rng, b, count_b, 0.8);
	fix_motion motion = random_motion(reach);
	tac_rng cuts = tac_rng_seed(tac_rng_u32(&rng), 1);
	scene s = {fix_build(a, count_a, layout_r, 0, &cuts), fix_build(b, count_b, layout_r, MIB, &cuts)};
	twins_write(&t, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	twins_put(&t, &s.a);
	twins_put(&t, &s.b);
	fix_load_motion(t.model, &motion, s.a.extent);
	twins_copy_registers(&t);
	return s;
}

static uint32_t random_flags(bool layout_r)
{
	return (tac_rng_u32(&rng) & (TAC_CHIP_ALL_HITS | TAC_CHIP_CLOSED_TRI | TAC_CHIP_SCHED)) |
	       (layout_r ? TAC_CHIP_LAYOUT_R : 0);
}

static void free_scene(scene *s)
{
	fix_free(&s->a);
	fix_free(&s->b);
}

// Types, links, bounds and coordinates of a few nodes: any bits, addresses of other nodes, NaN, the largest
// number. A link back up may make a cycle, so the model gets a limit; what does not end is left out.
static void damaged_trees_end_with_the_same_error_hits_and_counters(void)
{
	int errors[8] = {0}, rounds = test_rounds(1600), compared = 0;
	for (int round = 0; round < rounds; round++) {
		bool layout_r = round % 2 == 0;
		scene s = random_scene(layout_r, 0.4);
		for (int damage = 1 + (int)tac_rng_below(&rng, 8); damage > 0; damage--) {
			const fix_tree *tree = tac_rng_below(&rng, 2) == 0 ? &s.a : &s.b;
			uint32_t node = tac_rng_below(&rng, tree->bytes / 128) * 128,
				 word = tac_rng_u32(&rng);
			switch (tac_rng_below(&rng, 6)) {
			case 0:
				word = tree->base + tac_rng_below(&rng, tree->bytes / 128) * 128;
				break;
			case 1:
				word = tac_rng_below(&rng, 4);
				break;
			case 2:
				// no number, or one whose sums overflow
				word = ((word & 1) != 0 ? 0x7FC00000 : 0x7F7FFFFF) | (word & 0x80000000);
				break;
			case 3:
				word = 16 * MIB - 256 + tac_rng_below(&rng, 4) * 128;
				break;
			default:
				break;
			}
			uint32_t at = tac_rng_below(&rng, 2) == 0 ? 24 + tac_rng_below(&rng, 2)
								  : tac_rng_below(&rng, 24);
			memcpy(t.memory + tree->base + node + 4 * at, &word, sizeof word);
		}
		if (tac_rng_below(&rng, 4) == 0)
			twins_write(&t, TAC_CHIP_SRAM_WORDS, tac_rng_below(&rng, 60));
		uint32_t flags = random_flags(layout_r);
		// A dry run of the model: does it end?
		tac_chip_write(t.model, TAC_CHIP_ROOT_TUMBLED, 0);
		tac_chip_write(t.model, TAC_CHIP_ROOT_ALIGNED, MIB);
		tac_chip_write(t.model, TAC_CHIP_CTRL, flags | TAC_CHIP_START);
		bool endless = tac_chip_clock(t.model, 300000);
		tac_chip_write(t.model, TAC_CHIP_CTRL, TAC_CHIP_RESET);
		if (!endless) {
			char name[32];
			snprintf(name, sizeof name, "round %d", round);
			TEST_ASSERT_EQUAL_MESSAGE(0, twins_query(&t, flags, 0, MIB), name);
			errors[tac_chip_read(t.model, TAC_CHIP_STATUS) >> TAC_CHIP_ERR_SHIFT]++;
			compared++;
		}
		twins_write(&t, TAC_CHIP_CTRL, TAC_CHIP_RESET);
		twins_write(&t, TAC_CHIP_SRAM_WORDS, 65536);
		free_scene(&s);
	}
	TEST_ASSERT_GREATER_THAN(rounds * 3 / 4, compared);
	for (int e = TAC_CHIP_ERR_STACK; e <= TAC_CHIP_ERR_ADDRESS; e++)
		if (e != TAC_CHIP_ERR_FIFO)
			TEST_ASSERT_GREATER_THAN(rounds / 100, errors[e]);
	report("damaged trees");
}

// Triangle lines that wait for nothing: they read words that none of them writes, so a deep pipeline reaches
// the leaf's lines before the leaf's map is loaded, and must wait for that.
static void write_early_lines(void)
{
	for (uint32_t line = 24; line < 51; line++) {
		uint32_t word = (line < 42 ? 9 : 0) + (line - 24) % 9;
		for (int i = 1; i < 4; i++)
			word |= (18 + tac_rng_below(&rng, 6)) << 5 * i;
		twins_write(&t, TAC_CHIP_CORR + 4 * line, word);
	}
}

// Any lines that name existing registers, any settings, any roots: rows that read what an earlier one writes,
// schedules that do not work, roots that are no nodes.
static void any_registers_give_the_same_answer(void)
{
	t.any_rows = true;
	for (int round = 0; round < test_rounds(800); round++) {
		bool layout_r = round % 2 == 0;
		scene s = random_scene(layout_r, 0.4);
		// All triangle lines, or a few of any.
		const bool triangles = round % 4 == 0;
		for (uint32_t change = triangles ? 27 : tac_rng_below(&rng, 6); change > 0; change--) {
			uint32_t line = tac_rng_below(&rng, 3) == 0 ? tac_rng_below(&rng, 66)
								    : 24 + tac_rng_below(&rng, 42);
			uint32_t limit = tac_rng_below(&rng, 20) == 0 ? 32 : 24;
			uint32_t word = tac_rng_below(&rng, limit) | tac_rng_below(&rng, limit) << 5 |
					tac_rng_below(&rng, limit) << 10 | tac_rng_below(&rng, limit) << 15;
			twins_write(&t, TAC_CHIP_CORR + 4 * line, word);
		}
		if (round % 8 == 5)
			write_early_lines();
		if (tac_rng_below(&rng, 3) == 0)
			twins_write(&t, TAC_CHIP_AG2_DELAY, tac_rng_below(&rng, 60));
		uint32_t tumbled =
			tac_rng_below(&rng, 4) == 0 ? tac_rng_below(&rng, s.a.bytes / 128) * 128 : 0;
		uint32_t aligned =
			MIB + (tac_rng_below(&rng, 4) == 0 ? tac_rng_below(&rng, s.b.bytes / 128) * 128 : 0);
		aligned += tac_rng_below(&rng, 40) == 0 ? 4 : 0;
		char name[32];
		snprintf(name, sizeof name, "round %d", round);
		TEST_ASSERT_EQUAL_MESSAGE(0, twins_query(&t, random_flags(layout_r), tumbled, aligned), name);
		for (uint32_t o = 0; o <= TAC_CHIP_SRAM_WORDS; o += 4)
			TEST_ASSERT_EQUAL_HEX32(tac_chip_read(t.model, o), t.api->read(t.rtl, o));
		for (uint32_t o = TAC_CHIP_MATRIX + 30 * 16; o < TAC_CHIP_MATRIX_END;
		     o += 4) // the last leaf's map
			TEST_ASSERT_EQUAL_HEX32(tac_chip_read(t.model, o), t.api->read(t.rtl, o));
		twins_write(&t, TAC_CHIP_CTRL, TAC_CHIP_RESET);
		free_scene(&s);
	}
	t.any_rows = false;
	TEST_ASSERT_GREATER_THAN(20, t.errors);
	report("any registers");
}

// Trees whose siblings are emptied, so that a pair has its first, its second or no node.
static void empty_siblings_are_left_out(void)
{
	for (int round = 0; round < test_rounds(800); round++) {
		bool layout_r = round % 2 == 0;
		scene s = random_scene(layout_r, 0.3);
		const uint32_t empty = 2;
		for (int change = 1 + (int)tac_rng_below(&rng, 6); change > 0; change--) {
			const fix_tree *tree = tac_rng_below(&rng, 3) == 0 ? &s.b : &s.a;
			uint32_t pair = 256 + tac_rng_below(&rng, (tree->bytes - 256) / 256) * 256;
			uint32_t which = tac_rng_below(&rng, 3);
			for (uint32_t x = 0; x < 2; x++)
				if (which != x)
					memcpy(t.memory + tree->base + pair + 128 * x + 96, &empty,
					       sizeof empty);
		}
		char name[32];
		snprintf(name, sizeof name, "round %d", round);
		TEST_ASSERT_EQUAL_MESSAGE(
			0, twins_query(&t, random_flags(layout_r) | TAC_CHIP_ALL_HITS, 0, MIB), name);
		free_scene(&s);
	}
	report("empty siblings");
}

// ---- shapes ----

// A tree whose nodes have DOPs that contain everything or nothing, so that its shape alone determines the
// lists: long and short ones, empty pairs, leaves that meet a chain of inner nodes.
typedef struct {
	uint32_t base, bytes;
	uint32_t stride;             // from pair to pair: 256, or 1,024, where all are in the same bank
	uint32_t pairs;              // that may still be made
	uint32_t empty, leaf, apart; // of 16 nodes
	int full;                    // levels of inner nodes that contain everything
	bool chain;                  // below them, one node of each pair is of that kind
	bool layout_r;
	const fix_triangle *triangle; // of each leaf; NULL: any
} shape;

static uint32_t shape_take(shape *s)
{
	uint32_t at = s->base + s->bytes;
	s->bytes += s->stride;
	memset(t.memory + at, 0, 256);
	return at;
}

static void shape_record(const shape *s, uint32_t at)
{
	fix_triangle triangle;
	fix_soup(&rng, &triangle, 1, 0.8);
	fix_tree memory = {.words = (uint32_t *)(void *)t.memory};
	fix_record(&memory, at, s->triangle ? s->triangle : &triangle, (int)(at / 128));
}

static void shape_node(shape *s, uint32_t at, int level, bool contains)
{
	uint32_t *words = (uint32_t *)(void *)(t.memory + at);
	const float d = !contains && tac_rng_below(&rng, 16) < s->apart ? -30.0f : 10.0f;
	for (int i = 0; i < 24; i++)
		memcpy(&words[i], &d, sizeof d);
	const uint32_t kind = tac_rng_below(&rng, 16);
	if (!contains && kind < s->empty) {
		words[24] = 2;
	} else if (s->pairs == 0 || (!contains && kind < s->empty + s->leaf)) {
		words[24] = 1;
		if (s->layout_r)
			words[25] = shape_take(s);
		shape_record(s, s->layout_r ? words[25] : at);
	} else {
		s->pairs--;
		const uint32_t pair = words[25] = shape_take(s), first = tac_rng_below(&rng, 2);
		const bool full = level < s->full;
		shape_node(s, pair + 128 * first, level + 1, full || s->chain);
		shape_node(s, pair + 128 * (1 - first), level + 1, full);
	}
}

static void shape_query(shape trees[2], const fix_motion *motion, uint32_t flags)
{
	for (int i = 0; i < 2; i++) {
		const uint32_t empty = 2, root = shape_take(&trees[i]);
		shape_node(&trees[i], root, 0, true);
		memcpy(t.memory + root + 128 + 96, &empty, sizeof empty);
	}
	twins_write(&t, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	fix_load_motion(t.model, motion, 10.0f);
	twins_copy_registers(&t);
	TEST_ASSERT_EQUAL(0, twins_query(&t, flags | TAC_CHIP_SCHED, 0, MIB));
}

// Two triangles that the IT-Unit tests for long, and their motion.
static fix_motion slow_triangles(fix_triangle slow[2])
{
	fix_motion slow_motion = random_motion(0.4);
	double most = 0;
	for (int i = 0; i < (test_long() ? 4000 : 300); i++) {
		fix_triangle triangles[2];
		fix_soup(&rng, triangles, 2, 0.8);
		const fix_motion motion = random_motion(0.4);
		shape trees[2] = {{.stride = 1024, .triangle = &triangles[0]},
				  {.base = MIB, .stride = 1024, .triangle = &triangles[1]}};
		shape_query(trees, &motion, TAC_CHIP_ALL_HITS);
		const double directions = t.model->counters[TAC_CHIP_TRI_TESTS_REV] != 0 ? 2 : 1;
		if ((double)t.beyond / directions > most) {
			most = (double)t.beyond / directions;
			slow_motion = motion;
			memcpy(slow, triangles, sizeof triangles);
		}
	}
	return slow_motion;
}

// Each term of the bound has trees here that consist of little else.
static void trees_of_any_shape_stay_within_the_bound(void)
{
	fix_triangle slow[2];
	const fix_motion slow_motion = slow_triangles(slow);
	for (int round = 0; round < (test_long() ? 4000 : 300); round++) {
		const bool is_slow = tac_rng_below(&rng, 2) == 0, layout_r = round % 2 == 0;
		const fix_motion motion = is_slow ? slow_motion : random_motion(0.4);
		shape trees[2];
		for (int i = 0; i < 2; i++)
			trees[i] = (shape){
				.base = i == 0 ? 0 : MIB,
				.stride = tac_rng_below(&rng, 2) == 0 ? 256 : 1024,
				.pairs = tac_rng_below(&rng, tac_rng_below(&rng, 2) == 0 ? 4 : 64),
				.empty = tac_rng_below(&rng, 2) == 0 ? 0 : tac_rng_below(&rng, 16),
				.leaf = tac_rng_below(&rng, 2) == 0 ? 2 : tac_rng_below(&rng, 16),
				.apart = tac_rng_below(&rng, 2) == 0 ? 0 : tac_rng_below(&rng, 16),
				.full = tac_rng_below(&rng, 2) == 0 ? 0 : (int)tac_rng_below(&rng, 5),
				.chain = tac_rng_below(&rng, 2) == 0,
				.layout_r = layout_r,
				.triangle = is_slow ? &slow[i] : NULL,
			};
		shape_query(trees, &motion, random_flags(layout_r));
	}
	report("shapes");
}

// The clocks beyond the schedule of a query whose tumbled root is `root`.
static int64_t beyond_schedule(uint32_t root, uint32_t ag2_delay)
{
	twins_write(&t, TAC_CHIP_AG2_DELAY, ag2_delay);
	TEST_ASSERT_EQUAL(0, twins_query(&t, TAC_CHIP_SCHED | TAC_CHIP_LAYOUT_R, root, MIB));
	return t.beyond;
}

// The schedule has no clocks for the transformation of two empty siblings, so a long AG2_DELAY must not delay
// the query: with an empty root in either place, and with an inner root whose children are empty.
static void empty_pairs_are_not_transformed(void)
{
	const uint32_t inner_root = 0, empty_root = 256, children = 512, empty = 2, longest_delay = 255;
	memset(t.memory, 0, 1024);
	memcpy(t.memory + inner_root + 100, &children, sizeof children);
	for (uint32_t node = inner_root + 128; node < children + 256; node += 128)
		memcpy(t.memory + node + 96, &empty, sizeof empty);
	shape aligned = {.base = MIB, .stride = 256, .pairs = 8, .chain = true, .layout_r = true};
	shape_node(&aligned, shape_take(&aligned), 0, true);
	const fix_motion motion = random_motion(0.4);
	twins_write(&t, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	fix_load_motion(t.model, &motion, 10.0f);
	twins_copy_registers(&t);
	const uint32_t delay = tac_chip_read(t.model, TAC_CHIP_AG2_DELAY);
	const uint32_t roots[] = {inner_root, empty_root, empty_root + 128};
	for (int i = 0; i < 3; i++) {
		const int64_t least = beyond_schedule(roots[i], delay);
		TEST_ASSERT_EQUAL(i == 0 ? 2 : 1, t.model->counters[TAC_CHIP_LISTS]);
		// Bursts of the query before may still arrive.
		TEST_ASSERT_LESS_OR_EQUAL(least + 40, beyond_schedule(roots[i], longest_delay));
	}
	report("empty pairs");
}

// ---- meshes ----

// The poses of a mesh against itself: first hit, and for the first ten all hits; layout R, closed triangles.
static void mesh_twin(const char *name, const char *path, int most)
{
	tac_mesh *mesh;
	tac_mesh_load_def load = tac_mesh_load_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_load(path, &load, &mesh));
	tac_doptree *tree;
	TEST_ASSERT_EQUAL(TAC_OK, tac_doptree_build(mesh, TAC_DOPTREE_R, &tree));
	const uint32_t bytes = tac_chip_tree_bytes(tree);
	void *memory = aligned_alloc(256, bytes);
	tac_chip_tree_encode(tree, 0, memory);
	tac_chip_attach(t.model, 0, 0, memory, bytes);
	t.api->attach(t.rtl, 0, 0, memory, bytes);
	char poses[512];
	snprintf(poses, sizeof poses, "%s/%s.poses", TACTUS_MESHES, name);
	FILE *file = fopen(poses, "r");
	TEST_ASSERT_NOT_NULL(file);
	char line[1024];
	int count = 0;
	while (count < most && fgets(line, sizeof line, file)) {
		float v[12];
		int at = 0, used, n = 0;
		while (n < 12 && sscanf(line + at, "%f%n", &v[n], &used) == 1) {
			at += used;
			n++;
		}
		if (n != 12)
			continue;
		tac_chip_query query = {.root_tumbled = 0, .root_aligned = 0, .extent = tree->extent};
		memcpy(query.motion.R.m, v, 9 * sizeof *v);
		query.motion.t = tac_vec3_make(v[9], v[10], v[11]);
		tac_chip_batch batch;
		tac_chip_query_encode(&query, &batch);
		for (int all = 0; all < (count < 10 ? 2 : 1); all++) {
			for (uint32_t i = 0; i + 1 < batch.count; i++)
				twins_write(&t, batch.writes[i].offset, batch.writes[i].value);
			uint32_t flags = TAC_CHIP_SCHED | TAC_CHIP_LAYOUT_R | TAC_CHIP_CLOSED_TRI |
					 (all ? TAC_CHIP_ALL_HITS : 0);
			char what[64];
			snprintf(what, sizeof what, "%s, pose %d", name, count);
			TEST_ASSERT_EQUAL_MESSAGE(0, twins_query(&t, flags, 0, 0), what);
		}
		count++;
	}
	fclose(file);
	report(name);
	tac_chip_attach(t.model, 0, 0, t.memory, t.bytes);
	t.api->attach(t.rtl, 0, 0, t.memory, t.bytes);
	free(memory);
	tac_doptree_destroy(&tree);
	tac_mesh_destroy(&mesh);
}

static void reference_meshes_give_the_same_hits_and_counters(void)
{
	static const char *const names[] = {"cube", "bunny", "dragon", "buddha", "filter"};
	bool found = false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[512];
		snprintf(path, sizeof path, "%s/%s.off", TACTUS_MESHES, names[i]);
		if (access(path, R_OK) != 0 || (i > 0 && !test_long()))
			continue;
		found = true;
		mesh_twin(names[i], path, test_long() ? 360 : 8);
	}
	if (!found)
		TEST_IGNORE_MESSAGE("no reference meshes");
}

int main(void)
{
	UNITY_BEGIN();
	twins_create(&t, 16 * MIB, 65536, 65536);
	RUN_TEST(random_scenes_give_the_same_hits_and_counters_in_eight_variants);
	RUN_TEST(damaged_trees_end_with_the_same_error_hits_and_counters);
	RUN_TEST(any_registers_give_the_same_answer);
	RUN_TEST(empty_siblings_are_left_out);
	RUN_TEST(trees_of_any_shape_stay_within_the_bound);
	RUN_TEST(empty_pairs_are_not_transformed);
	RUN_TEST(reference_meshes_give_the_same_hits_and_counters);
	twins_destroy(&t);
	return UNITY_END();
}
