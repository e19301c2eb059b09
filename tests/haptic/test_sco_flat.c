// Flat contact on fine meshes, turned in space and rounded to single precision: boxes and a disc on a plate,
// a box in a corner. At the speeds of a hand, and with the work of a large scene, the SCO is where the
// constraints put it, in closed form, and the contacts bear what the springs pull.
#include "haptic/sco.h"
#include "tests/support/limits.h"
#include "tests/support/sco_scenes.h"

#include <stdio.h>

#define HOLD_M 1e-5

void setUp(void)
{
}

void tearDown(void)
{
}

static const tac_dvec3 turn = {0.4, -0.7, 1.1};

// A mesh of the same triangles, built from the vertices as they were changed; frees the old one.
static tac_mesh *rebuilt(tac_mesh *mesh)
{
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = mesh->vertices;
	def.vertex_count = mesh->vertex_count;
	def.triangles = mesh->triangles;
	def.triangle_count = mesh->triangle_count;
	tac_mesh *out;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &out));
	tac_mesh_destroy(&mesh);
	return out;
}

static tac_mesh *turned_mesh(tac_mesh *mesh)
{
	tac_dquat R = tac_dquat_exp(turn);
	for (int32_t i = 0; i < mesh->vertex_count; i++) {
		tac_dvec3 v = tac_dvec3_from_vec3(mesh->vertices[i]);
		mesh->vertices[i] = tac_vec3_from_dvec3(tac_dquat_rotate(R, v));
	}
	return rebuilt(mesh);
}

// A scenario in the frame before the turn. `device` gives the device's position at a distance along its path;
// `lag` how far the SCO is from where the constraints put it.
typedef struct scenario {
	const char *name;
	scene_body tool, scene;
	tac_dvec3 start;
	tac_dvec3 (*device)(double s);
	double (*lag)(tac_dvec3 device, tac_dvec3 sco);
	double length_m;   // of the path
	double max_load_m; // the sum of the loads at the end, as a length
} scenario;

static void follow(const scenario *c, double speed)
{
	tac_sco_object object;
	tac_sco_def def = scene_def(&c->tool, &c->scene, &object);
	def.work_units = 1500;
	def.slew_m_per_s = 0.5;
	tac_dquat R = tac_dquat_exp(turn);
	tac_sco *sco;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &sco));
	TEST_ASSERT_TRUE(tac_sco_reset(sco, tac_dpose_make(tac_dquat_rotate(R, c->start), R), NULL));
	const int moving = (int)(c->length_m / speed / 1e-3), count = moving + 60;
	double worst = 0, rest = 0, load = 0, units = 0;
	int spent = 0;
	for (int k = 0; k < count; k++) {
		tac_dvec3 device = c->device(fmin(k * 1e-3 * speed, c->length_m));
		tac_sco_report r;
		tac_sco_step(sco, tac_dpose_make(tac_dquat_rotate(R, device), R), NULL, &r);
		tac_dvec3 p = tac_dquat_rotate(tac_dquat_conjugate(R), r.T_world_sco.position);
		double lag = c->lag(device, p);
		worst = fmax(worst, k > 20 ? lag : 0);
		rest = k >= moving + 50 ? fmax(rest, lag) : 0;
		spent += (r.flags & TAC_SCO_BUDGET_SPENT) != 0;
		units = fmax(units, (double)r.work_units);
		load = 0;
		for (int i = 0; i < r.contact_count; i++)
			load += r.contacts[i].load_m;
	}
	tac_sco_destroy(&sco);
	printf("%s, %d on %d triangles, %.1f m/s: lags %.3f um, at rest %.3f um, load %.4f mm, %.0f units at "
	       "most, %d of %d spent\n",
	       c->name, (int)c->tool.mesh->triangle_count, (int)c->scene.mesh->triangle_count, speed,
	       worst * 1e6, rest * 1e6, load * 1e3, units, spent, count);
	TEST_ASSERT_TRUE(worst < 1e-3);
	TEST_ASSERT_TRUE(rest < 5e-6);
	TEST_ASSERT_DOUBLE_WITHIN(5e-6, c->max_load_m, load);
}

static void follow_all(scenario *c)
{
	follow(c, 0.1);
	follow(c, 0.5);
	scene_body_free(&c->tool);
	scene_body_free(&c->scene);
}

// --- on a plate ---

// 2 mm below the pose of rest, in an arc.
static tac_dvec3 arc(double s)
{
	return vec3(0.03 * cos(s / 0.03), 0.03 * sin(s / 0.03), -2e-3);
}

static double lag_on_plate(tac_dvec3 device, tac_dvec3 sco)
{
	return tac_dvec3_length(vec3(sco.x - device.x, sco.y - device.y, sco.z - HOLD_M));
}

// The tool's bottom is at its origin.
static tac_mesh *raised(tac_mesh *mesh, double height)
{
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		mesh->vertices[i].z += (float)height;
	return rebuilt(mesh);
}

static tac_mesh *fine_plate(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(0.2F, 0.2F, 128, 192, &mesh));
	return mesh;
}

static void slide_on_fine_plate(const char *name, tac_mesh *tool)
{
	scenario c = {name,
		      scene_body_make(tool),
		      scene_body_make(turned_mesh(fine_plate())),
		      vec3(0.03, 0, 1e-3),
		      arc,
		      lag_on_plate,
		      0.08,
		      2e-3 + HOLD_M};
	follow_all(&c);
}

static void a_box_of_any_tessellation_slides_on_a_fine_plane(void)
{
	static const int cuts[] = {4, 8, 16};
	for (int i = 0; i < 3; i++)
		slide_on_fine_plate("box on plane", raised(box_mesh(0.01, 0.01, 0.01, cuts[i]), 0.005));
}

static void a_disc_slides_on_a_fine_plate(void)
{
	tac_mesh *disc;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cylinder(0.02F, 0.004F, 256, 8, &disc));
	slide_on_fine_plate("disc on plate", raised(disc, 0.002));
}

// --- in a corner ---

static tac_dvec3 into_the_corner(double s)
{
	return vec3(0.018 - 0.5 * s, 0.018 - 0.3 * s, 0.018);
}

static double lag_in_corner(tac_dvec3 device, tac_dvec3 sco)
{
	(void)device;
	double rest = 0.02 + HOLD_M;
	return tac_dvec3_length(tac_dvec3_sub(sco, vec3(rest, rest, rest)));
}

static void a_box_rests_in_a_fine_corner(void)
{
	tac_dvec3 end = into_the_corner(0.01);
	double rest = 0.02 + HOLD_M;
	scenario c = {"box in corner",
		      scene_body_make(box_mesh(0.04, 0.04, 0.04, 12)),
		      scene_body_make(turned_mesh(corner_mesh(0.12, 0.02, 40))),
		      vec3(0.021, 0.021, 0.021),
		      into_the_corner,
		      lag_in_corner,
		      0.01,
		      3 * rest - end.x - end.y - end.z};
	follow_all(&c);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_box_of_any_tessellation_slides_on_a_fine_plane);
	RUN_TEST(a_disc_slides_on_a_fine_plate);
	RUN_TEST(a_box_rests_in_a_fine_corner);
	return UNITY_END();
}
