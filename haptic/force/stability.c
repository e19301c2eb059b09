#include "haptic/stability.h"

#include "base/assert.h"
#include "base/oscillator.h"

#include <complex.h>
#include <math.h>

#define ANGLES   256 // samples on the upper half of the unit circle; the smallest is pi / ANGLES^3 = 2e-7 rad
#define HALVINGS 32  // of an interval between two samples; the stiffness is then known to 1e-9
#define SECTIONS 60
#define DEGREE   (TAC_STABILITY_DELAY_MAX + 5) // of the characteristic polynomial

static const double pi = 3.14159265358979323846;

// Plant, hold and delay, sampled: after one period the state is phi (x, v) + now f(k - n) + old f(k - n - 1).
typedef struct plant {
	double phi[2][2];
	double now[2], old[2];
	int whole;       // n: whole periods of the delay
	double fraction; // of a period, the rest of the delay: 0 … below 1
} plant;

// Integrates position and speed over `duration_s` under a constant force, in arcs within the reach of the
// series.
static void integrate(const tac_oscillator *o, double *x, double *v, double force, double duration_s)
{
	if (!(duration_s > 0))
		return;
	const double arcs = fmin(ceil(duration_s / tac_oscillator_max_arc_s(o)), 1000);
	for (double i = 0; i < fmax(arcs, 1); i++) {
		tac_oscillator_arc arc;
		tac_oscillator_arc_init(&arc, o, *x, *v, force, 0, duration_s / fmax(arcs, 1));
		*x = tac_oscillator_arc_x(&arc, 1);
		*v = tac_oscillator_arc_v(&arc, 1);
	}
}

static void split_delay(const tac_stability_loop *loop, int *out_whole, double *out_fraction)
{
	// A delay within rounding of a whole number of periods counts as whole.
	const double periods = loop->delay_s / loop->period_s;
	const double whole = floor(periods + 1e-9);
	*out_whole = whole > TAC_STABILITY_DELAY_MAX ? TAC_STABILITY_DELAY_MAX + 1 : (int)whole;
	*out_fraction = periods - whole < 1e-9 ? 0 : periods - whole;
}

static plant plant_of(const tac_oscillator *o, const tac_stability_loop *loop)
{
	plant p = {.phi = {{1, 0}, {0, 1}}};
	split_delay(loop, &p.whole, &p.fraction);
	const double T = loop->period_s;
	integrate(o, &p.phi[0][0], &p.phi[1][0], 0, T);
	integrate(o, &p.phi[0][1], &p.phi[1][1], 0, T);
	integrate(o, &p.now[0], &p.now[1], 1, (1 - p.fraction) * T);
	// The older force acts first, and then no more.
	integrate(o, &p.old[0], &p.old[1], 1, p.fraction * T);
	integrate(o, &p.old[0], &p.old[1], 0, (1 - p.fraction) * T);
	return p;
}

static double complex unit_circle(double angle)
{
	return cos(angle) + sin(angle) * (double complex)I;
}

// The transfer function of the wall's damper at z, for B = 1.
static double complex damper_at(const tac_stability_loop *loop, double complex z)
{
	const double pole = loop->velocity_pole;
	return (1 - pole) * (1 - 1 / z) / (loop->period_s * (1 - pole / z));
}

// A complex number, and only what the search for the critical stiffness needs: C's own operators care for
// infinities.
typedef struct complex_number {
	double re, im;
} complex_number;

static complex_number times(complex_number a, complex_number b)
{
	return (complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static complex_number over(complex_number a, complex_number b)
{
	const double inverse = 1 / (b.re * b.re + b.im * b.im);
	return (complex_number){(a.re * b.re + a.im * b.im) * inverse, (a.im * b.re - a.re * b.im) * inverse};
}

// The complex stiffness that puts a root of the loop at z, on the unit circle, where 1 / z is the conjugate
// of z; it is a solution where it is real. That is -z^n over the transfer function from the wall's force to
// the sampled position, less the damper.
static complex_number stiffness_at(const plant *p, const tac_stability_loop *loop, complex_number z)
{
	const double pole = loop->velocity_pole;
	const complex_number from0 = {z.re - p->phi[0][0], z.im}, from1 = {z.re - p->phi[1][1], z.im};
	const complex_number x = {p->now[0] + p->old[0] * z.re, -p->old[0] * z.im};
	const complex_number v = {p->now[1] + p->old[1] * z.re, -p->old[1] * z.im};
	const complex_number both = times(from0, from1), of_x = times(from1, x);
	const complex_number response = {of_x.re + p->phi[0][1] * v.re, of_x.im + p->phi[0][1] * v.im};
	complex_number determinant = {both.re - p->phi[0][1] * p->phi[1][0], both.im};
	for (int i = 0; i < p->whole; i++)
		determinant = times(determinant, z);
	const complex_number spring = over(determinant, response);
	const double damper = loop->damping_N_s_per_m * (1 - pole) / loop->period_s;
	const complex_number filter = {1 - pole * z.re, pole * z.im};
	const complex_number held = over((complex_number){damper * (1 - z.re), damper * z.im}, filter);
	return (complex_number){-spring.re - held.re, -spring.im - held.im};
}

// Whether all roots of the characteristic polynomial lie inside the unit circle.
static bool stable(const plant *p, const tac_stability_loop *loop, double stiffness)
{
	// z^(n+1) (z - pole) det(z) + (K (z - pole) + B (1 - pole) (z - 1) / T) num(z), where num(z) is z
	// times the numerator of response(); coefficients from the highest power down.
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
	// Schur-Cohn: reduce the degree by dividing out the reversed polynomial.
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
	const double fraction = (double)i / ANGLES;
	return pi * fraction * fraction * fraction;
}

// The tangent of half the angle of a sample, about that of angle_of(i), up to infinity at z = -1. Samples are
// at most 0.03 rad apart.
static double tangent_of(int i)
{
	const double fraction = (double)i / ANGLES;
	return 0.5 * pi * fraction * fraction * fraction / (1 - fraction);
}

static complex_number circle_at(double tangent)
{
	const double square = tangent * tangent, inverse = 1 / (1 + square);
	return (complex_number){(1 - square) * inverse, 2 * tangent * inverse};
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
	double smallest = HUGE_VAL;
	double before = stiffness_at(&p, loop, circle_at(tangent_of(1))).im;
	for (int i = 2; i < ANGLES; i++) {
		const double now = stiffness_at(&p, loop, circle_at(tangent_of(i))).im;
		if (before * now < 0) {
			double low = tangent_of(i - 1), high = tangent_of(i);
			for (int halving = 0; halving < HALVINGS; halving++) {
				const double middle = 0.5 * (low + high);
				if (stiffness_at(&p, loop, circle_at(middle)).im * before > 0)
					low = middle;
				else
					high = middle;
			}
			const double root = stiffness_at(&p, loop, circle_at(low)).re;
			if (root > 0 && root < smallest)
				smallest = root;
		}
		before = now;
	}
	// At z = -1 everything is real.
	const double last = stiffness_at(&p, loop, (complex_number){-1, 0}).re;
	if (last > 0 && last < smallest)
		smallest = last;
	// Stability changes only at stiffnesses with a root on the circle, so one test decides for all below
	// the smallest.
	const double below = isfinite(smallest) ? 0.5 * smallest : o.mass / (loop->period_s * loop->period_s);
	return stable(&p, loop, below) ? smallest : 0;
}

// The greatest K that generates no power at this angle. With H = K + B d(z), d(z) the damper of damper_at(),
// R the real part of Colgate and Schenkel's expression and q = T^2 fraction (1 - fraction), the condition is
// R + sqrt(R^2 + q |H|^2) <= 2 b, or q |H|^2 <= 4 b (b - R), a quadratic inequality in K.
static double passive_at(double b, const tac_stability_loop *loop, int whole, double fraction, double angle)
{
	const double T = loop->period_s;
	const double complex z = unit_circle(angle);
	const double complex back = 1 / z;
	const double complex held =
		(1 - back) * unit_circle(-whole * angle) * ((1 - fraction) + fraction * back);
	const double complex damper = loop->damping_N_s_per_m * damper_at(loop, z);
	const double half = sin(0.5 * angle);
	const double scale = 0.5 * T / (2 * half * half);
	const double r1 = scale * creal(held), r0 = scale * creal(held * damper);
	const double q = T * T * fraction * (1 - fraction);
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
	double fraction;
	split_delay(loop, &whole, &fraction);
	if (whole > TAC_STABILITY_DELAY_MAX || !(damping_N_s_per_m > 0))
		return 0;
	double smallest = HUGE_VAL;
	int at = 1;
	for (int i = 1; i <= ANGLES; i++) {
		// Below 1e-3 rad the difference (1 - back) loses its digits, and the expression has reached
		// its limit.
		const double angle = fmax(angle_of(i), 1e-3);
		const double stiffness = passive_at(damping_N_s_per_m, loop, whole, fraction, angle);
		if (stiffness < smallest) {
			smallest = stiffness;
			at = i;
		}
	}
	// Golden-section search between the neighbours of the smallest.
	const double golden = 0.61803398874989485;
	double low = fmax(angle_of(at - 1), 1e-3), high = angle_of(at < ANGLES ? at + 1 : ANGLES);
	for (int i = 0; i < SECTIONS; i++) {
		const double left = high - golden * (high - low), right = low + golden * (high - low);
		const double at_left = passive_at(damping_N_s_per_m, loop, whole, fraction, left);
		const double at_right = passive_at(damping_N_s_per_m, loop, whole, fraction, right);
		if (at_left < at_right)
			high = right;
		else
			low = left;
		smallest = fmin(smallest, fmin(at_left, at_right));
	}
	return smallest > 0 ? smallest : 0;
}

double tac_stability_quantised(const tac_device_mechanics *device, const tac_stability_loop *loop)
{
	if (!(device->resolution > 0))
		return HUGE_VAL;
	return fmax(0, 2 * (device->coulomb / device->resolution - loop->damping_N_s_per_m / loop->period_s));
}
