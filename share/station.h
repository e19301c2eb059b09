// Station: where a run hands its seam to a bridge, and takes commands from it. A run that is shared under a
// name listens on a Unix socket of that name, which is abstract: it leaves no file behind, and the kernel
// removes it with the process. Whoever connects must belong to the same user, or to root. It receives the
// seam's memory and may then send commands; when its connection ends, the next bridge may connect.
//
// All of it happens on a thread of its own without priority. Commands can only lower what the run does:
// end it, stop the forces, lower their gain.
#ifndef TAC_SHARE_STATION_H
#define TAC_SHARE_STATION_H

#include "base/result.h"
#include "share/seam.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_STATION_NAME 33 // 1 … 32 letters, digits, _ or -, and the NUL; it begins with a letter

typedef enum tac_station_command_kind {
	TAC_STATION_END,  // the run
	TAC_STATION_STOP, // emergency stop: the forces are zero until the run ends
	TAC_STATION_GAIN, // lowers the gain of the forces to `value`, 0 … 1
	TAC_STATION_COMMAND_COUNT,
} tac_station_command_kind;

typedef struct tac_station_command {
	int32_t kind; // tac_station_command_kind
	int32_t reserved;
	uint64_t number; // the sender's, for the answer
	double value;
} tac_station_command;

typedef struct tac_station_answer {
	uint64_t number;
	int32_t done; // 0: refused
	int32_t kind;
} tac_station_answer;

// Carries a command out; `command` is valid: a known kind, and a gain between 0 and 1. False: refused.
// Thread: the station's.
typedef bool tac_station_command_fn(void *user, const tac_station_command *command);

typedef struct tac_station tac_station;

// Whether `name` can name a station. Thread: any.
bool tac_station_name_valid(const char *name);

// Starts to listen. TAC_ERROR_ARGUMENT (a bad name), TAC_ERROR_SYSTEM (the name is in use) or
// TAC_ERROR_MEMORY with a log line. `seam` stays the caller's and outlives the station.
// Thread: setup.
tac_result tac_station_create(const char *name, tac_seam *seam, tac_station_command_fn *on_command,
			      void *user, tac_station **out_station);

// Ends the thread and closes the sockets; the pointer is nulled; NULL in it is allowed. Thread: setup.
void tac_station_destroy(tac_station **station);

// Bridges that have connected so far. Thread: any.
uint32_t tac_station_bridges(const tac_station *station);

// ---- of the bridge ----

// Connects to the run that is shared as `name`. Returns a socket for commands and answers (packets), and the
// seam; or -1, without a log line where nobody listens. The end of the run closes the socket.
// Thread: setup.
int tac_station_connect(const char *name, tac_seam **out_seam);

#ifdef __cplusplus
}
#endif

#endif
