// An obstacle that is drilled: points of its surface (tissue/field.h) against the exact burr. The burr is
// convex, so along a chord the distance of a point is a convex function, and its tangents at both ends bound
// it from below; where the burr turns, the path leaves the chord by no more than its curvature allows.
//
// The gap of a point is its distance plus the hold gap, plus what the drill may advance there: the mover
// keeps the hold gap, so a burr that turns rests on the surface itself, or where the wall recedes this far
// into it.
//
// A ball that does not cut and touches close to a point meets a disc there, in the plane of the surface. The
// rows of the QP are then those of a smooth surface: a ball slides along the wall of its own hole, and it
// does not feel the points. Points of edges have no disc.
#include "haptic/mover/constants.h"
#include "haptic/mover/geometry.h"

#include <math.h>

// Bins of places about the burr, of which each gives the contact with the smallest gap: a grid on each side
// of a box.
#define GRID 6
#define BINS (6 * GRID * GRID)
_Static_assert(BINS <= TAC_CONTACTS_MAX, "bins fit the list");

// Points are gathered this much further than a query needs, m, for the next ones.
#define GATHER_MORE_M 3e-5
// In a work unit: bricks and candidates that a gathering examines, points that a query scans in single
// precision, and points that it examines in double.
#define GATHERED_PER_UNIT 6
#define POINTS_PER_UNIT   64
#define DOUBTS_PER_UNIT   4
// A sweep far from the field advances by its clearance, near it by pieces of this many voxels.
#define SWEEP_STEPS  48
#define PIECE_VOXELS 4
// How far a tool that does not cut may enter the discs, voxels: their directions are rounded, and a ball in
// a hole that fits it must not be wedged by that.
#define SLACK_VOXELS 0.004
// The same at points of edges: both directions are rounded, and the node is further away.
#define EDGE_SLACK_VOXELS 0.015
// How far a proof lets a tool dip below the points, voxels: in a hole that fits it, with walls that are not
// quite straight, it could not move otherwise.
#define DIP_VOXELS 0.02
// The radius of the discs, voxels: they cover the surface between the points.
#define DISC_VOXELS 0.75
// How much of a gap that is too small already one motion may take, m: rounding. For a tool that does not cut
// it is less, or over the many motions of a tick it would creep into edges by micrometres in a second.
#define ROUNDING_M 2e-9
#define CREEP_M    1e-12

// A point of the surface.
typedef struct point {
	tac_dvec3 at, up; // up: outwards, a unit vector; zero at an edge
	int32_t node;
	uint8_t label;
} point;

typedef struct tac_sco_memory {
	const tac_field *field;
	const tac_drill_allowance *allowance;
	tac_burr burr; // in the tool's frame
	bool ball;
	double reach_m, hold_m, voxel_m;
	// The points around the burr at a place, up to `covered_m` from it.
	bool gathered, inside_only;
	uint64_t version;
	tac_burr around;
	double covered_m;
	// Of the last list.
	uint64_t listed_version;
	tac_drill_allowance listed;
	tac_field_points points;
	tac_field_cache *cache;
	// Scratch memory of one query: a bin or an index, and a distance, of each point.
	int32_t index[TAC_FIELD_POINTS];
	float length_m[TAC_FIELD_POINTS];
} memory;

static void destroy(memory *m)
{
	tac_field_cache_destroy(&m->cache);
}

static tac_result create(memory *m, const tac_sco_def *def, const tac_sco_object *object)
{
	m->field = object->field;
	m->allowance = object->allowance;
	m->burr = def->burr ? *def->burr
			    : (tac_burr){TAC_BURR_ROUND, def->round.a, def->round.b, def->round.radius};
	m->ball = m->burr.kind == TAC_BURR_ROUND &&
		  tac_dvec3_length_squared(tac_dvec3_sub(m->burr.a, m->burr.b)) == 0;
	m->reach_m = tac_burr_reach(&m->burr);
	m->hold_m = def->hold_gap_m;
	m->voxel_m = tac_field_size_of(m->field).voxel_m;
	return tac_field_cache_create(m->field, &m->cache);
}

static void reset(memory *m)
{
	m->gathered = false;
}

// Whether the tool is a burr that turns, and cuts.
static bool burr_turns(const memory *m)
{
	return m->allowance && m->allowance->slack_m > 0;
}

// A lower bound of the burr's distance from the surface, from a map of distances, m.
static double room_about(const memory *m, const tac_burr *burr)
{
	const double span = 0.5 * tac_dvec3_length(tac_dvec3_sub(burr->b, burr->a)) + burr->radius;
	return tac_field_clearance(m->field, tac_dvec3_lerp(burr->a, burr->b, 0.5)) - span;
}

// ---- points ----

static point point_of(const memory *m, int32_t i)
{
	const tac_field_points *p = &m->points;
	const tac_vec3 from_centre = {p->x[i], p->y[i], p->z[i]}, up = {p->up_x[i], p->up_y[i], p->up_z[i]};
	return (point){tac_dvec3_add(p->centre, tac_dvec3_from_vec3(from_centre)), tac_dvec3_from_vec3(up),
		       p->node[i], p->label[i]};
}

// Drops the points inside the burr that has removed what is there.
static void drop_removed(memory *m)
{
	const tac_burr *removed = &m->allowance->removed;
	tac_field_points *p = &m->points;
	const double error = m->ball ? 0 : tac_field_points_error(removed, 0);
	const float least = (float)-(ROUNDING_M + error);
	tac_field_points_distances(m->field, p, removed, m->length_m);
	int32_t kept = 0;
	while (kept < p->count && m->length_m[kept] >= least)
		kept++;
	for (int32_t i = kept + 1; i < p->count; i++) {
		if (m->length_m[i] >= least)
			tac_field_point_move(p, i, kept++);
	}
	p->count = kept;
}

// Gathers the points within `need_m` of the burr, unless they are there. False if they do not fit, or if the
// work ended before.
static bool gather(memory *m, const tac_burr *burr, double need_m, tac_sco_work *work)
{
	const bool inside_only = burr_turns(m);
	if (m->gathered && m->version == tac_field_version(m->field) && m->inside_only == inside_only) {
		const double moved = fmax(tac_dvec3_length(tac_dvec3_sub(burr->a, m->around.a)),
					  tac_dvec3_length(tac_dvec3_sub(burr->b, m->around.b)));
		if (need_m + moved <= m->covered_m)
			return true;
	}
	m->around = *burr;
	m->covered_m = need_m + GATHER_MORE_M;
	m->version = tac_field_version(m->field);
	// A burr that turns removes what it sweeps, so it needs fewer points.
	m->inside_only = inside_only;
	const int64_t limit = tac_sco_work_left(work) * GATHERED_PER_UNIT;
	if (inside_only)
		tac_field_gather_inside(m->field, burr, m->covered_m, &m->points);
	else
		tac_field_gather(m->field, m->cache, burr, m->covered_m, limit, &m->points);
	work->units += m->points.examined / GATHERED_PER_UNIT + 1;
	// The cache has what was found so far: with the next work it goes on.
	work->spent |= !m->points.complete && m->points.examined > limit;
	m->gathered = m->points.complete;
	if (m->allowance && m->allowance->has_removed)
		drop_removed(m);
	return m->points.complete;
}

// What is added to the distance of a point to make its gap. `normal` leads from the burr to the point.
static double allowed_m(const memory *m, tac_dvec3 normal)
{
	return m->hold_m + (m->allowance ? tac_drill_allowed_m(m->allowance, normal) : 0);
}

// The gap of a point for the burr in its frame. *out_normal leads from the burr to the point.
static double gap_of(const memory *m, const tac_burr *burr, const point *p, tac_dvec3 *out_normal)
{
	const double distance = tac_burr_distance(burr, p->at, out_normal);
	return distance + allowed_m(m, *out_normal);
}

static bool has_discs(const memory *m)
{
	return m->ball && !burr_turns(m);
}

// Whether a ball that does not cut meets a disc at the point, not the point itself.
static bool meets_disc(const memory *m, const point *p, tac_dvec3 middle)
{
	const tac_dvec3 from = tac_dvec3_sub(middle, p->at);
	const double height = tac_dvec3_dot(from, p->up), wide = DISC_VOXELS * m->voxel_m;
	return height > 0 && tac_dvec3_length_squared(from) - height * height <= wide * wide;
}

// The height of a ball above the disc of a point.
static double disc_distance(const tac_burr *ball, const point *p)
{
	return tac_dvec3_dot(tac_dvec3_sub(ball->a, p->at), p->up) - ball->radius;
}

// How much nearer than its gap a point may come in the QP.
static double slack_of(const memory *m, const point *p)
{
	const bool is_edge = tac_dvec3_length_squared(p->up) == 0;
	return burr_turns(m) ? 0 : (is_edge ? EDGE_SLACK_VOXELS : SLACK_VOXELS) * m->voxel_m;
}

// The gap of a point's disc for the QP, as a contact.
static double disc_gap(const memory *m, const tac_burr *burr, const point *p, tac_dvec3 *out_normal)
{
	*out_normal = tac_dvec3_neg(p->up);
	return disc_distance(burr, p) + allowed_m(m, *out_normal) + slack_of(m, p);
}

static tac_contact_point contact_of(const point *p, double gap, tac_dvec3 normal)
{
	gap = gap > 0 ? gap : 0;
	return (tac_contact_point){
		.kind = TAC_CONTACT_FACE_VERTEX,
		.moving_feature = 0,
		.fixed_feature = p->node,
		.moving_triangle = -1,
		.fixed_triangle = -1,
		.moving_surface = -1,
		.fixed_surface = p->label,
		.normal = tac_dvec3_scale(normal, -1),
		// Beyond the foot by the gap: gap_after finds the foot again.
		.point = tac_dvec3_add_scaled(p->at, -gap, normal),
		.gap = gap,
	};
}

// ---- list ----

// Adds the contact at a point.
static void list_point(const memory *m, const tac_burr *burr, const point *p, tac_contacts *out)
{
	tac_dvec3 normal;
	const double of_point = gap_of(m, burr, p, &normal);
	out->distance = of_point < out->distance ? of_point : out->distance;
	const double gap = has_discs(m) && meets_disc(m, p, burr->a) ? disc_gap(m, burr, p, &normal)
								     : of_point + slack_of(m, p);
	if (gap <= out->margin)
		out->list[out->count++] = contact_of(p, gap, normal);
}

// Lists the point of each bin with the smallest gap by single precision, with its gap in double. Returns
// their number.
static int32_t list_points(memory *m, const tac_burr *burr, tac_contacts *out)
{
	int32_t nearest[BINS], found = 0;
	float least[BINS];
	for (int i = 0; i < BINS; i++) {
		nearest[i] = -1;
		least[i] = (float)out->margin;
	}
	const tac_dvec3 advance = m->allowance ? tac_dvec3_scale(m->allowance->feed, m->allowance->advance_m)
					       : tac_dvec3_zero();
	const int32_t *bin = m->index;
	const float *key = m->length_m;
	tac_field_points_bin(m->field, &m->points, burr, advance, GRID, m->length_m, m->index);
	for (int32_t i = 0; i < m->points.count; i++) {
		if (key[i] < least[bin[i]]) {
			least[bin[i]] = key[i];
			nearest[bin[i]] = i;
		}
	}
	for (int i = 0; i < BINS; i++) {
		if (nearest[i] < 0)
			continue;
		const point p = point_of(m, nearest[i]);
		list_point(m, burr, &p, out);
		found++;
	}
	out->distance = fmax(out->distance, 0);
	return found;
}

// Whether the middle of the burr lies in the material: then its surface may be out of reach.
static bool is_buried(const memory *m, const tac_burr *burr)
{
	// The ends of a cylinder's core lie on its surface, which may rest on the material.
	const double length = tac_dvec3_length(tac_dvec3_sub(burr->b, burr->a));
	const double inset = burr->kind == TAC_BURR_CYLINDER ? fmin(burr->radius / length, 0.5) : 0;
	for (int i = 0; i < 3; i++) {
		const double s = inset + 0.5 * i * (1 - 2 * inset);
		if (tac_field_sample(m->field, tac_dvec3_lerp(burr->a, burr->b, s)) < 0)
			return true;
	}
	return false;
}

static void list(memory *m, tac_dpose T_object_tool, double margin, tac_sco_work *work, tac_contacts *out)
{
	const tac_burr burr = tac_burr_place(&m->burr, T_object_tool);
	tac_contacts_clear(out, margin);
	out->pairs = 1;
	work->units++;
	m->listed_version = tac_field_version(m->field);
	if (m->allowance)
		m->listed = *m->allowance;
	if (room_about(m, &burr) > margin)
		return;
	if (!gather(m, &burr, margin, work)) {
		out->margin = out->distance = 0;
		return;
	}
	work->units += m->points.count / POINTS_PER_UNIT;
	work->units += list_points(m, &burr, out) / DOUBTS_PER_UNIT;
	if (out->count == 0 && is_buried(m, &burr))
		out->distance = 0;
}

static bool changed(const memory *m)
{
	const tac_drill_allowance *now = m->allowance, *then = &m->listed;
	return m->listed_version != tac_field_version(m->field) ||
	       (now &&
		(now->advance_m != then->advance_m || now->slack_m != then->slack_m ||
		 now->feed.x != then->feed.x || now->feed.y != then->feed.y || now->feed.z != then->feed.z));
}

// The distance of a point from the burr of a tool at `T`.
static double distance_at(const memory *m, const tac_drigid *T, tac_dvec3 p)
{
	const tac_dvec3 in_tool = tac_dmat3_transpose_apply(T->R, tac_dvec3_sub(p, T->t));
	tac_dvec3 normal;
	return tac_burr_distance(&m->burr, in_tool, &normal);
}

// A burr is convex: while it slides along a wall it leaves each of the points behind. The mover would take
// that for room to approach the wall, and the proof, to which the points between matter, would end at once.
// So the gap counts from the plane of the contact, or from the point where that is nearer.
static double gap_after(const memory *m, const tac_contact_point *contact, const tac_drigid *from,
			const tac_drigid *to)
{
	tac_contact_point plane = *contact;
	plane.kind = TAC_CONTACT_VERTEX_FACE; // whose normal stays
	const tac_dvec3 foot = tac_dvec3_add_scaled(contact->point, -contact->gap, contact->normal);
	return fmin(contact->gap + distance_at(m, to, foot) - distance_at(m, from, foot),
		    tac_contacts_gap_after(&plane, NULL, NULL, from, to));
}

// ---- prove ----

// What a motion may take of a gap that is too small already.
static double creep_m(const memory *m)
{
	return burr_turns(m) ? ROUNDING_M : CREEP_M;
}

// A motion of the burr, as points see it from the tool.
typedef struct course {
	tac_dpose T_tool_start, T_tool_end; // from the object's frame to the tool's, at both ends
	double bend_m;                      // how far the path of a point may leave its chord in its middle
} course;

static double travel_of(const memory *m, const tac_dtwist *t)
{
	return tac_dvec3_length(t->v) + tac_dvec3_length(t->w) * m->reach_m;
}

// The fraction of the course up to which a point keeps `zone_m`, or the gap that it has at the start if that
// is smaller.
static double free_fraction(const memory *m, const course *c, tac_dvec3 p, double zone_m)
{
	const tac_dvec3 q0 = tac_dpose_apply_point(c->T_tool_start, p);
	const tac_dvec3 q1 = tac_dpose_apply_point(c->T_tool_end, p);
	const tac_dvec3 chord = tac_dvec3_sub(q1, q0);
	tac_dvec3 n0, n1;
	const double d0 = tac_burr_distance(&m->burr, q0, &n0), d1 = tac_burr_distance(&m->burr, q1, &n1);
	// The drill's feed is in the object's frame.
	const tac_dquat R_object_tool = tac_dquat_conjugate(c->T_tool_start.rotation);
	const double allowed = allowed_m(m, tac_dquat_rotate(R_object_tool, n0));
	const double keep = fmin(zone_m, d0 + allowed - creep_m(m)) - allowed; // below d0
	// The path leaves the chord by at most 4 s (1 - s) bend_m. So the distance is at least d0 + s slope0
	// and d1 - (1 - s) slope1: too close where both lines are below `keep`.
	const double slope0 = tac_dvec3_dot(n0, chord) - 4 * c->bend_m;
	const double slope1 = tac_dvec3_dot(n1, chord) + 4 * c->bend_m;
	if (slope0 >= 0)
		return 1;
	const double first = (keep - d0) / slope0; // where the first line falls below
	if (slope1 > 0) // the second line rises: above there, it is above from there on
		return d1 - (1 - first) * slope1 >= keep ? 1 : fmin(first, 1);
	if (slope1 < 0) // it falls: both are below from the later place on
		return fmin(fmax(first, 1 + (keep - d1) / slope1), 1);
	return d1 >= keep ? 1 : fmin(first, 1);
}

// The fraction of a ball's translation up to which it keeps `zone_m` from the disc of a point, or what it has
// at the start.
static double free_of_disc(const memory *m, tac_dvec3 v, const tac_burr *ball, const point *p, double zone_m)
{
	const double sinks = -tac_dvec3_dot(v, p->up), start = disc_distance(ball, p) + m->hold_m;
	if (!(sinks > 0))
		return 1;
	const double s = fmax((start - fmin(zone_m, start - creep_m(m))) / sinks, 0);
	return s < 1 && meets_disc(m, p, tac_dvec3_add_scaled(ball->a, s, v)) ? s : 1;
}

// The points that may come closer than `zone_m`, in the scratch memory. Returns their number.
static int32_t doubted(memory *m, tac_dpose start, tac_dpose end, double bend_m, double travel, double zone_m,
		       bool discs)
{
	const double wide = discs ? DISC_VOXELS * m->voxel_m : 0;
	tac_field_passage passage = {
		.burr = m->burr,
		.start = start,
		.end = end,
		.bend_m = bend_m,
		.keep_m = zone_m,
		.creep_m = creep_m(m),
		.allowed_m = m->hold_m,
		.reach_m = travel + fmax(zone_m, 0) + hypot(m->burr.radius, wide) - m->burr.radius,
		.discs = discs,
	};
	if (m->allowance) {
		passage.allowed_m += m->allowance->slack_m;
		passage.advance_m = tac_dvec3_scale(m->allowance->feed, m->allowance->advance_m);
	}
	return tac_field_points_doubted(m->field, &m->points, &passage, m->index);
}

static tac_sco_proof prove(memory *m, const tac_sco_relative *motion, double zone_m, tac_sco_work *work)
{
	tac_sco_proof proof = {.fraction = 1};
	const tac_burr start = tac_burr_place(&m->burr, motion->start);
	const double travel = travel_of(m, &motion->twist);
	if (zone_m < m->hold_m) // near the surface, see DIP_VOXELS
		zone_m = fmin(zone_m, m->hold_m - DIP_VOXELS * m->voxel_m);
	work->units++;
	if (room_about(m, &start) > travel + zone_m)
		return proof;
	if (!gather(m, &start, travel + zone_m, work)) {
		work->spent = true;
		return (tac_sco_proof){.unfinished = true};
	}
	const double turn = tac_dvec3_length(motion->twist.w), way = tac_dvec3_length(motion->twist.v);
	const double arm = m->reach_m + travel + zone_m;
	const tac_dpose end = tac_dpose_after(motion->start, motion->twist, 1);
	// An arc leaves its chord by at most an eighth of its largest second derivative. Seen from the tool,
	// that of a point is at most turn^2 times its distance from the tool's origin, plus 2 turn way.
	const course c = {tac_dpose_inverse(motion->start), tac_dpose_inverse(end),
			  (turn * turn * (arm + way) + 2 * turn * way) / 8};
	const bool discs = has_discs(m) && turn == 0;
	const int32_t near = doubted(m, motion->start, end, c.bend_m, travel, zone_m, discs);
	work->units += m->points.count / POINTS_PER_UNIT + near / DOUBTS_PER_UNIT;
	point blocker = {0};       // ended the proof
	bool blocker_disc = false; // or its disc did
	for (int32_t i = 0; i < near; i++) {
		const point p = point_of(m, m->index[i]);
		const double of_point = free_fraction(m, &c, p.at, zone_m);
		const double of_disc = discs ? free_of_disc(m, motion->twist.v, &start, &p, zone_m) : 1;
		const double f = fmin(of_point, of_disc);
		if (f >= proof.fraction)
			continue;
		proof.fraction = f;
		blocker = p;
		blocker_disc = of_disc < of_point;
	}
	if (proof.fraction < 1) {
		tac_dvec3 normal;
		const double gap = blocker_disc ? disc_gap(m, &start, &blocker, &normal)
						: gap_of(m, &start, &blocker, &normal);
		proof.contact = contact_of(&blocker, gap, normal);
		proof.blocked = gap > 0;
	}
	return proof;
}

static double sweep(memory *m, const tac_sco_relative *motion, double zone_m, tac_sco_work *work)
{
	const double travel = travel_of(m, &motion->twist), piece = PIECE_VOXELS * m->voxel_m;
	double s = 0;
	for (int i = 0; i < SWEEP_STEPS && s < 1; i++) {
		const tac_dpose at = tac_dpose_after(motion->start, motion->twist, s);
		const tac_burr burr = tac_burr_place(&m->burr, at);
		const double room = room_about(m, &burr) - zone_m;
		work->units++;
		if (room > piece) {
			s += room / travel;
			continue;
		}
		const double part = fmin(piece / travel, 1 - s);
		const tac_sco_relative next = {
			at, {tac_dvec3_scale(motion->twist.v, part), tac_dvec3_scale(motion->twist.w, part)}};
		const tac_sco_proof proof = prove(m, &next, zone_m, work);
		s += part * proof.fraction;
		if (proof.fraction < 1)
			return fmin(s, 1);
		if (work->units >= work->limit)
			break;
	}
	work->spent |= s < 1;
	return fmin(s, 1);
}

const tac_sco_geometry tac_sco_geometry_field = {
	.memory_size = sizeof(memory),
	.create = create,
	.destroy = destroy,
	.reset = reset,
	.list = list,
	.prove = prove,
	.sweep = sweep,
	.gap_after = gap_after,
	.changed = changed,
};
