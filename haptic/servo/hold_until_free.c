#include "haptic/servo/servo_state.h"

#include "collision/mesh_query.h"

// Triangles examined in a tick for each probe, about 4 ns each.
#define TRIANGLES_PER_TICK 50000

bool tac_servo_wind(tac_servo_winding *winding, const tac_world_body *solid, const tac_world_body *other,
		    tac_dpose T_solid_other, int32_t *left)
{
	tac_servo_winding *w = winding;
	const int32_t triangles = solid->solid ? solid->mesh->triangle_count : 0;
	const int32_t probe_count = other->probe_count > 1 ? other->probe_count : 1;
	const int32_t most = *left / probe_count;
	const int32_t end = triangles - w->triangle < most ? triangles : w->triangle + most;
	tac_dvec3 probes[TAC_SCENE_SHAPES];
	for (int32_t k = 0; k < other->probe_count; k++) {
		probes[k] = tac_dpose_apply_point(T_solid_other, other->probes[k]);
		w->sum[k] = w->triangle > 0 ? w->sum[k] : 0;
	}
	tac_mesh_winding_add(solid->mesh, w->triangle, end, probes, other->probe_count, w->sum);
	*left -= (end - w->triangle) * probe_count;
	w->triangle = end;
	w->inside = false;
	for (int32_t k = 0; k < other->probe_count; k++)
		w->inside |= end == triangles && w->sum[k] > 0;
	return end == triangles;
}

// The collision engines only detect surfaces: a tool that begins wholly inside a solid would be shut in.
bool tac_servo_outside_solids(tac_servo_release *test, const tac_world *world, int32_t tool,
			      const tac_dpose *T_world_objects, uint64_t hidden, int32_t *left,
			      bool *out_done)
{
	tac_servo_release *r = test;
	*out_done = false;
	for (; r->object < world->scene->object_count; r->object++, r->winding.triangle = 0) {
		// A tool may begin in what a needle enters, but not in what yields.
		if (hidden >> r->object & 1u ||
		    (tac_world_passes(world, tool, r->object) && !world->objects[r->object].compliance))
			continue;
		if (r->winding.triangle == 0)
			r->T_object_tool = tac_dpose_relative(T_world_objects[r->object], r->T_world_tool);
		if (!tac_servo_wind(&r->winding, &world->objects[r->object], &world->tools[tool],
				    r->T_object_tool, left))
			return false;
		if (r->winding.inside) {
			*out_done = true;
			return false;
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
	int32_t left = tac_servo_per_tick(s, TRIANGLES_PER_TICK);
	const bool outside = tac_servo_outside_solids(r, s->def.world, s->def.tool, s->T_world_objects,
						      s->hidden, &left, &done);
	if (!done)
		return;
	s->waiting = !outside || !tac_sco_reset(s->sco, r->T_world_tool, s->T_world_objects);
	// With a slow engine the reset goes on in the next tick, at the same pose.
	r->active = outside && s->waiting && tac_sco_reset_unfinished(s->sco);
	if (r->active)
		return;
	s->totals.faults += s->waiting && !r->tried;
	r->tried = true;
}

void tac_servo_place_again(tac_servo *servo, tac_dpose T_world_tool)
{
	tac_servo *s = servo;
	s->waiting = !tac_sco_reset(s->sco, T_world_tool, s->T_world_objects);
	// No solid has to be tested again: the pose was proved free.
	if (s->waiting && tac_sco_reset_unfinished(s->sco))
		s->release = (tac_servo_release){.active = true,
						 .tried = s->release.tried,
						 .T_world_tool = T_world_tool,
						 .object = s->def.world->scene->object_count};
}
