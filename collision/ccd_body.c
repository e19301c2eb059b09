#include "collision/ccd_body.h"

#include "base/log.h"
#include "base/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Boxes grow by this part of their coordinates, many times the rounding of float.
#define BOX_ROUNDING 1e-6f

// While building the tree is binary: a node has two children, or the triangles order[first …].
typedef struct branch {
	tac_vec3 center, half;
	int32_t first; // of the two children; of the triangles
	int32_t count; // 0: inner
} branch;

typedef struct builder {
	const tac_mesh *mesh;
	tac_ccd_body *body;
	tac_vec3 *centers;
	int32_t *order;
	branch *branches;
	int32_t branch_count;
	uint8_t *vertices, *edges;          // owner masks by mesh triangle
	uint8_t *vertex_taken, *edge_taken; // has a triangle that stands for it
} builder;

static tac_dvec3 vertex_of(const tac_mesh *mesh, int32_t v)
{
	return tac_dvec3_from_vec3(mesh->vertices[v]);
}

static tac_dvec3 normal_of(const tac_mesh *mesh, int32_t t)
{
	const int32_t *v = mesh->triangles[t].vertex;
	tac_dvec3 a = vertex_of(mesh, v[0]);
	return tac_dvec3_normalize(tac_dvec3_cross(tac_dvec3_sub(vertex_of(mesh, v[1]), a),
						   tac_dvec3_sub(vertex_of(mesh, v[2]), a)));
}

// +1 when the triangle runs along the edge from its lower to its higher vertex, -1 the other way.
static int direction_in(const tac_mesh *mesh, int32_t t, int32_t e)
{
	for (int k = 0; k < 3; k++) {
		if (mesh->triangle_edges[t].vertex[k] == e)
			return mesh->triangles[t].vertex[k] == mesh->edges[e].vertex[0] ? 1 : -1;
	}
	return 0;
}

static tac_ccd_edge classify_edge(const tac_mesh *mesh, int32_t e)
{
	const tac_mesh_edge *edge = &mesh->edges[e];
	if (edge->triangle_count != 2)
		return TAC_CCD_EDGE_CONVEX;
	int first = direction_in(mesh, edge->triangle[0], e);
	if (first == direction_in(mesh, edge->triangle[1], e))
		return TAC_CCD_EDGE_CONVEX;
	tac_dvec3 n1 = normal_of(mesh, edge->triangle[0]), n2 = normal_of(mesh, edge->triangle[1]);
	tac_dvec3 along = tac_dvec3_normalize(
		tac_dvec3_sub(vertex_of(mesh, edge->vertex[1]), vertex_of(mesh, edge->vertex[0])));
	double bend = first * tac_dvec3_dot(tac_dvec3_cross(n1, n2), along);
	if (fabs(bend) <= TAC_CCD_FLAT)
		// Folded back onto itself is a sharp edge, not a flat one.
		return tac_dvec3_dot(n1, n2) > 0 ? TAC_CCD_EDGE_FLAT : TAC_CCD_EDGE_CONVEX;
	return bend > 0 ? TAC_CCD_EDGE_CONVEX : TAC_CCD_EDGE_CONCAVE;
}

static bool may_touch(const tac_ccd_body *body, const tac_ccd_body_def *def, int32_t e)
{
	if (def->keep_internal)
		return true;
	uint8_t kind = body->edge_kinds[e];
	return kind == TAC_CCD_EDGE_CONVEX || (kind == TAC_CCD_EDGE_CONCAVE && !def->solid);
}

// Which triangle stands for which feature: the first that has it.
static void assign_features(builder *b, const tac_ccd_body_def *def)
{
	const tac_mesh *mesh = b->mesh;
	tac_ccd_body *body = b->body;
	for (int32_t e = 0; e < mesh->edge_count; e++) {
		body->edge_kinds[e] = (uint8_t)classify_edge(mesh, e);
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

static void list_neighbours(const tac_mesh *mesh, tac_ccd_body *body)
{
	for (int32_t e = 0; e < mesh->edge_count; e++) {
		body->vertex_first[mesh->edges[e].vertex[0] + 1]++;
		body->vertex_first[mesh->edges[e].vertex[1] + 1]++;
	}
	for (int32_t v = 0; v < mesh->vertex_count; v++)
		body->vertex_first[v + 1] += body->vertex_first[v];
	// Filling moves each start to its end, which is the next one's start: shift back afterwards.
	for (int32_t e = 0; e < mesh->edge_count; e++) {
		int32_t a = mesh->edges[e].vertex[0], b = mesh->edges[e].vertex[1];
		body->vertex_neighbour[body->vertex_first[a]++] = b;
		body->vertex_neighbour[body->vertex_first[b]++] = a;
	}
	for (int32_t v = mesh->vertex_count; v > 0; v--)
		body->vertex_first[v] = body->vertex_first[v - 1];
	body->vertex_first[0] = 0;
}

static void bound(builder *b, int32_t first, int32_t count, branch *node)
{
	tac_vec3 lo = tac_vec3_splat(INFINITY), hi = tac_vec3_splat(-INFINITY);
	for (int32_t i = first; i < first + count; i++) {
		for (int k = 0; k < 3; k++) {
			tac_vec3 v = b->mesh->vertices[b->mesh->triangles[b->order[i]].vertex[k]];
			lo = tac_vec3_min(v, lo);
			hi = tac_vec3_max(v, hi);
		}
	}
	node->center = tac_vec3_scale(tac_vec3_add(lo, hi), 0.5f);
	tac_vec3 reach = tac_vec3_max(tac_vec3_abs(lo), tac_vec3_abs(hi));
	node->half = tac_vec3_add_scaled(tac_vec3_scale(tac_vec3_sub(hi, lo), 0.5f), BOX_ROUNDING, reach);
}

// Moves the element of rank `rank` of order[first …) along `axis` into its place (Hoare's selection).
static void select_rank(builder *b, int32_t first, int32_t last, int32_t rank, int axis)
{
	while (first < last) {
		float pivot = tac_vec3_get(b->centers[b->order[first + (last - first) / 2]], axis);
		int32_t i = first, j = last;
		while (i <= j) {
			while (tac_vec3_get(b->centers[b->order[i]], axis) < pivot)
				i++;
			while (tac_vec3_get(b->centers[b->order[j]], axis) > pivot)
				j--;
			if (i <= j) {
				int32_t swap = b->order[i];
				b->order[i++] = b->order[j];
				b->order[j--] = swap;
			}
		}
		if (rank <= j)
			last = j;
		else if (rank >= i)
			first = i;
		else
			return;
	}
}

static void build_branch(builder *b, int32_t index, int32_t first, int32_t count)
{
	branch *node = &b->branches[index];
	bound(b, first, count, node);
	if (count <= TAC_CCD_LEAF) {
		node->first = first;
		node->count = count;
		return;
	}
	tac_vec3 lo = tac_vec3_splat(INFINITY), hi = tac_vec3_splat(-INFINITY);
	for (int32_t i = first; i < first + count; i++) {
		lo = tac_vec3_min(b->centers[b->order[i]], lo);
		hi = tac_vec3_max(b->centers[b->order[i]], hi);
	}
	tac_vec3 d = tac_vec3_sub(hi, lo);
	int axis = d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
	// Halves of a multiple of TAC_CCD_LEAF fill the leaves; the depth stays at log2.
	int32_t left = count / 2;
	select_rank(b, first, first + count - 1, first + left, axis);
	node->first = b->branch_count;
	node->count = 0;
	b->branch_count += 2;
	int32_t children = node->first;
	build_branch(b, children, first, left);
	build_branch(b, children + 1, first + left, count - left);
}

// Puts the descendants of a branch, three levels down or leaves, into `list`.
static int collect(const builder *b, int32_t index, int levels, int32_t *list, int count)
{
	const branch *node = &b->branches[index];
	if (levels == 0 || node->count) {
		list[count] = index;
		return count + 1;
	}
	count = collect(b, node->first, levels - 1, list, count);
	return collect(b, node->first + 1, levels - 1, list, count);
}

static void build_node(builder *b, int32_t node_index, int32_t branch_index)
{
	int32_t list[TAC_CCD_WIDTH];
	int count = collect(b, branch_index, 3, list, 0);
	tac_ccd_node *node = &b->body->nodes[node_index];
	for (int k = 0; k < TAC_CCD_WIDTH; k++) {
		for (int axis = 0; axis < 3; axis++) {
			node->center[axis][k] =
				k < count ? tac_vec3_get(b->branches[list[k]].center, axis) : 0;
			node->half[axis][k] =
				k < count ? tac_vec3_get(b->branches[list[k]].half, axis) : -1e30f;
		}
		node->count[k] = k < count ? b->branches[list[k]].count : 0;
		node->child[k] = k < count && node->count[k] ? b->branches[list[k]].first : 0;
	}
	for (int k = 0; k < count; k++) {
		if (node->count[k])
			continue;
		int32_t child = b->body->node_count++;
		b->body->nodes[node_index].child[k] = child;
		build_node(b, child, list[k]);
	}
}

static void fill_triangles(builder *b)
{
	for (int32_t i = 0; i < b->mesh->triangle_count; i++) {
		int32_t t = b->order[i];
		tac_ccd_triangle *out = &b->body->triangles[i];
		for (int k = 0; k < 3; k++)
			out->vertex[k] = b->mesh->vertices[b->mesh->triangles[t].vertex[k]];
		out->id = t;
		out->vertices = b->vertices[t];
		out->edges = b->edges[t];
	}
}

tac_ccd_body_def tac_ccd_body_def_default(void)
{
	tac_ccd_body_def def = {NULL, false, false, false};
	return def;
}

tac_result tac_ccd_body_build(const tac_ccd_body_def *def, tac_ccd_body **out_body)
{
	*out_body = NULL;
	const tac_mesh *mesh = def->mesh;
	if (!mesh || mesh->triangle_count < 1) {
		tac_log(TAC_LOG_ERROR, "ccd body: expected a mesh with triangles, found none");
		return TAC_ERROR_ARGUMENT;
	}
	if (def->solid && !tac_mesh_is_watertight(mesh)) {
		tac_log(TAC_LOG_ERROR,
			"ccd body: expected a watertight mesh for a solid, found %d open and %d other faulty "
			"edges",
			mesh->open_edges, mesh->non_manifold_edges + mesh->flipped_edges);
		return TAC_ERROR_ARGUMENT;
	}
	size_t triangles = (size_t)mesh->triangle_count, vertices = (size_t)mesh->vertex_count,
	       edges = (size_t)mesh->edge_count;
	tac_ccd_body *body = calloc(1, sizeof *body);
	builder b = {mesh,
		     body,
		     calloc(triangles, sizeof(tac_vec3)),
		     calloc(triangles, sizeof(int32_t)),
		     calloc(2 * triangles, sizeof(branch)),
		     1,
		     calloc(triangles, 1),
		     calloc(triangles, 1),
		     calloc(vertices, 1),
		     calloc(edges, 1)};
	if (body) {
		body->mesh = mesh;
		body->solid = def->solid;
		body->triangles = calloc(triangles, sizeof *body->triangles);
		body->nodes = aligned_alloc(32, triangles * sizeof *body->nodes);
		body->edge_kinds = calloc(edges, 1);
		body->vertex_collides = calloc(vertices, 1);
		body->vertex_first = calloc(vertices + 1, sizeof(int32_t));
		body->vertex_neighbour = calloc(2 * edges, sizeof(int32_t));
	}
	bool complete = body && b.centers && b.order && b.branches && b.vertices && b.edges &&
			b.vertex_taken && b.edge_taken && body->triangles && body->nodes &&
			body->edge_kinds && body->vertex_collides && body->vertex_first &&
			body->vertex_neighbour;
	if (complete) {
		assign_features(&b, def);
		list_neighbours(mesh, body);
		for (int32_t t = 0; t < mesh->triangle_count; t++) {
			const int32_t *v = mesh->triangles[t].vertex;
			tac_vec3 sum = tac_vec3_add(tac_vec3_add(mesh->vertices[v[0]], mesh->vertices[v[1]]),
						    mesh->vertices[v[2]]);
			b.centers[t] = tac_vec3_scale(sum, 1.0f / 3.0f);
			b.order[t] = t;
		}
		build_branch(&b, 0, 0, mesh->triangle_count);
		body->node_count = 1;
		build_node(&b, 0, 0);
		body->center = b.branches[0].center;
		body->half = b.branches[0].half;
		body->simd = (int32_t)tac_simd_select();
		fill_triangles(&b);
		for (int32_t v = 0; v < mesh->vertex_count; v++)
			body->radius = fmax(body->radius, tac_dvec3_length(vertex_of(mesh, v)));
	}
	free(b.centers);
	free(b.order);
	free(b.branches);
	free(b.vertices);
	free(b.edges);
	free(b.vertex_taken);
	free(b.edge_taken);
	if (!complete) {
		tac_log(TAC_LOG_ERROR, "ccd body: expected memory for %d triangles, found none",
			mesh->triangle_count);
		tac_ccd_body_destroy(&body);
		return TAC_ERROR_MEMORY;
	}
	*out_body = body;
	return TAC_OK;
}

void tac_ccd_body_destroy(tac_ccd_body **body)
{
	if (!*body)
		return;
	free((*body)->triangles);
	free((*body)->nodes);
	free((*body)->edge_kinds);
	free((*body)->vertex_collides);
	free((*body)->vertex_first);
	free((*body)->vertex_neighbour);
	free(*body);
	*body = NULL;
}
