// Body: all that tactus-elastic does with a request.
#ifndef TAC_TISSUE_ELASTIC_BODY_H
#define TAC_TISSUE_ELASTIC_BODY_H

#include "tissue/elastic/elastic.h"

#ifdef __cplusplus
extern "C" {
#endif

// A body before its columns are solved.
typedef struct elastic_body {
	tac_lattice *lattice;
	elastic_model model;
	// The vertices of the compliance, nodes first, as vertices of the lattice; and its triangles.
	int32_t *vertices;
	int32_t node_count, vertex_count;
	tac_mesh_triangle *triangles;
	int32_t triangle_count;
	elastic_surface surface;
} elastic_body;

// Lattice, elements, materials, fixed parts. Fails with one log line as tac_elastic_prepare does; nothing to
// release then. Thread: setup.
tac_result tac_elastic_body_init(elastic_body *out_body, const tac_elastic_def *def);

// Thread: setup.
void tac_elastic_body_fini(elastic_body *body);

// Factorises the body and computes its compliance. Thread: setup.
tac_result tac_elastic_body_compute(const elastic_body *body, const tac_elastic_def *def, uint64_t hash,
				    int threads, elastic_progress progress, void *user,
				    tac_compliance **out_compliance);

#ifdef __cplusplus
}
#endif

#endif
