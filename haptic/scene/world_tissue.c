#include "haptic/scene/world_tissue.h"

#include "collision/solid.h"
#include "tissue/elastic.h"

#include <math.h>

_Static_assert(TAC_SCENE_INSIDE <= TAC_ELASTIC_INSIDE_MAX, "room for what is inside");
_Static_assert(TAC_SCENE_FIXED <= TAC_ELASTIC_FIXED_MAX, "room for what is fixed");

// Segments of a solid that is inside: finer than the body's elements.
#define SEGMENTS 24
// Linear elements are too stiff above this ratio: elements of order 2 there.
#define LINEAR_POISSON_MAX 0.47

static const tac_material *material_of(const tac_world *world, const char *name)
{
	return &world->materials[tac_scene_find_material(world->scene, name)];
}

// What is inside as closed meshes, which the caller destroys.
static tac_result build_inside(const tac_world *world, const tac_scene_tissue *tissue, tac_elastic_def *def,
			       tac_mesh **out_meshes)
{
	tac_result result = TAC_OK;
	for (int32_t i = 0; i < tissue->inside_count && result >= TAC_OK; i++) {
		tac_solids solids;
		result = tac_solids_parse(tissue->inside[i].solids, &solids);
		if (result >= TAC_OK)
			result = tac_solids_build_mesh(&solids, SEGMENTS, &out_meshes[i]);
		const tac_material *m = material_of(world, tissue->inside[i].material);
		def->inside[def->inside_count++] = (tac_elastic_inside){
			.mesh = out_meshes[i], .young_Pa = m->young_Pa, .poisson = m->poisson};
	}
	return result;
}

tac_result tac_world_build_tissue(const tac_world *world, const tac_scene_object *object,
				  tac_world_body *body)
{
	const tac_scene_tissue *tissue = &object->tissue;
	const tac_material *m = material_of(world, object->material);
	tac_elastic_def def = tac_elastic_def_default();
	def.name = object->name;
	def.mesh = body->mesh;
	def.material = (tac_compliance_material){m->young_Pa, m->poisson, m->creep, m->creep_time_s};
	def.spacing_m = tissue->spacing_m;
	def.order = m->poisson > LINEAR_POISSON_MAX ? 2 : 1;
	for (int32_t i = 0; i < tissue->fixed_count; i++)
		def.fixed[def.fixed_count++] = (tac_elastic_fixed){
			.low_m = tac_dvec3_splat(-HUGE_VAL),
			.high_m = {HUGE_VAL, HUGE_VAL, tissue->fixed[i].below_z_m},
		};
	tac_mesh *meshes[TAC_SCENE_INSIDE] = {0};
	tac_result result = build_inside(world, tissue, &def, meshes);
	if (result >= TAC_OK)
		result = tac_elastic_prepare(&def, &body->compliance);
	for (int32_t i = 0; i < TAC_SCENE_INSIDE; i++)
		tac_mesh_destroy(&meshes[i]);
	return result;
}
