// Effects: forces of the application on the tool, besides those of the contacts: fields, guidance fixtures,
// viscous regions, magnets, vibrations, and a function of one's own. A scene lists them under `effects:`
// (docs/scene.md); tac_servo_set_effect and tac_servo_switch_effect change them while the loop runs.
//
// The servo adds them after the coupling and before passivity and limit, and keeps four promises
// (docs/effects.md):
//  - continuous: the force of all effects changes in a tick of length T, in which the tool's point moves by
//    dx and its velocity changes by dv, by at most
//        R T + sum of (K |dx| + B |dv| + 3 B |v| |dx| / fade + W T)
//    over the effects in reach. R is the ramp: the device's maximal force within TAC_EFFECT_RAMP_S. It alone
//    covers switching and changed parameters. K, B, fade and W are defined below;
//  - stable: stiffness and damping of the effects at the present place count in the limits of
//    haptic/stability.h. Springs take at most half of the allowed stiffness, contacts have the rest; what is
//    too stiff or too viscous is scaled down;
//  - passive: the work of a field is left out of the observer's account, as is that of a vibration, but what
//    sampling, delay and dampers generate beyond it is not;
//  - repeatable: they depend on poses, times and parameters alone, so a replay gives the same bits.
#ifndef TAC_HAPTIC_EFFECT_H
#define TAC_HAPTIC_EFFECT_H

#include "base/api.h"
#include "base/result.h"
#include "base/wrench.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_EFFECT_NAME  32
#define TAC_EFFECT_COUNT 16 // of a servo

// Time in which the force of the effects may go from zero to the device's maximum.
#define TAC_EFFECT_RAMP_S 0.1

typedef enum tac_effect_kind {
	TAC_EFFECT_CONSTANT,  // force_N and torque_Nm; K = |force_N| / border_m at the border of a region
	TAC_EFFECT_GRAVITY,   // mass_kg times gravity_m_per_s2; K as above
	TAC_EFFECT_POINT,     // spring and damper to the point position_m; K and B are theirs
	TAC_EFFECT_LINE,      // to the line through position_m along `direction`
	TAC_EFFECT_PLANE,     // to the plane through position_m with the normal `direction`
	TAC_EFFECT_VISCOUS,   // B against the velocity
	TAC_EFFECT_MAGNET,    // attraction to position_m with an inverse-square tail; K = 2.6 peak / core
	TAC_EFFECT_VIBRATION, // sine along `direction`; W = amplitude (2 pi frequency + 1 / attack or
			      // release)
	TAC_EFFECT_KIND_COUNT,
} tac_effect_kind;

// Where a spring acts. The distance is measured from the sphere or cylinder of radius_m about the point or
// line (from the point or line itself if radius_m is 0), or from the plane, whose normal points outwards.
typedef enum tac_effect_side {
	TAC_EFFECT_BOTH,    // always: guides the tool onto the point, line, plane, sphere or cylinder
	TAC_EFFECT_INSIDE,  // only outside: keeps the tool inside
	TAC_EFFECT_OUTSIDE, // only inside: keeps the tool outside
} tac_effect_side;

// Where a constant force, gravity, viscosity or vibration acts. At its border it rises from zero over
// border_m.
typedef enum tac_effect_region {
	TAC_EFFECT_EVERYWHERE,
	TAC_EFFECT_BALL,       // of radius_m about position_m
	TAC_EFFECT_HALF_SPACE, // behind the plane through position_m with the normal `direction`
} tac_effect_region;

// Lengths, places and directions are in the world; tool_point_m is in the tool's frame. Each kind uses some
// of the fields (docs/scene.md lists them with their ranges).
typedef struct tac_effect {
	int kind;                   // a tac_effect_kind
	char name[TAC_EFFECT_NAME]; // not empty
	char tool[TAC_EFFECT_NAME]; // of the tool on which it acts; empty: on every tool
	bool enabled;
	tac_dvec3 tool_point_m; // the point of the tool on which it acts
	tac_dvec3 position_m;
	tac_dvec3 direction; // of any length above 0
	tac_dvec3 force_N, torque_Nm;
	double mass_kg;
	tac_dvec3 gravity_m_per_s2;
	double stiffness_N_per_m;
	double damping_N_s_per_m;
	int side; // a tac_effect_side
	double radius_m;
	double range_m;     // from half of this distance on the spring's force falls, to zero at it; 0: never
	double max_force_N; // of the spring; 0: no limit
	double peak_force_N; // of a magnet
	double core_m;       // of a magnet: its force is largest at 0.71 of this distance
	int region;          // a tac_effect_region
	double border_m;
	double amplitude_N;
	double frequency_Hz; // fades out where a wave has fewer than five to three ticks
	double attack_s, hold_s,
		release_s; // envelope from the moment it is switched on; hold_s 0: until switched off
} tac_effect;

// The motion for which tac_effect_at computes a force.
typedef struct tac_effect_motion {
	tac_dpose T_world_tool;
	tac_dvec3 velocity_m_per_s; // of the tool's origin
	tac_dvec3 angular_velocity_rad_per_s;
	double time_s;   // since the effect was switched on
	double period_s; // of the loop
} tac_effect_motion;

// The wrenches act on the tool, about its origin, in the world frame.
typedef struct tac_effect_sample {
	tac_wrench field;         // depends on the pose
	tac_wrench damper;        // against the velocity
	tac_wrench wave;          // depends on the time
	double stiffness_N_per_m; // of the field here: the most that it changes per metre; 0: out of reach
	double damping_N_s_per_m; // here
	double outside_m;         // distance to where it acts; 0: it acts here
	double arm_m;             // of tool_point_m about the tool's origin

	// For the bound of its change, independent of the place.
	double most_stiffness_N_per_m, most_damping_N_s_per_m, fade_m, wave_N_per_s;
} tac_effect_sample;

// An effect of `kind` with the defaults of docs/scene.md, enabled, without a name.
// Thread: any.
TAC_API tac_effect tac_effect_default(tac_effect_kind kind);

// TAC_OK if every field that the kind uses is in its range; otherwise TAC_ERROR_ARGUMENT with one log line.
// Thread: any but RT.
TAC_API tac_result tac_effect_check(const tac_effect *effect);

// The force of an effect, whether it is enabled or not. `effect` passes tac_effect_check.
// Thread: RT.
TAC_API tac_effect_sample tac_effect_at(const tac_effect *effect, const tac_effect_motion *motion);

// "constant", "gravity", …. Never NULL.
// Thread: any.
TAC_API const char *tac_effect_kind_name(tac_effect_kind kind);

// ---- a function of one's own ----

typedef struct tac_effect_input {
	int64_t time_ns;  // of the tick
	double elapsed_s; // since the last tick; 0 in the first
	tac_dpose T_world_device;
	tac_dvec3 velocity_m_per_s; // of the device, in the world, filtered
	tac_dvec3 angular_velocity_rad_per_s;
	tac_dpose T_world_sco;
	tac_wrench sent; // in the last tick, on the tool, world frame
	uint32_t buttons;
} tac_effect_input;

// Zero before the call.
typedef struct tac_effect_output {
	tac_wrench wrench;        // on the tool, about its origin, world frame
	double stiffness_N_per_m; // at most so much does the force change per metre of the tool's motion, and
	double damping_N_s_per_m; // so much per m/s: they count in the stability limits
} tac_effect_output;

// Computes the application's own force. The function is called in every tick on the real-time thread, except
// while the tool waits to be free of contact (TAC_SERVO_WAITING), while the clutch is held and after an
// overrun. It must not allocate, lock, print, block or loop without a bound, and its result may depend on
// nothing but the input and what `user` remembers of earlier ones; otherwise a replay differs. What is not
// finite counts as zero. A force that changes faster than its stiffness and damping and the callback's slew
// explain is followed at that rate. Thread: RT.
typedef void tac_effect_fn(void *user, const tac_effect_input *input, tac_effect_output *out);

typedef struct tac_effect_callback {
	tac_effect_fn *fn; // NULL: none
	void *user;
	// A call that takes longer is an overrun: it is counted, and the function is not called again for
	// TAC_EFFECT_REST_NS while its force ramps to zero. Where no clock is read (renders) there are none.
	// A tick that misses its deadline for it has the cause *effect*. 0: a tenth of the period.
	int64_t budget_ns;
	double slew_N_per_s; // 0: the ramp of the effects
	bool gives_energy;   // its work is left out of the passivity account, as that of a field is
} tac_effect_callback;

#define TAC_EFFECT_REST_NS INT64_C(1000000000)

#ifdef __cplusplus
}
#endif

#endif
