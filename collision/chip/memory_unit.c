// The memories of the chip: SDRAM interface, and Stack Engine with its SRAM.
#include "collision/chip/units.h"

// SDRAM interface.

const uint32_t *tac_chip_at(const tac_chip *chip, uint32_t address)
{
	for (int slot = 0; slot < 2; slot++) {
		uint32_t offset = address - chip->slots[slot].address; // wraps below it
		if (address % TAC_CHIP_NODE_BYTES == 0 && offset < chip->slots[slot].count)
			return (const uint32_t *)(const void *)(chip->slots[slot].bytes + offset);
	}
	return NULL;
}

const uint32_t *tac_chip_fetch(tac_chip *chip, uint32_t address, uint32_t alignment)
{
	const uint32_t *words = address % alignment == 0 ? tac_chip_at(chip, address) : NULL;
	if (!words) {
		tac_chip_raise(chip, TAC_CHIP_ERR_ADDRESS);
		return NULL;
	}
	chip->counters[TAC_CHIP_SDRAM_BURSTS]++;
	chip->counters[TAC_CHIP_SDRAM_BYTES] += TAC_CHIP_PAIR_BYTES;
	return words;
}

// Stack Engine. One SRAM holds frames and lists. The frames and the lists of sibling 0 grow from its bottom,
// those of sibling 1 from its top, so that the two lists of a level, whose lengths are not known in advance,
// need no reserved space.

void tac_chip_stack_reset(tac_chip_stack *stack, uint32_t words)
{
	stack->words = words;
	stack->used[0] = stack->used[1] = 0;
	stack->current_frame = stack->parent_frame = stack->level = 0;
}

static uint32_t *word_at(const tac_chip_stack *stack, uint32_t side, uint32_t offset)
{
	return &stack->sram[side == 0 ? offset : stack->words - 1 - offset];
}

static void raise_maximum(tac_chip *chip, tac_chip_counter counter, uint64_t value)
{
	if (value > chip->counters[counter])
		chip->counters[counter] = value;
}

static bool reserve(tac_chip *chip, uint32_t side, uint32_t count)
{
	tac_chip_stack *stack = &chip->stack;
	if (stack->words - stack->used[0] - stack->used[1] < count) {
		tac_chip_raise(chip, TAC_CHIP_ERR_STACK);
		return false;
	}
	stack->used[side] += count;
	raise_maximum(chip, TAC_CHIP_MAX_SRAM_WORDS, stack->used[0] + stack->used[1]);
	return true;
}

tac_chip_list tac_chip_list_begin(const tac_chip_stack *stack, uint32_t side)
{
	return (tac_chip_list){.base = stack->used[side], .length = 0, .side = side};
}

bool tac_chip_list_append(tac_chip *chip, tac_chip_list *list, uint32_t word)
{
	if (!reserve(chip, list->side, 1))
		return false;
	*word_at(&chip->stack, list->side, list->base + list->length) = word;
	list->length++;
	chip->counters[TAC_CHIP_SRAM_WRITES]++;
	raise_maximum(chip, TAC_CHIP_MAX_LIST, list->length);
	return true;
}

uint32_t tac_chip_list_get(tac_chip *chip, const tac_chip_list *list, uint32_t position)
{
	chip->counters[TAC_CHIP_SRAM_READS]++;
	return *word_at(&chip->stack, list->side, list->base + position);
}

void tac_chip_list_release(tac_chip_stack *stack, const tac_chip_list *list)
{
	stack->used[list->side] = list->base;
}

bool tac_chip_frame_begin(tac_chip *chip)
{
	chip->stack.current_frame = chip->stack.used[0];
	return reserve(chip, 0, TAC_CHIP_FRAME_WORDS);
}

void tac_chip_frame_cancel(tac_chip *chip)
{
	chip->stack.used[0] = chip->stack.current_frame;
}

void tac_chip_frame_push(tac_chip *chip, uint32_t second_pair, bool second, const tac_chip_list lists[2])
{
	tac_chip_stack *stack = &chip->stack;
	uint32_t *frame = &stack->sram[stack->current_frame];
	frame[TAC_CHIP_FRAME_TUMBLED] = second_pair | second;
	frame[TAC_CHIP_FRAME_PARENT] = stack->parent_frame;
	frame[TAC_CHIP_FRAME_BASE_0] = lists[0].base;
	frame[TAC_CHIP_FRAME_LENGTH_0] = lists[0].length;
	frame[TAC_CHIP_FRAME_BASE_1] = lists[1].base;
	frame[TAC_CHIP_FRAME_LENGTH_1] = lists[1].length;
	chip->counters[TAC_CHIP_SRAM_WRITES] += TAC_CHIP_FRAME_WORDS;
	stack->parent_frame = stack->current_frame;
	stack->level++;
	raise_maximum(chip, TAC_CHIP_MAX_LEVEL, stack->level);
}

bool tac_chip_frame_return(tac_chip *chip, uint32_t *out_pair, tac_chip_list *out_list)
{
	tac_chip_stack *stack = &chip->stack;
	while (stack->level > 0) {
		uint32_t *frame = &stack->sram[stack->parent_frame];
		chip->counters[TAC_CHIP_SRAM_READS] += TAC_CHIP_FRAME_WORDS;
		bool second = (frame[TAC_CHIP_FRAME_TUMBLED] & 1) != 0;
		if (!second && frame[TAC_CHIP_FRAME_LENGTH_1] > 0) {
			*out_pair = frame[TAC_CHIP_FRAME_TUMBLED];
			*out_list = (tac_chip_list){.base = frame[TAC_CHIP_FRAME_BASE_1],
						    .length = frame[TAC_CHIP_FRAME_LENGTH_1],
						    .side = 1};
			frame[TAC_CHIP_FRAME_TUMBLED] |= 1;
			chip->counters[TAC_CHIP_SRAM_WRITES]++;
			stack->used[0] = stack->parent_frame + TAC_CHIP_FRAME_WORDS; // the first list is done
			return true;
		}
		stack->used[0] = stack->parent_frame;
		stack->used[1] = frame[TAC_CHIP_FRAME_BASE_1];
		stack->parent_frame = frame[TAC_CHIP_FRAME_PARENT];
		stack->level--;
	}
	return false;
}
