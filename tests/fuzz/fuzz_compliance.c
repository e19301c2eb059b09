// Any bytes as the image of a compliance: refused with a reason, or one all of whose arrays can be read.
#include "tissue/compliance/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double read_all(const tac_compliance *c)
{
	const int32_t points = tac_compliance_point_count(c);
	double sum = 0;
	for (int32_t i = 0; i < points; i++) {
		for (int32_t k = c->spread_start[i]; k < c->spread_start[i + 1]; k++)
			sum += (double)(c->spread_weight[k] * c->vertices[c->spread_node[k]].x);
		for (int32_t j = 0; j < points; j++)
			sum += (double)tac_compliance_block(c, i, j).m[1][2];
		sum += (double)(c->vertices[c->point_node[i]].y + c->point_area_m2[i] +
				c->point_normals[i].z);
	}
	for (int32_t t = 0; t < c->triangle_count; t++)
		sum += (double)c->vertex_normals[c->triangles[t].vertex[2]].z;
	for (int32_t i = 0; i < c->bound_count; i++)
		sum += (double)(c->bound[i].weight[0] * c->vertices[c->bound[i].vertex[0]].z);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tac_compliance c;
	// Exactly as large as the bytes, so that a sanitizer sees what lies beyond them.
	void *image = malloc(size ? size : 1);
	if (!image)
		return 0;
	memcpy(image, data, size);
	tac_compliance_checksum(image, size);
	const char *wrong = tac_compliance_attach(&c, image, size);
	if (wrong ? !*wrong : isnan(read_all(&c)))
		abort();
	free(image);
	return 0;
}
