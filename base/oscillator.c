#include "base/oscillator.h"

#include "base/assert.h"

#include <math.h>

double tac_oscillator_max_arc_s(const tac_oscillator *oscillator)
{
	double by_damping = 0.5 * oscillator->mass / oscillator->damping;
	double by_spring = 0.5 * sqrt(oscillator->mass / oscillator->stiffness);
	return by_damping < by_spring ? by_damping : by_spring;
}

void tac_oscillator_arc_init(tac_oscillator_arc *arc, const tac_oscillator *oscillator, double x, double v,
			     double force, double force_rate, double duration_s)
{
	TAC_ASSERT(oscillator->mass > 0 && duration_s > 0);
	const double h = duration_s;
	const double spring = h * h / oscillator->mass;
	const double damper = oscillator->damping * h / oscillator->mass;
	double *a = arc->term;
	arc->duration_s = h;
	a[0] = x;
	a[1] = v * h;
	for (int n = 0; n + 2 < TAC_OSCILLATOR_TERMS; n++) {
		double push = n == 0 ? force : n == 1 ? force_rate * h : 0;
		a[n + 2] = (spring * (push - oscillator->stiffness * a[n]) / (n + 1) - damper * a[n + 1]) /
			   (n + 2);
	}
}

double tac_oscillator_arc_x(const tac_oscillator_arc *arc, double s)
{
	double x = 0;
	for (int n = TAC_OSCILLATOR_TERMS - 1; n >= 0; n--)
		x = x * s + arc->term[n];
	return x;
}

double tac_oscillator_arc_v(const tac_oscillator_arc *arc, double s)
{
	double v = 0;
	for (int n = TAC_OSCILLATOR_TERMS - 1; n >= 1; n--)
		v = v * s + n * arc->term[n];
	return v / arc->duration_s;
}
