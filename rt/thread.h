// Thread: what the calling thread requests from the kernel before it enters the loop, and a report of what it
// got. Nothing is downgraded silently: each item is reported as granted, refused (with the errno and the
// remedy) or not asked, and after a refusal the loop still works.
#ifndef TAC_RT_THREAD_H
#define TAC_RT_THREAD_H

#include "base/result.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_policy {
	TAC_POLICY_OTHER,    // the fair scheduler, timer slack reduced to 1 ns
	TAC_POLICY_FIFO,     // fixed priority, runs until it sleeps
	TAC_POLICY_DEADLINE, // earliest deadline first, with a reserved runtime in each period
} tac_policy;

typedef struct tac_thread_def {
	const char *name; // shown by top and perf; cut at 15 bytes; NULL: unchanged
	tac_policy policy;
	int priority;        // FIFO: 1 (low) … 99
	int64_t period_ns;   // DEADLINE: the loop's period
	int64_t runtime_ns;  // DEADLINE: CPU time reserved in each period, the spin tail included
	int cpu;             // run on this CPU alone; -1: on any
	bool lock_memory;    // mlockall, after touching TAC_THREAD_STACK_BYTES of the stack, or what there is
	bool hold_cpu_awake; // hold /dev/cpu_dma_latency at 0 µs, so that no deep idle state delays a wake-up
	bool flush_denormals; // FTZ and DAZ: a denormal operand can cost 100 times a normal one
} tac_thread_def;

// Stack that is made resident for the loop: 256 KiB. A thread whose stack has less gets a refusal of
// TAC_GRANT_MEMORY with EOVERFLOW; the part of the stack that exists is resident all the same.
#define TAC_THREAD_STACK_BYTES ((size_t)256 * 1024)

// Least stack of a thread from tac_thread_start, even where RLIMIT_STACK gives new threads less.
#define TAC_THREAD_STACK_MIN_BYTES ((size_t)1024 * 1024)

// Enough for a signal frame with every register of today's processors, and a handler.
#define TAC_THREAD_SIGNAL_STACK_BYTES ((size_t)32 * 1024)

typedef enum tac_grant_item {
	TAC_GRANT_POLICY,
	TAC_GRANT_CPU,
	TAC_GRANT_MEMORY,
	TAC_GRANT_CPU_AWAKE,
	TAC_GRANT_DENORMALS,
	TAC_GRANT_COUNT,
} tac_grant_item;

typedef enum tac_grant_state {
	TAC_GRANT_NOT_ASKED,
	TAC_GRANT_GRANTED,
	TAC_GRANT_REFUSED,
} tac_grant_state;

typedef struct tac_grant {
	tac_grant_state state;
	int error; // errno of the refusal
} tac_grant;

typedef struct tac_thread_report {
	tac_thread_def asked;
	tac_grant grants[TAC_GRANT_COUNT];
	int cpu_awake_fd; // held open as long as the CPU is to stay awake; -1: none
} tac_thread_report;

// FIFO 80 on any CPU, memory locked, CPU kept awake, denormals flushed.
// Thread: any.
TAC_API tac_thread_def tac_thread_def_default(void);

// Requests everything in `def` from the kernel for the calling thread (mlockall is for the whole process) and
// fills `out_report`. TAC_OK: all granted; TAC_PARTIAL: something refused, show the report to the user;
// TAC_ERROR_ARGUMENT with a log line: a value is out of range, nothing was done.
// Thread: setup, on the thread that will run the loop.
TAC_API __attribute__((warn_unused_result)) tac_result tac_thread_enter(const tac_thread_def *def,
									tac_thread_report *out_report);

// The FIFO priority to ask for: `wanted`, or the highest that an unprivileged process may take if that is
// lower (RLIMIT_RTPRIO). Where no priority is permitted it is `wanted`, and tac_thread_enter reports the
// refusal. Thread: any.
TAC_API int tac_thread_priority_permitted(int wanted);

// Releases what would outlive the thread, the request to keep the CPU awake. The memory stays locked.
// Thread: setup.
TAC_API void tac_thread_leave(tac_thread_report *report);

// One line about `item`: "SCHED_FIFO 80: granted", or "…: refused (EPERM): " and the remedy.
// Thread: any but RT.
TAC_API void tac_thread_report_line(const tac_thread_report *report, tac_grant_item item, char *out_line,
				    size_t size);

// pthread_create with all signals blocked in the new thread, so that they are handled elsewhere and never
// interrupt it, except faults (SEGV, BUS, FPE, ILL, ABRT): the kernel ends a process at once, without its
// handler, if a fault is blocked. The thread has a stack for signal handlers, so that a handler can run after
// an overflow of its stack. TAC_ERROR_MEMORY or TAC_ERROR_SYSTEM with a log line if it cannot be created.
// Thread: setup.
TAC_API tac_result tac_thread_start(pthread_t *out_thread, void *(*body)(void *user), void *user);

// Makes `stack` the calling thread's stack for signal handlers (SA_ONSTACK), unless it has one already. The
// memory must outlive the thread. Returns whether it is in use now.
// Thread: any.
TAC_API bool tac_thread_signal_stack(void *stack, size_t size);

TAC_API const char *tac_policy_name(tac_policy policy);          // "fifo", …
TAC_API const char *tac_grant_item_name(tac_grant_item item);    // "scheduling", …
TAC_API const char *tac_grant_state_name(tac_grant_state state); // "granted", …

#ifdef __cplusplus
}
#endif

#endif
