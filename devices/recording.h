// Recording: the samples of a device and the wrenches sent to it, tick by tick, as a file. It is lossless, so
// a replay gives the same bits, and it contains the scene that was touched. docs/recording.md describes the
// bytes. devices/recorder.h writes recordings while a loop runs.
//
// Every block has a sequence number and a checksum that covers the checksum of the block before, and a
// finished file has an end mark, so that a file that was damaged, cut, spliced or never finished is
// recognised. Everything before the damage is read, and so are the intact blocks after it.
#ifndef TAC_DEVICES_RECORDING_H
#define TAC_DEVICES_RECORDING_H

#include "base/result.h"
#include "devices/device.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Version 4 is written; 3, without what a replay needs to give the same forces, 2, without gripper and
// commands, and 1, without scene and end mark, are still read.
#define TAC_RECORDING_VERSION       4
#define TAC_RECORDING_COMMAND_BYTES 288 // of a command, at most
#define TAC_RECORDING_MESHES        64
#define TAC_RECORDING_SCENE_BYTES   (300 * 1024) // of name, folder and text together, at most

typedef struct tac_recording_header {
	int64_t period_ns;      // of the device
	int64_t loop_period_ns; // of the loop that wrote it; 0: unknown, as before version 4
	char name[32];          // of the device; the last byte is 0
	char serial[32];
	float max_force_N, max_torque_Nm;   // of the device; 0: unknown, or none
	float gripper_max_m, max_gripper_N; // of its gripper; 0: none; before version 3 always 0
	uint64_t run;                       // random, the same in all recordings of one run; 0: version 1
} tac_recording_header;

// The scene that was touched. The recording does not interpret it.
typedef struct tac_recording_scene {
	const char *name;   // as the user named it; NULL for a recorder: ""
	const char *folder; // absolute; file names in the text are relative to it; NULL for a recorder: ""
	const char *text;   // YAML; NULL: the recording has no scene
	uint32_t mesh_count;
	uint64_t mesh_hashes[TAC_RECORDING_MESHES]; // of the mesh files' contents, in the order of the text
} tac_recording_scene;

// What an application told the loop while it ran. The recording does not interpret it.
typedef struct tac_recording_command {
	int64_t tick; // in which it was taken: the number of the sample
	uint32_t bytes;
	uint8_t data[TAC_RECORDING_COMMAND_BYTES];
} tac_recording_command;

// A recording in memory.
typedef struct tac_recording {
	tac_recording_header header;
	int version;
	tac_recording_scene scene;
	bool has_device; // `device` is known; since version 4
	tac_device_info device;
	tac_device_sample
		*samples; // before version 4 now_ns is the time of the state, and delay and flags are 0
	size_t count;
	tac_recording_command *commands;
	size_t command_count;
	tac_recording_scene *later_scenes; // that took the first one's place, in their order
	size_t later_scene_count;
	uint64_t unrecorded; // samples that the recorder could not take
	uint64_t lost_bytes; // of the file, skipped
	// The first damage: what was found, at which byte of the file, and the number of samples before it.
	// NULL: the file is complete.
	const char *damage;
	uint64_t damage_offset;
	size_t damage_sample;
	char *scene_memory; // private
	char **later_memory;
} tac_recording;

// Reads a regular file. TAC_PARTIAL with a log line if part of it is damaged or missing; TAC_ERROR_IO,
// TAC_ERROR_FORMAT or TAC_ERROR_MEMORY with a log line if nothing can be read. Thread: setup.
TAC_API tac_result tac_recording_load(const char *path, tac_recording *out_recording);

// The same from memory; `name` is for the log.
// Thread: setup.
TAC_API tac_result tac_recording_decode(const uint8_t *bytes, size_t size, const char *name,
					tac_recording *out_recording);

// Reads the header and the scene alone, without samples. Damage that follows is not reported. Otherwise like
// tac_recording_load. Thread: setup.
TAC_API tac_result tac_recording_load_scene(const char *path, tac_recording *out_recording);

// Like tac_recording_load, for a caller that has heard of its damage already: none is reported.
// Thread: setup.
TAC_API tac_result tac_recording_load_quietly(const char *path, tac_recording *out_recording);

// Frees samples and scene. Thread: setup.
TAC_API void tac_recording_fini(tac_recording *recording);

// Writes the samples as CSV, a line each, numbers with all their digits:
// t_s,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz,fx,fy,fz,tx,ty,tz,buttons,status, and for a device with a gripper
// gripper_m,gripper_m_per_s,gripper_N. Time starts at 0. The file appears whole or not at all
// (base/output.h). TAC_ERROR_IO or TAC_ERROR_MEMORY with a log line.
// Thread: setup.
TAC_API tac_result tac_recording_export_csv(const tac_recording *recording, const char *path);

// Writes the samples as MCAP with messages of ROS 2 (docs/recording.md), which plotting tools and robotics
// libraries read. Time starts at 0. Otherwise like tac_recording_export_csv.
// Thread: setup.
TAC_API tac_result tac_recording_export_mcap(const tac_recording *recording, const char *path);

#ifdef __cplusplus
}
#endif

#endif
