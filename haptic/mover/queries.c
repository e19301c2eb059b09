#include "haptic/mover/mover.h"

#include <math.h>
#include <string.h>

// Whether the bounding spheres of the tool and of an obstacle, whose origins stay `apart`, stay further than
// `reach` from each other. Turns about these origins do not move the spheres.
static bool are_far(const tac_sco *sco, const tac_sco_obstacle *obstacle, double apart, double reach)
{
	return apart > SCO_SPHERE_SLACK * (sco->radius_m + obstacle->radius_m) + reach;
}

// The same anywhere on a motion.
static bool is_far(const tac_sco *sco, const tac_sco_obstacle *obstacle, const tac_sco_relative *r,
		   double reach)
{
	const double apart = tac_dvec3_length(r->start.position) - tac_dvec3_length(r->twist.v);
	return are_far(sco, obstacle, apart, reach);
}

static void list_nothing(tac_contacts *out, double margin)
{
	out->count = out->dropped = 0;
	out->margin = out->distance = margin;
	out->pairs = 0;
}

// Lists the contacts of one obstacle into its spare list.
static void list_obstacle(tac_sco *sco, tac_sco_obstacle *obstacle, tac_dtwist t, double s, double margin)
{
	tac_sco_relative r = tac_sco_relative_motion(sco, obstacle, t);
	if (is_far(sco, obstacle, &r, margin))
		list_nothing(obstacle->spare, margin);
	else
		obstacle->geometry->list(obstacle->memory, tac_dpose_after(r.start, r.twist, s), margin,
					 &sco->tick.work, obstacle->spare);
}

// Lists the contacts of the obstacles from `first` up to `end` into their spare lists.
static bool query(tac_sco *sco, tac_sco_obstacle *first, const tac_sco_obstacle *end, tac_dtwist t, double s,
		  double *margin, double *out_distance)
{
	tac_sco_work *work = &sco->tick.work;
	if (!tac_sco_work_admit(work, SCO_CONTACT_QUERY))
		return false;
	double wanted = *margin, pairs = 0;
	double share = sco->geometry->query_share * (double)sco->def.work_units;
	int64_t before = work->units;
	bool short_of_work = (double)tac_sco_work_left(work) < fmax(share, 2 * sco->complete_query_units);
	*out_distance = *margin;
	for (tac_sco_obstacle *obstacle = first; obstacle < end; obstacle++) {
		if (obstacle->hidden)
			continue;
		if (tac_sco_work_overdrawn(work)) {
			*margin = 0;
			break;
		}
		list_obstacle(sco, obstacle, t, s, wanted);
		*margin = fmin(*margin, obstacle->spare->margin);
		*out_distance = fmin(*out_distance, obstacle->spare->distance);
		pairs += (double)obstacle->spare->pairs;
	}
	if (*margin >= wanted)
		sco->complete_query_units = (double)(work->units - before);
	tac_sco_trust_observe_query(&sco->trust, &sco->def, wanted, *margin, pairs, share, short_of_work);
	if (*margin >= SCO_LIST_GAPS * sco->def.hold_gap_m)
		return true;
	work->spent = true;
	return false;
}

bool tac_sco_query_contacts(tac_sco *sco, tac_dtwist t, double s, double *margin, double *out_distance)
{
	return query(sco, sco->obstacles, sco->obstacles + sco->def.object_count, t, s, margin, out_distance);
}

static void accept_list(tac_sco *sco, tac_sco_obstacle *obstacle)
{
	tac_contacts *old = obstacle->contacts;
	obstacle->contacts = obstacle->spare;
	obstacle->spare = old;
	sco->lists_version++;
}

void tac_sco_accept_contacts(tac_sco *sco, double margin, double distance)
{
	for (int32_t i = 0; i < sco->def.object_count; i++)
		accept_list(sco, &sco->obstacles[i]);
	sco->listed_margin_m = margin;
	sco->distance_m = distance;
}

static tac_sco_proof prove_obstacle(tac_sco *sco, const tac_sco_obstacle *obstacle, tac_dtwist t)
{
	tac_sco_relative r = tac_sco_relative_motion(sco, obstacle, t);
	// The distance that a proved motion of a round tool keeps from what is not listed.
	const double zone = sco->tick.rolling ? SCO_ROUND_SLACK_GAPS : 1 - SCO_ROUND_SLACK_GAPS;
	if (is_far(sco, obstacle, &r, sco->def.hold_gap_m))
		return (tac_sco_proof){1, false, -1, -1, -1};
	return obstacle->geometry->prove(obstacle->memory, &r, zone * sco->def.hold_gap_m, &sco->tick.work);
}

bool tac_sco_certify(tac_sco *sco, tac_dtwist t, tac_sco_proof *out_proof)
{
	if (!tac_sco_work_admit(&sco->tick.work, SCO_CERTIFICATE))
		return false;
	*out_proof = (tac_sco_proof){1, false, -1, -1, -1};
	for (int32_t i = 0; i < sco->def.object_count && out_proof->fraction > 0; i++) {
		const tac_sco_obstacle *obstacle = &sco->obstacles[i];
		if (obstacle->hidden)
			continue;
		tac_sco_proof proof = prove_obstacle(sco, obstacle, t);
		if (proof.unfinished && proof.fraction == 0)
			return false;
		if (proof.fraction < out_proof->fraction) {
			*out_proof = proof;
			out_proof->object = i;
		}
	}
	return true;
}

// The lists of all obstacles are those of the present poses; each has found the distance to its own.
static double listed_distance(const tac_sco *sco)
{
	double distance = sco->listed_margin_m;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		if (!sco->obstacles[i].hidden)
			distance = fmin(distance, sco->obstacles[i].contacts->distance);
	}
	return distance;
}

bool tac_sco_advance_far_obstacle(tac_sco *sco, tac_sco_obstacle *obstacle)
{
	const tac_dvec3 between = tac_dvec3_sub(sco->pose.position, obstacle->pose.position);
	const double apart = tac_dvec3_length(between) - tac_dvec3_length(obstacle->twist.v),
		     margin = fmax(sco->listed_margin_m, SCO_LIST_GAPS * sco->def.hold_gap_m);
	if (!obstacle->hidden && !are_far(sco, obstacle, apart, margin))
		return false;
	obstacle->pose = obstacle->goal;
	list_nothing(obstacle->contacts, margin);
	return true;
}

bool tac_sco_advance_obstacle(tac_sco *sco, tac_sco_obstacle *obstacle)
{
	const bool listed = sco->listed_margin_m > 0;
	const double hold = sco->def.hold_gap_m,
		     needed = tac_sco_list_margin(sco, tac_sco_trust_begin(&sco->trust));
	double least = SCO_LIST_GAPS * hold, margin = fmax(least, fmin(sco->listed_margin_m, needed)),
	       distance;
	if (!tac_sco_work_admit(&sco->tick.work, SCO_CERTIFICATE))
		return false;
	const tac_sco_proof proof = prove_obstacle(sco, obstacle, tac_dtwist_zero());
	if (proof.fraction < 1 ||
	    !query(sco, obstacle, obstacle + 1, tac_dtwist_zero(), 1, &margin, &distance))
		return false;
	accept_list(sco, obstacle); // the spare list is that of the old pose, if there is one
	const tac_contacts *now = obstacle->contacts, *before = obstacle->spare;
	if ((!listed && now->distance < hold &&
	     !query(sco, obstacle, obstacle + 1, tac_dtwist_zero(), 0, &least, &distance)) ||
	    now->distance < fmin(hold, before->distance)) {
		accept_list(sco, obstacle);
		return false;
	}
	obstacle->pose = obstacle->goal;
	tac_sco_note_trail(sco);
	if (listed)
		sco->listed_margin_m = fmin(sco->listed_margin_m, now->margin);
	sco->distance_m = listed ? listed_distance(sco) : fmin(sco->distance_m, now->distance);
	return true;
}

bool tac_sco_sweep(tac_sco *sco, tac_dtwist t, double *out_fraction)
{
	tac_sco_work *work = &sco->tick.work;
	if (!tac_sco_work_admit(work, SCO_SWEEP))
		return false;
	double fraction = 1, zone = SCO_LIST_GAPS * sco->def.hold_gap_m;
	for (int32_t i = 0; i < sco->def.object_count && fraction > 0; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		if (obstacle->hidden)
			continue;
		tac_sco_relative r = tac_sco_relative_motion(sco, obstacle, t);
		if (is_far(sco, obstacle, &r, zone))
			continue;
		const double share = sco->flight.work_share * (double)tac_sco_work_left(work);
		tac_sco_work part = {.limit = 1 + (int64_t)share};
		fraction = fmin(fraction, obstacle->geometry->sweep(obstacle->memory, &r, zone, &part));
		work->units += part.units;
		if (part.spent)
			tac_sco_flight_observe(&sco->flight, true);
	}
	*out_fraction = fraction;
	return true;
}

void tac_sco_prepare(tac_sco *sco)
{
	tac_sco_work *work = &sco->tick.work;
	for (int32_t i = 0; i < sco->def.object_count && work->units < work->limit; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		const tac_sco_relative r = tac_sco_relative_motion(sco, obstacle, tac_dtwist_zero());
		if (!obstacle->hidden && obstacle->geometry->prepare &&
		    !is_far(sco, obstacle, &r, sco->def.trust_max_m))
			obstacle->geometry->prepare(obstacle->memory, r.start, work);
	}
}

double tac_sco_obstacle_distance(tac_sco *sco, tac_sco_obstacle *obstacle, tac_dpose T_world_object,
				 double reach, tac_sco_work *work)
{
	obstacle->geometry->list(obstacle->memory, tac_dpose_relative(T_world_object, sco->pose), reach, work,
				 obstacle->spare);
	return tac_sco_work_overdrawn(work) ? 0 : fmin(reach, obstacle->spare->distance);
}

double tac_sco_distance(tac_sco *sco, double reach, bool *out_spent)
{
	tac_sco_work work = {.limit = SCO_WORK_MAX};
	for (int32_t i = 0; i < sco->def.object_count && reach > 0; i++) {
		tac_sco_obstacle *obstacle = &sco->obstacles[i];
		if (!obstacle->hidden)
			reach = tac_sco_obstacle_distance(sco, obstacle, obstacle->pose, reach, &work);
	}
	*out_spent = work.spent;
	return reach;
}

tac_overlap tac_sco_collide(tac_sco *sco, const tac_sco_obstacle *obstacle, tac_dpose T_object_tool,
			    tac_query_mode mode, tac_sco_work *work)
{
	if (tac_dvec3_length(T_object_tool.position) > obstacle->ask_within_m)
		return TAC_OVERLAP_NONE;
	tac_overlap answer = TAC_OVERLAP_UNKNOWN;
	if (work->nodes_left > 0) {
		tac_rigid motion = tac_rigid_from_dpose(T_object_tool);
		tac_context *context = sco->context;
		const tac_budget budget = {work->nodes_left, 0};
		const bool again = context->pending && context->fixed == obstacle->shape &&
				   context->mode == mode &&
				   memcmp(&context->motion, &motion, sizeof motion) == 0;
		answer = again ? tac_collider_resume(sco->def.collider, context, budget)
			       : tac_collider_query(sco->def.collider, context, sco->def.tool_shape,
						    obstacle->shape, &motion, mode, budget);
		work->nodes_left = sco->context->nodes_left;
	}
	work->spent |= work->nodes_left <= 0;
	return answer;
}

bool tac_sco_inject(tac_sco *sco, const tac_sco_proof *proof, tac_dtwist t, bool blocker)
{
	if (proof->object < 0 || sco->injected_count >= SCO_MAX_INJECTED)
		return false;
	const tac_sco_obstacle *obstacle = &sco->obstacles[proof->object];
	const tac_sco_relative r = tac_sco_relative_motion(sco, obstacle, t);
	tac_contact_point c;
	if (!obstacle->geometry->closest || !obstacle->geometry->closest(obstacle->memory, proof, &r, &c))
		return false;
	for (int32_t i = 0; i < sco->injected_count && !blocker; i++) {
		if (sco->injected[i].object == proof->object &&
		    tac_sco_same_features(&sco->injected[i].contact, &c))
			return false;
	}
	sco->injected[sco->injected_count++] = (tac_sco_injected){c, proof->object, blocker};
	return true;
}
