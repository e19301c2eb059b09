// The compliance as the tick reads it, where clusters are far from each other. The work is bounded by the
// numbers of points and forces; sums are in a fixed order, whatever the processor.
#include "tissue/compliance/sums.h"

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

// U_i S U_j^T.
static tac_mat3 far_block(const float *S, const float *U_i, const float *U_j)
{
	float half[3][RANK];
	tac_mat3 out;
	multiply(S, U_i, half);
	for (int k = 0; k < 9; k++)
		out.m[k / 3][k % 3] = dot(half[k / 3], U_j + k % 3 * RANK);
	return out;
}

tac_mat3 tac_compliance_block(const tac_compliance *c, int32_t i, int32_t j)
{
	const bool swap = c->place[i].cluster < c->place[j].cluster;
	const int32_t p = swap ? j : i, q = swap ? i : j;
	const size_t a = c->place[p].cluster, b = c->place[q].cluster;
	const uint32_t pair = c->pairs[a * (a + 1) / 2 + b];
	const float *numbers = c->blocks + (size_t)(pair & ~TAC_COMPLIANCE_FAR) * 16;
	tac_mat3 C;
	if (pair & TAC_COMPLIANCE_FAR) {
		C = far_block(numbers, basis_of(c, p), basis_of(c, q));
	} else {
		const size_t at = (size_t)c->place[p].slot * (size_t)c->cluster_size[b] + c->place[q].slot;
		memcpy(&C, numbers + 9 * at, sizeof C);
	}
	return swap ? tac_mat3_transpose(C) : C;
}

// ---- the displacements under many forces ----

// The place of each force's cluster in the list of clusters, and how many forces each cluster has.
static void list_clusters(tac_compliance_sums *s, const tac_compliance_force *forces, int32_t count,
			  int32_t *place)
{
	const tac_compliance *c = s->compliance;
	memset(s->start, 0, sizeof s->start);
	for (int32_t j = 0, k = 0; j < count; j++) {
		const int32_t cluster = c->place[forces[j].point].cluster;
		if (s->count == 0 || s->cluster[k] != cluster) { // neighbours are often in one cluster
			k = 0;
			while (k < s->count && s->cluster[k] != cluster)
				k++;
		}
		if (k == s->count) {
			s->cluster[s->count] = cluster;
			s->is_projected[s->count++] = false;
		}
		place[j] = k;
		s->start[k + 1]++;
	}
	for (int32_t k = 0; k < s->count; k++)
		s->start[k + 1] += s->start[k];
}

void tac_compliance_sums_begin(tac_compliance_sums *sums, const tac_compliance *compliance,
			       const tac_compliance_force *forces, int32_t count)
{
	tac_compliance_sums *s = sums;
	int32_t place[TAC_COMPLIANCE_SUMS], next[TAC_COMPLIANCE_SUMS];
	s->compliance = compliance;
	s->count = s->view_count = 0;
	list_clusters(s, forces, count, place);
	memcpy(next, s->start, sizeof next);
	for (int32_t j = 0; j < count; j++) {
		compliance_pull *p = &s->pulls[next[place[j]]++];
		const double f[3] = {forces[j].force_N.x, forces[j].force_N.y, forces[j].force_N.z};
		p->point = forces[j].point;
		p->slot = compliance->place[p->point].slot;
		for (int k = 0; k < 9; k++) {
			p->along[k] = f[k % 3];
			p->across[k] = f[k / 3];
		}
	}
}

// The forces of a cluster in its basis.
static const float *project(tac_compliance_sums *s, int32_t k)
{
	float *out = s->projected[k];
	if (s->is_projected[k])
		return out;
	s->is_projected[k] = true;
	memset(out, 0, sizeof s->projected[k]);
	for (int32_t j = s->start[k]; j < s->start[k + 1]; j++) {
		const float *U = basis_of(s->compliance, s->pulls[j].point);
		for (int r = 0; r < 3; r++) {
			const float f = (float)s->pulls[j].along[r];
			for (int l = 0; l < RANK; l++)
				out[l] += U[r * RANK + l] * f;
		}
	}
	return out;
}

// Adds S f, or S^T f if the cluster comes before that of the forces.
static void add_far(const float *S, bool turned, const float *f, float *out)
{
	for (int l = 0; l < RANK; l++) {
		if (!turned) {
			out[l] += dot(S + l * RANK, f);
			continue;
		}
		for (int m = 0; m < RANK; m++)
			out[m] += S[l * RANK + m] * f[l];
	}
}

static const compliance_view *view_of(tac_compliance_sums *s, int32_t cluster)
{
	const tac_compliance *c = s->compliance;
	const int32_t kept = s->view_count < COMPLIANCE_ASKED ? s->view_count : COMPLIANCE_ASKED;
	for (int32_t k = 0; k < kept; k++) {
		if (s->views[k].cluster == cluster)
			return &s->views[k];
	}
	compliance_view *v = &s->views[s->view_count++ % COMPLIANCE_ASKED];
	v->cluster = cluster;
	v->near_count = 0;
	memset(v->far, 0, sizeof v->far);
	for (int32_t k = 0; k < s->count; k++) {
		const uint32_t pair = pair_of(c, (size_t)cluster, (size_t)s->cluster[k]);
		if (pair & TAC_COMPLIANCE_FAR)
			add_far(c->blocks + (size_t)(pair & ~TAC_COMPLIANCE_FAR) * 16,
				cluster < s->cluster[k], project(s, k), v->far);
		else
			v->near[v->near_count++] = (uint16_t)k;
	}
	return v;
}

// Adds the products of the blocks of a point and the forces of a near cluster, each where it is in a block.
static void add_near(const tac_compliance_sums *s, int32_t point, int32_t k, double along[9],
		     double across[9])
{
	const tac_compliance *c = s->compliance;
	const size_t a = c->place[point].cluster, b = (size_t)s->cluster[k], slot = c->place[point].slot;
	const float *blocks = c->blocks + (size_t)pair_of(c, a, b) * 16;
	const compliance_pull *p = s->pulls + s->start[k], *end = s->pulls + s->start[k + 1];
	double sum[9];
	if (a >= b) {
		blocks += 9 * slot * (size_t)c->cluster_size[b];
		memcpy(sum, along, sizeof sum);
		for (; p < end; p++) {
			const float *C = blocks + 9 * p->slot;
			for (int e = 0; e < 9; e++)
				sum[e] += (double)C[e] * p->along[e];
		}
		memcpy(along, sum, sizeof sum);
	} else {
		const int32_t row = 9 * c->cluster_size[a];
		blocks += 9 * slot;
		memcpy(sum, across, sizeof sum);
		for (; p < end; p++) {
			const float *C = blocks + row * p->slot;
			for (int e = 0; e < 9; e++)
				sum[e] += (double)C[e] * p->across[e];
		}
		memcpy(across, sum, sizeof sum);
	}
}

tac_dvec3 tac_compliance_sums_at(tac_compliance_sums *sums, int32_t point)
{
	const tac_compliance *c = sums->compliance;
	const compliance_view *v = view_of(sums, c->place[point].cluster);
	double along[9] = {0}, across[9] = {0}, u[3];
	for (int32_t k = 0; k < v->near_count; k++)
		add_near(sums, point, v->near[k], along, across);
	for (int r = 0; r < 3; r++) {
		u[r] = (along[3 * r] + along[3 * r + 1] + along[3 * r + 2]) +
		       (across[r] + across[r + 3] + across[r + 6]);
		if (c->basis)
			u[r] += (double)dot(basis_of(c, point) + r * RANK, v->far);
	}
	return tac_dvec3_make(u[0], u[1], u[2]);
}

void tac_compliance_displace(const tac_compliance *c, const tac_compliance_force *forces, int32_t force_count,
			     const int32_t *points, int32_t count, tac_dvec3 *out_m)
{
	tac_compliance_sums s;
	for (int32_t i = 0; i < count; i++)
		out_m[i] = tac_dvec3_zero();
	for (int32_t first = 0; first < force_count; first += TAC_COMPLIANCE_SUMS) {
		const int32_t left = force_count - first;
		tac_compliance_sums_begin(&s, c, forces + first,
					  left < TAC_COMPLIANCE_SUMS ? left : TAC_COMPLIANCE_SUMS);
		for (int32_t i = 0; i < count; i++)
			out_m[i] =
				tac_dvec3_add(out_m[i], tac_compliance_sums_at(&s, points ? points[i] : i));
	}
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
