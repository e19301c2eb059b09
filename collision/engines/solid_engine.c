#include "collision/engines/solid_engine.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/engines/round8.h"
#include "collision/engines/scd.h"
#include "collision/geometry/primitives.h"
#include "collision/solid.h"
#include "collision/trees/leaf8.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Segments of a solid's mesh around its axis: the chord is less than 1e-3 of the radius inside the circle.
#define SEGMENTS 96

typedef struct solid_shape {
	tac_shape base;
	tac_solids solids;                      // none: the shape is a mesh
	tac_mesh *own_mesh;                     // of the solids, or NULL
	int32_t first_triangle[TAC_SOLIDS_MAX]; // of the surface of each solid
	tac_rtree tree;                         // of the mesh's triangles, see collision/trees/leaf8.h
	tac_leaf8 *leaves;
	double extent; // largest |coordinate|, m
} solid_shape;

static void destroy(tac_shape *base)
{
	solid_shape *shape = (solid_shape *)base;
	tac_rtree_fini(&shape->tree);
	free(shape->leaves);
	tac_mesh_destroy(&shape->own_mesh);
	free(shape);
}

static tac_result build_shape(const tac_collider *engine, const tac_mesh *mesh, solid_shape **out_shape)
{
	*out_shape = NULL;
	const size_t count = (size_t)mesh->triangle_count;
	size_t leaf_count = 0;
	solid_shape *shape = calloc(1, sizeof *shape);
	tac_aabb *boxes = malloc((count + 1) * sizeof *boxes);
	tac_leaf8 *leaves = tac_leaf8_alloc(count, 1);
	tac_result result = TAC_ERROR_MEMORY;
	if (shape && boxes && leaves) {
		for (int32_t i = 0; i < mesh->triangle_count; i++)
			boxes[i] = tac_leaf8_box(mesh, i);
		const tac_vec3 low = tac_vec3_abs(mesh->bounds_min), high = tac_vec3_abs(mesh->bounds_max);
		shape->extent = count > 0 ? (double)tac_vec3_max_component(tac_vec3_max(low, high)) : 0;
		result = tac_rtree_build(boxes, mesh->triangle_count, TAC_RTREE_PACK, &shape->tree);
	} else {
		tac_log(TAC_LOG_ERROR, "solid: no memory for a shape of %d triangles",
			(int)mesh->triangle_count);
	}
	free(boxes);
	if (result < 0) {
		free(leaves);
		free(shape);
		return result;
	}
	tac_leaf8_build(mesh, NULL, shape->tree.nodes, shape->tree.depth, leaves, &leaf_count);
	shape->leaves = leaves;
	shape->base = (tac_shape){.collider = engine,
				  .mesh = mesh,
				  .bytes = sizeof *shape +
					   (size_t)shape->tree.node_count * sizeof *shape->tree.nodes +
					   leaf_count * sizeof *leaves};
	*out_shape = shape;
	return TAC_OK;
}

static tac_result build(const tac_collider *self, const tac_mesh *mesh, tac_shape **out_shape)
{
	solid_shape *shape;
	tac_result result = build_shape(self, mesh, &shape);
	*out_shape = shape ? &shape->base : NULL;
	return result;
}

static tac_result build_solids(const tac_collider *self, const tac_solids *solids, tac_shape **out_shape)
{
	TAC_ASSERT(solids->count > 0 && solids->count <= TAC_SOLIDS_MAX);
	*out_shape = NULL;
	tac_mesh *mesh;
	solid_shape *shape;
	tac_result result = tac_solids_build_mesh(solids, SEGMENTS, &mesh);
	if (result < 0)
		return result;
	result = build_shape(self, mesh, &shape);
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
			"solids: expected solid %d to have a mesh in single precision, found none: "
			"it is too small, or too far from the origin",
			(int)i);
		tac_shape_destroy(out_shape);
		return TAC_ERROR_ARGUMENT;
	}
	return TAC_OK;
}

typedef struct engine {
	tac_collider base;
	tac_round8_fn *round8; // NULL: spheres and capsules are tested with one triangle at a time
} engine;

// A solid placed in another frame.
typedef struct placed {
	const tac_solid *solid;
	tac_dmat3 rotation, inverse; // from its frame to the other, and back
	tac_dvec3 position;
	double eps; // tolerance of the tests, m
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

// A point of the solid's axis in the other frame.
static tac_dvec3 axis_point(const placed *p, double z)
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
	// Covers the rounding to float, half a unit in the last place of the largest coordinate.
	for (int k = 0; k < 3; k++) {
		local.min[k] -= 1e-6f * reach + 1e-6f * fabsf(local.min[k]);
		local.max[k] += 1e-6f * reach + 1e-6f * fabsf(local.max[k]);
	}
	return tac_scd_cover(&p->rotation, p->position, &local);
}

// Whether the solid meets a triangle given in the other frame.
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
	// The tests of upright solids have the base at z = 0.
	t.a.z += half;
	t.b.z += half;
	t.c.z += half;
	tac_cone cone = {s->radius, s->kind == TAC_SOLID_CONE ? s->top : s->radius, s->height};
	return tac_cone_meets_triangle(&cone, &t, p->eps, NULL);
}

// Whether there is a direct test of the two kinds of solids; *out_hit is its answer. Both are placed in one
// frame.
static bool meets_solid(const placed *a, const placed *b, bool *out_hit)
{
	const tac_solid *s = a->solid, *t = b->solid;
	bool s_round = s->kind == TAC_SOLID_SPHERE || s->kind == TAC_SOLID_CAPSULE;
	bool t_round = t->kind == TAC_SOLID_SPHERE || t->kind == TAC_SOLID_CAPSULE;
	if (s_round && t_round) { // the distance of their axes, each of which may be a point
		double sh = s->kind == TAC_SOLID_CAPSULE ? s->height / 2 : 0,
		       th = t->kind == TAC_SOLID_CAPSULE ? t->height / 2 : 0;
		tac_segment p = {axis_point(a, -sh), axis_point(a, sh)},
			    q = {axis_point(b, -th), axis_point(b, th)};
		double reach = s->radius + t->radius + a->eps;
		*out_hit = tac_segment_distance_squared(&p, &q) <= reach * reach;
		return true;
	}
	if (s->kind == TAC_SOLID_SPHERE && t->kind == TAC_SOLID_CYLINDER)
		return meets_solid(b, a, out_hit);
	if (s->kind == TAC_SOLID_CYLINDER && t->kind == TAC_SOLID_SPHERE) {
		tac_cylinder cylinder = {axis_point(a, -s->height / 2), axis_point(a, s->height / 2),
					 s->radius};
		tac_sphere sphere = {b->position, t->radius};
		*out_hit = tac_cylinder_meets_sphere(&cylinder, &sphere, a->eps, NULL);
		return true;
	}
	return false;
}

// Triangle `item` of the tree, in the shape's frame.
static tac_triangle triangle_of(const solid_shape *shape, int32_t item)
{
	const tac_leaf8 *leaf = &shape->leaves[item / TAC_RTREE_MAX];
	const int lane = item % TAC_RTREE_MAX;
	tac_dvec3 v[3];
	for (int k = 0; k < 3; k++)
		v[k] = tac_dvec3_make((double)leaf->v[k][0][lane], (double)leaf->v[k][1][lane],
				      (double)leaf->v[k][2][lane]);
	return (tac_triangle){v[0], v[1], v[2]};
}

static int32_t triangle_id(const solid_shape *shape, int32_t item)
{
	return shape->leaves[item / TAC_RTREE_MAX].triangle[item % TAC_RTREE_MAX];
}

typedef struct job {
	tac_context *context;
	const solid_shape *fixed, *moving;
	tac_dmat3 rotation, inverse_rotation; // from the moving frame to the fixed one, and back
	tac_dvec3 translation, inverse_translation;
	double eps; // tolerance of the tests, m
	tac_round8_fn *round8;
	int64_t steps; // done or skipped
	int64_t skip;  // the steps that an earlier run has done
} job;

typedef enum step { STEP_CONTINUE, STEP_OVER, STEP_STOPPED } step;

// Counts a step of the query. *out_skip: an earlier run has done it.
static step begin_step(job *j, bool *out_skip)
{
	*out_skip = j->steps < j->skip;
	// The first step is always done, or a small budget would make no progress.
	if (!*out_skip && j->steps > j->skip && tac_context_budget_spent(j->context)) {
		j->context->pending = true;
		j->context->resume_state[0] = (int32_t)j->steps;
		return STEP_STOPPED;
	}
	j->steps++;
	j->context->nodes_left -= !*out_skip;
	return STEP_CONTINUE;
}

static step report_hit(job *j, int32_t fixed_triangle, int32_t moving_triangle)
{
	tac_context_report(j->context, fixed_triangle, moving_triangle);
	return j->context->mode == TAC_QUERY_FIRST ? STEP_OVER : STEP_CONTINUE;
}

// The test of a sphere or capsule with eight triangles at a time, and its result for one leaf.
typedef struct batch {
	tac_round8_fn *round8; // NULL: one triangle at a time in double precision
	tac_round8 round;
	int32_t leaf;            // the leaf that was tested; -1: none
	unsigned hit, undecided; // lanes of that leaf
} batch;

static batch start_batch(const placed *p, const solid_shape *other, tac_round8_fn *round8)
{
	const tac_solid *s = p->solid;
	batch b = {.leaf = -1};
	if (s->kind != TAC_SOLID_SPHERE && s->kind != TAC_SOLID_CAPSULE)
		return b;
	double half = s->kind == TAC_SOLID_CAPSULE ? s->height / 2 : 0;
	b.round8 = round8;
	b.round =
		tac_round8_make(axis_point(p, -half), axis_point(p, half), s->radius, other->extent, p->eps);
	return b;
}

// Whether candidate i meets the solid.
static bool candidate_meets(batch *b, const placed *p, const solid_shape *other, const int32_t *candidates,
			    int32_t i, int32_t count)
{
	const int32_t leaf = candidates[i] / TAC_RTREE_MAX;
	const unsigned lane = 1U << candidates[i] % TAC_RTREE_MAX;
	if (b->round8 && leaf != b->leaf) {
		unsigned lanes = lane;
		for (int32_t k = i + 1; k < count && candidates[k] / TAC_RTREE_MAX == leaf; k++)
			lanes |= 1U << candidates[k] % TAC_RTREE_MAX;
		b->hit = b->round8(&b->round, &other->leaves[leaf], lanes, &b->undecided);
		b->leaf = leaf;
	}
	if (b->round8 && (b->undecided & lane) == 0)
		return (b->hit & lane) != 0;
	tac_triangle t = triangle_of(other, candidates[i]);
	return meets_triangle(p, &t);
}

// Tests a placed solid with the triangles begin … end - 1 of the other shape's mesh. Reports each triangle
// that it meets as a pair with `solid_triangle`, which represents the solid; with `out_hit` it stops at the
// first one, sets *out_hit and reports nothing.
static step solid_against_mesh(job *j, const placed *p, const solid_shape *other, int32_t begin, int32_t end,
			       int32_t solid_triangle, bool *out_hit)
{
	int32_t *candidates = j->context->scratch;
	int32_t capacity = (int32_t)(j->context->scratch_bytes / sizeof *candidates);
	tac_aabb box = box_of(p);
	int32_t count = tac_rtree_query(&other->tree, &box, candidates, capacity,
					&j->context->counters.overlap_tests);
	if (count > capacity)
		return STEP_STOPPED; // without `pending`: a larger budget would not help
	batch b = start_batch(p, other, j->round8);
	for (int32_t i = 0; i < count; i++) {
		int32_t triangle = triangle_id(other, candidates[i]);
		bool skip = false;
		if (triangle < begin || triangle >= end)
			continue;
		step s = out_hit ? STEP_CONTINUE : begin_step(j, &skip);
		if (s != STEP_CONTINUE)
			return s;
		if (skip)
			continue;
		j->context->counters.triangle_tests++;
		if (!candidate_meets(&b, p, other, candidates, i, count))
			continue;
		if (out_hit) {
			*out_hit = true;
			return STEP_CONTINUE;
		}
		s = other == j->fixed ? report_hit(j, triangle, solid_triangle)
				      : report_hit(j, solid_triangle, triangle);
		if (s != STEP_CONTINUE)
			return s;
	}
	return STEP_CONTINUE;
}

// A point inside the solid, as a triangle without extent.
static tac_triangle inner_point(const placed *p)
{
	const tac_solid *s = p->solid;
	tac_dvec3 x = axis_point(p, s->kind == TAC_SOLID_TOROID ? 0.5 * (s->z_min + s->z_max) : 0);
	return (tac_triangle){x, x, x};
}

// Tests solid m of the moving shape with solid f of the fixed one, as a single step of the query.
static step solid_against_solid(job *j, int32_t m, int32_t f)
{
	tac_dmat3 identity = tac_dmat3_identity();
	placed p = place(&j->moving->solids.solid[m], &j->rotation, j->translation, j->eps);
	placed q = place(&j->fixed->solids.solid[f], &identity, tac_dvec3_zero(), j->eps);
	int32_t begin = j->fixed->first_triangle[f], solid_triangle = j->moving->first_triangle[m];
	int32_t end = f + 1 < j->fixed->solids.count ? j->fixed->first_triangle[f + 1]
						     : j->fixed->base.mesh->triangle_count;
	bool skip, hit = false;
	step s = begin_step(j, &skip);
	if (s != STEP_CONTINUE || skip)
		return s;
	if (!meets_solid(&p, &q, &hit)) {
		// If one solid is inside the other, no triangle of the mesh need be near.
		tac_triangle in_p = inner_point(&p), in_q = inner_point(&q);
		hit = meets_triangle(&p, &in_q) || meets_triangle(&q, &in_p);
		if (!hit)
			s = solid_against_mesh(j, &p, j->fixed, begin, end, solid_triangle, &hit);
	}
	return s == STEP_CONTINUE && hit ? report_hit(j, begin, solid_triangle) : s;
}

static step mesh_against_mesh(job *j)
{
	int32_t *candidates = j->context->scratch;
	int32_t capacity = (int32_t)(j->context->scratch_bytes / sizeof *candidates);
	const tac_mesh *mesh = j->moving->base.mesh;
	for (int32_t m = 0; m < mesh->triangle_count; m++) {
		bool skip;
		step s = begin_step(j, &skip);
		if (s != STEP_CONTINUE)
			return s;
		if (skip)
			continue;
		tac_tri64 moved;
		for (int k = 0; k < 3; k++) {
			tac_dvec3 x = tac_dvec3_from_vec3(mesh->vertices[mesh->triangles[m].vertex[k]]);
			x = tac_dvec3_add(tac_dmat3_apply(j->rotation, x), j->translation);
			moved.v[k][0] = x.x;
			moved.v[k][1] = x.y;
			moved.v[k][2] = x.z;
		}
		tac_aabb box = tac_scd_optimal(&moved);
		int32_t count = tac_rtree_query(&j->fixed->tree, &box, candidates, capacity,
						&j->context->counters.overlap_tests);
		if (count > capacity)
			return STEP_STOPPED;
		for (int32_t i = 0; i < count; i++) {
			int32_t triangle = triangle_id(j->fixed, candidates[i]);
			j->context->counters.triangle_tests++;
			if (tac_context_triangles_meet(j->context, triangle, m) &&
			    report_hit(j, triangle, m) == STEP_OVER)
				return STEP_OVER;
		}
	}
	return STEP_CONTINUE;
}

static tac_overlap run_query(const tac_collider *self, tac_context *context, bool resume)
{
	job j = {.context = context,
		 .round8 = ((const engine *)self)->round8,
		 .fixed = (const solid_shape *)context->fixed,
		 .moving = (const solid_shape *)context->moving,
		 .rotation = tac_dmat3_from_mat3(context->motion.R),
		 .translation = tac_dvec3_from_vec3(context->motion.t),
		 .skip = resume ? context->resume_state[0] : 0};
	j.inverse_rotation = tac_dmat3_inverse(j.rotation);
	j.inverse_translation = tac_dvec3_neg(tac_dmat3_apply(j.inverse_rotation, j.translation));
	j.eps = tac_primitive_eps(fmax(j.fixed->extent, j.moving->extent));
	step s = STEP_CONTINUE;
	int32_t moving_solids = j.moving->solids.count, fixed_solids = j.fixed->solids.count;
	if (moving_solids > 0 && fixed_solids > 0) {
		for (int32_t i = 0; s == STEP_CONTINUE && i < moving_solids * fixed_solids; i++)
			s = solid_against_solid(&j, i / fixed_solids, i % fixed_solids);
	} else if (moving_solids > 0) {
		for (int32_t i = 0; s == STEP_CONTINUE && i < moving_solids; i++) {
			placed p = place(&j.moving->solids.solid[i], &j.rotation, j.translation, j.eps);
			s = solid_against_mesh(&j, &p, j.fixed, 0, INT32_MAX, j.moving->first_triangle[i],
					       NULL);
		}
	} else if (fixed_solids > 0) {
		for (int32_t i = 0; s == STEP_CONTINUE && i < fixed_solids; i++) {
			placed p = place(&j.fixed->solids.solid[i], &j.inverse_rotation,
					 j.inverse_translation, j.eps);
			s = solid_against_mesh(&j, &p, j.moving, 0, INT32_MAX, j.fixed->first_triangle[i],
					       NULL);
		}
	} else {
		s = mesh_against_mesh(&j);
	}
	if (s == STEP_STOPPED)
		return TAC_OVERLAP_UNKNOWN;
	return context->pair_count > 0 ? TAC_OVERLAP_HIT : TAC_OVERLAP_NONE;
}

const tac_collider *tac_solid_collider_of(tac_simd simd)
{
	static engine engines[TAC_SIMD_COUNT];
	TAC_ASSERT(tac_simd_supported(simd));
	engines[simd] = (engine){{.name = "solid",
				  .build_solids = build_solids,
				  .variant = tac_simd_name(simd),
				  .build = build,
				  .destroy = destroy,
				  .run = run_query},
				 // In plain C, batches take twice as long as single triangles (bench_erit).
				 simd == TAC_SIMD_SCALAR ? NULL : tac_round8_of(simd)};
	return &engines[simd].base;
}

const tac_collider *tac_solid_collider(void)
{
	return tac_solid_collider_of(tac_simd_select());
}
