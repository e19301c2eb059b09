// A program with a scene, a mesh file and a servo, for the shared library and the static ones alike: the mesh
// file needs the installed importer, wherever the prefix lies.
//	application MESH-FILE
#include "base/version.h"
#include "collision/mesh_load.h"
#include "haptic/render.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	tac_mesh *mesh = NULL;
	tac_scene *scene = NULL;
	tac_world *world = NULL;
	tac_render *render = NULL;
	const double down[2][TAC_PATH_NUMBERS] = {{0.001, 0, 0, 0.05, 0, 0, 0, 1},
						  {0.002, 0, 0, 0.049, 0, 0, 0, 1}};
	tac_path_sample path[2];
	tac_render_row rows[TAC_SCENE_TOOLS];
	char reason[128];
	if (argc != 2 || tac_mesh_load(argv[1], NULL, &mesh) < TAC_OK ||
	    tac_scene_builtin("sphere", &scene) < TAC_OK ||
	    tac_world_build(scene, tac_collider_find("wide"), &world) < TAC_OK)
		return 1;
	for (int i = 0; i < 2; i++) {
		if (tac_path_sample_make(down[i], i > 0 ? &path[0] : NULL, &path[i], reason, sizeof reason) <
		    TAC_OK)
			return 1;
	}
	tac_render_def def = tac_render_def_default();
	def.world = world;
	def.paths[0] = path;
	def.count = 2;
	if (tac_render_create(&def, &render) < TAC_OK)
		return 1;
	int ticks = 0;
	while (tac_render_step(render, rows)) {
		// Inline functions of the headers need no library that Tactus does not name.
		ticks += tac_dvec3_length(rows[0].T_base_tool.position) > 0;
	}
	printf("%s: %d triangles, %d ticks\n", tac_version(), (int)mesh->triangle_count, ticks);
	tac_render_destroy(&render);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
	tac_mesh_destroy(&mesh);
	return 0;
}
