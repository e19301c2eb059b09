// The coarser levels of points, and the binding of the surface that is shown.
//
// Level k + 1 keeps of level k a maximal set of points that are THINNING spacings apart (dart throwing: R. L.
// Cook, "Stochastic sampling in computer graphics", 1986). Its points divide the surface among them by a
// partition of unity: phi_p(x) = kernel(|x - p|) / sum over q of kernel(|x - q|). The weights of point p are
// area_i phi_p(x_i) over the nodes i, divided by their sum, which is the area of the point. So a load of
// pressure x area on every point is the load of pressure x area on every node.
#include "tissue/compliance/image.h"

#include "collision/closest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Least distance of two points of a level, and the reach of a point's kernel, in spacings of the level. The
// first makes the mean spacing of the level come out right; the reach must be larger, so that every node is
// in reach of a point.
#define THINNING 0.8
#define REACH    1.25
// A node belongs to a point only if their normals differ by less than 72 degrees: the far side of a thin flap
// is not.
#define ALIGNED 0.3f

typedef struct maker {
	const tac_vec3 *vertices, *normals;
	const double *node_area;
	int32_t nodes;
	compliance_levels *out;
	int32_t spread_capacity, spread_count;
} maker;

static bool same_side(const maker *m, int32_t a, int32_t b)
{
	return tac_vec3_dot(m->normals[a], m->normals[b]) > ALIGNED;
}

static double distance(const maker *m, int32_t a, int32_t b)
{
	return tac_dvec3_length(
		tac_dvec3_sub(tac_dvec3_from_vec3(m->vertices[a]), tac_dvec3_from_vec3(m->vertices[b])));
}

// Appends the points of a level to those from `begin` to `end`, the level below. The new end.
static int32_t thin(maker *m, int32_t begin, int32_t end, double least_m)
{
	int32_t *node = m->out->node;
	int32_t last = end;
	for (int32_t p = begin; p < end; p++) {
		bool near = false;
		for (int32_t q = end; q < last && !near; q++)
			near = distance(m, node[p], node[q]) < least_m && same_side(m, node[p], node[q]);
		if (!near)
			node[last++] = node[p];
	}
	return last;
}

static bool add_weight(maker *m, int32_t node, double weight)
{
	if (m->spread_count == m->spread_capacity) {
		const int32_t capacity = 2 * m->spread_capacity;
		int32_t *nodes = realloc(m->out->spread_node, (size_t)capacity * sizeof *nodes);
		if (nodes)
			m->out->spread_node = nodes;
		float *weights = realloc(m->out->spread_weight, (size_t)capacity * sizeof *weights);
		if (weights)
			m->out->spread_weight = weights;
		if (!nodes || !weights)
			return false;
		m->spread_capacity = capacity;
	}
	m->out->spread_node[m->spread_count] = node;
	m->out->spread_weight[m->spread_count++] = (float)weight;
	return true;
}

static double kernel(const maker *m, int32_t point, int32_t node, double reach_m)
{
	const int32_t at = m->out->node[point];
	return same_side(m, at, node) ? fmax(1 - distance(m, at, node) / reach_m, 0) : 0;
}

// Spreads the points from `begin` to `end` over the nodes; `sum` has room for a number per node.
static bool spread(maker *m, int32_t begin, int32_t end, double reach_m, double *sum)
{
	for (int32_t i = 0; i < m->nodes; i++) {
		sum[i] = 0;
		for (int32_t p = begin; p < end; p++)
			sum[i] += kernel(m, p, i, reach_m);
	}
	for (int32_t p = begin; p < end; p++) {
		const int32_t first = m->spread_count;
		double area = 0;
		for (int32_t i = 0; i < m->nodes; i++) {
			const double k = kernel(m, p, i, reach_m);
			if (k <= 0)
				continue;
			const double part = m->node_area[i] * k / sum[i];
			area += part;
			if (!add_weight(m, i, part))
				return false;
		}
		for (int32_t k = first; k < m->spread_count; k++)
			m->out->spread_weight[k] = (float)((double)m->out->spread_weight[k] / area);
		m->out->area_m2[p] = area;
		m->out->spread_start[p + 1] = m->spread_count;
	}
	return true;
}

static void level_of_nodes(maker *m)
{
	m->out->spread_start[0] = 0;
	for (int32_t i = 0; i < m->nodes; i++) {
		m->out->node[i] = i;
		m->out->area_m2[i] = m->node_area[i];
		m->out->spread_node[i] = i;
		m->out->spread_weight[i] = 1;
		m->out->spread_start[i + 1] = i + 1;
	}
	m->spread_count = m->nodes;
}

tac_result tac_compliance_build_levels(compliance_header *header, const tac_vec3 *vertices,
				       const tac_vec3 *normals, const double *node_area_m2,
				       compliance_levels *out)
{
	const size_t nodes = (size_t)header->node_count, most = TAC_COMPLIANCE_LEVELS * nodes;
	maker m = {vertices, normals, node_area_m2, header->node_count, out, 8 * header->node_count, 0};
	double *sum = malloc(nodes * sizeof *sum), total = 0;
	*out = (compliance_levels){
		.node = malloc(most * sizeof *out->node),
		.area_m2 = malloc(most * sizeof *out->area_m2),
		.spread_start = malloc((most + 1) * sizeof *out->spread_start),
		.spread_node = malloc((size_t)m.spread_capacity * sizeof *out->spread_node),
		.spread_weight = malloc((size_t)m.spread_capacity * sizeof *out->spread_weight),
	};
	bool good = sum && out->node && out->area_m2 && out->spread_start && out->spread_node &&
		    out->spread_weight;
	if (good) {
		for (size_t i = 0; i < nodes; i++)
			total += node_area_m2[i];
		level_of_nodes(&m);
		header->level_start[0] = 0;
		header->level_start[1] = m.nodes;
		header->spacing_m[0] = sqrt(total / (double)nodes);
	}
	for (int k = 1; good && k < TAC_COMPLIANCE_LEVELS; k++) {
		const double spacing = header->spacing_m[0] * (1 << k);
		const int32_t begin = header->level_start[k];
		const int32_t end = thin(&m, header->level_start[k - 1], begin, THINNING * spacing);
		good = spread(&m, begin, end, REACH * spacing, sum);
		header->level_start[k + 1] = end;
		header->spacing_m[k] = sqrt(total / (end - begin));
	}
	free(sum);
	header->spread_count = m.spread_count;
	out->point_count = header->level_start[TAC_COMPLIANCE_LEVELS];
	if (good)
		return TAC_OK;
	tac_compliance_release_levels(out);
	return TAC_ERROR_MEMORY;
}

void tac_compliance_release_levels(compliance_levels *levels)
{
	free(levels->node);
	free(levels->area_m2);
	free(levels->spread_start);
	free(levels->spread_node);
	free(levels->spread_weight);
	*levels = (compliance_levels){0};
}

static void corners_of(const tac_compliance_def *def, int32_t triangle, tac_dvec3 out[3])
{
	for (int k = 0; k < 3; k++)
		out[k] = tac_dvec3_from_vec3(def->vertices[def->triangles[triangle].vertex[k]]);
}

// The barycentric weights of a point of a triangle, by the areas of the parts that it divides it into.
static void weights_of(const tac_dvec3 corner[3], tac_dvec3 at, float out[3])
{
	const tac_dvec3 normal = tac_dvec3_triangle_cross(corner[0], corner[1], corner[2]);
	const double whole = tac_dvec3_dot(normal, normal);
	double w[3], sum = 0;
	for (int k = 0; k < 3; k++) {
		const tac_dvec3 part = tac_dvec3_triangle_cross(at, corner[(k + 1) % 3], corner[(k + 2) % 3]);
		w[k] = fmax(tac_dvec3_dot(part, normal) / whole, 0);
		sum += w[k];
	}
	for (int k = 0; k < 3; k++)
		out[k] = (float)(w[k] / sum);
}

void tac_compliance_bind(const tac_compliance_def *def, tac_compliance_binding *out_bound)
{
	int32_t guess = 0; // neighbours in the file are usually neighbours in space
	for (int32_t i = 0; i < def->shown_count; i++) {
		const tac_dvec3 p = tac_dvec3_from_vec3(def->shown[i]);
		double least = HUGE_VAL;
		tac_dvec3 nearest = p;
		int32_t best = guess;
		for (int32_t n = -1; n < def->triangle_count; n++) {
			const int32_t t = n < 0 ? guess : n;
			tac_dvec3 corner[3];
			corners_of(def, t, corner);
			// The triangle lies within its longest edge from each corner, at most two sides away.
			const double edge =
				sqrt(fmax(tac_dvec3_length_squared(tac_dvec3_sub(corner[1], corner[0])),
					  tac_dvec3_length_squared(tac_dvec3_sub(corner[2], corner[0]))));
			const double away = least + edge;
			if (tac_dvec3_length_squared(tac_dvec3_sub(p, corner[0])) > away * away)
				continue;
			int region;
			const tac_dvec3 on = tac_closest_on_triangle(p, corner, &region);
			const double d = tac_dvec3_length(tac_dvec3_sub(p, on));
			if (d < least) {
				least = d;
				best = t;
				nearest = on;
			}
		}
		guess = best;
		tac_dvec3 corner[3];
		corners_of(def, best, corner);
		memcpy(out_bound[i].vertex, def->triangles[best].vertex, sizeof out_bound[i].vertex);
		weights_of(corner, nearest, out_bound[i].weight);
	}
}
