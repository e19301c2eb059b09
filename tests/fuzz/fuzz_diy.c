// Fuzz target for the protocol of the 2DIY: bytes as a board's stream. Every step uses bytes or asks for
// more, which it may do only within an answer; accepted angles have a finite pose and torques within the
// maximum.
#include "base/assert.h"
#include "devices/haply/diy_protocol.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = 0, used;
	for (;;) {
		float degrees[2], torque[2];
		const tac_diy_kind kind = tac_diy_decode(data + at, size - at, &used, degrees);
		if (kind == TAC_DIY_INCOMPLETE)
			break;
		TAC_ASSERT(used > 0 && used <= size - at);
		if (kind == TAC_DIY_ANGLES) {
			const double angles[2] = {(double)degrees[0], (double)degrees[1]},
				     force[2] = {1e3, -1e3};
			double p[2], jacobian[2][2];
			TAC_ASSERT(tac_diy_forward(angles, p, jacobian));
			TAC_ASSERT(hypot(p[0], p[1]) < 0.2); // an arm and a link
			tac_diy_torques(force, (const double(*)[2])jacobian, torque);
			for (int i = 0; i < 2; i++)
				TAC_ASSERT(fabs((double)torque[i]) <= TAC_DIY_TORQUE_MAX * (1 + 1e-6));
		}
		at += used;
	}
	TAC_ASSERT(size - at < TAC_DIY_ANGLES_BYTES);
	return 0;
}
