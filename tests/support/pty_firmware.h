// A firmware behind a pseudo terminal, for drivers of serial devices: a thread answers requests as the device
// would, and damages its answers when the test asks for it. The test knows the force in the motors at any
// time.
#ifndef TAC_TESTS_SUPPORT_PTY_FIRMWARE_H
#define TAC_TESTS_SUPPORT_PTY_FIRMWARE_H

#include "devices/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define FIRMWARE_ANSWER_MAX 64

typedef struct firmware firmware;

// Takes the request at the beginning of `bytes` and fills its answer, if it has one. Returns the bytes that
// the request has; 0: incomplete.
typedef size_t (*firmware_answer)(firmware *f, const uint8_t *bytes, size_t size, uint8_t *out,
				  size_t *out_size);

struct firmware {
	// Of the firmware's thread.
	int master, slave;
	pthread_t thread;
	firmware_answer answer;
	tac_device *body; // mechanics and hand; NULL: the answers do not need it
	atomic_bool stop;

	// Set by the test.
	char path[64];
	atomic_bool silent;   // it takes requests and answers nothing
	_Atomic int chaos;    // percent of answers that are damaged
	atomic_bool chatters; // it sends `chatter` between answers
	uint8_t chatter[8];
	size_t chatter_bytes;

	// Seen by the test.
	_Atomic uint64_t requests, damaged, strange; // strange: bytes that are no request
	_Atomic int64_t force_uN;                    // length of the force in the motors
	_Atomic int64_t largest_uN;
	_Atomic uint64_t largest_not_finite; // forces that were no numbers
	pthread_mutex_t lock;                // of `state` and `force_N`
	tac_device_state state;              // true, in the frame of devices/device.h
	tac_dvec3 force_N;                   // the last, in that frame
};

// Begins; `body` stays the caller's. Asserts that it can.
void firmware_start(firmware *f, firmware_answer answer, tac_device *body);

// Ends the firmware: the port hangs up, as when a cable is pulled.
void firmware_stop(firmware *f);

// For answers: puts the force into the motors of the body and samples it.
void firmware_move(firmware *f, tac_dvec3 force_N);

// Gives the calling thread a firmware's priority where that is permitted: hardware does not wait for a busy
// machine.
void firmware_enter(void);

// Whether the last force is this one, up to `tolerance_N` in each axis.
bool firmware_force_is(firmware *f, tac_dvec3 expected_N, double tolerance_N);

tac_device_state firmware_state(firmware *f);
double firmware_force_N(firmware *f);

// A serial device on a fake machine below TACTUS_SERIAL_ROOT: port `name` of a USB device, which leads to
// `path`.
void fake_port_plug(const char *root, const char *name, unsigned vendor, unsigned product,
		    const char *product_name, const char *serial, const char *path);
void fake_port_unplug(const char *root, const char *name);

#endif
