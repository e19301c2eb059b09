// Falcon link: from a Falcon that is plugged in to one that answers packets, all of it set-up: the USB
// connection, the FTDI bridge, and the firmware, which the device loses with its power. Loading it fails now
// and then on the real device; so every block that the device echoes is compared, a failed attempt is
// repeated from the start, and a device whose firmware runs already is not loaded again.
//
// The firmware is the maker's and not part of Tactus: the user names its file.
#ifndef TAC_DEVICES_FALCON_LINK_H
#define TAC_DEVICES_FALCON_LINK_H

#include "base/result.h"
#include "devices/falcon_protocol.h"
#include "devices/usb.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_FALCON_BUFFERS   4     // commands that may be on their way
#define TAC_FALCON_IMAGE_MAX 65536 // bytes of firmware; the known images have about 8,500

typedef struct tac_falcon_link_def {
	const char *serial;   // NULL or "": the first that is found
	const char *firmware; // path; NULL: tac_falcon_firmware_path
	int hello_tries;      // questions to the boot loader, over all attempts; default 100
	int load_tries;       // attempts to load the firmware; default 3
	int64_t answer_ns;    // how long an answer may take; default 60 ms: the bridge alone holds it for 16
	int priority;         // of the USB thread
	bool (*cancelled)(void *user); // may be NULL
	void *user;
} tac_falcon_link_def;

// Thread: any.
tac_falcon_link_def tac_falcon_link_def_default(void);

// Where the firmware is looked for: the file that TACTUS_FALCON_FIRMWARE names, or else tactus/falcon.bin in
// XDG_DATA_HOME (~/.local/share). Fills `out`; false where there is no such file.
// Thread: setup.
bool tac_falcon_firmware_path(char *out, size_t size);

// Connects, loads the firmware if it does not run, and leaves the device answering packets. On failure
// *out_usb is NULL and one line is logged: TAC_ERROR_IO, TAC_ERROR_FORMAT (a file that is no firmware),
// TAC_ERROR_UNSUPPORTED (no firmware file), TAC_ERROR_MEMORY.
// Thread: setup.
tac_result tac_falcon_link_open(const tac_falcon_link_def *def, tac_usb **out_usb);

// Sends one command; false when no buffer is free or the link is in trouble.
// Thread: RT, the link's owner.
bool tac_falcon_link_send(tac_usb *usb, const tac_falcon_command *command);

// Takes what has arrived, waiting until `deadline_ns` for the first packet (one that has passed: only looks),
// and keeps the newest report. False: none was there. Thread: RT, the link's owner.
bool tac_falcon_link_receive(tac_usb *usb, tac_falcon_stream *stream, int64_t deadline_ns,
			     tac_falcon_report *out_report);

#ifdef __cplusplus
}
#endif

#endif
