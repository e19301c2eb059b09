// Chip host: what the software does for the CollisionChip, as data. A tree becomes the bytes of the hierarchy
// memory, a query becomes register writes that end with START, the status becomes an answer. The model takes
// them directly, a board over its wire. Shapes are trees as such bytes, each with its place in the memory.
// Nothing here waits or talks.
#ifndef TAC_COLLISION_CHIP_HOST_H
#define TAC_COLLISION_CHIP_HOST_H

#include "collision/chip.h"
#include "collision/collider.h"
#include "collision/doptree.h"

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

// A chip cycle, ns: the 266 MHz of the paper, as it was rounded for Table 1.
#define TAC_CHIP_CYCLE_NS 3.76

// Register writes of a query at most: all of MATRIX and CORR and a few more.
#define TAC_CHIP_BATCH_MAX 256

typedef struct tac_chip_batch {
	uint32_t count;
	struct tac_chip_batch_write {
		uint32_t offset, value;
	} writes[TAC_CHIP_BATCH_MAX];
} tac_chip_batch;

// What a query needs to know of the two trees and how it is to run.
typedef struct tac_chip_query {
	uint32_t root_tumbled, root_aligned; // addresses of trees of one layout
	float extent;                        // of the tumbled tree: the largest |d| of its root
	uint32_t flags;                      // ALL_HITS, CLOSED_TRI, SCHED, LAYOUT_R, IRQ_EN
	tac_motion motion;                   // of the tumbled object in the frame of the aligned one
} tac_chip_query;

// Bytes that a tree takes in the hierarchy memory, a multiple of 256. A tree too large for 32 bits does not
// exist. Thread: any.
uint32_t tac_chip_tree_bytes(const tac_doptree *tree);

// Writes the tree as the chip reads it, with `address` (a multiple of 256; asserted) as the place of its
// root. `out` takes tac_chip_tree_bytes. Thread: setup.
void tac_chip_tree_encode(const tac_doptree *tree, uint32_t address, void *out);

// The register writes of a query: RESET, the motion (24 rows C|c in order of their issue, both rigid
// transforms), the fixed lines of the Correspondence Register File, the roots, START. The rows are computed
// in double and rounded outwards; AG2_DELAY is 12 or, for a few motions in a hundred thousand, what they
// need. Needs no state of the chip. Thread: RT, after any engine over DOPs was found, or setup.
void tac_chip_query_encode(const tac_chip_query *query, tac_chip_batch *out_batch);

// Does the writes.
// Thread: RT, one thread at a time a chip.
void tac_chip_apply(tac_chip *chip, const tac_chip_batch *batch);

// What a STATUS says: anything but DONE without an error is unknown.
// Thread: RT.
tac_contact tac_chip_answer(uint32_t status);

// Reads all counters.
// Thread: RT, one thread at a time a chip.
void tac_chip_counters_read(tac_chip *chip, uint64_t out_counters[TAC_CHIP_COUNTER_COUNT]);

// A short English name of a counter, never NULL.
// Thread: any.
const char *tac_chip_counter_name(tac_chip_counter counter);

// Alignment of a shape's bytes.
#define TAC_CHIP_SHAPE_ALIGN 256

// The shape of an engine that is a chip: a tree of layout R as the chip reads it.
typedef struct tac_chip_shape {
	tac_shape base;
	void *bytes;                 // of hierarchy memory; NULL for an empty mesh
	uint32_t address, count;     // its place
	float extent;                // of the tree
	uint32_t loaded;             // for the engine: when it was uploaded
	struct tac_chip_shape *next; // by rising address
} tac_chip_shape;

// An address space of 32 bits in which the shapes of an engine have their places, so that any two can meet.
// TAC_CHIP_SPACE_EMPTY is one without shapes; the lock is for set-up threads.
typedef struct tac_chip_space {
	pthread_mutex_t lock;
	tac_chip_shape *first;
} tac_chip_space;

#define TAC_CHIP_SPACE_EMPTY                                                                                 \
	{                                                                                                    \
		PTHREAD_MUTEX_INITIALIZER, NULL                                                              \
	}

// Builds the shape of a mesh and gives it the first gap that is large enough. On failure *out_shape is NULL
// and one line is logged. Thread: setup.
tac_result tac_chip_shape_build(tac_chip_space *space, const tac_collider *collider, const tac_mesh *mesh,
				tac_chip_shape **out_shape);

// Frees *shape and its place and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_chip_shape_destroy(tac_chip_space *space, tac_chip_shape **shape);

// The query in the context, whose shapes are tac_chip_shapes, as a query of the chip. `flags`: CLOSED_TRI,
// SCHED, IRQ_EN. Thread: RT.
void tac_chip_query_of(const tac_context *context, uint32_t flags, tac_chip_query *out_query);

// The chip's counters as those of every engine.
// Thread: RT.
tac_counters tac_chip_counters_of(const uint64_t counters[TAC_CHIP_COUNTER_COUNT]);

// Equation 5 from counts, in chip cycles: T = (100 + 10 (α - 2)) τ with τ = tumbled / 2 lists of
// α = overlap tests / (2 tumbled) pairs. (The caption of Table 1 forgets the 2, its numbers do not.) 0 for no
// nodes. Thread: any.
double tac_chip_equation_5(double overlap_tests, double tumbled_nodes);

#ifdef __cplusplus
}
#endif

#endif
