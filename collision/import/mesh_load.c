#include "collision/mesh_load.h"

#include "base/assert.h"
#include "base/helper.h"
#include "base/log.h"
#include "collision/import/importer.h"
#include "collision/import/mesh_record.h"
#include "collision/import/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIME_MAX_S 300 // the largest default time limit, whatever the size of the file

static _Atomic uint64_t last_grants;

// The file to load: opened here once, so that what was checked is what the importer reads.
typedef struct source {
	int file_fd, folder_fd;
	int64_t size;
	const char *name; // in its folder
} source;

static void close_source(source *s)
{
	if (s->file_fd >= 0)
		close(s->file_fd);
	if (s->folder_fd >= 0)
		close(s->folder_fd);
}

// Returns -1 with errno.
static int open_folder(const char *path, const char *name)
{
	char folder[PATH_MAX];
	const size_t length = (size_t)(name - path);
	if (length >= sizeof folder) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(folder, path, length);
	folder[length] = 0;
	return open(length ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static tac_result open_source(const char *path, uint64_t limit_bytes, source *out)
{
	const char *slash = strrchr(path, '/');
	*out = (source){.folder_fd = -1, .name = slash ? slash + 1 : path};
	// Non-blocking: opening a pipe without a writer must not block.
	out->file_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	if (out->file_fd < 0 || fstat(out->file_fd, &status) < 0) {
		tac_log(TAC_LOG_ERROR, "%s: cannot be opened: %s", path, strerror(errno));
		return TAC_ERROR_IO;
	}
	out->size = status.st_size;
	const char *problem = S_ISDIR(status.st_mode)    ? "is a directory"
			      : !S_ISREG(status.st_mode) ? "is not a regular file"
			      : status.st_size == 0      ? "is empty"
							 : NULL;
	if (problem) {
		tac_log(TAC_LOG_ERROR, "%s: %s, expected a mesh file", path, problem);
		return TAC_ERROR_IO;
	}
	if ((uint64_t)out->size > limit_bytes) {
		tac_log(TAC_LOG_ERROR, "%s: expected a mesh file of at most %llu MiB, found %lld MiB", path,
			(unsigned long long)(limit_bytes >> 20), (long long)(out->size >> 20));
		return TAC_ERROR_IO;
	}
	out->folder_fd = open_folder(path, out->name);
	if (out->folder_fd < 0) {
		tac_log(TAC_LOG_ERROR, "%s: its folder cannot be opened: %s", path, strerror(errno));
		return TAC_ERROR_IO;
	}
	return TAC_OK;
}

// The last place is that of the programs in a sub-folder of the build tree.
static tac_result find_programs(const char *requested, char out_importer[TAC_HELPER_PATH],
				char out_launcher[TAC_HELPER_PATH])
{
	static const char *const importers[] = {"tactus-import", "../libexec/tactus/tactus-import",
						"../../libexec/tactus/tactus-import", NULL};
	static const char *const launchers[] = {"tactus-confine", "../libexec/tactus/tactus-confine",
						"../../libexec/tactus/tactus-confine", NULL};
	const tac_helper_def importer = {requested, "TACTUS_IMPORTER", importers, TAC_IMPORTER_INSTALLED};
	const tac_helper_def launcher = {NULL, NULL, launchers, TAC_LAUNCHER_INSTALLED};
	char reason[2 * TAC_HELPER_PATH];
	if (tac_helper_find_program(&importer, out_importer, reason, sizeof reason) &&
	    tac_helper_find_program(&launcher, out_launcher, reason, sizeof reason))
		return TAC_OK;
	tac_log(TAC_LOG_ERROR, "no mesh importer: %s", reason);
	return TAC_ERROR_UNSUPPORTED;
}

// Reads the bytes from `from` to `to` of the file to their places.
static bool read_range(int fd, char *bytes, size_t from, size_t to)
{
	while (from < to) {
		const ssize_t n = pread(fd, bytes + from, to - from, (off_t)from);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		from += (size_t)n;
	}
	return true;
}

// Copies the record out of the memory file, so that nothing can change it while it is checked: the rest of it
// only if its header announces it. Returns 8-byte aligned memory for the caller to free, or NULL with a log
// line.
static void *read_record(int fd, const char *path, uint64_t limit_bytes, size_t *out_size)
{
	struct stat status;
	if (fstat(fd, &status) < 0 || status.st_size < 0 || (uint64_t)status.st_size > limit_bytes) {
		tac_log(TAC_LOG_ERROR, "%s: the importer returned more than its limit of %llu MiB", path,
			(unsigned long long)(limit_bytes >> 20));
		return NULL;
	}
	const size_t whole = (size_t)status.st_size, longest_head = tac_mesh_record_failure_size();
	const size_t head = whole < longest_head ? whole : longest_head;
	char *bytes = malloc(longest_head), *grown = NULL;
	if (bytes && read_range(fd, bytes, 0, head)) {
		*out_size = tac_mesh_record_readable_size(bytes, head, whole);
		grown = *out_size > head ? realloc(bytes, *out_size) : bytes;
		if (grown)
			bytes = grown;
	}
	if (grown && read_range(fd, bytes, head, *out_size))
		return bytes;
	free(bytes);
	tac_log(TAC_LOG_ERROR, "%s: the importer's record of %zu bytes could not be read", path, whole);
	return NULL;
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

// Says how the importer ended, unless it ended as it should.
static tac_result judge_end(const char *path, const tac_mesh_load_def *def, const tac_importer_end *end)
{
	const int status = end->status;
	const int deadly = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (end->timed_out || deadly == SIGXCPU || deadly == SIGKILL) {
		tac_log(TAC_LOG_ERROR, "%s: the importer was stopped, expected a result within %g s", path,
			def->time_limit_s);
		return TAC_ERROR_IO;
	}
	if (deadly == SIGSYS) {
		tac_log(TAC_LOG_ERROR,
			"%s: the importer was killed: it made a system call that reading a mesh does not "
			"need",
			path);
		return TAC_ERROR_IO;
	}
	if (deadly) {
		tac_log(TAC_LOG_ERROR,
			"%s: the importer crashed (%s): the file is damaged, or needs more than %llu MiB",
			path, strsignal(deadly), (unsigned long long)(def->memory_limit_bytes >> 20));
		return TAC_ERROR_IO;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
		tac_log(TAC_LOG_ERROR, "%s: the importer failed with exit code %d", path,
			WEXITSTATUS(status));
		return TAC_ERROR_IO;
	}
	return TAC_OK;
}

// Runs the importer with a new memory file and returns its content, 8-byte aligned, for the caller to free;
// NULL with a log line and *out_result.
static void *import(const char *path, const source *s, const tac_mesh_load_def *def, size_t *out_size,
		    tac_result *out_result)
{
	char program[TAC_HELPER_PATH], launcher[TAC_HELPER_PATH];
	*out_result = find_programs(def->importer, program, launcher);
	if (*out_result < 0)
		return NULL;
	const int record_fd = memfd_create("tactus-mesh", MFD_CLOEXEC);
	if (record_fd < 0) {
		tac_log(TAC_LOG_ERROR, "%s: no memory file for the importer: %s", path, strerror(errno));
		*out_result = TAC_ERROR_SYSTEM;
		return NULL;
	}
	const tac_importer_def run = {
		.launcher = launcher,
		.program = program,
		.name = s->name,
		.record_fd = record_fd,
		.file_fd = s->file_fd,
		.folder_fd = s->folder_fd,
		.memory_limit_bytes = def->memory_limit_bytes,
		.time_limit_s = def->time_limit_s,
	};
	tac_importer_end end;
	const int error = tac_importer_run(&run, &end);
	void *bytes = NULL;
	if (error) {
		tac_log(TAC_LOG_ERROR, "%s: the importer %s could not be started: %s", path, program,
			strerror(error));
		*out_result = TAC_ERROR_SYSTEM;
	} else {
		atomic_store(&last_grants, end.grants);
		*out_result = judge_end(path, def, &end);
		if (*out_result == TAC_OK) {
			bytes = read_record(record_fd, path, def->memory_limit_bytes, out_size);
			*out_result = bytes ? TAC_OK : TAC_ERROR_IO;
		}
	}
	close(record_fd);
	return bytes;
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

	source s;
	tac_result result = open_source(path, limits.memory_limit_bytes, &s);
	if (result == TAC_OK) {
		const double default_s = 10 + (double)(s.size >> 20);
		if (limits.time_limit_s == 0)
			limits.time_limit_s = default_s < TIME_MAX_S ? default_s : TIME_MAX_S;
		size_t size = 0;
		void *bytes = import(path, &s, &limits, &size, &result);
		if (bytes)
			result = build_from_record(path, &limits, bytes, size, out_mesh);
		free(bytes);
	}
	close_source(&s);
	return result;
}

void tac_mesh_load_confinement(char *out_text, size_t size)
{
	const uint64_t grants = atomic_load(&last_grants);
	const char *files =
		"all of the user's, for reading (this kernel grants neither Landlock nor namespaces)";
	if (grants & TAC_SANDBOX_LANDLOCK)
		files = "its folder (Landlock)";
	else if (grants & TAC_SANDBOX_ROOT)
		files = "its folder (mount namespace)";
	if (grants)
		snprintf(out_text, size, "confined; files: %s; network: none (seccomp%s)", files,
			 grants & TAC_SANDBOX_NAMESPACES ? ", namespace" : "");
	else
		snprintf(out_text, size, "not started");
}
