// Recorder: writes a recording (devices/recording.h) while the loop runs. The real-time thread pushes samples
// into a ring; the recorder's thread writes them to the file, one block per quarter of a second at 1 kHz. If
// the disk is too slow, samples are refused and counted, and the loop is not delayed.
#ifndef TAC_DEVICES_RECORDER_H
#define TAC_DEVICES_RECORDER_H

#include "base/result.h"
#include "devices/recording.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_recorder tac_recorder;

// Opens `path` for a recording of a device with this `info`. TAC_ERROR_IO, TAC_ERROR_MEMORY or
// TAC_ERROR_SYSTEM with a log line.
// Thread: setup.
tac_result tac_recorder_create(const char *path, const tac_device_info *info, tac_recorder **out_recorder);

// False: the sample was refused, and counted.
// Thread: RT, one producer.
bool tac_recorder_write(tac_recorder *recorder, const tac_recording_sample *sample);

// The number of samples that are not in the file: refused, or not written because of an error.
// Thread: any.
uint64_t tac_recorder_lost(const tac_recorder *recorder);

// Writes the rest, closes the file and nulls the pointer; NULL in it is allowed. TAC_PARTIAL if samples were
// lost, TAC_ERROR_IO if writing failed (with a log line, once).
// Thread: setup, after the last tac_recorder_write.
tac_result tac_recorder_destroy(tac_recorder **recorder);

#ifdef __cplusplus
}
#endif

#endif
