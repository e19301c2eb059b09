#include "haptic/limit.h"

#include "base/log.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

struct tac_limit {
	tac_limit_def def;
	bool started;
	int64_t time_ns;  // of the last step
	int64_t fresh_ns; // of the last fresh sample
	double gain;
	bool too_fast;
	tac_wrench sent;
	double sent_gripper_N;
	_Atomic double ceiling; // of the gain; only ever lowered
	atomic_bool stopped;
	_Atomic uint32_t stops; // counted, so that a stop that is reset before the next step still cuts
	uint32_t stops_seen;
	_Atomic uint64_t counts[TAC_LIMIT_REASON_COUNT]; // one writer
};

tac_limit_def tac_limit_def_default(const tac_device_info *info)
{
	tac_limit_def def = {
		.max_force_N = info->max_force_N,
		.max_torque_Nm = info->max_torque_Nm,
		.max_gripper_N = info->max_gripper_N,
		.max_speed_m_per_s = 2,
		.max_turn_rad_per_s = 30,
		.engage_s = 0.5,
		.release_s = 0.05,
		.deadman_button = TAC_LIMIT_NO_BUTTON,
		.stall_ns = 10000000,
		.stale_ns = 5000000,
	};
	tac_limit_def_set_slew(&def, info);
	return def;
}

void tac_limit_def_set_slew(tac_limit_def *def, const tac_device_info *info)
{
	const double full_s = info->full_force_s > 0 ? info->full_force_s : TAC_DEVICE_FULL_FORCE_S;
	// The rates must be above 0 even for a device without force or torque.
	def->force_slew_N_per_s = fmax(def->max_force_N, 0.1) / full_s;
	def->torque_slew_Nm_per_s = fmax(def->max_torque_Nm, 0.01) / full_s;
	def->gripper_slew_N_per_s = def->max_gripper_N / full_s;
}

// The first condition that `def` violates, for a message; NULL: it is valid.
static const char *unmet_condition(const tac_limit_def *def)
{
	const double positive[] = {def->force_slew_N_per_s, def->torque_slew_Nm_per_s,
				   def->max_speed_m_per_s,  def->max_turn_rad_per_s,
				   def->engage_s,           def->release_s};
	for (size_t i = 0; i < sizeof positive / sizeof *positive; i++) {
		if (!(positive[i] > 0 && isfinite(positive[i])))
			return "finite slew rates, speeds and ramp times above 0";
	}
	if (!(def->max_force_N >= 0 && isfinite(def->max_force_N) && def->max_torque_Nm >= 0 &&
	      isfinite(def->max_torque_Nm)))
		return "a finite maximal force and torque of 0 or more";
	if (!(def->max_gripper_N >= 0 && isfinite(def->max_gripper_N) && def->gripper_slew_N_per_s >= 0 &&
	      isfinite(def->gripper_slew_N_per_s)))
		return "a finite maximal force and slew rate of the gripper of 0 or more";
	if (def->deadman_button < TAC_LIMIT_NO_BUTTON || def->deadman_button > 31)
		return "a button from 0 to 31, or none";
	if (def->stall_ns <= 0 || def->stale_ns < 0)
		return "a stall time above 0 and a stale time of 0 or more";
	return NULL;
}

tac_result tac_limit_create(const tac_limit_def *def, tac_limit **out_limit)
{
	*out_limit = NULL;
	const char *expected = unmet_condition(def);
	if (expected) {
		tac_log(TAC_LOG_ERROR, "limit: expected %s", expected);
		return TAC_ERROR_ARGUMENT;
	}
	tac_limit *limit = calloc(1, sizeof *limit);
	if (!limit) {
		tac_log(TAC_LOG_ERROR, "limit: expected %zu bytes, found no memory", sizeof *limit);
		return TAC_ERROR_MEMORY;
	}
	limit->def = *def;
	atomic_init(&limit->ceiling, 1);
	*out_limit = limit;
	return TAC_OK;
}

void tac_limit_destroy(tac_limit **limit)
{
	free(*limit);
	*limit = NULL;
}

static void note(uint32_t *reasons, tac_limit_reason reason, bool applies)
{
	if (applies)
		*reasons |= 1u << reason;
}

// Nanoseconds from `before` to `after`; INT64_MAX on overflow.
static int64_t elapsed(int64_t before, int64_t after)
{
	int64_t result;
	return __builtin_sub_overflow(after, before, &result) ? INT64_MAX : result;
}

// `v` scaled down to a length of at most `max_length`, rounding included.
static tac_dvec3 clamp_length(tac_dvec3 v, double max_length)
{
	if (tac_dvec3_length(v) <= max_length)
		return v;
	tac_dvec3 cut = tac_dvec3_scale(tac_dvec3_normalize(v), max_length);
	if (tac_dvec3_length(cut) > max_length)
		cut = tac_dvec3_scale(cut, 1 - 8 * DBL_EPSILON);
	// Where `max_length` is near DBL_MIN the product may round by more.
	return tac_dvec3_length(cut) <= max_length ? cut : tac_dvec3_zero();
}

// `sent` moved towards `wanted` by at most `step`. Both lie in the ball of radius `max_length`; the last
// clamp takes back what rounding adds.
static tac_dvec3 approach(tac_dvec3 sent, tac_dvec3 wanted, double step, double max_length, bool *out_limited)
{
	const tac_dvec3 change = tac_dvec3_sub(wanted, sent);
	*out_limited = tac_dvec3_length(change) > step;
	if (*out_limited)
		wanted = tac_dvec3_add(sent, clamp_length(change, step));
	return clamp_length(wanted, max_length);
}

// The time since the last step, s. A stall sets the gain to 0.
static double step_time(tac_limit *limit, int64_t now_ns, uint32_t *reasons)
{
	const int64_t since_ns = limit->started ? elapsed(limit->time_ns, now_ns) : 0;
	const bool stalled = since_ns < 0 || since_ns > limit->def.stall_ns;
	note(reasons, TAC_LIMIT_STALL, stalled);
	if (!limit->started || stalled) {
		limit->gain = 0;
		limit->fresh_ns = now_ns;
	}
	limit->started = true;
	limit->time_ns = now_ns;
	// After a stall the force that was held falls by the slew of one stall time.
	return (double)(stalled ? limit->def.stall_ns : since_ns) / 1e9;
}

// Whether nothing is wrong with device, hand and collider.
static bool healthy(tac_limit *limit, const tac_limit_input *input, uint32_t *reasons)
{
	const tac_limit_def *def = &limit->def;
	const tac_device_status status = input->status;
	if (status == TAC_DEVICE_OK)
		limit->fresh_ns = input->now_ns;
	const bool lost = status != TAC_DEVICE_OK && status != TAC_DEVICE_STALE;
	const bool stale = !lost && elapsed(limit->fresh_ns, input->now_ns) > def->stale_ns;

	// A NaN counts as too fast.
	const double speed = tac_dvec3_length(input->state.velocity_m_per_s);
	const double turn = tac_dvec3_length(input->state.angular_velocity_rad_per_s);
	if (!(speed <= def->max_speed_m_per_s && turn <= def->max_turn_rad_per_s))
		limit->too_fast = true;
	else if (speed < 0.5 * def->max_speed_m_per_s && turn < 0.5 * def->max_turn_rad_per_s)
		limit->too_fast = false;

	const bool released = def->deadman_button != TAC_LIMIT_NO_BUTTON &&
			      !(input->state.buttons >> def->deadman_button & 1u);
	note(reasons, TAC_LIMIT_LOST, lost);
	note(reasons, TAC_LIMIT_STALE, stale);
	note(reasons, TAC_LIMIT_SPEED, limit->too_fast);
	note(reasons, TAC_LIMIT_NOT_FINITE, !isfinite(speed) || !isfinite(turn));
	note(reasons, TAC_LIMIT_DEADMAN, released);
	note(reasons, TAC_LIMIT_UNKNOWN, input->unknown);
	if (lost)
		limit->gain = 0;
	return !(lost || stale || limit->too_fast || released || input->unknown);
}

static bool wrench_zero(const tac_wrench *wrench)
{
	return tac_dvec3_length(wrench->force_N) == 0 && tac_dvec3_length(wrench->torque_Nm) == 0;
}

// The gripper's force, one axis, through gain, magnitude and slew.
static void step_gripper(tac_limit *limit, double wanted_N, double dt_s, bool stopped, uint32_t *reasons)
{
	const tac_limit_def *def = &limit->def;
	const double scaled_N = wanted_N * limit->gain;
	const double cut_N = tac_gripper_saturate(scaled_N, def->max_gripper_N);
	const double step_N = def->gripper_slew_N_per_s * dt_s;
	const double change_N = tac_gripper_saturate(cut_N - limit->sent_gripper_N, step_N);
	const double sent_N = tac_gripper_saturate(limit->sent_gripper_N + change_N, def->max_gripper_N);
	note(reasons, TAC_LIMIT_GRIPPER,
	     def->max_gripper_N > 0 && !stopped &&
		     (cut_N != scaled_N || change_N != cut_N - limit->sent_gripper_N));
	limit->sent_gripper_N = stopped ? 0 : sent_N;
}

tac_limit_output tac_limit_step(tac_limit *limit, const tac_limit_input *input)
{
	const tac_limit_def *def = &limit->def;
	uint32_t reasons = 0;
	const double dt_s = step_time(limit, input->now_ns, &reasons);
	const bool stalled = reasons != 0;

	tac_wrench wanted = input->wrench;
	const bool finite = tac_dvec3_finite(wanted.force_N) && tac_dvec3_finite(wanted.torque_Nm) &&
			    isfinite(input->gripper_N);
	const double gripper_N = finite ? input->gripper_N : 0;
	note(&reasons, TAC_LIMIT_NOT_FINITE, !finite);
	if (!finite)
		wanted = tac_wrench_zero();

	const uint32_t stops = atomic_load_explicit(&limit->stops, memory_order_acquire);
	const bool stopped =
		atomic_load_explicit(&limit->stopped, memory_order_acquire) || stops != limit->stops_seen;
	limit->stops_seen = stops;
	note(&reasons, TAC_LIMIT_STOPPED, stopped);
	const double ceiling = atomic_load_explicit(&limit->ceiling, memory_order_relaxed);
	if (!healthy(limit, input, &reasons) || stopped) {
		limit->gain = stopped ? 0 : fmax(0, limit->gain - dt_s / def->release_s);
	} else if (finite && !input->in_contact && gripper_N == 0 && wrench_zero(&wanted)) {
		limit->gain = ceiling; // there is no force that could jump
	} else if (limit->gain < ceiling) {
		if (!stalled) // a stall time must not raise the gain
			limit->gain = fmin(ceiling, limit->gain + dt_s / def->engage_s);
		note(&reasons, TAC_LIMIT_ENGAGE, limit->gain < ceiling);
	} else if (limit->gain > ceiling) {
		limit->gain = fmax(ceiling, limit->gain - dt_s / def->release_s);
	}

	wanted.force_N = tac_dvec3_scale(wanted.force_N, limit->gain);
	wanted.torque_Nm = tac_dvec3_scale(wanted.torque_Nm, limit->gain);
	note(&reasons, TAC_LIMIT_FORCE, tac_dvec3_length(wanted.force_N) > def->max_force_N);
	note(&reasons, TAC_LIMIT_TORQUE, tac_dvec3_length(wanted.torque_Nm) > def->max_torque_Nm);
	wanted.force_N = clamp_length(wanted.force_N, def->max_force_N);
	wanted.torque_Nm = clamp_length(wanted.torque_Nm, def->max_torque_Nm);

	bool force_slewed, torque_slewed;
	limit->sent.force_N = approach(limit->sent.force_N, wanted.force_N, def->force_slew_N_per_s * dt_s,
				       def->max_force_N, &force_slewed);
	limit->sent.torque_Nm =
		approach(limit->sent.torque_Nm, wanted.torque_Nm, def->torque_slew_Nm_per_s * dt_s,
			 def->max_torque_Nm, &torque_slewed);
	step_gripper(limit, gripper_N, dt_s, stopped, &reasons);
	if (stopped) {
		limit->sent = tac_wrench_zero();
	} else {
		note(&reasons, TAC_LIMIT_FORCE_SLEW, force_slewed);
		note(&reasons, TAC_LIMIT_TORQUE_SLEW, torque_slewed);
	}

	for (int i = 0; i < TAC_LIMIT_REASON_COUNT; i++) {
		if (reasons >> i & 1u) {
			const uint64_t count = atomic_load_explicit(&limit->counts[i], memory_order_relaxed);
			atomic_store_explicit(&limit->counts[i], count + 1, memory_order_relaxed);
		}
	}
	return (tac_limit_output){limit->sent, reasons, limit->gain, limit->sent_gripper_N};
}

double tac_limit_next_gain(const tac_limit *limit, double elapsed_s, double *out_goal)
{
	*out_goal = fmax(atomic_load_explicit(&limit->ceiling, memory_order_relaxed), limit->gain);
	return fmin(limit->gain + elapsed_s / limit->def.engage_s, *out_goal);
}

void tac_limit_stop(tac_limit *limit)
{
	atomic_store_explicit(&limit->stopped, true, memory_order_release);
	atomic_fetch_add_explicit(&limit->stops, 1, memory_order_release);
}

void tac_limit_lower_gain(tac_limit *limit, double gain)
{
	double ceiling = atomic_load_explicit(&limit->ceiling, memory_order_relaxed);
	// A NaN is not below anything. The exchange fails only where another thread has lowered it as well.
	while (gain < ceiling &&
	       !atomic_compare_exchange_weak_explicit(&limit->ceiling, &ceiling, fmax(gain, 0),
						      memory_order_relaxed, memory_order_relaxed))
		;
}

void tac_limit_reset(tac_limit *limit)
{
	atomic_store_explicit(&limit->stopped, false, memory_order_release);
}

uint64_t tac_limit_count(const tac_limit *limit, tac_limit_reason reason)
{
	return atomic_load_explicit(&limit->counts[reason], memory_order_relaxed);
}

const char *tac_limit_reason_name(tac_limit_reason reason)
{
	static const char *const names[TAC_LIMIT_REASON_COUNT] = {
		[TAC_LIMIT_NOT_FINITE] = "not finite",
		[TAC_LIMIT_FORCE] = "force",
		[TAC_LIMIT_TORQUE] = "torque",
		[TAC_LIMIT_FORCE_SLEW] = "force slew",
		[TAC_LIMIT_TORQUE_SLEW] = "torque slew",
		[TAC_LIMIT_SPEED] = "speed",
		[TAC_LIMIT_ENGAGE] = "engage",
		[TAC_LIMIT_DEADMAN] = "dead man",
		[TAC_LIMIT_STALL] = "stall",
		[TAC_LIMIT_UNKNOWN] = "unknown",
		[TAC_LIMIT_STALE] = "stale",
		[TAC_LIMIT_LOST] = "lost",
		[TAC_LIMIT_GRIPPER] = "gripper",
		[TAC_LIMIT_STOPPED] = "stopped",
	};
	return reason >= 0 && reason < TAC_LIMIT_REASON_COUNT ? names[reason] : "unknown reason";
}
