#include "tissue/needle/axial.h"

#include <math.h>

// A front this close to a membrane stands on it, m.
#define AT_MEMBRANE_M 1e-12
// A balance is found to this length or force.
#define BALANCE_M 1e-14
#define BALANCE_N 1e-11
// Evaluations of one root; each halves the interval at least every third time.
#define ROOT_STEPS 80
// The most events of a tick: each membrane is reached and opened once.
#define EVENTS (2 * TAC_NEEDLE_LAYERS + 2)

// ---- the spring at the tip ----

// The force over the elongation d: that of `before` up to the elongation `splice`, then that of `behind`,
// shifted so that the force has no step. At a closed membrane, `before` is the layer above it.
typedef struct tip_law {
	const tac_needle_layer *before, *behind;
	double splice, shift;
	double threshold_N;
	bool closed;
	int32_t layer; // behind
} tip_law;

static double spring_N(const tac_needle_layer *l, double d)
{
	return d > 0 ? l->tip_stiffness_N_per_m * d + l->tip_stiffening_N_per_m2 * d * d : 0;
}

static double spring_J(const tac_needle_layer *l, double d)
{
	return d > 0 ? (0.5 * l->tip_stiffness_N_per_m + l->tip_stiffening_N_per_m2 * d / 3) * d * d : 0;
}

// The positive root of q d^2 + p d = c, p > 0, q >= 0; 0 for c <= 0.
static double positive_root(double q, double p, double c)
{
	return c > 0 ? 2 * c / (p + sqrt(p * p + 4 * q * c)) : 0;
}

static double spring_elongation(const tac_needle_layer *l, double force_N)
{
	return positive_root(l->tip_stiffening_N_per_m2, l->tip_stiffness_N_per_m, force_N);
}

int32_t tac_axial_layer(const tac_axial_tick *tick, double s)
{
	int32_t i = 0;
	while (i + 1 < tick->layer_count && s >= tick->membranes[i + 1])
		i++;
	return i;
}

static tip_law law_at(const tac_axial *a, const tac_axial_tick *tick)
{
	const int32_t next = a->opened;
	if (next < tick->layer_count && a->front >= tick->membranes[next] - AT_MEMBRANE_M) {
		const tac_needle_layer *l = &tick->layers[next];
		tip_law law = {l, l, HUGE_VAL, 0, l->puncture_N, true, next};
		if (next > 0) {
			law.before = l - 1;
			law.splice = spring_elongation(law.before, law.before->cutting_N);
			law.shift = law.splice - spring_elongation(l, law.before->cutting_N);
		}
		return law;
	}
	const int32_t i = tac_axial_layer(tick, a->front);
	const tac_needle_layer *l = &tick->layers[i];
	return (tip_law){l, l, HUGE_VAL, 0, l->cutting_N + tick->push_N, false, i};
}

static double law_N(const tip_law *law, double d)
{
	return d <= law->splice ? spring_N(law->before, d) : spring_N(law->behind, d - law->shift);
}

static double law_J(const tip_law *law, double d)
{
	if (d <= law->splice)
		return spring_J(law->before, d);
	return spring_J(law->before, law->splice) + spring_J(law->behind, d - law->shift) -
	       spring_J(law->behind, law->splice - law->shift);
}

static double branch_N_per_m(const tip_law *law, const tac_axial_tick *tick)
{
	return law->behind->relaxation_N_per_m * tick->decay;
}

static double branch_J(const tip_law *law, double branch)
{
	return 0.5 * law->behind->relaxation_N_per_m * branch * branch;
}

// The elongation d at which spring and branch together reach the threshold, where the branch is `rest` longer
// than d.
static double elongation_at_threshold(const tip_law *law, double branch_stiffness, double rest)
{
	const double c = law->threshold_N - branch_stiffness * rest;
	const tac_needle_layer *l = law->before;
	double d = positive_root(l->tip_stiffening_N_per_m2, l->tip_stiffness_N_per_m + branch_stiffness, c);
	if (d > law->splice) {
		l = law->behind;
		d = law->shift + positive_root(l->tip_stiffening_N_per_m2,
					       l->tip_stiffness_N_per_m + branch_stiffness,
					       c - branch_stiffness * law->shift);
	}
	return d;
}

// ---- the shaft ----

// The length of shaft in layer i.
static double length_in(const tac_axial *a, const tac_axial_tick *tick, int32_t i)
{
	const double reach = fmin(a->z, a->front);
	const double end = i + 1 < tick->layer_count ? fmin(reach, tick->membranes[i + 1]) : reach;
	return fmax(end - tick->membranes[i], 0);
}

// The bristle of a layer when the shaft moves by `dz` and the length inside becomes `after`. New length
// enters without tension, so the force stays while the energy falls; length that leaves takes its share of
// both along.
static void bend_bristle(const tac_needle_layer *l, double before, double after, double dz, double *force_N,
			 double *friction_J)
{
	double g = *force_N;
	if (!(l->shaft_stiffness_N_per_m2 > 0) || (before <= 0 && after <= 0))
		return;
	const double stored_J = before > 0 ? 0.5 * g * g / (l->shaft_stiffness_N_per_m2 * before) : 0;
	if (after <= 0) {
		*friction_J += stored_J;
		*force_N = 0;
		return;
	}
	const double stiffness = l->shaft_stiffness_N_per_m2 * after;
	if (after < before)
		g *= after / before;
	*friction_J += fmax(stored_J - 0.5 * g * g / stiffness, 0);
	const double most = l->shaft_friction_N_per_m * after;
	const double wanted = g + stiffness * dz, bent = fmin(fmax(wanted, -most), most);
	*friction_J += most * fabs(wanted - bent) / stiffness;
	*force_N = bent;
}

// Notes the lengths inside, to be compared after a motion.
static void note_lengths(const tac_axial *a, const tac_axial_tick *tick, double out[TAC_NEEDLE_LAYERS])
{
	for (int32_t i = 0; i < tick->layer_count; i++)
		out[i] = length_in(a, tick, i);
}

static void bend_bristles(tac_axial *a, const tac_axial_tick *tick, const double *before, double dz)
{
	for (int32_t i = 0; i < tick->layer_count; i++)
		bend_bristle(&tick->layers[i], before[i], length_in(a, tick, i), dz, &a->shaft_N[i],
			     &a->friction_J);
}

static double viscosity_N_s_per_m(const tac_axial *a, const tac_axial_tick *tick)
{
	double sum = 0;
	for (int32_t i = 0; i < tick->layer_count; i++)
		sum += tick->layers[i].shaft_viscosity_N_s_per_m2 * length_in(a, tick, i);
	return sum;
}

// ---- motion between events ----

static void relax_to(tac_axial *a, const tip_law *law, double branch)
{
	a->relaxation_J += fmax(branch_J(law, a->branch) - branch_J(law, branch), 0);
	a->branch = branch;
}

// Moves to z with the membranes as they are. The front moves where the tip exceeds the cutting force.
static void slide(tac_axial *a, const tac_axial_tick *tick, const tip_law *law, double z)
{
	double before[TAC_NEEDLE_LAYERS];
	note_lengths(a, tick, before);
	const double from = fmax(a->z - a->front, 0), to = z - a->front, dz = z - a->z;
	a->across_J += tick->push_N * fmax(fmin(z, a->front) - a->z, 0);
	const double k = branch_N_per_m(law, tick);
	a->z = z;
	if (to <= 0) {
		relax_to(a, law, 0);
	} else {
		a->branch += to - from;
		const double spring = law_N(law, to);
		if (spring + k * a->branch < 0) { // the tissue follows no faster: contact without force
			relax_to(a, law, -spring / k);
		} else if (!law->closed && spring + k * a->branch > law->threshold_N) {
			const double rest = a->branch - to,
				     d = fmin(elongation_at_threshold(law, k, rest), to);
			const double next =
				a->opened < tick->layer_count ? tick->membranes[a->opened] : HUGE_VAL;
			const double front = fmin(z - d, next);
			a->cutting_J += law->behind->cutting_N * (front - a->front);
			a->across_J += tick->push_N * (front - a->front);
			a->front = front;
			a->branch = rest + (z - front);
		}
	}
	bend_bristles(a, tick, before, dz);
}

static double tip_N(const tac_axial *a, const tac_axial_tick *tick, const tip_law *law)
{
	const double d = a->z - a->front;
	return d > 0 ? fmax(law_N(law, d) + branch_N_per_m(law, tick) * a->branch, 0) : 0;
}

double tac_axial_tip_N(const tac_axial *a, const tac_axial_tick *tick)
{
	const tip_law law = law_at(a, tick);
	return tip_N(a, tick, &law);
}

double tac_axial_viscous_N(const tac_axial *a, const tac_axial_tick *tick)
{
	return tick->elapsed_s > 0 ? viscosity_N_s_per_m(a, tick) * (a->z - tick->start) / tick->elapsed_s
				   : 0;
}

double tac_axial_shaft_N(const tac_axial *a, const tac_axial_tick *tick)
{
	double sum = tac_axial_viscous_N(a, tick);
	for (int32_t i = 0; i < tick->layer_count; i++)
		sum += a->shaft_N[i];
	return sum;
}

double tac_axial_tip_J(const tac_axial *a, const tac_axial_tick *tick)
{
	const tip_law law = law_at(a, tick);
	return law_J(&law, a->z - a->front) + branch_J(&law, a->branch);
}

double tac_axial_shaft_J(const tac_axial *a, const tac_axial_tick *tick)
{
	double sum = 0;
	for (int32_t i = 0; i < tick->layer_count; i++) {
		const double stiffness = tick->layers[i].shaft_stiffness_N_per_m2 * length_in(a, tick, i);
		sum += stiffness > 0 ? 0.5 * a->shaft_N[i] * a->shaft_N[i] / stiffness : 0;
	}
	return sum;
}

// ---- events ----

// Where, further in, the front reaches the next membrane or the closed one opens.
static double next_event(const tac_axial *a, const tac_axial_tick *tick, const tip_law *law)
{
	if (law->closed && tick->sealed)
		return HUGE_VAL;
	if (!law->closed && a->opened >= tick->layer_count)
		return HUGE_VAL;
	const double rest = a->branch - fmax(a->z - a->front, 0);
	const double d = elongation_at_threshold(law, branch_N_per_m(law, tick), rest);
	return fmax((law->closed ? a->front : tick->membranes[a->opened]) + d, a->z);
}

// The front stands on the next membrane: spring and branch are those of the layer behind it.
static void reach_membrane(tac_axial *a, const tac_axial_tick *tick, const tip_law *law)
{
	const double before_J = law_J(law, a->z - a->front) + branch_J(law, a->branch);
	const double stiffness = law->behind->relaxation_N_per_m;
	a->front = tick->membranes[a->opened];
	const tip_law now = law_at(a, tick);
	const double stiffness_now = now.behind->relaxation_N_per_m;
	if (stiffness_now > stiffness)
		a->branch *= stiffness / stiffness_now;
	a->relaxation_J += fmax(before_J - law_J(&now, a->z - a->front) - branch_J(&now, a->branch), 0);
}

// Places the front after a membrane has opened: where the cutting force holds it, or on the next membrane.
// The tip never holds more energy than there was, whatever the layers: else the front goes further, and
// through the next membrane if that is stiffer than what was pressed so far. Returns the energy.
static double place_front(tac_axial *a, const tac_axial_tick *tick, double d, double before_J)
{
	const double branch = a->branch;
	const tac_needle_layer *l = &tick->layers[a->opened - 1];
	double e = fmin(spring_elongation(l, l->cutting_N), d), after_J = 0;
	for (int i = 0; i < ROOT_STEPS; i++) {
		const double next = a->opened < tick->layer_count ? tick->membranes[a->opened] : HUGE_VAL;
		const bool stopped = a->z - e >= next;
		a->front = stopped ? next : a->z - e;
		a->branch = d > 0 ? branch * (a->z - a->front) / d : 0;
		const tip_law law = law_at(a, tick);
		after_J = law_J(&law, a->z - a->front) + branch_J(&law, a->branch);
		if (after_J <= before_J)
			break;
		if (stopped)
			a->opened++;
		else
			e *= 0.9;
	}
	return after_J;
}

static void open_membrane(tac_axial *a, const tac_axial_tick *tick, const tip_law *law)
{
	double lengths[TAC_NEEDLE_LAYERS];
	note_lengths(a, tick, lengths);
	const double d = a->z - a->front, front = a->front;
	const double before_J = law_J(law, d) + branch_J(law, a->branch);
	a->opened++;
	const double after_J = place_front(a, tick, d, before_J);
	const double cut_J =
		fmin(tick->layers[a->opened - 1].cutting_N * (a->front - front), before_J - after_J);
	const double left_J = fmax(before_J - after_J - fmax(cut_J, 0), 0);
	const double across_J = fmin(tick->push_N * (a->front - front), left_J);
	a->cutting_J += fmax(cut_J, 0);
	a->across_J += across_J;
	a->puncture_J += left_J - across_J;
	bend_bristles(a, tick, lengths, 0);
}

// Moves to the event at z and lets it happen.
static void pass_event(tac_axial *a, const tac_axial_tick *tick, const tip_law *law, double z)
{
	slide(a, tick, law, z);
	if (law->closed)
		open_membrane(a, tick, law);
	else
		reach_membrane(a, tick, law);
}

// ---- a tick ----

void tac_axial_begin(tac_axial *a, tac_axial_tick *tick)
{
	tick->start = a->z;
	const tip_law law = law_at(a, tick);
	const double time_s = law.behind->relaxation_s;
	tick->decay =
		law.behind->relaxation_N_per_m > 0 && time_s > 0 ? exp(-0.5 * tick->elapsed_s / time_s) : 1;
	relax_to(a, &law, a->branch * tick->decay);
}

void tac_axial_end(tac_axial *a, const tac_axial_tick *tick)
{
	const tip_law law = law_at(a, tick);
	relax_to(a, &law, a->branch * tick->decay);
	a->viscosity_J += 0.5 * tac_axial_viscous_N(a, tick) * (a->z - tick->start);
}

void tac_axial_move(tac_axial *a, const tac_axial_tick *tick, double z)
{
	tip_law law = law_at(a, tick);
	for (int i = 0; i < EVENTS && z > a->z; i++) {
		const double event = next_event(a, tick, &law);
		if (!(event <= z))
			break;
		pass_event(a, tick, &law, event);
		law = law_at(a, tick);
	}
	slide(a, tick, &law, z);
}

// What is left of the spring's force when the needle is at z; it falls with z.
static double excess_N(const tac_axial *a, const tac_axial_tick *tick, const tip_law *law, double z, double x,
		       double stiffness_N_per_m)
{
	tac_axial trial = *a;
	slide(&trial, tick, law, z);
	const double push_N = tick->bias_N + (z > a->z && z < a->front ? tick->push_N : 0);
	return stiffness_N_per_m * (x - z) - tip_N(&trial, tick, law) - tac_axial_shaft_N(&trial, tick) -
	       push_N;
}

// The root of the excess between `inner` (excess >= 0) and `outer` (excess <= 0): regula falsi by the
// Illinois method, with a bisection every third step.
static double find_balance(const tac_axial *a, const tac_axial_tick *tick, const tip_law *law, double x,
			   double k, double inner, double outer)
{
	double f_inner = excess_N(a, tick, law, inner, x, k), f_outer = excess_N(a, tick, law, outer, x, k);
	if (!(f_inner > 0))
		return inner;
	for (int i = 0; i < ROOT_STEPS && f_outer < 0 && fabs(outer - inner) > BALANCE_M; i++) {
		const double z = i % 3 == 2 ? 0.5 * (inner + outer)
					    : inner + (outer - inner) * f_inner / (f_inner - f_outer);
		const double f = excess_N(a, tick, law, z, x, k);
		if (fabs(f) < BALANCE_N)
			return z;
		if (f > 0) {
			inner = z;
			f_inner = f;
			if (i % 3 != 2)
				f_outer *= 0.5;
		} else {
			outer = z;
			f_outer = f;
			if (i % 3 != 2)
				f_inner *= 0.5;
		}
	}
	return f_outer < 0 ? inner : outer;
}

// A place beyond the balance, from `z` in steps that double towards `sign`.
static double beyond_balance(const tac_axial *a, const tac_axial_tick *tick, const tip_law *law, double x,
			     double k, double z, double sign)
{
	for (double step = 1e-3; step < 1e3 && sign * excess_N(a, tick, law, z, x, k) > 0; step *= 2)
		z += sign * step;
	return z;
}

void tac_axial_balance(tac_axial *a, const tac_axial_tick *tick, double x, double stiffness_N_per_m)
{
	const double k = stiffness_N_per_m;
	tip_law law = law_at(a, tick);
	if (excess_N(a, tick, &law, a->z, x, k) < 0) {
		const double inner = beyond_balance(a, tick, &law, x, k, fmin(x, a->z), -1);
		slide(a, tick, &law, find_balance(a, tick, &law, x, k, inner, a->z));
		return;
	}
	for (int i = 0; i < EVENTS; i++) {
		const double event = next_event(a, tick, &law);
		if (!(event < HUGE_VAL) || excess_N(a, tick, &law, event, x, k) < 0) {
			const double outer = event < HUGE_VAL
						     ? event
						     : beyond_balance(a, tick, &law, x, k, fmax(x, a->z), 1);
			slide(a, tick, &law, find_balance(a, tick, &law, x, k, a->z, outer));
			return;
		}
		pass_event(a, tick, &law, event);
		law = law_at(a, tick);
		if (excess_N(a, tick, &law, a->z, x, k) <= 0)
			return;
	}
}
