#include "tissue/elastic/elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

double tac_elastic_lambda(double young_Pa, double poisson)
{
	return young_Pa * poisson / ((1 + poisson) * (1 - 2 * poisson));
}

double tac_elastic_mu(double young_Pa, double poisson)
{
	return young_Pa / (2 * (1 + poisson));
}

// Numbers the middles of the edges and enters them in the elements.
static bool add_middles(elastic_model *m)
{
	bool good = tac_lattice_table_init(&m->middles);
	for (int32_t n = 0; good && n < m->element_count; n++) {
		int32_t *v = m->elements[n].node;
		for (int e = 0; good && e < 6; e++) {
			const int32_t id = tac_lattice_table_add(
				&m->middles, tac_lattice_edge_key(v[edges[e][0]], v[edges[e][1]]));
			v[ELASTIC_CORNERS + e] = m->corner_count + id;
			good = id >= 0;
		}
	}
	m->node_count = m->corner_count + m->middles.count;
	tac_dvec3 *more = good ? realloc(m->nodes, (size_t)m->node_count * sizeof *more) : NULL;
	if (!more)
		return false;
	m->nodes = more;
	for (int32_t n = 0; n < m->element_count; n++) {
		const int32_t *v = m->elements[n].node;
		for (int e = 0; e < 6; e++)
			m->nodes[v[ELASTIC_CORNERS + e]] =
				tac_dvec3_lerp(m->nodes[v[edges[e][0]]], m->nodes[v[edges[e][1]]], 0.5);
	}
	return true;
}

tac_result tac_elastic_model_init(elastic_model *m, const tac_lattice *lattice, int order, double young_Pa,
				  double poisson)
{
	*m = (elastic_model){.order = order,
			     .node_count = lattice->vertex_count,
			     .corner_count = lattice->vertex_count,
			     .element_count = lattice->tet_count,
			     .nodes = malloc((size_t)lattice->vertex_count * sizeof *m->nodes),
			     .elements = calloc((size_t)lattice->tet_count, sizeof *m->elements)};
	bool good = m->nodes && m->elements;
	if (good) {
		memcpy(m->nodes, lattice->vertices, (size_t)lattice->vertex_count * sizeof *m->nodes);
		for (int32_t n = 0; n < m->element_count; n++) {
			memcpy(m->elements[n].node, lattice->tets[n].vertex, sizeof lattice->tets[n].vertex);
			m->elements[n].lambda_Pa = tac_elastic_lambda(young_Pa, poisson);
			m->elements[n].mu_Pa = tac_elastic_mu(young_Pa, poisson);
		}
		good = order == 1 || add_middles(m);
	}
	m->fixed = good ? calloc((size_t)m->node_count, sizeof *m->fixed) : NULL;
	if (m->fixed)
		return TAC_OK;
	tac_elastic_model_fini(m);
	return TAC_ERROR_MEMORY;
}

void tac_elastic_model_fini(elastic_model *model)
{
	free(model->nodes);
	free(model->elements);
	free(model->fixed);
	tac_lattice_table_fini(&model->middles);
	*model = (elastic_model){0};
}

// Samples along an edge of a tetrahedron, to measure the part of it that lies inside a mesh.
#define SAMPLES 6

// The part of an element inside a shape, by samples at the middles of equal boxes of its coordinates.
static double part_inside(const elastic_model *m, const elastic_element *e, const lattice_shape *shape)
{
	int32_t in = 0, all = 0;
	for (int i = 0; i < SAMPLES; i++) {
		for (int j = 0; i + j < SAMPLES; j++) {
			for (int k = 0; i + j + k < SAMPLES; k++) {
				const int l = SAMPLES - 1 - i - j - k;
				const double weight[4] = {i + 0.25, j + 0.25, k + 0.25, l + 0.25};
				tac_dvec3 p = tac_dvec3_zero();
				for (int c = 0; c < 4; c++)
					p = tac_dvec3_add_scaled(p, weight[c] / SAMPLES,
								 m->nodes[e->node[c]]);
				in += tac_lattice_inside(shape, p);
				all++;
			}
		}
	}
	return (double)in / all;
}

tac_result tac_elastic_model_include(elastic_model *m, const tac_mesh *mesh, double young_Pa, double poisson)
{
	lattice_shape shape;
	if (tac_lattice_shape_init(&shape, mesh) != TAC_OK)
		return TAC_ERROR_MEMORY;
	const double lambda = tac_elastic_lambda(young_Pa, poisson), mu = tac_elastic_mu(young_Pa, poisson);
	bool any = false;
	for (int32_t n = 0; n < m->element_count; n++) {
		elastic_element *e = &m->elements[n];
		bool apart = false; // its box and that of the mesh
		for (int k = 0; k < 3; k++) {
			double low = HUGE_VAL, high = -HUGE_VAL;
			for (int c = 0; c < 4; c++) {
				low = fmin(low, tac_dvec3_get(m->nodes[e->node[c]], k));
				high = fmax(high, tac_dvec3_get(m->nodes[e->node[c]], k));
			}
			apart = apart || low > (double)tac_vec3_get(mesh->bounds_max, k) ||
				high < (double)tac_vec3_get(mesh->bounds_min, k);
		}
		if (apart)
			continue;
		const double part = part_inside(m, e, &shape);
		any = any || part > 0;
		e->lambda_Pa += part * (lambda - e->lambda_Pa);
		e->mu_Pa += part * (mu - e->mu_Pa);
	}
	tac_lattice_shape_fini(&shape);
	return any ? TAC_OK : TAC_ERROR_ARGUMENT;
}

// The gradients of the barycentric coordinates; returns six times the volume.
static double gradients_of(const elastic_model *m, const elastic_element *e, tac_dvec3 out[4])
{
	tac_dvec3 p[4];
	for (int k = 0; k < 4; k++)
		p[k] = m->nodes[e->node[k]];
	const double volume6 = tac_lattice_volume6(p[0], p[1], p[2], p[3]);
	static const int opposite[4][3] = {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};
	for (int k = 0; k < 4; k++) {
		const tac_dvec3 cross =
			tac_dvec3_triangle_cross(p[opposite[k][0]], p[opposite[k][1]], p[opposite[k][2]]);
		out[k] = tac_dvec3_scale(cross, 1 / volume6);
	}
	return volume6;
}

// The gradients of the shape functions at a point with the barycentric coordinates w.
static void shape_gradients(const elastic_model *m, const tac_dvec3 g[4], const double w[4],
			    tac_dvec3 out[ELASTIC_NODES])
{
	for (int k = 0; k < 4; k++)
		out[k] = tac_dvec3_scale(g[k], m->order == 1 ? 1 : 4 * w[k] - 1);
	for (int e = 0; m->order == 2 && e < 6; e++) {
		const int a = edges[e][0], b = edges[e][1];
		out[ELASTIC_CORNERS + e] =
			tac_dvec3_add(tac_dvec3_scale(g[b], 4 * w[a]), tac_dvec3_scale(g[a], 4 * w[b]));
	}
}

// K_ab = integral of lambda g_a g_b^T + mu (g_b g_a^T + (g_a . g_b) 1).
static void add_stiffness(const elastic_element *e, int nodes, const tac_dvec3 *g, double weight,
			  double out[3 * ELASTIC_NODES][3 * ELASTIC_NODES])
{
	for (int a = 0; a < nodes; a++) {
		const double x[3] = {g[a].x, g[a].y, g[a].z};
		for (int b = 0; b < nodes; b++) {
			const double y[3] = {g[b].x, g[b].y, g[b].z};
			const double dot = e->mu_Pa * tac_dvec3_dot(g[a], g[b]);
			for (int i = 0; i < 3; i++) {
				for (int j = 0; j < 3; j++)
					out[3 * a + i][3 * b + j] +=
						weight * (e->lambda_Pa * x[i] * y[j] +
							  e->mu_Pa * x[j] * y[i] + (i == j ? dot : 0));
			}
		}
	}
}

void tac_elastic_element_stiffness(const elastic_model *m, int32_t element,
				   double out[3 * ELASTIC_NODES][3 * ELASTIC_NODES])
{
	// Gauss points of degree 2: the integrand of a P2 element with straight sides is quadratic.
	const double far = 0.58541019662496852,
		     near = 0.13819660112501051; // (5 + 3 sqrt 5) / 20, (5 - sqrt 5) / 20
	const elastic_element *e = &m->elements[element];
	const int nodes = tac_elastic_element_nodes(m);
	tac_dvec3 g[4], shape[ELASTIC_NODES];
	const double volume = gradients_of(m, e, g) / 6;
	memset(out, 0, 3 * ELASTIC_NODES * sizeof out[0]);
	if (m->order == 1) {
		add_stiffness(e, nodes, g, volume, out);
		return;
	}
	for (int p = 0; p < 4; p++) {
		double w[4] = {near, near, near, near};
		w[p] = far;
		shape_gradients(m, g, w, shape);
		add_stiffness(e, nodes, shape, volume / 4, out);
	}
}

void tac_elastic_forces(const elastic_model *m, const tac_dvec3 *u, tac_dvec3 *out)
{
	double k[3 * ELASTIC_NODES][3 * ELASTIC_NODES];
	const int nodes = tac_elastic_element_nodes(m);
	memset(out, 0, (size_t)m->node_count * sizeof *out);
	for (int32_t n = 0; n < m->element_count; n++) {
		const int32_t *node = m->elements[n].node;
		tac_elastic_element_stiffness(m, n, k);
		for (int a = 0; a < nodes; a++) {
			double f[3] = {0};
			for (int i = 0; i < 3; i++) {
				for (int b = 0; b < nodes; b++)
					f[i] += k[3 * a + i][3 * b] * u[node[b]].x +
						k[3 * a + i][3 * b + 1] * u[node[b]].y +
						k[3 * a + i][3 * b + 2] * u[node[b]].z;
			}
			out[node[a]] = tac_dvec3_add(out[node[a]], tac_dvec3_make(f[0], f[1], f[2]));
		}
	}
}
