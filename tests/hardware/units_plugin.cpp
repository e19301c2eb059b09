#include "tests/hardware/units_interface.h"

#include "Vunits_top.h"
#include "verilated.h"

#include <cstring>

namespace
{

VerilatedContext context;
Vunits_top *top;

void clock_once()
{
	top->clk = 1;
	top->eval();
	top->clk = 0;
	top->eval();
}

void arithmetic(const uint32_t operands[7], bool valid, uint32_t out[UNITS_ARITHMETIC])
{
	top->valid = valid;
	top->x = operands[0];
	top->y = operands[1];
	top->z = operands[2];
	top->m0 = operands[3];
	top->m1 = operands[4];
	top->m2 = operands[5];
	top->m3 = operands[6];
	clock_once();
	top->valid = 0;
	const uint32_t results[UNITS_ARITHMETIC] = {
		top->product1, top->product2, top->product3, top->product4, top->sum1,    top->sum2,
		top->sum3,     top->sum4,     top->sum5,     top->sum6,     top->dotadd6, top->dotadd23};
	std::memcpy(out, results, sizeof results);
}

units_it it(bool closed, uint32_t largest, const uint32_t registers[24], const uint8_t lines[15][2])
{
	units_it result{};
	top->it_closed = closed;
	top->it_largest = largest;
	top->it_start = 1;
	clock_once();
	top->it_start = 0;
	for (;; result.clocks++) {
		if (top->it_reading) {
			top->it_read_i = registers[lines[top->it_read_line][0]];
			top->it_read_k = registers[lines[top->it_read_line][1]];
		}
		top->eval();
		result.edges += top->it_edge;
		result.skipped += top->it_skipped;
		if (top->it_done)
			break;
		clock_once();
	}
	result.hit = top->it_hit;
	result.apart = top->it_apart;
	clock_once();
	return result;
}

void store(int sibling, int index, uint32_t bits)
{
	top->store = 1;
	top->store_sibling = sibling;
	top->store_index = index;
	top->store_data = bits;
	clock_once();
	top->store = 0;
}

uint32_t compare(const uint32_t e[24])
{
	for (int beat = 0; beat < 3; beat++) {
		top->e_write = 1;
		top->e_beat = beat;
		std::memcpy(&top->e_data[0], e + 8 * beat, 32);
		clock_once();
	}
	top->e_write = 0;
	top->compare = 1;
	top->eval();
	const uint32_t result = top->overlap | top->e_nan << 2;
	top->compare = 0;
	return result;
}

uint32_t schedule(const uint32_t lines[66], uint32_t delay)
{
	for (int i = 0; i < 66; i++) {
		top->corr_write = 1;
		top->corr_line = i;
		top->corr_data = lines[i];
		clock_once();
	}
	top->corr_write = 0;
	top->corr_delay = delay;
	top->corr_check = 1;
	clock_once();
	top->corr_check = 0;
	while (top->corr_checking)
		clock_once();
	return top->corr_unschedulable | top->corr_invalid << 1;
}

units_stack stack(uint32_t words, int operation, int sibling, uint32_t word, bool second)
{
	units_stack result{};
	top->stack_words = words;
	top->stack_operation = operation;
	top->stack_sibling = sibling;
	top->stack_word = word;
	top->stack_second = second;
	top->eval();
	result.full = top->stack_full;
	clock_once();
	top->stack_operation = 0;
	top->eval();
	while (top->stack_busy)
		clock_once();
	result.source = top->stack_source;
	result.length[0] = top->stack_length0;
	result.length[1] = top->stack_length1;
	result.used = top->stack_used;
	result.level = top->stack_level;
	result.found = top->stack_found;
	result.pair = top->stack_pair;
	return result;
}

uint32_t stack_get(uint32_t words, uint32_t index)
{
	top->stack_words = words;
	top->stack_get = 1;
	top->stack_index = index;
	clock_once();
	top->stack_get = 0;
	return top->stack_got ? top->stack_data : 0;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const units_api *units_plugin(void)
{
	static const units_api api = {arithmetic, it, store, compare, schedule, stack, stack_get};
	if (!top) {
		top = new Vunits_top(&context);
		top->eval();
		top->reset = 1;
		clock_once();
		top->reset = 0;
	}
	return &api;
}
