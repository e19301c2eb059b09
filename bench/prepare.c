// The time that preparing a soft body takes (tissue/elastic.h), and opening it from the cache: balls of 60 mm
// with about 500, 1,000 and 2,000 touched nodes, with --large also 10,000, of linear elements. Wall-clock
// time, and CPU time of the program that computes, which other load on the machine does not change.
#include "collision/mesh_shapes.h"
#include "rt/clock.h"
#include "tissue/elastic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double children_s(void)
{
	struct rusage u;
	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

// Prepares the body and forgets it. Seconds, or a negative number.
static double prepare_s(const tac_elastic_def *def, int32_t *out_nodes, double *out_MB)
{
	tac_compliance *c;
	const int64_t begin = tac_clock_now_ns();
	if (tac_elastic_prepare(def, &c) < TAC_OK)
		return -1;
	const double seconds = 1e-9 * (double)(tac_clock_now_ns() - begin);
	*out_nodes = c->node_count;
	*out_MB = 1e-6 * (double)c->image_bytes;
	tac_compliance_destroy(&c);
	return seconds;
}

int main(int argc, char **argv)
{
	const int bodies = argc > 1 && strcmp(argv[1], "--large") == 0 ? 4 : 3;
	char folder[] = "/tmp/tactus-bench.XXXXXX";
	tac_mesh *mesh;
	if (!mkdtemp(folder) || tac_mesh_build_icosphere(0.06f, 5, &mesh) < TAC_OK)
		return EXIT_FAILURE;
	int code = EXIT_SUCCESS;
	printf("preparing a ball of 60 mm, %ld processors\n", sysconf(_SC_NPROCESSORS_ONLN));
	printf("%8s %8s %12s %12s %12s\n", "nodes", "MB", "wall s", "CPU s", "cached s");
	for (int k = 0; k < bodies && code == EXIT_SUCCESS; k++) {
		tac_elastic_def def = tac_elastic_def_default();
		def.name = "ball";
		def.mesh = mesh;
		def.spacing_m = (double[]){0.0086, 0.0062, 0.0044, 0.00195}[k];
		def.fixed[0] = (tac_elastic_fixed){.low_m = tac_dvec3_splat(-1), .high_m = {1, 1, -0.04}};
		def.fixed_count = 1;
		def.cache_folder = folder;
		int32_t nodes = 0;
		double MB = 0;
		const double before = children_s(), wall = prepare_s(&def, &nodes, &MB);
		const double cpu = children_s() - before, cached = prepare_s(&def, &nodes, &MB);
		char path[256];
		if (tac_elastic_cache_path(&def, path, sizeof path))
			unlink(path);
		if (wall < 0 || cached < 0)
			code = EXIT_FAILURE;
		else
			printf("%8d %8.0f %12.1f %12.1f %12.3f\n", nodes, MB, wall, cpu, cached);
	}
	rmdir(folder);
	tac_mesh_destroy(&mesh);
	return code;
}
