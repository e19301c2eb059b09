#include "haptic/mover/mover.h"

static tac_round place(const tac_sco *sco, tac_dpose T_object_tool)
{
	const tac_round *r = &sco->def.round;
	return (tac_round){tac_dpose_apply_point(T_object_tool, r->a),
			   tac_dpose_apply_point(T_object_tool, r->b), r->radius};
}

// The queries count triangle tests, the step counts work units.
static tac_sweep_options limit_in_tests(const tac_sweep_options *options)
{
	tac_sweep_options converted = *options;
	converted.pair_limit *= SCO_ROUND_TESTS_PER_UNIT;
	return converted;
}

static int64_t work_units(int64_t tests)
{
	return tests / SCO_ROUND_TESTS_PER_UNIT + 1;
}

void tac_sco_round_contacts(const tac_sco *sco, tac_sco_obstacle *obstacle, tac_dpose T_object_tool,
			    double margin)
{
	tac_round tool = place(sco, T_object_tool);
	tac_contacts_round(&tool, obstacle->body, margin, obstacle->round_context, obstacle->spare);
	obstacle->spare->pairs = work_units(obstacle->spare->pairs);
}

tac_sweep_result tac_sco_round_translate(const tac_sco *sco, tac_sco_obstacle *obstacle,
					 tac_dpose T_object_tool, tac_dvec3 v,
					 const tac_sweep_options *options)
{
	tac_round tool = place(sco, T_object_tool);
	tac_sweep_options limited = limit_in_tests(options);
	tac_sweep_result r = tac_round_translate(&tool, obstacle->body, v, &limited, obstacle->round_context);
	r.pairs = work_units(r.pairs);
	return r;
}

tac_sweep_result tac_sco_round_rotate(const tac_sco *sco, const tac_sco_obstacle *obstacle,
				      tac_dpose T_object_tool, tac_dvec3 w, const tac_sweep_options *options)
{
	tac_round tool = place(sco, T_object_tool);
	tac_sweep_options limited = limit_in_tests(options);
	tac_sweep_result r = tac_round_rotate(&tool, obstacle->body, T_object_tool.position, w,
					      tac_dvec3_length(w), &limited);
	r.pairs = work_units(r.pairs);
	return r;
}

tac_sweep_result tac_sco_round_prove(const tac_sco *sco, tac_sco_obstacle *obstacle,
				     const tac_sco_relative *motion, const tac_sweep_options *options)
{
	tac_round tool = place(sco, motion->start);
	tac_sweep_options limited = limit_in_tests(options);
	tac_sweep_result r = tac_round_prove(&tool, obstacle->body, motion->start.position, motion->twist.v,
					     motion->twist.w, &limited, obstacle->round_context);
	r.pairs = work_units(r.pairs);
	return r;
}
