// The tool as a sphere or capsule, in closed form.
#include "haptic/mover/constants.h"
#include "haptic/mover/geometry.h"

#include "collision/certificate.h"

typedef struct tac_sco_memory {
	tac_round tool; // in its own frame
	const tac_body *body;
	tac_round_context *context;
} memory;

static void destroy(memory *m)
{
	tac_round_context_destroy(&m->context);
}

static tac_result create(memory *m, const tac_sco_def *def, const tac_sco_object *object)
{
	m->tool = def->round;
	m->body = object->body;
	return tac_round_context_create(&m->context);
}

static void reset(memory *m)
{
	tac_round_context_reset(m->context);
}

static void list(memory *m, tac_dpose T_object_tool, double margin, tac_sco_work *work, tac_contacts *out)
{
	tac_round tool = tac_round_place(&m->tool, T_object_tool);
	tac_contacts_round(&tool, m->body, margin, m->context, out);
	out->pairs = out->pairs / SCO_ROUND_TESTS_PER_UNIT + 1;
	work->units += out->pairs;
}

static tac_sweep_options options(double zone_m, const tac_sco_work *work)
{
	tac_sweep_options o = tac_sweep_options_default();
	o.pair_limit = SCO_ROUND_TESTS_PER_UNIT * tac_sco_work_left(work);
	o.zone = zone_m;
	return o;
}

static double count(const tac_sweep_result *r, tac_sco_work *work)
{
	work->units += r->pairs / SCO_ROUND_TESTS_PER_UNIT + 1;
	work->spent |= (r->flags & TAC_SWEEP_BUDGET_SPENT) != 0;
	return r->fraction;
}

// A translation has a closed form. Where anything turns, separating planes prove the motion, as for meshes.
static tac_sco_proof prove(memory *m, const tac_sco_relative *motion, double zone_m, tac_sco_work *work)
{
	tac_round tool = tac_round_place(&m->tool, motion->start);
	bool turns = tac_dvec3_length_squared(motion->twist.w) > 0;
	tac_sweep_options o = options(turns ? tac_certificate_options_default().threshold : zone_m, work);
	tac_sweep_result r = turns ? tac_round_prove(&tool, m->body, motion->start.position, motion->twist.v,
						     motion->twist.w, &o, m->context)
				   : tac_round_translate(&tool, m->body, motion->twist.v, &o, m->context);
	return (tac_sco_proof){.fraction = count(&r, work),
			       .unfinished = (r.flags & TAC_SWEEP_BUDGET_SPENT) != 0};
}

static double sweep(memory *m, const tac_sco_relative *motion, double zone_m, tac_sco_work *work)
{
	double angle = tac_dvec3_length(motion->twist.w);
	if (angle == 0)
		return prove(m, motion, zone_m, work).fraction;
	tac_round tool = tac_round_place(&m->tool, motion->start);
	tac_sweep_options o = options(zone_m, work);
	tac_sweep_result r =
		tac_round_rotate(&tool, m->body, motion->start.position, motion->twist.w, angle, &o);
	return count(&r, work);
}

static void restate(const memory *m, tac_dpose T_world_tool, const tac_contact_point *c, bool with_triangles,
		    tac_sco_contact *out)
{
	(void)T_world_tool; // the tool has no triangles
	const tac_dvec3 on_object = tac_dvec3_add_scaled(c->point, -c->gap, c->normal);
	out->object_triangle =
		with_triangles ? tac_body_source_triangle(m->body, c->fixed_triangle, on_object) : -1;
}

static tac_dvec3 roll(const memory *m, const tac_contact_point *c, tac_dvec3 target, double max_tangent)
{
	return tac_contacts_roll(c, m->body, target, max_tangent);
}

const tac_sco_geometry tac_sco_geometry_round = {
	.query_share = SCO_ROUND_QUERY_SHARE,
	.stride = SCO_ROUND_STRIDE,
	.memory_size = sizeof(memory),
	.create = create,
	.destroy = destroy,
	.reset = reset,
	.list = list,
	.prove = prove,
	.sweep = sweep,
	.restate = restate,
	.roll = roll,
};
