// Fuzz target for recordings: arbitrary bytes as a file, and the same bytes cut into blocks with right
// checksums, so that the decoders behind the checksums see them. What is read can be played back. With
// libFuzzer: cmake -DTACTUS_FUZZ=ON (clang); without it, replay.c runs the corpus as a test.
#include "base/assert.h"
#include "base/crc32.h"
#include "base/log.h"
#include "devices/recording/format.h"
#include "devices/recording/playback.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LARGEST 65536

static void ignore(void *user, tac_log_level level, const char *message)
{
	(void)user;
	(void)level;
	(void)message;
}

static void check(const uint8_t *bytes, size_t size)
{
	tac_recording r;
	const tac_result result = tac_recording_decode(bytes, size, "fuzzed", &r);
	TAC_ASSERT(result >= TAC_OK || (!r.samples && r.count == 0 && !r.scene.text));
	TAC_ASSERT(r.lost_bytes <= size && (result != TAC_OK || (!r.damage && r.lost_bytes == 0)));
	for (size_t k = 0; k < r.count; k++)
		TAC_ASSERT(r.samples[k].status < TAC_DEVICE_STATUS_COUNT);
	TAC_ASSERT(r.header.loop_period_ns >= 0);
	if (r.has_device)
		TAC_ASSERT(r.device.delay_ns >= 0 && r.device.linear.mass >= 0 && r.device.max_force_N >= 0 &&
			   r.device.torque_axes >= 0 && r.device.torque_axes <= 3);
	if (r.scene.text)
		TAC_ASSERT(strlen(r.scene.name) + strlen(r.scene.folder) + strlen(r.scene.text) <= size);
	tac_device *device = NULL;
	if (result >= TAC_OK && r.count > 0 && tac_playback_create(&r, false, &device) >= TAC_OK) {
		tac_device_state state;
		for (int64_t t = 0; t < 5; t++)
			tac_device_read(device, t * INT64_C(700000), &state);
		tac_device_destroy(&device);
	}
	tac_recording_fini(&r);
}

static void put32(uint8_t *out, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(value >> 8 * i);
}

// A file whose blocks have the right sums. Each is described by four bytes: kind and an error in its place,
// number of samples, length.
static size_t assemble(const uint8_t *data, size_t size, uint8_t *out)
{
	static const char kinds[8][5] = {"TBLK", "TSCN", "TEND", "TCMD", "TDEV", "TBLK", "TSCN", "TCMD"};
	const tac_recording_header header = {.period_ns = 1000000, .name = "fuzzed", .run = 1};
	tac_recording_chain chain;
	tac_recording_encode_header(&header, out, &chain);
	size_t used = TAC_RECORDING_HEADER_BYTES;
	while (size >= 4) {
		uint8_t *block = out + used;
		size_t payload = data[2] | (size_t)(data[3] & 15) << 8;
		payload = payload < size - 4 ? payload : size - 4;
		if (used + TAC_RECORDING_BLOCK_HEADER + payload > LARGEST)
			break;
		memcpy(block, kinds[(data[0] & 3) | (data[0] >> 3 & 4)], 4); // bits 0, 1 and 5
		put32(block + 4, (uint32_t)payload);
		put32(block + 8, data[1]);
		put32(block + 12, chain.sequence++ + (data[0] >> 2 & 3));
		put32(block + 16, chain.sum ^ (data[0] >> 4 & 1));
		chain.sum = tac_crc32(chain.seed, block, TAC_RECORDING_BLOCK_HEADER - 4);
		chain.sum = tac_crc32(chain.sum, data + 4, payload);
		put32(block + 20, chain.sum);
		memcpy(block + TAC_RECORDING_BLOCK_HEADER, data + 4, payload);
		used += TAC_RECORDING_BLOCK_HEADER + payload;
		data += 4 + payload;
		size -= 4 + payload;
	}
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t file[LARGEST];
	tac_log_set(ignore, NULL);
	check(data, size);
	check(file, assemble(data, size, file));
	return 0;
}
