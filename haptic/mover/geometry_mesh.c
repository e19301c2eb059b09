// The tool as a mesh.
#include "haptic/mover/constants.h"
#include "haptic/mover/geometry.h"

#include "collision/certificate.h"

#include <math.h>

typedef struct tac_sco_memory {
	const tac_body *tool, *body;              // that the queries take
	const tac_body *exact[2], *simplified[2]; // tool and object; the same where none is simplified
	bool fresh;                               // nothing has been listed since the reset
	tac_sweep_context *context;
	// Simplified bodies stay this much further apart than their gaps say, m: the gaps of this geometry
	// are those of the bodies less this, at most those of the exact meshes.
	double detail_m;
	double least_m; // the margin that every list must cover
} memory;

static void destroy(memory *m)
{
	tac_sweep_context_destroy(&m->context);
}

static void take_bodies(memory *m, const tac_body *const bodies[2])
{
	m->tool = bodies[0];
	m->body = bodies[1];
	m->detail_m = tac_body_detail(m->tool) + tac_body_detail(m->body);
}

static tac_result create(memory *m, const tac_sco_def *def, const tac_sco_object *object)
{
	m->exact[0] = def->tool;
	m->exact[1] = object->body;
	m->simplified[0] = def->tool_detail ? def->tool_detail : def->tool;
	m->simplified[1] = object->detail ? object->detail : object->body;
	m->least_m = SCO_LIST_GAPS * def->hold_gap_m;
	take_bodies(m, m->simplified);
	return tac_sweep_context_create(&m->context);
}

static void reset(memory *m)
{
	tac_sweep_context_reset(m->context);
	take_bodies(m, m->simplified);
	m->fresh = true;
}

static void begin_work(const memory *m, const tac_sco_work *work)
{
	tac_sweep_context_set_work_limit(m->context, SCO_CONTEXT_WORK_PER_UNIT * tac_sco_work_left(work));
}

static void end_work(const memory *m, tac_sco_work *work)
{
	work->units += tac_sweep_context_work(m->context) / SCO_CONTEXT_WORK_PER_UNIT + 1;
}

static void list_bodies(memory *m, tac_dpose T_object_tool, double margin, tac_sco_work *work,
			tac_contacts *out)
{
	tac_drigid T = tac_drigid_from_pose(T_object_tool);
	begin_work(m, work);
	tac_sweep_context_set_enough(m->context, m->least_m + m->detail_m);
	const double asked = margin + m->detail_m;
	tac_contacts_query(m->tool, m->body, &T, asked, m->context, out);
	end_work(m, work);
	if (m->detail_m == 0)
		return;
	// Where all is covered the margin is exact: by subtraction it could become less than the least one.
	out->margin = out->margin < asked ? fmax(0, out->margin - m->detail_m) : margin;
	out->distance = fmax(0, out->distance - m->detail_m);
	for (int32_t i = 0; i < out->count; i++)
		out->list[i].gap -= m->detail_m;
}

// A tool that begins within the tolerance of simplified bodies has the exact ones until the next reset.
static void list(memory *m, tac_dpose T_object_tool, double margin, tac_sco_work *work, tac_contacts *out)
{
	list_bodies(m, T_object_tool, margin, work, out);
	if (m->fresh && m->detail_m > 0 && out->distance <= SCO_MIN_GAP_M) {
		tac_sweep_context_reset(m->context);
		take_bodies(m, m->exact);
		list_bodies(m, T_object_tool, margin, work, out);
	}
	m->fresh = false;
}

// What ended a proof. False if the triangles touch there.
static bool find_blocker(const memory *m, const tac_sco_relative *motion, const tac_certificate *c,
			 tac_contact_point *out)
{
	const tac_dpose end = tac_dpose_after(motion->start, motion->twist, c->fraction);
	const tac_triangle_contacts there = tac_contacts_of_triangles(
		tac_body_mesh(m->tool), c->moving_triangle, tac_body_mesh(m->body), c->fixed_triangle, end);
	const tac_drigid from = tac_drigid_from_pose(end), to = tac_drigid_from_pose(motion->start);
	*out = there.closest;
	out->gap = tac_contacts_gap_after(&there.closest, NULL, NULL, &from, &to) - m->detail_m;
	out->point =
		tac_dpose_apply_point(tac_dpose_compose(motion->start, tac_dpose_inverse(end)), out->point);
	return there.distance > 0;
}

static tac_sco_proof prove(memory *m, const tac_sco_relative *motion, double zone_m, tac_sco_work *work)
{
	(void)zone_m;
	tac_drigid T = tac_drigid_from_pose(motion->start);
	tac_certificate_options options = tac_certificate_options_default();
	const int64_t limit = SCO_CONTEXT_WORK_PER_UNIT * tac_sco_work_left(work);
	begin_work(m, work);
	tac_certificate c = tac_certificate_check(m->tool, m->body, &T, motion->twist.v, motion->twist.w,
						  &options, m->context);
	end_work(m, work);
	// With a list in the making the proof is to end where the old list does: that is no lack of work.
	const bool unfinished = (c.flags & TAC_SWEEP_BUDGET_SPENT) != 0 && c.moving_triangle < 0;
	work->spent |= unfinished && (c.fraction == 0 || tac_sweep_context_work(m->context) > limit);
	tac_sco_proof proof = {.fraction = c.fraction, .unfinished = unfinished};
	proof.blocked = c.moving_triangle >= 0 && find_blocker(m, motion, &c, &proof.contact);
	return proof;
}

static double sweep(memory *m, const tac_sco_relative *motion, double zone_m, tac_sco_work *work)
{
	tac_drigid T = tac_drigid_from_pose(motion->start);
	if (tac_contacts_nested(m->tool, m->body, &T))
		return 0; // substeps are cheap there
	tac_sweep_options options = tac_sweep_options_default();
	options.zone = zone_m + m->detail_m;
	double angle = tac_dvec3_length(motion->twist.w);
	begin_work(m, work);
	tac_sweep_result r =
		angle > 0 ? tac_sweep_rotate(m->tool, m->body, &T, T.t, motion->twist.w, angle, &options,
					     m->context)
			  : tac_sweep_translate(m->tool, m->body, &T, motion->twist.v, &options, m->context);
	end_work(m, work);
	work->spent |= (r.flags & TAC_SWEEP_BUDGET_SPENT) != 0;
	return r.fraction;
}

static void prepare(memory *m, tac_dpose T_object_tool, tac_sco_work *work)
{
	tac_drigid T = tac_drigid_from_pose(T_object_tool);
	begin_work(m, work);
	tac_sweep_context_prepare(m->context, &T);
	end_work(m, work);
}

static double gap_after(const memory *m, const tac_contact_point *c, const tac_drigid *from,
			const tac_drigid *to)
{
	return tac_contacts_gap_after(c, m->tool, m->body, from, to);
}

static void restate(const memory *m, tac_dpose T_world_tool, const tac_contact_point *c, bool with_triangles,
		    tac_sco_contact *out)
{
	out->gap_m += m->detail_m;
	out->rest_gap_m += m->detail_m;
	out->tool_triangle = out->object_triangle = -1;
	if (!with_triangles)
		return;
	tac_dvec3 on_tool = tac_dpose_apply_point(tac_dpose_inverse(T_world_tool), out->point_m);
	tac_dvec3 on_object = tac_dvec3_add_scaled(c->point, -out->gap_m, c->normal);
	out->tool_triangle = tac_body_source_triangle(m->tool, c->moving_triangle, on_tool);
	out->object_triangle = tac_body_source_triangle(m->body, c->fixed_triangle, on_object);
}

const tac_sco_geometry tac_sco_geometry_mesh = {
	.query_share = SCO_MESH_QUERY_SHARE,
	.stride = 1,
	.memory_size = sizeof(memory),
	.create = create,
	.destroy = destroy,
	.reset = reset,
	.list = list,
	.prove = prove,
	.sweep = sweep,
	.prepare = prepare,
	.gap_after = gap_after,
	.restate = restate,
};
