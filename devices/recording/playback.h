// Playback: a device that does what a recording says. Time begins with the first read; each read gives the
// newest sample that is due, with the recorded status, so a replay with the recorded times is the recording
// bit by bit. Forces are taken and go nowhere.
#ifndef TAC_DEVICES_PLAYBACK_H
#define TAC_DEVICES_PLAYBACK_H

#include "devices/recording.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the recording's device had can be told only in part: info has its name after "playback:", its largest
// force and torque, no mechanics, and as workspace the box of all positions. Samples whose time does not
// advance or whose pose is not finite are left out. `repeat`: begins anew one period after the last sample,
// else the device ends there. TAC_PARTIAL with a log line where samples were left out, TAC_ERROR_FORMAT with
// one where none is left, TAC_ERROR_MEMORY. The recording may go afterwards. Thread: setup.
tac_result tac_playback_create(const tac_recording *recording, bool repeat, tac_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
