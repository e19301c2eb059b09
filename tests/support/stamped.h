// A payload of four cache lines in which every word follows from the sequence number, so that a reader can
// tell a complete payload from a mix of two.
#ifndef TAC_TESTS_SUPPORT_STAMPED_H
#define TAC_TESTS_SUPPORT_STAMPED_H

#include <stdbool.h>
#include <stdint.h>

enum { STAMPED_WORDS = 32 };

typedef struct stamped {
	uint64_t words[STAMPED_WORDS]; // the first is the sequence number
} stamped;

// The finaliser of MurmurHash3: the words of consecutive payloads are unrelated.
static inline uint64_t stamped_word(uint64_t sequence, uint64_t i)
{
	uint64_t x = sequence * STAMPED_WORDS + i;
	x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ (x >> 33);
}

static inline void stamped_fill(stamped *payload, uint64_t sequence)
{
	payload->words[0] = sequence;
	for (uint64_t i = 1; i < STAMPED_WORDS; i++)
		payload->words[i] = stamped_word(sequence, i);
}

static inline bool stamped_whole(const stamped *payload)
{
	bool whole = true;
	for (uint64_t i = 1; i < STAMPED_WORDS; i++)
		whole = whole && payload->words[i] == stamped_word(payload->words[0], i);
	return whole;
}

#endif
