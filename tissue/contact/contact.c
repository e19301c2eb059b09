#include "tissue/contact/contact_state.h"

#include "base/assert.h"
#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Solutions of a tick, each with the normals of the displaced points of the one before.
#define PASSES 2
// A tool that ends closer to its balance than this was not held, m.
#define HELD_M 5e-6
// Rows are searched this part of the tool's travel further: its path is not known yet.
#define TRAVEL_SHARE 0.2
// From this part of its largest depth on the tool is stopped there.
#define STOP_SHARE 0.3
// A point further inside the tool than this, m, is solved for again, at most so often.
#define INSIDE_M 5e-7
#define AGAIN    3
// The stiffness of the coupling of a tool that is held, N/m.
#define HELD_STIFFNESS 1000
// A point whose pressure is less than this part of the mean counts in part for the size of the contact:
// points come and go with small loads.
#define SMALL_PRESSURE 0.5
// And one of which an edge covers less than this.
#define SMALL_COVER 0.5
// A tool has to be this many spacings large.
#define FINEST_SPACINGS 1.5
#define PI              3.14159265358979323846
// The least size of a page.
#define PAGE_BYTES 4096

// ---- set-up ----

static const char *expectation_not_met(const tac_tissue_def *def)
{
	const tac_compliance *c = def->compliance;
	if (!c || c->node_count < 1)
		return "a compliance with nodes";
	if (!def->tool.field && !(def->tool.radius_m > 0 && def->tool.radius_m < HUGE_VAL))
		return "a tool with a radius above 0, or a field";
	if (!tac_dvec3_finite(def->tool.a) || !tac_dvec3_finite(def->tool.b))
		return "a tool with finite coordinates";
	return NULL;
}

static void describe_spreads(tac_tissue *t)
{
	const tac_compliance *c = t->def.compliance;
	for (int32_t i = 0; i < tac_compliance_point_count(c); i++) {
		tac_contact_spread *s = &t->spreads[i];
		for (int32_t k = c->spread_start[i]; k < c->spread_start[i + 1]; k++)
			s->mean_m = tac_dvec3_add_scaled(s->mean_m, (double)c->spread_weight[k],
							 tac_dvec3_from_vec3(c->points[c->spread_node[k]]));
		for (int32_t k = c->spread_start[i]; k < c->spread_start[i + 1]; k++) {
			const tac_dvec3 d =
				tac_dvec3_sub(tac_dvec3_from_vec3(c->points[c->spread_node[k]]), s->mean_m);
			const double products[6] = {d.x * d.x, d.y * d.y, d.z * d.z,
						    d.x * d.y, d.x * d.z, d.y * d.z};
			for (int m = 0; m < 6; m++)
				s->second_m2[m] += (double)c->spread_weight[k] * products[m];
		}
		while (i >= c->level_start[s->disc.level + 1])
			s->disc.level++;
		s->disc.radius_m = i < c->node_count
					   ? sqrt((double)c->point_area_m2[i] / PI)
					   : sqrt(2 * (s->second_m2[0] + s->second_m2[1] + s->second_m2[2]));
	}
}

static void select_kernels(tac_tissue *t)
{
	static tac_contact_couple_fn *const couple[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_contact_couple);
	static tac_contact_project_fn *const project[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_contact_project);
	static tac_contact_displace_fn *const displace[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_contact_displace);
	const tac_simd simd = tac_simd_select();
	t->couple = couple[simd];
	t->project = project[simd];
	t->displace = displace[simd];
	tac_pivot_init(&t->pivot);
}

// The points of levels 1 and 2 to which each node belongs: the spreads the other way round.
static void find_owners(tac_tissue *t)
{
	const tac_compliance *c = t->def.compliance;
	const int32_t first = c->level_start[1], points = tac_compliance_point_count(c);
	for (int32_t k = c->spread_start[first]; k < c->spread_start[points]; k++)
		t->owner_start[c->spread_node[k] + 1]++;
	for (int32_t i = 0; i < c->node_count; i++)
		t->owner_start[i + 1] += t->owner_start[i];
	for (int32_t p = points - 1; p >= first; p--) {
		for (int32_t k = c->spread_start[p]; k < c->spread_start[p + 1]; k++) {
			const int32_t node = c->spread_node[k];
			// Each end moves down to its beginning; afterwards they are shifted back by one
			// place.
			const int32_t at = --t->owner_start[node + 1];
			t->owner[at] = p;
			t->owner_part[at] =
				c->spread_weight[k] * c->point_area_m2[p] / c->point_area_m2[node];
		}
	}
	memmove(t->owner_start, t->owner_start + 1, (size_t)c->node_count * sizeof *t->owner_start);
	t->owner_start[c->node_count] = c->spread_start[points] - c->spread_start[first];
}

// Zeros whose pages are there, whether memory can be locked or not: calloc alone leaves them to the first
// contact.
static void *touched(size_t count, size_t size)
{
	void *memory = calloc(count, size);
	volatile char *bytes = memory;
	for (size_t i = 0; memory && i < count * size; i += PAGE_BYTES)
		bytes[i] = 0;
	if (memory && count * size > 0)
		bytes[count * size - 1] = 0;
	return memory;
}

static bool allocate(tac_tissue *t)
{
	const tac_compliance *c = t->def.compliance;
	const size_t points = (size_t)tac_compliance_point_count(c);
	const size_t owners = (size_t)(c->spread_start[points] - c->spread_start[c->level_start[1]]) + 1;
	t->seen = touched(points, sizeof *t->seen);
	t->spreads = touched(points, sizeof *t->spreads);
	t->free = touched(points, sizeof *t->free);
	t->slot = touched(points, sizeof *t->slot);
	t->crept = touched(points, sizeof *t->crept);
	t->brought = touched(points, sizeof *t->brought);
	t->touched = touched(points, sizeof *t->touched);
	t->owner_start = touched((size_t)c->node_count + 1, sizeof *t->owner_start);
	t->owner = touched(owners, sizeof *t->owner);
	t->owner_part = touched(owners, sizeof *t->owner_part);
	t->found = touched(TAC_TISSUE_EXAMINED, sizeof *t->found);
	return t->seen && t->spreads && t->free && t->slot && t->crept && t->brought && t->touched &&
	       t->owner_start && t->owner && t->owner_part && t->found;
}

// All of the tissue on the finest level.
static void lay_sheets(tac_tissue *t)
{
	for (int32_t k = 0; k < CONTACT_SHEETS; k++)
		t->sheets[k] = &t->storage[k];
	t->sheet_count = 1;
	t->sheets[0]->level = 0;
	t->sheets[0]->share = 1;
}

tac_result tac_tissue_create(const tac_tissue_def *def, tac_tissue **out_tissue)
{
	*out_tissue = NULL;
	const char *expected = expectation_not_met(def);
	if (expected) {
		tac_log(TAC_LOG_ERROR, "tissue: %s: expected %s", def->name ? def->name : "a body", expected);
		return TAC_ERROR_ARGUMENT;
	}
	tac_tissue *t = touched(1, sizeof *t);
	if (t)
		t->def = *def;
	if (!t || !allocate(t)) {
		tac_log(TAC_LOG_ERROR, "tissue: no memory");
		tac_tissue_destroy(&t);
		return TAC_ERROR_MEMORY;
	}
	t->stride_m = tac_tool_stride_m(&def->tool);
	t->state.smallest_gap_m = HUGE_VAL;
	lay_sheets(t);
	find_owners(t);
	describe_spreads(t);
	select_kernels(t);
	tac_result result = TAC_OK;
	for (int32_t level = 0; level < TAC_COMPLIANCE_LEVELS && result >= TAC_OK; level++)
		result = tac_nearby_init(&t->nearby[level], def->compliance, level);
	if (result < TAC_OK)
		tac_tissue_destroy(&t);
	*out_tissue = t;
	return result;
}

void tac_tissue_destroy(tac_tissue **tissue)
{
	tac_tissue *t = *tissue;
	if (!t)
		return;
	for (int32_t level = 0; level < TAC_COMPLIANCE_LEVELS; level++)
		tac_nearby_fini(&t->nearby[level]);
	free(t->seen);
	free(t->spreads);
	free(t->free);
	free(t->slot);
	free(t->crept);
	free(t->brought);
	free(t->touched);
	free(t->owner_start);
	free(t->owner);
	free(t->owner_part);
	free(t->found);
	free(t);
	*tissue = NULL;
}

void tac_tissue_reset(tac_tissue *tissue)
{
	tac_tissue *t = tissue;
	const tac_tissue_state before = t->state;
	for (int32_t k = 0; k < CONTACT_SHEETS; k++)
		tac_contact_clear(t, t->sheets[k]);
	tac_contact_forget_brought(t);
	t->joining = NULL;
	lay_sheets(t);
	t->rows_per_moment = 0;
	t->stop_count = t->wall_count = 0;
	t->started = t->stopped = false;
	t->ticks += INT32_MAX; // what was free is no longer known
	t->state = (tac_tissue_state){.smallest_gap_m = HUGE_VAL,
				      .spent_ticks = before.spent_ticks,
				      .left_out_ticks = before.left_out_ticks,
				      .limited_ticks = before.limited_ticks,
				      .level_changes = before.level_changes};
}

double tac_tissue_finest_tool_m(const tac_compliance *compliance)
{
	return FINEST_SPACINGS * compliance->spacing_m[0];
}

// ---- forces of the past ----

// By implicit Euler, q follows f: q' = (q + r f) / (1 + r) with r the elapsed part of the time constant. So
// f + creep q' has a share of this tick's f, and one of the last q.
static void begin_tick(tac_tissue *t, double elapsed_s, const tac_tissue *partner)
{
	const tac_compliance_material *m = &t->def.compliance->material;
	const double r = m->creep > 0 ? elapsed_s / m->creep_time_s : 0;
	t->now = 1 + m->creep * r / (1 + r);
	t->after = m->creep / (1 + r);
	t->beside_count = 0;
	for (int32_t k = 0; partner && k < partner->sheet_count; k++) {
		tac_contact_pull *out = t->beside + t->beside_count;
		const int32_t count = tac_contact_pulls(partner->sheets[k], 1, m->creep, out);
		for (int32_t i = 0; i < count; i++)
			out[i].force_N = tac_dvec3_scale(out[i].force_N, partner->sheets[k]->share);
		t->beside_count += count;
	}
	if (t->beside_count > 0)
		tac_compliance_sums_begin(&t->beside_sums, t->def.compliance, t->beside, t->beside_count);
	t->state.flags = 0;
	t->state.factorisations = 0;
	t->drag_N = tac_dvec3_zero();
	t->stop_count = t->wall_count = 0;
	tac_tissue_share_levels(t);
}

// ---- the tool's way ----

double tac_tissue_travel(const tac_tissue *tissue, tac_dpose from, tac_dpose to)
{
	const double turn = tac_dquat_angle(tac_dquat_mul(to.rotation, tac_dquat_conjugate(from.rotation)));
	return tac_dvec3_length(tac_dvec3_sub(to.position, from.position)) +
	       (tissue->def.fixed_rotation ? 0 : fabs(turn) * tac_tool_radius_m(&tissue->def.tool));
}

static tac_dpose cut(const tac_tissue *t, tac_dpose from, tac_dpose to, double most)
{
	const double way = tac_tissue_travel(t, from, to);
	return way > most ? tac_dpose_interpolate(from, to, most / way) : to;
}

// How far the tool may go in this tick: no point may pass its middle. A tool in the air may first go to the
// surface.
static double way_allowed(const tac_tissue *t, const tac_tissue_input *in)
{
	const double wanted = tac_tissue_travel(t, in->T_body_tool, in->T_body_device);
	if (tac_tissue_loaded(t) || wanted <= t->stride_m)
		return t->stride_m;
	const tac_compliance *c = t->def.compliance;
	const tac_dpose T = tac_dpose_inverse(in->T_body_tool);
	double least = HUGE_VAL;
	for (int32_t i = 0; i < c->node_count; i++) {
		const tac_dvec3 at = tac_dpose_apply_point(T, tac_dvec3_from_vec3(c->points[i]));
		least = fmin(least, tac_tool_distance_m(&t->def.tool, at));
	}
	return t->stride_m + fmax(least, 0);
}

// Where the tool is expected: it follows the device's motion, unless it has stopped.
static tac_dpose predict(const tac_tissue *t, const tac_tissue_input *in, double allowed)
{
	if (t->stopped)
		return in->T_body_tool;
	if (!tac_tissue_loaded(t) || !t->started)
		return cut(t, in->T_body_tool, in->T_body_device, allowed);
	const tac_dvec3 moved = tac_dvec3_sub(in->T_body_device.position, t->T_body_device.position);
	const tac_dquat turned =
		tac_dquat_mul(in->T_body_device.rotation, tac_dquat_conjugate(t->T_body_device.rotation));
	const tac_dpose to =
		tac_dpose_make(tac_dvec3_add(in->T_body_tool.position, moved),
			       t->def.fixed_rotation ? in->T_body_tool.rotation
						     : tac_dquat_mul(turned, in->T_body_tool.rotation));
	return cut(t, in->T_body_tool, to, allowed);
}

// Linear elasticity ends long before a tool has sunk into the body. A tool that comes near its largest depth
// meets a plane there, opposite to its deepest point.
static void add_stop(tac_tissue *t, tac_dpose T_body_tool)
{
	const double most = tac_tool_depth_m(&t->def.tool);
	const tac_contact_sheet *s = t->sheets[0];
	const tac_contact_row *deepest = NULL;
	double depth = STOP_SHARE * most;
	for (int32_t i = 0; i < s->count; i++) {
		const tac_contact_row *r = &s->rows[i];
		const double here = tac_dvec3_dot(r->moved_m, r->into);
		if (here > depth) {
			depth = here;
			deepest = r;
		}
	}
	if (!deepest)
		return;
	const tac_dpose T = tac_dpose_inverse(T_body_tool);
	t->walls[t->wall_count++] = (tac_contact_wall){
		.rest_m = tac_dvec3_add_scaled(deepest->rest_m, most, deepest->into),
		.tool_m = tac_tool_support_m(&t->def.tool, tac_dpose_apply_vector(T, deepest->into)),
		.line = {.normal = deepest->into},
	};
	t->stop_count = 1;
}

static void add_rigid_rows(tac_tissue *t)
{
	const tac_tissue_input *in = &t->input;
	const tac_dpose T = tac_dpose_inverse(in->T_body_tool);
	for (int32_t i = 0; i < in->rigid_count && i < TAC_TISSUE_RIGID; i++) {
		const tac_tissue_rigid *r = &in->rigid[i];
		t->walls[t->wall_count++] = (tac_contact_wall){
			.rest_m = tac_dvec3_add_scaled(r->point_m, r->gap_m, r->normal),
			.tool_m = tac_dpose_apply_point(T, r->point_m),
			.line = {.normal = r->normal},
		};
	}
}

// ---- the tick ----

static void hold_at(tac_tissue *t, tac_dpose T_body_tool)
{
	tac_dpose aim;
	tac_tissue_gather(t, T_body_tool, 0);
	t->stop_count = t->wall_count = 0;
	for (int pass = 0; pass < PASSES; pass++) {
		if (pass > 0)
			tac_contact_displace_rows(t);
		tac_tissue_balance(t, T_body_tool, true, &aim);
	}
}

tac_wrench tac_tissue_solve(tac_tissue *tissue, const tac_tissue_input *input, tac_dpose *out_T_body_aim)
{
	tac_tissue *t = tissue;
	TAC_ASSERT(input->stiffness_N_per_m > 0 && input->rigid_count <= TAC_TISSUE_RIGID);
	t->input = *input;
	begin_tick(t, input->elapsed_s, input->partner);
	const double allowed = way_allowed(t, input);
	tac_dpose at = predict(t, input, allowed);
	tac_tissue_gather(t, at,
			  TRAVEL_SHARE * fmin(tac_tissue_travel(t, input->T_body_tool, at), t->stride_m));
	add_stop(t, at);
	add_rigid_rows(t);
	for (int pass = 0; pass < PASSES; pass++) {
		if (pass > 0)
			tac_contact_displace_rows(t);
		at = cut(t, input->T_body_tool, at, allowed);
		at = tac_tissue_balance(t, at, false, out_T_body_aim);
	}
	if (tac_tissue_travel(t, input->T_body_tool, at) > allowed) {
		*out_T_body_aim = at = cut(t, input->T_body_tool, at, allowed);
		hold_at(t, at);
		t->state.flags |= TAC_TISSUE_LIMITED;
	}
	if (t->stop_count > 0 && t->walls[0].line.load_N > 0)
		t->state.flags |= TAC_TISSUE_STOPPED;
	t->stopped = (t->state.flags & TAC_TISSUE_STOPPED) != 0;
	t->T_balance = at;
	t->T_body_device = input->T_body_device;
	t->started = true;
	return tac_contact_wrench(t, t->stop_count);
}

// ---- the result ----

// How many rows a sheet needs. A row counts half where neither load nor gap is left, so that the number does
// not step when a point comes into contact.
static void measure_sheet(tac_tissue *t, tac_contact_sheet *s, double load, double area)
{
	const tac_compliance *c = t->def.compliance;
	const double margin = CONTACT_MARGIN * c->spacing_m[s->level];
	tac_dvec3 centre = tac_dvec3_zero();
	s->size = s->moment_m2 = 0;
	for (int32_t i = 0; i < s->count && load > 0; i++) {
		const tac_contact_row *r = &s->rows[i];
		const double usual = SMALL_PRESSURE * load / area * (double)c->point_area_m2[r->point];
		const double part = r->line.load_N > 0 ? 0.5 + 0.5 * fmin(r->line.load_N / usual, 1)
						       : 0.5 * fmax(1 - r->gap_m / margin, 0);
		s->size += part * fmin(r->cover / SMALL_COVER, 1);
		centre = tac_dvec3_add_scaled(centre, r->line.load_N / load, r->rest_m);
	}
	for (int32_t i = 0; i < s->count && load > 0; i++)
		s->moment_m2 += s->rows[i].line.load_N / load *
				tac_dvec3_length_squared(tac_dvec3_sub(s->rows[i].rest_m, centre));
}

// What a sheet adds to the state, by its share.
static void describe_sheet(tac_tissue *t, tac_contact_sheet *s, tac_dvec3 *sum, tac_dvec3 *centre)
{
	tac_tissue_state *state = &t->state;
	const tac_compliance *c = t->def.compliance;
	double load = 0, area = 0;
	for (int32_t i = 0; i < s->count; i++) {
		const tac_contact_row *r = &s->rows[i];
		const double f = r->line.load_N;
		// What the branch that creeps holds, at the rows: 1/2 q . creep C q.
		state->energy_J += s->share * 0.5 * fmax(tac_dvec3_dot(r->creep_N, r->past_m), 0);
		if (!(f > 0))
			continue;
		// What a coarse point has closed by is a spring, too.
		state->energy_J += s->share * 0.5 * tac_contact_closed_m(t, r) *
				   (r->whole && r->early_m > 0 ? r->early_m / r->soft_m_per_N : f);
		load += f;
		area += r->cover * (double)c->point_area_m2[r->point];
		state->loaded++;
		state->depth_m = fmax(state->depth_m, tac_dvec3_dot(r->moved_m, r->into));
		state->energy_J += s->share * 0.5 * f / t->now *
				   tac_dvec3_dot(r->line.normal, tac_dvec3_sub(r->moved_m, r->past_m));
		*sum = tac_dvec3_add_scaled(*sum, s->share * f, r->line.normal);
		*centre = tac_dvec3_add_scaled(*centre, s->share * f, tac_dvec3_add(r->rest_m, r->moved_m));
	}
	state->load_N += s->share * load;
	state->area_m2 += s->share * area;
	state->rows += s->count;
	measure_sheet(t, s, load, area);
}

static void describe_loads(tac_tissue *t)
{
	tac_tissue_state *s = &t->state;
	tac_dvec3 sum = tac_dvec3_zero(), centre = tac_dvec3_zero();
	s->load_N = s->depth_m = s->area_m2 = s->radius_m = s->energy_J = 0;
	s->loaded = s->rows = 0;
	s->level = t->sheets[0]->level;
	for (int32_t k = 0; k < t->sheet_count; k++)
		describe_sheet(t, t->sheets[k], &sum, &centre);
	s->normal = tac_dvec3_length_squared(sum) > 0 ? tac_dvec3_normalize(sum) : tac_dvec3_zero();
	s->centre_m = s->load_N > 0 ? tac_dvec3_scale(centre, 1 / s->load_N) : tac_dvec3_zero();
	for (int32_t k = 0; k < t->sheet_count && s->load_N > 0; k++) {
		for (int32_t i = 0; i < t->sheets[k]->count; i++) {
			const tac_contact_row *r = &t->sheets[k]->rows[i];
			const tac_dvec3 from =
				tac_dvec3_sub(tac_dvec3_add(r->rest_m, r->moved_m), s->centre_m);
			s->radius_m +=
				t->sheets[k]->share * r->line.load_N / s->load_N * tac_dvec3_length(from);
		}
	}
}

static double smallest_gap(tac_tissue *t)
{
	const tac_contact_place place = tac_contact_place_of(t, t->T_balance);
	double least = HUGE_VAL;
	for (int32_t k = 0; k < t->sheet_count; k++) {
		for (int32_t i = 0; i < t->sheets[k]->count; i++) {
			tac_contact_row *r = &t->sheets[k]->rows[i];
			r->gap_m = tac_tissue_gap(t, r->point, r->moved_m, &place).gap_m +
				   tac_contact_closed_m(t, r);
			least = fmin(least, r->gap_m);
		}
	}
	return least;
}

// A fast tool needs more passes until its normals rest.
static void settle(tac_tissue *t)
{
	tac_tissue_state *s = &t->state;
	tac_dpose aim;
	for (int again = 0;; again++) {
		tac_contact_displace_rows(t);
		s->smallest_gap_m = smallest_gap(t);
		if (s->smallest_gap_m >= -INSIDE_M || again == AGAIN || s->flags & TAC_TISSUE_SPENT)
			return;
		tac_tissue_balance(t, t->T_balance, true, &aim);
	}
}

static tac_wrench finish(tac_tissue *t)
{
	tac_tissue_state *s = &t->state;
	settle(t);
	describe_loads(t);
	s->wrench = tac_contact_wrench(t, t->stop_count);
	s->spent_ticks += (s->flags & TAC_TISSUE_SPENT) != 0;
	s->left_out_ticks += (s->flags & TAC_TISSUE_LEFT_OUT) != 0;
	s->limited_ticks += (s->flags & TAC_TISSUE_LIMITED) != 0;
	tac_contact_creep(t);
	t->ticks++;
	t->last_travel_m = tac_tissue_travel(t, t->input.T_body_tool, t->T_balance);
	t->travelled_m += t->last_travel_m;
	return s->wrench;
}

tac_wrench tac_tissue_commit(tac_tissue *tissue, tac_dpose T_body_tool)
{
	tac_tissue *t = tissue;
	if (tac_tissue_travel(t, t->T_balance, T_body_tool) > HELD_M) {
		hold_at(t, T_body_tool);
		t->state.flags |= TAC_TISSUE_HELD;
	}
	t->T_balance = T_body_tool;
	return finish(t);
}

tac_wrench tac_tissue_hold(tac_tissue *tissue, tac_dpose T_body_tool, double elapsed_s)
{
	tac_tissue *t = tissue;
	t->input = (tac_tissue_input){.T_body_tool = t->started ? t->T_balance : T_body_tool,
				      .T_body_device = T_body_tool,
				      .stiffness_N_per_m = HELD_STIFFNESS,
				      .elapsed_s = elapsed_s};
	begin_tick(t, elapsed_s, NULL);
	hold_at(t, T_body_tool);
	t->T_balance = t->T_body_device = T_body_tool;
	t->started = true;
	return finish(t);
}

const tac_tissue_state *tac_tissue_state_of(const tac_tissue *tissue)
{
	return &tissue->state;
}

void tac_tissue_drag(tac_tissue *tissue, tac_dvec3 force_N)
{
	tissue->drag_N = force_N;
}

// The forces on points with a load, or on the others.
static int32_t copy_forces(const tac_tissue *t, bool loaded, tac_tissue_force *out)
{
	tac_contact_pull pulls[TAC_TISSUE_FORCES];
	int32_t count = 0;
	for (int32_t k = 0; k < t->sheet_count; k++) {
		const tac_contact_sheet *s = t->sheets[k];
		const int32_t all = tac_contact_pulls(s, 1, t->def.compliance->material.creep, pulls);
		for (int32_t i = 0; i < all; i++) {
			const int32_t row = t->slot[pulls[i].point] - 1;
			const double load = row >= 0 ? s->rows[row].line.load_N : 0;
			if ((load > 0) != loaded)
				continue;
			const tac_dvec3 force = tac_dvec3_add_scaled(
				pulls[i].force_N, loaded ? load / t->state.load_N : 0, t->drag_N);
			out[count++] = (tac_tissue_force){
				pulls[i].point, tac_vec3_from_dvec3(tac_dvec3_scale(force, s->share))};
		}
	}
	return count;
}

int32_t tac_tissue_forces(const tac_tissue *tissue, tac_tissue_force out_forces[TAC_TISSUE_FORCES])
{
	const int32_t loaded = copy_forces(tissue, true, out_forces);
	return loaded + copy_forces(tissue, false, out_forces + loaded);
}

bool tac_tissue_row_of(const tac_tissue *tissue, int32_t index, tac_tissue_row *out_row)
{
	const tac_tissue *t = tissue;
	int32_t k = 0;
	for (; k < t->sheet_count && index >= t->sheets[k]->count; k++)
		index -= t->sheets[k]->count;
	if (index < 0 || k == t->sheet_count)
		return false;
	const tac_contact_row *r = &t->sheets[k]->rows[index];
	*out_row = (tac_tissue_row){r->point, t->sheets[k]->share * r->line.load_N, r->gap_m};
	return true;
}
