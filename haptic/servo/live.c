#include "haptic/servo/live_state.h"

#include "base/assert.h"
#include "base/def.h"
#include "base/log.h"
#include "haptic/scene/scene_check.h"
#include "haptic/scene/scene_keys.h"
#include "rt/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A pose that comes with each frame is reached within this many frames, so that a frame that comes a little
// later does not stop the object, and within this time at most.
#define FRAMES       1.25
#define FRAME_MAX_NS (50 * INT64_C(1000000))

// A command's time may not be longer.
#define OVER_MAX_NS (INT64_C(3600) * 1000000000)

void tac_live_def_init(tac_live_def *out_def, size_t bytes)
{
	const tac_live_def def = {.capacity = 1024, .max_speed_m_per_s = 1};
	tac_def_fill(out_def, bytes, &def, sizeof def);
}

// ---- set-up ----

static bool power_of_two(uint32_t n)
{
	return n > 0 && (n & (n - 1)) == 0;
}

tac_live_stage *tac_live_stage_create(tac_world *world, int32_t number)
{
	tac_live_stage *stage = calloc(1, sizeof *stage);
	bool complete = stage != NULL;
	for (int32_t i = 0; complete && i < world->scene->object_count; i++) {
		const size_t surfaces = (size_t)world->objects[i].mesh->surface_count;
		stage->surface_material[i] = calloc(surfaces + 1, sizeof *stage->surface_material[i]);
		complete = stage->surface_material[i] != NULL;
		if (complete)
			memcpy(stage->surface_material[i], world->objects[i].surface_material,
			       surfaces * sizeof *stage->surface_material[i]);
	}
	if (!complete) {
		tac_live_stage_destroy(&stage);
		tac_log(TAC_LOG_ERROR, "live: no memory for the world");
		return NULL;
	}
	stage->world = world;
	stage->view = *world;
	for (int32_t i = 0; i < world->scene->object_count; i++)
		stage->view.objects[i].surface_material = stage->surface_material[i];
	stage->number = number;
	return stage;
}

void tac_live_stage_destroy(tac_live_stage **stage)
{
	if (!*stage)
		return;
	for (int32_t i = 0; i < TAC_SCENE_OBJECTS; i++)
		free((*stage)->surface_material[i]);
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		tac_sco_destroy(&(*stage)->scos[i]);
		tac_needle_destroy(&(*stage)->needles[i].needle);
		tac_task_destroy(&(*stage)->tasks[i]);
	}
	free(*stage);
	*stage = NULL;
}

static tac_result create_all(tac_live *live)
{
	live->stage = tac_live_stage_create(live->def.world, 0);
	tac_result result = live->stage ? TAC_OK : TAC_ERROR_MEMORY;
	if (result >= TAC_OK)
		result = tac_ring_create(live->def.capacity, sizeof(tac_live_command), &live->commands);
	if (result >= TAC_OK)
		result = tac_ring_create(TAC_LIVE_WORLDS, sizeof(tac_live_stage *), &live->stages);
	if (result >= TAC_OK)
		result = tac_ring_create(TAC_LIVE_WORLDS, sizeof(tac_live_stage *), &live->returned);
	return result;
}

tac_result tac_live_create(const tac_live_def *def, tac_live **out_live)
{
	*out_live = NULL;
	tac_live_def full = tac_live_def_default();
	const tac_result known = tac_def_read("live", def, &full, sizeof full);
	if (known < TAC_OK)
		return known;
	def = &full;
	if (!def->world || !power_of_two(def->capacity) || def->capacity > 1u << 20 ||
	    !(def->max_speed_m_per_s > 0 && def->max_speed_m_per_s < HUGE_VAL)) {
		tac_log(TAC_LOG_ERROR, "live: expected a world, a power of two up to 2^20 as capacity and a "
				       "speed above 0");
		return TAC_ERROR_ARGUMENT;
	}
	tac_live *live = calloc(1, sizeof *live);
	if (!live) {
		tac_log(TAC_LOG_ERROR, "live: no memory");
		return TAC_ERROR_MEMORY;
	}
	live->def = *def;
	live->newest = def->world;
	live->held[live->held_count++] = def->world;
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++)
		live->effects[i] = (1u << def->world->scene->effect_count) - 1;
	const tac_result result = create_all(live);
	if (result < TAC_OK)
		tac_live_destroy(&live);
	else
		tac_live_reset_objects(live, 0);
	*out_live = live;
	return result;
}

void tac_live_destroy(tac_live **live)
{
	tac_live *l = *live;
	if (!l)
		return;
	tac_live_stage *left;
	while (l->stages && tac_ring_pop(l->stages, &left))
		tac_live_stage_destroy(&left);
	while (l->returned && tac_ring_pop(l->returned, &left))
		tac_live_stage_destroy(&left);
	for (int32_t i = 0; i < l->list.stage_count; i++) {
		if (l->list.stages[i] == l->next)
			l->next = NULL; // it is still in the list
		tac_live_stage_destroy(&l->list.stages[i]);
	}
	free(l->list.stages);
	for (int32_t i = 0; i < l->old_count; i++)
		tac_live_stage_destroy(&l->old[i]);
	tac_live_stage_destroy(&l->next);
	tac_live_stage_destroy(&l->stage);
	tac_ring_destroy(&l->commands);
	tac_ring_destroy(&l->stages);
	tac_ring_destroy(&l->returned);
	free(l);
	*live = NULL;
}

void tac_live_add_servo(tac_live *live, tac_servo *servo)
{
	live->servos[live->servo_count++] = servo;
}

void tac_live_remove_servo(tac_live *live, const tac_servo *servo)
{
	int32_t kept = 0;
	for (int32_t i = 0; i < live->servo_count; i++) {
		if (live->servos[i] != servo)
			live->servos[kept++] = live->servos[i];
	}
	live->servo_count = kept;
}

// ---- commands ----

bool tac_live_push(tac_live *live, const tac_live_command *command)
{
	return tac_ring_push(live->commands, command);
}

uint64_t tac_live_refused(const tac_live *live)
{
	return tac_ring_refused(live->commands);
}

static bool refuse(const char *expected, double found)
{
	tac_log(TAC_LOG_ERROR, "live: expected %s, found %g", expected, found);
	return false;
}

static bool is_object(const tac_world *world, int32_t object)
{
	return (object >= 0 && object < world->scene->object_count) ||
	       refuse("an object of the world", object);
}

static bool is_material(const tac_world *world, double material)
{
	return (material >= 0 && material < world->material_count && material == floor(material)) ||
	       refuse("a material of the world", material);
}

static bool has_surface(const tac_world *world, int32_t object, double surface)
{
	const tac_world_body *body = &world->objects[object];
	if (body->field)
		return refuse("an object that is not drilled", object);
	return (surface >= -1 && surface < body->mesh->surface_count && surface == floor(surface)) ||
	       refuse("a surface of the object", surface);
}

static bool is_tool(const tac_world *world, int32_t tool)
{
	return (tool >= 0 && tool < world->scene->tool_count) || refuse("a tool of the world", tool);
}

static bool is_time(int64_t over_ns)
{
	return (over_ns >= 0 && over_ns <= OVER_MAX_NS) ||
	       refuse("a time from 0 to an hour", (double)over_ns / 1e9);
}

static bool is_pose(const double v[7])
{
	const double length = sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5] + v[6] * v[6]);
	for (int i = 0; i < 3; i++) {
		if (!(fabs(v[i]) <= 1000))
			return refuse("coordinates from -1000 to 1000 m", v[i]);
	}
	return fabs(length - 1) < 1e-3 || refuse("a quaternion of length 1", length);
}

static bool is_gain(double gain)
{
	return (gain >= 0 && gain <= 1) || refuse("a gain from 0 to 1", gain);
}

static bool is_material_set(const double *values)
{
	tac_material m = tac_material_default();
	memcpy(m.name, "live", 5);
	tac_scene_material_unpack(values, &m);
	return tac_scene_check_material(&m) >= TAC_OK;
}

static bool is_mapping(const double v[8])
{
	if (!(v[0] >= 1e-3 && v[0] <= 1e3))
		return refuse("a workspace scale from 0.001 to 1000", v[0]);
	for (int i = 1; i < 7; i++) {
		if (!(fabs(v[i]) <= 1000))
			return refuse("a finite position and rotation", v[i]);
	}
	return (v[7] >= -1 && v[7] <= 31) || refuse("a clutch button from -1 to 31", v[7]);
}

static bool is_effect(double effect)
{
	return (effect >= 0 && effect < TAC_EFFECT_COUNT && effect == floor(effect)) ||
	       refuse("the number of an effect below 16", effect);
}

static bool is_effect_set(const double *values)
{
	tac_effect e = tac_effect_default(TAC_EFFECT_CONSTANT);
	memcpy(e.name, "live", 5);
	return tac_scene_effect_unpack(values, &e) ? tac_effect_check(&e) >= TAC_OK
						   : refuse("a kind of effect", values[0]);
}

bool tac_live_allows(const tac_world *world, const tac_live_command *command)
{
	const tac_live_command *c = command;
	bool good = is_time(c->over_ns);
	switch (c->kind) {
	case TAC_LIVE_MOVE:
		good = good && is_object(world, c->index) && is_pose(c->values);
		break;
	case TAC_LIVE_SHOW:
		good = good && is_object(world, c->index);
		break;
	case TAC_LIVE_MATERIAL:
		good = good && is_material(world, c->index) && is_material_set(c->values);
		break;
	case TAC_LIVE_USE_MATERIAL:
		good = good && is_object(world, c->index) && is_material(world, c->values[0]) &&
		       has_surface(world, c->index, c->values[1] - 1);
		break;
	case TAC_LIVE_MAPPING:
		good = good && is_tool(world, c->index) && is_mapping(c->values);
		break;
	case TAC_LIVE_GAIN:
		good = good && is_tool(world, c->index) && is_gain(c->values[0]);
		break;
	case TAC_LIVE_EFFECT:
		good = good && is_tool(world, c->index) && is_effect(c->values[0]) &&
		       is_effect_set(c->values + 1);
		break;
	case TAC_LIVE_SWITCH:
		good = good && is_tool(world, c->index) && is_effect(c->values[0]);
		break;
	default:
		good = refuse("a kind of command", c->kind);
	}
	return good;
}

bool tac_live_send(tac_live *live, const tac_live_command *command)
{
	return tac_live_allows(live->newest, command) && tac_live_push(live, command);
}

bool tac_live_move(tac_live *live, int32_t object, tac_dpose T_world_object, int64_t over_ns)
{
	tac_live_command c = {.kind = TAC_LIVE_MOVE, .index = object, .over_ns = over_ns};
	tac_dvec3_store(c.values, T_world_object.position);
	c.values[3] = T_world_object.rotation.x;
	c.values[4] = T_world_object.rotation.y;
	c.values[5] = T_world_object.rotation.z;
	c.values[6] = T_world_object.rotation.w;
	return tac_live_send(live, &c);
}

bool tac_live_set_pose(tac_live *live, int32_t object, tac_dpose T_world_object)
{
	if (!is_object(live->newest, object))
		return false;
	const int64_t now_ns = tac_clock_now_ns();
	const double frames_ns = FRAMES * (double)(now_ns - live->posed_ns[object]);
	const int64_t over_ns = frames_ns < (double)FRAME_MAX_NS ? (int64_t)frames_ns : FRAME_MAX_NS;
	const bool sent = tac_live_move(live, object, T_world_object, over_ns);
	if (sent)
		live->posed_ns[object] = now_ns;
	return sent;
}

bool tac_live_show(tac_live *live, int32_t object, bool show)
{
	const tac_live_command c = {.kind = TAC_LIVE_SHOW, .index = object, .values = {show}};
	return tac_live_send(live, &c);
}

bool tac_live_set_material(tac_live *live, int32_t material, const tac_material *properties)
{
	tac_live_command c = {.kind = TAC_LIVE_MATERIAL, .index = material};
	TAC_ASSERT(properties);
	tac_scene_material_pack(properties, c.values);
	return tac_live_send(live, &c);
}

bool tac_live_use_material(tac_live *live, int32_t object, int32_t material)
{
	const tac_live_command c = {.kind = TAC_LIVE_USE_MATERIAL, .index = object, .values = {material}};
	return tac_live_send(live, &c);
}

bool tac_live_use_surface_material(tac_live *live, int32_t object, int32_t surface, int32_t material)
{
	const tac_live_command c = {
		.kind = TAC_LIVE_USE_MATERIAL, .index = object, .values = {material, 1 + (double)surface}};
	if (surface < 0) // in the command it would stand for all of them
		return refuse("a surface of the object", surface);
	return tac_live_send(live, &c);
}

bool tac_live_set_mapping(tac_live *live, int32_t tool, const tac_scene_mapping *mapping, int64_t over_ns)
{
	tac_live_command c = {.kind = TAC_LIVE_MAPPING, .index = tool, .over_ns = over_ns};
	TAC_ASSERT(mapping);
	c.values[0] = mapping->workspace_scale;
	tac_dvec3_store(c.values + 1, mapping->position_m);
	tac_dvec3_store(c.values + 4, mapping->rotation_rad);
	c.values[7] = (double)mapping->clutch_button;
	return tac_live_send(live, &c);
}

bool tac_live_set_gain(tac_live *live, int32_t tool, double gain)
{
	const tac_live_command c = {.kind = TAC_LIVE_GAIN, .index = tool, .values = {gain}};
	return tac_live_send(live, &c);
}

bool tac_live_set_effect(tac_live *live, int32_t tool, int32_t effect, const tac_effect *values)
{
	tac_live_command c = {.kind = TAC_LIVE_EFFECT, .index = tool, .values = {effect}};
	if (tac_effect_check(values) < TAC_OK)
		return false;
	tac_scene_effect_pack(values, c.values + 1);
	const bool sent = tac_live_send(live, &c);
	if (sent)
		live->effects[tool] |= 1u << effect;
	return sent;
}

bool tac_live_switch_effect(tac_live *live, int32_t tool, int32_t effect, bool on)
{
	const tac_live_command c = {.kind = TAC_LIVE_SWITCH, .index = tool, .values = {effect, on}};
	if (tool >= 0 && tool < TAC_SCENE_TOOLS && effect >= 0 && effect < TAC_EFFECT_COUNT &&
	    !(live->effects[tool] >> effect & 1))
		return refuse("an effect of the tool", effect);
	return tac_live_send(live, &c);
}

// ---- commands from a list, and as bytes ----

static bool refuse_list(const char *expected, size_t number)
{
	tac_log(TAC_LOG_ERROR, "live: expected %s, found another in command %zu of the list", expected,
		number + 1);
	return false;
}

// Prepares the worlds of the exchanges and checks all commands.
static bool prepare_list(tac_live *live, tac_world *const *worlds, int32_t world_count)
{
	tac_live_list *list = &live->list;
	const tac_world *world = live->newest;
	for (size_t i = 0; i < list->count; i++) {
		const tac_live_record *r = &list->records[i];
		if (r->tick < (i > 0 ? list->records[i - 1].tick : 0))
			return refuse_list("ticks that do not fall", i);
		if (r->command.kind != TAC_LIVE_EXCHANGE) {
			if (!tac_live_allows(world, &r->command))
				return false;
			continue;
		}
		if (list->stage_count == world_count)
			return refuse_list("as many exchanges as worlds", i);
		tac_world *next = worlds[list->stage_count];
		list->stages[list->stage_count] = tac_live_prepare(live, world, next, list->stage_count + 1);
		if (!list->stages[list->stage_count])
			return false;
		list->stage_count++;
		world = next;
	}
	return true;
}

tac_result tac_live_replay(tac_live *live, const tac_live_record *records, size_t count,
			   tac_world *const *worlds, int32_t world_count)
{
	live->list.stages = calloc((size_t)world_count + 1, sizeof *live->list.stages);
	if (!live->list.stages) {
		tac_log(TAC_LOG_ERROR, "live: no memory for %d worlds", (int)world_count);
		return TAC_ERROR_MEMORY;
	}
	live->list.records = records;
	live->list.count = count;
	if (prepare_list(live, worlds, world_count))
		return TAC_OK;
	live->list.count = 0;
	return TAC_ERROR_ARGUMENT;
}

// The structure has the bytes of a recording.
_Static_assert(sizeof(tac_live_command) == TAC_LIVE_COMMAND_BYTES && offsetof(tac_live_command, values) == 16,
	       "no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are little-endian");

size_t tac_live_command_encode(const tac_live_command *command, uint8_t out[TAC_LIVE_COMMAND_BYTES])
{
	static const uint8_t zero[8];
	size_t size = TAC_LIVE_COMMAND_BYTES;
	memcpy(out, command, sizeof *command);
	while (size > 16 && memcmp(out + size - 8, zero, 8) == 0)
		size -= 8;
	return size;
}

bool tac_live_command_decode(const uint8_t *bytes, size_t size, tac_live_command *out_command)
{
	*out_command = (tac_live_command){0};
	if (size < 16 || size > TAC_LIVE_COMMAND_BYTES || size % 8 != 0)
		return false;
	memcpy(out_command, bytes, size);
	return out_command->kind >= 0 && out_command->kind < TAC_LIVE_KINDS;
}
