// Image: the one block of bytes that a compliance consists of, in memory or in a file. A header, then the
// arrays of tac_compliance in the order of tac_compliance_layout, each at a multiple of 64 bytes, native byte
// order. The reader trusts nothing: counts, sizes, indices and numbers are verified here.
#ifndef TAC_TISSUE_COMPLIANCE_IMAGE_H
#define TAC_TISSUE_COMPLIANCE_IMAGE_H

#include "tissue/compliance.h"

#ifdef __cplusplus
extern "C" {
#endif

// Also part of every hash, so that a new version never opens an older file.
#define COMPLIANCE_VERSION 2u

typedef struct compliance_header {
	char magic[8];
	uint32_t version;
	uint32_t byte_order; // COMPLIANCE_BYTE_ORDER where the byte order is that of this machine
	uint64_t size;       // of the image, bytes
	uint64_t checksum;   // of the image with 0 in this place
	uint64_t hash;
	tac_compliance_material material;
	double spacing_m[TAC_COMPLIANCE_LEVELS];
	int32_t node_count, vertex_count, triangle_count, bound_count, spread_count;
	int32_t level_start[TAC_COMPLIANCE_LEVELS + 1];
	int32_t cluster_count;
	double far_error;
	uint32_t block_units; // of 16 floats
	uint32_t has_basis;   // 1: yes
} compliance_header;

#define COMPLIANCE_MAGIC      "TACTISSU"
#define COMPLIANCE_BYTE_ORDER UINT32_C(0x01020304)

// The numbers of two clusters begin at a multiple of so many floats.
#define COMPLIANCE_UNIT 16

// The units that the numbers of two clusters with so many points take.
// Thread: any.
static inline uint32_t tac_compliance_pair_units(bool far, int32_t points, int32_t others)
{
	const uint32_t floats =
		far ? TAC_COMPLIANCE_RANK * TAC_COMPLIANCE_RANK : 9 * (uint32_t)points * (uint32_t)others;
	return (floats + COMPLIANCE_UNIT - 1) / COMPLIANCE_UNIT;
}

// Where each array begins, bytes from the start of the image.
typedef struct compliance_layout {
	size_t vertices, vertex_normals, triangles;
	size_t points, point_normals, point_area_m2, point_node;
	size_t spread_start, spread_node, spread_weight;
	size_t bound;
	size_t cluster_size, place, pairs, basis, blocks;
	size_t size;
} compliance_layout;

// The layout that the counts of the header ask for; false if a count is out of range.
// Thread: any.
bool tac_compliance_lay_out(const compliance_header *header, compliance_layout *out_layout);

// A checksum of an image: four lanes of 64 bits. Each step is a bijection of a lane, so a change within one
// word of 8 bytes is always noticed.
// Thread: any.
uint64_t tac_compliance_checksum(const void *image, size_t size);

// Lets the pointers of *compliance point into an image of `size` bytes. NULL, or what is wrong with it.
// Thread: any.
const char *tac_compliance_attach(tac_compliance *compliance, void *image, size_t size);

// tac_compliance_open of an open file; `path` names it in messages, and the caller closes it.
// Thread: setup.
tac_result tac_compliance_open_fd(int fd, const char *path, uint64_t hash, tac_compliance **out_compliance);

// The levels of points above the nodes. `header` has the counts of nodes, vertices and triangles; the
// function sets its level_start, spread_count and spacing_m, and allocates the arrays.
typedef struct compliance_levels {
	int32_t point_count;
	int32_t *node; // of each point
	double *area_m2;
	int32_t *spread_start, *spread_node;
	float *spread_weight;
} compliance_levels;

// TAC_ERROR_MEMORY, and nothing to release then.
// Thread: setup.
tac_result tac_compliance_build_levels(compliance_header *header, const tac_vec3 *vertices,
				       const tac_vec3 *normals, const double *node_area_m2,
				       compliance_levels *out_levels);

// Thread: setup.
void tac_compliance_release_levels(compliance_levels *levels);

// Binds each shown vertex to the nearest triangle.
// Thread: setup.
void tac_compliance_bind(const tac_compliance_def *def, tac_compliance_binding *out_bound);

#ifdef __cplusplus
}
#endif

#endif
