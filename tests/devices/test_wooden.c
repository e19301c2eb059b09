// The driver of WoodenHaptics and Polhem: reports and mechanism against closed forms, then the driver against
// a firmware behind a socket that keeps the boundaries of reports, as hidraw does; its tool is a simulated
// device in a simulated hand.
#include "base/rng.h"
#include "devices/sim.h"
#include "devices/vendor/desk_frame.h"
#include "devices/wooden/wooden.h"
#include "devices/wooden/wooden_protocol.h"
#include "rt/clock.h"
#include "tests/support/eventually.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "tests/support/pty_firmware.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS TAC_NS_PER_MS
#define PI 3.14159265358979323846

static const tac_wooden_model *const models[] = {&tac_wooden_haptics, &tac_wooden_polhem};
static const tac_wooden_model *model; // of the firmware
static tac_device *body, *device;
static tac_device_state state;
static int ends[2] = {-1, -1};
static pthread_t thread;
static bool runs;
static atomic_bool stop, silent, jumps;
static atomic_bool pressed, asks; // Polhem's button; its calibration button
static atomic_int currents_while_calibrated;
static atomic_int wrong_counts; // of its encoders, until it is calibrated
static _Atomic int largest_mA, now_mA;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tac_dvec3 truth_m, force_N;

// ---- the mechanism, by its definition ----

// The bodies' angles for a position about the centre in the desk frame: a turn, and two links in its plane.
static void inverse(const tac_wooden_model *m, const double p[3], double out_rad[3])
{
	const double b = m->turns ? 0.174 : 0.205, c = m->turns ? 0.133 : 0.245;
	const double x = p[0] + (m->turns ? 0.14 : 0.22), y = p[1];
	const double z = p[2] + (m->turns ? 0.1 - 0.058 : 0.08 - 0.08);
	const double r = hypot(x, y), d2 = r * r + z * z, d = sqrt(d2), to = atan2(r, z);
	out_rad[0] = atan2(y, x);
	out_rad[1] = to - acos((d2 + b * b - c * c) / (2 * d * b));
	out_rad[2] = PI - (to + acos((d2 + c * c - b * b) / (2 * d * c)));
}

static void forward_undoes_inverse(void)
{
	tac_rng rng = tac_rng_seed(1, 1);
	for (int i = 0; i < 4000; i++) {
		const tac_wooden_model *m = models[i % 2];
		const double reach = m->turns ? 0.05 : 0.08;
		double p[3], rad[3], found[3], jacobian[3][3];
		for (int k = 0; k < 3; k++)
			p[k] = tac_rng_range_f64(&rng, -reach, reach);
		p[2] += m->turns ? 0.05 : 0.1;
		inverse(m, p, rad);
		tac_wooden_forward(m, rad, found, jacobian);
		for (int k = 0; k < 3; k++)
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, p[k], found[k]);
		// Central differences.
		for (int k = 0; k < 3; k++) {
			double plus[3], minus[3], unused[3][3], moved[3] = {rad[0], rad[1], rad[2]};
			moved[k] += 1e-5;
			tac_wooden_forward(m, moved, plus, unused);
			moved[k] -= 2e-5;
			tac_wooden_forward(m, moved, minus, unused);
			for (int axis = 0; axis < 3; axis++)
				TEST_ASSERT_DOUBLE_WITHIN(1e-9, (plus[axis] - minus[axis]) / 2e-5,
							  jacobian[axis][k]);
		}
	}
}

// A turn of motor a (2000 counts) turns body a by 1/16; the motor's 0.0259 N m/A hold 16 times as much at the
// body.
static void counts_and_currents_follow_the_capstans(void)
{
	const int32_t none[3] = {0, 0, 0}, turned[3] = {-2000, -2000, -2000};
	double rad[3];
	tac_wooden_angles(&tac_wooden_haptics, none, rad);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, PI / 2, rad[2]);
	tac_wooden_angles(&tac_wooden_haptics, turned, rad);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2 * PI / 16, rad[0]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2 * PI / 12, rad[1]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, PI / 2 + 2 * PI / 12, rad[2]);
	const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, force[3] = {0.0259, 0, 0},
		     large[3] = {100, 50, 0};
	double mA[3];
	tac_wooden_currents(&tac_wooden_haptics, force, unit, mA);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1000.0 / 16, mA[0]);
	tac_wooden_currents(&tac_wooden_haptics, large, unit, mA);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2000, fmax(mA[0], mA[1]));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2 * 12.0 / 16, mA[0] / mA[1]);
	// Polhem: calibrated with body c level; bodies of 180 and 100 mm; a current turns a body against its
	// angle.
	const int32_t level[3] = {0, 0, -5000};
	tac_wooden_angles(&tac_wooden_polhem, level, rad);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, fabs(rad[0]) + fabs(rad[1]));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, PI / 2, rad[2]);
	const double push[3] = {0.0538, 0, 0.0538};
	tac_wooden_currents(&tac_wooden_polhem, push, unit, mA);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -1000.0 / 18, mA[0]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -1000.0 / 10, mA[2]);
}

// Against the product of five rotations as quaternions.
static void the_handle_turns_as_documented(void)
{
	tac_rng rng = tac_rng_seed(4, 1);
	for (int i = 0; i < 1000; i++) {
		tac_wooden_report r = {0};
		double rad[3], rows[3][3];
		for (int k = 0; k < 3; k++) {
			rad[k] = tac_rng_range_f64(&rng, -1, 2);
			r.encoder[3 + k] = (int16_t)((int)tac_rng_below(&rng, 1024) - 512);
		}
		const double unit = 2 * PI / 1024;
		const struct {
			tac_dvec3 axis;
			double rad;
		} turns[] = {{{0, 0, 1}, rad[0]},
			     {{0, 1, 0}, PI / 2 - rad[2]},
			     {{1, 0, 0}, -unit * r.encoder[5]},
			     {{0, 1, 0}, unit * r.encoder[4]},
			     {{1, 0, 0}, -unit * r.encoder[3]}};
		tac_dquat q = tac_dquat_identity();
		for (int k = 0; k < 5; k++)
			q = tac_dquat_mul(q, tac_dquat_exp(tac_dvec3_scale(turns[k].axis, turns[k].rad)));
		tac_wooden_rotation(rad, &r, rows);
		for (int k = 0; k < 3; k++) {
			const tac_dvec3 e = {k == 0, k == 1, k == 2}, v = tac_dquat_rotate(q, e);
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, v.x, rows[0][k]);
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, v.y, rows[1][k]);
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, v.z, rows[2][k]);
		}
	}
}

static void the_bytes_are_as_documented(void)
{
	const tac_wooden_model *w = &tac_wooden_haptics, *p = &tac_wooden_polhem;
	uint8_t bytes[TAC_WOODEN_COMMAND_MAX];
	const double mA[3] = {1, -2, 1e6};
	TEST_ASSERT_EQUAL_size_t(9, tac_wooden_command_encode(w, mA, bytes));
	TEST_ASSERT_EQUAL_MEMORY("\0\x01\0\xfe\xff\xd0\x07\0\0", bytes, 9); // 2000 is 0x07d0
	TEST_ASSERT_EQUAL_size_t(15, tac_wooden_command_encode(p, mA, bytes));
	TEST_ASSERT_EQUAL_MEMORY("\0\x01\0\xfe\xff\xd0\x07\0\0\0\0\0\0\0\0", bytes, 15);
	TEST_ASSERT_EQUAL_size_t(15, tac_wooden_calibration_encode(p, bytes));
	TEST_ASSERT_EQUAL_MEMORY("\0\0\0\0\0\0\0\x01\0\0\0\0\0\x78\xec", bytes, 15); // -5000 is 0xec78
	const tac_wooden_report sent = {.encoder = {1, -2, -32768}, .counter = 65535};
	tac_wooden_report found;
	tac_wooden_report_encode(w, &sent, bytes);
	TEST_ASSERT_EQUAL_MEMORY("\x01\0\xfe\xff\0\x80\xff\xff", bytes, 8);
	TEST_ASSERT_TRUE(tac_wooden_report_decode(w, bytes, 8, &found));
	TEST_ASSERT_EQUAL_MEMORY(&sent, &found, sizeof sent);
	TEST_ASSERT_FALSE(tac_wooden_report_decode(w, bytes, 7, &found));
	TEST_ASSERT_FALSE(tac_wooden_report_decode(w, bytes, 0, &found));
	TEST_ASSERT_FALSE(tac_wooden_report_decode(w, bytes, 14, &found));
	const tac_wooden_report held = {.encoder = {1, 2, 3, -4, 5, 6}, .button = true, .calibrate = true};
	tac_wooden_report_encode(p, &held, bytes);
	TEST_ASSERT_EQUAL_MEMORY("\x01\0\x02\0\x03\0\x0c\x27\x05\0\x06\0\x01\0", bytes, 14); // 9996
	TEST_ASSERT_TRUE(tac_wooden_report_decode(p, bytes, 14, &found));
	TEST_ASSERT_EQUAL_MEMORY(&held, &found, sizeof held);
	TEST_ASSERT_FALSE(tac_wooden_report_decode(p, bytes, 8, &found));
}

// The descriptor of mbed's HID class, which names the bytes of the input before those of the output.
static void a_descriptor_tells_the_models_apart(void)
{
	uint8_t d[] = {0x06, 0xab, 0xff, 0x0a, 0x00, 0x02, 0xa1, 0x01, 0x75, 0x08, 0x15, 0x00, 0x26, 0xff,
		       0x00, 0x95, 14,   0x09, 0x01, 0x81, 0x02, 0x95, 9,    0x09, 0x02, 0x91, 0x02, 0xc0};
	TEST_ASSERT_EQUAL_size_t(14, tac_wooden_descriptor_bytes(d, sizeof d));
	d[16] = 8;
	TEST_ASSERT_EQUAL_size_t(8, tac_wooden_descriptor_bytes(d, sizeof d));
	TEST_ASSERT_EQUAL_size_t(0, tac_wooden_descriptor_bytes(d, 19)); // cut off before the input
	TEST_ASSERT_EQUAL_size_t(0, tac_wooden_descriptor_bytes(d, 0));
	d[9] = 1; // fields of one bit
	TEST_ASSERT_EQUAL_size_t(0, tac_wooden_descriptor_bytes(d, sizeof d));
}

// ---- the firmware ----

static int32_t first[3]; // counts at the starting pose; near the end of 16 bits, so that they wrap

static double ratio(int i)
{
	static const double ratios[2][3] = {{16, 12, 12}, {18, 10, 10}};
	return ratios[model->turns][i];
}

static void move_body(const int16_t mA[3], double desk[3])
{
	double rad[3], unused[3], j[3][3];
	inverse(model, desk, rad);
	tac_wooden_forward(model, rad, unused, j);
	// Torques of the bodies, and the force that balances them: J^T F = t.
	double t[3], inverse_j[3][3];
	for (int i = 0; i < 3; i++)
		t[i] = mA[i] * 1e-3 * (model->turns ? -0.0538 : 0.0259) * ratio(i);
	const double det = j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) -
			   j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
			   j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
	for (int r = 0; r < 3; r++)
		for (int c = 0; c < 3; c++) {
			const int r1 = (c + 1) % 3, r2 = (c + 2) % 3, c1 = (r + 1) % 3, c2 = (r + 2) % 3;
			inverse_j[r][c] = (j[r1][c1] * j[r2][c2] - j[r1][c2] * j[r2][c1]) / det;
		}
	double f[3];
	for (int i = 0; i < 3; i++)
		f[i] = inverse_j[0][i] * t[0] + inverse_j[1][i] * t[1] + inverse_j[2][i] * t[2];
	const tac_wrench wrench = {.force_N = {f[1], f[2], f[0]}};
	tac_device_state s;
	const int64_t now_ns = tac_clock_now_ns();
	tac_device_read(body, now_ns, &s);
	tac_device_write(body, now_ns, &wrench);
	const tac_dvec3 p = s.T_base_tool.position;
	desk[0] = p.z;
	desk[1] = p.x;
	desk[2] = p.y;
	pthread_mutex_lock(&lock);
	truth_m = p;
	force_N = wrench.force_N;
	pthread_mutex_unlock(&lock);
}

static void *run(void *user)
{
	(void)user;
	firmware_enter();
	double desk[3] = {model->turns ? -0.007 : 0.025, 0, model->turns ? 0.132 : 0.205}, rad[3];
	uint16_t counter = 0;
	tac_rng rng = tac_rng_seed(9, 9);
	while (!atomic_load(&stop)) {
		struct pollfd port = {.fd = ends[1], .events = POLLIN};
		uint8_t in[64], out[TAC_WOODEN_REPORT_MAX];
		if (poll(&port, 1, 5) <= 0 ||
		    recv(ends[1], in, sizeof in, MSG_DONTWAIT) != (ssize_t)model->report_bytes + 1)
			continue;
		int16_t mA[3];
		int largest = 0;
		for (int i = 0; i < 3; i++) {
			mA[i] = (int16_t)(in[1 + 2 * i] | in[2 + 2 * i] << 8);
			largest = abs(mA[i]) > largest ? abs(mA[i]) : largest;
		}
		atomic_store(&now_mA, largest);
		if (largest > atomic_load(&largest_mA))
			atomic_store(&largest_mA, largest);
		if (model->turns && in[7] == 1) { // calibrated, as if it were in that pose
			atomic_fetch_or(&currents_while_calibrated, largest);
			atomic_store(&wrong_counts, 0);
			atomic_store(&asks, false);
		}
		move_body(mA, desk);
		inverse(model, desk, rad);
		tac_wooden_report report = {.counter = ++counter,
					    .encoder = {0, 0, 0, 100, -50, 25},
					    .button = atomic_load(&pressed),
					    .calibrate = atomic_load(&asks)};
		for (int i = 0; i < 3; i++) {
			const double from = i == 2 && !model->turns ? PI / 2 : 0;
			report.encoder[i] =
				(int16_t)(uint16_t)(uint32_t)(first[i] + atomic_load(&wrong_counts) -
							      lround((rad[i] - from) * ratio(i) / (2 * PI) *
								     2000));
		}
		if (atomic_load(&jumps) && tac_rng_below(&rng, 5) == 0)
			report.encoder[tac_rng_below(&rng, 3)] = (int16_t)tac_rng_u32(&rng);
		tac_wooden_report_encode(model, &report, out);
		if (!atomic_load(&silent))
			send(ends[1], out, model->report_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	return NULL;
}

static void start(const tac_wooden_model *m)
{
	const tac_dvec3 from = m->turns ? tac_dvec3_make(0, 0.132, -0.007) : tac_dvec3_make(0, 0.205, 0.025);
	const tac_sim_waypoint path[] = {
		{0, from, {0, 0, 0}, 0, 0},
		{500 * MS, {0, 0.05, 0}, {0, 0, 0}, 0, 0},
		{900 * MS, {0.03, 0.03, -0.02}, {0, 0, 0}, 0, 0},
	};
	tac_sim_def def;
	model = m;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset("premium", "stylus", &def));
	def.max_force_N = 100;
	def.path = path;
	def.waypoints = 3;
	def.start_m = path[0].position_m;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(&def, &body));
	tac_device_enable(body, true);
	atomic_store(&stop, false);
	atomic_store(&silent, false);
	atomic_store(&jumps, false);
	atomic_store(&largest_mA, 0);
	atomic_store(&pressed, false);
	atomic_store(&asks, false);
	atomic_store(&wrong_counts, 0);
	first[0] = m->turns ? 0 : 32760;
	first[1] = m->turns ? 0 : -32760;
	first[2] = m->turns ? 0 : 5;
	TEST_ASSERT_EQUAL_INT(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends));
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, run, NULL));
	runs = true;
}

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
}

static void unplug(void)
{
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	close(ends[1]);
	runs = false;
}

void tearDown(void)
{
	tac_device_destroy(&device);
	if (runs)
		unplug();
	tac_device_destroy(&body);
	tac_log_set(NULL, NULL);
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

static double off_m(void)
{
	pthread_mutex_lock(&lock);
	const double off = tac_dvec3_length(tac_dvec3_sub(truth_m, state.T_base_tool.position));
	pthread_mutex_unlock(&lock);
	return off;
}

static bool force_is(double x, double y, double z)
{
	pthread_mutex_lock(&lock);
	const tac_dvec3 off = tac_dvec3_sub(force_N, tac_dvec3_make(x, y, z));
	pthread_mutex_unlock(&lock);
	return fmax(fabs(off.x), fmax(fabs(off.y), fabs(off.z))) < 0.03;
}

static void agree_with_the_mechanism(const tac_wooden_model *m)
{
	start(m);
	TEST_ASSERT_EQUAL(TAC_OK, tac_wooden_create(m, ends[0], &device));
	TEST_ASSERT_EQUAL_STRING(m->name, device->info.name);
	EVENTUALLY(read_is(TAC_DEVICE_OK) && off_m() < 1e-3);
	// After the encoders have wrapped.
	EVENTUALLY(read_is(TAC_DEVICE_OK) && state.T_base_tool.position.y < 0.1 && off_m() < 1e-3);
	tac_device_enable(device, true);
	// When the hand has come to rest. A step of a current is 1 mA: 0.02 N at an arm of 0.2 m.
	EVENTUALLY(read_is(TAC_DEVICE_OK) && write_force(0.5, -1, 0.3) && force_is(0.5, -1, 0.3));
	EVENTUALLY(atomic_load(&now_mA) == 0); // nobody writes
	EVENTUALLY(write_force(0, 1, 0) && atomic_load(&now_mA) > 50);
	tac_device_enable(device, false);
	EVENTUALLY(atomic_load(&now_mA) == 0);
}

static void poses_and_forces_agree_with_the_mechanism(void)
{
	agree_with_the_mechanism(&tac_wooden_haptics);
}

static void poses_and_forces_agree_with_the_mechanism_of_polhem(void)
{
	agree_with_the_mechanism(&tac_wooden_polhem);
	TEST_ASSERT_EQUAL_INT(3, device->info.rotation_axes);
	// The tool's z axis, which is the desk frame's x, as the five rotations put it.
	double rad[3], rows[3][3], desk[3];
	const tac_wooden_report report = {.encoder = {0, 0, 0, 100, -50, 25}};
	tac_desk_vector_to(state.T_base_tool.position, desk);
	inverse(model, desk, rad);
	tac_wooden_rotation(rad, &report, rows);
	const tac_dvec3 z = tac_dquat_rotate(state.T_base_tool.rotation, tac_dvec3_make(0, 0, 1));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, rows[0][0], z.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, rows[1][0], z.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, rows[2][0], z.y);
	TEST_ASSERT_EQUAL_UINT32(0, state.buttons);
	atomic_store(&pressed, true);
	EVENTUALLY(read_is(TAC_DEVICE_OK) && state.buttons == 1);
}

// Switched on somewhere, it counts from there; its button tells when it is in the pose of its calibration.
static void a_polhem_is_calibrated_by_its_button(void)
{
	start(&tac_wooden_polhem);
	atomic_store(&wrong_counts, 300);
	TEST_ASSERT_EQUAL(TAC_OK, tac_wooden_create(&tac_wooden_polhem, ends[0], &device));
	tac_device_enable(device, true);
	EVENTUALLY(read_is(TAC_DEVICE_OK) && write_force(0, 1, 0) && off_m() > 5e-3);
	atomic_store(&asks, true);
	EVENTUALLY(write_force(0, 1, 0) && !atomic_load(&asks));
	TEST_ASSERT_EQUAL_INT(0, atomic_load(&currents_while_calibrated));
	EVENTUALLY(read_is(TAC_DEVICE_OK) && off_m() < 1e-3);
	EVENTUALLY(write_force(0, 1, 0) && atomic_load(&now_mA) > 50);
}

// A spring to the centre through silence and reports that jump; then unplugged.
static void chaos(const tac_wooden_model *m)
{
	tac_rng rng = tac_rng_seed(3, 1);
	const double seconds = test_long() ? 60 : 0.4;
	int64_t next_ns = 0;
	int samples = 0, far = 0;
	start(m);
	TEST_ASSERT_EQUAL(TAC_OK, tac_wooden_create(m, ends[0], &device));
	tac_device_enable(device, true);
	const int64_t end_ns = tac_clock_now_ns() + (int64_t)(seconds * 1e9);
	while (tac_clock_now_ns() < end_ns ||
	       (samples <= 20 && tac_clock_now_ns() < end_ns + 20 * TAC_NS_PER_S)) {
		const int64_t now_ns = tac_clock_now_ns();
		const bool fresh = read_is(TAC_DEVICE_OK);
		samples += fresh;
		far += fresh && off_m() > 0.02;
		const tac_dvec3 p = state.T_base_tool.position;
		write_force(-200 * p.x, -200 * p.y, -200 * p.z);
		if (now_ns >= next_ns) {
			atomic_store(&jumps, tac_rng_below(&rng, 2));
			atomic_store(&silent, tac_rng_below(&rng, 5) == 0);
			next_ns = now_ns + (10 + tac_rng_below(&rng, 60)) * MS;
		}
		tac_clock_sleep_until_ns(now_ns + MS);
	}
	TEST_ASSERT_TRUE(samples > 20);
	TEST_ASSERT_TRUE(atomic_load(&largest_mA) > 10 && atomic_load(&largest_mA) <= 2000);
	printf("chaos: %d samples, %d of them more than 20 mm off, %d mA at most\n", samples, far,
	       atomic_load(&largest_mA));
	TEST_ASSERT_TRUE(far <= samples / 10);
	unplug();
	EVENTUALLY(read_is(TAC_DEVICE_LOST));
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_dvec3_length(state.velocity_m_per_s));
}

static void chaos_never_exceeds_the_limits(void)
{
	chaos(&tac_wooden_haptics);
}

static void chaos_never_exceeds_the_limits_of_polhem(void)
{
	chaos(&tac_wooden_polhem);
}

static void failures_get_one_line(void)
{
	start(&tac_wooden_haptics);
	const tac_open_def here = {.in_process = true};
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_registry_open("wooden:/no/hidraw", &here, &device));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "/no/hidraw: No such file"), logged);
	atomic_store(&silent, true);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_wooden_create(model, ends[0], &device));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "is it powered"), logged);
	TEST_ASSERT_EQUAL_INT(2, logged_lines);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(forward_undoes_inverse);
	RUN_TEST(counts_and_currents_follow_the_capstans);
	RUN_TEST(the_handle_turns_as_documented);
	RUN_TEST(the_bytes_are_as_documented);
	RUN_TEST(a_descriptor_tells_the_models_apart);
	RUN_TEST(poses_and_forces_agree_with_the_mechanism);
	RUN_TEST(poses_and_forces_agree_with_the_mechanism_of_polhem);
	RUN_TEST(a_polhem_is_calibrated_by_its_button);
	RUN_TEST(chaos_never_exceeds_the_limits);
	RUN_TEST(chaos_never_exceeds_the_limits_of_polhem);
	RUN_TEST(failures_get_one_line);
	return UNITY_END();
}
