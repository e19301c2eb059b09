// Scenes for the tests of the SCO: small meshes built from quadrilateral patches, bodies and poses. Lengths
// in m.
#ifndef TAC_TESTS_SUPPORT_SCO_SCENES_H
#define TAC_TESTS_SUPPORT_SCO_SCENES_H

#include "collision/body.h"
#include "collision/mesh_shapes.h"
#include "haptic/sco.h"

#include "unity.h"

#include <math.h>
#include <stdlib.h>

static inline tac_dvec3 vec3(double x, double y, double z)
{
	return tac_dvec3_make(x, y, z);
}

// A mesh under construction. sketch_finish welds the patches.
typedef struct sketch {
	tac_vec3 *v;
	tac_mesh_triangle *t;
	int32_t vertices, triangles, vertex_room, triangle_room;
} sketch;

static inline int32_t sketch_vertex(sketch *s, tac_dvec3 p)
{
	if (s->vertices == s->vertex_room) {
		s->vertex_room = 2 * s->vertex_room + 64;
		s->v = realloc(s->v, (size_t)s->vertex_room * sizeof *s->v);
	}
	s->v[s->vertices] = tac_vec3_from_dvec3(p);
	return s->vertices++;
}

static inline void sketch_triangle(sketch *s, tac_dvec3 a, tac_dvec3 b, tac_dvec3 c)
{
	if (s->triangles == s->triangle_room) {
		s->triangle_room = 2 * s->triangle_room + 64;
		s->t = realloc(s->t, (size_t)s->triangle_room * sizeof *s->t);
	}
	int32_t i = sketch_vertex(s, a), j = sketch_vertex(s, b), k = sketch_vertex(s, c);
	s->t[s->triangles++] = (tac_mesh_triangle){{i, j, k}};
}

// The quadrilateral a b c d, counter-clockwise, as a grid of nu x nv cells: nu along a b.
static inline void sketch_patch(sketch *s, tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, int nu, int nv)
{
	for (int i = 0; i < nu; i++) {
		for (int j = 0; j < nv; j++) {
			tac_dvec3 q[4];
			for (int k = 0; k < 4; k++) {
				double u = (double)(i + (k == 1 || k == 2)) / nu,
				       w = (double)(j + (k >= 2)) / nv;
				q[k] = tac_dvec3_lerp(tac_dvec3_lerp(a, b, u), tac_dvec3_lerp(d, c, u), w);
			}
			sketch_triangle(s, q[0], q[1], q[2]);
			sketch_triangle(s, q[0], q[2], q[3]);
		}
	}
}

static inline tac_mesh *sketch_finish(sketch *s)
{
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = s->v;
	def.vertex_count = s->vertices;
	def.triangles = s->t;
	def.triangle_count = s->triangles;
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &mesh));
	free(s->v);
	free(s->t);
	return mesh;
}

static inline tac_mesh *box_mesh(double x, double y, double z, int cuts)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK,
			  tac_mesh_build_box(tac_vec3_make((float)x, (float)y, (float)z), cuts, &mesh));
	return mesh;
}

static inline tac_mesh *sphere_mesh(double radius, int subdivisions)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere((float)radius, subdivisions, &mesh));
	return mesh;
}

static inline tac_mesh *cylinder_mesh(double radius, double height, int segments)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cylinder((float)radius, (float)height, segments, 1, &mesh));
	return mesh;
}

// The plane z = 0, from -half to half; open.
static inline tac_mesh *plane_mesh(double half, int cuts)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK,
			  tac_mesh_build_grid((float)(2 * half), (float)(2 * half), cuts, cuts, &mesh));
	return mesh;
}

// A rectangle in the plane coordinate[axis] = value, facing `side`, over the next two axes.
static inline void sketch_rectangle(sketch *s, int axis, double value, int side, double a0, double a1, int na,
				    double b0, double b1, int nb)
{
	tac_dvec3 q[4];
	const double a[4] = {a0, a1, a1, a0}, b[4] = {b0, b0, b1, b1};
	for (int k = 0; k < 4; k++) {
		double c[3];
		c[axis] = value;
		c[(axis + 1) % 3] = a[k];
		c[(axis + 2) % 3] = b[k];
		q[k] = vec3(c[0], c[1], c[2]);
	}
	if (side > 0)
		sketch_patch(s, q[0], q[1], q[2], q[3], na, nb);
	else
		sketch_patch(s, q[0], q[3], q[2], q[1], nb, na);
}

// The cube from -thick to `length` without the corner from 0 to `length`: three walls. Closed.
static inline tac_mesh *corner_mesh(double length, double thick, int cuts)
{
	sketch s = {0};
	const double from[2] = {-thick, 0}, to[2] = {0, length};
	const int n[2] = {1, cuts};
	for (int axis = 0; axis < 3; axis++) {
		sketch_rectangle(&s, axis, 0, 1, 0, length, cuts, 0, length, cuts);
		for (int i = 0; i < 2; i++) {
			for (int j = 0; j < 2; j++) {
				sketch_rectangle(&s, axis, -thick, -1, from[i], to[i], n[i], from[j], to[j],
						 n[j]);
				if (i == 0 || j == 0)
					sketch_rectangle(&s, axis, length, 1, from[i], to[i], n[i], from[j],
							 to[j], n[j]);
			}
		}
	}
	return sketch_finish(&s);
}

// A V groove along x between two lands; open.
static inline tac_mesh *groove_mesh(double half_length, double width, double depth, int cuts)
{
	sketch s = {0};
	const double y[5] = {-3 * width, -width, 0, width, 3 * width}, z[5] = {0, 0, -depth, 0, 0};
	for (int i = 0; i < 4; i++)
		sketch_patch(&s, vec3(-half_length, y[i], z[i]), vec3(half_length, y[i], z[i]),
			     vec3(half_length, y[i + 1], z[i + 1]), vec3(-half_length, y[i + 1], z[i + 1]),
			     cuts, i == 1 || i == 2 ? 2 : 1);
	return sketch_finish(&s);
}

// A step of height `rise` at x = 0; open.
static inline tac_mesh *step_mesh(double half, double rise, int cuts)
{
	sketch s = {0};
	sketch_patch(&s, vec3(-half, -half, 0), vec3(0, -half, 0), vec3(0, half, 0), vec3(-half, half, 0),
		     cuts, cuts);
	sketch_patch(&s, vec3(0, half, 0), vec3(0, -half, 0), vec3(0, -half, rise), vec3(0, half, rise), cuts,
		     1);
	sketch_patch(&s, vec3(0, -half, rise), vec3(half, -half, rise), vec3(half, half, rise),
		     vec3(0, half, rise), cuts, cuts);
	return sketch_finish(&s);
}

// A plate with its top at z = 0 and a blind hole of `n` flat sides at distance `radius` from its axis; open
// below.
static inline tac_mesh *hole_mesh(double radius, double depth, int n, double half)
{
	sketch s = {0};
	const double turn = 2 * 3.14159265358979323846 / n, R = radius / cos(0.5 * turn);
	tac_dvec3 down = vec3(0, 0, -depth);
	for (int i = 0; i < n; i++) {
		tac_dvec3 in[2], out[2];
		for (int k = 0; k < 2; k++) {
			double c = cos(turn * (i + 0.5 + k)), w = sin(turn * (i + 0.5 + k));
			double far = half / fmax(fabs(c), fabs(w));
			in[k] = vec3(R * c, R * w, 0);
			out[k] = vec3(far * c, far * w, 0);
		}
		sketch_patch(&s, in[0], out[0], out[1], in[1], 1, 1);
		sketch_patch(&s, in[0], in[1], tac_dvec3_add(in[1], down), tac_dvec3_add(in[0], down), 1, 1);
		sketch_triangle(&s, down, tac_dvec3_add(in[0], down), tac_dvec3_add(in[1], down));
	}
	return sketch_finish(&s);
}

static inline double terrain_height(double x, double y, double rise)
{
	return rise * (sin(70 * x) * cos(55 * y) + 0.5 * sin(160 * x + 1) * sin(140 * y + 2) +
		       0.25 * sin(3280 * x * y + 3));
}

static inline tac_dvec3 terrain_point(double x, double y, double rise)
{
	return vec3(x, y, terrain_height(x, y, rise));
}

// Grid line i of n over [-half, half].
static inline double terrain_line(double half, int n, int i)
{
	return -half + 2 * half * i / n;
}

// A height field over n x n squares with walls and a floor; closed.
static inline tac_mesh *terrain_mesh(double half, int n, double rise)
{
	sketch s = {0};
	const double bottom = -5 * rise, lo = terrain_line(half, n, 0), hi = terrain_line(half, n, n);
	for (int i = 0; i < n; i++) {
		double a = terrain_line(half, n, i), b = terrain_line(half, n, i + 1);
		for (int j = 0; j < n; j++) {
			double c = terrain_line(half, n, j), d = terrain_line(half, n, j + 1);
			tac_dvec3 near_left = terrain_point(a, c, rise),
				  far_right = terrain_point(b, d, rise);
			sketch_triangle(&s, near_left, terrain_point(b, c, rise), far_right);
			sketch_triangle(&s, near_left, far_right, terrain_point(a, d, rise));
		}
		const double x0[4] = {a, hi, b, lo}, y0[4] = {lo, a, hi, b}, x1[4] = {b, hi, a, lo},
			     y1[4] = {lo, b, hi, a};
		for (int k = 0; k < 4; k++) {
			tac_dvec3 low0 = vec3(x0[k], y0[k], bottom), low1 = vec3(x1[k], y1[k], bottom);
			tac_dvec3 top1 = terrain_point(x1[k], y1[k], rise);
			sketch_triangle(&s, low0, low1, top1);
			sketch_triangle(&s, low0, top1, terrain_point(x0[k], y0[k], rise));
			sketch_triangle(&s, vec3(0, 0, bottom), low1, low0);
		}
	}
	return sketch_finish(&s);
}

// A mesh with its body, which is solid if the mesh is closed.
typedef struct scene_body {
	tac_mesh *mesh;
	tac_body *body;
} scene_body;

// `detail_m` and `sphere_m`: as in tac_body_def.
static inline scene_body rounded_body_make(tac_mesh *mesh, double detail_m, double sphere_m)
{
	scene_body t = {mesh, NULL};
	tac_body_def def = tac_body_def_default();
	def.flat_m = TAC_BODY_FLAT;
	def.mesh = mesh;
	def.solid = tac_mesh_is_watertight(mesh);
	def.detail_m = detail_m;
	def.sphere_m = sphere_m;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &t.body));
	return t;
}

static inline scene_body simplified_body_make(tac_mesh *mesh, double detail_m)
{
	return rounded_body_make(mesh, detail_m, 0);
}

static inline scene_body sphere_body_make(tac_mesh *mesh, double sphere_m)
{
	return rounded_body_make(mesh, 0, sphere_m);
}

static inline scene_body scene_body_make(tac_mesh *mesh)
{
	return simplified_body_make(mesh, 0);
}

static inline void scene_body_free(scene_body *t)
{
	tac_body_destroy(&t->body);
	tac_mesh_destroy(&t->mesh);
}

static inline tac_dpose at(double x, double y, double z)
{
	return tac_dpose_make(vec3(x, y, z), tac_dquat_identity());
}

static inline tac_dpose turned(double x, double y, double z, tac_dvec3 w)
{
	return tac_dpose_make(vec3(x, y, z), tac_dquat_exp(w));
}

// The square of the default metric, rounded, m^2.
#define METRIC_SQUARED 1e-3

// The distance of two poses in a metric, m.
static inline double pose_distance(tac_dpose a, tac_dpose b, double metric_squared)
{
	tac_dvec3 v = tac_dvec3_sub(b.position, a.position);
	tac_dvec3 w = tac_dquat_log(tac_dquat_mul(b.rotation, tac_dquat_conjugate(a.rotation)));
	return sqrt(tac_dvec3_dot(v, v) + metric_squared * tac_dvec3_dot(w, w));
}

// A tool with one object at the world's origin, without slew limit. The work budget is the servo's for scenes
// of few triangles, so the tests judge accuracy within the time of a tick.
static inline tac_sco_def scene_def(const scene_body *tool, const scene_body *scene, tac_sco_object *object)
{
	tac_sco_def def = tac_sco_def_default();
	*object = (tac_sco_object){.body = scene->body, .T_world_object = tac_dpose_identity()};
	def.tool = tool->body;
	def.objects = object;
	def.object_count = 1;
	def.slew_m_per_s = 0;
	def.work_units = 2000;
	return def;
}

#endif
