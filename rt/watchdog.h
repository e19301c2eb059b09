// Watchdog: a second thread that notices when the loop has not begun a tick for some periods and calls a
// safe-state hook, once for each stall. When the loop ticks again the watchdog is armed again. Give it a
// higher priority than the loop's, or a loop that hangs on the CPU starves the watchdog.
#ifndef TAC_RT_WATCHDOG_H
#define TAC_RT_WATCHDOG_H

#include "base/result.h"
#include "rt/loop.h"
#include "rt/thread.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_watchdog tac_watchdog;

typedef struct tac_watchdog_def {
	const tac_loop *loop;         // watched while it runs
	int periods;                  // without a tick before the hook is called: 2 or more
	void (*on_stall)(void *user); // brings the device into a safe state; on the watchdog's thread
	void *user;
	tac_thread_def thread;
} tac_watchdog_def;

// 10 periods, FIFO 90 on any CPU, nothing else requested.
// Thread: any.
TAC_API tac_watchdog_def tac_watchdog_def_default(const tac_loop *loop);

// Starts the thread. TAC_PARTIAL if something was refused (logged item by item); without its priority a
// hanging loop may starve it.
// Thread: setup.
TAC_API tac_result tac_watchdog_create(const tac_watchdog_def *def, tac_watchdog **out_watchdog);

// Ends the thread; waits for a hook that is running.
// Thread: setup, before the loop is destroyed.
TAC_API void tac_watchdog_destroy(tac_watchdog **watchdog);

// Stalls noticed so far. Thread: any.
TAC_API uint64_t tac_watchdog_stalls(const tac_watchdog *watchdog);

#ifdef __cplusplus
}
#endif

#endif
