// The units of the chip by themselves, for tests/hardware/test_rtl_units.c. The stages are those of the IT-Unit.
module units_top #(parameter MULTIPLY_STAGES = 2, parameter ADD_STAGES = 1) (
	input  logic         clk, reset,
	// arithmetic: one operation a clock
	input  logic         valid,
	input  logic [31:0]  x, y, z, m0, m1, m2, m3,
	output logic [31:0]  product1, product2, product3, product4,
	output logic [31:0]  sum1, sum2, sum3, sum4, sum5, sum6,
	output logic [31:0]  dotadd6, dotadd23,
	// IT-Unit
	input  logic         it_start, it_closed,
	input  logic [31:0]  it_largest, it_read_i, it_read_k,
	output logic         it_reading,
	output logic [3:0]   it_read_line,
	output logic         it_done, it_hit, it_apart, it_edge, it_skipped,
	// Results Register Bank
	input  logic         store, store_sibling,
	input  logic [4:0]   store_index,
	input  logic [31:0]  store_data,
	input  logic         e_write,
	input  logic [1:0]   e_beat,
	input  logic [255:0] e_data,
	input  logic         compare,
	output logic         e_nan,
	output logic [1:0]   overlap,
	// Correspondence Register File
	input  logic         corr_write,
	input  logic [6:0]   corr_line,
	input  logic [31:0]  corr_data,
	input  logic         corr_check,
	input  logic [7:0]   corr_delay,
	output logic         corr_checking, corr_unschedulable, corr_invalid,
	// Stack Engine
	input  logic [6:0]   stack_words,
	input  logic [3:0]   stack_operation,
	input  logic         stack_sibling, stack_second, stack_get,
	input  logic [31:0]  stack_word,
	input  logic [6:0]   stack_index,
	output logic         stack_busy, stack_full, stack_found, stack_got,
	output logic [31:0]  stack_pair, stack_data,
	output logic [6:0]   stack_source, stack_length0, stack_length1, stack_used, stack_level
);
	float_multiply #(.STAGES(1)) multiply1 (.clk(clk), .valid(valid), .a(x), .b(m0), .valid_out(), .product(product1));
	float_multiply #(.STAGES(2)) multiply2 (.clk(clk), .valid(valid), .a(x), .b(m0), .valid_out(), .product(product2));
	float_multiply #(.STAGES(3)) multiply3 (.clk(clk), .valid(valid), .a(x), .b(m0), .valid_out(), .product(product3));
	float_multiply #(.STAGES(4)) multiply4 (.clk(clk), .valid(valid), .a(x), .b(m0), .valid_out(), .product(product4));
	float_add #(.STAGES(1)) add1 (.clk(clk), .valid(valid), .a(x), .b(m0), .valid_out(), .sum(sum1));
	float_add #(.STAGES(2)) add2 (.clk(clk), .valid(valid), .a(x), .b(m0), .valid_out(), .sum(sum2));
	float_add #(.STAGES(3)) add3 (.clk(clk), .valid(valid), .a(x), .b(m0), .valid_out(), .sum(sum3));
	float_add #(.STAGES(4)) add4 (.clk(clk), .valid(valid), .a(x), .b(m0), .valid_out(), .sum(sum4));
	float_add #(.STAGES(5)) add5 (.clk(clk), .valid(valid), .a(x), .b(m0), .valid_out(), .sum(sum5));
	float_add #(.STAGES(6)) add6 (.clk(clk), .valid(valid), .a(x), .b(m0), .valid_out(), .sum(sum6));
	dotadd dotadd_paper (.clk(clk), .valid(valid), .x(x), .y(y), .z(z), .m({m3, m2, m1, m0}), .d(dotadd6));
	dotadd #(.MULTIPLY_STAGES(4), .ADD_STAGES(6)) dotadd_deep (.clk(clk), .valid(valid), .x(x), .y(y), .z(z), .m({m3, m2, m1, m0}),
		.d(dotadd23));

	it_unit #(.MULTIPLY_STAGES(MULTIPLY_STAGES), .ADD_STAGES(ADD_STAGES)) it (.clk(clk), .reset(reset), .start(it_start), .closed(it_closed), .largest(it_largest), .reading(it_reading),
		.read_line(it_read_line), .read_i(it_read_i), .read_k(it_read_k), .done(it_done), .hit(it_hit), .apart(it_apart),
		.edge_event(it_edge), .skipped_event(it_skipped), .coplanar_event());

	results_bank bank (.clk(clk), .store(store), .store_sibling(store_sibling), .store_index(store_index), .store_data(store_data),
		.e_write(e_write), .e_beat(e_beat), .e_data(e_data), .e_nan(e_nan), .compare(compare), .overlap(overlap));

	correspondence_register_file corr (.clk(clk), .reset(reset), .write(corr_write), .write_line(corr_line), .write_data(corr_data),
		.line(7'd0), .row(), .host_read(1'b0), .host_line(7'd0), .host_data(), .invalid(corr_invalid), .check(corr_check),
		.ag2_delay(corr_delay), .checking(corr_checking), .unschedulable(corr_unschedulable));

	logic sram_write, sram_read;
	logic [6:0] used0, used1;
	assign stack_used = used0 + used1;
	logic [5:0] sram_address;
	logic [31:0] sram_write_data;
	logic [31:0] sram [0:63];
	always_ff @(posedge clk) begin
		if (sram_write)
			sram[sram_address] <= sram_write_data;
		if (sram_read)
			stack_data <= sram[sram_address];
	end
	stack_engine #(.ADDRESS_BITS(6)) stack (.clk(clk), .reset(reset), .words(stack_words), .operation(stack_operation),
		.sibling(stack_sibling), .word(stack_word), .second(stack_second), .busy(stack_busy), .full(stack_full),
		.found(stack_found), .found_pair(stack_pair), .get(stack_get), .get_index(stack_index), .get_ready(), .got(stack_got),
		.source_length(stack_source), .length0(stack_length0), .length1(stack_length1), .used0(used0), .used1(used1), .level(stack_level),
		.frame_read(), .pushed(), .word_written(), .sram_write(sram_write), .sram_read(sram_read), .sram_address(sram_address),
		.sram_write_data(sram_write_data), .sram_read_data(stack_data));
endmodule
