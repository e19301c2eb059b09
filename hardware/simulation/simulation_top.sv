// What Verilator translates: the chip, with the memories of a large board and the paper's pipeline.
module simulation_top (
	input  logic         clk, power_on,
	input  logic [16:0]  sram_size,
	input  logic [16:0]  hit_capacity,
	input  logic         register_write, register_read,
	input  logic [15:0]  register_address,
	input  logic [31:0]  register_write_data,
	output logic [31:0]  register_read_data,
	output logic         interrupt_line,
	output logic         busy,
	input  logic         window_outside, window_write,
	output logic         memory_request,
	output logic [31:0]  memory_address,
	input  logic         memory_ready,
	input  logic         memory_valid, memory_bad,
	input  logic [255:0] memory_data,
	output logic [63:0]  clocks,
	output logic [31:0]  coplanar
);
	collision_chip #(.COUNTER_BITS(64)) chip (.clk(clk), .power_on(power_on), .sram_size(sram_size), .hit_capacity(hit_capacity),
		.register_write(register_write), .register_read(register_read), .register_address(register_address),
		.register_write_data(register_write_data), .register_read_data(register_read_data), .interrupt_line(interrupt_line),
		.busy(busy), .window_outside(window_outside), .window_write(window_write), .memory_request(memory_request),
		.memory_address(memory_address), .memory_ready(memory_ready), .memory_valid(memory_valid), .memory_bad(memory_bad),
		.memory_data(memory_data), .clocks(clocks), .coplanar(coplanar));
endmodule
