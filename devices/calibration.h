// Calibration: what a user has measured of one device, stored in a file by the device's serial number
// ($XDG_CONFIG_HOME/tactus/devices/falcon-12345.conf, by default ~/.config/…), and a device that applies it.
// The centre of the measured workspace becomes the origin; the weight of a tool that sinks is reported in
// info (the servo compensates it); left-handed users get the mirror image.
//
// `tactus devices --calibrate DEVICE` writes the file. It is text, one value per line:
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
	tac_dvec3 workspace_min_m; // in the driver's frame; min equals max: not measured
	tac_dvec3 workspace_max_m;
	double weight_N;  // of the tool, 0 … TAC_CALIBRATION_WEIGHT_MAX_N; 0: the device carries it, or
			  // unknown
	bool left_handed; // left and right are swapped
} tac_calibration;

// The path of the device's file; false without a home folder. A device without a serial number has a file by
// its name. Thread: setup.
TAC_API bool tac_calibration_path(const tac_device_info *info, char *out, size_t size);

// Reads the file. Without a file: TAC_OK, and *out_found is false. TAC_PARTIAL with a log line if it cannot
// be read or is invalid; *out_calibration is then as without a file. Thread: setup.
TAC_API tac_result tac_calibration_load(const tac_device_info *info, tac_calibration *out_calibration,
					bool *out_found);

// Writes the file atomically and creates its folder. TAC_ERROR_ARGUMENT (a value out of range) or
// TAC_ERROR_IO with a log line. Thread: setup.
TAC_API tac_result tac_calibration_save(const tac_device_info *info, const tac_calibration *calibration);

// The file's text. encode returns its length; decode returns false for an invalid text, with a sentence in
// `out_reason`. Thread: any.
TAC_API size_t tac_calibration_encode(const tac_calibration *calibration, char *out, size_t size);
TAC_API bool tac_calibration_decode(const char *text, tac_calibration *out_calibration, char *out_reason,
				    size_t reason_size);

// Replaces *device with a device that applies `calibration` and owns the original. An empty calibration
// changes nothing. TAC_ERROR_MEMORY with a log line: *device is unchanged. Thread: setup.
TAC_API tac_result tac_calibration_apply(const tac_calibration *calibration, tac_device **device);

#ifdef __cplusplus
}
#endif

#endif
