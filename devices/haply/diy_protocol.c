#include "devices/haply/diy_protocol.h"

#include "devices/haply/float_bytes.h"

#include <math.h>

#define TYPE_SETUP  1
#define TYPE_TORQUE 2
#define DEVICE      5 // its number on the board, as in the maker's examples

#define PORTS            0x03 // 1 and 2
#define CLOCKWISE        0
#define COUNTERCLOCKWISE 1
#define ENCODER_COUNTS   4880.0F
#define OFFSET_1_DEG     168.0F // of the arms at their stops
#define OFFSET_2_DEG     12.0F

#define ARM_M    0.07
#define LINK_M   0.09
#define BASE_M   0.038
#define DEGREE   (3.14159265358979323846 / 180)
#define TURN_MAX 360  // degrees; no arm turns as far
#define TURN_MIN 1e-3 // a count is 0.07 degrees: a smaller angle that is not 0 is noise

// The sine of the least angle between the links at which a force is defined: below it a torque would move the
// tool more than it can be told.
#define SINE_MIN 0.1

void tac_diy_setup_encode(uint8_t *out)
{
	const uint8_t bytes[10] = {
		TYPE_SETUP,
		DEVICE,
		PORTS,
		CLOCKWISE,
		COUNTERCLOCKWISE, // motors
		PORTS,
		COUNTERCLOCKWISE,
		COUNTERCLOCKWISE, // encoders
		0,
		0, // sensors, PWM pins
	};
	const float numbers[4] = {OFFSET_2_DEG, ENCODER_COUNTS, OFFSET_1_DEG, ENCODER_COUNTS};
	for (int i = 0; i < 10; i++)
		out[i] = bytes[i];
	for (int i = 0; i < 4; i++)
		tac_float_put(numbers[i], out + 10 + 4 * i);
}

void tac_diy_torque_encode(const float torque_Nm[2], uint8_t *out)
{
	out[0] = TYPE_TORQUE;
	out[1] = DEVICE;
	tac_float_put(torque_Nm[1], out + 2);
	tac_float_put(torque_Nm[0], out + 6);
}

// False for what is not a number, too.
static bool angle_possible(double degrees)
{
	return degrees == 0 || (fabs(degrees) >= TURN_MIN && fabs(degrees) <= TURN_MAX);
}

tac_diy_kind tac_diy_decode(const uint8_t *bytes, size_t size, size_t *out_used, float out_degrees[2])
{
	*out_used = 0;
	if (size == 0)
		return TAC_DIY_INCOMPLETE;
	*out_used = 1;
	if (bytes[0] != DEVICE)
		return TAC_DIY_NOISE;
	if (size < TAC_DIY_ANGLES_BYTES) {
		*out_used = 0;
		return TAC_DIY_INCOMPLETE;
	}
	const float degrees[2] = {tac_float_get(bytes + 5), tac_float_get(bytes + 1)};
	const double angles[2] = {(double)degrees[0], (double)degrees[1]};
	double position[2], jacobian[2][2];
	if (!angle_possible(angles[0]) || !angle_possible(angles[1]) ||
	    !tac_diy_forward(angles, position, jacobian))
		return TAC_DIY_NOISE;
	out_degrees[0] = degrees[0];
	out_degrees[1] = degrees[1];
	*out_used = TAC_DIY_ANGLES_BYTES;
	return TAC_DIY_ANGLES;
}

void tac_diy_angles_encode(const float degrees[2], uint8_t *out)
{
	out[0] = DEVICE;
	tac_float_put(degrees[1], out + 1);
	tac_float_put(degrees[0], out + 5);
}

// ---- mechanism ----

bool tac_diy_forward(const double degrees[2], double out_m[2], double out_jacobian[2][2])
{
	const double t1 = degrees[0] * DEGREE, t2 = degrees[1] * DEGREE;
	const double a[2] = {ARM_M * cos(t1), ARM_M * sin(t1)};
	const double b[2] = {BASE_M + ARM_M * cos(t2), ARM_M * sin(t2)};
	// The tool is LINK_M from both elbows, on the side that lies to the left of the way from 1 to 2.
	const double way[2] = {b[0] - a[0], b[1] - a[1]};
	const double half = 0.5 * hypot(way[0], way[1]);
	const double rise2 = LINK_M * LINK_M - half * half;
	if (!(half > 0 && rise2 > 0))
		return false;
	const double lift = sqrt(rise2) / (2 * half);
	out_m[0] = 0.5 * (a[0] + b[0]) - lift * way[1];
	out_m[1] = 0.5 * (a[1] + b[1]) + lift * way[0];
	// The links keep their length: (p - a) dp = (p - a) da, (p - b) dp = (p - b) db.
	const double u[2] = {out_m[0] - a[0], out_m[1] - a[1]}, v[2] = {out_m[0] - b[0], out_m[1] - b[1]};
	const double determinant = u[0] * v[1] - u[1] * v[0];
	if (!(fabs(determinant) >= SINE_MIN * LINK_M * LINK_M))
		return false;
	const double along_1 = ARM_M * (u[1] * cos(t1) - u[0] * sin(t1));
	const double along_2 = ARM_M * (v[1] * cos(t2) - v[0] * sin(t2));
	out_jacobian[0][0] = v[1] * along_1 / determinant;
	out_jacobian[0][1] = -u[1] * along_2 / determinant;
	out_jacobian[1][0] = -v[0] * along_1 / determinant;
	out_jacobian[1][1] = u[0] * along_2 / determinant;
	return true;
}

void tac_diy_torques(const double force_N[2], const double jacobian[2][2], float out_torque_Nm[2])
{
	double torque[2];
	for (int i = 0; i < 2; i++)
		torque[i] = jacobian[0][i] * force_N[0] + jacobian[1][i] * force_N[1];
	const double largest = fmax(fabs(torque[0]), fabs(torque[1]));
	const double scale = largest > TAC_DIY_TORQUE_MAX ? TAC_DIY_TORQUE_MAX / largest : 1;
	for (int i = 0; i < 2; i++)
		out_torque_Nm[i] = (float)(torque[i] * scale);
}
