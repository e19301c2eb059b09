// An FX2LP in slave FIFO mode, eight bits wide, with the firmware of hardware/board/ulx3s/fx2lp.c, which
// hands the packets of endpoint 2 over one by one; endpoint 6 commits full packets by itself. Four buffers of
// 512 bytes each way. It ends the program with a message when the bridge breaks a rule.
#ifndef TAC_TESTS_HARDWARE_FX2_MODEL_H
#define TAC_TESTS_HARDWARE_FX2_MODEL_H

#include "hardware/board/ulx3s/fx2lp.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

class fx2_model
{
      public:
	static constexpr size_t PACKET = 512, BUFFERS = 4;
	struct pins { // of the bridge
		bool slrd_n, slwr_n, sloe_n, pktend_n, fd_enable, taken;
		uint8_t fifoadr, fd;
	};
	// To the bridge.
	bool empty_n = false, full_n = true, packet = false, packet_short = false;
	uint8_t fd = 0;

	// The host's side.
	bool put(const uint8_t *bytes, uint32_t count)
	{
		if (received.size() == BUFFERS)
			return false;
		received.emplace_back(bytes, bytes + count);
		return true;
	}

	bool has_packet() const
	{
		return !committed.empty();
	}

	std::vector<uint8_t> get()
	{
		std::vector<uint8_t> p = committed.front();
		committed.pop_front();
		return p;
	}

	bool idle() const
	{
		return received.empty() && fifo.empty() &&
		       packet == answered; // an empty packet is in neither
	}

	void reset(bool taken)
	{
		received.clear();
		committed.clear();
		fifo.clear();
		writing.clear();
		packet = answered = taken;
		update(true);
	}

	// A rising edge of IFCLK.
	void edge(const pins &p)
	{
		const bool out = p.fifoadr == 0, in = p.fifoadr == 2;
		require(p.sloe_n || !p.fd_enable, "data pins that one side drives");
		require(p.slrd_n || (out && !fifo.empty()), "a read of endpoint 2 while it has data");
		require(p.slwr_n || (in && p.fd_enable && full_n), "a write of endpoint 6 while it has room");
		require(p.pktend_n || (in && p.slwr_n && full_n),
			"PKTEND for endpoint 6 by itself, while it has room");
		require(p.pktend_n || !just_full, "a clock between a full packet and PKTEND");
		if (!p.slrd_n)
			fifo.pop_front();
		if (!p.slwr_n)
			writing.push_back(p.fd);
		just_full = writing.size() == PACKET;
		if (just_full || !p.pktend_n) {
			committed.push_back(writing);
			writing.clear();
		}
		answered = p.taken;
		firmware(p.taken);
		update(p.sloe_n);
	}

      private:
	static constexpr unsigned INSTRUCTIONS = 40; // edges of IFCLK for a round of the firmware's loop
	std::deque<std::vector<uint8_t>> received, committed;
	std::deque<uint8_t> fifo; // of endpoint 2, towards the bridge
	std::vector<uint8_t> writing;
	unsigned edges = 0;
	bool just_full = false; // a packet has just been committed by itself
	bool answered = false;  // `taken`, as the firmware found it last

	static void require(bool holds, const char *what)
	{
		if (holds)
			return;
		std::fprintf(stderr, "FX2: expected %s\n", what);
		std::abort();
	}

	// One round of the firmware's loop: the registers as it finds them, and what it has done to them.
	void firmware(bool taken)
	{
		if (++edges % INSTRUCTIONS != 0)
			return;
		IOD = static_cast<unsigned char>((packet ? 1 : 0) | (packet_short ? 2 : 0) | (taken ? 4 : 0));
		EP2CS = received.empty() ? EP_EMPTY : 0;
		const size_t count = received.empty() ? 0 : received.front().size();
		EP2BCH = static_cast<unsigned char>(count >> 8);
		EP2BCL = static_cast<unsigned char>(count);
		OUTPKTEND = 0;
		hand_over();
		packet = (IOD & 1) != 0;
		packet_short = (IOD & 2) != 0;
		if (OUTPKTEND == 0)
			return;
		require(!received.empty() && fifo.empty(), "a packet, and an empty FIFO to put it into");
		require(OUTPKTEND == 2 || OUTPKTEND == (EP_SKIP | 2), "a packet of endpoint 2");
		if (OUTPKTEND == 2)
			fifo.assign(received.front().begin(), received.front().end());
		received.pop_front();
	}

	void update(bool sloe_n)
	{
		empty_n = !fifo.empty();
		full_n = committed.size() < BUFFERS;
		fd = sloe_n || fifo.empty() ? 0xA5 : fifo.front();
	}
};

#endif
