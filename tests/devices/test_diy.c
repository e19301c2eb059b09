// The driver of the Haply 2DIY: protocol and mechanism against closed forms, then the driver against a board
// on a pseudo terminal (tests/support/pty_firmware.h) whose tool is a simulated device in a simulated hand.
#include "base/rng.h"
#include "devices/haply/diy_protocol.h"
#include "devices/registry.h"
#include "devices/sim.h"
#include "rt/clock.h"
#include "tests/support/eventually.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "tests/support/pty_firmware.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MS     TAC_NS_PER_MS
#define ARM_M  0.07
#define LINK_M 0.09
#define BASE_M 0.038
#define DEG    (180 / 3.14159265358979323846)

static firmware board;
static bool board_runs;
static tac_device *body, *device;
static tac_device_state state;
static _Atomic uint64_t setups;
static _Atomic int64_t largest_uNm; // torque of a motor

// ---- the mechanism, by its definition ----

// The angle of an arm whose motor is at (base, 0) and whose link reaches `p`; `side` is +1 for an elbow to
// the left of the way from the motor to the tool.
static double arm_angle(double base, const double p[2], double side)
{
	const double x = p[0] - base, y = p[1], r2 = x * x + y * y, r = sqrt(r2);
	const double inner = acos((ARM_M * ARM_M + r2 - LINK_M * LINK_M) / (2 * ARM_M * r));
	return (atan2(y, x) + side * inner) * DEG;
}

static void inverse(const double p[2], double out_degrees[2])
{
	out_degrees[0] = arm_angle(0, p, 1);
	out_degrees[1] = arm_angle(BASE_M, p, -1);
}

static void forward_undoes_inverse_in_the_whole_workspace(void)
{
	int tested = 0;
	for (double x = -0.05; x <= 0.09; x += 0.002) {
		for (double y = 0.05; y <= 0.145; y += 0.002) {
			double degrees[2], found[2], jacobian[2][2];
			const double p[2] = {x, y};
			inverse(p, degrees);
			if (!isfinite(degrees[0] + degrees[1]) || !tac_diy_forward(degrees, found, jacobian))
				continue;
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, x, found[0]);
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, y, found[1]);
			tested++;
		}
	}
	TEST_ASSERT_TRUE(tested > 2000);
}

// Central differences; a force does the work that its torques do.
static void the_jacobian_is_the_derivative(void)
{
	tac_rng rng = tac_rng_seed(1, 2);
	for (int i = 0; i < 500; i++) {
		const double p[2] = {tac_rng_range_f64(&rng, -0.02, 0.06),
				     tac_rng_range_f64(&rng, 0.06, 0.13)};
		double degrees[2], jacobian[2][2], here[2], plus[2], minus[2], unused[2][2];
		inverse(p, degrees);
		TEST_ASSERT_TRUE(tac_diy_forward(degrees, here, jacobian));
		for (int k = 0; k < 2; k++) {
			double moved[2] = {degrees[0], degrees[1]};
			moved[k] += 1e-3;
			tac_diy_forward(moved, plus, unused);
			moved[k] -= 2e-3;
			tac_diy_forward(moved, minus, unused);
			for (int axis = 0; axis < 2; axis++)
				TEST_ASSERT_DOUBLE_WITHIN(1e-7, (plus[axis] - minus[axis]) / (2e-3 / DEG),
							  jacobian[axis][k]);
		}
		const double force[2] = {tac_rng_range_f64(&rng, -1, 1), tac_rng_range_f64(&rng, -1, 1)};
		float torque[2];
		tac_diy_torques(force, (const double(*)[2])jacobian, torque);
		for (int k = 0; k < 2; k++)
			TEST_ASSERT_DOUBLE_WITHIN(1e-8, force[0] * jacobian[0][k] + force[1] * jacobian[1][k],
						  (double)torque[k]);
	}
	const double large[2] = {100, 0}, one[2][2] = {{0.1, 0.05}, {0, 0.1}};
	float torque[2];
	tac_diy_torques(large, one, torque);
	TEST_ASSERT_FLOAT_WITHIN(1e-7F, 0.123F, torque[0]);
	TEST_ASSERT_FLOAT_WITHIN(1e-7F, 0.0615F, torque[1]); // in proportion
}

// Where the elbows meet, the links lie on each other: the arms of 70 mm on motors that are 38 mm apart.
static void folded_links_have_no_jacobian(void)
{
	const double fold = acos(BASE_M / 2 / ARM_M) * DEG;
	const double folded[2] = {fold, 180 - fold}, open[2] = {165, 15};
	double p[2], jacobian[2][2];
	TEST_ASSERT_FALSE(tac_diy_forward(folded, p, jacobian));
	TEST_ASSERT_TRUE(tac_diy_forward(open, p, jacobian));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, BASE_M / 2, p[0]); // symmetric
}

static void the_bytes_are_as_documented(void)
{
	uint8_t bytes[TAC_DIY_SETUP_BYTES];
	tac_diy_setup_encode(bytes);
	// 12 is 41400000, 4880 is 45988000, 168 is 43280000.
	TEST_ASSERT_EQUAL_MEMORY("\x01\x05\x03\x00\x01\x03\x01\x01\x00\x00\0\0\x40\x41\0\x80\x98\x45\0\0\x28"
				 "\x43\0\x80\x98\x45",
				 bytes, TAC_DIY_SETUP_BYTES);
	const float torque[2] = {0.5F, -2}; // 3f000000, c0000000
	tac_diy_torque_encode(torque, bytes);
	TEST_ASSERT_EQUAL_MEMORY("\x02\x05\0\0\0\xc0\0\0\0\x3f", bytes, 10);
	// Answers behind noise; angles that the mechanism cannot have are noise.
	uint8_t stream[64] = {5, 5, 0xff};
	const float sent[2] = {150, 30}, impossible[2] = {74.25F, 105.75F};
	tac_diy_angles_encode(impossible, stream + 3);
	tac_diy_angles_encode(sent, stream + 12);
	float found[2];
	int answers = 0;
	for (size_t at = 0, used; at < 21; at += used) {
		answers += tac_diy_decode(stream + at, 21 - at, &used, found) == TAC_DIY_ANGLES;
		TEST_ASSERT_TRUE(used > 0);
	}
	TEST_ASSERT_EQUAL_INT(1, answers);
	TEST_ASSERT_EQUAL_MEMORY(sent, found, sizeof sent);
}

// ---- the board ----

// Torques of its motors become the force that balances them; central differences are its Jacobian.
static tac_dvec3 force_of(const double torque[2], const double degrees[2])
{
	double j[2][2], plus[2], minus[2], unused[2][2];
	for (int k = 0; k < 2; k++) {
		double moved[2] = {degrees[0], degrees[1]};
		moved[k] += 1e-3;
		tac_diy_forward(moved, plus, unused);
		moved[k] -= 2e-3;
		tac_diy_forward(moved, minus, unused);
		for (int axis = 0; axis < 2; axis++)
			j[axis][k] = (plus[axis] - minus[axis]) / (2e-3 / DEG);
	}
	const double determinant = j[0][0] * j[1][1] - j[0][1] * j[1][0];
	const double fx = (torque[0] * j[1][1] - torque[1] * j[1][0]) / determinant;
	const double fy = (torque[1] * j[0][0] - torque[0] * j[0][1]) / determinant;
	return tac_dvec3_make(-fx, 0, fy);
}

static float float_at(const uint8_t *bytes)
{
	float value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

static size_t answer(firmware *f, const uint8_t *bytes, size_t size, uint8_t *out, size_t *out_size)
{
	if (bytes[0] == 1 && size >= TAC_DIY_SETUP_BYTES) {
		atomic_fetch_add(&setups, 1);
		return TAC_DIY_SETUP_BYTES;
	}
	if (bytes[0] == 1 || (bytes[0] == 2 && size < 10))
		return 0;
	if (bytes[0] != 2) {
		atomic_fetch_add(&f->strange, 1);
		return 1;
	}
	const double torque[2] = {(double)float_at(bytes + 6), (double)float_at(bytes + 2)};
	const int64_t uNm = llround(fmax(fabs(torque[0]), fabs(torque[1])) * 1e6);
	if (uNm > atomic_load(&largest_uNm))
		atomic_store(&largest_uNm, uNm);
	const tac_dvec3 before = firmware_state(f).T_base_tool.position;
	const double at[2] = {0.019 - before.x, before.z + 0.1};
	double degrees[2];
	inverse(at, degrees);
	firmware_move(f, force_of(torque, degrees));
	const tac_dvec3 p = firmware_state(f).T_base_tool.position;
	const double now[2] = {0.019 - p.x, p.z + 0.1};
	inverse(now, degrees);
	const float sent[2] = {(float)degrees[0], (float)degrees[1]};
	tac_diy_angles_encode(sent, out);
	*out_size = TAC_DIY_ANGLES_BYTES;
	return 10;
}

void setUp(void)
{
	static const tac_sim_waypoint path[] = {
		{0, {0, 0, 0}, {0, 0, 0}, 0, 0},
		{300 * MS, {0.02, 0, 0.01}, {0, 0, 0}, 0, 0},
		{600 * MS, {-0.02, 0, -0.02}, {0, 0, 0}, 0, 0},
	};
	tac_sim_def def;
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	atomic_store(&setups, 0);
	atomic_store(&largest_uNm, 0);
	memset(&board, 0, sizeof board);
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset("touch", "stylus", &def));
	def.max_force_N = 100;
	def.path = path;
	def.waypoints = 3;
	def.repeat = true;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(&def, &body));
	tac_device_enable(body, true);
	firmware_start(&board, answer, body);
	board_runs = true;
}

void tearDown(void)
{
	tac_device_destroy(&device);
	if (board_runs)
		firmware_stop(&board);
	board_runs = false;
	tac_device_destroy(&body);
	tac_log_set(NULL, NULL);
}

static void open_device(void)
{
	char selection[96];
	const tac_open_def here = {.in_process = true};
	snprintf(selection, sizeof selection, "diy:%s", board.path);
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_registry_open(selection, &here, &device), logged);
	TEST_ASSERT_TRUE(atomic_load(&setups) >= 1);
}

static bool read_is(tac_device_status expected)
{
	return tac_device_read(device, tac_clock_now_ns(), &state) == expected;
}

// Opens the device again if a machine that held up the board's thread has lost it.
static bool is_fresh(void)
{
	if (read_is(TAC_DEVICE_LOST)) {
		tac_device_destroy(&device);
		open_device();
		tac_device_enable(device, true);
	}
	return read_is(TAC_DEVICE_OK);
}

static bool write_force(double x, double y, double z)
{
	const tac_wrench wrench = {.force_N = {x, y, z}};
	return tac_device_write(device, tac_clock_now_ns(), &wrench) == TAC_DEVICE_OK;
}

static void assert_within_limits(void)
{
	TEST_ASSERT_TRUE(atomic_load(&largest_uNm) <= 123001);
	TEST_ASSERT_EQUAL_UINT64(0, atomic_load(&board.largest_not_finite));
	TEST_ASSERT_EQUAL_UINT64(0, atomic_load(&board.strange));
}

static void a_port_has_to_be_named(void)
{
	const tac_open_def here = {.in_process = true};
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_registry_open("diy", &here, &device));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "diy:/dev/ttyACM0"), logged);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_registry_open("diy:/no/port", &here, &device));
	TEST_ASSERT_EQUAL_INT(2, logged_lines);
}

static void poses_and_forces_agree_with_the_mechanism(void)
{
	open_device();
	EVENTUALLY(is_fresh() && tac_dvec3_length(tac_dvec3_sub(firmware_state(&board).T_base_tool.position,
								state.T_base_tool.position)) < 1e-3);
	TEST_ASSERT_EQUAL_DOUBLE(0, state.T_base_tool.position.y);
	tac_device_enable(device, true);
	// The torques belong to the pose of the last sample, so the force differs a little.
	EVENTUALLY((is_fresh(), write_force(0.3, 1, -0.4)) &&
		   firmware_force_is(&board, tac_dvec3_make(0.3, 0, -0.4), 0.05));
	EVENTUALLY(firmware_force_N(&board) == 0); // nobody writes
	assert_within_limits();
}

// A spring of 100 N/m to the centre through noise, cut, flipped, late and missing answers, and silence; then
// unplugged.
static void chaos_never_exceeds_the_limits(void)
{
	tac_rng rng = tac_rng_seed(3, 1);
	const double seconds = test_long() ? 60 : 0.7;
	int64_t next_ns = 0;
	int samples = 0;
	open_device();
	tac_device_enable(device, true);
	const int64_t end_ns = tac_clock_now_ns() + (int64_t)(seconds * 1e9);
	const int64_t patience_ns = end_ns + 20 * TAC_NS_PER_S;
	while (tac_clock_now_ns() < end_ns ||
	       ((samples <= 20 || atomic_load(&board.damaged) <= 5) && tac_clock_now_ns() < patience_ns)) {
		const int64_t now_ns = tac_clock_now_ns();
		const bool fresh = read_is(TAC_DEVICE_OK);
		const tac_dvec3 p = state.T_base_tool.position;
		TEST_ASSERT_TRUE(tac_dvec3_finite(p) && tac_dvec3_length(p) < 0.3);
		samples += fresh;
		write_force(-100 * p.x, 0, -100 * p.z);
		if (now_ns >= next_ns) {
			atomic_store(&board.chaos, (int)tac_rng_below(&rng, 70));
			atomic_store(&board.silent, tac_rng_below(&rng, 5) == 0);
			next_ns = now_ns + (10 + tac_rng_below(&rng, 100)) * MS;
		}
		tac_clock_sleep_until_ns(now_ns + MS);
	}
	TEST_ASSERT_TRUE(samples > 20);
	TEST_ASSERT_TRUE(atomic_load(&board.damaged) > 5);
	atomic_store(&board.silent, false);
	atomic_store(&board.chaos, 0);
	EVENTUALLY(firmware_force_N(&board) == 0 || read_is(TAC_DEVICE_LOST));
	assert_within_limits();
	printf("chaos: %d samples, %llu damaged answers, %.3f N m at most\n", samples,
	       (unsigned long long)atomic_load(&board.damaged), (double)atomic_load(&largest_uNm) / 1e6);
	firmware_stop(&board);
	board_runs = false;
	EVENTUALLY(read_is(TAC_DEVICE_LOST));
}

// The guard does this when keeper and runtime have died.
static void it_lets_go_of_a_board_that_was_left(void)
{
	const char *which;
	char selection[96];
	open_device();
	tac_device_enable(device, true);
	EVENTUALLY(is_fresh());
	EVENTUALLY((is_fresh(), write_force(0.5, 0, 0)) && firmware_force_N(&board) > 0.3);
	snprintf(selection, sizeof selection, "diy:%s", board.path);
	const tac_driver *driver = tac_registry_driver_of(selection, &which);
	TEST_ASSERT_FALSE(driver->let_go(which)); // somebody holds it
	tac_device_destroy(&device);
	atomic_store(&board.force_uN, 7); // as if it had been left with a force
	TEST_ASSERT_TRUE(driver->let_go(which));
	TEST_ASSERT_EQUAL_DOUBLE(0, firmware_force_N(&board));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(forward_undoes_inverse_in_the_whole_workspace);
	RUN_TEST(the_jacobian_is_the_derivative);
	RUN_TEST(folded_links_have_no_jacobian);
	RUN_TEST(the_bytes_are_as_documented);
	RUN_TEST(a_port_has_to_be_named);
	RUN_TEST(poses_and_forces_agree_with_the_mechanism);
	RUN_TEST(chaos_never_exceeds_the_limits);
	RUN_TEST(it_lets_go_of_a_board_that_was_left);
	return UNITY_END();
}
