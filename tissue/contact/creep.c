// The rows of a sheet, and the forces that creep. A row stays in its place while it is in reach, so that
// blocks and sums over what creeps elsewhere are found once, when it comes.
#include "tissue/contact/contact_state.h"

#include <math.h>
#include <string.h>

// A smaller force that follows a load is forgotten, N.
#define CREEP_MIN_N 1e-7

static bool is_small(tac_dvec3 creep_N)
{
	return !(tac_dvec3_length_squared(creep_N) >= CREEP_MIN_N * CREEP_MIN_N);
}

// Adds to each row what a force on a point that is no row displaces.
static void displace_by(tac_tissue *t, tac_contact_sheet *s, int32_t point, tac_dvec3 force_N)
{
	const tac_contact_pull pull = {point, force_N};
	tac_compliance_sums_begin(&t->sums, t->def.compliance, &pull, 1);
	for (int32_t i = 0; i < s->count; i++)
		s->rows[i].elsewhere_m = tac_dvec3_add(s->rows[i].elsewhere_m,
						       tac_compliance_sums_at(&t->sums, s->rows[i].point));
}

// Adds to each of the first rows what a force on the point of a row displaces.
static void displace_by_row(tac_contact_sheet *s, int32_t count, int32_t row, tac_dvec3 force_N)
{
	float(*c)[CONTACT_POINTS] = s->blocks.of[row];
	for (int32_t i = 0; i < count; i++) {
		double u[3]; // by the columns of a row's blocks, which are the rows of the others
		for (int a = 0; a < 3; a++)
			u[a] = (double)c[a][i] * force_N.x + (double)c[3 + a][i] * force_N.y +
			       (double)c[6 + a][i] * force_N.z;
		s->rows[i].elsewhere_m =
			tac_dvec3_add(s->rows[i].elsewhere_m, tac_dvec3_make(u[0], u[1], u[2]));
	}
}

static void forget(tac_tissue *t, tac_contact_sheet *s, int32_t at)
{
	t->crept[s->elsewhere[at].point] = 0;
	s->elsewhere[at] = s->elsewhere[--s->elsewhere_count];
	if (at < s->elsewhere_count)
		t->crept[s->elsewhere[at].point] = at + 1;
}

bool tac_contact_creep_elsewhere(tac_tissue *tissue, tac_contact_sheet *sheet, int32_t point,
				 tac_dvec3 creep_N)
{
	tac_tissue *t = tissue;
	tac_contact_sheet *s = sheet;
	if (is_small(creep_N))
		return false;
	if (s->elsewhere_count == TAC_TISSUE_CREEPING) {
		int32_t least = 0;
		for (int32_t k = 1; k < s->elsewhere_count; k++) {
			if (tac_dvec3_length_squared(s->elsewhere[k].force_N) <
			    tac_dvec3_length_squared(s->elsewhere[least].force_N))
				least = k;
		}
		const tac_contact_pull out = s->elsewhere[least];
		if (!(tac_dvec3_length_squared(creep_N) > tac_dvec3_length_squared(out.force_N)))
			return false;
		forget(t, s, least);
		displace_by(t, s, out.point, tac_dvec3_neg(out.force_N));
	}
	s->elsewhere[s->elsewhere_count++] = (tac_contact_pull){point, creep_N};
	t->crept[point] = s->elsewhere_count;
	return true;
}

// The blocks of the last row with all others.
static void read_blocks(const tac_compliance *c, tac_contact_sheet *s)
{
	tac_contact_blocks *blocks = &s->blocks;
	const int32_t i = s->count - 1;
	int32_t points[TAC_TISSUE_ROWS];
	tac_mat3 C[TAC_TISSUE_ROWS];
	for (int32_t j = 0; j <= i; j++)
		points[j] = s->rows[j].point;
	tac_compliance_row(c, points[i], points, s->count, C);
	blocks->count = s->count;
	memset(blocks->of[i], 0, sizeof blocks->of[i]);
	for (int32_t j = 0; j <= i; j++) {
		for (int a = 0; a < 3; a++) {
			for (int b = 0; b < 3; b++)
				blocks->of[i][3 * a + b][j] = blocks->of[j][3 * b + a][i] = C[j].m[a][b];
		}
	}
}

static void add_row(tac_tissue *t, tac_contact_sheet *s, const tac_contact_new *p, tac_dvec3 creep_N)
{
	const tac_compliance *c = t->def.compliance;
	s->rows[s->count++] = (tac_contact_row){
		.point = p->point,
		.rest_m = t->spreads[p->point].mean_m,
		.into = tac_dvec3_neg(tac_dvec3_from_vec3(c->point_normals[p->point])),
		.creep_N = creep_N,
		.elsewhere_m = s->elsewhere_count > 0 ? tac_compliance_sums_at(&t->sums, p->point)
						      : tac_dvec3_zero(),
		.moved_m = p->moved_m,
		.line = {.load_N = p->load_N},
	};
	t->slot[p->point] = s->count;
	read_blocks(c, s);
}

void tac_contact_add_rows(tac_tissue *tissue, tac_contact_sheet *sheet, const tac_contact_new *points,
			  int32_t count)
{
	tac_tissue *t = tissue;
	tac_contact_sheet *s = sheet;
	const int32_t old = s->count;
	tac_dvec3 creep[TAC_TISSUE_ROWS];
	for (int32_t k = 0; k < count; k++) {
		const int32_t at = t->crept[points[k].point] - 1;
		creep[k] = at >= 0 ? s->elsewhere[at].force_N : tac_dvec3_zero();
		if (at >= 0)
			forget(t, s, at);
	}
	if (count > 0 && s->elsewhere_count > 0)
		tac_compliance_sums_begin(&t->sums, t->def.compliance, s->elsewhere, s->elsewhere_count);
	for (int32_t k = 0; k < count; k++) {
		add_row(t, s, &points[k], creep[k]);
		if (tac_dvec3_length_squared(creep[k]) > 0) // no longer elsewhere
			displace_by_row(s, old, s->count - 1, tac_dvec3_neg(creep[k]));
	}
}

void tac_contact_remove_row(tac_tissue *tissue, tac_contact_sheet *sheet, int32_t row)
{
	tac_tissue *t = tissue;
	tac_contact_sheet *s = sheet;
	tac_contact_blocks *blocks = &s->blocks;
	const tac_contact_row gone = s->rows[row];
	if (tac_contact_creep_elsewhere(t, s, gone.point, gone.creep_N))
		displace_by_row(s, s->count, row, gone.creep_N);
	const int32_t last = --s->count;
	t->slot[gone.point] = 0;
	for (int32_t i = 0; i <= last; i++) {
		for (int k = 0; k < 9; k++) {
			blocks->of[i][k][row] = blocks->of[i][k][last];
			blocks->of[i][k][last] = 0;
		}
	}
	if (row < last) {
		memcpy(blocks->of[row], blocks->of[last], sizeof blocks->of[row]);
		s->rows[row] = s->rows[last];
		t->slot[s->rows[row].point] = row + 1;
	}
	blocks->count = s->count;
}

void tac_contact_clear(tac_tissue *tissue, tac_contact_sheet *sheet)
{
	for (int32_t i = 0; i < sheet->count; i++)
		tissue->slot[sheet->rows[i].point] = 0;
	for (int32_t i = 0; i < sheet->elsewhere_count; i++)
		tissue->crept[sheet->elsewhere[i].point] = 0;
	sheet->count = sheet->elsewhere_count = sheet->in_reach = 0;
	sheet->blocks.count = 0;
	sheet->size = 0;
}

static int32_t add_pull(tac_contact_pull *pulls, int32_t count, int32_t point, tac_dvec3 force_N)
{
	if (!(tac_dvec3_length_squared(force_N) > 0))
		return count;
	pulls[count] = (tac_contact_pull){point, force_N};
	return count + 1;
}

int32_t tac_contact_pulls(const tac_contact_sheet *sheet, double now, double after, tac_contact_pull *out)
{
	const tac_contact_sheet *s = sheet;
	int32_t count = 0;
	for (int32_t i = 0; i < s->count; i++) {
		const tac_contact_row *r = &s->rows[i];
		count = add_pull(out, count, r->point,
				 tac_dvec3_add_scaled(tac_dvec3_scale(r->creep_N, after),
						      now * r->line.load_N, r->line.normal));
	}
	for (int32_t i = 0; i < s->elsewhere_count; i++)
		count = add_pull(out, count, s->elsewhere[i].point,
				 tac_dvec3_scale(s->elsewhere[i].force_N, after));
	return count;
}

// By implicit Euler, q follows f: q' = (q + r f) / (1 + r) with r the elapsed part of the time constant.
static void creep_sheet(tac_tissue *t, tac_contact_sheet *s, double r)
{
	const double left = 1 / (1 + r);
	for (int32_t i = 0; i < s->count; i++) {
		tac_contact_row *row = &s->rows[i];
		row->creep_N = tac_dvec3_scale(
			tac_dvec3_add_scaled(row->creep_N, r * row->line.load_N, row->line.normal), left);
		row->elsewhere_m = tac_dvec3_scale(row->elsewhere_m, left);
	}
	for (int32_t i = s->elsewhere_count - 1; i >= 0; i--) {
		s->elsewhere[i].force_N = tac_dvec3_scale(s->elsewhere[i].force_N, left);
		if (is_small(s->elsewhere[i].force_N))
			forget(t, s, i); // what it displaces fades with the others
	}
}

void tac_contact_creep(tac_tissue *tissue)
{
	const tac_compliance_material *m = &tissue->def.compliance->material;
	if (!(m->creep > 0))
		return;
	for (int32_t k = 0; k < tissue->sheet_count; k++)
		creep_sheet(tissue, tissue->sheets[k], tissue->input.elapsed_s / m->creep_time_s);
	if (tissue->joining)
		creep_sheet(tissue, tissue->joining, tissue->input.elapsed_s / m->creep_time_s);
}
