#include "collision/continuous/round/round_list.h"

#include "base/assert.h"
#include "collision/continuous/sweep_context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The slack of a list is how much larger than needed its region is made. Its bounds, relative to the radius
// of the region that is needed.
#define SLACK_MIN 0.08
#define SLACK_MAX 1
// A list that served fewer than QUERIES_FEW queries and had fewer than TRIANGLES_FEW triangles doubles the
// slack of the next one. One that served more than QUERIES_MANY, or had more than TRIANGLES_MANY, halves it.
#define QUERIES_FEW    16
#define QUERIES_MANY   64
#define TRIANGLES_FEW  32
#define TRIANGLES_MANY 64
// A list with more triangles than this has no slack.
#define TRIANGLES_WITH_SLACK 256
// How much rounding may take from a distance, relative to the coordinates.
#define ROUNDING 1e-14

static tac_round_visit_path_fn *const path_kernels[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_round_visit_path_kernel);
static tac_round_list_make_planes_fn *const plane_kernels[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_round_list_make_planes_kernel);
static tac_round_list_measure_fn *const measure_kernels[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_round_list_measure_kernel);
static tac_round_list_cull_core_fn *const cull_core_kernels[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_round_list_cull_core_kernel);
static tac_round_list_cull_end_fn *const cull_end_kernels[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_round_list_cull_end_kernel);

bool tac_round_visit_path(const tac_body *body, tac_round_path *path, tac_round_visitor visit, void *user)
{
	return path_kernels[body->simd](body, path, visit, user);
}

void tac_round_list_measure(tac_round_context *list, const tac_dvec3 points[4], double reach)
{
	measure_kernels[list->fixed->simd](list, points, reach);
}

void tac_round_list_cull_end(tac_round_context *list, tac_dvec3 p, double reach)
{
	cull_end_kernels[list->fixed->simd](list, p, reach);
}

void tac_round_list_cull_core(tac_round_context *list, tac_dvec3 a, tac_dvec3 b)
{
	cull_core_kernels[list->fixed->simd](list, a, b);
}

tac_result tac_round_context_create(tac_round_context **out_context)
{
	TAC_ASSERT(out_context);
	void *memory;
	tac_result result = tac_context_allocate("round context", sizeof **out_context, &memory);
	*out_context = memory;
	return result;
}

void tac_round_context_destroy(tac_round_context **context)
{
	free(*context);
	*context = NULL;
}

void tac_round_context_reset(tac_round_context *context)
{
	memset(context, 0, sizeof *context);
}

static double distance_from_segment(tac_dvec3 x, tac_dvec3 a, tac_dvec3 b)
{
	tac_dvec3 along = tac_dvec3_sub(b, a), from = tac_dvec3_sub(x, a);
	double length2 = tac_dvec3_dot(along, along);
	double s = length2 > 0 ? fmin(fmax(tac_dvec3_dot(from, along) / length2, 0), 1) : 0;
	return tac_dvec3_length(tac_dvec3_add_scaled(from, -s, along));
}

bool tac_round_list_covers(const tac_round_context *list, const tac_body *body, const tac_round *region)
{
	const tac_round *listed = &list->region;
	if (list->fixed != body || !(listed->radius > 0))
		return false;
	// The distance from a segment is a convex function on another one, so it is largest at an end.
	double apart = distance_from_segment(region->a, listed->a, listed->b);
	if (region->b.x != region->a.x || region->b.y != region->a.y || region->b.z != region->a.z)
		apart = fmax(apart, distance_from_segment(region->b, listed->a, listed->b));
	double size = tac_dvec3_length(listed->a) + tac_dvec3_length(region->a) + list->fixed->radius;
	return apart + region->radius + ROUNDING * size <= listed->radius;
}

typedef struct filling {
	tac_round_context *list;
	int32_t limit; // of triangles
} filling;

static void put(tac_round_context *list, int32_t at, int32_t triangle)
{
	tac_round_block *block = &list->blocks[at / TAC_BODY_WIDTH];
	const tac_body_triangle *t = &list->fixed->triangles[triangle];
	int lane = at % TAC_BODY_WIDTH;
	block->triangle[lane] = triangle;
	block->owned[lane] = t->vertices | t->edges << TAC_ROUND_FEATURE_EDGE | 1 << TAC_ROUND_FEATURE_FACE;
}

static bool add_triangle(void *user, int32_t triangle)
{
	filling *f = user;
	tac_round_context *list = f->list;
	if (list->count == f->limit)
		return false;
	put(list, list->count++, triangle);
	return true;
}

void tac_round_block_set_plane(tac_round_block *block, int lane, tac_dvec3 gap, double distance)
{
	tac_dvec3 n = tac_dvec3_scale(gap, 1 / distance);
	float normal[3] = {(float)n.x, (float)n.y, (float)n.z}, top = -HUGE_VALF, size = 0;
	for (int k = 0; k < 3; k++) {
		float x = block->vertex[k][0][lane], y = block->vertex[k][1][lane],
		      z = block->vertex[k][2][lane];
		float height = normal[0] * x + normal[1] * y + normal[2] * z;
		float far = fabsf(x) + fabsf(y) + fabsf(z);
		top = height > top ? height : top;
		size = far > size ? far : size;
		block->normal[k][lane] = normal[k];
	}
	block->offset[lane] = top + TAC_ROUND_ROUNDING * size;
}

// Lists the triangles within the region; false when they are more than `limit`.
static bool fill(tac_round_context *list, const tac_round *region, int32_t limit)
{
	filling f = {list, limit};
	list->region = *region;
	list->origin = tac_vec3_from_dvec3(region->a);
	list->count = 0;
	tac_round_path stationary = {
		.a = region->a, .b = region->b, .radius = region->radius, .limit = 1, .budget = INT64_MAX};
	if (!tac_round_visit_path(list->fixed, &stationary, add_triangle, &f)) {
		list->region.radius = 0;
		return false;
	}
	// Lanes after the last triangle repeat it.
	for (int32_t i = list->count; i % TAC_BODY_WIDTH != 0; i++)
		put(list, i, list->blocks[(i - 1) / TAC_BODY_WIDTH].triangle[(i - 1) % TAC_BODY_WIDTH]);
	plane_kernels[list->fixed->simd](list);
	return true;
}

bool tac_round_list_update(tac_round_context *list, const tac_body *body, const tac_round *region)
{
	TAC_ASSERT(list && body && region->radius > 0);
	if (list->fixed != body) {
		tac_round_context_reset(list);
		list->fixed = body;
	}
	if (tac_round_list_covers(list, body, region)) {
		list->queries_served++;
		return true;
	}
	if (list->queries_served < QUERIES_FEW && list->count < TRIANGLES_FEW)
		list->slack *= 2;
	else if (list->queries_served > QUERIES_MANY || list->count > TRIANGLES_MANY)
		list->slack *= 0.5;
	list->slack = fmin(fmax(list->slack, SLACK_MIN * region->radius), SLACK_MAX * region->radius);
	list->queries_served = 0;
	tac_round larger = *region;
	larger.radius += list->slack;
	if (fill(list, &larger, TRIANGLES_WITH_SLACK))
		return true;
	return fill(list, region, TAC_ROUND_TRIANGLES_MAX);
}
