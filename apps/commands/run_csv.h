// Run CSV: `tactus run --csv FILE` writes a row for each tick and tool while the run goes on. The real-time
// thread pushes a row into a ring (wait-free); the thread that follows the run formats and writes it.
#ifndef TAC_APPS_COMMANDS_RUN_CSV_H
#define TAC_APPS_COMMANDS_RUN_CSV_H

#include "haptic/snapshot.h"
#include "rt/ring.h"
#include "rt/tick.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct run_csv {
	const char *path; // NULL: none is written
	FILE *file;
	tac_ring *ring;
	int64_t begin_ns; // the first row's time; 0: none yet
	int error;        // errno of the first write that failed
} run_csv;

// Creates the file and writes its header; does nothing for a `path` of NULL. False after one line. Call
// run_csv_close in either case. Thread: setup.
bool run_csv_open(const char *path, run_csv *out_csv);

// Adds a tick. A row that does not fit is counted and dropped. Thread: RT.
void run_csv_add(run_csv *csv, const tac_snapshot *snapshot, const tac_tick *tick);

// Writes the rows that have arrived. Thread: the one that follows the run.
void run_csv_drain(run_csv *csv);

// Writes the rest and closes the file. False after one line: rows are missing. Thread: setup, after the run.
bool run_csv_close(run_csv *csv);

#endif
