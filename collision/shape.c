#include "collision/shape.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/primitives.h"
#include "collision/scd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Around the axis, and along a quarter of a circle: a chord this short leaves less than 1e-3 of the radius.
#define SEGMENTS  96
#define ARC_STEPS 24

// ---- meshes of solids ----

typedef struct profile {
	double z[4 * ARC_STEPS + 4], r[4 * ARC_STEPS + 4];
	int32_t count;
} profile;

static void add_point(profile *p, double z, double r)
{
	p->z[p->count] = z;
	p->r[p->count++] = r;
}

// Half a circle's worth of points for the part of a tube between two heights; the steps are equal in angle.
static void add_arc(profile *p, double centre, double radius, double major, double from, double to,
		    double sign)
{
	double a = asin(fmax(fmin(from / radius, 1), -1)), b = asin(fmax(fmin(to / radius, 1), -1));
	for (int i = 0; i <= 2 * ARC_STEPS; i++) {
		double angle = a + (b - a) * i / (2 * ARC_STEPS);
		double z = i == 0 ? from : i == 2 * ARC_STEPS ? to : radius * sin(angle);
		double r = major + sign * sqrt(fmax(radius * radius - z * z, 0));
		add_point(p, centre + z, fmax(r, 0));
	}
}

static profile profile_of(const tac_solid *s)
{
	profile p = {.count = 0};
	switch (s->kind) {
	case TAC_SOLID_SPHERE:
		add_arc(&p, 0, s->radius, 0, -s->radius, s->radius, 1);
		break;
	case TAC_SOLID_CAPSULE:
		add_arc(&p, -s->height / 2, s->radius, 0, -s->radius, 0, 1);
		add_arc(&p, s->height / 2, s->radius, 0, 0, s->radius, 1);
		break;
	case TAC_SOLID_CYLINDER:
		add_point(&p, -s->height / 2, s->radius);
		add_point(&p, s->height / 2, s->radius);
		break;
	case TAC_SOLID_CONE:
		add_point(&p, -s->height / 2, s->radius);
		add_point(&p, s->height / 2, s->top);
		break;
	case TAC_SOLID_TOROID:
		add_arc(&p, 0, s->minor, s->radius, s->z_min, s->z_max, s->concave ? -1 : 1);
		break;
	}
	return p;
}

tac_result tac_solids_mesh(const tac_solids *solids, int32_t segments, tac_mesh **out_mesh)
{
	static const char *const names[] = {"sphere", "capsule", "cylinder", "cone", "toroid"};
	TAC_ASSERT(segments >= 3);
	*out_mesh = NULL;
	size_t rings = 4 * ARC_STEPS + 4, around = (size_t)segments, count = (size_t)solids->count;
	size_t most_vertices = count * (rings * around + 2),
	       most_triangles = count * (2 * rings + 2) * around;
	tac_vec3 *vertices = malloc((most_vertices + 1) * sizeof *vertices);
	tac_mesh_triangle *triangles = malloc((most_triangles + 1) * sizeof *triangles);
	int32_t *surfaces = malloc((most_triangles + 1) * sizeof *surfaces);
	tac_result result = TAC_ERROR_MEMORY;
	if (vertices != NULL && triangles != NULL && surfaces != NULL) {
		tac_mesh_def def = tac_mesh_def_default();
		const char *surface_names[TAC_SOLIDS_MAX];
		for (int32_t s = 0; s < solids->count; s++) {
			const tac_solid *solid = &solids->solid[s];
			profile p = profile_of(solid);
			surface_names[s] = names[solid->kind];
			// Rings of vertices from the bottom up, with a point on the axis at both ends. Rings
			// of radius 0 collapse when the mesh is welded, and their triangles are dropped.
			int32_t first = def.vertex_count;
			for (int32_t i = -1; i <= p.count; i++) {
				int32_t at = i < 0 ? 0 : i == p.count ? p.count - 1 : i;
				int32_t copies = at == i ? segments : 1;
				for (int32_t k = 0; k < copies; k++) {
					double angle = 6.283185307179586 * k / segments,
					       r = at == i ? p.r[at] : 0;
					tac_dvec3 x = tac_dvec3_make(r * cos(angle), r * sin(angle), p.z[at]);
					x = tac_dvec3_add(tac_dmat3_apply(solid->rotation, x),
							  solid->position);
					vertices[def.vertex_count++] = tac_vec3_from_dvec3(x);
				}
			}
			int32_t bottom = first, top = def.vertex_count - 1;
			for (int32_t k = 0; k < segments; k++) {
				int32_t next = (k + 1) % segments, ring = first + 1,
					last = ring + (p.count - 1) * segments;
				surfaces[def.triangle_count] = s;
				triangles[def.triangle_count++] =
					(tac_mesh_triangle){{bottom, ring + next, ring + k}};
				surfaces[def.triangle_count] = s;
				triangles[def.triangle_count++] =
					(tac_mesh_triangle){{top, last + k, last + next}};
				for (int32_t i = 0; i + 1 < p.count; i++, ring += segments) {
					int32_t a = ring + k, b = ring + next, c = a + segments,
						d = b + segments;
					surfaces[def.triangle_count] = s;
					triangles[def.triangle_count++] = (tac_mesh_triangle){{a, b, d}};
					surfaces[def.triangle_count] = s;
					triangles[def.triangle_count++] = (tac_mesh_triangle){{a, d, c}};
				}
			}
		}
		def.name = "solids";
		def.vertices = vertices;
		def.triangles = triangles;
		def.triangle_surface = surfaces;
		def.surface_names = surface_names;
		def.surface_count = solids->count;
		result = tac_mesh_build(&def, out_mesh);
	} else {
		tac_log(TAC_LOG_ERROR, "solids: no memory for a mesh of %d solids", (int)solids->count);
	}
	free(vertices);
	free(triangles);
	free(surfaces);
	return result;
}

// ---- the engine ----

typedef struct solid_shape {
	tac_shape base;
	tac_solids solids; // none: a mesh
	tac_mesh *own_mesh;
	int32_t first_triangle[TAC_SOLIDS_MAX]; // of the surface of each solid
	tac_rtree tree;                         // of the mesh's triangles
	double extent;                          // largest |coordinate|, m
} solid_shape;

static void destroy(tac_shape *base)
{
	solid_shape *shape = (solid_shape *)base;
	tac_rtree_fini(&shape->tree);
	tac_mesh_destroy(&shape->own_mesh);
	free(shape);
}

static tac_result build_shape(const tac_mesh *mesh, solid_shape **out_shape)
{
	*out_shape = NULL;
	solid_shape *shape = calloc(1, sizeof *shape);
	tac_aabb *boxes = malloc(((size_t)mesh->triangle_count + 1) * sizeof *boxes);
	tac_result result = TAC_ERROR_MEMORY;
	if (shape != NULL && boxes != NULL) {
		for (int32_t i = 0; i < mesh->triangle_count; i++) {
			boxes[i] = (tac_aabb){{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
			for (int k = 0; k < 3; k++) {
				tac_vec3 v = mesh->vertices[mesh->triangles[i].vertex[k]];
				const float x[3] = {v.x, v.y, v.z};
				for (int c = 0; c < 3; c++) {
					boxes[i].min[c] = fminf(boxes[i].min[c], x[c]);
					boxes[i].max[c] = fmaxf(boxes[i].max[c], x[c]);
					shape->extent = fmax(shape->extent, fabs((double)x[c]));
				}
			}
		}
		result = tac_rtree_build(boxes, mesh->triangle_count, TAC_RTREE_PACK, &shape->tree);
	} else {
		tac_log(TAC_LOG_ERROR, "solid: no memory for a shape of %d triangles",
			(int)mesh->triangle_count);
	}
	free(boxes);
	if (result < 0) {
		free(shape);
		return result;
	}
	shape->base = (tac_shape){.collider = tac_solid_collider(),
				  .mesh = mesh,
				  .bytes = sizeof *shape +
					   (size_t)shape->tree.node_count * sizeof *shape->tree.nodes};
	*out_shape = shape;
	return TAC_OK;
}

static tac_result build(const tac_collider *self, const tac_mesh *mesh, tac_shape **out_shape)
{
	(void)self;
	solid_shape *shape;
	tac_result result = build_shape(mesh, &shape);
	*out_shape = shape != NULL ? &shape->base : NULL;
	return result;
}

tac_result tac_shape_build_solids(const tac_solids *solids, tac_shape **out_shape)
{
	TAC_ASSERT(solids->count > 0 && solids->count <= TAC_SOLIDS_MAX);
	*out_shape = NULL;
	tac_mesh *mesh;
	solid_shape *shape;
	tac_result result = tac_solids_mesh(solids, SEGMENTS, &mesh);
	if (result < 0)
		return result;
	result = build_shape(mesh, &shape);
	if (result < 0) {
		tac_mesh_destroy(&mesh);
		return result;
	}
	shape->solids = *solids;
	shape->own_mesh = mesh;
	for (int32_t i = 0; i < solids->count; i++)
		shape->first_triangle[i] = -1;
	for (int32_t i = mesh->triangle_count - 1; i >= 0; i--)
		shape->first_triangle[mesh->triangle_surface[i]] = i;
	*out_shape = &shape->base;
	for (int32_t i = 0; i < solids->count; i++) {
		if (shape->first_triangle[i] >= 0)
			continue;
		tac_log(TAC_LOG_ERROR,
			"solids: expected solid %d to have a mesh in single precision, found none: it is too "
			"small, "
			"or too far from the origin",
			(int)i);
		tac_shape_destroy(out_shape);
		return TAC_ERROR_ARGUMENT;
	}
	return TAC_OK;
}

// A solid placed in another frame.
typedef struct placed {
	const tac_solid *solid;
	tac_dmat3 rotation, inverse; // of its frame in the other, and back
	tac_dvec3 position;
	double eps;
} placed;

static placed place(const tac_solid *solid, const tac_dmat3 *rotation, tac_dvec3 translation, double eps)
{
	placed p = {.solid = solid, .rotation = tac_dmat3_mul(*rotation, solid->rotation), .eps = eps};
	p.inverse = tac_dmat3_inverse(p.rotation);
	p.position = tac_dvec3_add(tac_dmat3_apply(*rotation, solid->position), translation);
	return p;
}

static tac_dvec3 to_solid(const placed *p, tac_dvec3 x)
{
	return tac_dmat3_apply(p->inverse, tac_dvec3_sub(x, p->position));
}

static tac_dvec3 from_solid(const placed *p, double z)
{
	return tac_dvec3_add(tac_dmat3_apply(p->rotation, tac_dvec3_make(0, 0, z)), p->position);
}

// The box of the solid in the other frame.
static tac_aabb box_of(const placed *p)
{
	const tac_solid *s = p->solid;
	double r = s->kind == TAC_SOLID_CONE ? fmax(s->radius, s->top) : s->radius, low = -r, high = r;
	if (s->kind == TAC_SOLID_CAPSULE) {
		low -= s->height / 2;
		high += s->height / 2;
	} else if (s->kind == TAC_SOLID_CYLINDER || s->kind == TAC_SOLID_CONE) {
		low = -s->height / 2;
		high = s->height / 2;
	} else if (s->kind == TAC_SOLID_TOROID) {
		r = s->radius + (s->concave ? 0 : s->minor);
		low = s->z_min;
		high = s->z_max;
	}
	float reach = (float)(r + 2 * p->eps), pad = (float)(2 * p->eps);
	tac_aabb local = {{-reach, -reach, (float)low - pad}, {reach, reach, (float)high + pad}};
	// To float and back: half a unit in the last place of the largest.
	for (int k = 0; k < 3; k++) {
		local.min[k] -= 1e-6f * reach + 1e-6f * fabsf(local.min[k]);
		local.max[k] += 1e-6f * reach + 1e-6f * fabsf(local.max[k]);
	}
	return tac_scd_cover(&p->rotation, p->position, &local);
}

// The triangle is in the other frame.
static bool meets_triangle(const placed *p, const tac_triangle *triangle)
{
	const tac_solid *s = p->solid;
	tac_triangle t = {to_solid(p, triangle->a), to_solid(p, triangle->b), to_solid(p, triangle->c)};
	double half = s->height / 2;
	switch (s->kind) {
	case TAC_SOLID_SPHERE: {
		tac_sphere sphere = {tac_dvec3_zero(), s->radius};
		return tac_sphere_meets_triangle(&sphere, &t, p->eps, NULL);
	}
	case TAC_SOLID_CAPSULE: {
		tac_sphere low = {tac_dvec3_make(0, 0, -half), s->radius},
			   high = {tac_dvec3_make(0, 0, half), s->radius};
		if (tac_sphere_meets_triangle(&low, &t, p->eps, NULL) ||
		    tac_sphere_meets_triangle(&high, &t, p->eps, NULL))
			return true;
		break;
	}
	case TAC_SOLID_CYLINDER:
	case TAC_SOLID_CONE:
		break;
	case TAC_SOLID_TOROID: {
		tac_toroid toroid = {s->radius, s->minor, s->z_min, s->z_max, s->concave};
		return tac_toroid_meets_triangle(&toroid, &t, p->eps, NULL);
	}
	}
	// Upright solids stand on the origin.
	t.a.z += half;
	t.b.z += half;
	t.c.z += half;
	tac_cone cone = {s->radius, s->kind == TAC_SOLID_CONE ? s->top : s->radius, s->height};
	return tac_cone_meets_triangle(&cone, &t, p->eps, NULL);
}

// Whether there is a test of the two kinds; if so, its answer. Both are placed in one frame.
static bool meets_solid(const placed *a, const placed *b, bool *out_hit)
{
	const tac_solid *s = a->solid, *t = b->solid;
	bool s_round = s->kind == TAC_SOLID_SPHERE || s->kind == TAC_SOLID_CAPSULE;
	bool t_round = t->kind == TAC_SOLID_SPHERE || t->kind == TAC_SOLID_CAPSULE;
	if (s_round && t_round) { // the distance of two axes, either of which may be a point
		double sh = s->kind == TAC_SOLID_CAPSULE ? s->height / 2 : 0,
		       th = t->kind == TAC_SOLID_CAPSULE ? t->height / 2 : 0;
		tac_segment p = {from_solid(a, -sh), from_solid(a, sh)},
			    q = {from_solid(b, -th), from_solid(b, th)};
		double reach = s->radius + t->radius + a->eps;
		*out_hit = tac_segment_distance_squared(&p, &q) <= reach * reach;
		return true;
	}
	if (s->kind == TAC_SOLID_SPHERE && t->kind == TAC_SOLID_CYLINDER)
		return meets_solid(b, a, out_hit);
	if (s->kind == TAC_SOLID_CYLINDER && t->kind == TAC_SOLID_SPHERE) {
		tac_cylinder cylinder = {from_solid(a, -s->height / 2), from_solid(a, s->height / 2),
					 s->radius};
		tac_sphere sphere = {b->position, t->radius};
		*out_hit = tac_cylinder_meets_sphere(&cylinder, &sphere, a->eps, NULL);
		return true;
	}
	return false;
}

static tac_triangle triangle_of(const tac_mesh *mesh, int32_t i)
{
	const int32_t *v = mesh->triangles[i].vertex;
	return (tac_triangle){tac_dvec3_from_vec3(mesh->vertices[v[0]]),
			      tac_dvec3_from_vec3(mesh->vertices[v[1]]),
			      tac_dvec3_from_vec3(mesh->vertices[v[2]])};
}

typedef struct job {
	tac_context *context;
	const solid_shape *fixed, *moving;
	tac_dmat3 rotation, inverse_rotation; // of the moving shape in the fixed one, and back
	tac_dvec3 translation, inverse_translation;
	double eps;
	int64_t steps, skip; // done, and to be left out because an earlier run did them
} job;

// What a step of the query came to.
typedef enum step { GO_ON, OVER, STOPPED } step;

// Counts a step; what to do with it.
static step begin_step(job *j, bool *out_skip)
{
	*out_skip = j->steps < j->skip;
	// The first is always done, or a small budget would make no progress.
	if (!*out_skip && j->steps > j->skip && tac_context_spent(j->context)) {
		j->context->pending = true;
		j->context->state[0] = (int32_t)j->steps;
		return STOPPED;
	}
	j->steps++;
	j->context->nodes_left -= !*out_skip;
	return GO_ON;
}

static step found(job *j, int32_t fixed_triangle, int32_t moving_triangle)
{
	tac_context_report(j->context, fixed_triangle, moving_triangle);
	return j->context->mode == TAC_QUERY_FIRST ? OVER : GO_ON;
}

// A placed solid against the triangles begin … end - 1 of the other shape's mesh, those in its box. Reports
// each that it meets as a pair with `mine`, the triangle that stands for the solid; with `out_hit`, ends at
// the first instead and says so.
static step solid_against_mesh(job *j, const placed *p, const solid_shape *other, int32_t begin, int32_t end,
			       int32_t mine, bool *out_hit)
{
	int32_t *candidates = j->context->scratch;
	int32_t capacity = (int32_t)(j->context->scratch_bytes / sizeof *candidates);
	tac_aabb box = box_of(p);
	int32_t count = tac_rtree_query(&other->tree, &box, candidates, capacity,
					&j->context->counters.overlap_tests);
	if (count > capacity)
		return STOPPED; // without `pending`: more budget would not help
	for (int32_t i = 0; i < count; i++) {
		int32_t triangle = candidates[i];
		bool skip = false;
		if (triangle < begin || triangle >= end)
			continue;
		step s = out_hit == NULL ? begin_step(j, &skip) : GO_ON;
		if (s != GO_ON)
			return s;
		if (skip)
			continue;
		tac_triangle t = triangle_of(other->base.mesh, triangle);
		j->context->counters.triangle_tests++;
		if (!meets_triangle(p, &t))
			continue;
		if (out_hit != NULL) {
			*out_hit = true;
			return GO_ON;
		}
		s = other == j->fixed ? found(j, triangle, mine) : found(j, mine, triangle);
		if (s != GO_ON)
			return s;
	}
	return GO_ON;
}

// A point of the solid, as a triangle.
static tac_triangle inner_point(const placed *p)
{
	const tac_solid *s = p->solid;
	tac_dvec3 x = from_solid(p, s->kind == TAC_SOLID_TOROID ? 0.5 * (s->z_min + s->z_max) : 0);
	return (tac_triangle){x, x, x};
}

// Solid m of the moving shape against solid f of the fixed one: one step, whatever it takes.
static step solid_against_solid(job *j, int32_t m, int32_t f)
{
	tac_dmat3 identity = tac_dmat3_identity();
	placed p = place(&j->moving->solids.solid[m], &j->rotation, j->translation, j->eps);
	placed q = place(&j->fixed->solids.solid[f], &identity, tac_dvec3_zero(), j->eps);
	int32_t begin = j->fixed->first_triangle[f], mine = j->moving->first_triangle[m];
	int32_t end = f + 1 < j->fixed->solids.count ? j->fixed->first_triangle[f + 1]
						     : j->fixed->base.mesh->triangle_count;
	bool skip, hit = false;
	step s = begin_step(j, &skip);
	if (s != GO_ON || skip)
		return s;
	if (!meets_solid(&p, &q, &hit)) {
		// Where one is inside the other, no triangle of the mesh need be near.
		tac_triangle in_p = inner_point(&p), in_q = inner_point(&q);
		hit = meets_triangle(&p, &in_q) || meets_triangle(&q, &in_p);
		if (!hit)
			s = solid_against_mesh(j, &p, j->fixed, begin, end, mine, &hit);
	}
	return s == GO_ON && hit ? found(j, begin, mine) : s;
}

static step mesh_against_mesh(job *j)
{
	int32_t *candidates = j->context->scratch;
	int32_t capacity = (int32_t)(j->context->scratch_bytes / sizeof *candidates);
	const tac_mesh *mesh = j->moving->base.mesh;
	for (int32_t m = 0; m < mesh->triangle_count; m++) {
		bool skip;
		step s = begin_step(j, &skip);
		if (s != GO_ON)
			return s;
		if (skip)
			continue;
		tac_triangle t = triangle_of(mesh, m);
		const tac_dvec3 v[3] = {t.a, t.b, t.c};
		tac_tri64 moved;
		for (int k = 0; k < 3; k++) {
			tac_dvec3 x = tac_dvec3_add(tac_dmat3_apply(j->rotation, v[k]), j->translation);
			moved.v[k][0] = x.x;
			moved.v[k][1] = x.y;
			moved.v[k][2] = x.z;
		}
		tac_aabb box = tac_scd_optimal(&moved);
		int32_t count = tac_rtree_query(&j->fixed->tree, &box, candidates, capacity,
						&j->context->counters.overlap_tests);
		if (count > capacity)
			return STOPPED;
		for (int32_t i = 0; i < count; i++) {
			j->context->counters.triangle_tests++;
			if (tac_context_exact(j->context, candidates[i], m) &&
			    found(j, candidates[i], m) == OVER)
				return OVER;
		}
	}
	return GO_ON;
}

static tac_contact run_query(const tac_collider *self, tac_context *context, bool resume)
{
	(void)self;
	job j = {.context = context,
		 .fixed = (const solid_shape *)context->fixed,
		 .moving = (const solid_shape *)context->moving,
		 .rotation = tac_dmat3_from_mat3(context->motion.rotation),
		 .translation = tac_dvec3_from_vec3(context->motion.translation),
		 .skip = resume ? context->state[0] : 0};
	j.inverse_rotation = tac_dmat3_inverse(j.rotation);
	j.inverse_translation = tac_dvec3_neg(tac_dmat3_apply(j.inverse_rotation, j.translation));
	j.eps = tac_primitive_eps(fmax(j.fixed->extent, j.moving->extent));
	step s = GO_ON;
	int32_t moving_solids = j.moving->solids.count, fixed_solids = j.fixed->solids.count;
	if (moving_solids > 0 && fixed_solids > 0) {
		for (int32_t i = 0; s == GO_ON && i < moving_solids * fixed_solids; i++)
			s = solid_against_solid(&j, i / fixed_solids, i % fixed_solids);
	} else if (moving_solids > 0) {
		for (int32_t i = 0; s == GO_ON && i < moving_solids; i++) {
			placed p = place(&j.moving->solids.solid[i], &j.rotation, j.translation, j.eps);
			s = solid_against_mesh(&j, &p, j.fixed, 0, INT32_MAX, j.moving->first_triangle[i],
					       NULL);
		}
	} else if (fixed_solids > 0) {
		for (int32_t i = 0; s == GO_ON && i < fixed_solids; i++) {
			placed p = place(&j.fixed->solids.solid[i], &j.inverse_rotation,
					 j.inverse_translation, j.eps);
			s = solid_against_mesh(&j, &p, j.moving, 0, INT32_MAX, j.fixed->first_triangle[i],
					       NULL);
		}
	} else {
		s = mesh_against_mesh(&j);
	}
	if (s == STOPPED)
		return TAC_CONTACT_UNKNOWN;
	return context->pair_count > 0 ? TAC_CONTACT_HIT : TAC_CONTACT_NONE;
}

const tac_collider *tac_solid_collider(void)
{
	static const tac_collider collider = {
		.name = "solid", .variant = "baseline", .build = build, .destroy = destroy, .run = run_query};
	return &collider;
}
