#include "collision/contacts.h"

#include "base/assert.h"
#include "collision/ccd_pairs.h"
#include "collision/ccd_round_list.h"
#include "collision/contacts_cone.h"

#include <math.h>

#define sub   tac_dvec3_sub
#define dot   tac_dvec3_dot
#define cross tac_dvec3_cross
#define mad   tac_dvec3_add_scaled

// Where more triangles are near than fit into the context, the margin is halved so often.
#define HALVINGS 8
// A triangle's plane is made anew when it lacks this part of the reach.
#define STALE 1e-4
// The moving features: the ends of the core are vertices 0 and 1, what lies between them is the edge 0.
#define CORE 0
// A part of the core that is none of its ends.
#define BETWEEN 2

typedef struct query {
	const tac_ccd_body *body;
	const tac_ccd_round *tool;
	bool capsule;
	double reach; // radius and margin
	double least; // distance from the core so far
	tac_contacts *out;
} query;

// A triangle under examination.
typedef struct face {
	const tac_ccd_triangle *triangle;
	tac_dvec3 v[3];
} face;

// The features that meet.
typedef struct meeting {
	tac_contact_kind kind;
	int32_t moving, fixed;
} meeting;

// Where contacts stand already: a shared edge or vertex, or a point over the seam of two faces of one plane.
static bool is_listed(const tac_contacts *out, meeting m, tac_dvec3 normal, double gap)
{
	for (int32_t i = 0; i < out->count; i++) {
		const tac_contact_point *c = &out->list[i];
		if (c->kind != m.kind || c->moving_feature != m.moving)
			continue;
		if (c->fixed_feature == m.fixed)
			return true;
		if (m.kind == TAC_CONTACT_VERTEX_FACE && fabs(c->gap - gap) < 1e-9 &&
		    dot(c->normal, normal) > 1 - 1e-12)
			return true;
	}
	return false;
}

// The contact with the largest gap, which has to go when there is no more room.
static tac_contact_point *farthest(tac_contacts *out)
{
	tac_contact_point *most = &out->list[0];
	for (int32_t i = 1; i < out->count; i++) {
		if (out->list[i].gap > most->gap)
			most = &out->list[i];
	}
	return most;
}

// `core` is the point of the core, `distance` how far along the normal it is.
static void put(query *q, const face *f, meeting m, tac_dvec3 core, tac_dvec3 normal, double distance)
{
	tac_contacts *out = q->out;
	double gap = distance - q->tool->radius;
	if (is_listed(out, m, normal, gap))
		return;
	tac_contact_point *c = &out->list[out->count];
	if (out->count == TAC_CONTACTS_MAX) {
		out->dropped++;
		c = farthest(out);
		if (c->gap <= gap)
			return;
	} else {
		out->count++;
	}
	int32_t id = f->triangle->id;
	c->kind = m.kind;
	c->moving_feature = m.moving;
	c->fixed_feature = m.fixed;
	c->moving_triangle = -1;
	c->fixed_triangle = id;
	c->moving_surface = -1;
	c->fixed_surface = q->body->mesh->triangle_surface[id];
	c->normal = normal;
	c->point = mad(core, -q->tool->radius, normal);
	c->gap = gap;
}

// Whether a gap of the core is within reach and has a direction.
static bool is_within(const query *q, tac_dvec3 across, tac_dvec3 *out_normal, double *out_distance)
{
	double square = tac_dvec3_length_squared(across);
	if (square >= q->reach * q->reach || square < TAC_CONTACTS_DIRECTION_MIN * TAC_CONTACTS_DIRECTION_MIN)
		return false;
	*out_distance = sqrt(square);
	*out_normal = tac_dvec3_scale(across, 1 / *out_distance);
	return true;
}

// A point x of the core beside the vertex k.
static void beside_vertex(query *q, const face *f, meeting m, int k, tac_dvec3 x)
{
	tac_dvec3 n;
	double d;
	m.fixed = q->body->mesh->triangles[f->triangle->id].vertex[k];
	if (is_within(q, sub(x, f->v[k]), &n, &d) && tac_contacts_in_vertex_cone(q->body, m.fixed, n))
		put(q, f, m, x, n, d);
}

// A point x of the core beside the edge k; `across` is from there, at a right angle.
static void beside_edge(query *q, const face *f, meeting m, int k, tac_dvec3 x, tac_dvec3 across)
{
	tac_dvec3 n;
	double d;
	m.fixed = q->body->mesh->triangle_edges[f->triangle->id].vertex[k];
	if (is_within(q, across, &n, &d) && q->body->edge_kinds[m.fixed] != TAC_CCD_EDGE_FLAT &&
	    tac_contacts_in_edge_cone(q->body, m.fixed, n))
		put(q, f, m, x, n, d);
}

static void over_face(query *q, const face *f, tac_dvec3 p, int32_t end)
{
	tac_dvec3 normal = f->triangle->normal;
	double height = dot(normal, sub(p, f->v[0]));
	if (fabs(height) >= q->reach || tac_dvec3_length_squared(normal) == 0)
		return;
	for (int k = 0; k < 3; k++) {
		tac_dvec3 edge = sub(f->v[(k + 1) % 3], f->v[k]);
		double in = dot(normal, cross(edge, sub(p, f->v[k])));
		if (in < 0 && in * in > TAC_CCD_ROUND_BESIDE * TAC_CCD_ROUND_BESIDE * dot(edge, edge))
			return;
	}
	meeting m = {TAC_CONTACT_VERTEX_FACE, end, f->triangle->id};
	put(q, f, m, p, height < 0 ? tac_dvec3_neg(normal) : normal, fabs(height));
}

static face face_of(const query *q, const tac_ccd_round_block *block, int lane)
{
	face f = {.triangle = &q->body->triangles[block->triangle[lane]]};
	tac_ccd_triangle_load(f.triangle, f.v);
	return f;
}

// An end of the core over the face, beside an edge or a vertex.
static void examine_end(query *q, const face *f, tac_dvec3 p, int32_t end, int feature)
{
	int k = feature % TAC_CCD_ROUND_EDGE;
	if (feature == TAC_CCD_ROUND_FACE) {
		over_face(q, f, p, end);
	} else if (feature < TAC_CCD_ROUND_EDGE) {
		beside_vertex(q, f, (meeting){TAC_CONTACT_VERTEX_VERTEX, end, 0}, k, p);
	} else {
		tac_dvec3 edge = sub(f->v[(k + 1) % 3], f->v[k]), from = sub(p, f->v[k]);
		double along = dot(from, edge), length2 = dot(edge, edge);
		if (along >= 0 && along <= length2)
			beside_edge(q, f, (meeting){TAC_CONTACT_VERTEX_EDGE, end, 0}, k, p,
				    mad(from, -along / length2, edge));
	}
}

// The inside of a capsule's core beside an edge or a vertex.
static void examine_core(query *q, const face *f, int feature)
{
	tac_dvec3 a = q->tool->a, b = q->tool->b, x, y;
	int k = feature % TAC_CCD_ROUND_EDGE;
	if (feature < TAC_CCD_ROUND_EDGE) {
		tac_dvec3 along = sub(b, a);
		double s = dot(sub(f->v[k], a), along) / dot(along, along);
		if (s > 0 && s < 1)
			beside_vertex(q, f, (meeting){TAC_CONTACT_EDGE_VERTEX, CORE, 0}, k, mad(a, s, along));
	} else if (tac_ccd_closest_of_segments(a, b, f->v[k], f->v[(k + 1) % 3], &x, &y)) {
		beside_edge(q, f, (meeting){TAC_CONTACT_EDGE_EDGE, CORE, 0}, k, x, sub(x, y));
	}
}

// A part of the core, an end or what lies between them, and what the sieve leaves of the features, each where
// a triangle stands for it. Triangle by triangle: where they are in the list does not change the order.
static void examine_part(query *q, tac_ccd_round_context *list, int32_t part)
{
	tac_dvec3 p = part == 0 ? q->tool->a : q->tool->b;
	if (part == BETWEEN)
		tac_ccd_round_sieve_core(list, q->tool->a, q->tool->b);
	else
		tac_ccd_round_sieve(list, p, q->reach);
	for (int32_t i = 0; i < tac_ccd_round_blocks(list); i++) {
		const tac_ccd_round_block *block = &list->blocks[i];
		for (unsigned lanes = block->open; lanes; lanes &= lanes - 1) {
			int lane = __builtin_ctz(lanes);
			face f = face_of(q, block, lane);
			q->out->pairs += part == BETWEEN;
			for (unsigned left = (unsigned)block->left[lane]; left; left &= left - 1) {
				if (part == BETWEEN)
					examine_core(q, &f, __builtin_ctz(left));
				else
					examine_end(q, &f, p, part, __builtin_ctz(left));
			}
		}
	}
}

static void measure_triangle(query *q, tac_ccd_round_block *block, int lane)
{
	face f = face_of(q, block, lane);
	tac_ccd_round_closest c = tac_ccd_round_closest_to(q->tool->a, q->tool->b, f.v);
	q->least = fmin(q->least, c.distance);
	q->out->pairs++;
	// A plane that says almost as much stays.
	if (c.distance > TAC_CONTACTS_DIRECTION_MIN &&
	    c.distance - (double)block->clears[lane] > STALE * q->reach)
		tac_ccd_round_turn_plane(block, lane, sub(c.core, c.on), c.distance);
}

// The least distance of all. What seems to be the closest goes first, and makes most others too far.
static void measure_distance(query *q, tac_ccd_round_context *list)
{
	tac_ccd_round_block *end = list->blocks + tac_ccd_round_blocks(list), *first = NULL;
	int first_lane = 0;
	float least = HUGE_VALF;
	for (tac_ccd_round_block *block = list->blocks; block < end; block++) {
		for (unsigned lanes = block->near; lanes; lanes &= lanes - 1) {
			int lane = __builtin_ctz(lanes);
			if (block->clears[lane] < least) {
				least = block->clears[lane];
				first = block;
				first_lane = lane;
			}
		}
	}
	if (!first)
		return;
	measure_triangle(q, first, first_lane);
	for (tac_ccd_round_block *block = list->blocks; block < end; block++) {
		for (unsigned lanes = block->near; lanes; lanes &= lanes - 1) {
			int lane = __builtin_ctz(lanes);
			if ((double)block->clears[lane] < q->least && (block != first || lane != first_lane))
				measure_triangle(q, block, lane);
		}
	}
}

void tac_contacts_round(const tac_ccd_round *tool, const tac_ccd_body *fixed, double margin,
			tac_ccd_round_context *context, tac_contacts *out)
{
	TAC_ASSERT(tool && fixed && context && out && margin > 0);
	out->count = out->dropped = 0;
	out->pairs = 0;
	out->margin = out->distance = 0;
	if (!tac_dvec3_finite(tool->a) || !tac_dvec3_finite(tool->b) || !(tool->radius >= 0))
		return;
	tac_ccd_round around = {tool->a, tool->b, tool->radius + margin};
	for (int i = 0; !tac_ccd_round_list(context, fixed, &around); i++) {
		if (i == HALVINGS)
			return;
		margin *= 0.5;
		around.radius = tool->radius + margin;
	}
	query q = {.body = fixed, .tool = tool, .out = out};
	q.capsule = tac_dvec3_length_squared(sub(tool->b, tool->a)) > 0;
	q.reach = q.least = around.radius;
	tac_ccd_round_measure(context, (const tac_dvec3[4]){tool->a, tool->b, tool->a, tool->b}, q.reach);
	out->pairs = tac_ccd_round_blocks(context);
	measure_distance(&q, context);
	if (q.least < q.reach) {
		examine_part(&q, context, 0);
		if (q.capsule) {
			examine_part(&q, context, 1);
			examine_part(&q, context, BETWEEN);
		}
	}
	out->margin = margin;
	out->distance = fmin(margin, fmax(0, q.least - tool->radius));
}
