#include "devices/keeper/guard.h"

#include "base/log.h"
#include "devices/registry.h"
#include "rt/clock.h"
#include "rt/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

#define SLICE_MS     25
#define ALIVE_MS     100
#define CLOSING_MS   3000
#define LOST_MS      300
#define KILLED_MS    500
#define ARGUMENTS    8
#define LET_GO_TRIES 100
#define RETRY_NS     (10 * TAC_NS_PER_MS)

// ---- isolation ----

static void ignore_signals(void)
{
	for (int signal_number = 1; signal_number <= SIGRTMAX; signal_number++) {
		// Faults must still end the process, and a parent must be able to wait for its child.
		const bool is_fault = signal_number == SIGSEGV || signal_number == SIGBUS ||
				      signal_number == SIGFPE || signal_number == SIGILL ||
				      signal_number == SIGABRT || signal_number == SIGTRAP ||
				      signal_number == SIGSYS;
		if (!is_fault && signal_number != SIGCHLD)
			signal(signal_number, SIG_IGN);
	}
}

static void lower_memory_score(void)
{
	static const char *const scores[] = {"-1000", "0"};
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	for (size_t i = 0; fd >= 0 && i < sizeof scores / sizeof *scores; i++) {
		if (write(fd, scores[i], strlen(scores[i])) > 0)
			break;
	}
	if (fd >= 0)
		close(fd);
}

// The thread that opened the device may be bound to the CPU of a real-time loop, which would starve this
// process. The guard stays with the fair scheduler until it has to act.
static void leave_scheduling_of_parent(void)
{
	const struct sched_param none = {0};
	cpu_set_t all;
	memset(&all, 0xFF, sizeof all);
	sched_setscheduler(0, SCHED_OTHER, &none);
	sched_setaffinity(0, sizeof all, &all);
	setpriority(PRIO_PROCESS, 0, -20);
}

void tac_guard_isolate(const char *process_name)
{
	setsid();
	prctl(PR_SET_NAME, process_name);
	prctl(PR_SET_PDEATHSIG, SIGCONT);
	ignore_signals();
	lower_memory_score();
	leave_scheduling_of_parent();
	prctl(PR_SET_DUMPABLE, 0);
}

// ---- letting go ----

static void discard(void *user, tac_log_level level, const char *message)
{
	(void)user;
	(void)level;
	(void)message;
}

static bool send_zero(const tac_driver *driver, const char *which)
{
	if (driver->let_go)
		return driver->let_go(which);
	const tac_open_def def = {.in_process = true};
	tac_device *device = NULL;
	const bool opened = driver->open(which, &def, &device) >= TAC_OK;
	tac_device_destroy(&device);
	return opened;
}

bool tac_guard_let_go(const char *selection)
{
	const struct sched_param urgent = {.sched_priority =
						   tac_thread_priority_permitted(TAC_KEEPER_PRIORITY)};
	const char *which;
	const tac_driver *driver = tac_registry_driver_of(selection, &which);
	tac_log_set(discard, NULL);
	sched_setscheduler(0, SCHED_FIFO, &urgent); // if permitted: a busy machine must not delay it
	for (int i = 0; driver && i < LET_GO_TRIES; i++) {
		if (send_zero(driver, which))
			return true;
		tac_clock_sleep_until_ns(tac_clock_now_ns() + RETRY_NS);
	}
	return false;
}

// ---- watching the keeper ----

typedef struct guard {
	pid_t runtime, keeper;
	int leash;
	uint8_t last; // tac_leash_byte
	char selection[TAC_KEEPER_SELECTION_BYTES];
} guard;

// Starts the keeper with the other end of the leash; false if that is not possible.
static bool start_keeper(guard *g, int argc, char **argv)
{
	int ends[2];
	char name[] = TAC_KEEPER_NAME, role[] = TAC_KEEPER_ROLE_KEEPER;
	char *arguments[ARGUMENTS] = {name, role};
	for (int i = 1; i < argc && i + 2 < ARGUMENTS; i++)
		arguments[i + 1] = argv[i];
	posix_spawn_file_actions_t files;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
	    posix_spawn_file_actions_init(&files) != 0)
		return false;
	// posix_spawn clears close-on-exec also where source and target are the same.
	const bool started = posix_spawn_file_actions_adddup2(&files, ends[1], TAC_KEEPER_LEASH_FD) == 0 &&
			     posix_spawn(&g->keeper, "/proc/self/exe", &files, NULL, arguments, environ) == 0;
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	g->leash = ends[0];
	return started;
}

static int patience_ms(uint8_t byte, bool runtime_is_gone)
{
	switch (byte) {
	case TAC_LEASH_OPENING:
		return runtime_is_gone ? CLOSING_MS : INT32_MAX;
	case TAC_LEASH_ALIVE:
		return ALIVE_MS;
	case TAC_LEASH_LOST:
		return LOST_MS;
	default:
		return CLOSING_MS;
	}
}

// Receives what the keeper has sent. Returns the number of bytes; 0: none; -1: the keeper has closed its end.
static ssize_t receive(guard *g)
{
	uint8_t bytes[64];
	const bool opening = g->last == TAC_LEASH_OPENING;
	const ssize_t got = opening ? recv(g->leash, g->selection, sizeof g->selection, MSG_WAITALL)
				    : recv(g->leash, bytes, sizeof bytes, MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (got == 0)
		return -1;
	g->last = opening ? TAC_LEASH_ALIVE : bytes[got - 1];
	send(g->leash, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	return got;
}

// Returns when the keeper has closed its end of the leash or is dead.
static void watch(guard *g)
{
	// Slices without a byte, rather than time: a guard that was held up itself has missed none.
	for (int quiet_ms = 0;;) {
		struct pollfd event = {.fd = g->leash, .events = POLLIN};
		const int events = poll(&event, 1, SLICE_MS);
		const ssize_t got = events > 0 ? receive(g) : 0;
		if (got < 0)
			return;
		quiet_ms = got > 0 ? 0 : quiet_ms + SLICE_MS;
		// The keeper notices by itself when the socket to the runtime closes, but another process may
		// hold a copy of it.
		const bool runtime_is_gone = getppid() != g->runtime;
		if (runtime_is_gone)
			shutdown(g->leash, SHUT_WR);
		if (quiet_ms >= patience_ms(g->last, runtime_is_gone))
			return;
	}
}

// The kernel releases the device only at the very end of the process. A debugger may keep a dead process for
// ever, so waiting for the child itself has no limit.
static void await_end(pid_t pid)
{
	struct pollfd event = {.fd = pidfd_open(pid, 0), .events = POLLIN};
	poll(&event, 1, KILLED_MS);
}

// The process that created the socket. Unlike the parent, it is right even if the runtime is dead already.
static pid_t runtime_of(int socket)
{
	struct ucred credentials = {0};
	socklen_t size = sizeof credentials;
	getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
	return credentials.pid;
}

tac_guard_exit tac_guard_run(int argc, char **argv)
{
	guard g = {.last = TAC_LEASH_OPENING, .runtime = runtime_of(TAC_KEEPER_SOCKET_FD)};
	snprintf(g.selection, sizeof g.selection, "%s", argv[1]);
	tac_guard_isolate(TAC_GUARD_NAME);
	if (!start_keeper(&g, argc, argv))
		return TAC_GUARD_NOT_STARTED;
	for (int fd = TAC_KEEPER_SOCKET_FD; fd <= TAC_KEEPER_EVENT_FD; fd++)
		close(fd);
	mlockall(MCL_CURRENT); // if permitted: a machine short of memory must not delay it
	watch(&g);
	kill(g.keeper, SIGKILL); // it is ending, stopped, or hangs
	await_end(g.keeper);
	if (g.last == TAC_LEASH_GOODBYE)
		return TAC_GUARD_ORDERLY;
	const bool reached = tac_guard_let_go(g.selection);
	if (g.last == TAC_LEASH_LOST)
		return TAC_GUARD_ORDERLY;
	return reached ? TAC_GUARD_LET_GO : TAC_GUARD_NOT_REACHED;
}
