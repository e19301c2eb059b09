// Peer: a public collision library behind one small interface, for the benchmarks. Each lives in its own file
// and is built when its library is there; together they are the shared library tactus_peers, which
// bench_peers links and bench_scd opens if it was built.
#ifndef TAC_BENCH_PEER_H
#define TAC_BENCH_PEER_H

#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer {
	const char *name;
	// A body of a mesh; `moving` is the one that poses are given for.
	void *(*build)(const tac_mesh *mesh, bool moving);
	void (*destroy)(void *body);
	// Work that a pose needs before the query and that is not timed (NULL: none). Only for Embree, which
	// has to rebuild its tree: "collide only" is the kindest figure for it.
	void (*place)(void *moving, const tac_motion *motion);
	// Number of intersecting pairs that the library reports; in mode first, whether there is one.
	// Negative: it gave up.
	long (*query)(void *fixed, void *moving, const tac_motion *motion, bool first);
} peer;

extern const peer peer_fcl, peer_ode, peer_bullet, peer_embree, peer_cgal;

// Those that were built; ends with NULL.
extern const peer *const tac_peers[];

#ifdef __cplusplus
}
#endif

#endif
