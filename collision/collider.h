// Collider: one interface for every engine that answers whether a moving shape touches a fixed one, and
// where. Shapes are built once from meshes; queries then run on the real-time thread, re-entrant over the
// read-only shapes, with all their memory in a context of fixed size that the caller owns. An answer is none,
// hit or unknown; unknown (budget spent, scratch memory full) is never reported as none.
//
// An engine embeds tac_collider first and fills its functions; its shapes embed tac_shape first.
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

typedef enum tac_contact {
	TAC_CONTACT_NONE,    // proved: no common point
	TAC_CONTACT_HIT,     // at least one pair of triangles has a common point; touching counts
	TAC_CONTACT_UNKNOWN, // not decided: treat it as contact
} tac_contact;

typedef enum tac_query_mode {
	TAC_QUERY_FIRST,    // stop at the first pair of triangles
	TAC_QUERY_PAIRS,    // all pairs of triangles
	TAC_QUERY_SURFACES, // all pairs of surfaces, each once
} tac_query_mode;

// A point of the moving shape in the frame of the fixed one: rotation·x + translation. The matrix is used as
// it is; what it lacks to a rotation only makes the bounds wider.
typedef struct tac_motion {
	tac_mat3 rotation;
	tac_vec3 translation; // m
} tac_motion;

// What a query may spend; 0: no limit. It stops soon after, not exactly at, either limit.
typedef struct tac_budget {
	int64_t nodes;       // pairs of tree nodes
	int64_t deadline_ns; // on CLOCK_MONOTONIC
} tac_budget;

// Work done by the last query, resumptions included. What a node or a test is depends on the engine.
typedef struct tac_counters {
	int64_t overlap_tests;  // tests of two bounding volumes (the paper's aligned visits)
	int64_t transforms;     // bounding volumes brought into the other frame (the paper's tumbled nodes)
	int64_t nodes;          // nodes fetched, repeated visits counted
	int64_t triangle_tests; // pairs of triangles
	int64_t exact_tests;    // of these, pairs that single precision could not decide
} tac_counters;

// Base of an engine's shape. Read-only once built; the mesh must outlive it.
typedef struct tac_shape {
	const tac_collider *collider;
	const tac_mesh *mesh;
	size_t bytes;    // of the shape in memory, without the mesh
	uint64_t serial; // of tac_shape_build: no two shapes have the same
} tac_shape;

// The scratch memory and the answer of one query at a time.
typedef struct tac_context {
	// The answer. Pair k is triangle fixed_ids[k] of the fixed mesh with moving_ids[k] of the moving one,
	// or two surfaces; pairs found beyond the capacity are counted, not stored.
	int32_t *fixed_ids, *moving_ids;
	int64_t pair_count;
	tac_counters counters;

	// Use what earlier queries of the same shapes found (wide): the pair of leaves that hit last is tried
	// first, and as long as the moving shape has moved by less than its last known clearance, the answer
	// is none. Answers stay the same; on by default.
	bool coherent;

	// The query in progress, for the engines.
	const tac_shape *moving, *fixed;
	tac_motion motion;
	tac_query_mode mode;
	tac_budget budget;
	float within; // m; above 0: pairs nearer than this, see collision/distance.h
	int64_t pair_capacity;
	uint64_t moving_serial, fixed_serial;  // of the shapes that the next three lines speak of
	int32_t witness_fixed, witness_moving; // leaves; -1: none
	float clearance;                       // m; the shapes are that far apart at least, 0: nothing known
	tac_motion clear_at;                   // there
	bool pending;                          // stopped by its budget; tac_collider_resume goes on
	int64_t nodes_left;                    // of the budget
	int32_t state[8];                      // of the engine, kept for the resumption
	int64_t *seen;                         // hash set of surface pairs
	uint32_t *seen_stamp;                  // a slot is in use when it has the stamp of this query
	uint32_t stamp;
	int64_t seen_mask;
	void *scratch; // 64-byte aligned
	size_t scratch_bytes;
} tac_context;

typedef struct tac_context_def {
	int64_t pair_capacity; // pairs that an answer can hold; default 65536
	size_t scratch_bytes;  // default 4 MiB, enough for every engine here on meshes of a million triangles
} tac_context_def;

struct tac_collider {
	const char *name;
	const char *variant; // the instruction set that its kernels use
	tac_result (*build)(const tac_collider *self, const tac_mesh *mesh, tac_shape **out_shape);
	void (*destroy)(tac_shape *shape);
	// Start (resume false) or go on with the query in the context. Sets pending if the budget was spent.
	tac_contact (*run)(const tac_collider *self, tac_context *context, bool resume);
};

// Thread: any.
tac_context_def tac_context_def_default(void);

// The caller owns *out_context. Thread: setup.
tac_result tac_context_create(const tac_context_def *def, tac_context **out_context);

// Frees *context and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_context_destroy(tac_context **context);

// Forgets what earlier queries found (tac_context::coherent), as if the context were new.
// Thread: RT.
void tac_context_forget(tac_context *context);

// The engine of that name (wide, doptree, classic, scd, chip, solid, or one that was added), or NULL. Engines
// live as long as the process; the first call picks their SIMD variant by tac_simd_select. Thread: setup.
const tac_collider *tac_collider_find(const char *name);

// The engine of that index, or NULL after the last. Those that were added come last.
// Thread: setup.
const tac_collider *tac_collider_at(int index);

// Adds an engine that this library does not know (devices/board.h), to be found by its name; it stays the
// caller's. TAC_ERROR_ARGUMENT with a log line when the name is taken, TAC_ERROR_MEMORY when there are
// TAC_COLLIDERS_ADDED_MAX already. Thread: setup, one at a time.
#define TAC_COLLIDERS_ADDED_MAX 8
tac_result tac_collider_add(const tac_collider *collider);

// Takes it away again; one that was not added is no matter.
// Thread: setup, one at a time.
void tac_collider_remove(const tac_collider *collider);

// Builds the shape of a mesh; an empty mesh is allowed and touches nothing. The caller owns *out_shape and
// keeps the mesh as long. Thread: setup.
tac_result tac_shape_build(const tac_collider *collider, const tac_mesh *mesh, tac_shape **out_shape);

// Frees *shape and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_shape_destroy(tac_shape **shape);

// Answers whether `moving`, placed by `motion`, has a point in common with `fixed`; both were built by
// `collider`. The answer is exact for the vertices of the moving mesh rounded to double (but see
// collision/chip_collider.h). Pairs are in the context; in mode first, there is one. A motion that is not
// finite answers unknown.
// Thread: RT.
tac_contact tac_collider_query(const tac_collider *collider, tac_context *context, const tac_shape *moving,
			       const tac_shape *fixed, const tac_motion *motion, tac_query_mode mode,
			       tac_budget budget);

// Goes on with a query that ended unknown because its budget was spent (context->pending), with a new budget.
// Pairs found before are kept.
// Thread: RT.
tac_contact tac_collider_resume(const tac_collider *collider, tac_context *context, tac_budget budget);

// For the engines.

// Records a pair of triangles in the form that the mode asks for.
// Thread: RT.
void tac_context_report(tac_context *context, int32_t fixed_triangle, int32_t moving_triangle);

// Whether the budget is spent; nodes_left says how many nodes it still has. Reads the clock when there is a
// deadline.
// Thread: RT.
bool tac_context_spent(const tac_context *context);

// The exact test of two triangles of the query's meshes.
// Thread: RT.
bool tac_context_exact(tac_context *context, int32_t fixed_triangle, int32_t moving_triangle);

// Whether all twelve numbers are finite.
// Thread: RT.
bool tac_motion_finite(const tac_motion *motion);

// Largest |entry| of RᵀR − 1: 0 for a rotation.
// Thread: RT.
float tac_motion_skew(const tac_motion *motion);

#ifdef __cplusplus
}
#endif

#endif
