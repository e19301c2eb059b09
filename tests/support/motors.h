// Motors: a file that a test maps and into which a stand-in for a device writes every command to its motors,
// from whichever process sent it. The test reads it whatever has died. It also carries what the test and the
// process that plays the runtime tell each other (tests/support/ends.h).
#ifndef TAC_TESTS_SUPPORT_MOTORS_H
#define TAC_TESTS_SUPPORT_MOTORS_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MOTORS_VARIABLE "TACTUS_TEST_MOTORS" // names the file
#define MOTORS_FIRST    (-1)                 // as `hangs`: the first process that sends a command

typedef struct motors_file {
	_Atomic uint64_t motors;   // the last command; 0: no force
	_Atomic uint64_t commands; // of all processes
	_Atomic uint64_t forced;   // of these, with a force
	_Atomic int64_t zero_ns;   // when the motors last changed to zero; 0: never

	// Set by the test.
	_Atomic int32_t never_homed; // before a keeper starts: the hand does not move
	_Atomic int32_t hangs;       // the process in which the device's library does not return, or:
	_Atomic int32_t unplugged;   // the process that has lost its connection to the device

	// Between the test and the process that plays the runtime.
	_Atomic int32_t action; // end_action
	_Atomic int32_t done;   // the last action that the runtime has begun
	_Atomic int32_t lost, closed, child;
	_Atomic int32_t refused;        // this system does not permit the action
	_Atomic uint64_t forced_before; // `forced` when the runtime did something wrong
	char logged[128];               // the runtime's last log line
} motors_file;

// Maps the file; NULL if `name` is NULL or cannot be opened.
static inline motors_file *motors_map(const char *name)
{
	const int fd = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
	void *memory = MAP_FAILED;
	if (fd >= 0)
		memory = mmap(NULL, sizeof(motors_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

// A command reaches the motors. NULL for `file` is allowed.
static inline void motors_command(motors_file *file, uint64_t motors)
{
	struct timespec now;
	if (!file)
		return;
	if (atomic_exchange(&file->motors, motors) && !motors) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		atomic_store(&file->zero_ns, now.tv_sec * INT64_C(1000000000) + now.tv_nsec);
	}
	atomic_fetch_add(&file->commands, 1);
	atomic_fetch_add(&file->forced, motors != 0);
}

// Does not return as long as the test makes this process's library hang.
static inline void motors_hang(motors_file *file)
{
	int32_t first = MOTORS_FIRST;
	if (file)
		atomic_compare_exchange_strong(&file->hangs, &first, getpid());
	while (file && atomic_load(&file->hangs) == getpid())
		usleep(1000);
}

#endif
