#include "apps/session/summary.h"

#include "apps/session/json.h"

#include <stdio.h>
#include <string.h>

double summary_us(int64_t ns)
{
	return (double)ns / 1e3;
}

// ---- text ----

void summary_print_machine(const machine *m)
{
	printf("machine   %s, %d CPUs, Linux %s (%s)%s\n", m->cpu, m->cpu_count, m->kernel,
	       m->realtime ? "PREEMPT_RT" : "not PREEMPT_RT", m->hypervisor ? ", under a hypervisor" : "");
}

void summary_print_setup(const tac_thread_report *report)
{
	for (int i = 0; i < TAC_GRANT_COUNT; i++) {
		char line[320];
		tac_thread_report_line(report, (tac_grant_item)i, line, sizeof line);
		printf("%s%s\n", i == 0 ? "set-up    " : "          ", line);
	}
}

static const double percents[] = {50, 90, 99, 99.9, 99.99, 100};
static const char *const percent_names[] = {"p50", "p90", "p99", "p99.9", "p99.99", "max"};
static const char *const percent_keys[] = {"p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "p99_99_ns", "max_ns"};
#define PERCENT_COUNT (sizeof percents / sizeof percents[0])

static void print_row(const char *name, const tac_histogram *histogram)
{
	printf("%-14s", name);
	for (size_t i = 0; i < PERCENT_COUNT; i++)
		printf(" %10.2f", summary_us(tac_histogram_percentile(histogram, percents[i])));
	printf("\n");
}

static void print_causes(const int64_t by_cause[TAC_CAUSE_COUNT], int64_t steal_ns)
{
	for (int i = 0; i < TAC_CAUSE_COUNT; i++) {
		if (by_cause[i] == 0)
			continue;
		printf("  %6lld %s", (long long)by_cause[i], tac_cause_name((tac_cause)i));
		if (i == TAC_CAUSE_STOLEN && steal_ns >= 0)
			printf(" (the kernel counted %lld ms of steal on all CPUs, in steps of 10 ms)",
			       (long long)(steal_ns / 1000000));
		printf("\n");
	}
}

static void print_worst(const tac_monitor_stats *stats, int rank)
{
	const tac_tick *t = &stats->worst[rank];
	printf("  worst %d: tick %lld, ", rank + 1, (long long)t->index);
	if (tac_tick_missed(t))
		printf("%.1f us late, ", summary_us(-tac_tick_slack_ns(t)));
	else
		printf("%.1f us after its plan, ", summary_us(t->end_ns - t->planned_ns));
	printf("%s", tac_cause_name(t->cause));
	if (t->cause_phase != TAC_PHASE_NONE)
		printf(" in %s (%.1f us, usually %.1f)", tac_phase_name(t->cause_phase),
		       summary_us(tac_tick_phase_ns(t, t->cause_phase)),
		       summary_us(tac_histogram_percentile(&stats->phases[t->cause_phase], 50)));
	if (t->rival.ran_ns > 0)
		printf(", while %s ran for %.1f us on CPU %d", t->rival.name, summary_us(t->rival.ran_ns),
		       (int)t->cpu);
	char delay[32] = "unknown";
	if (t->evidence.run_delay_ns >= 0)
		snprintf(delay, sizeof delay, "%.1f", summary_us(t->evidence.run_delay_ns));
	printf("; wake %.1f, compute %.1f, CPU %.1f, run delay %s us in %u tick%s, switches %u+%u, "
	       "faults %u+%u, migrations %u\n",
	       summary_us(tac_tick_wake_ns(t)), summary_us(tac_tick_compute_ns(t)),
	       summary_us(t->evidence.cpu_ns), delay, t->evidence.window_ticks,
	       t->evidence.window_ticks == 1 ? "" : "s", t->evidence.voluntary, t->evidence.involuntary,
	       t->evidence.minor_faults, t->evidence.major_faults, t->evidence.migrations);
}

static void print_rivals(const tac_monitor_stats *stats)
{
	for (int i = 0; i < stats->rival_count; i++)
		printf("%s%s %lld time%s for %.1f us", i == 0 ? "  instead of the loop ran: " : ", ",
		       stats->rivals[i].name, (long long)stats->rivals[i].count,
		       stats->rivals[i].count == 1 ? "" : "s", summary_us(stats->rivals[i].ran_ns));
	if (stats->rival_count > 0)
		printf("\n");
	if (stats->rivals_errno != 0)
		printf("  rivals refused: %s; as root, or: sudo setcap "
		       "cap_perfmon,cap_sys_nice,cap_ipc_lock=ep PROGRAM\n",
		       strerror(stats->rivals_errno));
}

static void print_misses(const tac_monitor_stats *stats)
{
	int64_t explained = 0;
	for (int i = 0; i < TAC_CAUSE_COUNT; i++)
		explained += stats->misses_by_cause[i];
	print_causes(stats->misses_by_cause, stats->steal_ns);
	if (explained < stats->totals.misses)
		printf("  %6lld without a record: the monitor fell behind\n",
		       (long long)(stats->totals.misses - explained));
	if (stats->totals.late > 0) {
		printf("%lld tick%s met the deadline, but not the threshold\n", (long long)stats->totals.late,
		       stats->totals.late == 1 ? "" : "s");
		print_causes(stats->late_by_cause, stats->steal_ns);
	}
	for (int i = 0; i < stats->worst_count && i < 5; i++)
		print_worst(stats, i);
	print_rivals(stats);
}

double summary_sustained_Hz(const tac_monitor_stats *stats)
{
	static const double rates_Hz[] = {10000, 8000, 5000, 4000, 2000, 1000, 500, 250, 100};
	for (size_t i = 0; i < sizeof rates_Hz / sizeof rates_Hz[0]; i++) {
		if ((double)stats->response.max_ns <= 1e9 / rates_Hz[i])
			return rates_Hz[i];
	}
	return 0;
}

const char *summary_verdict(const tac_monitor_stats *stats, int64_t period_ns, char out[SUMMARY_VERDICT])
{
	const double rate_Hz = 1e9 / (double)period_ns, sustained_Hz = summary_sustained_Hz(stats);
	int worst = TAC_CAUSE_NONE;
	for (int i = 0; i < TAC_CAUSE_COUNT; i++) {
		if (stats->misses_by_cause[i] > stats->misses_by_cause[worst])
			worst = i;
	}
	char held[96] = "held without a miss", sustained[64] = "more than a period of 100 Hz";
	if (stats->totals.misses > 0)
		snprintf(held, sizeof held, "missed in %.3g %% of the ticks, mostly by %s",
			 100.0 * (double)stats->totals.misses / (double)stats->totals.ticks,
			 tac_cause_name((tac_cause)worst));
	if (sustained_Hz > 0)
		snprintf(sustained, sizeof sustained, "so this machine sustains %g Hz with this work",
			 sustained_Hz);
	snprintf(out, SUMMARY_VERDICT, "%g Hz %s; the slowest tick took %.1f us from its plan to its end, %s",
		 rate_Hz, held, summary_us(stats->response.max_ns), sustained);
	return out;
}

void summary_print(const machine *m, const tac_monitor_stats *stats, const tac_histogram *corrected)
{
	printf("%-14s", "us");
	for (size_t i = 0; i < PERCENT_COUNT; i++)
		printf(" %10s", percent_names[i]);
	printf("\n");
	print_row("timer", &stats->timer);
	print_row("wake", &stats->wake);
	print_row("wake, c.o.", corrected);
	print_row("compute", &stats->compute);
	for (int i = 0; i < TAC_PHASE_COUNT; i++) {
		char name[32];
		snprintf(name, sizeof name, "  %s", tac_phase_name((tac_phase)i));
		if (stats->phases[i].max_ns > 0)
			print_row(name, &stats->phases[i]);
	}
	print_row("response", &stats->response);
	printf("\n%lld ticks, %lld missed %s deadline, %lld period%s skipped, %lld record%s lost\n",
	       (long long)stats->totals.ticks, (long long)stats->totals.misses,
	       stats->totals.misses == 1 ? "its" : "their", (long long)stats->totals.skipped,
	       stats->totals.skipped == 1 ? "" : "s", (long long)stats->totals.lost,
	       stats->totals.lost == 1 ? "" : "s");
	print_misses(stats);
	if (m->hypervisor && stats->misses_by_cause[TAC_CAUSE_LONG_COMPUTE] > 0)
		printf("  under a hypervisor, CPU time may include stolen time: long compute may mean "
		       "stolen\n"
		       "  if the phase is usually short\n");
	if (stats->log_unwritten > 0)
		printf("  %lld lines could not be written to the log\n", (long long)stats->log_unwritten);
}

void summary_print_interrupts(const interrupts *found, double seconds)
{
	if (found->cpu < 0)
		return;
	printf("interrupts on CPU %d, where %lld tick%s ran: %.0f a second", found->cpu,
	       (long long)found->ticks, found->ticks == 1 ? "" : "s", (double)found->all / seconds);
	for (int i = 0; i < found->count; i++)
		printf("%s%llu %s", i == 0 ? "; " : ", ", (unsigned long long)found->sources[i].count,
		       found->sources[i].name);
	printf("\n");
}

// ---- JSON ----

void summary_json_machine(const machine *m)
{
	printf("  \"machine\": {\"cpu\": \"%s\", \"cpus\": %d, \"kernel\": \"%s\", \"preempt_rt\": %s, "
	       "\"hypervisor\": %s},\n",
	       m->cpu, m->cpu_count, m->kernel, m->realtime ? "true" : "false",
	       m->hypervisor ? "true" : "false");
}

void summary_json_setup(const tac_thread_report *report)
{
	printf("  \"setup\": {");
	for (int i = 0; i < TAC_GRANT_COUNT; i++)
		printf("%s\"%s\": {\"state\": \"%s\", \"errno\": %d}", i ? ", " : "",
		       tac_grant_item_name((tac_grant_item)i), tac_grant_state_name(report->grants[i].state),
		       report->grants[i].error);
	printf("},\n");
}

static void json_histogram(const char *name, const tac_histogram *histogram)
{
	printf("  \"%s\": {\"count\": %llu, \"min_ns\": %lld, \"mean_ns\": %.1f", name,
	       (unsigned long long)histogram->count, (long long)histogram->min_ns,
	       tac_histogram_mean(histogram));
	for (size_t i = 0; i < PERCENT_COUNT; i++)
		printf(", \"%s\": %lld", percent_keys[i],
		       (long long)tac_histogram_percentile(histogram, percents[i]));
	printf(",\n    \"buckets_low_high_count\": [");
	const char *comma = "";
	for (uint32_t i = 0; i < TAC_HISTOGRAM_BUCKETS; i++) {
		int64_t low_ns, high_ns;
		uint64_t count;
		tac_histogram_bucket(histogram, i, &low_ns, &high_ns, &count);
		if (count > 0) {
			printf("%s[%lld, %lld, %llu]", comma, (long long)low_ns, (long long)high_ns,
			       (unsigned long long)count);
			comma = ", ";
		}
	}
	printf("]},\n");
}

static void json_misses(const tac_monitor_stats *stats)
{
	printf("  \"misses_by_cause\": {");
	for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++)
		printf("%s\"%s\": %lld", i > 1 ? ", " : "", tac_cause_name((tac_cause)i),
		       (long long)stats->misses_by_cause[i]);
	printf("},\n  \"worst\": [");
	for (int i = 0; i < stats->worst_count; i++) {
		const tac_tick *t = &stats->worst[i];
		printf("%s\n    {\"tick\": %lld, \"late_ns\": %lld, \"wake_ns\": %lld, \"compute_ns\": %lld, "
		       "\"cause\": \"%s\", \"phase\": \"%s\", \"cpu\": %d, \"migrations\": %u, "
		       "\"rival\": \"%s\", \"rival_ns\": %lld}",
		       i ? "," : "", (long long)t->index, (long long)-tac_tick_slack_ns(t),
		       (long long)tac_tick_wake_ns(t), (long long)tac_tick_compute_ns(t),
		       tac_cause_name(t->cause), tac_phase_name(t->cause_phase), (int)t->cpu,
		       t->evidence.migrations, t->rival.name, (long long)t->rival.ran_ns);
	}
	printf("],\n");
}

static void json_late(const tac_monitor_stats *stats)
{
	printf("  \"late\": %lld, \"late_by_cause\": {", (long long)stats->totals.late);
	for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++)
		printf("%s\"%s\": %lld", i > 1 ? ", " : "", tac_cause_name((tac_cause)i),
		       (long long)stats->late_by_cause[i]);
	printf("},\n  \"kernel_steal_ns\": %lld, \"sustained_hz\": %g, \"rivals\": [",
	       (long long)stats->steal_ns, summary_sustained_Hz(stats));
	for (int i = 0; i < stats->rival_count; i++)
		printf("%s{\"name\": \"%s\", \"count\": %lld, \"ran_ns\": %lld}", i ? ", " : "",
		       stats->rivals[i].name, (long long)stats->rivals[i].count,
		       (long long)stats->rivals[i].ran_ns);
	printf("], \"rivals_errno\": %d,\n", stats->rivals_errno);
}

void summary_json_interrupts(const interrupts *found)
{
	printf("  \"interrupts\": {\"cpu\": %d, \"ticks_on_cpu\": %lld, \"count\": %llu, \"sources\": [",
	       found->cpu, (long long)found->ticks, (unsigned long long)found->all);
	for (int i = 0; i < found->count; i++) {
		printf("%s{\"name\": ", i ? ", " : "");
		json_print_string(stdout, found->sources[i].name);
		printf(", \"count\": %llu}", (unsigned long long)found->sources[i].count);
	}
	printf("]},\n");
}

void summary_json(const tac_monitor_stats *stats, const tac_histogram *corrected)
{
	json_histogram("timer", &stats->timer);
	json_histogram("wake", &stats->wake);
	json_histogram("wake_corrected", corrected);
	json_histogram("compute", &stats->compute);
	json_histogram("response", &stats->response);
	json_misses(stats);
	json_late(stats);
	printf("  \"ticks\": %lld, \"misses\": %lld, \"skipped\": %lld, \"lost_records\": %lld, "
	       "\"log_unwritten\": %lld\n",
	       (long long)stats->totals.ticks, (long long)stats->totals.misses,
	       (long long)stats->totals.skipped, (long long)stats->totals.lost,
	       (long long)stats->log_unwritten);
}
