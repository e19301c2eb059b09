// Conforming contact: tools and scenes whose surfaces meet in many triangles at once, and where the
// constraints put the tool, in closed form where there is one. For bench_conform and test_sco_conform. The
// device presses the tool against the scene and moves along a direction that the contact leaves free, then
// stops. Scenes may be turned in space: their vertices are then rounded to float in any orientation.
#ifndef TAC_BENCH_CONFORMING_H
#define TAC_BENCH_CONFORMING_H

#include "collision/assembly.h"
#include "collision/body.h"
#include "collision/mesh_shapes.h"
#include "haptic/sco.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFORMING_HOLD_M   1e-5
#define CONFORMING_SPHERE_M 1e-5
#define CONFORMING_OBJECTS  4
#define CONFORMING_TICKS    8000
#define CONFORMING_FINE     20000 // triangles, see haptic/servo/setup.c
#define CONFORMING_PI       3.14159265358979323846
// The rotations of a turned scene and of a tool in its own frame.
#define CONFORMING_TURN         (tac_dvec3_make(0.4, -0.7, 1.1))
#define CONFORMING_TURN_OF_TOOL (tac_dvec3_make(-0.9, 0.35, 0.6))

typedef struct conforming conforming;

struct conforming {
	const char *name;
	tac_mesh *tool, *scene[CONFORMING_OBJECTS];
	tac_dvec3 at[CONFORMING_OBJECTS]; // where the objects are, m
	int32_t objects;
	tac_dpose start;    // free
	tac_dpose from, to; // of the path of the device, pressed
	double arm_m;       // a turn of the tool counts as this times its angle
	// Where the constraints put the tool; NULL: the same path with unlimited work tells.
	tac_dpose (*goal)(const conforming *c, tac_dpose device);
	double size[3]; // what the goal needs to know, m
	double load_m;  // the sum of the contacts' loads at the end in closed form; 0: there is none
	bool curved;    // no flat faces: no part of the acceptance of flat and prismatic contact
};

static inline void conforming_need(tac_result result)
{
	if (result != TAC_OK)
		exit(1);
}

// The mesh with its vertices moved by T; where `hollow`, only its triangles below z = 0, turned inside out.
// The original is freed.
static inline tac_mesh *conforming_placed(tac_mesh *mesh, tac_dpose T, bool hollow)
{
	tac_vec3 *v = malloc((size_t)mesh->vertex_count * sizeof *v);
	tac_mesh_triangle *t = malloc((size_t)mesh->triangle_count * sizeof *t);
	if (!v || !t)
		exit(1);
	tac_mesh_def def = tac_mesh_def_default();
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		v[i] = tac_vec3_from_dvec3(tac_dpose_apply_point(T, tac_dvec3_from_vec3(mesh->vertices[i])));
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		const int32_t *c = mesh->triangles[i].vertex;
		if (!hollow)
			t[def.triangle_count++] = mesh->triangles[i];
		else if (fmaxf(v[c[0]].z, fmaxf(v[c[1]].z, v[c[2]].z)) <= 0)
			t[def.triangle_count++] = (tac_mesh_triangle){{c[0], c[2], c[1]}};
	}
	def.vertices = v;
	def.vertex_count = mesh->vertex_count;
	def.triangles = t;
	tac_mesh *out;
	conforming_need(tac_mesh_build(&def, &out));
	free(v);
	free(t);
	tac_mesh_destroy(&mesh);
	return out;
}

static inline tac_dpose conforming_at(double x, double y, double z)
{
	return tac_dpose_make(tac_dvec3_make(x, y, z), tac_dquat_identity());
}

static inline tac_dpose conforming_turned_at(double x, double y, double z, tac_dvec3 turn)
{
	return tac_dpose_make(tac_dvec3_make(x, y, z), tac_dquat_exp(turn));
}

// Ticks of a millisecond: from the start to the beginning of the path, there, and at the end of the path.
#define CONFORMING_PRESS 50
#define CONFORMING_HOLD  30
#define CONFORMING_REST  60
// Of the last ones, before the SCO must be at rest.
#define CONFORMING_SETTLE 50

// The pose between two others.
static inline tac_dpose conforming_between(tac_dpose a, tac_dpose b, double s)
{
	const tac_dvec3 turn = tac_dquat_log(tac_dquat_mul(b.rotation, tac_dquat_conjugate(a.rotation)));
	return tac_dpose_make(tac_dvec3_lerp(a.position, b.position, s),
			      tac_dquat_mul(tac_dquat_exp(tac_dvec3_scale(turn, s)), a.rotation));
}

// The device's pose at a tick; `moving` is how many ticks its path takes, `ways` how often it goes along it,
// to and fro.
static inline tac_dpose conforming_device(const conforming *c, int tick, int moving, int ways)
{
	if (tick < CONFORMING_PRESS)
		return conforming_between(c->start, c->from, (double)tick / CONFORMING_PRESS);
	const int on_path = tick - CONFORMING_PRESS - CONFORMING_HOLD;
	const double at = fmin(ways, fmax(0, (double)on_path / moving)), back = fmod(at, 2);
	return conforming_between(c->from, c->to, back > 1 ? 2 - back : back);
}

// The length of the path: of its translation or of its turn, m.
static inline double conforming_length(const conforming *c)
{
	return fmax(tac_dvec3_length(tac_dvec3_sub(c->to.position, c->from.position)),
		    c->arm_m * tac_dquat_angle(
				       tac_dquat_mul(c->to.rotation, tac_dquat_conjugate(c->from.rotation))));
}

static inline double conforming_apart(const conforming *c, tac_dpose a, tac_dpose b)
{
	return tac_dvec3_length(tac_dvec3_sub(a.position, b.position)) +
	       c->arm_m * tac_dquat_angle(tac_dquat_mul(a.rotation, tac_dquat_conjugate(b.rotation)));
}

static inline void conforming_free(conforming *c)
{
	tac_mesh_destroy(&c->tool);
	for (int32_t i = 0; i < c->objects; i++)
		tac_mesh_destroy(&c->scene[i]);
}

// --- on a plate ---

static inline tac_dpose conforming_on_plate(const conforming *c, tac_dpose device)
{
	device.position.z = c->size[0] + CONFORMING_HOLD_M;
	return device;
}

// The plate is a box, turned about its normal, of 49,152 triangles.
static inline tac_mesh *conforming_plate(double turn)
{
	tac_mesh *plate;
	conforming_need(tac_mesh_build_box(tac_vec3_make(0.2F, 0.2F, 0.02F), 64, &plate));
	return conforming_placed(plate, conforming_turned_at(0, 0, -0.01, tac_dvec3_make(0, 0, turn)), false);
}

static inline conforming conforming_slider(const char *name, tac_mesh *tool, double half_height, double turn)
{
	const double z = half_height - 0.002;
	conforming c = {.name = name, .tool = tool, .objects = 1, .arm_m = 0.01};
	c.scene[0] = conforming_plate(0.3 * turn);
	c.start = conforming_at(-0.05, 0.0013, half_height + 1e-4);
	c.from = conforming_at(-0.05, 0.0013, z);
	c.to = conforming_turned_at(0.05, -0.01, z, tac_dvec3_make(0, 0, turn));
	c.goal = conforming_on_plate;
	c.size[0] = half_height;
	c.load_m = 0.002 + CONFORMING_HOLD_M;
	return c;
}

static inline conforming conforming_box(const char *name, int32_t segments)
{
	tac_mesh *box;
	conforming_need(tac_mesh_build_box(tac_vec3_make(0.01F, 0.01F, 0.01F), segments, &box));
	return conforming_slider(name, box, 0.005, 0);
}

static inline conforming conforming_box_192(void)
{
	return conforming_box("box of 192 on a plate", 4);
}

static inline conforming conforming_box_768(void)
{
	return conforming_box("box of 768 on a plate", 8);
}

static inline conforming conforming_box_3072(void)
{
	return conforming_box("box of 3,072 on a plate", 16);
}

static inline conforming conforming_disc(void)
{
	tac_mesh *disc;
	conforming_need(tac_mesh_build_cylinder(0.02F, 0.005F, 96, 24, &disc));
	return conforming_slider("disc on a plate, turning", disc, 0.0025, 1);
}

// --- in a corner ---

static inline tac_dpose conforming_in_corner(const conforming *c, tac_dpose device)
{
	const double rest = c->size[0] + CONFORMING_HOLD_M;
	device.position = tac_dvec3_max(device.position, tac_dvec3_splat(rest));
	return device;
}

// Three plates of 2,400 triangles each; a box is pushed into the corner and slides along the last edge.
static inline conforming conforming_corner(void)
{
	conforming c = {.name = "box in a corner", .objects = 3, .arm_m = 0.01};
	conforming_need(tac_mesh_build_box(tac_vec3_make(0.03F, 0.03F, 0.03F), 10, &c.tool));
	for (int i = 0; i < 3; i++) {
		const double size[3] = {i == 0 ? 0.02 : 0.14, i == 1 ? 0.02 : 0.14, i == 2 ? 0.02 : 0.14};
		conforming_need(tac_mesh_build_box(
			tac_vec3_make((float)size[0], (float)size[1], (float)size[2]), 14, &c.scene[i]));
		c.at[i] = tac_dvec3_make(i == 0 ? -0.01 : 0.07, i == 1 ? -0.01 : 0.07, i == 2 ? -0.01 : 0.07);
	}
	c.start = conforming_at(0.016, 0.016, 0.05);
	c.from = conforming_at(0.013, 0.0135, 0.05);
	c.to = conforming_at(0.0125, 0.014, 0.013);
	c.goal = conforming_in_corner;
	c.size[0] = 0.015;
	c.load_m = 3 * 0.015 + 3 * CONFORMING_HOLD_M - 0.0125 - 0.014 - 0.013;
	return c;
}

// --- pegs ---

// The point closest to p that keeps the hold gap from all `n` sides of the hole: at most two of them hold it.
static inline tac_dpose conforming_in_hole(const conforming *c, tac_dpose device)
{
	const int n = (int)c->size[2];
	const double turn = 2 * atan2(device.rotation.z, device.rotation.w);
	const tac_dvec3 p = tac_dvec3_make(device.position.x, device.position.y, 0);
	tac_dvec3 side[256], best = p;
	double room[256], least = HUGE_VAL;
	for (int j = 0; j < n; j++) {
		const double angle = 2 * CONFORMING_PI * (j + 0.5) / n;
		double support = 0;
		for (int k = 0; k < n; k++)
			support = fmax(support, c->size[0] * cos(2 * CONFORMING_PI * k / n + turn - angle));
		side[j] = tac_dvec3_make(cos(angle), sin(angle), 0);
		room[j] = c->size[1] - CONFORMING_HOLD_M - support;
	}
	for (int j = 0; j < n; j++) {
		for (int k = j; k < n; k++) {
			tac_dvec3 q;
			const double sine = side[j].x * side[k].y - side[j].y * side[k].x;
			if (j == k)
				q = tac_dvec3_add_scaled(p, fmin(0, room[j] - tac_dvec3_dot(side[j], p)),
							 side[j]);
			else if (fabs(sine) > 1e-9)
				q = tac_dvec3_make((room[j] * side[k].y - room[k] * side[j].y) / sine,
						   (room[k] * side[j].x - room[j] * side[k].x) / sine, 0);
			else
				continue;
			bool inside = true;
			for (int i = 0; i < n; i++)
				inside = inside && tac_dvec3_dot(side[i], q) <= room[i] + 1e-12;
			const double far = tac_dvec3_length(tac_dvec3_sub(q, p));
			if (inside && far < least) {
				least = far;
				best = q;
			}
		}
	}
	return tac_dpose_make(tac_dvec3_make(best.x, best.y, device.position.z), device.rotation);
}

// The device is 1 mm beside the axis, and pushes the peg down along the hole's wall; where `turn`, it turns
// it. The peg's middle stays between the ends of the hole, so that it does not tilt.
static inline conforming conforming_peg(const char *name, double clearance, int32_t segments, double turn)
{
	conforming c = {.name = name, .objects = 1, .arm_m = 0.01};
	tac_mesh_peg_def def = tac_mesh_peg_def_default();
	def.segments = segments;
	def.bands = 24;
	def.clearance = (float)clearance;
	conforming_need(tac_mesh_build_peg(&def, &c.tool));
	conforming_need(tac_mesh_build_block(&def, &c.scene[0]));
	c.start = conforming_at(0, 0, 0.005);
	c.from = conforming_at(0.001, 0.0005, 0.005);
	c.to = conforming_turned_at(0.001, 0.0004, -0.015, tac_dvec3_make(0, 0, turn));
	c.goal = conforming_in_hole;
	c.size[0] = (double)def.peg_radius;
	c.size[1] = (double)def.peg_radius + (double)def.clearance;
	c.size[2] = segments;
	return c;
}

static inline conforming conforming_peg_96(void)
{
	return conforming_peg("peg of 96 x 24, 0.1 mm", 1e-4, 96, 0);
}

static inline conforming conforming_peg_96_turning(void)
{
	return conforming_peg("peg of 96 x 24, turning", 1e-4, 96, 0.7);
}

static inline conforming conforming_peg_64_tight(void)
{
	return conforming_peg("peg of 64 x 24, 0.05 mm", 5e-5, 64, 0);
}

// The device tilts the peg, which jams between the ends of the hole and still follows along it.
static inline conforming conforming_peg_tilted(void)
{
	conforming c = conforming_peg("peg of 96 x 24, tilted", 1e-4, 96, 0);
	c.from.rotation = c.to.rotation = tac_dquat_exp(tac_dvec3_make(0.05, 0.03, 0));
	c.goal = NULL;
	return c;
}

// --- fins ---

// The plates of one filter between those of the other: they touch far from the middle of the tool and tilt
// it.
static inline conforming conforming_filters(void)
{
	conforming c = {.name = "fin filters interleaved", .objects = 1, .arm_m = 0.3};
	const tac_mesh_filter_def def = tac_mesh_filter_def_default();
	conforming_need(tac_mesh_build_filter(&def, &c.tool));
	conforming_need(tac_mesh_build_filter(&def, &c.scene[0]));
	const double pitch = (double)(def.plate_thickness + def.gap), size = (double)def.plate_size;
	c.start = conforming_at(0.75 * size, 0.01, pitch / 2);
	c.from = conforming_at(0.75 * size, 0.01, 0.05 * pitch);
	c.to = conforming_at(0.65 * size, 0, 0.05 * pitch);
	return c;
}

// --- the assembly ---

// The module of the scene `assembly` between its four neighbours, pressed against them.
static inline conforming conforming_assembly(void)
{
	static const int32_t parts[CONFORMING_OBJECTS] = {17, 7, 11, 13};
	static const double x[CONFORMING_OBJECTS] = {0, 0, -0.102, 0.102},
			    y[CONFORMING_OBJECTS] = {0.102, -0.102, 0, 0};
	conforming c = {.name = "assembly", .objects = CONFORMING_OBJECTS, .arm_m = 0.04};
	tac_assembly machine;
	conforming_need(tac_assembly_build(TAC_ASSEMBLY_BOX, &machine));
	c.tool = machine.parts[12].mesh;
	machine.parts[12].mesh = NULL;
	for (int32_t i = 0; i < CONFORMING_OBJECTS; i++) {
		c.scene[i] = machine.parts[parts[i]].mesh;
		machine.parts[parts[i]].mesh = NULL;
		c.at[i] = tac_dvec3_make(x[i], y[i], 0);
	}
	tac_assembly_fini(&machine);
	c.start = conforming_at(0, 0, 0.08);
	c.from = conforming_turned_at(0.003, 0.002, 0.06, tac_dvec3_make(0.02, 0.02, 0));
	c.to = conforming_turned_at(-0.003, 0.002, 0.01, tac_dvec3_make(0, 0.02, 0.05));
	return c;
}

// --- curved ---

// Both of its turns and its way are free, whatever the facets do: they are less than 3 µm high.
static inline tac_dpose conforming_in_socket(const conforming *c, tac_dpose device)
{
	const double far = tac_dvec3_length(device.position);
	device.position = tac_dvec3_scale(device.position, fmin(1, c->size[0] / far));
	return device;
}

static inline conforming conforming_ball(void)
{
	conforming c = {.name = "ball in a socket, R 1.01", .objects = 1, .arm_m = 0.02, .curved = true};
	tac_mesh *socket;
	conforming_need(tac_mesh_build_icosphere(0.02F, 5, &c.tool));
	conforming_need(tac_mesh_build_icosphere(0.0202F, 5, &socket));
	c.scene[0] = conforming_placed(socket, tac_dpose_identity(), true);
	c.start = conforming_at(0, 0, 0.0001);
	c.from = conforming_at(0, 0.001, -0.002);
	c.to = conforming_turned_at(0, 0.001, -0.002, tac_dvec3_make(0.8, 0.5, 0.33));
	c.goal = conforming_in_socket;
	c.size[0] = 0.0002 - CONFORMING_HOLD_M;
	return c;
}

static inline tac_dpose conforming_in_pipe(const conforming *c, tac_dpose device)
{
	device.position.x = 0;
	device.position.z = -c->size[0];
	return device;
}

// A cylinder of 200 x 50 facets: by its flat faces prismatic.
static inline conforming conforming_pipe(void)
{
	conforming c = {.name = "cylinder in a half-pipe, R 1.01", .objects = 1, .arm_m = 0};
	tac_mesh *cylinder, *pipe;
	conforming_need(tac_mesh_build_cylinder(0.02F, 0.06F, 200, 50, &cylinder));
	conforming_need(tac_mesh_build_cylinder(0.0202F, 0.16F, 200, 100, &pipe));
	const tac_dpose lie = conforming_turned_at(0, 0, 0, tac_dvec3_make(CONFORMING_PI / 2, 0, 0));
	c.tool = conforming_placed(cylinder, lie, false);
	c.scene[0] = conforming_placed(pipe, lie, true);
	c.start = conforming_at(0, -0.03, 0.0001);
	c.from = conforming_at(0, -0.03, -0.002);
	c.to = conforming_at(0, 0.03, -0.002);
	c.goal = conforming_in_pipe;
	c.size[0] = 0.0002 - CONFORMING_HOLD_M;
	return c;
}

typedef conforming conforming_make(void);

static conforming_make *const conforming_all[] = {
	conforming_box_192,      conforming_box_768, conforming_box_3072,   conforming_disc,
	conforming_corner,       conforming_peg_96,  conforming_peg_tilted, conforming_peg_96_turning,
	conforming_peg_64_tight, conforming_filters, conforming_assembly,   conforming_pipe,
	conforming_ball,
};

#define CONFORMING_COUNT ((int)(sizeof conforming_all / sizeof *conforming_all))

// --- running them ---

// A scene with its bodies, turned in space or not.
typedef struct conforming_world {
	conforming c;
	tac_dquat R, of_tool; // how the world and the tool's mesh are turned
	tac_body *tool, *scene[CONFORMING_OBJECTS];
	tac_sco_object objects[CONFORMING_OBJECTS];
	int64_t triangles; // of the bodies
} conforming_world;

static inline tac_body *conforming_body(tac_mesh **mesh, tac_dquat R, double flat_m, double detail_m)
{
	*mesh = conforming_placed(*mesh, tac_dpose_make(tac_dvec3_zero(), R), false);
	tac_body_def def = tac_body_def_default();
	def.mesh = *mesh;
	def.solid = tac_mesh_is_watertight(*mesh);
	def.flat_m = flat_m;
	def.detail_m = detail_m;
	def.sphere_m = CONFORMING_SPHERE_M;
	tac_body *body;
	conforming_need(tac_body_build(&def, &body));
	return body;
}

static inline conforming_world conforming_world_make(conforming_make *make, bool turned, double flat_m,
						     double detail_m)
{
	conforming_world w = {.c = make(), .R = tac_dquat_identity(), .of_tool = tac_dquat_identity()};
	if (turned) {
		w.R = tac_dquat_exp(CONFORMING_TURN);
		w.of_tool = tac_dquat_exp(CONFORMING_TURN_OF_TOOL);
	}
	w.tool = conforming_body(&w.c.tool, w.of_tool, flat_m, detail_m);
	w.triangles = tac_body_mesh(w.tool)->triangle_count;
	for (int32_t i = 0; i < w.c.objects; i++) {
		w.scene[i] = conforming_body(&w.c.scene[i], w.R, flat_m, detail_m);
		w.triangles += tac_body_mesh(w.scene[i])->triangle_count;
		w.objects[i] =
			(tac_sco_object){.body = w.scene[i],
					 .T_world_object = tac_dpose_make(tac_dquat_rotate(w.R, w.c.at[i]),
									  tac_dquat_identity())};
	}
	return w;
}

static inline void conforming_world_free(conforming_world *w)
{
	tac_body_destroy(&w->tool);
	for (int32_t i = 0; i < w->c.objects; i++)
		tac_body_destroy(&w->scene[i]);
	conforming_free(&w->c);
}

// From the frame of the scene as it was made to the world, and back.
static inline tac_dpose conforming_to_world(const conforming_world *w, tac_dpose T)
{
	return tac_dpose_make(
		tac_dquat_rotate(w->R, T.position),
		tac_dquat_mul(tac_dquat_mul(w->R, T.rotation), tac_dquat_conjugate(w->of_tool)));
}

static inline tac_dpose conforming_from_world(const conforming_world *w, tac_dpose T)
{
	const tac_dquat back = tac_dquat_conjugate(w->R);
	return tac_dpose_make(tac_dquat_rotate(back, T.position),
			      tac_dquat_mul(tac_dquat_mul(back, T.rotation), w->of_tool));
}

// An SCO for it, at the start.
static inline tac_sco *conforming_sco(const conforming_world *w, int64_t work_units)
{
	tac_sco_def def = tac_sco_def_default();
	def.tool = w->tool;
	def.objects = w->objects;
	def.object_count = w->c.objects;
	def.work_units = def.sparse_work_units = work_units;
	def.sparse_triangles = CONFORMING_FINE;
	tac_sco *sco;
	conforming_need(tac_sco_create(&def, &sco));
	if (!tac_sco_reset(sco, conforming_to_world(w, w->c.start), NULL))
		printf("%s: does not start free\n", w->c.name);
	return sco;
}

// The limits of the servo at 1 kHz (haptic/servo/setup.c).
static inline int64_t conforming_work_units(const conforming_world *w)
{
	return w->triangles < CONFORMING_FINE ? 1500 : 280;
}

// What a run along the path came to.
typedef struct conforming_run {
	double lag_m;  // the most on the path
	double rest_m; // after it
	double excess; // the energy of the coupling at the end over that at the goal, relative to it
	double load_m; // of all contacts at the end
	double us[CONFORMING_TICKS], work[CONFORMING_TICKS];
	tac_dpose goals[CONFORMING_TICKS]; // where the constraints put the tool
	int moving, ways, ticks, spent;
} conforming_run;

// Finds the goals of all ticks, before any is timed: their search would empty the caches between two steps.
// The device goes along its path once or, with `to_and_fro`, as often as there is room for.
static inline void conforming_run_begin(conforming_run *run, const conforming_world *w, double speed,
					bool to_and_fro)
{
	const int around = CONFORMING_PRESS + CONFORMING_HOLD + CONFORMING_REST;
	run->moving = (int)(conforming_length(&w->c) / speed * 1000);
	run->ways = to_and_fro ? (CONFORMING_TICKS - around) / run->moving : 1;
	run->ticks = around + run->ways * run->moving;
	tac_sco *ideal = w->c.goal ? NULL : conforming_sco(w, 1000000);
	for (int k = 0; k < run->ticks; k++) {
		const tac_dpose device = conforming_device(&w->c, k, run->moving, run->ways);
		static tac_sco_report report;
		if (ideal)
			tac_sco_step(ideal, conforming_to_world(w, device), NULL, &report);
		run->goals[k] =
			ideal ? conforming_from_world(w, report.T_world_sco) : w->c.goal(&w->c, device);
		run->us[k] = HUGE_VAL;
	}
	tac_sco_destroy(&ideal);
}

// The energy of the coupling between two poses, up to a factor, in the metric of the SCO's def.
static inline double conforming_energy(tac_dpose a, tac_dpose b)
{
	const tac_dtwist t = tac_dtwist_between(a, b);
	const double arm = tac_sco_def_default().metric_m;
	return tac_dvec3_length_squared(t.v) + arm * arm * tac_dvec3_length_squared(t.w);
}

// The least time of each tick is kept, so that several runs exclude what the machine does beside them.
// `clock_us` may be NULL.
static inline void conforming_follow(conforming_run *run, const conforming_world *w, int64_t work_units,
				     double (*clock_us)(void))
{
	tac_sco *sco = conforming_sco(w, work_units);
	run->lag_m = run->rest_m = run->load_m = 0;
	run->spent = 0;
	static tac_sco_report report;
	for (int k = 0; k < run->ticks; k++) {
		const tac_dpose there =
			conforming_to_world(w, conforming_device(&w->c, k, run->moving, run->ways));
		const double from = clock_us ? clock_us() : 0;
		tac_sco_step(sco, there, NULL, &report);
		run->us[k] = fmin(run->us[k], clock_us ? clock_us() - from : 0);
		run->work[k] = (double)report.work_units;
		run->spent += (report.flags & TAC_SCO_BUDGET_SPENT) != 0;
		const double lag =
			conforming_apart(&w->c, conforming_from_world(w, report.T_world_sco), run->goals[k]);
		if (k >= CONFORMING_PRESS + CONFORMING_HOLD)
			run->lag_m = fmax(run->lag_m, lag);
		if (k >= run->ticks - CONFORMING_REST + CONFORMING_SETTLE)
			run->rest_m = fmax(run->rest_m, lag);
	}
	const tac_dpose device =
		conforming_to_world(w, conforming_device(&w->c, run->ticks - 1, run->moving, run->ways));
	const double least = conforming_energy(conforming_to_world(w, run->goals[run->ticks - 1]), device);
	run->excess = conforming_energy(report.T_world_sco, device) / least - 1;
	for (int32_t i = 0; i < report.contact_count; i++)
		run->load_m += report.contacts[i].load_m;
	tac_sco_destroy(&sco);
}

#endif
