// The driver of the Haply Inverse3 against a firmware on a pseudo terminal (tests/support/pty_firmware.h),
// whose arm is a simulated device in a simulated hand: frames, limits, silence, damaged answers, unplugging,
// and the death of the processes that hold it. TACTUS_TEST_LONG=1: a minute of contact and a minute of chaos.
#include "base/rng.h"
#include "devices/haply/inverse3_protocol.h"
#include "devices/hotplug.h"
#include "devices/sim.h"
#include "haptic/servo.h"
#include "rt/clock.h"
#include "tests/support/eventually.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "tests/support/pty_firmware.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS     TAC_NS_PER_MS
#define MAX_uN INT64_C(5000001) // 5 N and the rounding of a float
#define SERIAL "16021850"
#define TEENSY 0x16c0, 0x0483
#define DONGLE 0x2fe3, 0x0100

static char root[64];
static firmware arm, handle;
static bool arm_runs, handle_runs;
static tac_device *body, *device;
static tac_device_state state;
static _Atomic int handle_error, handle_buttons;
static const double turn_rad = 0.7; // of the handle, about the device's z: up

// ---- the firmware ----

// From the frame of devices/device.h about the centre of the workspace to the device's own: x to the right, y
// away from the user, z up, about the mounting plate.
static const double centre[3] = {0.0186, -0.153, 0.151};

static float float_at(const uint8_t *bytes)
{
	float value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

static size_t answer_arm(firmware *f, const uint8_t *bytes, size_t size, uint8_t *out, size_t *out_size)
{
	if (bytes[0] == 0x0a) {
		memset(out, 0x2b, 22); // a wake-up's answer, with bytes that look like a state's beginning
		*out_size = 22;
		return 1;
	}
	if (bytes[0] != 0x2a) {
		atomic_fetch_add(&f->strange, 1);
		return 1;
	}
	if (size < 13)
		return 0;
	const double x = (double)float_at(bytes + 1), y = (double)float_at(bytes + 5),
		     z = (double)float_at(bytes + 9);
	firmware_move(f, tac_dvec3_make(x, z, -y));
	const tac_device_state s = firmware_state(f);
	const tac_dvec3 p = s.T_base_tool.position, v = s.velocity_m_per_s;
	const tac_inverse3_state answer = {
		{(float)(p.x + centre[0]), (float)(-p.z + centre[1]), (float)(p.y + centre[2])},
		{(float)v.x, (float)-v.z, (float)v.y},
	};
	tac_inverse3_state_encode(&answer, out);
	*out_size = TAC_INVERSE3_STATE_BYTES;
	return 13;
}

static size_t answer_handle(firmware *f, const uint8_t *bytes, size_t size, uint8_t *out, size_t *out_size)
{
	if (bytes[0] != 0xdb) {
		atomic_fetch_add(&f->strange, bytes[0] != 0x0a);
		return 1;
	}
	if (size < 4)
		return 0;
	const tac_inverse3_handle answer = {{(float)cos(turn_rad / 2), 0, 0, (float)sin(turn_rad / 2)},
					    (uint8_t)atomic_load(&handle_buttons)};
	tac_inverse3_handle_encode(&answer, (uint8_t)atomic_load(&handle_error), out);
	*out_size = TAC_HANDLE_BYTES;
	return 4;
}

static void plug_arm(const char *port)
{
	memcpy(arm.chatter, "\xba\x02\x02\x2b\x2b", 5);
	arm.chatter_bytes = 5;
	firmware_start(&arm, answer_arm, body);
	arm_runs = true;
	fake_port_plug(root, port, TEENSY, "Haply inverse3", SERIAL, arm.path);
}

static void unplug_arm(const char *port)
{
	fake_port_unplug(root, port);
	firmware_stop(&arm);
	arm_runs = false;
}

static void plug_handle(void)
{
	firmware_start(&handle, answer_handle, NULL);
	handle_runs = true;
	fake_port_plug(root, "ttyACM7", DONGLE, "Haply USB Transceiver", "7BD7", handle.path);
}

// A hand that presses 10 mm into what lies below the height of 10 mm, and draws along it.
static void make_body(void)
{
	static const tac_sim_waypoint path[] = {
		{0, {0, 0.03, 0}, {0, 0, 0}, 0, 0},           {400 * MS, {0, 0, 0}, {0, 0, 0}, 0, 0},
		{800 * MS, {0.02, 0, 0.01}, {0, 0, 0}, 0, 0}, {1200 * MS, {-0.02, 0, -0.01}, {0, 0, 0}, 0, 0},
		{1500 * MS, {0, 0.03, 0}, {0, 0, 0}, 0, 0},
	};
	tac_sim_def def;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset("touch", "stylus", &def));
	def.max_force_N = 100; // the motors do what they are told: only the driver and the gate limit it
	def.path = path;
	def.waypoints = sizeof path / sizeof *path;
	def.repeat = true;
	def.start_m = path[0].position_m;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(&def, &body));
	tac_device_enable(body, true);
}

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	snprintf(root, sizeof root, "/tmp/tactus inverse3 XXXXXX");
	TEST_ASSERT_NOT_NULL(mkdtemp(root));
	setenv("TACTUS_SERIAL_ROOT", root, 1);
	memset(&arm, 0, sizeof arm);
	memset(&handle, 0, sizeof handle);
	atomic_store(&handle_error, 0);
	atomic_store(&handle_buttons, 0);
	make_body();
	plug_arm("ttyACM3");
}

void tearDown(void)
{
	char text[128];
	tac_device_destroy(&device);
	if (arm_runs)
		firmware_stop(&arm);
	if (handle_runs)
		firmware_stop(&handle);
	arm_runs = handle_runs = false;
	tac_device_destroy(&body);
	snprintf(text, sizeof text, "rm -rf '%s'", root);
	TEST_ASSERT_EQUAL_INT(0, system(text));
	tac_log_set(NULL, NULL);
}

// ---- helpers ----

static const tac_open_def here = {.in_process = true};

static void open_device(const char *selection)
{
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_registry_open(selection, &here, &device), logged);
}

static bool read_is(tac_device_status expected)
{
	return tac_device_read(device, tac_clock_now_ns(), &state) == expected;
}

static bool write_force(double x, double y, double z)
{
	const tac_wrench wrench = {.force_N = {x, y, z}};
	return tac_device_write(device, tac_clock_now_ns(), &wrench) == TAC_DEVICE_OK;
}

static void assert_within_limits(void)
{
	TEST_ASSERT_TRUE(atomic_load(&arm.largest_uN) <= MAX_uN);
	TEST_ASSERT_EQUAL_UINT64(0, atomic_load(&arm.largest_not_finite));
	TEST_ASSERT_EQUAL_UINT64(0, atomic_load(&arm.strange));
}

// ---- protocol ----

static void requests_are_as_documented(void)
{
	uint8_t bytes[16];
	const float force[3] = {1, -2, 0.5F}; // 3f800000, c0000000, 3f000000
	tac_inverse3_force_encode(force, bytes);
	TEST_ASSERT_EQUAL_MEMORY("\x2a\0\0\x80\x3f\0\0\0\xc0\0\0\0\x3f", bytes, 13);
	tac_inverse3_wake_encode(bytes);
	TEST_ASSERT_EQUAL_UINT8(0x0a, bytes[0]);
}

// A state is found behind noise, heartbeats and codes that begin nothing; impossible ones are skipped.
static void states_are_found_in_any_stream(void)
{
	const tac_inverse3_state sent = {{0.01F, -0.15F, 0.2F}, {0, 1, 0}};
	uint8_t stream[256];
	size_t size = 0, used;
	memcpy(stream, "\x2b\x2b\xba\x02\xba\x02\x02\x2b\x01\x00", 10);
	size = 10;
	tac_inverse3_state impossible = sent;
	impossible.position_m[0] = 3;
	tac_inverse3_state_encode(&impossible, stream + size);
	size += 25;
	impossible = sent;
	impossible.velocity_m_per_s[2] = NAN;
	tac_inverse3_state_encode(&impossible, stream + size);
	size += 25;
	tac_inverse3_state_encode(&sent, stream + size);
	size += 25;
	int states = 0, heartbeats = 0;
	tac_inverse3_state found;
	for (size_t at = 0; at < size; at += used) {
		const tac_inverse3_kind kind = tac_inverse3_decode(stream + at, size - at, &used, &found);
		TEST_ASSERT_TRUE(used > 0);
		heartbeats += kind == TAC_INVERSE3_HEARTBEAT;
		states += kind == TAC_INVERSE3_STATE;
	}
	TEST_ASSERT_EQUAL_INT(1, states);
	TEST_ASSERT_EQUAL_INT(1, heartbeats);
	TEST_ASSERT_EQUAL_MEMORY(&sent, &found, sizeof sent);
}

// ---- the driver ----

static void an_arm_is_listed_by_its_serial_number(void)
{
	const char *which;
	tac_driver_report report;
	fake_port_plug(root, "ttyACM0", TEENSY, "USB Serial", "999", "/dev/null"); // somebody's Teensy
	tac_registry_list(tac_registry_driver_of("inverse3", &which), &report);
	TEST_ASSERT_EQUAL_INT(1, report.count);
	TEST_ASSERT_EQUAL_STRING("inverse3:" SERIAL, report.devices[0].selection);
	TEST_ASSERT_EQUAL(TAC_DRIVER_READY, report.devices[0].state);
	fake_port_unplug(root, "ttyACM3");
	tac_registry_list(tac_registry_driver_of("inverse3", &which), &report);
	TEST_ASSERT_EQUAL(TAC_DRIVER_NOTHING, report.state);
	TEST_ASSERT_NOT_NULL(strstr(report.reason, "only other devices with a Teensy"));
}

static void what_cannot_be_opened_gets_one_line(void)
{
	static const char *const cases[][2] = {
		{"inverse3:4711", "serial number 4711 on a USB port, found none"},
		{"inverse3:" SERIAL ",4712", "a handle with the serial number 4712, found none"},
		{"inverse3:/no/such/port", "/no/such/port: No such file"},
		{"inverse3:/dev/null", "/dev/null: "},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		logged_lines = 0;
		TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_registry_open(cases[i][0], &here, &device));
		TEST_ASSERT_EQUAL_INT(1, logged_lines);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, cases[i][1]), logged);
	}
	open_device("inverse3");
	tac_device *second;
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_registry_open("inverse3", &here, &second));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "in use by another program"), logged);
}

static bool cancelled(void *user)
{
	return ++*(int *)user > 3;
}

static void an_arm_that_sleeps_can_be_cancelled(void)
{
	int asked = 0;
	const tac_open_def def = {.in_process = true, .cancelled = cancelled, .user = &asked};
	atomic_store(&arm.silent, true);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_registry_open("inverse3", &def, &device));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "is it powered"), logged);
}

static void poses_and_forces_have_the_right_frame(void)
{
	atomic_store(&arm.chatters, true);
	open_device("inverse3");
	TEST_ASSERT_EQUAL_STRING(SERIAL, device->info.serial);
	TEST_ASSERT_EQUAL_INT(0, device->info.rotation_axes);
	EVENTUALLY(read_is(TAC_DEVICE_OK));
	// The truth moves on while it is compared: by less than 1 mm in 4 ms at the hand's 0.2 m/s.
	EVENTUALLY(read_is(TAC_DEVICE_OK) &&
		   tac_dvec3_length(tac_dvec3_sub(firmware_state(&arm).T_base_tool.position,
						  state.T_base_tool.position)) < 1e-3);
	tac_device_enable(device, true);
	EVENTUALLY(write_force(0.5, 1, -1.5) && firmware_force_is(&arm, tac_dvec3_make(0.5, 1, -1.5), 1e-7));
}

static void the_force_ends_with_the_loop_the_switch_and_the_device(void)
{
	open_device("inverse3");
	EVENTUALLY(read_is(TAC_DEVICE_OK));
	tac_device_enable(device, true);
	EVENTUALLY(write_force(0, 1000, 0) && firmware_force_N(&arm) > 4.99);
	EVENTUALLY(firmware_force_N(&arm) == 0); // nobody writes: zero is sent
	const uint64_t sent = atomic_load(&arm.requests);
	EVENTUALLY(atomic_load(&arm.requests) > sent + 20); // and goes on being sent
	TEST_ASSERT_EQUAL_DOUBLE(0, firmware_force_N(&arm));
	EVENTUALLY(write_force(0, 2, 0) && firmware_force_N(&arm) == 2);
	tac_device_enable(device, false);
	EVENTUALLY(firmware_force_N(&arm) == 0);
	tac_device_enable(device, true);
	EVENTUALLY(write_force(0, 2, 0) && firmware_force_N(&arm) == 2);
	tac_device_destroy(&device);
	TEST_ASSERT_EQUAL_DOUBLE(0, firmware_force_N(&arm));
	assert_within_limits();
}

static void the_handle_has_rotation_and_buttons(void)
{
	plug_handle();
	atomic_store(&handle_buttons, 5);
	open_device("inverse3:" SERIAL);
	TEST_ASSERT_EQUAL_INT(3, device->info.rotation_axes);
	EVENTUALLY(read_is(TAC_DEVICE_OK) && state.buttons == 5);
	// A turn about its z, which is our y.
	const tac_dvec3 turn = tac_dquat_log(state.T_base_tool.rotation);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, turn_rad, turn.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, turn_rad, tac_dvec3_length(turn));
	// A sleeping handle holds no button, and the arm works on.
	atomic_store(&handle_error, 99);
	EVENTUALLY(read_is(TAC_DEVICE_OK) && state.buttons == 0);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, turn_rad, tac_dquat_log(state.T_base_tool.rotation).y);
	atomic_store(&handle_error, 0);
	EVENTUALLY(read_is(TAC_DEVICE_OK) && state.buttons == 5);
	firmware_stop(&handle); // unplugged
	handle_runs = false;
	EVENTUALLY(read_is(TAC_DEVICE_OK) && state.buttons == 0);
	EVENTUALLY(read_is(TAC_DEVICE_OK));
	TEST_ASSERT_EQUAL_UINT64(0, atomic_load(&handle.strange));
}

static void an_arm_that_is_silent_or_unplugged_is_lost(void)
{
	open_device("inverse3");
	EVENTUALLY(read_is(TAC_DEVICE_OK));
	atomic_store(&arm.silent, true);
	EVENTUALLY(read_is(TAC_DEVICE_LOST));
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_dvec3_length(state.velocity_m_per_s));
	tac_device_destroy(&device);
	atomic_store(&arm.silent, false);
	open_device("inverse3");
	EVENTUALLY(read_is(TAC_DEVICE_OK));
	unplug_arm("ttyACM3");
	EVENTUALLY(read_is(TAC_DEVICE_LOST));
}

// ---- closed loop ----

typedef struct loop {
	tac_scene *scene;
	tac_world *world;
	tac_servo *servo;
	int64_t next_ns;
	int64_t ticks, samples, far;
} loop;

static void loop_start(loop *l)
{
	static const char text[] = "scene: t\n"
				   "tools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: "
				   "\"sphere:r=0.01\"}], limits: {engage_s: 0.05}}]\n"
				   "materials: [{name: m, stiffness_N_per_m: 400}]\n"
				   "objects: [{name: floor, material: m, position_m: [0, -0.05, 0], "
				   "shapes: [{kind: box, size_m: [0.4, 0.1, 0.4]}]}]\n";
	*l = (loop){.next_ns = tac_clock_now_ns()};
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "test", &l->scene));
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(l->scene, tac_collider_find("wide"), &l->world));
	tac_servo_def def = tac_servo_def_default();
	def.world = l->world;
	def.device = device;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &l->servo));
	tac_device_enable(device, true);
}

// A tick in real time; late ones are not made up for.
static void loop_tick(loop *l)
{
	const int64_t now_ns = tac_clock_now_ns();
	tac_servo_step(l->servo, now_ns, NULL);
	const tac_snapshot *s = tac_servo_snapshot(l->servo, 0);
	const double force_N = tac_dvec3_length(s->sent.force_N);
	TEST_ASSERT_TRUE(force_N <= 5);
	TEST_ASSERT_TRUE(tac_dvec3_length(s->T_world_device.position) < 1);
	l->samples += s->status == TAC_DEVICE_OK;
	l->far += s->status == TAC_DEVICE_OK &&
		  tac_dvec3_length(tac_dvec3_sub(firmware_state(&arm).T_base_tool.position,
						 s->T_world_device.position)) > 0.02;
	l->ticks++;
	l->next_ns = now_ns > l->next_ns + MS ? now_ns : l->next_ns + MS;
	tac_clock_sleep_until_ns(l->next_ns);
}

static void loop_end(loop *l)
{
	tac_servo_destroy(&l->servo);
	tac_world_destroy(&l->world);
	tac_scene_destroy(&l->scene);
}

static double seconds(double all)
{
	return test_long() ? all : all / 50;
}

// Whether the arm has been pushed; the loop's force arrives a little after it was sent.
static bool felt(void)
{
	return atomic_load(&arm.largest_uN) > 500000;
}

static void contact_is_felt_and_within_limits(void)
{
	loop l;
	atomic_store(&arm.chatters, true);
	open_device("inverse3");
	loop_start(&l);
	const int64_t end_ns = tac_clock_now_ns() + (int64_t)(seconds(60) * 1e9);
	while (tac_clock_now_ns() < end_ns || (!felt() && l.ticks < 60000))
		loop_tick(&l);
	TEST_ASSERT_TRUE(felt());
	TEST_ASSERT_TRUE(l.samples > 50);
	EVENTUALLY(firmware_force_N(&arm) == 0); // the loop is silent
	assert_within_limits();
	printf("contact: %lld ticks, %lld samples, %.2f N at most\n", (long long)l.ticks,
	       (long long)l.samples, (double)atomic_load(&arm.largest_uN) / 1e6);
	loop_end(&l);
}

// Noise, cut, doubled, flipped, late and missing answers, silence for up to 0.4 s, unplugging, and another
// port number after that.
static void chaos_never_exceeds_the_limits(void)
{
	loop l;
	tac_rng rng = tac_rng_seed(4, 2);
	int port = 3, unplugged = 0;
	char name[24] = "ttyACM3";
	TEST_ASSERT_EQUAL(TAC_OK, tac_hotplug_open("inverse3:" SERIAL, &here, &device));
	loop_start(&l);
	const int64_t end_ns = tac_clock_now_ns() + (int64_t)(seconds(60) * 1e9);
	int64_t next_ns = 0, largest_uN = 0;
	uint64_t damaged = 0;
	while (tac_clock_now_ns() < end_ns || unplugged == 0) {
		loop_tick(&l);
		if (tac_clock_now_ns() < next_ns)
			continue;
		next_ns = tac_clock_now_ns() + (20 + tac_rng_below(&rng, 380)) * MS;
		atomic_store(&arm.chaos, tac_rng_below(&rng, 2) ? (int)tac_rng_below(&rng, 60) : 0);
		atomic_store(&arm.silent, tac_rng_below(&rng, 6) == 0);
		atomic_store(&arm.chatters, tac_rng_below(&rng, 2));
		if (tac_rng_below(&rng, 12) == 0 || (tac_clock_now_ns() >= end_ns && unplugged == 0)) {
			assert_within_limits();
			largest_uN = largest_uN > atomic_load(&arm.largest_uN) ? largest_uN
									       : atomic_load(&arm.largest_uN);
			damaged += atomic_load(&arm.damaged);
			unplug_arm(name);
			snprintf(name, sizeof name, "ttyACM%d", ++port);
			memset(&arm, 0, sizeof arm);
			plug_arm(name);
			unplugged++;
		}
	}
	assert_within_limits();
	largest_uN = largest_uN > atomic_load(&arm.largest_uN) ? largest_uN : atomic_load(&arm.largest_uN);
	atomic_store(&arm.chaos, 0);
	atomic_store(&arm.silent, false);
	atomic_store(&arm.largest_uN, 0);
	for (int i = 0; i < 20000 && !felt(); i++) // it is felt again
		loop_tick(&l);
	TEST_ASSERT_TRUE(felt());
	assert_within_limits();
	TEST_ASSERT_TRUE(l.far <= 1 + l.samples / 50);
	printf("chaos: %lld ticks, %lld samples, %lld of them more than 20 mm off, %llu damaged answers, "
	       "unplugged %d "
	       "times, %.2f N at most\n",
	       (long long)l.ticks, (long long)l.samples, (long long)l.far,
	       (unsigned long long)(damaged + atomic_load(&arm.damaged)), unplugged,
	       (double)largest_uN / 1e6);
	loop_end(&l);
	tac_device_destroy(&device);
	EVENTUALLY(firmware_force_N(&arm) == 0);
}

// ---- the keeper ----

// A runtime that pushes with 2 N until it is killed: this program, started anew.
static int run_runtime(const char *selection)
{
	const tac_open_def def = {.keeper = TACTUS_KEEP};
	if (tac_registry_open(selection, &def, &device) < TAC_OK)
		return 1;
	tac_device_enable(device, true);
	for (;;) {
		read_is(TAC_DEVICE_OK);
		write_force(0, 2, 0);
		tac_clock_sleep_until_ns(tac_clock_now_ns() + MS);
	}
}

static pid_t start_runtime(void)
{
	char program[] = "/proc/self/exe", role[] = "--runtime", selection[96];
	snprintf(selection, sizeof selection, "inverse3:%s", arm.path);
	char *const arguments[] = {program, role, selection, NULL};
	pid_t pid;
	TEST_ASSERT_EQUAL_INT(0, posix_spawn(&pid, program, NULL, NULL, arguments, environ));
	return pid;
}

// The first process whose parent is `parent`; 0: none.
static pid_t child_of(pid_t parent)
{
	DIR *processes = opendir("/proc");
	pid_t child = 0;
	for (struct dirent *entry; !child && (entry = readdir(processes));) {
		char path[300];
		int pid, its_parent;
		snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
		FILE *stat = fopen(path, "r");
		if (stat && fscanf(stat, "%d (%*[^)]) %*c %d", &pid, &its_parent) == 2 &&
		    its_parent == parent)
			child = pid;
		if (stat)
			fclose(stat);
	}
	closedir(processes);
	return child;
}

static void no_death_leaves_a_force_in_the_arm(void)
{
	for (int victim = 0; victim < (test_long() ? 3 : 2); victim++) {
		const pid_t runtime = start_runtime();
		EVENTUALLY(firmware_force_N(&arm) == 2);
		const pid_t guard = child_of(runtime), keeper = child_of(guard);
		TEST_ASSERT_TRUE(guard > 0 && keeper > 0);
		const pid_t pids[3] = {runtime, keeper, guard};
		kill(pids[victim], SIGKILL);
		EVENTUALLY(firmware_force_N(&arm) == 0);
		kill(runtime, SIGKILL);
		waitpid(runtime, NULL, 0);
		EVENTUALLY(kill(keeper, 0) != 0 && kill(guard, 0) != 0);
		TEST_ASSERT_EQUAL_DOUBLE(0, firmware_force_N(&arm));
	}
	assert_within_limits();
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return run_runtime(argv[2]);
	UNITY_BEGIN();
	RUN_TEST(requests_are_as_documented);
	RUN_TEST(states_are_found_in_any_stream);
	RUN_TEST(an_arm_is_listed_by_its_serial_number);
	RUN_TEST(what_cannot_be_opened_gets_one_line);
	RUN_TEST(an_arm_that_sleeps_can_be_cancelled);
	RUN_TEST(poses_and_forces_have_the_right_frame);
	RUN_TEST(the_force_ends_with_the_loop_the_switch_and_the_device);
	RUN_TEST(the_handle_has_rotation_and_buttons);
	RUN_TEST(an_arm_that_is_silent_or_unplugged_is_lost);
	RUN_TEST(contact_is_felt_and_within_limits);
	RUN_TEST(chaos_never_exceeds_the_limits);
	RUN_TEST(no_death_leaves_a_force_in_the_arm);
	return UNITY_END();
}
