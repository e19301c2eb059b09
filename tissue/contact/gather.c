#include "tissue/contact/contact_state.h"

#include <math.h>

// A point is a row if it is closer to the tool than the tool's travel plus this part of the spacing.
#define MARGIN 0.05
// A finer level is tried when its points, four for each of this level, would fill less than this part of the
// rows, and at the earliest after so many ticks.
#define FINER_SHARE 0.7
#define FINER_TICKS 100
#define FINER_RATIO 4

// Inserts by rising gap, and the load in metres of the point's own displacement: where the rows do not fit,
// the points with the least part in the contact drop out. Equal ones stay in the order of the points.
static void insert(tac_contact_row *rows, int32_t *count, const tac_contact_row *row)
{
	int32_t at = *count;
	if (at == TAC_TISSUE_ROWS) {
		if (!(row->rank_m < rows[at - 1].rank_m))
			return;
		at--;
	} else {
		(*count)++;
	}
	for (; at > 0 && row->rank_m < rows[at - 1].rank_m; at--)
		rows[at] = rows[at - 1];
	rows[at] = *row;
}

// By point, so that the blocks are read in the order of their addresses.
static void sort_by_point(tac_contact_row *rows, int32_t count)
{
	for (int32_t i = 1; i < count; i++) {
		const tac_contact_row row = rows[i];
		int32_t at = i;
		for (; at > 0 && rows[at - 1].point > row.point; at--)
			rows[at] = rows[at - 1];
		rows[at] = row;
	}
}

// A candidate for a row.
typedef struct candidate {
	int32_t point;
	const tac_tissue_memory *memory; // NULL: it bore no load
	bool neighbour;                  // of a loaded point: it may be far from where it rests
} candidate;

typedef struct gathering {
	tac_tissue *tissue;
	tac_dpose T_body_tool, T_tool_body;
	double margin_m;
	int32_t in_reach; // more than rows, if there are too many
	int32_t rows;
} gathering;

static void consider(gathering *g, const candidate *from)
{
	tac_tissue *t = g->tissue;
	const tac_compliance *c = t->def.compliance;
	if (t->seen[from->point] == t->gathering)
		return;
	t->seen[from->point] = t->gathering;
	tac_contact_row row = {
		.point = from->point,
		.rest_m = t->spreads[from->point].mean_m,
		.into = tac_dvec3_neg(tac_dvec3_from_vec3(c->point_normals[from->point])),
		.load_N = from->memory ? from->memory->along_N : 0,
	};
	if (!from->memory && !from->neighbour) {
		// Points move away from the tool, so one that is free at rest is free.
		if (tac_tissue_gap(t, row.point, tac_dvec3_zero(), g->T_body_tool, g->T_tool_body).gap_m >
		    g->margin_m)
			return;
	}
	row.past_m = tac_tissue_displacement(c, row.point, &t->past);
	row.moved_m = tac_tissue_displacement(c, row.point, &t->all);
	row.gap_m = tac_tissue_gap(t, row.point, row.moved_m, g->T_body_tool, g->T_tool_body).gap_m;
	if (row.gap_m > g->margin_m && !(from->memory && from->memory->along_N > 0))
		return;
	const tac_mat3 own = tac_compliance_block(c, row.point, row.point);
	row.rank_m = row.gap_m - row.load_N * (double)own.m[2][2];
	g->in_reach++;
	insert(t->rows, &g->rows, &row);
}

static void gather_level(gathering *g, int32_t level)
{
	tac_tissue *t = g->tissue;
	const tac_nearby *near = &t->nearby[level];
	g->margin_m += MARGIN * t->def.compliance->spacing_m[level];
	g->in_reach = g->rows = 0;
	t->gathering++;
	for (int32_t k = 0; k < t->memory_count; k++) {
		const tac_tissue_memory *m = &t->memory[k];
		if (m->along_N > 0 && m->point >= near->first && m->point < near->first + near->count)
			consider(g, &(candidate){m->point, m, false});
	}
	for (int32_t k = 0; k < t->memory_count; k++) {
		const tac_tissue_memory *m = &t->memory[k];
		if (!(m->along_N > 0) || m->point < near->first || m->point >= near->first + near->count)
			continue;
		const int32_t *others = near->neighbours[m->point - near->first];
		for (int32_t i = 0; i < TAC_NEARBY_NEIGHBOURS && others[i] >= 0; i++)
			consider(g, &(candidate){others[i], NULL, true});
	}
	tac_dvec3 low, high;
	tac_tool_box(&t->def.tool, g->T_body_tool, &low, &high);
	const tac_dvec3 margin = tac_dvec3_splat(g->margin_m);
	const int32_t count = tac_nearby_in_box(near, tac_dvec3_sub(low, margin), tac_dvec3_add(high, margin),
						TAC_TISSUE_EXAMINED, t->found);
	for (int32_t k = 0; k < count; k++)
		consider(g, &(candidate){t->found[k], NULL, false});
}

static void change_level(tac_tissue *t, int32_t level)
{
	t->state.level = level;
	t->state.level_changes++;
	t->level_ticks = 0;
}

void tac_tissue_gather(tac_tissue *tissue, tac_dpose T_body_tool, double travel_m)
{
	tac_tissue *t = tissue;
	const tac_compliance *c = t->def.compliance;
	gathering g = {
		.tissue = t, .T_body_tool = T_body_tool, .T_tool_body = tac_dpose_inverse(T_body_tool)};
	for (;;) {
		g.margin_m = travel_m;
		gather_level(&g, t->state.level);
		const int32_t next = t->state.level + 1;
		if (g.in_reach <= TAC_TISSUE_ROWS || next == TAC_COMPLIANCE_LEVELS ||
		    c->level_start[next + 1] == c->level_start[next])
			break;
		change_level(t, next);
	}
	t->level_ticks++;
	if (t->state.level > 0 && t->level_ticks > FINER_TICKS &&
	    FINER_RATIO * g.in_reach < FINER_SHARE * TAC_TISSUE_ROWS)
		change_level(t, t->state.level - 1); // from the next tick on
	if (g.in_reach > TAC_TISSUE_ROWS)
		t->state.flags |= TAC_TISSUE_LEFT_OUT;
	t->point_count = t->tissue_count = t->row_count = g.rows;
	sort_by_point(t->rows, g.rows);
}
