// Drilling: a servo's body that is drilled, and its drill. The world keeps the body as it is at the start;
// the servo works on a copy, which two hands share.
#ifndef TAC_HAPTIC_SERVO_DRILLING_H
#define TAC_HAPTIC_SERVO_DRILLING_H

#include "haptic/snapshot.h"
#include "haptic/world.h"
#include "tissue/drill.h"

#ifdef __cplusplus
extern "C" {
#endif

// Zero: nothing is drilled.
typedef struct tac_servo_drilling {
	const tac_world *world; // that the field belongs to
	int32_t object;         // that is drilled
	tac_field *field;       // NULL: none
	bool borrowed;          // the partner owns the field
	bool used;              // the tool is a drill
	tac_drill drill;
	int64_t button;
	double period_s;
	double frequency_rad_per_s; // of the vibration
	double amplitude_N;         // at full load
	double phase_rad;
	double vibration_N;
	// Of the last tick.
	tac_dvec3 force_N; // of the body on the burr, in the body's frame
	int32_t label;     // that is pressed most
	bool touching;
} tac_servo_drilling;

// Copies the field of the world, if it has one, and starts the drill of the scene's tool, if it is one.
// TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with one log line.
// Thread: setup.
tac_result tac_servo_drilling_init(tac_servo_drilling *drilling, const tac_world *world, int32_t tool,
				   int64_t period_ns);

// Thread: setup.
void tac_servo_drilling_fini(tac_servo_drilling *drilling);

// From now on both work on the field of `owner`.
// Thread: setup.
void tac_servo_drilling_share(tac_servo_drilling *drilling, const tac_servo_drilling *owner);

// Before the mover's step: how far the burr may cut in it. `buttons` are the device's.
// Thread: RT.
void tac_servo_drilling_allow(tac_servo_drilling *drilling, uint32_t buttons, double elapsed_s);

// The force of the vibration in this tick, N.
// Thread: RT.
double tac_servo_drilling_vibrate(tac_servo_drilling *drilling, double elapsed_s);

// After the tick's forces are known: notes the press of the burr and removes what it swept along the trail
// of the mover, in the object's frame.
// Thread: RT.
void tac_servo_drilling_cut(tac_servo_drilling *drilling, const tac_sco_report *report,
			    double stiffness_N_per_m, const tac_dpose *trail, int32_t count,
			    tac_dpose T_world_object);

// Thread: RT.
void tac_servo_drilling_fill(const tac_servo_drilling *drilling, tac_snapshot_drill *out);

#ifdef __cplusplus
}
#endif

#endif
