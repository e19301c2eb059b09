#include "collision/geometry/flat.h"

#include <math.h>
#include <stdlib.h>

// Rounding to float moves a vertex by up to 1e-7 of its coordinates; a mesh that was turned and rounded
// again, by twice that, and the plane fitted to it may be off as much again.
#define ROUNDING 4e-7
// Small bodies: the tolerance in m, unless that is more than SMALL of their size.
#define TYPICAL_M 5e-8
#define SMALL     2e-6
#define MAX_M     2.5e-7
// The new surface is used when it saves at least 1 / LEAST_GAIN of the triangles, or when at least 1 /
// LEAST_FLAT of them are in patches: their inner edges are then known to be flat.
#define LEAST_GAIN 64
#define LEAST_FLAT 4
// A point of a patch and the point of the new surface that has the same projection are each within the
// deviation of the plane, which is at most sqrt(3) times as far along the axis of projection; beside a
// straightened border the closest point may be another sqrt(3) times its bend away.
#define PROJECTION 4
// The relative rounding of the areas that are compared.
#define AREA_ROUNDING 1e-9

double tac_flat_epsilon(const tac_mesh *mesh)
{
	const tac_vec3 lo = mesh->bounds_min, hi = mesh->bounds_max;
	float size = fmaxf(fmaxf(fabsf(lo.x), fabsf(hi.x)),
			   fmaxf(fmaxf(fabsf(lo.y), fabsf(hi.y)), fmaxf(fabsf(lo.z), fabsf(hi.z))));
	return fmin(fmin(SMALL * (double)size, MAX_M), fmax(TYPICAL_M, ROUNDING * (double)size));
}

// --- the build ---

typedef struct builder {
	const tac_mesh *mesh;
	tac_flat_planes planes;
	tac_flat_surgery surgery;
	tac_flat *flat;
	int32_t *number;            // of each patch in the result; -1: unchanged
	tac_mesh_triangle *corners; // of the new mesh
	int32_t *surfaces;
	const char **names;
} builder;

static bool operate(builder *b, double epsilon)
{
	const size_t triangles = (size_t)b->mesh->triangle_count, vertices = (size_t)b->mesh->vertex_count;
	tac_flat_surgery *s = &b->surgery;
	*s = (tac_flat_surgery){.mesh = b->mesh,
				.planes = &b->planes,
				.epsilon = epsilon,
				.triangle_count = b->mesh->triangle_count,
				.triangles = malloc(triangles * sizeof *s->triangles),
				.first = malloc(vertices * sizeof *s->first),
				.degree = calloc(vertices, sizeof *s->degree),
				.next = malloc(3 * triangles * sizeof *s->next),
				.previous = malloc(3 * triangles * sizeof *s->previous)};
	if (!s->triangles || !s->first || !s->degree || !s->next || !s->previous)
		return false;
	for (size_t t = 0; t < triangles; t++)
		s->triangles[t] = b->mesh->triangles[t];
	for (size_t v = 0; v < vertices; v++)
		s->first[v] = -1;
	return tac_flat_operate(s) == TAC_OK;
}

// Twice the signed area of a triangle in the projection of its patch.
static double projected_area(const builder *b, int32_t patch, tac_mesh_triangle t)
{
	double p[3][2];
	for (int k = 0; k < 3; k++)
		tac_flat_project(&b->planes.plane[patch], b->mesh->vertices[t.vertex[k]], p[k]);
	return (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
}

// Whether each patch covers the same area as before. Its triangles all face the same way, so equal areas in
// the same borders mean that no point is covered twice or left out.
static bool areas_agree(const builder *b)
{
	const tac_flat_surgery *s = &b->surgery;
	const size_t count = (size_t)b->planes.count;
	double *difference = calloc(count + 1, sizeof *difference), *area = calloc(count + 1, sizeof *area),
	       *border = calloc(count + 1, sizeof *border);
	bool agree = difference && area && border;
	for (int32_t t = 0; agree && t < b->mesh->triangle_count; t++) {
		const int32_t patch = b->planes.patch[t];
		if (patch < 0)
			continue;
		double before = projected_area(b, patch, b->mesh->triangles[t]);
		difference[patch] += before;
		area[patch] += before;
		if (s->triangles[t].vertex[0] >= 0)
			difference[patch] -= projected_area(b, patch, s->triangles[t]);
		for (int k = 0; k < 3; k++)
			border[patch] += tac_dvec3_length(tac_dvec3_sub(
				tac_mesh_corner(b->mesh, t, (k + 1) % 3), tac_mesh_corner(b->mesh, t, k)));
	}
	for (int32_t p = 0; agree && p < b->planes.count; p++)
		agree = fabs(difference[p]) <=
			AREA_ROUNDING * area[p] + PROJECTION * s->straightness * border[p];
	free(difference);
	free(area);
	free(border);
	return agree;
}

// Numbers the patches that changed, and bounds how far they may be from the source.
static void number_patches(builder *b)
{
	double deviation = 0;
	tac_flat *f = b->flat;
	for (int32_t p = 0; p < b->planes.count; p++) {
		const tac_flat_plane *plane = &b->planes.plane[p];
		b->number[p] = -1;
		if (plane->removed == 0)
			continue;
		b->number[p] = f->patch_count;
		deviation = fmax(deviation, plane->deviation);
		f->patches[f->patch_count++] = (tac_flat_patch){
			.normal = plane->normal, .offset = plane->offset, .axis = plane->axis};
	}
	f->tolerance = PROJECTION * (deviation + b->surgery.straightness);
	for (int32_t t = 0; t < b->mesh->triangle_count; t++) {
		const int32_t patch = b->planes.patch[t];
		f->source_patch[t] = patch < 0 ? -1 : b->number[patch];
	}
}

static bool build_mesh(builder *b)
{
	const tac_mesh *mesh = b->mesh;
	tac_mesh_def def = tac_mesh_def_default();
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		if (b->surgery.triangles[t].vertex[0] < 0)
			continue;
		const int32_t patch = b->flat->source_patch[t];
		b->flat->face[def.triangle_count] = b->planes.patch[t];
		b->flat->source_triangle[def.triangle_count] = patch < 0 ? t : ~patch;
		b->surfaces[def.triangle_count] = mesh->triangle_surface[t];
		b->corners[def.triangle_count++] = b->surgery.triangles[t];
	}
	for (int32_t i = 0; i < mesh->surface_count; i++)
		b->names[i] = mesh->surfaces[i].name;
	def.name = "flat faces";
	def.vertices = mesh->vertices;
	def.vertex_count = mesh->vertex_count;
	def.triangles = b->corners;
	def.triangle_surface = b->surfaces;
	def.surface_names = b->names;
	def.surface_count = mesh->surface_count;
	return tac_mesh_build(&def, &b->flat->mesh) >= TAC_OK;
}

// Whether the new mesh is what it should be; if not, the source is used unchanged.
static bool is_sound(const builder *b)
{
	const tac_mesh *was = b->mesh, *is = b->flat->mesh;
	return is->degenerate_triangles == 0 && is->non_manifold_edges == was->non_manifold_edges &&
	       is->flipped_edges == was->flipped_edges && is->open_edges <= was->open_edges &&
	       (is->open_edges > 0) == (was->open_edges > 0) && areas_agree(b);
}

// --- triangles of the source ---

static void project(const tac_flat_patch *p, tac_dvec3 x, double out[2])
{
	const double c[3] = {x.x, x.y, x.z};
	out[0] = c[(p->axis + 1) % 3];
	out[1] = c[(p->axis + 2) % 3];
}

static int32_t cell_index(const tac_flat_patch *p, tac_dvec3 x)
{
	double at[2];
	project(p, x, at);
	const double column = (at[0] - p->lo[0]) / p->cell, row = (at[1] - p->lo[1]) / p->cell;
	const int32_t i = (int32_t)fmin(fmax(column, 0), p->columns - 1),
		      j = (int32_t)fmin(fmax(row, 0), p->rows - 1);
	return p->first + j * p->columns + i;
}

static tac_dvec3 centre_of(const tac_mesh *mesh, int32_t t)
{
	tac_dvec3 sum = tac_dvec3_add(tac_mesh_corner(mesh, t, 0), tac_mesh_corner(mesh, t, 1));
	return tac_dvec3_scale(tac_dvec3_add(sum, tac_mesh_corner(mesh, t, 2)), 1.0 / 3);
}

// Lays out a grid with about two cells for each triangle of a patch. Returns how many cells.
static int32_t lay_grid(tac_flat_patch *p, const double hi[2], int32_t triangles)
{
	const double x = hi[0] - p->lo[0], y = hi[1] - p->lo[1], cells = 2.0 * triangles;
	// Of a narrow patch one row, of at most as many cells.
	p->cell = fmax(sqrt(x * y / cells), fmax(x, y) / cells);
	p->columns = (int32_t)(x / p->cell) + 1;
	p->rows = (int32_t)(y / p->cell) + 1;
	return p->columns * p->rows;
}

// Fills each empty cell of a patch from the nearest that is not, step by step. `queue` has room for all
// cells.
static void spread(const tac_flat_patch *p, int32_t *cells, int32_t *queue)
{
	int32_t count = 0;
	for (int32_t i = 0; i < p->columns * p->rows; i++) {
		if (cells[p->first + i] >= 0)
			queue[count++] = i;
	}
	for (int32_t i = 0; i < count; i++) {
		const int32_t column = queue[i] % p->columns, row = queue[i] / p->columns;
		const int32_t next[4] = {
			column > 0 ? queue[i] - 1 : -1, column + 1 < p->columns ? queue[i] + 1 : -1,
			row > 0 ? queue[i] - p->columns : -1, row + 1 < p->rows ? queue[i] + p->columns : -1};
		for (int k = 0; k < 4; k++) {
			if (next[k] < 0 || cells[p->first + next[k]] >= 0)
				continue;
			cells[p->first + next[k]] = cells[p->first + queue[i]];
			queue[count++] = next[k];
		}
	}
}

static bool build_grids(builder *b)
{
	tac_flat *f = b->flat;
	double(*hi)[2] = malloc(((size_t)f->patch_count + 1) * sizeof *hi);
	if (!hi)
		return false;
	for (int32_t p = 0; p < f->patch_count; p++) {
		hi[p][0] = hi[p][1] = -HUGE_VAL;
		f->patches[p].lo[0] = f->patches[p].lo[1] = HUGE_VAL;
	}
	for (int32_t c = 0; c < 3 * b->mesh->triangle_count; c++) {
		const int32_t patch = f->source_patch[c / 3];
		if (patch < 0)
			continue;
		double at[2];
		project(&f->patches[patch], tac_mesh_corner(b->mesh, c / 3, c % 3), at);
		for (int i = 0; i < 2; i++) {
			f->patches[patch].lo[i] = fmin(f->patches[patch].lo[i], at[i]);
			hi[patch][i] = fmax(hi[patch][i], at[i]);
		}
	}
	int32_t cells = 0;
	for (int32_t p = 0; p < b->planes.count; p++) {
		if (b->number[p] < 0)
			continue;
		tac_flat_patch *patch = &f->patches[b->number[p]];
		patch->first = cells;
		cells += lay_grid(patch, hi[b->number[p]], b->planes.plane[p].triangles);
	}
	free(hi);
	f->cells = malloc(((size_t)cells + 1) * sizeof *f->cells);
	if (!f->cells)
		return false;
	for (int32_t i = 0; i < cells; i++)
		f->cells[i] = -1;
	for (int32_t t = 0; t < b->mesh->triangle_count; t++) {
		if (f->source_patch[t] >= 0)
			f->cells[cell_index(&f->patches[f->source_patch[t]], centre_of(b->mesh, t))] = t;
	}
	int32_t *queue = malloc(((size_t)cells + 1) * sizeof *queue);
	for (int32_t p = 0; queue && p < f->patch_count; p++)
		spread(&f->patches[p], f->cells, queue);
	bool complete = queue != NULL;
	free(queue);
	return complete;
}

int32_t tac_flat_source(const tac_flat *flat, int32_t triangle, tac_dvec3 point)
{
	const int32_t source = flat->source_triangle[triangle];
	if (source >= 0)
		return source;
	const tac_flat_patch *patch = &flat->patches[~source];
	const tac_mesh *mesh = flat->source;
	int32_t at = flat->cells[cell_index(patch, point)], before = -1;
	for (int step = 0; step < TAC_FLAT_WALK; step++) {
		int32_t next = -1;
		for (int k = 0; k < 3 && next < 0; k++) {
			const tac_mesh_edge *edge = &mesh->edges[mesh->triangle_edges[at].vertex[k]];
			const int32_t other = edge->triangle[edge->triangle[0] == at];
			if (other == before || edge->triangle_count != 2 ||
			    flat->source_patch[other] != ~source)
				continue;
			const tac_dvec3 a = tac_mesh_corner(mesh, at, k),
					along = tac_dvec3_sub(tac_mesh_corner(mesh, at, (k + 1) % 3), a);
			const tac_dvec3 inwards = tac_dvec3_cross(patch->normal, along);
			if (tac_dvec3_dot(inwards, tac_dvec3_sub(point, a)) < 0)
				next = other;
		}
		if (next < 0)
			break;
		before = at;
		at = next;
	}
	return at;
}

// --- assembly ---

static bool build_result(builder *b)
{
	const size_t triangles = (size_t)b->surgery.triangle_count, patches = (size_t)b->planes.count,
		     surfaces = (size_t)b->mesh->surface_count;
	b->flat = calloc(1, sizeof *b->flat);
	if (!b->flat)
		return false;
	b->flat->source = b->mesh;
	b->flat->source_triangle = malloc(triangles * sizeof(int32_t));
	b->flat->face = malloc(triangles * sizeof(int32_t));
	b->flat->source_patch = malloc((size_t)b->mesh->triangle_count * sizeof(int32_t));
	b->flat->patches = malloc(patches * sizeof *b->flat->patches);
	b->number = malloc(patches * sizeof *b->number);
	b->corners = malloc(triangles * sizeof *b->corners);
	b->surfaces = malloc(triangles * sizeof *b->surfaces);
	b->names = malloc((surfaces + 1) * sizeof *b->names);
	if (!b->flat->source_triangle || !b->flat->face || !b->flat->source_patch || !b->flat->patches ||
	    !b->number || !b->corners || !b->surfaces || !b->names)
		return false;
	number_patches(b);
	return build_mesh(b) && build_grids(b);
}

// Whether the new surface is worth having.
static bool is_worth_it(const builder *b)
{
	const int32_t count = b->mesh->triangle_count;
	int32_t flat = 0;
	for (int32_t p = 0; p < b->planes.count; p++)
		flat += b->planes.plane[p].triangles;
	return count - b->surgery.triangle_count > count / LEAST_GAIN || flat > count / LEAST_FLAT;
}

tac_result tac_flat_build(const tac_mesh *mesh, double epsilon, tac_flat **out_flat)
{
	*out_flat = NULL;
	builder b = {.mesh = mesh};
	tac_flat_surgery *s = &b.surgery;
	bool complete = tac_flat_find_planes(mesh, epsilon, &b.planes) == TAC_OK;
	bool any = complete && b.planes.count > 0;
	if (any)
		complete = operate(&b, epsilon);
	any = any && complete && is_worth_it(&b);
	if (any)
		complete = build_result(&b);
	if (any && complete && is_sound(&b)) {
		*out_flat = b.flat;
		b.flat = NULL;
	}
	tac_flat_destroy(&b.flat);
	free(b.planes.patch);
	free(b.planes.plane);
	free(s->triangles);
	free(s->first);
	free(s->degree);
	free(s->next);
	free(s->previous);
	free(b.number);
	free(b.corners);
	free(b.surfaces);
	free(b.names);
	return complete ? TAC_OK : TAC_ERROR_MEMORY;
}

void tac_flat_destroy(tac_flat **flat)
{
	if (!*flat)
		return;
	tac_mesh_destroy(&(*flat)->mesh);
	free((*flat)->source_triangle);
	free((*flat)->face);
	free((*flat)->source_patch);
	free((*flat)->patches);
	free((*flat)->cells);
	free(*flat);
	*flat = NULL;
}
