// Recordings of earlier versions, which earlier programs have written, and what version 4 adds: the device.
#include "base/crc32.h"
#include "devices/recording.h"
#include "devices/recording/format.h"
#include "tests/support/logged.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <unity.h>

static tac_recording recording;

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
}

void tearDown(void)
{
	tac_recording_fini(&recording);
	tac_log_set(NULL, NULL);
}

static const char *temporary(void)
{
	static char path[64];
	snprintf(path, sizeof path, "/tmp/tactus_versions_%d", (int)getpid());
	return path;
}

// The temporary file has this length and CRC-32; it is removed.
static void assert_file(size_t bytes, uint32_t crc)
{
	static uint8_t text[65536];
	FILE *in = fopen(temporary(), "rb");
	const size_t found = fread(text, 1, sizeof text, in);
	fclose(in);
	unlink(temporary());
	TEST_ASSERT_EQUAL_UINT64(bytes, found);
	TEST_ASSERT_EQUAL_HEX32(crc, tac_crc32(0, text, found));
}

// Written by version 1 of the program (`tactus run sphere --device sim:falcon --rate 100 --seconds 3`); the
// number is the CRC-32 of what it wrote with `tactus view --csv`.
static void a_recording_of_version_1_is_read_as_before(void)
{
	TEST_ASSERT_EQUAL(TAC_OK,
			  tac_recording_load(TACTUS_TEST_DATA "/recordings/version1.rec", &recording));
	TEST_ASSERT_EQUAL_INT(1, recording.version);
	TEST_ASSERT_EQUAL_UINT64(300, recording.count);
	TEST_ASSERT_EQUAL_STRING("sim:falcon", recording.header.name);
	TEST_ASSERT_NULL(recording.scene.text);
	TEST_ASSERT_EQUAL_INT(0, logged_lines);
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_export_csv(&recording, temporary()));
	assert_file(39626, 0x7a30b7c1);
}

// Written by a program of version 2 of the format (`tactus run sphere --device sim:omega7 --seconds 0.05`),
// with its scene; the number is the CRC-32 of what that program wrote with `tactus view --csv`.
static void a_recording_of_version_2_is_read_as_before(void)
{
	TEST_ASSERT_EQUAL(TAC_OK,
			  tac_recording_load(TACTUS_TEST_DATA "/recordings/version2.rec", &recording));
	TEST_ASSERT_EQUAL_INT(2, recording.version);
	TEST_ASSERT_EQUAL_UINT64(50, recording.count);
	TEST_ASSERT_EQUAL_STRING("sim:omega7", recording.header.name);
	TEST_ASSERT_NOT_NULL(recording.scene.text);
	TEST_ASSERT_EQUAL_FLOAT(0, recording.header.gripper_max_m);
	TEST_ASSERT_EQUAL_DOUBLE(0, recording.samples[49].state.gripper_m);
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_export_csv(&recording, temporary()));
	assert_file(4182, 0xd3cceea3);
}

// Written by a program of version 3 of the format (`tactus run sphere --device sim:omega7 --seconds 0.05`);
// the number is the CRC-32 of what that program wrote with `tactus view --csv`. What later versions add is 0.
static void a_recording_of_version_3_is_read_as_before(void)
{
	TEST_ASSERT_EQUAL(TAC_OK,
			  tac_recording_load(TACTUS_TEST_DATA "/recordings/version3.rec", &recording));
	TEST_ASSERT_EQUAL_INT(3, recording.version);
	TEST_ASSERT_EQUAL_UINT64(50, recording.count);
	TEST_ASSERT_EQUAL_INT64(0, recording.header.loop_period_ns);
	TEST_ASSERT_FALSE(recording.has_device);
	for (size_t k = 0; k < recording.count; k++) {
		TEST_ASSERT_EQUAL_INT64(recording.samples[k].state.time_ns, recording.samples[k].now_ns);
		TEST_ASSERT_EQUAL_INT64(0, recording.samples[k].delay_ns);
		TEST_ASSERT_EQUAL_HEX32(0, recording.samples[k].flags);
	}
	TEST_ASSERT_EQUAL_INT(0, logged_lines);
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_export_csv(&recording, temporary()));
	assert_file(4516, 0x26c4eb1f);
}

static void damage_of_version_1_loses_only_its_own_block(void)
{
	static uint8_t file[16384];
	FILE *in = fopen(TACTUS_TEST_DATA "/recordings/version1.rec", "rb");
	const size_t size = fread(file, 1, sizeof file, in);
	fclose(in);
	TEST_ASSERT_EQUAL_UINT64(8944, size);
	size_t second = 97;
	while (memcmp(file + second, "TBLK", 4) != 0)
		second++;
	for (size_t at = 0; at < size; at += at < 112 ? 1 : 41) {
		file[at] ^= 0x10;
		const tac_result result = tac_recording_decode(file, size, "old", &recording);
		file[at] ^= 0x10;
		TEST_ASSERT_EQUAL(at < 96 ? TAC_ERROR_FORMAT : TAC_PARTIAL, result);
		TEST_ASSERT_EQUAL_UINT64(at < 96 ? 0 : at < second ? 44 : 256, recording.count);
		tac_recording_fini(&recording);
		TEST_ASSERT_EQUAL(at < 96                    ? TAC_ERROR_FORMAT
				  : at == 96 || at == second ? TAC_OK
							     : TAC_PARTIAL,
				  tac_recording_decode(file, at, "cut", &recording));
		TEST_ASSERT_EQUAL_UINT64(at < second ? 0 : 256, recording.count);
		tac_recording_fini(&recording);
	}
}

// ---- the device ----

static const tac_device_info whole = {
	.name = "sim:falcon",
	.serial = "007",
	.position_axes = 3,
	.rotation_axes = 2,
	.force_axes = 1,
	.torque_axes = 0,
	.buttons = 4,
	.max_force_N = 8.9,
	.max_torque_Nm = 0.5,
	.full_force_s = 0.004,
	.weight_N = 1.5,
	.max_stiffness_N_per_m = 3000,
	.max_damping_N_s_per_m = 20,
	.gripper_max_m = 0.025,
	.max_gripper_N = 8,
	.workspace_min_m = {-1, -2, -3},
	.workspace_max_m = {1, 2, 3},
	.linear = {0.1, 0.2, 0.3, 1e-5},
	.angular = {1e-4, 2e-4, 3e-4, 1e-6},
	.gripper = {0.01, 0.5, 0.05, 1e-5},
	.period_ns = 1000000,
	.delay_ns = 250000,
	.hold_ns = 100000000,
};

static const tac_recording_header head = {.period_ns = 1000000, .name = "sim:falcon", .serial = "007"};
static const tac_device_sample two[2] = {{.now_ns = 1}, {.now_ns = 2}};

// Header, device, two samples, end mark; returns where the device's block begins.
static size_t make_with_device(const tac_device_info *info, uint8_t *out, size_t *out_bytes)
{
	tac_recording_chain at;
	tac_recording_encode_header(&head, out, &at);
	size_t bytes = TAC_RECORDING_HEADER_BYTES;
	bytes += tac_recording_encode_device(&at, info, out + bytes);
	bytes += tac_recording_encode_block(&at, two, 2, out + bytes);
	bytes += tac_recording_encode_end(&at, 2, 0, out + bytes);
	*out_bytes = bytes;
	return TAC_RECORDING_HEADER_BYTES;
}

// Cut anywhere behind the header, within a block or between two, it is the file of a killed recorder.
static void a_file_that_is_cut_off_was_killed(void)
{
	static uint8_t out[4096];
	size_t bytes;
	const size_t begin = make_with_device(&whole, out, &bytes);
	for (size_t cut = begin; cut < bytes; cut++) {
		TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_decode(out, cut, "x", &recording));
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(recording.damage, "recorder was killed"),
					     recording.damage);
		TEST_ASSERT_TRUE(recording.damage_offset + recording.lost_bytes == cut);
		tac_recording_fini(&recording);
	}
}

static void the_device_is_read_back(void)
{
	static uint8_t out[4096];
	size_t bytes;
	const size_t at = make_with_device(&whole, out, &bytes);
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_decode(out, bytes, "x", &recording));
	TEST_ASSERT_TRUE(recording.has_device);
	TEST_ASSERT_EQUAL_MEMORY(&whole, &recording.device, sizeof whole);
	TEST_ASSERT_EQUAL_UINT64(2, recording.count);
	// The bytes as documented: five counts, 26 numbers, two times. 8.9 is 0x4021cccccccccccd.
	const uint8_t counts[28] = {3, 0, 0, 0, 2, 0, 0,    0,    1,    0,    0,    0,    0,    0,
				    0, 0, 4, 0, 0, 0, 0xcd, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x21, 0x40};
	TEST_ASSERT_EQUAL_MEMORY("TDEV", out + at, 4);
	TEST_ASSERT_EQUAL_UINT8(244, out[at + 4]);
	TEST_ASSERT_EQUAL_MEMORY(counts, out + at + TAC_RECORDING_BLOCK_HEADER, sizeof counts);
	const uint8_t times[16] = {0x90, 0xd0, 0x03, 0, 0, 0, 0, 0, 0x00, 0xe1, 0xf5, 0x05};
	TEST_ASSERT_EQUAL_MEMORY(times, out + at + TAC_RECORDING_BLOCK_HEADER + 20 + 208, sizeof times);
	for (size_t bit = 8 * at; bit < 8 * (at + TAC_RECORDING_DEVICE_BYTES); bit++) {
		tac_recording_fini(&recording);
		out[bit / 8] = (uint8_t)(out[bit / 8] ^ 1U << bit % 8);
		TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_decode(out, bytes, "x", &recording));
		out[bit / 8] = (uint8_t)(out[bit / 8] ^ 1U << bit % 8);
		TEST_ASSERT_FALSE(recording.has_device);
		TEST_ASSERT_EQUAL_UINT64(2, recording.count);
	}
}

// With the right checksums, but numbers that would fail where they are used.
static void a_device_that_cannot_be_is_damage(void)
{
	static uint8_t out[4096];
	for (int i = 0; i < 6; i++) {
		tac_device_info bad = whole;
		size_t bytes;
		if (i == 0)
			bad.max_force_N = (double)NAN;
		else if (i == 1)
			bad.linear.mass = -1e-3;
		else if (i == 2)
			bad.delay_ns = -1;
		else if (i == 3)
			bad.torque_axes = 4;
		else if (i == 4)
			bad.workspace_min_m.x = -HUGE_VAL;
		else
			bad.delay_ns = INT64_MAX;
		make_with_device(&bad, out, &bytes);
		TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_decode(out, bytes, "x", &recording));
		TEST_ASSERT_EQUAL_STRING("a malformed block", recording.damage);
		TEST_ASSERT_FALSE(recording.has_device);
		TEST_ASSERT_EQUAL_DOUBLE(0, recording.device.max_force_N);
		TEST_ASSERT_EQUAL_UINT64(2, recording.count);
		tac_recording_fini(&recording);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_recording_of_version_1_is_read_as_before);
	RUN_TEST(damage_of_version_1_loses_only_its_own_block);
	RUN_TEST(a_recording_of_version_2_is_read_as_before);
	RUN_TEST(a_recording_of_version_3_is_read_as_before);
	RUN_TEST(a_file_that_is_cut_off_was_killed);
	RUN_TEST(the_device_is_read_back);
	RUN_TEST(a_device_that_cannot_be_is_damage);
	return UNITY_END();
}
