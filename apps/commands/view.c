// tactus view RECORDING: replays a recording in the viewer. The recorded device drives the same servo
// as in the run, tick by tick, so the motion of the tool, the contacts and the forces are computed again.
// Time is that of the recording; pausing stops it.
#include "apps/commands/commands.h"
#include "apps/session/options.h"
#include "apps/session/recorded_scene.h"
#include "apps/session/session.h"
#include "apps/viewer/viewer.h"
#include "devices/recording.h"
#include "rt/clock.h"
#include "rt/loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LAG_NS (TAC_NS_PER_S / 5) // most recorded time that is computed between two pictures

typedef struct settings {
	const char *recording;
	const char *scene;
	const char *collider;
	const char *picture_path;
	const char *csv;
	const char *mcap;
	bool any_scene;
	double speed;
	double seconds;
	int64_t width, height;
} settings;

typedef struct replay {
	session session;
	viewer *viewer;
	int64_t period_ns;
	int64_t time_ns; // of the next tick, from the start of the recording
	bool ended;
} replay;

static void advance(replay *r)
{
	tac_tick tick = {.planned_ns = r->time_ns, .wake_ns = tac_clock_now_ns()};
	// The replay's clock begins at one period: to the servos, time 0 means "never".
	session_step(&r->session, r->time_ns + r->period_ns, &tick);
	tick.end_ns = tac_clock_now_ns();
	tick.deadline_ns = tick.wake_ns + r->period_ns;
	viewer_tick(r->viewer, &tick);
	r->time_ns += r->period_ns;
	r->ended = true;
	for (int32_t i = 0; i < r->session.count; i++) {
		const tac_snapshot *s = tac_servo_snapshot(r->session.servos[i], 0);
		r->ended &= s && (s->status == TAC_DEVICE_ENDED || s->status == TAC_DEVICE_LOST);
	}
}

static bool show(replay *r)
{
	viewer_frame frame = {.device = r->session.devices[0]->info.name, .now_ns = r->time_ns};
	for (int32_t i = 0; i < r->session.count; i++)
		frame.snapshots[i] = tac_servo_snapshot(r->session.servos[i], 0);
	frame.surroundings = session_surroundings(&r->session, 0);
	return viewer_show(r->viewer, &frame);
}

static void play(replay *r, const settings *s)
{
	const int64_t begin_ns = tac_clock_now_ns();
	int64_t last_ns = begin_ns;
	double due_ns = 0; // recorded time still to be computed
	do {
		const int64_t now_ns = tac_clock_now_ns();
		const int steps = viewer_steps(r->viewer);
		if (steps < 0)
			due_ns = fmin(due_ns + (double)(now_ns - last_ns) * s->speed, (double)MAX_LAG_NS);
		else
			due_ns = (double)(steps * r->period_ns);
		last_ns = now_ns;
		for (; due_ns >= (double)r->period_ns && !r->ended; due_ns -= (double)r->period_ns)
			advance(r);
		if (s->seconds > 0 && (double)(now_ns - begin_ns) > s->seconds * 1e9)
			break;
	} while (!tac_loop_signalled() && show(r));
}

// Whether `path` is the second tool's recording of the run that the first one belongs to, not an older file.
static bool is_second_of(const char *path, const char *first)
{
	tac_recording a = {0}, b = {0};
	const bool same = access(path, F_OK) == 0 && tac_recording_load_scene(first, &a) >= TAC_OK &&
			  tac_recording_load_scene(path, &b) >= TAC_OK && a.header.run == b.header.run;
	tac_recording_fini(&a);
	tac_recording_fini(&b);
	return same;
}

static int show_replay(replay *r, const settings *s)
{
	r->period_ns = r->session.devices[0]->info.period_ns;
	const viewer_def window = {
		.world = r->session.world,
		.surface = r->session.surface,
		.later_worlds = r->session.commands.worlds,
		.later_count = r->session.commands.world_count,
		.title = s->recording,
		.screenshot_path = s->picture_path,
		.width = (int)s->width,
		.height = (int)s->height,
		.period_ns = r->period_ns,
	};
	tac_loop_stop_on_signals();
	const bool opened = viewer_open(&window, &r->viewer) == TAC_OK;
	if (opened)
		play(r, s);
	return viewer_close(&r->viewer) >= TAC_OK && opened ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int view(const settings *s)
{
	char device[2][4160];
	snprintf(device[0], sizeof device[0], "playback:%s", s->recording);
	snprintf(device[1], sizeof device[1], "playback:%s.2", s->recording);
	const bool two = is_second_of(device[1] + sizeof "playback:" - 1, s->recording);
	const session_def def = {
		.scene = s->scene,
		.devices = {device[0], two ? device[1] : NULL},
		.collider = s->collider,
		.readers = 1,
		.companions = true,
		.any_scene = s->any_scene,
	};
	replay r = {0};
	int code = session_open(&def, "tactus view", false, &r.session);
	if (code == EXIT_SUCCESS && r.session.count == 2 && !two) {
		fprintf(stderr,
			"tactus view: %s: expected the second tool's recording of the same run in %s.2, "
			"found none\n",
			s->recording, s->recording);
		code = EXIT_BAD_INPUT;
	}
	if (code == EXIT_SUCCESS)
		code = show_replay(&r, s);
	if (!session_close(&r.session) && code == EXIT_SUCCESS)
		code = EXIT_FAILURE;
	return code;
}

// Whether the scene that was named, if any, is the recording's. The export does not need it, but a wrong name
// may mean a wrong recording. Exit code.
static int check_scene(const settings *s, const tac_recording *recording)
{
	if (!s->scene || s->any_scene)
		return EXIT_SUCCESS;
	char note[MESH_SCENE_NOTE];
	tac_scene *scene = NULL;
	const session_def def = {.scene = s->scene};
	int code = session_scene(&def, note, &scene);
	if (code == EXIT_SUCCESS &&
	    !recorded_scene_matches("tactus view", s->recording, recording, s->scene, scene))
		code = EXIT_BAD_INPUT;
	tac_scene_destroy(&scene);
	return code;
}

// What can be read is written, and the exit code says whether it was everything.
static int export(const settings *s)
{
	tac_recording recording;
	const tac_result loaded = tac_recording_load(s->recording, &recording);
	if (loaded < TAC_OK)
		return EXIT_BAD_INPUT;
	const int code = check_scene(s, &recording);
	if (code != EXIT_SUCCESS) {
		tac_recording_fini(&recording);
		return code;
	}
	const bool csv = !s->csv || tac_recording_export_csv(&recording, s->csv) == TAC_OK;
	const bool mcap = !s->mcap || tac_recording_export_mcap(&recording, s->mcap) == TAC_OK;
	tac_recording_fini(&recording);
	return csv && mcap && loaded == TAC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_view(int argc, char **argv)
{
	settings s = {.speed = 1, .width = 1280, .height = 800};
	const option_def options[] = {
		{"recording", OPTION_POSITIONAL, &s.recording, 0, 0, NULL, "RECORDING",
		 "a file written by `tactus run --record`"},
		{"scene", OPTION_TEXT, &s.scene, 0, 0, NULL, "SCENE",
		 "the scene of the recorded run, as for `tactus run` (default: the one in the recording)"},
		{"any-scene", OPTION_FLAG, &s.any_scene, 0, 0, NULL, NULL, session_any_scene_help},
		{"collider", OPTION_TEXT, &s.collider, 0, 0, NULL, "NAME",
		 "the collision engine, as for `tactus run` (default wide)"},
		{"speed", OPTION_NUMBER, &s.speed, 0.001, 1000, NULL, "FACTOR",
		 "replay speed relative to the recording"},
		{"seconds", OPTION_NUMBER, &s.seconds, 0, 1e7, NULL, "N",
		 "close the window after N seconds; 0: stay open"},
		{"csv", OPTION_TEXT, &s.csv, 0, 0, NULL, "FILE.csv",
		 "write the recording as text, an input for `tactus render`, and exit; - is standard output"},
		{"mcap", OPTION_TEXT, &s.mcap, 0, 0, NULL, "FILE.mcap",
		 "write the recording as MCAP with messages of ROS 2, for plotting tools, and exit; - is "
		 "standard output"},
		{"picture", OPTION_TEXT, &s.picture_path, 0, 0, NULL, "FILE.png",
		 "write the last picture to a file"},
		{"width", OPTION_INTEGER, &s.width, 160, 16384, NULL, "N", "width of the window in pixels"},
		{"height", OPTION_INTEGER, &s.height, 120, 16384, NULL, "N",
		 "height of the window in pixels"},
		{0},
	};
	const command_line line = {"tactus view", "replay a recording in the viewer, or export it", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	const char *const files[] = {s.recording, s.csv, s.mcap, s.picture_path};
	if (!options_files_differ(line.command, files, 4))
		return EXIT_BAD_INPUT;
	const char *extension = strrchr(s.recording, '.');
	if (extension && strcmp(extension, ".yaml") == 0 && access(s.recording, F_OK) == 0) {
		fprintf(stderr,
			"tactus view: %s: expected a recording, found a scene; `tactus run %s --view` shows "
			"it\n",
			s.recording, s.recording);
		return EXIT_BAD_INPUT;
	}
	return s.csv || s.mcap ? export(&s) : view(&s);
}
