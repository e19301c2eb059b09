#include "collision/closest.h"
#include "collision/geometry/detail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Triangles around an edge, and triangles of the source near them; edges with more are not collapsed.
#define STAR 48
#define NEAR 4096
// A new triangle is at most this much turned, as a cosine, against the one that it replaces.
#define TURNED 0.7
// Twice the area of a new triangle relative to its longest edge squared, unless the old one had less.
#define SLIVER 0.05
#define NEEDLE 1e-3
// How much a new vertex is drawn to the middle of its edge, relative to the planes around it: what places it
// where the surface is flat.
#define DRAW 1e-4
// An edge is tried where the mean square distance of its new vertex from the planes of the source is at most
// this times the tolerance squared. Larger: many more tries, hardly any of which succeeds.
#define FIT 1.0
// Weight of the planes along borders, which keep their shape.
#define BORDER 10.0

// How a vertex may move.
typedef enum kind {
	KIND_FREE,  // inside a surface
	KIND_LINE,  // on a border of surfaces or of the mesh: along it
	KIND_FIXED, // not at all
} kind;

// sum of (n . x - d)^2: x.A.x - 2 b.x + c.
typedef struct quadric {
	double a[6]; // xx, xy, xz, yy, yz, zz
	double b[3], c, weight;
} quadric;

typedef struct candidate {
	double cost;
	int32_t a, b; // a < b
	uint32_t version;
} candidate;

typedef struct work {
	tac_detail_surgery *s;
	int32_t *first, *next; // the corners at each vertex, some of triangles that are gone
	uint32_t *version;     // of each vertex
	quadric *quadrics;
	candidate *heap;
	int64_t heap_count, heap_room;
	int32_t *stamp, stamp_now; // of triangles of the source
	bool failed;               // no memory
} work;

// A collapse that is tried: the edge a b becomes the vertex a at `at`.
typedef struct collapse {
	int32_t a, b;
	tac_vec3 at;
	int32_t star[STAR]; // the triangles at a and b
	int star_count;
	int32_t near[NEAR]; // the triangles of the source near them
	int near_count;
	// For each of `near`: the faces that its proof used, as bits of `faces` below its own others.
	uint64_t used[NEAR];
	tac_detail_face
		faces[TAC_DETAIL_FACES]; // the star as it will be; then those near one of `near` alone
	int32_t of_star[STAR];           // the triangle of each face
	int face_count;
} collapse;

static tac_dvec3 at(const work *w, int32_t v)
{
	return tac_dvec3_from_vec3(w->s->vertices[v]);
}

static bool is_gone(const work *w, int32_t t)
{
	return w->s->triangles[t].vertex[0] < 0;
}

// The next corner of a triangle that is left, from `c` on.
static int32_t live(const work *w, int32_t c)
{
	while (c >= 0 && is_gone(w, c / 3))
		c = w->next[c];
	return c;
}

// --- vertices ---

// How many triangles at `a` have `b`; *out_surfaces: they are not all of one surface.
static int triangles_along(const work *w, int32_t a, int32_t b, bool *out_surfaces)
{
	int count = 0;
	int32_t surface = -1;
	*out_surfaces = false;
	for (int32_t c = live(w, w->first[a]); c >= 0; c = live(w, w->next[c])) {
		const int32_t t = c / 3, *v = w->s->triangles[t].vertex;
		if (v[0] != b && v[1] != b && v[2] != b)
			continue;
		*out_surfaces |= count > 0 && w->s->mesh->triangle_surface[t] != surface;
		surface = w->s->mesh->triangle_surface[t];
		count++;
	}
	return count;
}

static bool is_border(const work *w, int32_t a, int32_t b)
{
	bool surfaces;
	return triangles_along(w, a, b, &surfaces) != 2 || surfaces;
}

// Marks the vertices of borders, faulty edges and triangles that stay.
static void find_kinds(work *w, const uint8_t *keep, uint8_t *borders)
{
	const tac_mesh *mesh = w->s->mesh;
	uint8_t *kinds = w->s->kinds;
	for (int32_t e = 0; e < mesh->edge_count; e++) {
		const tac_mesh_edge *edge = &mesh->edges[e];
		const int32_t *t = edge->triangle;
		const bool border = edge->triangle_count != 2 ||
				    mesh->triangle_surface[t[0]] != mesh->triangle_surface[t[1]];
		for (int k = 0; k < 2; k++) {
			const int32_t v = edge->vertex[k];
			borders[v] = (uint8_t)(borders[v] + (border && borders[v] < 3));
			if (edge->triangle_count > 2)
				kinds[v] = KIND_FIXED;
		}
	}
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		for (int k = 0; k < 3; k++) {
			const int32_t v = mesh->triangles[t].vertex[k];
			if (keep && keep[t])
				kinds[v] = KIND_FIXED;
		}
	}
	for (int32_t v = 0; v < mesh->vertex_count; v++) {
		if (borders[v] == 1 || borders[v] > 2)
			kinds[v] = KIND_FIXED;
		else if (borders[v] == 2 && kinds[v] != KIND_FIXED)
			kinds[v] = KIND_LINE;
	}
}

// --- quadrics ---

static void add_plane(quadric *q, tac_dvec3 n, double d, double weight)
{
	const double x[3] = {n.x, n.y, n.z};
	int k = 0;
	for (int i = 0; i < 3; i++) {
		for (int j = i; j < 3; j++)
			q->a[k++] += weight * x[i] * x[j];
		q->b[i] += weight * d * x[i];
	}
	q->c += weight * d * d;
	q->weight += weight;
}

static quadric sum(const quadric *p, const quadric *q)
{
	quadric r = *p;
	for (int i = 0; i < 6; i++)
		r.a[i] += q->a[i];
	for (int i = 0; i < 3; i++)
		r.b[i] += q->b[i];
	r.c += q->c;
	r.weight += q->weight;
	return r;
}

static double value(const quadric *q, tac_dvec3 x)
{
	const double *a = q->a;
	const double v = a[0] * x.x * x.x + a[3] * x.y * x.y + a[5] * x.z * x.z +
			 2 * (a[1] * x.x * x.y + a[2] * x.x * x.z + a[4] * x.y * x.z) -
			 2 * (q->b[0] * x.x + q->b[1] * x.y + q->b[2] * x.z) + q->c;
	return v > 0 ? v : 0;
}

// Where the quadric is least, drawn a little to `middle`.
static tac_dvec3 least(const quadric *q, tac_dvec3 middle)
{
	const double *a = q->a, draw = DRAW * q->weight;
	const tac_dvec3 r0 = tac_dvec3_make(a[0] + draw, a[1], a[2]),
			r1 = tac_dvec3_make(a[1], a[3] + draw, a[4]),
			r2 = tac_dvec3_make(a[2], a[4], a[5] + draw);
	const tac_dvec3 b = tac_dvec3_add_scaled(tac_dvec3_make(q->b[0], q->b[1], q->b[2]), draw, middle);
	const tac_dvec3 c0 = tac_dvec3_cross(r1, r2), c1 = tac_dvec3_cross(r2, r0),
			c2 = tac_dvec3_cross(r0, r1);
	const double determinant = tac_dvec3_dot(r0, c0);
	if (!(determinant > 0))
		return middle;
	const tac_dvec3 x = tac_dvec3_add(tac_dvec3_scale(c0, b.x),
					  tac_dvec3_add(tac_dvec3_scale(c1, b.y), tac_dvec3_scale(c2, b.z)));
	return tac_dvec3_scale(x, 1 / determinant);
}

static void fill_quadrics(work *w)
{
	const tac_mesh *mesh = w->s->mesh;
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		const tac_dvec3 cross = tac_mesh_triangle_cross(mesh, t), n = tac_dvec3_normalize(cross);
		const double area = 0.5 * tac_dvec3_length(cross);
		for (int k = 0; k < 3; k++) {
			const int32_t v = mesh->triangles[t].vertex[k],
				      u = mesh->triangles[t].vertex[(k + 1) % 3];
			add_plane(&w->quadrics[v], n, tac_dvec3_dot(n, at(w, v)), area);
			const tac_mesh_edge *e = &mesh->edges[mesh->triangle_edges[t].vertex[k]];
			if (e->triangle_count == 2 &&
			    mesh->triangle_surface[e->triangle[0]] == mesh->triangle_surface[e->triangle[1]])
				continue;
			const tac_dvec3 side =
				tac_dvec3_normalize(tac_dvec3_cross(n, tac_dvec3_sub(at(w, u), at(w, v))));
			add_plane(&w->quadrics[v], side, tac_dvec3_dot(side, at(w, v)), BORDER * area);
			add_plane(&w->quadrics[u], side, tac_dvec3_dot(side, at(w, v)), BORDER * area);
		}
	}
}

// --- the heap ---

static bool comes_before(const candidate *p, const candidate *q)
{
	if (p->cost != q->cost)
		return p->cost < q->cost;
	return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static void sift_down(work *w, int64_t i)
{
	const candidate c = w->heap[i];
	for (int64_t k; (k = 2 * i + 1) < w->heap_count; i = k) {
		if (k + 1 < w->heap_count && comes_before(&w->heap[k + 1], &w->heap[k]))
			k++;
		if (!comes_before(&w->heap[k], &c))
			break;
		w->heap[i] = w->heap[k];
	}
	w->heap[i] = c;
}

static candidate pop(work *w)
{
	const candidate top = w->heap[0];
	w->heap[0] = w->heap[--w->heap_count];
	if (w->heap_count > 0)
		sift_down(w, 0);
	return top;
}

static void push(work *w, candidate c)
{
	if (w->heap_count == w->heap_room) {
		const int64_t room = 2 * w->heap_room;
		candidate *more = realloc(w->heap, (size_t)room * sizeof *more);
		w->failed |= !more;
		if (!more)
			return;
		w->heap = more;
		w->heap_room = room;
	}
	int64_t i = w->heap_count++;
	for (; i > 0 && comes_before(&c, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = c;
}

// Where the vertex of a collapsed edge lies, and what it costs. False: the edge must stay.
static bool place(const work *w, int32_t a, int32_t b, tac_vec3 *out_at, double *out_cost)
{
	const kind ka = (kind)w->s->kinds[a], kb = (kind)w->s->kinds[b];
	const quadric q = sum(&w->quadrics[a], &w->quadrics[b]);
	const bool along = ka != KIND_FREE && kb != KIND_FREE;
	if ((ka == KIND_FIXED && kb == KIND_FIXED) || (along && !is_border(w, a, b)))
		return false;
	if (ka == KIND_FREE && kb == KIND_FREE)
		*out_at = tac_vec3_from_dvec3(least(&q, tac_dvec3_lerp(at(w, a), at(w, b), 0.5)));
	else if (ka == kb)
		*out_at = w->s->vertices[value(&q, at(w, a)) <= value(&q, at(w, b)) ? a : b];
	else
		*out_at = w->s->vertices[ka > kb ? a : b];
	*out_cost = value(&q, tac_dvec3_from_vec3(*out_at));
	// The mean square distance from the planes of the source.
	return *out_cost <= FIT * w->s->tolerance * w->s->tolerance * q.weight;
}

static void consider(work *w, int32_t a, int32_t b)
{
	tac_vec3 there;
	candidate c = {.a = a < b ? a : b, .b = a < b ? b : a, .version = w->version[a] + w->version[b]};
	if (place(w, c.a, c.b, &there, &c.cost))
		push(w, c);
}

// --- one collapse ---

static bool has(const tac_mesh_triangle *t, int32_t v)
{
	return t->vertex[0] == v || t->vertex[1] == v || t->vertex[2] == v;
}

static bool gather_star(const work *w, collapse *c)
{
	c->star_count = 0;
	int along = 0; // those at the edge come first: what they leave is the hardest to prove
	for (int side = 0; side < 2; side++) {
		const int32_t first = w->first[side ? c->b : c->a];
		for (int32_t corner = live(w, first); corner >= 0; corner = live(w, w->next[corner])) {
			const tac_mesh_triangle *t = &w->s->triangles[corner / 3];
			if (side && has(t, c->a))
				continue;
			if (c->star_count == STAR)
				return false;
			c->star[c->star_count++] = corner / 3;
			if (side || !has(t, c->b))
				continue;
			c->star[c->star_count - 1] = c->star[along];
			c->star[along++] = corner / 3;
		}
	}
	return true;
}

// Whether the collapse keeps the topology: the vertices next to both ends are just those of the triangles at
// the edge.
static bool keeps_topology(const work *w, const collapse *c)
{
	int along = 0, shared = 0;
	int32_t seen[2 * STAR];
	int count = 0;
	for (int i = 0; i < c->star_count; i++) {
		const tac_mesh_triangle *t = &w->s->triangles[c->star[i]];
		if (has(t, c->a) && has(t, c->b)) {
			along++;
			continue;
		}
	}
	for (int i = 0; i < c->star_count; i++) {
		const tac_mesh_triangle *t = &w->s->triangles[c->star[i]];
		for (int k = 0; k < 3 && has(t, c->a); k++) {
			const int32_t v = t->vertex[k];
			bool is_new = v != c->a && v != c->b;
			for (int j = 0; j < count && is_new; j++)
				is_new = seen[j] != v;
			if (is_new)
				seen[count++] = v;
		}
	}
	for (int j = 0; j < count; j++) {
		bool next_to_b = false;
		for (int i = 0; i < c->star_count; i++) {
			const tac_mesh_triangle *t = &w->s->triangles[c->star[i]];
			next_to_b |= has(t, c->b) && has(t, seen[j]);
		}
		shared += next_to_b;
	}
	return shared == along && along >= 1 && along <= 2 && c->star_count - along > along;
}

static double quality(const tac_dvec3 v[3], tac_dvec3 *out_normal)
{
	const tac_dvec3 a = tac_dvec3_sub(v[1], v[0]), b = tac_dvec3_sub(v[2], v[0]),
			c = tac_dvec3_sub(v[2], v[1]);
	const double longest = fmax(tac_dvec3_length_squared(a),
				    fmax(tac_dvec3_length_squared(b), tac_dvec3_length_squared(c)));
	const tac_dvec3 cross = tac_dvec3_cross(a, b);
	*out_normal = tac_dvec3_normalize(cross);
	return tac_dvec3_length(cross) / longest;
}

// The triangles of the star as they will be. False if one of them folds over or becomes a sliver.
static bool make_faces(const work *w, collapse *c)
{
	c->face_count = 0;
	for (int i = 0; i < c->star_count; i++) {
		const tac_mesh_triangle *t = &w->s->triangles[c->star[i]];
		if (has(t, c->a) && has(t, c->b))
			continue;
		tac_detail_face *f = &c->faces[c->face_count];
		tac_dvec3 old[3], was, is;
		for (int k = 0; k < 3; k++) {
			const bool moves = t->vertex[k] == c->a || t->vertex[k] == c->b;
			old[k] = at(w, t->vertex[k]);
			f->v[k] = moves ? tac_dvec3_from_vec3(c->at) : old[k];
		}
		const double before = quality(old, &was), after = quality(f->v, &is);
		if (!(after > fmin(SLIVER, 0.5 * before)) || !(after > NEEDLE) ||
		    tac_dvec3_dot(was, is) < TURNED)
			return false;
		f->id = c->star[i];
		c->of_star[c->face_count++] = c->star[i];
	}
	return true;
}

static bool gather_near(work *w, collapse *c)
{
	c->near_count = 0;
	w->stamp_now++;
	for (int i = 0; i < c->star_count; i++) {
		for (int32_t l = w->s->of_triangle[c->star[i]]; l >= 0; l = w->s->links[l].next_of_triangle) {
			const int32_t t = w->s->links[l].source;
			if (w->stamp[t] == w->stamp_now)
				continue;
			if (c->near_count == NEAR)
				return false;
			w->stamp[t] = w->stamp_now;
			c->near[c->near_count++] = t;
		}
	}
	return true;
}

static bool in_star(const collapse *c, int32_t triangle)
{
	for (int i = 0; i < c->star_count; i++) {
		if (c->star[i] == triangle)
			return true;
	}
	return false;
}

// Collects the faces that may be near a triangle of the source: those of the star, in `faces` of it, then
// others that it is linked to. Returns their number; -1: too many. *out_of_star is how many are of the star.
static int collect_faces(const work *w, const collapse *c, int32_t source, tac_detail_face *out,
			 int8_t *out_face, int *out_of_star)
{
	const tac_detail_surgery *s = w->s;
	int count = 0;
	for (int i = 0; i < c->face_count; i++) {
		if (s->mesh->triangle_surface[c->faces[i].id] != s->mesh->triangle_surface[source])
			continue;
		out_face[count] = (int8_t)i;
		out[count] = c->faces[i];
		out[count++].used = false;
	}
	*out_of_star = count;
	for (int32_t l = s->of_source[source]; l >= 0; l = s->links[l].next_of_source) {
		const int32_t t = s->links[l].triangle;
		if (in_star(c, t))
			continue;
		if (count == TAC_DETAIL_FACES)
			return -1;
		out[count].id = t;
		out[count].used = false;
		for (int k = 0; k < 3; k++)
			out[count].v[k] = at(w, s->triangles[t].vertex[k]);
		count++;
	}
	return count;
}

// Proves the distance for one triangle of the source that is near the star. Most of them are within the
// tolerance of the face that they were linked to before.
static bool prove(const work *w, collapse *c, int index)
{
	const tac_detail_surgery *s = w->s;
	const int32_t source = c->near[index];
	tac_dvec3 corners[3];
	for (int k = 0; k < 3; k++)
		corners[k] = tac_mesh_corner(s->mesh, source, k);
	for (int32_t l = s->of_source[source]; l >= 0; l = s->links[l].next_of_source) {
		for (int k = 0; k < c->face_count; k++) {
			if (c->faces[k].id == s->links[l].triangle &&
			    tac_detail_is_near(corners, s->tolerance, &c->faces[k])) {
				c->used[index] = (uint64_t)1 << k;
				return true;
			}
		}
	}
	int8_t of_face[TAC_DETAIL_FACES];
	tac_detail_face faces[TAC_DETAIL_FACES];
	int of_star;
	const int count = collect_faces(w, c, source, faces, of_face, &of_star);
	if (count <= 0 || !tac_detail_cover(corners, s->tolerance, faces, count))
		return false;
	c->used[index] = 0;
	for (int k = 0; k < of_star; k++)
		c->used[index] |= (uint64_t)faces[k].used << of_face[k];
	return true;
}

// Whether the new vertex is near the source, so that the new surface is, too.
static bool stays_near(const work *w, const collapse *c)
{
	const tac_dvec3 p = tac_dvec3_from_vec3(c->at);
	const double limit = w->s->tolerance * w->s->tolerance;
	for (int i = 0; i < c->near_count; i++) {
		tac_dvec3 corners[3];
		int region;
		for (int k = 0; k < 3; k++)
			corners[k] = tac_mesh_corner(w->s->mesh, c->near[i], k);
		const tac_dvec3 off = tac_dvec3_sub(p, tac_closest_on_triangle(p, corners, &region));
		if (tac_dvec3_length_squared(off) <= limit)
			return true;
	}
	return false;
}

static bool is_sound(work *w, collapse *c)
{
	if (!gather_star(w, c) || !keeps_topology(w, c) || !make_faces(w, c) || !gather_near(w, c) ||
	    !stays_near(w, c))
		return false;
	for (int i = 0; i < c->near_count; i++) {
		if (!prove(w, c, i))
			return false;
	}
	return true;
}

// --- commit ---

static void add_link(work *w, int32_t source, int32_t triangle)
{
	tac_detail_surgery *s = w->s;
	int32_t l = s->free_link;
	if (l >= 0) {
		s->free_link = s->links[l].next_of_source;
	} else {
		if (s->link_count == s->link_room) {
			const int32_t room = s->link_room + s->link_room / 2 + 64;
			tac_detail_link *more = realloc(s->links, (size_t)room * sizeof *more);
			w->failed |= !more;
			if (!more)
				return;
			s->links = more;
			s->link_room = room;
		}
		l = s->link_count++;
	}
	s->links[l] = (tac_detail_link){source, triangle, s->of_triangle[triangle], s->of_source[source]};
	s->of_triangle[triangle] = s->of_source[source] = l;
}

// Removes the links of a triangle of the source to the star.
static void unlink_source(work *w, const collapse *c, int32_t source)
{
	tac_detail_surgery *s = w->s;
	for (int32_t *at_ = &s->of_source[source]; *at_ >= 0;) {
		const int32_t l = *at_;
		if (!in_star(c, s->links[l].triangle)) {
			at_ = &s->links[l].next_of_source;
			continue;
		}
		*at_ = s->links[l].next_of_source;
		s->links[l].next_of_source = s->free_link;
		s->free_link = l;
	}
}

static void relink(work *w, const collapse *c)
{
	for (int i = 0; i < c->near_count; i++)
		unlink_source(w, c, c->near[i]);
	for (int i = 0; i < c->star_count; i++)
		w->s->of_triangle[c->star[i]] = -1;
	for (int i = 0; i < c->near_count; i++) {
		for (int k = 0; k < c->face_count; k++) {
			if (c->used[i] >> k & 1)
				add_link(w, c->near[i], c->of_star[k]);
		}
	}
}

static void commit(work *w, const collapse *c)
{
	tac_detail_surgery *s = w->s;
	relink(w, c);
	w->quadrics[c->a] = sum(&w->quadrics[c->a], &w->quadrics[c->b]);
	s->vertices[c->a] = c->at;
	s->kinds[c->a] = s->kinds[c->a] > s->kinds[c->b] ? s->kinds[c->a] : s->kinds[c->b];
	for (int i = 0; i < c->star_count; i++) {
		tac_mesh_triangle *t = &s->triangles[c->star[i]];
		if (has(t, c->a) && has(t, c->b)) {
			t->vertex[0] = -1;
			s->triangle_count--;
			continue;
		}
		for (int k = 0; k < 3; k++)
			t->vertex[k] = t->vertex[k] == c->b ? c->a : t->vertex[k];
	}
	int32_t head = -1;
	for (int i = 0; i < c->star_count; i++) {
		for (int k = 0; k < 3; k++) {
			if (s->triangles[c->star[i]].vertex[k] != c->a || is_gone(w, c->star[i]))
				continue;
			w->next[3 * c->star[i] + k] = head;
			head = 3 * c->star[i] + k;
		}
	}
	w->first[c->a] = head;
	w->first[c->b] = -1;
	w->version[c->a]++;
	for (int32_t corner = live(w, w->first[c->a]); corner >= 0; corner = live(w, w->next[corner])) {
		const int32_t *v = s->triangles[corner / 3].vertex;
		consider(w, c->a, v[(corner % 3 + 1) % 3]);
		if (is_border(w, c->a, v[(corner % 3 + 2) % 3]))
			consider(w, c->a, v[(corner % 3 + 2) % 3]);
	}
}

static void collapse_all(work *w)
{
	collapse *c = malloc(sizeof *c);
	w->failed |= !c;
	while (!w->failed && w->heap_count > 0) {
		const candidate next = pop(w);
		double cost;
		if (w->version[next.a] + w->version[next.b] != next.version ||
		    live(w, w->first[next.a]) < 0 || live(w, w->first[next.b]) < 0)
			continue;
		c->a = next.a;
		c->b = next.b;
		if (place(w, c->a, c->b, &c->at, &cost) && is_sound(w, c))
			commit(w, c);
	}
	free(c);
}

static void begin(work *w)
{
	tac_detail_surgery *s = w->s;
	const tac_mesh *mesh = s->mesh;
	for (int32_t v = 0; v < mesh->vertex_count; v++)
		w->first[v] = -1;
	for (int32_t t = mesh->triangle_count - 1; t >= 0; t--) {
		for (int k = 0; k < 3; k++) {
			const int32_t v = mesh->triangles[t].vertex[k];
			w->next[3 * t + k] = w->first[v];
			w->first[v] = 3 * t + k;
		}
		s->of_triangle[t] = s->of_source[t] = -1;
		add_link(w, t, t);
	}
	fill_quadrics(w);
	for (int32_t e = 0; e < mesh->edge_count; e++)
		consider(w, mesh->edges[e].vertex[0], mesh->edges[e].vertex[1]);
}

tac_result tac_detail_operate(tac_detail_surgery *s, const uint8_t *keep)
{
	const size_t vertices = (size_t)s->mesh->vertex_count + 1,
		     triangles = (size_t)s->mesh->triangle_count;
	work w = {.s = s,
		  .first = malloc(vertices * sizeof *w.first),
		  .next = malloc(3 * triangles * sizeof *w.next),
		  .version = calloc(vertices, sizeof *w.version),
		  .quadrics = calloc(vertices, sizeof *w.quadrics),
		  .heap_room = s->mesh->edge_count + 64,
		  .stamp = calloc(triangles, sizeof *w.stamp)};
	w.heap = malloc((size_t)w.heap_room * sizeof *w.heap);
	uint8_t *borders = calloc(vertices, 1);
	w.failed = !w.first || !w.next || !w.version || !w.quadrics || !w.stamp || !w.heap || !borders;
	if (!w.failed) {
		find_kinds(&w, keep, borders);
		begin(&w);
		collapse_all(&w);
	}
	free(w.first);
	free(w.next);
	free(w.version);
	free(w.quadrics);
	free(w.heap);
	free(w.stamp);
	free(borders);
	return w.failed ? TAC_ERROR_MEMORY : TAC_OK;
}
