// The command `tactus sweep`, run as a program.
#include "collision/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unity.h>

static char folder[] = "/tmp/tactus-sweep-XXXXXX";
static char path[4][64]; // the cube, the plate, the motions, the table
enum { CUBE, PLATE, MOTIONS, TABLE };

static void write_text(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");
	TEST_ASSERT_NOT_NULL(f);
	fputs(text, f);
	fclose(f);
}

static void write_box(const char *file, double x, double y, double z)
{
	FILE *f = fopen(file, "w");
	TEST_ASSERT_NOT_NULL(f);
	fprintf(f, "OFF\n8 12 0\n");
	for (int i = 0; i < 8; i++)
		fprintf(f, "%g %g %g\n", i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z);
	fputs("3 0 2 3\n3 0 3 1\n3 4 5 7\n3 4 7 6\n3 0 1 5\n3 0 5 4\n3 2 6 7\n3 2 7 3\n3 0 4 6\n3 0 6 2\n3 1 "
	      "3 7\n3 1 7 5\n",
	      f);
	fclose(f);
}

static char messages[1024]; // what the last run wrote to standard error

// Runs the command with `arguments` and returns its exit code.

static int run(const char *arguments)
{
	char line[1024], file[96];
	snprintf(file, sizeof file, "%s/messages", folder);
	snprintf(line, sizeof line, "TACTUS_IMPORTER='%s' '%s' sweep %s 2>%s", TACTUS_IMPORT, TACTUS_COMMAND,
		 arguments, file);
	int status = system(line);
	FILE *f = fopen(file, "r");
	messages[f ? fread(messages, 1, sizeof messages - 1, f) : 0] = 0;
	if (f)
		fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run_files(const char *more)
{
	char arguments[512];
	snprintf(arguments, sizeof arguments, "%s %s --motions %s --csv %s %s", path[PLATE], path[CUBE],
		 path[MOTIONS], path[TABLE], more);
	return run(arguments);
}

typedef struct row {
	double index, translation, rotation, point[3], normal[3], ns;
	char kind[32];
} row;

static int read_table(row *rows, int capacity)
{
	FILE *f = fopen(path[TABLE], "r");
	TEST_ASSERT_NOT_NULL(f);
	char line[512];
	TEST_ASSERT_NOT_NULL(fgets(line, sizeof line, f));
	TEST_ASSERT_EQUAL_STRING("motion,f_translation,f_rotation,kind,px,py,pz,nx,ny,nz,ns\n", line);
	int count = 0;
	while (count < capacity && fgets(line, sizeof line, f)) {
		row *r = &rows[count++];
		int fields = sscanf(line, "%lf,%lf,%lf,%31[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf", &r->index,
				    &r->translation, &r->rotation, r->kind, &r->point[0], &r->point[1],
				    &r->point[2], &r->normal[0], &r->normal[1], &r->normal[2], &r->ns);
		TEST_ASSERT_EQUAL_INT(11, fields);
	}
	fclose(f);
	return count;
}

void setUp(void)
{
	write_box(path[CUBE], 0.5, 0.5, 0.5);
	write_box(path[PLATE], 4, 4, 0.0005);
}

void tearDown(void)
{
}

static void table_has_a_row_for_each_motion_with_fraction_contact_and_time(void)
{
	write_text(path[MOTIONS], "# falls on the plate, then rotates freely\n"
				  "1 0 0 0 1 0 0 0 1  0 0 2  0 0 -3  0 0 1 0.5\n"
				  "\n"
				  "1,0,0,0,1,0,0,0,1, 0,0,2, 0,0,3, 1,0,0, 6\n"
				  "0 -1 0 1 0 0 0 0 1  0 0 0.6  0 0 0  1 0 0 0.7853981633974483\n"
				  "1 0 0 0 1 0 0 0 1  0 0 0  0 0 1  0 0 1 0\n"
				  "1 0 0 0 1 0 0 0 1  0 0 2  0 0 nan  0 0 1 0\n"
				  "1 0 0 0 1 0 0 0 1  0 0 2  0 0 1  0 0 0 1\n");
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, run_files(""), messages);
	row r[8];
	TEST_ASSERT_EQUAL_INT(6, read_table(r, 8));
	double gap = 2 - 0.5 - (double)0.0005f - TAC_SWEEP_ZONE;
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, gap / 3, r[0].translation);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1, r[0].normal[2]);
	TEST_ASSERT_TRUE(strcmp(r[0].kind, "none") != 0);
	TEST_ASSERT_TRUE(r[0].rotation == 1 && r[0].ns > 0);
	TEST_ASSERT_TRUE(r[1].translation == 1 && r[1].rotation == 1);
	TEST_ASSERT_EQUAL_STRING("none", r[1].kind);
	// The cube rotates about x at the height 0.6: its edge reaches sqrt(0.5) sin(45 degrees + angle)
	// down.
	double down = 0.6 - (double)0.0005f - TAC_SWEEP_ZONE, pi = 3.14159265358979323846;
	double angle = asin(down / sqrt(0.5)) - pi / 4;
	TEST_ASSERT_TRUE(r[2].translation == 1);
	TEST_ASSERT_DOUBLE_WITHIN(1e-8, angle / (pi / 4), r[2].rotation);
	TEST_ASSERT_EQUAL_STRING("start", r[3].kind);
	TEST_ASSERT_TRUE(r[3].translation == 0 && r[3].rotation == 0);
	TEST_ASSERT_EQUAL_STRING("refused", r[4].kind);
	TEST_ASSERT_TRUE(r[4].translation == 0);
	TEST_ASSERT_EQUAL_STRING("refused", r[5].kind);
	TEST_ASSERT_TRUE(r[5].translation == 1 && r[5].rotation == 0);
	TEST_ASSERT_EQUAL_INT(0, run_files("--zone 0.1"));
	TEST_ASSERT_EQUAL_INT(6, read_table(r, 8));
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, (gap + TAC_SWEEP_ZONE - 0.1) / 3, r[0].translation);
}

// A ball above the plate, a capsule that rotates into it, and a cylinder, which becomes a mesh.
static void spheres_and_capsules_are_swept_exactly(void)
{
	write_text(path[MOTIONS], "1 0 0 0 1 0 0 0 1  0.3 0.2 2  0 0 -3  0 0 1 0.5\n"
				  "1 0 0 0 1 0 0 0 1  0 0 0.3  0 0 0  0 1 0 1\n");
	char arguments[512];
	double over = 2 - (double)0.0005f - TAC_SWEEP_ZONE, down = 0.3 - (double)0.0005f - TAC_SWEEP_ZONE;
	row r[2];
	snprintf(arguments, sizeof arguments, "%s sphere:r=0.25 --motions %s --csv %s", path[PLATE],
		 path[MOTIONS], path[TABLE]);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, run(arguments), messages);
	TEST_ASSERT_EQUAL_INT(2, read_table(r, 2));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, (over - 0.25) / 3, r[0].translation);
	TEST_ASSERT_TRUE(r[0].rotation == 1 && r[1].rotation == 1);
	snprintf(arguments, sizeof arguments, "%s capsule:r=0.05,h=1,axis=x --motions %s --csv %s",
		 path[PLATE], path[MOTIONS], path[TABLE]);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, run(arguments), messages);
	TEST_ASSERT_EQUAL_INT(2, read_table(r, 2));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, (over - 0.05) / 3, r[0].translation);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, asin((down - 0.05) / 0.5), r[1].rotation);
	snprintf(arguments, sizeof arguments, "%s cylinder:r=0.1,h=0.4 --motions %s --csv %s", path[PLATE],
		 path[MOTIONS], path[TABLE]);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, run(arguments), messages);
	TEST_ASSERT_EQUAL_INT(2, read_table(r, 2));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, (over - 0.2) / 3, r[0].translation);
	snprintf(arguments, sizeof arguments, "%s sphere:r=-1 --motions %s", path[PLATE], path[MOTIONS]);
	TEST_ASSERT_EQUAL_INT(2, run(arguments));
}

static int message_lines(void)
{
	int lines = 0;
	for (const char *c = messages; *c; c++)
		lines += *c == '\n';
	return lines;
}

static void bad_input_gets_one_line_and_exit_code_2(void)
{
	static const char *const bad[] = {"1 2 3\n", "1 0 0 0 1 0 0 0 1  0 0 2  0 0 -3  0 0 1 x\n",
					  "1 0 0 0 1 0 0 0 1  0 0 2  0 0 -3  0 0 1 0 5\n"};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		write_text(path[MOTIONS], bad[i]);
		TEST_ASSERT_EQUAL_INT(2, run_files(""));
		TEST_ASSERT_EQUAL_INT(1, message_lines());
		TEST_ASSERT_NOT_NULL(strstr(messages, ":1: expected 19 numbers, found"));
	}
	TEST_ASSERT_EQUAL_INT(2, run("a.off"));
	TEST_ASSERT_EQUAL_INT(1, message_lines());
	TEST_ASSERT_EQUAL_INT(2, run("a.off b.off"));
	TEST_ASSERT_EQUAL_INT(1, message_lines());
	char arguments[256];
	snprintf(arguments, sizeof arguments, "%s /no/such/file.off --motions %s", path[CUBE], path[MOTIONS]);
	TEST_ASSERT_EQUAL_INT(2, run(arguments));
	TEST_ASSERT_EQUAL_INT(1, message_lines());
	TEST_ASSERT_EQUAL_INT(0, run("--help >/dev/null"));
}

int main(void)
{
	UNITY_BEGIN();
	TEST_ASSERT_NOT_NULL(mkdtemp(folder));
	static const char *const names[] = {"cube.off", "plate.off", "motions", "table.csv"};
	for (int i = 0; i < 4; i++)
		snprintf(path[i], sizeof path[i], "%s/%s", folder, names[i]);
	RUN_TEST(table_has_a_row_for_each_motion_with_fraction_contact_and_time);
	RUN_TEST(spheres_and_capsules_are_swept_exactly);
	RUN_TEST(bad_input_gets_one_line_and_exit_code_2);
	for (int i = 0; i < 4; i++)
		remove(path[i]);
	char file[96];
	snprintf(file, sizeof file, "%s/messages", folder);
	remove(file);
	rmdir(folder);
	return UNITY_END();
}
