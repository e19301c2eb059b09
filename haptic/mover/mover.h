// Mover: the private state of an SCO and the functions that its files share.
//
//   sco.c            the object and the step
//   continuous.c     the substeps, and the stages of one of the continuous mover
//   reactive.c       the substep of the reactive mover
//   controllers.c    trust, pace, flight and starvation: where the trust radius grows and shrinks
//   work.h           the budget of a step
//   geometry.h       how the tool meets an obstacle: geometry_mesh.c, geometry_round.c, geometry_field.c
//   queries.c        the geometries' queries over all obstacles
//   constraints.c    contacts as rows of the QP (qp.h), and the twist that they allow
//   motion.c         twists and poses
//   constants.h      the tuning constants
//
// All of it runs on the real-time thread, apart from create and destroy.
#ifndef TAC_HAPTIC_MOVER_MOVER_H
#define TAC_HAPTIC_MOVER_MOVER_H

#include "haptic/mover/constants.h"
#include "haptic/mover/geometry.h"
#include "haptic/mover/qp.h"
#include "haptic/mover/work.h"
#include "haptic/sco.h"

#include <math.h>

// A contact as a row of the QP, without its bound: it depends on the poses alone.
typedef struct tac_sco_unit_row {
	double row[TAC_QP_SIZE];
	double length;   // before it was normalised
	int64_t version; // tac_sco.lists_version when it was made
} tac_sco_unit_row;

// An object of the def and what the movers keep of it.
typedef struct tac_sco_obstacle {
	const tac_sco_geometry *geometry; // NULL: the tool passes through it, and it is always hidden
	tac_sco_memory *memory;           // of the geometry
	const tac_shape *shape;           // for the collider; NULL: it is not asked about this object
	int64_t triangles;                // of its body
	double radius_m;     // the largest distance of its points from its origin; HUGE_VAL: not known
	double ask_within_m; // with origins further apart than this, the shapes' bounding spheres are apart
	bool hidden;         // no query sees it; it is at its goal, and its list is empty
	tac_dpose pose;      // now
	tac_dpose goal;      // at the end of the step
	tac_dtwist twist;    // its motion in this substep
	bool moves;          // in this substep
	// The contacts at the SCO's pose, and those of the next pose.
	tac_contacts *contacts, *spare, lists[2];
	tac_sco_unit_row unit_rows[TAC_CONTACTS_MAX]; // of the contacts
	// The check, or the reset, that is under way.
	tac_dpose checked_at;   // the tool's pose relative to it
	tac_dpose check_before; // its pose before the step that the check is about
	bool was_free;          // the collider has found them apart
} tac_sco_obstacle;

// A contact of an obstacle as a row of the QP.
typedef struct tac_sco_row {
	const tac_contact_point *contact; // in the obstacle's frame
	const tac_sco_obstacle *obstacle;
	double length;    // of the row before it was normalised
	double bound;     // what the motion along the normal must reach, m
	double curvature; // true gap minus linear gap after the last solution, m
	double load;      // for the report, see tac_sco_contact
} tac_sco_row;

// What the lists of all obstacles cover.
typedef struct tac_sco_listed {
	double margin_m;   // contacts are listed up to this margin; -1: they are not
	double distance_m; // to the nearest obstacle, at most the margin
} tac_sco_listed;

typedef struct tac_sco_injected {
	tac_contact_point contact;
	const tac_sco_obstacle *obstacle;
} tac_sco_injected;

// The state of one step.
typedef struct tac_sco_tick {
	tac_dpose device;
	tac_sco_work work;
	int64_t usual_units;     // of the continuous mover: its limit, unless the last steps starved
	uint32_t flags;          // for the report
	tac_sco_outcome outcome; // of the last substep, for the report
	tac_sco_outcome refused; // of the last one that was refused, for the report
	double travel_m;         // of all substeps so far, without flights
	double contact_travel_m; // of those near contact
	double slew_limit_m;     // for contact_travel_m
	int32_t injections;      // substeps that were solved again with an injected contact
	bool shortened;          // a contact cut a substep short: what is left is made, however short
	double roll_limit_m;     // how far the next substep may roll over edges and vertices
	bool rolling;            // this substep rolls: its chord dips into the hold gap
} tac_sco_tick;

// What the controllers adapt from step to step.
typedef struct tac_sco_adapted {
	double trust_m;         // the trust radius, which follows the hand: how far a substep goes
	double trust_cap_m;     // follows the meshes: lists reach no further than with this radius
	double device_travel_m; // in the last step
	double pace_m;          // how far a step may go near contact
	double cost;            // of the dearest of the last steps, as a fraction of its work units
	double flight_share;    // of the work that is left, for one sweep away from contact
	int32_t starved_steps;  // in succession: their work ended before a substep could move
} tac_sco_adapted;

// What the reactive mover finds at a pose; of several objects the last of these counts. KNOWN_PAIRS: all are
// constraints already; TOO_DEEP: they give no constraints.
typedef enum tac_sco_placement { SCO_FREE, SCO_KNOWN_PAIRS, SCO_NEW_PAIRS, SCO_TOO_DEEP } tac_sco_placement;

// A motion of the reactive mover whose end is to be free.
typedef struct tac_sco_attempt {
	tac_dtwist twist;
	double travel_m;
	bool limited;            // cut short by the reach
	int halvings;            // of the solution
	int32_t object;          // the next to be queried at its end
	tac_sco_placement found; // with those before it
	bool unfinished;         // the queries go on in the next step
} tac_sco_attempt;

struct tac_sco {
	tac_sco_def def;
	bool is_ball;                     // a sphere about its origin, which takes the device's orientation
	double radius_m;                  // largest distance of the tool's points from its origin
	const tac_sco_geometry *geometry; // of the tool with bodies
	tac_sco_obstacle *obstacles, *obstacles_end;
	tac_context *context; // of the collider

	tac_dpose pose;
	tac_sco_adapted adapted;
	uint32_t fault_flags; // kept until the reset
	bool reset_unfinished, check_unfinished;
	tac_dpose check_before; // where to return to if the pose under check is not free
	tac_dpose last_device;
	bool has_last_device;
	tac_dvec3 last_turn; // rotation vector to the device at the last step: decides the direction near pi
	double turn_hysteresis_rad; // how much longer that direction may be
	bool near_contact;          // no flights, and the slew limit applies
	int64_t lists_version;      // counts the changes of lists and poses: unit rows made before are void
	tac_sco_listed listed;      // at the pose
	tac_sco_listed spare;       // by the last query

	tac_sco_tick tick;
	tac_sco_attempt attempt;
	tac_sco_row rows[SCO_MAX_ROWS];
	double qp_rows[SCO_MAX_ROWS][TAC_QP_SIZE];
	double qp_bounds[SCO_MAX_ROWS];
	int32_t row_count;
	// The contacts that bore the last solution, and which rows they are now: the next QP begins with
	// these.
	tac_sco_injected bearing[TAC_QP_SIZE];
	int32_t bearing_count;
	int32_t guess[TAC_QP_SIZE], guess_count;
	tac_sco_injected injected[SCO_MAX_INJECTED];
	int32_t injected_count;
	int32_t drilled;                // the first object with a field; -1: none
	tac_dpose trail[TAC_SCO_TRAIL]; // of this step, in its frame
	int32_t trail_count;
};

// --- motion (motion.c) ---

// The motion from a pose of the tool to the device. A turn of about half a turn keeps the direction of the
// last step until the other direction is shorter by turn_hysteresis_rad.
tac_dtwist tac_sco_to_device(const tac_sco *sco, tac_dpose from);
// Whether the SCO is closer to the device, in the metric, after the fraction `s` of a motion.
bool tac_sco_leads_closer(const tac_sco *sco, tac_dtwist t, double s);
// The factor, at most 1, that limits the motion of a body to the travel `reach` and to turn_max_rad.
double tac_sco_limit_factor(const tac_sco *sco, tac_dtwist t, double radius, double reach);
// Moves the SCO, and the obstacles that move in this substep, by the fraction `s` of it.
void tac_sco_move(tac_sco *sco, tac_dtwist t, double s);
void tac_sco_note_trail(tac_sco *sco);
bool tac_sco_any_obstacle_moves(const tac_sco *sco);
void tac_sco_scale_obstacles(tac_sco *sco, double s);
tac_sco_relative tac_sco_relative_motion(const tac_sco *sco, const tac_sco_obstacle *obstacle, tac_dtwist t);

// --- controllers (controllers.c) ---

typedef enum tac_sco_trust_event {
	SCO_TRUST_LIMITED,   // the radius, the turn or the slew cut a substep short: the radius grows
	SCO_TRUST_SHORTENED, // `length_m` of a substep was made: the radius becomes that
	SCO_TRUST_BLOCKED,   // nothing of it was: radius and cap shrink
	SCO_TRUST_UNPROVED,  // the work ended before the proof of `length_m` did: a part of that
} tac_sco_trust_event;

// The trust radius follows a substep, and serves those after it in the step.
void tac_sco_observe_substep(tac_sco *sco, tac_sco_trust_event event, double length_m);
// Its cap follows a contact query that covered `covered_m` of `wanted_m` with `pairs` instead of its `share`.
void tac_sco_observe_query(tac_sco *sco, double wanted_m, double covered_m, double pairs, double share);
// A hand that sets off is followed in as few substeps as one that goes on: the radius grows to its travel.
void tac_sco_observe_device(tac_sco *sco, double travel_m);
// At the end of a step the radius becomes a multiple of its travel, whatever its substeps made of it; the
// pace follows its work.
void tac_sco_observe_step(tac_sco *sco);
// A sweep that ran out of work halves the share of flights, a flight that arrived doubles it: a tool that
// cannot fly because too much is near soon wastes little on it.
void tac_sco_observe_flight(tac_sco *sco, bool out_of_work);
// The work units of the next step: more with each one that starved, from the third one on.
int64_t tac_sco_step_units(const tac_sco *sco);

static inline double tac_sco_trust(const tac_sco *sco)
{
	return fmin(sco->adapted.trust_m, sco->adapted.trust_cap_m);
}

// The margin, m, within which a substep needs its contacts if no obstacle moves in it.
static inline double tac_sco_list_margin(const tac_sco *sco)
{
	return SCO_CONTACT_MARGIN * tac_sco_trust(sco) + SCO_LIST_GAPS * sco->def.hold_gap_m;
}

// --- queries over all obstacles (queries.c); false: the work of the step forbids it, or what is stated ---

// Lists the contacts of the obstacles from `first` up to `end` into their spare lists: those within `margin`
// after the fraction `s` of the twist, or within less where that would take too much work. Returns false also
// if not even the contacts to be reported could be listed: the SCO must stay where it was.
bool tac_sco_query_contacts(tac_sco *sco, tac_sco_obstacle *first, const tac_sco_obstacle *end, tac_dtwist t,
			    double s, double margin);
// Makes the spare lists the lists of the SCO's pose.
void tac_sco_accept_contacts(tac_sco *sco);
// Lists the contacts at the SCO's pose.
bool tac_sco_list_contacts(tac_sco *sco, double margin);
// Moves an obstacle to its goal while the SCO rests. It takes no work if their bounding spheres stay further
// apart than the lists reach. Otherwise it returns false, and the obstacle stays, if the motion cannot be
// proved, or if it ends closer than the hold gap and closer than the obstacle was. The distance to the others
// is irrelevant: they do not move. The lists stay valid, within a smaller margin.
bool tac_sco_advance_obstacle(tac_sco *sco, tac_sco_obstacle *obstacle);
// Proves a motion of the tool, and of the obstacles that move, free of contact.
bool tac_sco_certify(tac_sco *sco, tac_dtwist t, tac_sco_proof *out_proof);
// The free fraction of a translation, or of a rotation about the tool's origin: v or w is zero.
bool tac_sco_sweep(tac_sco *sco, tac_dtwist t, double *out_fraction);
// Works ahead for the next step, as far as the work allows.
void tac_sco_prepare(tac_sco *sco);
// Of the tool and the objects that are near it, or on its way to the device.
int64_t tac_sco_near_triangles(const tac_sco *sco);
// Asks the collider about the tool at a pose relative to one obstacle. The answer is also unknown when the
// nodes of the step are used up; if the same is asked next, the query goes on.
tac_overlap tac_sco_collide(tac_sco *sco, const tac_sco_obstacle *obstacle, tac_dpose T_object_tool,
			    tac_query_mode mode);

// --- constraints (constraints.c) ---

// The twist closest to `t0` that the contacts allow, for a substep of at most `reach`. It may scale down the
// obstacles' motions. False if no QP may be solved any more, or if the tool cannot yield to an obstacle.
bool tac_sco_solve(tac_sco *sco, tac_dtwist t0, double reach, tac_dtwist *out_twist);
// Writes the contacts and their loads at the SCO's pose into the report.
void tac_sco_report_contacts(tac_sco *sco, tac_sco_report *out_report);

// --- the movers ---

// Moves the SCO towards the device in substeps of its mover.
void tac_sco_make_substeps(tac_sco *sco);
tac_sco_outcome tac_sco_reactive_substep(tac_sco *sco, tac_dtwist to_device, bool push);
// Lists the contacts of the kept pairs at the SCO's pose and drops the pairs further apart than `within`.
// Those that only the plane of a distant face separates are dropped on request; returns how many of them are
// kept.
int32_t tac_sco_reactive_list(tac_sco *sco, double within, bool drop_far_faces);

#endif
