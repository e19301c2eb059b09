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

	// Leading zeros, 27 for zero.
	function automatic [4:0] leading_zeros(input [26:0] word);
		logic [31:0] rest;
		begin
			rest = {word, 5'h1F};
			leading_zeros[4] = rest[31:16] == 0;
			if (leading_zeros[4]) rest[31:16] = rest[15:0];
			leading_zeros[3] = rest[31:24] == 0;
			if (leading_zeros[3]) rest[31:24] = rest[23:16];
			leading_zeros[2] = rest[31:28] == 0;
			if (leading_zeros[2]) rest[31:28] = rest[27:24];
			leading_zeros[1] = rest[31:30] == 0;
			if (leading_zeros[1]) rest[31:30] = rest[29:28];
			leading_zeros[0] = !rest[31];
		end
	endfunction

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
	logic [3:0] flags_s, flags_c, flags_n; // negative, sign of zero, NaN, infinite
	logic valid_sum;
	always_comb begin
		total = 0;
		if (valid_align)
			total = subtract_q ? {1'b0, first_q} - {1'b0, second_q} : {1'b0, first_q} + {1'b0, second_q};
	end
	pipeline_register #(.WIDTH(40), .ON(CUT_SUM)) cut_sum (.clk(clk), .valid_in(valid_align), .valid_out(valid_sum),
		.d({total, exponent_q, negative_q, zero_sign_q, nan_q, infinite_q}), .q({total_q, exponent_s, flags_s}));

	// The shift to the left ends where the exponent is 1.
	logic [27:0] counted;
	logic [7:0] exponent_c;
	logic [4:0] zeros, amount, amount_q;
	logic valid_count;
	always_comb begin
		zeros = 0;
		amount = 0;
		if (valid_sum) begin
			zeros = leading_zeros(total_q[26:0]);
			amount = total_q[27] ? 5'd0 : {3'b0, zeros} >= exponent_s ? exponent_s[4:0] - 5'd1 : zeros;
		end
	end
	pipeline_register #(.WIDTH(45), .ON(CUT_COUNT)) cut_count (.clk(clk), .valid_in(valid_sum), .valid_out(valid_count),
		.d({total_q, exponent_s, amount, flags_s}), .q({counted, exponent_c, amount_q, flags_c}));

	logic [26:0] shifted, shifted_q;
	logic [8:0] field, field_q;
	logic zero, zero_q, valid_shift;
	always_comb begin
		shifted = 0;
		field = 0;
		zero = 0;
		if (valid_count) begin
			shifted = counted[27] ? {counted[27:2], counted[1] | counted[0]} : counted[26:0] << amount_q;
			field = shifted[26] ? {1'b0, exponent_c} - {4'b0, amount_q} + {8'b0, counted[27]} : 9'd0;
			zero = counted == 0;
		end
	end
	pipeline_register #(.WIDTH(41), .ON(CUT_SHIFT)) cut_shift (.clk(clk), .valid_in(valid_count), .valid_out(valid_shift),
		.d({shifted, field, zero, flags_c}), .q({shifted_q, field_q, zero_q, flags_n}));

	logic [30:0] magnitude;
	logic [31:0] rounded;
	always_comb begin
		magnitude = 0;
		rounded = 0;
		if (valid_shift) begin
			magnitude = {field_q[7:0], shifted_q[25:3]} + {30'b0, shifted_q[2] & (shifted_q[3] | shifted_q[1] | shifted_q[0])};
			if (flags_n[1])
				rounded = 32'h7FC00000;
			else if (flags_n[0] || field_q >= 9'd255)
				rounded = {flags_n[3], 31'h7F800000};
			else
				rounded = zero_q ? {flags_n[2], 31'b0} : {flags_n[3], magnitude};
		end
	end
	pipeline_register #(.WIDTH(32)) cut_round (.clk(clk), .valid_in(valid_shift), .valid_out(valid_out), .d(rounded), .q(sum));
endmodule
