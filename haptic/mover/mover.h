// Mover: the private state of an SCO and the functions that its files share. sco.c holds the object and the
// step, continuous.c and reactive.c the two movers, queries.c the collision queries over all obstacles and
// geometry_round.c those of round tools, constraints.c turns contacts into a twist by the QP (qp.c), inject.c
// finds the contact that ended a proof. The tuning constants are in constants.h. All of it runs on the
// real-time thread, apart from create and destroy.
#ifndef TAC_HAPTIC_MOVER_MOVER_H
#define TAC_HAPTIC_MOVER_MOVER_H

#include "collision/certificate.h"
#include "collision/contacts.h"
#include "haptic/mover/constants.h"
#include "haptic/mover/qp.h"
#include "haptic/sco.h"

#ifdef __cplusplus
extern "C" {
#endif

// The motion of a body: its origin moves by v (m) while it turns by exp(w) (rad), world frame.
typedef struct tac_sco_twist {
	tac_dvec3 v, w;
} tac_sco_twist;

// The tool's motion relative to an obstacle, in the obstacle's frame.
typedef struct tac_sco_relative {
	tac_dpose start;
	tac_sco_twist twist;
} tac_sco_relative;

// An object of the def and what the movers keep of it.
typedef struct tac_sco_obstacle {
	const tac_body *body;
	const tac_shape *shape;
	tac_dpose pose;      // now
	tac_dpose goal;      // at the end of the step
	tac_dpose before;    // at the start of the step
	tac_sco_twist twist; // its motion in this substep
	bool moves;          // in this substep
	// The contacts at the SCO's pose, and the memory for those of the next pose.
	tac_contacts *contacts, *spare;
	// Of the queries with a mesh as tool, and of those with a round tool.
	tac_sweep_context *context;
	tac_round_context *round_context;
} tac_sco_obstacle;

// A contact of an obstacle as a row of the QP.
typedef struct tac_sco_row {
	const tac_contact_point *contact; // in the obstacle's frame
	int32_t object;
	double length;    // of the row before it was normalised
	double bound;     // what the motion along the normal must reach, m
	double curvature; // true gap minus linear gap after the last solution, m
} tac_sco_row;

typedef struct tac_sco_injected {
	tac_contact_point contact;
	int32_t object;
	bool blocker; // the closest direction of a pair that could not be proved
} tac_sco_injected;

// The state of one step.
typedef struct tac_sco_tick {
	tac_dpose device;
	double travel_m;         // of all substeps so far
	double contact_travel_m; // of those near contact
	double slew_limit_m;     // for contact_travel_m
	double bias_m;           // added to the bounds after a blocked substep
	int64_t work_limit;      // work units of this step
	int injection_rounds;    // at this pose
	bool near_contact;
	double roll_limit_m; // how far the next substep may roll over edges and vertices
	bool rolling;        // this substep rolls: its chord dips into the hold gap
} tac_sco_tick;

struct tac_sco {
	tac_sco_def def;
	tac_sco_obstacle *obstacles;
	double radius_m; // largest distance of the tool's points from its origin
	tac_dpose pose;
	tac_dpose last_device;
	bool has_last_device;
	tac_dvec3 last_turn;  // rotation vector to the device at the last step: decides the direction near pi
	uint32_t fault_flags; // kept until the reset
	double trust_m;       // trust radius
	double trust_cap_m;   // limits it where contact queries or proofs of more would exceed their work
	double stride;        // a substep may be this many trust radii long: recent proofs have held
	bool near_contact;
	double max_flight_m;    // halved when a sweep runs out of work, doubled when a flight arrives
	double listed_margin_m; // contacts at the pose are listed up to this margin; -1: not listed
	double distance_m;      // to the nearest obstacle, at most listed_margin_m
	tac_sco_tick tick;
	tac_sco_report *report;
	tac_context *context; // of the collider

	tac_sco_row rows[SCO_MAX_ROWS];
	double qp_rows[SCO_MAX_ROWS][TAC_QP_SIZE];
	double qp_bounds[SCO_MAX_ROWS];
	int32_t row_count;
	tac_sco_injected injected[SCO_MAX_INJECTED];
	int32_t injected_count;
	// What a starved step, whose budget ended before it moved, leaves to the next.
	int32_t kept_injected;
	double kept_bias_m;
	int32_t starved_steps; // in succession
	void *reactive;        // memory of the reactive mover
};

static inline bool tac_sco_same_features(const tac_contact_point *a, const tac_contact_point *b)
{
	return a->kind == b->kind && a->moving_feature == b->moving_feature &&
	       a->fixed_feature == b->fixed_feature;
}

// --- motion (sco.c) ---

// The motion from one pose of the tool to another. A turn of about half a turn keeps the direction of the
// last step until the other direction is shorter by SCO_TURN_HYSTERESIS_RAD.
tac_sco_twist tac_sco_twist_between(const tac_sco *sco, tac_dpose from, tac_dpose to);
// The pose after the fraction `s` of a motion.
tac_dpose tac_sco_pose_after(tac_dpose pose, tac_sco_twist t, double s);
tac_sco_twist tac_sco_twist_scale(tac_sco_twist t, double s);
// An upper bound of the travel of any point of the tool, m.
double tac_sco_max_travel(const tac_sco *sco, tac_sco_twist t);
// The square of the distance of two poses in the metric, m^2.
double tac_sco_energy(const tac_sco *sco, tac_dpose from, tac_dpose to);
// Widens the trust radius after it limited a substep.
void tac_sco_widen_trust(tac_sco *sco);
// The motion that is left to an obstacle's goal; exactly zero at the goal.
tac_sco_twist tac_sco_remaining_motion(const tac_sco_obstacle *obstacle);
// Whether any obstacle moves in this substep.
bool tac_sco_any_obstacle_moves(const tac_sco *sco);
tac_sco_relative tac_sco_relative_motion(const tac_sco *sco, const tac_sco_obstacle *obstacle,
					 tac_sco_twist t);
// The obstacle's pose after the fraction `s` of a substep in which the tool moves by `t`.
tac_dpose tac_sco_obstacle_pose_after(const tac_sco *sco, const tac_sco_obstacle *obstacle, tac_sco_twist t,
				      double s);

// --- queries over all obstacles (queries.c); each returns false when a limit of the step forbids it ---

// Lists the contacts within *margin after the fraction `s` of the twist into the spare lists. Where that
// would take too much work, *margin is lowered to what is listed. *out_distance is the smallest distance.
// Returns false also if not even the contacts to be reported could be listed: the SCO must stay where it was.
bool tac_sco_query_contacts(tac_sco *sco, tac_sco_twist t, double s, double *margin, double *out_distance);
// Makes the spare lists the lists of the SCO's pose.
void tac_sco_swap_contacts(tac_sco *sco);

typedef struct tac_sco_proof {
	double fraction;                                 // of the motion that is proved free
	int32_t object, moving_triangle, fixed_triangle; // that ended the proof; object -1: none
} tac_sco_proof;

// Proves a motion of the tool, and of the obstacles that move, free of contact.
bool tac_sco_certify(tac_sco *sco, tac_sco_twist t, tac_sco_proof *out_proof);
// The free fraction of a translation, or of a rotation about the tool's origin: v or w is zero.
bool tac_sco_sweep(tac_sco *sco, tac_sco_twist t, double *out_fraction);
// The distance to the nearest obstacle at the SCO's pose, up to `reach`; 0 if it is not known. For use
// outside a step.
double tac_sco_distance(tac_sco *sco, double reach);

// --- queries of round tools (geometry_round.c) ---

// Lists the contacts of a round tool with one obstacle into its spare list.
void tac_sco_round_contacts(const tac_sco *sco, tac_sco_obstacle *obstacle, tac_dpose T_object_tool,
			    double margin);
// The safe fraction of a translation, obstacle's frame.
tac_sweep_result tac_sco_round_translate(const tac_sco *sco, tac_sco_obstacle *obstacle,
					 tac_dpose T_object_tool, tac_dvec3 v,
					 const tac_sweep_options *options);
// The safe fraction of a rotation about the tool's origin.
tac_sweep_result tac_sco_round_rotate(const tac_sco *sco, const tac_sco_obstacle *obstacle,
				      tac_dpose T_object_tool, tac_dvec3 w, const tac_sweep_options *options);
// The proved fraction of a combined motion.
tac_sweep_result tac_sco_round_prove(const tac_sco *sco, tac_sco_obstacle *obstacle,
				     const tac_sco_relative *motion, const tac_sweep_options *options);

// --- constraints (constraints.c) ---

// The twist closest to `t0` that the contacts allow, for a substep of at most `reach`; the obstacles' motions
// may be scaled down with it. False if the limit of QP solves is reached, or if the tool cannot yield to an
// obstacle.
bool tac_sco_solve(tac_sco *sco, tac_sco_twist t0, double reach, tac_sco_twist *out_twist);
// The factor, at most 1, that limits a twist to the travel `reach` and to turn_max_rad.
double tac_sco_limit_factor(const tac_sco *sco, tac_sco_twist t, double reach);
// Writes the contacts and their loads at the SCO's pose into the report.
void tac_sco_report_contacts(tac_sco *sco);

// --- injection (inject.c) ---

// Adds the contacts that the pair which ended a proof would violate on the motion `t`, as they are at its
// start. False if there is none that is not listed already.
bool tac_sco_inject(tac_sco *sco, const tac_sco_proof *proof, tac_sco_twist t);
// Adds the closest direction of that pair.
void tac_sco_inject_blocker(tac_sco *sco, const tac_sco_proof *proof);

// --- the movers ---

void tac_sco_move_continuous(tac_sco *sco);
void tac_sco_move_reactive(tac_sco *sco);
tac_result tac_sco_reactive_create(tac_sco *sco);
void tac_sco_reactive_reset(tac_sco *sco);
void tac_sco_reactive_destroy(tac_sco *sco);

#ifdef __cplusplus
}
#endif

#endif
