// The ULX3S with an ECP5-85F and an FX2LP module on header J1: pins, clock and reset around collision_board. The pins are in
// ulx3s.lpf, the names of the board's own signals those of its schematic.
module ulx3s (
	input  logic        clk_25mhz,
	output logic [7:0]  led,
	// SDRAM
	output logic        sdram_clk, sdram_cke, sdram_csn, sdram_rasn, sdram_casn, sdram_wen,
	output logic [12:0] sdram_a,
	output logic [1:0]  sdram_ba, sdram_dqm,
	inout  wire  [15:0] sdram_d,
	// FX2LP
	output logic        fx2_ifclk, fx2_slrd_n, fx2_slwr_n, fx2_sloe_n, fx2_pktend_n,
	output logic [1:0]  fx2_fifoadr,
	input  logic        fx2_flaga, fx2_flagb,
	inout  wire  [7:0]  fx2_fd,
	input  logic        fx2_packet, fx2_short, fx2_unplugged,
	output logic        fx2_taken
);
	// 25 MHz to 40 MHz: the phase comparator runs at 5 MHz, the oscillator at 600 MHz.
	logic clk, locked;
	(* ICP_CURRENT = "12", LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1", MFG_GMCREF_SEL = "2" *) // the loop's filter
	EHXPLLL #(.CLKI_DIV(5), .CLKFB_DIV(8), .CLKOP_DIV(15), .CLKOP_CPHASE(7), .CLKOP_FPHASE(0), .CLKOP_ENABLE("ENABLED"),
		.FEEDBK_PATH("CLKOP"), .OUTDIVIDER_MUXA("DIVA"), .PLLRST_ENA("DISABLED"), .INTFB_WAKE("DISABLED"), .STDBY_ENABLE("DISABLED"),
		.DPHASE_SOURCE("DISABLED")) pll (.CLKI(clk_25mhz), .CLKFB(clk), .CLKOP(clk), .LOCK(locked), .RST(1'b0), .STDBY(1'b0),
		.PHASESEL0(1'b0), .PHASESEL1(1'b0), .PHASEDIR(1'b1), .PHASESTEP(1'b1), .PHASELOADREG(1'b1), .PLLWAKESYNC(1'b0),
		.ENCLKOP(1'b0));

	// Reset until the clock has been locked for 256 periods.
	logic [7:0] steady = 0;
	logic power_on;
	always_ff @(posedge clk) begin
		if (!locked)
			steady <= 0;
		else if (steady != 8'hFF)
			steady <= steady + 1;
		power_on <= steady != 8'hFF;
	end

	// The memory's clock, inverted.
	ODDRX1F memory_clock (.SCLK(clk), .RST(1'b0), .D0(1'b0), .D1(1'b1), .Q(sdram_clk));

	logic [15:0] dq_out;
	logic [7:0] fd_out;
	logic dq_enable, fd_enable, busy, idle;
	assign sdram_d = dq_enable ? dq_out : 16'bz;
	assign fx2_fd = fd_enable ? fd_out : 8'bz;
	collision_board #(.CLOCK_HZ(40000000)) board (.clk(clk), .power_on(power_on), .ifclk(fx2_ifclk), .slrd_n(fx2_slrd_n),
		.slwr_n(fx2_slwr_n), .sloe_n(fx2_sloe_n), .pktend_n(fx2_pktend_n), .fifoadr(fx2_fifoadr), .empty_n(fx2_flaga),
		.full_n(fx2_flagb), .fd_out(fd_out), .fd_enable(fd_enable), .fd_in(fx2_fd), .packet(fx2_packet), .packet_short(fx2_short),
		.unplugged(fx2_unplugged), .taken(fx2_taken), .sdram_cke(sdram_cke), .sdram_cs_n(sdram_csn), .sdram_ras_n(sdram_rasn),
		.sdram_cas_n(sdram_casn), .sdram_we_n(sdram_wen), .sdram_a(sdram_a), .sdram_ba(sdram_ba), .sdram_dqm(sdram_dqm),
		.sdram_dq_out(dq_out), .sdram_dq_enable(dq_enable), .sdram_dq_in(sdram_d), .busy(busy), .idle(idle));
	assign led = {power_on, fx2_unplugged, 4'b0, !idle, busy};
endmodule
