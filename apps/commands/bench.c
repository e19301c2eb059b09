// tactus bench NAME [ARGUMENT …]: runs a benchmark, which is a program of its own (bench_NAME), so that the
// libraries it is measured against, and their C++ runtime, stay out of this one.
#include "apps/commands.h"
#include "apps/options.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX       "bench_"
#define MOST_BENCHES 64 // more are not listed

// What is measured, for the list. A benchmark that is not here is listed by its name alone.
static const struct {
	const char *name;
	const char *summary;
} summaries[] = {
	{"ccd", "sweeps and certificates of motions, against triangle count and length of motion"},
	{"chip", "the CollisionChip: its model beside our engines, and how fast the model runs"},
	{"counted", "one of three fixed queries, for counting instructions under callgrind"},
	{"erit", "tests of primitives, Table 1 of ERIT: 20 rows, and the batched ones beside the scalar"},
	{"force", "what each stage of the force path costs"},
	{"growth", "time, build time and memory against triangle count, for each engine"},
	{"histogram", "recording a value, beside the cheapest possible and HdrHistogram"},
	{"lockfree", "ring and triple buffer beside Concurrency Kit and a mutex"},
	{"loop", "what the periodic loop costs over a bare clock_nanosleep"},
	{"peers", "mesh against mesh: our engines beside FCL, ODE, Bullet, Embree and CGAL"},
	{"scd", "surface detection: Tables 1 to 6 of its paper, peers beside"},
	{"table1", "Table 1 of the CollisionChip paper, and its columns on our meshes, all engines beside"},
	{"tick", "one step of the SCO in contact, against the size of the meshes and the speed of the hand"},
	{"viewer", "what the viewer costs the loop, by paired differences; needs a display"},
	{"zwidth", "how stiff a wall may be: the exact limit, and where a simulated device begins to swing"},
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

// The benchmarks in `folder` by their names, sorted. Returns how many, at most MOST_BENCHES.
static int list(const char *folder, char out_names[MOST_BENCHES][NAME_MAX + 1])
{
	struct dirent **entries;
	const int found = scandir(folder, &entries, is_bench, alphasort);
	int count = 0;
	for (int i = 0; i < found; i++) {
		if (count < MOST_BENCHES && is_program(folder, entries[i]->d_name))
			strcpy(out_names[count++], entries[i]->d_name + strlen(PREFIX));
		free(entries[i]);
	}
	if (found >= 0)
		free(entries);
	return count;
}

// The folder that holds benchmarks: in the build tree, beside an installed program that was moved, or where
// it was installed to. Returns how many it holds; 0: no such folder, and out_folder is the last one tried.
static int find_folder(char out_folder[PATH_MAX], char out_names[MOST_BENCHES][NAME_MAX + 1])
{
	char own[PATH_MAX / 2];
	const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
	own[length > 0 ? length : 0] = 0;
	char *slash = strrchr(own, '/');
	if (slash)
		*slash = 0;
	static const char *const places[] = {"../bench", "../libexec/tactus"};
	for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
		snprintf(out_folder, PATH_MAX, "%s/%s", own, places[i]);
		const int count = list(out_folder, out_names);
		if (count > 0)
			return count;
	}
	snprintf(out_folder, PATH_MAX, "%s", TACTUS_LIBEXEC_INSTALLED);
	return list(out_folder, out_names);
}

static void print_help(char names[MOST_BENCHES][NAME_MAX + 1], int count)
{
	printf("tactus bench: the benchmark tables\n\nusage: tactus bench NAME [ARGUMENT …]\n\n");
	for (int i = 0; i < count; i++)
		printf("  %-10s %s\n", names[i], summary_of(names[i]));
	printf("\nEach prints ratios measured side by side in one run.\n");
}

int cmd_bench(int argc, char **argv)
{
	static char names[MOST_BENCHES][NAME_MAX + 1];
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
	for (int i = 0; i < count; i++) {
		if (strcmp(names[i], argv[1]) != 0)
			continue;
		snprintf(path, sizeof path, "%s/" PREFIX "%.*s", folder, NAME_MAX, names[i]);
		fflush(stdout);
		execv(path, argv + 1);
		fprintf(stderr, "tactus bench: %s cannot be started: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	fprintf(stderr, "tactus bench: expected a name that `tactus bench --help` lists, found '%s'%s\n",
		argv[1], *summary_of(argv[1]) ? ", which is not built" : "");
	return EXIT_BAD_INPUT;
}
