// Bodies that another program prepares, and their cache.
#include "collision/mesh_shapes.h"
#include "tests/support/logged.h"
#include "tissue/elastic/cache.h"
#include "unity.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
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
	f = fopen(path, "r+b");
	fseek(f, 8, SEEK_SET); // behind the magic word
	fputc(0x77, f);
	fclose(f);
	expect_recomputed("another version");
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

// A file of 1,000 bytes in the cache's folder that was used `age_s` ago. Its descriptor, or -1.
static int old_file(const char *name, int age_s, bool in_use)
{
	char at[256];
	snprintf(at, sizeof at, "%s/%s", folder, name);
	const int fd = open(at, O_RDWR | O_CREAT, 0600);
	TEST_ASSERT_TRUE(fd >= 0);
	TEST_ASSERT_EQUAL(0, ftruncate(fd, 1000));
	const struct timespec times[2] = {{time(NULL) - age_s, 0}, {time(NULL) - age_s, 0}};
	TEST_ASSERT_EQUAL(0, futimens(fd, times));
	if (in_use) {
		TEST_ASSERT_EQUAL(0, flock(fd, LOCK_SH));
		return fd;
	}
	close(fd);
	return -1;
}

static bool exists(const char *name)
{
	char at[256];
	snprintf(at, sizeof at, "%s/%s", folder, name);
	return access(at, F_OK) == 0;
}

static void the_cache_loses_what_was_not_used_for_longest(void)
{
	char at[256];
	snprintf(at, sizeof at, "%s/00000000000000ff.tissue", folder);
	const int used = old_file("0000000000000001.tissue", 9000, true);
	old_file("0000000000000002.tissue", 8000, false);
	old_file("0000000000000003.tissue", 1000, false);
	old_file("0000000000000004.tissue", 7000, false);
	old_file("00000000000000ff.tissue", 9999, false); // the new one itself
	old_file("notes.tissue", 9999, false);
	old_file("000000000000000g.tissue", 9999, false);
	TEST_ASSERT_EQUAL(0, tac_elastic_cache_limit(at, 5000));
	TEST_ASSERT_EQUAL(0, logged_lines);
	TEST_ASSERT_EQUAL(2, tac_elastic_cache_limit(at, 3500));
	TEST_ASSERT_EQUAL(1, logged_lines);
	TEST_ASSERT_TRUE(exists("0000000000000001.tissue") && exists("0000000000000003.tissue"));
	TEST_ASSERT_FALSE(exists("0000000000000002.tissue") || exists("0000000000000004.tissue"));
	TEST_ASSERT_EQUAL(1, tac_elastic_cache_limit(at, 0)); // neither what is used nor the new one
	TEST_ASSERT_TRUE(exists("0000000000000001.tissue") && exists("00000000000000ff.tissue"));
	close(used);
	TEST_ASSERT_EQUAL(1, tac_elastic_cache_limit(at, 0));
	TEST_ASSERT_TRUE(exists("notes.tissue") && exists("000000000000000g.tissue"));
	TEST_ASSERT_EQUAL(0, tac_elastic_cache_limit("/nonexistent/00000000000000ff.tissue", 0));
}

// As long as a body is open its file stays, and opening it makes it one that was used.
static void a_body_in_use_stays_in_the_cache(void)
{
	char beside[300];
	tac_compliance *c = prepared();
	tac_compliance_destroy(&c);
	const struct timespec times[2] = {{1000, 0}, {1000, 0}};
	TEST_ASSERT_EQUAL(0, utimensat(AT_FDCWD, path, times, 0));
	snprintf(beside, sizeof beside, "%s/x", def.cache_folder);
	c = prepared();
	struct stat status;
	TEST_ASSERT_EQUAL(0, stat(path, &status));
	TEST_ASSERT_TRUE(status.st_mtim.tv_sec > 1000);
	TEST_ASSERT_EQUAL(0, tac_elastic_cache_limit(beside, 0));
	TEST_ASSERT_EQUAL(0, access(path, F_OK));
	tac_compliance_destroy(&c);
	TEST_ASSERT_EQUAL(1, tac_elastic_cache_limit(beside, 0));
	TEST_ASSERT_NOT_EQUAL(0, access(path, F_OK));
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
	def.fixed[0].high_m = tac_dvec3_splat(1);
	expect_error(TAC_ERROR_ARGUMENT, "can be touched");
	def = good;
	mesh->open_edges = 1;
	expect_error(TAC_ERROR_ARGUMENT, "closed mesh");
}

// A mesh of the ball and the nodule moved by some metres; turned inside out, if asked for.
static tac_mesh *joined(float by, bool turned)
{
	tac_mesh_def both = tac_mesh_def_default();
	both.vertex_count = mesh->vertex_count + nodule->vertex_count;
	both.triangle_count = mesh->triangle_count + nodule->triangle_count;
	tac_vec3 *v = malloc((size_t)both.vertex_count * sizeof *v);
	tac_mesh_triangle *t = malloc((size_t)both.triangle_count * sizeof *t);
	for (int32_t i = 0; i < both.vertex_count; i++)
		v[i] = i < mesh->vertex_count ? mesh->vertices[i]
					      : tac_vec3_add(nodule->vertices[i - mesh->vertex_count],
							     tac_vec3_make(by, 0, 0));
	for (int32_t i = 0; i < both.triangle_count; i++) {
		const bool first = i < mesh->triangle_count;
		const int32_t *from = first ? mesh->triangles[i].vertex
					    : nodule->triangles[i - mesh->triangle_count].vertex;
		for (int k = 0; k < 3; k++)
			t[i].vertex[k] = from[turned ? 2 - k : k] + (first ? 0 : mesh->vertex_count);
	}
	both.vertices = v;
	both.triangles = t;
	tac_mesh *out;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&both, &out));
	free(v);
	free(t);
	return out;
}

static void hostile_meshes_are_refused_in_one_line_or_prepared(void)
{
	const tac_elastic_def good = def;
	tac_mesh *apart = joined(0.1f, false), *inverted = joined(0.1f, true),
		 *crossing = joined(0.03f, false);
	def.mesh = apart;
	expect_error(TAC_ERROR_ARGUMENT, "hangs together");
	def.mesh = inverted;
	expect_error(TAC_ERROR_ARGUMENT, "inside out");
	def = good;
	def.inside[0] = (tac_elastic_inside){inverted, 7e4, 0.45};
	def.inside_count = 1;
	expect_error(TAC_ERROR_ARGUMENT, "inside out");
	for (int32_t i = 0; i < nodule->vertex_count; i++)
		nodule->vertices[i].x += 1;
	def.inside[0].mesh = nodule;
	expect_error(TAC_ERROR_ARGUMENT, "lies outside");
	def = good;
	// One node of the surface holds nothing.
	const tac_dvec3 top = tac_dvec3_make(0, 0, 0.03);
	def.fixed[0] = (tac_elastic_fixed){.low_m = tac_dvec3_sub(top, tac_dvec3_splat(1e-4)),
					   .high_m = tac_dvec3_add(top, tac_dvec3_splat(1e-4))};
	expect_error(TAC_ERROR_ARGUMENT, "fewer than three nodes");
	def = good;
	logged_lines = 0;
	def.mesh = crossing; // what overlaps is one body
	tac_compliance *c = prepared();
	TEST_ASSERT_EQUAL(0, logged_lines);
	tac_compliance_destroy(&c);
	tac_mesh_destroy(&apart);
	tac_mesh_destroy(&inverted);
	tac_mesh_destroy(&crossing);
}

// Nearly incompressible: elements of order 2 give way about as much as at 0.49, and nothing breaks down.
static void a_nearly_incompressible_body_is_prepared(void)
{
	double give[2];
	for (int k = 0; k < 2; k++) {
		def.order = 2;
		def.material.poisson = k ? 0.4999 : 0.49;
		tac_compliance *c = prepared();
		int32_t top = 0;
		for (int32_t i = 0; i < c->node_count; i++)
			top = c->vertices[i].z > c->vertices[top].z ? i : top;
		give[k] = (double)tac_compliance_block(c, top, top).m[2][2];
		tac_compliance_destroy(&c);
	}
	TEST_ASSERT_EQUAL(0, logged_lines);
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 0.95, give[1] / give[0]);
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
	RUN_TEST(the_cache_loses_what_was_not_used_for_longest);
	RUN_TEST(a_body_in_use_stays_in_the_cache);
	RUN_TEST(what_cannot_be_prepared_is_refused_in_one_line);
	RUN_TEST(hostile_meshes_are_refused_in_one_line_or_prepared);
	RUN_TEST(a_nearly_incompressible_body_is_prepared);
	RUN_TEST(locking_is_announced);
	RUN_TEST(the_hash_covers_everything_but_the_name);
	return UNITY_END();
}
