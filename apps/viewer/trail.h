// Viewer trail: the last seconds of tick time and force for the scrolling plots. The monitor's thread brings
// the ticks, the visual thread the forces; a mutex between the two, neither of which is the real-time one.
#ifndef TAC_APPS_VIEWER_TRAIL_H
#define TAC_APPS_VIEWER_TRAIL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define VIEWER_TRAIL_BINS   400
#define VIEWER_TRAIL_BIN_NS INT64_C(20000000) // 8 s in all

typedef struct viewer_trail_bin {
	int64_t number;      // time over VIEWER_TRAIL_BIN_NS
	float compute_us;    // the longest
	float force_N;       // the greatest
	bool missed;         // a deadline
	bool ticked, forced; // there is something
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

// Copies the bins, oldest first; those without a number in the window are empty.
void viewer_trail_read(viewer_trail *t, viewer_trail_bin out_bins[VIEWER_TRAIL_BINS]);

#endif
