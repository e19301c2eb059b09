// Oscillator: the exact motion of a mass on a spring and a damper under a force that grows linearly with
// time,
//	m x'' + c x' + k x = F + R t,
// as the Taylor series of the solution. The series needs no case distinction for the damping (none, weak,
// critical, strong) or for a missing spring, and turning points are roots of its derivative, a polynomial.
// Units may be linear (kg, m, N) or angular (kg m^2, rad, N m).
#ifndef TAC_BASE_OSCILLATOR_H
#define TAC_BASE_OSCILLATOR_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_oscillator {
	double mass;      // kg, above 0
	double damping;   // N s/m, 0 or more
	double stiffness; // N/m, 0 or more
} tac_oscillator;

// Within tac_oscillator_max_arc_s the remainder of the series is below 1e-17 of its largest term.
#define TAC_OSCILLATOR_TERMS 20

// One piece of the motion in time.
typedef struct tac_oscillator_arc {
	double duration_s;
	double term[TAC_OSCILLATOR_TERMS]; // x(s duration) = sum of term[n] s^n, 0 <= s <= 1
} tac_oscillator_arc;

// The longest arc for which the series is exact to rounding: c h / m <= 1/2 and k h^2 / m <= 1/4; infinite
// for a free mass.
// Thread: RT.
double tac_oscillator_max_arc_s(const tac_oscillator *oscillator);

// The arc that begins at `x` (m) with speed `v` (m/s) under the force `force` + `force_rate` t (N, N/s).
// `duration_s` is above 0 and at most tac_oscillator_max_arc_s.
// Thread: RT.
void tac_oscillator_arc_init(tac_oscillator_arc *arc, const tac_oscillator *oscillator, double x, double v,
			     double force, double force_rate, double duration_s);

// Position (m) at the fraction `s` of the arc, 0 to 1.
// Thread: RT.
double tac_oscillator_arc_x(const tac_oscillator_arc *arc, double s);

// Speed (m/s) at the fraction `s` of the arc, 0 to 1.
// Thread: RT.
double tac_oscillator_arc_v(const tac_oscillator_arc *arc, double s);

#ifdef __cplusplus
}
#endif

#endif
