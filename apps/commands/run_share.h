// Run share: `tactus run --share NAME` lets a bridge on this machine take part in the run (share/seam.h). The
// real-time thread pushes a record of each tick; events, totals and figures follow from the thread that
// follows the run. Without --share nothing of this exists.
#ifndef TAC_APPS_COMMANDS_RUN_SHARE_H
#define TAC_APPS_COMMANDS_RUN_SHARE_H

#include "apps/session/loop_runner.h"
#include "apps/session/session.h"
#include "rt/latest.h"
#include "share/station.h"

#include <stdbool.h>

typedef struct run_share_def {
	const char *name; // of the station; NULL: the run is not shared
	bool external_wrench;
} run_share_def;

// A tool on which wrenches from the network act.
typedef struct run_share_tool {
	tac_seam_order order; // the newest
	tac_wrench acts;      // in this tick
	int64_t figures_ns;   // when the figures were last copied
	tac_latest *figures;  // from the real-time thread to the one that follows the run
} run_share_tool;

typedef struct run_share {
	run_share_def def;
	const char *record; // as given to the session
	const char *scene;
	int64_t period_ns;
	tac_seam *seam; // NULL: not shared
	tac_station *station;
	session *session; // that is shared
	loop_runner *runner;
	int64_t totals_ns; // when totals were last told
	run_share_tool tools[TAC_SCENE_TOOLS];
} run_share;

// An external wrench acts for this long after it was received.
#define RUN_SHARE_LIFESPAN_NS INT64_C(20000000)

// Whether the options make sense. False after one line. Thread: setup.
bool run_share_check(const run_share_def *def);

// Adds to `to_open` what sharing needs of the session. *out_share must stay where it is.
// Thread: setup.
void run_share_init(const run_share_def *def, session_def *to_open, run_share *out_share);

// Shares an open session; does nothing without a name. False after one line. Call run_share_end in either
// case. Thread: setup.
bool run_share_start(run_share *share, session *open, loop_runner *runner);

// Before and after the step of a tick. Thread: RT.
void run_share_take(run_share *share);
void run_share_add(run_share *share, const tac_snapshot *snapshot);

// Passes events, totals and figures on. Thread: the one that follows the run.
void run_share_follow(run_share *share);

// Passes the rest on and closes everything. Thread: setup, after the run.
void run_share_end(run_share *share);

#endif
