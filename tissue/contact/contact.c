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
// A smaller force that follows a load is forgotten, N.
#define CREEP_MIN_N 1e-7
// From this part of its largest depth on the tool is stopped there.
#define STOP_SHARE 0.3
// A point further inside the tool than this, m, is solved for again, at most so often.
#define INSIDE_M 5e-7
#define AGAIN    3
// What is carried over a change of the level falls by at most this part of the coupling's stiffness times the
// tool's travel, and is at most this part of the load. A tool that is held has this stiffness, N/m.
#define RELEASE_SHARE  5e-4
#define CARRIED_SHARE  0.1
#define HELD_STIFFNESS 1000
// Solutions with the new level's points where the tool was.
#define CARRY_PASSES 3
// A tool has to be this many spacings large.
#define FINEST_SPACINGS 1.5

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
	}
}

static void select_kernels(tac_tissue *t)
{
	static tac_contact_project_fn *const project[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_contact_project);
	static tac_contact_displace_fn *const displace[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_contact_displace);
	const tac_simd simd = tac_simd_select();
	t->project = project[simd];
	t->displace = displace[simd];
	tac_pivot_init(&t->pivot);
}

tac_result tac_tissue_create(const tac_tissue_def *def, tac_tissue **out_tissue)
{
	*out_tissue = NULL;
	const char *expected = expectation_not_met(def);
	if (expected) {
		tac_log(TAC_LOG_ERROR, "tissue: %s: expected %s", def->name ? def->name : "a body", expected);
		return TAC_ERROR_ARGUMENT;
	}
	tac_tissue *t = calloc(1, sizeof *t);
	const size_t points = (size_t)tac_compliance_point_count(def->compliance);
	if (t) {
		t->def = *def;
		t->stride_m = tac_tool_stride_m(&def->tool);
		t->seen = calloc(points, sizeof *t->seen);
		t->spreads = calloc(points, sizeof *t->spreads);
		t->free = calloc(points, sizeof *t->free);
		t->slot = calloc(points, sizeof *t->slot);
		t->last_slot = calloc(points, sizeof *t->last_slot);
		t->remembered = calloc(points, sizeof *t->remembered);
		t->found = calloc(TAC_TISSUE_EXAMINED, sizeof *t->found);
		t->state.smallest_gap_m = HUGE_VAL;
	}
	if (!t || !t->seen || !t->spreads || !t->free || !t->slot || !t->last_slot || !t->remembered ||
	    !t->found) {
		tac_log(TAC_LOG_ERROR, "tissue: no memory");
		tac_tissue_destroy(&t);
		return TAC_ERROR_MEMORY;
	}
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
	free(t->last_slot);
	free(t->remembered);
	free(t->found);
	free(t);
	*tissue = NULL;
}

void tac_tissue_reset(tac_tissue *tissue)
{
	tac_tissue *t = tissue;
	const tac_tissue_state before = t->state;
	for (int32_t i = 0; i < t->point_count; i++)
		t->slot[t->rows[i].point] = 0;
	for (int32_t i = 0; i < t->memory_count; i++)
		t->remembered[t->memory[i].point] = 0;
	for (int32_t i = 0; i < t->last_count; i++)
		t->last_slot[t->last_point[i]] = 0;
	t->last_count = 0;
	t->memory_count = t->row_count = t->tissue_count = t->point_count = 0;
	t->started = false;
	t->ticks += INT32_MAX; // what was free is no longer known
	t->level_ticks = 0;
	t->carried = t->last = (tac_wrench){tac_dvec3_zero(), tac_dvec3_zero()};
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

static void add_pull(tac_tissue_pulls *pulls, int32_t point, tac_dvec3 force_N)
{
	if (tac_dvec3_length_squared(force_N) > 0)
		pulls->of[pulls->count++] = (tac_tissue_pull){point, force_N};
}

// By implicit Euler, q follows f: q' = (q + r f) / (1 + r) with r the elapsed part of the time constant. So
// f + creep q' has a share of this tick's f, and one of the last q.
static void begin_tick(tac_tissue *t, double elapsed_s, const tac_tissue *partner)
{
	const tac_compliance_material *m = &t->def.compliance->material;
	const double r = m->creep > 0 ? elapsed_s / m->creep_time_s : 0;
	t->now = 1 + m->creep * r / (1 + r);
	t->after = m->creep / (1 + r);
	t->before.count = t->all.count = 0;
	for (int32_t i = 0; i < t->memory_count; i++) {
		const tac_tissue_memory *e = &t->memory[i];
		const tac_dvec3 rest = tac_dvec3_scale(e->creep_N, t->after);
		add_pull(&t->before, e->point, rest);
		add_pull(&t->all, e->point, tac_dvec3_add_scaled(rest, t->now, e->load_N));
	}
	for (int32_t i = 0; partner && i < partner->memory_count; i++) {
		const tac_tissue_memory *e = &partner->memory[i];
		const tac_dvec3 force = tac_dvec3_add_scaled(e->load_N, m->creep, e->creep_N);
		add_pull(&t->before, e->point, force);
		add_pull(&t->all, e->point, force);
	}
	t->state.flags = 0;
	t->state.factorisations = 0;
}

static const tac_tissue_memory *remembered(const tac_tissue *t, int32_t point)
{
	const int32_t i = t->remembered[point] - 1;
	return i >= 0 ? &t->memory[i] : NULL;
}

// Inserts by falling creep; the least drops out.
static void keep_creep(tac_tissue_memory *kept, int32_t *count, const tac_tissue_memory *e)
{
	const double size = tac_dvec3_length_squared(e->creep_N);
	if (size < CREEP_MIN_N * CREEP_MIN_N)
		return;
	int32_t at = *count;
	if (at == TAC_TISSUE_CREEPING) {
		if (!(size > tac_dvec3_length_squared(kept[at - 1].creep_N)))
			return;
		at--;
	} else {
		(*count)++;
	}
	for (; at > 0 && size > tac_dvec3_length_squared(kept[at - 1].creep_N); at--)
		kept[at] = kept[at - 1];
	kept[at] = *e;
}

// The loads of this tick and the forces that follow, for the next one.
static void remember(tac_tissue *t)
{
	const tac_compliance_material *m = &t->def.compliance->material;
	const double r = m->creep > 0 ? t->input.elapsed_s / m->creep_time_s : 0;
	tac_tissue_memory next[TAC_TISSUE_ROWS], kept[TAC_TISSUE_CREEPING];
	int32_t count = 0, creeping = 0;
	t->gathering++;
	for (int32_t i = 0; i < t->point_count; i++) {
		const tac_contact_row *row = &t->rows[i];
		const tac_tissue_memory *old = m->creep > 0 ? remembered(t, row->point) : NULL;
		tac_tissue_memory e = {.point = row->point,
				       .load_N = tac_dvec3_scale(row->normal, row->load_N),
				       .along_N = row->load_N,
				       .creep_N = old ? old->creep_N : tac_dvec3_zero()};
		if (m->creep > 0)
			e.creep_N =
				tac_dvec3_scale(tac_dvec3_add_scaled(e.creep_N, r, e.load_N), 1 / (1 + r));
		t->seen[row->point] = t->gathering;
		if (row->load_N > 0)
			next[count++] = e;
		else
			keep_creep(kept, &creeping, &e);
	}
	for (int32_t i = 0; i < t->memory_count && m->creep > 0; i++) {
		tac_tissue_memory e = t->memory[i];
		if (t->seen[e.point] == t->gathering)
			continue;
		e.load_N = tac_dvec3_zero();
		e.along_N = 0;
		e.creep_N = tac_dvec3_scale(e.creep_N, 1 / (1 + r));
		keep_creep(kept, &creeping, &e);
	}
	for (int32_t i = 0; i < t->memory_count; i++)
		t->remembered[t->memory[i].point] = 0;
	memcpy(t->memory, next, (size_t)count * sizeof *next);
	memcpy(t->memory + count, kept, (size_t)creeping * sizeof *kept);
	t->memory_count = count + creeping;
	for (int32_t i = 0; i < t->memory_count; i++)
		t->remembered[t->memory[i].point] = i + 1;
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

// Where the tool is expected: it follows the device's motion.
static tac_dpose predict(const tac_tissue *t, const tac_tissue_input *in, double allowed)
{
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
	const tac_contact_row *deepest = NULL;
	double depth = STOP_SHARE * most;
	for (int32_t i = 0; i < t->point_count; i++) {
		const tac_contact_row *r = &t->rows[i];
		const double here = tac_dvec3_dot(r->moved_m, r->into);
		if (here > depth) {
			depth = here;
			deepest = r;
		}
	}
	if (!deepest)
		return;
	const tac_dpose T = tac_dpose_inverse(T_body_tool);
	t->rows[t->row_count++] = (tac_contact_row){
		.point = -1,
		.normal = deepest->into,
		.rest_m = tac_dvec3_add_scaled(deepest->rest_m, most, deepest->into),
		.tool_m = tac_tool_support_m(&t->def.tool, tac_dpose_apply_vector(T, deepest->into)),
	};
	t->tissue_count++;
}

static void add_rigid_rows(tac_tissue *t)
{
	const tac_tissue_input *in = &t->input;
	const tac_dpose T = tac_dpose_inverse(in->T_body_tool);
	for (int32_t i = 0; i < in->rigid_count && i < TAC_TISSUE_RIGID; i++) {
		const tac_tissue_rigid *r = &in->rigid[i];
		t->rows[t->row_count++] = (tac_contact_row){
			.point = -1,
			.normal = r->normal,
			.rest_m = tac_dvec3_add_scaled(r->point_m, r->gap_m, r->normal),
			.tool_m = tac_dpose_apply_point(T, r->point_m),
		};
	}
}

// ---- changes of the level ----

// Of the first `count` rows, with what is carried.
static tac_wrench wrench_of(const tac_tissue *t, int32_t count)
{
	tac_wrench w = t->carried;
	for (int32_t i = 0; i < count; i++) {
		const tac_contact_row *r = &t->rows[i];
		w.force_N = tac_dvec3_add_scaled(w.force_N, -r->load_N, r->normal);
		w.torque_Nm = tac_dvec3_add_scaled(w.torque_Nm, -r->load_N, r->turn_m);
	}
	return w;
}

static void solve_held(tac_tissue *t, tac_dpose T_body_tool, int passes)
{
	tac_dpose aim;
	for (int pass = 0; pass < passes; pass++) {
		if (pass > 0)
			tac_tissue_displace_rows(t);
		tac_tissue_balance(t, T_body_tool, true, &aim);
	}
}

static double size_carried(const tac_tissue *t)
{
	return tac_dvec3_length(t->carried.force_N) +
	       tac_dvec3_length(t->carried.torque_Nm) / tac_tool_radius_m(&t->def.tool);
}

static void limit_carried(tac_tissue *t, double most_N)
{
	const double size = size_carried(t);
	const double factor = size > 0 ? fmin(fmax(most_N / size, 0), 1) : 0;
	t->carried = (tac_wrench){tac_dvec3_scale(t->carried.force_N, factor),
				  tac_dvec3_scale(t->carried.torque_Nm, factor)};
}

// What is carried falls as the tool moves, slowly enough that the slope of the force keeps its bounds, and is
// gone with the load.
static void release(tac_tissue *t, double travel_m)
{
	limit_carried(t, fmin(size_carried(t) - RELEASE_SHARE * t->input.stiffness_N_per_m * travel_m,
			      CARRIED_SHARE * t->state.load_N));
}

// Two levels differ by some hundredths in their force. What the new one lacks where the tool was in the last
// tick is carried on as a wrench on the tool, so that the force does not step.
static void carry_over(tac_tissue *t)
{
	solve_held(t, t->T_last, CARRY_PASSES);
	tac_tissue_displace_rows(t);
	t->carried = (tac_wrench){tac_dvec3_zero(), tac_dvec3_zero()};
	const tac_wrench new = wrench_of(t, t->point_count);
	t->carried = (tac_wrench){tac_dvec3_sub(t->last.force_N, new.force_N),
				  tac_dvec3_sub(t->last.torque_Nm, new.torque_Nm)};
	limit_carried(t, CARRIED_SHARE * t->state.load_N);
	t->last_level = t->rows_level;
}

static void choose_rows(tac_tissue *t, tac_dpose T_body_tool, double travel_m)
{
	tac_tissue_gather(t, T_body_tool, travel_m);
	if (t->rows_level != t->last_level && tac_tissue_loaded(t))
		carry_over(t);
}

static bool any_load(const tac_tissue *t)
{
	for (int32_t i = 0; i < t->point_count; i++) {
		if (t->rows[i].load_N > 0)
			return true;
	}
	return false;
}

// ---- the tick ----

static void hold_at(tac_tissue *t, tac_dpose T_body_tool)
{
	choose_rows(t, T_body_tool, 0);
	solve_held(t, T_body_tool, PASSES);
}

tac_wrench tac_tissue_solve(tac_tissue *tissue, const tac_tissue_input *input, tac_dpose *out_T_body_aim)
{
	tac_tissue *t = tissue;
	TAC_ASSERT(input->stiffness_N_per_m > 0 && input->rigid_count <= TAC_TISSUE_RIGID);
	t->input = *input;
	begin_tick(t, input->elapsed_s, input->partner);
	const double allowed = way_allowed(t, input);
	tac_dpose at = predict(t, input, allowed);
	choose_rows(t, at, TRAVEL_SHARE * fmin(tac_tissue_travel(t, input->T_body_tool, at), t->stride_m));
	add_stop(t, at);
	add_rigid_rows(t);
	for (int pass = 0; pass < PASSES; pass++) {
		if (pass > 0)
			tac_tissue_displace_rows(t);
		at = cut(t, input->T_body_tool, at, allowed);
		at = tac_tissue_balance(t, at, false, out_T_body_aim);
	}
	if (size_carried(t) > 0 && !any_load(t)) { // the tool leaves the tissue
		t->carried = (tac_wrench){tac_dvec3_zero(), tac_dvec3_zero()};
		at = tac_tissue_balance(t, at, false, out_T_body_aim);
	}
	if (tac_tissue_travel(t, input->T_body_tool, at) > allowed) {
		*out_T_body_aim = at = cut(t, input->T_body_tool, at, allowed);
		hold_at(t, at);
		t->state.flags |= TAC_TISSUE_LIMITED;
	}
	for (int32_t i = t->point_count; i < t->tissue_count; i++)
		t->state.flags |= t->rows[i].load_N > 0 ? TAC_TISSUE_STOPPED : 0;
	t->T_balance = at;
	t->T_body_device = input->T_body_device;
	t->started = true;
	return wrench_of(t, t->tissue_count);
}

// ---- the result ----

static void describe_loads(tac_tissue *t)
{
	tac_tissue_state *s = &t->state;
	const tac_compliance *c = t->def.compliance;
	tac_dvec3 sum = tac_dvec3_zero(), centre = tac_dvec3_zero();
	s->load_N = s->depth_m = s->area_m2 = s->radius_m = s->energy_J = 0;
	s->loaded = 0;
	for (int32_t i = 0; i < t->point_count; i++) {
		const tac_contact_row *r = &t->rows[i];
		if (!(r->load_N > 0))
			continue;
		s->loaded++;
		s->load_N += r->load_N;
		s->area_m2 += (double)c->point_area_m2[r->point];
		s->depth_m = fmax(s->depth_m, tac_dvec3_dot(r->moved_m, r->into));
		sum = tac_dvec3_add_scaled(sum, r->load_N, r->normal);
		centre = tac_dvec3_add_scaled(centre, r->load_N, tac_dvec3_add(r->rest_m, r->moved_m));
		for (int32_t j = 0; j < t->point_count; j++)
			s->energy_J += 0.5 * r->load_N * t->elastic[i > j ? i : j][i > j ? j : i] *
				       t->rows[j].load_N;
	}
	s->normal = tac_dvec3_length_squared(sum) > 0 ? tac_dvec3_normalize(sum) : tac_dvec3_zero();
	s->centre_m = s->load_N > 0 ? tac_dvec3_scale(centre, 1 / s->load_N) : tac_dvec3_zero();
	for (int32_t i = 0; i < t->point_count; i++) {
		const tac_contact_row *r = &t->rows[i];
		const tac_dvec3 from = tac_dvec3_sub(tac_dvec3_add(r->rest_m, r->moved_m), s->centre_m);
		s->radius_m += r->load_N > 0 ? r->load_N / s->load_N * tac_dvec3_length(from) : 0;
	}
	// What the branch that creeps holds, at the rows: 1/2 q . creep C q.
	for (int32_t i = 0; i < t->point_count; i++) {
		const tac_tissue_memory *e = remembered(t, t->rows[i].point);
		if (e)
			s->energy_J += 0.5 * fmax(tac_dvec3_dot(e->creep_N, t->rows[i].past_m), 0);
	}
}

static double gap_at(const tac_tissue *t, const tac_contact_row *r, tac_dpose T_tool_body)
{
	return tac_tissue_gap(t, r->point, r->moved_m, t->T_balance, T_tool_body).gap_m;
}

// Where the points of the rows are, for the next tick.
static void keep_places(tac_tissue *t)
{
	for (int32_t i = 0; i < t->last_count; i++)
		t->last_slot[t->last_point[i]] = 0;
	for (int32_t i = 0; i < t->point_count; i++) {
		t->last_point[i] = t->rows[i].point;
		t->last_moved_m[i] = t->rows[i].moved_m;
		t->last_slot[t->last_point[i]] = i + 1;
	}
	t->last_count = t->point_count;
}

static double smallest_gap(const tac_tissue *t)
{
	const tac_dpose T = tac_dpose_inverse(t->T_balance);
	double least = HUGE_VAL;
	for (int32_t i = 0; i < t->point_count; i++)
		least = fmin(least, gap_at(t, &t->rows[i], T));
	return least;
}

// A fast tool needs more passes until its normals rest.
static void settle(tac_tissue *t)
{
	tac_tissue_state *s = &t->state;
	tac_dpose aim;
	for (int again = 0;; again++) {
		tac_tissue_displace_rows(t);
		s->smallest_gap_m = smallest_gap(t);
		if (s->smallest_gap_m >= -INSIDE_M || again == AGAIN || s->flags & TAC_TISSUE_SPENT)
			return;
		t->row_count = t->tissue_count = t->point_count;
		tac_tissue_balance(t, t->T_balance, true, &aim);
	}
}

static tac_wrench finish(tac_tissue *t)
{
	tac_tissue_state *s = &t->state;
	settle(t);
	s->rows = t->point_count;
	describe_loads(t);
	if (s->loaded == 0)
		t->carried = (tac_wrench){tac_dvec3_zero(), tac_dvec3_zero()};
	s->wrench = wrench_of(t, t->tissue_count);
	t->last = wrench_of(t, t->point_count);
	t->last_level = t->rows_level;
	s->spent_ticks += (s->flags & TAC_TISSUE_SPENT) != 0;
	s->left_out_ticks += (s->flags & TAC_TISSUE_LEFT_OUT) != 0;
	s->limited_ticks += (s->flags & TAC_TISSUE_LIMITED) != 0;
	remember(t);
	keep_places(t);
	t->ticks++;
	const double travel = tac_tissue_travel(t, t->input.T_body_tool, t->T_balance);
	t->travelled_m += travel;
	release(t, travel);
	t->T_last = t->T_balance;
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

int32_t tac_tissue_forces(const tac_tissue *tissue, tac_tissue_force out_forces[TAC_TISSUE_FORCES])
{
	const double creep = tissue->def.compliance->material.creep;
	for (int32_t i = 0; i < tissue->memory_count; i++) {
		const tac_tissue_memory *e = &tissue->memory[i];
		out_forces[i] = (tac_tissue_force){
			e->point, tac_vec3_from_dvec3(tac_dvec3_add_scaled(e->load_N, creep, e->creep_N))};
	}
	return tissue->memory_count;
}

bool tac_tissue_row_of(const tac_tissue *tissue, int32_t index, tac_tissue_row *out_row)
{
	if (index < 0 || index >= tissue->point_count)
		return false;
	const tac_contact_row *r = &tissue->rows[index];
	*out_row = (tac_tissue_row){r->point, r->load_N,
				    gap_at(tissue, r, tac_dpose_inverse(tissue->T_balance))};
	return true;
}
