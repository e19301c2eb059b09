#include "collision/ccd_pairs.h"

#include "collision/bsp.h"

#include <string.h>

// A list reaches this many times further than the query that makes it, so that it serves the next ones, too.
#define LIST_REACH 2.2
// A list that overflows is tried again with this part of the reach, so often; so many lists later the full
// reach is tried again.
#define OVERFLOW_REACH    0.6
#define OVERFLOW_TRIES    8
#define OVERFLOW_PATIENCE 32
// Steps in which the reach of a query is lowered to keep the limit of pairs.
#define BINS 64
// What rounding may take from a bound of a distance, as a part of the bodies' size.
#define ROUNDING 1e-14

// Pairs that are filtered at a time.
#define CHUNK 256

static tac_ccd_pairs_fn *const kernels[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_ccd_pairs_kernel);
static tac_ccd_filter_fn *const filters[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_ccd_filter_kernel);

void tac_ccd_pairs(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_sweep *sweep,
		   const double *reach, tac_ccd_visit visit, void *user)
{
	kernels[moving->simd](moving, fixed, sweep, reach, visit, user);
}

typedef struct bsp_query {
	int32_t moving;
	tac_ccd_visit visit;
	void *user;
} bsp_query;

static bool visit_bsp(void *user, int32_t fixed)
{
	const bsp_query *q = user;
	return q->visit(q->user, q->moving, fixed);
}

static bool visit_any(void *user, int32_t fixed)
{
	(void)user;
	(void)fixed;
	return false;
}

// The box of the child k of a moving node on its way, grown by `by`.
static tac_ccd_box swept_child(const tac_ccd_node *n, int k, const tac_ccd_sweep *s, double by)
{
	tac_dvec3 c =
		tac_dvec3_make((double)n->center[0][k], (double)n->center[1][k], (double)n->center[2][k]);
	tac_dvec3 h = tac_dvec3_make((double)n->half[0][k], (double)n->half[1][k], (double)n->half[2][k]);
	tac_dvec3 a = tac_ccd_pose_apply(&s->start, c), b = tac_ccd_pose_apply(&s->end, c);
	tac_dvec3 size = tac_dvec3_add(tac_dmat3_apply(s->spread, h), tac_dvec3_splat(s->bend + by));
	tac_ccd_box box = {tac_dvec3_sub(tac_dvec3_min(a, b), size),
			   tac_dvec3_add(tac_dvec3_max(a, b), size)};
	return box;
}

void tac_ccd_pairs_bsp(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_sweep *sweep,
		       const double *reach, tac_ccd_visit visit, void *user)
{
	int32_t stack[7 * TAC_CCD_LEVELS + 1], top = 0;
	double pad = ROUNDING * (moving->radius + fixed->radius + tac_dvec3_length(sweep->start.t));
	stack[top++] = 0;
	while (top > 0) {
		const tac_ccd_node *n = &moving->nodes[stack[--top]];
		for (int k = 0; k < TAC_CCD_WIDTH && n->half[0][k] >= 0; k++) {
			tac_ccd_box box = swept_child(n, k, sweep, *reach + pad);
			double lo[3], hi[3];
			tac_dvec3_store(lo, box.lo);
			tac_dvec3_store(hi, box.hi);
			bsp_query q = {~n->child[k], visit, user};
			if (n->child[k] >= 0) {
				if (!tac_bsp_query(fixed->bsp, fixed, lo, hi, visit_any, NULL))
					stack[top++] = n->child[k];
			} else if (!tac_bsp_query(fixed->bsp, fixed, lo, hi, visit_bsp, &q)) {
				return;
			}
		}
	}
}

int32_t tac_ccd_filter(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_sweep *sweep,
		       double by_fixed, double by_moving, tac_ccd_near *pairs, int32_t count)
{
	return filters[moving->simd](moving, fixed, sweep, by_fixed, by_moving, pairs, count);
}

// How far a point of the body can be from where it is at the other pose.
static double displacement(const tac_ccd_body *body, const tac_ccd_pose *a, const tac_ccd_pose *b)
{
	double square = 0;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			double d = a->R.m[i][j] - b->R.m[i][j];
			square += d * d;
		}
	}
	// The difference of two rotations stretches no vector by more than its Frobenius norm over sqrt(2).
	tac_dvec3 center = tac_dvec3_from_vec3(body->center);
	double shift =
		tac_dvec3_length(tac_dvec3_sub(tac_ccd_pose_apply(a, center), tac_ccd_pose_apply(b, center)));
	return shift + sqrt(square / 2) * body->ball;
}

static bool visit_list(void *user, int32_t moving, int32_t fixed)
{
	tac_ccd_context *context = user;
	if (context->count == TAC_CCD_NEAR_MAX) {
		context->count = -1;
		return false;
	}
	context->pairs[context->count++] = (tac_ccd_near){moving, fixed, 0};
	return true;
}

// Makes the list around T, as far as it has room.
static void make_list(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
		      double needed, tac_ccd_context *context)
{
	double reach = LIST_REACH * needed;
	if (context->overflow_reach > 0 && ++context->overflow_lists > OVERFLOW_PATIENCE)
		context->overflow_reach = 0;
	if (context->overflow_reach > 0)
		reach = fmin(reach, OVERFLOW_REACH * context->overflow_reach);
	tac_ccd_sweep still = tac_ccd_sweep_still(*T);
	context->reach = 0;
	for (int i = 0; i < OVERFLOW_TRIES; i++) {
		context->count = 0;
		tac_ccd_pairs(moving, fixed, &still, &reach, visit_list, context);
		if (context->count >= 0) {
			context->count = tac_ccd_filter(moving, fixed, &still, reach, reach, context->pairs,
							context->count);
			context->at = *T;
			context->reach = reach;
			return;
		}
		context->count = 0;
		context->overflow_reach = reach;
		context->overflow_lists = 0;
		reach *= OVERFLOW_REACH;
	}
}

static bool meets_child(const tac_ccd_box *box, const tac_ccd_node *node, int k)
{
	const double lo[3] = {box->lo.x, box->lo.y, box->lo.z}, hi[3] = {box->hi.x, box->hi.y, box->hi.z};
	for (int i = 0; i < 3; i++) {
		double c = (double)node->center[i][k], h = (double)node->half[i][k];
		if (!(lo[i] <= c + h && hi[i] >= c - h))
			return false;
	}
	return true;
}

bool tac_ccd_near_box(const tac_ccd_body *body, const tac_ccd_box *box,
		      bool (*visit)(void *user, int32_t triangle), void *user)
{
	int32_t stack[7 * TAC_CCD_LEVELS + 1], top = 0;
	stack[top++] = 0;
	while (top > 0) {
		const tac_ccd_node *node = &body->nodes[stack[--top]];
		for (int k = 0; k < TAC_CCD_WIDTH; k++) {
			if (!meets_child(box, node, k))
				continue;
			if (node->child[k] >= 0)
				stack[top++] = node->child[k];
			else if (!visit(user, ~node->child[k]))
				return false;
		}
	}
	return true;
}

void tac_ccd_context_bind(tac_ccd_context *context, const tac_ccd_body *moving, const tac_ccd_body *fixed)
{
	if (!context || (context->moving == moving && context->fixed == fixed))
		return;
	memset(context, 0, sizeof *context);
	context->moving = moving;
	context->fixed = fixed;
}

// How far the context's list reaches at the pose T.
static double list_reach(const tac_ccd_context *context, const tac_ccd_pose *T)
{
	double rounding =
		ROUNDING * (context->moving->radius + context->fixed->radius + tac_dvec3_length(T->t));
	return context->reach - rounding - displacement(context->moving, T, &context->at);
}

bool tac_ccd_list_covers(const tac_ccd_context *context, const tac_ccd_pose *T, double reach)
{
	return context && context->reach > 0 && reach <= list_reach(context, T);
}

// Pairs on their way to the visitor.
typedef struct chunk {
	const tac_ccd_search *search;
	int32_t count;
	tac_ccd_near pairs[CHUNK];
} chunk;

static bool flush(chunk *c)
{
	const tac_ccd_search *s = c->search;
	int32_t count =
		tac_ccd_filter(s->moving, s->fixed, s->sweep, s->by_fixed, s->by_moving, c->pairs, c->count);
	c->count = 0;
	for (int32_t i = 0; i < count; i++) {
		if (!s->visit(s->user, c->pairs[i].moving, c->pairs[i].fixed))
			return false;
	}
	return true;
}

static bool visit_chunk(void *user, int32_t moving, int32_t fixed)
{
	chunk *c = user;
	c->pairs[c->count++] = (tac_ccd_near){moving, fixed, 0};
	return c->count < CHUNK || flush(c);
}

// The largest part of the reach with no more pairs than the limit; 0 when there is none.
static double limited_reach(const tac_ccd_near *pairs, int32_t count, double reach, int32_t limit)
{
	int32_t bins[BINS] = {0};
	for (int32_t i = 0; i < count; i++) {
		double at = (double)pairs[i].clears / reach * BINS;
		bins[at <= 0 ? 0 : at >= BINS - 1 ? BINS - 1 : (int)at]++;
	}
	int k = 0;
	for (int32_t sum = 0; k < BINS && sum + bins[k] <= limit; k++)
		sum += bins[k];
	return reach * k / BINS;
}

// Visits what the list has within the reach.
static void visit_listed(const tac_ccd_search *s, tac_ccd_context *context, double reach, double *out_reach)
{
	// A pair that is this far away where the list was made is too far here.
	double needed = reach + (context->reach - list_reach(context, &s->sweep->start));
	double closer = s->reach - reach; // the planes need not clear more than what is sought
	int32_t count = 0;
	for (int32_t i = 0; i < context->count; i++) {
		if ((double)context->pairs[i].clears <= needed)
			context->filtered[count++] = context->pairs[i];
	}
	count = tac_ccd_filter(s->moving, s->fixed, s->sweep, s->by_fixed - closer, s->by_moving - closer,
			       context->filtered, count);
	if (s->limit > 0 && count > s->limit)
		reach = limited_reach(context->filtered, count, reach, s->limit);
	if (out_reach)
		*out_reach = reach;
	for (int32_t i = 0; i < count; i++) {
		const tac_ccd_near *p = &context->filtered[i];
		if ((s->limit == 0 || (double)p->clears <= reach) && !s->visit(s->user, p->moving, p->fixed))
			return;
	}
}

void tac_ccd_near_pairs(const tac_ccd_search *search, tac_ccd_context *context, double *out_reach)
{
	const tac_ccd_pose *T = &search->sweep->start;
	if (context && !tac_ccd_list_covers(context, T, search->reach))
		make_list(search->moving, search->fixed, T, search->reach, context);
	if (tac_ccd_list_covers(context, T, search->reach) || (context && search->limit > 0)) {
		visit_listed(search, context, fmax(0, fmin(search->reach, list_reach(context, T))),
			     out_reach);
		return;
	}
	if (out_reach)
		*out_reach = search->reach;
	chunk c;
	c.search = search;
	c.count = 0;
	tac_ccd_sweep still = tac_ccd_sweep_still(*T);
	tac_ccd_pairs(search->moving, search->fixed, &still, &search->reach, visit_chunk, &c);
	flush(&c);
}
