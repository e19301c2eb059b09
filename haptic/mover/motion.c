#include "haptic/mover/mover.h"

#include <math.h>

#define PI 3.14159265358979323846

tac_dtwist tac_sco_to_device(const tac_sco *sco, tac_dpose from)
{
	const tac_dpose to = sco->tick.device;
	if (sco->def.fixed_rotation)
		return (tac_dtwist){tac_dvec3_sub(to.position, from.position), tac_dvec3_zero()};
	tac_dtwist t = tac_dtwist_between(from, to);
	double angle = tac_dvec3_length(t.w);
	if (angle > PI - 0.5 * sco->turn_hysteresis_rad && tac_dvec3_dot(t.w, sco->last_turn) < 0)
		t.w = tac_dvec3_scale(t.w, (angle - 2 * PI) / angle);
	return t;
}

double tac_sco_limit_factor(const tac_sco *sco, tac_dtwist t, double radius, double reach)
{
	const double travel = tac_dtwist_travel(t, radius), turn = tac_dvec3_length(t.w);
	const double s = travel > reach ? reach / travel : 1;
	return turn * s > sco->def.turn_max_rad ? sco->def.turn_max_rad / turn : s;
}

// The square of the length of the motion to the device in the metric, m^2.
static double square(const tac_sco *sco, tac_dpose from)
{
	const tac_dtwist t = tac_sco_to_device(sco, from);
	const double rho = sco->def.metric_m;
	return tac_dvec3_dot(t.v, t.v) + rho * rho * tac_dvec3_dot(t.w, t.w);
}

bool tac_sco_leads_closer(const tac_sco *sco, tac_dtwist t, double s)
{
	return square(sco, tac_dpose_after(sco->pose, t, s)) <= square(sco, sco->pose) - SCO_MIN_PROGRESS_M2;
}

tac_sco_relative tac_sco_relative_motion(const tac_sco *sco, const tac_sco_obstacle *obstacle, tac_dtwist t)
{
	const tac_dpose start = tac_dpose_relative(obstacle->pose, sco->pose);
	if (!obstacle->moves) {
		const tac_dquat R = tac_dquat_conjugate(obstacle->pose.rotation); // R_object_world
		return (tac_sco_relative){start, {tac_dquat_rotate(R, t.v), tac_dquat_rotate(R, t.w)}};
	}
	const tac_dpose end = tac_dpose_relative(tac_dpose_after(obstacle->pose, obstacle->twist, 1),
						 tac_dpose_after(sco->pose, t, 1));
	return (tac_sco_relative){start, tac_dtwist_between(start, end)};
}

void tac_sco_move(tac_sco *sco, tac_dtwist t, double s)
{
	tac_dpose after = tac_dpose_after(sco->pose, t, s);
	for (tac_sco_obstacle *obstacle = sco->obstacles; obstacle < sco->obstacles_end; obstacle++) {
		if (!obstacle->moves)
			continue;
		// What was proved is the relative motion, so the obstacle's pose follows from the tool's.
		tac_sco_relative r = tac_sco_relative_motion(sco, obstacle, t);
		tac_dpose T_object_tool = tac_dpose_after(r.start, r.twist, s);
		tac_dpose T_world_object = tac_dpose_compose(after, tac_dpose_inverse(T_object_tool));
		obstacle->pose = tac_dpose_normalize(T_world_object);
	}
	sco->pose = tac_dpose_normalize(after);
	sco->lists_version++;
	tac_sco_note_trail(sco);
}

void tac_sco_note_trail(tac_sco *sco)
{
	if (sco->trail_count < TAC_SCO_TRAIL)
		sco->trail_count++;
	sco->trail[sco->trail_count - 1] =
		sco->drilled < 0 ? sco->pose
				 : tac_dpose_relative(sco->obstacles[sco->drilled].pose, sco->pose);
}

bool tac_sco_any_obstacle_moves(const tac_sco *sco)
{
	for (const tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++) {
		if (o->moves)
			return true;
	}
	return false;
}

void tac_sco_scale_obstacles(tac_sco *sco, double s)
{
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++)
		o->twist = tac_dtwist_scale(o->twist, s);
}
