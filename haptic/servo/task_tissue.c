#include "haptic/servo/task_tissue.h"

#include "base/log.h"
#include "collision/solid.h"

#include <math.h>
#include <stdlib.h>

tac_result tac_task_tissue_init(tac_task_tissue *tissue, const tac_world *world)
{
	tac_task_tissue *t = tissue;
	*t = (tac_task_tissue){.object = -1};
	for (int32_t i = 0; i < world->scene->object_count; i++) {
		if (world->objects[i].compliance)
			t->object = i;
	}
	if (t->object < 0)
		return TAC_OK;
	t->compliance = world->objects[t->object].compliance;
	t->pressed = calloc((size_t)t->compliance->node_count, sizeof *t->pressed);
	if (!t->pressed) {
		tac_log(TAC_LOG_ERROR, "task: no memory");
		return TAC_ERROR_MEMORY;
	}
	for (int32_t i = 0; i < t->compliance->node_count; i++)
		t->area_m2 += (double)t->compliance->point_area_m2[i];
	const tac_scene_tissue *scene = &world->scene->objects[t->object].tissue;
	for (int32_t i = 0; i < scene->inside_count; i++) {
		tac_solids solids;
		if (tac_solids_parse(scene->inside[i].solids, &solids) < TAC_OK || solids.count == 0)
			continue;
		t->names[t->count] = scene->inside[i].name;
		t->centres[t->count++] = solids.solid[0].position;
	}
	return TAC_OK;
}

void tac_task_tissue_fini(tac_task_tissue *tissue)
{
	free(tissue->pressed);
	*tissue = (tac_task_tissue){0};
}

// The nodes under the loads.
static void cover(tac_task_tissue *t, const tac_snapshot_tissue *n, tac_task_figures *f)
{
	const tac_compliance *c = t->compliance;
	if (n->state.load_N < TAC_TASK_PRESS_MIN_N || n->state.load_N > TAC_TASK_PRESS_MAX_N)
		return;
	for (int32_t i = 0; i < n->state.loaded && i < n->force_count; i++) {
		const int32_t point = n->forces[i].point;
		for (int32_t k = c->spread_start[point]; k < c->spread_start[point + 1]; k++) {
			const int32_t node = c->spread_node[k];
			t->pressed_m2 += t->pressed[node] ? 0 : (double)c->point_area_m2[node];
			t->pressed[node] = true;
		}
	}
	f->pressed = t->pressed_m2 / t->area_m2;
}

// The distance of a structure's centre from the line along which the tool presses.
static void mark(const tac_task_tissue *t, const tac_tissue_state *s, double time_s, tac_task_figures *f)
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
	if (t->compliance && n->present && n->state.loaded > 0) {
		cover(t, n, figures);
		if (held && !t->held && t->count > 0)
			mark(t, &n->state, time_s, figures);
	}
	t->held = held;
}
