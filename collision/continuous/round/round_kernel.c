// The kernels of collision/continuous/round/round_list.h, compiled for each instruction set.
#include "collision/contacts.h"
#include "collision/continuous/body8.inl"
#include "collision/continuous/round/round_list.h"
#include "collision/geometry/round8.inl"

// Opening a node leaves at most seven others waiting.
#define STACK (7 * TAC_BODY_LEVELS + 1)
// How much the radius of a path grows, relative to the coordinates: about thirty roundings of float.
#define ROUNDING 2e-6
// How much rounding may take from the squared distance across a normal, relative to the squared distance.
#define ACROSS_ROUNDING 1e-6f
// Planes that are tried on a triangle to prove that the tool comes near it later, before it is visited.
#define DELAYS 2
// The shortest gap with a direction, m: its square must not vanish.
#define GAP_MIN 1e-15F

// The rows of a block need not be aligned.
#define LOADU3(rows)                                                                                         \
	((v8){tac_f32x8_loadu((rows)[0]), tac_f32x8_loadu((rows)[1]), tac_f32x8_loadu((rows)[2])})

// Where a >= b, or one of them is NaN.
KERNEL tac_m32x8 not_below(f8 a, f8 b)
{
	return tac_m32x8_not(tac_f32x8_lt(a, b));
}

// A float that is not below x >= 0, and hardly above.
static float above_float(double x)
{
	return (float)x * (1 + 0x1p-22f);
}

KERNEL uint8_t lanes_of(tac_m32x8 m)
{
	return (uint8_t)tac_m32x8_movemask(m);
}

// A segment in float: its middle, the vector from there to its end, and the length of that.
typedef struct {
	float middle[3], half[3], half_length;
	float reach;
} segment;

static segment segment_make(const tac_round_path *r, float reach)
{
	segment s;
	for (int i = 0; i < 3; i++) {
		double a = tac_dvec3_get(r->a, i), b = tac_dvec3_get(r->b, i);
		s.middle[i] = (float)(0.5 * (a + b));
		s.half[i] = (float)(0.5 * (b - a));
	}
	s.half_length = (float)(0.5 * tac_dvec3_length(tac_dvec3_sub(r->b, r->a)));
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

// Whether the boxes come within reach of the segment along the cross product of the segment and the axis i; j
// and k are the two other axes.
KERNEL tac_m32x8 across_axis(const segment *s, const tac_body_node *n, const f8 apart[3], int j, int k)
{
	float dj = s->half[j], dk = s->half[k], length = sqrtf(dj * dj + dk * dk);
	f8 away = absolute(sub(mul(splat(dk), apart[j]), mul(splat(dj), apart[k])));
	f8 size = add(mul(splat(fabsf(dk)), load(n->half[j])), mul(splat(fabsf(dj)), load(n->half[k])));
	return tac_f32x8_le(away, add(size, splat(length * s->reach)));
}

// The lanes of the node whose boxes and slabs are within reach of the segment.
KERNEL unsigned near_lanes(const segment *s, const tac_body_node *n)
{
	f8 apart[3], from_box = splat(0), reach2 = splat(s->reach * s->reach);
	for (int i = 0; i < 3; i++) {
		apart[i] = sub(splat(s->middle[i]), load(n->centre[i]));
		f8 out = sub(absolute(apart[i]), add(load(n->half[i]), splat(fabsf(s->half[i]))));
		from_box = add(from_box, square(positive(out)));
	}
	tac_m32x8 near = tac_f32x8_le(from_box, reach2);
	if (tac_m32x8_movemask(near) == 0)
		return 0;
	v8 away = {apart[0], apart[1], apart[2]}, normal = LOAD3(n->slab_normal);
	f8 height = dot(normal, away), distance2 = dot(away, away);
	f8 tilt = absolute(dot(normal, splat3(s->half)));
	f8 over = positive(sub(absolute(sub(height, load(n->slab_offset))), add(load(n->slab_half), tilt)));
	f8 across = tac_f32x8_sqrt(
		positive(sub(sub(distance2, square(height)), mul(splat(ACROSS_ROUNDING), distance2))));
	f8 beside = positive(sub(across, add(load(n->slab_radius), splat(s->half_length))));
	near = tac_m32x8_and(near, tac_f32x8_le(add(square(over), square(beside)), reach2));
	if (s->half_length > 0) {
		near = tac_m32x8_and(near, across_axis(s, n, apart, 1, 2));
		near = tac_m32x8_and(near, across_axis(s, n, apart, 2, 0));
		near = tac_m32x8_and(near, across_axis(s, n, apart, 0, 1));
	}
	return (unsigned)tac_m32x8_movemask(near);
}

// An axis along which a path may pass a box: a unit vector and its absolute value; the interval that the tool
// covers at the start, m; the inverses of the rates at which its lower end rises and its upper end falls.
typedef struct {
	float n[3], absolute[3], low, high, inverse_low_rate, inverse_high_rate;
} axis;

#define AXES 4

// A tac_round_path in float.
typedef struct {
	float a[3], b[3], va[3], vb[3];
	axis box[3], across[AXES]; // the coordinate axes; axes at a right angle to a capsule's core
	int across_count;
	float reach;
	bool sphere, straight, stationary; // b = a; vb = va; both zero, and then there are no axes
	segment start;
} path32;

// Rates too small to divide by are replaced by the smallest that is not.
static float inverse_of(double rate)
{
	return (float)(1 / (rate < 0 ? fmin(rate, -(double)TINY) : fmax(rate, (double)TINY)));
}

static axis axis_make(const tac_round_path *path, tac_dvec3 n)
{
	double a = tac_dvec3_dot(n, path->a), b = tac_dvec3_dot(n, path->b), va = tac_dvec3_dot(n, path->va),
	       vb = tac_dvec3_dot(n, path->vb);
	return (axis){
		.n = {(float)n.x, (float)n.y, (float)n.z},
		.absolute = {(float)fabs(n.x), (float)fabs(n.y), (float)fabs(n.z)},
		.low = (float)fmin(a, b),
		.high = (float)fmax(a, b),
		.inverse_low_rate = inverse_of(fmin(va, vb)),
		.inverse_high_rate = inverse_of(-fmax(va, vb)),
	};
}

static void set_axes(path32 *p, const tac_round_path *path)
{
	tac_dvec3 core = tac_dvec3_sub(path->b, path->a), across[AXES];
	for (int i = 0; i < 3; i++) {
		tac_dvec3 e = {i == 0, i == 1, i == 2};
		p->box[i] = axis_make(path, e);
		across[i] = tac_dvec3_cross(core, e);
	}
	across[3] = tac_dvec3_cross(core, tac_dvec3_add(path->va, path->vb));
	for (int i = 0; i < AXES; i++) {
		if (tac_dvec3_length_squared(across[i]) > 0)
			p->across[p->across_count++] = axis_make(path, tac_dvec3_normalize(across[i]));
	}
}

static path32 path32_make(const tac_body *body, const tac_round_path *path)
{
	path32 p;
	p.sphere = p.straight = p.stationary = true;
	p.across_count = 0;
	for (int i = 0; i < 3; i++) {
		p.a[i] = (float)tac_dvec3_get(path->a, i);
		p.b[i] = (float)tac_dvec3_get(path->b, i);
		p.va[i] = (float)tac_dvec3_get(path->va, i);
		p.vb[i] = (float)tac_dvec3_get(path->vb, i);
		p.sphere = p.sphere && p.a[i] == p.b[i];
		p.straight = p.straight && p.va[i] == p.vb[i];
		p.stationary = p.stationary && p.va[i] == 0 && p.vb[i] == 0;
	}
	double size = body->radius + tac_dvec3_length(path->a) + tac_dvec3_length(path->b) +
		      tac_dvec3_length(path->va) + tac_dvec3_length(path->vb) + path->radius;
	p.reach = (float)(path->radius + ROUNDING * size);
	p.start = segment_make(path, p.reach);
	if (!p.stationary)
		set_axes(&p, path);
	return p;
}

// The interval of a path, as fractions, during which something is within reach.
typedef struct {
	f8 enter, leave;
} span8;

// Cuts a span to where over + s rate <= 0. A rate near zero counts as the smallest that can be divided by.
KERNEL void cut(span8 *span, f8 over, f8 rate)
{
	tac_m32x8 approaches = tac_f32x8_lt(rate, splat(0));
	f8 at = tac_f32x8_div(over, larger(absolute(rate), splat(TINY)));
	span->enter = pick(approaches, larger(span->enter, at), span->enter);
	span->leave = pick(approaches, span->leave, smaller(span->leave, negative(at)));
}

// The same with one rate for all lanes, given by its inverse.
KERNEL void cut_all(span8 *span, f8 over, float inverse)
{
	f8 at = mul(over, splat(-inverse));
	if (inverse < 0)
		span->enter = larger(span->enter, at);
	else
		span->leave = smaller(span->leave, at);
}

// Cuts a span to where a box is within reach along an axis; the box extends by `size` to both sides of
// `middle`.
KERNEL void cut_axis(span8 *span, const axis *x, f8 middle, f8 size)
{
	cut_all(span, sub(sub(splat(x->low), middle), size), x->inverse_low_rate);
	cut_all(span, sub(sub(middle, splat(x->high)), size), x->inverse_high_rate);
}

// When the boxes and slabs of the node's lanes are within reach of the path.
KERNEL span8 near_span(const path32 *p, const tac_body_node *n)
{
	span8 span = {splat(0), splat(1)};
	v8 centre = LOAD3(n->centre), half = LOAD3(n->half);
	f8 reach = splat(p->reach);
	cut_axis(&span, &p->box[0], centre.x, add(half.x, reach));
	cut_axis(&span, &p->box[1], centre.y, add(half.y, reach));
	cut_axis(&span, &p->box[2], centre.z, add(half.z, reach));
	for (int i = 0; i < p->across_count; i++) {
		const axis *x = &p->across[i];
		cut_axis(&span, x, dot(splat3(x->n), centre), add(dot(splat3(x->absolute), half), reach));
	}
	v8 normal = LOAD3(n->slab_normal);
	f8 low = dot(normal, sub3(splat3(p->a), centre)), high = low;
	f8 low_rate = dot(normal, splat3(p->va)), high_rate = low_rate;
	if (!p->sphere) {
		f8 other = dot(normal, sub3(splat3(p->b), centre));
		low = smaller(low, other);
		high = larger(high, other);
	}
	if (!p->straight) {
		f8 other = dot(normal, splat3(p->vb));
		low_rate = smaller(low_rate, other);
		high_rate = larger(high_rate, other);
	}
	f8 offset = load(n->slab_offset), half_slab = add(load(n->slab_half), reach);
	cut(&span, sub(sub(low, offset), half_slab), low_rate);
	cut(&span, sub(sub(offset, high), half_slab), negative(high_rate));
	return span;
}

KERNEL void load_vertices(const tac_body *body, const int32_t triangle[8], v8 out[3])
{
	f8 e[12];
	gather_triangles(body->triangles, triangle, 1, e);
	for (int k = 0; k < 3; k++)
		out[k] = (v8){e[3 * k], e[3 * k + 1], e[3 * k + 2]};
}

// Planes with a triangle behind each: unit normals towards the tool, and the triangles' support along them.
typedef struct {
	v8 normal;
	f8 support;
} plane8;

// The planes across the gaps to the segment from 0 along d. Triangles that are out of range or touch the
// segment have none: the normal is zero.
KERNEL plane8 make_planes(const face8 *f, v8 d, bool sphere)
{
	gap8 best = least_gap(f, d, sphere);
	f8 length = tac_f32x8_sqrt(best.square), zero = splat(0);
	tac_m32x8 valid = tac_m32x8_and(tac_f32x8_lt(best.square, splat(0.5F * NOTHING)),
					tac_f32x8_lt(splat(GAP_MIN), length));
	v8 none = {zero, zero, zero},
	   n = pick3(valid, scale3(best.gap, tac_f32x8_div(splat(-1), length)), none);
	return (plane8){n, larger3(dot(n, f->v[0]), dot(n, f->v[1]), dot(n, f->v[2]))};
}

// The lanes whose spans are not empty and begin before the limit.
KERNEL unsigned lanes_during(const span8 *span, float limit)
{
	return lanes_of(tac_m32x8_and(tac_f32x8_le(span->enter, span->leave),
				      tac_f32x8_le(span->enter, splat(limit))));
}

// Delays the beginning of the spans of the given lanes, all of them triangles: the plane across the gap at
// the beginning keeps the tool away for some time. Returns the lanes that still begin before the limit.
static unsigned delay(const tac_body *body, const path32 *p, const tac_body_node *node, unsigned lanes,
		      float limit, span8 *span)
{
	int32_t triangle[8];
	for (int k = 0; k < 8; k++)
		triangle[k] = ~node->child[lanes >> k & 1 ? k : lowest_bit(lanes)];
	v8 vertex[3], va = splat3(p->va), vb = splat3(p->vb);
	load_vertices(body, triangle, vertex);
	face8 f = make_face(vertex[0], vertex[1], vertex[2]);
	for (int i = 0; i < DELAYS && lanes; i++) {
		v8 a = add3(splat3(p->a), scale3(va, span->enter)),
		   d = sub3(add3(splat3(p->b), scale3(vb, span->enter)), a);
		for (int k = 0; k < 3; k++)
			f.v[k] = sub3(vertex[k], a);
		plane8 plane = make_planes(&f, d, p->sphere && p->straight);
		f8 clearance =
			   sub(sub(smaller(splat(0), dot(plane.normal, d)), plane.support), splat(p->reach)),
		   rate = smaller(dot(plane.normal, va), dot(plane.normal, vb)),
		   wait = tac_f32x8_div(clearance, larger(negative(rate), splat(TINY)));
		tac_m32x8 clear =
			tac_m32x8_and(tac_f32x8_lt(splat(0), clearance), tac_m32x8_from_bits(lanes));
		span->enter = pick(clear, add(span->enter, wait), span->enter);
		lanes &= lanes_during(span, limit);
	}
	return lanes;
}

// The lanes of the node that come within reach before the limit, and when.
static unsigned lanes_within_reach(const tac_body *body, const path32 *p, const tac_body_node *node,
				   float limit, float out_enter[TAC_BODY_WIDTH])
{
	span8 span = near_span(p, node);
	unsigned lanes = lanes_during(&span, limit),
		 triangles = lanes & lanes_of(tac_i32x8_lt(tac_i32x8_load(node->child), tac_i32x8_splat(0)));
	if (triangles)
		lanes &= ~triangles | delay(body, p, node, triangles, limit, &span);
	tac_f32x8_storeu(out_enter, span.enter);
	return lanes;
}

// A node, or ~t: triangle t; and when it comes within reach.
typedef struct {
	float at;
	int32_t child;
} arrival;

// Inserts an arrival above `bottom` so that the earliest is on top. Returns the new height of the stack.
static int32_t push_in_order(arrival *stack, int32_t bottom, int32_t top, arrival next)
{
	int32_t i = top;
	for (; i > bottom && stack[i - 1].at < next.at; i--)
		stack[i] = stack[i - 1];
	stack[i] = next;
	return top + 1;
}

bool TAC_SIMD_NAME(tac_round_visit_path_kernel)(const tac_body *body, tac_round_path *path,
						tac_round_visitor visit, void *user)
{
	arrival stack[STACK];
	int32_t top = 0;
	path32 p = path32_make(body, path);
	float limit = above_float(path->limit);
	stack[top++] = (arrival){0, 0};
	while (top > 0) {
		arrival next = stack[--top];
		if (next.at > limit)
			continue;
		path->enters = (double)next.at;
		if (path->budget-- <= 0 || (next.child < 0 && !visit(user, ~next.child))) {
			for (; top > 0; top--)
				next.at = fminf(next.at, stack[top - 1].at);
			path->proved = (double)next.at;
			return false;
		}
		if (next.child < 0) {
			limit = above_float(path->limit);
			continue;
		}
		const tac_body_node *node = &body->nodes[next.child];
		float enter[TAC_BODY_WIDTH] = {0};
		unsigned lanes = p.stationary ? near_lanes(&p.start, node)
					      : lanes_within_reach(body, &p, node, limit, enter);
		int32_t bottom = top;
		for (; lanes; lanes &= lanes - 1) {
			int k = lowest_bit(lanes);
			top = push_in_order(stack, bottom, top, (arrival){enter[k], node->child[k]});
		}
	}
	return true;
}

// x relative to the origin of the list, in every lane.
static void place(const tac_round_context *list, tac_dvec3 x, v8 *out)
{
	tac_vec3 at = tac_vec3_from_dvec3(tac_dvec3_sub(x, tac_dvec3_from_vec3(list->origin)));
	*out = (v8){splat(at.x), splat(at.y), splat(at.z)};
}

void TAC_SIMD_NAME(tac_round_list_make_planes_kernel)(tac_round_context *list)
{
	v8 core, origin = {splat(list->origin.x), splat(list->origin.y), splat(list->origin.z)};
	place(list, list->region.b, &core);
	bool sphere = tac_dvec3_length_squared(tac_dvec3_sub(list->region.b, list->region.a)) == 0;
	tac_round_block *end = list->blocks + tac_round_list_block_count(list);
	for (tac_round_block *block = list->blocks; block < end; block++) {
		v8 t[3];
		load_vertices(list->fixed, block->triangle, t);
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
		tac_f32x8_storeu(block->offset, add(p.support, mul(splat(TAC_ROUND_ROUNDING), size)));
	}
}

void TAC_SIMD_NAME(tac_round_list_measure_kernel)(tac_round_context *list, const tac_dvec3 points[4],
						  double reach)
{
	v8 x[4];
	for (int k = 0; k < 4; k++)
		place(list, points[k], &x[k]);
	f8 size = larger(larger(norm1(x[0]), norm1(x[1])), larger(norm1(x[2]), norm1(x[3])));
	f8 error = mul(splat(TAC_ROUND_ROUNDING), size), limit = splat(above_float(reach));
	unsigned lanes = 0xFF;
	for (int32_t i = 0; i < list->count; i += TAC_BODY_WIDTH) {
		tac_round_block *block = &list->blocks[i / TAC_BODY_WIDTH];
		v8 n = LOADU3(block->normal);
		f8 h = smaller(smaller(dot(n, x[0]), dot(n, x[1])), smaller(dot(n, x[2]), dot(n, x[3])));
		f8 clearance = sub(h, add(tac_f32x8_loadu(block->offset), error));
		tac_f32x8_storeu(block->clearance, clearance);
		if (list->count - i < TAC_BODY_WIDTH)
			lanes >>= TAC_BODY_WIDTH - (list->count - i);
		block->near_lanes = (uint8_t)(lanes & lanes_of(not_below(limit, clearance)));
	}
}

// Adds a feature to the candidates of some lanes.
KERNEL void add_candidate(tac_i32x8 *candidates, int feature, tac_m32x8 where)
{
	*candidates = tac_i32x8_or(
		*candidates, tac_i32x8_select(where, tac_i32x8_splat(1 << feature), tac_i32x8_splat(0)));
}

// Stores the candidates that the triangles own.
KERNEL void set_candidates(tac_round_block *block, tac_i32x8 candidates)
{
	candidates = tac_i32x8_and(candidates, tac_i32x8_loadu(block->owned));
	tac_i32x8_storeu(block->candidates, candidates);
	block->candidate_lanes =
		(uint8_t)(block->near_lanes & ~lanes_of(tac_i32x8_eq(candidates, tac_i32x8_splat(0))));
}

void TAC_SIMD_NAME(tac_round_list_cull_end_kernel)(tac_round_context *list, tac_dvec3 p, double reach)
{
	v8 x;
	place(list, p, &x);
	f8 size = norm1(x), cone = splat((float)(TAC_CONTACTS_CONE * reach)),
	   slack = splat((float)TAC_ROUND_FACE_SLACK);
	tac_round_block *end = list->blocks + tac_round_list_block_count(list);
	for (tac_round_block *block = list->blocks; block < end; block++) {
		block->candidate_lanes = 0;
		if (block->near_lanes == 0)
			continue;
		tac_i32x8 candidates = tac_i32x8_splat(0);
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
		error = mul(error, splat(TAC_ROUND_ROUNDING));
		v8 normal = cross(edge[0], edge[1]);
		f8 area = tac_f32x8_sqrt(dot(normal, normal)),
		   longest = larger3(length[0], length[1], length[2]), outside = add(cone, error);
		// The normal of a sliver is less exact; without an area nothing is culled.
		f8 sliver = mul(error, square(longest));
		tac_m32x8 no_area = tac_f32x8_le(area, splat(0)), over = tac_m32x8_from_bits(0xFF), before[3],
			  after[3];
		for (int k = 0; k < 3; k++) {
			// Distances from the start of the edge, to its end, and inwards from it, each times
			// its length.
			f8 along = dot(from[k], edge[k]), rest = sub(dot(edge[k], edge[k]), along),
			   in = dot(normal, cross(edge[k], from[k])), least = negative(mul(error, length[k]));
			before[k] = not_below(mul(outside, length[k]), along);
			after[k] = not_below(mul(outside, length[k]), rest);
			over = tac_m32x8_and(
				over, not_below(in, negative(mul(add(mul(slack, area), sliver), length[k]))));
			tac_m32x8 beside = tac_m32x8_and(not_below(along, least), not_below(rest, least)),
				  out = not_below(mul(add(mul(cone, area), sliver), length[k]), in);
			add_candidate(&candidates, TAC_ROUND_FEATURE_EDGE + k,
				      tac_m32x8_and(beside, tac_m32x8_or(out, no_area)));
		}
		add_candidate(&candidates, TAC_ROUND_FEATURE_FACE, tac_m32x8_or(over, no_area));
		for (int k = 0; k < 3; k++)
			add_candidate(&candidates, k, tac_m32x8_and(before[k], after[k == 0 ? 2 : k - 1]));
		set_candidates(block, candidates);
	}
}

// Where 0 <= x <= limit, within the error.
KERNEL tac_m32x8 within(f8 x, f8 limit, f8 error)
{
	return tac_m32x8_and(not_below(x, negative(error)), not_below(add(limit, error), x));
}

void TAC_SIMD_NAME(tac_round_list_cull_core_kernel)(tac_round_context *list, tac_dvec3 a, tac_dvec3 b)
{
	v8 x, y;
	place(list, a, &x);
	place(list, b, &y);
	v8 d = sub3(y, x);
	f8 dd = dot(d, d), length = tac_f32x8_sqrt(dd), size = larger(norm1(x), norm1(y));
	tac_round_block *end = list->blocks + tac_round_list_block_count(list);
	for (tac_round_block *block = list->blocks; block < end; block++) {
		block->candidate_lanes = 0;
		if (block->near_lanes == 0)
			continue;
		v8 t[3];
		f8 largest = size;
		for (int k = 0; k < 3; k++) {
			t[k] = LOADU3(block->vertex[k]);
			largest = larger(largest, norm1(t[k]));
		}
		// The error of a product of two differences; for four, times the lengths of the other two.
		f8 error = mul(splat(TAC_ROUND_ROUNDING), square(largest));
		tac_i32x8 candidates = tac_i32x8_splat(0);
		for (int k = 0; k < 3; k++) {
			v8 e = sub3(t[k == 2 ? 0 : k + 1], t[k]), r = sub3(t[k], x), n = cross(d, e);
			f8 nn = dot(n, n), edge = tac_f32x8_sqrt(dot(e, e)),
			   error3 = mul(error, add(length, edge));
			add_candidate(&candidates, k, within(dot(r, d), dd, error));
			// The parameters of the closest points of both lines, times nn.
			tac_m32x8 on_core = within(dot(cross(r, e), n), nn, mul(error3, edge)),
				  on_edge = within(dot(cross(r, d), n), nn, mul(error3, length));
			add_candidate(&candidates, TAC_ROUND_FEATURE_EDGE + k,
				      tac_m32x8_and(on_core, on_edge));
		}
		set_candidates(block, candidates);
	}
}
