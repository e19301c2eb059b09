#include "tissue/surface/nets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A vertex keeps this far from the sides of its cell, voxels, so that no triangle is without area, and the
// vertices of two sheets a little further, so that they differ.
#define BORDER       0.02F
#define BORDER_SHEET 0.005F
// The planes of nodes that are further from the surface do not count, voxels.
#define PLANE_MAX 1.2F
// Of a vertex to the middle of the crossings, where a plane has 1.
#define SPRING 0.05
// The interpolated distance at a vertex, voxels: it is above zero at a sharp edge, which interpolation
// rounds.
#define SHARP_INSIDE  0.2F
#define SHARP_OUTSIDE 0.45F
// Directions that are examined for what hides them, and how far, in steps of so many voxels.
#define SKY_DIRECTIONS 16
#define SKY_STEPS      6
#define SKY_VOXELS     2.5F

// ---- cases ----

static int axis_bit(int corner, int axis)
{
	return corner >> (axis % 3) & 1;
}

static int edge_between(int from, int to)
{
	const int axis = (from ^ to) >> 1; // 1, 2, 4 become 0, 1, 2
	return 4 * axis + axis_bit(from, axis + 1) + 2 * axis_bit(from, axis + 2);
}

static int lower_corner(int edge)
{
	const int axis = edge / 4;
	return (edge & 1) << (axis + 1) % 3 | (edge >> 1 & 1) << (axis + 2) % 3;
}

// Corner i of a face, around it.
static int face_corner(int face, int i)
{
	const int axis = face / 2, u = i == 1 || i == 2, v = i >= 2;
	return (face & 1) << axis | u << (axis + 1) % 3 | v << (axis + 2) % 3;
}

static bool alternates(int material, int face)
{
	int bits = 0;
	for (int i = 0; i < 4; i++)
		bits |= (material >> face_corner(face, i) & 1) << i;
	return bits == 5 || bits == 10;
}

static void join(int8_t *sheet, int a, int b)
{
	const int8_t from = sheet[a], to = sheet[b];
	for (int e = 0; e < NETS_EDGES; e++)
		sheet[e] = sheet[e] == from ? to : sheet[e];
}

// Joins the crossed edges of a face. Where its corners alternate, the two at each corner whose material is
// `cut_off`.
static void join_face(int material, int face, int cut_off, int8_t *sheet)
{
	int edge[4], crossed[4], count = 0;
	for (int i = 0; i < 4; i++) {
		edge[i] = edge_between(face_corner(face, i), face_corner(face, (i + 1) % 4));
		if (sheet[edge[i]] >= 0)
			crossed[count++] = edge[i];
	}
	for (int i = 0; count == 4 && i < 4; i++) {
		if ((material >> face_corner(face, i) & 1) == cut_off)
			join(sheet, edge[i], edge[(i + 3) % 4]);
	}
	if (count == 2)
		join(sheet, crossed[0], crossed[1]);
}

// The sheets, numbered from 0. `other_way`: a face; -1: none.
static void find_sheets(int material, int other_way, int8_t sheet[NETS_EDGES])
{
	for (int e = 0; e < NETS_EDGES; e++) {
		const int corner = lower_corner(e);
		const bool crossed = (material >> corner ^ material >> (corner | 1 << e / 4)) & 1;
		sheet[e] = crossed ? (int8_t)(NETS_EDGES + e) : -1;
	}
	for (int face = 0; face < 6; face++)
		join_face(material, face, face == other_way ? 0 : 1, sheet);
	int8_t count = 0;
	for (int e = 0; e < NETS_EDGES; e++) {
		if (sheet[e] < NETS_EDGES)
			continue;
		const int8_t old = sheet[e];
		for (int k = e; k < NETS_EDGES; k++)
			sheet[k] = sheet[k] == old ? count : sheet[k];
		count++;
	}
}

void tac_nets_table_init(tac_nets_table *table)
{
	for (int material = 0; material < 256; material++) {
		tac_nets_case *c = &table->cases[material];
		find_sheets(material, -1, c->sheet[0]);
		c->twice = -1;
		for (int face = 0; face < 6; face++) {
			const int opposite[2] = {face_corner(face, 0), face_corner(face, 2)};
			const int next = face_corner(face, 1), last = face_corner(face, 3);
			const int corner = material >> opposite[0] & 1 ? opposite[0] : next;
			const int across = corner == next ? last : opposite[1];
			const int beside = corner == next ? opposite[0] : next;
			if (alternates(material, face) && c->sheet[0][edge_between(corner, beside)] ==
								  c->sheet[0][edge_between(across, beside)])
				c->twice = (int8_t)face;
		}
		find_sheets(material, c->twice, c->sheet[1]);
	}
}

// ---- a brick and what is around it ----

// Nodes from -2 to 9 of a brick, as far as the sheets of its cells depend on them.
#define AROUND 2
#define NODES  (FIELD_BRICK + 2 * AROUND)
#define CELLS  (FIELD_BRICK + 1) // with quadrilaterals of the brick: from -1

typedef struct block {
	const tac_field *field;
	const tac_nets_table *table;
	int32_t first[3]; // node of the brick
	float distance[NODES][NODES][NODES];
	int16_t vertex[CELLS][CELLS][CELLS][4]; // of the patch; -1: not made yet
} block;

// Copies nodes [from, to) of a row along z, which lies in one brick.
static void copy_row(const tac_field *f, const int32_t node[3], int count, float *out)
{
	for (int k = 0; k < 3; k++) {
		if (node[k] < 0 || node[k] >= f->bricks[k] * FIELD_BRICK) {
			for (int i = 0; i < count; i++)
				out[i] = tac_field_node_distance(f, node[0], node[1], node[2]);
			return;
		}
	}
	const int32_t entry = f->table[tac_field_brick_index(f, node[0] >> 3, node[1] >> 3, node[2] >> 3)];
	if (entry >= 0) {
		const int at = ((node[0] & 7) * FIELD_BRICK + (node[1] & 7)) * FIELD_BRICK + (node[2] & 7);
		memcpy(out, &f->pool[entry].distance[at], (size_t)count * sizeof *out);
		return;
	}
	for (int i = 0; i < count; i++)
		out[i] = tac_field_node_distance(f, node[0], node[1], node[2]);
}

// False: the surface does not cross the edges of the brick's cells.
static bool copy_block(block *b)
{
	int inside = 0;
	for (int i = 0; i < NODES; i++) {
		for (int j = 0; j < NODES; j++) {
			float *row = b->distance[i][j];
			int32_t node[3] = {b->first[0] + i - AROUND, b->first[1] + j - AROUND,
					   b->first[2] - AROUND};
			copy_row(b->field, node, AROUND, row);
			node[2] += AROUND;
			copy_row(b->field, node, FIELD_BRICK, row + AROUND);
			node[2] += FIELD_BRICK;
			copy_row(b->field, node, AROUND, row + AROUND + FIELD_BRICK);
			for (int k = 0; k < NODES; k++)
				inside += row[k] < 0;
		}
	}
	return inside > 0 && inside < NODES * NODES * NODES;
}

// The corners of the cell with the lowest node (i, j, k) of the brick that are material.
static int material_of(const block *b, const int32_t cell[3])
{
	int material = 0;
	for (int c = 0; c < 8; c++)
		material |= (b->distance[cell[0] + AROUND + (c & 1)][cell[1] + AROUND + (c >> 1 & 1)]
					[cell[2] + AROUND + (c >> 2)] < 0)
			    << c;
	return material;
}

// The sheets of a cell. They depend on a neighbour where one sheet crosses the face to it twice.
static const int8_t *sheets_of(const block *b, const int32_t cell[3], int material)
{
	const tac_nets_case *c = &b->table->cases[material];
	if (c->twice < 0)
		return c->sheet[0];
	int32_t next[3] = {cell[0], cell[1], cell[2]};
	next[c->twice / 2] += c->twice & 1 ? 1 : -1;
	return c->sheet[b->table->cases[material_of(b, next)].twice == (c->twice ^ 1)];
}

// ---- vertices ----

// The share of directions about the normal that lead out of the material within a few voxels.
static float open_sky(const tac_field *f, tac_vec3 at, tac_vec3 normal)
{
	const tac_vec3 u = tac_vec3_perpendicular(normal), v = tac_vec3_cross(normal, u);
	int open = 0;
	for (int i = 0; i < SKY_DIRECTIONS; i++) {
		// A spiral that covers the hemisphere, denser about the normal.
		const float rho = 0.95F * sqrtf(((float)i + 0.5F) / SKY_DIRECTIONS),
			    turn = 2.39996323F * (float)i;
		const tac_vec3 way = tac_vec3_add(tac_vec3_scale(normal, sqrtf(1 - rho * rho)),
						  tac_vec3_add(tac_vec3_scale(u, rho * cosf(turn)),
							       tac_vec3_scale(v, rho * sinf(turn))));
		bool hidden = false;
		for (int k = 1; k <= SKY_STEPS && !hidden; k++) {
			const tac_vec3 p = tac_vec3_add_scaled(at, SKY_VOXELS * (float)k, way);
			hidden = tac_field_node_distance(f, (int32_t)floorf(p.x + 0.5F),
							 (int32_t)floorf(p.y + 0.5F),
							 (int32_t)floorf(p.z + 0.5F)) < 0;
		}
		open += !hidden;
	}
	return (float)open / SKY_DIRECTIONS;
}

// The gradient of the interpolated distance at a place of a cell, in voxels from its lowest node.
static tac_vec3 gradient(const float corner[8], tac_vec3 at)
{
	const float place[3] = {at.x, at.y, at.z};
	float slope[3] = {0, 0, 0};
	for (int axis = 0; axis < 3; axis++) {
		const int u = (axis + 1) % 3, v = (axis + 2) % 3;
		for (int i = 0; i < 4; i++) {
			const int low = (i & 1) << u | (i >> 1) << v;
			const float weight =
				(i & 1 ? place[u] : 1 - place[u]) * (i >> 1 ? place[v] : 1 - place[v]);
			slope[axis] += weight * (corner[low | 1 << axis] - corner[low]);
		}
	}
	return tac_vec3_make(slope[0], slope[1], slope[2]);
}

// The middle of the crossings of a sheet, in voxels from the cell's lowest node. *out_ends has bit i for each
// corner i that is an end of a crossed edge.
static tac_vec3 middle_of(const float corner[8], const int8_t *sheets, int sheet, int *out_ends)
{
	float sum[3] = {0, 0, 0};
	int count = 0;
	*out_ends = 0;
	for (int e = 0; e < NETS_EDGES; e++) {
		if (sheets[e] != sheet)
			continue;
		const int low = lower_corner(e), high = low | 1 << e / 4;
		const float t = corner[low] / (corner[low] - corner[high]);
		for (int axis = 0; axis < 3; axis++)
			sum[axis] += axis == e / 4 ? t : (float)(low >> axis & 1);
		*out_ends |= 1 << low | 1 << high;
		count++;
	}
	const float share = 1 / (float)count;
	return tac_vec3_make(sum[0] * share, sum[1] * share, sum[2] * share);
}

static float interpolate(const tac_field_node corner[8], tac_vec3 at)
{
	float sum = 0;
	for (int c = 0; c < 8; c++)
		sum += corner[c].distance * (c & 1 ? at.x : 1 - at.x) * (c & 2 ? at.y : 1 - at.y) *
		       (c & 4 ? at.z : 1 - at.z);
	return sum;
}

// The place that is nearest to the planes of the surface that the corners know, by least squares, with a weak
// spring to `middle`: edges stay sharp. Lengths in voxels, `scale` of them in a metre.
static tac_vec3 sharpen(const tac_field_node corner[8], int ends, tac_vec3 middle, float scale, float border)
{
	tac_dmat3 a = tac_dmat3_scale(tac_dmat3_identity(), SPRING);
	tac_dvec3 b = tac_dvec3_zero();
	for (int c = 0; c < 8; c++) {
		const float distance = scale * corner[c].distance;
		if (!(ends >> c & 1) || fabsf(distance) > PLANE_MAX)
			continue;
		const tac_vec3 from = tac_vec3_sub(
			middle, tac_vec3_make((float)(c & 1), (float)(c >> 1 & 1), (float)(c >> 2)));
		const tac_dvec3 n = tac_dvec3_from_vec3(corner[c].normal);
		a = tac_dmat3_add(a, tac_dmat3_outer(n, n));
		b = tac_dvec3_add_scaled(b, -(double)(tac_vec3_dot(corner[c].normal, from) + distance), n);
	}
	const tac_vec3 way = tac_vec3_from_dvec3(tac_dmat3_apply(tac_dmat3_inverse(a), b));
	const tac_vec3 low = tac_vec3_splat(border), high = tac_vec3_splat(1 - border);
	// Planes that do not belong together, as on a ridge thinner than a voxel, lead away from the surface.
	tac_vec3 at = middle;
	for (float part = 1; part >= 0.25F; part *= 0.5F) {
		at = tac_vec3_min(tac_vec3_max(tac_vec3_add_scaled(middle, part, way), low), high);
		const float distance = scale * interpolate(corner, at);
		if (distance > -SHARP_INSIDE && distance < SHARP_OUTSIDE)
			return at;
	}
	return tac_vec3_min(tac_vec3_max(middle, low), high);
}

static tac_surface_vertex make_vertex(const block *b, const int32_t cell[3], const int8_t *sheets, int sheet)
{
	const tac_field *f = b->field;
	const int32_t node[3] = {b->first[0] + cell[0], b->first[1] + cell[1], b->first[2] + cell[2]};
	tac_field_node corner[8];
	float distance[8], nearest = -HUGE_VALF;
	for (int c = 0; c < 8; c++) {
		corner[c] =
			tac_field_node_at(f, node[0] + (c & 1), node[1] + (c >> 1 & 1), node[2] + (c >> 2));
		distance[c] = corner[c].distance;
	}
	int ends, below = 0;
	const tac_vec3 middle = middle_of(distance, sheets, sheet, &ends);
	for (int c = 0; c < 8; c++) {
		if (ends >> c & 1 && distance[c] < 0 && distance[c] > nearest) {
			nearest = distance[c];
			below = c;
		}
	}
	const tac_vec3 at =
		sharpen(corner, ends, middle, (float)(1 / f->voxel_m), BORDER + BORDER_SHEET * (float)sheet);
	const tac_dvec3 p = tac_dvec3_add_scaled(
		f->origin_m, f->voxel_m,
		tac_dvec3_make(node[0] + (double)at.x, node[1] + (double)at.y, node[2] + (double)at.z));
	const tac_vec3 slope = gradient(distance, at);
	const float length = tac_vec3_length(slope);
	const tac_vec3 normal = length > 0 ? tac_vec3_scale(slope, 1 / length) : tac_vec3_make(0, 0, 1);
	const tac_vec3 place =
		tac_vec3_add(tac_vec3_make((float)node[0], (float)node[1], (float)node[2]), at);
	// Cells begin one node below the grid.
	const uint32_t wide = (uint32_t)f->bricks[1] * FIELD_BRICK + 1;
	const uint32_t high = (uint32_t)f->bricks[2] * FIELD_BRICK + 1;
	const uint32_t index =
		((uint32_t)(node[0] + 1) * wide + (uint32_t)(node[1] + 1)) * high + (uint32_t)(node[2] + 1);
	return (tac_surface_vertex){
		.position_m = {(float)p.x, (float)p.y, (float)p.z},
		.normal = {normal.x, normal.y, normal.z},
		.open = open_sky(f, place, normal),
		.label = corner[below].label,
		.key = 4 * index + (uint32_t)sheet,
	};
}

// ---- patches ----

static bool reserve(void **array, int32_t *room, int32_t needed, size_t bytes)
{
	if (needed <= *room)
		return true;
	const int32_t more = needed + needed / 2;
	void *larger = realloc(*array, (size_t)more * bytes);
	if (!larger)
		return false;
	*array = larger;
	*room = more;
	return true;
}

// The vertex of the sheet to which an edge of a cell belongs.
static int32_t vertex_at(block *b, const int32_t cell[3], int edge, tac_nets *nets, int32_t first_vertex)
{
	const int8_t *sheets = sheets_of(b, cell, material_of(b, cell));
	int16_t *vertex = &b->vertex[cell[0] + 1][cell[1] + 1][cell[2] + 1][sheets[edge]];
	if (*vertex < 0) {
		*vertex = (int16_t)(nets->vertex_count - first_vertex);
		nets->vertices[nets->vertex_count++] = make_vertex(b, cell, sheets, sheets[edge]);
	}
	return *vertex;
}

static float distance_squared(const tac_surface_vertex *a, const tac_surface_vertex *b)
{
	float sum = 0;
	for (int k = 0; k < 3; k++)
		sum += (a->position_m[k] - b->position_m[k]) * (a->position_m[k] - b->position_m[k]);
	return sum;
}

// The quadrilateral about the edge from a node upwards along an axis, as two triangles along its shorter
// diagonal.
static void add_quad(block *b, const int32_t node[3], int axis, bool outwards, tac_nets *nets,
		     int32_t first_vertex)
{
	const int u = (axis + 1) % 3, v = (axis + 2) % 3;
	int32_t corner[4];
	for (int i = 0; i < 4; i++) { // the cells around the edge, counter-clockwise about the axis
		const int below_u = i == 1 || i == 2, below_v = i >= 2;
		int32_t cell[3] = {node[0], node[1], node[2]};
		cell[u] -= below_u;
		cell[v] -= below_v;
		corner[i] = vertex_at(b, cell, 4 * axis + below_u + 2 * below_v, nets, first_vertex);
	}
	const tac_surface_vertex *at = nets->vertices + first_vertex;
	const bool second = distance_squared(&at[corner[1]], &at[corner[3]]) <
			    distance_squared(&at[corner[0]], &at[corner[2]]);
	static const int triangles[2][6] = {{0, 1, 2, 0, 2, 3}, {1, 2, 3, 1, 3, 0}};
	for (int i = 0; i < 6; i++) {
		const int k = triangles[second][outwards ? i : 5 - i];
		nets->indices[nets->index_count++] = (uint16_t)corner[k];
	}
}

static void add_quads(block *b, tac_nets *nets, int32_t first_vertex)
{
	for (int32_t i = 0; i < FIELD_BRICK; i++) {
		for (int32_t j = 0; j < FIELD_BRICK; j++) {
			for (int32_t k = 0; k < FIELD_BRICK; k++) {
				const int32_t node[3] = {i, j, k};
				const float *d = &b->distance[i + AROUND][j + AROUND][k + AROUND];
				const bool below = d[0] < 0;
				const bool next[3] = {d[NODES * NODES] < 0, d[NODES] < 0, d[1] < 0};
				for (int axis = 0; axis < 3; axis++) {
					if (next[axis] != below)
						add_quad(b, node, axis, below, nets, first_vertex);
				}
			}
		}
	}
}

bool tac_nets_add(tac_nets *nets, const tac_nets_table *table, const tac_field *field, int32_t brick)
{
	tac_nets *n = nets;
	// The most that a brick can have.
	const int32_t vertices = CELLS * CELLS * CELLS * 4, indices = FIELD_BRICK_NODES * 3 * 6;
	if (!reserve((void **)&n->patches, &n->patch_room, n->patch_count + 1, sizeof *n->patches) ||
	    !reserve((void **)&n->vertices, &n->vertex_room, n->vertex_count + vertices,
		     sizeof *n->vertices) ||
	    !reserve((void **)&n->indices, &n->index_room, n->index_count + indices, sizeof *n->indices))
		return false;
	block b = {.field = field,
		   .table = table,
		   .first = {FIELD_BRICK * (brick / (field->bricks[1] * field->bricks[2])),
			     FIELD_BRICK * (brick / field->bricks[2] % field->bricks[1]),
			     FIELD_BRICK * (brick % field->bricks[2])}};
	tac_surface_patch *patch = &n->patches[n->patch_count++];
	*patch = (tac_surface_patch){
		.brick = brick, .first_vertex = n->vertex_count, .first_index = n->index_count};
	if (copy_block(&b)) {
		memset(b.vertex, 0xff, sizeof b.vertex);
		add_quads(&b, n, patch->first_vertex);
	}
	patch->vertex_count = n->vertex_count - patch->first_vertex;
	patch->index_count = n->index_count - patch->first_index;
	return true;
}

void tac_nets_fini(tac_nets *nets)
{
	free(nets->patches);
	free(nets->vertices);
	free(nets->indices);
	*nets = (tac_nets){0};
}
