#include "share/station.h"

#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_S 5 // for a run to hand its memory over

struct tac_station {
	tac_seam *seam;
	tac_station_command_fn *on_command;
	void *user;
	int listener, end_event;
	pthread_t thread;
	_Atomic uint32_t bridges;
};

bool tac_station_name_valid(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const size_t length = strlen(name);
	return length > 0 && length < TAC_STATION_NAME && strchr(letters, name[0]) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == length;
}

// The abstract address of a name: it begins with a NUL.
static socklen_t address_of(const char *name, struct sockaddr_un *out_address)
{
	*out_address = (struct sockaddr_un){.sun_family = AF_UNIX};
	const int length = snprintf(out_address->sun_path + 1, sizeof out_address->sun_path - 1,
				    "tactus-station-%s", name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

// Whether the process at the other end belongs to this user or to root.
static bool peer_is_ours(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

// ---- of the run ----

// Sends the descriptor of the seam, with one byte.
static bool hand_over(int to, int fd)
{
	char byte = 1;
	struct iovec part = {&byte, 1};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {0};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	return sendmsg(to, &message, MSG_NOSIGNAL) == 1;
}

static bool command_valid(const tac_station_command *c)
{
	return c->kind >= 0 && c->kind < TAC_STATION_COMMAND_COUNT &&
	       (c->kind != TAC_STATION_GAIN || (c->value >= 0 && c->value <= 1));
}

// Carries out one command. False: the bridge has gone, or sends what is no command.
static bool serve(tac_station *s, int bridge)
{
	tac_station_command command;
	if (recv(bridge, &command, sizeof command, MSG_DONTWAIT) != (ssize_t)sizeof command)
		return false;
	const bool done = command_valid(&command) && s->on_command(s->user, &command);
	const tac_station_answer answer = {.number = command.number, .done = done, .kind = command.kind};
	// A bridge that does not read its answers loses them.
	return send(bridge, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) > 0 || errno == EAGAIN;
}

// Accepts a bridge; -1: there is none, or it was sent away.
static int welcome(tac_station *s)
{
	const int bridge = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	if (bridge < 0)
		return -1;
	if (!peer_is_ours(bridge)) {
		close(bridge);
		return -1;
	}
	atomic_fetch_add_explicit(&s->bridges, 1, memory_order_relaxed);
	if (!hand_over(bridge, tac_seam_fd(s->seam))) {
		close(bridge);
		return -1;
	}
	return bridge;
}

// While a bridge is connected, others wait in the listener's queue: the rings have one reader.
static void *listen_for_bridges(void *user)
{
	tac_station *s = user;
	int bridge = -1;
	for (;;) {
		struct pollfd events[] = {{.fd = s->end_event, .events = POLLIN},
					  {.fd = bridge >= 0 ? bridge : s->listener, .events = POLLIN}};
		if (poll(events, 2, -1) < 0 && errno != EINTR)
			break;
		if (events[0].revents)
			break;
		if (!events[1].revents)
			continue;
		if (bridge < 0) {
			bridge = welcome(s);
		} else if (!serve(s, bridge)) {
			close(bridge);
			bridge = -1;
		}
	}
	if (bridge >= 0)
		close(bridge);
	return NULL;
}

static tac_result start(tac_station *s, const char *name)
{
	struct sockaddr_un address;
	const socklen_t size = address_of(name, &address);
	if (s->listener < 0 || s->end_event < 0 ||
	    bind(s->listener, (struct sockaddr *)&address, size) != 0 || listen(s->listener, 4) != 0) {
		const int error = errno;
		tac_log(TAC_LOG_ERROR, "share: expected to share this run as '%s', found: %s", name,
			error == EADDRINUSE ? "another run on this machine has that name" : strerror(error));
		return TAC_ERROR_SYSTEM;
	}
	const int error = pthread_create(&s->thread, NULL, listen_for_bridges, s);
	if (error != 0) {
		tac_log(TAC_LOG_ERROR, "share: expected a thread, found: %s", strerror(error));
		return TAC_ERROR_SYSTEM;
	}
	return TAC_OK;
}

static void free_station(tac_station *s)
{
	if (s->listener >= 0)
		close(s->listener);
	if (s->end_event >= 0)
		close(s->end_event);
	free(s);
}

tac_result tac_station_create(const char *name, tac_seam *seam, tac_station_command_fn *on_command,
			      void *user, tac_station **out_station)
{
	*out_station = NULL;
	if (!tac_station_name_valid(name)) {
		tac_log(TAC_LOG_ERROR,
			"share: expected a name of 1 to 32 letters, digits, _ or -, with a letter first, "
			"found '%s'",
			name);
		return TAC_ERROR_ARGUMENT;
	}
	tac_station *s = calloc(1, sizeof *s);
	if (!s) {
		tac_log(TAC_LOG_ERROR, "share: expected %zu bytes, found no memory", sizeof *s);
		return TAC_ERROR_MEMORY;
	}
	s->seam = seam;
	s->on_command = on_command;
	s->user = user;
	s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	s->end_event = eventfd(0, EFD_CLOEXEC);
	const tac_result result = start(s, name);
	if (result < TAC_OK) {
		free_station(s);
		return result;
	}
	*out_station = s;
	return TAC_OK;
}

void tac_station_destroy(tac_station **station)
{
	tac_station *s = *station;
	*station = NULL;
	if (!s)
		return;
	eventfd_write(s->end_event, 1);
	pthread_join(s->thread, NULL);
	free_station(s);
}

uint32_t tac_station_bridges(const tac_station *station)
{
	return atomic_load_explicit(&station->bridges, memory_order_relaxed);
}

// ---- of the bridge ----

// The descriptor that the run hands over; -1: none came in time.
static int receive_seam(int fd)
{
	char byte;
	struct iovec part = {&byte, 1};
	int seam_fd = -1;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof seam_fd)];
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof seam_fd))
		memcpy(&seam_fd, CMSG_DATA(c), sizeof seam_fd);
	return seam_fd;
}

int tac_station_connect(const char *name, tac_seam **out_seam)
{
	*out_seam = NULL;
	struct sockaddr_un address;
	const socklen_t size = address_of(name, &address);
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	const struct timeval patience = {.tv_sec = ANSWER_S};
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, size) != 0 || !peer_is_ours(fd) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	const int seam_fd = receive_seam(fd);
	const tac_result result = seam_fd >= 0 ? tac_seam_attach(seam_fd, out_seam) : TAC_ERROR_IO;
	if (seam_fd >= 0)
		close(seam_fd);
	if (result < TAC_OK) {
		close(fd);
		return -1;
	}
	return fd;
}
