// Calibration: what a user has found out about one device, kept in a file by the device's serial number
// ($XDG_CONFIG_HOME/tactus/devices/falcon-12345.conf, else ~/.config/…), and a device that makes use of it:
// the middle of the workspace that was measured becomes the origin, a device that hangs down by its own
// weight says how heavy it is (haptic/servo.c holds it up), and left-handed users get the mirror image.
//
// `tactus devices --calibrate DEVICE` writes the file. It is text, a line a value:
//	tactus calibration 1
//	workspace_min_m = -0.05 -0.04 -0.06
//	workspace_max_m = 0.05 0.05 0.04
//	weight_N = 0.4
//	left_handed = no
#ifndef TAC_DEVICES_CALIBRATION_H
#define TAC_DEVICES_CALIBRATION_H

#include "base/result.h"
#include "devices/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_CALIBRATION_WEIGHT_MAX_N 5.0
#define TAC_CALIBRATION_REACH_MAX_M  5.0 // no device is larger

typedef struct tac_calibration {
	tac_dvec3 workspace_min_m; // in the driver's frame; both equal: not measured
	tac_dvec3 workspace_max_m;
	double weight_N; // of the tool, 0 … TAC_CALIBRATION_WEIGHT_MAX_N; 0: the device carries it, or nobody
			 // knows
	bool left_handed; // left and right are exchanged
} tac_calibration;

// Where the file of this device is; false where no home folder is known. A device without a serial number has
// a file by its name. Thread: setup.
bool tac_calibration_path(const tac_device_info *info, char *out, size_t size);

// Reads the file. TAC_OK and *out_found false where there is none. TAC_PARTIAL with a log line where it
// cannot be read or is not such a file: *out_calibration is then as without one. Thread: setup.
tac_result tac_calibration_load(const tac_device_info *info, tac_calibration *out_calibration,
				bool *out_found);

// Writes the file, as a whole or not at all; makes its folder. TAC_ERROR_ARGUMENT (a value out of its range)
// or TAC_ERROR_IO with a log line. Thread: setup.
tac_result tac_calibration_save(const tac_device_info *info, const tac_calibration *calibration);

// The same as text. encode returns the length, decode says where it is wrong: false, and a sentence in
// `out_why`. Thread: any.
size_t tac_calibration_encode(const tac_calibration *calibration, char *out, size_t size);
bool tac_calibration_decode(const char *text, tac_calibration *out_calibration, char *out_why,
			    size_t why_size);

// Puts `calibration` before *device, which then belongs to what stands in its place. Left alone where there
// is nothing to do. TAC_ERROR_MEMORY with a log line: *device is as before. Thread: setup.
tac_result tac_calibration_apply(const tac_calibration *calibration, tac_device **device);

#ifdef __cplusplus
}
#endif

#endif
