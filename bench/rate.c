// The ticks of the built-in scenes at a high rate: session and servo of `tactus run`, with the scene's
// simulated device and hand, off the clock. What a run does besides, to count and to show its ticks, is not
// in it.
//
// A tick's time is CPU time of the thread, the least of several replays; that of its phases is wall time, the
// least of the same replays, because the clock of CPU time takes 0.5 µs. A replay repeats every tick to the
// bit, which is checked. The simulated device and its hand are computed in the phase device read.
#include "apps/session/options.h"
#include "apps/session/session.h"
#include "base/denormal.h"
#include "rt/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENES_MAX 32
#define ROWS       (TAC_PHASE_COUNT + 1) // a row of times for each phase, and for the whole tick
#define WHOLE      TAC_PHASE_COUNT
#define LIMIT_US   60 // the goal for p99.9 at 10 kHz: what is left of the period are wake-ups and others' work

// In a run the delay from read to write is measured, and the servo computes the stiffness that it allows
// again when it has changed (haptic/derate.h). Here it follows from the work of the last tick, so that
// replays repeat each other.
#define WRITE_DELAY_NS   5000
#define DELAY_OF_UNIT_NS 250

typedef struct settings {
	double rate_Hz, seconds;
	int64_t replays, worst;
	option_list scenes;
} settings;

// What a tick did, for the list of the longest.
typedef struct deed {
	int64_t work_units;
	uint32_t flags; // tac_sco_flag
	int32_t outcome, contacts;
} deed;

typedef struct measurement {
	int64_t count;
	float *us[ROWS];
	deed *deeds;
	double *forces_N; // of the first replay
} measurement;

// ---- phases: the linker wraps tac_tick_phase_end ----

static int64_t phase_begin_ns, phase_ns[TAC_PHASE_COUNT]; // of this tick, of all tools
static int64_t write_delay_ns;

void __wrap_tac_tick_phase_end(tac_tick *tick, tac_phase phase);

void __wrap_tac_tick_phase_end(tac_tick *tick, tac_phase phase)
{
	const int64_t now_ns = tac_clock_now_ns();
	phase_ns[phase] += now_ns - phase_begin_ns;
	phase_begin_ns = now_ns;
	tick->phase_end_ns[phase] = tick->wake_ns + write_delay_ns;
}

// ---- replays ----

static void keep_least(float *us, int64_t ns)
{
	*us = fminf(*us, (float)ns * 1e-3f);
}

static void step(session *s, int64_t now_ns, int64_t i, measurement *m)
{
	tac_tick tick = {.index = i, .planned_ns = now_ns, .wake_ns = now_ns};
	memset(phase_ns, 0, sizeof phase_ns);
	const int64_t begin_ns = tac_clock_thread_cpu_ns();
	phase_begin_ns = tac_clock_now_ns();
	session_step(s, now_ns, &tick);
	keep_least(&m->us[WHOLE][i], tac_clock_thread_cpu_ns() - begin_ns);
	for (int p = 0; p < TAC_PHASE_COUNT; p++)
		keep_least(&m->us[p][i], phase_ns[p]);
}

// The sum of the tools' forces; notes what the tick did.
static double look(session *s, deed *out)
{
	double sum_N = 0;
	*out = (deed){0};
	for (int32_t i = 0; i < s->count; i++) {
		const tac_snapshot *n = tac_servo_snapshot(s->servos[i], 0);
		sum_N += tac_dvec3_length(n->sent.force_N) + tac_dvec3_length(n->sent.torque_Nm);
		out->work_units += n->work_units;
		out->flags |= n->sco_flags;
		out->outcome = (int32_t)n->sco_outcome;
		out->contacts += n->contact_count;
	}
	write_delay_ns = WRITE_DELAY_NS + DELAY_OF_UNIT_NS * out->work_units;
	return sum_N;
}

static bool replay(const settings *set, const char *scene, bool first, measurement *m)
{
	const session_def def = {
		.scene = scene, .readers = 2, .period_ns = llround(1e9 / set->rate_Hz)}; // as tactus run
	session s;
	write_delay_ns = WRITE_DELAY_NS;
	bool good = session_open(&def, "bench_rate", false, &s) == EXIT_SUCCESS;
	for (int32_t i = 0; good && i < s.count; i++)
		tac_device_enable(s.devices[i], true);
	for (int64_t i = 0; good && i < m->count; i++) {
		deed d;
		step(&s, (i + 1) * def.period_ns, i, m);
		const double force_N = look(&s, first ? &m->deeds[i] : &d);
		if (first)
			m->forces_N[i] = force_N;
		good = m->forces_N[i] == force_N;
		if (!good)
			fprintf(stderr, "bench_rate: %s: expected %.17g N in tick %lld again, found %.17g\n",
				scene, m->forces_N[i], (long long)i, force_N);
	}
	return session_close(&s) && good;
}

// ---- tables ----

static int by_size(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

static const float *sort_key;

static int longest_first(const void *a, const void *b)
{
	return by_size(&sort_key[*(const int64_t *)b], &sort_key[*(const int64_t *)a]);
}

static double mean(const float *us, int64_t count)
{
	double sum = 0;
	for (int64_t i = 0; i < count; i++)
		sum += (double)us[i];
	return sum / (double)count;
}

static double percentile(const float *sorted, int64_t count, double part)
{
	return (double)sorted[(int64_t)(part * (double)(count - 1))];
}

static void print_worst(const settings *set, const measurement *m)
{
	int64_t *order = calloc((size_t)m->count, sizeof *order);
	for (int64_t i = 0; order && i < m->count; i++)
		order[i] = i;
	sort_key = m->us[WHOLE];
	if (order)
		qsort(order, (size_t)m->count, sizeof *order, longest_first);
	for (int64_t k = 0; order && k < set->worst && k < m->count; k++) {
		const int64_t i = order[k];
		const deed *d = &m->deeds[i];
		printf("  %8.4f s %6.1f us:", (double)i / set->rate_Hz, (double)m->us[WHOLE][i]);
		for (int p = 0; p < TAC_PHASE_COUNT; p++) {
			if (m->us[p][i] > 0)
				printf(" %s %.1f,", tac_phase_name((tac_phase)p), (double)m->us[p][i]);
		}
		printf(" %lld units, %d contacts, %s, flags %x\n", (long long)d->work_units, (int)d->contacts,
		       tac_sco_outcome_name((tac_sco_outcome)d->outcome), d->flags);
	}
	free(order);
}

static const tac_phase shown[] = {TAC_PHASE_DEVICE_READ, TAC_PHASE_SCO, TAC_PHASE_FORCE,
				  TAC_PHASE_DEVICE_WRITE, TAC_PHASE_PUBLISH};

static void print_head(const settings *set)
{
	printf("%g Hz, %g s, least of %d replays; us\n", set->rate_Hz, set->seconds, (int)set->replays);
	printf("%-10s %7s %7s %7s %7s %7s %7s |", "scene", "mean", "p50", "p99", "p99.9", "max", ">60 us");
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		printf(" %15s", tac_phase_name(shown[i]));
	printf("   mean, p99.9; hash of the forces\n");
}

// FNV-1a of all forces: a change that only saves time keeps it.
static uint32_t hash_of(const double *values, int64_t count)
{
	uint32_t hash = 0x811c9dc5;
	for (size_t i = 0; i < (size_t)count * sizeof *values; i++)
		hash = (hash ^ ((const unsigned char *)values)[i]) * 0x01000193;
	return hash;
}

static void print_row(const char *scene, measurement *m)
{
	const float *whole = m->us[WHOLE];
	const double mean_us = mean(whole, m->count);
	int64_t over = 0;
	for (int64_t i = 0; i < m->count; i++)
		over += whole[i] > LIMIT_US;
	for (int r = 0; r < ROWS; r++)
		qsort(m->us[r], (size_t)m->count, sizeof *m->us[r], by_size);
	printf("%-10s %7.1f %7.1f %7.1f %7.1f %7.1f %7lld |", scene, mean_us,
	       percentile(whole, m->count, 0.5), percentile(whole, m->count, 0.99),
	       percentile(whole, m->count, 0.999), (double)whole[m->count - 1], (long long)over);
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		printf(" %7.1f %7.1f", mean(m->us[shown[i]], m->count),
		       percentile(m->us[shown[i]], m->count, 0.999));
	printf(" %08x\n", hash_of(m->forces_N, m->count));
	fflush(stdout);
}

static bool measure(const settings *set, const char *scene, measurement *m)
{
	for (int r = 0; r < ROWS; r++) {
		for (int64_t i = 0; i < m->count; i++)
			m->us[r][i] = HUGE_VALF;
	}
	for (int64_t k = 0; k < set->replays; k++) {
		if (!replay(set, scene, k == 0, m))
			return false;
	}
	if (set->worst > 0)
		print_worst(set, m);
	print_row(scene, m);
	return true;
}

int main(int argc, char **argv)
{
	const char *names[SCENES_MAX];
	settings set = {.rate_Hz = 10000, .seconds = 10, .replays = 5, .scenes = {names, 0}};
	const option_def options[] = {
		{"rate", OPTION_NUMBER, &set.rate_Hz, 100, 10000, NULL, "HZ", "ticks per second"},
		{"seconds", OPTION_NUMBER, &set.seconds, 0.01, 3600, NULL, "N", "of each scene"},
		{"replays", OPTION_INTEGER, &set.replays, 1, 100, NULL, "N", "whose least times count"},
		{"worst", OPTION_INTEGER, &set.worst, 0, 1e6, NULL, "N", "print the longest ticks"},
		{"scene", OPTION_MORE, &set.scenes, 0, SCENES_MAX, NULL, "SCENE", "default: all built in"},
		{0},
	};
	const command_line line = {"bench_rate", "the ticks of the built-in scenes at a high rate", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	for (int i = 0; set.scenes.count == i && i < SCENES_MAX && tac_scene_builtin_name(i); i++)
		names[set.scenes.count++] = tac_scene_builtin_name(i);
	measurement m = {.count = llround(set.seconds * set.rate_Hz)};
	bool good = true;
	for (int r = 0; r < ROWS; r++) {
		m.us[r] = calloc((size_t)m.count, sizeof *m.us[r]);
		good &= m.us[r] != NULL;
	}
	m.deeds = calloc((size_t)m.count, sizeof *m.deeds);
	m.forces_N = calloc((size_t)m.count, sizeof *m.forces_N);
	good &= m.deeds && m.forces_N;
	tac_denormal_flush(true);
	print_head(&set);
	for (int i = 0; good && i < set.scenes.count; i++)
		good = measure(&set, names[i], &m);
	for (int r = 0; r < ROWS; r++)
		free(m.us[r]);
	free(m.deeds);
	free(m.forces_N);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
