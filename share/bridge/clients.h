// Clients: the other side of the topics, for people and tests: a watch that accounts for what it hears, a
// command, and the recording service.
#ifndef TAC_SHARE_BRIDGE_CLIENTS_H
#define TAC_SHARE_BRIDGE_CLIENTS_H

#include "share/bridge/wire.h"

// Listens for `seconds`, or until a signal if it is infinite, then prints an account of each station as JSON:
// states, ticks and their gaps, events, totals, whether it is there. Returns an exit code.
int watch_run(const wire_def *def, double seconds);

typedef struct tell_def {
	const char *station, *kind, *text;
	double value;
} tell_def;

// Sends a command and waits up to `seconds` for the station's answer, which it prints. A stop is sent three
// times. Returns an exit code: 0 only if the command was carried out.
int tell_run(const wire_def *def, const tell_def *command, double seconds);

// Stores the recordings of all stations in `folder`, as STATION-RUN.rec, until a signal ends it, or for
// `count` recordings if that is above 0. A recording that is not complete is called STATION-RUN.rec.part; the
// service goes on with it when it is started again. Returns an exit code.
int store_run(const wire_def *def, const char *folder, int count);

#endif
