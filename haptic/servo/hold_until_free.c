#include "haptic/servo_private.h"

// Between two looks whether a waiting tool is free: a look may take longer than a tick.
#define RETRY_TICKS 10
// Triangles that one tick of a look examines, some 4 ns each.
#define LOOK_TRIANGLES 50000

// Whether the tool, where the look began, is outside of all solids: the collision engines know surfaces, and
// a tool wholly inside of one would be shut in. False as long as that is not known; *out_done: it is.
static bool outside(tac_servo *s, bool *out_done)
{
	const tac_world *world = s->def.world;
	const tac_world_body *tool = &world->tools[s->def.tool];
	tac_servo_look *l = &s->look;
	int32_t left = LOOK_TRIANGLES;
	*out_done = false;
	for (; l->object < world->scene->object_count; l->object++, l->triangle = 0) {
		const tac_world_body *object = &world->objects[l->object];
		const int32_t triangles = object->solid ? object->mesh->triangle_count : 0;
		const int32_t to = triangles - l->triangle < left ? triangles : l->triangle + left;
		if (l->triangle == 0)
			l->T_object_tool = tac_dpose_relative(s->T_world_objects[l->object], l->T_world_tool);
		tac_dvec3 probes[TAC_SCENE_SHAPES];
		for (int32_t k = 0; k < tool->probe_count; k++) {
			probes[k] = tac_dpose_apply_point(l->T_object_tool, tool->probes[k]);
			l->winding[k] = l->triangle > 0 ? l->winding[k] : 0;
		}
		tac_world_wind(object, l->triangle, to, probes, tool->probe_count, l->winding);
		left -= to - l->triangle;
		l->triangle = to;
		if (to < triangles)
			return false;
		for (int32_t k = 0; k < tool->probe_count; k++) {
			if (l->winding[k] > 0) {
				*out_done = true;
				return false;
			}
		}
	}
	*out_done = true;
	return true;
}

void tac_servo_look_round(tac_servo *servo)
{
	tac_servo *s = servo;
	if (!s->look.under_way) {
		if (s->steps % RETRY_TICKS != 0)
			return;
		s->look = (tac_servo_look){.under_way = true, .T_world_tool = s->T_world_device};
	}
	bool done;
	const bool free_of_solids = outside(s, &done);
	if (!done)
		return;
	s->look.under_way = false;
	s->waiting = !free_of_solids || !tac_sco_reset(s->sco, s->look.T_world_tool, s->T_world_objects);
	s->now.faults += s->waiting && !s->looked;
	s->looked = true;
}
