#include "haptic/force/passivity.h"

#include "base/assert.h"

#include <math.h>

// A smaller deficit of a port may be rounding. A device that hardly moves would be damped for it.
#define ROUNDING_J 1e-12

tac_passivity_def tac_passivity_def_default(int64_t period_ns, double mass_kg)
{
	return (tac_passivity_def){
		.period_ns = period_ns,
		.damping_max_N_s_per_m = 0.2 * mass_kg / ((double)period_ns / 1e9),
		.damper_power_W = 1e-4,
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

// The mean force of the ring `sent` over [from_ns, to_ns). A force acts from its time plus the delay until
// the next one does; before the first there is none.
static double mean_force(const tac_passivity *p, const double *sent, int64_t from_ns, int64_t to_ns)
{
	const uint32_t stored = p->sent_count < TAC_PASSIVITY_HISTORY ? p->sent_count : TAC_PASSIVITY_HISTORY;
	double impulse = 0; // N ns
	int64_t end_ns = to_ns;
	for (uint32_t back = 1; back <= stored && end_ns > from_ns; back++) {
		const uint32_t i = (p->sent_count - back) % TAC_PASSIVITY_HISTORY;
		int64_t begin_ns = p->sent_ns[i] + p->def.delay_ns;
		if (begin_ns >= end_ns)
			continue; // does not act yet
		if (begin_ns < from_ns || (back == stored && p->sent_count > stored))
			begin_ns = from_ns;
		impulse += sent[i] * (double)(end_ns - begin_ns);
		end_ns = begin_ns;
	}
	return impulse / (double)(to_ns - from_ns);
}

// Adds the motion since the last step to both accounts.
static void observe(tac_passivity *p, int64_t now_ns, double x_m)
{
	if (p->started && now_ns > p->time_ns) {
		p->energy_J -= mean_force(p, p->sent_N, p->time_ns, now_ns) * (x_m - p->x);
		p->damper_J -= mean_force(p, p->sent_damper_N, p->time_ns, now_ns) * (x_m - p->x);
		if (p->damper_J < 0)
			p->damper_J = fmin(0, p->damper_J + p->def.damper_power_W *
								    (double)(now_ns - p->time_ns) / 1e9);
	}
	p->started = true;
	p->x = x_m;
	p->time_ns = now_ns;
}

// Adds `damping` to the force, as far as maximum and damper account allow.
static double add_damping(tac_passivity *p, double v_m_per_s, double force_N, double damping)
{
	if (damping > 0 && p->damper_J < 0) {
		damping = 0;
		p->withheld++;
	} else if (damping > p->def.damping_max_N_s_per_m) {
		damping = p->def.damping_max_N_s_per_m;
		p->saturated++;
	}
	p->interventions += damping > 0;
	p->damping_N_s_per_m = damping;
	p->damper_N = -damping * v_m_per_s;
	return force_N + p->damper_N;
}

double tac_passivity_step(tac_passivity *passivity, int64_t now_ns, double x_m, double v_m_per_s,
			  double force_N, bool in_contact)
{
	tac_passivity *p = passivity;
	observe(p, now_ns, x_m);
	if (p->def.forget && !in_contact) {
		p->energy_J = fmin(p->energy_J, 0);
		p->damper_J = fmin(p->damper_J, 0);
	}
	const double period_s = (double)p->def.period_ns / 1e9;
	const bool acts = p->energy_J < 0 && fabs(v_m_per_s) > p->def.speed_min_m_per_s;
	return add_damping(p, v_m_per_s, force_N,
			   acts ? -p->energy_J / (period_s * v_m_per_s * v_m_per_s) : 0);
}

void tac_passivity_step_port(tac_passivity_port *port, int64_t now_ns, const double *x, const double *v,
			     double *force, double stored_J)
{
	double power_W = 0; // that the maximal damping dissipates
	for (int i = 0; i < TAC_PASSIVITY_AXES; i++) {
		tac_passivity *p = &port->axes[i];
		const double before_J = p->energy_J;
		observe(p, now_ns, x[i]);
		port->energy_J += p->energy_J - before_J;
		if (stored_J == 0)
			p->damper_J = fmin(p->damper_J, 0);
		if (fabs(v[i]) > p->def.speed_min_m_per_s)
			power_W += p->def.damping_max_N_s_per_m * v[i] * v[i];
	}
	port->energy_J = fmin(port->energy_J, stored_J);
	const double period_s = (double)port->axes[0].def.period_ns / 1e9;
	port->damping_share = port->energy_J < -ROUNDING_J && power_W > 0
				      ? fmin(-port->energy_J / (period_s * power_W), 1)
				      : 0;
	for (int i = 0; i < TAC_PASSIVITY_AXES; i++) {
		tac_passivity *p = &port->axes[i];
		const bool moves = fabs(v[i]) > p->def.speed_min_m_per_s;
		force[i] = add_damping(p, v[i], force[i],
				       moves ? port->damping_share * p->def.damping_max_N_s_per_m : 0);
	}
}

void tac_passivity_sent(tac_passivity *passivity, double force_N)
{
	const uint32_t i = passivity->sent_count++ % TAC_PASSIVITY_HISTORY;
	passivity->sent_N[i] = force_N;
	passivity->sent_damper_N[i] = passivity->damper_N;
	passivity->sent_ns[i] = passivity->time_ns;
}
