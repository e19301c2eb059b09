#include "collision/certificate.h"

#include "base/rng.h"
#include "collision/contacts.h"
#include "collision/continuous/sweep_context.h"
#include "collision/mesh_shapes.h"
#include "tests/support/limits.h"
#include "tests/support/sweep_referee.h"
#include "tests/support/sweep_shapes.h"

#include <stdio.h>
#include <string.h>
#include <unity.h>

enum { BOX, BALL, TORUS, SHEET, PEG, BLOCK, FINE_SHEET, BODY_COUNT };
static mesh_body bodies[BODY_COUNT];

void setUp(void)
{
}

void tearDown(void)
{
}

static void make_bodies(void)
{
	tac_mesh_peg_def peg = tac_mesh_peg_def_default();
	peg.segments = 8;
	peg.clearance = 50e-6f;
	tac_mesh *meshes[BODY_COUNT];
	tac_mesh_build_box(tac_vec3_make(0.03f, 0.02f, 0.01f), 1, &meshes[BOX]);
	tac_mesh_build_icosphere(0.02f, 1, &meshes[BALL]);
	tac_mesh_build_torus(0.03f, 0.01f, 8, 6, &meshes[TORUS]);
	tac_mesh_build_grid(0.05f, 0.05f, 2, 2, &meshes[SHEET]);
	tac_mesh_build_grid(0.05f, 0.05f, 16, 16, &meshes[FINE_SHEET]);
	tac_mesh_build_peg(&peg, &meshes[PEG]);
	tac_mesh_build_block(&peg, &meshes[BLOCK]);
	for (int i = 0; i < BODY_COUNT; i++)
		bodies[i] = mesh_body_make(meshes[i], false);
}

static const int pairs[][2] = {{BOX, TORUS}, {BALL, BOX},  {BOX, BOX},   {BOX, SHEET},
			       {SHEET, BOX}, {PEG, BLOCK}, {TORUS, BALL}};
#define PAIR_COUNT ((int)(sizeof pairs / sizeof pairs[0]))

// A pose at the distance `gap`: a translation into the other body, stopped there.
static tac_drigid near_contact(tac_rng *rng, const mesh_body *moving, const mesh_body *fixed, double gap)
{
	for (;;) {
		bool in_hole = moving == &bodies[PEG];
		tac_dvec3 p = tac_dvec3_scale(tac_rng_unit_f64(rng), 0.12);
		tac_dquat q = tac_rng_rotation_f64(rng);
		if (in_hole) {
			p = tac_dvec3_make(0, 0, tac_rng_range_f64(rng, 0, 0.01));
			q = tac_dquat_identity();
		}
		tac_drigid T = tac_drigid_from_pose(tac_dpose_make(p, q));
		tac_sweep_options options = tac_sweep_options_default();
		options.zone = gap;
		tac_dvec3 v =
			in_hole ? tac_dvec3_scale(tac_rng_unit_f64(rng), 1e-3) : tac_dvec3_scale(p, -1.2);
		tac_sweep_result r = tac_sweep_translate(moving->body, fixed->body, &T, v, &options, NULL);
		if (r.fraction < 1 && !(r.flags & TAC_SWEEP_START_HIT))
			return tac_sweep_translated(&T, v, r.fraction);
	}
}

// The same motion in long double.
static ref_pose motion_at(const tac_drigid *T, tac_dvec3 v, tac_dvec3 w, double s)
{
	return ref_pose_at(T, v, T->t, w, tac_dvec3_length(w), s);
}

// What the certificates of random motions came to.
typedef struct tally {
	int whole, cut;        // proved completely, in part
	int judged;            // by a search for the free part of the motion
	int needless, refused; // of these: free but not proved completely, not proved at all
	int shorter;           // proved parts that end well before the contact
	int differ;            // results that depend on the context
	double least;          // distance of the samples, m
} tally;

static tac_sweep_context *contexts[PAIR_COUNT]; // one for each pair of bodies
// A copy of one of them without planes: with its insides, because it must have the same list.
static tac_sweep_context without_planes;

// A proof that ends early names a pair that the motion can bring together, and no other does.
static void expect_named(const mesh_body *moving, const mesh_body *fixed, const tac_drigid *T, tac_dvec3 v,
			 tac_dvec3 w, const tac_certificate *c)
{
	TEST_ASSERT_TRUE((c->fraction < 1) == (c->moving_triangle >= 0) &&
			 (c->fraction < 1) == (c->fixed_triangle >= 0));
	if (c->fraction == 1)
		return;
	tac_dvec3 a[3], b[3];
	for (int k = 0; k < 3; k++) {
		a[k] = tac_drigid_apply_point(T, tac_mesh_corner(moving->mesh, c->moving_triangle, k));
		b[k] = tac_mesh_corner(fixed->mesh, c->fixed_triangle, k);
	}
	const double travel = tac_dvec3_length(v) + tac_dvec3_length(w) * tac_body_radius(moving->body);
	TEST_ASSERT_TRUE(tac_closest_of_triangles(a, b).distance <=
			 tac_certificate_options_default().threshold + travel);
}

// Checks a motion with its context. Without planes, the result must not depend on the context, and planes
// must only add to it. Which pairs are proved together does, and so in rare cases does the result: *differ.
static tac_certificate check_motion(const mesh_body *moving, const mesh_body *fixed, const tac_drigid *T,
				    tac_dvec3 v, tac_dvec3 w, tac_sweep_context *context, int *differ)
{
	tac_certificate_options options = tac_certificate_options_default();
	tac_certificate c = tac_certificate_check(moving->body, fixed->body, T, v, w, &options, context);
	TEST_ASSERT_TRUE(c.fraction >= 0 && c.fraction <= 1);
	tac_certificate alone = tac_certificate_check(moving->body, fixed->body, T, v, w, &options, NULL);
	memcpy(&without_planes, context, sizeof without_planes);
	memset(without_planes.planes, 0, sizeof without_planes.planes);
	tac_certificate listed =
		tac_certificate_check(moving->body, fixed->body, T, v, w, &options, &without_planes);
	*differ += alone.fraction != listed.fraction || c.fraction < alone.fraction;
	expect_named(moving, fixed, T, v, w, &alone);
	expect_named(moving, fixed, T, v, w, &listed);
	return c;
}

// How much of a motion that was not proved is free, in steps of 1/32.
static void judge_unproved(const mesh_body *moving, const mesh_body *fixed, const tac_drigid *T, tac_dvec3 v,
			   tac_dvec3 w, double fraction, tally *sum)
{
	double free_part = 0;
	for (int k = 0; k <= 32 && fraction < 1; k++) {
		ref_pose P = motion_at(T, v, w, k / 32.0);
		if (ref_distance(moving->mesh, fixed->mesh, &P, 1e-5) <= 1e-6)
			break;
		free_part = k / 32.0;
	}
	sum->judged++;
	sum->refused += free_part == 1 && fraction == 0;
	sum->needless += free_part == 1;
	// The bisection ends at 1/32: a proof that ends by more than twice that too early has another cause.
	sum->shorter += free_part < 1 && fraction < free_part - 1.0 / 16;
}

// The least distance of the bodies at random places of the proved part of a motion, one in each of `samples`
// intervals: no fixed pattern to slip through.
static double least_distance(tac_rng *rng, const mesh_body *moving, const mesh_body *fixed,
			     const tac_drigid *T, tac_dvec3 v, tac_dvec3 w, double fraction, int samples)
{
	double least = 1;
	for (int k = 1; k <= samples && fraction > 0; k++) {
		const double s = (k - (k < samples ? tac_rng_f64(rng) : 0)) / samples;
		const ref_pose P = motion_at(T, v, w, fraction * s);
		least = fmin(least, ref_distance(moving->mesh, fixed->mesh, &P, 1e-6));
	}
	return least;
}

// No sample of a proved part comes too close, and most of what could be proved is. By hand:
// TACTUS_MOTIONS=1000000 TACTUS_SEED=1.
static void no_certified_prefix_intersects(void)
{
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 20), 1);
	const double threshold = tac_certificate_options_default().threshold;
	const int count = from_environment("TACTUS_MOTIONS", test_rounds(2800)),
		  samples = count > 100000 ? 4 : 8;
	tally sum = {.least = 1};
	tac_drigid last[PAIR_COUNT];
	for (int n = 0; n < count; n++) {
		const int *which = pairs[n % PAIR_COUNT];
		const mesh_body *moving = &bodies[which[0]], *fixed = &bodies[which[1]];
		double gap = 1e-6 * pow(10, tac_rng_range_f64(&rng, 0, 2.5));
		// Three of four continue where the last motion ended: there the context has its pairs and
		// planes.
		tac_drigid T =
			n / PAIR_COUNT % 4 ? last[n % PAIR_COUNT] : near_contact(&rng, moving, fixed, gap);
		tac_dvec3 v = tac_dvec3_scale(tac_rng_unit_f64(&rng), 2e-3 * tac_rng_f64(&rng));
		tac_dvec3 w = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.05 * tac_rng_f64(&rng));
		if (n % 3 == 0) { // about as long as the gap: many of these are free
			v = tac_dvec3_scale(v, gap / 1e-3);
			w = tac_dvec3_scale(w, gap / 1e-3);
		}
		tac_certificate c =
			check_motion(moving, fixed, &T, v, w, contexts[n % PAIR_COUNT], &sum.differ);
		last[n % PAIR_COUNT] = tac_certificate_pose(&T, v, w, c.fraction);
		sum.whole += c.fraction == 1;
		sum.cut += c.fraction < 1;
		const double least = least_distance(&rng, moving, fixed, &T, v, w, c.fraction, samples);
		sum.least = fmin(sum.least, least);
		TEST_ASSERT_TRUE_MESSAGE(least >= threshold * 0.999, "a proved part comes too close");
		if (n % 4 == 0)
			judge_unproved(moving, fixed, &T, v, w, c.fraction, &sum);
	}
	char text[240];
	snprintf(text, sizeof text,
		 "%d motions: %d proved completely, %d in part, least distance %.6g m; of %d judged, "
		 "%d free ones cut (%d refused), %d prefixes needlessly short; %d depend on the context",
		 count, sum.whole, sum.cut, sum.least, sum.judged, sum.needless, sum.refused, sum.shorter,
		 sum.differ);
	TEST_MESSAGE(text);
	TEST_ASSERT_GREATER_THAN(count / 10, sum.whole);
	TEST_ASSERT_GREATER_THAN(count / 10, sum.cut);
	TEST_ASSERT_LESS_THAN(count > 200 ? count / 200 : 1, sum.needless);
	TEST_ASSERT_LESS_OR_EQUAL(count / 50000, sum.differ);
}

static void slide_along_a_face_is_proved_completely(void)
{
	tac_certificate_options options = tac_certificate_options_default();
	// The box lies 1 µm above the sheet, slides and rotates about the normal.
	tac_drigid T = tac_drigid_from_pose(
		tac_dpose_make(tac_dvec3_make(0, 0, (double)0.01f / 2 + 1e-6), tac_dquat_identity()));
	tac_certificate c =
		tac_certificate_check(bodies[BOX].body, bodies[SHEET].body, &T, tac_dvec3_make(2e-3, 1e-3, 0),
				      tac_dvec3_make(0, 0, 0.03), &options, NULL);
	TEST_ASSERT_TRUE(c.fraction == 1);
	TEST_ASSERT_EQUAL_INT(-1, c.moving_triangle);
	// 2 µm down is through it.
	c = tac_certificate_check(bodies[BOX].body, bodies[SHEET].body, &T, tac_dvec3_make(0, 0, -2e-6),
				  tac_dvec3_zero(), &options, NULL);
	TEST_ASSERT_TRUE(c.fraction > 0.3 && c.fraction < 0.5);
	TEST_ASSERT_TRUE(c.moving_triangle >= 0 && c.fixed_triangle >= 0);
}

static void start_that_touches_proves_nothing(void)
{
	tac_certificate_options options = tac_certificate_options_default();
	tac_drigid T = tac_drigid_from_pose(tac_dpose_identity());
	tac_certificate c = tac_certificate_check(bodies[BOX].body, bodies[SHEET].body, &T, tac_dvec3_zero(),
						  tac_dvec3_zero(), &options, NULL);
	TEST_ASSERT_TRUE(c.fraction == 0);
	TEST_ASSERT_TRUE(c.flags & TAC_SWEEP_STOPPED);
}

static void invalid_motions_and_a_spent_budget_prove_nothing(void)
{
	tac_certificate_options options = tac_certificate_options_default();
	tac_drigid T =
		tac_drigid_from_pose(tac_dpose_make(tac_dvec3_make(0, 0, 0.006), tac_dquat_identity()));
	tac_dvec3 zero = tac_dvec3_zero(), nan = tac_dvec3_make(0, (double)NAN, 0);
	tac_body *a = bodies[BOX].body, *b = bodies[SHEET].body;
	TEST_ASSERT_TRUE(tac_certificate_check(a, b, &T, nan, zero, &options, NULL).flags &
			 TAC_SWEEP_REFUSED);
	TEST_ASSERT_TRUE(tac_certificate_check(a, b, &T, zero, nan, &options, NULL).flags &
			 TAC_SWEEP_REFUSED);
	TEST_ASSERT_TRUE(
		tac_certificate_check(a, b, &T, zero, tac_dvec3_make(2, 0, 0), &options, NULL).fraction == 0);
	// Poses that are not rigid, and one so far away that the threshold is below rounding.
	tac_drigid bad[3] = {T, T, T};
	bad[0].R.m[1][1] = 1.01;
	bad[1].R.m[0][2] = (double)NAN;
	bad[2].t.x = 1e8;
	for (int i = 0; i < 3; i++) {
		tac_certificate c = tac_certificate_check(a, b, &bad[i], zero, zero, &options, NULL);
		TEST_ASSERT_TRUE(c.fraction == 0 && (c.flags & TAC_SWEEP_REFUSED));
	}
	options.pair_limit = 1;
	tac_certificate c =
		tac_certificate_check(a, b, &T, tac_dvec3_make(0, 0, -1e-3), zero, &options, NULL);
	TEST_ASSERT_TRUE(c.fraction == 0 && (c.flags & TAC_SWEEP_BUDGET_SPENT));
}

// One sheet lands on another, slightly tilted: many pairs are left for the proof. Wherever its work ends, it
// proves no more than without a limit, and what it proves is free. Where the work ends, no pair is named.
static void work_that_ends_anywhere_proves_no_more(void)
{
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 4), 1);
	const tac_certificate_options options = tac_certificate_options_default();
	const tac_body *sheet = bodies[FINE_SHEET].body;
	tac_sweep_context *context = contexts[0], *limited = &without_planes;
	int spent = 0;
	for (int n = 0; n < test_rounds(40); n++) {
		const double tilt = 1e-4 * pow(10, tac_rng_range_f64(&rng, 0, 2));
		const tac_dquat q = tac_dquat_exp(tac_dvec3_scale(tac_rng_unit_f64(&rng), tilt));
		const double x = 1e-3 * tac_rng_f64(&rng), y = 1e-3 * tac_rng_f64(&rng),
			     z = 0.03 * tilt + 2e-5 * tac_rng_f64(&rng);
		const tac_drigid T = tac_drigid_from_pose(tac_dpose_make(tac_dvec3_make(x, y, z), q));
		const tac_dvec3 v = tac_dvec3_add(tac_dvec3_scale(tac_rng_unit_f64(&rng), 1e-3),
						  tac_dvec3_make(0, 0, -1e-3));
		const tac_dvec3 w = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.02 * tac_rng_f64(&rng));
		tac_sweep_context_reset(context);
		tac_certificate_check(sheet, sheet, &T, v, w, &options, context); // makes the list
		memset(context->planes, 0, sizeof context->planes);
		tac_sweep_context_set_work_limit(context, 0);
		memcpy(limited, context, sizeof *limited);
		const tac_certificate all = tac_certificate_check(sheet, sheet, &T, v, w, &options, limited);
		const int64_t work = tac_sweep_context_work(limited);
		for (int64_t limit = 1; limit <= work; limit += 1 + work / 200) {
			memcpy(limited, context, sizeof *limited);
			tac_sweep_context_set_work_limit(limited, limit);
			const tac_certificate c =
				tac_certificate_check(sheet, sheet, &T, v, w, &options, limited);
			const bool is_spent = (c.flags & TAC_SWEEP_BUDGET_SPENT) != 0;
			TEST_ASSERT_TRUE(is_spent ? c.fraction <= all.fraction : c.fraction == all.fraction);
			TEST_ASSERT_TRUE(is_spent ? c.moving_triangle < 0
						  : tac_sweep_context_work(limited) <= limit);
			spent += is_spent;
			if (is_spent && c.fraction > 0) {
				const double least =
					least_distance(&rng, &bodies[FINE_SHEET], &bodies[FINE_SHEET], &T, v,
						       w, c.fraction, 4);
				TEST_ASSERT_TRUE(least >= options.threshold * 0.999);
			}
		}
	}
	TEST_ASSERT_GREATER_THAN(0, spent);
}

// A tool goes on and on with less work than its lists take: what is proved with the lists that it has is
// free, and such parts are found.
static void parts_that_an_old_list_covers_are_free(void)
{
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 5), 1);
	const tac_certificate_options options = tac_certificate_options_default();
	const int rounds = test_rounds(140);
	int parts = 0;
	for (int n = 0; n < rounds; n++) {
		const int *which = pairs[n % PAIR_COUNT];
		const mesh_body *moving = &bodies[which[0]], *fixed = &bodies[which[1]];
		tac_sweep_context *context = contexts[n % PAIR_COUNT];
		tac_drigid T = near_contact(&rng, moving, fixed, 3e-5);
		const tac_dvec3 v = tac_dvec3_scale(tac_rng_unit_f64(&rng), 3e-4),
				w = tac_dvec3_scale(tac_rng_unit_f64(&rng), 5e-3);
		tac_sweep_context_set_work_limit(context, 0);
		tac_sweep_context_reset(context);
		static tac_contacts near;
		tac_contacts_query(moving->body, fixed->body, &T, 2e-4, context,
				   &near); // lists reach further
		for (int k = 0; k < 30; k++) {
			const tac_dvec3 aside = tac_dvec3_scale(tac_rng_unit_f64(&rng), 1e-4);
			const tac_certificate c = tac_certificate_check(
				moving->body, fixed->body, &T, tac_dvec3_add(v, aside), w, &options, context);
			const double least = least_distance(&rng, moving, fixed, &T, tac_dvec3_add(v, aside),
							    w, c.fraction, 4);
			TEST_ASSERT_TRUE_MESSAGE(least >= options.threshold * 0.999,
						 "a part comes too close");
			parts +=
				c.fraction > 0 && c.moving_triangle < 0 && (c.flags & TAC_SWEEP_BUDGET_SPENT);
			T = tac_certificate_pose(&T, tac_dvec3_add(v, aside), w, c.fraction);
			tac_sweep_context_set_work_limit(context, 20 + (int64_t)(tac_rng_f64(&rng) * 200));
		}
		tac_sweep_context_set_work_limit(context, 0);
	}
	char text[80];
	snprintf(text, sizeof text, "%d parts", parts);
	TEST_MESSAGE(text);
	TEST_ASSERT_GREATER_THAN(rounds / 4, parts);
}

int main(void)
{
	UNITY_BEGIN();
	make_bodies();
	for (int i = 0; i < PAIR_COUNT; i++)
		TEST_ASSERT_EQUAL(TAC_OK, tac_sweep_context_create(&contexts[i]));
	RUN_TEST(no_certified_prefix_intersects);
	RUN_TEST(slide_along_a_face_is_proved_completely);
	RUN_TEST(start_that_touches_proves_nothing);
	RUN_TEST(invalid_motions_and_a_spent_budget_prove_nothing);
	RUN_TEST(work_that_ends_anywhere_proves_no_more);
	RUN_TEST(parts_that_an_old_list_covers_are_free);
	for (int i = 0; i < PAIR_COUNT; i++)
		tac_sweep_context_destroy(&contexts[i]);
	for (int i = 0; i < BODY_COUNT; i++)
		mesh_body_free(&bodies[i]);
	return UNITY_END();
}
