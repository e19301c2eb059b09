#include "haptic/sco_private.h"

#include "collision/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define sub   tac_dvec3_sub
#define dot   tac_dvec3_dot
#define cross tac_dvec3_cross
#define mad   tac_dvec3_add_scaled

// Pairs of triangles kept as constraints: the nearest ones.
#define PAIRS_MAX 256
// An answer with more pairs is too deep to learn from: the place is tried half as far.
#define PAIRS_LEARNT 4096
// Placements of one piece, and halvings of one placement.
#define ROUNDS   12
#define HALVINGS 5
// A plane that leaves less between two triangles does not separate them, m.
#define SEPARATE_MIN 1e-7
// A piece must bring the device closer by this, m^2 in the metric.
#define CLOSER 1e-12
// Shorter pieces are none, m.
#define PIECE_MIN 1e-9

// Of the table in which rows are found again: a power of two, at most half full with three rows a pair.
#define SLOTS 2048

// Two triangles that met somewhere the tool was about to be placed.
typedef struct meeting {
	double separation; // at the SCO's pose
	int32_t object, fixed, moving;
	bool face; // held apart by the plane of a face, beyond which there may be nothing
} meeting;

typedef struct memory {
	meeting kept[PAIRS_MAX]; // by object, fixed and moving triangle
	int32_t count;
	meeting found[PAIRS_MAX]; // nearest first
	int32_t found_count;
	struct {
		int32_t object, row; // row + 1 of the object's list; 0: empty
	} slots[SLOTS];
} memory;

tac_result tac_sco_reactive_create(tac_sco *sco)
{
	sco->reactive = calloc(1, sizeof(memory));
	return sco->reactive ? TAC_OK : TAC_ERROR_MEMORY;
}

void tac_sco_reactive_destroy(tac_sco *sco)
{
	free(sco->reactive);
	sco->reactive = NULL;
}

void tac_sco_reactive_reset(tac_sco *sco)
{
	memory *m = sco->reactive;
	m->count = 0;
}

static void load(const tac_mesh *mesh, int32_t triangle, const tac_dpose *T, tac_dvec3 out[3])
{
	for (int k = 0; k < 3; k++) {
		tac_dvec3 v = tac_dvec3_from_vec3(mesh->vertices[mesh->triangles[triangle].vertex[k]]);
		out[k] = T ? tac_dpose_apply_point(*T, v) : v;
	}
}

// Whether `points` lie beyond the plane of the triangle t on one side, and how far the nearest; *out_normal
// points to that side.
static double beyond(const tac_dvec3 t[3], const tac_dvec3 points[3], tac_dvec3 *out_normal)
{
	tac_dvec3 n = tac_dvec3_normalize(cross(sub(t[1], t[0]), sub(t[2], t[0])));
	double lo = HUGE_VAL, hi = -HUGE_VAL;
	for (int k = 0; k < 3; k++) {
		double h = dot(n, sub(points[k], t[0]));
		lo = fmin(lo, h);
		hi = fmax(hi, h);
	}
	*out_normal = lo > 0 ? n : tac_dvec3_neg(n);
	return lo > 0 ? lo : -hi;
}

// Whether n, in the mesh's frame, points away from the face across edge k of the triangle: then the edge
// stands out and may be touched along n. Else the neighbour is nearer, and along n there would be a wall
// where none is.
static bool edge_stands_out(const tac_mesh *mesh, int32_t triangle, int k, tac_dvec3 n)
{
	const tac_mesh_edge *edge = &mesh->edges[mesh->triangle_edges[triangle].vertex[k]];
	if (edge->triangle_count != 2)
		return true;
	int32_t other = edge->triangle[0] == triangle ? edge->triangle[1] : edge->triangle[0];
	const int32_t *v = mesh->triangles[other].vertex;
	int32_t third = v[0] + v[1] + v[2] - edge->vertex[0] - edge->vertex[1];
	tac_dvec3 a = tac_dvec3_from_vec3(mesh->vertices[edge->vertex[0]]);
	tac_dvec3 along = tac_dvec3_normalize(sub(tac_dvec3_from_vec3(mesh->vertices[edge->vertex[1]]), a));
	tac_dvec3 inward = sub(tac_dvec3_from_vec3(mesh->vertices[third]), a);
	inward = tac_dvec3_normalize(mad(inward, -dot(inward, along), along));
	return dot(n, inward) <= TAC_CONTACTS_CONE;
}

static const tac_mesh *tool_mesh(const tac_sco *sco)
{
	return sco->def.tool_shape->mesh;
}

// A plane between two triangles at the SCO's pose, in the object's frame, and the triangles.
typedef struct plane {
	enum { FIXED_FACE, MOVING_FACE, BETWEEN } kind;
	tac_dvec3 normal;     // from the fixed to the moving triangle
	tac_dvec3 on;         // a point of it, on the fixed triangle (MOVING_FACE: on the moving one)
	double separation;    // of the triangles
	tac_dvec3 a[3], b[3]; // moving, fixed
} plane;

// The plane across the closest points where they lie on faces or on edges that stand out; else the plane of
// the face, so that a flat floor is flat however it is cut, and a valley has no wall along its bottom.
static plane plane_of(const tac_sco *sco, const meeting *p)
{
	const tac_sco_thing *thing = &sco->things[p->object];
	tac_dpose T = tac_dpose_relative(thing->pose, sco->pose);
	plane at = {.kind = BETWEEN};
	load(tool_mesh(sco), p->moving, &T, at.a);
	load(thing->shape->mesh, p->fixed, NULL, at.b);
	tac_ccd_closest c = tac_ccd_closest_of_triangles(at.a, at.b);
	at.normal = tac_dvec3_normalize(sub(c.point, c.on_fixed));
	at.on = c.on_fixed;
	at.separation = c.distance;
	if (c.kind != TAC_CCD_EDGE_EDGE)
		return at;
	tac_dvec3 down = tac_dquat_rotate(tac_dquat_conjugate(T.rotation), tac_dvec3_neg(at.normal)), n;
	if (!edge_stands_out(thing->shape->mesh, p->fixed, c.fixed, at.normal)) {
		double above = beyond(at.b, at.a, &n);
		if (above >= SEPARATE_MIN) {
			at.kind = FIXED_FACE;
			at.normal = n;
			at.on = at.b[0];
			return at;
		}
	}
	if (!edge_stands_out(tool_mesh(sco), p->moving, c.moving, down)) {
		double below = beyond(at.a, at.b, &n);
		if (below >= SEPARATE_MIN) {
			at.kind = MOVING_FACE;
			at.normal = tac_dvec3_neg(n);
			at.on = at.a[0];
		}
	}
	return at;
}

// Appends a row to its object's list, unless it is there.
static void put_row(tac_sco *sco, int32_t object, tac_contact_point c)
{
	memory *m = sco->reactive;
	tac_contacts *list = sco->things[object].contacts;
	uint32_t at = (uint32_t)c.moving_feature * 2654435761u ^ (uint32_t)c.fixed_feature * 2246822519u ^
		      (uint32_t)object * 3266489917u;
	for (at = (at >> 16 ^ at) % SLOTS; m->slots[at].row > 0; at = (at + 1) % SLOTS) {
		if (m->slots[at].object == object &&
		    tac_sco_same_features(&list->list[m->slots[at].row - 1], &c))
			return;
	}
	if (list->count >= TAC_CONTACTS_MAX) {
		list->dropped++;
		return;
	}
	list->list[list->count++] = c;
	m->slots[at].object = object;
	m->slots[at].row = list->count;
}

// The rows that keep a pair on its two sides of its plane: one a vertex.
static void put_rows(tac_sco *sco, const meeting *p, const plane *at)
{
	const tac_mesh *tool = tool_mesh(sco), *object = sco->things[p->object].shape->mesh;
	for (int k = 0; k < 3; k++) {
		tac_contact_point c = {.kind = TAC_CONTACT_VERTEX_FACE,
				       .moving_feature = tool->triangles[p->moving].vertex[k],
				       .fixed_feature = p->fixed,
				       .moving_triangle = p->moving,
				       .fixed_triangle = p->fixed,
				       .moving_surface = tool->triangle_surface[p->moving],
				       .fixed_surface = object->triangle_surface[p->fixed],
				       .normal = at->normal,
				       .point = at->a[k]};
		if (at->kind == MOVING_FACE) {
			c.kind = TAC_CONTACT_FACE_VERTEX;
			c.moving_feature = p->moving;
			c.fixed_feature = object->triangles[p->fixed].vertex[k];
			c.gap = dot(at->normal, sub(at->on, at->b[k]));
			c.point = mad(at->b[k], c.gap, at->normal);
		} else {
			c.gap = dot(at->normal, sub(at->a[k], at->on));
		}
		put_row(sco, p->object, c);
	}
}

static bool before(const meeting *a, const meeting *b)
{
	if (a->object != b->object)
		return a->object < b->object;
	return a->fixed != b->fixed ? a->fixed < b->fixed : a->moving < b->moving;
}

static bool nearer(const meeting *a, const meeting *b)
{
	return a->separation != b->separation ? a->separation < b->separation : before(a, b);
}

// Inserts into a list that `first` orders; the last falls out of a full one. False when it was there, or fell
// out.
static bool insert(meeting *list, int32_t *count, const meeting *p,
		   bool (*first)(const meeting *, const meeting *))
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
	if (lo == PAIRS_MAX)
		return false;
	int32_t moved = (*count < PAIRS_MAX ? *count : PAIRS_MAX - 1) - lo;
	memmove(&list[lo + 1], &list[lo], (size_t)moved * sizeof *list);
	list[lo] = *p;
	if (*count < PAIRS_MAX)
		++*count;
	return true;
}

// Takes the pairs of the last answer, nearest first, whatever the engine's order. Answers whether any is left
// that truly meets: an engine in single precision may be wrong about touching triangles.
static bool learn(tac_sco *sco, int32_t object)
{
	memory *m = sco->reactive;
	tac_context *context = sco->context;
	bool any = false;
	for (int64_t i = 0; i < context->pair_count; i++) {
		meeting p = {0, object, context->fixed_ids[i], context->moving_ids[i], false};
		if (!tac_context_exact(context, p.fixed, p.moving))
			continue;
		any = true;
		p.separation = plane_of(sco, &p).separation;
		insert(m->found, &m->found_count, &p, nearer);
	}
	return any;
}

typedef enum answer { FREE, MET, UNLEARNT, NO_QUERY } answer;

// Asks the collider about the place after the twist: all objects. Pairs are collected in `found`.
static answer place(tac_sco *sco, tac_sco_twist t)
{
	memory *m = sco->reactive;
	m->found_count = 0;
	answer worst = FREE;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		const tac_sco_thing *thing = &sco->things[i];
		if (sco->report->queries >= sco->def.queries) {
			sco->report->flags |= TAC_SCO_BUDGET_SPENT;
			return NO_QUERY;
		}
		sco->report->queries++;
		tac_sco_relative r = tac_sco_relative_motion(sco, thing, t);
		tac_pose T = tac_pose_from_dpose(tac_sco_pose_after(r.start, r.twist, 1));
		tac_motion motion = {tac_mat3_from_quat(T.rotation), T.position};
		tac_contact contact =
			tac_collider_query(sco->def.collider, sco->context, sco->def.tool_shape, thing->shape,
					   &motion, TAC_QUERY_PAIRS, (tac_budget){0, 0});
		if (contact == TAC_CONTACT_UNKNOWN)
			sco->report->flags |= TAC_SCO_UNKNOWN;
		if (contact == TAC_CONTACT_NONE)
			continue;
		// A round solid's pairs are no triangles that meet.
		bool learnable = contact == TAC_CONTACT_HIT && sco->context->pair_count <= PAIRS_LEARNT &&
				 sco->def.collider != tac_solid_collider();
		if (!learnable)
			worst = UNLEARNT;
		else if (learn(sco, i) && worst == FREE)
			worst = MET;
	}
	return worst;
}

static void commit(tac_sco *sco, tac_sco_twist t)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		if (thing->moves)
			thing->pose = tac_sco_thing_after(sco, thing, t, 1);
		thing->moves = false;
	}
	sco->pose = tac_sco_pose_after(sco->pose, t, 1);
	sco->pose.rotation = tac_dquat_normalize(sco->pose.rotation);
}

// Rows of what is kept, at the SCO's pose; what is further than `within` is forgotten.
static void list_rows(tac_sco *sco, double within)
{
	memory *m = sco->reactive;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		sco->things[i].contacts->count = 0;
		sco->things[i].contacts->dropped = 0;
	}
	memset(m->slots, 0, sizeof m->slots);
	int32_t left = 0;
	for (int32_t i = 0; i < m->count; i++) {
		plane at = plane_of(sco, &m->kept[i]);
		m->kept[i].separation = at.separation;
		m->kept[i].face = at.kind != BETWEEN;
		if (m->kept[i].separation > within)
			continue;
		m->kept[left++] = m->kept[i];
		put_rows(sco, &m->kept[i], &at);
	}
	m->count = left;
}

static bool keep_found(tac_sco *sco)
{
	memory *m = sco->reactive;
	bool any = false;
	for (int32_t i = 0; i < m->found_count && m->count < PAIRS_MAX; i++) {
		if (insert(m->kept, &m->count, &m->found[i], before)) {
			plane at = plane_of(sco, &m->found[i]);
			put_rows(sco, &m->found[i], &at);
			any = true;
		}
	}
	return any;
}

// Forgets what only the plane of a distant face holds. False when there is none.
static bool forget_faces(tac_sco *sco)
{
	memory *m = sco->reactive;
	int32_t left = 0, all = m->count;
	for (int32_t i = 0; i < all; i++) {
		if (!m->kept[i].face || m->kept[i].separation <= 2 * sco->def.hold_gap_m)
			m->kept[left++] = m->kept[i];
	}
	m->count = left;
	return left < all;
}

// One piece: solve, place, learn from what it would meet, until a place is free. True when it moved and may
// go on.
static bool piece(tac_sco *sco, tac_sco_twist t0)
{
	double all = tac_sco_reach(sco, t0), reach = fmin(fmax(1.05 * all, PIECE_MIN), sco->trust);
	double energy = tac_sco_energy(sco, sco->pose, sco->tick.device), scale = 1;
	int halvings = 0;
	bool push = tac_sco_pushing(sco), sure = false;
	list_rows(sco, reach + 2 * sco->def.hold_gap_m);
	for (int round = 0; round < ROUNDS; round++) {
		tac_sco_twist t;
		if (!tac_sco_solve(sco, t0, reach, &t))
			return false;
		double limit = tac_sco_limit(sco, t, reach);
		t = tac_sco_twist_scale(t, limit * scale);
		double way = tac_sco_reach(sco, t);
		bool limited = limit < 1 || (way > 0.98 * reach && reach < 1.05 * all);
		tac_dpose there = tac_sco_pose_after(sco->pose, t, 1);
		if (!push &&
		    (way < PIECE_MIN || tac_sco_energy(sco, there, sco->tick.device) > energy - CLOSER)) {
			if (sure || !forget_faces(sco))
				return false;
			sure = true;
			list_rows(sco, reach + 2 * sco->def.hold_gap_m);
			continue;
		}
		answer a = place(sco, t);
		if (a == NO_QUERY)
			return false;
		if (a == FREE) {
			commit(sco, t);
			sco->tick.way += way;
			if (limited)
				tac_sco_widen_trust(sco);
			return limited || scale < 1 || way >= sco->def.stop_length_m;
		}
		if (a == UNLEARNT || !keep_found(sco)) {
			if (push || ++halvings > HALVINGS)
				break;
			scale *= 0.5;
		}
	}
	sco->report->flags |= TAC_SCO_BLOCKED;
	return false;
}

static void set_goals(tac_sco *sco)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		thing->push = tac_sco_push(thing);
		thing->moves = tac_dvec3_length_squared(thing->push.v) > 0 ||
			       tac_dvec3_length_squared(thing->push.w) > 0;
	}
}

void tac_sco_move_reactive(tac_sco *sco)
{
	sco->injected_count = 0;
	set_goals(sco);
	bool going = true;
	while (going && sco->report->pieces < sco->def.pieces) {
		tac_sco_twist t0 = tac_sco_twist_between(sco, sco->pose, sco->tick.device);
		if (tac_sco_reach(sco, t0) < 1e-12 && !tac_sco_pushing(sco))
			break;
		sco->report->pieces++;
		bool pushed = tac_sco_pushing(sco);
		going = piece(sco, t0);
		if (pushed && tac_sco_pushing(sco)) { // not let through: the objects wait, the tool goes on
			for (int32_t i = 0; i < sco->def.object_count; i++)
				sco->things[i].moves = false;
			sco->report->flags |= TAC_SCO_OBJECT_WAITS;
			going = true;
		}
	}
	if (going && sco->report->pieces >= sco->def.pieces)
		sco->report->flags |= TAC_SCO_LIMITED;
	list_rows(sco, sco->trust + 2 * sco->def.hold_gap_m);
	sco->known = sco->trust;
	sco->distance = sco->known;
	for (int32_t i = 0; i < ((memory *)sco->reactive)->count; i++)
		sco->distance = fmin(sco->distance, ((memory *)sco->reactive)->kept[i].separation);
}
