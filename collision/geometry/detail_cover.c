#include "collision/closest.h"
#include "collision/geometry/detail.h"

#include <math.h>

// A triangle has at most this many corners after it is cut by the planes of CUTS triangles.
#define CORNERS 16
// Pieces that wait to be proved; a triangle that needs more is not proved.
#define PIECES 48
// Corners this close to a plane lie on it, m: cutting off less would only make more pieces.
#define ON_PLANE 1e-10
// Allowed for the rounding of distances and of the corners of pieces, m, in bodies of a few metres.
#define ROUNDING 1e-9
// A triangle this narrow, relative to its longest edge squared, is not trusted: the closest point on it is
// noise.
#define NARROW 1e-5

typedef struct piece {
	tac_dvec3 corner[CORNERS];
	int count;
	uint64_t cut; // the faces whose planes have cut it
} piece;

static double distance_squared(tac_dvec3 p, const tac_dvec3 t[3])
{
	int region;
	return tac_dvec3_length_squared(tac_dvec3_sub(p, tac_closest_on_triangle(p, t, &region)));
}

static bool is_narrow(const tac_dvec3 t[3])
{
	const tac_dvec3 a = tac_dvec3_sub(t[1], t[0]), b = tac_dvec3_sub(t[2], t[0]),
			c = tac_dvec3_sub(t[2], t[1]);
	const double longest = fmax(tac_dvec3_length_squared(a),
				    fmax(tac_dvec3_length_squared(b), tac_dvec3_length_squared(c)));
	return !(tac_dvec3_length_squared(tac_dvec3_cross(a, b)) > NARROW * NARROW * longest * longest);
}

// Whether all of the polygon is within the limit of a face.
static bool is_within(const tac_dvec3 *corner, int count, const tac_detail_face *f, double limit)
{
	for (int i = 0; i < count; i++) {
		if (!(distance_squared(corner[i], f->v) <= limit))
			return false;
	}
	return !is_narrow(f->v);
}

// Divides a piece by the plane n . (x - at) = 0: *inside keeps n . (x - at) <= 0, *outside the rest. Either
// may end up with fewer than three corners: empty. False when there are too many corners.
static bool divide(const piece *p, tac_dvec3 n, tac_dvec3 at, piece *inside, piece *outside)
{
	double height[CORNERS];
	if (p->count + 2 > CORNERS)
		return false;
	inside->count = outside->count = 0;
	bool out = false;
	for (int i = 0; i < p->count; i++) {
		height[i] = tac_dvec3_dot(n, tac_dvec3_sub(p->corner[i], at));
		out = out || height[i] > ON_PLANE;
	}
	if (!out) {
		*inside = *p;
		return true;
	}
	for (int i = 0; i < p->count; i++) {
		const int j = (i + 1) % p->count;
		const double a = height[i], b = height[j];
		if (a <= 0)
			inside->corner[inside->count++] = p->corner[i];
		if (a >= 0)
			outside->corner[outside->count++] = p->corner[i];
		if ((a < 0 && b > 0) || (a > 0 && b < 0)) {
			const tac_dvec3 x = tac_dvec3_lerp(p->corner[i], p->corner[j], a / (a - b));
			inside->corner[inside->count++] = x;
			outside->corner[outside->count++] = x;
		}
	}
	return true;
}

// The face closest to the middle of a piece among those that have not cut it; -1: none.
static int closest_face(const piece *p, const tac_detail_face *faces, int count)
{
	tac_dvec3 middle = tac_dvec3_zero();
	for (int i = 0; i < p->count; i++)
		middle = tac_dvec3_add(middle, p->corner[i]);
	middle = tac_dvec3_scale(middle, 1.0 / p->count);
	double least = HUGE_VAL;
	int best = -1;
	for (int k = 0; k < count; k++) {
		if (p->cut >> k & 1 || is_narrow(faces[k].v))
			continue;
		const double d = distance_squared(middle, faces[k].v);
		if (d < least) {
			least = d;
			best = k;
		}
	}
	return best;
}

// Cuts a piece by the three planes through the edges of face k, along its normal. What lies over the face
// must be within the limit; the rest is put onto the stack. False when that cannot be.
static bool cut(piece p, tac_detail_face *faces, int k, double limit, piece *stack, int *depth)
{
	const tac_dvec3 *v = faces[k].v, up = tac_dvec3_triangle_cross(v[0], v[1], v[2]);
	p.cut |= (uint64_t)1 << k;
	for (int j = 0; j < 3; j++) {
		const tac_dvec3 along = tac_dvec3_sub(v[(j + 1) % 3], v[j]);
		piece inside, *outside = &stack[*depth];
		if (*depth == PIECES ||
		    !divide(&p, tac_dvec3_normalize(tac_dvec3_cross(along, up)), v[j], &inside, outside))
			return false;
		if (outside->count > 2) {
			outside->cut = p.cut;
			++*depth;
		}
		inside.cut = p.cut;
		p = inside;
		if (p.count < 3)
			return true;
	}
	faces[k].used = true;
	return is_within(p.corner, p.count, &faces[k], limit);
}

// The square of the distance that is allowed; 0: none.
static double limit_of(double tolerance)
{
	const double most = fmax(0, tolerance - ROUNDING);
	return most * most;
}

bool tac_detail_is_near(const tac_dvec3 triangle[3], double tolerance, const tac_detail_face *face)
{
	return tolerance > ROUNDING && is_within(triangle, 3, face, limit_of(tolerance));
}

bool tac_detail_cover(const tac_dvec3 triangle[3], double tolerance, tac_detail_face *faces, int count)
{
	piece stack[PIECES + 1];
	int depth = 1;
	const double limit = limit_of(tolerance);
	if (!(limit > 0))
		return false;
	for (int i = 0; i < 3; i++)
		stack[0].corner[i] = triangle[i];
	stack[0].count = 3;
	stack[0].cut = 0;
	while (depth > 0) {
		const piece *p = &stack[--depth];
		int k = 0;
		while (k < count && !is_within(p->corner, p->count, &faces[k], limit))
			k++;
		if (k < count) {
			faces[k].used = true;
			continue;
		}
		k = closest_face(p, faces, count);
		if (k < 0 || !cut(*p, faces, k, limit, stack, &depth))
			return false;
	}
	return true;
}
