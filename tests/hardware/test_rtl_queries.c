// Whole queries on the gates and on the model: status, hits in order and all 24 counters are equal, and the
// clocks of the gates stay within the bound of docs/rtl.md.
#include "tests/support/limits.h"
#include "tests/support/rtl_fixture.h"

#include <unity.h>

#define MIB (UINT32_C(1) << 20)

static twins t;
static tac_rng rng;

void setUp(void)
{
	rng = tac_rng_seed(24, 0);
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
	printf("%s: %llu queries, %llu hits, %llu errors; clocks over SCHED %.3f, least slack of the bound %lld\n", what,
	       (unsigned long long)t.queries, (unsigned long long)t.hits, (unsigned long long)t.errors,
	       (double)t.clocks / (double)(t.sched > 0 ? t.sched : 1), (long long)t.least_slack);
	t.queries = t.hits = t.errors = t.clocks = t.sched = 0;
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
	TEST_ASSERT_GREATER_OR_EQUAL(0, t.least_slack);
	report("soups");
}

int main(void)
{
	UNITY_BEGIN();
	twins_create(&t, 16 * MIB, 65536, 65536);
	RUN_TEST(random_scenes_give_the_same_hits_and_counters_in_eight_variants);
	twins_destroy(&t);
	return UNITY_END();
}
