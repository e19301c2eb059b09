#include "haptic/mover/mover.h"

#include <math.h>

// The pair of triangles that ended a proof, in the obstacle's frame.
typedef struct pair {
	tac_sco *sco;
	int32_t object, moving, fixed;
	tac_dpose start, later;     // of the tool
	tac_dvec3 start_corners[3]; // of the tool's triangle at the start of the motion
	tac_dvec3 later_corners[3]; // and at the later pose
	tac_dvec3 fixed_corners[3]; // of the obstacle's triangle
} pair;

static void load(const tac_mesh *mesh, int32_t triangle, tac_dpose T, tac_dvec3 out[3])
{
	for (int k = 0; k < 3; k++)
		out[k] = tac_dpose_apply_point(T, tac_mesh_corner(mesh, triangle, k));
}

// Whether p projects onto the triangle t with the normal n, or close beside it.
static bool projects_onto(tac_dvec3 p, const tac_dvec3 t[3], tac_dvec3 n)
{
	for (int k = 0; k < 3; k++) {
		tac_dvec3 edge = tac_dvec3_sub(t[(k + 1) % 3], t[k]);
		if (tac_dvec3_dot(n, tac_dvec3_cross(edge, tac_dvec3_sub(p, t[k]))) <
		    -SCO_INJECT_FACE_SLACK_M * tac_dvec3_length(edge))
			return false;
	}
	return true;
}

static tac_dvec3 unit_normal(const tac_dvec3 t[3])
{
	return tac_dvec3_triangle_normal(t[0], t[1], t[2]);
}

// False if the contact is listed or injected already, or does not fit.
static bool add_contact(const pair *p, tac_contact_point c)
{
	tac_sco *sco = p->sco;
	for (int32_t i = 0; i < sco->injected_count; i++) {
		if (sco->injected[i].object == p->object &&
		    tac_sco_same_features(&sco->injected[i].contact, &c))
			return false;
	}
	const tac_contacts *list = sco->obstacles[p->object].contacts;
	for (int32_t i = 0; i < list->count; i++) {
		if (tac_sco_same_features(&list->list[i], &c))
			return false;
	}
	if (sco->injected_count >= SCO_MAX_INJECTED)
		return false;
	c.moving_triangle = p->moving;
	c.fixed_triangle = p->fixed;
	c.moving_surface = tac_body_mesh(sco->def.tool)->triangle_surface[p->moving];
	c.fixed_surface = tac_body_mesh(sco->obstacles[p->object].body)->triangle_surface[p->fixed];
	sco->injected[sco->injected_count++] = (tac_sco_injected){c, p->object, false};
	return true;
}

// Whether a vertex that moves from x0 to x1 over the face t ends below half the hold gap. *out_height is its
// height at the start. *n is flipped to the vertex's side if the body is not solid.
static bool violates(const pair *p, tac_dvec3 x0, tac_dvec3 x1, const tac_dvec3 t[3], bool solid,
		     tac_dvec3 *n, double *out_height)
{
	double floor = SCO_FLOOR_GAPS * p->sco->def.hold_gap_m;
	double h0 = tac_dvec3_dot(*n, tac_dvec3_sub(x0, t[0]));
	if (h0 < 0 && !solid) {
		*n = tac_dvec3_neg(*n);
		h0 = -h0;
	}
	double h1 = tac_dvec3_dot(*n, tac_dvec3_sub(x1, t[0]));
	if (!(h0 > 0) || h1 >= floor || h1 >= h0)
		return false;
	double at = fmin(1, (h0 - fmin(h0, floor)) / (h0 - h1));
	tac_dvec3 up = unit_normal(t);
	*out_height = h0;
	return projects_onto(tac_dvec3_add_scaled(x0, at, tac_dvec3_sub(x1, x0)), t, up) ||
	       projects_onto(x1, t, up);
}

static bool inject_vertices(const pair *p)
{
	bool added = false;
	const tac_mesh *moving = tac_body_mesh(p->sco->def.tool);
	const tac_body *object = p->sco->obstacles[p->object].body;
	for (int k = 0; k < 3; k++) {
		tac_contact_point c = {.kind = TAC_CONTACT_VERTEX_FACE};
		c.normal = unit_normal(p->fixed_corners);
		if (violates(p, p->start_corners[k], p->later_corners[k], p->fixed_corners,
			     tac_body_is_solid(object), &c.normal, &c.gap)) {
			c.moving_feature = moving->triangles[p->moving].vertex[k];
			c.fixed_feature = p->fixed;
			c.point = p->start_corners[k];
			added |= add_contact(p, c);
		}
		// The obstacle's vertex against the tool's face, in the frame of the tool at the start.
		tac_dvec3 local = tac_dquat_rotate(tac_dquat_conjugate(p->later.rotation),
						   tac_dvec3_sub(p->fixed_corners[k], p->later.position));
		tac_dvec3 later = tac_dpose_apply_point(p->start, local), up = unit_normal(p->start_corners);
		if (violates(p, p->fixed_corners[k], later, p->start_corners,
			     tac_body_is_solid(p->sco->def.tool), &up, &c.gap)) {
			c.kind = TAC_CONTACT_FACE_VERTEX;
			c.moving_feature = p->moving;
			c.fixed_feature = tac_body_mesh(object)->triangles[p->fixed].vertex[k];
			c.normal = tac_dvec3_neg(up);
			c.point = tac_dvec3_add_scaled(p->fixed_corners[k], -c.gap, up);
			added |= add_contact(p, c);
		}
	}
	return added;
}

static bool beyond_edge(double fraction)
{
	return fraction < -SCO_INJECT_EDGE_SLACK || fraction > 1 + SCO_INJECT_EDGE_SLACK;
}

// Edge k of the tool's triangle against edge j of the obstacle's.
static bool inject_edges(const pair *p, int k, int j)
{
	const tac_body *tool = p->sco->def.tool, *object = p->sco->obstacles[p->object].body;
	int32_t moving = tac_body_mesh(tool)->triangle_edges[p->moving].vertex[k];
	int32_t fixed = tac_body_mesh(object)->triangle_edges[p->fixed].vertex[j];
	if (tac_body_edge_kind(tool, moving) == TAC_BODY_EDGE_FLAT ||
	    tac_body_edge_kind(object, fixed) == TAC_BODY_EDGE_FLAT)
		return false;
	tac_dvec3 a = p->start_corners[k], c = p->fixed_corners[j], z = p->later_corners[k];
	tac_dvec3 u0 = tac_dvec3_sub(p->start_corners[(k + 1) % 3], a),
		  u1 = tac_dvec3_sub(p->later_corners[(k + 1) % 3], z),
		  w = tac_dvec3_sub(p->fixed_corners[(j + 1) % 3], c);
	tac_dvec3 n0 = tac_dvec3_cross(u0, w), n1 = tac_dvec3_cross(u1, w);
	double l0 = tac_dvec3_length(n0), l1 = tac_dvec3_length(n1);
	if (fmin(l0, l1) < SCO_INJECT_PARALLEL_SINE * tac_dvec3_length(u0) * tac_dvec3_length(w))
		return false;
	n0 = tac_dvec3_scale(n0, 1 / l0);
	n1 = tac_dvec3_scale(n1, 1 / l1);
	double g0 = tac_dvec3_dot(n0, tac_dvec3_sub(a, c)), g1 = tac_dvec3_dot(n1, tac_dvec3_sub(z, c));
	if (g0 < 0) {
		n0 = tac_dvec3_neg(n0);
		g0 = -g0;
		g1 = -g1;
	}
	if (g1 >= SCO_FLOOR_GAPS * p->sco->def.hold_gap_m || g1 >= g0)
		return false;
	tac_dvec3 between = tac_dvec3_sub(c, z);
	double on_moving = tac_dvec3_dot(tac_dvec3_cross(between, w), n1) / l1,
	       on_fixed = tac_dvec3_dot(tac_dvec3_cross(between, u1), n1) / l1;
	if (beyond_edge(on_moving) || beyond_edge(on_fixed))
		return false;
	tac_contact_point contact = {.kind = TAC_CONTACT_EDGE_EDGE,
				     .moving_feature = moving,
				     .fixed_feature = fixed,
				     .normal = n0,
				     .point = tac_dvec3_add_scaled(a, fmin(1, fmax(0, on_moving)), u0),
				     .gap = g0};
	return add_contact(p, contact);
}

static pair pair_of(tac_sco *sco, const tac_sco_proof *proof, tac_dpose start)
{
	pair p = {.sco = sco,
		  .object = proof->object,
		  .moving = proof->moving_triangle,
		  .fixed = proof->fixed_triangle,
		  .start = start};
	load(tac_body_mesh(sco->def.tool), p.moving, start, p.start_corners);
	load(tac_body_mesh(sco->obstacles[p.object].body), p.fixed, tac_dpose_identity(), p.fixed_corners);
	return p;
}

bool tac_sco_inject(tac_sco *sco, const tac_sco_proof *proof, tac_sco_twist t)
{
	static const double samples[] = {0.03125, 0.125, 0.5, 1}; // fractions of the motion
	if (proof->object < 0 || proof->moving_triangle < 0 || proof->fixed_triangle < 0)
		return false;
	tac_sco_relative r = tac_sco_relative_motion(sco, &sco->obstacles[proof->object], t);
	pair p = pair_of(sco, proof, r.start);
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		if (samples[i] <= proof->fraction)
			continue;
		p.later = tac_sco_pose_after(r.start, r.twist, samples[i]);
		load(tac_body_mesh(sco->def.tool), p.moving, p.later, p.later_corners);
		bool added = inject_vertices(&p);
		for (int k = 0; k < 9; k++)
			added |= inject_edges(&p, k / 3, k % 3);
		if (added)
			return true;
	}
	return false;
}

void tac_sco_inject_blocker(tac_sco *sco, const tac_sco_proof *proof)
{
	if (proof->object < 0 || proof->moving_triangle < 0 || proof->fixed_triangle < 0 ||
	    sco->injected_count >= SCO_MAX_INJECTED)
		return;
	pair p = pair_of(sco, proof, tac_dpose_relative(sco->obstacles[proof->object].pose, sco->pose));
	tac_closest closest = tac_closest_of_triangles(p.start_corners, p.fixed_corners);
	if (!(closest.distance > 0))
		return;
	tac_contact_point c = {.kind = TAC_CONTACT_VERTEX_VERTEX,
			       .moving_feature = -1,
			       .fixed_feature = -1,
			       .moving_triangle = p.moving,
			       .fixed_triangle = p.fixed,
			       .normal = tac_dvec3_normalize(tac_dvec3_sub(closest.point, closest.on_fixed)),
			       .point = closest.point,
			       .gap = closest.distance};
	sco->injected[sco->injected_count++] = (tac_sco_injected){c, p.object, true};
}
