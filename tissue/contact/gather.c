#include "tissue/contact/contact_state.h"

#include <math.h>

// A point is a row if it is closer to the tool than the tool's travel plus this part of the spacing.
#define MARGIN 0.05
// When the level changes, points move without the tool: as far as there is room, those within this part of
// the spacing beyond the margin are rows, too.
#define SPARE_MARGIN 0.1
// A finer level is tried when its points, four for each of this level, would fill less than this part of the
// rows, and at the earliest after so many ticks.
#define FINER_SHARE 0.7
#define FINER_TICKS 100
#define FINER_RATIO 4
// How long a point that was free need not be looked at, ticks, and how far the surface may rise in each, m.
#define FREE_TICKS  32
#define FREE_RISE_M 5e-6
// The least part of a point's nodes that tells where it is.
#define KNOWN_WEIGHT 0.6

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

typedef struct gathering {
	tac_tissue *tissue;
	tac_dpose T_body_tool, T_tool_body;
	tac_tissue_tool round; // in the body's frame
	double margin_m;
	double spare_m;   // beyond the margin
	double ahead_m;   // how far the tool goes in this tick
	int32_t in_reach; // more than rows, if there are too many
	int32_t rows;
} gathering;

// Whether a point that was free a few ticks ago still is: neither the tool nor the surface that it presses
// moves further than the tool has travelled, and creep lets the surface rise slowly. Most points in reach are
// told so, without a sum over all loads.
static bool stays_free(const gathering *g, int32_t point)
{
	const tac_tissue *t = g->tissue;
	const tac_contact_free *f = &t->free[point];
	const int64_t ticks = t->ticks - f->tick;
	return f->gap_m > 0 && ticks < FREE_TICKS && !t->input.partner && !(g->spare_m > 0) &&
	       f->gap_m - 2 * (t->travelled_m + g->ahead_m - f->travelled_m) - FREE_RISE_M * (double)ticks >
		       g->margin_m;
}

// Where a point is now. The rows are linear about it, so that of the last tick will do; after a change of the
// level, the mean of its nodes as far as they were rows. Otherwise a sum over all loads.
static tac_dvec3 likely_displacement(const tac_tissue *t, int32_t point)
{
	const tac_compliance *c = t->def.compliance;
	if (t->last_slot[point] > 0)
		return t->last_moved_m[t->last_slot[point] - 1];
	tac_dvec3 sum = tac_dvec3_zero();
	double weight = 0;
	for (int32_t k = c->spread_start[point]; point >= c->node_count && k < c->spread_start[point + 1];
	     k++) {
		const int32_t row = t->last_slot[c->spread_node[k]] - 1;
		if (row < 0)
			continue;
		weight += (double)c->spread_weight[k];
		sum = tac_dvec3_add_scaled(sum, (double)c->spread_weight[k], t->last_moved_m[row]);
	}
	return weight > KNOWN_WEIGHT ? tac_dvec3_scale(sum, 1 / weight)
				     : tac_tissue_displacement(c, point, &t->all);
}

static void consider(gathering *g, int32_t point, double load_N)
{
	tac_tissue *t = g->tissue;
	const tac_compliance *c = t->def.compliance;
	const double reach = g->margin_m + g->spare_m;
	if (t->seen[point] == t->gathering)
		return;
	t->seen[point] = t->gathering;
	// Points move away from the tool, so one that is free at rest is free. Most are told by the distance
	// of a round tool alone.
	if (!(load_N > 0) && !t->def.tool.field &&
	    tac_tool_distance_m(&g->round, t->spreads[point].mean_m) > reach)
		return;
	if (!(load_N > 0) &&
	    tac_tissue_gap(t, point, tac_dvec3_zero(), g->T_body_tool, g->T_tool_body).gap_m > reach)
		return;
	if (!(load_N > 0) && stays_free(g, point))
		return;
	tac_contact_row row = {
		.point = point,
		.rest_m = t->spreads[point].mean_m,
		.into = tac_dvec3_neg(tac_dvec3_from_vec3(c->point_normals[point])),
		.load_N = load_N,
	};
	row.moved_m = likely_displacement(t, point);
	row.gap_m = tac_tissue_gap(t, point, row.moved_m, g->T_body_tool, g->T_tool_body).gap_m;
	if (row.gap_m > reach && !(load_N > 0)) {
		t->free[point] = (tac_contact_free){row.gap_m, t->travelled_m, t->ticks};
		return;
	}
	const tac_mat3 own = tac_compliance_block(c, point, point);
	row.rank_m = row.gap_m - load_N * (double)own.m[2][2];
	g->in_reach += row.gap_m <= g->margin_m || load_N > 0;
	insert(t->rows, &g->rows, &row);
}

static bool has_coarser(const tac_tissue *t, int32_t level)
{
	const int32_t *start = t->def.compliance->level_start;
	return level + 1 < TAC_COMPLIANCE_LEVELS && start[level + 2] > start[level + 1];
}

static void gather_level(gathering *g, int32_t level)
{
	tac_tissue *t = g->tissue;
	const tac_nearby *near = &t->nearby[level];
	g->margin_m += MARGIN * t->def.compliance->spacing_m[level];
	g->spare_m = tac_tissue_loaded(t) && level != t->last_level
			     ? SPARE_MARGIN * t->def.compliance->spacing_m[level]
			     : 0;
	g->in_reach = g->rows = 0;
	t->gathering++;
	for (int32_t k = 0; k < t->memory_count; k++) {
		const tac_tissue_memory *m = &t->memory[k];
		if (m->along_N > 0 && m->point >= near->first && m->point < near->first + near->count)
			consider(g, m->point, m->along_N);
	}
	tac_dvec3 low, high;
	tac_tool_box(&t->def.tool, g->T_body_tool, &low, &high);
	const tac_dvec3 margin = tac_dvec3_splat(g->margin_m + g->spare_m);
	const int32_t count = tac_nearby_in_box(near, tac_dvec3_sub(low, margin), tac_dvec3_add(high, margin),
						TAC_TISSUE_EXAMINED, t->found);
	// Too many for this level: the next one will do.
	const int32_t most = has_coarser(t, level) ? TAC_TISSUE_ROWS : INT32_MAX;
	for (int32_t k = 0; k < count && g->in_reach <= most; k++)
		consider(g, t->found[k], 0);
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
	gathering g = {
		.tissue = t, .T_body_tool = T_body_tool, .T_tool_body = tac_dpose_inverse(T_body_tool)};
	g.ahead_m = tac_tissue_travel(t, t->input.T_body_tool, T_body_tool);
	g.round = t->def.tool;
	g.round.a = tac_dpose_apply_point(T_body_tool, g.round.a);
	g.round.b = tac_dpose_apply_point(T_body_tool, g.round.b);
	for (int32_t i = 0; i < t->point_count; i++)
		t->slot[t->rows[i].point] = 0;
	for (;;) {
		g.margin_m = travel_m;
		gather_level(&g, t->state.level);
		if (g.in_reach <= TAC_TISSUE_ROWS || !has_coarser(t, t->state.level))
			break;
		change_level(t, t->state.level + 1);
	}
	t->rows_level = t->state.level;
	t->level_ticks++;
	if (t->state.level > 0 && t->level_ticks > FINER_TICKS &&
	    FINER_RATIO * g.in_reach < FINER_SHARE * TAC_TISSUE_ROWS)
		change_level(t, t->state.level - 1); // from the next tick on
	if (g.in_reach > TAC_TISSUE_ROWS)
		t->state.flags |= TAC_TISSUE_LEFT_OUT;
	t->point_count = t->tissue_count = t->row_count = g.rows;
	sort_by_point(t->rows, g.rows);
	for (int32_t i = 0; i < t->point_count; i++)
		t->slot[t->rows[i].point] = i + 1;
	tac_tissue_begin_rows(t);
}
