#include "haptic/mover/mover.h"

#include <math.h>

// At least 1, because the queries take 0 for no limit.
static int64_t work_left(const tac_sco *sco)
{
	int64_t left = sco->tick.work_limit - sco->report->work_units;
	return left > 1 ? left : 1;
}

// Counts a query; false if its limit is reached or no work is left.
static bool admit(tac_sco *sco, int32_t *count, int32_t limit)
{
	if (*count >= limit || sco->report->work_units >= sco->tick.work_limit) {
		sco->report->flags |= TAC_SCO_BUDGET_SPENT;
		return false;
	}
	++*count;
	return true;
}

static void begin_work(tac_sco_obstacle *obstacle, int64_t limit)
{
	tac_sweep_context_set_work_limit(obstacle->context, SCO_CONTEXT_WORK_PER_UNIT * limit);
}

static void end_work(tac_sco *sco, tac_sco_obstacle *obstacle)
{
	sco->report->work_units += tac_sweep_context_work(obstacle->context) / SCO_CONTEXT_WORK_PER_UNIT + 1;
	tac_sweep_context_set_work_limit(obstacle->context, 0);
}

static void query_obstacle(tac_sco *sco, tac_sco_obstacle *obstacle, tac_dpose T_object_tool, double margin,
			   int64_t work_limit)
{
	if (!sco->def.tool) {
		tac_sco_round_contacts(sco, obstacle, T_object_tool, margin);
		sco->report->work_units += obstacle->spare->pairs;
		return;
	}
	tac_drigid T = tac_drigid_from_pose(T_object_tool);
	begin_work(obstacle, work_limit);
	tac_contacts_query(sco->def.tool, obstacle->body, &T, margin, obstacle->context, obstacle->spare);
	end_work(sco, obstacle);
}

bool tac_sco_query_contacts(tac_sco *sco, tac_sco_twist t, double s, double *margin, double *out_distance)
{
	if (!admit(sco, &sco->report->contact_queries, sco->def.contact_queries))
		return false;
	double least = *margin, wanted = *margin;
	double share = (sco->def.tool ? SCO_CONTACT_QUERY_SHARE : SCO_CONTACT_QUERY_SHARE_ROUND) *
		       (double)sco->def.work_units;
	bool short_of_work = (double)work_left(sco) < share;
	int64_t pairs = 0;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		tac_sco_relative r = tac_sco_relative_motion(sco, obstacle, t);
		query_obstacle(sco, obstacle, tac_sco_pose_after(r.start, r.twist, s), wanted,
			       work_left(sco));
		*margin = fmin(*margin, obstacle->spare->margin);
		least = fmin(least, obstacle->spare->distance);
		pairs += obstacle->spare->pairs;
	}
	*out_distance = least;
	// The number of pairs grows at least in proportion to the margin, so the margin that would have taken
	// exactly its share caps the next query. A query that began short of work does not measure that.
	if (!short_of_work)
		sco->trust_cap_m =
			(double)pairs > share ? wanted * share / (double)pairs : 2 * sco->trust_cap_m;
	if (!short_of_work && *margin < wanted)
		sco->trust_cap_m = fmin(sco->trust_cap_m, *margin);
	sco->trust_cap_m = fmin(fmax(sco->trust_cap_m, SCO_TRUST_CAP_MIN_M), sco->def.trust_max_m);
	if (*margin >= SCO_REPORT_GAPS * sco->def.hold_gap_m)
		return true;
	sco->report->flags |= TAC_SCO_BUDGET_SPENT;
	return false;
}

void tac_sco_swap_contacts(tac_sco *sco)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		tac_contacts *old = obstacle->contacts;
		obstacle->contacts = obstacle->spare;
		obstacle->spare = old;
	}
}

// A translation of a round tool has a closed form. Where the tool or the obstacle turns, separating planes
// prove the motion, as they do for meshes.
static double certify_round(tac_sco *sco, tac_sco_obstacle *obstacle, const tac_sco_relative *r)
{
	tac_sweep_options options = tac_sweep_options_default();
	options.pair_limit = work_left(sco);
	options.zone = (sco->tick.rolling ? SCO_ROLL_STOP_GAPS : SCO_ROUND_STOP_GAPS) * sco->def.hold_gap_m;
	tac_sweep_result c;
	if (tac_dvec3_length(r->twist.w) > SCO_ROUND_MIN_TURN_RAD) {
		options.zone = tac_certificate_options_default().threshold;
		c = tac_sco_round_prove(sco, obstacle, r, &options);
	} else {
		c = tac_sco_round_translate(sco, obstacle, r->start, r->twist.v, &options);
	}
	sco->report->work_units += c.pairs;
	if (c.flags & TAC_SWEEP_BUDGET_SPENT)
		sco->report->flags |= TAC_SCO_BUDGET_SPENT;
	return c.fraction;
}

bool tac_sco_certify(tac_sco *sco, tac_sco_twist t, tac_sco_proof *out_proof)
{
	if (!admit(sco, &sco->report->certificates, sco->def.certificates))
		return false;
	*out_proof = (tac_sco_proof){1, -1, -1, -1};
	for (int32_t i = 0; i < sco->def.object_count && out_proof->fraction > 0; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		tac_sco_relative r = tac_sco_relative_motion(sco, obstacle, t);
		if (!sco->def.tool) {
			double f = certify_round(sco, obstacle, &r);
			if (f < out_proof->fraction)
				*out_proof = (tac_sco_proof){f, i, -1, -1};
			continue;
		}
		tac_drigid T = tac_drigid_from_pose(r.start);
		tac_certificate_options options = tac_certificate_options_default();
		begin_work(obstacle, work_left(sco));
		tac_certificate c = tac_certificate_check(sco->def.tool, obstacle->body, &T, r.twist.v,
							  r.twist.w, &options, obstacle->context);
		end_work(sco, obstacle);
		if (c.flags & TAC_SWEEP_BUDGET_SPENT) {
			sco->report->flags |= TAC_SCO_BUDGET_SPENT;
			return false;
		}
		if (c.fraction < out_proof->fraction)
			*out_proof = (tac_sco_proof){c.fraction, i, c.moving_triangle, c.fixed_triangle};
	}
	return true;
}

// The free fraction of a translation, or of a rotation about the tool's origin, against one obstacle.
static tac_sweep_result sweep_obstacle(tac_sco *sco, tac_sco_obstacle *obstacle, tac_sco_twist t)
{
	tac_dpose T_object_tool = tac_dpose_relative(obstacle->pose, sco->pose);
	tac_drigid T = tac_drigid_from_pose(T_object_tool);
	tac_dquat R_object_world = tac_dquat_conjugate(obstacle->pose.rotation);
	tac_dvec3 v = tac_dquat_rotate(R_object_world, t.v), w = tac_dquat_rotate(R_object_world, t.w);
	tac_sweep_options options = tac_sweep_options_default();
	options.zone = SCO_FLIGHT_GAPS * sco->def.hold_gap_m;
	// Half of what is left; the other half is for the substeps after the flight.
	int64_t work_limit = (work_left(sco) + 1) / 2;
	double angle = tac_dvec3_length(w);
	if (!sco->def.tool) {
		options.pair_limit = work_limit;
		tac_sweep_result r =
			angle > 0 ? tac_sco_round_rotate(sco, obstacle, T_object_tool, w, &options)
				  : tac_sco_round_translate(sco, obstacle, T_object_tool, v, &options);
		sco->report->work_units += r.pairs;
		return r;
	}
	begin_work(obstacle, work_limit);
	tac_sweep_result r = angle > 0 ? tac_sweep_rotate(sco->def.tool, obstacle->body, &T, T.t, w, angle,
							  &options, obstacle->context)
				       : tac_sweep_translate(sco->def.tool, obstacle->body, &T, v, &options,
							     obstacle->context);
	end_work(sco, obstacle);
	return r;
}

bool tac_sco_sweep(tac_sco *sco, tac_sco_twist t, double *out_fraction)
{
	*out_fraction = 1;
	if (tac_dvec3_length_squared(t.v) == 0 && tac_dvec3_length_squared(t.w) == 0)
		return true;
	if (!admit(sco, &sco->report->sweeps, 2 * sco->def.substeps))
		return false;
	double fraction = 1;
	for (int32_t i = 0; i < sco->def.object_count && fraction > 0; i++) {
		tac_sweep_result r = sweep_obstacle(sco, &sco->obstacles[i], t);
		if (r.flags & TAC_SWEEP_BUDGET_SPENT)
			sco->max_flight_m *= 0.5;
		fraction = fmin(fraction, r.fraction);
	}
	*out_fraction = fraction;
	return true;
}

double tac_sco_distance(tac_sco *sco, double reach)
{
	tac_sco_report discarded = {0};
	sco->report = &discarded;
	for (int32_t i = 0; i < sco->def.object_count && reach > 0; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		query_obstacle(sco, obstacle, tac_dpose_relative(obstacle->pose, sco->pose), reach,
			       SCO_RESET_STEPS * sco->def.work_units);
		reach = fmin(reach, obstacle->spare->distance);
	}
	sco->report = NULL;
	return reach;
}
