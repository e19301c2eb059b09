#include "haptic/sco_private.h"

#include <math.h>

// A pair of triangles as the unit of a step's limit, in the units of a context's work.
#define PAIR_WORK 32
// The distance at a reset takes at most so many steps' pairs.
#define DISTANCE_STEPS 8
// A look costs at most this part of a step's pairs, else the next looks less far.
#define LOOK_PART       0.08
#define LOOK_PART_ROUND 0.5
// The trust radius where meshes are so dense that nothing wider can be looked at in time, m.
#define TRUST_LEAST 1e-5

// A round tool that meets what it did not see stops this part of the hold gap before it.
#define ROUND_ZONE 0.95
// One that rolls keeps this part.
#define ROLL_ZONE 0.1
// Less is no turn, rad.
#define TURN_MIN 1e-12

// Pairs left for this step; the queries take 0 for no limit.
static int64_t pairs_left(const tac_sco *sco)
{
	int64_t left = sco->tick.pairs - sco->report->pairs;
	return left > 1 ? left : 1;
}

static bool spend(tac_sco *sco, int32_t *count, int32_t limit)
{
	if (*count >= limit || sco->report->pairs >= sco->tick.pairs) {
		sco->report->flags |= TAC_SCO_BUDGET_SPENT;
		return false;
	}
	++*count;
	return true;
}

// A query of an object begins, for which so many pairs are left; and ends, and is counted.
static void begin(tac_sco_thing *thing, int64_t pairs)
{
	thing->context->work = 0;
	thing->context->work_limit = PAIR_WORK * pairs;
}

static void end(tac_sco *sco, tac_sco_thing *thing)
{
	sco->report->pairs += thing->context->work / PAIR_WORK + 1;
	thing->context->work_limit = 0;
}

static void list_contacts(tac_sco *sco, tac_sco_thing *thing, tac_dpose T_object_tool, double margin,
			  int64_t pairs)
{
	if (!sco->def.tool) {
		tac_sco_round_contacts(sco, thing, T_object_tool, margin);
		sco->report->pairs += thing->spare->pairs;
		return;
	}
	tac_ccd_pose T = tac_ccd_pose_from_dpose(T_object_tool);
	begin(thing, pairs);
	tac_contacts_query(sco->def.tool, thing->body, &T, margin, thing->context, thing->spare);
	end(sco, thing);
}

bool tac_sco_gather(tac_sco *sco, tac_sco_twist t, double s, double *margin, double *out_distance)
{
	if (!spend(sco, &sco->report->gathers, sco->def.gathers))
		return false;
	double least = *margin, asked = *margin;
	double right = (sco->def.tool ? LOOK_PART : LOOK_PART_ROUND) * (double)sco->def.pairs;
	bool few = (double)pairs_left(sco) < right;
	int64_t pairs = 0;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		tac_sco_thing *thing = &sco->things[i];
		tac_sco_relative r = tac_sco_relative_motion(sco, thing, t);
		list_contacts(sco, thing, tac_sco_pose_after(r.start, r.twist, s), asked, pairs_left(sco));
		*margin = fmin(*margin, thing->spare->margin);
		least = fmin(least, thing->spare->distance);
		pairs += thing->spare->pairs;
	}
	*out_distance = least;
	// The surface within a margin grows with it, and the pairs at least as fast: what would have been a
	// look of the right size is the most that the next piece may ask for. One that began with few pairs
	// says nothing of that.
	if (!few)
		sco->trust_cap = (double)pairs > right ? asked * right / (double)pairs : 2 * sco->trust_cap;
	if (!few && *margin < asked)
		sco->trust_cap = fmin(sco->trust_cap, *margin);
	sco->trust_cap = fmin(fmax(sco->trust_cap, TRUST_LEAST), sco->def.trust_max_m);
	if (*margin >= TAC_SCO_REPORTED * sco->def.hold_gap_m)
		return true;
	sco->report->flags |= TAC_SCO_BUDGET_SPENT;
	return false;
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
	options.zone = (sco->tick.rolls ? ROLL_ZONE : ROUND_ZONE) * sco->def.hold_gap_m;
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
		begin(thing, pairs_left(sco));
		tac_certificate c = tac_certificate_check(sco->def.tool, thing->body, &T, r.twist.v,
							  r.twist.w, &options, thing->context);
		end(sco, thing);
		if (c.flags & TAC_CCD_BUDGET_SPENT) {
			sco->report->flags |= TAC_SCO_BUDGET_SPENT;
			return false;
		}
		if (c.fraction < out_proof->fraction)
			*out_proof = (tac_sco_proof){c.fraction, i, c.moving_triangle, c.fixed_triangle};
	}
	return true;
}

// The free part of a translation, or of a rotation about the tool's origin, against one object.
static tac_ccd_result sweep(tac_sco *sco, tac_sco_thing *thing, tac_sco_twist t)
{
	tac_dpose T_object_tool = tac_dpose_relative(thing->pose, sco->pose);
	tac_ccd_pose T = tac_ccd_pose_from_dpose(T_object_tool);
	tac_dquat back = tac_dquat_conjugate(thing->pose.rotation);
	tac_dvec3 v = tac_dquat_rotate(back, t.v), w = tac_dquat_rotate(back, t.w);
	tac_ccd_options options = tac_ccd_options_default();
	options.zone = 2 * sco->def.hold_gap_m;
	// Half of what is left: what a flight cannot reach is left to short pieces.
	int64_t pairs = (pairs_left(sco) + 1) / 2;
	double angle = tac_dvec3_length(w);
	if (!sco->def.tool) {
		options.pair_limit = pairs;
		tac_ccd_result r = angle > 0 ? tac_sco_round_spin(sco, thing, T_object_tool, w, &options)
					     : tac_sco_round_sweep(sco, thing, T_object_tool, v, &options);
		sco->report->pairs += r.pairs;
		return r;
	}
	begin(thing, pairs);
	tac_ccd_result r =
		angle > 0 ? tac_ccd_rotate(sco->def.tool, thing->body, &T, T.t, w, angle, &options,
					   thing->context)
			  : tac_ccd_translate(sco->def.tool, thing->body, &T, v, &options, thing->context);
	end(sco, thing);
	return r;
}

bool tac_sco_fly(tac_sco *sco, tac_sco_twist t, double *out_fraction)
{
	*out_fraction = 1;
	if (tac_dvec3_length_squared(t.v) == 0 && tac_dvec3_length_squared(t.w) == 0)
		return true;
	if (!spend(sco, &sco->report->sweeps, 2 * sco->def.pieces))
		return false;
	for (int32_t i = 0; i<sco->def.object_count && * out_fraction> 0; i++) {
		tac_ccd_result r = sweep(sco, &sco->things[i], t);
		if (r.flags & TAC_CCD_BUDGET_SPENT)
			sco->flight *= 0.5;
		*out_fraction = fmin(*out_fraction, r.fraction);
	}
	return true;
}

double tac_sco_distance(tac_sco *sco, double reach)
{
	tac_sco_report unread = {0};
	sco->report = &unread;
	for (int32_t i = 0; i < sco->def.object_count && reach > 0; i++) {
		tac_sco_thing *thing = &sco->things[i];
		list_contacts(sco, thing, tac_dpose_relative(thing->pose, sco->pose), reach,
			      DISTANCE_STEPS * sco->def.pairs);
		reach = fmin(reach, thing->spare->distance);
	}
	sco->report = NULL;
	return reach;
}
