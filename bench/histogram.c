// The cost of one tac_histogram_record, compared with (a) incrementing an array slot selected by the value's
// low bits, which no histogram can beat, (b) the bucket index by log2 and by frexp, and (c) HdrHistogram_c
// where it is installed; and the cost of the coordinated-omission correction, compared with its defining
// loop. All variants alternate in each round.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rt/clock.h"
#include "rt/histogram.h"

#ifdef TAC_HAVE_HDR
#include <hdr/hdr_histogram.h>
#endif

#define VALUES 16384
#define ROUNDS 301

static int64_t values[VALUES];
static tac_histogram histogram, corrected;
static uint64_t slots[4096];

static void record_floor(void)
{
	for (size_t i = 0; i < VALUES; i++)
		slots[values[i] & 4095]++;
}

static void record_tactus(void)
{
	for (size_t i = 0; i < VALUES; i++)
		tac_histogram_record(&histogram, values[i]);
}

// About the same resolution: 128 buckets to a doubling, 34 doublings.
static void record_log2(void)
{
	for (size_t i = 0; i < VALUES; i++) {
		const double value = values[i] < 1 ? 1.0 : (double)values[i];
		slots[(size_t)(log2(value) * 4096.0 / 35.0)]++;
	}
}

static void record_frexp(void)
{
	for (size_t i = 0; i < VALUES; i++) {
		int exponent;
		const double mantissa = frexp((double)values[i], &exponent);
		slots[((size_t)exponent * 128 + (size_t)((mantissa - 0.5) * 256.0)) & 4095]++;
	}
}

#ifdef TAC_HAVE_HDR
static struct hdr_histogram *hdr;

static void record_hdr(void)
{
	for (size_t i = 0; i < VALUES; i++)
		hdr_record_value(hdr, values[i]);
}
#endif

typedef struct variant {
	const char *name;
	void (*run)(void);
	double ns[ROUNDS]; // per record
} variant;

static variant variants[] = {
	{.name = "array increment (floor)", .run = record_floor},
	{.name = "tac_histogram_record", .run = record_tactus},
	{.name = "index by log2", .run = record_log2},
	{.name = "index by frexp", .run = record_frexp},
#ifdef TAC_HAVE_HDR
	{.name = "hdr_record_value, 2 digits", .run = record_hdr},
#endif
};
#define VARIANTS (sizeof variants / sizeof variants[0])

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void compare_records(const char *distribution)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t v = 0; v < VARIANTS; v++) {
			const int64_t begin_ns = tac_clock_now_ns();
			variants[v].run();
			variants[v].ns[round] = (double)(tac_clock_now_ns() - begin_ns) / VALUES;
		}
	}
	for (size_t v = 0; v < VARIANTS; v++)
		qsort(variants[v].ns, ROUNDS, sizeof variants[v].ns[0], compare_doubles);
	const double ours_ns = variants[1].ns[ROUNDS / 2];
	printf("%s: ns per record, median of %d rounds (minimum), ratio to ours\n", distribution, ROUNDS);
	for (size_t v = 0; v < VARIANTS; v++) {
		const double median_ns = variants[v].ns[ROUNDS / 2];
		printf("  %-28s %7.2f (%.2f)  x %.2f\n", variants[v].name, median_ns, variants[v].ns[0],
		       median_ns / ours_ns);
	}
}

static double correction_us(int64_t interval_ns)
{
	double best_us = HUGE_VAL;
	for (int round = 0; round < 5; round++) {
		const int64_t begin_ns = tac_clock_now_ns();
		tac_histogram_corrected(&histogram, interval_ns, &corrected);
		const double us = (double)(tac_clock_now_ns() - begin_ns) * 1e-3;
		best_us = us < best_us ? us : best_us;
	}
	return best_us;
}

static double loop_us(size_t count, int64_t interval_ns)
{
	tac_histogram_reset(&corrected);
	const int64_t begin_ns = tac_clock_now_ns();
	for (size_t i = 0; i < count; i++) {
		tac_histogram_record(&corrected, values[i]);
		for (int64_t missing = values[i] - interval_ns; missing >= interval_ns;
		     missing -= interval_ns)
			tac_histogram_record(&corrected, missing);
	}
	return (double)(tac_clock_now_ns() - begin_ns) * 1e-3;
}

static void compare_corrections(size_t count, int64_t interval_ns)
{
	tac_histogram_reset(&histogram);
	for (size_t i = 0; i < count; i++)
		tac_histogram_record(&histogram, values[i]);
	const double ours_us = correction_us(interval_ns);
	const unsigned long long added = (unsigned long long)(corrected.count - histogram.count);
	const double theirs_us = loop_us(count, interval_ns);
	printf("  %zu values, interval %lld ns, %llu added: %.0f us; value by value %.0f us, x %.1f\n", count,
	       (long long)interval_ns, added, ours_us, theirs_us, theirs_us / ours_us);
}

static double random_unit(void)
{
	return (rand() + 0.5) / (RAND_MAX + 1.0);
}

int main(void)
{
#ifdef TAC_HAVE_HDR
	hdr_init(1, TAC_HISTOGRAM_MAX_NS, 2, &hdr);
#else
	printf("HdrHistogram_c not compared: libhdrhistogram-dev was not found\n");
#endif
	srand(1);
	for (size_t i = 0; i < VALUES; i++)
		values[i] = 40000 + (int64_t)(-log(random_unit()) * 5000.0);
	compare_records("around 45 us");
	for (size_t i = 0; i < VALUES; i++)
		values[i] = (int64_t)exp(log(10.0) + random_unit() * log(1e9));
	compare_records("10 ns to 10 s");

	printf("correction\n");
	compare_corrections(1000, TAC_NS_PER_MS);
	compare_corrections(VALUES, TAC_NS_PER_MS);
	compare_corrections(1000, 100 * TAC_NS_PER_US);
	values[0] = 10 * TAC_NS_PER_S;
	compare_corrections(1, 100 * TAC_NS_PER_US);
	compare_corrections(1, 10);
	return 0;
}
