#include "apps/account.h"
#include "apps/commands.h"
#include "apps/options.h"
#include "apps/rig.h"
#include "apps/terminal.h"

#include "rt/clock.h"
#include "rt/latest.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define LOAD_THREADS_MAX 64

typedef struct settings {
	rig_def rig;
	double work_us;
	bool load;
	bool json;
} settings;

// The run as the loop's thread sees it.
typedef struct probe {
	tac_latest *latest;
	int64_t work_ns;
} probe;

typedef struct load {
	atomic_bool stop;
	int count;
	pthread_t threads[LOAD_THREADS_MAX];
} load;

// ---- the loop ----

static void tick_probe(void *user, tac_tick *tick)
{
	probe *p = user;
	while (tac_clock_now_ns() < tick->wake_ns + p->work_ns) {
	}
	tac_tick_phase_end(tick, TAC_PHASE_SCO);
	tac_latest_write(p->latest, tick);
	tac_tick_phase_end(tick, TAC_PHASE_PUBLISH);
}

// ---- the load ----

// Computes and walks through 8 MiB, so that caches and memory bus are busy, too.
static void *load_thread(void *user)
{
	load *l = user;
	enum { WORDS = 1 << 20 };
	double *memory = calloc(WORDS, sizeof *memory);
	double sum = 1.0;
	while (memory && !atomic_load_explicit(&l->stop, memory_order_relaxed)) {
		for (int i = 0; i < WORDS; i += 8) {
			sum = sqrt(sum + memory[i] + 1.0);
			memory[i] = sum;
		}
	}
	free(memory);
	return NULL;
}

// One thread for each CPU but one; at least one.
static void load_start(load *l, int cpu_count)
{
	int wanted = cpu_count > 1 ? cpu_count - 1 : 1;
	if (wanted > LOAD_THREADS_MAX)
		wanted = LOAD_THREADS_MAX;
	while (l->count < wanted && tac_thread_start(&l->threads[l->count], load_thread, l) == TAC_OK)
		l->count++;
}

static void load_stop(load *l)
{
	atomic_store_explicit(&l->stop, true, memory_order_relaxed);
	for (int i = 0; i < l->count; i++)
		pthread_join(l->threads[i], NULL);
}

// ---- what a person reads ----

static void print_setup(const settings *s, const rig *r)
{
	account_print_machine(&r->machine);
	printf("loop      %g Hz for %g s, %s timer, %g us of spin, %g us of work%s\n", s->rig.rate_Hz,
	       s->rig.seconds, tac_timer_kind_name((tac_timer_kind)s->rig.timer), s->rig.spin_us, s->work_us,
	       s->load ? ", other CPUs loaded" : "");
	account_print_setup(&r->granted);
	printf("\n");
	fflush(stdout);
}

// How far the run is: one line, and on a terminal a bar and the causes below it.
static void show_progress(terminal *t, const settings *s, const tac_monitor_stats *stats, double elapsed_s)
{
	char text[2 * TERMINAL_BYTES], bar[256];
	int used = snprintf(text, sizeof text,
			    "%6.1f s  %lld ticks  wake p50 %.1f  p99 %.1f  max %.1f us  misses %lld",
			    elapsed_s, (long long)stats->totals.ticks,
			    account_us(tac_histogram_percentile(&stats->wake, 50)),
			    account_us(tac_histogram_percentile(&stats->wake, 99)),
			    account_us(stats->wake.max_ns), (long long)stats->totals.misses);
	if (t->live) {
		used += snprintf(text + used, sizeof text - (size_t)used, "\n%s %.0f s",
				 terminal_bar(t, elapsed_s / s->rig.seconds, 40, bar, sizeof bar),
				 s->rig.seconds);
		for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++) {
			if (stats->misses_by_cause[i] > 0)
				used += snprintf(text + used, sizeof text - (size_t)used, "  %lld %s",
						 (long long)stats->misses_by_cause[i],
						 tac_cause_name((tac_cause)i));
		}
	}
	terminal_show(t, text);
}

// ---- what a program reads ----

static void json_summary(const settings *s, const rig *r)
{
	printf("{\n");
	account_json_machine(&r->machine);
	printf("  \"loop\": {\"rate_hz\": %g, \"seconds\": %g, \"timer\": \"%s\", \"policy\": \"%s\", "
	       "\"spin_us\": %g, \"work_us\": %g, \"load\": %s},\n",
	       s->rig.rate_Hz, s->rig.seconds, tac_timer_kind_name((tac_timer_kind)s->rig.timer),
	       tac_policy_name((tac_policy)s->rig.policy), s->rig.spin_us, s->work_us,
	       s->load ? "true" : "false");
	account_json_setup(&r->granted);
	account_json(r->stats, r->corrected);
	printf("}\n");
}

// ---- the run ----

static void follow(const settings *s, rig *r)
{
	terminal t = {0};
	const int64_t begin_ns = tac_clock_now_ns();
	do {
		if (terminal_due(&t)) {
			rig_read(r);
			show_progress(&t, s, r->stats, (double)(tac_clock_now_ns() - begin_ns) / 1e9);
		}
	} while (!rig_wait(r, terminal_wait_ms(&t) * TAC_NS_PER_MS));
	terminal_clear(&t);
}

static bool run_probe(const settings *s, rig *r)
{
	load l = {.count = 0};
	if (s->load)
		load_start(&l, r->machine.cpu_count);
	const bool started = rig_start(r);
	if (started) {
		if (!s->json && r->entered_result >= TAC_OK)
			print_setup(s, r);
		follow(s, r);
	}
	const bool good = started && rig_end(r);
	load_stop(&l);
	return good;
}

static bool write_report(const settings *s, rig *r)
{
	report_fact_add(&r->report, "loop", "%g Hz for %g s, %s timer", s->rig.rate_Hz, s->rig.seconds,
			tac_timer_kind_name((tac_timer_kind)s->rig.timer));
	report_fact_add(&r->report, "spin", "%g us before each tick", s->rig.spin_us);
	report_fact_add(&r->report, "work", "%g us in each tick", s->work_us);
	report_fact_add(&r->report, "load", "%s",
			s->load ? "the other CPUs were kept busy" : "none of its own");
	return rig_report(r);
}

static int run(settings *s)
{
	probe p = {.work_ns = llround(s->work_us * 1e3)};
	s->rig.tick = tick_probe;
	s->rig.user = &p;
	rig r;
	bool good = rig_open(&s->rig, &r) && tac_latest_create(sizeof(tac_tick), &p.latest) == TAC_OK &&
		    run_probe(s, &r);
	if (good && s->json)
		json_summary(s, &r);
	else if (good)
		account_print(&r.machine, r.stats, r.corrected);
	good = good && write_report(s, &r);
	good = rig_close(&r) && good;
	tac_latest_destroy(&p.latest);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_latency(int argc, char **argv)
{
	static const char *const timers[] = {"nanosleep", "signal", "timerfd", NULL};
	settings s = {.rig = rig_def_default("tactus latency", "tac-loop")};
	const option_def options[] = {
		RIG_OPTIONS(&s.rig),
		{"timer", OPTION_CHOICE, &s.rig.timer, 0, 0, timers, NULL, "what wakes the loop"},
		{"spin", OPTION_NUMBER, &s.rig.spin_us, 0, 5000, NULL, "US",
		 "spin so many microseconds before each tick, up to half of the period (default 100, or that "
		 "half)"},
		{"work", OPTION_NUMBER, &s.work_us, 0, 1e6, NULL, "US",
		 "compute so many microseconds in each tick"},
		{"load", OPTION_FLAG, &s.load, 0, 0, NULL, NULL, "keep the other CPUs busy"},
		{"json", OPTION_FLAG, &s.json, 0, 0, NULL, NULL, "print the summary as JSON"},
		{0},
	};
	const command_line line = {
		s.rig.command, "how punctual a periodic loop is on this machine, and why it is not", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	s.rig.spin_us = (double)rig_spin_ns(&s.rig) / 1e3;
	const double half_period_us = 0.5e6 / s.rig.rate_Hz;
	if (s.rig.spin_us > half_period_us) {
		fprintf(stderr,
			"tactus latency: spin: expected at most half of the period (%g us), found '%g'\n",
			half_period_us, s.rig.spin_us);
		return EXIT_BAD_INPUT;
	}
	return run(&s);
}
