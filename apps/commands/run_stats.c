#include "apps/commands/run_stats.h"

#include "apps/session/units.h"

#include <math.h>
#include <stdio.h>

double run_stats_depth(const tac_snapshot *s)
{
	return tac_dvec3_length(tac_dvec3_sub(s->T_world_sco.position, s->T_world_device.position));
}

void run_stats_add(run_stats *r, const tac_snapshot *s)
{
	const double force_N = tac_dvec3_length(s->sent.force_N);
	r->max_force_N = fmax(r->max_force_N, force_N);
	r->max_effects_N = fmax(r->max_effects_N, tac_dvec3_length(s->effects.wrench.force_N));
	r->min_spring_scale = r->ticks ? fmin(r->min_spring_scale, s->effects.spring_scale) : 1;
	r->min_damper_scale = r->ticks ? fmin(r->min_damper_scale, s->effects.damper_scale) : 1;
	r->max_torque_Nm = fmax(r->max_torque_Nm, tac_dvec3_length(s->sent.torque_Nm));
	r->max_depth_m = fmax(r->max_depth_m, run_stats_depth(s));
	r->min_energy_J = fmin(r->min_energy_J, s->passivity_J);
	r->max_damping_N_s_per_m = fmax(r->max_damping_N_s_per_m, s->passivity_N_s_per_m);
	if (r->ticks == 0 || s->allowed_N_per_m < r->min_allowed_N_per_m) {
		r->min_allowed_N_per_m = s->allowed_N_per_m;
		r->derated_by = s->derated_by;
	}
	if (s->state == TAC_SERVO_RUNNING && s->distance_m > 0 && isfinite(s->distance_m) &&
	    (r->min_distance_m == 0 || s->distance_m < r->min_distance_m))
		r->min_distance_m = s->distance_m;
	if (tac_snapshot_touching(s)) {
		r->contact_force_sum_N += force_N;
		r->derated_ticks += s->derated;
	}
	if (s->contact_count > r->max_contacts)
		r->max_contacts = s->contact_count;
	r->ticks++;
}

static double mean_force_N(const run_stats *r, const tac_snapshot *last)
{
	return last->contact_ticks > 0 ? r->contact_force_sum_N / (double)last->contact_ticks : 0;
}

// ---- text ----

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

// Why there was no force, if there was none.
static void print_absence(const run_stats *r, const tac_snapshot *last)
{
	if (last->state == TAC_SERVO_WAITING) {
		printf("          no force: the tool began inside an object and never came free\n");
	} else if (last->contact_ticks == 0 && !(r->max_effects_N > 0)) {
		printf("          no force: nothing was touched");
		if (r->min_distance_m > 0)
			printf("; the tool stayed at least %.3g mm away from every object",
			       1e3 * r->min_distance_m);
		printf("\n");
	}
}

static void print_stability(const run_stats *r)
{
	if (isfinite(r->min_allowed_N_per_m))
		printf("          lowest stiffness limit %.0f N/m, set by the %s", r->min_allowed_N_per_m,
		       tac_derate_reason_name(r->derated_by));
	else
		printf("          stiffness not limited: the device's mechanics are unknown");
	if (r->derated_ticks > 0)
		printf(", derated in %lld tick%s", (long long)r->derated_ticks,
		       plural((uint64_t)r->derated_ticks));
	printf("; passivity: energy at least %.3f mJ, damping up to %.2f N s/m\n", 1e3 * r->min_energy_J,
	       r->max_damping_N_s_per_m);
}

static void print_effects(const run_stats *r, const tac_snapshot *last)
{
	if (r->max_effects_N > 0)
		printf("          effects: force up to %.2f N, springs at least %.0f %% and dampers at least "
		       "%.0f %% of what the scene asks for\n",
		       r->max_effects_N, 100 * r->min_spring_scale, 100 * r->min_damper_scale);
	if (last->effects.callback_overruns > 0)
		printf("          effects: %llu overrun%s of the callback\n",
		       (unsigned long long)last->effects.callback_overruns,
		       plural(last->effects.callback_overruns));
}

static void print_feel(const tac_snapshot_feel *feel)
{
	char bound[UNITS_TEXT];
	printf("          force: largest step %.2f N, %s, %llu dropout%s, ", feel->largest_step_N,
	       units_bound(feel->largest_bound_N, bound), (unsigned long long)feel->dropouts,
	       plural(feel->dropouts));
	printf("%llu jump%s beyond the bound, saturated in %llu tick%s\n", (unsigned long long)feel->jumps,
	       plural(feel->jumps), (unsigned long long)feel->saturated_ticks, plural(feel->saturated_ticks));
}

// Where the work of the hand on a needle went.
static void print_needle(const tac_needle_state *n)
{
	const tac_needle_energy *e = &n->energy;
	printf("          needle: %d puncture%s, %d insertion%s, %d redirection%s; work %.4g J: cutting "
	       "%.2g, punctures "
	       "%.2g, friction %.2g, viscosity %.2g, relaxation %.2g, snap %.2g, sideways %.2g, residual "
	       "%.1g J\n",
	       (int)n->punctures, plural((uint64_t)n->punctures), (int)n->insertions,
	       plural((uint64_t)n->insertions), (int)n->branches, plural((uint64_t)n->branches), e->work,
	       e->cutting, e->puncture, e->friction, e->viscosity, e->relaxation, e->snap, e->sideways,
	       e->residual);
}

// How the tissue was solved for.
static void print_tissue(const tac_tissue_state *t)
{
	printf("          tissue: level of points changed %llu time%s; loads not found in %llu tick%s, "
	       "points "
	       "left out in %llu, tool too fast in %llu\n",
	       (unsigned long long)t->level_changes, plural(t->level_changes),
	       (unsigned long long)t->spent_ticks, plural(t->spent_ticks),
	       (unsigned long long)t->left_out_ticks, (unsigned long long)t->limited_ticks);
}

static void print_counters(tac_servo *servo, const tac_snapshot *last)
{
	printf("          %llu fault%s%s, %llu undecided collision quer%s, work budget spent in %llu "
	       "tick%s\n",
	       (unsigned long long)last->faults, plural(last->faults),
	       last->faults > 0 ? " (the tool was put back, or began in contact)" : "",
	       (unsigned long long)last->unknown_ticks, last->unknown_ticks == 1 ? "y" : "ies",
	       (unsigned long long)last->budget_spent_ticks, plural(last->budget_spent_ticks));
	printf("          force gate:");
	const char *separator = " ";
	for (int k = 0; k < TAC_LIMIT_REASON_COUNT; k++) {
		const uint64_t count = tac_servo_limit_count(servo, (tac_limit_reason)k);
		if (count > 0) {
			printf("%s%s in %llu tick%s", separator, tac_limit_reason_name((tac_limit_reason)k),
			       (unsigned long long)count, plural(count));
			separator = ", ";
		}
	}
	printf("%s\n", *separator == ' ' ? " never active" : "");
}

void run_stats_print(const run_stats *r, const char *tool, tac_servo *servo)
{
	const tac_snapshot *last = tac_servo_snapshot(servo, 0);
	if (!last)
		return;
	const double share = r->ticks > 0 ? 100.0 * (double)last->contact_ticks / (double)r->ticks : 0;
	printf("%-9s in contact%s %.1f %% of the time, up to %d contact%s\n", tool,
	       last->needle.present || last->tissue.present ? " or in tissue" : "", share,
	       (int)r->max_contacts, r->max_contacts == 1 ? "" : "s");
	printf("          force %.2f N on average in contact, up to %.2f N; torque up to %.3f Nm; "
	       "device up to %.2f mm from the tool\n",
	       mean_force_N(r, last), r->max_force_N, r->max_torque_Nm, 1e3 * r->max_depth_m);
	print_absence(r, last);
	print_effects(r, last);
	print_feel(&last->feel);
	if (last->needle.present)
		print_needle(&last->needle.state);
	if (last->tissue.present)
		print_tissue(&last->tissue.state);
	print_stability(r);
	print_counters(servo, last);
}

// ---- JSON ----

// JSON has no infinities.
static void json_number(const char *name, double value)
{
	if (isfinite(value))
		printf(", \"%s\": %.6g", name, value);
	else
		printf(", \"%s\": null", name);
}

void run_stats_print_json(const run_stats *r, tac_servo *servo)
{
	const tac_snapshot none = {0}, *last = tac_servo_snapshot(servo, 0);
	last = last ? last : &none;
	printf(", \"ticks\": %lld, \"contact_ticks\": %llu, \"max_contacts\": %d", (long long)r->ticks,
	       (unsigned long long)last->contact_ticks, (int)r->max_contacts);
	json_number("mean_force_N", mean_force_N(r, last));
	json_number("max_force_N", r->max_force_N);
	json_number("max_torque_Nm", r->max_torque_Nm);
	json_number("max_effects_N", r->max_effects_N);
	json_number("largest_step_N", last->feel.largest_step_N);
	json_number("step_bound_N", last->feel.largest_bound_N);
	printf(", \"jumps\": %llu, \"dropouts\": %llu, \"saturated_ticks\": %llu",
	       (unsigned long long)last->feel.jumps, (unsigned long long)last->feel.dropouts,
	       (unsigned long long)last->feel.saturated_ticks);
	json_number("max_depth_m", r->max_depth_m);
	json_number("least_energy_J", r->min_energy_J);
	json_number("least_allowed_N_per_m", r->min_allowed_N_per_m);
	json_number("max_damping_N_s_per_m", r->max_damping_N_s_per_m);
	printf(", \"state\": \"%s\", \"derated_by\": \"%s\", \"derated_ticks\": %lld",
	       tac_servo_state_name(last->state), tac_derate_reason_name(r->derated_by),
	       (long long)r->derated_ticks);
	printf(", \"faults\": %llu, \"unknowns\": %llu, \"spent_ticks\": %llu",
	       (unsigned long long)last->faults, (unsigned long long)last->unknown_ticks,
	       (unsigned long long)last->budget_spent_ticks);
	printf(", \"limits\": {");
	for (int k = 0; k < TAC_LIMIT_REASON_COUNT; k++)
		printf("%s\"%s\": %llu", k ? ", " : "", tac_limit_reason_name((tac_limit_reason)k),
		       (unsigned long long)tac_servo_limit_count(servo, (tac_limit_reason)k));
	printf("}");
}
