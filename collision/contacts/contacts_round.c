#include "collision/contacts.h"

#include "base/assert.h"
#include "collision/contacts/cone.h"
#include "collision/contacts/contact_list.h"
#include "collision/continuous/pairs.h"
#include "collision/continuous/round/round_list.h"

#include <math.h>

// How often the margin is halved when more triangles are near than fit into the context.
#define HALVINGS 8
// A triangle gets a new plane when its distance exceeds its clearance by this fraction of the reach.
#define STALE_PLANE 1e-4
// The core of the tool is its segment. Its ends are the moving vertices 0 and 1, its inside the moving edge
// 0.
#define CORE_EDGE 0
// The pieces of the core: its ends, 0 and 1, and its inside.
#define PIECE_INSIDE 2

typedef struct query {
	const tac_body *body;
	const tac_round *tool;
	bool capsule;
	double reach; // radius and margin, m
	double least; // distance from the core of the triangles measured, m
	tac_contacts *out;
} query;

// A triangle under examination.
typedef struct face {
	const tac_body_triangle *triangle;
	tac_dvec3 v[3];
} face;

// The features in contact.
typedef struct meeting {
	tac_contact_kind kind;
	int32_t moving, fixed;
} meeting;

// Whether the contact is listed already: it is at a shared edge or vertex, or over the edge between two
// coplanar faces.
static bool is_listed(const tac_contacts *out, meeting m, tac_dvec3 normal, double gap)
{
	for (int32_t i = 0; i < out->count; i++) {
		const tac_contact_point *c = &out->list[i];
		if (c->kind != m.kind || c->moving_feature != m.moving)
			continue;
		if (c->fixed_feature == m.fixed)
			return true;
		if (m.kind == TAC_CONTACT_VERTEX_FACE && tac_contacts_coplanar(c, normal, gap))
			return true;
	}
	return false;
}

// The contact with the largest gap, which is replaced when there is no more room.
static tac_contact_point *farthest(tac_contacts *out)
{
	tac_contact_point *most = &out->list[0];
	for (int32_t i = 1; i < out->count; i++) {
		if (out->list[i].gap > most->gap)
			most = &out->list[i];
	}
	return most;
}

// `core` is the closest point of the core, at `distance` along the normal.
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
	c->point = tac_dvec3_add_scaled(core, -q->tool->radius, normal);
	c->gap = gap;
}

// Whether the gap `across`, from a feature to the core, is within reach and has a direction.
static bool is_within(const query *q, tac_dvec3 across, tac_dvec3 *out_normal, double *out_distance)
{
	double square = tac_dvec3_length_squared(across);
	if (square >= q->reach * q->reach || square < TAC_CONTACTS_DIRECTION_MIN * TAC_CONTACTS_DIRECTION_MIN)
		return false;
	*out_distance = sqrt(square);
	*out_normal = tac_dvec3_scale(across, 1 / *out_distance);
	return true;
}

// The point x of the core near vertex k.
static void vertex_contact(query *q, const face *f, meeting m, int k, tac_dvec3 x)
{
	tac_dvec3 n;
	double d;
	m.fixed = q->body->mesh->triangles[f->triangle->id].vertex[k];
	if (is_within(q, tac_dvec3_sub(x, f->v[k]), &n, &d) &&
	    tac_contacts_in_vertex_cone(q->body, m.fixed, n))
		put(q, f, m, x, n, d);
}

// The point x of the core near edge k; `across` is the vector from there, at a right angle to the edge.
static void edge_contact(query *q, const face *f, meeting m, int k, tac_dvec3 x, tac_dvec3 across)
{
	tac_dvec3 n;
	double d;
	m.fixed = q->body->mesh->triangle_edges[f->triangle->id].vertex[k];
	if (is_within(q, across, &n, &d) && q->body->edge_kinds[m.fixed] != TAC_BODY_EDGE_FLAT &&
	    tac_contacts_in_edge_cone(q->body->mesh, m.fixed, n))
		put(q, f, m, x, n, d);
}

// The end p of the core over the face.
static void face_contact(query *q, const face *f, tac_dvec3 p, int32_t end)
{
	tac_dvec3 normal = f->triangle->normal;
	double height = tac_dvec3_dot(normal, tac_dvec3_sub(p, f->v[0]));
	if (fabs(height) >= q->reach || tac_dvec3_length_squared(normal) == 0)
		return;
	for (int k = 0; k < 3; k++) {
		tac_dvec3 edge = tac_dvec3_sub(f->v[(k + 1) % 3], f->v[k]);
		double in = tac_dvec3_dot(normal, tac_dvec3_cross(edge, tac_dvec3_sub(p, f->v[k])));
		if (in < 0 &&
		    in * in > TAC_ROUND_FACE_SLACK * TAC_ROUND_FACE_SLACK * tac_dvec3_dot(edge, edge))
			return;
	}
	meeting m = {TAC_CONTACT_VERTEX_FACE, end, f->triangle->id};
	put(q, f, m, p, height < 0 ? tac_dvec3_neg(normal) : normal, fabs(height));
}

static face face_of(const query *q, const tac_round_block *block, int lane)
{
	face f = {.triangle = &q->body->triangles[block->triangle[lane]]};
	tac_body_triangle_load(f.triangle, f.v);
	return f;
}

// An end of the core near a feature of the triangle.
static void examine_end(query *q, const face *f, tac_dvec3 p, int32_t end, int feature)
{
	int k = feature % TAC_ROUND_FEATURE_EDGE;
	if (feature == TAC_ROUND_FEATURE_FACE) {
		face_contact(q, f, p, end);
	} else if (feature < TAC_ROUND_FEATURE_EDGE) {
		vertex_contact(q, f, (meeting){TAC_CONTACT_VERTEX_VERTEX, end, 0}, k, p);
	} else {
		tac_dvec3 edge = tac_dvec3_sub(f->v[(k + 1) % 3], f->v[k]), from = tac_dvec3_sub(p, f->v[k]);
		double along = tac_dvec3_dot(from, edge), length2 = tac_dvec3_dot(edge, edge);
		if (along >= 0 && along <= length2)
			edge_contact(q, f, (meeting){TAC_CONTACT_VERTEX_EDGE, end, 0}, k, p,
				     tac_dvec3_add_scaled(from, -along / length2, edge));
	}
}

// The inside of a capsule's core near a feature of the triangle.
static void examine_inside(query *q, const face *f, int feature)
{
	tac_dvec3 a = q->tool->a, b = q->tool->b, x, y;
	int k = feature % TAC_ROUND_FEATURE_EDGE;
	if (feature < TAC_ROUND_FEATURE_EDGE) {
		tac_dvec3 along = tac_dvec3_sub(b, a);
		double s = tac_dvec3_dot(tac_dvec3_sub(f->v[k], a), along) / tac_dvec3_dot(along, along);
		if (s > 0 && s < 1)
			vertex_contact(q, f, (meeting){TAC_CONTACT_EDGE_VERTEX, CORE_EDGE, 0}, k,
				       tac_dvec3_add_scaled(a, s, along));
	} else if (tac_closest_of_segments(a, b, f->v[k], f->v[(k + 1) % 3], &x, &y)) {
		edge_contact(q, f, (meeting){TAC_CONTACT_EDGE_EDGE, CORE_EDGE, 0}, k, x, tac_dvec3_sub(x, y));
	}
}

// Examines a piece of the core against the candidate features, each at the triangle that owns it. Triangle by
// triangle, so that the order of the contacts does not depend on the blocks.
static void examine_piece(query *q, tac_round_context *list, int32_t piece)
{
	tac_dvec3 p = piece == 0 ? q->tool->a : q->tool->b;
	if (piece == PIECE_INSIDE)
		tac_round_list_cull_core(list, q->tool->a, q->tool->b);
	else
		tac_round_list_cull_end(list, p, q->reach);
	for (int32_t i = 0; i < tac_round_list_block_count(list); i++) {
		const tac_round_block *block = &list->blocks[i];
		for (unsigned lanes = block->candidate_lanes; lanes; lanes &= lanes - 1) {
			int lane = __builtin_ctz(lanes);
			face f = face_of(q, block, lane);
			q->out->pairs += piece == PIECE_INSIDE;
			for (unsigned left = (unsigned)block->candidates[lane]; left; left &= left - 1) {
				if (piece == PIECE_INSIDE)
					examine_inside(q, &f, __builtin_ctz(left));
				else
					examine_end(q, &f, p, piece, __builtin_ctz(left));
			}
		}
	}
}

static void measure_triangle(query *q, tac_round_block *block, int lane)
{
	face f = face_of(q, block, lane);
	tac_round_closest c = tac_round_closest_to(q->tool->a, q->tool->b, f.v);
	q->least = fmin(q->least, c.distance);
	q->out->pairs++;
	// A plane with a clearance close to the distance stays.
	if (c.distance > TAC_CONTACTS_DIRECTION_MIN &&
	    c.distance - (double)block->clearance[lane] > STALE_PLANE * q->reach)
		tac_round_block_set_plane(block, lane, tac_dvec3_sub(c.core, c.on), c.distance);
}

// The smallest distance. The triangle with the smallest clearance is measured first, which culls most others.
static void measure_distance(query *q, tac_round_context *list)
{
	tac_round_block *end = list->blocks + tac_round_list_block_count(list), *first = NULL;
	int first_lane = 0;
	float least = HUGE_VALF;
	for (tac_round_block *block = list->blocks; block < end; block++) {
		for (unsigned lanes = block->near_lanes; lanes; lanes &= lanes - 1) {
			int lane = __builtin_ctz(lanes);
			if (block->clearance[lane] < least) {
				least = block->clearance[lane];
				first = block;
				first_lane = lane;
			}
		}
	}
	if (!first)
		return;
	measure_triangle(q, first, first_lane);
	for (tac_round_block *block = list->blocks; block < end; block++) {
		for (unsigned lanes = block->near_lanes; lanes; lanes &= lanes - 1) {
			int lane = __builtin_ctz(lanes);
			if ((double)block->clearance[lane] < q->least &&
			    (block != first || lane != first_lane))
				measure_triangle(q, block, lane);
		}
	}
}

void tac_contacts_round(const tac_round *tool, const tac_body *fixed, double margin,
			tac_round_context *context, tac_contacts *out)
{
	TAC_ASSERT(tool && fixed && context && out && margin > 0);
	tac_contacts_clear(out, 0);
	if (!tac_dvec3_finite(tool->a) || !tac_dvec3_finite(tool->b) || !(tool->radius >= 0))
		return;
	tac_round region = {tool->a, tool->b, tool->radius + margin};
	for (int i = 0; !tac_round_list_update(context, fixed, &region); i++) {
		if (i == HALVINGS)
			return;
		margin *= 0.5;
		region.radius = tool->radius + margin;
	}
	query q = {.body = fixed, .tool = tool, .out = out};
	q.capsule = tac_dvec3_length_squared(tac_dvec3_sub(tool->b, tool->a)) > 0;
	q.reach = q.least = region.radius;
	tac_round_list_measure(context, (const tac_dvec3[4]){tool->a, tool->b, tool->a, tool->b}, q.reach);
	out->pairs = tac_round_list_block_count(context);
	measure_distance(&q, context);
	if (q.least < q.reach) {
		examine_piece(&q, context, 0);
		if (q.capsule) {
			examine_piece(&q, context, 1);
			examine_piece(&q, context, PIECE_INSIDE);
		}
	}
	out->margin = margin;
	out->distance = fmin(margin, fmax(0, q.least - tool->radius));
}
