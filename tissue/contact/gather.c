#include "tissue/contact/contact_state.h"

#include <math.h>

// One that is a row stays one up to this part of the spacing, so that it does not come and go.
#define STAY_MARGIN 0.1
// A point of which an edge covers less than this does not count for the choice of the level.
#define SLIGHT_COVER 0.05
// A tool that does not press goes on to a finer level if its points would fill less than this part of the
// rows.
#define FINER_SHARE 0.5
#define FINER_RATIO 4
// The rows that a level which joins another one gets in a tick: each reads its blocks from cold memory.
#define JOINING_ROWS 8
// How long a point that was free need not be looked at, ticks, and how far the surface may rise in each, m.
#define FREE_TICKS  32
#define FREE_RISE_M 5e-6

// A point that should be a row.
typedef struct wanted_point {
	int32_t point;
	double rank_m; // the smallest are rows
	double load_N;
	double cover;
	tac_dvec3 moved_m;
} wanted_point;

typedef struct gathering {
	tac_tissue *tissue;
	tac_contact_sheet *sheet;
	tac_contact_place place;
	double margin_m, stay_m;
	double near_m;  // no point further away from the tool has a gap within margin_m
	double ahead_m; // how far the tool goes in this tick
	wanted_point wanted[TAC_TISSUE_ROWS];
	int32_t wanted_count;
	bool summed; // the tissue's sums are those of this sheet's forces
} gathering;

// Where the rows do not fit, the points with the least part in the contact drop out: those that an edge
// hardly covers, then by the gap, and the load in metres of the point's own displacement.
static void want(gathering *g, int32_t point, tac_tool_gap gap, double load_N, tac_dvec3 moved_m)
{
	const tac_mat3 own = tac_compliance_block(g->tissue->def.compliance, point, point);
	const bool hardly = gap.cover < SLIGHT_COVER;
	const double rank = gap.gap_m - load_N * (double)own.m[2][2] +
			    (hardly ? g->tissue->def.compliance->spacing_m[g->sheet->level] : 0);
	const wanted_point w = {point, rank, load_N, gap.cover, moved_m};
	g->sheet->in_reach += !hardly && (gap.gap_m <= g->margin_m || load_N > 0);
	if (g->wanted_count < TAC_TISSUE_ROWS) {
		g->wanted[g->wanted_count++] = w;
		return;
	}
	int32_t worst = 0;
	for (int32_t k = 1; k < g->wanted_count; k++)
		worst = g->wanted[k].rank_m > g->wanted[worst].rank_m ? k : worst;
	if (w.rank_m < g->wanted[worst].rank_m)
		g->wanted[worst] = w;
}

// Whether a point that was free a few ticks ago still is: neither the tool nor the surface that it presses
// moves further than the tool has travelled, and creep lets the surface rise slowly. Most points in reach are
// told so, without a sum over all loads.
static bool stays_free(const gathering *g, int32_t point)
{
	const tac_tissue *t = g->tissue;
	const tac_contact_free *f = &t->free[point];
	const int64_t ticks = t->ticks - f->tick;
	return f->gap_m > 0 && ticks < FREE_TICKS && !t->input.partner &&
	       f->gap_m - 2 * (t->travelled_m + g->ahead_m - f->travelled_m) - FREE_RISE_M * (double)ticks >
		       g->margin_m;
}

static tac_tool_gap gap_of(const gathering *g, int32_t point, tac_dvec3 moved_m)
{
	return tac_tissue_gap(g->tissue, point, moved_m, &g->place);
}

// A row stays or goes by its gap of the last tick. How much of it an edge of the tool covers changes with
// every motion.
static void consider_row(gathering *g, const tac_contact_row *r)
{
	tac_tool_gap gap = {.gap_m = r->gap_m, .cover = r->cover};
	if (g->tissue->def.tool.field)
		gap = gap_of(g, r->point, r->moved_m);
	if (gap.gap_m <= g->stay_m || r->line.load_N > 0)
		want(g, r->point, gap, r->line.load_N, r->moved_m);
	else
		g->tissue->free[r->point] =
			(tac_contact_free){gap.gap_m, g->tissue->travelled_m, g->tissue->ticks};
}

// Of a point that is no row, by the forces of the last tick.
static tac_dvec3 displacement(gathering *g, int32_t point)
{
	tac_tissue *t = g->tissue;
	if (!g->summed) {
		tac_contact_pull pulls[TAC_TISSUE_FORCES];
		const int32_t count = tac_contact_pulls(g->sheet, t->now, t->after, pulls);
		tac_compliance_sums_begin(&t->sums, t->def.compliance, pulls, count);
		g->summed = true;
	}
	const tac_dvec3 u = tac_compliance_sums_at(&t->sums, point);
	return t->beside_count > 0 ? tac_dvec3_add(u, tac_compliance_sums_at(&t->beside_sums, point)) : u;
}

static void consider_point(gathering *g, int32_t point)
{
	tac_tissue *t = g->tissue;
	const double load = tac_dvec3_length(t->brought[point].load_N);
	// Points move away from the tool, so one that is free at rest is free. Most are told by the distance
	// of a round tool alone.
	if (!t->def.tool.field && tac_tool_distance_m(&g->place.round, t->spreads[point].mean_m) > g->near_m)
		return;
	if (stays_free(g, point) || gap_of(g, point, tac_dvec3_zero()).gap_m > g->margin_m)
		return;
	const tac_dvec3 moved = displacement(g, point);
	const tac_tool_gap gap = gap_of(g, point, moved);
	if (gap.gap_m <= g->margin_m || load > 0)
		want(g, point, gap, load, moved);
	else
		t->free[point] = (tac_contact_free){gap.gap_m, t->travelled_m, t->ticks};
}

// Where the rows of another sheet have moved a point to: the mean over its nodes, or over the points that own
// a node, as far as they are rows.
static tac_dvec3 mean_displacement(const tac_tissue *t, int32_t point, const tac_contact_sheet *of)
{
	const tac_compliance *c = t->def.compliance;
	tac_dvec3 sum = tac_dvec3_zero();
	double weight = 0;
	for (int32_t k = c->spread_start[point]; k < c->spread_start[point + 1]; k++) {
		const int32_t node = c->spread_node[k];
		const int32_t from = of->level > 0 ? t->owner_start[node] : 0;
		const int32_t to = of->level > 0 ? t->owner_start[node + 1] : 1;
		for (int32_t m = from; m < to; m++) {
			const int32_t other = of->level > 0 ? t->owner[m] : node;
			const int32_t row = t->slot[other] - 1;
			const double part =
				(double)c->spread_weight[k] * (of->level > 0 ? (double)t->owner_part[m] : 1);
			if (row < 0 || t->spreads[other].disc.level != of->level)
				continue;
			weight += part;
			sum = tac_dvec3_add_scaled(sum, part, of->rows[row].moved_m);
		}
	}
	return weight > 0 ? tac_dvec3_scale(sum, 1 / weight) : sum;
}

// The first rows of a sheet that joins another one: the points to which that one has brought a load.
static void take_over(gathering *g, const tac_contact_sheet *from)
{
	tac_tissue *t = g->tissue;
	const int32_t *start = t->def.compliance->level_start;
	for (int32_t i = 0; i < g->sheet->count; i++)
		consider_row(g, &g->sheet->rows[i]);
	for (int32_t i = 0; i < t->touched_count; i++) {
		const int32_t point = t->touched[i];
		const double load = tac_dvec3_length(t->brought[point].load_N);
		if (!(load > 0) || t->slot[point] > 0 || point < start[g->sheet->level] ||
		    point >= start[g->sheet->level + 1])
			continue;
		const tac_dvec3 moved = mean_displacement(t, point, from);
		want(g, point, gap_of(g, point, moved), load, moved);
	}
}

// Rows that are no longer wanted go, then new ones come.
static void replace_rows(gathering *g)
{
	tac_tissue *t = g->tissue;
	tac_contact_sheet *s = g->sheet;
	t->gathering++;
	for (int32_t k = 0; k < g->wanted_count; k++)
		t->seen[g->wanted[k].point] = t->gathering;
	for (int32_t i = s->count - 1; i >= 0; i--) {
		if (t->seen[s->rows[i].point] != t->gathering)
			tac_contact_remove_row(t, s, i);
	}
	tac_contact_new new[TAC_TISSUE_ROWS];
	int32_t new_rows = 0;
	for (int32_t k = 0; k < g->wanted_count; k++) {
		const wanted_point *w = &g->wanted[k];
		if (t->slot[w->point] == 0)
			new[new_rows++] = (tac_contact_new){w->point, w->load_N, w->moved_m};
	}
	s->joined = s != t->joining || new_rows <= JOINING_ROWS;
	tac_contact_add_rows(t, s, new, s->joined ? new_rows : JOINING_ROWS);
	for (int32_t k = 0; k < g->wanted_count; k++) {
		const int32_t row = t->slot[g->wanted[k].point] - 1;
		if (row >= 0)
			tac_contact_cover(t, &s->rows[row], g->wanted[k].cover);
	}
}

static void gather_sheet(gathering *g, tac_contact_sheet *sheet, double travel_m)
{
	tac_tissue *t = g->tissue;
	const tac_nearby *near = &t->nearby[sheet->level];
	const double spacing = t->def.compliance->spacing_m[sheet->level];
	g->sheet = sheet;
	g->margin_m = travel_m + CONTACT_MARGIN * spacing;
	g->stay_m = travel_m + STAY_MARGIN * spacing;
	g->near_m = g->margin_m;
	if (sheet->level > 0 && !t->def.tool.field) // a gap is less by early_m, which is less than this
		g->near_m += spacing * spacing / t->def.tool.radius_m;
	g->wanted_count = sheet->in_reach = 0;
	if (sheet == t->joining) {
		take_over(g, t->sheets[0]);
		replace_rows(g);
		return;
	}
	g->summed = false;
	for (int32_t i = 0; i < sheet->count; i++)
		consider_row(g, &sheet->rows[i]);
	tac_dvec3 low, high;
	tac_tool_box(&t->def.tool, g->place.T_body_tool, &low, &high);
	// An edge covers a part of points that are not below the tool themselves.
	const tac_dvec3 margin = tac_dvec3_splat(g->near_m + (t->def.tool.half_m > 0 ? spacing : 0));
	const int32_t count = tac_nearby_in_box(near, tac_dvec3_sub(low, margin), tac_dvec3_add(high, margin),
						TAC_TISSUE_EXAMINED, t->found);
	for (int32_t k = 0; k < count; k++) {
		if (t->slot[t->found[k]] == 0)
			consider_point(g, t->found[k]);
	}
	replace_rows(g);
}

// The level of a tool that does not press.
static bool other_level(tac_tissue *t)
{
	const tac_contact_sheet *s = t->sheets[0];
	if (tac_tissue_loaded(t) || t->sheet_count > 1)
		return false;
	if (s->in_reach > TAC_TISSUE_ROWS && tac_tissue_has_level(t, s->level + 1)) {
		tac_tissue_change_level(t, s->level + 1);
		return true;
	}
	return false;
}

void tac_tissue_gather(tac_tissue *tissue, tac_dpose T_body_tool, double travel_m)
{
	tac_tissue *t = tissue;
	gathering g;
	g.tissue = t;
	g.place = tac_contact_place_of(t, T_body_tool);
	g.ahead_m = tac_tissue_travel(t, t->input.T_body_tool, T_body_tool);
	if (!tac_tissue_loaded(t) && t->sheets[0]->level > 0 &&
	    FINER_RATIO * t->sheets[0]->in_reach < FINER_SHARE * TAC_TISSUE_ROWS)
		tac_tissue_change_level(t, t->sheets[0]->level - 1);
	do {
		for (int32_t k = 0; k < t->sheet_count; k++)
			gather_sheet(&g, t->sheets[k], travel_m);
	} while (other_level(t));
	if (t->joining && t->joining_tick < t->ticks)
		gather_sheet(&g, t->joining, travel_m);
	const tac_contact_sheet *last = t->sheets[t->sheet_count - 1];
	if (last->in_reach > TAC_TISSUE_ROWS && !tac_tissue_has_level(t, last->level + 1))
		t->state.flags |= TAC_TISSUE_LEFT_OUT;
	tac_contact_begin_rows(t);
}
