// WoodenHaptics and Polhem: reports and mechanisms of the open-hardware devices WoodenHaptics (2015) and
// Polhem (version 1), after their published firmware and host library. Pure.
//
// Reports are 16-bit numbers, little-endian. WoodenHaptics, 8 bytes both ways: from the device the encoders
// a, b, c and a counter, to the device the currents a, b, c in mA and a spare. Polhem, 14 bytes both ways:
// from the device the encoders a … f and whether its calibration button was pressed, to the device the
// currents, a command and three values. Command 1 sets the encoders a, b, c to the values, and d, e, f to
// what else are the currents. Polhem's encoder d carries its button: 10,000 is added while it is held. The
// firmware of both cuts the motors 0.5 s after the last report.
//
// The mechanisms turn about the vertical (a) and have two bodies (b, c) above each other, each driven by a
// capstan. With r = Lb sin b + Lc sin c, in the frame of devices/vendor/desk_frame.h about the centre of the
// workspace:
//	x = r cos a - Ox, y = r sin a, z = La + Lb cos b - Lc cos c - Oz
// WoodenHaptics counts from where the device is when it is opened, which must be a = b = 0, c = 90 degrees:
// body b upright, body c level, pointing ahead. Polhem counts from its last calibration in that pose. Its
// handle turns by Rz(a) Ry(90 degrees - c) Rx(f) Ry(e) Rx(d), of the encoders f, e and d.
#ifndef TAC_DEVICES_WOODEN_WOODEN_PROTOCOL_H
#define TAC_DEVICES_WOODEN_WOODEN_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_WOODEN_REPORT_MAX  14
#define TAC_WOODEN_COMMAND_MAX 15     // with the number of the report, 0, that hidraw expects
#define TAC_WOODEN_CURRENT_MAX 2000.0 // mA, of a motor
#define TAC_WOODEN_ENCODERS    6

typedef struct tac_wooden_model {
	const char *name;    // of the driver
	const char *product; // for people
	size_t report_bytes; // of reports both ways, without their number
	double torque_Nm_per_A;
	double current_sign; // -1: a positive current turns a body against its angle
	double body_diameter_m[3];
	double length_m[3];           // La, Lb, Lc
	double origin_m[3];           // Ox, 0, Oz
	double start_rad[3];          // where the encoders are 0
	int16_t calibrated[3];        // Polhem's encoders in the pose of its calibration
	double max_stiffness_N_per_m; // recommended by the host library
	bool turns;                   // its handle has encoders, and a button
} tac_wooden_model;

extern const tac_wooden_model tac_wooden_haptics, tac_wooden_polhem;

typedef struct tac_wooden_report {
	int16_t encoder[TAC_WOODEN_ENCODERS]; // WoodenHaptics: the first three
	uint16_t counter;                     // of WoodenHaptics
	bool button;                          // of Polhem's handle
	bool calibrate;                       // Polhem's calibration button was pressed
} tac_wooden_report;

// False: it has not the model's number of bytes. Thread: any.
bool tac_wooden_report_decode(const tac_wooden_model *model, const uint8_t *bytes, size_t size,
			      tac_wooden_report *out_report);
void tac_wooden_report_encode(const tac_wooden_model *model, const tac_wooden_report *report, uint8_t *out);

// Fills TAC_WOODEN_COMMAND_MAX bytes at most and returns how many; larger currents than
// TAC_WOODEN_CURRENT_MAX are cut. Thread: any.
size_t tac_wooden_command_encode(const tac_wooden_model *model, const double current_mA[3], uint8_t *out);

// The same for the command that tells a Polhem that it is in the pose of its calibration. No current flows.
// Thread: any.
size_t tac_wooden_calibration_encode(const tac_wooden_model *model, uint8_t *out);

// The bytes of a report from the device that an HID report descriptor states; 0: none. Thread: any.
size_t tac_wooden_descriptor_bytes(const uint8_t *descriptor, size_t size);

// The bodies' angles, rad. Thread: any.
void tac_wooden_angles(const tac_wooden_model *model, const int32_t counts[3], double out_rad[3]);

// The position in the desk frame, and its derivatives out_jacobian[axis][body] in m/rad. Thread: any.
void tac_wooden_forward(const tac_wooden_model *model, const double rad[3], double out_m[3],
			double out_jacobian[3][3]);

// The rotation of a Polhem's handle in the desk frame, in rows, from the bodies' angles and a report.
// Thread: any.
void tac_wooden_rotation(const double rad[3], const tac_wooden_report *report, double out_rows[3][3]);

// The currents for a force in the desk frame, all scaled down where one is above TAC_WOODEN_CURRENT_MAX.
// Thread: any.
void tac_wooden_currents(const tac_wooden_model *model, const double force_N[3], const double jacobian[3][3],
			 double out_mA[3]);

#ifdef __cplusplus
}
#endif

#endif
