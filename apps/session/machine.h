// Machine: the properties of this computer that a latency figure depends on.
#ifndef TAC_APPS_SESSION_MACHINE_H
#define TAC_APPS_SESSION_MACHINE_H

#include <stdbool.h>

// Texts are printable ASCII without quotes and backslashes, so JSON needs no escaping.
typedef struct machine {
	char cpu[96];    // the processor's own name
	char kernel[96]; // release
	int cpu_count;   // online
	bool realtime;   // the kernel is PREEMPT_RT
	bool hypervisor; // this is a virtual machine
} machine;

// A property that cannot be determined is "unknown" or false.
machine machine_describe(void);

#endif
