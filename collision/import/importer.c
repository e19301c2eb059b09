#include "collision/import/importer.h"

#include "collision/import/mesh_record.h"
#include "collision/import/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS    1000000 // period of polling for the importer's end; it runs for at least 10 ms
#define FIRST_FREE (TAC_SANDBOX_GRANTS_FD + 1)

// Returns 0 or an errno. The descriptors are above those that the importer receives, so none overwrites one
// that is still needed.
static int add_files(posix_spawn_file_actions_t *files, const int sources[4])
{
	static const int targets[4] = {TAC_MESH_RECORD_FD, TAC_SANDBOX_FILE_FD, TAC_SANDBOX_FOLDER_FD,
				       TAC_SANDBOX_GRANTS_FD};
	int error = 0;
	for (int i = 0; i < 4 && !error; i++)
		error = posix_spawn_file_actions_adddup2(files, sources[i], targets[i]);
	if (!error)
		error = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDWR, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(files, 0, 1);
	if (!error)
		error = posix_spawn_file_actions_adddup2(files, 0, 2);
	return error ? error : posix_spawn_file_actions_addclosefrom_np(files, FIRST_FREE);
}

// A session of its own, no signal blocked or ignored. The importer of a real-time caller must not be a
// real-time process itself. Returns 0 or an errno.
static int set_attributes(posix_spawnattr_t *attributes)
{
	const struct sched_param ordinary = {.sched_priority = 0};
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	const int flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
			  POSIX_SPAWN_SETSCHEDULER;
	int error = posix_spawnattr_setflags(attributes, (short)flags);
	if (!error)
		error = posix_spawnattr_setsigmask(attributes, &none);
	if (!error)
		error = posix_spawnattr_setsigdefault(attributes, &all);
	if (!error)
		error = posix_spawnattr_setschedpolicy(attributes, SCHED_OTHER);
	return error ? error : posix_spawnattr_setschedparam(attributes, &ordinary);
}

// Returns 0 or an errno.
static int spawn(const tac_importer_def *def, const int sources[4], pid_t *out_pid)
{
	char name[] = "tactus-confine", program[PATH_MAX], file[PATH_MAX];
	char memory[24], seconds[24], parent[24];
	if ((size_t)snprintf(program, sizeof program, "%s", def->program) >= sizeof program ||
	    (size_t)snprintf(file, sizeof file, "%s", def->name) >= sizeof file)
		return ENAMETOOLONG;
	snprintf(memory, sizeof memory, "%" PRIu64, def->memory_limit_bytes);
	snprintf(seconds, sizeof seconds, "%.0f", ceil(def->time_limit_s));
	snprintf(parent, sizeof parent, "%d", (int)getpid());
	char *const arguments[] = {name, program, file, memory, seconds, parent, NULL};
	char *const environment[] = {NULL};

	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int error = posix_spawn_file_actions_init(&files);
	if (error)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (!error) {
		error = add_files(&files, sources);
		if (!error)
			error = set_attributes(&attributes);
		if (!error)
			error = posix_spawn(out_pid, def->launcher, &files, &attributes, arguments,
					    environment);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&files);
	return error;
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Waits for the importer to end and kills it when its time is up.
static void await(pid_t pid, double time_limit_s, tac_importer_end *end)
{
	const int64_t deadline_ns = now_ns() + (int64_t)(time_limit_s * 1e9);
	for (;;) {
		const pid_t ended = waitpid(pid, &end->status, end->timed_out ? 0 : WNOHANG);
		if (ended == pid || (ended < 0 && errno != EINTR))
			break;
		if (!end->timed_out && now_ns() >= deadline_ns) {
			end->timed_out = true;
			kill(pid, SIGKILL);
			continue;
		}
		const struct timespec nap = {0, POLL_NS};
		nanosleep(&nap, NULL);
	}
	kill(-pid, SIGKILL); // it cannot start processes; if it could, they would be in its group
}

int tac_importer_run(const tac_importer_def *def, tac_importer_end *out_end)
{
	*out_end = (tac_importer_end){0};
	int sources[4] = {def->record_fd, def->file_fd, def->folder_fd, -1};
	// An eventfd, not a pipe: it holds the launcher's one number without a reader.
	const int grants = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	sources[3] = grants;
	int error = grants < 0 ? errno : 0;
	int copied = 0;
	for (; copied < 4 && !error; copied++) {
		sources[copied] = fcntl(sources[copied], F_DUPFD_CLOEXEC, FIRST_FREE);
		if (sources[copied] < 0) {
			error = errno;
			break;
		}
	}
	pid_t pid;
	if (!error)
		error = spawn(def, sources, &pid);
	if (!error) {
		await(pid, def->time_limit_s, out_end);
		eventfd_read(grants, &out_end->grants);
	}
	for (int i = 0; i < copied; i++)
		close(sources[i]);
	if (grants >= 0)
		close(grants);
	return error;
}
