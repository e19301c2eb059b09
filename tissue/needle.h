// Needle: what a needle meets in layered soft tissue.
//
// Along its axis the needle pushes a cut front. The tissue ahead of the tip is a spring that stands on the
// front; when it pushes harder than a threshold, the front moves. At a closed membrane, the boundary of a
// layer, the threshold is the puncture force; behind it, the lower cutting force (A. Okamura, C. Simone and
// M. O'Leary, "Force modeling for needle insertion into soft tissue", IEEE TBME 51, 2004, for the parts of
// the force). Along the shaft each layer has one bristle whose force is limited in proportion to the length
// inside. A Maxwell branch beside the tip's spring relaxes. Across the axis springs pull the shaft to the
// track that it has cut; a flexible needle is a beam on that foundation (M. Hetenyi, "Beams on elastic
// foundation", 1946). A bevelled tip turns the track by its curvature times the length cut (R. Webster et
// al., IJRR 25, 2006).
//
// All of it is in series with the coupling: tac_needle_solve finds the pose at which coupling and tissue are
// in balance, tac_needle_commit moves the needle to where it may go, which a rigid obstacle can forbid. Every
// term is either stored or dissipated, and what is dissipated never decreases (tac_needle_energy).
//
// Layers are slabs below a plane of a body. The last one has no lower end. The layered body is no obstacle of
// the mover: the mover keeps the needle out of what is rigid, such as bones.
#ifndef TAC_TISSUE_NEEDLE_H
#define TAC_TISSUE_NEEDLE_H

#include "base/algebra.h"
#include "base/api.h"
#include "base/result.h"
#include "base/wrench.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_NEEDLE_LAYERS 12
#define TAC_NEEDLE_BODIES 4
#define TAC_NEEDLE_TRACKS 8   // that are remembered; the oldest goes first
#define TAC_NEEDLE_POINTS 128 // of a track
#define TAC_NEEDLE_NODES  33  // of a flexible needle

// One layer of tissue. Forces in proportion to a length are given per metre of shaft inside.
typedef struct tac_needle_layer {
	double thickness_m;
	double tip_stiffness_N_per_m, tip_stiffening_N_per_m2; // force = stiffness d + stiffening d^2
	double puncture_N;                                     // opens the membrane above this layer
	double cutting_N;                                      // moves the front inside it
	double shaft_friction_N_per_m;                         // limit of the bristle
	double shaft_stiffness_N_per_m2;
	double shaft_viscosity_N_s_per_m2;
	double lateral_stiffness_N_per_m2;
	double relaxation_N_per_m, relaxation_s; // Maxwell branch at the tip; 0 N/m: none
	double turning;                          // share of the needle's curvature that acts here, 0 … 1
} tac_needle_layer;

// A layered body, in its own frame.
typedef struct tac_needle_body {
	tac_dvec3 top_m;        // a point of its skin, the upper side of the first layer
	tac_dvec3 normal;       // unit, outwards
	tac_dvec3 min_m, max_m; // the skin ends at this box
	tac_needle_layer layers[TAC_NEEDLE_LAYERS];
	int32_t layer_count; // 1 or more
} tac_needle_body;

// The tip is the origin of the tool's frame and points along -z; the shaft lies along +z.
typedef struct tac_needle_def {
	double radius_m, length_m;
	double bending_stiffness_Nm2;  // 0: rigid
	double curvature_per_m;        // of the track of a bevelled tip, towards +x of the tool; 0: symmetric
	const tac_needle_body *bodies; // copied
	int32_t body_count;
	bool fixed_rotation; // the tool does not rotate
} tac_needle_def;

// The springs between device and tool.
typedef struct tac_needle_coupling {
	double stiffness_N_per_m;
	double turn_stiffness_Nm_per_rad;
} tac_needle_coupling;

// Where the work of the hand went, J. The work is that of a tick's mean wrench along the device's motion. In
// every tick: work = stored + dissipated + residual, where the residual is the error of the integration.
typedef struct tac_needle_energy {
	double work;
	double coupling, tip, shaft, lateral; // stored

	// Dissipated since the start. None ever decreases.
	double cutting;
	double puncture; // that the tip's spring loses when a membrane opens
	double friction, viscosity, relaxation;
	double snap;     // that the coupling's spring loses when it lets the needle go forward, as after a
			 // puncture
	double sideways; // that springs across the needle lose when the shaft leaves them

	double residual;
} tac_needle_energy;

typedef struct tac_needle_state {
	int32_t body;          // in which the needle is or which it presses; -1: none
	int32_t layer;         // at the tip; -1: none
	int32_t opened;        // membranes that are open on this track
	double depth_m;        // of the tip along its track, 0 at the skin
	double front_m;        // of the cut front along the track
	double tip_N, shaft_N; // along the axis; the shaft's with viscosity
	double lateral_N;      // across it
	int32_t punctures;     // membranes opened since the start
	int32_t insertions;    // times that the skin was opened or an old hole was found
	int32_t branches;      // times that a track was left for a new direction
	tac_dvec3 tip_m;       // body's frame
	tac_needle_energy energy;
} tac_needle_state;

typedef struct tac_needle tac_needle;

// Sums, for the balance of tac_needle_energy.
// Thread: any.
TAC_API double tac_needle_stored_J(const tac_needle_energy *energy);
TAC_API double tac_needle_dissipated_J(const tac_needle_energy *energy);

// TAC_ERROR_ARGUMENT (lengths, stiffnesses or limits that make no needle or no layer) or TAC_ERROR_MEMORY,
// with one log line; *out_needle is NULL then. The caller owns *out_needle.
// Thread: setup.
TAC_API tac_result tac_needle_create(const tac_needle_def *def, tac_needle **out_needle);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
TAC_API void tac_needle_destroy(tac_needle **needle);

// Takes the needle out of all tissue and forgets tracks and energies.
// Thread: RT.
TAC_API void tac_needle_reset(tac_needle *needle);

// Takes the needle out of the tissue without a motion, as when the clutch is held. Tracks stay.
// Thread: RT.
TAC_API void tac_needle_release(tac_needle *needle);

// Bodies that the needle does not feel, bit i for body i. It leaves the tissue of one that is hidden while it
// is inside, and enters it again from above once it is shown.
// Thread: RT.
TAC_API void tac_needle_hide(tac_needle *needle, uint32_t bodies);

// Finds the pose of the tool at which the coupling to the device at `T_world_device` balances the tissue,
// after `elapsed_s`. *out_T_world_tool is that pose; with a flexible needle that of the straight line from
// hub to tip. Returns the wrench on the device, about the tool's origin, world frame. `T_world_bodies` has a
// pose for each body of the def. The state does not change until tac_needle_commit. Thread: RT.
TAC_API tac_wrench tac_needle_solve(tac_needle *needle, tac_dpose T_world_device,
				    const tac_dpose *T_world_bodies, const tac_needle_coupling *coupling,
				    double elapsed_s, tac_dpose *out_T_world_tool);

// Moves the needle to `T_world_tool`: the pose of the last tac_needle_solve, or as far as something rigid let
// it go. Once after each solve.
// Thread: RT.
TAC_API void tac_needle_commit(tac_needle *needle, tac_dpose T_world_tool);

// Valid until the next call.
// Thread: RT.
TAC_API const tac_needle_state *tac_needle_state_of(const tac_needle *needle);

// Copies up to `capacity` points of the present track, in the body's frame, from the skin to the front.
// Returns their number; 0: the needle is in no tissue.
// Thread: RT.
TAC_API int32_t tac_needle_track(const tac_needle *needle, int32_t capacity, tac_dvec3 *out_points_m);

// Copies the shape of a flexible needle, in the body's frame, from hub to tip. Returns the number of points;
// 0: it is straight.
// Thread: RT.
TAC_API int32_t tac_needle_shape(const tac_needle *needle, tac_dvec3 out_points_m[TAC_NEEDLE_NODES]);

#ifdef __cplusplus
}
#endif

#endif
