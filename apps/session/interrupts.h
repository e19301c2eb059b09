// Interrupts: how often each source of interrupts ran on a CPU while a loop ran there, from two readings of
// /proc/interrupts. The kernel counts them without any privilege; it is evidence for misses whose cause is
// not the loop's own.
#ifndef TAC_APPS_SESSION_INTERRUPTS_H
#define TAC_APPS_SESSION_INTERRUPTS_H

#include <stdint.h>

#define INTERRUPTS_MAX 6 // sources that are shown

typedef struct interrupt_source {
	char name[48]; // "Local timer interrupts", "eth0"
	uint64_t count;
} interrupt_source;

typedef struct interrupts {
	int cpu;                                  // -1: unknown, and the rest is empty
	int64_t ticks;                            // of the loop that ended on it
	uint64_t all;                             // of every source
	int count;                                // of `sources`
	interrupt_source sources[INTERRUPTS_MAX]; // the most frequent, in descending order
} interrupts;

// The text of /proc/interrupts, which the caller frees; NULL: it cannot be read. Thread: any but RT.
char *interrupts_read(void);

// Fills sources and counts of `cpu` between the readings; either may be NULL (no counts). Any text is
// allowed. Thread: any.
void interrupts_count(const char *before, const char *after, int cpu, interrupts *out);

#endif
