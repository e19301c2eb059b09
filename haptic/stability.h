// Stability: how stiff a virtual wall may be on a given device at a given rate and delay. The wall is
//	f = K x + B v,	v = pole v' + (1 - pole) (x - x') / T,
// sampled every T, held, and felt after the delay; ' marks the previous sample. There are three limits, each
// exact:
//  - critical: above it the loop with a given device and hand oscillates. It follows from the pulse transfer
//    function of plant, hold and delay on the unit circle, and a Schur-Cohn test of the characteristic
//    polynomial below it.
//  - passive: up to it no passive hand can make the loop oscillate (J. E. Colgate and G. Schenkel, "Passivity
//    of a class of sampled-data systems", J. Robotic Systems 14(1), 1997, extended to delays that are not
//    whole periods).
//  - quantised: up to it the device's dry friction dissipates what the steps of the position sensor generate
//    (J. J. Abbott and A. M. Okamura, "Effects of position quantization and sampling rate on virtual-wall
//    passivity", IEEE Trans. Robotics 21(5), 2005).
// The rule of thumb (b + B) / (T/2 + delay) for the critical stiffness holds only for small B T / m.
#ifndef TAC_HAPTIC_STABILITY_H
#define TAC_HAPTIC_STABILITY_H

#include "devices/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// Delays beyond this many periods count as unstable: the limits are 0.
#define TAC_STABILITY_DELAY_MAX 24

// Mass, damping and stiffness of the hand that holds the device; all 0: the device alone.
typedef struct tac_stability_hand {
	double mass_kg;
	double damping_N_s_per_m;
	double stiffness_N_per_m;
} tac_stability_hand;

typedef struct tac_stability_loop {
	double period_s;          // above 0
	double delay_s;           // 0 or more, without the half period of the hold
	double damping_N_s_per_m; // B, 0 or more
	double velocity_pole;     // 0 … below 1
} tac_stability_loop;

// The stiffness in N/m at which device and hand begin to oscillate; 0: with any stiffness; INFINITY: with
// none. Bounded work: about 256 evaluations of a transfer function.
// Thread: RT.
double tac_stability_critical(const tac_device_mechanics *device, const tac_stability_hand *hand,
			      const tac_stability_loop *loop);

// The greatest stiffness in N/m that is passive with `damping_N_s_per_m` in the device; 0: none is. With
// delay and a wall that only pushes, it holds for B = 0 alone. Bounded work, as above.
// Thread: RT.
double tac_stability_passive(double damping_N_s_per_m, const tac_stability_loop *loop);

// 2 (friction / resolution - B / T) in N/m, at least 0; INFINITY for a sensor without steps.
// Thread: RT.
double tac_stability_quantised(const tac_device_mechanics *device, const tac_stability_loop *loop);

#ifdef __cplusplus
}
#endif

#endif
