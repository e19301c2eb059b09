// Bridge: publishes the run of one station, and carries commands to it (docs/share.md). It polls the seam and
// never makes the run wait. Runs come and go; the bridge stays.
#ifndef TAC_SHARE_BRIDGE_BRIDGE_H
#define TAC_SHARE_BRIDGE_BRIDGE_H

#include "share/bridge/wire.h"

typedef struct bridge_def {
	wire_def wire;
	const char *station;
	double rate_Hz;       // of tactus/state and the topics of ROS 2
	bool commands;        // carry out what tactus/command asks for
	bool ros;             // topics of ROS 2, too
	const char *launch;   // the program that `start` starts; NULL: none
	char *const *options; // of that program after the scene, ended by NULL
} bridge_def;

// Runs until a signal ends it. Returns an exit code.
int bridge_run(const bridge_def *def);

#endif
