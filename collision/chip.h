// Chip: a functional and cycle-level model of the CollisionChip (G. Zachmann and G. Knittel, An Architecture
// for Hierarchical Collision Detection, WSCG 2003, and its extended version). The chip holds two DOP trees in
// its memory, receives a motion as register contents, and finds the pairs of triangles that meet. As on the
// board, all access is through two windows: 32-bit registers and the hierarchy memory.
// docs/collisionchip.md is the data sheet; collision/chip_host.h is the software that drives the chip.
//
// The model does its work in tac_chip_clock, which represents the passing of time.
#ifndef TAC_COLLISION_CHIP_H
#define TAC_COLLISION_CHIP_H

#include "base/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Byte offsets in the register window. Every access is one aligned 32-bit word.
typedef enum tac_chip_register {
	TAC_CHIP_ID = 0x000,
	TAC_CHIP_VERSION = 0x004,
	TAC_CHIP_CTRL = 0x008,
	TAC_CHIP_STATUS = 0x00C,
	TAC_CHIP_ROOT_TUMBLED = 0x010, // byte address of a node, a multiple of 128
	TAC_CHIP_ROOT_ALIGNED = 0x014,
	TAC_CHIP_AG2_DELAY = 0x018,  // cycles from the first DOP word to the first row, 0 … 255
	TAC_CHIP_SRAM_WORDS = 0x01C, // stack memory to use, at most that of the board
	TAC_CHIP_HIT_COUNT = 0x020,  // pairs in the hit FIFO
	TAC_CHIP_HIT_A = 0x024,      // tumbled triangle of the oldest pair; 0xFFFFFFFF if there is none
	TAC_CHIP_HIT_B = 0x028,      // its aligned triangle; reading it removes the pair
	TAC_CHIP_COUNTERS = 0x040,   // 24 of them, low word then high word
	TAC_CHIP_MATRIX = 0x200,     // 33 lines of 4 floats
	TAC_CHIP_MATRIX_END = 0x410,
	TAC_CHIP_CORR = 0x500, // 66 lines
	TAC_CHIP_CORR_END = 0x608,
} tac_chip_register;

#define TAC_CHIP_ID_VALUE      UINT32_C(0x50494843) // "CHIP"
#define TAC_CHIP_VERSION_VALUE UINT32_C(0x00010000)

#define TAC_CHIP_MATRIX_LINES 33
#define TAC_CHIP_CORR_LINES   66

// CTRL. START, ABORT and RESET are actions and read as 0; the other bits are settings that START uses.
#define TAC_CHIP_START      (UINT32_C(1) << 0)
#define TAC_CHIP_ABORT      (UINT32_C(1) << 1) // ends the query without a result: neither BUSY nor DONE
#define TAC_CHIP_RESET      (UINT32_C(1) << 2) // ABORT, then clears status, counters and hits
#define TAC_CHIP_ALL_HITS   (UINT32_C(1) << 3) // continue after the first pair of triangles
#define TAC_CHIP_CLOSED_TRI (UINT32_C(1) << 4) // touching triangles meet; otherwise the paper's test
#define TAC_CHIP_SCHED      (UINT32_C(1) << 5) // cycles by the schedule of events; otherwise by Equation 5
#define TAC_CHIP_LAYOUT_R   (UINT32_C(1) << 6) // leaves keep their DOP; otherwise they hold a triangle
#define TAC_CHIP_IRQ_EN     (UINT32_C(1) << 7)

// STATUS. DONE without an error is an answer; anything else is "unknown", never "no collision".
#define TAC_CHIP_BUSY      (UINT32_C(1) << 0)
#define TAC_CHIP_DONE      (UINT32_C(1) << 1)
#define TAC_CHIP_HIT       (UINT32_C(1) << 2)
#define TAC_CHIP_LOCKED    (UINT32_C(1) << 3) // a write was ignored because the chip was busy
#define TAC_CHIP_ERR_SHIFT 8

typedef enum tac_chip_error {
	TAC_CHIP_ERR_NONE = 0,
	TAC_CHIP_ERR_STACK = 1,    // the stack memory is full
	TAC_CHIP_ERR_TYPE = 2,     // a node is not inner, leaf or empty, or a leaf points to no triangle
	TAC_CHIP_ERR_NAN = 3,      // a NaN reached the comparators or left the DOTADD unit
	TAC_CHIP_ERR_FIFO = 4,     // more hits than the FIFO holds
	TAC_CHIP_ERR_ADDRESS = 5,  // a memory address or register that does not exist
	TAC_CHIP_ERR_SCHEDULE = 6, // a DOP word is read before it is written, or a result is never computed
} tac_chip_error;

// The counters, in the order of their registers: sums since START, except the last three, which are maxima.
typedef enum tac_chip_counter {
	TAC_CHIP_CYCLES_TOTAL,   // xform + compare, and tri in SCHED
	TAC_CHIP_CYCLES_XFORM,   // until both tumbled siblings are in the results bank
	TAC_CHIP_CYCLES_COMPARE, // from then to the end of the list
	TAC_CHIP_CYCLES_TRI,     // SCHED only
	// Waits by the bank model. The schedule uses the paper's average of 2 a pair instead.
	TAC_CHIP_STALL_SDRAM,
	TAC_CHIP_LISTS,
	TAC_CHIP_TUMBLED_NODES, // nodes transformed, each once
	TAC_CHIP_ALIGNED_PAIRS, // pairs fetched
	TAC_CHIP_ALIGNED_NODES, // nodes of these pairs that belong to the list
	// Aligned nodes × tumbled nodes in the bank: "aligned nodes visited" of Table 1.
	TAC_CHIP_OVERLAP_TESTS,
	TAC_CHIP_OVERLAPS,
	TAC_CHIP_TRI_TESTS_FWD, // pairs of triangles
	TAC_CHIP_TRI_TESTS_REV, // of these, those that needed the second direction
	TAC_CHIP_IT_EDGES,
	TAC_CHIP_IT_SKIPPED, // of these, edges that do not cross the plane
	TAC_CHIP_HITS,
	TAC_CHIP_DOTADD_OPS, // rows of DOPs; triangles take 18 more a direction
	TAC_CHIP_SDRAM_BURSTS,
	TAC_CHIP_SDRAM_BYTES,
	TAC_CHIP_SRAM_READS, // words
	TAC_CHIP_SRAM_WRITES,
	TAC_CHIP_MAX_LEVEL,
	TAC_CHIP_MAX_LIST, // words
	TAC_CHIP_MAX_SRAM_WORDS,
	TAC_CHIP_COUNTER_COUNT,
} tac_chip_counter;

typedef struct tac_chip tac_chip;

typedef struct tac_chip_def {
	// Hierarchy memory, a multiple of 256; default 256 MiB, of which only used pages take physical
	// memory.
	uint32_t memory_bytes;
	uint32_t sram_words;   // stack memory; default 65536 (256 KiB)
	uint32_t hit_capacity; // of the hit FIFO, pairs; default 65536
} tac_chip_def;

// Thread: any.
tac_chip_def tac_chip_def_default(void);

// Creates a board with the chip and clears its memories. On failure (TAC_ERROR_ARGUMENT, TAC_ERROR_MEMORY,
// with one log line) *out_chip is NULL. Free it with tac_chip_destroy. Thread: setup.
tac_result tac_chip_create(const tac_chip_def *def, tac_chip **out_chip);

// Frees *chip and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_chip_destroy(tac_chip **chip);

// Bytes of storage for tac_chip_init; def->memory_bytes is ignored.
// Thread: any.
size_t tac_chip_storage_bytes(const tac_chip_def *def);

// Makes a chip without hierarchy memory at the start of `storage`, so that several chips can read the same
// trees (tac_chip_attach). The storage is aligned to 64 bytes (asserted) and remains the caller's; nothing
// needs to be freed. The stack memory is not cleared. Thread: RT.
tac_chip *tac_chip_init(void *storage, const tac_chip_def *def);

// Maps `count` bytes (a multiple of 256, aligned to 4 bytes; asserted) into the address space at `address`.
// They remain the caller's and are only read. A chip has two slots, 0 and 1; slot 0 holds the memory of
// tac_chip_create. Thread: RT, one thread at a time for each chip.
void tac_chip_attach(tac_chip *chip, int slot, uint32_t address, const void *bytes, uint32_t count);

// Reads a register. A register that does not exist reads as 0 and raises ERR_ADDRESS.
// Thread: RT, one thread at a time for each chip.
uint32_t tac_chip_read(tac_chip *chip, uint32_t offset);

// Writes a register. Read-only registers ignore it; a register that does not exist raises ERR_ADDRESS. While
// the chip is busy, writes to registers other than CTRL are ignored and raise LOCKED. While an error is
// raised, START only sets DONE; write RESET first. Thread: RT, one thread at a time for each chip.
void tac_chip_write(tac_chip *chip, uint32_t offset, uint32_t value);

// Copies bytes into the hierarchy memory. A range outside the memory is not written and raises ERR_ADDRESS;
// while the chip is busy nothing is written and LOCKED is raised. Thread: RT, one thread at a time for each
// chip.
void tac_chip_memory_write(tac_chip *chip, uint32_t address, const void *bytes, size_t count);

// Copies bytes out of the hierarchy memory. A range outside the memory reads as 0 and raises ERR_ADDRESS.
// Thread: RT, one thread at a time for each chip.
void tac_chip_memory_read(tac_chip *chip, uint32_t address, void *bytes, size_t count);

// Runs the chip for `cycles` cycles of the timing mode, or until the query ends. It may run longer by one
// aligned pair and its triangles. Returns whether the chip is still busy. A tree with a cycle may keep it
// busy forever, so the caller must limit the calls. Thread: RT, one thread at a time for each chip.
bool tac_chip_clock(tac_chip *chip, uint64_t cycles);

// The interrupt line: DONE while IRQ_EN is set.
// Thread: RT.
bool tac_chip_interrupt(const tac_chip *chip);

#ifdef __cplusplus
}
#endif

#endif
