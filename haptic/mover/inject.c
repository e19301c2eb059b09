#include "haptic/sco_private.h"

#include <math.h>

#define sub   tac_dvec3_sub
#define dot   tac_dvec3_dot
#define cross tac_dvec3_cross
#define mad   tac_dvec3_add_scaled

// How far beside a face a contact may lie and still count, m.
#define BESIDE 1e-5
// The same for edges, as a part of their length.
#define BEYOND 0.02
// sin of the angle below which two edges have no common normal to rely on.
#define EDGES_MIN 1e-3

// The pair that could not be proved, in the object's frame: the tool's triangle at the start, and further on.
typedef struct pair {
	tac_sco *sco;
	int32_t object, moving, fixed;
	tac_dpose start, later;
	tac_dvec3 a[3], z[3], b[3];
} pair;

static void load(const tac_mesh *mesh, int32_t triangle, tac_dpose T, tac_dvec3 out[3])
{
	for (int k = 0; k < 3; k++) {
		tac_vec3 v = mesh->vertices[mesh->triangles[triangle].vertex[k]];
		out[k] = tac_dpose_apply_point(T, tac_dvec3_from_vec3(v));
	}
}

static bool over(tac_dvec3 p, const tac_dvec3 t[3], tac_dvec3 n)
{
	for (int k = 0; k < 3; k++) {
		tac_dvec3 edge = sub(t[(k + 1) % 3], t[k]);
		if (dot(n, cross(edge, sub(p, t[k]))) < -BESIDE * tac_dvec3_length(edge))
			return false;
	}
	return true;
}

static tac_dvec3 unit_normal(const tac_dvec3 t[3])
{
	return tac_dvec3_normalize(cross(sub(t[1], t[0]), sub(t[2], t[0])));
}

static bool put(const pair *p, tac_contact_point c)
{
	tac_sco *sco = p->sco;
	for (int32_t i = 0; i < sco->injected_count; i++) {
		if (sco->injected[i].object == p->object &&
		    tac_sco_same_features(&sco->injected[i].contact, &c))
			return false;
	}
	const tac_contacts *list = sco->things[p->object].contacts;
	for (int32_t i = 0; i < list->count; i++) {
		if (tac_sco_same_features(&list->list[i], &c))
			return false;
	}
	if (sco->injected_count >= TAC_SCO_INJECTED)
		return false;
	c.moving_triangle = p->moving;
	c.fixed_triangle = p->fixed;
	c.moving_surface = sco->def.tool->mesh->triangle_surface[p->moving];
	c.fixed_surface = sco->things[p->object].body->mesh->triangle_surface[p->fixed];
	sco->injected[sco->injected_count++] = (tac_sco_injected){c, p->object, false};
	return true;
}

// Whether a vertex that goes from x0 to x1 over the face t comes closer than it may; *out_height is where it
// starts, and n turns to its side when faces have two.
static bool violates(const pair *p, tac_dvec3 x0, tac_dvec3 x1, const tac_dvec3 t[3], bool solid,
		     tac_dvec3 *n, double *out_height)
{
	double half = 0.5 * p->sco->def.hold_gap_m;
	double h0 = dot(*n, sub(x0, t[0]));
	if (h0 < 0 && !solid) {
		*n = tac_dvec3_neg(*n);
		h0 = -h0;
	}
	double h1 = dot(*n, sub(x1, t[0]));
	if (!(h0 > 0) || h1 >= half || h1 >= h0)
		return false;
	double at = fmin(1, (h0 - fmin(h0, half)) / (h0 - h1));
	tac_dvec3 up = unit_normal(t);
	*out_height = h0;
	return over(mad(x0, at, sub(x1, x0)), t, up) || over(x1, t, up);
}

static bool inject_vertices(const pair *p)
{
	bool added = false;
	const tac_mesh *moving = p->sco->def.tool->mesh;
	const tac_ccd_body *object = p->sco->things[p->object].body;
	for (int k = 0; k < 3; k++) {
		tac_contact_point c = {.kind = TAC_CONTACT_VERTEX_FACE};
		c.normal = unit_normal(p->b);
		if (violates(p, p->a[k], p->z[k], p->b, object->solid, &c.normal, &c.gap)) {
			c.moving_feature = moving->triangles[p->moving].vertex[k];
			c.fixed_feature = p->fixed;
			c.point = p->a[k];
			added |= put(p, c);
		}
		// The object's vertex against the tool's face, as seen from the tool at the start.
		tac_dvec3 local = tac_dquat_rotate(tac_dquat_conjugate(p->later.rotation),
						   sub(p->b[k], p->later.position));
		tac_dvec3 later = tac_dpose_apply_point(p->start, local), up = unit_normal(p->a);
		if (violates(p, p->b[k], later, p->a, p->sco->def.tool->solid, &up, &c.gap)) {
			c.kind = TAC_CONTACT_FACE_VERTEX;
			c.moving_feature = p->moving;
			c.fixed_feature = object->mesh->triangles[p->fixed].vertex[k];
			c.normal = tac_dvec3_neg(up);
			c.point = mad(p->b[k], -c.gap, up);
			added |= put(p, c);
		}
	}
	return added;
}

static bool inject_edges(const pair *p, int k, int j)
{
	const tac_ccd_body *tool = p->sco->def.tool, *object = p->sco->things[p->object].body;
	int32_t moving = tool->mesh->triangle_edges[p->moving].vertex[k];
	int32_t fixed = object->mesh->triangle_edges[p->fixed].vertex[j];
	if (tool->edge_kinds[moving] == TAC_CCD_EDGE_FLAT || object->edge_kinds[fixed] == TAC_CCD_EDGE_FLAT)
		return false;
	tac_dvec3 a = p->a[k], c = p->b[j], z = p->z[k];
	tac_dvec3 u0 = sub(p->a[(k + 1) % 3], a), u1 = sub(p->z[(k + 1) % 3], z),
		  w = sub(p->b[(j + 1) % 3], c);
	tac_dvec3 n0 = cross(u0, w), n1 = cross(u1, w);
	double l0 = tac_dvec3_length(n0), l1 = tac_dvec3_length(n1);
	if (fmin(l0, l1) < EDGES_MIN * tac_dvec3_length(u0) * tac_dvec3_length(w))
		return false;
	n0 = tac_dvec3_scale(n0, 1 / l0);
	n1 = tac_dvec3_scale(n1, 1 / l1);
	double g0 = dot(n0, sub(a, c)), g1 = dot(n1, sub(z, c));
	if (g0 < 0) {
		n0 = tac_dvec3_neg(n0);
		g0 = -g0;
		g1 = -g1;
	}
	if (g1 >= 0.5 * p->sco->def.hold_gap_m || g1 >= g0)
		return false;
	tac_dvec3 between = sub(c, z);
	double on_moving = dot(cross(between, w), n1) / l1, on_fixed = dot(cross(between, u1), n1) / l1;
	if (on_moving < -BEYOND || on_moving > 1 + BEYOND || on_fixed < -BEYOND || on_fixed > 1 + BEYOND)
		return false;
	tac_contact_point contact = {.kind = TAC_CONTACT_EDGE_EDGE,
				     .moving_feature = moving,
				     .fixed_feature = fixed,
				     .normal = n0,
				     .point = mad(a, fmin(1, fmax(0, on_moving)), u0),
				     .gap = g0};
	return put(p, contact);
}

static pair pair_of(tac_sco *sco, const tac_sco_proof *proof, tac_dpose start)
{
	pair p = {.sco = sco,
		  .object = proof->object,
		  .moving = proof->moving_triangle,
		  .fixed = proof->fixed_triangle,
		  .start = start};
	load(sco->def.tool->mesh, p.moving, start, p.a);
	load(sco->things[p.object].body->mesh, p.fixed, tac_dpose_identity(), p.b);
	return p;
}

bool tac_sco_inject(tac_sco *sco, const tac_sco_proof *proof, tac_sco_twist t)
{
	static const double look[] = {0.03125, 0.125, 0.5, 1};
	if (proof->object < 0 || proof->moving_triangle < 0 || proof->fixed_triangle < 0)
		return false;
	tac_sco_relative r = tac_sco_relative_motion(sco, &sco->things[proof->object], t);
	pair p = pair_of(sco, proof, r.start);
	for (size_t i = 0; i < sizeof look / sizeof *look; i++) {
		if (look[i] <= proof->fraction)
			continue;
		p.later = tac_sco_pose_after(r.start, r.twist, look[i]);
		load(sco->def.tool->mesh, p.moving, p.later, p.z);
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
	    sco->injected_count >= TAC_SCO_INJECTED)
		return;
	pair p = pair_of(sco, proof, tac_dpose_relative(sco->things[proof->object].pose, sco->pose));
	tac_ccd_closest closest = tac_ccd_closest_of_triangles(p.a, p.b);
	if (!(closest.distance > 0))
		return;
	tac_contact_point c = {.kind = TAC_CONTACT_VERTEX_VERTEX,
			       .moving_feature = -1,
			       .fixed_feature = -1,
			       .moving_triangle = p.moving,
			       .fixed_triangle = p.fixed,
			       .normal = tac_dvec3_normalize(sub(closest.point, closest.on_fixed)),
			       .point = closest.point,
			       .gap = closest.distance};
	sco->injected[sco->injected_count++] = (tac_sco_injected){c, p.object, true};
}
