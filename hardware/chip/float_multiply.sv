// The product of two binary32 numbers, rounded to nearest, ties to even, with gradual underflow. Every NaN is
// 7FC00000. Nothing is computed for a bubble. STAGES: 1 to 4 registers, the last after rounding.
module float_multiply #(parameter STAGES = 2) (
	input  logic        clk,
	input  logic        valid,
	input  logic [31:0] a, b,
	output logic        valid_out,
	output logic [31:0] product
);
	// Registers after: the array of partial products, the count of zeros, the shift.
	localparam bit CUT_ARRAY = STAGES >= 2, CUT_COUNT = STAGES >= 3, CUT_SHIFT = STAGES >= 4;

	// Significands and exponents; a subnormal number has the exponent 1 and no leading one. `exponent` is that of
	// a product whose leading one is bit 47.
	logic [47:0] array, array_q;
	logic signed [9:0] exponent, exponent_q;
	logic negative, negative_q, nan, nan_q, infinite, infinite_q, valid_array;
	always_comb begin
		array = 0;
		exponent = 0;
		negative = 0;
		nan = 0;
		infinite = 0;
		if (valid) begin
			array = {a[30:23] != 0, a[22:0]} * {b[30:23] != 0, b[22:0]};
			exponent = $signed({2'b0, a[30:24], a[23] | (a[30:23] == 0)}) +
				$signed({2'b0, b[30:24], b[23] | (b[30:23] == 0)}) - 10'sd126;
			negative = a[31] ^ b[31];
			infinite = a[30:23] == 8'hFF || b[30:23] == 8'hFF;
			nan = a[30:0] > 31'h7F800000 || b[30:0] > 31'h7F800000 || (infinite && (a[30:0] == 0 || b[30:0] == 0));
		end
	end
	pipeline_register #(.WIDTH(61), .ON(CUT_ARRAY)) cut_array (.clk(clk), .valid_in(valid), .valid_out(valid_array),
		.d({array, exponent, negative, nan, infinite}), .q({array_q, exponent_q, negative_q, nan_q, infinite_q}));

	// The sign of a zero is that of any product.
	float_round #(.WIDTH(48), .CUT_COUNT(CUT_COUNT), .CUT_SHIFT(CUT_SHIFT)) round (.clk(clk), .valid(valid_array),
		.significand(array_q), .exponent(exponent_q), .negative(negative_q), .zero_negative(negative_q), .nan(nan_q),
		.infinite(infinite_q), .valid_out(valid_out), .result(product));
endmodule
