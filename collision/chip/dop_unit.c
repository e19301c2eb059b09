// The DOP side of the chip: DOTADD unit, register files, Address Generators 1 to 3, Results Register Bank, e
// bank and comparators.
#include "collision/chip/units.h"

// Correspondence Register File.

static bool registers_exist(const tac_chip_line *line, int registers)
{
	return line->i < registers && line->k < registers && line->m < registers && line->n < registers;
}

bool tac_chip_decode(tac_chip *chip)
{
	bool valid = true;
	for (int l = 0; l < TAC_CHIP_CORR_LINES; l++) {
		uint32_t word = chip->corr[l];
		chip->lines[l] = (tac_chip_line){
			.i = word & 31,
			.k = word >> 5 & 31,
			.m = word >> 10 & 31,
			.n = word >> 15 & 31,
		};
		valid = valid && registers_exist(&chip->lines[l], TAC_CHIP_ROWS);
	}
	return valid;
}

// Address Generators. AG1 counts through the arriving words, AG2 through the lines of the Correspondence
// Register File, and AG3 delays AG2's destination index by the length of the pipeline. None of them depends
// on data, so all lists take the same cycles, and the generators are stepped once, when the motion is loaded.

tac_chip_schedule tac_chip_schedule_run(const tac_chip_line rows[TAC_CHIP_ROWS], int delay)
{
	tac_chip_schedule out = {0};
	int pipeline[TAC_CHIP_DOTADD_DEPTH]; // destination index in each stage, -1: a bubble
	for (int stage = 0; stage < TAC_CHIP_DOTADD_DEPTH; stage++)
		pipeline[stage] = -1;
	int sibling = 0, finished = 0;    // sibling at the DOP Register File; siblings out of the pipeline
	int words = 0, issued = 0;        // words written and rows issued of `sibling`
	uint32_t written = 0, stored = 0; // valid words of the DOP Register File; of the results bank
	int start = TAC_CHIP_SDRAM_FIRST_BEAT + TAC_CHIP_SDRAM_TO_FILE;
	for (int cycle = start; finished < 2; cycle++) {
		// AG3: the result that leaves the last stage enters the results bank.
		int leaving = pipeline[TAC_CHIP_DOTADD_DEPTH - 1];
		for (int stage = TAC_CHIP_DOTADD_DEPTH - 1; stage > 0; stage--)
			pipeline[stage] = pipeline[stage - 1];
		pipeline[0] = -1;
		if (leaving >= 0) {
			if (stored == 0)
				out.sibling[finished].first_result = cycle;
			stored |= UINT32_C(1) << leaving;
			out.results++;
			if (out.results % TAC_CHIP_ROWS == 0) {
				out.sibling[finished].results_end = cycle + 1;
				out.missing_results |= ~stored & ((UINT32_C(1) << TAC_CHIP_ROWS) - 1);
				stored = 0;
				finished++;
			}
		}
		if (sibling == 2)
			continue;
		// AG2: reads the words written before this cycle.
		if (cycle >= start + delay) {
			const tac_chip_line *row = &rows[issued];
			if (issued == 0)
				out.sibling[sibling].first_issue = cycle;
			out.early_reads += (written >> row->k & 1) == 0;
			out.early_reads += (written >> row->m & 1) == 0;
			out.early_reads += (written >> row->n & 1) == 0;
			pipeline[0] = row->i;
			issued++;
		}
		// AG1: one word a cycle; the interface receives them in groups of eight.
		if (words < TAC_CHIP_ROWS) {
			if (words == 0)
				out.sibling[sibling].first_write = cycle;
			written |= UINT32_C(1) << words;
			words++;
		}
		if (issued == TAC_CHIP_ROWS) {
			out.sibling[sibling].reads_end = cycle + 1;
			sibling++;
			start = cycle + 1;
			words = issued = 0;
			written = 0;
		}
	}
	return out;
}

// DOTADD unit: three products and three sums, each rounded to binary32.

float tac_chip_dotadd(const float matrix_line[4], float x, float y, float z)
{
	return x * matrix_line[0] + y * matrix_line[1] + z * matrix_line[2] + matrix_line[3];
}

// Comparators. Floats compare like integers once the order of the negative ones is reversed.

bool tac_chip_is_nan(uint32_t bits)
{
	return (bits & 0x7FFFFFFF) > 0x7F800000;
}

uint32_t tac_chip_key(uint32_t bits)
{
	if (bits == 0x80000000)
		bits = 0;
	return bits >> 31 != 0 ? ~bits : bits | 0x80000000;
}

bool tac_chip_transform(tac_chip *chip, const uint32_t *words, tac_chip_result *out)
{
	for (int q = 0; q < TAC_CHIP_ROWS; q++)
		chip->dop[q] = tac_chip_float(words[q]);
	bool nan = false;
	for (int s = 0; s < TAC_CHIP_ROWS; s++) {
		const tac_chip_line *row = &chip->lines[s];
		float d = tac_chip_dotadd(chip->matrix[row->i], chip->dop[row->k], chip->dop[row->m],
					  chip->dop[row->n]);
		uint32_t bits = tac_chip_bits(d);
		nan |= tac_chip_is_nan(bits);
		out->limit[(row->i + TAC_CHIP_ROWS / 2) % TAC_CHIP_ROWS] = tac_chip_key(bits ^ 0x80000000);
	}
	chip->counters[TAC_CHIP_DOTADD_OPS] += TAC_CHIP_ROWS;
	return !nan;
}

bool tac_chip_load_e(tac_chip *chip, const uint32_t *words)
{
	bool nan = false;
	for (int i = 0; i < TAC_CHIP_ROWS; i++) {
		nan |= tac_chip_is_nan(words[i]);
		chip->e[i] = tac_chip_key(words[i]);
	}
	return !nan;
}

bool tac_chip_overlap(const tac_chip *chip, const tac_chip_result *result)
{
	bool apart = false;
	for (int i = 0; i < TAC_CHIP_ROWS; i++)
		apart |= chip->e[i] < result->limit[i];
	return !apart;
}
