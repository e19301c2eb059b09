// Conforming contact (bench/conforming.h): flat, prismatic and curved surfaces that meet in many triangles,
// at the speeds of a hand, with the work limits of the servo. `lag` is how far the SCO is from where the
// constraints put it, `at rest` the same 50 ms after the device stopped. Times are CPU times of the thread,
// the least of several replays of each tick.
//
//   bench_conform [exact] [DETAILum] [COUNTunits] [turned] [long] [SPEED] [NAME]
//
// exact: with the triangles of the meshes, without flat faces triangulated anew; DETAILum: with bodies
// simplified within so many micrometres; COUNTunits: with so many work units a step; turned: only scenes that
// are turned in space; long: to and fro along the path for 8 s, so that p99.9 is more than the slowest tick;
// SPEED in m/s; NAME: the scenes whose names begin so.
#include "base/denormal.h"
#include "bench/conforming.h"

#include <time.h>

// A short path is replayed more often: its p99.9 is one tick.
#define REPLAYS       3
#define SHORT_REPLAYS 12

static double cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void measure(conforming_make *make, bool turned, double speed, double flat_m, double detail_m,
		    int64_t units, bool to_and_fro)
{
	static conforming_run run;
	conforming_world w = conforming_world_make(make, turned, flat_m, detail_m);
	conforming_run_begin(&run, &w, speed, to_and_fro);
	for (int i = 0; i < (to_and_fro ? REPLAYS : SHORT_REPLAYS); i++)
		conforming_follow(&run, &w, units > 0 ? units : conforming_work_units(&w), cpu_us);
	double mean = 0, work = 0, most = 0;
	for (int k = 0; k < run.ticks; k++) {
		mean += run.us[k] / run.ticks;
		work += run.work[k] / run.ticks;
		most = fmax(most, run.work[k]);
	}
	qsort(run.us, (size_t)run.ticks, sizeof *run.us, by_size);
	printf("%-31s %-6s %6d %6d %7.1f %7.1f %7.1f %7.1f %6.0f %6.0f %5.1f%% %9.4f %9.4f\n", w.c.name,
	       turned ? "turned" : "", tac_body_mesh(w.tool)->triangle_count,
	       tac_body_mesh(w.scene[0])->triangle_count, mean, run.us[(int)(0.99 * run.ticks)],
	       run.us[(int)(0.999 * run.ticks)], run.us[run.ticks - 1], work, most,
	       100.0 * run.spent / run.ticks, run.lag_m * 1e3, run.rest_m * 1e3);
	conforming_world_free(&w);
}

int main(int argc, char **argv)
{
	tac_denormal_flush(true);
	setvbuf(stdout, NULL, _IOLBF, 0);
	double flat_m = TAC_BODY_FLAT, detail_m = 0, speed = 0;
	int first = 0; // 1: turned scenes alone
	bool to_and_fro = false;
	int64_t units = 0; // 0: those of the servo
	const char *only = "";
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "exact") == 0)
			flat_m = 0;
		else if (strstr(argv[i], "units"))
			units = atoll(argv[i]);
		else if (strstr(argv[i], "um"))
			detail_m = 1e-6 * atof(argv[i]);
		else if (strcmp(argv[i], "turned") == 0)
			first = 1;
		else if (strcmp(argv[i], "long") == 0)
			to_and_fro = true;
		else if (atof(argv[i]) > 0)
			speed = atof(argv[i]);
		else
			only = argv[i];
	}
	const double speeds[] = {speed > 0 ? speed : 0.1, 0.5};
	for (int k = 0; k < (speed > 0 ? 1 : 2); k++) {
		printf("\n%-3.1f m/s %31s %6s %6s %7s %7s %7s %7s %6s %6s %6s %9s %9s\n", speeds[k], "",
		       "tool", "scene", "mean us", "p99", "p99.9", "max", "work", "most", "spent", "lag mm",
		       "at rest");
		for (int i = 0; i < CONFORMING_COUNT; i++) {
			conforming c = conforming_all[i]();
			const bool wanted = strncmp(c.name, only, strlen(only)) == 0;
			conforming_free(&c);
			for (int turned = first; turned < 2 && wanted; turned++)
				measure(conforming_all[i], turned, speeds[k], flat_m, detail_m, units,
					to_and_fro);
		}
	}
	return 0;
}
