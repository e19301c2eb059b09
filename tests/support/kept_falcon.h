// Kept Falcon: a virtual Falcon whose motors outlive the process that drives them. Linked into tactus-keep,
// it plugs a virtual Falcon into each process that starts (guard, keeper, and a runtime that has lost both),
// as if they shared one device on the bus, and mirrors every motor command into a file that the test maps.
#ifndef TAC_TESTS_SUPPORT_KEPT_FALCON_H
#define TAC_TESTS_SUPPORT_KEPT_FALCON_H

#include <stdatomic.h>
#include <stdint.h>

#define KEPT_FALCON_VARIABLE "TACTUS_TEST_MOTORS" // names the file

typedef struct kept_falcon_file {
	_Atomic uint64_t motors;   // the three values of the last command; 0: all are zero
	_Atomic uint64_t commands; // of all processes
	_Atomic int64_t zero_ns;   // when the motors last changed to zero; 0: never
	_Atomic int32_t guard, keeper;
	_Atomic int32_t never_homed; // set before a keeper starts: the hand does not move

	// Between the test and the process that plays the runtime.
	_Atomic int32_t action, lost, closed;
} kept_falcon_file;

#endif
