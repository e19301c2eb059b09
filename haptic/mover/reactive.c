// The substep of the reactive mover: solve, place the tool, add the triangles that meet there, until none do.
#include "haptic/mover/mover.h"

#include <math.h>
#include <string.h>

// The pairs of triangles, of the object and of the tool, that intersected where the tool was to be placed.
typedef struct tac_sco_memory {
	uint64_t pairs[SCO_REACTIVE_MAX_PAIRS]; // rising; the object's triangle is the upper half
	int32_t count;
} memory;

static void reset(memory *m)
{
	m->count = 0;
}

// Appends contacts to their object's list, without those that pairs with its same triangle have added.
static void add_rows(tac_contacts *out, const tac_triangle_contacts *c)
{
	for (int k = 0; k < 3 && out->count < TAC_CONTACTS_MAX; k++) {
		const tac_contact_point *next = &c->contacts[k], *at = &out->list[out->count];
		bool listed = false;
		while (!listed && at > out->list && at[-1].fixed_triangle == next->fixed_triangle)
			listed = tac_contacts_same_features(--at, next);
		if (!listed)
			out->list[out->count++] = *next;
	}
}

int32_t tac_sco_reactive_list(tac_sco *sco, double within, bool drop_far_faces)
{
	int32_t far_faces = 0;
	sco->lists_version++;
	sco->listed.margin_m = sco->listed.distance_m = sco->adapted.trust_m;
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++) {
		memory *m = o->memory;
		o->contacts->count = 0;
		if (!m)
			continue; // the tool passes through it
		const tac_dpose T = tac_dpose_relative(o->pose, sco->pose);
		const int32_t all = m->count;
		m->count = 0;
		sco->tick.work.units += all; // one for each pair
		for (int32_t i = 0; i < all; i++) {
			const uint64_t pair = m->pairs[i];
			const tac_triangle_contacts c =
				tac_contacts_of_triangles(sco->def.tool_shape->mesh, (int32_t)pair,
							  o->shape->mesh, (int32_t)(pair >> 32), T);
			const bool far = c.by_face && c.distance > SCO_LIST_GAPS * sco->def.hold_gap_m;
			if (c.distance > within || (far && drop_far_faces))
				continue;
			m->pairs[m->count++] = pair;
			far_faces += far;
			sco->listed.distance_m = fmin(sco->listed.distance_m, c.distance);
			add_rows(o->contacts, &c);
		}
	}
	return far_faces;
}

// Keeps the pairs of the last query that intersect exactly: an engine in single precision may be wrong about
// touching triangles. They are ordered, so that the engine's order does not matter.
static tac_sco_placement keep_pairs(tac_sco *sco, memory *m)
{
	tac_context *context = sco->context;
	tac_sco_placement found = SCO_FREE;
	sco->tick.work.units += context->pair_count;
	for (int64_t k = 0; k < context->pair_count; k++) {
		const int32_t fixed = context->fixed_ids[k], moving = context->moving_ids[k];
		if (!tac_context_triangles_meet(context, fixed, moving))
			continue;
		const uint64_t pair = (uint64_t)fixed << 32 | (uint32_t)moving;
		int32_t i = 0;
		for (int32_t end = m->count; i < end;) {
			const int32_t middle = (i + end) / 2;
			if (m->pairs[middle] < pair)
				i = middle + 1;
			else
				end = middle;
		}
		if (i < m->count && m->pairs[i] == pair) {
			found = found == SCO_FREE ? SCO_KNOWN_PAIRS : found;
			continue;
		}
		found = SCO_NEW_PAIRS;
		memmove(&m->pairs[i + 1], &m->pairs[i], (size_t)(m->count - i) * sizeof pair);
		m->pairs[i] = pair;
		m->count++;
	}
	return found;
}

// Queries the collider with all objects at the pose after an attempt, or with those that are left of an
// unfinished placement. False if the queries or nodes of the step are spent.
static bool place(tac_sco *sco, tac_sco_attempt *at)
{
	tac_sco_work *work = &sco->tick.work;
	for (; at->object < sco->def.object_count; at->object++) {
		const tac_sco_obstacle *o = &sco->obstacles[at->object];
		if (o->hidden)
			continue;
		if (!tac_sco_work_admit(work, SCO_COLLIDER_QUERY))
			return false;
		const tac_sco_relative r = tac_sco_relative_motion(sco, o, at->twist);
		const tac_overlap overlap =
			tac_sco_collide(sco, o, tac_dpose_after(r.start, r.twist, 1), TAC_QUERY_PAIRS);
		work->spent |= work->nodes_left <= 0;
		if (overlap == TAC_OVERLAP_NONE)
			continue;
		if (overlap == TAC_OVERLAP_UNKNOWN && work->nodes_left <= 0) {
			at->unfinished = !tac_sco_any_obstacle_moves(sco);
			return false;
		}
		if (overlap == TAC_OVERLAP_UNKNOWN)
			sco->tick.flags |= TAC_SCO_UNKNOWN;
		int64_t pairs = sco->context->pair_count;
		for (const tac_sco_obstacle *p = sco->obstacles; p < sco->obstacles_end; p++)
			pairs += p->memory ? p->memory->count : 0;
		// The pairs of an engine for round solids are not intersecting triangles.
		const bool has_pairs = overlap == TAC_OVERLAP_HIT && pairs <= SCO_REACTIVE_MAX_PAIRS &&
				       (sco->def.collider->flags & TAC_COLLIDER_TRIANGLES) != 0;
		const tac_sco_placement found = has_pairs ? keep_pairs(sco, o->memory) : SCO_TOO_DEEP;
		at->found = found > at->found ? found : at->found;
	}
	return true;
}

// Solves for the motion within `reach` and halves it at->halvings times. False if there is no solution.
static bool find_attempt(tac_sco *sco, tac_dtwist to_device, double reach, double max_reach,
			 tac_sco_attempt *at)
{
	tac_dtwist t;
	if (!tac_sco_solve(sco, to_device, reach, &t))
		return false;
	const double limit = tac_sco_limit_factor(sco, t, sco->radius_m, reach);
	*at = (tac_sco_attempt){.twist = tac_dtwist_scale(t, ldexp(limit, -at->halvings)),
				.halvings = at->halvings};
	at->travel_m = tac_dtwist_travel(at->twist, sco->radius_m);
	at->limited = limit < 1 || (at->travel_m > SCO_AT_LIMIT * reach && reach < max_reach);
	return true;
}

static bool leads_closer(const tac_sco *sco, const tac_sco_attempt *at)
{
	return at->travel_m >= SCO_MIN_TRAVEL_M && tac_sco_leads_closer(sco, at->twist, 1);
}

// Moves to the end of an attempt, which is free.
static tac_sco_outcome commit(tac_sco *sco, const tac_sco_attempt *at)
{
	tac_sco_move(sco, at->twist, 1);
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++) // some may be on their way
		o->moves = o->moves &&
			   tac_dtwist_travel(tac_dtwist_between(o->pose, o->goal), 1) >= SCO_MIN_TRAVEL_M;
	sco->tick.travel_m += at->travel_m;
	if (at->limited)
		tac_sco_observe_substep(sco, SCO_TRUST_LIMITED, 0);
	const bool short_rest = !at->limited && at->halvings == 0 && at->travel_m < sco->def.stop_length_m;
	return short_rest ? TAC_SCO_ARRIVED : TAC_SCO_MOVED;
}

tac_sco_outcome tac_sco_reactive_substep(tac_sco *sco, tac_dtwist to_device, bool push)
{
	tac_sco_attempt *at = &sco->attempt;
	// An object that pushes may move the tool further than to the device.
	const double max_reach = push ? HUGE_VAL : tac_dtwist_travel(to_device, sco->radius_m),
		     reach = fmin(fmax(max_reach, SCO_MIN_TRAVEL_M), sco->adapted.trust_m),
		     within = reach + SCO_LIST_GAPS * sco->def.hold_gap_m; // of the pairs
	// If the device has gone elsewhere since, an unfinished attempt is given up.
	bool resumed = at->unfinished && !push && leads_closer(sco, at), dropped = false;
	if (!resumed)
		at->halvings = 0;
	for (int round = 0; round < SCO_REACTIVE_MAX_TRIES; round++, resumed = false) {
		at->unfinished = false;
		if (round > 0 && !tac_sco_work_allows(&sco->tick.work, SCO_COLLIDER_QUERY)) {
			sco->tick.work.spent = true;
			return TAC_SCO_NO_PROOF;
		}
		const int32_t far_faces = tac_sco_reactive_list(sco, within, false);
		if (!resumed && !find_attempt(sco, to_device, reach, max_reach, at))
			return TAC_SCO_NO_SOLUTION;
		if (!push && !leads_closer(sco, at)) {
			if (dropped || far_faces == 0)
				return TAC_SCO_CONVERGED;
			dropped = true;
			tac_sco_reactive_list(sco, within, true);
			continue;
		}
		if (!place(sco, at))
			return TAC_SCO_NO_PROOF;
		if (at->found == SCO_FREE)
			return commit(sco, at);
		if (at->found != SCO_NEW_PAIRS && (push || ++at->halvings > SCO_COMMIT_TRIES))
			break;
	}
	sco->tick.flags |= TAC_SCO_BLOCKED;
	return TAC_SCO_NO_PROOF;
}

const tac_sco_geometry tac_sco_geometry_reactive = {.memory_size = sizeof(memory), .reset = reset};
