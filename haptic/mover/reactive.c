// The substep of the reactive mover: solve, place the tool, add the triangles that intersect there as
// constraints, until a pose is free.
#include "haptic/mover/mover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Two triangles that intersected at a pose where the tool was to be placed.
typedef struct pair {
	int32_t object, fixed, moving;
} pair;

// What the collider finds at a pose; the last of these counts. KNOWN_PAIRS: all are constraints already;
// TOO_DEEP: they give no constraints.
typedef enum placement { FREE, KNOWN_PAIRS, NEW_PAIRS, TOO_DEEP } placement;

// A motion whose end is to be free.
typedef struct attempt {
	tac_dtwist twist;
	double travel_m;
	bool limited;    // cut short by the reach
	int halvings;    // of the solution
	int32_t object;  // the next to be queried at its end
	placement found; // with those before it
} attempt;

typedef struct memory {
	pair kept[SCO_REACTIVE_MAX_PAIRS]; // by object, fixed and moving triangle
	int32_t count, far_faces;
	attempt attempt;
	bool unfinished; // its placement goes on in the next step
} memory;

tac_result tac_sco_reactive_create(tac_sco *sco)
{
	sco->reactive = calloc(1, sizeof(memory));
	return sco->reactive ? TAC_OK : TAC_ERROR_MEMORY;
}

void tac_sco_reactive_reset(tac_sco *sco)
{
	memory *m = sco->reactive;
	if (!m)
		return;
	m->count = 0;
	m->unfinished = false;
}

// Appends contacts to their object's list, without those that a pair with the same triangle of the object has
// added: the pairs are ordered by these.
static void add_rows(tac_contacts *out, const tac_triangle_contacts *c)
{
	for (int k = 0; k < 3 && out->count < TAC_CONTACTS_MAX; k++) {
		const tac_contact_point *next = &c->contacts[k], *at = &out->list[out->count];
		bool listed = false;
		while (!listed && at > out->list && at[-1].fixed_triangle == next->fixed_triangle)
			listed = tac_sco_same_features(--at, next);
		if (!listed)
			out->list[out->count++] = *next;
	}
}

void tac_sco_reactive_list(tac_sco *sco, double within, bool drop_far_faces)
{
	memory *m = sco->reactive;
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++)
		o->contacts->count = 0;
	sco->lists_version++;
	sco->listed.margin_m = sco->listed.distance_m = sco->adapted.trust_m;
	sco->tick.work.units += SCO_PAIR_UNITS * m->count;
	const int32_t all = m->count;
	m->count = m->far_faces = 0;
	for (int32_t i = 0; i < all; i++) {
		const pair p = m->kept[i];
		const tac_sco_obstacle *o = &sco->obstacles[p.object];
		const tac_triangle_contacts c =
			tac_contacts_of_triangles(sco->def.tool_shape->mesh, p.moving, o->shape->mesh,
						  p.fixed, tac_dpose_relative(o->pose, sco->pose));
		const bool far = c.by_face && c.distance > SCO_LIST_GAPS * sco->def.hold_gap_m;
		if (c.distance > within || (far && drop_far_faces))
			continue;
		m->kept[m->count++] = p;
		m->far_faces += far;
		sco->listed.distance_m = fmin(sco->listed.distance_m, c.distance);
		add_rows(o->contacts, &c);
	}
}

static bool comes_before(const pair *a, const pair *b)
{
	if (a->object != b->object)
		return a->object < b->object;
	return a->fixed != b->fixed ? a->fixed < b->fixed : a->moving < b->moving;
}

// Keeps the pairs of the last query that intersect exactly: an engine in single precision may be wrong about
// touching triangles. They are ordered, so that the engine's order does not matter.
static placement keep_pairs(tac_sco *sco, int32_t object)
{
	memory *m = sco->reactive;
	tac_context *context = sco->context;
	placement found = FREE;
	sco->tick.work.units += SCO_PAIR_UNITS * context->pair_count;
	for (int64_t k = 0; k < context->pair_count; k++) {
		const pair p = {object, context->fixed_ids[k], context->moving_ids[k]};
		if (!tac_context_triangles_meet(context, p.fixed, p.moving))
			continue;
		int32_t i = 0;
		for (int32_t end = m->count; i < end;) {
			const int32_t middle = (i + end) / 2;
			if (comes_before(&m->kept[middle], &p))
				i = middle + 1;
			else
				end = middle;
		}
		if (i < m->count && !comes_before(&p, &m->kept[i])) {
			found = found == FREE ? KNOWN_PAIRS : found;
			continue;
		}
		found = NEW_PAIRS;
		memmove(&m->kept[i + 1], &m->kept[i], (size_t)(m->count - i) * sizeof p);
		m->kept[i] = p;
		m->count++;
	}
	return found;
}

// Queries the collider with all objects at the pose after an attempt, or with those that are left of an
// unfinished placement. False if the queries or nodes of the step are spent.
static bool place(tac_sco *sco, attempt *at)
{
	memory *m = sco->reactive;
	tac_sco_work *work = &sco->tick.work;
	for (; at->object < sco->def.object_count; at->object++) {
		const tac_sco_obstacle *o = &sco->obstacles[at->object];
		if (o->hidden || !o->shape)
			continue;
		if (!tac_sco_work_admit(work, SCO_COLLIDER_QUERY))
			return false;
		const bool has_nodes = work->nodes_left > 0;
		const tac_sco_relative r = tac_sco_relative_motion(sco, o, at->twist);
		const tac_overlap overlap =
			tac_sco_collide(sco, o, tac_dpose_after(r.start, r.twist, 1), TAC_QUERY_PAIRS, work);
		if (overlap == TAC_OVERLAP_NONE)
			continue;
		if (overlap == TAC_OVERLAP_UNKNOWN && (!has_nodes || sco->context->pending)) {
			m->unfinished = !tac_sco_any_obstacle_moves(sco);
			return false;
		}
		if (overlap == TAC_OVERLAP_UNKNOWN)
			sco->tick.flags |= TAC_SCO_UNKNOWN;
		// The pairs of an engine for round solids are not intersecting triangles.
		const bool has_pairs = overlap == TAC_OVERLAP_HIT &&
				       m->count + sco->context->pair_count <= SCO_REACTIVE_MAX_PAIRS &&
				       (sco->def.collider->flags & TAC_COLLIDER_TRIANGLES) != 0;
		const placement found = has_pairs ? keep_pairs(sco, at->object) : TOO_DEEP;
		at->found = found > at->found ? found : at->found;
	}
	return true;
}

// Solves for the motion within `reach` and halves it at->halvings times. False if there is no solution.
static bool find_attempt(tac_sco *sco, tac_dtwist to_device, double reach, double max_reach, attempt *at)
{
	tac_dtwist t;
	if (!tac_sco_solve(sco, to_device, reach, &t))
		return false;
	const double limit = tac_sco_limit_factor(sco, t, sco->radius_m, reach);
	*at = (attempt){.twist = tac_dtwist_scale(t, ldexp(limit, -at->halvings)), .halvings = at->halvings};
	at->travel_m = tac_dtwist_travel(at->twist, sco->radius_m);
	at->limited = limit < 1 || (at->travel_m > SCO_AT_LIMIT * reach && reach < max_reach);
	return true;
}

static bool leads_closer(const tac_sco *sco, const attempt *at)
{
	const tac_dpose there = tac_dpose_after(sco->pose, at->twist, 1);
	return at->travel_m >= SCO_MIN_TRAVEL_M &&
	       tac_sco_energy(sco, there) <= tac_sco_energy(sco, sco->pose) - SCO_MIN_PROGRESS_M2;
}

// Moves to the end of an attempt, which is free.
static tac_sco_outcome commit(tac_sco *sco, const attempt *at)
{
	tac_sco_move(sco, at->twist, 1);
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++)
		o->moves = false;
	sco->tick.travel_m += at->travel_m;
	if (at->limited)
		tac_sco_observe_substep(sco, SCO_TRUST_LIMITED, 0);
	const bool short_rest = !at->limited && at->halvings == 0 && at->travel_m < sco->def.stop_length_m;
	return short_rest ? TAC_SCO_ARRIVED : TAC_SCO_MOVED;
}

tac_sco_outcome tac_sco_reactive_substep(tac_sco *sco, tac_dtwist to_device, bool push)
{
	memory *m = sco->reactive;
	attempt *at = &m->attempt;
	const double max_reach = tac_dtwist_travel(to_device, sco->radius_m),
		     reach = fmin(fmax(max_reach, SCO_MIN_TRAVEL_M), sco->adapted.trust_m),
		     within = reach + SCO_LIST_GAPS * sco->def.hold_gap_m; // of the pairs
	// If the device has gone elsewhere since, an unfinished attempt is given up.
	bool resumed = m->unfinished && !push && leads_closer(sco, at), dropped = false;
	if (!resumed)
		at->halvings = 0;
	for (int round = 0; round < SCO_REACTIVE_MAX_TRIES; round++, resumed = false) {
		m->unfinished = false;
		tac_sco_reactive_list(sco, within, false);
		if (!resumed && !find_attempt(sco, to_device, reach, max_reach, at))
			return TAC_SCO_NO_SOLUTION;
		if (!push && !leads_closer(sco, at)) {
			if (dropped || m->far_faces == 0)
				return TAC_SCO_CONVERGED;
			dropped = true;
			tac_sco_reactive_list(sco, within, true);
			continue;
		}
		if (!place(sco, at))
			return TAC_SCO_NO_PROOF;
		if (at->found == FREE)
			return commit(sco, at);
		if (at->found != NEW_PAIRS && (push || ++at->halvings > SCO_COMMIT_TRIES))
			break;
	}
	sco->tick.flags |= TAC_SCO_BLOCKED;
	return TAC_SCO_NO_PROOF;
}

const tac_sco_geometry tac_sco_geometry_reactive = {0};
