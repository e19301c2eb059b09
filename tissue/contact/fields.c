// The field of a tool that is a mesh.
#include "tissue/contact.h"

#include <math.h>

#define VOXELS 64 // along the largest extent of the mesh

tac_result tac_tissue_field_build(const char *name, const tac_mesh *mesh, tac_field **out_field,
				  tac_tissue_tool *out_tool)
{
	const tac_vec3 size = tac_vec3_sub(mesh->bounds_max, mesh->bounds_min);
	const tac_field_def def = {
		.name = name, .mesh = mesh, .voxel_m = (double)tac_vec3_max_component(size) / VOXELS};
	*out_tool = (tac_tissue_tool){.half_m = 0.5 * (double)fminf(fminf(size.x, size.y), size.z)};
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		out_tool->reach_m =
			fmax(out_tool->reach_m, tac_dvec3_length(tac_dvec3_from_vec3(mesh->vertices[i])));
	const tac_result result = tac_field_build(&def, out_field);
	out_tool->field = *out_field;
	return result;
}
