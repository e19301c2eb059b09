#include "collision/wide.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/split.h"
#include "collision/wide_tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 0x1p-24F // unit roundoff of float
#define LEAF 8        // triangles
// What numbers that are flushed to zero can add up to, m.
#define UNDERFLOW (64.0F * FLT_MIN)

typedef struct {
	const tac_mesh *mesh;
	tac_split split;
	tac_wide_shape *shape;
	int32_t node_capacity, leaf_capacity;
	double slab_width, box_width; // sums over the leaves
} builder;

// What the direction of a slab is chosen from: sums over triangles, which parents add up from their children.
typedef struct {
	double area, normal[3], first[3], second[3][3];
} moments;

static void add_moments(moments *to, const moments *from)
{
	to->area += from->area;
	for (int i = 0; i < 3; ++i) {
		to->normal[i] += from->normal[i];
		to->first[i] += from->first[i];
		for (int j = 0; j < 3; ++j)
			to->second[i][j] += from->second[i][j];
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
	for (int k = 0; k < 3; ++k)
		v[k] = tac_dvec3_from_vec3(corner(b, item, k));
	tac_dvec3 n = tac_dvec3_cross(tac_dvec3_sub(v[1], v[0]), tac_dvec3_sub(v[2], v[0]));
	moments m = {.area = 0.5 * tac_dvec3_length(n)};
	double x[3][3];
	for (int k = 0; k < 3; ++k)
		tac_dvec3_store(x[k], v[k]);
	tac_dvec3_store(m.normal, n);
	for (int i = 0; i < 3; ++i) {
		double sum = x[0][i] + x[1][i] + x[2][i];
		m.first[i] = m.area * sum / 3.0;
		for (int j = 0; j < 3; ++j)
			m.second[i][j] = m.area / 12.0 *
					 (sum * (x[0][j] + x[1][j] + x[2][j]) + x[0][i] * x[0][j] +
					  x[1][i] * x[1][j] + x[2][i] * x[2][j]);
	}
	return m;
}

// The direction in which the triangles spread least: the eigenvector of the smallest eigenvalue of their
// covariance, by Jacobi rotations.
static tac_dvec3 thinnest(const moments *m)
{
	double a[3][3], v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	for (int i = 0; i < 3; ++i)
		for (int j = 0; j < 3; ++j)
			a[i][j] = m->second[i][j] - m->first[i] * m->first[j] / m->area;
	for (int sweep = 0; sweep < 6; ++sweep)
		for (int p = 0; p < 2; ++p)
			for (int q = p + 1; q < 3; ++q) {
				if (a[p][q] == 0.0)
					continue;
				double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
				double t = (theta >= 0.0 ? 1.0 : -1.0) /
					   (fabs(theta) + sqrt(theta * theta + 1.0));
				double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
				for (int k = 0; k < 3; ++k) {
					double x = a[k][p], y = a[k][q];
					a[k][p] = c * x - s * y;
					a[k][q] = s * x + c * y;
				}
				for (int k = 0; k < 3; ++k) {
					double x = a[p][k], y = a[q][k];
					a[p][k] = c * x - s * y;
					a[q][k] = s * x + c * y;
					x = v[k][p];
					y = v[k][q];
					v[k][p] = c * x - s * y;
					v[k][q] = s * x + c * y;
				}
			}
	int best = a[1][1] < a[0][0] ? 1 : 0;
	best = a[2][2] < a[best][best] ? 2 : best;
	return tac_dvec3_make(v[0][best], v[1][best], v[2][best]);
}

static void try_slab(const builder *b, int32_t begin, int32_t end, tac_dvec3 direction, tac_wide_bound *bound)
{
	tac_vec3 n = tac_vec3_normalize(tac_vec3_from_dvec3(tac_dvec3_normalize(direction)));
	if (!(tac_vec3_dot(n, n) > 0.5F))
		return;
	float low = FLT_MAX, high = -FLT_MAX;
	for (int32_t i = begin; i < end; ++i)
		for (int k = 0; k < 3; ++k) {
			float d = tac_vec3_dot(n, corner(b, i, k));
			low = d < low ? d : low;
			high = d > high ? d : high;
		}
	float offset = 0.5F * low + 0.5F * high;
	// Each product of the dot product rounds once, and so do its sums: 5 roundings of at most 3 extents.
	float width = fmaxf(high - offset, offset - low) * (1.0F + 4.0F * UNIT) +
		      8.0F * UNIT * 3.0F * b->shape->extent;
	if (width < bound->width) {
		tac_vec3_store(bound->normal, n);
		bound->offset = offset;
		bound->width = width;
	}
}

static tac_wide_bound fit(const builder *b, int32_t begin, int32_t end, const tac_box *box, const moments *m)
{
	tac_wide_bound bound = {.width = FLT_MAX};
	for (int k = 0; k < 3; ++k) {
		bound.centre[k] = 0.5F * box->min[k] + 0.5F * box->max[k];
		float up = box->max[k] - bound.centre[k], down = bound.centre[k] - box->min[k];
		bound.half[k] = fmaxf(up, down) * (1.0F + 4.0F * UNIT);
	}
	// The thinnest side of the box is always a slab; the sums may find a better one.
	int axis = bound.half[0] < bound.half[1] ? 0 : 1;
	axis = bound.half[2] < bound.half[axis] ? 2 : axis;
	bound.normal[axis] = 1.0F;
	bound.offset = bound.centre[axis];
	bound.width = bound.half[axis];
	if (m->area > 0.0) {
		try_slab(b, begin, end, thinnest(m), &bound);
		try_slab(b, begin, end, tac_dvec3_load(m->normal), &bound);
	}
	return bound;
}

static int32_t make_leaf(builder *b, int32_t begin, int32_t end, const tac_box *box, moments *out_moments,
			 tac_wide_bound *out_bound)
{
	TAC_ASSERT(b->shape->leaf_count < b->leaf_capacity);
	int32_t index = b->shape->leaf_count++;
	tac_wide_leaf *leaf = &b->shape->leaves[index];
	memset(leaf, 0, sizeof *leaf);
	leaf->count = end - begin;
	moments sum = {0};
	double longest = 0.0;
	for (int lane = 0; lane < 8; ++lane) {
		int32_t item = lane < leaf->count ? begin + lane : begin;
		if (lane < leaf->count) {
			moments m = triangle_moments(b, item);
			add_moments(&sum, &m);
		}
		tac_vec3 v[3] = {corner(b, item, 0), corner(b, item, 1), corner(b, item, 2)};
		for (int k = 0; k < 3; ++k) {
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
	leaf->longest = (float)(longest * (1.0 + 0x1p-22));
	leaf->bound = fit(b, begin, end, box, &sum);
	b->slab_width += (double)leaf->bound.width;
	b->box_width += (double)fminf(leaf->bound.half[0], fminf(leaf->bound.half[1], leaf->bound.half[2]));
	*out_moments = sum;
	*out_bound = leaf->bound;
	return ~index;
}

static int32_t make_node(builder *b, int32_t begin, int32_t end, const tac_box *box, int level,
			 moments *out_moments, tac_wide_bound *out_bound)
{
	if (level > 0 && end - begin <= LEAF)
		return make_leaf(b, begin, end, box, out_moments, out_bound);
	TAC_ASSERT(b->shape->node_count < b->node_capacity && level < TAC_WIDE_LEVELS);
	int32_t index = b->shape->node_count++;

	// Open the part of the largest area until there are eight.
	struct {
		int32_t begin, end;
		tac_box box;
	} parts[8] = {{begin, end, *box}};
	int count = 1;
	while (count < 8) {
		int largest = -1;
		float area = -1.0F;
		for (int i = 0; i < count; ++i) {
			float a = tac_box_half_area(&parts[i].box);
			if (parts[i].end - parts[i].begin > LEAF && a > area) {
				area = a;
				largest = i;
			}
		}
		if (largest < 0)
			break;
		tac_box boxes[2];
		int32_t middle = tac_split_cut(&b->split, parts[largest].begin, parts[largest].end,
					       level >= TAC_WIDE_LEVELS / 3, boxes);
		parts[count].begin = middle;
		parts[count].end = parts[largest].end;
		parts[count++].box = boxes[1];
		parts[largest].end = middle;
		parts[largest].box = boxes[0];
	}

	moments sum = {0};
	tac_wide_node node;
	memset(&node, 0, sizeof node);
	for (int lane = 0; lane < 8; ++lane) {
		tac_wide_bound bound = {.half = {-1e30F, -1e30F, -1e30F}, .width = -1e30F};
		if (lane < count) {
			moments m;
			node.child[lane] = make_node(b, parts[lane].begin, parts[lane].end, &parts[lane].box,
						     level + 1, &m, &bound);
			add_moments(&sum, &m);
		}
		for (int k = 0; k < 3; ++k) {
			node.centre[k][lane] = bound.centre[k];
			node.half[k][lane] = bound.half[k];
			node.normal[k][lane] = bound.normal[k];
		}
		node.offset[lane] = bound.offset;
		node.width[lane] = bound.width;
	}
	node.bound = fit(b, begin, end, box, &sum);
	b->shape->nodes[index] = node;
	*out_moments = sum;
	*out_bound = node.bound;
	return index;
}

static void destroy(tac_shape *base)
{
	tac_wide_shape *shape = (tac_wide_shape *)base;
	free(shape->nodes);
	free(shape->leaves);
	free(shape);
}

// Gives back what the guess of the capacity was too much.
static void *shrink(void *memory, size_t bytes)
{
	void *smaller = aligned_alloc(64, bytes);
	if (smaller == NULL)
		return memory;
	memcpy(smaller, memory, bytes);
	free(memory);
	return smaller;
}

static tac_result build(const tac_collider *self, const tac_mesh *mesh, tac_shape **out_shape)
{
	builder b = {.mesh = mesh};
	// A cut may leave one triangle alone, so there may be as many leaves as triangles, and a seventh of
	// nodes.
	b.leaf_capacity = mesh->triangle_count + 1;
	b.node_capacity = mesh->triangle_count + 1;
	tac_wide_shape *shape = calloc(1, sizeof *shape);
	if (shape != NULL) {
		shape->nodes = aligned_alloc(64, (size_t)b.node_capacity * sizeof *shape->nodes);
		shape->leaves = aligned_alloc(64, (size_t)b.leaf_capacity * sizeof *shape->leaves);
	}
	if (shape == NULL || shape->nodes == NULL || shape->leaves == NULL) {
		if (shape != NULL)
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
		for (int k = 0; k < 3; ++k)
			shape->extent = fmaxf(shape->extent, fmaxf(fabsf(box.min[k]), fabsf(box.max[k])));
		if (shape->extent > TAC_WIDE_EXTENT) {
			tac_log(TAC_LOG_ERROR,
				"wide tree: expected coordinates up to %g m, found one of %g m",
				(double)TAC_WIDE_EXTENT, (double)shape->extent);
			tac_split_fini(&b.split);
			destroy(&shape->base);
			return TAC_ERROR_UNSUPPORTED;
		}
		moments m;
		tac_wide_bound bound;
		make_node(&b, 0, b.split.count, &box, 0, &m, &bound);
		tac_split_fini(&b.split);
		shape->slabs = b.slab_width < 0.8 * b.box_width;
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
	tac_wide_run_fn *run;
} engine;

static float dot3(const float a[3], const float b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// How far a point of the shape can be at one motion from where it is at the other, m: the centre of the
// root's box and its corners tell.
static double displacement(const tac_wide_shape *shape, const tac_motion *from, const tac_motion *to)
{
	const tac_wide_bound *root = &shape->nodes[0].bound;
	float t0[3], t1[3];
	tac_vec3_store(t0, from->translation);
	tac_vec3_store(t1, to->translation);
	double turn = 0.0, shift = 0.0, radius = 0.0; // squared
	for (int i = 0; i < 3; ++i) {
		double along = (double)t1[i] - (double)t0[i];
		for (int j = 0; j < 3; ++j) {
			double d = (double)to->rotation.m[i][j] - (double)from->rotation.m[i][j];
			turn += d * d;
			along += d * (double)root->centre[j];
		}
		shift += along * along;
		radius += (double)root->half[i] * (double)root->half[i];
	}
	return sqrt(shift) + sqrt(turn * radius);
}

static tac_contact run(const tac_collider *base, tac_context *context, bool resume)
{
	const engine *self = (const engine *)base;
	// Two parts in a hundred are more than all roundings, and more than lengths may differ (`rigid`).
	if (context->coherent && context->clearance > 0.0F && !resume && context->within == 0.0F &&
	    displacement((const tac_wide_shape *)context->moving, &context->clear_at, &context->motion) <
		    0.98 * (double)context->clearance)
		return TAC_CONTACT_NONE;
	tac_wide_query q = {
		.context = context,
		.fixed = (const tac_wide_shape *)context->fixed,
		.moving = (const tac_wide_shape *)context->moving,
	};
	float t[3];
	tac_vec3_store(t, context->motion.translation);
	float reach = 0.0F; // largest |coordinate| in either frame
	for (int i = 0; i < 3; ++i) {
		float row = 0.0F;
		for (int j = 0; j < 3; ++j) {
			float r = context->motion.rotation.m[i][j];
			q.to_fixed.rotation[i][j] = q.to_moving.rotation[j][i] = r;
			q.to_fixed.absolute[i][j] = q.to_moving.absolute[j][i] = fabsf(r);
			row += fabsf(r);
		}
		q.to_fixed.translation[i] = t[i];
		reach = fmaxf(reach, row * q.moving->extent + fabsf(t[i]));
	}
	for (int i = 0; i < 3; ++i) {
		const float *row = q.to_moving.rotation[i], *absolute = q.to_moving.absolute[i];
		q.to_moving.translation[i] = -dot3(row, t);
		float sum = absolute[0] + absolute[1] + absolute[2];
		float offset =
			absolute[0] * fabsf(t[0]) + absolute[1] * fabsf(t[1]) + absolute[2] * fabsf(t[2]);
		reach = fmaxf(reach, sum * q.fixed->extent + offset);
	}
	reach = fmaxf(reach, fmaxf(q.fixed->extent, q.moving->extent));
	// Shapes end before 1e15 m: these do not touch.
	if (!(reach < 1e20F))
		return TAC_CONTACT_NONE;
	// Centres and half extents round six times each, differences and sums six more, all of numbers up to
	// the reach. Where the matrix is no rotation, its transpose is not its inverse: off by three skews.
	float skew = tac_motion_skew(&context->motion);
	q.pad = (64.0F * UNIT + 4.0F * skew) * reach + UNDERFLOW;
	q.rigid = skew < 0.01F && context->within == 0.0F;
	// Bounds that are apart by more than the distance asked for hold no pair. (1e25 m is everything that
	// there can be, and less than a lane without a child is away.)
	q.pad += fminf(context->within, 1e25F);
	// Three products and three sums.
	q.vertex = 5.0F * UNIT * reach + UNDERFLOW;
	return self->run(&q, resume);
}

_Alignas(64) int32_t tac_wide_pack[256][8];

static tac_wide_run_fn *const runs[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_wide_run);

const tac_collider *tac_wide_collider_of(tac_simd simd)
{
	static engine engines[TAC_SIMD_COUNT];
	TAC_ASSERT(tac_simd_supported(simd) && runs[simd] != NULL);
	engine *e = &engines[simd];
	e->base = (tac_collider){.name = "wide",
				 .variant = tac_simd_name(simd),
				 .build = build,
				 .destroy = destroy,
				 .run = run};
	e->run = runs[simd];
	for (int mask = 0; mask < 256; ++mask)
		for (int lane = 0, n = 0; lane < 8; ++lane)
			if (mask >> lane & 1)
				tac_wide_pack[mask][n++] = lane;
	return &e->base;
}

const tac_collider *tac_wide_collider(void)
{
	return tac_wide_collider_of(tac_simd_select());
}
