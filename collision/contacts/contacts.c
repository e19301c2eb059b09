#include "collision/contacts.h"

#include "base/assert.h"
#include "collision/contacts/cone.h"
#include "collision/contacts/contact_list.h"
#include "collision/continuous/nested.h"

#include <math.h>
#include <string.h>

// A point lies over a face when its distances from the face and from the plane differ by less than this, m.
#define OVER_FACE 1e-12
// Squared sines of the angle between two edges: below the first their ends are the contacts, below the second
// no point between the ends is closer.
#define PARALLEL 1e-8
#define NO_ANGLE 1e-20
// Contacts that a query collects before it drops the farthest half.
#define ROOM (2 * TAC_CONTACTS_MAX)
// Chains of contacts, by their vertex; a power of 2.
#define CHAINS 1024
// Steps in which the margin of a query is lowered to keep the limit of work.
#define BINS 64

// One of the two bodies in a query. Its faces are in its own frame.
typedef struct side {
	const tac_body *body;
	tac_drigid T; // maps its frame to that of the other body
} side;

// A triangle of one side.
typedef struct face {
	const side *side;
	const tac_body_triangle *triangle;
	tac_dvec3 v[3];
} face;

typedef struct query {
	side moving, fixed;
	double margin;
	double max_gap; // contacts with larger gaps are dropped: there are enough smaller ones
	double least;   // distance of the pairs examined
	tac_sweep_context *context;
	tac_contacts *out;
	// The triangles of the pair of faces that is examined.
	tac_near_pair pair; // moving -1: none
	int32_t moving_count, fixed_count;
	face a[2], b[2];
	// Chains of contacts with the same vertex: the first of each, and the next of each contact; indices
	// plus 1.
	int16_t chain[CHAINS], next[ROOM];
} query;

static bool comes_before(const tac_contact_point *a, const tac_contact_point *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind;
	if (a->moving_feature != b->moving_feature)
		return a->moving_feature < b->moving_feature;
	if (a->fixed_feature != b->fixed_feature)
		return a->fixed_feature < b->fixed_feature;
	// An edge or a vertex is met at each of its triangles.
	if (a->moving_triangle != b->moving_triangle)
		return a->moving_triangle < b->moving_triangle;
	return a->fixed_triangle < b->fixed_triangle;
}

// Whether p lies on the same side of both faces at a manifold edge of `to`: in front of them, or behind. `on`
// is its closest point, on the edge. A vertex beside a ridge is in front of one face and behind the plane of
// the other.
static bool same_side(const face *to, int32_t e, bool behind, tac_dvec3 p, tac_dvec3 on)
{
	const tac_mesh *mesh = to->side->body->mesh;
	const tac_mesh_edge *edge = &mesh->edges[e];
	int32_t other = edge->triangle[edge->triangle[0] == to->triangle->id];
	tac_dvec3 n = tac_mesh_triangle_cross(mesh, other);
	double height = tac_dvec3_dot(n, tac_dvec3_sub(p, on));
	return behind ? height <= 0 : height >= 0;
}

// A vertex over the edge between two coplanar faces is one contact.
static bool same_contact(const tac_contact_point *a, const tac_contact_point *b)
{
	if (a->kind != b->kind)
		return false;
	bool vertex = (a->kind == TAC_CONTACT_VERTEX_FACE && a->moving_feature == b->moving_feature) ||
		      (a->kind == TAC_CONTACT_FACE_VERTEX && a->fixed_feature == b->fixed_feature);
	return tac_contacts_same_features(a, b) || (vertex && tac_contacts_coplanar(a, b->normal, b->gap));
}

// A contact to be sorted, by its place in the list.
typedef struct keyed {
	uint64_t key;
	int16_t at;
} keyed;

// Merges two sorted runs, [from, middle) and [middle, end), without branches that depend on the keys.
static void merge(const keyed *from, const keyed *middle, const keyed *end, keyed *to)
{
	const keyed *other = middle;
	while (from < middle && other < end) {
		const bool right = other->key < from->key;
		*to++ = from[(other - from) & -(ptrdiff_t)right];
		from += !right;
		other += right;
	}
	memcpy(to, from, (size_t)((const char *)middle - (const char *)from));
	memcpy(to + (middle - from), other, (size_t)((const char *)end - (const char *)other));
}

// Merge sort, stable. Returns which of the two arrays has the result.
static keyed *sort_keys(keyed *from, keyed *to, int32_t count)
{
	for (int32_t i = 1; i < count; i += 2) { // runs of two
		const keyed a = from[i - 1], b = from[i];
		from[i - (a.key <= b.key)] = a;
		from[i - (a.key > b.key)] = b;
	}
	for (int32_t width = 2; width < count; width *= 2) {
		for (int32_t i = 0; i < count; i += 2 * width) {
			const int32_t middle = i + width < count ? i + width : count,
				      end = middle + width < count ? middle + width : count;
			merge(&from[i], &from[middle], &from[end], &to[i]);
		}
		keyed *swap = from;
		from = to;
		to = swap;
	}
	return from;
}

// Moves contact order[i].at to place i, for all: the cycles of the permutation, in place.
static void permute(tac_contacts *c, keyed *order)
{
	for (int16_t i = 0; i < c->count; i++) {
		if (order[i].at == i)
			continue;
		tac_contact_point held = c->list[i];
		int16_t to = i;
		while (order[to].at != i) {
			int16_t from = order[to].at;
			c->list[to] = c->list[from];
			order[to].at = to;
			to = from;
		}
		c->list[to] = held;
		order[to].at = to;
	}
}

// By kind, moving feature and fixed feature, which no two contacts share.
static void sort_by_features(tac_contacts *c)
{
	keyed order[ROOM], sorted[ROOM], other[ROOM];
	int32_t end[TAC_CONTACT_SPHERES + 2] = {0};
	for (int32_t i = 0; i < c->count; i++)
		end[c->list[i].kind + 1]++;
	for (int kind = 0; kind <= TAC_CONTACT_SPHERES; kind++)
		end[kind + 1] += end[kind]; // the start of each kind, until it is filled
	for (int32_t i = 0; i < c->count; i++) {
		const tac_contact_point *p = &c->list[i];
		order[end[p->kind]++] = (keyed){
			(uint64_t)(uint32_t)p->moving_feature << 32 | (uint32_t)p->fixed_feature, (int16_t)i};
	}
	for (int32_t kind = 0, start = 0; kind <= TAC_CONTACT_SPHERES; start = end[kind++]) {
		const int32_t count = end[kind] - start;
		const keyed *from = sort_keys(&order[start], other, count);
		memcpy(&sorted[start], from, (size_t)count * sizeof *from);
	}
	permute(c, sorted);
}

// By gap; equal gaps as above.
static void sort_by_gaps(tac_contacts *c)
{
	keyed order[ROOM], other[ROOM];
	sort_by_features(c);
	for (int16_t i = 0; i < c->count; i++) {
		order[i].at = i;
		memcpy(&order[i].key, &c->list[i].gap, sizeof order[i].key); // as gaps are not negative
	}
	permute(c, sort_keys(order, other, c->count));
}

static int16_t *chain_of(query *q, const tac_contact_point *c)
{
	bool fixed = c->kind == TAC_CONTACT_FACE_VERTEX || c->kind == TAC_CONTACT_EDGE_VERTEX;
	uint32_t vertex = (uint32_t)(fixed ? c->fixed_feature : c->moving_feature);
	return &q->chain[(vertex * 2654435761u >> 16 ^ (uint32_t)c->kind * 37u) % CHAINS];
}

static void link_contact(query *q, int32_t i)
{
	int16_t *head = chain_of(q, &q->out->list[i]);
	q->next[i] = *head;
	*head = (int16_t)(i + 1);
}

// Keeps the closest half when there is no more room, and admits nothing farther from then on.
static void prune(query *q)
{
	tac_contacts *out = q->out;
	sort_by_gaps(out);
	out->dropped += out->count - TAC_CONTACTS_MAX;
	out->count = TAC_CONTACTS_MAX;
	q->max_gap = out->list[TAC_CONTACTS_MAX - 1].gap;
	memset(q->chain, 0, sizeof q->chain);
	for (int32_t i = 0; i < out->count; i++)
		link_contact(q, i);
}

static void put(query *q, tac_contact_point *c)
{
	tac_contacts *out = q->out;
	c->moving_surface = q->moving.body->mesh->triangle_surface[c->moving_triangle];
	c->fixed_surface = q->fixed.body->mesh->triangle_surface[c->fixed_triangle];
	for (int16_t i = *chain_of(q, c); i > 0; i = q->next[i - 1]) {
		if (!same_contact(&out->list[i - 1], c))
			continue;
		// The lowest indices, so that the result does not depend on the order of visits.
		if (comes_before(c, &out->list[i - 1]))
			out->list[i - 1] = *c;
		return;
	}
	if (c->gap > q->max_gap) {
		out->dropped++;
		return;
	}
	if (out->count == ROOM)
		prune(q);
	out->list[out->count] = *c;
	link_contact(q, out->count++);
}

// A vertex near a triangle, in the frame of the triangle.
typedef struct approach {
	const face *from, *to;
	int32_t vertex;              // in the mesh of `from`
	bool flip;                   // `to` is the moving triangle
	bool behind;                 // the vertex is behind a face with two sides
	tac_dvec3 point, on, across; // the vertex, its closest point, the vector between them
	double height, distance;     // from the plane and from the triangle, m
} approach;

// Whether the direction from the triangle is in the vertex's cone of normals.
static bool meets_vertex(const approach *a, tac_dvec3 normal)
{
	const tac_dvec3 back = tac_dmat3_transpose_apply(a->from->side->T.R, tac_dvec3_neg(normal));
	return tac_contacts_in_vertex_cone(a->from->side->body, a->vertex, back);
}

// The feature of `to` that a vertex is in contact with.
typedef enum target { TARGET_NONE, TARGET_FACE, TARGET_FEATURE } target;

// The closest point is on edge e of `to`.
static target target_at_edge(const approach *a, int32_t e)
{
	const tac_body *body = a->to->side->body;
	uint8_t kind = body->edge_kinds[e];
	// Seen from behind, a convex edge is concave.
	bool concave = kind == (a->behind ? TAC_BODY_EDGE_CONVEX : TAC_BODY_EDGE_CONCAVE) &&
		       body->mesh->edges[e].triangle_count == 2;
	if (concave && !body->solid)
		concave = same_side(a->to, e, a->behind, a->point, a->on);
	if (concave || (kind == TAC_BODY_EDGE_FLAT && a->distance - fabs(a->height) < OVER_FACE))
		return TARGET_FACE;
	if (kind == TAC_BODY_EDGE_FLAT || a->distance < TAC_CONTACTS_DIRECTION_MIN)
		return TARGET_NONE;
	tac_dvec3 normal = tac_dvec3_scale(a->across, 1 / a->distance);
	const bool in_cones = meets_vertex(a, normal) && tac_contacts_in_edge_cone(body->mesh, e, normal);
	return in_cones ? TARGET_FEATURE : TARGET_NONE;
}

// The closest point is the vertex `other` of `to`.
static target target_at_vertex(const approach *a, int32_t other)
{
	const tac_body *body = a->to->side->body;
	if (!body->vertex_collides[other] && a->distance - fabs(a->height) < OVER_FACE)
		return TARGET_FACE;
	// Both directions find a pair of vertices; it is listed for the moving vertex.
	if (a->flip || !body->vertex_collides[other] || a->distance < TAC_CONTACTS_DIRECTION_MIN)
		return TARGET_NONE;
	tac_dvec3 normal = tac_dvec3_scale(a->across, 1 / a->distance);
	const bool in_cones = meets_vertex(a, normal) && tac_contacts_in_vertex_cone(body, other, normal);
	return in_cones ? TARGET_FEATURE : TARGET_NONE;
}

// Vertex k of `from` and the triangle `to`. Returns whether the vertex is over the inside of the triangle: it
// is then over no other one of the same face.
static bool vertex_contact(query *q, const face *from, int k, const face *to, bool flip)
{
	tac_dvec3 p = tac_drigid_apply_point(&from->side->T, from->v[k]), normal = to->triangle->normal;
	double height = tac_dvec3_dot(normal, tac_dvec3_sub(p, to->v[0]));
	if (fabs(height) >= q->margin)
		return false;
	// Behind a face of a solid, only its edges and vertices can be in contact.
	bool behind = height < 0 && !to->side->body->solid;
	if (behind) {
		normal = tac_dvec3_neg(normal);
		height = -height;
	}
	int region;
	tac_dvec3 on = tac_closest_on_triangle(p, to->v, &region), across = tac_dvec3_sub(p, on);
	double d = tac_dvec3_length(across);
	if (d >= q->margin)
		return false;
	q->least = fmin(q->least, d);
	approach a = {from, to, from->triangle->vertex_id[k], flip, behind, p, on, across, height, d};
	target at = TARGET_FACE;
	int32_t feature = to->triangle->id;
	tac_contact_kind kind = flip ? TAC_CONTACT_FACE_VERTEX : TAC_CONTACT_VERTEX_FACE, other_kind = kind;
	if (region < TAC_CLOSEST_EDGE) {
		feature = to->triangle->vertex_id[region];
		at = target_at_vertex(&a, feature);
		other_kind = TAC_CONTACT_VERTEX_VERTEX;
	} else if (region < TAC_CLOSEST_FACE) {
		feature = to->triangle->edge_id[region - TAC_CLOSEST_EDGE];
		at = target_at_edge(&a, feature);
		other_kind = flip ? TAC_CONTACT_EDGE_VERTEX : TAC_CONTACT_VERTEX_EDGE;
	}
	const bool over = region == TAC_CLOSEST_FACE;
	if (at == TARGET_NONE || (at == TARGET_FACE && !(height > 0)))
		return over;
	if (at == TARGET_FEATURE) {
		kind = other_kind;
		normal = tac_dvec3_scale(across, 1 / d);
	} else {
		feature = to->triangle->id;
	}
	tac_contact_point c = {.kind = kind,
			       .moving_feature = flip ? feature : a.vertex,
			       .fixed_feature = flip ? a.vertex : feature,
			       .moving_triangle = flip ? to->triangle->id : from->triangle->id,
			       .fixed_triangle = flip ? from->triangle->id : to->triangle->id,
			       .normal = normal,
			       .point = p,
			       .gap = at == TARGET_FEATURE ? d : height};
	if (flip) { // to the fixed frame, from the fixed body to the moving one
		c.normal = tac_dvec3_neg(tac_dmat3_apply(q->moving.T.R, normal));
		c.point = tac_drigid_apply_point(&q->moving.T, on);
	}
	put(q, &c);
	return over;
}

static void edge_contact(query *q, const face *a, int k, const face *b, int j)
{
	const tac_drigid *T = &q->moving.T;
	tac_dvec3 p = tac_drigid_apply_point(T, a->v[k]), s = b->v[j],
		  u = tac_dmat3_apply(T->R, tac_dvec3_sub(a->v[(k + 1) % 3], a->v[k])),
		  w = tac_dvec3_sub(b->v[(j + 1) % 3], s);
	tac_dvec3 n = tac_dvec3_cross(u, w), r = tac_dvec3_sub(p, s);
	double nn = tac_dvec3_dot(n, n), apart = tac_dvec3_dot(r, n),
	       lengths = tac_dvec3_dot(u, u) * tac_dvec3_dot(w, w);
	// The parameters of the closest points on both edges, times nn.
	double on_a = tac_dvec3_dot(tac_dvec3_cross(w, r), n), on_b = tac_dvec3_dot(tac_dvec3_cross(u, r), n);
	// All at once: which of them fails cannot be predicted.
	const bool near = (apart * apart < q->margin * q->margin * nn) & (nn > NO_ANGLE * lengths) &
			  (on_a > 0) & (on_a < nn) & (on_b > 0) & (on_b < nn);
	if (!near)
		return;
	tac_dvec3 x = tac_dvec3_add_scaled(p, on_a / nn, u), y = tac_dvec3_add_scaled(s, on_b / nn, w);
	tac_dvec3 across = tac_dvec3_sub(x, y);
	double gap = tac_dvec3_length(across);
	q->least = fmin(q->least, gap);
	if (gap >= q->margin || gap < TAC_CONTACTS_DIRECTION_MIN || nn <= PARALLEL * lengths)
		return;
	tac_dvec3 normal = tac_dvec3_scale(across, 1 / gap);
	const int32_t moving = a->triangle->edge_id[k], fixed = b->triangle->edge_id[j];
	if (!tac_contacts_in_edge_cone(q->fixed.body->mesh, fixed, normal) ||
	    !tac_contacts_in_edge_cone(q->moving.body->mesh, moving,
				       tac_dmat3_transpose_apply(T->R, tac_dvec3_neg(normal))))
		return;
	tac_contact_point c = {.kind = TAC_CONTACT_EDGE_EDGE,
			       .moving_feature = moving,
			       .fixed_feature = fixed,
			       .moving_triangle = a->triangle->id,
			       .fixed_triangle = b->triangle->id,
			       .normal = normal,
			       .point = x,
			       .gap = gap};
	put(q, &c);
}

// Loads the triangles of a face. Returns how many.
static int32_t load_face(const side *s, int32_t at, face out[2])
{
	int32_t triangles[2];
	const int32_t count = tac_body_face_triangles(s->body, at, triangles);
	for (int i = 0; i < count; i++) {
		out[i].side = s;
		out[i].triangle = &s->body->triangles[triangles[i]];
		tac_body_triangle_load(out[i].triangle, out[i].v);
	}
	return count;
}

static void load(query *q, const tac_near_pair *pair)
{
	if (q->pair.moving != pair->moving)
		q->moving_count = load_face(&q->moving, pair->moving, q->a);
	q->fixed_count = load_face(&q->fixed, pair->fixed, q->b);
	q->pair = *pair;
}

// A corner or an edge of a face: of which of its triangles, and its place there.
typedef struct part {
	int triangle, k;
} part;

static part corner_of(const tac_body_face *f, int k)
{
	return k < 3 ? (part){0, (f->joint[0] + 1 + k) % 3} : (part){1, (f->joint[1] + 2) % 3};
}

static part edge_of(const tac_body_face *f, int k, int triangles)
{
	return k < 2 || triangles == 1 ? (part){0, (f->joint[0] + 1 + k) % 3}
				       : (part){1, (f->joint[1] + k - 1) % 3};
}

// Adds the contacts of the near features of the loaded pair. Returns how many features it has.
static int examine(query *q, uint32_t features)
{
	const tac_body_face *on_a = &q->moving.body->faces[q->pair.moving],
			    *on_b = &q->fixed.body->faces[q->pair.fixed];
	int count = 0;
	for (uint32_t left = features; left; left &= left - 1, count++) {
		const int bit = __builtin_ctz(left), edges = bit - TAC_FEATURE_BIT_EDGES;
		if (bit < TAC_FEATURE_BIT_FIXED_VERTEX) {
			const part corner = corner_of(on_a, bit);
			bool over = false;
			for (int i = 0; i < q->fixed_count && !over; i++)
				over = vertex_contact(q, &q->a[corner.triangle], corner.k, &q->b[i], false);
		} else if (edges < 0) {
			const part corner = corner_of(on_b, bit - TAC_FEATURE_BIT_FIXED_VERTEX);
			bool over = false;
			for (int i = 0; i < q->moving_count && !over; i++)
				over = vertex_contact(q, &q->b[corner.triangle], corner.k, &q->a[i], true);
		} else {
			const part k = edge_of(on_a, edges / TAC_FACE_VERTICES, q->moving_count),
				   j = edge_of(on_b, edges % TAC_FACE_VERTICES, q->fixed_count);
			edge_contact(q, &q->a[k.triangle], k.k, &q->b[j.triangle], j.k);
		}
	}
	return count;
}

// Whether triangles of the loaded pair cross each other.
static bool crosses(const query *q)
{
	for (int i = 0; i < q->moving_count; i++) {
		tac_dvec3 a[3];
		for (int k = 0; k < 3; k++)
			a[k] = tac_drigid_apply_point(&q->moving.T, q->a[i].v[k]);
		for (int k = 0; k < q->fixed_count; k++) {
			if (tac_triangles_cross(a, q->b[k].v))
				return true;
		}
	}
	return false;
}

// The work of a pair's near features; 0: there are none.
static int64_t examination_work(const tac_near_pair *pair, uint32_t features)
{
	const bool near = features || pair->clearance <= 0;
	return near ? TAC_WORK_FEATURE_PAIR * (1 + __builtin_popcount(features)) : 0;
}

// Lowers the margin to a multiple of a BINS-th of it for which twice the work suffices: a query that has come
// so far is rather completed than repeated. False if there is none.
static bool fit_margin(query *q, const tac_near_pair *pairs, const uint32_t *features, int32_t count)
{
	int64_t bins[BINS] = {0}, left = tac_sweep_context_overdraft(q->context);
	int64_t all = 0;
	for (int32_t i = 0; i < count; i++)
		all += examination_work(&pairs[i], features[i]);
	if (all <= left)
		return true;
	for (int32_t i = 0; i < count; i++) {
		const double at = (double)pairs[i].clearance / q->margin * BINS;
		bins[at <= 0          ? 0
		     : at >= BINS - 1 ? BINS - 1
				      : (int)at] += examination_work(&pairs[i], features[i]);
	}
	int k = 0;
	while (k < BINS && bins[k] <= left)
		left -= bins[k++];
	q->margin *= (double)k / BINS;
	return k > 0;
}

static bool visit(void *user, tac_near_pair *pairs, int32_t count)
{
	query *q = user;
	uint32_t features[TAC_SWEEP_PAIRS_MAX];
	tac_sweep_context_add_work(q->context, TAC_WORK_NEAR_FEATURES * count);
	tac_pairs_near_features(q->moving.body, q->fixed.body, &q->moving.T, q->margin, pairs, count,
				features);
	if (!fit_margin(q, pairs, features, count))
		return false;
	for (int32_t i = 0; i < count; i++) {
		if ((double)pairs[i].clearance > q->margin)
			continue;
		q->out->pairs++;
		if (!features[i] && pairs[i].clearance > 0)
			continue;
		load(q, &pairs[i]);
		tac_sweep_context_add_work(q->context, TAC_WORK_FEATURE_PAIR * (1 + examine(q, features[i])));
		if (pairs[i].clearance <= 0 && crosses(q))
			q->least = 0;
	}
	return true;
}

// Adds the contacts of the sphere faces that the search left out. A feature is the face plus a multiple of
// TAC_SPHERE_FACES_MAX for each plane of the pair.
static void find_nested(query *q, uint16_t without)
{
	const tac_body *moving = q->moving.body, *fixed = q->fixed.body;
	for (int32_t k = 0; without >> k; k++) {
		const int32_t i = k / TAC_SPHERE_FACES_MAX, j = k % TAC_SPHERE_FACES_MAX;
		if (!(without >> k & 1))
			continue;
		tac_nested_plane planes[TAC_NESTED_PLANES];
		const int32_t count =
			tac_nested_planes_at(moving, i, fixed, j, &q->moving.T, q->margin, planes);
		tac_sweep_context_add_work(q->context, TAC_WORK_FEATURE_PAIR * (4 + count));
		if (count == 0)
			continue;
		const int32_t on_moving = tac_sphere_face_triangle(&moving->spheres->faces[i], moving->mesh,
								   planes[0].on_moving),
			      on_fixed = tac_sphere_face_triangle(&fixed->spheres->faces[j], fixed->mesh,
								  planes[0].on_fixed);
		for (int32_t n = 0; n < count; n++) {
			const tac_nested_plane *p = &planes[n];
			q->least = fmin(q->least, p->gap);
			put(q, &(tac_contact_point){.kind = TAC_CONTACT_SPHERES,
						    .moving_feature = i + n * TAC_SPHERE_FACES_MAX,
						    .fixed_feature = j,
						    .moving_triangle = on_moving,
						    .fixed_triangle = on_fixed,
						    .normal = p->normal,
						    .point = p->point,
						    .gap = p->gap});
		}
	}
}

static void finish(query *q)
{
	if (q->out->count > TAC_CONTACTS_MAX)
		prune(q);
	sort_by_features(q->out);
}

void tac_contacts_query(const tac_body *moving, const tac_body *fixed, const tac_drigid *T, double margin,
			tac_sweep_context *context, tac_contacts *out_contacts)
{
	TAC_ASSERT(moving && fixed && T && out_contacts && margin > 0);
	tac_contacts_clear(out_contacts, 0);
	if (!tac_dmat3_finite(T->R) || !tac_dvec3_finite(T->t))
		return;
	tac_sweep_context_bind(context, moving, fixed);
	tac_swept_motion pose = tac_swept_motion_stationary(*T);
	pose.without = tac_nested_find(moving, fixed, &pose);
	query q;
	q.moving = (side){moving, *T};
	q.fixed = (side){fixed, tac_drigid_inverse(T)};
	q.margin = margin;
	q.max_gap = q.least = HUGE_VAL;
	q.context = context;
	q.out = out_contacts;
	q.pair.moving = -1;
	memset(q.chain, 0, sizeof q.chain);
	tac_pair_search search = {.moving = moving,
				  .fixed = fixed,
				  .sweep = &pose,
				  .reach = margin,
				  .fixed_threshold = margin,
				  .moving_threshold = margin,
				  .visit = visit,
				  .user = &q,
				  .limit = TAC_CONTACTS_PAIRS_MAX};
	tac_pair_search_run(&search, context, &q.margin);
	find_nested(&q, pose.without);
	out_contacts->margin = q.margin;
	out_contacts->distance = fmin(q.least, q.margin);
	finish(&q);
}

static tac_dvec3 edge_vector(const tac_body *body, int32_t edge)
{
	const int32_t *v = body->mesh->edges[edge].vertex;
	return tac_dvec3_sub(tac_contacts_vertex(body, v[1]), tac_contacts_vertex(body, v[0]));
}

// The normal of two edges after a motion. Edges that become parallel keep the one they have.
static tac_dvec3 edge_normal_after(const tac_contact_point *contact, const tac_body *moving,
				   const tac_body *fixed, const tac_drigid *to)
{
	const tac_dvec3 u = tac_dmat3_apply(to->R, edge_vector(moving, contact->moving_feature));
	const tac_dvec3 w = edge_vector(fixed, contact->fixed_feature), n = tac_dvec3_cross(u, w);
	const double squared = tac_dvec3_length_squared(n);
	if (squared <= PARALLEL * tac_dvec3_length_squared(u) * tac_dvec3_length_squared(w))
		return contact->normal;
	return tac_dvec3_scale(n, (tac_dvec3_dot(n, contact->normal) < 0 ? -1 : 1) / sqrt(squared));
}

double tac_contacts_gap_after(const tac_contact_point *contact, const tac_body *moving, const tac_body *fixed,
			      const tac_drigid *from, const tac_drigid *to)
{
	TAC_ASSERT(contact && from && to);
	tac_dvec3 normal = contact->normal;
	if (contact->kind == TAC_CONTACT_SPHERES) {
		const int32_t which = contact->moving_feature % TAC_SPHERE_FACES_MAX;
		const tac_dvec3 centre = moving->spheres->faces[which].centre,
				before = tac_drigid_apply_point(from, centre),
				after = tac_drigid_apply_point(to, centre);
		return contact->gap + tac_dvec3_dot(normal, tac_dvec3_sub(after, before));
	}
	const tac_dvec3 foot = tac_dvec3_add_scaled(contact->point, -contact->gap, normal);
	const tac_dvec3 local = tac_dmat3_transpose_apply(from->R, tac_dvec3_sub(contact->point, from->t));
	if (contact->kind == TAC_CONTACT_FACE_VERTEX)
		normal = tac_dmat3_apply(to->R, tac_dmat3_transpose_apply(from->R, normal));
	else if (contact->kind == TAC_CONTACT_EDGE_EDGE && moving)
		normal = edge_normal_after(contact, moving, fixed, to);
	return tac_dvec3_dot(normal, tac_dvec3_sub(tac_drigid_apply_point(to, local), foot));
}

bool tac_contacts_nested(const tac_body *moving, const tac_body *fixed, const tac_drigid *T)
{
	const tac_swept_motion pose = tac_swept_motion_stationary(*T);
	return tac_nested_find(moving, fixed, &pose) != 0;
}
