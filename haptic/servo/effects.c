#include "haptic/servo/effects.h"

#include "base/log.h"
#include "haptic/servo/servo_state.h"
#include "rt/clock.h"

#include <math.h>
#include <string.h>

// Springs of effects take at most this share of the allowed stiffness; contacts have the rest.
#define SPRING_SHARE 0.5
// Dampers of effects have at most this times the mass over the lateness. Up to there damping only raises the
// critical stiffness (tests/haptic/test_effects.c), so the limit without it stays valid.
#define DAMPER_SHARE 0.4
// The scales rise by this much in a second, as the allowed stiffness does; they fall at once.
#define RISE_PER_S 0.5

// ---- the application's side ----

static tac_result publish(tac_servo *servo)
{
	tac_latest_write(servo->effects.latest, &servo->effects.written);
	return TAC_OK;
}

// Changes of a live world are recorded with its other commands.
static bool may_write(const tac_servo *servo, int32_t index)
{
	if (servo->def.live) {
		tac_log(TAC_LOG_ERROR, "effect: expected a command of the live world (haptic/live.h), found "
				       "one of the servo");
		return false;
	}
	if (index >= 0 && index < TAC_EFFECT_COUNT)
		return true;
	tac_log(TAC_LOG_ERROR, "effect: expected an index from 0 to %d, found %d", TAC_EFFECT_COUNT - 1,
		(int)index);
	return false;
}

tac_result tac_servo_set_effect(tac_servo *servo, int32_t index, const tac_effect *effect)
{
	if (!may_write(servo, index) || tac_effect_check(effect) < TAC_OK)
		return TAC_ERROR_ARGUMENT;
	tac_effect_set *set = &servo->effects.written;
	set->switched_on[index] += effect->enabled && !set->effects[index].enabled;
	set->effects[index] = *effect;
	return publish(servo);
}

tac_result tac_servo_switch_effect(tac_servo *servo, int32_t index, bool on)
{
	if (!may_write(servo, index))
		return TAC_ERROR_ARGUMENT;
	tac_effect_set *set = &servo->effects.written;
	if (set->effects[index].name[0] == 0) {
		tac_log(TAC_LOG_ERROR, "effect: expected the index of an effect, found %d, which is empty",
			(int)index);
		return TAC_ERROR_ARGUMENT;
	}
	set->effects[index].enabled = on;
	set->switched_on[index] += on;
	return publish(servo);
}

const tac_effect *tac_servo_effect(const tac_servo *servo, int32_t index)
{
	return index >= 0 && index < TAC_EFFECT_COUNT && servo->effects.written.effects[index].name[0]
		       ? &servo->effects.written.effects[index]
		       : NULL;
}

int32_t tac_servo_find_effect(const tac_servo *servo, const char *name)
{
	for (int32_t i = 0; i < TAC_EFFECT_COUNT; i++) {
		if (*name && strcmp(servo->effects.written.effects[i].name, name) == 0)
			return i;
	}
	return -1;
}

// ---- set-up ----

tac_result tac_servo_init_effects(tac_servo *servo)
{
	tac_servo_effects *fx = &servo->effects;
	const tac_scene *scene = servo->def.world->scene;
	for (int32_t i = 0; i < scene->effect_count; i++) {
		tac_effect *e = &fx->written.effects[i];
		*e = scene->effects[i];
		e->enabled &= *e->tool == 0 || strcmp(e->tool, servo->tool->name) == 0;
		fx->used = true;
	}
	fx->used |= servo->def.callback.fn != NULL;
	fx->set = fx->commanded = fx->written;
	fx->spring_scale = fx->damper_scale = 1;
	const tac_device_info *info = &servo->def.device->info;
	const tac_scene_limits *limits = &servo->tool->limits;
	const double force_N =
		limits->max_force_N > 0 ? fmin(limits->max_force_N, info->max_force_N) : info->max_force_N;
	const double torque_Nm = limits->max_torque_Nm > 0 ? fmin(limits->max_torque_Nm, info->max_torque_Nm)
							   : info->max_torque_Nm;
	fx->ramp_N_per_s = force_N / TAC_EFFECT_RAMP_S;
	fx->ramp_Nm_per_s = torque_Nm / TAC_EFFECT_RAMP_S;
	return tac_latest_create(sizeof(tac_effect_set), &fx->latest);
}

// ---- the sum ----

static tac_wrench add_scaled(tac_wrench a, double s, tac_wrench b)
{
	return (tac_wrench){tac_dvec3_add_scaled(a.force_N, s, b.force_N),
			    tac_dvec3_add_scaled(a.torque_Nm, s, b.torque_Nm)};
}

static tac_wrench subtract(tac_wrench a, tac_wrench b)
{
	return add_scaled(a, -1, b);
}

static tac_wrench total(const tac_effect_sum *sum)
{
	return add_scaled(add_scaled(sum->field, 1, sum->damper), 1, sum->wave);
}

static bool is_spring(const tac_effect *effect)
{
	return effect->kind == TAC_EFFECT_POINT || effect->kind == TAC_EFFECT_LINE ||
	       effect->kind == TAC_EFFECT_PLANE || effect->kind == TAC_EFFECT_MAGNET;
}

// How far the device has gone from one tick to the next.
typedef struct step {
	double moved_m, turned_rad;
	double v_m_per_s, w_rad_per_s;   // at its end
	double dv_m_per_s, dw_rad_per_s; // changes
	double elapsed_s;
} step;

static step step_between(const tac_effect_track *from, const tac_effect_track *to)
{
	const tac_dquat turn = tac_dquat_mul(to->T_world_device.rotation,
					     tac_dquat_conjugate(from->T_world_device.rotation));
	return (step){
		tac_dvec3_length(tac_dvec3_sub(to->T_world_device.position, from->T_world_device.position)),
		tac_dvec3_length(tac_dquat_log(turn)),
		tac_dvec3_length(to->velocity_m_per_s),
		tac_dvec3_length(to->angular_velocity_rad_per_s),
		tac_dvec3_length(tac_dvec3_sub(to->velocity_m_per_s, from->velocity_m_per_s)),
		tac_dvec3_length(
			tac_dvec3_sub(to->angular_velocity_rad_per_s, from->angular_velocity_rad_per_s)),
		(double)(to->time_ns - from->time_ns) / 1e9,
	};
}

// The change of force that an effect may make in a step. One that is further away than its point moves makes
// none. The arm turns with the tool: its end has a further change of velocity, w times the turn of the arm.
static double change_N(const tac_effect_sample *e, const step *s, double spring_scale, double damper_scale)
{
	const double moved = s->moved_m + e->arm_m * s->turned_rad;
	if (e->outside_m > moved)
		return 0;
	const double v = s->v_m_per_s + e->arm_m * s->w_rad_per_s;
	const double dv = s->dv_m_per_s + e->arm_m * (s->dw_rad_per_s + s->w_rad_per_s * s->turned_rad);
	return spring_scale * e->most_stiffness_N_per_m * moved +
	       damper_scale * e->most_damping_N_s_per_m * (dv + 3 * v * moved / e->fade_m) +
	       e->wave_N_per_s * s->elapsed_s;
}

static void add_sample(tac_effect_sum *sum, const tac_effect_sample *e, double spring_scale,
		       double damper_scale)
{
	const double arm2 = e->arm_m * e->arm_m;
	sum->field = add_scaled(sum->field, spring_scale, e->field);
	sum->damper = add_scaled(sum->damper, damper_scale, e->damper);
	sum->wave = add_scaled(sum->wave, 1, e->wave);
	sum->stiffness_N_per_m += e->stiffness_N_per_m;
	sum->turn_stiffness_Nm_per_rad += e->stiffness_N_per_m * arm2;
	sum->damping_N_s_per_m += e->damping_N_s_per_m;
	sum->turn_damping_Nm_s_per_rad += e->damping_N_s_per_m * arm2;
}

// The sum of the effects at the end of `s`, which leads to `track`.
static tac_effect_sum sum_effects(const tac_servo *servo, const tac_effect_track *track, const step *s)
{
	const tac_servo_effects *fx = &servo->effects;
	tac_effect_sum sum = {0};
	tac_effect_motion motion = {track->T_world_device, track->velocity_m_per_s,
				    track->angular_velocity_rad_per_s, 0, (double)servo->def.period_ns / 1e9};
	for (int32_t i = 0; fx->allowed && i < TAC_EFFECT_COUNT; i++) {
		const tac_effect *effect = &fx->set.effects[i];
		if (!effect->enabled)
			continue;
		motion.time_s = (double)(track->time_ns - fx->begin_ns[i]) / 1e9;
		const tac_effect_sample e = tac_effect_at(effect, &motion);
		const double spring_scale = is_spring(effect) ? fx->spring_scale : 1;
		add_sample(&sum, &e, spring_scale, fx->damper_scale);
		sum.bound_N += change_N(&e, s, spring_scale, fx->damper_scale);
		sum.active |= (uint32_t)(e.outside_m == 0) << i;
	}
	if (servo->tool->axes == 3)
		sum.field.torque_Nm = sum.damper.torque_Nm = sum.wave.torque_Nm = tac_dvec3_zero();
	// A torque that no motor gives limits nothing.
	if (servo->tool->axes == 3 || servo->def.device->info.torque_axes == 0)
		sum.turn_stiffness_Nm_per_rad = sum.turn_damping_Nm_s_per_rad = 0;
	return sum;
}

// ---- stability ----

double tac_servo_most_damping(const tac_derate *derate, const tac_device_mechanics *mechanics)
{
	if (!(mechanics->mass > 0 && mechanics->damping > 0))
		return HUGE_VAL;
	// Half a period each for the hold and the difference, and the mean delay of the filter.
	const double filter = TAC_SERVO_VELOCITY_POLE / (1 - TAC_SERVO_VELOCITY_POLE);
	const double late_s = derate->period_s * (1 + filter) + derate->delay_s;
	double most = DAMPER_SHARE * (mechanics->mass + derate->def.hand.mass_kg) / late_s;
	if (mechanics->resolution > 0 && mechanics->coulomb > 0)
		most = fmin(most, 0.5 * mechanics->coulomb / mechanics->resolution * derate->period_s /
					  (1 - TAC_SERVO_VELOCITY_POLE));
	return most;
}

// What the tool's own damping leaves of it.
static double most_damping(const tac_derate *derate, const tac_device_mechanics *mechanics)
{
	return fmax(tac_servo_most_damping(derate, mechanics) - derate->def.damping_N_s_per_m, 0);
}

// The stiffness allowed by `derate`, of which the sensor's limit falls with the damping of the effects.
static double allowed_stiffness(const tac_derate *derate, const tac_device_mechanics *mechanics,
				double damping)
{
	double allowed = derate->allowed_N_per_m;
	if (damping > 0 && mechanics->resolution > 0 && mechanics->coulomb > 0)
		allowed = fmin(allowed, 2 * (mechanics->coulomb / mechanics->resolution -
					     damping * (1 - TAC_SERVO_VELOCITY_POLE) / derate->period_s));
	return fmax(allowed, 0);
}

static double share_of(double allowed, double wanted)
{
	return wanted > allowed ? allowed / wanted : 1;
}

// Scales the effects to what is stable where `here` was taken. Scales fall at once and rise slowly, since a
// spring that stiffens under load gains energy. Returns whether one has changed.
static bool scale_effects(tac_servo *s, const tac_effect_sum *here, double elapsed_s)
{
	tac_servo_effects *fx = &s->effects;
	const tac_device_info *info = &s->def.device->info;
	const double spring_before = fx->spring_scale, damper_before = fx->damper_scale;
	const double size = s->mapping.scale; // the hand feels stiffness and damping times this
	const double B = (here->damping_N_s_per_m + fx->own.damping_N_s_per_m) * size;
	const double turn_B = here->turn_damping_Nm_s_per_rad;
	const double damper = fmin(share_of(most_damping(&s->derate, &info->linear), B),
				   share_of(most_damping(&s->turn_derate, &info->angular), turn_B));
	fx->damper_scale = fmin(damper, fx->damper_scale + RISE_PER_S * elapsed_s);

	const double linear = allowed_stiffness(&s->derate, &info->linear, fx->damper_scale * B) / size;
	const double turn = allowed_stiffness(&s->turn_derate, &info->angular, fx->damper_scale * turn_B);
	const double K = here->stiffness_N_per_m + fx->own.stiffness_N_per_m;
	const double turn_K = here->turn_stiffness_Nm_per_rad;
	const double spring = fmin(share_of(SPRING_SHARE * linear, K), share_of(SPRING_SHARE * turn, turn_K));
	fx->spring_scale = fmin(spring, fx->spring_scale + RISE_PER_S * elapsed_s);
	// What the effects take from the contacts is given back slowly, too.
	const double fall = RISE_PER_S * elapsed_s;
	fx->reserved_N_per_m = fmax(fx->spring_scale * K, fx->reserved_N_per_m - fall * linear);
	fx->reserved_Nm_per_rad = fmax(fx->spring_scale * turn_K, fx->reserved_Nm_per_rad - fall * turn);
	fx->allowed_N_per_m = linear;
	return fx->spring_scale != spring_before || fx->damper_scale != damper_before;
}

double tac_servo_beside_effects(const tac_servo *servo, double allowed_N_per_m)
{
	const tac_servo_effects *fx = &servo->effects;
	return fx->used ? fmax(fmin(allowed_N_per_m, fx->allowed_N_per_m) - fx->reserved_N_per_m, 0)
			: allowed_N_per_m;
}

// ---- the callback ----

static bool finite_output(const tac_effect_output *o)
{
	return tac_dvec3_finite(o->wrench.force_N) && tac_dvec3_finite(o->wrench.torque_Nm) &&
	       o->stiffness_N_per_m >= 0 && o->stiffness_N_per_m < HUGE_VAL && o->damping_N_s_per_m >= 0 &&
	       o->damping_N_s_per_m < HUGE_VAL;
}

// Calls the application's function unless it rests after an overrun.
static tac_effect_output call_own(tac_servo *s, int64_t now_ns, double elapsed_s, bool clocked)
{
	tac_servo_effects *fx = &s->effects;
	const tac_effect_callback *callback = &s->def.callback;
	tac_effect_output out = {0};
	fx->own.took_ns = 0;
	fx->own.overran = false;
	if (!fx->allowed || now_ns < fx->own.rest_until_ns)
		return out;
	const tac_effect_input input = {
		.time_ns = now_ns,
		.elapsed_s = elapsed_s,
		.T_world_device = s->T_world_device,
		.velocity_m_per_s = fx->track.velocity_m_per_s,
		.angular_velocity_rad_per_s = fx->track.angular_velocity_rad_per_s,
		.T_world_sco = s->report.T_world_sco,
		.sent = s->snapshot.sent,
		.buttons = s->device_state.buttons,
	};
	const int64_t begin_ns = clocked ? tac_clock_now_ns() : 0;
	callback->fn(callback->user, &input, &out);
	const int64_t budget_ns = callback->budget_ns > 0 ? callback->budget_ns : s->def.period_ns / 10;
	fx->own.took_ns = clocked ? tac_clock_now_ns() - begin_ns : 0;
	fx->own.overran =
		s->recorded ? (s->recorded->flags & TAC_SAMPLE_OVERRUN) != 0 : fx->own.took_ns > budget_ns;
	if (fx->own.overran) {
		fx->own.overruns++;
		fx->own.rest_until_ns = now_ns + TAC_EFFECT_REST_NS;
	}
	if (!finite_output(&out)) {
		fx->own.invalid++;
		out = (tac_effect_output){0};
	}
	if (s->tool->axes == 3)
		out.wrench.torque_Nm = tac_dvec3_zero();
	return out;
}

// `to`, or as far from `from` towards it as `most` allows.
static tac_dvec3 approach(tac_dvec3 from, tac_dvec3 to, double most)
{
	const tac_dvec3 change = tac_dvec3_sub(to, from);
	const double length = tac_dvec3_length(change);
	return length > most ? tac_dvec3_add_scaled(from, most / length, change) : to;
}

// Follows the function's force at the rate that its stiffness, damping and slew explain. A stiffness that is
// no longer stated explains the force's way back.
static void follow_own(tac_servo *s, int64_t now_ns, const step *moved, bool clocked)
{
	tac_servo_effects *fx = &s->effects;
	if (!s->def.callback.fn)
		return;
	const tac_effect_output out = call_own(s, now_ns, moved->elapsed_s, clocked);
	const double arm_m = s->tool->turn_arm_m, slew = s->def.callback.slew_N_per_s;
	const double travel = moved->moved_m + arm_m * moved->turned_rad;
	const double dv = moved->dv_m_per_s + arm_m * moved->dw_rad_per_s;
	fx->own.bound_N = (slew > 0 ? slew : fx->ramp_N_per_s) * moved->elapsed_s +
			  fmax(out.stiffness_N_per_m, fx->own.stiffness_N_per_m) * travel +
			  fmax(out.damping_N_s_per_m, fx->own.damping_N_s_per_m) * dv;
	fx->own.stiffness_N_per_m = out.stiffness_N_per_m;
	fx->own.damping_N_s_per_m = out.damping_N_s_per_m;
	const double scale = out.stiffness_N_per_m > 0 ? fx->spring_scale : 1;
	fx->own.wrench.force_N =
		approach(fx->own.wrench.force_N, tac_dvec3_scale(out.wrench.force_N, scale), fx->own.bound_N);
	fx->own.wrench.torque_Nm =
		approach(fx->own.wrench.torque_Nm, tac_dvec3_scale(out.wrench.torque_Nm, scale),
			 arm_m * fx->own.bound_N);
}

// ---- the tick ----

// Widens the border of a region across which the force would rise more steeply than a spring may.
static void widen_border(const tac_servo *s, tac_effect *e)
{
	const double force_N = e->kind == TAC_EFFECT_CONSTANT ? tac_dvec3_length(e->force_N)
			       : e->kind == TAC_EFFECT_GRAVITY
				       ? e->mass_kg * tac_dvec3_length(e->gravity_m_per_s2)
			       : e->kind == TAC_EFFECT_VIBRATION ? e->amplitude_N
								 : 0;
	const double most = SPRING_SHARE * s->derate.allowed_N_per_m / s->mapping.scale;
	if (force_N > most * e->border_m)
		e->border_m = force_N / most;
}

// Takes over what the application has changed. Returns whether there was anything.
static bool take_over(tac_servo *s, int64_t now_ns)
{
	tac_servo_effects *fx = &s->effects;
	bool fresh = fx->commands;
	const tac_effect_set *newest =
		s->def.live ? (fresh ? &fx->commanded : NULL) : tac_latest_read(fx->latest, &fresh);
	fx->commands = false;
	if (s->ticks > 0 && !(newest && fresh))
		return false;
	for (int32_t i = 0; i < TAC_EFFECT_COUNT; i++) {
		if (s->ticks == 0 || newest->switched_on[i] != fx->set.switched_on[i])
			fx->begin_ns[i] = now_ns;
	}
	if (newest) {
		fx->set = *newest;
		fx->used = true;
	}
	for (int32_t i = 0; i < TAC_EFFECT_COUNT; i++)
		widen_border(s, &fx->set.effects[i]);
	return true;
}

// The velocity is filtered as that of the coupling is.
static void follow_device(tac_servo *s, int64_t now_ns, double elapsed_s)
{
	tac_effect_track *t = &s->effects.track;
	if (elapsed_s > 0) {
		const tac_dvec3 dx = tac_dvec3_sub(s->T_world_device.position, t->T_world_device.position);
		const tac_dvec3 turn = tac_dquat_log(tac_dquat_mul(
			s->T_world_device.rotation, tac_dquat_conjugate(t->T_world_device.rotation)));
		t->velocity_m_per_s = tac_dvec3_lerp(tac_dvec3_scale(dx, 1 / elapsed_s), t->velocity_m_per_s,
						     TAC_SERVO_VELOCITY_POLE);
		t->angular_velocity_rad_per_s =
			tac_dvec3_lerp(tac_dvec3_scale(turn, 1 / elapsed_s), t->angular_velocity_rad_per_s,
				       TAC_SERVO_VELOCITY_POLE);
	}
	t->T_world_device = s->T_world_device;
	t->time_ns = now_ns;
}

bool tac_servo_step_effects(tac_servo *servo, int64_t now_ns, int64_t elapsed_ns, bool clocked)
{
	tac_servo *s = servo;
	tac_servo_effects *fx = &s->effects;
	const double elapsed_s = (double)elapsed_ns / 1e9;
	bool changed = take_over(s, now_ns);
	if (s->ticks == 0)
		fx->track = (tac_effect_track){s->T_world_device, {0, 0, 0}, {0, 0, 0}, now_ns};
	const tac_effect_track before = fx->track;
	follow_device(s, now_ns, elapsed_s);
	if (!fx->used)
		return false;
	const bool allowed = !s->waiting && !s->mapping.clutched;
	changed |= allowed != fx->allowed;
	fx->allowed = allowed;

	const step moved = step_between(&before, &fx->track);
	follow_own(s, now_ns, &moved, clocked);
	const tac_effect_sum here = sum_effects(s, &fx->track, &moved);
	changed |= scale_effects(s, &here, elapsed_s);
	if (changed) {
		// Where the tool was, the force with the new parameters differs by the lag from the old
		// force.
		const tac_effect_sum there = sum_effects(s, &before, &moved);
		fx->lag = subtract(subtract(fx->wrench, fx->last_own), total(&there));
	}
	fx->lag.force_N = approach(fx->lag.force_N, tac_dvec3_zero(), fx->ramp_N_per_s * elapsed_s);
	fx->lag.torque_Nm = approach(fx->lag.torque_Nm, tac_dvec3_zero(), fx->ramp_Nm_per_s * elapsed_s);
	fx->sum = changed ? sum_effects(s, &fx->track, &moved) : here;
	fx->wrench = add_scaled(add_scaled(total(&fx->sum), 1, fx->lag), 1, fx->own.wrench);
	fx->last_own = fx->own.wrench;
	fx->bound_N = fx->sum.bound_N + fx->ramp_N_per_s * elapsed_s + fx->own.bound_N;
	return true;
}

// ---- passivity ----

// All whose work is the application's wish: fields and what is left of those that were switched. Dampers, and
// a callback that does not claim it, are not: what they give to the hand is the observer's.
static tac_wrench source_of(const tac_servo *s)
{
	const tac_servo_effects *fx = &s->effects;
	tac_wrench source = add_scaled(fx->sum.field, 1, fx->lag);
	if (s->def.callback.gives_energy)
		source = add_scaled(source, 1, fx->own.wrench);
	source = tac_mapping_wrench(&s->mapping, source);
	if (s->def.device->info.torque_axes == 0)
		source.torque_Nm = tac_dvec3_zero();
	return source;
}

// The ideal work is that of the mean of the forces at both ends of the motion, exact for springs. What the
// held and delayed force gives beyond it stays in the account, apart from what the device's own damping
// dissipates of it.
double tac_servo_effects_credit_J(tac_servo *servo, const double *dx, double elapsed_s)
{
	tac_servo_effects *fx = &servo->effects;
	if (!fx->used)
		return 0;
	const tac_wrench source = source_of(servo), both = add_scaled(source, 1, fx->source);
	const tac_dvec3 moved = tac_dvec3_load(dx), turned = tac_dvec3_load(dx + 3);
	double credit_J = 0.5 * fx->sent_share *
			  (tac_dvec3_dot(both.force_N, moved) + tac_dvec3_dot(both.torque_Nm, turned));
	if (elapsed_s > 0) {
		const double late_s = 0.5 * elapsed_s + servo->derate.delay_s;
		const double K = fx->spring_scale * fx->sum.stiffness_N_per_m * servo->mapping.scale;
		credit_J += fx->sent_share * fmin(K * late_s, servo->def.device->info.linear.damping) *
			    tac_dvec3_length_squared(moved) / elapsed_s;
	}
	fx->source = source;
	return credit_J;
}

tac_wrench tac_servo_effects_sent(tac_servo *servo, tac_wrench wanted, tac_wrench sent)
{
	tac_servo_effects *fx = &servo->effects;
	if (!fx->used)
		return tac_wrench_zero();
	const double force_N = tac_dvec3_length(wanted.force_N);
	fx->sent_share = force_N > 0 ? fmin(tac_dvec3_length(sent.force_N) / force_N, 1) : 1;
	tac_wrench wave = tac_mapping_wrench(&servo->mapping, fx->sum.wave);
	if (servo->def.device->info.torque_axes == 0)
		wave.torque_Nm = tac_dvec3_zero();
	return add_scaled(tac_wrench_zero(), fx->sent_share, wave);
}
