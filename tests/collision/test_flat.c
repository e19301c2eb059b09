// Flat faces triangulated anew, against what is known of the solids: numbers of triangles, areas, volumes,
// winding numbers, and the distance between old and new surface by brute force in long double.
#include "collision/certificate.h"
#include "collision/geometry/flat.h"
#include "collision/mesh_query.h"
#include "collision/mesh_shapes.h"
#include "collision/round.h"
#include "tests/support/limits.h"
#include "tests/support/surface_distance.h"
#include "tests/support/sweep_shapes.h"
#include "tests/support/voxels.h"

#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_dpose random_pose(tac_rng *rng, double reach)
{
	return tac_dpose_make(tac_dvec3_scale(tac_rng_unit_f64(rng), reach), tac_rng_rotation_f64(rng));
}

static double size_of(const tac_mesh *mesh)
{
	return tac_dvec3_length(
		tac_dvec3_sub(tac_dvec3_from_vec3(mesh->bounds_max), tac_dvec3_from_vec3(mesh->bounds_min)));
}

static void areas_by_surface(const tac_mesh *mesh, double *out)
{
	for (int32_t t = 0; t < mesh->triangle_count; t++)
		out[mesh->triangle_surface[t]] += 0.5 * tac_dvec3_length(tac_mesh_triangle_cross(mesh, t));
}

// The triangles of a face lie within the tolerance of one plane, and the patches are faces.
static void assert_faces_are_flat(const tac_flat *flat, double epsilon)
{
	const tac_mesh *mesh = flat->mesh;
	int32_t count = 0;
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		TEST_ASSERT_TRUE(flat->face[t] >= 0 || flat->source_triangle[t] >= 0);
		count = flat->face[t] >= count ? flat->face[t] + 1 : count;
	}
	tac_dvec3 *normal = calloc((size_t)count + 1, sizeof *normal);
	double *lo = malloc(((size_t)count + 1) * sizeof *lo), *hi = malloc(((size_t)count + 1) * sizeof *hi);
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		if (flat->face[t] >= 0)
			normal[flat->face[t]] =
				tac_dvec3_add(normal[flat->face[t]], tac_mesh_triangle_cross(mesh, t));
	}
	for (int32_t i = 0; i < count; i++) {
		lo[i] = HUGE_VAL;
		hi[i] = -HUGE_VAL;
	}
	for (int32_t c = 0; c < 3 * mesh->triangle_count; c++) {
		const int32_t face = flat->face[c / 3];
		if (face < 0)
			continue;
		const double at =
			tac_dvec3_dot(tac_dvec3_normalize(normal[face]), tac_mesh_corner(mesh, c / 3, c % 3));
		lo[face] = fmin(lo[face], at);
		hi[face] = fmax(hi[face], at);
	}
	for (int32_t i = 0; i < count; i++)
		TEST_ASSERT_TRUE(!(hi[i] - lo[i] > 4 * epsilon + 1e-12 * size_of(mesh)));
	free(normal);
	free(lo);
	free(hi);
}

// What must hold for every result.
static void assert_same_surface(const tac_mesh *mesh, const tac_flat *flat, double epsilon, int samples,
				tac_rng *rng)
{
	const tac_mesh *is = flat->mesh;
	const double size = size_of(mesh), reach = flat->tolerance + 1e-14 * size;
	TEST_ASSERT_EQUAL(flat->patch_count > 0, is->triangle_count < mesh->triangle_count);
	assert_faces_are_flat(flat, epsilon);
	TEST_ASSERT_TRUE(flat->tolerance <= 8 * epsilon);
	TEST_ASSERT_EQUAL(tac_mesh_is_watertight(mesh), tac_mesh_is_watertight(is));
	TEST_ASSERT_EQUAL(mesh->non_manifold_edges, is->non_manifold_edges);
	TEST_ASSERT_EQUAL(mesh->flipped_edges, is->flipped_edges);
	TEST_ASSERT_EQUAL(mesh->surface_count, is->surface_count);
	double *before = calloc((size_t)mesh->surface_count, sizeof *before),
	       *after = calloc((size_t)mesh->surface_count, sizeof *after);
	areas_by_surface(mesh, before);
	areas_by_surface(is, after);
	for (int32_t i = 0; i < mesh->surface_count; i++) {
		TEST_ASSERT_EQUAL_STRING(mesh->surfaces[i].name, is->surfaces[i].name);
		TEST_ASSERT_DOUBLE_WITHIN(1e-6 * size * size, before[i], after[i]);
	}
	free(before);
	free(after);
	assert_within(mesh, is, reach, samples, rng);
	assert_within(is, mesh, reach, samples, rng);
	for (int i = 0; i < samples; i++) {
		int32_t t = (int32_t)tac_rng_below(rng, (uint32_t)is->triangle_count);
		tac_dvec3 p = random_on(is, t, rng);
		int32_t source = tac_flat_source(flat, t, p);
		TEST_ASSERT_EQUAL(is->triangle_surface[t], mesh->triangle_surface[source]);
	}
}

// Builds, checks and returns the number of triangles; frees the mesh.
static int32_t flattened(tac_mesh *mesh, int samples, tac_rng *rng)
{
	tac_flat *flat;
	const double epsilon = tac_flat_epsilon(mesh);
	TEST_ASSERT_EQUAL(TAC_OK, tac_flat_build(mesh, epsilon, &flat));
	TEST_ASSERT_NOT_NULL(flat);
	assert_same_surface(mesh, flat, epsilon, samples, rng);
	int32_t count = flat->mesh->triangle_count;
	tac_flat_destroy(&flat);
	TEST_ASSERT_NULL(flat);
	tac_mesh_destroy(&mesh);
	return count;
}

// A plate with square holes, an L, a step: voxels by a picture, `depth` thick.
static voxels pictured(const char *const *rows, int count, int depth, double edge_m, int divided)
{
	voxels v = {.size = {(int)strlen(rows[0]), count, depth}, .edge_m = edge_m, .divided = divided};
	for (int y = 0; y < count; y++) {
		for (int x = 0; x < v.size[0]; x++) {
			for (int z = 0; z < depth; z++)
				v.filled[x][y][z] = rows[y][x] == '#';
		}
	}
	return v;
}

// A polygon of V vertices with H holes has V + 2 H - 2 triangles; each side of a prism has two.
static void prisms_have_the_fewest_triangles(void)
{
	static const char *const box[] = {"#"}, *const corner[] = {"##", "#."},
				 *const ring[] = {"###", "#.#", "###"},
				 *const holes[] = {"#######", "#.#.#.#", "#######", "#.#.#.#", "#######"},
				 *const steps[] = {"#...", "##..", "###.", "####"};
	const struct {
		const char *const *rows;
		int count, vertices, holes;
	} shapes[] = {
		{box, 1, 4, 0}, {corner, 2, 6, 0}, {ring, 3, 8, 1}, {holes, 5, 28, 6}, {steps, 4, 10, 0}};
	tac_rng rng = tac_rng_seed(1, 1);
	for (int i = 0; i < 5 * 8; i++) {
		int k = i % 5, n = shapes[k].vertices;
		// Upright, turned, turned and far from the origin; 0.3 mm to 0.3 m in size.
		double edge = 1e-4 * pow(10, i / 5 % 4), far = i / 5 >= 6 ? 5 * edge : 0;
		voxels v = pictured(shapes[k].rows, shapes[k].count, 1, edge, 5);
		tac_dpose T = i / 5 < 2 ? tac_dpose_identity() : random_pose(&rng, far);
		int32_t fewest = 2 * (n + 2 * shapes[k].holes - 2) + 2 * n;
		TEST_ASSERT_EQUAL(fewest, flattened(voxels_mesh(&v, T, 1, &rng), 20, &rng));
	}
}

static void upright_faces_change_by_nothing(void)
{
	tac_mesh *box;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.2f, 0.1f, 0.02f), 24, &box));
	tac_flat *flat;
	TEST_ASSERT_EQUAL(TAC_OK, tac_flat_build(box, 5e-8, &flat));
	TEST_ASSERT_EQUAL(12, flat->mesh->triangle_count);
	TEST_ASSERT_EQUAL_DOUBLE(0, flat->tolerance);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, tac_mesh_volume(box), tac_mesh_volume(flat->mesh));
	tac_flat_destroy(&flat);
	tac_mesh_destroy(&box);
}

// Random solids of voxels: their volume and what they enclose are known.
static void random_solids_keep_volume_and_inside(void)
{
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 3), 2);
	for (int i = 0; i < test_rounds(160); i++) {
		int size = 2 + (int)tac_rng_below(&rng, 4);
		double edge = 1e-4 * pow(10, tac_rng_range_f64(&rng, 0, 3)),
		       filled = tac_rng_range_f64(&rng, 0.2, 0.9);
		voxels v = voxels_random(&rng, size, filled, edge, 1 + (int)tac_rng_below(&rng, 4));
		tac_dpose T = i % 3 ? random_pose(&rng, (i % 2) * size * edge) : tac_dpose_identity();
		tac_mesh *mesh = voxels_mesh(&v, T, 1 + (int)tac_rng_below(&rng, 2), &rng);
		tac_flat *flat;
		const double epsilon = tac_flat_epsilon(mesh);
		TEST_ASSERT_EQUAL(TAC_OK, tac_flat_build(mesh, epsilon, &flat));
		if (v.divided > 2)
			TEST_ASSERT_NOT_NULL(flat);
		if (flat) {
			assert_same_surface(mesh, flat, epsilon, 12, &rng);
			double volume = voxel_count(&v) * edge * edge * edge;
			double area = voxel_face_count(&v) * edge * edge;
			TEST_ASSERT_DOUBLE_WITHIN(2 * area * epsilon, volume, tac_mesh_volume(flat->mesh));
			for (int x = 0; x < size * size * size; x++) {
				int at[3] = {x % size, x / size % size, x / size / size};
				tac_dvec3 p = tac_dpose_apply_point(T, tac_dvec3_make((at[0] + 0.5) * edge,
										      (at[1] + 0.5) * edge,
										      (at[2] + 0.5) * edge));
				int32_t winding = 0;
				tac_mesh_winding_add(flat->mesh, 0, flat->mesh->triangle_count, &p, 1,
						     &winding);
				TEST_ASSERT_EQUAL(voxel_at(&v, at[0], at[1], at[2]), winding);
			}
		}
		tac_flat_destroy(&flat);
		tac_mesh_destroy(&mesh);
	}
}

// Each triangle of a mesh divided into k x k, turned and rounded to float; the original is freed.
static tac_mesh *divided(tac_mesh *mesh, int k, tac_dpose T)
{
	int32_t count = 0, corners = 0;
	tac_vec3 *v = malloc((size_t)(mesh->triangle_count * 3 * k * k) * sizeof *v);
	tac_mesh_triangle *t = malloc((size_t)(mesh->triangle_count * k * k) * sizeof *t);
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		for (int cell = 0; cell < 2 * k * k; cell++) {
			int row = cell / 2 / k, column = cell / 2 % k, down = cell % 2;
			if (row + column + down >= k)
				continue;
			for (int c = 0; c < 3; c++) {
				int w[3] = {column + (c == 1) + down * (c == 0),
					    row + (c == 2) + down * (c == 0), 0};
				if (down && c == 1)
					w[0] = column, w[1] = row + 1;
				if (down && c == 2)
					w[0] = column + 1, w[1] = row;
				w[2] = k - w[0] - w[1];
				// Summed in the order of the vertices, so that neighbours agree to the bit.
				int order[3] = {0, 1, 2};
				for (int a = 0; a < 3; a++) {
					for (int b = 0; b < 2; b++) {
						const int32_t *id = mesh->triangles[i].vertex;
						if (id[order[b]] > id[order[b + 1]]) {
							int swap = order[b];
							order[b] = order[b + 1];
							order[b + 1] = swap;
						}
					}
				}
				tac_dvec3 p = tac_dvec3_zero();
				for (int a = 0; a < 3; a++)
					p = tac_dvec3_add_scaled(p, (double)w[order[a]] / k,
								 tac_mesh_corner(mesh, i, order[a]));
				v[corners++] = tac_vec3_from_dvec3(tac_dpose_apply_point(T, p));
			}
			t[count] = (tac_mesh_triangle){{corners - 3, corners - 2, corners - 1}};
			count++;
		}
	}
	tac_mesh *out = mesh_of(v, corners, t, count);
	free(v);
	free(t);
	tac_mesh_destroy(&mesh);
	return out;
}

// Rounding bends the diagonals of a turned box of twelve triangles by more than a flat edge may be bent by
// itself. Nothing can be triangulated anew, and they are no features all the same.
static void a_turned_box_of_twelve_triangles_has_twelve_edges(void)
{
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 3), 12);
	int bent = 0;
	for (int i = 0; i < 20; i++) {
		tac_mesh *box;
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.03F, 0.05F, 0.07F), 1, &box));
		box = divided(box, 1, random_pose(&rng, 0.1));
		for (int flat = 0; flat < 2; flat++) {
			tac_body_def def = tac_body_def_default();
			def.mesh = box;
			def.solid = true;
			def.flat_m = flat ? TAC_BODY_FLAT : 0;
			tac_body *body;
			TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &body));
			int convex = 0, inner = 0;
			for (int32_t e = 0; e < box->edge_count; e++) {
				const tac_body_edge kind = tac_body_edge_kind(body, e);
				convex += kind == TAC_BODY_EDGE_CONVEX;
				inner += kind == TAC_BODY_EDGE_FLAT;
			}
			bent += !flat && inner < 6;
			TEST_ASSERT_TRUE(!flat || (convex == 12 && inner == 6));
			TEST_ASSERT_TRUE(tac_body_mesh(body) == box);
			tac_body_destroy(&body);
		}
		tac_mesh_destroy(&box);
	}
	TEST_ASSERT_GREATER_THAN(10, bent);
}

// A prism over a star of n points, with fans on both ends.
static tac_mesh *star(int n, double outer, double inner, double height)
{
	tac_vec3 v[130];
	tac_mesh_triangle t[260];
	int count = 0;
	for (int i = 0; i < 2 * n; i++) {
		double r = i % 2 ? inner : outer, a = 3.14159265358979 * i / n;
		for (int z = 0; z < 2; z++)
			v[2 * i + z] = tac_vec3_make((float)(r * cos(a)), (float)(r * sin(a)),
						     (float)(z ? height : -height));
	}
	v[4 * n] = tac_vec3_make(0, 0, (float)-height);
	v[4 * n + 1] = tac_vec3_make(0, 0, (float)height);
	for (int i = 0; i < 2 * n; i++) {
		int a = 2 * i, b = 2 * ((i + 1) % (2 * n));
		t[count++] = (tac_mesh_triangle){{b, a, 4 * n}};
		t[count++] = (tac_mesh_triangle){{a + 1, b + 1, 4 * n + 1}};
		t[count++] = (tac_mesh_triangle){{a, b, b + 1}};
		t[count++] = (tac_mesh_triangle){{a, b + 1, a + 1}};
	}
	return mesh_of(v, 4 * n + 2, t, count);
}

static void stars_and_pegs_turned_at_random_have_the_fewest_triangles(void)
{
	tac_rng rng = tac_rng_seed(5, 1);
	tac_mesh_peg_def peg = tac_mesh_peg_def_default();
	for (int i = 0; i < test_rounds(32); i++) {
		int n = 3 + (int)tac_rng_below(&rng, 12);
		double size = pow(10, tac_rng_range_f64(&rng, -3, -0.5));
		tac_mesh *mesh = divided(star(n, size, 0.4 * size, 0.2 * size), 4, random_pose(&rng, size));
		TEST_ASSERT_EQUAL(2 * (2 * n - 2) + 4 * n, flattened(mesh, 10, &rng));
	}
	tac_mesh *block, *cylinder;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_block(&peg, &block));
	// A block with a round hole of 64 segments: 4 + 64 vertices and a hole on both ends.
	TEST_ASSERT_EQUAL(2 * (68 + 2 - 2) + 2 * 4 + 2 * 64,
			  flattened(divided(block, 3, random_pose(&rng, 0.05)), 40, &rng));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cylinder(0.01f, 0.03f, 96, 24, &cylinder));
	// The centre of each end stays: it has too many triangles, and removing it would save two.
	TEST_ASSERT_EQUAL(2 * 96 + 2 * 96, flattened(cylinder, 40, &rng));
}

// At 3 m rounding alone is as large as the tolerance may be: faces merge in part, and everything holds.
static void large_bodies_keep_the_tolerance(void)
{
	tac_rng rng = tac_rng_seed(6, 1);
	for (int i = 0; i < test_rounds(8); i++) {
		double size = i % 2 ? 3 : 0.8;
		voxels v = voxels_random(&rng, 3, 0.6, size / 3, 6);
		tac_mesh *mesh = voxels_mesh(&v, random_pose(&rng, 0), 1, &rng);
		TEST_ASSERT_TRUE(tac_flat_epsilon(mesh) <= 2.5e-7);
		TEST_ASSERT_TRUE(flattened(mesh, 20, &rng) > 12);
	}
}

// A face that is bent by more than the tolerance, and scanned surfaces, stay as they are.
static void curved_and_rough_surfaces_stay(void)
{
	tac_mesh *ball, *grid;
	tac_flat *flat;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.05f, 5, &ball));
	TEST_ASSERT_EQUAL(TAC_OK, tac_flat_build(ball, tac_flat_epsilon(ball), &flat));
	TEST_ASSERT_NULL(flat);
	tac_mesh_destroy(&ball);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(0.1f, 0.1f, 40, 40, &grid));
	tac_rng rng = tac_rng_seed(7, 1);
	for (int32_t v = 0; v < grid->vertex_count; v++)
		grid->vertices[v].z = tac_rng_range_f32(&rng, -1e-6f, 1e-6f);
	TEST_ASSERT_EQUAL(TAC_OK, tac_flat_build(grid, tac_flat_epsilon(grid), &flat));
	TEST_ASSERT_NULL(flat);
	// With that tolerance it is a square of two triangles.
	TEST_ASSERT_EQUAL(TAC_OK, tac_flat_build(grid, 3e-6, &flat));
	TEST_ASSERT_NOT_NULL(flat);
	assert_same_surface(grid, flat, 3e-6, 40, &rng);
	TEST_ASSERT_EQUAL(2, flat->mesh->triangle_count);
	tac_flat_destroy(&flat);
	tac_mesh_destroy(&grid);
}

// --- hostile ---

// A grid whose vertices are moved in its plane, up to almost onto each other: slivers of every kind.
static tac_mesh *slivers(tac_rng *rng, int n, tac_dpose T)
{
	tac_mesh *grid;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(0.1f, 0.1f, n, n, &grid));
	tac_vec3 *v = malloc((size_t)grid->vertex_count * sizeof *v);
	for (int32_t i = 0; i < grid->vertex_count; i++) {
		tac_dvec3 p = tac_dvec3_from_vec3(grid->vertices[i]);
		double cell = 0.1 / n, near = pow(10, tac_rng_range_f64(rng, -9, -0.5));
		double x = (0.5 - near) * (tac_rng_below(rng, 2) ? 1 : -1);
		if (fabs(p.x) < 0.05 - 1e-6 && fabs(p.y) < 0.05 - 1e-6)
			p.x += x * cell;
		v[i] = tac_vec3_from_dvec3(tac_dpose_apply_point(T, p));
	}
	tac_mesh *out = mesh_of(v, grid->vertex_count, grid->triangles, grid->triangle_count);
	free(v);
	tac_mesh_destroy(&grid);
	return out;
}

static void check_any(tac_mesh *mesh, tac_rng *rng)
{
	tac_flat *flat;
	TEST_ASSERT_EQUAL(TAC_OK, tac_flat_build(mesh, tac_flat_epsilon(mesh), &flat));
	if (flat)
		assert_same_surface(mesh, flat, tac_flat_epsilon(mesh), 30, rng);
	tac_flat_destroy(&flat);
	tac_mesh_destroy(&mesh);
}

static void slivers_and_broken_meshes_are_safe(void)
{
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 8), 1);
	for (int i = 0; i < test_rounds(40); i++)
		check_any(slivers(&rng, 12, i % 2 ? random_pose(&rng, 0.1) : tac_dpose_identity()), &rng);
	// Triangles twice, with the same and the opposite orientation.
	static const char *const plate[] = {"####", "#..#", "####"};
	voxels v = pictured(plate, 3, 2, 0.01, 3);
	check_any(doubled(voxels_mesh(&v, random_pose(&rng, 0), 1, &rng)), &rng);
	// T-junctions: two plates side by side with other divisions.
	tac_mesh *coarse, *fine;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(0.1f, 0.1f, 3, 3, &coarse));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(0.1f, 0.1f, 8, 8, &fine));
	tac_vec3 points[256];
	tac_mesh_triangle triangles[256];
	int32_t n = 0, m = 0;
	for (int32_t i = 0; i < coarse->triangle_count; i++)
		triangles[m++] = coarse->triangles[i];
	for (int32_t i = 0; i < coarse->vertex_count; i++)
		points[n++] = coarse->vertices[i];
	for (int32_t i = 0; i < fine->triangle_count; i++) {
		for (int k = 0; k < 3; k++)
			triangles[m].vertex[k] = fine->triangles[i].vertex[k] + coarse->vertex_count;
		m++;
	}
	for (int32_t i = 0; i < fine->vertex_count; i++)
		points[n++] = tac_vec3_add(fine->vertices[i], tac_vec3_make(0.1f, 0, 0));
	check_any(mesh_of(points, n, triangles, m), &rng);
	tac_mesh_destroy(&coarse);
	tac_mesh_destroy(&fine);
	check_any(book(7), &rng);
	check_any(loose_soup(&rng, 60, true), &rng);
}

// Two turns of a flat spiral stair around one vertex: flat, and no polygon is its border.
static void a_vertex_with_two_turns_around_it_stays(void)
{
	enum { STEPS = 24 };
	tac_vec3 v[2 * STEPS + 1];
	tac_mesh_triangle t[3 * STEPS];
	int count = 0;
	v[2 * STEPS] = tac_vec3_make(0, 0, 0);
	for (int i = 0; i < STEPS; i++) {
		double a = 4 * 3.14159265358979 * i / STEPS, r = i < STEPS / 2 ? 0.01 : 0.012;
		v[i] = tac_vec3_make((float)(r * cos(a)), (float)(r * sin(a)), 0);
		v[STEPS + i] = tac_vec3_make((float)(2 * r * cos(a)), (float)(2 * r * sin(a)), 0);
		int next = (i + 1) % STEPS;
		t[count++] = (tac_mesh_triangle){{2 * STEPS, i, next}};
		t[count++] = (tac_mesh_triangle){{i, STEPS + i, STEPS + next}};
		t[count++] = (tac_mesh_triangle){{i, STEPS + next, next}};
	}
	tac_rng rng = tac_rng_seed(9, 1);
	tac_mesh *mesh = mesh_of(v, 2 * STEPS + 1, t, count);
	double area = tac_mesh_area(mesh);
	tac_flat *flat;
	TEST_ASSERT_EQUAL(TAC_OK, tac_flat_build(mesh, 5e-8, &flat));
	if (flat) {
		assert_same_surface(mesh, flat, 5e-8, 100, &rng);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, area, tac_mesh_area(flat->mesh));
	}
	tac_flat_destroy(&flat);
	tac_mesh_destroy(&mesh);
}

// A point on the new surface leads to the triangle of the source that has it.
static void the_way_back_finds_the_triangle_at_a_point(void)
{
	tac_rng rng = tac_rng_seed(10, 1);
	static const char *const plate[] = {"#######", "#.#.#.#", "#######", "#.....#", "#######"};
	voxels v = pictured(plate, 5, 1, 0.01, 6);
	for (int i = 0; i < 2; i++) {
		tac_mesh *mesh = voxels_mesh(&v, i ? random_pose(&rng, 0.05) : tac_dpose_identity(), 1, &rng);
		tac_flat *flat;
		TEST_ASSERT_EQUAL(TAC_OK, tac_flat_build(mesh, tac_flat_epsilon(mesh), &flat));
		int missed = 0;
		for (int k = 0; k < 2000; k++) {
			int32_t t = (int32_t)tac_rng_below(&rng, (uint32_t)flat->mesh->triangle_count);
			tac_dvec3 p = random_on(flat->mesh, t, &rng);
			int32_t source = tac_flat_source(flat, t, p);
			double d = distance_to_triangle(p, mesh, source);
			missed += d > flat->tolerance + 1e-9;
			TEST_ASSERT_TRUE(d < 0.01 / 6); // the side of a square of the source
		}
		TEST_ASSERT_TRUE(missed < 20);
		tac_flat_destroy(&flat);
		tac_mesh_destroy(&mesh);
	}
}

// --- what is proved for a body holds for the mesh of its def ---

#define ROUGH 1e-5 // m

// A solid whose vertices are off by up to ROUGH, and a body that takes its faces for flat.
static mesh_body rough_body(voxels v, tac_rng *rng)
{
	tac_mesh *mesh = voxels_mesh(&v, tac_dpose_identity(), 1, rng);
	for (int32_t i = 0; i < mesh->vertex_count; i++) {
		tac_vec3 off = tac_vec3_make(tac_rng_range_f32(rng, -1, 1), tac_rng_range_f32(rng, -1, 1),
					     tac_rng_range_f32(rng, -1, 1));
		mesh->vertices[i] = tac_vec3_add(mesh->vertices[i], tac_vec3_scale(off, (float)ROUGH));
	}
	mesh_body b = {.mesh = mesh};
	tac_body_def def = tac_body_def_default();
	def.mesh = mesh;
	def.solid = true;
	def.flat_m = 2 * ROUGH;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &b.body));
	TEST_ASSERT_TRUE(tac_body_mesh(b.body)->triangle_count < mesh->triangle_count / 4);
	TEST_ASSERT_TRUE(tac_body_tolerance(b.body) > ROUGH && tac_body_tolerance(b.body) < 20 * ROUGH);
	return b;
}

// A block that passes over a plate, at a height between nothing and twice what both tolerances are.
typedef struct passing {
	mesh_body block, plate;
	tac_rng rng;
	int free, stopped;
} passing;

static passing passing_make(uint64_t sequence)
{
	static const char *const rows[] = {"####", "#..#", "####"};
	passing p = {.rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 11), sequence)};
	voxels block = voxels_random(&p.rng, 1, 1, 0.01, 4);
	p.block = rough_body(block, &p.rng);
	p.plate = rough_body(pictured(rows, 3, 1, 0.01, 4), &p.rng);
	return p;
}

static double margin_of(const passing *p)
{
	return tac_body_tolerance(p->block.body) + tac_body_tolerance(p->plate.body);
}

// A start on the plate, or beside it.
static tac_drigid start_of(passing *p, double height)
{
	tac_dvec3 at = tac_dvec3_make(tac_rng_range_f64(&p->rng, -0.015, 0.035),
				      tac_rng_range_f64(&p->rng, -0.015, 0.035), 0.01 + height);
	return (tac_drigid){tac_dmat3_identity(), at};
}

static void judge(passing *p, const tac_drigid *T, tac_dvec3 v, tac_dvec3 centre, double angle,
		  double fraction)
{
	p->free += fraction == 1;
	p->stopped += fraction < 1;
	for (int i = 0; i < 6 && fraction > 0; i++) {
		double s = i == 0 ? fraction : tac_rng_range_f64(&p->rng, 0, fraction);
		ref_pose pose = ref_pose_at(T, v, centre, tac_dvec3_make(0, 0, 1), angle, s);
		TEST_ASSERT_TRUE(ref_distance(p->block.mesh, p->plate.mesh, &pose, 1e-5) > 0);
	}
}

static void passing_free(passing *p)
{
	TEST_ASSERT_TRUE(p->free > 0 && p->stopped > 0); // under a sanitizer there are few rounds
	mesh_body_free(&p->block);
	mesh_body_free(&p->plate);
}

static void sweeps_of_a_body_hold_for_its_mesh(void)
{
	passing p = passing_make(1);
	tac_sweep_options options = tac_sweep_options_default();
	for (int i = 0; i < test_rounds(480); i++) {
		double height = tac_rng_range_f64(&p.rng, 0, 2) * margin_of(&p);
		tac_drigid T = start_of(&p, height);
		tac_dvec3 v = tac_dvec3_zero(), up = tac_dvec3_make(0, 0, 1);
		double angle = 0;
		tac_sweep_result r;
		if (i % 2) {
			angle = tac_rng_range_f64(&p.rng, 0.1, 2);
			r = tac_sweep_rotate(p.block.body, p.plate.body, &T, T.t, up, angle, &options, NULL);
		} else {
			v = tac_dvec3_scale(tac_rng_unit_f64(&p.rng), 0.03);
			v.z = tac_rng_range_f64(&p.rng, -1, 1) * height;
			r = tac_sweep_translate(p.block.body, p.plate.body, &T, v, &options, NULL);
		}
		judge(&p, &T, v, T.t, angle, r.fraction);
	}
	passing_free(&p);
}

static void certificates_of_a_body_hold_for_its_mesh(void)
{
	passing p = passing_make(2);
	tac_certificate_options options = tac_certificate_options_default();
	for (int i = 0; i < test_rounds(480); i++) {
		double height = tac_rng_range_f64(&p.rng, 0, 2) * margin_of(&p), angle = 0;
		tac_drigid T = start_of(&p, height);
		tac_dvec3 v = tac_dvec3_scale(tac_rng_unit_f64(&p.rng), 1e-3);
		v.z = tac_rng_range_f64(&p.rng, -1, 1) * height;
		if (i % 2) {
			v = tac_dvec3_zero();
			angle = tac_rng_range_f64(&p.rng, 0, 0.05);
		}
		tac_certificate c = tac_certificate_check(p.block.body, p.plate.body, &T, v,
							  tac_dvec3_make(0, 0, angle), &options, NULL);
		judge(&p, &T, v, T.t, angle, c.fraction);
	}
	passing_free(&p);
}

static void proofs_for_round_tools_hold_for_the_mesh(void)
{
	passing p = passing_make(3);
	tac_round_context *context;
	TEST_ASSERT_EQUAL(TAC_OK, tac_round_context_create(&context));
	tac_sweep_options options = tac_sweep_options_default();
	options.zone = 2.5e-7;
	for (int i = 0; i < test_rounds(400); i++) {
		double height = tac_rng_range_f64(&p.rng, 0, 2) * tac_body_tolerance(p.plate.body);
		tac_round tool = {.radius = 0.004};
		tool.a = tac_dvec3_add(start_of(&p, height).t, tac_dvec3_make(0, 0, tool.radius));
		tool.b = tac_dvec3_add(tool.a, tac_dvec3_make(0.008, 0, 0));
		tac_dvec3 v = tac_dvec3_make(tac_rng_range_f64(&p.rng, -1e-3, 1e-3), 0, 0),
			  w = tac_dvec3_make(0, 0, tac_rng_range_f64(&p.rng, -0.05, 0.05));
		tac_sweep_result r = tac_round_prove(&tool, p.plate.body, tool.a, v, w, &options, context);
		p.free += r.fraction == 1;
		p.stopped += r.fraction < 1;
		for (int k = 0; k <= 8 && r.fraction > 0; k++) {
			tac_dvec3 end = tac_dvec3_add_scaled(tool.a, r.fraction, v);
			double turn = r.fraction * w.z;
			end = tac_dvec3_add(end,
					    tac_dvec3_make(0.001 * k * cos(turn), 0.001 * k * sin(turn), 0));
			TEST_ASSERT_TRUE(distance_to(end, p.plate.mesh, 0.01) > tool.radius);
		}
	}
	tac_round_context_destroy(&context);
	passing_free(&p);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(prisms_have_the_fewest_triangles);
	RUN_TEST(upright_faces_change_by_nothing);
	RUN_TEST(random_solids_keep_volume_and_inside);
	RUN_TEST(a_turned_box_of_twelve_triangles_has_twelve_edges);
	RUN_TEST(stars_and_pegs_turned_at_random_have_the_fewest_triangles);
	RUN_TEST(large_bodies_keep_the_tolerance);
	RUN_TEST(curved_and_rough_surfaces_stay);
	RUN_TEST(slivers_and_broken_meshes_are_safe);
	RUN_TEST(a_vertex_with_two_turns_around_it_stays);
	RUN_TEST(the_way_back_finds_the_triangle_at_a_point);
	RUN_TEST(sweeps_of_a_body_hold_for_its_mesh);
	RUN_TEST(certificates_of_a_body_hold_for_its_mesh);
	RUN_TEST(proofs_for_round_tools_hold_for_the_mesh);
	return UNITY_END();
}
