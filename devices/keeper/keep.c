// tactus-keep SELECTION [FIRMWARE]: holds a device for a Tactus runtime, which starts it
// (devices/keeper/kept.h). It is two processes: the guard (devices/keeper/guard.h) and, with --keeper, the
// keeper below, which opens the device and carries out orders. It commands zero when an order is missing for
// TAC_KEEPER_HOLD_NS, when it is not finite or above the device's limits, and while forces are switched off.
// It ends, with zero, when the runtime or the guard is gone, when the guard does not answer, and when the
// shared memory is damaged.
//
// tactus-keep --let-go SELECTION: sends zero to a device that nobody holds any more. Exit status 0: sent; 1:
// the device was not reached.
#include "base/log.h"
#include "devices/keeper/channel.h"
#include "devices/keeper/guard.h"
#include "devices/registry.h"
#include "rt/clock.h"
#include "rt/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALIVE_NS       (10 * TAC_NS_PER_MS) // between two bytes to the guard
#define UNANSWERED_MAX 100                  // bytes to the guard, 1 s: it is stopped
#define LET_GO_TICKS   50
#define LET_GO_ANSWERS 6          // more than commands can be in flight
#define LIMIT_ROUNDED  (1 + 1e-9) // of a limit: a shortened wrench may be longer by rounding

typedef struct keeper {
	tac_device *device;
	tac_channel channel;
	tac_order order;
	int64_t ordered_ns; // when it arrived
	int64_t written_ns; // the last write to the device
	int64_t alive_ns;   // the last byte to the guard
	int unanswered;     // bytes to the guard since its last answer
	int64_t period_ns;
	bool enabled;
	bool sampled; // since the last write
	bool damaged; // the shared memory
} keeper;

static void tell_guard(tac_leash_byte byte)
{
	const char c = (char)byte;
	send(TAC_KEEPER_LEASH_FD, &c, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Tells the guard from time to time that the keeper works. False: the guard does not answer any more.
static bool guard_answers(keeper *k, int64_t now_ns)
{
	char answers[64];
	if (now_ns - k->alive_ns < ALIVE_NS)
		return true;
	k->alive_ns = now_ns;
	k->unanswered++;
	if (recv(TAC_KEEPER_LEASH_FD, answers, sizeof answers, MSG_DONTWAIT) > 0)
		k->unanswered = 0;
	tell_guard(TAC_LEASH_ALIVE);
	return k->unanswered <= UNANSWERED_MAX;
}

static void send_line(void *user, tac_log_level level, const char *line)
{
	(void)user;
	tac_keeper_message message = {.kind = TAC_KEEPER_LOG, .value = (int32_t)level};
	snprintf(message.body.text, sizeof message.body.text, "%s", line);
	send(TAC_KEEPER_SOCKET_FD, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Whether the process at the other end has closed it. Nobody sends anything to the keeper before the device
// is open.
static bool hung_up(int fd)
{
	char byte;
	const ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static bool is_alone(void *user)
{
	(void)user;
	return hung_up(TAC_KEEPER_SOCKET_FD) || hung_up(TAC_KEEPER_LEASH_FD);
}

// ---- the loop ----

// Waits for an order, or until it is time to sample or to write again. False: the runtime or the guard is
// gone.
static bool wait_for_order(const keeper *k)
{
	// A sample shortly before the next order is due, so that it is fresh when the runtime reads it. Half
	// a period after a missing order the last one is repeated: the Falcon reports only in answer to
	// commands, and a read without a write sends zero.
	const int64_t due_ns = k->written_ns + (k->sampled ? 6 : 3) * k->period_ns / 4;
	const int64_t left_ns = due_ns - tac_clock_now_ns();
	const struct timespec left = {left_ns > 0 ? left_ns / TAC_NS_PER_S : 0,
				      left_ns > 0 ? left_ns % TAC_NS_PER_S : 0};
	struct pollfd events[3] = {{.fd = TAC_KEEPER_EVENT_FD, .events = POLLIN},
				   {.fd = TAC_KEEPER_SOCKET_FD, .events = POLLIN | POLLRDHUP},
				   {.fd = TAC_KEEPER_LEASH_FD, .events = POLLRDHUP}};
	ppoll(events, 3, &left, NULL);
	eventfd_t count;
	if (events[0].revents)
		eventfd_read(TAC_KEEPER_EVENT_FD, &count);
	return !events[1].revents && !events[2].revents;
}

// False: the device is lost.
static bool sample(keeper *k, int64_t now_ns)
{
	tac_sample s;
	s.status = tac_device_read(k->device, now_ns, &s.state);
	k->sampled = true;
	if (s.status != TAC_DEVICE_STALE && !tac_channel_send_sample(&k->channel, &s))
		k->damaged = true;
	return s.status != TAC_DEVICE_LOST;
}

// Whether the last order is to be obeyed now; otherwise zero is commanded.
static bool holds(const keeper *k, int64_t now_ns)
{
	const tac_wrench *w = &k->order.wrench;
	const tac_device_info *info = &k->device->info;
	// The order's own time may be any number, so nothing is subtracted from it.
	const bool recent = now_ns - k->ordered_ns <= TAC_KEEPER_HOLD_NS &&
			    k->order.time_ns >= now_ns - TAC_KEEPER_HOLD_NS;
	// False for a value that is not a number, too.
	const bool within = tac_dvec3_length(w->force_N) <= info->max_force_N * LIMIT_ROUNDED &&
			    tac_dvec3_length(w->torque_Nm) <= info->max_torque_Nm * LIMIT_ROUNDED &&
			    fabs(k->order.gripper_N) <= info->max_gripper_N;
	return k->enabled && recent && within;
}

static void obey(keeper *k, int64_t now_ns)
{
	const bool obeyed = holds(k, now_ns);
	const tac_wrench wrench = obeyed ? k->order.wrench : tac_wrench_zero();
	tac_device_set_gripper(k->device, obeyed ? k->order.gripper_N : 0);
	tac_device_write(k->device, now_ns, &wrench);
	k->written_ns = now_ns;
	k->sampled = false;
}

// Carries out orders until the runtime or the guard is gone, the memory is damaged, or the device is lost;
// only then it returns false.
static bool run(keeper *k)
{
	while (wait_for_order(k)) {
		const int64_t now_ns = tac_clock_now_ns();
		const tac_channel_news news = tac_channel_take_order(&k->channel, &k->order);
		if (news == TAC_CHANNEL_DAMAGED || k->damaged) {
			tac_log(TAC_LOG_ERROR,
				"%s: expected an order in the shared memory, found damage; "
				"the keeper lets go of the device",
				k->device->info.name);
			break;
		}
		if (news == TAC_CHANNEL_NEW)
			k->ordered_ns = now_ns;
		const bool enabled = tac_channel_enabled(&k->channel);
		const bool write = news == TAC_CHANNEL_NEW || enabled != k->enabled || k->sampled;
		if (enabled != k->enabled)
			tac_device_enable(k->device, k->enabled = enabled);
		if (!k->sampled && !sample(k, now_ns))
			return false;
		if (write)
			obey(k, now_ns);
		tac_channel_beat(&k->channel);
		if (!guard_answers(k, now_ns))
			break;
	}
	return true;
}

// Commands zero until the device has answered often enough to have obeyed one of them; false if it does not.
// A connection that has failed may have swallowed the last zero.
static bool let_go(keeper *k)
{
	const tac_wrench zero = tac_wrench_zero();
	int answers = 0;
	tac_device_enable(k->device, false);
	tac_device_set_gripper(k->device, 0);
	for (int i = 0; i < LET_GO_TICKS && answers < LET_GO_ANSWERS; i++) {
		tac_device_state state;
		const int64_t now_ns = tac_clock_now_ns();
		tac_device_write(k->device, now_ns, &zero);
		tac_clock_sleep_until_ns(now_ns + k->period_ns);
		const tac_device_status status = tac_device_read(k->device, tac_clock_now_ns(), &state);
		if (status == TAC_DEVICE_LOST)
			return false;
		answers += status == TAC_DEVICE_OK;
		guard_answers(k, now_ns);
	}
	return answers == LET_GO_ANSWERS;
}

// ---- set-up ----

// The selection that reaches the open device again, even where `selection` means "the first one".
static void select_again(const char *selection, const tac_device_info *info,
			 char out_selection[TAC_KEEPER_SELECTION_BYTES])
{
	const char *which;
	const tac_driver *driver = tac_registry_driver_of(selection, &which);
	const bool by_serial = driver && driver->by_serial && !*which && info->serial[0];
	snprintf(out_selection, TAC_KEEPER_SELECTION_BYTES, "%s%s%s", selection, by_serial ? ":" : "",
		 by_serial ? info->serial : "");
}

// The runtime keeps the CPU awake. What is refused here is refused to the runtime, too, which reports it.
static void enter_real_time(const char *selection)
{
	// The memory first: locking takes long, and with the priority it would keep a CPU from the loop, or
	// use up a limit of real-time CPU time (RLIMIT_RTTIME).
	const tac_thread_def memory = {
		.policy = TAC_POLICY_OTHER, .cpu = -1, .lock_memory = true, .flush_denormals = true};
	const tac_thread_def priority = {.policy = TAC_POLICY_FIFO,
					 .priority = tac_thread_priority_permitted(TAC_KEEPER_PRIORITY),
					 .cpu = -1};
	tac_thread_report report;
	if (tac_thread_enter(&memory, &report) < TAC_OK || tac_thread_enter(&priority, &report) < TAC_OK)
		tac_log(TAC_LOG_WARNING, "%s: the keeper runs without real-time scheduling", selection);
}

// Gives the runtime a descriptor of this process, so that it can kill the keeper even if that is in another
// PID namespace, and never a process that has got its number. Without one, the runtime does not open it.
static void introduce(void)
{
	tac_keeper_message started = {.kind = TAC_KEEPER_STARTED};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec body = {&started, sizeof started};
	struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1};
	const int self = pidfd_open(getpid(), 0);
	if (self >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof control.bytes;
		struct cmsghdr *c = CMSG_FIRSTHDR(&message);
		*c = (struct cmsghdr){CMSG_LEN(sizeof self), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(c), &self, sizeof self);
	}
	sendmsg(TAC_KEEPER_SOCKET_FD, &message, MSG_NOSIGNAL);
	close(self);
}

// Opens the device and reports the result to the guard, which expects a byte every 10 ms from then on, and to
// the runtime.
static void open_device(keeper *k, const char *selection, const char *firmware)
{
	const tac_open_def def = {.firmware = firmware, .cancelled = is_alone, .in_process = true};
	tac_keeper_message result = {.kind = TAC_KEEPER_RESULT, .value = TAC_ERROR_SYSTEM};
	tac_keeper_opened *opened = &result.body.opened;
	if (tac_channel_map(&k->channel, TAC_KEEPER_MEMORY_FD, TAC_CHANNEL_KEEPER))
		result.value = tac_registry_open(selection, &def, &k->device);
	else
		tac_log(TAC_LOG_ERROR, "%s: expected memory shared with the runtime, found: %s", selection,
			strerror(errno));
	if (k->device) {
		opened->info = k->device->info;
		k->period_ns = opened->info.period_ns > 0 ? opened->info.period_ns : TAC_NS_PER_MS;
		enter_real_time(selection); // locking the memory may take long
	}
	select_again(selection, &opened->info, opened->selection);
	send(TAC_KEEPER_LEASH_FD, opened->selection, sizeof opened->selection, MSG_NOSIGNAL);
	send(TAC_KEEPER_SOCKET_FD, &result, sizeof result, MSG_NOSIGNAL);
}

static int keep(const char *selection, const char *firmware)
{
	keeper k = {0};
	tac_guard_isolate(TAC_KEEPER_NAME);
	for (int fd = TAC_KEEPER_SOCKET_FD; fd < TAC_KEEPER_FD_END; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	tac_log_set(send_line, NULL);
	introduce();
	open_device(&k, selection, firmware);
	if (!k.device) {
		tell_guard(TAC_LEASH_GOODBYE);
		return EXIT_FAILURE;
	}
	const bool present = run(&k);
	shutdown(TAC_KEEPER_SOCKET_FD, SHUT_RDWR); // the runtime, if it is there, finds the device lost
	const bool at_zero = present && let_go(&k);
	tell_guard(at_zero ? TAC_LEASH_AT_ZERO : TAC_LEASH_LOST);
	tac_device_destroy(&k.device);
	if (at_zero)
		tell_guard(TAC_LEASH_GOODBYE);
	return EXIT_SUCCESS;
}

// A person may start this, too, when no process is left.
static int let_go_of(const char *selection)
{
	tac_guard_isolate(TAC_GUARD_NAME);
	if (tac_guard_let_go(selection))
		return EXIT_SUCCESS;
	fprintf(stderr,
		"tactus-keep: expected to reach %s, found no such device that answers; switch it off\n",
		selection);
	return EXIT_FAILURE;
}

// _exit: what the libraries do at an exit may wait, or change the exit status.
int main(int argc, char **argv)
{
	struct stat status;
	const char *role = argc > 1 ? argv[1] : "";
	const bool is_keeper = strcmp(role, TAC_KEEPER_ROLE_KEEPER) == 0;
	if (strcmp(role, TAC_KEEPER_ROLE_LET_GO) == 0 && argc == 3)
		_exit(let_go_of(argv[2]));
	if (fstat(TAC_KEEPER_SOCKET_FD, &status) != 0 || !S_ISSOCK(status.st_mode) || argc < 2 + is_keeper) {
		fprintf(stderr, "tactus-keep: expected to be started by Tactus, which lets it hold a device, "
				"or with --let-go DEVICE\n");
		return 2;
	}
	_exit(is_keeper ? keep(argv[2], argc > 3 ? argv[3] : NULL) : (int)tac_guard_run(argc, argv));
}
