// Histogram: how often a time in nanoseconds occurred, in fixed memory. Buckets are log-linear, as in Gil
// Tene's HdrHistogram: one per nanosecond below 256 ns, then 128 to each doubling, so that a bucket is at
// most 1/128 (0.8 %) of the values in it wide. The range ends at 2^34 - 1 ns (17.2 s). Values outside are
// counted separately. Minimum, maximum, sum and count are exact for all values. A zeroed struct is an empty
// histogram.
//
// One thread records and reads; nothing in it is atomic. In the runtime that is the slow thread, which gets
// the ticks through the ring, but the real-time thread may record as well.
#ifndef TAC_RT_HISTOGRAM_H
#define TAC_RT_HISTOGRAM_H

#include "base/api.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_HISTOGRAM_SUB_BITS 7  // 2^7 buckets to a doubling
#define TAC_HISTOGRAM_MAX_BITS 34 // the range is [0, 2^34 - 1] ns
#define TAC_HISTOGRAM_MAX_NS   ((INT64_C(1) << TAC_HISTOGRAM_MAX_BITS) - 1)
#define TAC_HISTOGRAM_BUCKETS                                                                                \
	((TAC_HISTOGRAM_MAX_BITS - TAC_HISTOGRAM_SUB_BITS + 1) << TAC_HISTOGRAM_SUB_BITS)

// 128 bits, because a few values near INT64_MAX would overflow 64.
__extension__ typedef __int128 tac_histogram_sum;

// 28 KiB. The fields may be read; only the functions below write them.
typedef struct tac_histogram {
	tac_histogram_sum sum_ns;
	uint64_t count; // of all values, in range or not
	uint64_t below; // values < 0, such as an early wake
	uint64_t above; // values > TAC_HISTOGRAM_MAX_NS
	int64_t min_ns; // 0 while count is 0, as is max_ns
	int64_t max_ns;
	uint64_t buckets[TAC_HISTOGRAM_BUCKETS];
} tac_histogram;

// The bucket of `value_ns`, which must be in [0, TAC_HISTOGRAM_MAX_NS].
// Thread: RT.
static inline uint32_t tac_histogram_index(int64_t value_ns)
{
	// The leading one and the SUB_BITS bits after it, behind the number of bits shifted out: the first
	// two doublings run on from the linear part without a gap, because there the shift is 0.
	const uint64_t value = (uint64_t)value_ns;
	const uint64_t floor = UINT64_C(1) << TAC_HISTOGRAM_SUB_BITS;
	const uint32_t shift = (uint32_t)(63 - TAC_HISTOGRAM_SUB_BITS - __builtin_clzll(value | floor));
	return (shift << TAC_HISTOGRAM_SUB_BITS) + (uint32_t)(value >> shift);
}

// Counts one value; any value is allowed.
// Thread: RT (a few nanoseconds, bounded; touches only the struct).
static inline void tac_histogram_record(tac_histogram *histogram, int64_t value_ns)
{
	if ((uint64_t)value_ns <= (uint64_t)TAC_HISTOGRAM_MAX_NS)
		histogram->buckets[tac_histogram_index(value_ns)]++;
	else if (value_ns < 0)
		histogram->below++;
	else
		histogram->above++;
	if (value_ns < histogram->min_ns || histogram->count == 0)
		histogram->min_ns = value_ns;
	if (value_ns > histogram->max_ns || histogram->count == 0)
		histogram->max_ns = value_ns;
	histogram->sum_ns += value_ns;
	histogram->count++;
}

// Empties it.
// Thread: any.
TAC_API void tac_histogram_reset(tac_histogram *histogram);

// Adds all of `from`, exactly as if its values had been recorded here.
// Thread: any.
TAC_API void tac_histogram_merge(tac_histogram *into, const tac_histogram *from);

// A value that at least `percent` % of the recorded values do not exceed: the upper end of the bucket that
// holds the ceil(percent/100 * count)-th smallest value, or the maximum if that is lower. So it is never
// below that value and at most 1/128 above it. 0 gives the exact minimum, 100 the exact maximum. Where that
// value is outside the range, -1 represents the values below it and the exact maximum for those above. 0 for
// an empty histogram. `percent` must be in [0, 100]; it counts as the decimal it was written as (99.9 of 1000
// values is the 999th).
// Thread: any.
TAC_API int64_t tac_histogram_percentile(const tac_histogram *histogram, double percent);

// The mean of the exact values; 0 for an empty histogram.
// Thread: any.
TAC_API double tac_histogram_mean(const tac_histogram *histogram);

// The number of values at or below `value_ns`. All of its bucket counts, so values up to 1/128 above it may
// be included. Exact below 256 ns and from the maximum on.
// Thread: any.
TAC_API uint64_t tac_histogram_count_to(const tac_histogram *histogram, int64_t value_ns);

// Bucket `index` in [0, TAC_HISTOGRAM_BUCKETS): the least and the greatest value it holds, and its count.
// Buckets are contiguous. Values outside the range are in `below` and `above` alone.
// Thread: any.
TAC_API void tac_histogram_bucket(const tac_histogram *histogram, uint32_t index, int64_t *out_low_ns,
				  int64_t *out_high_ns, uint64_t *out_count);

// Corrects for coordinated omission, where an activity should have happened every `interval_ns` (> 0) and a
// long value kept later ones from being recorded: each value v also counts as v - interval, v - 2 interval, …
// down to one interval. Values are taken at the upper end of their bucket, the exact maximum where that is
// lower; those above the range at the range's end. `out` must be another histogram. It takes at most one step
// for each pair of buckets (every bucket filled: 12 ms at 1 ms, 150 ms at 1 ns).
// Thread: any but RT.
TAC_API void tac_histogram_corrected(const tac_histogram *histogram, int64_t interval_ns, tac_histogram *out);

#ifdef __cplusplus
}
#endif

#endif
