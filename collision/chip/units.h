// Private to collision/chip/: the units of the chip, named and wired as in Figure 5 of the paper. One file
// for each group of units:
//
//	chip.c           PCI interface: register map, memory window, hit FIFO
//	master_unit.c    Master Controller
//	memory_unit.c    SDRAM interface; Stack Engine and its SRAM
//	dop_unit.c       DOTADD unit, register files, Address Generators 1 to 3, Results Register Bank,
//	                 e bank, comparators
//	triangle_unit.c  transformation of triangles, IT-Unit
#ifndef TAC_COLLISION_CHIP_UNITS_H
#define TAC_COLLISION_CHIP_UNITS_H

#include "collision/chip.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_CHIP_ROWS         24 // words of a DOP
#define TAC_CHIP_NODE_BYTES   128
#define TAC_CHIP_PAIR_BYTES   256
#define TAC_CHIP_DOTADD_DEPTH 6 // pipeline stages

// Words of a node beyond the 24 of its DOP, and of a triangle record.
enum { TAC_CHIP_WORD_TYPE = 24, TAC_CHIP_WORD_LINK = 25 };
enum { TAC_CHIP_INNER = 0, TAC_CHIP_LEAF = 1, TAC_CHIP_EMPTY = 2 };

// Lines of the Matrix Register File; 0 … 23 are the rows C|c.
enum { TAC_CHIP_MATRIX_FORWARD = 24, TAC_CHIP_MATRIX_REVERSE = 27, TAC_CHIP_MATRIX_LEAF = 30 };
// Lines of the Correspondence Register File; 0 … 23 are the rows (i, k, m, n) in the order of their issue.
enum {
	TAC_CHIP_CORR_FORWARD = 24,
	TAC_CHIP_CORR_REVERSE = 33,
	TAC_CHIP_CORR_LEAF = 42,
	TAC_CHIP_CORR_IT = 51
};

// DDR-SDRAM, 2-2-2, 256-bit bus. Times in chip cycles, of half a memory cycle each.
enum {
	// Row to column delay 2 and CAS latency 2 memory cycles; the row was closed before.
	TAC_CHIP_SDRAM_FIRST_BEAT = 8,
	// Beats of 32 bytes in a burst: a node pair.
	TAC_CHIP_SDRAM_BEATS = 8,
	// Through the interface into the DOP Register File.
	TAC_CHIP_SDRAM_TO_FILE = 2,
	// Wait between two bursts of one bank. The precharge may start 4 memory cycles after the read command
	// and takes 2, then the first beat follows after 2 + 2: 4 memory cycles after the last beat of the
	// previous burst. With four banks and random addresses that is the paper's average of 2 chip cycles.
	TAC_CHIP_SDRAM_SAME_BANK = 8,
	TAC_CHIP_SDRAM_BANKS = 4,
};

typedef struct tac_chip_line {
	uint8_t i, k, m, n; // destination and operands; for the IT-Unit i and k are the operands
} tac_chip_line;

// The events of the transformation of a list's tumbled siblings, in cycles since the start of their read.
typedef struct tac_chip_schedule {
	struct {
		int first_write;  // AG1: d0 enters the DOP Register File
		int first_issue;  // AG2: the first row enters the DOTADD unit
		int first_result; // AG3: the first d' enters the Results Register Bank
		int reads_end;    // the DOP Register File is free again
		int results_end;  // the sibling is complete
	} sibling[2];
	int results;              // d' stored
	int early_reads;          // operands read before they were written
	uint32_t missing_results; // bit i: no row computes d'_i
} tac_chip_schedule;

// One half of the Results Register Bank in the form of the comparators: e is disjoint from d' if the key of
// any e_i is below limit[i], the key of -d'[(i + 12) % 24] (Equation 2 with support values).
typedef struct tac_chip_result {
	uint32_t limit[TAC_CHIP_ROWS];
} tac_chip_result;

// A list of aligned nodes in the SRAM. Lists for sibling 0 grow up from the bottom, for sibling 1 down from
// the top.
typedef struct tac_chip_list {
	uint32_t base;
	uint32_t length;
	uint32_t side;
} tac_chip_list;

typedef struct tac_chip_stack {
	uint32_t *sram;
	uint32_t words;         // SRAM_WORDS
	uint32_t used[2];       // words from the bottom, from the top
	uint32_t current_frame; // reserved for the current level
	uint32_t parent_frame;  // of the level above it
	uint32_t level;
} tac_chip_stack;

// A frame of the stack of lists, in words of the SRAM.
enum {
	TAC_CHIP_FRAME_TUMBLED, // child pair of sibling 1 | flag: set once that list is being scanned
	TAC_CHIP_FRAME_PARENT,  // frame of the level above
	TAC_CHIP_FRAME_BASE_0,
	TAC_CHIP_FRAME_LENGTH_0,
	TAC_CHIP_FRAME_BASE_1,
	TAC_CHIP_FRAME_LENGTH_1,
	TAC_CHIP_FRAME_WORDS,
};

typedef enum tac_chip_state {
	TAC_CHIP_IDLE,
	TAC_CHIP_LOAD,      // fetch and transform a tumbled pair
	TAC_CHIP_SCAN,      // compare one aligned pair
	TAC_CHIP_LEAF_SCAN, // scan again for a tumbled leaf that still has a list
	TAC_CHIP_NEXT,      // down, across or up in the tumbled tree
} tac_chip_state;

enum { TAC_CHIP_BOTH = 2 }; // a scan for both siblings

typedef struct tac_chip_master {
	tac_chip_state state;
	uint32_t ctrl;    // at START
	uint32_t tumbled; // address of the tumbled pair
	uint32_t tumbled_mask;
	struct {
		uint32_t type; // TAC_CHIP_EMPTY also for a sibling outside the mask
		uint32_t link;
		uint32_t address;
	} sibling[2];
	tac_chip_list source;    // the list being scanned
	uint32_t position;       // in `source`
	uint32_t scan_pairs;     // pairs fetched in this scan
	uint32_t last_bank;      // SDRAM bank of the previous pair
	tac_chip_list target[2]; // the new list of each sibling
	int scan_sibling;        // the sibling that is scanned for, or TAC_CHIP_BOTH
} tac_chip_master;

struct tac_chip {
	// PCI interface
	uint32_t ctrl, status;
	uint32_t root_tumbled, root_aligned, ag2_delay, sram_words;
	uint32_t sram_size; // words on the board
	uint32_t *hits;     // FIFO: 2 words a pair
	uint32_t hit_capacity, hit_first, hit_count;
	uint64_t counters[TAC_CHIP_COUNTER_COUNT];

	// SDRAM interface
	unsigned char *memory; // writable memory of slot 0, or NULL
	struct {
		const unsigned char *bytes;
		uint32_t address, count;
	} slots[2];

	// Register files
	float dop[TAC_CHIP_ROWS];                 // DOP Register File
	float matrix[TAC_CHIP_MATRIX_LINES][4];   // Matrix Register File
	uint32_t corr[TAC_CHIP_CORR_LINES];       // Correspondence Register File
	tac_chip_line lines[TAC_CHIP_CORR_LINES]; // the same, decoded at START
	tac_chip_result results[2];               // Results Register Bank
	uint32_t e[TAC_CHIP_ROWS];                // e bank, as keys

	tac_chip_schedule schedule; // of the motion loaded
	tac_chip_stack stack;       // Stack Engine
	tac_chip_master master;     // Master Controller
};

// PCI interface. Raises an error unless one is raised already, and stops the query.
void tac_chip_raise(tac_chip *chip, tac_chip_error error);
// Puts a pair into the hit FIFO.
void tac_chip_report(tac_chip *chip, uint32_t tumbled_triangle, uint32_t aligned_triangle);

// SDRAM interface. The words of the node at `address`, a multiple of 128; NULL outside the memory.
const uint32_t *tac_chip_at(const tac_chip *chip, uint32_t address);
// Reads the pair or record at `address` in one burst; NULL after raising ERR_ADDRESS.
const uint32_t *tac_chip_fetch(tac_chip *chip, uint32_t address, uint32_t alignment);

// Stack Engine.
void tac_chip_stack_reset(tac_chip_stack *stack, uint32_t words);
// An empty list on top of those of a side.
tac_chip_list tac_chip_list_begin(const tac_chip_stack *stack, uint32_t side);
bool tac_chip_list_append(tac_chip *chip, tac_chip_list *list, uint32_t word);
uint32_t tac_chip_list_get(tac_chip *chip, const tac_chip_list *list, uint32_t position);
// Frees the words of a list, which must be the topmost of its side.
void tac_chip_list_release(tac_chip_stack *stack, const tac_chip_list *list);
// Reserves the frame of a new level, below its lists.
bool tac_chip_frame_begin(tac_chip *chip);
// Saves the level's lists for the return and goes one level down; `second`: with the list of sibling 1.
void tac_chip_frame_push(tac_chip *chip, uint32_t second_pair, bool second, const tac_chip_list lists[2]);
// Frees the frame of a level without lists.
void tac_chip_frame_cancel(tac_chip *chip);
// Returns to the nearest level whose second list is not done: its tumbled pair and list. False at the end.
bool tac_chip_frame_return(tac_chip *chip, uint32_t *out_pair, tac_chip_list *out_list);

// DOP side. Decodes the Correspondence Register File; false if a line names a register that does not exist.
bool tac_chip_decode(tac_chip *chip);
// Runs the address generators and the pipeline cycle by cycle, without data, for two siblings.
tac_chip_schedule tac_chip_schedule_run(const tac_chip_line rows[TAC_CHIP_ROWS], int delay);
// Transforms 24 words into a half of the results bank; false on NaN.
bool tac_chip_transform(tac_chip *chip, const uint32_t *words, tac_chip_result *out);
// Loads the e bank; false on NaN.
bool tac_chip_load_e(tac_chip *chip, const uint32_t *words);
bool tac_chip_overlap(const tac_chip *chip, const tac_chip_result *result);
// The order of floats as unsigned integers, -0 equal to +0; NaN has none.
uint32_t tac_chip_key(uint32_t bits);
bool tac_chip_is_nan(uint32_t bits);
// The DOTADD unit.
float tac_chip_dotadd(const float matrix_line[4], float x, float y, float z);

// IT-Unit: the verdict on the triangle in d0-d8. APART: the other direction cannot find a hit either.
typedef enum tac_chip_verdict { TAC_CHIP_IT_MISS, TAC_CHIP_IT_HIT, TAC_CHIP_IT_APART } tac_chip_verdict;
// `largest`: coordinate after the first transformation; the closed test derives its tolerance from it.
tac_chip_verdict tac_chip_it(tac_chip *chip, float largest);

// Triangle side. Whether the triangles of two records meet; false if it raised an error.
bool tac_chip_triangles(tac_chip *chip, uint32_t tumbled_record, uint32_t aligned_record);

// Master Controller.
void tac_chip_master_start(tac_chip *chip);
void tac_chip_master_step(tac_chip *chip);

static inline float tac_chip_float(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static inline uint32_t tac_chip_bits(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

#ifdef __cplusplus
}
#endif

#endif
