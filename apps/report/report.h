// Report: a run as one HTML file that needs no network and no other file: what was asked of the machine and
// what it granted, the distributions, the course over time, every miss by its cause with the worst in full,
// the device, the forces and the energy, and the data as CSV behind a button. It follows the reader's choice
// of light or dark, and prints.
#ifndef TAC_APPS_REPORT_H
#define TAC_APPS_REPORT_H

#include "apps/machine.h"
#include "apps/report_series.h"
#include "devices/device.h"
#include "rt/histogram.h"
#include "rt/monitor.h"
#include "rt/thread.h"

#include <stdbool.h>

#define REPORT_FACTS 16

typedef struct report_fact {
	char name[32];
	char text[160];
} report_fact;

// What the pointers point at stays the caller's.
typedef struct report {
	const char *command; // "tactus latency"
	int64_t period_ns;
	machine machine;
	const tac_thread_report *thread;
	report_fact facts[REPORT_FACTS]; // of the run: rate, scene, collider, …
	int fact_count;
	const tac_monitor_stats *stats;
	const tac_histogram *wake_corrected; // for coordinated omission; NULL: none
	report_series *ticks;                // from report_tick
	const report_series *forces;         // channels REPORT_FORCE …; NULL: no forces were computed
	const tac_device_info *device;       // NULL: none
} report;

// Channels of `forces`.
enum { REPORT_FORCE, REPORT_TORQUE, REPORT_CONTACTS, REPORT_DEPTH, REPORT_ENERGY, REPORT_FORCE_CHANNELS };

// Empty, with memory for the ticks; false: there was none. Thread: setup.
bool report_init(report *r, const char *command);
void report_fini(report *r);

// Adds a fact, as printf does. More than REPORT_FACTS are dropped.
void report_fact_add(report *r, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

// The names of the force channels, for a series of them.
void report_forces_init(report_series *forces);

// Takes a tick into the series; `user` is the report. Fits tac_monitor_def.on_tick.
// Thread: the monitor's.
void report_tick(void *user, const tac_tick *tick);

// Whether the file can be opened for writing; false after one line on the log. It is there then. Thread:
// setup.
bool report_can_write(const char *path);

// Writes the file. False, after one line on the log, where it cannot be written.
// Thread: setup, when the monitor is drained.
bool report_write(const report *r, const char *path);

#endif
