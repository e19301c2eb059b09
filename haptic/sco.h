// SCO: the surface contact object, a copy of the tool that never penetrates. In each step it moves towards
// the device as far as the motion can be proved free, and slides along the surfaces it touches to the pose
// where the springs of the coupling hold the least energy (C. Zilles and K. Salisbury, "A constraint-based
// god-object method for haptic display", IROS 1995; M. Ortega, S. Redon and S. Coquillart, "A six
// degree-of-freedom god-object method for haptic display of rigid bodies", IEEE VR 2006). The wrench of the
// coupling is then a pure contact reaction.
//
// There are two movers:
//
// - The continuous mover lists the contacts within a trust radius and solves a small exact QP in the
//   metric of the coupling. A certificate proves the resulting motion, translation and rotation combined.
//   Away from contact it sweeps. It never penetrates, at any speed.
// - The reactive mover places the tool, queries a collider there, backs off and slides along the normals
//   of the pairs that intersect. It needs static queries alone, so it runs on every engine. An unknown
//   answer counts as contact. It does not examine the motion between two poses.
//
// A step is divided into substeps, each of them one combined motion. Work is limited by counts, never by the
// clock, so a replay gives the same bits. The pose is valid after every substep; when a limit is reached, the
// SCO stays at its last proved pose. docs/sco.md describes the algorithm.
#ifndef TAC_HAPTIC_SCO_H
#define TAC_HAPTIC_SCO_H

#include "base/algebra.h"
#include "base/api.h"
#include "base/result.h"
#include "collision/body.h"
#include "collision/collider.h"
#include "collision/round.h"
#include "tissue/drill.h"

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

// An object the tool may touch. Body and shape must outlive the SCO.
typedef struct tac_sco_object {
	const tac_body *body;   // for the continuous mover
	const tac_shape *shape; // of the def's collider, for the reactive mover and the check; NULL otherwise
	tac_dpose T_world_object; // at the start
	// For the continuous mover: the object is what remains of this field, instead of the body. It has no
	// shape, and it does not move. The tool is then round, or has a burr. `allowance` is how far a drill
	// may advance into it in the next step, kept by the caller; NULL: not at all.
	const tac_field *field;
	const tac_drill_allowance *allowance;
	// The body simplified (tac_body_def.detail_m), which a tool that is a mesh meets instead; NULL: none.
	// A tool that begins closer to it than its tolerance meets the body itself until the next reset.
	const tac_body *detail;
} tac_sco_object;

typedef struct tac_sco_def {
	tac_sco_mover mover;

	// The tool is a body or, if that is NULL, a round one; the reactive mover takes bodies only. The
	// origin of its frame is the reference point of the coupling. A sphere about that point always has
	// the device's orientation.
	const tac_body *tool;
	const tac_body *tool_detail; // as tac_sco_object.detail
	tac_round round;
	const tac_burr *burr;        // the tool as fields meet it, copied; NULL: the round one
	const tac_shape *tool_shape; // as tac_sco_object.shape

	const tac_sco_object *objects; // copied
	int32_t object_count;
	// For each object, whether the tool passes through it, as a needle through tissue; NULL: it passes
	// through none. Not kept after the creation.
	const bool *passable;

	// The engine of the shapes. The reactive mover queries it. With the continuous mover it checks the
	// pose at the end of every step: on a hit or an unknown answer the SCO returns to its pose before the
	// step, with a fault. NULL: no check.
	const tac_collider *collider;

	// Metric: the square root of the coupling's rotational stiffness over its linear stiffness, m.
	// Default 31.6 mm (1 Nm/rad over 1000 N/m). With fixed_rotation the tool only translates and keeps
	// the orientation of the reset.
	double metric_m;
	bool fixed_rotation;

	double hold_gap_m;   // distance that the QP keeps between tool and object; default 10 µm
	double trust_min_m;  // trust radius: how far contacts are listed and a substep goes; default 0.1 mm
	double trust_max_m;  // default 2 mm
	double turn_max_rad; // of one substep; default 0.03
	double period_s;     // from step to step: what follows is the same at every rate; default 1 ms
	// In contact no point of the tool moves faster than this plus twice the speed of the device; 0: no
	// limit. Without it the SCO snaps to its next resting place when a contact vanishes. Default 0.5 m/s
	double slew_m_per_s;
	// A shorter substep ends the step, unless a limit cut it short. Default 50 µm
	double stop_length_m;

	// Limits of one step.
	int32_t substeps;         // default 16
	int32_t contact_queries;  // each over all objects; default 32
	int32_t certificates;     // default 28
	int32_t qp_solves;        // default 96
	int32_t collider_queries; // of the reactive mover; default 32
	// The work of all contact queries, certificates, sweeps and QPs. One unit is the examination of a
	// pair of triangles, about 0.3 µs; other work counts in proportion to its time. After three
	// steps in succession in which they ended before the SCO could move, the next has twice as many,
	// and each further one as many more, up to 1,500. Default 280
	int64_t work_units;
	// Where the tool and the objects near it have fewer triangles than this (default 0), a step has so
	// many units instead, and keeps no pace: with a slew limit, other steps go no further in contact than
	// their work is likely to pay for. Among few triangles longer steps hardly take more. A round tool
	// always keeps it.
	int64_t sparse_triangles, sparse_work_units;
	// The nodes (tac_budget) of all collider queries of a step, of a reset and of a clearance. 0
	// (default): 1,000 of a step of the continuous mover, 100,000 of one of the reactive mover, 20,000 of
	// a reset and of a clearance; with periods below a millisecond less in proportion
	int64_t collider_nodes;
} tac_sco_def;

typedef enum tac_sco_flag {
	TAC_SCO_CONTACT = 1,        // at least one contact is listed
	TAC_SCO_LIMITED = 2,        // substeps, trust radius or slew limit cut the motion short: it goes on
	TAC_SCO_BUDGET_SPENT = 4,   // a limit of the def was reached: the SCO moved as far as was proved
	TAC_SCO_SLEWED = 8,         // the slew limit cut the motion short
	TAC_SCO_REFUSED = 16,       // a pose was not finite: the SCO did not move
	TAC_SCO_FAULT = 32,         // until the next reset: it started in contact, or the check found a hit
	TAC_SCO_CHECK_HIT = 64,     // the check caused the fault: the SCO is at its last free pose
	TAC_SCO_UNKNOWN = 128,      // a collider answered unknown, which counts as contact
	TAC_SCO_OBJECT_WAITS = 256, // the tool cannot yield to an object: see tac_sco_object_pose
	TAC_SCO_BLOCKED = 512,      // no part of a substep could be made
	TAC_SCO_DROPPED = 1024,     // more contacts than lists or QP have room for: the proof covers the rest
} tac_sco_flag;

// How a substep ended. Names: tac_sco_outcome_name.
typedef enum tac_sco_outcome {
	TAC_SCO_NO_SUBSTEP, // none was tried: a fault, a refused pose, or no work
	// The step goes on with another substep.
	TAC_SCO_MOVED,           // all or a part of the substep was made
	TAC_SCO_INJECTED,        // the proof met a contact that is not listed: solve again with it
	TAC_SCO_OBJECTS_STOPPED, // the tool cannot yield to the objects that move: they wait for it
	// Nothing of it was made. The next substep is shorter.
	TAC_SCO_UNPROVED,     // no part of it is free of contact
	TAC_SCO_TOO_CLOSE,    // every part ends too close to an object
	TAC_SCO_END_UNLISTED, // the contacts at its end could not be listed: too many for the work that is
			      // left
	TAC_SCO_ROLL_STOPPED, // something is behind the edge or vertex over which a round tool would roll
	// The step ends.
	TAC_SCO_ARRIVED,       // nothing but a short rest is left
	TAC_SCO_SLEW_SPENT,    // the slew limit, or the pace, allows no more travel near contact
	TAC_SCO_LIST_ENDS,     // near surfaces are known no further; the list that goes on is in the making
	TAC_SCO_CONVERGED,     // no motion leads closer to the device
	TAC_SCO_NO_LIST,       // the work ended before the contacts were listed
	TAC_SCO_NO_SOLUTION,   // ... before the QP was solved
	TAC_SCO_NO_PROOF,      // ... before the motion was proved or refuted, or before a pose was free
	TAC_SCO_OUTCOME_COUNT, // not an outcome
} tac_sco_outcome;

typedef struct tac_sco_contact {
	tac_dvec3 point_m; // on the tool, world frame
	tac_dvec3 normal;  // unit, from the object to the tool, world frame
	double gap_m;
	double rest_gap_m; // the gap at which the load would hold the tool: the hold gap, or less while a
			   // smaller gap opens
	// The normal force, as a length: multiply it by the coupling's linear stiffness. The loads along the
	// normals balance the offset of the SCO from the device.
	double load_m;
	int32_t object;
	int32_t tool_surface, object_surface; // keys to the materials; tool_surface -1 with a round tool
	// Of their meshes. tool_triangle is -1 with a round tool, both where a tool that is a mesh and turns
	// bears no load.
	int32_t tool_triangle, object_triangle;
} tac_sco_contact;

#define TAC_SCO_CONTACTS 64

typedef struct tac_sco_report {
	tac_dpose T_world_sco;
	uint32_t flags;          // tac_sco_flag
	tac_sco_outcome outcome; // of the last substep: why the step ended, unless it had no more substeps
	// Of the last substep of which nothing was made, although the device is not reached;
	// TAC_SCO_NO_SUBSTEP: none.
	tac_sco_outcome refused;
	// The contacts within twice the hold gap, by falling load; those beyond the capacity are left out.
	int32_t contact_count;
	tac_sco_contact contacts[TAC_SCO_CONTACTS];
	// A lower bound of the distance to the nearest object, up to the margin that was queried; HUGE_VAL if
	// nothing was queried.
	double distance_m;
	// Work of this step.
	int32_t substeps, contact_queries, certificates, qp_solves, collider_queries, sweeps, injections;
	int64_t work_units;
} tac_sco_report;

// All defaults, without tool and objects. Thread: any.
tac_sco_def tac_sco_def_default(void);

// Builds an SCO that is faulted until tac_sco_reset. TAC_ERROR_ARGUMENT with one log line if the def is
// invalid: no tool, a missing body or shape that the mover needs, shapes of another engine, lengths or limits
// that are not positive. TAC_ERROR_MEMORY with one log line. The caller owns *out_sco; it is NULL on failure.
// Thread: setup.
tac_result tac_sco_create(const tac_sco_def *def, tac_sco **out_sco);

// Frees *sco and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_sco_destroy(tac_sco **sco);

// Clears all state, places the SCO and checks that it is free of all objects. Returns false and keeps the
// fault if it touches or intersects one, if a pose is not finite, or if 1,500 work units or the nodes do not
// suffice to decide (tac_sco_reset_unfinished). `T_world_objects` as in the step.
// Thread: RT.
bool tac_sco_reset(tac_sco *sco, tac_dpose T_world_tool, const tac_dpose *T_world_objects);

// Whether the last reset failed only because the collider's nodes, or the work of finding the surface of what
// was drilled, were spent. With the same poses it goes on with what was not finished.
// Thread: RT.
bool tac_sco_reset_unfinished(const tac_sco *sco);

// Moves the SCO towards the device. `T_world_objects` are the objects' poses in this step, one each, or NULL
// if none moves. A moving object pushes the SCO. Where the SCO cannot yield, the object waits; it never
// passes through.
// Thread: RT.
void tac_sco_step(tac_sco *sco, tac_dpose T_world_device, const tac_dpose *T_world_objects,
		  tac_sco_report *out_report);

// Hides an object: from now on the tool passes through it, and it costs nothing.
// Thread: RT.
void tac_sco_hide(tac_sco *sco, int32_t object);

// A lower bound of the distance between the SCO and a hidden object at this pose, up to `reach_m`; 0 if they
// touch, or if it is not known. It compares surfaces: a body wholly inside the other is far from its surface.
// Thread: RT.
double tac_sco_clearance(tac_sco *sco, int32_t object, tac_dpose T_world_object, double reach_m);

// Shows a hidden object at a pose at which the SCO is free of it.
// Thread: RT.
void tac_sco_show(tac_sco *sco, int32_t object, tac_dpose T_world_object);

// The most poses of a trail.
#define TAC_SCO_TRAIL 40

// The poses of the tool in the last step, in the frame of the first object with a field, or of the world
// without one: where it began, after each substep and motion of an object, and where it ended. Returns their
// number, 0 if it was not moved. What lies beyond TAC_SCO_TRAIL poses is left out, apart from the last.
// Thread: RT.
int32_t tac_sco_trail(const tac_sco *sco, const tac_dpose **out_poses);

// "moved", "unproved", … Never NULL.
// Thread: any.
TAC_API const char *tac_sco_outcome_name(tac_sco_outcome outcome);

// The SCO's pose. Thread: RT.
tac_dpose tac_sco_pose(const tac_sco *sco);

// The object's pose as the SCO has it: that given to the last step, or one before it while the object waits.
// Thread: RT.
tac_dpose tac_sco_object_pose(const tac_sco *sco, int32_t object);

#ifdef __cplusplus
}
#endif

#endif
