// DOTADD: d = ((x m0 + y m1) + z m2) + m3, every product and sum rounded. One row a clock. The paper's pipeline has
// 6 stages: the operands' register, two for the products, one for each sum. An FPGA needs more.
module dotadd #(parameter MULTIPLY_STAGES = 2, parameter ADD_STAGES = 1) (
	input  logic         clk,
	input  logic         valid,
	input  logic [31:0]  x, y, z,
	input  logic [127:0] m, // m0 in the low word
	output logic [31:0]  d
);
	logic [31:0] x_q, y_q, z_q;
	logic [127:0] m_q;
	logic valid_q;
	pipeline_register #(.WIDTH(224)) operands (.clk(clk), .valid_in(valid), .valid_out(valid_q), .d({m, z, y, x}),
		.q({m_q, z_q, y_q, x_q}));

	logic [31:0] product0, product1, product2, product2_late, sum0, sum1, constant_late;
	logic valid_products, valid_sum0, valid_sum1;
	/* verilator lint_off PINCONNECTEMPTY */
	float_multiply #(.STAGES(MULTIPLY_STAGES)) multiply0 (.clk(clk), .valid(valid_q), .a(x_q), .b(m_q[31:0]),
		.valid_out(valid_products), .product(product0));
	float_multiply #(.STAGES(MULTIPLY_STAGES)) multiply1 (.clk(clk), .valid(valid_q), .a(y_q), .b(m_q[63:32]),
		.valid_out(), .product(product1));
	float_multiply #(.STAGES(MULTIPLY_STAGES)) multiply2 (.clk(clk), .valid(valid_q), .a(z_q), .b(m_q[95:64]),
		.valid_out(), .product(product2));
	delay_line #(.WIDTH(32), .DEPTH(ADD_STAGES)) delay2 (.clk(clk), .d(product2), .q(product2_late));
	delay_line #(.WIDTH(32), .DEPTH(MULTIPLY_STAGES + 2 * ADD_STAGES)) delay3 (.clk(clk), .d(m_q[127:96]), .q(constant_late));
	float_add #(.STAGES(ADD_STAGES)) add0 (.clk(clk), .valid(valid_products), .a(product0), .b(product1),
		.valid_out(valid_sum0), .sum(sum0));
	float_add #(.STAGES(ADD_STAGES)) add1 (.clk(clk), .valid(valid_sum0), .a(sum0), .b(product2_late),
		.valid_out(valid_sum1), .sum(sum1));
	float_add #(.STAGES(ADD_STAGES)) add2 (.clk(clk), .valid(valid_sum1), .a(sum1), .b(constant_late), .valid_out(), .sum(d));
	/* verilator lint_on PINCONNECTEMPTY */
endmodule
