// Points as a burr sees them.
#include "tissue/field/bricks.h"

void tac_field_points_begin(tac_field_points *points, const tac_burr *burr)
{
	points->count = 0;
	points->complete = true;
	points->examined = 0;
	points->centre = burr->a;
}

bool tac_field_point_is_edge(const tac_field_points *points, int32_t index)
{
	return points->node[index] >= FIELD_EDGE;
}

void tac_field_point_move(tac_field_points *points, int32_t from, int32_t to)
{
	tac_field_points *p = points;
	p->x[to] = p->x[from];
	p->y[to] = p->y[from];
	p->z[to] = p->z[from];
	p->up_x[to] = p->up_x[from];
	p->up_y[to] = p->up_y[from];
	p->up_z[to] = p->up_z[from];
	p->node[to] = p->node[from];
	p->label[to] = p->label[from];
}

static tac_field_coordinates coordinates_of(const tac_field_points *p)
{
	return (tac_field_coordinates){p->x, p->y, p->z, p->count};
}

static tac_field_shape shape_of(const tac_burr *burr)
{
	return (tac_field_shape){burr->kind == TAC_BURR_CYLINDER,
				 (float)tac_dvec3_length(tac_dvec3_sub(burr->b, burr->a)),
				 (float)burr->radius};
}

// The axes of a burr's frame, in the frame of the burr's coordinates.
typedef struct axes {
	tac_dvec3 x, y, z;
} axes;

static axes axes_of(const tac_burr *burr)
{
	const tac_dvec3 core = tac_dvec3_sub(burr->b, burr->a);
	if (tac_dvec3_length_squared(core) == 0)
		return (axes){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	const tac_dvec3 z = tac_dvec3_normalize(core), x = tac_dvec3_perpendicular(z);
	return (axes){x, tac_dvec3_cross(z, x), z};
}

static axes turned(const axes *a, tac_dquat rotation)
{
	return (axes){tac_dquat_rotate(rotation, a->x), tac_dquat_rotate(rotation, a->y),
		      tac_dquat_rotate(rotation, a->z)};
}

static tac_field_frame frame_of(const tac_field_points *p, const axes *a, tac_dvec3 origin)
{
	const tac_dvec3 from = tac_dvec3_sub(p->centre, origin);
	return (tac_field_frame){{(float)a->x.x, (float)a->x.y, (float)a->x.z, (float)a->y.x, (float)a->y.y,
				  (float)a->y.z, (float)a->z.x, (float)a->z.y, (float)a->z.z},
				 {(float)tac_dvec3_dot(a->x, from), (float)tac_dvec3_dot(a->y, from),
				  (float)tac_dvec3_dot(a->z, from)}};
}

// Fills `out` with the parts of a vector along the axes.
static void resolve(const axes *a, tac_dvec3 v, float out[3])
{
	out[0] = (float)tac_dvec3_dot(a->x, v);
	out[1] = (float)tac_dvec3_dot(a->y, v);
	out[2] = (float)tac_dvec3_dot(a->z, v);
}

double tac_field_points_error(const tac_burr *burr, double reach_m)
{
	// Some ten roundings of 6e-8 each, of numbers up to this.
	return 1e-6 * (tac_dvec3_length(tac_dvec3_sub(burr->b, burr->a)) + burr->radius + reach_m);
}

void tac_field_points_distances(const tac_field *field, const tac_field_points *points, const tac_burr *burr,
				float *out_distance_m)
{
	const axes a = axes_of(burr);
	const tac_field_shape shape = shape_of(burr);
	const tac_field_frame frame = frame_of(points, &a, burr->a);
	field->distances(&shape, &frame, coordinates_of(points), out_distance_m);
}

void tac_field_points_bin(const tac_field *field, const tac_field_points *points, const tac_burr *burr,
			  tac_dvec3 advance_m, int32_t grid, float *out_key_m, int32_t *out_bin)
{
	const axes a = axes_of(burr);
	const tac_field_shape shape = shape_of(burr);
	const tac_field_frame frame = frame_of(points, &a, burr->a);
	float advance[3];
	resolve(&a, advance_m, advance);
	field->bin(&shape, &frame, coordinates_of(points), advance, grid, out_key_m, out_bin);
}

int32_t tac_field_points_doubted(const tac_field *field, const tac_field_points *points,
				 const tac_field_passage *passage, int32_t *out_index)
{
	const tac_field_passage *g = passage;
	const axes own = axes_of(&g->burr);
	const axes at_start = turned(&own, g->start.rotation), at_end = turned(&own, g->end.rotation);
	const tac_dvec3 from = tac_dpose_apply_point(g->start, g->burr.a);
	const tac_dvec3 to = tac_dpose_apply_point(g->end, g->burr.a);
	const tac_dvec3 middle = tac_dvec3_sub(from, points->centre), along = tac_dvec3_sub(to, from);
	tac_field_course c = {
		.shape = shape_of(&g->burr),
		.start = frame_of(points, &at_start, from),
		.end = frame_of(points, &at_end, to),
		.reach = (float)g->reach_m,
		.bend = (float)(4 * g->bend_m),
		.keep = (float)g->keep_m,
		.creep = (float)g->creep_m,
		.allowed = (float)g->allowed_m,
		// Of both distances, and of what is compared with them.
		.error = (float)(3 * tac_field_points_error(&g->burr, g->reach_m)),
		.discs = g->discs,
		.middle = {(float)middle.x, (float)middle.y, (float)middle.z},
		.along = {(float)along.x, (float)along.y, (float)along.z},
	};
	resolve(&at_start, g->advance_m, c.advance);
	c.reach += c.error;
	const tac_field_coordinates normals = {points->up_x, points->up_y, points->up_z, points->count};
	return field->doubt(&c, coordinates_of(points), normals, out_index);
}
