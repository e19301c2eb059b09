#include "haptic/passivity.h"

#include "base/assert.h"

#include <math.h>

tac_passivity_def tac_passivity_def_default(int64_t period_ns, double mass_kg)
{
	return (tac_passivity_def){
		.period_ns = period_ns,
		.damping_max_N_s_per_m = 0.2 * mass_kg / ((double)period_ns / 1e9),
		.own_power_W = 1e-4,
		.forget = true,
	};
}

void tac_passivity_init(tac_passivity *passivity, const tac_passivity_def *def)
{
	TAC_ASSERT(def->period_ns > 0 && def->delay_ns >= 0);
	*passivity = (tac_passivity){.def = *def, .energy_J = def->credit_J};
}

void tac_passivity_set_delay(tac_passivity *passivity, int64_t delay_ns)
{
	TAC_ASSERT(delay_ns >= 0);
	passivity->def.delay_ns = delay_ns;
}

// The mean over [from_ns, to_ns) of the force of the ring `sent` that acted then: each one sent acts from its
// own time plus the delay until the next does; before the first there was none.
static double mean_force(const tac_passivity *p, const double *sent, int64_t from_ns, int64_t to_ns)
{
	const uint32_t known = p->sent_count < TAC_PASSIVITY_HISTORY ? p->sent_count : TAC_PASSIVITY_HISTORY;
	double impulse = 0; // N ns
	int64_t end_ns = to_ns;
	for (uint32_t back = 1; back <= known && end_ns > from_ns; back++) {
		const uint32_t i = (p->sent_count - back) % TAC_PASSIVITY_HISTORY;
		int64_t begin_ns = p->sent_ns[i] + p->def.delay_ns;
		if (begin_ns >= end_ns)
			continue; // still under way
		if (begin_ns < from_ns || (back == known && p->sent_count > known))
			begin_ns = from_ns;
		impulse += sent[i] * (double)(end_ns - begin_ns);
		end_ns = begin_ns;
	}
	return impulse / (double)(to_ns - from_ns);
}

// Takes the motion since the last step into both accounts.
static void observe(tac_passivity *p, int64_t now_ns, double x_m)
{
	if (p->started && now_ns > p->time_ns) {
		p->energy_J -= mean_force(p, p->sent_N, p->time_ns, now_ns) * (x_m - p->x);
		p->own_J -= mean_force(p, p->sent_own_N, p->time_ns, now_ns) * (x_m - p->x);
		if (p->own_J < 0)
			p->own_J =
				fmin(0, p->own_J + p->def.own_power_W * (double)(now_ns - p->time_ns) / 1e9);
	}
	p->started = true;
	p->x = x_m;
	p->time_ns = now_ns;
}

// The force with `damping` added, as far as it is allowed.
static double resist(tac_passivity *p, double v_m_per_s, double force_N, double damping)
{
	if (damping > 0 && p->own_J < 0) {
		damping = 0;
		p->rested++;
	} else if (damping > p->def.damping_max_N_s_per_m) {
		damping = p->def.damping_max_N_s_per_m;
		p->saturated++;
	}
	p->interventions += damping > 0;
	p->damping_N_s_per_m = damping;
	p->own_N = -damping * v_m_per_s;
	return force_N + p->own_N;
}

double tac_passivity_step(tac_passivity *passivity, int64_t now_ns, double x_m, double v_m_per_s,
			  double force_N, bool in_contact)
{
	tac_passivity *p = passivity;
	observe(p, now_ns, x_m);
	if (p->def.forget && !in_contact) {
		p->energy_J = fmin(p->energy_J, 0);
		p->own_J = fmin(p->own_J, 0);
	}
	const double period_s = (double)p->def.period_ns / 1e9;
	const bool acts = p->energy_J < 0 && fabs(v_m_per_s) > p->def.speed_min_m_per_s;
	return resist(p, v_m_per_s, force_N, acts ? -p->energy_J / (period_s * v_m_per_s * v_m_per_s) : 0);
}

void tac_passivity_step_port(tac_passivity_port *port, int64_t now_ns, const double *x, const double *v,
			     double *force, double stored_J)
{
	double power_W = 0; // of the strongest damping
	for (int i = 0; i < TAC_PASSIVITY_AXES; i++) {
		tac_passivity *p = &port->axes[i];
		const double before_J = p->energy_J;
		observe(p, now_ns, x[i]);
		port->energy_J += p->energy_J - before_J;
		if (stored_J == 0)
			p->own_J = fmin(p->own_J, 0);
		if (fabs(v[i]) > p->def.speed_min_m_per_s)
			power_W += p->def.damping_max_N_s_per_m * v[i] * v[i];
	}
	port->energy_J = fmin(port->energy_J, stored_J);
	const double period_s = (double)port->axes[0].def.period_ns / 1e9;
	port->part = port->energy_J < 0 && power_W > 0 ? fmin(-port->energy_J / (period_s * power_W), 1) : 0;
	for (int i = 0; i < TAC_PASSIVITY_AXES; i++) {
		tac_passivity *p = &port->axes[i];
		const bool moves = fabs(v[i]) > p->def.speed_min_m_per_s;
		force[i] = resist(p, v[i], force[i], moves ? port->part * p->def.damping_max_N_s_per_m : 0);
	}
}

void tac_passivity_sent(tac_passivity *passivity, double force_N)
{
	const uint32_t i = passivity->sent_count++ % TAC_PASSIVITY_HISTORY;
	passivity->sent_N[i] = force_N;
	passivity->sent_own_N[i] = passivity->own_N;
	passivity->sent_ns[i] = passivity->time_ns;
}
