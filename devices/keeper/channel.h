// Channel: the memory that a runtime and the keeper of its device share. Orders go one way and samples the
// other, each through a triple buffer as in rt/latest.h: wait-free, the newest value wins.
//
// rt/latest.h trusts its memory; here either process may write anything into it at any time. So only the
// index of the middle slot and the slots themselves are shared, and every index is range-checked. A value is
// copied into private memory before it is checked: its checksum must match and its sequence number must grow.
// The size of the memory is sealed, so that no process can shrink it under the other.
#ifndef TAC_DEVICES_KEEPER_CHANNEL_H
#define TAC_DEVICES_KEEPER_CHANNEL_H

#include "base/result.h"
#include "devices/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// From the runtime to the keeper, once a tick.
typedef struct tac_order {
	int64_t time_ns; // tac_clock_now_ns when it was written
	tac_wrench wrench;
	double gripper_N; // positive opens
} tac_order;

// From the keeper to the runtime.
typedef struct tac_sample {
	int64_t status; // tac_device_status
	tac_device_state state;
} tac_sample;

typedef enum tac_channel_side {
	TAC_CHANNEL_RUNTIME,
	TAC_CHANNEL_KEEPER,
} tac_channel_side;

// What a side takes out of the channel.
typedef enum tac_channel_news {
	TAC_CHANNEL_NOTHING,
	TAC_CHANNEL_NEW,
	TAC_CHANNEL_DAMAGED, // the memory holds something that the other side did not send
} tac_channel_news;

struct tac_channel_memory;

// One side of the channel. All fields are private.
typedef struct tac_channel {
	struct tac_channel_memory *memory;
	uint32_t out_slot, in_slot;
	uint64_t out_sequence, in_sequence;
} tac_channel;

// Creates the memory, with its size sealed and close-on-exec set. Returns its descriptor, or -1 with errno.
// Thread: setup.
int tac_channel_create(void);

// Maps the memory behind `fd` for one side; false with errno if that is not possible. The descriptor stays
// the caller's and may be closed. Thread: setup.
bool tac_channel_map(tac_channel *channel, int fd, tac_channel_side side);

// Thread: setup, when nobody uses this side.
void tac_channel_unmap(tac_channel *channel);

// Of the runtime. False: the memory is damaged. Thread: RT, one thread.
bool tac_channel_send_order(tac_channel *channel, const tac_order *order);
// *out_sample is written only if the result is TAC_CHANNEL_NEW. Thread: RT, one thread.
tac_channel_news tac_channel_take_sample(tac_channel *channel, tac_sample *out_sample);
// Switches forces on or off. Thread: any, also a signal handler.
void tac_channel_enable(tac_channel *channel, bool on);
// A number that changes as long as the keeper works. Thread: any.
uint32_t tac_channel_beats(const tac_channel *channel);

// Of the keeper. False: the memory is damaged. Thread: RT, one thread.
bool tac_channel_send_sample(tac_channel *channel, const tac_sample *sample);
// *out_order is written only if the result is TAC_CHANNEL_NEW. Thread: RT, one thread.
tac_channel_news tac_channel_take_order(tac_channel *channel, tac_order *out_order);
// Whether the runtime has switched forces on. Thread: any.
bool tac_channel_enabled(const tac_channel *channel);
// Changes the number that tac_channel_beats returns. Thread: RT, one thread.
void tac_channel_beat(tac_channel *channel);

#ifdef __cplusplus
}
#endif

#endif
