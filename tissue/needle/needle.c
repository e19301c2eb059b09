#include "tissue/needle.h"

#include "base/log.h"
#include "tissue/needle/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A needle that leans further than this from the normal of the skin does not open it.
#define COSINE_MIN 0.2
// An old hole is found within this many radii of its entry, by a needle within this angle of its direction.
#define FIND_RADII  2.0
#define FIND_COSINE 0.996 // 5 degrees
// A needle that goes forward this far beside its old track cuts a new one.
#define BRANCH_RADII 2.0
#define BRANCH_MIN_M 5e-4
// A rigid needle heads for a point this far ahead of its tip.
#define AHEAD_M 2e-3
// Between points of a track: at least this, and as much as its capacity needs.
#define SPACING_M 2e-3
// Poses that differ by less are equal, m.
#define ROUNDING_M 1e-12

// The device of the last tick, in the frame of the body, for the work of the hand.
typedef struct last_tick {
	tac_dpose T_body_device;
	tac_wrench wrench; // on the device
	double x, axial_N; // along the track
	double viscous_N;
	bool free; // nothing rigid stopped the needle
	// The track turned under the needle: what that added to the coupling's spring, and the force along
	// the track that pays for it in the next tick.
	double turned_J, turned_N;
} last_tick;

// What tac_needle_solve leaves for tac_needle_commit.
typedef struct solution {
	tac_dpose T_world_body, T_body_device, T_world_tool;
	bool pressing;  // the skin is closed
	tac_dvec3 axis; // of the needle on the device
	tac_track_view view;
	tac_dvec3 base; // point of the track at the tip
	double base_s;  // its length
	double x, z, stiffness_N_per_m;
	tac_wrench wrench; // on the device, body's frame
	tac_axial axial;
	tac_axial_tick tick;
	tac_lateral lateral;
} solution;

struct tac_needle {
	tac_needle_def def;
	tac_needle_body bodies[TAC_NEEDLE_BODIES];
	tac_track tracks[TAC_NEEDLE_TRACKS];
	int32_t active;  // track; -1: the needle is in no tissue
	uint64_t begun;  // tracks since the start
	uint32_t hidden; // bodies
	tac_axial axial;
	tac_axial_tick tick; // of the last commit
	double lateral_coupling_J;
	last_tick last;
	tac_dvec3 last_tip[TAC_NEEDLE_BODIES]; // of the device, body's frame
	bool has_last_tip[TAC_NEEDLE_BODIES];
	solution solution;
	tac_needle_state state;
	tac_lateral_part parts[TAC_TRACK_PARTS];
};

// ---- set-up ----

static bool finite_from(double x, double least)
{
	return x >= least && x < 1e30;
}

static bool layer_is_valid(const tac_needle_layer *l)
{
	return l->thickness_m > 0 && finite_from(l->tip_stiffness_N_per_m, 1e-6) &&
	       finite_from(l->tip_stiffening_N_per_m2, 0) && finite_from(l->cutting_N, 0) &&
	       finite_from(l->puncture_N, 0) && finite_from(l->shaft_friction_N_per_m, 0) &&
	       finite_from(l->shaft_stiffness_N_per_m2, 1e-6) &&
	       finite_from(l->shaft_viscosity_N_s_per_m2, 0) &&
	       finite_from(l->lateral_stiffness_N_per_m2, 0) && finite_from(l->relaxation_N_per_m, 0) &&
	       finite_from(l->relaxation_s, l->relaxation_N_per_m > 0 ? 1e-6 : 0) &&
	       finite_from(l->turning, 0);
}

static bool def_is_valid(const tac_needle_def *def)
{
	if (!(def->radius_m > 0) || !(def->length_m > 0) || !finite_from(def->bending_stiffness_Nm2, 0) ||
	    !isfinite(def->curvature_per_m) || def->body_count < 0 || def->body_count > TAC_NEEDLE_BODIES)
		return false;
	for (int32_t i = 0; i < def->body_count; i++) {
		const tac_needle_body *b = &def->bodies[i];
		if (b->layer_count < 1 || b->layer_count > TAC_NEEDLE_LAYERS ||
		    fabs(tac_dvec3_length(b->normal) - 1) > 1e-9)
			return false;
		for (int32_t k = 0; k < b->layer_count; k++) {
			if (!layer_is_valid(&b->layers[k]))
				return false;
		}
	}
	return true;
}

tac_result tac_needle_create(const tac_needle_def *def, tac_needle **out_needle)
{
	*out_needle = NULL;
	if (!def_is_valid(def)) {
		tac_log(TAC_LOG_ERROR,
			"needle: expected a radius and a length above 0, up to %d bodies with 1 to %d "
			"layers, stiffnesses above 0 and limits of 0 or more",
			TAC_NEEDLE_BODIES, TAC_NEEDLE_LAYERS);
		return TAC_ERROR_ARGUMENT;
	}
	tac_needle *n = malloc(sizeof *n);
	if (!n) {
		tac_log(TAC_LOG_ERROR, "needle: no memory");
		return TAC_ERROR_MEMORY;
	}
	memset(n, 0, sizeof *n);
	n->def = *def;
	for (int32_t i = 0; i < def->body_count; i++)
		n->bodies[i] = def->bodies[i];
	n->def.bodies = n->bodies;
	tac_needle_reset(n);
	*out_needle = n;
	return TAC_OK;
}

void tac_needle_destroy(tac_needle **needle)
{
	free(*needle);
	*needle = NULL;
}

void tac_needle_reset(tac_needle *needle)
{
	tac_needle *n = needle;
	for (int32_t i = 0; i < TAC_NEEDLE_TRACKS; i++)
		n->tracks[i].body = -1;
	for (int32_t i = 0; i < TAC_NEEDLE_BODIES; i++)
		n->has_last_tip[i] = false;
	n->active = -1;
	n->begun = 0;
	n->axial = (tac_axial){0};
	n->state = (tac_needle_state){.body = -1, .layer = -1};
}

// ---- energy ----

double tac_needle_stored_J(const tac_needle_energy *energy)
{
	return energy->coupling + energy->tip + energy->shaft + energy->lateral;
}

double tac_needle_dissipated_J(const tac_needle_energy *energy)
{
	return energy->cutting + energy->puncture + energy->friction + energy->viscosity +
	       energy->relaxation + energy->snap + energy->sideways;
}

static void count_dissipation(tac_needle_energy *e, const tac_axial *a)
{
	e->cutting = a->cutting_J;
	e->puncture = a->puncture_J;
	e->friction = a->friction_J;
	e->viscosity = a->viscosity_J;
	e->relaxation = a->relaxation_J;
}

// ---- in and out ----

// What is left in the springs is lost.
static void leave(tac_needle *n)
{
	tac_needle_energy *e = &n->state.energy;
	e->snap += tac_needle_stored_J(e);
	e->coupling = e->tip = e->shaft = e->lateral = 0;
	tac_axial *a = &n->axial;
	*a = (tac_axial){.cutting_J = a->cutting_J,
			 .puncture_J = a->puncture_J,
			 .friction_J = a->friction_J,
			 .viscosity_J = a->viscosity_J,
			 .relaxation_J = a->relaxation_J,
			 .across_J = a->across_J};
	n->lateral_coupling_J = 0;
	n->active = -1;
	n->state.body = n->state.layer = -1;
	n->state.opened = 0;
	n->state.depth_m = n->state.front_m = n->state.tip_N = n->state.shaft_N = n->state.lateral_N = 0;
}

void tac_needle_release(tac_needle *needle)
{
	if (needle->active >= 0)
		leave(needle);
	for (int32_t i = 0; i < TAC_NEEDLE_BODIES; i++)
		needle->has_last_tip[i] = false;
}

void tac_needle_hide(tac_needle *needle, uint32_t bodies)
{
	needle->hidden = bodies;
	if (needle->active >= 0 && bodies >> needle->tracks[needle->active].body & 1u)
		leave(needle);
}

// The track that an entry finds, or the oldest, to begin a new one. One that was not opened counts as none.
static int32_t find_track(const tac_needle *n, int32_t body, tac_dvec3 entry, tac_dvec3 axis, bool *out_old)
{
	int32_t oldest = 0;
	for (int32_t i = 0; i < TAC_NEEDLE_TRACKS; i++) {
		const tac_track *t = &n->tracks[i];
		const bool used = t->body >= 0 && t->opened > 0;
		if (used && t->body == body &&
		    tac_dvec3_length(tac_dvec3_sub(entry, t->points[0])) < FIND_RADII * n->def.radius_m &&
		    tac_dvec3_dot(axis, tac_track_direction(t, 0)) > FIND_COSINE) {
			*out_old = true;
			return i;
		}
		const tac_track *o = &n->tracks[oldest];
		if (o->body >= 0 && o->opened > 0 && (!used || t->age < o->age))
			oldest = i;
	}
	*out_old = false;
	return oldest;
}

static bool inside_box(const tac_needle_body *b, tac_dvec3 p)
{
	const double rounding = 1e-9;
	return p.x >= b->min_m.x - rounding && p.x <= b->max_m.x + rounding && p.y >= b->min_m.y - rounding &&
	       p.y <= b->max_m.y + rounding && p.z >= b->min_m.z - rounding && p.z <= b->max_m.z + rounding;
}

static void enter(tac_needle *n, int32_t body, tac_dpose T_body_device, tac_dvec3 entry, tac_dvec3 axis)
{
	bool old;
	n->active = find_track(n, body, entry, axis, &old);
	tac_track *t = &n->tracks[n->active];
	n->last = (last_tick){.T_body_device = tac_dpose_make(entry, T_body_device.rotation), .free = true};
	n->axial.z = 0;
	if (old) {
		n->axial.front = t->front;
		n->axial.opened = t->opened;
		n->state.insertions++;
	} else {
		t->body = body;
		t->opened = 0;
		t->age = ++n->begun;
		n->axial.front = 0;
		n->axial.opened = 0;
	}
	n->state.body = body;
}

// Looks whether the tip of the device passes the skin of a body.
static void look_for_entry(tac_needle *n, tac_dpose T_world_device, const tac_dpose *T_world_bodies)
{
	for (int32_t i = 0; i < n->def.body_count; i++) {
		if (n->hidden >> i & 1u) {
			n->has_last_tip[i] = false;
			continue;
		}
		const tac_needle_body *b = &n->bodies[i];
		const tac_dpose T = tac_dpose_relative(T_world_bodies[i], T_world_device);
		const tac_dvec3 tip = T.position, before = n->last_tip[i];
		const double depth = tac_track_depth(b, tip);
		const double depth_before = n->has_last_tip[i] ? tac_track_depth(b, before) : depth;
		n->last_tip[i] = tip;
		n->has_last_tip[i] = true;
		if (n->active >= 0 || !(depth > 0) || depth_before > 0)
			continue;
		const tac_dvec3 entry = tac_dvec3_lerp(before, tip, -depth_before / (depth - depth_before));
		if (inside_box(b, entry))
			enter(n, i, T, entry, tac_dquat_rotate(T.rotation, tac_dvec3_make(0, 0, -1)));
	}
}

// ---- solve ----

static double sum_thickness(const tac_needle_body *b, int32_t layer)
{
	double sum = 0;
	for (int32_t i = 0; i < layer; i++)
		sum += b->layers[i].thickness_m;
	return sum;
}

static tac_axial_tick make_tick(const tac_needle_body *b, double elapsed_s)
{
	return (tac_axial_tick){.layers = b->layers, .layer_count = b->layer_count, .elapsed_s = elapsed_s};
}

// The skin is closed: the tip presses on it along its normal.
static void solve_pressing(tac_needle *n, const tac_needle_body *b, const tac_needle_coupling *coupling,
			   double elapsed_s)
{
	solution *s = &n->solution;
	const tac_dvec3 tip = s->T_body_device.position;
	s->tick = make_tick(b, elapsed_s);
	for (int32_t i = 0; i < b->layer_count; i++)
		s->tick.membranes[i] = sum_thickness(b, i);
	s->tick.sealed = -tac_dvec3_dot(b->normal, s->axis) < COSINE_MIN ||
			 !inside_box(b, tac_dvec3_add_scaled(tip, tac_track_depth(b, tip), b->normal));
	s->x = tac_track_depth(b, tip);
	s->lateral = (tac_lateral){0};
	tac_axial_begin(&s->axial, &s->tick);
	tac_axial_balance(&s->axial, &s->tick, s->x, coupling->stiffness_N_per_m);
	s->z = s->axial.z;
	const tac_dvec3 offset = tac_dvec3_scale(b->normal, s->x - s->z);
	s->wrench = (tac_wrench){tac_dvec3_scale(offset, coupling->stiffness_N_per_m), tac_dvec3_zero()};
	s->T_world_tool = tac_dpose_compose(
		s->T_world_body, tac_dpose_make(tac_dvec3_add(tip, offset), s->T_body_device.rotation));
}

static tac_dvec3 across_vector(const solution *s, const double v[2])
{
	return tac_dvec3_add_scaled(tac_dvec3_scale(s->view.across[0], v[0]), v[1], s->view.across[1]);
}

// The springs at the end of the shaft resist insertion by the energy of those that it enters.
static double push_N(const tac_lateral *l, const tac_lateral_part *end)
{
	double sum = 0;
	for (int k = 0; k < 2; k++) {
		const double e = l->tip[k] + l->slope[k] * end->r[1] - end->o[1][k];
		sum += e * e;
	}
	return 0.5 * end->stiffness_N_per_m2 * sum;
}

// Sees the track along its direction at the tip: the energy of the springs along the track then depends on
// the device's position along it alone, and that of the springs across on the rest.
static void look_along(solution *s, const tac_track *t, double z)
{
	tac_track_view *v = &s->view;
	const tac_dvec3 along = tac_track_direction(t, z);
	const double cosine = fmax(tac_dvec3_dot(s->axis, along), COSINE_MIN);
	s->base_s = fmin(fmax(z, 0), t->front);
	s->base = tac_track_point(t, s->base_s);
	v->along = along;
	v->across[0] = tac_dvec3_perpendicular(along);
	v->across[1] = tac_dvec3_cross(along, v->across[0]);
	for (int k = 0; k < 2; k++)
		v->lean[k] = -tac_dvec3_dot(s->axis, v->across[k]) / cosine;
}

// The length along the track that belongs to a point beside it.
static double length_at(const solution *s, tac_dvec3 p)
{
	return s->base_s + tac_dvec3_dot(s->view.along, tac_dvec3_sub(p, s->base));
}

static void solve_lateral(tac_needle *n, const tac_needle_body *b, const tac_track *t,
			  const tac_needle_coupling *coupling)
{
	solution *s = &n->solution;
	const double reach = fmin(n->axial.z, n->axial.front);
	const int32_t parts = tac_track_parts(t, b, reach, &s->view, n->parts);
	const tac_needle_coupling springs = {coupling->stiffness_N_per_m,
					     n->def.fixed_rotation ? 0 : coupling->turn_stiffness_Nm_per_rad};
	if (n->def.bending_stiffness_Nm2 > 0)
		tac_lateral_flexible(n->parts, parts, s->view.lean, n->def.length_m,
				     n->def.bending_stiffness_Nm2, &springs, &s->lateral);
	else
		tac_lateral_rigid(n->parts, parts, s->view.lean, &springs, &s->lateral);
	s->tick.bias_N = s->lateral.along_N;
	s->tick.push_N = (parts > 0 ? push_N(&s->lateral, &n->parts[parts - 1]) : 0) + n->last.turned_N;
}

// The wrench of the coupling on the device, about the tool's origin.
static tac_wrench wrench_on_device(const tac_needle *n, const tac_needle_coupling *coupling)
{
	const solution *s = &n->solution;
	const tac_lateral *l = &s->lateral;
	const tac_dvec3 along = tac_dvec3_scale(s->view.along, coupling->stiffness_N_per_m * (s->z - s->x));
	if (n->def.bending_stiffness_Nm2 > 0) {
		const tac_dvec3 hub = across_vector(s, l->hub_N);
		const tac_dvec3 moment = tac_dvec3_cross(across_vector(s, l->hub_Nm), s->view.along);
		return (tac_wrench){
			tac_dvec3_add(along, hub),
			tac_dvec3_add_scaled(moment, -n->def.length_m, tac_dvec3_cross(s->view.along, hub))};
	}
	const tac_dvec3 turn = tac_dvec3_cross(across_vector(s, l->slope), s->view.along);
	return (tac_wrench){
		tac_dvec3_add_scaled(along, coupling->stiffness_N_per_m, across_vector(s, l->tip)),
		tac_dvec3_scale(turn, coupling->turn_stiffness_Nm_per_rad)};
}

static void solve_in_track(tac_needle *n, const tac_needle_body *b, tac_track *t,
			   const tac_needle_coupling *coupling, double elapsed_s)
{
	solution *s = &n->solution;
	tac_track_expect(t, b);
	s->tick = make_tick(b, elapsed_s);
	memcpy(s->tick.membranes, t->membranes, sizeof s->tick.membranes);
	look_along(s, t, n->axial.z);
	const tac_dvec3 tip = s->T_body_device.position;
	s->x = length_at(s, tip);
	s->view.tip = tac_dvec3_add_scaled(tip, n->axial.z - s->x, s->view.along);
	solve_lateral(n, b, t, coupling);
	const tac_dvec3 beside = tac_dvec3_add(tip, across_vector(s, s->lateral.tip));
	tac_axial_begin(&s->axial, &s->tick);
	tac_axial_balance(&s->axial, &s->tick, s->x, coupling->stiffness_N_per_m);
	s->z = s->axial.z;
	s->wrench = wrench_on_device(n, coupling);
	const tac_dvec3 slope = across_vector(s, s->lateral.slope);
	const tac_dquat turn = n->def.fixed_rotation ? tac_dquat_identity()
						     : tac_dquat_exp(tac_dvec3_cross(slope, s->view.along));
	s->T_world_tool = tac_dpose_compose(
		s->T_world_body, tac_dpose_make(tac_dvec3_add_scaled(beside, s->z - s->x, s->view.along),
						tac_dquat_mul(turn, s->T_body_device.rotation)));
}

tac_wrench tac_needle_solve(tac_needle *needle, tac_dpose T_world_device, const tac_dpose *T_world_bodies,
			    const tac_needle_coupling *coupling, double elapsed_s,
			    tac_dpose *out_T_world_tool)
{
	tac_needle *n = needle;
	look_for_entry(n, T_world_device, T_world_bodies);
	*out_T_world_tool = T_world_device;
	if (n->active < 0)
		return (tac_wrench){tac_dvec3_zero(), tac_dvec3_zero()};
	tac_track *t = &n->tracks[n->active];
	const tac_needle_body *b = &n->bodies[t->body];
	solution *s = &n->solution;
	s->T_world_body = T_world_bodies[t->body];
	s->T_body_device = tac_dpose_relative(s->T_world_body, T_world_device);
	s->axis = tac_dquat_rotate(s->T_body_device.rotation, tac_dvec3_make(0, 0, -1));
	s->stiffness_N_per_m = coupling->stiffness_N_per_m;
	s->axial = n->axial;
	s->pressing = n->axial.opened == 0;
	if (s->pressing)
		solve_pressing(n, b, coupling, elapsed_s);
	else
		solve_in_track(n, b, t, coupling, elapsed_s);
	*out_T_world_tool = s->T_world_tool;
	return (tac_wrench){tac_dquat_rotate(s->T_world_body.rotation, s->wrench.force_N),
			    tac_dquat_rotate(s->T_world_body.rotation, s->wrench.torque_Nm)};
}

// ---- commit ----

static double work_J(const last_tick *last, const solution *s)
{
	const tac_dvec3 dp = tac_dvec3_sub(s->T_body_device.position, last->T_body_device.position);
	const tac_dvec3 turn = tac_dquat_log(
		tac_dquat_mul(s->T_body_device.rotation, tac_dquat_conjugate(last->T_body_device.rotation)));
	return -0.5 * (tac_dvec3_dot(tac_dvec3_add(last->wrench.force_N, s->wrench.force_N), dp) +
		       tac_dvec3_dot(tac_dvec3_add(last->wrench.torque_Nm, s->wrench.torque_Nm), turn));
}

// Enters the tick into the balance. `free`: nothing rigid stopped the needle in this tick or the last, so the
// coupling's wrench is what the tissue resists. Else the hand's work is what the tissue took up.
static void account(tac_needle *n, bool free, double before_z, double across_before, double stored_before,
		    double dissipated_before)
{
	tac_needle_energy *e = &n->state.energy;
	const solution *s = &n->solution;
	const double lateral_before = e->lateral + n->lateral_coupling_J;
	const double coupling_before = e->coupling - n->lateral_coupling_J;
	const double axial_before = e->tip + e->shaft;
	const double axial_N = s->stiffness_N_per_m * (s->x - s->z), dx = s->x - n->last.x,
		     dz = n->axial.z - before_z;
	e->tip = tac_axial_tip_J(&n->axial, &n->tick);
	e->shaft = tac_axial_shaft_J(&n->axial, &n->tick);
	e->lateral = s->lateral.stored_J;
	n->lateral_coupling_J = s->lateral.coupling_J;
	const double coupling_J = 0.5 * axial_N * axial_N / s->stiffness_N_per_m;
	e->coupling = coupling_J + n->lateral_coupling_J;
	count_dissipation(e, &n->axial);
	const double viscous_N = tac_axial_viscous_N(&n->axial, &n->tick);
	if (!free) {
		n->axial.viscosity_J += 0.5 * viscous_N * dz;
		count_dissipation(e, &n->axial);
		e->work += tac_needle_stored_J(e) - stored_before + tac_needle_dissipated_J(e) -
			   dissipated_before;
		return;
	}
	const double work = work_J(&n->last, s), axial_work = 0.5 * (n->last.axial_N + axial_N) * dx;
	const double push_J = n->axial.across_J - across_before + s->tick.bias_N * dz;
	const double absorbed =
		e->tip + e->shaft - axial_before + tac_needle_dissipated_J(e) - dissipated_before;
	double axial_left = axial_work - (coupling_J - coupling_before) - absorbed - push_J;
	// The other half of the viscous force's work, at most what is left where the spring lets go.
	double viscous_J = fmax(0.5 * n->last.viscous_N * dz, 0);
	if (dz > dx)
		viscous_J = fmin(viscous_J, fmax(axial_left, 0));
	n->axial.viscosity_J += viscous_J;
	e->viscosity = n->axial.viscosity_J;
	axial_left -= viscous_J;
	const double lateral_left = work - axial_work + push_J - n->last.turned_J -
				    (e->lateral + n->lateral_coupling_J - lateral_before);
	e->work += work;
	if (axial_left > 0 && dz > dx)
		e->snap += axial_left;
	else
		e->residual += axial_left;
	if (lateral_left > 0 && dz < 0)
		e->sideways += lateral_left;
	else
		e->residual += lateral_left;
}

// The skin has just opened: the track begins where the tip is, so that the tip keeps its distance from the
// front. It begins a little below the skin, which the tip has pressed in.
static void begin_track(tac_needle *n, const tac_needle_body *b, tac_track *t, tac_dvec3 tip)
{
	const solution *s = &n->solution;
	const double cosine = fmax(-tac_dvec3_dot(b->normal, s->axis), COSINE_MIN);
	const double d = n->axial.z - n->axial.front;
	n->axial.front /= cosine;
	n->axial.z = n->axial.front + d;
	tac_track_begin(t, b, tac_dvec3_add_scaled(tip, -n->axial.z, s->axis), s->axis, n->axial.front,
			n->axial.opened);
	n->state.insertions++;
}

static void grow_track(tac_needle *n, const tac_needle_body *b, tac_track *t, tac_dpose T_body_tool)
{
	const tac_axial *a = &n->axial;
	const tac_dvec3 axis = tac_dquat_rotate(T_body_tool.rotation, tac_dvec3_make(0, 0, -1));
	const double spacing = fmax(SPACING_M, n->def.length_m / (TAC_NEEDLE_POINTS - 8));
	const tac_track_growth growth = {
		.towards_m = tac_dvec3_add_scaled(T_body_tool.position, AHEAD_M, axis),
		.rigid = n->def.bending_stiffness_Nm2 <= 0,
		.bevel = tac_dquat_rotate(T_body_tool.rotation, tac_dvec3_make(1, 0, 0)),
		.curvature_per_m =
			n->def.curvature_per_m * b->layers[tac_axial_layer(&n->tick, a->front)].turning,
	};
	tac_track_grow(t, &growth, a->front, spacing);
	memcpy(t->membranes, n->tick.membranes, sizeof t->membranes);
	t->opened = a->opened;
}

// A track that turns changes where the device is along it, and so how far the coupling's spring is
// compressed. The needle's advance pays for that: at once from what the spring has just lost, or by
// resistance in the next tick. What the spring loses is lost.
static void turn_with_track(tac_needle *n, const tac_track *t, double cut_m, double snap_before)
{
	solution *s = &n->solution;
	tac_needle_energy *e = &n->state.energy;
	last_tick *l = &n->last;
	look_along(s, t, n->axial.z);
	const double k = s->stiffness_N_per_m, x = length_at(s, s->T_body_device.position);
	const double force = k * (x - s->z);
	double turned_J = 0.5 * (force * force - l->axial_N * l->axial_N) / k;
	e->coupling += turned_J;
	l->x = x;
	l->axial_N = force;
	if (turned_J <= 0) {
		e->sideways -= turned_J;
		return;
	}
	const double paid = fmin(turned_J, e->snap - snap_before);
	e->snap = fmax(e->snap - paid, snap_before);
	l->turned_J = turned_J - paid;
	l->turned_N = cut_m > 0 ? l->turned_J / cut_m : 0;
}

// A needle that goes forward beside its old track leaves it.
static void branch(tac_needle *n, tac_track *t, tac_dvec3 tip, double dz)
{
	tac_axial *a = &n->axial;
	if (!(dz > 0) || !(a->z > 0) || !(a->z < a->front - SPACING_M) ||
	    tac_track_offset(t, tip) < fmax(BRANCH_RADII * n->def.radius_m, BRANCH_MIN_M))
		return;
	a->front = a->z;
	a->opened = tac_axial_layer(&n->tick, a->z) + 1;
	tac_track_cut_short(t, a->front, a->opened, n->solution.axis);
	n->state.branches++;
}

static void describe(tac_needle *n, tac_dvec3 tip)
{
	tac_needle_state *st = &n->state;
	const tac_lateral *l = &n->solution.lateral;
	const double k = n->solution.stiffness_N_per_m;
	st->opened = n->axial.opened;
	st->depth_m = n->axial.z;
	st->front_m = n->axial.front;
	st->layer = -1;
	if (n->axial.opened > 0 && n->axial.z > 0) { // a front on a closed membrane is still above it
		const int32_t at = tac_axial_layer(&n->tick, fmin(n->axial.z, n->axial.front));
		st->layer = at < n->axial.opened ? at : n->axial.opened - 1;
	}
	st->tip_m = tip;
	st->lateral_N = n->def.bending_stiffness_Nm2 > 0 ? hypot(l->hub_N[0], l->hub_N[1])
							 : k * hypot(l->tip[0], l->tip[1]);
}

void tac_needle_commit(tac_needle *needle, tac_dpose T_world_tool)
{
	tac_needle *n = needle;
	if (n->active < 0)
		return;
	solution *s = &n->solution;
	tac_track *t = &n->tracks[n->active];
	const tac_needle_body *b = &n->bodies[t->body];
	const tac_dpose T_body_tool = tac_dpose_relative(s->T_world_body, T_world_tool);
	const bool free =
		tac_dvec3_length(tac_dvec3_sub(T_world_tool.position, s->T_world_tool.position)) < ROUNDING_M;
	const double snap = n->state.energy.snap, across = n->axial.across_J;
	const double before_z = n->axial.z, stored = tac_needle_stored_J(&n->state.energy),
		     dissipated = tac_needle_dissipated_J(&n->state.energy);
	const int32_t opened = n->axial.opened;
	if (!free) {
		s->axial = n->axial;
		tac_axial_begin(&s->axial, &s->tick);
		tac_axial_move(&s->axial, &s->tick,
			       s->pressing ? tac_track_depth(b, T_body_tool.position)
					   : length_at(s, T_body_tool.position));
	}
	n->state.tip_N = tac_axial_tip_N(&s->axial, &s->tick);
	n->state.shaft_N = tac_axial_shaft_N(&s->axial, &s->tick);
	tac_axial_end(&s->axial, &s->tick);
	n->axial = s->axial;
	n->tick = s->tick;
	n->tick.decay = 1;
	account(n, free && n->last.free, before_z, across, stored, dissipated);
	const double axial_N = s->stiffness_N_per_m * (s->x - s->z);
	n->last = (last_tick){.T_body_device = s->T_body_device,
			      .wrench = s->wrench,
			      .x = s->x,
			      .axial_N = axial_N,
			      .free = free,
			      .viscous_N = tac_axial_viscous_N(&n->axial, &n->tick)};
	n->state.punctures += n->axial.opened - opened;
	if (s->pressing && n->axial.opened > 0) {
		begin_track(n, b, t, T_body_tool.position);
		memcpy(n->tick.membranes, t->membranes, sizeof n->tick.membranes);
		n->last.x = n->axial.z + axial_N / s->stiffness_N_per_m;
	} else if (!s->pressing) {
		const double cut_m = n->axial.front - t->front;
		grow_track(n, b, t, T_body_tool);
		if (free)
			turn_with_track(n, t, cut_m, snap);
		branch(n, t, T_body_tool.position, n->axial.z - before_z);
	}
	describe(n, T_body_tool.position);
	if (fmin(n->axial.z, n->axial.front) <= 0 && tac_track_depth(b, s->T_body_device.position) <= 0)
		leave(n);
}

// ---- what is shown ----

const tac_needle_state *tac_needle_state_of(const tac_needle *needle)
{
	return &needle->state;
}

int32_t tac_needle_track(const tac_needle *needle, int32_t capacity, tac_dvec3 *out_points_m)
{
	if (needle->active < 0 || needle->axial.opened == 0)
		return 0;
	const tac_track *t = &needle->tracks[needle->active];
	const int32_t count = t->count < capacity ? t->count : capacity;
	for (int32_t i = 0; i < count; i++)
		out_points_m[i] = t->points[i];
	return count;
}

int32_t tac_needle_shape(const tac_needle *needle, tac_dvec3 out_points_m[TAC_NEEDLE_NODES])
{
	const solution *s = &needle->solution;
	if (needle->active < 0 || s->pressing || !(needle->def.bending_stiffness_Nm2 > 0))
		return 0;
	const double element_m = needle->def.length_m / (TAC_NEEDLE_NODES - 1);
	for (int32_t i = 0; i < TAC_NEEDLE_NODES; i++) {
		const int32_t node = TAC_NEEDLE_NODES - 1 - i;
		out_points_m[i] = tac_dvec3_add_scaled(
			tac_dvec3_add(s->T_body_device.position, across_vector(s, s->lateral.node_m[node])),
			s->z - s->x - node * element_m, s->axis);
	}
	return TAC_NEEDLE_NODES;
}
