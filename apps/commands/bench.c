// tactus bench NAME [ARGUMENT …]: runs a benchmark. Each is a separate program (bench_NAME), so that the
// libraries it compares with, and their C++ runtime, stay out of this one.
#include "apps/commands/commands.h"
#include "apps/session/options.h"
#include "base/helper.h"
#include "base/suggest.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX      "bench_"
#define BENCHES_MAX 64 // further ones are not listed

// What each benchmark measures. One without an entry is listed by its name alone.
static const struct {
	const char *name;
	const char *summary;
} summaries[] = {
	{"ccd", "sweeps and certificates against triangle count and length of motion"},
	{"chip", "the model of the CollisionChip beside our engines, and how fast it runs"},
	{"conform", "flat faces, pegs, fins and sockets, aligned and turned in space"},
	{"counted", "one of three fixed queries, for counting instructions with callgrind"},
	{"erit", "intersection tests of primitives, Table 1 of ERIT; batched beside scalar"},
	{"feel", "what the hand feels: direction, ripple and jumps of the force beside the exact shapes'"},
	{"force", "cost of each stage of the force path"},
	{"growth", "time, build time and memory against triangle count, for each engine"},
	{"histogram", "recording a value, beside a plain counter and HdrHistogram"},
	{"keeper", "cost of the process that holds a device, beside the same device in this process"},
	{"lockfree", "ring and triple buffer beside Concurrency Kit and a mutex"},
	{"loop", "cost of the periodic loop over a bare clock_nanosleep"},
	{"drill", "a drill's tick with burrs of 1 to 6 mm"},
	{"live", "the ticks in which another world takes the place of the present one"},
	{"needle", "a needle's tick in seven layers, rigid and flexible"},
	{"tissue", "a tick on soft tissue with up to 64 rows, warm and cold"},
	{"prepare", "preparing a soft body, and opening it from its cache"},
	{"palpation", "the force over the nodule of the scene palpation, beside the same body without it"},
	{"peers", "mesh against mesh: our engines beside FCL, ODE, Bullet, Embree and CGAL"},
	{"rate", "the ticks of the built-in scenes at 10 kHz, by phase"},
	{"scd", "surface detection: Tables 1 to 6 of its paper, beside peers"},
	{"share", "what sharing a run costs its tick, by alternating ticks"},
	{"table1", "Table 1 of the CollisionChip paper, with all engines, and the same for our meshes"},
	{"tick", "one step of the SCO in contact, against mesh size and speed of the hand"},
	{"viewer", "cost of the viewer to the loop, by paired differences; needs a display"},
	{"zwidth", "stiffest stable wall: the exact limit, and where a simulated device oscillates"},
};

static const char *summary_of(const char *name)
{
	for (size_t i = 0; i < sizeof summaries / sizeof *summaries; i++) {
		if (strcmp(summaries[i].name, name) == 0)
			return summaries[i].summary;
	}
	return "";
}

static bool is_program(const char *folder, const char *name)
{
	char path[PATH_MAX];
	struct stat status;
	const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
	return length > 0 && (size_t)length < sizeof path && stat(path, &status) == 0 &&
	       S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static int is_bench(const struct dirent *entry)
{
	return strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0;
}

// Lists the names of the benchmarks in `folder`, sorted. Returns their count, at most BENCHES_MAX.
static int list_benches(const char *folder, char out_names[BENCHES_MAX][NAME_MAX + 1])
{
	struct dirent **entries;
	const int found = scandir(folder, &entries, is_bench, alphasort);
	int count = 0;
	for (int i = 0; i < found; i++) {
		if (count < BENCHES_MAX && is_program(folder, entries[i]->d_name))
			strcpy(out_names[count++], entries[i]->d_name + strlen(PREFIX));
		free(entries[i]);
	}
	if (found >= 0)
		free(entries);
	return count;
}

// Finds the folder that holds benchmarks: in the build tree, beside the program if the installation was
// moved (not for a privileged process), or the installed one. Returns their count; 0: none was found, and
// out_folder is the last one tried.
static int find_folder(char out_folder[PATH_MAX], char out_names[BENCHES_MAX][NAME_MAX + 1])
{
	char own[PATH_MAX / 2];
	const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
	own[length > 0 ? length : 0] = 0;
	char *slash = strrchr(own, '/');
	if (slash)
		*slash = 0;
	static const char *const places[] = {"../bench", "../libexec/tactus"};
	const bool may_look = slash && !tac_helper_is_privileged();
	for (size_t i = 0; may_look && i < sizeof places / sizeof *places; i++) {
		snprintf(out_folder, PATH_MAX, "%s/%s", own, places[i]);
		const int count = list_benches(out_folder, out_names);
		if (count > 0)
			return count;
	}
	snprintf(out_folder, PATH_MAX, "%s", TACTUS_LIBEXEC_INSTALLED);
	return list_benches(out_folder, out_names);
}

static void print_help(char names[BENCHES_MAX][NAME_MAX + 1], int count)
{
	printf("tactus bench: run a benchmark\n\nusage: tactus bench NAME [ARGUMENT …]\n\n");
	for (int i = 0; i < count; i++)
		printf("  %-10s %s\n", names[i], summary_of(names[i]));
	printf("\nEach prints ratios that are measured side by side in one run.\n");
}

int cmd_bench(int argc, char **argv)
{
	static char names[BENCHES_MAX][NAME_MAX + 1];
	char folder[PATH_MAX], path[PATH_MAX + NAME_MAX + 8];
	const int count = find_folder(folder, names);
	if (argc >= 2 && strcmp(argv[1], "--help") == 0) {
		print_help(names, count);
		return EXIT_SUCCESS;
	}
	if (count == 0) {
		fprintf(stderr,
			"tactus bench: expected benchmark programs in ../bench, ../libexec/tactus or %s, "
			"found none; they are built with -DTACTUS_BENCH=ON\n",
			folder);
		return EXIT_FAILURE;
	}
	if (argc < 2) {
		print_help(names, count);
		return EXIT_SUCCESS;
	}
	tac_suggestion suggestion = tac_suggestion_begin(argv[1]);
	for (int i = 0; i < count; i++) {
		tac_suggestion_offer(&suggestion, names[i]);
		if (strcmp(names[i], argv[1]) != 0)
			continue;
		snprintf(path, sizeof path, "%s/" PREFIX "%.*s", folder, NAME_MAX, names[i]);
		fflush(stdout);
		execv(path, argv + 1);
		fprintf(stderr, "tactus bench: %s: cannot be started: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	fprintf(stderr, "tactus bench: expected a name listed by `tactus bench --help`, found '%s'%s\n",
		argv[1], *summary_of(argv[1]) ? ", which is not built" : tac_suggestion_text(&suggestion));
	return EXIT_BAD_INPUT;
}
