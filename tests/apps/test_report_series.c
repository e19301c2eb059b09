#include "apps/report/report_series.h"

#include "base/rng.h"
#include "unity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static report_series *series;

void setUp(void)
{
	series = calloc(1, sizeof *series);
	TEST_ASSERT_NOT_NULL(series);
}

void tearDown(void)
{
	free(series);
}

// Compares the bins with a plain loop over all samples.
static void check_samples(int count, int64_t step_ns)
{
	double *values = malloc((size_t)count * sizeof *values);
	TEST_ASSERT_NOT_NULL(values);
	memset(series, 0, sizeof *series);
	series->channels = 2;
	tac_rng rng = tac_rng_seed(9, 0);
	for (int i = 0; i < count; i++) {
		values[i] = tac_rng_range_f64(&rng, -0.5, 0.5);
		report_series_add(series, 777 + i * step_ns, (double[]){values[i], -3 * values[i]});
	}
	const int64_t end_ns = (count - 1) * step_ns;
	TEST_ASSERT_EQUAL_INT(end_ns / series->bin_ns + 1, series->count);
	TEST_ASSERT_LESS_OR_EQUAL(REPORT_BINS, series->count);
	if (end_ns > REPORT_BINS * INT64_C(10000000)) // at least half of the bins are in use
		TEST_ASSERT_GREATER_OR_EQUAL(REPORT_BINS / 2, series->count);
	int next = 0;
	for (int bin = 0; bin < series->count; bin++) {
		double low = HUGE_VAL, high = -HUGE_VAL, sum = 0;
		uint32_t samples = 0;
		for (; next < count && next * step_ns < (bin + 1) * series->bin_ns; next++, samples++) {
			low = fmin(low, values[next]);
			high = fmax(high, values[next]);
			sum += values[next];
		}
		TEST_ASSERT_EQUAL_UINT32(samples, series->samples[bin]);
		if (samples == 0)
			continue;
		const report_bin *a = &series->bins[bin][0], *b = &series->bins[bin][1];
		TEST_ASSERT_TRUE(a->min == low && a->max == high);
		TEST_ASSERT_TRUE(b->min == -3 * high && b->max == -3 * low);
		TEST_ASSERT_TRUE(fabs(a->sum - sum) < 1e-9);
	}
	TEST_ASSERT_EQUAL_INT(count, next);
	free(values);
}

static void bins_hold_every_sample_of_runs_of_any_length(void)
{
	check_samples(1, 1000000);
	check_samples(1000, 1000000);     // a second
	check_samples(10240, 1000000);    // just full
	check_samples(10241, 1000000);    // the first merge
	check_samples(100000, 1000000);   // several merges
	check_samples(3000, 50000000);    // bins without a sample between them
	check_samples(40, 1000000000000); // many merges at once
}

static void a_time_before_the_first_sample_counts_as_the_first(void)
{
	series->channels = 1;
	report_series_add(series, 1000, (double[]){1});
	report_series_add(series, 5, (double[]){2});
	TEST_ASSERT_EQUAL_INT(1, series->count);
	TEST_ASSERT_EQUAL_UINT32(2, series->samples[0]);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(bins_hold_every_sample_of_runs_of_any_length);
	RUN_TEST(a_time_before_the_first_sample_counts_as_the_first);
	return UNITY_END();
}
