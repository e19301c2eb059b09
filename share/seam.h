// Seam: the memory that a run and its bridge share. The run's real-time thread pushes a record of each tick
// into a ring and takes external wrenches out of another; the run's other threads push notes. The bridge, a
// process of its own, does everything that has to do with a network (docs/share.md).
//
// The run does not trust the bridge: it keeps sizes and counters in memory of its own (tac_ring_end), copies
// a value before it checks it, and seals the size of the memory. Whatever bytes the bridge writes, and
// whenever it dies, the run's accesses stay in bounds, and each call takes the same number of steps. The
// run never wakes the bridge and never waits for it: the bridge polls. A bridge that was killed leaves
// nothing behind that the next one could not continue with, which is why state travels in rings alone: the
// reader of a triple buffer that dies takes the number of its slot with it.
#ifndef TAC_SHARE_SEAM_H
#define TAC_SHARE_SEAM_H

#include "base/result.h"
#include "haptic/snapshot.h"
#include "haptic/task.h"
#include "rt/tick.h"
#include "share/outline.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_SEAM_TICKS   8192 // records that may wait: 8 s of one tool at 1 kHz
#define TAC_SEAM_NOTES   1024
#define TAC_SEAM_ORDERS  64
#define TAC_SEAM_FIGURES 8
#define TAC_SEAM_TEXT    (304 * 1024) // bytes of a scene's YAML, at most; a longer one is left out

// One tick of one tool. Poses and wrenches are in the world frame.
typedef struct tac_seam_tick {
	uint64_t number;  // of the record, from 0, counted over all tools; the numbers of refused ones are
			  // missing
	uint64_t refused; // records before this one for which the ring had no room
	int64_t tick;     // tac_snapshot.tick
	int64_t time_ns;  // on CLOCK_MONOTONIC
	int64_t compute_ns;
	int32_t tool;
	int32_t state;  // tac_servo_state
	int32_t status; // tac_device_status
	int32_t contacts;
	uint32_t buttons;
	uint32_t limits; // bit r: tac_limit_reason r
	tac_dpose T_world_device, T_world_sco;
	tac_wrench wanted, sent, external;
	double gain, passivity_J, stiffness_N_per_m, allowed_N_per_m, distance_m, gripper_m, gripper_N;
} tac_seam_tick;

typedef enum tac_seam_note_kind {
	TAC_SEAM_EVENT,  // of the servo (haptic/event.h)
	TAC_SEAM_TOTALS, // of the loop, about five times a second
	TAC_SEAM_ENDED,  // the last note of a run that ended in order
} tac_seam_note_kind;

// What the loop counted so far.
typedef struct tac_seam_totals {
	int64_t ticks, misses;
	int64_t misses_by_cause[TAC_CAUSE_COUNT];
	int64_t skipped;  // whole periods
	uint64_t refused; // records for which the seam's ring had no room
} tac_seam_totals;

#define TAC_SEAM_NOTE_TEXT 96
#define TAC_SEAM_NAME      64

typedef struct tac_seam_note {
	int32_t kind; // tac_seam_note_kind
	int32_t tool;
	int64_t time_ns;
	int32_t event; // tac_event_kind
	int32_t number;
	double value; // force of a touch, N
	char text[TAC_SEAM_NOTE_TEXT];
	tac_seam_totals totals;
} tac_seam_note;

#define TAC_SEAM_UNIT 16

// A tac_task_row.
typedef struct tac_seam_figure {
	char name[TAC_SEAM_NAME], unit[TAC_SEAM_UNIT];
	double value, limit;
	int32_t at_least, exceeded, detail, unused;
} tac_seam_figure;

// The figures of one tool so far, about twice a second.
typedef struct tac_seam_figures {
	int32_t tool, count, passed;
	int32_t ended; // these are the last
	tac_seam_figure list[TAC_TASK_ROWS];
} tac_seam_figures;

// From the bridge: a wrench on a tool, in the world frame, about the tool's origin.
typedef struct tac_seam_order {
	int64_t time_ns; // CLOCK_MONOTONIC, when the bridge received it
	int64_t tool;
	tac_wrench wrench;
} tac_seam_order;

#define TAC_SEAM_PATH 1024

// What does not change during a run.
typedef struct tac_seam_info {
	uint64_t run; // random
	int64_t period_ns;
	int32_t pid;
	int32_t tool_count;
	char scene[TAC_SEAM_PATH];  // as the user named it
	char record[TAC_SEAM_PATH]; // absolute path of the recording of the first tool; empty: none
	char version[TAC_SEAM_NAME];
	char tools[TAC_SCENE_TOOLS][TAC_SEAM_NAME];
	char devices[TAC_SCENE_TOOLS][TAC_SEAM_NAME];
	double max_force_N[TAC_SCENE_TOOLS];
	double gripper_max_m[TAC_SCENE_TOOLS]; // 0: no gripper
	char text[TAC_SEAM_TEXT];              // the scene's YAML
	tac_outline outline;
} tac_seam_info;

typedef struct tac_seam tac_seam;

// Creates the memory for a run. TAC_ERROR_MEMORY or TAC_ERROR_SYSTEM with a log line; *out_seam is NULL then.
// Thread: setup.
tac_result tac_seam_create(const tac_seam_info *info, tac_seam **out_seam);

// Attaches a bridge to the memory behind `fd`, which stays the caller's. TAC_ERROR_FORMAT with a log line if
// it is no seam of this version. One bridge at a time.
// Thread: setup.
tac_result tac_seam_attach(int fd, tac_seam **out_seam);

// Unmaps and nulls the pointer; NULL in it is allowed. Thread: setup.
void tac_seam_destroy(tac_seam **seam);

// The descriptor of a created seam. Thread: any.
int tac_seam_fd(const tac_seam *seam);

// The mapped memory and its size, for tests that damage it. Thread: any.
void *tac_seam_memory(tac_seam *seam, size_t *out_bytes);

// ---- of the run ----

// Pushes a record of a snapshot; `external` is the wrench from the network that was part of it. False: there
// was no room, and the refusal was counted.
// Thread: RT, one.
bool tac_seam_push_tick(tac_seam *seam, const tac_snapshot *snapshot, const tac_wrench *external);

// Takes an order; call it a bounded number of times a tick. False: none waits. Only finite wrenches and valid
// tools come out; others are dropped.
// Thread: RT, one.
bool tac_seam_take_order(tac_seam *seam, tac_seam_order *out_order);

// Records pushed and refused so far. Thread: any.
uint64_t tac_seam_pushed(const tac_seam *seam);
uint64_t tac_seam_refused(const tac_seam *seam);

// Pushes a note; a full ring drops it and counts. Thread: one, not RT.
bool tac_seam_push_note(tac_seam *seam, const tac_seam_note *note);

// Pushes figures; a full ring drops them: the next ones follow. Thread: as tac_seam_push_note.
bool tac_seam_push_figures(tac_seam *seam, const tac_seam_figures *figures);

// ---- of the bridge ----

// Thread: one.
const tac_seam_info *tac_seam_read_info(const tac_seam *seam); // every text ends with a NUL
bool tac_seam_pop_tick(tac_seam *seam, tac_seam_tick *out_tick);
bool tac_seam_pop_note(tac_seam *seam, tac_seam_note *out_note);
// The tool, the count and the texts are valid, whatever was in the memory.
bool tac_seam_pop_figures(tac_seam *seam, tac_seam_figures *out_figures);
bool tac_seam_push_order(tac_seam *seam, const tac_seam_order *order);

#ifdef __cplusplus
}
#endif

#endif
