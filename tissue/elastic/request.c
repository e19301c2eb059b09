#include "tissue/elastic/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Everything but the meshes. Filled member by member in zeroed memory: padding is part of the hash.
typedef struct fixed_size {
	uint32_t version, order;
	double material[4], spacing_m, touch[4];
	int32_t inside_count, fixed_count;
	double inside[TAC_ELASTIC_INSIDE_MAX][2];
	double fixed[TAC_ELASTIC_FIXED_MAX][6];
	// Vertices and triangles of each mesh: the body's, those inside, those of fixed parts; 0, 0: none.
	int32_t counts[1 + TAC_ELASTIC_INSIDE_MAX + TAC_ELASTIC_FIXED_MAX][2];
} fixed_size;

#define MESHES (1 + TAC_ELASTIC_INSIDE_MAX + TAC_ELASTIC_FIXED_MAX)

static void list_meshes(const tac_elastic_def *def, const tac_mesh *out[MESHES])
{
	memset(out, 0, MESHES * sizeof *out);
	out[0] = def->mesh;
	for (int32_t i = 0; i < def->inside_count; i++)
		out[1 + i] = def->inside[i].mesh;
	for (int32_t i = 0; i < def->fixed_count; i++)
		out[1 + TAC_ELASTIC_INSIDE_MAX + i] = def->fixed[i].mesh;
}

static void fill(const tac_elastic_def *def, const tac_mesh *const meshes[MESHES], fixed_size *f)
{
	memset(f, 0, sizeof *f);
	f->version = ELASTIC_VERSION;
	f->order = (uint32_t)def->order;
	const double material[4] = {def->material.young_Pa, def->material.poisson, def->material.creep,
				    def->material.creep_time_s};
	memcpy(f->material, material, sizeof material);
	f->spacing_m = def->spacing_m;
	tac_dvec3_store(f->touch, def->touch_centre_m);
	f->touch[3] = def->touch_radius_m;
	f->inside_count = def->inside_count;
	f->fixed_count = def->fixed_count;
	for (int32_t i = 0; i < def->inside_count; i++) {
		f->inside[i][0] = def->inside[i].young_Pa;
		f->inside[i][1] = def->inside[i].poisson;
	}
	for (int32_t i = 0; i < def->fixed_count; i++) {
		tac_dvec3_store(f->fixed[i], def->fixed[i].low_m);
		tac_dvec3_store(f->fixed[i] + 3, def->fixed[i].high_m);
	}
	for (int k = 0; k < MESHES; k++) {
		if (meshes[k]) {
			f->counts[k][0] = meshes[k]->vertex_count;
			f->counts[k][1] = meshes[k]->triangle_count;
		}
	}
}

void *tac_elastic_request_encode(const tac_elastic_def *def, size_t *out_size)
{
	const tac_mesh *meshes[MESHES];
	fixed_size f;
	list_meshes(def, meshes);
	fill(def, meshes, &f);
	*out_size = sizeof f;
	for (int k = 0; k < MESHES; k++)
		*out_size += (size_t)f.counts[k][0] * sizeof(tac_vec3) +
			     (size_t)f.counts[k][1] * sizeof(tac_mesh_triangle);
	char *bytes = malloc(*out_size), *at = bytes;
	if (!bytes)
		return NULL;
	memcpy(at, &f, sizeof f);
	at += sizeof f;
	for (int k = 0; k < MESHES; k++) {
		const size_t vertices = (size_t)f.counts[k][0] * sizeof(tac_vec3);
		const size_t triangles = (size_t)f.counts[k][1] * sizeof(tac_mesh_triangle);
		if (meshes[k]) {
			memcpy(at, meshes[k]->vertices, vertices);
			memcpy(at + vertices, meshes[k]->triangles, triangles);
		}
		at += vertices + triangles;
	}
	return bytes;
}

static bool decode_meshes(const char *at, const char *end, const fixed_size *f, tac_mesh *out[MESHES])
{
	for (int k = 0; k < MESHES; k++) {
		const int32_t *count = f->counts[k];
		if (count[0] < 0 || count[1] < 0 || count[0] > TAC_MESH_MAX || count[1] > TAC_MESH_MAX)
			return false;
		const size_t vertices = (size_t)count[0] * sizeof(tac_vec3);
		const size_t size = vertices + (size_t)count[1] * sizeof(tac_mesh_triangle);
		if (size > (size_t)(end - at))
			return false;
		tac_mesh_def def = tac_mesh_def_default();
		def.vertices = (const tac_vec3 *)(const void *)at;
		def.vertex_count = count[0];
		def.triangles = (const tac_mesh_triangle *)(const void *)(at + vertices);
		def.triangle_count = count[1];
		if (size > 0 && tac_mesh_build(&def, &out[k]) != TAC_OK)
			return false;
		at += size;
	}
	return at == end;
}

bool tac_elastic_request_decode(const void *bytes, size_t size, tac_elastic_def *out)
{
	fixed_size f;
	*out = tac_elastic_def_default();
	if (size < sizeof f)
		return false;
	memcpy(&f, bytes, sizeof f);
	tac_mesh *meshes[MESHES] = {0};
	const bool good =
		f.version == ELASTIC_VERSION && f.inside_count >= 0 && f.fixed_count >= 0 &&
		f.inside_count <= TAC_ELASTIC_INSIDE_MAX && f.fixed_count <= TAC_ELASTIC_FIXED_MAX &&
		decode_meshes((const char *)bytes + sizeof f, (const char *)bytes + size, &f, meshes);
	out->order = (int32_t)f.order;
	out->material = (tac_compliance_material){f.material[0], f.material[1], f.material[2], f.material[3]};
	out->spacing_m = f.spacing_m;
	out->touch_centre_m = tac_dvec3_load(f.touch);
	out->touch_radius_m = f.touch[3];
	out->mesh = meshes[0];
	for (int32_t i = 0; i < TAC_ELASTIC_INSIDE_MAX; i++)
		out->inside[i] = (tac_elastic_inside){meshes[1 + i], f.inside[i][0], f.inside[i][1]};
	for (int32_t i = 0; i < TAC_ELASTIC_FIXED_MAX; i++)
		out->fixed[i] =
			(tac_elastic_fixed){meshes[1 + TAC_ELASTIC_INSIDE_MAX + i],
					    tac_dvec3_load(f.fixed[i]), tac_dvec3_load(f.fixed[i] + 3)};
	out->inside_count = f.inside_count;
	out->fixed_count = f.fixed_count;
	if (!good)
		tac_elastic_request_release(out);
	return good;
}

static void destroy_mesh(const tac_mesh **mesh)
{
	tac_mesh *own;
	memcpy(&own, mesh, sizeof own); // made by decode_meshes, and const only for others
	tac_mesh_destroy(&own);
	*mesh = NULL;
}

void tac_elastic_request_release(tac_elastic_def *def)
{
	destroy_mesh(&def->mesh);
	for (int32_t i = 0; i < TAC_ELASTIC_INSIDE_MAX; i++)
		destroy_mesh(&def->inside[i].mesh);
	for (int32_t i = 0; i < TAC_ELASTIC_FIXED_MAX; i++)
		destroy_mesh(&def->fixed[i].mesh);
}

uint64_t tac_elastic_request_hash(const void *bytes, size_t size)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
	return hash;
}

bool tac_elastic_write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;
	while (size > 0) {
		const ssize_t n = write(fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}
