#include "rt/latest.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
	       "the exchange must be lock-free, or neither side is wait-free");

// `middle` holds a slot number, with FRESH when the writer put it there and the reader has not taken it yet.
enum { SLOTS = 3, SLOT_MASK = 3, FRESH = 4 };

struct tac_latest {
	// Never written after init: both caches keep the line.
	_Alignas(TAC_LATEST_ALIGN) size_t payload_bytes;
	size_t stride_bytes;

	_Alignas(TAC_LATEST_ALIGN) _Atomic uint32_t middle;

	// The writer's line.
	_Alignas(TAC_LATEST_ALIGN) uint32_t back;
	_Atomic uint64_t overwritten;

	// The reader's line. `any`: `front` holds a published payload.
	_Alignas(TAC_LATEST_ALIGN) uint32_t front;
	bool any;

	_Alignas(TAC_LATEST_ALIGN) unsigned char slots[];
};

static size_t stride_bytes(size_t payload_bytes)
{
	return (payload_bytes + TAC_LATEST_ALIGN - 1) / TAC_LATEST_ALIGN * TAC_LATEST_ALIGN;
}

size_t tac_latest_bytes(size_t payload_bytes)
{
	TAC_ASSERT(payload_bytes > 0);
	TAC_ASSERT(payload_bytes <= (SIZE_MAX - sizeof(tac_latest)) / SLOTS - TAC_LATEST_ALIGN);
	return sizeof(tac_latest) + SLOTS * stride_bytes(payload_bytes);
}

tac_latest *tac_latest_init(void *memory, size_t memory_bytes, size_t payload_bytes)
{
	TAC_ASSERT(memory && (uintptr_t)memory % TAC_LATEST_ALIGN == 0);
	TAC_ASSERT(memory_bytes >= tac_latest_bytes(payload_bytes));
	tac_latest *latest = memset(memory, 0, tac_latest_bytes(payload_bytes));
	latest->payload_bytes = payload_bytes;
	latest->stride_bytes = stride_bytes(payload_bytes);
	latest->back = 0;
	atomic_init(&latest->middle, 1);
	latest->front = 2;
	atomic_init(&latest->overwritten, 0);
	return latest;
}

tac_result tac_latest_create(size_t payload_bytes, tac_latest **out_latest)
{
	size_t bytes = tac_latest_bytes(payload_bytes);
	void *memory = aligned_alloc(TAC_LATEST_ALIGN, bytes);
	*out_latest = memory ? tac_latest_init(memory, bytes, payload_bytes) : NULL;
	if (!memory) {
		tac_log(TAC_LOG_ERROR, "latest: expected %zu bytes for 3 payloads of %zu, found no memory",
			bytes, payload_bytes);
		return TAC_ERROR_MEMORY;
	}
	return TAC_OK;
}

void tac_latest_destroy(tac_latest **latest)
{
	free(*latest);
	*latest = NULL;
}

void *tac_latest_begin(tac_latest *latest)
{
	return latest->slots + latest->back * latest->stride_bytes;
}

void tac_latest_publish(tac_latest *latest)
{
	// Release: without it the reader may take the slot before the payload has arrived in it. Acquire,
	// paired with the reader's release: without it nothing in C11 keeps the next payload out of the slot
	// that came back while the reader still reads it. One exchange, not a load and a store: between the
	// two the reader could take the middle slot, and it would then be both the reader's and the writer's.
	uint32_t old = atomic_exchange_explicit(&latest->middle, latest->back | FRESH, memory_order_acq_rel);
	latest->back = old & SLOT_MASK;
	if (old & FRESH) {
		// Relaxed, and no read-modify-write: one writer, and a count orders nothing.
		uint64_t overwritten = atomic_load_explicit(&latest->overwritten, memory_order_relaxed);
		atomic_store_explicit(&latest->overwritten, overwritten + 1, memory_order_relaxed);
	}
}

void tac_latest_write(tac_latest *latest, const void *payload)
{
	memcpy(tac_latest_begin(latest), payload, latest->payload_bytes);
	tac_latest_publish(latest);
}

const void *tac_latest_read(tac_latest *latest, bool *out_fresh)
{
	// Relaxed: only a hint whether the exchange is worth it. The exchange gives the ordering, and it
	// finds FRESH still set, because only this thread clears it.
	bool fresh = (atomic_load_explicit(&latest->middle, memory_order_relaxed) & FRESH) != 0;
	if (fresh) {
		// Acquire, paired with the release in publish: without it the payload may be read before the
		// slot is known to hold it. Release: without it our reads of the slot we give back may come
		// after the writer has begun to overwrite it.
		uint32_t old = atomic_exchange_explicit(&latest->middle, latest->front, memory_order_acq_rel);
		latest->front = old & SLOT_MASK;
		latest->any = true;
	}
	if (out_fresh)
		*out_fresh = fresh;
	return latest->any ? latest->slots + latest->front * latest->stride_bytes : NULL;
}

uint64_t tac_latest_overwritten(const tac_latest *latest)
{
	// Relaxed: a count, which orders nothing.
	return atomic_load_explicit(&latest->overwritten, memory_order_relaxed);
}

size_t tac_latest_payload_bytes(const tac_latest *latest)
{
	return latest->payload_bytes;
}
