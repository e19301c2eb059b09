#include "apps/commands/run_share.h"

#include "apps/session/recorded_scene.h"
#include "base/log.h"
#include "base/version.h"
#include "rt/clock.h"
#include "rt/loop.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS           1024 // of a servo that may wait
#define ORDERS_EACH_TICK 8    // a bridge that sends more is behind: the rest waits for the next tick
#define TOTALS_NS        (200 * TAC_NS_PER_MS)
#define FIGURES_NS       (500 * TAC_NS_PER_MS)

bool run_share_check(const run_share_def *def)
{
	if (def->external_wrench && !def->name) {
		fprintf(stderr, "tactus run: external-wrench: expected --share as well, found "
				"--external-wrench alone\n");
		return false;
	}
	if (def->name && !tac_station_name_valid(def->name)) {
		fprintf(stderr,
			"tactus run: share: expected 1 to 32 letters, digits, _ or -, with a letter first, "
			"found '%s'\n",
			def->name);
		return false;
	}
	return true;
}

// ---- real-time thread ----

void run_share_take(run_share *share)
{
	if (!share->seam || !share->def.external_wrench)
		return;
	for (int i = 0; i < TAC_SCENE_TOOLS; i++)
		share->tools[i].acts = tac_wrench_zero();
	tac_seam_order order;
	for (int i = 0; i < ORDERS_EACH_TICK && tac_seam_take_order(share->seam, &order); i++)
		share->tools[order.tool].order = order;
}

// The effect of one tool (tac_effect_fn): the newest wrench, as long as it is fresh.
static void act(void *user, const tac_effect_input *input, tac_effect_output *out)
{
	run_share_tool *tool = user;
	const int64_t sent_ns = tool->order.time_ns;
	const bool fresh = sent_ns > 0 && sent_ns <= input->time_ns + RUN_SHARE_LIFESPAN_NS &&
			   input->time_ns <= sent_ns + RUN_SHARE_LIFESPAN_NS;
	tool->acts = fresh ? tool->order.wrench : tac_wrench_zero();
	out->wrench = tool->acts;
}

void run_share_add(run_share *share, const tac_snapshot *snapshot)
{
	if (!share->seam)
		return;
	run_share_tool *tool = &share->tools[snapshot->tool];
	tac_seam_push_tick(share->seam, snapshot, &tool->acts);
	if (snapshot->time_ns - tool->figures_ns < FIGURES_NS)
		return;
	tool->figures_ns = snapshot->time_ns;
	tac_latest_write(tool->figures, tac_servo_task(share->session->servos[snapshot->tool]));
}

// ---- set-up ----

void run_share_init(const run_share_def *def, session_def *to_open, run_share *out_share)
{
	*out_share = (run_share){.def = *def,
				 .record = to_open->record,
				 .scene = to_open->scene,
				 .period_ns = to_open->period_ns};
	if (!def->name)
		return;
	to_open->events = EVENTS;
	for (int32_t i = 0; def->external_wrench && i < TAC_SCENE_TOOLS; i++)
		to_open->callbacks[i] = (tac_effect_callback){.fn = act, .user = &out_share->tools[i]};
}

// Copies `text`, cut to the room.
static void copy_text(char *to, size_t size, const char *text)
{
	const size_t length = strnlen(text, size - 1);
	memcpy(to, text, length);
	to[length] = '\0';
}

// Describes the run. NULL after one line; the caller frees it.
static tac_seam_info *describe(const run_share *share, const session *s)
{
	tac_seam_info *info = calloc(1, sizeof *info);
	tac_recording_scene scene;
	char *memory = NULL;
	if (!info || !recorded_scene_capture(s->world, share->scene ? share->scene : s->scene->name, &scene,
					     &memory)) {
		if (!info)
			tac_log(TAC_LOG_ERROR, "tactus run: expected memory to share the run, found none");
		free(info);
		return NULL;
	}
	info->run = tac_recorder_new_run();
	info->period_ns = share->period_ns;
	info->pid = (int32_t)getpid();
	info->tool_count = s->count;
	copy_text(info->scene, sizeof info->scene, scene.name);
	if (scene.text && strlen(scene.text) < sizeof info->text)
		copy_text(info->text, sizeof info->text, scene.text);
	char path[PATH_MAX];
	if (share->record && realpath(share->record, path) && strlen(path) < sizeof info->record)
		copy_text(info->record, sizeof info->record, path);
	copy_text(info->version, sizeof info->version, tac_version());
	for (int32_t i = 0; i < s->count; i++) {
		copy_text(info->tools[i], sizeof info->tools[i], s->scene->tools[i].name);
		copy_text(info->devices[i], sizeof info->devices[i], s->devices[i]->info.name);
		info->max_force_N[i] = s->devices[i]->info.max_force_N;
		info->gripper_max_m[i] = s->devices[i]->info.gripper_max_m;
	}
	free(memory);
	if (tac_outline_make(s->world, &info->outline) < TAC_OK) {
		free(info);
		return NULL;
	}
	return info;
}

// tac_station_command_fn: nothing here raises a force.
static bool obey(void *user, const tac_station_command *command)
{
	run_share *share = user;
	switch ((tac_station_command_kind)command->kind) {
	case TAC_STATION_END:
		tac_loop_stop(share->runner->loop);
		return true;
	case TAC_STATION_STOP:
		for (int32_t i = 0; i < share->session->count; i++)
			tac_servo_stop(share->session->servos[i]);
		return true;
	case TAC_STATION_GAIN:
		for (int32_t i = 0; i < share->session->count; i++)
			tac_servo_lower_gain(share->session->servos[i], command->value);
		return true;
	case TAC_STATION_COMMAND_COUNT:
		break;
	}
	return false;
}

bool run_share_start(run_share *share, session *open, loop_runner *runner)
{
	if (!share->def.name)
		return true;
	share->session = open;
	share->runner = runner;
	tac_seam_info *info = describe(share, open);
	bool good = true;
	for (int32_t i = 0; i < open->count; i++)
		good = good &&
		       tac_latest_create(sizeof(tac_task_figures), &share->tools[i].figures) >= TAC_OK;
	good = good && info && tac_seam_create(info, &share->seam) >= TAC_OK &&
	       tac_station_create(share->def.name, share->seam, obey, share, &share->station) >= TAC_OK;
	free(info);
	return good;
}

// ---- notes ----

static void tell_events(run_share *share)
{
	session *s = share->session;
	tac_event e;
	for (int32_t i = 0; i < s->count; i++) {
		while (tac_servo_next_event(s->servos[i], &e)) {
			tac_seam_note note = {.kind = TAC_SEAM_EVENT,
					      .tool = e.tool,
					      .time_ns = e.time_ns,
					      .event = (int32_t)e.kind,
					      .number = e.number,
					      .value = tac_dvec3_length(e.force_N)};
			snprintf(note.text, sizeof note.text, "%s%s%s", e.object_name,
				 e.surface_name[0] ? "/" : "", e.surface_name);
			tac_seam_push_note(share->seam, &note);
		}
	}
}

static void tell_totals(run_share *share, tac_seam_note_kind kind)
{
	const tac_monitor_stats *stats = share->runner->stats;
	tac_seam_note note = {.kind = (int32_t)kind, .time_ns = tac_clock_now_ns()};
	note.totals = (tac_seam_totals){.ticks = stats->totals.ticks,
					.misses = stats->totals.misses,
					.skipped = stats->totals.skipped,
					.refused = tac_seam_refused(share->seam)};
	memcpy(note.totals.misses_by_cause, stats->misses_by_cause, sizeof note.totals.misses_by_cause);
	tac_seam_push_note(share->seam, &note);
}

static void tell_figures(run_share *share, int32_t tool, const tac_task_figures *figures, bool last)
{
	tac_task_row rows[TAC_TASK_ROWS];
	tac_seam_figures told = {.tool = tool, .passed = figures->passed, .ended = last};
	told.count = tac_task_list(figures, share->session->world, tool, rows);
	for (int32_t i = 0; i < told.count; i++) {
		tac_seam_figure *f = &told.list[i];
		*f = (tac_seam_figure){.value = rows[i].value,
				       .limit = rows[i].limit,
				       .at_least = rows[i].at_least,
				       .exceeded = rows[i].exceeded,
				       .detail = rows[i].puncture > 0};
		copy_text(f->name, sizeof f->name, rows[i].name);
		copy_text(f->unit, sizeof f->unit, rows[i].unit);
	}
	tac_seam_push_figures(share->seam, &told);
}

void run_share_follow(run_share *share)
{
	if (!share->seam)
		return;
	tell_events(share);
	for (int32_t i = 0; i < share->session->count; i++) {
		bool fresh;
		const tac_task_figures *figures = tac_latest_read(share->tools[i].figures, &fresh);
		if (figures && fresh)
			tell_figures(share, i, figures, false);
	}
	const int64_t now_ns = tac_clock_now_ns();
	if (now_ns - share->totals_ns < TOTALS_NS)
		return;
	share->totals_ns = now_ns;
	loop_runner_read(share->runner);
	tell_totals(share, TAC_SEAM_TOTALS);
}

void run_share_end(run_share *share)
{
	if (share->seam && share->station) {
		tell_events(share);
		for (int32_t i = 0; i < share->session->count; i++)
			tell_figures(share, i, tac_servo_task(share->session->servos[i]), true);
		tell_totals(share, TAC_SEAM_ENDED);
	}
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++)
		tac_latest_destroy(&share->tools[i].figures);
	tac_station_destroy(&share->station);
	tac_seam_destroy(&share->seam);
}
