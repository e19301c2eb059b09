// Assembly and factorisation, with SuperLU (X. S. Li, "An overview of SuperLU", ACM TOMS 31(3), 2005; BSD
// licence). The matrix is symmetric and positive definite, so its diagonal serves as pivots. SuperLU stores
// both factors, of which Cholesky's method would need one.
#include "tissue/elastic/elastic.h"
#include "tissue/elastic/order.h"

#include <slu_ddefs.h>

#include <stdlib.h>
#include <string.h>

struct elastic_factor {
	int32_t size;
	int32_t *unknown;        // of each node
	int32_t *rows, *columns; // SuperLU's permutations
	SuperMatrix lower, upper;
	bool factored;
};

// The matrix in blocks of 3 x 3, one for each pair of connected free nodes, each pair once.
typedef struct assembly {
	const elastic_model *model;
	int32_t *number;     // of each node among those that are free; -1: fixed
	tac_dvec3 *places;   // of the free nodes
	int32_t count;       // of free nodes
	lattice_table pairs; // (higher, lower) number of free nodes
	int32_t (*pair)[2];
	double (*block)[9]; // rows of the higher node, columns of the lower
} assembly;

static bool add_block(assembly *a, int32_t row, int32_t column, int r, int c,
		      double k[3 * ELASTIC_NODES][3 * ELASTIC_NODES])
{
	const int32_t before = a->pairs.count;
	const int32_t id = tac_lattice_table_add(&a->pairs, ((uint64_t)row << 32 | (uint64_t)column) + 1);
	if (id < 0)
		return false;
	if (id == before) {
		if ((id & (id - 1)) == 0) { // at powers of two the room doubles
			const size_t room = (size_t)(id ? 2 * id : 1);
			void *pair = realloc(a->pair, room * sizeof *a->pair);
			a->pair = pair ? pair : a->pair;
			void *block = realloc(a->block, room * sizeof *a->block);
			a->block = block ? block : a->block;
			if (!pair || !block)
				return false;
		}
		a->pair[id][0] = row;
		a->pair[id][1] = column;
		memset(a->block[id], 0, sizeof a->block[id]);
	}
	for (int i = 0; i < 9; i++)
		a->block[id][i] += k[3 * r + i / 3][3 * c + i % 3];
	return true;
}

static bool assemble(assembly *a)
{
	const elastic_model *m = a->model;
	const int nodes = tac_elastic_element_nodes(m);
	double k[3 * ELASTIC_NODES][3 * ELASTIC_NODES];
	bool good = tac_lattice_table_init(&a->pairs);
	a->number = malloc((size_t)m->node_count * sizeof *a->number);
	a->places = malloc((size_t)m->node_count * sizeof *a->places);
	good = good && a->number && a->places;
	for (int32_t n = 0; good && n < m->node_count; n++) {
		a->number[n] = m->fixed[n] ? -1 : a->count;
		if (!m->fixed[n])
			a->places[a->count++] = m->nodes[n];
	}
	for (int32_t e = 0; good && e < m->element_count; e++) {
		tac_elastic_element_stiffness(m, e, k);
		for (int r = 0; good && r < nodes; r++) {
			const int32_t row = a->number[m->elements[e].node[r]];
			for (int c = 0; good && row >= 0 && c < nodes; c++) {
				const int32_t column = a->number[m->elements[e].node[c]];
				if (column >= 0 && column <= row)
					good = add_block(a, row, column, r, c, k);
			}
		}
	}
	return good;
}

static void release(assembly *a)
{
	free(a->number);
	free(a->places);
	tac_lattice_table_fini(&a->pairs);
	free(a->pair);
	free(a->block);
}

static bool graph_of(const assembly *a, elastic_graph *g)
{
	g->count = a->count;
	g->start = calloc((size_t)a->count + 2, sizeof *g->start);
	g->neighbour = malloc((2 * (size_t)a->pairs.count + 1) * sizeof *g->neighbour);
	if (!g->start || !g->neighbour)
		return false;
	// Counted two places on, so that filling moves each start to where it belongs.
	for (int32_t i = 0; i < a->pairs.count; i++) {
		if (a->pair[i][0] != a->pair[i][1]) {
			g->start[a->pair[i][0] + 2]++;
			g->start[a->pair[i][1] + 2]++;
		}
	}
	for (int32_t n = 0; n < a->count; n++)
		g->start[n + 2] += g->start[n + 1];
	for (int32_t i = 0; i < a->pairs.count; i++) {
		if (a->pair[i][0] != a->pair[i][1]) {
			g->neighbour[g->start[a->pair[i][0] + 1]++] = a->pair[i][1];
			g->neighbour[g->start[a->pair[i][1] + 1]++] = a->pair[i][0];
		}
	}
	return true;
}

// The order of elimination of the free nodes: place[n] is that of the free node n.
static bool order_nodes(const assembly *a, int32_t *place)
{
	elastic_graph g = {0};
	int32_t *order = malloc(((size_t)a->count + 1) * sizeof *order);
	const bool good = order && graph_of(a, &g) && tac_elastic_order(&g, a->places, order);
	for (int32_t k = 0; good && k < a->count; k++)
		place[order[k]] = k;
	free(order);
	free(g.start);
	free(g.neighbour);
	return good;
}

// Compressed columns of the whole symmetric matrix, in SuperLU's memory, which frees them with the matrix.
static bool compress(const assembly *a, const int32_t *place, SuperMatrix *out)
{
	const int32_t size = 3 * a->count, pairs = a->pairs.count;
	const int64_t entries = 9 * (2 * (int64_t)pairs - a->count);
	if (entries > INT32_MAX)
		return false;
	int *start = intMalloc(size + 1), *row = intMalloc((int)entries);
	double *value = doubleMalloc((int)entries);
	int32_t *end = calloc((size_t)a->count + 1, sizeof *end);
	if (!start || !row || !value || !end) {
		SUPERLU_FREE(start);
		SUPERLU_FREE(row);
		SUPERLU_FREE(value);
		free(end);
		return false;
	}
	// Blocks in each block column, by the places of their nodes.
	for (int32_t i = 0; i < pairs; i++) {
		end[place[a->pair[i][0]]]++;
		end[place[a->pair[i][1]]] += a->pair[i][0] != a->pair[i][1];
	}
	start[0] = 0;
	for (int32_t n = 0; n < a->count; n++) {
		for (int c = 0; c < 3; c++)
			start[3 * n + c + 1] = start[3 * n + c] + 3 * end[n];
		end[n] = 0;
	}
	for (int32_t i = 0; i < pairs; i++) {
		const int32_t p = place[a->pair[i][0]], q = place[a->pair[i][1]];
		for (int twice = 0; twice < (p == q ? 1 : 2); twice++) {
			const int32_t r = twice ? q : p, c = twice ? p : q;
			for (int k = 0; k < 9; k++) {
				const int in_row = k / 3, in_column = k % 3;
				const int32_t at = start[3 * c + in_column] + 3 * end[c] + in_row;
				row[at] = 3 * r + in_row;
				value[at] = a->block[i][twice ? 3 * in_column + in_row : k];
			}
			end[c]++;
		}
	}
	free(end);
	dCreate_CompCol_Matrix(out, size, size, (int)entries, value, row, start, SLU_NC, SLU_D, SLU_GE);
	return true;
}

static tac_result factorise(elastic_factor *f, SuperMatrix *matrix)
{
	superlu_options_t options;
	SuperLUStat_t stat;
	GlobalLU_t memory;
	SuperMatrix permuted;
	int info = 0;
	int *tree = intMalloc(f->size);
	f->rows = malloc(((size_t)f->size + 1) * sizeof *f->rows);
	f->columns = malloc(((size_t)f->size + 1) * sizeof *f->columns);
	if (!tree || !f->rows || !f->columns) {
		SUPERLU_FREE(tree);
		return TAC_ERROR_MEMORY;
	}
	set_default_options(&options);
	options.SymmetricMode = YES;
	options.DiagPivotThresh = 0;
	options.ColPerm = NATURAL; // the unknowns are numbered in the order of their elimination
	for (int32_t i = 0; i < f->size; i++)
		f->columns[i] = i;
	StatInit(&stat);
	sp_preorder(&options, matrix, f->columns, tree, &permuted);
	dgstrf(&options, &permuted, sp_ienv(2), sp_ienv(1), tree, NULL, 0, f->columns, f->rows, &f->lower,
	       &f->upper, &memory, &stat, &info);
	Destroy_CompCol_Permuted(&permuted);
	StatFree(&stat);
	SUPERLU_FREE(tree);
	f->factored = info >= 0 && info <= f->size;
	return info == 0 ? TAC_OK : info <= f->size ? TAC_ERROR_ARGUMENT : TAC_ERROR_MEMORY;
}

static tac_result build(elastic_factor *f, assembly *a)
{
	const elastic_model *m = a->model;
	if (!assemble(a))
		return TAC_ERROR_MEMORY;
	f->size = 3 * a->count;
	int32_t *place = malloc(((size_t)a->count + 1) * sizeof *place);
	f->unknown = malloc((size_t)m->node_count * sizeof *f->unknown);
	SuperMatrix matrix;
	tac_result result = TAC_ERROR_MEMORY;
	if (place && f->unknown && order_nodes(a, place) && compress(a, place, &matrix)) {
		for (int32_t n = 0; n < m->node_count; n++)
			f->unknown[n] = a->number[n] < 0 ? -1 : 3 * place[a->number[n]];
		result = factorise(f, &matrix);
		Destroy_CompCol_Matrix(&matrix);
	}
	free(place);
	return result;
}

tac_result tac_elastic_factor_create(const elastic_model *model, elastic_factor **out_factor)
{
	*out_factor = NULL;
	elastic_factor *f = calloc(1, sizeof *f);
	if (!f)
		return TAC_ERROR_MEMORY;
	assembly a = {.model = model};
	const tac_result result = build(f, &a);
	release(&a);
	if (result == TAC_OK)
		*out_factor = f;
	else
		tac_elastic_factor_destroy(&f);
	return result;
}

void tac_elastic_factor_destroy(elastic_factor **factor)
{
	elastic_factor *f = *factor;
	*factor = NULL;
	if (!f)
		return;
	if (f->factored) {
		Destroy_SuperNode_Matrix(&f->lower);
		Destroy_CompCol_Matrix(&f->upper);
	}
	free(f->rows);
	free(f->columns);
	free(f->unknown);
	free(f);
}

int32_t tac_elastic_factor_size(const elastic_factor *factor)
{
	return factor->size;
}

int32_t tac_elastic_factor_unknown(const elastic_factor *factor, int32_t node)
{
	return factor->unknown[node];
}

int64_t tac_elastic_factor_entries(const elastic_factor *factor)
{
	return (int64_t)((const SCformat *)factor->lower.Store)->nnz +
	       (int64_t)((const NCformat *)factor->upper.Store)->nnz;
}

tac_result tac_elastic_factor_solve(const elastic_factor *factor, double *b, int32_t count)
{
	SuperMatrix right;
	SuperLUStat_t stat;
	int info;
	dCreate_Dense_Matrix(&right, factor->size, count, b, factor->size, SLU_DN, SLU_D, SLU_GE);
	StatInit(&stat);
	// dgstrs only reads the factors and the permutations, but does not say so.
	elastic_factor copy = *factor;
	dgstrs(NOTRANS, &copy.lower, &copy.upper, copy.columns, copy.rows, &right, &stat, &info);
	StatFree(&stat);
	Destroy_SuperMatrix_Store(&right);
	return info == 0 ? TAC_OK : TAC_ERROR_MEMORY;
}
