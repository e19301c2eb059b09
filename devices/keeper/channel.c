#include "devices/keeper/channel.h"

#include <fcntl.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINE        64 // bytes of a cache line
#define SLOTS       3u
#define SLOT_MASK   3u
#define FRESH       4u // in `middle`: not taken yet
#define HEAD_WORDS  2  // check, sequence
#define SLOT_WORDS  24
#define ENABLED     0x0E4AB1EDu // any other value means that forces are off
#define CHECK_START UINT64_C(0xCBF29CE484222325)
#define CHECK_PRIME UINT64_C(0x00000100000001B3)

_Static_assert(sizeof(tac_order) % 8 == 0 && sizeof(tac_order) / 8 <= SLOT_WORDS - HEAD_WORDS, "order");
_Static_assert(sizeof(tac_sample) % 8 == 0 && sizeof(tac_sample) / 8 <= SLOT_WORDS - HEAD_WORDS, "sample");

// The words are atomic, so that a value torn by a faulty writer is a wrong value, not undefined behaviour.
typedef struct slot {
	alignas(LINE) _Atomic uint64_t words[SLOT_WORDS];
} slot;

typedef struct lane {
	alignas(LINE) _Atomic uint32_t middle; // index of the middle slot, and FRESH
	slot slots[SLOTS];
} lane;

struct tac_channel_memory {
	alignas(LINE) _Atomic uint32_t enabled; // by the runtime
	alignas(LINE) _Atomic uint32_t beats;   // by the keeper
	lane orders, samples;
};

// FNV-1a over words instead of bytes. Each step is a bijection of the word, so that damage to a single word
// is always detected.
static uint64_t check_of(const uint64_t *words, size_t count)
{
	uint64_t check = CHECK_START;
	for (size_t i = 0; i < count; i++) {
		check = (check ^ words[i]) * CHECK_PRIME;
		check ^= check >> 29;
	}
	return check;
}

static bool send(lane *to, uint32_t *own, uint64_t *sequence, const void *payload, size_t bytes)
{
	uint64_t words[SLOT_WORDS] = {0};
	const size_t count = bytes / 8 + 1; // with the sequence number
	words[1] = ++*sequence;
	memcpy(words + HEAD_WORDS, payload, bytes);
	words[0] = check_of(words + 1, count);
	slot *mine = &to->slots[*own];
	for (size_t i = 0; i <= count; i++)
		atomic_store_explicit(&mine->words[i], words[i], memory_order_relaxed);
	const uint32_t before = atomic_exchange_explicit(&to->middle, *own | FRESH, memory_order_acq_rel);
	*own = (before & SLOT_MASK) % SLOTS;
	return before < SLOTS || (before >= FRESH && before < FRESH + SLOTS);
}

static tac_channel_news take(lane *from, uint32_t *own, uint64_t *sequence, void *out_payload, size_t bytes)
{
	const uint32_t seen = atomic_load_explicit(&from->middle, memory_order_relaxed);
	if (seen < SLOTS)
		return TAC_CHANNEL_NOTHING;
	if (seen < FRESH || seen >= FRESH + SLOTS)
		return TAC_CHANNEL_DAMAGED;
	const uint32_t before = atomic_exchange_explicit(&from->middle, *own, memory_order_acq_rel);
	if (before < FRESH || before >= FRESH + SLOTS)
		return TAC_CHANNEL_DAMAGED;
	*own = before & SLOT_MASK;
	uint64_t words[SLOT_WORDS];
	const size_t count = bytes / 8 + 1;
	for (size_t i = 0; i <= count; i++)
		words[i] = atomic_load_explicit(&from->slots[*own].words[i], memory_order_relaxed);
	if (words[0] != check_of(words + 1, count) || words[1] <= *sequence)
		return TAC_CHANNEL_DAMAGED;
	*sequence = words[1];
	memcpy(out_payload, words + HEAD_WORDS, bytes);
	return TAC_CHANNEL_NEW;
}

int tac_channel_create(void)
{
	const int fd = memfd_create("tactus-keeper", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, sizeof(struct tac_channel_memory)) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

bool tac_channel_map(tac_channel *channel, int fd, tac_channel_side side)
{
	void *memory = mmap(NULL, sizeof(struct tac_channel_memory), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_POPULATE, fd, 0);
	if (memory == MAP_FAILED)
		return false;
	*channel = (tac_channel){.memory = memory, .out_slot = 0, .in_slot = 1};
	if (side == TAC_CHANNEL_RUNTIME) { // it maps the memory first
		atomic_store(&channel->memory->orders.middle, 2);
		atomic_store(&channel->memory->samples.middle, 2);
	}
	return true;
}

void tac_channel_unmap(tac_channel *channel)
{
	if (channel->memory)
		munmap(channel->memory, sizeof *channel->memory);
	channel->memory = NULL;
}

bool tac_channel_send_order(tac_channel *channel, const tac_order *order)
{
	return send(&channel->memory->orders, &channel->out_slot, &channel->out_sequence, order,
		    sizeof *order);
}

tac_channel_news tac_channel_take_order(tac_channel *channel, tac_order *out_order)
{
	return take(&channel->memory->orders, &channel->in_slot, &channel->in_sequence, out_order,
		    sizeof *out_order);
}

bool tac_channel_send_sample(tac_channel *channel, const tac_sample *sample)
{
	return send(&channel->memory->samples, &channel->out_slot, &channel->out_sequence, sample,
		    sizeof *sample);
}

tac_channel_news tac_channel_take_sample(tac_channel *channel, tac_sample *out_sample)
{
	return take(&channel->memory->samples, &channel->in_slot, &channel->in_sequence, out_sample,
		    sizeof *out_sample);
}

void tac_channel_enable(tac_channel *channel, bool on)
{
	atomic_store_explicit(&channel->memory->enabled, on ? ENABLED : 0, memory_order_release);
}

bool tac_channel_enabled(const tac_channel *channel)
{
	return atomic_load_explicit(&channel->memory->enabled, memory_order_acquire) == ENABLED;
}

void tac_channel_beat(tac_channel *channel)
{
	atomic_fetch_add_explicit(&channel->memory->beats, 1, memory_order_relaxed);
}

uint32_t tac_channel_beats(const tac_channel *channel)
{
	return atomic_load_explicit(&channel->memory->beats, memory_order_relaxed);
}
