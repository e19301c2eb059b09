// Log: one callback for the whole process. Set-up code and non-real-time threads report through it. The
// real-time thread never logs: its conditions are data in the tick's record.
#ifndef TAC_BASE_LOG_H
#define TAC_BASE_LOG_H

#include "base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_log_level {
	TAC_LOG_INFO,
	TAC_LOG_WARNING,
	TAC_LOG_ERROR,
} tac_log_level;

// `message` is one line without a newline, valid only during the call. Several threads may call it at once.
typedef void (*tac_log_fn)(void *user, tac_log_level level, const char *message);

// Installs `fn` as the sink; NULL restores the default, which writes "tactus: message" to standard error.
// Call it before other threads log.
// Thread: setup.
TAC_API void tac_log_set(tac_log_fn fn, void *user);

// Formats one line (truncated at 1023 bytes) and passes it to the sink.
// Thread: any but RT.
#if defined(__GNUC__)
__attribute__((visibility("default"), format(printf, 2, 3))) // TAC_API
#endif
void tac_log(tac_log_level level, const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif
