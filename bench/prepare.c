// What preparing a soft body takes (tissue/elastic.h), and opening it from the cache: balls with about 500,
// 1,000 and 2,000 touched nodes, with --large also 10,000, of linear elements. Wall-clock time, and CPU time
// of the program that computes, which other load on the machine does not change; its largest memory so far;
// the error of the far blocks that the body states. The large body stays in the usual cache, where `tactus
// bench tissue --large` finds it.
#include "bench/soft_ball.h"
#include "rt/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct figures {
	int32_t nodes;
	double MB, far_error, seconds;
} figures;

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

// Prepares the body and forgets it.
static bool prepare(const tac_elastic_def *def, figures *out)
{
	tac_compliance *c;
	const int64_t begin = tac_clock_now_ns();
	if (tac_elastic_prepare(def, &c) < TAC_OK)
		return false;
	*out = (figures){c->node_count, 1e-6 * (double)c->image_bytes, c->far_error,
			 1e-9 * (double)(tac_clock_now_ns() - begin)};
	tac_compliance_destroy(&c);
	return true;
}

static bool report(const tac_elastic_def *def)
{
	struct rusage before, after;
	figures first, cached;
	char path[4096];
	if (tac_elastic_cache_path(def, path, sizeof path))
		unlink(path);
	getrusage(RUSAGE_CHILDREN, &before);
	if (!prepare(def, &first))
		return false;
	getrusage(RUSAGE_CHILDREN, &after);
	if (!prepare(def, &cached))
		return false;
	const double cpu = seconds_of(after.ru_utime) + seconds_of(after.ru_stime) -
			   seconds_of(before.ru_utime) - seconds_of(before.ru_stime);
	printf("%8d %8.0f %12.1f %12.1f %12.0f %12.3f %12.1e\n", first.nodes, first.MB, first.seconds, cpu,
	       1e-3 * (double)after.ru_maxrss, cached.seconds, first.far_error);
	fflush(stdout);
	if (def->cache_folder)
		unlink(path);
	return true;
}

int main(int argc, char **argv)
{
	const double spacings_m[] = {0.0086, 0.0062, 0.0044, SOFT_BALL_LARGE_M};
	const int bodies = argc > 1 && strcmp(argv[1], "--large") == 0 ? 4 : 3;
	char folder[] = "/tmp/tactus-bench.XXXXXX";
	tac_mesh *mesh = soft_ball_mesh();
	if (!mesh || !mkdtemp(folder))
		return EXIT_FAILURE;
	bool good = true;
	printf("preparing a ball of 60 mm, %ld processors\n", sysconf(_SC_NPROCESSORS_ONLN));
	printf("%8s %8s %12s %12s %12s %12s %12s\n", "nodes", "MB", "wall s", "CPU s", "memory MB",
	       "cached s", "far error");
	for (int k = 0; k < bodies && good; k++) {
		tac_elastic_def def = soft_ball(mesh, spacings_m[k]);
		def.cache_folder = k < 3 ? folder : NULL;
		good = report(&def);
	}
	rmdir(folder);
	tac_mesh_destroy(&mesh);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
