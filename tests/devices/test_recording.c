// Oracles: the encoded samples, a CRC by its definition, and the format as the header documents it.
#include "devices/recording.h"

#include "base/rng.h"
#include "tests/support/logged.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unity.h>

#define SAMPLES  1000
#define FILE_MAX (TAC_RECORDING_HEADER_BYTES + 4 * TAC_RECORDING_BLOCK_BYTES_MAX)

static tac_recording_sample samples[SAMPLES], decoded[TAC_RECORDING_BLOCK_SAMPLES];
static uint8_t file[FILE_MAX], damaged[FILE_MAX];
static size_t file_bytes, block_begin[5];
static tac_recording recording;

static double any_double(tac_rng *rng)
{
	const uint64_t bits = tac_rng_u64(rng);
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

// A hand that moves smoothly, and every fiftieth sample random bits.
static tac_recording_sample make_sample(tac_rng *rng, int k)
{
	const double t = k * 1e-3;
	tac_recording_sample s = {
		.state = {.time_ns = 5000000000 + k * INT64_C(1000000) + tac_rng_below(rng, 2000),
			  .T_base_tool = {tac_dvec3_make(0.05 * sin(t), 0.02 * cos(3 * t),
							 1e-5 * floor(1e3 * t)),
					  tac_dquat_exp(tac_dvec3_make(0.1 * t, 0, sin(t)))},
			  .velocity_m_per_s = tac_dvec3_make(0.05 * cos(t), -0.06 * sin(3 * t), 0.01),
			  .buttons = k / 100 % 2 ? 3 : 0},
		.wrench = {tac_dvec3_make(0, 0, k > 500 ? 2 * sin(t) : 0), tac_dvec3_zero()},
		.status = k % 17 ? TAC_DEVICE_OK : TAC_DEVICE_STALE,
	};
	if (k % 50 == 49) {
		s.state.time_ns = (int64_t)tac_rng_u64(rng);
		s.state.T_base_tool.position.x = any_double(rng);
		s.state.T_base_tool.rotation.w = any_double(rng);
		s.wrench.torque_Nm = tac_dvec3_make((double)NAN, -0.0, HUGE_VAL);
		s.state.buttons = tac_rng_u32(rng);
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
	const tac_recording_header header = {.period_ns = 1000000,
					     .name = "sim:falcon",
					     .serial = "007",
					     .max_force_N = 8.5F,
					     .max_torque_Nm = 0.25F};
	tac_recording_encode_header(&header, file);
	file_bytes = TAC_RECORDING_HEADER_BYTES;
	for (uint32_t k = 0, b = 0; k < SAMPLES; k += TAC_RECORDING_BLOCK_SAMPLES, b++) {
		const uint32_t count =
			SAMPLES - k < TAC_RECORDING_BLOCK_SAMPLES ? SAMPLES - k : TAC_RECORDING_BLOCK_SAMPLES;
		block_begin[b] = file_bytes;
		file_bytes += tac_recording_encode_block(samples + k, count, file + file_bytes);
	}
	block_begin[4] = file_bytes;
}

void tearDown(void)
{
	tac_recording_fini(&recording);
	tac_log_set(NULL, NULL);
}

// Compares memory: NaNs differ from themselves, and structures have padding.
static void assert_same(const tac_recording_sample *a, const tac_recording_sample *b)
{
	TEST_ASSERT_EQUAL_INT64(a->state.time_ns, b->state.time_ns);
	TEST_ASSERT_EQUAL_MEMORY(&a->state.T_base_tool, &b->state.T_base_tool, sizeof a->state.T_base_tool);
	TEST_ASSERT_EQUAL_MEMORY(&a->state.velocity_m_per_s, &b->state.velocity_m_per_s, sizeof(tac_dvec3));
	TEST_ASSERT_EQUAL_MEMORY(&a->state.angular_velocity_rad_per_s, &b->state.angular_velocity_rad_per_s,
				 sizeof(tac_dvec3));
	TEST_ASSERT_EQUAL_UINT32(a->state.buttons, b->state.buttons);
	TEST_ASSERT_EQUAL_MEMORY(&a->wrench, &b->wrench, sizeof a->wrench);
	TEST_ASSERT_EQUAL(a->status, b->status);
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
	TEST_ASSERT_EQUAL_FLOAT(8.5F, recording.header.max_force_N);
	TEST_ASSERT_EQUAL_FLOAT(0.25F, recording.header.max_torque_Nm);
	TEST_ASSERT_EQUAL_INT(0, logged_lines);
}

static void a_device_at_rest_is_compressed_to_a_tenth(void)
{
	static uint8_t out[TAC_RECORDING_BLOCK_BYTES_MAX];
	for (int k = 0; k < TAC_RECORDING_BLOCK_SAMPLES; k++) {
		samples[k] = samples[1];
		samples[k].state.time_ns = k * INT64_C(1000000);
	}
	const size_t bytes = tac_recording_encode_block(samples, TAC_RECORDING_BLOCK_SAMPLES, out);
	TEST_ASSERT_TRUE(bytes < TAC_RECORDING_BLOCK_SAMPLES * sizeof(tac_recording_sample) / 10);
	printf("%zu bytes a sample at rest, %zu while moving, %zu in memory\n",
	       bytes / TAC_RECORDING_BLOCK_SAMPLES, (file_bytes - TAC_RECORDING_HEADER_BYTES) / SAMPLES,
	       sizeof(tac_recording_sample));
}

// CRC-32 by its definition, bit by bit.
static uint32_t crc_by_definition(const uint8_t *bytes, size_t size)
{
	uint32_t crc = 0xffffffff;
	for (size_t i = 0; i < size * 8; i++) {
		const uint32_t bit = (crc ^ (uint32_t)bytes[i / 8] >> i % 8) & 1;
		crc = crc >> 1 ^ (bit ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void the_bytes_are_as_the_header_documents(void)
{
	const uint8_t begin[24] = {0x89, 'T', 'A', 'C', 'R',  'E',  'C',  '\n', 1,   0,
				   96,   0,   0,   0,   0x08, 0x41, 0x40, 0x42, 0x0f}; // 8.5 is 0x41080000
	TEST_ASSERT_EQUAL_MEMORY(begin, file, sizeof begin);
	TEST_ASSERT_EQUAL_MEMORY("\0\0\x80\x3e", file + 88, 4); // 0.25 is 0x3e800000
	TEST_ASSERT_EQUAL_STRING("sim:falcon", (const char *)file + 24);
	TEST_ASSERT_EQUAL_UINT32(0xcbf43926, crc_by_definition((const uint8_t *)"123456789", 9));
	const uint32_t crc = crc_by_definition(file, 92);
	const uint8_t expected[4] = {(uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16),
				     (uint8_t)(crc >> 24)};
	TEST_ASSERT_EQUAL_MEMORY(expected, file + 92, 4);
	// A sample with time 1 and button 0 alone: zigzag of 1 is 2.
	const tac_recording_sample one = {.state = {.time_ns = 1, .buttons = 1}};
	static uint8_t out[TAC_RECORDING_BLOCK_BYTES_MAX];
	TEST_ASSERT_EQUAL_UINT64(16 + 11 + 2, tac_recording_encode_block(&one, 1, out));
	const uint8_t block[12] = {'T', 'B', 'L', 'K', 13, 0, 0, 0, 1, 0, 0, 0};
	const uint8_t payload[13] = {0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 2, 1};
	TEST_ASSERT_EQUAL_MEMORY(block, out, sizeof block);
	TEST_ASSERT_EQUAL_MEMORY(payload, out + 16, sizeof payload);
}

static void a_truncated_file_keeps_all_complete_blocks(void)
{
	for (size_t size = 0; size <= file_bytes; size += size < 200 ? 1 : 97) {
		// An exact copy, so that the address sanitizer detects a read beyond it.
		uint8_t *copy = malloc(size + 1);
		memcpy(copy, file, size);
		logged_lines = 0;
		const tac_result result = tac_recording_decode(copy, size, "cut", &recording);
		if (size < TAC_RECORDING_HEADER_BYTES) {
			TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, result);
			TEST_ASSERT_EQUAL_INT(1, logged_lines);
		} else {
			size_t blocks = 0;
			while (blocks < 4 && block_begin[blocks + 1] <= size)
				blocks++;
			const size_t kept = blocks == 4 ? SAMPLES : blocks * TAC_RECORDING_BLOCK_SAMPLES;
			TEST_ASSERT_EQUAL_UINT64(kept, recording.count);
			TEST_ASSERT_EQUAL_UINT64(size - block_begin[blocks], recording.lost_bytes);
			TEST_ASSERT_EQUAL(recording.lost_bytes ? TAC_PARTIAL : TAC_OK, result);
			TEST_ASSERT_EQUAL_INT(recording.lost_bytes ? 1 : 0, logged_lines);
		}
		tac_recording_fini(&recording);
		free(copy);
	}
}

static void a_flipped_bit_loses_only_its_own_block(void)
{
	tac_rng rng = tac_rng_seed(3, 1);
	for (int i = 0; i < 300; i++) {
		memcpy(damaged, file, file_bytes);
		const size_t at = TAC_RECORDING_HEADER_BYTES +
				  tac_rng_below(&rng, (uint32_t)(file_bytes - TAC_RECORDING_HEADER_BYTES));
		damaged[at] = (uint8_t)(damaged[at] ^ 1u << tac_rng_below(&rng, 8));
		int block = 0;
		while (block_begin[block + 1] <= at)
			block++;
		const size_t in_it =
			block == 3 ? SAMPLES % TAC_RECORDING_BLOCK_SAMPLES : TAC_RECORDING_BLOCK_SAMPLES;
		TEST_ASSERT_EQUAL(TAC_PARTIAL,
				  tac_recording_decode(damaged, file_bytes, "flipped", &recording));
		TEST_ASSERT_EQUAL_UINT64(SAMPLES - in_it, recording.count);
		const size_t before = (size_t)block * TAC_RECORDING_BLOCK_SAMPLES;
		for (size_t k = 0; k < recording.count; k++)
			assert_same(&samples[k < before ? k : k + in_it], &recording.samples[k]);
		tac_recording_fini(&recording);
	}
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
	damaged[8] = 2;
	TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, tac_recording_decode(damaged, file_bytes, "x", &recording));
	TEST_ASSERT_EQUAL_STRING("recording x: expected version 1, found 2", logged);
}

static void an_invalid_maximum_force_is_unknown(void)
{
	const float invalid[] = {NAN, INFINITY, -3};
	for (size_t i = 0; i < 3; i++) {
		const tac_recording_header header = {.max_force_N = invalid[i], .max_torque_Nm = invalid[i]};
		tac_recording_encode_header(&header, file);
		TEST_ASSERT_EQUAL(TAC_OK, tac_recording_decode(file, file_bytes, "x", &recording));
		TEST_ASSERT_EQUAL_FLOAT(0, recording.header.max_force_N);
		TEST_ASSERT_EQUAL_FLOAT(0, recording.header.max_torque_Nm);
		tac_recording_fini(&recording);
	}
}

// Recomputes the CRC, so that the decoder itself sees the changed bytes.
static void seal(uint8_t *block, size_t payload)
{
	static uint8_t joined[TAC_RECORDING_BLOCK_BYTES_MAX];
	memcpy(joined, block, 12);
	memcpy(joined + 12, block + 16, payload);
	const uint32_t crc = crc_by_definition(joined, 12 + payload);
	for (int i = 0; i < 4; i++)
		block[12 + i] = (uint8_t)(crc >> 8 * i);
}

static void random_bytes_with_a_valid_crc_are_never_read_out_of_bounds(void)
{
	tac_rng rng = tac_rng_seed(4, 1);
	int decoded_blocks = 0;
	for (int i = 0; i < 20000; i++) {
		const uint32_t payload = tac_rng_below(&rng, 400), count = tac_rng_below(&rng, 6);
		uint8_t *block = malloc(16 + payload);
		const uint8_t header[12] = {
			'T', 'B', 'L', 'K', (uint8_t)payload, (uint8_t)(payload >> 8), 0, 0, (uint8_t)count};
		memcpy(block, header, sizeof header);
		const bool sparse = tac_rng_below(&rng, 2);
		for (uint32_t b = 0; b < payload; b++) // few bytes set, so that some lengths are valid
			block[16 + b] = sparse && tac_rng_below(&rng, 8) ? 0 : (uint8_t)tac_rng_u32(&rng);
		seal(block, payload);
		uint32_t found;
		const size_t used = tac_recording_decode_block(block, 16 + payload, decoded, &found);
		TEST_ASSERT_TRUE(used == 0 ? found == 0 : used == 16 + payload && found == count);
		decoded_blocks += used > 0;
		free(block);
	}
	TEST_ASSERT_GREATER_THAN(0, decoded_blocks);
}

static void extra_bytes_in_a_block_are_damage(void)
{
	static uint8_t block[TAC_RECORDING_BLOCK_BYTES_MAX + 1];
	const size_t size = tac_recording_encode_block(samples, 3, block);
	block[size] = 0;
	block[4]++; // the payload's length; the low byte is not 255 here
	uint32_t found;
	seal(block, size - 16 + 1);
	TEST_ASSERT_EQUAL_UINT64(0, tac_recording_decode_block(block, size + 1, decoded, &found));
	block[4]--;
	seal(block, size - 16);
	TEST_ASSERT_EQUAL_UINT64(size, tac_recording_decode_block(block, size + 1, decoded, &found));
	TEST_ASSERT_EQUAL_UINT32(3, found);
}

static void junk_between_blocks_loses_no_block(void)
{
	for (size_t junk = 1; junk < 40; junk++) {
		memcpy(damaged, file, block_begin[1]);
		for (size_t i = 0; i < junk; i++)
			damaged[block_begin[1] + i] = (uint8_t) "TBLTBL"[i % 6];
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
	const size_t size = tac_recording_encode_block(samples, 12, real);
	uint8_t *block = malloc(size);
	for (int i = 0; i < 5000; i++) {
		memcpy(block, real, size);
		for (uint32_t n = 1 + tac_rng_below(&rng, 4); n > 0; n--)
			block[tac_rng_below(&rng, (uint32_t)size)] = (uint8_t)tac_rng_u32(&rng);
		seal(block, size - 16);
		uint32_t found;
		const size_t used = tac_recording_decode_block(block, size, decoded, &found);
		TEST_ASSERT_TRUE(used == 0 || (used <= size && found <= TAC_RECORDING_BLOCK_SAMPLES));
		for (uint32_t k = 0; k < found; k++)
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
		const tac_recording_sample *s = &samples[k];
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

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(samples_decode_to_the_same_bits);
	RUN_TEST(a_device_at_rest_is_compressed_to_a_tenth);
	RUN_TEST(the_bytes_are_as_the_header_documents);
	RUN_TEST(a_truncated_file_keeps_all_complete_blocks);
	RUN_TEST(a_flipped_bit_loses_only_its_own_block);
	RUN_TEST(a_damaged_or_newer_header_is_refused_with_a_reason);
	RUN_TEST(an_invalid_maximum_force_is_unknown);
	RUN_TEST(random_bytes_with_a_valid_crc_are_never_read_out_of_bounds);
	RUN_TEST(extra_bytes_in_a_block_are_damage);
	RUN_TEST(junk_between_blocks_loses_no_block);
	RUN_TEST(changed_real_blocks_decode_or_are_refused);
	RUN_TEST(random_files_are_decoded_safely);
	RUN_TEST(a_file_on_disk_is_the_same);
	RUN_TEST(csv_has_all_digits);
	return UNITY_END();
}
