// Recording: the samples of a device and the wrenches sent to it, tick by tick, as a file. It is lossless, so
// a replay gives the same bits. Little-endian, a header and then blocks:
//  - header: "\x89TACREC\n", u16 version, u16 header bytes, f32 maximum force in N, i64 period in ns, 32
//  bytes device
//    name, 32 bytes serial number, f32 maximum torque in Nm (both maxima: 0 if unknown), u32 CRC-32 of all
//    before.
//  - block: u32 "TBLK", u32 payload bytes, u32 samples, u32 CRC-32 of these three and the payload, payload.
//
// A sample is 21 words of 64 bits: time, position, rotation (x y z w), velocity, angular velocity, force,
// torque, buttons | status << 32. The time is stored as its second difference, zigzag-encoded; every other
// word is XORed with that of the sample before, or with zero at the start of a block. 21 nibbles, low first,
// in 11 bytes are the numbers of low bytes of each word that follow. A damaged block loses only its own
// samples, and a file may end anywhere.
#ifndef TAC_DEVICES_RECORDING_H
#define TAC_DEVICES_RECORDING_H

#include "base/result.h"
#include "devices/device.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_RECORDING_VERSION         1
#define TAC_RECORDING_HEADER_BYTES    96
#define TAC_RECORDING_BLOCK_SAMPLES   256
#define TAC_RECORDING_SAMPLE_BYTES    (11 + 21 * 8) // at most
#define TAC_RECORDING_BLOCK_BYTES_MAX (16 + TAC_RECORDING_BLOCK_SAMPLES * TAC_RECORDING_SAMPLE_BYTES)

typedef struct tac_recording_header {
	int64_t period_ns;
	char name[32]; // of the device; the last byte is 0
	char serial[32];
	float max_force_N, max_torque_Nm; // of the device; 0: unknown, or none
} tac_recording_header;

// One tick.
typedef struct tac_recording_sample {
	tac_device_state state;
	tac_wrench wrench;
	tac_device_status status;
} tac_recording_sample;

// Fills TAC_RECORDING_HEADER_BYTES at `out`. Thread: any.
void tac_recording_encode_header(const tac_recording_header *header, uint8_t *out);

// TAC_ERROR_FORMAT without a log line if the bytes are no header, or one of another version. *out_version is
// the version found; 0: not a recording, or damaged. Thread: any.
tac_result tac_recording_decode_header(const uint8_t *bytes, size_t size, tac_recording_header *out_header,
				       int *out_version);

// Encodes 1 … TAC_RECORDING_BLOCK_SAMPLES samples to `out`, of TAC_RECORDING_BLOCK_BYTES_MAX bytes; returns
// the number of bytes used. Thread: any.
size_t tac_recording_encode_block(const tac_recording_sample *samples, uint32_t count, uint8_t *out);

// Decodes the block at `bytes` into `out_samples`, of TAC_RECORDING_BLOCK_SAMPLES, and returns its length in
// bytes; 0 if there is no complete, undamaged block. Any bytes are allowed. Thread: any.
size_t tac_recording_decode_block(const uint8_t *bytes, size_t size, tac_recording_sample *out_samples,
				  uint32_t *out_count);

// A recording in memory.
typedef struct tac_recording {
	tac_recording_header header;
	tac_recording_sample *samples;
	size_t count;
	size_t lost_bytes; // of damaged blocks and a truncated end
} tac_recording;

// Reads a file. TAC_PARTIAL with a log line if part of it is damaged or missing; TAC_ERROR_IO,
// TAC_ERROR_FORMAT or TAC_ERROR_MEMORY with a log line if nothing can be read. Thread: setup.
tac_result tac_recording_load(const char *path, tac_recording *out_recording);

// The same from memory; `name` is for the log.
// Thread: setup.
tac_result tac_recording_decode(const uint8_t *bytes, size_t size, const char *name,
				tac_recording *out_recording);

// Frees the samples. Thread: setup.
void tac_recording_fini(tac_recording *recording);

// Writes the samples as CSV, a line each, numbers with all their digits:
// t_s,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz,fx,fy,fz,tx,ty,tz,buttons,status. Time starts at 0. "-" is the
// standard output. TAC_ERROR_IO with a log line.
// Thread: setup.
tac_result tac_recording_export_csv(const tac_recording *recording, const char *path);

#ifdef __cplusplus
}
#endif

#endif
