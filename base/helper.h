// Helper: the programs and libraries that Tactus starts or loads by itself, and which of them it trusts. A
// process that holds more privileges than its user (set-user-ID, set-group-ID, file capabilities; the kernel
// reports it as AT_SECURE) must not run code that its user can choose: it ignores the environment and its own
// location, and uses only files in installed folders that root alone can change.
#ifndef TAC_BASE_HELPER_H
#define TAC_BASE_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_HELPER_PATH 4096 // size of a path buffer, with the final 0

// True if the process holds privileges that its user does not have.
// Thread: any.
bool tac_helper_is_privileged(void);

// Writes the absolute folder, without a slash at its end, of the file that holds this code: the shared
// library libtactus.so or, where Tactus is linked statically, the running program. False, with an empty
// string, if it is not known. A privileged process must not look there. Thread: any but RT.
bool tac_helper_folder(char *out_folder, size_t size);

// Checks that nobody can change the regular file `path` who could not change this program. Ordinarily that
// means: the file and its folder belong to root, to the user or to the owner of the running program or of
// libtactus.so, the file is not writable by all, and neither is the folder unless it is sticky. In a
// privileged process: the file and every folder above it belong to root and are writable by nobody else. On
// success out_path is the path without symbolic links, which is the one to use; on failure out_reason says
// what was found. Thread: any but RT.
bool tac_helper_check(const char *path, char out_path[TAC_HELPER_PATH], char *out_reason, size_t reason_size);

typedef struct tac_helper_def {
	const char *requested;     // the caller's choice, which is not checked; NULL: none
	const char *variable;      // environment variable that names the file; NULL: none
	const char *const *places; // paths relative to tac_helper_folder, ended by NULL
	const char *installed;     // absolute path
} tac_helper_def;

// Finds a program: the requested one, the one that the variable names, or the first that exists of `places`,
// of `installed`'s name in the folders of base/search_path.h, and of `installed`. A privileged process
// considers `requested` and `installed` only. On failure out_path is the last path tried and out_reason a
// sentence about it. Thread: setup.
bool tac_helper_find_program(const tac_helper_def *def, char out_path[TAC_HELPER_PATH], char *out_reason,
			     size_t reason_size);

#define TAC_HELPER_FIRST_FD 3

typedef struct tac_helper_start_def {
	const char *program;
	char *const *arguments;   // the first is the name of the process; ended by NULL
	char *const *environment; // ended by NULL
	// The helper's descriptors from TAC_HELPER_FIRST_FD on. Their numbers here must be above those that
	// they get, so that none overwrites another.
	const int *fds;
	int fd_count;
} tac_helper_start_def;

// Starts a program in a session of its own, with no signal blocked or ignored, without the caller's real-time
// priority, with standard input, output and error on /dev/null, and with no descriptor but `fds`. Returns 0
// or an errno; what fails to start the program fails here. Thread: setup.
int tac_helper_start(const tac_helper_start_def *def, pid_t *out_pid);

#ifdef __cplusplus
}
#endif

#endif
