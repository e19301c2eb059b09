// Assembly and factorisation, with SuperLU (X. S. Li, "An overview of SuperLU", ACM TOMS 31(3), 2005; BSD
// licence). The matrix K is symmetric and positive definite, so its diagonal serves as pivots, K = L U is
// L D L^T with D the diagonal of U, and L is all that is kept (tissue/elastic/lower.h).
#include "tissue/elastic/elastic.h"
#include "tissue/elastic/lower.h"
#include "tissue/elastic/order.h"

#include <slu_ddefs.h>

#include <stdlib.h>
#include <string.h>

struct elastic_factor {
	int32_t *unknown; // of each node
	elastic_lower lower;
	elastic_solve_fn *solve;
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

// The panels and where their values begin. The entries of L, with those on and above the diagonals of the
// panels.
static bool lay_out_panels(elastic_lower *l, const SCformat *from)
{
	l->panels = from->nsuper + 1;
	const size_t panels = (size_t)l->panels;
	l->first = malloc((panels + 1) * sizeof *l->first);
	l->row_start = malloc((panels + 1) * sizeof *l->row_start);
	l->value_start = malloc((panels + 1) * sizeof *l->value_start);
	if (!l->first || !l->row_start || !l->value_start)
		return false;
	l->row_start[0] = l->value_start[0] = 0;
	for (size_t p = 0; p < panels; p++) {
		l->first[p] = from->sup_to_col[p];
		const size_t columns = (size_t)(from->sup_to_col[p + 1] - l->first[p]);
		const size_t rows =
			(size_t)(from->rowind_colptr[l->first[p] + 1] - from->rowind_colptr[l->first[p]]);
		l->row_start[p + 1] = l->row_start[p] + rows - columns;
		l->value_start[p + 1] = l->value_start[p] + rows * columns;
	}
	l->first[panels] = l->size;
	l->row = malloc((l->row_start[panels] + 1) * sizeof *l->row);
	l->value = malloc((l->value_start[panels] + 1) * sizeof *l->value);
	l->inverse = malloc(((size_t)l->size + 1) * sizeof *l->inverse);
	return l->row && l->value && l->inverse;
}

// Copies L out of SuperLU's columns, row by row. False if a pivot is not positive.
static bool copy_panels(elastic_lower *l, const SCformat *from)
{
	const double *values = from->nzval;
	bool positive = true;
	for (int32_t p = 0; p < l->panels; p++) {
		const int32_t first = l->first[p], columns = l->first[p + 1] - first;
		const int32_t *rows = from->rowind + from->rowind_colptr[first];
		const int32_t count = from->rowind_colptr[first + 1] - from->rowind_colptr[first];
		double *to = l->value + l->value_start[p];
		for (int32_t k = 0; k < columns; k++) {
			const double *column = values + from->nzval_colptr[first + k];
			for (int32_t i = 0; i < count; i++)
				to[(size_t)i * (size_t)columns + (size_t)k] = column[i];
			positive = positive && column[k] > 0;
			l->inverse[first + k] = 1 / column[k];
		}
		for (int32_t i = columns; i < count; i++)
			l->row[l->row_start[p] + (size_t)(i - columns)] = rows[i];
	}
	return positive;
}

// Takes over L and the order of its rows: place[k] is where unknown k went.
static tac_result take_lower(elastic_lower *l, const SuperMatrix *lower, const int *rows, const int *columns,
			     int32_t *place)
{
	for (int32_t i = 0; i < l->size; i++) {
		if (rows[i] != columns[i]) // a pivot beside the diagonal: the matrix is not positive definite
			return TAC_ERROR_ARGUMENT;
		place[i] = rows[i];
	}
	if (!lay_out_panels(l, lower->Store))
		return TAC_ERROR_MEMORY;
	return copy_panels(l, lower->Store) ? TAC_OK : TAC_ERROR_ARGUMENT;
}

static tac_result factorise(elastic_lower *l, SuperMatrix *matrix, int32_t *place)
{
	superlu_options_t options;
	SuperLUStat_t stat;
	GlobalLU_t memory;
	SuperMatrix permuted, lower, upper;
	int info = 0;
	int *tree = intMalloc(l->size), *rows = intMalloc(l->size), *columns = intMalloc(l->size);
	tac_result result = TAC_ERROR_MEMORY;
	if (tree && rows && columns) {
		set_default_options(&options);
		options.SymmetricMode = YES;
		options.DiagPivotThresh = 0;
		options.ColPerm = NATURAL; // the unknowns are numbered in the order of their elimination
		for (int32_t i = 0; i < l->size; i++)
			columns[i] = i;
		StatInit(&stat);
		sp_preorder(&options, matrix, columns, tree, &permuted);
		dgstrf(&options, &permuted, sp_ienv(2), sp_ienv(1), tree, NULL, 0, columns, rows, &lower,
		       &upper, &memory, &stat, &info);
		Destroy_CompCol_Permuted(&permuted);
		StatFree(&stat);
		if (info == 0)
			result = take_lower(l, &lower, rows, columns, place);
		else if (info <= l->size)
			result = TAC_ERROR_ARGUMENT;
		if (info >= 0 && info <= l->size) {
			Destroy_SuperNode_Matrix(&lower);
			Destroy_CompCol_Matrix(&upper);
		}
	}
	SUPERLU_FREE(tree);
	SUPERLU_FREE(rows);
	SUPERLU_FREE(columns);
	return result;
}

static tac_result build(elastic_factor *f, assembly *a)
{
	const elastic_model *m = a->model;
	if (!assemble(a))
		return TAC_ERROR_MEMORY;
	f->lower.size = 3 * a->count;
	int32_t *place = malloc(((size_t)a->count + 1) * sizeof *place);
	int32_t *row = malloc(((size_t)f->lower.size + 1) * sizeof *row);
	f->unknown = malloc((size_t)m->node_count * sizeof *f->unknown);
	SuperMatrix matrix;
	tac_result result = TAC_ERROR_MEMORY;
	if (place && row && f->unknown && order_nodes(a, place) && compress(a, place, &matrix)) {
		result = factorise(&f->lower, &matrix, row);
		Destroy_CompCol_Matrix(&matrix);
	}
	// The three unknowns of a node follow each other in L, too: they are connected with the same others.
	for (int32_t n = 0; result == TAC_OK && n < m->node_count; n++) {
		const int32_t first = a->number[n] < 0 ? -1 : 3 * place[a->number[n]];
		f->unknown[n] = first < 0 ? -1 : row[first];
		if (first >= 0 && (row[first + 1] != row[first] + 1 || row[first + 2] != row[first] + 2))
			result = TAC_ERROR_ARGUMENT;
	}
	free(place);
	free(row);
	return result;
}

tac_result tac_elastic_factor_create(const elastic_model *model, elastic_factor **out_factor)
{
	*out_factor = NULL;
	elastic_factor *f = calloc(1, sizeof *f);
	if (!f)
		return TAC_ERROR_MEMORY;
	static elastic_solve_fn *const variants[] = TAC_SIMD_TABLE(tac_elastic_lower_solve);
	f->solve = variants[tac_simd_select()];
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
	free(f->lower.first);
	free(f->lower.row_start);
	free(f->lower.row);
	free(f->lower.value_start);
	free(f->lower.value);
	free(f->lower.inverse);
	free(f->unknown);
	free(f);
}

int32_t tac_elastic_factor_size(const elastic_factor *factor)
{
	return factor->lower.size;
}

int32_t tac_elastic_factor_unknown(const elastic_factor *factor, int32_t node)
{
	return factor->unknown[node];
}

int64_t tac_elastic_factor_entries(const elastic_factor *factor)
{
	return (int64_t)factor->lower.value_start[factor->lower.panels];
}

static int32_t panel_of(const elastic_lower *l, int32_t row)
{
	int32_t low = 0, high = l->panels;
	while (high - low > 1) {
		const int32_t middle = low + (high - low) / 2;
		if (l->first[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint8_t *tac_elastic_factor_needed(const elastic_factor *factor, const int32_t *nodes, int32_t count)
{
	const elastic_lower *l = &factor->lower;
	uint8_t *needed = calloc((size_t)l->panels + 1, sizeof *needed);
	for (int32_t i = 0; needed && i < count; i++) {
		for (int k = 0; k < 3 && factor->unknown[nodes[i]] >= 0; k++)
			needed[panel_of(l, factor->unknown[nodes[i]] + k)] = 1;
	}
	// A panel depends on the rows below it, which belong to later ones.
	for (int32_t p = 0; needed && p < l->panels; p++) {
		for (size_t n = l->row_start[p]; needed[p] && n < l->row_start[p + 1]; n++)
			needed[panel_of(l, l->row[n])] = 1;
	}
	return needed;
}

void tac_elastic_factor_solve(const elastic_factor *factor, const uint8_t *needed, int32_t from, double *x)
{
	factor->solve(&factor->lower, needed, from, x);
}
