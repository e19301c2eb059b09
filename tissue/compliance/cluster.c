// Clusters of points, by halving boxes along their longest side. Points of a coarser level lie apart, so that
// fewer of them are as wide: the wider a cluster, the less of it fits into a basis.
#include "tissue/compliance/cluster.h"

#include <stdlib.h>
#include <string.h>

static const int32_t full[TAC_COMPLIANCE_LEVELS] = {TAC_COMPLIANCE_CLUSTER, 24, 8};

typedef struct halving {
	const tac_vec3 *vertices;
	const int32_t *node; // of each point
	int32_t full;        // points of a cluster
	int axis;
	compliance_clusters *out;
} halving;

static float along(const halving *h, int32_t point)
{
	return tac_vec3_get(h->vertices[h->node[point]], h->axis);
}

static int by_place(const void *a, const void *b, void *user)
{
	const halving *h = user;
	int32_t p, q;
	memcpy(&p, a, sizeof p);
	memcpy(&q, b, sizeof q);
	const float x = along(h, p), y = along(h, q);
	return x < y ? -1 : x > y ? 1 : p < q ? -1 : p > q;
}

// The longest side of the box around some points.
static int longest_side(halving *h, const int32_t *point, int32_t count)
{
	float most = -1;
	int longest = 0;
	for (h->axis = 0; h->axis < 3; h->axis++) {
		float low = along(h, point[0]), high = low;
		for (int32_t i = 1; i < count; i++) {
			const float x = along(h, point[i]);
			low = x < low ? x : low;
			high = x > high ? x : high;
		}
		if (high - low > most) {
			most = high - low;
			longest = h->axis;
		}
	}
	return longest;
}

// All clusters but one are full, so that none of the columns that are computed together are idle.
static void halve(halving *h, int32_t begin, int32_t count)
{
	compliance_clusters *c = h->out;
	if (count <= h->full) {
		c->start[++c->count] = begin + count;
		return;
	}
	h->axis = longest_side(h, c->point + begin, count);
	qsort_r(c->point + begin, (size_t)count, sizeof *c->point, by_place, h);
	const int32_t left = (count + h->full - 1) / h->full / 2 * h->full;
	halve(h, begin, left);
	halve(h, begin + left, count - left);
}

typedef struct numbered {
	int32_t from, begin, count;
} numbered;

static int by_order(const void *a, const void *b)
{
	const numbered *p = a, *q = b;
	return p->from != q->from ? (p->from < q->from ? -1 : 1)
				  : (p->begin > q->begin) - (p->begin < q->begin);
}

// Puts the clusters of nodes in the order in which they are computed.
static bool sort_clusters(compliance_clusters *c, const int32_t *order)
{
	const int32_t first = c->nodes_first, count = c->count - first, begin = c->start[first];
	numbered *list = malloc((size_t)count * sizeof *list);
	int32_t *points = malloc((size_t)(c->start[c->count] - begin) * sizeof *points);
	const bool good = list && points;
	for (int32_t k = 0; good && k < count; k++) {
		const int32_t *start = &c->start[first + k];
		list[k] = (numbered){INT32_MAX, start[0], start[1] - start[0]};
		for (int32_t i = start[0]; i < start[1]; i++) {
			const int32_t at = order ? order[c->point[i]] : 0;
			list[k].from = at < list[k].from ? at : list[k].from;
		}
	}
	if (good) {
		qsort(list, (size_t)count, sizeof *list, by_order);
		int32_t *to = points;
		for (int32_t k = 0; k < count; k++) {
			memcpy(to, c->point + list[k].begin, (size_t)list[k].count * sizeof *to);
			to += list[k].count;
			c->start[first + k + 1] = c->start[first + k] + list[k].count;
			c->from[first + k] = list[k].from;
		}
		memcpy(c->point + begin, points, (size_t)(to - points) * sizeof *points);
	}
	free(list);
	free(points);
	return good;
}

bool tac_compliance_cluster(const compliance_header *header, const compliance_levels *levels,
			    const tac_vec3 *vertices, const int32_t *order, compliance_clusters *out)
{
	const size_t points = (size_t)levels->point_count;
	*out = (compliance_clusters){.start = calloc(points + 1, sizeof *out->start),
				     .point = malloc(points * sizeof *out->point),
				     .from = calloc(points, sizeof *out->from)};
	halving h = {.vertices = vertices, .node = levels->node, .out = out};
	bool good = out->start && out->point && out->from;
	int32_t begin = 0;
	for (int level = TAC_COMPLIANCE_LEVELS - 1; good && level >= 0; level--) {
		const int32_t first = header->level_start[level],
			      count = header->level_start[level + 1] - first;
		for (int32_t i = 0; i < count; i++)
			out->point[begin + i] = first + i;
		if (level == 0)
			out->nodes_first = out->count;
		h.full = full[level];
		halve(&h, begin, count);
		if (level == TAC_COMPLIANCE_LEVELS - 1)
			out->coarsest = out->count;
		begin += count;
	}
	good = good && sort_clusters(out, order);
	if (!good)
		tac_compliance_release_clusters(out);
	return good;
}

void tac_compliance_release_clusters(compliance_clusters *clusters)
{
	free(clusters->start);
	free(clusters->point);
	free(clusters->from);
	*clusters = (compliance_clusters){0};
}
