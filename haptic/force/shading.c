#include "haptic/force/shading.h"

#include "collision/mesh_smooth.h"

#include <math.h>

// Cosines of the angle from the contact's normal to the smooth one, between which shading fades out: a
// direction that is so far off is not the same surface's.
#define SHADED   0.866 // 30 degrees
#define UNSHADED 0.5   // 60 degrees

// Steps of the projection onto the smooth surface, and the bounds of the depth ratio: a contact that has just
// begun is not yet as deep as the facet is hollow.
#define PROJECTIONS     6
#define DEPTH_RATIO_MIN 0.5
#define DEPTH_RATIO_MAX 2

// A contact's normal that is closer to a facet's than this (1 - cosine) belongs to the facet's inside: 0.1
// mrad.
#define ON_FACE 5e-9

// Heights of a round tool's core above a sharp edge, in its radii, between which the direction from the edge
// to the core begins to count.
#define CORE_LOW  0.1
#define CORE_HIGH 0.3

// The curvature of a sharp feature, 1/m: far above that of any smooth one.
#define SHARP_PER_M 1e9

// One side of a contact.
typedef struct side {
	tac_dvec3 normal; // outward, of the smooth surface, world frame
	double extra_m;   // by how much the depth below the smooth surface is larger than below the facet
	double curvature; // 1/m
	double bulge_m;   // from the facet to the smooth surface where they touch
} side;

// The contact as one of its bodies has it, in that body's frame.
typedef struct view {
	const tac_mesh *mesh;
	const tac_mesh_smooth *smooth;
	int32_t triangle;
	tac_dvec3 normal; // outward
	tac_dvec3 point;  // where it touches
	tac_dvec3 probe;  // where the device has the other body's point or core
	double probe_m;   // radius about the probe
} view;

// The direction from a sharp edge or vertex to the core of a round tool where the device has it. The SCO
// stops a few µm before its optimum, which is a tenth of a degree on a small tip; the device does not. A core
// that is nearly as deep as the edge has no direction.
static tac_dvec3 from_feature(const view *v, const tac_mesh_feature *at)
{
	const tac_dvec3 off = tac_dvec3_sub(v->probe, v->point);
	const tac_dvec3 away = tac_dvec3_add_scaled(off, -tac_dvec3_dot(off, at->along), at->along);
	const double height = tac_dvec3_dot(away, v->normal) / (v->probe_m > 0 ? v->probe_m : HUGE_VAL);
	const double share = fmin(fmax((height - CORE_LOW) / (CORE_HIGH - CORE_LOW), 0), 1);
	return tac_dvec3_normalize(tac_dvec3_lerp(v->normal, tac_dvec3_normalize(away), share));
}

// At a sharp edge: the contact's own direction, between the normals of the two facets, and shifted as the
// smooth normals of its two sides are.
static side at_sharp_edge(const view *v, const tac_mesh_feature *at)
{
	side s = {from_feature(v, at), 0, SHARP_PER_M, 0};
	if (at->other < 0)
		return s;
	const tac_mesh_location a = tac_mesh_locate(v->mesh, v->smooth, v->triangle, v->point);
	const tac_mesh_location b = tac_mesh_locate(v->mesh, v->smooth, at->other, v->point);
	const double between = tac_dvec3_length(tac_dvec3_sub(a.facet_normal, b.facet_normal));
	double turned = tac_dvec3_length(tac_dvec3_sub(s.normal, a.facet_normal));
	double left = tac_dvec3_length(tac_dvec3_sub(s.normal, b.facet_normal));
	if (!(turned + left > 0))
		return s;
	if (fmax(turned, left) > between) {
		s.normal = turned < left ? a.facet_normal : b.facet_normal;
		turned = turned < left ? 0 : between;
		left = between - turned;
	}
	const double share = turned / (turned + left);
	s.normal = tac_dvec3_add_scaled(s.normal, 1 - share, tac_dvec3_sub(a.smooth_normal, a.facet_normal));
	s.normal = tac_dvec3_normalize(
		tac_dvec3_add_scaled(s.normal, share, tac_dvec3_sub(b.smooth_normal, b.facet_normal)));
	const tac_dvec3 bulge = tac_dvec3_lerp(a.bulge_m, b.bulge_m, share);
	s.extra_m = tac_dvec3_dot(bulge, s.normal);
	s.bulge_m = tac_dvec3_length(bulge);
	return s;
}

static double longest_edge(const view *v)
{
	double most = 0;
	for (int k = 0; k < 3; k++)
		most = fmax(most,
			    tac_dvec3_length(tac_dvec3_sub(tac_mesh_corner(v->mesh, v->triangle, (k + 1) % 3),
							   tac_mesh_corner(v->mesh, v->triangle, k))));
	return most;
}

// `to`, or as far towards it from `from` as `most` allows.
static tac_dvec3 towards(tac_dvec3 from, tac_dvec3 to, double most)
{
	const tac_dvec3 off = tac_dvec3_sub(to, from);
	const double length = tac_dvec3_length(off);
	return length > most ? tac_dvec3_normalize(tac_dvec3_add_scaled(from, most / length, off)) : to;
}

// A facet of length L whose normals turn by a differs from the smooth surface by at most a in direction, and
// by L a / 8 in height, four times that where the touching point is beside it. Projections of a device that
// is deeper than the surface is curved are cut to that. The contact's own direction may be that of the other
// body's facet, which is no bound here: it counts as far as it could be this surface's.
static side bounded(const view *v, side s)
{
	const double length = longest_edge(v),
		     turn = length * tac_mesh_curvature(v->mesh, v->smooth, v->triangle);
	const double most = 0.5 * length * turn;
	s.extra_m = fmin(fmax(s.extra_m, -most), most);
	s.bulge_m = length * turn / 6;
	const tac_dvec3 facet = tac_mesh_triangle_normal(v->mesh, v->triangle);
	s.normal = towards(towards(facet, v->normal, turn), s.normal, turn);
	return s;
}

// On a smooth part of the surface: the probe's projection onto it.
static side on_smooth(const view *v)
{
	const double depth = tac_dvec3_dot(tac_dvec3_sub(v->point, v->probe), v->normal) + v->probe_m;
	tac_mesh_location at = tac_mesh_locate(v->mesh, v->smooth, v->triangle, v->point);
	side s = {at.smooth_normal, tac_dvec3_dot(at.bulge_m, v->normal),
		  tac_mesh_curvature(v->mesh, v->smooth, at.triangle), 0};
	tac_dvec3 point = v->point;
	for (int i = 0; i < PROJECTIONS && depth > 0; i++) {
		const double along = tac_dvec3_dot(at.smooth_normal, at.facet_normal);
		if (along < UNSHADED || tac_dvec3_dot(at.smooth_normal, v->normal) < UNSHADED)
			break;
		// From the smooth surface's point above or below the foot, along the smooth normal.
		const tac_dvec3 foot = tac_dvec3_add_scaled(point, -at.height_m, at.facet_normal);
		const tac_dvec3 surface = tac_dvec3_add(foot, at.bulge_m);
		const double height =
			tac_dvec3_dot(tac_dvec3_sub(v->probe, surface), at.facet_normal) / along;
		s.normal = at.smooth_normal;
		s.extra_m = v->probe_m - height - depth;
		point = tac_dvec3_sub(tac_dvec3_add_scaled(v->probe, -height, at.smooth_normal), at.bulge_m);
		at = tac_mesh_locate(v->mesh, v->smooth, at.triangle, point);
	}
	return s;
}

static side see(const view *v)
{
	const tac_dvec3 facet = tac_mesh_triangle_normal(v->mesh, v->triangle);
	if (tac_dvec3_dot(facet, v->normal) < 1 - ON_FACE) {
		const tac_mesh_feature at =
			tac_mesh_nearest_feature(v->mesh, v->smooth, v->triangle, v->point);
		if (at.sharp)
			return at_sharp_edge(v, &at);
	}
	return bounded(v, on_smooth(v));
}

static side object_side(const tac_shading_place *p, const tac_sco_contact *c)
{
	const tac_dpose T_object_world = tac_dpose_inverse(p->T_world_object);
	const tac_dvec3 probe = tac_dpose_apply_point(
		p->sco_to_device, tac_dvec3_add_scaled(c->point_m, p->round_m, c->normal));
	const view v = {.mesh = p->object->mesh,
			.smooth = p->object->smooth,
			.triangle = c->object_triangle,
			.normal = tac_dpose_apply_vector(T_object_world, c->normal),
			.point = tac_dpose_apply_point(
				T_object_world, tac_dvec3_add_scaled(c->point_m, -c->gap_m, c->normal)),
			.probe = tac_dpose_apply_point(T_object_world, probe),
			.probe_m = p->round_m};
	side s = see(&v);
	s.normal = tac_dpose_apply_vector(p->T_world_object, s.normal);
	return s;
}

// The tool's side, in its own frame, where it touches: the device may be deeper than the tool is large, so
// the object's point has no projection onto it.
static side tool_side(const tac_shading_place *p, const tac_sco_contact *c)
{
	const tac_dpose T_sco_world = tac_dpose_inverse(p->T_world_sco);
	const tac_dvec3 point = tac_dpose_apply_point(T_sco_world, c->point_m);
	const view v = {.mesh = p->tool->mesh,
			.smooth = p->tool->smooth,
			.triangle = c->tool_triangle,
			.normal = tac_dpose_apply_vector(T_sco_world, tac_dvec3_neg(c->normal)),
			.point = point,
			.probe = point};
	side s = see(&v);
	s.normal = tac_dpose_apply_vector(p->T_world_sco, s.normal);
	return s;
}

tac_shading tac_shading_compute(const tac_shading_place *place, const tac_sco_contact *contact)
{
	const tac_sco_contact *c = contact;
	const side object = object_side(place, c);
	tac_dvec3 normal = object.normal;
	double extra_m = object.extra_m, bulge_m = object.bulge_m;
	if (place->tool && place->tool->smooth && c->tool_triangle >= 0) {
		const side tool = tool_side(place, c);
		const double sum = object.curvature + tool.curvature;
		// Two flat faces, or two sharp edges: the contact's own direction.
		normal = c->normal;
		if (sum > 0 && fmin(object.curvature, tool.curvature) < SHARP_PER_M)
			normal = tac_dvec3_normalize(tac_dvec3_lerp(tac_dvec3_neg(tool.normal), object.normal,
								    tool.curvature / sum));
		extra_m += tool.extra_m;
		bulge_m += tool.bulge_m;
	}
	const double share =
		fmin(fmax((tac_dvec3_dot(normal, c->normal) - UNSHADED) / (SHADED - UNSHADED), 0), 1);
	// The device's depth below the facet.
	const tac_dvec3 on_object = tac_dvec3_add_scaled(c->point_m, -c->gap_m, c->normal);
	const double depth = tac_dvec3_dot(
		tac_dvec3_sub(on_object, tac_dpose_apply_point(place->sco_to_device, c->point_m)), c->normal);
	const double ratio = depth > 0 ? (depth + extra_m) / depth : 1;
	return (tac_shading){tac_dvec3_normalize(tac_dvec3_lerp(c->normal, normal, share)),
			     1 + share * (fmin(fmax(ratio, DEPTH_RATIO_MIN), DEPTH_RATIO_MAX) - 1), bulge_m};
}
