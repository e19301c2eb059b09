#include "tissue/lattice/lattice.h"

#include <stdlib.h>

#define FIRST_CAPACITY 1024u

static uint32_t slot_of(const lattice_table *t, uint64_t key)
{
	uint64_t x = key * UINT64_C(0x9E3779B97F4A7C15);
	x ^= x >> 32;
	uint32_t slot = (uint32_t)x & (t->capacity - 1);
	while (t->key[slot] != 0 && t->key[slot] != key)
		slot = (slot + 1) & (t->capacity - 1);
	return slot;
}

static bool allocate(lattice_table *t, uint32_t capacity)
{
	t->key = calloc(capacity, sizeof *t->key);
	t->value = malloc(capacity * sizeof *t->value);
	t->capacity = capacity;
	return t->key && t->value;
}

bool tac_lattice_table_init(lattice_table *table)
{
	*table = (lattice_table){0};
	return allocate(table, FIRST_CAPACITY);
}

void tac_lattice_table_fini(lattice_table *table)
{
	free(table->key);
	free(table->value);
	*table = (lattice_table){0};
}

static bool grow(lattice_table *t)
{
	lattice_table larger = {.count = t->count};
	if (!allocate(&larger, 2 * t->capacity)) {
		tac_lattice_table_fini(&larger);
		return false;
	}
	for (uint32_t i = 0; i < t->capacity; i++) {
		if (t->key[i] == 0)
			continue;
		const uint32_t slot = slot_of(&larger, t->key[i]);
		larger.key[slot] = t->key[i];
		larger.value[slot] = t->value[i];
	}
	tac_lattice_table_fini(t);
	*t = larger;
	return true;
}

int32_t tac_lattice_table_add(lattice_table *table, uint64_t key)
{
	if (2 * (uint32_t)table->count >= table->capacity && !grow(table))
		return -1;
	const uint32_t slot = slot_of(table, key);
	if (table->key[slot] == 0) {
		table->key[slot] = key;
		table->value[slot] = table->count++;
	}
	return table->value[slot];
}

int32_t tac_lattice_table_find(const lattice_table *table, uint64_t key)
{
	const uint32_t slot = slot_of(table, key);
	return table->key[slot] == 0 ? -1 : table->value[slot];
}
