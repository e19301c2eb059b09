// The oracles are sorted arrays of the recorded values, exact integer ranks, and the loop that defines the
// correction, run value by value. None of them depends on the bucket layout.
#include "rt/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "rt/clock.h"
#include "tests/support/catch_assert.h"
#include "unity.h"

#define VALUES 20000

static tac_histogram histogram, other, corrected;
static int64_t values[VALUES];

void setUp(void)
{
	tac_histogram_reset(&histogram);
	tac_histogram_reset(&other);
	// A correction must overwrite all of its output.
	memset(&corrected, 0xA5, sizeof corrected);
}

void tearDown(void)
{
	tac_assert_set(NULL);
}

static tac_rng rng;

static double random_unit(void)
{
	return tac_rng_f64(&rng) + 0x1p-54; // never 0: it goes into log
}

static int compare_values(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void record_all(tac_histogram *into, const int64_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tac_histogram_record(into, from[i]);
}

static void assert_same(const tac_histogram *expected, const tac_histogram *actual)
{
	TEST_ASSERT_EQUAL_UINT64(expected->count, actual->count);
	TEST_ASSERT_EQUAL_UINT64(expected->below, actual->below);
	TEST_ASSERT_EQUAL_UINT64(expected->above, actual->above);
	TEST_ASSERT_EQUAL_INT64(expected->min_ns, actual->min_ns);
	TEST_ASSERT_EQUAL_INT64(expected->max_ns, actual->max_ns);
	TEST_ASSERT_TRUE(expected->sum_ns == actual->sum_ns);
	TEST_ASSERT_EQUAL_UINT64_ARRAY(expected->buckets, actual->buckets, TAC_HISTOGRAM_BUCKETS);
}

static uint64_t total(const tac_histogram *h)
{
	uint64_t sum = h->below + h->above;
	for (uint32_t i = 0; i < TAC_HISTOGRAM_BUCKETS; i++)
		sum += h->buckets[i];
	return sum;
}

// A bucket is at most 1 % wide, from 10 ns to 10 s.
static void assert_bucket_is_within_1_percent(int64_t value_ns)
{
	int64_t low_ns, high_ns;
	uint64_t count;
	tac_histogram_bucket(&histogram, tac_histogram_index(value_ns), &low_ns, &high_ns, &count);
	TEST_ASSERT_TRUE(low_ns <= value_ns && value_ns <= high_ns);
	TEST_ASSERT_TRUE((high_ns - low_ns) * 100 <= low_ns);
}

static void every_value_is_in_a_bucket_within_1_percent(void)
{
	for (int64_t ns = 0; ns < 3000000; ns++)
		assert_bucket_is_within_1_percent(ns);
	for (double ns = 1e6; ns < 10e9; ns *= 1.00001)
		assert_bucket_is_within_1_percent((int64_t)ns);
	for (int bit = 0; bit < 34; bit++) {
		for (int64_t offset = -3; offset <= 3; offset++) {
			const int64_t ns = (INT64_C(1) << bit) + offset;
			if (ns >= 0)
				assert_bucket_is_within_1_percent(ns);
		}
	}
	assert_bucket_is_within_1_percent(10 * TAC_NS_PER_S);
	assert_bucket_is_within_1_percent(10 * TAC_NS_PER_S + 1);
	assert_bucket_is_within_1_percent(TAC_HISTOGRAM_MAX_NS);
}

static void small_values_are_exact(void)
{
	for (int64_t ns = 0; ns < 256; ns++) {
		int64_t low_ns, high_ns;
		uint64_t count;
		tac_histogram_bucket(&histogram, tac_histogram_index(ns), &low_ns, &high_ns, &count);
		TEST_ASSERT_EQUAL_INT64(ns, low_ns);
		TEST_ASSERT_EQUAL_INT64(ns, high_ns);
	}
}

static void buckets_cover_the_range_in_order_without_gaps(void)
{
	int64_t next_ns = 0;
	for (uint32_t i = 0; i < TAC_HISTOGRAM_BUCKETS; i++) {
		int64_t low_ns, high_ns;
		uint64_t count;
		tac_histogram_bucket(&histogram, i, &low_ns, &high_ns, &count);
		TEST_ASSERT_EQUAL_INT64(next_ns, low_ns);
		TEST_ASSERT_TRUE(high_ns >= low_ns);
		TEST_ASSERT_EQUAL_UINT32(i, tac_histogram_index(low_ns));
		TEST_ASSERT_EQUAL_UINT32(i, tac_histogram_index(high_ns));
		next_ns = high_ns + 1;
	}
	TEST_ASSERT_EQUAL_INT64(TAC_HISTOGRAM_MAX_NS + 1, next_ns);
	TEST_ASSERT_TRUE(TAC_HISTOGRAM_MAX_NS >= 10 * TAC_NS_PER_S);
}

static void bucket_counts_are_the_values_between_its_ends(void)
{
	rng = tac_rng_seed(1, 0);
	for (size_t i = 0; i < VALUES; i++)
		values[i] = (int64_t)exp(random_unit() * log(10e9));
	record_all(&histogram, values, VALUES);
	qsort(values, VALUES, sizeof values[0], compare_values);
	size_t at = 0;
	for (uint32_t i = 0; i < TAC_HISTOGRAM_BUCKETS; i++) {
		int64_t low_ns, high_ns;
		uint64_t count, expected = 0;
		tac_histogram_bucket(&histogram, i, &low_ns, &high_ns, &count);
		for (; at < VALUES && values[at] <= high_ns; at++)
			expected++;
		TEST_ASSERT_EQUAL_UINT64(expected, count);
	}
	TEST_ASSERT_EQUAL_size_t(VALUES, at);
}

static void an_empty_histogram_returns_zero(void)
{
	TEST_ASSERT_EQUAL_INT64(0, tac_histogram_percentile(&histogram, 0.0));
	TEST_ASSERT_EQUAL_INT64(0, tac_histogram_percentile(&histogram, 50.0));
	TEST_ASSERT_EQUAL_INT64(0, tac_histogram_percentile(&histogram, 100.0));
	TEST_ASSERT_EQUAL_DOUBLE(0.0, tac_histogram_mean(&histogram));
	TEST_ASSERT_EQUAL_UINT64(0, tac_histogram_count_to(&histogram, INT64_MIN));
	TEST_ASSERT_EQUAL_UINT64(0, tac_histogram_count_to(&histogram, 0));
	TEST_ASSERT_EQUAL_UINT64(0, tac_histogram_count_to(&histogram, INT64_MAX));
	tac_histogram_corrected(&histogram, 1000, &corrected);
	assert_same(&histogram, &corrected);
	tac_histogram_merge(&other, &histogram);
	assert_same(&histogram, &other);
}

static void zeroed_memory_is_an_empty_histogram(void)
{
	tac_histogram *fresh = calloc(1, sizeof *fresh);
	tac_histogram_record(fresh, 77);
	TEST_ASSERT_EQUAL_INT64(77, fresh->min_ns);
	TEST_ASSERT_EQUAL_INT64(77, fresh->max_ns);
	tac_histogram_reset(fresh);
	tac_histogram_record(fresh, -77);
	TEST_ASSERT_EQUAL_INT64(-77, fresh->min_ns);
	TEST_ASSERT_EQUAL_INT64(-77, fresh->max_ns);
	TEST_ASSERT_EQUAL_UINT64(1, fresh->count);
	free(fresh);
}

static void extremes_are_counted_separately_and_kept_exactly(void)
{
	static const int64_t extremes[] = {INT64_MIN,
					   INT64_MIN,
					   -1,
					   0,
					   10 * TAC_NS_PER_S + 1,
					   TAC_HISTOGRAM_MAX_NS,
					   TAC_HISTOGRAM_MAX_NS + 1,
					   INT64_MAX,
					   INT64_MAX};
	const size_t count = sizeof extremes / sizeof extremes[0];
	record_all(&histogram, extremes, count);
	TEST_ASSERT_EQUAL_UINT64(count, histogram.count);
	TEST_ASSERT_EQUAL_UINT64(3, histogram.below);
	TEST_ASSERT_EQUAL_UINT64(3, histogram.above);
	TEST_ASSERT_EQUAL_UINT64(count, total(&histogram));
	TEST_ASSERT_EQUAL_INT64(INT64_MIN, tac_histogram_percentile(&histogram, 0.0));
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, tac_histogram_percentile(&histogram, 100.0));
	TEST_ASSERT_EQUAL_INT64(-1, tac_histogram_percentile(&histogram, 10.0));
	TEST_ASSERT_EQUAL_INT64(0, tac_histogram_percentile(&histogram, 40.0));
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, tac_histogram_percentile(&histogram, 90.0));
	// INT64_MIN + INT64_MAX = -1, twice; the rest by hand.
	const int64_t sum = -2 - 1 + 10000000001 + 17179869183 + 17179869184;
	TEST_ASSERT_TRUE(histogram.sum_ns == sum);
	TEST_ASSERT_EQUAL_DOUBLE((double)sum / 9.0, tac_histogram_mean(&histogram));
	TEST_ASSERT_EQUAL_UINT64(3, tac_histogram_count_to(&histogram, -1));
	TEST_ASSERT_EQUAL_UINT64(4, tac_histogram_count_to(&histogram, 0));
	TEST_ASSERT_EQUAL_UINT64(9, tac_histogram_count_to(&histogram, INT64_MAX));
}

static void sum_does_not_overflow_64_bits(void)
{
	for (int i = 0; i < 1000; i++)
		tac_histogram_record(&histogram, INT64_MAX);
	TEST_ASSERT_EQUAL_DOUBLE(0x1p63, tac_histogram_mean(&histogram));
}

static void percentiles_of_negative_values_never_exceed_their_maximum(void)
{
	tac_histogram_record(&histogram, -50);
	tac_histogram_record(&histogram, -20);
	TEST_ASSERT_EQUAL_INT64(-50, tac_histogram_percentile(&histogram, 0.0));
	TEST_ASSERT_EQUAL_INT64(-20, tac_histogram_percentile(&histogram, 50.0));
	TEST_ASSERT_EQUAL_INT64(-20, tac_histogram_percentile(&histogram, 100.0));
	TEST_ASSERT_EQUAL_UINT64(0, tac_histogram_count_to(&histogram, -51));
	TEST_ASSERT_EQUAL_UINT64(2, tac_histogram_count_to(&histogram, -20));
}

// Percentiles in thousandths of a percent, so that the rank is exact in integers.
static const int64_t millipercents[] = {1,     10,    100,   1000,  10000, 25000, 33333, 50000,
					75000, 90000, 95000, 99000, 99900, 99990, 99999, 100000};

static void assert_percentiles_match_sorted(size_t count)
{
	qsort(values, count, sizeof values[0], compare_values);
	TEST_ASSERT_EQUAL_INT64(values[0], tac_histogram_percentile(&histogram, 0.0));
	TEST_ASSERT_EQUAL_INT64(values[count - 1], tac_histogram_percentile(&histogram, 100.0));
	for (size_t k = 0; k < sizeof millipercents / sizeof millipercents[0]; k++) {
		const size_t rank = ((size_t)millipercents[k] * count + 99999) / 100000;
		const int64_t exact = values[rank - 1];
		const int64_t answer =
			tac_histogram_percentile(&histogram, (double)millipercents[k] / 1000.0);
		TEST_ASSERT_TRUE(answer >= exact);
		TEST_ASSERT_TRUE(answer <= values[count - 1]);
		if (exact >= 0 && exact <= TAC_HISTOGRAM_MAX_NS)
			TEST_ASSERT_TRUE((answer - exact) * 100 <= exact);
		else if (exact < 0)
			TEST_ASSERT_TRUE(answer < 0);
		size_t at_or_below = 0;
		while (at_or_below < count && values[at_or_below] <= answer)
			at_or_below++;
		TEST_ASSERT_TRUE(at_or_below * 100000 >= (size_t)millipercents[k] * count);
	}
}

static int64_t draw_uniform(void)
{
	return (int64_t)(tac_rng_u64(&rng) % 1000000);
}

static int64_t draw_log_uniform(void)
{
	return (int64_t)exp(log(10.0) + random_unit() * log(1e9));
}

static int64_t draw_exponential_with_early_wakes(void)
{
	return (int64_t)(-log(random_unit()) * 40000.0) - 3000;
}

static int64_t draw_two_peaks_and_outliers(void)
{
	const uint64_t which = tac_rng_u64(&rng) % 1000;
	if (which == 0)
		return 20 * TAC_NS_PER_S + draw_uniform();
	return which < 700 ? 100 + draw_uniform() / 10000 : 250000 + draw_uniform() / 10;
}

static int64_t draw_constant(void)
{
	return 123456789;
}

static void percentiles_match_a_sorted_array(void)
{
	int64_t (*const draws[])(void) = {draw_uniform, draw_log_uniform, draw_exponential_with_early_wakes,
					  draw_two_peaks_and_outliers, draw_constant};
	static const size_t counts[] = {1, 2, 3, 7, 100, 1000, 1001, VALUES};
	rng = tac_rng_seed(2, 0);
	for (size_t d = 0; d < sizeof draws / sizeof draws[0]; d++) {
		for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
			tac_histogram_reset(&histogram);
			for (size_t i = 0; i < counts[c]; i++)
				values[i] = draws[d]();
			record_all(&histogram, values, counts[c]);
			assert_percentiles_match_sorted(counts[c]);
		}
	}
}

// The decimal 99.9 is not a double; the rank is still the exact one.
static void percent_counts_as_the_decimal_it_was_written_as(void)
{
	for (uint64_t count = 1; count <= 250; count++) {
		tac_histogram_record(&histogram, (int64_t)count - 1); // value k is the (k + 1)-th smallest
		for (uint64_t tenths = 1; tenths <= 1000; tenths++) {
			const int64_t rank = (int64_t)((tenths * count + 999) / 1000);
			TEST_ASSERT_EQUAL_INT64(rank - 1,
						tac_histogram_percentile(&histogram, (double)tenths / 10.0));
		}
	}
}

static void count_to_matches_a_sorted_array_within_1_percent(void)
{
	rng = tac_rng_seed(3, 0);
	for (size_t i = 0; i < VALUES; i++)
		values[i] = draw_exponential_with_early_wakes();
	record_all(&histogram, values, VALUES);
	for (int64_t ns = -4000; ns < 400000; ns += 997) {
		uint64_t exact = 0, upper = 0;
		for (size_t i = 0; i < VALUES; i++) {
			exact += values[i] <= ns;
			upper += values[i] <= (ns < 0 ? -1 : ns + ns / 100);
		}
		const uint64_t answer = tac_histogram_count_to(&histogram, ns);
		TEST_ASSERT_TRUE(answer >= exact && answer <= upper);
	}
}

static void merged_halves_equal_one_recording(void)
{
	static tac_histogram second;
	tac_histogram_reset(&second);
	rng = tac_rng_seed(4, 0);
	for (size_t i = 0; i < VALUES; i++)
		values[i] = i % 100 == 7 ? (int64_t)tac_rng_u64(&rng) : draw_log_uniform();
	record_all(&histogram, values, VALUES);
	record_all(&other, values, VALUES / 3);
	record_all(&second, values + VALUES / 3, VALUES - VALUES / 3);
	tac_histogram_merge(&other, &second);
	assert_same(&histogram, &other);
}

static void merging_an_empty_histogram_changes_nothing_either_way(void)
{
	tac_histogram_record(&histogram, 5000);
	tac_histogram_record(&histogram, 9000);
	tac_histogram_merge(&corrected, &other); // other is empty; corrected is garbage and must not be read
	tac_histogram_reset(&corrected);
	tac_histogram_merge(&corrected, &histogram);
	assert_same(&histogram, &corrected);
	tac_histogram_merge(&corrected, &other);
	assert_same(&histogram, &corrected);
}

static void correct_by_the_definition(tac_histogram *into, const int64_t *from, size_t count,
				      int64_t interval_ns)
{
	for (size_t i = 0; i < count; i++) {
		tac_histogram_record(into, from[i]);
		for (int64_t missing = from[i] - interval_ns; missing >= interval_ns; missing -= interval_ns)
			tac_histogram_record(into, missing);
	}
}

// Values at the upper ends of their buckets are represented exactly, so the correction is exact in every
// field.
static void correction_equals_the_expansion_value_by_value(void)
{
	static const int64_t intervals[] = {1, 7, 100, 999, 1000, 1024, 50000, 1000000, 3000000};
	rng = tac_rng_seed(5, 0);
	for (size_t k = 0; k < sizeof intervals / sizeof intervals[0]; k++) {
		tac_histogram_reset(&histogram);
		tac_histogram_reset(&other);
		const int64_t longest = intervals[k] < 100 ? 20000 : intervals[k] < 2000 ? 500000 : 200000000;
		for (size_t i = 0; i < 500; i++) {
			int64_t low_ns;
			uint64_t count;
			const int64_t ns = (int64_t)(tac_rng_u64(&rng) % (uint64_t)longest) - 50;
			values[i] = ns;
			if (ns >= 0)
				tac_histogram_bucket(&histogram, tac_histogram_index(ns), &low_ns, &values[i],
						     &count);
		}
		record_all(&histogram, values, 500);
		correct_by_the_definition(&other, values, 500, intervals[k]);
		tac_histogram_corrected(&histogram, intervals[k], &corrected);
		assert_same(&other, &corrected);
	}
}

static void correction_of_one_value_is_exact(void)
{
	static const int64_t singles[] = {1, 999, 1000, 1001, 1999, 2000, 2001, 123457, 98765432};
	for (size_t i = 0; i < sizeof singles / sizeof singles[0]; i++) {
		tac_histogram_reset(&histogram);
		tac_histogram_reset(&other);
		tac_histogram_record(&histogram, singles[i]);
		correct_by_the_definition(&other, &singles[i], 1, 1000);
		tac_histogram_corrected(&histogram, 1000, &corrected);
		assert_same(&other, &corrected);
	}
}

static void correction_of_any_values_is_within_bucket_error(void)
{
	rng = tac_rng_seed(6, 0);
	const int64_t interval_ns = 1000000;
	// An upper end 1/128 too high adds at most v/128/interval more values, and one by rounding.
	double slop = 0.0;
	for (size_t i = 0; i < 2000; i++) {
		values[i] = draw_log_uniform() / 10;
		slop += values[i] > interval_ns ? (double)values[i] / 128.0 / (double)interval_ns + 1.0 : 0.0;
	}
	record_all(&histogram, values, 2000);
	correct_by_the_definition(&other, values, 2000, interval_ns);
	tac_histogram_corrected(&histogram, interval_ns, &corrected);
	TEST_ASSERT_TRUE(corrected.count >= other.count);
	TEST_ASSERT_TRUE((double)(corrected.count - other.count) <= slop);
	TEST_ASSERT_EQUAL_INT64(other.max_ns, corrected.max_ns);
	TEST_ASSERT_EQUAL_UINT64(corrected.count, total(&corrected));
	const double expected = (double)tac_histogram_percentile(&other, 99.0);
	TEST_ASSERT_DOUBLE_WITHIN(0.02 * expected, expected,
				  (double)tac_histogram_percentile(&corrected, 99.0));
}

// 10 s at 1 ns are 10^10 values: the correction must sum the series in closed form, not value by value.
static void correction_of_a_long_stall_is_in_closed_form(void)
{
	const int64_t stall_ns = 10 * TAC_NS_PER_S;
	tac_histogram_record(&histogram, stall_ns);
	tac_histogram_corrected(&histogram, 1, &corrected);
	TEST_ASSERT_EQUAL_UINT64((uint64_t)stall_ns, corrected.count); // 10^10, 10^10 - 1, … 1
	TEST_ASSERT_TRUE(corrected.sum_ns == (tac_histogram_sum)stall_ns * (stall_ns + 1) / 2);
	TEST_ASSERT_EQUAL_INT64(1, corrected.min_ns);
	TEST_ASSERT_EQUAL_INT64(stall_ns, corrected.max_ns);
	TEST_ASSERT_EQUAL_UINT64(corrected.count, total(&corrected));
	tac_histogram_corrected(&histogram, 100000, &corrected);
	TEST_ASSERT_EQUAL_UINT64(100000, corrected.count); // 10 s, 10 s - 100 us, … 100 us
}

static void correction_keeps_values_outside_the_range(void)
{
	tac_histogram_record(&histogram, INT64_MIN);
	tac_histogram_record(&histogram, INT64_MAX);
	tac_histogram_record(&histogram, 5);
	tac_histogram_corrected(&histogram, INT64_MAX, &corrected);
	assert_same(&histogram, &corrected);
	tac_histogram_corrected(&histogram, TAC_NS_PER_S, &corrected);
	TEST_ASSERT_EQUAL_UINT64(1, corrected.below);
	TEST_ASSERT_EQUAL_UINT64(1, corrected.above);
	TEST_ASSERT_EQUAL_UINT64(3 + 16, corrected.count); // the end of the range is 17.18 s: 16.18 … 1.18
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, corrected.max_ns);
	TEST_ASSERT_EQUAL_INT64(INT64_MIN, corrected.min_ns);
}

#ifndef TAC_NO_ASSERT
static void misuse_is_asserted(void)
{
	tac_assert_set(catch_assert);
	if (setjmp(caught) == 0) {
		tac_histogram_percentile(&histogram, 100.1);
		TEST_FAIL_MESSAGE("a percentile above 100 was accepted");
	}
	if (setjmp(caught) == 0) {
		tac_histogram_percentile(&histogram, (double)NAN);
		TEST_FAIL_MESSAGE("a percentile that is not a number was accepted");
	}
	if (setjmp(caught) == 0) {
		tac_histogram_corrected(&histogram, 0, &corrected);
		TEST_FAIL_MESSAGE("an interval of 0 was accepted");
	}
	if (setjmp(caught) == 0) {
		tac_histogram_corrected(&histogram, 1000, &histogram);
		TEST_FAIL_MESSAGE("a correction in place was accepted");
	}
}
#else
static void misuse_is_asserted(void)
{
	TEST_IGNORE_MESSAGE("built without assertions");
}
#endif

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(every_value_is_in_a_bucket_within_1_percent);
	RUN_TEST(small_values_are_exact);
	RUN_TEST(buckets_cover_the_range_in_order_without_gaps);
	RUN_TEST(bucket_counts_are_the_values_between_its_ends);
	RUN_TEST(an_empty_histogram_returns_zero);
	RUN_TEST(zeroed_memory_is_an_empty_histogram);
	RUN_TEST(extremes_are_counted_separately_and_kept_exactly);
	RUN_TEST(sum_does_not_overflow_64_bits);
	RUN_TEST(percentiles_of_negative_values_never_exceed_their_maximum);
	RUN_TEST(percentiles_match_a_sorted_array);
	RUN_TEST(percent_counts_as_the_decimal_it_was_written_as);
	RUN_TEST(count_to_matches_a_sorted_array_within_1_percent);
	RUN_TEST(merged_halves_equal_one_recording);
	RUN_TEST(merging_an_empty_histogram_changes_nothing_either_way);
	RUN_TEST(correction_equals_the_expansion_value_by_value);
	RUN_TEST(correction_of_one_value_is_exact);
	RUN_TEST(correction_of_any_values_is_within_bucket_error);
	RUN_TEST(correction_of_a_long_stall_is_in_closed_form);
	RUN_TEST(correction_keeps_values_outside_the_range);
	RUN_TEST(misuse_is_asserted);
	return UNITY_END();
}
