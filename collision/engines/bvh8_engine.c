#include "collision/engines/bvh8_engine.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/engines/bvh8_distance.h"
#include "collision/engines/bvh8_tree.h"
#include "collision/trees/split.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNIT           0x1p-24F // unit roundoff of float
#define LEAF_TRIANGLES 8
// Bound of what flushing small numbers to zero can change in a sum, m.
#define UNDERFLOW (64.0F * FLT_MIN)

typedef struct {
	const tac_mesh *mesh;
	tac_split split;
	tac_bvh8_shape *shape;
	int32_t node_capacity, leaf_capacity;
	double slab_width, box_width; // half widths, summed over the leaves
} builder;

// Moments of the surface, from which the direction of a slab is chosen; a parent's are the sum of its
// children's.
typedef struct {
	double area, normal[3], first[3], second[3][3];
} moments;

static void add_moments(moments *sum, const moments *m)
{
	sum->area += m->area;
	for (int i = 0; i < 3; i++) {
		sum->normal[i] += m->normal[i];
		sum->first[i] += m->first[i];
		for (int j = 0; j < 3; j++)
			sum->second[i][j] += m->second[i][j];
	}
}

static tac_vec3 corner(const builder *b, int32_t item, int k)
{
	const tac_mesh *mesh = b->mesh;
	return mesh->vertices[mesh->triangles[b->split.items[item].triangle].vertex[k]];
}

static moments triangle_moments(const builder *b, int32_t item)
{
	tac_dvec3 v[3];
	for (int k = 0; k < 3; k++)
		v[k] = tac_dvec3_from_vec3(corner(b, item, k));
	tac_dvec3 n = tac_dvec3_cross(tac_dvec3_sub(v[1], v[0]), tac_dvec3_sub(v[2], v[0]));
	moments m = {.area = 0.5 * tac_dvec3_length(n)};
	double x[3][3];
	for (int k = 0; k < 3; k++)
		tac_dvec3_store(x[k], v[k]);
	tac_dvec3_store(m.normal, n);
	for (int i = 0; i < 3; i++) {
		double sum = x[0][i] + x[1][i] + x[2][i];
		m.first[i] = m.area * sum / 3.0;
		for (int j = 0; j < 3; j++)
			m.second[i][j] = m.area / 12.0 *
					 (sum * (x[0][j] + x[1][j] + x[2][j]) + x[0][i] * x[0][j] +
					  x[1][i] * x[1][j] + x[2][i] * x[2][j]);
	}
	return m;
}

// A Jacobi rotation that makes a[p][q] zero; `v` collects the eigenvectors in its columns.
static void jacobi_rotate(double a[3][3], double v[3][3], int p, int q)
{
	if (a[p][q] == 0.0)
		return;
	double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
	double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
	double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
	for (int k = 0; k < 3; k++) {
		double x = a[k][p], y = a[k][q];
		a[k][p] = c * x - s * y;
		a[k][q] = s * x + c * y;
	}
	for (int k = 0; k < 3; k++) {
		double x = a[p][k], y = a[q][k];
		a[p][k] = c * x - s * y;
		a[q][k] = s * x + c * y;
		x = v[k][p];
		y = v[k][q];
		v[k][p] = c * x - s * y;
		v[k][q] = s * x + c * y;
	}
}

// The direction of least spread: the eigenvector of the smallest eigenvalue of the covariance.
static tac_dvec3 least_spread(const moments *m)
{
	double a[3][3], v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			a[i][j] = m->second[i][j] - m->first[i] * m->first[j] / m->area;
	for (int sweep = 0; sweep < 6; sweep++) {
		jacobi_rotate(a, v, 0, 1);
		jacobi_rotate(a, v, 0, 2);
		jacobi_rotate(a, v, 1, 2);
	}
	int best = a[1][1] < a[0][0] ? 1 : 0;
	best = a[2][2] < a[best][best] ? 2 : best;
	return tac_dvec3_make(v[0][best], v[1][best], v[2][best]);
}

// Takes the slab across `direction` if it is thinner than the bound's.
static void try_slab(const builder *b, int32_t begin, int32_t end, tac_dvec3 direction, tac_bvh8_bound *bound)
{
	tac_vec3 n = tac_vec3_normalize(tac_vec3_from_dvec3(tac_dvec3_normalize(direction)));
	if (!(tac_vec3_dot(n, n) > 0.5F))
		return;
	float low = FLT_MAX, high = -FLT_MAX;
	for (int32_t i = begin; i < end; i++)
		for (int k = 0; k < 3; k++) {
			float d = tac_vec3_dot(n, corner(b, i, k));
			low = d < low ? d : low;
			high = d > high ? d : high;
		}
	float offset = 0.5F * low + 0.5F * high;
	// Each of the three products and two sums of a dot product rounds once: 5 roundings of at most 3
	// extents.
	float half_width = fmaxf(high - offset, offset - low) * (1.0F + 4.0F * UNIT) +
			   8.0F * UNIT * 3.0F * b->shape->extent;
	if (half_width < bound->half_width) {
		tac_vec3_store(bound->normal, n);
		bound->offset = offset;
		bound->half_width = half_width;
	}
}

static tac_bvh8_bound fit_bound(const builder *b, int32_t begin, int32_t end, const tac_box *box,
				const moments *m)
{
	tac_bvh8_bound bound = {.half_width = FLT_MAX};
	for (int k = 0; k < 3; k++) {
		bound.centre[k] = 0.5F * box->min[k] + 0.5F * box->max[k];
		float up = box->max[k] - bound.centre[k], down = bound.centre[k] - box->min[k];
		bound.half[k] = fmaxf(up, down) * (1.0F + 4.0F * UNIT);
	}
	// The thinnest extent of the box is always a slab; the moments may give a thinner one.
	int axis = bound.half[0] < bound.half[1] ? 0 : 1;
	axis = bound.half[2] < bound.half[axis] ? 2 : axis;
	bound.normal[axis] = 1.0F;
	bound.offset = bound.centre[axis];
	bound.half_width = bound.half[axis];
	if (m->area > 0.0) {
		try_slab(b, begin, end, least_spread(m), &bound);
		try_slab(b, begin, end, tac_dvec3_load(m->normal), &bound);
	}
	return bound;
}

static int32_t make_leaf(builder *b, int32_t begin, int32_t end, const tac_box *box, moments *out_moments,
			 tac_bvh8_bound *out_bound)
{
	TAC_ASSERT(b->shape->leaf_count < b->leaf_capacity);
	int32_t index = b->shape->leaf_count++;
	tac_bvh8_leaf *leaf = &b->shape->leaves[index];
	memset(leaf, 0, sizeof *leaf);
	leaf->count = end - begin;
	moments sum = {0};
	double longest = 0.0;
	for (int lane = 0; lane < 8; lane++) {
		int32_t item = lane < leaf->count ? begin + lane : begin;
		if (lane < leaf->count) {
			moments m = triangle_moments(b, item);
			add_moments(&sum, &m);
		}
		tac_vec3 v[3] = {corner(b, item, 0), corner(b, item, 1), corner(b, item, 2)};
		for (int k = 0; k < 3; k++) {
			float x[3] = {tac_vec3_get(v[0], k), tac_vec3_get(v[1], k), tac_vec3_get(v[2], k)};
			leaf->vertex[k][lane] = x[0];
			leaf->edge[0][k][lane] = x[1] - x[0];
			leaf->edge[1][k][lane] = x[2] - x[0];
			double length = tac_dvec3_length(tac_dvec3_sub(tac_dvec3_from_vec3(v[k]),
								       tac_dvec3_from_vec3(v[(k + 1) % 3])));
			longest = fmax(longest, length);
		}
		leaf->triangle[lane] = b->split.items[item].triangle;
	}
	leaf->longest_edge = (float)(longest * (1.0 + 0x1p-22));
	leaf->bound = fit_bound(b, begin, end, box, &sum);
	b->slab_width += (double)leaf->bound.half_width;
	b->box_width += (double)fminf(leaf->bound.half[0], fminf(leaf->bound.half[1], leaf->bound.half[2]));
	*out_moments = sum;
	*out_bound = leaf->bound;
	return ~index;
}

static int32_t make_node(builder *b, int32_t begin, int32_t end, const tac_box *box, int level,
			 moments *out_moments, tac_bvh8_bound *out_bound)
{
	if (level > 0 && end - begin <= LEAF_TRIANGLES)
		return make_leaf(b, begin, end, box, out_moments, out_bound);
	TAC_ASSERT(b->shape->node_count < b->node_capacity && level < TAC_BVH8_LEVELS);
	int32_t index = b->shape->node_count++;

	// Cut the range with the box of the largest area until there are eight.
	struct {
		int32_t begin, end;
		tac_box box;
	} ranges[8] = {{begin, end, *box}};
	int count = 1;
	while (count < 8) {
		int largest = -1;
		float area = -1.0F;
		for (int i = 0; i < count; i++) {
			float a = tac_box_half_area(&ranges[i].box);
			if (ranges[i].end - ranges[i].begin > LEAF_TRIANGLES && a > area) {
				area = a;
				largest = i;
			}
		}
		if (largest < 0)
			break;
		tac_box boxes[2];
		int32_t middle = tac_split_cut(&b->split, ranges[largest].begin, ranges[largest].end,
					       level >= TAC_BVH8_LEVELS / 3, boxes);
		ranges[count].begin = middle;
		ranges[count].end = ranges[largest].end;
		ranges[count++].box = boxes[1];
		ranges[largest].end = middle;
		ranges[largest].box = boxes[0];
	}

	moments sum = {0};
	tac_bvh8_node node;
	memset(&node, 0, sizeof node);
	for (int lane = 0; lane < 8; lane++) {
		tac_bvh8_bound bound = {.half = {-1e30F, -1e30F, -1e30F}, .half_width = -1e30F};
		if (lane < count) {
			moments m;
			node.child[lane] = make_node(b, ranges[lane].begin, ranges[lane].end,
						     &ranges[lane].box, level + 1, &m, &bound);
			add_moments(&sum, &m);
		}
		for (int k = 0; k < 3; k++) {
			node.centre[k][lane] = bound.centre[k];
			node.half[k][lane] = bound.half[k];
			node.normal[k][lane] = bound.normal[k];
		}
		node.offset[lane] = bound.offset;
		node.half_width[lane] = bound.half_width;
	}
	node.bound = fit_bound(b, begin, end, box, &sum);
	b->shape->nodes[index] = node;
	*out_moments = sum;
	*out_bound = node.bound;
	return index;
}

static void destroy(tac_shape *base)
{
	tac_bvh8_shape *shape = (tac_bvh8_shape *)base;
	free(shape->nodes);
	free(shape->leaves);
	free(shape);
}

// Frees the capacity beyond `bytes`; keeps the memory if there is none for the copy.
static void *shrink(void *memory, size_t bytes)
{
	void *smaller = aligned_alloc(64, bytes);
	if (!smaller)
		return memory;
	memcpy(smaller, memory, bytes);
	free(memory);
	return smaller;
}

static tac_result build(const tac_collider *self, const tac_mesh *mesh, tac_shape **out_shape)
{
	builder b = {.mesh = mesh};
	// A cut may leave a single triangle, so there can be as many leaves as triangles; a tree has fewer
	// nodes than leaves, and at least the root.
	b.leaf_capacity = mesh->triangle_count + 1;
	b.node_capacity = mesh->triangle_count + 1;
	tac_bvh8_shape *shape = calloc(1, sizeof *shape);
	if (shape) {
		shape->nodes = aligned_alloc(64, (size_t)b.node_capacity * sizeof *shape->nodes);
		shape->leaves = aligned_alloc(64, (size_t)b.leaf_capacity * sizeof *shape->leaves);
	}
	if (!shape || !shape->nodes || !shape->leaves) {
		if (shape)
			destroy(&shape->base);
		tac_log(TAC_LOG_ERROR, "wide tree: no memory for %d triangles", mesh->triangle_count);
		return TAC_ERROR_MEMORY;
	}
	b.shape = shape;
	shape->base = (tac_shape){.collider = self, .mesh = mesh};
	if (mesh->triangle_count > 0) {
		tac_result result = tac_split_init(mesh, &b.split);
		if (result < 0) {
			destroy(&shape->base);
			return result;
		}
		tac_box box = tac_split_bounds(&b.split, 0, b.split.count);
		for (int k = 0; k < 3; k++)
			shape->extent = fmaxf(shape->extent, fmaxf(fabsf(box.min[k]), fabsf(box.max[k])));
		if (shape->extent > TAC_BVH8_EXTENT) {
			tac_log(TAC_LOG_ERROR,
				"wide tree: expected coordinates up to %g m, found one of %g m",
				(double)TAC_BVH8_EXTENT, (double)shape->extent);
			tac_split_fini(&b.split);
			destroy(&shape->base);
			return TAC_ERROR_UNSUPPORTED;
		}
		moments m;
		tac_bvh8_bound bound;
		make_node(&b, 0, b.split.count, &box, 0, &m, &bound);
		tac_split_fini(&b.split);
		shape->uses_slabs = b.slab_width < 0.8 * b.box_width;
		shape->nodes = shrink(shape->nodes, (size_t)shape->node_count * sizeof *shape->nodes);
		shape->leaves = shrink(shape->leaves, (size_t)shape->leaf_count * sizeof *shape->leaves);
	}
	shape->base.bytes = sizeof *shape + (size_t)shape->node_count * sizeof *shape->nodes +
			    (size_t)shape->leaf_count * sizeof *shape->leaves;
	*out_shape = &shape->base;
	return TAC_OK;
}

typedef struct {
	tac_collider base;
	tac_bvh8_run_fn *run;
} engine;

static float dot3(const float a[3], const float b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// A bound of the distance that a point of the shape moves from one motion to the other, m: the displacement
// of the root box's centre, plus the change of the matrix times half the box's diagonal.
static double max_displacement(const tac_bvh8_shape *shape, const tac_rigid *from, const tac_rigid *to)
{
	const tac_bvh8_bound *root = &shape->nodes[0].bound;
	float t0[3], t1[3];
	tac_vec3_store(t0, from->t);
	tac_vec3_store(t1, to->t);
	double rotation2 = 0.0, centre2 = 0.0, radius2 = 0.0; // squared
	for (int i = 0; i < 3; i++) {
		double moved = (double)t1[i] - (double)t0[i];
		for (int j = 0; j < 3; j++) {
			double d = (double)to->R.m[i][j] - (double)from->R.m[i][j];
			rotation2 += d * d;
			moved += d * (double)root->centre[j];
		}
		centre2 += moved * moved;
		radius2 += (double)root->half[i] * (double)root->half[i];
	}
	return sqrt(centre2) + sqrt(rotation2 * radius2);
}

static tac_overlap run(const tac_collider *base, tac_context *context, bool resume)
{
	const engine *self = (const engine *)base;
	// Two percent cover all roundings and the change of lengths (tac_bvh8_query::clearance_valid).
	if (context->coherent && context->clearance_m > 0.0F && !resume && context->within_m == 0.0F &&
	    max_displacement((const tac_bvh8_shape *)context->moving, &context->clearance_motion,
			     &context->motion) < 0.98 * (double)context->clearance_m)
		return TAC_OVERLAP_NONE;
	tac_bvh8_query q = {
		.context = context,
		.fixed = (const tac_bvh8_shape *)context->fixed,
		.moving = (const tac_bvh8_shape *)context->moving,
	};
	float t[3];
	tac_vec3_store(t, context->motion.t);
	float reach = 0.0F; // largest |coordinate| in either frame
	for (int i = 0; i < 3; i++) {
		float row = 0.0F;
		for (int j = 0; j < 3; j++) {
			float r = context->motion.R.m[i][j];
			q.to_fixed.rotation[i][j] = q.to_moving.rotation[j][i] = r;
			q.to_fixed.absolute[i][j] = q.to_moving.absolute[j][i] = fabsf(r);
			row += fabsf(r);
		}
		q.to_fixed.translation[i] = t[i];
		reach = fmaxf(reach, row * q.moving->extent + fabsf(t[i]));
	}
	for (int i = 0; i < 3; i++) {
		const float *row = q.to_moving.rotation[i], *absolute = q.to_moving.absolute[i];
		q.to_moving.translation[i] = -dot3(row, t);
		float sum = absolute[0] + absolute[1] + absolute[2];
		float offset =
			absolute[0] * fabsf(t[0]) + absolute[1] * fabsf(t[1]) + absolute[2] * fabsf(t[2]);
		reach = fmaxf(reach, sum * q.fixed->extent + offset);
	}
	reach = fmaxf(reach, fmaxf(q.fixed->extent, q.moving->extent));
	// Coordinates end at TAC_BVH8_EXTENT, so the shapes are far apart.
	if (!(reach < 1e20F))
		return TAC_OVERLAP_NONE;
	// Centres and half extents round six times each, differences and sums six more times, all of numbers
	// up to the reach. If the matrix is not a rotation, its transpose differs from its inverse by three
	// skews.
	float skew = tac_rigid_skew(&context->motion);
	q.pad = (64.0F * UNIT + 4.0F * skew) * reach + UNDERFLOW;
	q.clearance_valid = skew < 0.01F && context->within_m == 0.0F;
	// Bounds that are apart by more than the query's distance hold no pair. (1e25 m contains every shape
	// and is less than the distance of a lane without a child.)
	q.pad += fminf(context->within_m, 1e25F);
	// Three products and three sums.
	q.vertex_error = 5.0F * UNIT * reach + UNDERFLOW;
	return self->run(&q, resume);
}

_Alignas(64) int32_t tac_bvh8_pack[256][8];

static tac_bvh8_run_fn *const runs[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_bvh8_run);

const tac_collider *tac_bvh8_collider_of(tac_simd simd)
{
	static engine engines[TAC_SIMD_COUNT];
	TAC_ASSERT(tac_simd_supported(simd) && runs[simd]);
	engine *e = &engines[simd];
	e->base = (tac_collider){.name = "wide",
				 .flags = TAC_COLLIDER_TRIANGLES | TAC_COLLIDER_WITHIN,
				 .nearest = tac_bvh8_nearest,
				 .variant = tac_simd_name(simd),
				 .build = build,
				 .destroy = destroy,
				 .run = run};
	e->run = runs[simd];
	for (int mask = 0; mask < 256; mask++)
		for (int lane = 0, n = 0; lane < 8; lane++)
			if (mask >> lane & 1)
				tac_bvh8_pack[mask][n++] = lane;
	return &e->base;
}

const tac_collider *tac_bvh8_collider(void)
{
	return tac_bvh8_collider_of(tac_simd_select());
}
