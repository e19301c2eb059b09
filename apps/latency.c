#include "apps/account.h"
#include "apps/commands.h"
#include "apps/machine.h"
#include "apps/options.h"
#include "apps/report.h"
#include "apps/terminal.h"

#include "rt/clock.h"
#include "rt/latest.h"
#include "rt/loop.h"
#include "rt/monitor.h"
#include "rt/thread.h"

#include <math.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define LOAD_THREADS_MAX 64

typedef struct settings {
	double seconds;
	double rate_Hz;
	double spin_us;
	double work_us;
	int timer;
	int policy;
	int64_t priority;
	int64_t cpu;
	bool load;
	bool json;
	const char *log_path;
	const char *trace_path;
	const char *report_path;
} settings;

// The run as the loop's thread sees it.
typedef struct probe {
	tac_loop *loop;
	tac_latest *latest;
	int64_t work_ns;
	tac_thread_def thread;
	tac_thread_report report;
	tac_result setup;
	tac_result result;
	sem_t entered;
	sem_t finished;
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

static void *probe_thread(void *user)
{
	probe *p = user;
	p->setup = tac_thread_enter(&p->thread, &p->report);
	sem_post(&p->entered);
	if (p->setup >= TAC_OK)
		p->result = tac_loop_run(p->loop, tick_probe, p);
	tac_thread_leave(&p->report);
	sem_post(&p->finished);
	return NULL;
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

static void print_setup(const settings *s, const machine *m, const probe *p)
{
	account_print_machine(m);
	printf("loop      %g Hz for %g s, %s timer, %g us of spin, %g us of work%s\n", s->rate_Hz, s->seconds,
	       tac_timer_kind_name((tac_timer_kind)s->timer), s->spin_us, s->work_us,
	       s->load ? ", other CPUs loaded" : "");
	account_print_setup(&p->report);
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
				 terminal_bar(t, elapsed_s / s->seconds, 40, bar, sizeof bar), s->seconds);
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

static void json_setup(const settings *s, const machine *m, const probe *p)
{
	account_json_machine(m);
	printf("  \"loop\": {\"rate_hz\": %g, \"seconds\": %g, \"timer\": \"%s\", \"policy\": \"%s\", "
	       "\"spin_us\": %g, \"work_us\": %g, \"load\": %s},\n",
	       s->rate_Hz, s->seconds, tac_timer_kind_name((tac_timer_kind)s->timer),
	       tac_policy_name((tac_policy)s->policy), s->spin_us, s->work_us, s->load ? "true" : "false");
	account_json_setup(&p->report);
}

static void json_summary(const settings *s, const machine *m, const probe *p, const tac_monitor_stats *stats,
			 const tac_histogram *corrected)
{
	printf("{\n");
	json_setup(s, m, p);
	account_json(stats, corrected);
	printf("}\n");
}

// ---- the run ----

static void follow(const settings *s, probe *p, tac_monitor *monitor, tac_monitor_stats *stats)
{
	terminal t = {0};
	const int64_t begin_ns = tac_clock_now_ns();
	for (;;) {
		if (terminal_due(&t)) {
			tac_monitor_read(monitor, stats);
			show_progress(&t, s, stats, (double)(tac_clock_now_ns() - begin_ns) / 1e9);
		}
		const struct timespec until =
			tac_clock_timespec(tac_clock_now_ns() + terminal_wait_ms(&t) * TAC_NS_PER_MS);
		if (sem_clockwait(&p->finished, CLOCK_MONOTONIC, &until) == 0)
			break;
	}
	terminal_clear(&t);
}

static int run_probe(const settings *s, const machine *m, probe *p, tac_monitor *monitor,
		     tac_monitor_stats *stats, tac_histogram *corrected)
{
	load l = {.count = 0};
	if (s->load)
		load_start(&l, m->cpu_count);
	tac_loop_stop_on_signals();
	pthread_t thread;
	if (tac_thread_start(&thread, probe_thread, p) != TAC_OK) {
		load_stop(&l);
		return EXIT_FAILURE;
	}
	while (sem_wait(&p->entered) != 0) {
	}
	if (!s->json && p->setup >= TAC_OK)
		print_setup(s, m, p);
	follow(s, p, monitor, stats);
	pthread_join(thread, NULL);
	load_stop(&l);
	if (p->setup < TAC_OK || p->result < TAC_OK)
		return EXIT_FAILURE;

	tac_monitor_drain(monitor);
	tac_monitor_read(monitor, stats);
	tac_histogram_corrected(&stats->wake, tac_loop_period_ns(p->loop), corrected);
	if (s->json)
		json_summary(s, m, p, stats, corrected);
	else
		account_print(m, stats, corrected);
	return EXIT_SUCCESS;
}

static tac_result create_all(const settings *s, probe *p, report *r, tac_deadline **deadline,
			     tac_trace **trace, tac_monitor **monitor)
{
	tac_loop_def loop_def = tac_loop_def_default();
	loop_def.period_ns = llround(1e9 / s->rate_Hz);
	loop_def.spin_ns = llround(s->spin_us * 1e3);
	loop_def.periods = llround(fmax(s->seconds * s->rate_Hz, 1.0));
	loop_def.timer = (tac_timer_kind)s->timer;

	p->thread = tac_thread_def_default();
	p->thread.name = "tac-loop";
	p->thread.policy = (tac_policy)s->policy;
	p->thread.priority = (int)s->priority;
	p->thread.cpu = (int)s->cpu;
	p->thread.period_ns = loop_def.period_ns;
	p->thread.runtime_ns = loop_def.period_ns * 4 / 5;

	const tac_deadline_def deadline_def = tac_deadline_def_default(loop_def.period_ns);
	tac_result result = tac_deadline_create(&deadline_def, deadline);
	loop_def.deadline = *deadline;
	if (result == TAC_OK)
		result = tac_loop_create(&loop_def, &p->loop);
	if (result == TAC_OK)
		result = tac_latest_create(sizeof(tac_tick), &p->latest);
	if (result == TAC_OK && s->trace_path) {
		tac_trace_def trace_def = tac_trace_def_default();
		trace_def.path = s->trace_path;
		result = tac_trace_create(&trace_def, trace);
	}
	const tac_monitor_def monitor_def = {
		.deadline = *deadline,
		.log_path = s->log_path,
		.trace = *trace,
		.on_tick = s->report_path ? report_tick : NULL,
		.user = r,
	};
	if (result == TAC_OK)
		result = tac_monitor_create(&monitor_def, monitor);
	return result;
}

static bool write_report(const settings *s, const probe *p, report *r, const tac_monitor_stats *stats,
			 const tac_histogram *corrected)
{
	r->period_ns = tac_loop_period_ns(p->loop);
	r->thread = &p->report;
	r->stats = stats;
	r->wake_corrected = corrected;
	report_fact_add(r, "loop", "%g Hz for %g s, %s timer", s->rate_Hz, s->seconds,
			tac_timer_kind_name((tac_timer_kind)s->timer));
	report_fact_add(r, "spin", "%g us before each tick", s->spin_us);
	report_fact_add(r, "work", "%g us in each tick", s->work_us);
	report_fact_add(r, "load", "%s", s->load ? "the other CPUs were kept busy" : "none of its own");
	return report_write(r, s->report_path);
}

static int run(const settings *s)
{
	const machine m = machine_describe();
	probe p = {.work_ns = llround(s->work_us * 1e3)};
	sem_init(&p.entered, 0, 0);
	sem_init(&p.finished, 0, 0);
	tac_deadline *deadline = NULL;
	tac_trace *trace = NULL;
	tac_monitor *monitor = NULL;
	tac_monitor_stats *stats = calloc(1, sizeof *stats);
	tac_histogram *corrected = calloc(1, sizeof *corrected);

	report r = {0};

	int code = EXIT_FAILURE;
	if (stats && corrected && report_init(&r, "tactus latency") &&
	    create_all(s, &p, &r, &deadline, &trace, &monitor) == TAC_OK)
		code = run_probe(s, &m, &p, monitor, stats, corrected);
	if (code == EXIT_SUCCESS && s->report_path && !write_report(s, &p, &r, stats, corrected))
		code = EXIT_FAILURE;

	tac_monitor_destroy(&monitor);
	if (tac_trace_destroy(&trace, NULL) < TAC_OK)
		code = EXIT_FAILURE;
	tac_latest_destroy(&p.latest);
	tac_loop_destroy(&p.loop);
	tac_deadline_destroy(&deadline);
	report_fini(&r);
	free(corrected);
	free(stats);
	return code;
}

int cmd_latency(int argc, char **argv)
{
	static const char *const timers[] = {"nanosleep", "signal", "timerfd", NULL};
	static const char *const policies[] = {"other", "fifo", "deadline", NULL};
	settings s = {
		.seconds = 10,
		.rate_Hz = 1000,
		.spin_us = (double)NAN, // what fits the period
		.timer = TAC_TIMER_NANOSLEEP,
		.policy = TAC_POLICY_FIFO,
		.priority = 80,
		.cpu = -1,
	};
	const option_def options[] = {
		{"seconds", OPTION_NUMBER, &s.seconds, 0.001, 1e7, NULL, "N", "how long"},
		{"rate", OPTION_NUMBER, &s.rate_Hz, 100, 10000, NULL, "HZ", "ticks a second, 100 to 10000"},
		{"timer", OPTION_CHOICE, &s.timer, 0, 0, timers, NULL, "what wakes the loop"},
		{"policy", OPTION_CHOICE, &s.policy, 0, 0, policies, NULL,
		 "how the loop's thread is scheduled"},
		{"priority", OPTION_INTEGER, &s.priority, 1, 99, NULL, "N", "of the policy fifo, 1 to 99"},
		{"cpu", OPTION_INTEGER, &s.cpu, -1, CPU_SETSIZE - 1, NULL, "N",
		 "run on this CPU; -1: on any"},
		{"spin", OPTION_NUMBER, &s.spin_us, 0, 5000, NULL, "US",
		 "spin so many microseconds before each tick, up to half of the period (default 100, or that "
		 "half)"},
		{"work", OPTION_NUMBER, &s.work_us, 0, 1e6, NULL, "US",
		 "compute so many microseconds in each tick"},
		{"load", OPTION_FLAG, &s.load, 0, 0, NULL, NULL, "keep the other CPUs busy"},
		{"log", OPTION_TEXT, &s.log_path, 0, 0, NULL, "FILE.csv", "write a line for each miss"},
		{"trace", OPTION_TEXT, &s.trace_path, 0, 0, NULL, "FILE.json",
		 "write a trace for ui.perfetto.dev"},
		{"report", OPTION_TEXT, &s.report_path, 0, 0, NULL, "FILE.html",
		 "write a report for the browser, in one file"},
		{"json", OPTION_FLAG, &s.json, 0, 0, NULL, NULL, "print the summary as JSON"},
		{0},
	};
	const command_line line = {"tactus latency",
				   "how punctual a periodic loop is on this machine, and why it is not",
				   options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	const double half_period_us = 0.5e6 / s.rate_Hz;
	if (isnan(s.spin_us))
		s.spin_us = fmin(100, half_period_us);
	if (s.spin_us > half_period_us) {
		fprintf(stderr,
			"tactus latency: spin: expected at most half of the period (%g us), found '%g'\n",
			half_period_us, s.spin_us);
		return EXIT_BAD_INPUT;
	}
	return run(&s);
}
