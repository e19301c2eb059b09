// What must hold of a needle's energies from tick to tick.
#ifndef TAC_TESTS_SUPPORT_NEEDLE_ACCOUNT_H
#define TAC_TESTS_SUPPORT_NEEDLE_ACCOUNT_H

#include "tissue/needle.h"

// Whether a dissipated energy has decreased.
static inline bool dissipation_fell(const tac_needle_energy *before, const tac_needle_energy *now)
{
	return now->cutting < before->cutting || now->puncture < before->puncture ||
	       now->friction < before->friction || now->viscosity < before->viscosity ||
	       now->relaxation < before->relaxation || now->snap < before->snap ||
	       now->sideways < before->sideways;
}

#endif
