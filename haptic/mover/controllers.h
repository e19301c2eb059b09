// Controllers: four small states that adapt the continuous mover to the meshes and to the hand. `begin` gives
// the value for a step or substep, `observe` takes what came of it. Apart from a reset no other code changes
// them. They decide how much is tried at once and never what is safe.
#ifndef TAC_HAPTIC_MOVER_CONTROLLERS_H
#define TAC_HAPTIC_MOVER_CONTROLLERS_H

#include "haptic/mover/geometry.h"

// --- trust: how far contacts are listed and how far a substep goes ---

// The trust radius is the smaller of the two. Only tac_sco_trust_observe changes the radius; it and
// tac_sco_trust_observe_query change the cap.
typedef struct tac_sco_trust {
	double radius_m; // follows the hand: trust_min_m to trust_max_m of the def
	double cap_m;    // follows the meshes: limits the radius where lists or proofs are expensive
} tac_sco_trust;

typedef enum tac_sco_trust_event {
	SCO_TRUST_LIMITED,   // the radius, the turn or the slew cut a substep short: it grows
	SCO_TRUST_SHORTENED, // only `length_m` of a substep was proved free: it shrinks to that
	SCO_TRUST_BLOCKED,   // nothing of it was: radius and cap shrink
	SCO_TRUST_UNPROVED,  // the work ended before the proof of `length_m` did: it shrinks below that
	SCO_TRUST_STEP_DONE, // a step moved by `length_m`: it becomes a multiple of that
} tac_sco_trust_event;

double tac_sco_trust_begin(const tac_sco_trust *trust);
void tac_sco_trust_observe(tac_sco_trust *trust, const tac_sco_def *def, tac_sco_trust_event event,
			   double length_m);
// A contact query covered `covered_m` of `wanted_m` and examined `pairs` where it should examine `share`: the
// cap shrinks or grows accordingly. With `short_of_work` it began with less work than its share, which says
// nothing about the meshes, so the cap stays.
void tac_sco_trust_observe_query(tac_sco_trust *trust, const tac_sco_def *def, double wanted_m,
				 double covered_m, double pairs, double share, bool short_of_work);

// --- pace: how far the work lets the SCO go in a step ---

// Longer ways take more work, and a list of near pairs takes much at once. Where surfaces are dense, a step
// goes no further near contact than its work is likely to pay for, rather than end in the middle.
typedef struct tac_sco_pace {
	double max_m; // of a step near contact
	double cost;  // of the dearest of the last steps, as a fraction of its work units
} tac_sco_pace;

// A step went `length_m` near contact, of the `limit_m` that it might have gone, and took `cost`; `spent`:
// its work ended too early.
void tac_sco_pace_observe(tac_sco_pace *pace, const tac_sco_def *def, double length_m, double limit_m,
			  double cost, bool spent);

// --- flight: how much work a sweep away from contact may take ---

typedef struct tac_sco_flight {
	double work_share; // of the work that is left, for one sweep
} tac_sco_flight;

// A sweep that ran out of work halves the share, a flight that arrived doubles it: a tool that cannot fly
// because too much is near soon wastes little on it.
void tac_sco_flight_observe(tac_sco_flight *flight, bool out_of_work);

// --- starvation: steps whose work ended before the SCO could move ---

typedef struct tac_sco_starvation {
	int32_t steps; // in succession
} tac_sco_starvation;

// The work units of the next step.
int64_t tac_sco_starvation_begin(const tac_sco_starvation *s, const tac_sco_def *def);
void tac_sco_starvation_observe(tac_sco_starvation *s, bool starved);

#endif
