// A whole CollisionChip board but for its pins and its clock: FX2LP bridge, front end, chip and SDRAM.
//
//   FX2LP ── fx2_bridge ── board_front ── collision_chip
//                               │               │
//                               └─ sdram_controller ── SDRAM
//
// The pipeline has 23 stages, so that it is fast enough for an FPGA; hits and counters do not depend on it.
module collision_board #(
	parameter CLOCK_HZ = 40000000,
	parameter SRAM_BITS = 12,           // 4,096 words of stack
	parameter HIT_BITS = 9,             // 512 hits
	parameter [127:0] SERIAL = 128'h3155 // "U1", first character in the low byte
) (
	input  logic        clk, power_on,
	// FX2LP
	output logic        ifclk, slrd_n, slwr_n, sloe_n, pktend_n,
	output logic [1:0]  fifoadr,
	input  logic        empty_n, full_n,
	output logic [7:0]  fd_out,
	output logic        fd_enable,
	input  logic [7:0]  fd_in,
	input  logic        packet, packet_short, unplugged,
	output logic        taken,
	// SDRAM
	output logic        sdram_cke, sdram_cs_n, sdram_ras_n, sdram_cas_n, sdram_we_n,
	output logic [12:0] sdram_a,
	output logic [1:0]  sdram_ba, sdram_dqm,
	output logic [15:0] sdram_dq_out,
	output logic        sdram_dq_enable,
	input  logic [15:0] sdram_dq_in,
	// to be seen
	output logic        busy,            // a query runs
	output logic        idle             // nothing is in progress
);
	localparam [31:0] MESSAGE_BYTES = 32'd4096;
	logic bus_reset, rx_valid, rx_end, rx_ready, tx_valid, tx_last, tx_ready, bridge_idle, front_idle;
	logic [7:0] rx_byte, tx_byte;
	fx2_bridge bridge (.clk(clk), .power_on(power_on), .ifclk(ifclk), .slrd_n(slrd_n), .slwr_n(slwr_n), .sloe_n(sloe_n),
		.pktend_n(pktend_n), .fifoadr(fifoadr), .empty_n(empty_n), .full_n(full_n), .fd_out(fd_out), .fd_enable(fd_enable),
		.fd_in(fd_in), .packet(packet), .packet_short(packet_short), .unplugged(unplugged), .taken(taken), .bus_reset(bus_reset),
		.rx_valid(rx_valid), .rx_end(rx_end), .rx_byte(rx_byte), .rx_ready(rx_ready), .tx_valid(tx_valid), .tx_last(tx_last),
		.tx_byte(tx_byte), .tx_ready(tx_ready), .idle(bridge_idle));

	logic register_write, register_read;
	logic [15:0] register_address;
	logic [31:0] register_write_data, register_read_data;
	logic byte_write, byte_read, byte_ready;
	logic [31:0] byte_address;
	logic [7:0] byte_write_data, byte_read_data;
	board_front #(.BUFFER_BITS(12)) front (.clk(clk), .power_on(power_on), .bus_reset(bus_reset), .rx_valid(rx_valid),
		.rx_end(rx_end), .rx_byte(rx_byte), .rx_ready(rx_ready), .tx_valid(tx_valid), .tx_last(tx_last), .tx_byte(tx_byte),
		.tx_ready(tx_ready), .idle(front_idle), .memory_bytes(33'h2000000), .sram_words(32'd1 << SRAM_BITS),
		.hit_capacity(32'd1 << HIT_BITS), .clock_hz(CLOCK_HZ), .out_max(MESSAGE_BYTES), .in_max(MESSAGE_BYTES),
		.serial(SERIAL), .register_write(register_write), .register_read(register_read), .register_address(register_address),
		.register_write_data(register_write_data), .register_read_data(register_read_data), .chip_busy(busy),
		.memory_write(byte_write), .memory_read(byte_read), .memory_ready(byte_ready), .memory_address(byte_address),
		.memory_write_data(byte_write_data), .memory_read_data(byte_read_data));
	assign idle = front_idle && bridge_idle;

	logic pair_request, pair_ready, pair_valid, pair_bad;
	logic [31:0] pair_address;
	logic [255:0] pair_data;
	/* verilator lint_off PINCONNECTEMPTY */
	collision_chip #(.SRAM_BITS(SRAM_BITS), .HIT_BITS(HIT_BITS), .MULTIPLY_STAGES(4), .ADD_STAGES(6)) chip (.clk(clk),
		.power_on(power_on), .sram_size({1'b1, {SRAM_BITS{1'b0}}}), .hit_capacity({1'b1, {HIT_BITS{1'b0}}}),
		.register_write(register_write), .register_read(register_read), .register_address(register_address),
		.register_write_data(register_write_data), .register_read_data(register_read_data), .interrupt_line(), .busy(busy),
		.window_outside(1'b0), .window_write(1'b0), .memory_request(pair_request), .memory_address(pair_address),
		.memory_ready(pair_ready), .memory_valid(pair_valid), .memory_bad(pair_bad), .memory_data(pair_data), .clocks(), .coplanar());
	/* verilator lint_on PINCONNECTEMPTY */

	sdram_controller #(.CLOCK_HZ(CLOCK_HZ)) sdram (.clk(clk), .power_on(power_on), .pair_request(pair_request),
		.pair_address(pair_address), .pair_ready(pair_ready), .pair_valid(pair_valid), .pair_bad(pair_bad), .pair_data(pair_data),
		.byte_write(byte_write), .byte_read(byte_read), .byte_address(byte_address), .byte_write_data(byte_write_data),
		.byte_ready(byte_ready), .byte_read_data(byte_read_data), .cke(sdram_cke), .cs_n(sdram_cs_n), .ras_n(sdram_ras_n),
		.cas_n(sdram_cas_n), .we_n(sdram_we_n), .a(sdram_a), .ba(sdram_ba), .dqm(sdram_dqm), .dq_out(sdram_dq_out),
		.dq_enable(sdram_dq_enable), .dq_in(sdram_dq_in));
endmodule
