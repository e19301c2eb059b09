// The primitive tests in the protocol of ERIT's Table 1 (M. Held, Journal of Graphics Tools 2(4), 1997):
// random primitives in the unit cube whose boxes overlap; milliseconds of CPU time (getrusage, user and
// system) for 100,000 tests, including the loop, the access to the data and the test of the boxes. Rows for
// upright solids include the transform. Row 3 is Moeller's test, written from its description. The least of
// several runs is printed, with the ratio to row 1 here and on the paper's PentiumPro: ratios compare across
// machines, times do not. Below are the batched tests of spheres and capsules (collision/engines/round8.h)
// beside single tests.
#include "apps/terminal/terminal.h"
#include "base/rng.h"
#include "collision/engines/round8.h"
#include "collision/geometry/primitives.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define PAIRS 100000
#define RUNS  5
#define EPS   1e-9

typedef struct box {
	tac_dvec3 min, max;
} box;

// One random primitive of each kind, and the boxes of the two that a row tests.
typedef struct pair {
	tac_triangle s, t;
	tac_segment edge;
	tac_sphere sphere, other;
	tac_cylinder cylinder;
	double top;     // cone: the radius at q
	tac_dvec3 axis; // toroid: its axis, around cylinder.p
	tac_toroid toroid;
	box first, second;
} pair;

static double now_s(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static bool overlap(const box *a, const box *b)
{
	return a->min.x <= b->max.x && b->min.x <= a->max.x && a->min.y <= b->max.y && b->min.y <= a->max.y &&
	       a->min.z <= b->max.z && b->min.z <= a->max.z;
}

static box box_of(const tac_dvec3 *points, int count, double grow)
{
	box b = {points[0], points[0]};
	for (int i = 1; i < count; i++) {
		b.min = tac_dvec3_min(b.min, points[i]);
		b.max = tac_dvec3_max(b.max, points[i]);
	}
	b.min = tac_dvec3_sub(b.min, tac_dvec3_splat(grow));
	b.max = tac_dvec3_add(b.max, tac_dvec3_splat(grow));
	return b;
}

// ---- row 3: each triangle cuts an interval out of the line common to both planes ----

static bool interval(double a, double b, double c, double da, double db, double dc, double *low, double *high)
{
	// Interpolate from the vertex that is alone on its side of the plane to the other two.
	if (da * db > 0) {
		*low = c + (a - c) * dc / (dc - da);
		*high = c + (b - c) * dc / (dc - db);
	} else if (da * dc > 0) {
		*low = b + (a - b) * db / (db - da);
		*high = b + (c - b) * db / (db - dc);
	} else if (db * dc > 0 || da != 0) {
		*low = a + (b - a) * da / (da - db);
		*high = a + (c - a) * da / (da - dc);
	} else if (db != 0) {
		*low = b + (a - b) * db / (db - da);
		*high = b + (c - b) * db / (db - dc);
	} else if (dc != 0) {
		*low = c + (a - c) * dc / (dc - da);
		*high = c + (b - c) * dc / (dc - db);
	} else {
		return false;
	}
	if (*low > *high) {
		double t = *low;
		*low = *high;
		*high = t;
	}
	return true;
}

static bool moeller(const tac_triangle *s, const tac_triangle *t)
{
	tac_dvec3 n = tac_dvec3_cross(tac_dvec3_sub(s->b, s->a), tac_dvec3_sub(s->c, s->a));
	double d = tac_dvec3_dot(n, s->a);
	double ta = tac_dvec3_dot(n, t->a) - d, tb = tac_dvec3_dot(n, t->b) - d,
	       tc = tac_dvec3_dot(n, t->c) - d;
	if (ta * tb > 0 && ta * tc > 0)
		return false;
	tac_dvec3 m = tac_dvec3_cross(tac_dvec3_sub(t->b, t->a), tac_dvec3_sub(t->c, t->a));
	double e = tac_dvec3_dot(m, t->a);
	double sa = tac_dvec3_dot(m, s->a) - e, sb = tac_dvec3_dot(m, s->b) - e,
	       sc = tac_dvec3_dot(m, s->c) - e;
	if (sa * sb > 0 && sa * sc > 0)
		return false;
	// The largest component of the line's direction orders the points along it.
	tac_dvec3 l = tac_dvec3_abs(tac_dvec3_cross(n, m));
	int k = l.x >= l.y && l.x >= l.z ? 0 : l.y >= l.z ? 1 : 2;
	double low1, high1, low2, high2;
	if (!interval(tac_dvec3_get(s->a, k), tac_dvec3_get(s->b, k), tac_dvec3_get(s->c, k), sa, sb, sc,
		      &low1, &high1) ||
	    !interval(tac_dvec3_get(t->a, k), tac_dvec3_get(t->b, k), tac_dvec3_get(t->c, k), ta, tb, tc,
		      &low2, &high2))
		return tac_triangle_meets_triangle(s, t, 0); // in one plane
	return low1 <= high2 && low2 <= high1;
}

// ---- the rows ----

static bool row_triangle_segment(const pair *p)
{
	return tac_triangle_meets_segment(&p->s, &p->edge, EPS, NULL);
}

static bool row_triangle_triangle(const pair *p)
{
	return tac_triangle_meets_triangle(&p->s, &p->t, EPS);
}

static bool row_moeller(const pair *p)
{
	return moeller(&p->s, &p->t);
}

static bool row_triangle_point(const pair *p)
{
	tac_point2 a = {p->s.a.x, p->s.a.y}, b = {p->s.b.x, p->s.b.y}, c = {p->s.c.x, p->s.c.y};
	return tac_triangle2_contains(a, b, c, (tac_point2){p->edge.a.x, p->edge.a.y}, EPS);
}

static bool row_sphere_segment(const pair *p)
{
	return tac_sphere_meets_segment(&p->sphere, &p->edge, EPS, NULL);
}

static bool row_sphere_triangle(const pair *p)
{
	return tac_sphere_meets_triangle(&p->sphere, &p->s, EPS, NULL);
}

static bool row_sphere_sphere(const pair *p)
{
	return tac_sphere_meets_sphere(&p->sphere, &p->other, EPS, NULL);
}

static bool row_upright_segment(const pair *p)
{
	tac_upright u = tac_upright_make(p->cylinder.p, p->cylinder.q);
	tac_segment s = {tac_upright_apply(&u, p->edge.a), tac_upright_apply(&u, p->edge.b)};
	tac_upright_cylinder c = {p->cylinder.radius, u.height};
	return tac_upright_cylinder_meets_segment(&c, &s, EPS, NULL);
}

static bool row_cylinder_segment(const pair *p)
{
	return tac_cylinder_meets_segment(&p->cylinder, &p->edge, EPS, NULL);
}

static bool row_upright_triangle(const pair *p)
{
	tac_upright u = tac_upright_make(p->cylinder.p, p->cylinder.q);
	tac_triangle t = tac_upright_apply_triangle(&u, &p->s);
	tac_upright_cylinder c = {p->cylinder.radius, u.height};
	return tac_upright_cylinder_meets_triangle(&c, &t, EPS, NULL);
}

static bool row_cylinder_triangle(const pair *p)
{
	return tac_cylinder_meets_triangle(&p->cylinder, &p->s, EPS, NULL);
}

static bool row_transform(const pair *p)
{
	tac_upright u = tac_upright_make(p->cylinder.p, p->cylinder.q);
	tac_triangle t = tac_upright_apply_triangle(&u, &p->s);
	return t.a.x + t.b.y + t.c.z + u.height > 0;
}

static bool row_upright_sphere(const pair *p)
{
	tac_upright u = tac_upright_make(p->cylinder.p, p->cylinder.q);
	tac_sphere s = {tac_upright_apply(&u, p->sphere.centre), p->sphere.radius};
	tac_upright_cylinder c = {p->cylinder.radius, u.height};
	return tac_upright_cylinder_meets_sphere(&c, &s, EPS, NULL);
}

static bool row_cylinder_sphere(const pair *p)
{
	return tac_cylinder_meets_sphere(&p->cylinder, &p->sphere, EPS, NULL);
}

static bool row_cone_segment(const pair *p)
{
	tac_upright u = tac_upright_make(p->cylinder.p, p->cylinder.q);
	tac_segment s = {tac_upright_apply(&u, p->edge.a), tac_upright_apply(&u, p->edge.b)};
	tac_cone c = {p->cylinder.radius, p->top, u.height};
	return tac_cone_meets_segment(&c, &s, EPS, NULL);
}

static bool row_cone_triangle(const pair *p)
{
	tac_upright u = tac_upright_make(p->cylinder.p, p->cylinder.q);
	tac_triangle t = tac_upright_apply_triangle(&u, &p->s);
	tac_cone c = {p->cylinder.radius, p->top, u.height};
	return tac_cone_meets_triangle(&c, &t, EPS, NULL);
}

static bool row_toroid_segment(const pair *p)
{
	tac_upright u = tac_upright_make(p->cylinder.p, tac_dvec3_add(p->cylinder.p, p->axis));
	tac_segment s = {tac_upright_apply(&u, p->edge.a), tac_upright_apply(&u, p->edge.b)};
	return tac_toroid_meets_segment(&p->toroid, &s, EPS, NULL);
}

static bool row_toroid_triangle(const pair *p)
{
	tac_upright u = tac_upright_make(p->cylinder.p, tac_dvec3_add(p->cylinder.p, p->axis));
	tac_triangle t = tac_upright_apply_triangle(&u, &p->s);
	return tac_toroid_meets_triangle(&p->toroid, &t, EPS, NULL);
}

typedef enum primitive {
	TRIANGLE,
	OTHER_TRIANGLE,
	EDGE,
	POINT,
	SPHERE,
	OTHER_SPHERE,
	CYLINDER,
	TOROID,
	CONCAVE
} primitive;

static const struct {
	const char *name;
	bool (*test)(const pair *p);
	primitive first, second;
	double paper_ms; // PentiumPro
} rows[] = {
	{"TriEdge3D", row_triangle_segment, TRIANGLE, EDGE, 495},
	{"TriTri3D", row_triangle_triangle, TRIANGLE, OTHER_TRIANGLE, 495},
	{"Moeller", row_moeller, TRIANGLE, OTHER_TRIANGLE, 581},
	{"TriPnt2D", row_triangle_point, TRIANGLE, POINT, 163},
	{"SphEdge3D", row_sphere_segment, SPHERE, EDGE, 180},
	{"SphTri3D", row_sphere_triangle, SPHERE, TRIANGLE, 471},
	{"SphSph3D", row_sphere_sphere, SPHERE, OTHER_SPHERE, 118},
	{"UpCylEdge3D", row_upright_segment, CYLINDER, EDGE, 701},
	{"CylEdge3D", row_cylinder_segment, CYLINDER, EDGE, 794},
	{"UpCylTri3D", row_upright_triangle, CYLINDER, TRIANGLE, 842},
	{"CylTri3D", row_cylinder_triangle, CYLINDER, TRIANGLE, 1285},
	{"CylTriPrepro", row_transform, CYLINDER, TRIANGLE, 466},
	{"UpCylSph3D", row_upright_sphere, CYLINDER, SPHERE, 551},
	{"CylSph3D", row_cylinder_sphere, CYLINDER, SPHERE, 533},
	{"UpConEdge3D", row_cone_segment, CYLINDER, EDGE, 857},
	{"UpConTri3D", row_cone_triangle, CYLINDER, TRIANGLE, 1096},
	{"UpCvxTorEdge3D", row_toroid_segment, TOROID, EDGE, 955},
	{"UpCvxTorTri3D", row_toroid_triangle, TOROID, TRIANGLE, 1790},
	{"UpCveTorEdge3D", row_toroid_segment, CONCAVE, EDGE, 1056},
	{"UpCveTorTri3D", row_toroid_triangle, CONCAVE, TRIANGLE, 1844},
};
#define ROWS ((int)(sizeof rows / sizeof *rows))

static tac_dvec3 point(tac_rng *rng)
{
	double x = tac_rng_f64(rng), y = tac_rng_f64(rng);
	return tac_dvec3_make(x, y, tac_rng_f64(rng));
}

static box primitive_box(const pair *p, primitive k)
{
	switch (k) {
	case TRIANGLE:
		return box_of(&p->s.a, 3, 0);
	case OTHER_TRIANGLE:
		return box_of(&p->t.a, 3, 0);
	case EDGE:
		return box_of(&p->edge.a, 2, 0);
	case POINT: { // in the plane z = 0, so z must not separate it
		box b = box_of(&p->edge.a, 1, 0);
		b.min.z = 0;
		b.max.z = 1;
		return b;
	}
	case SPHERE:
		return box_of(&p->sphere.centre, 1, p->sphere.radius);
	case OTHER_SPHERE:
		return box_of(&p->other.centre, 1, p->other.radius);
	case CYLINDER:
		return box_of(&p->cylinder.p, 2, fmax(p->cylinder.radius, p->top));
	default:
		return box_of(&p->cylinder.p, 1, p->toroid.major + (p->toroid.concave ? 0 : p->toroid.minor));
	}
}

// Draws random primitives until the boxes of the two overlap.
static void fill(tac_rng *rng, primitive first, primitive second, pair *p)
{
	do {
		p->s = (tac_triangle){point(rng), point(rng), point(rng)};
		p->t = (tac_triangle){point(rng), point(rng), point(rng)};
		p->edge = (tac_segment){point(rng), point(rng)};
		p->sphere = (tac_sphere){point(rng), 0.5 * tac_rng_f64(rng)};
		p->other = (tac_sphere){point(rng), 0.5 * tac_rng_f64(rng)};
		p->cylinder = (tac_cylinder){point(rng), point(rng), 0.5 * tac_rng_f64(rng)};
		p->top = 0.5 * tac_rng_f64(rng);
		p->axis = tac_rng_unit_f64(rng);
		double minor = 0.02 + 0.3 * tac_rng_f64(rng), a = tac_rng_range_f64(rng, -minor, minor),
		       b = tac_rng_range_f64(rng, -minor, minor);
		bool concave = first == CONCAVE;
		p->toroid = (tac_toroid){concave ? minor + 0.2 * tac_rng_f64(rng) : 0.3 * tac_rng_f64(rng),
					 minor, fmin(a, b), fmax(a, b), concave};
		// The test of a point in the plane needs counter-clockwise triangles.
		if (second == POINT && (p->s.b.x - p->s.a.x) * (p->s.c.y - p->s.a.y) <
					       (p->s.b.y - p->s.a.y) * (p->s.c.x - p->s.a.x)) {
			tac_dvec3 swap = p->s.b;
			p->s.b = p->s.c;
			p->s.c = swap;
		}
		p->first = primitive_box(p, first);
		p->second = primitive_box(p, second);
	} while (!overlap(&p->first, &p->second));
}

// ---- eight triangles at once ----

#define LEAVES (PAIRS / TAC_RTREE_MAX)

// A sphere or capsule and a leaf of triangles whose boxes overlap its box.
typedef struct group {
	tac_segment axis;
	double radius;
	tac_round8 round;
	tac_triangle triangles[TAC_RTREE_MAX];
	tac_leaf8 leaf;
} group;

static void fill_group(tac_rng *rng, bool sphere, group *g)
{
	tac_dvec3 a = point(rng);
	g->axis = (tac_segment){a, sphere ? a : point(rng)};
	g->radius = 0.5 * tac_rng_f64(rng);
	g->round = tac_round8_make(g->axis.a, g->axis.b, g->radius, 1, EPS);
	box solid = box_of(&g->axis.a, 2, g->radius);
	for (int lane = 0; lane < TAC_RTREE_MAX; lane++) {
		tac_dvec3 v[3];
		box b;
		do {
			for (int k = 0; k < 3; k++) { // rounded to single precision, as in a mesh
				tac_vec3 single = tac_vec3_from_dvec3(point(rng));
				v[k] = tac_dvec3_from_vec3(single);
				for (int c = 0; c < 3; c++)
					g->leaf.v[k][c][lane] = tac_vec3_get(single, c);
			}
			b = box_of(v, 3, 0);
		} while (!overlap(&b, &solid));
		g->triangles[lane] = (tac_triangle){v[0], v[1], v[2]};
	}
}

static bool single_meets(const group *g, int lane)
{
	const tac_sphere a = {g->axis.a, g->radius}, b = {g->axis.b, g->radius};
	const tac_cylinder c = {g->axis.a, g->axis.b, g->radius};
	const tac_triangle *t = &g->triangles[lane];
	if (tac_sphere_meets_triangle(&a, t, EPS, NULL))
		return true;
	return !g->round.is_sphere &&
	       (tac_sphere_meets_triangle(&b, t, EPS, NULL) || tac_cylinder_meets_triangle(&c, t, EPS, NULL));
}

// The number of triangles that meet the solid of their group. `round8` NULL: single tests in double
// precision.
static int count_hits(const group *groups, tac_round8_fn *round8)
{
	int hits = 0;
	for (int i = 0; i < LEAVES; i++) {
		unsigned undecided = 0xFF;
		if (round8)
			hits += __builtin_popcount(
				round8(&groups[i].round, &groups[i].leaf, 0xFF, &undecided));
		for (; undecided != 0; undecided &= undecided - 1)
			hits += single_meets(&groups[i], __builtin_ctz(undecided));
	}
	return hits;
}

static void bench_batches(void)
{
	group *groups = aligned_alloc(32, LEAVES * sizeof *groups);
	if (!groups)
		return;
	printf("\nms of CPU for %d triangles in leaves of eight, least of %d runs; "
	       "with the double-precision tests of undecided triangles\n",
	       LEAVES * TAC_RTREE_MAX, RUNS);
	printf("%-16s %-12s %9s %7s %9s\n", "", "", "ms", "hits", "speed-up");
	for (int sphere = 1; sphere >= 0; sphere--) {
		tac_rng rng = tac_rng_seed(2, (uint64_t)sphere);
		for (int i = 0; i < LEAVES; i++)
			fill_group(&rng, sphere, &groups[i]);
		double single_ms = 0;
		for (int v = -1; v < TAC_SIMD_COUNT; v++) {
			if (v >= 0 && !tac_simd_supported((tac_simd)v))
				continue;
			tac_round8_fn *round8 = v < 0 ? NULL : tac_round8_of((tac_simd)v);
			double best = 0;
			int hits = 0;
			for (int run = 0; run < RUNS; run++) {
				double start = now_s();
				hits = count_hits(groups, round8);
				double ms = 1e3 * (now_s() - start);
				best = run == 0 || ms < best ? ms : best;
			}
			single_ms = v < 0 ? best : single_ms;
			printf("%-16s %-12s %9.2f %6.1f%% %9.2f\n", sphere ? "sphere" : "capsule",
			       v < 0 ? "single" : tac_simd_name((tac_simd)v), best,
			       100.0 * hits / (LEAVES * TAC_RTREE_MAX), single_ms / best);
		}
	}
	free(groups);
}

int main(void)
{
	pair *pairs = malloc(PAIRS * sizeof *pairs);
	if (!pairs)
		return EXIT_FAILURE;
	printf("ms of CPU for %d tests, loop, data access and box test included; least of %d runs\n", PAIRS,
	       RUNS);
	printf("%-16s %9s %7s %9s %9s\n", "", "ms", "hits", "to row 1", "in 1997");
	double first_ms = 0;
	terminal shown = {0};
	for (int r = 0; r < ROWS; r++) {
		tac_rng rng = tac_rng_seed(1, (uint64_t)r);
		terminal_step(&shown, "measuring", r + 1, ROWS, rows[r].name);
		for (int i = 0; i < PAIRS; i++)
			fill(&rng, rows[r].first, rows[r].second, &pairs[i]);
		double best = 0;
		int hits = 0;
		for (int run = 0; run < RUNS; run++) {
			double start = now_s();
			hits = 0;
			for (int i = 0; i < PAIRS; i++)
				hits += overlap(&pairs[i].first, &pairs[i].second) && rows[r].test(&pairs[i]);
			double ms = 1e3 * (now_s() - start);
			best = run == 0 || ms < best ? ms : best;
		}
		first_ms = r == 0 ? best : first_ms;
		terminal_clear(&shown);
		printf("%-16s %9.2f %6.1f%% %9.2f %9.2f\n", rows[r].name, best, 100.0 * hits / PAIRS,
		       best / first_ms, rows[r].paper_ms / rows[0].paper_ms);
	}
	free(pairs);
	bench_batches();
	return EXIT_SUCCESS;
}
