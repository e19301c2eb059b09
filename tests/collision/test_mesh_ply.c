// The check of PLY files: complete files pass, every truncation fails.
#include "collision/import/mesh_ply.h"

#include "unity.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

// Checks a copy of exactly this size, so that the sanitizer detects reads beyond its end.
static const char *check(const char *bytes, size_t size)
{
	char *copy = malloc(size ? size : 1);
	TEST_ASSERT_NOT_NULL(copy);
	memcpy(copy, bytes, size);
	const char *defect = tac_mesh_ply_check(copy, size);
	free(copy);
	return defect;
}

static void expect_complete_only_in_full(const char *bytes, size_t size, size_t optional_tail)
{
	TEST_ASSERT_NULL(check(bytes, size));
	for (size_t n = 4; n + optional_tail < size; n++)
		TEST_ASSERT_NOT_NULL(check(bytes, n));
}

#define HEADER(format, end)                                                                                  \
	"ply" end "format " format " 1.0" end "comment made by hand" end "element vertex 3" end              \
	"property float x" end "property double y" end "property short z" end "element face 2" end           \
	"property list uchar int vertex_indices" end "property uchar flags" end "end_header" end

static void text_needs_one_line_per_element(void)
{
	static const char unix_ends[] =
		HEADER("ascii", "\n") "0 0 0\n1 0 0\n\n0 1 0\n3 0 1 2 0\n4 0 1 2 2 0\n";
	static const char dos_ends[] =
		HEADER("ascii", "\r\n") "0 0 0\r\n1 0 0\r\n0 1 0\r\n3 0 1 2 0\r\n4 0 1 2 2 0\r\n";
	expect_complete_only_in_full(unix_ends, sizeof unix_ends - 1, sizeof "4 0 1 2 2 0\n" - 1);
	expect_complete_only_in_full(dos_ends, sizeof dos_ends - 1, sizeof "4 0 1 2 2 0\r\n" - 1);
}

static void binary_is_checked_in_both_byte_orders(void)
{
	static const char vertices[3 * 14] = {0};
	static const char faces[] = "\3aaaabbbbccccf\2aaaabbbbf"; // 3 and 2 indices, flags
	const char *const headers[] = {HEADER("binary_little_endian", "\n"),
				       HEADER("binary_big_endian", "\n")};
	for (int i = 0; i < 2; i++) {
		char file[512];
		const size_t header = strlen(headers[i]);
		memcpy(file, headers[i], header);
		memcpy(file + header, vertices, sizeof vertices);
		memcpy(file + header + sizeof vertices, faces, sizeof faces - 1);
		expect_complete_only_in_full(file, header + sizeof vertices + sizeof faces - 1, 0);
	}
}

static void counts_of_lists_have_their_byte_order_and_sign(void)
{
	static const struct {
		const char *format, *type, *count; // up to two bytes
		size_t bytes;
		bool complete;
	} cases[] = {
		{"binary_little_endian", "ushort", "\1\0", 1, true},
		{"binary_big_endian", "ushort", "\0\1", 1, true},
		{"binary_little_endian", "ushort", "\0\1", 255, false},
		{"binary_little_endian", "ushort", "\0\1", 256, true},
		{"binary_big_endian", "int16", "\1\0", 256, true},
		{"binary_big_endian", "int16", "\xFF\xFF", 400, false},
		{"binary_big_endian", "int8", "\xFF\0", 400, false},
		{"binary_big_endian", "uint8", "\xFF\0", 400, true},
		{"binary_little_endian", "uint16", "\xFF\xFF", 400, false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char file[1024] = {0};
		const int header =
			snprintf(file, sizeof file,
				 "ply\nformat %s 1.0\nelement face 1\nproperty list %s uchar v\nend_header\n",
				 cases[i].format, cases[i].type);
		memcpy(file + header, cases[i].count, 2);
		TEST_ASSERT_EQUAL(cases[i].complete, !check(file, (size_t)header + 2 + cases[i].bytes));
	}
}

static void invalid_headers_are_refused(void)
{
	static const char *const files[] = {
		"ply\n",
		"ply\nend_header\n",
		"ply\nformat morse 1.0\nend_header\n",
		"ply\nformat ascii 1.0\nelement vertex\nend_header\n",
		"ply\nformat ascii 1.0\nelement vertex -1\nend_header\n",
		"ply\nformat ascii 1.0\nelement vertex 4294967296\nend_header\n",
		"ply\nformat ascii 1.0\nelement vertex 99999999999999999999999\nend_header\n",
		"ply\nformat ascii 1.0\nelement vertex 3x\nend_header\n",
		"ply\nformat ascii 1.0\nproperty float x\nend_header\n",
		"ply\nformat ascii 1.0\nelement vertex 0\nproperty quark x\nend_header\n",
		"ply\nformat ascii 1.0\nelement vertex 0\nproperty\nend_header\n",
		"ply\nformat ascii 1.0\nelement vertex 0\nproperty list\nend_header\n",
		"ply\nformat ascii 1.0\nelement vertex 0\nproperty list uchar\nend_header\n",
		"ply\nformat ascii 1.0\nelement vertex 0\nproperty list float int x\nend_header\n",
		"ply\nformat binary_little_endian 1.0\n"
		"element vertex 4294967295\nproperty double x\nend_header\n",
		"ply\nformat binary_little_endian 1.0\n"
		"element face 4294967295\nproperty list uchar int x\nend_header\n",
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		TEST_ASSERT_NOT_NULL_MESSAGE(check(files[i], strlen(files[i])), files[i]);
}

static void other_formats_are_not_checked(void)
{
	static const char *const files[] = {"",      "p",          "ply", "plywood is a material\n",
					    "OFF\n", "solid ply\n"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		TEST_ASSERT_NULL_MESSAGE(check(files[i], strlen(files[i])), files[i]);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(text_needs_one_line_per_element);
	RUN_TEST(binary_is_checked_in_both_byte_orders);
	RUN_TEST(counts_of_lists_have_their_byte_order_and_sign);
	RUN_TEST(invalid_headers_are_refused);
	RUN_TEST(other_formats_are_not_checked);
	return UNITY_END();
}
