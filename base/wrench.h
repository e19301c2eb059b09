// Wrench: a force and a torque on a body. The user of a wrench states the point that the torque is about.
#ifndef TAC_BASE_WRENCH_H
#define TAC_BASE_WRENCH_H

#include "base/algebra.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_wrench {
	tac_dvec3 force_N;
	tac_dvec3 torque_Nm;
} tac_wrench;

static inline tac_wrench tac_wrench_zero(void)
{
	tac_wrench wrench = {tac_dvec3_zero(), tac_dvec3_zero()};
	return wrench;
}

#ifdef __cplusplus
}
#endif

#endif
