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
	       h->spread_count <= 100 * TAC_COMPLIANCE_NODES_MAX && h->cluster_count >= 1 &&
	       h->cluster_count <= h->level_start[TAC_COMPLIANCE_LEVELS] && h->has_basis <= 1 &&
	       h->block_units < TAC_COMPLIANCE_FAR;
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
	const size_t clusters = (size_t)h->cluster_count;
	out->cluster_size = place(&end, clusters, sizeof(int32_t));
	out->place = place(&end, points, sizeof(tac_compliance_place));
	out->pairs = place(&end, clusters * (clusters + 1) / 2, sizeof(uint32_t));
	out->basis = place(&end, h->has_basis ? points : 0, 3 * TAC_COMPLIANCE_RANK * sizeof(float));
	out->blocks = place(&end, h->block_units, COMPLIANCE_UNIT * sizeof(float));
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

// Whether `count` floats are smaller than `limit`, without their signs: as integers, their bits are in the
// same order, and infinities and NaNs come last. Written so that it is vectorised: an image has tens of
// millions of them.
static bool all_below(const void *floats, size_t count, float limit)
{
	int32_t bound, bad = 0;
	memcpy(&bound, &limit, sizeof bound);
	const unsigned char *bytes = floats;
	for (size_t i = 0; i < count; i++) {
		int32_t bits;
		memcpy(&bits, bytes + 4 * i, 4);
		bad |= (bits & INT32_MAX) >= bound;
	}
	return bad == 0;
}

static bool finite_all(const void *floats, size_t count)
{
	return all_below(floats, count, INFINITY);
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

// What lies in clusters, and within the blocks. The limits of the numbers keep what is computed of them
// finite.
static const char *check_clusters(const tac_compliance *c, uint32_t block_units)
{
	const size_t points = (size_t)tac_compliance_point_count(c);
	for (int32_t a = 0; a < c->cluster_count; a++) {
		if (c->cluster_size[a] < 1 || c->cluster_size[a] > TAC_COMPLIANCE_CLUSTER)
			return "a cluster whose size is out of range";
	}
	for (size_t i = 0; i < points; i++) {
		if (c->place[i].cluster >= c->cluster_count ||
		    c->place[i].slot >= c->cluster_size[c->place[i].cluster])
			return "a point in a cluster that does not exist";
	}
	const uint32_t *pair = c->pairs;
	for (int32_t a = 0; a < c->cluster_count; a++) {
		for (int32_t b = 0; b <= a; b++, pair++) {
			const bool far = *pair & TAC_COMPLIANCE_FAR;
			const uint32_t begin = *pair & ~TAC_COMPLIANCE_FAR;
			if ((far && !c->basis) || begin > block_units ||
			    tac_compliance_pair_units(far, c->cluster_size[a], c->cluster_size[b]) >
				    block_units - begin)
				return "clusters whose blocks do not exist";
		}
	}
	if (!(c->far_error >= 0 && c->far_error < 1))
		return "an error of the far basis out of range";
	if ((c->basis && !all_below(c->basis, 3 * TAC_COMPLIANCE_RANK * points, 2)) ||
	    !all_below(c->blocks, (size_t)block_units * COMPLIANCE_UNIT, 1e30f))
		return "a compliance that is not finite";
	return NULL;
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
	if (!tac_compliance_lay_out(&h, &at) || at.size != size)
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
		.cluster_count = h.cluster_count,
		.cluster_size = (const int32_t *)(void *)(bytes + at.cluster_size),
		.place = (const tac_compliance_place *)(void *)(bytes + at.place),
		.pairs = (const uint32_t *)(void *)(bytes + at.pairs),
		.basis = h.has_basis ? (const float *)(void *)(bytes + at.basis) : NULL,
		.blocks = (const float *)(void *)(bytes + at.blocks),
		.far_error = h.far_error,
		.image_bytes = size,
		.image = image,
		.file = -1,
	};
	memcpy(c->level_start, h.level_start, sizeof c->level_start);
	memcpy(c->spacing_m, h.spacing_m, sizeof c->spacing_m);
	for (int k = 0; k < TAC_COMPLIANCE_LEVELS; k++) {
		if (!(c->spacing_m[k] > 0 && c->spacing_m[k] < 1e6))
			return "a spacing out of range";
	}
	const char *wrong = check_arrays(c, h.spread_count);
	return wrong ? wrong : check_clusters(c, h.block_units);
}
