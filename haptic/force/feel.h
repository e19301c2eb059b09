// Feel: what the force of a run was like to the hand. A monitor watches the force that is sent, tick by tick,
// and counts what a user would feel as a fault: jumps beyond the bound of the force law, dropouts, and ticks
// in which the device could not give what was asked for.
#ifndef TAC_HAPTIC_FORCE_FEEL_H
#define TAC_HAPTIC_FORCE_FEEL_H

#include "base/wrench.h"
#include "haptic/snapshot.h"

#ifdef __cplusplus
extern "C" {
#endif

// Zero at the start.
typedef struct tac_feel {
	tac_snapshot_feel feel;
	bool started;
	tac_dvec3 force_N;    // of the last tick
	int32_t since_strong; // ticks since the force was above 1 N; beyond the window: long ago
	bool vanished;        // it has been zero since then
} tac_feel;

// A force above TAC_FEEL_STRONG_N that is zero in a tick, and above it again within this many ticks, is a
// dropout.
#define TAC_FEEL_WINDOW   10
#define TAC_FEEL_STRONG_N 1.0

// Notes the force that was sent in a tick. `bound_N` bounds its change; `saturated`: the device's maximum cut
// it.
// Thread: RT.
void tac_feel_step(tac_feel *monitor, tac_dvec3 force_N, double bound_N, bool saturated);

#ifdef __cplusplus
}
#endif

#endif
