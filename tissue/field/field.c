#include "tissue/field/bricks.h"

#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tac_field_carve_fn *const carve_rounds[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_field_carve_round);
static tac_field_carve_fn *const carve_cylinders[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_field_carve_cylinder);
static tac_field_enters_fn *const enters[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_field_enters);
static tac_field_find_fn *const finds[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_field_find);
static tac_field_distances_fn *const distances[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_field_distances);
static tac_field_bin_fn *const bins[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_field_bin);
static tac_field_doubt_fn *const doubts[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_field_doubt);
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
	f->rows = calloc(pool, sizeof *f->rows);
	f->changed = calloc(pool, sizeof *f->changed);
	f->pool = aligned_alloc(64, pool * sizeof *f->pool);
	if (!f->table || !f->clearance || !f->dirty || !f->rows || !f->changed || !f->pool) {
		tac_field_destroy(&f);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		f->table[i] = FIELD_OUTSIDE;
	memset(f->pool, 0, pool * sizeof *f->pool); // no page fault is left for the real-time thread
	// Behind the pool is a brick of material, for those that are not stored.
	for (int i = 0; i < FIELD_BRICK_NODES; i++)
		f->pool[capacity].distance[i] = (float)(-FIELD_FAR * voxel_m);
	f->rows[capacity].left = ~UINT64_C(0);
	const tac_simd simd = tac_simd_select();
	f->carve_round = carve_rounds[simd];
	f->carve_cylinder = carve_cylinders[simd];
	f->enters = enters[simd];
	f->find = finds[simd];
	f->select = selects[simd];
	f->distances = distances[simd];
	f->bin = bins[simd];
	f->doubt = doubts[simd];
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
	memcpy(c->rows, field->rows, (size_t)field->capacity * sizeof *c->rows);
	memcpy(c->changed, field->changed, (size_t)field->capacity * sizeof *c->changed);
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
	free(f->rows);
	free(f->changed);
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
	field->rows[field->stored] = (tac_field_rows){0, entry == FIELD_OUTSIDE ? 0 : ~UINT64_C(0)};
	field->table[brick] = field->stored++;
	return b;
}

void tac_field_find_rows(tac_field *field, int32_t entry)
{
	const float near = FIELD_NEAR_INSIDE * (float)field->voxel_m; // the widest range that is looked for
	const float far = (float)(FIELD_FAR * field->voxel_m);
	const tac_field_brick *b = &field->pool[entry];
	tac_field_rows rows = {0, 0};
	for (int i = 0; i < FIELD_BRICK_NODES; i++) {
		const uint64_t row = UINT64_C(1) << (i / FIELD_BRICK);
		rows.near |= fabsf(b->distance[i]) < near ? row : 0;
		rows.left |= b->distance[i] < far ? row : 0;
	}
	field->rows[entry] = rows;
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

tac_field_node tac_field_node_of(const tac_field_brick *brick, int32_t node)
{
	const int8_t *x = &brick->normal[0][node], *y = &brick->normal[1][node], *z = &brick->normal[2][node];
	const tac_vec3 n = tac_vec3_make(*x, *y, *z);
	const float square = n.x * n.x + n.y * n.y + n.z * n.z;
	return (tac_field_node){brick->distance[node], square > 0 ? tac_vec3_scale(n, 1 / sqrtf(square)) : n,
				brick->label[node]};
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
	return tac_field_node_of(&field->pool[entry], node);
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
		.bytes = (int64_t)f->capacity *
				 (TAC_FIELD_BRICK_BYTES + (int64_t)(sizeof *f->rows + sizeof *f->changed)) +
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

tac_field_region tac_field_region_of(const tac_field *field, tac_dvec3 a, tac_dvec3 b, double radius,
				     double reach)
{
	const tac_field *f = field;
	const tac_dvec3 axis = tac_dvec3_sub(b, a);
	const double square = tac_dvec3_dot(axis, axis);
	tac_field_region r = {.a = a,
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

bool tac_field_region_brick(const tac_field *field, const tac_field_region *region, const int32_t at[3],
			    double reach, float base[3])
{
	const tac_field *f = field;
	const tac_field_region *r = region;
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
	const double most = reach + 1.7321 * half;
	return tac_dvec3_length_squared(from) <= most * most;
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

static int32_t count_needed(const tac_field *f, const tac_field_region *r, double reach)
{
	int32_t needed = 0;
	for (int32_t i = r->from[0]; i <= r->to[0]; i++) {
		for (int32_t j = r->from[1]; j <= r->to[1]; j++) {
			for (int32_t k = r->from[2]; k <= r->to[2]; k++) {
				float base[3];
				needed += f->table[tac_field_brick_index(f, i, j, k)] <= FIELD_SOLID &&
					  tac_field_region_brick(f, r, (const int32_t[3]){i, j, k}, reach,
								 base);
			}
		}
	}
	return needed;
}

bool tac_field_may_be_full(const tac_field *field)
{
	return !field->never_full;
}

// Whether the edit goes on where the last one ended, with the same ball.
static bool goes_on(const tac_field *f, const tac_field_edit *e)
{
	return e->kind == TAC_BURR_ROUND && e->radius == f->last_radius && e->a[0] == f->last_end[0] &&
	       e->a[1] == f->last_end[1] && e->a[2] == f->last_end[2];
}

// Whether all nodes of a brick, whose first is at `base` from a, are at least as near to a as to any other
// place of the sweep.
static bool lies_behind(const tac_field_region *r, const float base[3])
{
	const double side = (FIELD_BRICK - 1) * (double)r->cut.voxel;
	double most = 0;
	for (int k = 0; k < 3; k++) {
		const double axis = (double)r->cut.axis[k], first = (double)base[k];
		most += fmax(axis * first, axis * (first + side));
	}
	return most <= 0;
}

bool tac_field_holds(const tac_field *field, const tac_burr *burr, double least_m)
{
	const tac_field *f = field;
	const double reach = edit_reach(f, burr->radius);
	const tac_field_region r = tac_field_region_of(f, burr->a, burr->b, burr->radius, reach);
	for (int32_t i = r.from[0]; i <= r.to[0]; i++) {
		for (int32_t j = r.from[1]; j <= r.to[1]; j++) {
			for (int32_t k = r.from[2]; k <= r.to[2]; k++) {
				const int32_t entry = f->table[tac_field_brick_index(f, i, j, k)];
				float base[3];
				if (entry == FIELD_OUTSIDE || (entry >= 0 && f->rows[entry].left == 0) ||
				    !tac_field_region_brick(f, &r, (const int32_t[3]){i, j, k}, reach, base))
					continue;
				const int32_t from = entry >= 0 ? entry : f->capacity;
				if (f->enters(&r.cut, burr->kind == TAC_BURR_CYLINDER, base, &f->pool[from],
					      f->rows[from].left, (float)least_m))
					return true;
			}
		}
	}
	return false;
}

// `seen`: points of the surface may change. An edit that needs bricks leaves `spare` of them.
static bool carve_edit(tac_field *f, const tac_field_edit *edit, bool seen, int32_t spare,
		       tac_field_removed *out_removed)
{
	const tac_dvec3 a = tac_dvec3_make((double)edit->a[0], (double)edit->a[1], (double)edit->a[2]);
	const tac_dvec3 b = tac_dvec3_make((double)edit->b[0], (double)edit->b[1], (double)edit->b[2]);
	const double reach = edit_reach(f, (double)edit->radius);
	tac_field_region r = tac_field_region_of(f, a, b, (double)edit->radius, reach);
	const int32_t needed = f->never_full ? 0 : count_needed(f, &r, reach);
	if (needed > 0 && f->capacity - f->stored < needed + spare)
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
				    !tac_field_region_brick(f, &r, (const int32_t[3]){i, j, k}, reach,
							    base) ||
				    (r.cut.goes_on && lies_behind(&r, base)))
					continue;
				if (f->table[brick] < 0)
					tac_field_store(f, brick);
				const int32_t entry = f->table[brick];
				out_removed->bricks++;
				if (!carve(&r.cut, base, &f->pool[entry], &f->rows[entry], removed))
					continue;
				f->dirty[brick] = 1;
				f->changed[entry] = seen ? f->version + 1 : f->changed[entry];
				changed = seen;
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

bool tac_field_carve(tac_field *field, const tac_field_edit *edit, tac_field_removed *out_removed)
{
	return carve_edit(field, edit, true, 0, out_removed);
}

bool tac_field_carve_unseen(tac_field *field, const tac_field_edit *edit, int32_t spare,
			    tac_field_removed *out_removed)
{
	return carve_edit(field, edit, false, spare, out_removed);
}
