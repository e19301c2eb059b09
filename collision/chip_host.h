// Chip host: what the software does for the CollisionChip, as data. A tree becomes the bytes of the hierarchy
// memory, a query becomes register writes that end with START, the status becomes an answer. The model takes
// them directly, a board over its wire. Nothing here waits or talks.
#ifndef TAC_COLLISION_CHIP_HOST_H
#define TAC_COLLISION_CHIP_HOST_H

#include "collision/chip.h"
#include "collision/collider.h"
#include "collision/doptree.h"

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

// Equation 5 from counts, in chip cycles: T = (100 + 10 (α - 2)) τ with τ = tumbled / 2 lists of
// α = overlap tests / (2 tumbled) pairs. (The caption of Table 1 forgets the 2, its numbers do not.) 0 for no
// nodes. Thread: any.
double tac_chip_equation_5(double overlap_tests, double tumbled_nodes);

#ifdef __cplusplus
}
#endif

#endif
