// Contact with soft tissue: an elastic body (tissue/compliance.h) that a tool presses.
//
// Sampled points of the body's surface may not be inside the tool. Each point in reach is a row with a load
// of 0 or more, and a gap of 0 or more, of which one is zero. What a row lacks is made up by both sides: the
// surface gives way by the compliance, the tool by the coupling to the device. Rigid obstacles of the tool
// are rows without compliance in the same problem (tissue/contact/pivot.h), so a tool that is pressed through
// fat onto a bone needs no special case. The wrench on the tool is the gradient of an energy: over the
// device's position its slope lies between 0 and the coupling's stiffness, whatever the tissue (J. Moreau
// 1965), and a closed path returns its work. Along the surface the energy repeats with the spacing of the
// points, so that the slope ripples about 0 there.
//
// The rows are linear for fixed normals. Each tick solves twice, the second time with the normals of the
// displaced points. Ball and capsule are convex, so that true gaps are never smaller than linear ones. A mesh
// is a distance field (tissue/field.h).
//
// A tool presses no deeper than its radius (a mesh: than half its reach): there it meets a rigid plane, long
// after linear elasticity has lost its meaning. A fast tool goes no further in a tick than half its radius
// into the tissue, so that no point passes its middle; it lags behind the device.
//
// If more points are in reach than rows fit, a coarser level of points is used: a wide dent keeps its force.
// In between two levels share the tissue, each with its part of the stiffness, and the part of the coarser
// one grows with the contact. The energy is then a sum of convex ones: in every tick the slope keeps its
// bounds, and no change of the level is a step.
//
// A mesh may have sharp edges. A point whose surroundings are covered in part is pressed on that part alone.
//
// Creep: each load is followed by a second force q with the time constant of the material, and the surface
// gives way by C (f + creep q). At most TAC_TISSUE_CREEPING points are remembered.
//
// All poses, points and forces are in the body's frame. The work of a tick is limited by counts; what is
// spent is a flag. Nothing allocates after creation; equal input gives equal bits.
#ifndef TAC_TISSUE_CONTACT_H
#define TAC_TISSUE_CONTACT_H

#include "base/algebra.h"
#include "base/result.h"
#include "base/wrench.h"
#include "tissue/compliance.h"
#include "tissue/field.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_TISSUE_ROWS     64  // of tissue
#define TAC_TISSUE_RIGID    16  // rows of rigid obstacles
#define TAC_TISSUE_CREEPING 128 // points that have not returned from creep
#define TAC_TISSUE_EXAMINED 4000
#define TAC_TISSUE_FORCES   (2 * (TAC_TISSUE_ROWS + TAC_TISSUE_CREEPING))

typedef struct tac_tissue tac_tissue;

// A tool in its own frame: the points within radius_m of the segment from a to b, or a field.
typedef struct tac_tissue_tool {
	tac_dvec3 a, b;
	double radius_m;
	const tac_field *field; // NULL: a ball or a capsule
	double reach_m;         // of a field: the largest distance of the tool's points from its origin
	// Of a field: half of the tool's smallest extent. A point that an edge of the tool covers in part is
	// pressed there alone. 0: a point is under the tool or beside it.
	double half_m;
} tac_tissue_tool;

typedef struct tac_tissue_def {
	const char *name;                 // of the body in messages
	const tac_compliance *compliance; // outlives the contact, as the tool's field does
	tac_tissue_tool tool;
	bool fixed_rotation; // the tool does not rotate
} tac_tissue_def;

// What a rigid obstacle asks of the tool.
typedef struct tac_tissue_rigid {
	tac_dvec3 point_m; // of the tool, at T_body_tool of the input
	tac_dvec3 normal;  // unit, from the tool to the obstacle
	double gap_m;      // along it
} tac_tissue_rigid;

typedef struct tac_tissue_input {
	tac_dpose T_body_tool; // proved, of the last tick
	tac_dpose T_body_device;
	double stiffness_N_per_m; // of the coupling
	double turn_stiffness_Nm_per_rad;
	double elapsed_s;
	const tac_tissue_rigid *rigid;
	int32_t rigid_count;       // at most TAC_TISSUE_RIGID
	const tac_tissue *partner; // of another hand on the same body; NULL: none
} tac_tissue_input;

typedef enum tac_tissue_flag {
	TAC_TISSUE_SPENT = 1,    // no solution within the limit: the loads of the last tick stand
	TAC_TISSUE_LEFT_OUT = 2, // more points in reach than rows, on the coarsest level
	TAC_TISSUE_LIMITED = 4,  // the tool was too fast and stops on the near side
	TAC_TISSUE_STOPPED = 16, // as deep as the tool may press: there the tissue is rigid
	TAC_TISSUE_HELD = 8,     // the tool did not reach the pose of the balance: something rigid held it
} tac_tissue_flag;

// The force of the tool on a point of the compliance, N.
typedef struct tac_tissue_force {
	int32_t point;
	tac_vec3 force_N;
} tac_tissue_force;

typedef struct tac_tissue_state {
	uint32_t flags; // tac_tissue_flag, of the last tick
	int32_t level;  // of the points; the finer one of two
	int32_t rows;   // points in reach, of both levels
	int32_t loaded; // of them
	int32_t factorisations;
	double load_N;         // sum of the loads
	double smallest_gap_m; // of the rows, linear; about 0 in contact, HUGE_VAL without rows
	double depth_m;        // the largest displacement of a loaded point against its outward normal
	double area_m2;        // of the loaded points
	tac_dvec3 centre_m;    // of the loads, on the tool
	tac_dvec3 normal;      // of the sum of the loads, unit, from the tool into the tissue
	double radius_m;       // mean distance of the loads from their centre
	tac_wrench wrench;     // on the tool, about its origin
	double energy_J;       // elastic, of the tissue

	// Since the start.
	uint64_t spent_ticks, left_out_ticks, limited_ticks, level_changes;
} tac_tissue_state;

// Makes the field of a closed mesh, and a tool that refers to it. Fails as tac_field_build does; *out_field
// is NULL then. The caller destroys *out_field after the tissue.
// Thread: setup.
tac_result tac_tissue_field_build(const char *name, const tac_mesh *mesh, tac_field **out_field,
				  tac_tissue_tool *out_tool);

// TAC_ERROR_ARGUMENT (no compliance, a tool without an extent) or TAC_ERROR_MEMORY, with one log line;
// *out_tissue is NULL then. The caller owns *out_tissue.
// Thread: setup.
tac_result tac_tissue_create(const tac_tissue_def *def, tac_tissue **out_tissue);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
void tac_tissue_destroy(tac_tissue **tissue);

// Forgets loads and creep, as when the tool is taken away without a motion.
// Thread: RT.
void tac_tissue_reset(tac_tissue *tissue);

// The smallest radius of curvature or half width of a round tool that the spacing of the points resolves: a
// finer tool falls between the points.
// Thread: any.
double tac_tissue_finest_tool_m(const tac_compliance *compliance);

// Finds the loads at which tissue, coupling and rigid rows are in balance. *out_T_body_aim is the pose that
// the tool should go to, without regard to the rigid rows, which the mover's own contacts enforce. Returns
// the wrench of the tissue on the tool about its origin. Ends with tac_tissue_commit.
// Thread: RT.
tac_wrench tac_tissue_solve(tac_tissue *tissue, const tac_tissue_input *input, tac_dpose *out_T_body_aim);

// Takes the pose that the tool has reached. If something held it elsewhere, the loads are those of a tool at
// that pose, and so is the wrench, which is returned.
// Thread: RT.
tac_wrench tac_tissue_commit(tac_tissue *tissue, tac_dpose T_body_tool);

// The loads of a tool that is held at a pose, as with an infinitely stiff coupling; solve and commit at once.
// Thread: RT.
tac_wrench tac_tissue_hold(tac_tissue *tissue, tac_dpose T_body_tool, double elapsed_s);

// How far the pressed patch goes along with a tool that drags it, m for each newton across the normal of the
// last tick: the mean displacement, with the loads as weights, under a force that is distributed as the loads
// are; the mean of both directions. 0 without a load. That tangential forces do not change the normal ones,
// nor these the drag, is L. Goodman's approximation (1962); it is exact on an incompressible half-space.
// Thread: RT.
double tac_tissue_drag_m_per_N(const tac_tissue *tissue);

// The force of the tool on the tissue across the normal, of which each loaded point has a part as of the
// loads. It is contained in the forces of tac_tissue_forces until the next tick. It does not change any gap.
// Thread: RT.
void tac_tissue_drag(tac_tissue *tissue, tac_dvec3 force_N);

// Valid until the next call.
// Thread: RT.
const tac_tissue_state *tac_tissue_state_of(const tac_tissue *tissue);

// Copies the forces f + creep q, and the drag, by which the compliance gives the present shape: u = sum of
// C_ij force_j. Returns their number. Thread: RT.
int32_t tac_tissue_forces(const tac_tissue *tissue, tac_tissue_force out_forces[TAC_TISSUE_FORCES]);

// One row of the last tick, for tests: the point, its load, its gap from the tool at the pose of the last
// commit, measured from its displaced place. False behind the last.
// Thread: RT.
typedef struct tac_tissue_row {
	int32_t point;
	double load_N, gap_m;
} tac_tissue_row;
bool tac_tissue_row_of(const tac_tissue *tissue, int32_t index, tac_tissue_row *out_row);

#ifdef __cplusplus
}
#endif

#endif
