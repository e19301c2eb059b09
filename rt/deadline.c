#include "rt/deadline.h"

#include "base/assert.h"
#include "base/log.h"
#include "rt/clock.h"
#include "rt/probe.h"
#include "rt/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// What a minor page fault can cost, in ns: 0.3 µs on a fast machine, 3 µs on a guest, 15 µs on a guest whose
// hypervisor has to find the page, too. The high end, because a real-time tick should have none at all.
#define MINOR_FAULT_NS 20000

// The kernel's running totals for the thread.
typedef struct sample {
	int64_t cpu_ns;
	int64_t run_delay_ns; // -1: unknown
	int64_t voluntary;
	int64_t involuntary;
	int64_t minor_faults;
	int64_t major_faults;
} sample;

struct tac_deadline {
	tac_deadline_def def;
	tac_ring *ring;
	int schedstat_fd;

	sample begin; // of the window
	uint32_t window_ticks;
	uint32_t window_waits;
	uint32_t window_migrations;
	int64_t window_others_ns;
	int32_t cpu; // of the last tick; -1: none yet

	// Written by the real-time thread alone, read by anyone: relaxed, each is only a count.
	_Atomic int64_t ticks;
	_Atomic int64_t misses;
	_Atomic int64_t late;
	_Atomic int64_t skipped;
	_Atomic int32_t thread_id;
};

static void add(_Atomic int64_t *total, int64_t amount)
{
	atomic_store_explicit(total, atomic_load_explicit(total, memory_order_relaxed) + amount,
			      memory_order_relaxed);
}

static int64_t at_least_zero(int64_t value)
{
	return value > 0 ? value : 0;
}

static int64_t at_most(int64_t value, int64_t limit)
{
	return value < limit ? value : limit;
}

// The second number of "cpu_ns run_delay_ns timeslices"; -1 if it is not available.
static int64_t read_run_delay_ns(int fd)
{
	char text[96];
	ssize_t length = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
	if (length <= 0)
		return -1;
	text[length] = '\0';
	const char *second = strchr(text, ' ');
	return second ? strtoll(second, NULL, 10) : -1;
}

static sample take_sample(const tac_deadline *deadline)
{
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	return (sample){
		.cpu_ns = tac_clock_thread_cpu_ns(),
		.run_delay_ns = read_run_delay_ns(deadline->schedstat_fd),
		.voluntary = usage.ru_nvcsw,
		.involuntary = usage.ru_nivcsw,
		.minor_faults = usage.ru_minflt,
		.major_faults = usage.ru_majflt,
	};
}

static void begin_window(tac_deadline *deadline, const sample *now)
{
	deadline->begin = *now;
	deadline->window_ticks = 0;
	deadline->window_waits = 0;
	deadline->window_migrations = 0;
	deadline->window_others_ns = 0;
}

tac_deadline_def tac_deadline_def_default(int64_t period_ns)
{
	return (tac_deadline_def){.compute_budget_ns = period_ns / 2, .records = 4096, .evidence_every = 8};
}

tac_result tac_deadline_create(const tac_deadline_def *def, tac_deadline **out_deadline)
{
	*out_deadline = NULL;
	if (def->compute_budget_ns <= 0 || def->records == 0 || (def->records & (def->records - 1)) != 0 ||
	    def->evidence_every == 0 || def->threshold_ns < 0) {
		tac_log(TAC_LOG_ERROR,
			"deadline: expected a positive budget, a power of two of records, "
			"a sample every 1 or more ticks and a threshold of 0 or more, found %lld ns, %u, %u "
			"and %lld ns",
			(long long)def->compute_budget_ns, def->records, def->evidence_every,
			(long long)def->threshold_ns);
		return TAC_ERROR_ARGUMENT;
	}
	tac_deadline *deadline = calloc(1, sizeof *deadline);
	if (!deadline) {
		tac_log(TAC_LOG_ERROR, "deadline: expected %zu bytes, found no memory", sizeof *deadline);
		return TAC_ERROR_MEMORY;
	}
	deadline->def = *def;
	deadline->schedstat_fd = -1;
	tac_result result = tac_ring_create(def->records, sizeof(tac_tick), &deadline->ring);
	if (result != TAC_OK) {
		free(deadline);
		return result;
	}
	*out_deadline = deadline;
	return TAC_OK;
}

void tac_deadline_destroy(tac_deadline **deadline)
{
	if (!*deadline)
		return;
	tac_deadline_detach(*deadline);
	tac_ring_destroy(&(*deadline)->ring);
	free(*deadline);
	*deadline = NULL;
}

tac_result tac_deadline_attach(tac_deadline *deadline)
{
	TAC_ASSERT(deadline->schedstat_fd < 0);
	deadline->schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	atomic_store_explicit(&deadline->thread_id, (int32_t)gettid(), memory_order_relaxed);
	deadline->cpu = -1;
	sample now = take_sample(deadline);
	begin_window(deadline, &now);
	if (now.run_delay_ns >= 0)
		return TAC_OK;
	tac_log(TAC_LOG_WARNING,
		"deadline: expected run_delay in /proc/thread-self/schedstat, found %s; "
		"late wakes cannot be distinguished from stolen time",
		deadline->schedstat_fd < 0 ? strerror(errno) : "none");
	return TAC_PARTIAL;
}

void tac_deadline_detach(tac_deadline *deadline)
{
	if (deadline->schedstat_fd >= 0)
		close(deadline->schedstat_fd);
	deadline->schedstat_fd = -1;
}

int32_t tac_deadline_thread_id(const tac_deadline *deadline)
{
	return atomic_load_explicit(&deadline->thread_id, memory_order_relaxed);
}

static tac_evidence gather(const tac_deadline *deadline, const sample *now)
{
	const sample *begin = &deadline->begin;
	bool has_run_delay = begin->run_delay_ns >= 0 && now->run_delay_ns >= 0;
	return (tac_evidence){
		.cpu_ns = now->cpu_ns - begin->cpu_ns,
		.run_delay_ns = has_run_delay ? now->run_delay_ns - begin->run_delay_ns : -1,
		.others_ns = deadline->window_others_ns,
		.voluntary =
			(uint32_t)at_least_zero(now->voluntary - begin->voluntary - deadline->window_waits),
		.involuntary = (uint32_t)(now->involuntary - begin->involuntary),
		.minor_faults = (uint32_t)(now->minor_faults - begin->minor_faults),
		.major_faults = (uint32_t)(now->major_faults - begin->major_faults),
		.migrations = deadline->window_migrations,
		.window_ticks = deadline->window_ticks,
	};
}

// Long ticks add more uncertainty, and for them a sample is relatively cheap.
static bool window_is_over(const tac_deadline *deadline)
{
	return deadline->window_ticks >= deadline->def.evidence_every ||
	       deadline->window_others_ns >= deadline->def.compute_budget_ns;
}

// Adds evidence and a cause to a tick that ended after its deadline or, if it met that, after the threshold.
static void explain(tac_deadline *deadline, tac_tick *tick)
{
	const tac_deadline_def *def = &deadline->def;
	const sample now = take_sample(deadline);
	tick->evidence = gather(deadline, &now);
	tac_tick judged = *tick;
	int64_t budget_ns = def->compute_budget_ns;
	if (!tac_tick_missed(tick)) {
		judged.deadline_ns = tick->planned_ns + def->threshold_ns;
		budget_ns = at_most(budget_ns, def->threshold_ns / 2);
	}
	tick->cause = tac_deadline_classify(&judged, budget_ns, &tick->cause_phase);
	begin_window(deadline, &now);
}

static void count_migration(tac_deadline *deadline, tac_tick *tick)
{
	tick->cpu = (int32_t)sched_getcpu(); // no system call
	deadline->window_migrations += deadline->cpu >= 0 && tick->cpu != deadline->cpu;
	deadline->cpu = tick->cpu;
}

void tac_deadline_record(tac_deadline *deadline, tac_tick *tick, uint32_t waits)
{
	const int64_t threshold_ns = deadline->def.threshold_ns;
	deadline->window_ticks++;
	deadline->window_waits += waits;
	count_migration(deadline, tick);
	if (tac_tick_missed(tick)) {
		explain(deadline, tick);
		TAC_PROBE_MISS(tick->index, tick->cause, tick->cause_phase, -tac_tick_slack_ns(tick));
		add(&deadline->misses, 1);
	} else if (threshold_ns > 0 && tick->end_ns - tick->planned_ns > threshold_ns) {
		explain(deadline, tick);
		add(&deadline->late, 1);
	} else {
		deadline->window_others_ns += at_least_zero(tick->end_ns - tick->timer_ns);
		if (window_is_over(deadline)) {
			sample now = take_sample(deadline);
			begin_window(deadline, &now);
		}
	}
	add(&deadline->ticks, 1);
	add(&deadline->skipped, tick->skipped);
	tick->lost_records = (int64_t)tac_ring_refused(deadline->ring);
	tac_ring_push(deadline->ring, tick); // a refusal is counted by the ring
}

bool tac_deadline_read(tac_deadline *deadline, tac_tick *out_tick)
{
	return tac_ring_pop(deadline->ring, out_tick);
}

tac_deadline_totals tac_deadline_read_totals(const tac_deadline *deadline)
{
	return (tac_deadline_totals){
		.ticks = atomic_load_explicit(&deadline->ticks, memory_order_relaxed),
		.misses = atomic_load_explicit(&deadline->misses, memory_order_relaxed),
		.late = atomic_load_explicit(&deadline->late, memory_order_relaxed),
		.skipped = atomic_load_explicit(&deadline->skipped, memory_order_relaxed),
		.lost = (int64_t)tac_ring_refused(deadline->ring),
	};
}

// A quantity known only within bounds.
typedef struct bounds {
	int64_t low;
	int64_t high;
} bounds;

// How long the thread was runnable without running, because of this tick.
static bounds run_delay(const tac_evidence *evidence)
{
	return (bounds){at_least_zero(evidence->run_delay_ns - evidence->others_ns), evidence->run_delay_ns};
}

// Time was lost between the timer's due time and the beginning of the tick.
static tac_cause classify_wake(const tac_tick *tick)
{
	const tac_evidence *evidence = &tick->evidence;
	if (evidence->run_delay_ns < 0)
		return TAC_CAUSE_UNDECIDED;
	bool in_spin = tick->fired_ns <= tick->planned_ns; // the timer was on time, the spin was interrupted
	int64_t lost_ns = tick->wake_ns - (in_spin ? tick->planned_ns : tick->timer_ns);
	bounds delay = run_delay(evidence);
	if (delay.low > lost_ns / 2)
		return in_spin ? TAC_CAUSE_PREEMPTED : TAC_CAUSE_LATE_WAKE;
	if (delay.high <= lost_ns / 2)
		return evidence->voluntary > 0 ? TAC_CAUSE_STOPPED : TAC_CAUSE_STOLEN;
	return TAC_CAUSE_UNDECIDED;
}

// Time was lost between the beginning of the tick and its end.
static tac_cause classify_compute(const tac_tick *tick, int64_t compute_budget_ns, tac_phase phase)
{
	const tac_evidence *evidence = &tick->evidence;
	int64_t compute_ns = tac_tick_compute_ns(tick);
	int64_t lost_ns = compute_ns - compute_budget_ns;
	int64_t spin_ns = tick->wake_ns - tick->fired_ns;
	bounds on_cpu = {at_least_zero(at_most(evidence->cpu_ns - spin_ns - evidence->others_ns, compute_ns)),
			 at_least_zero(at_most(evidence->cpu_ns, compute_ns))};
	bounds off_cpu = {compute_ns - on_cpu.high, compute_ns - on_cpu.low};
	bounds delay = run_delay(evidence);

	if (evidence->minor_faults * (int64_t)MINOR_FAULT_NS > lost_ns / 2 ||
	    (evidence->major_faults > 0 && off_cpu.high > lost_ns / 2))
		return TAC_CAUSE_PAGE_FAULT;
	if (delay.low > lost_ns / 2)
		return TAC_CAUSE_PREEMPTED;
	// Of these phases somebody else's code is the cause, whether it computed or waited.
	const tac_cause foreign = phase == TAC_PHASE_DEVICE_READ || phase == TAC_PHASE_DEVICE_WRITE
					  ? TAC_CAUSE_DEVICE_IO
				  : phase == TAC_PHASE_EFFECTS ? TAC_CAUSE_EFFECT
							       : TAC_CAUSE_NONE;
	if (on_cpu.low - compute_budget_ns > lost_ns / 2)
		return foreign ? foreign : TAC_CAUSE_LONG_COMPUTE;
	if (evidence->run_delay_ns < 0 || off_cpu.low - delay.high <= lost_ns / 2)
		return TAC_CAUSE_UNDECIDED;
	if (evidence->voluntary == 0)
		return TAC_CAUSE_STOLEN;
	return foreign ? foreign : TAC_CAUSE_BLOCKED;
}

static tac_phase longest_phase(const tac_tick *tick)
{
	tac_phase longest = TAC_PHASE_NONE;
	int64_t longest_ns = 0, last_end_ns = tick->wake_ns;
	for (int i = 0; i < TAC_PHASE_COUNT; i++) {
		int64_t phase_ns = tac_tick_phase_ns(tick, (tac_phase)i);
		if (phase_ns > longest_ns) {
			longest_ns = phase_ns;
			longest = (tac_phase)i;
		}
		if (tick->phase_end_ns[i] != 0)
			last_end_ns = tick->phase_end_ns[i];
	}
	return tick->end_ns - last_end_ns > longest_ns ? TAC_PHASE_NONE : longest;
}

tac_cause tac_deadline_classify(const tac_tick *tick, int64_t compute_budget_ns, tac_phase *out_phase)
{
	*out_phase = TAC_PHASE_NONE;
	int64_t late_ns = -tac_tick_slack_ns(tick);
	if (late_ns <= 0)
		return TAC_CAUSE_NONE;
	int64_t lost_in_wake_ns = tac_tick_wake_ns(tick);
	int64_t lost_in_compute_ns = tac_tick_compute_ns(tick) - compute_budget_ns;
	if (lost_in_wake_ns >= lost_in_compute_ns)
		return lost_in_wake_ns >= late_ns ? classify_wake(tick) : TAC_CAUSE_UNDECIDED;
	*out_phase = longest_phase(tick);
	return classify_compute(tick, compute_budget_ns, *out_phase);
}
