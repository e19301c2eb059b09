#include "haptic/stability.h"

#include "base/assert.h"
#include "base/oscillator.h"

#include <complex.h>
#include <math.h>

#define ANGLES   256 // on the upper half of the unit circle; the smallest is pi / ANGLES^3 = 2e-7 rad
#define HALVINGS 60
#define DEGREE   (TAC_STABILITY_DELAY_MAX + 5) // of the characteristic polynomial

static const double pi = 3.14159265358979323846;

// Plant, hold and delay, sampled: one period later the state is phi (x, v) + now f(k - n) + old f(k - n - 1).
typedef struct plant {
	double phi[2][2];
	double now[2], old[2];
	int whole;   // n: whole periods of the delay
	double part; // the rest of it, 0 … below 1 of a period
} plant;

// Position and speed after `duration_s` from x, v under a constant force; in arcs the series can take.
static void move(const tac_oscillator *o, double *x, double *v, double force, double duration_s)
{
	if (!(duration_s > 0))
		return;
	const double arcs = fmin(ceil(duration_s / tac_oscillator_reach_s(o)), 1000);
	for (double i = 0; i < fmax(arcs, 1); i++) {
		tac_oscillator_arc arc;
		tac_oscillator_arc_init(&arc, o, *x, *v, force, 0, duration_s / fmax(arcs, 1));
		*x = tac_oscillator_arc_x(&arc, 1);
		*v = tac_oscillator_arc_v(&arc, 1);
	}
}

static void split_delay(const tac_stability_loop *loop, int *out_whole, double *out_part)
{
	// A delay that is whole but for rounding counts as whole.
	const double periods = loop->delay_s / loop->period_s;
	const double whole = floor(periods + 1e-9);
	*out_whole = whole > TAC_STABILITY_DELAY_MAX ? TAC_STABILITY_DELAY_MAX + 1 : (int)whole;
	*out_part = periods - whole < 1e-9 ? 0 : periods - whole;
}

static plant plant_of(const tac_oscillator *o, const tac_stability_loop *loop)
{
	plant p = {.phi = {{1, 0}, {0, 1}}};
	split_delay(loop, &p.whole, &p.part);
	const double T = loop->period_s;
	move(o, &p.phi[0][0], &p.phi[1][0], 0, T);
	move(o, &p.phi[0][1], &p.phi[1][1], 0, T);
	move(o, &p.now[0], &p.now[1], 1, (1 - p.part) * T);
	// The older force acts first, then the plant moves on without it.
	move(o, &p.old[0], &p.old[1], 1, p.part * T);
	move(o, &p.old[0], &p.old[1], 0, (1 - p.part) * T);
	return p;
}

// The sampled position's answer to the wall's force at z: numerator / denominator without the whole delay.
static double complex response(const plant *p, double complex z)
{
	const double complex x = p->now[0] + p->old[0] / z, v = p->now[1] + p->old[1] / z;
	const double complex determinant =
		(z - p->phi[0][0]) * (z - p->phi[1][1]) - p->phi[0][1] * p->phi[1][0];
	return ((z - p->phi[1][1]) * x + p->phi[0][1] * v) / determinant;
}

// z on the unit circle.
static double complex circle(double angle)
{
	return cos(angle) + sin(angle) * (double complex)I;
}

// The damper of the wall at z, for B = 1.
static double complex difference(const tac_stability_loop *loop, double complex z)
{
	const double pole = loop->velocity_pole;
	return (1 - pole) * (1 - 1 / z) / (loop->period_s * (1 - pole / z));
}

// The stiffness that would put a root of the loop at this angle; only a real one does.
static double complex stiffness_at(const plant *p, const tac_stability_loop *loop, double angle)
{
	const double complex z = circle(angle);
	return -circle(p->whole * angle) / response(p, z) - loop->damping_N_s_per_m * difference(loop, z);
}

// Whether all roots of the characteristic polynomial lie inside the unit circle.
static bool stable(const plant *p, const tac_stability_loop *loop, double stiffness)
{
	// Multiplied out: z^(n+1) (z - pole) det(z) + (K (z - pole) + B (1 - pole) (z - 1) / T) num(z), where
	// num(z) is z times the numerator of response(), both from the highest power down.
	const double pole = loop->velocity_pole;
	const double det[3] = {1, -(p->phi[0][0] + p->phi[1][1]),
			       p->phi[0][0] * p->phi[1][1] - p->phi[0][1] * p->phi[1][0]};
	const double num[3] = {p->now[0], p->old[0] - p->phi[1][1] * p->now[0] + p->phi[0][1] * p->now[1],
			       -p->phi[1][1] * p->old[0] + p->phi[0][1] * p->old[1]};
	const double damper = loop->damping_N_s_per_m * (1 - pole) / loop->period_s;
	const double wall[2] = {stiffness + damper, -stiffness * pole - damper};
	const double filter[2] = {1, -pole};
	double a[DEGREE + 1] = {0};
	int degree = p->whole + 4;
	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < 3; j++) {
			a[i + j] += filter[i] * det[j];
			a[degree - 3 + i + j] += wall[i] * num[j];
		}
	}
	// Schur-Cohn: divide the reversed polynomial out, degree by degree.
	for (; degree > 0; degree--) {
		const double ratio = a[degree] / a[0];
		if (!(fabs(ratio) < 1))
			return false;
		double next[DEGREE + 1];
		for (int i = 0; i < degree; i++)
			next[i] = a[i] - ratio * a[degree - i];
		for (int i = 0; i < degree; i++)
			a[i] = next[i];
	}
	return true;
}

static double angle_of(int i)
{
	const double part = (double)i / ANGLES;
	return pi * part * part * part;
}

double tac_stability_critical(const tac_device_mechanics *device, const tac_stability_hand *hand,
			      const tac_stability_loop *loop)
{
	TAC_ASSERT(loop->period_s > 0 && loop->delay_s >= 0);
	const tac_oscillator o = {device->mass + hand->mass_kg, device->damping + hand->damping_N_s_per_m,
				  hand->stiffness_N_per_m};
	const plant p = plant_of(&o, loop);
	if (p.whole > TAC_STABILITY_DELAY_MAX)
		return 0;
	double least = HUGE_VAL;
	double complex before = stiffness_at(&p, loop, angle_of(1));
	for (int i = 2; i <= ANGLES; i++) {
		double complex after = stiffness_at(&p, loop, angle_of(i));
		if (i == ANGLES) // z = -1, where everything is real
			after = creal(after);
		if (cimag(before) * cimag(after) < 0) {
			double low = angle_of(i - 1), high = angle_of(i);
			for (int halving = 0; halving < HALVINGS; halving++) {
				const double middle = 0.5 * (low + high);
				if (cimag(stiffness_at(&p, loop, middle)) * cimag(before) > 0)
					low = middle;
				else
					high = middle;
			}
			const double found = creal(stiffness_at(&p, loop, low));
			if (found > 0 && found < least)
				least = found;
		}
		before = after;
	}
	if (creal(before) > 0 && creal(before) < least)
		least = creal(before);
	// Between two stiffnesses with a root on the circle nothing changes, so one look decides for all
	// below.
	const double below = isfinite(least) ? 0.5 * least : o.mass / (loop->period_s * loop->period_s);
	return stable(&p, loop, below) ? least : 0;
}

// The greatest K for which the power at this angle is not generated: with H = K + B d(z), R the real part of
// Colgate and Schenkel's expression and q = T^2 part (1 - part), it is R + sqrt(R^2 + q |H|^2) <= 2 b, which
// is q |H|^2 <= 4 b (b - R), a quadratic inequality in K.
static double passive_at(double b, const tac_stability_loop *loop, int whole, double part, double angle)
{
	const double T = loop->period_s;
	const double complex z = circle(angle);
	const double complex back = 1 / z;
	const double complex held = (1 - back) * circle(-whole * angle) * ((1 - part) + part * back);
	const double complex damper = loop->damping_N_s_per_m * difference(loop, z);
	const double half = sin(0.5 * angle);
	const double scale = 0.5 * T / (2 * half * half);
	const double r1 = scale * creal(held), r0 = scale * creal(held * damper);
	const double q = T * T * part * (1 - part);
	const double c2 = q;
	const double c1 = 2 * q * creal(damper) + 4 * b * r1;
	const double c0 = q * creal(damper * conj(damper)) + 4 * b * (r0 - b);
	if (c0 > 0)
		return 0;
	if (c2 == 0)
		return c1 > 0 ? -c0 / c1 : HUGE_VAL;
	// The positive root, without cancellation.
	const double root = sqrt(c1 * c1 - 4 * c2 * c0);
	return c1 > 0 ? -2 * c0 / (c1 + root) : (root - c1) / (2 * c2);
}

double tac_stability_passive(double damping_N_s_per_m, const tac_stability_loop *loop)
{
	TAC_ASSERT(loop->period_s > 0 && loop->delay_s >= 0);
	int whole;
	double part;
	split_delay(loop, &whole, &part);
	if (whole > TAC_STABILITY_DELAY_MAX || !(damping_N_s_per_m > 0))
		return 0;
	double least = HUGE_VAL;
	int at = 1;
	for (int i = 1; i <= ANGLES; i++) {
		// Below 1e-3 rad the difference (1 - back) loses its digits and the limit has been reached.
		const double angle = fmax(angle_of(i), 1e-3);
		const double found = passive_at(damping_N_s_per_m, loop, whole, part, angle);
		if (found < least) {
			least = found;
			at = i;
		}
	}
	// Golden section between the neighbours of the least.
	const double golden = 0.61803398874989485;
	double low = fmax(angle_of(at - 1), 1e-3), high = angle_of(at < ANGLES ? at + 1 : ANGLES);
	for (int i = 0; i < HALVINGS; i++) {
		const double left = high - golden * (high - low), right = low + golden * (high - low);
		const double at_left = passive_at(damping_N_s_per_m, loop, whole, part, left);
		const double at_right = passive_at(damping_N_s_per_m, loop, whole, part, right);
		if (at_left < at_right)
			high = right;
		else
			low = left;
		least = fmin(least, fmin(at_left, at_right));
	}
	return least > 0 ? least : 0;
}

double tac_stability_quantised(const tac_device_mechanics *device, const tac_stability_loop *loop)
{
	if (!(device->resolution > 0))
		return HUGE_VAL;
	return fmax(0, 2 * (device->coulomb / device->resolution - loop->damping_N_s_per_m / loop->period_s));
}
