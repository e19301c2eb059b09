#include "tissue/needle/lateral.h"

#include <math.h>
#include <string.h>

// ---- rigid ----

void tac_lateral_rigid(const tac_lateral_part *parts, int32_t count, const double lean[2],
		       const tac_needle_coupling *coupling, tac_lateral *out)
{
	const double kt = coupling->turn_stiffness_Nm_per_rad;
	// Moments of the stiffness over r, and of the stiffness times the track.
	double s0 = 0, s1 = 0, s2 = 0, b0[2] = {0, 0}, b1[2] = {0, 0}, track_J = 0;
	for (int32_t i = 0; i < count; i++) {
		const tac_lateral_part *p = &parts[i];
		const double r0 = p->r[0], r1 = p->r[1];
		const double w = p->stiffness_N_per_m2 * fabs(r1 - r0);
		s0 += w;
		s1 += w * 0.5 * (r0 + r1);
		s2 += w * (r0 * r0 + r0 * r1 + r1 * r1) / 3;
		for (int k = 0; k < 2; k++) {
			const double o0 = p->o[0][k], o1 = p->o[1][k];
			b0[k] += w * 0.5 * (o0 + o1);
			b1[k] += w * (2 * o0 * r0 + o0 * r1 + o1 * r0 + 2 * o1 * r1) / 6;
			track_J += 0.5 * w * (o0 * o0 + o0 * o1 + o1 * o1) / 3;
		}
	}
	const double a = coupling->stiffness_N_per_m + s0, c = kt + s2;
	const double determinant = a * c - s1 * s1;
	*out = (tac_lateral){.stored_J = track_J};
	for (int k = 0; k < 2; k++) {
		double *q = &out->tip[k], *m = &out->slope[k];
		*q = kt > 0 ? (c * b0[k] - s1 * b1[k]) / determinant : b0[k] / a;
		*m = kt > 0 ? (a * b1[k] - s1 * b0[k]) / determinant : 0;
		const double coupling_J = 0.5 * (coupling->stiffness_N_per_m * *q * *q + kt * *m * *m);
		out->coupling_J += coupling_J;
		out->along_N -= coupling->stiffness_N_per_m * *q * (lean[k] + *m);
		// The least of the whole energy is that of the track less half the work of the loads.
		out->stored_J -= 0.5 * (b0[k] * *q + b1[k] * *m) + coupling_J;
	}
	out->stored_J = fmax(out->stored_J, 0);
}

// ---- flexible ----

#define ELEMENTS (TAC_NEEDLE_NODES - 1)
#define UNKNOWNS (2 * TAC_NEEDLE_NODES)
#define BAND     4 // the diagonal and three below it
// Of a hub that does not turn, relative to what the beam itself needs to turn.
#define CLAMP 1e6

typedef struct beam {
	double band[UNKNOWNS][BAND]; // band[j][d]: row j, column j - d
	double load[UNKNOWNS][2];
	double element_m;
	double track_J;
} beam;

// Cubic shape functions of an element at the fraction t of its length h.
static void shape(double t, double h, double out[4])
{
	const double t2 = t * t, t3 = t2 * t;
	out[0] = 1 - 3 * t2 + 2 * t3;
	out[1] = h * (t - 2 * t2 + t3);
	out[2] = 3 * t2 - 2 * t3;
	out[3] = h * (t3 - t2);
}

static void add_bending(beam *b, double bending)
{
	const double h = b->element_m, a = bending / (h * h * h);
	const double K[4][4] = {{12 * a, 0, 0, 0},
				{6 * h * a, 4 * h * h * a, 0, 0},
				{-12 * a, -6 * h * a, 12 * a, 0},
				{6 * h * a, 2 * h * h * a, -6 * h * a, 4 * h * h * a}};
	for (int e = 0; e < ELEMENTS; e++) {
		for (int i = 0; i < 4; i++) {
			for (int j = 0; j <= i; j++)
				b->band[2 * e + i][i - j] += K[i][j];
		}
	}
}

// Adds the foundation of the part between r0 and r1, which lies in one element. Four Gauss points integrate
// the products of two cubics exactly.
static void add_foundation(beam *b, const tac_lateral_part *p, int element, double r0, double r1)
{
	static const double places[4] = {-0.861136311594052575, -0.339981043584856265, 0.339981043584856265,
					 0.861136311594052575};
	static const double weights[4] = {0.347854845137453857, 0.652145154862546143, 0.652145154862546143,
					  0.347854845137453857};
	const double h = b->element_m, span = p->r[1] - p->r[0];
	for (int g = 0; g < 4; g++) {
		const double r = 0.5 * (r0 + r1) + 0.5 * (r1 - r0) * places[g];
		const double w = 0.5 * (r1 - r0) * weights[g] * p->stiffness_N_per_m2;
		const double u = (r - p->r[0]) / span;
		double n[4];
		shape(r / h - element, h, n);
		for (int i = 0; i < 4; i++) {
			for (int j = 0; j <= i; j++)
				b->band[2 * element + i][i - j] += w * n[i] * n[j];
		}
		for (int k = 0; k < 2; k++) {
			const double o = p->o[0][k] + u * (p->o[1][k] - p->o[0][k]);
			for (int i = 0; i < 4; i++)
				b->load[2 * element + i][k] += w * o * n[i];
			b->track_J += 0.5 * w * o * o;
		}
	}
}

static void add_part(beam *b, tac_lateral_part p, double length_m)
{
	if (p.r[1] < p.r[0]) {
		const tac_lateral_part turned = {{p.r[1], p.r[0]},
						 {{p.o[1][0], p.o[1][1]}, {p.o[0][0], p.o[0][1]}},
						 p.stiffness_N_per_m2};
		p = turned;
	}
	const double end = fmin(p.r[1], length_m);
	double r = fmax(p.r[0], 0);
	if (!(p.r[1] > p.r[0]))
		return;
	for (int e = (int)fmin(r / b->element_m, ELEMENTS - 1); e < ELEMENTS && r < end; e++) {
		const double stop = e == ELEMENTS - 1 ? end : fmin(end, (e + 1) * b->element_m);
		if (stop > r)
			add_foundation(b, &p, e, r, stop);
		r = fmax(r, stop);
	}
}

// Cholesky's method on the band; the loads become the solution.
static void solve(beam *b)
{
	for (int j = 0; j < UNKNOWNS; j++) {
		for (int d = j < BAND - 1 ? j : BAND - 1; d >= 0; d--) {
			double s = b->band[j][d];
			for (int t = d + 1; t < BAND && t <= j; t++)
				s -= b->band[j][t] * b->band[j - d][t - d];
			b->band[j][d] = d > 0 ? s / b->band[j - d][0] : sqrt(s);
		}
		for (int k = 0; k < 2; k++) {
			double s = b->load[j][k];
			for (int d = 1; d < BAND && d <= j; d++)
				s -= b->band[j][d] * b->load[j - d][k];
			b->load[j][k] = s / b->band[j][0];
		}
	}
	for (int j = UNKNOWNS - 1; j >= 0; j--) {
		for (int k = 0; k < 2; k++) {
			double s = b->load[j][k];
			for (int d = 1; d < BAND && j + d < UNKNOWNS; d++)
				s -= b->band[j + d][d] * b->load[j + d][k];
			b->load[j][k] = s / b->band[j][0];
		}
	}
}

void tac_lateral_flexible(const tac_lateral_part *parts, int32_t count, const double lean[2], double length_m,
			  double bending_stiffness_Nm2, const tac_needle_coupling *coupling, tac_lateral *out)
{
	beam b;
	double loads[UNKNOWNS][2];
	memset(&b, 0, sizeof b);
	b.element_m = length_m / ELEMENTS;
	add_bending(&b, bending_stiffness_Nm2);
	for (int32_t i = 0; i < count; i++)
		add_part(&b, parts[i], length_m);
	const int hub = UNKNOWNS - 2;
	const double kc = coupling->stiffness_N_per_m;
	const double kt = coupling->turn_stiffness_Nm_per_rad > 0 ? coupling->turn_stiffness_Nm_per_rad
								  : CLAMP * bending_stiffness_Nm2 / length_m;
	b.band[hub][0] += kc;
	b.band[hub + 1][0] += kt;
	memcpy(loads, b.load, sizeof loads);
	solve(&b);
	*out = (tac_lateral){.stored_J = b.track_J};
	for (int k = 0; k < 2; k++) {
		const double q = b.load[hub][k], m = b.load[hub + 1][k];
		const double coupling_J = 0.5 * (kc * q * q + kt * m * m);
		for (int j = 0; j < UNKNOWNS; j++)
			out->stored_J -= 0.5 * loads[j][k] * b.load[j][k];
		out->stored_J -= coupling_J;
		out->coupling_J += coupling_J;
		// By parts from E I y'''' + k (y - track) = 0, with a free tip.
		out->along_N += 0.5 * kt * m * kt * m / bending_stiffness_Nm2 - kc * q * (m + lean[k]);
		out->hub_N[k] = kc * q;
		out->hub_Nm[k] = kt * m;
		out->tip[k] = b.load[0][k];
		out->slope[k] = (q - b.load[0][k]) / length_m;
		for (int i = 0; i < TAC_NEEDLE_NODES; i++)
			out->node_m[i][k] = b.load[2 * i][k];
	}
	out->stored_J = fmax(out->stored_J, 0);
}
