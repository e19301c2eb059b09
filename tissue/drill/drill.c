#include "tissue/drill.h"

#include "base/log.h"

#include <math.h>

#define PI 3.14159265358979323846

// The most that the wall recedes in a tick, voxels: the field's normals are good over this far.
#define ADVANCE_MAX 0.2
// Every wall gives way by this in a tick while the burr turns, m: above the rounding of the field's points,
// so that a burr in its own hole is not wedged by it. What the front gains by it is taken off its advance.
#define SLACK_M 5e-8
// The same while it only rubs.
#define RUB_SLACK_M 3e-9
// Time constant of the resistance's estimate and of the motor's load, s.
#define RESISTANCE_S 0.005
#define LOAD_S       0.01
// The resistance is between these fractions of that of the whole section.
#define RESISTANCE_MIN 0.003
#define RESISTANCE_MAX 4.0
// Where cutting begins, a part of the section is taken to cut.
#define RESISTANCE_START 0.1
// After this time without cutting it begins anew, s.
#define IDLE_S 0.02
// The longest time whose energy is carried on to later ticks, s.
#define CARRY_S 0.01
// What a burr that does not turn finds further inside it than this crumbles, voxels: only remnants that are
// thinner or lower than about a voxel can be there, because the field's nodes know no more of them.
#define CRUMBLE_VOXELS 0.045
// Less than this is rounding, voxels.
#define CRUMBLE_LEAST 2e-4
// A burr that has moved less than this since the last time has nothing new inside it, voxels.
#define CRUMBLE_AGAIN 0.003
// The most edits of a tick, and how far the trail may be from their sweeps, voxels.
#define EDITS_MAX      4
#define EDITS_CYLINDER 8
#define TRAIL_BEND     0.02
// Bricks are scarce if there are fewer than for this many edits.
#define SCARCE 8

// ---- set-up ----

static bool is_ball(const tac_burr *b)
{
	return b->kind == TAC_BURR_ROUND && tac_dvec3_length_squared(tac_dvec3_sub(b->a, b->b)) == 0;
}

static double section_m2(const tac_drill_def *def)
{
	return PI * def->burr.radius * def->burr.radius;
}

double tac_drill_energy_of_feed(const tac_drill_def *def, double feed_m_per_N_s)
{
	const double speed = 0.5 * def->speed_rad_per_s * def->burr.radius;
	return speed / (def->thrust_ratio * feed_m_per_N_s * section_m2(def));
}

// The bricks that may be missing for one edit with the burr, anywhere.
static int32_t bricks_of_an_edit(const tac_drill_def *def)
{
	const double h = tac_field_size_of(def->field).voxel_m;
	const double length = tac_dvec3_length(tac_dvec3_sub(def->burr.b, def->burr.a));
	const double across = length + 2 * (def->burr.radius + TAC_FIELD_FAR_VOXELS * h);
	const int32_t along = (int32_t)ceil(across / (TAC_FIELD_BRICK * h)) + 1;
	return along * along * along;
}

static bool positive(double x)
{
	return x > 0 && x < HUGE_VAL;
}

tac_result tac_drill_init(tac_drill *drill, const char *name, const tac_drill_def *def)
{
	const double h = tac_field_size_of(def->field).voxel_m, ratio = def->burr.radius / h;
	*drill = (tac_drill){.def = *def};
	if (!(ratio >= TAC_DRILL_VOXELS_MIN && ratio <= TAC_DRILL_VOXELS_MAX)) {
		tac_log(TAC_LOG_ERROR,
			"%s: expected a burr of %g to %g mm radius for voxels of %g mm, found %g mm; voxels "
			"of "
			"%.2g to %.2g mm would do",
			name, 1e3 * TAC_DRILL_VOXELS_MIN * h, 1e3 * TAC_DRILL_VOXELS_MAX * h, 1e3 * h,
			1e3 * def->burr.radius, 1e3 * def->burr.radius / TAC_DRILL_VOXELS_MAX,
			1e3 * def->burr.radius / TAC_DRILL_VOXELS_MIN);
		return TAC_ERROR_ARGUMENT;
	}
	bool valid = positive(def->speed_rad_per_s) && positive(def->power_W) &&
		     positive(def->thrust_ratio) &&
		     (is_ball(&def->burr) || def->burr.kind == TAC_BURR_CYLINDER);
	for (int i = 0; i < TAC_FIELD_LABELS; i++)
		valid = valid && positive(def->materials[i].cutting_energy_J_per_m3) &&
			def->materials[i].rub_N >= 0;
	if (!valid) {
		tac_log(TAC_LOG_ERROR,
			"%s: expected a ball or a cylinder as burr, and speed, power, thrust ratio and "
			"cutting "
			"energies above 0",
			name);
		return TAC_ERROR_ARGUMENT;
	}
	drill->reserve = bricks_of_an_edit(def);
	drill->cutting_speed_m_per_s = 0.5 * def->speed_rad_per_s * def->burr.radius;
	return TAC_OK;
}

// ---- before the step ----

static double decay(double elapsed_s, double time_s)
{
	return exp(-elapsed_s / time_s);
}

static int32_t bricks_left(const tac_drill *d)
{
	const tac_field_size size = tac_field_size_of(d->def.field);
	return size.capacity - size.stored;
}

// Whether what the burr enters in the next step can be removed, wherever it goes: the pool keeps the bricks
// of one more edit. What is left when the drill is stopped is for remnants that crumble.
static bool has_room(tac_drill *d)
{
	if (!tac_field_may_be_full(d->def.field) || bricks_left(d) >= d->reserve)
		return true;
	d->state.flags |= TAC_DRILL_FIELD_FULL;
	d->state.full_ticks++;
	d->state.full_s += d->elapsed_s;
	return false;
}

void tac_drill_allow(tac_drill *drill, bool running, tac_dvec3 force_N, int32_t label, double elapsed_s)
{
	tac_drill *d = drill;
	const tac_drill_material *m = &d->def.materials[label >= 0 && label < TAC_FIELD_LABELS ? label : 0];
	const double whole_N = m->cutting_energy_J_per_m3 * section_m2(&d->def);
	d->state.running = running;
	d->state.flags = 0;
	d->elapsed_s = elapsed_s;
	d->press_N = tac_dvec3_length(force_N);
	d->budget_J = d->carry_J;
	d->allowance = (tac_drill_allowance){.has_removed = d->has_removed, .removed = d->removed};
	d->state.time_s += running ? elapsed_s : 0;
	if (!running || !has_room(d))
		return;
	d->allowance.slack_m = RUB_SLACK_M;
	if (!(d->press_N > m->rub_N) || !(elapsed_s > 0))
		return;
	if ((double)d->idle_ticks * elapsed_s > IDLE_S) {
		d->resistance_N = RESISTANCE_START * whole_N;
		d->budget_J = 0;
	}
	d->resistance_N = fmin(fmax(d->resistance_N, RESISTANCE_MIN * whole_N), RESISTANCE_MAX * whole_N);
	const double power = fmin((d->press_N - m->rub_N) * d->cutting_speed_m_per_s / d->def.thrust_ratio,
				  d->def.power_W);
	d->budget_J += power * elapsed_s;
	d->allowance.feed = tac_dvec3_scale(force_N, -1 / d->press_N);
	const double h = tac_field_size_of(d->def.field).voxel_m;
	d->allowance.advance_m = fmax(fmin(d->budget_J / d->resistance_N, ADVANCE_MAX * h) - SLACK_M, 0);
	if (d->allowance.advance_m > 0)
		d->allowance.slack_m = SLACK_M;
}

// ---- after the step ----

static void tell_edit(tac_drill *d, const tac_field_edit *edit)
{
	if (d->def.edits && !tac_ring_push(d->def.edits, edit))
		d->state.flags |= TAC_DRILL_LAGS;
}

static bool remove_edit(tac_drill *d, const tac_burr *burr, tac_field_removed *removed)
{
	const tac_field_edit edit = tac_field_edit_make(burr);
	if (!tac_field_carve(d->def.field, &edit, removed)) {
		d->state.flags |= TAC_DRILL_FIELD_FULL;
		return false;
	}
	tell_edit(d, &edit);
	return true;
}

// The distance of the trail's poses between `from` and `to` from the chord.
static double bend(const tac_dpose *trail, int32_t from, int32_t to)
{
	const tac_burr chord = {TAC_BURR_ROUND, trail[from].position, trail[to].position, 0};
	double most = 0;
	for (int32_t i = from + 1; i < to; i++) {
		tac_dvec3 normal;
		most = fmax(most, tac_burr_distance(&chord, trail[i].position, &normal));
	}
	return most;
}

// The sweep of a ball: a capsule for each straight part of the trail. False: the pool was empty.
static bool remove_ball(tac_drill *d, const tac_burr *burr, const tac_dpose *trail, int32_t count,
			tac_field_removed *removed)
{
	const double h = tac_field_size_of(d->def.field).voxel_m;
	int32_t edits = 0;
	for (int32_t from = 0; from == 0 || from < count - 1;) {
		int32_t to = from + 1 < count ? from + 1 : count - 1;
		while (to + 1 < count &&
		       (edits == EDITS_MAX - 1 || bend(trail, from, to + 1) < TRAIL_BEND * h))
			to++;
		if (edits == EDITS_MAX - 1 && bend(trail, from, to) >= TRAIL_BEND * h)
			d->state.flags |= TAC_DRILL_JOINED;
		tac_burr sweep = tac_burr_place(burr, trail[from]);
		sweep.b = tac_burr_place(burr, trail[to]).a;
		if (!remove_edit(d, &sweep, removed))
			return false;
		if (to == count - 1)
			return true;
		edits++;
		from = to;
	}
	return true;
}

// The sweep of a cylinder: cylinders along the trail, half a voxel apart. False: the pool was empty.
static bool remove_cylinder(tac_drill *d, const tac_burr *cylinder, const tac_dpose *trail, int32_t count,
			    tac_field_removed *removed)
{
	const double h = tac_field_size_of(d->def.field).voxel_m, reach = tac_burr_reach(&d->def.burr);
	const tac_dpose *first = &trail[0], *last = &trail[count - 1];
	const double way = tac_dtwist_travel(tac_dtwist_between(*first, *last), reach);
	double steps = fmax(ceil(way / (0.5 * h)), 1);
	if (steps > EDITS_CYLINDER) {
		steps = EDITS_CYLINDER;
		d->state.flags |= TAC_DRILL_JOINED;
	}
	for (double i = 1; i <= steps; i++) {
		// The trail's poses count alike: substeps are of similar length.
		const double at = i / steps * (count - 1);
		const int32_t from = (int32_t)fmin(floor(at), count > 1 ? count - 2 : 0);
		const tac_dpose pose =
			count > 1 ? tac_dpose_interpolate(trail[from], trail[from + 1], at - (double)from)
				  : *first;
		const tac_burr burr = tac_burr_place(cylinder, pose);
		if (!remove_edit(d, &burr, removed))
			return false;
	}
	return true;
}

// Removes what a burr of the tool's frame swept along the trail. Returns the volume.
static double remove_sweep(tac_drill *d, const tac_burr *burr, const tac_dpose *trail, int32_t count,
			   tac_field_removed *removed)
{
	const tac_burr last = tac_burr_place(burr, trail[count - 1]);
	// Where bricks are scarce, what the burr is in goes before what it has passed.
	const bool scarce = tac_field_may_be_full(d->def.field) && bricks_left(d) < SCARCE * d->reserve;
	d->removed = last;
	d->has_removed = !scarce || remove_edit(d, &last, removed);
	const bool whole = is_ball(burr) ? remove_ball(d, burr, trail, count, removed)
					 : remove_cylinder(d, burr, trail, count, removed);
	if (!whole && !scarce)
		d->has_removed = remove_edit(d, &last, removed);
	double volume_m3 = 0;
	for (int i = 0; i < TAC_FIELD_LABELS; i++) {
		d->state.removed_m3[i] += removed->volume_m3[i];
		volume_m3 += removed->volume_m3[i];
	}
	return volume_m3;
}

// A bound of how far a place of the burr's surface is from where it was.
static double moved(const tac_burr *from, const tac_burr *to)
{
	const tac_dvec3 a = tac_dvec3_sub(to->a, from->a), b = tac_dvec3_sub(to->b, from->b);
	const double length = tac_dvec3_length(tac_dvec3_sub(from->b, from->a));
	const double tilt = length > 0 ? tac_dvec3_length(tac_dvec3_sub(b, a)) / length : 0;
	return fmax(tac_dvec3_length(a), tac_dvec3_length(b)) + tilt * from->radius;
}

// Removes what a burr that does not turn has inside it at the end of a tick: see CRUMBLE_VOXELS.
static void crumble(tac_drill *d, tac_dpose T_field_tool)
{
	tac_burr burr = d->def.burr;
	const double h = tac_field_size_of(d->def.field).voxel_m;
	// The rim of a cylinder is further from the rim of a smaller one than its sides are.
	const double less = (burr.kind == TAC_BURR_CYLINDER ? 0.7 : 1) * CRUMBLE_VOXELS * h;
	burr.radius -= less;
	const tac_dvec3 core = tac_dvec3_sub(burr.b, burr.a);
	const double length = tac_dvec3_length(core);
	if (length > 0) {
		burr.a = tac_dvec3_add_scaled(burr.a, less / length, core);
		burr.b = tac_dvec3_add_scaled(burr.b, -less / length, core);
	}
	const tac_burr there = tac_burr_place(&burr, T_field_tool);
	tac_field_removed removed = {0};
	if (tac_field_holds(d->def.field, &there, CRUMBLE_LEAST * h)) {
		d->state.crumbled_m3 += remove_sweep(d, &burr, &T_field_tool, 1, &removed);
		return;
	}
	// What no node knows is not in the field, but it is in the record of the edits: a step lower than a
	// voxel, say.
	if (d->has_removed && moved(&d->removed, &there) <= CRUMBLE_AGAIN * h)
		return;
	// Distances in the hole rise all the same. If that counted as a change, every point of the surface
	// would be looked for again. The last bricks are kept for what is in the field.
	const tac_field_edit edit = tac_field_edit_make(&there);
	if (!tac_field_carve_unseen(d->def.field, &edit, d->reserve, &removed))
		return;
	tell_edit(d, &edit);
	d->removed = there;
	d->has_removed = true;
}

// Learns from what the advance took. `moved`: the mover moved the burr.
static void learn(tac_drill *d, double taken_J, double made_m, bool moved)
{
	const double allowed_m = d->allowance.advance_m, most_J = d->def.power_W * CARRY_S;
	if (allowed_m > 0 && made_m > 0.2 * allowed_m) {
		const double pole = decay(d->elapsed_s, RESISTANCE_S);
		d->resistance_N = pole * d->resistance_N + (1 - pole) * taken_J / made_m;
	}
	// A burr that did not use its allowance was held back by the hand, not by the material: what it
	// could have taken is not kept for later. One that did not move at all waits for the mover, whose
	// work may not be enough for a step in every tick: the next one cuts for both.
	const double left_J = d->budget_J - taken_J;
	const bool used = made_m > 0.95 * allowed_m || !moved;
	d->carry_J = fmin(fmax(used ? left_J : fmin(left_J, 0), -most_J), most_J);
}

// Whether the burr may have swept something along its trail. Ridges thinner than a voxel have no points that
// it could touch.
static bool is_near(const tac_drill *d, const tac_dpose *trail, int32_t count)
{
	for (int32_t i = 0; i < count; i++) {
		const tac_burr burr = tac_burr_place(&d->def.burr, trail[i]);
		const double span = 0.5 * tac_dvec3_length(tac_dvec3_sub(burr.b, burr.a)) + burr.radius;
		if (tac_field_clearance(d->def.field, tac_dvec3_lerp(burr.a, burr.b, 0.5)) <= span)
			return true;
	}
	return false;
}

void tac_drill_cut(tac_drill *drill, const tac_dpose *trail, int32_t count, bool touching)
{
	tac_drill *d = drill;
	tac_drill_state *s = &d->state;
	tac_field_removed removed = {0};
	const bool close = count > 0 && (touching || d->allowance.advance_m > 0 || is_near(d, trail, count));
	const bool cuts = close && s->running && d->allowance.slack_m > 0;
	s->air_s += s->running && !touching ? d->elapsed_s : 0;
	double taken_J = 0, made_m = 0, volume_m3 = 0;
	if (close && !cuts)
		crumble(d, trail[count - 1]);
	if (cuts) {
		volume_m3 = remove_sweep(d, &d->def.burr, trail, count, &removed);
		made_m = tac_dvec3_dot(tac_dvec3_sub(trail[count - 1].position, trail[0].position),
				       d->allowance.feed);
		for (int i = 0; i < TAC_FIELD_LABELS; i++)
			taken_J += removed.volume_m3[i] * d->def.materials[i].cutting_energy_J_per_m3;
	}
	d->allowance.has_removed = d->has_removed; // for a reset before the next step
	d->allowance.removed = d->removed;
	s->lag_ticks += (s->flags & TAC_DRILL_LAGS) != 0;
	learn(d, taken_J, made_m, count != 1);
	s->cutting = volume_m3 > 0;
	d->idle_ticks = s->cutting ? 0 : d->idle_ticks + (d->idle_ticks < INT32_MAX);
	s->energy_J += taken_J;
	s->feed_work_J += fmax(made_m, 0) * d->press_N;
	s->power_W = d->elapsed_s > 0 ? taken_J / d->elapsed_s : 0;
	s->feed_m_per_s = d->elapsed_s > 0 ? fmax(made_m, 0) / d->elapsed_s : 0;
	const double pole = decay(d->elapsed_s, LOAD_S);
	s->load = pole * s->load + (1 - pole) * s->power_W / d->def.power_W;
}
