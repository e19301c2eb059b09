// Mesh files loaded through the importer process: one mesh written here byte by byte in ten formats, scenes
// with transforms and parts, the reference meshes if present, and importers that misbehave.
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "tests/support/logged.h"

#include "unity.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/tactus_mesh_XXXXXX";
static char path[256];

void setUp(void)
{
	logged_lines = 0;
	logged[0] = 0;
	tac_log_set(keep_logged, NULL);
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
	// Only what this test made: `path` may name a reference mesh when an assertion ends a test early.
	if (strncmp(path, folder, strlen(folder)) == 0)
		remove(path);
}

static FILE *create(const char *name)
{
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "wb");
	TEST_ASSERT_NOT_NULL(f);
	return f;
}

static void write_text(const char *name, const char *text)
{
	FILE *f = create(name);
	fputs(text, f);
	fclose(f);
}

static tac_mesh *load(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_mesh_load(path, NULL, &mesh), logged);
	TEST_ASSERT_EQUAL_INT(0, logged_lines);
	return mesh;
}

static void expect_refused_by(const tac_mesh_load_def *def, tac_result expected, const char *words)
{
	tac_mesh *mesh = (tac_mesh *)&mesh;
	logged_lines = 0;
	const tac_result result = tac_mesh_load(path, def, &mesh);
	TEST_ASSERT_EQUAL_MESSAGE(expected, result, logged);
	TEST_ASSERT_NULL(mesh);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, words), logged);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, path), logged);
	TEST_ASSERT_NULL(strpbrk(logged, "\n\r\x1b"));
}

// The sample: a torus on a grid of 1/1024 m, so that decimal text represents it exactly.

static tac_mesh *sample;

static void make_sample(void)
{
	tac_mesh *torus;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1, 0.25f, 20, 12, &torus));
	for (int32_t i = 0; i < torus->vertex_count; i++) {
		tac_vec3 *v = &torus->vertices[i];
		*v = tac_vec3_make(roundf(v->x * 1024) / 1024, roundf(v->y * 1024) / 1024,
				   roundf(v->z * 1024) / 1024);
	}
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = torus->vertices;
	def.vertex_count = torus->vertex_count;
	def.triangles = torus->triangles;
	def.triangle_count = torus->triangle_count;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &sample));
	TEST_ASSERT_TRUE(tac_mesh_is_watertight(sample));
	TEST_ASSERT_EQUAL_INT(240, sample->vertex_count);
	TEST_ASSERT_EQUAL_INT(480, sample->triangle_count);
	tac_mesh_destroy(&torus);
}

// Loads the file and expects the same topology and the same position of every corner.
static void expect_sample(void)
{
	tac_mesh *mesh = load();
	TEST_ASSERT_EQUAL_INT(sample->triangle_count, mesh->triangle_count);
	TEST_ASSERT_EQUAL_INT(sample->vertex_count, mesh->vertex_count);
	TEST_ASSERT_EQUAL_INT(sample->edge_count, mesh->edge_count);
	TEST_ASSERT_TRUE(tac_mesh_is_watertight(mesh));
	TEST_ASSERT_EQUAL_INT(0, mesh->degenerate_triangles);
	TEST_ASSERT_EQUAL_INT(sample->surface_count, mesh->surface_count);
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		for (int k = 0; k < 3; k++) {
			const tac_vec3 expected = sample->vertices[sample->triangles[t].vertex[k]];
			const tac_vec3 actual = mesh->vertices[mesh->triangles[t].vertex[k]];
			TEST_ASSERT_EQUAL_MEMORY(&expected, &actual, sizeof actual);
		}
		TEST_ASSERT_EQUAL_INT(sample->triangle_surface[t], mesh->triangle_surface[t]);
	}
	tac_mesh_destroy(&mesh);
}

static tac_vec3 corner(int32_t t, int k)
{
	return sample->vertices[sample->triangles[t].vertex[k]];
}

static void write_u32(FILE *f, uint32_t value)
{
	const unsigned char b[] = {(unsigned char)value, (unsigned char)(value >> 8),
				   (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
	fwrite(b, 1, 4, f);
}

static void write_u32_big(FILE *f, uint32_t value)
{
	write_u32(f, __builtin_bswap32(value));
}

static void write_u16(FILE *f, uint32_t value)
{
	fputc((int)(value & 0xFF), f);
	fputc((int)(value >> 8 & 0xFF), f);
}

static uint32_t bits(float value)
{
	uint32_t b;
	memcpy(&b, &value, 4);
	return b;
}

static void write_numbers(FILE *f, const char *before, tac_vec3 v)
{
	fprintf(f, "%s%.10f %.10f %.10f\n", before, (double)v.x, (double)v.y, (double)v.z);
}

static void write_vector(FILE *f, tac_vec3 v)
{
	write_u32(f, bits(v.x));
	write_u32(f, bits(v.y));
	write_u32(f, bits(v.z));
}

// A line for each vertex and triangle of the sample; vertices are numbered from `first`.
static void write_lines(FILE *f, const char *vertex_prefix, const char *triangle_prefix, int first)
{
	for (int32_t i = 0; i < sample->vertex_count; i++)
		write_numbers(f, vertex_prefix, sample->vertices[i]);
	for (int32_t t = 0; t < sample->triangle_count; t++) {
		const int32_t *v = sample->triangles[t].vertex;
		fprintf(f, "%s%d %d %d\n", triangle_prefix, v[0] + first, v[1] + first, v[2] + first);
	}
}

static void obj_is_read(void)
{
	FILE *f = create("sample.obj");
	write_lines(f, "v ", "f ", 1);
	fclose(f);
	expect_sample();
}

static void text_stl_is_read(void)
{
	FILE *f = create("sample.stl");
	fprintf(f, "solid torus\n");
	for (int32_t t = 0; t < sample->triangle_count; t++) {
		fprintf(f, "facet normal 0 0 0\nouter loop\n");
		for (int k = 0; k < 3; k++)
			write_numbers(f, "vertex ", corner(t, k));
		fprintf(f, "endloop\nendfacet\n");
	}
	fprintf(f, "endsolid torus\n");
	fclose(f);
	expect_sample();
}

static void binary_stl_is_read(void)
{
	FILE *f = create("sample.stl");
	char header[80] = "binary";
	fwrite(header, 1, 80, f);
	write_u32(f, (uint32_t)sample->triangle_count);
	for (int32_t t = 0; t < sample->triangle_count; t++) {
		write_vector(f, tac_vec3_zero());
		for (int k = 0; k < 3; k++)
			write_vector(f, corner(t, k));
		write_u16(f, 0);
	}
	fclose(f);
	expect_sample();
}

static FILE *begin_ply(const char *format)
{
	FILE *f = create("sample.ply");
	fprintf(f,
		"ply\nformat %s 1.0\n"
		"element vertex %d\nproperty float x\nproperty float y\nproperty float z\n"
		"element face %d\nproperty list uchar int vertex_indices\nend_header\n",
		format, sample->vertex_count, sample->triangle_count);
	return f;
}

static void text_ply_is_read(void)
{
	FILE *f = begin_ply("ascii");
	write_lines(f, "", "3 ", 0);
	fclose(f);
	expect_sample();
}

static void write_binary_ply(const char *format, void (*write)(FILE *, uint32_t))
{
	FILE *f = begin_ply(format);
	for (int32_t i = 0; i < sample->vertex_count; i++) {
		const tac_vec3 v = sample->vertices[i];
		write(f, bits(v.x));
		write(f, bits(v.y));
		write(f, bits(v.z));
	}
	for (int32_t t = 0; t < sample->triangle_count; t++) {
		fputc(3, f);
		for (int k = 0; k < 3; k++)
			write(f, (uint32_t)sample->triangles[t].vertex[k]);
	}
	fclose(f);
}

static void binary_ply_is_read_in_both_byte_orders(void)
{
	write_binary_ply("binary_little_endian", write_u32);
	expect_sample();
	write_binary_ply("binary_big_endian", write_u32_big);
	expect_sample();
}

static void off_is_read(void)
{
	FILE *f = create("sample.off");
	fprintf(f, "OFF\n%d %d 0\n", sample->vertex_count, sample->triangle_count);
	write_lines(f, "", "3 ", 0);
	fclose(f);
	expect_sample();
}

// The JSON of a glTF file with one buffer: positions, then indices. `uri` is a member with its comma, or "".
static int gltf_json(char *out, size_t size, const char *uri, const char *nodes)
{
	const int positions = 12 * sample->vertex_count, indices = 12 * sample->triangle_count;
	return snprintf(
		out, size,
		"{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[%s],"
		"\"meshes\":[{\"name\":\"torus\",\"primitives\":[{\"attributes\":{\"POSITION\":0},"
		"\"indices\":1}]}],"
		"\"buffers\":[{%s\"byteLength\":%d}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":%d},"
		"{\"buffer\":0,\"byteOffset\":%d,\"byteLength\":%d}],\"accessors\":[{\"bufferView\":0,"
		"\"componentType\":5126,\"count\":%d,\"type\":\"VEC3\",\"min\":[-2,-2,-2],\"max\":[2,2,2]},"
		"{\"bufferView\":1,\"componentType\":5125,\"count\":%d,\"type\":\"SCALAR\"}]}",
		nodes, uri, positions + indices, positions, positions, indices, sample->vertex_count,
		3 * sample->triangle_count);
}

static void write_gltf_buffer(FILE *f)
{
	for (int32_t i = 0; i < sample->vertex_count; i++)
		write_vector(f, sample->vertices[i]);
	for (int32_t t = 0; t < sample->triangle_count; t++)
		for (int k = 0; k < 3; k++)
			write_u32(f, (uint32_t)sample->triangles[t].vertex[k]);
}

static void write_gltf(const char *nodes)
{
	FILE *f = create("sample.bin");
	write_gltf_buffer(f);
	fclose(f);
	f = create("sample.gltf");
	char json[4096];
	gltf_json(json, sizeof json, "\"uri\":\"sample.bin\",", nodes);
	fputs(json, f);
	fclose(f);
}

static void remove_gltf_buffer(void)
{
	char bin[300];
	snprintf(bin, sizeof bin, "%s/sample.bin", folder);
	remove(bin);
}

static void gltf_is_read(void)
{
	write_gltf("{\"mesh\":0}");
	expect_sample();
	remove_gltf_buffer();
	expect_refused_by(NULL, TAC_ERROR_IO, "sample.bin"); // its buffer is gone
}

static void glb_is_read(void)
{
	char json[4096];
	const int length = gltf_json(json, sizeof json, "", "{\"mesh\":0}");
	const uint32_t padded = (uint32_t)(length + 3) / 4 * 4;
	const uint32_t binary = (uint32_t)(12 * (sample->vertex_count + sample->triangle_count));
	FILE *f = create("sample.glb");
	fwrite("glTF", 1, 4, f);
	write_u32(f, 2);
	write_u32(f, 12 + 8 + padded + 8 + binary);
	write_u32(f, padded);
	fwrite("JSON", 1, 4, f);
	fprintf(f, "%s%*s", json, (int)padded - length, "");
	write_u32(f, binary);
	fwrite("BIN\0", 1, 4, f);
	write_gltf_buffer(f);
	fclose(f);
	expect_sample();
}

static uint32_t crc32(const char *bytes, size_t size)
{
	uint32_t crc = 0xFFFFFFFFu;
	for (size_t i = 0; i < size; i++) {
		crc ^= (unsigned char)bytes[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
	}
	return ~crc;
}

// The fields that the local and the central header of a stored (uncompressed) zip entry share.
static void write_zip_fields(FILE *f, const char *name, const char *text)
{
	write_u16(f, 20); // version
	write_u16(f, 0);  // flags
	write_u16(f, 0);  // stored
	write_u32(f, 0);  // time
	write_u32(f, crc32(text, strlen(text)));
	write_u32(f, (uint32_t)strlen(text));
	write_u32(f, (uint32_t)strlen(text));
	write_u16(f, (uint32_t)strlen(name));
	write_u16(f, 0); // extra
}

static void write_zip(FILE *f, const char *const entries[][2], int count)
{
	uint32_t offsets[8];
	for (int i = 0; i < count; i++) {
		offsets[i] = (uint32_t)ftell(f);
		fwrite("PK\3\4", 1, 4, f);
		write_zip_fields(f, entries[i][0], entries[i][1]);
		fputs(entries[i][0], f);
		fputs(entries[i][1], f);
	}
	const uint32_t directory = (uint32_t)ftell(f);
	for (int i = 0; i < count; i++) {
		fwrite("PK\1\2", 1, 4, f);
		write_u16(f, 20);
		write_zip_fields(f, entries[i][0], entries[i][1]);
		write_u16(f, 0); // comment
		write_u16(f, 0); // disk
		write_u16(f, 0);
		write_u32(f, 0);
		write_u32(f, offsets[i]);
		fputs(entries[i][0], f);
	}
	const uint32_t end = (uint32_t)ftell(f);
	fwrite("PK\5\6", 1, 4, f);
	write_u32(f, 0);
	write_u16(f, (uint32_t)count);
	write_u16(f, (uint32_t)count);
	write_u32(f, end - directory);
	write_u32(f, directory);
	write_u16(f, 0);
}

static void threemf_is_read(void)
{
	char *model;
	size_t size;
	FILE *m = open_memstream(&model, &size);
	TEST_ASSERT_NOT_NULL(m);
	fprintf(m, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model unit=\"meter\" "
		   "xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\"><resources>"
		   "<object id=\"1\" type=\"model\"><mesh><vertices>");
	for (int32_t i = 0; i < sample->vertex_count; i++) {
		const tac_vec3 v = sample->vertices[i];
		fprintf(m, "<vertex x=\"%.10f\" y=\"%.10f\" z=\"%.10f\"/>\n", (double)v.x, (double)v.y,
			(double)v.z);
	}
	fprintf(m, "</vertices><triangles>");
	for (int32_t t = 0; t < sample->triangle_count; t++) {
		const int32_t *v = sample->triangles[t].vertex;
		fprintf(m, "<triangle v1=\"%d\" v2=\"%d\" v3=\"%d\"/>\n", v[0], v[1], v[2]);
	}
	fprintf(m, "</triangles></mesh></object></resources><build><item objectid=\"1\"/></build></model>");
	fclose(m);
	const char *const entries[][2] = {
		{"[Content_Types].xml",
		 "<?xml version=\"1.0\"?><Types "
		 "xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
		 "<Default Extension=\"rels\" "
		 "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
		 "<Default Extension=\"model\" "
		 "ContentType=\"application/vnd.ms-package.3dmanufacturing-3dmodel+xml\"/></Types>"},
		{"_rels/.rels",
		 "<?xml version=\"1.0\"?><Relationships "
		 "xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship "
		 "Target=\"/3D/3dmodel.model\" Id=\"rel0\" "
		 "Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel\"/></Relationships>"},
		{"3D/3dmodel.model", model},
	};
	FILE *f = create("sample.3mf");
	write_zip(f, entries, 3);
	fclose(f);
	free(model);
	expect_sample();
}

static void node_transforms_are_applied_and_a_reflection_keeps_the_outside_outside(void)
{
	// Node 0 translates by (10, 0, 0). Its child 1 scales by 2, its child 2 reflects and translates by
	// (0, 100, 0).
	write_gltf("{\"translation\":[10,0,0],\"children\":[1,2]},{\"mesh\":0,\"scale\":[2,2,2]},"
		   "{\"mesh\":0,\"name\":\"mirrored\",\"matrix\":[-1,0,0,0, 0,1,0,0, 0,0,1,0, 0,100,0,1]}");
	tac_mesh *mesh = load();
	TEST_ASSERT_EQUAL_INT(2 * sample->triangle_count, mesh->triangle_count);
	TEST_ASSERT_EQUAL_INT(2, mesh->surface_count); // two instances, two parts
	TEST_ASSERT_EQUAL_STRING("mirrored", mesh->surfaces[1].name);
	TEST_ASSERT_TRUE(tac_mesh_is_watertight(mesh));
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, 9 * tac_mesh_volume(sample), tac_mesh_volume(mesh));
	for (int32_t t = 0; t < sample->triangle_count; t++) {
		for (int k = 0; k < 3; k++) {
			const tac_vec3 p = corner(t, k);
			const tac_vec3 big = mesh->vertices[mesh->triangles[t].vertex[k]];
			TEST_ASSERT_EQUAL_FLOAT(2 * p.x + 10, big.x); // exact: the grid is coarse
			TEST_ASSERT_EQUAL_FLOAT(2 * p.y, big.y);
			TEST_ASSERT_EQUAL_FLOAT(2 * p.z, big.z);
		}
		const tac_vec3 p = corner(t, 0);
		const tac_vec3 image = mesh->vertices[mesh->triangles[sample->triangle_count + t].vertex[0]];
		TEST_ASSERT_EQUAL_FLOAT(10 - p.x, image.x);
		TEST_ASSERT_EQUAL_FLOAT(100 + p.y, image.y);
	}
	tac_mesh_destroy(&mesh);
	remove_gltf_buffer();
}

static void groups_and_materials_of_obj_are_surfaces(void)
{
	write_text("parts.obj",
		   "g handle\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl steel\nf 1 3 2\nusemtl wood\n"
		   "f 1 2 4\ng blade\nf 1 4 3\nf 2 3 4\n");
	tac_mesh *mesh = load();
	TEST_ASSERT_TRUE(tac_mesh_is_watertight(mesh)); // the parts are welded to each other
	TEST_ASSERT_EQUAL_INT(3, mesh->surface_count);
	TEST_ASSERT_EQUAL_STRING("handle/steel", mesh->surfaces[0].name);
	TEST_ASSERT_EQUAL_STRING("handle/wood", mesh->surfaces[1].name);
	TEST_ASSERT_EQUAL_STRING("blade/wood", mesh->surfaces[2].name);
	TEST_ASSERT_EQUAL_INT(2, mesh->surfaces[2].triangle_count);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1.0 / 6, tac_mesh_volume(mesh));
	tac_mesh_destroy(&mesh);
}

static void polygons_are_triangulated_and_a_single_part_is_divided_at_its_creases(void)
{
	write_text("cube.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
			       "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 2 3 7 6\nf -8 -4 -1 -5\n");
	tac_mesh *mesh = load();
	TEST_ASSERT_EQUAL_INT(12, mesh->triangle_count);
	TEST_ASSERT_EQUAL_INT(8, mesh->vertex_count);
	TEST_ASSERT_TRUE(tac_mesh_is_watertight(mesh));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1, tac_mesh_volume(mesh));
	TEST_ASSERT_EQUAL_INT(6, mesh->surface_count);
	tac_mesh_destroy(&mesh);

	tac_mesh_load_def def = tac_mesh_load_def_default();
	def.crease_angle_rad = 3;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_load(path, &def, &mesh));
	TEST_ASSERT_EQUAL_INT(1, mesh->surface_count);
	tac_mesh_destroy(&mesh);
}

// ---- references to other files ----

#define TRIANGLE "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\nusemtl blue\nf 3 2 1\n"

static void write_triangle_bin(const char *name)
{
	const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
	FILE *f = create(name);
	fwrite(corners, sizeof corners, 1, f);
	fclose(f);
}

// A glTF file whose only buffer is the file `uri`.
static void write_gltf_with_buffer(const char *name, const char *uri)
{
	FILE *f = create(name);
	fprintf(f,
		"{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
		"\"nodes\":[{\"mesh\":0}],\"buffers\":[{\"byteLength\":36,\"uri\":\"%s\"}],"
		"\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"
		"\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\","
		"\"min\":[0,0,0],\"max\":[1,1,0]}],"
		"\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]}",
		uri);
	fclose(f);
}

static void write_obj_with_materials(const char *name, const char *library)
{
	FILE *f = create(name);
	fprintf(f, "mtllib %s\n" TRIANGLE, library);
	fclose(f);
}

// The tests write into a folder whose name has a space, with a sub-folder, between files outside.
static void make_references_folder(void)
{
	char name[128];
	snprintf(name, sizeof name, "%s/a b", folder);
	mkdir(name, 0755);
	snprintf(name, sizeof name, "%s/a b/sub", folder);
	mkdir(name, 0755);
	write_triangle_bin("outside.bin");
	write_text("outside.mtl", "newmtl red\nnewmtl blue\n");
	write_triangle_bin("a b/inside.bin");
	write_triangle_bin("a b/sub/inside.bin");
	write_text("a b/inside.mtl", "newmtl red\nKd 1 0 0\nmap_Kd no.png\nnewmtl blue\nKd 0 0 1\n");
	snprintf(name, sizeof name, "%s/a b/link.bin", folder);
	TEST_ASSERT_EQUAL_INT(0, symlink("../outside.bin", name));
	snprintf(name, sizeof name, "%s/a b/up", folder);
	TEST_ASSERT_EQUAL_INT(0, symlink("..", name));
}

static void remove_references_folder(void)
{
	char command[200];
	snprintf(command, sizeof command, "rm -rf '%s/a b' '%s'/outside.*", folder, folder);
	TEST_ASSERT_EQUAL_INT(0, system(command));
}

static void files_beside_and_below_the_mesh_are_read(void)
{
	make_references_folder();
	static const char *const inside[] = {"inside.bin", "./inside.bin", "sub/inside.bin",
					     "sub/../inside.bin", "sub\\\\inside.bin"};
	for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
		write_gltf_with_buffer("a b/part.gltf", inside[i]);
		tac_mesh *mesh = load();
		TEST_ASSERT_EQUAL_INT(1, mesh->triangle_count);
		tac_mesh_destroy(&mesh);
	}
	write_obj_with_materials("a b/part.obj", "inside.mtl");
	tac_mesh *mesh = load();
	TEST_ASSERT_EQUAL_INT(2, mesh->surface_count);
	TEST_ASSERT_NOT_NULL(strstr(mesh->surfaces[0].name, "red"));
	tac_mesh_destroy(&mesh);
	write_obj_with_materials("a b/part.obj", "C:\\materials\\other.mtl"); // missing, as before
	mesh = load();
	TEST_ASSERT_EQUAL_INT(2, mesh->triangle_count);
	tac_mesh_destroy(&mesh);
	remove_references_folder();
}

static void references_that_leave_the_folder_are_refused_by_name(void)
{
	char absolute[300], words[700];
	make_references_folder();
	snprintf(absolute, sizeof absolute, "%s/outside.bin", folder);
	const struct {
		const char *reference, *found;
	} cases[] = {
		{"../outside.bin", "outside of its folder"},
		{absolute, "outside of its folder"},
		{"sub/../../outside.bin", "outside of its folder"},
		{"..\\\\outside.bin", "outside of its folder"},
		{"link.bin", "a symbolic link"},
		{"up/outside.bin", "a symbolic link"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		write_gltf_with_buffer("a b/part.gltf", cases[i].reference);
		char name[300]; // as JSON means it
		snprintf(name, sizeof name, "%s", cases[i].reference);
		char *pair = strstr(name, "\\\\");
		if (pair)
			memmove(pair, pair + 1, strlen(pair));
		snprintf(words, sizeof words, "refers to '%s', %s; expected files in its folder or below",
			 name, cases[i].found);
		expect_refused_by(NULL, TAC_ERROR_IO, words);
	}
	static const char *const libraries[] = {"../outside.mtl", "/etc/passwd", "sub/../../outside.mtl"};
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
		write_obj_with_materials("a b/part.obj", libraries[i]);
		snprintf(words, sizeof words, "refers to '%s', outside of its folder", libraries[i]);
		expect_refused_by(NULL, TAC_ERROR_IO, words);
	}
	remove_references_folder();
}

// The user chose the path, so the mesh itself may be a link.
static void a_mesh_may_be_a_symbolic_link(void)
{
	write_text("target.obj", TRIANGLE);
	char link[sizeof path];
	snprintf(link, sizeof link, "%s/link.obj", folder);
	TEST_ASSERT_EQUAL_INT(0, symlink("target.obj", link));
	char target[sizeof path];
	memcpy(target, path, sizeof path);
	snprintf(path, sizeof path, "%s", link);
	tac_mesh *mesh = load();
	TEST_ASSERT_EQUAL_INT(2, mesh->triangle_count);
	tac_mesh_destroy(&mesh);
	remove(target);
}

static void a_mesh_in_the_current_folder_needs_no_folder_in_its_path(void)
{
	char before[300];
	TEST_ASSERT_NOT_NULL(getcwd(before, sizeof before));
	write_text("here.obj", TRIANGLE);
	TEST_ASSERT_EQUAL_INT(0, chdir(folder));
	tac_mesh *mesh;
	const tac_result result = tac_mesh_load("here.obj", NULL, &mesh);
	TEST_ASSERT_EQUAL_INT(0, chdir(before));
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, result, logged);
	tac_mesh_destroy(&mesh);
}

static void a_file_larger_than_the_memory_limit_is_refused_at_once(void)
{
	FILE *f = create("sparse.stl");
	if (ftruncate(fileno(f), INT64_C(100) << 30) != 0) {
		fclose(f);
		TEST_IGNORE_MESSAGE("no file of 100 GiB here");
	}
	fclose(f);
	expect_refused_by(NULL, TAC_ERROR_IO, "expected a mesh file of at most 4096 MiB, found 102400 MiB");
}

// assimp reads all named groups of a RAW file but keeps one node, with null in place of the others.
static void a_part_that_assimp_drops_is_reported(void)
{
	write_text("groups.raw", "first\n0 0 0 1 0 0 0 1 0\nsecond\n0 0 1 1 0 1 0 1 1\n");
	tac_mesh *mesh;
	if (tac_mesh_load(path, NULL, &mesh) == TAC_OK)
		TEST_ASSERT_EQUAL_INT(2, mesh->triangle_count); // a version that keeps both
	else
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "assimp lost a part of it"), logged);
	tac_mesh_destroy(&mesh);
}

static void points_and_lines_are_skipped(void)
{
	write_text("mixed.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nv 6 6 6\nf 1 2 3\nl 4 5\np 4\n");
	tac_mesh *mesh = load();
	TEST_ASSERT_EQUAL_INT(1, mesh->triangle_count);
	TEST_ASSERT_EQUAL_INT(3, mesh->vertex_count);
	tac_mesh_destroy(&mesh);
}

static void reference_meshes_have_their_published_counts(void)
{
	static const struct {
		const char *file;
		int32_t triangles, open_edges; // -1: not published
	} meshes[] = {
		{"dragon.off", 30166, -1}, {"bunny.off", 69451, 223}, {"buddha.off", 125000, -1},
		{"filter.off", 18908, 0},  {"cube.off", 12, 0},
	};
	for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
		snprintf(path, sizeof path, "%s/%s", TACTUS_MESHES, meshes[i].file);
		if (access(path, R_OK) != 0) {
			path[0] = 0;
			TEST_IGNORE_MESSAGE("the reference meshes are not available");
		}
		tac_mesh *mesh = load();
		path[0] = 0; // not ours to remove
		TEST_ASSERT_EQUAL_INT(meshes[i].triangles, mesh->triangle_count);
		TEST_ASSERT_EQUAL_INT(0, mesh->degenerate_triangles);
		TEST_ASSERT_EQUAL_INT(0, mesh->welded_vertices);
		if (meshes[i].open_edges >= 0)
			TEST_ASSERT_EQUAL_INT(meshes[i].open_edges, mesh->open_edges);
		// The bounding box has its centre at the origin; its diagonal is 1, but for the cube's.
		const tac_dvec3 low = tac_dvec3_from_vec3(mesh->bounds_min);
		const tac_dvec3 high = tac_dvec3_from_vec3(mesh->bounds_max);
		TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, tac_dvec3_length(tac_dvec3_add(low, high)));
		if (mesh->triangle_count > 12)
			TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1, tac_dvec3_length(tac_dvec3_sub(high, low)));
		tac_mesh_destroy(&mesh);
	}
}

// No importer is started for these.
static void paths_that_are_not_readable_files_are_refused(void)
{
	snprintf(path, sizeof path, "%s/missing.off", folder);
	expect_refused_by(NULL, TAC_ERROR_IO, "No such file");
	snprintf(path, sizeof path, "%s", folder);
	expect_refused_by(NULL, TAC_ERROR_IO, "is a directory");
	path[0] = 0;
	expect_refused_by(NULL, TAC_ERROR_IO, "cannot be opened");
	snprintf(path, sizeof path, "/dev/null");
	expect_refused_by(NULL, TAC_ERROR_IO, "not a regular file");
	snprintf(path, sizeof path, "%s/pipe.off", folder);
	TEST_ASSERT_EQUAL_INT(0, mkfifo(path, 0600));
	expect_refused_by(NULL, TAC_ERROR_IO, "not a regular file");
	remove(path);
	write_text("empty.off", "");
	expect_refused_by(NULL, TAC_ERROR_IO, "is empty");
	write_text("secret.off", "OFF\n");
	chmod(path, 0);
	if (geteuid() != 0) // root reads everything
		expect_refused_by(NULL, TAC_ERROR_IO, "Permission denied");
}

static void a_missing_importer_is_named(void)
{
	write_text("a.off", "OFF\n");
	tac_mesh_load_def def = tac_mesh_load_def_default();
	def.importer = "/nonexistent/importer";
	logged_lines = 0;
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_ERROR_UNSUPPORTED, tac_mesh_load(path, &def, &mesh));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_NOT_NULL(strstr(logged, "/nonexistent/importer"));

	setenv("TACTUS_IMPORTER", "/dev/null", 1); // not a program
	TEST_ASSERT_EQUAL(TAC_ERROR_UNSUPPORTED, tac_mesh_load(path, NULL, &mesh));
	TEST_ASSERT_NOT_NULL(strstr(logged, "/dev/null"));
	unsetenv("TACTUS_IMPORTER");
}

static int open_descriptors(void)
{
	int count = 0;
	DIR *d = opendir("/proc/self/fd");
	while (d && readdir(d))
		count++;
	closedir(d);
	return count;
}

static tac_mesh_load_def stub(void)
{
	tac_mesh_load_def def = tac_mesh_load_def_default();
	def.importer = TACTUS_MESH_STUB;
	def.memory_limit_bytes = UINT64_C(64) << 20;
	def.time_limit_s = 20;
	return def;
}

static void an_importer_that_misbehaves_is_reported_and_leaves_nothing_behind(void)
{
	static const struct {
		const char *how;
		double time_limit_s;
		tac_result result;
		const char *words;
	} cases[] = {
		{"hang", 0.3, TAC_ERROR_IO, "was stopped, expected a result within 0.3 s"},
		{"hang_stubborn", 0.3, TAC_ERROR_IO, "was stopped"},
		{"spin", 1, TAC_ERROR_IO, "was stopped"},
		{"crash", 20, TAC_ERROR_IO, "crashed (Segmentation fault)"},
		{"abort", 20, TAC_ERROR_IO, "crashed (Aborted)"},
		{"eat", 20, TAC_ERROR_IO,
		 "crashed (Aborted): the file is damaged, or needs more than 64 MiB"},
		{"exit", 20, TAC_ERROR_IO, "exit code 7"},
		{"huge", 20, TAC_ERROR_IO, "exit code 5"}, // the limit of file size held
		{"silent", 20, TAC_ERROR_FORMAT, "less than a header"},
		{"garbage", 20, TAC_ERROR_FORMAT, "not of this version"},
		{"short", 20, TAC_ERROR_FORMAT, "do not fit the size"},
		{"long", 20, TAC_ERROR_FORMAT, "do not fit the size"},
		{"lie_vertices", 20, TAC_ERROR_FORMAT, "counts out of range"},
		{"lie_triangles", 20, TAC_ERROR_FORMAT, "counts out of range"},
		{"lie_surfaces", 20, TAC_ERROR_FORMAT, "surfaces without names"},
		{"lie_data", 20, TAC_ERROR_FORMAT, "checksum"},
		{"lie_index", 20, TAC_ERROR_FORMAT, "triangle 0 uses vertex 1000000"},
		{"lie_nan", 20, TAC_ERROR_FORMAT, "vertex 1 is ("},
		{"refuse", 20, TAC_ERROR_IO, "two?lines and ?[31mcolour"},
	};
	const int before = open_descriptors();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		write_text(cases[i].how, "x");
		tac_mesh_load_def def = stub();
		def.time_limit_s = cases[i].time_limit_s;
		expect_refused_by(&def, cases[i].result, cases[i].words);
		TEST_ASSERT_EQUAL_INT(before, open_descriptors());
		TEST_ASSERT_EQUAL_INT(-1, waitpid(-1, NULL, WNOHANG)); // no child, not even a zombie
		TEST_ASSERT_EQUAL_INT(ECHILD, errno);
		remove(path);
	}
	const char *const good[] = {"good", "noise"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		write_text(good[i], "x");
		const tac_mesh_load_def def = stub();
		tac_mesh *mesh;
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_load(path, &def, &mesh));
		TEST_ASSERT_EQUAL_INT(1, mesh->triangle_count);
		tac_mesh_destroy(&mesh);
		TEST_ASSERT_EQUAL_INT(before, open_descriptors());
		remove(path);
	}
}

static void the_environment_selects_the_importer(void)
{
	write_text("good", "x");
	setenv("TACTUS_IMPORTER", TACTUS_MESH_STUB, 1);
	tac_mesh *mesh = load();
	unsetenv("TACTUS_IMPORTER");
	TEST_ASSERT_EQUAL_INT(1, mesh->triangle_count);
	tac_mesh_destroy(&mesh);
}

// What the launcher inherits, and the scheduling policy, is in test_importer.c.
static void the_importer_inherits_no_descriptor_and_no_mask(void)
{
	write_text("environment", "x");
	int pipes[2];
	TEST_ASSERT_EQUAL_INT(0, pipe(pipes)); // not close-on-exec: must not reach the importer
	sigset_t mask, old;
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_BLOCK, &mask, &old);
	const tac_mesh_load_def def = stub();
	tac_mesh *mesh;
	const tac_result result = tac_mesh_load(path, &def, &mesh);
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(pipes[0]);
	close(pipes[1]);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, result);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "descriptors 6, usr1 blocked 0"), logged);
}

static void a_process_that_ignores_sigchld_can_load(void)
{
	signal(SIGCHLD, SIG_IGN);
	obj_is_read();
	signal(SIGCHLD, SIG_DFL);
}

static void *load_repeatedly(void *failures)
{
	for (int i = 0; i < 10; i++) {
		tac_mesh *mesh;
		const bool same = tac_mesh_load(path, NULL, &mesh) == TAC_OK &&
				  mesh->triangle_count == sample->triangle_count;
		*(int *)failures += !same;
		tac_mesh_destroy(&mesh);
	}
	return NULL;
}

static void several_threads_load_at_once(void)
{
	write_binary_ply("binary_little_endian", write_u32);
	enum { THREADS = 4 };
	pthread_t threads[THREADS];
	int failures[THREADS] = {0};
	for (int i = 0; i < THREADS; i++)
		TEST_ASSERT_EQUAL_INT(0, pthread_create(&threads[i], NULL, load_repeatedly, &failures[i]));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		TEST_ASSERT_EQUAL_INT(0, failures[i]);
	}
}

static void a_file_that_needs_too_much_memory_is_refused(void)
{
	// A million triangles in text need far more than the limit.
	FILE *f = create("large.obj");
	fprintf(f, "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
	for (int i = 0; i < 1000000; i++)
		fputs("f 1 2 3\n", f);
	fclose(f);
	tac_mesh_load_def def = tac_mesh_load_def_default();
	def.memory_limit_bytes = UINT64_C(128) << 20;
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_mesh_load(path, &def, &mesh));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	UNITY_BEGIN();
	make_sample();
	RUN_TEST(obj_is_read);
	RUN_TEST(text_stl_is_read);
	RUN_TEST(binary_stl_is_read);
	RUN_TEST(text_ply_is_read);
	RUN_TEST(binary_ply_is_read_in_both_byte_orders);
	RUN_TEST(off_is_read);
	RUN_TEST(gltf_is_read);
	RUN_TEST(glb_is_read);
	RUN_TEST(threemf_is_read);
	RUN_TEST(node_transforms_are_applied_and_a_reflection_keeps_the_outside_outside);
	RUN_TEST(groups_and_materials_of_obj_are_surfaces);
	RUN_TEST(polygons_are_triangulated_and_a_single_part_is_divided_at_its_creases);
	RUN_TEST(files_beside_and_below_the_mesh_are_read);
	RUN_TEST(references_that_leave_the_folder_are_refused_by_name);
	RUN_TEST(a_mesh_may_be_a_symbolic_link);
	RUN_TEST(a_mesh_in_the_current_folder_needs_no_folder_in_its_path);
	RUN_TEST(a_file_larger_than_the_memory_limit_is_refused_at_once);
	RUN_TEST(a_part_that_assimp_drops_is_reported);
	RUN_TEST(points_and_lines_are_skipped);
	RUN_TEST(reference_meshes_have_their_published_counts);
	RUN_TEST(paths_that_are_not_readable_files_are_refused);
	RUN_TEST(a_missing_importer_is_named);
	RUN_TEST(an_importer_that_misbehaves_is_reported_and_leaves_nothing_behind);
	RUN_TEST(the_environment_selects_the_importer);
	RUN_TEST(the_importer_inherits_no_descriptor_and_no_mask);
	RUN_TEST(a_process_that_ignores_sigchld_can_load);
	RUN_TEST(several_threads_load_at_once);
	RUN_TEST(a_file_that_needs_too_much_memory_is_refused);
	const int failures = UNITY_END();
	tac_mesh_destroy(&sample);
	rmdir(folder);
	return failures;
}
