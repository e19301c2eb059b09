#include "haptic/effect.h"

#include "haptic/force/texture.h"

#include <math.h>

#define TWO_PI 6.283185307179586

// Dampers of springs fade in and out over this distance where the spring begins to act.
#define FADE_M 0.005
// Peak of d / (d^2 + 1)^(3/2), inverted.
#define MAGNET_PEAK 2.598076211353316

static double unit(double x)
{
	return fmin(fmax(x, 0), 1);
}

// The point of the tool on which an effect acts.
typedef struct place {
	tac_dvec3 arm_m;  // from the tool's origin to the point
	tac_dvec3 from_m; // from the effect's position to the point
	tac_dvec3 velocity_m_per_s;
	tac_dvec3 axis; // the effect's direction, of unit length; zero if it has none
} place;

static place find_place(const tac_effect *e, const tac_effect_motion *m)
{
	const tac_dvec3 arm = tac_dquat_rotate(m->T_world_tool.rotation, e->tool_point_m);
	return (place){
		arm,
		tac_dvec3_sub(tac_dvec3_add(m->T_world_tool.position, arm), e->position_m),
		tac_dvec3_add(m->velocity_m_per_s, tac_dvec3_cross(m->angular_velocity_rad_per_s, arm)),
		tac_dvec3_length(e->direction) > 0 ? tac_dvec3_normalize(e->direction) : tac_dvec3_zero(),
	};
}

static tac_wrench at_point(const place *p, tac_dvec3 force_N)
{
	return (tac_wrench){force_N, tac_dvec3_cross(p->arm_m, force_N)};
}

// ---- regions ----

// How far the point is inside the region; below 0: outside.
static double depth_in_region(const tac_effect *e, const place *p)
{
	switch (e->region) {
	case TAC_EFFECT_BALL:
		return e->radius_m - tac_dvec3_length(p->from_m);
	case TAC_EFFECT_HALF_SPACE:
		return -tac_dvec3_dot(p->axis, p->from_m);
	default:
		return HUGE_VAL;
	}
}

// What a region leaves of an effect, 0 … 1, and what its border adds to the sample.
static double enter_region(const tac_effect *e, const place *p, double force_N, tac_effect_sample *out)
{
	const double depth = depth_in_region(e, p);
	const bool bounded = e->region != TAC_EFFECT_EVERYWHERE;
	out->outside_m = fmax(-depth, 0);
	out->fade_m = bounded ? e->border_m : HUGE_VAL;
	out->most_stiffness_N_per_m = bounded ? force_N / e->border_m : 0;
	out->stiffness_N_per_m = depth > 0 && depth < e->border_m ? out->most_stiffness_N_per_m : 0;
	return unit(depth / (bounded ? e->border_m : 1));
}

static void sample_constant(const tac_effect *e, const place *p, tac_dvec3 force_N, tac_dvec3 torque_Nm,
			    tac_effect_sample *out)
{
	const double share = enter_region(e, p, tac_dvec3_length(force_N), out);
	out->field = at_point(p, tac_dvec3_scale(force_N, share));
	out->field.torque_Nm = tac_dvec3_add_scaled(out->field.torque_Nm, share, torque_Nm);
}

static void sample_viscous(const tac_effect *e, const place *p, tac_effect_sample *out)
{
	const double share = enter_region(e, p, 0, out);
	out->damper = at_point(p, tac_dvec3_scale(p->velocity_m_per_s, -share * e->damping_N_s_per_m));
	out->most_damping_N_s_per_m = e->damping_N_s_per_m;
	out->damping_N_s_per_m = share > 0 ? e->damping_N_s_per_m : 0;
}

// ---- springs ----

// Where the point is relative to what the spring pulls to.
typedef struct spring {
	tac_dvec3 away;    // unit vector away from the point, line or plane; zero at the point or line itself
	double distance_m; // from the point or line; from a plane: HUGE_VAL
	double excess_m;   // beyond the radius, or in front of the plane
} spring;

static spring find_spring(const tac_effect *e, const place *p)
{
	const double along = tac_dvec3_dot(p->axis, p->from_m);
	if (e->kind == TAC_EFFECT_PLANE)
		return (spring){p->axis, HUGE_VAL, along};
	const tac_dvec3 off =
		e->kind == TAC_EFFECT_LINE ? tac_dvec3_add_scaled(p->from_m, -along, p->axis) : p->from_m;
	const double distance = tac_dvec3_length(off);
	return (spring){distance > 0 ? tac_dvec3_scale(off, 1 / distance) : tac_dvec3_zero(), distance,
			distance - e->radius_m};
}

// How far the point is from where the spring acts.
static double outside_spring(const tac_effect *e, const spring *s)
{
	const double wrong_side = e->side == TAC_EFFECT_INSIDE    ? -s->excess_m
				  : e->side == TAC_EFFECT_OUTSIDE ? s->excess_m
								  : 0;
	const double beyond = e->range_m > 0 ? fabs(s->excess_m) - e->range_m : 0;
	return fmax(fmax(wrong_side, beyond), 0);
}

// The part of the velocity that the damper brakes: along the spring, or off the point or line.
static tac_dvec3 braked(const tac_effect *e, const place *p, const spring *s)
{
	const tac_dvec3 v = p->velocity_m_per_s;
	if (e->kind == TAC_EFFECT_PLANE || e->radius_m > 0)
		return tac_dvec3_scale(s->away, tac_dvec3_dot(s->away, v));
	return e->kind == TAC_EFFECT_LINE ? tac_dvec3_add_scaled(v, -tac_dvec3_dot(p->axis, v), p->axis) : v;
}

static double damper_share(const tac_effect *e, const spring *s)
{
	double share = e->side == TAC_EFFECT_BOTH ? 1 : unit(fabs(s->excess_m) / FADE_M);
	if (e->range_m > 0)
		share = fmin(share, unit((e->range_m - fabs(s->excess_m)) / FADE_M));
	if (e->radius_m > 0) // the direction turns quickly near the centre
		share = fmin(share, unit(s->distance_m / FADE_M));
	return share;
}

static void sample_spring(const tac_effect *e, const place *p, tac_effect_sample *out)
{
	const spring s = find_spring(e, p);
	out->outside_m = outside_spring(e, &s);
	out->most_stiffness_N_per_m = e->stiffness_N_per_m;
	out->most_damping_N_s_per_m = e->damping_N_s_per_m;
	out->fade_m = FADE_M;
	if (out->outside_m > 0)
		return;
	double stretch = fabs(s.excess_m);
	if (e->range_m > 0)
		stretch = fmin(stretch, e->range_m - stretch);
	// Near the centre of a sphere the force falls to zero: there it has no direction.
	stretch = fmin(stretch, s.distance_m);
	double force = e->stiffness_N_per_m * stretch;
	if (e->max_force_N > 0)
		force = fmin(force, e->max_force_N);
	out->field = at_point(p, tac_dvec3_scale(s.away, s.excess_m > 0 ? -force : force));
	out->damper =
		at_point(p, tac_dvec3_scale(braked(e, p, &s), -damper_share(e, &s) * e->damping_N_s_per_m));
	out->stiffness_N_per_m = e->stiffness_N_per_m;
	out->damping_N_s_per_m = e->damping_N_s_per_m;
}

// The field of a mass point (or charge), softened within the core after H. C. Plummer (1911): the force is
// a d / (d^2 + core^2)^(3/2).
static void sample_magnet(const tac_effect *e, const place *p, tac_effect_sample *out)
{
	const double core = e->core_m, x = tac_dvec3_length(p->from_m) / core;
	const double falloff = 1 / ((x * x + 1) * sqrt(x * x + 1));
	const double per_m = MAGNET_PEAK * e->peak_force_N / core;
	out->field = at_point(p, tac_dvec3_scale(p->from_m, -per_m * falloff));
	out->most_stiffness_N_per_m = per_m;
	// |2 x^2 - 1| / (x^2 + 1) is below 2; at the centre it is 1.
	out->stiffness_N_per_m = per_m * fmin(2 * falloff, 1);
}

// ---- vibrations ----

// The envelope at time t after it was switched on.
static double envelope(const tac_effect *e, double t)
{
	const double rise = unit(t / e->attack_s);
	return e->hold_s > 0 ? fmin(rise, unit((e->attack_s + e->hold_s + e->release_s - t) / e->release_s))
			     : rise;
}

static void sample_vibration(const tac_effect *e, const place *p, const tac_effect_motion *m,
			     tac_effect_sample *out)
{
	const double share = enter_region(e, p, e->amplitude_N, out);
	// It fades out where the loop cannot sample it, as textures do.
	const double s = unit((TAC_TEXTURE_NONE_LEFT - e->frequency_Hz * m->period_s) /
			      (TAC_TEXTURE_NONE_LEFT - TAC_TEXTURE_FULL));
	const double amplitude = e->amplitude_N * s * s * (3 - 2 * s);
	const double omega = TWO_PI * e->frequency_Hz;
	const double force = share * amplitude * envelope(e, m->time_s) * sin(omega * m->time_s);
	out->wave = at_point(p, tac_dvec3_scale(p->axis, force));
	out->wave_N_per_s = amplitude * (omega + 1 / fmin(e->attack_s, e->release_s));
}

tac_effect_sample tac_effect_at(const tac_effect *effect, const tac_effect_motion *motion)
{
	const tac_effect *e = effect;
	const place p = find_place(e, motion);
	tac_effect_sample out = {.fade_m = HUGE_VAL, .arm_m = tac_dvec3_length(e->tool_point_m)};
	switch ((tac_effect_kind)e->kind) {
	case TAC_EFFECT_CONSTANT:
		sample_constant(e, &p, e->force_N, e->torque_Nm, &out);
		break;
	case TAC_EFFECT_GRAVITY:
		sample_constant(e, &p, tac_dvec3_scale(e->gravity_m_per_s2, e->mass_kg), tac_dvec3_zero(),
				&out);
		break;
	case TAC_EFFECT_POINT:
	case TAC_EFFECT_LINE:
	case TAC_EFFECT_PLANE:
		sample_spring(e, &p, &out);
		break;
	case TAC_EFFECT_VISCOUS:
		sample_viscous(e, &p, &out);
		break;
	case TAC_EFFECT_MAGNET:
		sample_magnet(e, &p, &out);
		break;
	case TAC_EFFECT_VIBRATION:
		sample_vibration(e, &p, motion, &out);
		break;
	case TAC_EFFECT_KIND_COUNT:
		break;
	}
	return out;
}
