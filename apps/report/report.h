// Report: a run as one self-contained HTML file: the real-time set-up that was requested and granted, the
// distributions of times, wake and compute over time, the misses by cause with the worst ones in detail, the
// device, the forces and the energy, and the data for download as CSV. The page has a light and a dark theme
// and a layout for printing.
#ifndef TAC_APPS_REPORT_REPORT_H
#define TAC_APPS_REPORT_REPORT_H

#include "apps/report/report_section.h"
#include "apps/report/report_series.h"
#include "apps/session/machine.h"
#include "base/output.h"
#include "devices/device.h"
#include "haptic/snapshot.h"
#include "haptic/task.h"
#include "rt/histogram.h"
#include "rt/monitor.h"
#include "rt/thread.h"

#include <stdbool.h>

#define REPORT_FACTS 16

typedef struct report_fact {
	char name[32];
	char text[160];
} report_fact;

// The caller owns what the pointers refer to, except `ticks`.
typedef struct report {
	const char *command; // "tactus latency"
	int64_t period_ns;
	machine machine;
	const tac_thread_report *thread;
	report_fact facts[REPORT_FACTS]; // of the run: rate, scene, collider, …
	int fact_count;
	const tac_monitor_stats *stats;
	const tac_histogram *wake_corrected; // for coordinated omission; NULL: none
	report_series *ticks;                // channels REPORT_TICK_WAKE …, filled by report_add_tick
	const report_series *forces;         // channels REPORT_FORCE …; NULL: none
	const report_series *distances;      // to each protected structure, by its name; NULL: none
	double warn_m[REPORT_CHANNELS];      // of each structure; 0: none
	tac_snapshot_feel feel;              // of the run, with `forces`
	const tac_device_info *device;       // NULL: none
	tac_task_row task[TAC_TASK_ROWS];    // figures of the first tool's task, shown if they are wanted
	int32_t task_count;
	bool task_passed, task_wanted;
	const char *scene;      // its name; NULL: none
	report_section section; // of the body that was drilled
} report;

// Channels of `ticks`.
enum { REPORT_TICK_WAKE, REPORT_TICK_COMPUTE, REPORT_TICK_MISSED, REPORT_TICK_CHANNELS };

// Channels of `forces`.
enum {
	REPORT_FORCE,
	REPORT_TORQUE,
	REPORT_CONTACTS,
	REPORT_DEPTH,
	REPORT_ENERGY,
	REPORT_EFFECTS,
	REPORT_FORCE_CHANNELS
};

// An empty report. False after one log line: no memory. Thread: setup.
bool report_init(report *r, const char *command);
void report_fini(report *r);

// Adds a fact, formatted as by printf. Facts beyond REPORT_FACTS are dropped.
void report_fact_add(report *r, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

// Sets the channels and their names of a series of forces.
void report_forces_init(report_series *forces);

// Adds a tick to the series; `user` is the report. Has the type of tac_monitor_def.on_tick.
// Thread: the monitor's.
void report_add_tick(void *user, const tac_tick *tick);

// Writes the file and completes it. False after one log line. Thread: setup, after the monitor is drained.
bool report_write(const report *r, tac_output **output);

#endif
