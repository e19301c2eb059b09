// Order: in which order the nodes of a body are eliminated, so that its factors stay small.
#ifndef TAC_TISSUE_ELASTIC_ORDER_H
#define TAC_TISSUE_ELASTIC_ORDER_H

#include "base/algebra.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Which nodes are connected.
typedef struct elastic_graph {
	int32_t count;
	int32_t *start;     // of each node in `neighbour`, count + 1
	int32_t *neighbour; // both directions, the node itself not included
} elastic_graph;

// Nested dissection. out_order[k] is the node that is eliminated as number k. False without memory.
// Thread: setup.
bool tac_elastic_order(const elastic_graph *graph, const tac_dvec3 *places, int32_t *out_order);

#ifdef __cplusplus
}
#endif

#endif
