// Clusters: neighbouring points of one level that share a basis, and the numbers of each pair of clusters,
// before they become an image. What the blocks are computed from is a source.
#ifndef TAC_TISSUE_COMPLIANCE_CLUSTER_H
#define TAC_TISSUE_COMPLIANCE_CLUSTER_H

#include "tissue/compliance/image.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where blocks come from: a closed form, or finite elements.
typedef struct compliance_source {
	const void *user;
	// The displacements of the nodes under unit forces on `count` points, at most TAC_COMPLIANCE_CLUSTER:
	// out[9 (node count + k) + 3 r + c] is along axis r under a force on point k along c, m/N. Only those
	// of nodes with an order of at least `from` are asked for. False: no memory. Several threads call it.
	bool (*columns)(const void *user, const compliance_levels *levels, const int32_t *points,
			int32_t count, int32_t from, float *out);
	const int32_t *order; // of each node, from 0 on; NULL: all 0
	bool exact;           // no basis: every block is kept
	int threads;
	void (*progress)(void *user, double part); // called by the calling thread; may be NULL
	void *progress_user;
} compliance_source;

// The clusters of all levels, the coarsest first, those of the nodes by the lowest order in them: what is
// computed of a cluster's columns is what comes after it.
typedef struct compliance_clusters {
	int32_t count, coarsest; // of them, the first so many are of the coarsest level
	int32_t nodes_first;     // the clusters from here on are of nodes
	int32_t *start;          // of each in `point`, count + 1
	int32_t *point;
	int32_t *from; // the lowest order of its nodes; 0 on coarser levels
} compliance_clusters;

// False: no memory, and nothing to release. Thread: setup.
bool tac_compliance_cluster(const compliance_header *header, const compliance_levels *levels,
			    const tac_vec3 *vertices, const int32_t *order,
			    compliance_clusters *out_clusters);

// Thread: setup.
void tac_compliance_release_clusters(compliance_clusters *clusters);

// A matrix of the displacements of one cluster under forces on another, or a basis.
#define COMPLIANCE_SIDE (3 * TAC_COMPLIANCE_CLUSTER)

typedef struct compliance_matrix {
	int32_t rows, columns;
	float of[COMPLIANCE_SIDE][COMPLIANCE_SIDE];
} compliance_matrix;

typedef struct compliance_basis {
	float of[COMPLIANCE_SIDE][TAC_COMPLIANCE_RANK];
} compliance_basis;

// The TAC_COMPLIANCE_RANK orthonormal vectors that hold most of the given columns, each with `rows` numbers.
// Fewer if there are not so many; the others are zero. The columns are overwritten; `scratch` has room for as
// many numbers. Thread: setup.
void tac_compliance_find_basis(int32_t rows, int32_t count, double *columns, double *scratch,
			       compliance_basis *out_basis);

// S = U^T C V, and the largest error of U S V^T, or HUGE_VAL as soon as it is above `limit`. Thread: setup.
double tac_compliance_project(const compliance_matrix *matrix, const compliance_basis *left,
			      const compliance_basis *right, double limit,
			      float out_S[TAC_COMPLIANCE_RANK * TAC_COMPLIANCE_RANK]);

// All pairs.
typedef struct compliance_pairs {
	float **numbers;  // of clusters a >= b at a (a + 1) / 2 + b
	bool *far;        // of each pair
	float *basis;     // of each point; NULL: no clusters are far
	double far_error; // the largest that was accepted
} compliance_pairs;

// Computes them by source->threads threads. TAC_ERROR_ARGUMENT: they take more than TAC_COMPLIANCE_BYTES_MAX,
// or a diagonal is not positive; TAC_ERROR_MEMORY. No log line, and nothing to release then. Thread: setup.
tac_result tac_compliance_compute(const compliance_header *header, const compliance_levels *levels,
				  const tac_vec3 *vertices, const compliance_clusters *clusters,
				  const compliance_source *source, compliance_pairs *out_pairs,
				  const char **out_wrong);

// Thread: setup.
void tac_compliance_release_pairs(const compliance_clusters *clusters, compliance_pairs *pairs);

// tac_compliance_create of a source other than def->block.
// Thread: setup.
tac_result tac_compliance_build(const tac_compliance_def *def, const compliance_source *source,
				tac_compliance **out_compliance);

#ifdef __cplusplus
}
#endif

#endif
