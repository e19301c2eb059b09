// Machine: what a latency figure cannot be read without.
#ifndef TAC_APPS_MACHINE_H
#define TAC_APPS_MACHINE_H

#include <stdbool.h>

// Texts are printable ASCII without quotes and backslashes, so they can stand in JSON as they are.
typedef struct machine {
	char cpu[96];    // the processor's own name
	char kernel[96]; // release
	int cpu_count;   // that are online
	bool realtime;   // the kernel is PREEMPT_RT
	bool hypervisor; // this is a virtual machine
} machine;

// What cannot be found out is "unknown" or false.
machine machine_describe(void);

#endif
