// A 16-bit SDR SDRAM of 32 MB (Micron MT48LC16M16A2 and its second sources), with the usual timing of its
// class: four banks, 8,192 rows, 512 columns. It keeps its words in the caller's memory, and ends the program
// with a message when a command comes at a wrong time, so a test cannot pass with a controller that the real
// part would not understand.
#ifndef TAC_TESTS_HARDWARE_SDRAM_MODEL_H
#define TAC_TESTS_HARDWARE_SDRAM_MODEL_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>

class sdram_model
{
      public:
	static constexpr uint32_t BYTES = UINT32_C(1) << 25;
	struct pins {
		bool cke, cs_n, ras_n, cas_n, we_n, dq_enable;
		uint16_t a, ba, dqm, dq;
	};
	unsigned char *bytes = nullptr;

	// A rising edge of the memory's clock. Returns what is on the data pins afterwards, until the next
	// edge.
	uint16_t edge(const pins &p)
	{
		now_ns += PERIOD_NS;
		const uint16_t driven = on_the_way;
		const bool drives = read_on_the_way;
		on_the_way = 0xDEAD; // what nobody drives
		read_on_the_way = false;
		require(!(drives && p.dq_enable), "data pins that one side drives");
		require(now_ns - refreshed_ns <= 2 * REFRESH_EACH_NS || !mode_set,
			"a refresh every 7.8 us, or soon after");
		if (!p.cke || p.cs_n)
			return driven;
		switch (p.ras_n << 2 | p.cas_n << 1 | p.we_n) {
		case 7:
			break;
		case 3:
			activate(p);
			break;
		case 5:
			read(p);
			break;
		case 4:
			write(p);
			break;
		case 2:
			precharge(p);
			break;
		case 1:
			refresh();
			break;
		case 0:
			set_mode(p);
			break;
		default:
			require(false, "a command that is used");
		}
		return driven;
	}

      private:
	// Nanoseconds; the slowest grades.
	static constexpr int64_t PERIOD_NS = 25, START_NS = 200000, RCD_NS = 20, RP_NS = 20, RAS_NS = 45,
				 RC_NS = 66, RFC_NS = 66, WR_NS = 15, MRD_NS = 2 * PERIOD_NS,
				 RAS_MOST_NS = 100000, REFRESH_EACH_NS = 7812;
	static constexpr int64_t LONG_AGO = -1000000000;
	struct bank {
		bool open = false;
		uint32_t row = 0;
		int64_t activated_ns = LONG_AGO, precharged_ns = LONG_AGO, written_ns = LONG_AGO;
	} banks[4];
	int64_t now_ns = 0, refreshed_ns = 0, mode_ns = LONG_AGO;
	int64_t first_refresh_ns = 0, refreshes = 0;
	bool all_precharged = false, mode_set = false, read_on_the_way = false;
	uint16_t on_the_way = 0xDEAD;

	void require(bool holds, const char *what) const
	{
		if (holds)
			return;
		std::fprintf(stderr, "SDRAM: expected %s, at %lld ns\n", what,
			     static_cast<long long>(now_ns));
		std::abort();
	}

	bool since(int64_t then_ns, int64_t least_ns) const
	{
		return now_ns - then_ns >= least_ns;
	}

	void require_ready() const
	{
		require(mode_set && since(mode_ns, MRD_NS), "the start sequence first");
		require(since(refreshed_ns, RFC_NS), "the end of a refresh");
		// On average; the first ones of the start sequence come in a row.
		require(refreshes * REFRESH_EACH_NS >= now_ns - first_refresh_ns - 2 * REFRESH_EACH_NS,
			"8,192 refreshes in 64 ms");
	}

	void activate(const pins &p)
	{
		bank &b = banks[p.ba];
		require_ready();
		require(!b.open, "a closed bank to open");
		require(since(b.precharged_ns, RP_NS) && since(b.activated_ns, RC_NS),
			"tRP and tRC before a row is opened");
		b.open = true;
		b.row = p.a;
		b.activated_ns = now_ns;
	}

	uint32_t address(const pins &p)
	{
		const bank &b = banks[p.ba];
		require_ready();
		require(b.open && since(b.activated_ns, RCD_NS), "an open row and tRCD before a column");
		require((p.a & 0x400) == 0, "no automatic precharge");
		return (b.row << 11 | static_cast<uint32_t>(p.ba) << 9 | (p.a & 0x1FF)) * 2;
	}

	void read(const pins &p)
	{
		require(p.dqm == 0, "both bytes of a word that is read");
		const unsigned char *w = bytes + address(p);
		on_the_way = static_cast<uint16_t>(w[0] | w[1] << 8);
		read_on_the_way = true;
	}

	void write(const pins &p)
	{
		unsigned char *w = bytes + address(p);
		require(p.dq_enable, "data with a write");
		if ((p.dqm & 1) == 0)
			w[0] = static_cast<unsigned char>(p.dq);
		if ((p.dqm & 2) == 0)
			w[1] = static_cast<unsigned char>(p.dq >> 8);
		banks[p.ba].written_ns = now_ns;
	}

	void precharge(const pins &p)
	{
		require(now_ns >= START_NS, "200 us before the first command");
		for (unsigned i = 0; i < 4; i++) {
			bank &b = banks[i];
			if (i != p.ba && (p.a & 0x400) == 0)
				continue;
			if (b.open) {
				require(since(b.activated_ns, RAS_NS) && !since(b.activated_ns, RAS_MOST_NS),
					"tRAS before a row is closed");
				require(since(b.written_ns, WR_NS), "tWR before a row is closed");
				b.precharged_ns = now_ns;
			}
			b.open = false;
		}
		all_precharged = true;
	}

	void refresh()
	{
		require(all_precharged, "a precharge of all banks before a refresh");
		require(since(refreshed_ns, RFC_NS), "the end of a refresh");
		for (const bank &b : banks)
			require(!b.open && since(b.precharged_ns, RP_NS),
				"closed banks and tRP before a refresh");
		refreshed_ns = now_ns;
		if (refreshes++ == 0)
			first_refresh_ns = now_ns;
	}

	void set_mode(const pins &p)
	{
		require(refreshes >= 8 && since(refreshed_ns, RFC_NS), "eight refreshes before the mode");
		require((p.a & 0x7F) == 0x20, "CAS latency 2 and single words");
		mode_set = true;
		mode_ns = now_ns;
	}
};

#endif
