#include "tissue/compliance/image.h"

#include <math.h>
#include <string.h>

#define ALIGNMENT 64

static size_t place(size_t *end, size_t count, size_t size)
{
	const size_t begin = *end;
	*end = (begin + count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return begin;
}

static bool counts_in_range(const compliance_header *h)
{
	if (h->node_count < 1 || h->node_count > TAC_COMPLIANCE_NODES_MAX ||
	    h->vertex_count < h->node_count || h->vertex_count > 4 * TAC_COMPLIANCE_NODES_MAX ||
	    h->triangle_count < 1 || h->triangle_count > 8 * TAC_COMPLIANCE_NODES_MAX || h->bound_count < 0 ||
	    h->bound_count > TAC_COMPLIANCE_BOUND_MAX || h->level_start[0] != 0 ||
	    h->level_start[1] != h->node_count)
		return false;
	for (int k = 1; k < TAC_COMPLIANCE_LEVELS; k++) {
		const int32_t count = h->level_start[k + 1] - h->level_start[k];
		if (count < 1 || count > h->node_count)
			return false;
	}
	return h->spread_count >= h->level_start[TAC_COMPLIANCE_LEVELS] &&
	       h->spread_count <= 100 * TAC_COMPLIANCE_NODES_MAX;
}

bool tac_compliance_lay_out(const compliance_header *h, compliance_layout *out)
{
	if (!counts_in_range(h))
		return false;
	const size_t points = (size_t)h->level_start[TAC_COMPLIANCE_LEVELS];
	size_t end = 0;
	place(&end, 1, sizeof *h);
	out->vertices = place(&end, (size_t)h->vertex_count, sizeof(tac_vec3));
	out->vertex_normals = place(&end, (size_t)h->vertex_count, sizeof(tac_vec3));
	out->triangles = place(&end, (size_t)h->triangle_count, sizeof(tac_mesh_triangle));
	out->points = place(&end, points, sizeof(tac_vec3));
	out->point_normals = place(&end, points, sizeof(tac_vec3));
	out->point_area_m2 = place(&end, points, sizeof(float));
	out->point_node = place(&end, points, sizeof(int32_t));
	out->spread_start = place(&end, points + 1, sizeof(int32_t));
	out->spread_node = place(&end, (size_t)h->spread_count, sizeof(int32_t));
	out->spread_weight = place(&end, (size_t)h->spread_count, sizeof(float));
	out->bound = place(&end, (size_t)h->bound_count, sizeof(tac_compliance_binding));
	out->blocks = place(&end, points * (points + 1) / 2, sizeof(tac_mat3));
	out->size = end;
	return true;
}

uint64_t tac_compliance_checksum(const void *image, size_t size)
{
	const uint64_t prime = UINT64_C(0x9E3779B97F4A7C15);
	uint64_t lane[4] = {1, 2, 3, 4};
	const unsigned char *bytes = image;
	// An image is a multiple of 64 bytes; what is not is no image, and its end need not be read.
	for (size_t at = 0; at + ALIGNMENT <= size; at += ALIGNMENT) {
		uint64_t word[8];
		memcpy(word, bytes + at, sizeof word);
		if (at == 0)
			word[offsetof(compliance_header, checksum) / sizeof *word] = 0;
		for (int k = 0; k < 8; k++) {
			const uint64_t x = (lane[k & 3] ^ word[k]) * prime;
			lane[k & 3] = x >> 29 | x << 35;
		}
	}
	uint64_t sum = size;
	for (int k = 0; k < 4; k++) {
		sum = (sum ^ lane[k]) * prime;
		sum ^= sum >> 32;
	}
	return sum;
}

// Whether `count` floats are finite: the exponents of infinities and NaNs have all bits set. Written so that
// it is vectorised: an image has tens of millions of them.
static bool finite_all(const void *floats, size_t count)
{
	uint32_t bad = 0;
	const unsigned char *bytes = floats;
	for (size_t i = 0; i < count; i++) {
		uint32_t bits;
		memcpy(&bits, bytes + 4 * i, 4);
		bad |= (bits & UINT32_C(0x7F800000)) == UINT32_C(0x7F800000);
	}
	return bad == 0;
}

static bool indices_below(const int32_t *index, size_t count, int32_t limit)
{
	uint32_t bad = 0;
	for (size_t i = 0; i < count; i++)
		bad |= (uint32_t)index[i] >= (uint32_t)limit;
	return bad == 0;
}

static bool material_in_range(const tac_compliance_material *m)
{
	return m->young_Pa > 0 && m->young_Pa <= 1e15 && m->poisson > -1 && m->poisson < 0.5 &&
	       m->creep >= 0 && m->creep <= 1e6 && m->creep_time_s >= 0 && m->creep_time_s <= 1e9;
}

static bool spreads_valid(const tac_compliance *c, int32_t spread_count)
{
	const int32_t points = tac_compliance_point_count(c);
	if (c->spread_start[0] != 0 || c->spread_start[points] != spread_count)
		return false;
	for (int32_t i = 0; i < points; i++) {
		if (c->spread_start[i + 1] <= c->spread_start[i])
			return false;
	}
	return indices_below(c->spread_node, (size_t)spread_count, c->node_count) &&
	       finite_all(c->spread_weight, (size_t)spread_count);
}

static bool bindings_valid(const tac_compliance *c)
{
	for (int32_t i = 0; i < c->bound_count; i++) {
		if (!indices_below(c->bound[i].vertex, 3, c->vertex_count) ||
		    !finite_all(c->bound[i].weight, 3))
			return false;
	}
	return true;
}

static const char *check_arrays(const tac_compliance *c, int32_t spread_count)
{
	const size_t vertices = (size_t)c->vertex_count, points = (size_t)tac_compliance_point_count(c);
	if (!finite_all(c->vertices, 3 * vertices) || !finite_all(c->vertex_normals, 3 * vertices) ||
	    !finite_all(c->points, 3 * points) || !finite_all(c->point_normals, 3 * points) ||
	    !finite_all(c->point_area_m2, points))
		return "a coordinate that is not finite";
	if (!indices_below((const int32_t *)(const void *)c->triangles, 3 * (size_t)c->triangle_count,
			   c->vertex_count))
		return "a triangle with a vertex that does not exist";
	if (!indices_below(c->point_node, points, c->node_count) || !spreads_valid(c, spread_count))
		return "a point that refers to a node that does not exist";
	if (!bindings_valid(c))
		return "a binding to a vertex that does not exist";
	if (!finite_all(c->blocks, 9 * (points * (points + 1) / 2)))
		return "a compliance that is not finite";
	return NULL;
}

const char *tac_compliance_attach(tac_compliance *c, void *image, size_t size)
{
	compliance_header h;
	compliance_layout at;
	if (size < sizeof h)
		return "a truncated file";
	memcpy(&h, image, sizeof h);
	if (memcmp(h.magic, COMPLIANCE_MAGIC, sizeof h.magic) != 0)
		return "a file of another kind";
	if (h.version != COMPLIANCE_VERSION || h.byte_order != COMPLIANCE_BYTE_ORDER)
		return "a file of another version";
	if (h.size != size)
		return "a truncated file";
	if (h.reserved != 0 || !tac_compliance_lay_out(&h, &at) || at.size != size)
		return "counts out of range";
	if (!material_in_range(&h.material))
		return "a material out of range";
	char *bytes = image;
	*c = (tac_compliance){
		.hash = h.hash,
		.material = h.material,
		.node_count = h.node_count,
		.vertex_count = h.vertex_count,
		.triangle_count = h.triangle_count,
		.bound_count = h.bound_count,
		.vertices = (const tac_vec3 *)(void *)(bytes + at.vertices),
		.vertex_normals = (const tac_vec3 *)(void *)(bytes + at.vertex_normals),
		.triangles = (const tac_mesh_triangle *)(void *)(bytes + at.triangles),
		.points = (const tac_vec3 *)(void *)(bytes + at.points),
		.point_normals = (const tac_vec3 *)(void *)(bytes + at.point_normals),
		.point_area_m2 = (const float *)(void *)(bytes + at.point_area_m2),
		.point_node = (const int32_t *)(void *)(bytes + at.point_node),
		.spread_start = (const int32_t *)(void *)(bytes + at.spread_start),
		.spread_node = (const int32_t *)(void *)(bytes + at.spread_node),
		.spread_weight = (const float *)(void *)(bytes + at.spread_weight),
		.bound = (const tac_compliance_binding *)(void *)(bytes + at.bound),
		.blocks = (const tac_mat3 *)(void *)(bytes + at.blocks),
		.image_bytes = size,
		.image = image,
	};
	memcpy(c->level_start, h.level_start, sizeof c->level_start);
	memcpy(c->spacing_m, h.spacing_m, sizeof c->spacing_m);
	for (int k = 0; k < TAC_COMPLIANCE_LEVELS; k++) {
		if (!(c->spacing_m[k] > 0 && c->spacing_m[k] < 1e6))
			return "a spacing out of range";
	}
	return check_arrays(c, h.spread_count);
}
