// Serial: ports of devices that speak through a USB serial adapter (CDC ACM, /dev/ttyACM*). The kernel
// numbers these ports anew whenever a device is plugged in, so they are found by the identity of the USB
// device behind them, which sysfs states.
//
// Reads and writes have a deadline, for a thread that may wait but must not hang (devices/vendor/relay.h).
#ifndef TAC_DEVICES_SERIAL_SERIAL_H
#define TAC_DEVICES_SERIAL_SERIAL_H

#include "devices/registry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_serial_port {
	char path[256];   // "/dev/ttyACM0"
	char serial[32];  // of the USB device; empty: it has none
	char product[64]; // as the USB device calls itself
} tac_serial_port;

// Finds the ports of the USB devices with these identifiers, in the order of their names; returns their
// number, at most `max`. The variable TACTUS_SERIAL_ROOT names a folder with sys/ and dev/ that stands for
// the root, for tests; a privileged program ignores it. Thread: setup.
int tac_serial_list(uint16_t vendor_id, uint16_t product_id, tac_serial_port *out_ports, int max);

// Opens a port in raw mode, for this program alone, and empties its buffers. -1 with errno; EBUSY: another
// program has it. Thread: setup.
int tac_serial_open(const char *path);

// The state of a port for a report, from the errno of opening it, and the reason. Thread: setup.
tac_driver_state tac_serial_failure(int error, const char *path, char *out_reason, size_t size);

// Writes everything until `deadline_ns`; false if it cannot. Thread: any but RT.
bool tac_serial_write(int fd, const uint8_t *bytes, size_t count, int64_t deadline_ns);

// Waits for bytes until `deadline_ns`, and reads up to `size` of them. 0: none came; -1: the device is gone.
// Thread: any but RT.
int tac_serial_read(int fd, uint8_t *out_bytes, size_t size, int64_t deadline_ns);

// Bytes that were read and not decoded yet.
typedef struct tac_serial_stream {
	uint8_t bytes[256];
	size_t size;
} tac_serial_stream;

// Reads what comes until the deadline. False: the device is gone. Thread: any but RT.
bool tac_serial_stream_fill(tac_serial_stream *stream, int fd, int64_t deadline_ns);

// Removes the first `count` bytes. Thread: any.
void tac_serial_stream_drop(tac_serial_stream *stream, size_t count);

#ifdef __cplusplus
}
#endif

#endif
