// The compliance as the tick reads it: levels, spreads, bindings and the file. The body is a patch of a
// half-space, whose compliance is a closed form (bench/half_space.h).
#include "base/rng.h"
#include "bench/half_space.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "tissue/compliance.h"
#include "tissue/compliance/image.h"
#include "unity.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define E    5400.0
#define NU   0.45
#define CELL 0.002
#define SIDE 16 // nodes along an edge of the patch
#define LONG 60 // along the longer edge of one that has a far basis
#define HASH UINT64_C(0x1234)

static tac_vec3 vertices[(LONG + 2) * (SIDE + 2)];
static tac_mesh_triangle triangles[2 * (LONG + 1) * (SIDE + 1)];
static tac_vec3 shown[100];
static half_space space = {E, NU, vertices, CELL};
static tac_compliance_def def;
static char path[64];

// A grid of `nodes_along` by SIDE nodes with a border of fixed vertices around it.
static void make_patch(int nodes_along)
{
	const int length = nodes_along + 2, side = SIDE + 2;
	int32_t index[LONG + 2][SIDE + 2], node = 0, fixed = nodes_along * SIDE, count = 0;
	for (int i = 0; i < length; i++) {
		for (int j = 0; j < side; j++) {
			const bool border = i == 0 || j == 0 || i == length - 1 || j == side - 1;
			index[i][j] = border ? fixed++ : node++;
			vertices[index[i][j]] = tac_vec3_make((float)(i * CELL), (float)(j * CELL), 0);
		}
	}
	for (int i = 0; i + 1 < length; i++) {
		for (int j = 0; j + 1 < side; j++) {
			const tac_mesh_triangle two[2] = {
				{{index[i][j], index[i + 1][j], index[i + 1][j + 1]}},
				{{index[i][j], index[i + 1][j + 1], index[i][j + 1]}}};
			for (int k = 0; k < 2; k++) {
				const int32_t *v = two[k].vertex;
				if (v[0] < node || v[1] < node || v[2] < node)
					triangles[count++] = two[k];
			}
		}
	}
	def = (tac_compliance_def){.name = "patch",
				   .hash = HASH,
				   .material = {E, NU, 0.4, 0.8},
				   .node_count = node,
				   .vertex_count = fixed,
				   .triangle_count = count,
				   .vertices = vertices,
				   .triangles = triangles,
				   .shown = shown,
				   .shown_count = 100,
				   .block = half_space_block,
				   .block_user = &space};
}

void setUp(void)
{
	tac_rng rng = tac_rng_seed(7, 1);
	for (int i = 0; i < 100; i++)
		shown[i] = tac_vec3_make((float)(tac_rng_f64(&rng) * 0.03), (float)(tac_rng_f64(&rng) * 0.03),
					 (float)(tac_rng_f64(&rng) * 1e-4));
	make_patch(SIDE);
	snprintf(path, sizeof path, "/tmp/test_compliance.%d", (int)getpid());
	tac_log_set(keep_logged, NULL);
	logged[0] = 0;
	logged_lines = 0;
}

void tearDown(void)
{
	unlink(path);
	tac_log_set(NULL, NULL);
}

static tac_compliance *made(void)
{
	tac_compliance *c;
	TEST_ASSERT_EQUAL(TAC_OK, tac_compliance_create(&def, &c));
	return c;
}

static void blocks_of_nodes_are_those_of_the_closed_form(void)
{
	tac_compliance *c = made();
	for (int32_t i = 0; i < c->node_count; i++) {
		for (int32_t j = 0; j < c->node_count; j++) {
			const tac_mat3 expected = tac_mat3_from_dmat3(half_space_block(&space, i, j));
			const tac_mat3 got = tac_compliance_block(c, i, j);
			for (int k = 0; k < 9; k++)
				TEST_ASSERT_FLOAT_WITHIN(1e-6f * fabsf(got.m[2][2]), expected.m[k / 3][k % 3],
							 got.m[k / 3][k % 3]);
		}
	}
	tac_compliance_destroy(&c);
	TEST_ASSERT_NULL(c);
}

// Cholesky's method in double, on `count` points from `first` on, or on those that are listed.
static bool points_are_positive_definite(const tac_compliance *c, const int32_t *list, int32_t first,
					 int32_t count)
{
	const int32_t n = 3 * count;
	double *a = malloc((size_t)n * (size_t)n * sizeof *a);
	for (int32_t i = 0; i < n; i++) {
		for (int32_t j = 0; j < n; j++) {
			const int32_t p = list ? list[i / 3] : first + i / 3,
				      q = list ? list[j / 3] : first + j / 3;
			a[i * n + j] = (double)tac_compliance_block(c, p, q).m[i % 3][j % 3];
		}
	}
	bool good = true;
	for (int32_t k = 0; good && k < n; k++) {
		good = a[k * n + k] > 0;
		const double root = sqrt(a[k * n + k]);
		for (int32_t i = k; i < n; i++)
			a[i * n + k] /= root;
		for (int32_t i = k + 1; i < n; i++) {
			for (int32_t j = k + 1; j <= i; j++)
				a[i * n + j] -= a[i * n + k] * a[j * n + k];
		}
	}
	free(a);
	return good;
}

static bool level_is_positive_definite(const tac_compliance *c, int level)
{
	const int32_t first = c->level_start[level];
	return points_are_positive_definite(c, NULL, first, c->level_start[level + 1] - first);
}

static void every_level_is_symmetric_and_positive_definite(void)
{
	tac_compliance *c = made();
	const int32_t points = tac_compliance_point_count(c);
	for (int32_t i = 0; i < points; i++) {
		for (int32_t j = 0; j < points; j++) {
			const tac_mat3 a = tac_compliance_block(c, i, j), b = tac_compliance_block(c, j, i);
			for (int k = 0; k < 9; k++)
				TEST_ASSERT_EQUAL_FLOAT(a.m[k / 3][k % 3], b.m[k % 3][k / 3]);
		}
	}
	for (int level = 0; level < TAC_COMPLIANCE_LEVELS; level++)
		TEST_ASSERT_TRUE(level_is_positive_definite(c, level));
	tac_compliance_destroy(&c);
}

static void levels_have_two_and_four_times_the_spacing(void)
{
	tac_compliance *c = made();
	TEST_ASSERT_DOUBLE_WITHIN(0.1 * CELL, CELL, c->spacing_m[0]);
	TEST_ASSERT_DOUBLE_WITHIN(0.5 * CELL, 2 * CELL, c->spacing_m[1]);
	TEST_ASSERT_DOUBLE_WITHIN(1.0 * CELL, 4 * CELL, c->spacing_m[2]);
	tac_compliance_destroy(&c);
}

// Loads of the points of a level in proportion to their areas are loads of the nodes in proportion to theirs.
static void uniform_pressure_is_the_same_on_every_level(void)
{
	tac_compliance *c = made();
	for (int level = 0; level < TAC_COMPLIANCE_LEVELS; level++) {
		double load[SIDE * SIDE] = {0};
		for (int32_t p = c->level_start[level]; p < c->level_start[level + 1]; p++) {
			double sum = 0;
			TEST_ASSERT_EQUAL_MEMORY(&c->vertices[c->point_node[p]], &c->points[p],
						 sizeof(tac_vec3));
			TEST_ASSERT_FLOAT_WITHIN(1e-6f, 1, c->point_normals[p].z);
			for (int32_t k = c->spread_start[p]; k < c->spread_start[p + 1]; k++) {
				TEST_ASSERT_TRUE(c->spread_weight[k] > 0);
				sum += (double)c->spread_weight[k];
				load[c->spread_node[k]] +=
					(double)(c->spread_weight[k] * c->point_area_m2[p]);
			}
			TEST_ASSERT_DOUBLE_WITHIN(1e-5, 1, sum);
		}
		for (int32_t i = 0; i < c->node_count; i++)
			TEST_ASSERT_DOUBLE_WITHIN(1e-5 * CELL * CELL, (double)c->point_area_m2[i], load[i]);
	}
	tac_compliance_destroy(&c);
}

// The displacement of a coarse point under a force on another is the double sum over their nodes.
static void blocks_of_coarse_points_are_means_over_their_nodes(void)
{
	tac_compliance *c = made();
	const int32_t last = tac_compliance_point_count(c);
	for (int32_t i = c->node_count; i < last; i += 3) {
		for (int32_t j = 0; j < last; j += 5) {
			double sum[9] = {0};
			for (int32_t k = c->spread_start[i]; k < c->spread_start[i + 1]; k++) {
				for (int32_t l = c->spread_start[j]; l < c->spread_start[j + 1]; l++) {
					const double w =
						(double)c->spread_weight[k] * (double)c->spread_weight[l];
					const tac_dmat3 b = half_space_block(&space, c->spread_node[k],
									     c->spread_node[l]);
					for (int m = 0; m < 9; m++)
						sum[m] += w * b.m[m / 3][m % 3];
				}
			}
			const tac_mat3 got = tac_compliance_block(c, i, j);
			for (int m = 0; m < 9; m++)
				TEST_ASSERT_DOUBLE_WITHIN(2e-6 * sum[8], sum[m], (double)got.m[m / 3][m % 3]);
		}
	}
	tac_compliance_destroy(&c);
}

// ---- the far basis ----

// The smallest diagonal of each cluster.
static double *diagonals(const tac_compliance *c)
{
	double *least = malloc((size_t)c->cluster_count * sizeof *least);
	for (int32_t a = 0; a < c->cluster_count; a++)
		least[a] = HUGE_VAL;
	for (int32_t i = 0; i < tac_compliance_point_count(c); i++) {
		const tac_mat3 own = tac_compliance_block(c, i, i);
		for (int k = 0; k < 3; k++)
			least[c->place[i].cluster] = fmin(least[c->place[i].cluster], (double)own.m[k][k]);
	}
	return least;
}

static bool is_far(const tac_compliance *c, int32_t i, int32_t j)
{
	const int32_t p = c->place[i].cluster, q = c->place[j].cluster, a = p > q ? p : q, b = p > q ? q : p;
	return c->pairs[a * (a + 1) / 2 + b] & TAC_COMPLIANCE_FAR;
}

// A body with a far basis, and the same one with every block; made once.
static tac_compliance *far_body, *exact_body;

static void make_far_and_exact(void)
{
	if (far_body)
		return;
	make_patch(TAC_TEST_SANITIZED ? 48 : LONG);
	exact_body = made();
	TEST_ASSERT_NULL(exact_body->basis);
	def.exact_nodes = 1;
	far_body = made();
}

static void far_blocks_are_within_their_error(void)
{
	make_far_and_exact();
	const tac_compliance *exact = exact_body, *c = far_body;
	const int32_t points = tac_compliance_point_count(c);
	double *diagonal = diagonals(c), worst = 0;
	int far = 0;
	for (int32_t i = 0; i < points; i++) {
		for (int32_t j = 0; j < points; j++) {
			const tac_mat3 got = tac_compliance_block(c, i, j),
				       back = tac_compliance_block(c, j, i);
			const tac_mat3 dense = tac_compliance_block(exact, i, j);
			const double unit =
				sqrt(diagonal[c->place[i].cluster] * diagonal[c->place[j].cluster]);
			for (int k = 0; k < 9; k++) {
				TEST_ASSERT_EQUAL_FLOAT(back.m[k % 3][k / 3], got.m[k / 3][k % 3]);
				const double apart =
					fabs((double)(got.m[k / 3][k % 3] - dense.m[k / 3][k % 3]));
				TEST_ASSERT_TRUE(apart <= (is_far(c, i, j) ? 1.01 * c->far_error * unit : 0));
				worst = fmax(worst, apart / unit);
			}
			far += is_far(c, i, j);
		}
	}
	printf("far basis: %.0f %% of the blocks of %d nodes, %.2e of the diagonal, %.1f MB instead of "
	       "%.1f\n",
	       100.0 * far / points / points, c->node_count, worst, 1e-6 * (double)c->image_bytes,
	       1e-6 * (double)exact->image_bytes);
	TEST_ASSERT_TRUE(far > points * points / 10);
	TEST_ASSERT_TRUE(c->far_error < 1.1 * TAC_COMPLIANCE_FAR_ERROR);
	TEST_ASSERT_TRUE(worst > 0.99 * c->far_error); // it is what was found, not a bound
	TEST_ASSERT_TRUE(c->image_bytes < exact->image_bytes);
	free(diagonal);
}

// Of the coarser levels whole, and of the nodes too in the long run; otherwise sets of as many as may be in
// contact.
static void the_far_basis_leaves_it_positive_definite(void)
{
	make_far_and_exact();
	const tac_compliance *c = far_body;
	for (int level = test_long() ? 0 : 1; level < TAC_COMPLIANCE_LEVELS; level++)
		TEST_ASSERT_TRUE(points_are_positive_definite(
			c, NULL, c->level_start[level], c->level_start[level + 1] - c->level_start[level]));
	tac_rng rng = tac_rng_seed(11, 5);
	for (int round = 0; round < 20; round++) {
		int32_t some[64];
		for (int32_t k = 0; k < 64; k++) // different ones, with steps that are random
			some[k] = k * (c->node_count / 64) +
				  (int32_t)(tac_rng_u32(&rng) % (uint32_t)(c->node_count / 64));
		TEST_ASSERT_TRUE(points_are_positive_definite(c, some, 0, 64));
	}
}

// Rows and displacements at once are what the single blocks give.
static void rows_and_displacements_are_those_of_the_blocks(void)
{
	enum { POINTS = 100, FORCES = 400 };
	make_far_and_exact();
	const tac_compliance *exact = exact_body, *c = far_body;
	const uint32_t all = (uint32_t)tac_compliance_point_count(c);
	tac_rng rng = tac_rng_seed(5, 3);
	for (int with = 0; with < 2; with++) {
		const tac_compliance *of = with ? c : exact;
		int32_t points[POINTS];
		tac_compliance_force forces[FORCES];
		tac_dvec3 moved[POINTS];
		for (int k = 0; k < POINTS; k++)
			points[k] = (int32_t)(tac_rng_u32(&rng) % all);
		for (int k = 0; k < FORCES; k++)
			forces[k] = (tac_compliance_force){(int32_t)(tac_rng_u32(&rng) % all),
							   tac_dvec3_make(tac_rng_f64(&rng) - 0.5,
									  tac_rng_f64(&rng) - 0.5,
									  tac_rng_f64(&rng))};
		tac_compliance_displace(of, forces, FORCES, points, POINTS, moved);
		for (int i = 0; i < POINTS; i++) {
			tac_mat3 row[POINTS];
			tac_dvec3 sum = tac_dvec3_zero();
			const float own = tac_compliance_block(of, points[i], points[i]).m[2][2];
			for (int k = 0; k < FORCES; k++)
				sum = tac_dvec3_add(sum,
						    tac_dmat3_apply(tac_dmat3_from_mat3(tac_compliance_block(
									    of, points[i], forces[k].point)),
								    forces[k].force_N));
			TEST_ASSERT_DOUBLE_WITHIN(1e-5 * tac_dvec3_length(sum), 0,
						  tac_dvec3_length(tac_dvec3_sub(sum, moved[i])));
			tac_compliance_row(of, points[i], points, POINTS, row);
			for (int k = 0; k < 9 * POINTS; k++) {
				const tac_mat3 block = tac_compliance_block(of, points[i], points[k / 9]);
				TEST_ASSERT_FLOAT_WITHIN(1e-6f * own, block.m[k % 9 / 3][k % 3],
							 row[k / 9].m[k % 9 / 3][k % 3]);
			}
		}
	}
}

static void a_file_with_a_far_basis_gives_back_the_same_bytes(void)
{
	make_far_and_exact();
	const tac_compliance *c = far_body;
	tac_compliance *read;
	TEST_ASSERT_EQUAL(TAC_OK, tac_compliance_write(c, path));
	TEST_ASSERT_EQUAL(TAC_OK, tac_compliance_open(path, HASH, &read));
	TEST_ASSERT_EQUAL_MEMORY(c->image, read->image, c->image_bytes);
	TEST_ASSERT_EQUAL_DOUBLE(c->far_error, read->far_error);
	tac_compliance_destroy(&read);
}

// The pages of an opened file are there: to read any of them causes no page fault. A fault from elsewhere may
// come between, so the best of some attempts counts.
static void an_opened_file_causes_no_page_faults(void)
{
	if (TAC_TEST_SANITIZED)
		TEST_IGNORE_MESSAGE("a sanitizer has page faults of its own");
	tac_compliance *c = made(), *read;
	TEST_ASSERT_EQUAL(TAC_OK, tac_compliance_write(c, path));
	long least = LONG_MAX;
	for (int attempt = 0; attempt < 5 && least > 0; attempt++) {
		TEST_ASSERT_EQUAL(TAC_OK, tac_compliance_open(path, HASH, &read));
		const volatile char *bytes = read->image;
		struct rusage before, after;
		getrusage(RUSAGE_THREAD, &before);
		for (size_t at = 0; at < read->image_bytes; at += 4096)
			(void)bytes[at];
		getrusage(RUSAGE_THREAD, &after);
		const long faults = after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt;
		least = faults < least ? faults : least;
		tac_compliance_destroy(&read);
	}
	TEST_ASSERT_EQUAL(0, least);
	tac_compliance_destroy(&c);
}

static void shown_vertices_are_bound_where_they_project(void)
{
	tac_compliance *c = made();
	TEST_ASSERT_EQUAL(100, c->bound_count);
	for (int i = 0; i < 100; i++) {
		tac_dvec3 at = tac_dvec3_zero();
		double sum = 0;
		for (int k = 0; k < 3; k++) {
			const double w = (double)c->bound[i].weight[k];
			TEST_ASSERT_TRUE(w >= 0);
			sum += w;
			at = tac_dvec3_add_scaled(at, w,
						  tac_dvec3_from_vec3(c->vertices[c->bound[i].vertex[k]]));
		}
		TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1, sum);
		TEST_ASSERT_DOUBLE_WITHIN(1e-8, (double)shown[i].x, at.x);
		TEST_ASSERT_DOUBLE_WITHIN(1e-8, (double)shown[i].y, at.y);
	}
	tac_compliance_destroy(&c);
}

static void a_file_gives_back_the_same_bytes(void)
{
	tac_compliance *c = made(), *read;
	TEST_ASSERT_EQUAL(TAC_OK, tac_compliance_write(c, path));
	TEST_ASSERT_EQUAL(TAC_OK, tac_compliance_open(path, HASH, &read));
	TEST_ASSERT_EQUAL(c->image_bytes, read->image_bytes);
	TEST_ASSERT_EQUAL_MEMORY(c->image, read->image, c->image_bytes);
	TEST_ASSERT_EQUAL_DOUBLE(0.4, read->material.creep);
	TEST_ASSERT_EQUAL(c->level_start[3], read->level_start[3]);
	TEST_ASSERT_EQUAL(0, logged_lines);
	tac_compliance_destroy(&read);
	TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, tac_compliance_open(path, HASH + 1, &read));
	TEST_ASSERT_NULL(read);
	TEST_ASSERT_NOT_NULL(strstr(logged, "that of another body"));
	TEST_ASSERT_EQUAL(1, logged_lines);
	tac_compliance_destroy(&c);
}

static void write_bytes(const void *bytes, size_t size)
{
	FILE *f = fopen(path, "wb");
	TEST_ASSERT_NOT_NULL(f);
	TEST_ASSERT_EQUAL(size, fwrite(bytes, 1, size, f));
	fclose(f);
}

// Opens the bytes as a file and expects a refusal in one line.
static void expect_refused(const void *bytes, size_t size)
{
	tac_compliance *read;
	write_bytes(bytes, size);
	logged_lines = 0;
	const tac_result result = tac_compliance_open(path, HASH, &read);
	TEST_ASSERT_EQUAL_MESSAGE(TAC_ERROR_FORMAT, result, "a damaged file was accepted");
	TEST_ASSERT_NULL(read);
	TEST_ASSERT_EQUAL(1, logged_lines);
	TEST_ASSERT_NOT_NULL(strstr(logged, path));
}

// A small body, whose file is written often.
static tac_compliance *small(void)
{
	tac_compliance *c;
	tac_compliance_def d = def;
	d.node_count = 3;
	d.vertex_count = 4;
	d.triangle_count = 1;
	tac_vec3 four[4] = {vertices[0], vertices[SIDE], vertices[1], vertices[2]};
	tac_mesh_triangle t = {{0, 1, 2}};
	d.vertices = four;
	d.triangles = &t;
	TEST_ASSERT_EQUAL(TAC_OK, tac_compliance_create(&d, &c));
	return c;
}

static void any_changed_byte_is_noticed(void)
{
	tac_compliance *c = small();
	unsigned char *bytes = malloc(c->image_bytes);
	memcpy(bytes, c->image, c->image_bytes);
	const size_t step = (size_t)(test_rounds(1000) >= 1000 ? 1 : 7);
	for (size_t at = 0; at < c->image_bytes; at += at < sizeof(compliance_header) ? 1 : step) {
		const unsigned char bit =
			(unsigned char)(1u << ((at + at / 8) & 7)); // every bit of a word somewhere
		bytes[at] ^= bit;
		expect_refused(bytes, c->image_bytes);
		bytes[at] ^= bit;
	}
	free(bytes);
	tac_compliance_destroy(&c);
}

static void any_truncated_file_is_noticed(void)
{
	tac_compliance *c = small();
	for (size_t size = 0; size < c->image_bytes; size += size < 300 ? 1 : 61)
		expect_refused(c->image, size);
	char *longer = calloc(1, c->image_bytes + 64);
	memcpy(longer, c->image, c->image_bytes);
	expect_refused(longer, c->image_bytes + 64);
	free(longer);
	tac_compliance_destroy(&c);
}

// Random headers and indices under a right checksum: nothing is read beyond the file (a sanitizer would see
// it), whether the file is accepted or not.
static void forged_files_are_read_safely(void)
{
	tac_compliance *c = small();
	tac_rng rng = tac_rng_seed(3, 9);
	unsigned char *bytes = malloc(c->image_bytes);
	int refused = 0;
	const int rounds = test_rounds(4000);
	for (int n = 0; n < rounds; n++) {
		memcpy(bytes, c->image, c->image_bytes);
		for (uint32_t k = tac_rng_u32(&rng) % 3 + 1; k > 0; k--) {
			const size_t at =
				tac_rng_u32(&rng) % (n & 1 ? sizeof(compliance_header) : c->image_bytes);
			bytes[at] = (unsigned char)tac_rng_u32(&rng);
		}
		compliance_header h;
		memcpy(&h, bytes, sizeof h);
		h.checksum = tac_compliance_checksum(bytes, c->image_bytes);
		memcpy(bytes, &h, sizeof h);
		tac_compliance read;
		void *copy = aligned_alloc(64, c->image_bytes);
		memcpy(copy, bytes, c->image_bytes);
		if (tac_compliance_attach(&read, copy, c->image_bytes)) {
			refused++;
		} else {
			double sum = 0;
			for (int32_t i = 0; i < tac_compliance_point_count(&read); i++) {
				for (int32_t k = read.spread_start[i]; k < read.spread_start[i + 1]; k++)
					sum += (double)read.vertices[read.spread_node[k]].x;
				sum += (double)tac_compliance_block(&read, 0, i).m[0][0];
			}
			for (int32_t i = 0; i < read.bound_count; i++)
				sum += (double)read.vertices[read.bound[i].vertex[2]].y;
			TEST_ASSERT_TRUE(isfinite(sum));
		}
		free(copy);
	}
	TEST_ASSERT_TRUE(refused > rounds / 4);
	free(bytes);
	tac_compliance_destroy(&c);
}

static void a_missing_file_is_an_error_of_its_own(void)
{
	tac_compliance *read;
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_compliance_open("/nonexistent/x", HASH, &read));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_compliance_open("/tmp", HASH, &read));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_compliance_open("/dev/zero", HASH, &read));
	TEST_ASSERT_NULL(read);
	TEST_ASSERT_EQUAL(3, logged_lines);
}

static void expect_bad_def(void)
{
	tac_compliance *c;
	logged_lines = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_compliance_create(&def, &c));
	TEST_ASSERT_NULL(c);
	TEST_ASSERT_EQUAL(1, logged_lines);
	make_patch(SIDE);
}

static tac_dmat3 negative_block(const void *user, int32_t i, int32_t j)
{
	return tac_dmat3_scale(half_space_block(user, i, j), i == j ? -1 : 1);
}

static tac_dmat3 broken_block(const void *user, int32_t i, int32_t j)
{
	return tac_dmat3_scale(half_space_block(user, i, j), i == 9 && j == 5 ? NAN : 1);
}

static void bad_definitions_are_refused_in_one_line(void)
{
	def.node_count = 0;
	expect_bad_def();
	def.node_count = TAC_COMPLIANCE_NODES_MAX + 1;
	expect_bad_def();
	triangles[3].vertex[1] = -1;
	expect_bad_def();
	triangles[3].vertex[1] = def.vertex_count;
	expect_bad_def();
	triangles[3].vertex[1] = triangles[3].vertex[0];
	expect_bad_def();
	vertices[4].x = NAN;
	expect_bad_def();
	def.block = negative_block;
	expect_bad_def();
	def.block = broken_block;
	expect_bad_def();
	def.material.poisson = 0.5;
	expect_bad_def();
	def.material.young_Pa = NAN;
	expect_bad_def();
	shown[7].z = INFINITY;
	expect_bad_def();
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(blocks_of_nodes_are_those_of_the_closed_form);
	RUN_TEST(every_level_is_symmetric_and_positive_definite);
	RUN_TEST(levels_have_two_and_four_times_the_spacing);
	RUN_TEST(uniform_pressure_is_the_same_on_every_level);
	RUN_TEST(blocks_of_coarse_points_are_means_over_their_nodes);
	RUN_TEST(far_blocks_are_within_their_error);
	RUN_TEST(the_far_basis_leaves_it_positive_definite);
	RUN_TEST(rows_and_displacements_are_those_of_the_blocks);
	RUN_TEST(a_file_with_a_far_basis_gives_back_the_same_bytes);
	RUN_TEST(an_opened_file_causes_no_page_faults);
	RUN_TEST(shown_vertices_are_bound_where_they_project);
	RUN_TEST(a_file_gives_back_the_same_bytes);
	RUN_TEST(any_changed_byte_is_noticed);
	RUN_TEST(any_truncated_file_is_noticed);
	RUN_TEST(forged_files_are_read_safely);
	RUN_TEST(a_missing_file_is_an_error_of_its_own);
	RUN_TEST(bad_definitions_are_refused_in_one_line);
	tac_compliance_destroy(&far_body);
	tac_compliance_destroy(&exact_body);
	return UNITY_END();
}
