#include "haptic/scene/world_tissue.h"

#include "base/log.h"

tac_result tac_world_build_tissue(const tac_world *world, const tac_scene_object *object,
				  tac_world_body *body)
{
	(void)world;
	(void)body;
	tac_log(TAC_LOG_ERROR, "%s: expected a build that prepares soft bodies, found one without",
		object->name);
	return TAC_ERROR_UNSUPPORTED;
}
