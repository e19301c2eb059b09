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

	// Leading zeros, 48 for zero: half of the rest at each step.
	function automatic [5:0] leading_zeros(input [47:0] word);
		logic [63:0] rest;
		begin
			rest = {word, 16'hFFFF};
			leading_zeros[5] = rest[63:32] == 0;
			if (leading_zeros[5]) rest[63:32] = rest[31:0];
			leading_zeros[4] = rest[63:48] == 0;
			if (leading_zeros[4]) rest[63:48] = rest[47:32];
			leading_zeros[3] = rest[63:56] == 0;
			if (leading_zeros[3]) rest[63:56] = rest[55:48];
			leading_zeros[2] = rest[63:60] == 0;
			if (leading_zeros[2]) rest[63:60] = rest[59:56];
			leading_zeros[1] = rest[63:62] == 0;
			if (leading_zeros[1]) rest[63:62] = rest[61:60];
			leading_zeros[0] = !rest[63];
		end
	endfunction

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

	// The leading one goes to bit 47 if the exponent allows it, else the exponent goes to its least value, 1.
	logic [47:0] counted;
	logic [5:0] zeros, amount, amount_q;
	logic signed [9:0] normal_exponent, normal_exponent_q;
	logic right, right_q, normal, normal_q, negative_c, nan_c, infinite_c, valid_count;
	always_comb begin
		zeros = 0;
		normal_exponent = 0;
		normal = 0;
		right = 0;
		amount = 0;
		if (valid_array) begin
			zeros = leading_zeros(array_q);
			normal_exponent = exponent_q - $signed({4'b0, zeros});
			normal = normal_exponent >= 1;
			right = exponent_q < 1;
			if (right)
				amount = exponent_q < -10'sd47 ? 6'd48 : 6'd1 - exponent_q[5:0];
			else
				amount = normal ? zeros : exponent_q[5:0] - 6'd1;
		end
	end
	pipeline_register #(.WIDTH(69), .ON(CUT_COUNT)) cut_count (.clk(clk), .valid_in(valid_array), .valid_out(valid_count),
		.d({array_q, amount, right, normal, normal_exponent, negative_q, nan_q, infinite_q}),
		.q({counted, amount_q, right_q, normal_q, normal_exponent_q, negative_c, nan_c, infinite_c}));

	logic [47:0] shifted, shifted_q, lost;
	logic [7:0] field, field_q;
	logic sticky, sticky_q, overflow, overflow_q, negative_s, nan_s, infinite_s, valid_shift;
	always_comb begin
		shifted = 0;
		lost = 0;
		sticky = 0;
		field = 0;
		overflow = 0;
		if (valid_count) begin
			if (right_q)
				{shifted, lost} = {counted, 48'b0} >> amount_q;
			else
				shifted = counted << amount_q;
			sticky = lost != 0;
			field = !shifted[47] ? 8'd0 : normal_q ? normal_exponent_q[7:0] : 8'd1;
			overflow = shifted[47] && normal_q && normal_exponent_q >= 10'sd255;
		end
	end
	pipeline_register #(.WIDTH(61), .ON(CUT_SHIFT)) cut_shift (.clk(clk), .valid_in(valid_count), .valid_out(valid_shift),
		.d({shifted, field, sticky, overflow, negative_c, nan_c, infinite_c}),
		.q({shifted_q, field_q, sticky_q, overflow_q, negative_s, nan_s, infinite_s}));

	// Rounding carries from the fraction into the exponent, up to infinity.
	logic [30:0] magnitude;
	logic [31:0] rounded;
	always_comb begin
		magnitude = 0;
		rounded = 0;
		if (valid_shift) begin
			magnitude = {field_q, shifted_q[46:24]} +
				{30'b0, shifted_q[23] & (shifted_q[24] | (|shifted_q[22:0]) | sticky_q)};
			rounded = nan_s ? 32'h7FC00000 : infinite_s || overflow_q ? {negative_s, 31'h7F800000} : {negative_s, magnitude};
		end
	end
	pipeline_register #(.WIDTH(32)) cut_round (.clk(clk), .valid_in(valid_shift), .valid_out(valid_out), .d(rounded), .q(product));
endmodule
