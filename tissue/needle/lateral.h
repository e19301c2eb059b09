// Lateral: springs across the needle that pull its shaft to the track, in series with the coupling. A rigid
// needle has a displacement of its tip and a slope; a flexible one is a beam of Hermite elements whose hub
// the coupling holds. The integrals over the track are exact: the track is piecewise linear.
#ifndef TAC_TISSUE_NEEDLE_LATERAL_H
#define TAC_TISSUE_NEEDLE_LATERAL_H

#include "tissue/needle.h"

#ifdef __cplusplus
extern "C" {
#endif

// A straight part of the track beside the shaft. `r` is the distance behind the tip of the undisplaced
// needle, `o` where the track lies beside it, along two directions across the needle.
typedef struct tac_lateral_part {
	double r[2];
	double o[2][2]; // [end][direction]
	double stiffness_N_per_m2;
} tac_lateral_part;

// Where the shaft is: y(r) beside the undisplaced needle; positive slopes lead away from it towards the hub.
typedef struct tac_lateral {
	double tip[2], slope[2];    // of the rigid needle, or of the line from tip to hub
	double hub_N[2], hub_Nm[2]; // what the coupling of a flexible needle exerts on the device at the hub
	double along_N;  // force of the springs along a track from which the shaft leans, against insertion
	double stored_J; // in tissue and beam
	double coupling_J;
	double node_m[TAC_NEEDLE_NODES][2]; // of a flexible needle, from tip to hub
} tac_lateral;

// A rigid needle whose tip is the reference of the coupling. Turn stiffness 0: it does not turn. `lean` is
// the slope of the undisplaced needle. Thread: RT.
void tac_lateral_rigid(const tac_lateral_part *parts, int32_t count, const double lean[2],
		       const tac_needle_coupling *coupling, tac_lateral *out);

// A flexible needle from r = 0 to `length_m`. Turn stiffness 0: its hub does not turn.
// Thread: RT.
void tac_lateral_flexible(const tac_lateral_part *parts, int32_t count, const double lean[2], double length_m,
			  double bending_stiffness_Nm2, const tac_needle_coupling *coupling,
			  tac_lateral *out);

#ifdef __cplusplus
}
#endif

#endif
