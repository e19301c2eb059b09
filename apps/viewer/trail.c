#include "apps/viewer/trail.h"

#include <math.h>
#include <string.h>

void viewer_trail_init(viewer_trail *t)
{
	memset(t, 0, sizeof *t);
	pthread_mutex_init(&t->mutex, NULL);
}

void viewer_trail_fini(viewer_trail *t)
{
	pthread_mutex_destroy(&t->mutex);
}

// The bin of a time, cleared if it still holds an older one. The caller holds the mutex.
static viewer_trail_bin *bin_at(viewer_trail *t, int64_t time_ns)
{
	const int64_t number = time_ns > 0 ? time_ns / VIEWER_TRAIL_BIN_NS : 0;
	viewer_trail_bin *bin = &t->bins[number % VIEWER_TRAIL_BINS];
	if (bin->number != number)
		*bin = (viewer_trail_bin){.number = number};
	if (number > t->newest)
		t->newest = number;
	return bin;
}

void viewer_trail_tick(viewer_trail *t, int64_t time_ns, float compute_us, bool missed)
{
	pthread_mutex_lock(&t->mutex);
	viewer_trail_bin *bin = bin_at(t, time_ns);
	bin->compute_us = fmaxf(bin->compute_us, compute_us);
	bin->missed |= missed;
	bin->has_tick = true;
	pthread_mutex_unlock(&t->mutex);
}

void viewer_trail_force(viewer_trail *t, int64_t time_ns, float force_N)
{
	pthread_mutex_lock(&t->mutex);
	viewer_trail_bin *bin = bin_at(t, time_ns);
	bin->force_N = fmaxf(bin->force_N, force_N);
	bin->has_force = true;
	pthread_mutex_unlock(&t->mutex);
}

void viewer_trail_read(viewer_trail *t, viewer_trail_bin out[VIEWER_TRAIL_BINS])
{
	pthread_mutex_lock(&t->mutex);
	for (int i = 0; i < VIEWER_TRAIL_BINS; i++) {
		const int64_t number = t->newest - VIEWER_TRAIL_BINS + 1 + i;
		out[i] = (viewer_trail_bin){.number = number};
		if (number >= 0 && t->bins[number % VIEWER_TRAIL_BINS].number == number)
			out[i] = t->bins[number % VIEWER_TRAIL_BINS];
	}
	pthread_mutex_unlock(&t->mutex);
}
