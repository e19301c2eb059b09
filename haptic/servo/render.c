#include "haptic/render.h"

#include "base/def.h"
#include "base/denormal.h"
#include "base/log.h"
#include "rt/clock.h"

#include <stdlib.h>

struct tac_render {
	tac_render_def def;
	int32_t tools;
	size_t next;                             // sample
	tac_path_sample *hands[TAC_SCENE_TOOLS]; // of tools without a path; NULL: none
	tac_path_device devices[TAC_SCENE_TOOLS];
	tac_servo *servos[TAC_SCENE_TOOLS];
	tac_live *live; // NULL: no commands
};

void tac_render_def_init(tac_render_def *out_def, size_t bytes)
{
	const tac_render_def def = {.mover = TAC_SCO_CONTINUOUS,
				    .max_speed_m_per_s = tac_live_def_default().max_speed_m_per_s};
	tac_def_fill(out_def, bytes, &def, sizeof def);
}

static tac_result check_times(const tac_render_def *def)
{
	if (def->count == 0 || !def->paths[0]) {
		tac_log(TAC_LOG_ERROR, "render: expected a path for the first tool, found none");
		return TAC_ERROR_ARGUMENT;
	}
	for (int32_t i = 1; i < def->world->scene->tool_count; i++) {
		for (size_t k = 0; def->paths[i] && k < def->count; k++) {
			if (def->paths[i][k].time_ns == def->paths[0][k].time_ns)
				continue;
			tac_log(TAC_LOG_ERROR,
				"render: expected the same times in the paths of all tools, found a "
				"different one "
				"in pose %zu of tool %d",
				k + 1, (int)i + 1);
			return TAC_ERROR_ARGUMENT;
		}
	}
	return TAC_OK;
}

static tac_result create_tool(tac_render *r, int32_t i, int64_t period_ns)
{
	const tac_path_sample *path = r->def.paths[i];
	if (!path) {
		r->hands[i] = malloc(r->def.count * sizeof *r->hands[i]);
		if (!r->hands[i]) {
			tac_log(TAC_LOG_ERROR, "render: no memory for %zu poses", r->def.count);
			return TAC_ERROR_MEMORY;
		}
		tac_path_from_hand(&r->def.world->scene->tools[i], r->def.paths[0], r->def.count,
				   r->hands[i]);
		path = r->hands[i];
	}
	r->devices[i] = tac_path_device_make(path);
	tac_servo_def servo = tac_servo_def_default();
	servo.world = r->def.world;
	servo.live = r->live;
	servo.tool = i;
	servo.device = &r->devices[i].base;
	servo.mover = r->def.mover;
	if (period_ns > 0)
		servo.period_ns = period_ns;
	return tac_servo_create(&servo, &r->servos[i]);
}

static tac_result create_live(tac_render *r)
{
	tac_live_def def = tac_live_def_default();
	def.world = (tac_world *)(uintptr_t)r->def.world; // a list gives nothing back
	def.max_speed_m_per_s = r->def.max_speed_m_per_s;
	return tac_live_create(&def, &r->live);
}

tac_result tac_render_create(const tac_render_def *def, tac_render **out_render)
{
	*out_render = NULL;
	tac_render_def full = tac_render_def_default();
	const tac_result known = tac_def_read("render", def, &full, sizeof full);
	if (known < TAC_OK)
		return known;
	def = &full;
	int64_t period_ns = def->period_ns;
	tac_result result = check_times(def);
	if (result >= TAC_OK && period_ns == 0)
		result = tac_path_period(def->paths[0], def->count, &period_ns);
	if (result < TAC_OK)
		return result;
	tac_render *r = calloc(1, sizeof *r);
	if (!r) {
		tac_log(TAC_LOG_ERROR, "render: no memory");
		return TAC_ERROR_MEMORY;
	}
	r->def = *def;
	r->tools = def->world->scene->tool_count;
	if (def->commands)
		result = create_live(r);
	for (int32_t i = 0; i < r->tools && result >= TAC_OK; i++)
		result = create_tool(r, i, period_ns);
	if (result >= TAC_OK && r->tools == 2)
		result = tac_servo_join(r->servos[0], r->servos[1]);
	if (result >= TAC_OK && r->live)
		result = tac_live_replay(r->live, def->commands, def->command_count, def->worlds,
					 def->world_count);
	if (result < TAC_OK)
		tac_render_destroy(&r);
	*out_render = r;
	return result;
}

bool tac_render_step(tac_render *render, tac_render_row out_rows[TAC_SCENE_TOOLS])
{
	tac_render *r = render;
	if (r->next == r->def.count)
		return false;
	const bool flushed = tac_denormal_flushed();
	tac_denormal_flush(true); // as on the real-time thread
	for (int32_t i = 0; i < r->tools; i++) {
		const tac_path_sample *s = &r->devices[i].samples[r->next];
		r->devices[i].index = r->next;
		const int64_t begin_ns = tac_clock_now_ns();
		tac_servo_step(r->servos[i], s->time_ns, NULL);
		const int64_t ns = tac_clock_now_ns() - begin_ns;
		const tac_snapshot *n = tac_servo_snapshot(r->servos[i], 0);
		out_rows[i] = (tac_render_row){s->time_ns, s->T_base_tool,   n->T_world_sco,
					       n->sent,    n->contact_count, n->sco_flags | n->limits << 16,
					       ns};
	}
	tac_denormal_flush(flushed);
	r->next++;
	return true;
}

const tac_task_figures *tac_render_task(tac_render *render, int32_t tool)
{
	return tac_servo_task(render->servos[tool]);
}

void tac_render_destroy(tac_render **render)
{
	tac_render *r = *render;
	if (!r)
		return;
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++) {
		tac_servo_destroy(&r->servos[i]);
		free(r->hands[i]);
	}
	tac_live_destroy(&r->live);
	free(r);
	*render = NULL;
}
