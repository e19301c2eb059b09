#include "collision/ccd_round_list.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

#define sub tac_dvec3_sub
#define dot tac_dvec3_dot
#define mad tac_dvec3_add_scaled

// Slack is how much further than needed a list reaches: the least, and the most, as parts of the reach. A
// list that served few queries, with few triangles, gets twice the slack the next time; one that served many,
// or has many triangles, half of it. One that would have very many has none.
#define SLACK_LEAST    0.08
#define SLACK_MOST     1
#define SERVED_FEW     16
#define SERVED_MANY    64
#define TRIANGLES_FEW  32
#define TRIANGLES      64
#define TRIANGLES_MANY 256
// What rounding may take from a distance, as a part of the coordinates.
#define ROUNDING 1e-14

static tac_ccd_round_travel_fn *const travels[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_ccd_round_travel_kernel);
static tac_ccd_round_part_fn *const partings[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_ccd_round_part_kernel);
static tac_ccd_round_measure_fn *const measures[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_ccd_round_measure_kernel);
static tac_ccd_round_sieve_core_fn *const core_sieves[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_ccd_round_sieve_core_kernel);
static tac_ccd_round_sieve_fn *const sieves[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_ccd_round_sieve_kernel);

bool tac_ccd_round_travel(const tac_ccd_body *body, tac_ccd_round_way *way, tac_ccd_round_visit visit,
			  void *user)
{
	return travels[body->simd](body, way, visit, user);
}

void tac_ccd_round_measure(tac_ccd_round_context *list, const tac_dvec3 points[4], double reach)
{
	measures[list->fixed->simd](list, points, reach);
}

void tac_ccd_round_sieve(tac_ccd_round_context *list, tac_dvec3 p, double reach)
{
	sieves[list->fixed->simd](list, p, reach);
}

void tac_ccd_round_sieve_core(tac_ccd_round_context *list, tac_dvec3 a, tac_dvec3 b)
{
	core_sieves[list->fixed->simd](list, a, b);
}

static double distance_from_segment(tac_dvec3 x, tac_dvec3 a, tac_dvec3 b)
{
	tac_dvec3 along = sub(b, a), from = sub(x, a);
	double length2 = dot(along, along);
	double s = length2 > 0 ? fmin(fmax(dot(from, along) / length2, 0), 1) : 0;
	return tac_dvec3_length(mad(from, -s, along));
}

// The distance from one segment is a convex function on another, so it is greatest at an end.
bool tac_ccd_round_covers(const tac_ccd_round_context *c, const tac_ccd_body *body,
			  const tac_ccd_round *around)
{
	if (c->fixed != body || !(c->at.radius > 0))
		return false;
	double apart = distance_from_segment(around->a, c->at.a, c->at.b);
	if (around->b.x != around->a.x || around->b.y != around->a.y || around->b.z != around->a.z)
		apart = fmax(apart, distance_from_segment(around->b, c->at.a, c->at.b));
	double size = tac_dvec3_length(c->at.a) + tac_dvec3_length(around->a) + c->fixed->radius;
	return apart + around->radius + ROUNDING * size <= c->at.radius;
}

typedef struct filling {
	tac_ccd_round_context *list;
	int32_t limit;
} filling;

static void put(tac_ccd_round_context *list, int32_t at, int32_t triangle)
{
	tac_ccd_round_block *block = &list->blocks[at / TAC_CCD_WIDTH];
	const tac_ccd_triangle *t = &list->fixed->triangles[triangle];
	int lane = at % TAC_CCD_WIDTH;
	block->triangle[lane] = triangle;
	block->own[lane] = t->vertices | t->edges << TAC_CCD_ROUND_EDGE | 1 << TAC_CCD_ROUND_FACE;
}

static bool add_triangle(void *user, int32_t triangle)
{
	filling *f = user;
	tac_ccd_round_context *list = f->list;
	if (list->count == f->limit)
		return false;
	put(list, list->count++, triangle);
	return true;
}

void tac_ccd_round_turn_plane(tac_ccd_round_block *block, int lane, tac_dvec3 gap, double distance)
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
	block->offset[lane] = top + TAC_CCD_ROUND_ROUNDING * size;
}

// Lists what is within `at`, at most `limit` triangles.
static bool fill(tac_ccd_round_context *list, const tac_ccd_round *at, int32_t limit)
{
	filling f = {list, limit};
	list->at = *at;
	list->origin = tac_vec3_from_dvec3(at->a);
	list->count = 0;
	tac_ccd_round_way still = {
		.a = at->a, .b = at->b, .radius = at->radius, .limit = 1, .budget = INT64_MAX};
	if (!tac_ccd_round_travel(list->fixed, &still, add_triangle, &f)) {
		list->at.radius = 0;
		return false;
	}
	// Lanes behind the last triangle repeat it.
	for (int32_t i = list->count; i % TAC_CCD_WIDTH != 0; i++)
		put(list, i, list->blocks[(i - 1) / TAC_CCD_WIDTH].triangle[(i - 1) % TAC_CCD_WIDTH]);
	partings[list->fixed->simd](list);
	return true;
}

bool tac_ccd_round_list(tac_ccd_round_context *c, const tac_ccd_body *body, const tac_ccd_round *around)
{
	TAC_ASSERT(c && body && around->radius > 0);
	if (c->fixed != body) {
		memset(c, 0, sizeof *c);
		c->fixed = body;
	}
	if (tac_ccd_round_covers(c, body, around)) {
		c->served++;
		return true;
	}
	if (c->served < SERVED_FEW && c->count < TRIANGLES_FEW)
		c->slack *= 2;
	else if (c->served > SERVED_MANY || c->count > TRIANGLES)
		c->slack *= 0.5;
	c->slack = fmin(fmax(c->slack, SLACK_LEAST * around->radius), SLACK_MOST * around->radius);
	c->served = 0;
	tac_ccd_round at = *around;
	at.radius += c->slack;
	if (fill(c, &at, TRIANGLES_MANY))
		return true;
	return fill(c, around, TAC_CCD_ROUND_MAX);
}
