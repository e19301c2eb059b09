#include "rt/monitor.h"

#include "base/log.h"
#include "rt/clock.h"
#include "rt/rivals.h"
#include "rt/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// How often the thread reads the ring. 4096 records of a 10 kHz loop last 40 times as long.
#define POLL_NS (10 * TAC_NS_PER_MS)

#define LOG_HEADER                                                                                           \
	"tick,planned_ns,wake_ns,compute_ns,late_ns,skipped,cause,phase,cpu_ns,run_delay_ns,"                \
	"others_ns,voluntary,involuntary,minor_faults,major_faults,window_ticks,cpu,migrations,rival,"       \
	"rival_ns\n"

struct tac_monitor {
	tac_monitor_def def;
	int log_fd;
	tac_rivals *rivals;     // NULL: not watched
	int64_t steal_begin_ns; // the kernel's count at create
	pthread_t thread;
	atomic_bool stop;
	_Atomic uint64_t rounds; // completed passes over the ring
	pthread_mutex_t mutex;   // guards stats, between slow threads only
	tac_monitor_stats stats;
};

static void write_log(tac_monitor *monitor, const char *line)
{
	size_t length = strlen(line);
	ssize_t written = write(monitor->log_fd, line, length);
	if (written == (ssize_t)length)
		return;
	// A file that takes part of a line is as full as one that takes none of it.
	const int error = written < 0 ? errno : ENOSPC;
	pthread_mutex_lock(&monitor->mutex);
	const bool first = monitor->stats.log_unwritten++ == 0;
	if (first)
		monitor->stats.log_error = error;
	pthread_mutex_unlock(&monitor->mutex);
	if (first)
		tac_log(TAC_LOG_WARNING, "monitor: expected to write %s, found %s; misses are still counted",
			monitor->def.log_path, strerror(error));
}

static void log_miss(tac_monitor *monitor, const tac_tick *tick)
{
	const tac_evidence *evidence = &tick->evidence;
	char line[512];
	snprintf(line, sizeof line,
		 "%lld,%lld,%lld,%lld,%lld,%u,%s,%s,%lld,%lld,%lld,%u,%u,%u,%u,%u,%d,%u,%s,%lld\n",
		 (long long)tick->index, (long long)tick->planned_ns, (long long)tac_tick_wake_ns(tick),
		 (long long)tac_tick_compute_ns(tick), (long long)-tac_tick_slack_ns(tick), tick->skipped,
		 tac_cause_name(tick->cause), tac_phase_name(tick->cause_phase), (long long)evidence->cpu_ns,
		 (long long)evidence->run_delay_ns, (long long)evidence->others_ns, evidence->voluntary,
		 evidence->involuntary, evidence->minor_faults, evidence->major_faults,
		 evidence->window_ticks, (int)tick->cpu, evidence->migrations, tick->rival.name,
		 (long long)tick->rival.ran_ns);
	write_log(monitor, line);
}

// Keeps the worst misses sorted, worst first; equal ones in order of time.
static void keep_worst(tac_monitor_stats *stats, const tac_tick *tick)
{
	int place = stats->worst_count;
	while (place > 0 && tac_tick_slack_ns(tick) < tac_tick_slack_ns(&stats->worst[place - 1]))
		place--;
	if (place == TAC_MONITOR_WORST)
		return;
	int moved = stats->worst_count - place;
	if (stats->worst_count == TAC_MONITOR_WORST)
		moved--;
	else
		stats->worst_count++;
	memmove(&stats->worst[place + 1], &stats->worst[place], (size_t)moved * sizeof *tick);
	stats->worst[place] = *tick;
}

static bool has_cause(const tac_tick *tick)
{
	return tac_tick_missed(tick) || tick->cause != TAC_CAUSE_NONE;
}

// A full table gives up the name that ran least, if the new one already ran longer.
static void count_rival(tac_monitor_stats *stats, const tac_rival *rival)
{
	int i = 0, least = 0;
	for (; i < stats->rival_count && strcmp(stats->rivals[i].name, rival->name) != 0; i++) {
		if (stats->rivals[i].ran_ns < stats->rivals[least].ran_ns)
			least = i;
	}
	const bool is_new = i == stats->rival_count;
	if (i == TAC_MONITOR_RIVALS) {
		if (rival->ran_ns <= stats->rivals[least].ran_ns)
			return;
		i = least;
	} else if (is_new) {
		stats->rival_count++;
	}
	if (is_new) {
		stats->rivals[i] = (tac_monitor_rival){0};
		memcpy(stats->rivals[i].name, rival->name, sizeof rival->name);
	}
	stats->rivals[i].count++;
	stats->rivals[i].ran_ns += rival->ran_ns;
}

static void count(tac_monitor_stats *stats, const tac_tick *tick)
{
	stats->records++;
	tac_histogram_record(&stats->timer, tick->fired_ns - tick->timer_ns);
	tac_histogram_record(&stats->wake, tac_tick_wake_ns(tick));
	tac_histogram_record(&stats->compute, tac_tick_compute_ns(tick));
	tac_histogram_record(&stats->response, tick->end_ns - tick->planned_ns);
	for (int i = 0; i < TAC_PHASE_COUNT; i++) {
		if (tick->phase_end_ns[i] != 0)
			tac_histogram_record(&stats->phases[i], tac_tick_phase_ns(tick, (tac_phase)i));
	}
	if (!has_cause(tick))
		return;
	if (tac_tick_missed(tick))
		stats->misses_by_cause[tick->cause]++;
	else
		stats->late_by_cause[tick->cause]++;
	keep_worst(stats, tick);
	if (tick->rival.ran_ns > 0)
		count_rival(stats, &tick->rival);
}

// Who ran while the loop waited: before a late wake until the wake, in a preempted tick until its end.
static void find_rival(tac_monitor *monitor, tac_tick *tick)
{
	if (!monitor->rivals || (tick->cause != TAC_CAUSE_LATE_WAKE && tick->cause != TAC_CAUSE_PREEMPTED))
		return;
	const bool waking = tick->cause_phase == TAC_PHASE_NONE;
	tac_rivals_find(monitor->rivals, tick->cpu, waking ? tick->timer_ns : tick->wake_ns,
			waking ? tick->wake_ns : tick->end_ns, tac_deadline_thread_id(monitor->def.deadline),
			&tick->rival);
}

static void drain_ring(tac_monitor *monitor)
{
	tac_tick tick;
	if (monitor->rivals)
		tac_rivals_read(monitor->rivals);
	while (tac_deadline_read(monitor->def.deadline, &tick)) {
		find_rival(monitor, &tick);
		pthread_mutex_lock(&monitor->mutex);
		count(&monitor->stats, &tick);
		pthread_mutex_unlock(&monitor->mutex);
		// Not under the mutex: a file may block, and a reader of the statistics must not.
		if (monitor->log_fd >= 0 && has_cause(&tick))
			log_miss(monitor, &tick);
		if (monitor->def.trace)
			tac_trace_tick(monitor->def.trace, &tick);
		if (monitor->def.on_tick)
			monitor->def.on_tick(monitor->def.user, &tick);
	}
	atomic_fetch_add(&monitor->rounds, 1);
}

static void *monitor_thread(void *user)
{
	tac_monitor *monitor = user;
	pthread_setname_np(pthread_self(), "tac-monitor");
	if (monitor->log_fd >= 0)
		write_log(monitor, LOG_HEADER);
	while (!atomic_load(&monitor->stop)) {
		drain_ring(monitor);
		tac_clock_sleep_until_ns(tac_clock_now_ns() + POLL_NS);
	}
	drain_ring(monitor);
	return NULL;
}

// Not blocking: a pipe that nobody reads must not keep the records in the ring.
static tac_result open_log(tac_monitor *monitor)
{
	monitor->log_fd = -1;
	const char *path = monitor->def.log_path;
	if (!path)
		return TAC_OK;
	monitor->log_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
	if (monitor->log_fd >= 0)
		return TAC_OK;
	tac_log(TAC_LOG_ERROR, "monitor: expected to open %s for the log of misses, found %s", path,
		strerror(errno));
	return TAC_ERROR_IO;
}

// The time that the hypervisor has stolen from all CPUs, by the eighth number of the line "cpu" of
// /proc/stat; -1: unknown.
static int64_t read_steal_ns(void)
{
	long long ticks;
	FILE *file = fopen("/proc/stat", "re");
	const int found = file ? fscanf(file, "cpu %*s %*s %*s %*s %*s %*s %*s %lld", &ticks) : 0;
	if (file)
		fclose(file);
	return found == 1 ? ticks * (TAC_NS_PER_S / sysconf(_SC_CLK_TCK)) : -1;
}

static void free_monitor(tac_monitor *monitor)
{
	tac_rivals_destroy(&monitor->rivals);
	if (monitor->log_fd >= 0)
		close(monitor->log_fd);
	pthread_mutex_destroy(&monitor->mutex);
	free(monitor);
}

tac_result tac_monitor_create(const tac_monitor_def *def, tac_monitor **out_monitor)
{
	*out_monitor = NULL;
	tac_monitor *monitor = calloc(1, sizeof *monitor);
	if (!monitor) {
		tac_log(TAC_LOG_ERROR, "monitor: expected %zu bytes, found no memory", sizeof *monitor);
		return TAC_ERROR_MEMORY;
	}
	monitor->def = *def;
	pthread_mutex_init(&monitor->mutex, NULL);
	monitor->steal_begin_ns = read_steal_ns();
	if (def->watch_rivals && tac_rivals_create(&monitor->rivals) != TAC_OK)
		monitor->stats.rivals_errno = errno;
	tac_result result = open_log(monitor);
	if (result == TAC_OK)
		result = tac_thread_start(&monitor->thread, monitor_thread, monitor);
	if (result == TAC_OK)
		*out_monitor = monitor;
	else
		free_monitor(monitor);
	return result;
}

void tac_monitor_destroy(tac_monitor **monitor)
{
	if (!*monitor)
		return;
	atomic_store(&(*monitor)->stop, true);
	pthread_join((*monitor)->thread, NULL);
	free_monitor(*monitor);
	*monitor = NULL;
}

void tac_monitor_read(tac_monitor *monitor, tac_monitor_stats *out_stats)
{
	pthread_mutex_lock(&monitor->mutex);
	*out_stats = monitor->stats;
	pthread_mutex_unlock(&monitor->mutex);
	out_stats->totals = tac_deadline_read_totals(monitor->def.deadline);
	const int64_t steal_ns = read_steal_ns();
	out_stats->steal_ns =
		steal_ns >= 0 && monitor->steal_begin_ns >= 0 ? steal_ns - monitor->steal_begin_ns : -1;
}

void tac_monitor_drain(tac_monitor *monitor)
{
	// The current pass may have begun before the call; the one after it did not.
	uint64_t enough = atomic_load(&monitor->rounds) + 2;
	while (atomic_load(&monitor->rounds) < enough)
		tac_clock_sleep_until_ns(tac_clock_now_ns() + POLL_NS / 4);
}
