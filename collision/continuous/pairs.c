#include "collision/ccd_pairs.h"

#include "collision/bsp.h"

#include <string.h>

// A list reaches this many times further than the query that makes it, so that it serves the next ones, too,
// and no less than this part of the triangles' size, which costs next to nothing; where these are more pairs
// than that, or than can be paid for, only a little further.
#define LIST_REACH 4.0
#define LIST_SIZE  0.03
#define LIST_PAIRS 1200
#define LIST_LEAST 1.05
// How many times further away than listed pairs everything outside of the vicinity of a list is.
#define LIST_FAR 4.0
// How often a list that has no room is tried again.
#define LIST_TRIES 4
// How far ahead of the pose that asks for it a list is made, as a part of its slack.
#define AHEAD 0.8
// Work that a pair of a list costs, with the nodes above it.
#define LIST_WORK (3 * TAC_CCD_WORK_NODES / 2 + TAC_CCD_WORK_BOUNDS)
// Steps in which the reach of a query is lowered to keep the limit of pairs.
#define BINS 64
// What rounding may take from a bound of a distance, as a part of the bodies' size.
#define ROUNDING 1e-14

// Pairs that are filtered at a time.
#define CHUNK 256

static tac_ccd_pairs_vicinity_fn *const kernels[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_ccd_pairs_kernel);
static tac_ccd_filter_fn *const filters[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_ccd_filter_kernel);
static tac_ccd_features_fn *const features[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_ccd_features_kernel);

static tac_ccd_part_fn *const parts[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_ccd_part_kernel);
static tac_ccd_sift_fn *const sifts[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_ccd_sift_kernel);

bool tac_ccd_pairs(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_sweep *sweep,
		   const double *reach, tac_ccd_visit visit, void *user, tac_ccd_context *context)
{
	return kernels[moving->simd](moving, fixed, sweep, reach, visit, user, context, NULL);
}

bool tac_ccd_pairs_vicinity(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_sweep *sweep,
			    const double *reach, tac_ccd_visit visit, void *user, tac_ccd_context *context,
			    tac_ccd_vicinity *vicinity)
{
	return kernels[moving->simd](moving, fixed, sweep, reach, visit, user, context, vicinity);
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

bool tac_ccd_pairs_bsp(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_sweep *sweep,
		       const double *reach, tac_ccd_visit visit, void *user, tac_ccd_context *context)
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
				return false;
			}
		}
		tac_ccd_work_add(context, TAC_CCD_WORK_NODES);
		if (tac_ccd_work_left(context) < 0)
			return false;
	}
	return true;
}

int32_t tac_ccd_filter(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_sweep *sweep,
		       double by_fixed, double by_moving, tac_ccd_near *pairs, int32_t count)
{
	return filters[moving->simd](moving, fixed, sweep, by_fixed, by_moving, pairs, count);
}

void tac_ccd_features(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
		      double margin, tac_ccd_near *pairs, int32_t count, uint16_t *out_features)
{
	features[moving->simd](moving, fixed, T, margin, pairs, count, out_features);
}

int32_t tac_ccd_part(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
		     double reach, tac_ccd_near *pairs, int32_t count, tac_ccd_parted *out_parted)
{
	return parts[moving->simd](moving, fixed, T, reach, pairs, count, out_parted);
}

int32_t tac_ccd_sift(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_sweep *sweep,
		     double by, const tac_ccd_near *pairs, const tac_ccd_parted *parted, int32_t count,
		     tac_ccd_near *out_pairs)
{
	return sifts[moving->simd](moving, fixed, sweep, by, pairs, parted, count, out_pairs);
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

// How far a point of the box can be from where it is at the other pose: a corner goes furthest.
static double box_displacement(tac_dvec3 lo, tac_dvec3 hi, const tac_ccd_pose *a, const tac_ccd_pose *b)
{
	if (!(lo.x <= hi.x))
		return 0;
	double middle[3], half[3], shift[3], edge[3][3];
	tac_dvec3_store(middle, tac_dvec3_scale(tac_dvec3_add(lo, hi), 0.5));
	tac_dvec3_store(half, tac_dvec3_scale(tac_dvec3_sub(hi, lo), 0.5));
	tac_dvec3_store(shift, tac_dvec3_sub(a->t, b->t));
	double along = 0, most = 0;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			double turn = a->R.m[i][j] - b->R.m[i][j];
			shift[i] += turn * middle[j];
			edge[j][i] = turn * half[j];
		}
		along += shift[i] * shift[i];
	}
	for (int k = 0; k < 4; k++) { // opposite corners together
		double square = along, across = 0;
		for (int i = 0; i < 3; i++) {
			double out = edge[0][i] + (k & 1 ? edge[1][i] : -edge[1][i]) +
				     (k & 2 ? edge[2][i] : -edge[2][i]);
			square += out * out;
			across += out * shift[i];
		}
		most = fmax(most, square + 2 * fabs(across));
	}
	return sqrt(most);
}

static bool visit_list(void *user, int32_t moving, int32_t fixed)
{
	tac_ccd_context *context = user;
	if (context->count == TAC_CCD_NEAR_MAX)
		return false;
	context->pairs[context->count++] = (tac_ccd_near){moving, fixed, 0};
	return true;
}

// Copies the pairs that may be within the reach; `to` may be `from`.
static int32_t keep_within(const tac_ccd_near *from, tac_ccd_near *to, int32_t count, double reach)
{
	int32_t kept = 0;
	for (int32_t i = 0; i < count; i++) {
		if ((double)from[i].clears <= reach)
			to[kept++] = from[i];
	}
	return kept;
}

// Where the next list is made: ahead of T, on the way from the last list to T, as far as its slack lets T be
// covered. So a body that moves on crosses the whole of what the list covers, not half of it.
static tac_ccd_pose ahead(const tac_ccd_context *context, const tac_ccd_pose *T, double slack)
{
	double lead = fmax(box_displacement(context->lo, context->hi, T, &context->at),
			   displacement(context->moving, T, &context->at) / LIST_FAR);
	if (!(context->reach > 0) || !(lead > 0) || !(slack > 0))
		return *T;
	double s = fmin(1, AHEAD * slack / lead);
	tac_dmat3 turn = tac_dmat3_mul(T->R, tac_dmat3_transpose(context->at.R));
	// The turns between two lists are small: their sine will do.
	tac_dvec3 w = tac_dvec3_scale(tac_dvec3_make(turn.m[2][1] - turn.m[1][2], turn.m[0][2] - turn.m[2][0],
						     turn.m[1][0] - turn.m[0][1]),
				      0.5 * s);
	tac_ccd_pose there = {tac_dmat3_mul(tac_dmat3_from_quat(tac_dquat_exp(w)), T->R),
			      tac_dvec3_add_scaled(T->t, s, tac_dvec3_sub(T->t, context->at.t))};
	return there;
}

// How far a list may reach for so many pairs, as the last one had them: the pairs of surfaces that nearly
// touch grow with the square of the reach and the size of the triangles.
static double reach_for(const tac_ccd_context *context, double pairs)
{
	return sqrt(pairs / context->density) - context->size;
}

static void note_density(tac_ccd_context *context, double reach)
{
	double size = reach + context->size;
	context->density = (context->count + 1) / (size * size);
}

// How far a list is to reach: some way further than needed, so that it serves the next queries, too; less
// where its pairs would be too many for its room or for the work that is left.
static double list_target(const tac_ccd_context *context, double needed)
{
	double least = fmax(LIST_LEAST * needed, LIST_SIZE * context->size);
	if (!(context->density > 0))
		return fmax(least, LIST_REACH * needed);
	double room = fmin(LIST_PAIRS, (double)tac_ccd_work_left(context) / LIST_WORK);
	return fmax(least, fmin(LIST_REACH * needed, reach_for(context, room)));
}

// How far the context's list reaches at the pose T: less than at its own by how far the vicinity has moved
// since, and no further than what is not in the vicinity may have come.
static double list_reach(const tac_ccd_context *context, const tac_ccd_pose *T)
{
	if (!(context->reach > 0))
		return -1;
	double rounding =
		ROUNDING * (context->moving->radius + context->fixed->radius + tac_dvec3_length(T->t));
	double near = context->reach - box_displacement(context->lo, context->hi, T, &context->at),
	       far = context->far - displacement(context->moving, T, &context->at);
	return fmin(near, far) - rounding;
}

static tac_dvec3 dvec3_from_floats(const float v[3])
{
	return tac_dvec3_make((double)v[0], (double)v[1], (double)v[2]);
}

// Makes the list around T, or ahead of it, as far as there is room for it.
static void make_list(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
		      double needed, tac_ccd_context *context)
{
	double reach = list_target(context, needed);
	tac_ccd_pose at = ahead(context, T, reach - needed);
	for (int i = 0; i < LIST_TRIES && tac_ccd_work_left(context) > 0; i++) {
		tac_ccd_sweep still = tac_ccd_sweep_still(at);
		tac_ccd_vicinity vicinity = {.reach = LIST_FAR * reach};
		context->count = 0;
		bool complete = tac_ccd_pairs_vicinity(moving, fixed, &still, &reach, visit_list, context,
						       context, &vicinity);
		note_density(context, reach);
		if (!complete) {
			reach = reach > LIST_LEAST * needed ? LIST_LEAST * needed : 0.5 * reach;
			at = *T;
			continue;
		}
		context->at = at;
		context->reach = reach;
		context->far = vicinity.reach;
		context->lo = dvec3_from_floats(vicinity.lo);
		context->hi = dvec3_from_floats(vicinity.hi);
		at = *T;
		// The vicinity is larger than the last one was: ahead was too far.
		if (i == 0 && list_reach(context, T) < needed)
			continue;
		tac_ccd_work_add(context, TAC_CCD_WORK_BOUNDS * context->count);
		context->count = tac_ccd_part(moving, fixed, &context->at, reach, context->pairs,
					      context->count, context->parted);
		return;
	}
	context->count = 0;
	context->reach = 0;
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

// As if the triangles covered a ball.
static double triangle_size(const tac_ccd_body *body)
{
	return body->ball * sqrt(12.0 / body->mesh->triangle_count);
}

void tac_ccd_context_bind(tac_ccd_context *context, const tac_ccd_body *moving, const tac_ccd_body *fixed)
{
	if (!context || (context->moving == moving && context->fixed == fixed))
		return;
	int64_t work = context->work, limit = context->work_limit;
	memset(context, 0, sizeof *context);
	context->work = work;
	context->work_limit = limit;
	context->moving = moving;
	context->fixed = fixed;
	context->size = triangle_size(moving) + triangle_size(fixed);
}

bool tac_ccd_list_covers(const tac_ccd_context *context, const tac_ccd_pose *T, double reach)
{
	return context && reach <= list_reach(context, T);
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
	return s->visit(s->user, c->pairs, count);
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
static bool visit_listed(const tac_ccd_search *s, tac_ccd_context *context, double reach, double *out_reach)
{
	double closer = s->reach - reach; // the planes need not clear more than what is sought
	int32_t count = tac_ccd_sift(s->moving, s->fixed, s->sweep, s->by_fixed - closer, context->pairs,
				     context->parted, context->count, context->filtered);
	tac_ccd_work_add(context, TAC_CCD_WORK_SIFT * (context->count / 8 + 1));
	// At one pose the directions leave the planes nothing to part.
	if (!s->sweep->still) {
		tac_ccd_work_add(context, TAC_CCD_WORK_PLANES * count);
		count = tac_ccd_filter(s->moving, s->fixed, s->sweep, s->by_fixed - closer,
				       s->by_moving - closer, context->filtered, count);
	}
	int64_t limit = tac_ccd_work_left(context) / (TAC_CCD_WORK_FEATURES + TAC_CCD_WORK_CONTACT);
	limit = s->limit < limit ? s->limit : limit < 0 ? 0 : limit;
	if (s->limit > 0 && count > limit) {
		reach = limited_reach(context->filtered, count, reach, (int32_t)limit);
		count = keep_within(context->filtered, context->filtered, count, reach);
	}
	if (out_reach)
		*out_reach = reach;
	return s->visit(s->user, context->filtered, count);
}

bool tac_ccd_near_pairs(const tac_ccd_search *search, tac_ccd_context *context, double *out_reach)
{
	const tac_ccd_pose *T = search->at;
	double listed = context ? list_reach(context, T) : -1;
	if (context && !(listed >= search->reach)) {
		make_list(search->moving, search->fixed, T, search->reach, context);
		listed = list_reach(context, T);
	}
	if (listed >= search->reach || (context && search->limit > 0))
		return visit_listed(search, context, fmax(0, fmin(search->reach, listed)), out_reach);
	if (out_reach)
		*out_reach = search->reach;
	chunk c;
	c.search = search;
	c.count = 0;
	tac_ccd_sweep still = tac_ccd_sweep_still(*T);
	return tac_ccd_pairs(search->moving, search->fixed, &still, &search->reach, visit_chunk, &c,
			     context) &&
	       flush(&c);
}
