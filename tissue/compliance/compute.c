// The numbers of all pairs of clusters, by several threads. Every pair is computed by one thread alone from
// the columns of one cluster, so the result does not depend on their number.
//
// First the columns of the coarsest points, as samples of what comes from afar; of them the basis of every
// cluster; then the columns of each cluster, and what remains of them in the bases. Clusters are far if the
// error that the bases make is small against the diagonals of both.
#include "tissue/compliance/cluster.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 64
#define LOOK_NS     20000000 // how often progress is reported
// Samples further from the border of a cluster than so many spacings of its level make its basis.
#define SEPARATION 6
// The part of the error that is allowed for: the diagonals are estimates. Next to what is fixed they are down
// to 0.57 of them, so that the error over the true ones was 1.4e-3 in a body of 9,837 nodes.
#define ALLOWED 0.8

enum { NOTHING_WRONG, NO_MEMORY, TOO_LARGE, NOT_POSITIVE };

typedef struct work work;
struct work {
	const compliance_header *header;
	const compliance_levels *levels;
	const tac_vec3 *vertices;
	const compliance_clusters *clusters;
	const compliance_source *source;
	compliance_pairs *out;

	float **samples; // the columns of the coarsest clusters; NULL: every block is kept
	compliance_basis *bases;
	tac_dvec3 *centre; // of each cluster
	double *radius_m;
	// The smallest diagonal of the coarsest points around its points, m/N. That of a level's own points
	// is `ratio` of it, estimated before they are computed; `own` is what it turned out to be.
	double *around, *own;
	double ratio[TAC_COMPLIANCE_LEVELS];
	double *error_m_per_N; // of each far pair

	void (*job)(work *, int32_t cluster);
	int32_t jobs;
	atomic_int next, finished, solved; // jobs, jobs, points
	atomic_int wrong;
	atomic_size_t bytes;
};

static int32_t size_of(const work *w, int32_t cluster)
{
	return w->clusters->start[cluster + 1] - w->clusters->start[cluster];
}

static const int32_t *points_of(const work *w, int32_t cluster)
{
	return w->clusters->point + w->clusters->start[cluster];
}

static tac_dvec3 place_of(const work *w, int32_t point)
{
	return tac_dvec3_from_vec3(w->vertices[w->levels->node[point]]);
}

static double apart(tac_dvec3 a, tac_dvec3 b)
{
	return tac_dvec3_length(tac_dvec3_sub(a, b));
}

static void fail(work *w, int wrong)
{
	int expected = NOTHING_WRONG;
	atomic_compare_exchange_strong(&w->wrong, &expected, wrong);
}

// ---- columns ----

// The displacements of the coarser points are the means over their nodes.
static void add_coarse_rows(const work *w, size_t width, float *columns)
{
	const compliance_levels *l = w->levels;
	for (int32_t p = w->header->node_count; p < l->point_count; p++) {
		float *row = columns + (size_t)p * width;
		for (size_t c = 0; c < width; c++) {
			double sum = 0;
			for (int32_t k = l->spread_start[p]; k < l->spread_start[p + 1]; k++)
				sum += (double)l->spread_weight[k] *
				       (double)columns[(size_t)l->spread_node[k] * width + c];
			row[c] = (float)sum;
		}
	}
}

// The columns of a cluster, for the caller to free: 9 numbers for each of its points in the row of each
// point, or of each node only, if it is a cluster of nodes.
static float *columns_of(work *w, int32_t cluster)
{
	const int32_t count = size_of(w, cluster);
	const bool coarse = cluster < w->clusters->nodes_first;
	const size_t rows = (size_t)(coarse ? w->levels->point_count : w->header->node_count);
	const size_t width = 9 * (size_t)count;
	float *columns = malloc(rows * width * sizeof *columns);
	if (!columns || !w->source->columns(w->source->user, w->levels, points_of(w, cluster), count,
					    w->clusters->from[cluster], columns)) {
		fail(w, NO_MEMORY);
		free(columns);
		return NULL;
	}
	if (coarse)
		add_coarse_rows(w, width, columns);
	atomic_fetch_add(&w->solved, count);
	return columns;
}

static void sample(work *w, int32_t cluster)
{
	w->samples[cluster] = columns_of(w, cluster);
}

// ---- bases ----

static void measure(work *w, int32_t cluster)
{
	const int32_t count = size_of(w, cluster), *points = points_of(w, cluster);
	tac_dvec3 sum = tac_dvec3_zero();
	for (int32_t i = 0; i < count; i++)
		sum = tac_dvec3_add(sum, place_of(w, points[i]));
	w->centre[cluster] = tac_dvec3_scale(sum, 1.0 / count);
	for (int32_t i = 0; i < count; i++)
		w->radius_m[cluster] =
			fmax(w->radius_m[cluster], apart(w->centre[cluster], place_of(w, points[i])));
}

// The smallest diagonal of the coarsest point that is nearest to a point.
static double diagonal_near(const work *w, tac_dvec3 at)
{
	const compliance_clusters *c = w->clusters;
	double least_m = HUGE_VAL, diagonal = 0;
	for (int32_t s = 0; s < c->coarsest; s++) {
		for (int32_t k = 0; k < size_of(w, s); k++) {
			const int32_t point = points_of(w, s)[k];
			const double d = apart(at, place_of(w, point));
			if (d >= least_m)
				continue;
			const size_t block = (size_t)point * (size_t)size_of(w, s) + (size_t)k;
			const float *own = w->samples[s] + 9 * block;
			diagonal = (double)fminf(own[0], fminf(own[4], own[8]));
			least_m = d;
		}
	}
	return diagonal;
}

// Appends the displacements of a cluster under the forces on a sample, three columns.
static void append_columns(const work *w, int32_t cluster, int32_t from, int32_t slot, double *to)
{
	const int32_t count = size_of(w, cluster), *points = points_of(w, cluster);
	for (int32_t i = 0; i < count; i++) {
		const float *block =
			w->samples[from] + 9 * ((size_t)points[i] * (size_t)size_of(w, from) + (size_t)slot);
		for (int k = 0; k < 9; k++)
			to[k % 3 * 3 * count + 3 * i + k / 3] = (double)block[k];
	}
}

static int level_of(const work *w, int32_t cluster)
{
	int level = 0;
	while (points_of(w, cluster)[0] >= w->header->level_start[level + 1])
		level++;
	return level;
}

static void find_basis(work *w, int32_t cluster)
{
	const int32_t count = size_of(w, cluster), *points = points_of(w, cluster), rows = 3 * count;
	const int32_t samples = w->clusters->start[w->clusters->coarsest];
	const double reach_m = w->radius_m[cluster] + SEPARATION * w->header->spacing_m[level_of(w, cluster)];
	const size_t room = 3 * (size_t)samples * (size_t)rows;
	double *columns = malloc(room * sizeof *columns), *scratch = malloc(room * sizeof *scratch);
	int32_t used = 0;
	for (int32_t s = 0; columns && scratch && s < w->clusters->coarsest; s++) {
		for (int32_t k = 0; k < size_of(w, s); k++) {
			if (apart(w->centre[cluster], place_of(w, points_of(w, s)[k])) > reach_m) {
				append_columns(w, cluster, s, k, columns + (size_t)used * (size_t)rows);
				used += 3;
			}
		}
	}
	if (columns && scratch)
		tac_compliance_find_basis(rows, used, columns, scratch, &w->bases[cluster]);
	else
		fail(w, NO_MEMORY);
	free(columns);
	free(scratch);
	w->around[cluster] = HUGE_VAL;
	for (int32_t i = 0; i < count; i++)
		w->around[cluster] = fmin(w->around[cluster], diagonal_near(w, place_of(w, points[i])));
}

// The smallest diagonal of the points of a cluster.
static double own_diagonal(const work *w, int32_t cluster, const float *columns)
{
	const int32_t count = size_of(w, cluster), *points = points_of(w, cluster);
	float least = INFINITY;
	for (int32_t k = 0; k < count; k++) {
		const float *own = columns + 9 * ((size_t)points[k] * (size_t)count + (size_t)k);
		least = fminf(least, fminf(own[0], fminf(own[4], own[8])));
	}
	return (double)least;
}

// What the diagonals of the finer levels are of those of the coarsest, from one cluster of each.
static void estimate_ratios(work *w, int32_t level)
{
	int32_t cluster = 0;
	while (level_of(w, cluster) != level)
		cluster++;
	float *columns = level == TAC_COMPLIANCE_LEVELS - 1 ? NULL : columns_of(w, cluster);
	w->ratio[level] = columns ? own_diagonal(w, cluster, columns) / w->around[cluster] : 1;
	free(columns);
}

// ---- pairs ----

static bool take(work *w, size_t pair, uint32_t units)
{
	const size_t bytes = (size_t)units * COMPLIANCE_UNIT * sizeof(float);
	if (atomic_fetch_add(&w->bytes, bytes) + bytes > TAC_COMPLIANCE_BYTES_MAX) {
		fail(w, TOO_LARGE);
		return false;
	}
	w->out->numbers[pair] = calloc(bytes, 1);
	if (!w->out->numbers[pair])
		fail(w, NO_MEMORY);
	return w->out->numbers[pair] != NULL;
}

// The basis of both clusters instead of the blocks, if it is good enough.
static bool try_far(work *w, int32_t a, int32_t b, const float *columns, size_t pair)
{
	const int32_t rows = size_of(w, a), count = size_of(w, b), *points = points_of(w, a);
	if (!w->samples || apart(w->centre[a], w->centre[b]) < w->radius_m[a] + w->radius_m[b])
		return false;
	compliance_matrix m = {.rows = 3 * rows, .columns = 3 * count};
	for (int32_t i = 0; i < rows; i++) {
		const float *row = columns + 9 * (size_t)points[i] * (size_t)count;
		for (int32_t k = 0; k < 9 * count; k++)
			m.of[3 * i + k % 9 / 3][k / 9 * 3 + k % 3] = row[k];
	}
	const double limit =
		ALLOWED * TAC_COMPLIANCE_FAR_ERROR *
		sqrt(w->around[a] * w->ratio[level_of(w, a)] * w->around[b] * w->ratio[level_of(w, b)]);
	float S[TAC_COMPLIANCE_RANK * TAC_COMPLIANCE_RANK];
	const double error = tac_compliance_project(&m, &w->bases[a], &w->bases[b], limit, S);
	if (!(error <= limit) || !take(w, pair, tac_compliance_pair_units(true, 0, 0)))
		return false;
	memcpy(w->out->numbers[pair], S, sizeof S);
	w->out->far[pair] = true;
	w->error_m_per_N[pair] = error;
	return true;
}

// A cluster with itself: what is above the diagonal is what is below it, to the bit.
static void mirror(work *w, int32_t size, float *blocks)
{
	for (int32_t i = 0; i < size; i++) {
		for (int32_t j = 0; j <= i; j++) {
			float *below = blocks + 9 * (i * size + j), *above = blocks + 9 * (j * size + i);
			for (int k = 0; k < 9; k++) {
				const int turned = k % 3 * 3 + k / 3;
				if (i != j)
					above[turned] = below[k];
				else if (k < turned)
					below[k] = below[turned] = 0.5f * (below[k] + below[turned]);
			}
		}
		const float *own = blocks + 9 * (i * size + i);
		if (!(own[0] > 0 && own[4] > 0 && own[8] > 0))
			fail(w, NOT_POSITIVE);
	}
}

static void compute_pairs(work *w, int32_t b)
{
	const int32_t count = size_of(w, b);
	const bool sampled = w->samples && b < w->clusters->coarsest;
	float *columns = sampled ? w->samples[b] : columns_of(w, b);
	if (columns)
		w->own[b] = own_diagonal(w, b, columns);
	for (int32_t a = b; columns && a < w->clusters->count && !atomic_load(&w->wrong); a++) {
		const size_t pair = (size_t)a * ((size_t)a + 1) / 2 + (size_t)b;
		const int32_t rows = size_of(w, a), *points = points_of(w, a);
		if ((a > b && try_far(w, a, b, columns, pair)) ||
		    !take(w, pair, tac_compliance_pair_units(false, rows, count)))
			continue;
		const size_t width = 9 * (size_t)count;
		for (int32_t i = 0; i < rows; i++)
			memcpy(w->out->numbers[pair] + (size_t)i * width, columns + (size_t)points[i] * width,
			       width * sizeof *columns);
		if (a == b)
			mirror(w, count, w->out->numbers[pair]);
	}
	if (!sampled)
		free(columns);
}

// ---- threads ----

static void *run(void *user)
{
	work *w = user;
	int32_t k;
	while (!atomic_load(&w->wrong) && (k = atomic_fetch_add(&w->next, 1)) < w->jobs) {
		w->job(w, k);
		atomic_fetch_add(&w->finished, 1);
	}
	return NULL;
}

static void for_each(work *w, int32_t count, void (*job)(work *, int32_t))
{
	const compliance_source *s = w->source;
	pthread_t id[THREADS_MAX];
	int started = 0;
	w->job = job;
	w->jobs = count;
	atomic_store(&w->next, 0);
	atomic_store(&w->finished, 0);
	if (s->threads > 1 || s->progress) {
		while (started < s->threads && started < THREADS_MAX &&
		       pthread_create(&id[started], NULL, run, w) == 0)
			started++;
	}
	if (started == 0)
		run(w);
	while (s->progress && !atomic_load(&w->wrong) && atomic_load(&w->finished) < count) {
		const struct timespec nap = {0, LOOK_NS};
		nanosleep(&nap, NULL);
		s->progress(s->progress_user,
			    fmin((double)atomic_load(&w->solved) / w->levels->point_count, 1));
	}
	for (int k = 0; k < started; k++)
		pthread_join(id[k], NULL);
}

static bool allocate(work *w)
{
	const size_t count = (size_t)w->clusters->count, pairs = count * (count + 1) / 2;
	w->out->numbers = calloc(pairs, sizeof *w->out->numbers);
	w->out->far = calloc(pairs, sizeof *w->out->far);
	w->own = calloc(count, sizeof *w->own);
	bool good = w->out->numbers && w->out->far && w->own;
	if (!w->source->exact) {
		w->samples = calloc((size_t)w->clusters->coarsest, sizeof *w->samples);
		w->bases = malloc(count * sizeof *w->bases);
		w->centre = malloc(count * sizeof *w->centre);
		w->radius_m = calloc(count, sizeof *w->radius_m);
		w->around = calloc(count, sizeof *w->around);
		w->error_m_per_N = calloc(pairs, sizeof *w->error_m_per_N);
		good = good && w->samples && w->bases && w->centre && w->radius_m && w->around &&
		       w->error_m_per_N;
	}
	return good;
}

static void release(work *w)
{
	for (int32_t s = 0; w->samples && s < w->clusters->coarsest; s++)
		free(w->samples[s]);
	free(w->samples);
	free(w->bases);
	free(w->centre);
	free(w->radius_m);
	free(w->around);
	free(w->own);
	free(w->error_m_per_N);
}

// The rows of the bases in the order of the points, if any pair is far, and the largest error over the
// diagonals.
static bool take_bases(work *w)
{
	bool any = false;
	for (int32_t a = 0, k = 0; a < w->clusters->count; a++) {
		for (int32_t b = 0; b <= a; b++, k++) {
			any = any || w->out->far[k];
			if (w->out->far[k])
				w->out->far_error = fmax(w->out->far_error,
							 w->error_m_per_N[k] / sqrt(w->own[a] * w->own[b]));
		}
	}
	if (!any)
		return true;
	const size_t width = 3 * TAC_COMPLIANCE_RANK;
	w->out->basis = calloc((size_t)w->levels->point_count * width, sizeof *w->out->basis);
	for (int32_t a = 0; w->out->basis && a < w->clusters->count; a++) {
		for (int32_t i = 0; i < size_of(w, a); i++)
			memcpy(w->out->basis + (size_t)points_of(w, a)[i] * width, w->bases[a].of[3 * i],
			       width * sizeof *w->out->basis);
	}
	return w->out->basis != NULL;
}

tac_result tac_compliance_compute(const compliance_header *header, const compliance_levels *levels,
				  const tac_vec3 *vertices, const compliance_clusters *clusters,
				  const compliance_source *source, compliance_pairs *out,
				  const char **out_wrong)
{
	static const char *const words[] = {[TOO_LARGE] =
						    "more than 1 GB of blocks: a larger spacing would do",
					    [NOT_POSITIVE] = "a block whose diagonal is not positive"};
	*out = (compliance_pairs){0};
	work w = {.header = header,
		  .levels = levels,
		  .vertices = vertices,
		  .clusters = clusters,
		  .source = source,
		  .out = out};
	if (!allocate(&w))
		fail(&w, NO_MEMORY);
	if (w.samples && !atomic_load(&w.wrong)) {
		for (int32_t a = 0; a < clusters->count; a++)
			measure(&w, a);
		for_each(&w, clusters->coarsest, sample);
		if (!atomic_load(&w.wrong))
			for_each(&w, clusters->count, find_basis);
		if (!atomic_load(&w.wrong))
			for_each(&w, TAC_COMPLIANCE_LEVELS, estimate_ratios);
	}
	if (!atomic_load(&w.wrong))
		for_each(&w, clusters->count, compute_pairs);
	if (!atomic_load(&w.wrong) && !take_bases(&w))
		fail(&w, NO_MEMORY);
	release(&w);
	const int wrong = atomic_load(&w.wrong);
	*out_wrong = words[wrong < (int)(sizeof words / sizeof *words) ? wrong : 0];
	if (wrong != NOTHING_WRONG)
		tac_compliance_release_pairs(clusters, out);
	return wrong == NOTHING_WRONG ? TAC_OK : wrong == NO_MEMORY ? TAC_ERROR_MEMORY : TAC_ERROR_ARGUMENT;
}

void tac_compliance_release_pairs(const compliance_clusters *clusters, compliance_pairs *pairs)
{
	const size_t count = (size_t)clusters->count;
	for (size_t k = 0; pairs->numbers && k < count * (count + 1) / 2; k++)
		free(pairs->numbers[k]);
	free(pairs->numbers);
	free(pairs->far);
	free(pairs->basis);
	*pairs = (compliance_pairs){0};
}
