#include "devices/haply/inverse3_protocol.h"

#include "devices/haply/float_bytes.h"

#include <math.h>
#include <string.h>

#define CODE_WAKE         0x0A
#define CODE_FORCE        0x2A
#define CODE_STATE        0x2B
#define CODE_HEARTBEAT    0xBA
#define HEARTBEAT_BYTES   5
#define CODE_HANDLE_STATE 0xDB
#define CODE_HANDLE       0xDA
#define HANDLE_FIXED      22 // bytes before those of the handle's own
#define HANDLE_OWN_MAX    16
#define UNIT_TOLERANCE    0.05 // of the length of a rotation

static double length(const float *v, int count)
{
	double sum = 0;
	for (int i = 0; i < count; i++)
		sum += (double)v[i] * (double)v[i];
	return sqrt(sum);
}

// ---- requests ----

void tac_inverse3_wake_encode(uint8_t *out)
{
	out[0] = CODE_WAKE;
}

void tac_inverse3_force_encode(const float force_N[3], uint8_t *out)
{
	out[0] = CODE_FORCE;
	for (int i = 0; i < 3; i++)
		tac_float_put(force_N[i], out + 1 + 4 * i);
}

void tac_inverse3_handle_request_encode(uint8_t *out)
{
	memset(out, 0, TAC_INVERSE3_HANDLE_BYTES);
	out[0] = CODE_HANDLE_STATE;
}

// ---- answers ----

static tac_inverse3_kind take(tac_inverse3_kind kind, size_t bytes, size_t *out_used)
{
	*out_used = bytes;
	return kind;
}

// False for numbers that are not finite, too.
static bool state_possible(const tac_inverse3_state *s)
{
	const double reach_m = length(s->position_m, 3);
	return reach_m >= TAC_INVERSE3_REACH_MIN_M && reach_m <= TAC_INVERSE3_REACH_MAX_M &&
	       length(s->velocity_m_per_s, 3) <= TAC_INVERSE3_SPEED_MAX;
}

tac_inverse3_kind tac_inverse3_decode(const uint8_t *bytes, size_t size, size_t *out_used,
				      tac_inverse3_state *out_state)
{
	if (size == 0)
		return take(TAC_INVERSE3_INCOMPLETE, 0, out_used);
	if (bytes[0] == CODE_HEARTBEAT) {
		static const uint8_t mark[3] = {CODE_HEARTBEAT, 2, 2};
		if (memcmp(bytes, mark, size < 3 ? size : 3) != 0)
			return take(TAC_INVERSE3_NOISE, 1, out_used);
		return size < HEARTBEAT_BYTES ? take(TAC_INVERSE3_INCOMPLETE, 0, out_used)
					      : take(TAC_INVERSE3_HEARTBEAT, HEARTBEAT_BYTES, out_used);
	}
	if (bytes[0] != CODE_STATE)
		return take(TAC_INVERSE3_NOISE, 1, out_used);
	if (size < TAC_INVERSE3_STATE_BYTES)
		return take(TAC_INVERSE3_INCOMPLETE, 0, out_used);
	tac_inverse3_state state;
	for (int i = 0; i < 3; i++) {
		state.position_m[i] = tac_float_get(bytes + 1 + 4 * i);
		state.velocity_m_per_s[i] = tac_float_get(bytes + 13 + 4 * i);
	}
	if (!state_possible(&state))
		return take(TAC_INVERSE3_NOISE, 1, out_used);
	*out_state = state;
	return take(TAC_INVERSE3_STATE, TAC_INVERSE3_STATE_BYTES, out_used);
}

tac_inverse3_kind tac_inverse3_handle_decode(const uint8_t *bytes, size_t size, size_t *out_used,
					     tac_inverse3_handle *out_handle)
{
	if (size == 0)
		return take(TAC_INVERSE3_INCOMPLETE, 0, out_used);
	if (bytes[0] != CODE_HANDLE)
		return take(TAC_INVERSE3_NOISE, 1, out_used);
	if (size < HANDLE_FIXED)
		return take(TAC_INVERSE3_INCOMPLETE, 0, out_used);
	const size_t own = bytes[HANDLE_FIXED - 1];
	if (own > HANDLE_OWN_MAX)
		return take(TAC_INVERSE3_NOISE, 1, out_used);
	if (size < HANDLE_FIXED + own)
		return take(TAC_INVERSE3_INCOMPLETE, 0, out_used);
	if (bytes[19] != 0)
		return take(TAC_INVERSE3_ASLEEP, HANDLE_FIXED + own, out_used);
	tac_inverse3_handle handle = {.buttons = own > 0 ? bytes[HANDLE_FIXED] : 0};
	for (int i = 0; i < 4; i++)
		handle.rotation[i] = tac_float_get(bytes + 3 + 4 * i);
	if (!(fabs(length(handle.rotation, 4) - 1) <= UNIT_TOLERANCE))
		return take(TAC_INVERSE3_NOISE, 1, out_used);
	*out_handle = handle;
	return take(TAC_INVERSE3_HANDLE, HANDLE_FIXED + own, out_used);
}

void tac_inverse3_state_encode(const tac_inverse3_state *state, uint8_t *out)
{
	out[0] = CODE_STATE;
	for (int i = 0; i < 3; i++) {
		tac_float_put(state->position_m[i], out + 1 + 4 * i);
		tac_float_put(state->velocity_m_per_s[i], out + 13 + 4 * i);
	}
}

void tac_inverse3_handle_encode(const tac_inverse3_handle *handle, uint8_t error, uint8_t *out)
{
	memset(out, 0, TAC_HANDLE_BYTES);
	out[0] = CODE_HANDLE;
	for (int i = 0; i < 4; i++)
		tac_float_put(handle->rotation[i], out + 3 + 4 * i);
	out[19] = error;
	out[20] = 1; // attached
	out[21] = 1; // bytes of its own
	out[22] = handle->buttons;
}
