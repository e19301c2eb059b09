// Fuzz target for the protocol of the Inverse3: bytes as the streams of the arm and of the handle. Every step
// uses bytes or asks for more, which it may do only within the longest answer; what is accepted is finite,
// within the mechanism's range, and encodes to the same numbers.
#include "base/assert.h"
#include "devices/haply/inverse3_protocol.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double length3(const float v[3])
{
	return sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2]);
}

static void check_arm(const uint8_t *data, size_t size)
{
	size_t at = 0, used;
	for (;;) {
		tac_inverse3_state state;
		const tac_inverse3_kind kind = tac_inverse3_decode(data + at, size - at, &used, &state);
		if (kind == TAC_INVERSE3_INCOMPLETE)
			break;
		TAC_ASSERT(used > 0 && used <= size - at);
		TAC_ASSERT(kind == TAC_INVERSE3_NOISE || kind == TAC_INVERSE3_HEARTBEAT ||
			   kind == TAC_INVERSE3_STATE);
		if (kind == TAC_INVERSE3_STATE) {
			uint8_t encoded[TAC_INVERSE3_STATE_BYTES];
			TAC_ASSERT(length3(state.position_m) <= TAC_INVERSE3_REACH_MAX_M &&
				   length3(state.position_m) >= TAC_INVERSE3_REACH_MIN_M &&
				   length3(state.velocity_m_per_s) <= TAC_INVERSE3_SPEED_MAX);
			tac_inverse3_state_encode(&state, encoded);
			TAC_ASSERT(memcmp(encoded, data + at, sizeof encoded) == 0);
			TAC_ASSERT(tac_dvec3_finite(tac_inverse3_vector_from(state.position_m)));
		}
		at += used;
	}
	TAC_ASSERT(size - at < TAC_INVERSE3_STATE_BYTES);
}

static void check_handle(const uint8_t *data, size_t size)
{
	size_t at = 0, used;
	for (;;) {
		tac_inverse3_handle handle;
		const tac_inverse3_kind kind =
			tac_inverse3_handle_decode(data + at, size - at, &used, &handle);
		if (kind == TAC_INVERSE3_INCOMPLETE)
			break;
		TAC_ASSERT(used > 0 && used <= size - at);
		if (kind == TAC_INVERSE3_HANDLE) {
			const tac_dquat q = tac_inverse3_rotation_from(handle.rotation);
			TAC_ASSERT(fabs(tac_dquat_dot(q, q) - 1) < 1e-9);
		}
		at += used;
	}
	TAC_ASSERT(size - at < TAC_HANDLE_BYTES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_arm(data, size);
	check_handle(data, size);
	return 0;
}
