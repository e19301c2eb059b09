// Render with CHAI3D: the objects of a scene in a world of CHAI3D's, and its finger proxy moved along a path,
// for comparison with our own (docs/chai3d.md). The tool must be one sphere; every object has the material of
// its first surface.
#ifndef TAC_APPS_RENDER_CHAI3D_H
#define TAC_APPS_RENDER_CHAI3D_H

#include "haptic/world.h"

typedef struct chai3d_scene chai3d_scene;

// What the proxy did in a tick.
typedef struct chai3d_answer {
	tac_dvec3 proxy_m;
	tac_dvec3 force_N; // on the tool, in the world
	int contacts;
	int64_t ns; // that CHAI3D took
} chai3d_answer;

// False after one line on standard error: no plugin, a tool that is no sphere, or CHAI3D's refusal.
bool chai3d_scene_create(const tac_world *world, chai3d_scene **out_scene);
void chai3d_scene_destroy(chai3d_scene **scene); // nulls the pointer

// The tool to this place, `time_ns` after the start; the first call puts the proxy there. False after one
// line.
bool chai3d_scene_step(chai3d_scene *scene, int64_t time_ns, tac_dpose T_world_tool,
		       tac_dvec3 velocity_m_per_s, chai3d_answer *out_answer);

#endif
