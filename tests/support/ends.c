#include "tests/support/ends.h"

#include "base/log.h"
#include "devices/keeper/messages.h"
#include "devices/registry.h"
#include "rt/clock.h"
#include "tests/support/limits.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

#define MS               TAC_NS_PER_MS
#define LIMIT_MS         60000 // for what has no promised time; only a failure takes so long
#define FORCE_N          3
#define HOG_MS           900 // at most, below the 950 ms after which the kernel interrupts real-time threads
#define REAL_TIME_SIGNAL 40  // any from SIGRTMIN to SIGRTMAX, which are no constants
#define TRIES            3   // to open the device: without its priority a keeper may be held up for 100 ms
#define HOLD_MS          20  // TAC_KEEPER_HOLD_NS
// Bytes of the shared memory: the three slots of the orders, behind their index (devices/keeper/channel.c).
#define ORDERS_INDEX 128
#define ORDERS_BEGIN 192
#define ORDERS_END   768
#define ORDER_FRESH  4u // in the index
// Commands with a force after the event, for each that the driver sends in 1 ms: those of the promised time,
// those in flight, and as many again. This holds on any machine: a keeper that is held up sends fewer.
#define FORCED_MAX(promised_ms) (2 * ((uint64_t)(promised_ms) + 5))
// The promised time to zero is checked in sleeps of this process of 1 ms, which take longer where the machine
// is busy: ten times the promise, and not less than this.
#define SLEEPS_MIN 500

const end_way end_ways[] = {
	{.name = "SIGTERM", .runtime_first = SIGTERM},
	{.name = "SIGKILL, as out of memory", .runtime_first = SIGKILL},
	{.name = "SIGSEGV", .runtime_first = SIGSEGV, .rarely = true},
	{.name = "SIGSTOP", .runtime_first = SIGSTOP},
	{.name = "SIGTSTP, as Ctrl-Z", .runtime_first = SIGTSTP, .rarely = true},
	{.name = "SIGHUP", .runtime_first = SIGHUP, .rarely = true},
	{.name = "SIGINT", .runtime_first = SIGINT, .rarely = true},
	{.name = "SIGQUIT", .runtime_first = SIGQUIT, .rarely = true},
	{.name = "SIGILL", .runtime_first = SIGILL, .rarely = true},
	{.name = "SIGABRT", .runtime_first = SIGABRT, .rarely = true},
	{.name = "SIGBUS", .runtime_first = SIGBUS, .rarely = true},
	{.name = "SIGFPE", .runtime_first = SIGFPE, .rarely = true},
	{.name = "SIGPIPE", .runtime_first = SIGPIPE, .rarely = true},
	{.name = "SIGALRM", .runtime_first = SIGALRM, .rarely = true},
	{.name = "SIGUSR1", .runtime_first = SIGUSR1, .rarely = true},
	{.name = "SIGUSR2", .runtime_first = SIGUSR2, .rarely = true},
	{.name = "SIGTRAP", .runtime_first = SIGTRAP, .rarely = true},
	{.name = "SIGSYS", .runtime_first = SIGSYS, .rarely = true},
	{.name = "SIGIO", .runtime_first = SIGIO, .rarely = true},
	{.name = "SIGPROF", .runtime_first = SIGPROF, .rarely = true},
	{.name = "SIGVTALRM", .runtime_first = SIGVTALRM, .rarely = true},
	{.name = "SIGTTIN, stops as Ctrl-Z", .runtime_first = SIGTTIN, .rarely = true},
	{.name = "SIGTTOU, stops as Ctrl-Z", .runtime_first = SIGTTOU, .rarely = true},
	{.name = "SIGXFSZ, as a limit of size", .runtime_first = SIGXFSZ, .rarely = true},
	{.name = "a real-time signal", .runtime_first = REAL_TIME_SIGNAL, .rarely = true},
	{.name = "SIGXCPU, as a limit of time", .runtime_first = SIGXCPU, .rarely = true},
	{.name = "limit of real-time CPU time", .action = END_SPEND_RT_TIME},
	{.name = "limit of CPU time", .action = END_SPEND_CPU_TIME, .rarely = true},
	{.name = "SIGKILL, every CPU occupied", .runtime_first = SIGKILL, .hog = true},
	{.name = "SIGSTOP, every CPU occupied", .runtime_first = SIGSTOP, .hog = true, .rarely = true},
	{.name = "waits for a vfork", .action = END_VFORK, .rarely = true},
	{.name = "exit", .action = END_EXIT, .rarely = true},
	{.name = "abort", .action = END_ABORT, .rarely = true},
	{.name = "another program", .action = END_EXECUTE},
	{.name = "closed", .action = END_CLOSE},
	{.name = "switched off", .action = END_SWITCH_OFF, .rarely = true},
	{.name = "no orders", .action = END_NO_ORDERS},
	{.name = "garbage over the shared memory", .action = END_SPOIL_MEMORY, .must_lose = true},
	{.name = "garbage over the index", .action = END_SPOIL_INDEX, .must_lose = true, .rarely = true},
	{.name = "garbage over the orders", .action = END_SPOIL_ORDERS, .must_lose = true, .rarely = true},
	{.name = "descriptors closed", .action = END_CLOSE_FILES, .must_lose = true, .rarely = true},
	{.name = "NaN", .action = END_SEND_NAN},
	{.name = "too large", .action = END_SEND_TOO_LARGE},
	{.name = "killed, a fork lives", .prepare = END_FORK, .runtime_first = SIGKILL},
	{.name = "runtime in a debugger", .trace_runtime = true},
	{.name = "keeper in a debugger",
	 .trace_keeper = true,
	 .must_lose = true,
	 .within_ms = 300,
	 .rarely = true},
	{.name = "guard in a debugger",
	 .trace_guard = true,
	 .must_lose = true,
	 .rarely = true,
	 .within_ms = 1100},
	{.name = "device hangs", .hang = true, .must_lose = true, .rarely = true, .within_ms = 1200},
	{.name = "unplugged for a moment", .unplug = true, .must_lose = true, .within_ms = 300},
	{.name = "keeper killed", .keeper = SIGKILL, .must_lose = true, .within_ms = 200},
	{.name = "keeper crashed", .keeper = SIGSEGV, .must_lose = true, .rarely = true, .within_ms = 200},
	{.name = "keeper stopped", .keeper = SIGSTOP, .must_lose = true, .within_ms = 300},
	{.name = "guard killed", .guard = SIGKILL, .must_lose = true},
	{.name = "guard stopped", .guard = SIGSTOP, .must_lose = true, .within_ms = 1100},
	{.name = "guard and keeper killed",
	 .guard = SIGKILL,
	 .keeper = SIGKILL,
	 .must_lose = true,
	 .within_ms = 300},
	{.name = "the same, children ignored",
	 .prepare = END_IGNORE_CHILDREN,
	 .guard = SIGKILL,
	 .keeper = SIGKILL,
	 .within_ms = 300,
	 .must_lose = true},
	{.name = "the same, no descriptors left",
	 .prepare = END_USE_UP_FILES,
	 .guard = SIGKILL,
	 .keeper = SIGKILL,
	 .within_ms = 300,
	 .must_lose = true,
	 .rarely = true},
	{.name = "the same, and who lets go",
	 .guard = SIGKILL,
	 .keeper = SIGKILL,
	 .let_go = SIGKILL,
	 .within_ms = 500,
	 .must_lose = true,
	 .rarely = true},
	{.name = "the same, who lets go stopped",
	 .guard = SIGKILL,
	 .keeper = SIGKILL,
	 .let_go = SIGSTOP,
	 .within_ms = 500,
	 .must_lose = true,
	 .rarely = true},
	{.name = "guard and keeper stopped",
	 .guard = SIGSTOP,
	 .keeper = SIGSTOP,
	 .must_lose = true,
	 .within_ms = 800},
	{.name = "guard stopped, keeper killed",
	 .guard = SIGSTOP,
	 .keeper = SIGKILL,
	 .must_lose = true,
	 .within_ms = 300},
	{.name = "guard killed, keeper stopped",
	 .guard = SIGKILL,
	 .keeper = SIGSTOP,
	 .must_lose = true,
	 .within_ms = 300,
	 .rarely = true},
	{.name = "runtime and keeper killed", .runtime_first = SIGKILL, .keeper = SIGKILL, .within_ms = 200},
	{.name = "keeper and runtime killed",
	 .keeper = SIGKILL,
	 .runtime_last = SIGKILL,
	 .within_ms = 200,
	 .rarely = true},
	{.name = "runtime and guard killed", .runtime_first = SIGKILL, .guard = SIGKILL, .rarely = true},
	{.name = "runtime killed, keeper stopped",
	 .runtime_first = SIGKILL,
	 .keeper = SIGSTOP,
	 .within_ms = 300},
	{.name = "runtime killed, guard stopped", .runtime_first = SIGKILL, .guard = SIGSTOP, .rarely = true},
	{.name = "runtime stopped, keeper killed",
	 .runtime_first = SIGSTOP,
	 .keeper = SIGKILL,
	 .within_ms = 200,
	 .rarely = true},
	{.name = "runtime stopped, guard killed", .runtime_first = SIGSTOP, .guard = SIGKILL, .rarely = true},
	{.name = "runtime and guard stopped", .runtime_first = SIGSTOP, .guard = SIGSTOP, .rarely = true},
	{.name = "runtime and keeper stopped",
	 .runtime_first = SIGSTOP,
	 .keeper = SIGSTOP,
	 .rarely = true,
	 .within_ms = 300},
	{.name = "both stopped, runtime killed",
	 .guard = SIGSTOP,
	 .keeper = SIGSTOP,
	 .runtime_last = SIGKILL,
	 .within_ms = 300},
	{0},
};

static void sleep_ms(uint32_t ms)
{
	tac_clock_sleep_until_ns(tac_clock_now_ns() + ms * MS);
}

// ---- the process that plays the runtime ----

static motors_file *file;

static unsigned char *shared; // the memory that the runtime and the keeper share
static size_t shared_bytes;

static void find_shared(void)
{
	char line[PATH_MAX];
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof line, maps)) {
		unsigned long begin, end;
		if (strstr(line, "memfd:tactus-keeper") && sscanf(line, "%lx-%lx", &begin, &end) == 2) {
			shared = (unsigned char *)begin; // NOLINT: an address in text
			shared_bytes = end - begin;
		}
	}
	if (maps)
		fclose(maps);
}

// Random bytes over a part of it.
static void spoil(size_t from, size_t to)
{
	tac_rng rng = tac_rng_seed((uint64_t)tac_clock_now_ns(), 1);
	for (size_t i = from; i < to && i < shared_bytes; i++)
		shared[i] = (unsigned char)tac_rng_below(&rng, 256);
}

// Sends a damaged order.
static void send_garbage(void)
{
	spoil(ORDERS_BEGIN, ORDERS_END);
	if (shared)
		atomic_fetch_or((_Atomic uint32_t *)(shared + ORDERS_INDEX), ORDER_FRESH);
}

static void wait_for_ever(void)
{
	for (;;)
		pause();
}

static void fork_and_forget(void)
{
	const pid_t child = fork();
	atomic_store(&file->child,
		     child ? child : getpid()); // whoever comes first: the parent may be killed here
	if (child == 0)
		wait_for_ever();
}

// Occupies the calling thread's CPU without a pause until a limit kills the process. It must be killed, not
// only asked: SIGXCPU is ignored.
static void spend_time(tac_device *device, int limit, rlim_t amount)
{
	const struct rlimit at_once = {amount, amount};
	const struct sched_param lowest = {.sched_priority = 1};
	signal(SIGXCPU, SIG_IGN);
	if ((limit == RLIMIT_RTTIME && sched_setscheduler(0, SCHED_FIFO, &lowest) != 0) ||
	    setrlimit((__rlimit_resource_t)limit, &at_once) != 0) {
		atomic_store(&file->refused, 1);
		return;
	}
	const tac_wrench wrench = {.force_N = {0, FORCE_N, 0}};
	for (;;)
		device->write(device, tac_clock_now_ns(), &wrench);
}

// The parent goes on when the child ends or becomes another program.
static void wait_for_vfork(void)
{
	const pid_t child = vfork(); // NOLINT: this is about the parent, which is suspended
	if (child == 0) {
		atomic_store(&file->child, getpid());
		for (;;)
			pause();
	}
}

// Acts once.
static void act(end_action what, tac_device **device)
{
	char program[] = "sleep", forever[] = "1000";
	char *const arguments[] = {program, forever, NULL};
	switch (what) {
	case END_EXIT:
		exit(0);
	case END_ABORT:
		abort();
	case END_EXECUTE:
		execvp(program, arguments);
		_exit(1);
	case END_CLOSE:
		tac_device_destroy(device);
		atomic_store(&file->closed, 1);
		wait_for_ever();
		break;
	case END_SWITCH_OFF:
		tac_device_enable(*device, false);
		break;
	case END_SEND_TOO_LARGE:
		(*device)->info.max_force_N = 1000; // the runtime's own limit has failed
		break;
	case END_NO_ORDERS:
		wait_for_ever();
		break;
	case END_SPOIL_MEMORY:
		spoil(0, SIZE_MAX);
		break;
	case END_SPOIL_INDEX:
		spoil(0, 256);
		break;
	case END_CLOSE_FILES:
		closefrom(3);
		break;
	case END_FORK:
		fork_and_forget();
		break;
	case END_IGNORE_CHILDREN:
		signal(SIGCHLD, SIG_IGN);
		break;
	case END_USE_UP_FILES:
		while (dup(0) >= 0) {
		}
		break;
	case END_VFORK:
		wait_for_vfork();
		break;
	case END_SPEND_RT_TIME:
		spend_time(*device, RLIMIT_RTTIME, 50000); // µs
		break;
	case END_SPEND_CPU_TIME:
		spend_time(*device, RLIMIT_CPU, 1); // s
		break;
	default:
		break;
	}
}

static tac_wrench wrench_of(end_action what, double max_force_N)
{
	const double y = what == END_SEND_NAN         ? (double)NAN
			 : what == END_SEND_TOO_LARGE ? max_force_N + 0.1
						      : FORCE_N;
	return (tac_wrench){.force_N = {0, y, 0}};
}

static void keep_line(void *user, tac_log_level level, const char *message)
{
	(void)user;
	(void)level;
	snprintf(file->logged, sizeof file->logged, "%s", message);
}

bool end_is_runtime(int argc, char **argv)
{
	return argc > 4 && strcmp(argv[1], "play-runtime") == 0;
}

int end_play_runtime(char **argv)
{
	const tac_open_def def = {.keeper = *argv[4] ? argv[4] : NULL, .firmware = argv[5]};
	const struct rlimit no_core = {0, 0}, few_files = {256, 256};
	tac_device *device;
	file = motors_map(argv[2]);
	if (!file)
		return 1;
	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_NOFILE, &few_files);
	tac_log_set(keep_line, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (tac_registry_open(argv[3], &def, &device) < TAC_OK)
		return 1;
	const double max_force_N = device->info.max_force_N;
	find_shared();
	tac_device_enable(device, true);
	int64_t next_ns = tac_clock_now_ns();
	end_action last = END_GO_ON;
	for (uint64_t tick = 0;;) {
		const int64_t now_ns = tac_clock_now_ns();
		const end_action now = (end_action)atomic_load(&file->action);
		const tac_wrench wrench = wrench_of(now, max_force_N);
		tac_device_state state;
		if (now != last) {
			if (now != END_GO_ON)
				atomic_store(&file->forced_before, atomic_load(&file->forced));
			atomic_store(&file->done, now);
			act(now, &device);
			last = now;
		}
		if (tac_device_read(device, now_ns, &state) == TAC_DEVICE_LOST)
			atomic_store(&file->lost, 1);
		tac_device_set_gripper(device, wrench.force_N.y == 0 ? 0 : 1);
		if (now == END_SPOIL_ORDERS && tick++ % 2 == 0)
			send_garbage();
		else
			device->write(device, now_ns, &wrench); // unchecked: this runtime has gone wrong
		next_ns += MS;
		if (next_ns < now_ns) // held up: as rt/loop.h, it skips periods and sends no burst of orders
			next_ns = now_ns + MS;
		tac_clock_sleep_until_ns(next_ns);
	}
}

// ---- the test's side ----

static bool sleep_before(int64_t end_ns)
{
	sleep_ms(1);
	return tac_clock_now_ns() < end_ns;
}

// Waits until the condition is true, at most for the limit.
#define WAIT_UNTIL(condition)                                                                                \
	do {                                                                                                 \
		const int64_t wait_end_ns = tac_clock_now_ns() + LIMIT_MS * MS;                              \
		while (!(condition) && sleep_before(wait_end_ns)) {                                          \
		}                                                                                            \
	} while (0)

static char failure[320];

__attribute__((format(printf, 1, 2))) static const char *fail(const char *format, ...)
{
	va_list rest;
	va_start(rest, format);
	vsnprintf(failure, sizeof failure, format, rest);
	va_end(rest);
	return failure;
}

bool end_bench_open(end_bench *bench, const char *folder)
{
	snprintf(bench->file_name, sizeof bench->file_name, "%s/tactus-motors-XXXXXX", folder);
	const int fd = mkstemp(bench->file_name);
	const bool sized = fd >= 0 && ftruncate(fd, sizeof *bench->file) == 0;
	if (fd >= 0)
		close(fd);
	bench->file = sized ? motors_map(bench->file_name) : NULL;
	setenv(MOTORS_VARIABLE, bench->file_name, 1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return bench->file != NULL;
}

void end_bench_close(end_bench *bench)
{
	munmap(bench->file, sizeof *bench->file);
	unlink(bench->file_name);
}

// Whether a process exists. Those that have ended are collected, also the children of a dead runtime.
static bool exists(pid_t pid)
{
	while (waitpid(-1, NULL, WNOHANG) > 0) {
	}
	return pid > 0 && kill(pid, 0) == 0;
}

pid_t end_child_of(pid_t parent, const char *name)
{
	glob_t processes;
	pid_t found = 0;
	if (glob("/proc/[0-9]*/stat", 0, NULL, &processes) != 0)
		return 0;
	for (size_t i = 0; i < processes.gl_pathc; i++) {
		char process_name[32], state;
		int pid, its_parent;
		FILE *stat = fopen(processes.gl_pathv[i], "re");
		if (stat &&
		    fscanf(stat, "%d (%31[^)]) %c %d", &pid, process_name, &state, &its_parent) == 4 &&
		    its_parent == parent && state != 'Z' && strcmp(process_name, name) == 0)
			found = pid;
		if (stat)
			fclose(stat);
	}
	globfree(&processes);
	return found;
}

static bool motors_are_zero(const end_bench *bench)
{
	return atomic_load(&bench->file->motors) == 0;
}

// A driver that misses reports on a busy machine commands zero for a tick or two: that is no end.
static bool motors_stay_at_zero(const end_bench *bench)
{
	return motors_are_zero(bench) && tac_clock_now_ns() - atomic_load(&bench->file->zero_ns) > 30 * MS;
}

void end_spawn_runtime(end_bench *bench, end_processes *out_processes)
{
	char name[] = "ends", role[] = "play-runtime", selection[256], keeper[PATH_MAX], firmware[PATH_MAX];
	snprintf(selection, sizeof selection, "%s", bench->selection);
	snprintf(keeper, sizeof keeper, "%s", bench->keeper ? bench->keeper : "");
	snprintf(firmware, sizeof firmware, "%s", bench->firmware ? bench->firmware : "");
	char *const arguments[] = {
		name, role, bench->file_name, selection, keeper, bench->firmware ? firmware : NULL, NULL};
	*out_processes = (end_processes){0};
	memset(bench->file, 0, sizeof *bench->file);
	// A group of its own: SIGTSTP does not stop a process of a group that no other process of its session
	// has started.
	posix_spawnattr_t attributes;
	sigset_t all; // nohup ignores SIGHUP, and a shell SIGINT and SIGQUIT of what runs in the background
	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawn(&out_processes->runtime, "/proc/self/exe", NULL, &attributes, arguments, environ);
	posix_spawnattr_destroy(&attributes);
}

static const char *start_once(end_bench *bench, end_processes *p)
{
	motors_file *f = bench->file;
	end_spawn_runtime(bench, p);
	// A machine under load may take long to start three programs and to home the device.
	WAIT_UNTIL(!motors_are_zero(bench) || !exists(p->runtime) || atomic_load(&f->lost));
	if (motors_are_zero(bench))
		return fail("no force in the motors; runtime %s, device %s; last line: %s",
			    exists(p->runtime) ? "runs" : "ended",
			    atomic_load(&f->lost) ? "lost" : "not lost", f->logged);
	p->guard = end_child_of(p->runtime, TAC_GUARD_NAME);
	p->keeper = end_child_of(p->guard, TAC_KEEPER_NAME);
	return p->guard && p->keeper ? NULL : "no guard or no keeper";
}

const char *end_start(end_bench *bench, end_processes *p)
{
	bench->starts++;
	const char *wrong = start_once(bench, p);
	for (int i = 1; wrong && i < (bench->tries > 0 ? bench->tries : TRIES); i++) {
		bench->failed_starts++;
		printf("start %d failed: %s\n", bench->starts, wrong);
		const char *wrong_at_last = end_finish(bench, p);
		if (wrong_at_last)
			return wrong_at_last;
		wrong = start_once(bench, p);
	}
	return wrong;
}

static bool any_exists(const end_processes *p)
{
	return exists(p->runtime) || exists(p->guard) || exists(p->keeper);
}

const char *end_finish(end_bench *bench, end_processes *p)
{
	if (p->runtime > 0)
		kill(p->runtime, SIGKILL);
	const pid_t traced[] = {p->guard,
				p->keeper}; // perhaps; a debugger that keeps them keeps them for ever
	for (int i = 0; i < 2 && traced[i] > 0; i++) {
		ptrace(PTRACE_DETACH, traced[i], NULL, NULL);
		kill(traced[i], SIGCONT); // stopped after its parent had died
	}
	WAIT_UNTIL(!any_exists(p));
	if (any_exists(p))
		return fail("left behind:%s%s%s", exists(p->runtime) ? " runtime" : "",
			    exists(p->guard) ? " guard" : "", exists(p->keeper) ? " keeper" : "");
	p->runtime = 0;
	// Orphans: tactus-keep --let-go, and the runtime's child, which may come to tell its number only now.
	for (pid_t ended; (ended = waitpid(-1, NULL, WNOHANG)) >= 0;) {
		const pid_t child = atomic_load(&bench->file->child);
		if (child > 0)
			kill(child, SIGKILL);
		if (ended == 0)
			sleep_ms(1);
	}
	return motors_are_zero(bench) ? NULL : "a force in the motors when all had ended";
}

// Stops a process as a debugger does; false if that is not permitted.
static bool trace(pid_t pid)
{
	return ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0 && ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0;
}

static void signal_if(pid_t pid, int signal_number)
{
	if (signal_number)
		kill(pid, signal_number);
}

// Waits until a killed process is dead, zombie or not: a busy machine may take its time, and those that watch
// it cannot notice earlier.
static bool dies_within(pid_t pid, int limit_ms)
{
	struct pollfd event = {.fd = pidfd_open(pid, 0), .events = POLLIN};
	if (event.fd < 0) // collected already
		return true;
	const bool dead = poll(&event, 1, limit_ms) > 0;
	close(event.fd);
	return dead;
}

// Commands with a force are counted from here on, and so is the time.
static void begin_event(end_bench *bench)
{
	bench->begin_ns = tac_clock_now_ns();
	atomic_store(&bench->file->forced_before, atomic_load(&bench->file->forced));
}

// ---- occupied CPUs ----

typedef struct hogs {
	end_bench *bench;
	pid_t victim;
	int signal_number;
	int count;
	_Atomic int running;
	_Atomic bool refused, late;
} hogs;

typedef struct hog {
	pthread_t thread;
	hogs *all;
	int cpu;
	bool sends; // the signal
} hog;

// Occupies one CPU, just below the keeper's priority, until the motors are at zero. Its time is counted in
// steps of the clock of at most 1 ms, so that a pause of the whole machine does not count.
static void *occupy(void *user)
{
	const hog *h = user;
	hogs *all = h->all;
	const struct sched_param priority = {.sched_priority = TAC_KEEPER_PRIORITY - 1};
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)h->cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0 ||
	    pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) != 0)
		atomic_store(&all->refused, true);
	atomic_fetch_add(&all->running, 1);
	int64_t before_ns = tac_clock_now_ns(), spent_ns = 0;
	bool sent = !h->sends;
	while (!atomic_load(&all->refused) && spent_ns < HOG_MS * MS &&
	       !(sent && motors_are_zero(all->bench))) {
		if (!sent && atomic_load(&all->running) == all->count) {
			begin_event(all->bench);
			kill(all->victim, all->signal_number);
			sent = true;
		}
		const int64_t now_ns = tac_clock_now_ns(), step_ns = now_ns - before_ns;
		spent_ns += step_ns < MS ? step_ns : MS;
		before_ns = now_ns;
	}
	if (spent_ns >= HOG_MS * MS)
		atomic_store(&all->late, true);
	return NULL;
}

// Sends the signal while every CPU is occupied. False: not permitted, or the keeper cannot lock its memory: a
// page fault may then wait for a kernel thread, which gets no CPU either.
static bool end_on_occupied_cpus(end_bench *bench, const end_way *w, const end_processes *p)
{
	if (!TAC_TEST_CAN_LOCK_MEMORY)
		return false;
	static hog threads[CPU_SETSIZE];
	hogs all = {.bench = bench, .victim = p->runtime, .signal_number = w->runtime_first};
	cpu_set_t cpus;
	sched_getaffinity(0, sizeof cpus, &cpus);
	all.count = CPU_COUNT(&cpus);
	int started = 0;
	for (int cpu = 0; cpu < CPU_SETSIZE && started < all.count; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &cpus))
			continue;
		threads[started] = (hog){.all = &all, .cpu = cpu, .sends = started == 0};
		if (pthread_create(&threads[started].thread, NULL, occupy, &threads[started]) != 0)
			atomic_store(&all.refused, true);
		else
			started++;
	}
	for (int i = 0; i < started; i++)
		pthread_join(threads[i].thread, NULL);
	bench->starved = atomic_load(&all.late);
	return !atomic_load(&all.refused);
}

// False: this system does not permit this way.
static bool end_now(end_bench *bench, const end_way *w, const end_processes *p, tac_rng *rng)
{
	motors_file *f = bench->file;
	begin_event(bench);
	if ((w->trace_runtime && !trace(p->runtime)) || (w->trace_guard && !trace(p->guard)) ||
	    (w->trace_keeper && !trace(p->keeper)))
		return false;
	atomic_store(&f->action, w->action);
	if (w->hang)
		atomic_store(&f->hangs, p->keeper);
	if (w->unplug)
		atomic_store(&f->unplugged, p->keeper);
	if (w->hog)
		return end_on_occupied_cpus(bench, w, p);
	signal_if(p->runtime, w->runtime_first);
	signal_if(p->guard, w->guard);
	signal_if(p->keeper, w->keeper);
	if (w->runtime_last)
		sleep_ms(tac_rng_below(rng, 3));
	signal_if(p->runtime, w->runtime_last);
	if (w->guard == SIGKILL) {
		dies_within(p->guard, LIMIT_MS);
		atomic_store(&f->forced_before, atomic_load(&f->forced));
	}
	if (w->action == END_SPEND_RT_TIME || w->action == END_SPEND_CPU_TIME) {
		WAIT_UNTIL(atomic_load(&f->done) == (int32_t)w->action);
		WAIT_UNTIL(atomic_load(&f->refused) || dies_within(p->runtime, 0));
		begin_event(bench);
	}
	pid_t third = 0;
	if (w->let_go)
		WAIT_UNTIL((third = end_child_of(p->runtime, TAC_GUARD_NAME)) > 0 || motors_are_zero(bench));
	if (third > 0)
		kill(third, w->let_go);
	return true;
}

static int promised_ms(const end_way *w)
{
	return w->within_ms ? w->within_ms : HOLD_MS;
}

// Ends it, and waits for zero. NULL, or what went wrong.
static const char *end_and_check(end_bench *bench, const end_way *w, const end_processes *p, tac_rng *rng,
				 int64_t *out_zero_ns)
{
	motors_file *f = bench->file;
	atomic_store(&f->action, w->prepare);
	WAIT_UNTIL(atomic_load(&f->done) == (int32_t)w->prepare);
	if (atomic_load(&f->done) != (int32_t)w->prepare)
		return "the runtime did not act";
	sleep_ms(tac_rng_below(rng, 30));
	// On a busy machine the driver may just have missed a report and command zero.
	WAIT_UNTIL(!motors_are_zero(bench) || atomic_load(&f->lost));
	*out_zero_ns = -1;
	if (!end_now(bench, w, p, rng))
		return NULL;
	const int sleeps_max = 10 * promised_ms(w) > SLEEPS_MIN ? 10 * promised_ms(w) : SLEEPS_MIN;
	for (int i = 0; i < sleeps_max && !motors_stay_at_zero(bench) && !atomic_load(&f->refused); i++)
		sleep_ms(1);
	if (atomic_load(&f->refused))
		return NULL;
	if (w->hog && bench->starved)
		return "no zero as long as every CPU was occupied";
	if (!motors_stay_at_zero(bench))
		return fail("motors %llx, %llu commands; runtime %s, guard %s, keeper %s",
			    (unsigned long long)atomic_load(&f->motors),
			    (unsigned long long)atomic_load(&f->commands),
			    exists(p->runtime) ? "runs" : "ended", exists(p->guard) ? "runs" : "ended",
			    exists(p->keeper) ? "runs" : "ended");
	const int64_t zero_ns = atomic_load(&f->zero_ns);
	*out_zero_ns = zero_ns > bench->begin_ns ? zero_ns - bench->begin_ns : 0;
	WAIT_UNTIL((!w->must_lose || atomic_load(&f->lost)) &&
		   (w->action != END_CLOSE || atomic_load(&f->closed)));
	if (w->must_lose && !atomic_load(&f->lost))
		return "the runtime did not find the device lost";
	if (w->action == END_CLOSE && !atomic_load(&f->closed))
		return "closing did not return";
	return NULL;
}

const char *end_one_way(end_bench *bench, const end_way *w, tac_rng *rng, int64_t *out_zero_ns)
{
	end_processes p;
	const char *wrong = end_start(bench, &p);
	if (!wrong)
		wrong = end_and_check(bench, w, &p, rng, out_zero_ns);
	const char *wrong_at_last = end_finish(bench, &p);
	const uint64_t forced = atomic_load(&bench->file->forced) - atomic_load(&bench->file->forced_before);
	const uint64_t forced_max =
		FORCED_MAX(promised_ms(w)) * (uint64_t)(bench->commands_per_ms ? bench->commands_per_ms : 1);
	if (!wrong && !wrong_at_last && *out_zero_ns >= 0 && forced > forced_max)
		wrong = fail("%llu commands with a force after the event, at most %llu expected",
			     (unsigned long long)forced, (unsigned long long)forced_max);
	return wrong ? wrong : wrong_at_last;
}
