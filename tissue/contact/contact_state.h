// Contact state: the memory of a contact with tissue, and what its files share. contact.c is the object and
// the tick; sheets.c chooses the levels of points; gather.c chooses the rows; creep.c keeps the forces of the
// past; rows.c makes the problem of the rows and moves the tool.
#ifndef TAC_TISSUE_CONTACT_CONTACT_STATE_H
#define TAC_TISSUE_CONTACT_CONTACT_STATE_H

#include "tissue/compliance/sums.h"
#include "tissue/contact.h"
#include "tissue/contact/nearby.h"
#include "tissue/contact/pivot.h"
#include "tissue/contact/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONTACT_SHEETS 2
// A point is a row if it is closer to the tool than the tool's travel plus this part of the spacing.
#define CONTACT_MARGIN 0.05
// What may hold the tool besides tissue: the depth at which it stops, and rigid obstacles.
#define CONTACT_WALLS (1 + TAC_TISSUE_RIGID)

_Static_assert(CONTACT_SHEETS *TAC_TISSUE_ROWS + CONTACT_WALLS <= TAC_PIVOT_ROWS, "all rows in one problem");
_Static_assert(TAC_TISSUE_ROWS == CONTACT_POINTS, "a block for each row");
_Static_assert(TAC_TISSUE_FORCES <= TAC_COMPLIANCE_SUMS, "one sum of all forces");

// How a point of a coarser level lies on the surface: the mean and the second moments of the places of its
// nodes, with their weights.
typedef struct tac_contact_spread {
	tac_dvec3 mean_m;
	double second_m2[6]; // xx, yy, zz, xy, xz, yz
	tac_tool_disc disc;  // as large as the surface of a node, or with the same moments
} tac_contact_spread;

// When and how far a point was free.
typedef struct tac_contact_free {
	double gap_m, travelled_m;
	int64_t tick;
} tac_contact_free;

typedef tac_compliance_force tac_contact_pull;

// What a row asks of the tool, at the pose about which the rows are linear.
typedef struct tac_contact_line {
	tac_dvec3 normal; // unit, from the tool to the point
	tac_dvec3 turn_m; // lever of the tool's rotation
	double gap_m;     // without the loads of this tick
	double load_N;    // of a whole sheet
} tac_contact_line;

// A point of the tissue in reach of the tool. It stays in its place of the sheet while it is in reach.
typedef struct tac_contact_row {
	int32_t point;
	tac_dvec3 rest_m;      // the mean of its nodes
	tac_dvec3 into;        // unit, into the tissue at rest
	tac_dvec3 creep_N;     // the force that follows its load
	tac_dvec3 elsewhere_m; // displacement by the forces that creep on points that are no rows
	double cover;          // the part of it that the tool covers, 0 … 1
	double own_m_per_N;    // what a load yields more because it is on that part alone
	// From the first touch of a coarse point until all of it touches: by how much its mean gap closes, in
	// all and for each newton, and whether it has.
	double early_m, soft_m_per_N;
	bool whole;
	tac_dvec3 past_m;  // displacement by creep and partner
	tac_dvec3 moved_m; // all of its displacement, as far as it is known
	double gap_m;      // from the tool, at the end of the last tick
	tac_contact_line line;
} tac_contact_row;

// A point that becomes a row, with its load as a first guess, and the displacement that was found for it.
typedef struct tac_contact_new {
	int32_t point;
	double load_N;
	tac_dvec3 moved_m;
} tac_contact_new;

// A wall: a row without compliance.
typedef struct tac_contact_wall {
	tac_dvec3 rest_m; // on its plane
	tac_dvec3 tool_m; // the point of the tool, in its frame
	tac_contact_line line;
} tac_contact_wall;

// The tissue as the points of one level see it. Where two levels share the tissue, each carries its share of
// every load, as two bodies side by side whose compliances are C / share: the energy of both is a sum of
// convex ones, so the force stays the gradient of one convex energy while the shares change. Loads and creep
// of a sheet are those that it would have alone.
typedef struct tac_contact_sheet {
	int32_t level;
	double share;
	bool joined;      // it has all its rows
	double size;      // its rows; those with a small load, and those with a gap, count in part
	double moment_m2; // of the loads about their centre
	tac_contact_row rows[TAC_TISSUE_ROWS];
	int32_t count;
	int32_t in_reach; // more than rows, if there are too many
	tac_contact_pull elsewhere[TAC_TISSUE_CREEPING];
	int32_t elsewhere_count;
	tac_contact_blocks blocks; // between the rows
} tac_contact_sheet;

// What a change of the level brings to a point.
typedef struct tac_contact_brought {
	tac_dvec3 load_N, creep_N;
} tac_contact_brought;

struct tac_tissue {
	tac_tissue_def def;
	tac_nearby nearby[TAC_COMPLIANCE_LEVELS];
	double stride_m;
	tac_tissue_state state;
	tac_contact_spread *spreads; // of each point
	// Of each node: the points of levels 1 and 2 that it belongs to, and by which part.
	int32_t *owner_start, *owner;
	float *owner_part;

	// From tick to tick.
	tac_contact_sheet storage[CONTACT_SHEETS];
	tac_contact_sheet *sheets[CONTACT_SHEETS]; // in use, the finer one first; then those that are not
	int32_t sheet_count;
	tac_contact_sheet *joining; // the next one to take part, with its rows to come; or NULL
	int64_t joining_tick;       // when it began; its rows come after that
	double rows_per_moment;     // rows of the finer level for the second moment of the coarser one; 0:
				    // unknown
	int32_t level_ticks;        // since a finer level did not fit
	tac_dpose T_body_device;
	bool started;
	bool stopped; // as deep as it may press
	int64_t ticks;
	double travelled_m;     // by the tool in all ticks
	double last_travel_m;   // in the last one
	tac_contact_free *free; // of each point
	// Of each point: 1 and its row, its place in `elsewhere`; or 0.
	int32_t *slot, *crept;

	// Of this tick.
	tac_tissue_input input;
	double now, after;   // factors of this tick's load and of the last q in the displacement
	tac_dpose T_balance; // where the tool is expected
	uint32_t *seen;      // of each point: the gathering that met it last
	uint32_t gathering;
	int32_t *found;                             // of TAC_TISSUE_EXAMINED points
	tac_contact_pull beside[TAC_TISSUE_FORCES]; // the partner's
	int32_t beside_count;
	tac_compliance_sums beside_sums;       // of them, if there are any
	tac_compliance_sums sums;              // of a sheet's forces
	tac_dvec3 drag_N;                      // across the normal
	tac_contact_wall walls[CONTACT_WALLS]; // first what stops a tool that is too deep, if anything does
	int32_t stop_count, wall_count;
	tac_contact_brought *brought; // of each point, zero outside a change of the level
	int32_t *touched;             // points with something brought
	int32_t touched_count;

	tac_contact_couple_fn *couple;
	tac_contact_project_fn *project;
	tac_contact_displace_fn *displace;
	tac_pivot pivot;
};

// Whether the tool pressed in the last tick.
static inline bool tac_tissue_loaded(const tac_tissue *t)
{
	return t->state.loaded > 0;
}

// An upper bound of how far a point of the tool moves (contact.c).
// Thread: RT.
double tac_tissue_travel(const tac_tissue *tissue, tac_dpose from, tac_dpose to);

// Where the tool is.
typedef struct tac_contact_place {
	tac_dpose T_body_tool, T_tool_body;
	tac_tissue_tool round; // a round tool in the body's frame
} tac_contact_place;

// Thread: RT.
tac_contact_place tac_contact_place_of(const tac_tissue *tissue, tac_dpose T_body_tool);

// The gap of a point that is displaced by `moved_m`, in the body's frame. On a coarser level it is the mean
// over the point's nodes, to second order, less `early_m` (rows.c).
// Thread: RT.
tac_tool_gap tac_tissue_gap(const tac_tissue *tissue, int32_t point, tac_dvec3 moved_m,
			    const tac_contact_place *place);

// Chooses the rows of all sheets, for a tool at a pose that moves by `travel_m` in this tick. A tool that did
// not press yet changes to the finest level on which they fit (gather.c).
// Thread: RT.
void tac_tissue_gather(tac_tissue *tissue, tac_dpose T_body_tool, double travel_m);

// Sets the levels and their shares for a tick, by the size of the contact in the last one (sheets.c).
// Thread: RT.
void tac_tissue_share_levels(tac_tissue *tissue);

// All of the tissue on one level, with the loads and the creep of the first sheet (sheets.c).
// Thread: RT.
void tac_tissue_change_level(tac_tissue *tissue, int32_t level);

// Forgets what a change of the level has brought (sheets.c).
// Thread: RT.
void tac_contact_forget_brought(tac_tissue *tissue);

// Whether there are points on a level (sheets.c).
// Thread: RT.
bool tac_tissue_has_level(const tac_tissue *tissue, int32_t level);

// Forgets the rows of a sheet and what creeps elsewhere (creep.c).
// Thread: RT.
void tac_contact_clear(tac_tissue *tissue, tac_contact_sheet *sheet);

// Rows for points that are none (creep.c).
// Thread: RT.
void tac_contact_add_rows(tac_tissue *tissue, tac_contact_sheet *sheet, const tac_contact_new *points,
			  int32_t count);

// The tool covers this part of the row's disc (rows.c).
// Thread: RT.
void tac_contact_cover(const tac_tissue *tissue, tac_contact_row *row, double cover);

// The last row takes its place. What creeps there goes on elsewhere (creep.c).
// Thread: RT.
void tac_contact_remove_row(tac_tissue *tissue, tac_contact_sheet *sheet, int32_t row);

// Adds a force that creeps on a point that is no row; with no room left the least drops out, and the rows
// forget what it displaces. False: this one is too small. What it displaces is added by the caller (creep.c).
// Thread: RT.
bool tac_contact_creep_elsewhere(tac_tissue *tissue, tac_contact_sheet *sheet, int32_t point,
				 tac_dvec3 creep_N);

// The forces that displace the points of a sheet, with the loads of the last tick, at most
// TAC_TISSUE_FORCES. Returns their number (creep.c).
// Thread: RT.
int32_t tac_contact_pulls(const tac_contact_sheet *sheet, double now, double after, tac_contact_pull *out);

// The forces follow the loads of this tick (creep.c).
// Thread: RT.
void tac_contact_creep(tac_tissue *tissue);

// Finds the displacements of the rows by creep and partner (rows.c).
// Thread: RT.
void tac_contact_begin_rows(tac_tissue *tissue);

// How far a row has closed since its first touch, m (rows.c).
// Thread: RT.
double tac_contact_closed_m(const tac_tissue *tissue, const tac_contact_row *row);

// The displacements of the rows by their loads (rows.c).
// Thread: RT.
void tac_contact_displace_rows(tac_tissue *tissue);

// Solves the problem with the rows linear about a pose (rows.c). `held`: the tool stays there. *out_aim is
// the pose that the tissue's loads alone would give. Returns the pose of the balance.
// Thread: RT.
tac_dpose tac_tissue_balance(tac_tissue *tissue, tac_dpose T_body_tool, bool held, tac_dpose *out_aim);

// The wrench on the tool of all rows and of the first `walls` walls (rows.c).
// Thread: RT.
tac_wrench tac_contact_wrench(const tac_tissue *tissue, int32_t walls);

#ifdef __cplusplus
}
#endif

#endif
