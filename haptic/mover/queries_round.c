#include "haptic/sco_private.h"

// The pairs of a step are pairs of triangles: so many triangles against a round tool cost as much.
#define PAIR 8

static tac_ccd_round place(const tac_sco *sco, tac_dpose T_object_tool)
{
	const tac_sco_round *r = &sco->def.round;
	return (tac_ccd_round){tac_dpose_apply_point(T_object_tool, r->a_m),
			       tac_dpose_apply_point(T_object_tool, r->b_m), r->radius_m};
}

void tac_sco_round_contacts(const tac_sco *sco, tac_sco_thing *thing, tac_dpose T_object_tool, double margin)
{
	tac_ccd_round tool = place(sco, T_object_tool);
	tac_contacts_round(&tool, thing->body, margin, thing->round_context, thing->spare);
	thing->spare->pairs = thing->spare->pairs / PAIR + 1;
}

tac_ccd_result tac_sco_round_sweep(const tac_sco *sco, tac_sco_thing *thing, tac_dpose T_object_tool,
				   tac_dvec3 v, const tac_ccd_options *options)
{
	tac_ccd_round tool = place(sco, T_object_tool);
	tac_ccd_options triangles = *options;
	triangles.pair_limit *= PAIR;
	tac_ccd_result r = tac_ccd_round_translate(&tool, thing->body, v, &triangles, thing->round_context);
	r.pairs = r.pairs / PAIR + 1;
	return r;
}

tac_ccd_result tac_sco_round_spin(const tac_sco *sco, const tac_sco_thing *thing, tac_dpose T_object_tool,
				  tac_dvec3 w, const tac_ccd_options *options)
{
	tac_ccd_round tool = place(sco, T_object_tool);
	tac_ccd_options triangles = *options;
	triangles.pair_limit *= PAIR;
	tac_ccd_result r = tac_ccd_round_rotate(&tool, thing->body, T_object_tool.position, w,
						tac_dvec3_length(w), &triangles);
	r.pairs = r.pairs / PAIR + 1;
	return r;
}

tac_ccd_result tac_sco_round_prove(const tac_sco *sco, tac_sco_thing *thing, const tac_sco_relative *motion,
				   const tac_ccd_options *options)
{
	tac_ccd_round tool = place(sco, motion->start);
	tac_ccd_options triangles = *options;
	triangles.pair_limit *= PAIR;
	tac_ccd_result r = tac_ccd_round_prove(&tool, thing->body, motion->start.position, motion->twist.v,
					       motion->twist.w, &triangles, thing->round_context);
	r.pairs = r.pairs / PAIR + 1;
	return r;
}
