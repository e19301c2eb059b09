#include "tissue/clearance.h"

#include "base/log.h"
#include "collision/closest.h"
#include "collision/mesh_query.h"

#include <math.h>
#include <stdlib.h>

#define LEAF 4
// The tree halves its triangles, at most 2^31, so a search has no more open boxes than this.
#define OPEN_MAX 40
// Units of work for a triangle; a box is one.
#define TRIANGLE_WORK 4
#define CYLINDER_WORK 100 // the same where a cylinder is near

// A box around triangles. The first child of an inner node follows it.
typedef struct node {
	float low[3], high[3];
	int32_t first; // leaf: of its triangles in `order`; inner: the second child
	int32_t count; // of triangles; 0: an inner node
} node;

struct tac_clearance {
	const tac_mesh *mesh;
	node *nodes;
	int32_t *order; // triangles, leaf after leaf
	int32_t node_count;
};

// ---- the tree ----

typedef struct item {
	float middle[3];
	int32_t triangle;
} item;

static int by_x(const void *a, const void *b)
{
	const float x = ((const item *)a)->middle[0], y = ((const item *)b)->middle[0];
	return (x > y) - (x < y);
}

static int by_y(const void *a, const void *b)
{
	const float x = ((const item *)a)->middle[1], y = ((const item *)b)->middle[1];
	return (x > y) - (x < y);
}

static int by_z(const void *a, const void *b)
{
	const float x = ((const item *)a)->middle[2], y = ((const item *)b)->middle[2];
	return (x > y) - (x < y);
}

static void grow(node *n, const tac_mesh *mesh, int32_t triangle)
{
	for (int c = 0; c < 3; c++) {
		const tac_vec3 v = mesh->vertices[mesh->triangles[triangle].vertex[c]];
		const float x[3] = {v.x, v.y, v.z};
		for (int k = 0; k < 3; k++) {
			n->low[k] = fminf(n->low[k], x[k]);
			n->high[k] = fmaxf(n->high[k], x[k]);
		}
	}
}

// Recursive; as deep as the tree, at most OPEN_MAX.
static void build_node(tac_clearance *c, item *items, int32_t begin, int32_t end)
{
	const int32_t index = c->node_count++;
	node *n = &c->nodes[index];
	*n = (node){{HUGE_VALF, HUGE_VALF, HUGE_VALF}, {-HUGE_VALF, -HUGE_VALF, -HUGE_VALF}, begin, 0};
	for (int32_t i = begin; i < end; i++)
		grow(n, c->mesh, items[i].triangle);
	if (end - begin <= LEAF) {
		n->count = end - begin;
		for (int32_t i = begin; i < end; i++)
			c->order[i] = items[i].triangle;
		return;
	}
	const float x = n->high[0] - n->low[0], y = n->high[1] - n->low[1], z = n->high[2] - n->low[2];
	qsort(&items[begin], (size_t)(end - begin), sizeof *items,
	      x >= y && x >= z ? by_x
	      : y >= z         ? by_y
			       : by_z);
	const int32_t middle = begin + (end - begin) / 2;
	build_node(c, items, begin, middle);
	c->nodes[index].first = c->node_count;
	build_node(c, items, middle, end);
}

tac_result tac_clearance_build(const tac_mesh *mesh, const char *name, tac_clearance **out_clearance)
{
	*out_clearance = NULL;
	if (mesh->triangle_count == 0 || !tac_mesh_is_watertight(mesh)) {
		tac_log(TAC_LOG_ERROR, "%s: expected a closed mesh, which has an inside, found an open one",
			name);
		return TAC_ERROR_ARGUMENT;
	}
	const size_t count = (size_t)mesh->triangle_count;
	tac_clearance *c = calloc(1, sizeof *c);
	item *items = malloc(count * sizeof *items);
	if (c) {
		c->mesh = mesh;
		c->nodes = malloc(2 * count * sizeof *c->nodes);
		c->order = malloc(count * sizeof *c->order);
	}
	if (!c || !items || !c->nodes || !c->order) {
		free(items);
		tac_clearance_destroy(&c);
		tac_log(TAC_LOG_ERROR, "%s: no memory for its distance", name);
		return TAC_ERROR_MEMORY;
	}
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		const tac_dvec3 sum = tac_dvec3_add(
			tac_mesh_corner(mesh, i, 0),
			tac_dvec3_add(tac_mesh_corner(mesh, i, 1), tac_mesh_corner(mesh, i, 2)));
		items[i] = (item){{(float)(sum.x / 3), (float)(sum.y / 3), (float)(sum.z / 3)}, i};
	}
	build_node(c, items, 0, mesh->triangle_count);
	free(items);
	*out_clearance = c;
	return TAC_OK;
}

void tac_clearance_destroy(tac_clearance **clearance)
{
	if (!*clearance)
		return;
	free((*clearance)->nodes);
	free((*clearance)->order);
	free(*clearance);
	*clearance = NULL;
}

// ---- inside ----

// Whether a triangle in the box can be above the point.
static bool is_above(const node *n, tac_dvec3 p)
{
	return p.x >= (double)n->low[0] && p.x <= (double)n->high[0] && p.y >= (double)n->low[1] &&
	       p.y <= (double)n->high[1] && p.z <= (double)n->high[2];
}

bool tac_clearance_contains(const tac_clearance *clearance, tac_dvec3 point, tac_clearance_search *search)
{
	const tac_clearance *c = clearance;
	int32_t open[OPEN_MAX], count = 0, winding = 0;
	if (point.z >= (double)c->nodes[0].low[2])
		open[count++] = 0;
	while (count > 0) {
		const int32_t index = open[--count];
		const node *n = &c->nodes[index];
		search->work -= 1 + n->count;
		if (search->work < 0) {
			search->unfinished = true;
			return false;
		}
		if (!is_above(n, point))
			continue;
		for (int32_t i = n->first; i < n->first + n->count; i++)
			tac_mesh_winding_add(c->mesh, c->order[i], c->order[i] + 1, &point, 1, &winding);
		if (n->count == 0) {
			open[count++] = n->first;
			open[count++] = index + 1;
		}
	}
	return winding > 0;
}

// ---- the nearest triangle ----

// The least distance of a core from the triangles, as far as it is known.
typedef struct nearest {
	tac_dvec3 a, b;
	double distance_m;
	int32_t triangle;
	const tac_burr *cylinder; // whose distance is wanted, plus its radius; NULL: that of the core
} nearest;

static double distance_to_point(tac_dvec3 p, const tac_dvec3 t[3])
{
	int region;
	return tac_dvec3_length(tac_dvec3_sub(p, tac_closest_on_triangle(p, t, &region)));
}

// The nearest point of the core is an end, or on an edge's nearest pair, or where it passes the plane.
static double distance_to_triangle(tac_dvec3 a, tac_dvec3 b, const tac_dvec3 t[3])
{
	double least = distance_to_point(a, t);
	const tac_dvec3 along = tac_dvec3_sub(b, a);
	if (!(tac_dvec3_length_squared(along) > 0))
		return least;
	least = fmin(least, distance_to_point(b, t));
	const tac_dvec3 normal = tac_dvec3_triangle_cross(t[0], t[1], t[2]);
	const double above_a = tac_dvec3_dot(normal, tac_dvec3_sub(a, t[0])),
		     above_b = tac_dvec3_dot(normal, tac_dvec3_sub(b, t[0]));
	if ((above_a > 0) != (above_b > 0))
		least = fmin(
			least,
			distance_to_point(tac_dvec3_add_scaled(a, above_a / (above_a - above_b), along), t));
	for (int k = 0; k < 3; k++) {
		tac_dvec3 p, q;
		tac_closest_of_segments(a, b, t[k], t[(k + 1) % 3], &p, &q);
		least = fmin(least, tac_dvec3_length(tac_dvec3_sub(p, q)));
	}
	return least;
}

// The point of a cylinder that lies furthest along -`normal`.
static tac_dvec3 lowest_point(const tac_burr *cylinder, tac_dvec3 normal)
{
	const tac_dvec3 axis = tac_dvec3_normalize(tac_dvec3_sub(cylinder->b, cylinder->a));
	const double along = tac_dvec3_dot(normal, axis);
	const tac_dvec3 across = tac_dvec3_add_scaled(normal, -along, axis);
	const double length = tac_dvec3_length(across);
	return tac_dvec3_add_scaled(along > 0 ? cylinder->a : cylinder->b,
				    length > 0 ? -cylinder->radius / length : 0, across);
}

// The distance of a cylinder from a triangle, below 0 where they meet. Both are convex: the nearest point of
// the triangle is on an edge, or the face is nearest to the point of the cylinder that lies furthest towards
// it. A cylinder that only the face meets is found where its core passes the plane, or from there.
static double cylinder_to_triangle(const tac_burr *cylinder, const tac_dvec3 t[3])
{
	double least = HUGE_VAL;
	for (int k = 0; k < 3; k++)
		least = fmin(least, tac_burr_segment_distance(cylinder, t[k], t[(k + 1) % 3]));
	const tac_dvec3 cross = tac_dvec3_triangle_cross(t[0], t[1], t[2]);
	const double length = tac_dvec3_length(cross);
	if (!(length > 0))
		return least;
	for (int side = 0; side < 2; side++) {
		const tac_dvec3 normal = tac_dvec3_scale(cross, (side ? -1 : 1) / length);
		const tac_dvec3 p = lowest_point(cylinder, normal);
		const double above = tac_dvec3_dot(normal, tac_dvec3_sub(p, t[0]));
		int region;
		const tac_dvec3 foot = tac_closest_on_triangle(p, t, &region);
		tac_dvec3 unused;
		if (region == TAC_CLOSEST_FACE)
			least = fmin(least, above >= 0 ? above : tac_burr_distance(cylinder, foot, &unused));
	}
	tac_dvec3 p = tac_dvec3_lerp(cylinder->a, cylinder->b, 0.5);
	const double a = tac_dvec3_dot(cross, tac_dvec3_sub(cylinder->a, t[0])),
		     b = tac_dvec3_dot(cross, tac_dvec3_sub(cylinder->b, t[0]));
	if ((a > 0) != (b > 0))
		p = tac_dvec3_lerp(cylinder->a, cylinder->b, a / (a - b));
	for (int i = 0; i < 8 && least > 0; i++) {
		int region;
		tac_dvec3 normal;
		p = tac_closest_on_triangle(p, t, &region);
		const double d = tac_burr_distance(cylinder, p, &normal);
		least = fmin(least, d);
		p = tac_dvec3_add_scaled(p, -d, normal);
	}
	return least;
}

// Whether a triangle may be nearer to the cylinder than the best: no point is nearer than the centroid by
// more than its distance from it.
static bool may_be_near(const nearest *best, const tac_dvec3 t[3])
{
	const tac_dvec3 middle = tac_dvec3_scale(tac_dvec3_add(t[0], tac_dvec3_add(t[1], t[2])), 1.0 / 3);
	double reach = 0;
	for (int k = 0; k < 3; k++)
		reach = fmax(reach, tac_dvec3_length(tac_dvec3_sub(t[k], middle)));
	tac_dvec3 normal;
	return tac_burr_distance(best->cylinder, middle, &normal) + best->cylinder->radius - reach <
	       best->distance_m;
}

// Returns the work that it took more than a box.
static int64_t try_triangle(const tac_clearance *c, int32_t triangle, nearest *best)
{
	const tac_dvec3 t[3] = {tac_mesh_corner(c->mesh, triangle, 0), tac_mesh_corner(c->mesh, triangle, 1),
				tac_mesh_corner(c->mesh, triangle, 2)};
	double d = distance_to_triangle(best->a, best->b, t);
	const bool is_near = best->cylinder && d < best->distance_m && may_be_near(best, t);
	if (best->cylinder && !is_near)
		return TRIANGLE_WORK;
	if (is_near)
		d = cylinder_to_triangle(best->cylinder, t) + best->cylinder->radius;
	if (d < best->distance_m) {
		best->distance_m = d;
		best->triangle = triangle;
	}
	return is_near ? CYLINDER_WORK : TRIANGLE_WORK;
}

// The gap between two intervals.
static double gap(double low_a, double high_a, double low_b, double high_b)
{
	return fmax(fmax(low_b - high_a, low_a - high_b), 0);
}

// A lower bound of the distance from the core to anything in a box: by the core's own box, which is tight for
// balls and cores along an axis, and by a ball around the box.
static double bound(const node *n, const nearest *q)
{
	const tac_dvec3 low = tac_dvec3_make((double)n->low[0], (double)n->low[1], (double)n->low[2]),
			high = tac_dvec3_make((double)n->high[0], (double)n->high[1], (double)n->high[2]);
	const tac_dvec3 from = tac_dvec3_min(q->a, q->b), to = tac_dvec3_max(q->a, q->b);
	const tac_dvec3 apart =
		tac_dvec3_make(gap(from.x, to.x, low.x, high.x), gap(from.y, to.y, low.y, high.y),
			       gap(from.z, to.z, low.z, high.z));
	const tac_dvec3 middle = tac_dvec3_scale(tac_dvec3_add(low, high), 0.5),
			along = tac_dvec3_sub(q->b, q->a);
	const double squared = tac_dvec3_length_squared(along);
	if (!(squared > 0))
		return tac_dvec3_length(apart);
	const double s = fmin(fmax(tac_dvec3_dot(tac_dvec3_sub(middle, q->a), along) / squared, 0), 1);
	const double half = 0.5 * tac_dvec3_length(tac_dvec3_sub(high, low));
	tac_dvec3 normal;
	const double around =
		q->cylinder ? tac_burr_distance(q->cylinder, middle, &normal) + q->cylinder->radius
			    : tac_dvec3_length(tac_dvec3_sub(middle, tac_dvec3_add_scaled(q->a, s, along)));
	return fmax(tac_dvec3_length(apart), around - half);
}

// Finds the nearest triangle, if it is nearer than best->distance_m.
static void find_nearest(const tac_clearance *c, nearest *best, tac_clearance_search *search)
{
	struct {
		int32_t node;
		double bound_m;
	} open[OPEN_MAX];
	int32_t count = 0;
	if (search->triangle >= 0 && search->triangle < c->mesh->triangle_count)
		search->work -= try_triangle(c, search->triangle, best);
	open[count].node = 0;
	open[count++].bound_m = bound(&c->nodes[0], best);
	while (count > 0) {
		const int32_t index = open[--count].node;
		const node *n = &c->nodes[index];
		if (!(open[count].bound_m < best->distance_m))
			continue;
		search->work -= 2;
		if (search->work < 0) {
			search->unfinished = true;
			break;
		}
		for (int32_t i = n->first; i < n->first + n->count; i++)
			search->work -= try_triangle(c, c->order[i], best);
		if (n->count > 0)
			continue;
		const double one = bound(&c->nodes[index + 1], best),
			     other = bound(&c->nodes[n->first], best);
		const bool swap = one < other; // the nearer one is taken first
		open[count].node = swap ? n->first : index + 1;
		open[count++].bound_m = fmax(one, other);
		open[count].node = swap ? index + 1 : n->first;
		open[count++].bound_m = fmin(one, other);
	}
	if (best->triangle >= 0)
		search->triangle = best->triangle;
}

// The depth of a point inside, 0 outside.
static double depth_of(const tac_clearance *c, tac_dvec3 p, tac_clearance_search *search)
{
	if (!tac_clearance_contains(c, p, search))
		return 0;
	nearest best = {p, p, HUGE_VAL, -1, NULL};
	find_nearest(c, &best, search);
	return best.distance_m;
}

double tac_clearance_measure(const tac_clearance *clearance, const tac_burr *tool, double limit_m,
			     tac_clearance_search *search)
{
	const tac_clearance *c = clearance;
	const double depth_a = depth_of(c, tool->a, search);
	const bool is_ball = tac_dvec3_length_squared(tac_dvec3_sub(tool->b, tool->a)) == 0;
	const double depth = is_ball ? depth_a : fmax(depth_a, depth_of(c, tool->b, search));
	const bool is_cylinder = tool->kind == TAC_BURR_CYLINDER;
	if (depth > 0 && !is_cylinder)
		return fmin(-depth - tool->radius, limit_m);
	if (depth > 0)
		limit_m = fmin(limit_m, -depth);
	if (!(limit_m > -tool->radius))
		return limit_m;
	nearest best = {tool->a, tool->b, limit_m + tool->radius, -1, is_cylinder ? tool : NULL};
	find_nearest(c, &best, search);
	return fmin(best.distance_m - tool->radius, limit_m);
}
