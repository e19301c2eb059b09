// Runs whole commands with the nth allocation, or the nth system call of an output, failing: never a crash,
// never a silent loss. A command either fails with a line, or its outputs are complete. The address sanitizer
// sees leaks, and what is used after it was freed. To find one failure in a debugger, set
// TACTUS_INJECTION_ONLY to the name of a scenario and TACTUS_INJECTION_NTH to the number of the call.
#include "tests/support/injection.h"

#include "apps/commands/commands.h"
#include "apps/session/chip_engines.h"
#include "base/rng.h"
#include "devices/calibration.h"
#include "devices/recording.h"
#include "tests/support/limits.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unity.h>

#define ARGUMENTS 24
#define OUTPUTS   5 // of a command, at most: a full disk gives a line for each

typedef struct scenario {
	const char *name;
	int (*command)(int argc, char **argv);
	const char *arguments; // separated by spaces; @ stands for the folder
	// Whether the outputs are complete, after exit code 0.
	bool (*complete)(void);
} scenario;

static char folder[64];
static int messages = -1; // standard error of the commands

static const char *in_folder(const char *name)
{
	static char paths[4][128];
	static int next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");
	TEST_ASSERT_NOT_NULL(file);
	fputs(text, file);
	TEST_ASSERT_EQUAL(0, fclose(file));
}

// Whether the file begins and ends like this.
static bool has(const char *name, const char *begin, const char *end)
{
	static char bytes[1 << 22];
	FILE *file = fopen(in_folder(name), "r");
	const size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
	if (file)
		fclose(file);
	const size_t head = strlen(begin), tail = strlen(end);
	return size >= head + tail && memcmp(bytes, begin, head) == 0 &&
	       memcmp(bytes + size - tail, end, tail) == 0;
}

static bool is_whole_recording(const char *name)
{
	tac_recording recording;
	const tac_result result = tac_recording_load(in_folder(name), &recording);
	const bool whole = result == TAC_OK && recording.count > 0 && recording.scene.text;
	tac_recording_fini(&recording);
	return whole;
}

// ---- scenarios ----

static const char two_tools[] =
	"scene: two\n"
	"materials:\n- {name: plain, stiffness_N_per_m: 300, static_friction: 0.2, dynamic_friction: 0.1, "
	"smooth: true}\n"
	"tools:\n"
	"- name: left\n  axes: 6\n  shapes: [{kind: box, size_m: [0.01, 0.01, 0.01]}]\n"
	"  hand: [{time_s: 0, position_m: [0.05, 0, 0.03]}, {time_s: 1, position_m: [0.05, 0, 0.0]}]\n"
	"- name: right\n  axes: 3\n  shapes: [{kind: sphere, radius_m: 0.003}]\n"
	"  hand: [{time_s: 0, position_m: [-0.05, 0, 0.03]}, {time_s: 1, position_m: [-0.05, 0, 0.0]}]\n"
	"objects:\n- name: floor\n  material: plain\n  shapes: [{kind: box, size_m: [0.3, 0.3, 0.01]}]\n";

static const char one_tool[] =
	"scene: one\n"
	"materials:\n- {name: plain, stiffness_N_per_m: 300}\n"
	"tools:\n- name: ball\n  axes: 3\n  shapes: [{kind: solids, solids: \"sphere:r=0.003\"}]\n"
	"objects:\n- name: floor\n  material: plain\n  shapes: [{kind: box, size_m: [0.3, 0.3, 0.01]}]\n";

static bool run_is_complete(void)
{
	return is_whole_recording("run.rec") && is_whole_recording("run.rec.2") &&
	       has("run.json", "[", "]\n") && has("run.html", "<!doctype html>", "</html>\n") &&
	       has("run.csv", "tick,", "\n");
}

static bool playback_is_complete(void)
{
	return is_whole_recording("again.rec");
}

static bool csv_is_complete(void)
{
	return has("view.csv", "t_s,", ",ok\n");
}

static bool render_is_complete(void)
{
	return has("render.csv", "t_s,", "\n") && has("render2.csv", "t_s,", "\n");
}

static bool query_is_complete(void)
{
	return has("query.csv", "pose,result", "\n");
}

static bool sweep_is_complete(void)
{
	return has("sweep.csv", "motion,", "\n");
}

static bool report_is_complete(void)
{
	return has("latency.html", "<!doctype html>", "</html>\n");
}

static const tac_device_info calibrated = {.name = "sim:falcon", .serial = "7"};

static int save_calibration(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	const tac_calibration calibration = {.weight_N = 0.5};
	return tac_calibration_save(&calibrated, &calibration) < TAC_OK;
}

static bool calibration_is_complete(void)
{
	tac_calibration found;
	bool there;
	return tac_calibration_load(&calibrated, &found, &there) == TAC_OK && there && found.weight_N == 0.5;
}

static const scenario scenarios[] = {
	{"run", cmd_run,
	 "run @/two.yaml --seconds 0.005 --policy other --json --record @/run.rec --trace @/run.json --log "
	 "@/run.csv --report @/run.html",
	 run_is_complete},
	{"run with the reactive mover", cmd_run,
	 "run @/one.yaml --seconds 0.003 --policy other --mover reactive --collider doptree", NULL},
	{"run on the chip", cmd_run,
	 "run @/one.yaml --seconds 0.003 --policy other --mover reactive --collider chip", NULL},
	{"playback", cmd_run,
	 "run --device playback:@/whole.rec --seconds 0.01 --policy other --record @/again.rec",
	 playback_is_complete},
	{"view", cmd_view, "view @/whole.rec --csv @/view.csv", csv_is_complete},
	{"render", cmd_render,
	 "render @/two.yaml --input @/path.csv --output @/render.csv --output2 @/render2.csv",
	 render_is_complete},
	{"query", cmd_query, "query @/a.off @/a.off --poses @/poses --collider scd --csv @/query.csv",
	 query_is_complete},
	{"query of solids", cmd_query,
	 "query capsule:r=1,h=2 sphere:r=1 --poses @/poses --collider solid --csv @/query.csv",
	 query_is_complete},
	{"sweep", cmd_sweep, "sweep @/a.off @/a.off --motions @/motions --csv @/sweep.csv",
	 sweep_is_complete},
	{"mesh", cmd_mesh, "mesh @/a.off", NULL},
	{"latency", cmd_latency, "latency --seconds 0.005 --policy other --report @/latency.html",
	 report_is_complete},
	{"calibration", save_calibration, "", calibration_is_complete},
};

#define SCENARIOS (int)(sizeof scenarios / sizeof *scenarios)

// ---- running ----

typedef struct failing {
	injection_kind kind;
	long nth;     // 0: none fails
	bool lasting; // all later ones, too
} failing;

// The exit code; what the command prints on standard error goes to `messages`.
static int run_command(const scenario *s, failing what)
{
	char text[1024] = "", *argv[ARGUMENTS + 1] = {0};
	size_t used = 0;
	for (const char *c = s->arguments; *c; c++)
		used += (size_t)snprintf(text + used, sizeof text - used, *c == '@' ? "%s" : "%.1s",
					 *c == '@' ? folder : c);
	int argc = 0;
	for (char *word = strtok(text, " "); word && argc < ARGUMENTS; word = strtok(NULL, " "))
		argv[argc++] = word;
	TEST_ASSERT_TRUE(ftruncate(messages, 0) == 0 && lseek(messages, 0, SEEK_SET) == 0);
	fflush(stdout);
	const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
	dup2(null, STDOUT_FILENO);
	dup2(messages, STDERR_FILENO);
	inject(what.kind, what.nth, what.lasting);
	const int code = s->command(argc, argv);
	inject_stop();
	fflush(stdout);
	clearerr(stdout);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	close(null);
	return code;
}

static int message_lines(char *out, size_t size)
{
	const ssize_t got = pread(messages, out, size - 1, 0);
	int lines = 0;
	out[got > 0 ? got : 0] = '\0';
	for (const char *c = out; *c; c++)
		lines += *c == '\n';
	return lines;
}

// The number of files in the folder.
static int files;
static int count_file(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)path;
	(void)status;
	(void)at;
	files += type == FTW_F;
	return 0;
}

static int count_files(void)
{
	files = 0;
	nftw(folder, count_file, 8, FTW_PHYS);
	return files;
}

// False after one line: the command crashed through a failure, or lost something silently.
static bool survives(const scenario *s, failing what)
{
	char text[4096];
	const int code = run_command(s, what);
	const int lines = message_lines(text, sizeof text);
	const bool good =
		injection.failed == 0 || (code == 0 ? !s->complete || s->complete()
						    : lines >= 1 && lines <= (what.lasting ? OUTPUTS : 2));
	if (!good)
		printf("%s, %s %ld%s: exit code %d, %d lines:\n%s\n", s->name,
		       what.kind == INJECT_MEMORY ? "allocation" : "system call", what.nth,
		       what.lasting ? " and all after" : "", code, lines, text);
	return good;
}

static void fail_each(injection_kind kind, int samples)
{
	tac_rng rng = tac_rng_seed(31, (uint64_t)kind);
	const char *only = getenv("TACTUS_INJECTION_ONLY"), *nth = getenv("TACTUS_INJECTION_NTH");
	int bad = 0;
	for (int i = 0; i < SCENARIOS; i++) {
		const scenario *s = &scenarios[i];
		if (only && strcmp(only, s->name) != 0)
			continue;
		const int code = run_command(s, (failing){kind, 0, false});
		const long calls = injection.calls;
		char text[4096], what[5000];
		message_lines(text, sizeof text);
		snprintf(what, sizeof what, "%s: exit code %d\n%s", s->name, code, text);
		TEST_ASSERT_EQUAL_MESSAGE(0, code, what);
		TEST_ASSERT_TRUE_MESSAGE(!s->complete || s->complete(), s->name);
		const int before = count_files();
		const long steps = test_long() || calls < samples ? calls : samples;
		for (long step = 0; step < steps; step++) {
			const long begin = calls * step / steps, end = calls * (step + 1) / steps;
			const long call =
				nth ? atol(nth) : begin + 1 + tac_rng_below(&rng, (uint32_t)(end - begin));
			bad += !survives(s, (failing){kind, call, !test_long() && step % 2 == 1});
			bad += test_long() && !survives(s, (failing){kind, call, true});
		}
		// Nothing temporary is left behind.
		TEST_ASSERT_EQUAL_INT_MESSAGE(before, count_files(), s->name);
		printf("%s: %ld of %ld\n", s->name, steps, calls);
	}
	TEST_ASSERT_EQUAL_INT(0, bad);
}

static void no_allocation_fails_silently(void)
{
	fail_each(INJECT_MEMORY, TAC_TEST_SANITIZED ? 3 : 6);
}

static void no_write_fails_silently(void)
{
	fail_each(INJECT_FILES, TAC_TEST_SANITIZED ? 3 : 6);
}

void setUp(void)
{
}

void tearDown(void)
{
}

static int remove_file(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

static void prepare(void)
{
	write_text("two.yaml", two_tools);
	write_text("one.yaml", one_tool);
	write_text("path.csv",
		   "0,0.05,0,0.03,0,0,0,1\n0.001,0.05,0,0.02,0,0,0,1\n0.002,0.05,0,0.01,0,0,0,1\n");
	write_text("poses", "1 0 0 0 1 0 0 0 1 0 0 0.5\n1 0 0 0 1 0 0 0 1 0 0 9\n");
	write_text("motions", "1 0 0 0 1 0 0 0 1 0 0 3  0 0 -1  0 0 1  0.1\n");
	write_text("a.off", "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n");
	const scenario record = {"record", cmd_run,
				 "run @/one.yaml --seconds 0.02 --policy other --record @/whole.rec", NULL};
	TEST_ASSERT_EQUAL(0, run_command(&record, (failing){0}));
	TEST_ASSERT_TRUE(is_whole_recording("whole.rec"));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	messages = memfd_create("messages", MFD_CLOEXEC);
	// In memory: every output is synced, and a disk takes its time for it.
	const bool memory = access("/dev/shm", W_OK) == 0;
	snprintf(folder, sizeof folder, "%s/tactus-injection-XXXXXX", memory ? "/dev/shm" : "/tmp");
	if (messages < 0 || !mkdtemp(folder) || !chip_engines_add())
		return 1;
	setenv("XDG_CONFIG_HOME", folder, 1);
	UNITY_BEGIN();
	RUN_TEST(prepare);
	RUN_TEST(no_allocation_fails_silently);
	RUN_TEST(no_write_fails_silently);
	const int result = UNITY_END();
	chip_engines_remove();
	nftw(folder, remove_file, 8, FTW_DEPTH | FTW_PHYS);
	return result;
}
