#include "rt/loop.h"

#include "base/def.h"
#include "base/log.h"
#include "rt/clock.h"
#include "rt/probe.h"
#include "rt/release.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

// Flags and counters are relaxed throughout: each is independent and guards no other data.
struct tac_loop {
	tac_loop_def def;
	atomic_bool stop;
	atomic_bool running;
	_Atomic uint64_t beats;
};

static atomic_bool signalled;

static void on_signal(int signal)
{
	const bool again = atomic_exchange_explicit(&signalled, true, memory_order_relaxed);
	if (again && signal != SIGHUP) // a terminal that closes can send more than one SIGHUP
		tac_release_and_raise(signal);
}

// An output that is lost must not end a run. An empty handler rather than SIG_IGN, which programs started
// later would inherit.
static void on_lost_output(int signal)
{
	(void)signal;
}

void tac_loop_def_init(tac_loop_def *out_def, size_t bytes)
{
	const tac_loop_def def = {
		.period_ns = TAC_NS_PER_MS,
		.spin_ns = 100 * TAC_NS_PER_US,
		.timer = TAC_TIMER_NANOSLEEP,
	};
	tac_def_fill(out_def, bytes, &def, sizeof def);
}

tac_result tac_loop_create(const tac_loop_def *def, tac_loop **out_loop)
{
	*out_loop = NULL;
	tac_loop_def full = tac_loop_def_default();
	const tac_result known = tac_def_read("loop", def, &full, sizeof full);
	if (known < TAC_OK)
		return known;
	def = &full;
	if (def->period_ns < TAC_LOOP_PERIOD_MIN_NS || def->period_ns > TAC_LOOP_PERIOD_MAX_NS) {
		tac_log(TAC_LOG_ERROR, "loop: expected a period from %lld to %lld ns, found %lld ns",
			(long long)TAC_LOOP_PERIOD_MIN_NS, (long long)TAC_LOOP_PERIOD_MAX_NS,
			(long long)def->period_ns);
		return TAC_ERROR_ARGUMENT;
	}
	// A loop that never sleeps is throttled by the kernel for about 50 ms of every second.
	if (def->spin_ns < 0 || def->spin_ns > def->period_ns / 2) {
		tac_log(TAC_LOG_ERROR,
			"loop: expected a spin from 0 to half of the period (%lld ns), found %lld ns",
			(long long)def->period_ns / 2, (long long)def->spin_ns);
		return TAC_ERROR_ARGUMENT;
	}
	if ((unsigned)def->timer > TAC_TIMER_FD) {
		tac_log(TAC_LOG_ERROR, "loop: expected a timer from 0 to %d, found %d", TAC_TIMER_FD,
			(int)def->timer);
		return TAC_ERROR_ARGUMENT;
	}
	if (def->periods < 0) {
		tac_log(TAC_LOG_ERROR, "loop: expected 0 or more periods, found %lld",
			(long long)def->periods);
		return TAC_ERROR_ARGUMENT;
	}
	tac_loop *loop = calloc(1, sizeof *loop);
	if (!loop) {
		tac_log(TAC_LOG_ERROR, "loop: expected %zu bytes, found no memory", sizeof *loop);
		return TAC_ERROR_MEMORY;
	}
	loop->def = *def;
	*out_loop = loop;
	return TAC_OK;
}

void tac_loop_destroy(tac_loop **loop)
{
	free(*loop);
	*loop = NULL;
}

static bool stopped(const tac_loop *loop)
{
	return atomic_load_explicit(&loop->stop, memory_order_relaxed) || tac_loop_signalled();
}

static int64_t spin_until(int64_t time_ns)
{
	int64_t now_ns;
	do {
		now_ns = tac_clock_now_ns();
	} while (now_ns < time_ns);
	return now_ns;
}

// Whole periods that have passed when a tick planned at `planned_ns` ends at `end_ns`: the next tick is the
// first that is still ahead.
static uint32_t periods_skipped(int64_t planned_ns, int64_t end_ns, int64_t period_ns)
{
	int64_t late_ns = end_ns - (planned_ns + period_ns);
	return late_ns <= 0 ? 0 : (uint32_t)((late_ns + period_ns - 1) / period_ns);
}

tac_result tac_loop_run(tac_loop *loop, tac_loop_fn fn, void *user)
{
	const tac_loop_def *def = &loop->def;
	const int64_t first_ns = def->first_ns > 0 ? def->first_ns : tac_clock_now_ns() + def->period_ns;
	tac_timer timer;
	tac_result result = tac_timer_init(&timer, def->timer, first_ns - def->spin_ns, def->period_ns);
	if (result != TAC_OK)
		return result;
	if (def->deadline)
		tac_deadline_attach(def->deadline);

	for (int64_t index = 0; def->periods == 0 || index < def->periods;) {
		tac_tick tick = {.index = index, .cause_phase = TAC_PHASE_NONE};
		tick.planned_ns = first_ns + index * def->period_ns;
		tick.timer_ns = tick.planned_ns - def->spin_ns;
		tick.deadline_ns = tick.planned_ns + def->period_ns;

		uint32_t waits = tac_timer_wait(&timer, tick.timer_ns);
		tick.fired_ns = tac_clock_now_ns();
		tick.wake_ns = spin_until(tick.planned_ns);
		if (stopped(loop))
			break;
		atomic_store_explicit(&loop->running, true, memory_order_relaxed);
		atomic_fetch_add_explicit(&loop->beats, 1, memory_order_relaxed);
		TAC_PROBE_TICK_START(tick.index, tick.planned_ns);

		fn(user, &tick);

		tick.end_ns = tac_clock_now_ns();
		tick.skipped = periods_skipped(tick.planned_ns, tick.end_ns, def->period_ns);
		if (def->periods > 0 && tick.skipped >= def->periods - index)
			tick.skipped = (uint32_t)(def->periods - index - 1); // the loop ends before the rest
		if (def->deadline)
			tac_deadline_record(def->deadline, &tick, waits);
		index += 1 + (int64_t)tick.skipped;
	}

	atomic_store_explicit(&loop->running, false, memory_order_relaxed);
	if (def->deadline)
		tac_deadline_detach(def->deadline);
	tac_timer_fini(&timer);
	return TAC_OK;
}

void tac_loop_stop(tac_loop *loop)
{
	atomic_store_explicit(&loop->stop, true, memory_order_relaxed);
}

void tac_loop_stop_on_signals(void)
{
	static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
		struct sigaction before;
		sigaction(stops[i], NULL, &before);
		if (before.sa_handler != SIG_IGN || stops[i] == SIGINT || stops[i] == SIGTERM)
			sigaction(stops[i], &action, NULL);
	}
	struct sigaction lost = {.sa_handler = on_lost_output, .sa_flags = SA_RESTART};
	sigemptyset(&lost.sa_mask);
	sigaction(SIGPIPE, &lost, NULL);
	sigaction(SIGXFSZ, &lost, NULL);
}

bool tac_loop_signalled(void)
{
	return atomic_load_explicit(&signalled, memory_order_relaxed);
}

uint64_t tac_loop_beats(const tac_loop *loop)
{
	return atomic_load_explicit(&loop->beats, memory_order_relaxed);
}

bool tac_loop_running(const tac_loop *loop)
{
	return atomic_load_explicit(&loop->running, memory_order_relaxed);
}

int64_t tac_loop_period_ns(const tac_loop *loop)
{
	return loop->def.period_ns;
}
