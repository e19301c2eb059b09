#include "haptic/sco_private.h"

#include <math.h>

// The pairs of a step are meant for so many looks and proofs.
#define LOOKS 8
// The trust radius where meshes are so dense that nothing wider can be looked at in time, m.
#define TRUST_LEAST 1e-5

// A round tool that meets what it did not see stops this part of the hold gap before it.
#define ROUND_ZONE 0.95
// Less is no turn, rad.
#define TURN_MIN 1e-12

// Pairs left for this step; the queries take 0 for no limit.
static int64_t pairs_left(const tac_sco *sco)
{
	int64_t left = sco->def.pairs - sco->report->pairs;
	return left > 1 ? left : 1;
}

static bool spend(tac_sco *sco, int32_t *count, int32_t limit)
{
	if (*count >= limit || sco->report->pairs >= sco->def.pairs) {
		sco->report->flags |= TAC_SCO_BUDGET_SPENT;
		return false;
	}
	++*count;
	return true;
}

static void list_contacts(const tac_sco *sco, tac_sco_thing *thing, tac_dpose T_object_tool, double margin)
{
	tac_ccd_pose T = tac_ccd_pose_from_dpose(T_object_tool);
	if (sco->def.tool)
		tac_contacts_query(sco->def.tool, thing->body, &T, margin, thing->context, thing->spare);
	else
		tac_sco_round_contacts(sco, thing, T_object_tool, margin);
}

bool tac_sco_gather(tac_sco *sco, tac_sco_twist t, double s, double margin, double *out_distance)
{
	if (!spend(sco, &sco->report->gathers, sco->def.gathers))
		return false;
	double least = margin;
	int64_t before = sco->report->pairs;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		tac_sco_relative r = tac_sco_relative_motion(sco, thing, t);
		list_contacts(sco, thing, tac_sco_pose_after(r.start, r.twist, s), margin);
		sco->report->pairs += thing->spare->pairs;
		least = fmin(least, thing->spare->distance);
	}
	*out_distance = least;
	// The surface within a margin grows with it, and the pairs at least as fast: what would have been a
	// look of the right size is the most that the next piece may ask for.
	double pairs = (double)(sco->report->pairs - before), right = (double)sco->def.pairs / LOOKS;
	sco->trust_cap = pairs > right ? margin * right / pairs : 2 * sco->trust_cap;
	sco->trust_cap = fmin(fmax(sco->trust_cap, TRUST_LEAST), sco->def.trust_max_m);
	return true;
}

void tac_sco_swap(tac_sco *sco)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		tac_contacts *old = thing->contacts;
		thing->contacts = thing->spare;
		thing->spare = old;
	}
}

// A round tool translates in closed form; when it or its object turns, planes prove the motion as they do for
// meshes.
static double certify_round(tac_sco *sco, tac_sco_thing *thing, const tac_sco_relative *r)
{
	tac_ccd_options options = tac_ccd_options_default();
	options.pair_limit = pairs_left(sco);
	options.zone = ROUND_ZONE * sco->def.hold_gap_m;
	tac_ccd_result c;
	if (tac_dvec3_length(r->twist.w) > TURN_MIN) {
		options.zone = tac_certificate_options_default().threshold;
		c = tac_sco_round_prove(sco, thing, r, &options);
	} else {
		c = tac_sco_round_sweep(sco, thing, r->start, r->twist.v, &options);
	}
	sco->report->pairs += c.pairs;
	if (c.flags & TAC_CCD_BUDGET_SPENT)
		sco->report->flags |= TAC_SCO_BUDGET_SPENT;
	return c.fraction;
}

bool tac_sco_certify(tac_sco *sco, tac_sco_twist t, tac_sco_proof *out_proof)
{
	if (!spend(sco, &sco->report->certificates, sco->def.certificates))
		return false;
	*out_proof = (tac_sco_proof){1, -1, -1, -1};
	for (int32_t i = 0; i < sco->def.object_count && out_proof->fraction > 0; i++) {
		tac_sco_thing *thing = &sco->things[i];
		tac_sco_relative r = tac_sco_relative_motion(sco, thing, t);
		if (!sco->def.tool) {
			double f = certify_round(sco, thing, &r);
			if (f < out_proof->fraction)
				*out_proof = (tac_sco_proof){f, i, -1, -1};
			continue;
		}
		tac_ccd_pose T = tac_ccd_pose_from_dpose(r.start);
		tac_certificate_options options = tac_certificate_options_default();
		options.pair_limit = pairs_left(sco);
		tac_certificate c = tac_certificate_check(sco->def.tool, thing->body, &T, r.twist.v,
							  r.twist.w, &options, thing->context);
		sco->report->pairs += c.pairs;
		if (c.flags & TAC_CCD_BUDGET_SPENT)
			sco->report->flags |= TAC_SCO_BUDGET_SPENT;
		if (c.fraction < out_proof->fraction)
			*out_proof = (tac_sco_proof){c.fraction, i, c.moving_triangle, c.fixed_triangle};
	}
	return true;
}

static tac_ccd_options flight_options(const tac_sco *sco)
{
	tac_ccd_options options = tac_ccd_options_default();
	options.zone = 2 * sco->def.hold_gap_m;
	// Half of what is left: what a flight cannot reach is left to short pieces.
	options.pair_limit = (pairs_left(sco) + 1) / 2;
	return options;
}

static bool take(tac_sco *sco, const tac_ccd_result *r, double *fraction)
{
	sco->report->pairs += r->pairs;
	if (r->flags & TAC_CCD_BUDGET_SPENT)
		sco->flight *= 0.5;
	*fraction = fmin(*fraction, r->fraction);
	return *fraction > 0;
}

bool tac_sco_fly(tac_sco *sco, tac_dvec3 v, double *out_fraction)
{
	*out_fraction = 1;
	if (tac_dvec3_length_squared(v) == 0)
		return true;
	if (!spend(sco, &sco->report->sweeps, 2 * sco->def.pieces))
		return false;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		tac_dpose T_object_tool = tac_dpose_relative(thing->pose, sco->pose);
		tac_ccd_pose T = tac_ccd_pose_from_dpose(T_object_tool);
		tac_dvec3 way = tac_dquat_rotate(tac_dquat_conjugate(thing->pose.rotation), v);
		tac_ccd_options options = flight_options(sco);
		tac_ccd_result r = sco->def.tool
					   ? tac_ccd_translate(sco->def.tool, thing->body, &T, way, &options,
							       thing->context)
					   : tac_sco_round_sweep(sco, thing, T_object_tool, way, &options);
		if (!take(sco, &r, out_fraction))
			break;
	}
	return true;
}

bool tac_sco_spin(tac_sco *sco, tac_dvec3 w, double *out_fraction)
{
	*out_fraction = 1;
	if (tac_dvec3_length_squared(w) == 0)
		return true;
	if (!spend(sco, &sco->report->sweeps, 2 * sco->def.pieces))
		return false;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		tac_dpose T_object_tool = tac_dpose_relative(thing->pose, sco->pose);
		tac_ccd_pose T = tac_ccd_pose_from_dpose(T_object_tool);
		tac_dvec3 axis = tac_dquat_rotate(tac_dquat_conjugate(thing->pose.rotation), w);
		tac_ccd_options options = flight_options(sco);
		tac_ccd_result r = sco->def.tool
					   ? tac_ccd_rotate(sco->def.tool, thing->body, &T, T.t, axis,
							    tac_dvec3_length(w), &options, thing->context)
					   : tac_sco_round_spin(sco, thing, T_object_tool, axis, &options);
		if (!take(sco, &r, out_fraction))
			break;
	}
	return true;
}

double tac_sco_distance(tac_sco *sco, double reach)
{
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		tac_dpose T_object_tool = tac_dpose_relative(thing->pose, sco->pose);
		if (!sco->def.tool) {
			list_contacts(sco, thing, T_object_tool, reach);
			reach = fmin(reach, thing->spare->distance);
			continue;
		}
		tac_ccd_pose T = tac_ccd_pose_from_dpose(T_object_tool);
		reach = fmin(reach,
			     tac_ccd_distance(sco->def.tool, thing->body, &T, reach, NULL, NULL, NULL));
		if (!(reach > 0))
			break;
	}
	return reach;
}
