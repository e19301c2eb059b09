#include "haptic/render.h"

#include "base/def.h"
#include "base/denormal.h"
#include "base/log.h"
#include "haptic/servo/servo_state.h"
#include "rt/clock.h"

#include <math.h>
#include <stdlib.h>

// A device that delivers recorded samples.
typedef struct recorded_device {
	tac_device base;
	const tac_device_sample *sample; // of this tick
} recorded_device;

struct tac_render {
	tac_render_def def;
	int32_t tools;
	size_t next;                             // sample
	tac_path_sample *hands[TAC_SCENE_TOOLS]; // of tools without a path; NULL: none
	tac_path_device devices[TAC_SCENE_TOOLS];
	recorded_device recorded[TAC_SCENE_TOOLS]; // in place of them, if a run is repeated
	tac_servo *servos[TAC_SCENE_TOOLS];
	tac_live *live; // NULL: no commands
};

void tac_render_def_init(tac_render_def *out_def, size_t bytes)
{
	const tac_render_def def = {.mover = TAC_SCO_CONTINUOUS,
				    .max_speed_m_per_s = tac_live_def_default().max_speed_m_per_s};
	tac_def_fill(out_def, bytes, &def, sizeof def);
}

// ---- recorded samples ----

static tac_device_status recorded_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	const tac_device_sample *s = ((const recorded_device *)device)->sample;
	(void)now_ns;
	*out_state = s->state;
	if (s->flags & TAC_SAMPLE_INVALID)
		out_state->T_base_tool.position.x = NAN;
	return s->status;
}

static recorded_device recorded_device_make(const tac_device_info *info, const tac_device_sample *samples)
{
	recorded_device d = {.base = tac_path_device_make(NULL).base, .sample = samples};
	if (info)
		d.base.info = *info;
	d.base.read = recorded_read;
	return d;
}

// ---- times ----

static tac_result refuse(const char *expected, size_t number, int32_t tool)
{
	tac_log(TAC_LOG_ERROR, "render: expected %s, found another in pose %zu of tool %d", expected,
		number + 1, (int)tool + 1);
	return TAC_ERROR_ARGUMENT;
}

// Longer than any tick: a recording with more is damaged.
#define DELAY_MAX_NS INT64_C(1000000000000)

static tac_result check_samples(const tac_render_def *def)
{
	for (int32_t i = 0; i < def->world->scene->tool_count; i++) {
		const tac_device_sample *samples = def->samples[i];
		for (size_t k = 0; samples && k < def->count; k++) {
			if (samples[k].now_ns != def->samples[0][k].now_ns)
				return refuse("the same times for all tools", k, i);
			if (k > 0 && samples[k].now_ns <= samples[k - 1].now_ns)
				return refuse("times that increase", k, i);
			if (samples[k].delay_ns < 0 || samples[k].delay_ns > DELAY_MAX_NS)
				return refuse("a delay of 0 or more", k, i);
		}
		if (!samples) {
			tac_log(TAC_LOG_ERROR,
				"render: expected samples of every tool, found none of tool %d", (int)i + 1);
			return TAC_ERROR_ARGUMENT;
		}
	}
	return TAC_OK;
}

static tac_result check_times(const tac_render_def *def)
{
	if (def->count == 0 || !(def->paths[0] || def->samples[0])) {
		tac_log(TAC_LOG_ERROR, "render: expected a path for the first tool, found none");
		return TAC_ERROR_ARGUMENT;
	}
	if (def->samples[0])
		return check_samples(def);
	for (int32_t i = 1; i < def->world->scene->tool_count; i++) {
		for (size_t k = 0; def->paths[i] && k < def->count; k++) {
			if (def->paths[i][k].time_ns != def->paths[0][k].time_ns)
				return refuse("the same times in the paths of all tools", k, i);
		}
	}
	return TAC_OK;
}

static tac_result find_period(const tac_render_def *def, int64_t *out_period_ns)
{
	*out_period_ns = def->period_ns;
	if (def->period_ns != 0)
		return TAC_OK;
	if (!def->samples[0])
		return tac_path_period(def->paths[0], def->count, out_period_ns);
	tac_path_sample *times = calloc(def->count, sizeof *times);
	if (!times) {
		tac_log(TAC_LOG_ERROR, "render: no memory for %zu times", def->count);
		return TAC_ERROR_MEMORY;
	}
	for (size_t i = 0; i < def->count; i++)
		times[i].time_ns = def->samples[0][i].now_ns;
	const tac_result result = tac_path_period(times, def->count, out_period_ns);
	free(times);
	return result;
}

// ---- set-up ----

static tac_result create_path_device(tac_render *r, int32_t i, tac_device **out_device)
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
	*out_device = &r->devices[i].base;
	return TAC_OK;
}

static tac_result create_tool(tac_render *r, int32_t i, int64_t period_ns)
{
	tac_servo_def servo = tac_servo_def_default();
	tac_result result = TAC_OK;
	if (r->def.samples[0]) {
		r->recorded[i] = recorded_device_make(r->def.devices[i], r->def.samples[i]);
		servo.device = &r->recorded[i].base;
	} else {
		result = create_path_device(r, i, &servo.device);
	}
	servo.world = r->def.world;
	servo.live = r->live;
	servo.tool = i;
	servo.mover = r->def.mover;
	servo.off_line = !r->def.samples[0]; // a run is repeated with the limits that it had
	servo.callback = r->def.callbacks[i];
	if (period_ns > 0)
		servo.period_ns = period_ns;
	return result < TAC_OK ? result : tac_servo_create(&servo, &r->servos[i]);
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
	int64_t period_ns = 0;
	tac_result result = check_times(def);
	if (result >= TAC_OK)
		result = find_period(def, &period_ns);
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

// Runs the next tick of tool `i`; returns the time of its sample and the device's pose in it.
static tac_path_sample step_tool(tac_render *r, int32_t i)
{
	if (r->def.samples[0]) {
		const tac_device_sample *s = r->recorded[i].sample = &r->def.samples[i][r->next];
		tac_servo_step_again(r->servos[i], s);
		return (tac_path_sample){s->now_ns, s->state.T_base_tool};
	}
	const tac_path_sample *s = &r->devices[i].samples[r->next];
	r->devices[i].index = r->next;
	tac_servo_step(r->servos[i], s->time_ns, NULL);
	return *s;
}

bool tac_render_step(tac_render *render, tac_render_row out_rows[TAC_SCENE_TOOLS])
{
	tac_render *r = render;
	if (r->next == r->def.count)
		return false;
	const bool flushed = tac_denormal_flushed();
	tac_denormal_flush(true); // as on the real-time thread
	for (int32_t i = 0; i < r->tools; i++) {
		const int64_t begin_ns = tac_clock_now_ns();
		const tac_path_sample s = step_tool(r, i);
		const int64_t ns = tac_clock_now_ns() - begin_ns;
		const tac_snapshot *n = tac_servo_snapshot(r->servos[i], 0);
		out_rows[i] = (tac_render_row){.time_ns = s.time_ns,
					       .T_base_tool = s.T_base_tool,
					       .T_world_sco = n->T_world_sco,
					       .sent = n->sent,
					       .contacts = n->contact_count,
					       .flags = n->sco_flags | n->limits << 16,
					       .ns = ns,
					       .written = r->servos[i]->output.wrench,
					       .gripper_N = r->servos[i]->output.gripper_N};
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
