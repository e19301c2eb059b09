// Devices without hardware: a pose that another thread sets, and a keyboard.
#include "devices/input/keys.h"
#include "devices/input/mailbox.h"
#include "tests/support/logged.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <unity.h>

#define MS INT64_C(1000000)

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

static tac_dpose at(double x)
{
	return tac_dpose_make(tac_dvec3_make(x, 0, 0), tac_dquat_exp(tac_dvec3_make(0, 0, 10 * x)));
}

static void it_approaches_the_newest_pose_exponentially(void)
{
	tac_device *device;
	tac_device_state state;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mailbox_create("box", at(0), 0.02, &device));
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, 0, &state));
	tac_mailbox_set(device, at(0.5), 0);
	tac_mailbox_set(device, at(0.01), 5); // the newest is used
	for (int i = 1; i <= 100; i++) {
		const double before = state.T_base_tool.position.x;
		tac_device_read(device, i * MS, &state);
		TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.01 * (1 - exp(-i / 20.0)), state.T_base_tool.position.x);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.1 * (1 - exp(-i / 20.0)),
					  tac_dquat_log(state.T_base_tool.rotation).z);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, (state.T_base_tool.position.x - before) / 1e-3,
					  state.velocity_m_per_s.x);
		TEST_ASSERT_EQUAL_UINT32(5, state.buttons);
	}
	tac_mailbox_set(device, at((double)NAN), 0);
	tac_device_read(device, 101 * MS, &state);
	TEST_ASSERT_TRUE(tac_dpose_finite(state.T_base_tool));
	TEST_ASSERT_EQUAL_UINT32(5, state.buttons);
	tac_mailbox_end(device);
	TEST_ASSERT_EQUAL(TAC_DEVICE_ENDED, tac_device_read(device, 102 * MS, &state));
	const tac_wrench none = tac_wrench_zero();
	TEST_ASSERT_EQUAL(TAC_DEVICE_DISABLED, tac_device_write(device, 0, &none));
	tac_device_enable(device, true);
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_write(device, 0, &none));
	tac_device_destroy(&device);
}

static atomic_bool stop;

static void *post(void *device)
{
	for (int i = 0; !stop; i++)
		tac_mailbox_set(device, at(1e-6 * (i % 1000)), (uint32_t)(i % 1000));
	return NULL;
}

static void a_pose_is_never_torn(void)
{
	tac_device *device;
	tac_device_state state;
	pthread_t thread;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mailbox_create("box", at(0), 0, &device));
	stop = false;
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, post, device));
	for (int i = 0; i < 20000; i++) {
		tac_device_read(device, i * MS, &state);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1e-6 * state.buttons, state.T_base_tool.position.x);
	}
	stop = true;
	pthread_join(thread, NULL);
	tac_device_destroy(&device);
}

static void keys_move_turn_press_and_end(void)
{
	const int master = posix_openpt(O_RDWR | O_NOCTTY);
	TEST_ASSERT_TRUE(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	const char *path = ptsname(master);
	const int slave = open(path, O_RDWR | O_NOCTTY);
	struct termios before, now;
	TEST_ASSERT_EQUAL_INT(0, tcgetattr(slave, &before));
	const tac_sim_waypoint start = {.position_m = {0, 0, 0.03}};
	const tac_open_def def = {.sim_path = &start, .sim_waypoints = 1};
	tac_device *device;
	tac_device_state state;
	TEST_ASSERT_EQUAL(TAC_OK, tac_keys_open(path, &def, &device));
	tac_device_read(device, 0, &state);
	TEST_ASSERT_EQUAL_DOUBLE(0.03, state.T_base_tool.position.z);
	// Two to the right, one up, three away, two rotation steps, the button; unknown sequences do nothing.
	const char keys[] = "\033[C\033[C\033[A\033[6~ss\033[99~\033[Za a";
	TEST_ASSERT_EQUAL_INT((int)strlen(keys), (int)write(master, keys, strlen(keys)));
	tac_device_status status = TAC_DEVICE_OK;
	for (int i = 1; i < 200 && status == TAC_DEVICE_OK; i++) {
		nanosleep(&(struct timespec){0, 5 * MS}, NULL);
		status = tac_device_read(device, i * 20 * MS, &state);
		if (i == 150)
			TEST_ASSERT_EQUAL_INT(1, (int)write(master, "q", 1));
	}
	TEST_ASSERT_EQUAL(TAC_DEVICE_ENDED, status);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 2e-3, state.T_base_tool.position.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1e-3, state.T_base_tool.position.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.027, state.T_base_tool.position.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 2 * TAC_KEYS_STEP_RAD, tac_dquat_log(state.T_base_tool.rotation).z);
	TEST_ASSERT_EQUAL_UINT32(1, state.buttons);
	tac_device_destroy(&device);
	TEST_ASSERT_EQUAL_INT(0, tcgetattr(slave, &now));
	TEST_ASSERT_EQUAL_UINT32(before.c_lflag, now.c_lflag); // restored
	close(slave);
	close(master);
}

static void without_a_terminal_there_is_one_log_line(void)
{
	tac_device *device;
	const tac_open_def def = {0};
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_keys_open("/dev/null", &def, &device));
	TEST_ASSERT_NULL(device);
	TEST_ASSERT_NOT_NULL(strstr(logged, "keys: expected a terminal, found /dev/null"));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(it_approaches_the_newest_pose_exponentially);
	RUN_TEST(a_pose_is_never_torn);
	RUN_TEST(keys_move_turn_press_and_end);
	RUN_TEST(without_a_terminal_there_is_one_log_line);
	return UNITY_END();
}
