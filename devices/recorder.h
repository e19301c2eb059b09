// Recorder: writes a recording (devices/recording.h) while the loop runs. The real-time thread pushes samples
// into a ring; the recorder's thread writes them, at the latest 100 ms after they were pushed, at any rate,
// so that a killed process loses no more. A second thread brings the file to the disk every second
// (fdatasync), so that a crash of the machine loses little more than that. If the disk is too slow, samples
// are refused and counted, and the loop is not delayed.
//
// While a recording is written it is locked (flock): a second recorder is refused, and so is recording over a
// file that is being played back.
#ifndef TAC_DEVICES_RECORDER_H
#define TAC_DEVICES_RECORDER_H

#include "base/result.h"
#include "devices/recording.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_RECORDER_FLUSH_NS (100 * 1000000) // longest time from push to write, while the disk keeps up
#define TAC_RECORDER_SYNC_NS  1000000000      // from one fdatasync to the next

typedef struct tac_recorder tac_recorder;

typedef struct tac_recorder_def {
	const char *path;
	const tac_device_info *info;
	uint64_t run;                     // the same for all recordings of one run; 0: a new random number
	const tac_recording_scene *scene; // what is touched; NULL: unknown. Copied.
	bool commands;                    // commands will follow, for which it has a scene
	int64_t loop_period_ns;           // of the loop; 0: unknown
} tac_recorder_def;

// A random number for tac_recorder_def.run, never 0. Thread: any.
TAC_API uint64_t tac_recorder_new_run(void);

// Opens and locks the file, replaces its contents and starts the threads. TAC_ERROR_IO (also if the file is
// in use by another recorder or a playback), TAC_ERROR_MEMORY or TAC_ERROR_SYSTEM with a log line. A scene
// that is too large is left out with a warning.
// Thread: setup.
TAC_API tac_result tac_recorder_create(const tac_recorder_def *def, tac_recorder **out_recorder);

// False: the sample was refused, and counted.
// Thread: RT, one producer.
TAC_API bool tac_recorder_write(tac_recorder *recorder, const tac_device_sample *sample);

// Adds a command, of up to TAC_RECORDING_COMMAND_BYTES, to a recording that was created for commands. `tick`
// is the number of the sample, from 0, of the tick that took it. False: it was refused, and counted as lost.
// Thread: RT, the producer of the samples.
TAC_API bool tac_recorder_write_command(tac_recorder *recorder, int64_t tick, const void *bytes, size_t size);

// Adds the scene that takes the place of the one before, to a recording that was created for commands.
// Copied. TAC_ERROR_ARGUMENT (without a text, too large, or eight are not written yet) or TAC_ERROR_MEMORY
// with a log line. Thread: setup, one at a time.
TAC_API tac_result tac_recorder_add_scene(tac_recorder *recorder, const tac_recording_scene *scene);

// The number of samples that are not in the file: refused, or not written because of an error.
// Thread: any.
TAC_API uint64_t tac_recorder_lost(const tac_recorder *recorder);

// Writes the rest and the end mark, syncs and closes the file and nulls the pointer; NULL in it is allowed.
// TAC_PARTIAL if samples were lost, TAC_ERROR_IO if writing failed (with a log line, once): the file has no
// end mark then.
// Thread: setup, after the last tac_recorder_write.
TAC_API tac_result tac_recorder_destroy(tac_recorder **recorder);

#ifdef __cplusplus
}
#endif

#endif
