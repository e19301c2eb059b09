#include "devices/keeper/guard.h"

#include "base/log.h"
#include "devices/keeper/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define SLICE_MS     25
#define ALIVE_MS     100
#define CLOSING_MS   3000
#define ARGUMENTS    8
#define LET_GO_TRIES 100 // 10 ms apart

void tac_guard_isolate(const char *process_name)
{
	setsid();
	prctl(PR_SET_NAME, process_name);
	for (int signal_number = 1; signal_number < SIGRTMAX; signal_number++) {
		// Faults must still end the process, and a parent must be able to wait for its child.
		const bool is_fault = signal_number == SIGSEGV || signal_number == SIGBUS ||
				      signal_number == SIGFPE || signal_number == SIGILL ||
				      signal_number == SIGABRT || signal_number == SIGTRAP ||
				      signal_number == SIGSYS;
		if (!is_fault && signal_number != SIGCHLD)
			signal(signal_number, SIG_IGN);
	}
	static const char *const scores[] = {"-1000", "0"};
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	for (size_t i = 0; fd >= 0 && i < sizeof scores / sizeof *scores; i++) {
		if (write(fd, scores[i], strlen(scores[i])) > 0)
			break;
	}
	if (fd >= 0)
		close(fd);
	prctl(PR_SET_DUMPABLE, 0);
}

// Starts the keeper with the other end of the leash; false if that is not possible.
static bool start_keeper(int argc, char **argv, int *out_leash, pid_t *out_keeper)
{
	int ends[2];
	char role[] = "--keeper";
	char *arguments[ARGUMENTS] = {argv[0], role};
	for (int i = 1; i < argc && i + 2 < ARGUMENTS; i++)
		arguments[i + 1] = argv[i];
	posix_spawn_file_actions_t files;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
	    posix_spawn_file_actions_init(&files) != 0)
		return false;
	// posix_spawn clears close-on-exec also where source and target are the same.
	const bool started = posix_spawn_file_actions_adddup2(&files, ends[1], TAC_KEEPER_LEASH_FD) == 0 &&
			     posix_spawn(out_keeper, argv[0], &files, NULL, arguments, environ) == 0;
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	*out_leash = ends[0];
	return started;
}

static int patience_ms(uint8_t byte)
{
	return byte == TAC_LEASH_OPENING ? -1 : byte == TAC_LEASH_ALIVE ? ALIVE_MS : CLOSING_MS;
}

// Returns the last byte of the keeper when it has closed its end of the leash.
static uint8_t watch(int leash, pid_t keeper, pid_t runtime)
{
	uint8_t last = TAC_LEASH_OPENING;
	// Slices without a byte, rather than time: a machine that was suspended has not missed any.
	for (int quiet_ms = 0;;) {
		struct pollfd event = {.fd = leash, .events = POLLIN};
		const int events = poll(&event, 1, SLICE_MS);
		uint8_t bytes[64];
		const ssize_t got = events > 0 ? recv(leash, bytes, sizeof bytes, MSG_DONTWAIT) : 0;
		if (events > 0 && (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)))
			return last;
		if (got > 0) {
			last = bytes[got - 1];
			quiet_ms = 0;
		} else if (events == 0) {
			quiet_ms += SLICE_MS;
		}
		if (patience_ms(last) >= 0 && quiet_ms >= patience_ms(last))
			kill(keeper, SIGKILL); // also ends one that is stopped
		// The keeper notices by itself when the socket to the runtime closes, but another process may
		// hold a copy of it.
		if (getppid() != runtime)
			shutdown(leash, SHUT_WR);
	}
}

static void discard(void *user, tac_log_level level, const char *message)
{
	(void)user;
	(void)level;
	(void)message;
}

tac_guard_exit tac_guard_run(int argc, char **argv)
{
	const pid_t runtime = getppid();
	int leash;
	pid_t keeper;
	tac_log_set(discard, NULL);
	tac_guard_isolate("tactus-guard");
	if (!start_keeper(argc, argv, &leash, &keeper))
		return TAC_GUARD_NOT_STARTED;
	for (int fd = TAC_KEEPER_SOCKET_FD; fd <= TAC_KEEPER_EVENT_FD; fd++)
		close(fd);
	const uint8_t last = watch(leash, keeper, runtime);
	// The kernel releases the device only at the very end of the keeper.
	while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR) {
	}
	if (last == TAC_LEASH_GOODBYE)
		return TAC_GUARD_ORDERLY;
	const bool reached = tac_kept_let_go(argv[1], LET_GO_TRIES);
	if (last == TAC_LEASH_LOST)
		return TAC_GUARD_ORDERLY;
	return reached ? TAC_GUARD_LET_GO : TAC_GUARD_NOT_REACHED;
}
