// The translated chip and a model of its SDRAM behind hardware/rtl_interface.h.
#include "hardware/rtl_interface.h"

#include <Vsimulation_top.h>
#include <verilated.h>

#include <cstring>
#include <new>

namespace
{

// In chip clocks: docs/collisionchip.md, Time.
constexpr uint64_t FIRST_BEAT = 8, SAME_BANK = 8;
constexpr uint32_t BRIDGE_BYTES = 16; // after which a USB bridge pauses for a clock
constexpr unsigned BEATS = 8, BEAT_BYTES = 32, PAIR_BYTES = 256, BANKS = 4, REQUESTS = 8;

struct slot {
	const unsigned char *bytes;
	uint32_t address, count;
};

// Bursts in order; the rows are closed after each.
struct sdram {
	slot slots[2];
	struct {
		const unsigned char *bytes; // null: no such memory
		uint64_t first_beat;
	} requests[REQUESTS];
	unsigned first, count, beat;
	unsigned last_bank;
	uint64_t bus_free;
};

} // namespace

struct tac_rtl {
	VerilatedContext context;
	Vsimulation_top top;
	sdram memory;
	unsigned char *bytes; // the same memory, for the front end
	uint64_t now;

	tac_rtl() : context(), top(&context), memory(), bytes(nullptr), now(0)
	{
		memory.last_bank = BANKS;
	}
};

namespace
{

const unsigned char *bytes_at(const sdram &memory, uint32_t address)
{
	for (const slot &s : memory.slots)
		if (address - s.address < s.count) // wraps below it
			return s.bytes + (address - s.address);
	return nullptr;
}

void request(sdram &memory, uint64_t now, uint32_t address)
{
	const unsigned bank = address / PAIR_BYTES % BANKS;
	const uint64_t free = memory.bus_free + (bank == memory.last_bank ? SAME_BANK : 0);
	auto &r = memory.requests[(memory.first + memory.count++) % REQUESTS];
	r.bytes = bytes_at(memory, address);
	r.first_beat = now + FIRST_BEAT > free ? now + FIRST_BEAT : free;
	memory.bus_free = r.first_beat + BEATS;
	memory.last_bank = bank;
}

// One clock: the outputs are those after the last edge, the inputs are set, then the edge comes.
void clock_once(tac_rtl *rtl)
{
	Vsimulation_top &top = rtl->top;
	sdram &memory = rtl->memory;
	const bool asks = top.memory_request && memory.count < REQUESTS;
	const uint32_t address = top.memory_address;
	top.memory_ready = memory.count < REQUESTS;
	top.memory_valid = 0;
	if (memory.count > 0) {
		const auto &r = memory.requests[memory.first];
		if (rtl->now >= r.first_beat) {
			top.memory_valid = 1;
			top.memory_bad = r.bytes == nullptr;
			if (r.bytes)
				std::memcpy(&top.memory_data[0], r.bytes + BEAT_BYTES * memory.beat,
					    BEAT_BYTES);
			if (++memory.beat == BEATS) {
				memory.beat = 0;
				memory.first = (memory.first + 1) % REQUESTS;
				memory.count--;
			}
		}
	}
	if (asks)
		request(memory, rtl->now, address);
	top.byte_ready = 1;
	if (top.byte_write && top.byte_ready)
		rtl->bytes[top.byte_address] = top.byte_write_data;
	if (top.byte_read)
		top.byte_read_data = rtl->bytes[top.byte_address];
	top.clk = 1;
	top.eval();
	top.clk = 0;
	top.eval();
	rtl->now++;
}

tac_rtl *create(uint32_t sram_words, uint32_t hit_capacity)
{
	tac_rtl *rtl = new (std::nothrow) tac_rtl;
	if (!rtl)
		return nullptr;
	rtl->top.sram_size = sram_words;
	rtl->top.hit_capacity = hit_capacity;
	rtl->top.eval(); // the first evaluation sees no edge
	rtl->top.power_on = 1;
	clock_once(rtl);
	rtl->top.power_on = 0;
	clock_once(rtl);
	return rtl;
}

void destroy(tac_rtl **rtl)
{
	delete *rtl;
	*rtl = nullptr;
}

void attach(tac_rtl *rtl, int index, uint32_t address, const void *bytes, uint32_t count)
{
	rtl->memory.slots[index] = slot{static_cast<const unsigned char *>(bytes), address, count};
	// The bursts of an abandoned query still arrive; their memory may be gone.
	for (auto &r : rtl->memory.requests)
		r.bytes = nullptr;
}

// Offsets beyond the bus do not exist, and neither does the last one on it.
uint16_t on_the_bus(uint32_t offset)
{
	return static_cast<uint16_t>(offset < 0xFFFC ? offset : 0xFFFC);
}

// HIT_B removes a pair, and a register that does not exist raises an error; all other reads leave no trace.
bool read_acts(uint32_t offset)
{
	const bool exists = offset < 0x28 || (offset >= 0x40 && offset < 0x100) ||
			    (offset >= 0x200 && offset < 0x410) || (offset >= 0x500 && offset < 0x608);
	return !exists || offset % 4 != 0;
}

uint32_t read_register(tac_rtl *rtl, uint32_t offset)
{
	rtl->top.register_read = 1;
	rtl->top.register_address = on_the_bus(offset);
	rtl->top.eval(); // without a clock: the answer comes in the same clock
	const uint32_t data = rtl->top.register_read_data;
	if (read_acts(offset))
		clock_once(rtl);
	rtl->top.register_read = 0;
	return data;
}

void write_register(tac_rtl *rtl, uint32_t offset, uint32_t value)
{
	rtl->top.register_write = 1;
	rtl->top.register_address = on_the_bus(offset);
	rtl->top.register_write_data = value;
	clock_once(rtl);
	rtl->top.register_write = 0;
}

bool window(tac_rtl *rtl, bool outside, bool write)
{
	const bool busy = rtl->top.busy;
	rtl->top.window_outside = outside;
	rtl->top.window_write = write;
	clock_once(rtl);
	rtl->top.window_outside = 0;
	rtl->top.window_write = 0;
	return !outside && !(write && busy);
}

bool clock_chip(tac_rtl *rtl, uint64_t clocks)
{
	for (uint64_t i = 0; i < clocks && rtl->top.busy; i++)
		clock_once(rtl);
	return rtl->top.busy;
}

bool interrupt(const tac_rtl *rtl)
{
	return rtl->top.interrupt_line;
}

uint64_t clocks_of(const tac_rtl *rtl)
{
	return rtl->top.clocks;
}

uint32_t coplanar_of(const tac_rtl *rtl)
{
	return rtl->top.coplanar;
}

uint32_t stages_of(const tac_rtl *rtl)
{
	return rtl->top.stages;
}

void front_open(tac_rtl *rtl, const tac_rtl_front *front)
{
	attach(rtl, 0, 0, front->memory, front->memory_bytes);
	rtl->bytes = front->memory;
	rtl->top.front_memory_bytes = front->memory_bytes;
	rtl->top.front_out_max = front->message_max;
	rtl->top.front_in_max = front->message_max;
	std::memcpy(&rtl->top.front_serial[0], front->serial, sizeof front->serial);
	clock_once(rtl);
	rtl->top.front = 1;
	clock_once(rtl);
}

bool front_put(tac_rtl *rtl, const uint8_t *bytes, uint32_t count, bool end)
{
	if (!rtl->top.rx_ready)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		rtl->top.rx_valid = 1;
		rtl->top.rx_byte = bytes[i];
		clock_once(rtl);
	}
	rtl->top.rx_valid = 0;
	if (end) {
		rtl->top.rx_end = 1;
		clock_once(rtl);
		rtl->top.rx_end = 0;
	}
	return true;
}

uint32_t front_get(tac_rtl *rtl, uint8_t *bytes, uint32_t capacity, bool *out_end)
{
	uint32_t count = 0;
	*out_end = false;
	rtl->top.tx_ready = 1;
	rtl->top.eval();
	while (count < capacity && rtl->top.tx_valid && !*out_end) {
		bytes[count++] = rtl->top.tx_byte;
		*out_end = rtl->top.tx_last;
		clock_once(rtl);
		if (count % BRIDGE_BYTES == 0 && !*out_end) {
			rtl->top.tx_ready = 0;
			clock_once(rtl);
			rtl->top.tx_ready = 1;
			rtl->top.eval();
		}
	}
	rtl->top.tx_ready = 0;
	rtl->top.eval();
	return count;
}

bool front_clock(tac_rtl *rtl, uint64_t clocks)
{
	for (uint64_t i = 0; i < clocks && !rtl->top.tx_valid && !rtl->top.front_idle; i++)
		clock_once(rtl);
	return !rtl->top.front_idle;
}

void front_reset(tac_rtl *rtl)
{
	rtl->top.bus_reset = 1;
	clock_once(rtl);
	rtl->top.bus_reset = 0;
	clock_once(rtl);
	clock_once(rtl);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const tac_rtl_api *tac_rtl_plugin(void)
{
	static const tac_rtl_api api = {TAC_RTL_API_VERSION, create,     destroy,    attach,    read_register,
					write_register,      window,     clock_chip, interrupt, clocks_of,
					coplanar_of,         stages_of,  front_open, front_put, front_get,
					front_clock,         front_reset};
	return &api;
}
