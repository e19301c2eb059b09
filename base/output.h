// Output: a file that appears whole or not at all. The bytes go to a nameless file in the same folder;
// tac_output_commit brings them to the disk and gives them their name, which replaces an older file in one
// step. Until then, and after any failure or death of the process, the older file is unchanged.
//
// Streams cannot be replaced, so they are written directly: "-" (the standard output), /dev/stdout, /dev/fd,
// everything below /proc, pipes and devices. A symbolic link stays, and its target is replaced; a replaced
// file keeps its permissions.
#ifndef TAC_BASE_OUTPUT_H
#define TAC_BASE_OUTPUT_H

#include "base/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_output tac_output;

// Begins a file. `what` names it in log lines ("report"). A folder in which no file can be created, or a pipe
// that nobody reads, is detected here. TAC_ERROR_IO or TAC_ERROR_MEMORY with a log line, and *out_output is
// NULL then.
// Thread: setup.
tac_result tac_output_create(const char *path, const char *what, tac_output **out_output);

// The stream to write to. Its errors need not be checked: tac_output_commit reports the first.
// Thread: setup.
FILE *tac_output_file(tac_output *output);

// Completes the file and nulls the pointer. TAC_ERROR_IO with a log line if anything could not be written;
// the older file is unchanged then.
// Thread: setup.
tac_result tac_output_commit(tac_output **output);

// Forgets the file, leaves an older one unchanged and nulls the pointer; NULL in it is allowed.
// Thread: setup.
void tac_output_discard(tac_output **output);

// Whether both paths name the same existing file, through links and other spellings too. Streams, as above,
// are never the same.
// Thread: any.
bool tac_output_same_file(const char *a, const char *b);

// For live streams, which are written while something runs and cannot appear at once: opens `path`, created
// or emptied, for blocking writes. A pipe that nobody reads is refused with ENXIO instead of waited for.
// -1 with errno.
// Thread: setup.
int tac_output_open_stream(const char *path);

// write(2) until everything is written or an error occurs. A reader that closed its end gives EPIPE without
// SIGPIPE, and a file that reached RLIMIT_FSIZE gives EFBIG without SIGXFSZ: either would end a process that
// only lost an output. Returns the bytes written; *out_error is 0 or the errno.
// Thread: any but RT.
size_t tac_output_write(int fd, const void *bytes, size_t count, int *out_error);

#ifdef __cplusplus
}
#endif

#endif
