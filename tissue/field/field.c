#include "tissue/field/bricks.h"

#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Planes of neighbouring nodes differ by less than this where the surface is smooth, voxels.
#define CREASE 0.03F
// The furthest that a foot is moved onto an edge, voxels; beyond it the foot is dropped.
#define SLIDE_MAX 1.0F

static tac_field_carve_fn *const carve_rounds[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_field_carve_round);
static tac_field_carve_fn *const carve_cylinders[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_field_carve_cylinder);
static tac_field_find_fn *const finds[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_field_find);
static tac_field_bin_fn *const bins[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_field_bin);
static tac_field_select_fn *const selects[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_field_select);

// ---- memory ----

tac_field *tac_field_alloc(double voxel_m, tac_dvec3 origin_m, const int32_t bricks[3], int32_t capacity)
{
	tac_field *f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	f->voxel_m = voxel_m;
	f->origin_m = origin_m;
	for (int k = 0; k < 3; k++)
		f->bricks[k] = bricks[k];
	f->brick_count = bricks[0] * bricks[1] * bricks[2];
	f->capacity = capacity;
	const size_t n = (size_t)f->brick_count, pool = (size_t)capacity + 1;
	f->table = malloc(n * sizeof *f->table);
	f->clearance = calloc(n, 1);
	f->dirty = calloc(n, 1);
	f->near = calloc(pool, sizeof *f->near);
	f->pool = aligned_alloc(64, pool * sizeof *f->pool);
	if (!f->table || !f->clearance || !f->dirty || !f->near || !f->pool) {
		tac_field_destroy(&f);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		f->table[i] = FIELD_OUTSIDE;
	memset(f->pool, 0, pool * sizeof *f->pool); // no page fault is left for the real-time thread
	const tac_simd simd = tac_simd_select();
	f->carve_round = carve_rounds[simd];
	f->carve_cylinder = carve_cylinders[simd];
	f->find = finds[simd];
	f->select = selects[simd];
	f->bin = bins[simd];
	return f;
}

tac_result tac_field_copy(const tac_field *field, tac_field **out_copy)
{
	tac_field *c = tac_field_alloc(field->voxel_m, field->origin_m, field->bricks, field->capacity);
	*out_copy = c;
	if (!c) {
		tac_log(TAC_LOG_ERROR, "field: no memory for a copy of %d bricks", (int)field->capacity);
		return TAC_ERROR_MEMORY;
	}
	const size_t n = (size_t)field->brick_count;
	c->mesh_min_m = field->mesh_min_m;
	c->mesh_max_m = field->mesh_max_m;
	memcpy(c->table, field->table, n * sizeof *c->table);
	memcpy(c->clearance, field->clearance, n);
	memcpy(c->dirty, field->dirty, n);
	memcpy(c->near, field->near, (size_t)field->capacity * sizeof *c->near);
	memcpy(c->pool, field->pool, (size_t)field->capacity * sizeof *c->pool);
	c->stored = field->stored;
	c->never_full = field->never_full;
	c->version = field->version;
	memcpy(c->last_end, field->last_end, sizeof c->last_end);
	c->last_radius = field->last_radius;
	memcpy(c->volume_m3, field->volume_m3, sizeof c->volume_m3);
	return TAC_OK;
}

void tac_field_destroy(tac_field **field)
{
	tac_field *f = *field;
	if (!f)
		return;
	free(f->table);
	free(f->clearance);
	free(f->dirty);
	free(f->near);
	free(f->pool);
	free(f);
	*field = NULL;
}

tac_field_brick *tac_field_store(tac_field *field, int32_t brick)
{
	if (field->stored == field->capacity)
		return NULL;
	const int32_t entry = field->table[brick];
	tac_field_brick *b = &field->pool[field->stored];
	const float far = (float)(FIELD_FAR * field->voxel_m), fill = entry == FIELD_OUTSIDE ? far : -far;
	for (int i = 0; i < FIELD_BRICK_NODES; i++)
		b->distance[i] = fill;
	memset(b->normal, 0, sizeof b->normal);
	memset(b->label, entry == FIELD_OUTSIDE ? 0 : FIELD_LABEL_OF(entry), sizeof b->label);
	field->near[field->stored] = 0;
	field->table[brick] = field->stored++;
	return b;
}

void tac_field_count_near(tac_field *field, int32_t entry)
{
	const float near = FIELD_NEAR_INSIDE * (float)field->voxel_m; // the wider of the two
	const tac_field_brick *b = &field->pool[entry];
	int count = 0;
	for (int i = 0; i < FIELD_BRICK_NODES; i++)
		count += fabsf(b->distance[i]) < near;
	field->near[entry] = (uint16_t)count;
}

// ---- nodes ----

// The entry of the brick of a node, and the node's index in it. FIELD_OUTSIDE beyond the grid.
static int32_t entry_of(const tac_field *f, int32_t i, int32_t j, int32_t k, int32_t *out_node)
{
	*out_node = ((i & 7) * FIELD_BRICK + (j & 7)) * FIELD_BRICK + (k & 7);
	i >>= 3, j >>= 3, k >>= 3;
	if (i < 0 || j < 0 || k < 0 || i >= f->bricks[0] || j >= f->bricks[1] || k >= f->bricks[2])
		return FIELD_OUTSIDE;
	return f->table[tac_field_brick_index(f, i, j, k)];
}

float tac_field_node_distance(const tac_field *field, int32_t i, int32_t j, int32_t k)
{
	int32_t node;
	const int32_t entry = entry_of(field, i, j, k, &node);
	const float far = (float)(FIELD_FAR * field->voxel_m);
	return entry >= 0 ? field->pool[entry].distance[node] : entry == FIELD_OUTSIDE ? far : -far;
}

static tac_vec3 unit_normal(const tac_field_brick *b, int32_t node)
{
	const tac_vec3 n = tac_vec3_make(b->normal[0][node], b->normal[1][node], b->normal[2][node]);
	const float square = n.x * n.x + n.y * n.y + n.z * n.z;
	return square > 0 ? tac_vec3_scale(n, 1 / sqrtf(square)) : n;
}

tac_field_node tac_field_node_at(const tac_field *field, int32_t i, int32_t j, int32_t k)
{
	int32_t node;
	const int32_t entry = entry_of(field, i, j, k, &node);
	const float far = (float)(FIELD_FAR * field->voxel_m);
	if (entry == FIELD_OUTSIDE)
		return (tac_field_node){far, {0, 0, 0}, 0};
	if (entry < 0)
		return (tac_field_node){-far, {0, 0, 0}, (uint8_t)FIELD_LABEL_OF(entry)};
	const tac_field_brick *b = &field->pool[entry];
	return (tac_field_node){b->distance[node], unit_normal(b, node), b->label[node]};
}

// In voxels from node (0, 0, 0), kept within what an int32_t holds.
static tac_dvec3 in_voxels(const tac_field *f, tac_dvec3 p)
{
	const tac_dvec3 v = tac_dvec3_scale(tac_dvec3_sub(p, f->origin_m), 1 / f->voxel_m);
	const double most = 1e9;
	return tac_dvec3_make(fmin(fmax(v.x, -most), most), fmin(fmax(v.y, -most), most),
			      fmin(fmax(v.z, -most), most));
}

double tac_field_sample(const tac_field *field, tac_dvec3 point_m)
{
	const tac_dvec3 v = in_voxels(field, point_m);
	const double x = floor(v.x), y = floor(v.y), z = floor(v.z);
	double sum = 0;
	for (int c = 0; c < 8; c++) {
		const int dx = c >> 2, dy = c >> 1 & 1, dz = c & 1;
		const double weight = (dx ? v.x - x : 1 - (v.x - x)) * (dy ? v.y - y : 1 - (v.y - y)) *
				      (dz ? v.z - z : 1 - (v.z - z));
		sum += weight * (double)tac_field_node_distance(field, (int32_t)x + dx, (int32_t)y + dy,
								(int32_t)z + dz);
	}
	return sum;
}

int32_t tac_field_label(const tac_field *field, tac_dvec3 point_m)
{
	const tac_dvec3 v = in_voxels(field, point_m);
	return tac_field_node_at(field, (int32_t)floor(v.x + 0.5), (int32_t)floor(v.y + 0.5),
				 (int32_t)floor(v.z + 0.5))
		.label;
}

double tac_field_clearance(const tac_field *field, tac_dvec3 point_m)
{
	const tac_field *f = field;
	const tac_dvec3 beyond =
		tac_dvec3_make(fmax(fmax(f->mesh_min_m.x - point_m.x, point_m.x - f->mesh_max_m.x), 0),
			       fmax(fmax(f->mesh_min_m.y - point_m.y, point_m.y - f->mesh_max_m.y), 0),
			       fmax(fmax(f->mesh_min_m.z - point_m.z, point_m.z - f->mesh_max_m.z), 0));
	const double from_box = tac_dvec3_length(beyond);
	const tac_dvec3 v = in_voxels(f, point_m);
	const double i = floor(v.x / FIELD_BRICK), j = floor(v.y / FIELD_BRICK), k = floor(v.z / FIELD_BRICK);
	if (i < 0 || j < 0 || k < 0 || i >= f->bricks[0] || j >= f->bricks[1] || k >= f->bricks[2])
		return from_box;
	// The surface lies within a voxel of the nodes of a brick that is not outside.
	const int bricks = f->clearance[tac_field_brick_index(f, (int32_t)i, (int32_t)j, (int32_t)k)];
	return fmax(from_box, ((bricks - 1) * FIELD_BRICK - 1) * f->voxel_m);
}

tac_field_size tac_field_size_of(const tac_field *field)
{
	const tac_field *f = field;
	return (tac_field_size){
		.voxel_m = f->voxel_m,
		.origin_m = f->origin_m,
		.bricks = {f->bricks[0], f->bricks[1], f->bricks[2]},
		.stored = f->stored,
		.capacity = f->capacity,
		.bytes = (int64_t)f->capacity * (TAC_FIELD_BRICK_BYTES + (int64_t)sizeof *f->near) +
			 (int64_t)f->brick_count * ((int64_t)sizeof *f->table + 2),
	};
}

double tac_field_volume_m3(const tac_field *field, int32_t label)
{
	return field->volume_m3[label];
}

uint64_t tac_field_version(const tac_field *field)
{
	return field->version;
}

uint64_t tac_field_hash(const tac_field *field)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
	for (int32_t b = 0; b < field->brick_count; b++) {
		const int32_t entry = field->table[b];
		const void *data = entry < 0 ? (const void *)&field->table[b] : &field->pool[entry];
		const size_t bytes = entry < 0 ? sizeof entry : sizeof(tac_field_brick);
		for (size_t i = 0; i < bytes; i++)
			hash = (hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

// ---- bricks near a burr ----

// The range of bricks with nodes within `reach` of the segment from a to b, and the segment as a cut.
typedef struct region {
	int32_t from[3], to[3]; // inclusive
	tac_dvec3 a, b;
	tac_field_cut cut;
} region;

static region region_of(const tac_field *f, tac_dvec3 a, tac_dvec3 b, double radius, double reach)
{
	const tac_dvec3 axis = tac_dvec3_sub(b, a);
	const double square = tac_dvec3_dot(axis, axis);
	region r = {.a = a,
		    .b = b,
		    .cut = {{(float)axis.x, (float)axis.y, (float)axis.z},
			    square > 0 ? (float)(1 / square) : 0,
			    (float)sqrt(square),
			    (float)radius,
			    (float)f->voxel_m,
			    (float)(FIELD_FAR * f->voxel_m),
			    (float)(1 / f->voxel_m),
			    false}};
	const tac_dvec3 v = in_voxels(f, a), w = in_voxels(f, b);
	const double low[3] = {fmin(v.x, w.x), fmin(v.y, w.y), fmin(v.z, w.z)};
	const double high[3] = {fmax(v.x, w.x), fmax(v.y, w.y), fmax(v.z, w.z)};
	for (int k = 0; k < 3; k++) {
		r.from[k] = (int32_t)fmax(floor((low[k] - reach / f->voxel_m) / FIELD_BRICK), 0);
		r.to[k] =
			(int32_t)fmin(floor((high[k] + reach / f->voxel_m) / FIELD_BRICK), f->bricks[k] - 1);
	}
	return r;
}

// The first node of a brick, relative to the region's a. False if none of its nodes is within `reach` of the
// segment.
static bool place_brick(const tac_field *f, const region *r, const int32_t at[3], double reach, float base[3])
{
	const double h = f->voxel_m, half = 0.5 * (FIELD_BRICK - 1) * h;
	const tac_dvec3 first =
		tac_dvec3_sub(tac_dvec3_add(f->origin_m, tac_dvec3_scale(tac_dvec3_make(at[0], at[1], at[2]),
									 FIELD_BRICK * h)),
			      r->a);
	base[0] = (float)first.x;
	base[1] = (float)first.y;
	base[2] = (float)first.z;
	const tac_dvec3 middle = tac_dvec3_add(first, tac_dvec3_make(half, half, half));
	const tac_dvec3 axis = tac_dvec3_sub(r->b, r->a);
	const double square = tac_dvec3_dot(axis, axis);
	const double t = square > 0 ? fmin(fmax(tac_dvec3_dot(middle, axis) / square, 0), 1) : 0;
	const tac_dvec3 from = tac_dvec3_add_scaled(middle, -t, axis);
	// The distance of the segment's nearest point from the brick's box; the other points of the segment
	// differ by less than the diagonal allows.
	return tac_dvec3_length(from) <= reach + 1.7321 * half;
}

// ---- removal ----

tac_field_edit tac_field_edit_make(const tac_burr *burr)
{
	const tac_vec3 a = tac_vec3_from_dvec3(burr->a), b = tac_vec3_from_dvec3(burr->b);
	return (tac_field_edit){
		{a.x, a.y, a.z}, {b.x, b.y, b.z}, tac_f32_from_f64(burr->radius), (uint32_t)burr->kind};
}

// How far from the segment an edit of this radius changes nodes.
static double edit_reach(const tac_field *f, double radius)
{
	return radius + FIELD_FAR * f->voxel_m;
}

static int32_t count_needed(const tac_field *f, const region *r, double reach)
{
	int32_t needed = 0;
	for (int32_t i = r->from[0]; i <= r->to[0]; i++) {
		for (int32_t j = r->from[1]; j <= r->to[1]; j++) {
			for (int32_t k = r->from[2]; k <= r->to[2]; k++) {
				float base[3];
				needed += f->table[tac_field_brick_index(f, i, j, k)] <= FIELD_SOLID &&
					  place_brick(f, r, (const int32_t[3]){i, j, k}, reach, base);
			}
		}
	}
	return needed;
}

int32_t tac_field_bricks_needed(const tac_field *field, const tac_burr *burr, double margin_m)
{
	if (field->never_full)
		return 0;
	const double reach = edit_reach(field, burr->radius) + margin_m;
	const region r = region_of(field, burr->a, burr->b, burr->radius, reach);
	return count_needed(field, &r, reach);
}

// Whether the edit goes on where the last one ended, with the same ball.
static bool goes_on(const tac_field *f, const tac_field_edit *e)
{
	return e->kind == TAC_BURR_ROUND && e->radius == f->last_radius && e->a[0] == f->last_end[0] &&
	       e->a[1] == f->last_end[1] && e->a[2] == f->last_end[2];
}

// Whether all nodes of a brick, whose first is at `base` from a, are at least as near to a as to any other
// place of the sweep.
static bool lies_behind(const region *r, const float base[3])
{
	const double side = (FIELD_BRICK - 1) * (double)r->cut.voxel;
	double most = 0;
	for (int k = 0; k < 3; k++) {
		const double axis = (double)r->cut.axis[k], first = (double)base[k];
		most += fmax(axis * first, axis * (first + side));
	}
	return most <= 0;
}

bool tac_field_carve(tac_field *field, const tac_field_edit *edit, tac_field_removed *out_removed)
{
	tac_field *f = field;
	const tac_dvec3 a = tac_dvec3_make((double)edit->a[0], (double)edit->a[1], (double)edit->a[2]);
	const tac_dvec3 b = tac_dvec3_make((double)edit->b[0], (double)edit->b[1], (double)edit->b[2]);
	const double reach = edit_reach(f, (double)edit->radius);
	region r = region_of(f, a, b, (double)edit->radius, reach);
	if (!f->never_full && f->capacity - f->stored < count_needed(f, &r, reach))
		return false;
	double removed[TAC_FIELD_LABELS] = {0};
	bool changed = false;
	r.cut.goes_on = goes_on(f, edit);
	tac_field_carve_fn *carve = edit->kind == TAC_BURR_CYLINDER ? f->carve_cylinder : f->carve_round;
	for (int32_t i = r.from[0]; i <= r.to[0]; i++) {
		for (int32_t j = r.from[1]; j <= r.to[1]; j++) {
			for (int32_t k = r.from[2]; k <= r.to[2]; k++) {
				const int32_t brick = tac_field_brick_index(f, i, j, k);
				float base[3];
				if (f->table[brick] == FIELD_OUTSIDE ||
				    !place_brick(f, &r, (const int32_t[3]){i, j, k}, reach, base) ||
				    (r.cut.goes_on && lies_behind(&r, base)))
					continue;
				if (f->table[brick] < 0)
					tac_field_store(f, brick);
				const int32_t entry = f->table[brick];
				out_removed->bricks++;
				if (!carve(&r.cut, base, &f->pool[entry], removed))
					continue;
				tac_field_count_near(f, entry);
				f->dirty[brick] = 1;
				changed = true;
			}
		}
	}
	f->version += changed;
	for (int k = 0; k < 3; k++)
		f->last_end[k] = edit->b[k];
	f->last_radius = edit->kind == TAC_BURR_ROUND ? edit->radius : 0;
	const double voxel_m3 = f->voxel_m * f->voxel_m * f->voxel_m;
	for (int label = 0; label < TAC_FIELD_LABELS; label++) {
		f->volume_m3[label] -= removed[label] * voxel_m3;
		out_removed->volume_m3[label] += removed[label] * voxel_m3;
	}
	return true;
}

// ---- points ----

// A node and the plane of the surface that it knows; lengths in voxels from the node.
typedef struct facet {
	int32_t at[3];
	tac_vec3 normal;
	float distance;
} facet;

// The distances at the eight corners of the cell with the lowest node `at`, in voxels.
static void cell_distances(const tac_field *f, const int32_t at[3], float out[8])
{
	const float inverse = (float)(1 / f->voxel_m);
	const int32_t low[3] = {at[0] & 7, at[1] & 7, at[2] & 7};
	// The bits of the axes along which the cell reaches into the next brick.
	const int next = (low[0] == 7) << 2 | (low[1] == 7) << 1 | (low[2] == 7);
	int32_t entry[8];
	for (int c = 0; c < 8; c++) {
		const int brick = c & next;
		const int32_t dx = c >> 2, dy = c >> 1 & 1, dz = c & 1;
		int32_t node;
		if (brick == c)
			entry[c] = entry_of(f, at[0] + dx, at[1] + dy, at[2] + dz, &node);
		const int32_t e = entry[brick];
		node = (((low[0] + dx) & 7) * FIELD_BRICK + ((low[1] + dy) & 7)) * FIELD_BRICK +
		       ((low[2] + dz) & 7);
		out[c] = e >= 0               ? f->pool[e].distance[node] * inverse
			 : e == FIELD_OUTSIDE ? FIELD_FAR
					      : -FIELD_FAR;
	}
}

// Whether the place `foot` on the facet's plane has been removed by another surface, of which a node of the
// cell about it knows. *out_way leads from there along the plane onto the edge of both surfaces. Where two
// surfaces meet in a groove, neither removes anything of the other.
static bool is_removed(const tac_field *f, const facet *own, tac_vec3 foot, tac_vec3 *out_way)
{
	const tac_vec3 low = tac_vec3_make(floorf(foot.x), floorf(foot.y), floorf(foot.z));
	const int32_t cell[3] = {own->at[0] + (int32_t)low.x, own->at[1] + (int32_t)low.y,
				 own->at[2] + (int32_t)low.z};
	float there[8];
	cell_distances(f, cell, there);
	// The own plane at the corners.
	const float plane = own->distance + tac_vec3_dot(own->normal, low) + CREASE;
	float longest = 0;
	for (int c = 0; c < 8; c++) {
		const int32_t d[3] = {c >> 2, c >> 1 & 1, c & 1};
		if (!(there[c] > plane + (d[0] ? own->normal.x : 0) + (d[1] ? own->normal.y : 0) +
					 (d[2] ? own->normal.z : 0)))
			continue; // the own surface is the outer one there, or the two are one
		const tac_vec3 to = tac_vec3_add(low, tac_vec3_make((float)d[0], (float)d[1], (float)d[2]));
		const tac_vec3 other =
			tac_field_node_at(f, cell[0] + d[0], cell[1] + d[1], cell[2] + d[2]).normal;
		const float above = there[c] + tac_vec3_dot(other, tac_vec3_sub(foot, to));
		const float cosine = tac_vec3_dot(own->normal, other);
		const float sine = sqrtf(fmaxf(1 - cosine * cosine, 1e-6F));
		if (above > CREASE && above / sine > longest) {
			longest = above / sine;
			*out_way = tac_vec3_scale(tac_vec3_sub(other, tac_vec3_scale(own->normal, cosine)),
						  -above / (sine * sine));
		}
	}
	return longest > 0;
}

// The foot of a node outside the material may lie beyond an edge, where a hole has cut off the surface that
// it belongs to. Then it is moved onto the edge. False if it has no place there either.
static bool keep_foot_on_surface(const tac_field *f, const facet *own, tac_vec3 *foot)
{
	tac_vec3 way;
	if (!is_removed(f, own, *foot, &way))
		return true;
	*foot = tac_vec3_add(*foot, way);
	return tac_vec3_length(way) < SLIDE_MAX && !is_removed(f, own, *foot, &way);
}

// Adds the foot of a node of a brick, the one at `index` of the feet.
static void add_point(const tac_field *f, const int32_t brick[3], int32_t entry, const tac_field_feet *feet,
		      int32_t index, tac_field_points *out)
{
	const tac_field_brick *b = &f->pool[entry];
	const int node = feet->node[index];
	tac_vec3 p = tac_vec3_make(feet->foot[0][index], feet->foot[1][index], feet->foot[2][index]);
	if (b->distance[node] > 0) {
		const float h = (float)f->voxel_m, distance = b->distance[node] * (float)(1 / f->voxel_m);
		const facet own = {{brick[0] * FIELD_BRICK + (node >> 6),
				    brick[1] * FIELD_BRICK + (node >> 3 & 7),
				    brick[2] * FIELD_BRICK + (node & 7)},
				   {feet->normal[0][index], feet->normal[1][index], feet->normal[2][index]},
				   distance};
		const tac_vec3 start = tac_vec3_scale(own.normal, -distance); // from the node, in voxels
		tac_vec3 foot = start;
		if (!keep_foot_on_surface(f, &own, &foot))
			return;
		p = tac_vec3_add_scaled(p, h, tac_vec3_sub(foot, start));
	}
	if (out->count == TAC_FIELD_POINTS) {
		out->complete = false;
		return;
	}
	out->x[out->count] = p.x;
	out->y[out->count] = p.y;
	out->z[out->count] = p.z;
	out->label[out->count] = b->label[node];
	out->node[out->count++] = entry * FIELD_BRICK_NODES + node;
}

void tac_field_gather(const tac_field *field, const tac_burr *burr, double reach_m, bool inside_only,
		      tac_field_points *out_points)
{
	const tac_field *f = field;
	tac_field_points *out = out_points;
	out->count = 0;
	out->complete = true;
	out->examined = 0;
	out->centre = burr->a;
	// How far a foot is from its node; one outside may have been moved onto an edge.
	const double reach =
		burr->radius + reach_m +
		(inside_only ? (double)FIELD_NEAR_INSIDE : (double)FIELD_NEAR + 0.5) * f->voxel_m;
	const region r = region_of(f, burr->a, burr->b, burr->radius, reach);
	const float h = (float)f->voxel_m;
	const float range[2] = {inside_only ? -FIELD_NEAR_INSIDE * h : -FIELD_NEAR * h,
				inside_only ? 0 : FIELD_NEAR * h};
	for (int32_t i = r.from[0]; i <= r.to[0]; i++) {
		for (int32_t j = r.from[1]; j <= r.to[1]; j++) {
			for (int32_t k = r.from[2]; k <= r.to[2]; k++) {
				const int32_t at[3] = {i, j, k};
				const int32_t entry = f->table[tac_field_brick_index(f, i, j, k)];
				float base[3];
				if (entry < 0 || f->near[entry] == 0 || !place_brick(f, &r, at, reach, base))
					continue;
				tac_field_feet feet;
				const int32_t count =
					f->find(&r.cut, base, &f->pool[entry], range, (float)reach, &feet);
				out->examined += 8 + count;
				for (int32_t n = 0; n < count; n++)
					add_point(f, at, entry, &feet, n, out);
			}
		}
	}
}

tac_dvec3 tac_field_point_normal(const tac_field *field, const tac_field_points *points, int32_t index)
{
	const int32_t node = points->node[index];
	return tac_dvec3_from_vec3(
		unit_normal(&field->pool[node / FIELD_BRICK_NODES], node % FIELD_BRICK_NODES));
}

int32_t tac_field_points_near(const tac_field *field, const tac_field_points *points, const tac_burr *burr,
			      double reach_m, int32_t *out_index)
{
	const region r = region_of(field, burr->a, burr->b, burr->radius, 0);
	const tac_dvec3 from = tac_dvec3_sub(points->centre, burr->a);
	const float offset[3] = {(float)from.x, (float)from.y, (float)from.z};
	const float slack = 4e-9F; // above the rounding of coordinates of some millimetres
	return field->select(&r.cut, points->x, points->y, points->z, points->count, offset,
			     (float)reach_m + slack, out_index);
}

void tac_field_points_bin(const tac_field *field, const tac_field_points *points, tac_dvec3 centre,
			  tac_dvec3 advance_m, int32_t grid, float *out_key_m, int32_t *out_bin)
{
	const tac_dvec3 from = tac_dvec3_sub(centre, points->centre);
	const float middle[3] = {(float)from.x, (float)from.y, (float)from.z};
	const float advance[3] = {(float)advance_m.x, (float)advance_m.y, (float)advance_m.z};
	field->bin(points->x, points->y, points->z, points->count, middle, advance, grid, out_key_m, out_bin);
}
