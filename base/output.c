#include "base/output.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct tac_output {
	FILE *file;
	int fd;     // -1: the standard output
	bool named; // the temporary file has the name `temporary`
	bool direct;
	int error; // errno of the first failed write; 0: none
	char what[32];
	char path[PATH_MAX];      // as given, for log lines
	char target[PATH_MAX];    // symbolic links resolved
	char temporary[PATH_MAX]; // in the folder of the target
};

static tac_result fail(const tac_output *o, int error)
{
	tac_log(TAC_LOG_ERROR, "%s: expected to write %s, found: %s", o->what, o->path, strerror(error));
	return error == ENOMEM ? TAC_ERROR_MEMORY : TAC_ERROR_IO;
}

static bool below(const char *path, const char *folder)
{
	return strncmp(path, folder, strlen(folder)) == 0;
}

static bool is_stream(const char *path)
{
	struct stat status;
	return strcmp(path, "-") == 0 || below(path, "/dev/std") || below(path, "/dev/fd/") ||
	       below(path, "/proc/") ||
	       (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

bool tac_output_same_file(const char *a, const char *b)
{
	struct stat first, second;
	return !is_stream(a) && !is_stream(b) && stat(a, &first) == 0 && stat(b, &second) == 0 &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Follows symbolic links, also those whose target does not exist yet. False with errno.
static bool resolve(const char *path, char *out)
{
	char link[PATH_MAX];
	if (snprintf(out, PATH_MAX, "%s", path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	for (int links = 0; links < 40; links++) {
		const ssize_t length = readlink(out, link, sizeof link - 1);
		if (length < 0)
			return true; // not a link; whatever else is wrong shows when the file is created
		link[length] = '\0';
		char *slash = strrchr(out, '/');
		char *name = link[0] == '/' || !slash ? out : slash + 1;
		if (snprintf(name, (size_t)(out + PATH_MAX - name), "%s", link) >= out + PATH_MAX - name) {
			errno = ENAMETOOLONG;
			return false;
		}
	}
	errno = ELOOP;
	return false;
}

// ---- writing ----

// write(2) that collects the signal it raises.
static ssize_t write_without_signal(int fd, const void *bytes, size_t count)
{
	sigset_t raised, before, pending;
	sigemptyset(&raised);
	sigaddset(&raised, SIGPIPE);
	sigaddset(&raised, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &raised, &before);
	const ssize_t written = write(fd, bytes, count);
	const int error = errno;
	if (written < 0 && (error == EPIPE || error == EFBIG) &&
	    !sigismember(&pending, error == EPIPE ? SIGPIPE : SIGXFSZ))
		sigtimedwait(&raised, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return written;
}

size_t tac_output_write(int fd, const void *bytes, size_t count, int *out_error)
{
	size_t done = 0;
	*out_error = 0;
	while (done < count && *out_error == 0) {
		const ssize_t written = write_without_signal(fd, (const char *)bytes + done, count - done);
		if (written > 0)
			done += (size_t)written;
		else if (written == 0 || errno != EINTR)
			*out_error = written == 0 ? EIO : errno;
	}
	return done;
}

int tac_output_open_stream(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
	const int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
	if (flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
		return fd;
	const int error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

static ssize_t write_cookie(void *cookie, const char *bytes, size_t count)
{
	tac_output *o = cookie;
	int error = 0;
	if (o->error == 0)
		tac_output_write(o->fd, bytes, count, &error);
	o->error = o->error == 0 ? error : o->error;
	return o->error == 0 ? (ssize_t)count : 0;
}

FILE *tac_output_file(tac_output *output)
{
	return output->file;
}

// ---- opening ----

// False with errno: it was open, and closing failed.
static bool close_fd(tac_output *o)
{
	const int fd = o->fd;
	o->fd = -1;
	return fd < 0 || close(fd) == 0;
}

// The folder of a path of up to PATH_MAX bytes.
static void folder_of(const char *path, char *out)
{
	const char *slash = strrchr(path, '/');
	snprintf(out, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 2, slash ? path : "./");
}

// A name in the target's folder that hardly any file has.
static void name_temporary(tac_output *o, unsigned attempt)
{
	char folder[PATH_MAX];
	folder_of(o->target, folder);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	const int length = snprintf(o->temporary, sizeof o->temporary, "%s.tactus-%d-%lx-%u", folder,
				    (int)getpid(), (unsigned long)now.tv_nsec, attempt);
	if (length >= (int)sizeof o->temporary) // an incomplete name must not be taken for a file
		o->temporary[0] = '\0';
}

// A file without a name, or with a temporary one where the file system or the lack of /proc requires it.
static int open_temporary(tac_output *o)
{
	char folder[PATH_MAX];
	folder_of(o->target, folder);
	if (access("/proc/self/fd", X_OK) == 0) {
		const int fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
		if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
			return fd;
	}
	o->named = true;
	int fd = -1;
	errno = EEXIST;
	for (unsigned attempt = 0; fd < 0 && errno == EEXIST && attempt < 100; attempt++) {
		name_temporary(o, attempt);
		fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	o->named = fd >= 0;
	return fd;
}

// Opens the file that replaces the target. False with errno.
static bool open_replacement(tac_output *o)
{
	struct stat status;
	if (!resolve(o->path, o->target))
		return false;
	const bool exists = stat(o->target, &status) == 0;
	if (exists && S_ISDIR(status.st_mode)) {
		errno = EISDIR;
		return false;
	}
	if (exists && access(o->target, W_OK) != 0) // a file that is protected stays
		return false;
	o->fd = open_temporary(o);
	// The owner may only be kept by a privileged user; others replace the file by one of their own.
	if (o->fd >= 0 && exists && fchown(o->fd, status.st_uid, status.st_gid) != 0)
		errno = 0;
	return o->fd >= 0 && (!exists || fchmod(o->fd, status.st_mode & 07777) == 0);
}

tac_result tac_output_create(const char *path, const char *what, tac_output **out_output)
{
	*out_output = NULL;
	tac_output *o = calloc(1, sizeof *o);
	if (!o) {
		tac_log(TAC_LOG_ERROR, "%s: expected memory to write %s, found none", what, path);
		return TAC_ERROR_MEMORY;
	}
	o->fd = -1;
	snprintf(o->what, sizeof o->what, "%s", what);
	if (snprintf(o->path, sizeof o->path, "%s", path) >= (int)sizeof o->path) {
		const tac_result result = fail(o, ENAMETOOLONG);
		free(o);
		return result;
	}
	if (strcmp(path, "-") == 0) {
		o->direct = true;
		o->file = stdout;
	} else if (is_stream(path)) {
		o->direct = true;
		o->fd = tac_output_open_stream(path);
	} else if (!open_replacement(o)) {
		close_fd(o);
	}
	if (o->fd >= 0) {
		o->file = fopencookie(o, "w", (cookie_io_functions_t){.write = write_cookie});
		if (!o->file)
			errno = ENOMEM;
	}
	if (!o->file) {
		const tac_result result = fail(o, errno);
		tac_output_discard(&o);
		return result;
	}
	*out_output = o;
	return TAC_OK;
}

// ---- the end ----

// Names the nameless file, so that it can replace the target. False with errno.
static bool name_file(tac_output *o)
{
	char source[64];
	snprintf(source, sizeof source, "/proc/self/fd/%d", o->fd);
	errno = EEXIST;
	for (unsigned attempt = 0; !o->named && errno == EEXIST && attempt < 100; attempt++) {
		name_temporary(o, attempt);
		o->named = linkat(AT_FDCWD, source, AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW) == 0;
	}
	return o->named;
}

// The folder's entry is on the disk only after this. A file system without it has its own order.
static void sync_folder(const tac_output *o)
{
	char folder[PATH_MAX];
	folder_of(o->target, folder);
	const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

// Writes what the stream still holds, and brings the file to its place. Returns 0 or the first errno.
static int complete(tac_output *o)
{
	if (o->fd < 0)
		return fflush(o->file) != 0 || ferror(o->file) ? (errno ? errno : EIO) : 0;
	const bool closed = fclose(o->file) == 0;
	o->file = NULL;
	if (o->error != 0 || !closed)
		return o->error != 0 ? o->error : errno;
	if (!o->direct && (fsync(o->fd) != 0 || !name_file(o)))
		return errno;
	// A network file system may report a failed write only here.
	if (!close_fd(o))
		return errno;
	if (o->direct)
		return 0;
	if (rename(o->temporary, o->target) != 0)
		return errno;
	o->named = false;
	sync_folder(o);
	return 0;
}

tac_result tac_output_commit(tac_output **output)
{
	const int error = complete(*output);
	const tac_result result = error == 0 ? TAC_OK : fail(*output, error);
	tac_output_discard(output);
	return result;
}

void tac_output_discard(tac_output **output)
{
	tac_output *o = *output;
	*output = NULL;
	if (!o)
		return;
	if (o->file && o->file != stdout) {
		o->error = o->error != 0 || o->direct ? o->error : ECANCELED; // nothing more reaches the disk
		fclose(o->file);
	}
	close_fd(o);
	if (o->named)
		unlink(o->temporary);
	free(o);
}
