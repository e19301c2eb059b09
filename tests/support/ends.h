// Ends: every way of ending or stopping a runtime, its keeper and its guard while a force is in the motors.
// The motors must be at zero afterwards, and no process may be left behind. It works with every device whose
// commands reach a motors_file (tests/support/motors.h), in a test and in the guest.
#ifndef TAC_TESTS_SUPPORT_ENDS_H
#define TAC_TESTS_SUPPORT_ENDS_H

#include "base/rng.h"
#include "tests/support/motors.h"

#include <sys/types.h>

// What the process that plays the runtime does.
typedef enum end_action {
	END_GO_ON,
	END_EXIT,
	END_ABORT,
	END_EXECUTE,    // becomes another program
	END_CLOSE,      // closes the device
	END_SWITCH_OFF, // forces
	END_SEND_NAN,
	END_SEND_TOO_LARGE,
	END_NO_ORDERS,       // goes on without writing
	END_SPOIL_MEMORY,    // random bytes over the shared memory
	END_SPOIL_INDEX,     // the same over its first cache lines only
	END_SPOIL_ORDERS,    // every other order is random bytes
	END_CLOSE_FILES,     // all descriptors but the first three, as a program that becomes a daemon
	END_FORK,            // a child keeps copies of all descriptors
	END_IGNORE_CHILDREN, // the kernel collects them
	END_USE_UP_FILES,    // no descriptor is left
	END_VFORK,           // a child that never becomes another program keeps the loop's thread waiting
	END_SPEND_RT_TIME,   // orders without a pause, until a limit of real-time CPU time kills it
	END_SPEND_CPU_TIME,  // the same, until a limit of CPU time does
} end_action;

// A way to end. Signals are sent in the order of the fields.
typedef struct end_way {
	const char *name;
	end_action prepare; // done and waited for before the others
	end_action action;
	int runtime_first, guard, keeper, runtime_last;
	int let_go; // to the process that the runtime starts when both others are dead
	bool trace_runtime, trace_guard, trace_keeper; // stopped as by a debugger
	bool hang;                                     // the device's library does not return
	bool unplug;                                   // the keeper loses its connection
	bool hog;       // runtime_first is sent while real-time threads occupy every CPU
	int within_ms;  // the promised time to zero (docs/safety.md); 0: 20 ms
	bool must_lose; // the runtime, which lives on, must find the device lost
	bool rarely;    // as another one for the keeper: only in long runs
} end_way;

// The ways; the last has no name.
extern const end_way end_ways[];

// The device.
typedef struct end_bench {
	const char *selection;
	const char *keeper;        // the program tactus-keep; NULL: as installed
	const char *firmware;      // may be NULL
	int commands_per_ms;       // to the motors; 0: 1
	int tries;                 // to open the device; 0: 3
	int starts, failed_starts; // so far
	bool starved;              // no zero as long as every CPU was occupied
	int64_t begin_ns;          // of the event
	char file_name[64];
	motors_file *file;
} end_bench;

// The processes of a run.
typedef struct end_processes {
	pid_t runtime, guard, keeper;
} end_processes;

// True if this process shall play the runtime: `main` returns end_play_runtime.
bool end_is_runtime(int argc, char **argv);
int end_play_runtime(char **argv);

// Creates the file of the motors and makes its name known to all processes that are started later. Orphans
// become children of the calling process. False with errno. `folder` is in memory, as END_MEMORY_FOLDER is:
// on a disk, a write to the mapped file may wait for the file system's journal, and then the stand-in for the
// device is late, not the keeper.
#define END_MEMORY_FOLDER "/dev/shm"
bool end_bench_open(end_bench *bench, const char *folder);
void end_bench_close(end_bench *bench);

// The process that `parent` has started under this name; 0: none.
pid_t end_child_of(pid_t parent, const char *name);

// Starts a process that plays the runtime.
void end_spawn_runtime(end_bench *bench, end_processes *out_processes);

// The same, and waits for a force in the motors. NULL, or what went wrong.
const char *end_start(end_bench *bench, end_processes *out_processes);

// Kills the runtime and waits for the end of all. NULL, or what went wrong.
const char *end_finish(end_bench *bench, end_processes *processes);

// Starts a runtime and ends it in this way at a random moment. NULL, or what went wrong. *out_zero_ns is the
// time until the motors were at zero; -1: this system does not permit this way.
const char *end_one_way(end_bench *bench, const end_way *way, tac_rng *rng, int64_t *out_zero_ns);

#endif
