// The drill with the mover on a block: feed and volume against closed forms, the burr against a referee that
// knows nothing of voxels, and the same cut at several rates and voxels.
#include "base/log.h"
#include "base/rng.h"
#include "base/simd.h"
#include "bench/drill_rig.h"
#include "tests/support/allocations.h"
#include "tests/support/force_watch.h"
#include "tests/support/limits.h"
#include "tissue/surface.h"
#include "unity.h"

#include <string.h>

#define PI 3.14159265358979323846
#define MM 1e-3

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_dpose at(double x, double y, double z)
{
	return tac_dpose_make(tac_dvec3_make(x, y, z), tac_dquat_identity());
}

// Resets an SCO, which may take several ticks: the points of a surface that is new to it are found with the
// work of one tick each. Returns whether the place is free.
static bool place(tac_sco *sco, tac_dpose pose, const tac_dpose *T_world_objects)
{
	for (int i = 0; i < 100; i++) {
		const bool is_free = tac_sco_reset(sco, pose, T_world_objects);
		if (is_free || !tac_sco_reset_unfinished(sco))
			return is_free;
	}
	TEST_FAIL_MESSAGE("the reset does not end");
	return false;
}

static void start(drill_rig *rig, const drill_rig_def *def, tac_dpose pose)
{
	TEST_ASSERT_TRUE(drill_rig_init(rig, def));
	TEST_ASSERT_TRUE(place(rig->sco, pose, NULL));
}

static double feed_of(const drill_rig_def *def, double force_N)
{
	const double speed = 0.5 * def->radius_m * DRILL_RIG_OMEGA, area = PI * def->radius_m * def->radius_m;
	return (force_N - def->rub_N) * speed / (DRILL_RIG_KAPPA * def->energy_J_per_m3 * area);
}

// ---- D03, D06: constant force ----

// The spring is as long as the force wants, so the press is constant.
static void constant_force_feeds_as_the_closed_form_says(void)
{
	const double force_N = 2;
	drill_rig_def def = drill_rig_def_default();
	def.size_m = 0.006;
	drill_rig rig;
	start(&rig, &def, at(0, 0, 1.01 * MM));
	double z0 = 0, v0 = 0, work0 = 0, energy0 = 0, t0 = -1, time = 0;
	for (int i = 0; i < 4000 && tac_sco_pose(rig.sco).position.z > -3.5 * MM; i++) {
		const double z = tac_sco_pose(rig.sco).position.z;
		drill_rig_step(&rig, at(0, 0, z - force_N / rig.stiffness_N_per_m), true);
		time += rig.period_s;
		if (t0 < 0 && z < -1.5 * MM) {
			z0 = tac_sco_pose(rig.sco).position.z;
			v0 = rig.drill.state.removed_m3[0];
			work0 = rig.drill.state.feed_work_J;
			energy0 = rig.drill.state.energy_J;
			t0 = time;
		}
	}
	const tac_dvec3 end = tac_sco_pose(rig.sco).position;
	const double deep = z0 - end.z, feed = deep / (time - t0),
		     volume = rig.drill.state.removed_m3[0] - v0;
	const double energy = rig.drill.state.energy_J - energy0, work = rig.drill.state.feed_work_J - work0;
	TEST_ASSERT_DOUBLE_WITHIN(0.02 * feed_of(&def, force_N), feed_of(&def, force_N), feed);
	TEST_ASSERT_DOUBLE_WITHIN(0.02 * PI * 1e-6 * deep, PI * 1e-6 * deep, volume);
	// D06: the energy of the cut, its power, and the work of the feed.
	TEST_ASSERT_DOUBLE_WITHIN(1e-9 * energy, def.energy_J_per_m3 * volume, energy);
	TEST_ASSERT_DOUBLE_WITHIN(0.01 * force_N * deep, force_N * deep, work);
	const double power = (force_N - def.rub_N) * 0.5 * def.radius_m * DRILL_RIG_OMEGA / DRILL_RIG_KAPPA;
	TEST_ASSERT_DOUBLE_WITHIN(0.02 * power, power, energy / (time - t0));
	TEST_ASSERT_TRUE(hypot(end.x, end.y) < 20e-6);
	drill_rig_fini(&rig);
}

static void power_is_never_above_the_motors(void)
{
	drill_rig_def def = drill_rig_def_default();
	def.size_m = 0.006;
	def.power_W = 1;
	drill_rig rig;
	start(&rig, &def, at(0, 0, 1.01 * MM));
	double before = 0, most = 0;
	for (int i = 0; i < 1500; i++) {
		const double z = tac_sco_pose(rig.sco).position.z;
		drill_rig_step(&rig, at(0, 0, z - 5 * MM), true); // 5 N would give 5.2 W
		if (i % 50 == 49) {
			most = fmax(most, (rig.drill.state.energy_J - before) / (50 * rig.period_s));
			before = rig.drill.state.energy_J;
		}
	}
	TEST_ASSERT_TRUE(most > 0.9 && most < 1.01);
	TEST_ASSERT_DOUBLE_WITHIN(0.05, 1, rig.drill.state.load);
	drill_rig_fini(&rig);
}

static void light_press_only_rubs(void)
{
	drill_rig_def def = drill_rig_def_default();
	def.size_m = 0.006;
	drill_rig rig;
	start(&rig, &def, at(0, 0, 1.01 * MM));
	for (int i = 0; i < 300; i++)
		drill_rig_step(&rig, at(0, 0, 1 * MM - 0.04e-3), true); // 0.04 N
	// A ball that touches a plane between its points dips by h^2 / 4r once, and rounding lets it creep by
	// 3 nm in a tick.
	TEST_ASSERT_TRUE(tac_sco_pose(rig.sco).position.z > 1 * MM - 4e-6);
	TEST_ASSERT_TRUE(rig.drill.state.removed_m3[0] < 2e-13);
	drill_rig_fini(&rig);
}

// ---- D11, D05: a hand that goes down and then along ----

typedef struct cut {
	double volume_mm3, depth_mm, along_mm, force_N, excess_N;
} cut;

static cut cut_a_corner(double voxel_m, double period_s)
{
	drill_rig_def def = drill_rig_def_default();
	def.size_m = 0.008;
	def.depth_m = 0.005;
	def.voxel_m = voxel_m;
	def.period_s = period_s;
	drill_rig rig;
	start(&rig, &def, at(0, 0, 1.1 * MM));
	cut c = {.excess_N = -HUGE_VAL};
	tac_dvec3 force = tac_dvec3_zero(), hand = tac_dvec3_make(0, 0, 1.1 * MM);
	const int ticks = (int)lround(1.0 / period_s);
	for (int i = 1; i <= ticks; i++) {
		const double t = i * period_s;
		const tac_dvec3 next =
			tac_dvec3_make(t > 0.6 ? 3 * MM * (t - 0.6) : 0, 0, 1.1 * MM - 3 * MM * fmin(t, 0.6));
		const double before_m = rig.drill.allowance.advance_m;
		drill_rig_step(&rig, tac_dpose_make(next, tac_dquat_identity()), true);
		// D05: the force changes by no more than what device and wall moved.
		const double moved = tac_dvec3_length(tac_dvec3_sub(next, hand)) +
				     fmax(before_m, rig.drill.allowance.advance_m) +
				     rig.drill.allowance.slack_m;
		const double jump = tac_dvec3_length(tac_dvec3_sub(rig.force_N, force));
		c.excess_N = fmax(c.excess_N, jump - rig.stiffness_N_per_m * moved);
		hand = next;
		force = rig.force_N;
	}
	const tac_dvec3 end = tac_sco_pose(rig.sco).position;
	c.volume_mm3 = 1e9 * rig.drill.state.removed_m3[0];
	c.depth_mm = -1e3 * end.z;
	c.along_mm = 1e3 * end.x;
	c.force_N = tac_dvec3_length(rig.force_N);
	drill_rig_fini(&rig);
	return c;
}

// The time in which a constant force drills 1.5 mm, s. The force is low enough that the wall never has to
// recede by more than a fifth of a voxel in a tick, but for the first touch. In short ticks the mover has the
// work that the servo gives it, at 10 kHz not enough for a step in each.
static double time_of_a_hole(double voxel_m, double period_s)
{
	drill_rig_def def = drill_rig_def_default();
	def.size_m = 0.005;
	def.depth_m = 0.004;
	def.voxel_m = voxel_m;
	def.period_s = period_s;
	if (period_s < 1e-3)
		def.work_units = llround(1e6 * period_s);
	drill_rig rig;
	start(&rig, &def, at(0, 0, 1.001 * MM));
	double z = 1.001 * MM, before = z, time_s = 0;
	for (; z > -0.5 * MM && time_s < 2; time_s += period_s) {
		drill_rig_step(&rig, at(0, 0, z - 0.5 / rig.stiffness_N_per_m), true);
		before = z;
		z = tac_sco_pose(rig.sco).position.z;
	}
	drill_rig_fini(&rig);
	return time_s - period_s * (-0.5 * MM - z) / (before - z); // when it passed the depth
}

static void hole_takes_the_same_time_at_all_voxels_and_rates(void)
{
	const double reference = time_of_a_hole(1e-4, 1e-3);
	const double others[][2] = {{2e-4, 2e-3}, {2e-4, 1e-4}, {2e-4, 0.25e-3},
				    {1e-4, 2e-3}, {1e-4, 1e-4}, {1e-4, 0.25e-3}};
	TEST_ASSERT_TRUE(reference > 0.3 && reference < 1);
	for (int i = 0; i < (TAC_TEST_SANITIZED ? 2 : 6); i++) {
		const double time = time_of_a_hole(others[i][0], others[i][1]);
		printf("hole at %g mm, %g Hz: %.4f of the time\n", 1e3 * others[i][0], 1 / others[i][1],
		       time / reference);
		TEST_ASSERT_DOUBLE_WITHIN(0.02 * reference, reference, time);
	}
}

static void cut_does_not_depend_on_voxels_or_rate(void)
{
	const cut reference = cut_a_corner(1e-4, 1e-3);
	const double others[][2] = {{2e-4, 1e-3}, {1e-4, 2e-3}, {1e-4, 0.25e-3}, {2e-4, 0.5e-3}};
	TEST_ASSERT_TRUE(reference.volume_mm3 > 2);
	for (int i = 0; i < 4; i++) {
		const cut c = cut_a_corner(others[i][0], others[i][1]);
		TEST_ASSERT_DOUBLE_WITHIN(0.02 * reference.volume_mm3, reference.volume_mm3, c.volume_mm3);
		TEST_ASSERT_DOUBLE_WITHIN(0.02, reference.depth_mm, c.depth_mm);
		TEST_ASSERT_DOUBLE_WITHIN(0.02, reference.along_mm, c.along_mm);
		TEST_ASSERT_TRUE(c.excess_N <= 0);
	}
	TEST_ASSERT_TRUE(reference.excess_N <= 0);
}

// ---- D07: the tool that does not turn ----

// A probe in a drilled hole rests on the hole's bottom and meets its wall.
static void probe_meets_the_hole(void)
{
	drill_rig_def def = drill_rig_def_default();
	def.size_m = 0.006;
	drill_rig rig;
	start(&rig, &def, at(0, 0, 1.5 * MM));
	// A hole of 1 mm radius whose lowest ball is centred at -1 mm, removed at once.
	const tac_burr hole = {TAC_BURR_ROUND, {0, 0, 1 * MM}, {0, 0, -1 * MM}, 1 * MM};
	const tac_field_edit edit = tac_field_edit_make(&hole);
	tac_field_removed removed = {0};
	TEST_ASSERT_TRUE(tac_field_carve(rig.field, &edit, &removed));
	const tac_sco_object object = {.T_world_object = tac_dpose_identity(), .field = rig.field};
	tac_sco_def probe = tac_sco_def_default();
	probe.round = (tac_round){{0, 0, 0}, {0, 0, 0}, 0.3 * MM};
	probe.objects = &object;
	probe.object_count = 1;
	tac_sco *sco;
	tac_sco_report report;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&probe, &sco));
	TEST_ASSERT_TRUE(place(sco, at(0.1 * MM, 0, 1 * MM), NULL));
	for (int i = 0; i < 200; i++) // to the bottom and beyond
		tac_sco_step(sco, at(0.1 * MM, 0, 1 * MM - fmin(i * 0.05 * MM, 6 * MM)), NULL, &report);
	// It slides to the lowest place: the bottom at -2 mm.
	TEST_ASSERT_DOUBLE_WITHIN(20e-6, -1.7 * MM, report.T_world_sco.position.z);
	for (int i = 0; i < 200; i++) // against the wall, above the lowest ball
		tac_sco_step(sco, at(fmin(i * 0.05 * MM, 4 * MM), 0, -0.5 * MM), NULL, &report);
	TEST_ASSERT_DOUBLE_WITHIN(20e-6, 0.7 * MM, report.T_world_sco.position.x);
	// Along the wall the points hold a small probe as a rough surface would, by less than their spacing.
	TEST_ASSERT_DOUBLE_WITHIN(def.voxel_m, -0.5 * MM, report.T_world_sco.position.z);
	double load_m = 0;
	for (int32_t i = 0; i < report.contact_count; i++)
		load_m += report.contacts[i].load_m * -report.contacts[i].normal.x;
	TEST_ASSERT_DOUBLE_WITHIN(0.05 * MM, 3.3 * MM, load_m);
	// Beside the hole the block is as it was, and no speed takes the probe through it.
	TEST_ASSERT_TRUE(place(sco, at(2 * MM, 0, 3 * MM), NULL));
	for (int i = 0; i < 50; i++)
		tac_sco_step(sco, at(2 * MM, 0, -0.05), NULL, &report);
	TEST_ASSERT_DOUBLE_WITHIN(20e-6, 0.3 * MM, report.T_world_sco.position.z);
	TEST_ASSERT_FALSE(place(sco, at(2 * MM, 0, -3 * MM), NULL));
	tac_sco_destroy(&sco);
	drill_rig_fini(&rig);
}

static tac_sco *probe_on(const tac_sco_object *object, double radius_m)
{
	tac_sco_def def = tac_sco_def_default();
	def.round = (tac_round){{0, 0, 0}, {0, 0, 0}, radius_m};
	def.objects = object;
	def.object_count = 1;
	def.fixed_rotation = true;
	tac_sco *sco;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &sco));
	return sco;
}

// A hole of many passes, with ridges between them. The burr that made it is switched off and led back along
// the way that it went: all of that is free, so it follows. By an error of the rows it stuck to the wall for
// seconds, with the hand millimetres away. (It fits the hole exactly, so other ways may still wedge it
// between ridges that are finer than a voxel; a probe that is smaller by a twentieth follows on every way.)
static void tools_that_do_not_turn_follow_the_way_that_was_cut(void)
{
	const double part[] = {1, 0.95};
	enum { PASSES = 9, TICKS = 350 };
	static tac_dvec3 way[PASSES * TICKS];
	for (int k = 0; k < 2; k++) {
		drill_rig_def def = drill_rig_def_default();
		def.size_m = 0.008;
		def.depth_m = 0.006;
		drill_rig rig;
		start(&rig, &def, at(0, 0, 1.5 * MM));
		tac_rng rng = tac_rng_seed(k == 0 ? 2 : (uint64_t)from_environment("TACTUS_SEED", 12), 2);
		tac_dvec3 hand = tac_dvec3_make(0, 0, 1.5 * MM), goal = hand;
		for (int i = 0; i < PASSES * TICKS; i++) {
			if (i % TICKS == 0)
				goal = tac_dvec3_make(tac_rng_range_f64(&rng, -1 * MM, 1 * MM),
						      tac_rng_range_f64(&rng, -1 * MM, 1 * MM),
						      tac_rng_range_f64(&rng, -2 * MM, -0.5 * MM));
			const tac_dvec3 to = tac_dvec3_sub(goal, hand);
			hand = tac_dvec3_add_scaled(hand, fmin(1, 8e-6 / fmax(tac_dvec3_length(to), 1e-9)),
						    to);
			drill_rig_step(&rig, tac_dpose_make(hand, tac_dquat_identity()), true);
			way[i] = tac_sco_pose(rig.sco).position;
		}
		TEST_ASSERT_TRUE(rig.drill.state.removed_m3[0] > 3e-9);
		const tac_sco_object object = {.T_world_object = tac_dpose_identity(), .field = rig.field};
		tac_sco *probe = probe_on(&object, part[k] * def.radius_m);
		const tac_dpose end = tac_dpose_make(way[PASSES * TICKS - 1], tac_dquat_identity());
		TEST_ASSERT_TRUE(place(probe, end, NULL));
		double behind = 0;
		int idle = 0;
		for (int i = PASSES * TICKS - 1; i >= 0; i--) {
			const tac_dpose device = tac_dpose_make(way[i], tac_dquat_identity());
			const tac_dvec3 before = tac_sco_pose(probe).position;
			tac_sco_step(probe, device, NULL, &rig.report);
			const tac_dvec3 now = tac_sco_pose(probe).position;
			behind = fmax(behind, tac_dvec3_length(tac_dvec3_sub(way[i], now)));
			// All substeps for nothing.
			idle += rig.report.substeps >= 16 &&
				tac_dvec3_length(tac_dvec3_sub(now, before)) < 1e-9;
		}
		printf("tool of %g of the burr that is led back through its hole: at most %.1f um behind\n",
		       part[k], 1e6 * behind);
		TEST_ASSERT_TRUE(behind < 0.5 * def.voxel_m);
		TEST_ASSERT_EQUAL(0, idle);
		tac_sco_destroy(&probe);
		drill_rig_fini(&rig);
	}
}

// The triangles of the field's surface, which the caller frees.
static tac_body *body_of_surface(const drill_rig *rig, tac_mesh **out_mesh)
{
	tac_body *body;
	TEST_ASSERT_EQUAL(TAC_OK, tac_surface_mesh(rig->field, out_mesh));
	tac_body_def def = tac_body_def_default();
	def.mesh = *out_mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &body));
	return body;
}

// The same probe with the same hand, once on the field and once on the triangles of its surface, in a hole of
// two overlapping sweeps. The mover keeps its hold gap from triangles alone.
static void probe_on_the_field_is_where_it_is_on_the_extracted_mesh(void)
{
	drill_rig_def def = drill_rig_def_default();
	def.size_m = 0.006;
	def.depth_m = 0.005;
	drill_rig rig;
	start(&rig, &def, at(0, 0, 1.5 * MM));
	const tac_burr hole = {
		TAC_BURR_ROUND, {-0.3 * MM, 0, 1 * MM}, {0.6 * MM, 0.3 * MM, -1.4 * MM}, 1 * MM};
	const tac_field_edit edit = tac_field_edit_make(&hole);
	tac_field_removed removed = {0};
	TEST_ASSERT_TRUE(tac_field_carve(rig.field, &edit, &removed));
	tac_mesh *mesh;
	tac_body *body = body_of_surface(&rig, &mesh);
	const tac_sco_object object[] = {{.T_world_object = tac_dpose_identity(), .field = rig.field},
					 {.T_world_object = tac_dpose_identity(), .body = body}};
	tac_sco *probe[] = {probe_on(&object[0], 0.4 * MM), probe_on(&object[1], 0.4 * MM)};
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 5), 1);
	double from_exact = 0, from_mesh = 0, in_all = 0;
	int touching = 0;
	for (int i = 0; i < test_rounds(64); i++) {
		const tac_dpose inside = at(0.5 * MM, 0.2 * MM, -1.2 * MM);
		const tac_dpose to = at(tac_rng_range_f64(&rng, -2.5 * MM, 2.5 * MM),
					tac_rng_range_f64(&rng, -2 * MM, 2 * MM),
					tac_rng_range_f64(&rng, -3 * MM, -0.9 * MM));
		tac_sco_report report[2];
		for (int k = 0; k < 2; k++) {
			TEST_ASSERT_TRUE(place(probe[k], inside, NULL));
			for (int t = 1; t <= 80; t++) // there within 40 ticks, then at rest
				tac_sco_step(probe[k], tac_dpose_interpolate(inside, to, fmin(t / 40.0, 1)),
					     NULL, &report[k]);
		}
		if (report[0].contact_count == 0 || report[1].contact_count == 0)
			continue;
		touching++;
		// The direction across the wall: from the hole's axis to the hand.
		const tac_dvec3 axis = tac_dvec3_sub(hole.b, hole.a);
		const double along =
			tac_dvec3_dot(tac_dvec3_sub(to.position, hole.a), axis) / tac_dvec3_dot(axis, axis);
		const tac_dvec3 on_axis = tac_dvec3_add_scaled(hole.a, fmin(fmax(along, 0), 1), axis);
		const tac_dvec3 out = tac_dvec3_normalize(tac_dvec3_sub(to.position, on_axis));
		const tac_dvec3 exact = tac_dvec3_add_scaled(on_axis, 0.6 * MM, out);
		const tac_dvec3 field = report[0].T_world_sco.position,
				faces = report[1].T_world_sco.position;
		from_exact = fmax(from_exact, fabs(tac_dvec3_dot(tac_dvec3_sub(field, exact), out)));
		from_mesh = fmax(from_mesh, fabs(tac_dvec3_dot(tac_dvec3_sub(field, faces), out)));
		in_all = fmax(in_all, tac_dvec3_length(tac_dvec3_sub(field, exact)));
	}
	printf("probe in a hole: across the wall %.1f um from the closed form, %.1f um from the mover on the "
	       "mesh; "
	       "%.1f um from the closed form in all\n",
	       1e6 * from_exact, 1e6 * from_mesh, 1e6 * in_all);
	TEST_ASSERT_TRUE(touching > (TAC_TEST_SANITIZED ? 0 : 5)); // which has few rounds
	TEST_ASSERT_TRUE(from_exact < 0.05 * def.voxel_m);
	TEST_ASSERT_TRUE(from_mesh < 20e-6);
	TEST_ASSERT_TRUE(in_all < def.voxel_m); // the points are felt along the wall
	for (int k = 0; k < 2; k++)
		tac_sco_destroy(&probe[k]);
	tac_body_destroy(&body);
	tac_mesh_destroy(&mesh);
	drill_rig_fini(&rig);
}

// A probe rests on the triangles of a block, with the field 0.2 m away. Its contacts stay listed as without
// the field.
static void field_that_is_far_causes_no_queries(void)
{
	const drill_rig_def def = drill_rig_def_default();
	drill_rig rig;
	start(&rig, &def, at(0, 0, 1.5 * MM));
	tac_mesh *mesh;
	tac_body *body = body_of_surface(&rig, &mesh);
	const tac_sco_object objects[] = {{.T_world_object = tac_dpose_identity(), .body = body},
					  {.T_world_object = at(0.2, 0, 0), .field = rig.field}};
	tac_sco_def probe = tac_sco_def_default();
	probe.round.radius = 0.4 * MM;
	probe.objects = objects;
	int64_t queries[2] = {0, 0};
	for (int k = 0; k < 2; k++) {
		probe.object_count = 1 + k;
		tac_sco *sco;
		tac_sco_report report;
		TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&probe, &sco));
		TEST_ASSERT_TRUE(place(sco, at(0, 0, 1 * MM), NULL));
		for (int i = 0; i < 100; i++) {
			tac_sco_step(sco, at(0, 0, -1 * MM), NULL, &report);
			queries[k] += report.contact_queries;
		}
		TEST_ASSERT_TRUE(report.contact_count > 0);
		tac_sco_destroy(&sco);
	}
	TEST_ASSERT_TRUE(queries[0] < 20);
	TEST_ASSERT_EQUAL_INT64(queries[0], queries[1]);
	tac_body_destroy(&body);
	tac_mesh_destroy(&mesh);
	drill_rig_fini(&rig);
}

// ---- D04: the burr against what remains ----

#define POINTS 300
// From this many of the points that are deepest, the deepest place around them is searched.
#define CLIMBS 4
// The most that crumbles under a burr that does not turn in a part of the run, voxels.
#define CRUMBLED_MOST 3.0
// The furthest that a burr sinks into remnants that no node knows before they crumble, voxels: they are
// thinner or lower than about a voxel.
#define SUNK_MOST 1.0

typedef struct referee {
	tac_field_edit *edits;
	int *near; // the edits near a place
	int count, capacity;
	long double worst_m; // how deep a point of the burr was in what remains
	long double sunk_m;  // the same before what it has sunk into crumbles
	double crumbled_voxels, removed_m3, energy_J, full_s;
	int moved, stayed; // resets
} referee;

// The distance of a point from what an edit removed, by the closed form in long double.
static long double from_edit(const tac_field_edit *e, const long double p[3])
{
	long double axis[3], to[3], square = 0, along = 0, rest = 0;
	for (int k = 0; k < 3; k++) {
		axis[k] = (long double)e->b[k] - e->a[k];
		to[k] = p[k] - e->a[k];
		square += axis[k] * axis[k];
		along += axis[k] * to[k];
	}
	long double t = square > 0 ? along / square : 0;
	if (e->kind == TAC_BURR_CYLINDER) {
		for (int k = 0; k < 3; k++)
			rest += (to[k] - t * axis[k]) * (to[k] - t * axis[k]);
		const long double side = sqrtl(rest) - e->radius, end = fmaxl(-t, t - 1) * sqrtl(square);
		return side > 0 && end > 0 ? hypotl(side, end) : fmaxl(side, end);
	}
	t = fminl(fmaxl(t, 0), 1);
	for (int k = 0; k < 3; k++)
		rest += (to[k] - t * axis[k]) * (to[k] - t * axis[k]);
	return sqrtl(rest) - e->radius;
}

static tac_dvec3 burr_point(const tac_burr *b, int i)
{
	const double u = (i + 0.5) / POINTS, phi = i * PI * (3 - sqrt(5));
	if (b->kind == TAC_BURR_ROUND) {
		const double z = 1 - 2 * u, rho = sqrt(1 - z * z);
		return tac_dvec3_add_scaled(b->a, b->radius,
					    tac_dvec3_make(rho * cos(phi), rho * sin(phi), z));
	}
	// Along z: a fifth for each end, a tenth for each rim, the rest for the side.
	const bool upper = i % 2;
	double rho = 1, z = upper;
	if (u < 0.4)
		rho = sqrt(u / 0.4);
	else if (u >= 0.6)
		z = (u - 0.6) / 0.4;
	return tac_dvec3_add(b->a, tac_dvec3_make(b->radius * rho * cos(phi), b->radius * rho * sin(phi),
						  (b->b.z - b->a.z) * z));
}

// How deep a place is in what `count` edits left of the block, m; negative: outside. Not exact below
// `enough`. NULL: the first edits.
static long double depth_at(const referee *r, const drill_rig_def *def, tac_dvec3 place, const int *edits,
			    int count, long double enough)
{
	const long double p[3] = {place.x, place.y, place.z}, half = 0.5 * def->size_m;
	long double deep = fminl(-p[2], p[2] + def->depth_m);
	for (int k = 0; k < 2; k++)
		deep = fminl(deep, half - fabsl(p[k]));
	for (int k = count - 1; k >= 0 && deep > enough; k--)
		deep = fminl(deep, from_edit(&r->edits[edits ? edits[k] : k], p));
	return deep;
}

// The deepest place on the burr's surface around one, up to about a voxel away, by ever smaller steps.
static long double climb(referee *r, const drill_rig_def *def, const tac_burr *burr, tac_dpose T_field_tool,
			 tac_dvec3 p, long double deep)
{
	const double h = def->voxel_m;
	const tac_dvec3 first = tac_dpose_apply_point(T_field_tool, p);
	const long double at[3] = {first.x, first.y, first.z};
	double walked = 0;
	int near = 0;
	for (int k = 0; k < r->count; k++) {
		if (from_edit(&r->edits[k], at) < deep + 3 * h)
			r->near[near++] = k;
	}
	for (double step = 0.5 * h; step > 0.01 * h && walked < 1.4 * h;) {
		bool better = false;
		for (int d = 0; d < 26 && !better; d++) {
			const int e = d < 13 ? d : d + 1; // all directions of a grid but none
			const tac_dvec3 way = tac_dvec3_make(e / 9 - 1, e / 3 % 3 - 1, e % 3 - 1);
			tac_dvec3 next = tac_dvec3_add_scaled(p, step / tac_dvec3_length(way), way), normal;
			for (int i = 0; i < 2; i++) // back onto the surface
				next = tac_dvec3_add_scaled(next, -tac_burr_distance(burr, next, &normal),
							    normal);
			const long double there = depth_at(r, def, tac_dpose_apply_point(T_field_tool, next),
							   r->near, near, deep);
			better = there > deep + 1e-5L * h;
			if (better) {
				walked += tac_dvec3_length(tac_dvec3_sub(next, p));
				deep = there;
				p = next;
			}
		}
		if (!better)
			step *= 0.4;
	}
	return deep;
}

// How deep the deepest point of the burr is in what remains by the edits so far, m.
static long double judge(referee *r, const drill_rig_def *def, const tac_burr *burr, tac_dpose T_field_tool)
{
	tac_dvec3 start[CLIMBS];
	long double deep[CLIMBS], worst_m = 0;
	int found = 0;
	for (int i = 0; i < POINTS; i++) {
		const tac_dvec3 p = burr_point(burr, i);
		const long double enough = found < CLIMBS ? -0.3 * def->voxel_m : deep[CLIMBS - 1];
		const long double here =
			depth_at(r, def, tac_dpose_apply_point(T_field_tool, p), NULL, r->count, enough);
		if (here <= enough)
			continue;
		int k = found < CLIMBS ? found++ : found - 1;
		for (; k > 0 && deep[k - 1] < here; k--) {
			deep[k] = deep[k - 1];
			start[k] = start[k - 1];
		}
		deep[k] = here;
		start[k] = p;
	}
	for (int k = 0; k < found; k++)
		worst_m = fmaxl(worst_m, climb(r, def, burr, T_field_tool, start[k], deep[k]));
	return worst_m;
}

// A hand that glides, jabs, holds and wanders, with a drill that is switched on and off.
typedef struct hand {
	tac_rng rng;
	tac_dvec3 place, goal;
	double speed;
	bool running;
	tac_dquat from, to;
} hand;

static void move_hand(hand *h, int tick, double period_s)
{
	const double wide = 3 * MM;
	if (tick % 150 == 0) {
		const uint32_t mode = tac_rng_below(&h->rng, 4);
		const tac_dvec3 any = tac_dvec3_make(tac_rng_range_f64(&h->rng, -wide, wide),
						     tac_rng_range_f64(&h->rng, -wide, wide),
						     tac_rng_range_f64(&h->rng, -3 * MM, 2 * MM));
		h->goal = mode == 0 ? tac_dvec3_make(any.x, any.y, h->place.z) : any;
		h->speed = mode == 0 ? 0.02 : mode == 1 ? tac_rng_range_f64(&h->rng, 0.2, 2) : 0.004;
		h->speed = mode == 2 ? 0 : h->speed;
		h->running = tac_rng_below(&h->rng, 4) != 0;
	}
	const tac_dvec3 to = tac_dvec3_sub(h->goal, h->place);
	const double left = tac_dvec3_length(to);
	if (left > 0)
		h->place = tac_dvec3_add_scaled(h->place, fmin(1, h->speed * period_s / left), to);
}

// It tilts by up to 45 degrees.
static tac_dquat turn_hand(hand *h, int tick)
{
	const int ticks = 200;
	if (tick % ticks == 0) {
		h->from = h->to;
		h->to = tac_dquat_exp(
			tac_dvec3_scale(tac_rng_unit_f64(&h->rng), tac_rng_range_f64(&h->rng, 0, 0.8)));
	}
	const tac_dvec3 o = tac_dvec3_zero();
	return tac_dpose_interpolate(tac_dpose_make(o, h->from), tac_dpose_make(o, h->to),
				     (double)(tick % ticks) / ticks)
		.rotation;
}

// What happens to a block and its drill meanwhile.
typedef enum disturbance {
	NOTHING,
	MOVES,  // the block moves about and turns
	RESETS, // the tool is placed anew, where it is or anywhere else that is free
} disturbance;

// A pose of the block at most 2 mm and 0.1 rad from where it was at the start, at up to 0.3 m/s.
static tac_dpose sway(int tick)
{
	const double t = 1e-3 * tick, m = 2 * MM, a = 0.1;
	return tac_dpose_make(
		tac_dvec3_make(m * sin(70 * t), m * sin(43 * t), m * sin(150 * t)),
		tac_dquat_exp(tac_dvec3_make(a * sin(31 * t), a * sin(17 * t), a * sin(23 * t))));
}

// Places the tool anew, at times elsewhere. Where that is not free, it is placed where it was.
static void place_anew(drill_rig *rig, hand *h, referee *r)
{
	const tac_dpose was = tac_sco_pose(rig->sco);
	if (tac_rng_below(&h->rng, 2)) {
		const double wide = 3 * MM;
		const tac_dvec3 any = tac_dvec3_make(tac_rng_range_f64(&h->rng, -wide, wide),
						     tac_rng_range_f64(&h->rng, -wide, wide),
						     tac_rng_range_f64(&h->rng, -1 * MM, 2 * MM));
		if (place(rig->sco, tac_dpose_make(any, was.rotation), NULL)) {
			h->place = h->goal = any;
			r->moved++;
			return;
		}
	}
	TEST_ASSERT_TRUE(place(rig->sco, was, NULL));
	r->stayed++;
}

static uint64_t drill_disturbed(const drill_rig_def *def, disturbance how, uint64_t seed, int ticks,
				int judged, referee *r)
{
	drill_rig rig;
	const double above = def->length_m > 0 ? 0.5 * MM : def->radius_m + 0.5 * MM;
	start(&rig, def, at(0, 0, above));
	tac_ring *ring;
	TEST_ASSERT_EQUAL(TAC_OK, tac_ring_create(64, sizeof(tac_field_edit), &ring));
	rig.drill.def.edits = ring;
	hand h = {.rng = tac_rng_seed(seed, 1), .place = {0, 0, above}, .goal = {0, 0, above}};
	law_watch force = {0};
	const tac_dquat no_turn = tac_dquat_identity();
	h.from = h.to = no_turn;
	r->capacity = 8 * ticks + 8;
	r->edits = malloc((size_t)r->capacity * sizeof *r->edits);
	r->near = malloc((size_t)r->capacity * sizeof *r->near);
	allocations = 0;
	for (int i = 0; i < ticks; i++) {
		move_hand(&h, i, rig.period_s);
		const tac_dpose device = tac_dpose_make(h.place, def->turns ? turn_hand(&h, i) : no_turn);
		if (how == RESETS && i % 97 == 96) {
			place_anew(&rig, &h, r);
			force = (law_watch){0};
		}
		if (how == MOVES)
			rig.T_world_block = sway(i);
		drill_rig_step(&rig, device, h.running);
		if (how != MOVES)
			law_watch_step(&force, device, &rig.report, def->turns ? 0.02 : 0, "random drilling");
		const tac_burr *burr = &rig.drill.def.burr;
		const tac_dpose pose =
			tac_dpose_relative(tac_sco_object_pose(rig.sco, 0), tac_sco_pose(rig.sco));
		if (i % judged == 0 && !h.running)
			r->sunk_m = fmaxl(r->sunk_m, judge(r, def, burr, pose));
		while (tac_ring_pop(ring, &r->edits[r->count]))
			r->count++;
		if (i % judged == 0)
			r->worst_m = fmaxl(r->worst_m, judge(r, def, burr, pose));
	}
	TEST_ASSERT_EQUAL(0, allocations);
	r->removed_m3 = rig.drill.state.removed_m3[0];
	r->energy_J = rig.drill.state.energy_J;
	r->full_s = rig.drill.state.full_s;
	// What crumbles is finer than the grid: no more than a few voxels in all.
	r->crumbled_voxels = rig.drill.state.crumbled_m3 / pow(def->voxel_m, 3);
	// The reader's copy of the field: the same edits give the same bits (D09).
	drill_rig copy;
	TEST_ASSERT_TRUE(drill_rig_init(&copy, def));
	tac_field_removed removed = {0};
	for (int i = 0; i < r->count; i++)
		TEST_ASSERT_TRUE(tac_field_carve(copy.field, &r->edits[i], &removed));
	const uint64_t hash = tac_field_hash(rig.field);
	TEST_ASSERT_EQUAL_HEX64(hash, tac_field_hash(copy.field));
	drill_rig_fini(&copy);
	free(r->edits);
	free(r->near);
	tac_ring_destroy(&ring);
	drill_rig_fini(&rig);
	return hash;
}

static uint64_t drill_at_random(const drill_rig_def *def, uint64_t seed, int ticks, int judged, referee *r)
{
	return drill_disturbed(def, NOTHING, seed, ticks, judged, r);
}

static void burr_is_never_inside_what_remains(void)
{
	// Burr radius, length of a cylinder, voxel, ticks in the long run: two million together.
	const struct {
		double radius_m, length_m, voxel_m;
		bool turns;
		int ticks;
	} runs[] = {{0.5 * MM, 0, 0.1 * MM, false, 800000},    {1 * MM, 0, 0.1 * MM, false, 760000},
		    {2 * MM, 0, 0.15 * MM, false, 240000},     {3 * MM, 0, 0.15 * MM, false, 80000},
		    {1 * MM, 3 * MM, 0.15 * MM, false, 60000}, {1 * MM, 3 * MM, 0.15 * MM, true, 60000}};
	const int only =
		from_environment("TACTUS_BURR", -1); // one of them, with TACTUS_TICKS in the long run
	double removed_in_all_m3 = 0;
	for (int i = only < 0 ? 0 : only; i < (only < 0 ? 6 : only + 1); i++) {
		double worst_voxels = 0, sunk_voxels = 0, crumbled = 0, removed_m3 = 0;
		long total = 0;
		drill_rig_def def = drill_rig_def_default();
		def.size_m = 0.008;
		def.depth_m = 0.006;
		def.turns = runs[i].turns;
		def.radius_m = runs[i].radius_m;
		def.length_m = runs[i].length_m;
		def.voxel_m = runs[i].voxel_m;
		// Parts of 5,000 ticks, each with a new block: the referee's work grows with the edits.
		const int parts = test_long() ? from_environment("TACTUS_TICKS", runs[i].ticks) / 5000 : 1;
		for (int part = 0; part < parts; part++) {
			referee r = {0};
			const int rounds = test_rounds(8 * (runs[i].ticks / 500));
			// The tick of a cylinder that turns takes a millisecond.
			const int least = (TAC_TEST_SANITIZED ? 300 : 1500) / (def.turns ? 4 : 1);
			const int ticks = test_long()      ? 5000
					  : rounds < least ? least
					  : rounds > 5000  ? 5000
							   : rounds;
			drill_at_random(&def,
					(uint64_t)(from_environment("TACTUS_SEED", 0) + 1000 * i + part),
					ticks, 10, &r);
			if (r.worst_m > 0.05L * def.voxel_m || r.crumbled_voxels > CRUMBLED_MOST)
				printf("burr %g mm, part %d: %.2f um, %.3f voxels crumbled\n",
				       1e3 * def.radius_m, part, (double)(1e6L * r.worst_m),
				       r.crumbled_voxels);
			TEST_ASSERT_TRUE(r.sunk_m <= (long double)(SUNK_MOST * def.voxel_m));
			TEST_ASSERT_TRUE(r.worst_m <= 0.05L * def.voxel_m);
			TEST_ASSERT_TRUE(r.crumbled_voxels <= CRUMBLED_MOST);
			worst_voxels = fmax(worst_voxels, (double)r.worst_m / def.voxel_m);
			sunk_voxels = fmax(sunk_voxels, (double)r.sunk_m / def.voxel_m);
			crumbled = fmax(crumbled, r.crumbled_voxels);
			removed_m3 += r.removed_m3;
			total += ticks;
		}
		// Most hands drill; a short run of one hand may not.
		TEST_ASSERT_TRUE(total < 5000 || removed_m3 > 1e-10 * (double)total / 5000);
		printf("burr of %g mm%s%s, %ld ticks: at most %.3f voxels inside what remains, %.3f before "
		       "it crumbled, %.3f voxels crumbled in a part\n",
		       2e3 * def.radius_m, def.length_m > 0 ? ", cylinder" : "",
		       def.turns ? " that turns" : "", total, worst_voxels, sunk_voxels, crumbled);
		fflush(stdout);
		removed_in_all_m3 += removed_m3;
	}
	TEST_ASSERT_TRUE(removed_in_all_m3 > 1e-10);
}

// D04 and D06 while the block moves under the drill, and while the tool is placed anew. What the burr swept
// counts from the block: in the world's frame a block that pushes the burr would be cut by its own motion.
static void drilling_survives_motions_of_the_block_and_resets(void)
{
	const disturbance how[] = {MOVES, RESETS};
	for (int i = 0; i < 2; i++) {
		int moved = 0, stayed = 0;
		double removed_m3 = 0, sunk = 0;
		for (int part = 0; part < (test_long() ? 60 : 6); part++) {
			drill_rig_def def = drill_rig_def_default();
			def.size_m = 0.008;
			def.depth_m = 0.006;
			def.voxel_m = 0.15 * MM;
			def.length_m = part % 3 ? 3 * MM : 0;
			def.turns = part % 3 == 2;
			def.power_W = 2;
			referee r = {0};
			const int ticks = test_long() ? 5000 : TAC_TEST_SANITIZED ? 200 : 800;
			drill_disturbed(&def, how[i], (uint64_t)(from_environment("TACTUS_SEED", 500) + part),
					ticks, 10, &r);
			TEST_ASSERT_TRUE(r.worst_m <= 0.05L * def.voxel_m);
			// A block that turns about a burr wears its hole more.
			TEST_ASSERT_TRUE(r.crumbled_voxels <= 4 * CRUMBLED_MOST);
			TEST_ASSERT_TRUE(r.energy_J <= 1.02 * def.power_W * ticks * def.period_s);
			moved += r.moved;
			stayed += r.stayed;
			sunk = fmax(sunk, (double)r.sunk_m / def.voxel_m);
			removed_m3 += r.removed_m3;
		}
		printf("%s: %.2f mm3 removed, at most %.3f voxels inside before it crumbled, %d resets where "
		       "it was, %d elsewhere\n",
		       i ? "resets" : "block that moves", 1e9 * removed_m3, sunk, stayed, moved);
		TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || removed_m3 > 1e-10);
		TEST_ASSERT_TRUE(how[i] != RESETS || (stayed > 0 && moved > 0));
	}
}

// A reset in a hole whose surface is new to the mover does the work of a tick at a time.
static void reset_in_a_hole_is_spread_over_ticks(void)
{
	drill_rig_def def = drill_rig_def_default();
	def.radius_m = 2 * MM;
	drill_rig rig;
	start(&rig, &def, at(0, 0, 3 * MM));
	tac_rng rng = tac_rng_seed(8, 1);
	for (int i = 0; i < 60; i++) { // edges everywhere
		const tac_dvec3 c = tac_dvec3_make(tac_rng_range_f64(&rng, -1 * MM, 1 * MM),
						   tac_rng_range_f64(&rng, -1 * MM, 1 * MM), -1 * MM);
		const tac_burr ball = {TAC_BURR_ROUND, c, tac_dvec3_add(c, tac_dvec3_make(0, 0, 2 * MM)),
				       2.1 * MM};
		const tac_field_edit edit = tac_field_edit_make(&ball);
		tac_field_removed removed = {0};
		TEST_ASSERT_TRUE(tac_field_carve(rig.field, &edit, &removed));
	}
	TEST_ASSERT_FALSE(tac_sco_reset(rig.sco, at(0, 0, -1 * MM), NULL));
	TEST_ASSERT_TRUE(tac_sco_reset_unfinished(rig.sco));
	TEST_ASSERT_TRUE(place(rig.sco, at(0, 0, -1 * MM), NULL));
	TEST_ASSERT_FALSE(place(rig.sco, at(0, 0, -3 * MM), NULL));
	TEST_ASSERT_FALSE(tac_sco_reset_unfinished(rig.sco));
	drill_rig_fini(&rig);
}

// Hands whose burr, at rest, was more than 0.05 voxel inside what remains. With one place a voxel along the
// rim of a hole, the ball was 0.053 inside it. The cylinders were 0.083 and 0.152 inside the edge of a step
// that is lower than a voxel, which no node knows: the one beside a hole with another floor, the other,
// which turns, beside its own.
static void burrs_that_once_sank_in_do_not(void)
{
	if (TAC_TEST_SANITIZED)
		TEST_IGNORE_MESSAGE("the optimised build runs it");
	const struct {
		double radius_m, length_m;
		bool turns;
		uint64_t seed;
		int ticks;
	} runs[] = {{2 * MM, 0, false, 962014, 4000},
		    {1 * MM, 3 * MM, false, 964002, 4400},
		    {1 * MM, 3 * MM, true, 975001, 1000}};
	for (int i = 0; i < 3; i++) {
		drill_rig_def def = drill_rig_def_default();
		def.size_m = 0.008;
		def.depth_m = 0.006;
		def.radius_m = runs[i].radius_m;
		def.length_m = runs[i].length_m;
		def.turns = runs[i].turns;
		def.voxel_m = 0.15 * MM;
		referee r = {0};
		drill_at_random(&def, runs[i].seed, runs[i].ticks, 10, &r);
		printf("burr that once sank in: %.3f voxels inside, %.3f before it crumbled\n",
		       (double)r.worst_m / def.voxel_m, (double)r.sunk_m / def.voxel_m);
		TEST_ASSERT_TRUE(r.removed_m3 > 0);
		TEST_ASSERT_TRUE(r.worst_m <= 0.05L * def.voxel_m);
	}
}

// A burr that does not turn on the edges and corners of the block, pressed and thrown: by the closed form of
// a box it is no deeper than on a face, and nothing crumbles.
static void burr_at_rest_meets_edges_and_corners(void)
{
	const double radius_m[] = {0.35 * MM, 0.5 * MM, 1 * MM};
	int edges = 0, corners = 0;
	for (int i = 0; i < 3; i++) {
		drill_rig_def def = drill_rig_def_default();
		def.size_m = 0.005;
		def.depth_m = 0.004;
		def.radius_m = radius_m[i];
		drill_rig rig;
		start(&rig, &def, at(0, 0, 2 * MM));
		tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 3), (uint64_t)i);
		tac_dvec3 place = tac_dvec3_make(0, 0, 2 * MM), goal = place;
		double speed = 0, deepest_m = 0;
		for (int tick = 0; tick < test_rounds(16000); tick++) {
			if (tick % 100 == 0) {
				// In turn anywhere, below the face next to a corner, away from a corner along
				// its diagonal, and back along that.
				const double wide[] = {4 * MM, 2.4 * MM, 3.5 * MM, 2.3 * MM};
				const int kind = tick / 100 % 4;
				const tac_dvec3 last = goal;
				goal = tac_dvec3_make(tac_rng_range_f64(&rng, -wide[kind], wide[kind]),
						      tac_rng_range_f64(&rng, -wide[kind], wide[kind]),
						      tac_rng_range_f64(&rng, -3 * MM, 3 * MM));
				if (kind > 0)
					goal = tac_dvec3_make(
						copysign(wide[kind], kind == 3 ? last.x : goal.x),
						copysign(wide[kind], kind == 3 ? last.y : goal.y),
						kind == 1   ? -0.3 * MM
						: kind == 2 ? 1 * MM
							    : -0.2 * MM);
				speed = kind < 2 ? tac_rng_range_f64(&rng, 0.01, 0.5) : 0.2;
			}
			const tac_dvec3 to = tac_dvec3_sub(goal, place);
			const double left = tac_dvec3_length(to);
			place = tac_dvec3_add_scaled(place,
						     left > 0 ? fmin(1, speed * rig.period_s / left) : 0, to);
			drill_rig_step(&rig, tac_dpose_make(place, tac_dquat_identity()), false);
			const tac_dvec3 c = tac_sco_pose(rig.sco).position;
			const double x = fmax(fabs(c.x) - 0.5 * def.size_m, 0);
			const double y = fmax(fabs(c.y) - 0.5 * def.size_m, 0);
			const double z = fmax(fmax(c.z, -def.depth_m - c.z), 0);
			deepest_m = fmax(deepest_m, def.radius_m - sqrt(x * x + y * y + z * z));
			const int beyond = (x > 0) + (y > 0) + (z > 0);
			edges += beyond == 2 && rig.report.contact_count > 0;
			corners += beyond == 3 && rig.report.contact_count > 0;
		}
		TEST_ASSERT_TRUE(deepest_m < 0.05 * def.voxel_m);
		TEST_ASSERT_EQUAL_DOUBLE(0, rig.drill.state.crumbled_m3);
		drill_rig_fini(&rig);
	}
	TEST_ASSERT_TRUE(corners > 0 && (TAC_TEST_SANITIZED || edges > 30)); // which has few ticks
}

static void replays_and_simd_variants_give_the_same_bits(void)
{
	drill_rig_def def = drill_rig_def_default();
	def.size_m = 0.008;
	def.depth_m = 0.006;
	def.voxel_m = 0.15 * MM;
	uint64_t first = 0, cylinder = 0;
	for (int simd = TAC_SIMD_SCALAR - 1; simd < TAC_SIMD_COUNT; simd++) {
		const bool default_variant = simd < TAC_SIMD_SCALAR;
		if (!default_variant && !tac_simd_supported((tac_simd)simd))
			continue;
		if (!default_variant)
			setenv("TACTUS_SIMD", tac_simd_name((tac_simd)simd), 1);
		referee r = {0};
		def.length_m = 0;
		def.turns = false;
		const uint64_t hash = drill_at_random(&def, 77, 600, 1000000, &r);
		def.length_m = 3 * MM;
		def.turns = true;
		r = (referee){0};
		const uint64_t turned = drill_at_random(&def, 78, 300, 1000000, &r);
		unsetenv("TACTUS_SIMD");
		first = default_variant ? hash : first;
		cylinder = default_variant ? turned : cylinder;
		TEST_ASSERT_EQUAL_HEX64(first, hash);
		TEST_ASSERT_EQUAL_HEX64(cylinder, turned);
	}
}

// ---- limits ----

static char last_line[256];

static void keep_line(void *user, tac_log_level level, const char *message)
{
	(void)user, (void)level;
	strncpy(last_line, message, sizeof last_line - 1);
}

static void burr_too_large_for_its_voxels_is_refused(void)
{
	drill_rig_def def = drill_rig_def_default();
	drill_rig rig;
	tac_log_set(keep_line, NULL);
	def.radius_m = 3 * MM;
	TEST_ASSERT_FALSE(drill_rig_init(&rig, &def));
	TEST_ASSERT_NOT_NULL(strstr(last_line, "found 3 mm; voxels of 0.14 to 1 mm would do"));
	drill_rig_fini(&rig);
	def.voxel_m = 0.15 * MM;
	TEST_ASSERT_TRUE(drill_rig_init(&rig, &def));
	drill_rig_fini(&rig);
	def.radius_m = 0.2 * MM;
	TEST_ASSERT_FALSE(drill_rig_init(&rig, &def));
	drill_rig_fini(&rig);
	tac_log_set(NULL, NULL);
}

// All of the trail is removed, not its end alone, and where it bends by more than a little in several sweeps.
static void whole_trail_is_removed(void)
{
	drill_rig_def def = drill_rig_def_default();
	drill_rig rig;
	start(&rig, &def, at(0, 0, 1.01 * MM));
	const tac_dpose trail[] = {at(-2 * MM, 0, -3 * MM), at(-1 * MM, 0, -3 * MM), at(1 * MM, 0, -3 * MM),
				   at(1 * MM, 1.5 * MM, -3 * MM)};
	tac_drill_allow(&rig.drill, true, tac_dvec3_make(0, 0, 1), 0, def.period_s);
	tac_drill_cut(&rig.drill, trail, 4, true);
	for (int i = 0; i <= 100; i++) {
		const double way = 4.5 * MM * i / 100, x = fmin(way, 3 * MM), y = way - x;
		const tac_dvec3 axis = tac_dvec3_make(x - 2 * MM, y, -3 * MM);
		TEST_ASSERT_TRUE(tac_field_sample(rig.field, axis) > 1.5 * def.voxel_m);
		TEST_ASSERT_DOUBLE_WITHIN(
			0.1 * def.voxel_m, 0,
			tac_field_sample(rig.field, tac_dvec3_add(axis, tac_dvec3_make(0, 0, -1 * MM))));
	}
	// Two capsules less what they have in common: a ball, and where one leaves the other inside the bend.
	const double r = def.radius_m, tubes = PI * r * r * 4.5 * MM, ball = 4.0 / 3 * PI * r * r * r;
	const double inner = 2.0 / 3 * r * r * r; // of two quarter cylinders that cross at a right angle
	TEST_ASSERT_DOUBLE_WITHIN(0.05 * tubes, tubes + ball - inner, rig.drill.state.removed_m3[0]);
	drill_rig_fini(&rig);
}

static void empty_pool_stops_the_drill_and_not_the_proof(void)
{
	drill_rig_def def = drill_rig_def_default();
	def.size_m = 0.008;
	def.depth_m = 0.006;
	def.voxel_m = 0.15 * MM;
	drill_rig rig;
	start(&rig, &def, at(0, 0, 1.01 * MM));
	// Some more than the surface and the drill's reserve need.
	def.max_bricks = tac_field_size_of(rig.field).stored + rig.drill.reserve + 8;
	drill_rig_fini(&rig);
	start(&rig, &def, at(0, 0, 1.01 * MM));
	for (int i = 0; i < 2500; i++)
		drill_rig_step(&rig, at(0, 0, -3 * MM), true);
	const tac_drill_state *s = &rig.drill.state;
	const double stuck = tac_sco_pose(rig.sco).position.z, removed = s->removed_m3[0];
	TEST_ASSERT_TRUE(s->flags & TAC_DRILL_FIELD_FULL);
	TEST_ASSERT_TRUE(s->full_ticks > 100 && removed > 0);
	TEST_ASSERT_TRUE(stuck > -2 * MM && stuck < 0.9 * MM);
	for (int i = 0; i < 200; i++)
		drill_rig_step(&rig, at(0, 0, -3 * MM), true);
	TEST_ASSERT_EQUAL_DOUBLE(removed, s->removed_m3[0]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, stuck, tac_sco_pose(rig.sco).position.z);
	TEST_ASSERT_TRUE(tac_dvec3_length(rig.force_N) > 1); // it presses on what it cannot cut
	drill_rig_fini(&rig);
}

// D04 with a pool that is soon full: a hand that goes on as before, every tick judged.
static void burr_is_never_inside_what_remains_with_a_full_pool(void)
{
	const double length_m[] = {0, 2 * MM};
	for (int i = 0; i < 2; i++) {
		drill_rig_def def = drill_rig_def_default();
		def.size_m = i ? 0.014 : 0.008; // more than the reserve of a longer burr
		def.depth_m = i ? 0.01 : 0.006;
		def.voxel_m = 0.15 * MM;
		def.length_m = length_m[i];
		drill_rig rig;
		start(&rig, &def, at(0, 0, 1.01 * MM));
		def.max_bricks = tac_field_size_of(rig.field).stored + rig.drill.reserve + (i ? 20 : 4);
		drill_rig_fini(&rig);
		double full_s = 0, removed_m3 = 0;
		for (int part = 0; part < (test_long() ? 40 : TAC_TEST_SANITIZED ? 1 : 2); part++) {
			referee r = {0};
			drill_at_random(&def, (uint64_t)(from_environment("TACTUS_SEED", 40) + part),
					test_long()          ? 5000
					: TAC_TEST_SANITIZED ? 300
							     : 2000,
					1, &r);
			TEST_ASSERT_TRUE(r.worst_m <= 0.05L * def.voxel_m);
			TEST_ASSERT_TRUE(r.crumbled_voxels <= CRUMBLED_MOST);
			full_s += r.full_s;
			removed_m3 += r.removed_m3;
		}
		printf("full pool%s: %.1f s full, %.2f mm3 removed\n", i ? ", cylinder" : "", full_s,
		       1e9 * removed_m3);
		TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || (full_s > 0.5 && removed_m3 > 0));
	}
}

// The tick depends on nobody who watches: with a reader that never reads it removes what it removes without.
static void slow_reader_changes_nothing_and_is_counted(void)
{
	drill_rig_def def = drill_rig_def_default();
	def.size_m = 0.006;
	drill_rig alone, watched;
	start(&alone, &def, at(0, 0, 1.01 * MM));
	start(&watched, &def, at(0, 0, 1.01 * MM));
	tac_ring *ring;
	TEST_ASSERT_EQUAL(TAC_OK, tac_ring_create(32, sizeof(tac_field_edit), &ring));
	watched.drill.def.edits = ring; // nobody reads it
	for (int i = 0; i < 400; i++) {
		drill_rig_step(&alone, at(0, 0, -1 * MM), true);
		drill_rig_step(&watched, at(0, 0, -1 * MM), true);
	}
	TEST_ASSERT_TRUE(watched.drill.state.flags & TAC_DRILL_LAGS);
	TEST_ASSERT_TRUE(watched.drill.state.lag_ticks > 300);
	TEST_ASSERT_EQUAL_UINT64(0, alone.drill.state.lag_ticks);
	TEST_ASSERT_EQUAL_HEX64(tac_field_hash(alone.field), tac_field_hash(watched.field));
	TEST_ASSERT_EQUAL_MEMORY(&alone.report.T_world_sco, &watched.report.T_world_sco, sizeof(tac_dpose));
	TEST_ASSERT_TRUE(tac_sco_pose(watched.sco).position.z < 0.5 * MM);
	tac_field_edit edit;
	while (tac_ring_pop(ring, &edit))
		continue;
	drill_rig_step(&watched, at(0, 0, -1 * MM), true);
	TEST_ASSERT_FALSE(watched.drill.state.flags & TAC_DRILL_LAGS);
	tac_ring_destroy(&ring);
	drill_rig_fini(&alone);
	drill_rig_fini(&watched);
}

int main(void)
{
	UNITY_BEGIN();
	if (getenv("TACTUS_BURR")) { // a soak of one burr alone
		RUN_TEST(burr_is_never_inside_what_remains);
		return UNITY_END();
	}
	RUN_TEST(constant_force_feeds_as_the_closed_form_says);
	RUN_TEST(power_is_never_above_the_motors);
	RUN_TEST(light_press_only_rubs);
	RUN_TEST(cut_does_not_depend_on_voxels_or_rate);
	RUN_TEST(hole_takes_the_same_time_at_all_voxels_and_rates);
	RUN_TEST(probe_meets_the_hole);
	RUN_TEST(tools_that_do_not_turn_follow_the_way_that_was_cut);
	RUN_TEST(probe_on_the_field_is_where_it_is_on_the_extracted_mesh);
	RUN_TEST(field_that_is_far_causes_no_queries);
	RUN_TEST(burr_is_never_inside_what_remains);
	RUN_TEST(burrs_that_once_sank_in_do_not);
	RUN_TEST(drilling_survives_motions_of_the_block_and_resets);
	RUN_TEST(reset_in_a_hole_is_spread_over_ticks);
	RUN_TEST(burr_at_rest_meets_edges_and_corners);
	RUN_TEST(replays_and_simd_variants_give_the_same_bits);
	RUN_TEST(burr_too_large_for_its_voxels_is_refused);
	RUN_TEST(whole_trail_is_removed);
	RUN_TEST(empty_pool_stops_the_drill_and_not_the_proof);
	RUN_TEST(burr_is_never_inside_what_remains_with_a_full_pool);
	RUN_TEST(slow_reader_changes_nothing_and_is_counted);
	return UNITY_END();
}
