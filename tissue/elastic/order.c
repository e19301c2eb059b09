// Nested dissection by coordinates (A. George, "Nested dissection of a regular finite element mesh", 1973):
// the nodes are halved along their longest extent, the nodes of one half that are connected with the other
// are eliminated last. A lattice has coordinates, so no graph has to be partitioned.
#include "tissue/elastic/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Parts of at most this many nodes are not divided.
#define LEAF 24

typedef struct dissection {
	const elastic_graph *graph;
	const tac_dvec3 *places;
	int32_t *list;  // of nodes, divided in place
	int32_t *side;  // of each node: the number of the part that it is in, to tell the halves apart
	int32_t parts;  // numbers used so far
	int32_t *next;  // room for a list
	int32_t *order; // the result: nodes in the order of their elimination
	int32_t ordered;
} dissection;

static int longest_axis(const dissection *d, int32_t begin, int32_t end)
{
	tac_dvec3 low = d->places[d->list[begin]], high = low;
	for (int32_t i = begin; i < end; i++) {
		low = tac_dvec3_min(low, d->places[d->list[i]]);
		high = tac_dvec3_max(high, d->places[d->list[i]]);
	}
	const tac_dvec3 size = tac_dvec3_sub(high, low);
	return size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
}

// Nodes by one coordinate, equal ones by number.
static bool comes_before(const dissection *d, int axis, int32_t a, int32_t b)
{
	const double x = tac_dvec3_get(d->places[a], axis), y = tac_dvec3_get(d->places[b], axis);
	return x != y ? x < y : a < b;
}

// Moves the lower half by one coordinate to the front (C. A. R. Hoare, "Algorithm 65: find", 1961).
static void halve(dissection *d, int axis, int32_t begin, int32_t end, int32_t middle)
{
	int32_t low = begin, high = end - 1;
	while (low < high) {
		const int32_t pivot = d->list[low + (high - low) / 2];
		int32_t i = low, j = high;
		while (i <= j) {
			while (comes_before(d, axis, d->list[i], pivot))
				i++;
			while (comes_before(d, axis, pivot, d->list[j]))
				j--;
			if (i <= j) {
				const int32_t swap = d->list[i];
				d->list[i++] = d->list[j];
				d->list[j--] = swap;
			}
		}
		if (middle <= j)
			high = j;
		else if (middle >= i)
			low = i;
		else
			return;
	}
}

static bool touches(const dissection *d, int32_t node, int32_t part)
{
	for (int32_t k = d->graph->start[node]; k < d->graph->start[node + 1]; k++) {
		if (d->side[d->graph->neighbour[k]] == part)
			return true;
	}
	return false;
}

// Moves the nodes from `begin` to `end` that touch `part` to the end of that range. Where they begin.
static int32_t separate(dissection *d, int32_t begin, int32_t end, int32_t part)
{
	int32_t kept = begin, moved = 0;
	for (int32_t i = begin; i < end; i++) {
		const int32_t node = d->list[i];
		if (touches(d, node, part))
			d->next[moved++] = node;
		else
			d->list[kept++] = node;
	}
	memcpy(d->list + kept, d->next, (size_t)moved * sizeof *d->list);
	return kept;
}

static void dissect(dissection *d, int32_t begin, int32_t end)
{
	if (end - begin <= LEAF) {
		for (int32_t i = begin; i < end; i++)
			d->order[d->ordered++] = d->list[i];
		return;
	}
	const int32_t middle = begin + (end - begin) / 2;
	halve(d, longest_axis(d, begin, end), begin, end, middle);
	const int32_t low = ++d->parts, high = ++d->parts;
	for (int32_t i = begin; i < end; i++)
		d->side[d->list[i]] = i < middle ? low : high;
	int32_t from_low = 0, from_high = 0;
	for (int32_t i = begin; i < end; i++) {
		if (i < middle)
			from_low += touches(d, d->list[i], high);
		else
			from_high += touches(d, d->list[i], low);
	}
	if (from_low <= from_high) {
		const int32_t cut = separate(d, begin, middle, high);
		memcpy(d->next, d->list + cut, (size_t)(middle - cut) * sizeof *d->next);
		// The separator goes to the end of the whole range, behind the upper half.
		memmove(d->list + cut, d->list + middle, (size_t)(end - middle) * sizeof *d->list);
		memcpy(d->list + end - (middle - cut), d->next, (size_t)(middle - cut) * sizeof *d->list);
		const int32_t last = end - (middle - cut);
		dissect(d, begin, cut);
		dissect(d, cut, last);
		for (int32_t i = last; i < end; i++)
			d->order[d->ordered++] = d->list[i];
	} else {
		const int32_t cut = separate(d, middle, end, low);
		dissect(d, begin, middle);
		dissect(d, middle, cut);
		for (int32_t i = cut; i < end; i++)
			d->order[d->ordered++] = d->list[i];
	}
}

bool tac_elastic_order(const elastic_graph *graph, const tac_dvec3 *places, int32_t *out_order)
{
	const size_t count = (size_t)graph->count;
	dissection d = {.graph = graph,
			.places = places,
			.list = malloc((count + 1) * sizeof *d.list),
			.side = calloc(count + 1, sizeof *d.side),
			.next = malloc((count + 1) * sizeof *d.next),
			.order = out_order};
	const bool good = d.list && d.side && d.next;
	if (good) {
		for (int32_t i = 0; i < graph->count; i++)
			d.list[i] = i;
		dissect(&d, 0, graph->count);
	}
	free(d.list);
	free(d.side);
	free(d.next);
	return good;
}
