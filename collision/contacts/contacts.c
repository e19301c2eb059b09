#include "collision/contacts.h"

#include "base/assert.h"
#include "collision/ccd_pairs.h"
#include "collision/contacts_cone.h"

#include <math.h>
#include <string.h>

#define sub   tac_dvec3_sub
#define dot   tac_dvec3_dot
#define cross tac_dvec3_cross

// A point whose distances from a plane and from a piece of it differ by less lies over the piece, m.
#define OVER 1e-12
// sin^2 of the angle of two edges below which their ends are the contacts, and below which no point between
// them is closer.
#define PARALLEL 1e-8
#define NO_ANGLE 1e-20
#define ROOM     (2 * TAC_CONTACTS_MAX)
// Heads of the chains in which contacts of the same vertex are found; a power of 2.
#define CHAINS 1024
// Pairs whose features are sieved at a time.
#define CHUNK 64

// One of the two bodies in a query. `T` maps it to the fixed frame; NULL: it is the fixed one.
typedef struct side {
	const tac_ccd_body *body;
	const tac_ccd_pose *T;
} side;

typedef struct query {
	side moving, fixed;
	double margin;
	double bar;   // gaps above are dropped: there are enough smaller ones
	double least; // distance so far
	tac_ccd_context *context;
	tac_contacts *out;
	tac_ccd_sweep still;
	tac_ccd_pair pair;
	// Chains of contacts with the same vertex: the first, and each one's next; indices plus 1.
	int16_t chain[CHAINS], next[ROOM];
} query;

static tac_dvec3 to_body(const side *s, tac_dvec3 direction)
{
	return s->T ? tac_dmat3_transpose_apply(s->T->R, direction) : direction;
}

static tac_dvec3 mesh_vertex(const tac_mesh *mesh, int32_t v)
{
	return tac_dvec3_from_vec3(mesh->vertices[v]);
}

static bool in_edge_cone(const side *s, int32_t e, tac_dvec3 n)
{
	return tac_contacts_in_edge_cone(s->body, e, to_body(s, n));
}

static bool in_vertex_cone(const side *s, int32_t v, tac_dvec3 n)
{
	return tac_contacts_in_vertex_cone(s->body, v, to_body(s, n));
}

static bool comes_before(const tac_contact_point *a, const tac_contact_point *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind;
	if (a->moving_feature != b->moving_feature)
		return a->moving_feature < b->moving_feature;
	return a->fixed_feature < b->fixed_feature;
}

// A triangle of one side, in the fixed frame.
typedef struct face {
	const side *side;
	const tac_ccd_triangle *triangle;
	const tac_dvec3 *v;
	tac_dvec3 normal;
} face;

// Whether p lies on the same side of both faces at an ordinary edge of `to`: in front of them, or behind.
// `on` is its closest point, on the edge. A vertex beside a ridge is in front of one face and behind the
// plane of the other.
static bool same_side(const face *to, int32_t e, bool behind, tac_dvec3 p, tac_dvec3 on)
{
	const tac_mesh *mesh = to->side->body->mesh;
	const tac_mesh_edge *edge = &mesh->edges[e];
	int32_t other = edge->triangle[edge->triangle[0] == to->triangle->id];
	const int32_t *v = mesh->triangles[other].vertex;
	tac_dvec3 a = mesh_vertex(mesh, v[0]);
	tac_dvec3 n = cross(sub(mesh_vertex(mesh, v[1]), a), sub(mesh_vertex(mesh, v[2]), a));
	double height = dot(n, to_body(to->side, sub(p, on)));
	return behind ? height <= 0 : height >= 0;
}

// A vertex over the seam of two faces of one plane is one contact, whichever of them has it.
static bool same_contact(const tac_contact_point *a, const tac_contact_point *b)
{
	if (a->kind != b->kind)
		return false;
	bool moving = a->moving_feature == b->moving_feature, fixed = a->fixed_feature == b->fixed_feature;
	if (moving && fixed)
		return true;
	bool vertex = (a->kind == TAC_CONTACT_VERTEX_FACE && moving) ||
		      (a->kind == TAC_CONTACT_FACE_VERTEX && fixed);
	return vertex && dot(a->normal, b->normal) > 1 - 1e-12 && fabs(a->gap - b->gap) < 1e-9;
}

static bool is_closer(const tac_contact_point *a, const tac_contact_point *b)
{
	return a->gap != b->gap ? a->gap < b->gap : comes_before(a, b);
}

typedef bool contact_order(const tac_contact_point *a, const tac_contact_point *b);

// Heap sort of indices, then each cycle of the permutation in turn: bounded, in place, nothing allocated.
static void sort_contacts(tac_contacts *c, contact_order *before)
{
	int16_t order[ROOM];
	for (int32_t i = 0; i < c->count; i++)
		order[i] = (int16_t)i;
	for (int32_t start = c->count / 2 - 1, end = c->count; end > 1;) {
		if (start < 0) {
			int16_t top = order[0];
			order[0] = order[--end];
			order[end] = top;
		}
		int32_t root = start < 0 ? 0 : start--;
		for (int32_t child; (child = 2 * root + 1) < end; root = child) {
			if (child + 1 < end && before(&c->list[order[child]], &c->list[order[child + 1]]))
				child++;
			if (!before(&c->list[order[root]], &c->list[order[child]]))
				break;
			int16_t swap = order[root];
			order[root] = order[child];
			order[child] = swap;
		}
	}
	for (int16_t i = 0; i < c->count; i++) {
		tac_contact_point held = c->list[i];
		int16_t to = i;
		while (order[to] != i) {
			int16_t from = order[to];
			c->list[to] = c->list[from];
			order[to] = to;
			to = from;
		}
		c->list[to] = held;
		order[to] = to;
	}
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

// There is no more room: the closest half stays, and nothing farther will come in.
static void prune(query *q)
{
	tac_contacts *out = q->out;
	sort_contacts(out, is_closer);
	out->dropped += out->count - TAC_CONTACTS_MAX;
	out->count = TAC_CONTACTS_MAX;
	q->bar = out->list[TAC_CONTACTS_MAX - 1].gap;
	memset(q->chain, 0, sizeof q->chain);
	for (int32_t i = 0; i < out->count; i++)
		link_contact(q, i);
}

static void put(query *q, tac_contact_point c)
{
	tac_contacts *out = q->out;
	c.moving_surface = q->moving.body->mesh->triangle_surface[c.moving_triangle];
	c.fixed_surface = q->fixed.body->mesh->triangle_surface[c.fixed_triangle];
	for (int16_t i = *chain_of(q, &c); i > 0; i = q->next[i - 1]) {
		if (!same_contact(&out->list[i - 1], &c))
			continue;
		// The lowest names it, whoever came first.
		if (comes_before(&c, &out->list[i - 1]))
			out->list[i - 1] = c;
		return;
	}
	if (c.gap > q->bar) {
		out->dropped++;
		return;
	}
	if (out->count == ROOM)
		prune(q);
	out->list[out->count] = c;
	link_contact(q, out->count++);
}

static int32_t vertex_id(const face *f, int k)
{
	return f->side->body->mesh->triangles[f->triangle->id].vertex[k];
}

static int32_t edge_id(const face *f, int k)
{
	return f->side->body->mesh->triangle_edges[f->triangle->id].vertex[k];
}

static double height_over(const face *f, tac_dvec3 p)
{
	return dot(f->normal, sub(p, f->v[0]));
}

// Vertex k of `from` and the triangle `to`. `flip` when `to` is the moving one: the kinds' order and the
// normal turn round.
static void vertex_contact(query *q, const face *from, int k, const face *to, bool flip)
{
	tac_dvec3 p = from->v[k], up = to->normal;
	double height = height_over(to, p);
	if (fabs(height) >= q->margin)
		return;
	bool behind = height < 0;
	if (behind && to->side->body->solid)
		behind = false; // stays negative: only edges and vertices may have it
	else if (behind) {
		up = tac_dvec3_neg(up);
		height = -height;
	}
	int region;
	tac_dvec3 on = tac_ccd_closest_on_triangle(p, to->v, &region), across = sub(p, on);
	double d = tac_dvec3_length(across);
	if (d >= q->margin)
		return;
	q->least = fmin(q->least, d);
	int32_t vertex = vertex_id(from, k);
	tac_contact_point c = {.point = flip ? on : p, .gap = height};
	int32_t feature = to->triangle->id;
	c.kind = flip ? TAC_CONTACT_FACE_VERTEX : TAC_CONTACT_VERTEX_FACE;
	tac_dvec3 normal = up;
	bool face_contact = region == TAC_CCD_REGION_FACE;
	if (region >= TAC_CCD_REGION_EDGE && region < TAC_CCD_REGION_FACE) {
		int32_t e = edge_id(to, region - TAC_CCD_REGION_EDGE);
		uint8_t edge = to->side->body->edge_kinds[e];
		// Seen from behind, a fold is a ridge.
		bool concave = edge == (behind ? TAC_CCD_EDGE_CONVEX : TAC_CCD_EDGE_CONCAVE) &&
			       to->side->body->mesh->edges[e].triangle_count == 2;
		if (concave && !to->side->body->solid)
			concave = same_side(to, e, behind, p, on);
		face_contact = concave || (edge == TAC_CCD_EDGE_FLAT && d - fabs(height) < OVER);
		if (!face_contact) {
			if (edge == TAC_CCD_EDGE_FLAT || d < TAC_CONTACTS_DIRECTION_MIN)
				return;
			normal = tac_dvec3_scale(across, 1 / d);
			if (!in_vertex_cone(from->side, vertex, tac_dvec3_neg(normal)) ||
			    !in_edge_cone(to->side, e, normal))
				return;
			c.kind = flip ? TAC_CONTACT_EDGE_VERTEX : TAC_CONTACT_VERTEX_EDGE;
			feature = e;
			c.gap = d;
		}
	} else if (region < TAC_CCD_REGION_EDGE) {
		int32_t other = vertex_id(to, region);
		face_contact = !to->side->body->vertex_collides[other] && d - fabs(height) < OVER;
		if (!face_contact) {
			// Both directions find it: the moving vertex's is taken.
			if (flip || !to->side->body->vertex_collides[other] || d < TAC_CONTACTS_DIRECTION_MIN)
				return;
			normal = tac_dvec3_scale(across, 1 / d);
			if (!in_vertex_cone(from->side, vertex, tac_dvec3_neg(normal)) ||
			    !in_vertex_cone(to->side, other, normal))
				return;
			c.kind = TAC_CONTACT_VERTEX_VERTEX;
			feature = other;
			c.gap = d;
		}
	}
	if (face_contact && !(height > 0))
		return;
	c.normal = flip ? tac_dvec3_neg(normal) : normal;
	c.moving_feature = flip ? feature : vertex;
	c.fixed_feature = flip ? vertex : feature;
	c.moving_triangle = flip ? to->triangle->id : from->triangle->id;
	c.fixed_triangle = flip ? from->triangle->id : to->triangle->id;
	put(q, c);
}

static void edge_contact(query *q, const face *a, int k, const face *b, int j)
{
	tac_dvec3 p = a->v[k], s = b->v[j], u = sub(a->v[(k + 1) % 3], p), w = sub(b->v[(j + 1) % 3], s);
	tac_dvec3 n = cross(u, w), r = sub(p, s);
	double nn = dot(n, n), apart = dot(r, n), most = dot(u, u) * dot(w, w);
	if (apart * apart >= q->margin * q->margin * nn || nn <= NO_ANGLE * most)
		return;
	double on_a = dot(cross(w, r), n), on_b = dot(cross(u, r), n); // parameters of both edges, times nn
	if (!(on_a > 0 && on_a < nn && on_b > 0 && on_b < nn))
		return;
	tac_dvec3 x = tac_dvec3_add_scaled(p, on_a / nn, u), y = tac_dvec3_add_scaled(s, on_b / nn, w);
	tac_dvec3 across = sub(x, y);
	double gap = tac_dvec3_length(across);
	q->least = fmin(q->least, gap);
	if (gap >= q->margin || gap < TAC_CONTACTS_DIRECTION_MIN || nn <= PARALLEL * most)
		return;
	tac_dvec3 normal = tac_dvec3_scale(across, 1 / gap);
	int32_t moving = edge_id(a, k), fixed = edge_id(b, j);
	if (!in_edge_cone(&q->fixed, fixed, normal) ||
	    !in_edge_cone(&q->moving, moving, tac_dvec3_neg(normal)))
		return;
	tac_contact_point c = {.kind = TAC_CONTACT_EDGE_EDGE,
			       .moving_feature = moving,
			       .fixed_feature = fixed,
			       .moving_triangle = a->triangle->id,
			       .fixed_triangle = b->triangle->id,
			       .normal = normal,
			       .point = x,
			       .gap = gap};
	put(q, c);
}

// The contacts of the features of one pair that may be within the margin.
static void examine(query *q, unsigned features)
{
	const tac_ccd_triangle *ta = q->pair.a.triangle, *tb = q->pair.triangle;
	face a = {&q->moving, ta, q->pair.a.start, q->pair.a.normal};
	face b = {&q->fixed, tb, q->pair.b, tb->normal};
	for (unsigned left = features; left; left &= left - 1) {
		int bit = __builtin_ctz(left);
		if (bit < TAC_CCD_FEATURE_FIXED_VERTEX)
			vertex_contact(q, &a, bit, &b, false);
		else if (bit < TAC_CCD_FEATURE_EDGES)
			vertex_contact(q, &b, bit - TAC_CCD_FEATURE_FIXED_VERTEX, &a, true);
		else
			edge_contact(q, &a, (bit - TAC_CCD_FEATURE_EDGES) / 3, &b,
				     (bit - TAC_CCD_FEATURE_EDGES) % 3);
	}
}

static bool visit(void *user, tac_ccd_near *pairs, int32_t count)
{
	query *q = user;
	uint16_t features[CHUNK];
	for (int32_t from = 0; from < count; from += CHUNK) {
		int32_t n = count - from < CHUNK ? count - from : CHUNK;
		tac_ccd_near *some = &pairs[from];
		tac_ccd_work_add(q->context, TAC_CCD_WORK_FEATURES * n);
		tac_ccd_features(q->pair.moving, q->pair.fixed, q->moving.T, q->margin, some, n, features);
		for (int32_t i = 0; i < n; i++) {
			q->out->pairs += (double)some[i].clears <= q->margin;
			bool may_cross = some[i].clears <= 0;
			if (!features[i] && !may_cross)
				continue;
			tac_ccd_pair_load(&q->pair, &q->still, some[i].moving, some[i].fixed, 0);
			tac_ccd_work_add(q->context,
					 TAC_CCD_WORK_CONTACT * (1 + __builtin_popcount(features[i])));
			examine(q, features[i]);
			if (may_cross && tac_ccd_triangles_cross(q->pair.a.start, q->pair.b))
				q->least = 0;
		}
	}
	return true;
}

static void clear(tac_contacts *c)
{
	c->count = 0;
	c->dropped = 0;
	c->pairs = 0;
	c->distance = 0;
	c->margin = 0;
}

static void finish(query *q)
{
	if (q->out->count > TAC_CONTACTS_MAX)
		prune(q);
	sort_contacts(q->out, comes_before);
}

void tac_contacts_query(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
			double margin, tac_ccd_context *context, tac_contacts *out_contacts)
{
	TAC_ASSERT(moving && fixed && T && out_contacts && margin > 0);
	clear(out_contacts);
	if (!tac_dmat3_finite(T->R) || !tac_dvec3_finite(T->t))
		return;
	tac_ccd_context_bind(context, moving, fixed);
	query q = {.moving = {moving, T},
		   .fixed = {fixed, NULL},
		   .margin = margin,
		   .bar = HUGE_VAL,
		   .least = HUGE_VAL,
		   .context = context,
		   .out = out_contacts,
		   .still = tac_ccd_sweep_still(*T),
		   .pair = {.moving = moving, .fixed = fixed, .loaded = -1}};
	tac_ccd_search search = {moving, fixed,  &q.still, T,  margin,
				 margin, margin, visit,    &q, TAC_CONTACTS_PAIRS};
	tac_ccd_near_pairs(&search, context, &q.margin);
	out_contacts->margin = q.margin;
	out_contacts->distance = fmin(q.least, q.margin);
	finish(&q);
}
