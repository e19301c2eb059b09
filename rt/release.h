// Release: brings devices to zero force before a signal or a failed assertion ends the process. A haptic
// device may hold its last force until it receives another, so the process must not end first. A thread
// created in advance calls the registered hooks: a signal handler may not take a lock, and a crashed thread
// may hold one. The handler waits for that thread for a bounded time, then lets the signal take its previous
// action, so that exit status and core dump are those of the signal. SIGKILL and SIGSTOP cannot be
// caught.
#ifndef TAC_RT_RELEASE_H
#define TAC_RT_RELEASE_H

#include "base/result.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_RELEASE_HOOKS     8
#define TAC_RELEASE_SETTLE_NS INT64_C(30000000)  // after the hooks, for the I/O threads to send zero
#define TAC_RELEASE_LIMIT_NS  INT64_C(100000000) // the longest that the end of the process is delayed

// Switches forces off, for example with tac_device_enable(device, false), and returns without delay.
// Thread: the release thread, while every other thread may still run.
typedef void (*tac_release_fn)(void *user);

// Registers a hook. The first call starts the release thread and installs the handlers: of every signal that
// would end the process and has its default action, of the faults (SEGV, BUS, FPE, ILL, ABRT) in any case,
// and of failed assertions (tac_assert_set). The signals of tac_loop_stop_on_signals stay with it, in any
// order of the two calls.
// TAC_ERROR_MEMORY: all hooks are in use. TAC_ERROR_SYSTEM: no thread. Either with a log line.
// Thread: setup.
TAC_API tac_result tac_release_add(tac_release_fn fn, void *user);

// Removes a hook; afterwards it is not called any more. Waits for one that is running.
// Thread: setup, before the device is destroyed.
TAC_API void tac_release_remove(tac_release_fn fn, void *user);

// Requests all hooks and waits until they have returned and the devices had TAC_RELEASE_SETTLE_NS to send
// zero, at most TAC_RELEASE_LIMIT_NS. Returns at once without hooks, or after an earlier release.
// Thread: any, signal handlers included.
TAC_API void tac_release_now(void);

// tac_release_now, then gives `signal` its default action and raises it.
// Thread: the handler of that signal.
TAC_API void tac_release_and_raise(int signal);

#ifdef __cplusplus
}
#endif

#endif
