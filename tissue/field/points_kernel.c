// The kernels of tissue/field/bricks.h that work on points, compiled once for each SIMD variant.
#include "tissue/field/wide_vector.h"

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

// ---- a burr ----

INLINE v8 load3(tac_field_coordinates c, int32_t i)
{
	return (v8){tac_f32x8_loadu(c.x + i), tac_f32x8_loadu(c.y + i), tac_f32x8_loadu(c.z + i)};
}

INLINE unsigned lanes_of(int32_t left)
{
	return left < 8 ? (1U << left) - 1 : 0xff;
}

INLINE v8 in_frame(const tac_field_frame *f, v8 p)
{
	const float *r = f->rotation;
	return (v8){add(dot8(splat3(r), p), splat(f->shift[0])),
		    add(dot8(splat3(r + 3), p), splat(f->shift[1])),
		    add(dot8(splat3(r + 6), p), splat(f->shift[2]))};
}

// The distance from the burr, and its gradient.
INLINE f8 from_round(const tac_field_shape *s, v8 p, v8 *out_normal)
{
	const v8 from = {p.x, p.y, sub(p.z, least(most(p.z, splat(0)), splat(s->length)))};
	const f8 length = tac_f32x8_sqrt(dot8(from, from));
	const f8 inverse = tac_f32x8_div(splat(1), most(length, splat(SHORTEST)));
	*out_normal = (v8){mul(from.x, inverse), mul(from.y, inverse), mul(from.z, inverse)};
	return sub(length, splat(s->radius));
}

INLINE f8 from_cylinder(const tac_field_shape *s, v8 p, v8 *out_normal)
{
	const f8 zero = splat(0), one = splat(1);
	const f8 from_axis = tac_f32x8_sqrt(add(mul(p.x, p.x), mul(p.y, p.y)));
	const f8 side = sub(from_axis, splat(s->radius));
	const f8 above = sub(p.z, splat(s->length)), below = tac_f32x8_neg(p.z), end = most(above, below);
	const tac_m32x8 both = tac_m32x8_and(tac_f32x8_gt(side, zero), tac_f32x8_gt(end, zero));
	const tac_m32x8 nearer_side = tac_f32x8_gt(side, end);
	const f8 corner = tac_f32x8_sqrt(add(mul(side, side), mul(end, end)));
	const f8 inverse = tac_f32x8_div(one, most(corner, splat(SHORTEST)));
	const f8 of_side =
		tac_f32x8_select(both, mul(side, inverse), tac_f32x8_select(nearer_side, one, zero));
	const f8 of_end = tac_f32x8_select(both, mul(end, inverse), tac_f32x8_select(nearer_side, zero, one));
	const f8 outwards = tac_f32x8_div(of_side, most(from_axis, splat(SHORTEST)));
	*out_normal = (v8){mul(p.x, outwards), mul(p.y, outwards),
			   tac_f32x8_select(tac_f32x8_gt(above, below), of_end, tac_f32x8_neg(of_end))};
	return tac_f32x8_select(both, corner, most(side, end));
}

INLINE f8 from_burr(const tac_field_shape *s, v8 p, v8 *out_normal)
{
	return s->cylinder ? from_cylinder(s, p, out_normal) : from_round(s, p, out_normal);
}

void TAC_SIMD_NAME(tac_field_distances)(const tac_field_shape *shape, const tac_field_frame *frame,
					tac_field_coordinates points, float *out_distance)
{
	for (int32_t i = 0; i < points.count; i += 8) {
		v8 normal;
		tac_f32x8_storeu(out_distance + i,
				 from_burr(shape, in_frame(frame, load3(points, i)), &normal));
	}
}

// ---- bins ----

// The place is projected onto the side of a cube that it meets: the axis with the largest component, the next
// axis as u, the one after it as v.
INLINE tac_i32x8 bin_of(v8 p, int32_t grid)
{
	const f8 ax = tac_f32x8_abs(p.x), ay = tac_f32x8_abs(p.y), az = tac_f32x8_abs(p.z);
	const tac_m32x8 is_x = tac_m32x8_and(tac_f32x8_ge(ax, ay), tac_f32x8_ge(ax, az));
	const tac_m32x8 is_y = tac_m32x8_andnot(tac_f32x8_ge(ay, az), is_x);
	const f8 size = most(tac_f32x8_select(is_x, ax, tac_f32x8_select(is_y, ay, az)), splat(SHORTEST));
	const f8 major = tac_f32x8_select(is_x, p.x, tac_f32x8_select(is_y, p.y, p.z));
	const f8 u = tac_f32x8_select(is_x, p.y, tac_f32x8_select(is_y, p.z, p.x));
	const f8 v = tac_f32x8_select(is_x, p.z, tac_f32x8_select(is_y, p.x, p.y));
	const f8 scale = tac_f32x8_div(splat(0.49999F * (float)grid), size);
	const tac_i32x8 column = tac_i32x8_from_f32(mul(scale, add(u, size)));
	const tac_i32x8 row = tac_i32x8_from_f32(mul(scale, add(v, size)));
	const tac_i32x8 side = tac_i32x8_add(
		tac_i32x8_select(is_x, tac_i32x8_splat(0),
				 tac_i32x8_select(is_y, tac_i32x8_splat(2), tac_i32x8_splat(4))),
		tac_i32x8_select(tac_f32x8_lt(major, splat(0)), tac_i32x8_splat(1), tac_i32x8_splat(0)));
	// Small integers are exact as floats.
	const f8 cells = splat((float)grid);
	return tac_i32x8_from_f32(
		add(mul(add(mul(tac_f32x8_from_i32(side), cells), tac_f32x8_from_i32(column)), cells),
		    tac_f32x8_from_i32(row)));
}

// A ball's box is a cube about its middle, that of a longer burr is as long as the burr.
void TAC_SIMD_NAME(tac_field_bin)(const tac_field_shape *shape, const tac_field_frame *frame,
				  tac_field_coordinates points, const float advance[3], int32_t grid,
				  float *out_key, int32_t *out_bin)
{
	const tac_field_shape s = *shape;
	const v8 feed = splat3(advance);
	const float half = 0.5F * s.length + (s.cylinder ? 0 : s.radius);
	const f8 wide = splat(1 / s.radius), high = splat(1 / half), middle = splat(0.5F * s.length);
	for (int32_t i = 0; i < points.count; i += 8) {
		const v8 p = in_frame(frame, load3(points, i));
		const v8 in_box = {mul(p.x, wide), mul(p.y, wide), mul(sub(p.z, middle), high)};
		v8 normal;
		const f8 distance = from_burr(&s, p, &normal);
		tac_f32x8_storeu(out_key + i, add(distance, most(dot8(normal, feed), splat(0))));
		tac_i32x8_storeu(out_bin + i, bin_of(in_box, grid));
	}
}

// ---- proofs ----

// Whether a ball's middle certainly keeps its height above the discs about the points, or only rises. The
// sides of a disc are not looked at.
INLINE tac_m32x8 clears_discs(const tac_field_course *c, v8 point, v8 up)
{
	const v8 from = {sub(splat(c->middle[0]), point.x), sub(splat(c->middle[1]), point.y),
			 sub(splat(c->middle[2]), point.z)};
	const f8 sinks = tac_f32x8_neg(dot8(splat3(c->along), up));
	const f8 above = sub(add(dot8(from, up), splat(c->allowed)), splat(c->shape.radius));
	const f8 spare = sub(sub(above, splat(c->keep)), splat(c->error));
	const tac_m32x8 rises = tac_f32x8_le(sinks, tac_f32x8_neg(splat(c->error)));
	const tac_m32x8 flat = tac_f32x8_eq(dot8(up, up), splat(0)); // a point of an edge has no disc
	return tac_m32x8_or(tac_m32x8_or(rises, flat), tac_f32x8_ge(spare, sinks));
}

// The rule of free_fraction in haptic/mover/geometry_field.c, with the error of single precision on the safe
// side: the distance is at least d0 + s slope0 and d1 - (1 - s) slope1.
int32_t TAC_SIMD_NAME(tac_field_doubt)(const tac_field_course *course, tac_field_coordinates points,
				       tac_field_coordinates normals, int32_t *out_index)
{
	const tac_field_course own = *course, *c = &own;
	const v8 feed = splat3(c->advance);
	const f8 zero = splat(0), error = splat(c->error), bend = splat(c->bend);
	int32_t found = 0;
	for (int32_t i = 0; i < points.count; i += 8) {
		const v8 p = load3(points, i), q0 = in_frame(&c->start, p);
		v8 n0, n1;
		const f8 d0 = from_burr(&c->shape, q0, &n0);
		unsigned lanes = tac_m32x8_movemask(tac_f32x8_lt(d0, splat(c->reach)));
		lanes &= lanes_of(points.count - i);
		if (!lanes)
			continue;
		const v8 q1 = in_frame(&c->end, p);
		const f8 d1 = from_burr(&c->shape, q1, &n1);
		const v8 chord = {sub(q1.x, q0.x), sub(q1.y, q0.y), sub(q1.z, q0.z)};
		const f8 allowed = add(splat(c->allowed), most(dot8(n0, feed), zero));
		const f8 keep = sub(least(splat(c->keep), sub(add(d0, allowed), splat(c->creep))), allowed);
		const f8 safe = add(keep, error);
		const f8 slope0 = sub(dot8(n0, chord), bend), slope1 = add(dot8(n1, chord), bend);
		const tac_m32x8 parts = tac_f32x8_ge(slope0, error);
		const tac_m32x8 far = tac_f32x8_ge(add(d0, slope0), safe);
		// Where the first line falls to `safe`: 0 or more, because slope0 is below 0 where it counts.
		const f8 first = most(tac_f32x8_div(sub(safe, d0), least(slope0, splat(-SHORTEST))), zero);
		const f8 second = sub(d1, mul(sub(splat(1), first), most(slope1, zero)));
		tac_m32x8 is_free = tac_m32x8_or(tac_m32x8_or(parts, far), tac_f32x8_ge(second, safe));
		if (c->discs)
			is_free = tac_m32x8_and(is_free, clears_discs(c, p, load3(normals, i)));
		for (lanes &= ~tac_m32x8_movemask(is_free); lanes; lanes &= lanes - 1)
			out_index[found++] = i + __builtin_ctz(lanes);
	}
	return found;
}
