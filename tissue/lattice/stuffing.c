// The cut of the lattice along the surface. A vertex that lies closer to a crossing of the surface with one
// of its edges than ALPHA of the edge is moved there; then the edges that still cross the surface get a
// vertex, and each tetrahedron keeps what is inside.
#include "tissue/lattice/lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The limits of Labelle and Shewchuk for edges along the axes and along the diagonals of a cell. Other edges
// occur where cells of different sizes meet.
#define ALPHA_LONG  0.24999
#define ALPHA_SHORT 0.41189
// A tetrahedron that moving its vertices would leave with less than this part of its volume is not moved.
#define VOLUME_LEFT 0.02
#define TRIES       16
// Where a vertex may not be moved, a crossing keeps this distance from it, in edges.
#define CLEARANCE  0.05
#define BISECTIONS 40 // to a part of 1e-12 of an edge

typedef struct cut {
	int32_t vertex[2]; // inside, outside
	double t;          // from the inside to the outside vertex
	bool dropped;
} cut;

typedef struct stuffing {
	const lattice_grid *grid;
	const lattice_shape *shape;
	tac_dvec3 *rest, *at; // of the vertices: before and after they are moved
	int8_t *sign;         // 1 inside, -1 outside, 0 on the surface
	int8_t *first_sign;
	bool *stay;        // may not be moved
	lattice_table ids; // of the cuts, by their vertices
	cut *cuts;
	int32_t *incident_start, *incident; // cuts of each vertex
	tac_lattice_tet *tets;
	int32_t tet_count, tet_capacity;
	bool failed;
} stuffing;

static tac_dvec3 place_of_cut(const stuffing *s, const cut *c)
{
	return tac_dvec3_lerp(s->rest[c->vertex[0]], s->rest[c->vertex[1]], c->t);
}

// Where the edge from an inside to an outside vertex crosses the surface, by bisection.
static double crossing(const stuffing *s, int32_t in, int32_t out)
{
	double low = 0, high = 1;
	for (int n = 0; n < BISECTIONS; n++) {
		const double t = (low + high) / 2;
		if (tac_lattice_inside(s->shape, tac_dvec3_lerp(s->rest[in], s->rest[out], t)))
			low = t;
		else
			high = t;
	}
	return (low + high) / 2;
}

static void find_cuts(stuffing *s)
{
	for (int32_t n = 0; n < s->grid->tet_count && !s->failed; n++) {
		const int32_t *v = s->grid->tets[n].vertex;
		for (int e = 0; e < 6; e++) {
			static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
			const int32_t a = v[ends[e][0]], b = v[ends[e][1]];
			if (s->sign[a] == s->sign[b])
				continue;
			const int32_t before = s->ids.count;
			const int32_t id = tac_lattice_table_add(&s->ids, tac_lattice_edge_key(a, b));
			if (id != before) {
				s->failed = s->failed || id < 0;
				continue;
			}
			if ((id & (id - 1)) == 0) { // at powers of two the room doubles
				cut *more = realloc(s->cuts, (size_t)(id ? 2 * id : 1) * sizeof *more);
				if (!more) {
					s->failed = true;
					return;
				}
				s->cuts = more;
			}
			const int32_t in = s->sign[a] > 0 ? a : b, out = s->sign[a] > 0 ? b : a;
			s->cuts[id] = (cut){{in, out}, crossing(s, in, out), false};
		}
	}
}

static void list_incident(stuffing *s)
{
	const int32_t vertices = s->grid->vertex_count, cuts = s->ids.count;
	s->incident_start = calloc((size_t)vertices + 2, sizeof *s->incident_start);
	s->incident = malloc((2 * (size_t)cuts + 1) * sizeof *s->incident);
	if (!s->incident_start || !s->incident) {
		s->failed = true;
		return;
	}
	// Counted two places on, so that filling moves each start to where it belongs.
	for (int32_t i = 0; i < cuts; i++) {
		s->incident_start[s->cuts[i].vertex[0] + 2]++;
		s->incident_start[s->cuts[i].vertex[1] + 2]++;
	}
	for (int32_t v = 0; v < vertices; v++)
		s->incident_start[v + 2] += s->incident_start[v + 1];
	for (int32_t i = 0; i < cuts; i++) {
		s->incident[s->incident_start[s->cuts[i].vertex[0] + 1]++] = i;
		s->incident[s->incident_start[s->cuts[i].vertex[1] + 1]++] = i;
	}
}

// How close to a vertex a crossing of the edge moves it, in edges.
static double alpha_of(const stuffing *s, const cut *c)
{
	const int32_t *a = s->grid->place[c->vertex[0]], *b = s->grid->place[c->vertex[1]];
	const int32_t x = abs(a[0] - b[0]), y = abs(a[1] - b[1]), z = abs(a[2] - b[2]);
	return x == y && y == z ? ALPHA_SHORT : ALPHA_LONG;
}

static void move_vertices(stuffing *s)
{
	const int32_t vertices = s->grid->vertex_count;
	memcpy(s->at, s->rest, (size_t)vertices * sizeof *s->at);
	memcpy(s->sign, s->first_sign, (size_t)vertices);
	for (int32_t i = 0; i < s->ids.count; i++)
		s->cuts[i].dropped = false;
	for (int32_t v = 0; v < vertices; v++) {
		double least = HUGE_VAL;
		const cut *best = NULL;
		for (int32_t k = s->incident_start[v]; k < s->incident_start[v + 1] && !s->stay[v]; k++) {
			const cut *c = &s->cuts[s->incident[k]];
			const double part = c->vertex[0] == v ? c->t : 1 - c->t;
			if (c->dropped || part >= alpha_of(s, c))
				continue;
			const double d = tac_dvec3_length(tac_dvec3_sub(place_of_cut(s, c), s->rest[v]));
			if (d < least) {
				least = d;
				best = c;
			}
		}
		if (!best)
			continue;
		s->at[v] = place_of_cut(s, best);
		s->sign[v] = 0;
		for (int32_t k = s->incident_start[v]; k < s->incident_start[v + 1]; k++)
			s->cuts[s->incident[k]].dropped = true;
	}
}

static double volume_of(const tac_dvec3 *at, const int32_t v[4])
{
	return tac_lattice_volume6(at[v[0]], at[v[1]], at[v[2]], at[v[3]]);
}

// Forbids the vertices of flattened tetrahedra to move. Whether there are any.
static bool hold_back(stuffing *s)
{
	bool any = false;
	for (int32_t n = 0; n < s->grid->tet_count; n++) {
		const int32_t *v = s->grid->tets[n].vertex;
		bool inside = false, moved = false;
		for (int k = 0; k < 4; k++) {
			inside = inside || s->sign[v[k]] > 0;
			moved = moved || s->sign[v[k]] == 0;
		}
		if (!inside || !moved || volume_of(s->at, v) > VOLUME_LEFT * volume_of(s->rest, v))
			continue;
		for (int k = 0; k < 4; k++) {
			if (s->sign[v[k]] == 0)
				s->stay[v[k]] = any = true;
		}
	}
	return any;
}

// The number that the vertex at the crossing of two vertices will have.
static int32_t cut_between(const stuffing *s, int32_t a, int32_t b)
{
	return s->grid->vertex_count + tac_lattice_table_find(&s->ids, tac_lattice_edge_key(a, b));
}

static void add_tet(stuffing *s, int32_t a, int32_t b, int32_t c, int32_t d)
{
	if (s->tet_count == s->tet_capacity) {
		const int32_t capacity = s->tet_capacity ? 2 * s->tet_capacity : 4096;
		void *more = capacity <= LATTICE_TETS_MAX
				     ? realloc(s->tets, (size_t)capacity * sizeof *s->tets)
				     : NULL;
		if (!more) {
			s->failed = true;
			return;
		}
		s->tets = more;
		s->tet_capacity = capacity;
	}
	s->tets[s->tet_count++] = (tac_lattice_tet){{a, b, c, d}};
}

// Which of two crossings a diagonal starts from: the same for both tetrahedra of a face, and never around a
// prism in a circle, because it is an order. The longer stump first gives the better angles (measured).
static bool goes_first(const stuffing *s, int32_t a, int32_t b)
{
	const cut *x = &s->cuts[a - s->grid->vertex_count], *y = &s->cuts[b - s->grid->vertex_count];
	const double p = tac_dvec3_length(tac_dvec3_sub(place_of_cut(s, x), s->rest[x->vertex[0]]));
	const double q = tac_dvec3_length(tac_dvec3_sub(place_of_cut(s, y), s->rest[y->vertex[0]]));
	return p != q ? p > q : a < b;
}

// A prism with the edges from low[k] to high[k]. In the side between columns i and j the diagonal goes from
// high[i] to low[j] if `before[i][j]`.
static void add_prism(stuffing *s, const int32_t low[3], const int32_t high[3], bool before[3][3])
{
	int order[3] = {0, 1, 2};
	for (int i = 0; i < 3; i++)
		order[before[(i + 1) % 3][i] + before[(i + 2) % 3][i]] = i;
	const int x = order[0], y = order[1], z = order[2];
	add_tet(s, low[x], low[y], low[z], high[x]);
	add_tet(s, low[y], low[z], high[x], high[y]);
	add_tet(s, low[z], high[x], high[y], high[z]);
}

static void cut_one_off(stuffing *s, const int32_t in[3], int32_t out)
{
	int32_t high[3];
	bool before[3][3] = {{0}};
	for (int k = 0; k < 3; k++)
		high[k] = cut_between(s, in[k], out);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			before[i][j] = i != j && goes_first(s, high[i], high[j]);
	}
	add_prism(s, in, high, before);
}

// Two vertices inside: a prism between their triangles, with the surface as its third side. Its diagonal is
// free unless the other two decide it.
static void cut_in_halves(stuffing *s, const int32_t in[2], const int32_t out[2])
{
	const int32_t low[3] = {in[0], cut_between(s, in[0], out[0]), cut_between(s, in[0], out[1])};
	const int32_t high[3] = {in[1], cut_between(s, in[1], out[0]), cut_between(s, in[1], out[1])};
	bool before[3][3] = {{0}};
	for (int k = 1; k < 3; k++) {
		// A diagonal from low[k] goes to high[0]: column 0 is before k.
		before[0][k] = goes_first(s, low[k], high[k]);
		before[k][0] = !before[0][k];
	}
	bool first = before[1][0];
	if (before[0][1] == before[0][2]) {
		const int32_t base = s->grid->vertex_count;
		const tac_dvec3 a = place_of_cut(s, &s->cuts[high[1] - base]);
		const tac_dvec3 b = place_of_cut(s, &s->cuts[low[2] - base]);
		const tac_dvec3 c = place_of_cut(s, &s->cuts[high[2] - base]);
		const tac_dvec3 d = place_of_cut(s, &s->cuts[low[1] - base]);
		first = tac_dvec3_length(tac_dvec3_sub(a, b)) < tac_dvec3_length(tac_dvec3_sub(c, d));
	}
	before[1][2] = first;
	before[2][1] = !first;
	add_prism(s, low, high, before);
}

static void cut_tet(stuffing *s, const int32_t v[4])
{
	int32_t in[4], zero[4], out[4];
	int ins = 0, zeros = 0, outs = 0;
	for (int k = 0; k < 4; k++) {
		if (s->sign[v[k]] > 0)
			in[ins++] = v[k];
		else if (s->sign[v[k]] < 0)
			out[outs++] = v[k];
		else
			zero[zeros++] = v[k];
	}
	if (ins == 0)
		return;
	if (outs == 0) {
		add_tet(s, v[0], v[1], v[2], v[3]);
	} else if (ins == 3) {
		cut_one_off(s, in, out[0]);
	} else if (ins == 2 && outs == 2) {
		cut_in_halves(s, in, out);
	} else if (ins == 2) {
		const int32_t a = cut_between(s, in[0], out[0]), b = cut_between(s, in[1], out[0]);
		const bool first = goes_first(s, a, b);
		add_tet(s, zero[0], in[0], in[1], first ? a : b);
		add_tet(s, zero[0], first ? in[1] : in[0], a, b);
	} else {
		int32_t tip[3];
		for (int k = 0; k < 3; k++)
			tip[k] = k < zeros ? zero[k] : cut_between(s, in[0], out[k - zeros]);
		add_tet(s, in[0], tip[0], tip[1], tip[2]);
	}
}

static bool allocate(stuffing *s)
{
	const size_t vertices = (size_t)s->grid->vertex_count;
	s->rest = malloc(vertices * sizeof *s->rest);
	s->at = malloc(vertices * sizeof *s->at);
	s->sign = malloc(vertices);
	s->first_sign = malloc(vertices);
	s->stay = calloc(vertices, 1);
	return tac_lattice_table_init(&s->ids) && s->rest && s->at && s->sign && s->first_sign && s->stay;
}

static void release(stuffing *s)
{
	free(s->rest);
	free(s->at);
	free(s->sign);
	free(s->first_sign);
	free(s->stay);
	tac_lattice_table_fini(&s->ids);
	free(s->cuts);
	free(s->incident_start);
	free(s->incident);
	free(s->tets);
}

// Leaves the grid's vertices and then the crossings as vertices of the lattice, used or not.
static void hand_over(stuffing *s, tac_lattice *out)
{
	const int32_t vertices = s->grid->vertex_count;
	out->vertex_count = vertices + s->ids.count;
	out->vertices = malloc(((size_t)out->vertex_count + 1) * sizeof *out->vertices);
	if (!out->vertices) {
		s->failed = true;
		return;
	}
	memcpy(out->vertices, s->at, (size_t)vertices * sizeof *s->at);
	for (int32_t i = 0; i < s->ids.count; i++)
		out->vertices[vertices + i] = place_of_cut(s, &s->cuts[i]);
	for (int32_t n = 0; n < s->tet_count; n++) {
		int32_t *v = s->tets[n].vertex;
		if (volume_of(out->vertices, v) < 0) {
			const int32_t swap = v[2];
			v[2] = v[3];
			v[3] = swap;
		}
	}
	out->tets = s->tets;
	out->tet_count = s->tet_count;
	s->tets = NULL;
}

tac_result tac_lattice_stuff(const lattice_grid *grid, const lattice_shape *shape, tac_lattice *out)
{
	stuffing s = {.grid = grid, .shape = shape};
	s.failed = !allocate(&s);
	for (int32_t v = 0; !s.failed && v < grid->vertex_count; v++) {
		const int32_t *p = grid->place[v];
		s.rest[v] =
			tac_dvec3_add_scaled(grid->origin_m, grid->unit_m, tac_dvec3_make(p[0], p[1], p[2]));
		s.sign[v] = s.first_sign[v] = tac_lattice_inside(shape, s.rest[v]) ? 1 : -1;
	}
	if (!s.failed)
		find_cuts(&s);
	if (!s.failed)
		list_incident(&s);
	bool flat = !s.failed;
	for (int n = 0; flat && n < TRIES; n++) {
		move_vertices(&s);
		flat = hold_back(&s);
	}
	for (int32_t i = 0; !s.failed && i < s.ids.count; i++)
		s.cuts[i].t = fmin(fmax(s.cuts[i].t, CLEARANCE), 1 - CLEARANCE);
	for (int32_t n = 0; !s.failed && n < grid->tet_count; n++)
		cut_tet(&s, grid->tets[n].vertex);
	if (!s.failed)
		hand_over(&s, out);
	release(&s);
	return s.failed ? TAC_ERROR_MEMORY : TAC_OK;
}
