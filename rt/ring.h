// Ring: a bounded queue of fixed-size elements from one producer thread to one consumer thread. It refuses
// when full, counts the refusal, and never overwrites. Both sides are wait-free: no loop, no lock, a fixed
// number of steps. Lamport's single-producer single-consumer queue ("Proving the Correctness of Multiprocess
// Programs", 1977) with free-running counters, and on each side a private copy of the other side's counter,
// so that the threads touch each other's cache line only when that copy indicates full or empty.
// tests/models/ring.pml is a Spin model of it.
//
// A ring holds no pointers, so it also works in memory that two processes share. There, a side that does not
// trust the other keeps a tac_ring_end in memory of its own.
#ifndef TAC_RT_RING_H
#define TAC_RT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/result.h"

#ifdef __cplusplus
extern "C" {
#endif

// Producer, consumer and elements keep to their own cache lines of this many bytes.
#define TAC_RING_ALIGN 64

// The counters are 32 bits wide and full must differ from empty.
#define TAC_RING_CAPACITY_MAX (UINT32_C(1) << 31)

typedef struct tac_ring tac_ring;

// What one side needs besides the elements: the sizes, its own counter, and its copy of the other side's.
// All fields are private.
typedef struct tac_ring_end {
	size_t element_bytes;
	uint32_t capacity;
	uint32_t own, seen;
	uint64_t refused;
} tac_ring_end;

// The memory that tac_ring_init needs, bytes. `capacity`: elements, a power of two up to
// TAC_RING_CAPACITY_MAX. `element_bytes`: above 0; elements are packed without padding.
// Thread: any.
size_t tac_ring_bytes(uint32_t capacity, size_t element_bytes);

// Makes an empty ring in `memory`, which is aligned to TAC_RING_ALIGN, holds at least tac_ring_bytes(), and
// stays the caller's. No fini is needed; the memory may be released once both threads have stopped using the
// ring. Touches all of it, so that the first round causes no page faults.
// Thread: setup.
tac_ring *tac_ring_init(void *memory, size_t memory_bytes, uint32_t capacity, size_t element_bytes);

// The same on the heap. TAC_ERROR_MEMORY with a log line, and *out_ring NULL, if there is no memory.
// Thread: setup.
tac_result tac_ring_create(uint32_t capacity, size_t element_bytes, tac_ring **out_ring);

// Frees a created ring and nulls the pointer; NULL in it is allowed. Both threads must have stopped using it.
// Thread: setup.
void tac_ring_destroy(tac_ring **ring);

// Moves both counters of an empty ring to `index`, so that a test can start just before they wrap.
// Thread: setup.
void tac_ring_rebase(tac_ring *ring, uint32_t index);

// Copies the element in. False: the ring was full, nothing was stored, and the refusal was counted.
// Thread: RT, the producer only.
bool tac_ring_push(tac_ring *ring, const void *element);

// Copies the oldest element to `out_element` and removes it. False: the ring was empty, and `out_element` is
// unchanged.
// Thread: RT, the consumer only.
bool tac_ring_pop(tac_ring *ring, void *out_element);

// ---- in memory that another process can write ----

// The end of a side that joins a ring in shared memory, or joins it again in the place of one that has died:
// it goes on where that one stopped. The sizes are the caller's, never those in the memory. If the counters
// contradict each other, this side goes by the other's: the ring is empty to a producer, and a consumer drops
// what is stored. Each side joins once, after tac_ring_init, and uses only its end from then on.
// Thread: setup.
tac_ring_end tac_ring_join_producer(tac_ring *ring, uint32_t capacity, size_t element_bytes);
tac_ring_end tac_ring_join_consumer(tac_ring *ring, uint32_t capacity, size_t element_bytes);

// Like push and pop. Whatever the memory contains, every access stays within its tac_ring_bytes(), and the
// call takes the same number of steps. A counter that the other side cannot have reached counts as a full
// ring to the producer; the consumer drops what is stored. Damaged counters heal: once nobody overwrites
// them, a few calls of both sides later elements pass again. The bytes of a popped element are whatever the
// other process wrote: the caller checks them, in its own copy.
// Thread: RT, the owner of the end.
bool tac_ring_push_from(tac_ring *ring, tac_ring_end *producer, const void *element);
bool tac_ring_pop_to(tac_ring *ring, tac_ring_end *consumer, void *out_element);

// Pushes refused since the producer joined. Thread: the owner of the end.
uint64_t tac_ring_end_refused(const tac_ring_end *producer);

// ---- both ----

// Elements stored, 0 to capacity. Exact while neither side runs. The consumer can pop at least this many; the
// producer finds at most this many stored.
// Thread: any.
uint32_t tac_ring_count(const tac_ring *ring);

// Pushes refused since the ring was made.
// Thread: any.
uint64_t tac_ring_refused(const tac_ring *ring);

// As given at set-up. Thread: any.
uint32_t tac_ring_capacity(const tac_ring *ring);
size_t tac_ring_element_bytes(const tac_ring *ring);

#ifdef __cplusplus
}
#endif

#endif
