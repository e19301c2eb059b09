#include "base/arena.h"

#include "base/assert.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tac_arena_init(tac_arena *arena, void *memory, size_t size)
{
	TAC_ASSERT(memory || size == 0);
	*arena = (tac_arena){.memory = memory, .size = size};
}

void tac_arena_fini(tac_arena *arena)
{
	*arena = (tac_arena){0};
}

tac_result tac_arena_create(size_t size, bool prefault, tac_arena **out_arena)
{
	*out_arena = NULL;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	tac_arena *arena = malloc(sizeof *arena);
	// Whole pages, and one where size is 0: aligned_alloc requires a multiple of the alignment.
	size_t whole = size ? size : 1;
	void *memory = NULL;
	if (whole <= SIZE_MAX - (page - 1)) {
		whole = (whole + page - 1) / page * page;
		memory = aligned_alloc(page, whole);
	}
	if (!arena || !memory) {
		free(arena);
		free(memory);
		tac_log(TAC_LOG_ERROR, "arena: expected %zu bytes of memory, the heap has less", size);
		return TAC_ERROR_MEMORY;
	}
	if (prefault)
		memset(memory, 0, whole);
	tac_arena_init(arena, memory, size);
	*out_arena = arena;
	return TAC_OK;
}

void tac_arena_destroy(tac_arena **arena)
{
	if (*arena)
		free((*arena)->memory);
	free(*arena);
	*arena = NULL;
}

static void *refuse(tac_arena *arena)
{
	arena->refused++;
	return NULL;
}

void *tac_arena_alloc_aligned(tac_arena *arena, size_t size, size_t alignment)
{
	TAC_ASSERT(alignment && (alignment & (alignment - 1)) == 0);
	if (size == 0)
		size = 1;
	// Compare sizes, not addresses: a sum of address, gap and size could wrap.
	size_t gap = (size_t)(-((uintptr_t)arena->memory + arena->used) & (alignment - 1));
	size_t left = arena->size - arena->used;
	if (gap > left || size > left - gap)
		return refuse(arena);
	void *p = arena->memory + arena->used + gap;
	arena->used += gap + size;
	if (arena->used > arena->high_water)
		arena->high_water = arena->used;
	return p;
}

void *tac_arena_alloc(tac_arena *arena, size_t size)
{
	return tac_arena_alloc_aligned(arena, size, TAC_ARENA_ALIGNMENT);
}

void *tac_arena_alloc_array(tac_arena *arena, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		return refuse(arena);
	return tac_arena_alloc(arena, count * size);
}

tac_arena_mark tac_arena_get_mark(const tac_arena *arena)
{
	return (tac_arena_mark){arena->used};
}

void tac_arena_reset_to(tac_arena *arena, tac_arena_mark mark)
{
	TAC_ASSERT(mark.used <= arena->used);
	arena->used = mark.used;
}

void tac_arena_reset(tac_arena *arena)
{
	arena->used = 0;
}
