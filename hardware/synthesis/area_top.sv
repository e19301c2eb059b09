// The chip and the front end of a board as they go into an FPGA, with every port behind a shift register: for area and clock
// frequency without pins. The pipeline has 23 stages, the stack memory 4,096 words, the hit FIFO 512 pairs.
module area_top (input logic clk, input logic serial_in, output logic serial_out);
	localparam SRAM_BITS = 12, HIT_BITS = 9;
	logic [311:0] in;
	always_ff @(posedge clk) in <= {in[310:0], serial_in};
	logic power_on, bus_reset, rx_valid, rx_end, tx_ready, memory_ready, memory_valid, memory_bad;
	logic [7:0] rx_byte, byte_read_data;
	logic [255:0] memory_data;
	assign {power_on, bus_reset, rx_valid, rx_end, tx_ready, memory_ready, memory_valid, memory_bad, rx_byte, byte_read_data,
		memory_data} = in[279:0];

	logic register_write, register_read, interrupt_line, busy, memory_request, rx_ready, tx_valid, tx_last, idle, byte_write, byte_read;
	logic [15:0] register_address;
	logic [31:0] register_write_data, register_read_data, memory_address, byte_address, coplanar;
	logic [63:0] clocks;
	logic [7:0] tx_byte, byte_write_data;
	collision_chip #(.SRAM_BITS(SRAM_BITS), .HIT_BITS(HIT_BITS), .MULTIPLY_STAGES(4), .ADD_STAGES(6)) chip (.clk(clk),
		.power_on(power_on), .sram_size(13'd4096), .hit_capacity(10'd512), .register_write(register_write),
		.register_read(register_read), .register_address(register_address), .register_write_data(register_write_data),
		.register_read_data(register_read_data), .interrupt_line(interrupt_line), .busy(busy), .window_outside(1'b0),
		.window_write(1'b0), .memory_request(memory_request), .memory_address(memory_address), .memory_ready(memory_ready),
		.memory_valid(memory_valid), .memory_bad(memory_bad), .memory_data(memory_data), .clocks(clocks), .coplanar(coplanar));
	board_front front (.clk(clk), .power_on(power_on), .bus_reset(bus_reset), .rx_valid(rx_valid), .rx_end(rx_end),
		.rx_byte(rx_byte), .rx_ready(rx_ready), .tx_valid(tx_valid), .tx_last(tx_last), .tx_byte(tx_byte), .tx_ready(tx_ready),
		.idle(idle), .memory_bytes(33'h2000000), .sram_words(32'd4096), .hit_capacity(32'd512), .clock_hz(32'd40000000),
		.out_max(32'd4096), .in_max(32'd4096), .serial(128'h31), .register_write(register_write), .register_read(register_read),
		.register_address(register_address), .register_write_data(register_write_data), .register_read_data(register_read_data),
		.chip_busy(busy), .memory_write(byte_write), .memory_read(byte_read), .memory_address(byte_address),
		.memory_write_data(byte_write_data), .memory_read_data(byte_read_data));

	logic [159:0] out;
	always_ff @(posedge clk) begin
		out <= {interrupt_line, memory_request, memory_address, rx_ready, tx_valid, tx_last, tx_byte, idle, byte_write, byte_read,
			byte_address, byte_write_data, clocks[63:32] ^ clocks[31:0], coplanar};
		serial_out <= ^out;
	end
endmodule
