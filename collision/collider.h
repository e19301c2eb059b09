// Collider: one interface for all engines that decide whether a moving shape touches a fixed one, and where.
// Shapes are built once from meshes. Queries then run on the real-time thread: they are re-entrant over the
// read-only shapes, and all their memory is in a context of fixed size that the caller owns. An answer is
// none, hit or unknown; unknown (budget spent, scratch memory full) is never reported as none.
//
// An engine embeds tac_collider as its first member and fills in its functions; its shapes embed tac_shape as
// their first member.
#ifndef TAC_COLLISION_COLLIDER_H
#define TAC_COLLISION_COLLIDER_H

#include "base/algebra.h"
#include "base/result.h"
#include "collision/mesh.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_collider tac_collider;
struct tac_solids;

typedef enum tac_overlap {
	TAC_OVERLAP_NONE,    // proved: no common point
	TAC_OVERLAP_HIT,     // at least one pair of triangles has a common point; touching counts
	TAC_OVERLAP_UNKNOWN, // undecided: treat it as contact
} tac_overlap;

typedef enum tac_query_mode {
	TAC_QUERY_FIRST,    // stop at the first pair of triangles
	TAC_QUERY_PAIRS,    // all pairs of triangles
	TAC_QUERY_SURFACES, // all pairs of surfaces, each once
} tac_query_mode;

// The limits of a query; 0: no limit. A query stops soon after it reaches one, not exactly at it.
typedef struct tac_budget {
	int64_t nodes;       // pairs of tree nodes; clocks of an engine that simulates gates
	int64_t deadline_ns; // on CLOCK_MONOTONIC
} tac_budget;

// The work of the last query, including resumptions. What counts as a node or a test depends on the engine.
typedef struct tac_counters {
	int64_t overlap_tests;  // tests of two bounding volumes (aligned visits in the CollisionChip paper)
	int64_t transforms;     // bounding volumes brought into the other frame (tumbled nodes in that paper)
	int64_t nodes;          // nodes fetched; repeated visits count again
	int64_t triangle_tests; // pairs of triangles
	int64_t exact_tests;    // of these, pairs that single precision could not decide
} tac_counters;

// Base of an engine's shape. Read-only once built; the mesh must outlive it.
typedef struct tac_shape {
	const tac_collider *collider;
	const tac_mesh *mesh;
	size_t bytes;    // memory of the shape without the mesh
	uint64_t serial; // unique among all shapes of the process
} tac_shape;

// The answer and the working memory of one query at a time.
typedef struct tac_context {
	// ---- The answer: read it after a query. ----

	// Pair k is triangle fixed_ids[k] of the fixed mesh and moving_ids[k] of the moving mesh; in mode
	// surfaces these are surfaces. Pairs beyond the capacity are counted, but not stored.
	int32_t *fixed_ids, *moving_ids;
	int64_t pair_count;
	int64_t pair_capacity;
	tac_counters counters;
	bool pending; // the budget was spent; tac_collider_resume continues the query

	// ---- Settings: change them between queries. ----

	// Use temporal coherence (engine wide): a query first tests the pair of leaves that hit last, and it
	// answers none without a traversal as long as the moving shape has moved by less than the clearance
	// of an earlier query of the same two shapes. Answers stay the same. Default: true.
	bool coherent;

	// ---- For engines: the query in progress and their working memory. ----

	const tac_shape *moving, *fixed;
	tac_rigid motion;
	tac_query_mode mode;
	float within_m; // above 0: find pairs nearer than this (collision/distance.h)
	tac_budget budget;
	int64_t nodes_left;      // of the budget
	int32_t resume_state[8]; // the engine's, kept for a resumption

	// Coherence, valid for the shapes with these two serials.
	uint64_t moving_serial, fixed_serial;
	int32_t witness_fixed_leaf, witness_moving_leaf; // the leaves that hit last; -1: none
	float clearance_m;                               // a lower bound of the distance; 0: none is known
	tac_rigid clearance_motion;                      // the motion at which it holds

	// Hash set of the surface pairs found; a slot is in use if its stamp is the query's.
	int64_t *surface_pairs;
	uint32_t *surface_pair_stamps;
	uint32_t query_stamp;
	int64_t surface_pair_mask; // number of slots - 1

	void *scratch; // 64-byte aligned
	size_t scratch_bytes;
} tac_context;

typedef struct tac_context_def {
	int64_t pair_capacity; // pairs that an answer can hold; default 65536
	size_t scratch_bytes;  // default 4 MiB, enough for every engine here on meshes of a million triangles
} tac_context_def;

// What an engine can do beyond the queries below.
typedef enum tac_collider_flag {
	TAC_COLLIDER_TRIANGLES = 1, // its pairs are intersecting triangles, so a mover may use their normals
	TAC_COLLIDER_WITHIN = 2,    // it answers tac_distance_within
	TAC_COLLIDER_UPLOADS = 4,   // building a shape uploads it to a device
} tac_collider_flag;

struct tac_nearest;

struct tac_collider {
	const char *name;
	const char *variant; // the instruction set of its kernels
	uint32_t flags;      // tac_collider_flag
	tac_result (*build)(const tac_collider *self, const tac_mesh *mesh, tac_shape **out_shape);
	// Optional, NULL otherwise: the shape of round solids.
	tac_result (*build_solids)(const tac_collider *self, const struct tac_solids *solids,
				   tac_shape **out_shape);
	void (*destroy)(tac_shape *shape);
	// Starts the query in the context, or continues it (`resume`). Sets pending if the budget was spent.
	tac_overlap (*run)(const tac_collider *self, tac_context *context, bool resume);
	// Optional, NULL otherwise: the same for the nearest points (collision/distance.h).
	tac_overlap (*nearest)(const tac_collider *self, tac_context *context, struct tac_nearest *nearest,
			       bool resume);
	// The longest that a node of a budget takes, ns, for an engine so slow that a real-time loop has to
	// count its nodes (a simulation of gates); 0: about 10 ns.
	int32_t node_ns;
};

// Thread: any.
TAC_API tac_context_def tac_context_def_default(void);

// The caller owns *out_context. Thread: setup.
TAC_API tac_result tac_context_create(const tac_context_def *def, tac_context **out_context);

// Frees *context and nulls the pointer; NULL is allowed.
// Thread: setup.
TAC_API void tac_context_destroy(tac_context **context);

// Clears what earlier queries left for later ones (tac_context::coherent), as if the context were new.
// Thread: RT.
TAC_API void tac_context_forget(tac_context *context);

// The engine of that name (wide, doptree, classic, scd, solid, or one that was added), or NULL. Engines live
// as long as the process; the first call selects their SIMD variant by tac_simd_select. Thread: setup.
TAC_API const tac_collider *tac_collider_find(const char *name);

// The engine at that index, or NULL after the last. Engines that were added come last.
// Thread: setup.
TAC_API const tac_collider *tac_collider_at(int index);

// Registers an engine from outside this library (collision/chip_collider.h, devices/board.h), so that
// tac_collider_find returns it; the caller keeps it. Adding it twice is allowed. TAC_ERROR_ARGUMENT with a
// log line if another engine has the name, TAC_ERROR_MEMORY if TAC_COLLIDERS_ADDED_MAX are registered.
// Thread: setup, one at a time.
#define TAC_COLLIDERS_ADDED_MAX 8
TAC_API tac_result tac_collider_add(const tac_collider *collider);

// Undoes tac_collider_add; does nothing if the engine was not added.
// Thread: setup, one at a time.
TAC_API void tac_collider_remove(const tac_collider *collider);

// Builds the shape of a mesh. An empty mesh is allowed; it touches nothing. The caller owns *out_shape and
// keeps the mesh alive as long. Thread: setup.
TAC_API tac_result tac_shape_build(const tac_collider *collider, const tac_mesh *mesh, tac_shape **out_shape);

// Builds the shape of round solids together with a mesh of them. The caller owns *out_shape.
// TAC_ERROR_ARGUMENT with a log line if the engine has no build_solids, or if a solid is too small or too far
// from the origin for a mesh in single precision. Thread: setup.
TAC_API tac_result tac_shape_build_solids(const tac_collider *collider, const struct tac_solids *solids,
					  tac_shape **out_shape);

// Frees *shape and nulls the pointer; NULL is allowed.
// Thread: setup.
TAC_API void tac_shape_destroy(tac_shape **shape);

// Decides whether `moving`, placed by `motion`, and `fixed` have a common point; `collider` built both. The
// answer is exact for the vertices of the moving mesh rounded to double (the chip is the exception, see
// collision/chip_collider.h). The context receives the pairs; in mode first there is at most one. A motion
// that is not finite answers unknown.
// Thread: RT.
TAC_API tac_overlap tac_collider_query(const tac_collider *collider, tac_context *context,
				       const tac_shape *moving, const tac_shape *fixed,
				       const tac_rigid *motion, tac_query_mode mode, tac_budget budget);

// Continues a query whose budget was spent (context->pending) with a new budget. Pairs found earlier are
// kept. Thread: RT.
TAC_API tac_overlap tac_collider_resume(const tac_collider *collider, tac_context *context,
					tac_budget budget);

// ---- For engines. ----

// Stores a pair of triangles; in mode surfaces, the pair of their surfaces unless it was stored before.
// Thread: RT.
TAC_API void tac_context_report(tac_context *context, int32_t fixed_triangle, int32_t moving_triangle);

// Whether the budget is spent: nodes_left is 0 or less, or the deadline has passed. Reads the clock only if
// there is a deadline.
// Thread: RT.
TAC_API bool tac_context_budget_spent(const tac_context *context);

// Whether two triangles of the query's meshes intersect, decided exactly.
// Thread: RT.
TAC_API bool tac_context_triangles_meet(tac_context *context, int32_t fixed_triangle,
					int32_t moving_triangle);

// Largest |entry| of RᵀR − 1: 0 for a rotation.
// Thread: RT.
TAC_API float tac_rigid_skew(const tac_rigid *motion);

#ifdef __cplusplus
}
#endif

#endif
