// Inverse3 protocol: the bytes between a Haply Inverse3, its handle (VerseGrip) and the host, pure. Numbers
// are little-endian; there is neither a length nor a checksum. Requests and answers are those of the maker's
// first public host library; the heartbeats were observed on later firmware.
//
//	request              bytes  answer
//	0A wake up           1      a code, u16 id, u8 model, u8 hardware, u8 firmware, f32[4] base rotation
//	2A force, f32[3] N   13     2B, f32[3] position in m, f32[3] velocity in m/s
//	                            BA 02 02 and two bytes: a heartbeat, at any time between two answers
//	DB handle, u16 0, u8 0  4   DA, u16 id, f32[4] rotation w x y z, u8 error, u8 attached, u8 n, n bytes;
//	                            the first of the n bytes has the buttons
//
// Without a checksum an answer is recognised by its shape: the code, and numbers that the mechanism can have.
// What fits nothing is skipped byte by byte, so that the next intact answer is found.
#ifndef TAC_DEVICES_HAPLY_INVERSE3_PROTOCOL_H
#define TAC_DEVICES_HAPLY_INVERSE3_PROTOCOL_H

#include "base/algebra.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_INVERSE3_WAKE_BYTES   1
#define TAC_INVERSE3_FORCE_BYTES  13
#define TAC_INVERSE3_STATE_BYTES  25
#define TAC_INVERSE3_HANDLE_BYTES 4         // of the request
#define TAC_HANDLE_BYTES_MAX      (22 + 16) // of an answer: no handle has more than 16 bytes of its own

// No tool position is nearer to the base or farther from it, and no hand is faster.
#define TAC_INVERSE3_REACH_MIN_M 0.03
#define TAC_INVERSE3_REACH_MAX_M 0.5
#define TAC_INVERSE3_SPEED_MAX   5.0 // m/s

// In the device's frame: x to the right, y away from the user, z up; the origin is on the mounting plate.
typedef struct tac_inverse3_state {
	float position_m[3];
	float velocity_m_per_s[3];
} tac_inverse3_state;

typedef struct tac_inverse3_handle {
	float rotation[4]; // w, x, y, z
	uint8_t buttons;
} tac_inverse3_handle;

// What the bytes at the beginning of a stream are.
typedef enum tac_inverse3_kind {
	TAC_INVERSE3_INCOMPLETE, // more bytes are needed
	TAC_INVERSE3_NOISE,      // one byte that fits nothing
	TAC_INVERSE3_HEARTBEAT,
	TAC_INVERSE3_STATE,
	TAC_INVERSE3_HANDLE, // with error 0
	TAC_INVERSE3_ASLEEP, // a handle's answer with an error: it is switched off or out of reach
} tac_inverse3_kind;

// Fill TAC_INVERSE3_…_BYTES at `out`. The force is finite. Thread: any.
void tac_inverse3_wake_encode(uint8_t *out);
void tac_inverse3_force_encode(const float force_N[3], uint8_t *out);
void tac_inverse3_handle_request_encode(uint8_t *out);

// Decodes what `size` bytes of the arm's stream begin with; *out_used of them belong to it (0: incomplete).
// *out_state is written only for TAC_INVERSE3_STATE. Any bytes are allowed. Thread: any.
tac_inverse3_kind tac_inverse3_decode(const uint8_t *bytes, size_t size, size_t *out_used,
				      tac_inverse3_state *out_state);

// The same for the handle's stream. *out_handle is written only for TAC_INVERSE3_HANDLE. Thread: any.
tac_inverse3_kind tac_inverse3_handle_decode(const uint8_t *bytes, size_t size, size_t *out_used,
					     tac_inverse3_handle *out_handle);

// What a firmware answers, for tests: fill TAC_INVERSE3_STATE_BYTES, and 23 bytes, at `out`. Thread: any.
void tac_inverse3_state_encode(const tac_inverse3_state *state, uint8_t *out);
void tac_inverse3_handle_encode(const tac_inverse3_handle *handle, uint8_t error, uint8_t *out);
#define TAC_HANDLE_BYTES 23 // with one byte of its own

// Vectors and rotations between the device's frame and that of devices/device.h. Thread: any.
static inline tac_dvec3 tac_inverse3_vector_from(const float v[3])
{
	return tac_dvec3_make((double)v[0], (double)v[2], -(double)v[1]);
}

static inline void tac_inverse3_vector_to(tac_dvec3 v, float out[3])
{
	out[0] = (float)v.x;
	out[1] = (float)-v.z;
	out[2] = (float)v.y;
}

static inline tac_dquat tac_inverse3_rotation_from(const float wxyz[4])
{
	return tac_dquat_normalize(
		tac_dquat_make((double)wxyz[1], (double)wxyz[3], -(double)wxyz[2], (double)wxyz[0]));
}

#ifdef __cplusplus
}
#endif

#endif
