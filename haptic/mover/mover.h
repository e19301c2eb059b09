// SCO, inside: what its files share. sco.c holds the object and its report, sco_near.c asks the collision
// library, sco_round.c does so for spheres and capsules, sco_solve.c turns contacts into a twist,
// sco_inject.c finds the contact that a failed proof ran into, sco_continuous.c and sco_reactive.c are the
// movers.
#ifndef TAC_HAPTIC_SCO_PRIVATE_H
#define TAC_HAPTIC_SCO_PRIVATE_H

#include "collision/certificate.h"
#include "collision/contacts.h"
#include "haptic/qp.h"
#include "haptic/sco.h"

#ifdef __cplusplus
extern "C" {
#endif

// An accepted pose is not closer than half the hold gap, or, from a closer one, than this, m.
#define TAC_SCO_CLOSEST 1e-6
// Flights are never longer, m.
#define TAC_SCO_FLIGHT 1e3
// Contacts within so many hold gaps are reported.
#define TAC_SCO_REPORTED 2
#define TAC_SCO_ROWS     1024
#define TAC_SCO_INJECTED 16

// A motion of a body: its origin by v (m), turned by exp(w), both at once, world frame.
typedef struct tac_sco_twist {
	tac_dvec3 v, w;
} tac_sco_twist;

// The tool's motion seen from an object, in the object's frame.
typedef struct tac_sco_relative {
	tac_dpose start;
	tac_sco_twist twist;
} tac_sco_relative;

typedef struct tac_sco_thing {
	const tac_ccd_body *body;
	const tac_shape *shape;
	tac_dpose pose, goal; // now; where it is to be at the end of the tick
	tac_dpose before;     // at the start of the tick
	tac_sco_twist push;   // its motion in this piece
	bool moves;           // in this piece
	// The contacts at the SCO's pose, and room for those of the next.
	tac_contacts *contacts, *spare;
	// Of all its queries: with a body for a tool, with a round one.
	tac_ccd_context *context;
	tac_ccd_round_context *round_context;
} tac_sco_thing;

// A constraint: which contact of which object, as a row of the QP.
typedef struct tac_sco_row {
	const tac_contact_point *contact; // in the object's frame
	int32_t object;
	double length;    // of the row before it was scaled
	double bound;     // what J t must reach, m
	double curvature; // what the true gap has more than the linear one after the last solution, m
} tac_sco_row;

typedef struct tac_sco_injected {
	tac_contact_point contact;
	int32_t object;
	bool blocker; // the closest direction of a pair that could not be proved
} tac_sco_injected;

// What lasts for one step.
typedef struct tac_sco_tick {
	tac_dpose device;
	double way;    // of all pieces so far, m
	double moved;  // of it in contact, m
	double slew;   // allowed
	double bias;   // added to the bounds after a blocked piece, m
	int64_t pairs; // that it may take
	int rounds;    // of injection at this pose
	bool near;
	double roll; // how far the next piece may roll over edges and vertices, m
	bool rolls;  // this piece does: its straight way uses the hold gap
} tac_sco_tick;

struct tac_sco {
	tac_sco_def def;
	tac_sco_thing *things;
	double radius; // largest distance of the tool's points from its origin, m
	tac_dpose pose;
	tac_dpose last_device;
	bool has_last_device;
	tac_dvec3 last_turn;     // rotation vector to the device at the last step: which way round
	uint32_t fault;          // flags kept until the reset
	double trust, trust_cap; // m; the cap where a look at more would cost too many pairs
	double stride;           // a piece may go so many times further than is trusted: proofs have held
	bool near;
	double flight;   // the longest to try, m: halved when its pairs run out, doubled when it arrives
	double known;    // contacts are listed up to this margin at the pose; -1: not at this pose
	double distance; // the smallest of all objects there, at most `known`
	tac_sco_tick tick;
	tac_sco_report *report;
	tac_context *context; // of the collider

	tac_sco_row rows[TAC_SCO_ROWS];
	double row_values[TAC_SCO_ROWS][TAC_QP_SIZE];
	double row_bounds[TAC_SCO_ROWS];
	int32_t row_count;
	tac_sco_injected injected[TAC_SCO_INJECTED];
	int32_t injected_count;
	// What a step that ended for want of pairs before it moved leaves to the next.
	int32_t kept_injected;
	double kept_bias;
	int32_t stuck_steps; // that ended so, one after the other
	void *reactive;      // the reactive mover's memory
};

static inline bool tac_sco_same_features(const tac_contact_point *a, const tac_contact_point *b)
{
	return a->kind == b->kind && a->moving_feature == b->moving_feature &&
	       a->fixed_feature == b->fixed_feature;
}

// --- motion (sco.c) ---

// The motion from one pose of the tool to another. The turn takes the way round that it took last, until the
// other one is 0.2 rad shorter. Thread: RT.
tac_sco_twist tac_sco_twist_between(const tac_sco *sco, tac_dpose from, tac_dpose to);
tac_dpose tac_sco_pose_after(tac_dpose pose, tac_sco_twist t, double s);
tac_sco_twist tac_sco_twist_scale(tac_sco_twist t, double s);
// How far a point of the tool goes at most.
double tac_sco_reach(const tac_sco *sco, tac_sco_twist t);
// The square of the distance in the metric.
double tac_sco_energy(const tac_sco *sco, tac_dpose from, tac_dpose to);
// Doubles the trust radius, which held a piece back.
void tac_sco_widen_trust(tac_sco *sco);
// What an object has to go to its goal; exactly zero when it is there.
tac_sco_twist tac_sco_push(const tac_sco_thing *thing);
// Whether an object moves in this piece.
bool tac_sco_pushing(const tac_sco *sco);
tac_sco_relative tac_sco_relative_motion(const tac_sco *sco, const tac_sco_thing *thing, tac_sco_twist t);
// The object after `s` of a piece of motion that takes the tool to `tool`.
tac_dpose tac_sco_thing_after(const tac_sco *sco, const tac_sco_thing *thing, tac_sco_twist t, double s);

// --- queries over all objects (sco_near.c); each answers false when a limit of the step forbids it ---

// Lists the contacts within *margin after `s` of the twist into the spare lists, or within less where that
// costs too much, which is then the margin; *out_distance is the smallest. False also when not even the
// contacts that are reported could be listed: the SCO stays where they are known.
bool tac_sco_gather(tac_sco *sco, tac_sco_twist t, double s, double *margin, double *out_distance);
// The spare lists become the lists.
void tac_sco_swap(tac_sco *sco);

typedef struct tac_sco_proof {
	double fraction;
	int32_t object, moving_triangle, fixed_triangle; // what ends it; object -1: nothing
} tac_sco_proof;

bool tac_sco_certify(tac_sco *sco, tac_sco_twist t, tac_sco_proof *out_proof);
// The free fraction of a translation, or of a rotation about the tool's origin: one of them is zero.
bool tac_sco_fly(tac_sco *sco, tac_sco_twist t, double *out_fraction);
// The distance to the nearest object at the SCO's pose, up to `reach`; 0 when it is not known. Outside a
// step.
double tac_sco_distance(tac_sco *sco, double reach);

// --- round tools (sco_round.c) ---

// Lists the contacts of a round tool with one object into its spare list.
void tac_sco_round_contacts(const tac_sco *sco, tac_sco_thing *thing, tac_dpose T_object_tool, double margin);
// The safe fraction of a translation, object's frame.
tac_ccd_result tac_sco_round_sweep(const tac_sco *sco, tac_sco_thing *thing, tac_dpose T_object_tool,
				   tac_dvec3 v, const tac_ccd_options *options);
// That of a rotation about the tool's origin.
tac_ccd_result tac_sco_round_spin(const tac_sco *sco, const tac_sco_thing *thing, tac_dpose T_object_tool,
				  tac_dvec3 w, const tac_ccd_options *options);
// The proved fraction of both at once.
tac_ccd_result tac_sco_round_prove(const tac_sco *sco, tac_sco_thing *thing, const tac_sco_relative *motion,
				   const tac_ccd_options *options);

// --- the QP (sco_solve.c) ---

// The twist towards `t0` that the contacts allow, for a piece of at most `reach`; the objects' pushes may be
// scaled down. False when no QP may be solved any more, or a push cannot be yielded to.
bool tac_sco_solve(tac_sco *sco, tac_sco_twist t0, double reach, tac_sco_twist *out_twist);
// The factor, at most 1, that brings a twist within `reach` and the largest turn.
double tac_sco_limit(const tac_sco *sco, tac_sco_twist t, double reach);
// Writes contacts and their loads at the SCO's pose into the report.
void tac_sco_report_contacts(tac_sco *sco);

// --- injection (sco_inject.c) ---

// Adds what the pair that ended a proof would violate on the way of `t`, as seen from the start. False:
// nothing new.
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
