// A plugin with an API version that is no longer supported.
#include "devices/chai3d_interface.h"

const tac_chai3d_api *tac_chai3d_plugin(void);

const tac_chai3d_api *tac_chai3d_plugin(void)
{
	static const tac_chai3d_api old;
	return &old;
}
