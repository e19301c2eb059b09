// The exchange of worlds: the application prepares movers for the new world and hands them over; the
// real-time thread tests the tools in it, takes it between two ticks, and gives the old one back.
#include "base/log.h"
#include "haptic/servo/live_state.h"

// Triangles examined in a tick for each probe, about 4 ns each: the old world's mover runs in the same tick.
#define TRIANGLES_PER_TICK 20000

// ---- the application's side ----

// What was drilled or pressed belongs to the servos, and would not follow into another world.
// NULL: nothing.
static const char *changed(const tac_world *world)
{
	for (int32_t i = 0; i < world->scene->object_count; i++) {
		if (world->objects[i].field)
			return "a drillable object";
		if (world->objects[i].compliance)
			return "tissue";
	}
	return NULL;
}

static bool fits(const tac_world *before, const tac_world *world)
{
	const char *found = changed(before) ? changed(before) : changed(world);
	if (found) {
		tac_log(TAC_LOG_ERROR, "live: expected worlds without %s, found one", found);
		return false;
	}
	const tac_scene *old = before->scene, *scene = world->scene;
	bool same = scene->tool_count == old->tool_count && world->collider == before->collider;
	for (int32_t i = 0; same && i < scene->tool_count; i++)
		same = scene->tools[i].axes == old->tools[i].axes &&
		       scene->tools[i].turn_arm_m == old->tools[i].turn_arm_m;
	if (!same)
		tac_log(TAC_LOG_ERROR, "live: expected a world with the same engine and as many tools, with "
				       "the same axes and turn_arm_m, found another");
	return same;
}

tac_live_stage *tac_live_prepare(const tac_live *live, const tac_world *before, tac_world *world,
				 int32_t number)
{
	tac_live_stage *stage = fits(before, world) ? tac_live_stage_create(world, number) : NULL;
	bool good = stage != NULL;
	for (int32_t i = 0; good && i < live->servo_count; i++)
		good = tac_servo_make_sco(live->servos[i], world, &stage->scos[i], &stage->round_m[i]) >=
			       TAC_OK &&
		       tac_servo_make_needle(live->servos[i], world, &stage->needles[i]) >= TAC_OK &&
		       tac_task_create(&stage->view, live->servos[i]->def.tool, &stage->tasks[i]) >= TAC_OK;
	if (!good)
		tac_live_stage_destroy(&stage);
	return stage;
}

// Whether the application has yet to get `world` back. Handed over once more it would be given back twice.
static bool is_held(const tac_live *live, const tac_world *world)
{
	for (int32_t i = 0; i < live->held_count; i++) {
		if (live->held[i] == world)
			return true;
	}
	return false;
}

bool tac_live_exchange(tac_live *live, tac_world *world)
{
	if (!world || is_held(live, world)) {
		tac_log(TAC_LOG_ERROR, "live: expected a world that is not in use, found %s",
			world ? "one that has not been given back" : "none");
		return false;
	}
	if (live->held_count > TAC_LIVE_WORLDS) {
		tac_log(TAC_LOG_ERROR,
			"live: expected at most %d worlds that have not been given back, found "
			"another",
			TAC_LIVE_WORLDS);
		return false;
	}
	const tac_live_command command = {.kind = TAC_LIVE_EXCHANGE, .index = live->exchanges + 1};
	if (tac_ring_count(live->commands) >= live->def.capacity)
		return tac_live_push(live, &command); // refused and counted
	tac_live_stage *stage = tac_live_prepare(live, live->newest, world, live->exchanges + 1);
	if (!stage)
		return false;
	// First the stage: whoever takes the command finds it. Both have room.
	tac_ring_push(live->stages, &stage);
	tac_live_push(live, &command);
	live->exchanges++;
	live->held[live->held_count++] = world;
	live->newest = world;
	for (int32_t i = 0; i < TAC_SCENE_OBJECTS; i++)
		live->posed_ns[i] = 0;
	return true;
}

// A stage whose world the application may destroy; NULL: none. Without servos no world is in use any more.
static tac_live_stage *take_back(tac_live *live)
{
	tac_live_stage *stage = NULL;
	if (tac_ring_pop(live->returned, &stage) || live->servo_count > 0 || live->list.stages)
		return stage;
	if (live->old_count > 0) {
		stage = live->old[--live->old_count];
	} else if (live->next) {
		stage = live->next;
		live->next = NULL;
	} else if (!tac_ring_pop(live->stages, &stage)) {
		stage = live->stage;
		live->stage = NULL;
	}
	return stage;
}

tac_world *tac_live_returned(tac_live *live, int32_t *out_number)
{
	tac_live_stage *stage = take_back(live);
	if (!stage)
		return NULL;
	tac_world *world = stage->world;
	if (out_number)
		*out_number = stage->number;
	for (int32_t i = 0; i < live->held_count; i++) {
		if (live->held[i] == world)
			live->held[i] = live->held[--live->held_count];
	}
	tac_live_stage_destroy(&stage);
	return world;
}

// ---- the real-time side ----

// Poses of the next world's objects, and of the partner's tool, for the servo `k`.
static void place(const tac_live *live, int32_t k, int64_t now_ns, tac_dpose T_world_objects[])
{
	const tac_servo *s = live->servos[k];
	const tac_world *world = &live->next->view;
	const int32_t count = world->scene->object_count;
	for (int32_t i = 0; i < count; i++)
		T_world_objects[i] = tac_world_object_pose(world, i, now_ns - s->begin_ns);
	if (s->hands.partner)
		T_world_objects[count] = live->servo_count == 2 && !s->hands.partner->waiting
						 ? live->tests[1 - k].T_world_tool
						 : tac_sco_pose(s->hands.partner->sco);
}

// Continues the tests of all tools that have a force. True when they are done; outside[k]: the tool is
// outside all solids of the next world.
static bool test_tools(tac_live *live, int64_t now_ns, bool outside[TAC_SCENE_TOOLS])
{
	tac_dpose T_world_objects[TAC_SNAPSHOT_OBJECTS];
	int32_t left = tac_servo_per_tick(live->servos[0], TRIANGLES_PER_TICK);
	bool all = true;
	for (int32_t k = 0; k < live->servo_count; k++) {
		tac_servo *s = live->servos[k];
		tac_servo_release *test = &live->tests[k];
		if (!test->active)
			*test = (tac_servo_release){.active = true, .T_world_tool = tac_sco_pose(s->sco)};
		bool done = true;
		place(live, k, now_ns, T_world_objects);
		outside[k] = !s->waiting &&
			     tac_servo_outside_solids(test, &live->next->view, s->def.tool, T_world_objects,
						      tac_servo_hidden_objects(live->next->view.scene), &left,
						      &done);
		all &= done;
	}
	return all;
}

// Puts a tool into the next world.
static void enter(tac_live *live, int32_t k, int64_t now_ns, bool outside)
{
	tac_servo *s = live->servos[k];
	tac_live_stage *next = live->next;
	tac_dpose T_world_objects[TAC_SNAPSHOT_OBJECTS];
	place(live, k, now_ns, T_world_objects);
	const bool was_waiting = s->waiting;
	tac_sco *old = s->sco;
	s->sco = next->scos[k];
	next->scos[k] = NULL;
	live->stage->scos[k] = old;
	s->round_m = next->round_m[k];
	live->stage->needles[k] = s->needle;
	s->needle = next->needles[k];
	next->needles[k].needle = NULL;
	live->stage->tasks[k] = s->task;
	s->task = next->tasks[k];
	next->tasks[k] = NULL;
	s->def.world = &next->view;
	s->tool = &next->view.scene->tools[s->def.tool];
	s->object_count = next->view.scene->object_count + (s->hands.partner ? 1 : 0);
	s->hidden = tac_servo_hidden_objects(next->view.scene);
	s->waiting = was_waiting || !outside ||
		     !tac_sco_reset(s->sco, live->tests[k].T_world_tool, T_world_objects);
	s->release.active = s->show.active = false;
	s->patch_memory = (tac_patch_memory){.stiffness_N_per_m = s->patch_memory.stiffness_N_per_m};
	s->account = (tac_account){.object = -1};
}

// There is room for all worlds that the application may have lent, in the ring as in the list.
void tac_live_give_back(tac_live *live)
{
	for (int32_t i = 0; i < live->old_count; i++)
		tac_ring_push(live->returned, &live->old[i]);
	live->old_count = 0;
}

void tac_live_try_exchange(tac_live *live, int64_t now_ns)
{
	bool outside[TAC_SCENE_TOOLS];
	if (!test_tools(live, now_ns, outside))
		return;
	for (int32_t k = 0; k < live->servo_count; k++)
		enter(live, k, now_ns, outside[k]);
	tac_live_stage *old = live->stage;
	live->stage = live->next;
	live->next = NULL;
	tac_live_reset_objects(live, now_ns - live->servos[0]->begin_ns);
	if (live->next_is_listed)
		live->list.stages[live->list.next_stage++] = old;
	else
		live->old[live->old_count++] = old;
}
