#include "collision/mesh_shapes.h"

#include "base/assert.h"
#include "base/log.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define PI               3.14159265358979323846
#define SUBDIVISIONS_MAX 9 // 5.2 million triangles
#define NAME_CAPACITY    24

// A shape under construction, with capacity for the counts given to shape_begin. Vertices may repeat:
// tac_mesh_build welds them, so neighbouring bands need only compute their common positions identically.
typedef struct shape {
	tac_vec3 *vertices;
	tac_mesh_triangle *triangles;
	int32_t *triangle_surface;
	char (*names)[NAME_CAPACITY];
	const char **surface_names;
	int32_t vertex_count, triangle_count, surface_count;
	int64_t vertex_capacity, triangle_capacity, surface_capacity;
} shape;

// One ring of a shape of revolution: `count` vertices from `first`, counter-clockwise seen from +z. A single
// vertex is a pole on the axis.
typedef struct ring {
	int32_t first, count;
} ring;

typedef enum section { SECTION_CIRCLE, SECTION_SQUARE } section;

static tac_result refuse(const char *message)
{
	tac_log(TAC_LOG_ERROR, "%s", message);
	return TAC_ERROR_ARGUMENT;
}

static bool is_length(float value)
{
	return isfinite(value) && value > 0;
}

// At most TAC_MESH_MAX, so that the product of two counts fits an int64_t.
static bool is_count(int32_t value, int32_t least)
{
	return value >= least && value <= TAC_MESH_MAX;
}

static bool is_round_shape(float radius, float height, int32_t segments, int32_t rings)
{
	return is_length(radius) && is_length(height) && is_count(segments, 3) && is_count(rings, 1);
}

static void shape_end(shape *s)
{
	free(s->vertices);
	free(s->triangles);
	free(s->triangle_surface);
	free(s->names);
	free(s->surface_names);
}

static tac_result shape_begin(shape *s, int64_t vertices, int64_t triangles, int64_t surfaces)
{
	*s = (shape){
		.vertex_capacity = vertices, .triangle_capacity = triangles, .surface_capacity = surfaces};
	if (vertices > TAC_MESH_MAX || triangles > TAC_MESH_MAX)
		return refuse("shape: expected at most 500 million vertices and triangles, found more");
	s->vertices = calloc((size_t)vertices, sizeof *s->vertices);
	s->triangles = calloc((size_t)triangles, sizeof *s->triangles);
	s->triangle_surface = calloc((size_t)triangles, sizeof *s->triangle_surface);
	s->names = calloc((size_t)surfaces, sizeof *s->names);
	s->surface_names = calloc((size_t)surfaces, sizeof *s->surface_names);
	if (s->vertices && s->triangles && s->triangle_surface && s->names && s->surface_names)
		return TAC_OK;
	shape_end(s);
	tac_log(TAC_LOG_ERROR, "shape: no memory for %lld triangles", (long long)triangles);
	return TAC_ERROR_MEMORY;
}

static tac_result shape_build(shape *s, tac_mesh **out_mesh)
{
	tac_mesh_def def = tac_mesh_def_default();
	def.name = "shape";
	def.vertices = s->vertices;
	def.vertex_count = s->vertex_count;
	def.triangles = s->triangles;
	def.triangle_count = s->triangle_count;
	def.triangle_surface = s->triangle_surface;
	def.surface_names = s->surface_names;
	def.surface_count = s->surface_count;
	const tac_result result = tac_mesh_build(&def, out_mesh);
	shape_end(s);
	return result;
}

static int32_t add_vertex(shape *s, double x, double y, double z)
{
	TAC_ASSERT(s->vertex_count < s->vertex_capacity);
	s->vertices[s->vertex_count] = (tac_vec3){(float)x, (float)y, (float)z};
	return s->vertex_count++;
}

static void add_triangle(shape *s, int32_t surface, int32_t a, int32_t b, int32_t c)
{
	TAC_ASSERT(s->triangle_count < s->triangle_capacity);
	s->triangles[s->triangle_count] = (tac_mesh_triangle){{a, b, c}};
	s->triangle_surface[s->triangle_count++] = surface;
}

__attribute__((format(printf, 2, 3))) static int32_t add_surface(shape *s, const char *format, ...)
{
	TAC_ASSERT(s->surface_count < s->surface_capacity);
	va_list args;
	va_start(args, format);
	vsnprintf(s->names[s->surface_count], NAME_CAPACITY, format, args);
	va_end(args);
	s->surface_names[s->surface_count] = s->names[s->surface_count];
	return s->surface_count++;
}

static ring add_pole(shape *s, double z)
{
	return (ring){add_vertex(s, 0, 0, z), 1};
}

// Starts at -45 degrees, where a square whose count is a multiple of 4 has a corner. The points of a circle
// and of a square with the same count lie on the same rays, so the band between them never folds.
static ring add_ring(shape *s, section form, int32_t count, double radius, double z)
{
	const ring r = {s->vertex_count, count};
	for (int32_t k = 0; k < count; k++) {
		const double angle = -PI / 4 + 2 * PI * k / count;
		const double x = cos(angle), y = sin(angle);
		const double distance = form == SECTION_SQUARE ? radius / fmax(fabs(x), fabs(y)) : radius;
		add_vertex(s, distance * x, distance * y, z);
	}
	return r;
}

// In the half plane (r, z) the outside is to the right of the direction from `from` to `to`: on the outside
// of a shape the profile runs upwards.
static void add_band(shape *s, int32_t surface, ring from, ring to)
{
	const int32_t count = from.count > to.count ? from.count : to.count;
	for (int32_t k = 0; k < count; k++) {
		const int32_t next = (k + 1) % count;
		const int32_t a = from.first + k, b = from.first + next;
		const int32_t c = to.first + next, d = to.first + k;
		if (to.count == 1) {
			add_triangle(s, surface, a, b, to.first);
		} else if (from.count == 1) {
			add_triangle(s, surface, from.first, c, d);
		} else {
			add_triangle(s, surface, a, b, c);
			add_triangle(s, surface, a, c, d);
		}
	}
}

// Adds `bands` bands from the ring `from`, whose radius and height are given, to a ring of another radius and
// height, which it returns.
static ring add_bands(shape *s, int32_t surface, section form, int32_t bands, ring from, double from_radius,
		      double from_z, double to_radius, double to_z)
{
	for (int32_t i = 1; i <= bands; i++) {
		// The last ring uses the given radius and height, not interpolated ones.
		const double f = (double)i / bands;
		const double radius = i == bands ? to_radius : from_radius + f * (to_radius - from_radius);
		const double z = i == bands ? to_z : from_z + f * (to_z - from_z);
		const ring to = add_ring(s, form, from.count, radius, z);
		add_band(s, surface, from, to);
		from = to;
	}
	return from;
}

// The triangles of a grid of (nx + 1) (ny + 1) vertices from `first`, y fastest. Their normal is x cross y,
// or the opposite if `reversed`.
static void add_grid(shape *s, int32_t surface, int32_t first, int32_t nx, int32_t ny, bool reversed)
{
	for (int32_t i = 0; i < nx; i++) {
		for (int32_t j = 0; j < ny; j++) {
			const int32_t a = first + i * (ny + 1) + j, b = a + ny + 1;
			add_triangle(s, surface, a, reversed ? b + 1 : b, reversed ? b : b + 1);
			add_triangle(s, surface, a, reversed ? a + 1 : b + 1, reversed ? b + 1 : a + 1);
		}
	}
}

tac_result tac_mesh_build_box(tac_vec3 size, int32_t segments, tac_mesh **out_mesh)
{
	*out_mesh = NULL;
	if (!is_length(size.x) || !is_length(size.y) || !is_length(size.z) || !is_count(segments, 1))
		return refuse("box: expected positive lengths and at least 1 segment");
	shape s;
	const int64_t n = segments;
	const tac_result result = shape_begin(&s, 6 * (n + 1) * (n + 1), 12 * n * n, 6);
	if (result < 0)
		return result;
	const double extent[3] = {(double)size.x, (double)size.y, (double)size.z};
	for (int face = 0; face < 6; face++) {
		const int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
		const bool positive = face % 2 == 1;
		const int32_t surface = add_surface(&s, "%c%c", positive ? '+' : '-', "xyz"[axis]);
		const int32_t first = s.vertex_count;
		for (int32_t i = 0; i <= segments; i++) {
			for (int32_t j = 0; j <= segments; j++) {
				double p[3];
				p[axis] = positive ? extent[axis] / 2 : -extent[axis] / 2;
				p[u] = extent[u] * ((double)i / segments - 0.5);
				p[v] = extent[v] * ((double)j / segments - 0.5);
				add_vertex(&s, p[0], p[1], p[2]);
			}
		}
		add_grid(&s, surface, first, segments, segments, !positive); // u x v points along +axis
	}
	return shape_build(&s, out_mesh);
}

// The midpoint of an arc. The sum does not depend on the order, so both triangles of an edge get the same
// point.
static tac_dvec3 arc_midpoint(tac_dvec3 a, tac_dvec3 b)
{
	return tac_dvec3_normalize(tac_dvec3_add(a, b));
}

static void add_sphere_triangle(shape *s, int32_t depth, double radius, tac_dvec3 a, tac_dvec3 b, tac_dvec3 c)
{
	if (depth == 0) {
		const int32_t i = add_vertex(s, radius * a.x, radius * a.y, radius * a.z);
		add_vertex(s, radius * b.x, radius * b.y, radius * b.z);
		add_vertex(s, radius * c.x, radius * c.y, radius * c.z);
		add_triangle(s, 0, i, i + 1, i + 2);
		return;
	}
	const tac_dvec3 ab = arc_midpoint(a, b), bc = arc_midpoint(b, c), ca = arc_midpoint(c, a);
	add_sphere_triangle(s, depth - 1, radius, a, ab, ca);
	add_sphere_triangle(s, depth - 1, radius, ab, b, bc);
	add_sphere_triangle(s, depth - 1, radius, ca, bc, c);
	add_sphere_triangle(s, depth - 1, radius, ab, bc, ca);
}

tac_result tac_mesh_build_icosphere(float radius, int32_t subdivisions, tac_mesh **out_mesh)
{
	*out_mesh = NULL;
	if (!is_length(radius) || subdivisions < 0 || subdivisions > SUBDIVISIONS_MAX)
		return refuse("icosphere: expected a positive radius and 0 to 9 subdivisions");
	const int64_t triangles = INT64_C(20) << (2 * subdivisions);
	shape s;
	const tac_result result = shape_begin(&s, 3 * triangles, triangles, 1);
	if (result < 0)
		return result;
	add_surface(&s, "sphere");
	// Poles on z, two rings of five at height +-1/sqrt(5), rotated by 36 degrees to each other.
	tac_dvec3 low[5], high[5];
	for (int k = 0; k < 5; k++) {
		const double angle = 2 * PI * k / 5, h = 1 / sqrt(5.0), r = 2 * h;
		low[k] = (tac_dvec3){r * cos(angle), r * sin(angle), -h};
		high[k] = (tac_dvec3){r * cos(angle + PI / 5), r * sin(angle + PI / 5), h};
	}
	const tac_dvec3 south = {0, 0, -1}, north = {0, 0, 1};
	for (int k = 0; k < 5; k++) {
		const int next = (k + 1) % 5;
		const double r = (double)radius;
		add_sphere_triangle(&s, subdivisions, r, south, low[next], low[k]);
		add_sphere_triangle(&s, subdivisions, r, low[k], low[next], high[k]);
		add_sphere_triangle(&s, subdivisions, r, low[next], high[next], high[k]);
		add_sphere_triangle(&s, subdivisions, r, high[k], high[next], north);
	}
	return shape_build(&s, out_mesh);
}

// Adds `bands` bands of a sphere from the ring `last`, at latitude `from_rad`, to latitude `to_rad`; returns
// the ring there.
static ring add_latitudes(shape *s, int32_t surface, int32_t bands, ring last, double radius, double centre_z,
			  double from_rad, double to_rad)
{
	const int32_t segments = last.count;
	for (int32_t i = 1; i <= bands; i++) {
		const double latitude = from_rad + (to_rad - from_rad) * i / bands;
		const ring next = add_ring(s, SECTION_CIRCLE, segments, radius * cos(latitude),
					   centre_z + radius * sin(latitude));
		add_band(s, surface, last, next);
		last = next;
	}
	return last;
}

tac_result tac_mesh_build_uv_sphere(float radius, int32_t segments, int32_t rings, tac_mesh **out_mesh)
{
	*out_mesh = NULL;
	if (!is_length(radius) || !is_count(segments, 3) || !is_count(rings, 2))
		return refuse("uv sphere: expected a positive radius, at least 3 segments and 2 rings");
	shape s;
	const tac_result result =
		shape_begin(&s, (int64_t)segments * (rings - 1) + 2, INT64_C(2) * segments * (rings - 1), 1);
	if (result < 0)
		return result;
	const double r = (double)radius, step = PI / rings;
	const int32_t sphere = add_surface(&s, "sphere");
	const ring south = add_pole(&s, -r);
	const ring first = add_ring(&s, SECTION_CIRCLE, segments, r * sin(step), -r * cos(step));
	add_band(&s, sphere, south, first);
	const ring last = add_latitudes(&s, sphere, rings - 2, first, r, 0, step - PI / 2, PI / 2 - step);
	add_band(&s, sphere, last, add_pole(&s, r));
	return shape_build(&s, out_mesh);
}

tac_result tac_mesh_build_torus(float major_radius, float minor_radius, int32_t segments, int32_t sides,
				tac_mesh **out_mesh)
{
	*out_mesh = NULL;
	if (!is_length(major_radius) || !is_length(minor_radius) || minor_radius >= major_radius ||
	    !is_count(segments, 3) || !is_count(sides, 3))
		return refuse("torus: expected 0 < minor radius < major radius and "
			      "at least 3 segments and sides");
	shape s;
	const tac_result result =
		shape_begin(&s, (int64_t)segments * sides, INT64_C(2) * segments * sides, 1);
	if (result < 0)
		return result;
	const int32_t torus = add_surface(&s, "torus");
	ring first = {0, 0}, last = {0, 0};
	for (int32_t i = 0; i < sides; i++) {
		const double angle = 2 * PI * i / sides;
		const ring r = add_ring(&s, SECTION_CIRCLE, segments,
					(double)major_radius + (double)minor_radius * cos(angle),
					(double)minor_radius * sin(angle));
		if (i == 0)
			first = r;
		else
			add_band(&s, torus, last, r);
		last = r;
	}
	add_band(&s, torus, last, first);
	return shape_build(&s, out_mesh);
}

tac_result tac_mesh_build_grid(float size_x, float size_y, int32_t nx, int32_t ny, tac_mesh **out_mesh)
{
	*out_mesh = NULL;
	if (!is_length(size_x) || !is_length(size_y) || !is_count(nx, 1) || !is_count(ny, 1))
		return refuse("grid: expected positive lengths and counts of at least 1");
	shape s;
	const tac_result result =
		shape_begin(&s, ((int64_t)nx + 1) * ((int64_t)ny + 1), INT64_C(2) * nx * ny, 1);
	if (result < 0)
		return result;
	const int32_t grid = add_surface(&s, "grid");
	for (int32_t i = 0; i <= nx; i++)
		for (int32_t j = 0; j <= ny; j++)
			add_vertex(&s, (double)size_x * ((double)i / nx - 0.5),
				   (double)size_y * ((double)j / ny - 0.5), 0);
	add_grid(&s, grid, 0, nx, ny, false);
	return shape_build(&s, out_mesh);
}

// A cylinder with an optional chamfer at its lower edge, or a cone, whose upper end is the tip.
static tac_result build_cylinder_or_cone(double radius, double height, double chamfer, bool cone,
					 int32_t segments, int32_t bands, tac_mesh **out_mesh)
{
	shape s;
	const int64_t rings = (int64_t)bands + 4;
	const tac_result result = shape_begin(&s, segments * rings + 2, 2 * segments * rings, 4);
	if (result < 0)
		return result;
	const double low = -height / 2, high = height / 2;
	double r = radius - chamfer, z = low;
	const int32_t bottom = add_surface(&s, "bottom");
	ring last = add_ring(&s, SECTION_CIRCLE, segments, r, z);
	add_band(&s, bottom, add_pole(&s, low), last);
	if (chamfer > 0) {
		const int32_t edge = add_surface(&s, "chamfer");
		last = add_bands(&s, edge, SECTION_CIRCLE, 1, last, r, z, radius, low + chamfer);
		r = radius;
		z = low + chamfer;
	}
	const int32_t side = add_surface(&s, "side");
	if (cone) {
		const double below_tip = (double)(bands - 1) / bands; // the fraction of the height
		last = add_bands(&s, side, SECTION_CIRCLE, bands - 1, last, r, z, r * (1 - below_tip),
				 z + height * below_tip);
		add_band(&s, side, last, add_pole(&s, high));
	} else {
		last = add_bands(&s, side, SECTION_CIRCLE, bands, last, r, z, radius, high);
		add_band(&s, add_surface(&s, "top"), last, add_pole(&s, high));
	}
	return shape_build(&s, out_mesh);
}

// The same without a chamfer, of checked dimensions.
static tac_result build_plain(float radius, float height, bool cone, int32_t segments, int32_t side_rings,
			      tac_mesh **out_mesh)
{
	*out_mesh = NULL;
	if (!is_round_shape(radius, height, segments, side_rings))
		return refuse(cone ? "cone: expected positive lengths, at least 3 segments and 1 ring"
				   : "cylinder: expected positive lengths, at least 3 segments and 1 ring");
	return build_cylinder_or_cone((double)radius, (double)height, 0, cone, segments, side_rings,
				      out_mesh);
}

tac_result tac_mesh_build_cylinder(float radius, float height, int32_t segments, int32_t side_rings,
				   tac_mesh **out_mesh)
{
	return build_plain(radius, height, false, segments, side_rings, out_mesh);
}

tac_result tac_mesh_build_cone(float radius, float height, int32_t segments, int32_t side_rings,
			       tac_mesh **out_mesh)
{
	return build_plain(radius, height, true, segments, side_rings, out_mesh);
}

tac_result tac_mesh_build_capsule(float radius, float height, int32_t segments, int32_t cap_rings,
				  tac_mesh **out_mesh)
{
	*out_mesh = NULL;
	if (!is_round_shape(radius, height, segments, cap_rings))
		return refuse("capsule: expected positive lengths, at least 3 segments and 1 ring");
	shape s;
	const int64_t rings = INT64_C(2) * cap_rings;
	const tac_result result = shape_begin(&s, segments * rings + 2, 2 * segments * (rings + 1), 3);
	if (result < 0)
		return result;
	const double r = (double)radius, half = (double)height / 2, step = PI / 2 / cap_rings;
	const int32_t bottom = add_surface(&s, "bottom"), side = add_surface(&s, "side");
	const int32_t top = add_surface(&s, "top");
	const ring south = add_pole(&s, -half - r);
	ring last = add_ring(&s, SECTION_CIRCLE, segments, r * sin(step), -half - r * cos(step));
	add_band(&s, bottom, south, last);
	last = add_latitudes(&s, bottom, cap_rings - 1, last, r, -half, step - PI / 2, 0);
	last = add_bands(&s, side, SECTION_CIRCLE, 1, last, r, -half, r, half);
	last = add_latitudes(&s, top, cap_rings - 1, last, r, half, 0, PI / 2 - step);
	add_band(&s, top, last, add_pole(&s, half + r));
	return shape_build(&s, out_mesh);
}

tac_mesh_filter_def tac_mesh_filter_def_default(void)
{
	return (tac_mesh_filter_def){
		.plates = 34,
		.plate_size = 0.65f,
		.plate_thickness = 0.0012f,
		.gap = 0.0087f,
		.spine_size = 0.07f,
		.side_segments = 7,
		.radial_segments = 4,
	};
}

tac_result tac_mesh_build_filter(const tac_mesh_filter_def *def, tac_mesh **out_mesh)
{
	*out_mesh = NULL;
	if (!is_count(def->plates, 1) || !is_length(def->plate_size) || !is_length(def->plate_thickness) ||
	    !is_length(def->gap) || !is_length(def->spine_size) || def->spine_size >= def->plate_size ||
	    !is_count(def->side_segments, 1) || !is_count(def->radial_segments, 1) ||
	    def->side_segments > TAC_MESH_MAX / 4)
		return refuse("filter: expected positive lengths and counts and "
			      "a spine thinner than the plates");
	const int32_t segments = 4 * def->side_segments, radial = def->radial_segments;
	const int64_t bands = def->plates * (INT64_C(2) * radial + 2) + 3;
	if (bands > TAC_MESH_MAX) // the products below would overflow
		return refuse("filter: expected at most 500 million bands, found more");
	shape s;
	const tac_result result =
		shape_begin(&s, segments * bands + 2, 2 * segments * bands, (int64_t)def->plates + 1);
	if (result < 0)
		return result;
	const double inner = (double)def->spine_size / 2, outer = (double)def->plate_size / 2;
	const double thickness = (double)def->plate_thickness, gap = (double)def->gap;
	const double height = def->plates * (thickness + gap) + gap;
	double z = -height / 2;
	const int32_t spine = add_surface(&s, "spine");
	ring last = add_ring(&s, SECTION_SQUARE, segments, inner, z);
	add_band(&s, spine, add_pole(&s, z), last);
	for (int32_t i = 0; i < def->plates; i++) {
		const int32_t plate = add_surface(&s, "plate %d", i);
		const double low = -height / 2 + gap + i * (thickness + gap), high = low + thickness;
		last = add_bands(&s, spine, SECTION_SQUARE, 1, last, inner, z, inner, low);
		last = add_bands(&s, plate, SECTION_SQUARE, radial, last, inner, low, outer, low);
		last = add_bands(&s, plate, SECTION_SQUARE, 1, last, outer, low, outer, high);
		last = add_bands(&s, plate, SECTION_SQUARE, radial, last, outer, high, inner, high);
		z = high;
	}
	last = add_bands(&s, spine, SECTION_SQUARE, 1, last, inner, z, inner, height / 2);
	add_band(&s, spine, last, add_pole(&s, height / 2));
	return shape_build(&s, out_mesh);
}

tac_mesh_peg_def tac_mesh_peg_def_default(void)
{
	return (tac_mesh_peg_def){
		.peg_radius = 0.010f,
		.peg_length = 0.060f,
		.chamfer = 0.001f,
		.clearance = 0.0001f,
		.block_size = 0.050f,
		.block_height = 0.040f,
		.segments = 64,
		.bands = 16,
	};
}

static tac_result check_peg(const tac_mesh_peg_def *d)
{
	// The corners of the hole's polygon are farthest from the axis; they must lie inside the block.
	if (!is_length(d->peg_radius) || !is_length(d->peg_length) || !is_length(d->block_size) ||
	    !is_length(d->block_height) || !(d->chamfer >= 0 && d->chamfer < d->peg_radius) ||
	    d->chamfer >= d->peg_length || !(d->clearance >= 0 && isfinite(d->clearance)) ||
	    !is_count(d->segments, 8) || d->segments % 4 != 0 || !is_count(d->bands, 1) ||
	    ((double)d->peg_radius + (double)d->clearance) / cos(PI / d->segments) >=
		    (double)d->block_size / 2)
		return refuse("peg: expected positive lengths, a chamfer below the peg's radius and length, "
			      "a hole inside the block, segments a multiple of 4 and at least 8");
	return TAC_OK;
}

tac_result tac_mesh_build_peg(const tac_mesh_peg_def *def, tac_mesh **out_mesh)
{
	*out_mesh = NULL;
	const tac_result checked = check_peg(def);
	if (checked < 0)
		return checked;
	return build_cylinder_or_cone((double)def->peg_radius, (double)def->peg_length, (double)def->chamfer,
				      false, def->segments, def->bands, out_mesh);
}

tac_result tac_mesh_build_block(const tac_mesh_peg_def *def, tac_mesh **out_mesh)
{
	*out_mesh = NULL;
	const tac_result checked = check_peg(def);
	if (checked < 0)
		return checked;
	const int32_t n = def->segments;
	shape s;
	const tac_result result =
		shape_begin(&s, n * ((int64_t)def->bands + 3), 2 * n * ((int64_t)def->bands + 3), 4);
	if (result < 0)
		return result;
	const double side = (double)def->block_size / 2, high = (double)def->block_height / 2;
	const double hole = ((double)def->peg_radius + (double)def->clearance) / cos(PI / n);
	const int32_t outside = add_surface(&s, "outside"), top = add_surface(&s, "top");
	const int32_t wall = add_surface(&s, "hole"), bottom = add_surface(&s, "bottom");
	const ring outer_low = add_ring(&s, SECTION_SQUARE, n, side, -high);
	const ring outer_high = add_bands(&s, outside, SECTION_SQUARE, 1, outer_low, side, -high, side, high);
	const ring inner_high = add_ring(&s, SECTION_CIRCLE, n, hole, high);
	add_band(&s, top, outer_high, inner_high);
	const ring inner_low =
		add_bands(&s, wall, SECTION_CIRCLE, def->bands, inner_high, hole, high, hole, -high);
	add_band(&s, bottom, inner_low, outer_low);
	return shape_build(&s, out_mesh);
}
