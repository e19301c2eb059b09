#include "collision/geometry/tritri.h"

#include "collision/geometry/predicate.h"

#include <math.h>

static bool strictly_one_side(const int side[3])
{
	return (side[0] > 0 && side[1] > 0 && side[2] > 0) || (side[0] < 0 && side[1] < 0 && side[2] < 0);
}

// Whether the segment p–q meets the triangle t, given on which sides of the plane of t its ends lie. False
// for a segment in the plane: the caller's other edges decide.
static bool segment_meets(const double p[3], const double q[3], int side_p, int side_q, const tac_tri64 *t)
{
	if (side_p == side_q)
		return false;
	bool below = false, above = false;
	for (int k = 0; k < 3; k++) {
		int s = tac_predicate_orient3d(p, q, t->v[k], t->v[(k + 1) % 3]);
		below |= s < 0;
		above |= s > 0;
		if (below && above)
			return false;
	}
	return true;
}

// The coordinate to drop so that the projected triangle has an area, or -1 if there is none. Every projection
// with area maps the plane one to one.
static int dropped_coordinate(const tac_tri64 *t)
{
	int best = -1;
	double best_area = -1.0;
	for (int k = 0; k < 3; k++) {
		int x = (k + 1) % 3, y = (k + 2) % 3;
		const double a[2] = {t->v[0][x], t->v[0][y]}, b[2] = {t->v[1][x], t->v[1][y]},
			     c[2] = {t->v[2][x], t->v[2][y]};
		double area = fabs((a[0] - c[0]) * (b[1] - c[1]) - (a[1] - c[1]) * (b[0] - c[0]));
		if (area > best_area && tac_predicate_orient2d(a, b, c) != 0) {
			best_area = area;
			best = k;
		}
	}
	return best;
}

typedef struct {
	double v[3][2];
} tri2;

static tri2 project(const tac_tri64 *t, int dropped)
{
	tri2 out;
	for (int i = 0; i < 3; i++) {
		out.v[i][0] = t->v[i][(dropped + 1) % 3];
		out.v[i][1] = t->v[i][(dropped + 2) % 3];
	}
	return out;
}

static int turn_of(const tri2 *t)
{
	return tac_predicate_orient2d(t->v[0], t->v[1], t->v[2]);
}

// Whether b lies strictly beyond the line through an edge of a.
static bool edge_separates(const tri2 *a, const tri2 *b)
{
	int turn = turn_of(a);
	if (turn == 0)
		return false;
	for (int i = 0; i < 3; i++) {
		int n = 0;
		for (int k = 0; k < 3; k++)
			n += tac_predicate_orient2d(a->v[i], a->v[(i + 1) % 3], b->v[k]) == -turn;
		if (n == 3)
			return true;
	}
	return false;
}

// Whether t, which has no area, is a segment and `other` lies strictly on one side of its line.
static bool line_separates(const tri2 *t, const tri2 *other)
{
	for (int i = 0; i < 3; i++) {
		int side[3];
		for (int k = 0; k < 3; k++)
			side[k] = tac_predicate_orient2d(t->v[i], t->v[(i + 1) % 3], other->v[k]);
		if (strictly_one_side(side))
			return true;
	}
	return false;
}

static bool coplanar_meet(const tac_tri64 *a, const tac_tri64 *b)
{
	int dropped = dropped_coordinate(a);
	if (dropped < 0)
		dropped = dropped_coordinate(b);
	if (dropped < 0)
		return false;
	tri2 a2 = project(a, dropped), b2 = project(b, dropped);
	if (edge_separates(&a2, &b2) || edge_separates(&b2, &a2))
		return false;
	if (turn_of(&a2) == 0)
		return !line_separates(&a2, &b2);
	if (turn_of(&b2) == 0)
		return !line_separates(&b2, &a2);
	return true;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

// The sides of the plane of b on which the vertices of a lie (+1: the side of b's normal). One normal serves
// all three; cases within the rounding error are decided exactly. Every term of a determinant is below the
// product of the largest coordinates of its three differences; there are 6 terms with 6 roundings each, and
// the bound is twice that.
static void find_sides(const tac_tri64 *a, const tac_tri64 *b, int out[3])
{
	double e1[3], e2[3], n[3], d[3], edge1 = 0.0, edge2 = 0.0, reach = 0.0;
	for (int k = 0; k < 3; k++) {
		e1[k] = b->v[1][k] - b->v[0][k];
		e2[k] = b->v[2][k] - b->v[0][k];
		edge1 = larger(edge1, fabs(e1[k]));
		edge2 = larger(edge2, fabs(e2[k]));
	}
	n[0] = e1[1] * e2[2] - e1[2] * e2[1];
	n[1] = e1[2] * e2[0] - e1[0] * e2[2];
	n[2] = e1[0] * e2[1] - e1[1] * e2[0];
	for (int k = 0; k < 3; k++) {
		double w[3] = {a->v[k][0] - b->v[0][0], a->v[k][1] - b->v[0][1], a->v[k][2] - b->v[0][2]};
		reach = larger(reach, larger(fabs(w[0]), larger(fabs(w[1]), fabs(w[2]))));
		d[k] = n[0] * w[0] + n[1] * w[1] + n[2] * w[2];
	}
	double error = 72.0 * 0x1p-53 * edge1 * edge2 * reach;
	for (int k = 0; k < 3; k++)
		out[k] = d[k] > error    ? 1
			 : d[k] < -error ? -1
					 : -tac_predicate_orient3d(b->v[0], b->v[1], b->v[2], a->v[k]);
}

// The vertex alone on its side, when no vertex lies in the plane.
static int find_apex(const int side[3])
{
	return side[1] == side[2] ? 0 : side[0] == side[2] ? 1 : 2;
}

bool tac_tritri_closed(const tac_tri64 *a, const tac_tri64 *b)
{
	int side_a[3], side_b[3];
	find_sides(a, b, side_a);
	if (strictly_one_side(side_a))
		return false;
	find_sides(b, a, side_b);
	if (strictly_one_side(side_b))
		return false;
	if (side_a[0] * side_a[1] * side_a[2] * side_b[0] * side_b[1] * side_b[2] != 0) {
		// Each plane cuts the other triangle between its apex and the other two vertices. The
		// intervals on the common line overlap unless one of two determinants is positive (Devillers
		// and Guigue).
		int i = find_apex(side_a), j = find_apex(side_b);
		int next_a = side_b[j] > 0 ? 1 : 2, next_b = side_a[i] > 0 ? 1 : 2;
		const double *p = a->v[i], *q = b->v[j];
		return tac_predicate_orient3d(p, a->v[(i + next_a) % 3], b->v[(j + next_b) % 3], q) <= 0 &&
		       tac_predicate_orient3d(p, b->v[(j + 3 - next_b) % 3], a->v[(i + 3 - next_a) % 3], q) <=
			       0;
	}
	bool a_in_plane = side_a[0] == 0 && side_a[1] == 0 && side_a[2] == 0;
	bool b_in_plane = side_b[0] == 0 && side_b[1] == 0 && side_b[2] == 0;
	if (a_in_plane && b_in_plane)
		return coplanar_meet(a, b);
	// The planes meet in a line, and each triangle meets the line in an interval. Two intervals overlap
	// if an end of one lies in the other, and every end is on an edge that is not in the other plane.
	for (int k = 0; k < 3; k++) {
		int j = (k + 1) % 3;
		if (segment_meets(a->v[k], a->v[j], side_a[k], side_a[j], b))
			return true;
		if (segment_meets(b->v[k], b->v[j], side_b[k], side_b[j], a))
			return true;
	}
	return false;
}

bool tac_unitmap_build(const tac_tri32 *w, tac_unitmap *out_map)
{
	double e1[3], e2[3], e3[3];
	for (int k = 0; k < 3; k++) {
		e1[k] = (double)w->v[1][k] - (double)w->v[0][k];
		e2[k] = (double)w->v[2][k] - (double)w->v[0][k];
		e3[k] = (double)w->v[2][k] - (double)w->v[1][k];
	}
	double n[3];
	double area2 = 0.0, longest2 = 0.0, len1 = 0.0, len2 = 0.0, len3 = 0.0;
	for (int k = 0; k < 3; k++) {
		int i = (k + 1) % 3, j = (k + 2) % 3;
		n[k] = e1[i] * e2[j] - e1[j] * e2[i];
		area2 += n[k] * n[k];
		len1 += e1[k] * e1[k];
		len2 += e2[k] * e2[k];
		len3 += e3[k] * e3[k];
	}
	longest2 = fmax(len1, fmax(len2, len3));
	*out_map = (tac_unitmap){{{0.0F}}};
	double area = sqrt(area2);
	if (!(area > 1e-12 * longest2))
		return false;

	// Rows of the inverse of [e1 e2 n̂]: (e2×n)/|n|², (n×e1)/|n|², n/|n|.
	for (int k = 0; k < 3; k++) {
		int i = (k + 1) % 3, j = (k + 2) % 3;
		double row[3] = {(e2[i] * n[j] - e2[j] * n[i]) / area2, (n[i] * e1[j] - n[j] * e1[i]) / area2,
				 n[k] / area};
		for (int r = 0; r < 3; r++)
			out_map->m[r][k] = (float)row[r];
	}
	for (int r = 0; r < 3; r++) {
		double d = 0.0;
		for (int k = 0; k < 3; k++)
			d += (double)out_map->m[r][k] * (double)w->v[0][k];
		out_map->m[r][3] = (float)-d;
	}
	return true;
}

void tac_unitmap_apply(const tac_unitmap *map, const float point[3], float out[3])
{
	for (int r = 0; r < 3; r++) {
		const float *m = map->m[r];
		out[r] = m[0] * point[0] + m[1] * point[1] + m[2] * point[2] + m[3];
	}
}

bool tac_tritri_pierces(const float p[3], const float q[3])
{
	bool crosses = (p[2] < 0.0F && q[2] > 0.0F) || (p[2] > 0.0F && q[2] < 0.0F);
	if (!crosses)
		return false;
	float x = p[0] * q[2] - q[0] * p[2];
	float y = p[1] * q[2] - q[1] * p[2];
	float r_z = q[2] - p[2];
	if (r_z > 0.0F)
		return x >= 0.0F && y >= 0.0F && x + y <= r_z;
	return x <= 0.0F && y <= 0.0F && x + y >= r_z;
}

static bool edges_pierce(const tac_tri32 *a, const tac_unitmap *map_b)
{
	float u[3][3];
	for (int k = 0; k < 3; k++)
		tac_unitmap_apply(map_b, a->v[k], u[k]);
	return tac_tritri_pierces(u[0], u[1]) || tac_tritri_pierces(u[1], u[2]) ||
	       tac_tritri_pierces(u[2], u[0]);
}

bool tac_tritri_paper(const tac_tri32 *a, const tac_unitmap *map_a, const tac_tri32 *b,
		      const tac_unitmap *map_b)
{
	return edges_pierce(a, map_b) || edges_pierce(b, map_a);
}
