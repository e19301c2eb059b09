#include "tests/support/pty_firmware.h"

#include "base/rng.h"
#include "rt/clock.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <unity.h>

// ---- faults ----

static void send_bytes(const firmware *f, const uint8_t *bytes, size_t count)
{
	// A driver that does not read must not stop the firmware.
	if (count > 0 && write(f->master, bytes, count) < 0)
		return;
}

// One of seven ways to damage an answer.
static void send_damaged(firmware *f, tac_rng *rng, const uint8_t *answer, size_t count)
{
	uint8_t bytes[4 * FIRMWARE_ANSWER_MAX], noise[FIRMWARE_ANSWER_MAX];
	const size_t noise_count = tac_rng_below(rng, FIRMWARE_ANSWER_MAX);
	for (size_t i = 0; i < noise_count; i++)
		noise[i] = (uint8_t)tac_rng_u32(rng);
	memcpy(bytes, answer, count);
	switch (tac_rng_below(rng, 7)) {
	case 0: // noise before it
		send_bytes(f, noise, noise_count);
		send_bytes(f, answer, count);
		break;
	case 1: // noise instead of it
		send_bytes(f, noise, noise_count);
		break;
	case 2: // cut
		send_bytes(f, answer, tac_rng_below(rng, (uint32_t)count));
		break;
	case 3: // twice
		send_bytes(f, answer, count);
		send_bytes(f, answer, count);
		break;
	case 4: // a flipped bit
		bytes[tac_rng_below(rng, (uint32_t)count)] ^= (uint8_t)(1u << tac_rng_below(rng, 8));
		send_bytes(f, bytes, count);
		break;
	case 5: // the right code and random numbers
		memcpy(noise, answer, 1);
		send_bytes(f, noise, count);
		break;
	default: // late
		tac_clock_sleep_until_ns(tac_clock_now_ns() + tac_rng_below(rng, 8) * TAC_NS_PER_MS);
		send_bytes(f, answer, count);
	}
	atomic_fetch_add(&f->damaged, 1);
}

// ---- the thread ----

void firmware_enter(void)
{
	const struct sched_param priority = {.sched_priority = 86};
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority); // refused without privileges
}

static void reply(firmware *f, tac_rng *rng, const uint8_t *answer, size_t count)
{
	if (atomic_load(&f->chatters))
		send_bytes(f, f->chatter, f->chatter_bytes);
	if (count == 0 || atomic_load(&f->silent))
		return;
	if ((int)tac_rng_below(rng, 100) < atomic_load(&f->chaos))
		send_damaged(f, rng, answer, count);
	else
		send_bytes(f, answer, count);
}

static void *run(void *user)
{
	firmware *f = user;
	firmware_enter();
	tac_rng rng = tac_rng_seed(20, 7);
	uint8_t in[512], out[FIRMWARE_ANSWER_MAX];
	size_t size = 0;
	while (!atomic_load(&f->stop)) {
		struct pollfd port = {.fd = f->master, .events = POLLIN};
		if (poll(&port, 1, 5) <= 0)
			continue;
		const ssize_t n = read(f->master, in + size, sizeof in - size);
		size += n > 0 ? (size_t)n : 0;
		size_t used = 1;
		while (size > 0 && used > 0) {
			size_t answered = 0;
			used = f->answer(f, in, size, out, &answered);
			memmove(in, in + used, size - used);
			size -= used;
			if (used > 0)
				reply(f, &rng, out, answered);
		}
		if (size == sizeof in)
			size = 0;
	}
	return NULL;
}

void firmware_start(firmware *f, firmware_answer answer, tac_device *body)
{
	struct termios settings;
	f->answer = answer;
	f->body = body;
	f->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	TEST_ASSERT_TRUE(f->master >= 0 && grantpt(f->master) == 0 && unlockpt(f->master) == 0);
	TEST_ASSERT_EQUAL_INT(0, ptsname_r(f->master, f->path, sizeof f->path));
	f->slave =
		open(f->path, O_RDWR | O_NOCTTY | O_CLOEXEC); // keeps the port alive while nobody has it open
	TEST_ASSERT_TRUE(f->slave >= 0 && tcgetattr(f->slave, &settings) == 0);
	cfmakeraw(&settings);
	tcsetattr(f->slave, TCSANOW, &settings);
	pthread_mutex_init(&f->lock, NULL);
	atomic_store(&f->stop, false);
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&f->thread, NULL, run, f));
}

void firmware_stop(firmware *f)
{
	atomic_store(&f->stop, true);
	pthread_join(f->thread, NULL);
	close(f->slave);
	close(f->master);
	pthread_mutex_destroy(&f->lock);
}

void firmware_move(firmware *f, tac_dvec3 force_N)
{
	const double length_N = tac_dvec3_length(force_N);
	atomic_fetch_add(&f->requests, 1);
	if (!isfinite(length_N)) {
		atomic_fetch_add(&f->largest_not_finite, 1);
		return;
	}
	const int64_t length_uN = llround(length_N * 1e6);
	atomic_store(&f->force_uN, length_uN);
	if (length_uN > atomic_load(&f->largest_uN))
		atomic_store(&f->largest_uN, length_uN);
	tac_device_state state = {.T_base_tool = tac_dpose_identity()};
	if (f->body) {
		const tac_wrench wrench = {.force_N = force_N};
		const int64_t now_ns = tac_clock_now_ns();
		tac_device_read(f->body, now_ns, &state);
		tac_device_write(f->body, now_ns, &wrench);
	}
	pthread_mutex_lock(&f->lock);
	f->force_N = force_N;
	f->state = state;
	pthread_mutex_unlock(&f->lock);
}

tac_device_state firmware_state(firmware *f)
{
	pthread_mutex_lock(&f->lock);
	const tac_device_state state = f->state;
	pthread_mutex_unlock(&f->lock);
	return state;
}

bool firmware_force_is(firmware *f, tac_dvec3 expected_N, double tolerance_N)
{
	pthread_mutex_lock(&f->lock);
	const tac_dvec3 off = tac_dvec3_sub(f->force_N, expected_N);
	pthread_mutex_unlock(&f->lock);
	return fmax(fabs(off.x), fmax(fabs(off.y), fabs(off.z))) <= tolerance_N;
}

double firmware_force_N(firmware *f)
{
	return (double)atomic_load(&f->force_uN) / 1e6;
}

// ---- the fake machine ----

static void put_line(const char *folder, const char *name, const char *line)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	TEST_ASSERT_NOT_NULL(file);
	fprintf(file, "%s\n", line);
	fclose(file);
}

void fake_port_plug(const char *root, const char *name, unsigned vendor, unsigned product,
		    const char *product_name, const char *serial, const char *path)
{
	char folder[400], text[512];
	snprintf(text, sizeof text, "mkdir -p '%s/dev' '%s/sys/class/tty/%s/device'", root, root, name);
	TEST_ASSERT_EQUAL_INT(0, system(text));
	snprintf(text, sizeof text, "%s/dev/%s", root, name);
	unlink(text);
	TEST_ASSERT_EQUAL_INT(0, symlink(path, text));
	snprintf(folder, sizeof folder, "%s/sys/class/tty/%s", root, name);
	snprintf(text, sizeof text, "%04x", vendor);
	put_line(folder, "idVendor", text);
	snprintf(text, sizeof text, "%04x", product);
	put_line(folder, "idProduct", text);
	put_line(folder, "product", product_name);
	put_line(folder, "serial", serial);
}

void fake_port_unplug(const char *root, const char *name)
{
	char text[512];
	snprintf(text, sizeof text, "rm -rf '%s/sys/class/tty/%s' '%s/dev/%s'", root, name, root, name);
	TEST_ASSERT_EQUAL_INT(0, system(text));
}
