// SCO: the surface contact object, the copy of the tool that never penetrates. Each tick it moves from where
// it is towards the device, as far as it can be proved free, and slides along what it touches to the pose
// where the coupling's springs hold least energy (C. Zilles and K. Salisbury, "A constraint-based god-object
// method for haptic display", IROS 1995; M. Ortega, S. Redon and S. Coquillart, "A six degree-of-freedom
// god-object method for haptic display of rigid bodies", IEEE VR 2006). The wrench of the coupling is then a
// pure contact reaction.
//
// Two movers behind one step:
//  - continuous: speculative contacts within a trust radius, a small exact QP in the metric of the coupling,
//  one
//    combined motion of translation and rotation that a certificate proves, sweeps for long flights. It never
//    penetrates, at any speed.
//  - reactive: place, ask a collider, back off and slide with the normals of the pairs it returns. It needs
//  the static
//    query alone, so it runs on every engine; an answer unknown counts as contact. Between two places it does
//    not look.
//
// Work is limited by counts, never by the clock, so a replay gives the same bits. Whatever the limits, the
// pose is valid after every step: when they are spent, the SCO stands where it was proved to be free.
// docs/sco.md tells the whole.
#ifndef TAC_HAPTIC_SCO_H
#define TAC_HAPTIC_SCO_H

#include "base/algebra.h"
#include "base/result.h"
#include "collision/ccd_body.h"
#include "collision/collider.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_sco tac_sco;

typedef enum tac_sco_mover {
	TAC_SCO_CONTINUOUS,
	TAC_SCO_REACTIVE,
} tac_sco_mover;

// A thing the tool may touch. What it points to outlives the SCO.
typedef struct tac_sco_object {
	const tac_ccd_body *body; // for the continuous mover
	const tac_shape *shape; // of the def's collider: for the reactive mover and for the check; else NULL
	tac_dpose T_world_object; // at the start
} tac_sco_object;

// The points within `radius_m` of the segment from a to b, in the tool's frame: a point or sphere (a = b), a
// capsule.
typedef struct tac_sco_round {
	tac_dvec3 a_m, b_m;
	double radius_m; // above 0; a point is a sphere of some micrometres
} tac_sco_round;

typedef struct tac_sco_def {
	tac_sco_mover mover;

	// The tool: a body, or, when that is NULL, a round one, which the continuous mover alone takes. The
	// origin of its frame is the reference point of the coupling; a sphere about it always has the
	// device's orientation.
	const tac_ccd_body *tool;
	tac_sco_round round;
	const tac_shape *tool_shape; // of `collider`: as in tac_sco_object

	const tac_sco_object *objects; // copied
	int32_t object_count;

	// The engine of the shapes. The reactive mover asks it. With the continuous one it checks the pose at
	// the end of every step: on a hit or unknown the SCO goes back to where it was, with a fault. NULL:
	// no check.
	const tac_collider *collider;

	// Metric: the root of the coupling's turn stiffness over its linear stiffness, m. Default 31.6 mm (1
	// Nm/rad over 1000 N/m). With fixed_rotation the tool only translates: its orientation stays what it
	// was at the reset.
	double metric_m;
	bool fixed_rotation;

	double hold_gap_m;   // what the QP keeps between tool and object; default 10 µm
	double trust_min_m;  // trust radius: contacts are looked for, and a piece of motion goes, so far.
			     // Default 0.1 mm
	double trust_max_m;  // default 2 mm
	double turn_max_rad; // of a piece of motion; default 0.03
	double slew_m;       // in contact no point of the tool moves further a step than this plus twice the
		       // device's motion; 0: no limit. Default 0.5 mm: without it a vanishing contact snaps,
		       // 4 to 9 N at once
	double stop_length_m; // an unrestricted piece shorter than this ends the step; default 50 µm

	// Limits of one step, counts.
	int32_t pieces;       // of motion, default 16
	int32_t gathers;      // looks for contacts, over all objects, default 32
	int32_t certificates; // default 28
	int32_t qps;          // default 96
	// Pairs of triangles, over all gathers, certificates and sweeps; what is done to find them counts as
	// so many pairs as it takes the time of, about 0.3 µs each. A step that comes after three which could
	// not move for want of pairs has three times as many, up to 2,000. Default 540
	int64_t pairs;
	int32_t queries; // of the reactive mover, default 32
} tac_sco_def;

typedef enum tac_sco_flag {
	TAC_SCO_CONTACT = 1,      // at least one contact is in the list
	TAC_SCO_LIMITED = 2,      // trust radius or slew held the SCO back: it is still on its way
	TAC_SCO_BUDGET_SPENT = 4, // a limit of the def was reached: it moved as far as was proved
	TAC_SCO_SLEWED = 8,       // the slew limit held it back
	TAC_SCO_REFUSED = 16,     // a pose was not finite: the SCO did not move
	TAC_SCO_FAULT = 32,     // held until the next reset: it started in contact, or the check found a hit
	TAC_SCO_CHECK_HIT = 64, // the fault is the check's: the pose is the last one that was free
	TAC_SCO_UNKNOWN = 128,  // a collider answered unknown, taken for contact
	TAC_SCO_OBJECT_WAITS = 256, // a moving object was not let through: see tac_sco_object_pose
	TAC_SCO_BLOCKED = 512,      // a piece of motion could not be proved at all
	TAC_SCO_DROPPED = 1024,     // more contacts than fit: those with the largest gaps are missing
} tac_sco_flag;

typedef struct tac_sco_contact {
	tac_dvec3 point_m; // on the tool, world frame
	tac_dvec3 normal;  // unit, from the object to the tool, world frame
	double gap_m;
	// How strongly it pushes, as a length: times the coupling's linear stiffness it is the normal force.
	// The loads along the normals balance the offset of the SCO from the device.
	double load_m;
	int32_t object;
	int32_t tool_surface, object_surface;   // keys to the materials; tool_surface -1 with a round tool
	int32_t tool_triangle, object_triangle; // tool_triangle -1 with a round tool
} tac_sco_contact;

#define TAC_SCO_CONTACTS 64

typedef struct tac_sco_report {
	tac_dpose T_world_sco;
	uint32_t flags;
	// Those within twice the hold gap, the loaded ones first; beyond the capacity they are left out.
	int32_t contact_count;
	tac_sco_contact contacts[TAC_SCO_CONTACTS];
	double distance_m; // to the nearest object, as far as it was looked for: a lower bound. HUGE_VAL: not
			   // looked
	// Work.
	int32_t pieces, gathers, certificates, qps, queries, sweeps, injected;
	int64_t pairs;
} tac_sco_report;

// A def without tool and objects. Thread: any.
tac_sco_def tac_sco_def_default(void);

// Builds an SCO that is faulted until tac_sco_reset. TAC_ERROR_ARGUMENT with one log line for a def out of
// range: no tool, no body or shape where the mover needs it, shapes of another engine, lengths or counts not
// positive. The caller owns *out_sco; it is NULL on failure. Thread: setup.
tac_result tac_sco_create(const tac_sco_def *def, tac_sco **out_sco);

// Frees *sco and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_sco_destroy(tac_sco **sco);

// Places the SCO, forgets everything, and looks whether it is free of all objects where they are now: true,
// or false with the fault kept when it touches, intersects, or a pose is not finite, or when that is not
// known after the work of eight steps for an object. `T_world_objects` as in the step. Thread: RT.
bool tac_sco_reset(tac_sco *sco, tac_dpose T_world_tool, const tac_dpose *T_world_objects);

// Moves the SCO towards the device. `T_world_objects` are the objects' poses of this tick, one each, or NULL
// when none moves. A moving object pushes the SCO; where the SCO cannot yield, the object waits for it, and
// is never let through. Thread: RT.
void tac_sco_step(tac_sco *sco, tac_dpose T_world_device, const tac_dpose *T_world_objects,
		  tac_sco_report *out_report);

// Where the SCO stands.
// Thread: RT.
tac_dpose tac_sco_pose(const tac_sco *sco);

// Where the SCO takes the object to be: the pose of the last step, or behind it while the object waits.
// Thread: RT.
tac_dpose tac_sco_object_pose(const tac_sco *sco, int32_t object);

#ifdef __cplusplus
}
#endif

#endif
