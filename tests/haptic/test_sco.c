// The SCO: rest poses, moving objects, faults and refused input, with the continuous mover.
#include "haptic/sco.h"
#include "tests/support/sco_scenes.h"
#include "tests/support/sweep_referee.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_sco *make(const tac_sco_def *def, tac_dpose start)
{
	tac_sco *sco;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(def, &sco));
	TEST_ASSERT_TRUE(tac_sco_reset(sco, start, NULL));
	return sco;
}

static void box_pressed_into_a_plane_rests_at_the_hold_gap(void)
{
	scene_body box = scene_body_make(box_mesh(0.04, 0.04, 0.04, 1)),
		   plane = scene_body_make(plane_mesh(0.2, 24));
	tac_sco_object object;
	tac_sco_def def = scene_def(&box, &plane, &object);
	tac_sco *sco = make(&def, at(0.003, 0.001, 0.03));
	tac_sco_report r;
	for (int k = 0; k < 300; k++) {
		double t = k * 1e-3;
		tac_sco_step(sco, at(-0.05 + 0.05 * t, 0.02 * t, 0.015), NULL, &r);
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0.02001, r.T_world_sco.position.z);
	double load = 0;
	for (int i = 0; i < r.contact_count; i++)
		load += r.contacts[i].load_m;
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.00501, load);
	tac_sco_destroy(&sco);
	scene_body_free(&box);
	scene_body_free(&plane);
}

// A regression found on scanned meshes with holes: beside a ridge a vertex is in front of one face and behind
// the plane of the other, and that plane held it there.
static void an_open_sheet_does_not_block_the_tool_behind_its_ridges(void)
{
	sketch s = {0};
	sketch_patch(&s, vec3(-0.05, -0.05, -0.02), vec3(0, -0.05, 0), vec3(0, 0.05, 0),
		     vec3(-0.05, 0.05, -0.02), 3, 3);
	sketch_patch(&s, vec3(0, -0.05, 0), vec3(0.05, -0.05, -0.02), vec3(0.05, 0.05, -0.02),
		     vec3(0, 0.05, 0), 3, 3);
	scene_body roof = scene_body_make(sketch_finish(&s)),
		   box = scene_body_make(box_mesh(0.01, 0.01, 0.01, 1));
	TEST_ASSERT_FALSE(tac_body_is_solid(roof.body));
	tac_sco_object object;
	tac_sco_def def = scene_def(&box, &roof, &object);
	tac_sco *sco = make(&def, turned(-0.02, 0, 0.02, vec3(0.3, 0.6, 0)));
	tac_sco_report r;
	for (int k = 0; k < 400; k++) {
		tac_sco_step(sco, turned(-0.02 + 1e-4 * k, 0, -0.005, vec3(0.3, 0.6, 0)), NULL, &r);
		for (int i = 0; i < r.contact_count; i++)
			TEST_ASSERT_TRUE(r.contacts[i].normal.z > 0);
	}
	TEST_ASSERT_TRUE(r.T_world_sco.position.x > 0.015);
	tac_sco_destroy(&sco);
	scene_body_free(&box);
	scene_body_free(&roof);
}

static double distance_of(const scene_body *tool, const scene_body *scene, tac_dpose T_world_tool,
			  tac_dpose T_world_scene)
{
	tac_dpose T = tac_dpose_relative(T_world_scene, T_world_tool);
	tac_drigid P = tac_drigid_from_pose(T);
	ref_pose p = ref_pose_at(&P, tac_dvec3_zero(), P.t, vec3(0, 0, 1), 0, 0);
	return ref_distance(tool->mesh, scene->mesh, &p, 1e-4);
}

static void a_moving_block_pushes_the_tool(void)
{
	scene_body box = scene_body_make(box_mesh(0.02, 0.02, 0.02, 2)),
		   block = scene_body_make(box_mesh(0.04, 0.04, 0.04, 3));
	tac_sco_object object;
	tac_sco_def def = scene_def(&box, &block, &object);
	tac_sco *sco = make(&def, at(0.035, 0.001, 0.002));
	tac_sco_report r;
	double least = HUGE_VAL;
	for (int k = 0; k < 400; k++) {
		// The block moves into the tool at 0.1 m/s and turns at 0.5 rad/s; the device rests.
		tac_dpose goal = turned(1e-4 * k, 0, 0, vec3(0, 0, 5e-4 * k));
		tac_sco_step(sco, at(0.035, 0.001, 0.002), &goal, &r);
		tac_dpose there = tac_sco_object_pose(sco, 0);
		TEST_ASSERT_EQUAL(0, r.flags & (TAC_SCO_OBJECT_WAITS | TAC_SCO_FAULT));
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, goal.position.x, there.position.x);
		if (k % 4 == 0)
			least = fmin(least, distance_of(&box, &block, r.T_world_sco, there));
	}
	TEST_ASSERT_TRUE(least >= 4.9e-6);
	TEST_ASSERT_TRUE(r.T_world_sco.position.x > 0.06); // its device is at 0.035
	// Face on face, several contacts share the load: together they balance the way to the device.
	tac_dvec3 load = tac_dvec3_zero();
	for (int32_t i = 0; i < r.contact_count; i++)
		load = tac_dvec3_add_scaled(load, r.contacts[i].load_m, r.contacts[i].normal);
	TEST_ASSERT_TRUE(r.contact_count > 0 && r.contacts[0].load_m > 0);
	TEST_ASSERT_DOUBLE_WITHIN(1e-5, r.T_world_sco.position.x - 0.035, load.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-5, r.T_world_sco.position.y - 0.001, load.y);
	tac_sco_destroy(&sco);
	scene_body_free(&box);
	scene_body_free(&block);
}

static void a_block_waits_for_a_tool_that_cannot_yield(void)
{
	// The tool is between a wall and a block that approaches until there is no room left.
	scene_body box = scene_body_make(box_mesh(0.02, 0.02, 0.02, 1)),
		   wall = scene_body_make(box_mesh(0.01, 0.1, 0.1, 2));
	tac_sco_object objects[2] = {{.body = wall.body, .T_world_object = at(0.02, 0, 0)},
				     {.body = wall.body, .T_world_object = at(-0.03, 0, 0)}};
	tac_sco_def def = tac_sco_def_default();
	def.tool = box.body;
	def.objects = objects;
	def.object_count = 2;
	def.fixed_rotation = true;
	tac_sco *sco = make(&def, at(0, 0, 0));
	tac_sco_report r;
	bool waited = false;
	for (int k = 0; k < 300; k++) {
		tac_dpose goals[2] = {at(0.02, 0, 0), at(-0.03 + 1e-4 * k, 0, 0)};
		tac_sco_step(sco, at(0, 0, 0), goals, &r);
		waited |= (r.flags & TAC_SCO_OBJECT_WAITS) != 0;
		TEST_ASSERT_TRUE(distance_of(&box, &wall, r.T_world_sco, tac_sco_object_pose(sco, 0)) >
				 4.9e-6);
		TEST_ASSERT_TRUE(distance_of(&box, &wall, r.T_world_sco, tac_sco_object_pose(sco, 1)) >
				 4.9e-6);
	}
	TEST_ASSERT_TRUE(waited);
	TEST_ASSERT_TRUE(tac_sco_object_pose(sco, 1).position.x < -0.01);
	// It moves on when there is room again.
	tac_dpose goals[2] = {at(0.05, 0, 0), at(-0.005, 0, 0)};
	for (int k = 0; k < 100; k++)
		tac_sco_step(sco, at(0, 0, 0), goals, &r);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -0.005, tac_sco_object_pose(sco, 1).position.x);
	tac_sco_destroy(&sco);
	scene_body_free(&box);
	scene_body_free(&wall);
}

static void a_start_in_contact_is_a_fault_until_the_next_reset(void)
{
	scene_body box = scene_body_make(box_mesh(0.04, 0.04, 0.04, 1)),
		   plane = scene_body_make(plane_mesh(0.2, 4));
	tac_sco_object object;
	tac_sco_def def = scene_def(&box, &plane, &object);
	tac_sco *sco;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &sco));
	TEST_ASSERT_FALSE(tac_sco_reset(sco, at(0, 0, 0.01), NULL));
	tac_sco_report r;
	tac_sco_step(sco, at(0, 0, 0.1), NULL, &r);
	TEST_ASSERT_TRUE(r.flags & TAC_SCO_FAULT);
	TEST_ASSERT_TRUE(r.T_world_sco.position.z == 0.01);
	TEST_ASSERT_TRUE(tac_sco_reset(sco, at(0, 0, 0.1), NULL));
	tac_sco_step(sco, at(0, 0, 0.05), NULL, &r);
	TEST_ASSERT_EQUAL(0, r.flags);
	TEST_ASSERT_TRUE(r.T_world_sco.position.z == 0.05);
	tac_sco_destroy(&sco);
	scene_body_free(&box);
	scene_body_free(&plane);
}

static void poses_that_are_not_finite_are_refused(void)
{
	scene_body box = scene_body_make(box_mesh(0.04, 0.04, 0.04, 1)),
		   plane = scene_body_make(plane_mesh(0.2, 4));
	tac_sco_object object;
	tac_sco_def def = scene_def(&box, &plane, &object);
	tac_sco *sco = make(&def, at(0, 0, 0.1));
	tac_sco_report r;
	tac_sco_step(sco, at(0, (double)NAN, 0.05), NULL, &r);
	TEST_ASSERT_EQUAL(TAC_SCO_REFUSED, r.flags);
	TEST_ASSERT_TRUE(r.T_world_sco.position.z == 0.1);
	tac_dpose goal = at(HUGE_VAL, 0, 0);
	tac_sco_step(sco, at(0, 0, 0.05), &goal, &r);
	TEST_ASSERT_EQUAL(TAC_SCO_REFUSED, r.flags);
	tac_sco_step(sco, at(0, 0, 0.05), NULL, &r);
	TEST_ASSERT_EQUAL(0, r.flags);
	TEST_ASSERT_FALSE(tac_sco_reset(sco, at((double)NAN, 0, 0), NULL));
	tac_sco_destroy(&sco);
	scene_body_free(&box);
	scene_body_free(&plane);
}

static void the_report_says_how_the_last_substep_ended(void)
{
	scene_body box = scene_body_make(box_mesh(0.04, 0.04, 0.04, 1)),
		   plane = scene_body_make(plane_mesh(0.2, 24));
	tac_sco_object object;
	tac_sco_def def = scene_def(&box, &plane, &object);
	tac_sco *sco = make(&def, at(0, 0, 0.05));
	tac_sco_report r;
	tac_sco_step(sco, at(NAN, 0, 0.05), NULL, &r);
	TEST_ASSERT_EQUAL(TAC_SCO_NO_SUBSTEP, r.outcome);
	tac_sco_step(sco, at(0, 0, 0.04), NULL, &r);
	TEST_ASSERT_EQUAL(TAC_SCO_ARRIVED, r.outcome);
	for (int k = 0; k < 100; k++)
		tac_sco_step(sco, at(0, 0, 0.015), NULL, &r);
	TEST_ASSERT_EQUAL(TAC_SCO_CONVERGED, r.outcome);
	TEST_ASSERT_EQUAL(TAC_SCO_NO_SUBSTEP, r.refused);
	tac_sco_destroy(&sco);
	def.work_units = 1; // enough for a list or for a proof, but not for both
	sco = make(&def, at(0, 0, 0.0201));
	tac_sco_step(sco, at(0, 0, 0.015), NULL, &r);
	TEST_ASSERT_TRUE(r.flags & TAC_SCO_BUDGET_SPENT);
	TEST_ASSERT_TRUE(r.refused >= TAC_SCO_NO_LIST && r.refused == r.outcome);
	TEST_ASSERT_EQUAL_STRING("no proof", tac_sco_outcome_name(TAC_SCO_NO_PROOF));
	TEST_ASSERT_EQUAL_STRING("unknown outcome", tac_sco_outcome_name(TAC_SCO_OUTCOME_COUNT));
	tac_sco_destroy(&sco);
	scene_body_free(&box);
	scene_body_free(&plane);
}

// At half a turn the shorter direction of the turn to the device changes; the SCO keeps its direction.
static void a_turn_near_pi_does_not_flip(void)
{
	scene_body box = scene_body_make(box_mesh(0.04, 0.04, 0.04, 1)),
		   slab = scene_body_make(box_mesh(0.4, 0.4, 0.02, 1));
	tac_sco_object object;
	tac_sco_def def = scene_def(&box, &slab, &object);
	tac_sco *sco = make(&def, at(0, 0, 0.0301));
	tac_sco_report r;
	tac_dvec3 last = tac_dvec3_zero();
	int flips = 0;
	for (int k = 0; k < 400; k++) {
		// The depth of the device presses the box flat on the slab, so it cannot follow a turn about
		// x to half a turn and beyond.
		double angle = 3.14159265358979 + 0.08 * sin(0.05 * k) * (k > 40) - 0.9 * exp(-0.1 * k);
		tac_sco_step(sco, turned(0, 0, -0.3, vec3(angle, 0, 0)), NULL, &r);
		tac_dvec3 w = tac_dquat_rotate(r.T_world_sco.rotation, vec3(0, 1, 0));
		flips += k > 60 && tac_dvec3_dot(w, last) < 0.5;
		last = w;
	}
	TEST_ASSERT_EQUAL(0, flips);
	tac_sco_destroy(&sco);
	scene_body_free(&box);
	scene_body_free(&slab);
}

static void a_def_out_of_range_is_refused(void)
{
	scene_body box = scene_body_make(box_mesh(0.04, 0.04, 0.04, 1));
	tac_sco_object object;
	tac_sco_def good = scene_def(&box, &box, &object), def = good;
	tac_sco *sco;
	def.tool = NULL;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_sco_create(&def, &sco));
	TEST_ASSERT_NULL(sco);
	def = good;
	def.metric_m = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_sco_create(&def, &sco));
	def = good;
	def.substeps = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_sco_create(&def, &sco));
	def = good;
	def.mover = TAC_SCO_REACTIVE;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_sco_create(&def, &sco));
	scene_body_free(&box);
}

// A sphere pressed 15 mm deep onto a land goes over the edge of a groove at 45 degrees: the contact with the
// land vanishes, and the sphere slides down the groove's side, in contact, to the point closest to the
// device.
typedef struct slide {
	double speed;          // the largest, m/s
	double began_s, end_s; // 1 mm below the land; within 1 mm of the end
	double height_m;       // at the end
} slide;

static slide slide_over_an_edge(const scene_body *tool, const scene_body *groove, double period_s)
{
	const double radius = 4e-3, width = 0.02, stop_s = 0.14;
	tac_sco_object object;
	tac_sco_def def = scene_def(tool, groove, &object);
	def.fixed_rotation = true;
	def.period_s = period_s;
	def.slew_m_per_s = 0.5;
	tac_sco *sco;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &sco));
	TEST_ASSERT_TRUE(tac_sco_reset(sco, at(0.001, width + 0.012, 1.1 * radius), NULL));
	slide d = {0, 0, 0, 0};
	const int count = (int)lround(0.3 / period_s);
	double *heights = calloc((size_t)count, sizeof *heights);
	for (int k = 0; k < count; k++) {
		tac_dpose before = tac_sco_pose(sco);
		tac_sco_report r;
		tac_sco_step(sco, at(0.001, width + 0.012 - 0.1 * fmin(k * period_s, stop_s), radius - 0.015),
			     NULL, &r);
		tac_dvec3 v = tac_dvec3_sub(r.T_world_sco.position, before.position);
		if (k * period_s > 0.05) // it comes down to the land in the first step
			d.speed = fmax(d.speed, tac_dvec3_length(v) / period_s);
		heights[k] = r.T_world_sco.position.z;
	}
	d.height_m = heights[count - 1];
	for (int k = 0; k < count; k++) {
		d.began_s = heights[k] > radius - 1e-3 ? (k + 1) * period_s : d.began_s;
		d.end_s = heights[k] > d.height_m + 1e-3 ? (k + 1) * period_s : d.end_s;
	}
	free(heights);
	tac_sco_destroy(&sco);
	return d;
}

static void a_tool_slides_as_fast_at_every_rate(void)
{
	scene_body tool = scene_body_make(sphere_mesh(0.004, 2)),
		   groove = scene_body_make(groove_mesh(0.05, 0.02, 0.02, 4));
	static const double periods_s[] = {1e-3, 2e-3, 5e-4, 2.5e-4, 1e-4};
	slide first = {0, 0, 0, 0};
	for (size_t i = 0; i < sizeof periods_s / sizeof *periods_s; i++) {
		slide d = slide_over_an_edge(&tool, &groove, periods_s[i]);
		printf("%5.0f Hz: at most %.3f m/s, slides from %.4f to %.4f s, to %.4f mm\n",
		       1 / periods_s[i], d.speed, d.began_s, d.end_s, d.height_m * 1e3);
		// The slew limit and twice the device's speed; a step may exceed it by 1 µm.
		TEST_ASSERT_TRUE(d.speed <= 0.7 * 1.03 + 1e-6 / periods_s[i]);
		TEST_ASSERT_TRUE(d.speed >= 0.65);
		first = i == 0 ? d : first;
		TEST_ASSERT_DOUBLE_WITHIN(2e-3, first.began_s, d.began_s);
		TEST_ASSERT_DOUBLE_WITHIN(4e-3, first.end_s, d.end_s);
		TEST_ASSERT_DOUBLE_WITHIN(5e-6, first.height_m, d.height_m);
	}
	scene_body_free(&tool);
	scene_body_free(&groove);
}

// A collider that may open one node in a step, so that every check takes several.
typedef struct slow_check {
	tac_shape *tool, *objects[2];
	tac_sco_object defs[2];
	tac_sco *sco;
} slow_check;

static slow_check slow_check_make(const scene_body *tool, const tac_mesh *tool_shape, const scene_body *first,
				  const scene_body *second, tac_dpose T_world_second)
{
	const tac_collider *wide = tac_collider_find("wide");
	slow_check c = {.defs = {{.body = first->body, .T_world_object = tac_dpose_identity()},
				 {.body = second->body, .T_world_object = T_world_second}}};
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(wide, tool_shape, &c.tool));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(wide, first->mesh, &c.objects[0]));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(wide, second->mesh, &c.objects[1]));
	for (int i = 0; i < 2; i++)
		c.defs[i].shape = c.objects[i];
	tac_sco_def def = tac_sco_def_default();
	def.tool = tool->body;
	def.objects = c.defs;
	def.object_count = 2;
	def.collider = wide;
	def.tool_shape = c.tool;
	def.collider_nodes = 1;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &c.sco));
	return c;
}

static void slow_check_reset(slow_check *c, tac_dpose T)
{
	bool placed = tac_sco_reset(c->sco, T, NULL);
	for (int k = 0; k < 1000 && !placed && tac_sco_reset_unfinished(c->sco); k++)
		placed = tac_sco_reset(c->sco, T, NULL);
	TEST_ASSERT_TRUE(placed);
}

static void slow_check_free(slow_check *c)
{
	tac_sco_destroy(&c->sco);
	tac_shape_destroy(&c->tool);
	tac_shape_destroy(&c->objects[0]);
	tac_shape_destroy(&c->objects[1]);
}

// The collider's shape of the tool is larger than its body, so that only the check can find the contact: it
// must not take a query that is not finished for one that found nothing.
static void a_check_that_takes_many_steps_finds_a_hit(void)
{
	scene_body box = scene_body_make(box_mesh(0.02, 0.02, 0.02, 1)),
		   larger = scene_body_make(box_mesh(0.022, 0.022, 0.022, 1)),
		   plane = scene_body_make(plane_mesh(0.2, 24)),
		   far = scene_body_make(box_mesh(0.01, 0.01, 0.01, 1));
	slow_check c = slow_check_make(&box, larger.mesh, &plane, &far, at(0, 0, 0.5));
	slow_check_reset(&c, at(0.003, 0.001, 0.03));
	tac_sco_report r = {0};
	int steps = 0, hit = 0;
	for (; steps < 1000 && !hit; steps++) {
		tac_sco_step(c.sco, at(0.003, 0.001, 0.005), NULL, &r);
		hit = (r.flags & TAC_SCO_CHECK_HIT) != 0;
	}
	TEST_ASSERT_TRUE(hit && steps > 1);
	TEST_ASSERT_TRUE(r.flags & TAC_SCO_FAULT);
	slow_check_free(&c);
	scene_body_free(&box);
	scene_body_free(&larger);
	scene_body_free(&plane);
	scene_body_free(&far);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(box_pressed_into_a_plane_rests_at_the_hold_gap);
	RUN_TEST(an_open_sheet_does_not_block_the_tool_behind_its_ridges);
	RUN_TEST(a_moving_block_pushes_the_tool);
	RUN_TEST(a_block_waits_for_a_tool_that_cannot_yield);
	RUN_TEST(a_start_in_contact_is_a_fault_until_the_next_reset);
	RUN_TEST(poses_that_are_not_finite_are_refused);
	RUN_TEST(the_report_says_how_the_last_substep_ended);
	RUN_TEST(a_turn_near_pi_does_not_flip);
	RUN_TEST(a_def_out_of_range_is_refused);
	RUN_TEST(a_tool_slides_as_fast_at_every_rate);
	RUN_TEST(a_check_that_takes_many_steps_finds_a_hit);
	return UNITY_END();
}
