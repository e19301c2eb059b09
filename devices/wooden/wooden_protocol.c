#include "devices/wooden/wooden_protocol.h"

#include <math.h>

#define TWO_PI          6.28318530717958647693
#define COUNTS_PER_TURN 2000.0
#define TORQUE_NM_PER_A 0.0259
#define CAPSTAN_M       0.01 // diameter of each motor's capstan

static const double body_diameter_m[3] = {0.16, 0.12, 0.12};
static const double length_m[3] = {0.08, 0.205, 0.245};
static const double origin_m[3] = {0.22, 0, 0.08};
static const double start_rad[3] = {0, 0, TWO_PI / 4};

bool tac_wooden_report_decode(const uint8_t *bytes, size_t size, tac_wooden_report *out_report)
{
	if (size != TAC_WOODEN_REPORT_BYTES)
		return false;
	uint16_t words[4];
	for (int i = 0; i < 4; i++)
		words[i] = (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
	*out_report =
		(tac_wooden_report){{(int16_t)words[0], (int16_t)words[1], (int16_t)words[2]}, words[3]};
	return true;
}

static void put(uint8_t *out, uint16_t value)
{
	out[0] = (uint8_t)(value & 0xff);
	out[1] = (uint8_t)(value >> 8);
}

void tac_wooden_report_encode(const tac_wooden_report *report, uint8_t *out)
{
	for (int i = 0; i < 3; i++)
		put(out + 2 * i, (uint16_t)report->encoder[i]);
	put(out + 6, report->counter);
}

void tac_wooden_command_encode(const double current_mA[3], uint8_t *out)
{
	out[0] = 0;
	for (int i = 0; i < 3; i++) {
		const double cut = fmax(-TAC_WOODEN_CURRENT_MAX, fmin(TAC_WOODEN_CURRENT_MAX, current_mA[i]));
		put(out + 1 + 2 * i, (uint16_t)(int16_t)lround(cut));
	}
	put(out + 7, 0);
}

// Radians of a body for a radian of its motor.
static double reduction(int body)
{
	return CAPSTAN_M / body_diameter_m[body];
}

void tac_wooden_angles(const int32_t counts[3], double out_rad[3])
{
	for (int i = 0; i < 3; i++) // the encoders count against the bodies
		out_rad[i] = start_rad[i] - TWO_PI * counts[i] / COUNTS_PER_TURN * reduction(i);
}

void tac_wooden_forward(const double rad[3], double out_m[3], double out_jacobian[3][3])
{
	const double sa = sin(rad[0]), ca = cos(rad[0]);
	const double sb = length_m[1] * sin(rad[1]), cb = length_m[1] * cos(rad[1]);
	const double sc = length_m[2] * sin(rad[2]), cc = length_m[2] * cos(rad[2]);
	const double reach = sb + sc;
	out_m[0] = ca * reach - origin_m[0];
	out_m[1] = sa * reach - origin_m[1];
	out_m[2] = length_m[0] + cb - cc - origin_m[2];
	const double jacobian[3][3] = {
		{-sa * reach, ca * cb, ca * cc}, {ca * reach, sa * cb, sa * cc}, {0, -sb, sc}};
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			out_jacobian[i][k] = jacobian[i][k];
}

void tac_wooden_currents(const double force_N[3], const double jacobian[3][3], double out_mA[3])
{
	double largest = 0;
	for (int i = 0; i < 3; i++) {
		const double torque = jacobian[0][i] * force_N[0] + jacobian[1][i] * force_N[1] +
				      jacobian[2][i] * force_N[2];
		out_mA[i] = 1e3 * torque * reduction(i) / TORQUE_NM_PER_A;
		largest = fmax(largest, fabs(out_mA[i]));
	}
	const double scale = largest > TAC_WOODEN_CURRENT_MAX ? TAC_WOODEN_CURRENT_MAX / largest : 1;
	for (int i = 0; i < 3; i++)
		out_mA[i] *= scale;
}
