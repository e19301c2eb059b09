#include "base/version.h"

const char *tac_version(void)
{
	return TAC_VERSION;
}
