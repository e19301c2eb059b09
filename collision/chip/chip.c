// The PCI interface of the chip, and the board around it.
#include "collision/chip.h"

#include "base/assert.h"
#include "base/denormal.h"
#include "base/log.h"
#include "collision/chip/units.h"

#include <stdlib.h>

#define NO_HIT            UINT32_MAX
#define STORAGE_ALIGNMENT ((size_t)64)

// Words in the hierarchy memory are little-endian, and the model reads them in place.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the model needs a little-endian machine");
_Static_assert(TAC_CHIP_MATRIX + TAC_CHIP_MATRIX_LINES * 16 == TAC_CHIP_MATRIX_END, "");
_Static_assert(TAC_CHIP_CORR + TAC_CHIP_CORR_LINES * 4 == TAC_CHIP_CORR_END, "");
_Static_assert(TAC_CHIP_COUNTERS + TAC_CHIP_COUNTER_COUNT * 8 == 0x100, "");

tac_chip_def tac_chip_def_default(void)
{
	return (tac_chip_def){
		.memory_bytes = UINT32_C(256) << 20, .sram_words = 65536, .hit_capacity = 65536};
}

size_t tac_chip_storage_bytes(const tac_chip_def *def)
{
	size_t bytes = sizeof(tac_chip) +
		       ((size_t)def->sram_words + 2 * (size_t)def->hit_capacity) * sizeof(uint32_t);
	return (bytes + STORAGE_ALIGNMENT - 1) / STORAGE_ALIGNMENT * STORAGE_ALIGNMENT;
}

tac_chip *tac_chip_init(void *storage, const tac_chip_def *def)
{
	TAC_ASSERT((uintptr_t)storage % STORAGE_ALIGNMENT == 0);
	tac_chip *chip = storage;
	memset(chip, 0, sizeof *chip);
	chip->stack.sram = (uint32_t *)(chip + 1);
	chip->hits = chip->stack.sram + def->sram_words;
	chip->sram_size = chip->sram_words = def->sram_words;
	chip->hit_capacity = def->hit_capacity;
	chip->ag2_delay = 12;
	return chip;
}

void tac_chip_attach(tac_chip *chip, int slot, uint32_t address, const void *bytes, uint32_t count)
{
	TAC_ASSERT(slot >= 0 && slot < 2 && address % TAC_CHIP_PAIR_BYTES == 0 &&
		   count % TAC_CHIP_PAIR_BYTES == 0 && (uintptr_t)bytes % sizeof(uint32_t) == 0);
	chip->slots[slot].bytes = bytes;
	chip->slots[slot].address = address;
	chip->slots[slot].count = count;
}

tac_result tac_chip_create(const tac_chip_def *def, tac_chip **out_chip)
{
	TAC_ASSERT(def && out_chip);
	*out_chip = NULL;
	if (def->memory_bytes == 0 || def->memory_bytes % TAC_CHIP_PAIR_BYTES != 0 || def->sram_words == 0 ||
	    def->sram_words > UINT32_C(1) << 28 || def->hit_capacity == 0 ||
	    def->hit_capacity > UINT32_C(1) << 28) {
		tac_log(TAC_LOG_ERROR,
			"chip: expected a multiple of 256 bytes of memory, "
			"and 1 to 2^28 words of stack memory and hits, found %u, %u and %u",
			def->memory_bytes, def->sram_words, def->hit_capacity);
		return TAC_ERROR_ARGUMENT;
	}
	void *storage = aligned_alloc(STORAGE_ALIGNMENT, tac_chip_storage_bytes(def));
	unsigned char *memory = calloc(def->memory_bytes, 1);
	if (!storage || !memory) {
		free(storage);
		free(memory);
		tac_log(TAC_LOG_ERROR, "chip: no memory for a board of %u bytes, %u words and %u hits",
			def->memory_bytes, def->sram_words, def->hit_capacity);
		return TAC_ERROR_MEMORY;
	}
	memset(storage, 0, tac_chip_storage_bytes(def)); // touch every page before the first query
	tac_chip *chip = tac_chip_init(storage, def);
	tac_chip_attach(chip, 0, 0, memory, def->memory_bytes);
	chip->memory = memory;
	*out_chip = chip;
	return TAC_OK;
}

void tac_chip_destroy(tac_chip **chip)
{
	if (!*chip)
		return;
	free((*chip)->memory);
	free(*chip);
	*chip = NULL;
}

void tac_chip_raise(tac_chip *chip, tac_chip_error error)
{
	if (chip->status >> TAC_CHIP_ERR_SHIFT == 0)
		chip->status |= (uint32_t)error << TAC_CHIP_ERR_SHIFT;
	if ((chip->status & TAC_CHIP_BUSY) != 0)
		chip->status = (chip->status & ~TAC_CHIP_BUSY) | TAC_CHIP_DONE;
	chip->master.state = TAC_CHIP_IDLE;
}

void tac_chip_report(tac_chip *chip, uint32_t tumbled_triangle, uint32_t aligned_triangle)
{
	chip->counters[TAC_CHIP_HITS]++;
	chip->status |= TAC_CHIP_HIT;
	if (chip->hit_count == chip->hit_capacity) {
		tac_chip_raise(chip, TAC_CHIP_ERR_FIFO);
		return;
	}
	uint32_t at = (chip->hit_first + chip->hit_count) % chip->hit_capacity;
	chip->hits[2 * at] = tumbled_triangle;
	chip->hits[2 * at + 1] = aligned_triangle;
	chip->hit_count++;
}

static uint32_t pop_hit(tac_chip *chip)
{
	if (chip->hit_count == 0)
		return NO_HIT;
	uint32_t aligned = chip->hits[2 * chip->hit_first + 1];
	chip->hit_first = (chip->hit_first + 1) % chip->hit_capacity;
	chip->hit_count--;
	return aligned;
}

static void clear_results(tac_chip *chip)
{
	chip->status = 0;
	chip->hit_first = chip->hit_count = 0;
	memset(chip->counters, 0, sizeof chip->counters);
}

static void write_ctrl(tac_chip *chip, uint32_t value)
{
	const uint32_t actions = TAC_CHIP_START | TAC_CHIP_ABORT | TAC_CHIP_RESET;
	if ((value & (TAC_CHIP_ABORT | TAC_CHIP_RESET)) != 0) {
		chip->master.state = TAC_CHIP_IDLE;
		chip->status &= ~(TAC_CHIP_BUSY | TAC_CHIP_DONE);
	}
	if ((value & TAC_CHIP_RESET) != 0)
		clear_results(chip);
	if ((chip->status & TAC_CHIP_BUSY) != 0) {
		chip->status |= TAC_CHIP_LOCKED;
		return;
	}
	chip->ctrl = value & ~actions & 0xFF;
	if ((value & TAC_CHIP_START) == 0)
		return;
	if (chip->status >> TAC_CHIP_ERR_SHIFT != 0) {
		chip->status |= TAC_CHIP_DONE;
		return;
	}
	clear_results(chip);
	chip->status = TAC_CHIP_BUSY;
	tac_chip_master_start(chip);
}

static bool is_counter(uint32_t offset)
{
	return offset >= TAC_CHIP_COUNTERS && offset < TAC_CHIP_COUNTERS + TAC_CHIP_COUNTER_COUNT * 8;
}

// The integer register at an offset, or NULL.
static uint32_t *integer_register(tac_chip *chip, uint32_t offset)
{
	if (offset >= TAC_CHIP_CORR && offset < TAC_CHIP_CORR_END)
		return &chip->corr[(offset - TAC_CHIP_CORR) / 4];
	switch (offset) {
	case TAC_CHIP_ROOT_TUMBLED:
		return &chip->root_tumbled;
	case TAC_CHIP_ROOT_ALIGNED:
		return &chip->root_aligned;
	case TAC_CHIP_AG2_DELAY:
		return &chip->ag2_delay;
	case TAC_CHIP_SRAM_WORDS:
		return &chip->sram_words;
	default:
		return NULL;
	}
}

static float *matrix_entry(tac_chip *chip, uint32_t offset)
{
	if (offset < TAC_CHIP_MATRIX || offset >= TAC_CHIP_MATRIX_END)
		return NULL;
	return &chip->matrix[(offset - TAC_CHIP_MATRIX) / 16][(offset - TAC_CHIP_MATRIX) / 4 % 4];
}

uint32_t tac_chip_read(tac_chip *chip, uint32_t offset)
{
	if (offset % 4 == 0 && is_counter(offset)) {
		uint64_t counter = chip->counters[(offset - TAC_CHIP_COUNTERS) / 8];
		return (uint32_t)(offset % 8 == 0 ? counter : counter >> 32);
	}
	const uint32_t *word = offset % 4 == 0 ? integer_register(chip, offset) : NULL;
	if (word)
		return *word;
	const float *entry = offset % 4 == 0 ? matrix_entry(chip, offset) : NULL;
	if (entry)
		return tac_chip_bits(*entry);
	switch (offset) {
	case TAC_CHIP_ID:
		return TAC_CHIP_ID_VALUE;
	case TAC_CHIP_VERSION:
		return TAC_CHIP_VERSION_VALUE;
	case TAC_CHIP_CTRL:
		return chip->ctrl;
	case TAC_CHIP_STATUS:
		return chip->status;
	case TAC_CHIP_HIT_COUNT:
		return chip->hit_count;
	case TAC_CHIP_HIT_A:
		return chip->hit_count > 0 ? chip->hits[2 * chip->hit_first] : NO_HIT;
	case TAC_CHIP_HIT_B:
		return pop_hit(chip);
	default:
		tac_chip_raise(chip, TAC_CHIP_ERR_ADDRESS);
		return 0;
	}
}

void tac_chip_write(tac_chip *chip, uint32_t offset, uint32_t value)
{
	uint32_t *word = offset % 4 == 0 ? integer_register(chip, offset) : NULL;
	float *entry = offset % 4 == 0 ? matrix_entry(chip, offset) : NULL;
	bool read_only = offset % 4 == 0 && (is_counter(offset) || offset == TAC_CHIP_ID ||
					     offset == TAC_CHIP_VERSION || offset == TAC_CHIP_STATUS ||
					     (offset >= TAC_CHIP_HIT_COUNT && offset <= TAC_CHIP_HIT_B));
	if (offset == TAC_CHIP_CTRL) {
		write_ctrl(chip, value);
	} else if (!word && !entry && !read_only) {
		tac_chip_raise(chip, TAC_CHIP_ERR_ADDRESS);
	} else if ((chip->status & TAC_CHIP_BUSY) != 0) {
		chip->status |= TAC_CHIP_LOCKED;
	} else if (entry) {
		*entry = tac_chip_float(value);
	} else if (word) {
		if (offset == TAC_CHIP_AG2_DELAY)
			value &= 0xFF;
		if (offset == TAC_CHIP_SRAM_WORDS)
			value = value < chip->sram_size ? value : chip->sram_size;
		*word = value;
	}
}

static bool in_memory(tac_chip *chip, uint32_t address, size_t count)
{
	uint32_t size = chip->memory ? chip->slots[0].count : 0;
	if (address <= size && count <= size - address)
		return true;
	tac_chip_raise(chip, TAC_CHIP_ERR_ADDRESS);
	return false;
}

void tac_chip_memory_write(tac_chip *chip, uint32_t address, const void *bytes, size_t count)
{
	if (!in_memory(chip, address, count))
		return;
	if ((chip->status & TAC_CHIP_BUSY) != 0)
		chip->status |= TAC_CHIP_LOCKED;
	else
		memcpy(chip->memory + address, bytes, count);
}

void tac_chip_memory_read(tac_chip *chip, uint32_t address, void *bytes, size_t count)
{
	if (in_memory(chip, address, count))
		memcpy(bytes, chip->memory + address, count);
	else
		memset(bytes, 0, count);
}

// The chip has one arithmetic, IEEE binary32 with gradual underflow, while the real-time thread flushes
// denormals. All arithmetic of the model is in other files, so the compiler cannot move it across the switch.
bool tac_chip_clock(tac_chip *chip, uint64_t cycles)
{
	const uint64_t control = tac_denormal_control();
	tac_denormal_set_control(control & ~TAC_DENORMAL_BITS);
	uint64_t now = chip->counters[TAC_CHIP_CYCLES_TOTAL];
	uint64_t end = cycles < UINT64_MAX - now ? now + cycles : UINT64_MAX;
	while (chip->master.state != TAC_CHIP_IDLE && chip->counters[TAC_CHIP_CYCLES_TOTAL] < end)
		tac_chip_master_step(chip);
	tac_denormal_set_control(control);
	return (chip->status & TAC_CHIP_BUSY) != 0;
}

bool tac_chip_interrupt(const tac_chip *chip)
{
	return (chip->ctrl & TAC_CHIP_IRQ_EN) != 0 && (chip->status & TAC_CHIP_DONE) != 0;
}
