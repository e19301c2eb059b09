#include "tissue/contact/contact_state.h"

#include <math.h>
#include <string.h>

// Compliance of a rigid row, m/N: rows that depend on each other share a load.
#define RIGID_COMPLIANCE 1e-9
// 4 ln(1 + sqrt 2) / pi, for the radius of the disc that is as large as the square.
#define LOVE 0.63313
// The gap of a point that the tool cannot reach, m.
#define FAR_M 1

// A point of a coarser level stands for a part of the surface, of area s^2. Where the border of the contact
// crosses it, it carries a load although the mean of its gap is above 0. So its load begins at a mean gap of
// EARLY s^2 / R, R the radius of the tool, and closes that gap by SOFT / (E* s) for each newton, E* = E / (1
// - nu^2). Without this the force of a ball depends on where the points are, by up to 1.8 % at a = 2.2 s, a
// the radius of the contact. The load falls steadily as the gap grows, so the force stays the gradient of a
// convex energy.
// Order of magnitude: next to the border of a ball's contact the pressure is K sqrt(x), the gap
// 4 K / (3 E*) x^1.5, K = 2 E* sqrt(2 a) / (pi R). At a = 2.5 s a square has a mean gap of 0.76 s^2 / R when
// its first side touches, and a load of 0.95 E* s^3 / R when its last side does; at first the gap closes
// faster than the load grows. The three constants are fitted to Hertz's force, for which BULGE takes back
// what the early load adds: so much more of the bend of the tool over the point.
#define EARLY 0.42
#define SOFT  0.8
#define BULGE 0.27

// The second moment along a direction.
static double moment(const double *m, tac_dvec3 d)
{
	return m[0] * d.x * d.x + m[1] * d.y * d.y + m[2] * d.z * d.z +
	       2 * (m[3] * d.x * d.y + m[4] * d.x * d.z + m[5] * d.y * d.z);
}

static void put(tac_contact_vectors *v, int32_t i, tac_dvec3 value)
{
	v->x[i] = value.x;
	v->y[i] = value.y;
	v->z[i] = value.z;
}

static tac_dvec3 get(const tac_contact_vectors *v, int32_t i)
{
	return tac_dvec3_make(v->x[i], v->y[i], v->z[i]);
}

// What the coupling yields to a wrench on the tool.
static tac_dtwist yielding(const tac_tissue *t, tac_wrench w)
{
	const tac_tissue_input *in = &t->input;
	const bool turns = !t->def.fixed_rotation && in->turn_stiffness_Nm_per_rad > 0;
	return (tac_dtwist){tac_dvec3_scale(w.force_N, 1 / in->stiffness_N_per_m),
			    turns ? tac_dvec3_scale(w.torque_Nm, 1 / in->turn_stiffness_Nm_per_rad)
				  : tac_dvec3_zero()};
}

// To where the coupling would take the tool without loads.
static tac_dtwist to_device(const tac_tissue *t, tac_dpose from)
{
	tac_dtwist m = tac_dtwist_between(from, t->input.T_body_device);
	if (t->def.fixed_rotation)
		m.w = tac_dvec3_zero();
	return m;
}

tac_contact_place tac_contact_place_of(const tac_tissue *tissue, tac_dpose T_body_tool)
{
	tac_contact_place place = {T_body_tool, tac_dpose_inverse(T_body_tool), tissue->def.tool};
	place.round.a = tac_dpose_apply_point(T_body_tool, place.round.a);
	place.round.b = tac_dpose_apply_point(T_body_tool, place.round.b);
	return place;
}

tac_tool_gap tac_tissue_gap(const tac_tissue *tissue, int32_t point, tac_dvec3 moved_m,
			    const tac_contact_place *place)
{
	const tac_tissue *t = tissue;
	const tac_contact_spread *s = &t->spreads[point];
	const tac_dvec3 into = tac_dvec3_neg(tac_dvec3_from_vec3(t->def.compliance->point_normals[point]));
	const tac_dvec3 at = tac_dvec3_add(s->mean_m, moved_m);
	tac_tool_gap g;
	if (!t->def.tool.field) {
		g = tac_tool_gap_of(&place->round, at, into, s->disc);
	} else {
		g = tac_tool_gap_of(&t->def.tool, tac_dpose_apply_point(place->T_tool_body, at),
				    tac_dpose_apply_vector(place->T_tool_body, into), s->disc);
		g.normal = tac_dpose_apply_vector(place->T_body_tool, g.normal);
		g.straight = tac_dpose_apply_vector(place->T_body_tool, g.straight);
	}
	if (point >= t->def.compliance->node_count) {
		// A tool that is not flat bends away from the nodes around the mean.
		const double *m = s->second_m2;
		const double across = m[0] + m[1] + m[2] - moment(m, g.normal) - moment(m, g.straight);
		g.early_m = EARLY * (double)t->def.compliance->point_area_m2[point] * g.bend_per_m;
		g.gap_m += (1 + BULGE) * 0.5 * g.bend_per_m * across - g.early_m;
	}
	g.foot_m = tac_dvec3_add_scaled(at, -g.gap_m, g.normal);
	return g;
}

// Gap and lever of a row whose point of the tool is `foot_m`.
static void draw_line(tac_contact_line *line, tac_dpose T_body_tool, tac_dvec3 foot_m, tac_dvec3 point_m)
{
	line->turn_m = tac_dvec3_cross(tac_dvec3_sub(foot_m, T_body_tool.position), line->normal);
	line->gap_m = tac_dvec3_dot(line->normal, tac_dvec3_sub(point_m, foot_m));
}

// Of all that a row's point is loaded with, in this tick and by creep, along its normal, N.
static double whole_load(const tac_tissue *t, const tac_contact_row *r, double load_N)
{
	return t->now * load_N + t->after * tac_dvec3_dot(r->creep_N, r->line.normal);
}

double tac_contact_closed_m(const tac_tissue *tissue, const tac_contact_row *row)
{
	return row->whole ? row->early_m
			  : row->soft_m_per_N * fmax(whole_load(tissue, row, row->line.load_N), 0);
}

// By the load of the pass before, as the normals.
static void soften(const tac_tissue *t, tac_contact_row *r, double early_m)
{
	const tac_compliance *c = t->def.compliance;
	const tac_compliance_material *m = &c->material;
	const double side = sqrt((double)c->point_area_m2[r->point]);
	r->early_m = early_m;
	r->soft_m_per_N = early_m > 0 ? SOFT * (1 - m->poisson * m->poisson) / (m->young_Pa * side) : 0;
	r->whole = r->soft_m_per_N * whole_load(t, r, r->line.load_N) >= early_m;
	r->line.gap_m += r->whole ? early_m : r->soft_m_per_N * whole_load(t, r, 0);
}

// Gap, normal and lever of each row with the tool at a pose. The gap leaves out what the loads of this tick
// displace.
static void linearise(tac_tissue *t, tac_dpose T_body_tool)
{
	const tac_contact_place place = tac_contact_place_of(t, T_body_tool);
	for (int32_t k = 0; k < t->sheet_count; k++) {
		for (int32_t i = 0; i < t->sheets[k]->count; i++) {
			tac_contact_row *r = &t->sheets[k]->rows[i];
			const tac_tool_gap g = tac_tissue_gap(t, r->point, r->moved_m, &place);
			r->line.normal = g.normal;
			if (!(g.gap_m < FAR_M)) { // behind the tool: no contact
				r->line.turn_m = tac_dvec3_zero();
				r->line.gap_m = FAR_M;
				continue;
			}
			draw_line(&r->line, T_body_tool, g.foot_m, tac_dvec3_add(r->rest_m, r->past_m));
			soften(t, r, g.early_m);
		}
	}
	for (int32_t i = 0; i < t->wall_count; i++) {
		tac_contact_wall *w = &t->walls[i];
		draw_line(&w->line, T_body_tool, tac_dpose_apply_point(T_body_tool, w->tool_m), w->rest_m);
	}
}

// One problem of the rows of all sheets and of the walls, in this order. A tool that is held has no walls.
typedef struct problem {
	tac_contact_line *lines[TAC_PIVOT_ROWS];
	double share[TAC_PIVOT_ROWS]; // that the problem's load is of the row's
	int32_t count;
} problem;

static void list_rows(tac_tissue *t, bool held, problem *p)
{
	p->count = 0;
	for (int32_t k = 0; k < t->sheet_count; k++) {
		for (int32_t i = 0; i < t->sheets[k]->count; i++) {
			p->share[p->count] = t->sheets[k]->share;
			p->lines[p->count++] = &t->sheets[k]->rows[i].line;
		}
	}
	for (int32_t i = 0; i < t->wall_count && !held; i++) {
		p->share[p->count] = 1;
		p->lines[p->count++] = &t->walls[i].line;
	}
}

// A uniform pressure on a square displaces its middle by 4 ln(1 + sqrt 2) (1 - nu^2) / (pi E side) for each
// newton (A. E. H. Love). On a part of it the same load yields as much more as the part is smaller.
void tac_contact_cover(const tac_tissue *tissue, tac_contact_row *row, double cover)
{
	const tac_compliance_material *m = &tissue->def.compliance->material;
	const double radius = tissue->spreads[row->point].disc.radius_m;
	row->cover = fmax(cover, TAC_TOOL_LEAST_COVER); // one that has just left may touch again
	row->own_m_per_N =
		LOVE * (1 - m->poisson * m->poisson) / (m->young_Pa * radius) * (1 / row->cover - 1);
}

static void assemble(tac_tissue *t, const problem *rows, tac_dtwist ahead, bool held)
{
	const tac_tissue_input *in = &t->input;
	const bool turns = !t->def.fixed_rotation && in->turn_stiffness_Nm_per_rad > 0;
	tac_pivot *p = &t->pivot;
	tac_contact_lines lines;
	int32_t first = 0;
	memset(&lines, 0, sizeof lines);
	p->count = rows->count;
	for (int32_t i = 0; i < rows->count; i++) {
		const tac_contact_line *l = rows->lines[i];
		lines.nx[i] = l->normal.x;
		lines.ny[i] = l->normal.y;
		lines.nz[i] = l->normal.z;
		lines.tx[i] = l->turn_m.x;
		lines.ty[i] = l->turn_m.y;
		lines.tz[i] = l->turn_m.z;
		p->b[i] = l->gap_m - tac_dvec3_dot(l->normal, ahead.v) - tac_dvec3_dot(l->turn_m, ahead.w);
		p->load[i] = rows->share[i] * l->load_N;
	}
	t->couple(&lines, p->count, held ? 0 : 1 / in->stiffness_N_per_m,
		  held || !turns ? 0 : 1 / in->turn_stiffness_Nm_per_rad, p->P);
	for (int32_t k = 0; k < t->sheet_count; k++) {
		const tac_contact_sheet *s = t->sheets[k];
		t->project(&s->blocks, &lines, first, t->now / s->share, p->P);
		for (int32_t i = 0; i < s->count; i++)
			p->P[first + i][first + i] +=
				t->now / s->share *
				(s->rows[i].own_m_per_N + (s->rows[i].whole ? 0 : s->rows[i].soft_m_per_N));
		first += s->count;
	}
	for (int32_t i = 0; i < p->count; i++) {
		if (i >= first)
			p->P[i][i] += RIGID_COMPLIANCE;
		for (int32_t j = 0; j < i; j++)
			p->P[j][i] = p->P[i][j];
	}
}

tac_wrench tac_contact_wrench(const tac_tissue *tissue, int32_t walls)
{
	const tac_tissue *t = tissue;
	tac_wrench w = {tac_dvec3_zero(), tac_dvec3_zero()};
	for (int32_t k = 0; k < t->sheet_count; k++) {
		const tac_contact_sheet *s = t->sheets[k];
		for (int32_t i = 0; i < s->count; i++) {
			const tac_contact_line *l = &s->rows[i].line;
			w.force_N = tac_dvec3_add_scaled(w.force_N, -s->share * l->load_N, l->normal);
			w.torque_Nm = tac_dvec3_add_scaled(w.torque_Nm, -s->share * l->load_N, l->turn_m);
		}
	}
	for (int32_t i = 0; i < walls; i++) {
		const tac_contact_line *l = &t->walls[i].line;
		w.force_N = tac_dvec3_add_scaled(w.force_N, -l->load_N, l->normal);
		w.torque_Nm = tac_dvec3_add_scaled(w.torque_Nm, -l->load_N, l->turn_m);
	}
	return w;
}

static tac_dpose yielded(const tac_tissue *t, tac_dpose from, tac_dtwist ahead, int32_t walls)
{
	const tac_dtwist back = yielding(t, tac_contact_wrench(t, walls));
	return tac_dpose_after(from, tac_dtwist_add(ahead, back), 1);
}

tac_dpose tac_tissue_balance(tac_tissue *tissue, tac_dpose T_body_tool, bool held, tac_dpose *out_aim)
{
	tac_tissue *t = tissue;
	const tac_dtwist ahead = held ? tac_dtwist_zero() : to_device(t, T_body_tool);
	problem rows;
	linearise(t, T_body_tool);
	list_rows(t, held, &rows);
	assemble(t, &rows, ahead, held);
	if (!tac_pivot_solve(&t->pivot))
		t->state.flags |= TAC_TISSUE_SPENT;
	t->state.factorisations += t->pivot.factorisations;
	for (int32_t i = 0; i < rows.count; i++)
		rows.lines[i]->load_N = t->pivot.load[i] / rows.share[i];
	*out_aim = held ? T_body_tool : yielded(t, T_body_tool, ahead, t->stop_count);
	return held ? T_body_tool : yielded(t, T_body_tool, ahead, t->wall_count);
}

static void find_past(tac_tissue *t, tac_contact_sheet *s)
{
	tac_contact_vectors forces = {{0}, {0}, {0}}, past = {{0}, {0}, {0}};
	if (t->after > 0) {
		for (int32_t i = 0; i < s->count; i++) {
			put(&forces, i, tac_dvec3_scale(s->rows[i].creep_N, t->after));
			put(&past, i, tac_dvec3_scale(s->rows[i].elsewhere_m, t->after));
		}
		t->displace(&s->blocks, &forces, &past);
	}
	for (int32_t i = 0; i < s->count; i++) {
		tac_contact_row *r = &s->rows[i];
		r->past_m = tac_dvec3_add_scaled(get(&past, i), t->after * r->own_m_per_N, r->creep_N);
		if (t->beside_count > 0)
			r->past_m =
				tac_dvec3_add(r->past_m, tac_compliance_sums_at(&t->beside_sums, r->point));
	}
}

void tac_contact_begin_rows(tac_tissue *tissue)
{
	for (int32_t k = 0; k < tissue->sheet_count; k++)
		find_past(tissue, tissue->sheets[k]);
}

static void displace_sheet(const tac_tissue *t, tac_contact_sheet *s)
{
	tac_contact_vectors forces = {{0}, {0}, {0}}, moved = {{0}, {0}, {0}};
	for (int32_t i = 0; i < s->count; i++) {
		const tac_contact_row *r = &s->rows[i];
		put(&forces, i, tac_dvec3_scale(r->line.normal, t->now * r->line.load_N));
		put(&moved, i, r->past_m);
	}
	t->displace(&s->blocks, &forces, &moved);
	for (int32_t i = 0; i < s->count; i++)
		s->rows[i].moved_m =
			tac_dvec3_add_scaled(get(&moved, i), s->rows[i].own_m_per_N, get(&forces, i));
}

void tac_contact_displace_rows(tac_tissue *tissue)
{
	for (int32_t k = 0; k < tissue->sheet_count; k++)
		displace_sheet(tissue, tissue->sheets[k]);
}

// The mean displacement of a sheet along a direction by a force along it, both with the loads as weights.
static double drag_of(const tac_tissue *t, const tac_contact_sheet *s, tac_dvec3 along)
{
	tac_contact_vectors forces = {{0}, {0}, {0}}, moved = {{0}, {0}, {0}};
	double load = 0, sum = 0;
	for (int32_t i = 0; i < s->count; i++)
		load += s->rows[i].line.load_N;
	for (int32_t i = 0; i < s->count && load > 0; i++)
		put(&forces, i, tac_dvec3_scale(along, s->rows[i].line.load_N / load));
	t->displace(&s->blocks, &forces, &moved);
	for (int32_t i = 0; i < s->count; i++)
		sum += tac_dvec3_dot(get(&forces, i), get(&moved, i));
	return sum;
}

double tac_tissue_drag_m_per_N(const tac_tissue *tissue)
{
	const tac_tissue *t = tissue;
	const tac_dvec3 normal = t->state.normal;
	if (!(t->state.load_N > 0))
		return 0;
	const tac_dvec3 least = fabs(normal.x) < 0.6 ? tac_dvec3_make(1, 0, 0) : tac_dvec3_make(0, 1, 0);
	const tac_dvec3 a = tac_dvec3_normalize(tac_dvec3_cross(normal, least)),
			b = tac_dvec3_cross(normal, a);
	double stiffness = 0; // sheets are side by side
	for (int32_t k = 0; k < t->sheet_count; k++) {
		const double drag = 0.5 * (drag_of(t, t->sheets[k], a) + drag_of(t, t->sheets[k], b));
		stiffness += drag > 0 ? t->sheets[k]->share / drag : 0;
	}
	return stiffness > 0 ? 1 / stiffness : 0;
}
