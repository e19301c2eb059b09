#include "apps/commands/commands.h"
#include "apps/session/chip_engines.h"
#include "apps/session/options.h"
#include "apps/terminal/terminal.h"
#include "base/helper.h"
#include "base/suggest.h"
#include "base/version.h"
#include "devices/registry.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"run", cmd_run, "touch a scene: the haptic loop with a real or simulated device"},
	{"bench", cmd_bench, "run a benchmark"},
	{"console", cmd_console, "show all stations that are shared, in a browser"},
	{"devices", cmd_devices, "list haptic devices, and what is missing for the others"},
	{"doctor", cmd_doctor, "check what a run needs from this machine, and print what would mend it"},
	{"emulate", cmd_emulate, "attach a virtual USB device to the running kernel"},
	{"latency", cmd_latency, "measure the timing of a periodic loop and the causes of its misses"},
	{"mesh", cmd_mesh, "describe a mesh file"},
	{"query", cmd_query, "test whether two shapes touch at given poses"},
	{"render", cmd_render, "compute the forces along a recorded device path, off line"},
	{"share", cmd_share, "share a run with other machines over DDS"},
	{"sweep", cmd_sweep, "compute how far a shape can move before it touches another"},
	{"task", cmd_task, "print the figures of a task, or compare two runs of it"},
	{"view", cmd_view, "replay a recording in the viewer, or export it"},
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static void print_help(FILE *file)
{
	fprintf(file,
		"tactus: a hard-real-time force-feedback runtime\n\nusage: tactus COMMAND [options]\n\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(file, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fprintf(file, "\n`tactus COMMAND --help` lists the options of a command.\n");
}

// If a standard stream is closed, the next file that is opened gets its number, and printed text would end up
// in the trace or the log. /dev/null opened for reading takes the number; writes to it fail, as they should.
static void occupy_closed_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			_exit(EXIT_FAILURE);
	}
}

// A privileged process keeps only what a terminal and a display need: libraries of the display load further
// ones from folders that variables name, and most test for set-user-ID alone, not for capabilities.
static void forget_environment(void)
{
	static const char *const kept[] = {
		"LANG", "LC_ALL", "LC_CTYPE", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"};
	enum { KEPT = sizeof kept / sizeof *kept };
	char *values[KEPT];
	for (int i = 0; i < KEPT; i++) {
		const char *value = getenv(kept[i]);
		values[i] = value ? strdup(value) : NULL;
	}
	clearenv();
	for (int i = 0; i < KEPT; i++) {
		if (values[i])
			setenv(kept[i], values[i], 1);
		free(values[i]);
	}
}

#define STACK_MIN_BYTES (256 * 1024) // of the main thread; other threads have their own size

// An overflow of the stack would end the program without a word.
static bool stack_is_large_enough(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_MIN_BYTES)
		return true;
	fprintf(stderr,
		"tactus: expected a stack of at least %d KiB, found %d KiB: raise it with 'ulimit -s'\n",
		STACK_MIN_BYTES / 1024, (int)(limit.rlim_cur / 1024));
	return false;
}

static void refuse_command(const char *found)
{
	tac_suggestion suggestion = tac_suggestion_begin(found);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		tac_suggestion_offer(&suggestion, commands[i].name);
	tac_suggestion_offer(&suggestion, "--help");
	tac_suggestion_offer(&suggestion, "--version");
	fprintf(stderr, "tactus: expected a command listed by `tactus --help`, found '%s'%s\n", found,
		tac_suggestion_text(&suggestion));
}

static int run_command(int argc, char **argv)
{
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || (strcmp(argv[1], "help") == 0 && argc == 2))) {
		print_help(stdout);
		return EXIT_SUCCESS;
	}
	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		printf("tactus %s\n", tac_version());
		return EXIT_SUCCESS;
	}
	char help[] = "--help";
	const bool help_of = argc == 3 && strcmp(argv[1], "help") == 0; // tactus help COMMAND
	char **command = help_of ? (char *[]){argv[2], help, NULL} : argv + 1;
	for (size_t i = 0; argc > 1 && i < COMMAND_COUNT; i++) {
		if (strcmp(command[0], commands[i].name) == 0)
			return commands[i].run(argc - 1, command);
	}
	if (argc > 1)
		refuse_command(command[0]);
	else
		fprintf(stderr, "tactus: expected a command listed by `tactus --help`, found nothing\n");
	return EXIT_BAD_INPUT;
}

int main(int argc, char **argv)
{
	occupy_closed_streams();
	if (tac_helper_is_privileged())
		forget_environment();
	if (!stack_is_large_enough())
		return EXIT_FAILURE;
	tac_log_set(terminal_log, NULL);
	const char *drivers = secure_getenv("TACTUS_DRIVERS");
	const bool loaded = !drivers || !*drivers || tac_registry_load_folder(drivers) >= TAC_OK;
	int code = loaded && chip_engines_add() ? run_command(argc, argv) : EXIT_BAD_INPUT;
	chip_engines_remove();
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr,
			"tactus: expected to print the result, found standard output full or closed\n");
		code = code == EXIT_SUCCESS ? EXIT_FAILURE : code;
	}
	return code;
}
