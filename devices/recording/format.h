// The bytes of a recording (docs/recording.md): header, blocks, samples.
#ifndef TAC_DEVICES_RECORDING_FORMAT_H
#define TAC_DEVICES_RECORDING_FORMAT_H

#include "devices/recording.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_RECORDING_HEADER_BYTES  128
#define TAC_RECORDING_BLOCK_HEADER  24
#define TAC_RECORDING_BLOCK_SAMPLES 256
#define TAC_RECORDING_SAMPLE_BYTES  (13 + 26 * 8) // at most
#define TAC_RECORDING_BLOCK_BYTES_MAX                                                                        \
	(TAC_RECORDING_BLOCK_HEADER + TAC_RECORDING_BLOCK_SAMPLES * TAC_RECORDING_SAMPLE_BYTES)
#define TAC_RECORDING_SCENE_BYTES_MAX                                                                        \
	(TAC_RECORDING_BLOCK_HEADER + 16 + 8 * TAC_RECORDING_MESHES + TAC_RECORDING_SCENE_BYTES)
#define TAC_RECORDING_BLOCK_COMMANDS 64
#define TAC_RECORDING_COMMANDS_BYTES_MAX                                                                     \
	(TAC_RECORDING_BLOCK_HEADER + TAC_RECORDING_BLOCK_COMMANDS * (12 + TAC_RECORDING_COMMAND_BYTES))
#define TAC_RECORDING_END_BYTES    (TAC_RECORDING_BLOCK_HEADER + 16)
#define TAC_RECORDING_DEVICE_BYTES (TAC_RECORDING_BLOCK_HEADER + 5 * 4 + 26 * 8 + 2 * 8)
#define TAC_RECORDING_VALUES       19 // numbers of a sample from position to torque

// What connects a block with the file and with the block before.
typedef struct tac_recording_chain {
	uint32_t seed;     // checksum of the header: all checksums of the file start from it
	uint32_t sum;      // of the block before; at first of the header
	uint32_t sequence; // of the next block
} tac_recording_chain;

// The numbers of a sample from position to torque, in the order of the file. Thread: any.
void tac_recording_sample_values(const tac_device_sample *sample, double *out_values);

// Fills TAC_RECORDING_HEADER_BYTES at `out` and starts the chain. Thread: any.
void tac_recording_encode_header(const tac_recording_header *header, uint8_t *out,
				 tac_recording_chain *out_chain);

// Encodes 1 … TAC_RECORDING_BLOCK_SAMPLES samples to `out`, of TAC_RECORDING_BLOCK_BYTES_MAX bytes; returns
// the number of bytes used. Thread: any.
size_t tac_recording_encode_block(tac_recording_chain *chain, const tac_device_sample *samples,
				  uint32_t count, uint8_t *out);

// The size of a scene's block; 0 if the scene is too large. Thread: any.
size_t tac_recording_scene_bytes(const tac_recording_scene *scene);

// Encodes a scene that is not too large to `out`, of tac_recording_scene_bytes. Thread: any.
size_t tac_recording_encode_scene(tac_recording_chain *chain, const tac_recording_scene *scene, uint8_t *out);

// Encodes 1 … TAC_RECORDING_BLOCK_COMMANDS commands to `out`, of TAC_RECORDING_COMMANDS_BYTES_MAX bytes;
// returns the number of bytes used. Thread: any.
size_t tac_recording_encode_commands(tac_recording_chain *chain, const tac_recording_command *commands,
				     uint32_t count, uint8_t *out);

// Encodes what forces depend on of a device, to `out`, of TAC_RECORDING_DEVICE_BYTES. Thread: any.
size_t tac_recording_encode_device(tac_recording_chain *chain, const tac_device_info *info, uint8_t *out);

// Encodes the end mark to `out`, of TAC_RECORDING_END_BYTES. Thread: any.
size_t tac_recording_encode_end(tac_recording_chain *chain, uint64_t samples, uint64_t unrecorded,
				uint8_t *out);

// TAC_ERROR_FORMAT without a log line if the bytes are no header, or one of an unknown version. *out_version
// is the version found; 0: not a recording, or damaged. *out_size is the header's length.
// Thread: any.
tac_result tac_recording_decode_header(const uint8_t *bytes, size_t size, tac_recording_header *out_header,
				       int *out_version, size_t *out_size, tac_recording_chain *out_chain);

typedef enum tac_recording_block_kind {
	TAC_RECORDING_SAMPLES,
	TAC_RECORDING_SCENE,
	TAC_RECORDING_END,
	TAC_RECORDING_COMMANDS, // since version 3
	TAC_RECORDING_DEVICE,   // since version 4
	TAC_RECORDING_BLOCK_KINDS,
} tac_recording_block_kind;

typedef struct tac_recording_block {
	tac_recording_block_kind kind;
	size_t length; // with its header
	uint32_t samples;
	uint32_t sequence, previous, sum; // 0 in version 1
	int words;                        // of a sample
	const uint8_t *payload;
	size_t payload_bytes;
} tac_recording_block;

// Reads the block at `bytes`. False if there is no complete block with the right checksum; its length is then
// what the header states, if it states one that is possible and complete, otherwise 0. Any bytes are allowed.
// Thread: any.
bool tac_recording_decode_block(int version, const tac_recording_chain *chain, const uint8_t *bytes,
				size_t size, tac_recording_block *out_block);

// The samples of a block, at most TAC_RECORDING_BLOCK_SAMPLES. False: the payload is malformed.
// Thread: any.
bool tac_recording_decode_samples(const tac_recording_block *block, tac_device_sample *out_samples);

// The commands of a block, at most TAC_RECORDING_BLOCK_COMMANDS; returns their number, -1: malformed.
// Thread: any.
int tac_recording_decode_commands(const tac_recording_block *block, tac_recording_command *out_commands);

// The scene of a block; its texts are copied to *out_memory, which the caller frees. TAC_ERROR_FORMAT or
// TAC_ERROR_MEMORY without a log line. Thread: setup.
tac_result tac_recording_decode_scene(const tac_recording_block *block, tac_recording_scene *out_scene,
				      char **out_memory);

// The device of a block, without name, serial number and period, which are the header's. False: malformed, or
// no device. Thread: any.
bool tac_recording_decode_device(const tac_recording_block *block, tac_device_info *out_info);

// False: malformed. Thread: any.
bool tac_recording_decode_end(const tac_recording_block *block, uint64_t *out_samples,
			      uint64_t *out_unrecorded);

// The offset of the next possible block after the first byte; `size` if there is none. Thread: any.
size_t tac_recording_find_block(int version, const uint8_t *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
