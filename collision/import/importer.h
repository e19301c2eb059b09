// Importer: runs the importer process for one mesh. It is started by `tactus-confine`, which takes everything
// away from it that reading a mesh does not need (collision/import/sandbox.h), with an empty environment, a
// session and process group of its own, ordinary priority, and the descriptors named here alone.
#ifndef TAC_COLLISION_IMPORT_IMPORTER_H
#define TAC_COLLISION_IMPORT_IMPORTER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_importer_def {
	const char *launcher; // path of tactus-confine
	const char *program;  // path of the importer
	const char *name;     // name of the mesh file in its folder
	int record_fd;        // memory file for the result
	int file_fd;          // the mesh file, open for reading
	int folder_fd;        // its folder, O_PATH
	uint64_t memory_limit_bytes;
	double time_limit_s; // of wall-clock time and, rounded up, of CPU time
} tac_importer_def;

typedef struct tac_importer_end {
	int status;      // of waitpid; 0 if this process ignores SIGCHLD and there is none
	bool timed_out;  // it was killed when its time was up
	uint64_t grants; // TAC_SANDBOX_…; 0: the importer was not reached
} tac_importer_end;

// Runs the importer and waits for its end. Its process group is killed then. Returns 0 or the errno of a
// failed start. Thread: setup. Several threads may call it at once.
int tac_importer_run(const tac_importer_def *def, tac_importer_end *out_end);

#ifdef __cplusplus
}
#endif

#endif
