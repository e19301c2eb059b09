// RTL interface: the chip of hardware/chip as Verilator translates it, behind C functions in a shared
// library, libtactus_rtl.so. Nothing else here needs C++ or Verilator. The functions are those of
// collision/chip.h; a clock of this chip is a clock of its gates. Around it is a model of the SDRAM of
// docs/collisionchip.md: the first beat 8 clocks after a request, 8 clocks between two bursts of one bank.
#ifndef TAC_HARDWARE_RTL_INTERFACE_H
#define TAC_HARDWARE_RTL_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_RTL_API_VERSION 2

// The gateware has memories of this size; a chip may use less.
#define TAC_RTL_SRAM_WORDS_MAX   65536
#define TAC_RTL_HIT_CAPACITY_MAX 65536

typedef struct tac_rtl tac_rtl;

typedef struct tac_rtl_front {
	unsigned char *memory;
	uint32_t memory_bytes; // a multiple of 256
	uint32_t message_max;  // bytes, each way: 4096 to 262144
	char serial[16];       // padded with 0
} tac_rtl_front;

typedef struct tac_rtl_api {
	int32_t version;
	// A chip after power-on, NULL if there is no memory for it. sram_words and hit_capacity: 1 to the
	// limits above. Allocates; nothing else here does. Thread: setup.
	tac_rtl *(*create)(uint32_t sram_words, uint32_t hit_capacity);
	// Thread: setup.
	void (*destroy)(tac_rtl **rtl);
	// The rest: Thread: RT, one thread at a time for each chip.
	//
	// Maps `count` bytes (a multiple of 256) at `address` (a multiple of 256) into the hierarchy memory,
	// in slot 0 or 1. They remain the caller's and are only read.
	void (*attach)(tac_rtl *rtl, int slot, uint32_t address, const void *bytes, uint32_t count);
	uint32_t (*read)(tac_rtl *rtl, uint32_t offset);
	void (*write)(tac_rtl *rtl, uint32_t offset, uint32_t value);
	// An access through the memory window: outside of the memory, or a write. Returns whether it may be
	// performed.
	bool (*window)(tac_rtl *rtl, bool outside, bool write);
	// Runs for `clocks` clocks, or until the query ends; returns whether the chip is busy.
	bool (*clock)(tac_rtl *rtl, uint64_t clocks);
	bool (*interrupt)(const tac_rtl *rtl);
	// Clocks from START to the end of the query, and triangle tests that were decided in the plane; the
	// register map has neither.
	uint64_t (*clocks)(const tac_rtl *rtl);
	uint32_t (*coplanar)(const tac_rtl *rtl);
	// Stages of the DOTADD unit: 6 as in the paper, or more. Each list then takes as many more clocks in
	// the schedule that the counters follow.
	uint32_t (*stages)(const tac_rtl *rtl);

	// The front end of a board (hardware/board/board_front.sv) in place of the register window: it speaks
	// docs/board-protocol.md over bytes. The memory is the caller's; the front end writes it.
	void (*front_open)(tac_rtl *rtl, const tac_rtl_front *front);
	// Gives it the bytes of a packet, a clock each, and the end of the message; false: not now.
	bool (*front_put)(tac_rtl *rtl, const uint8_t *bytes, uint32_t count, bool end);
	// Takes bytes of an answer, a clock each, up to its end; returns their number.
	uint32_t (*front_get)(tac_rtl *rtl, uint8_t *bytes, uint32_t capacity, bool *out_end);
	// Runs until there are bytes to take or nothing is in progress, at most `clocks` clocks; returns
	// whether something is in progress.
	bool (*front_clock)(tac_rtl *rtl, uint64_t clocks);
	// As a USB reset does.
	void (*front_reset)(tac_rtl *rtl);
} tac_rtl_api;

// The only symbol of the library.
// Thread: setup.
const tac_rtl_api *tac_rtl_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
