// The compliance as the tick reads it, where clusters are far from each other. The work is bounded by the
// numbers of points and forces; sums are in a fixed order, whatever the processor.
#include "tissue/compliance.h"

#define RANK TAC_COMPLIANCE_RANK

static uint32_t pair_of(const tac_compliance *c, size_t a, size_t b)
{
	return a >= b ? c->pairs[a * (a + 1) / 2 + b] : c->pairs[b * (b + 1) / 2 + a];
}

static const float *basis_of(const tac_compliance *c, int32_t point)
{
	return c->basis + (size_t)point * 3 * RANK;
}

// U_i S.
static void multiply(const float *S, const float *U_i, float out[3][RANK])
{
	memset(out, 0, 3 * sizeof *out);
	for (int l = 0; l < RANK; l++) {
		for (int r = 0; r < 3; r++) {
			for (int k = 0; k < RANK; k++)
				out[r][k] += U_i[r * RANK + l] * S[l * RANK + k];
		}
	}
}

static float dot(const float *a, const float *b)
{
	float sum[4] = {0};
	for (int k = 0; k < RANK; k += 4) {
		for (int n = 0; n < 4; n++)
			sum[n] += a[k + n] * b[k + n];
	}
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// U_i S^T.
static void multiply_turned(const float *S, const float *U_i, float out[3][RANK])
{
	for (int r = 0; r < 3; r++) {
		for (int l = 0; l < RANK; l++)
			out[r][l] = dot(S + l * RANK, U_i + r * RANK);
	}
}

tac_mat3 tac_compliance_far_block(const float *S, const float *U_i, const float *U_j)
{
	float half[3][RANK];
	tac_mat3 out;
	multiply(S, U_i, half);
	for (int k = 0; k < 9; k++)
		out.m[k / 3][k % 3] = dot(half[k / 3], U_j + k % 3 * RANK);
	return out;
}

// ---- the displacements under many forces ----

// Forces that are taken together: as many clusters at most.
#define TOGETHER 64

typedef struct far_forces {
	int32_t count;
	uint16_t cluster[TOGETHER];
	float of[TOGETHER][RANK]; // the sum of U_j^T f_j of each cluster
	uint8_t slot[TOGETHER];   // of each force: its cluster in this list
} far_forces;

static void sum_forces(const tac_compliance *c, const tac_compliance_force *forces, int32_t count,
		       far_forces *out)
{
	out->count = 0;
	for (int32_t j = 0; j < count; j++) {
		const uint16_t cluster = c->place[forces[j].point].cluster;
		int32_t k = 0;
		while (k < out->count && out->cluster[k] != cluster)
			k++;
		if (k == out->count) {
			out->cluster[out->count++] = cluster;
			memset(out->of[k], 0, sizeof out->of[k]);
		}
		out->slot[j] = (uint8_t)k;
		const float f[3] = {(float)forces[j].force_N.x, (float)forces[j].force_N.y,
				    (float)forces[j].force_N.z};
		for (int r = 0; c->basis && r < 3; r++) {
			const float *U = basis_of(c, forces[j].point) + r * RANK;
			for (int l = 0; l < RANK; l++)
				out->of[k][l] += U[l] * f[r];
		}
	}
}

// The sum of S f over the clusters of the forces that are far from cluster a; which they are.
static void sum_far(const tac_compliance *c, size_t a, const far_forces *f, float out[RANK],
		    bool is_far[TOGETHER])
{
	memset(out, 0, RANK * sizeof *out);
	for (int32_t k = 0; k < f->count; k++) {
		const uint32_t pair = pair_of(c, a, f->cluster[k]);
		const float *S = c->blocks + (size_t)(pair & ~TAC_COMPLIANCE_FAR) * 16;
		is_far[k] = pair & TAC_COMPLIANCE_FAR;
		if (!is_far[k])
			continue;
		for (int l = 0; l < RANK; l++) {
			if (a >= f->cluster[k]) {
				out[l] += dot(S + l * RANK, f->of[k]);
				continue;
			}
			for (int m = 0; m < RANK; m++)
				out[m] += S[l * RANK + m] * f->of[k][l];
		}
	}
}

static void displace(const tac_compliance *c, const tac_compliance_force *forces, int32_t force_count,
		     const int32_t *points, int32_t count, tac_dvec3 *out_m)
{
	far_forces f;
	float sum[RANK];
	bool is_far[TOGETHER];
	int32_t last = -1; // cluster
	sum_forces(c, forces, force_count, &f);
	for (int32_t i = 0; i < count; i++) {
		const int32_t point = points ? points[i] : i, cluster = c->place[point].cluster;
		if (cluster != last) {
			sum_far(c, (size_t)cluster, &f, sum, is_far);
			last = cluster;
		}
		tac_dvec3 u = out_m[i];
		if (c->basis) {
			const float *U = basis_of(c, point);
			u = tac_dvec3_add(u, tac_dvec3_make((double)dot(U, sum), (double)dot(U + RANK, sum),
							    (double)dot(U + 2 * RANK, sum)));
		}
		for (int32_t j = 0; j < force_count; j++) {
			if (is_far[f.slot[j]])
				continue;
			const tac_mat3 C = tac_compliance_block(c, point, forces[j].point);
			u = tac_dvec3_add(u, tac_dmat3_apply(tac_dmat3_from_mat3(C), forces[j].force_N));
		}
		out_m[i] = u;
	}
}

void tac_compliance_displace(const tac_compliance *c, const tac_compliance_force *forces, int32_t force_count,
			     const int32_t *points, int32_t count, tac_dvec3 *out_m)
{
	for (int32_t i = 0; i < count; i++)
		out_m[i] = tac_dvec3_zero();
	for (int32_t first = 0; first < force_count; first += TOGETHER)
		displace(c, forces + first, force_count - first < TOGETHER ? force_count - first : TOGETHER,
			 points, count, out_m);
}

// ---- the blocks of a row ----

#define REMEMBERED 8 // clusters whose U_i S is kept

void tac_compliance_row(const tac_compliance *c, int32_t i, const int32_t *points, int32_t count,
			tac_mat3 *out)
{
	float half[REMEMBERED][3][RANK];
	int32_t cluster[REMEMBERED], used = 0;
	const size_t a = c->place[i].cluster;
	for (int32_t k = 0; k < count; k++) {
		const int32_t j = points[k], b = c->place[j].cluster;
		const uint32_t pair = pair_of(c, a, (size_t)b);
		if (!(pair & TAC_COMPLIANCE_FAR)) {
			out[k] = tac_compliance_block(c, i, j);
			continue;
		}
		int32_t n = 0;
		while (n < used && n < REMEMBERED && cluster[n] != b)
			n++;
		if (n == used || n == REMEMBERED) {
			n = used++ % REMEMBERED;
			cluster[n] = b;
			const float *S = c->blocks + (size_t)(pair & ~TAC_COMPLIANCE_FAR) * 16;
			if (a >= (size_t)b)
				multiply(S, basis_of(c, i), half[n]);
			else
				multiply_turned(S, basis_of(c, i), half[n]);
		}
		for (int e = 0; e < 9; e++)
			out[k].m[e / 3][e % 3] = dot(half[n][e / 3], basis_of(c, j) + e % 3 * RANK);
	}
}
