// Elastic: linear elasticity of a lattice by finite elements with straight sides, linear (P1) or quadratic
// (P2) in each tetrahedron: O. C. Zienkiewicz, R. L. Taylor, "The Finite Element Method", 2000. P1 elements
// are too stiff when the material is nearly incompressible (locking), P2 elements are not.
//
// This folder is the program tactus-elastic, which prepares a body, and what the runtime needs to start it
// (prepare.c, request.c). Only the program links the sparse solver.
#ifndef TAC_TISSUE_ELASTIC_ELASTIC_H
#define TAC_TISSUE_ELASTIC_ELASTIC_H

#include "tissue/compliance/cluster.h"
#include "tissue/elastic.h"
#include "tissue/lattice/lattice.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ELASTIC_CORNERS 4
#define ELASTIC_NODES   10 // of a P2 element: corners, then the middles of the edges 01 02 03 12 13 23

typedef struct elastic_element {
	int32_t node[ELASTIC_NODES]; // P1 uses the corners alone
	double lambda_Pa, mu_Pa;     // Lame's constants, means over its volume
} elastic_element;

// A body as finite elements. The first nodes are the lattice's vertices in their order.
typedef struct elastic_model {
	int order; // 1 or 2
	tac_dvec3 *nodes;
	int32_t node_count;
	elastic_element *elements;
	int32_t element_count;
	bool *fixed;           // of each node
	int32_t corner_count;  // nodes from here on are the middles of edges
	lattice_table middles; // of order 2: the middles less corner_count, by the keys of the edges
} elastic_model;

// Lame's constants. Thread: any.
double tac_elastic_lambda(double young_Pa, double poisson);
double tac_elastic_mu(double young_Pa, double poisson);

// Makes elements of one material from a lattice. TAC_ERROR_MEMORY without a log line; nothing to release
// then. Thread: setup.
tac_result tac_elastic_model_init(elastic_model *out_model, const tac_lattice *lattice, int order,
				  double young_Pa, double poisson);

// Gives what is inside a closed mesh another material, in proportion to the part of each element that it
// covers. TAC_ERROR_ARGUMENT if it covers nothing, TAC_ERROR_MEMORY; without a log line. Thread: setup.
tac_result tac_elastic_model_include(elastic_model *model, const tac_mesh *mesh, double young_Pa,
				     double poisson);

// Thread: setup.
void tac_elastic_model_fini(elastic_model *model);

// The number of nodes of an element: 4 or 10. Thread: any.
static inline int tac_elastic_element_nodes(const elastic_model *model)
{
	return model->order == 1 ? ELASTIC_CORNERS : ELASTIC_NODES;
}

// The node at the middle of an edge between two corners, of a model of order 2. Thread: any.
static inline int32_t tac_elastic_middle(const elastic_model *model, int32_t a, int32_t b)
{
	return model->corner_count + tac_lattice_table_find(&model->middles, tac_lattice_edge_key(a, b));
}

// The stiffness matrix of an element, N/m: row and column 3 a + k for direction k of its node a.
// Thread: any.
void tac_elastic_element_stiffness(const elastic_model *model, int32_t element,
				   double out[3 * ELASTIC_NODES][3 * ELASTIC_NODES]);

// The forces of the elements on displaced nodes, N; fixed nodes included. Thread: any.
void tac_elastic_forces(const elastic_model *model, const tac_dvec3 *displacement_m, tac_dvec3 *out_force_N);

// ---- the factorised body ----

typedef struct elastic_factor elastic_factor;

// Factorises the stiffness matrix of the nodes that are not fixed. TAC_ERROR_ARGUMENT if it is singular: the
// body is not held; TAC_ERROR_MEMORY. No log line. Thread: setup.
tac_result tac_elastic_factor_create(const elastic_model *model, elastic_factor **out_factor);

// Thread: setup.
void tac_elastic_factor_destroy(elastic_factor **factor);

// The number of unknowns: three for each node that is not fixed, one after another. The first of a node, or
// -1. Thread: any.
int32_t tac_elastic_factor_size(const elastic_factor *factor);
int32_t tac_elastic_factor_unknown(const elastic_factor *factor, int32_t node);

// Solves K x = b for ELASTIC_WIDTH right-hand sides (tissue/elastic/lower.h) in place: x[ELASTIC_WIDTH i + k]
// is unknown i of right-hand side k, aligned to 64 bytes. Only unknowns from `from` on, and only those of the
// nodes that `needed` was made for, are right afterwards; NULL: all nodes. Several threads may solve at once.
// Thread: any.
void tac_elastic_factor_solve(const elastic_factor *factor, const uint8_t *needed, int32_t from, double *x);

// What has to be solved for the unknowns of some nodes, for the caller to free; NULL without memory.
// Thread: setup.
uint8_t *tac_elastic_factor_needed(const elastic_factor *factor, const int32_t *nodes, int32_t count);

// The entries of the factors, for messages. Thread: any.
int64_t tac_elastic_factor_entries(const elastic_factor *factor);

// ---- the compliance ----

// A force on one of the vertices of the surface, as forces on the nodes around it; its displacement is the
// mean of theirs with the same weights.
typedef struct elastic_surface {
	int32_t count;  // of surface vertices that are touched
	int32_t *start; // of each in the arrays below, count + 1
	int32_t *node;
	double *weight;
} elastic_surface;

// Told the part that is done.
typedef void (*elastic_progress)(void *user, double part);

// The columns of a body's compliance, by solution (tissue/compliance/cluster.h).
typedef struct elastic_columns {
	const elastic_factor *factor;
	const elastic_surface *surface;
	uint8_t *needed;
	int32_t *order; // of each touched vertex: the first of its unknowns
} elastic_columns;

// False without memory; nothing to release then. Thread: setup.
bool tac_elastic_columns_init(elastic_columns *out_columns, const elastic_factor *factor,
			      const elastic_surface *surface);

// Thread: setup.
void tac_elastic_columns_fini(elastic_columns *columns);

// For compliance_source.columns, with an elastic_columns as user. Thread: any.
bool tac_elastic_columns_solve(const void *user, const compliance_levels *levels, const int32_t *points,
			       int32_t count, int32_t from, float *out);

#ifdef __cplusplus
}
#endif

#endif
