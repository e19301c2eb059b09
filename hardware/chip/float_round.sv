// The end of every product and sum: brings a number to the form of binary32, rounded to nearest, ties to even, with
// gradual underflow. `exponent` is that of a number whose leading one is the top bit of `significand`, biased by 127; it
// may be anything, but without RIGHT it is at least 1. Every NaN is 7FC00000. Registers: after the count of zeros and
// after the shift where asked for, and always after rounding.
module float_round #(parameter WIDTH = 48, parameter bit RIGHT = 1'b1, parameter bit CUT_COUNT = 1'b0, parameter bit CUT_SHIFT = 1'b0) (
	input  logic               clk,
	input  logic               valid,
	input  logic [WIDTH-1:0]   significand,
	input  logic signed [9:0]  exponent,
	input  logic               negative, zero_negative, nan, infinite, // zero_negative: the sign of an exact zero
	output logic               valid_out,
	output logic [31:0]        result
);
	localparam BITS = WIDTH > 32 ? 6 : 5, SIZE = 1 << BITS;

	// Leading zeros, WIDTH for zero: half of the rest at each step.
	function automatic [BITS-1:0] leading_zeros(input [WIDTH-1:0] word);
		logic [SIZE-1:0] rest;
		begin
			rest = {word, {(SIZE-WIDTH){1'b1}}};
			for (int i = BITS - 1; i >= 0; i = i - 1) begin
				leading_zeros[i] = (rest >> (SIZE - (1 << i))) == 0;
				if (leading_zeros[i])
					rest = rest << (1 << i);
			end
		end
	endfunction

	// The leading one goes to the top bit if the exponent allows it, else the exponent goes to its least value, 1.
	logic [WIDTH-1:0] counted;
	logic [BITS-1:0] zeros, amount, amount_q;
	logic signed [9:0] normal_exponent, normal_exponent_q;
	logic right, right_q, normal, normal_q, valid_count;
	logic [3:0] flags_c, flags_s; // negative, sign of zero, NaN, infinite
	always_comb begin
		zeros = 0;
		normal_exponent = 0;
		normal = 0;
		right = 0;
		amount = 0;
		if (valid) begin
			zeros = leading_zeros(significand);
			normal_exponent = exponent - $signed({{(10-BITS){1'b0}}, zeros});
			normal = normal_exponent >= 1;
			right = RIGHT && exponent < 1;
			if (right)
				amount = exponent < 10'sd1 - $signed(10'(WIDTH)) ? BITS'(WIDTH) : BITS'(1) - exponent[BITS-1:0];
			else
				amount = normal ? zeros : exponent[BITS-1:0] - BITS'(1);
		end
	end
	pipeline_register #(.WIDTH(WIDTH + BITS + 16), .ON(CUT_COUNT)) cut_count (.clk(clk), .valid_in(valid), .valid_out(valid_count),
		.d({significand, amount, right, normal, normal_exponent, negative, zero_negative, nan, infinite}),
		.q({counted, amount_q, right_q, normal_q, normal_exponent_q, flags_c}));

	logic [WIDTH-1:0] shifted, shifted_q, lost;
	logic [7:0] field, field_q;
	logic sticky, sticky_q, overflow, overflow_q, zero, zero_q, valid_shift;
	always_comb begin
		shifted = 0;
		lost = 0;
		sticky = 0;
		field = 0;
		overflow = 0;
		zero = 0;
		if (valid_count) begin
			if (right_q)
				{shifted, lost} = {counted, {WIDTH{1'b0}}} >> amount_q;
			else
				shifted = counted << amount_q;
			sticky = lost != 0;
			field = !shifted[WIDTH-1] ? 8'd0 : normal_q ? normal_exponent_q[7:0] : 8'd1;
			overflow = shifted[WIDTH-1] && normal_q && normal_exponent_q >= 10'sd255;
			zero = counted == 0;
		end
	end
	pipeline_register #(.WIDTH(WIDTH + 15), .ON(CUT_SHIFT)) cut_shift (.clk(clk), .valid_in(valid_count), .valid_out(valid_shift),
		.d({shifted, field, sticky, overflow, zero, flags_c}), .q({shifted_q, field_q, sticky_q, overflow_q, zero_q, flags_s}));

	// Rounding carries from the fraction into the exponent, up to infinity.
	logic [30:0] magnitude;
	logic [31:0] rounded;
	always_comb begin
		magnitude = 0;
		rounded = 0;
		if (valid_shift) begin
			magnitude = {field_q, shifted_q[WIDTH-2 -: 23]} +
				{30'b0, shifted_q[WIDTH-25] & (shifted_q[WIDTH-24] | (|shifted_q[WIDTH-26:0]) | sticky_q)};
			if (flags_s[1])
				rounded = 32'h7FC00000;
			else
				rounded = {zero_q ? flags_s[2] : flags_s[3], flags_s[0] || overflow_q ? 31'h7F800000 : magnitude};
		end
	end
	pipeline_register #(.WIDTH(32)) cut_round (.clk(clk), .valid_in(valid_shift), .valid_out(valid_out), .d(rounded), .q(result));
endmodule
