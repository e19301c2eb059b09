#include "haptic/force/shading.h"

#include "collision/mesh_query.h"

#include <math.h>

// Cosines of the angle from the contact's normal to the smooth one, between which shading fades out.
#define SHADED   0.866 // 30 degrees
#define UNSHADED 0.5   // 60 degrees

// Steps of the projection onto the smooth surface, and the bounds of the depth ratio.
#define PROJECTIONS     4
#define DEPTH_RATIO_MIN 0.5
#define DEPTH_RATIO_MAX 1.5

// The smooth surface at the device's projection, without fading.
static tac_shading project(const tac_world_body *object, const tac_sco_contact *c, tac_dpose T_world_object,
			   tac_dpose sco_to_device, double round_m)
{
	const tac_dpose T_object_world = tac_dpose_inverse(T_world_object);
	const tac_dvec3 normal = tac_dpose_apply_vector(T_object_world, c->normal);
	const tac_dvec3 on_object =
		tac_dpose_apply_point(T_object_world, tac_dvec3_add_scaled(c->point_m, -c->gap_m, c->normal));
	const tac_dvec3 device = tac_dpose_apply_point(
		T_object_world,
		tac_dpose_apply_point(sco_to_device, tac_dvec3_add_scaled(c->point_m, round_m, c->normal)));
	const double depth = tac_dvec3_dot(tac_dvec3_sub(on_object, device), normal) + round_m;
	tac_dvec3 point = on_object;
	tac_mesh_location at =
		tac_mesh_locate(object->mesh, object->corner_normals, c->object_triangle, point);
	tac_shading shading = {at.smooth_normal, 1};
	for (int i = 0; i < PROJECTIONS && depth > 0; i++) {
		const double along = tac_dvec3_dot(at.smooth_normal, at.facet_normal);
		const double height =
			at.height_m + tac_dvec3_dot(tac_dvec3_sub(device, point), at.facet_normal);
		if (along < UNSHADED || tac_dvec3_dot(at.smooth_normal, normal) < UNSHADED)
			break;
		shading.normal = at.smooth_normal;
		shading.depth_ratio = (round_m - height / along + c->gap_m) / (depth + c->gap_m);
		point = tac_dvec3_add_scaled(device, -height / along, at.smooth_normal);
		at = tac_mesh_locate(object->mesh, object->corner_normals, at.triangle, point);
	}
	shading.normal = tac_dpose_apply_vector(T_world_object, shading.normal);
	shading.depth_ratio = fmin(fmax(shading.depth_ratio, DEPTH_RATIO_MIN), DEPTH_RATIO_MAX);
	return shading;
}

tac_shading tac_shading_compute(const tac_world_body *object, const tac_sco_contact *contact,
				tac_dpose T_world_object, tac_dpose sco_to_device, double round_m)
{
	const tac_sco_contact *c = contact;
	const tac_shading smooth = project(object, c, T_world_object, sco_to_device, round_m);
	const double share =
		fmin(fmax((tac_dvec3_dot(smooth.normal, c->normal) - UNSHADED) / (SHADED - UNSHADED), 0), 1);
	return (tac_shading){tac_dvec3_normalize(tac_dvec3_lerp(c->normal, smooth.normal, share)),
			     1 + share * (smooth.depth_ratio - 1)};
}
