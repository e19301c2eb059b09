// tactus latency: measures the timing of a periodic loop on this machine, with a given amount of work in each
// tick, and reports the cause of every missed deadline.
#include "apps/commands/commands.h"
#include "apps/commands/latency_compare.h"
#include "apps/session/loop_runner.h"
#include "apps/session/options.h"
#include "apps/session/standard_output.h"
#include "apps/session/summary.h"
#include "apps/terminal/terminal.h"
#include "base/log.h"

#include "rt/clock.h"
#include "rt/latest.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define LOAD_THREADS_MAX 64

typedef struct settings {
	loop_runner_def loop;
	double work_us;
	bool load;
	bool json;
	bool file_on_stdout; // the report is "-"
} settings;

// The loop's own data.
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
	tac_tick_phase_end(tick, TAC_PHASE_WORK);
	tac_latest_write(p->latest, tick);
	tac_tick_phase_end(tick, TAC_PHASE_PUBLISH);
}

// ---- the load ----

// Computes while walking through 8 MiB, so that caches and the memory bus are busy, too.
static void *load_thread(void *user)
{
	load *l = user;
	enum { WORDS = 1 << 20 };
	double *memory = calloc(WORDS, sizeof *memory);
	if (!memory)
		tac_log(TAC_LOG_WARNING, "load: expected %zu bytes, found no memory; one thread less",
			WORDS * sizeof *memory);
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

// ---- text ----

static void print_setup(const settings *s, const loop_runner *r)
{
	summary_print_machine(&r->machine);
	printf("loop      %g Hz for %g s, %s timer, %g us spin, %g us work%s\n", s->loop.rate_Hz,
	       s->loop.seconds, tac_timer_kind_name((tac_timer_kind)s->loop.timer), s->loop.spin_us,
	       s->work_us, s->load ? ", other CPUs loaded" : "");
	summary_print_setup(&r->granted);
	printf("\n");
	fflush(stdout);
}

// Progress of the run: one line, and on a terminal a bar and the causes of misses below it.
static void show_progress(terminal *t, const settings *s, const tac_monitor_stats *stats, double elapsed_s)
{
	char text[2 * TERMINAL_BYTES], bar[256];
	int used = snprintf(text, sizeof text,
			    "%6.1f s  %lld ticks  wake p50 %.1f  p99 %.1f  max %.1f us  misses %lld",
			    elapsed_s, (long long)stats->totals.ticks,
			    summary_us(tac_histogram_percentile(&stats->wake, 50)),
			    summary_us(tac_histogram_percentile(&stats->wake, 99)),
			    summary_us(stats->wake.max_ns), (long long)stats->totals.misses);
	if (t->live) {
		used += snprintf(text + used, sizeof text - (size_t)used, "\n%s %.0f s",
				 terminal_bar(t, elapsed_s / s->loop.seconds, 40, bar, sizeof bar),
				 s->loop.seconds);
		for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++) {
			if (stats->misses_by_cause[i] > 0)
				used += snprintf(text + used, sizeof text - (size_t)used, "  %lld %s",
						 (long long)stats->misses_by_cause[i],
						 tac_cause_name((tac_cause)i));
		}
	}
	terminal_show(t, text);
}

static void print_text_summary(const loop_runner *r)
{
	summary_print(&r->machine, r->stats, r->corrected);
	summary_print_interrupts(&r->interrupts, (double)(r->stats->totals.ticks + r->stats->totals.skipped) /
							 r->def.rate_Hz);
	char verdict[SUMMARY_VERDICT];
	printf("verdict   %s\n", summary_verdict(r->stats, tac_loop_period_ns(r->loop), verdict));
	for (int i = 0; i < TAC_GRANT_COUNT; i++) {
		if (r->granted.grants[i].state == TAC_GRANT_REFUSED) {
			printf("          `tactus doctor` prints the commands that grant what was refused\n");
			break;
		}
	}
}

// ---- JSON ----

static void print_json_summary(const settings *s, const loop_runner *r)
{
	printf("{\n");
	summary_json_machine(&r->machine);
	printf("  \"loop\": {\"rate_hz\": %g, \"seconds\": %g, \"timer\": \"%s\", \"policy\": \"%s\", "
	       "\"spin_us\": %g, \"work_us\": %g, \"load\": %s},\n",
	       s->loop.rate_Hz, s->loop.seconds, tac_timer_kind_name((tac_timer_kind)s->loop.timer),
	       tac_policy_name((tac_policy)s->loop.policy), s->loop.spin_us, s->work_us,
	       s->load ? "true" : "false");
	summary_json_setup(&r->granted);
	summary_json_interrupts(&r->interrupts);
	summary_json(r->stats, r->corrected);
	printf("}\n");
}

// ---- the run ----

static void follow(const settings *s, loop_runner *r)
{
	terminal t = {0};
	const int64_t begin_ns = tac_clock_now_ns();
	do {
		if (terminal_due(&t)) {
			loop_runner_read(r);
			show_progress(&t, s, r->stats, (double)(tac_clock_now_ns() - begin_ns) / 1e9);
		}
	} while (!loop_runner_wait(r, terminal_wait_ms(&t) * TAC_NS_PER_MS));
	terminal_clear(&t);
}

static bool run_probe(const settings *s, loop_runner *r)
{
	load l = {.count = 0};
	if (s->load)
		load_start(&l, r->machine.cpu_count);
	const bool started = loop_runner_start(r);
	if (started) {
		if (!s->json && r->enter_result >= TAC_OK)
			print_setup(s, r);
		follow(s, r);
	}
	const bool good = started && loop_runner_end(r);
	load_stop(&l);
	return good;
}

static bool write_report(const settings *s, loop_runner *r)
{
	report_fact_add(&r->report, "loop", "%g Hz for %g s, %s timer", s->loop.rate_Hz, s->loop.seconds,
			tac_timer_kind_name((tac_timer_kind)s->loop.timer));
	report_fact_add(&r->report, "spin", "%g us before each tick", s->loop.spin_us);
	report_fact_add(&r->report, "work", "%g us in each tick", s->work_us);
	report_fact_add(&r->report, "load", "%s", s->load ? "the other CPUs were kept busy" : "none added");
	const interrupts *found = &r->interrupts;
	for (int i = 0; i < found->count && i < 3; i++)
		report_fact_add(&r->report, i == 0 ? "interrupts" : "", "%llu %s on CPU %d",
				(unsigned long long)found->sources[i].count, found->sources[i].name,
				found->cpu);
	return loop_runner_write_report(r);
}

static int run(settings *s)
{
	probe p = {.work_ns = llround(s->work_us * 1e3)};
	s->loop.tick = tick_probe;
	s->loop.user = &p;
	loop_runner r;
	const int lent = s->file_on_stdout ? standard_output_lend() : -1;
	bool good = loop_runner_open(&s->loop, &r) &&
		    tac_latest_create(sizeof(tac_tick), &p.latest) == TAC_OK && run_probe(s, &r);
	if (good && s->json)
		print_json_summary(s, &r);
	else if (good)
		print_text_summary(&r);
	standard_output_give_back(lent);
	good = good && write_report(s, &r);
	good = loop_runner_close(&r) && good;
	tac_latest_destroy(&p.latest);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_latency(int argc, char **argv)
{
	static const char *const timers[] = {"nanosleep", "signal", "timerfd", NULL};
	settings s = {.loop = loop_runner_def_default("tactus latency", "tac-loop")};
	const char *compared[2] = {NULL, NULL};
	const option_def options[] = {
		{"other", OPTION_OPTIONAL, &compared[1], 0, 0, NULL, "B.json",
		 "with --compare: the second summary"},
		{"compare", OPTION_TEXT, &compared[0], 0, 0, NULL, "A.json",
		 "compare two summaries that --json printed, as in --compare A.json B.json, and exit"},
		LOOP_RUNNER_OPTIONS(&s.loop, "duration in seconds"),
		{"timer", OPTION_CHOICE, &s.loop.timer, 0, 0, timers, NULL, "the timer that wakes the loop"},
		{"spin", OPTION_NUMBER, &s.loop.spin_us, 0, 5000, NULL, "US",
		 "microseconds to spin before each tick, at most half a period "
		 "(default: 100, or half a period if that is less)"},
		{"work", OPTION_NUMBER, &s.work_us, 0, 1e6, NULL, "US",
		 "microseconds to compute in each tick"},
		{"load", OPTION_FLAG, &s.load, 0, 0, NULL, NULL, "keep the other CPUs busy"},
		{"json", OPTION_FLAG, &s.json, 0, 0, NULL, NULL, "print the summary as JSON"},
		{0},
	};
	const command_line line = {s.loop.command,
				   "measure the timing of a periodic loop and the causes of its misses",
				   options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	if (compared[1] && !compared[0]) {
		fprintf(stderr, "tactus latency: arguments: expected no further argument, found '%s'\n",
			compared[1]);
		return EXIT_BAD_INPUT;
	}
	if (compared[0] && !compared[1]) {
		fprintf(stderr, "tactus latency: compare: expected two summaries, found one\n");
		return EXIT_BAD_INPUT;
	}
	if (compared[0])
		return latency_compare(compared[0], compared[1]);
	const char *const files[] = {s.loop.log_path, s.loop.trace_path, s.loop.report_path};
	const output_option outputs[] = {{"log", s.loop.log_path, false},
					 {"trace", s.loop.trace_path, false},
					 {"report", s.loop.report_path, true}};
	if (!options_files_differ(line.command, files, 3) ||
	    !standard_output_wanted(line.command, outputs, 3, s.json, &s.file_on_stdout))
		return EXIT_BAD_INPUT;
	s.loop.spin_us = (double)loop_runner_spin_ns(&s.loop) / 1e3;
	const double half_period_us = 0.5e6 / s.loop.rate_Hz;
	if (s.loop.spin_us > half_period_us) {
		fprintf(stderr, "tactus latency: spin: expected at most half a period (%g us), found '%g'\n",
			half_period_us, s.loop.spin_us);
		return EXIT_BAD_INPUT;
	}
	return run(&s);
}
