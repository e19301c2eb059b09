// Axial: the tip's spring, the cut front and the bristles along the shaft, in one dimension. Positions are
// lengths along the track, 0 at the skin. The state moves along a path in which membranes open one after the
// other; what each part of the path stores and dissipates has a closed form.
#ifndef TAC_TISSUE_NEEDLE_AXIAL_H
#define TAC_TISSUE_NEEDLE_AXIAL_H

#include "tissue/needle.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_axial {
	double z, front;
	int32_t opened;                    // membranes 0 … opened - 1 are open
	double branch;                     // elongation of the Maxwell branch, m
	double shaft_N[TAC_NEEDLE_LAYERS]; // force of each layer's bristle
	double cutting_J, puncture_J, friction_J, viscosity_J, relaxation_J; // dissipated since the start
	double across_J; // given to the springs across the needle since the start: push_N times the length
			 // entered
} tac_axial;

// What stays the same during a tick.
typedef struct tac_axial_tick {
	const tac_needle_layer *layers;
	int32_t layer_count;
	double membranes[TAC_NEEDLE_LAYERS]; // where each layer begins
	double start;                        // z at the start of the tick
	double elapsed_s;
	double bias_N; // resists the motion, or helps it: see tac_lateral.along_N
	double push_N; // resists every length of track that the needle enters or cuts
	double decay;  // of a Maxwell branch in half a tick; set by tac_axial_begin
	bool sealed;   // no membrane may open, as where a needle lies flat on the skin
} tac_axial_tick;

// Begins a tick: the Maxwell branch relaxes for its first half.
// Thread: RT.
void tac_axial_begin(tac_axial *a, tac_axial_tick *tick);

// Moves from a->z to `z`, opening and cutting what is in the way.
// Thread: RT.
void tac_axial_move(tac_axial *a, const tac_axial_tick *tick, double z);

// Moves to where a spring of `stiffness_N_per_m` from `x` is in balance with the tissue.
// Thread: RT.
void tac_axial_balance(tac_axial *a, const tac_axial_tick *tick, double x, double stiffness_N_per_m);

// Ends a tick: the Maxwell branch relaxes for its second half, and half the work of the viscous force is
// accounted for, as if the needle had been accelerated from rest. The other half depends on the tick before.
// Thread: RT.
void tac_axial_end(tac_axial *a, const tac_axial_tick *tick);

// Forces at the present state. tac_axial_shaft_N includes viscosity.
// Thread: RT.
double tac_axial_tip_N(const tac_axial *a, const tac_axial_tick *tick);
double tac_axial_viscous_N(const tac_axial *a, const tac_axial_tick *tick);
double tac_axial_shaft_N(const tac_axial *a, const tac_axial_tick *tick);

// Stored energies.
// Thread: RT.
double tac_axial_tip_J(const tac_axial *a, const tac_axial_tick *tick);
double tac_axial_shaft_J(const tac_axial *a, const tac_axial_tick *tick);

// The layer at the position `s` of the track.
// Thread: RT.
int32_t tac_axial_layer(const tac_axial_tick *tick, double s);

#ifdef __cplusplus
}
#endif

#endif
