#include "haptic/servo/servo_state.h"

#include "collision/mesh_query.h"

// Triangles examined in a tick, about 4 ns each.
#define TRIANGLES_PER_TICK 50000

// Continues the test whether the tool is outside all solids. The collision engines only detect surfaces: a
// tool that begins wholly inside a solid would be shut in. False as long as *out_done is false.
static bool outside_all_solids(tac_servo *s, bool *out_done)
{
	const tac_world *world = s->def.world;
	const tac_world_body *tool = &world->tools[s->def.tool];
	tac_servo_release *r = &s->release;
	int32_t left = TRIANGLES_PER_TICK;
	*out_done = false;
	for (; r->object < world->scene->object_count; r->object++, r->triangle = 0) {
		const tac_world_body *object = &world->objects[r->object];
		const int32_t triangles = object->solid ? object->mesh->triangle_count : 0;
		const int32_t end = triangles - r->triangle < left ? triangles : r->triangle + left;
		if (r->triangle == 0)
			r->T_object_tool = tac_dpose_relative(s->T_world_objects[r->object], r->T_world_tool);
		tac_dvec3 probes[TAC_SCENE_SHAPES];
		for (int32_t k = 0; k < tool->probe_count; k++) {
			probes[k] = tac_dpose_apply_point(r->T_object_tool, tool->probes[k]);
			r->winding[k] = r->triangle > 0 ? r->winding[k] : 0;
		}
		tac_mesh_winding_add(object->mesh, r->triangle, end, probes, tool->probe_count, r->winding);
		left -= end - r->triangle;
		r->triangle = end;
		if (end < triangles)
			return false;
		for (int32_t k = 0; k < tool->probe_count; k++) {
			if (r->winding[k] > 0) {
				*out_done = true;
				return false;
			}
		}
	}
	*out_done = true;
	return true;
}

void tac_servo_try_release(tac_servo *servo)
{
	tac_servo *s = servo;
	tac_servo_release *r = &s->release;
	// The next test begins as soon as the last has ended, so that no free moment is missed.
	if (!r->active)
		*r = (tac_servo_release){
			.active = true, .tried = r->tried, .T_world_tool = s->T_world_device};
	bool done;
	const bool outside = outside_all_solids(s, &done);
	if (!done)
		return;
	r->active = false;
	s->waiting = !outside || !tac_sco_reset(s->sco, r->T_world_tool, s->T_world_objects);
	s->totals.faults += s->waiting && !r->tried;
	r->tried = true;
}
