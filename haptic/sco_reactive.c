#include "haptic/sco_private.h"

tac_result tac_sco_reactive_create(tac_sco *sco)
{
	(void)sco;
	return TAC_OK;
}

void tac_sco_reactive_destroy(tac_sco *sco)
{
	(void)sco;
}

void tac_sco_move_reactive(tac_sco *sco)
{
	(void)sco;
}
