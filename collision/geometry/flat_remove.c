#include "collision/geometry/flat.h"

#include "collision/geometry/predicate.h"

#include <math.h>
#include <stdlib.h>

// The most triangles around a vertex that is removed, in the first round and in the last. Few at first, so
// that no vertex gathers many. Removing one vertex saves two triangles, however many it has.
#define FIRST_DEGREE 8
#define LAST_DEGREE  32
// How often edges are flipped over all patches.
#define FLIP_PASSES 16
// The sum of the cotangents of two opposite angles below which their edge is flipped; 0: Delaunay.
#define FLIP_BELOW -1e-6

// --- triangles and the corners at each vertex ---

static void link_corner(tac_flat_surgery *s, int32_t corner)
{
	int32_t v = s->triangles[corner / 3].vertex[corner % 3];
	s->next[corner] = s->first[v];
	s->previous[corner] = -1;
	if (s->first[v] >= 0)
		s->previous[s->first[v]] = corner;
	s->first[v] = corner;
	s->degree[v]++;
}

static void unlink_corner(tac_flat_surgery *s, int32_t corner)
{
	int32_t v = s->triangles[corner / 3].vertex[corner % 3];
	if (s->previous[corner] >= 0)
		s->next[s->previous[corner]] = s->next[corner];
	else
		s->first[v] = s->next[corner];
	if (s->next[corner] >= 0)
		s->previous[s->next[corner]] = s->previous[corner];
	s->degree[v]--;
}

static void remove_triangle(tac_flat_surgery *s, int32_t t)
{
	for (int k = 0; k < 3; k++)
		unlink_corner(s, 3 * t + k);
	s->triangles[t].vertex[0] = -1;
}

static void put_triangle(tac_flat_surgery *s, int32_t t, const int32_t vertex[3])
{
	for (int k = 0; k < 3; k++)
		s->triangles[t].vertex[k] = vertex[k];
	for (int k = 0; k < 3; k++)
		link_corner(s, 3 * t + k);
}

// The triangle that runs from a to b along an edge, in the patch or, with -1, in any; -1: none.
static int32_t triangle_along(const tac_flat_surgery *s, int32_t a, int32_t b, int32_t patch)
{
	bool from_a = s->degree[a] <= s->degree[b];
	for (int32_t c = s->first[from_a ? a : b]; c >= 0; c = s->next[c]) {
		int k = c % 3;
		if (s->triangles[c / 3].vertex[from_a ? (k + 1) % 3 : (k + 2) % 3] == (from_a ? b : a) &&
		    (patch < 0 || s->planes->patch[c / 3] == patch))
			return c / 3;
	}
	return -1;
}

static bool has_edge(const tac_flat_surgery *s, int32_t a, int32_t b)
{
	return triangle_along(s, a, b, -1) >= 0 || triangle_along(s, b, a, -1) >= 0;
}

static int orientation(const tac_flat_surgery *s, const tac_flat_plane *plane, int32_t a, int32_t b,
		       int32_t c)
{
	double p[3][2];
	tac_flat_project(plane, s->mesh->vertices[a], p[0]);
	tac_flat_project(plane, s->mesh->vertices[b], p[1]);
	tac_flat_project(plane, s->mesh->vertices[c], p[2]);
	return tac_predicate_orient2d(p[0], p[1], p[2]);
}

static tac_dvec3 position(const tac_flat_surgery *s, int32_t v)
{
	return tac_dvec3_from_vec3(s->mesh->vertices[v]);
}

// The height of a triangle over its longest edge, relative to the edge.
static double quality(const tac_flat_surgery *s, int32_t a, int32_t b, int32_t c)
{
	tac_dvec3 x = position(s, a), y = position(s, b), z = position(s, c);
	double longest = fmax(tac_dvec3_length_squared(tac_dvec3_sub(y, x)),
			      fmax(tac_dvec3_length_squared(tac_dvec3_sub(z, y)),
				   tac_dvec3_length_squared(tac_dvec3_sub(x, z))));
	return tac_dvec3_length(tac_dvec3_triangle_cross(x, y, z)) / longest;
}

// --- a hole in one patch ---

// What is left of one patch around a vertex: a polygon, counter-clockwise.
typedef struct hole {
	int32_t patch;
	int32_t count, ring[LAST_DEGREE + 1];
	int32_t filled, fill[LAST_DEGREE][3]; // the triangles that fill it
} hole;

// The best triangulation of the polygon from ring[i] to ring[j]: the value of its worst triangle, 0 if there
// is none, and the vertex of the triangle at the edge between them.
typedef struct part {
	double value;
	int32_t apex;
} part;

static part best_part(const tac_flat_surgery *s, const hole *h, part (*parts)[LAST_DEGREE + 1], int32_t i,
		      int32_t j)
{
	const int32_t *ring = h->ring;
	part best = {0, -1};
	// All edges but those of the polygon must be new.
	if (!(i == 0 && j == h->count - 1) && has_edge(s, ring[i], ring[j]))
		return best;
	for (int32_t k = i + 1; k < j; k++) {
		double value = fmin(parts[i][k].value, parts[k][j].value);
		if (value > best.value && tac_flat_is_triangle(&s->planes->plane[h->patch], s->mesh->vertices,
							       ring[i], ring[k], ring[j])) {
			value = fmin(value, quality(s, ring[i], ring[k], ring[j]));
			if (value > best.value)
				best = (part){value, k};
		}
	}
	return best;
}

// Fills a hole so that its worst triangle is as good as possible (G. T. Klincsek, "Minimal triangulations of
// polygonal domains", 1980). The polygon is simple; so triangles that all have a positive area cannot
// overlap. False: there is no such triangulation.
static bool fill(const tac_flat_surgery *s, hole *h)
{
	part parts[LAST_DEGREE + 1][LAST_DEGREE + 1];
	for (int32_t length = 1; length < h->count; length++) {
		for (int32_t i = 0; i + length < h->count; i++)
			parts[i][i + length] =
				length == 1 ? (part){HUGE_VAL, -1} : best_part(s, h, parts, i, i + length);
	}
	h->filled = 0;
	if (parts[0][h->count - 1].apex < 0)
		return false;
	int32_t stack[LAST_DEGREE + 1][2] = {{0, h->count - 1}}, depth = 1;
	while (depth > 0) {
		int32_t i = stack[--depth][0], j = stack[depth][1], k = parts[i][j].apex;
		if (k < 0)
			continue;
		h->fill[h->filled][0] = h->ring[i];
		h->fill[h->filled][1] = h->ring[k];
		h->fill[h->filled++][2] = h->ring[j];
		stack[depth][0] = i;
		stack[depth++][1] = k;
		stack[depth][0] = k;
		stack[depth++][1] = j;
	}
	return true;
}

// The total angle of the triangles of a patch around a vertex, rad.
static double angle_around(const tac_flat_surgery *s, int32_t v, const hole *h, bool closed)
{
	double sum = 0;
	for (int32_t i = 0; i + !closed < h->count; i++) {
		tac_dvec3 a = tac_dvec3_sub(position(s, h->ring[i]), position(s, v)),
			  b = tac_dvec3_sub(position(s, h->ring[(i + 1) % h->count]), position(s, v));
		sum += atan2(tac_dvec3_length(tac_dvec3_cross(a, b)), tac_dvec3_dot(a, b));
	}
	return sum;
}

// Collects the triangles of a patch around v as a ring of vertices: closed, or from border to border. False
// when they are not one fan.
static bool open_hole(const tac_flat_surgery *s, int32_t v, int32_t patch, bool closed, hole *h)
{
	int32_t from[LAST_DEGREE], to[LAST_DEGREE], count = 0, start = 0;
	for (int32_t c = s->first[v]; c >= 0; c = s->next[c]) {
		if (s->planes->patch[c / 3] != patch)
			continue;
		if (count == LAST_DEGREE)
			return false;
		from[count] = s->triangles[c / 3].vertex[(c % 3 + 1) % 3];
		to[count++] = s->triangles[c / 3].vertex[(c % 3 + 2) % 3];
	}
	for (int32_t i = 0; i < count && !closed; i++) {
		bool first = true;
		for (int32_t k = 0; k < count; k++)
			first = first && to[k] != from[i];
		start = first ? i : start;
	}
	h->patch = patch;
	h->count = 0;
	h->ring[h->count++] = from[start];
	int32_t at = start;
	for (int32_t n = 1;; n++) {
		int32_t next = -1;
		for (int32_t k = 0; k < count; k++) {
			if (from[k] == to[at])
				next = next < 0 ? k : -2;
		}
		if (next == -2 || (closed && next < 0))
			return false;
		if (next < 0 || next == start) {
			if (!closed)
				h->ring[h->count++] = to[at];
			return n == count && (next == start) == closed && count >= (closed ? 3 : 2);
		}
		if (n == count)
			return false;
		h->ring[h->count++] = to[at];
		at = next;
	}
}

// Whether the vertex p lies on the segment from a to b, its ends excluded; the three are collinear.
static bool between(const tac_flat_surgery *s, const tac_flat_plane *plane, int32_t a, int32_t b, int32_t p)
{
	double x[3][2];
	tac_flat_project(plane, s->mesh->vertices[a], x[0]);
	tac_flat_project(plane, s->mesh->vertices[b], x[1]);
	tac_flat_project(plane, s->mesh->vertices[p], x[2]);
	int k = x[0][0] == x[1][0];
	return (x[0][k] < x[2][k]) != (x[1][k] < x[2][k]) || x[2][k] == x[0][k] || x[2][k] == x[1][k];
}

// Whether the hole beside a straight border is a simple polygon: the edge that closes it, from the last
// vertex to the first, meets no other edge.
static bool closes(const tac_flat_surgery *s, const hole *h)
{
	const tac_flat_plane *plane = &s->planes->plane[h->patch];
	int32_t from = h->ring[h->count - 1], to = h->ring[0];
	int before = 0; // the side of the last vertex
	for (int32_t i = 1; i + 1 < h->count; i++) {
		int32_t v = h->ring[i];
		int side = orientation(s, plane, from, to, v);
		if (side == 0 && between(s, plane, from, to, v))
			return false;
		// The edge from the vertex before crosses the line: beside the segment?
		if (i > 1 && side * before < 0) {
			int32_t u = h->ring[i - 1];
			if (orientation(s, plane, u, v, from) * orientation(s, plane, u, v, to) <= 0)
				return false;
		}
		before = side;
	}
	return true;
}

static void commit(tac_flat_surgery *s, int32_t v, const hole *holes, int hole_count)
{
	int32_t slots[2][LAST_DEGREE], used[2] = {0, 0};
	while (s->first[v] >= 0) {
		int32_t t = s->first[v] / 3, side = s->planes->patch[t] == holes[0].patch ? 0 : 1;
		remove_triangle(s, t);
		slots[side][used[side]++] = t;
	}
	for (int i = 0; i < hole_count; i++) {
		for (int32_t k = 0; k < holes[i].filled; k++)
			put_triangle(s, slots[i][k], holes[i].fill[k]);
		s->triangle_count -= used[i] - holes[i].filled;
		s->planes->plane[holes[i].patch].removed++;
	}
}

static bool remove_inner(tac_flat_surgery *s, int32_t v)
{
	hole h;
	if (!open_hole(s, v, s->planes->patch[s->first[v] / 3], true, &h) ||
	    angle_around(s, v, &h, true) > 7 || !fill(s, &h))
		return false;
	commit(s, v, &h, 1);
	return true;
}

static bool remove_from_border(tac_flat_surgery *s, int32_t v)
{
	hole holes[2];
	int32_t patch = s->planes->patch[s->first[v] / 3], other = -1;
	for (int32_t c = s->first[v]; c >= 0; c = s->next[c])
		other = s->planes->patch[c / 3] != patch ? s->planes->patch[c / 3] : other;
	int count = other >= 0 ? 2 : 1;
	for (int i = 0; i < count; i++) {
		if (!open_hole(s, v, i ? other : patch, false, &holes[i]) ||
		    angle_around(s, v, &holes[i], false) > 4 || !closes(s, &holes[i]))
			return false;
	}
	int32_t from = holes[0].ring[0], to = holes[0].ring[holes[0].count - 1];
	if (has_edge(s, from, to) ||
	    (count == 2 && (holes[1].ring[0] != to || holes[1].ring[holes[1].count - 1] != from)))
		return false;
	for (int i = 0; i < count; i++) {
		if (!fill(s, &holes[i]))
			return false;
	}
	// Both holes may have been filled with the same new edge.
	for (int32_t i = 0; count == 2 && i < 3 * holes[0].filled; i++) {
		int32_t a = holes[0].fill[i / 3][i % 3], b = holes[0].fill[i / 3][(i % 3 + 1) % 3];
		for (int32_t k = 0; k < 3 * holes[1].filled; k++) {
			int32_t c = holes[1].fill[k / 3][k % 3], d = holes[1].fill[k / 3][(k % 3 + 1) % 3];
			bool border = (a == from && b == to) || (a == to && b == from);
			if (!border && ((a == c && b == d) || (a == d && b == c)))
				return false;
		}
	}
	commit(s, v, holes, count);
	return true;
}

// --- which vertices may go ---

typedef enum role { ROLE_STAYS, ROLE_INNER, ROLE_BORDER } role;

// The borders at each vertex.
typedef struct borders {
	uint8_t *count, *role; // count: at most 3
	int32_t (*edge)[2];    // the first two
} borders;

static bool is_border(const tac_flat_surgery *s, const tac_mesh_edge *e)
{
	return e->triangle_count != 2 || s->planes->patch[e->triangle[0]] < 0 ||
	       s->planes->patch[e->triangle[0]] != s->planes->patch[e->triangle[1]];
}

// The patches at an edge as one number; -1: a vertex on it must stay.
static int64_t sides_of(const tac_flat_surgery *s, int32_t edge)
{
	const tac_mesh_edge *e = &s->mesh->edges[edge];
	int64_t a = s->planes->patch[e->triangle[0]],
		b = e->triangle_count == 2 ? s->planes->patch[e->triangle[1]] : INT32_MAX;
	if (e->triangle_count > 2 || a < 0 || b < 0 || a == b)
		return -1;
	return a < b ? a << 32 | b : b << 32 | a;
}

static int32_t other_end(const tac_flat_surgery *s, int32_t edge, int32_t v)
{
	const int32_t *ends = s->mesh->edges[edge].vertex;
	return ends[0] == v ? ends[1] : ends[0];
}

// Marks the inner vertices, and those on a border between the same two patches on both sides of them.
static void find_roles(const tac_flat_surgery *s, borders *b)
{
	for (int32_t e = 0; e < s->mesh->edge_count; e++) {
		if (!is_border(s, &s->mesh->edges[e]))
			continue;
		for (int k = 0; k < 2; k++) {
			int32_t v = s->mesh->edges[e].vertex[k];
			if (b->count[v] < 2)
				b->edge[v][b->count[v]] = e;
			b->count[v] = (uint8_t)(b->count[v] < 3 ? b->count[v] + 1 : 3);
		}
	}
	for (int32_t v = 0; v < s->mesh->vertex_count; v++) {
		if (b->count[v] == 0)
			b->role[v] = ROLE_INNER;
		else if (b->count[v] == 2 && sides_of(s, b->edge[v][0]) >= 0 &&
			 sides_of(s, b->edge[v][0]) == sides_of(s, b->edge[v][1]))
			b->role[v] = ROLE_BORDER;
	}
}

// The vertex of chain[from + 1] … chain[to - 1] at which the chain must be divided to be straight within the
// tolerance; -1: it is straight. *out_off is how far its vertices are from the line.
static int32_t bend_of(const tac_flat_surgery *s, const int32_t *chain, int32_t from, int32_t to,
		       double *out_off)
{
	tac_dvec3 a = position(s, chain[from]), along = tac_dvec3_sub(position(s, chain[to]), a);
	double length = tac_dvec3_length(along), last = 0, off = 0;
	int32_t worst = -1, back = -1;
	tac_dvec3 unit = tac_dvec3_normalize(along);
	for (int32_t i = from + 1; i < to; i++) {
		tac_dvec3 x = tac_dvec3_sub(position(s, chain[i]), a);
		double at = tac_dvec3_dot(unit, x), d = tac_dvec3_length(tac_dvec3_add_scaled(x, -at, unit));
		if (d > off) {
			off = d;
			worst = i;
		}
		if (back < 0 && !(at > last && at < length))
			back = i;
		last = at;
	}
	*out_off = off;
	return off > s->epsilon ? worst : back;
}

// Keeps the vertices of a chain at which it bends (Ramer, Douglas and Peucker). `stack` has room for the
// chain.
static void straighten(tac_flat_surgery *s, const int32_t *chain, int32_t count, int32_t *stack, borders *b)
{
	int32_t from = 0, depth = 0;
	stack[depth++] = count - 1;
	while (depth > 0) {
		double off;
		int32_t to = stack[depth - 1], bend = bend_of(s, chain, from, to, &off);
		if (bend >= 0) {
			b->role[chain[bend]] = ROLE_STAYS;
			stack[depth++] = bend;
			continue;
		}
		s->straightness = fmax(s->straightness, to > from + 1 ? off : 0);
		from = to;
		depth--;
	}
}

// Follows a border from `v` over `edge` to a vertex that stays, or back to v. Returns how many vertices.
static int32_t follow(const tac_flat_surgery *s, const borders *b, int32_t v, int32_t edge, int32_t *chain)
{
	int32_t count = 0, at = v;
	chain[count++] = v;
	do {
		at = other_end(s, edge, at);
		chain[count++] = at;
		edge = b->edge[at][b->edge[at][0] == edge];
	} while (b->role[at] == ROLE_BORDER && at != v);
	return count;
}

// The first vertex that stays in one direction of the border at v, or v when it is a loop without one.
static int32_t end_of(const tac_flat_surgery *s, const borders *b, int32_t v, int32_t *out_edge)
{
	int32_t edge = b->edge[v][0], at = v;
	do {
		*out_edge = edge;
		at = other_end(s, edge, at);
		edge = b->edge[at][b->edge[at][0] == edge];
	} while (b->role[at] == ROLE_BORDER && at != v);
	return at;
}

// Decides which vertices of the borders go. Both patches of a border share the decision.
static bool decide_borders(tac_flat_surgery *s, borders *b)
{
	size_t room = (size_t)s->mesh->vertex_count + 2;
	int32_t *chain = malloc(room * sizeof *chain), *stack = malloc(room * sizeof *stack);
	uint8_t *done = calloc(room, 1);
	bool complete = chain && stack && done;
	for (int32_t v = 0; complete && v < s->mesh->vertex_count; v++) {
		if (b->role[v] != ROLE_BORDER || done[v])
			continue;
		int32_t edge, start = end_of(s, b, v, &edge);
		int32_t count = follow(s, b, start, edge, chain);
		for (int32_t i = 0; i < count; i++)
			done[chain[i]] = 1;
		b->role[start] = ROLE_STAYS;
		if (chain[count - 1] == start && count > 3) { // a loop: its middle stays, too
			int32_t middle = count / 2;
			b->role[chain[middle]] = ROLE_STAYS;
			straighten(s, chain, middle + 1, stack, b);
			straighten(s, chain + middle, count - middle, stack, b);
		} else {
			straighten(s, chain, count, stack, b);
		}
	}
	free(chain);
	free(stack);
	free(done);
	return complete;
}

// --- flips ---

static double cotangent(const tac_flat_surgery *s, int32_t at, int32_t a, int32_t b)
{
	tac_dvec3 x = tac_dvec3_sub(position(s, a), position(s, at)),
		  y = tac_dvec3_sub(position(s, b), position(s, at));
	return tac_dvec3_dot(x, y) / tac_dvec3_length(tac_dvec3_cross(x, y));
}

// Flips edge k of a triangle if the other diagonal is better.
static bool flip(tac_flat_surgery *s, int32_t t, int k)
{
	int32_t patch = s->planes->patch[t], a = s->triangles[t].vertex[k],
		b = s->triangles[t].vertex[(k + 1) % 3], c = s->triangles[t].vertex[(k + 2) % 3];
	int32_t other = triangle_along(s, b, a, patch);
	if (other < 0)
		return false;
	const int32_t *v = s->triangles[other].vertex;
	int32_t d = v[0] != a && v[0] != b ? v[0] : v[1] != a && v[1] != b ? v[1] : v[2];
	const tac_flat_plane *plane = &s->planes->plane[patch];
	if (!(cotangent(s, c, a, b) + cotangent(s, d, a, b) < FLIP_BELOW) ||
	    !tac_flat_is_triangle(plane, s->mesh->vertices, c, a, d) ||
	    !tac_flat_is_triangle(plane, s->mesh->vertices, d, b, c) || has_edge(s, c, d))
		return false;
	remove_triangle(s, t);
	remove_triangle(s, other);
	put_triangle(s, t, (int32_t[3]){c, a, d});
	put_triangle(s, other, (int32_t[3]){d, b, c});
	return true;
}

static void flip_all(tac_flat_surgery *s)
{
	int64_t flips = 1;
	for (int pass = 0; pass < FLIP_PASSES && flips > 0; pass++) {
		flips = 0;
		for (int32_t t = 0; t < s->mesh->triangle_count; t++) {
			int32_t patch = s->planes->patch[t];
			if (s->triangles[t].vertex[0] < 0 || patch < 0 || !s->planes->plane[patch].removed)
				continue;
			for (int k = 0; k < 3; k++)
				flips += flip(s, t, k);
		}
	}
}

static void remove_all(tac_flat_surgery *s, const borders *b)
{
	for (int32_t degree = FIRST_DEGREE; degree <= LAST_DEGREE;) {
		int64_t removed = 0;
		for (int32_t v = 0; v < s->mesh->vertex_count; v++) {
			if (b->role[v] == ROLE_STAYS || s->first[v] < 0 || s->degree[v] > degree)
				continue;
			removed += b->role[v] == ROLE_INNER ? remove_inner(s, v) : remove_from_border(s, v);
		}
		if (removed == 0)
			degree *= 2;
	}
}

tac_result tac_flat_operate(tac_flat_surgery *s)
{
	size_t vertices = (size_t)s->mesh->vertex_count + 1;
	borders b = {.count = calloc(vertices, 1),
		     .role = calloc(vertices, 1),
		     .edge = calloc(vertices, sizeof *b.edge)};
	bool complete = b.count && b.role && b.edge;
	if (complete) {
		for (int32_t c = 3 * s->mesh->triangle_count - 1; c >= 0; c--)
			link_corner(s, c);
		find_roles(s, &b);
		complete = decide_borders(s, &b);
	}
	if (complete) {
		remove_all(s, &b);
		flip_all(s);
	}
	free(b.count);
	free(b.role);
	free(b.edge);
	return complete ? TAC_OK : TAC_ERROR_MEMORY;
}
