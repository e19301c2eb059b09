// The solution of tissue/elastic/lower.h, compiled once for each SIMD variant. Every right-hand side is
// computed by the same operations in the same order, whatever the variant.
#include "tissue/elastic/lower.h"

#define INLINE static inline __attribute__((always_inline))

// A compiler divides it into what the machine has.
typedef double wide __attribute__((vector_size(64)));
#define PARTS (ELASTIC_WIDTH / 8)

typedef struct row {
	wide part[PARTS];
} row;

_Static_assert(sizeof(row) == ELASTIC_WIDTH * sizeof(double), "a row holds all right-hand sides");

INLINE void subtract(row *a, double factor, const row *b)
{
	for (int k = 0; k < PARTS; k++)
		a->part[k] -= factor * b->part[k];
}

// Whether the rows of a panel are still zero: where no force acts below, nothing has to be done.
INLINE int is_zero(const double *x, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (x[i] != 0)
			return 0;
	}
	return 1;
}

INLINE void forward(const elastic_lower *l, int32_t p, row *x)
{
	const int32_t columns = l->first[p + 1] - l->first[p];
	const double *value = l->value + l->value_start[p];
	row *own = x + l->first[p];
	if (is_zero((const double *)own, (size_t)columns * ELASTIC_WIDTH))
		return;
	for (int32_t i = 1; i < columns; i++) {
		row sum = own[i];
		for (int32_t k = 0; k < i; k++)
			subtract(&sum, value[(size_t)i * (size_t)columns + (size_t)k], &own[k]);
		own[i] = sum;
	}
	value += (size_t)columns * (size_t)columns;
	const size_t begin = l->row_start[p], end = l->row_start[p + 1];
	size_t n = begin;
	for (; n + 1 < end; n += 2) { // two rows share what they read
		row a = x[l->row[n]], b = x[l->row[n + 1]];
		const double *first = value + (n - begin) * (size_t)columns, *second = first + columns;
		for (int32_t k = 0; k < columns; k++) {
			subtract(&a, first[k], &own[k]);
			subtract(&b, second[k], &own[k]);
		}
		x[l->row[n]] = a;
		x[l->row[n + 1]] = b;
	}
	for (; n < end; n++) {
		row a = x[l->row[n]];
		for (int32_t k = 0; k < columns; k++)
			subtract(&a, value[(n - begin) * (size_t)columns + (size_t)k], &own[k]);
		x[l->row[n]] = a;
	}
}

INLINE void backward(const elastic_lower *l, int32_t p, row *x)
{
	const int32_t columns = l->first[p + 1] - l->first[p];
	const double *value = l->value + l->value_start[p];
	const double *below = value + (size_t)columns * (size_t)columns;
	row *own = x + l->first[p];
	const size_t begin = l->row_start[p], end = l->row_start[p + 1];
	int32_t k = 0;
	for (; k + 1 < columns; k += 2) {
		row a = own[k], b = own[k + 1];
		for (size_t n = begin; n < end; n++) {
			const double *v = below + (n - begin) * (size_t)columns + (size_t)k;
			subtract(&a, v[0], &x[l->row[n]]);
			subtract(&b, v[1], &x[l->row[n]]);
		}
		own[k] = a;
		own[k + 1] = b;
	}
	for (; k < columns; k++) {
		row a = own[k];
		for (size_t n = begin; n < end; n++)
			subtract(&a, below[(n - begin) * (size_t)columns + (size_t)k], &x[l->row[n]]);
		own[k] = a;
	}
	for (int32_t i = columns - 2; i >= 0; i--) {
		row sum = own[i];
		for (int32_t j = i + 1; j < columns; j++)
			subtract(&sum, value[(size_t)j * (size_t)columns + (size_t)i], &own[j]);
		own[i] = sum;
	}
}

void TAC_SIMD_NAME(tac_elastic_lower_solve)(const elastic_lower *l, const uint8_t *needed, int32_t from,
					    double *x)
{
	row *rows = (row *)(void *)x;
	for (int32_t p = 0; p < l->panels; p++)
		forward(l, p, rows);
	for (int32_t i = 0; i < l->size; i++) {
		for (int k = 0; k < PARTS; k++)
			rows[i].part[k] *= l->inverse[i];
	}
	for (int32_t p = l->panels - 1; p >= 0 && l->first[p + 1] > from; p--) {
		if (!needed || needed[p])
			backward(l, p, rows);
	}
}
