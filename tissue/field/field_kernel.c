// The kernels of tissue/field/bricks.h that work on a brick, compiled once for each SIMD variant. A row is
// the eight nodes of a brick along z.
#include "tissue/field/wide_vector.h"

#include <string.h>

// For conversions to and from bytes, which base/simd/wide.h has not.
typedef int8_t bytes8 __attribute__((vector_size(8)));
typedef int32_t ints8 __attribute__((vector_size(32)));

static const float eight[8] = {0, 1, 2, 3, 4, 5, 6, 7};

INLINE v8 row_nodes(const tac_field_cut *cut, const float base[3], int row)
{
	const float x = base[0] + (float)(row / FIELD_BRICK) * cut->voxel;
	const float y = base[1] + (float)(row % FIELD_BRICK) * cut->voxel;
	return (v8){splat(x), splat(y), add(splat(base[2]), mul(tac_f32x8_loadu(eight), splat(cut->voxel)))};
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

// Of the rows of a brick that are left, those that a cut may change. Not: rows too far from the ball that
// holds all that the sweep acts on, and rows behind the sweep, where the last cut has been.
INLINE uint64_t rows_in_reach(const tac_field_cut *cut, const float base[3], uint64_t left)
{
	const float reach = cut->radius + cut->far + 0.5F * cut->length + cut->voxel;
	const float side = 7 * cut->voxel, z = base[2] - 0.5F * cut->axis[2];
	const float low = z > 0 ? z : z + side < 0 ? z + side : 0;
	const float first = cut->axis[2] * base[2], last = cut->axis[2] * (base[2] + side);
	const f8 j = mul(tac_f32x8_loadu(eight), splat(cut->voxel));
	const f8 y = add(splat(base[1] - 0.5F * cut->axis[1]), j);
	const f8 across = add(mul(y, y), splat(low * low));
	const f8 along =
		add(mul(splat(cut->axis[1]), add(splat(base[1]), j)), splat(first > last ? first : last));
	uint64_t in = 0;
	for (int i = 0; i < FIELD_BRICK; i++) {
		const float at = (float)i * cut->voxel, x = base[0] - 0.5F * cut->axis[0] + at;
		tac_m32x8 m = tac_f32x8_le(add(across, splat(x * x)), splat(reach * reach));
		if (cut->goes_on)
			m = tac_m32x8_and(
				m, tac_f32x8_gt(add(along, splat(cut->axis[0] * (base[0] + at))), splat(0)));
		in |= (uint64_t)tac_m32x8_movemask(m) << (i * FIELD_BRICK);
	}
	return in & left;
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
INLINE unsigned raise_row(const tac_field_cut *cut, tac_field_brick *brick, tac_field_rows *rows, int row,
			  f8 value, tally *t)
{
	float *distance = &brick->distance[row * 8];
	const f8 old = tac_f32x8_loadu(distance);
	const f8 raised = most(old, least(value, splat(cut->far)));
	const unsigned changed = tac_m32x8_movemask(tac_f32x8_gt(raised, old));
	if (!changed)
		return 0;
	tac_f32x8_storeu(distance, raised);
	const uint64_t bit = UINT64_C(1) << row;
	const tac_m32x8 near = tac_f32x8_lt(tac_f32x8_abs(raised), splat(FIELD_NEAR_INSIDE * cut->voxel));
	rows->near = tac_m32x8_any(near) ? rows->near | bit : rows->near & ~bit;
	if (tac_m32x8_all(tac_f32x8_ge(raised, splat(cut->far))))
		rows->left &= ~bit;
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
					  tac_field_brick *brick, tac_field_rows *rows,
					  double removed[TAC_FIELD_LABELS])
{
	const tac_field_cut own = *shared, *cut = &own;
	tally t = tally_of(brick, removed);
	tac_field_rows now = *rows;
	bool any = false;
	for (uint64_t in = rows_in_reach(cut, base, now.left); in; in &= in - 1) {
		const int row = __builtin_ctzll(in);
		const v8 p = from_core(cut, row_nodes(cut, base, row));
		const f8 length = tac_f32x8_sqrt(dot8(p, p));
		const f8 value = sub(splat(cut->radius), length);
		const unsigned changed = raise_row(cut, brick, &now, row, value, &t);
		if (!changed)
			continue;
		any = true;
		const f8 inwards = tac_f32x8_div(splat(-1), most(length, splat(SHORTEST)));
		store_normals(brick, row, (v8){mul(p.x, inwards), mul(p.y, inwards), mul(p.z, inwards)},
			      changed);
	}
	finish_tally(&t);
	*rows = now;
	return any;
}

// The distances of a row's nodes from a cylinder, in parts.
typedef struct profile {
	v8 radial; // from the axis
	f8 from_axis;
	f8 side, above, below, end; // beyond the side, the ends, and the nearer end
	f8 corner;                  // from the rim, where both is true:
	tac_m32x8 both;
	f8 distance;
} profile;

INLINE profile profile_of(const tac_field_cut *cut, v8 node, v8 axis)
{
	profile p;
	const f8 zero = splat(0), along = dot8(node, axis);
	p.radial = sub_scaled(node, along, axis);
	p.from_axis = tac_f32x8_sqrt(dot8(p.radial, p.radial));
	p.side = sub(p.from_axis, splat(cut->radius));
	p.above = sub(along, splat(cut->length));
	p.below = tac_f32x8_neg(along);
	p.end = most(p.above, p.below);
	p.corner = tac_f32x8_sqrt(add(mul(p.side, p.side), mul(p.end, p.end)));
	p.both = tac_m32x8_and(tac_f32x8_gt(p.side, zero), tac_f32x8_gt(p.end, zero));
	p.distance = tac_f32x8_select(p.both, p.corner, most(p.side, p.end));
	return p;
}

INLINE v8 axis_of(const tac_field_cut *cut)
{
	const float unit[3] = {cut->axis[0] / cut->length, cut->axis[1] / cut->length,
			       cut->axis[2] / cut->length};
	return splat3(unit);
}

bool TAC_SIMD_NAME(tac_field_carve_cylinder)(const tac_field_cut *shared, const float base[3],
					     tac_field_brick *brick, tac_field_rows *rows,
					     double removed[TAC_FIELD_LABELS])
{
	const tac_field_cut own = *shared, *cut = &own;
	tally t = tally_of(brick, removed);
	const v8 axis = axis_of(cut);
	tac_field_rows now = *rows;
	bool any = false;
	for (uint64_t in = rows_in_reach(cut, base, now.left); in; in &= in - 1) {
		const int row = __builtin_ctzll(in);
		const profile p = profile_of(cut, row_nodes(cut, base, row), axis);
		const unsigned changed = raise_row(cut, brick, &now, row, tac_f32x8_neg(p.distance), &t);
		if (!changed)
			continue;
		any = true;
		// The gradient: the parts along the radius and along the axis.
		const f8 zero = splat(0), one = splat(1);
		const f8 inverse = tac_f32x8_div(one, most(p.corner, splat(SHORTEST)));
		const tac_m32x8 nearer_side = tac_f32x8_gt(p.side, p.end);
		const f8 of_side = tac_f32x8_select(p.both, mul(p.side, inverse),
						    tac_f32x8_select(nearer_side, one, zero));
		const f8 of_end = tac_f32x8_select(p.both, mul(p.end, inverse),
						   tac_f32x8_select(nearer_side, zero, one));
		const f8 outwards = tac_f32x8_div(of_side, most(p.from_axis, splat(SHORTEST)));
		const f8 upwards =
			tac_f32x8_select(tac_f32x8_gt(p.above, p.below), of_end, tac_f32x8_neg(of_end));
		const v8 inwards = {tac_f32x8_neg(add(mul(p.radial.x, outwards), mul(axis.x, upwards))),
				    tac_f32x8_neg(add(mul(p.radial.y, outwards), mul(axis.y, upwards))),
				    tac_f32x8_neg(add(mul(p.radial.z, outwards), mul(axis.z, upwards)))};
		store_normals(brick, row, inwards, changed);
	}
	finish_tally(&t);
	*rows = now;
	return any;
}

bool TAC_SIMD_NAME(tac_field_enters)(const tac_field_cut *shared, bool cylinder, const float base[3],
				     const tac_field_brick *brick, uint64_t rows, float rise)
{
	const tac_field_cut own = *shared, *cut = &own;
	const v8 axis = cylinder ? axis_of(cut) : splat3(cut->axis);
	for (uint64_t in = rows_in_reach(cut, base, rows); in; in &= in - 1) {
		const int row = __builtin_ctzll(in);
		const f8 old = tac_f32x8_loadu(&brick->distance[row * 8]);
		const tac_m32x8 material = tac_f32x8_lt(old, splat(0.5F * cut->voxel));
		if (!tac_m32x8_any(material))
			continue;
		const v8 node = row_nodes(cut, base, row), p = from_core(cut, node);
		const f8 distance = cylinder ? profile_of(cut, node, axis).distance
					     : sub(tac_f32x8_sqrt(dot8(p, p)), splat(cut->radius));
		const f8 risen = sub(tac_f32x8_neg(distance), splat(rise));
		if (tac_m32x8_any(tac_m32x8_and(material, tac_f32x8_gt(risen, old))))
			return true;
	}
	return false;
}

INLINE f8 load_normal(const tac_field_brick *brick, int axis, int row)
{
	int32_t each[8];
	for (int k = 0; k < 8; k++) // GCC makes one instruction of this, but eight of a convertvector
		each[k] = brick->normal[axis][row * 8 + k];
	return tac_f32x8_from_i32(tac_i32x8_loadu(each));
}

int32_t TAC_SIMD_NAME(tac_field_find)(const tac_field_cut *shared, const float base[3],
				      const tac_field_brick *brick, uint64_t near, const float range[2],
				      float reach, tac_field_feet *out)
{
	const tac_field_cut own = *shared, *core = &own;
	int32_t count = 0;
	for (uint64_t rows = near; rows; rows &= rows - 1) {
		const int row = __builtin_ctzll(rows);
		const f8 distance = tac_f32x8_loadu(&brick->distance[row * 8]);
		const tac_m32x8 at_surface = tac_m32x8_and(tac_f32x8_gt(distance, splat(range[0])),
							   tac_f32x8_lt(distance, splat(range[1])));
		if (!tac_m32x8_any(at_surface))
			continue;
		const v8 node = row_nodes(core, base, row), p = from_core(core, node);
		const tac_m32x8 in =
			tac_m32x8_and(at_surface, tac_f32x8_lt(dot8(p, p), splat(reach * reach)));
		if (!tac_m32x8_any(in))
			continue;
		const v8 n = {load_normal(brick, 0, row), load_normal(brick, 1, row),
			      load_normal(brick, 2, row)};
		const f8 square = dot8(n, n);
		unsigned lanes = tac_m32x8_movemask(tac_m32x8_and(in, tac_f32x8_gt(square, splat(0))));
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
