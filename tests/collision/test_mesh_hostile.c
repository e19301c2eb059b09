// Every file in tests/data/hostile is refused by the command with exit code 2 and one line, and by the
// library within small limits. Most messages come from assimp and change with its version, so only ours are
// compared.
#include "collision/mesh_load.h"
#include "tests/support/logged.h"

#include "unity.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char output[65536], errors[65536];

void setUp(void)
{
}

void tearDown(void)
{
}

static void read_back(FILE *f, char *text, size_t size)
{
	rewind(f);
	text[fread(text, 1, size - 1, f)] = 0;
	fclose(f);
}

// Runs `tactus mesh a [b]`, fills `output` and `errors` and returns the exit code, -1 for a death by signal.
static int run(const char *a, const char *b)
{
	FILE *out = tmpfile(), *err = tmpfile();
	TEST_ASSERT_TRUE(out && err);
	const pid_t pid = fork();
	if (pid == 0) {
		dup2(fileno(out), 1);
		dup2(fileno(err), 2);
		execl(TACTUS_COMMAND, "tactus", "mesh", a, b, (char *)NULL);
		_exit(127);
	}
	int status = 0;
	TEST_ASSERT_EQUAL_INT(pid, waitpid(pid, &status, 0));
	read_back(out, output, sizeof output);
	read_back(err, errors, sizeof errors);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_one_line_and_exit_code_2(const char *path, const char *words)
{
	TEST_ASSERT_EQUAL_INT_MESSAGE(2, run(path, NULL), path);
	TEST_ASSERT_EQUAL_STRING_MESSAGE("", output, path);
	const char *newline = strchr(errors, '\n');
	TEST_ASSERT_TRUE_MESSAGE(newline && newline[1] == 0 && newline - errors > 20, errors);
	TEST_ASSERT_EQUAL_STRING_LEN_MESSAGE("tactus", errors, 6, errors);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(errors, words), errors);
	TEST_ASSERT_NULL_MESSAGE(strchr(errors, '\x1b'), errors);
}

// Files that exhaust the importer's limits, which are generous in the command: only the library's test loads
// them.
static bool exhausts_limits(const char *name)
{
	return strcmp(name, "instances.glb") == 0;
}

static bool is_mesh_file(const char *name)
{
	return name[0] != '.' && strcmp(name, "generate.py") != 0;
}

static void the_command_refuses_every_hostile_file_with_one_line_and_exit_code_2(void)
{
	int files = 0;
	DIR *folder = opendir(TACTUS_HOSTILE);
	TEST_ASSERT_NOT_NULL(folder);
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (!is_mesh_file(entry->d_name) || exhausts_limits(entry->d_name))
			continue;
		char path[600];
		snprintf(path, sizeof path, "%s/%s", TACTUS_HOSTILE, entry->d_name);
		expect_one_line_and_exit_code_2(path, path);
		files++;
	}
	closedir(folder);
	TEST_ASSERT_GREATER_THAN(60, files);
}

static void the_library_refuses_every_hostile_file_within_small_limits(void)
{
	tac_log_set(keep_logged, NULL);
	DIR *folder = opendir(TACTUS_HOSTILE);
	TEST_ASSERT_NOT_NULL(folder);
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (!is_mesh_file(entry->d_name))
			continue;
		char path[600];
		snprintf(path, sizeof path, "%s/%s", TACTUS_HOSTILE, entry->d_name);
		tac_mesh_load_def def = tac_mesh_load_def_default();
		def.memory_limit_bytes = UINT64_C(256) << 20;
		def.time_limit_s = 5;
		tac_mesh *mesh;
		logged_lines = 0;
		TEST_ASSERT_TRUE_MESSAGE(tac_mesh_load(path, &def, &mesh) < 0, path);
		TEST_ASSERT_NULL(mesh);
		TEST_ASSERT_EQUAL_INT_MESSAGE(1, logged_lines, path);
		TEST_ASSERT_NOT_NULL(strstr(logged, path));
	}
	closedir(folder);
	tac_log_set(NULL, NULL);
}

static void the_defect_is_named(void)
{
	static const char *const cases[][2] = {
		{"zero_bytes.off", "is empty, expected a mesh file"},
		{"points.ply", "contains no triangles"},
		{"all_degenerate.off", "contains no triangles (1 without area)"},
		{"nan.stl", "vertex 1 is (1, nan, 0), expected finite coordinates"},
		{"inf.stl", "vertex 2 is (0, -inf, 0), expected finite coordinates"},
		{"inf.ply", "vertex 1 is (inf, 0, 0), expected finite coordinates"},
		{"overflow.obj", "vertex 1 is (inf, 0, 0), expected finite coordinates"},
		{"index.ply", "face 0 uses vertex 99, expected 0 to 2"},
		{"index.3mf", "face 0 uses vertex 7, expected 0 to 0"},
		{"huge_count.off", "needs more memory than the importer may use"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char path[600];
		snprintf(path, sizeof path, "%s/%s", TACTUS_HOSTILE, cases[i][0]);
		expect_one_line_and_exit_code_2(path, cases[i][1]);
	}
}

static void paths_that_are_not_files_get_one_line_and_exit_code_2(void)
{
	expect_one_line_and_exit_code_2(TACTUS_HOSTILE, "is a directory");
	expect_one_line_and_exit_code_2(TACTUS_HOSTILE "/missing.off", "No such file");
	expect_one_line_and_exit_code_2(TACTUS_HOSTILE "/index.off/below.off", "Not a directory");
	expect_one_line_and_exit_code_2("/dev/zero", "is not a regular file");
	expect_one_line_and_exit_code_2("", "expected FILE, found ''");
}

static void usage_errors_get_one_line_and_exit_code_2(void)
{
	expect_one_line_and_exit_code_2("--nonsense", "expected one listed by --help, found '--nonsense'");
	expect_one_line_and_exit_code_2("--json", "FILE: expected an argument, found nothing");
	expect_one_line_and_exit_code_2("--crease=181", "expected a number from 0 to 180, found '181'");
	TEST_ASSERT_EQUAL_INT(2, run("a.off", "b.off"));
	TEST_ASSERT_NOT_NULL(strstr(errors, "expected no further argument, found 'b.off'"));
	TEST_ASSERT_EQUAL_INT(0, run("--help", NULL));
	TEST_ASSERT_NOT_NULL(strstr(output, "usage: tactus mesh FILE"));
	TEST_ASSERT_EQUAL_STRING("", errors);
}

static void the_command_prints_the_contents_of_the_mesh(void)
{
	char path[] = "/tmp/tactus_mesh_XXXXXX.obj";
	const int fd = mkstemps(path, 4);
	TEST_ASSERT_TRUE(fd >= 0);
	static const char text[] =
		"v 0 0 0\nv 3 0 0\nv 0 3 0\nv 0 0 3\nv 9 9 9\ng a\"b\\c\nf 1 3 2\nf 1 2 4\n"
		"g other\nf 1 4 3\nf 2 3 4\nf 1 2 2\n";
	TEST_ASSERT_EQUAL_INT((int)sizeof text - 1, write(fd, text, sizeof text - 1));
	close(fd);
	TEST_ASSERT_EQUAL_INT(0, run(path, "--json"));
	TEST_ASSERT_EQUAL_STRING("", errors);
	char expected[1024];
	snprintf(expected, sizeof expected,
		 "{\"file\": \"%s\", \"triangles\": 4, \"vertices\": 4, \"edges\": 6, \"open_edges\": 0, "
		 "\"non_manifold_edges\": 0, \"flipped_edges\": 0, \"degenerate_triangles\": 1, "
		 "\"duplicate_triangles\": 0, \"welded_vertices\": 11, \"unused_vertices\": 0, "
		 "\"watertight\": true, \"bounds_min\": [0, 0, 0], \"bounds_max\": [3, 3, 3], "
		 "\"area_m2\": 21.2942286, \"volume_m3\": 4.5, \"surfaces\": ["
		 "{\"name\": \"a\\\"b\\\\c\", \"triangles\": 2}, "
		 "{\"name\": \"other\", \"triangles\": 2}], \"scale\": 1, \"plausible_scale\": 0.001}\n",
		 path); // area: 3 * 9/2 + 9 sqrt(3)/2
	TEST_ASSERT_EQUAL_STRING(expected, output);
	TEST_ASSERT_EQUAL_INT(0, run(path, NULL));
	TEST_ASSERT_EQUAL_STRING("", errors);
	static const char *const lines[] = {"  triangles   4 (1 degenerate dropped",
					    "  edges       6 (0 open,",
					    "  bounds      0 0 0 to 3 3 3 m",
					    "  volume      4.5 m^3",
					    "  watertight  yes",
					    "    1    other, 2 triangles"};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(output, lines[i]), output);
	remove(path);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_command_refuses_every_hostile_file_with_one_line_and_exit_code_2);
	RUN_TEST(the_library_refuses_every_hostile_file_within_small_limits);
	RUN_TEST(the_defect_is_named);
	RUN_TEST(paths_that_are_not_files_get_one_line_and_exit_code_2);
	RUN_TEST(usage_errors_get_one_line_and_exit_code_2);
	RUN_TEST(the_command_prints_the_contents_of_the_mesh);
	return UNITY_END();
}
