// Results Register Bank, e bank and the 48 comparators. Floats compare like unsigned integers once the order of the
// negative ones is reversed (`key`). The bank holds -d' as keys, at the place of the direction that it is compared
// with: e is disjoint from d' if e_i < -d'_(i+12 mod 24) for any i (Equation 2 with support values).
module results_bank (
	input  logic         clk,
	// a row leaves the DOTADD unit
	input  logic         store,
	input  logic         store_sibling,
	input  logic [4:0]   store_index,
	input  logic [31:0]  store_data,
	// a quarter of an aligned node arrives
	input  logic         e_write,
	input  logic [1:0]   e_beat, // 0 … 2
	input  logic [255:0] e_data,
	output logic         e_nan,
	// both siblings against e
	input  logic         compare,
	output logic [1:0]   overlap
);
	function automatic [31:0] key(input [31:0] bits);
		key = bits == 32'h80000000 ? 32'h80000000 : bits[31] ? ~bits : bits | 32'h80000000;
	endfunction

	logic [31:0] limit0 [0:23];
	logic [31:0] limit1 [0:23];
	logic [4:0] place;
	assign place = store_index >= 5'd12 ? store_index - 5'd12 : store_index + 5'd12;
	always_ff @(posedge clk)
		if (store) begin
			if (store_sibling)
				limit1[place] <= key(store_data ^ 32'h80000000);
			else
				limit0[place] <= key(store_data ^ 32'h80000000);
		end

	logic [31:0] e [0:23];
	logic [2:0] nan;
	logic [7:0] beat_nan;
	always_comb begin
		beat_nan = 0;
		if (e_write)
			for (int i = 0; i < 8; i = i + 1)
				beat_nan[i] = e_data[32*i +: 31] > 31'h7F800000;
	end
	always_ff @(posedge clk)
		if (e_write) begin
			for (int i = 0; i < 8; i = i + 1)
				e[{e_beat, 3'b0} + i[4:0]] <= key(e_data[32*i +: 32]);
			nan[e_beat] <= beat_nan != 0;
		end
	assign e_nan = nan != 0;

	logic [23:0] apart0, apart1;
	always_comb begin
		apart0 = 0;
		apart1 = 0;
		if (compare)
			for (int i = 0; i < 24; i = i + 1) begin
				apart0[i] = e[i] < limit0[i];
				apart1[i] = e[i] < limit1[i];
			end
	end
	assign overlap = {apart1 == 0, apart0 == 0};
endmodule
