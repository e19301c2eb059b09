// Arena: memory handed out from one block by moving an index, given back all at once. Set-up sizes it, the
// real-time thread may allocate from it: no lock, no system call, and never a fall-back to the heap. When it
// is full it answers NULL and counts, so that a run can show that its capacity was right.
#ifndef TAC_BASE_ARENA_H
#define TAC_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/result.h"

#ifdef __cplusplus
extern "C" {
#endif

// The alignment of tac_arena_alloc: a cache line, and enough for every wide load.
#define TAC_ARENA_ALIGNMENT ((size_t)64)

// Read the numbers freely, change them only by the functions below.
typedef struct tac_arena {
	unsigned char *memory;
	size_t size;       // bytes
	size_t used;       // bytes, gaps for alignment included
	size_t high_water; // the largest `used` since init; reset does not lower it
	uint64_t refused;  // allocations that did not fit, since init
} tac_arena;

// What tac_arena_mark returns: a state to come back to.
typedef struct tac_arena_mark {
	size_t used;
} tac_arena_mark;

// An arena over `size` bytes of the caller's memory, of any alignment, which it does not own and does not
// touch. `memory` may be NULL where `size` is 0: such an arena refuses everything. Thread: setup.
void tac_arena_init(tac_arena *arena, void *memory, size_t size);

// Forgets the memory; every later allocation is refused. The caller frees what he gave.
// Thread: setup.
void tac_arena_fini(tac_arena *arena);

// A new arena on the heap with `size` bytes of its own, which begin on a page. With `prefault` every page is
// written once, so that the real-time thread meets no page fault (short of swapping: lock the process's
// memory). TAC_ERROR_MEMORY, a message and *out_arena = NULL where there is not so much. Destroy it with
// tac_arena_destroy.
// Thread: setup.
tac_result tac_arena_create(size_t size, bool prefault, tac_arena **out_arena);

// Frees an arena of tac_arena_create with all that came from it, and sets *arena to NULL. NULL inside is
// fine. Thread: setup.
void tac_arena_destroy(tac_arena **arena);

// `size` bytes aligned to 64, not cleared, valid until a reset to an earlier mark. Size 0 counts as 1, so
// that every pointer is distinct. NULL, and one more `refused`, where they do not fit; nothing else changes
// then. Thread: RT, one thread at a time an arena.
void *tac_arena_alloc(tac_arena *arena, size_t size);

// The same with an alignment that is a power of two (asserted).
// Thread: RT, one thread at a time an arena.
void *tac_arena_alloc_aligned(tac_arena *arena, size_t size, size_t alignment);

// An array of `count` elements of `size` bytes, aligned to 64. A product beyond SIZE_MAX is refused.
// Thread: RT, one thread at a time an arena.
void *tac_arena_alloc_array(tac_arena *arena, size_t count, size_t size);

// Where the arena stands.
// Thread: RT.
tac_arena_mark tac_arena_get_mark(const tac_arena *arena);

// Gives back everything allocated since `mark`, which must not lie beyond the present state (asserted).
// Thread: RT, one thread at a time an arena.
void tac_arena_reset_to(tac_arena *arena, tac_arena_mark mark);

// Gives back everything.
// Thread: RT, one thread at a time an arena.
void tac_arena_reset(tac_arena *arena);

#ifdef __cplusplus
}
#endif

#endif
