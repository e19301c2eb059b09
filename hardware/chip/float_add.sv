// The sum of two binary32 numbers, rounded to nearest, ties to even, with gradual underflow. Every NaN is
// 7FC00000. Nothing is computed for a bubble. STAGES: 1 to 6 registers, the last after rounding.
module float_add #(parameter STAGES = 1) (
	input  logic        clk,
	input  logic        valid,
	input  logic [31:0] a, b,
	output logic        valid_out,
	output logic [31:0] sum
);
	// Registers after: ordering the operands, alignment, the sum, the count of zeros, the shift.
	localparam bit CUT_SUM = STAGES >= 2, CUT_SHIFT = STAGES >= 3, CUT_ALIGN = STAGES >= 4, CUT_COUNT = STAGES >= 5,
		CUT_ORDER = STAGES >= 6;

	logic [31:0] greater, lesser, greater_q, lesser_q;
	logic valid_order;
	always_comb begin
		greater = 0;
		lesser = 0;
		if (valid) begin
			greater = b[30:0] > a[30:0] ? b : a;
			lesser = b[30:0] > a[30:0] ? a : b;
		end
	end
	pipeline_register #(.WIDTH(64), .ON(CUT_ORDER)) cut_order (.clk(clk), .valid_in(valid), .valid_out(valid_order),
		.d({greater, lesser}), .q({greater_q, lesser_q}));

	// Significands of 24 bits, followed by guard, round and sticky bits. A subnormal number has the exponent 1 and
	// no leading one. An exact zero is negative only if both operands are.
	logic [7:0] exponent, exponent_q, distance;
	logic [26:0] first, first_q, second, second_q;
	logic [53:0] aligned;
	logic subtract, subtract_q, negative, negative_q, zero_sign, zero_sign_q, nan, nan_q, infinite, infinite_q, valid_align;
	always_comb begin
		exponent = 0;
		distance = 0;
		first = 0;
		second = 0;
		aligned = 0;
		subtract = 0;
		negative = 0;
		zero_sign = 0;
		nan = 0;
		infinite = 0;
		if (valid_order) begin
			exponent = {greater_q[30:24], greater_q[23] | (greater_q[30:23] == 0)};
			distance = exponent - {lesser_q[30:24], lesser_q[23] | (lesser_q[30:23] == 0)};
			first = {greater_q[30:23] != 0, greater_q[22:0], 3'b0};
			aligned = {lesser_q[30:23] != 0, lesser_q[22:0], 30'b0} >> (distance > 8'd27 ? 5'd27 : distance[4:0]);
			second = {aligned[53:28], |aligned[27:0]};
			subtract = greater_q[31] ^ lesser_q[31];
			negative = greater_q[31];
			zero_sign = greater_q[31] & lesser_q[31];
			nan = greater_q[30:0] > 31'h7F800000 || (subtract && lesser_q[30:0] == 31'h7F800000);
			infinite = greater_q[30:23] == 8'hFF;
		end
	end
	pipeline_register #(.WIDTH(67), .ON(CUT_ALIGN)) cut_align (.clk(clk), .valid_in(valid_order), .valid_out(valid_align),
		.d({exponent, first, second, subtract, negative, zero_sign, nan, infinite}),
		.q({exponent_q, first_q, second_q, subtract_q, negative_q, zero_sign_q, nan_q, infinite_q}));

	logic [27:0] total, total_q;
	logic [7:0] exponent_s;
	logic negative_s, zero_sign_s, nan_s, infinite_s, valid_sum;
	always_comb begin
		total = 0;
		if (valid_align)
			total = subtract_q ? {1'b0, first_q} - {1'b0, second_q} : {1'b0, first_q} + {1'b0, second_q};
	end
	pipeline_register #(.WIDTH(40), .ON(CUT_SUM)) cut_sum (.clk(clk), .valid_in(valid_align), .valid_out(valid_sum),
		.d({total, exponent_q, negative_q, zero_sign_q, nan_q, infinite_q}),
		.q({total_q, exponent_s, negative_s, zero_sign_s, nan_s, infinite_s}));

	// The top bit of the sum is the carry, so the exponent is one higher.
	logic signed [9:0] carry_exponent;
	assign carry_exponent = $signed({2'b0, exponent_s}) + 10'sd1;
	float_round #(.WIDTH(28), .RIGHT(1'b0), .CUT_COUNT(CUT_COUNT), .CUT_SHIFT(CUT_SHIFT)) round (.clk(clk), .valid(valid_sum),
		.significand(total_q), .exponent(carry_exponent), .negative(negative_s), .zero_negative(zero_sign_s),
		.nan(nan_s), .infinite(infinite_s), .valid_out(valid_out), .result(sum));
endmodule
