// Oracles: the encoded samples, a CRC by its definition, and the format as docs/recording.md describes it.
#include "devices/recorder.h"
#include "devices/recording.h"

#include "base/rng.h"
#include "devices/recording/format.h"
#include "tests/support/logged.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unity.h>

#define SAMPLES  1000
#define FILE_MAX (TAC_RECORDING_HEADER_BYTES + 4 * TAC_RECORDING_BLOCK_BYTES_MAX + 1024)
#define BLOCK    TAC_RECORDING_BLOCK_HEADER

static tac_device_sample samples[SAMPLES], decoded[TAC_RECORDING_BLOCK_SAMPLES];
static uint8_t file[FILE_MAX], damaged[FILE_MAX];
static size_t file_bytes, block_begin[5]; // the fourth block of samples ends where the end mark begins
static tac_recording recording;
static tac_recording_chain chain;
static const tac_recording_scene touched = {.name = "a scene",
					    .folder = "/some/where",
					    .text = "scene: a scene\n",
					    .mesh_count = 2,
					    .mesh_hashes = {0x0123456789abcdef, 42}};
static const tac_recording_header head = {.period_ns = 1000000,
					  .name = "sim:falcon",
					  .serial = "007",
					  .max_force_N = 8.5F,
					  .max_torque_Nm = 0.25F,
					  .gripper_max_m = 0.5F,
					  .max_gripper_N = 8.5F,
					  .run = 0x1122334455667788,
					  .loop_period_ns = 0x0102030405060708};

static double any_double(tac_rng *rng)
{
	const uint64_t bits = tac_rng_u64(rng);
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

// A hand that moves smoothly, and every fiftieth sample random bits.
static tac_device_sample make_sample(tac_rng *rng, int k)
{
	const double t = k * 1e-3;
	tac_device_sample s = {
		.state = {.time_ns = 5000000000 + k * INT64_C(1000000) + tac_rng_below(rng, 2000),
			  .T_base_tool = {tac_dvec3_make(0.05 * sin(t), 0.02 * cos(3 * t),
							 1e-5 * floor(1e3 * t)),
					  tac_dquat_exp(tac_dvec3_make(0.1 * t, 0, sin(t)))},
			  .velocity_m_per_s = tac_dvec3_make(0.05 * cos(t), -0.06 * sin(3 * t), 0.01),
			  .buttons = k / 100 % 2 ? 3 : 0,
			  .gripper_m = 0.01 + 0.01 * sin(2 * t),
			  .gripper_m_per_s = 0.02 * cos(2 * t)},
		.wrench = {tac_dvec3_make(0, 0, k > 500 ? 2 * sin(t) : 0), tac_dvec3_zero()},
		.gripper_N = k > 300 ? sin(t) : 0,
		.status = k % 17 ? TAC_DEVICE_OK : TAC_DEVICE_STALE,
		.delay_ns = 20000 + tac_rng_below(rng, 3000),
		.flags = k % 60 ? 0 : (uint32_t)k / 60 & 7,
	};
	s.now_ns = s.state.time_ns + (k % 17 ? 0 : 350000);
	if (k % 50 == 49) {
		s.state.time_ns = (int64_t)tac_rng_u64(rng);
		s.state.T_base_tool.position.x = any_double(rng);
		s.state.T_base_tool.rotation.w = any_double(rng);
		s.wrench.torque_Nm = tac_dvec3_make((double)NAN, -0.0, HUGE_VAL);
		s.state.buttons = tac_rng_u32(rng);
		s.gripper_N = (double)NAN;
		s.now_ns = (int64_t)tac_rng_u64(rng);
		s.delay_ns = (int64_t)tac_rng_u64(rng);
		s.flags = 0xffff;
	}
	return s;
}

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	tac_rng rng = tac_rng_seed(1, 1);
	memset(samples, 0, sizeof samples);
	for (int k = 0; k < SAMPLES; k++)
		samples[k] = make_sample(&rng, k);
	tac_recording_encode_header(&head, file, &chain);
	file_bytes = TAC_RECORDING_HEADER_BYTES;
	file_bytes += tac_recording_encode_scene(&chain, &touched, file + file_bytes);
	for (uint32_t k = 0, b = 0; k < SAMPLES; k += TAC_RECORDING_BLOCK_SAMPLES, b++) {
		const uint32_t count =
			SAMPLES - k < TAC_RECORDING_BLOCK_SAMPLES ? SAMPLES - k : TAC_RECORDING_BLOCK_SAMPLES;
		block_begin[b] = file_bytes;
		file_bytes += tac_recording_encode_block(&chain, samples + k, count, file + file_bytes);
	}
	block_begin[4] = file_bytes;
	file_bytes += tac_recording_encode_end(&chain, SAMPLES, 0, file + file_bytes);
}

void tearDown(void)
{
	tac_recording_fini(&recording);
	tac_log_set(NULL, NULL);
}

// Compares memory: NaNs differ from themselves, and structures have padding.
static void assert_same(const tac_device_sample *a, const tac_device_sample *b)
{
	TEST_ASSERT_EQUAL_INT64(a->state.time_ns, b->state.time_ns);
	TEST_ASSERT_EQUAL_MEMORY(&a->state.T_base_tool, &b->state.T_base_tool, sizeof a->state.T_base_tool);
	TEST_ASSERT_EQUAL_MEMORY(&a->state.velocity_m_per_s, &b->state.velocity_m_per_s, sizeof(tac_dvec3));
	TEST_ASSERT_EQUAL_MEMORY(&a->state.angular_velocity_rad_per_s, &b->state.angular_velocity_rad_per_s,
				 sizeof(tac_dvec3));
	TEST_ASSERT_EQUAL_UINT32(a->state.buttons, b->state.buttons);
	TEST_ASSERT_EQUAL_MEMORY(&a->state.gripper_m, &b->state.gripper_m, sizeof(double));
	TEST_ASSERT_EQUAL_MEMORY(&a->state.gripper_m_per_s, &b->state.gripper_m_per_s, sizeof(double));
	TEST_ASSERT_EQUAL_MEMORY(&a->gripper_N, &b->gripper_N, sizeof(double));
	TEST_ASSERT_EQUAL_MEMORY(&a->wrench, &b->wrench, sizeof a->wrench);
	TEST_ASSERT_EQUAL(a->status, b->status);
	TEST_ASSERT_EQUAL_INT64(a->now_ns, b->now_ns);
	TEST_ASSERT_EQUAL_INT64(a->delay_ns, b->delay_ns);
	TEST_ASSERT_EQUAL_HEX32(a->flags, b->flags);
}

static void samples_decode_to_the_same_bits(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_decode(file, file_bytes, "test", &recording));
	TEST_ASSERT_EQUAL_UINT64(SAMPLES, recording.count);
	for (int k = 0; k < SAMPLES; k++)
		assert_same(&samples[k], &recording.samples[k]);
	TEST_ASSERT_EQUAL_STRING("sim:falcon", recording.header.name);
	TEST_ASSERT_EQUAL_STRING("007", recording.header.serial);
	TEST_ASSERT_EQUAL_INT64(1000000, recording.header.period_ns);
	TEST_ASSERT_EQUAL_INT64(head.loop_period_ns, recording.header.loop_period_ns);
	TEST_ASSERT_FALSE(recording.has_device);
	TEST_ASSERT_EQUAL_FLOAT(8.5F, recording.header.max_force_N);
	TEST_ASSERT_EQUAL_FLOAT(0.25F, recording.header.max_torque_Nm);
	TEST_ASSERT_EQUAL_FLOAT(0.5F, recording.header.gripper_max_m);
	TEST_ASSERT_EQUAL_FLOAT(8.5F, recording.header.max_gripper_N);
	TEST_ASSERT_EQUAL_HEX64(head.run, recording.header.run);
	TEST_ASSERT_EQUAL_STRING(touched.name, recording.scene.name);
	TEST_ASSERT_EQUAL_STRING(touched.folder, recording.scene.folder);
	TEST_ASSERT_EQUAL_STRING(touched.text, recording.scene.text);
	TEST_ASSERT_EQUAL_UINT32(2, recording.scene.mesh_count);
	TEST_ASSERT_EQUAL_HEX64(touched.mesh_hashes[0], recording.scene.mesh_hashes[0]);
	TEST_ASSERT_EQUAL_UINT64(42, recording.scene.mesh_hashes[1]);
	TEST_ASSERT_NULL(recording.damage);
	TEST_ASSERT_EQUAL_INT(0, logged_lines);
}

static void a_device_at_rest_is_compressed_to_a_tenth(void)
{
	static uint8_t out[TAC_RECORDING_BLOCK_BYTES_MAX];
	for (int k = 0; k < TAC_RECORDING_BLOCK_SAMPLES; k++) {
		samples[k] = samples[1];
		samples[k].state.time_ns = samples[k].now_ns = k * INT64_C(1000000);
		samples[k].delay_ns = 20000 + k * 7919 % 3000; // it is never at rest
	}
	const size_t bytes = tac_recording_encode_block(&chain, samples, TAC_RECORDING_BLOCK_SAMPLES, out);
	TEST_ASSERT_TRUE(bytes < TAC_RECORDING_BLOCK_SAMPLES * sizeof(tac_device_sample) / 10);
	printf("%zu bytes a sample at rest, %zu while moving, %zu in memory\n",
	       bytes / TAC_RECORDING_BLOCK_SAMPLES, (file_bytes - TAC_RECORDING_HEADER_BYTES) / SAMPLES,
	       sizeof(tac_device_sample));
}

// CRC-32 by its definition, bit by bit; of bytes that follow others whose CRC is `start`.
static uint32_t crc_from(uint32_t start, const uint8_t *bytes, size_t size)
{
	uint32_t crc = ~start;
	for (size_t i = 0; i < size * 8; i++) {
		const uint32_t bit = (crc ^ (uint32_t)bytes[i / 8] >> i % 8) & 1;
		crc = crc >> 1 ^ (bit ? 0xedb88320 : 0);
	}
	return ~crc;
}

// The CRC of a block: the header's CRC goes on over the block without its own CRC.
static uint32_t block_crc(uint32_t seed, const uint8_t *block, size_t payload)
{
	static uint8_t joined[TAC_RECORDING_SCENE_BYTES_MAX];
	memcpy(joined, block, BLOCK - 4);
	memcpy(joined + BLOCK - 4, block + BLOCK, payload);
	return crc_from(seed, joined, BLOCK - 4 + payload);
}

static void put32(uint8_t *out, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(value >> 8 * i);
}

static void the_bytes_are_as_documented(void)
{
	const uint8_t begin[24] = {0x89, 'T', 'A', 'C', 'R',  'E',  'C',  '\n', 4,   0,
				   128,  0,   0,   0,   0x08, 0x41, 0x40, 0x42, 0x0f}; // 8.5 is 0x41080000
	TEST_ASSERT_EQUAL_MEMORY(begin, file, sizeof begin);
	TEST_ASSERT_EQUAL_MEMORY("\0\0\x80\x3e", file + 88, 4); // 0.25 is 0x3e800000
	TEST_ASSERT_EQUAL_MEMORY("\0\0\x08\x41", file + 92, 4); // the gripper: 8.5 N
	TEST_ASSERT_EQUAL_MEMORY("\0\0\0\x3f", file + 104, 4);  // and 0.5 m
	TEST_ASSERT_EQUAL_STRING("sim:falcon", (const char *)file + 24);
	TEST_ASSERT_EQUAL_STRING("007", (const char *)file + 56);
	TEST_ASSERT_EQUAL_MEMORY("\x88\x77\x66\x55\x44\x33\x22\x11", file + 96, 8);
	TEST_ASSERT_EQUAL_MEMORY("\x08\x07\x06\x05\x04\x03\x02\x01", file + 108, 8);
	TEST_ASSERT_EQUAL_MEMORY("\0\0\0\0\0\0\0", file + 116, 8);
	TEST_ASSERT_EQUAL_UINT32(0xcbf43926, crc_from(0, (const uint8_t *)"123456789", 9));
	uint8_t expected[4];
	const uint32_t seed = crc_from(0, file, 124);
	put32(expected, seed);
	TEST_ASSERT_EQUAL_MEMORY(expected, file + 124, 4);
	// The scene: 16 bytes, two hashes, 7 + 11 + 15 characters.
	const uint8_t scene[16] = {'T', 'S', 'C', 'N', 65, 0, 0, 0};
	const uint8_t lengths[24] = {7, 0, 0, 0, 11,   0,    0,    0,    15,   0,    0,    0,
				     2, 0, 0, 0, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01};
	TEST_ASSERT_EQUAL_MEMORY(scene, file + 128, sizeof scene);
	TEST_ASSERT_EQUAL_MEMORY(expected, file + 128 + 16, 4); // the sum before is the header's
	TEST_ASSERT_EQUAL_MEMORY(lengths, file + 128 + 24, sizeof lengths);
	TEST_ASSERT_EQUAL_MEMORY("a scene/some/wherescene: a scene\n", file + 128 + 24 + 32, 33);
	// A sample with time 1 and button 0 alone: zigzag of 1 is 2.
	const tac_device_sample one = {.state = {.time_ns = 1, .buttons = 1}, .now_ns = 1};
	static uint8_t out[TAC_RECORDING_BLOCK_BYTES_MAX];
	tac_recording_chain at = {.seed = seed, .sum = 0x04030201, .sequence = 7};
	TEST_ASSERT_EQUAL_UINT64(24 + 13 + 2, tac_recording_encode_block(&at, &one, 1, out));
	const uint8_t block[20] = {'T', 'B', 'L', 'K', 15, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 1, 2, 3, 4};
	const uint8_t payload[15] = {0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0, 0, 2, 1};
	TEST_ASSERT_EQUAL_MEMORY(block, out, sizeof block);
	TEST_ASSERT_EQUAL_MEMORY(payload, out + 24, sizeof payload);
	put32(expected, block_crc(seed, out, 15));
	TEST_ASSERT_EQUAL_MEMORY(expected, out + 20, 4);
	TEST_ASSERT_EQUAL_UINT32(block_crc(seed, out, 15), at.sum);
	// The gripper's words are 21 to 23; 2.0 is 0x4000000000000000.
	const tac_device_sample grip = {.state = {.gripper_m_per_s = 2}, .gripper_N = 2};
	TEST_ASSERT_EQUAL_UINT64(24 + 13 + 16, tac_recording_encode_block(&at, &grip, 1, out));
	const uint8_t grip_payload[29] = {0, 0, 0, 0, 0, 0,    0, 0, 0, 0, 0, 0x88, 0, 0,   0,
					  0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0,    0, 0x40};
	TEST_ASSERT_EQUAL_MEMORY(grip_payload, out + 24, sizeof grip_payload);
	// Status 4 and flags 6 in word 20; 5 ns from the state to the tick in word 24, a delay of 0x102
	// in 25.
	const tac_device_sample tick = {
		.status = TAC_DEVICE_LOST, .now_ns = 5, .delay_ns = 0x102, .flags = 6};
	TEST_ASSERT_EQUAL_UINT64(24 + 13 + 10, tac_recording_encode_block(&at, &tick, 1, out));
	const uint8_t tick_payload[23] = {0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0x07, 0,
					  0x21, 0, 0, 0, 0, 4, 0, 6, 5, 2, 1};
	TEST_ASSERT_EQUAL_MEMORY(tick_payload, out + 24, sizeof tick_payload);
	// The end mark: sequence number 5 after the scene and four blocks, 1000 samples, none lost.
	const uint8_t end[16] = {'T', 'E', 'N', 'D', 16, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0};
	const uint8_t counts[16] = {0xe8, 0x03};
	TEST_ASSERT_EQUAL_MEMORY(end, file + block_begin[4], sizeof end);
	TEST_ASSERT_EQUAL_MEMORY(counts, file + block_begin[4] + 24, sizeof counts);
}

// ---- damage of a small file: header, scene, three blocks of two samples, end mark ----

#define PARTS 5 // after the header
#define EACH  2 // samples

static uint8_t small[4096];
static size_t part_begin[PARTS + 1], small_bytes;

static void make_small(void)
{
	tac_recording_encode_header(&head, small, &chain);
	small_bytes = TAC_RECORDING_HEADER_BYTES;
	for (int part = 0; part < PARTS; part++) {
		uint8_t *at = small + small_bytes;
		part_begin[part] = small_bytes;
		if (part == 0)
			small_bytes += tac_recording_encode_scene(&chain, &touched, at);
		else if (part == PARTS - 1)
			small_bytes += tac_recording_encode_end(&chain, 3 * EACH, 0, at);
		else
			small_bytes +=
				tac_recording_encode_block(&chain, samples + (part - 1) * EACH, EACH, at);
	}
	part_begin[PARTS] = small_bytes;
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_decode(small, small_bytes, "small", &recording));
	tac_recording_fini(&recording);
}

static int part_of(size_t offset)
{
	int part = 0;
	while (part < PARTS && part_begin[part + 1] <= offset)
		part++;
	return part;
}

// The samples of parts 1 … part-1.
static size_t samples_before(int part)
{
	return part < 1 ? 0 : (size_t)(part > 3 ? 3 : part - 1) * EACH;
}

static void every_truncation_is_recognised_and_keeps_all_complete_blocks(void)
{
	make_small();
	for (size_t size = 0; size < small_bytes; size++) {
		// An exact copy, so that the address sanitizer detects a read beyond it.
		uint8_t *copy = malloc(size + 1);
		memcpy(copy, small, size);
		logged_lines = 0;
		const tac_result result = tac_recording_decode(copy, size, "cut", &recording);
		TEST_ASSERT_EQUAL_INT(1, logged_lines);
		if (size < TAC_RECORDING_HEADER_BYTES) {
			TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, result);
		} else {
			const int part = part_of(size);
			TEST_ASSERT_EQUAL(TAC_PARTIAL, result);
			TEST_ASSERT_EQUAL_UINT64(samples_before(part), recording.count);
			TEST_ASSERT_EQUAL_UINT64(size - part_begin[part], recording.lost_bytes);
			TEST_ASSERT_EQUAL_UINT64(part_begin[part], recording.damage_offset);
			TEST_ASSERT_EQUAL_UINT64(recording.count, recording.damage_sample);
			TEST_ASSERT_EQUAL(part > 0, recording.scene.text != NULL);
			for (size_t k = 0; k < recording.count; k++)
				assert_same(&samples[k], &recording.samples[k]);
		}
		tac_recording_fini(&recording);
		free(copy);
	}
}

static void every_flipped_bit_is_recognised_and_loses_only_its_own_block(void)
{
	make_small();
	for (size_t bit = 0; bit < small_bytes * 8; bit++) {
		const size_t at = bit / 8;
		small[at] = (uint8_t)(small[at] ^ 1U << bit % 8);
		logged_lines = 0;
		const tac_result result = tac_recording_decode(small, small_bytes, "flipped", &recording);
		small[at] = (uint8_t)(small[at] ^ 1U << bit % 8);
		TEST_ASSERT_EQUAL_INT(1, logged_lines);
		if (at < TAC_RECORDING_HEADER_BYTES) {
			TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, result);
			TEST_ASSERT_NULL(recording.samples);
			continue;
		}
		const int part = part_of(at);
		const bool in_samples = part >= 1 && part <= 3;
		TEST_ASSERT_EQUAL(TAC_PARTIAL, result);
		TEST_ASSERT_EQUAL_UINT64(part_begin[part], recording.damage_offset);
		TEST_ASSERT_EQUAL_UINT64(samples_before(part), recording.damage_sample);
		TEST_ASSERT_EQUAL_UINT64(3 * EACH - (in_samples ? EACH : 0), recording.count);
		TEST_ASSERT_EQUAL(part != 0, recording.scene.text != NULL);
		for (size_t k = 0; k < recording.count; k++)
			assert_same(&samples[in_samples && k >= samples_before(part) ? k + EACH : k],
				    &recording.samples[k]);
		tac_recording_fini(&recording);
	}
}

// What a reader may take of an arrangement of parts: those whose numbers increase, up to the end mark.
static size_t expected_samples(const int *parts, int count, size_t *out_first, bool *out_whole)
{
	int next = 0;
	size_t found = 0;
	*out_whole = count == PARTS;
	for (int i = 0; i < count && next < PARTS; i++) {
		*out_whole = *out_whole && parts[i] == i;
		if (parts[i] < next)
			continue;
		for (int k = 0; parts[i] >= 1 && parts[i] <= 3 && k < EACH; k++)
			out_first[found++] = (size_t)((parts[i] - 1) * EACH + k);
		next = parts[i] + 1;
	}
	return found;
}

// All sequences of up to six of the five parts: everything omitted, exchanged, doubled, reversed.
static void every_arrangement_of_blocks_but_the_right_one_is_recognised(void)
{
	make_small();
	int arrangements = 0, whole = 0;
	for (int count = 0; count <= PARTS + 1; count++) {
		int total = 1;
		for (int i = 0; i < count; i++)
			total *= PARTS;
		for (int code = 0; code < total; code++, arrangements++) {
			int parts[PARTS + 1];
			size_t bytes = TAC_RECORDING_HEADER_BYTES, expected[3 * EACH];
			memcpy(damaged, small, bytes);
			for (int i = 0, rest = code; i < count; i++, rest /= PARTS) {
				parts[i] = rest % PARTS;
				const size_t begin = part_begin[parts[i]];
				memcpy(damaged + bytes, small + begin, part_begin[parts[i] + 1] - begin);
				bytes += part_begin[parts[i] + 1] - begin;
			}
			bool right;
			const size_t found = expected_samples(parts, count, expected, &right);
			const tac_result result = tac_recording_decode(damaged, bytes, "parts", &recording);
			TEST_ASSERT_EQUAL(right ? TAC_OK : TAC_PARTIAL, result);
			TEST_ASSERT_EQUAL_UINT64(found, recording.count);
			for (size_t k = 0; k < found; k++)
				assert_same(&samples[expected[k]], &recording.samples[k]);
			whole += right;
			tac_recording_fini(&recording);
		}
	}
	TEST_ASSERT_EQUAL_INT(1, whole);
	TEST_ASSERT_EQUAL_INT(19531, arrangements);
}

// Blocks of another run of the same device and scene, even with the same numbers, are not taken.
static void blocks_of_another_recording_are_recognised(void)
{
	make_small();
	static uint8_t first[sizeof small];
	memcpy(first, small, small_bytes);
	// The same lengths and sequence numbers; other samples, another run.
	static uint8_t other[sizeof small];
	tac_recording_header another = head;
	another.run++;
	tac_recording_chain theirs;
	tac_recording_encode_header(&another, other, &theirs);
	size_t begin[PARTS + 1], bytes = TAC_RECORDING_HEADER_BYTES;
	for (int part = 0; part < PARTS; part++) {
		begin[part] = bytes;
		if (part == 0)
			bytes += tac_recording_encode_scene(&theirs, &touched, other + bytes);
		else if (part == PARTS - 1)
			bytes += tac_recording_encode_end(&theirs, 3 * EACH, 0, other + bytes);
		else
			bytes += tac_recording_encode_block(&theirs, samples + 100 + part * EACH, EACH,
							    other + bytes);
	}
	begin[PARTS] = bytes;
	// Every choice of each part from either file.
	for (unsigned mask = 1; mask < 1U << PARTS; mask++) {
		size_t size = TAC_RECORDING_HEADER_BYTES, expected = 0;
		memcpy(damaged, first, size);
		for (int part = 0; part < PARTS; part++) {
			const bool foreign = mask >> part & 1;
			const uint8_t *from = foreign ? other + begin[part] : first + part_begin[part];
			const size_t length = foreign ? begin[part + 1] - begin[part]
						      : part_begin[part + 1] - part_begin[part];
			memcpy(damaged + size, from, length);
			size += length;
			expected += !foreign && part >= 1 && part <= 3 ? EACH : 0;
		}
		TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_decode(damaged, size, "spliced", &recording));
		TEST_ASSERT_EQUAL_UINT64(expected, recording.count);
		for (size_t k = 0, of = 0; k < recording.count; k++, of++) {
			while (mask >> (of / EACH + 1) & 1)
				of += EACH;
			assert_same(&samples[of], &recording.samples[k]);
		}
		tac_recording_fini(&recording);
	}
}

// The same number and seed, another block before: only the chain tells.
static void a_block_that_does_not_follow_the_one_before_is_recognised(void)
{
	make_small();
	tac_recording_chain fork = {.seed = chain.seed, .sum = 12345, .sequence = 2};
	static uint8_t block[TAC_RECORDING_BLOCK_BYTES_MAX];
	const size_t length = tac_recording_encode_block(&fork, samples + 100, EACH, block);
	memcpy(damaged, small, part_begin[2]);
	memcpy(damaged + part_begin[2], block, length);
	memcpy(damaged + part_begin[2] + length, small + part_begin[3], small_bytes - part_begin[3]);
	const size_t size = part_begin[2] + length + small_bytes - part_begin[3];
	TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_decode(damaged, size, "forked", &recording));
	TEST_ASSERT_EQUAL_UINT64(part_begin[2], recording.damage_offset);
	TEST_ASSERT_EQUAL_UINT64(2 * EACH, recording.count);
	assert_same(&samples[2 * EACH], &recording.samples[EACH]);
}

static void samples_lost_while_recording_are_reported(void)
{
	make_small();
	memcpy(damaged, small, small_bytes);
	tac_recording_chain end = chain;
	// The chain before the end mark.
	end.sequence--;
	memcpy(&end.sum, small + part_begin[4] + 16, 4); // little-endian, as this machine
	tac_recording_encode_end(&end, 3 * EACH, 17, damaged + part_begin[4]);
	TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_decode(damaged, small_bytes, "x", &recording));
	TEST_ASSERT_EQUAL_UINT64(17, recording.unrecorded);
	TEST_ASSERT_NULL(recording.damage);
	TEST_ASSERT_NOT_NULL(strstr(logged, "17 samples were lost"));
}

static void a_damaged_or_newer_header_is_refused_with_a_reason(void)
{
	for (size_t at = 0; at < TAC_RECORDING_HEADER_BYTES; at++) {
		memcpy(damaged, file, file_bytes);
		damaged[at] ^= 0x10;
		TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT,
				  tac_recording_decode(damaged, file_bytes, "x", &recording));
		TEST_ASSERT_NULL(recording.samples);
	}
	memcpy(damaged, file, file_bytes);
	damaged[8] = 5;
	TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, tac_recording_decode(damaged, file_bytes, "x", &recording));
	TEST_ASSERT_EQUAL_STRING("recording x: expected version 1 to 4, found 5", logged);
}

static void an_invalid_maximum_force_is_unknown(void)
{
	const float invalid[] = {NAN, INFINITY, -3};
	for (size_t i = 0; i < 3; i++) {
		const tac_recording_header header = {.max_force_N = invalid[i], .max_torque_Nm = invalid[i]};
		tac_recording_encode_header(&header, file, &chain);
		const size_t end = tac_recording_encode_end(&chain, 0, 0, file + TAC_RECORDING_HEADER_BYTES);
		TEST_ASSERT_EQUAL(TAC_OK, tac_recording_decode(file, TAC_RECORDING_HEADER_BYTES + end, "x",
							       &recording));
		TEST_ASSERT_EQUAL_FLOAT(0, recording.header.max_force_N);
		TEST_ASSERT_EQUAL_FLOAT(0, recording.header.max_torque_Nm);
		tac_recording_fini(&recording);
	}
}

// Recomputes the CRC, so that the decoder itself sees the changed bytes.
static void seal(uint8_t *block, size_t payload)
{
	put32(block + BLOCK - 4, block_crc(chain.seed, block, payload));
}

static bool decode_block(const uint8_t *bytes, size_t size, tac_recording_block *out_block)
{
	return tac_recording_decode_block(TAC_RECORDING_VERSION, &chain, bytes, size, out_block) &&
	       tac_recording_decode_samples(out_block, decoded);
}

static void random_bytes_with_a_valid_crc_are_never_read_out_of_bounds(void)
{
	tac_rng rng = tac_rng_seed(4, 1);
	int decoded_blocks = 0;
	for (int i = 0; i < 20000; i++) {
		const uint32_t payload = tac_rng_below(&rng, 400), count = 1 + tac_rng_below(&rng, 5);
		uint8_t *block = calloc(1, BLOCK + payload);
		const uint8_t header[12] = {
			'T', 'B', 'L', 'K', (uint8_t)payload, (uint8_t)(payload >> 8), 0, 0, (uint8_t)count};
		memcpy(block, header, sizeof header);
		const bool sparse = tac_rng_below(&rng, 2);
		for (uint32_t b = 0; b < payload; b++) // few bytes set, so that some lengths are valid
			block[BLOCK + b] = sparse && tac_rng_below(&rng, 8) ? 0 : (uint8_t)tac_rng_u32(&rng);
		seal(block, payload);
		tac_recording_block found;
		TEST_ASSERT_TRUE(tac_recording_decode_block(TAC_RECORDING_VERSION, &chain, block,
							    BLOCK + payload, &found));
		TEST_ASSERT_EQUAL_UINT64(BLOCK + payload, found.length);
		TEST_ASSERT_EQUAL_UINT32(count, found.samples);
		decoded_blocks += tac_recording_decode_samples(&found, decoded);
		free(block);
	}
	TEST_ASSERT_GREATER_THAN(0, decoded_blocks);
}

static void a_scene_with_wrong_lengths_is_refused(void)
{
	static uint8_t block[TAC_RECORDING_SCENE_BYTES_MAX];
	const size_t size = tac_recording_encode_scene(&chain, &touched, block), payload = size - BLOCK;
	const uint32_t wrong[] = {0, 1, 0x7fffffff, 0xfffffff0, 0xffffffff, 64, 65, (uint32_t)payload};
	tac_rng rng = tac_rng_seed(9, 1);
	int refused = 0;
	for (int i = 0; i < 2000; i++) {
		uint8_t *copy = malloc(size);
		memcpy(copy, block, size);
		for (uint32_t n = 1 + tac_rng_below(&rng, 2); n > 0; n--)
			put32(copy + BLOCK + 4 * tac_rng_below(&rng, 4), wrong[tac_rng_below(&rng, 8)]);
		seal(copy, payload);
		tac_recording_block found;
		TEST_ASSERT_TRUE(
			tac_recording_decode_block(TAC_RECORDING_VERSION, &chain, copy, size, &found));
		tac_recording_scene scene;
		char *memory;
		const tac_result result = tac_recording_decode_scene(&found, &scene, &memory);
		TEST_ASSERT_TRUE(result == TAC_OK || !memory);
		refused += result == TAC_ERROR_FORMAT;
		free(memory);
		free(copy);
	}
	TEST_ASSERT_GREATER_THAN(1500, refused);
	char *large = malloc(TAC_RECORDING_SCENE_BYTES + 1);
	memset(large, 'x', TAC_RECORDING_SCENE_BYTES);
	large[TAC_RECORDING_SCENE_BYTES] = '\0';
	const tac_recording_scene too_large = {.name = "x", .folder = "", .text = large};
	TEST_ASSERT_EQUAL_UINT64(0, tac_recording_scene_bytes(&too_large));
	free(large);
}

static void extra_bytes_in_a_block_are_damage(void)
{
	static uint8_t block[TAC_RECORDING_BLOCK_BYTES_MAX + 1];
	const size_t size = tac_recording_encode_block(&chain, samples, 3, block);
	block[size] = 0;
	block[4]++; // the payload's length; the low byte is not 255 here
	tac_recording_block found;
	seal(block, size - BLOCK + 1);
	TEST_ASSERT_FALSE(decode_block(block, size + 1, &found));
	block[4]--;
	seal(block, size - BLOCK);
	TEST_ASSERT_TRUE(decode_block(block, size + 1, &found));
	TEST_ASSERT_EQUAL_UINT64(size, found.length);
	TEST_ASSERT_EQUAL_UINT32(3, found.samples);
}

static void junk_between_blocks_loses_no_block(void)
{
	for (size_t junk = 1; junk < 40; junk++) {
		memcpy(damaged, file, block_begin[1]);
		for (size_t i = 0; i < junk; i++)
			damaged[block_begin[1] + i] = (uint8_t) "TBLTEN"[i % 6];
		memcpy(damaged + block_begin[1] + junk, file + block_begin[1], file_bytes - block_begin[1]);
		TEST_ASSERT_EQUAL(TAC_PARTIAL,
				  tac_recording_decode(damaged, file_bytes + junk, "junk", &recording));
		TEST_ASSERT_EQUAL_UINT64(SAMPLES, recording.count);
		TEST_ASSERT_EQUAL_UINT64(junk, recording.lost_bytes);
		tac_recording_fini(&recording);
	}
}

static void changed_real_blocks_decode_or_are_refused(void)
{
	tac_rng rng = tac_rng_seed(5, 1);
	static uint8_t real[TAC_RECORDING_BLOCK_BYTES_MAX];
	const size_t size = tac_recording_encode_block(&chain, samples, 12, real);
	uint8_t *block = malloc(size);
	for (int i = 0; i < 5000; i++) {
		memcpy(block, real, size);
		for (uint32_t n = 1 + tac_rng_below(&rng, 4); n > 0; n--)
			block[tac_rng_below(&rng, (uint32_t)size)] = (uint8_t)tac_rng_u32(&rng);
		seal(block, size - BLOCK);
		tac_recording_block found;
		if (!decode_block(block, size, &found))
			continue;
		TEST_ASSERT_TRUE(found.length <= size && found.samples <= TAC_RECORDING_BLOCK_SAMPLES);
		for (uint32_t k = 0; k < found.samples; k++)
			TEST_ASSERT_TRUE(decoded[k].status < TAC_DEVICE_STATUS_COUNT);
	}
	free(block);
}

static void random_files_are_decoded_safely(void)
{
	tac_rng rng = tac_rng_seed(6, 1);
	for (int i = 0; i < 3000; i++) {
		const size_t size = tac_rng_below(&rng, 3000);
		uint8_t *bytes = malloc(size + 1);
		for (size_t b = 0; b < size; b++)
			bytes[b] = (uint8_t)tac_rng_u32(&rng);
		const size_t same = tac_rng_below(&rng, 1500); // the start is valid
		memcpy(bytes, file, same < size ? same : size);
		tac_recording_decode(bytes, size, "random", &recording);
		tac_recording_fini(&recording);
		free(bytes);
	}
}

static const char *temporary(void)
{
	static char path[64];
	snprintf(path, sizeof path, "/tmp/tactus-recording-%d", (int)getpid());
	return path;
}

// A name and a folder are for messages and mesh files.
static void a_recorder_needs_only_the_text_of_a_scene(void)
{
	const tac_device_info info = {.name = "pen"};
	const tac_recording_scene first = {.text = "scene: first"}, later = {.text = "scene: later"},
				  none = {0};
	const tac_recorder_def def = {.path = temporary(), .info = &info, .scene = &first, .commands = true};
	tac_recorder *recorder;
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_create(&def, &recorder));
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_add_scene(recorder, &later));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_recorder_add_scene(recorder, &none));
	TEST_ASSERT_NOT_NULL(strstr(logged, "expected the text of a scene, found none"));
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&recorder));
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_load(temporary(), &recording));
	unlink(temporary());
	TEST_ASSERT_EQUAL_STRING("scene: first", recording.scene.text);
	TEST_ASSERT_EQUAL_STRING("", recording.scene.name);
	TEST_ASSERT_EQUAL_size_t(1, recording.later_scene_count);
	TEST_ASSERT_EQUAL_STRING("scene: later", recording.later_scenes[0].text);
	tac_recording_fini(&recording);
}

static void a_file_on_disk_is_the_same(void)
{
	FILE *out = fopen(temporary(), "wb");
	TEST_ASSERT_EQUAL_UINT64(file_bytes, fwrite(file, 1, file_bytes, out));
	fclose(out);
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_load(temporary(), &recording));
	TEST_ASSERT_EQUAL_UINT64(SAMPLES, recording.count);
	assert_same(&samples[SAMPLES - 1], &recording.samples[SAMPLES - 1]);
	unlink(temporary());
	tac_recording_fini(&recording);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_recording_load(temporary(), &recording));
	TEST_ASSERT_NOT_NULL(strstr(logged, strerror(ENOENT)));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_recording_load("/tmp", &recording));
}

// A file larger than the reader's buffer.
static void a_long_file_is_read_in_pieces(void)
{
	enum { BLOCKS = 60 };
	FILE *out = fopen(temporary(), "wb");
	static uint8_t block[TAC_RECORDING_BLOCK_BYTES_MAX];
	tac_rng rng = tac_rng_seed(11, 1);
	tac_recording_encode_header(&head, block, &chain);
	fwrite(block, 1, TAC_RECORDING_HEADER_BYTES, out);
	size_t bytes = TAC_RECORDING_HEADER_BYTES;
	for (int b = 0; b < BLOCKS; b++) {
		for (int k = 0; k < TAC_RECORDING_BLOCK_SAMPLES; k++) {
			samples[k].state.time_ns = b * INT64_C(256) + k;
			samples[k].state.velocity_m_per_s = tac_dvec3_make(
				any_double(&rng), any_double(&rng), any_double(&rng)); // hardly compressed
			samples[k].wrench.force_N =
				tac_dvec3_make(any_double(&rng), any_double(&rng), any_double(&rng));
		}
		const size_t size =
			tac_recording_encode_block(&chain, samples, TAC_RECORDING_BLOCK_SAMPLES, block);
		bytes += fwrite(block, 1, size, out);
		if (b == BLOCKS / 2) { // damage that has to be searched across the end of a buffer
			memset(block, 'T', sizeof block);
			for (int i = 0; i < 30; i++)
				bytes += fwrite(block, 1, sizeof block, out);
		}
	}
	bytes += fwrite(block, 1, tac_recording_encode_end(&chain, 256 * BLOCKS, 0, block), out);
	fclose(out);
	TEST_ASSERT_GREATER_THAN_UINT64(UINT64_C(2) << 20, bytes);
	TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_load(temporary(), &recording));
	TEST_ASSERT_EQUAL_UINT64(256 * BLOCKS, recording.count);
	TEST_ASSERT_EQUAL_UINT64(30 * sizeof block, recording.lost_bytes);
	for (size_t k = 0; k < recording.count; k++)
		TEST_ASSERT_EQUAL_INT64((int64_t)k, recording.samples[k].state.time_ns);
	unlink(temporary());
}

// The reader fills a buffer of 1 MiB; the mark of the first block lies across its end.
static void a_block_across_the_end_of_the_buffer_is_found(void)
{
	make_small();
	for (size_t before = 0; before <= 5; before++) {
		FILE *out = fopen(temporary(), "wb");
		fwrite(small, 1, TAC_RECORDING_HEADER_BYTES, out);
		const size_t junk = (1 << 20) - before - TAC_RECORDING_HEADER_BYTES;
		for (size_t i = 0; i < junk; i++)
			fputc('x', out);
		fwrite(small + part_begin[0], 1, small_bytes - part_begin[0], out);
		fclose(out);
		TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_load(temporary(), &recording));
		TEST_ASSERT_EQUAL_UINT64(junk, recording.lost_bytes);
		TEST_ASSERT_EQUAL_UINT64(3 * EACH, recording.count);
		TEST_ASSERT_NOT_NULL(recording.scene.text);
		tac_recording_fini(&recording);
		unlink(temporary());
	}
}

static void pipes_and_devices_are_refused_without_waiting(void)
{
	TEST_ASSERT_EQUAL(0, mkfifo(temporary(), 0600));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_recording_load(temporary(), &recording));
	TEST_ASSERT_NOT_NULL(strstr(logged, "regular file"));
	unlink(temporary());
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_recording_load("/dev/zero", &recording));
	TEST_ASSERT_EQUAL_INT(2, logged_lines);
}

static void csv_has_all_digits(void)
{
	recording = (tac_recording){.count = 49};
	recording.samples = malloc(49 * sizeof samples[0]);
	memcpy(recording.samples, samples, 49 * sizeof samples[0]);
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_export_csv(&recording, temporary()));
	FILE *in = fopen(temporary(), "r");
	char line[2048];
	TEST_ASSERT_NOT_NULL(fgets(line, sizeof line, in));
	TEST_ASSERT_EQUAL_STRING_LEN("t_s,x,y,z,qx,qy,qz,qw,", line, 22);
	for (int k = 0; k < 49; k++) {
		TEST_ASSERT_NOT_NULL(fgets(line, sizeof line, in));
		double n[20];
		char *at = line;
		for (int i = 0; i < 20; i++, at++)
			n[i] = strtod(at, &at);
		const tac_device_sample *s = &samples[k];
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, (double)(s->state.time_ns - samples[0].state.time_ns) / 1e9,
					  n[0]);
		TEST_ASSERT_TRUE(n[1] == s->state.T_base_tool.position.x &&
				 n[3] == s->state.T_base_tool.position.z);
		TEST_ASSERT_TRUE(n[4] == s->state.T_base_tool.rotation.x &&
				 n[7] == s->state.T_base_tool.rotation.w);
		TEST_ASSERT_TRUE(n[9] == s->state.velocity_m_per_s.y && n[16] == s->wrench.force_N.z);
		TEST_ASSERT_EQUAL_INT((int)s->state.buttons, strtol(at, &at, 10));
		TEST_ASSERT_EQUAL_STRING(k % 17 ? ",ok\n" : ",stale\n", at);
	}
	TEST_ASSERT_NULL(fgets(line, sizeof line, in));
	fclose(in);
	unlink(temporary());
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_recording_export_csv(&recording, "/dev/full"));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_recording_export_csv(&recording, "/nowhere/at/all"));
}

// ---- commands and later scenes ----

// Header, scene, commands, samples, another scene, a command, end mark.
static size_t make_commanded(uint8_t *out, const tac_recording_command *commands)
{
	const tac_recording_scene later = {.name = "later", .folder = "/x", .text = "scene: later"};
	tac_recording_chain at;
	tac_recording_encode_header(&head, out, &at);
	size_t bytes = TAC_RECORDING_HEADER_BYTES;
	bytes += tac_recording_encode_scene(&at, &touched, out + bytes);
	bytes += tac_recording_encode_commands(&at, commands, 2, out + bytes);
	bytes += tac_recording_encode_block(&at, samples, 5, out + bytes);
	bytes += tac_recording_encode_scene(&at, &later, out + bytes);
	bytes += tac_recording_encode_commands(&at, commands + 2, 1, out + bytes);
	bytes += tac_recording_encode_end(&at, 5, 0, out + bytes);
	return bytes;
}

static void commands_and_later_scenes_are_read_back(void)
{
	static uint8_t out[8192];
	tac_recording_command commands[3] = {
		{.tick = 0, .bytes = 0},
		{.tick = 3, .bytes = TAC_RECORDING_COMMAND_BYTES},
		{.tick = 4, .bytes = 3, .data = {1, 2, 3}},
	};
	for (int i = 0; i < TAC_RECORDING_COMMAND_BYTES; i++)
		commands[1].data[i] = (uint8_t)(7 * i + 1);
	const size_t bytes = make_commanded(out, commands);
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_decode(out, bytes, "x", &recording));
	TEST_ASSERT_EQUAL_size_t(5, recording.count);
	TEST_ASSERT_EQUAL_size_t(3, recording.command_count);
	for (int i = 0; i < 3; i++) {
		TEST_ASSERT_EQUAL_INT64(commands[i].tick, recording.commands[i].tick);
		TEST_ASSERT_EQUAL_UINT32(commands[i].bytes, recording.commands[i].bytes);
		TEST_ASSERT_EQUAL_MEMORY(commands[i].data, recording.commands[i].data,
					 sizeof commands[i].data);
	}
	TEST_ASSERT_EQUAL_size_t(1, recording.later_scene_count);
	TEST_ASSERT_EQUAL_STRING("scene: later", recording.later_scenes[0].text);
	TEST_ASSERT_EQUAL_STRING(touched.text, recording.scene.text);
	tac_recording_fini(&recording);
	// Every truncation and every flipped bit is noticed.
	for (size_t cut = TAC_RECORDING_HEADER_BYTES; cut < bytes; cut++) {
		TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_decode(out, cut, "x", &recording));
		tac_recording_fini(&recording);
	}
	for (size_t bit = 8 * TAC_RECORDING_HEADER_BYTES; bit < 8 * bytes; bit += 3) {
		out[bit / 8] ^= (uint8_t)(1u << bit % 8);
		TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_decode(out, bytes, "x", &recording));
		tac_recording_fini(&recording);
		out[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(samples_decode_to_the_same_bits);
	RUN_TEST(a_device_at_rest_is_compressed_to_a_tenth);
	RUN_TEST(the_bytes_are_as_documented);
	RUN_TEST(every_truncation_is_recognised_and_keeps_all_complete_blocks);
	RUN_TEST(every_flipped_bit_is_recognised_and_loses_only_its_own_block);
	RUN_TEST(every_arrangement_of_blocks_but_the_right_one_is_recognised);
	RUN_TEST(blocks_of_another_recording_are_recognised);
	RUN_TEST(a_block_that_does_not_follow_the_one_before_is_recognised);
	RUN_TEST(samples_lost_while_recording_are_reported);
	RUN_TEST(a_damaged_or_newer_header_is_refused_with_a_reason);
	RUN_TEST(an_invalid_maximum_force_is_unknown);
	RUN_TEST(random_bytes_with_a_valid_crc_are_never_read_out_of_bounds);
	RUN_TEST(a_scene_with_wrong_lengths_is_refused);
	RUN_TEST(extra_bytes_in_a_block_are_damage);
	RUN_TEST(junk_between_blocks_loses_no_block);
	RUN_TEST(changed_real_blocks_decode_or_are_refused);
	RUN_TEST(random_files_are_decoded_safely);
	RUN_TEST(a_recorder_needs_only_the_text_of_a_scene);
	RUN_TEST(a_file_on_disk_is_the_same);
	RUN_TEST(a_long_file_is_read_in_pieces);
	RUN_TEST(a_block_across_the_end_of_the_buffer_is_found);
	RUN_TEST(pipes_and_devices_are_refused_without_waiting);
	RUN_TEST(csv_has_all_digits);
	RUN_TEST(commands_and_later_scenes_are_read_back);
	return UNITY_END();
}
