// Chip host: the software side of the CollisionChip as pure data. It turns a tree into bytes of the hierarchy
// memory, a query into register writes that end with START, and the status into an answer. The model takes
// them directly, a board over its link. The shapes of such an engine are trees in this form, each with its
// range of addresses. Nothing here waits or communicates.
#ifndef TAC_COLLISION_CHIP_HOST_H
#define TAC_COLLISION_CHIP_HOST_H

#include "collision/chip.h"
#include "collision/collider.h"

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tac_doptree;

// A chip cycle, ns: the paper's 266 MHz, rounded as in its Table 1.
#define TAC_CHIP_CYCLE_NS 3.76

// Most register writes of a query: all of MATRIX and CORR, and a few more.
#define TAC_CHIP_BATCH_MAX 256

typedef struct tac_chip_batch {
	uint32_t count;
	struct tac_chip_batch_write {
		uint32_t offset, value;
	} writes[TAC_CHIP_BATCH_MAX];
} tac_chip_batch;

// A query of the chip: the two trees, the motion and the settings.
typedef struct tac_chip_query {
	uint32_t root_tumbled, root_aligned; // addresses of trees of one layout
	float extent;                        // of the tumbled tree: the largest |d| of its root
	uint32_t flags;                      // ALL_HITS, CLOSED_TRI, SCHED, LAYOUT_R, IRQ_EN
	tac_rigid motion;                    // of the tumbled object in the frame of the aligned one
} tac_chip_query;

// Bytes of a tree in the hierarchy memory, a multiple of 256. tac_doptree_build refuses trees too large for
// 32 bits. Thread: any.
uint32_t tac_chip_tree_bytes(const struct tac_doptree *tree);

// Writes the tree in the chip's format, with its root at `address` (a multiple of 256; asserted). `out` has
// room for tac_chip_tree_bytes. Thread: setup.
void tac_chip_tree_encode(const struct tac_doptree *tree, uint32_t address, void *out);

// The register writes of a query: RESET, the motion (24 rows C|c in the order of their issue, and both rigid
// transforms), the constant lines of the Correspondence Register File, the roots, START. The rows are
// computed in double precision and rounded outwards. AG2_DELAY is 12, or 13 for the few motions in a hundred
// thousand that need it. Does not depend on the state of the chip. Thread: RT once an engine over DOPs was
// found, or setup.
void tac_chip_query_encode(const tac_chip_query *query, tac_chip_batch *out_batch);

// Performs the writes.
// Thread: RT, one thread at a time for each chip.
void tac_chip_apply(tac_chip *chip, const tac_chip_batch *batch);

// The answer in a STATUS: anything but DONE without an error is unknown.
// Thread: RT.
tac_overlap tac_chip_answer(uint32_t status);

// Reads all counters.
// Thread: RT, one thread at a time for each chip.
void tac_chip_counters_read(tac_chip *chip, uint64_t out_counters[TAC_CHIP_COUNTER_COUNT]);

// A short English name of a counter, never NULL.
// Thread: any.
const char *tac_chip_counter_name(tac_chip_counter counter);

// Alignment of a shape's bytes.
#define TAC_CHIP_SHAPE_ALIGN 256

// The shape of a chip's engine: a tree of layout R in the chip's format.
typedef struct tac_chip_shape {
	tac_shape base;
	void *bytes;                 // of hierarchy memory; NULL for an empty mesh
	uint32_t address, count;     // its range of addresses, in bytes
	float extent;                // of the tree
	uint32_t loaded;             // for the engine: its state of upload; 0 when built
	struct tac_chip_shape *next; // by increasing address
} tac_chip_shape;

// The 32-bit address space that the shapes of an engine share, so that any two of them can be queried.
// TAC_CHIP_SPACE_EMPTY has no shapes. The lock is for set-up threads.
typedef struct tac_chip_space {
	pthread_mutex_t lock;
	tac_chip_shape *first;
} tac_chip_space;

#define TAC_CHIP_SPACE_EMPTY                                                                                 \
	{                                                                                                    \
		PTHREAD_MUTEX_INITIALIZER, NULL                                                              \
	}

// Builds the shape of a mesh and places it in the first gap that is large enough. On failure *out_shape is
// NULL and one line is logged. Thread: setup.
tac_result tac_chip_shape_build(tac_chip_space *space, const tac_collider *collider, const tac_mesh *mesh,
				tac_chip_shape **out_shape);

// Frees *shape and its addresses and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_chip_shape_destroy(tac_chip_space *space, tac_chip_shape **shape);

// The chip's form of the query in the context, whose shapes are tac_chip_shapes. `flags`: CLOSED_TRI, SCHED,
// IRQ_EN. Thread: RT.
void tac_chip_query_of(const tac_context *context, uint32_t flags, tac_chip_query *out_query);

// The chip's counters in the common form of all engines.
// Thread: RT.
tac_counters tac_chip_counters_of(const uint64_t counters[TAC_CHIP_COUNTER_COUNT]);

// Equation 5 from counts, in chip cycles: T = (100 + 10 (α - 2)) τ with τ = tumbled / 2 lists of α = overlap
// tests / (2 tumbled) pairs. (The caption of Table 1 omits the 2, its numbers contain it.) 0 if there are no
// nodes. Thread: any.
double tac_chip_equation_5(double overlap_tests, double tumbled_nodes);

#ifdef __cplusplus
}
#endif

#endif
