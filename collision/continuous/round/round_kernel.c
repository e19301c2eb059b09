// The kernels of collision/ccd_round_list.h, compiled for each instruction set.
#include "collision/ccd_round_list.h"
#include "collision/contacts.h"
#include "collision/round8.inl"

#include <stddef.h>
#include <string.h>

// Each node that is opened leaves at most seven others waiting.
#define STACK (7 * TAC_CCD_LEVELS + 1)
// Part of the coordinates by which a way is thicker: some thirty roundings of float.
#define ROUNDING 2e-6
// What rounding may take from the square of a distance across a normal, as a part of the whole distance's.
#define ACROSS_ROUNDING 1e-6f
// Planes that a triangle is tried with before it is examined.
#define DELAYS   2
#define SHORTEST 1e-15F // gap whose square does not vanish, m

// A block is aligned as its context is.
#define LOADU3(rows)                                                                                         \
	((v8){tac_f32x8_loadu((rows)[0]), tac_f32x8_loadu((rows)[1]), tac_f32x8_loadu((rows)[2])})

// Where a >= b, or it is not known.
KERNEL tac_m32x8 not_below(f8 a, f8 b)
{
	return tac_m32x8_not(tac_f32x8_lt(a, b));
}

// Not below x, >= 0, and hardly above.
static float above_float(double x)
{
	return (float)x * (1 + 0x1p-22f);
}

KERNEL uint8_t lanes_of(tac_m32x8 m)
{
	return (uint8_t)tac_m32x8_movemask(m);
}

// A segment in float: its middle, and from there to its end.
typedef struct {
	float middle[3], half[3], length; // half of it
	float reach;
} segment;

static segment segment_make(const tac_ccd_round_way *r, float reach)
{
	segment s;
	for (int i = 0; i < 3; i++) {
		double a = tac_dvec3_get(r->a, i), b = tac_dvec3_get(r->b, i);
		s.middle[i] = (float)(0.5 * (a + b));
		s.half[i] = (float)(0.5 * (b - a));
	}
	s.length = (float)(0.5 * tac_dvec3_length(tac_dvec3_sub(r->b, r->a)));
	s.reach = reach;
	return s;
}

KERNEL f8 positive(f8 x)
{
	return larger(x, splat(0));
}

KERNEL f8 square(f8 x)
{
	return mul(x, x);
}

// Along d x e_i, the two other coordinates being j and k: whether the box comes within reach of the segment.
KERNEL tac_m32x8 across_axis(const segment *s, const tac_ccd_node *n, const f8 apart[3], int j, int k)
{
	float dj = s->half[j], dk = s->half[k], length = sqrtf(dj * dj + dk * dk);
	f8 away = absolute(sub(mul(splat(dk), apart[j]), mul(splat(dj), apart[k])));
	f8 size = add(mul(splat(fabsf(dk)), load(n->half[j])), mul(splat(fabsf(dj)), load(n->half[k])));
	return tac_f32x8_le(away, add(size, splat(length * s->reach)));
}

// The lanes of the node whose boxes and slabs come within reach of the segment.
KERNEL unsigned near_lanes(const segment *s, const tac_ccd_node *n)
{
	f8 apart[3], from_box = splat(0), reach2 = splat(s->reach * s->reach);
	for (int i = 0; i < 3; i++) {
		apart[i] = sub(splat(s->middle[i]), load(n->center[i]));
		f8 out = sub(absolute(apart[i]), add(load(n->half[i]), splat(fabsf(s->half[i]))));
		from_box = add(from_box, square(positive(out)));
	}
	tac_m32x8 near = tac_f32x8_le(from_box, reach2);
	if (tac_m32x8_movemask(near) == 0)
		return 0;
	v8 away = {apart[0], apart[1], apart[2]}, normal = LOAD3(n->normal);
	f8 height = dot(normal, away), distance2 = dot(away, away);
	f8 tilt = absolute(dot(normal, splat3(s->half)));
	f8 over = positive(sub(absolute(sub(height, load(n->offset))), add(load(n->thick), tilt)));
	f8 across = tac_f32x8_sqrt(
		positive(sub(sub(distance2, square(height)), mul(splat(ACROSS_ROUNDING), distance2))));
	f8 beside = positive(sub(across, add(load(n->wide), splat(s->length))));
	near = tac_m32x8_and(near, tac_f32x8_le(add(square(over), square(beside)), reach2));
	if (s->length > 0) {
		near = tac_m32x8_and(near, across_axis(s, n, apart, 1, 2));
		near = tac_m32x8_and(near, across_axis(s, n, apart, 2, 0));
		near = tac_m32x8_and(near, across_axis(s, n, apart, 0, 1));
	}
	return (unsigned)tac_m32x8_movemask(near);
}

// A direction in which a way may pass a box: a unit vector and its absolute; what the tool covers of it at
// the start, m; the inverses of how fast that grows, downwards and upwards.
typedef struct {
	float n[3], size[3], low, high, down, up;
} axis;

#define AXES 4

// A way in float.
typedef struct {
	float a[3], b[3], va[3], vb[3];
	axis box[3], across[AXES]; // the coordinates; at a right angle to the core, for a capsule
	int across_count;
	float reach;
	bool sphere, straight, still; // b as a; vb as va; both zero: then there are no axes
	segment here;
} course;

// The inverse of a rate, none being one that is too slow to tell.
static float inverse_of(double rate)
{
	return (float)(1 / (rate < 0 ? fmin(rate, -(double)TINY) : fmax(rate, (double)TINY)));
}

static axis axis_make(const tac_ccd_round_way *way, tac_dvec3 n)
{
	double a = tac_dvec3_dot(n, way->a), b = tac_dvec3_dot(n, way->b), va = tac_dvec3_dot(n, way->va),
	       vb = tac_dvec3_dot(n, way->vb);
	return (axis){
		.n = {(float)n.x, (float)n.y, (float)n.z},
		.size = {(float)fabs(n.x), (float)fabs(n.y), (float)fabs(n.z)},
		.low = (float)fmin(a, b),
		.high = (float)fmax(a, b),
		.down = inverse_of(fmin(va, vb)),
		.up = inverse_of(-fmax(va, vb)),
	};
}

static void set_axes(course *c, const tac_ccd_round_way *way)
{
	tac_dvec3 core = tac_dvec3_sub(way->b, way->a), across[AXES];
	for (int i = 0; i < 3; i++) {
		tac_dvec3 e = {i == 0, i == 1, i == 2};
		c->box[i] = axis_make(way, e);
		across[i] = tac_dvec3_cross(core, e);
	}
	across[3] = tac_dvec3_cross(core, tac_dvec3_add(way->va, way->vb));
	for (int i = 0; i < AXES; i++) {
		if (tac_dvec3_length_squared(across[i]) > 0)
			c->across[c->across_count++] = axis_make(way, tac_dvec3_normalize(across[i]));
	}
}

static course course_make(const tac_ccd_body *body, const tac_ccd_round_way *way)
{
	course c;
	c.sphere = c.straight = c.still = true;
	c.across_count = 0;
	for (int i = 0; i < 3; i++) {
		c.a[i] = (float)tac_dvec3_get(way->a, i);
		c.b[i] = (float)tac_dvec3_get(way->b, i);
		c.va[i] = (float)tac_dvec3_get(way->va, i);
		c.vb[i] = (float)tac_dvec3_get(way->vb, i);
		c.sphere = c.sphere && c.a[i] == c.b[i];
		c.straight = c.straight && c.va[i] == c.vb[i];
		c.still = c.still && c.va[i] == 0 && c.vb[i] == 0;
	}
	double size = body->radius + tac_dvec3_length(way->a) + tac_dvec3_length(way->b) +
		      tac_dvec3_length(way->va) + tac_dvec3_length(way->vb) + way->radius;
	c.reach = (float)(way->radius + ROUNDING * size);
	c.here = segment_make(way, c.reach);
	if (!c.still)
		set_axes(&c, way);
	return c;
}

// The part of a way during which something is near.
typedef struct {
	f8 enter, leave;
} span8;

// Cuts a span to where over + s rate <= 0. A rate of zero is one that is too slow to tell.
KERNEL void cut(span8 *span, f8 over, f8 rate)
{
	tac_m32x8 nears = tac_f32x8_lt(rate, splat(0));
	f8 at = tac_f32x8_div(over, larger(absolute(rate), splat(TINY)));
	span->enter = pick(nears, larger(span->enter, at), span->enter);
	span->leave = pick(nears, span->leave, smaller(span->leave, negative(at)));
}

// The same, the rate being that of all lanes, as its inverse.
KERNEL void cut_all(span8 *span, f8 over, float inverse)
{
	f8 at = mul(over, splat(-inverse));
	if (inverse < 0)
		span->enter = larger(span->enter, at);
	else
		span->leave = smaller(span->leave, at);
}

// To where a box is within reach along an axis on which it covers `size` to both sides of `middle`.
KERNEL void cut_axis(span8 *span, const axis *x, f8 middle, f8 size)
{
	cut_all(span, sub(sub(splat(x->low), middle), size), x->down);
	cut_all(span, sub(sub(middle, splat(x->high)), size), x->up);
}

// When the boxes and slabs of the node's lanes are within reach of the way.
KERNEL span8 near_span(const course *c, const tac_ccd_node *n)
{
	span8 span = {splat(0), splat(1)};
	v8 center = LOAD3(n->center), half = LOAD3(n->half);
	f8 reach = splat(c->reach);
	cut_axis(&span, &c->box[0], center.x, add(half.x, reach));
	cut_axis(&span, &c->box[1], center.y, add(half.y, reach));
	cut_axis(&span, &c->box[2], center.z, add(half.z, reach));
	for (int i = 0; i < c->across_count; i++) {
		const axis *x = &c->across[i];
		cut_axis(&span, x, dot(splat3(x->n), center), add(dot(splat3(x->size), half), reach));
	}
	v8 normal = LOAD3(n->normal);
	f8 low = dot(normal, sub3(splat3(c->a), center)), high = low;
	f8 down = dot(normal, splat3(c->va)), up = down;
	if (!c->sphere) {
		f8 other = dot(normal, sub3(splat3(c->b), center));
		low = smaller(low, other);
		high = larger(high, other);
	}
	if (!c->straight) {
		f8 other = dot(normal, splat3(c->vb));
		down = smaller(down, other);
		up = larger(up, other);
	}
	f8 offset = load(n->offset), thick = add(load(n->thick), reach);
	cut(&span, sub(sub(low, offset), thick), down);
	cut(&span, sub(sub(offset, high), thick), negative(up));
	return span;
}

// The corners of eight triangles of the body.
KERNEL void take_corners(const tac_ccd_body *body, const int32_t triangle[8], v8 out[3])
{
	_Static_assert(offsetof(tac_ccd_triangle, vertex) == 0, "the vertices come first");
	f8 e[12];
	for (int k = 0; k < 12; k += 4) {
		const float *from[8];
		for (int i = 0; i < 8; i++)
			from[i] = (const float *)&body->triangles[triangle[i]] + k;
		tac_f32x8_gather4(from, &e[k]);
	}
	for (int k = 0; k < 3; k++)
		out[k] = (v8){e[3 * k], e[3 * k + 1], e[3 * k + 2]};
}

// A plane with triangles on its far side: unit normal towards the tool, their height over it.
typedef struct {
	v8 normal;
	f8 top;
} plane8;

// The planes across the gaps to the segment from 0 along d. What is out of range, or touches, has none: its
// normal is zero.
KERNEL plane8 make_planes(const face8 *f, v8 d, bool sphere)
{
	gap8 best = least_gap(f, d, sphere);
	f8 length = tac_f32x8_sqrt(best.square), zero = splat(0);
	tac_m32x8 known = tac_m32x8_and(tac_f32x8_lt(best.square, splat(0.5F * NOTHING)),
					tac_f32x8_lt(splat(SHORTEST), length));
	v8 none = {zero, zero, zero},
	   n = pick3(known, scale3(best.gap, tac_f32x8_div(splat(-1), length)), none);
	return (plane8){n, larger3(dot(n, f->v[0]), dot(n, f->v[1]), dot(n, f->v[2]))};
}

// Where a span is one, and begins before the limit.
KERNEL unsigned lanes_during(const span8 *span, float limit)
{
	return lanes_of(tac_m32x8_and(tac_f32x8_le(span->enter, span->leave),
				      tac_f32x8_le(span->enter, splat(limit))));
}

// Lets the spans of the lanes, all of them triangles, begin later: the plane across the gap there keeps the
// tool away for some time. Answers those that still begin before the limit.
static unsigned delay(const tac_ccd_body *body, const course *c, const tac_ccd_node *node, unsigned lanes,
		      float limit, span8 *span)
{
	int32_t triangle[8];
	for (int k = 0; k < 8; k++)
		triangle[k] = ~node->child[lanes >> k & 1 ? k : lowest_bit(lanes)];
	v8 corner[3], va = splat3(c->va), vb = splat3(c->vb);
	take_corners(body, triangle, corner);
	face8 f = make_face(corner[0], corner[1], corner[2]);
	for (int i = 0; i < DELAYS && lanes; i++) {
		v8 a = add3(splat3(c->a), scale3(va, span->enter)),
		   d = sub3(add3(splat3(c->b), scale3(vb, span->enter)), a);
		for (int k = 0; k < 3; k++)
			f.v[k] = sub3(corner[k], a);
		plane8 p = make_planes(&f, d, c->sphere && c->straight);
		f8 clears = sub(sub(smaller(splat(0), dot(p.normal, d)), p.top), splat(c->reach)),
		   rate = smaller(dot(p.normal, va), dot(p.normal, vb)),
		   wait = tac_f32x8_div(clears, larger(negative(rate), splat(TINY)));
		tac_m32x8 clear = tac_m32x8_and(tac_f32x8_lt(splat(0), clears), tac_m32x8_from_bits(lanes));
		span->enter = pick(clear, add(span->enter, wait), span->enter);
		lanes &= lanes_during(span, limit);
	}
	return lanes;
}

// The lanes of the node that the tool comes near until the limit, and when.
static unsigned lanes_to_come(const tac_ccd_body *body, const course *c, const tac_ccd_node *node,
			      float limit, float enter[TAC_CCD_WIDTH])
{
	span8 span = near_span(c, node);
	unsigned lanes = lanes_during(&span, limit),
		 triangles = lanes & lanes_of(tac_i32x8_lt(tac_i32x8_load(node->child), tac_i32x8_splat(0)));
	if (triangles)
		lanes &= ~triangles | delay(body, c, node, triangles, limit, &span);
	tac_f32x8_storeu(enter, span.enter);
	return lanes;
}

// A node, or ~t: the triangle t; and when the tool comes near it.
typedef struct {
	float at;
	int32_t child;
} stop;

static int32_t put_in_order(stop *stack, int32_t bottom, int32_t top, stop s)
{
	int32_t i = top;
	for (; i > bottom && stack[i - 1].at < s.at; i--)
		stack[i] = stack[i - 1];
	stack[i] = s;
	return top + 1;
}

bool TAC_SIMD_NAME(tac_ccd_round_travel_kernel)(const tac_ccd_body *body, tac_ccd_round_way *way,
						tac_ccd_round_visit visit, void *user)
{
	stop stack[STACK];
	int32_t top = 0;
	course c = course_make(body, way);
	float limit = above_float(way->limit);
	stack[top++] = (stop){0, 0};
	while (top > 0) {
		stop next = stack[--top];
		if (next.at > limit)
			continue;
		way->enters = (double)next.at;
		if (way->budget-- <= 0 || (next.child < 0 && !visit(user, ~next.child))) {
			for (; top > 0; top--)
				next.at = fminf(next.at, stack[top - 1].at);
			way->proved = (double)next.at;
			return false;
		}
		if (next.child < 0) {
			limit = above_float(way->limit);
			continue;
		}
		const tac_ccd_node *node = &body->nodes[next.child];
		float enter[TAC_CCD_WIDTH] = {0};
		unsigned lanes =
			c.still ? near_lanes(&c.here, node) : lanes_to_come(body, &c, node, limit, enter);
		int32_t bottom = top;
		for (; lanes; lanes &= lanes - 1) {
			int k = lowest_bit(lanes);
			top = put_in_order(stack, bottom, top, (stop){enter[k], node->child[k]});
		}
	}
	return true;
}

static void place(const tac_ccd_round_context *list, tac_dvec3 x, v8 *out)
{
	tac_vec3 at = tac_vec3_from_dvec3(tac_dvec3_sub(x, tac_dvec3_from_vec3(list->origin)));
	*out = (v8){splat(at.x), splat(at.y), splat(at.z)};
}

void TAC_SIMD_NAME(tac_ccd_round_part_kernel)(tac_ccd_round_context *list)
{
	v8 core, origin = {splat(list->origin.x), splat(list->origin.y), splat(list->origin.z)};
	place(list, list->at.b, &core);
	bool sphere = tac_dvec3_length_squared(tac_dvec3_sub(list->at.b, list->at.a)) == 0;
	tac_ccd_round_block *end = list->blocks + tac_ccd_round_blocks(list);
	for (tac_ccd_round_block *block = list->blocks; block < end; block++) {
		v8 t[3];
		take_corners(list->fixed, block->triangle, t);
		for (int k = 0; k < 3; k++) {
			t[k] = sub3(t[k], origin);
			tac_f32x8_storeu(block->vertex[k][0], t[k].x);
			tac_f32x8_storeu(block->vertex[k][1], t[k].y);
			tac_f32x8_storeu(block->vertex[k][2], t[k].z);
		}
		face8 f = make_face(t[0], t[1], t[2]);
		plane8 p = make_planes(&f, core, sphere);
		f8 size = larger3(norm1(t[0]), norm1(t[1]), norm1(t[2]));
		tac_f32x8_storeu(block->normal[0], p.normal.x);
		tac_f32x8_storeu(block->normal[1], p.normal.y);
		tac_f32x8_storeu(block->normal[2], p.normal.z);
		tac_f32x8_storeu(block->offset, add(p.top, mul(splat(TAC_CCD_ROUND_ROUNDING), size)));
	}
}

void TAC_SIMD_NAME(tac_ccd_round_measure_kernel)(tac_ccd_round_context *list, const tac_dvec3 points[4],
						 double reach)
{
	v8 x[4];
	for (int k = 0; k < 4; k++)
		place(list, points[k], &x[k]);
	f8 size = larger(larger(norm1(x[0]), norm1(x[1])), larger(norm1(x[2]), norm1(x[3])));
	f8 error = mul(splat(TAC_CCD_ROUND_ROUNDING), size), enough = splat(above_float(reach));
	unsigned lanes = 0xFF;
	for (int32_t i = 0; i < list->count; i += TAC_CCD_WIDTH) {
		tac_ccd_round_block *block = &list->blocks[i / TAC_CCD_WIDTH];
		v8 n = LOADU3(block->normal);
		f8 h = smaller(smaller(dot(n, x[0]), dot(n, x[1])), smaller(dot(n, x[2]), dot(n, x[3])));
		f8 clears = sub(h, add(tac_f32x8_loadu(block->offset), error));
		tac_f32x8_storeu(block->clears, clears);
		if (list->count - i < TAC_CCD_WIDTH)
			lanes >>= TAC_CCD_WIDTH - (list->count - i);
		block->near = (uint8_t)(lanes & lanes_of(not_below(enough, clears)));
	}
}

KERNEL void leave_open(tac_i32x8 *left, int feature, tac_m32x8 where)
{
	*left = tac_i32x8_or(*left,
			     tac_i32x8_select(where, tac_i32x8_splat(1 << feature), tac_i32x8_splat(0)));
}

// Of its own features, and where it is near.
KERNEL void set_left(tac_ccd_round_block *block, tac_i32x8 left)
{
	left = tac_i32x8_and(left, tac_i32x8_loadu(block->own));
	tac_i32x8_storeu(block->left, left);
	block->open = (uint8_t)(block->near & ~lanes_of(tac_i32x8_eq(left, tac_i32x8_splat(0))));
}

void TAC_SIMD_NAME(tac_ccd_round_sieve_kernel)(tac_ccd_round_context *list, tac_dvec3 p, double reach)
{
	v8 x;
	place(list, p, &x);
	f8 size = norm1(x), cone = splat((float)(TAC_CONTACTS_CONE * reach)),
	   beside = splat((float)TAC_CCD_ROUND_BESIDE);
	tac_ccd_round_block *end = list->blocks + tac_ccd_round_blocks(list);
	for (tac_ccd_round_block *block = list->blocks; block < end; block++) {
		block->open = 0;
		if (block->near == 0)
			continue;
		tac_i32x8 left = tac_i32x8_splat(0);
		v8 t[3], edge[3], from[3];
		f8 length[3], error = size;
		for (int k = 0; k < 3; k++) {
			t[k] = LOADU3(block->vertex[k]);
			error = larger(error, norm1(t[k]));
		}
		for (int k = 0; k < 3; k++) {
			edge[k] = sub3(t[k == 2 ? 0 : k + 1], t[k]);
			from[k] = sub3(x, t[k]);
			length[k] = tac_f32x8_sqrt(dot(edge[k], edge[k]));
		}
		error = mul(error, splat(TAC_CCD_ROUND_ROUNDING));
		v8 normal = cross(edge[0], edge[1]);
		f8 area = tac_f32x8_sqrt(dot(normal, normal)),
		   longest = larger3(length[0], length[1], length[2]), most = add(cone, error);
		// Of a sliver the normal is less exact; without an area nothing is left out.
		f8 sliver = mul(error, square(longest));
		tac_m32x8 flat = tac_f32x8_le(area, splat(0)), over = tac_m32x8_from_bits(0xFF), begins[3],
			  ends[3];
		for (int k = 0; k < 3; k++) {
			// Behind the beginning of the edge, before its end, to its inner side: each times its
			// length.
			f8 along = dot(from[k], edge[k]), past = sub(dot(edge[k], edge[k]), along),
			   in = dot(normal, cross(edge[k], from[k])), least = negative(mul(error, length[k]));
			begins[k] = not_below(mul(most, length[k]), along);
			ends[k] = not_below(mul(most, length[k]), past);
			over = tac_m32x8_and(over, not_below(in, negative(mul(add(mul(beside, area), sliver),
									      length[k]))));
			tac_m32x8 at = tac_m32x8_and(not_below(along, least), not_below(past, least)),
				  out = not_below(mul(add(mul(cone, area), sliver), length[k]), in);
			leave_open(&left, TAC_CCD_ROUND_EDGE + k, tac_m32x8_and(at, tac_m32x8_or(out, flat)));
		}
		leave_open(&left, TAC_CCD_ROUND_FACE, tac_m32x8_or(over, flat));
		for (int k = 0; k < 3; k++)
			leave_open(&left, k, tac_m32x8_and(begins[k], ends[k == 0 ? 2 : k - 1]));
		set_left(block, left);
	}
}

// 0 <= x <= most, or it is not known for the error.
KERNEL tac_m32x8 within(f8 x, f8 most, f8 error)
{
	return tac_m32x8_and(not_below(x, negative(error)), not_below(add(most, error), x));
}

void TAC_SIMD_NAME(tac_ccd_round_sieve_core_kernel)(tac_ccd_round_context *list, tac_dvec3 a, tac_dvec3 b)
{
	v8 x, y;
	place(list, a, &x);
	place(list, b, &y);
	v8 d = sub3(y, x);
	f8 dd = dot(d, d), length = tac_f32x8_sqrt(dd), size = larger(norm1(x), norm1(y));
	tac_ccd_round_block *end = list->blocks + tac_ccd_round_blocks(list);
	for (tac_ccd_round_block *block = list->blocks; block < end; block++) {
		block->open = 0;
		if (block->near == 0)
			continue;
		v8 t[3];
		f8 most = size;
		for (int k = 0; k < 3; k++) {
			t[k] = LOADU3(block->vertex[k]);
			most = larger(most, norm1(t[k]));
		}
		// Of a product of two differences; those of four have the lengths of two besides.
		f8 error = mul(splat(TAC_CCD_ROUND_ROUNDING), square(most));
		tac_i32x8 left = tac_i32x8_splat(0);
		for (int k = 0; k < 3; k++) {
			v8 e = sub3(t[k == 2 ? 0 : k + 1], t[k]), r = sub3(t[k], x), n = cross(d, e);
			f8 nn = dot(n, n), edge = tac_f32x8_sqrt(dot(e, e)),
			   errors = mul(error, add(length, edge));
			leave_open(&left, k, within(dot(r, d), dd, error));
			// Where the lines are closest, on the core and on the edge, times nn.
			tac_m32x8 on_core = within(dot(cross(r, e), n), nn, mul(errors, edge)),
				  on_edge = within(dot(cross(r, d), n), nn, mul(errors, length));
			leave_open(&left, TAC_CCD_ROUND_EDGE + k, tac_m32x8_and(on_core, on_edge));
		}
		set_left(block, left);
	}
}
