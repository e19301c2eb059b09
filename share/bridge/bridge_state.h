// What the parts of the bridge share: bridge.c polls and publishes, orders.c carries commands out, lend.c
// sends pieces of recordings.
#ifndef TAC_SHARE_BRIDGE_BRIDGE_STATE_H
#define TAC_SHARE_BRIDGE_BRIDGE_STATE_H

#include "share/bridge/bridge.h"
#include "share/bridge/ros.h"
#include "share/station.h"

#include <idl/tactus.h>
#include <sys/types.h>

#define BRIDGE_BLOCK   20 // samples of a block
#define BRIDGE_LENT    8  // runs whose recordings can still be had
#define BRIDGE_ANSWERS 64 // numbers of commands that were seen, so that none is carried out twice

typedef struct bridge_recording {
	uint64_t run;
	int32_t tool_count;
	char path[TAC_SEAM_PATH];
} bridge_recording;

typedef struct bridge {
	bridge_def def;
	wire wire;
	dds_entity_t state, ticks, event, info, scenes, totals, figures, chunk; // writers
	dds_entity_t command, want, others;                                     // readers
	uint64_t id;

	// The run; socket -1: none.
	int socket;
	tac_seam *seam;
	tac_seam_info run;
	bool running, settled;
	ros_tool ros[TAC_SCENE_TOOLS];
	tactus_Sample samples[BRIDGE_BLOCK]; // of the block that is being filled
	uint32_t sample_count;
	int64_t block_ns; // when its first sample came
	uint64_t refused;
	tac_seam_tick newest[TAC_SCENE_TOOLS];
	bool fresh[TAC_SCENE_TOOLS];
	int64_t clock_offset_ns;
	uint64_t published, dropped, events;

	// Orders.
	uint64_t seen[BRIDGE_ANSWERS];
	uint32_t seen_count;
	char scene[97]; // of the next start
	pid_t launched; // 0: none

	// Lent recordings.
	bridge_recording lent[BRIDGE_LENT];
	uint32_t lent_count;
	uint64_t lent_run, lent_offset; // up to where pieces were sent
	uint32_t lent_tool;
	int64_t lent_ns;
} bridge;

// Publishes an event of the bridge itself.
void bridge_tell(bridge *b, const char *kind, double value, const char *text);

// Publishes what does not change during the run, and whether one is running.
void bridge_describe(bridge *b);

// Takes commands from the network and answers from the run. Thread: one.
void bridge_take_orders(bridge *b);

// Keeps in mind that the present run's recording can be had.
void bridge_lend(bridge *b);

// Sends pieces of recordings that a service wants.
void bridge_send_pieces(bridge *b);

#endif
