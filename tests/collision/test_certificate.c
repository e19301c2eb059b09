#include "collision/certificate.h"

#include "base/rng.h"
#include "collision/mesh_shapes.h"
#include "tests/ccd_referee.h"

#include <stdio.h>
#include <string.h>
#include <unity.h>

typedef struct thing {
	tac_mesh *mesh;
	tac_ccd_body *body;
} thing;

enum { BOX, BALL, TORUS, SHEET, PEG, BLOCK, THING_COUNT };
static thing things[THING_COUNT];

void setUp(void)
{
}

void tearDown(void)
{
}

static void make_things(void)
{
	tac_mesh_peg_def peg = tac_mesh_peg_def_default();
	peg.segments = 8;
	peg.clearance = 50e-6f;
	tac_mesh_build_box(tac_vec3_make(0.03f, 0.02f, 0.01f), 1, &things[BOX].mesh);
	tac_mesh_build_icosphere(0.02f, 1, &things[BALL].mesh);
	tac_mesh_build_torus(0.03f, 0.01f, 8, 6, &things[TORUS].mesh);
	tac_mesh_build_grid(0.05f, 0.05f, 2, 2, &things[SHEET].mesh);
	tac_mesh_build_peg(&peg, &things[PEG].mesh);
	tac_mesh_build_block(&peg, &things[BLOCK].mesh);
	for (int i = 0; i < THING_COUNT; i++) {
		tac_ccd_body_def def = tac_ccd_body_def_default();
		def.mesh = things[i].mesh;
		TEST_ASSERT_EQUAL(TAC_OK, tac_ccd_body_build(&def, &things[i].body));
	}
}

static const int pairs[][2] = {{BOX, TORUS}, {BALL, BOX},  {BOX, BOX},   {BOX, SHEET},
			       {SHEET, BOX}, {PEG, BLOCK}, {TORUS, BALL}};
#define PAIR_COUNT ((int)(sizeof pairs / sizeof pairs[0]))

// A pose at a distance of `gap`: a flight into the other body, stopped there.
static tac_ccd_pose near_contact(tac_rng *rng, const thing *moving, const thing *fixed, double gap)
{
	for (;;) {
		bool in_hole = moving == &things[PEG];
		tac_dvec3 p = tac_dvec3_scale(tac_rng_unit_f64(rng), 0.12);
		tac_dquat q = tac_rng_rotation_f64(rng);
		if (in_hole) {
			p = tac_dvec3_make(0, 0, tac_rng_range_f64(rng, 0, 0.01));
			q = tac_dquat_identity();
		}
		tac_ccd_pose T = tac_ccd_pose_from_dpose(tac_dpose_make(p, q));
		tac_ccd_options options = tac_ccd_options_default();
		options.zone = gap;
		tac_dvec3 v =
			in_hole ? tac_dvec3_scale(tac_rng_unit_f64(rng), 1e-3) : tac_dvec3_scale(p, -1.2);
		tac_ccd_result r = tac_ccd_translate(moving->body, fixed->body, &T, v, &options, NULL);
		if (r.fraction < 1 && !(r.flags & TAC_CCD_START_HIT))
			return tac_ccd_translated(&T, v, r.fraction);
	}
}

// The same motion in long double.
static ref_pose motion_at(const tac_ccd_pose *T, tac_dvec3 v, tac_dvec3 w, double s)
{
	return ref_pose_at(T, v, T->t, w, tac_dvec3_length(w), s);
}

// By hand: TACTUS_MOTIONS=1000000 TACTUS_SEED=1.
static int from_environment(const char *name, int otherwise)
{
	const char *text = getenv(name);
	return text ? atoi(text) : otherwise;
}

// No sample of a proved part intersects, whatever the motion; what could have been proved mostly is.
static void no_certified_prefix_intersects(void)
{
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 20), 1);
	tac_certificate_options options = tac_certificate_options_default();
	static tac_ccd_context contexts[PAIR_COUNT], fresh; // 170 KB each
	int count = from_environment("TACTUS_MOTIONS", 2800), proved = 0, cut = 0;
	int judged = 0, refused = 0, needless = 0, shorter = 0;
	double least = 1;
	tac_ccd_pose last[PAIR_COUNT];
	for (int n = 0; n < count; n++) {
		const int *which = pairs[n % PAIR_COUNT];
		const thing *moving = &things[which[0]], *fixed = &things[which[1]];
		double gap = 1e-6 * pow(10, tac_rng_range_f64(&rng, 0, 2.5));
		// Often on from where the last motion ended: there the context has its pairs and planes.
		tac_ccd_pose T =
			n / PAIR_COUNT % 4 ? last[n % PAIR_COUNT] : near_contact(&rng, moving, fixed, gap);
		tac_dvec3 v = tac_dvec3_scale(tac_rng_unit_f64(&rng), 2e-3 * tac_rng_f64(&rng));
		tac_dvec3 w = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.05 * tac_rng_f64(&rng));
		if (n % 3 == 0) { // about as long as the gap: many of these are free
			v = tac_dvec3_scale(v, gap / 1e-3);
			w = tac_dvec3_scale(w, gap / 1e-3);
		}
		tac_ccd_context *context = &contexts[n % PAIR_COUNT];
		tac_certificate c =
			tac_certificate_check(moving->body, fixed->body, &T, v, w, &options, context);
		TEST_ASSERT_TRUE(c.fraction >= 0 && c.fraction <= 1);
		// Without planes nothing depends on the context.
		tac_certificate alone =
			tac_certificate_check(moving->body, fixed->body, &T, v, w, &options, NULL);
		memcpy(&fresh, context, sizeof fresh);
		memset(fresh.planes, 0, sizeof fresh.planes);
		tac_certificate listed =
			tac_certificate_check(moving->body, fixed->body, &T, v, w, &options, &fresh);
		TEST_ASSERT_TRUE(alone.fraction == listed.fraction &&
				 alone.moving_triangle == listed.moving_triangle &&
				 alone.fixed_triangle == listed.fixed_triangle);
		TEST_ASSERT_TRUE(c.fraction >= alone.fraction);
		last[n % PAIR_COUNT] = tac_certificate_pose(&T, v, w, c.fraction);
		proved += c.fraction == 1;
		cut += c.fraction < 1;
		int samples = count > 100000 ? 4 : 8;
		for (int k = 1; k <= samples && c.fraction > 0; k++) {
			// Somewhere in each part: no fixed pattern to slip through.
			double s = (k - (k < samples ? tac_rng_f64(&rng) : 0)) / samples;
			ref_pose P = motion_at(&T, v, w, c.fraction * s);
			double d = ref_distance(moving->mesh, fixed->mesh, &P, 1e-6);
			least = fmin(least, d);
			TEST_ASSERT_TRUE_MESSAGE(d >= options.threshold * 0.999,
						 "a proved part comes too close");
		}
		if (n % 4)
			continue;
		judged++;
		double free_way = 0;
		for (int k = 0; k <= 32 && c.fraction < 1; k++) {
			ref_pose P = motion_at(&T, v, w, k / 32.0);
			if (ref_distance(moving->mesh, fixed->mesh, &P, 1e-5) <= 1e-6)
				break;
			free_way = k / 32.0;
		}
		refused += free_way == 1 && c.fraction == 0;
		needless += free_way == 1;
		// The bisection ends at 1/32: what lacks more than twice that was not lost to it.
		shorter += free_way < 1 && c.fraction < free_way - 1.0 / 16;
	}
	char text[240];
	snprintf(text, sizeof text,
		 "%d motions: %d proved whole, %d in part, least distance seen %.6g m; of %d judged, whole "
		 "ones cut needlessly %d (refused at once %d), prefixes needlessly short %d",
		 count, proved, cut, least, judged, needless, refused, shorter);
	TEST_MESSAGE(text);
	TEST_ASSERT_GREATER_THAN(count / 10, proved);
	TEST_ASSERT_GREATER_THAN(count / 10, cut);
	TEST_ASSERT_LESS_THAN(count / 200, needless);
}

static void proof_of_a_slide_along_a_face_is_whole(void)
{
	tac_certificate_options options = tac_certificate_options_default();
	// The box lies 1 µm over the sheet and slides, and turns about the normal.
	tac_ccd_pose T = tac_ccd_pose_from_dpose(
		tac_dpose_make(tac_dvec3_make(0, 0, (double)0.01f / 2 + 1e-6), tac_dquat_identity()));
	tac_certificate c =
		tac_certificate_check(things[BOX].body, things[SHEET].body, &T, tac_dvec3_make(2e-3, 1e-3, 0),
				      tac_dvec3_make(0, 0, 0.03), &options, NULL);
	TEST_ASSERT_TRUE(c.fraction == 1);
	TEST_ASSERT_EQUAL_INT(-1, c.moving_triangle);
	// 2 µm down is through it.
	c = tac_certificate_check(things[BOX].body, things[SHEET].body, &T, tac_dvec3_make(0, 0, -2e-6),
				  tac_dvec3_zero(), &options, NULL);
	TEST_ASSERT_TRUE(c.fraction > 0.3 && c.fraction < 0.5);
	TEST_ASSERT_TRUE(c.moving_triangle >= 0 && c.fixed_triangle >= 0);
}

static void start_that_touches_proves_nothing(void)
{
	tac_certificate_options options = tac_certificate_options_default();
	tac_ccd_pose T = tac_ccd_pose_from_dpose(tac_dpose_identity());
	tac_certificate c = tac_certificate_check(things[BOX].body, things[SHEET].body, &T, tac_dvec3_zero(),
						  tac_dvec3_zero(), &options, NULL);
	TEST_ASSERT_TRUE(c.fraction == 0);
	TEST_ASSERT_TRUE(c.flags & TAC_CCD_STOPPED);
}

static void nonsense_and_a_spent_budget_prove_nothing(void)
{
	tac_certificate_options options = tac_certificate_options_default();
	tac_ccd_pose T =
		tac_ccd_pose_from_dpose(tac_dpose_make(tac_dvec3_make(0, 0, 0.006), tac_dquat_identity()));
	tac_dvec3 zero = tac_dvec3_zero(), nan = tac_dvec3_make(0, (double)NAN, 0);
	tac_ccd_body *a = things[BOX].body, *b = things[SHEET].body;
	TEST_ASSERT_TRUE(tac_certificate_check(a, b, &T, nan, zero, &options, NULL).flags & TAC_CCD_REFUSED);
	TEST_ASSERT_TRUE(tac_certificate_check(a, b, &T, zero, nan, &options, NULL).flags & TAC_CCD_REFUSED);
	TEST_ASSERT_TRUE(
		tac_certificate_check(a, b, &T, zero, tac_dvec3_make(2, 0, 0), &options, NULL).fraction == 0);
	// A pose that is no rotation, or so far away that the threshold is lost in rounding.
	tac_ccd_pose bad[3] = {T, T, T};
	bad[0].R.m[1][1] = 1.01;
	bad[1].R.m[0][2] = (double)NAN;
	bad[2].t.x = 1e8;
	for (int i = 0; i < 3; i++) {
		tac_certificate c = tac_certificate_check(a, b, &bad[i], zero, zero, &options, NULL);
		TEST_ASSERT_TRUE(c.fraction == 0 && (c.flags & TAC_CCD_REFUSED));
	}
	options.pair_limit = 1;
	tac_certificate c =
		tac_certificate_check(a, b, &T, tac_dvec3_make(0, 0, -1e-3), zero, &options, NULL);
	TEST_ASSERT_TRUE(c.fraction == 0 && (c.flags & TAC_CCD_BUDGET_SPENT));
}

int main(void)
{
	UNITY_BEGIN();
	make_things();
	RUN_TEST(no_certified_prefix_intersects);
	RUN_TEST(proof_of_a_slide_along_a_face_is_whole);
	RUN_TEST(start_that_touches_proves_nothing);
	RUN_TEST(nonsense_and_a_spent_budget_prove_nothing);
	for (int i = 0; i < THING_COUNT; i++) {
		tac_ccd_body_destroy(&things[i].body);
		tac_mesh_destroy(&things[i].mesh);
	}
	return UNITY_END();
}
