// Input: opens a file for reading so that no path can hang or exhaust the program. Devices and folders are
// refused; a pipe, a terminal or a file of /proc may keep the reader waiting for TAC_INPUT_WAIT_S at most.
#ifndef TAC_BASE_INPUT_H
#define TAC_BASE_INPUT_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_INPUT_WAIT_S   5     // for data that does not come
#define TAC_INPUT_LINE_MAX 65536 // bytes of a line, with its end

// Opens `path`. NULL with errno: EISDIR (a folder), ENODEV (a device other than a terminal), or that of
// open(2). Reading fails with ETIMEDOUT if no data comes for TAC_INPUT_WAIT_S. The caller closes it.
// Thread: setup.
FILE *tac_input_open(const char *path);

// The meaning of an errno of tac_input_open or of reading, for messages. Thread: any.
const char *tac_input_reason(int error);

// Reads a line with its end into `out`, which has TAC_INPUT_LINE_MAX + 1 bytes. Its length, which counts NUL
// bytes too; 0: the end of the file; -1 with errno: reading failed, or EFBIG: the line is longer.
// Thread: setup.
long tac_input_line(FILE *file, char *out);

#ifdef __cplusplus
}
#endif

#endif
