// The surface of a field as points: the feet of the nodes next to it, and places on its edges.
//
// A node knows the surface nearest to it, as a wall. Where neighbours know walls of which each has cut off
// the other, a ridge passes between them; its points lie on both walls, and at a corner on three. A ball that
// is bigger than a voxel could else sink in between the feet on both sides.
#include "tissue/field/bricks.h"

#include <math.h>
#include <string.h>

// Walls that agree to this are one, and a place is on a wall to this, voxels.
#define SAME 0.02F
// A wall must be this much above the other at its own node, voxels: normals are rounded.
#define ABOVE 0.01F
// Walls whose normals differ less than this make no edge: the square of the angle's sine.
#define FLAT 0.003F
// Further places along an edge, voxels from the first: with one a voxel, balls of any size sank in by up to
// a fifteenth of a voxel in between.
#define ALONG 0.35F
// Walls whose normals have at least this dot product may be parts of one surface, and how far such a surface
// may be from the plane of one of its nodes, voxels.
#define ALIKE 0.9F
#define BULGE 0.1F
// The work of an edge and of a foot near one, in nodes examined.
#define EDGE_WORK 16
#define FOOT_WORK 4
// How often a better wall may be taken.
#define TRIES 5

// What a node knows of the surface; lengths in voxels.
typedef struct wall {
	tac_vec3 at, normal; // of the node
	float distance;
} wall;

// The height of a place above the wall, positive outside the material. Where a ball has made the wall, its
// surface is higher than this by up to the square of the distance from the foot over the ball's diameter.
static float height(const wall *w, tac_vec3 p)
{
	return w->distance + tac_vec3_dot(w->normal, tac_vec3_sub(p, w->at));
}

static tac_vec3 foot_of(const wall *w)
{
	return tac_vec3_add_scaled(w->at, -w->distance, w->normal);
}

static wall wall_of(const tac_field *f, const tac_field_node *n, tac_vec3 at)
{
	return (wall){at, n->normal, n->distance * (float)(1 / f->voxel_m)};
}

// Moves a place onto two walls, or three, along the shortest way. False if they are too parallel.
static bool meet(const wall *walls, int count, tac_vec3 *place)
{
	const tac_vec3 x = walls[0].normal, y = walls[1].normal, xy = tac_vec3_cross(x, y);
	const tac_vec3 z = count == 3 ? walls[2].normal : xy;
	const tac_vec3 yz = tac_vec3_cross(y, z), zx = tac_vec3_cross(z, x);
	const float det = tac_vec3_dot(x, yz);
	if (tac_vec3_dot(xy, xy) < FLAT || det * det < FLAT * FLAT)
		return false;
	tac_vec3 way = tac_vec3_scale(yz, -height(&walls[0], *place) / det);
	way = tac_vec3_add_scaled(way, -height(&walls[1], *place) / det, zx);
	if (count == 3)
		way = tac_vec3_add_scaled(way, -height(&walls[2], *place) / det, xy);
	*place = tac_vec3_add(*place, way);
	return true;
}

// The walls that the nodes of the cell about a place know. `origin`: the node from which places are counted.
// Returns their number.
static int cell_walls(const tac_field *f, const int32_t origin[3], tac_vec3 place, wall out[8])
{
	const int32_t low[3] = {(int32_t)floorf(place.x), (int32_t)floorf(place.y), (int32_t)floorf(place.z)};
	int count = 0;
	for (int c = 0; c < 8; c++) {
		const int32_t d[3] = {low[0] + (c >> 2), low[1] + (c >> 1 & 1), low[2] + (c & 1)};
		const tac_field_node n =
			tac_field_node_at(f, origin[0] + d[0], origin[1] + d[1], origin[2] + d[2]);
		if (tac_vec3_dot(n.normal, n.normal) > 0)
			out[count++] = wall_of(f, &n, tac_vec3_make((float)d[0], (float)d[1], (float)d[2]));
	}
	return count;
}

// Of the walls about a place, the one that the place is furthest above, if it has been removed there; NULL:
// it has not. Where a wall is below one of the place's own at its node, the
// two meet in a groove, and neither removes anything of the other.
static const wall *find_remover(const wall *around, int around_count, const wall *own, int own_count,
				tac_vec3 place)
{
	const wall *found = NULL;
	float highest = SAME;
	for (int i = 0; i < around_count; i++) {
		const wall *w = &around[i];
		const float above = height(w, place);
		bool outer = above > highest;
		for (int k = 0; k < own_count && outer; k++)
			outer = height(&own[k], w->at) < w->distance + ABOVE;
		if (!outer)
			continue;
		highest = above;
		found = w;
	}
	return found;
}

// Takes the wall of a node nearer to the place, where a curved surface has left the plane of the first. The
// surface of a ball's cut is above the planes of all nodes, so the best one is the highest.
static bool improve(const wall *around, int around_count, wall *own, tac_vec3 place)
{
	const wall *best = NULL;
	float lowest = -ABOVE;
	for (int i = 0; i < around_count; i++) {
		const float above = height(&around[i], place);
		if (above < lowest && above > -BULGE && tac_vec3_dot(around[i].normal, own->normal) > ALIKE) {
			lowest = above;
			best = &around[i];
		}
	}
	if (best)
		*own = *best;
	return best;
}

// Moves a place onto the edge of two walls. Where others have removed more there, those take their place, or
// the place becomes the corner of three. False: there is no edge.
static bool find_edge(const tac_field *f, const int32_t origin[3], wall walls[3], tac_vec3 *place)
{
	int count = 2;
	bool improved = false;
	for (int i = 0; i < TRIES; i++) {
		wall around[8];
		if (!meet(walls, count, place) || tac_vec3_length(*place) > FIELD_EDGE_FAR)
			return false;
		const int near = cell_walls(f, origin, *place, around);
		const wall *remover = find_remover(around, near, walls, count, *place);
		if (!remover) {
			bool better = false;
			for (int k = 0; k < count && !improved; k++)
				better |= improve(around, near, &walls[k], *place);
			improved = true;
			if (!better)
				return true;
			continue;
		}
		int like = -1;
		for (int k = 0; k < count; k++) {
			if (tac_vec3_dot(walls[k].normal, remover->normal) > ALIKE)
				like = k;
		}
		if (like < 0 && count == 3)
			return false;
		walls[like < 0 ? count++ : like] = *remover;
	}
	return false;
}

static void add_point(tac_field_points *out, tac_vec3 p, tac_vec3 up, uint8_t label, int32_t node)
{
	if (out->count == TAC_FIELD_POINTS) {
		out->complete = false;
		return;
	}
	out->x[out->count] = p.x;
	out->y[out->count] = p.y;
	out->z[out->count] = p.z;
	out->up_x[out->count] = up.x;
	out->up_y[out->count] = up.y;
	out->up_z[out->count] = up.z;
	out->label[out->count] = label;
	out->node[out->count++] = node;
}

// The points of a brick.
typedef struct brick_points {
	const tac_field *field;
	int32_t at[3], entry;
	float base[3];   // of its first node, from the centre of the points, m
	float per_metre; // voxels
	tac_field_points *out;
} brick_points;

// Adds the places of the edge between a node and the next one along an axis.
static void add_edge(const brick_points *b, const wall *own, const int32_t origin[3], int32_t node, int axis)
{
	const tac_field *f = b->field;
	const int32_t next[3] = {axis == 0, axis == 1, axis == 2};
	const int32_t index = node + (axis == 0 ? 64 : axis == 1 ? 8 : 1);
	const bool here = (axis == 0 ? node >> 6 : axis == 1 ? node >> 3 & 7 : node & 7) < FIELD_BRICK - 1;
	const tac_vec3 at = tac_vec3_make((float)next[0], (float)next[1], (float)next[2]);
	// Most neighbours are on the same surface, which their distance alone tells.
	const float distance_m = here ? f->pool[b->entry].distance[index]
				      : tac_field_node_distance(f, origin[0] + next[0], origin[1] + next[1],
								origin[2] + next[2]);
	const float distance = distance_m * b->per_metre;
	if (fabsf(distance) > FIELD_NEAR_EDGE || height(own, at) > distance - ABOVE)
		return;
	const tac_field_node n =
		here ? tac_field_node_of(&f->pool[b->entry], index)
		     : tac_field_node_at(f, origin[0] + next[0], origin[1] + next[1], origin[2] + next[2]);
	const wall other = wall_of(f, &n, at);
	if (tac_vec3_dot(n.normal, n.normal) == 0 || height(&other, own->at) > own->distance - ABOVE)
		return;
	b->out->examined += EDGE_WORK;
	wall walls[3] = {*own, other};
	tac_vec3 place = tac_vec3_scale(tac_vec3_add(foot_of(own), foot_of(&other)), 0.5F);
	if (!find_edge(f, origin, walls, &place))
		return;
	const tac_vec3 along = tac_vec3_cross(walls[0].normal, walls[1].normal);
	const float length = tac_vec3_length(along), h = (float)f->voxel_m;
	const tac_vec3 first =
		tac_vec3_make(b->base[0] + (float)(node >> 6) * h, b->base[1] + (float)(node >> 3 & 7) * h,
			      b->base[2] + (float)(node & 7) * h);
	for (int side = -1; side <= 1; side++) {
		wall copy[3] = {walls[0], walls[1]};
		tac_vec3 p = tac_vec3_add_scaled(place, (float)side * ALONG / length, along);
		if (side != 0 && !find_edge(f, origin, copy, &p))
			continue;
		add_point(b->out, tac_vec3_add_scaled(first, h, p), tac_vec3_zero(), n.label,
			  (b->entry * FIELD_BRICK_NODES + node) | (axis + 1) * FIELD_EDGE);
	}
}

// Whether a node about the foot of a wall has a greater distance than that wall gives it, so that another one
// may have removed the foot. It takes the distances alone, a tenth of the time of find_remover.
static bool may_be_removed(const brick_points *b, const int32_t origin[3], const wall *own, int32_t node)
{
	const tac_vec3 foot = foot_of(own);
	const int32_t low[3] = {(int32_t)floorf(foot.x), (int32_t)floorf(foot.y), (int32_t)floorf(foot.z)};
	const int32_t in[3] = {(node >> 6) + low[0], (node >> 3 & 7) + low[1], (node & 7) + low[2]};
	const uint32_t most = FIELD_BRICK - 2;
	const bool here = (uint32_t)in[0] <= most && (uint32_t)in[1] <= most && (uint32_t)in[2] <= most;
	const float *first = &b->field->pool[b->entry].distance[here ? (in[0] * 8 + in[1]) * 8 + in[2] : 0];
	const float ground = height(own, tac_vec3_make((float)low[0], (float)low[1], (float)low[2])) + SAME;
	for (int c = 0; c < 8; c++) {
		const int32_t d[3] = {c >> 2, c >> 1 & 1, c & 1};
		const float distance =
			here ? first[d[0] * 64 + d[1] * 8 + d[2]]
			     : tac_field_node_distance(b->field, origin[0] + low[0] + d[0],
						       origin[1] + low[1] + d[1], origin[2] + low[2] + d[2]);
		const float plane = ground + (d[0] ? own->normal.x : 0) + (d[1] ? own->normal.y : 0) +
				    (d[2] ? own->normal.z : 0);
		if (plane < distance * b->per_metre)
			return true;
	}
	return false;
}

// Adds what a node of a brick, the one at `index` of the feet, knows of the surface.
static void add_node(const brick_points *b, const tac_field_feet *feet, int32_t index)
{
	const tac_field *f = b->field;
	const int32_t node = feet->node[index];
	const tac_vec3 foot = tac_vec3_make(feet->foot[0][index], feet->foot[1][index], feet->foot[2][index]);
	const tac_field_brick *brick = &f->pool[b->entry];
	const uint8_t label = brick->label[node];
	const int32_t origin[3] = {b->at[0] * FIELD_BRICK + (node >> 6),
				   b->at[1] * FIELD_BRICK + (node >> 3 & 7),
				   b->at[2] * FIELD_BRICK + (node & 7)};
	const wall own = {
		{0, 0, 0},
		{feet->normal[0][index], feet->normal[1][index], feet->normal[2][index]},
		brick->distance[node] * b->per_metre,
	};
	// The foot of a node outside the material may lie beyond an edge.
	bool is_there = fabsf(own.distance) < FIELD_NEAR;
	if (is_there && own.distance > 0 && may_be_removed(b, origin, &own, node)) {
		wall around[8];
		const int near = cell_walls(f, origin, foot_of(&own), around);
		is_there = !find_remover(around, near, &own, 1, foot_of(&own));
		b->out->examined += FOOT_WORK;
	}
	if (is_there)
		add_point(b->out, foot, own.normal, label, b->entry * FIELD_BRICK_NODES + node);
	for (int axis = 0; axis < 3; axis++)
		add_edge(b, &own, origin, node, axis);
}

// Adds the feet alone.
static void add_feet(const brick_points *b, const tac_field_feet *feet, int32_t count)
{
	tac_field_points *out = b->out;
	const int32_t first = out->count, room = TAC_FIELD_POINTS - first;
	const uint8_t *label = b->field->pool[b->entry].label;
	out->complete &= count <= room;
	count = count <= room ? count : room;
	const size_t bytes = (size_t)count * sizeof(float);
	memcpy(out->x + first, feet->foot[0], bytes);
	memcpy(out->y + first, feet->foot[1], bytes);
	memcpy(out->z + first, feet->foot[2], bytes);
	memcpy(out->up_x + first, feet->normal[0], bytes);
	memcpy(out->up_y + first, feet->normal[1], bytes);
	memcpy(out->up_z + first, feet->normal[2], bytes);
	for (int32_t i = 0; i < count; i++) {
		out->label[first + i] = label[feet->node[i]];
		out->node[first + i] = b->entry * FIELD_BRICK_NODES + feet->node[i];
	}
	out->count += count;
}

void tac_field_gather_inside(const tac_field *field, const tac_burr *burr, double reach_m,
			     tac_field_points *out_points)
{
	const tac_field *f = field;
	const double reach = burr->radius + reach_m + (double)FIELD_NEAR_INSIDE * f->voxel_m;
	const tac_field_region r = tac_field_region_of(f, burr->a, burr->b, burr->radius, reach);
	const float range[2] = {-FIELD_NEAR_INSIDE * (float)f->voxel_m, 0};
	tac_field_points_begin(out_points, burr);
	for (int32_t i = r.from[0]; i <= r.to[0]; i++) {
		for (int32_t j = r.from[1]; j <= r.to[1]; j++) {
			for (int32_t k = r.from[2]; k <= r.to[2]; k++) {
				const int32_t entry = f->table[tac_field_brick_index(f, i, j, k)];
				brick_points b = {
					.field = f, .at = {i, j, k}, .entry = entry, .out = out_points};
				if (entry < 0 || f->rows[entry].near == 0 ||
				    !tac_field_region_brick(f, &r, b.at, reach, b.base))
					continue;
				tac_field_feet feet;
				const int32_t count =
					f->find(&r.cut, b.base, &f->pool[entry], f->rows[entry].near, range,
						(float)reach, &feet);
				out_points->examined += 8 + count;
				add_feet(&b, &feet, count);
			}
		}
	}
}

int32_t tac_field_find_points(const tac_field *field, const int32_t at[3], tac_field_points *out)
{
	const tac_field *f = field;
	const float h = (float)f->voxel_m, range[2] = {-FIELD_NEAR_EDGE * h, FIELD_NEAR_EDGE * h};
	const int32_t entry = f->table[tac_field_brick_index(f, at[0], at[1], at[2])];
	const brick_points b = {f, {at[0], at[1], at[2]}, entry, {0, 0, 0}, (float)(1 / f->voxel_m), out};
	const tac_field_cut all = {.voxel = h};
	const float everywhere = 1e3F; // m
	tac_field_feet feet;
	const int32_t count =
		f->find(&all, b.base, &f->pool[entry], f->rows[entry].near, range, everywhere, &feet);
	const int32_t before = out->count;
	out->examined += count;
	for (int32_t n = 0; n < count; n++)
		add_node(&b, &feet, n);
	return out->count - before;
}
