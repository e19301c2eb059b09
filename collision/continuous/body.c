#include "collision/continuous/body_tree.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/simd.h"
#include "collision/continuous/bsp.h"
#include "collision/geometry/detail.h"
#include "collision/geometry/flat.h"
#include "collision/trees/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// How much boxes grow, relative to their coordinates: many roundings of float.
#define BOX_ROUNDING 1e-6f

// The sine between two faces up to which they are one flat face, whose edge is no feature.
#define FLAT 1e-9

// Levels that are split by surface area. Deeper ones are halved, which bounds the depth.
#define LEVELS_BY_AREA 8
// A triangle is narrow if its length is more than this many times its width. Where more than one in
// NARROW_SHARE is, nodes are bounded along their length, which takes longer for each node.
#define NARROW       6
#define NARROW_SHARE 8
// Two triangles of a flat face are joined where more than one in JOINED_SHARE of all can be, and at least
// JOINED_LEAST: all nodes and pairs of faces then take longer. The least sine of the turn at a vertex of a
// convex quadrilateral.
#define JOINED_SHARE 4
#define JOINED_LEAST 64
#define CONVEX       1e-6
// A body has a frame of its own if at least this share of its edges, by length, lies along one direction, to
// within this sine. This many directions are tried.
#define FRAME_SHARE      0.1
#define FRAME_SINE       1e-3
#define FRAME_CANDIDATES 32

typedef struct builder {
	const tac_mesh *mesh, *source; // source: that of the def
	tac_body *body;
	tac_split split;
	uint8_t *vertices, *edges;          // the features examined at each mesh triangle
	uint8_t *vertex_taken, *edge_taken; // whether a triangle examines it
	tac_body_node *nodes;               // of the tree that is built
	int32_t node_count;
	int32_t narrow;     // triangles of it that are
	float rounding;     // of the vertices, m
	int32_t *positions; // of the triangles of the mesh in the body, for the second tree; NULL: the first
	int32_t *partners;  // of the triangles of the mesh, for the second tree; see find_partners
} builder;

// A range of the triangles: a child of a node.
typedef struct range {
	int32_t begin, end;
	tac_box box;
} range;

static int32_t size_of(const range *p)
{
	return p->end - p->begin;
}

static tac_dvec3 vertex_of(const tac_mesh *mesh, int32_t v)
{
	return tac_dvec3_from_vec3(mesh->vertices[v]);
}

// 1 when the triangle runs along the edge from its first to its second vertex, -1 in the other direction.
static int direction_in(const tac_mesh *mesh, int32_t t, int32_t e)
{
	for (int k = 0; k < 3; k++) {
		if (mesh->triangle_edges[t].vertex[k] == e)
			return mesh->triangles[t].vertex[k] == mesh->edges[e].vertex[0] ? 1 : -1;
	}
	return 0;
}

// Whether both triangles of an edge belong to one flat face.
static bool inside_flat_face(const tac_body *body, const tac_mesh_edge *edge)
{
	int32_t t[2] = {edge->triangle[0], edge->triangle[1]};
	if (!body->flat)
		return false;
	for (int k = 0; k < 2 && body->detail; k++)
		t[k] = body->detail->same[t[k]];
	const int32_t *face = body->flat->face;
	return t[0] >= 0 && t[1] >= 0 && face[t[0]] >= 0 && face[t[0]] == face[t[1]];
}

static tac_body_edge classify_edge(const tac_body *body, int32_t e)
{
	const tac_mesh *mesh = body->mesh;
	const tac_mesh_edge *edge = &mesh->edges[e];
	if (edge->triangle_count != 2)
		return TAC_BODY_EDGE_CONVEX;
	if (inside_flat_face(body, edge))
		return TAC_BODY_EDGE_FLAT;
	int first = direction_in(mesh, edge->triangle[0], e);
	if (first == direction_in(mesh, edge->triangle[1], e))
		return TAC_BODY_EDGE_CONVEX;
	tac_dvec3 n1 = tac_mesh_triangle_normal(mesh, edge->triangle[0]),
		  n2 = tac_mesh_triangle_normal(mesh, edge->triangle[1]);
	tac_dvec3 along = tac_dvec3_normalize(
		tac_dvec3_sub(vertex_of(mesh, edge->vertex[1]), vertex_of(mesh, edge->vertex[0])));
	double bend = first * tac_dvec3_dot(tac_dvec3_cross(n1, n2), along);
	if (fabs(bend) <= FLAT)
		// A face folded back onto the other has a sharp edge, not a flat one.
		return tac_dvec3_dot(n1, n2) > 0 ? TAC_BODY_EDGE_FLAT : TAC_BODY_EDGE_CONVEX;
	return bend > 0 ? TAC_BODY_EDGE_CONVEX : TAC_BODY_EDGE_CONCAVE;
}

static bool may_touch(const tac_body *body, const tac_body_def *def, int32_t e)
{
	if (def->keep_internal)
		return true;
	uint8_t kind = body->edge_kinds[e];
	return kind == TAC_BODY_EDGE_CONVEX || (kind == TAC_BODY_EDGE_CONCAVE && !def->solid);
}

// Assigns each feature to the first triangle that has it.
static void assign_features(builder *b, const tac_body_def *def)
{
	const tac_mesh *mesh = b->mesh;
	tac_body *body = b->body;
	for (int32_t e = 0; e < mesh->edge_count; e++) {
		body->edge_kinds[e] = (uint8_t)classify_edge(body, e);
		if (may_touch(body, def, e)) {
			body->vertex_collides[mesh->edges[e].vertex[0]] = 1;
			body->vertex_collides[mesh->edges[e].vertex[1]] = 1;
		}
	}
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		for (int k = 0; k < 3; k++) {
			int32_t v = mesh->triangles[t].vertex[k], e = mesh->triangle_edges[t].vertex[k];
			if (body->vertex_collides[v] && (def->repeat_features || !b->vertex_taken[v]))
				b->vertices[t] |= (uint8_t)(1 << k);
			if (may_touch(body, def, e) && (def->repeat_features || !b->edge_taken[e]))
				b->edges[t] |= (uint8_t)(1 << k);
			b->vertex_taken[v] = b->edge_taken[e] = 1;
		}
	}
}

static void list_neighbours(const tac_mesh *mesh, tac_body *body)
{
	for (int32_t e = 0; e < mesh->edge_count; e++) {
		body->vertex_first[mesh->edges[e].vertex[0] + 1]++;
		body->vertex_first[mesh->edges[e].vertex[1] + 1]++;
	}
	for (int32_t v = 0; v < mesh->vertex_count; v++)
		body->vertex_first[v + 1] += body->vertex_first[v];
	// Filling moves each start to its end, which is the start of the next vertex. It is undone below.
	for (int32_t e = 0; e < mesh->edge_count; e++) {
		int32_t a = mesh->edges[e].vertex[0], b = mesh->edges[e].vertex[1];
		body->vertex_neighbour[body->vertex_first[a]++] = b;
		body->vertex_neighbour[body->vertex_first[b]++] = a;
	}
	for (int32_t v = mesh->vertex_count; v > 0; v--)
		body->vertex_first[v] = body->vertex_first[v - 1];
	body->vertex_first[0] = 0;
}

// The corners of an item: those of a triangle, or of both triangles of a face.
static int corner_count(const builder *b, int32_t item)
{
	return b->partners && b->partners[b->split.items[item].triangle] >= 0 ? 6 : 3;
}

static tac_vec3 corner(const builder *b, int32_t item, int k)
{
	const int32_t t = b->split.items[item].triangle;
	return b->mesh->vertices[b->mesh->triangles[k < 3 ? t : b->partners[t]].vertex[k % 3]];
}

// The vertices of an item: a face of two triangles has the fourth at the corner of its second triangle that
// is none of the first.
static tac_vec3 leaf_vertex(const builder *b, int32_t item, int k)
{
	if (k < 3)
		return corner(b, item, k);
	const int32_t t = b->split.items[item].triangle;
	for (int c = 3; c < corner_count(b, item); c++) {
		const int32_t *first = b->mesh->triangles[t].vertex,
			      v = b->mesh->triangles[b->partners[t]].vertex[c - 3];
		if (v != first[0] && v != first[1] && v != first[2])
			return b->mesh->vertices[v];
	}
	return corner(b, item, 0);
}

// Sets the segment across the slab's normal, of lane k, that the triangles of the range are close to. It lies
// along the direction in which they extend most.
static void bound_along(builder *b, const range *p, tac_vec3 normal, tac_vec3 middle, float pad,
			tac_body_node *node, int k)
{
	// The direction of the farthest vertex, across the normal.
	tac_vec3 along = tac_vec3_zero();
	for (int32_t i = p->begin; i < p->end; i++) {
		for (int c = 0; c < corner_count(b, i); c++) {
			tac_vec3 from = tac_vec3_sub(corner(b, i, c), middle);
			from = tac_vec3_add_scaled(from, -tac_vec3_dot(normal, from), normal);
			if (tac_vec3_dot(from, from) > tac_vec3_dot(along, along))
				along = from;
		}
	}
	along = tac_vec3_normalize(along);
	float length = 0, width = 0, side = 0;
	for (int32_t i = p->begin; i < p->end; i++) {
		for (int c = 0; c < corner_count(b, i); c++) {
			tac_vec3 from = tac_vec3_sub(corner(b, i, c), middle);
			length = fmaxf(length, fabsf(tac_vec3_dot(along, from)));
			width = fmaxf(width, fabsf(tac_vec3_dot(tac_vec3_cross(normal, along), from)));
		}
	}
	const float half = fmaxf(0, length - width);
	if (p->end - p->begin == 1 && length > NARROW * width)
		b->narrow++;
	for (int32_t i = p->begin; i < p->end; i++) {
		for (int c = 0; c < corner_count(b, i); c++) {
			tac_vec3 from = tac_vec3_sub(corner(b, i, c), middle);
			float at = fmaxf(-half, fminf(half, tac_vec3_dot(along, from)));
			from = tac_vec3_add_scaled(from, -at, along);
			side = fmaxf(side, tac_vec3_length(tac_vec3_cross(normal, from)));
		}
	}
	node->along[0][k] = along.x;
	node->along[1][k] = along.y;
	node->along[2][k] = along.z;
	node->along_half[k] = half;
	node->side_radius[k] = side + pad;
}

// The sphere face that has all triangles of the range, plus 1; 0: none.
static int32_t sphere_of(const builder *b, const range *p)
{
	const tac_sphere_faces *spheres = b->body->spheres;
	if (!spheres)
		return 0;
	const int32_t face = spheres->of_triangle[b->split.items[p->begin].triangle];
	for (int32_t i = p->begin + 1; i < p->end; i++) {
		if (spheres->of_triangle[b->split.items[i].triangle] != face)
			return 0;
	}
	return face;
}

// Sets lane k of the node: the box and the slab of the range.
static void bound(builder *b, const range *p, tac_body_node *node, int k)
{
	float centre[3], reach[3];
	for (int i = 0; i < 3; i++) {
		centre[i] = 0.5f * p->box.min[i] + 0.5f * p->box.max[i];
		reach[i] = fmaxf(fabsf(p->box.min[i]), fabsf(p->box.max[i]));
		node->centre[i][k] = centre[i];
		node->half[i][k] =
			0.5f * (p->box.max[i] - p->box.min[i]) + BOX_ROUNDING * reach[i] + b->rounding;
	}
	tac_vec3 sum = tac_vec3_zero(), middle = tac_vec3_load(centre); // `sum`: normals, weighted by area
	for (int32_t i = p->begin; i < p->end; i++) {
		tac_vec3 v = corner(b, i, 0);
		sum = tac_vec3_add(sum, tac_vec3_cross(tac_vec3_sub(corner(b, i, 1), v),
						       tac_vec3_sub(corner(b, i, 2), v)));
	}
	tac_vec3 normal = tac_vec3_normalize(sum);
	if (!(tac_vec3_length(normal) > 0.5f)) // a closed surface, or no area: any direction will do
		normal = tac_vec3_make(0, 0, 1);
	float lo = INFINITY, hi = -INFINITY, radius = 0, ball = 0;
	for (int32_t i = p->begin; i < p->end; i++) {
		for (int c = 0; c < corner_count(b, i); c++) {
			tac_vec3 from = tac_vec3_sub(corner(b, i, c), middle);
			float height = tac_vec3_dot(normal, from);
			lo = fminf(lo, height);
			hi = fmaxf(hi, height);
			radius = fmaxf(radius, tac_vec3_length(tac_vec3_cross(normal, from)));
			ball = fmaxf(ball, tac_vec3_length(from));
		}
	}
	float pad = BOX_ROUNDING * tac_vec3_length(tac_vec3_load(reach)) + b->rounding;
	node->slab_normal[0][k] = normal.x;
	node->slab_normal[1][k] = normal.y;
	node->slab_normal[2][k] = normal.z;
	node->slab_offset[k] = 0.5f * (lo + hi);
	node->slab_half[k] = 0.5f * (hi - lo) + pad;
	node->slab_radius[k] = radius + pad;
	node->ball_radius[k] = ball + pad;
	for (int c = 0; c < TAC_FACE_VERTICES && size_of(p) == 1; c++) {
		tac_vec3 from = tac_vec3_sub(leaf_vertex(b, p->begin, c), middle);
		node->vertex[c][0][k] = from.x;
		node->vertex[c][1][k] = from.y;
		node->vertex[c][2][k] = from.z;
	}
	bound_along(b, p, normal, middle, pad, node, k);
	node->sphere[k] = sphere_of(b, p);
}

// The range to split next; -1: none. Ranges with more triangles than a node holds come first, the one with
// the largest area, or, with `halves`, with the most triangles. Then ranges whose triangles all fit into the
// node, so that the lowest nodes are not nearly empty.
static int range_to_split(const range ranges[TAC_BODY_WIDTH], int count, bool halves)
{
	int best = -1;
	float most = -1;
	for (int i = 0; i < count; i++) {
		float a = halves ? (float)size_of(&ranges[i]) : tac_box_half_area(&ranges[i].box);
		if (size_of(&ranges[i]) > TAC_BODY_WIDTH && a > most) {
			most = a;
			best = i;
		}
	}
	for (int i = 0; i < count && best < 0; i++) {
		int32_t size = size_of(&ranges[i]);
		if (size > 1 && size - 1 <= TAC_BODY_WIDTH - count)
			best = i;
	}
	return best;
}

static int divide(builder *b, int level, range ranges[TAC_BODY_WIDTH])
{
	bool halves = level >= LEVELS_BY_AREA;
	int count = 1, next;
	while (count < TAC_BODY_WIDTH && (next = range_to_split(ranges, count, halves)) >= 0) {
		tac_box boxes[2];
		range *left = &ranges[next], *right = &ranges[count++];
		int32_t middle = tac_split_cut(&b->split, left->begin, left->end, halves, boxes);
		*right = (range){middle, left->end, boxes[1]};
		*left = (range){left->begin, middle, boxes[0]};
	}
	return count;
}

static int32_t build_node(builder *b, range whole, int level)
{
	int32_t index = b->node_count++;
	range ranges[TAC_BODY_WIDTH] = {whole};
	int count = divide(b, level, ranges);
	tac_body_node node = {0};
	for (int k = 0; k < TAC_BODY_WIDTH; k++) {
		if (k < count)
			bound(b, &ranges[k], &node, k);
		for (int i = 0; i < 3 && k >= count; i++)
			node.half[i][k] = -1e30f;
		node.child[k] = -1;
	}
	for (int k = 0; k < count; k++) {
		bool leaf = ranges[k].end - ranges[k].begin == 1;
		int32_t at = ranges[k].begin;
		if (leaf && b->positions)
			at = b->positions[b->split.items[at].triangle];
		node.child[k] = leaf ? ~at : build_node(b, ranges[k], level + 1);
	}
	b->nodes[index] = node;
	return index;
}

static void fill_triangles(builder *b)
{
	for (int32_t i = 0; i < b->mesh->triangle_count; i++) {
		int32_t t = b->split.items[i].triangle;
		tac_body_triangle *out = &b->body->triangles[i];
		for (int k = 0; k < 3; k++) {
			out->vertex_id[k] = b->mesh->triangles[t].vertex[k];
			out->edge_id[k] = b->mesh->triangle_edges[t].vertex[k];
			out->vertex[k] = b->mesh->vertices[out->vertex_id[k]];
		}
		out->normal = tac_mesh_triangle_normal(b->mesh, t);
		out->unit = tac_vec3_from_dvec3(out->normal);
		out->id = t;
		out->vertices = b->vertices[t];
		out->edges = b->edges[t];
	}
}

// Builds a tree over the triangles of the mesh. *out_nodes is the caller's to free. False when there is no
// memory.
static bool build_nodes(builder *b, tac_body_node **out_nodes)
{
	const int32_t count = b->split.count;
	range whole = {0, count, tac_split_bounds(&b->split, 0, count)};
	b->node_count = b->narrow = 0;
	b->nodes = aligned_alloc(32, (size_t)count * sizeof *b->nodes);
	if (!b->nodes)
		return false;
	build_node(b, whole, 0);
	size_t bytes = (size_t)b->node_count * sizeof *b->nodes;
	*out_nodes = aligned_alloc(32, bytes);
	if (*out_nodes)
		memcpy(*out_nodes, b->nodes, bytes);
	free(b->nodes);
	return *out_nodes != NULL;
}

static bool build_tree(builder *b)
{
	tac_body *body = b->body;
	if (!build_nodes(b, &body->nodes))
		return false;
	body->pair_nodes = body->nodes;
	body->frame = tac_dmat3_identity();
	body->narrow = b->narrow > b->mesh->triangle_count / NARROW_SHARE;
	tac_box box = tac_split_bounds(&b->split, 0, b->mesh->triangle_count);
	body->centre = tac_vec3_scale(tac_vec3_add(tac_vec3_load(box.min), tac_vec3_load(box.max)), 0.5f);
	tac_dvec3 middle = tac_dvec3_from_vec3(body->centre);
	for (int i = 0; i < 2; i++) {
		const tac_mesh *mesh = i ? b->mesh : b->source;
		for (int32_t v = 0; v < mesh->vertex_count; v++) {
			tac_dvec3 x = vertex_of(mesh, v);
			body->radius = fmax(body->radius, tac_dvec3_length(x));
			body->centre_radius =
				fmax(body->centre_radius, tac_dvec3_length(tac_dvec3_sub(x, middle)));
		}
	}
	body->simd = (int32_t)tac_simd_select();
	fill_triangles(b);
	return true;
}

// --- the second tree ---

static double edge_length(const tac_mesh *mesh, int32_t e)
{
	return tac_dvec3_length(tac_dvec3_sub(vertex_of(mesh, mesh->edges[e].vertex[1]),
					      vertex_of(mesh, mesh->edges[e].vertex[0])));
}

// The place of an edge in a triangle.
static int place_in(const tac_mesh *mesh, int32_t t, int32_t e)
{
	const int32_t *edges = mesh->triangle_edges[t].vertex;
	return edges[0] == e ? 0 : edges[1] == e ? 1 : 2;
}

// The corner of a triangle that is not on an edge of it.
static int32_t apex_of(const tac_mesh *mesh, int32_t t, int32_t e)
{
	return mesh->triangles[t].vertex[(place_in(mesh, t, e) + 2) % 3];
}

// The sine of the turn to the left, about the normal, on the way over three vertices.
static double turn_at(const tac_mesh *mesh, int32_t from, int32_t at, int32_t to, tac_dvec3 normal)
{
	const tac_dvec3 u = tac_dvec3_sub(vertex_of(mesh, at), vertex_of(mesh, from)),
			v = tac_dvec3_sub(vertex_of(mesh, to), vertex_of(mesh, at));
	return tac_dvec3_dot(normal, tac_dvec3_cross(u, v)) / (tac_dvec3_length(u) * tac_dvec3_length(v));
}

// How well both triangles of an edge make one face, up to 1: the length of the edge relative to their longest
// one. 0: not at all, or the quadrilateral would not be convex.
static double joint_value(const tac_body *body, int32_t e)
{
	const tac_mesh *mesh = body->mesh;
	const tac_mesh_edge *edge = &mesh->edges[e];
	if (body->edge_kinds[e] != TAC_BODY_EDGE_FLAT || edge->triangle_count != 2)
		return 0;
	const int32_t s = edge->triangle[0], t = edge->triangle[1], k = place_in(mesh, s, e),
		      a = apex_of(mesh, s, e), b = mesh->triangles[s].vertex[k], c = apex_of(mesh, t, e),
		      d = mesh->triangles[s].vertex[(k + 1) % 3];
	const uint8_t *sphere = body->spheres ? body->spheres->of_triangle : NULL;
	const tac_dvec3 normal = tac_mesh_triangle_normal(mesh, s);
	if ((sphere && sphere[s] != sphere[t]) || direction_in(mesh, s, e) == direction_in(mesh, t, e) ||
	    !(turn_at(mesh, a, b, c, normal) > CONVEX) || !(turn_at(mesh, c, d, a, normal) > CONVEX))
		return 0;
	double longest = 0;
	for (int i = 0; i < 6; i++)
		longest = fmax(longest, edge_length(mesh, mesh->triangle_edges[i < 3 ? s : t].vertex[i % 3]));
	return edge_length(mesh, e) / longest;
}

typedef struct joint {
	double value;
	int32_t edge;
} joint;

static int by_value(const void *a, const void *b)
{
	const joint *x = a, *y = b;
	return x->value > y->value ? -1 : x->value < y->value ? 1 : x->edge - y->edge;
}

// Finds the faces of two triangles: `partners` has the other one of each triangle of the mesh, -1: none. Long
// diagonals come first. Where few triangles make such faces, none does, and *out_any is false. False when
// there is no memory.
static bool find_partners(const tac_body *body, int32_t *partners, bool *out_any)
{
	const tac_mesh *mesh = body->mesh;
	joint *joints = malloc((size_t)mesh->edge_count * sizeof *joints);
	if (!joints)
		return false;
	int32_t count = 0, joined = 0;
	for (int32_t e = 0; e < mesh->edge_count; e++) {
		const double value = joint_value(body, e);
		if (value > 0)
			joints[count++] = (joint){value, e};
	}
	qsort(joints, (size_t)count, sizeof *joints, by_value);
	for (int32_t t = 0; t < mesh->triangle_count; t++)
		partners[t] = -1;
	for (int32_t i = 0; i < count; i++) {
		const int32_t *t = mesh->edges[joints[i].edge].triangle;
		if (partners[t[0]] >= 0 || partners[t[1]] >= 0)
			continue;
		partners[t[0]] = t[1];
		partners[t[1]] = t[0];
		joined += 2;
	}
	free(joints);
	*out_any = joined >= JOINED_LEAST && joined > mesh->triangle_count / JOINED_SHARE;
	for (int32_t t = 0; t < mesh->triangle_count && !*out_any; t++)
		partners[t] = -1;
	return true;
}

static uint8_t bit_of(uint8_t bits, int from, int to)
{
	return (uint8_t)((bits >> from & 1) << to);
}

// Fills in the face that begins with the triangle at `at`.
static void fill_face(tac_body *body, int32_t at)
{
	const tac_mesh *mesh = body->mesh;
	const int32_t with = body->partners ? body->partners[at] : -1;
	const tac_body_triangle *t = &body->triangles[at], *other = with >= 0 ? &body->triangles[with] : NULL;
	int e = 2, f = 2;
	for (int k = 0; k < 9 && other; k++) {
		if (mesh->triangle_edges[t->id].vertex[k / 3] ==
		    mesh->triangle_edges[other->id].vertex[k % 3]) {
			e = k / 3;
			f = k % 3;
		}
	}
	tac_body_face *face = &body->faces[at];
	*face = (tac_body_face){.unit = t->unit, .joint = {(uint8_t)e, (uint8_t)f}};
	for (int k = 0; k < 3; k++) {
		const int corner = (e + 1 + k) % 3;
		face->vertex[k] = t->vertex[corner];
		face->vertices |= bit_of(t->vertices, corner, k);
		face->edges |= bit_of(t->edges, corner, k);
	}
	face->fourth = face->vertex[0];
	if (!other)
		return;
	// The second triangle's features; the diagonal is none.
	face->fourth = other->vertex[(f + 2) % 3];
	face->vertices |= bit_of(other->vertices, f, 0) | bit_of(other->vertices, (f + 1) % 3, 2) |
			  bit_of(other->vertices, (f + 2) % 3, 3);
	face->edges = (uint8_t)((face->edges & 3) | bit_of(other->edges, (f + 1) % 3, 2) |
				bit_of(other->edges, (f + 2) % 3, 3));
	const tac_dvec3 up =
		tac_dvec3_sub(tac_dvec3_from_vec3(face->fourth), tac_dvec3_from_vec3(t->vertex[0]));
	body->bulge = fmax(body->bulge, fabs(tac_dvec3_dot(t->normal, up)));
}

// Fills in the outline of that face.
static void fill_outline(tac_body *body, int32_t at)
{
	const tac_body_face *face = &body->faces[at];
	const tac_dvec3 v[TAC_FACE_VERTICES] = {
		tac_dvec3_from_vec3(face->vertex[0]), tac_dvec3_from_vec3(face->vertex[1]),
		tac_dvec3_from_vec3(face->vertex[2]), tac_dvec3_from_vec3(face->fourth)};
	for (int k = 0; k < TAC_FACE_VERTICES; k++) {
		const tac_dvec3 along = tac_dvec3_sub(v[(k + 1) % TAC_FACE_VERTICES], v[k]);
		const tac_vec3 outward = tac_vec3_from_dvec3(
			tac_dvec3_normalize(tac_dvec3_cross(along, tac_dvec3_from_vec3(face->unit))));
		double most = -HUGE_VAL;
		for (int i = 0; i < TAC_FACE_VERTICES; i++)
			most = fmax(most, tac_dvec3_dot(tac_dvec3_from_vec3(outward), v[i]));
		body->outlines[at].outward[k] = outward;
		body->outlines[at].offset[k] = (float)most;
	}
}

// Makes one item of both triangles of each face.
static void join_items(builder *b)
{
	struct tac_split_item *items = b->split.items;
	int32_t count = 0;
	for (int32_t t = 0; t < b->split.count; t++) { // items are in the order of the triangles
		const int32_t other = b->partners[t];
		if (other >= 0 && other < t)
			continue;
		for (int i = 0; i < 3 && other >= 0; i++) {
			items[t].box.min[i] = fminf(items[t].box.min[i], items[other].box.min[i]);
			items[t].box.max[i] = fmaxf(items[t].box.max[i], items[other].box.max[i]);
		}
		items[count++] = items[t];
	}
	b->split.count = count;
}

// The vector along an edge; zero if it lies in a flat face.
static tac_dvec3 edge_vector(const tac_body *body, int32_t e)
{
	const tac_mesh *mesh = body->mesh;
	if (body->edge_kinds[e] == TAC_BODY_EDGE_FLAT)
		return tac_dvec3_zero();
	return tac_dvec3_sub(vertex_of(mesh, mesh->edges[e].vertex[1]),
			     vertex_of(mesh, mesh->edges[e].vertex[0]));
}

// The length of all edges along the unit direction, m.
static double length_along(const tac_body *body, tac_dvec3 direction)
{
	double sum = 0;
	for (int32_t e = 0; e < body->mesh->edge_count; e++) {
		tac_dvec3 v = edge_vector(body, e);
		double length = tac_dvec3_length(v);
		sum += tac_dvec3_length(tac_dvec3_cross(v, direction)) < FRAME_SINE * length ? length : 0;
	}
	return sum;
}

// The direction, at a right angle to `across` unless that is zero, along which most edges lie, by length;
// zero if less than FRAME_SHARE of all edges do. The candidates are edges at equal distances when all are
// laid end to end.
static tac_dvec3 main_direction(const tac_body *body, tac_dvec3 across)
{
	tac_dvec3 best = tac_dvec3_zero();
	double most = 0, total = 0, laid = 0;
	for (int32_t e = 0; e < body->mesh->edge_count; e++)
		total += tac_dvec3_length(edge_vector(body, e));
	int next = 0;
	for (int32_t e = 0; e < body->mesh->edge_count && next < FRAME_CANDIDATES; e++) {
		tac_dvec3 v = edge_vector(body, e);
		double length = tac_dvec3_length(v);
		laid += length;
		if (laid * FRAME_CANDIDATES < total * next || length == 0 ||
		    fabs(tac_dvec3_dot(v, across)) > FRAME_SINE * length)
			continue;
		next = (int)(laid * FRAME_CANDIDATES / total) + 1;
		double along = length_along(body, tac_dvec3_scale(v, 1 / length));
		if (along > most) {
			most = along;
			best = tac_dvec3_scale(v, 1 / length);
		}
	}
	return most > FRAME_SHARE * total ? best : tac_dvec3_zero();
}

// The frame of a body with long edges in one direction, such as a prism, whose tree is best along it. False
// if there is none, or if it is the mesh's.
static bool find_frame(const tac_body *body, tac_dmat3 *out_frame)
{
	tac_dvec3 z = main_direction(body, tac_dvec3_zero());
	if (tac_dvec3_length_squared(z) == 0)
		return false;
	tac_dvec3 x = main_direction(body, z);
	if (tac_dvec3_length_squared(x) == 0)
		x = fabs(z.x) < 0.5 ? tac_dvec3_make(1, 0, 0) : tac_dvec3_make(0, 1, 0);
	x = tac_dvec3_normalize(tac_dvec3_add_scaled(x, -tac_dvec3_dot(x, z), z));
	tac_dvec3 y = tac_dvec3_cross(z, x);
	const tac_dvec3 axes[3] = {x, y, z};
	bool aligned = true;
	for (int k = 0; k < 3; k++) {
		const double c[3] = {axes[k].x, axes[k].y, axes[k].z};
		for (int i = 0; i < 3; i++) {
			out_frame->m[i][k] = c[i];
			aligned = aligned && (fabs(c[i]) < FRAME_SINE || fabs(c[i]) > 1 - FRAME_SINE);
		}
	}
	return !aligned;
}

// Builds the second tree, in a frame, with the faces as leaves.
static bool build_second(builder *b, builder *second, const tac_dmat3 *frame)
{
	const tac_mesh *mesh = b->mesh;
	tac_body *body = b->body;
	tac_mesh turned = *mesh;
	turned.vertices = malloc((size_t)mesh->vertex_count * sizeof *turned.vertices);
	if (!turned.vertices)
		return false;
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		turned.vertices[i] =
			tac_vec3_from_dvec3(tac_dmat3_transpose_apply(*frame, vertex_of(mesh, i)));
	second->mesh = &turned;
	bool complete = tac_split_init(&turned, &second->split) == TAC_OK;
	if (complete) {
		tac_body_node *nodes;
		join_items(second);
		complete = build_nodes(second, &nodes);
		tac_split_fini(&second->split);
		if (complete) {
			body->pair_nodes = nodes;
			body->frame = *frame;
		}
	}
	free(turned.vertices);
	return complete;
}

// Finds the faces of two triangles, and builds a second tree, for queries of pairs, if there are any, if the
// body has narrow triangles or if it has a frame of its own.
static bool build_pair_tree(builder *b)
{
	tac_body *body = b->body;
	const int32_t count = b->mesh->triangle_count;
	builder second = {.source = b->source, .body = body};
	second.positions = malloc((size_t)count * sizeof *second.positions);
	second.partners = malloc((size_t)count * sizeof *second.partners);
	bool joined = false,
	     complete = second.positions && second.partners && find_partners(body, second.partners, &joined);
	if (complete && joined) {
		body->narrow = true;
		body->partners = malloc((size_t)count * sizeof *body->partners);
		complete = body->partners != NULL;
	}
	for (int32_t i = 0; i < count && complete; i++)
		second.positions[body->triangles[i].id] = i;
	for (int32_t i = 0; i < count && complete && joined; i++) {
		const int32_t other = second.partners[body->triangles[i].id];
		body->partners[i] = other >= 0 ? second.positions[other] : -1;
	}
	tac_dmat3 frame;
	const bool framed = complete && find_frame(body, &frame);
	if (!framed)
		frame = tac_dmat3_identity();
	second.rounding = framed ? BOX_ROUNDING * (float)body->radius : 0;
	if (complete && (framed || body->narrow))
		complete = build_second(b, &second, &frame);
	free(second.positions);
	free(second.partners);
	return complete;
}

tac_body_def tac_body_def_default(void)
{
	tac_body_def def = {NULL, false, false, false, false, 0, 0, 0};
	return def;
}

// Allocates what a body of the mesh needs; false when there is no memory.
static bool allocate(builder *b)
{
	size_t triangles = (size_t)b->mesh->triangle_count, vertices = (size_t)b->mesh->vertex_count,
	       edges = (size_t)b->mesh->edge_count;
	tac_body *body = b->body;
	b->vertices = calloc(triangles, 1);
	b->edges = calloc(triangles, 1);
	b->vertex_taken = calloc(vertices, 1);
	b->edge_taken = calloc(edges, 1);
	body->mesh = b->mesh;
	body->triangles = aligned_alloc(_Alignof(tac_body_triangle), triangles * sizeof *body->triangles);
	body->faces = aligned_alloc(_Alignof(tac_body_face), triangles * sizeof *body->faces);
	body->outlines = aligned_alloc(_Alignof(tac_body_outline), triangles * sizeof *body->outlines);
	body->edge_kinds = calloc(edges, 1);
	body->vertex_collides = calloc(vertices, 1);
	body->vertex_first = calloc(vertices + 1, sizeof(int32_t));
	body->vertex_neighbour = calloc(2 * edges, sizeof(int32_t));
	return b->vertices && b->edges && b->vertex_taken && b->edge_taken && body->triangles &&
	       body->faces && body->outlines && body->edge_kinds && body->vertex_collides &&
	       body->vertex_first && body->vertex_neighbour;
}

// Finds the sphere faces of the mesh. False when there is no memory.
static bool find_spheres(builder *b, const tac_body_def *def)
{
	tac_sphere_faces_destroy(&b->body->spheres);
	return !(def->sphere_m > 0) ||
	       tac_sphere_faces_find(b->mesh, def->sphere_m, &b->body->spheres) == TAC_OK;
}

// Replaces the mesh by a simplified one, whose flat and sphere faces are as they were. False when there is no
// memory.
static bool simplify(builder *b, double detail_m)
{
	tac_body *body = b->body;
	const int32_t count = b->mesh->triangle_count;
	uint8_t *keep = NULL;
	if (body->flat || body->spheres) {
		keep = malloc((size_t)count);
		if (!keep)
			return false;
		for (int32_t t = 0; t < count; t++)
			keep[t] = (body->flat && body->flat->source_triangle[t] < 0) ||
				  (body->spheres && body->spheres->of_triangle[t] > 0);
	}
	const tac_result result = tac_detail_build(b->mesh, keep, detail_m, &body->detail);
	free(keep);
	if (body->detail) {
		b->mesh = body->detail->mesh;
		body->tolerance += body->detail->tolerance;
	}
	return result == TAC_OK;
}

// Builds everything but the body itself; false when there is no memory.
static bool build_body(builder *b, const tac_body_def *def)
{
	tac_body *body = b->body;
	body->solid = def->solid;
	if (def->flat_m != 0) {
		double epsilon = def->flat_m > 0 ? def->flat_m : tac_flat_epsilon(b->source);
		if (tac_flat_build(b->source, epsilon, &body->flat) < TAC_OK)
			return false;
	}
	if (body->flat && body->flat->patch_count > 0) {
		b->mesh = body->flat->mesh;
		body->tolerance = body->flat->tolerance;
	}
	if (!find_spheres(b, def))
		return false;
	if (def->detail_m > 0 && (!simplify(b, def->detail_m) || (body->detail && !find_spheres(b, def))))
		return false;
	if (!allocate(b) || tac_split_init(b->mesh, &b->split) != TAC_OK)
		return false;
	assign_features(b, def);
	list_neighbours(b->mesh, body);
	bool complete = build_tree(b);
	tac_split_fini(&b->split);
	if (complete && def->flat_m != 0 && !def->keep_internal)
		complete = build_pair_tree(b);
	for (int32_t i = 0; i < b->mesh->triangle_count && complete; i++) {
		fill_face(body, i);
		fill_outline(body, i);
	}
	if (complete && def->bsp)
		complete = tac_bsp_build(body, &body->bsp) == TAC_OK;
	return complete;
}

tac_result tac_body_build(const tac_body_def *def, tac_body **out_body)
{
	*out_body = NULL;
	const tac_mesh *mesh = def->mesh;
	if (!mesh || mesh->triangle_count < 1) {
		tac_log(TAC_LOG_ERROR, "body: expected a mesh with triangles, found none");
		return TAC_ERROR_ARGUMENT;
	}
	if (def->solid && !tac_mesh_is_watertight(mesh)) {
		tac_log(TAC_LOG_ERROR,
			"body: expected a watertight mesh for a solid, "
			"found %d open and %d other faulty edges",
			mesh->open_edges, mesh->non_manifold_edges + mesh->flipped_edges);
		return TAC_ERROR_ARGUMENT;
	}
	builder b = {.mesh = mesh, .source = mesh, .body = calloc(1, sizeof *b.body)};
	bool complete = b.body && build_body(&b, def);
	free(b.vertices);
	free(b.edges);
	free(b.vertex_taken);
	free(b.edge_taken);
	if (!complete) {
		tac_log(TAC_LOG_ERROR, "body: expected memory for %d triangles, found none",
			mesh->triangle_count);
		tac_body_destroy(&b.body);
		return TAC_ERROR_MEMORY;
	}
	*out_body = b.body;
	return TAC_OK;
}

void tac_body_destroy(tac_body **body)
{
	if (!*body)
		return;
	free((*body)->triangles);
	if ((*body)->pair_nodes != (*body)->nodes)
		free((*body)->pair_nodes);
	free((*body)->nodes);
	free((*body)->faces);
	free((*body)->outlines);
	free((*body)->partners);
	free((*body)->edge_kinds);
	free((*body)->vertex_collides);
	free((*body)->vertex_first);
	free((*body)->vertex_neighbour);
	tac_bsp_destroy(&(*body)->bsp);
	tac_detail_destroy(&(*body)->detail);
	tac_flat_destroy(&(*body)->flat);
	tac_sphere_faces_destroy(&(*body)->spheres);
	free(*body);
	*body = NULL;
}

const tac_mesh *tac_body_mesh(const tac_body *body)
{
	return body->mesh;
}

double tac_body_tolerance(const tac_body *body)
{
	return body->tolerance;
}

double tac_body_detail(const tac_body *body)
{
	return body->detail ? body->detail->tolerance : 0;
}

int32_t tac_body_source_triangle(const tac_body *body, int32_t triangle, tac_dvec3 point)
{
	TAC_ASSERT(triangle >= 0 && triangle < body->mesh->triangle_count);
	if (body->detail)
		triangle = tac_detail_source(body->detail, triangle, point);
	return body->flat ? tac_flat_source(body->flat, triangle, point) : triangle;
}

double tac_body_radius(const tac_body *body)
{
	return body->radius;
}

bool tac_body_is_solid(const tac_body *body)
{
	return body->solid;
}

tac_body_edge tac_body_edge_kind(const tac_body *body, int32_t edge)
{
	TAC_ASSERT(edge >= 0 && edge < body->mesh->edge_count);
	return (tac_body_edge)body->edge_kinds[edge];
}
