#include "haptic/servo/task_tissue.h"

#include "base/log.h"
#include "collision/solid.h"

#include <math.h>
#include <stdlib.h>

static tac_result init_body(tac_task_tissue_body *b, const tac_world *world, int32_t object)
{
	b->object = object;
	b->compliance = world->objects[object].compliance;
	b->pressed = calloc((size_t)b->compliance->node_count, sizeof *b->pressed);
	if (!b->pressed) {
		tac_log(TAC_LOG_ERROR, "task: no memory");
		return TAC_ERROR_MEMORY;
	}
	const tac_scene_tissue *scene = &world->scene->objects[object].tissue;
	for (int32_t i = 0; i < scene->inside_count; i++) {
		tac_solids solids;
		if (tac_solids_parse(scene->inside[i].solids, &solids) < TAC_OK || solids.count == 0)
			continue;
		b->names[b->count] = scene->inside[i].name;
		b->centres[b->count++] = solids.solid[0].position;
	}
	return TAC_OK;
}

tac_result tac_task_tissue_init(tac_task_tissue *tissue, const tac_world *world)
{
	tac_task_tissue *t = tissue;
	tac_result result = TAC_OK;
	*t = (tac_task_tissue){.count = 0};
	for (int32_t i = 0; i < world->scene->object_count && result >= TAC_OK; i++) {
		const tac_compliance *c = world->objects[i].compliance;
		if (!c || t->count == TAC_SCENE_SOFT)
			continue;
		for (int32_t k = 0; k < c->node_count; k++)
			t->area_m2 += (double)c->point_area_m2[k];
		result = init_body(&t->bodies[t->count++], world, i);
	}
	return result;
}

void tac_task_tissue_fini(tac_task_tissue *tissue)
{
	for (int32_t i = 0; i < tissue->count; i++)
		free(tissue->bodies[i].pressed);
	*tissue = (tac_task_tissue){.count = 0};
}

// The nodes under the loads.
static void cover(tac_task_tissue *t, tac_task_tissue_body *b, const tac_snapshot_tissue *n,
		  tac_task_figures *f)
{
	const tac_compliance *c = b->compliance;
	if (n->state.load_N < TAC_TASK_PRESS_MIN_N || n->state.load_N > TAC_TASK_PRESS_MAX_N)
		return;
	for (int32_t i = 0; i < n->state.loaded && i < n->force_count; i++) {
		const int32_t point = n->forces[i].point;
		for (int32_t k = c->spread_start[point]; k < c->spread_start[point + 1]; k++) {
			const int32_t node = c->spread_node[k];
			t->pressed_m2 += b->pressed[node] ? 0 : (double)c->point_area_m2[node];
			b->pressed[node] = true;
		}
	}
	f->pressed = t->pressed_m2 / t->area_m2;
}

// The distance of a structure's centre from the line along which the tool presses.
static void mark(const tac_task_tissue_body *t, const tac_tissue_state *s, double time_s, tac_task_figures *f)
{
	double least = HUGE_VAL;
	for (int32_t i = 0; i < t->count; i++) {
		const tac_dvec3 from = tac_dvec3_sub(t->centres[i], s->centre_m);
		const tac_dvec3 across =
			tac_dvec3_add_scaled(from, -tac_dvec3_dot(from, s->normal), s->normal);
		const double error = tac_dvec3_length(across);
		if (error < least) {
			least = error;
			f->mark_name = t->names[i];
		}
	}
	f->marks++;
	f->mark_error_m = least;
	f->mark_s = time_s;
}

void tac_task_tissue_step(tac_task_tissue *tissue, const tac_snapshot *snapshot, double time_s,
			  tac_task_figures *figures)
{
	tac_task_tissue *t = tissue;
	const tac_snapshot_tissue *n = &snapshot->tissue;
	const bool held = snapshot->buttons & 1u;
	for (int32_t i = 0; i < t->count && n->present && n->state.loaded > 0; i++) {
		tac_task_tissue_body *b = &t->bodies[i];
		if (b->object != n->object)
			continue;
		cover(t, b, n, figures);
		if (held && !t->held && b->count > 0)
			mark(b, &n->state, time_s, figures);
	}
	t->held = held;
}
