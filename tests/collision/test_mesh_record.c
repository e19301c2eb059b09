// The records between importer and runtime: an encoded record is decoded, anything else is refused.
#include "collision/import/mesh_record.h"

#include "unity.h"

#include <stdlib.h>
#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static const tac_vec3 vertices[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const tac_mesh_triangle triangles[] = {{{0, 2, 1}}, {{0, 1, 3}}, {{0, 3, 2}}};
static const int32_t surfaces[] = {1, 0, 1};

static tac_mesh_def sample(const char *const names[2])
{
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = vertices;
	def.vertex_count = 4;
	def.triangles = triangles;
	def.triangle_count = 3;
	def.triangle_surface = surfaces;
	def.surface_names = names;
	def.surface_count = 2;
	return def;
}

static char *encode(const char *const names[2], size_t *out_size)
{
	const tac_mesh_def def = sample(names);
	*out_size = tac_mesh_record_size(&def);
	char *bytes = malloc(*out_size);
	TEST_ASSERT_NOT_NULL(bytes);
	tac_mesh_record_encode(&def, bytes);
	return bytes;
}

static void a_decoded_record_equals_what_was_encoded(void)
{
	size_t size;
	char *bytes = encode((const char *const[]){"left", "right"}, &size);
	tac_mesh_record record;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_record_decode(bytes, size, &record));
	TEST_ASSERT_EQUAL_INT(4, record.def.vertex_count);
	TEST_ASSERT_EQUAL_INT(3, record.def.triangle_count);
	TEST_ASSERT_EQUAL_INT(2, record.def.surface_count);
	TEST_ASSERT_EQUAL_MEMORY(vertices, record.def.vertices, sizeof vertices);
	TEST_ASSERT_EQUAL_MEMORY(triangles, record.def.triangles, sizeof triangles);
	TEST_ASSERT_EQUAL_MEMORY(surfaces, record.def.triangle_surface, sizeof surfaces);
	TEST_ASSERT_EQUAL_STRING("left", record.def.surface_names[0]);
	TEST_ASSERT_EQUAL_STRING("right", record.def.surface_names[1]);
	tac_mesh_record_release(&record);
	free(bytes);
}

static void a_record_of_any_other_length_is_refused(void)
{
	size_t size;
	char *bytes = encode((const char *const[]){"left", "right"}, &size);
	char *longer = calloc(1, size + 64);
	TEST_ASSERT_NOT_NULL(longer);
	memcpy(longer, bytes, size);
	for (size_t n = 0; n < size + 64; n++) {
		if (n == size)
			continue;
		// A copy of exactly this size, so that the sanitizer detects reads beyond its end.
		char *cut = malloc(n ? n : 1);
		TEST_ASSERT_NOT_NULL(cut);
		memcpy(cut, longer, n);
		tac_mesh_record record;
		TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, tac_mesh_record_decode(cut, n, &record));
		TEST_ASSERT_TRUE(record.message[0] != 0);
		free(cut);
	}
	free(longer);
	free(bytes);
}

static void a_record_with_one_bit_changed_is_refused(void)
{
	size_t size;
	char *bytes = encode((const char *const[]){"left", "right"}, &size);
	size_t accepted = 0;
	for (size_t i = 0; i < 8 * size; i++) {
		bytes[i / 8] = (char)(bytes[i / 8] ^ (1 << i % 8));
		tac_mesh_record record;
		const tac_result result = tac_mesh_record_decode(bytes, size, &record);
		// The message of a record with a mesh is ignored.
		if (result == TAC_OK) {
			accepted++;
			tac_mesh_record_release(&record);
		} else {
			TEST_ASSERT_TRUE(result == TAC_ERROR_FORMAT || result == TAC_ERROR_IO);
		}
		bytes[i / 8] = (char)(bytes[i / 8] ^ (1 << i % 8));
	}
	TEST_ASSERT_EQUAL_size_t(8 * TAC_MESH_RECORD_MESSAGE, accepted);
	free(bytes);
}

static void names_are_made_printable(void)
{
	static const char *const cases[][2] = {
		{"plain", "plain"},
		{"tab\tand\x1b[31m", "tab?and?[31m"},
		{"\xC3\xA9t\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
		 "\xC3\xA9t\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
		{"\xC3", "?"},
		{"\xE2\x82", "??"},
		{"\xC0\xAF", "??"},           // overlong
		{"\xE0\x80\xAF", "???"},      // overlong
		{"\xED\xA0\x80", "???"},      // a surrogate
		{"\xF4\x90\x80\x80", "????"}, // beyond the last character
		{"\xC2\x9B[31m", "??[31m"},   // a C1 control
		{"\x80\xBF\xFF\xFE", "????"},
		{"\x7F", "?"},
		{"a\xE2\x80\xAEz", "a???z"},                // writes to the left from here on
		{"a\xE2\x80\x8Bz\xEF\xBB\xBF", "a???z???"}, // no width
		{"a\xE2\x80\xA8z", "a???z"},                // ends a line
		{"\xF3\xA0\x80\x81", "????"},               // a tag
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t size;
		char *bytes = encode((const char *const[]){cases[i][0], "b"}, &size);
		tac_mesh_record record;
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_record_decode(bytes, size, &record));
		TEST_ASSERT_EQUAL_STRING(cases[i][1], record.def.surface_names[0]);
		TEST_ASSERT_EQUAL_STRING("b", record.def.surface_names[1]);
		tac_mesh_record_release(&record);
		free(bytes);
	}
}

static void a_failure_carries_its_message_in_one_line(void)
{
	char *bytes = malloc(tac_mesh_record_failure_size());
	TEST_ASSERT_NOT_NULL(bytes);
	tac_mesh_record_encode_failure("no\nsuch thing", bytes);
	tac_mesh_record record;
	TEST_ASSERT_EQUAL(TAC_ERROR_IO,
			  tac_mesh_record_decode(bytes, tac_mesh_record_failure_size(), &record));
	TEST_ASSERT_EQUAL_STRING("no?such thing", record.message);

	char longer[2 * TAC_MESH_RECORD_MESSAGE];
	memset(longer, 'a', sizeof longer);
	longer[sizeof longer - 1] = 0;
	tac_mesh_record_encode_failure(longer, bytes);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO,
			  tac_mesh_record_decode(bytes, tac_mesh_record_failure_size(), &record));
	TEST_ASSERT_EQUAL_size_t(TAC_MESH_RECORD_MESSAGE - 1, strlen(record.message));
	free(bytes);
}

static void a_file_is_read_whole_only_if_its_header_announces_its_size(void)
{
	size_t size;
	const size_t head = tac_mesh_record_failure_size();
	char *bytes = encode((const char *const[]){"a", "b"}, &size);
	TEST_ASSERT_EQUAL_size_t(size, tac_mesh_record_readable_size(bytes, head, size));
	TEST_ASSERT_EQUAL_size_t(head, tac_mesh_record_readable_size(bytes, head, size + 1));
	TEST_ASSERT_EQUAL_size_t(head, tac_mesh_record_readable_size(bytes, head, (size_t)1 << 32));
	TEST_ASSERT_EQUAL_size_t(7, tac_mesh_record_readable_size(bytes, 7, 7));
	bytes[0] ^= 1;
	TEST_ASSERT_EQUAL_size_t(head, tac_mesh_record_readable_size(bytes, head, size));
	free(bytes);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_decoded_record_equals_what_was_encoded);
	RUN_TEST(a_record_of_any_other_length_is_refused);
	RUN_TEST(a_file_is_read_whole_only_if_its_header_announces_its_size);
	RUN_TEST(a_record_with_one_bit_changed_is_refused);
	RUN_TEST(names_are_made_printable);
	RUN_TEST(a_failure_carries_its_message_in_one_line);
	return UNITY_END();
}
