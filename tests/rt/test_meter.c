// Meter: a loop that is not ours.
#include "rt/meter.h"

#include "rt/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unity.h>

#define PERIOD_NS (5 * TAC_NS_PER_MS)

void setUp(void)
{
}

void tearDown(void)
{
}

static void spin(int64_t ns)
{
	const int64_t end_ns = tac_clock_now_ns() + ns;
	while (tac_clock_now_ns() < end_ns) {
	}
}

// Twenty ticks, of which every fifth works for 1.5 periods; the plan after it skips a period.
static void somebody_elses_loop_is_counted_and_its_misses_have_causes(void)
{
	char log_path[64], trace_path[64];
	snprintf(log_path, sizeof log_path, "/tmp/tactus-meter-%d.csv", (int)getpid());
	snprintf(trace_path, sizeof trace_path, "/tmp/tactus-meter-%d.json", (int)getpid());
	const tac_meter_def def = {.period_ns = PERIOD_NS, .log_path = log_path, .trace_path = trace_path};
	tac_meter *meter;
	TEST_ASSERT_EQUAL(TAC_OK, tac_meter_create(&def, &meter));
	int64_t plan_ns = tac_clock_now_ns() + PERIOD_NS, last_index = 0;
	for (int i = 0; i < 20; i++) {
		tac_clock_sleep_until_ns(plan_ns);
		tac_meter_begin(meter, plan_ns);
		spin(i % 5 == 4 ? 3 * PERIOD_NS / 2 : PERIOD_NS / 50);
		tac_meter_end(meter);
		const int64_t periods = 1 + (tac_clock_now_ns() - plan_ns) / PERIOD_NS;
		if (i < 19)
			last_index += periods;
		plan_ns += PERIOD_NS * periods;
	}
	tac_monitor_stats *stats = calloc(1, sizeof *stats);
	TEST_ASSERT_NOT_NULL(stats);
	TEST_ASSERT_EQUAL(TAC_OK, tac_meter_destroy(&meter, stats));
	TEST_ASSERT_NULL(meter);
	TEST_ASSERT_EQUAL_INT64(20, stats->totals.ticks);
	TEST_ASSERT_EQUAL_INT64(20, stats->records);
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(4, stats->totals.misses); // a busy machine adds some
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(3 * PERIOD_NS / 2, stats->compute.max_ns);
	int64_t explained = 0;
	for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++)
		explained += stats->misses_by_cause[i];
	TEST_ASSERT_EQUAL_INT64(stats->totals.misses, explained);
	TEST_ASSERT_TRUE(stats->worst[0].index >= 0 && stats->worst[0].index <= last_index);
	free(stats);
	char text[4096];
	FILE *file = fopen(trace_path, "r");
	TEST_ASSERT_NOT_NULL(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	TEST_ASSERT_NOT_NULL(strstr(text, "\"work\""));
	unlink(trace_path);
	unlink(log_path);
}

static void bad_definitions_and_paths_are_refused(void)
{
	tac_meter *meter;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_meter_create(&(tac_meter_def){.period_ns = 0}, &meter));
	TEST_ASSERT_NULL(meter);
	const tac_meter_def nowhere = {.period_ns = PERIOD_NS, .log_path = "/no/such/folder/x.csv"};
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_meter_create(&nowhere, &meter));
	TEST_ASSERT_NULL(meter);
	TEST_ASSERT_EQUAL(TAC_OK, tac_meter_destroy(&meter, NULL));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(somebody_elses_loop_is_counted_and_its_misses_have_causes);
	RUN_TEST(bad_definitions_and_paths_are_refused);
	return UNITY_END();
}
