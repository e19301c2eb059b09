// Results: what every fallible set-up function of Tactus returns. 0 is success, a positive value is success
// with a restriction (some real-time settings were refused), a negative value is an error. The function that
// detects the condition sends one message to the log callback (base/log.h): what was expected, what was found
// and where.
#ifndef TAC_BASE_RESULT_H
#define TAC_BASE_RESULT_H

#include "base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_result {
	TAC_OK = 0,
	TAC_PARTIAL = 1, // done, but some of what was requested was refused: see the report

	TAC_ERROR_ARGUMENT = -1,    // a value outside its documented range
	TAC_ERROR_MEMORY = -2,      // out of memory, on the heap or in an arena
	TAC_ERROR_SYSTEM = -3,      // a system call failed; the message names it and its errno
	TAC_ERROR_IO = -4,          // a file or device could not be opened, read or written
	TAC_ERROR_FORMAT = -5,      // invalid data
	TAC_ERROR_UNSUPPORTED = -6, // not available on this machine or in this build
} tac_result;

// A short English word for `result`, for messages. Never NULL.
// Thread: any.
TAC_API const char *tac_result_name(tac_result result);

#ifdef __cplusplus
}
#endif

#endif
