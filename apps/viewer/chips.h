// Viewer chips: what a drill throws off, drawn for a moment. They are a picture of the volume that was
// removed and nothing else: nothing touches them. A picture depends on the snapshots and its time alone, so a
// replay that is paused shows chips in the air.
#ifndef TAC_APPS_VIEWER_CHIPS_H
#define TAC_APPS_VIEWER_CHIPS_H

#include "base/algebra.h"
#include "base/rng.h"
#include "haptic/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

#define VIEWER_CHIPS 256

typedef struct viewer_chip {
	int64_t born_ns;
	tac_vec3 from, velocity_m_per_s; // at birth, world frame
	tac_quat rotation;
	float size_m;
	int32_t label; // of its material
} viewer_chip;

typedef struct viewer_chips {
	viewer_chip chips[VIEWER_CHIPS]; // the newest replaces the oldest
	uint32_t made;
	tac_rng rng;
	int64_t time_ns;                     // of the last snapshot
	double removed_m3[TAC_FIELD_LABELS]; // up to it, what has become a chip already
} viewer_chips;

// Thread (all): any, one.
void viewer_chips_init(viewer_chips *c);

// Makes chips of what was removed since the last snapshot by a burr of this radius.
void viewer_chips_add(viewer_chips *c, const tac_snapshot *snapshot, float radius_m);

// Where chip i is at a time, and how much of it is left, 0 … 1. False: there is none.
bool viewer_chips_at(const viewer_chips *c, int i, int64_t now_ns, tac_vec3 *out_position, float *out_left);

#endif
