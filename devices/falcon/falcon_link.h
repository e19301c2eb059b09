// Falcon link: set-up from a Falcon that is plugged in to one that answers packets: the USB connection, the
// FTDI bridge, and the firmware, which the device loses when it is switched off. On the real device loading
// sometimes fails. So every block that the device echoes is compared, a failed attempt is repeated from the
// start, and a device whose firmware runs already is not loaded again.
//
// The firmware belongs to the vendor and is not part of Tactus: the user names its file.
#ifndef TAC_DEVICES_FALCON_FALCON_LINK_H
#define TAC_DEVICES_FALCON_FALCON_LINK_H

#include "base/result.h"
#include "devices/falcon/falcon_protocol.h"
#include "devices/usb/usb.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_FALCON_BUFFERS   4     // commands in flight, at most
#define TAC_FALCON_IMAGE_MAX 65536 // bytes of firmware; known images have about 8,500

typedef struct tac_falcon_link_def {
	const char *serial;            // NULL or "": the first device
	const char *firmware;          // path; NULL: tac_falcon_firmware_path
	int hello_tries;               // requests to the boot loader, over all attempts; default 100
	int load_tries;                // attempts to load the firmware; default 3
	int64_t answer_ns;             // timeout of an answer; default 60 ms: the bridge alone takes 16
	int priority;                  // of the USB thread
	bool (*cancelled)(void *user); // may be NULL
	void *user;
} tac_falcon_link_def;

// Thread: any.
tac_falcon_link_def tac_falcon_link_def_default(void);

// The path of the firmware: the file that TACTUS_FALCON_FIRMWARE names or, without it, tactus/falcon.bin in
// XDG_DATA_HOME (~/.local/share). Fills `out` in any case; false if there is no such file. Thread: setup.
bool tac_falcon_firmware_path(char *out, size_t size);

// Connects, and loads the firmware if it does not run; the device then answers packets. On failure *out_usb
// is NULL and one line is logged: TAC_ERROR_IO, TAC_ERROR_FORMAT (not a firmware file), TAC_ERROR_UNSUPPORTED
// (no firmware file), TAC_ERROR_MEMORY. Thread: setup.
tac_result tac_falcon_link_open(const tac_falcon_link_def *def, tac_usb **out_usb);

// Connects to a device that answers packets already, and changes nothing in it. TAC_ERROR_IO or
// TAC_ERROR_MEMORY with one log line, and *out_usb NULL. Thread: setup.
tac_result tac_falcon_link_attach(const char *serial, int priority, tac_usb **out_usb);

// Sends zeros until one has arrived; false if that takes longer than 100 ms. Thread: setup, nobody else
// sends.
bool tac_falcon_link_send_zeros(tac_usb *usb);

// Sends one command; false if no buffer is free or the connection has failed. Thread: RT, the owner.
bool tac_falcon_link_send(tac_usb *usb, const tac_falcon_command *command);

// Takes all packets that have arrived and returns the newest report. Waits until `deadline_ns` for the first
// one (a deadline in the past: does not wait). False: no report. Thread: RT, the owner.
bool tac_falcon_link_receive(tac_usb *usb, tac_falcon_stream *stream, int64_t deadline_ns,
			     tac_falcon_report *out_report);

#ifdef __cplusplus
}
#endif

#endif
