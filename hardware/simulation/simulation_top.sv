// What Verilator translates: the chip with the memories of a large board and the paper's pipeline, and the front end of a
// board, which has the chip's register window while `front` is set.
module simulation_top #(parameter MULTIPLY_STAGES = 2, parameter ADD_STAGES = 1) (
	input  logic         clk, power_on,
	input  logic [16:0]  sram_size,
	input  logic [16:0]  hit_capacity,
	// register window and memory window
	input  logic         register_write, register_read,
	input  logic [15:0]  register_address,
	input  logic [31:0]  register_write_data,
	output logic [31:0]  register_read_data,
	output logic         interrupt_line,
	output logic         busy,
	input  logic         window_outside, window_write,
	// hierarchy memory
	output logic         memory_request,
	output logic [31:0]  memory_address,
	input  logic         memory_ready,
	input  logic         memory_valid, memory_bad,
	input  logic [255:0] memory_data,
	// for measurements
	output logic [63:0]  clocks,
	output logic [31:0]  coplanar,
	output logic [7:0]   stages,
	// front end
	input  logic         front, bus_reset,
	input  logic         rx_valid, rx_end,
	input  logic [7:0]   rx_byte,
	output logic         rx_ready,
	output logic         tx_valid, tx_last,
	output logic [7:0]   tx_byte,
	input  logic         tx_ready,
	output logic         front_idle,
	input  logic [32:0]  front_memory_bytes,
	input  logic [31:0]  front_out_max, front_in_max,
	input  logic [127:0] front_serial,
	output logic         byte_write, byte_read,
	input  logic         byte_ready,
	output logic [31:0]  byte_address,
	output logic [7:0]   byte_write_data,
	input  logic [7:0]   byte_read_data
);
	logic front_write, front_read;
	logic [15:0] front_address;
	logic [31:0] front_data;
	assign stages = 8'(1 + MULTIPLY_STAGES + 3 * ADD_STAGES);
	collision_chip #(.COUNTER_BITS(64), .MULTIPLY_STAGES(MULTIPLY_STAGES), .ADD_STAGES(ADD_STAGES)) chip (.clk(clk), .power_on(power_on), .sram_size(sram_size), .hit_capacity(hit_capacity),
		.register_write(front ? front_write : register_write), .register_read(front ? front_read : register_read),
		.register_address(front ? front_address : register_address),
		.register_write_data(front ? front_data : register_write_data), .register_read_data(register_read_data),
		.interrupt_line(interrupt_line), .busy(busy), .window_outside(window_outside), .window_write(window_write),
		.memory_request(memory_request), .memory_address(memory_address), .memory_ready(memory_ready),
		.memory_valid(memory_valid), .memory_bad(memory_bad), .memory_data(memory_data), .clocks(clocks), .coplanar(coplanar));

	// The chip's clock is the paper's; an FPGA's is lower.
	board_front #(.BUFFER_BITS(18)) front_end (.clk(clk), .power_on(power_on || !front), .bus_reset(bus_reset), .rx_valid(rx_valid),
		.rx_end(rx_end), .rx_byte(rx_byte), .rx_ready(rx_ready), .tx_valid(tx_valid), .tx_last(tx_last), .tx_byte(tx_byte),
		.tx_ready(tx_ready), .idle(front_idle), .memory_bytes(front_memory_bytes), .sram_words({15'b0, sram_size}),
		.hit_capacity({15'b0, hit_capacity}), .clock_hz(32'd266000000), .out_max(front_out_max), .in_max(front_in_max),
		.serial(front_serial), .register_write(front_write), .register_read(front_read), .register_address(front_address),
		.register_write_data(front_data), .register_read_data(register_read_data), .chip_busy(busy), .memory_write(byte_write),
		.memory_read(byte_read), .memory_ready(byte_ready), .memory_address(byte_address), .memory_write_data(byte_write_data),
		.memory_read_data(byte_read_data));
endmodule
