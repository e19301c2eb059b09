// Drill: a burr that cuts a field. The burr does not cut because it is somewhere: it presses on a wall, and
// the wall recedes as fast as the power at the burr allows. In each tick the drill allows the mover to
// advance a little into the wall, along the direction of the press; what the burr has then swept is removed
// exactly, so the burr is never inside what remains, and the force is that of a spring against a wall.
//
// A burr that is pressed with the force f (N) and turns with the cutting speed v_s (m/s) has the power
//
//     P = (f - f0) v_s / kappa   <= P_max,     v_s = omega r / 2
//
// for cutting: kappa is thrust over tangential force, and below f0 it only rubs. A material takes the
// specific cutting energy u (J/m^3), so P / u is the volume that is removed in a second, and with the area A
// being cut the wall recedes with P / (u A). The drill finds u A, its resistance, from what the last edits
// took, and carries the error of its estimate on to the next tick: the volume follows the energy at every
// rate and voxel. A hole of a ball burr at constant force goes on with (f - f0) v_s / (kappa u pi r^2).
//
// Removal along the resultant force is a simplification: a flank that only rubs is cut like a tip that
// presses.
#ifndef TAC_TISSUE_DRILL_H
#define TAC_TISSUE_DRILL_H

#include "rt/ring.h"
#include "tissue/field.h"

#ifdef __cplusplus
extern "C" {
#endif

// How far the burr may enter the wall in the next step of the mover, in the field's frame: `advance_m` along
// the unit vector `feed`, so that a wall whose normal makes the angle a with it gives way by advance_m cos a,
// and `slack_m` everywhere.
typedef struct tac_drill_allowance {
	tac_dvec3 feed;
	double advance_m;
	double slack_m;
	// Where the burr has removed everything inside it: a point of the surface that lies there is an error
	// of the sampling at an edge.
	bool has_removed;
	tac_burr removed;
} tac_drill_allowance;

// The wall that a point of the surface belongs to gives way by this, m. `outwards` is the direction from the
// burr to the point.
// Thread: RT.
static inline double tac_drill_allowed_m(const tac_drill_allowance *a, tac_dvec3 outwards)
{
	const double along = tac_dvec3_dot(a->feed, outwards);
	return a->slack_m + (along > 0 ? a->advance_m * along : 0);
}

typedef struct tac_drill_material {
	double cutting_energy_J_per_m3; // above 0
	double rub_N;                   // f0
} tac_drill_material;

typedef struct tac_drill_def {
	tac_burr burr;          // in the tool's frame: a ball (a = b) or a cylinder
	double speed_rad_per_s; // omega
	double power_W;         // P_max
	double thrust_ratio;    // kappa
	tac_drill_material materials[TAC_FIELD_LABELS];
	tac_field *field; // outlives the drill
	// Receives each edit (tac_field_edit) for a copy of the field (tissue/surface.h); NULL: no one does.
	// The drill does not depend on it: edits that find it full are counted and left out.
	tac_ring *edits;
} tac_drill_def;

typedef enum tac_drill_flag {
	// The field's pool has too few bricks left: the burr does not cut, and meets all that remains as a
	// burr that does not turn.
	TAC_DRILL_FIELD_FULL = 1,
	TAC_DRILL_LAGS = 2,   // the reader of the edits lags behind: an edit was not told to it
	TAC_DRILL_JOINED = 4, // a long way in one tick was removed as fewer, longer sweeps
} tac_drill_flag;

// What the drill does, and what it has done since the start.
typedef struct tac_drill_state {
	bool running;
	bool cutting;        // it removed material in this tick
	uint32_t flags;      // tac_drill_flag, of this tick
	double load;         // of the motor: cutting power over power_W, smoothed over 10 ms
	double power_W;      // for cutting, of this tick
	double feed_m_per_s; // of the wall, of this tick
	double removed_m3[TAC_FIELD_LABELS];
	double crumbled_m3; // of all that, what crumbled while it did not turn
	double energy_J;    // for cutting
	double feed_work_J; // force times recession
	double time_s;      // that it ran
	double air_s;       // that it ran without touching
	double full_s;      // that it ran and did not cut: TAC_DRILL_FIELD_FULL
	uint64_t full_ticks, lag_ticks;
} tac_drill_state;

// What is kept from tick to tick.
typedef struct tac_drill {
	tac_drill_def def;
	double cutting_speed_m_per_s;
	int32_t reserve; // bricks without which it does not cut
	tac_drill_allowance allowance;
	double budget_J;     // what this tick's cut may take; below 0: earlier ones took too much
	double carry_J;      // what earlier ticks should have taken, less what they took
	double resistance_N; // u A
	int32_t idle_ticks;  // since the burr cut last
	double press_N;
	double elapsed_s;
	bool has_removed; // everything that was inside it:
	tac_burr removed; // the burr, or a slightly smaller one, where it did so last
	tac_drill_state state;
} tac_drill;

// The largest burr radius for a voxel: a burr that is larger has more points around it than fit. Smaller ones
// than the least ratio are too coarse.
#define TAC_DRILL_VOXELS_MAX 21.0
#define TAC_DRILL_VOXELS_MIN 3.0

// Starts a drill that is not running. TAC_ERROR_ARGUMENT with one log line, `name` in it, if the burr does
// not fit the field's voxels or a value is out of range.
// Thread: setup.
tac_result tac_drill_init(tac_drill *drill, const char *name, const tac_drill_def *def);

// The cutting energy of a material into which the def's burr, all of its section cutting, advances
// `feed_m_per_N_s` for each newton. Thread: setup.
double tac_drill_energy_of_feed(const tac_drill_def *def, double feed_m_per_N_s);

// Before the mover's step: allows what the force of the last tick can cut. `force_N` is that of the material
// on the burr, in the field's frame, zero without contact; `label` the material that is pressed most.
// Thread: RT.
void tac_drill_allow(tac_drill *drill, bool running, tac_dvec3 force_N, int32_t label, double elapsed_s);

// After the mover's step: removes what the burr swept along the `count` poses of its trail, in the field's
// frame, if it ran and was near.
// Thread: RT.
void tac_drill_cut(tac_drill *drill, const tac_dpose *trail, int32_t count, bool touching);

#ifdef __cplusplus
}
#endif

#endif
