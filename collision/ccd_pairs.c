#include "collision/ccd_pairs.h"

static tac_ccd_pairs_fn *const kernels[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_ccd_pairs_kernel);

void tac_ccd_pairs(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_sweep *sweep,
		   const double *reach, tac_ccd_visit visit, void *user)
{
	kernels[moving->simd](moving, fixed, sweep, reach, visit, user);
}
