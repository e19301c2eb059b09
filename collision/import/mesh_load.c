#include "collision/mesh_load.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/import/mesh_record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define POLL_NS 1000000 // period of polling for the importer's end; it runs for at least 10 ms

typedef enum ending {
	ENDED_BY_ITSELF,
	ENDED_BY_TIMEOUT,
} ending;

static tac_result check_file(const char *path, int64_t *out_size)
{
	// Non-blocking: opening a pipe without a writer must not block.
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0) {
		tac_log(TAC_LOG_ERROR, "%s: cannot be opened: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return TAC_ERROR_IO;
	}
	close(fd);
	*out_size = status.st_size;
	const char *problem = S_ISDIR(status.st_mode)    ? "is a directory"
			      : !S_ISREG(status.st_mode) ? "is not a regular file"
			      : status.st_size == 0      ? "is empty"
							 : NULL;
	if (!problem)
		return TAC_OK;
	tac_log(TAC_LOG_ERROR, "%s: %s, expected a mesh file", path, problem);
	return TAC_ERROR_IO;
}

static bool is_program(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static tac_result find_importer(const tac_mesh_load_def *def, char out_path[PATH_MAX])
{
	const char *requested = def->importer ? def->importer : secure_getenv("TACTUS_IMPORTER");
	if (requested) {
		snprintf(out_path, PATH_MAX, "%s", requested);
		if (is_program(out_path))
			return TAC_OK;
		tac_log(TAC_LOG_ERROR, "%s: expected the mesh importer here, found no program", out_path);
		return TAC_ERROR_UNSUPPORTED;
	}
	char folder[PATH_MAX / 2];
	const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
	folder[length > 0 ? length : 0] = 0;
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;
	static const char *const relative[] = {"tactus-import", "../libexec/tactus/tactus-import",
					       "../collision/tactus-import", "../../collision/tactus-import"};
	for (size_t i = 0; slash && i < sizeof relative / sizeof *relative; i++) {
		snprintf(out_path, PATH_MAX, "%s/%s", folder, relative[i]);
		if (is_program(out_path))
			return TAC_OK;
	}
	snprintf(out_path, PATH_MAX, "%s", TAC_IMPORTER_INSTALLED);
	if (is_program(out_path))
		return TAC_OK;
	tac_log(TAC_LOG_ERROR,
		"no mesh importer: expected tactus-import near %s or at %s; TACTUS_IMPORTER may name it",
		folder, TAC_IMPORTER_INSTALLED);
	return TAC_ERROR_UNSUPPORTED;
}

// Moves a new descriptor above those that the importer receives, so that spawning overwrites none of them.
// Returns -1 if `fd` is -1 or cannot be moved.
static int move_up(int fd)
{
	const int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, TAC_MESH_RECORD_FD + 1);
	if (fd >= 0)
		close(fd);
	return moved;
}

// Starts the importer, which waits until it can read from `go_fd`. Returns 0 or an errno.
static int spawn(const char *importer, const char *path, int record_fd, int go_fd, pid_t *out_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int error = posix_spawn_file_actions_init(&files);
	if (error)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (error) {
		posix_spawn_file_actions_destroy(&files);
		return error;
	}
	// The importer of a real-time caller must not be a real-time process itself.
	const struct sched_param ordinary = {.sched_priority = 0};
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	const int flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
			  POSIX_SPAWN_SETSCHEDULER;
	char name[] = "tactus-import";
	char file[PATH_MAX];
	char *const arguments[] = {name, file, NULL};
	if ((size_t)snprintf(file, sizeof file, "%s", path) >= sizeof file)
		error = ENAMETOOLONG;
	// The order matters: descriptors are duplicated before those from 4 on are closed.
	if (error || (error = posix_spawnattr_setflags(&attributes, (short)flags)) ||
	    (error = posix_spawnattr_setpgroup(&attributes, 0)) ||
	    (error = posix_spawnattr_setsigmask(&attributes, &none)) ||
	    (error = posix_spawnattr_setsigdefault(&attributes, &all)) ||
	    (error = posix_spawnattr_setschedpolicy(&attributes, SCHED_OTHER)) ||
	    (error = posix_spawnattr_setschedparam(&attributes, &ordinary)) ||
	    (error = posix_spawn_file_actions_adddup2(&files, record_fd, TAC_MESH_RECORD_FD)) ||
	    (error = posix_spawn_file_actions_adddup2(&files, go_fd, 0)) ||
	    (error = posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_RDWR, 0)) ||
	    (error = posix_spawn_file_actions_adddup2(&files, 1, 2)) ||
	    (error = posix_spawn_file_actions_addclosefrom_np(&files, TAC_MESH_RECORD_FD + 1)))
		goto done;
	error = posix_spawn(out_pid, importer, &files, &attributes, arguments, environ);
done:
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return error;
}

// Returns 0 or an errno.
static int limit(pid_t pid, const tac_mesh_load_def *def)
{
	const struct rlimit memory = {def->memory_limit_bytes, def->memory_limit_bytes};
	const rlim_t seconds = (rlim_t)ceil(def->time_limit_s);
	const struct rlimit time = {seconds, seconds + 1}; // soft: SIGXCPU, hard: SIGKILL
	const struct rlimit no_core = {0, 0};
	if (prlimit(pid, RLIMIT_AS, &memory, NULL) == 0 && prlimit(pid, RLIMIT_FSIZE, &memory, NULL) == 0 &&
	    prlimit(pid, RLIMIT_CPU, &time, NULL) == 0 && prlimit(pid, RLIMIT_CORE, &no_core, NULL) == 0)
		return 0;
	return errno == ESRCH ? 0 : errno; // it has already ended: its result is checked like any other
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Waits for the importer to end and kills it when its time is up. *out_status is that of waitpid, or 0 if
// this process ignores SIGCHLD and there is none.
static ending await(pid_t pid, double time_limit_s, int *out_status)
{
	const int64_t deadline_ns = now_ns() + (int64_t)(time_limit_s * 1e9);
	ending how = ENDED_BY_ITSELF;
	*out_status = 0;
	for (;;) {
		const pid_t ended = waitpid(pid, out_status, how == ENDED_BY_TIMEOUT ? 0 : WNOHANG);
		if (ended == pid || (ended < 0 && errno != EINTR))
			break;
		if (how == ENDED_BY_ITSELF && now_ns() >= deadline_ns) {
			how = ENDED_BY_TIMEOUT;
			kill(pid, SIGKILL);
			continue;
		}
		const struct timespec nap = {0, POLL_NS};
		nanosleep(&nap, NULL);
	}
	kill(-pid, SIGKILL); // any processes that the importer has started
	return how;
}

// Copies the record out of the memory file, so that nothing can change it while it is checked. Returns 8-byte
// aligned memory for the caller to free, or NULL with a log line.
static void *read_record(int fd, const char *path, uint64_t limit_bytes, size_t *out_size)
{
	struct stat status;
	if (fstat(fd, &status) < 0 || status.st_size < 0 || (uint64_t)status.st_size > limit_bytes) {
		tac_log(TAC_LOG_ERROR, "%s: the importer returned more than its limit of %llu MiB", path,
			(unsigned long long)(limit_bytes >> 20));
		return NULL;
	}
	const size_t size = (size_t)status.st_size;
	char *bytes = malloc(size ? size : 1);
	size_t done = 0;
	while (bytes && done < size) {
		const ssize_t n = pread(fd, bytes + done, size - done, (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (!bytes || done < size) {
		free(bytes);
		tac_log(TAC_LOG_ERROR, "%s: the importer's record of %zu bytes could not be read", path,
			size);
		return NULL;
	}
	*out_size = size;
	return bytes;
}

static tac_result build_from_record(const char *path, const tac_mesh_load_def *def, const void *bytes,
				    size_t size, tac_mesh **out_mesh)
{
	tac_mesh_record record;
	tac_result result = tac_mesh_record_decode(bytes, size, &record);
	if (result < 0) {
		tac_log(TAC_LOG_ERROR, "%s: %s", path, record.message);
		return result;
	}
	record.def.name = path;
	record.def.crease_angle_rad = def->crease_angle_rad;
	if (record.def.surface_count < 2) // a single part does not define surfaces
		record.def.triangle_surface = NULL;
	result = tac_mesh_build(&record.def, out_mesh);
	tac_mesh_record_release(&record);
	if (result == TAC_OK && (*out_mesh)->triangle_count == 0) {
		tac_log(TAC_LOG_ERROR, "%s: contains no triangles (%d without area)", path,
			(*out_mesh)->degenerate_triangles);
		tac_mesh_destroy(out_mesh);
		return TAC_ERROR_FORMAT;
	}
	return result;
}

static tac_result run_importer(const char *path, const tac_mesh_load_def *def, const char *importer,
			       int record_fd)
{
	// An eventfd, not a pipe: writing to a pipe whose reader has crashed would raise SIGPIPE here.
	const int go_fd = move_up(eventfd(0, EFD_CLOEXEC));
	pid_t pid;
	int error = go_fd < 0 ? errno : spawn(importer, path, record_fd, go_fd, &pid);
	if (error) {
		tac_log(TAC_LOG_ERROR, "%s: the importer %s could not be started: %s", path, importer,
			strerror(error));
		if (go_fd >= 0)
			close(go_fd);
		return TAC_ERROR_SYSTEM;
	}
	error = limit(pid, def);
	if (!error && eventfd_write(go_fd, 1) != 0)
		error = errno;
	close(go_fd);
	int status;
	const ending how = await(pid, error ? 0 : def->time_limit_s, &status);
	if (error) {
		tac_log(TAC_LOG_ERROR, "%s: the importer could not be limited: %s", path, strerror(error));
		return TAC_ERROR_SYSTEM;
	}
	if (how == ENDED_BY_TIMEOUT ||
	    (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))) {
		tac_log(TAC_LOG_ERROR, "%s: the importer was stopped, expected a result within %g s", path,
			def->time_limit_s);
		return TAC_ERROR_IO;
	}
	if (WIFSIGNALED(status)) {
		tac_log(TAC_LOG_ERROR,
			"%s: the importer crashed (%s): the file is damaged, or needs more than %llu MiB",
			path, strsignal(WTERMSIG(status)),
			(unsigned long long)(def->memory_limit_bytes >> 20));
		return TAC_ERROR_IO;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
		tac_log(TAC_LOG_ERROR, "%s: the importer failed with exit code %d", path,
			WEXITSTATUS(status));
		return TAC_ERROR_IO;
	}
	return TAC_OK;
}

tac_mesh_load_def tac_mesh_load_def_default(void)
{
	return (tac_mesh_load_def){
		.memory_limit_bytes = UINT64_C(4) << 30,
		.crease_angle_rad = tac_mesh_def_default().crease_angle_rad,
	};
}

tac_result tac_mesh_load(const char *path, const tac_mesh_load_def *def, tac_mesh **out_mesh)
{
	TAC_ASSERT(path && out_mesh);
	tac_mesh_load_def limits = def ? *def : tac_mesh_load_def_default();
	TAC_ASSERT(limits.time_limit_s >= 0 && limits.time_limit_s < 1e9);
	*out_mesh = NULL;

	char importer[PATH_MAX];
	int64_t size = 0;
	tac_result result = check_file(path, &size);
	if (result == TAC_OK)
		result = find_importer(&limits, importer);
	if (result < 0)
		return result;
	if (limits.time_limit_s == 0)
		limits.time_limit_s = 10 + (double)(size >> 20);
	const int fd = move_up(memfd_create("tactus-mesh", MFD_CLOEXEC));
	if (fd < 0) {
		tac_log(TAC_LOG_ERROR, "%s: no memory file for the importer: %s", path, strerror(errno));
		return TAC_ERROR_SYSTEM;
	}
	result = run_importer(path, &limits, importer, fd);
	if (result == TAC_OK) {
		size_t record_size = 0;
		void *bytes = read_record(fd, path, limits.memory_limit_bytes, &record_size);
		result =
			bytes ? build_from_record(path, &limits, bytes, record_size, out_mesh) : TAC_ERROR_IO;
		free(bytes);
	}
	close(fd);
	return result;
}
