// Latest: the newest value of a changing quantity, from one writer thread to one reader thread; a value that
// was not read in time is replaced. Triple buffer: the writer owns one slot, the reader owns one, the third
// lies in the middle, and each side swaps its own slot with the middle one by a single atomic exchange. Both
// sides are wait-free: no loop, no lock, a fixed number of steps, and neither ever sees the other's slot. (A
// seqlock would make the reader retry, and its plain payload is a data race in C11.) tests/models/latest.pml
// is a Spin model of it.
#ifndef TAC_RT_LATEST_H
#define TAC_RT_LATEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/result.h"

#ifdef __cplusplus
extern "C" {
#endif

// Writer, reader, middle and each slot keep to their own cache lines of this many bytes.
#define TAC_LATEST_ALIGN 64

typedef struct tac_latest tac_latest;

// The memory that tac_latest_init needs, bytes. `payload_bytes`: above 0.
// Thread: any.
size_t tac_latest_bytes(size_t payload_bytes);

// Makes an empty buffer in `memory`, which is aligned to TAC_LATEST_ALIGN, holds at least tac_latest_bytes(),
// and stays the caller's. No fini is needed; the memory may be released once both threads have stopped using
// it. The slots start as zeros.
// Thread: setup.
tac_latest *tac_latest_init(void *memory, size_t memory_bytes, size_t payload_bytes);

// The same on the heap. TAC_ERROR_MEMORY with a log line, and *out_latest NULL, if there is no memory.
// Thread: setup.
tac_result tac_latest_create(size_t payload_bytes, tac_latest **out_latest);

// Frees a created buffer and nulls the pointer; NULL in it is allowed. Both threads must have stopped using
// it.
// Thread: setup.
void tac_latest_destroy(tac_latest **latest);

// The writer's slot, aligned to TAC_LATEST_ALIGN, to be filled in place before tac_latest_publish. It holds
// an earlier payload, not always the last one: write all of it. The same slot is returned until it is
// published.
// Thread: RT, the writer only.
void *tac_latest_begin(tac_latest *latest);

// Hands the writer's slot to the reader as the newest. The pointer from tac_latest_begin is then no longer
// the writer's.
// Thread: RT, the writer only.
void tac_latest_publish(tac_latest *latest);

// Begin, copy `payload`, publish.
// Thread: RT, the writer only.
void tac_latest_write(tac_latest *latest, const void *payload);

// The newest payload, complete, never older than the one before it; valid and unchanged until the next read.
// NULL before the first publish. *out_fresh (may be NULL): whether it was published since the last read.
// Thread: RT, the reader only.
const void *tac_latest_read(tac_latest *latest, bool *out_fresh);

// Payloads replaced unread since the buffer was made.
// Thread: any.
uint64_t tac_latest_overwritten(const tac_latest *latest);

// As given at set-up. Thread: any.
size_t tac_latest_payload_bytes(const tac_latest *latest);

#ifdef __cplusplus
}
#endif

#endif
