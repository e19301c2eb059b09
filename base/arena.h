// Arena: memory handed out from one block by moving an index and given back all at once. Set-up sizes it; the
// real-time thread may allocate from it without a lock or a system call. It never falls back to the heap: a
// full arena returns NULL and counts the refusal, so a run can show that its capacity was sufficient.
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

// The fields may be read; only the functions below change them.
typedef struct tac_arena {
	unsigned char *memory;
	size_t size;       // bytes
	size_t used;       // bytes, including the gaps for alignment
	size_t high_water; // the largest `used` since init; reset does not lower it
	uint64_t refused;  // allocations that did not fit, since init
} tac_arena;

// A state to return to with tac_arena_reset_to.
typedef struct tac_arena_mark {
	size_t used;
} tac_arena_mark;

// An arena over `size` bytes of the caller's memory, of any alignment, which it neither owns nor writes to.
// `memory` may be NULL where `size` is 0: such an arena refuses every allocation.
// Thread: setup.
void tac_arena_init(tac_arena *arena, void *memory, size_t size);

// Detaches the memory, which the caller frees; every later allocation is refused.
// Thread: setup.
void tac_arena_fini(tac_arena *arena);

// A new arena on the heap that owns `size` bytes, starting on a page boundary. With `prefault` every page is
// written once, so the real-time thread takes no page fault (unless pages are swapped out: lock the process's
// memory). Fails with TAC_ERROR_MEMORY, a message and *out_arena = NULL. Destroy it with tac_arena_destroy.
// Thread: setup.
tac_result tac_arena_create(size_t size, bool prefault, tac_arena **out_arena);

// Frees an arena of tac_arena_create with everything allocated from it, and sets *arena to NULL. *arena may
// be NULL.
// Thread: setup.
void tac_arena_destroy(tac_arena **arena);

// `size` bytes aligned to 64, not cleared, valid until a reset to an earlier mark. Size 0 counts as 1, so
// that every pointer is distinct. Where they do not fit, returns NULL and increments `refused`; nothing else
// changes.
// Thread: RT, one thread at a time per arena.
void *tac_arena_alloc(tac_arena *arena, size_t size);

// The same with another alignment, which must be a power of two (asserted).
// Thread: RT, one thread at a time per arena.
void *tac_arena_alloc_aligned(tac_arena *arena, size_t size, size_t alignment);

// An array of `count` elements of `size` bytes, aligned to 64. A product beyond SIZE_MAX is refused.
// Thread: RT, one thread at a time per arena.
void *tac_arena_alloc_array(tac_arena *arena, size_t count, size_t size);

// The present state, to return to later.
// Thread: RT.
tac_arena_mark tac_arena_get_mark(const tac_arena *arena);

// Gives back everything allocated since `mark`, which must not lie beyond the present state (asserted).
// Thread: RT, one thread at a time per arena.
void tac_arena_reset_to(tac_arena *arena, tac_arena_mark mark);

// Gives back everything.
// Thread: RT, one thread at a time per arena.
void tac_arena_reset(tac_arena *arena);

#ifdef __cplusplus
}
#endif

#endif
