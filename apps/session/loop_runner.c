#include "apps/session/loop_runner.h"

#include "base/log.h"
#include "haptic/sco.h"
#include "rt/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const loop_runner_policies[] = {"other", "fifo", "deadline", NULL};

loop_runner_def loop_runner_def_default(const char *command, const char *thread_name)
{
	return (loop_runner_def){
		.command = command,
		.thread_name = thread_name,
		.seconds = 10,
		.rate_Hz = 1000,
		.spin_us = (double)NAN,
		.timer = TAC_TIMER_NANOSLEEP,
		.policy = TAC_POLICY_FIFO,
		.priority = 80,
		.cpu = -1,
	};
}

const char *loop_runner_duration(const loop_runner_def *def, char out[32])
{
	if (isfinite(def->seconds))
		snprintf(out, 32, "for %g s", def->seconds);
	else
		snprintf(out, 32, "until it is stopped");
	return out;
}

int64_t loop_runner_spin_ns(const loop_runner_def *def)
{
	if (!isnan(def->spin_us))
		return llround(def->spin_us * 1e3);
	const int64_t half_period_ns = llround(0.5e9 / def->rate_Hz);
	const int64_t default_ns = tac_loop_def_default().spin_ns;
	return default_ns < half_period_ns ? default_ns : half_period_ns;
}

// ---- threads ----

static void *run_thread(void *user)
{
	loop_runner *r = user;
	r->enter_result = tac_thread_enter(&r->thread, &r->granted);
	sem_post(&r->entered);
	if (r->enter_result >= TAC_OK)
		r->loop_result = tac_loop_run(r->loop, r->def.tick, r->def.user);
	tac_thread_leave(&r->granted);
	sem_post(&r->finished);
	return NULL;
}

// Thread: the monitor's.
static void observe_tick(void *user, const tac_tick *tick)
{
	loop_runner *r = user;
	if (tick->cpu >= 0 && tick->cpu <= LOOP_RUNNER_CPU_MAX)
		r->ticks_on_cpu[tick->cpu]++;
	if (r->def.report_path)
		report_add_tick(&r->report, tick);
	if (r->def.observe)
		r->def.observe(r->def.observer, tick);
}

// ---- set-up ----

static const char *outcome_name(int32_t outcome)
{
	return tac_sco_outcome_name((tac_sco_outcome)outcome);
}

static tac_result create_all(loop_runner *r)
{
	const loop_runner_def *def = &r->def;
	tac_loop_def loop = tac_loop_def_default();
	loop.period_ns = llround(1e9 / def->rate_Hz);
	loop.periods = isfinite(def->seconds) ? llround(fmax(def->seconds * def->rate_Hz, 1.0)) : 0;
	loop.spin_ns = loop_runner_spin_ns(def);
	loop.timer = (tac_timer_kind)def->timer;
	r->thread = tac_thread_def_default();
	r->thread.name = def->thread_name;
	r->thread.policy = (tac_policy)def->policy;
	r->thread.priority = (int)def->priority;
	r->thread.cpu = (int)def->cpu;
	r->thread.period_ns = loop.period_ns;
	r->thread.runtime_ns = loop.period_ns * 4 / 5;

	tac_deadline_def deadline = tac_deadline_def_default(loop.period_ns);
	deadline.threshold_ns = llround(def->threshold_us * 1e3);
	tac_result result = tac_deadline_create(&deadline, &r->deadline);
	loop.deadline = r->deadline;
	if (result == TAC_OK)
		result = tac_loop_create(&loop, &r->loop);
	if (result == TAC_OK && def->trace_path) {
		tac_trace_def trace = tac_trace_def_default();
		trace.path = def->trace_path;
		trace.outcome_name = outcome_name;
		result = tac_trace_create(&trace, &r->trace);
	}
	const tac_monitor_def monitor = {
		.deadline = r->deadline,
		.log_path = def->log_path,
		.watch_rivals = def->rivals,
		.trace = r->trace,
		.on_tick = observe_tick,
		.user = r,
	};
	if (result == TAC_OK)
		result = tac_monitor_create(&monitor, &r->monitor);
	return result;
}

bool loop_runner_open(const loop_runner_def *def, loop_runner *out_runner)
{
	loop_runner *r = out_runner;
	*r = (loop_runner){.def = *def, .machine = machine_describe()};
	sem_init(&r->entered, 0, 0);
	sem_init(&r->finished, 0, 0);
	r->stats = calloc(1, sizeof *r->stats);
	r->corrected = calloc(1, sizeof *r->corrected);
	if (!r->stats || !r->corrected) {
		tac_log(TAC_LOG_ERROR, "%s: expected memory for the statistics, found none", def->command);
		return false;
	}
	// Before the run: a report that cannot be written must not cost an hour of measuring.
	if (def->report_path && tac_output_create(def->report_path, "report", &r->report_output) < TAC_OK)
		return false;
	return report_init(&r->report, def->command) && create_all(r) == TAC_OK;
}

bool loop_runner_start(loop_runner *r)
{
	tac_loop_stop_on_signals();
	r->interrupts_before = interrupts_read();
	if (tac_thread_start(&r->handle, run_thread, r) != TAC_OK)
		return false;
	while (sem_wait(&r->entered) != 0) {
	}
	return true;
}

// ---- during the run and after it ----

bool loop_runner_wait(loop_runner *r, int64_t ns)
{
	const struct timespec until = tac_clock_timespec(tac_clock_now_ns() + ns);
	return sem_clockwait(&r->finished, CLOCK_MONOTONIC, &until) == 0;
}

void loop_runner_read(loop_runner *r)
{
	tac_monitor_read(r->monitor, r->stats);
}

static void count_interrupts(loop_runner *r, const char *after)
{
	int cpu = 0;
	for (int i = 1; i <= LOOP_RUNNER_CPU_MAX; i++)
		cpu = r->ticks_on_cpu[i] > r->ticks_on_cpu[cpu] ? i : cpu;
	interrupts_count(r->interrupts_before, after, r->ticks_on_cpu[cpu] > 0 ? cpu : -1, &r->interrupts);
	r->interrupts.ticks = r->ticks_on_cpu[cpu];
}

bool loop_runner_end(loop_runner *r)
{
	pthread_join(r->handle, NULL);
	char *after = interrupts_read();
	const bool good = r->enter_result >= TAC_OK && r->loop_result >= TAC_OK;
	if (good) {
		tac_monitor_drain(r->monitor);
		loop_runner_read(r);
		tac_histogram_corrected(&r->stats->wake, tac_loop_period_ns(r->loop), r->corrected);
	}
	tac_monitor_destroy(&r->monitor); // and no tick is observed any more
	count_interrupts(r, after);
	free(after);
	return good;
}

bool loop_runner_write_report(loop_runner *r)
{
	if (!r->def.report_path)
		return true;
	r->report.period_ns = tac_loop_period_ns(r->loop);
	r->report.thread = &r->granted;
	r->report.stats = r->stats;
	r->report.wake_corrected = r->corrected;
	return report_write(&r->report, &r->report_output);
}

bool loop_runner_close(loop_runner *r)
{
	tac_monitor_destroy(&r->monitor);
	const bool traced = tac_trace_destroy(&r->trace, NULL) >= TAC_OK;
	tac_loop_destroy(&r->loop);
	tac_deadline_destroy(&r->deadline);
	tac_output_discard(&r->report_output);
	report_fini(&r->report);
	const bool logged = !r->stats || r->stats->log_unwritten == 0; // the monitor has said so
	free(r->interrupts_before);
	free(r->corrected);
	free(r->stats);
	return traced && logged;
}
