// Render with CHAI3D: builds a scene's objects in a CHAI3D world and moves CHAI3D's finger proxy along a
// path, for comparison with the SCO (docs/chai3d.md). The tool must be a single sphere. Each object has the
// material of its first surface.
#ifndef TAC_APPS_COMMANDS_RENDER_CHAI3D_H
#define TAC_APPS_COMMANDS_RENDER_CHAI3D_H

#include "haptic/world.h"

typedef struct chai3d_scene chai3d_scene;

// The outcome of one tick.
typedef struct chai3d_result {
	tac_dvec3 proxy_m;
	tac_dvec3 force_N; // on the tool, in the world
	int contacts;
	int64_t ns; // CHAI3D's computing time
} chai3d_result;

// False after one line on stderr: the plugin is missing, the tool is not a sphere, or CHAI3D failed.
bool chai3d_scene_create(const tac_world *world, chai3d_scene **out_scene);
void chai3d_scene_destroy(chai3d_scene **scene); // nulls the pointer

// Moves the tool to a pose, `time_ns` after the start. The first call places the proxy there. False after one
// line on stderr.
bool chai3d_scene_step(chai3d_scene *scene, int64_t time_ns, tac_dpose T_world_tool,
		       tac_dvec3 velocity_m_per_s, chai3d_result *out_result);

#endif
