#include "devices/serial/serial.h"

#include "rt/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

// ---- discovery ----

static const char *root_folder(void)
{
	const char *root = secure_getenv("TACTUS_SERIAL_ROOT");
	return root ? root : "";
}

// Reads the first line of a file of sysfs; empty if there is none.
static void read_line(const char *folder, const char *name, char *out, size_t size)
{
	char path[512];
	out[0] = '\0';
	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
		return;
	FILE *file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(out, (int)size, file))
		out[strcspn(out, "\n")] = '\0';
	fclose(file);
}

static bool has_id(const char *folder, const char *name, uint16_t id)
{
	char text[16], *end;
	read_line(folder, name, text, sizeof text);
	return strtoul(text, &end, 16) == id && end != text;
}

// Names of ports; no other kind of port belongs to a CDC device.
static int is_port(const struct dirent *entry)
{
	return strncmp(entry->d_name, "ttyACM", 6) == 0;
}

int tac_serial_list(uint16_t vendor_id, uint16_t product_id, tac_serial_port *out_ports, int max)
{
	char folder[256];
	struct dirent **names;
	int found = 0;
	snprintf(folder, sizeof folder, "%s/sys/class/tty", root_folder());
	const int count = scandir(folder, &names, is_port, versionsort);
	for (int i = 0; i < count; i++) {
		// The port belongs to an interface, and that to the device.
		char device[512];
		snprintf(device, sizeof device, "%s/%.32s/device/..", folder, names[i]->d_name);
		if (found < max && has_id(device, "idVendor", vendor_id) &&
		    has_id(device, "idProduct", product_id)) {
			tac_serial_port *port = &out_ports[found++];
			snprintf(port->path, sizeof port->path, "%.200s/dev/%.32s", root_folder(),
				 names[i]->d_name);
			read_line(device, "serial", port->serial, sizeof port->serial);
			read_line(device, "product", port->product, sizeof port->product);
		}
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return found;
}

// ---- a port ----

int tac_serial_open(const char *path)
{
	const int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -1;
	struct termios settings;
	int error = 0;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		error = errno == EWOULDBLOCK ? EBUSY : errno;
	} else if (tcgetattr(fd, &settings) != 0) {
		error = errno;
	} else {
		cfmakeraw(&settings);
		settings.c_cflag |= CLOCAL | CREAD;
		settings.c_cflag &= ~(tcflag_t)HUPCL; // closing must not reset the device
		cfsetspeed(&settings, B115200);       // which a CDC device ignores
		if (tcsetattr(fd, TCSANOW, &settings) != 0)
			error = errno;
	}
	if (error) {
		close(fd);
		errno = error;
		return -1;
	}
	ioctl(fd, TIOCEXCL);
	tcflush(fd, TCIOFLUSH);
	return fd;
}

tac_driver_state tac_serial_failure(int error, const char *path, char *out_reason, size_t size)
{
	if (error == EACCES || error == EPERM) {
		snprintf(out_reason, size,
			 "%s may not be opened; install packaging/70-tactus.rules, or join the group of the "
			 "file "
			 "(dialout in Debian)",
			 path);
		return TAC_DRIVER_NO_PERMISSION;
	}
	if (error == EBUSY) {
		snprintf(out_reason, size, "%s is in use by another program", path);
		return TAC_DRIVER_BUSY;
	}
	snprintf(out_reason, size, "%s: %s", path, strerror(error));
	return TAC_DRIVER_FAILED;
}

// Waits for `events`; false: the deadline has passed, or the device is gone (*out_gone).
static bool wait_for(int fd, short events, int64_t deadline_ns, bool *out_gone)
{
	const int64_t left_ns = deadline_ns - tac_clock_now_ns();
	const struct timespec left = {left_ns > 0 ? left_ns / TAC_NS_PER_S : 0,
				      left_ns > 0 ? left_ns % TAC_NS_PER_S : 0};
	struct pollfd port = {.fd = fd, .events = events};
	*out_gone = false;
	if (ppoll(&port, 1, &left, NULL) <= 0)
		return false;
	*out_gone = (port.revents & (POLLERR | POLLNVAL)) != 0 ||
		    ((port.revents & POLLHUP) && !(port.revents & POLLIN));
	return !*out_gone;
}

bool tac_serial_write(int fd, const uint8_t *bytes, size_t count, int64_t deadline_ns)
{
	size_t written = 0;
	bool gone;
	while (written < count) {
		const ssize_t n = write(fd, bytes + written, count - written);
		if (n > 0)
			written += (size_t)n;
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		else if (!wait_for(fd, POLLOUT, deadline_ns, &gone))
			return false;
	}
	return true;
}

int tac_serial_read(int fd, uint8_t *out_bytes, size_t size, int64_t deadline_ns)
{
	bool gone;
	if (!wait_for(fd, POLLIN, deadline_ns, &gone))
		return gone ? -1 : 0;
	const ssize_t n = read(fd, out_bytes, size);
	if (n > 0)
		return (int)n;
	return n == 0 || (errno != EAGAIN && errno != EINTR) ? -1 : 0; // end of file: unplugged
}

// ---- streams ----

bool tac_serial_stream_fill(tac_serial_stream *stream, int fd, int64_t deadline_ns)
{
	if (stream->size == sizeof stream->bytes) // more than any answer has: nobody decodes it
		stream->size = 0;
	const int n = tac_serial_read(fd, stream->bytes + stream->size, sizeof stream->bytes - stream->size,
				      deadline_ns);
	if (n > 0)
		stream->size += (size_t)n;
	return n >= 0;
}

void tac_serial_stream_drop(tac_serial_stream *stream, size_t count)
{
	memmove(stream->bytes, stream->bytes + count, stream->size - count);
	stream->size -= count;
}
