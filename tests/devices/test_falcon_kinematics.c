// Oracles: the closure equations of the mechanism evaluated in long double, finite differences, and powers on
// both sides of the mechanism. None of them shares code with the module.
#include "devices/falcon/falcon_kinematics.h"

#include "base/rng.h"
#include "devices/falcon/falcon_protocol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unity.h>

#define GRID_M 0.0025L // of the workspace

void setUp(void)
{
}

void tearDown(void)
{
}

// The error of the three closure equations of leg `i`, m.
static long double closure_error(int i, tac_dvec3 p, const tac_falcon_leg *leg)
{
	const long double pi = acosl(-1.0L), degree = pi / 180;
	const long double phi = ((i == 0 ? 90 : i == 1 ? -30 : -150) + 15) * degree;
	const long double u = cosl(phi) * p.x + sinl(phi) * p.y - 0.040L;
	const long double v = -sinl(phi) * p.x + cosl(phi) * p.y + 0.02309L;
	const long double shin = 0.01125L + 0.01125L + 0.1025L * sinl(leg->across);
	const long double eu = u + 0.01443L - 0.060L * cosl(leg->thigh) - shin * cosl(leg->shin);
	const long double ev = v - 0.025L - 0.1025L * cosl(leg->across);
	const long double ew = p.z - 0.060L * sinl(leg->thigh) - shin * sinl(leg->shin);
	return sqrtl(eu * eu + ev * ev + ew * ew);
}

static tac_dvec3 thighs_of(const tac_falcon_leg legs[3])
{
	return tac_dvec3_make(legs[0].thigh, legs[1].thigh, legs[2].thigh);
}

typedef void (*at_fn)(tac_dvec3 p, const tac_falcon_leg legs[3]);

// Calls `fn` at every point of the grid that the legs reach; returns how many there are.
static int over_workspace(long double step, at_fn fn)
{
	int reached = 0;
	const int n = (int)lroundl(TAC_FALCON_REACH_M / step);
	for (int x = -n; x <= n; x++) {
		for (int y = -n; y <= n; y++) {
			for (int z = -n; z <= n; z++) {
				const tac_dvec3 p =
					tac_dvec3_make((double)(x * step), (double)(y * step),
						       (double)(TAC_FALCON_CENTRE_Z_M + z * step));
				tac_falcon_leg legs[3];
				if (!tac_falcon_inverse(p, legs))
					continue;
				reached++;
				fn(p, legs);
			}
		}
	}
	return reached;
}

static double worst_closure, worst_round_trip;

static void check_round_trip(tac_dvec3 p, const tac_falcon_leg legs[3])
{
	for (int i = 0; i < 3; i++)
		worst_closure = fmax(worst_closure, (double)closure_error(i, p, &legs[i]));
	tac_dvec3 back;
	TEST_ASSERT_TRUE_MESSAGE(tac_falcon_forward(thighs_of(legs), &back),
				 "a point in reach has no forward solution");
	worst_round_trip = fmax(worst_round_trip, tac_dvec3_length(tac_dvec3_sub(back, p)));
}

static void forward_of_inverse_is_identity_over_the_workspace(void)
{
	const int reached = over_workspace(GRID_M, check_round_trip);
	TEST_ASSERT_GREATER_THAN_INT(55000, reached); // of 68,921: the corners of the cube are out of reach
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0, worst_closure);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, worst_round_trip);
}

// d thigh / d p by differences of sixth order of the inverse kinematics, which the closure equations check.
static bool differences(tac_dvec3 p, tac_dmat3 *out_dthigh_dp)
{
	static const double weight[3] = {0.75, -0.15, 1.0 / 60};
	const double h = 2e-4;
	for (int column = 0; column < 3; column++) {
		tac_dvec3 sum = tac_dvec3_zero();
		for (int k = 0; k < 3; k++) {
			tac_falcon_leg plus[3], minus[3];
			double step[3] = {0, 0, 0};
			step[column] = h * (k + 1);
			const tac_dvec3 d = tac_dvec3_load(step);
			if (!tac_falcon_inverse(tac_dvec3_add(p, d), plus) ||
			    !tac_falcon_inverse(tac_dvec3_sub(p, d), minus))
				return false;
			sum = tac_dvec3_add_scaled(sum, weight[k] / h,
						   tac_dvec3_sub(thighs_of(plus), thighs_of(minus)));
		}
		out_dthigh_dp->m[0][column] = sum.x;
		out_dthigh_dp->m[1][column] = sum.y;
		out_dthigh_dp->m[2][column] = sum.z;
	}
	return true;
}

static double worst_jacobian, worst_power;
static int jacobians;

// Where the lever of a thigh is below 20 mm the angle changes too fast for differences; the end stops are
// before that.
static bool far_from_stretched(const tac_falcon_leg legs[3])
{
	for (int i = 0; i < 3; i++) {
		if (0.06 * sin(legs[i].across) * sin(legs[i].shin - legs[i].thigh) < 0.02)
			return false;
	}
	return true;
}

static void check_jacobian(tac_dvec3 p, const tac_falcon_leg legs[3])
{
	tac_dmat3 j, by_differences;
	if (!far_from_stretched(legs) || !differences(p, &by_differences))
		return;
	TEST_ASSERT_TRUE(tac_falcon_jacobian(legs, &j));
	// J times the inverse's derivative is the identity.
	const tac_dmat3 off = tac_dmat3_sub(tac_dmat3_mul(j, by_differences), tac_dmat3_identity());
	worst_jacobian = fmax(worst_jacobian, tac_dmat3_max_abs(off));
	// The power of the motors equals that of the grip.
	static tac_rng rng = {1, 3};
	const tac_dvec3 force = tac_rng_unit_f64(&rng), speed = tac_rng_unit_f64(&rng);
	const tac_dvec3 thigh_rates = tac_dmat3_apply(by_differences, speed);
	const tac_dvec3 torque = tac_dmat3_transpose_apply(j, force);
	worst_power =
		fmax(worst_power, fabs(tac_dvec3_dot(torque, thigh_rates) - tac_dvec3_dot(force, speed)));
	jacobians++;
}

static void jacobian_agrees_with_finite_differences_and_conserves_power(void)
{
	over_workspace(2 * GRID_M, check_jacobian);
	TEST_ASSERT_GREATER_THAN_INT(4000, jacobians);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, worst_jacobian);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, worst_power);
}

static void motors_exert_the_commanded_force(void)
{
	tac_rng rng = tac_rng_seed(3, 3);
	for (int k = 0; k < 20000; k++) {
		const tac_dvec3 p = tac_dvec3_make(tac_rng_range_f64(&rng, -0.03, 0.03),
						   tac_rng_range_f64(&rng, -0.03, 0.03),
						   tac_rng_range_f64(&rng, 0.09, 0.15));
		tac_falcon_leg legs[3];
		tac_dmat3 j;
		TEST_ASSERT_TRUE(tac_falcon_inverse(p, legs));
		TEST_ASSERT_TRUE(tac_falcon_jacobian(legs, &j));
		const tac_dvec3 force = tac_dvec3_scale(tac_rng_unit_f64(&rng), 5);
		int16_t motor[3];
		const bool saturated = tac_falcon_motors(j, force, motor);
		const tac_dvec3 exerted = tac_falcon_force(legs, motor);
		if (!saturated) // a motor value is rounded by up to 0.5, which is about 2 mN
			TEST_ASSERT_DOUBLE_WITHIN(0.02, 0, tac_dvec3_length(tac_dvec3_sub(exerted, force)));
		TEST_ASSERT_DOUBLE_WITHIN(5.02, 0, tac_dvec3_length(exerted));
	}
}

static void nine_newtons_along_the_axis_are_about_2259_per_motor(void)
{
	tac_falcon_leg legs[3];
	tac_dmat3 j;
	int16_t motor[3];
	TEST_ASSERT_TRUE(tac_falcon_inverse(tac_dvec3_make(0, 0, 0.12), legs));
	TEST_ASSERT_TRUE(tac_falcon_jacobian(legs, &j));
	TEST_ASSERT_FALSE(tac_falcon_motors(j, tac_dvec3_make(0, 0, 9), motor));
	for (int i = 0; i < 3; i++)
		TEST_ASSERT_INT_WITHIN(1, -2259, motor[i]);
}

static void forces_saturate_in_their_direction_and_never_wrap(void)
{
	tac_rng rng = tac_rng_seed(4, 4);
	tac_falcon_leg legs[3];
	tac_dmat3 j;
	TEST_ASSERT_TRUE(tac_falcon_inverse(tac_dvec3_make(0.01, -0.02, 0.13), legs));
	TEST_ASSERT_TRUE(tac_falcon_jacobian(legs, &j));
	for (int k = 0; k < 20000; k++) {
		const tac_dvec3 direction = tac_rng_unit_f64(&rng);
		const double size = pow(10, tac_rng_range_f64(&rng, 2.5, 300));
		int16_t motor[3];
		TEST_ASSERT_TRUE(tac_falcon_motors(j, tac_dvec3_scale(direction, size), motor));
		int largest = 0;
		for (int i = 0; i < 3; i++)
			largest = abs(motor[i]) > largest ? abs(motor[i]) : largest;
		TEST_ASSERT_EQUAL_INT(TAC_FALCON_MOTOR_MAX, largest);
		const tac_dvec3 exerted = tac_dvec3_normalize(tac_falcon_force(legs, motor));
		TEST_ASSERT_DOUBLE_WITHIN(1e-5, 1, tac_dvec3_dot(exerted, direction));
	}
	const double bad[3] = {NAN, INFINITY, -INFINITY};
	for (int i = 0; i < 3; i++) {
		int16_t motor[3] = {1, 1, 1};
		tac_falcon_motors(j, tac_dvec3_make(1, bad[i], 2), motor);
		TEST_ASSERT_EQUAL_INT(0, motor[0] | motor[1] | motor[2]);
	}
}

// One count turns a thigh by 360/1280 degrees times shaft over arm.
static void encoder_counts_convert_to_angles_and_back(void)
{
	const int16_t counts[3] = {0, 1000, -1000};
	const tac_dvec3 angles = tac_falcon_angles(counts);
	const double degree = acos(-1.0) / 180;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 35 * degree, angles.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, (35 + 36.4347) * degree, angles.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, (35 - 36.4347) * degree, angles.z);
	for (int v = -32767; v <= 32767; v++) {
		const int16_t in[3] = {(int16_t)v, (int16_t)-v, 0};
		int16_t out[3];
		tac_falcon_counts(tac_falcon_angles(in), out);
		TEST_ASSERT_EQUAL_MEMORY(in, out, sizeof in);
	}
	int16_t out[3];
	tac_falcon_counts(tac_dvec3_make(1e9, -1e9, NAN), out);
	TEST_ASSERT_EQUAL_INT(INT16_MAX, out[0]);
	TEST_ASSERT_EQUAL_INT(-INT16_MAX, out[1]);
	TEST_ASSERT_EQUAL_INT(0, out[2]);
}

// Random encoder values: an accepted position fulfils the equations; a refusal leaves the output unchanged.
static void impossible_encoder_values_are_refused(void)
{
	tac_rng rng = tac_rng_seed(6, 6);
	int accepted = 0, refused = 0;
	for (int k = 0; k < 200000; k++) {
		int16_t counts[3];
		const int range = k % 2 ? 65536 : 6000;
		for (int i = 0; i < 3; i++)
			counts[i] = (int16_t)((int)tac_rng_below(&rng, (uint32_t)range) - range / 2);
		tac_dvec3 p = tac_dvec3_make(7, 8, 9);
		if (!tac_falcon_forward(tac_falcon_angles(counts), &p)) {
			TEST_ASSERT_EQUAL_DOUBLE(7, p.x);
			refused++;
			continue;
		}
		tac_falcon_leg legs[3];
		TEST_ASSERT_TRUE(tac_falcon_inverse(p, legs));
		for (int i = 0; i < 3; i++) {
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, (double)closure_error(i, p, &legs[i]));
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, tac_dvec3_get(tac_falcon_angles(counts), i),
						  legs[i].thigh);
		}
		accepted++;
	}
	TEST_ASSERT_GREATER_THAN_INT(1000, accepted);
	TEST_ASSERT_GREATER_THAN_INT(100000, refused);
	tac_dvec3 p;
	TEST_ASSERT_FALSE(tac_falcon_forward(tac_dvec3_make(NAN, 0.6, 0.6), &p));
	TEST_ASSERT_FALSE(tac_falcon_forward(tac_dvec3_make(INFINITY, 0.6, 0.6), &p));
	tac_falcon_leg legs[3];
	TEST_ASSERT_FALSE(tac_falcon_inverse(tac_dvec3_make(NAN, 0, 0.1), legs));
	TEST_ASSERT_FALSE(tac_falcon_inverse(tac_dvec3_make(0, 0, 1), legs));
	TEST_ASSERT_FALSE(tac_falcon_inverse(tac_dvec3_make(1e300, 1e300, 1e300), legs));
}

// All shins in one plane: forces out of it cannot be controlled.
static void a_flat_mechanism_is_singular(void)
{
	const tac_falcon_leg flat[3] = {{0, 0, 1.5}, {0, 0, 1.5}, {0, 0, 1.5}};
	tac_dmat3 j;
	TEST_ASSERT_FALSE(tac_falcon_jacobian(flat, &j));
	const tac_falcon_leg parallel[3] = {{0, 1.57079632679, 1.57079632679},
					    {0, 1.57079632679, 1.57079632679},
					    {0, 1.57079632679, 1.57079632679}};
	TEST_ASSERT_FALSE(tac_falcon_jacobian(parallel, &j));
	const tac_falcon_leg not_a_number[3] = {{0, NAN, 1}, {0, 1, 1}, {0, 1, 1}};
	TEST_ASSERT_FALSE(tac_falcon_jacobian(not_a_number, &j));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(forward_of_inverse_is_identity_over_the_workspace);
	RUN_TEST(jacobian_agrees_with_finite_differences_and_conserves_power);
	RUN_TEST(motors_exert_the_commanded_force);
	RUN_TEST(nine_newtons_along_the_axis_are_about_2259_per_motor);
	RUN_TEST(forces_saturate_in_their_direction_and_never_wrap);
	RUN_TEST(encoder_counts_convert_to_angles_and_back);
	RUN_TEST(impossible_encoder_values_are_refused);
	RUN_TEST(a_flat_mechanism_is_singular);
	return UNITY_END();
}
