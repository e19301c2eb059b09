// Replaces the viewer in a build without its libraries.
#include "apps/viewer/viewer.h"

#include "base/log.h"

#include <stddef.h>

tac_result viewer_open(const viewer_def *def, viewer **out_viewer)
{
	(void)def;
	*out_viewer = NULL;
	tac_log(TAC_LOG_WARNING,
		"viewer: expected a build with libglfw3-dev, libepoxy-dev, libcglm-dev and libpng-dev, "
		"found one without");
	return TAC_ERROR_UNSUPPORTED;
}

bool viewer_show(viewer *v, const viewer_frame *frame)
{
	(void)v;
	(void)frame;
	return false;
}

int viewer_steps(viewer *v)
{
	(void)v;
	return -1;
}

void viewer_tick(viewer *v, const tac_tick *tick)
{
	(void)v;
	(void)tick;
}

tac_result viewer_close(viewer **v)
{
	*v = NULL;
	return TAC_OK;
}
