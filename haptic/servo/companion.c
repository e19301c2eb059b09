#include "haptic/companion.h"

#include "base/def.h"
#include "base/log.h"
#include "collision/distance.h"
#include "rt/clock.h"
#include "rt/latest.h"
#include "rt/thread.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// A search visits at most this many nodes of the trees for each object, about 50 ms.
#define NODES_MAX 1000000

struct tac_companion {
	tac_companion_def def;
	tac_context *context;
	tac_latest *latest;
	pthread_t thread;
	bool started;
	atomic_bool stop;
};

void tac_companion_def_init(tac_companion_def *out_def, size_t bytes)
{
	const tac_companion_def def = {.pause_ns = 10 * TAC_NS_PER_MS};
	tac_def_fill(out_def, bytes, &def, sizeof def);
}

// ---- the search ----

static void find_nearest(tac_companion *c, const tac_snapshot *snapshot, tac_surroundings *out)
{
	const tac_world *world = c->def.world;
	out->nearest_object = -1;
	out->distance_m = HUGE_VAL;
	if (!world->collider->nearest)
		return;
	double limit_m = TAC_SURROUNDINGS_REACH_M;
	for (int32_t i = 0; i < world->scene->object_count; i++) {
		if (snapshot->live.hidden >> i & 1u || tac_world_passes(world, c->def.tool, i) ||
		    world->objects[i].field) // its mesh is not what remains of it
			continue;
		const tac_rigid motion = tac_rigid_from_dpose(
			tac_dpose_relative(snapshot->T_world_objects[i], snapshot->T_world_sco));
		tac_nearest nearest;
		tac_distance_nearest(c->context, world->tools[c->def.tool].shape, world->objects[i].shape,
				     &motion, limit_m, (tac_budget){.nodes = NODES_MAX}, &nearest);
		if (nearest.distance < limit_m) {
			out->nearest_object = i;
			out->distance_m = limit_m = nearest.distance;
		}
	}
}

static void find_penetrated(tac_companion *c, const tac_snapshot *snapshot, tac_surroundings *out)
{
	const tac_world *world = c->def.world;
	out->pair_count = 0;
	for (int32_t i = 0; i < world->scene->object_count; i++) {
		if (snapshot->live.hidden >> i & 1u || tac_world_passes(world, c->def.tool, i) ||
		    world->objects[i].field) // its mesh is not what remains of it
			continue;
		const tac_rigid motion = tac_rigid_from_dpose(
			tac_dpose_relative(snapshot->T_world_objects[i], snapshot->T_world_device));
		tac_collider_query(world->collider, c->context, world->tools[c->def.tool].shape,
				   world->objects[i].shape, &motion, TAC_QUERY_SURFACES,
				   (tac_budget){.nodes = NODES_MAX});
		const int64_t found = c->context->pair_count < c->context->pair_capacity
					      ? c->context->pair_count
					      : c->context->pair_capacity;
		for (int64_t k = 0; k < found && out->pair_count < TAC_SURROUNDINGS_PAIRS; k++)
			out->pairs[out->pair_count++] = (tac_surface_pair){
				.object = i,
				.tool_surface = c->context->moving_ids[k],
				.object_surface = c->context->fixed_ids[k],
			};
	}
}

// ---- the thread ----

static void *run(void *user)
{
	tac_companion *c = user;
	int64_t searched = -1;
	while (!atomic_load_explicit(&c->stop, memory_order_relaxed)) {
		const tac_snapshot *snapshot = tac_servo_snapshot(c->def.servo, c->def.reader);
		if (snapshot && snapshot->tick != searched && snapshot->live.world == c->def.world_number) {
			tac_surroundings *out = tac_latest_begin(c->latest);
			out->tick = searched = snapshot->tick;
			find_nearest(c, snapshot, out);
			find_penetrated(c, snapshot, out);
			tac_latest_publish(c->latest);
		}
		tac_clock_sleep_until_ns(tac_clock_now_ns() + c->def.pause_ns);
	}
	return NULL;
}

static tac_result start(tac_companion *c)
{
	tac_context_def context = tac_context_def_default();
	context.pair_capacity = TAC_SURROUNDINGS_PAIRS;
	tac_result result = tac_context_create(&context, &c->context);
	if (result >= TAC_OK)
		result = tac_latest_create(sizeof(tac_surroundings), &c->latest);
	if (result >= TAC_OK && !(c->def.world->collider->flags & TAC_COLLIDER_UPLOADS)) {
		result = tac_thread_start(&c->thread, run, c);
		c->started = result >= TAC_OK;
	}
	return result;
}

tac_result tac_companion_create(const tac_companion_def *def, tac_companion **out_companion)
{
	*out_companion = NULL;
	tac_companion_def full = tac_companion_def_default();
	const tac_result known = tac_def_read("companion", def, &full, sizeof full);
	if (known < TAC_OK)
		return known;
	def = &full;
	if (!def->world || !def->servo || def->tool < 0 || def->tool >= def->world->scene->tool_count ||
	    def->reader < 0 || def->reader >= TAC_SERVO_READERS || def->pause_ns < 0) {
		tac_log(TAC_LOG_ERROR, "companion: expected a world, one of its tools, its servo, "
				       "one of its readers and a pause of 0 or more");
		return TAC_ERROR_ARGUMENT;
	}
	tac_companion *c = calloc(1, sizeof *c);
	if (!c) {
		tac_log(TAC_LOG_ERROR, "companion: no memory");
		return TAC_ERROR_MEMORY;
	}
	c->def = *def;
	const tac_result result = start(c);
	if (result < TAC_OK)
		tac_companion_destroy(&c);
	*out_companion = c;
	return result;
}

void tac_companion_destroy(tac_companion **companion)
{
	tac_companion *c = *companion;
	if (!c)
		return;
	atomic_store_explicit(&c->stop, true, memory_order_relaxed);
	if (c->started)
		pthread_join(c->thread, NULL);
	tac_latest_destroy(&c->latest);
	tac_context_destroy(&c->context);
	free(c);
	*companion = NULL;
}

const tac_surroundings *tac_companion_read(tac_companion *companion)
{
	return tac_latest_read(companion->latest, NULL);
}
