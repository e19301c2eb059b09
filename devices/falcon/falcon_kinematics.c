#include "devices/falcon/falcon_kinematics.h"

#include "devices/falcon/falcon_protocol.h"

// Lengths in m, named as in the equations of the header.
#define A 0.060
#define B 0.1025
#define C 0.01443
#define D 0.01125
#define E 0.01125
#define F (-0.025)
#define R 0.040
#define S (-0.02309)

// cos and sin of the legs' directions: 90, -30 and -150 degrees, each + 15.
static const double leg_cos[3] = {-0.25881904510252076, 0.96592582628906829, -0.70710678118654752};
static const double leg_sin[3] = {0.96592582628906829, -0.25881904510252076, -0.70710678118654752};

#define RAD_PER_DEGREE   (3.14159265358979323846 / 180)
#define OFFSET_DEGREE    35.0
#define DEGREE_PER_COUNT (360.0 / (320 * 4) * (14.25 / 110)) // slots, edges per slot, gear ratio

// Newton's method has converged when its step is below this; the next one would be below the rounding error.
#define STEP_M 1e-12
// The inverse of the solution must have the same angles, rad; otherwise the legs are folded another way.
#define ANGLE_RAD 1e-9

tac_dvec3 tac_falcon_angles(const int16_t encoder[3])
{
	double angle[3];
	for (int i = 0; i < 3; i++)
		angle[i] = (OFFSET_DEGREE + DEGREE_PER_COUNT * encoder[i]) * RAD_PER_DEGREE;
	return tac_dvec3_load(angle);
}

// The nearest whole number within -limit … limit; 0 for NaN.
static int16_t round_within(double value, double limit)
{
	if (!(value > -limit))
		return value <= -limit ? (int16_t)-limit : 0;
	return value >= limit ? (int16_t)limit : (int16_t)lround(value);
}

void tac_falcon_counts(tac_dvec3 thighs_rad, int16_t out_encoder[3])
{
	for (int i = 0; i < 3; i++)
		out_encoder[i] = round_within(
			(tac_dvec3_get(thighs_rad, i) / RAD_PER_DEGREE - OFFSET_DEGREE) / DEGREE_PER_COUNT,
			INT16_MAX);
}

// The grip in the frame of leg `i`: (u + c, v + f, w).
static tac_dvec3 to_leg(int i, tac_dvec3 p)
{
	return tac_dvec3_make(leg_cos[i] * p.x + leg_sin[i] * p.y - R + C,
			      -leg_sin[i] * p.x + leg_cos[i] * p.y - S + F, p.z);
}

static tac_dvec3 to_world(int i, tac_dvec3 n)
{
	return tac_dvec3_make(leg_cos[i] * n.x - leg_sin[i] * n.y, leg_sin[i] * n.x + leg_cos[i] * n.y, n.z);
}

static bool leg_inverse(tac_dvec3 q, tac_falcon_leg *out_leg)
{
	const double cos_across = q.y / B;
	if (!(fabs(cos_across) < 1))
		return false;
	const double across = acos(cos_across);
	const double shin = D + E + B * sin(across);
	const double reach = sqrt(q.x * q.x + q.z * q.z);
	// The triangle of thigh, shin and reach in the plane of u and w; the knee points outwards.
	const double cos_knee = (reach * reach + A * A - shin * shin) / (2 * A * reach);
	if (!(reach > 0 && fabs(cos_knee) <= 1))
		return false;
	const double thigh = atan2(q.z, q.x) - acos(cos_knee);
	*out_leg = (tac_falcon_leg){thigh, atan2(q.z - A * sin(thigh), q.x - A * cos(thigh)), across};
	return true;
}

bool tac_falcon_inverse(tac_dvec3 position_m, tac_falcon_leg out_legs[3])
{
	tac_falcon_leg legs[3];
	for (int i = 0; i < 3; i++) {
		if (!leg_inverse(to_leg(i, position_m), &legs[i]))
			return false;
	}
	for (int i = 0; i < 3; i++)
		out_legs[i] = legs[i];
	return true;
}

// Seen from the knee, the end of the shin is on a torus around the v axis, with radii d + e and b. Stores the
// distance of `p` outside it, m, and the normal of the torus there, which is the direction of the shin. False
// on its axis.
static bool torus(int i, tac_dvec3 p, double cos_thigh, double sin_thigh, double *out_outside,
		  tac_dvec3 *out_normal)
{
	const tac_dvec3 q = to_leg(i, p);
	const double u = q.x - A * cos_thigh, w = q.z - A * sin_thigh;
	const double from_axis = sqrt(u * u + w * w);
	const double from_ring = sqrt((from_axis - D - E) * (from_axis - D - E) + q.y * q.y);
	if (!(from_axis > 0 && from_ring > 0))
		return false;
	const double radial = (from_axis - D - E) / from_ring;
	*out_outside = from_ring - B;
	*out_normal =
		to_world(i, tac_dvec3_make(u / from_axis * radial, q.y / from_ring, w / from_axis * radial));
	return true;
}

// The position of the grip, on the axis, if all thighs have the angle `thigh`.
static bool axis_position(double thigh, tac_dvec3 *out_position)
{
	const double v = F - S;
	const double shin = D + E + sqrt(B * B - v * v);
	const double u = C - R - A * cos(thigh);
	if (!(fabs(u) < shin))
		return false;
	*out_position = tac_dvec3_make(0, 0, A * sin(thigh) + sqrt(shin * shin - u * u));
	return true;
}

bool tac_falcon_forward(tac_dvec3 thighs_rad, tac_dvec3 *out_position_m)
{
	tac_dvec3 p;
	if (!tac_dvec3_finite(thighs_rad) ||
	    !axis_position((thighs_rad.x + thighs_rad.y + thighs_rad.z) / 3, &p))
		return false;
	double cos_thigh[3], sin_thigh[3];
	for (int i = 0; i < 3; i++) {
		cos_thigh[i] = cos(tac_dvec3_get(thighs_rad, i));
		sin_thigh[i] = sin(tac_dvec3_get(thighs_rad, i));
	}
	bool converged = false;
	for (int step = 0; step < TAC_FALCON_FORWARD_STEPS && !converged; step++) {
		double outside[3];
		tac_dvec3 normal[3];
		for (int i = 0; i < 3; i++) {
			if (!torus(i, p, cos_thigh[i], sin_thigh[i], &outside[i], &normal[i]))
				return false;
		}
		const tac_dmat3 normals = tac_dmat3_from_rows(normal[0], normal[1], normal[2]);
		if (!(fabs(tac_dmat3_det(normals)) > TAC_FALCON_DETERMINANT))
			return false;
		const tac_dvec3 step_m = tac_dmat3_apply(tac_dmat3_inverse(normals), tac_dvec3_load(outside));
		p = tac_dvec3_sub(p, step_m);
		converged = tac_dvec3_length(step_m) < STEP_M;
	}
	tac_falcon_leg legs[3];
	if (!converged || !tac_falcon_inverse(p, legs))
		return false;
	for (int i = 0; i < 3; i++) {
		if (!(fabs(legs[i].thigh - tac_dvec3_get(thighs_rad, i)) < ANGLE_RAD))
			return false;
	}
	*out_position_m = p;
	return true;
}

// The direction of the shin.
static tac_dvec3 shin_direction(int i, const tac_falcon_leg *leg)
{
	const double sin_across = sin(leg->across);
	return to_world(i, tac_dvec3_make(cos(leg->shin) * sin_across, cos(leg->across),
					  sin(leg->shin) * sin_across));
}

// The motion along the shin per rotation of the thigh, m/rad.
static double lever(const tac_falcon_leg *leg)
{
	return A * sin(leg->across) * sin(leg->shin - leg->thigh);
}

bool tac_falcon_jacobian(const tac_falcon_leg legs[3], tac_dmat3 *out_jacobian)
{
	const tac_dmat3 shins = tac_dmat3_from_rows(shin_direction(0, &legs[0]), shin_direction(1, &legs[1]),
						    shin_direction(2, &legs[2]));
	if (!(fabs(tac_dmat3_det(shins)) > TAC_FALCON_DETERMINANT))
		return false;
	const tac_dvec3 levers = tac_dvec3_make(lever(&legs[0]), lever(&legs[1]), lever(&legs[2]));
	*out_jacobian = tac_dmat3_mul(tac_dmat3_inverse(shins), tac_dmat3_diagonal(levers));
	return true;
}

bool tac_falcon_motors(tac_dmat3 jacobian, tac_dvec3 force_N, int16_t out_motor[3])
{
	const tac_dvec3 torque = tac_dmat3_transpose_apply(jacobian, force_N);
	tac_dvec3 raw = tac_dvec3_scale(torque, -TAC_FALCON_RAW_PER_NM);
	if (!tac_dvec3_finite(raw))
		raw = tac_dvec3_zero();
	const double largest = tac_dvec3_max_component(tac_dvec3_abs(raw));
	const bool saturated = largest > TAC_FALCON_MOTOR_MAX;
	if (saturated)
		raw = tac_dvec3_scale(raw, TAC_FALCON_MOTOR_MAX / largest);
	for (int i = 0; i < 3; i++)
		out_motor[i] = round_within(tac_dvec3_get(raw, i), TAC_FALCON_MOTOR_MAX);
	return saturated;
}

tac_dvec3 tac_falcon_force(const tac_falcon_leg legs[3], const int16_t motor[3])
{
	// F = J^-T t: each motor pushes along its shin, and no inverse is needed.
	tac_dvec3 force = tac_dvec3_zero();
	for (int i = 0; i < 3; i++) {
		const double torque_Nm = -motor[i] / TAC_FALCON_RAW_PER_NM;
		const double arm = lever(&legs[i]);
		// A stretched leg would push with unlimited force; the mechanism's end stops prevent that.
		if (fabs(arm) > 1e-3)
			force = tac_dvec3_add_scaled(force, torque_Nm / arm, shin_direction(i, &legs[i]));
	}
	return force;
}
