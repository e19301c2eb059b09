#include "haptic/scene/world_field.h"

#include "collision/solid.h"

#include <math.h>
#include <string.h>

_Static_assert(TAC_SCENE_INSIDE < TAC_FIELD_LABELS, "a label for each material");

// What the labels of a body depend on.
typedef struct inside {
	const tac_scene_drillable *drillable;
	tac_solids solids[TAC_SCENE_INSIDE]; // count 0: everywhere
} inside;

// Whether a point lies in a solid of revolution, in the solid's frame.
static bool is_in_solid(const tac_solid *s, tac_dvec3 common)
{
	const tac_dvec3 from = tac_dvec3_sub(common, s->position);
	const tac_dvec3 p = tac_dvec3_make(tac_dvec3_dot(tac_dmat3_column(s->rotation, 0), from),
					   tac_dvec3_dot(tac_dmat3_column(s->rotation, 1), from),
					   tac_dvec3_dot(tac_dmat3_column(s->rotation, 2), from));
	const double rho = hypot(p.x, p.y), half = 0.5 * s->height;
	switch (s->kind) {
	case TAC_SOLID_SPHERE:
		return hypot(rho, p.z) <= s->radius;
	case TAC_SOLID_CAPSULE:
		return hypot(rho, fmax(fabs(p.z) - half, 0)) <= s->radius;
	case TAC_SOLID_CYLINDER:
		return rho <= s->radius && fabs(p.z) <= half;
	case TAC_SOLID_CONE:
		return fabs(p.z) <= half &&
		       rho <= s->radius + (s->top - s->radius) * (p.z + half) / s->height;
	case TAC_SOLID_TOROID: {
		const double bulge = sqrt(fmax(s->minor * s->minor - p.z * p.z, 0));
		return p.z >= s->z_min && p.z <= s->z_max &&
		       rho <= (s->concave ? s->radius - bulge : s->radius + bulge);
	}
	}
	return false;
}

static uint8_t label_of(const void *user, tac_dvec3 point_m, double depth_m)
{
	const inside *in = user;
	uint8_t label = 0;
	for (int32_t i = 0; i < in->drillable->inside_count; i++) {
		bool there = in->solids[i].count == 0;
		for (int32_t k = 0; k < in->solids[i].count && !there; k++)
			there = is_in_solid(&in->solids[i].solid[k], point_m);
		if (there && depth_m >= in->drillable->inside[i].depth_m)
			label = (uint8_t)(i + 1);
	}
	return label;
}

tac_result tac_world_build_field(const tac_world *world, const tac_scene_object *object, tac_world_body *body)
{
	const tac_scene_drillable *d = &object->drillable;
	inside in = {.drillable = d};
	const char *own = *d->material ? d->material : object->material;
	for (int i = 0; i < TAC_FIELD_LABELS; i++)
		body->field_material[i] = tac_scene_find_material(world->scene, own);
	for (int32_t i = 0; i < d->inside_count; i++) {
		body->field_material[i + 1] = tac_scene_find_material(world->scene, d->inside[i].material);
		if (*d->inside[i].solids && tac_solids_parse(d->inside[i].solids, &in.solids[i]) < TAC_OK)
			return TAC_ERROR_FORMAT;
	}
	const tac_field_def def = {
		.name = object->name,
		.mesh = body->mesh,
		.voxel_m = d->voxel_m,
		.label = d->inside_count > 0 ? label_of : NULL,
		.label_user = &in,
	};
	body->solid = false; // the mover tests whether a tool begins in what remains
	return tac_field_build(&def, &body->field);
}
