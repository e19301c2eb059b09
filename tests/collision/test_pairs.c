// The broad phase of continuous collision against brute force in long double: the trees, the BSP, the culling
// and the list of a context miss no pair that comes within reach during a motion, and every SIMD variant
// gives the same lists to the bit.
#include "collision/continuous/pairs.h"

#include "base/rng.h"
#include "collision/certificate.h"
#include "collision/mesh_shapes.h"
#include "tests/support/limits.h"
#include "tests/support/sweep_referee.h"
#include "tests/support/sweep_shapes.h"

#include <string.h>
#include <unity.h>

// Poses of a motion that brute force samples.
#define SAMPLES 7
#define ROUNDS  (test_long() ? 32 : 8)
// Twice the kernels' bound of the rounding of float, relative to the sum of all coordinates.
#define ROUNDING 2e-6

enum { TORUS, BOX, NEEDLES, SOUP, BOOK, SHEET, FAR, SMALL, LARGE, TRIANGLE, ROD, PLATES, PRISM, BODIES };
static mesh_body bodies[BODIES];
static const int pairs[][2] = {{BOX, TORUS},     {TORUS, BOX},     {NEEDLES, SOUP}, {SOUP, NEEDLES},
			       {BOOK, SHEET},    {SHEET, BOOK},    {BOX, SHEET},    {FAR, TORUS},
			       {TORUS, FAR},     {SMALL, SMALL},   {LARGE, LARGE},  {SMALL, TORUS},
			       {TRIANGLE, SOUP}, {SOUP, TRIANGLE}, {BOOK, BOOK},    {SOUP, ROD},
			       {PLATES, ROD},    {PRISM, PRISM},   {PLATES, PRISM}};
#define PAIRS ((int)(sizeof pairs / sizeof pairs[0]))

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_body *body_with_bsp(const tac_mesh *mesh)
{
	tac_body_def def = tac_body_def_default();
	def.mesh = mesh;
	def.bsp = true;
	tac_body *body;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &body));
	return body;
}

// The mesh with its flat faces triangulated anew, turned in space: its body has a second tree, in a frame of
// its own, and narrow faces.
static mesh_body turned_body(tac_mesh *mesh, tac_dvec3 turn)
{
	tac_body_def def = tac_body_def_default();
	def.mesh = mesh;
	def.flat_m = TAC_BODY_FLAT;
	tac_body *body;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &body));
	const tac_mesh *flat = tac_body_mesh(body);
	tac_vec3 *v = malloc((size_t)flat->vertex_count * sizeof *v);
	const tac_dquat R = tac_dquat_exp(turn);
	for (int32_t i = 0; i < flat->vertex_count; i++)
		v[i] = tac_vec3_from_dvec3(tac_dquat_rotate(R, tac_dvec3_from_vec3(flat->vertices[i])));
	mesh_body out = {.mesh = mesh_of(v, flat->vertex_count, flat->triangles, flat->triangle_count)};
	free(v);
	tac_body_destroy(&body);
	tac_mesh_destroy(&mesh);
	def.mesh = out.mesh;
	def.bsp = true;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &out.body));
	TEST_ASSERT_TRUE(tac_body_mesh(out.body) == out.mesh);
	TEST_ASSERT_TRUE(out.body->pair_nodes != out.body->nodes);
	return out;
}

static void make_bodies(void)
{
	tac_rng rng = tac_rng_seed(1, 70);
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.6f, 0.2f, 12, 8, &bodies[TORUS].mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.6f, 0.4f, 0.2f), 3, &bodies[BOX].mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(1, 1, 7, 7, &bodies[SHEET].mesh));
	bodies[NEEDLES].mesh = loose_soup(&rng, 100, true);
	bodies[SOUP].mesh = loose_soup(&rng, 100, false);
	bodies[BOOK].mesh = doubled(book(16));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.5f, 1, &mesh));
	bodies[FAR].mesh = transformed(mesh, 1, 20);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.6f, 0.2f, 12, 8, &mesh));
	bodies[SMALL].mesh = transformed(mesh, 1e-4f, 0);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 1, 1e-3f), 3, &mesh));
	bodies[LARGE].mesh = transformed(mesh, 100, 0);
	tac_vec3 v[3] = {tac_vec3_make(0, 0, 0), tac_vec3_make(0.7f, 0, 0), tac_vec3_make(0, 0.5f, 0)};
	tac_mesh_triangle t = {{0, 1, 2}};
	bodies[TRIANGLE].mesh = mesh_of(v, 3, &t, 1);
	for (int i = 0; i < ROD; i++)
		bodies[i].body = body_with_bsp(bodies[i].mesh);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cylinder(0.1f, 1.2f, 20, 1, &mesh));
	const tac_dvec3 turn = tac_dvec3_make(0.4, -0.7, 1.1);
	bodies[ROD] = turned_body(mesh, turn);
	TEST_ASSERT_TRUE(bodies[ROD].body->narrow);
	const tac_mesh_filter_def filter = {3, 0.8f, 0.02f, 0.2f, 0.1f, 1, 1};
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_filter(&filter, &mesh));
	bodies[PLATES] = turned_body(mesh, turn);
	// Both triangles of a side are exactly in one plane: they are one leaf of the second tree.
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cylinder(0.1f, 1.2f, 20, 1, &mesh));
	bodies[PRISM] = turned_body(mesh, tac_dvec3_zero());
	int joined = 0;
	for (int32_t i = 0; i < bodies[PRISM].mesh->triangle_count; i++)
		joined += bodies[PRISM].body->partners[i] >= 0;
	TEST_ASSERT_GREATER_OR_EQUAL_INT(40, joined);
}

// A motion with its sweep: at rest, a translation, a rotation about an axis, or a combined motion as in a
// certificate.
enum { AT_REST, TRANSLATION, ROTATION, COMBINED, KINDS };
typedef struct motion {
	int kind;
	tac_drigid T;
	tac_dvec3 v, centre, axis;
	double angle, reach;
	tac_swept_motion sweep;
	double size; // of all coordinates together
} motion;

static motion random_motion(tac_rng *rng, const mesh_body *moving, const mesh_body *fixed, int kind)
{
	double size = moving->body->centre_radius + fixed->body->centre_radius;
	tac_dvec3 at = tac_dvec3_add_scaled(tac_dvec3_from_vec3(fixed->body->centre),
					    size * tac_rng_range_f64(rng, 0.2, 0.9), tac_rng_unit_f64(rng));
	motion m = {.kind = kind, .T.R = tac_dmat3_from_quat(tac_rng_rotation_f64(rng))};
	if (tac_rng_below(rng, 4) == 0) // axis-aligned and coplanar faces
		m.T.R = tac_dmat3_identity();
	m.T.t = tac_dvec3_sub(at, tac_dmat3_apply(m.T.R, tac_dvec3_from_vec3(moving->body->centre)));
	m.axis = tac_rng_unit_f64(rng);
	m.centre = kind == COMBINED
			   ? m.T.t
			   : tac_dvec3_add_scaled(at, size * tac_rng_f64(rng), tac_rng_unit_f64(rng));
	if (kind == TRANSLATION || kind == COMBINED)
		m.v = tac_dvec3_scale(tac_rng_unit_f64(rng), size * pow(10, tac_rng_range_f64(rng, -4, 0)));
	if (kind == ROTATION || kind == COMBINED)
		m.angle = pow(10, tac_rng_range_f64(rng, -4, -0.5));
	m.reach = size * pow(10, tac_rng_range_f64(rng, -6, -1));
	double arm = tac_dvec3_length(tac_dvec3_cross(tac_dvec3_sub(m.T.t, m.centre), m.axis)) +
		     moving->body->radius;
	if (kind == AT_REST)
		m.sweep = tac_swept_motion_stationary(m.T);
	else if (kind == COMBINED)
		m.sweep = tac_swept_motion_make(
			m.T, tac_certificate_pose(&m.T, m.v, tac_dvec3_scale(m.axis, m.angle), 1), m.angle,
			moving->body->radius);
	else if (kind == ROTATION)
		m.sweep = tac_swept_motion_make(m.T, tac_sweep_rotated(&m.T, m.centre, m.axis, m.angle, 1),
						m.angle, arm);
	else
		m.sweep = tac_swept_motion_make(m.T, tac_sweep_translated(&m.T, m.v, 1), 0, 0);
	m.size = moving->body->radius + fixed->body->radius + tac_dvec3_length(m.sweep.start.t) +
		 tac_dvec3_length(m.sweep.end.t);
	return m;
}

// Brute force: the pairs, by position in the bodies' arrays, that are within reach at a sample of the motion.
static void find_near(const mesh_body *moving, const mesh_body *fixed, const motion *m, double reach,
		      uint8_t *near)
{
	int32_t n = moving->mesh->triangle_count, k = fixed->mesh->triangle_count;
	memset(near, 0, (size_t)(n * k));
	int samples = m->kind == AT_REST ? 1 : SAMPLES;
	for (int s = 0; s < samples; s++) {
		ref_pose P = ref_pose_at(&m->T, m->v, m->centre, m->axis, m->angle, s / (SAMPLES - 1.0));
		for (int32_t i = 0; i < n; i++) {
			ref_triangle a = ref_load(moving->mesh, moving->body->triangles[i].id, &P);
			for (int32_t j = 0; j < k; j++) {
				ref_triangle b = ref_load(fixed->mesh, fixed->body->triangles[j].id, NULL);
				if (!near[i * k + j] && !ref_boxes_apart(&a, &b, reach) &&
				    !ref_axes_separate(&a, &b, reach))
					near[i * k + j] = ref_triangles(a.v, b.v) <= (real)reach * reach;
			}
		}
	}
}

typedef struct pair_list {
	int32_t count, room;
	tac_near_pair *pairs;
} pair_list;

static bool add_pair(void *user, int32_t moving, int32_t fixed)
{
	pair_list *l = user;
	TEST_ASSERT_LESS_THAN(l->room, l->count);
	l->pairs[l->count++] = (tac_near_pair){moving, fixed, 0, 0};
	return true;
}

// Brute force: the triangles of the face at a position. Returns how many.
static int ref_face(const mesh_body *b, int32_t at, const ref_pose *T, ref_triangle out[2])
{
	int32_t with = b->body->partners ? b->body->partners[at] : -1;
	out[0] = ref_load(b->mesh, b->body->triangles[at].id, T);
	if (with >= 0)
		out[1] = ref_load(b->mesh, b->body->triangles[with].id, T);
	return with >= 0 ? 2 : 1;
}

static pair_list pair_list_make(const mesh_body *moving, const mesh_body *fixed)
{
	pair_list l = {0, moving->mesh->triangle_count * fixed->mesh->triangle_count, NULL};
	l.pairs = calloc((size_t)l.room, sizeof *l.pairs);
	return l;
}

static void assert_lists_equal(const pair_list *a, const pair_list *b)
{
	TEST_ASSERT_EQUAL_INT32(a->count, b->count);
	for (int32_t i = 0; i < a->count; i++) {
		TEST_ASSERT_EQUAL_INT32(a->pairs[i].moving, b->pairs[i].moving);
		TEST_ASSERT_EQUAL_INT32(a->pairs[i].fixed, b->pairs[i].fixed);
		TEST_ASSERT_EQUAL_MEMORY(&a->pairs[i].clearance, &b->pairs[i].clearance, sizeof(float));
	}
}

// Every near pair is listed, and none twice. Clears the listed pairs of `near`.
static void assert_contains_near(const pair_list *l, uint8_t *near, int32_t columns, int32_t total)
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

// Two bodies with room for the lists of their pairs. Pairs of faces are listed by all of their triangles.
typedef struct fixture {
	const mesh_body *moving, *fixed;
	pair_list l, first; // of a variant, and of the scalar one
	uint8_t *near;      // of each pair: whether brute force found it
	int32_t total, near_count;
} fixture;

static fixture fixture_of(mesh_body *moving, mesh_body *fixed)
{
	fixture b = {.moving = moving, .fixed = fixed};
	b.l = pair_list_make(b.moving, b.fixed);
	b.first = pair_list_make(b.moving, b.fixed);
	b.total = b.l.room;
	b.near = malloc((size_t)b.total);
	return b;
}

static fixture fixture_make(int k)
{
	return fixture_of(&bodies[pairs[k][0]], &bodies[pairs[k][1]]);
}

static void fixture_free(fixture *b)
{
	free(b->l.pairs);
	free(b->first.pairs);
	free(b->near);
}

// Adds all pairs of triangles of a pair of faces.
static bool add_face_pair(void *user, int32_t moving, int32_t fixed)
{
	fixture *b = user;
	const int32_t *with_a = b->moving->body->partners, *with_c = b->fixed->body->partners,
		      a[2] = {moving, with_a ? with_a[moving] : -1},
		      c[2] = {fixed, with_c ? with_c[fixed] : -1};
	for (int k = 0; k < 4; k++) {
		if (a[k / 2] >= 0 && c[k % 2] >= 0)
			add_pair(&b->l, a[k / 2], c[k % 2]);
	}
	return true;
}

static bool add_pairs(void *user, tac_near_pair *some, int32_t count)
{
	for (int32_t i = 0; i < count; i++)
		add_face_pair(user, some[i].moving, some[i].fixed);
	return true;
}

// Whether brute force found triangles of a pair of faces near.
static bool is_near(const fixture *b, const tac_near_pair *p)
{
	const int32_t *with[2] = {b->moving->body->partners, b->fixed->body->partners};
	bool near = false;
	for (int k = 0; k < 4; k++) {
		const int32_t i = k / 2 == 0 ? p->moving
				  : with[0]  ? with[0][p->moving]
					     : -1,
			      j = k % 2 == 0 ? p->fixed
				  : with[1]  ? with[1][p->fixed]
					     : -1;
		near = near || (i >= 0 && j >= 0 && b->near[i * b->fixed->mesh->triangle_count + j]);
	}
	return near;
}

static void fixture_find_near(fixture *b, const motion *m, double reach)
{
	find_near(b->moving, b->fixed, m, reach, b->near);
	b->near_count = 0;
	for (int32_t i = 0; i < b->total; i++)
		b->near_count += b->near[i];
}

static void descents_find_all_near_pairs(void)
{
	tac_rng rng = tac_rng_seed(2, 70);
	int64_t near = 0, listed = 0, all = 0;
	for (int k = 0; k < PAIRS; k++) {
		fixture b = fixture_make(k);
		for (int round = 0; round < ROUNDS; round++) {
			motion m = random_motion(&rng, b.moving, b.fixed, round % KINDS);
			fixture_find_near(&b, &m, m.reach);
			near += b.near_count;
			for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
				if (!tac_simd_supported((tac_simd)simd))
					continue;
				pair_list *l = simd == TAC_SIMD_SCALAR ? &b.first : &b.l;
				l->count = 0;
				b.moving->body->simd = simd;
				tac_pairs_visit(b.moving->body, b.fixed->body, &m.sweep, &m.reach, add_pair,
						l, NULL);
				if (l != &b.first)
					assert_lists_equal(&b.first, l);
			}
			b.l.count = 0;
			tac_pairs_visit_bsp(b.moving->body, b.fixed->body, &m.sweep, &m.reach, add_pair, &b.l,
					    NULL);
			uint8_t *copy = malloc((size_t)b.total);
			memcpy(copy, b.near, (size_t)b.total);
			assert_contains_near(&b.l, copy, b.fixed->mesh->triangle_count, b.total);
			free(copy);
			assert_contains_near(&b.first, b.near, b.fixed->mesh->triangle_count, b.total);
			listed += b.first.count;
			all += b.total;
		}
		fixture_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(40 * ROUNDS, near);
	TEST_ASSERT_TRUE(listed < all / 3); // and few others
}

static bool count_pair(void *user, int32_t moving, int32_t fixed)
{
	(void)moving;
	(void)fixed;
	++*(int *)user;
	return true;
}

// A peg crosses the planes of the long triangles that meet the rim of its hole. Slabs and boxes leave
// hundreds of these pairs; the vertices show that none is nearer than the play.
static void a_peg_in_its_hole_is_near_nothing_within_its_play(void)
{
	const tac_dvec3 turn = tac_dvec3_make(0.4, -0.7, 1.1);
	tac_mesh_peg_def def = tac_mesh_peg_def_default();
	def.segments = 96;
	tac_mesh *peg, *block;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_peg(&def, &peg));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_block(&def, &block));
	mesh_body two[2] = {turned_body(peg, turn), turned_body(block, turn)};
	const tac_swept_motion here =
		tac_swept_motion_stationary((tac_drigid){tac_dmat3_identity(), tac_dvec3_zero()});
	const double within = 0.5 * (double)def.clearance, beyond = 3 * (double)def.clearance;
	int near = 0, around = 0;
	tac_pairs_visit(two[0].body, two[1].body, &here, &within, count_pair, &near, NULL);
	tac_pairs_visit(two[0].body, two[1].body, &here, &beyond, count_pair, &around, NULL);
	TEST_ASSERT_EQUAL_INT(0, near);
	TEST_ASSERT_GREATER_THAN_INT(96, around);
	mesh_body_free(&two[0]);
	mesh_body_free(&two[1]);
}

static int by_triangles(const void *a, const void *b)
{
	const tac_near_pair *x = a, *y = b;
	const int32_t d = x->moving != y->moving ? x->moving - y->moving : x->fixed - y->fixed;
	return (d > 0) - (d < 0);
}

// Descends with the work for `slice` pairs of nodes at a time; 0: at once.
static void descend_in_slices(fixture *b, const motion *m, int64_t slice, tac_near_box *out)
{
	static tac_sweep_context context;
	static tac_pair_descent descent;
	int calls = 1;
	descent.top = 0;
	do
		tac_sweep_context_set_work_limit(&context, slice * TAC_WORK_NARROW_PAIR);
	while (!tac_pairs_visit_with_box(b->moving->body, b->fixed->body, &m->sweep, &m->reach, add_face_pair,
					 b, &context, out, &descent) &&
	       calls++ < 1000000);
	TEST_ASSERT_TRUE(descent.top == 0 && (slice > 0 || calls == 1));
}

static void assert_box_contains_near(const fixture *b, const tac_near_box *box)
{
	for (int32_t i = 0; i < b->total; i++) {
		const tac_body_triangle *t = &b->moving->body->triangles[i / b->fixed->mesh->triangle_count];
		for (int c = 0; c < 9 && b->near[i]; c++) {
			const tac_dvec3 at = tac_dmat3_transpose_apply(b->moving->body->frame,
								       tac_dvec3_from_vec3(t->vertex[c / 3]));
			const float x = (float)tac_dvec3_get(at, c % 3);
			TEST_ASSERT_TRUE_MESSAGE(box->lo[c % 3] <= x && x <= box->hi[c % 3],
						 "a near triangle is not in the box");
		}
	}
}

// The box contains every triangle within its reach and is the same in each variant. The pairs are those of
// the descent without it, also where it is interrupted and resumed; then they come in another order.
static void near_box_contains_every_near_triangle(void)
{
	tac_rng rng = tac_rng_seed(7, 70);
	int64_t near = 0, small = 0, boxes = 0;
	for (int k = 0; k < PAIRS; k++) {
		fixture b = fixture_make(k);
		for (int round = 0; round < ROUNDS; round++) {
			motion m = random_motion(&rng, b.moving, b.fixed, AT_REST);
			tac_near_box first = {.reach = m.reach * tac_rng_range_f64(&rng, 1, 6)}, v = first;
			b.first.count = 0;
			tac_pairs_visit(b.moving->body, b.fixed->body, &m.sweep, &m.reach, add_pair, &b.first,
					NULL);
			const int32_t slice = round % 4;
			if (slice > 0)
				qsort(b.first.pairs, (size_t)b.first.count, sizeof *b.first.pairs,
				      by_triangles);
			for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
				if (!tac_simd_supported((tac_simd)simd))
					continue;
				tac_near_box *out = simd == TAC_SIMD_SCALAR ? &first : &v;
				b.l.count = 0;
				b.moving->body->simd = simd;
				descend_in_slices(&b, &m, slice * (1 + simd), out);
				if (slice > 0)
					qsort(b.l.pairs, (size_t)b.l.count, sizeof *b.l.pairs, by_triangles);
				assert_lists_equal(&b.first, &b.l);
				TEST_ASSERT_TRUE(simd == TAC_SIMD_SCALAR ||
						 (memcmp(first.lo, v.lo, sizeof v.lo) == 0 &&
						  memcmp(first.hi, v.hi, sizeof v.hi) == 0));
			}
			fixture_find_near(&b, &m, first.reach);
			near += b.near_count;
			assert_box_contains_near(&b, &first);
			tac_vec3 size = tac_vec3_sub(tac_vec3_load(first.hi), tac_vec3_load(first.lo));
			boxes++;
			small += !(first.lo[0] <= first.hi[0]) ||
				 (double)tac_vec3_length(size) < b.moving->body->centre_radius;
		}
		fixture_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(40 * ROUNDS, near);
	TEST_ASSERT_GREATER_THAN(boxes / 8, small); // half as large as the body
}

// A body with many times more nodes than a descent keeps in motion: places are taken by one node after
// another. Against a single triangle the near box is small, so that each of its sides matters.
static void descents_of_large_bodies_find_all_near_pairs(void)
{
	static const struct {
		int fixed, rounds;
	} with[] = {{SOUP, 3}, {TRIANGLE, 200}};
	tac_rng rng = tac_rng_seed(8, 70);
	mesh_body large = {0};
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.6f, 0.2f, 72, 36, &large.mesh));
	large.body = body_with_bsp(large.mesh);
	TEST_ASSERT_GREATER_THAN_INT32(8 * 4 * TAC_PAIR_MOVED, large.mesh->triangle_count);
	int64_t near = 0;
	for (int k = 0; k < 2; k++) {
		fixture b = fixture_of(&large, &bodies[with[k].fixed]);
		for (int round = 0; round < with[k].rounds; round++) {
			motion m =
				random_motion(&rng, b.moving, b.fixed, round % 3 == 2 ? COMBINED : AT_REST);
			tac_near_box box = {.reach = 3 * m.reach};
			b.l.count = 0;
			descend_in_slices(&b, &m, round % 3 * 7, &box);
			fixture_find_near(&b, &m, box.reach);
			assert_box_contains_near(&b, &box);
			fixture_find_near(&b, &m, m.reach);
			near += b.near_count;
			assert_contains_near(&b.l, b.near, b.fixed->mesh->triangle_count, b.total);
		}
		fixture_free(&b);
	}
	TEST_ASSERT_GREATER_THAN_INT64(1000, near);
	tac_body_destroy(&large.body);
	tac_mesh_destroy(&large.mesh);
}

// So many copies of one triangle: nodes have triangles and other nodes as children.
#define COPIES 12

// Two triangles whose distance is the reach at one moment of the motion and more at any other: in the middle
// of an arc, at its ends, and far from the origin, where floats are coarse. The reach is along a random
// direction, outwards from the axis, or along the normal, where the bounds are tight. Slivers, and
// copies of a triangle, each of which is found.
static void descents_find_a_pair_that_just_comes_within_reach(void)
{
	tac_rng rng = tac_rng_seed(5, 70);
	int checked = 0;
	for (int round = 0; round < test_rounds(6000); round++) {
		double far = round % 3 ? 0 : 30, size = pow(10, tac_rng_range_f64(&rng, -3, 0));
		tac_vec3 v[2][3];
		for (int k = 0; k < 3; k++)
			v[0][k] = tac_vec3_from_dvec3(tac_dvec3_add(
				tac_dvec3_splat(far), tac_dvec3_scale(tac_rng_unit_f64(&rng), size)));
		if (round % 11 == 0 && far == 0) // a sliver
			v[0][2] = tac_vec3_add_scaled(v[0][1], round % 2 ? 1e-2f : 1e-4f,
						      tac_vec3_sub(v[0][2], v[0][1]));
		motion m = {.kind = 1 + round % 2, .reach = size * pow(10, tac_rng_range_f64(&rng, -5, -2))};
		m.T.R = round % 5 ? tac_dmat3_from_quat(tac_rng_rotation_f64(&rng)) : tac_dmat3_identity();
		m.T.t = tac_dvec3_scale(tac_dmat3_apply(m.T.R, tac_dvec3_splat(far)), -1);
		m.axis = tac_rng_unit_f64(&rng);
		if (m.kind == ROTATION) {
			m.centre = tac_rng_unit_f64(&rng);
			m.angle = 0.3 * tac_rng_f64(&rng);
		} else {
			m.v = tac_rng_unit_f64(&rng);
		}
		// The moment, and the direction from there: outwards from the axis, or random.
		double s = round % 7 ? tac_rng_f64(&rng) : 0.5;
		ref_pose P = ref_pose_at(&m.T, m.v, m.centre, m.axis, m.angle, s);
		tac_dvec3 away = tac_rng_unit_f64(&rng), p[3];
		for (int k = 0; k < 3; k++) {
			ref_vec x = ref_place(&P, v[0][k]);
			p[k] = tac_dvec3_make((double)x.x, (double)x.y, (double)x.z);
		}
		const tac_dvec3 out = tac_dvec3_sub(p[0], m.centre),
				across =
					tac_dvec3_cross(tac_dvec3_sub(p[1], p[0]), tac_dvec3_sub(p[2], p[0]));
		if (round % 4 >= 2 && tac_dvec3_length(across) > 0)
			away = tac_dvec3_normalize(across);
		else if (round % 2)
			away = tac_dvec3_normalize(
				tac_dvec3_add_scaled(out, -tac_dvec3_dot(out, m.axis), m.axis));
		for (int k = 0; k < 3; k++)
			v[1][k] = tac_vec3_from_dvec3(tac_dvec3_add_scaled(p[k], m.reach, away));
		tac_mesh_triangle t[COPIES];
		int32_t copies[2];
		mesh_body two[2];
		for (int k = 0; k < COPIES; k++)
			t[k] = (tac_mesh_triangle){{0, 1, 2}};
		for (int k = 0; k < 2; k++) {
			copies[k] = round / 8 % 4 & (k + 1) ? COPIES : 1;
			two[k].mesh = mesh_of(v[k], 3, t, copies[k]);
			two[k].body = body_with_bsp(two[k].mesh);
		}
		double arm = tac_dvec3_length(tac_dvec3_cross(tac_dvec3_sub(m.T.t, m.centre), m.axis)) +
			     two[0].body->radius;
		m.sweep = m.kind == ROTATION
				  ? tac_swept_motion_make(
					    m.T, tac_sweep_rotated(&m.T, m.centre, m.axis, m.angle, 1),
					    m.angle, arm)
				  : tac_swept_motion_make(m.T, tac_sweep_translated(&m.T, m.v, 1), 0, 0);
		double distance = ref_distance(two[0].mesh, two[1].mesh, &P, 2 * m.reach);
		double reach = distance * (1 + 1e-14);
		checked += distance > 0;
		for (int32_t simd = 0; simd <= TAC_SIMD_COUNT && distance > 0; simd++) {
			if (simd < TAC_SIMD_COUNT && !tac_simd_supported((tac_simd)simd))
				continue;
			tac_near_pair found[COPIES * COPIES];
			pair_list l = {0, COPIES * COPIES, found};
			two[0].body->simd = simd;
			(simd < TAC_SIMD_COUNT ? tac_pairs_visit : tac_pairs_visit_bsp)(
				two[0].body, two[1].body, &m.sweep, &reach, add_pair, &l, NULL);
			TEST_ASSERT_EQUAL_INT32_MESSAGE(copies[0] * copies[1], l.count,
							tac_simd_name((tac_simd)simd));
		}
		mesh_body_free(&two[0]);
		mesh_body_free(&two[1]);
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(3000), checked);
}

// How far the planes of the two triangles separate the pair at both ends of the sweep; negative when they do
// not.
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

static clearance clearance_of(const fixture *b, const ref_pose ends[2], int32_t moving, int32_t fixed)
{
	real lo[2] = {HUGE_VALL, HUGE_VALL}, hi[2] = {-HUGE_VALL, -HUGE_VALL};
	clearance c = {.distance = HUGE_VALL};
	ref_triangle a[2], t[2];
	const int count = ref_face(b->fixed, fixed, NULL, t);
	for (int end = 0; end < 2; end++) {
		const int moving_count = ref_face(b->moving, moving, &ends[end], a);
		for (int k = 0; k < moving_count * count; k++) {
			const ref_triangle *of_a = &a[k / count], *of_t = &t[k % count];
			heights(of_a, &t[0], &lo[0], &hi[0]);
			heights(of_t, &a[0], &lo[1], &hi[1]);
			real squared = ref_triangles(of_a->v, of_t->v);
			c.distance = ref_min(c.distance, squared < 0 ? 0 : sqrtl(squared));
		}
	}
	c.by_fixed = ref_max(lo[0], -hi[0]);
	c.by_moving = ref_max(lo[1], -hi[1]);
	return c;
}

// Each pair is either kept, in the order of the list and with a bound, or separated by a plane.
static void judge_culling(const fixture *b, const motion *m, const pair_list *all, double fixed_threshold,
			  double moving_threshold)
{
	ref_pose ends[2];
	for (int k = 0; k < 2; k++)
		ends[k] = ref_pose_at(&m->T, m->v, m->centre, m->axis, m->angle, k);
	double rounding = ROUNDING * m->size;
	int32_t kept = 0;
	for (int32_t i = 0; i < all->count; i++) {
		const tac_near_pair *p = &all->pairs[i], *out = &b->first.pairs[kept];
		clearance c = clearance_of(b, ends, p->moving, p->fixed);
		if (kept < b->first.count && out->moving == p->moving && out->fixed == p->fixed) {
			kept++;
			TEST_ASSERT_TRUE_MESSAGE(c.by_fixed <= fixed_threshold + rounding &&
							 c.by_moving <= moving_threshold + rounding,
						 "a pair was kept that a plane separates");
			TEST_ASSERT_TRUE_MESSAGE(out->clearance <= c.distance,
						 "the bound exceeds the distance");
			TEST_ASSERT_TRUE_MESSAGE(out->clearance >=
							 ref_max(c.by_fixed, c.by_moving) - rounding,
						 "the bound is far below the planes' clearance");
		} else {
			TEST_ASSERT_TRUE_MESSAGE(c.by_fixed > fixed_threshold ||
							 c.by_moving > moving_threshold,
						 "a pair was culled that no plane separates");
		}
	}
	TEST_ASSERT_EQUAL_INT32(b->first.count, kept);
}

// A third of all pairs, or as many as fill three quarters of the room; their number is not a
// multiple of eight.
static void take_some(tac_rng *rng, const fixture *b, pair_list *out)
{
	out->count = 0;
	const uint32_t rarely = (uint32_t)(4 * b->total / (3 * out->room)) + 1;
	for (int32_t i = 0; i < b->total; i++) {
		if (tac_rng_below(rng, rarely > 3 ? rarely : 3) == 0)
			add_pair(out, i / b->fixed->mesh->triangle_count, i % b->fixed->mesh->triangle_count);
	}
}

static void planes_cull_only_separated_pairs(void)
{
	tac_rng rng = tac_rng_seed(3, 70);
	int64_t kept = 0, dropped = 0;
	for (int k = 0; k < PAIRS; k++) {
		fixture b = fixture_make(k);
		pair_list all = pair_list_make(b.moving, b.fixed);
		for (int round = 0; round < ROUNDS / 2; round++) {
			motion m = random_motion(&rng, b.moving, b.fixed, round % KINDS);
			double fixed_threshold = m.reach + m.sweep.bend,
			       moving_threshold = m.kind == ROTATION ? HUGE_VAL : fixed_threshold;
			take_some(&rng, &b, &all);
			for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
				if (!tac_simd_supported((tac_simd)simd))
					continue;
				pair_list *l = simd == TAC_SIMD_SCALAR ? &b.first : &b.l;
				memcpy(l->pairs, all.pairs, (size_t)all.count * sizeof *l->pairs);
				b.moving->body->simd = simd;
				l->count = tac_pairs_cull_by_planes(b.moving->body, b.fixed->body, &m.sweep,
								    fixed_threshold, moving_threshold,
								    l->pairs, all.count);
				if (l != &b.first)
					assert_lists_equal(&b.first, l);
			}
			judge_culling(&b, &m, &all, fixed_threshold, moving_threshold);
			kept += b.first.count;
			dropped += all.count - b.first.count;
			// A sweep relies on this: pairs that come within reach during the motion are kept.
			fixture_find_near(&b, &m, m.reach);
			for (int32_t i = 0, at = 0; i < all.count && m.kind != COMBINED; i++) {
				const tac_near_pair *p = &all.pairs[i], *out = &b.first.pairs[at];
				bool is_kept = at < b.first.count && out->moving == p->moving &&
					       out->fixed == p->fixed;
				at += is_kept;
				TEST_ASSERT_TRUE(is_kept || !is_near(&b, p));
			}
		}
		free(all.pairs);
		fixture_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(400 * ROUNDS, kept);
	TEST_ASSERT_GREATER_THAN(400 * ROUNDS, dropped);
}

// The distance of a pair at a pose, by brute force.
static real distance_at(const fixture *b, const ref_pose *T, const tac_near_pair *p)
{
	ref_triangle a[2], c[2];
	const int count_a = ref_face(b->moving, p->moving, T, a),
		  count = ref_face(b->fixed, p->fixed, NULL, c);
	real least = HUGE_VALL;
	for (int k = 0; k < count_a * count; k++)
		least = ref_min(least, ref_triangles(a[k / count].v, c[k % count].v));
	return least > 0 ? sqrtl(least) : 0;
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

// The vertices of a face, in the order of its edges. Returns how many.
static int ref_vertices(const mesh_body *b, int32_t at, const ref_pose *T, ref_vec out[4])
{
	const tac_body_face *f = &b->body->faces[at];
	const tac_vec3 v[4] = {f->vertex[0], f->vertex[1], f->vertex[2], f->fourth};
	for (int k = 0; k < 4; k++)
		out[k] = T ? ref_place(T, v[k]) : (ref_vec){v[k].x, v[k].y, v[k].z};
	return b->body->partners && b->body->partners[at] >= 0 ? 4 : 3;
}

static real point_face(ref_vec p, const ref_triangle *triangles, int count)
{
	real least = point_triangle(p, triangles[0].v);
	return count > 1 ? ref_min(least, point_triangle(p, triangles[1].v)) : least;
}

// The features, of those that are examined at the two faces, that are within the margin.
static unsigned ref_features(const fixture *b, const ref_pose *T, const tac_near_pair *p, real margin)
{
	const tac_body_face *fa = &b->moving->body->faces[p->moving], *fb = &b->fixed->body->faces[p->fixed];
	ref_triangle a[2], c[2];
	const int count_a = ref_face(b->moving, p->moving, T, a),
		  count_c = ref_face(b->fixed, p->fixed, NULL, c);
	ref_vec u[4], w[4];
	const int n = ref_vertices(b->moving, p->moving, T, u), m = ref_vertices(b->fixed, p->fixed, NULL, w);
	unsigned near = 0;
	for (int k = 0; k < 4; k++) {
		if (fa->vertices >> k & 1 && point_face(u[k], c, count_c) <= margin * margin)
			near |= 1u << k;
		if (fb->vertices >> k & 1 && point_face(w[k], a, count_a) <= margin * margin)
			near |= 1u << (TAC_FEATURE_BIT_FIXED_VERTEX + k);
		for (int j = 0; j < 4; j++) {
			real square;
			if (fa->edges >> k & 1 && fb->edges >> j & 1 &&
			    lines_between(u[k], u[(k + 1) % n], w[j], w[(j + 1) % m], &square) &&
			    square <= margin * margin)
				near |= 1u << (TAC_FEATURE_BIT_EDGES + 4 * k + j);
		}
	}
	return near;
}

static bool same_place(tac_vec3 a, tac_vec3 b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Every feature that is examined at a triangle is examined once at its face, and no other is.
static void faces_have_the_features_of_their_triangles(void)
{
	int quadrilaterals = 0;
	for (int i = 0; i < BODIES; i++) {
		const tac_body *body = bodies[i].body;
		for (int32_t at = 0; at < bodies[i].mesh->triangle_count; at++) {
			const tac_body_face *f = &body->faces[at];
			const tac_vec3 v[4] = {f->vertex[0], f->vertex[1], f->vertex[2], f->fourth};
			const int32_t with = body->partners ? body->partners[at] : -1;
			const int n = with >= 0 ? 4 : 3;
			TEST_ASSERT_TRUE(with < 0 || body->partners[with] == at);
			quadrilaterals += with >= 0;
			unsigned vertices = 0, edges = 0;
			for (int k = 0; k < (with >= 0 ? 6 : 3); k++) {
				const tac_body_triangle *t = &body->triangles[k < 3 ? at : with];
				const tac_vec3 from = t->vertex[k % 3], to = t->vertex[(k + 1) % 3];
				for (int c = 0; c < n; c++) {
					const bool here = same_place(v[c], from);
					vertices |= (unsigned)(here && t->vertices >> k % 3 & 1) << c;
					edges |= (unsigned)(here && same_place(v[(c + 1) % n], to) &&
							    t->edges >> k % 3 & 1)
						 << c;
				}
			}
			TEST_ASSERT_EQUAL_HEX(vertices, f->vertices);
			TEST_ASSERT_EQUAL_HEX(edges, f->edges);
			TEST_ASSERT_TRUE(body->bulge <= 1e-6 * body->radius);
		}
	}
	TEST_ASSERT_GREATER_THAN(100, quadrilaterals);
}

// No feature within the margin is missed, no bound exceeds the distance, and few other features are marked.
static void near_features_are_marked(void)
{
	tac_rng rng = tac_rng_seed(5, 70);
	int64_t marked = 0, near = 0, possible = 0;
	for (int k = 0; k < PAIRS; k++) {
		fixture b = fixture_make(k);
		uint32_t *first = malloc((size_t)b.total * sizeof *first),
			 *features = malloc((size_t)b.total * sizeof *features);
		for (int round = 0; round < ROUNDS / 4; round++) {
			motion m = random_motion(&rng, b.moving, b.fixed, AT_REST);
			ref_pose T = ref_pose_at(&m.T, m.v, m.centre, m.axis, 0, 0);
			for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
				if (!tac_simd_supported((tac_simd)simd))
					continue;
				pair_list *l = simd == TAC_SIMD_SCALAR ? &b.first : &b.l;
				l->count = 0;
				for (int32_t i = 0; i < b.total - 3; i++)
					add_pair(l, i / b.fixed->mesh->triangle_count,
						 i % b.fixed->mesh->triangle_count);
				b.moving->body->simd = simd;
				tac_pairs_near_features(b.moving->body, b.fixed->body, &m.T, m.reach,
							l->pairs, l->count,
							simd == TAC_SIMD_SCALAR ? first : features);
				if (l == &b.first)
					continue;
				assert_lists_equal(&b.first, l);
				TEST_ASSERT_EQUAL_MEMORY(first, features, (size_t)l->count * sizeof *first);
			}
			for (int32_t i = 0; i < b.first.count; i++) {
				const tac_near_pair *p = &b.first.pairs[i];
				TEST_ASSERT_TRUE_MESSAGE(p->clearance <= distance_at(&b, &T, p),
							 "the bound exceeds the distance");
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
		fixture_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(ROUNDS * 5, near);
	TEST_ASSERT_GREATER_THAN(marked, 3 * near + possible / 50);
}

// Each pair of `all` is either in `kept`, in the same order and with a bound up to its distance at each of
// the poses, or further apart than `threshold` at each of them.
static void judge_kept(const fixture *b, const pair_list *all, const pair_list *kept, const ref_pose *poses,
		       int count, double threshold)
{
	int32_t at = 0;
	for (int32_t i = 0; i < all->count; i++) {
		const tac_near_pair *p = &all->pairs[i], *out = &kept->pairs[at];
		bool is_kept = at < kept->count && out->moving == p->moving && out->fixed == p->fixed;
		at += is_kept;
		for (int k = 0; k < count; k++) {
			real distance = distance_at(b, &poses[k], p);
			TEST_ASSERT_TRUE_MESSAGE(is_kept ? out->clearance <= distance : distance > threshold,
						 is_kept ? "the bound exceeds the distance"
							 : "a pair was culled that is not separated");
		}
	}
	TEST_ASSERT_EQUAL_INT32(kept->count, at);
}

// The pairs of a list, their axes, and what they cull during a motion that starts near the pose of the list.
typedef struct axes_fixture {
	fixture b; // b.first is the list
	pair_list all, out, first;
	tac_separating_axes *axes[2]; // of the scalar variant, and of another one
} axes_fixture;

static axes_fixture axes_fixture_make(int k)
{
	axes_fixture f = {.b = fixture_make(k)};
	pair_list *lists[3] = {&f.all, &f.out, &f.first};
	for (int i = 0; i < 3; i++)
		*lists[i] = pair_list_make(f.b.moving, f.b.fixed);
	for (int i = 0; i < 2; i++)
		f.axes[i] = calloc(1, sizeof *f.axes[i]);
	f.all.room = f.all.room < TAC_SWEEP_PAIRS_MAX ? f.all.room : TAC_SWEEP_PAIRS_MAX;
	return f;
}

static void axes_fixture_free(axes_fixture *f)
{
	free(f->all.pairs);
	free(f->out.pairs);
	free(f->first.pairs);
	free(f->axes[0]);
	free(f->axes[1]);
	fixture_free(&f->b);
}

// Lists the pairs at the pose and culls them with every variant; all give the same bits.
static void cull_with_every_variant(axes_fixture *f, const tac_drigid *at, double reach,
				    const tac_swept_motion *sweep, double threshold)
{
	fixture *b = &f->b;
	for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
		if (!tac_simd_supported((tac_simd)simd))
			continue;
		bool is_first = simd == TAC_SIMD_SCALAR;
		pair_list *l = is_first ? &b->first : &b->l, *o = is_first ? &f->first : &f->out;
		tac_separating_axes *axes = f->axes[!is_first];
		memcpy(l->pairs, f->all.pairs, (size_t)f->all.count * sizeof *l->pairs);
		b->moving->body->simd = simd;
		const tac_swept_motion still = tac_swept_motion_stationary(*at);
		// In two parts, as a list may be made; the scalar variant in one.
		const int32_t part = is_first ? f->all.count : f->all.count / 3;
		l->count = tac_pairs_find_axes(b->moving->body, b->fixed->body, &still, reach, l->pairs, 0,
					       part, 0, axes);
		l->count = tac_pairs_find_axes(b->moving->body, b->fixed->body, &still, reach, l->pairs, part,
					       f->all.count, l->count, axes);
		o->count = tac_pairs_cull_by_axes(b->moving->body, b->fixed->body, sweep, threshold, l->pairs,
						  axes, l->count, o->pairs);
		if (is_first)
			continue;
		assert_lists_equal(&b->first, l);
		assert_lists_equal(&f->first, o);
		const size_t bytes = (size_t)l->count * sizeof(float);
		for (int n = 0; n < 3 && bytes > 0; n++) {
			TEST_ASSERT_EQUAL_MEMORY(f->axes[0]->normal[n], axes->normal[n], bytes);
			const bool quadrilaterals = b->moving->body->partners || b->fixed->body->partners;
			for (int v = 0; v < 3 + quadrilaterals; v++)
				TEST_ASSERT_EQUAL_MEMORY(f->axes[0]->vertex[v][n], axes->vertex[v][n], bytes);
		}
		if (bytes > 0)
			TEST_ASSERT_EQUAL_MEMORY(f->axes[0]->offset, axes->offset, bytes);
	}
}

static void axes_cull_only_separated_pairs(void)
{
	tac_rng rng = tac_rng_seed(6, 70);
	int64_t kept = 0, listed = 0, must_go = 0, total = 0;
	for (int k = 0; k < PAIRS; k++) {
		axes_fixture f = axes_fixture_make(k);
		fixture *b = &f.b;
		for (int round = 0; round < ROUNDS / 2; round++) {
			motion m = random_motion(&rng, b->moving, b->fixed, round % KINDS);
			double size = b->moving->body->centre_radius + b->fixed->body->centre_radius,
			       reach = fmax(m.reach, 0.03 * size), threshold = m.reach + m.sweep.bend;
			// The list is made a little away from the start of the motion.
			double step = round % 3 ? 3e-3 : 0,
			       moved = step * (size + b->moving->body->radius) + ROUNDING * m.size;
			tac_drigid at = tac_certificate_pose(
				&m.T, tac_dvec3_scale(tac_rng_unit_f64(&rng), step * size),
				tac_dvec3_scale(tac_rng_unit_f64(&rng), step), 1);
			ref_pose there = ref_pose_at(&at, tac_dvec3_zero(), at.t, m.axis, 0, 0);
			ref_pose ends[2];
			for (int i = 0; i < 2; i++)
				ends[i] = ref_pose_at(&m.T, m.v, m.centre, m.axis, m.angle, i);
			take_some(&rng, b, &f.all);
			cull_with_every_variant(&f, &at, reach, &m.sweep, threshold);
			judge_kept(b, &f.all, &b->first, &there, 1, reach);
			judge_kept(b, &b->first, &f.first, ends, m.kind == AT_REST ? 1 : 2, threshold);
			kept += f.first.count;
			listed += b->first.count;
			total += f.all.count;
			// A query relies on this: pairs that come within reach during the motion are kept.
			fixture_find_near(b, &m, m.reach);
			for (int32_t i = 0, n = 0; i < b->first.count && m.kind != COMBINED; i++) {
				const tac_near_pair *p = &b->first.pairs[i], *o = &f.first.pairs[n];
				bool is_kept =
					n < f.first.count && o->moving == p->moving && o->fixed == p->fixed;
				n += is_kept;
				TEST_ASSERT_TRUE(is_kept || !is_near(b, p));
				// A pair that moved less than its clearance is culled.
				bool must = m.kind == AT_REST && (double)p->clearance > threshold + moved;
				must_go += must;
				TEST_ASSERT_FALSE_MESSAGE(must && is_kept, "a separated pair was kept");
			}
		}
		axes_fixture_free(&f);
	}
	TEST_ASSERT_GREATER_THAN(20 * ROUNDS, kept);
	TEST_ASSERT_GREATER_THAN(10 * ROUNDS, must_go);
	TEST_ASSERT_LESS_THAN(total / 20, listed);
}

// How far the direction separates a pair at a pose, by brute force.
static real separation_at(const fixture *b, const ref_pose *T, const tac_near_pair *p, tac_vec3 direction)
{
	ref_vec u[4], w[4];
	ref_vertices(b->moving, p->moving, T, u);
	ref_vertices(b->fixed, p->fixed, NULL, w);
	const ref_vec n = {direction.x, direction.y, direction.z};
	real least = HUGE_VALL;
	for (int i = 0; i < 16; i++)
		least = ref_min(least, ref_dot(n, ref_sub(u[i / 4], w[i % 4])));
	return least / sqrtl(ref_dot(n, n));
}

// Directions that are found for a motion separate at both ends as far as they claim, in every variant, and
// are found for nearly all pairs that are apart.
static void directions_separate_pairs_at_both_ends(void)
{
	tac_rng rng = tac_rng_seed(9, 70);
	int64_t fixed = 0, turning = 0, apart = 0, missed = 0;
	for (int k = 0; k < PAIRS; k++) {
		fixture b = fixture_make(k);
		pair_list all = pair_list_make(b.moving, b.fixed);
		tac_vec3 *directions[2];
		for (int i = 0; i < 2; i++)
			directions[i] = calloc((size_t)b.total, sizeof *directions[i]);
		for (int round = 0; round < ROUNDS; round++) {
			const motion m = random_motion(&rng, b.moving, b.fixed, round % KINDS);
			const double enough = round % 8 < 4 ? 0.1 * m.reach : 0.1 * m.size,
				     charge = round % 2 ? 0.1 * enough : 0;
			int32_t with_edges = 0;
			take_some(&rng, &b, &all);
			for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
				if (!tac_simd_supported((tac_simd)simd))
					continue;
				const bool is_first = simd == TAC_SIMD_SCALAR;
				pair_list *l = is_first ? &b.first : &b.l;
				memcpy(l->pairs, all.pairs, (size_t)all.count * sizeof *l->pairs);
				l->count = all.count;
				b.moving->body->simd = simd;
				const int32_t tried = tac_pairs_separate(
					b.moving->body, b.fixed->body, &m.sweep, enough, enough + charge,
					l->pairs, l->count, directions[!is_first]);
				if (is_first)
					with_edges = tried;
				else
					assert_lists_equal(&b.first, l);
				TEST_ASSERT_EQUAL_INT32(with_edges, tried);
				TEST_ASSERT_EQUAL_MEMORY(directions[0], directions[!is_first],
							 (size_t)all.count * sizeof **directions);
			}
			ref_pose ends[2];
			for (int i = 0; i < 2; i++)
				ends[i] = ref_pose_at(&m.T, m.v, m.centre, m.axis, m.angle, i);
			for (int32_t i = 0; i < all.count; i++) {
				const tac_near_pair *p = &b.first.pairs[i];
				const tac_vec3 n = directions[0][i];
				const bool is_fixed = tac_vec3_dot(n, n) > 0;
				real least = HUGE_VALL;
				for (int e = 0; e < 2; e++) {
					const real distance = distance_at(&b, &ends[e], p);
					least = ref_min(least, distance);
					TEST_ASSERT_TRUE(p->clearance <= 0 ||
							 (real)p->clearance <=
								 (is_fixed ? separation_at(&b, &ends[e], p, n)
									   : distance - charge));
				}
				const bool separated = (double)p->clearance > enough;
				fixed += separated && is_fixed;
				turning += separated && !is_fixed;
				const bool must = m.kind == AT_REST && least > 4 * enough;
				apart += must;
				missed += must && !separated;
			}
		}
		free(all.pairs);
		free(directions[0]);
		free(directions[1]);
		fixture_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(100 * ROUNDS, fixed);
	TEST_ASSERT_GREATER_THAN(ROUNDS, turning);
	TEST_ASSERT_LESS_THAN(apart / 100, missed);
}

// A random walk with one context: each step visits every pair that comes within the reach that the search
// returns, at the pose or on the way to it, from the list where it is complete, with any variant.
static void context_lists_all_near_pairs(void)
{
	tac_rng rng = tac_rng_seed(4, 70);
	static tac_sweep_context context; // its insides are examined
	int limited = 0, overflowed = 0, reused = 0;
	for (int k = 0; k < PAIRS; k++) {
		fixture b = fixture_make(k);
		motion m = random_motion(&rng, b.moving, b.fixed, AT_REST);
		double size = b.moving->body->centre_radius + b.fixed->body->centre_radius;
		tac_sweep_context_reset(&context);
		tac_sweep_context_bind(&context, b.moving->body, b.fixed->body);
		for (int step = 0; step < ROUNDS; step++) {
			tac_dvec3 w = tac_dvec3_scale(tac_rng_unit_f64(&rng), 2e-3 * tac_rng_f64(&rng));
			tac_dvec3 v =
				tac_dvec3_scale(tac_rng_unit_f64(&rng), 2e-3 * size * tac_rng_f64(&rng));
			double reach = size * (step % 8 == 7 ? 0.3 : 0.02), served = -1, bend = 0;
			const tac_drigid end = tac_certificate_pose(&m.T, v, w, 1);
			m.kind = step % 4 == 1 ? COMBINED : AT_REST;
			m.v = tac_dvec3_zero();
			m.angle = 0;
			if (m.kind == COMBINED) { // a motion along which the walk goes on later
				m.v = tac_dvec3_scale(v, 2);
				m.angle = 2 * tac_dvec3_length(w);
				m.axis = tac_dvec3_normalize(w);
				m.centre = m.T.t;
				bend = (m.angle * m.angle * (3 * size + tac_dvec3_length(m.T.t)) +
					2 * m.angle * tac_dvec3_length(m.v)) /
				       8;
				m.sweep = tac_swept_motion_make(
					m.T,
					tac_certificate_pose(&m.T, m.v, tac_dvec3_scale(m.axis, m.angle), 1),
					m.angle, b.moving->body->radius);
			} else {
				m.T = end;
				m.sweep = tac_swept_motion_stationary(m.T);
			}
			tac_pair_search search = {.moving = b.moving->body,
						  .fixed = b.fixed->body,
						  .sweep = &m.sweep,
						  .reach = reach,
						  .fixed_threshold = reach + bend,
						  .moving_threshold = reach + bend,
						  .visit = add_pairs,
						  .user = &b,
						  .limit = step % 3 == 2 && m.kind == AT_REST ? 40 : 0};
			b.l.count = 0;
			do
				b.moving->body->simd = (int32_t)tac_rng_below(&rng, TAC_SIMD_COUNT);
			while (!tac_simd_supported((tac_simd)b.moving->body->simd));
			reused += tac_sweep_context_covers(&context, &m.sweep, reach);
			TEST_ASSERT_TRUE(
				tac_pair_search_run(&search, step % 5 == 4 ? NULL : &context, &served));
			TEST_ASSERT_TRUE(served >= 0 && served <= reach);
			TEST_ASSERT_TRUE(search.limit > 0 || served == reach);
			if (search.limit > 0 && step % 5 != 4) {
				// A reach of 0: more pairs than the limit have no clearance.
				const bool quadrilaterals =
					b.moving->body->partners || b.fixed->body->partners;
				TEST_ASSERT_TRUE(b.l.count <= (quadrilaterals ? 160 : 40) || served == 0);
				limited += served > 0 && served < reach;
			}
			overflowed += step % 5 != 4 && !tac_sweep_context_covers(&context, &m.sweep, reach);
			fixture_find_near(&b, &m, served * (1 - 1e-12));
			assert_contains_near(&b.l, b.near, b.fixed->mesh->triangle_count, b.total);
		}
		fixture_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(ROUNDS / 16, limited);
	TEST_ASSERT_GREATER_THAN(0, overflowed);
	TEST_ASSERT_GREATER_THAN(ROUNDS, reused);
}

// Around a prism at rest a list is made in parts that serves searches a millimetre further on, whichever way.
static void a_list_is_prepared_around_a_prism_at_rest(void)
{
	static const int which[] = {ROD, PLATES, PRISM};
	tac_rng rng = tac_rng_seed(10, 70);
	static tac_sweep_context context; // its insides are examined
	int served = 0, near = 0;
	for (int round = 0; round < test_rounds(40); round++) {
		fixture b = fixture_of(&bodies[which[round % 3]], &bodies[PRISM]);
		motion m = random_motion(&rng, b.moving, b.fixed, AT_REST);
		const double reach = 1e-4;
		tac_pair_search search = {.moving = b.moving->body,
					  .fixed = b.fixed->body,
					  .sweep = &m.sweep,
					  .reach = reach,
					  .fixed_threshold = reach,
					  .moving_threshold = reach,
					  .visit = add_pairs,
					  .user = &b,
					  .limit = 4096};
		tac_sweep_context_reset(&context);
		tac_sweep_context_bind(&context, b.moving->body, b.fixed->body);
		TEST_ASSERT_TRUE(tac_pair_search_run(&search, &context, NULL));
		for (int i = 0; i < 100; i++)
			tac_sweep_context_prepare(&context, &m.T);
		m.T.t = tac_dvec3_add_scaled(m.T.t, 1e-3, tac_rng_unit_f64(&rng));
		m.sweep = tac_swept_motion_stationary(m.T);
		TEST_ASSERT_TRUE(tac_sweep_context_covers(&context, &m.sweep, reach));
		const int32_t list = context.current;
		b.l.count = 0;
		TEST_ASSERT_TRUE(tac_pair_search_run(&search, &context, NULL));
		served += context.current == list;
		fixture_find_near(&b, &m, reach);
		near += b.near_count;
		assert_contains_near(&b.l, b.near, b.fixed->mesh->triangle_count, b.total);
		fixture_free(&b);
	}
	TEST_ASSERT_EQUAL_INT(test_rounds(40), served);
	TEST_ASSERT_GREATER_THAN(10, near);
}

// Searches at a pose and works ahead, or, where it `goes_back`, judges what is found. Returns the work.
static int64_t search_at(fixture *b, tac_sweep_context *context, const tac_drigid *T, bool goes_back)
{
	const double reach = 1e-4;
	const motion m = {.T = *T, .sweep = tac_swept_motion_stationary(*T)};
	const tac_pair_search search = {.moving = b->moving->body,
					.fixed = b->fixed->body,
					.sweep = &m.sweep,
					.reach = reach,
					.fixed_threshold = reach,
					.moving_threshold = reach,
					.visit = add_pairs,
					.user = b,
					.limit = 4096};
	b->l.count = 0;
	tac_sweep_context_set_work_limit(context, 0);
	TEST_ASSERT_TRUE(tac_pair_search_run(&search, context, NULL));
	const int64_t work = tac_sweep_context_work(context);
	if (!goes_back) {
		tac_sweep_context_prepare(context, T);
		return work;
	}
	fixture_find_near(b, &m, reach);
	assert_contains_near(&b->l, b->near, b->fixed->mesh->triangle_count, b->total);
	return work;
}

// A body turns round just after a new list has been made: the list before serves it, as far as it led.
static void the_list_before_serves_a_body_that_goes_back(void)
{
	tac_rng rng = tac_rng_seed(11, 70);
	static tac_sweep_context context; // its insides are examined
	int went_back = 0;
	for (int round = 0; round < 3 + test_rounds(20); round++) {
		fixture b = fixture_of(&bodies[round % 2 ? ROD : PLATES], &bodies[PRISM]);
		tac_drigid T = random_motion(&rng, b.moving, b.fixed, AT_REST).T;
		const tac_dvec3 step = tac_dvec3_scale(tac_rng_unit_f64(&rng), 1e-4);
		tac_sweep_context_reset(&context);
		tac_sweep_context_bind(&context, b.moving->body, b.fixed->body);
		int steps = 0, lists = 0;
		while (lists < 4) {
			const int32_t before = context.current;
			search_at(&b, &context, &T, false);
			lists += context.current != before;
			if (lists == 4)
				break;
			T.t = tac_dvec3_add(T.t, step);
			steps = lists < 3 ? 0 : steps + 1; // since the last list but one
			TEST_ASSERT_LESS_THAN(1000, steps);
		}
		const int32_t last = context.current;
		const tac_drigid pose = context.lists[last].pose;
		for (; steps > 0; steps--) {
			T.t = tac_dvec3_sub(T.t, step);
			TEST_ASSERT_TRUE(search_at(&b, &context, &T, true) < context.last_list_work);
		}
		// The last list is still there.
		went_back += context.current != last;
		TEST_ASSERT_EQUAL_MEMORY(&pose, &context.lists[last].pose, sizeof pose);
		fixture_free(&b);
	}
	TEST_ASSERT_GREATER_THAN(0, went_back);
}

// The reach up to which the context claims that its list is complete at a pose, to a millionth.
static double claimed_reach(const tac_sweep_context *context, const tac_drigid *T)
{
	double lo = 0, hi = context->lists[context->current].reach;
	const tac_swept_motion still = tac_swept_motion_stationary(*T);
	for (int i = 0; i < 20; i++) {
		double middle = 0.5 * (lo + hi);
		*(tac_sweep_context_covers(context, &still, middle) ? &lo : &hi) = middle;
	}
	return lo;
}

static bool is_listed(const tac_sweep_context *context, int32_t moving, int32_t fixed)
{
	const tac_pair_list *list = &context->lists[context->current];
	for (int32_t i = 0; i < list->pair_count; i++) {
		if (list->pairs[i].moving == moving && list->pairs[i].fixed == fixed)
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

// A bar above a plate, with one end near it and the other further away, rotates about either end or moves.
// All pairs within the reach that the list claims are listed.
static void list_is_complete_up_to_the_reach_it_claims(void)
{
	static tac_sweep_context context;
	tac_rng rng = tac_rng_seed(8, 70);
	mesh_body fixed;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(4, 4, 8, 8, &fixed.mesh));
	int32_t columns = fixed.mesh->triangle_count;
	tac_body_def def = tac_body_def_default();
	def.mesh = fixed.mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &fixed.body));
	// `close` and `outside`: pairs almost within reach but not listed, in the near box and outside of it.
	int claims = 0, close = 0, outside = 0;
	for (int round = 0; round < test_rounds(3000); round++) {
		double needed = 0.01, reach = 0.04; // `reach`: that of the list
		mesh_body bar = {two_triangles(&rng, reach * tac_rng_range_f64(&rng, 0, 1.5),
					       reach * tac_rng_range_f64(&rng, round % 2 ? 4 : 0.5, 4.5)),
				 NULL};
		def.mesh = bar.mesh;
		TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &bar.body));
		tac_drigid at = {tac_dmat3_identity(), tac_dvec3_zero()};
		tac_swept_motion pose = tac_swept_motion_stationary(at);
		if (round % 5 == 0) { // the list is made along a way
			const tac_dvec3 v = tac_dvec3_make(0.02 * tac_rng_f64(&rng), 0, 0);
			pose = tac_swept_motion_make(at, tac_sweep_translated(&at, v, 1), 0, 0);
		}
		fixture b = fixture_of(&bar, &fixed);
		tac_pair_search search = {.moving = bar.body,
					  .fixed = fixed.body,
					  .sweep = &pose,
					  .reach = needed,
					  .fixed_threshold = needed,
					  .moving_threshold = needed,
					  .visit = add_pairs,
					  .user = &b};
		tac_sweep_context_reset(&context);
		tac_sweep_context_bind(&context, bar.body, fixed.body);
		TEST_ASSERT_TRUE(tac_pair_search_run(&search, &context, NULL));
		// About an end of the bar, or about a random axis.
		tac_dvec3 centre = tac_dvec3_make(round % 3, 0, 0),
			  axis = tac_dvec3_make(0, round % 8 < 6 ? 1 : -1, 0);
		if (round % 4 == 0)
			axis = tac_rng_unit_f64(&rng);
		const tac_pair_list *list = &context.lists[context.current];
		double far = list->far_reach - list->reach, angle = 1.2 * far * tac_rng_f64(&rng);
		tac_drigid T = tac_sweep_rotated(&at, centre, axis, angle, 1);
		T.t = tac_dvec3_add_scaled(T.t, (round % 2 ? 0.1 : 0.7) * list->reach * tac_rng_f64(&rng),
					   tac_rng_unit_f64(&rng));
		double served = claimed_reach(&context, &T);
		claims += served > 0;
		ref_pose P = ref_pose_at(&T, tac_dvec3_zero(), centre, axis, 0, 0);
		for (int i = 0; i < 2 * columns && served > 0; i++) {
			ref_triangle a = ref_load(bar.mesh, bar.body->triangles[i / columns].id, &P),
				     c = ref_load(fixed.mesh, fixed.body->triangles[i % columns].id, NULL);
			real square = ref_triangles(a.v, c.v), distance = square > 0 ? sqrtl(square) : 0;
			bool listed = is_listed(&context, i / columns, i % columns);
			TEST_ASSERT_TRUE_MESSAGE(listed || distance >= served, "a pair is not listed");
			bool is_close = !listed && distance < 1.3 * served;
			bool is_outside =
				(double)bar.body->triangles[i / columns].vertex[0].x > list->near_hi.x;
			close += is_close && !is_outside;
			outside += is_close && is_outside;
		}
		fixture_free(&b);
		tac_body_destroy(&bar.body);
		tac_mesh_destroy(&bar.mesh);
	}
	tac_body_destroy(&fixed.body);
	tac_mesh_destroy(&fixed.mesh);
	TEST_ASSERT_GREATER_THAN(test_rounds(500), claims);
	TEST_ASSERT_GREATER_THAN(test_rounds(100), close);
	TEST_ASSERT_GREATER_THAN(test_rounds(20), outside);
}

int main(void)
{
	UNITY_BEGIN();
	make_bodies();
	RUN_TEST(descents_find_all_near_pairs);
	RUN_TEST(descents_of_large_bodies_find_all_near_pairs);
	RUN_TEST(descents_find_a_pair_that_just_comes_within_reach);
	RUN_TEST(a_peg_in_its_hole_is_near_nothing_within_its_play);
	RUN_TEST(near_box_contains_every_near_triangle);
	RUN_TEST(planes_cull_only_separated_pairs);
	RUN_TEST(faces_have_the_features_of_their_triangles);
	RUN_TEST(near_features_are_marked);
	RUN_TEST(axes_cull_only_separated_pairs);
	RUN_TEST(directions_separate_pairs_at_both_ends);
	RUN_TEST(context_lists_all_near_pairs);
	RUN_TEST(a_list_is_prepared_around_a_prism_at_rest);
	RUN_TEST(the_list_before_serves_a_body_that_goes_back);
	RUN_TEST(list_is_complete_up_to_the_reach_it_claims);
	for (int i = 0; i < BODIES; i++)
		mesh_body_free(&bodies[i]);
	return UNITY_END();
}
