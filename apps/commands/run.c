// tactus run: the main job. The loop at 1 kHz with a scene, a device and a servo; a live line meanwhile, a
// summary at the end.
#include "apps/account.h"
#include "apps/commands.h"
#include "apps/json.h"
#include "apps/options.h"
#include "apps/rig.h"
#include "apps/session.h"
#include "apps/terminal.h"
#include "apps/viewer.h"

#include "rt/clock.h"
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
	rig_def rig;
	bool view;
	bool json;
	const char *dump;
	const char *picture_path;
	int64_t width, height;
} settings;

// What leaves the real-time thread each tick for the course of the forces.
typedef struct course {
	int64_t time_ns;
	double values[REPORT_FORCE_CHANNELS];
} course;

#define COURSE_RECORDS 8192 // some seconds; the thread that reads them comes by at least once in one

// What was felt with one tool, over the whole run.
typedef struct felt {
	double max_force_N, max_torque_Nm, sum_force_N, max_depth_m, least_energy_J;
	int32_t max_contacts;
	int64_t ticks;
	double least_allowed_N_per_m;
	int64_t derated_ticks;
	tac_derate_reason derated_by; // what allowed the least
	double most_damping_N_s_per_m;
} felt;

// The run as the loop's thread sees it.
typedef struct runner {
	session session;
	rig rig;
	tac_ring *courses;
	felt felt[TAC_SCENE_TOOLS];
	atomic_bool switched_off; // by the watchdog
} runner;

// ---- the loop ----

static void feel(felt *f, const tac_snapshot *s, course *c)
{
	const double force = tac_dvec3_length(s->sent.force_N), torque = tac_dvec3_length(s->sent.torque_Nm);
	const double depth =
		tac_dvec3_length(tac_dvec3_sub(s->T_world_sco.position, s->T_world_device.position));
	f->max_force_N = fmax(f->max_force_N, force);
	f->max_torque_Nm = fmax(f->max_torque_Nm, torque);
	f->max_depth_m = fmax(f->max_depth_m, depth);
	f->least_energy_J = fmin(f->least_energy_J, s->passivity_J);
	f->most_damping_N_s_per_m = fmax(f->most_damping_N_s_per_m, s->passivity_N_s_per_m);
	if (f->ticks == 0 || s->allowed_N_per_m < f->least_allowed_N_per_m) {
		f->least_allowed_N_per_m = s->allowed_N_per_m;
		f->derated_by = s->derated_by;
	}
	if (s->contact_count > 0) {
		f->sum_force_N += force;
		f->derated_ticks += s->derated;
	}
	if (s->contact_count > f->max_contacts)
		f->max_contacts = s->contact_count;
	f->ticks++;
	c->values[REPORT_FORCE] = force;
	c->values[REPORT_TORQUE] = torque;
	c->values[REPORT_CONTACTS] = s->contact_count;
	c->values[REPORT_DEPTH] = depth;
	c->values[REPORT_ENERGY] = s->passivity_J;
}

// Reader 0 of the snapshots is the loop itself, for what it adds up; reader 1 is whoever shows them.
static void tick(void *user, tac_tick *t)
{
	runner *r = user;
	session_step(&r->session, t->wake_ns, t);
	course c = {.time_ns = t->wake_ns};
	bool ended = true;
	for (int32_t i = r->session.count - 1; i >= 0; i--) {
		const tac_snapshot *s = tac_servo_snapshot(r->session.servos[i], 0);
		feel(&r->felt[i], s, &c); // the course is that of the first tool
		ended &= s->status == TAC_DEVICE_ENDED || s->status == TAC_DEVICE_LOST;
	}
	tac_ring_push(r->courses, &c);
	if (ended)
		tac_loop_stop(r->rig.loop);
}

// The loop hangs: nobody decides about the force any more, so there is none.
static void switch_off(void *user)
{
	runner *r = user;
	atomic_store_explicit(&r->switched_off, true, memory_order_relaxed);
	for (int32_t i = 0; i < r->session.count; i++)
		tac_device_enable(r->session.devices[i], false);
}

static void show_tick(void *listener, const tac_tick *tick)
{
	viewer_tick(listener, tick);
}

static bool simulated(const tac_device *device)
{
	return strncmp(device->info.name, "sim:", 4) == 0 || strncmp(device->info.name, "playback:", 9) == 0;
}

// ---- what a person reads ----

static void print_setup(const settings *s, const runner *r)
{
	const tac_scene *scene = r->session.scene;
	account_print_machine(&r->rig.machine);
	printf("scene     %s: %d tool%s, %d object%s, %lld triangles\n", scene->name, (int)scene->tool_count,
	       scene->tool_count == 1 ? "" : "s", (int)scene->object_count,
	       scene->object_count == 1 ? "" : "s", (long long)r->session.world->triangles);
	for (int32_t i = 0; i < r->session.count; i++) {
		const tac_device_info *info = &r->session.devices[i]->info;
		printf("%s %s with %s: %d axes, forces in %d, torques in %d, up to %g N\n",
		       i == 0 ? "device   " : "         ", scene->tools[i].name, info->name,
		       info->position_axes + info->rotation_axes, info->force_axes, info->torque_axes,
		       info->max_force_N);
	}
	printf("loop      %g Hz for %g s, %s mover, collider %s (%s)\n", s->rig.rate_Hz, s->rig.seconds,
	       s->session.mover == TAC_SCO_REACTIVE ? "reactive" : "continuous",
	       r->session.world->collider->name, r->session.world->collider->variant);
	account_print_setup(&r->rig.granted);
	printf("\n");
	fflush(stdout);
}

static void show_live(terminal *t, runner *r, double elapsed_s)
{
	const tac_monitor_stats *stats = r->rig.stats;
	char text[2 * TERMINAL_BYTES], bar[256];
	const double rate = elapsed_s > 0 ? (double)stats->totals.ticks / elapsed_s : 0;
	int used = snprintf(text, sizeof text, "%6.1f s  %4.0f Hz  p99 %.0f us  misses %lld", elapsed_s, rate,
			    account_us(tac_histogram_percentile(&stats->compute, 99)),
			    (long long)stats->totals.misses);
	for (int32_t i = 0; i < r->session.count; i++) {
		const tac_snapshot *n = tac_servo_snapshot(r->session.servos[i], 1);
		if (!n)
			continue;
		const double force = tac_dvec3_length(n->sent.force_N);
		const double most = r->session.devices[i]->info.max_force_N;
		used += snprintf(text + used, sizeof text - (size_t)used, "  %s  %2d contact%s  %5.2f N %s",
				 n->state == TAC_SERVO_RUNNING ? "" : tac_servo_state_name(n->state),
				 (int)n->contact_count, n->contact_count == 1 ? " " : "s", force,
				 terminal_bar(t, most > 0 ? fmin(force / most, 1) : 0, 16, bar, sizeof bar));
	}
	terminal_show(t, text);
}

static double mean_force_N(const felt *f, const tac_snapshot *n)
{
	return n->contact_ticks > 0 ? f->sum_force_N / (double)n->contact_ticks : 0;
}

static void print_felt(const runner *r)
{
	const session *se = &r->session;
	for (int32_t i = 0; i < se->count; i++) {
		const felt *f = &r->felt[i];
		const tac_snapshot *n = tac_servo_snapshot(se->servos[i], 0);
		if (!n)
			continue;
		const double share = f->ticks > 0 ? 100.0 * (double)n->contact_ticks / (double)f->ticks : 0;
		printf("%-9s in contact %.1f %% of the time, at most %d contact%s; force %.2f N mean in "
		       "contact, "
		       "%.2f N at most; torque %.3f Nm at most; device %.2f mm off at most\n",
		       se->scene->tools[i].name, share, (int)f->max_contacts, f->max_contacts == 1 ? "" : "s",
		       mean_force_N(f, n), f->max_force_N, f->max_torque_Nm, 1e3 * f->max_depth_m);
		if (n->state == TAC_SERVO_WAITING)
			printf("          no force: the tool began inside of something and did not come "
			       "free\n");
		if (isfinite(f->least_allowed_N_per_m))
			printf("          stiffness allowed %.0f N/m at least, by the %s",
			       f->least_allowed_N_per_m, tac_derate_reason_name(f->derated_by));
		else
			printf("          stiffness not limited: the device's mechanics are not known");
		if (f->derated_ticks > 0)
			printf(", derated in %lld ticks", (long long)f->derated_ticks);
		printf("; passivity: %.3f mJ at least, %.2f N s/m damping at most\n", 1e3 * f->least_energy_J,
		       f->most_damping_N_s_per_m);
		printf("          faults %llu, unknown %llu, mover out of work in %llu ticks; left out: "
		       "proximity %llu, surfaces %llu ticks; the gate stepped in:",
		       (unsigned long long)n->faults, (unsigned long long)n->unknowns,
		       (unsigned long long)n->spent_ticks,
		       (unsigned long long)n->dropped_ticks[TAC_SERVO_PROXIMITY],
		       (unsigned long long)n->dropped_ticks[TAC_SERVO_SURFACES]);
		const char *comma = " ";
		for (int k = 0; k < TAC_LIMIT_REASON_COUNT; k++) {
			const uint64_t count = tac_servo_limit_count(se->servos[i], (tac_limit_reason)k);
			if (count > 0) {
				printf("%s%s %llu", comma, tac_limit_reason_name((tac_limit_reason)k),
				       (unsigned long long)count);
				comma = ", ";
			}
		}
		printf("%s\n", *comma == ' ' ? " never" : " ticks");
	}
	if (atomic_load_explicit(&r->switched_off, memory_order_relaxed))
		printf("          the watchdog switched the forces off: the loop had hung\n");
	printf("\n");
}

// ---- what a program reads ----

// JSON has no infinities.
static void json_number(const char *name, double value)
{
	if (isfinite(value))
		printf(", \"%s\": %.6g", name, value);
	else
		printf(", \"%s\": null", name);
}

static void json_felt(const settings *s, const runner *r)
{
	const session *se = &r->session;
	printf("  \"scene\": ");
	json_print_string(stdout, se->scene->name);
	printf(", \"triangles\": %lld, \"mover\": \"%s\", \"collider\": \"%s\", \"rate_hz\": %g, "
	       "\"seconds\": %g,\n",
	       (long long)se->world->triangles,
	       s->session.mover == TAC_SCO_REACTIVE ? "reactive" : "continuous", se->world->collider->name,
	       s->rig.rate_Hz, s->rig.seconds);
	printf("  \"tools\": [");
	for (int32_t i = 0; i < se->count; i++) {
		const felt *f = &r->felt[i];
		const tac_snapshot none = {0}, *n = tac_servo_snapshot(se->servos[i], 0);
		n = n ? n : &none;
		printf("%s\n    {\"name\": ", i ? "," : "");
		json_print_string(stdout, se->scene->tools[i].name);
		printf(", \"device\": ");
		json_print_string(stdout, se->devices[i]->info.name);
		printf(", \"ticks\": %lld, \"contact_ticks\": %llu, \"max_contacts\": %d",
		       (long long)f->ticks, (unsigned long long)n->contact_ticks, (int)f->max_contacts);
		json_number("mean_force_N", mean_force_N(f, n));
		json_number("max_force_N", f->max_force_N);
		json_number("max_torque_Nm", f->max_torque_Nm);
		json_number("max_depth_m", f->max_depth_m);
		json_number("least_energy_J", f->least_energy_J);
		json_number("least_allowed_N_per_m", f->least_allowed_N_per_m);
		json_number("max_damping_N_s_per_m", f->most_damping_N_s_per_m);
		printf(", \"state\": \"%s\", \"derated_by\": \"%s\"", tac_servo_state_name(n->state),
		       tac_derate_reason_name(f->derated_by));
		printf(", \"derated_ticks\": %lld, \"faults\": %llu, \"unknowns\": %llu, \"spent_ticks\": "
		       "%llu, \"dropped\": "
		       "{\"proximity\": "
		       "%llu, \"surfaces\": %llu}, \"limits\": {",
		       (long long)f->derated_ticks, (unsigned long long)n->faults,
		       (unsigned long long)n->unknowns, (unsigned long long)n->spent_ticks,
		       (unsigned long long)n->dropped_ticks[TAC_SERVO_PROXIMITY],
		       (unsigned long long)n->dropped_ticks[TAC_SERVO_SURFACES]);
		for (int k = 0; k < TAC_LIMIT_REASON_COUNT; k++)
			printf("%s\"%s\": %llu", k ? ", " : "", tac_limit_reason_name((tac_limit_reason)k),
			       (unsigned long long)tac_servo_limit_count(se->servos[i], (tac_limit_reason)k));
		printf("}}");
	}
	printf("], \"switched_off\": %s,\n",
	       atomic_load_explicit(&r->switched_off, memory_order_relaxed) ? "true" : "false");
}

// ---- the run ----

static void drain_courses(runner *r, report_series *forces)
{
	course c;
	while (tac_ring_pop(r->courses, &c))
		report_series_add(forces, c.time_ns, c.values);
}

// One picture; false: the window has been closed.
static bool show_picture(runner *r, viewer *view)
{
	viewer_frame frame = {.stats = r->rig.stats, .device = r->session.devices[0]->info.name};
	for (int32_t i = 0; i < r->session.count; i++)
		frame.snapshots[i] = tac_servo_snapshot(r->session.servos[i], 1);
	frame.now_ns = tac_clock_now_ns();
	return viewer_show(view, &frame);
}

// Shows the run until it is over; everything slow happens here. `view` may be NULL.
static void follow(runner *r, report_series *forces, viewer *view)
{
	terminal t = {0};
	const int64_t begin_ns = tac_clock_now_ns();
	int64_t wait_ns;
	do {
		if (terminal_due(&t)) {
			rig_read(&r->rig);
			show_live(&t, r, (double)(tac_clock_now_ns() - begin_ns) / 1e9);
		}
		drain_courses(r, forces);
		if (view && !show_picture(r, view))
			view = NULL;
		// A picture waits for the display by itself.
		wait_ns = view ? 0 : (int64_t)fmin(terminal_wait_ms(&t), 200) * TAC_NS_PER_MS;
	} while (!rig_wait(&r->rig, wait_ns));
	drain_courses(r, forces);
	terminal_clear(&t);
}

static void enable(runner *r, bool on)
{
	for (int32_t i = 0; i < r->session.count; i++)
		tac_device_enable(r->session.devices[i], on);
}

// Switches the forces off when the loop hangs, which is of use to real devices alone. NULL: none.
static tac_watchdog *watch(runner *r)
{
	bool real = false;
	for (int32_t i = 0; i < r->session.count; i++)
		real |= !simulated(r->session.devices[i]);
	tac_watchdog *watchdog = NULL;
	if (real && r->rig.granted.grants[TAC_GRANT_POLICY].state == TAC_GRANT_GRANTED) {
		tac_watchdog_def def = tac_watchdog_def_default(r->rig.loop);
		def.on_stall = switch_off;
		def.user = r;
		tac_watchdog_create(&def, &watchdog);
	}
	return watchdog;
}

static bool run_loop(const settings *s, runner *r, report_series *forces, viewer *view)
{
	enable(r, true);
	bool good = rig_start(&r->rig);
	if (good) {
		tac_watchdog *watchdog = watch(r);
		if (!s->json && r->rig.entered_result >= TAC_OK)
			print_setup(s, r);
		follow(r, forces, view);
		good = rig_end(&r->rig);
		tac_watchdog_destroy(&watchdog);
	}
	enable(r, false);
	return good;
}

static void tell_summary(const settings *s, const runner *r)
{
	const rig *g = &r->rig;
	if (s->json) {
		printf("{\n");
		account_json_machine(&g->machine);
		account_json_setup(&g->granted);
		json_felt(s, r);
		account_json(g->stats, g->corrected);
		printf("}\n");
	} else {
		print_felt(r);
		account_print(&g->machine, g->stats, g->corrected);
	}
}

static bool write_report(const settings *s, runner *r, const report_series *forces)
{
	const session *se = &r->session;
	report *rep = &r->rig.report;
	rep->forces = forces;
	rep->device = &se->devices[0]->info;
	report_fact_add(rep, "scene", "%s, %lld triangles", se->scene->name, (long long)se->world->triangles);
	report_fact_add(rep, "loop", "%g Hz for %g s", s->rig.rate_Hz, s->rig.seconds);
	report_fact_add(rep, "mover", "%s", s->session.mover == TAC_SCO_REACTIVE ? "reactive" : "continuous");
	report_fact_add(rep, "collider", "%s (%s)", se->world->collider->name, se->world->collider->variant);
	for (int32_t i = 0; i < se->count; i++)
		report_fact_add(rep, se->scene->tools[i].name,
				"%s; force %.2f N at most, %d contacts at most", se->devices[i]->info.name,
				r->felt[i].max_force_N, (int)r->felt[i].max_contacts);
	return rig_report(&r->rig);
}

// A window that cannot be had is said, and the run goes on without it.
static viewer *open_viewer(const settings *s, const runner *r, int mouse_fd)
{
	const viewer_def def = {
		.world = r->session.world,
		.title = r->session.scene->name,
		.screenshot_path = s->picture_path,
		.period_ns = llround(1e9 / s->rig.rate_Hz),
		.width = (int)s->width,
		.height = (int)s->height,
		.mouse_fd = mouse_fd,
	};
	viewer *view;
	viewer_open(&def, &view);
	return view;
}

// The device `mouse` in a window is that window's: it reads what is dragged there. Changes the name of the
// device to that of the pipe, in `name`, and returns the end to write to; 0: another device.
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

// The session is open: runs it and tells how it was.
static bool run_session(const settings *s, runner *r, int mouse_fd)
{
	rig_def def = s->rig;
	def.tick = tick;
	def.user = r;
	viewer *view = s->view ? open_viewer(s, r, mouse_fd) : NULL;
	def.listen = view ? show_tick : NULL;
	def.listener = view;
	report_series *forces = calloc(1, sizeof *forces);
	bool good = rig_open(&def, &r->rig) && forces &&
		    tac_ring_create(COURSE_RECORDS, sizeof(course), &r->courses) == TAC_OK;
	if (good) {
		report_forces_init(forces);
		good = run_loop(s, r, forces, view);
	}
	if (good)
		tell_summary(s, r);
	good = good && write_report(s, r, forces);
	good = rig_close(&r->rig) && good; // before the viewer, which it tells the ticks
	good = viewer_close(&view) >= TAC_OK && good;
	tac_ring_destroy(&r->courses);
	free(forces);
	return good;
}

static int run(const settings *s)
{
	runner *r = calloc(1, sizeof *r);
	if (!r)
		return EXIT_FAILURE;
	session_def def = s->session;
	char mouse[48];
	const int mouse_fd = window_mouse(s, &def, mouse, sizeof mouse);
	int code = session_open(&def, "tactus run", false, &r->session);
	if (code == EXIT_SUCCESS && !run_session(s, r, mouse_fd))
		code = EXIT_FAILURE;
	if (!session_close(&r->session) && code == EXIT_SUCCESS)
		code = EXIT_FAILURE;
	free(r);
	return code;
}

static int dump_scene(const char *name)
{
	tac_scene *scene;
	const int code = session_scene(name, &scene);
	if (code != EXIT_SUCCESS)
		return code;
	const tac_result result = tac_scene_write(scene, stdout);
	tac_scene_destroy(&scene);
	return result < TAC_OK ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_run(int argc, char **argv)
{
	static const char *const movers[] = {"continuous", "reactive", NULL};
	settings s = {
		.session = {.mover = TAC_SCO_CONTINUOUS, .readers = 2},
		.rig = rig_def_default("tactus run", "tac-servo"),
		.width = 1280,
		.height = 800,
	};
	const option_def options[] = {
		{"scene", OPTION_OPTIONAL, &s.session.scene, 0, 0, NULL, "SCENE",
		 "sphere, stylus, peg, tooth, groove, assembly, hands; or a scene file (.yaml, "
		 "docs/scene.md); or a "
		 "mesh file (default sphere)"},
		{"device", OPTION_TEXT, &s.session.devices[0], 0, 0, NULL, "DEVICE",
		 "as `tactus devices` lists them, e.g. sim:falcon (default: what the scene says)"},
		{"device2", OPTION_TEXT, &s.session.devices[1], 0, 0, NULL, "DEVICE", "of the second tool"},
		{"firmware", OPTION_TEXT, &s.session.firmware, 0, 0, NULL, "FILE",
		 "of a Novint Falcon that was switched off (default: TACTUS_FALCON_FIRMWARE)"},
		{"collider", OPTION_TEXT, &s.session.collider, 0, 0, NULL, "NAME",
		 "the engine that checks the pose, and moves the reactive mover: wide (the default), "
		 "doptree, "
		 "classic, scd, chip, board (over USB, see tactus emulate)"},
		{"mover", OPTION_CHOICE, &s.session.mover, 0, 0, movers, NULL,
		 "proved motion that never penetrates, or place, ask and back off"},
		{"record", OPTION_TEXT, &s.session.record, 0, 0, NULL, "FILE",
		 "record the device; --device playback:FILE does it again"},
		RIG_OPTIONS(&s.rig),
		{"view", OPTION_FLAG, &s.view, 0, 0, NULL, NULL,
		 "show the scene in a window; ? there lists the keys"},
		{"picture", OPTION_TEXT, &s.picture_path, 0, 0, NULL, "FILE.png",
		 "with --view: write its last picture"},
		{"width", OPTION_INTEGER, &s.width, 160, 16384, NULL, "N", "of the window, pixels"},
		{"height", OPTION_INTEGER, &s.height, 120, 16384, NULL, "N", "of the window, pixels"},
		{"dump-scene", OPTION_TEXT, &s.dump, 0, 0, NULL, "SCENE",
		 "print the scene as YAML and leave"},
		{"json", OPTION_FLAG, &s.json, 0, 0, NULL, NULL, "print the summary as JSON"},
		{0},
	};
	const command_line line = {
		s.rig.command, "touch a scene: the haptic loop with a device, or a simulated one", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	if (s.dump)
		return dump_scene(s.dump);
	if (s.picture_path && !s.view) {
		fprintf(stderr, "tactus run: picture: expected --view with it, found none\n");
		return EXIT_BAD_INPUT;
	}
	s.session.seconds = s.rig.seconds;
	s.session.period_ns = llround(1e9 / s.rig.rate_Hz);
	s.session.budget_ns = llround(0.6e9 / s.rig.rate_Hz);
	return run(&s);
}
