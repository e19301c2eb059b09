#include "devices/sim.h"

#include "base/log.h"
#include "base/oscillator.h"
#include "rt/clock.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AXES         6   // 0 … 2 linear, 3 … 5 angular
#define SLIP_SAMPLES 16  // of an arc, at which the sign of its velocity is tested
#define SLIP_EVENTS  256 // most sticks and slips of an axis between two events; then it sticks

typedef struct axis {
	double x, v;
	double path, path_speed; // of the hand
} axis;

typedef struct command {
	int64_t time_ns; // when it begins to act
	tac_wrench wrench;
	double gripper_N;
} command;

typedef struct sim {
	tac_device base;
	tac_sim_def def; // its path is `path` below
	tac_oscillator linear, angular, fingers;
	int axes;
	axis axis[AXES];
	axis gripper;
	double preload[AXES];

	bool started;
	int64_t origin_ns; // the clock at time 0
	int64_t time_ns;
	uint32_t waypoint;     // the next one; def.waypoints: the path has ended
	int64_t lap_ns;        // when the present lap of the path began
	tac_sim_waypoint left; // the one that the hand has left

	command queue[TAC_SIM_COMMANDS]; // delayed writes, in their order
	uint32_t queue_first, queue_count;
	tac_wrench active;
	int64_t active_end_ns;
	double force[AXES];    // `active` on the axes
	double gripper_N;      // acts now
	double next_gripper_N; // of the next write

	tac_dvec3 measured, measured_rotation; // at the last read
	tac_dvec3 speed, rotation_speed;       // filtered
	tac_device_state state;
	tac_sim_truth truth;

	atomic_bool enabled;
	atomic_bool unplugged;
	tac_sim_waypoint path[];
} sim;

static sim *sim_of(tac_device *device)
{
	return (sim *)device;
}

static const sim *sim_of_const(const tac_device *device)
{
	return (const sim *)device;
}

// ---- one axis ----

// The fraction of the arc at which a motion in `direction` stops; 1 if it does not.
static double slip_end(const tac_oscillator_arc *arc, double direction)
{
	double before = 0;
	for (int i = 1; i <= SLIP_SAMPLES; i++) {
		double after = (double)i / SLIP_SAMPLES;
		if (tac_oscillator_arc_v(arc, after) * direction < 0) {
			if (tac_oscillator_arc_v(arc, before) * direction <= 0)
				return before; // it does not start
			for (int halving = 0; halving < 60; halving++) {
				double middle = 0.5 * (before + after);
				if (tac_oscillator_arc_v(arc, middle) * direction > 0)
					before = middle;
				else
					after = middle;
			}
			return after;
		}
		before = after;
	}
	return 1;
}

// The right-hand side of the equation without the spring's term at x.
static double pull_of(const axis *a, const tac_sim_hand *hand, double force)
{
	return hand->stiffness * a->path + hand->damping * a->path_speed + force;
}

// Moves the axis for `duration_s` under a constant force of motor and preload.
static void axis_advance(axis *a, const tac_oscillator *o, const tac_sim_hand *hand, double coulomb,
			 double force, double duration_s)
{
	const double reach_s = tac_oscillator_max_arc_s(o);
	const double pull_rate = hand->stiffness * a->path_speed;
	double left_s = duration_s;
	int events = 0;
	while (left_s > 0) {
		double direction = a->v > 0 ? 1 : -1;
		if (coulomb > 0 && a->v == 0) {
			const double net = pull_of(a, hand, force) - hand->stiffness * a->x;
			direction = net > 0 ? 1 : -1;
			double stick_s = 0;
			if (events++ >= SLIP_EVENTS) {
				stick_s = left_s;
			} else if (fabs(net) <= coulomb) {
				direction = pull_rate > 0 ? 1 : -1;
				stick_s = pull_rate == 0 ? left_s : (direction * coulomb - net) / pull_rate;
			}
			if (stick_s >= left_s) {
				a->path += a->path_speed * left_s;
				return;
			}
			a->path += a->path_speed * stick_s;
			left_s -= stick_s;
		}
		const double step_s = left_s < reach_s ? left_s : reach_s;
		tac_oscillator_arc arc;
		tac_oscillator_arc_init(&arc, o, a->x, a->v, pull_of(a, hand, force) - coulomb * direction,
					pull_rate, step_s);
		const double s = coulomb > 0 ? slip_end(&arc, direction) : 1;
		a->x = tac_oscillator_arc_x(&arc, s);
		a->v = s < 1 ? 0 : tac_oscillator_arc_v(&arc, 1);
		a->path += a->path_speed * s * step_s;
		left_s = s == 1 && step_s == left_s ? 0 : left_s - s * step_s;
	}
}

// ---- rotation ----

// The left Jacobian J of the rotation vector: w = J r'.
static tac_dmat3 rotation_jacobian(tac_dvec3 r)
{
	const double angle = tac_dvec3_length(r);
	double a = 0.5, b = 1.0 / 6; // (1 - cos) / angle^2 and (angle - sin) / angle^3
	if (angle > 1e-4) {          // below, the next terms of the series are less than 1e-9 of these
		a = (1 - cos(angle)) / (angle * angle);
		b = (angle - sin(angle)) / (angle * angle * angle);
	}
	const tac_dmat3 skew = tac_dmat3_skew(r);
	return tac_dmat3_add(
		tac_dmat3_identity(),
		tac_dmat3_add(tac_dmat3_scale(skew, a), tac_dmat3_scale(tac_dmat3_mul(skew, skew), b)));
}

static tac_dvec3 axes_x(const axis *a)
{
	return tac_dvec3_make(a[0].x, a[1].x, a[2].x);
}

static tac_dvec3 axes_v(const axis *a)
{
	return tac_dvec3_make(a[0].v, a[1].v, a[2].v);
}

// ---- time ----

static void activate(sim *s, const tac_wrench *wrench, double gripper_N)
{
	s->active = *wrench;
	s->gripper_N = gripper_N;
	tac_dvec3_store(s->force, wrench->force_N);
	if (s->axes == AXES) // constant until the next command, as a motor's current
		tac_dvec3_store(
			s->force + 3,
			tac_dmat3_transpose_apply(rotation_jacobian(axes_x(s->axis + 3)), wrench->torque_Nm));
}

static int64_t next_waypoint_ns(const sim *s)
{
	return s->waypoint < s->def.waypoints ? s->lap_ns + s->path[s->waypoint].time_ns : INT64_MAX;
}

// Sets position and velocity of the hand at the waypoint s->left.
static void follow_path(sim *s)
{
	const tac_sim_waypoint *at = &s->left;
	const tac_sim_waypoint *to = s->waypoint < s->def.waypoints ? &s->path[s->waypoint] : NULL;
	const double inverse_s = to ? 1e9 / (double)(next_waypoint_ns(s) - at->time_ns) : 0;
	for (int i = 0; i < s->axes; i++) {
		double from =
			i < 3 ? tac_dvec3_get(at->position_m, i) : tac_dvec3_get(at->rotation_rad, i - 3);
		double end = from;
		if (to)
			end = i < 3 ? tac_dvec3_get(to->position_m, i)
				    : tac_dvec3_get(to->rotation_rad, i - 3);
		s->axis[i].path = from;
		s->axis[i].path_speed = (end - from) * inverse_s;
	}
	s->gripper.path = at->gripper_m;
	s->gripper.path_speed = to ? (to->gripper_m - at->gripper_m) * inverse_s : 0;
	s->state.buttons = at->buttons;
}

// The hand has reached the next waypoint.
static void pass_waypoint(sim *s)
{
	const int64_t time_ns = next_waypoint_ns(s);
	s->left = s->path[s->waypoint++];
	s->left.time_ns = time_ns;
	const int64_t length_ns = s->path[s->def.waypoints - 1].time_ns;
	if (s->waypoint == s->def.waypoints && s->def.repeat && length_ns > 0) {
		s->lap_ns += length_ns;
		s->waypoint = s->path[0].time_ns == 0; // a first waypoint at 0 coincides with the last
	}
	follow_path(s);
}

// Handles the events at time_ns, before time advances.
static void handle_events(sim *s)
{
	while (next_waypoint_ns(s) <= s->time_ns)
		pass_waypoint(s);
	while (s->queue_count > 0 && s->queue[s->queue_first].time_ns <= s->time_ns) {
		const command *c = &s->queue[s->queue_first];
		activate(s, &c->wrench, c->gripper_N);
		s->active_end_ns = s->def.hold_ns > 0 ? c->time_ns + s->def.hold_ns : INT64_MAX;
		s->queue_first = (s->queue_first + 1) % TAC_SIM_COMMANDS;
		s->queue_count--;
	}
	const bool off = !atomic_load_explicit(&s->enabled, memory_order_relaxed) ||
			 atomic_load_explicit(&s->unplugged, memory_order_relaxed);
	if (off || s->active_end_ns <= s->time_ns) {
		const tac_wrench none = tac_wrench_zero();
		activate(s, &none, 0);
		s->active_end_ns = INT64_MAX;
	}
}

static void advance_to(sim *s, int64_t target_ns)
{
	while (s->time_ns < target_ns) {
		handle_events(s);
		int64_t next_ns = target_ns;
		if (s->queue_count > 0 && s->queue[s->queue_first].time_ns < next_ns)
			next_ns = s->queue[s->queue_first].time_ns;
		if (next_waypoint_ns(s) < next_ns)
			next_ns = next_waypoint_ns(s);
		if (s->active_end_ns < next_ns)
			next_ns = s->active_end_ns;
		const double duration_s = (double)(next_ns - s->time_ns) / 1e9;
		for (int i = 0; i < s->axes; i++) {
			const bool linear = i < 3;
			axis *a = &s->axis[i];
			const double before = a->x;
			axis_advance(a, linear ? &s->linear : &s->angular,
				     linear ? &s->def.hand : &s->def.hand_angular,
				     linear ? s->def.linear.coulomb : s->def.angular.coulomb,
				     s->force[i] + s->preload[i], duration_s);
			s->truth.absorbed_J -= s->force[i] * (a->x - before);
		}
		if (s->def.gripper.mass > 0) {
			const double before = s->gripper.x;
			axis_advance(&s->gripper, &s->fingers, &s->def.fingers, s->def.gripper.coulomb,
				     s->gripper_N, duration_s);
			s->truth.absorbed_J -= s->gripper_N * (s->gripper.x - before);
		}
		s->time_ns = next_ns;
	}
	handle_events(s);
}

// ---- the device's functions ----

static double quantise(double x, double resolution)
{
	return resolution > 0 ? resolution * floor(x / resolution + 0.5) : x;
}

static tac_dvec3 quantise_all(tac_dvec3 x, double resolution)
{
	return tac_dvec3_make(quantise(x.x, resolution), quantise(x.y, resolution),
			      quantise(x.z, resolution));
}

static double filter_gripper(const sim *s, double now, double elapsed_s)
{
	const double pole = s->def.velocity_pole;
	return pole * s->state.gripper_m_per_s + (1 - pole) * (now - s->state.gripper_m) / elapsed_s;
}

static tac_dvec3 filter(const sim *s, tac_dvec3 speed, tac_dvec3 now, tac_dvec3 before, double elapsed_s)
{
	const double pole = s->def.velocity_pole;
	tac_dvec3 difference = tac_dvec3_div(tac_dvec3_sub(now, before), elapsed_s);
	return tac_dvec3_add_scaled(tac_dvec3_scale(speed, pole), 1 - pole, difference);
}

static void measure(sim *s, int64_t since_ns)
{
	tac_dvec3 position = quantise_all(axes_x(s->axis), s->def.linear.resolution);
	tac_dvec3 rotation = quantise_all(axes_x(s->axis + 3), s->def.angular.resolution);
	const double gripper_m = fmax(0, quantise(s->gripper.x, s->def.gripper.resolution));
	if (since_ns > 0) {
		const double elapsed_s = (double)since_ns / 1e9;
		s->speed = filter(s, s->speed, position, s->measured, elapsed_s);
		s->rotation_speed = filter(s, s->rotation_speed, rotation, s->measured_rotation, elapsed_s);
		s->state.gripper_m_per_s = filter_gripper(s, gripper_m, elapsed_s);
	}
	s->state.gripper_m = gripper_m;
	s->measured = position;
	s->measured_rotation = rotation;
	s->state.T_base_tool = tac_dpose_make(position, tac_dquat_exp(rotation));
	s->state.velocity_m_per_s = s->speed;
	s->state.angular_velocity_rad_per_s = tac_dmat3_apply(rotation_jacobian(rotation), s->rotation_speed);
}

static tac_device_status sim_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	sim *s = sim_of(device);
	if (atomic_load_explicit(&s->unplugged, memory_order_relaxed)) {
		s->state.velocity_m_per_s = tac_dvec3_zero();
		s->state.angular_velocity_rad_per_s = tac_dvec3_zero();
		s->state.gripper_m_per_s = 0;
		*out_state = s->state;
		return TAC_DEVICE_LOST;
	}
	const bool first = !s->started;
	if (first) {
		s->started = true;
		s->origin_ns = now_ns;
	}
	const int64_t since_ns = now_ns - s->origin_ns - s->time_ns;
	if (since_ns > TAC_SIM_GAP_MAX_NS) {
		// The program was stalled, and the simulation with it.
		s->origin_ns += since_ns - TAC_SIM_GAP_MAX_NS;
		s->truth.skipped_ns += (uint64_t)(since_ns - TAC_SIM_GAP_MAX_NS);
	}
	const bool fresh = first || since_ns > 0;
	if (fresh) {
		const int64_t before_ns = s->time_ns;
		advance_to(s, now_ns - s->origin_ns);
		measure(s, s->time_ns - before_ns);
		s->state.time_ns = now_ns;
	}
	*out_state = s->state;
	return fresh ? TAC_DEVICE_OK : TAC_DEVICE_STALE;
}

static tac_device_status sim_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	sim *s = sim_of(device);
	if (atomic_load_explicit(&s->unplugged, memory_order_relaxed))
		return TAC_DEVICE_LOST;
	if (!atomic_load_explicit(&s->enabled, memory_order_relaxed))
		return TAC_DEVICE_DISABLED;
	if (!s->started)
		return TAC_DEVICE_STALE; // time starts with the first read
	command c = {.wrench = *wrench};
	s->truth.saturated += tac_wrench_saturate(&c.wrench, s->def.max_force_N, s->def.max_torque_Nm);
	c.gripper_N = tac_gripper_saturate(s->next_gripper_N, s->base.info.max_gripper_N);
	c.time_ns = now_ns - s->origin_ns + s->def.delay_ns;
	if (s->queue_count == TAC_SIM_COMMANDS)
		s->truth.dropped++;
	else
		s->queue_count++;
	s->queue[(s->queue_first + s->queue_count - 1) % TAC_SIM_COMMANDS] = c;
	return TAC_DEVICE_OK;
}

static void sim_set_gripper(tac_device *device, double force_N)
{
	sim_of(device)->next_gripper_N = force_N;
}

static void sim_enable(tac_device *device, bool on)
{
	atomic_store_explicit(&sim_of(device)->enabled, on, memory_order_relaxed);
}

static void sim_destroy(tac_device *device)
{
	free(device);
}

// ---- set-up ----

static bool mechanics_valid(const tac_device_mechanics *m, const tac_sim_hand *h)
{
	return m->mass > 0 && isfinite(m->mass + m->damping + m->coulomb + m->resolution) &&
	       m->damping >= 0 && m->coulomb >= 0 && m->resolution >= 0 && h->mass >= 0 && h->damping >= 0 &&
	       h->stiffness >= 0 && isfinite(h->mass + h->damping + h->stiffness);
}

// What `def` is expected to have and has not; NULL if it is valid.
static const char *def_fault(const tac_sim_def *def)
{
	if (!mechanics_valid(&def->linear, &def->hand))
		return "a mass above 0 and damping, friction, resolution and hand of 0 or more";
	if (def->angular.mass != 0 && !mechanics_valid(&def->angular, &def->hand_angular))
		return "an inertia above 0, or 0 for no rotation, and angular values of 0 or more";
	if (def->gripper.mass != 0 && !mechanics_valid(&def->gripper, &def->fingers))
		return "a mass of the gripper above 0, or 0 for none, and its values of 0 or more";
	if (!(def->gripper_max_m >= 0 && def->max_gripper_N >= 0))
		return "a gripper with an opening and a force of 0 or more";
	if (!(def->max_force_N >= 0 && def->max_torque_Nm >= 0))
		return "a maximum force and torque of 0 or more";
	if (def->delay_ns < 0 || def->delay_ns > TAC_SIM_DELAY_MAX_NS || def->hold_ns < 0)
		return "a delay from 0 to 1 s and a hold of 0 or more";
	if (!(def->velocity_pole >= 0 && def->velocity_pole < 1))
		return "a velocity pole from 0 to below 1";
	if (!tac_dvec3_finite(def->start_m) || !tac_dvec3_finite(def->start_m_per_s) ||
	    !tac_dvec3_finite(def->preload_N))
		return "a finite start and preload";
	for (uint32_t i = 0; i < def->waypoints; i++) {
		const tac_sim_waypoint *w = &def->path[i];
		if (!tac_dvec3_finite(w->position_m) || !isfinite(w->gripper_m) ||
		    !(tac_dvec3_length(w->rotation_rad) <= TAC_SIM_TURN_MAX_RAD))
			return "finite waypoints with rotation vectors of at most 3 rad";
		if (w->time_ns < 0 || (i > 0 && w->time_ns <= w[-1].time_ns))
			return "waypoints in ascending order of time, from 0 on";
	}
	return NULL;
}

static tac_device_info describe(const tac_sim_def *def)
{
	const bool turns = def->angular.mass > 0, grips = def->gripper.mass > 0;
	tac_device_info info = {
		.position_axes = 3,
		.rotation_axes = turns ? 3 : 0,
		.force_axes = 3,
		.torque_axes = turns && def->max_torque_Nm > 0 ? 3 : 0,
		.buttons = 32,
		.max_force_N = def->max_force_N,
		.max_torque_Nm = turns ? def->max_torque_Nm : 0,
		.max_stiffness_N_per_m = def->max_stiffness_N_per_m,
		.max_damping_N_s_per_m = def->max_damping_N_s_per_m,
		.gripper_max_m = grips ? def->gripper_max_m : 0,
		.max_gripper_N = grips ? def->max_gripper_N : 0,
		.workspace_min_m = tac_dvec3_splat(-0.5 * def->workspace_m),
		.workspace_max_m = tac_dvec3_splat(0.5 * def->workspace_m),
		.linear = def->linear,
		.gripper = def->gripper,
		.angular = def->angular,
		.period_ns = def->period_ns,
		.delay_ns = def->delay_ns,
		.hold_ns = def->hold_ns,
	};
	snprintf(info.name, sizeof info.name, "sim:%s", def->name ? def->name : "custom");
	return info;
}

tac_result tac_sim_create(const tac_sim_def *def, tac_device **out_device)
{
	*out_device = NULL;
	const char *fault = def_fault(def);
	if (fault) {
		tac_log(TAC_LOG_ERROR, "sim: expected %s", fault);
		return TAC_ERROR_ARGUMENT;
	}
	const uint32_t points = def->waypoints > 0 ? def->waypoints : 1;
	sim *s = calloc(1, sizeof *s + points * sizeof s->path[0]);
	if (!s) {
		tac_log(TAC_LOG_ERROR, "sim: expected %zu bytes, found no memory",
			sizeof *s + points * sizeof s->path[0]);
		return TAC_ERROR_MEMORY;
	}
	s->base = (tac_device){describe(def), sim_read, sim_write, sim_enable, sim_destroy, sim_set_gripper};
	s->def = *def;
	s->def.name = NULL;
	s->def.path = NULL;
	s->def.waypoints = points;
	if (def->waypoints > 0)
		memcpy(s->path, def->path, points * sizeof s->path[0]);
	else
		s->path[0].position_m = def->start_m;
	s->axes = def->angular.mass > 0 ? AXES : 3;
	if (s->axes < AXES)
		s->def.max_torque_Nm = 0;
	s->linear = (tac_oscillator){def->linear.mass + def->hand.mass,
				     def->linear.damping + def->hand.damping, def->hand.stiffness};
	s->angular = (tac_oscillator){def->angular.mass + def->hand_angular.mass,
				      def->angular.damping + def->hand_angular.damping,
				      def->hand_angular.stiffness};
	s->fingers = (tac_oscillator){def->gripper.mass + def->fingers.mass,
				      def->gripper.damping + def->fingers.damping, def->fingers.stiffness};
	s->gripper.x = s->path[0].gripper_m;
	for (int i = 0; i < 3; i++) {
		s->axis[i].x = tac_dvec3_get(def->start_m, i);
		s->axis[i].v = tac_dvec3_get(def->start_m_per_s, i);
		if (s->axes == AXES)
			s->axis[i + 3].x = tac_dvec3_get(s->path[0].rotation_rad, i);
	}
	tac_dvec3_store(s->preload, def->preload_N);
	s->active_end_ns = INT64_MAX;
	// The hand waits at its first waypoint until that is due.
	s->left = s->path[0];
	s->waypoint = 1;
	follow_path(s);
	if (s->path[0].time_ns > 0) {
		s->waypoint = 0;
		for (int i = 0; i < s->axes; i++)
			s->axis[i].path_speed = 0;
		s->gripper.path_speed = 0;
		s->state.buttons = 0;
	}
	*out_device = &s->base;
	return TAC_OK;
}

tac_sim_truth tac_sim_read_truth(const tac_device *device)
{
	const sim *s = sim_of_const(device);
	tac_sim_truth truth = s->truth;
	truth.position_m = axes_x(s->axis);
	truth.velocity_m_per_s = axes_v(s->axis);
	truth.rotation_rad = axes_x(s->axis + 3);
	truth.rotation_rate_rad_per_s = axes_v(s->axis + 3);
	truth.applied = s->active;
	truth.gripper_m = s->gripper.x;
	truth.gripper_N = s->gripper_N;
	return truth;
}

void tac_sim_unplug(tac_device *device)
{
	atomic_store_explicit(&sim_of(device)->unplugged, true, memory_order_relaxed);
}
