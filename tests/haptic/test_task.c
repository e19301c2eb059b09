// The figures of a task against closed forms on made-up snapshots, and against a second computation from the
// rows of a whole insertion.
#include "base/rng.h"
#include "collision/mesh_shapes.h"
#include "haptic/task.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "tests/support/servo_fixture.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

static tac_scene *scene;
static tac_world *world;
static tac_task *task;

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged[0] = 0;
	logged_lines = 0;
}

void tearDown(void)
{
	tac_task_destroy(&task);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
	tac_log_set(NULL, NULL);
}

static void build(const char *text)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "x.yaml", &scene));
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
	TEST_ASSERT_EQUAL(TAC_OK, tac_task_create(world, 0, &task));
}

#define BALL "tools: [{name: t, shapes: [{kind: sphere, radius_m: 0.002}]}]\n"

// A snapshot at a time, with the tool at a place and a force along z.
static tac_snapshot *at(int64_t ms, tac_dvec3 p, double force_N, int32_t contacts)
{
	static tac_snapshot s;
	memset(&s, 0, sizeof s);
	s.time_ns = 5 * INT64_C(1000000000) + ms * 1000000;
	s.T_world_sco = tac_dpose_make(p, tac_dquat_identity());
	s.T_world_device = s.T_world_sco;
	s.sent.force_N = tac_dvec3_make(0, 0, force_N);
	s.contact_count = contacts;
	s.contacts[0].object_triangle = -1;
	for (int i = 0; i < TAC_SNAPSHOT_OBJECTS; i++)
		s.T_world_objects[i] = tac_dpose_identity();
	return &s;
}

// ---- closed forms ----

static void path_and_speed_of_a_circle(void)
{
	build("scene: x\n" BALL);
	for (int i = 0; i <= 2000; i++) {
		const double phi = 2 * PI * i / 1000;
		tac_task_step(task, at(i, tac_dvec3_make(0.05 * cos(phi), 0.05 * sin(phi), 0), 0, 0));
	}
	const tac_task_figures *f = tac_task_read(task);
	TEST_ASSERT_DOUBLE_WITHIN(1e-5, 4 * PI * 0.05, f->path_m);
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, 2 * PI * 0.05, f->max_speed_m_per_s);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2, f->time_s);
	TEST_ASSERT_EQUAL_DOUBLE(0, f->touch_s);
	TEST_ASSERT_TRUE(f->passed);
}

static int compare_forces(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

// In every tick the percentile is that of all forces so far, by sorting them.
static void percentile_follows_forces_that_jump(void)
{
	enum { TICKS = 400 };
	double forces[TICKS], sorted[TICKS];
	build("scene: x\n" BALL);
	for (int i = 0; i < TICKS; i++) {
		// Up, down, and beyond the last bin.
		forces[i] = i % 7 == 0 ? 30 : i < 200 ? 0.013 * ((i * 37) % 101) : 0.001 * ((i * 53) % 89);
		tac_task_step(task, at(i, tac_dvec3_zero(), forces[i], 1));
		memcpy(sorted, forces, sizeof sorted);
		qsort(sorted, (size_t)i + 1, sizeof *sorted, compare_forces);
		const double exact = sorted[(int)ceil(0.95 * (i + 1)) - 1];
		const double found = tac_task_read(task)->force_95_N;
		if (exact < 20)
			TEST_ASSERT_DOUBLE_WITHIN(TAC_TASK_FORCE_STEP_N, exact, found);
		else
			TEST_ASSERT_TRUE(found > 20);
	}
}

// A force that rises evenly from 0 to 5 N within 10 s of touch: mean 2.5, 95 % below 4.75 N.
static void forces_of_a_ramp(void)
{
	build("scene: x\n" BALL "task: {limits: {max_force_N: 4, time_s: 9, path_m: 0.01}}\n");
	for (int i = 0; i <= 10000; i++)
		tac_task_step(task, at(i, tac_dvec3_zero(), 5.0 * i / 10000, 1));
	tac_task_step(task, at(10001, tac_dvec3_zero(), 0, 0));
	const tac_task_figures *f = tac_task_read(task);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 5, f->max_force_N);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2.5, f->mean_force_N);
	TEST_ASSERT_DOUBLE_WITHIN(TAC_TASK_FORCE_STEP_N, 4.75, f->force_95_N);
	TEST_ASSERT_DOUBLE_WITHIN(2e-3, 2, f->over_s);
	TEST_ASSERT_EQUAL(1, f->overs);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 10, f->touch_s);
	TEST_ASSERT_EQUAL(1, f->bone_contacts);
	TEST_ASSERT_FALSE(f->passed);
	tac_task_row rows[TAC_TASK_ROWS];
	const int32_t count = tac_task_list(f, world, 0, rows);
	int exceeded = 0;
	for (int32_t i = 0; i < count; i++)
		exceeded += rows[i].exceeded;
	TEST_ASSERT_EQUAL(2, exceeded); // force and time; the tool did not move
}

// A ball of 2 mm passes a protected sphere of 3 mm at 1 mm: closer than 4 mm along a chord that Pythagoras
// gives; then it goes through another one.
static void distances_to_protected_spheres(void)
{
	build("scene: x\n" BALL "objects: [{name: o, shapes: [{kind: box, size_m: [0.01, 0.01, 0.01], "
	      "segments: 1}], protect: [\n"
	      "  {name: near, solids: \"sphere:r=0.003,y=0.006\", warn_m: 0.004},\n"
	      "  {name: hit, solids: \"sphere:r=0.003,x=0.06\"}]}]\n");
	const double v = 1e-5; // m per tick
	for (int i = 0; i <= 10000; i++)
		tac_task_step(task, at(i, tac_dvec3_make(-0.02 + v * i, 0, 0), 0, 0));
	const tac_task_figures *f = tac_task_read(task);
	TEST_ASSERT_EQUAL(2, f->structure_count);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.001, f->structures[0].least_distance_m);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 2, f->structures[0].least_time_s);
	const double chord = 2 * sqrt(0.009 * 0.009 - 0.006 * 0.006);
	TEST_ASSERT_DOUBLE_WITHIN(3e-3, chord / v * 1e-3, f->structures[0].warned_s);
	TEST_ASSERT_EQUAL(1, f->structures[0].warnings);
	TEST_ASSERT_EQUAL(0, f->structures[0].breaches);
	TEST_ASSERT_EQUAL(1, f->structures[1].breaches);
	TEST_ASSERT_DOUBLE_WITHIN(3e-3, 0.01 / v * 1e-3, f->structures[1].breached_s);
	TEST_ASSERT_DOUBLE_WITHIN(1e-8, -0.005, f->structures[1].least_distance_m);
	TEST_ASSERT_FALSE(f->passed);
}

// The distance of two capsules against the nearest of many points of both.
static void distance_of_capsules_is_that_of_many_points(void)
{
	build("scene: x\ntools: [{name: n, needle: {radius_m: 0.0005, length_m: 0.08}}]\n"
	      "objects: [{name: o, shapes: [{kind: box}], protect: [\n"
	      "  {name: nerve, solids: \"capsule:r=0.002,h=0.05,axis=y,x=0.01+sphere:r=0.004,z=0.05\"}]}]\n");
	tac_rng rng = tac_rng_seed(3, 1);
	for (int k = 0; k < test_rounds(200); k++) {
		tac_snapshot *s = at(k, tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.05), 0, 0);
		s->T_world_sco.rotation = tac_rng_rotation_f64(&rng);
		tac_task_step(task, s);
		double least = HUGE_VAL;
		const int n = 800;
		for (int i = 0; i <= n; i++) {
			const tac_dvec3 p = tac_dpose_apply_point(
				s->T_world_sco, tac_dvec3_make(0, 0, 0.0005 + 0.079 * i / n));
			const double y =
				fmin(fmax(p.y, -0.025), 0.025); // nearest point of the capsule's core
			least = fmin(least,
				     tac_dvec3_length(tac_dvec3_sub(p, tac_dvec3_make(0.01, y, 0))) - 0.002);
			least = fmin(least,
				     tac_dvec3_length(tac_dvec3_sub(p, tac_dvec3_make(0, 0, 0.05))) - 0.004);
		}
		TEST_ASSERT_DOUBLE_WITHIN(5e-5, least - 0.0005,
					  tac_task_read(task)->structures[0].distance_m);
		TEST_ASSERT_TRUE(tac_task_read(task)->structures[0].distance_m <= least - 0.0005 + 1e-12);
	}
}

// A ball passes above a box and then through it: the structure is a mesh, and its object has moved.
static void distances_to_a_protected_mesh(void)
{
	build("scene: x\n" BALL "objects: [{name: o, shapes: [{kind: box}], protect: [\n"
	      "  {name: nerve, warn_m: 0.003, shapes: [{kind: box, size_m: [0.02, 0.01, 0.01]}]}]}]\n");
	const tac_task_figures *f = tac_task_read(task);
	for (int i = 0; i <= 8000; i++) {
		const double x = i < 4000 ? -0.02 + 1e-5 * i : 0.02 - 1e-5 * (i - 4000),
			     z = i < 4000 ? 0.008 : 0;
		const double beyond = fmax(fabs(x) - 0.01, 0),
			     above = fmax(z - 0.005, 0); // outside: of the nearest point of the box
		tac_snapshot *s = at(i, tac_dvec3_make(0.1 + x, 0, z), 0, 0);
		s->T_world_objects[0].position = tac_dvec3_make(0.1, 0, 0);
		tac_task_step(task, s);
		const double depth = fmin(0.01 - fabs(x), 0.005);
		TEST_ASSERT_DOUBLE_WITHIN(1e-8, (z > 0 || depth < 0 ? hypot(beyond, above) : -depth) - 0.002,
					  f->structures[0].distance_m);
	}
	TEST_ASSERT_EQUAL(1, f->structures[0].breaches);
	TEST_ASSERT_EQUAL(2, f->structures[0].warnings);
	TEST_ASSERT_EQUAL(0, f->structures[0].unfinished);
	TEST_ASSERT_DOUBLE_WITHIN(1e-8, -0.007, f->structures[0].least_distance_m);
	TEST_ASSERT_DOUBLE_WITHIN(3e-3, 2.4, f->structures[0].breached_s); // 12 mm each way
	TEST_ASSERT_FALSE(f->passed);
	tac_task_destroy(&task);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
	static const char open[] =
		"scene: x\n" BALL "objects: [{name: o, shapes: [{kind: box}], protect: [{name: "
		"nerve, shapes: [{kind: memory, file: sheet}]}]}]\n";
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(open, strlen(open), "x.yaml", &scene));
	tac_mesh *sheet;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(0.01F, 0.01F, 4, 4, &sheet));
	scene->objects[0].protect[0].shapes[0].mesh = sheet;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_world_build(scene, tac_collider_find("wide"), &world));
	tac_mesh_destroy(&sheet);
	TEST_ASSERT_EQUAL_STRING("nerve: expected a closed mesh, which has an inside, found an open one",
				 logged);
}

// A cylindrical burr beside and above a sphere and a long capsule along y: closed forms of side, end and
// edge.
static void distances_of_a_cylindrical_burr(void)
{
	build("scene: x\n"
	      "tools: [{name: t, shapes: [{kind: cylinder, radius_m: 0.001, height_m: 0.004, position_m: [0, "
	      "0, "
	      "0.002]}], drill: {radius_m: 0.001, length_m: 0.004}}]\n"
	      "objects: [{name: o, shapes: [{kind: box}], protect: [\n"
	      "  {name: ball, solids: \"sphere:r=0.002\"}, {name: nerve, solids: "
	      "\"capsule:r=0.002,h=0.05,axis=y\"}]}]\n");
	for (int i = 0; i < 400; i++) {
		const double x = 0.01 * cos(0.1 * i), z = 0.01 * sin(0.07 * i);
		const double side = fabs(x) - 0.001,
			     end = fmax(z, -0.004 - z); // of the axis through the origin
		const double gap = side > 0 && end > 0 ? hypot(side, end) : fmax(side, end);
		tac_task_step(task, at(i, tac_dvec3_make(x, 0, z), 0, 0));
		const tac_task_figures *f = tac_task_read(task);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, gap - 0.002, f->structures[0].distance_m);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, gap - 0.002, f->structures[1].distance_m);
	}
}

static void coverage_is_the_touched_part_of_the_area(void)
{
	build("scene: x\n" BALL
	      "objects: [{name: o, shapes: [{kind: box, size_m: [0.02, 0.01, 0.01], segments: 1}]}]\n"
	      "task: {target: o}\n");
	const tac_mesh *mesh = world->objects[0].mesh;
	TEST_ASSERT_EQUAL(12, mesh->triangle_count);
	double area = 0;
	for (int i = 0; i < 12; i++) {
		const int32_t *v = mesh->triangles[i].vertex;
		const tac_vec3 n = tac_vec3_triangle_normal(mesh->vertices[v[0]], mesh->vertices[v[1]],
							    mesh->vertices[v[2]]);
		if (i % 3 == 0) { // touch some of them, one twice, one too gently
			tac_snapshot *s = at(i, tac_dvec3_zero(), 1, 1);
			s->contacts[0].object_triangle = i;
			s->contacts[0].force_N = tac_dvec3_make(0, 0, i == 6 ? 0.01 : 1);
			tac_task_step(task, s);
			tac_task_step(task, s);
			area += i == 6 ? 0 : fabsf(n.x) > 0.5f ? 0.5e-4 : 1e-4;
		}
	}
	const double all = 2 * 1e-4 + 4 * 2e-4;
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, area / all, tac_task_read(task)->coverage);
}

static void volumes_add_up_by_material(void)
{
	build("scene: x\nmaterials: [{name: enamel}, {name: dentin}]\n" BALL);
	for (int i = 0; i < 1000; i++)
		tac_task_add_volume(task, i % 4 == 0, 1e-12);
	tac_task_add_volume(task, -1, 1);
	tac_task_add_volume(task, 1000, 1);
	const tac_task_figures *f = tac_task_read(task);
	TEST_ASSERT_DOUBLE_WITHIN(1e-18, 750e-12, f->volume_m3[0]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-18, 250e-12, f->volume_m3[1]);
}

// A ball of caries in a block: passed only when the part that the scene asks for is gone.
static void a_target_has_to_be_removed(void)
{
	build("scene: x\n"
	      "materials: [{name: dentin, cutting_energy_J_per_m3: 4.0e+7}, {name: caries, "
	      "cutting_energy_J_per_m3: 1.0e+7}]\n" BALL "objects:\n"
	      "- name: block\n"
	      "  shapes: [{kind: box, size_m: [0.01, 0.01, 0.01]}]\n"
	      "  material: dentin\n"
	      "  drillable: {voxel_m: 0.0002, inside: [{material: caries, solids: \"sphere:r=0.003\", "
	      "target: "
	      "true}]}\n"
	      "task: {removed: 0.75}\n");
	const double ball_m3 = 4 * PI / 3 * 27e-9;
	const tac_task_figures *f = tac_task_read(task);
	TEST_ASSERT_DOUBLE_WITHIN(0.01 * ball_m3, ball_m3, f->target_m3);
	const int32_t caries = tac_scene_find_material(scene, "caries"),
		      dentin = tac_scene_find_material(scene, "dentin");
	tac_task_add_volume(task, dentin, 1e-6);
	tac_task_step(task, at(0, tac_dvec3_zero(), 0, 0));
	TEST_ASSERT_EQUAL_DOUBLE(0, f->removed);
	TEST_ASSERT_FALSE(f->passed);
	for (int i = 1; i <= 100; i++) {
		tac_task_add_volume(task, caries, 0.01 * f->target_m3);
		tac_task_step(task, at(i, tac_dvec3_zero(), 0, 0));
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.01 * i, f->removed);
		TEST_ASSERT_EQUAL(i >= 75, f->passed);
	}
	tac_task_row rows[TAC_TASK_ROWS];
	const int32_t count = tac_task_list(f, world, 0, rows);
	int32_t i = 0;
	while (i < count && strcmp(rows[i].name, "target removed") != 0)
		i++;
	TEST_ASSERT_TRUE(i < count && rows[i].at_least && !rows[i].exceeded);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 100, rows[i].value);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 75, rows[i].limit);
}

static void keys_of_the_task_are_checked(void)
{
	static const char *const cases[][2] = {
		{"scene: x\n" BALL "task: {target: none}\n",
		 "x.yaml:3:16: expected the name of an object, found 'none'"},
		{"scene: x\n" BALL "task: {target_layer: dura}\n",
		 "x.yaml:3:22: expected the name of a material, found 'dura'"},
		{"scene: x\n" BALL "task: {limits: {max_force_N: 0}}\n",
		 "x.yaml:3:30: expected a number from 1e-06 to 1000, found '0'"},
		{"scene: x\n" BALL "task: {limit: {}}\n",
		 "x.yaml:3:8: expected a key of a task, found 'limit'; did you mean 'limits'?"},
		{"scene: x\n" BALL "task: {removed: 0.9}\n",
		 "x.yaml:3:17: expected a drillable body with `target: true`, found none"},
		{"scene: x\n" BALL "objects: [{name: o, shapes: [{kind: box}], protect: [{name: p, solids: "
		 "\"sphere:q=1\"}]}]\n",
		 "x.yaml:3:72: expected NAME=NUMBER of the solid, x, y, z or axis=x|y|z, found 'q=1'"},
		{"scene: x\n" BALL "objects: [{name: o, shapes: [{kind: box}], protect: [{name: p}]}]\n",
		 "x.yaml:3:61: expected either 'solids' or 'shapes', found neither"},
		{"scene: x\n" BALL "objects: [{name: o, shapes: [{kind: box}], protect: [{name: p, shapes: "
		 "[{kind: box}], solids: \"sphere:r=1\"}]}]\n",
		 "x.yaml:3:61: expected either 'solids' or 'shapes', found both"},
		{"scene: x\n" BALL "objects: [{name: o, shapes: [{kind: box}], protect: [{name: p, shapes: "
		 "[{kind: mesh, file: none.stl}]}]}]\n",
		 "x.yaml:3:92: expected a mesh file, found 'none.stl': No such file or directory"},
		{"scene: x\ntools: [{name: t, shapes: [{kind: solids, solids: \"spere:r=1\"}]}]\n",
		 "x.yaml:2:51: expected sphere:, capsule:, cylinder:, cone: or toroid:, found 'spere:r=1'"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tac_scene *none;
		logged_lines = 0;
		tac_scene_parse(cases[i][0], strlen(cases[i][0]), "x.yaml", &none);
		TEST_ASSERT_NULL(none);
		TEST_ASSERT_EQUAL_INT(1, logged_lines);
		TEST_ASSERT_EQUAL_STRING(cases[i][1], logged);
	}
	static const char box[] = "scene: x\n" BALL "objects: [{name: o, shapes: [{kind: box}], protect: "
				  "[{name: p, solids: \"cylinder:r=0.01,h=0.1\"}]}]\n";
	tac_scene *none;
	tac_scene_parse(box, strlen(box), "x.yaml", &none);
	TEST_ASSERT_NULL(none);
	TEST_ASSERT_EQUAL_STRING("x.yaml:3:72: expected spheres and capsules, or 'shapes' in place of "
				 "'solids', found 'cylinder:r=0.01,h=0.1'",
				 logged);
}

// ---- a whole insertion ----

// The scene's own hand at `rate_Hz`; the figures again, by other code, from what each tick showed.
static void figures_of_an_insertion_are_those_of_its_rows(void)
{
	fixture f;
	memset(&f, 0, sizeof f);
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin("lumbar", &f.scene));
	fixture_build_scene(&f, "wide", tac_servo_def_default());
	const tac_scene_tool *tool = &f.scene->tools[0];
	enum { TICKS = 15500 };
	double max_N = 0, sum_N = 0, path = 0, deepest = 0, least = HUGE_VAL, opened_s[16] = {0};
	double forces[16] = {0}, before_N = 0;
	int touched = 0, opened = 0;
	tac_dvec3 last = tac_dvec3_zero();
	for (int i = 0; i < TICKS; i++) {
		const tac_dpose T = tac_world_path_pose(tool->hand, tool->hand_count, i * MS);
		f.hand.state.T_base_tool.rotation = T.rotation;
		const tac_snapshot *s = step_to(&f, T.position);
		const double N = tac_dvec3_length(s->sent.force_N);
		const tac_dvec3 tip = s->T_world_sco.position;
		max_N = N > max_N ? N : max_N;
		if (s->needle.object >= 0) {
			sum_N += N;
			touched++;
		}
		path += i > 0 ? tac_dvec3_length(tac_dvec3_sub(tip, last)) : 0;
		last = tip;
		if (s->needle.state.layer >= 0)
			deepest = fmax(deepest, -tip.z);
		for (int k = 0; k <= 900;
		     k++) { // the nerve root: a capsule along y through x = 11, z = -56 mm
			const tac_dvec3 p = tac_dpose_apply_point(
				s->T_world_sco, tac_dvec3_make(0, 0, 0.00045 + k * 0.0001 * 0.99));
			least = fmin(least, hypot(p.x - 0.011, p.z + 0.056) - 0.002 - 0.00045);
			if (i % 100)
				break; // the tip is the nearest; all of the shaft now and then
		}
		while (opened < s->needle.state.punctures && opened < 16) {
			opened_s[opened] = i * 1e-3;
			forces[opened++] = before_N;
		}
		before_N = s->sent.force_N.z;
	}
	const tac_task_figures *figures = tac_servo_task(f.servo);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, max_N, figures->max_force_N);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, sum_N / touched, figures->mean_force_N);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, path, figures->path_m);
	TEST_ASSERT_DOUBLE_WITHIN(1e-8, deepest, figures->max_depth_m);
	TEST_ASSERT_DOUBLE_WITHIN(2e-5, least, figures->structures[0].least_distance_m);
	TEST_ASSERT_EQUAL(7, figures->puncture_count);
	TEST_ASSERT_EQUAL(7, opened);
	for (int i = 0; i < 7; i++) {
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, opened_s[i], figures->punctures[i].time_s);
		TEST_ASSERT_DOUBLE_WITHIN(0.01, forces[i], figures->punctures[i].force_N);
		TEST_ASSERT_EQUAL(i, figures->punctures[i].layer);
	}
	TEST_ASSERT_TRUE(figures->reached && figures->passed);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, opened_s[6], figures->reached_s);
	TEST_ASSERT_DOUBLE_WITHIN(1e-8, deepest - 0.05, figures->overshoot_m);
	TEST_ASSERT_EQUAL(1, figures->insertions);
	fixture_fini(&f);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(path_and_speed_of_a_circle);
	RUN_TEST(forces_of_a_ramp);
	RUN_TEST(percentile_follows_forces_that_jump);
	RUN_TEST(distances_to_protected_spheres);
	RUN_TEST(distances_to_a_protected_mesh);
	RUN_TEST(distances_of_a_cylindrical_burr);
	RUN_TEST(distance_of_capsules_is_that_of_many_points);
	RUN_TEST(coverage_is_the_touched_part_of_the_area);
	RUN_TEST(volumes_add_up_by_material);
	RUN_TEST(a_target_has_to_be_removed);
	RUN_TEST(keys_of_the_task_are_checked);
	RUN_TEST(figures_of_an_insertion_are_those_of_its_rows);
	return UNITY_END();
}
