#include "apps/board.h"
#include "apps/commands.h"
#include "apps/options.h"
#include "apps/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"run", cmd_run, "touch a scene: the haptic loop with a device, or a simulated one"},
	{"bench", cmd_bench, "the benchmark tables"},
	{"devices", cmd_devices, "which haptic devices are here, and what is missing"},
	{"emulate", cmd_emulate, "a virtual USB device on the running kernel"},
	{"latency", cmd_latency, "how punctual a periodic loop is on this machine, and why it is not"},
	{"mesh", cmd_mesh, "what is in a mesh file"},
	{"query", cmd_query, "whether two meshes touch, at the poses of a file"},
	{"render", cmd_render, "the forces along a path of the device, from file to file"},
	{"sweep", cmd_sweep, "how far one mesh can move before it touches another"},
	{"view", cmd_view, "see a recorded session again"},
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

// A standard stream that was closed gives its number to the next file that is opened, and what is printed
// would go into the trace or the log. Opened for reading, writes to it fail as if it were still closed.
static void occupy_closed_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			_exit(EXIT_FAILURE);
	}
}

static int run_command(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		print_help(stdout);
		return EXIT_SUCCESS;
	}
	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		printf("tactus %s\n", TACTUS_VERSION);
		return EXIT_SUCCESS;
	}
	for (size_t i = 0; argc > 1 && i < COMMAND_COUNT; i++) {
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "tactus: expected a command that `tactus --help` lists, found '%s'\n",
		argc > 1 ? argv[1] : "the end of the line");
	return EXIT_BAD_INPUT;
}

int main(int argc, char **argv)
{
	occupy_closed_streams();
	tac_log_set(terminal_log, NULL);
	int code = board_offer() ? run_command(argc, argv) : EXIT_BAD_INPUT;
	board_withdraw();
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr,
			"tactus: expected to print the result, found standard output full or closed\n");
		code = code == EXIT_SUCCESS ? EXIT_FAILURE : code;
	}
	return code;
}
