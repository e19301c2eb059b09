// Nearby: which points of one level of a compliance lie in a box.
#ifndef TAC_TISSUE_CONTACT_NEARBY_H
#define TAC_TISSUE_CONTACT_NEARBY_H

#include "tissue/compliance.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of one level. Points are numbered as in the compliance.
typedef struct tac_nearby {
	int32_t first, count;
	tac_dvec3 origin_m;
	double cell_m;
	int32_t size[3];
	int32_t *start; // of each cell in `points`
	int32_t *points;
} tac_nearby;

// TAC_ERROR_MEMORY with one log line.
// Thread: setup.
tac_result tac_nearby_init(tac_nearby *nearby, const tac_compliance *compliance, int32_t level);

// Thread: setup.
void tac_nearby_fini(tac_nearby *nearby);

// The points of cells that the box meets, in a fixed order, at most `capacity`; some lie outside the box.
// Thread: RT.
int32_t tac_nearby_in_box(const tac_nearby *nearby, tac_dvec3 min, tac_dvec3 max, int32_t capacity,
			  int32_t *out_points);

#ifdef __cplusplus
}
#endif

#endif
