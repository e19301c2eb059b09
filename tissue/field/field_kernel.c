// The kernels of tissue/field/bricks.h, compiled once for each SIMD variant. A row is the eight nodes of a
// brick along z.
#include "base/simd/wide.h"
#include "tissue/field/bricks.h"

#include <string.h>

// A call that the compiler declined to inline would pass wide values through memory.
#define INLINE      static inline __attribute__((always_inline))
#define f8          tac_f32x8
#define splat(x)    tac_f32x8_splat(x)
#define add(a, b)   tac_f32x8_add(a, b)
#define sub(a, b)   tac_f32x8_sub(a, b)
#define mul(a, b)   tac_f32x8_mul(a, b)
#define least(a, b) tac_f32x8_min(a, b)
#define most(a, b)  tac_f32x8_max(a, b)

// A length whose inverse is finite.
#define SHORTEST 1e-12F

typedef struct v8 {
	f8 x, y, z;
} v8;

// For conversions to and from bytes, which base/simd/wide.h has not.
typedef int8_t bytes8 __attribute__((vector_size(8)));
typedef int32_t ints8 __attribute__((vector_size(32)));
typedef float floats8 __attribute__((vector_size(32)));

static const float eight[8] = {0, 1, 2, 3, 4, 5, 6, 7};

INLINE f8 dot8(v8 a, v8 b)
{
	return add(add(mul(a.x, b.x), mul(a.y, b.y)), mul(a.z, b.z));
}

INLINE v8 splat3(const float v[3])
{
	return (v8){splat(v[0]), splat(v[1]), splat(v[2])};
}

// a - s b
INLINE v8 sub_scaled(v8 a, f8 s, v8 b)
{
	return (v8){sub(a.x, mul(s, b.x)), sub(a.y, mul(s, b.y)), sub(a.z, mul(s, b.z))};
}

INLINE v8 row_nodes(const tac_field_cut *cut, const float base[3], int row)
{
	const float x = base[0] + (float)(row / FIELD_BRICK) * cut->voxel;
	const float y = base[1] + (float)(row % FIELD_BRICK) * cut->voxel;
	return (v8){splat(x), splat(y), add(splat(base[2]), mul(tac_f32x8_loadu(eight), splat(cut->voxel)))};
}

// From the nearest point of the segment.
INLINE v8 from_core(const tac_field_cut *cut, v8 p)
{
	const v8 axis = splat3(cut->axis);
	const f8 t = mul(dot8(p, axis), splat(cut->inverse_square));
	return sub_scaled(p, least(most(t, splat(0)), splat(1)), axis);
}

// The part of a voxel about a node that is material.
INLINE f8 filled(f8 distance, float inverse_voxel)
{
	return least(most(sub(splat(0.5F), mul(distance, splat(inverse_voxel))), splat(0)), splat(1));
}

// All bits of byte k are set if bit k of `lanes` is.
INLINE uint64_t bytes_of(unsigned lanes)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), bits = UINT64_C(0x8040201008040201);
	const uint64_t apart = (lanes * ones) & bits; // byte k has bit k of `lanes`
	return ((apart + UINT64_C(0x7f7f7f7f7f7f7f7f)) | apart) >> 7 & ones;
}

INLINE void store_normals(tac_field_brick *brick, int row, v8 outwards, unsigned lanes)
{
	const f8 one = splat(127), half = splat(0.5F), zero = splat(0);
	const f8 parts[3] = {outwards.x, outwards.y, outwards.z};
	const uint64_t mask = bytes_of(lanes) * 0xff;
	for (int axis = 0; axis < 3; axis++) {
		const f8 v = mul(parts[axis], one);
		const f8 rounded = add(v, tac_f32x8_select(tac_f32x8_lt(v, zero), tac_f32x8_neg(half), half));
		int32_t each[8];
		ints8 whole;
		tac_i32x8_storeu(each, tac_i32x8_from_f32(rounded));
		memcpy(&whole, each, sizeof whole);
		const bytes8 narrow = __builtin_convertvector(whole, bytes8);
		uint64_t old, new;
		memcpy(&old, &brick->normal[axis][row * 8], sizeof old);
		memcpy(&new, &narrow, sizeof new);
		new = (old & ~mask) | (new &mask);
		memcpy(&brick->normal[axis][row * 8], &new, sizeof new);
	}
}

// The rows of a brick that a cut may change.
typedef struct row_filter {
	float x, y, z;       // of the first node, from the middle of the sweep
	float reach_squared; // of the ball that holds all that the sweep acts on
	float z_behind;      // what the row's z adds at most to the way along the sweep
} row_filter;

INLINE row_filter filter_of(const tac_field_cut *cut, const float base[3])
{
	const float reach = cut->radius + cut->far + 0.5F * cut->length + cut->voxel;
	const float first = cut->axis[2] * base[2], last = cut->axis[2] * (base[2] + 7 * cut->voxel);
	return (row_filter){base[0] - 0.5F * cut->axis[0], base[1] - 0.5F * cut->axis[1],
			    base[2] - 0.5F * cut->axis[2], reach * reach, first > last ? first : last};
}

// Whether a cut leaves a row as it is: it is too far from the sweep, or behind it where the last cut has
// been, or all of it is far outside the material already.
INLINE bool is_untouched(const tac_field_cut *cut, const row_filter *f, const float base[3],
			 const tac_field_brick *brick, int row)
{
	const float i = (float)(row / FIELD_BRICK) * cut->voxel, j = (float)(row % FIELD_BRICK) * cut->voxel;
	const float x = f->x + i, y = f->y + j;
	const float low = f->z > 0 ? f->z : f->z + 7 * cut->voxel < 0 ? f->z + 7 * cut->voxel : 0;
	if (x * x + y * y + low * low > f->reach_squared)
		return true;
	if (cut->goes_on && cut->axis[0] * (base[0] + i) + cut->axis[1] * (base[1] + j) + f->z_behind <= 0)
		return true;
	const f8 old = tac_f32x8_loadu(&brick->distance[row * 8]);
	return tac_m32x8_all(tac_f32x8_ge(old, splat(cut->far)));
}

// What a cut removes of a brick: `sum` of nodes with the label of its first one, the rest in `removed`.
typedef struct tally {
	uint64_t label; // eight times
	f8 sum;
	double *removed;
} tally;

INLINE tally tally_of(const tac_field_brick *brick, double removed[TAC_FIELD_LABELS])
{
	return (tally){brick->label[0] * UINT64_C(0x0101010101010101), splat(0), removed};
}

INLINE void finish_tally(const tally *t)
{
	t->removed[t->label & 0xff] += (double)tac_f32x8_hsum(t->sum);
}

// Raises the distances of a row to `value` and notes what that removed. Returns the lanes that changed.
INLINE unsigned raise_row(const tac_field_cut *cut, tac_field_brick *brick, int row, f8 value, tally *t)
{
	float *distance = &brick->distance[row * 8];
	const f8 old = tac_f32x8_loadu(distance);
	const f8 raised = most(old, least(value, splat(cut->far)));
	const unsigned changed = tac_m32x8_movemask(tac_f32x8_gt(raised, old));
	if (!changed)
		return 0;
	tac_f32x8_storeu(distance, raised);
	const f8 less = sub(filled(old, cut->inverse_voxel), filled(raised, cut->inverse_voxel));
	uint64_t labels;
	memcpy(&labels, &brick->label[row * 8], sizeof labels);
	if (labels == t->label) {
		t->sum = add(t->sum, less);
		return changed;
	}
	float each[8];
	tac_f32x8_storeu(each, less);
	for (int k = 0; k < 8; k++)
		t->removed[brick->label[row * 8 + k]] += (double)each[k];
	return changed;
}

// The kernels copy the cut: what they write to the brick might be a part of it, for all that the compiler
// knows.
bool TAC_SIMD_NAME(tac_field_carve_round)(const tac_field_cut *shared, const float base[3],
					  tac_field_brick *brick, double removed[TAC_FIELD_LABELS])
{
	const tac_field_cut own = *shared, *cut = &own;
	tally t = tally_of(brick, removed);
	const row_filter filter = filter_of(cut, base);
	bool any = false;
	for (int row = 0; row < FIELD_BRICK * FIELD_BRICK; row++) {
		if (is_untouched(cut, &filter, base, brick, row))
			continue;
		const v8 p = from_core(cut, row_nodes(cut, base, row));
		const f8 length = tac_f32x8_sqrt(dot8(p, p));
		const f8 value = sub(splat(cut->radius), length);
		const unsigned changed = raise_row(cut, brick, row, value, &t);
		if (!changed)
			continue;
		any = true;
		const f8 inwards = tac_f32x8_div(splat(-1), most(length, splat(SHORTEST)));
		store_normals(brick, row, (v8){mul(p.x, inwards), mul(p.y, inwards), mul(p.z, inwards)},
			      changed);
	}
	finish_tally(&t);
	return any;
}

bool TAC_SIMD_NAME(tac_field_carve_cylinder)(const tac_field_cut *shared, const float base[3],
					     tac_field_brick *brick, double removed[TAC_FIELD_LABELS])
{
	const tac_field_cut own = *shared, *cut = &own;
	tally t = tally_of(brick, removed);
	const float unit[3] = {cut->axis[0] / cut->length, cut->axis[1] / cut->length,
			       cut->axis[2] / cut->length};
	const v8 axis = splat3(unit);
	const f8 zero = splat(0), length = splat(cut->length);
	const row_filter filter = filter_of(cut, base);
	bool any = false;
	for (int row = 0; row < FIELD_BRICK * FIELD_BRICK; row++) {
		if (is_untouched(cut, &filter, base, brick, row))
			continue;
		const v8 p = row_nodes(cut, base, row);
		const f8 along = dot8(p, axis);
		const v8 radial = sub_scaled(p, along, axis);
		const f8 from_axis = tac_f32x8_sqrt(dot8(radial, radial));
		const f8 side = sub(from_axis, splat(cut->radius));
		const f8 above = sub(along, length), below = tac_f32x8_neg(along);
		const f8 end = most(above, below);
		const f8 corner_side = most(side, zero), corner_end = most(end, zero);
		const f8 corner =
			tac_f32x8_sqrt(add(mul(corner_side, corner_side), mul(corner_end, corner_end)));
		const tac_m32x8 both = tac_m32x8_and(tac_f32x8_gt(side, zero), tac_f32x8_gt(end, zero));
		const f8 distance = tac_f32x8_select(both, corner, most(side, end));
		const unsigned changed = raise_row(cut, brick, row, tac_f32x8_neg(distance), &t);
		if (!changed)
			continue;
		any = true;
		// The gradient: the parts along the radius and along the axis.
		const f8 one = splat(1), inverse = tac_f32x8_div(one, most(corner, splat(SHORTEST)));
		const tac_m32x8 nearer_side = tac_f32x8_gt(side, end);
		const f8 of_side = tac_f32x8_select(both, mul(corner_side, inverse),
						    tac_f32x8_select(nearer_side, one, zero));
		const f8 of_end = tac_f32x8_select(both, mul(corner_end, inverse),
						   tac_f32x8_select(nearer_side, zero, one));
		const f8 outwards = tac_f32x8_div(of_side, most(from_axis, splat(SHORTEST)));
		const f8 upwards =
			tac_f32x8_select(tac_f32x8_gt(above, below), of_end, tac_f32x8_neg(of_end));
		const v8 inwards = {tac_f32x8_neg(add(mul(radial.x, outwards), mul(axis.x, upwards))),
				    tac_f32x8_neg(add(mul(radial.y, outwards), mul(axis.y, upwards))),
				    tac_f32x8_neg(add(mul(radial.z, outwards), mul(axis.z, upwards)))};
		store_normals(brick, row, inwards, changed);
	}
	finish_tally(&t);
	return any;
}

INLINE f8 load_normal(const tac_field_brick *brick, int axis, int row)
{
	bytes8 narrow;
	float each[8];
	memcpy(&narrow, &brick->normal[axis][row * 8], sizeof narrow);
	const floats8 wide = __builtin_convertvector(narrow, floats8);
	memcpy(each, &wide, sizeof each);
	return tac_f32x8_loadu(each);
}

int32_t TAC_SIMD_NAME(tac_field_find)(const tac_field_cut *shared, const float base[3],
				      const tac_field_brick *brick, const float range[2], float reach,
				      tac_field_feet *out)
{
	const tac_field_cut own = *shared, *core = &own;
	int32_t count = 0;
	for (int row = 0; row < FIELD_BRICK * FIELD_BRICK; row++) {
		const f8 distance = tac_f32x8_loadu(&brick->distance[row * 8]);
		const tac_m32x8 at_surface = tac_m32x8_and(tac_f32x8_gt(distance, splat(range[0])),
							   tac_f32x8_lt(distance, splat(range[1])));
		if (!tac_m32x8_any(at_surface))
			continue;
		const v8 node = row_nodes(core, base, row), p = from_core(core, node);
		const tac_m32x8 near =
			tac_m32x8_and(at_surface, tac_f32x8_lt(dot8(p, p), splat(reach * reach)));
		if (!tac_m32x8_any(near))
			continue;
		const v8 n = {load_normal(brick, 0, row), load_normal(brick, 1, row),
			      load_normal(brick, 2, row)};
		const f8 square = dot8(n, n);
		unsigned lanes = tac_m32x8_movemask(tac_m32x8_and(near, tac_f32x8_gt(square, splat(0))));
		const f8 unit = tac_f32x8_div(splat(1), tac_f32x8_sqrt(most(square, splat(1))));
		const v8 normal = {mul(n.x, unit), mul(n.y, unit), mul(n.z, unit)};
		const v8 foot = sub_scaled(node, distance, normal);
		float values[6][8];
		tac_f32x8_storeu(values[0], foot.x);
		tac_f32x8_storeu(values[1], foot.y);
		tac_f32x8_storeu(values[2], foot.z);
		tac_f32x8_storeu(values[3], normal.x);
		tac_f32x8_storeu(values[4], normal.y);
		tac_f32x8_storeu(values[5], normal.z);
		for (; lanes; lanes &= lanes - 1) {
			const int k = __builtin_ctz(lanes);
			out->node[count] = (uint16_t)(row * 8 + k);
			for (int axis = 0; axis < 3; axis++) {
				out->foot[axis][count] = values[axis][k];
				out->normal[axis][count] = values[3 + axis][k];
			}
			count++;
		}
	}
	return count;
}

int32_t TAC_SIMD_NAME(tac_field_select)(const tac_field_cut *core, const float *x, const float *y,
					const float *z, int32_t count, const float offset[3], float reach,
					int32_t *out_index)
{
	int32_t found = 0;
	const v8 shift = splat3(offset);
	for (int32_t i = 0; i < count; i += 8) {
		const v8 p = from_core(core, (v8){add(tac_f32x8_loadu(x + i), shift.x),
						  add(tac_f32x8_loadu(y + i), shift.y),
						  add(tac_f32x8_loadu(z + i), shift.z)});
		unsigned lanes = tac_m32x8_movemask(tac_f32x8_lt(dot8(p, p), splat(reach * reach)));
		if (count - i < 8)
			lanes &= (1U << (count - i)) - 1;
		for (; lanes; lanes &= lanes - 1)
			out_index[found++] = i + __builtin_ctz(lanes);
	}
	return found;
}

// The direction is projected onto the side of a cube that it meets: the axis with the largest component, the
// next axis as u, the one after it as v.
void TAC_SIMD_NAME(tac_field_bin)(const float *x, const float *y, const float *z, int32_t count,
				  const float centre[3], const float advance[3], int32_t grid, float *out_key,
				  int32_t *out_bin)
{
	const v8 feed = splat3(advance);
	const v8 middle = splat3(centre);
	const f8 zero = splat(0);
	for (int32_t i = 0; i < count; i += 8) {
		const v8 p = {sub(tac_f32x8_loadu(x + i), middle.x), sub(tac_f32x8_loadu(y + i), middle.y),
			      sub(tac_f32x8_loadu(z + i), middle.z)};
		const f8 ax = tac_f32x8_abs(p.x), ay = tac_f32x8_abs(p.y), az = tac_f32x8_abs(p.z);
		const tac_m32x8 is_x = tac_m32x8_and(tac_f32x8_ge(ax, ay), tac_f32x8_ge(ax, az));
		const tac_m32x8 is_y = tac_m32x8_andnot(tac_f32x8_ge(ay, az), is_x);
		const f8 size =
			most(tac_f32x8_select(is_x, ax, tac_f32x8_select(is_y, ay, az)), splat(SHORTEST));
		const f8 major = tac_f32x8_select(is_x, p.x, tac_f32x8_select(is_y, p.y, p.z));
		const f8 u = tac_f32x8_select(is_x, p.y, tac_f32x8_select(is_y, p.z, p.x));
		const f8 v = tac_f32x8_select(is_x, p.z, tac_f32x8_select(is_y, p.x, p.y));
		const f8 scale = tac_f32x8_div(splat(0.49999F * (float)grid), size);
		const tac_i32x8 column = tac_i32x8_from_f32(mul(scale, add(u, size)));
		const tac_i32x8 row = tac_i32x8_from_f32(mul(scale, add(v, size)));
		const tac_i32x8 side = tac_i32x8_add(
			tac_i32x8_select(is_x, tac_i32x8_splat(0),
					 tac_i32x8_select(is_y, tac_i32x8_splat(2), tac_i32x8_splat(4))),
			tac_i32x8_select(tac_f32x8_lt(major, zero), tac_i32x8_splat(1), tac_i32x8_splat(0)));
		// Small integers are exact as floats.
		const f8 cells = splat((float)grid);
		const f8 bin =
			add(mul(add(mul(tac_f32x8_from_i32(side), cells), tac_f32x8_from_i32(column)), cells),
			    tac_f32x8_from_i32(row));
		const f8 distance = most(tac_f32x8_sqrt(dot8(p, p)), splat(SHORTEST));
		const f8 along = most(dot8(p, feed), zero);
		tac_f32x8_storeu(out_key + i, add(distance, tac_f32x8_div(along, distance)));
		tac_i32x8_storeu(out_bin + i, tac_i32x8_from_f32(bin));
	}
}
