// Pressing: a servo's tool on bodies of the world that yield. The tissue's balance comes before the mover,
// which then proves the way to it against everything rigid.
#ifndef TAC_HAPTIC_SERVO_PRESSING_H
#define TAC_HAPTIC_SERVO_PRESSING_H

#include "haptic/force/friction.h"
#include "haptic/snapshot.h"
#include "haptic/world.h"
#include "tissue/contact.h"

#ifdef __cplusplus
extern "C" {
#endif

// One body.
typedef struct tac_servo_pressed {
	tac_tissue *tissue;
	int32_t object;   // of the scene
	tac_field *field; // of a tool that is a mesh
	tac_friction_material material;

	// From tick to tick.
	tac_friction friction;
	tac_dpose T_body_tool;
	tac_dvec3 travel_m;    // sum of the tool's motion at the patch's centre, body's frame
	double turn_rad;       // about its normal
	double drag_N_per_m;   // of the bristle and the tissue that it drags
	tac_dvec3 crept_m;     // how far that tissue has crept along, body's frame
	tac_wrench pressed[2]; // `press` of the last two ticks

	// Of this tick.
	bool active; // tac_tissue_solve was called
	tac_dpose T_world_body;
	tac_wrench press;     // on the tool, about its origin, world frame, without friction
	tac_dvec3 friction_N; // world frame
} tac_servo_pressed;

// Zero: nothing yields.
typedef struct tac_servo_pressing {
	tac_servo_pressed bodies[TAC_SCENE_SOFT];
	int32_t count;
	int32_t shown;            // the body that the snapshot describes
	bool fixed_rotation;      // of the tool
	double stiffness_N_per_m; // of the coupling: the least that a body's material asks for
	double coupling_N_per_m, turn_coupling_Nm_per_rad; // of this tick
	double elapsed_s;                                  // since the last one
	tac_wrench wrench;                                 // on the tool, about its origin, world frame
} tac_servo_pressing;

// Prepares the tool of a world with bodies that yield; else all of it is zero. TAC_ERROR_ARGUMENT (a tool
// whose mesh is not closed) or TAC_ERROR_MEMORY with one log line. A tool that is finer than the spacing of
// the body's points gets a warning.
// Thread: setup.
tac_result tac_servo_pressing_init(tac_servo_pressing *pressing, const tac_world *world, int32_t tool);

// Thread: setup.
void tac_servo_pressing_fini(tac_servo_pressing *pressing);

// Thread: RT.
bool tac_servo_pressing_loaded(const tac_servo_pressing *pressing);

// Thread: RT.
void tac_servo_pressing_fill(const tac_servo_pressing *pressing, tac_snapshot_tissue *out);

#ifdef __cplusplus
}
#endif

#endif
