// Watches a force from tick to tick, independently of the runtime's own monitor: it must not change by more
// than docs/forces.md allows, and must not vanish and come back.
#ifndef TAC_TESTS_SUPPORT_FORCE_WATCH_H
#define TAC_TESTS_SUPPORT_FORCE_WATCH_H

#include "haptic/force/law.h"
#include "haptic/limit.h"
#include "haptic/snapshot.h"
#include "haptic/world.h"

#include <math.h>
#include <stdio.h>
#include <unity.h>

#define WATCH_SLEW_M_PER_S 0.5 // the default
#define WATCH_WINDOW       10  // ticks

// Zero at the start.
typedef struct force_watch {
	bool started;
	tac_dpose device;
	tac_wrench wrench;
	tac_dvec3 wanted_N;
	double gain;
	int64_t time_ns;
	bool counts; // jumps and dropouts are counted and do not fail the test
	// Results.
	double largest_N, largest_ratio;
	long ticks, jumps, dropouts;
	bool felt; // the force has been above 1 N
	// Since the force was last above 1 N.
	bool vanished;
	int since;
	double travel_m;
} force_watch;

// How far the device moved, a rotation counted at the arm.
static inline double watch_travel(const force_watch *w, tac_dpose device, double arm_m)
{
	const tac_dquat turn = tac_dquat_mul(device.rotation, tac_dquat_conjugate(w->device.rotation));
	return tac_dvec3_length(tac_dvec3_sub(device.position, w->device.position)) +
	       arm_m * tac_dvec3_length(tac_dquat_log(turn));
}

// A device that moves far may leave a surface and come back; otherwise a gap in the force is a dropout.
static inline void watch_dropouts(force_watch *w, double force_N, double travel_m)
{
	w->travel_m += travel_m;
	w->since++;
	if (force_N > 1) {
		w->dropouts += w->vanished && w->since <= WATCH_WINDOW && w->travel_m < 1e-3;
		w->felt = true;
		w->vanished = false;
		w->since = 0;
		w->travel_m = 0;
	}
	w->vanished |= w->felt && force_N == 0;
}

// `extra_N` is what texture, effects and gain may add.
static inline void watch_step(force_watch *w, tac_dpose device, tac_wrench wrench, double stiffness,
			      double arm_m, double elapsed_s, double slew_m_per_s, double extra_N,
			      const char *name)
{
	if (w->started) {
		const double travel = watch_travel(w, device, arm_m);
		const double bound = stiffness * (slew_m_per_s * elapsed_s + 3 * travel) + extra_N;
		const double step = tac_dvec3_length(tac_dvec3_sub(wrench.force_N, w->wrench.force_N));
		const double twist = tac_dvec3_length(tac_dvec3_sub(wrench.torque_Nm, w->wrench.torque_Nm));
		const double rounding = 1e-9 * (1 + tac_dvec3_length(wrench.force_N));
		w->largest_N = fmax(w->largest_N, step);
		w->largest_ratio = fmax(w->largest_ratio, step / (bound + 1e-12));
		watch_dropouts(w, tac_dvec3_length(wrench.force_N), travel);
		const bool jump = !(step <= bound + rounding && twist <= arm_m * bound + rounding);
		w->jumps += jump;
		if ((jump || w->dropouts > 0) && !w->counts) {
			char text[200];
			snprintf(
				text, sizeof text,
				"%s: tick %ld: the force changes by %.6f N, bound %.6f N; the torque by %.6f "
				"Nm, bound %.6f Nm; %ld dropouts",
				name, w->ticks, step, bound, twist, arm_m * bound, w->dropouts);
			TEST_FAIL_MESSAGE(text);
		}
	}
	w->device = device;
	w->wrench = wrench;
	w->started = true;
	w->ticks++;
}

// What the texture of a material adds to the change of the force, N per m, at this load.
static inline double watch_texture(const tac_material *m, double load_N)
{
	if (m->texture == TAC_TEXTURE_NONE)
		return 0;
	const double k = 6.283185307179586 / m->texture_wavelength_m, slope = 0.5 * m->texture_height_m * k;
	return m->stiffness_N_per_m * slope * (1 + slope) +
	       (load_N + m->stiffness_N_per_m * m->texture_height_m) * slope * k;
}

// Watches what a servo sends. Emergency stops, stalls and losses cut the force on purpose.
static inline void force_watch_step(force_watch *w, const tac_world *world, const tac_snapshot *s)
{
	const tac_scene_tool *tool = &world->scene->tools[s->tool];
	const double slew = tool->limits.slew_m_per_s > 0 ? tool->limits.slew_m_per_s : WATCH_SLEW_M_PER_S;
	const double arm = tool->axes == 3 ? 0 : tool->turn_arm_m;
	if (s->limits & (1u << TAC_LIMIT_STOPPED | 1u << TAC_LIMIT_STALL | 1u << TAC_LIMIT_LOST) ||
	    !tac_dpose_finite(s->T_world_device))
		w->started = false;
	// The load on the texture: that of the contacts, which the force may still follow.
	const double load = fmax(tac_dvec3_length(s->wanted.force_N), tac_dvec3_length(w->wanted_N));
	double stiffness = 0, texture = 0, contact_N = 0;
	for (int32_t i = 0; i < s->contact_count; i++)
		contact_N += tac_dvec3_length(s->contacts[i].force_N);
	for (int32_t i = 0; i < world->material_count; i++) {
		const tac_material *m = &world->materials[i];
		stiffness = fmax(stiffness, m->stiffness_N_per_m);
		texture = fmax(texture, watch_texture(m, fmax(load, contact_N)));
	}
	const double extra = s->effects.bound_N + fabs(s->gain - w->gain) * load +
			     (w->started ? texture * watch_travel(w, s->T_world_device, arm) : 0);
	watch_step(w, s->T_world_device, s->sent, stiffness, arm, (double)(s->time_ns - w->time_ns) / 1e9,
		   slew, extra, world->scene->name);
	w->gain = s->gain;
	w->wanted_N = s->wanted.force_N;
	w->time_ns = s->time_ns;
}

// Watches the force law on the reports of a mover alone, at 1000 N/m and 1 kHz.
typedef struct law_watch {
	tac_law law;
	force_watch watch;
} law_watch;

#define LAW_WATCH_N_PER_M 1000.0

static inline void law_watch_step(law_watch *w, tac_dpose device, const tac_sco_report *report, double arm_m,
				  const char *name)
{
	const tac_law_rates rates = {WATCH_SLEW_M_PER_S, HUGE_VAL, HUGE_VAL};
	tac_sco_report r = *report;
	tac_law_move(&w->law, device, arm_m == 0);
	tac_law_remove_gaps(&r, -1, arm_m);
	const tac_law_offset goal =
		tac_law_goal(&w->law, &r, TAC_COUPLING_CONSTRAINT, LAW_WATCH_N_PER_M, arm_m, 1e-3);
	const tac_wrench wanted = {tac_dvec3_scale(goal.move_m, LAW_WATCH_N_PER_M),
				   tac_dvec3_scale(goal.turn_rad, LAW_WATCH_N_PER_M * arm_m * arm_m)};
	const tac_wrench wrench = tac_law_follow(&w->law, wanted, &rates, LAW_WATCH_N_PER_M, 0, arm_m, 1e-3);
	TEST_ASSERT_TRUE(tac_dvec3_finite(wrench.force_N) && tac_dvec3_finite(wrench.torque_Nm));
	watch_step(&w->watch, device, wrench, LAW_WATCH_N_PER_M, arm_m, 1e-3, WATCH_SLEW_M_PER_S, 0, name);
}

#endif
