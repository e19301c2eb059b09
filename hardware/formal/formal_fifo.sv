// The hit FIFO against a count and one arbitrary pair: the pair that was pushed comes out, after as many pairs as were in
// front of it; nothing is lost or made up; a full FIFO takes no pair and an empty one reads as all ones.
module formal_fifo (input clk, input clear, input push, input pop, input [1:0] id, input watch);
	localparam BITS = 2;
	(* anyconst *) reg [BITS:0] capacity;
	reg started = 0;
	always @(posedge clk) started <= 1;
	always @* assume (capacity >= 1 && capacity <= 4);

	wire full;
	wire [BITS:0] count;
	wire [1:0] tumbled, aligned;
	hit_fifo #(.BITS(BITS), .ID_BITS(2)) dut (.clk(clk), .clear(clear || !started), .capacity(capacity), .push(push),
		.push_tumbled(id), .push_aligned(~id), .full(full), .pop(pop), .count(count), .tumbled(tumbled), .aligned(aligned));

	// The watched pair, and how many are in front of it.
	reg watched = 0;
	reg [1:0] watched_id;
	reg [BITS:0] in_front;
	reg [BITS:0] expected = 0;
	wire pushes = push && expected < capacity;
	wire pops = pop && expected != 0;
	always @(posedge clk) begin
		if (clear || !started) begin
			expected <= 0;
			watched <= 0;
		end else begin
			expected <= expected + pushes - pops;
			if (!watched && watch && pushes) begin
				watched <= 1;
				watched_id <= id;
				in_front <= expected - pops;
			end else if (watched && pops) begin
				in_front <= in_front - 1;
				if (in_front == 0)
					watched <= 0;
			end
		end
	end
	always @(posedge clk) if (started) begin
		assert (count == expected);
		assert (count <= capacity);
		assert (full == (expected == capacity));
		if (expected == 0)
			assert (tumbled == 2'b11 && aligned == 2'b11);
		if (watched && in_front == 0)
			assert (tumbled == watched_id && aligned == ~watched_id);
	end
endmodule
