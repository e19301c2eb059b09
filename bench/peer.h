// Peer: a public collision library behind one small interface, for the benchmarks. Each peer has a file,
// which is built if the library is installed. Together they are the shared library tactus_peers, which
// bench_peers links and bench_scd opens if it was built.
#ifndef TAC_BENCH_PEER_H
#define TAC_BENCH_PEER_H

#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer {
	const char *name;
	// Builds the body of a mesh; poses are given for the moving one.
	void *(*build)(const tac_mesh *mesh, bool moving);
	void (*destroy)(void *body);
	// Work for a pose that is done before the query and not timed; NULL: none. Only Embree needs it: it
	// rebuilds its tree, and "collide only" is its most favourable time.
	void (*place)(void *moving, const tac_rigid *motion);
	// The number of intersecting pairs that the library reports; with `first`, whether there is one.
	// Negative: it failed.
	long (*query)(void *fixed, void *moving, const tac_rigid *motion, bool first);
} peer;

extern const peer peer_fcl, peer_ode, peer_bullet, peer_embree, peer_cgal;

// The peers that were built, ending with NULL.
extern const peer *const tac_peers[];

#ifdef __cplusplus
}
#endif

#endif
