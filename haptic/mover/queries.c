// The geometries' queries over all obstacles, and the collider's.
#include "haptic/mover/mover.h"

#include <math.h>
#include <string.h>

// Whether an obstacle is hidden, or its bounding sphere stays further than `reach` from that of the tool
// anywhere on a motion. Turns about their origins do not move the spheres.
static bool is_far(const tac_sco *sco, const tac_sco_obstacle *o, const tac_sco_relative *r, double reach)
{
	const double apart = tac_dvec3_length(r->start.position) - tac_dvec3_length(r->twist.v);
	return o->hidden || apart > SCO_SPHERE_SLACK * (sco->radius_m + o->radius_m) + reach;
}

// Lists the contacts of one obstacle into its spare list; none within any margin if too much work is spent.
static void list_obstacle(tac_sco *sco, tac_sco_obstacle *o, tac_dtwist t, double s, double margin)
{
	const tac_sco_relative r = tac_sco_relative_motion(sco, o, t);
	if (is_far(sco, o, &r, margin))
		tac_contacts_clear(o->spare, margin);
	else if (tac_sco_work_overdrawn(&sco->tick.work))
		tac_contacts_clear(o->spare, 0);
	else
		o->geometry->list(o->memory, tac_dpose_after(r.start, r.twist, s), margin, &sco->tick.work,
				  o->spare);
}

bool tac_sco_query_contacts(tac_sco *sco, tac_sco_obstacle *first, const tac_sco_obstacle *end, tac_dtwist t,
			    double s, double margin)
{
	tac_sco_work *work = &sco->tick.work;
	if (!tac_sco_work_admit(work, SCO_CONTACT_QUERY))
		return false;
	const double share =
		sco->geometry->query_share * fmin((double)sco->tick.usual_units, SCO_QUERY_UNITS);
	// A query with less work than its share says nothing about the meshes.
	const bool has_share = (double)tac_sco_work_left(work) >= share;
	double pairs = 0;
	sco->spare = (tac_sco_listed){margin, margin};
	for (tac_sco_obstacle *o = first; o < end; o++) {
		list_obstacle(sco, o, t, s, margin);
		sco->spare.margin_m = fmin(sco->spare.margin_m, o->spare->margin);
		sco->spare.distance_m = fmin(sco->spare.distance_m, o->spare->distance);
		pairs += (double)o->spare->pairs;
	}
	if (has_share)
		tac_sco_observe_query(sco, margin, sco->spare.margin_m, pairs, share);
	const bool enough = sco->spare.margin_m >= SCO_LIST_GAPS * sco->def.hold_gap_m;
	work->spent |= !enough;
	return enough;
}

static void accept_list(tac_sco *sco, tac_sco_obstacle *o)
{
	tac_contacts *old = o->contacts;
	o->contacts = o->spare;
	o->spare = old;
	sco->lists_version++;
}

void tac_sco_accept_contacts(tac_sco *sco)
{
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++)
		accept_list(sco, o);
	sco->listed = sco->spare;
}

bool tac_sco_list_contacts(tac_sco *sco, double margin)
{
	if (!tac_sco_query_contacts(sco, sco->obstacles, sco->obstacles_end, tac_dtwist_zero(), 0, margin))
		return false;
	tac_sco_accept_contacts(sco);
	return true;
}

static tac_sco_proof prove_obstacle(tac_sco *sco, const tac_sco_obstacle *o, tac_dtwist t)
{
	const tac_sco_relative r = tac_sco_relative_motion(sco, o, t);
	// The distance that a proved motion of a round tool keeps from what is not listed.
	const double zone = sco->tick.rolling ? SCO_ROUND_SLACK_GAPS : 1 - SCO_ROUND_SLACK_GAPS;
	if (is_far(sco, o, &r, sco->def.hold_gap_m))
		return (tac_sco_proof){.fraction = 1};
	return o->geometry->prove(o->memory, &r, zone * sco->def.hold_gap_m, &sco->tick.work);
}

bool tac_sco_certify(tac_sco *sco, tac_dtwist t, tac_sco_proof *out_proof)
{
	if (!tac_sco_work_admit(&sco->tick.work, SCO_CERTIFICATE))
		return false;
	*out_proof = (tac_sco_proof){.fraction = 1};
	for (const tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end && out_proof->fraction > 0;
	     o++) {
		tac_sco_proof proof = prove_obstacle(sco, o, t);
		proof.obstacle = o;
		if (proof.unfinished && proof.fraction == 0)
			return false;
		if (proof.fraction < out_proof->fraction)
			*out_proof = proof;
	}
	return true;
}

bool tac_sco_advance_obstacle(tac_sco *sco, tac_sco_obstacle *o)
{
	const double hold = sco->def.hold_gap_m, least = SCO_LIST_GAPS * hold,
		     listed = fmax(least, sco->listed.margin_m), needed = tac_sco_list_margin(sco);
	const tac_sco_relative r = {tac_dpose_relative(o->pose, sco->pose), o->twist};
	if (is_far(sco, o, &r, listed)) {
		o->pose = o->goal;
		tac_contacts_clear(o->contacts, listed);
		return true;
	}
	if (sco->listed.margin_m <= 0 && !tac_sco_list_contacts(sco, needed))
		return false;
	if (!tac_sco_work_admit(&sco->tick.work, SCO_CERTIFICATE) ||
	    prove_obstacle(sco, o, tac_dtwist_zero()).fraction < 1 ||
	    !tac_sco_query_contacts(sco, o, o + 1, tac_dtwist_zero(), 1,
				    fmax(least, fmin(sco->listed.margin_m, needed))) ||
	    o->spare->distance < fmin(hold, o->contacts->distance))
		return false;
	accept_list(sco, o);
	o->pose = o->goal;
	tac_sco_note_trail(sco);
	sco->listed.margin_m = sco->listed.distance_m = fmin(sco->listed.margin_m, o->contacts->margin);
	for (const tac_sco_obstacle *p = sco->obstacles; p < sco->obstacles_end; p++)
		sco->listed.distance_m = fmin(sco->listed.distance_m, p->contacts->distance);
	return true;
}

bool tac_sco_sweep(tac_sco *sco, tac_dtwist t, double *out_fraction)
{
	tac_sco_work *work = &sco->tick.work;
	const double zone = SCO_LIST_GAPS * sco->def.hold_gap_m;
	const bool is_long = tac_dtwist_travel(t, sco->radius_m) > SCO_LONG_FLIGHT_M;
	const double most = is_long ? HUGE_VAL : SCO_SHORT_UNITS;
	if (!tac_sco_work_admit(work, SCO_SWEEP))
		return false;
	double fraction = 1;
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end && fraction > 0; o++) {
		const tac_sco_relative r = tac_sco_relative_motion(sco, o, t);
		if (is_far(sco, o, &r, zone))
			continue;
		const double left = fmin((double)tac_sco_work_left(work), most);
		tac_sco_work part = {.limit = 1 + (int64_t)(sco->adapted.flight_share * left)};
		fraction = fmin(fraction, o->geometry->sweep(o->memory, &r, zone, &part));
		work->units += part.units;
		if (part.spent)
			tac_sco_observe_flight(sco, true);
	}
	*out_fraction = fraction;
	return true;
}

int64_t tac_sco_near_triangles(const tac_sco *sco)
{
	const tac_dtwist way = tac_sco_to_device(sco, sco->pose);
	int64_t count = sco->def.tool ? tac_body_mesh(sco->def.tool)->triangle_count : 0;
	for (const tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++) {
		const tac_sco_relative r = tac_sco_relative_motion(sco, o, way);
		count += is_far(sco, o, &r, sco->def.trust_max_m) ? 0 : o->triangles;
	}
	return count;
}

void tac_sco_prepare(tac_sco *sco)
{
	tac_sco_work *work = &sco->tick.work;
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end && work->units < work->limit; o++) {
		if (o->hidden || !o->geometry->prepare)
			continue;
		const tac_sco_relative r = tac_sco_relative_motion(sco, o, tac_dtwist_zero());
		if (!is_far(sco, o, &r, sco->def.trust_max_m))
			o->geometry->prepare(o->memory, r.start, work);
	}
}

tac_overlap tac_sco_collide(tac_sco *sco, const tac_sco_obstacle *o, tac_dpose T_object_tool,
			    tac_query_mode mode)
{
	tac_sco_work *work = &sco->tick.work;
	if (tac_dvec3_length(T_object_tool.position) > o->ask_within_m)
		return TAC_OVERLAP_NONE;
	if (work->nodes_left <= 0)
		return TAC_OVERLAP_UNKNOWN;
	const tac_rigid motion = tac_rigid_from_dpose(T_object_tool);
	const tac_budget budget = {work->nodes_left, 0};
	tac_context *context = sco->context;
	const bool again = context->pending && context->fixed == o->shape && context->mode == mode &&
			   memcmp(&context->motion, &motion, sizeof motion) == 0;
	const tac_overlap answer = again ? tac_collider_resume(sco->def.collider, context, budget)
					 : tac_collider_query(sco->def.collider, context, sco->def.tool_shape,
							      o->shape, &motion, mode, budget);
	work->nodes_left = context->nodes_left;
	return answer;
}
