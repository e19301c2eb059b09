// Conforming contact (bench/conforming.h): flat, prismatic and curved surfaces that meet in many triangles,
// at the speeds of a hand, with the work limits of the servo. `lag` is how far the SCO is from where the
// constraints put it, `at rest` the same 50 ms after the device stopped. Times are CPU times of the thread,
// the least of several replays of each tick.
//
//   bench_conform [exact] [turned] [SPEED] [NAME]
//
// exact: with the triangles of the meshes, without flat faces triangulated anew; turned: only with scenes
// that are turned in space; SPEED in m/s; NAME: the scenes whose names begin so.
#include "base/denormal.h"
#include "bench/conforming.h"

#include <time.h>

#define REPLAYS   3
#define TICKS_MAX 8000
#define REST      100 // ticks at the end of the path
#define SETTLED   50  // of these, before the lag at rest is taken
#define PRESS     50  // ticks from the start to the beginning of the path

static int64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static tac_dpose device_at(const conforming *c, int tick, int moving)
{
	if (tick < PRESS)
		return tac_dpose_make(
			tac_dvec3_lerp(c->start.position, c->from.position, (double)tick / PRESS),
			tac_dquat_exp(
				tac_dvec3_scale(tac_dquat_log(c->from.rotation), (double)tick / PRESS)));
	return conforming_device(c, (double)(tick - PRESS) / moving);
}

static tac_dpose goals[TICKS_MAX];
static double us[TICKS_MAX], work[TICKS_MAX];

// Where the constraints put the tool.
static void find_goals(const conforming_world *w, int moving, int ticks)
{
	tac_sco *sco = NULL;
	if (!w->c.goal) {
		sco = conforming_sco(w, 1000000);
		tac_sco_reset(sco, conforming_to_world(w, w->c.start), NULL);
	}
	for (int k = 0; k < ticks; k++) {
		const tac_dpose device = device_at(&w->c, k, moving);
		if (sco) {
			tac_sco_report report;
			tac_sco_step(sco, conforming_to_world(w, device), NULL, &report);
			goals[k] = conforming_from_world(w, report.T_world_sco);
		} else {
			goals[k] = w->c.goal(&w->c, device);
		}
	}
	tac_sco_destroy(&sco);
}

typedef struct totals {
	double lag, rest, load;
	int spent;
	double queries, proofs, qps, substeps, injections;
} totals;

static totals replay(const conforming_world *w, int64_t units, int moving, int ticks)
{
	totals t = {0};
	tac_sco_report report;
	tac_sco *sco = conforming_sco(w, units);
	if (!tac_sco_reset(sco, conforming_to_world(w, w->c.start), NULL))
		printf("%s: starts in contact\n", w->c.name);
	for (int k = 0; k < ticks; k++) {
		const tac_dpose device = conforming_to_world(w, device_at(&w->c, k, moving));
		const int64_t from = cpu_ns();
		tac_sco_step(sco, device, NULL, &report);
		us[k] = fmin(us[k], (double)(cpu_ns() - from) * 1e-3);
		work[k] = (double)report.work_units;
		t.spent += (report.flags & TAC_SCO_BUDGET_SPENT) != 0;
		t.queries += (double)report.contact_queries / ticks;
		t.proofs += (double)report.certificates / ticks;
		t.qps += (double)report.qp_solves / ticks;
		t.substeps += (double)report.substeps / ticks;
		t.injections += (double)report.injections / ticks;
		const double lag =
			conforming_apart(&w->c, conforming_from_world(w, report.T_world_sco), goals[k]);
		t.lag = k >= PRESS ? fmax(t.lag, lag) : 0;
		t.rest = k >= PRESS + moving + SETTLED ? fmax(t.rest, lag) : 0;
	}
	tac_sco_destroy(&sco);
	return t;
}

static void measure(conforming_make *make, bool turned, double speed, double flat_m)
{
	conforming_world w = conforming_world_make(make, turned, flat_m);
	const int moving = (int)(conforming_length(&w.c) / speed * 1000), ticks = PRESS + moving + REST;
	// The limits of the servo at 1 kHz (haptic/servo/setup.c).
	const int64_t units = w.triangles < 20000 ? 1500 : 540;
	find_goals(&w, moving, ticks);
	for (int k = 0; k < ticks; k++)
		us[k] = HUGE_VAL;
	totals t = {0};
	for (int i = 0; i < REPLAYS; i++)
		t = replay(&w, units, moving, ticks);
	double mean = 0, sum = 0, most = 0;
	for (int k = 0; k < ticks; k++) {
		mean += us[k] / ticks;
		sum += work[k] / ticks;
		most = fmax(most, work[k]);
	}
	qsort(us, (size_t)ticks, sizeof *us, by_size);
	printf("%-31s %-6s %6d %6d %7.1f %7.1f %7.1f %6.0f %6.0f %5.1f%% %9.4f %9.4f  %.1f %.1f %.1f %.1f "
	       "%.1f\n",
	       w.c.name, turned ? "turned" : "", tac_body_mesh(w.tool)->triangle_count,
	       tac_body_mesh(w.scene[0])->triangle_count, mean, us[(int)(0.999 * ticks)], us[ticks - 1], sum,
	       most, 100.0 * t.spent / ticks, t.lag * 1e3, t.rest * 1e3, t.substeps, t.queries, t.proofs,
	       t.qps, t.injections);
	conforming_world_free(&w);
}

int main(int argc, char **argv)
{
	tac_denormal_flush(true);
	setvbuf(stdout, NULL, _IOLBF, 0);
	double flat_m = TAC_BODY_FLAT, speed = 0;
	bool turned_only = false;
	const char *only = "";
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "exact") == 0)
			flat_m = 0;
		else if (strcmp(argv[i], "turned") == 0)
			turned_only = true;
		else if (atof(argv[i]) > 0)
			speed = atof(argv[i]);
		else
			only = argv[i];
	}
	for (int k = 0; k < 2; k++) {
		const double v = speed > 0 ? speed : k ? 0.5 : 0.1;
		printf("\n%-3.1f m/s %31s %6s %6s %7s %7s %7s %6s %6s %6s %9s %9s\n", v, "", "tool", "scene",
		       "mean us", "p99.9", "max", "work", "most", "spent", "lag mm", "at rest");
		for (int i = 0; i < CONFORMING_COUNT; i++) {
			conforming c = conforming_all[i]();
			const bool wanted = strncmp(c.name, only, strlen(only)) == 0;
			conforming_free(&c);
			for (int turned = turned_only; turned < 2 && wanted; turned++)
				measure(conforming_all[i], turned, v, flat_m);
		}
		if (speed > 0)
			break;
	}
	return 0;
}
