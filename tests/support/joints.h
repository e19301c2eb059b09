// Ball joints: a ball, or a cap of one with a stem, in a socket of slightly more than its radius, at any
// place in their frames.
#ifndef TAC_TESTS_SUPPORT_JOINTS_H
#define TAC_TESTS_SUPPORT_JOINTS_H

#include "base/rng.h"
#include "collision/mesh_shapes.h"

#include <math.h>
#include <stdlib.h>
#include <unity.h>

// A part of a sphere.
typedef struct cap {
	tac_dvec3 centre, axis;
	double radius, cosine; // within this cosine of the axis; -1: all of it
	tac_mesh *mesh;
} cap;

// The triangles of an icosphere within the cap. A stem, a thin prism along -axis from half of the radius to
// `stem` radii, where that is more than 0.
static inline tac_mesh *cap_mesh(const cap *c, int subdivisions, bool inside_out, double stem, tac_rng *rng)
{
	tac_mesh *sphere, *out;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(1, subdivisions, &sphere));
	const tac_dquat turn = tac_rng_rotation_f64(rng);
	const int32_t vertices = sphere->vertex_count + 6;
	tac_vec3 *v = malloc((size_t)vertices * sizeof *v);
	tac_mesh_triangle *t = malloc(((size_t)sphere->triangle_count + 6) * sizeof *t);
	double *cosine = malloc((size_t)vertices * sizeof *cosine);
	TEST_ASSERT_TRUE(v && t && cosine);
	for (int32_t i = 0; i < sphere->vertex_count; i++) {
		const tac_dvec3 u =
			tac_dvec3_normalize(tac_dquat_rotate(turn, tac_dvec3_from_vec3(sphere->vertices[i])));
		cosine[i] = tac_dvec3_dot(u, c->axis);
		v[i] = tac_vec3_from_dvec3(tac_dvec3_add_scaled(c->centre, c->radius, u));
	}
	tac_mesh_def def = tac_mesh_def_default();
	for (int32_t i = 0; i < sphere->triangle_count; i++) {
		const int32_t *k = sphere->triangles[i].vertex;
		if (fmin(cosine[k[0]], fmin(cosine[k[1]], cosine[k[2]])) < c->cosine)
			continue;
		t[def.triangle_count++] =
			inside_out ? (tac_mesh_triangle){{k[0], k[2], k[1]}} : sphere->triangles[i];
	}
	const tac_dvec3 x = tac_dvec3_perpendicular(c->axis), y = tac_dvec3_cross(c->axis, x);
	for (int32_t i = 0; i < 6; i++) {
		const double angle = 2 * 3.14159265358979323846 * (i % 3) / 3, along = i < 3 ? 0.5 : stem;
		tac_dvec3 p = tac_dvec3_add_scaled(c->centre, -along * c->radius, c->axis);
		p = tac_dvec3_add_scaled(p, 0.1 * c->radius * cos(angle), x);
		v[sphere->vertex_count + i] =
			tac_vec3_from_dvec3(tac_dvec3_add_scaled(p, 0.1 * c->radius * sin(angle), y));
	}
	for (int32_t i = 0; i < 3 && stem > 0; i++) {
		const int32_t a = sphere->vertex_count + i, b = sphere->vertex_count + (i + 1) % 3;
		t[def.triangle_count++] = (tac_mesh_triangle){{a, b, b + 3}};
		t[def.triangle_count++] = (tac_mesh_triangle){{a, b + 3, a + 3}};
	}
	def.vertices = v;
	def.vertex_count = vertices;
	def.triangles = t;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &out));
	free(v);
	free(t);
	free(cosine);
	tac_mesh_destroy(&sphere);
	return out;
}

// The thickness of an icosphere's facets, with some room: the distance of the largest facet's middle from the
// sphere, m.
static inline double cap_sag(double radius, int subdivisions)
{
	const double edge = 1.2 * radius / (1 << subdivisions);
	return edge * edge / (6 * radius) * 1.3;
}

typedef struct joint {
	cap ball, socket;
	double clearance; // m
	int subdivisions;
	double sphere_m; // a tolerance that both have
} joint;

// `whole`: the ball has no stem.
static inline joint joint_make(tac_rng *rng, int subdivisions, bool whole)
{
	joint j = {.subdivisions = subdivisions};
	j.ball.radius = tac_rng_range_f64(rng, 0.008, 0.02);
	j.clearance = j.ball.radius * tac_rng_range_f64(rng, 0.008, 0.04);
	j.socket.radius = j.ball.radius + j.clearance;
	j.ball.centre = tac_dvec3_scale(tac_rng_unit_f64(rng), tac_rng_range_f64(rng, 0, 0.01));
	j.ball.axis = tac_rng_unit_f64(rng);
	j.ball.cosine = whole ? -1 : tac_rng_range_f64(rng, -0.95, 0.3);
	j.socket.centre = tac_dvec3_zero();
	j.socket.axis = tac_rng_unit_f64(rng);
	j.socket.cosine = tac_rng_range_f64(rng, -0.5, 0.5);
	j.sphere_m = 2 * cap_sag(j.socket.radius, subdivisions);
	j.ball.mesh = cap_mesh(&j.ball, subdivisions, false, whole ? 0 : tac_rng_range_f64(rng, 1.2, 2), rng);
	j.socket.mesh = cap_mesh(&j.socket, subdivisions, tac_rng_below(rng, 2), 0, rng);
	return j;
}

static inline void joint_free(joint *j)
{
	tac_mesh_destroy(&j->ball.mesh);
	tac_mesh_destroy(&j->socket.mesh);
}

// A pose of the ball with its centre `apart` (m) from the socket's, in a random direction and orientation.
static inline tac_drigid joint_pose(const joint *j, double apart, tac_rng *rng)
{
	tac_drigid T = {tac_dmat3_from_quat(tac_rng_rotation_f64(rng)), tac_dvec3_zero()};
	const tac_dvec3 at = tac_dvec3_add_scaled(j->socket.centre, apart, tac_rng_unit_f64(rng));
	T.t = tac_dvec3_sub(at, tac_dmat3_apply(T.R, j->ball.centre));
	return T;
}

#endif
