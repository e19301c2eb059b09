#include "haptic/mover/mover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Two triangles that intersect at a pose where the tool was to be placed.
typedef struct hit {
	double separation; // at the SCO's pose, m
	int32_t object, fixed, moving;
} hit;

// The outcome of a placement. INTERSECTS: hits were collected; TOO_DEEP: the hits give no constraints;
// NO_QUERY: the limit of queries is reached; UNFINISHED: the nodes are spent, and the next step goes on.
typedef enum placement { FREE, INTERSECTS, TOO_DEEP, NO_QUERY, UNFINISHED } placement;

// A motion whose end is to be free.
typedef struct attempt {
	tac_dtwist twist;
	double travel_m;
	bool limited;    // cut short by the reach or the slew limit
	int halvings;    // of the solution
	int32_t object;  // the next to be queried at its end
	placement worst; // of those before it
} attempt;

typedef struct memory {
	hit kept[SCO_REACTIVE_MAX_PAIRS]; // by object, fixed and moving triangle
	int32_t count, far_faces;
	hit new_hits[SCO_REACTIVE_MAX_PAIRS]; // of the last placement, nearest first
	int32_t new_count;
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

// What keeps a pair of triangles apart at the SCO's pose.
static tac_triangle_contacts contacts_of(const tac_sco *sco, const hit *p)
{
	const tac_sco_obstacle *obstacle = &sco->obstacles[p->object];
	return tac_contacts_of_triangles(sco->def.tool_shape->mesh, p->moving, obstacle->shape->mesh,
					 p->fixed, tac_dpose_relative(obstacle->pose, sco->pose));
}

// Appends contacts to their object's list, without those that a pair with the same triangle of the object has
// added: the pairs are ordered by these.
static void add_rows(tac_sco *sco, int32_t object, const tac_triangle_contacts *c)
{
	tac_contacts *out = sco->obstacles[object].contacts;
	for (int k = 0; k < 3; k++) {
		const tac_contact_point *next = &c->contacts[k];
		int32_t i = out->count - 1;
		while (i >= 0 && out->list[i].fixed_triangle == next->fixed_triangle &&
		       !tac_sco_same_features(&out->list[i], next))
			i--;
		const bool listed = i >= 0 && out->list[i].fixed_triangle == next->fixed_triangle;
		if (!listed && out->count < TAC_CONTACTS_MAX)
			out->list[out->count++] = *next;
	}
}

static bool ids_before(const hit *a, const hit *b)
{
	if (a->object != b->object)
		return a->object < b->object;
	return a->fixed != b->fixed ? a->fixed < b->fixed : a->moving < b->moving;
}

static bool nearer(const hit *a, const hit *b)
{
	return a->separation != b->separation ? a->separation < b->separation : ids_before(a, b);
}

// Inserts into a list ordered by `first`; a full list drops its last entry. False if the hit was in the list,
// or would be dropped.
static bool insert(hit *list, int32_t *count, const hit *p, bool (*first)(const hit *, const hit *))
{
	int32_t lo = 0, hi = *count;
	while (lo < hi) {
		int32_t mid = (lo + hi) / 2;
		if (first(&list[mid], p))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < *count && !first(p, &list[lo]))
		return false;
	if (lo == SCO_REACTIVE_MAX_PAIRS)
		return false;
	int32_t moved = (*count < SCO_REACTIVE_MAX_PAIRS ? *count : SCO_REACTIVE_MAX_PAIRS - 1) - lo;
	memmove(&list[lo + 1], &list[lo], (size_t)moved * sizeof *list);
	list[lo] = *p;
	if (*count < SCO_REACTIVE_MAX_PAIRS)
		++*count;
	return true;
}

// Takes the pairs of the last query, nearest first, so that the engine's order does not matter. Returns
// whether any of them intersects exactly: an engine in single precision may be wrong about touching
// triangles.
static bool collect_hits(tac_sco *sco, int32_t object)
{
	memory *m = sco->reactive;
	tac_context *context = sco->context;
	bool any = false;
	sco->tick.work.units += SCO_PLANE_UNITS * context->pair_count;
	for (int64_t i = 0; i < context->pair_count; i++) {
		hit p = {0, object, context->fixed_ids[i], context->moving_ids[i]};
		if (!tac_context_triangles_meet(context, p.fixed, p.moving))
			continue;
		any = true;
		p.separation = contacts_of(sco, &p).distance;
		insert(m->new_hits, &m->new_count, &p, nearer);
	}
	return any;
}

// Queries the collider with all objects at the pose after an attempt, or with those that are left of an
// unfinished placement. Hits are collected in `new_hits`.
static placement place(tac_sco *sco, attempt *at)
{
	memory *m = sco->reactive;
	tac_sco_work *work = &sco->tick.work;
	if (at->object == 0)
		m->new_count = 0;
	for (; at->object < sco->def.object_count; at->object++) {
		const tac_sco_obstacle *obstacle = &sco->obstacles[at->object];
		if (obstacle->hidden || !obstacle->shape)
			continue;
		if (!tac_sco_work_admit(work, SCO_COLLIDER_QUERY))
			return NO_QUERY;
		const bool has_nodes = work->nodes_left > 0;
		tac_sco_relative r = tac_sco_relative_motion(sco, obstacle, at->twist);
		tac_overlap overlap = tac_sco_collide(sco, obstacle, tac_dpose_after(r.start, r.twist, 1),
						      TAC_QUERY_PAIRS, work);
		if (overlap == TAC_OVERLAP_NONE)
			continue;
		if (overlap == TAC_OVERLAP_UNKNOWN && (!has_nodes || sco->context->pending)) {
			m->unfinished = !tac_sco_any_obstacle_moves(sco);
			return UNFINISHED;
		}
		if (overlap == TAC_OVERLAP_UNKNOWN)
			sco->tick.flags |= TAC_SCO_UNKNOWN;
		// The pairs of an engine for round solids are not intersecting triangles.
		bool has_hits = overlap == TAC_OVERLAP_HIT &&
				sco->context->pair_count <= SCO_REACTIVE_MAX_HITS &&
				(sco->def.collider->flags & TAC_COLLIDER_TRIANGLES) != 0;
		if (!has_hits)
			at->worst = TOO_DEEP;
		else if (collect_hits(sco, at->object) && at->worst == FREE)
			at->worst = INTERSECTS;
	}
	return at->worst;
}

// Lists the contacts of the kept pairs at the SCO's pose and drops the pairs that are further than `within`.
// Those that only the plane of a distant face separates, which may act where there is no face, are counted,
// or dropped as well.
static void list_rows(tac_sco *sco, double within, bool drop_far_faces)
{
	memory *m = sco->reactive;
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++)
		o->contacts->count = 0;
	sco->lists_version++;
	sco->tick.work.units += SCO_PLANE_UNITS * m->count;
	const int32_t all = m->count;
	m->count = m->far_faces = 0;
	for (int32_t i = 0; i < all; i++) {
		hit h = m->kept[i];
		const tac_triangle_contacts c = contacts_of(sco, &h);
		const bool far = c.by_face && c.distance > SCO_LIST_GAPS * sco->def.hold_gap_m;
		if (c.distance > within || (far && drop_far_faces))
			continue;
		h.separation = c.distance;
		m->kept[m->count++] = h;
		m->far_faces += far;
		add_rows(sco, h.object, &c);
	}
}

// Adds the new hits to the constraints; false if none is new.
static bool keep_hits(tac_sco *sco)
{
	memory *m = sco->reactive;
	bool any = false;
	for (int32_t i = 0; i < m->new_count && m->count < SCO_REACTIVE_MAX_PAIRS; i++) {
		if (insert(m->kept, &m->count, &m->new_hits[i], ids_before)) {
			const tac_triangle_contacts c = contacts_of(sco, &m->new_hits[i]);
			add_rows(sco, m->new_hits[i].object, &c);
			any = true;
		}
	}
	return any;
}

// Solves for the motion within `reach` and halves it at->halvings times. False if there is no solution.
static bool find_attempt(tac_sco *sco, tac_dtwist to_device, double reach, double max_reach, attempt *at)
{
	tac_dtwist t;
	if (!tac_sco_solve(sco, to_device, reach, &t))
		return false;
	const double limit = tac_sco_limit_factor(sco, t, reach);
	*at = (attempt){.twist = tac_dtwist_scale(t, ldexp(limit, -at->halvings)), .halvings = at->halvings};
	at->travel_m = tac_sco_max_travel(sco, at->twist);
	at->limited = limit < 1 || (at->travel_m > SCO_AT_LIMIT * reach && reach < max_reach);
	return true;
}

static bool leads_closer(const tac_sco *sco, const attempt *at)
{
	tac_dpose there = tac_dpose_after(sco->pose, at->twist, 1), device = sco->tick.device;
	return at->travel_m >= SCO_MIN_TRAVEL_M &&
	       tac_sco_energy(sco, there, device) <=
		       tac_sco_energy(sco, sco->pose, device) - SCO_MIN_PROGRESS_M2;
}

// Moves to the end of an attempt, which is free. True if the step may go on.
static bool commit(tac_sco *sco, const attempt *at)
{
	tac_sco_move(sco, at->twist, 1);
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++)
		o->moves = false;
	sco->tick.travel_m += at->travel_m;
	if (at->limited)
		tac_sco_trust_observe(&sco->trust, &sco->def, SCO_TRUST_LIMITED, 0);
	return at->limited || at->halvings > 0 || at->travel_m >= sco->def.stop_length_m;
}

// One substep: solve, place, add the intersecting pairs as constraints, until a pose is free. True if it
// moved and the step may go on.
static bool move_once(tac_sco *sco, tac_dtwist to_device)
{
	memory *m = sco->reactive;
	double max_reach = tac_sco_max_travel(sco, to_device);
	double reach = fmin(fmax(max_reach, SCO_MIN_TRAVEL_M), sco->trust.radius_m);
	const double within = reach + SCO_LIST_GAPS * sco->def.hold_gap_m; // of the pairs
	attempt *at = &m->attempt;
	bool push = tac_sco_any_obstacle_moves(sco), resumed = m->unfinished && !push;
	if (!resumed)
		at->halvings = 0;
	list_rows(sco, within, false);
	for (int round = 0; round < SCO_REACTIVE_MAX_TRIES; round++, resumed = false) {
		m->unfinished = false;
		if (!resumed && !find_attempt(sco, to_device, reach, max_reach, at))
			return false;
		if (!push && !leads_closer(sco, at)) {
			if (resumed) { // the device has gone elsewhere since
				at->halvings = 0;
				continue;
			}
			if (m->far_faces == 0)
				return false;
			list_rows(sco, within, true);
			continue;
		}
		placement result = place(sco, at);
		if (result == NO_QUERY || result == UNFINISHED)
			return false;
		if (result == FREE)
			return commit(sco, at);
		if ((result == TOO_DEEP || !keep_hits(sco)) && (push || ++at->halvings > SCO_COMMIT_TRIES))
			break;
	}
	sco->tick.flags |= TAC_SCO_BLOCKED;
	return false;
}

void tac_sco_move_reactive(tac_sco *sco)
{
	tac_sco_work *work = &sco->tick.work;
	sco->injected_count = 0;
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++)
		o->moves = tac_sco_aim_obstacle(o);
	bool going = true;
	while (going && work->count[SCO_SUBSTEP] < sco->def.substeps) {
		tac_dtwist to_device = tac_sco_twist_towards(sco, sco->pose, sco->tick.device);
		if (tac_sco_max_travel(sco, to_device) < SCO_MIN_TRAVEL_M && !tac_sco_any_obstacle_moves(sco))
			break;
		work->count[SCO_SUBSTEP]++;
		bool pushed = tac_sco_any_obstacle_moves(sco);
		going = move_once(sco, to_device);
		if (pushed && tac_sco_any_obstacle_moves(sco)) {
			tac_sco_stop_obstacles(sco); // the tool cannot yield and goes on
			going = true;
		}
	}
	if (going && work->count[SCO_SUBSTEP] >= sco->def.substeps)
		sco->tick.flags |= TAC_SCO_LIMITED;
	const memory *m = sco->reactive;
	list_rows(sco, sco->trust.radius_m + SCO_LIST_GAPS * sco->def.hold_gap_m, false);
	sco->listed_margin_m = sco->trust.radius_m;
	sco->distance_m = sco->listed_margin_m;
	for (int32_t i = 0; i < m->count; i++)
		sco->distance_m = fmin(sco->distance_m, m->kept[i].separation);
	tac_sco_trust_observe(&sco->trust, &sco->def, SCO_TRUST_STEP_DONE, sco->tick.travel_m);
}

const tac_sco_geometry tac_sco_geometry_reactive = {0};
