// WoodenHaptics: reports and mechanism of the open-hardware device WoodenHaptics (2015), after its published
// firmware and host library. Pure.
//
// Reports of 8 bytes both ways, four 16-bit numbers, little-endian: from the device the encoders a, b, c and
// a counter, to the device the currents a, b, c in mA and a spare. The firmware cuts the motors 0.5 s after
// the last report.
//
// The mechanism turns about the vertical (a) and has two bodies (b, c) above each other, each driven by a
// capstan. With r = Lb sin b + Lc sin c, in the frame of devices/vendor/desk_frame.h about the centre of the
// workspace:
//	x = r cos a - 0.22, y = r sin a, z = La + Lb cos b - Lc cos c - 0.08
// Encoders count from where the device is when it is opened, which must be a = b = 0, c = 90 degrees: body b
// upright, body c level, pointing ahead.
#ifndef TAC_DEVICES_WOODEN_WOODEN_PROTOCOL_H
#define TAC_DEVICES_WOODEN_WOODEN_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_WOODEN_REPORT_BYTES  8
#define TAC_WOODEN_COMMAND_BYTES 9      // with the number of the report, 0, that hidraw expects
#define TAC_WOODEN_CURRENT_MAX   2000.0 // mA, of a motor

typedef struct tac_wooden_report {
	int16_t encoder[3];
	uint16_t counter;
} tac_wooden_report;

// False: it has not TAC_WOODEN_REPORT_BYTES. Thread: any.
bool tac_wooden_report_decode(const uint8_t *bytes, size_t size, tac_wooden_report *out_report);
void tac_wooden_report_encode(const tac_wooden_report *report, uint8_t *out);

// Fills TAC_WOODEN_COMMAND_BYTES at `out`; larger currents than TAC_WOODEN_CURRENT_MAX are cut. Thread: any.
void tac_wooden_command_encode(const double current_mA[3], uint8_t *out);

// The bodies' angles, rad, after the encoders have counted `counts` since the device was opened. Thread: any.
void tac_wooden_angles(const int32_t counts[3], double out_rad[3]);

// The position in the desk frame, and its derivatives out_jacobian[axis][body] in m/rad. Thread: any.
void tac_wooden_forward(const double rad[3], double out_m[3], double out_jacobian[3][3]);

// The currents for a force in the desk frame, all scaled down where one is above TAC_WOODEN_CURRENT_MAX.
// Thread: any.
void tac_wooden_currents(const double force_N[3], const double jacobian[3][3], double out_mA[3]);

#ifdef __cplusplus
}
#endif

#endif
