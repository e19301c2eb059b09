// tactus run: the haptic loop at 1 kHz with a scene, a device and a servo for each tool. It shows a live
// status line and, at the end, a summary.
#include "apps/commands/commands.h"
#include "apps/commands/run_csv.h"
#include "apps/commands/run_share.h"
#include "apps/commands/run_stats.h"
#include "apps/session/json.h"
#include "apps/session/loop_runner.h"
#include "apps/session/options.h"
#include "apps/session/recorded_scene.h"
#include "apps/session/session.h"
#include "apps/session/standard_output.h"
#include "apps/session/summary.h"
#include "apps/session/task_file.h"
#include "apps/session/units.h"
#include "apps/terminal/terminal.h"
#include "apps/viewer/viewer.h"
#include "base/log.h"

#include "devices/registry.h"
#include "rt/clock.h"
#include "rt/release.h"
#include "rt/ring.h"
#include "rt/watchdog.h"

#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct settings {
	session_def session;
	loop_runner_def loop;
	bool view;
	bool json;
	const char *dump_scene;
	const char *driver;
	const char *picture_path;
	const char *csv_path;
	const char *task_path;
	run_share_def share;
	int64_t width, height;
	bool file_on_stdout;                           // the task or the report is "-"
	char paths[TAC_SCENE_OBJECTS + 1][UNITS_PATH]; // of mesh files that were given with a unit
} settings;

// The first tool's forces in one tick, and its distances to the protected structures, for the report.
typedef struct force_sample {
	int64_t time_ns;
	double values[REPORT_FORCE_CHANNELS];
	double distances_m[REPORT_CHANNELS];
} force_sample;

_Static_assert(TAC_TASK_STRUCTURES <= REPORT_CHANNELS, "a channel for each structure");

#define FORCE_SAMPLES 8192 // 8 s at 1 kHz; follow() drains the ring every 200 ms or once a picture

typedef enum watchdog_state {
	WATCHDOG_NONE, // no real device
	WATCHDOG_WITH_PRIORITY,
	WATCHDOG_WITHOUT_PRIORITY, // a loop that keeps every CPU busy can delay it
} watchdog_state;

static const char *const watchdog_names[] = {"none", "with priority", "without priority"};

typedef struct live_run {
	session session;
	loop_runner runner;
	tac_ring *force_samples; // from the real-time thread to the one that follows the run
	report_series distances; // to the protected structures; no channels: there are none
	run_csv csv;
	run_share share;
	task_file task;
	run_stats stats[TAC_SCENE_TOOLS];
	atomic_bool switched_off; // by the watchdog
	watchdog_state watchdog;
	double watchdog_limit_ms;
} live_run;

#define DEFAULT_SECONDS 10 // of a run that nobody moves by hand or watches

static const char *mover_name(const settings *s)
{
	return s->session.mover == TAC_SCO_REACTIVE ? "reactive" : "continuous";
}

// ---- the loop ----

static force_sample sample_forces(const tac_snapshot *s, int64_t time_ns)
{
	return (force_sample){
		.time_ns = time_ns,
		.values =
			{
				[REPORT_FORCE] = tac_dvec3_length(s->sent.force_N),
				[REPORT_TORQUE] = tac_dvec3_length(s->sent.torque_Nm),
				[REPORT_CONTACTS] = s->contact_count,
				[REPORT_DEPTH] = run_stats_depth(s),
				[REPORT_ENERGY] = s->passivity_J,
				[REPORT_EFFECTS] = tac_dvec3_length(s->effects.wrench.force_N),
			},
	};
}

static void sample_distances(const live_run *r, force_sample *sample)
{
	if (r->distances.channels == 0)
		return;
	const tac_task_figures *f = tac_servo_task(r->session.servos[0]);
	for (int i = 0; i < r->distances.channels; i++) // fewer are left after an exchange of the scene
		sample->distances_m[i] = i < f->structure_count ? f->structures[i].distance_m : (double)NAN;
}

// The loop reads the snapshots as reader 0; the live line and the viewer are reader 1.
static void tick(void *user, tac_tick *t)
{
	live_run *r = user;
	run_share_take(&r->share);
	session_step(&r->session, t->wake_ns, t);
	bool ended = true;
	for (int32_t i = 0; i < r->session.count; i++) {
		const tac_snapshot *s = tac_servo_snapshot(r->session.servos[i], 0);
		run_stats_add(&r->stats[i], s);
		run_csv_add(&r->csv, s, t);
		run_share_add(&r->share, s);
		ended &= s->status == TAC_DEVICE_ENDED || s->status == TAC_DEVICE_LOST;
		if (i == 0) {
			force_sample sample = sample_forces(s, t->wake_ns);
			sample_distances(r, &sample);
			tac_ring_push(r->force_samples, &sample);
		}
	}
	if (ended)
		tac_loop_stop(r->runner.loop);
}

// The watchdog calls this when the loop hangs: a force that nobody updates must not persist.
static void switch_off(void *user)
{
	live_run *r = user;
	atomic_store_explicit(&r->switched_off, true, memory_order_relaxed);
	for (int32_t i = 0; i < r->session.count; i++)
		tac_device_enable(r->session.devices[i], false);
}

static void show_tick(void *observer, const tac_tick *tick)
{
	viewer_tick(observer, tick);
}

static bool is_simulated(const tac_device *device)
{
	return strncmp(device->info.name, "sim:", 4) == 0 || strncmp(device->info.name, "playback:", 9) == 0;
}

// Whether a device moves as a person moves it: then nobody knows beforehand when the run should end.
static bool held_by_a_person(const live_run *r)
{
	bool held = false;
	for (int32_t i = 0; i < r->session.count; i++)
		held |= !is_simulated(r->session.devices[i]);
	return held;
}

// ---- text ----

static void print_setup(const settings *s, const live_run *r)
{
	const tac_scene *scene = r->session.scene;
	summary_print_machine(&r->runner.machine);
	printf("scene     %s: %d tool%s, %d object%s, %lld triangle%s\n", scene->name, (int)scene->tool_count,
	       scene->tool_count == 1 ? "" : "s", (int)scene->object_count,
	       scene->object_count == 1 ? "" : "s", (long long)r->session.world->triangles,
	       r->session.world->triangles == 1 ? "" : "s");
	if (r->session.world->saved > 0)
		printf("          simplified within %.3g µm for tools that are meshes: %lld triangles "
		       "fewer\n",
		       r->session.world->detail_m * 1e6, (long long)r->session.world->saved);
	if (r->session.note[0])
		printf("          %s\n", r->session.note);
	for (int32_t i = 0; i < r->session.count; i++) {
		const tac_device_info *info = &r->session.devices[i]->info;
		printf("%s %s on %s: %d axes, ", i == 0 ? "device   " : "         ", scene->tools[i].name,
		       info->name, info->position_axes + info->rotation_axes);
		if (info->force_axes > 0 || info->torque_axes > 0)
			printf("%d with force, %d with torque, up to %g N\n", info->force_axes,
			       info->torque_axes, info->max_force_N);
		else
			printf("no motors: forces are displayed up to %g N, not felt\n", info->max_force_N);
	}
	char duration[32];
	printf("loop      %g Hz %s, %s mover, collider %s (%s)\n", s->loop.rate_Hz,
	       loop_runner_duration(&r->runner.def, duration), mover_name(s),
	       r->session.world->collider->name, r->session.world->collider->variant);
	summary_print_setup(&r->runner.granted);
	if (r->watchdog != WATCHDOG_NONE)
		printf("watchdog  %s: %g ms without a tick switch the forces off\n",
		       watchdog_names[r->watchdog], r->watchdog_limit_ms);
	printf("\n");
	fflush(stdout);
}

static void show_status(terminal *t, live_run *r, double elapsed_s)
{
	const tac_monitor_stats *stats = r->runner.stats;
	char text[2 * TERMINAL_BYTES], bar[256];
	const double rate_Hz = elapsed_s > 0 ? (double)stats->totals.ticks / elapsed_s : 0;
	int used = snprintf(text, sizeof text, "%6.1f s  %4.0f Hz  p99 %.0f us  misses %lld", elapsed_s,
			    rate_Hz, summary_us(tac_histogram_percentile(&stats->compute, 99)),
			    (long long)stats->totals.misses);
	for (int32_t i = 0; i < r->session.count; i++) {
		const tac_snapshot *s = tac_servo_snapshot(r->session.servos[i], 1);
		if (!s)
			continue;
		const double force_N = tac_dvec3_length(s->sent.force_N);
		const double max_N = r->session.devices[i]->info.max_force_N;
		char touch[16] = "  in tissue";
		if (s->contact_count > 0 || !tac_snapshot_touching(s))
			snprintf(touch, sizeof touch, "%2d contact%s", (int)s->contact_count,
				 s->contact_count == 1 ? " " : "s");
		used += snprintf(
			text + used, sizeof text - (size_t)used, "  %s  %s  %5.2f N %s",
			s->state == TAC_SERVO_RUNNING ? "" : tac_servo_state_name(s->state), touch, force_N,
			terminal_bar(t, max_N > 0 ? fmin(force_N / max_N, 1) : 0, 16, bar, sizeof bar));
	}
	terminal_show(t, text);
}

static void print_summary(const live_run *r)
{
	for (int32_t i = 0; i < r->session.count; i++)
		run_stats_print(&r->stats[i], r->session.scene->tools[i].name, r->session.servos[i]);
	if (atomic_load_explicit(&r->switched_off, memory_order_relaxed))
		printf("          the loop hung: the watchdog switched the forces off\n");
	printf("\n");
	summary_print(&r->runner.machine, r->runner.stats, r->runner.corrected);
	char verdict[SUMMARY_VERDICT];
	printf("verdict   %s\n",
	       summary_verdict(r->runner.stats, tac_loop_period_ns(r->runner.loop), verdict));
}

// ---- JSON ----

static void print_json_tools(const live_run *r)
{
	const session *se = &r->session;
	printf("  \"tools\": [");
	for (int32_t i = 0; i < se->count; i++) {
		printf("%s\n    {\"name\": ", i ? "," : "");
		json_print_string(stdout, se->scene->tools[i].name);
		printf(", \"device\": ");
		json_print_string(stdout, se->devices[i]->info.name);
		run_stats_print_json(&r->stats[i], se->servos[i]);
		printf("}");
	}
	printf("], \"watchdog\": \"%s\", \"switched_off\": %s,\n", watchdog_names[r->watchdog],
	       atomic_load_explicit(&r->switched_off, memory_order_relaxed) ? "true" : "false");
}

static void print_json_summary(const settings *s, const live_run *r)
{
	const tac_world *world = r->session.world;
	printf("{\n");
	summary_json_machine(&r->runner.machine);
	summary_json_setup(&r->runner.granted);
	printf("  \"scene\": ");
	json_print_string(stdout, r->session.scene->name);
	printf(", \"triangles\": %lld, \"triangles_saved\": %lld, \"detail_m\": %g",
	       (long long)world->triangles, (long long)world->saved, world->detail_m);
	printf(", \"mover\": \"%s\", \"collider\": \"%s\"", mover_name(s), world->collider->name);
	printf(", \"rate_hz\": %g, \"seconds\": ", s->loop.rate_Hz);
	if (isfinite(r->runner.def.seconds))
		printf("%g,\n", r->runner.def.seconds);
	else
		printf("null,\n"); // until it was stopped
	print_json_tools(r);
	summary_json(r->runner.stats, r->runner.corrected);
	printf("}\n");
}

// ---- the run ----

static void drain_force_samples(live_run *r, report_series *forces)
{
	force_sample sample;
	while (tac_ring_pop(r->force_samples, &sample)) {
		report_series_add(forces, sample.time_ns, sample.values);
		if (r->distances.channels > 0)
			report_series_add(&r->distances, sample.time_ns, sample.distances_m);
	}
}

// Draws one picture. False: the window has been closed.
static bool show_picture(live_run *r, viewer *view)
{
	viewer_frame frame = {.stats = r->runner.stats, .device = r->session.devices[0]->info.name};
	for (int32_t i = 0; i < r->session.count; i++)
		frame.snapshots[i] = tac_servo_snapshot(r->session.servos[i], 1);
	frame.surroundings = session_surroundings(&r->session, 0);
	frame.now_ns = tac_clock_now_ns();
	return viewer_show(view, &frame);
}

// Shows the run until it ends. All slow work happens on this thread. `view` may be NULL.
static void follow(live_run *r, report_series *forces, viewer *view)
{
	terminal t = {0};
	const int64_t begin_ns = tac_clock_now_ns();
	int64_t wait_ns;
	do {
		if (terminal_due(&t)) {
			loop_runner_read(&r->runner);
			show_status(&t, r, (double)(tac_clock_now_ns() - begin_ns) / 1e9);
		}
		drain_force_samples(r, forces);
		run_csv_drain(&r->csv);
		run_share_follow(&r->share);
		if (view && !show_picture(r, view)) {
			view = NULL;
			if (isinf(r->runner.def.seconds))
				tac_loop_stop(r->runner.loop);
		}
		// viewer_show waits for the display.
		wait_ns = view ? 0 : (int64_t)fmin(terminal_wait_ms(&t), 200) * TAC_NS_PER_MS;
	} while (!loop_runner_wait(&r->runner, wait_ns));
	drain_force_samples(r, forces);
	terminal_clear(&t);
}

static void enable_devices(live_run *r, bool on)
{
	for (int32_t i = 0; i < r->session.count; i++)
		tac_device_enable(r->session.devices[i], on);
}

// Under the fair scheduler, a machine in use can pause the loop for about 20 ms.
#define FAIR_LIMIT_NS (50 * TAC_NS_PER_MS)

// A watchdog that switches the forces off when the loop hangs. NULL with TAC_OK: no real device.
static tac_result create_watchdog(live_run *r, tac_watchdog **out_watchdog)
{
	*out_watchdog = NULL;
	if (!held_by_a_person(r))
		return TAC_OK;
	tac_watchdog_def def = tac_watchdog_def_default(r->runner.loop);
	const int64_t period_ns = tac_loop_period_ns(r->runner.loop);
	const bool realtime = r->runner.thread.policy != TAC_POLICY_OTHER &&
			      r->runner.granted.grants[TAC_GRANT_POLICY].state == TAC_GRANT_GRANTED;
	if (!realtime && def.periods * period_ns < FAIR_LIMIT_NS)
		def.periods = (int)(FAIR_LIMIT_NS / period_ns);
	def.on_stall = switch_off;
	def.user = r;
	const tac_result result = tac_watchdog_create(&def, out_watchdog);
	if (result >= TAC_OK)
		r->watchdog = result == TAC_OK ? WATCHDOG_WITH_PRIORITY : WATCHDOG_WITHOUT_PRIORITY;
	r->watchdog_limit_ms = (double)(def.periods * period_ns) / 1e6;
	return result;
}

static void release_device(void *device)
{
	tac_device_enable(device, false);
}

// A release still waits for the drivers to send zero while they are being closed.
static void wait_for_drivers(void *user)
{
	(void)user;
}

// From here on, a signal or an assertion that ends the process switches the forces off first.
static bool add_release_hooks(live_run *r)
{
	bool good = tac_release_add(wait_for_drivers, r) >= TAC_OK;
	for (int32_t i = 0; i < r->session.count; i++)
		good = tac_release_add(release_device, r->session.devices[i]) >= TAC_OK && good;
	return good;
}

// The devices are about to be destroyed.
static void remove_release_hooks(live_run *r)
{
	for (int32_t i = 0; i < r->session.count; i++)
		tac_release_remove(release_device, r->session.devices[i]);
}

static bool run_loop(const settings *s, live_run *r, report_series *forces, viewer *view)
{
	bool good = loop_runner_start(&r->runner);
	if (!good)
		return false;
	tac_watchdog *watchdog;
	good = create_watchdog(r, &watchdog) >= TAC_OK;
	if (!good)
		tac_loop_stop(r->runner.loop);
	else if (!s->json && r->runner.enter_result >= TAC_OK)
		print_setup(s, r);
	follow(r, forces, view);
	good = loop_runner_end(&r->runner) && good;
	tac_watchdog_destroy(&watchdog);
	return good;
}

// Runs the loop with the devices' forces on. The release hooks stay until the devices are closed.
static bool run_devices(const settings *s, live_run *r, report_series *forces, viewer *view)
{
	bool good = add_release_hooks(r);
	if (good) {
		enable_devices(r, true);
		good = run_loop(s, r, forces, view);
		enable_devices(r, false);
	}
	return good;
}

static bool write_task(live_run *r)
{
	const tac_task_figures *figures[TAC_SCENE_TOOLS];
	for (int32_t i = 0; i < r->session.count; i++)
		figures[i] = tac_servo_task(r->session.servos[i]);
	return task_file_write(&r->task, r->session.world, figures, r->session.count);
}

// The body that the first tool has drilled, as it was and as it is.
static report_section section_of(const session *se)
{
	report_section section = {.after = tac_servo_field(se->servos[0])};
	for (int32_t i = 0; i < se->scene->object_count; i++) {
		const tac_world_body *body = &se->world->objects[i];
		if (!body->field)
			continue;
		section.before = body->field;
		section.object = &se->scene->objects[i];
		section.body = body;
		for (int k = 0; k < TAC_FIELD_LABELS; k++)
			section.materials[k] = se->world->materials[body->field_material[k]].name;
	}
	return section;
}

static bool write_report(const settings *s, live_run *r, const report_series *forces)
{
	const session *se = &r->session;
	report *rep = &r->runner.report;
	rep->forces = forces;
	rep->distances = &r->distances;
	const tac_snapshot *last = tac_servo_snapshot(r->session.servos[0], 0);
	if (last)
		rep->feel = last->feel;
	rep->device = &se->devices[0]->info;
	rep->task_count = tac_task_list(tac_servo_task(se->servos[0]), se->world, 0, rep->task);
	rep->task_passed = tac_servo_task(se->servos[0])->passed;
	rep->scene = se->scene->name;
	rep->section = section_of(se);
	rep->task_wanted = s->task_path || session_has_task(se->scene);
	report_fact_add(rep, "scene", "%s, %lld triangles", se->scene->name, (long long)se->world->triangles);
	char duration[32];
	report_fact_add(rep, "loop", "%g Hz %s", s->loop.rate_Hz,
			loop_runner_duration(&r->runner.def, duration));
	report_fact_add(rep, "mover", "%s", mover_name(s));
	report_fact_add(rep, "collider", "%s (%s)", se->world->collider->name, se->world->collider->variant);
	for (int32_t i = 0; i < se->count; i++)
		report_fact_add(rep, se->scene->tools[i].name, "%s; force up to %.2f N, up to %d contact%s",
				se->devices[i]->info.name, r->stats[i].max_force_N,
				(int)r->stats[i].max_contacts, r->stats[i].max_contacts == 1 ? "" : "s");
	return loop_runner_write_report(&r->runner);
}

// NULL after one log line: no window can be opened, and the run goes on without it.
static viewer *open_viewer(const settings *s, const live_run *r, int mouse_fd)
{
	const viewer_def def = {
		.world = r->session.world,
		.surface = r->session.surface,
		.later_worlds = r->session.commands.worlds,
		.later_count = r->session.commands.world_count,
		.title = r->session.scene->name,
		.screenshot_path = s->picture_path,
		.period_ns = llround(1e9 / s->loop.rate_Hz),
		.width = (int)s->width,
		.height = (int)s->height,
		.mouse_fd = mouse_fd,
	};
	viewer *view;
	viewer_open(&def, &view);
	return view;
}

// With --view, the device `mouse` is driven by dragging in the window, through a pipe. Replaces the device's
// name by that of the pipe, stored in `name`, and returns the end to write to. 0: not this device.
static int window_mouse(const settings *s, session_def *def, char *name, size_t size)
{
	int ends[2];
	if (!s->view || !def->devices[0] || strcmp(def->devices[0], "mouse") != 0 ||
	    pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return 0;
	snprintf(name, size, "mouse:/proc/self/fd/%d", ends[0]);
	def->devices[0] = name;
	return ends[1];
}

// Prepares the distances to the protected structures for the report.
static void name_structures(live_run *r)
{
	const tac_task_figures *f = tac_servo_task(r->session.servos[0]);
	r->distances.channels = f->structure_count;
	for (int32_t i = 0; i < f->structure_count; i++) {
		r->distances.names[i] =
			f->structures[i].name; // of the session's scene, which outlives the report
		r->runner.report.warn_m[i] = f->structures[i].warn_m;
	}
}

// Runs the open session and prints its summary.
static bool run_session(const settings *s, live_run *r, int mouse_fd)
{
	loop_runner_def def = s->loop;
	def.tick = tick;
	def.user = r;
	viewer *view = s->view ? open_viewer(s, r, mouse_fd) : NULL;
	if (isnan(def.seconds))
		def.seconds = view || held_by_a_person(r) ? INFINITY : DEFAULT_SECONDS;
	def.observe = view ? show_tick : NULL;
	def.observer = view;
	report_series *forces = calloc(1, sizeof *forces);
	if (!forces)
		tac_log(TAC_LOG_ERROR, "tactus run: expected memory for the report's forces, found none");
	const int lent = s->file_on_stdout ? standard_output_lend() : -1;
	bool good = forces && loop_runner_open(&def, &r->runner) &&
		    tac_ring_create(FORCE_SAMPLES, sizeof(force_sample), &r->force_samples) == TAC_OK &&
		    run_csv_open(s->csv_path, &r->csv) &&
		    run_share_start(&r->share, &r->session, &r->runner) &&
		    task_file_open(s->task_path, &r->task);
	if (good) {
		report_forces_init(forces);
		name_structures(r);
		good = run_devices(s, r, forces, view);
	}
	if (good && s->json)
		print_json_summary(s, r);
	else if (good)
		print_summary(r);
	standard_output_give_back(lent);
	good = good && write_task(r);
	good = good && write_report(s, r, forces);
	task_file_close(&r->task);
	good = run_csv_close(&r->csv) && good;
	run_share_end(&r->share);
	good = viewer_close(&view) >= TAC_OK && good; // its last picture shows the runner's statistics
	good = loop_runner_close(&r->runner) && good;
	tac_ring_destroy(&r->force_samples);
	free(forces);
	return good;
}

static int run(const settings *s)
{
	live_run *r = calloc(1, sizeof *r);
	if (!r) {
		tac_log(TAC_LOG_ERROR, "tactus run: expected %zu bytes, found no memory", sizeof *r);
		return EXIT_FAILURE;
	}
	session_def def = s->session;
	char mouse[48];
	const int mouse_fd = window_mouse(s, &def, mouse, sizeof mouse);
	run_share_init(&s->share, &def, &r->share);
	int code = session_open(&def, "tactus run", false, &r->session);
	if (code == EXIT_SUCCESS && !run_session(s, r, mouse_fd))
		code = EXIT_FAILURE;
	remove_release_hooks(r);
	if (!session_close(&r->session) && code == EXIT_SUCCESS)
		code = EXIT_FAILURE;
	tac_release_remove(wait_for_drivers, r);
	free(r);
	return code;
}

static int dump_scene(const session_def *def)
{
	tac_scene *scene;
	char note[MESH_SCENE_NOTE];
	const int code = session_scene(def, note, &scene);
	if (code != EXIT_SUCCESS)
		return code;
	const tac_result result = tac_scene_write(scene, stdout);
	tac_scene_destroy(&scene);
	return result < TAC_OK ? EXIT_FAILURE : EXIT_SUCCESS;
}

// Mesh files may have a unit of their own, as in part.stl@mm.
static bool split_units(settings *s)
{
	session_def *def = &s->session;
	bool good = true;
	for (int32_t i = 0; i <= TAC_SCENE_OBJECTS; i++) {
		const bool tool = i == TAC_SCENE_OBJECTS;
		const char **file = tool ? &def->tool_mesh : i == 0 ? &def->scene : &def->more_meshes[i - 1];
		if (good && *file) {
			*file = units_split(s->loop.command, *file, s->paths[i],
					    tool ? &def->tool_scale : &def->mesh_scales[i]);
			good = *file != NULL;
		}
	}
	return good;
}

// No output replaces an input or another output. Mesh files may be the same: each in turn takes the last
// place.
static bool files_differ(const settings *s)
{
	const session_def *def = &s->session;
	const char *files[] = {def->record,
			       s->loop.trace_path,
			       s->loop.log_path,
			       s->loop.report_path,
			       s->picture_path,
			       s->csv_path,
			       s->task_path,
			       recorded_scene_file(def->devices[0]),
			       recorded_scene_file(def->devices[1]),
			       def->scene};
	const int count = sizeof files / sizeof *files;
	bool good = options_files_differ(s->loop.command, files, count);
	for (int32_t i = 0; i <= def->more_count && good; i++) {
		files[count - 1] = i < def->more_count ? def->more_meshes[i] : def->tool_mesh;
		good = options_files_differ(s->loop.command, files, count);
	}
	return good;
}

// After the command line has been parsed.
static int run_as_asked(settings *s)
{
	if (s->driver && tac_registry_load(s->driver) < TAC_OK)
		return EXIT_BAD_INPUT;
	if (s->dump_scene)
		s->session.scene = s->dump_scene;
	if (!split_units(s))
		return EXIT_BAD_INPUT;
	if (s->dump_scene)
		return dump_scene(&s->session);
	if (!run_share_check(&s->share))
		return EXIT_BAD_INPUT;
	if (s->picture_path && !s->view) {
		fprintf(stderr, "tactus run: picture: expected --view as well, found --picture alone\n");
		return EXIT_BAD_INPUT;
	}
	const output_option outputs[] = {
		{"record", s->session.record, false},  {"trace", s->loop.trace_path, false},
		{"log", s->loop.log_path, false},      {"csv", s->csv_path, false},
		{"picture", s->picture_path, false},   {"task", s->task_path, true},
		{"report", s->loop.report_path, true},
	};
	if (!standard_output_wanted(s->loop.command, outputs, sizeof outputs / sizeof *outputs, s->json,
				    &s->file_on_stdout))
		return EXIT_BAD_INPUT;
	if (!files_differ(s))
		return EXIT_BAD_INPUT;
	if (!s->view && s->session.devices[0] && strcmp(s->session.devices[0], "mouse") == 0)
		fprintf(stderr,
			"tactus run: without --view, the device mouse is the machine's own mouse; add "
			"--view to drag the tool in a window\n");
	s->session.companions = s->view;
	s->session.period_ns = llround(1e9 / s->loop.rate_Hz);
	return run(s);
}

int cmd_run(int argc, char **argv)
{
	settings s = {
		.session = {.mover = TAC_SCO_CONTINUOUS, .readers = 2},
		.loop = loop_runner_def_default("tactus run", "tac-servo"),
		.width = 1280,
		.height = 800,
	};
	s.loop.seconds = (double)NAN;
	option_list more = {.items = s.session.more_meshes};
	int units = 0;
	double scale = (double)NAN;
	const option_def options[] = {
		{"scene", OPTION_OPTIONAL, &s.session.scene, 0, 0, NULL, "SCENE",
		 "sphere, stylus, peg, tooth, groove, assembly, hands, lumbar, caries, bone, palpation; or a "
		 "scene file (.yaml, see docs/scene.md); or a mesh file (default: that of the recording "
		 "played back, "
		 "otherwise sphere)"},
		{"mesh", OPTION_MORE, &more, 0, TAC_SCENE_OBJECTS - 1, NULL, "MESH",
		 "after a mesh file: further mesh files to touch, in the same frame; each mesh file may have "
		 "its "
		 "own unit or scale, as in part.stl@mm or part.stl@0.001"},
		{"tool", OPTION_TEXT, &s.session.tool_mesh, 0, 0, NULL, "MESH",
		 "with a mesh file: the mesh that touches it (default: a ball)"},
		{"units", OPTION_CHOICE, &units, 0, 0, units_names, NULL,
		 "with mesh files: their unit; auto: metres, or millimetres if that would be larger than 1 "
		 "m"},
		{"scale", OPTION_NUMBER, &scale, UNITS_SCALE_MIN, UNITS_SCALE_MAX, NULL, "FACTOR",
		 "with mesh files: metres per unit of the file, instead of --units"},
		{"device", OPTION_TEXT, &s.session.devices[0], 0, 0, NULL, "DEVICE",
		 "a device listed by `tactus devices`, such as sim:falcon (default: the scene's)"},
		{"device2", OPTION_TEXT, &s.session.devices[1], 0, 0, NULL, "DEVICE",
		 "the device of the second tool"},
		{"driver", OPTION_TEXT, &s.driver, 0, 0, NULL, "FILE.so",
		 "load a driver for --device from a shared library (docs/writing-a-device.md)"},
		{"firmware", OPTION_TEXT, &s.session.firmware, 0, 0, NULL, "FILE",
		 "firmware to upload to a Novint Falcon (default: the environment's TACTUS_FALCON_FIRMWARE)"},
		{"collider", OPTION_TEXT, &s.session.collider, 0, 0, NULL, "NAME",
		 "the collision engine that checks each pose and drives the reactive mover: wide (the "
		 "default), doptree, classic, scd, chip, board (over USB, see `tactus emulate`), rtl (the "
		 "chip's gates, simulated)"},
		{"mover", OPTION_CHOICE, &s.session.mover, 0, 0, session_movers, NULL, session_mover_help},
		{"record", OPTION_TEXT, &s.session.record, 0, 0, NULL, "FILE",
		 "record the device and the scene; replay it with --device playback:FILE or `tactus view`"},
		{"any-scene", OPTION_FLAG, &s.session.any_scene, 0, 0, NULL, NULL, session_any_scene_help},
		LOOP_RUNNER_OPTIONS(
			&s.loop, "duration in seconds (default: until the window is closed or Ctrl-C is "
				 "pressed if there is a window or a person moves the device, otherwise 10)"),
		{"view", OPTION_FLAG, &s.view, 0, 0, NULL, NULL,
		 "show the scene in a window; press ? there for the keys"},
		{"picture", OPTION_TEXT, &s.picture_path, 0, 0, NULL, "FILE.png",
		 "with --view: write the last picture to a file"},
		{"width", OPTION_INTEGER, &s.width, 160, 16384, NULL, "N", "width of the window in pixels"},
		{"height", OPTION_INTEGER, &s.height, 120, 16384, NULL, "N",
		 "height of the window in pixels"},
		{"csv", OPTION_TEXT, &s.csv_path, 0, 0, NULL, "FILE.csv",
		 "write a row for each tick while the run goes on: device, SCO, wrench, contacts, flags, "
		 "times"},
		{"task", OPTION_TEXT, &s.task_path, 0, 0, NULL, "FILE.json",
		 "write what was done: forces, path, times, punctures, distances, limits; FILE.csv: as a "
		 "table"},
		{"share", OPTION_TEXT, &s.share.name, 0, 0, NULL, "NAME",
		 "share the run as the station NAME: `tactus share --station NAME` publishes it "
		 "(docs/share.md)"},
		{"external-wrench", OPTION_FLAG, &s.share.external_wrench, 0, 0, NULL, NULL,
		 "with --share: add the wrenches that the bridge receives, within all limits"},
		{"dump-scene", OPTION_TEXT, &s.dump_scene, 0, 0, NULL, "SCENE",
		 "print a scene as YAML and exit"},
		{"json", OPTION_FLAG, &s.json, 0, 0, NULL, NULL, "print the summary as JSON"},
		{0},
	};
	const command_line line = {s.loop.command,
				   "touch a scene: the haptic loop with a real or simulated device", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	if (!units_parse(s.loop.command, units, scale, &s.session.mesh_scale))
		return EXIT_BAD_INPUT;
	s.session.more_count = more.count;
	return run_as_asked(&s);
}
