// Sums of a compliance: the displacements of single points under many forces, which are prepared once. Forces
// far from a point are taken by clusters: what a cluster adds to another one is found when it is first asked
// for, and kept.
#ifndef TAC_TISSUE_COMPLIANCE_SUMS_H
#define TAC_TISSUE_COMPLIANCE_SUMS_H

#include "tissue/compliance.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_COMPLIANCE_SUMS 384 // the most forces
#define COMPLIANCE_ASKED    16  // clusters whose far sums are kept

// A force in the order of a block's numbers, N: by its columns, and by those of the transposed block.
typedef struct compliance_pull {
	double along[9], across[9];
	int32_t point, slot; // the place in its cluster
} compliance_pull;

// The far forces as the points of a cluster see them.
typedef struct compliance_view {
	int32_t cluster;
	float far[TAC_COMPLIANCE_RANK];     // the sum of S U_j^T f_j
	uint16_t near[TAC_COMPLIANCE_SUMS]; // clusters with forces that are near, as places in the list
	int32_t near_count;
} compliance_view;

typedef struct tac_compliance_sums {
	const tac_compliance *compliance;
	// Clusters with forces; those of the k-th are pulls[start[k]] to below pulls[start[k + 1]].
	int32_t count;
	int32_t cluster[TAC_COMPLIANCE_SUMS], start[TAC_COMPLIANCE_SUMS + 1];
	compliance_pull pulls[TAC_COMPLIANCE_SUMS];
	float projected[TAC_COMPLIANCE_SUMS][TAC_COMPLIANCE_RANK]; // the sum of U_j^T f_j of each cluster
	bool is_projected[TAC_COMPLIANCE_SUMS];
	compliance_view views[COMPLIANCE_ASKED];
	int32_t view_count; // all that were made; the oldest is overwritten
} tac_compliance_sums;

// Takes at most TAC_COMPLIANCE_SUMS forces. Thread: RT.
void tac_compliance_sums_begin(tac_compliance_sums *sums, const tac_compliance *compliance,
			       const tac_compliance_force *forces, int32_t count);

// The displacement of a point by them, m. Thread: RT.
tac_dvec3 tac_compliance_sums_at(tac_compliance_sums *sums, int32_t point);

#ifdef __cplusplus
}
#endif

#endif
