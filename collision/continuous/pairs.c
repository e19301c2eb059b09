#include "collision/continuous/pairs.h"

#include "base/assert.h"
#include "collision/continuous/bsp.h"

// The reach of a list relative to what the queries need, so that it serves the next ones, too. Where that
// would give more than LIST_PAIRS pairs, or more than the work left pays for, it is less, down to
// LIST_REACH_MIN.
#define LIST_REACH     4.0
#define LIST_REACH_MIN 1.6
#define LIST_PAIRS     1200
// How many times further away than the reach of the list everything outside of its near box is.
#define LIST_FAR 4.0
// How often a list is tried with a shorter reach when its pairs do not fit.
#define LIST_TRIES 3
// How many times as long as the last motion the way of a list may be, and what counts as a higher cost; its
// turn (rad) where it is longer than that motion, for a body with narrow faces and for any other, and the
// largest turn of a motion that lists are made along: ways are curved.
#define LIST_STRETCH     16
#define LIST_DEARER      1.5
#define LIST_TURN_NARROW 0.03
#define LIST_TURN        0.01
#define LIST_TURN_MAX    0.1
// The work for each pair of a list, with the nodes above it.
#define LIST_WORK (2 * TAC_WORK_NODE_PAIR + TAC_WORK_FIND_AXIS)
// Steps in which the reach of a query is lowered to keep the limit of pairs.
#define BINS 64
// How much rounding may take from a bound of a distance, relative to the size of the bodies.
#define ROUNDING 1e-14

// Pairs that are culled, or whose axes are found, in one call.
#define CHUNK 256
// A list that serves fewer motions than the first of these has its successor prepared, if it still serves the
// second. Larger: smaller parts, and more poses that both lists serve.
#define LIST_AHEAD     6.0
#define LIST_AHEAD_MIN 2.0
// A list that covers less than a search at a pose asked for, but this fraction of it, serves on while its
// successor is made in so many parts. Larger: more lists are made at once. Smaller: shorter margins.
#define LIST_ENOUGH 0.5
#define LIST_LATE   3.0
// The smallest part of a list that is prepared at once.
#define LIST_AHEAD_WORK 1000
// A list that is prepared while so many motions come leads this many times as far; it may take this many
// times the work of the last one.
#define LIST_OUTLASTS 2.0
#define LIST_GROWTH   1.5
// How far a list reaches around a prism at rest beyond what a search there needs, m, with at most so many
// pairs: for the first motions of a hand that sets off. One that reaches this fraction of it will do. A body
// that moves less than LIST_AT_REST between two steps, m, is at rest.
#define LIST_REST        1.5e-3
#define LIST_REST_PAIRS  2400
#define LIST_REST_ENOUGH 0.8
#define LIST_AT_REST     1e-7

static tac_pairs_visit_with_box_fn *const visit_kernels[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_pairs_visit_kernel);
static tac_pairs_cull_by_planes_fn *const plane_kernels[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_pairs_cull_by_planes_kernel);
static tac_pairs_near_features_fn *const feature_kernels[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_pairs_near_features_kernel);
static tac_pairs_find_axes_fn *const find_axes_kernels[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_pairs_find_axes_kernel);
static tac_pairs_separate_fn *const separate_kernels[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_pairs_separate_kernel);
static tac_pairs_cull_by_axes_fn *const axes_kernels[TAC_SIMD_COUNT] =
	TAC_SIMD_TABLE(tac_pairs_cull_by_axes_kernel);

// The visitor of the triangles of faces.
typedef struct triangles_query {
	const tac_body *moving, *fixed;
	tac_pair_visitor visit;
	void *user;
} triangles_query;

static bool visit_triangles(void *user, int32_t moving, int32_t fixed)
{
	const triangles_query *q = user;
	int32_t a[2], b[2];
	const int count_a = tac_body_face_triangles(q->moving, moving, a),
		  count_b = tac_body_face_triangles(q->fixed, fixed, b);
	for (int i = 0; i < count_a; i++) {
		for (int k = 0; k < count_b; k++) {
			if (!q->visit(q->user, a[i], b[k]))
				return false;
		}
	}
	return true;
}

bool tac_pairs_visit(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
		     const double *reach, tac_pair_visitor visit, void *user, tac_sweep_context *context)
{
	triangles_query q = {moving, fixed, visit, user};
	return visit_kernels[moving->simd](moving, fixed, sweep, reach, visit_triangles, &q, context, NULL,
					   NULL);
}

bool tac_pairs_visit_with_box(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
			      const double *reach, tac_pair_visitor visit, void *user,
			      tac_sweep_context *context, tac_near_box *near_box, tac_pair_descent *descent)
{
	return visit_kernels[moving->simd](moving, fixed, sweep, reach, visit, user, context, near_box,
					   descent);
}

typedef struct bsp_query {
	int32_t moving;
	tac_pair_visitor visit;
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

// A box that contains the child k of a moving node during the sweep, grown by `margin`.
static tac_dbox swept_child(const tac_body_node *n, int k, const tac_swept_motion *s, double margin)
{
	tac_dvec3 c =
		tac_dvec3_make((double)n->centre[0][k], (double)n->centre[1][k], (double)n->centre[2][k]);
	tac_dvec3 h = tac_dvec3_make((double)n->half[0][k], (double)n->half[1][k], (double)n->half[2][k]);
	tac_dvec3 a = tac_drigid_apply_point(&s->start, c), b = tac_drigid_apply_point(&s->end, c);
	tac_dvec3 size = tac_dvec3_add(tac_dmat3_apply(s->spread, h), tac_dvec3_splat(s->bend + margin));
	tac_dbox box = {tac_dvec3_sub(tac_dvec3_min(a, b), size), tac_dvec3_add(tac_dvec3_max(a, b), size)};
	return box;
}

bool tac_pairs_visit_bsp(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
			 const double *reach, tac_pair_visitor visit, void *user, tac_sweep_context *context)
{
	int32_t stack[7 * TAC_BODY_LEVELS + 1], top = 0;
	double pad = ROUNDING * (moving->radius + fixed->radius + tac_dvec3_length(sweep->start.t));
	stack[top++] = 0;
	while (top > 0) {
		const tac_body_node *n = &moving->nodes[stack[--top]];
		for (int k = 0; k < TAC_BODY_WIDTH && n->half[0][k] >= 0; k++) {
			tac_dbox box = swept_child(n, k, sweep, *reach + pad);
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
		tac_sweep_context_add_work(context, TAC_WORK_NODE_PAIR);
		if (tac_sweep_context_work_left(context) < 0)
			return false;
	}
	return true;
}

int32_t tac_pairs_cull_by_planes(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
				 double fixed_threshold, double moving_threshold, tac_near_pair *pairs,
				 int32_t count)
{
	return plane_kernels[moving->simd](moving, fixed, sweep, fixed_threshold, moving_threshold, pairs,
					   count);
}

void tac_pairs_near_features(const tac_body *moving, const tac_body *fixed, const tac_drigid *T,
			     double margin, tac_near_pair *pairs, int32_t count, uint32_t *out_features)
{
	feature_kernels[moving->simd](moving, fixed, T, margin, pairs, count, out_features);
}

int32_t tac_pairs_find_axes(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
			    double reach, tac_near_pair *pairs, int32_t first, int32_t end, int32_t kept,
			    tac_separating_axes *axes)
{
	return find_axes_kernels[moving->simd](moving, fixed, sweep, reach, pairs, first, end, kept, axes);
}

int32_t tac_pairs_separate(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
			   double enough, double enough_turning, tac_near_pair *pairs, int32_t count,
			   tac_vec3 *out_directions)
{
	return separate_kernels[moving->simd](moving, fixed, sweep, enough, enough_turning, pairs, count,
					      out_directions);
}

int32_t tac_pairs_cull_by_axes(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
			       double threshold, const tac_near_pair *pairs, const tac_separating_axes *axes,
			       int32_t count, tac_near_pair *out_pairs)
{
	return axes_kernels[moving->simd](moving, fixed, sweep, threshold, pairs, axes, count, out_pairs);
}

// An upper bound of the distance between the positions of a point of the body at two poses.
static double displacement(const tac_body *body, const tac_drigid *a, const tac_drigid *b)
{
	double square = 0;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			double d = a->R.m[i][j] - b->R.m[i][j];
			square += d * d;
		}
	}
	// The difference of two rotations stretches vectors by at most its Frobenius norm over sqrt(2).
	tac_dvec3 centre = tac_dvec3_from_vec3(body->centre);
	double shift = tac_dvec3_length(
		tac_dvec3_sub(tac_drigid_apply_point(a, centre), tac_drigid_apply_point(b, centre)));
	return shift + sqrt(square / 2) * body->centre_radius;
}

// The same for the points of a box: a corner moves furthest.
static double box_displacement(tac_dvec3 lo, tac_dvec3 hi, const tac_drigid *a, const tac_drigid *b)
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
			double change = a->R.m[i][j] - b->R.m[i][j];
			shift[i] += change * middle[j];
			edge[j][i] = change * half[j];
		}
		along += shift[i] * shift[i];
	}
	for (int k = 0; k < 4; k++) { // pairs of opposite corners
		double square = along, across = 0;
		for (int i = 0; i < 3; i++) {
			double corner = edge[0][i] + (k & 1 ? edge[1][i] : -edge[1][i]) +
					(k & 2 ? edge[2][i] : -edge[2][i]);
			square += corner * corner;
			across += corner * shift[i];
		}
		most = fmax(most, square + 2 * fabs(across));
	}
	return sqrt(most);
}

static bool add_to_list(void *user, int32_t moving, int32_t fixed)
{
	tac_pair_list *list = user;
	if (list->pair_count == TAC_SWEEP_PAIRS_MAX)
		return false;
	list->pairs[list->pair_count++] = (tac_near_pair){moving, fixed, 0, 0};
	return true;
}

// Copies the pairs whose clearance is within the reach; `to` may be `from`.
static int32_t keep_within(const tac_near_pair *from, tac_near_pair *to, int32_t count, double reach)
{
	int32_t kept = 0;
	for (int32_t i = 0; i < count; i++) {
		if ((double)from[i].clearance <= reach)
			to[kept++] = from[i];
	}
	return kept;
}

static uint32_t plane_slot(int32_t moving, int32_t fixed)
{
	uint32_t hash = (uint32_t)moving * 2654435761u ^ (uint32_t)fixed * 2246822519u;
	return (hash >> 16 ^ hash) % TAC_SWEEP_PLANES_MAX;
}

bool tac_sweep_context_recall(const tac_sweep_context *context, int32_t moving, int32_t fixed,
			      tac_dvec3 *out_normal)
{
	uint32_t slot = plane_slot(moving, fixed);
	*out_normal = context->planes[slot].normal;
	return context->planes[slot].moving == moving + 1 && context->planes[slot].fixed == fixed + 1;
}

// Makes the normal of a plane the axis of pair `at` of a list.
static void set_axis(const tac_sweep_context *context, tac_pair_list *list, int32_t at, tac_dvec3 normal)
{
	const tac_body_face *face = &context->fixed->faces[list->pairs[at].fixed];
	normal = tac_dvec3_scale(normal, TAC_AXIS_LENGTH);
	double offset = tac_dvec3_dot(normal, tac_dvec3_from_vec3(face->fourth));
	for (int k = 0; k < 3; k++)
		offset = fmax(offset, tac_dvec3_dot(normal, tac_dvec3_from_vec3(face->vertex[k])));
	for (int i = 0; i < 3; i++)
		list->axes.normal[i][at] = (float)tac_dvec3_get(normal, i);
	list->axes.offset[at] = (float)offset;
}

void tac_sweep_context_remember(tac_sweep_context *context, const tac_near_pair *pair, tac_dvec3 normal)
{
	uint32_t slot = plane_slot(pair->moving, pair->fixed);
	context->planes[slot].moving = pair->moving + 1;
	context->planes[slot].fixed = pair->fixed + 1;
	context->planes[slot].normal = normal;
	if (pair->listed > 0)
		set_axis(context, &context->lists[context->current], pair->listed - 1, normal);
}

// Gives those of the listed pairs from `first` on for which no axis was found the planes that are remembered.
static void recall_axes(const tac_sweep_context *context, tac_pair_list *list, int32_t first)
{
	for (int32_t i = first; i < list->pair_count; i++) {
		const tac_near_pair *p = &list->pairs[i];
		tac_dvec3 normal;
		if (p->clearance <= 0 && tac_sweep_context_recall(context, p->moving, p->fixed, &normal))
			set_axis(context, list, i, normal);
	}
}

// The rotation vector from one orientation to another close to it: the sine replaces the angle.
static tac_dvec3 small_turn(const tac_drigid *from, const tac_drigid *to)
{
	tac_dmat3 turn = tac_dmat3_mul(to->R, tac_dmat3_transpose(from->R));
	return tac_dvec3_scale(tac_dvec3_make(turn.m[2][1] - turn.m[1][2], turn.m[0][2] - turn.m[2][0],
					      turn.m[1][0] - turn.m[0][1]),
			       0.5);
}

static tac_drigid pose_along(const tac_drigid *from, tac_dvec3 v, tac_dvec3 w, double s)
{
	tac_dmat3 turn = tac_dmat3_from_quat(tac_dquat_exp(tac_dvec3_scale(w, s)));
	tac_drigid T = {tac_dmat3_mul(turn, from->R), tac_dvec3_add_scaled(from->t, s, v)};
	return T;
}

// The reach at which a list would have `pairs` pairs, at the density of the last one. The pairs of surfaces
// that nearly touch grow with the square of the sum of the reach and the triangles' size.
static double reach_for_pairs(const tac_sweep_context *context, double pairs)
{
	return sqrt(pairs / context->list_density) - context->triangle_size;
}

static void record_density(tac_sweep_context *context, const tac_pair_list *list)
{
	double size = list->reach + context->triangle_size;
	context->list_density = (list->pair_count + 1) / (size * size);
}

// The reach of a new list: further than needed, so that it serves the next queries, too, but less where its
// pairs would exceed its room or the work left.
static double target_reach(const tac_sweep_context *context, double needed)
{
	if (!(context->list_density > 0))
		return LIST_REACH * needed;
	double pairs = fmin(LIST_PAIRS, (double)tac_sweep_context_work_left(context) / LIST_WORK);
	return fmax(LIST_REACH_MIN * needed, fmin(LIST_REACH * needed, reach_for_pairs(context, pairs)));
}

static const tac_pair_list *list_of(const tac_sweep_context *context)
{
	return &context->lists[context->current];
}

static int32_t place_before(const tac_sweep_context *context)
{
	return (context->current + (context->turned ? 2 : 1)) % 3;
}

static int32_t place_in_making(const tac_sweep_context *context)
{
	return (context->current + (context->turned ? 1 : 2)) % 3;
}

static tac_pair_list *list_in_making(tac_sweep_context *context)
{
	return &context->lists[place_in_making(context)];
}

// The product of two motions, m^2: turns count at the distance of the body's farthest point from its centre.
static double motion_product(const tac_sweep_context *context, tac_dvec3 v0, tac_dvec3 w0, tac_dvec3 v1,
			     tac_dvec3 w1)
{
	const double arm = context->moving->centre_radius;
	return tac_dvec3_dot(v0, v1) + arm * arm * tac_dvec3_dot(w0, w1);
}

// The fraction of a list's way at which its pose is about closest to T.
static double closest_on_way(const tac_sweep_context *context, const tac_pair_list *list, const tac_drigid *T)
{
	double length = motion_product(context, list->v, list->w, list->v, list->w);
	double along = motion_product(context, tac_dvec3_sub(T->t, list->pose.t), small_turn(&list->pose, T),
				      list->v, list->w);
	return length > 0 ? fmin(1, fmax(0, along / length)) : 0;
}

// The distance up to which a list is complete at the pose T; negative when there is none. It is the reach of
// the list less the motion of the near box away from the list's way, and at most the distance to which
// triangles outside of that box may have come.
static double reach_at(const tac_sweep_context *context, const tac_pair_list *list, const tac_drigid *T)
{
	if (!(list->reach > 0))
		return -1;
	double s = closest_on_way(context, list, T);
	tac_drigid at = s > 0 ? pose_along(&list->pose, list->v, list->w, s) : list->pose;
	double rounding =
		ROUNDING * (context->moving->radius + context->fixed->radius + tac_dvec3_length(T->t));
	// The near box is in the frame of the tree.
	tac_drigid tree_T = {tac_dmat3_mul(T->R, context->moving->frame), T->t},
		   tree_at = {tac_dmat3_mul(at.R, context->moving->frame), at.t};
	double near = list->reach - box_displacement(list->near_lo, list->near_hi, &tree_T, &tree_at),
	       far = list->far_reach - displacement(context->moving, T, &at);
	return fmin(near, far) - rounding;
}

// The same for a sweep. Both it and the list's way are curved, so that between their ends a point may be
// further from the way.
static double reach_during(const tac_sweep_context *context, const tac_pair_list *list,
			   const tac_swept_motion *sweep)
{
	if (list->without != sweep->without)
		return -1;
	double reach = reach_at(context, list, &sweep->start);
	if (sweep->stationary)
		return reach;
	double curve = sweep->turn * sweep->turn + tac_dvec3_length_squared(list->w);
	return fmin(reach, reach_at(context, list, &sweep->end)) - context->moving->radius * curve / 8;
}

// The distance up to which the list is complete during the sweep. Where that is less than the reach, and the
// list before covers it, the two change places: a body that goes back on its way meets its pairs again.
static double find_list(tac_sweep_context *context, const tac_swept_motion *sweep, double reach)
{
	const double covered = reach_during(context, list_of(context), sweep);
	if (reach <= covered)
		return covered;
	const double before = reach_during(context, &context->lists[place_before(context)], sweep);
	if (!(reach <= before))
		return covered;
	context->current = place_before(context);
	context->turned = !context->turned;
	context->list_life = context->spare_reach = 0;
	return before;
}

static tac_dvec3 dvec3_from_floats(const float v[3])
{
	return tac_dvec3_make((double)v[0], (double)v[1], (double)v[2]);
}

// How many times as long as the last motion the way of a list is: as far as the last list showed to be cheap,
// and at least as asked for.
static double stretch_of(const tac_sweep_context *context, double least)
{
	const double turn = tac_dvec3_length(context->ahead_w), s = fmax(least, context->stretch),
		     turn_max = context->moving->narrow ? LIST_TURN_NARROW : LIST_TURN;
	if (turn > LIST_TURN_MAX)
		return 0;
	return s * turn > turn_max ? fmax(1, turn_max / turn) : s;
}

// Begins a list: from the start of the sweep, along the last motion, `stretch` times as far. Until it is
// complete, the near box is that of the whole body.
static void begin_list(const tac_swept_motion *sweep, double reach, double stretch,
		       tac_sweep_context *context)
{
	tac_pair_list *list = list_in_making(context);
	list->pose = sweep->start;
	list->v = tac_dvec3_scale(context->ahead_v, stretch);
	list->w = tac_dvec3_scale(context->ahead_w, stretch);
	list->reach = list->far_reach = reach;
	list->without = sweep->without;
	list->near_lo = tac_dvec3_splat(HUGE_VAL);
	list->near_hi = tac_dvec3_splat(-HUGE_VAL);
	list->pair_count = list->tried = 0;
	list->found = -1;
	context->descent.top = 0;
	context->list_work = 0;
}

// Lengthens or shortens the ways of lists, in the direction in which a list costs less for its way.
static void adapt_stretch(tac_sweep_context *context)
{
	double s = fmax(1, context->stretch), cost = (double)context->list_work / s;
	if (s <= 1)
		context->stretch_down = false;
	else if (cost > LIST_DEARER * context->stretch_cost)
		context->stretch_down = !context->stretch_down;
	context->stretch_cost = cost;
	context->stretch = fmin(LIST_STRETCH, fmax(1, context->stretch_down ? 0.5 * s : 2 * s));
}

// Opens the nodes of the list in the making, then finds the axes of its pairs, as far as the work allows.
// When all is done, it becomes the list. False if there is no room for its pairs.
static bool continue_list(const tac_body *moving, const tac_body *fixed, tac_sweep_context *context)
{
	tac_pair_list *list = list_in_making(context);
	const int64_t work_before = context->work;
	double turn = tac_dvec3_length(list->w);
	tac_swept_motion way = tac_swept_motion_make(list->pose, pose_along(&list->pose, list->v, list->w, 1),
						     turn, moving->radius);
	way.stationary = tac_dvec3_length_squared(list->v) == 0 && turn == 0;
	way.without = list->without;
	tac_near_box near_box = {.reach = LIST_FAR * list->reach};
	if (list->found < 0 && tac_pairs_visit_with_box(moving, fixed, &way, &list->reach, add_to_list, list,
							context, &near_box, &context->descent)) {
		record_density(context, list);
		list->far_reach = near_box.reach;
		list->near_lo = dvec3_from_floats(near_box.lo);
		list->near_hi = dvec3_from_floats(near_box.hi);
		list->found = list->pair_count;
		list->pair_count = 0;
	}
	while (list->tried < list->found && tac_sweep_context_work_left(context) > 0) {
		const int32_t first = list->tried, kept = list->pair_count;
		list->tried = first + CHUNK < list->found ? first + CHUNK : list->found;
		tac_sweep_context_add_work(context, TAC_WORK_FIND_AXIS * (list->tried - first));
		list->pair_count = tac_pairs_find_axes(moving, fixed, &way, list->reach, list->pairs, first,
						       list->tried, kept, &list->axes);
		recall_axes(context, list, kept);
	}
	context->list_work += context->work - work_before;
	if (list->tried == list->found) {
		context->current = place_in_making(context);
		list_in_making(context)->reach = 0;
		context->last_list_work = context->list_work;
		context->list_life = context->spare_reach = 0;
		if (!way.stationary)
			adapt_stretch(context);
	}
	return list->found >= 0 || list->pair_count < TAC_SWEEP_PAIRS_MAX;
}

// Makes a list for the sweep and what may follow it, of the longest reach for which there is room. Where the
// work does not suffice, the next call goes on with it, unless it would not serve that call's sweep; the
// present list stays until then. False if there is no room for its pairs.
static bool make_list(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
		      double needed, double least, tac_sweep_context *context)
{
	const double wanted = fmax(needed, context->pose_reach);
	if (!(least <= reach_during(context, list_in_making(context), sweep)))
		begin_list(sweep, target_reach(context, wanted), stretch_of(context, 1), context);
	for (int i = 0; i < LIST_TRIES && tac_sweep_context_work_left(context) > 0; i++) {
		if (continue_list(moving, fixed, context))
			return true;
		// No room: what the queries want, then what this one needs, without more.
		record_density(context, list_in_making(context));
		context->stretch = 1;
		// A pose needs no way. That of a long flight may lead through all of the other body; with it
		// there would be no room for any reach, and no list from then on.
		if (i > 0 && sweep->stationary)
			context->ahead_v = context->ahead_w = tac_dvec3_zero();
		begin_list(sweep, LIST_REACH_MIN * (i == 0 ? wanted : needed), stretch_of(context, 1),
			   context);
	}
	return tac_sweep_context_work_left(context) <= 0;
}

// How many more motions like the last one the list, which covers so much at the pose T, will serve from there
// on: until it is at the end of its way, and then as long as its reach suffices.
static double motions_left(tac_sweep_context *context, const tac_drigid *T, double covered)
{
	const tac_pair_list *list = list_of(context);
	double spare = fmax(0, covered - context->pose_reach), before = context->spare_reach;
	double ahead = motion_product(context, context->ahead_v, context->ahead_w, context->ahead_v,
				      context->ahead_w),
	       along = motion_product(context, context->ahead_v, context->ahead_w, list->v, list->w),
	       s = closest_on_way(context, list, T);
	context->spare_reach = spare;
	if (!(ahead > 0))
		return HUGE_VAL;
	double left = (along > 0 ? along * (1 - s) : -along * s) / ahead + spare / sqrt(ahead);
	return spare < before ? fmin(left, spare / (before - spare)) : left;
}

// Goes on with the list in the making, with at most so much work. Without room for its pairs it is dropped:
// the query that needs one makes a shorter one.
static void prepare_part(tac_sweep_context *context, int64_t part)
{
	const int64_t limit = context->work_limit, share = context->work + part;
	if (limit == 0 || share < limit)
		context->work_limit = share;
	if (!continue_list(context->moving, context->fixed, context)) {
		record_density(context, list_in_making(context));
		list_in_making(context)->reach = 0;
	}
	context->work_limit = limit;
}

// Makes a list around a prism at rest that serves its first motions, whichever way they lead. Other bodies
// have too many pairs near them: every query would cull them all.
static void prepare_rest(tac_sweep_context *context, const tac_swept_motion *here, double covered)
{
	const double wanted =
		fmin(context->pose_reach + LIST_REST, reach_for_pairs(context, LIST_REST_PAIRS));
	if (!(covered < LIST_REST_ENOUGH * wanted))
		return;
	if (!(LIST_REST_ENOUGH * wanted <= reach_during(context, list_in_making(context), here)))
		begin_list(here, wanted, 0, context);
	prepare_part(context, LIST_AHEAD_WORK);
}

void tac_sweep_context_prepare(tac_sweep_context *context, const tac_drigid *T)
{
	TAC_ASSERT(context && T);
	if (!context->moving || !(list_of(context)->reach > 0))
		return;
	tac_swept_motion here = tac_swept_motion_stationary(*T);
	here.without = list_of(context)->without;
	const double covered = find_list(context, &here, context->pose_reach);
	const tac_drigid before = context->prepared ? context->prepared_at : *T;
	context->prepared = true;
	context->prepared_at = *T;
	// Prisms slide: what has come since then, in however many motions, is likely to come again, and their
	// lists may lead far.
	const bool slides = context->moving->narrow;
	if (slides) {
		context->ahead_v = tac_dvec3_sub(T->t, before.t);
		context->ahead_w = small_turn(&before, T);
	}
	if (slides && displacement(context->moving, T, &before) < LIST_AT_REST) {
		prepare_rest(context, &here, covered);
		return;
	}
	const bool is_short = covered < context->pose_reach;
	const double left = is_short ? LIST_LATE : motions_left(context, T, covered);
	context->list_life = fmax(context->list_life, left);
	if (!is_short && left > fmax(LIST_AHEAD_MIN + 1, fmin(LIST_AHEAD, 0.5 * context->list_life)))
		return;
	if (!(context->pose_reach <= reach_during(context, list_in_making(context), &here))) {
		if (left < LIST_AHEAD_MIN)
			return; // too late to spread it
		begin_list(&here, target_reach(context, context->pose_reach),
			   stretch_of(context, slides ? LIST_OUTLASTS * left : 1), context);
	}
	const int64_t part =
		(int64_t)((LIST_GROWTH * (double)context->last_list_work - (double)context->list_work) /
			  fmax(left, 1));
	prepare_part(context, part > LIST_AHEAD_WORK ? part : LIST_AHEAD_WORK);
}

static bool meets_child(const tac_dbox *box, const tac_body_node *node, int k)
{
	const double lo[3] = {box->lo.x, box->lo.y, box->lo.z}, hi[3] = {box->hi.x, box->hi.y, box->hi.z};
	for (int i = 0; i < 3; i++) {
		double c = (double)node->centre[i][k], h = (double)node->half[i][k];
		if (!(lo[i] <= c + h && hi[i] >= c - h))
			return false;
	}
	return true;
}

bool tac_body_visit_box(const tac_body *body, const tac_dbox *box,
			bool (*visit)(void *user, int32_t triangle), void *user)
{
	int32_t stack[7 * TAC_BODY_LEVELS + 1], top = 0;
	stack[top++] = 0;
	while (top > 0) {
		const tac_body_node *node = &body->nodes[stack[--top]];
		for (int k = 0; k < TAC_BODY_WIDTH; k++) {
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

bool tac_sweep_context_covers(const tac_sweep_context *context, const tac_swept_motion *sweep, double reach)
{
	return context && reach <= reach_during(context, list_of(context), sweep);
}

bool tac_sweep_context_extend(tac_sweep_context *context, const tac_body *moving, const tac_body *fixed,
			      const tac_swept_motion *sweep, double reach, double share)
{
	const int64_t limit = context->work_limit;
	context->ahead_v = tac_dvec3_sub(sweep->end.t, sweep->start.t);
	context->ahead_w = small_turn(&sweep->start, &sweep->end);
	if (limit > 0)
		context->work_limit =
			context->work + (int64_t)(share * (double)tac_sweep_context_work_left(context));
	const bool made = reach <= find_list(context, sweep, reach) ||
			  !make_list(moving, fixed, sweep, reach, reach, context) ||
			  !(list_in_making(context)->reach > 0);
	context->work_limit = limit;
	return made;
}

double tac_sweep_context_end_reach(const tac_sweep_context *context)
{
	return fmax(context->enough, LIST_ENOUGH * context->pose_reach);
}

// Pairs of a traversal, collected for the batch visitor.
typedef struct chunk {
	const tac_pair_search *search;
	int32_t count;
	tac_near_pair pairs[CHUNK];
} chunk;

static bool flush(chunk *c)
{
	const tac_pair_search *s = c->search;
	int32_t count = tac_pairs_cull_by_planes(s->moving, s->fixed, s->sweep, s->fixed_threshold,
						 s->moving_threshold, c->pairs, c->count);
	c->count = 0;
	return s->visit(s->user, c->pairs, count);
}

static bool add_to_chunk(void *user, int32_t moving, int32_t fixed)
{
	chunk *c = user;
	c->pairs[c->count++] = (tac_near_pair){moving, fixed, 0, 0};
	return c->count < CHUNK || flush(c);
}

// The largest multiple of reach / BINS within which there are at most `limit` pairs.
static double limited_reach(const tac_near_pair *pairs, int32_t count, double reach, int32_t limit)
{
	int32_t bins[BINS] = {0};
	const float scale = reach > 0 ? (float)(BINS / reach) : 0;
	for (int32_t i = 0; i < count; i++) {
		const float at = pairs[i].clearance * scale;
		bins[at >= BINS - 1 ? BINS - 1 : at > 0 ? (int)at : 0]++;
	}
	int k = 0;
	for (int32_t sum = 0; k < BINS && sum + bins[k] <= limit; k++)
		sum += bins[k];
	return reach * k / BINS;
}

// Copies the listed pairs within the reach to the candidates. Returns how many.
static int32_t cull_listed(const tac_pair_search *s, tac_sweep_context *context, double reach)
{
	double shorter = s->reach - reach; // the planes need not separate more than the reach
	const tac_pair_list *list = list_of(context);
	int32_t count =
		tac_pairs_cull_by_axes(s->moving, s->fixed, s->sweep, s->fixed_threshold - shorter,
				       list->pairs, &list->axes, list->pair_count, context->candidates);
	tac_sweep_context_add_work(context, TAC_WORK_CULL_AXES8 * (list->pair_count / 8 + 1));
	// At a single pose the planes separate no pair that the axes do not.
	if (!s->sweep->stationary) {
		tac_sweep_context_add_work(context, TAC_WORK_CULL_PLANES * count);
		count = tac_pairs_cull_by_planes(s->moving, s->fixed, s->sweep, s->fixed_threshold - shorter,
						 s->moving_threshold - shorter, context->candidates, count);
	}
	return count;
}

// The most pairs that a search may visit: half of the work left pays for finding their near features. Most of
// the pairs that are left by their axes have none.
static int32_t pair_limit(const tac_pair_search *s, const tac_sweep_context *context)
{
	int64_t paid = tac_sweep_context_work_left(context) / (2 * TAC_WORK_NEAR_FEATURES);
	return paid < 0 ? 0 : paid < s->limit ? (int32_t)paid : s->limit;
}

// Visits the listed pairs within the reach. `covered` is that of the list; `is_new`: it was made for this
// search.
static bool visit_listed(const tac_pair_search *s, tac_sweep_context *context, double covered, bool is_new,
			 double *out_reach)
{
	double reach = fmax(0, fmin(s->reach, covered));
	int32_t count = cull_listed(s, context, reach);
	// The axes of a list separate less and less along its way. Where too many pairs are left, new ones
	// may separate most of them, if there is work for a list.
	if (s->limit > 0 && !is_new && count > pair_limit(s, context) &&
	    tac_sweep_context_work_left(context) > context->last_list_work) {
		make_list(s->moving, s->fixed, s->sweep, s->reach, s->reach, context);
		reach = fmax(0, fmin(s->reach, reach_during(context, list_of(context), s->sweep)));
		count = cull_listed(s, context, reach);
	}
	if (s->limit > 0 && count > pair_limit(s, context)) {
		const double enough = fmin(reach, context->enough),
			     paid = limited_reach(context->candidates, count, reach, pair_limit(s, context));
		// Without what is enough, all of the query would have been in vain.
		if (paid < enough)
			reach = fmin(enough, limited_reach(context->candidates, count, reach, s->limit));
		else
			reach = paid;
		count = keep_within(context->candidates, context->candidates, count, reach);
	}
	if (out_reach)
		*out_reach = reach;
	return s->visit(s->user, context->candidates, count);
}

// What a list has to cover of a search: less than all where the search may shorten its reach. The next list
// is then made in parts (tac_sweep_context_prepare).
static double least_reach(const tac_pair_search *s, const tac_sweep_context *context)
{
	if (s->limit == 0 || !(context->enough > 0))
		return s->reach;
	return fmin(s->reach, fmax(context->enough, LIST_ENOUGH * s->reach));
}

bool tac_pair_search_run(const tac_pair_search *search, tac_sweep_context *context, double *out_reach)
{
	const tac_swept_motion *sweep = search->sweep;
	if (context && sweep->stationary) {
		context->pose_reach = search->reach;
	} else if (context) {
		context->ahead_v = tac_dvec3_sub(sweep->end.t, sweep->start.t);
		context->ahead_w = small_turn(&sweep->start, &sweep->end);
	}
	const double least = context ? least_reach(search, context) : 0;
	double covered = context ? find_list(context, sweep, least) : -1;
	const bool is_new = context && !(least <= covered);
	if (is_new) {
		make_list(search->moving, search->fixed, sweep, search->reach, least, context);
		covered = reach_during(context, list_of(context), sweep);
	}
	if (context && (search->limit > 0 || search->reach <= covered))
		return visit_listed(search, context, covered, is_new, out_reach);
	if (out_reach)
		*out_reach = search->reach;
	chunk c;
	c.search = search;
	c.count = 0;
	// The descent counts its nodes when it is done, the visitor its pairs as it goes: half of the work
	// for each.
	int64_t half = context && context->work_limit > 0 ? tac_sweep_context_work_left(context) / 2 : 0;
	if (half > 0)
		context->work_limit -= half;
	bool complete = tac_pairs_visit_with_box(search->moving, search->fixed, sweep, &search->reach,
						 add_to_chunk, &c, context, NULL, NULL);
	if (half > 0)
		context->work_limit += half;
	return complete && flush(&c);
}
