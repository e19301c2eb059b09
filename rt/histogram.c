#include "rt/histogram.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/assert.h"

static int64_t bucket_low_ns(uint32_t index)
{
	const uint32_t linear = UINT32_C(2) << TAC_HISTOGRAM_SUB_BITS;
	if (index < linear)
		return index;
	const uint32_t shift = (index >> TAC_HISTOGRAM_SUB_BITS) - 1;
	return ((int64_t)index - ((int64_t)shift << TAC_HISTOGRAM_SUB_BITS)) << shift;
}

static int64_t bucket_high_ns(uint32_t index)
{
	return bucket_low_ns(index + 1) - 1;
}

void tac_histogram_reset(tac_histogram *histogram)
{
	memset(histogram, 0, sizeof *histogram);
}

void tac_histogram_merge(tac_histogram *into, const tac_histogram *from)
{
	if (from->count == 0)
		return;
	if (from->min_ns < into->min_ns || into->count == 0)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns || into->count == 0)
		into->max_ns = from->max_ns;
	into->sum_ns += from->sum_ns;
	into->count += from->count;
	into->below += from->below;
	into->above += from->above;
	for (uint32_t i = 0; i < TAC_HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

int64_t tac_histogram_percentile(const tac_histogram *histogram, double percent)
{
	TAC_ASSERT(percent >= 0.0 && percent <= 100.0);
	if (percent == 0.0 || histogram->count == 0)
		return histogram->min_ns;
	// Three roundings (the decimal, the product, the quotient) can push a whole number above itself, and
	// the ceiling would then select the next value.
	const double rank = percent * (double)histogram->count / 100.0 * (1.0 - 4.0 * DBL_EPSILON);
	uint64_t seen = histogram->below;
	if ((double)seen >= rank && seen > 0)
		return histogram->max_ns < 0 ? histogram->max_ns : -1;
	for (uint32_t i = 0; i < TAC_HISTOGRAM_BUCKETS; i++) {
		seen += histogram->buckets[i];
		if ((double)seen >= rank && seen > 0) {
			const int64_t high_ns = bucket_high_ns(i);
			return high_ns < histogram->max_ns ? high_ns : histogram->max_ns;
		}
	}
	return histogram->max_ns;
}

double tac_histogram_mean(const tac_histogram *histogram)
{
	return histogram->count == 0 ? 0.0 : (double)histogram->sum_ns / (double)histogram->count;
}

uint64_t tac_histogram_count_to(const tac_histogram *histogram, int64_t value_ns)
{
	if (histogram->count == 0 || value_ns < histogram->min_ns)
		return 0;
	if (value_ns >= histogram->max_ns || value_ns > TAC_HISTOGRAM_MAX_NS)
		return histogram->count;
	uint64_t seen = histogram->below;
	if (value_ns < 0)
		return seen;
	const uint32_t last = tac_histogram_index(value_ns);
	for (uint32_t i = 0; i <= last; i++)
		seen += histogram->buckets[i];
	return seen;
}

void tac_histogram_bucket(const tac_histogram *histogram, uint32_t index, int64_t *out_low_ns,
			  int64_t *out_high_ns, uint64_t *out_count)
{
	TAC_ASSERT(index < TAC_HISTOGRAM_BUCKETS);
	*out_low_ns = bucket_low_ns(index);
	*out_high_ns = bucket_high_ns(index);
	*out_count = histogram->buckets[index];
}

// Adds value - interval, value - 2 interval, … down to one interval, `count` times each, one bucket at a
// time.
static void add_missing(tac_histogram *out, int64_t value_ns, int64_t interval_ns, uint64_t count)
{
	int64_t missing_ns = value_ns - interval_ns;
	while (missing_ns >= interval_ns) {
		const uint32_t index = tac_histogram_index(missing_ns);
		// This does not reach below one interval: the bucket of one interval is narrower than it.
		const int64_t steps = (missing_ns - bucket_low_ns(index)) / interval_ns + 1;
		const int64_t last_ns = missing_ns - (steps - 1) * interval_ns;
		// missing … last is an arithmetic series, and (first + last) * length is even in every one.
		out->sum_ns += (tac_histogram_sum)(missing_ns + last_ns) * steps / 2 * count;
		out->count += (uint64_t)steps * count;
		out->buckets[index] += (uint64_t)steps * count;
		if (last_ns < out->min_ns)
			out->min_ns = last_ns;
		missing_ns = last_ns - interval_ns;
	}
}

void tac_histogram_corrected(const tac_histogram *histogram, int64_t interval_ns, tac_histogram *out)
{
	TAC_ASSERT(interval_ns > 0);
	TAC_ASSERT(out != histogram);
	*out = *histogram;
	for (uint32_t i = 0; i < TAC_HISTOGRAM_BUCKETS; i++) {
		if (histogram->buckets[i] == 0)
			continue;
		const int64_t high_ns = bucket_high_ns(i);
		const int64_t value_ns = high_ns < histogram->max_ns ? high_ns : histogram->max_ns;
		add_missing(out, value_ns, interval_ns, histogram->buckets[i]);
	}
	if (histogram->above > 0)
		add_missing(out, TAC_HISTOGRAM_MAX_NS, interval_ns, histogram->above);
}
