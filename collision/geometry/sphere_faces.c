#include "collision/geometry/sphere_faces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A face of fewer triangles is not worth it.
#define TRIANGLES_MIN 256
// Triangles of the first fit, and by how much each later fit may have more. A fit of few triangles is off by
// more than the tolerance further away.
#define FIRST_FIT  48
#define FIT_GROWTH 4
// Triangles from which faces are grown, spread over the mesh: a face of less than one in so many may be
// missed.
#define SEEDS 512
// The solid angle of a face, as a fraction of that of its cone, at least: borders are jagged by a triangle.
// Above the second, it is a whole sphere.
#define CAP_SHARE   0.95
#define WHOLE_SHARE 0.9999
// A sphere of more radii than this of the triangles that it is fitted to is flat.
#define FLAT_RADII 1e3

#define PI 3.14159265358979323846

typedef struct finder {
	const tac_mesh *mesh;
	double tolerance;
	uint8_t *of_triangle;
	int32_t *visited; // the number of the growth that visited a triangle
	int32_t growth;
	int32_t *region, count; // triangles, in the order in which they were reached
	tac_dvec3 centre;
	double radius;
} finder;

static tac_dvec3 vertex(const finder *f, int32_t t, int k)
{
	return tac_mesh_corner(f->mesh, t, k);
}

// The sphere through the vertices of the region, by least squares. False if they are flat.
static bool fit(finder *f)
{
	tac_dvec3 mean = tac_dvec3_zero();
	for (int32_t i = 0; i < 3 * f->count; i++)
		mean = tac_dvec3_add(mean, vertex(f, f->region[i / 3], i % 3));
	mean = tac_dvec3_scale(mean, 1.0 / (3 * f->count));
	// |p|^2 = 2 c.p + k for vertices p from the mean: the sum of p is 0, so c and k are independent.
	double m[3][3] = {{0}}, b[3] = {0}, size = 0;
	for (int32_t i = 0; i < 3 * f->count; i++) {
		const tac_dvec3 v = tac_dvec3_sub(vertex(f, f->region[i / 3], i % 3), mean);
		const double p[3] = {v.x, v.y, v.z}, square = tac_dvec3_length_squared(v);
		size = fmax(size, square);
		for (int j = 0; j < 3; j++) {
			b[j] += 0.5 * square * p[j];
			for (int k = 0; k < 3; k++)
				m[j][k] += p[j] * p[k];
		}
	}
	const tac_dvec3 rows[3] = {tac_dvec3_make(m[0][0], m[0][1], m[0][2]),
				   tac_dvec3_make(m[1][0], m[1][1], m[1][2]),
				   tac_dvec3_make(m[2][0], m[2][1], m[2][2])};
	const tac_dvec3 yz = tac_dvec3_cross(rows[1], rows[2]), zx = tac_dvec3_cross(rows[2], rows[0]),
			xy = tac_dvec3_cross(rows[0], rows[1]);
	const double determinant = tac_dvec3_dot(rows[0], yz);
	if (!(determinant > 0))
		return false;
	const tac_dvec3 c = tac_dvec3_scale(
		tac_dvec3_add(tac_dvec3_add(tac_dvec3_scale(yz, b[0]), tac_dvec3_scale(zx, b[1])),
			      tac_dvec3_scale(xy, b[2])),
		1 / determinant);
	f->centre = tac_dvec3_add(mean, c);
	f->radius = 0;
	for (int32_t i = 0; i < 3 * f->count; i++)
		f->radius += tac_dvec3_length(tac_dvec3_sub(vertex(f, f->region[i / 3], i % 3), f->centre)) /
			     (3 * f->count);
	return f->radius < FLAT_RADII * sqrt(size);
}

// The distances from the centre between which a triangle lies. Its plane is closest inside of it, or at
// least no closer.
static void shell_of(const finder *f, int32_t t, double *inner, double *outer)
{
	tac_dvec3 v[3];
	for (int k = 0; k < 3; k++) {
		v[k] = tac_dvec3_sub(vertex(f, t, k), f->centre);
		*outer = fmax(*outer, tac_dvec3_length(v[k]));
	}
	*inner = fmin(*inner, fabs(tac_dvec3_dot(tac_dvec3_triangle_normal(v[0], v[1], v[2]), v[0])));
}

static bool is_on_sphere(const finder *f, int32_t t)
{
	double inner = HUGE_VAL, outer = 0;
	shell_of(f, t, &inner, &outer);
	return outer <= f->radius + f->tolerance && inner >= f->radius - f->tolerance;
}

// The triangle beyond edge k; -1: none that a face may have.
static int32_t neighbour(const tac_mesh *mesh, int32_t t, int k)
{
	const tac_mesh_edge *edge = &mesh->edges[mesh->triangle_edges[t].vertex[k]];
	if (edge->triangle_count != 2)
		return -1;
	const int32_t other = edge->triangle[edge->triangle[0] == t];
	return mesh->triangle_surface[other] == mesh->triangle_surface[t] ? other : -1;
}

// Fills the region with triangles around the seed; with `fitted`, with those on the sphere.
static void grow(finder *f, int32_t seed, bool fitted, int32_t most)
{
	f->growth++;
	f->region[0] = seed;
	f->visited[seed] = f->growth;
	f->count = 1;
	for (int32_t i = 0; i < f->count && f->count < most; i++) {
		for (int k = 0; k < 3 && f->count < most; k++) {
			const int32_t t = neighbour(f->mesh, f->region[i], k);
			if (t < 0 || f->visited[t] == f->growth || f->of_triangle[t])
				continue;
			f->visited[t] = f->growth;
			if (!fitted || is_on_sphere(f, t))
				f->region[f->count++] = t;
		}
	}
}

// The solid angle of a triangle at the centre, from the unit vectors to its vertices (A. van Oosterom, J.
// Strackee, 1983).
static double solid_angle(const tac_dvec3 u[3])
{
	const double volume = fabs(tac_dvec3_dot(u[0], tac_dvec3_cross(u[1], u[2])));
	return 2 * atan2(volume, 1 + tac_dvec3_dot(u[0], u[1]) + tac_dvec3_dot(u[1], u[2]) +
					 tac_dvec3_dot(u[2], u[0]));
}

static void directions(const finder *f, int32_t t, tac_dvec3 out[3])
{
	for (int k = 0; k < 3; k++)
		out[k] = tac_dvec3_normalize(tac_dvec3_sub(vertex(f, t, k), f->centre));
}

// Sets the cone of the region; false if the region is not a cap.
static bool find_cone(const finder *f, tac_sphere_face *face)
{
	tac_dvec3 sum = tac_dvec3_zero(), u[3];
	double angle = 0;
	for (int32_t i = 0; i < f->count; i++) {
		directions(f, f->region[i], u);
		const double a = solid_angle(u);
		angle += a;
		sum = tac_dvec3_add_scaled(sum, a, tac_dvec3_add(tac_dvec3_add(u[0], u[1]), u[2]));
	}
	face->axis = tac_dvec3_make(0, 0, 1);
	face->cosine = -1;
	if (angle >= WHOLE_SHARE * 4 * PI)
		return true;
	face->axis = tac_dvec3_normalize(sum);
	face->cosine = 1;
	for (int32_t i = 0; i < f->count; i++) {
		directions(f, f->region[i], u);
		for (int k = 0; k < 3; k++)
			face->cosine = fmin(face->cosine, tac_dvec3_dot(face->axis, u[k]));
	}
	return angle >= CAP_SHARE * 2 * PI * (1 - face->cosine);
}

// The cell of a direction.
static void cell_of(tac_dvec3 d, int at[3])
{
	const double x[3] = {d.x, d.y, d.z};
	int side = fabs(x[1]) > fabs(x[0]) ? 1 : 0;
	side = fabs(x[2]) > fabs(x[side]) ? 2 : side;
	at[0] = 2 * side + (x[side] < 0);
	for (int k = 1; k < 3; k++) {
		const double part = 0.5 + 0.5 * x[(side + k) % 3] / fabs(x[side]);
		at[k] = (int)fmin(TAC_SPHERE_FACE_CELLS - 1, fmax(0, TAC_SPHERE_FACE_CELLS * part));
	}
}

static tac_dvec3 cell_direction(int side, int i, int j)
{
	double x[3];
	x[side / 2] = side % 2 ? -1 : 1;
	x[(side / 2 + 1) % 3] = (2 * i + 1.0) / TAC_SPHERE_FACE_CELLS - 1;
	x[(side / 2 + 2) % 3] = (2 * j + 1.0) / TAC_SPHERE_FACE_CELLS - 1;
	return tac_dvec3_normalize(tac_dvec3_make(x[0], x[1], x[2]));
}

#define CELLS (6 * TAC_SPHERE_FACE_CELLS * TAC_SPHERE_FACE_CELLS)

// Puts a triangle into each cell: one whose middle is in it, or that of the nearest cell that has one.
static void fill_cells(const finder *f, tac_sphere_face *face)
{
	int32_t *cells = &face->cells[0][0][0];
	tac_dvec3 to[CELLS];
	bool own[CELLS];
	for (int i = 0; i < CELLS; i++) {
		cells[i] = -1;
		to[i] = cell_direction(i / (TAC_SPHERE_FACE_CELLS * TAC_SPHERE_FACE_CELLS),
				       i / TAC_SPHERE_FACE_CELLS % TAC_SPHERE_FACE_CELLS,
				       i % TAC_SPHERE_FACE_CELLS);
	}
	for (int32_t i = 0; i < f->count; i++) {
		tac_dvec3 u[3];
		int at[3];
		directions(f, f->region[i], u);
		cell_of(tac_dvec3_add(tac_dvec3_add(u[0], u[1]), u[2]), at);
		face->cells[at[0]][at[1]][at[2]] = f->region[i];
	}
	for (int i = 0; i < CELLS; i++)
		own[i] = cells[i] >= 0;
	for (int i = 0; i < CELLS; i++) {
		double most = -2;
		for (int j = 0; j < CELLS && !own[i]; j++) {
			if (own[j] && tac_dvec3_dot(to[i], to[j]) > most) {
				most = tac_dvec3_dot(to[i], to[j]);
				cells[i] = cells[j];
			}
		}
	}
}

// Grows a face from the seed. False if there is none.
static bool find_face(finder *f, int32_t seed, tac_sphere_face *out)
{
	grow(f, seed, false, FIRST_FIT);
	for (int32_t most = FIRST_FIT; f->count >= FIRST_FIT;) {
		if (!fit(f))
			return false;
		most = most < f->mesh->triangle_count / FIT_GROWTH ? FIT_GROWTH * most
								   : f->mesh->triangle_count;
		const int32_t before = f->count;
		grow(f, seed, true, most);
		if (f->count < most || f->count == before)
			break;
	}
	// Once more with the centre that all of it gives.
	if (f->count < TRIANGLES_MIN || !fit(f))
		return false;
	grow(f, seed, true, f->mesh->triangle_count);
	if (f->count < TRIANGLES_MIN)
		return false;
	*out = (tac_sphere_face){.centre = f->centre, .inner = HUGE_VAL, .triangle_count = f->count};
	for (int32_t i = 0; i < f->count; i++)
		shell_of(f, f->region[i], &out->inner, &out->outer);
	if (out->outer - out->inner > f->tolerance || !find_cone(f, out))
		return false;
	fill_cells(f, out);
	return true;
}

// Adds a face, in place of the smallest one if there is no room.
static void add_face(finder *f, tac_sphere_faces *faces, const tac_sphere_face *face)
{
	int32_t at = faces->count;
	if (at == TAC_SPHERE_FACES_MAX) {
		at = 0;
		for (int32_t i = 1; i < TAC_SPHERE_FACES_MAX; i++) {
			if (faces->faces[i].triangle_count < faces->faces[at].triangle_count)
				at = i;
		}
		if (faces->faces[at].triangle_count >= face->triangle_count)
			return;
		for (int32_t t = 0; t < f->mesh->triangle_count; t++) {
			if (f->of_triangle[t] == at + 1)
				f->of_triangle[t] = 0;
		}
	} else {
		faces->count++;
	}
	faces->faces[at] = *face;
	for (int32_t i = 0; i < f->count; i++)
		f->of_triangle[f->region[i]] = (uint8_t)(at + 1);
}

tac_result tac_sphere_faces_find(const tac_mesh *mesh, double tolerance, tac_sphere_faces **out_faces)
{
	*out_faces = NULL;
	const size_t count = (size_t)mesh->triangle_count;
	if (count < TRIANGLES_MIN)
		return TAC_OK;
	tac_sphere_faces *faces = calloc(1, sizeof *faces);
	finder f = {.mesh = mesh,
		    .tolerance = tolerance,
		    .of_triangle = calloc(count, 1),
		    .visited = calloc(count, sizeof *f.visited),
		    .region = calloc(count, sizeof *f.region)};
	const bool complete = faces && f.of_triangle && f.visited && f.region;
	const int32_t stride = mesh->triangle_count / SEEDS + 1;
	for (int32_t seed = 0; complete && seed < mesh->triangle_count; seed += stride) {
		tac_sphere_face face;
		if (!f.of_triangle[seed] && find_face(&f, seed, &face))
			add_face(&f, faces, &face);
	}
	free(f.visited);
	free(f.region);
	if (complete && faces->count > 0) {
		faces->of_triangle = f.of_triangle;
		*out_faces = faces;
	} else {
		free(f.of_triangle);
		free(faces);
	}
	return complete ? TAC_OK : TAC_ERROR_MEMORY;
}

void tac_sphere_faces_destroy(tac_sphere_faces **faces)
{
	if (*faces)
		free((*faces)->of_triangle);
	free(*faces);
	*faces = NULL;
}

int32_t tac_sphere_face_triangle(const tac_sphere_face *face, const tac_mesh *mesh, tac_dvec3 direction)
{
	int at[3];
	cell_of(direction, at);
	int32_t t = face->cells[at[0]][at[1]][at[2]];
	for (int step = 0; step < TAC_SPHERE_FACE_WALK; step++) {
		tac_dvec3 v[3];
		for (int k = 0; k < 3; k++)
			v[k] = tac_dvec3_sub(tac_mesh_corner(mesh, t, k), face->centre);
		const double side = tac_dvec3_dot(v[0], tac_dvec3_cross(v[1], v[2])) < 0 ? -1 : 1;
		int32_t next = -1;
		double most = 0;
		// Beyond the edge whose plane through the centre the direction is furthest behind.
		for (int k = 0; k < 3; k++) {
			const tac_dvec3 plane = tac_dvec3_cross(v[k], v[(k + 1) % 3]);
			const double behind = -side * tac_dvec3_dot(plane, direction);
			if (behind > most && neighbour(mesh, t, k) >= 0) {
				most = behind;
				next = neighbour(mesh, t, k);
			}
		}
		if (next < 0)
			break;
		t = next;
	}
	return t;
}
