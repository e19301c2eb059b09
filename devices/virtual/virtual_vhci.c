#include "devices/virtual_vhci.h"

#include "base/log.h"
#include "rt/thread.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONTROLLER "/sys/devices/platform/vhci_hcd.0"
#define DEVICE_ID  0x00010001U // bus 1, device 1 of the remote machine; the value does not matter
#define PORT_FREE  4           // VDEV_ST_NULL
#define SPEED_FULL 2           // enum usb_device_speed
#define SPEED_HIGH 3

// The protocol: headers of 48 bytes, all numbers big-endian.
enum {
	HEADER_WORDS = 12,
	COMMAND_SUBMIT = 1,
	COMMAND_UNLINK = 2,
	RETURN_SUBMIT = 3,
	RETURN_UNLINK = 4,
	WORD_COMMAND = 0,
	WORD_SEQUENCE = 1,
	WORD_DIRECTION = 3, // 1: IN
	WORD_ENDPOINT = 4,
	WORD_FLAGS = 5,  // of SUBMIT
	WORD_LENGTH = 6, // of SUBMIT
	WORD_SETUP = 10, // of SUBMIT, 8 bytes
	WORD_VICTIM = 5, // of UNLINK
	WORD_STATUS = 5, // of both answers
	WORD_ACTUAL = 6, // of RETURN_SUBMIT
	FLAG_ZERO_PACKET = 0x40,
	LENGTH_MAX = 16 << 20, // the most that Linux lets programs have in transfers at once
};

// A transfer of the host.
typedef struct pending {
	tac_virtual_urb urb;
	tac_virtual_vhci *from;
	uint32_t sequence;
	bool unlinked;
	uint32_t unlink_sequence;
	struct pending *next;
	uint8_t bytes[];
} pending;

struct tac_virtual_vhci {
	tac_virtual_usb *device;
	int socket, port;
	pthread_t thread;
	atomic_bool attached;
	pthread_mutex_t lock; // of `in_flight`, and of writing to the socket
	pending *in_flight;
};

static bool read_all(int socket, void *bytes, size_t count)
{
	for (uint8_t *p = bytes; count > 0;) {
		ssize_t got = recv(socket, p, count, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		count -= (size_t)got;
	}
	return true;
}

static bool write_all(int socket, const void *bytes, size_t count)
{
	for (const uint8_t *p = bytes; count > 0;) {
		ssize_t put = send(socket, p, count, MSG_NOSIGNAL);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		p += put;
		count -= (size_t)put;
	}
	return true;
}

// With the lock held.
static void answer(tac_virtual_vhci *vhci, uint32_t command, uint32_t sequence, int status, uint32_t actual,
		   const uint8_t *bytes, uint32_t count)
{
	uint32_t header[HEADER_WORDS] = {0};
	header[WORD_COMMAND] = htonl(command);
	header[WORD_SEQUENCE] = htonl(sequence);
	header[WORD_STATUS] = htonl((uint32_t)status);
	header[WORD_ACTUAL] = htonl(actual);
	if (write_all(vhci->socket, header, sizeof header) && count > 0)
		write_all(vhci->socket, bytes, count);
}

// On the device's thread, or on the one that cancels.
static void on_complete(tac_virtual_urb *urb)
{
	pending *p = (pending *)urb;
	tac_virtual_vhci *vhci = p->from;
	pthread_mutex_lock(&vhci->lock);
	for (pending **link = &vhci->in_flight; *link; link = &(*link)->next)
		if (*link == p) {
			*link = p->next;
			break;
		}
	if (p->unlinked) {
		answer(vhci, RETURN_UNLINK, p->unlink_sequence, -ECONNRESET, 0, NULL, 0);
	} else {
		bool in = (urb->endpoint & 0x80) != 0;
		answer(vhci, RETURN_SUBMIT, p->sequence, urb->status, urb->done, p->bytes,
		       in ? urb->done : 0);
	}
	pthread_mutex_unlock(&vhci->lock);
	free(p);
}

static bool take_submit(tac_virtual_vhci *vhci, const uint32_t *header)
{
	const uint32_t length = ntohl(header[WORD_LENGTH]);
	const bool in = ntohl(header[WORD_DIRECTION]) == 1;
	if (length > LENGTH_MAX)
		return false;
	pending *p = calloc(1, sizeof *p + length);
	if (!p || (!in && !read_all(vhci->socket, p->bytes, length))) {
		free(p);
		return false;
	}
	p->from = vhci;
	p->sequence = ntohl(header[WORD_SEQUENCE]);
	p->urb = (tac_virtual_urb){
		.endpoint = (uint8_t)((ntohl(header[WORD_ENDPOINT]) & 15) | (in ? 0x80U : 0U)),
		.zero_packet = (ntohl(header[WORD_FLAGS]) & FLAG_ZERO_PACKET) != 0,
		.bytes = p->bytes,
		.count = length,
		.complete = on_complete,
	};
	memcpy(p->urb.setup, &header[WORD_SETUP], sizeof p->urb.setup);
	pthread_mutex_lock(&vhci->lock);
	p->next = vhci->in_flight;
	vhci->in_flight = p;
	pthread_mutex_unlock(&vhci->lock);
	tac_virtual_usb_submit(vhci->device, &p->urb);
	return true;
}

static void take_unlink(tac_virtual_vhci *vhci, const uint32_t *header)
{
	const uint32_t victim = ntohl(header[WORD_VICTIM]), sequence = ntohl(header[WORD_SEQUENCE]);
	pthread_mutex_lock(&vhci->lock);
	pending *p = vhci->in_flight;
	while (p && p->sequence != victim)
		p = p->next;
	if (!p) { // already answered
		answer(vhci, RETURN_UNLINK, sequence, 0, 0, NULL, 0);
	} else {
		p->unlinked = true; // the thread that completes it sends the answer
		p->unlink_sequence = sequence;
	}
	pthread_mutex_unlock(&vhci->lock);
	// If it completes meanwhile, cancelling only compares pointers, and only this thread creates new
	// ones.
	if (p)
		tac_virtual_usb_cancel(vhci->device, &p->urb);
}

static void *serve_thread(void *user)
{
	tac_virtual_vhci *vhci = user;
	uint32_t header[HEADER_WORDS];
	bool valid = true;
	while (valid && read_all(vhci->socket, header, sizeof header)) {
		switch (ntohl(header[WORD_COMMAND])) {
		case COMMAND_SUBMIT:
			valid = take_submit(vhci, header);
			break;
		case COMMAND_UNLINK:
			take_unlink(vhci, header);
			break;
		default:
			valid = false;
		}
	}
	atomic_store(&vhci->attached, false);
	shutdown(vhci->socket, SHUT_RDWR);
	return NULL;
}

tac_result tac_virtual_vhci_serve(tac_virtual_usb *device, int socket, tac_virtual_vhci **out_vhci)
{
	*out_vhci = NULL;
	tac_virtual_vhci *vhci = calloc(1, sizeof *vhci);
	if (!vhci) {
		tac_log(TAC_LOG_ERROR, "vhci: no memory");
		close(socket);
		return TAC_ERROR_MEMORY;
	}
	vhci->device = device;
	vhci->socket = socket;
	vhci->port = -1;
	atomic_store(&vhci->attached, true);
	pthread_mutex_init(&vhci->lock, NULL);
	tac_virtual_usb_plug(device, true);
	tac_result result = tac_thread_start(&vhci->thread, serve_thread, vhci);
	if (result < 0) {
		close(socket);
		pthread_mutex_destroy(&vhci->lock);
		free(vhci);
		return result;
	}
	*out_vhci = vhci;
	return TAC_OK;
}

void tac_virtual_vhci_detach(tac_virtual_vhci **vhci)
{
	tac_virtual_vhci *v = *vhci;
	if (!v)
		return;
	shutdown(v->socket, SHUT_RDWR); // for the kernel the device is unplugged
	pthread_join(v->thread, NULL);
	tac_virtual_usb_plug(v->device, false);
	close(v->socket);
	pthread_mutex_destroy(&v->lock);
	free(v);
	*vhci = NULL;
}

int tac_virtual_vhci_port(const tac_virtual_vhci *vhci)
{
	return vhci->port;
}

bool tac_virtual_vhci_attached(const tac_virtual_vhci *vhci)
{
	return atomic_load(&vhci->attached);
}

// ---- the kernel's controller ----

// The first free port for devices of USB 2, or -1 with *out_error set.
static int free_port(int *out_error)
{
	FILE *file = fopen(CONTROLLER "/status", "re");
	char line[256], hub[8];
	int port = -1;
	*out_error = errno;
	while (file && port < 0 && fgets(line, sizeof line, file)) {
		int number, state;
		if (sscanf(line, "%7s %d %d", hub, &number, &state) == 3 && strcmp(hub, "hs") == 0 &&
		    state == PORT_FREE)
			port = number;
	}
	if (file) {
		fclose(file);
		*out_error = 0;
	}
	return port;
}

// Gives one end of a socket to the kernel. 0 or an errno.
static int give_to_kernel(int port, int socket, bool high_speed)
{
	char line[64];
	int length = snprintf(line, sizeof line, "%d %d %u %d", port, socket, DEVICE_ID,
			      high_speed ? SPEED_HIGH : SPEED_FULL);
	int file = open(CONTROLLER "/attach", O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return errno;
	int error = write(file, line, (size_t)length) == length ? 0 : errno;
	close(file);
	return error;
}

tac_result tac_virtual_vhci_attach(tac_virtual_usb *device, tac_virtual_vhci **out_vhci)
{
	*out_vhci = NULL;
	int error;
	int port = free_port(&error);
	if (error == ENOENT) {
		tac_log(TAC_LOG_ERROR, "vhci: expected the kernel module vhci_hcd, found no " CONTROLLER
				       "; as root: modprobe vhci-hcd");
		return TAC_ERROR_UNSUPPORTED;
	}
	if (port < 0) {
		tac_log(TAC_LOG_ERROR, "vhci: expected a free port in " CONTROLLER "/status, found %s",
			error != 0 ? strerror(error) : "all in use");
		return TAC_ERROR_IO;
	}
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
		tac_log(TAC_LOG_ERROR, "vhci: socketpair: %s", strerror(errno));
		return TAC_ERROR_SYSTEM;
	}
	tac_result result = tac_virtual_vhci_serve(device, ends[0], out_vhci);
	if (result == TAC_OK) {
		(*out_vhci)->port = port;
		error = give_to_kernel(port, ends[1], tac_virtual_usb_model(device)->high_speed);
		if (error != 0) {
			tac_log(TAC_LOG_ERROR,
				"vhci: expected to attach a device by " CONTROLLER "/attach, found %s%s",
				strerror(error), error == EACCES ? "; only root may" : "");
			tac_virtual_vhci_detach(out_vhci);
			result = TAC_ERROR_IO;
		}
	}
	close(ends[1]); // the kernel has duplicated it
	return result;
}
