// The fields of a tool that is a mesh.
#include "tissue/contact.h"

#include <math.h>

// Voxels along the largest extent of the mesh, and at least across its smallest.
#define VOXELS       64
#define ACROSS_LEAST 6
// A field knows distances up to two voxels. For the edges that is a little more than a point's disc, in
// spacings of the level.
#define EDGE_VOXEL 0.6

tac_result tac_tissue_fields_build(const char *name, const tac_mesh *mesh, const tac_compliance *compliance,
				   tac_tissue_fields *out_fields, tac_tissue_tool *out_tool)
{
	const tac_vec3 size = tac_vec3_sub(mesh->bounds_max, mesh->bounds_min);
	const double smallest = (double)fminf(fminf(size.x, size.y), size.z);
	tac_field_def def = {
		.name = name, .mesh = mesh, .voxel_m = (double)tac_vec3_max_component(size) / VOXELS};
	*out_fields = (tac_tissue_fields){.field = NULL};
	*out_tool = (tac_tissue_tool){.field = NULL};
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		out_tool->reach_m =
			fmax(out_tool->reach_m, tac_dvec3_length(tac_dvec3_from_vec3(mesh->vertices[i])));
	tac_result result = tac_field_build(&def, &out_fields->field);
	for (int k = 0; k < TAC_COMPLIANCE_LEVELS && result >= TAC_OK; k++) {
		def.voxel_m = fmin(EDGE_VOXEL * compliance->spacing_m[k], smallest / ACROSS_LEAST);
		result = tac_field_build(&def, &out_fields->edge[k]);
		out_tool->edge[k] = out_fields->edge[k];
	}
	out_tool->field = out_fields->field;
	if (result < TAC_OK)
		tac_tissue_fields_release(out_fields);
	return result;
}

void tac_tissue_fields_release(tac_tissue_fields *fields)
{
	tac_field_destroy(&fields->field);
	for (int k = 0; k < TAC_COMPLIANCE_LEVELS; k++)
		tac_field_destroy(&fields->edge[k]);
}
