// The whole gateware of a board (hardware/board/collision_board.sv) between models of its SDRAM and its
// FX2LP, behind the functions for a front end of hardware/rtl_interface.h: the tests of the front end and of
// the board run on it.
#include "hardware/board/ulx3s/fx2lp.c" // its registers are the variables below
#include "hardware/rtl_interface.h"
#include "tests/hardware/fx2_model.h"
#include "tests/hardware/sdram_model.h"

#include <Vcollision_board.h>
#include <verilated.h>

#include <cstring>

volatile unsigned char IOD, OUTPKTEND, EP2BCH, EP2BCL, EP2CS;

struct tac_rtl {
	VerilatedContext context;
	Vcollision_board top;
	sdram_model memory;
	fx2_model fx2;

	tac_rtl() : context(), top(&context), memory(), fx2()
	{
	}
};

namespace
{

constexpr uint32_t SRAM_WORDS = 4096, HITS = 512, MESSAGE_BYTES = 4096;
constexpr unsigned START_CLOCKS = 9000; // 200 us, and the start of the SDRAM

void clock_once(tac_rtl *rtl)
{
	Vcollision_board &top = rtl->top;
	const bool ifclk = top.ifclk;
	top.clk = 1;
	top.eval();
	if (!ifclk && top.ifclk) {
		rtl->fx2.edge({static_cast<bool>(top.slrd_n), static_cast<bool>(top.slwr_n),
			       static_cast<bool>(top.sloe_n), static_cast<bool>(top.pktend_n),
			       static_cast<bool>(top.fd_enable), static_cast<bool>(top.taken), top.fifoadr,
			       top.fd_out});
		top.empty_n = rtl->fx2.empty_n;
		top.full_n = rtl->fx2.full_n;
		top.fd_in = rtl->fx2.fd;
		top.packet = rtl->fx2.packet;
		top.packet_short = rtl->fx2.packet_short;
	}
	top.clk = 0;
	top.eval(); // the SDRAM's clock rises
	top.sdram_dq_in =
		rtl->memory.edge({static_cast<bool>(top.sdram_cke), static_cast<bool>(top.sdram_cs_n),
				  static_cast<bool>(top.sdram_ras_n), static_cast<bool>(top.sdram_cas_n),
				  static_cast<bool>(top.sdram_we_n), static_cast<bool>(top.sdram_dq_enable),
				  top.sdram_a, top.sdram_ba, top.sdram_dqm, top.sdram_dq_out});
}

void run(tac_rtl *rtl, unsigned clocks)
{
	for (unsigned i = 0; i < clocks; i++)
		clock_once(rtl);
}

// The board is as it is: nullptr for another.
tac_rtl *create(uint32_t sram_words, uint32_t hit_capacity)
{
	if (sram_words != SRAM_WORDS || hit_capacity != HITS) {
		std::fprintf(stderr, "board: expected %u words of stack and %u hits, found %u and %u\n",
			     SRAM_WORDS, HITS, sram_words, hit_capacity);
		return nullptr;
	}
	tac_rtl *rtl = new tac_rtl;
	rtl->top.eval();
	rtl->top.power_on = 1;
	run(rtl, 4);
	rtl->top.power_on = 0;
	return rtl;
}

void destroy(tac_rtl **rtl)
{
	delete *rtl;
	*rtl = nullptr;
}

uint32_t stages_of(const tac_rtl *rtl)
{
	(void)rtl;
	return 23; // collision_board.sv
}

void front_open(tac_rtl *rtl, const tac_rtl_front *front)
{
	if (front->memory_bytes != sdram_model::BYTES || front->message_max != MESSAGE_BYTES) {
		std::fprintf(stderr, "board: expected 32 MB and messages of %u bytes\n", MESSAGE_BYTES);
		std::abort();
	}
	rtl->memory.bytes = front->memory;
	run(rtl, START_CLOCKS);
}

bool front_put(tac_rtl *rtl, const uint8_t *bytes, uint32_t count, bool end)
{
	(void)end; // a short packet
	return rtl->fx2.put(bytes, count);
}

uint32_t front_get(tac_rtl *rtl, uint8_t *bytes, uint32_t capacity, bool *out_end)
{
	*out_end = false;
	uint32_t count = 0;
	while (count < capacity && rtl->fx2.has_packet() && !*out_end) {
		const std::vector<uint8_t> packet = rtl->fx2.get();
		if (packet.size() > capacity - count)
			std::abort(); // whoever asks has room for a whole message
		std::memcpy(bytes + count, packet.data(), packet.size());
		count += static_cast<uint32_t>(packet.size());
		*out_end = packet.size() < fx2_model::PACKET;
	}
	return count;
}

bool front_clock(tac_rtl *rtl, uint64_t clocks)
{
	const auto works = [rtl] { return !rtl->top.idle || !rtl->fx2.idle(); };
	for (uint64_t i = 0; i < clocks && works(); i++) // also while the host does not read
		clock_once(rtl);
	return works();
}

void front_reset(tac_rtl *rtl)
{
	rtl->top.unplugged = 1;
	run(rtl, 8);
	rtl->fx2.reset(rtl->top.taken);
	rtl->top.packet = rtl->fx2.packet;
	rtl->top.empty_n = 0;
	run(rtl, 8);
	rtl->top.unplugged = 0;
	run(rtl, 8);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const tac_rtl_api *tac_rtl_plugin(void)
{
	static tac_rtl_api api = {};
	api.version = TAC_RTL_API_VERSION;
	api.create = create;
	api.destroy = destroy;
	api.stages = stages_of;
	api.front_open = front_open;
	api.front_put = front_put;
	api.front_get = front_get;
	api.front_clock = front_clock;
	api.front_reset = front_reset;
	return &api;
}
