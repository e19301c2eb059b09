#include "devices/keeper/kept.h"

#include "base/helper.h"
#include "base/log.h"
#include "devices/keeper/channel.h"
#include "devices/keeper/messages.h"
#include "rt/clock.h"
#include "rt/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

_Static_assert(TAC_KEEPER_SOCKET_FD == TAC_HELPER_FIRST_FD, "the first descriptor of the guard");

#define POLL_MS   50                     // between two calls of `cancelled`
#define CANCEL_NS (2000 * TAC_NS_PER_MS) // for the keeper to end after it was cancelled
#define GUARD_NS  (5000 * TAC_NS_PER_MS) // for the guard to end after the keeper has ended
#define KILLED_NS (500 * TAC_NS_PER_MS)  // for a process to end that was killed
#define STARTS    100                    // of tactus-keep --let-go, if it is killed or cannot be started
#define RETRY_NS  (10 * TAC_NS_PER_MS)   // after it could not be started
#define SLICE_MS  25
#define SILENT_MS 500 // for the guard to end a keeper that does not work; then the runtime does it
#define ALONE_MS  100 // the same without a guard: the keeper notices its death at once, unless it is stopped

typedef struct kept {
	tac_device base;
	char program[TAC_HELPER_PATH];              // tactus-keep
	char selection[TAC_KEEPER_SELECTION_BYTES]; // the user's until the device is open, then its own
	tac_channel channel;
	int socket, event;
	pid_t guard;
	int guard_fd, keeper_fd; // of the processes: unlike their numbers, never those of others; -1: none
	atomic_bool enabled, lost, closing;
	pthread_t thread;

	// Of the real-time thread.
	tac_device_state state; // the last known
	double gripper_N;       // of the next order
	tac_device_status status;
} kept;

static kept *kept_of(tac_device *device)
{
	return (kept *)device;
}

static bool flag(const atomic_bool *f)
{
	return atomic_load_explicit(f, memory_order_relaxed);
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

// ---- the real-time thread ----

static void lose(kept *k)
{
	atomic_store_explicit(&k->lost, true, memory_order_relaxed);
}

static tac_device_status kept_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	(void)now_ns;
	kept *k = kept_of(device);
	tac_sample sample;
	const tac_channel_news news = tac_channel_take_sample(&k->channel, &sample);
	if (news == TAC_CHANNEL_NEW) {
		k->state = sample.state;
		k->status = (tac_device_status)sample.status;
	}
	if (news == TAC_CHANNEL_DAMAGED || k->status == TAC_DEVICE_LOST)
		lose(k);
	const bool lost = flag(&k->lost);
	if (lost) {
		k->state.velocity_m_per_s = tac_dvec3_zero();
		k->state.angular_velocity_rad_per_s = tac_dvec3_zero();
		k->state.gripper_m_per_s = 0;
	}
	*out_state = k->state;
	if (lost)
		return TAC_DEVICE_LOST;
	return news == TAC_CHANNEL_NEW ? k->status : TAC_DEVICE_STALE;
}

static tac_device_status kept_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)now_ns;
	kept *k = kept_of(device);
	if (flag(&k->lost))
		return TAC_DEVICE_LOST;
	tac_order order = {.time_ns = tac_clock_now_ns(), .wrench = *wrench};
	order.gripper_N = tac_gripper_saturate(k->gripper_N, device->info.max_gripper_N);
	tac_wrench_saturate(&order.wrench, device->info.max_force_N, device->info.max_torque_Nm);
	if (!tac_channel_send_order(&k->channel, &order))
		lose(k); // from the next tick on there are no orders, and the keeper commands zero
	eventfd_write(k->event, 1);
	return flag(&k->enabled) && k->status != TAC_DEVICE_DISABLED ? TAC_DEVICE_OK : TAC_DEVICE_DISABLED;
}

static void kept_set_gripper(tac_device *device, double force_N)
{
	kept_of(device)->gripper_N = force_N;
}

static void kept_enable(tac_device *device, bool on)
{
	kept *k = kept_of(device);
	atomic_store_explicit(&k->enabled, on, memory_order_relaxed);
	tac_channel_enable(&k->channel, on);
	eventfd_write(k->event, 1);
}

// ---- messages ----

// Takes the descriptor of the keeper's process out of its first message.
static void take_descriptor(kept *k, struct msghdr *header)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(header);
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return;
	close_if_open(k->keeper_fd);
	memcpy(&k->keeper_fd, CMSG_DATA(c), sizeof k->keeper_fd);
}

// Receives one message and passes a line on to the log. False: the keeper has closed its end.
static bool receive(kept *k, tac_keeper_message *out_message)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec body = {out_message, sizeof *out_message};
	struct msghdr header = {.msg_iov = &body,
				.msg_iovlen = 1,
				.msg_control = control.bytes,
				.msg_controllen = sizeof control.bytes};
	const ssize_t got = recvmsg(k->socket, &header, MSG_CMSG_CLOEXEC);
	if (got < 0 && errno == EINTR) {
		out_message->kind = -1;
		return true;
	}
	take_descriptor(k, &header);
	if (got != sizeof *out_message)
		return false;
	out_message->body.text[sizeof out_message->body.text - 1] = '\0';
	if (out_message->kind == TAC_KEEPER_LOG)
		tac_log((tac_log_level)out_message->value, "%s", out_message->body.text);
	return true;
}

// ---- starting tactus-keep ----

// Starts tactus-keep with `fds` as its descriptors from TAC_KEEPER_SOCKET_FD on. Returns 0 or an errno.
static int spawn(pid_t *out_child, const char *program, char *const *arguments, const int *fds, int fd_count)
{
	// Variables of a user who may have fewer privileges than this process go no further.
	char *const none_set[] = {NULL};
	const tac_helper_start_def def = {.program = program,
					  .arguments = arguments,
					  .environment = tac_helper_is_privileged() ? none_set : environ,
					  .fds = fds,
					  .fd_count = fd_count};
	return tac_helper_start(&def, out_child);
}

// ---- the end of the keeper ----

// Also if they are stopped.
static void kill_keeper_and_guard(const kept *k)
{
	pidfd_send_signal(k->keeper_fd, SIGKILL, NULL, 0);
	pidfd_send_signal(k->guard_fd, SIGKILL, NULL, 0);
}

// Waits for the end of the guard, and kills it if it is stopped or takes too long. `killed`: it was already.
static tac_guard_exit await_guard(const kept *k, bool killed)
{
	int64_t end_ns = tac_clock_now_ns() + (killed ? KILLED_NS : GUARD_NS);
	for (;;) {
		int status = 0;
		const pid_t changed = waitpid(k->guard, &status, WNOHANG | WUNTRACED);
		if (changed == k->guard && WIFEXITED(status))
			return (tac_guard_exit)WEXITSTATUS(status);
		if (changed == k->guard && WIFSIGNALED(status))
			return TAC_GUARD_KILLED;
		if (changed < 0 && errno == ECHILD)
			return TAC_GUARD_UNKNOWN;
		const bool late = tac_clock_now_ns() > end_ns;
		if (late && killed) // it is dead, but a debugger keeps it, or a frozen control group
			return TAC_GUARD_KILLED;
		if (late || changed == k->guard) {
			kill_keeper_and_guard(k);
			killed = true;
			end_ns = tac_clock_now_ns() + KILLED_NS;
		}
		tac_clock_sleep_until_ns(tac_clock_now_ns() + TAC_NS_PER_MS);
	}
}

// Without its guard the keeper closes the device and ends, unless it is stopped.
static void await_keeper(const kept *k)
{
	struct pollfd event = {.fd = k->keeper_fd, .events = POLLIN};
	if (poll(&event, 1, KILLED_NS / TAC_NS_PER_MS) <= 0)
		kill_keeper_and_guard(k);
}

// Nobody is left who could: starts tactus-keep in place of the guard to send zero, and waits for its end.
// What killed the guard may kill it, too, so it is started again.
static tac_guard_exit let_go(kept *k)
{
	char name[] = TAC_GUARD_NAME, role[] = TAC_KEEPER_ROLE_LET_GO, selection[sizeof k->selection];
	char *const arguments[] = {name, role, selection, NULL};
	memcpy(selection, k->selection, sizeof selection);
	for (int i = 0; i < STARTS; i++) {
		int status = TAC_GUARD_KILLED;
		if (spawn(&k->guard, k->program, arguments, NULL, 0) == 0) {
			close_if_open(k->guard_fd); // which leaves a descriptor for the next
			k->guard_fd = pidfd_open(k->guard, 0);
			status = (int)await_guard(k, false);
		}
		switch (status) {
		case EXIT_SUCCESS:
			return TAC_GUARD_LET_GO;
		case EXIT_FAILURE:
			return TAC_GUARD_NOT_REACHED;
		case TAC_GUARD_UNKNOWN:
			return TAC_GUARD_UNKNOWN;
		default: // it was killed, or could not be loaded: memory may be short for a moment
			tac_clock_sleep_until_ns(tac_clock_now_ns() + RETRY_NS);
		}
	}
	return TAC_GUARD_NOT_REACHED;
}

// Waits for a message and passes it on. False: the keeper has closed its end, or it is silent, and the guard,
// which should have noticed, is dead or silent, too.
static bool keeper_works(kept *k, uint32_t *beats, int *quiet_ms, bool *out_silent)
{
	struct pollfd event = {.fd = k->socket, .events = POLLIN};
	struct pollfd guard_end = {.fd = k->guard_fd, .events = POLLIN};
	tac_keeper_message message;
	if (poll(&event, 1, SLICE_MS) > 0)
		return receive(k, &message);
	const uint32_t now = tac_channel_beats(&k->channel);
	// Slices without a beat, rather than time: a thread that was held up itself has missed none.
	*quiet_ms = now == *beats ? *quiet_ms + SLICE_MS : 0;
	*beats = now;
	*out_silent = *quiet_ms >= (poll(&guard_end, 1, 0) > 0 ? ALONE_MS : SILENT_MS);
	return !*out_silent;
}

// Waits for the keeper's end, and sees to it that zero is sent.
static void *watch(void *user)
{
	kept *k = user;
	uint32_t beats = 0;
	int quiet_ms = 0;
	bool silent = false;
	while (keeper_works(k, &beats, &quiet_ms, &silent)) {
	}
	const bool unexpected = !flag(&k->closing); // before anybody can see the loss and close the device
	lose(k);
	shutdown(k->socket, SHUT_RDWR); // a keeper that sends anything but messages must end, too
	if (silent)
		kill_keeper_and_guard(k);
	tac_guard_exit ended = await_guard(k, silent);
	if (ended != TAC_GUARD_ORDERLY && ended != TAC_GUARD_LET_GO) {
		await_keeper(k);
		ended = let_go(k);
	}
	if (unexpected && ended != TAC_GUARD_ORDERLY)
		tac_log(TAC_LOG_ERROR, "%s: expected its keeper to run, found that it was ended; %s",
			k->selection,
			ended == TAC_GUARD_LET_GO    ? "the motors were set to zero"
			: ended == TAC_GUARD_UNKNOWN ? "tactus-keep --let-go was started, with unknown result"
						     : "the device was not reached: switch it off");
	return NULL;
}

// ---- set-up ----

static tac_result find_keeper(const char *selection, const char *requested, char out_path[TAC_HELPER_PATH])
{
	static const char *const places[] = {"tactus-keep", "../libexec/tactus/tactus-keep",
					     "../../libexec/tactus/tactus-keep", NULL};
	const tac_helper_def def = {requested, "TACTUS_KEEPER", places, TAC_KEEPER_INSTALLED};
	char reason[2 * TAC_HELPER_PATH];
	if (tac_helper_find_program(&def, out_path, reason, sizeof reason))
		return TAC_OK;
	tac_log(TAC_LOG_ERROR, "%s: no program tactus-keep, which holds the device: %s", selection, reason);
	return TAC_ERROR_UNSUPPORTED;
}

// Moves a new descriptor above those that the keeper inherits, so that spawning overwrites none of them.
// Returns -1 if `fd` is -1 or cannot be moved.
static int move_up(int fd)
{
	const int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, TAC_KEEPER_FD_END);
	if (fd >= 0)
		close(fd);
	return moved;
}

// Creates what the two processes share, and starts the guard. Returns 0 or an errno.
static int start(kept *k, const char *firmware)
{
	int ends[2] = {-1, -1};
	const int memory = move_up(tac_channel_create());
	k->event = move_up(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	int error = 0;
	if (memory < 0 || k->event < 0 || !tac_channel_map(&k->channel, memory, TAC_CHANNEL_RUNTIME) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		error = errno;
	ends[0] = move_up(ends[0]);
	ends[1] = move_up(ends[1]);
	if (!error && (ends[0] < 0 || ends[1] < 0))
		error = EMFILE;
	k->socket = ends[0];
	char name[] = TAC_GUARD_NAME, image[PATH_MAX];
	if ((size_t)snprintf(image, sizeof image, "%s", firmware ? firmware : "") >= sizeof image)
		error = ENAMETOOLONG;
	char *const arguments[] = {name, k->selection, firmware ? image : NULL, NULL};
	const int fds[] = {ends[1], memory, k->event};
	if (!error)
		error = spawn(&k->guard, k->program, arguments, fds, sizeof fds / sizeof *fds);
	if (!error && (k->guard_fd = pidfd_open(k->guard, 0)) < 0)
		error = errno;
	close_if_open(ends[1]);
	close_if_open(memory);
	return error;
}

static tac_result accept_result(kept *k, const tac_keeper_message *message)
{
	const tac_keeper_opened *opened = &message->body.opened;
	if (message->value < TAC_OK)
		return (tac_result)message->value;
	k->base.info = opened->info;
	snprintf(k->selection, sizeof k->selection, "%s", opened->selection);
	if (k->keeper_fd >= 0)
		return (tac_result)message->value;
	tac_log(TAC_LOG_ERROR, "%s: expected a descriptor of the keeper, found none", k->selection);
	return TAC_ERROR_SYSTEM;
}

// Waits for the keeper's result and passes its lines on to the log.
static tac_result await_result(kept *k, const tac_open_def *def)
{
	int64_t end_ns = INT64_MAX; // when it was cancelled
	while (tac_clock_now_ns() < end_ns) {
		struct pollfd socket = {.fd = k->socket, .events = POLLIN};
		if (poll(&socket, 1, POLL_MS) > 0) {
			tac_keeper_message message;
			if (!receive(k, &message))
				break;
			if (message.kind == TAC_KEEPER_RESULT)
				return accept_result(k, &message);
		}
		if (end_ns == INT64_MAX && def->cancelled && def->cancelled(def->user)) {
			shutdown(k->socket, SHUT_WR); // the keeper cancels, and the driver logs it
			end_ns = tac_clock_now_ns() + CANCEL_NS;
		}
	}
	const bool hangs = end_ns != INT64_MAX;
	if (hangs)
		kill_keeper_and_guard(k);
	tac_log(TAC_LOG_ERROR, "%s: expected the keeper to open the device, found that it %s", k->selection,
		hangs ? "did not answer after it was cancelled" : "ended");
	return TAC_ERROR_IO;
}

// When the device has not been opened. A vendor's library may move it while it is opened.
static void end_guard(kept *k)
{
	shutdown(k->socket, SHUT_RDWR);
	if (await_guard(k, false) != TAC_GUARD_KILLED)
		return;
	await_keeper(k);
	let_go(k);
}

static void release(kept *k)
{
	tac_channel_unmap(&k->channel);
	close_if_open(k->socket);
	close_if_open(k->event);
	close_if_open(k->guard_fd);
	close_if_open(k->keeper_fd);
	free(k);
}

static void kept_destroy(tac_device *device)
{
	kept *k = kept_of(device);
	atomic_store_explicit(&k->closing, true, memory_order_relaxed);
	shutdown(k->socket, SHUT_WR); // the keeper closes the device and then its end
	pthread_join(k->thread, NULL);
	release(k);
}

tac_result tac_kept_open(const char *selection, const tac_open_def *def, tac_device **out_device)
{
	*out_device = NULL;
	kept *k = calloc(1, sizeof *k);
	if (!k) {
		tac_log(TAC_LOG_ERROR, "%s: expected memory for a device, found none", selection);
		return TAC_ERROR_MEMORY;
	}
	k->socket = k->event = k->guard_fd = k->keeper_fd = -1;
	tac_result result = find_keeper(selection, def->keeper, k->program);
	if (result < 0) {
		release(k);
		return result;
	}
	snprintf(k->selection, sizeof k->selection, "%s", selection);
	if (getpid() == 1) // with its first process the kernel kills all of a PID namespace
		tac_log(TAC_LOG_WARNING,
			"%s: expected a process that outlives this one, found that it is the first of its "
			"container; if it is killed, the keeper is killed with it, and the force stays on",
			selection);
	const int error = start(k, def->firmware);
	if (error) {
		tac_log(TAC_LOG_ERROR, "%s: expected to start %s, found: %s", selection, k->program,
			strerror(error));
		if (k->guard > 0)
			end_guard(k);
		release(k);
		return TAC_ERROR_SYSTEM;
	}
	result = await_result(k, def);
	if (result >= TAC_OK) {
		const tac_result started = tac_thread_start(&k->thread, watch, k);
		result = started < TAC_OK ? started : result;
	}
	if (result < TAC_OK) {
		end_guard(k);
		release(k);
		return result;
	}
	k->base.read = kept_read;
	k->base.write = kept_write;
	k->base.enable = kept_enable;
	k->base.destroy = kept_destroy;
	k->base.set_gripper = kept_set_gripper;
	k->state.T_base_tool = tac_dpose_identity();
	*out_device = &k->base;
	return result;
}
