// A plugin of a version that nobody knows any more.
#include "devices/tac_chai3d.h"

const tac_chai3d_api *tac_chai3d_plugin(void);

const tac_chai3d_api *tac_chai3d_plugin(void)
{
	static const tac_chai3d_api old;
	return &old;
}
