#include "collision/import/importer.h"

#include "base/helper.h"
#include "collision/import/mesh_record.h"
#include "collision/import/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS    1000000 // period of polling for the importer's end; it runs for at least 10 ms
#define FIRST_FREE (TAC_SANDBOX_GRANTS_FD + 1)
#define SOURCES    4

_Static_assert(TAC_MESH_RECORD_FD == TAC_HELPER_FIRST_FD && FIRST_FREE == TAC_HELPER_FIRST_FD + SOURCES,
	       "the descriptors of the importer follow each other");

// Returns 0 or an errno.
static int spawn(const tac_importer_def *def, const int sources[SOURCES], pid_t *out_pid)
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

	const tac_helper_start_def start = {def->launcher, arguments, environment, sources, SOURCES};
	return tac_helper_start(&start, out_pid);
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
	int sources[SOURCES] = {def->record_fd, def->file_fd, def->folder_fd, -1};
	// An eventfd, not a pipe: it holds the launcher's one number without a reader.
	const int grants = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	sources[3] = grants;
	int error = grants < 0 ? errno : 0;
	int copied = 0;
	for (; copied < SOURCES && !error; copied++) {
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
