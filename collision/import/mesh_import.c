// tactus-import NAME: reads the open mesh file, called NAME in its folder, with assimp and writes it as a
// mesh record to descriptor 3, or the record of a failure with its reason. tactus-confine starts it, with the
// descriptors of collision/import/sandbox.h and under restrictions that confine every fault of the
// parsers to this process.
#include "collision/import/mesh_files.h"
#include "collision/import/mesh_ply.h"
#include "collision/import/mesh_record.h"
#include "collision/import/sandbox.h"

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/material.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NAME_CAPACITY 256

// Row-major, last row 0 0 0 1.
typedef struct affine {
	double m[3][4];
} affine;

static const affine identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

// The joined mesh. The first pass over the scene counts, the second fills the allocated arrays.
typedef struct joined {
	const struct aiScene *scene;
	tac_vec3 *vertices;
	tac_mesh_triangle *triangles;
	int32_t *triangle_surface;
	char (*names)[NAME_CAPACITY];
	bool named_by_nodes; // glTF: people name nodes; several nodes may share a mesh
	int64_t vertex_count, triangle_count, surface_count;
} joined;

static void write_all(const void *bytes, size_t size)
{
	const char *at = bytes;
	while (size > 0) {
		const ssize_t n = write(TAC_MESH_RECORD_FD, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);
		at += n;
		size -= (size_t)n;
	}
}

// _exit, not exit: after a bad file the library's destructors may crash.
_Noreturn static void fail(const char *message)
{
	char *bytes = calloc(1, tac_mesh_record_failure_size());
	if (!bytes)
		_exit(1);
	tac_mesh_record_encode_failure(message, bytes);
	write_all(bytes, tac_mesh_record_failure_size());
	_exit(0);
}

// assimp's own sentence is only the reason: it says neither what was expected nor, often, which file it
// means.
_Noreturn static void fail_for(const char *what, const char *reason)
{
	char message[TAC_MESH_RECORD_MESSAGE];
	const int length = (int)strcspn(reason, "\r\n");
	snprintf(message, sizeof message, length > 0 ? "%s (assimp: %.*s)" : "%s", what, length, reason);
	fail(message);
}

// After some errors in the geometry assimp continues with a guess (an OFF index out of range becomes the last
// vertex). It reports them only in its log, with these words. A mesh that contains guesses is refused.
static void judge_log_line(const char *line, char *user)
{
	(void)user;
	static const char *const fatal[] = {
		"vertex index",   "face index",           "invalid index",       "index is out",
		"index out of",   "index overflow",       "faces in the header", "verts in the line",
		"unexpected eof", "out-of-range indices",
	};
	if (strncmp(line, "Error", 5) != 0 && strncmp(line, "Warn", 4) != 0)
		return;
	if (strcasestr(line, "material") || strcasestr(line, "texture") || strcasestr(line, "bone"))
		return;
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
		if (!strcasestr(line, fatal[i]))
			continue;
		const char *text = strstr(line, ": "); // after "Error, T0: "
		fail_for("expected intact geometry, found a fault", text ? text + 2 : line);
	}
}

static affine compose(const affine *a, const struct aiMatrix4x4 *b)
{
	const double right[4][4] = {
		{(double)b->a1, (double)b->a2, (double)b->a3, (double)b->a4},
		{(double)b->b1, (double)b->b2, (double)b->b3, (double)b->b4},
		{(double)b->c1, (double)b->c2, (double)b->c3, (double)b->c4},
		{0, 0, 0, 1},
	};
	affine out;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 4; j++) {
			out.m[i][j] = 0;
			for (int k = 0; k < 4; k++)
				out.m[i][j] += a->m[i][k] * right[k][j];
		}
	}
	return out;
}

// The identity is applied without arithmetic: 0 times an infinite coordinate would make the others NaN.
static tac_vec3 apply(const affine *a, struct aiVector3D v)
{
	if (memcmp(a, &identity, sizeof identity) == 0)
		return (tac_vec3){v.x, v.y, v.z};
	double out[3];
	for (int i = 0; i < 3; i++)
		out[i] = a->m[i][0] * (double)v.x + a->m[i][1] * (double)v.y + a->m[i][2] * (double)v.z +
			 a->m[i][3];
	return (tac_vec3){(float)out[0], (float)out[1], (float)out[2]};
}

static bool mirrors(const affine *a)
{
	const double(*m)[4] = a->m;
	return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
		       m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
		       m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]) <
	       0;
}

// The name of the mesh (an OBJ group) or, without one and in glTF files, of its node; then the material's
// name where it differs. (The OBJ reader names the second and later meshes of a group after their material.)
// Of a glTF node with several meshes, its primitives, the mesh's name follows the node's.
static void name_surface(const joined *j, const struct aiNode *node, const struct aiMesh *mesh,
			 char out_name[NAME_CAPACITY])
{
	const struct aiScene *scene = j->scene;
	struct aiString material = {0};
	if (mesh->mMaterialIndex < scene->mNumMaterials)
		aiGetMaterialString(scene->mMaterials[mesh->mMaterialIndex], AI_MATKEY_NAME, &material);
	const bool named = mesh->mName.length > 0 && strcmp(mesh->mName.data, material.data) != 0;
	const bool by_node = j->named_by_nodes && node->mName.length > 0 && node != scene->mRootNode;
	char both[NAME_CAPACITY];
	snprintf(both, sizeof both, "%.100s/%.100s", node->mName.data, mesh->mName.data);
	const char *name = by_node && named && node->mNumMeshes > 1 ? both
			   : by_node || !named                      ? node->mName.data
								    : mesh->mName.data;
	const bool add_material = material.length > 0 &&
				  strcmp(material.data, AI_DEFAULT_MATERIAL_NAME) != 0 &&
				  strcmp(material.data, name) != 0;
	snprintf(out_name, NAME_CAPACITY, "%.120s%s%.120s", name, add_material && name[0] ? "/" : "",
		 add_material ? material.data : "");
}

static void add_mesh(joined *j, const struct aiNode *node, const struct aiMesh *mesh, const affine *transform)
{
	const bool counting = !j->vertices;
	const bool mirrored = mirrors(transform); // then the order of the corners is reversed
	int64_t triangles = 0;
	for (unsigned f = 0; f < mesh->mNumFaces; f++) {
		const struct aiFace *face = &mesh->mFaces[f];
		if (face->mNumIndices == 0) { // the PLY reader's result for faces beyond the end of the file
			char message[TAC_MESH_RECORD_MESSAGE];
			snprintf(message, sizeof message,
				 "face %u of %u has no vertices: is the file truncated?", f, mesh->mNumFaces);
			fail(message);
		}
		if (face->mNumIndices != 3)
			continue; // points and lines; polygons were triangulated
		for (int k = 0; k < 3; k++) {
			if (face->mIndices[k] >= mesh->mNumVertices) {
				char message[TAC_MESH_RECORD_MESSAGE];
				snprintf(message, sizeof message,
					 "face %u uses vertex %u, expected 0 to %lld", f, face->mIndices[k],
					 (long long)mesh->mNumVertices - 1);
				fail(message);
			}
		}
		if (!counting) {
			const int32_t first = (int32_t)j->vertex_count;
			const int64_t t = j->triangle_count + triangles;
			j->triangles[t] = (tac_mesh_triangle){{
				first + (int32_t)face->mIndices[0],
				first + (int32_t)face->mIndices[mirrored ? 2 : 1],
				first + (int32_t)face->mIndices[mirrored ? 1 : 2],
			}};
			j->triangle_surface[t] = (int32_t)j->surface_count;
		}
		triangles++;
	}
	if (triangles == 0)
		return;
	if (!counting) {
		for (unsigned v = 0; v < mesh->mNumVertices; v++)
			j->vertices[j->vertex_count + v] = apply(transform, mesh->mVertices[v]);
		name_surface(j, node, mesh, j->names[j->surface_count]);
	}
	j->vertex_count += mesh->mNumVertices;
	j->triangle_count += triangles;
	j->surface_count++;
	if (j->vertex_count > TAC_MESH_MAX || j->triangle_count > TAC_MESH_MAX)
		fail("has more than 500 million vertices or triangles");
}

static void add_node(joined *j, const struct aiNode *node, const affine *parent)
{
	if (!node) // assimp's RAW reader loses all named groups but one
		fail("assimp lost a part of it");
	const affine transform = compose(parent, &node->mTransformation);
	for (unsigned i = 0; i < node->mNumMeshes; i++) {
		if (node->mMeshes[i] >= j->scene->mNumMeshes || !j->scene->mMeshes[node->mMeshes[i]])
			fail("uses a mesh that it does not contain");
		add_mesh(j, node, j->scene->mMeshes[node->mMeshes[i]], &transform);
	}
	for (unsigned i = 0; i < node->mNumChildren; i++)
		add_node(j, node->mChildren[i], &transform);
}

// Refuses truncated PLY files, which assimp does not.
static void check_format(void)
{
	FILE *f = tac_mesh_files_open_mesh();
	char magic[3];
	if (!f || fread(magic, 1, 3, f) != 3 || strncasecmp(magic, "ply", 3) != 0 ||
	    fseek(f, 0, SEEK_END) != 0) {
		if (f)
			fclose(f);
		return;
	}
	const long size = ftell(f);
	char *bytes = size > 0 ? malloc((size_t)size) : NULL;
	rewind(f);
	if (!bytes || fread(bytes, 1, (size_t)size, f) != (size_t)size)
		fail("cannot be read");
	fclose(f);
	const char *defect = tac_mesh_ply_check(bytes, (size_t)size);
	if (defect)
		fail(defect);
	free(bytes);
}

_Noreturn static void fail_to_read(const char *name, const char *why)
{
	char expected[TAC_MESH_RECORD_MESSAGE];
	const char *dot = strrchr(name, '.'), *ending = dot ? dot : "";
	if (strstr(why, "bad_alloc"))
		fail("needs more memory than the importer may use");
	if (!aiIsExtensionSupported(ending)) {
		snprintf(expected, sizeof expected,
			 "expected a mesh file (.stl, .obj, .ply, .off, .gltf, .glb or another format that "
			 "assimp reads), found the ending '%.16s'",
			 ending);
		fail(expected);
	}
	snprintf(expected, sizeof expected, "expected a mesh in the format %.16s, found none", ending);
	fail_for(expected, why);
}

static const struct aiScene *read_scene(const char *name)
{
	const struct aiLogStream log = {judge_log_line, NULL};
	aiAttachLogStream(&log);
	struct aiPropertyStore *properties = aiCreatePropertyStore();
	if (!properties)
		fail("no memory");
	// No dummy meshes for files that contain only a skeleton.
	aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_NO_SKELETON_MESHES, 1);
	const struct aiScene *scene = aiImportFileExWithProperties(name, aiProcess_Triangulate,
								   tac_mesh_files(name, fail), properties);
	if (!scene)
		fail_to_read(name, aiGetErrorString());
	if (!scene->mRootNode)
		fail("contains no scene");
	return scene;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: tactus-import NAME 3>RECORD 4<FILE 5<FOLDER\n");
		return 1;
	}
	// The libraries are loaded: from here on the folder of the mesh is all that is left to see. (Without
	// tactus-confine, which sets no_new_privs and forbids prctl, somebody runs this program by hand.)
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0) {
		tac_sandbox_restrict_files(-1);
		if (tac_sandbox_filter_syscalls(TAC_SANDBOX_PARSE) != 0)
			fail("cannot be read safely: the filter of system calls (seccomp) was refused");
	}
	check_format();
	const char *ending = strrchr(argv[1], '.');
	joined j = {.scene = read_scene(argv[1]),
		    .named_by_nodes =
			    ending && (strcasecmp(ending, ".gltf") == 0 || strcasecmp(ending, ".glb") == 0)};
	add_node(&j, j.scene->mRootNode, &identity);
	if (j.triangle_count == 0)
		fail("contains no triangles");

	j.vertices = calloc((size_t)j.vertex_count, sizeof *j.vertices);
	j.triangles = calloc((size_t)j.triangle_count, sizeof *j.triangles);
	j.triangle_surface = calloc((size_t)j.triangle_count, sizeof *j.triangle_surface);
	j.names = calloc((size_t)j.surface_count, sizeof *j.names);
	const char **names = calloc((size_t)j.surface_count, sizeof *names);
	if (!j.vertices || !j.triangles || !j.triangle_surface || !j.names || !names)
		fail("no memory");
	j.vertex_count = j.triangle_count = j.surface_count = 0;
	add_node(&j, j.scene->mRootNode, &identity);

	tac_mesh_def def = tac_mesh_def_default();
	for (int64_t i = 0; i < j.surface_count; i++)
		names[i] = j.names[i];
	def.vertices = j.vertices;
	def.vertex_count = (int32_t)j.vertex_count;
	def.triangles = j.triangles;
	def.triangle_count = (int32_t)j.triangle_count;
	def.triangle_surface = j.triangle_surface;
	def.surface_names = names;
	def.surface_count = (int32_t)j.surface_count;
	const size_t size = tac_mesh_record_size(&def);
	void *bytes = malloc(size);
	if (!bytes)
		fail("no memory");
	tac_mesh_record_encode(&def, bytes);
	write_all(bytes, size);
	_exit(0);
}
