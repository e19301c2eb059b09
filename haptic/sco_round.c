#include "haptic/sco_private.h"

#include "collision/ccd_round.h"

#include <math.h>

#define sub   tac_dvec3_sub
#define dot   tac_dvec3_dot
#define cross tac_dvec3_cross
#define mad   tac_dvec3_add_scaled

// Nodes that wait in the descent: at most TAC_CCD_LEVELS levels, seven others at each.
#define STACK (TAC_CCD_LEVELS * TAC_CCD_WIDTH)
// A point whose distances from a plane and from a piece of it differ by less lies over the piece, m.
#define OVER 1e-12
// Closer than this the direction between two points is rounding, m.
#define DIRECTION_MIN 1e-12

typedef struct look {
	const tac_ccd_body *body;
	tac_ccd_round tool; // in the object's frame
	bool capsule;
	double reach; // radius and margin
	double least; // distance of the core so far
	tac_contacts *out;
} look;

static tac_dvec3 vertex_of(const tac_mesh *mesh, int32_t v)
{
	return tac_dvec3_from_vec3(mesh->vertices[v]);
}

// Whether n points away from the faces at the edge.
static bool edge_faces(const tac_mesh *mesh, int32_t e, tac_dvec3 n)
{
	const tac_mesh_edge *edge = &mesh->edges[e];
	tac_dvec3 a = vertex_of(mesh, edge->vertex[0]);
	tac_dvec3 along = tac_dvec3_normalize(sub(vertex_of(mesh, edge->vertex[1]), a));
	for (int k = 0; k < 2 && edge->triangle[k] >= 0; k++) {
		const int32_t *v = mesh->triangles[edge->triangle[k]].vertex;
		int32_t third = v[0] + v[1] + v[2] - edge->vertex[0] - edge->vertex[1];
		tac_dvec3 inward = sub(vertex_of(mesh, third), a);
		inward = mad(inward, -dot(inward, along), along);
		if (dot(n, inward) > TAC_CONTACTS_CONE * tac_dvec3_length(inward))
			return false;
	}
	return true;
}

static bool vertex_faces(const tac_ccd_body *body, int32_t v, tac_dvec3 n)
{
	tac_dvec3 at = vertex_of(body->mesh, v);
	for (int32_t i = body->vertex_first[v]; i < body->vertex_first[v + 1]; i++) {
		tac_dvec3 d = sub(vertex_of(body->mesh, body->vertex_neighbour[i]), at);
		if (dot(n, d) > TAC_CONTACTS_CONE * tac_dvec3_length(d))
			return false;
	}
	return true;
}

static void put(look *l, const tac_ccd_triangle *t, tac_dvec3 core, tac_dvec3 normal, double distance,
		int32_t feature)
{
	tac_contacts *out = l->out;
	double gap = distance - l->tool.radius;
	for (int32_t i = 0; i < out->count; i++) {
		if (dot(out->list[i].normal, normal) > 1 - 1e-12 && fabs(out->list[i].gap - gap) < 1e-9 &&
		    out->list[i].moving_feature == feature)
			return;
	}
	if (out->count == TAC_CONTACTS_MAX) {
		out->dropped++;
		return;
	}
	out->list[out->count++] = (tac_contact_point){
		.kind = TAC_CONTACT_VERTEX_FACE,
		.moving_feature = feature,
		.fixed_feature = t->id,
		.moving_triangle = -1,
		.fixed_triangle = t->id,
		.moving_surface = -1,
		.fixed_surface = l->body->mesh->triangle_surface[t->id],
		.normal = normal,
		.point = mad(core, -l->tool.radius, normal),
		.gap = gap,
	};
}

static void take(look *l, double distance)
{
	l->least = fmin(l->least, distance);
}

// An end of the core over a triangle: the rules of collision/contacts.h for a vertex without faces of its
// own.
static void end_over(look *l, const tac_ccd_triangle *t, const tac_dvec3 v[3], tac_dvec3 p, int32_t feature)
{
	int region;
	tac_dvec3 on = tac_ccd_closest_on_triangle(p, v, &region), across = sub(p, on);
	double d = tac_dvec3_length(across), height = dot(t->normal, sub(p, v[0]));
	take(l, d);
	if (d >= l->reach || d < DIRECTION_MIN)
		return;
	const tac_mesh *mesh = l->body->mesh;
	tac_dvec3 n = tac_dvec3_scale(across, 1 / d);
	double side = height < 0 ? -1 : 1;
	bool over = region == TAC_CCD_REGION_FACE || d - fabs(height) < OVER;
	if (!over && region >= TAC_CCD_REGION_EDGE) {
		int32_t e = mesh->triangle_edges[t->id].vertex[region - TAC_CCD_REGION_EDGE];
		// Where the edge does not stand out, a neighbour is nearer.
		if (l->body->edge_kinds[e] != TAC_CCD_EDGE_FLAT && edge_faces(mesh, e, n))
			put(l, t, p, n, d, feature);
		return;
	}
	if (!over) {
		int32_t vertex = mesh->triangles[t->id].vertex[region];
		if (l->body->vertex_collides[vertex] && vertex_faces(l->body, vertex, n))
			put(l, t, p, n, d, feature);
		return;
	}
	put(l, t, p, tac_dvec3_scale(t->normal, side), fabs(height), feature);
}

// The inside of a capsule's core beside the triangle's edges and corners.
static void core_beside(look *l, const tac_ccd_triangle *t, const tac_dvec3 v[3])
{
	const tac_mesh *mesh = l->body->mesh;
	tac_dvec3 a = l->tool.a, along = sub(l->tool.b, a);
	for (int k = 0; k < 3; k++) {
		tac_dvec3 x, y;
		bool inside = tac_ccd_closest_of_segments(a, l->tool.b, v[k], v[(k + 1) % 3], &x, &y);
		double d = tac_dvec3_length(sub(x, y));
		take(l, d);
		int32_t e = mesh->triangle_edges[t->id].vertex[k];
		if (inside && d < l->reach && d > DIRECTION_MIN &&
		    l->body->edge_kinds[e] != TAC_CCD_EDGE_FLAT) {
			tac_dvec3 n = tac_dvec3_scale(sub(x, y), 1 / d);
			if (edge_faces(mesh, e, n))
				put(l, t, x, n, d, 2);
		}
		double s = dot(sub(v[k], a), along) / dot(along, along);
		if (s <= 0 || s >= 1)
			continue;
		x = mad(a, s, along);
		d = tac_dvec3_length(sub(x, v[k]));
		int32_t vertex = mesh->triangles[t->id].vertex[k];
		if (d < l->reach && d > DIRECTION_MIN && l->body->vertex_collides[vertex]) {
			tac_dvec3 n = tac_dvec3_scale(sub(x, v[k]), 1 / d);
			if (vertex_faces(l->body, vertex, n))
				put(l, t, x, n, d, 2);
		}
	}
	// Through the face.
	double ha = dot(t->normal, sub(a, v[0])), hb = dot(t->normal, sub(l->tool.b, v[0]));
	if ((ha < 0) != (hb < 0)) {
		int region;
		tac_dvec3 x = mad(a, ha / (ha - hb), along);
		take(l, tac_dvec3_length(sub(x, tac_ccd_closest_on_triangle(x, v, &region))));
	}
}

static void examine(look *l, const tac_ccd_triangle *t)
{
	tac_dvec3 v[3];
	for (int k = 0; k < 3; k++)
		v[k] = tac_dvec3_from_vec3(t->vertex[k]);
	end_over(l, t, v, l->tool.a, 0);
	if (l->capsule) {
		end_over(l, t, v, l->tool.b, 1);
		core_beside(l, t, v);
	}
}

static tac_ccd_round place(const tac_sco *sco, tac_dpose T_object_tool)
{
	const tac_sco_round *r = &sco->def.round;
	return (tac_ccd_round){tac_dpose_apply_point(T_object_tool, r->a_m),
			       tac_dpose_apply_point(T_object_tool, r->b_m), r->radius_m};
}

void tac_sco_round_contacts(const tac_sco *sco, const tac_ccd_body *body, tac_dpose T_object_tool,
			    double margin, tac_contacts *out)
{
	look l = {.body = body, .tool = place(sco, T_object_tool), .out = out};
	l.capsule = tac_dvec3_length_squared(sub(l.tool.b, l.tool.a)) > 0;
	l.reach = l.least = l.tool.radius + margin;
	out->count = out->dropped = 0;
	out->pairs = 0;
	// The ball about the middle that holds everything within reach.
	tac_dvec3 middle = tac_dvec3_scale(tac_dvec3_add(l.tool.a, l.tool.b), 0.5);
	double ball = l.reach + tac_dvec3_length(sub(l.tool.a, middle));
	const double m[3] = {middle.x, middle.y, middle.z};
	int32_t triangles = 0;
	int32_t stack[STACK];
	int top = 0;
	stack[top++] = 0;
	while (top > 0) {
		const tac_ccd_node *node = &body->nodes[stack[--top]];
		for (int k = 0; k < TAC_CCD_WIDTH; k++) {
			double away = 0;
			for (int i = 0; i < 3; i++) {
				double out_of =
					fabs(m[i] - (double)node->center[i][k]) - (double)node->half[i][k];
				away += out_of > 0 ? out_of * out_of : 0;
			}
			if (!(away <= ball * ball))
				continue;
			if (node->child[k] >= 0) {
				stack[top++] = node->child[k];
				continue;
			}
			triangles++;
			examine(&l, &body->triangles[~node->child[k]]);
		}
	}
	out->pairs = triangles / TAC_SCO_ROUND_PAIR + 1;
	out->distance = fmax(0, l.least - l.tool.radius);
}

tac_ccd_result tac_sco_round_sweep(const tac_sco *sco, const tac_ccd_body *body, tac_dpose T_object_tool,
				   tac_dvec3 v, const tac_ccd_options *options)
{
	tac_ccd_round tool = place(sco, T_object_tool);
	tac_ccd_options triangles = *options;
	triangles.pair_limit *= TAC_SCO_ROUND_PAIR;
	tac_ccd_result r = tac_ccd_round_translate(&tool, body, v, &triangles);
	r.pairs = r.pairs / TAC_SCO_ROUND_PAIR + 1;
	return r;
}
