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

// A point whose distances from a plane and from a piece of it differ by less lies over the piece, m.
#define OVER 1e-12
// Where more triangles are near than fit into the context, the margin is halved so often.
#define HALVINGS 8
// The moving features: the ends of the core are vertices 0 and 1, what lies between them is the edge 0.
#define CORE 0

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
	*c = (tac_contact_point){
		.kind = m.kind,
		.moving_feature = m.moving,
		.fixed_feature = m.fixed,
		.moving_triangle = -1,
		.fixed_triangle = id,
		.moving_surface = -1,
		.fixed_surface = q->body->mesh->triangle_surface[id],
		.normal = normal,
		.point = mad(core, -q->tool->radius, normal),
		.gap = gap,
	};
}

static void put_vertex(query *q, const face *f, tac_contact_kind kind, int32_t moving, int k, tac_dvec3 core,
		       tac_dvec3 across, double distance)
{
	int32_t vertex = q->body->mesh->triangles[f->triangle->id].vertex[k];
	if (!q->body->vertex_collides[vertex])
		return;
	tac_dvec3 n = tac_dvec3_scale(across, 1 / distance);
	if (tac_contacts_in_vertex_cone(q->body, vertex, n))
		put(q, f, (meeting){kind, moving, vertex}, core, n, distance);
}

static void put_edge(query *q, const face *f, tac_contact_kind kind, int32_t moving, int k, tac_dvec3 core,
		     tac_dvec3 across, double distance)
{
	int32_t edge = q->body->mesh->triangle_edges[f->triangle->id].vertex[k];
	uint8_t shape = q->body->edge_kinds[edge];
	// From outside, a neighbour is nearer than a fold.
	if (shape == TAC_CCD_EDGE_FLAT || (shape == TAC_CCD_EDGE_CONCAVE && q->body->solid))
		return;
	tac_dvec3 n = tac_dvec3_scale(across, 1 / distance);
	if (tac_contacts_in_edge_cone(q->body, edge, n))
		put(q, f, (meeting){kind, moving, edge}, core, n, distance);
}

// An end of the core and what of the triangle is nearest to it.
static void examine_end(query *q, const face *f, tac_dvec3 p, int32_t end)
{
	int region;
	tac_dvec3 across = sub(p, tac_ccd_closest_on_triangle(p, f->v, &region));
	double d = tac_dvec3_length(across);
	q->least = fmin(q->least, d);
	if (d >= q->reach || d < TAC_CONTACTS_DIRECTION_MIN)
		return;
	double height = dot(f->triangle->normal, sub(p, f->v[0]));
	if (region == TAC_CCD_REGION_FACE || d - fabs(height) < OVER) {
		tac_dvec3 n = height < 0 ? tac_dvec3_neg(f->triangle->normal) : f->triangle->normal;
		put(q, f, (meeting){TAC_CONTACT_VERTEX_FACE, end, f->triangle->id}, p, n, fabs(height));
	} else if (region >= TAC_CCD_REGION_EDGE) {
		put_edge(q, f, TAC_CONTACT_VERTEX_EDGE, end, region - TAC_CCD_REGION_EDGE, p, across, d);
	} else {
		put_vertex(q, f, TAC_CONTACT_VERTEX_VERTEX, end, region, p, across, d);
	}
}

// The inside of a capsule's core beside the triangle's edges and corners.
static void examine_core(query *q, const face *f)
{
	tac_dvec3 a = q->tool->a, along = sub(q->tool->b, a);
	for (int k = 0; k < 3; k++) {
		tac_dvec3 x, y;
		bool inside = tac_ccd_closest_of_segments(a, q->tool->b, f->v[k], f->v[(k + 1) % 3], &x, &y);
		double d = tac_dvec3_length(sub(x, y));
		q->least = fmin(q->least, d);
		if (inside && d < q->reach && d > TAC_CONTACTS_DIRECTION_MIN)
			put_edge(q, f, TAC_CONTACT_EDGE_EDGE, CORE, k, x, sub(x, y), d);
		double s = dot(sub(f->v[k], a), along) / dot(along, along);
		if (s <= 0 || s >= 1)
			continue;
		x = mad(a, s, along);
		d = tac_dvec3_length(sub(x, f->v[k]));
		if (d < q->reach && d > TAC_CONTACTS_DIRECTION_MIN)
			put_vertex(q, f, TAC_CONTACT_EDGE_VERTEX, CORE, k, x, sub(x, f->v[k]), d);
	}
	// Through the face.
	tac_dvec3 n = f->triangle->normal;
	double ha = dot(n, sub(a, f->v[0])), hb = dot(n, sub(q->tool->b, f->v[0]));
	if ((ha < 0) != (hb < 0)) {
		int region;
		tac_dvec3 x = mad(a, ha / (ha - hb), along);
		x = sub(x, tac_ccd_closest_on_triangle(x, f->v, &region));
		q->least = fmin(q->least, tac_dvec3_length(x));
	}
}

static void examine(query *q, int32_t triangle)
{
	face f = {.triangle = &q->body->triangles[triangle]};
	tac_ccd_triangle_load(f.triangle, f.v);
	examine_end(q, &f, q->tool->a, 0);
	if (q->capsule) {
		examine_end(q, &f, q->tool->b, 1);
		examine_core(q, &f);
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
	for (int i = 0; !tac_ccd_round_list(context, fixed, &around); i++, margin *= 0.5) {
		if (i == HALVINGS)
			return;
		around.radius = tool->radius + 0.5 * margin;
	}
	query q = {.body = fixed, .tool = tool, .out = out};
	q.capsule = tac_dvec3_length_squared(sub(tool->b, tool->a)) > 0;
	q.reach = q.least = around.radius;
	tac_ccd_round_measure(context, tool->a, tool->b, tac_dvec3_zero());
	out->pairs = context->count / TAC_CCD_WIDTH;
	for (int32_t i = 0; i < context->count; i++) {
		if ((double)context->clears[i] >= q.reach)
			continue;
		out->pairs++;
		examine(&q, context->triangle[i]);
	}
	out->margin = margin;
	out->distance = fmax(0, q.least - tool->radius);
}
