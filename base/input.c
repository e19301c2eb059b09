#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ssize_t read_some(void *cookie, char *out, size_t size)
{
	const int fd = (int)(intptr_t)cookie;
	for (;;) {
		const ssize_t bytes = read(fd, out, size);
		if (bytes >= 0 || (errno != EAGAIN && errno != EINTR))
			return bytes;
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		const int count = errno == EINTR ? 1 : poll(&ready, 1, 1000 * TAC_INPUT_WAIT_S);
		if (count == 0)
			errno = ETIMEDOUT;
		if (count == 0 || (count < 0 && errno != EINTR))
			return -1;
	}
}

static int close_descriptor(void *cookie)
{
	return close((int)(intptr_t)cookie);
}

static FILE *fail(int fd, int error)
{
	if (fd >= 0)
		close(fd);
	errno = error;
	return NULL;
}

// A pipe without a writer is at its end at once for a reader that does not block; here it is waited for.
static int await_writer(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	const int count = poll(&ready, 1, 1000 * TAC_INPUT_WAIT_S);
	return count == 0 ? ETIMEDOUT : 0;
}

FILE *tac_input_open(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0)
		return fail(fd, errno);
	if (S_ISDIR(status.st_mode))
		return fail(fd, EISDIR);
	if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && !isatty(fd)))
		return fail(fd, ENODEV);
	if (S_ISFIFO(status.st_mode)) {
		const int error = await_writer(fd);
		if (error != 0)
			return fail(fd, error);
	}
	const cookie_io_functions_t functions = {.read = read_some, .close = close_descriptor};
	FILE *file = fopencookie((void *)(intptr_t)fd, "r", functions);
	return file ? file : fail(fd, errno);
}

const char *tac_input_reason(int error)
{
	switch (error) {
	case EISDIR:
		return "it is a folder";
	case ENODEV:
		return "it is a device";
	case ETIMEDOUT:
		return "no data came for 5 s";
	case EFBIG:
		return "a line is longer than 65536 bytes";
	default:
		return strerror(error);
	}
}

long tac_input_line(FILE *file, char *out)
{
	long length = 0;
	int c = 0;
	errno = 0;
	while (c != '\n' && (c = getc_unlocked(file)) != EOF) {
		if (length == TAC_INPUT_LINE_MAX) {
			errno = EFBIG;
			return -1;
		}
		out[length++] = (char)c;
	}
	out[length] = '\0';
	return ferror(file) ? -1 : length;
}
