#include "tissue/contact/contact_state.h"

#include <math.h>
#include <string.h>

// Compliance of a rigid row, m/N: rows that depend on each other share a load.
#define RIGID_COMPLIANCE 1e-9

// A motion of the tool: its origin by v while it turns by w.
typedef struct twist {
	tac_dvec3 v, w;
} twist;

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
static twist yielding(const tac_tissue *t, tac_wrench w)
{
	const tac_tissue_input *in = &t->input;
	const bool turns = !t->def.fixed_rotation && in->turn_stiffness_Nm_per_rad > 0;
	return (twist){tac_dvec3_scale(w.force_N, 1 / in->stiffness_N_per_m),
		       turns ? tac_dvec3_scale(w.torque_Nm, 1 / in->turn_stiffness_Nm_per_rad)
			     : tac_dvec3_zero()};
}

// To where the coupling would take the tool without loads: to the device, but for what is carried.
static twist to_device(const tac_tissue *t, tac_dpose from)
{
	const tac_dpose to = t->input.T_body_device;
	const twist carried = yielding(t, t->carried);
	const tac_dvec3 turn =
		t->def.fixed_rotation
			? tac_dvec3_zero()
			: tac_dquat_log(tac_dquat_mul(to.rotation, tac_dquat_conjugate(from.rotation)));
	return (twist){tac_dvec3_add(tac_dvec3_sub(to.position, from.position), carried.v),
		       tac_dvec3_add(turn, carried.w)};
}

static tac_dpose after(tac_dpose pose, twist m)
{
	return tac_dpose_make(tac_dvec3_add(pose.position, m.v),
			      tac_dquat_mul(tac_dquat_exp(m.w), pose.rotation));
}

tac_tool_gap tac_tissue_gap(const tac_tissue *tissue, int32_t point, tac_dvec3 moved_m, tac_dpose T_body_tool,
			    tac_dpose T_tool_body)
{
	const tac_tissue *t = tissue;
	const tac_contact_spread *s = &t->spreads[point];
	const tac_dvec3 into = tac_dvec3_neg(tac_dvec3_from_vec3(t->def.compliance->point_normals[point]));
	const tac_dvec3 at = tac_dvec3_add(s->mean_m, moved_m);
	tac_tool_gap g = tac_tool_gap_of(&t->def.tool, tac_dpose_apply_point(T_tool_body, at),
					 tac_dpose_apply_vector(T_tool_body, into));
	g.normal = tac_dpose_apply_vector(T_body_tool, g.normal);
	g.straight = tac_dpose_apply_vector(T_body_tool, g.straight);
	// A tool that is not flat bends away from the nodes around the mean.
	const double *m = s->second_m2;
	const double across = m[0] + m[1] + m[2] - moment(m, g.normal) - moment(m, g.straight);
	g.gap_m += 0.5 * g.bend_per_m * across;
	g.foot_m = tac_dvec3_add_scaled(at, -g.gap_m, g.normal);
	return g;
}

// Gap, normal and lever of each row with the tool at a pose. The gap leaves out what the row's own loads
// displace.
static void linearise(tac_tissue *t, tac_dpose T_body_tool)
{
	const tac_dpose T_tool_body = tac_dpose_inverse(T_body_tool);
	for (int32_t i = 0; i < t->row_count; i++) {
		tac_contact_row *r = &t->rows[i];
		tac_dvec3 foot;
		if (r->point < 0) {
			foot = tac_dpose_apply_point(T_body_tool, r->tool_m);
		} else {
			const tac_tool_gap g =
				tac_tissue_gap(t, r->point, r->moved_m, T_body_tool, T_tool_body);
			r->normal = g.normal;
			foot = g.foot_m;
		}
		r->turn_m = tac_dvec3_cross(tac_dvec3_sub(foot, T_body_tool.position), r->normal);
		r->gap_m = tac_dvec3_dot(r->normal, tac_dvec3_sub(tac_dvec3_add(r->rest_m, r->past_m), foot));
	}
}

// What a pair of rows gives way by the coupling, m/N.
static double coupling_share(const tac_contact_row *a, const tac_contact_row *b, double along, double about)
{
	return along * tac_dvec3_dot(a->normal, b->normal) +
	       (about > 0 ? about * tac_dvec3_dot(a->turn_m, b->turn_m) : 0);
}

static void assemble(tac_tissue *t, tac_dpose T_body_tool, bool held)
{
	const tac_tissue_input *in = &t->input;
	const double along = held ? 0 : 1 / in->stiffness_N_per_m;
	const double about = held || t->def.fixed_rotation || !(in->turn_stiffness_Nm_per_rad > 0)
				     ? 0
				     : 1 / in->turn_stiffness_Nm_per_rad;
	const twist ahead = held ? (twist){tac_dvec3_zero(), tac_dvec3_zero()} : to_device(t, T_body_tool);
	tac_pivot *p = &t->pivot;
	tac_contact_vectors normals = {{0}, {0}, {0}};
	for (int32_t i = 0; i < t->point_count; i++)
		put(&normals, i, t->rows[i].normal);
	t->project(&t->blocks, &normals, t->elastic);
	p->count = t->row_count;
	for (int32_t i = 0; i < t->row_count; i++) {
		const tac_contact_row *a = &t->rows[i];
		for (int32_t j = 0; j <= i; j++) {
			double sum = coupling_share(a, &t->rows[j], along, about);
			if (i < t->point_count)
				sum += t->now * t->elastic[i][j];
			else if (i == j)
				sum += RIGID_COMPLIANCE;
			p->P[i][j] = p->P[j][i] = sum;
		}
		p->b[i] = a->gap_m - tac_dvec3_dot(a->normal, ahead.v) - tac_dvec3_dot(a->turn_m, ahead.w);
		p->load[i] = a->load_N;
	}
}

// The motion by which the coupling yields to the first `count` rows, taken from what is left to the device.
static twist yield(const tac_tissue *t, twist left, int32_t count)
{
	tac_wrench w = {tac_dvec3_zero(), tac_dvec3_zero()};
	for (int32_t i = 0; i < count; i++) {
		const tac_contact_row *r = &t->rows[i];
		w.force_N = tac_dvec3_add_scaled(w.force_N, r->load_N, r->normal);
		w.torque_Nm = tac_dvec3_add_scaled(w.torque_Nm, r->load_N, r->turn_m);
	}
	const twist back = yielding(t, w);
	return (twist){tac_dvec3_sub(left.v, back.v), tac_dvec3_sub(left.w, back.w)};
}

tac_dpose tac_tissue_balance(tac_tissue *tissue, tac_dpose T_body_tool, bool held, tac_dpose *out_aim)
{
	tac_tissue *t = tissue;
	linearise(t, T_body_tool);
	assemble(t, T_body_tool, held);
	if (!tac_pivot_solve(&t->pivot))
		t->state.flags |= TAC_TISSUE_SPENT;
	t->state.factorisations += t->pivot.factorisations;
	for (int32_t i = 0; i < t->row_count; i++)
		t->rows[i].load_N = t->pivot.load[i];
	*out_aim = T_body_tool;
	if (held)
		return T_body_tool;
	const twist left = to_device(t, T_body_tool);
	*out_aim = after(T_body_tool, yield(t, left, t->tissue_count));
	return after(T_body_tool, yield(t, left, t->row_count));
}

void tac_tissue_begin_rows(tac_tissue *tissue)
{
	tac_tissue *t = tissue;
	const tac_compliance *c = t->def.compliance;
	const int32_t count = t->point_count;
	tac_contact_blocks *blocks = &t->blocks;
	blocks->count = count;
	for (int32_t i = 0; i < count; i++) {
		for (int k = 0; k < 9; k++) {
			for (int32_t j = count; j < CONTACT_POINTS && j < count + 8; j++)
				blocks->of[i][k][j] = 0;
		}
		for (int32_t j = 0; j <= i; j++) {
			const tac_mat3 C = tac_compliance_block(c, t->rows[i].point, t->rows[j].point);
			for (int a = 0; a < 3; a++) {
				for (int b = 0; b < 3; b++)
					blocks->of[i][3 * a + b][j] = blocks->of[j][3 * b + a][i] = C.m[a][b];
			}
		}
	}
	// What creeps is mostly what is pressed.
	tac_contact_vectors forces = {{0}, {0}, {0}};
	tac_tissue_pulls elsewhere = {.count = 0};
	memset(&t->past, 0, sizeof t->past);
	bool any = false;
	for (int32_t k = 0; k < t->before.count; k++) {
		const tac_tissue_pull *pull = &t->before.of[k];
		const int32_t row = t->slot[pull->point] - 1;
		if (row < 0) {
			elsewhere.of[elsewhere.count++] = *pull;
			continue;
		}
		put(&forces, row, tac_dvec3_add(get(&forces, row), pull->force_N));
		any = true;
	}
	if (any)
		t->displace(blocks, &forces, &t->past);
	for (int32_t i = 0; i < count; i++) {
		const tac_dvec3 u = tac_tissue_displacement(c, t->rows[i].point, &elsewhere);
		put(&t->past, i, tac_dvec3_add(get(&t->past, i), u));
		t->rows[i].past_m = get(&t->past, i);
	}
}

void tac_tissue_displace_rows(tac_tissue *tissue)
{
	tac_tissue *t = tissue;
	tac_contact_vectors forces = {{0}, {0}, {0}}, moved = t->past;
	for (int32_t i = 0; i < t->point_count; i++)
		put(&forces, i, tac_dvec3_scale(t->rows[i].normal, t->now * t->rows[i].load_N));
	t->displace(&t->blocks, &forces, &moved);
	for (int32_t i = 0; i < t->point_count; i++)
		t->rows[i].moved_m = get(&moved, i);
}
