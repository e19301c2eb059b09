// Fuzz target for the code of Tactus that a mesh file's bytes can reach: the record decoder, the build, and
// the PLY check of the importer. The first byte selects one. With libFuzzer: cmake -DTACTUS_FUZZ=ON (clang);
// otherwise replay.c runs the corpus through it as a test.
#include "base/assert.h"
#include "base/log.h"
#include "collision/import/mesh_ply.h"
#include "collision/import/mesh_record.c" // its header and checksum, to make records that pass its checks
#include "collision/mesh.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(void *user, tac_log_level level, const char *message)
{
	(void)user;
	(void)level;
	TAC_ASSERT(message[0] != 0 && !strchr(message, '\n'));
}

// The invariants of every mesh.
static void check_mesh(const tac_mesh *m)
{
	int32_t uses = 0, in_surfaces = 0;
	for (int32_t i = 0; i < m->vertex_count; i++)
		TAC_ASSERT(tac_vec3_finite(m->vertices[i]));
	for (int32_t t = 0; t < m->triangle_count; t++) {
		const int32_t *v = m->triangles[t].vertex;
		TAC_ASSERT(v[0] != v[1] && v[1] != v[2] && v[2] != v[0]);
		TAC_ASSERT(m->triangle_surface[t] >= 0 && m->triangle_surface[t] < m->surface_count);
		for (int k = 0; k < 3; k++) {
			TAC_ASSERT(v[k] >= 0 && v[k] < m->vertex_count);
			const int32_t e = m->triangle_edges[t].vertex[k];
			TAC_ASSERT(e >= 0 && e < m->edge_count);
			const int32_t a = v[k], b = v[(k + 1) % 3];
			TAC_ASSERT(m->edges[e].vertex[0] == (a < b ? a : b));
			TAC_ASSERT(m->edges[e].vertex[1] == (a < b ? b : a));
		}
	}
	for (int32_t e = 0; e < m->edge_count; e++) {
		const tac_mesh_edge *edge = &m->edges[e];
		TAC_ASSERT(edge->triangle_count >= 1 &&
			   (edge->triangle[1] < 0) == (edge->triangle_count == 1));
		TAC_ASSERT(edge->triangle[0] >= 0 && edge->triangle[1] < m->triangle_count);
		uses += edge->triangle_count;
	}
	for (int32_t s = 0; s < m->surface_count; s++)
		in_surfaces += m->surfaces[s].triangle_count;
	TAC_ASSERT(uses == 3 * m->triangle_count && in_surfaces == m->triangle_count);
	TAC_ASSERT(isfinite(tac_mesh_area(m)) && tac_mesh_area(m) >= 0);
}

static void build(const tac_mesh_def *def)
{
	tac_mesh *mesh;
	const tac_result result = tac_mesh_build(def, &mesh);
	TAC_ASSERT((result == TAC_OK) == (mesh != NULL));
	if (mesh)
		check_mesh(mesh);
	tac_mesh_destroy(&mesh);
}

// Decodes the bytes as a record. `repair` makes the header consistent with the size, so that the code behind
// the first checks is reached.
static void fuzz_record(const uint8_t *data, size_t size, bool repair)
{
	char *bytes = malloc(size ? size : 1);
	memcpy(bytes, data, size);
	header h;
	if (repair && size >= sizeof h) {
		memcpy(&h, bytes, sizeof h);
		h.magic = MAGIC;
		h.failed = h.failed & 1;
		h.total_bytes = size;
		h.vertex_count &= 31;
		h.triangle_count &= 63;
		h.surface_count &= 7;
		h.name_bytes = size - sizeof h - array_bytes(&h);
		h.checksum = checksum(bytes + sizeof h, size - sizeof h);
		memcpy(bytes, &h, sizeof h);
	}
	const size_t head = tac_mesh_record_failure_size();
	const size_t readable = tac_mesh_record_readable_size(bytes, size < head ? size : head, size);
	TAC_ASSERT(readable <= size);
	tac_mesh_record record;
	if (tac_mesh_record_decode(bytes, size, &record) == TAC_OK) {
		TAC_ASSERT(readable == size);
		build(&record.def);
		record.def.triangle_surface = NULL;
		build(&record.def);
		tac_mesh_record_release(&record);
	} else {
		TAC_ASSERT(strlen(record.message) < sizeof record.message);
	}
	free(bytes);
}

// A triangle soup on a small grid, one byte per vertex and three per triangle: welding, duplicates, every
// kind of edge.
static void fuzz_soup(const uint8_t *data, size_t size)
{
	tac_vec3 vertices[16];
	tac_mesh_triangle triangles[256];
	if (size < 17)
		return;
	for (int i = 0; i < 16; i++)
		vertices[i] = tac_vec3_make((float)(data[i] & 3) - 1, (float)(data[i] >> 2 & 3) - 1,
					    (float)(data[i] >> 4 & 3) * (data[i] & 0x40 ? 1e-20f : 1e19f));
	tac_mesh_def def = tac_mesh_def_default();
	def.crease_angle_rad = data[16] / 100.0;
	def.vertices = vertices;
	def.vertex_count = 16;
	def.triangles = triangles;
	for (size_t i = 17; i + 3 <= size && def.triangle_count < 256; i += 3)
		triangles[def.triangle_count++] =
			(tac_mesh_triangle){{data[i] % 17, data[i + 1] & 15, data[i + 2] & 15}};
	build(&def);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	tac_log_set(check_line, NULL);
	switch (data[0] % 4) {
	case 0:
		fuzz_record(data + 1, size - 1, false);
		break;
	case 1:
		fuzz_record(data + 1, size - 1, true);
		break;
	case 2:
		fuzz_soup(data + 1, size - 1);
		break;
	default: {
		char *copy = malloc(size > 1 ? size - 1 : 1); // of exactly this size, for the sanitizer
		memcpy(copy, data + 1, size - 1);
		tac_mesh_ply_check(copy, size - 1);
		free(copy);
	}
	}
	return 0;
}
