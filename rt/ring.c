#include "rt/ring.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
	       "the counters must be lock-free, or the ring is not wait-free");

// The counters run freely and wrap from 2^32 - 1 to 0; their low bits are the slot. The unsigned difference
// `pushed - popped` is the number of elements stored, across the wrap too, because capacity divides 2^32.
struct tac_ring {
	// The producer's line.
	_Alignas(TAC_RING_ALIGN) _Atomic uint32_t pushed;
	_Atomic uint64_t refused;
	tac_ring_end producer;

	// The consumer's line.
	_Alignas(TAC_RING_ALIGN) _Atomic uint32_t popped;
	tac_ring_end consumer;

	_Alignas(TAC_RING_ALIGN) unsigned char slots[];
};

static unsigned char *slot(tac_ring *ring, const tac_ring_end *end)
{
	return ring->slots + (end->own & (end->capacity - 1)) * end->element_bytes;
}

size_t tac_ring_bytes(uint32_t capacity, size_t element_bytes)
{
	TAC_ASSERT(capacity > 0 && capacity <= TAC_RING_CAPACITY_MAX);
	TAC_ASSERT((capacity & (capacity - 1)) == 0);
	TAC_ASSERT(element_bytes > 0);
	TAC_ASSERT(element_bytes <= (SIZE_MAX - sizeof(tac_ring) - TAC_RING_ALIGN) / capacity);
	size_t bytes = sizeof(tac_ring) + capacity * element_bytes;
	return (bytes + TAC_RING_ALIGN - 1) / TAC_RING_ALIGN * TAC_RING_ALIGN;
}

tac_ring *tac_ring_init(void *memory, size_t memory_bytes, uint32_t capacity, size_t element_bytes)
{
	TAC_ASSERT(memory && (uintptr_t)memory % TAC_RING_ALIGN == 0);
	TAC_ASSERT(memory_bytes >= tac_ring_bytes(capacity, element_bytes));
	tac_ring *ring = memset(memory, 0, tac_ring_bytes(capacity, element_bytes));
	atomic_init(&ring->refused, 0);
	ring->producer = (tac_ring_end){.element_bytes = element_bytes, .capacity = capacity};
	ring->consumer = ring->producer;
	tac_ring_rebase(ring, 0);
	return ring;
}

tac_result tac_ring_create(uint32_t capacity, size_t element_bytes, tac_ring **out_ring)
{
	size_t bytes = tac_ring_bytes(capacity, element_bytes);
	void *memory = aligned_alloc(TAC_RING_ALIGN, bytes);
	*out_ring = memory ? tac_ring_init(memory, bytes, capacity, element_bytes) : NULL;
	if (!memory) {
		tac_log(TAC_LOG_ERROR, "ring: expected %zu bytes for %u elements of %zu, found no memory",
			bytes, capacity, element_bytes);
		return TAC_ERROR_MEMORY;
	}
	return TAC_OK;
}

void tac_ring_destroy(tac_ring **ring)
{
	free(*ring);
	*ring = NULL;
}

void tac_ring_rebase(tac_ring *ring, uint32_t index)
{
	atomic_init(&ring->pushed, index);
	atomic_init(&ring->popped, index);
	ring->producer.own = ring->producer.seen = index;
	ring->consumer.own = ring->consumer.seen = index;
}

tac_ring_end tac_ring_join_producer(tac_ring *ring, uint32_t capacity, size_t element_bytes)
{
	const uint32_t pushed = atomic_load_explicit(&ring->pushed, memory_order_relaxed);
	const uint32_t popped = atomic_load_explicit(&ring->popped, memory_order_acquire);
	tac_ring_end end = {.element_bytes = element_bytes,
			    .capacity = capacity,
			    .own = pushed - popped <= capacity ? pushed : popped,
			    .seen = popped};
	atomic_store_explicit(&ring->pushed, end.own, memory_order_release);
	return end;
}

tac_ring_end tac_ring_join_consumer(tac_ring *ring, uint32_t capacity, size_t element_bytes)
{
	const uint32_t pushed = atomic_load_explicit(&ring->pushed, memory_order_acquire);
	const uint32_t popped = atomic_load_explicit(&ring->popped, memory_order_relaxed);
	tac_ring_end end = {.element_bytes = element_bytes,
			    .capacity = capacity,
			    .own = pushed - popped <= capacity ? popped : pushed,
			    .seen = pushed};
	atomic_store_explicit(&ring->popped, end.own, memory_order_release);
	return end;
}

bool tac_ring_push_from(tac_ring *ring, tac_ring_end *producer, const void *element)
{
	if (producer->own - producer->seen >= producer->capacity) {
		// Acquire, paired with the release in pop: without it nothing in C11 keeps the copy below
		// after the consumer's reading of this slot, which may then pop a mix of two elements.
		producer->seen = atomic_load_explicit(&ring->popped, memory_order_acquire);
		if (producer->own - producer->seen >= producer->capacity) {
			// Relaxed, and no read-modify-write: one writer, and a count orders nothing.
			atomic_store_explicit(&ring->refused, ++producer->refused, memory_order_relaxed);
			// Nothing new in memory that is intact; heals a counter that was overwritten.
			atomic_store_explicit(&ring->pushed, producer->own, memory_order_release);
			return false;
		}
	}
	memcpy(slot(ring, producer), element, producer->element_bytes);
	// Release, paired with the acquire in pop: without it the consumer may see the count before the bytes
	// and pop what the slot held a round ago.
	atomic_store_explicit(&ring->pushed, ++producer->own, memory_order_release);
	return true;
}

bool tac_ring_pop_to(tac_ring *ring, tac_ring_end *consumer, void *out_element)
{
	if (consumer->own == consumer->seen) {
		// Acquire, paired with the release in push: without it the copy below may read the slot
		// before it reads the count, and pop what the slot held a round ago.
		const uint32_t pushed = atomic_load_explicit(&ring->pushed, memory_order_acquire);
		if (pushed - consumer->own > consumer->capacity)
			consumer->own = pushed; // impossible: what is stored cannot be told from garbage
		consumer->seen = pushed;
		if (consumer->own == pushed) {
			// Nothing new in memory that is intact; heals a counter that was overwritten.
			atomic_store_explicit(&ring->popped, consumer->own, memory_order_release);
			return false;
		}
	}
	memcpy(out_element, slot(ring, consumer), consumer->element_bytes);
	// A compiler must not read the slot again in place of the copy: another process may have changed it.
	atomic_signal_fence(memory_order_seq_cst);
	// Release, paired with the acquire in push: without it the producer may see the slot free while the
	// copy above still reads it.
	atomic_store_explicit(&ring->popped, ++consumer->own, memory_order_release);
	return true;
}

bool tac_ring_push(tac_ring *ring, const void *element)
{
	return tac_ring_push_from(ring, &ring->producer, element);
}

bool tac_ring_pop(tac_ring *ring, void *out_element)
{
	return tac_ring_pop_to(ring, &ring->consumer, out_element);
}

uint64_t tac_ring_end_refused(const tac_ring_end *producer)
{
	return producer->refused;
}

uint32_t tac_ring_count(const tac_ring *ring)
{
	// In this order, the first one acquire: pushed is then at least as new as popped, and the difference
	// never below zero. It may exceed the capacity when both sides move on between the loads.
	uint32_t popped = atomic_load_explicit(&ring->popped, memory_order_acquire);
	uint32_t pushed = atomic_load_explicit(&ring->pushed, memory_order_relaxed);
	uint32_t count = pushed - popped;
	return count < ring->producer.capacity ? count : ring->producer.capacity;
}

uint64_t tac_ring_refused(const tac_ring *ring)
{
	// Relaxed: a count, which orders nothing.
	return atomic_load_explicit(&ring->refused, memory_order_relaxed);
}

uint32_t tac_ring_capacity(const tac_ring *ring)
{
	return ring->producer.capacity;
}

size_t tac_ring_element_bytes(const tac_ring *ring)
{
	return ring->producer.element_bytes;
}
