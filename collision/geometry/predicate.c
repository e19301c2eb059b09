#include "collision/geometry/predicate.h"

#include <math.h>

// Unit roundoff of double, and the filter constants of Shewchuk's stage A.
static const double UNIT_ROUNDOFF = 0x1p-53;
#define FILTER_2D ((3.0 + 16.0 * UNIT_ROUNDOFF) * UNIT_ROUNDOFF)
#define FILTER_3D ((7.0 + 56.0 * UNIT_ROUNDOFF) * UNIT_ROUNDOFF)

// An expansion is an array of non-overlapping doubles of increasing magnitude. Its value is their exact sum
// and its sign is the sign of the last. Zeros are omitted, so expansions of exact inputs stay short.

static int sign_of(double x)
{
	return (x > 0.0) - (x < 0.0);
}

static double two_sum(double a, double b, double *error)
{
	double sum = a + b;
	double b_rounded = sum - a;
	*error = (a - (sum - b_rounded)) + (b - b_rounded);
	return sum;
}

static double two_product(double a, double b, double *error)
{
	double product = a * b;
	*error = fma(a, b, -product);
	return product;
}

// a − b as an expansion of at most two terms. Returns the number of terms.
static int difference(double a, double b, double out[2])
{
	double error;
	double value = two_sum(a, -b, &error);
	int n = 0;
	if (error != 0.0)
		out[n++] = error;
	if (value != 0.0)
		out[n++] = value;
	return n;
}

static int sum(const double *e, int ne, const double *f, int nf, double *out)
{
	int i = 0, j = 0, n = 0;
	double q = 0.0, error;
	while (i < ne || j < nf) {
		double next;
		if (j == nf || (i < ne && fabs(e[i]) < fabs(f[j])))
			next = e[i++];
		else
			next = f[j++];
		q = two_sum(q, next, &error);
		if (error != 0.0)
			out[n++] = error;
	}
	if (q != 0.0)
		out[n++] = q;
	return n;
}

static int scale(const double *e, int ne, double factor, double *out)
{
	int n = 0;
	double q = 0.0;
	for (int i = 0; i < ne; i++) {
		double low, error;
		double high = two_product(e[i], factor, &low);
		q = two_sum(q, low, &error);
		if (error != 0.0)
			out[n++] = error;
		q = two_sum(high, q, &error);
		if (error != 0.0)
			out[n++] = error;
	}
	if (q != 0.0)
		out[n++] = q;
	return n;
}

// e times an expansion of at most two terms; `out` holds 4·ne.
static int product(const double *e, int ne, const double *f, int nf, double *out)
{
	double scaled[2][48];
	int n[2] = {0, 0};
	for (int k = 0; k < nf; k++)
		n[k] = scale(e, ne, f[k], scaled[k]);
	return sum(scaled[0], n[0], scaled[1], n[1], out);
}

static void negate(double *e, int n)
{
	for (int i = 0; i < n; i++)
		e[i] = -e[i];
}

// a·d − b·c for expansions of at most two terms; `out` holds 16.
static int minor(const double *a, int na, const double *b, int nb, const double *c, int nc, const double *d,
		 int nd, double *out)
{
	double ad[8], bc[8];
	int n_ad = product(a, na, d, nd, ad);
	int n_bc = product(b, nb, c, nc, bc);
	negate(bc, n_bc);
	return sum(ad, n_ad, bc, n_bc, out);
}

static int exact3d(const double a[3], const double b[3], const double c[3], const double d[3])
{
	double e[3][3][2];
	int n[3][3];
	const double *rows[3] = {a, b, c};
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			n[i][k] = difference(rows[i][k], d[k], e[i][k]);

	double total[192], next[192], term[64], cofactor[16];
	int n_total = 0;
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3, k = (i + 2) % 3;
		int n_cofactor = minor(e[1][j], n[1][j], e[1][k], n[1][k], e[2][j], n[2][j], e[2][k], n[2][k],
				       cofactor);
		int n_term = product(cofactor, n_cofactor, e[0][i], n[0][i], term);
		int n_next = sum(total, n_total, term, n_term, next);
		for (int w = 0; w < n_next; w++)
			total[w] = next[w];
		n_total = n_next;
	}
	return n_total == 0 ? 0 : sign_of(total[n_total - 1]);
}

int tac_predicate_orient3d(const double a[3], const double b[3], const double c[3], const double d[3])
{
	double ax = a[0] - d[0], ay = a[1] - d[1], az = a[2] - d[2];
	double bx = b[0] - d[0], by = b[1] - d[1], bz = b[2] - d[2];
	double cx = c[0] - d[0], cy = c[1] - d[1], cz = c[2] - d[2];
	double bycz = by * cz, bzcy = bz * cy;
	double bzcx = bz * cx, bxcz = bx * cz;
	double bxcy = bx * cy, bycx = by * cx;
	double det = ax * (bycz - bzcy) + ay * (bzcx - bxcz) + az * (bxcy - bycx);
	double permanent = fabs(ax) * (fabs(bycz) + fabs(bzcy)) + fabs(ay) * (fabs(bzcx) + fabs(bxcz)) +
			   fabs(az) * (fabs(bxcy) + fabs(bycx));
	if (fabs(det) > FILTER_3D * permanent)
		return sign_of(det);
	// A shortcut for planes parallel to two axes, common in box-shaped parts: a computed difference is 0
	// only if the coordinates are equal.
	if ((ax == 0.0 && bx == 0.0 && cx == 0.0) || (ay == 0.0 && by == 0.0 && cy == 0.0) ||
	    (az == 0.0 && bz == 0.0 && cz == 0.0))
		return 0;
	return exact3d(a, b, c, d);
}

int tac_predicate_orient2d(const double a[2], const double b[2], const double c[2])
{
	double ax = a[0] - c[0], ay = a[1] - c[1], bx = b[0] - c[0], by = b[1] - c[1];
	double left = ax * by, right = ay * bx;
	double det = left - right;
	if (fabs(det) > FILTER_2D * (fabs(left) + fabs(right)))
		return sign_of(det);
	if ((ax == 0.0 && bx == 0.0) || (ay == 0.0 && by == 0.0)) // a line parallel to an axis
		return 0;

	double e[4][2], out[16];
	int n[4];
	for (int k = 0; k < 2; k++) {
		n[k] = difference(a[k], c[k], e[k]);
		n[2 + k] = difference(b[k], c[k], e[2 + k]);
	}
	int n_out = minor(e[0], n[0], e[1], n[1], e[2], n[2], e[3], n[3], out);
	return n_out == 0 ? 0 : sign_of(out[n_out - 1]);
}
