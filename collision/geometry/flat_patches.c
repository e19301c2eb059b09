#include "collision/geometry/flat.h"

#include "collision/geometry/predicate.h"

#include <math.h>
#include <stdlib.h>

// The least cosine between a patch's normal and that of a triangle. Vertices within the tolerance of the
// plane keep all but slivers far above it.
#define FACING 0.99
// A triangle of a patch has at least this height over its longest edge, relative to the edge: well above what
// a mesh drops as degenerate.
#define SLIVER 1e-11
// How often a patch is grown again on the plane fitted to it.
#define FITS 8

typedef struct growth {
	const tac_mesh *mesh;
	tac_flat_planes *planes;
	double epsilon;
	int32_t *queue;
	int32_t count;   // triangles in the queue
	uint32_t *stamp; // per triangle: the number of the last growth that had it
	uint32_t number; // of this growth
} growth;

bool tac_flat_is_triangle(const tac_flat_plane *plane, const tac_vec3 *vertices, int32_t a, int32_t b,
			  int32_t c)
{
	double p[3][2];
	tac_flat_project(plane, vertices[a], p[0]);
	tac_flat_project(plane, vertices[b], p[1]);
	tac_flat_project(plane, vertices[c], p[2]);
	if (tac_predicate_orient2d(p[0], p[1], p[2]) <= 0)
		return false;
	tac_dvec3 x = tac_dvec3_from_vec3(vertices[a]), y = tac_dvec3_from_vec3(vertices[b]),
		  z = tac_dvec3_from_vec3(vertices[c]);
	tac_dvec3 cross = tac_dvec3_triangle_cross(x, y, z);
	double length = tac_dvec3_length(cross);
	double longest = fmax(tac_dvec3_length_squared(tac_dvec3_sub(y, x)),
			      fmax(tac_dvec3_length_squared(tac_dvec3_sub(z, y)),
				   tac_dvec3_length_squared(tac_dvec3_sub(x, z))));
	return length > SLIVER * longest && tac_dvec3_dot(cross, plane->normal) >= FACING * length;
}

// The neighbour across edge k of a triangle that a patch may grow to; -1: none.
static int32_t neighbour(const growth *g, int32_t t, int k)
{
	const tac_mesh *mesh = g->mesh;
	const tac_mesh_edge *edge = &mesh->edges[mesh->triangle_edges[t].vertex[k]];
	if (edge->triangle_count != 2)
		return -1;
	int32_t other = edge->triangle[edge->triangle[0] == t];
	if (g->planes->patch[other] >= 0 || g->stamp[other] == g->number ||
	    mesh->triangle_surface[other] != mesh->triangle_surface[t])
		return -1;
	// The other triangle must run along the edge in the other direction.
	int32_t from = mesh->triangles[t].vertex[k], to = mesh->triangles[t].vertex[(k + 1) % 3];
	for (int j = 0; j < 3; j++) {
		if (mesh->triangles[other].vertex[j] == to)
			return mesh->triangles[other].vertex[(j + 1) % 3] == from ? other : -1;
	}
	return -1;
}

static double height(const growth *g, const tac_flat_plane *plane, int32_t vertex)
{
	return tac_dvec3_dot(plane->normal, tac_dvec3_from_vec3(g->mesh->vertices[vertex])) - plane->offset;
}

static void begin(growth *g, int32_t seed)
{
	g->number++;
	g->count = 1;
	g->queue[0] = seed;
	g->stamp[seed] = g->number;
}

// Sets the plane's normal, and its offset midway between the extreme vertices of the queue.
static void fit(const growth *g, tac_dvec3 area, tac_flat_plane *plane)
{
	plane->normal = tac_dvec3_normalize(area);
	const double n[3] = {fabs(plane->normal.x), fabs(plane->normal.y), fabs(plane->normal.z)};
	plane->axis = n[0] >= n[1] && n[0] >= n[2] ? 0 : n[1] >= n[2] ? 1 : 2;
	// Relative to a vertex, so that a plane along the axes is exact.
	plane->offset = 0;
	plane->offset = height(g, plane, g->mesh->triangles[g->queue[0]].vertex[0]);
	double lo = 0, hi = 0;
	for (int32_t i = 0; i < g->count; i++) {
		for (int k = 0; k < 3; k++) {
			double h = height(g, plane, g->mesh->triangles[g->queue[i]].vertex[k]);
			lo = fmin(lo, h);
			hi = fmax(hi, h);
		}
	}
	plane->offset += 0.5 * (lo + hi);
	plane->deviation = 0.5 * (hi - lo);
}

// A first guess: grows over neighbours whose vertices are near the mean plane of what there is. The vector
// area of many triangles has a far better direction than the normal of one.
static tac_dvec3 grow_freely(growth *g, int32_t seed)
{
	begin(g, seed);
	tac_dvec3 area = tac_mesh_triangle_cross(g->mesh, seed), centre = tac_dvec3_zero();
	for (int k = 0; k < 3; k++)
		centre = tac_dvec3_add_scaled(centre, 1.0 / 3, tac_mesh_corner(g->mesh, seed, k));
	for (int32_t i = 0; i < g->count; i++) {
		for (int k = 0; k < 3; k++) {
			int32_t other = neighbour(g, g->queue[i], k);
			if (other < 0)
				continue;
			const tac_mesh_edge *edge =
				&g->mesh->edges[g->mesh->triangle_edges[g->queue[i]].vertex[k]];
			tac_dvec3 cross = tac_mesh_triangle_cross(g->mesh, other);
			double length = tac_dvec3_length(area), size = tac_dvec3_length(cross);
			tac_dvec3 apex = tac_dvec3_from_vec3(
				g->mesh->vertices[tac_mesh_third_vertex(g->mesh, other, edge)]);
			if (fabs(tac_dvec3_dot(area, tac_dvec3_sub(apex, centre))) > g->epsilon * length ||
			    tac_dvec3_dot(area, cross) < FACING * length * size)
				continue;
			g->stamp[other] = g->number;
			g->queue[g->count++] = other;
			area = tac_dvec3_add(area, cross);
			centre = tac_dvec3_add_scaled(centre, size / tac_dvec3_length(area),
						      tac_dvec3_sub(apex, centre));
		}
	}
	return area;
}

static bool belongs(const growth *g, const tac_flat_plane *plane, int32_t t)
{
	const int32_t *v = g->mesh->triangles[t].vertex;
	for (int k = 0; k < 3; k++) {
		if (!(fabs(height(g, plane, v[k])) <= g->epsilon))
			return false;
	}
	return tac_flat_is_triangle(plane, g->mesh->vertices, v[0], v[1], v[2]);
}

// Grows within the tolerance of a plane. Returns the vector area.
static tac_dvec3 grow_on(growth *g, const tac_flat_plane *plane, int32_t seed)
{
	begin(g, seed);
	tac_dvec3 area = tac_dvec3_zero();
	if (!belongs(g, plane, seed))
		g->count = 0;
	for (int32_t i = 0; i < g->count; i++) {
		area = tac_dvec3_add(area, tac_mesh_triangle_cross(g->mesh, g->queue[i]));
		for (int k = 0; k < 3; k++) {
			int32_t other = neighbour(g, g->queue[i], k);
			if (other < 0 || !belongs(g, plane, other))
				continue;
			g->stamp[other] = g->number;
			g->queue[g->count++] = other;
		}
	}
	return area;
}

// Finds the patch around a triangle and adds it when it has more than one.
static bool add_patch(growth *g, int32_t seed)
{
	tac_dvec3 area = grow_freely(g, seed);
	if (g->count < 2)
		return true;
	tac_flat_plane plane = {0};
	fit(g, area, &plane);
	int32_t before = 0;
	for (int i = 0; i < FITS; i++) {
		area = grow_on(g, &plane, seed);
		if (g->count < 2)
			return true;
		if (g->count <= before + before / 8)
			break;
		before = g->count;
		if (i + 1 < FITS)
			fit(g, area, &plane);
	}
	double offset = plane.offset;
	fit(g, plane.normal, &plane);
	if (!(plane.deviation <= g->epsilon))
		plane.offset = offset;
	plane.triangles = g->count;
	tac_flat_planes *planes = g->planes;
	if ((planes->count & (planes->count - 1)) == 0) {
		size_t room = planes->count ? 2 * (size_t)planes->count : 1;
		tac_flat_plane *more = realloc(planes->plane, room * sizeof *more);
		if (!more)
			return false;
		planes->plane = more;
	}
	for (int32_t i = 0; i < g->count; i++)
		planes->patch[g->queue[i]] = planes->count;
	planes->plane[planes->count++] = plane;
	return true;
}

tac_result tac_flat_find_planes(const tac_mesh *mesh, double epsilon, tac_flat_planes *out_planes)
{
	size_t count = (size_t)mesh->triangle_count;
	*out_planes = (tac_flat_planes){.patch = malloc((count + 1) * sizeof(int32_t))};
	growth g = {.mesh = mesh,
		    .planes = out_planes,
		    .epsilon = epsilon,
		    .queue = malloc((count + 1) * sizeof *g.queue),
		    .stamp = calloc(count + 1, sizeof *g.stamp)};
	bool complete = out_planes->patch && g.queue && g.stamp;
	for (int32_t t = 0; complete && t < mesh->triangle_count; t++)
		out_planes->patch[t] = -1;
	for (int32_t t = 0; complete && t < mesh->triangle_count; t++) {
		if (out_planes->patch[t] < 0)
			complete = add_patch(&g, t);
	}
	free(g.queue);
	free(g.stamp);
	return complete ? TAC_OK : TAC_ERROR_MEMORY;
}
