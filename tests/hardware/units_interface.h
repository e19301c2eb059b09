// The units of the chip as Verilator translates them, one by one, behind C functions
// (tests/hardware/units_top.sv).
#ifndef TAC_TESTS_HARDWARE_UNITS_INTERFACE_H
#define TAC_TESTS_HARDWARE_UNITS_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { UNITS_ARITHMETIC = 12 }; // products of 1 to 4 stages, sums of 1 to 6, DOTADD of 6 and 23

typedef struct units_it {
	bool hit, apart;
	uint32_t edges, skipped, clocks;
} units_it;

typedef struct units_stack {
	uint32_t source, length[2], used, level;
	bool full, found;
	uint32_t pair;
} units_stack;

typedef struct units_api {
	// One clock with the operands x, y, z, m0 … m3; the results are those of earlier clocks.
	void (*arithmetic)(const uint32_t operands[7], bool valid, uint32_t out[UNITS_ARITHMETIC]);
	// A whole test; registers are those of the DOP Register File, lines the operands (i, k) of lines
	// 51-65.
	units_it (*it)(bool closed, uint32_t largest, const uint32_t registers[24],
		       const uint8_t lines[15][2]);
	void (*store)(int sibling, int index, uint32_t bits);
	// Loads e and compares: bits 0 and 1 are the siblings that overlap, bit 2 a NaN in e.
	uint32_t (*compare)(const uint32_t e[24]);
	// Writes the 66 lines and checks the schedule: bit 0 unschedulable, bit 1 invalid.
	uint32_t (*schedule)(const uint32_t lines[66], uint32_t delay);
	// Performs an operation and waits until it is done.
	units_stack (*stack)(uint32_t words, int operation, int sibling, uint32_t word, bool second);
	uint32_t (*stack_get)(uint32_t words, uint32_t index);
} units_api;

const units_api *units_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
