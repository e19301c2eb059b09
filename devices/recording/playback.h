// Playback: a device that repeats a recording. Its time starts with the first read; each read gives the
// newest sample that is due, with the recorded status, so a replay at the recorded times equals the recording
// bit by bit. Forces are accepted and ignored.
#ifndef TAC_DEVICES_RECORDING_PLAYBACK_H
#define TAC_DEVICES_RECORDING_PLAYBACK_H

#include "devices/recording.h"
#include "devices/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

// A recording describes its device only in part: info has its name after "playback:", its maximum force and
// torque, no mechanics, and as workspace the bounding box of all positions. Samples whose time does not
// advance or whose values are not valid are omitted. `repeat`: starts again one period after the last sample;
// otherwise the device ends there. TAC_PARTIAL with a log line if samples were omitted, TAC_ERROR_FORMAT with
// one if none is left, TAC_ERROR_MEMORY. The recording is copied. Thread: setup.
tac_result tac_playback_create(const tac_recording *recording, bool repeat, tac_device **out_device);

// The functions of its tac_driver. `which` is the path of a recording. Thread: setup.
void tac_playback_list(tac_driver_report *out_report);
tac_result tac_playback_open(const char *which, const tac_open_def *def, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
