// Viewer history: the last snapshots of one tool, to step through while paused, and the snapshot to display
// at an instant. Poses are interpolated between the last two snapshots and never extrapolated: the picture
// must not show a penetration that never was.
#ifndef TAC_APPS_VIEWER_HISTORY_H
#define TAC_APPS_VIEWER_HISTORY_H

#include "base/result.h"
#include "haptic/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

#define VIEWER_HISTORY_SNAPSHOTS 400

typedef struct viewer_history {
	tac_snapshot *ring; // of VIEWER_HISTORY_SNAPSHOTS
	int64_t added;      // snapshots added so far; the ring holds the last of them
	tac_snapshot shown; // the newest one, with interpolated poses
} viewer_history;

// TAC_ERROR_MEMORY with a log line. Thread (all): the visual one.
tac_result viewer_history_init(viewer_history *h);
void viewer_history_fini(viewer_history *h);

// Adds a copy of the snapshot. False: it is NULL, or the same tick as the last one.
bool viewer_history_add(viewer_history *h, const tac_snapshot *snapshot);

// The newest snapshot; NULL: none yet.
const tac_snapshot *viewer_history_newest(const viewer_history *h);

// The greatest `back` that viewer_history_back can show.
int viewer_history_depth(const viewer_history *h);

// The snapshot `back` before the newest, or the oldest. NULL: none yet.
const tac_snapshot *viewer_history_back(const viewer_history *h, int back);

// The newest snapshot with its poses interpolated for the instant `at_ns`. NULL: none yet. Valid until the
// next call.
const tac_snapshot *viewer_history_at(viewer_history *h, int64_t at_ns);

#endif
