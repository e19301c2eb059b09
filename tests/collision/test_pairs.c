// The broad phase of continuous collision against brute force in long double: no pair that comes within reach
// on the way is left out, by the trees, the partition, the planes or the list of a context; and every SIMD
// variant gives the same lists, bit by bit.
#include "collision/ccd_pairs.h"

#include "base/rng.h"
#include "collision/certificate.h"
#include "collision/mesh_shapes.h"
#include "tests/ccd_referee.h"
#include "tests/ccd_shapes.h"
#include "tests/limits.h"

#include <string.h>
#include <unity.h>

// Poses on the way at which brute force looks.
#define SAMPLES 7
#define ROUNDS  (TAC_TEST_SANITIZED ? 8 : 24)
// Twice what the kernels allow for the rounding of float, as a part of all coordinates.
#define ROUNDING 2e-6

typedef struct thing {
	tac_mesh *mesh;
	tac_ccd_body *body;
} thing;

enum { TORUS, BOX, NEEDLES, SOUP, BOOK, SHEET, FAR, SMALL, LARGE, TRIANGLE, THINGS };
static thing things[THINGS];
static const int pairs[][2] = {{BOX, TORUS},     {TORUS, BOX},     {NEEDLES, SOUP}, {SOUP, NEEDLES},
			       {BOOK, SHEET},    {SHEET, BOOK},    {BOX, SHEET},    {FAR, TORUS},
			       {TORUS, FAR},     {SMALL, SMALL},   {LARGE, LARGE},  {SMALL, TORUS},
			       {TRIANGLE, SOUP}, {SOUP, TRIANGLE}, {BOOK, BOOK}};
#define PAIRS ((int)(sizeof pairs / sizeof pairs[0]))

void setUp(void)
{
}

void tearDown(void)
{
}

static void make_things(void)
{
	tac_rng rng = tac_rng_seed(1, 70);
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.6f, 0.2f, 12, 8, &things[TORUS].mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.6f, 0.4f, 0.2f), 3, &things[BOX].mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(1, 1, 7, 7, &things[SHEET].mesh));
	things[NEEDLES].mesh = loose_soup(&rng, 100, true);
	things[SOUP].mesh = loose_soup(&rng, 100, false);
	things[BOOK].mesh = doubled(book(16));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.5f, 1, &mesh));
	things[FAR].mesh = transformed(mesh, 1, 20);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.6f, 0.2f, 12, 8, &mesh));
	things[SMALL].mesh = transformed(mesh, 1e-4f, 0);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 1, 1e-3f), 3, &mesh));
	things[LARGE].mesh = transformed(mesh, 100, 0);
	tac_vec3 v[3] = {tac_vec3_make(0, 0, 0), tac_vec3_make(0.7f, 0, 0), tac_vec3_make(0, 0.5f, 0)};
	tac_mesh_triangle t = {{0, 1, 2}};
	things[TRIANGLE].mesh = mesh_of(v, 3, &t, 1);
	for (int i = 0; i < THINGS; i++) {
		tac_ccd_body_def def = tac_ccd_body_def_default();
		def.mesh = things[i].mesh;
		def.bsp = true;
		TEST_ASSERT_EQUAL(TAC_OK, tac_ccd_body_build(&def, &things[i].body));
	}
}

// A motion with its sweep: it stays, translates, rotates about an axis, or twists as a certificate's does.
enum { STILL, TRANSLATION, ROTATION, TWIST, KINDS };
typedef struct motion {
	int kind;
	tac_ccd_pose T;
	tac_dvec3 v, center, axis;
	double angle, reach;
	tac_ccd_sweep sweep;
	double size; // of all coordinates together
} motion;

static motion random_motion(tac_rng *rng, const thing *moving, const thing *fixed, int kind)
{
	double size = moving->body->ball + fixed->body->ball;
	tac_dvec3 at = tac_dvec3_add_scaled(tac_dvec3_from_vec3(fixed->body->center),
					    size * tac_rng_range_f64(rng, 0.2, 0.9), tac_rng_unit_f64(rng));
	motion m = {.kind = kind, .T.R = tac_dmat3_from_quat(tac_rng_rotation_f64(rng))};
	if (tac_rng_below(rng, 4) == 0) // faces along the axes, and in common planes
		m.T.R = tac_dmat3_identity();
	m.T.t = tac_dvec3_sub(at, tac_dmat3_apply(m.T.R, tac_dvec3_from_vec3(moving->body->center)));
	m.axis = tac_rng_unit_f64(rng);
	m.center = kind == TWIST ? m.T.t
				 : tac_dvec3_add_scaled(at, size * tac_rng_f64(rng), tac_rng_unit_f64(rng));
	if (kind == TRANSLATION || kind == TWIST)
		m.v = tac_dvec3_scale(tac_rng_unit_f64(rng), size * pow(10, tac_rng_range_f64(rng, -4, 0)));
	if (kind == ROTATION || kind == TWIST)
		m.angle = pow(10, tac_rng_range_f64(rng, -4, -0.5));
	m.reach = size * pow(10, tac_rng_range_f64(rng, -6, -1));
	double arm = tac_dvec3_length(tac_dvec3_cross(tac_dvec3_sub(m.T.t, m.center), m.axis)) +
		     moving->body->radius;
	if (kind == STILL)
		m.sweep = tac_ccd_sweep_still(m.T);
	else if (kind == TWIST)
		m.sweep = tac_ccd_sweep_make(
			m.T, tac_certificate_pose(&m.T, m.v, tac_dvec3_scale(m.axis, m.angle), 1), m.angle,
			moving->body->radius);
	else if (kind == ROTATION)
		m.sweep = tac_ccd_sweep_make(m.T, tac_ccd_rotated(&m.T, m.center, m.axis, m.angle, 1),
					     m.angle, arm);
	else
		m.sweep = tac_ccd_sweep_make(m.T, tac_ccd_translated(&m.T, m.v, 1), 0, 0);
	m.size = moving->body->radius + fixed->body->radius + tac_dvec3_length(m.sweep.start.t) +
		 tac_dvec3_length(m.sweep.end.t);
	return m;
}

// Brute force: which pairs, by position in the bodies' arrays, come within reach at a sample of the way.
static void find_near(const thing *moving, const thing *fixed, const motion *m, double reach, uint8_t *near)
{
	int32_t n = moving->mesh->triangle_count, k = fixed->mesh->triangle_count;
	memset(near, 0, (size_t)(n * k));
	int samples = m->kind == STILL ? 1 : SAMPLES;
	for (int s = 0; s < samples; s++) {
		ref_pose P = ref_pose_at(&m->T, m->v, m->center, m->axis, m->angle, s / (SAMPLES - 1.0));
		for (int32_t i = 0; i < n; i++) {
			ref_triangle a = ref_load(moving->mesh, moving->body->triangles[i].id, &P);
			for (int32_t j = 0; j < k; j++) {
				ref_triangle b = ref_load(fixed->mesh, fixed->body->triangles[j].id, NULL);
				if (!near[i * k + j] && !ref_apart(&a, &b, reach) &&
				    !ref_beside(&a, &b, reach))
					near[i * k + j] = ref_triangles(a.v, b.v) <= (real)reach * reach;
			}
		}
	}
}

typedef struct list {
	int32_t count, room;
	tac_ccd_near *pairs;
} list;

static bool note(void *user, int32_t moving, int32_t fixed)
{
	list *l = user;
	TEST_ASSERT_LESS_THAN(l->room, l->count);
	l->pairs[l->count++] = (tac_ccd_near){moving, fixed, 0};
	return true;
}

static bool note_some(void *user, tac_ccd_near *some, int32_t count)
{
	for (int32_t i = 0; i < count; i++)
		note(user, some[i].moving, some[i].fixed);
	return true;
}

static list list_make(const thing *moving, const thing *fixed)
{
	list l = {0, moving->mesh->triangle_count * fixed->mesh->triangle_count, NULL};
	l.pairs = calloc((size_t)l.room, sizeof *l.pairs);
	return l;
}

static void lists_equal(const list *a, const list *b)
{
	TEST_ASSERT_EQUAL_INT32(a->count, b->count);
	for (int32_t i = 0; i < a->count; i++) {
		TEST_ASSERT_EQUAL_INT32(a->pairs[i].moving, b->pairs[i].moving);
		TEST_ASSERT_EQUAL_INT32(a->pairs[i].fixed, b->pairs[i].fixed);
		TEST_ASSERT_EQUAL_MEMORY(&a->pairs[i].clears, &b->pairs[i].clears, sizeof(float));
	}
}

// Every near pair is listed, and none twice. `near` loses what was listed.
static void contains(const list *l, uint8_t *near, int32_t columns, int32_t total)
{
	uint8_t *seen = calloc((size_t)total, 1);
	for (int32_t i = 0; i < l->count; i++) {
		int32_t at = l->pairs[i].moving * columns + l->pairs[i].fixed;
		TEST_ASSERT_FALSE_MESSAGE(seen[at], "a pair is listed twice");
		seen[at] = 1;
		near[at] = 0;
	}
	free(seen);
	for (int32_t i = 0; i < total; i++)
		TEST_ASSERT_FALSE_MESSAGE(near[i], "a pair that comes within reach is not listed");
}

typedef struct bench {
	const thing *moving, *fixed;
	list l, first;
	uint8_t *near;
	int32_t total, near_count;
} bench;

static bench bench_make(int k)
{
	bench b = {.moving = &things[pairs[k][0]], .fixed = &things[pairs[k][1]]};
	b.l = list_make(b.moving, b.fixed);
	b.first = list_make(b.moving, b.fixed);
	b.total = b.l.room;
	b.near = malloc((size_t)b.total);
	return b;
}

static void bench_free(bench *b)
{
	free(b->l.pairs);
	free(b->first.pairs);
	free(b->near);
}

static void bench_find(bench *b, const motion *m, double reach)
{
	find_near(b->moving, b->fixed, m, reach, b->near);
	b->near_count = 0;
	for (int32_t i = 0; i < b->total; i++)
		b->near_count += b->near[i];
}

static void descents_find_what_brute_force_finds(void)
{
	tac_rng rng = tac_rng_seed(2, 70);
	int64_t near = 0, listed = 0, all = 0;
	for (int k = 0; k < PAIRS; k++) {
		bench b = bench_make(k);
		for (int round = 0; round < ROUNDS; round++) {
			motion m = random_motion(&rng, b.moving, b.fixed, round % KINDS);
			bench_find(&b, &m, m.reach);
			near += b.near_count;
			for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
				if (!tac_simd_supported((tac_simd)simd))
					continue;
				list *l = simd == TAC_SIMD_SCALAR ? &b.first : &b.l;
				l->count = 0;
				b.moving->body->simd = simd;
				tac_ccd_pairs(b.moving->body, b.fixed->body, &m.sweep, &m.reach, note, l,
					      NULL);
				if (l != &b.first)
					lists_equal(&b.first, l);
			}
			b.l.count = 0;
			tac_ccd_pairs_bsp(b.moving->body, b.fixed->body, &m.sweep, &m.reach, note, &b.l,
					  NULL);
			uint8_t *copy = malloc((size_t)b.total);
			memcpy(copy, b.near, (size_t)b.total);
			contains(&b.l, copy, b.fixed->mesh->triangle_count, b.total);
			free(copy);
			contains(&b.first, b.near, b.fixed->mesh->triangle_count, b.total);
			listed += b.first.count;
			all += b.total;
		}
		bench_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(40 * ROUNDS, near);
	TEST_ASSERT_TRUE(listed < all / 3); // and few others
}

// Whatever is within the vicinity's reach is in its box, in each variant the same; the pairs are those of the
// descent without it.
static void vicinity_holds_every_triangle_that_is_near(void)
{
	tac_rng rng = tac_rng_seed(7, 70);
	int64_t near = 0, small = 0, boxes = 0;
	for (int k = 0; k < PAIRS; k++) {
		bench b = bench_make(k);
		int32_t columns = b.fixed->mesh->triangle_count;
		for (int round = 0; round < ROUNDS; round++) {
			motion m = random_motion(&rng, b.moving, b.fixed, STILL);
			tac_ccd_vicinity first = {.reach = m.reach * tac_rng_range_f64(&rng, 1, 6)},
					 v = first;
			b.first.count = 0;
			tac_ccd_pairs(b.moving->body, b.fixed->body, &m.sweep, &m.reach, note, &b.first,
				      NULL);
			for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
				if (!tac_simd_supported((tac_simd)simd))
					continue;
				tac_ccd_vicinity *out = simd == TAC_SIMD_SCALAR ? &first : &v;
				b.l.count = 0;
				b.moving->body->simd = simd;
				TEST_ASSERT_TRUE(tac_ccd_pairs_vicinity(b.moving->body, b.fixed->body,
									&m.sweep, &m.reach, note, &b.l, NULL,
									out));
				lists_equal(&b.first, &b.l);
				TEST_ASSERT_TRUE(simd == TAC_SIMD_SCALAR ||
						 (memcmp(first.lo, v.lo, sizeof v.lo) == 0 &&
						  memcmp(first.hi, v.hi, sizeof v.hi) == 0));
			}
			bench_find(&b, &m, first.reach);
			near += b.near_count;
			for (int32_t i = 0; i < b.total; i++) {
				const tac_ccd_triangle *t = &b.moving->body->triangles[i / columns];
				for (int c = 0; c < 9 && b.near[i]; c++) {
					float x = tac_vec3_get(t->vertex[c / 3], c % 3);
					TEST_ASSERT_TRUE_MESSAGE(first.lo[c % 3] <= x && x <= first.hi[c % 3],
								 "a near triangle is not in the box");
				}
			}
			tac_vec3 size = tac_vec3_sub(tac_vec3_load(first.hi), tac_vec3_load(first.lo));
			boxes++;
			small += !(first.lo[0] <= first.hi[0]) ||
				 (double)tac_vec3_length(size) < b.moving->body->ball;
		}
		bench_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(40 * ROUNDS, near);
	TEST_ASSERT_GREATER_THAN(boxes / 8, small); // half as large as the body
}

// Two triangles that are as far apart as the reach somewhere on the way, and further everywhere else: at the
// top of an arc, at its ends, and where the coordinates are large and floats coarse.
static void descents_find_a_pair_that_only_just_comes_within_reach(void)
{
	tac_rng rng = tac_rng_seed(5, 70);
	int just = 0;
	for (int round = 0; round < 6000; round++) {
		double far = round % 3 ? 0 : 30, size = pow(10, tac_rng_range_f64(&rng, -3, 0));
		tac_vec3 v[2][3];
		for (int k = 0; k < 3; k++)
			v[0][k] = tac_vec3_from_dvec3(tac_dvec3_add(
				tac_dvec3_splat(far), tac_dvec3_scale(tac_rng_unit_f64(&rng), size)));
		motion m = {.kind = 1 + round % 2, .reach = size * pow(10, tac_rng_range_f64(&rng, -5, -2))};
		m.T.R = round % 5 ? tac_dmat3_from_quat(tac_rng_rotation_f64(&rng)) : tac_dmat3_identity();
		m.T.t = tac_dvec3_scale(tac_dmat3_apply(m.T.R, tac_dvec3_splat(far)), -1);
		m.axis = tac_rng_unit_f64(&rng);
		if (m.kind == ROTATION) {
			m.center = tac_rng_unit_f64(&rng);
			m.angle = 0.3 * tac_rng_f64(&rng);
		} else {
			m.v = tac_rng_unit_f64(&rng);
		}
		// Outwards from the axis in the middle, or anywhere.
		double s = round % 7 ? tac_rng_f64(&rng) : 0.5;
		ref_pose P = ref_pose_at(&m.T, m.v, m.center, m.axis, m.angle, s);
		tac_dvec3 away = tac_rng_unit_f64(&rng);
		for (int k = 0; k < 3; k++) {
			ref_vec x = ref_place(&P, v[0][k]);
			tac_dvec3 p = tac_dvec3_make((double)x.x, (double)x.y, (double)x.z);
			if (round % 2 && k == 0) {
				tac_dvec3 out = tac_dvec3_sub(p, m.center);
				away = tac_dvec3_normalize(
					tac_dvec3_add_scaled(out, -tac_dvec3_dot(out, m.axis), m.axis));
			}
			v[1][k] = tac_vec3_from_dvec3(tac_dvec3_add_scaled(p, m.reach, away));
		}
		tac_mesh_triangle t = {{0, 1, 2}};
		thing two[2];
		for (int k = 0; k < 2; k++) {
			tac_ccd_body_def def = tac_ccd_body_def_default();
			two[k].mesh = mesh_of(v[k], 3, &t, 1);
			def.mesh = two[k].mesh;
			def.bsp = true;
			TEST_ASSERT_EQUAL(TAC_OK, tac_ccd_body_build(&def, &two[k].body));
		}
		double arm = tac_dvec3_length(tac_dvec3_cross(tac_dvec3_sub(m.T.t, m.center), m.axis)) +
			     two[0].body->radius;
		m.sweep =
			m.kind == ROTATION
				? tac_ccd_sweep_make(m.T, tac_ccd_rotated(&m.T, m.center, m.axis, m.angle, 1),
						     m.angle, arm)
				: tac_ccd_sweep_make(m.T, tac_ccd_translated(&m.T, m.v, 1), 0, 0);
		double distance = ref_distance(two[0].mesh, two[1].mesh, &P, 2 * m.reach);
		double reach = distance * (1 + 1e-14);
		just += distance > 0;
		for (int32_t simd = 0; simd <= TAC_SIMD_COUNT && distance > 0; simd++) {
			if (simd < TAC_SIMD_COUNT && !tac_simd_supported((tac_simd)simd))
				continue;
			tac_ccd_near pair;
			list l = {0, 1, &pair};
			two[0].body->simd = simd;
			(simd < TAC_SIMD_COUNT ? tac_ccd_pairs : tac_ccd_pairs_bsp)(
				two[0].body, two[1].body, &m.sweep, &reach, note, &l, NULL);
			TEST_ASSERT_EQUAL_INT32_MESSAGE(1, l.count, tac_simd_name((tac_simd)simd));
		}
		for (int k = 0; k < 2; k++) {
			tac_ccd_body_destroy(&two[k].body);
			tac_mesh_destroy(&two[k].mesh);
		}
	}
	TEST_ASSERT_GREATER_THAN(3000, just);
}

// How far the planes of the two triangles keep the pair apart at both ends of the sweep, negative when not.
typedef struct clearance {
	real by_fixed, by_moving;
	real distance; // the smaller one of both ends
} clearance;

static void heights(const ref_triangle *a, const ref_triangle *plane, real *lo, real *hi)
{
	ref_vec n = ref_cross(ref_sub(plane->v[1], plane->v[0]), ref_sub(plane->v[2], plane->v[0]));
	real length = sqrtl(ref_dot(n, n));
	for (int k = 0; k < 3; k++) {
		real h = ref_dot(n, ref_sub(a->v[k], plane->v[0])) / length;
		*lo = ref_min(*lo, h);
		*hi = ref_max(*hi, h);
	}
}

static clearance clearance_of(const bench *b, const ref_pose ends[2], int32_t moving, int32_t fixed)
{
	real lo[2] = {HUGE_VALL, HUGE_VALL}, hi[2] = {-HUGE_VALL, -HUGE_VALL};
	clearance c = {.distance = HUGE_VALL};
	ref_triangle t = ref_load(b->fixed->mesh, b->fixed->body->triangles[fixed].id, NULL);
	for (int end = 0; end < 2; end++) {
		ref_triangle a = ref_load(b->moving->mesh, b->moving->body->triangles[moving].id, &ends[end]);
		heights(&a, &t, &lo[0], &hi[0]);
		heights(&t, &a, &lo[1], &hi[1]);
		real squared = ref_triangles(a.v, t.v);
		c.distance = ref_min(c.distance, squared < 0 ? 0 : sqrtl(squared));
	}
	c.by_fixed = ref_max(lo[0], -hi[0]);
	c.by_moving = ref_max(lo[1], -hi[1]);
	return c;
}

// Of all pairs, in the order of the list, each is either kept, with a bound, or parted by a plane.
static void judge_filter(const bench *b, const motion *m, const list *all, double by_fixed, double by_moving)
{
	ref_pose ends[2];
	for (int k = 0; k < 2; k++)
		ends[k] = ref_pose_at(&m->T, m->v, m->center, m->axis, m->angle, k);
	double rounding = ROUNDING * m->size;
	int32_t kept = 0;
	for (int32_t i = 0; i < all->count; i++) {
		const tac_ccd_near *p = &all->pairs[i], *out = &b->first.pairs[kept];
		clearance c = clearance_of(b, ends, p->moving, p->fixed);
		if (kept < b->first.count && out->moving == p->moving && out->fixed == p->fixed) {
			kept++;
			TEST_ASSERT_TRUE_MESSAGE(c.by_fixed <= by_fixed + rounding &&
							 c.by_moving <= by_moving + rounding,
						 "a pair was kept that a plane parts");
			TEST_ASSERT_TRUE_MESSAGE(out->clears <= c.distance,
						 "the bound is above the distance");
			TEST_ASSERT_TRUE_MESSAGE(out->clears >= ref_max(c.by_fixed, c.by_moving) - rounding,
						 "the bound is far below what the planes say");
		} else {
			TEST_ASSERT_TRUE_MESSAGE(c.by_fixed > by_fixed || c.by_moving > by_moving,
						 "a pair was dropped that no plane parts");
		}
	}
	TEST_ASSERT_EQUAL_INT32(b->first.count, kept);
}

// A third of all pairs: not a whole number of eights.
static void take_some(tac_rng *rng, const bench *b, list *out)
{
	out->count = 0;
	for (int32_t i = 0; i < b->total; i++) {
		if (tac_rng_below(rng, 3) == 0)
			note(out, i / b->fixed->mesh->triangle_count, i % b->fixed->mesh->triangle_count);
	}
}

static void filter_drops_only_what_a_plane_parts(void)
{
	tac_rng rng = tac_rng_seed(3, 70);
	int64_t kept = 0, dropped = 0;
	for (int k = 0; k < PAIRS; k++) {
		bench b = bench_make(k);
		list all = list_make(b.moving, b.fixed);
		for (int round = 0; round < ROUNDS / 2; round++) {
			motion m = random_motion(&rng, b.moving, b.fixed, round % KINDS);
			double by_fixed = m.reach + m.sweep.bend,
			       by_moving = m.kind == ROTATION ? HUGE_VAL : by_fixed;
			take_some(&rng, &b, &all);
			for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
				if (!tac_simd_supported((tac_simd)simd))
					continue;
				list *l = simd == TAC_SIMD_SCALAR ? &b.first : &b.l;
				memcpy(l->pairs, all.pairs, (size_t)all.count * sizeof *l->pairs);
				b.moving->body->simd = simd;
				l->count = tac_ccd_filter(b.moving->body, b.fixed->body, &m.sweep, by_fixed,
							  by_moving, l->pairs, all.count);
				if (l != &b.first)
					lists_equal(&b.first, l);
			}
			judge_filter(&b, &m, &all, by_fixed, by_moving);
			kept += b.first.count;
			dropped += all.count - b.first.count;
			// What a sweep relies on: whatever comes within reach on the way stays.
			bench_find(&b, &m, m.reach);
			for (int32_t i = 0, at = 0; i < all.count && m.kind != TWIST; i++) {
				const tac_ccd_near *p = &all.pairs[i], *out = &b.first.pairs[at];
				bool is_kept = at < b.first.count && out->moving == p->moving &&
					       out->fixed == p->fixed;
				at += is_kept;
				TEST_ASSERT_TRUE(
					is_kept ||
					!b.near[p->moving * b.fixed->mesh->triangle_count + p->fixed]);
			}
		}
		free(all.pairs);
		bench_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(400 * ROUNDS, kept);
	TEST_ASSERT_GREATER_THAN(400 * ROUNDS, dropped);
}

// Whether the lines a b and c d come closest between their ends, and the square of their distance there.
static bool lines_between(ref_vec a, ref_vec b, ref_vec c, ref_vec d, real *out_square)
{
	ref_vec u = ref_sub(b, a), w = ref_sub(d, c), r = ref_sub(a, c), n = ref_cross(u, w);
	real nn = ref_dot(n, n), s = ref_dot(ref_cross(w, r), n), t = ref_dot(ref_cross(u, r), n);
	*out_square = nn > 0 ? ref_dot(r, n) * ref_dot(r, n) / nn : 0;
	return nn > 0 && s > 0 && s < nn && t > 0 && t < nn;
}

static real point_triangle(ref_vec p, const ref_vec *t)
{
	real edges = ref_min(ref_point_segment(p, t[0], t[1]),
			     ref_min(ref_point_segment(p, t[1], t[2]), ref_point_segment(p, t[2], t[0])));
	return ref_min(edges, ref_point_face(p, t));
}

// Which of the features that the triangles stand for are within the margin.
static unsigned ref_features(const bench *b, const ref_pose *T, const tac_ccd_near *p, real margin)
{
	const tac_ccd_triangle *ta = &b->moving->body->triangles[p->moving],
			       *tb = &b->fixed->body->triangles[p->fixed];
	ref_triangle a = ref_load(b->moving->mesh, ta->id, T), c = ref_load(b->fixed->mesh, tb->id, NULL);
	unsigned near = 0;
	for (int k = 0; k < 3; k++) {
		if (ta->vertices >> k & 1 && point_triangle(a.v[k], c.v) <= margin * margin)
			near |= 1u << k;
		if (tb->vertices >> k & 1 && point_triangle(c.v[k], a.v) <= margin * margin)
			near |= 1u << (TAC_CCD_FEATURE_FIXED_VERTEX + k);
		for (int j = 0; j < 3; j++) {
			real square;
			if (ta->edges >> k & 1 && tb->edges >> j & 1 &&
			    lines_between(a.v[k], a.v[(k + 1) % 3], c.v[j], c.v[(j + 1) % 3], &square) &&
			    square <= margin * margin)
				near |= 1u << (TAC_CCD_FEATURE_EDGES + 3 * k + j);
		}
	}
	return near;
}

// No feature within the margin is missed, no bound is above the distance, and few others are marked.
static void features_that_are_near_are_marked(void)
{
	tac_rng rng = tac_rng_seed(5, 70);
	int64_t marked = 0, near = 0, possible = 0;
	for (int k = 0; k < PAIRS; k++) {
		bench b = bench_make(k);
		uint16_t *first = malloc((size_t)b.total * sizeof *first),
			 *features = malloc((size_t)b.total * sizeof *features);
		for (int round = 0; round < ROUNDS / 4; round++) {
			motion m = random_motion(&rng, b.moving, b.fixed, STILL);
			ref_pose T = ref_pose_at(&m.T, m.v, m.center, m.axis, 0, 0);
			for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
				if (!tac_simd_supported((tac_simd)simd))
					continue;
				list *l = simd == TAC_SIMD_SCALAR ? &b.first : &b.l;
				l->count = 0;
				for (int32_t i = 0; i < b.total - 3; i++)
					note(l, i / b.fixed->mesh->triangle_count,
					     i % b.fixed->mesh->triangle_count);
				b.moving->body->simd = simd;
				tac_ccd_features(b.moving->body, b.fixed->body, &m.T, m.reach, l->pairs,
						 l->count, simd == TAC_SIMD_SCALAR ? first : features);
				if (l == &b.first)
					continue;
				lists_equal(&b.first, l);
				TEST_ASSERT_EQUAL_MEMORY(first, features, (size_t)l->count * sizeof *first);
			}
			for (int32_t i = 0; i < b.first.count; i++) {
				const tac_ccd_near *p = &b.first.pairs[i];
				ref_triangle a = ref_load(b.moving->mesh,
							  b.moving->body->triangles[p->moving].id, &T),
					     c = ref_load(b.fixed->mesh,
							  b.fixed->body->triangles[p->fixed].id, NULL);
				real bound = (real)p->clears;
				TEST_ASSERT_TRUE_MESSAGE(bound <= 0 ||
								 bound * bound <= ref_triangles(a.v, c.v),
							 "the bound is above the distance");
				unsigned expected = ref_features(&b, &T, p, (real)m.reach);
				TEST_ASSERT_EQUAL_HEX_MESSAGE(0, expected & ~(unsigned)first[i],
							      "a near feature is not marked");
				near += __builtin_popcount(expected);
				marked += __builtin_popcount(first[i]);
				possible += 15;
			}
		}
		free(first);
		free(features);
		bench_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(ROUNDS * 5, near);
	TEST_ASSERT_GREATER_THAN(marked, 3 * near + possible / 50);
}

// What brute force says of a pair: its distance at a pose.
static real distance_at(const bench *b, const ref_pose *T, const tac_ccd_near *p)
{
	ref_triangle a = ref_load(b->moving->mesh, b->moving->body->triangles[p->moving].id, T),
		     c = ref_load(b->fixed->mesh, b->fixed->body->triangles[p->fixed].id, NULL);
	real square = ref_triangles(a.v, c.v);
	return square > 0 ? sqrtl(square) : 0;
}

// Of the list `all`, each is either in `kept`, in the same order and with a bound that is no larger than the
// distance at each of the poses, or further apart than `by` at each of them.
static void judge_kept(const bench *b, const list *all, const list *kept, const ref_pose *poses, int count,
		       double by)
{
	int32_t at = 0;
	for (int32_t i = 0; i < all->count; i++) {
		const tac_ccd_near *p = &all->pairs[i], *out = &kept->pairs[at];
		bool is_kept = at < kept->count && out->moving == p->moving && out->fixed == p->fixed;
		at += is_kept;
		for (int k = 0; k < count; k++) {
			real distance = distance_at(b, &poses[k], p);
			TEST_ASSERT_TRUE_MESSAGE(is_kept ? out->clears <= distance : distance > by,
						 is_kept ? "the bound is above the distance"
							 : "a pair was dropped that is not parted");
		}
	}
	TEST_ASSERT_EQUAL_INT32(kept->count, at);
}

// A list with its directions, and what they part on a motion from near where the list was made.
static void directions_drop_only_what_they_part(void)
{
	tac_rng rng = tac_rng_seed(6, 70);
	int64_t kept = 0, listed = 0, must_go = 0, total = 0;
	for (int k = 0; k < PAIRS; k++) {
		bench b = bench_make(k);
		list all = list_make(b.moving, b.fixed), out = list_make(b.moving, b.fixed),
		     first = list_make(b.moving, b.fixed);
		size_t blocks = (size_t)b.total / 8 + 1;
		tac_ccd_parted *directions[2] = {calloc(blocks, sizeof **directions),
						 calloc(blocks, sizeof **directions)};
		for (int round = 0; round < ROUNDS / 2; round++) {
			// From a little way off where the list is made.
			motion m = random_motion(&rng, b.moving, b.fixed, round % KINDS);
			double size = b.moving->body->ball + b.fixed->body->ball,
			       reach = fmax(m.reach, 0.03 * size), by = m.reach + m.sweep.bend;
			double step = round % 3 ? 3e-3 : 0,
			       moved = step * (size + b.moving->body->radius) + ROUNDING * m.size;
			tac_ccd_pose at = tac_certificate_pose(
				&m.T, tac_dvec3_scale(tac_rng_unit_f64(&rng), step * size),
				tac_dvec3_scale(tac_rng_unit_f64(&rng), step), 1);
			ref_pose there = ref_pose_at(&at, tac_dvec3_zero(), at.t, m.axis, 0, 0);
			ref_pose ends[2];
			for (int i = 0; i < 2; i++)
				ends[i] = ref_pose_at(&m.T, m.v, m.center, m.axis, m.angle, i);
			take_some(&rng, &b, &all);
			for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
				if (!tac_simd_supported((tac_simd)simd))
					continue;
				bool is_first = simd == TAC_SIMD_SCALAR;
				list *l = is_first ? &b.first : &b.l, *o = is_first ? &first : &out;
				tac_ccd_parted *d = directions[!is_first];
				memcpy(l->pairs, all.pairs, (size_t)all.count * sizeof *l->pairs);
				b.moving->body->simd = simd;
				l->count = tac_ccd_part(b.moving->body, b.fixed->body, &at, reach, l->pairs,
							all.count, d);
				o->count = tac_ccd_sift(b.moving->body, b.fixed->body, &m.sweep, by, l->pairs,
							d, l->count, o->pairs);
				if (is_first)
					continue;
				lists_equal(&b.first, l);
				lists_equal(&first, o);
				for (int32_t i = 0; i < l->count; i++) {
					const float *x = (const float *)&directions[0][i / 8] + i % 8,
						    *y = (const float *)&d[i / 8] + i % 8;
					for (size_t n = 0; n < sizeof *d / sizeof *x; n += 8)
						TEST_ASSERT_EQUAL_MEMORY(&x[n], &y[n], sizeof *x);
				}
			}
			judge_kept(&b, &all, &b.first, &there, 1, reach);
			judge_kept(&b, &b.first, &first, ends, m.kind == STILL ? 1 : 2, by);
			kept += first.count;
			listed += b.first.count;
			total += all.count;
			// What a query relies on: whatever comes within reach on the way stays.
			bench_find(&b, &m, m.reach);
			for (int32_t i = 0, n = 0; i < b.first.count && m.kind != TWIST; i++) {
				const tac_ccd_near *p = &b.first.pairs[i], *o = &first.pairs[n];
				bool is_kept =
					n < first.count && o->moving == p->moving && o->fixed == p->fixed;
				n += is_kept;
				TEST_ASSERT_TRUE(
					is_kept ||
					!b.near[p->moving * b.fixed->mesh->triangle_count + p->fixed]);
				// And what moved less than its direction parts it is gone.
				bool must = m.kind == STILL && (double)p->clears > by + moved;
				must_go += must;
				TEST_ASSERT_FALSE_MESSAGE(must && is_kept, "a pair was kept that is parted");
			}
		}
		free(all.pairs);
		free(out.pairs);
		free(first.pairs);
		free(directions[0]);
		free(directions[1]);
		bench_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(20 * ROUNDS, kept);
	TEST_ASSERT_GREATER_THAN(10 * ROUNDS, must_go);
	TEST_ASSERT_LESS_THAN(total / 20, listed);
}

// A walk with one context: at each step every pair within the reach served is visited, with as few descents
// as the list allows, and with any variant.
static void context_lists_what_brute_force_finds(void)
{
	tac_rng rng = tac_rng_seed(4, 70);
	static tac_ccd_context context;
	int limited = 0, overflowed = 0, reused = 0;
	for (int k = 0; k < PAIRS; k++) {
		bench b = bench_make(k);
		motion m = random_motion(&rng, b.moving, b.fixed, STILL);
		double size = b.moving->body->ball + b.fixed->body->ball;
		memset(&context, 0, sizeof context);
		tac_ccd_context_bind(&context, b.moving->body, b.fixed->body);
		for (int step = 0; step < ROUNDS; step++) {
			tac_dvec3 w = tac_dvec3_scale(tac_rng_unit_f64(&rng), 2e-3 * tac_rng_f64(&rng));
			tac_dvec3 v =
				tac_dvec3_scale(tac_rng_unit_f64(&rng), 2e-3 * size * tac_rng_f64(&rng));
			m.T = tac_certificate_pose(&m.T, v, w, 1);
			m.sweep = tac_ccd_sweep_still(m.T);
			double reach = size * (step % 8 == 7 ? 0.3 : 0.02), served = -1;
			tac_ccd_search search = {.moving = b.moving->body,
						 .fixed = b.fixed->body,
						 .sweep = &m.sweep,
						 .at = &m.T,
						 .reach = reach,
						 .by_fixed = reach,
						 .by_moving = reach,
						 .visit = note_some,
						 .user = &b.l,
						 .limit = step % 3 == 2 ? 40 : 0};
			b.l.count = 0;
			do
				b.moving->body->simd = (int32_t)tac_rng_below(&rng, TAC_SIMD_COUNT);
			while (!tac_simd_supported((tac_simd)b.moving->body->simd));
			reused += tac_ccd_list_covers(&context, &m.T, reach);
			TEST_ASSERT_TRUE(
				tac_ccd_near_pairs(&search, step % 5 == 4 ? NULL : &context, &served));
			TEST_ASSERT_TRUE(served >= 0 && served <= reach);
			TEST_ASSERT_TRUE(search.limit > 0 || served == reach);
			if (search.limit > 0 && step % 5 != 4) {
				// 0: more than that are not parted at all.
				TEST_ASSERT_TRUE(b.l.count <= 40 || served == 0);
				limited += served > 0 && served < reach;
			}
			overflowed += step % 5 != 4 && !tac_ccd_list_covers(&context, &m.T, reach);
			bench_find(&b, &m, served * (1 - 1e-12));
			contains(&b.l, b.near, b.fixed->mesh->triangle_count, b.total);
		}
		bench_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(ROUNDS / 8, limited);
	TEST_ASSERT_GREATER_THAN(0, overflowed);
	TEST_ASSERT_GREATER_THAN(ROUNDS, reused);
}

// How far the context says that its list serves at a pose, to a millionth.
static double served_at(const tac_ccd_context *context, const tac_ccd_pose *T)
{
	double lo = 0, hi = context->reach;
	for (int i = 0; i < 20; i++) {
		double middle = 0.5 * (lo + hi);
		*(tac_ccd_list_covers(context, T, middle) ? &lo : &hi) = middle;
	}
	return lo;
}

static bool is_listed(const tac_ccd_context *context, int32_t moving, int32_t fixed)
{
	for (int32_t i = 0; i < context->count; i++) {
		if (context->pairs[i].moving == moving && context->pairs[i].fixed == fixed)
			return true;
	}
	return false;
}

static tac_mesh *two_triangles(tac_rng *rng, double low, double high)
{
	tac_vec3 v[6];
	for (int k = 0; k < 6; k++) {
		tac_dvec3 x = tac_dvec3_scale(tac_rng_unit_f64(rng), 0.02);
		x.x += k / 3;
		x.z = 0.1 * fabs(x.z) + (k < 3 ? low : high);
		v[k] = tac_vec3_from_dvec3(x);
	}
	tac_mesh_triangle t[2] = {{{0, 1, 2}}, {{3, 4, 5}}};
	return mesh_of(v, 6, t, 2);
}

// A bar over a plate, one end near and the other further away, turns about either end, or moves: where the
// list says that it serves, each pair is listed.
static void list_serves_no_further_than_what_is_not_listed_may_have_come(void)
{
	static tac_ccd_context context;
	tac_rng rng = tac_rng_seed(8, 70);
	thing fixed;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(4, 4, 8, 8, &fixed.mesh));
	int32_t columns = fixed.mesh->triangle_count;
	tac_ccd_body_def def = tac_ccd_body_def_default();
	def.mesh = fixed.mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_ccd_body_build(&def, &fixed.body));
	int serves = 0, close = 0,
	    outside = 0; // but for a little, not listed: in the vicinity, outside of it
	for (int round = 0; round < 3000; round++) {
		double needed = 0.01, reach = 0.063; // about that of the list
		thing bar = {two_triangles(&rng, reach * tac_rng_range_f64(&rng, 0, 1.5),
					   reach * tac_rng_range_f64(&rng, round % 2 ? 4 : 0.5, 4.5)),
			     NULL};
		def.mesh = bar.mesh;
		TEST_ASSERT_EQUAL(TAC_OK, tac_ccd_body_build(&def, &bar.body));
		tac_ccd_pose at = {tac_dmat3_identity(), tac_dvec3_zero()};
		tac_ccd_sweep still = tac_ccd_sweep_still(at);
		tac_ccd_near room[256];
		list l = {0, 256, room};
		tac_ccd_search search = {bar.body, fixed.body, &still,    &at, needed,
					 needed,   needed,     note_some, &l,  0};
		memset(&context, 0, sizeof context);
		tac_ccd_context_bind(&context, bar.body, fixed.body);
		TEST_ASSERT_TRUE(tac_ccd_near_pairs(&search, &context, NULL));
		// About an end of it, or about anything.
		tac_dvec3 center = tac_dvec3_make(round % 3, 0, 0),
			  axis = tac_dvec3_make(0, round % 8 < 6 ? 1 : -1, 0);
		if (round % 4 == 0)
			axis = tac_rng_unit_f64(&rng);
		double far = context.far - context.reach, angle = 1.2 * far * tac_rng_f64(&rng);
		tac_ccd_pose T = tac_ccd_rotated(&at, center, axis, angle, 1);
		T.t = tac_dvec3_add_scaled(T.t, (round % 2 ? 0.1 : 0.7) * context.reach * tac_rng_f64(&rng),
					   tac_rng_unit_f64(&rng));
		double served = served_at(&context, &T);
		serves += served > 0;
		ref_pose P = ref_pose_at(&T, tac_dvec3_zero(), center, axis, 0, 0);
		for (int i = 0; i < 2 * columns && served > 0; i++) {
			ref_triangle a = ref_load(bar.mesh, bar.body->triangles[i / columns].id, &P),
				     c = ref_load(fixed.mesh, fixed.body->triangles[i % columns].id, NULL);
			real square = ref_triangles(a.v, c.v), distance = square > 0 ? sqrtl(square) : 0;
			bool listed = is_listed(&context, i / columns, i % columns);
			TEST_ASSERT_TRUE_MESSAGE(listed || distance >= served, "a pair is not listed");
			bool is_close = !listed && distance < 1.3 * served;
			bool is_outside = (double)bar.body->triangles[i / columns].vertex[0].x > context.hi.x;
			close += is_close && !is_outside;
			outside += is_close && is_outside;
		}
		tac_ccd_body_destroy(&bar.body);
		tac_mesh_destroy(&bar.mesh);
	}
	tac_ccd_body_destroy(&fixed.body);
	tac_mesh_destroy(&fixed.mesh);
	TEST_ASSERT_GREATER_THAN(500, serves);
	TEST_ASSERT_GREATER_THAN(100, close);
	TEST_ASSERT_GREATER_THAN(20, outside);
}

int main(void)
{
	UNITY_BEGIN();
	make_things();
	RUN_TEST(descents_find_what_brute_force_finds);
	RUN_TEST(descents_find_a_pair_that_only_just_comes_within_reach);
	RUN_TEST(vicinity_holds_every_triangle_that_is_near);
	RUN_TEST(filter_drops_only_what_a_plane_parts);
	RUN_TEST(features_that_are_near_are_marked);
	RUN_TEST(directions_drop_only_what_they_part);
	RUN_TEST(context_lists_what_brute_force_finds);
	RUN_TEST(list_serves_no_further_than_what_is_not_listed_may_have_come);
	for (int i = 0; i < THINGS; i++) {
		tac_ccd_body_destroy(&things[i].body);
		tac_mesh_destroy(&things[i].mesh);
	}
	return UNITY_END();
}
