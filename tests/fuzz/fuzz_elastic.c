// Any bytes as a request to tactus-elastic: refused, or a body with whole meshes, which is judged without a
// crash and, written again, is read as the same.
#include "base/log.h"
#include "tissue/elastic/request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good)
{
	if (!good)
		abort();
}

static void quiet(void *user, tac_log_level level, const char *text)
{
	(void)user;
	(void)level;
	require(text && *text);
}

static void check_mesh(const tac_mesh *mesh)
{
	if (!mesh)
		return;
	float sum = 0;
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		for (int k = 0; k < 3; k++) {
			const int32_t v = mesh->triangles[t].vertex[k];
			require(v >= 0 && v < mesh->vertex_count);
			sum += mesh->vertices[v].x;
		}
	}
	require(sum == sum); // finite coordinates
}

static void *written(const tac_elastic_def *def, size_t *out_size)
{
	void *bytes = tac_elastic_request_encode(def, out_size);
	require(bytes != NULL);
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tac_log_set(quiet, NULL);
	tac_elastic_def def, again;
	// Exactly as large as the bytes, so that a sanitizer sees what lies beyond them.
	void *bytes = malloc(size ? size : 1);
	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	if (tac_elastic_request_decode(bytes, size, &def)) {
		check_mesh(def.mesh);
		for (int32_t i = 0; i < def.inside_count; i++)
			check_mesh(def.inside[i].mesh);
		for (int32_t i = 0; i < def.fixed_count; i++)
			check_mesh(def.fixed[i].mesh);
		const tac_result result = tac_elastic_check(&def);
		require(result == TAC_OK || result == TAC_ERROR_ARGUMENT);
		size_t first_size, second_size;
		void *first = written(&def, &first_size);
		require(tac_elastic_request_decode(first, first_size, &again));
		void *second = written(&again, &second_size);
		require(first_size == second_size && memcmp(first, second, first_size) == 0);
		tac_elastic_request_release(&again);
		tac_elastic_request_release(&def);
		free(first);
		free(second);
	}
	free(bytes);
	return 0;
}
