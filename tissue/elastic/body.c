#include "tissue/elastic/body.h"

#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A box that ends at a face of the body holds that face: the lattice's vertices lie on it to this part of the
// spacing.
#define TOLERANCE 1e-3

static tac_result out_of_memory(const tac_elastic_def *def)
{
	tac_log(TAC_LOG_ERROR, "tissue of %s: out of memory", def->name);
	return TAC_ERROR_MEMORY;
}

static bool in_box(const tac_elastic_fixed *f, tac_dvec3 p, double tolerance_m)
{
	bool in = true;
	for (int k = 0; k < 3; k++) {
		const double x = tac_dvec3_get(p, k);
		in = in && x >= tac_dvec3_get(f->low_m, k) - tolerance_m &&
		     x <= tac_dvec3_get(f->high_m, k) + tolerance_m;
	}
	return in;
}

// Fixes the vertices of the surface that lie in the fixed parts.
static tac_result fix_vertices(elastic_body *b, const tac_elastic_def *def)
{
	for (int32_t i = 0; i < def->fixed_count; i++) {
		const tac_elastic_fixed *f = &def->fixed[i];
		lattice_shape shape;
		if (f->mesh && tac_lattice_shape_init(&shape, f->mesh) != TAC_OK)
			return out_of_memory(def);
		for (int32_t v = 0; v < b->lattice->surface_count; v++) {
			const tac_dvec3 p = b->model.nodes[v];
			if (f->mesh ? tac_lattice_inside(&shape, p)
				    : in_box(f, p, TOLERANCE * def->spacing_m))
				b->model.fixed[v] = true;
		}
		if (f->mesh)
			tac_lattice_shape_fini(&shape);
	}
	return TAC_OK;
}

// Whether the fixed vertices hold the body: three that do not lie on a line.
static bool is_held(const elastic_body *b, double spacing_m)
{
	const tac_dvec3 *p = b->model.nodes;
	int32_t first = -1, second = -1;
	for (int32_t v = 0; v < b->lattice->surface_count; v++) {
		if (!b->model.fixed[v])
			continue;
		if (first < 0)
			first = v;
		else if (second < 0)
			second = v;
		else if (tac_dvec3_length(tac_dvec3_triangle_cross(p[first], p[second], p[v])) >
			 1e-3 * spacing_m * spacing_m)
			return true;
	}
	return false;
}

static bool is_touched(const elastic_body *b, const tac_elastic_def *def, int32_t vertex)
{
	return !b->model.fixed[vertex] &&
	       (def->touch_radius_m <= 0 ||
		tac_dvec3_length(tac_dvec3_sub(b->model.nodes[vertex], def->touch_centre_m)) <=
			def->touch_radius_m);
}

// Numbers the vertices of the compliance: those that are touched, then the others of their triangles.
static tac_result choose_vertices(elastic_body *b, const tac_elastic_def *def)
{
	const tac_lattice *l = b->lattice;
	int32_t *number = malloc((size_t)l->surface_count * sizeof *number);
	b->vertices = malloc((size_t)l->surface_count * sizeof *b->vertices);
	b->triangles = malloc(((size_t)l->triangle_count + 1) * sizeof *b->triangles);
	if (!number || !b->vertices || !b->triangles) {
		free(number);
		return out_of_memory(def);
	}
	for (int32_t v = 0; v < l->surface_count; v++) {
		number[v] = is_touched(b, def, v) ? b->node_count : -1;
		if (number[v] >= 0)
			b->vertices[b->node_count++] = v;
	}
	b->vertex_count = b->node_count;
	for (int32_t t = 0; t < l->triangle_count; t++) {
		const int32_t *v = l->triangles[t].vertex;
		bool touched = false;
		for (int k = 0; k < 3; k++)
			touched = touched || (number[v[k]] >= 0 && number[v[k]] < b->node_count);
		if (!touched)
			continue;
		for (int k = 0; k < 3; k++) {
			if (number[v[k]] < 0) {
				number[v[k]] = b->vertex_count;
				b->vertices[b->vertex_count++] = v[k];
			}
			b->triangles[b->triangle_count].vertex[k] = number[v[k]];
		}
		b->triangle_count++;
	}
	free(number);
	if (b->node_count == 0) {
		tac_log(TAC_LOG_ERROR,
			"tissue of %s: expected a surface that can be touched, found that all of it is fixed "
			"or outside of "
			"the touched ball",
			def->name);
		return TAC_ERROR_ARGUMENT;
	}
	if (b->node_count <= TAC_COMPLIANCE_NODES_MAX)
		return TAC_OK;
	tac_log(TAC_LOG_ERROR,
		"tissue of %s: expected at most %d touched nodes, found %d with a spacing of %.3g mm; %.3g "
		"mm "
		"would do",
		def->name, TAC_COMPLIANCE_NODES_MAX, b->node_count, def->spacing_m * 1e3,
		def->spacing_m * 1e3 * sqrt(b->node_count / (0.9 * TAC_COMPLIANCE_NODES_MAX)));
	return TAC_ERROR_ARGUMENT;
}

// The weights of a node and of P2's middles in the load that falls off linearly from vertex i to the opposite
// side of each triangle around it: the integrals of the P1 and P2 shape functions over a triangle, by its
// area.
#define OWN      (1.0 / 30)
#define CORNER   (-1.0 / 60)
#define ADJACENT (2.0 / 15)
#define OPPOSITE (1.0 / 15)

typedef struct spreading {
	const elastic_body *body;
	lattice_table entries; // (touched vertex, node)
	double *weight;
	int32_t (*key)[2];
} spreading;

static bool add_weight(spreading *s, int32_t vertex, int32_t node, double weight)
{
	const int32_t before = s->entries.count;
	const int32_t id = tac_lattice_table_add(&s->entries, ((uint64_t)vertex << 32 | (uint64_t)node) + 1);
	if (id == before) {
		s->key[id][0] = vertex;
		s->key[id][1] = node;
		s->weight[id] = 0;
	}
	if (id >= 0)
		s->weight[id] += weight;
	return id >= 0;
}

// Adds the shares of a triangle to the loads of its touched corners.
static bool spread_triangle(spreading *s, int32_t triangle)
{
	const elastic_body *b = s->body;
	const int32_t *corner = b->triangles[triangle].vertex;
	int32_t node[3], middle[3]; // middle[k]: of the edge opposite to corner k
	for (int k = 0; k < 3; k++)
		node[k] = b->vertices[corner[k]];
	for (int k = 0; k < 3; k++)
		middle[k] = tac_elastic_middle(&b->model, node[(k + 1) % 3], node[(k + 2) % 3]);
	const tac_dvec3 *p = b->model.nodes;
	const double area =
		tac_dvec3_length(tac_dvec3_triangle_cross(p[node[0]], p[node[1]], p[node[2]])) / 2;
	bool good = true;
	for (int k = 0; k < 3; k++) {
		if (corner[k] >= b->node_count)
			continue;
		for (int n = 0; n < 3; n++)
			good = good && add_weight(s, corner[k], node[n], area * (n == k ? OWN : CORNER)) &&
			       add_weight(s, corner[k], middle[n], area * (n == k ? OPPOSITE : ADJACENT));
	}
	return good;
}

// The loads of P2's vertices. A force on a corner node alone would not do: a uniform pressure has none there.
static bool spread_quadratic(elastic_body *b)
{
	spreading s = {.body = b};
	const size_t most = 18 * (size_t)b->triangle_count + 1;
	s.weight = malloc(most * sizeof *s.weight);
	s.key = malloc(most * sizeof *s.key);
	bool good = s.weight && s.key && tac_lattice_table_init(&s.entries);
	for (int32_t t = 0; good && t < b->triangle_count; t++)
		good = spread_triangle(&s, t);
	elastic_surface *out = &b->surface;
	out->count = b->node_count;
	out->start = calloc((size_t)b->node_count + 2, sizeof *out->start);
	out->node = malloc(((size_t)s.entries.count + 1) * sizeof *out->node);
	out->weight = malloc(((size_t)s.entries.count + 1) * sizeof *out->weight);
	double *sum = calloc((size_t)b->node_count, sizeof *sum);
	good = good && out->start && out->node && out->weight && sum;
	for (int32_t i = 0; good && i < s.entries.count; i++) {
		out->start[s.key[i][0] + 2]++; // two places on: filling moves it to where it belongs
		sum[s.key[i][0]] += s.weight[i];
	}
	for (int32_t v = 0; good && v < b->node_count; v++)
		out->start[v + 2] += out->start[v + 1];
	for (int32_t i = 0; good && i < s.entries.count; i++) {
		const int32_t v = s.key[i][0], at = out->start[v + 1]++;
		out->node[at] = s.key[i][1];
		out->weight[at] = s.weight[i] / sum[v];
	}
	free(sum);
	free(s.weight);
	free(s.key);
	tac_lattice_table_fini(&s.entries);
	return good;
}

static bool spread_linear(elastic_body *b)
{
	elastic_surface *s = &b->surface;
	s->count = b->node_count;
	s->start = malloc(((size_t)s->count + 1) * sizeof *s->start);
	s->node = malloc((size_t)s->count * sizeof *s->node);
	s->weight = malloc((size_t)s->count * sizeof *s->weight);
	if (!s->start || !s->node || !s->weight)
		return false;
	for (int32_t i = 0; i < s->count; i++) {
		s->start[i] = i;
		s->node[i] = b->vertices[i];
		s->weight[i] = 1;
	}
	s->start[s->count] = s->count;
	return true;
}

// Fixes P2's middles of the edges of the surface between fixed vertices.
static void fix_middles(elastic_body *b)
{
	for (int32_t t = 0; t < b->lattice->triangle_count; t++) {
		const int32_t *v = b->lattice->triangles[t].vertex;
		for (int k = 0; k < 3; k++) {
			if (b->model.fixed[v[k]] && b->model.fixed[v[(k + 1) % 3]])
				b->model.fixed[tac_elastic_middle(&b->model, v[k], v[(k + 1) % 3])] = true;
		}
	}
}

static tac_result build(elastic_body *b, const tac_elastic_def *def)
{
	tac_lattice_def lattice = {.name = def->name,
				   .mesh = def->mesh,
				   .spacing_m = def->spacing_m,
				   .touch_centre_m = def->touch_centre_m,
				   .touch_radius_m = def->touch_radius_m,
				   .fine_count = def->inside_count};
	for (int32_t i = 0; i < def->inside_count; i++)
		lattice.fine[i] = def->inside[i].mesh;
	tac_result result = tac_lattice_build(&lattice, &b->lattice);
	if (result != TAC_OK)
		return result;
	if (tac_elastic_model_init(&b->model, b->lattice, def->order, def->material.young_Pa,
				   def->material.poisson) != TAC_OK)
		return out_of_memory(def);
	for (int32_t i = 0; i < def->inside_count; i++) {
		const tac_elastic_inside *in = &def->inside[i];
		result = tac_elastic_model_include(&b->model, in->mesh, in->young_Pa, in->poisson);
		if (result == TAC_ERROR_ARGUMENT)
			tac_log(TAC_LOG_ERROR,
				"tissue of %s: expected thing %d inside to be in the body, found that it "
				"lies outside, or is "
				"too small for a spacing of %.3g mm",
				def->name, i + 1, def->spacing_m * 1e3);
		if (result != TAC_OK)
			return result == TAC_ERROR_ARGUMENT ? result : out_of_memory(def);
	}
	result = fix_vertices(b, def);
	if (result == TAC_OK && !is_held(b, def->spacing_m)) {
		tac_log(TAC_LOG_ERROR,
			"tissue of %s: expected fixed parts that hold the body, found fewer than three nodes "
			"of its "
			"surface in them, or all on a line",
			def->name);
		return TAC_ERROR_ARGUMENT;
	}
	if (result == TAC_OK)
		result = choose_vertices(b, def);
	if (result != TAC_OK)
		return result;
	if (def->order == 2)
		fix_middles(b);
	return (def->order == 1 ? spread_linear(b) : spread_quadratic(b)) ? TAC_OK : out_of_memory(def);
}

tac_result tac_elastic_body_init(elastic_body *out_body, const tac_elastic_def *def)
{
	*out_body = (elastic_body){0};
	const tac_result result = build(out_body, def);
	if (result != TAC_OK)
		tac_elastic_body_fini(out_body);
	return result;
}

void tac_elastic_body_fini(elastic_body *body)
{
	tac_lattice_destroy(&body->lattice);
	tac_elastic_model_fini(&body->model);
	free(body->vertices);
	free(body->triangles);
	free(body->surface.start);
	free(body->surface.node);
	free(body->surface.weight);
	*body = (elastic_body){0};
}

static tac_result compute(const elastic_body *body, const tac_elastic_def *def, uint64_t hash,
			  compliance_source *source, const elastic_factor *factor,
			  tac_compliance **out_compliance)
{
	elastic_columns columns;
	tac_vec3 *vertices = malloc((size_t)body->vertex_count * sizeof *vertices);
	if (!vertices || !tac_elastic_columns_init(&columns, factor, &body->surface)) {
		free(vertices);
		return out_of_memory(def);
	}
	for (int32_t v = 0; v < body->vertex_count; v++)
		vertices[v] = tac_vec3_from_dvec3(body->model.nodes[body->vertices[v]]);
	const tac_compliance_def compliance = {.name = def->name,
					       .hash = hash,
					       .material = def->material,
					       .node_count = body->node_count,
					       .vertex_count = body->vertex_count,
					       .triangle_count = body->triangle_count,
					       .vertices = vertices,
					       .triangles = body->triangles,
					       .shown = def->mesh->vertices,
					       .shown_count = def->mesh->vertex_count};
	source->user = &columns;
	source->columns = tac_elastic_columns_solve;
	source->order = columns.order;
	const tac_result result = tac_compliance_build(&compliance, source, out_compliance);
	tac_elastic_columns_fini(&columns);
	free(vertices);
	return result;
}

tac_result tac_elastic_body_compute(const elastic_body *body, const tac_elastic_def *def, uint64_t hash,
				    int threads, elastic_progress progress, void *user,
				    tac_compliance **out_compliance)
{
	*out_compliance = NULL;
	elastic_factor *factor;
	tac_result result = tac_elastic_factor_create(&body->model, &factor);
	if (result == TAC_ERROR_ARGUMENT) {
		tac_log(TAC_LOG_ERROR,
			"tissue of %s: expected fixed parts that hold the body, found that it is loose",
			def->name);
		return result;
	}
	if (result != TAC_OK)
		return out_of_memory(def);
	compliance_source source = {.threads = threads, .progress = progress, .progress_user = user};
	result = compute(body, def, hash, &source, factor, out_compliance);
	tac_elastic_factor_destroy(&factor);
	return result;
}
