#include "devices/wooden/wooden_protocol.h"

#include <math.h>
#include <string.h>

#define TWO_PI          6.28318530717958647693
#define COUNTS_PER_TURN 2000.0 // of a motor
#define HANDLE_COUNTS   1024.0 // for a turn of a joint of the handle
#define CAPSTAN_M       0.01   // diameter of each motor's capstan
#define BUTTON_COUNTS   10000  // added to encoder d while the button is held
#define BUTTON_FROM     5000

const tac_wooden_model tac_wooden_haptics = {
	.name = "wooden",
	.product = "WoodenHaptics",
	.report_bytes = 8,
	.torque_Nm_per_A = 0.0259,
	.current_sign = 1,
	.body_diameter_m = {0.16, 0.12, 0.12},
	.length_m = {0.08, 0.205, 0.245},
	.origin_m = {0.22, 0, 0.08},
	.start_rad = {0, 0, TWO_PI / 4},
	.max_stiffness_N_per_m = 1000,
};

const tac_wooden_model tac_wooden_polhem = {
	.name = "polhem",
	.product = "Polhem",
	.report_bytes = 14,
	.torque_Nm_per_A = 0.0538,
	.current_sign = -1,
	.body_diameter_m = {0.18, 0.1, 0.1},
	.length_m = {0.058, 0.174, 0.133},
	.origin_m = {0.14, 0, 0.1},
	.calibrated = {0, 0, -5000}, // a quarter of a turn of body c
	.max_stiffness_N_per_m = 800,
	.turns = true,
};

static uint16_t get(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static void put(uint8_t *out, uint16_t value)
{
	out[0] = (uint8_t)(value & 0xff);
	out[1] = (uint8_t)(value >> 8);
}

// ---- reports ----

bool tac_wooden_report_decode(const tac_wooden_model *model, const uint8_t *bytes, size_t size,
			      tac_wooden_report *out_report)
{
	tac_wooden_report r = {0};
	if (size != model->report_bytes)
		return false;
	for (int i = 0; i < (model->turns ? TAC_WOODEN_ENCODERS : 3); i++)
		r.encoder[i] = (int16_t)get(bytes + 2 * i);
	if (model->turns) {
		r.calibrate = get(bytes + 12) != 0;
		r.button = r.encoder[3] > BUTTON_FROM;
		r.encoder[3] = (int16_t)(r.encoder[3] - (r.button ? BUTTON_COUNTS : 0));
	} else {
		r.counter = get(bytes + 6);
	}
	*out_report = r;
	return true;
}

void tac_wooden_report_encode(const tac_wooden_model *model, const tac_wooden_report *report, uint8_t *out)
{
	for (int i = 0; i < (model->turns ? TAC_WOODEN_ENCODERS : 3); i++)
		put(out + 2 * i, (uint16_t)report->encoder[i]);
	if (model->turns) {
		put(out + 6, (uint16_t)(report->encoder[3] + (report->button ? BUTTON_COUNTS : 0)));
		put(out + 12, report->calibrate);
	} else {
		put(out + 6, report->counter);
	}
}

size_t tac_wooden_command_encode(const tac_wooden_model *model, const double current_mA[3], uint8_t *out)
{
	memset(out, 0, 1 + model->report_bytes);
	for (int i = 0; i < 3; i++) {
		const double cut = fmax(-TAC_WOODEN_CURRENT_MAX, fmin(TAC_WOODEN_CURRENT_MAX, current_mA[i]));
		put(out + 1 + 2 * i, (uint16_t)(int16_t)lround(cut));
	}
	return 1 + model->report_bytes;
}

size_t tac_wooden_calibration_encode(const tac_wooden_model *model, uint8_t *out)
{
	memset(out, 0, 1 + model->report_bytes);
	put(out + 7, 1);
	for (int i = 0; i < 3; i++)
		put(out + 9 + 2 * i, (uint16_t)model->calibrated[i]);
	return 1 + model->report_bytes;
}

size_t tac_wooden_descriptor_bytes(const uint8_t *descriptor, size_t size)
{
	// Short items: the lowest two bits are the size of the data, the rest is the tag. Bits of a field are
	// its size times its count; both stay until they are stated again.
	uint32_t bits = 0, count = 0;
	for (size_t at = 0; at < size;) {
		const uint8_t prefix = descriptor[at++];
		const size_t bytes = (prefix & 3) == 3 ? 4 : prefix & 3;
		if (prefix == 0xfe || at + bytes > size) // a long item, or one that is cut off
			return 0;
		uint32_t value = 0;
		for (size_t i = 0; i < bytes; i++)
			value |= (uint32_t)descriptor[at + i] << 8 * i;
		at += bytes;
		if ((prefix & 0xfc) == 0x74)
			bits = value;
		else if ((prefix & 0xfc) == 0x94)
			count = value;
		else if ((prefix & 0xfc) == 0x80) // the first input
			return bits == 8 && count <= 64 ? count : 0;
	}
	return 0;
}

// ---- mechanism ----

// Radians of a body for a radian of its motor.
static double reduction(const tac_wooden_model *model, int body)
{
	return CAPSTAN_M / model->body_diameter_m[body];
}

void tac_wooden_angles(const tac_wooden_model *model, const int32_t counts[3], double out_rad[3])
{
	for (int i = 0; i < 3; i++) // the encoders count against the bodies
		out_rad[i] = model->start_rad[i] - TWO_PI * counts[i] / COUNTS_PER_TURN * reduction(model, i);
}

void tac_wooden_forward(const tac_wooden_model *model, const double rad[3], double out_m[3],
			double out_jacobian[3][3])
{
	const double *length_m = model->length_m;
	const double sa = sin(rad[0]), ca = cos(rad[0]);
	const double sb = length_m[1] * sin(rad[1]), cb = length_m[1] * cos(rad[1]);
	const double sc = length_m[2] * sin(rad[2]), cc = length_m[2] * cos(rad[2]);
	const double reach = sb + sc;
	out_m[0] = ca * reach - model->origin_m[0];
	out_m[1] = sa * reach - model->origin_m[1];
	out_m[2] = length_m[0] + cb - cc - model->origin_m[2];
	const double jacobian[3][3] = {
		{-sa * reach, ca * cb, ca * cc}, {ca * reach, sa * cb, sa * cc}, {0, -sb, sc}};
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			out_jacobian[i][k] = jacobian[i][k];
}

// rows := rows R, where R turns by `rad` about x (axis 0), y (1) or z (2).
static void turn(double rows[3][3], int axis, double rad)
{
	const int from = (axis + 1) % 3, to = (axis + 2) % 3;
	const double s = sin(rad), c = cos(rad);
	for (int i = 0; i < 3; i++) {
		const double u = rows[i][from], v = rows[i][to];
		rows[i][from] = c * u + s * v;
		rows[i][to] = c * v - s * u;
	}
}

void tac_wooden_rotation(const double rad[3], const tac_wooden_report *report, double out_rows[3][3])
{
	const double per_count = TWO_PI / HANDLE_COUNTS;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			out_rows[i][k] = i == k;
	turn(out_rows, 2, rad[0]);
	turn(out_rows, 1, TWO_PI / 4 - rad[2]);
	turn(out_rows, 0, -per_count * report->encoder[5]);
	turn(out_rows, 1, per_count * report->encoder[4]);
	turn(out_rows, 0, -per_count * report->encoder[3]);
}

void tac_wooden_currents(const tac_wooden_model *model, const double force_N[3], const double jacobian[3][3],
			 double out_mA[3])
{
	double largest = 0;
	for (int i = 0; i < 3; i++) {
		const double torque = jacobian[0][i] * force_N[0] + jacobian[1][i] * force_N[1] +
				      jacobian[2][i] * force_N[2];
		out_mA[i] = model->current_sign * 1e3 * torque * reduction(model, i) / model->torque_Nm_per_A;
		largest = fmax(largest, fabs(out_mA[i]));
	}
	const double scale = largest > TAC_WOODEN_CURRENT_MAX ? TAC_WOODEN_CURRENT_MAX / largest : 1;
	for (int i = 0; i < 3; i++)
		out_mA[i] *= scale;
}
