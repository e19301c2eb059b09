// The tool as a mesh.
#include "haptic/mover/constants.h"
#include "haptic/mover/geometry.h"

#include "collision/certificate.h"

#include <math.h>
#include <stdlib.h>

typedef struct memory {
	const tac_body *tool, *body;              // that the queries take
	const tac_body *exact[2], *simplified[2]; // tool and object; simplified NULL: none
	bool fresh;                               // nothing has been listed since the reset
	tac_sweep_context *context;
	// Simplified bodies stay this much further apart than their gaps say, m: the gaps of this geometry
	// are those of the bodies less this, at most those of the exact meshes.
	double detail_m;
	double least_m; // the margin that every list must cover
} memory;

static void destroy(void *m)
{
	if (m)
		tac_sweep_context_destroy(&((memory *)m)->context);
	free(m);
}

// Takes the simplified bodies, or the exact ones.
static void take_bodies(memory *m, bool simplified)
{
	m->tool = simplified && m->simplified[0] ? m->simplified[0] : m->exact[0];
	m->body = simplified && m->simplified[1] ? m->simplified[1] : m->exact[1];
	m->detail_m = tac_body_detail(m->tool) + tac_body_detail(m->body);
}

static tac_result create(const tac_sco_def *def, const tac_sco_object *object, void **out_memory)
{
	memory *m = calloc(1, sizeof *m);
	*out_memory = m;
	if (!m)
		return TAC_ERROR_MEMORY;
	m->exact[0] = def->tool;
	m->exact[1] = object->body;
	m->simplified[0] = def->tool_detail;
	m->simplified[1] = object->detail;
	m->least_m = SCO_LIST_GAPS * def->hold_gap_m;
	take_bodies(m, true);
	return tac_sweep_context_create(&m->context);
}

static void reset(void *memory_)
{
	memory *m = memory_;
	tac_sweep_context_reset(m->context);
	take_bodies(m, true);
	m->fresh = true;
}

// --- queries ---

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
	tac_contacts_query(m->tool, m->body, &T, margin + m->detail_m, m->context, out);
	end_work(m, work);
	if (m->detail_m == 0)
		return;
	out->margin = fmax(0, out->margin - m->detail_m);
	out->distance = fmax(0, out->distance - m->detail_m);
	for (int32_t i = 0; i < out->count; i++)
		out->list[i].gap -= m->detail_m;
}

// A tool that begins within the tolerance of simplified bodies has the exact ones until the next reset.
static void list(void *memory_, tac_dpose T_object_tool, double margin, tac_sco_work *work, tac_contacts *out)
{
	memory *m = memory_;
	list_bodies(m, T_object_tool, margin, work, out);
	if (m->fresh && (m->simplified[0] || m->simplified[1]) && out->distance <= SCO_MIN_GAP_M) {
		tac_sweep_context_reset(m->context);
		take_bodies(m, false);
		list_bodies(m, T_object_tool, margin, work, out);
	}
	m->fresh = false;
}

static tac_sco_proof prove(void *memory_, const tac_sco_relative *motion, double zone_m, tac_sco_work *work)
{
	(void)zone_m;
	memory *m = memory_;
	tac_drigid T = tac_drigid_from_pose(motion->start);
	tac_certificate_options options = tac_certificate_options_default();
	begin_work(m, work);
	tac_certificate c = tac_certificate_check(m->tool, m->body, &T, motion->twist.v, motion->twist.w,
						  &options, m->context);
	end_work(m, work);
	bool undecided = (c.flags & TAC_SWEEP_BUDGET_SPENT) != 0;
	work->spent |= undecided;
	return (tac_sco_proof){c.fraction, undecided, -1, c.moving_triangle, c.fixed_triangle};
}

static double sweep(void *memory_, const tac_sco_relative *motion, double zone_m, tac_sco_work *work)
{
	memory *m = memory_;
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

static void prepare(void *memory_, tac_dpose T_object_tool, tac_sco_work *work)
{
	memory *m = memory_;
	tac_drigid T = tac_drigid_from_pose(T_object_tool);
	begin_work(m, work);
	tac_sweep_context_prepare(m->context, &T);
	end_work(m, work);
}

// --- gaps ---

double tac_sco_gap_from_plane(const tac_mesh *fixed, const tac_contact_point *c, tac_dpose from, tac_dpose to)
{
	tac_dquat back = tac_dquat_conjugate(from.rotation);
	tac_dvec3 local = tac_dquat_rotate(back, tac_dvec3_sub(c->point, from.position));
	tac_dvec3 x = tac_dpose_apply_point(to, local);
	if (c->kind != TAC_CONTACT_FACE_VERTEX)
		return c->gap + tac_dvec3_dot(c->normal, tac_dvec3_sub(x, c->point));
	tac_dvec3 n = tac_dquat_rotate(to.rotation, tac_dquat_rotate(back, c->normal));
	return tac_dvec3_dot(n, tac_dvec3_sub(x, tac_dvec3_from_vec3(fixed->vertices[c->fixed_feature])));
}

static double gap_after(const void *memory_, const tac_contact_point *c, tac_dpose from, tac_dpose to)
{
	const memory *m = memory_;
	const tac_mesh *moving = tac_body_mesh(m->tool), *fixed = tac_body_mesh(m->body);
	if (c->kind == TAC_CONTACT_SPHERES) {
		const tac_drigid start = tac_drigid_from_pose(from), end = tac_drigid_from_pose(to);
		return tac_contacts_gap_of_spheres(c, m->tool, &start, &end);
	}
	if (c->kind == TAC_CONTACT_EDGE_EDGE) {
		const int32_t *a = moving->edges[c->moving_feature].vertex;
		const int32_t *b = fixed->edges[c->fixed_feature].vertex;
		tac_dvec3 p = tac_dvec3_from_vec3(moving->vertices[a[0]]);
		tac_dvec3 u = tac_dvec3_sub(tac_dvec3_from_vec3(moving->vertices[a[1]]), p);
		u = tac_dquat_rotate(to.rotation, u);
		tac_dvec3 q = tac_dvec3_from_vec3(fixed->vertices[b[0]]);
		tac_dvec3 w = tac_dvec3_sub(tac_dvec3_from_vec3(fixed->vertices[b[1]]), q);
		tac_dvec3 n = tac_dvec3_cross(u, w);
		double length = tac_dvec3_length(n);
		if (length > SCO_PARALLEL_SINE * tac_dvec3_length(u) * tac_dvec3_length(w)) {
			double side = tac_dvec3_dot(n, c->normal) < 0 ? -1 : 1;
			return side * tac_dvec3_dot(n, tac_dvec3_sub(tac_dpose_apply_point(to, p), q)) /
				       length -
			       m->detail_m;
		}
	}
	const double gap = tac_sco_gap_from_plane(fixed, c, from, to);
	return c->kind == TAC_CONTACT_FACE_VERTEX ? gap - m->detail_m : gap;
}

// --- what ended a proof ---

// The pair of triangles that ended it, in the obstacle's frame.
typedef struct pair {
	const memory *m;
	int32_t moving, fixed;
	double floor_m;
	tac_dpose start, later;     // of the tool
	tac_dvec3 start_corners[3]; // of the tool's triangle at the start of the motion
	tac_dvec3 later_corners[3]; // and at the later pose
	tac_dvec3 fixed_corners[3]; // of the obstacle's triangle
	tac_contact_point *out;
	int32_t count;
} pair;

static void load(const tac_mesh *mesh, int32_t triangle, tac_dpose T, tac_dvec3 out[3])
{
	for (int k = 0; k < 3; k++)
		out[k] = tac_dpose_apply_point(T, tac_mesh_corner(mesh, triangle, k));
}

static pair pair_of(const memory *m, const tac_sco_proof *proof, tac_dpose start)
{
	pair p = {.m = m, .moving = proof->moving_feature, .fixed = proof->fixed_feature, .start = start};
	load(tac_body_mesh(m->tool), p.moving, start, p.start_corners);
	load(tac_body_mesh(m->body), p.fixed, tac_dpose_identity(), p.fixed_corners);
	return p;
}

static void add_contact(pair *p, tac_contact_point c)
{
	c.gap -= p->m->detail_m;
	c.moving_triangle = p->moving;
	c.fixed_triangle = p->fixed;
	c.moving_surface = tac_body_mesh(p->m->tool)->triangle_surface[p->moving];
	c.fixed_surface = tac_body_mesh(p->m->body)->triangle_surface[p->fixed];
	p->out[p->count++] = c;
}

static tac_dvec3 unit_normal(const tac_dvec3 t[3])
{
	return tac_dvec3_triangle_normal(t[0], t[1], t[2]);
}

// Whether p projects onto the triangle t with the normal n.
static bool projects_onto(tac_dvec3 p, const tac_dvec3 t[3], tac_dvec3 n)
{
	for (int k = 0; k < 3; k++) {
		tac_dvec3 edge = tac_dvec3_sub(t[(k + 1) % 3], t[k]);
		if (tac_dvec3_dot(n, tac_dvec3_cross(edge, tac_dvec3_sub(p, t[k]))) < 0)
			return false;
	}
	return true;
}

// Whether a vertex that moves from x0 to x1 over the face t ends below the floor. *out_height is its height
// at the start. *n is flipped to the vertex's side if the body is not solid.
static bool violates(const pair *p, tac_dvec3 x0, tac_dvec3 x1, const tac_dvec3 t[3], bool solid,
		     tac_dvec3 *n, double *out_height)
{
	double h0 = tac_dvec3_dot(*n, tac_dvec3_sub(x0, t[0]));
	if (h0 < 0 && !solid) {
		*n = tac_dvec3_neg(*n);
		h0 = -h0;
	}
	double h1 = tac_dvec3_dot(*n, tac_dvec3_sub(x1, t[0]));
	if (!(h0 > 0) || h1 >= p->floor_m || h1 >= h0)
		return false;
	double at = fmin(1, (h0 - fmin(h0, p->floor_m)) / (h0 - h1));
	tac_dvec3 up = unit_normal(t);
	*out_height = h0;
	return projects_onto(tac_dvec3_add_scaled(x0, at, tac_dvec3_sub(x1, x0)), t, up) ||
	       projects_onto(x1, t, up);
}

// Vertex k of either triangle against the face of the other.
static void find_vertex(pair *p, int k)
{
	const tac_mesh *moving = tac_body_mesh(p->m->tool), *fixed = tac_body_mesh(p->m->body);
	tac_contact_point c = {.kind = TAC_CONTACT_VERTEX_FACE};
	c.normal = unit_normal(p->fixed_corners);
	if (violates(p, p->start_corners[k], p->later_corners[k], p->fixed_corners,
		     tac_body_is_solid(p->m->body), &c.normal, &c.gap)) {
		c.moving_feature = moving->triangles[p->moving].vertex[k];
		c.fixed_feature = p->fixed;
		c.point = p->start_corners[k];
		add_contact(p, c);
	}
	// The obstacle's vertex against the tool's face, in the frame of the tool at the start.
	tac_dvec3 local = tac_dquat_rotate(tac_dquat_conjugate(p->later.rotation),
					   tac_dvec3_sub(p->fixed_corners[k], p->later.position));
	tac_dvec3 later = tac_dpose_apply_point(p->start, local), up = unit_normal(p->start_corners);
	if (violates(p, p->fixed_corners[k], later, p->start_corners, tac_body_is_solid(p->m->tool), &up,
		     &c.gap)) {
		c.kind = TAC_CONTACT_FACE_VERTEX;
		c.moving_feature = p->moving;
		c.fixed_feature = fixed->triangles[p->fixed].vertex[k];
		c.normal = tac_dvec3_neg(up);
		c.point = tac_dvec3_add_scaled(p->fixed_corners[k], -c.gap, up);
		add_contact(p, c);
	}
}

// Edge k of the tool's triangle against edge j of the obstacle's.
static void find_edges(pair *p, int k, int j)
{
	const tac_body *tool = p->m->tool, *object = p->m->body;
	int32_t moving = tac_body_mesh(tool)->triangle_edges[p->moving].vertex[k];
	int32_t fixed = tac_body_mesh(object)->triangle_edges[p->fixed].vertex[j];
	if (tac_body_edge_kind(tool, moving) == TAC_BODY_EDGE_FLAT ||
	    tac_body_edge_kind(object, fixed) == TAC_BODY_EDGE_FLAT)
		return;
	tac_dvec3 a = p->start_corners[k], c = p->fixed_corners[j], z = p->later_corners[k];
	tac_dvec3 u0 = tac_dvec3_sub(p->start_corners[(k + 1) % 3], a),
		  u1 = tac_dvec3_sub(p->later_corners[(k + 1) % 3], z),
		  w = tac_dvec3_sub(p->fixed_corners[(j + 1) % 3], c);
	tac_dvec3 n0 = tac_dvec3_cross(u0, w), n1 = tac_dvec3_cross(u1, w);
	double l0 = tac_dvec3_length(n0), l1 = tac_dvec3_length(n1);
	if (fmin(l0, l1) < SCO_PARALLEL_SINE * tac_dvec3_length(u0) * tac_dvec3_length(w))
		return;
	n0 = tac_dvec3_scale(n0, 1 / l0);
	n1 = tac_dvec3_scale(n1, 1 / l1);
	double g0 = tac_dvec3_dot(n0, tac_dvec3_sub(a, c)), g1 = tac_dvec3_dot(n1, tac_dvec3_sub(z, c));
	if (g0 < 0) {
		n0 = tac_dvec3_neg(n0);
		g0 = -g0;
		g1 = -g1;
	}
	if (g1 >= p->floor_m || g1 >= g0)
		return;
	tac_dvec3 between = tac_dvec3_sub(c, z);
	double on_moving = tac_dvec3_dot(tac_dvec3_cross(between, w), n1) / l1,
	       on_fixed = tac_dvec3_dot(tac_dvec3_cross(between, u1), n1) / l1;
	if (on_moving < 0 || on_moving > 1 || on_fixed < 0 || on_fixed > 1)
		return;
	tac_contact_point contact = {.kind = TAC_CONTACT_EDGE_EDGE,
				     .moving_feature = moving,
				     .fixed_feature = fixed,
				     .normal = n0,
				     .point = tac_dvec3_add_scaled(a, on_moving, u0),
				     .gap = g0};
	add_contact(p, contact);
}

static int32_t violated(const void *m, const tac_sco_proof *proof, const tac_sco_relative *motion, double at,
			double floor_m, tac_contact_point out[SCO_VIOLATED_MAX])
{
	if (proof->moving_feature < 0 || proof->fixed_feature < 0)
		return 0;
	pair p = pair_of(m, proof, motion->start);
	p.floor_m = floor_m + p.m->detail_m;
	p.out = out;
	p.later = tac_sco_pose_after(motion->start, motion->twist, at);
	load(tac_body_mesh(p.m->tool), p.moving, p.later, p.later_corners);
	for (int k = 0; k < 3; k++)
		find_vertex(&p, k);
	for (int k = 0; k < 9; k++)
		find_edges(&p, k / 3, k % 3);
	return p.count;
}

static bool closest(const void *m, const tac_sco_proof *proof, tac_dpose T_object_tool,
		    tac_contact_point *out)
{
	if (proof->moving_feature < 0 || proof->fixed_feature < 0)
		return false;
	pair p = pair_of(m, proof, T_object_tool);
	tac_closest c = tac_closest_of_triangles(p.start_corners, p.fixed_corners);
	*out = (tac_contact_point){.kind = TAC_CONTACT_VERTEX_VERTEX,
				   .moving_feature = -1,
				   .fixed_feature = -1,
				   .moving_triangle = p.moving,
				   .fixed_triangle = p.fixed,
				   .normal = tac_dvec3_normalize(tac_dvec3_sub(c.point, c.on_fixed)),
				   .point = c.point,
				   .gap = c.distance - p.m->detail_m};
	return c.distance > 0;
}

static void source_triangles(const void *memory_, tac_dvec3 on_tool, tac_dvec3 on_object,
			     int32_t *tool_triangle, int32_t *object_triangle)
{
	const memory *m = memory_;
	*tool_triangle = tac_body_source_triangle(m->tool, *tool_triangle, on_tool);
	*object_triangle = tac_body_source_triangle(m->body, *object_triangle, on_object);
}

static double detail(const void *m)
{
	return ((const memory *)m)->detail_m;
}

const tac_sco_geometry tac_sco_geometry_mesh = {
	.query_share = SCO_MESH_QUERY_SHARE,
	.stride = 1,
	.create = create,
	.destroy = destroy,
	.reset = reset,
	.list = list,
	.prove = prove,
	.sweep = sweep,
	.prepare = prepare,
	.gap_after = gap_after,
	.source_triangles = source_triangles,
	.detail = detail,
	.violated = violated,
	.closest = closest,
};
