// Geometry: how the tool meets one obstacle. The mover knows obstacles by these functions alone: it places
// the tool, and the geometry lists the contacts there, proves motions and follows gaps. geometry_mesh.c is
// for a tool that is a mesh, geometry_round.c for a sphere or capsule, geometry_field.c for an obstacle that
// is drilled. A new kind is one more table, a member of tac_sco_object that holds it, and its choice in
// tac_sco_create, which checks what it needs.
//
// All poses and motions are those of the tool in the obstacle's frame, so an obstacle that moves needs no
// further function. Normals are unit vectors from the obstacle to the tool, and points are on the tool. The
// features of a contact have the same numbers in every query: the next QP begins with those that bore a load.
// Every query is bounded, by the units that are left or by its capacities, and adds its work to `work`; equal
// calls in equal order give equal bits. Thread: RT, apart from create and destroy.
#ifndef TAC_HAPTIC_MOVER_GEOMETRY_H
#define TAC_HAPTIC_MOVER_GEOMETRY_H

#include "collision/contacts.h"
#include "haptic/mover/work.h"
#include "haptic/sco.h"

// The tool's motion relative to an obstacle, in the obstacle's frame.
typedef struct tac_sco_relative {
	tac_dpose start;
	tac_dtwist twist;
} tac_sco_relative;

typedef struct tac_sco_proof {
	double fraction; // of the motion that is proved free
	bool unfinished; // the work, or the list of near pairs, ended here: what follows may be free, too
	// Where `blocked`, what ended the proof: the closest points there, with their gap at the start.
	bool blocked;
	tac_contact_point contact;
	const struct tac_sco_obstacle *obstacle; // set by tac_sco_certify
} tac_sco_proof;

// What the queries with one obstacle remember; each geometry defines its own.
typedef struct tac_sco_memory tac_sco_memory;

typedef struct tac_sco_geometry {
	// Of the tool: these two count for all obstacles (SCO_MESH_QUERY_SHARE, SCO_ROUND_STRIDE). The number
	// of pairs that a contact query should examine, as a share of the step's work units: after one that
	// examined more, the next covers less. And how many trust radii long a substep may be.
	double query_share, stride;

	// Prepares the memory, zeroed, for the def's tool with this object; optional. Thread: setup.
	size_t memory_size;
	tac_result (*create)(tac_sco_memory *memory, const tac_sco_def *def, const tac_sco_object *object);
	void (*destroy)(tac_sco_memory *memory); // optional, and called also after create has failed
	// Forgets earlier queries.
	void (*reset)(tac_sco_memory *memory);

	// Lists the contacts within `margin` at the pose, and finds the distance. out->margin is what could
	// be covered, 0 if nothing. With an intersection the distance is 0. out->pairs is in work units.
	void (*list)(tac_sco_memory *memory, tac_dpose T_object_tool, double margin, tac_sco_work *work,
		     tac_contacts *out);
	// Proves a motion up to a fraction; every smaller one is then free, too. `zone_m`: the distance that
	// a tool whose path is known in closed form keeps from what is not listed; others keep the
	// certificate's threshold. Sets work->spent if the work ended before it could prove anything.
	tac_sco_proof (*prove)(tac_sco_memory *memory, const tac_sco_relative *motion, double zone_m,
			       tac_sco_work *work);
	// The fraction of a long translation, or of a rotation about the tool's origin (v or w is zero), that
	// keeps `zone_m`. If the work ends before, it sets work->spent and returns what is known to be free.
	double (*sweep)(tac_sco_memory *memory, const tac_sco_relative *motion, double zone_m,
			tac_sco_work *work);

	// The next five are optional.

	// The gap of a listed contact after the tool has moved from the pose of the list to another. Without
	// it, normals stay as they are: see tac_contacts_gap_after.
	double (*gap_after)(const tac_sco_memory *memory, const tac_contact_point *contact,
			    const tac_drigid *from, const tac_drigid *to);

	// Works ahead for the next step's queries, in case the tool goes on from this pose as it did.
	void (*prepare)(tac_sco_memory *memory, tac_dpose T_object_tool, tac_sco_work *work);

	// Whether the obstacle has changed since it was listed last: its surface, or a drill's allowance.
	bool (*changed)(const tac_sco_memory *memory);

	// Reports a contact of the defs' meshes: their gap (tac_body_detail), their triangles
	// (tac_body_source_triangle). Without `with_triangles` these are -1: finding them takes time.
	void (*restate)(const tac_sco_memory *memory, tac_dpose T_world_tool,
			const tac_contact_point *contact, bool with_triangles, tac_sco_contact *out);

	// The normal of a round tool's contact after it has rolled over a feature: see tac_contacts_roll.
	tac_dvec3 (*roll)(const tac_sco_memory *memory, const tac_contact_point *contact, tac_dvec3 target,
			  double max_tangent);
} tac_sco_geometry;

// The last one is the memory of the reactive mover.
extern const tac_sco_geometry tac_sco_geometry_mesh, tac_sco_geometry_round, tac_sco_geometry_field,
	tac_sco_geometry_reactive;

#endif
