// Bodies that another program prepares, and their cache.
#include "collision/mesh_shapes.h"
#include "tests/support/logged.h"
#include "tissue/elastic.h"
#include "unity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[256];
static tac_mesh *mesh, *nodule;
static tac_elastic_def def;
static int told;
static double told_last;

static void progress(void *user, const char *name, double part)
{
	TEST_ASSERT_EQUAL_PTR(&told, user);
	TEST_ASSERT_EQUAL_STRING("liver", name);
	TEST_ASSERT_TRUE(part >= told_last && part <= 1);
	told_last = part;
	told++;
}

void setUp(void)
{
	snprintf(folder, sizeof folder, "/tmp/test prepare.XXXXXX");
	TEST_ASSERT_NOT_NULL(mkdtemp(folder));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.03f, 3, &mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.01f, 2, &nodule));
	def = tac_elastic_def_default();
	def.name = "liver";
	def.mesh = mesh;
	def.spacing_m = 0.014;
	def.fixed[0] = (tac_elastic_fixed){.low_m = tac_dvec3_splat(-INFINITY), .high_m = {1, 1, -0.02}};
	def.fixed_count = 1;
	static char inside[128];
	snprintf(inside, sizeof inside, "%s/a/b", folder);
	def.cache_folder = inside;
	TEST_ASSERT_TRUE(tac_elastic_cache_path(&def, path, sizeof path));
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	told = 0;
	told_last = 0;
	tac_elastic_set_progress(progress, &told);
}

void tearDown(void)
{
	char command[128];
	tac_log_set(NULL, NULL);
	tac_elastic_set_progress(NULL, NULL);
	tac_mesh_destroy(&mesh);
	tac_mesh_destroy(&nodule);
	snprintf(command, sizeof command, "rm -r '%s'", folder);
	TEST_ASSERT_EQUAL(0, system(command));
}

static tac_compliance *prepared(void)
{
	tac_compliance *c;
	told_last = 0;
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_elastic_prepare(&def, &c), logged);
	return c;
}

static void a_body_is_computed_once_and_then_read(void)
{
	struct stat first, second;
	tac_compliance *c = prepared();
	TEST_ASSERT_EQUAL(0, logged_lines);
	TEST_ASSERT_TRUE(told > 0);
	TEST_ASSERT_EQUAL(mesh->vertex_count, c->bound_count);
	TEST_ASSERT_TRUE(c->node_count > 40);
	TEST_ASSERT_EQUAL(0, stat(path, &first));
	def.program = "/nonexistent"; // not needed any more
	told = 0;
	tac_compliance *again = prepared();
	TEST_ASSERT_EQUAL(0, told);
	TEST_ASSERT_EQUAL(c->image_bytes, again->image_bytes);
	TEST_ASSERT_EQUAL_MEMORY(c->image, again->image, c->image_bytes);
	TEST_ASSERT_EQUAL(0, stat(path, &second));
	TEST_ASSERT_EQUAL(first.st_ino, second.st_ino);
	tac_compliance_destroy(&c);
	tac_compliance_destroy(&again);
}

// A damaged cache file: one line, and a good one afterwards.
static void expect_recomputed(const char *words)
{
	logged_lines = 0;
	told = 0;
	tac_compliance *c = prepared();
	TEST_ASSERT_TRUE(told > 0);
	TEST_ASSERT_EQUAL(1, logged_lines);
	TEST_ASSERT_NOT_NULL(strstr(logged, words));
	TEST_ASSERT_NOT_NULL(strstr(logged, path));
	tac_compliance *good;
	TEST_ASSERT_EQUAL(TAC_OK, tac_compliance_open(path, tac_elastic_hash(&def), &good));
	TEST_ASSERT_EQUAL_MEMORY(c->image, good->image, c->image_bytes);
	tac_compliance_destroy(&good);
	tac_compliance_destroy(&c);
}

static void a_damaged_file_is_reported_and_computed_again(void)
{
	tac_compliance *c = prepared();
	const size_t size = c->image_bytes;
	tac_compliance_destroy(&c);
	FILE *f = fopen(path, "r+b");
	fseek(f, (long)size - 100, SEEK_SET);
	fputc(0x55, f);
	fclose(f);
	expect_recomputed("corrupt");
	TEST_ASSERT_EQUAL(0, truncate(path, (off_t)size / 2));
	expect_recomputed("truncated");
	TEST_ASSERT_EQUAL(0, truncate(path, 0));
	expect_recomputed("truncated");
}

static void a_cache_that_cannot_be_written_is_no_obstacle(void)
{
	static char file[128];
	snprintf(file, sizeof file, "%s/file", folder);
	FILE *f = fopen(file, "w");
	fclose(f);
	def.cache_folder = file; // a file is no folder
	tac_compliance *c = prepared();
	TEST_ASSERT_EQUAL(1, logged_lines);
	tac_compliance_destroy(&c);
	def.cache_folder = "";
	logged_lines = 0;
	c = prepared();
	TEST_ASSERT_EQUAL(0, logged_lines);
	tac_compliance_destroy(&c);
}

static void expect_error(tac_result expected, const char *words)
{
	tac_compliance *c;
	logged_lines = 0;
	TEST_ASSERT_EQUAL(expected, tac_elastic_prepare(&def, &c));
	TEST_ASSERT_NULL(c);
	TEST_ASSERT_EQUAL(1, logged_lines);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, words), logged);
	TEST_ASSERT_NOT_NULL(strstr(logged, "liver"));
	TEST_ASSERT_NOT_EQUAL(0, access(path, F_OK));
}

static void what_cannot_be_prepared_is_refused_in_one_line(void)
{
	const tac_elastic_def good = def;
	def.program = "/nonexistent";
	expect_error(TAC_ERROR_UNSUPPORTED, "no program");
	def.program = "/bin/false";
	expect_error(TAC_ERROR_ARGUMENT, "exit code 1");
	def = good;
	def.fixed[0].high_m.z = -1; // beyond the body
	expect_error(TAC_ERROR_ARGUMENT, "hold the body");
	def = good;
	def.spacing_m = 0.00095;
	expect_error(TAC_ERROR_ARGUMENT, "would do");
	def = good;
	def.spacing_m = 0.5;
	expect_error(TAC_ERROR_ARGUMENT, "below the size");
	def = good;
	def.fixed_count = 0;
	expect_error(TAC_ERROR_ARGUMENT, "1 to 8 fixed parts");
	def = good;
	def.order = 3;
	expect_error(TAC_ERROR_ARGUMENT, "order 1 or 2");
	def = good;
	def.material.poisson = 0.5;
	expect_error(TAC_ERROR_ARGUMENT, "Poisson");
	def = good;
	def.inside_count = 9;
	expect_error(TAC_ERROR_ARGUMENT, "at most 8");
	def = good;
	mesh->open_edges = 1;
	expect_error(TAC_ERROR_ARGUMENT, "closed mesh");
}

static void locking_is_announced(void)
{
	def.material.poisson = 0.49;
	tac_compliance *c = prepared();
	TEST_ASSERT_EQUAL(1, logged_lines);
	TEST_ASSERT_NOT_NULL(strstr(logged, "too stiff"));
	tac_compliance_destroy(&c);
}

// Whatever the result depends on changes its name, and nothing else does.
static void the_hash_covers_everything_but_the_name(void)
{
	const tac_elastic_def good = def;
	uint64_t seen[24];
	int count = 0;
	seen[count++] = tac_elastic_hash(&def);
	def.name = "other";
	TEST_ASSERT_EQUAL_UINT64(seen[0], tac_elastic_hash(&def));
#define ANOTHER(change)                                                                                      \
	def = good;                                                                                          \
	change;                                                                                              \
	seen[count++] = tac_elastic_hash(&def)
	ANOTHER(def.spacing_m *= 1.0001);
	ANOTHER(def.order = 2);
	ANOTHER(def.material.young_Pa += 1);
	ANOTHER(def.material.poisson = 0.44);
	ANOTHER(def.material.creep = 0.1);
	ANOTHER(def.material.creep_time_s = 1);
	ANOTHER(def.touch_radius_m = 0.01);
	ANOTHER(def.touch_centre_m.y = 0.01);
	ANOTHER(def.fixed[0].high_m.z = -0.021);
	ANOTHER(def.fixed_count = 2);
	ANOTHER(def.fixed[0].mesh = nodule);
	ANOTHER(def.inside_count = 1; def.inside[0] = ((tac_elastic_inside){nodule, 7e4, 0.45}));
	ANOTHER(def.inside_count = 1; def.inside[0] = ((tac_elastic_inside){nodule, 7e4, 0.44}));
	ANOTHER(def.inside_count = 1; def.inside[0] = ((tac_elastic_inside){mesh, 7e4, 0.45}));
	ANOTHER(mesh->vertices[5].x += 1e-6f);
	for (int i = 0; i < count; i++) {
		for (int j = 0; j < i; j++)
			TEST_ASSERT_NOT_EQUAL_UINT64(seen[i], seen[j]);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_body_is_computed_once_and_then_read);
	RUN_TEST(a_damaged_file_is_reported_and_computed_again);
	RUN_TEST(a_cache_that_cannot_be_written_is_no_obstacle);
	RUN_TEST(what_cannot_be_prepared_is_refused_in_one_line);
	RUN_TEST(locking_is_announced);
	RUN_TEST(the_hash_covers_everything_but_the_name);
	return UNITY_END();
}
