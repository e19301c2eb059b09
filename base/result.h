// Results: how every fallible set-up function of Tactus answers. 0 is ok, a positive value is ok with
// something worth noticing (some real-time items refused), a negative value is an error. The message that
// says what was expected, what was found and where goes to the log callback (base/log.h) exactly once, from
// the function that noticed.
#ifndef TAC_BASE_RESULT_H
#define TAC_BASE_RESULT_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_result {
	TAC_OK = 0,
	TAC_PARTIAL = 1, // done, but not all that was asked for was granted: see the report

	TAC_ERROR_ARGUMENT = -1,    // a value outside its documented range
	TAC_ERROR_MEMORY = -2,      // the allocator or the arena had no more
	TAC_ERROR_SYSTEM = -3,      // a system call failed; the message names it and its errno
	TAC_ERROR_IO = -4,          // a file or device could not be opened, read or written
	TAC_ERROR_FORMAT = -5,      // bytes that are not what they should be
	TAC_ERROR_UNSUPPORTED = -6, // not on this machine, or not in this build
} tac_result;

// A short English word for `result`, for messages. Never NULL.
// Thread: any.
const char *tac_result_name(tac_result result);

#ifdef __cplusplus
}
#endif

#endif
