// Sweep shapes: bodies for continuous collision from what a user names, a mesh file or a description of
// solids, and motions that translate and then rotate one of them. `tactus sweep` and the Python package use
// it.
#ifndef TAC_COLLISION_SWEEP_SHAPE_H
#define TAC_COLLISION_SWEEP_SHAPE_H

#include "base/result.h"
#include "collision/sweep.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// A mesh, or a round tool (collision/round.h).
typedef struct tac_sweep_shape tac_sweep_shape;

// Loads a mesh file, or builds the solids that `text` describes (collision/solid.h). A single sphere or
// capsule that is to move is exact; other solids are converted to meshes of 128 segments, which lie up to
// 3e-4 of the radius inside them. TAC_ERROR_IO, TAC_ERROR_FORMAT, TAC_ERROR_ARGUMENT, TAC_ERROR_UNSUPPORTED
// or TAC_ERROR_MEMORY with one log line; *out_shape is NULL then. Thread: setup.
TAC_API tac_result tac_sweep_shape_load(const char *text, bool moving, tac_sweep_shape **out_shape);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
TAC_API void tac_sweep_shape_destroy(tac_sweep_shape **shape);

// The translation `v` from the pose T, then the rotation about the moved shape's origin.
typedef struct tac_sweep_motion {
	tac_drigid T;   // of the moving shape in the frame of the fixed one
	tac_dvec3 v;    // m
	tac_dvec3 axis; // of any length but 0
	double angle;   // rad
} tac_sweep_motion;

typedef struct tac_sweep_moved {
	double translation, rotation; // fractions that are free
	tac_sweep_result contact;     // what stopped the translation or, if it was free, the rotation
} tac_sweep_moved;

// Moves `moving` until it touches `fixed`. The fixed shape was loaded as one that does not move (asserted).
// A translation that is refused or begins in contact has no rotation.
// Thread: RT.
TAC_API tac_sweep_moved tac_sweep_shape_move(const tac_sweep_shape *fixed, const tac_sweep_shape *moving,
					     const tac_sweep_motion *motion, const tac_sweep_options *options,
					     tac_sweep_context *context);

// "none", "vertex-face", "face-vertex", "edge-edge", "start" (the motion begins in contact) or "refused".
// Thread: any.
TAC_API const char *tac_sweep_contact_name(const tac_sweep_result *result);

#ifdef __cplusplus
}
#endif

#endif
