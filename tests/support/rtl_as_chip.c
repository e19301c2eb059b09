// The functions of collision/chip.h on the gates: linked in front of the model, it makes the tests of the
// model, of its engine and of the board judge the gates. (A static library's object that defines nothing
// missing is left out.)
#include "base/log.h"
#include "collision/chip.h"
#include "hardware/rtl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIR_BYTES 256
#define CHIPS      256 // at the same time, in storage of callers

struct tac_chip {
	tac_rtl *rtl;
	unsigned char *memory; // of tac_chip_create
	uint32_t memory_bytes;
	unsigned char padding[2048]; // about as large as the model, for tests that offer too little memory
};

static const tac_rtl_api *api;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Chips in storage that nobody frees: one for each place in memory, used again for the next chip there.
static struct {
	void *storage;
	uint32_t sram_words, hit_capacity;
	tac_rtl *rtl;
} places[CHIPS];

static tac_rtl *create(uint32_t sram_words, uint32_t hit_capacity)
{
	if (!api && tac_rtl_load(&api) < 0)
		abort();
	tac_rtl *rtl = api->create(sram_words, hit_capacity);
	if (!rtl)
		abort();
	return rtl;
}

tac_chip_def tac_chip_def_default(void)
{
	return (tac_chip_def){
		.memory_bytes = UINT32_C(256) << 20, .sram_words = 65536, .hit_capacity = 65536};
}

// The stack memory is in the chip; its size counts, so that a test may offer too little.
size_t tac_chip_storage_bytes(const tac_chip_def *def)
{
	size_t bytes = sizeof(tac_chip) +
		       ((size_t)def->sram_words + 2 * (size_t)def->hit_capacity) * sizeof(uint32_t);
	return (bytes + 63) / 64 * 64;
}

tac_chip *tac_chip_init(void *storage, const tac_chip_def *def)
{
	pthread_mutex_lock(&lock);
	int i = 0;
	while (places[i].rtl && (places[i].storage != storage || places[i].sram_words != def->sram_words ||
				 places[i].hit_capacity != def->hit_capacity))
		if (++i == CHIPS)
			abort();
	if (!places[i].rtl) {
		places[i].storage = storage;
		places[i].sram_words = def->sram_words;
		places[i].hit_capacity = def->hit_capacity;
		places[i].rtl = create(def->sram_words, def->hit_capacity);
	}
	pthread_mutex_unlock(&lock);
	tac_chip *chip = storage;
	*chip = (tac_chip){.rtl = places[i].rtl};
	tac_chip_write(chip, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	return chip;
}

void tac_chip_attach(tac_chip *chip, int slot, uint32_t address, const void *bytes, uint32_t count)
{
	api->attach(chip->rtl, slot, address, bytes, count);
}

tac_result tac_chip_create(const tac_chip_def *def, tac_chip **out_chip)
{
	*out_chip = NULL;
	if (def->memory_bytes == 0 || def->memory_bytes % PAIR_BYTES != 0 || def->sram_words == 0 ||
	    def->sram_words > TAC_RTL_SRAM_WORDS_MAX || def->hit_capacity == 0 ||
	    def->hit_capacity > TAC_RTL_HIT_CAPACITY_MAX) {
		tac_log(TAC_LOG_ERROR, "rtl: expected memories that the gates have");
		return TAC_ERROR_ARGUMENT;
	}
	tac_chip *chip = calloc(1, sizeof *chip);
	*chip = (tac_chip){.rtl = create(def->sram_words, def->hit_capacity),
			   .memory = calloc(1, def->memory_bytes),
			   .memory_bytes = def->memory_bytes};
	api->attach(chip->rtl, 0, 0, chip->memory, def->memory_bytes);
	*out_chip = chip;
	return TAC_OK;
}

void tac_chip_destroy(tac_chip **chip)
{
	if (!*chip)
		return;
	api->destroy(&(*chip)->rtl);
	free((*chip)->memory);
	free(*chip);
	*chip = NULL;
}

uint32_t tac_chip_read(tac_chip *chip, uint32_t offset)
{
	return api->read(chip->rtl, offset);
}

void tac_chip_write(tac_chip *chip, uint32_t offset, uint32_t value)
{
	api->write(chip->rtl, offset, value);
}

static bool outside(const tac_chip *chip, uint32_t address, size_t count)
{
	return address > chip->memory_bytes || count > chip->memory_bytes - address;
}

void tac_chip_memory_write(tac_chip *chip, uint32_t address, const void *bytes, size_t count)
{
	if (api->window(chip->rtl, outside(chip, address, count), true))
		memcpy(chip->memory + address, bytes, count);
}

void tac_chip_memory_read(tac_chip *chip, uint32_t address, void *bytes, size_t count)
{
	if (api->window(chip->rtl, outside(chip, address, count), false))
		memcpy(bytes, chip->memory + address, count);
	else
		memset(bytes, 0, count);
}

bool tac_chip_clock(tac_chip *chip, uint64_t cycles)
{
	return api->clock(chip->rtl, cycles);
}

bool tac_chip_interrupt(const tac_chip *chip)
{
	return api->interrupt(chip->rtl);
}
