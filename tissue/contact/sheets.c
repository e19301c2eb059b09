// Levels of points. A contact with more points than rows is computed on the next level. Between them the
// share of the coarser level grows with the size of the contact, so that neither the force nor its slope
// steps.
#include "tissue/contact/contact_state.h"

#include <math.h>

// The rows of the finer level from which the coarser one has a share, and from which it has all.
#define SHARE_BEGIN 48.0
#define SHARE_END   62.0
// A level comes before it has a share, and goes again this many rows later.
#define SHARE_APART 3.0
// A smaller share is none.
#define SHARE_LEAST 1e-3
// A share changes by at most this in a tick, or by the tool's travel in spacings.
#define SHARE_STEP 0.01
// A finer level without a share is kept up to so many points in reach, so that it does not come and go.
#define DROP_REACH 96
// A finer level that did not fit is tried again at the earliest after so many ticks.
#define FINER_TICKS 20

bool tac_tissue_has_level(const tac_tissue *tissue, int32_t level)
{
	const int32_t *start = tissue->def.compliance->level_start;
	return level >= 0 && level < TAC_COMPLIANCE_LEVELS && start[level + 1] > start[level];
}

void tac_contact_forget_brought(tac_tissue *tissue)
{
	for (int32_t i = 0; i < tissue->touched_count; i++)
		tissue->brought[tissue->touched[i]] = (tac_contact_brought){{0, 0, 0}, {0, 0, 0}};
	tissue->touched_count = 0;
}

static tac_contact_brought *bring_to(tac_tissue *t, int32_t point)
{
	if (t->seen[point] != t->gathering) {
		t->seen[point] = t->gathering;
		t->touched[t->touched_count++] = point;
	}
	return &t->brought[point];
}

static void bring(tac_tissue *t, int32_t point, double part, tac_dvec3 load_N, tac_dvec3 creep_N)
{
	tac_contact_brought *b = bring_to(t, point);
	b->load_N = tac_dvec3_add_scaled(b->load_N, part, load_N);
	b->creep_N = tac_dvec3_add_scaled(b->creep_N, part, creep_N);
}

static void bring_to_nodes(tac_tissue *t, int32_t point, tac_dvec3 load_N, tac_dvec3 creep_N)
{
	const tac_compliance *c = t->def.compliance;
	for (int32_t k = c->spread_start[point]; k < c->spread_start[point + 1]; k++)
		bring(t, c->spread_node[k], (double)c->spread_weight[k], load_N, creep_N);
}

// Gives a new sheet the loads and the creep of another one, by way of the nodes.
static void transfer(tac_tissue *t, const tac_contact_sheet *from, tac_contact_sheet *to)
{
	const int32_t *start = t->def.compliance->level_start;
	t->gathering++;
	tac_contact_forget_brought(t);
	for (int32_t i = 0; i < from->count; i++) {
		const tac_contact_row *r = &from->rows[i];
		bring_to_nodes(t, r->point, tac_dvec3_scale(r->line.normal, r->line.load_N), r->creep_N);
	}
	for (int32_t i = 0; i < from->elsewhere_count; i++)
		bring_to_nodes(t, from->elsewhere[i].point, tac_dvec3_zero(), from->elsewhere[i].force_N);
	const int32_t nodes = t->touched_count;
	for (int32_t i = 0; to->level > 0 && i < nodes; i++) {
		const int32_t node = t->touched[i];
		const tac_contact_brought b = t->brought[node];
		t->brought[node] = (tac_contact_brought){{0, 0, 0}, {0, 0, 0}};
		for (int32_t k = t->owner_start[node]; k < t->owner_start[node + 1]; k++) {
			if (t->owner[k] >= start[to->level] && t->owner[k] < start[to->level + 1])
				bring(t, t->owner[k], (double)t->owner_part[k], b.load_N, b.creep_N);
		}
	}
	// The rows come with the next gathering, and take their loads from what was brought.
	for (int32_t i = 0; i < t->touched_count; i++) {
		if (t->touched[i] >= start[to->level])
			tac_contact_creep_elsewhere(t, to, t->touched[i], t->brought[t->touched[i]].creep_N);
	}
}

// A level takes part when it has all its rows, which come over some ticks.
static void begin_joining(tac_tissue *t, int32_t level)
{
	tac_contact_sheet *new = t->sheets[1];
	tac_contact_clear(t, new);
	new->level = level;
	new->share = SHARE_LEAST;
	new->joined = false;
	transfer(t, t->sheets[0], new);
	t->joining = new;
	t->joining_tick = t->ticks;
	t->state.level_changes++;
}

static void end_joining(tac_tissue *t)
{
	tac_contact_sheet *new = t->joining, *old = t->sheets[0];
	if (new->level < old->level) {
		t->sheets[0] = new;
		t->sheets[1] = old;
	}
	old->share = 1 - new->share;
	t->sheet_count = 2;
	t->joining = NULL;
	tac_contact_forget_brought(t);
}

static void cancel_joining(tac_tissue *t)
{
	if (!t->joining)
		return;
	tac_contact_clear(t, t->joining);
	t->joining = NULL;
	tac_contact_forget_brought(t);
}

// How many rows the finer level would have, for the second moment of the coarser one's loads.
static void compare_sizes(tac_tissue *t)
{
	const tac_contact_sheet *finer = t->sheets[0], *coarser = t->sheets[1];
	if (coarser->moment_m2 > 0 && finer->size > 0 && finer->in_reach <= TAC_TISSUE_ROWS)
		t->rows_per_moment = finer->size / coarser->moment_m2;
}

static void drop_sheet(tac_tissue *t, int32_t index)
{
	tac_contact_sheet *gone = t->sheets[index];
	tac_contact_clear(t, gone);
	t->sheets[0] = t->sheets[1 - index];
	t->sheets[1] = gone;
	t->sheets[0]->share = 1;
	t->sheet_count = 1;
}

void tac_tissue_change_level(tac_tissue *tissue, int32_t level)
{
	tac_tissue *t = tissue;
	cancel_joining(t);
	if (t->sheet_count > 1)
		drop_sheet(t, 1);
	begin_joining(t, level);
	end_joining(t);
	drop_sheet(t, t->sheets[0]->level == level ? 1 : 0);
}

// The rows that the next finer level would have. Before it was compared with this one: the number of its
// points in the place of this level's rows.
static double finer_size(const tac_tissue *t, const tac_contact_sheet *s)
{
	const double *spacing = &t->def.compliance->spacing_m[s->level - 1];
	if (t->rows_per_moment > 0)
		return t->rows_per_moment * s->moment_m2;
	return s->size * spacing[1] * spacing[1] / (spacing[0] * spacing[0]);
}

// The rows of the finer of two levels. If its rows do not fit, it is measured by the other.
static double size_of_both(const tac_tissue *t)
{
	const tac_contact_sheet *finer = t->sheets[0], *coarser = t->sheets[1];
	return finer->in_reach > TAC_TISSUE_ROWS ? fmax(finer->size, finer_size(t, coarser)) : finer->size;
}

// Whether another level should join the only one.
static void find_joining(tac_tissue *t)
{
	const tac_contact_sheet *s = t->sheets[0];
	if (tac_tissue_has_level(t, s->level + 1) && s->size > SHARE_BEGIN - SHARE_APART)
		begin_joining(t, s->level + 1);
	else if (s->level > 0 && t->level_ticks > FINER_TICKS && finer_size(t, s) < SHARE_END - SHARE_APART)
		begin_joining(t, s->level - 1);
}

static void share(tac_tissue *t)
{
	tac_contact_sheet *finer = t->sheets[0], *coarser = t->sheets[1];
	const double size = size_of_both(t);
	const double x = fmin(fmax((size - SHARE_BEGIN) / (SHARE_END - SHARE_BEGIN), 0), 1);
	const double wanted = x * x * (3 - 2 * x), before = coarser->share;
	const double most = fmax(t->last_travel_m / t->def.compliance->spacing_m[finer->level], SHARE_STEP);
	coarser->share = fmin(fmax(wanted, before - most), before + most);
	coarser->share = fmin(fmax(coarser->share, SHARE_LEAST), 1 - SHARE_LEAST);
	finer->share = 1 - coarser->share;
	compare_sizes(t);
	if (finer->in_reach > DROP_REACH && finer->share < 2 * SHARE_LEAST) {
		drop_sheet(t, 0);
		t->level_ticks = 0;
	} else if (size < SHARE_BEGIN - 2 * SHARE_APART && coarser->share < 2 * SHARE_LEAST) {
		drop_sheet(t, 1);
		t->rows_per_moment = 0;
	}
}

void tac_tissue_share_levels(tac_tissue *tissue)
{
	tac_tissue *t = tissue;
	t->level_ticks++;
	if (!tac_tissue_loaded(t)) {
		cancel_joining(t);
		return;
	}
	if (t->joining && t->joining->joined)
		end_joining(t);
	if (t->sheet_count > 1)
		share(t);
	else if (!t->joining)
		find_joining(t);
}
