// Contact state: the memory of a contact with tissue, and what its files share. contact.c is the object and
// the tick; gather.c chooses the rows; rows.c makes the problem of them and moves the tool.
#ifndef TAC_TISSUE_CONTACT_CONTACT_STATE_H
#define TAC_TISSUE_CONTACT_CONTACT_STATE_H

#include "tissue/contact.h"
#include "tissue/contact/nearby.h"
#include "tissue/contact/pivot.h"
#include "tissue/contact/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

_Static_assert(TAC_TISSUE_ROWS + 1 + TAC_TISSUE_RIGID <= TAC_PIVOT_ROWS, "all rows in one problem");
_Static_assert(TAC_TISSUE_ROWS == CONTACT_POINTS, "a block for each row");

// A force on a point.
typedef struct tac_tissue_pull {
	int32_t point;
	tac_dvec3 force_N;
} tac_tissue_pull;

// Forces that displace the points.
typedef struct tac_tissue_pulls {
	tac_tissue_pull of[3 * TAC_TISSUE_FORCES];
	int32_t count;
} tac_tissue_pulls;

// How a point of a coarser level lies on the surface: the mean and the second moments of the places of its
// nodes, with their weights.
typedef struct tac_contact_spread {
	tac_dvec3 mean_m;
	double second_m2[6]; // xx, yy, zz, xy, xz, yz
} tac_contact_spread;

// When and how far a point was free.
typedef struct tac_contact_free {
	double gap_m, travelled_m;
	int64_t tick;
} tac_contact_free;

typedef struct tac_contact_row {
	int32_t point;     // -1: none, a row without compliance
	tac_dvec3 rest_m;  // of the point, the mean of its nodes; of the obstacle's plane
	tac_dvec3 into;    // unit, into the tissue at rest
	tac_dvec3 past_m;  // displacement by creep and partner
	tac_dvec3 moved_m; // all of its displacement, as far as it is known
	tac_dvec3 tool_m;  // rigid: the point of the tool, in its frame
	// At the pose about which the rows are linear.
	tac_dvec3 normal; // unit, from the tool to the point
	tac_dvec3 turn_m; // lever of the tool's rotation
	double gap_m;     // without the tool's own loads
	double load_N;
	double rank_m; // the smallest are rows
} tac_contact_row;

// A load of the last tick that moves with its point, and the force that follows it.
typedef struct tac_tissue_memory {
	int32_t point;
	tac_dvec3 load_N; // along its normal
	double along_N;   // its size
	tac_dvec3 creep_N;
} tac_tissue_memory;

struct tac_tissue {
	tac_tissue_def def;
	tac_nearby nearby[TAC_COMPLIANCE_LEVELS];
	double stride_m;
	tac_tissue_state state;

	// From tick to tick.
	tac_tissue_memory memory[TAC_TISSUE_FORCES];
	int32_t memory_count;
	int32_t level_ticks; // since the level changed
	int32_t last_level;  // of the last tick's rows
	tac_dpose T_last;    // of the last commit
	tac_wrench last;     // of its tissue on the tool, with what was carried
	tac_wrench carried;  // on the tool, by which the force would have stepped when the level changed
	tac_dpose T_body_device;
	bool started;
	int64_t ticks;
	double travelled_m;     // by the tool in all ticks
	tac_contact_free *free; // of each point

	// Of this tick.
	tac_tissue_input input;
	double now, after;       // factors of this tick's load and of the last q in the displacement
	tac_tissue_pulls before; // that displace the points without this tick's loads
	tac_tissue_pulls all;    // with the loads of the last tick
	tac_contact_row rows[TAC_TISSUE_ROWS + 1 + TAC_TISSUE_RIGID];
	// First the points of the tissue, then what stops a tool that is too deep, then rigid obstacles.
	int32_t point_count, tissue_count, row_count;
	int32_t rows_level;
	tac_dpose T_balance;         // where the tool is expected
	tac_contact_spread *spreads; // of each point
	uint32_t *seen;              // of each point: the gathering that met it last
	uint32_t gathering;
	int32_t *found; // of TAC_TISSUE_EXAMINED points
	// Of each point: 1 and its row, its row of the last tick, its memory; or 0.
	int32_t *slot, *last_slot, *remembered;
	tac_dvec3 last_moved_m[TAC_TISSUE_ROWS];
	int32_t last_point[TAC_TISSUE_ROWS], last_count;
	tac_contact_project_fn *project;
	tac_contact_displace_fn *displace;
	tac_pivot pivot;
	tac_contact_blocks blocks;                        // between the rows
	tac_contact_vectors past;                         // displacement of the rows by creep and partner
	double elastic[TAC_TISSUE_ROWS][TAC_TISSUE_ROWS]; // compliance of the rows along their normals, lower
};

// Whether the tool pressed in the last tick.
static inline bool tac_tissue_loaded(const tac_tissue *t)
{
	return t->memory_count > 0 && t->memory[0].along_N > 0;
}

// The displacement of a point by forces.
static inline tac_dvec3 tac_tissue_displacement(const tac_compliance *c, int32_t point,
						const tac_tissue_pulls *pulls)
{
	tac_dvec3 u = tac_dvec3_zero();
	for (int32_t k = 0; k < pulls->count; k++) {
		const tac_mat3 C = tac_compliance_block(c, point, pulls->of[k].point);
		u = tac_dvec3_add(u, tac_dmat3_apply(tac_dmat3_from_mat3(C), pulls->of[k].force_N));
	}
	return u;
}

// An upper bound of how far a point of the tool moves (contact.c).
// Thread: RT.
double tac_tissue_travel(const tac_tissue *tissue, tac_dpose from, tac_dpose to);

// The gap of a point that is displaced by `moved_m`, in the body's frame. On a coarser level it is the mean
// over the point's nodes, to second order (rows.c).
// Thread: RT.
tac_tool_gap tac_tissue_gap(const tac_tissue *tissue, int32_t point, tac_dvec3 moved_m, tac_dpose T_body_tool,
			    tac_dpose T_tool_body);

// Chooses the rows of a tool at a pose that moves by `travel_m` in this tick, on the finest level on which
// they fit (gather.c).
// Thread: RT.
void tac_tissue_gather(tac_tissue *tissue, tac_dpose T_body_tool, double travel_m);

// Solves the problem with the rows linear about a pose (rows.c). `held`: the tool stays there. *out_aim is
// the pose that the tissue's loads alone would give. Returns the pose of the balance.
// Thread: RT.
tac_dpose tac_tissue_balance(tac_tissue *tissue, tac_dpose T_body_tool, bool held, tac_dpose *out_aim);

// Reads the compliance between the rows, and finds their displacements by creep and partner (rows.c).
// Thread: RT.
void tac_tissue_begin_rows(tac_tissue *tissue);

// The displacements of the rows' points by their loads (rows.c).
// Thread: RT.
void tac_tissue_displace_rows(tac_tissue *tissue);

#ifdef __cplusplus
}
#endif

#endif
