// Viewer trail: tick time and force of the last 8 s, for the scrolling plots. The monitor's thread adds the
// ticks, the visual thread adds the forces; a mutex guards them. Neither is the real-time thread.
#ifndef TAC_APPS_VIEWER_TRAIL_H
#define TAC_APPS_VIEWER_TRAIL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define VIEWER_TRAIL_BINS   400
#define VIEWER_TRAIL_BIN_NS INT64_C(20000000) // 8 s in all

typedef struct viewer_trail_bin {
	int64_t number;   // time over VIEWER_TRAIL_BIN_NS
	float compute_us; // the maximum
	float force_N;    // the maximum
	bool missed;      // a deadline
	bool has_tick, has_force;
} viewer_trail_bin;

typedef struct viewer_trail {
	pthread_mutex_t mutex;
	int64_t newest; // bin number
	viewer_trail_bin bins[VIEWER_TRAIL_BINS];
} viewer_trail;

void viewer_trail_init(viewer_trail *t);
void viewer_trail_fini(viewer_trail *t);

// Thread: any but RT.
void viewer_trail_tick(viewer_trail *t, int64_t time_ns, float compute_us, bool missed);
void viewer_trail_force(viewer_trail *t, int64_t time_ns, float force_N);

// Copies the bins, oldest first. Bins without data in this window are empty.
void viewer_trail_read(viewer_trail *t, viewer_trail_bin out_bins[VIEWER_TRAIL_BINS]);

#endif
