// The FIFO of pairs that were found. Its capacity is a property of the board, up to 2^BITS.
module hit_fifo #(parameter BITS = 16, parameter ID_BITS = 32) (
	input  logic               clk,
	input  logic               clear,
	input  logic [BITS:0]      capacity,
	input  logic               push,
	input  logic [ID_BITS-1:0] push_tumbled, push_aligned,
	output logic               full,
	input  logic               pop,
	output logic [BITS:0]      count,
	output logic [ID_BITS-1:0] tumbled, aligned // the oldest pair; all ones if there is none
);
	logic [2*ID_BITS-1:0] pairs [0:(1<<BITS)-1];
	logic [BITS-1:0] first, last;
	logic pushes, pops;
	assign full = count >= capacity;
	assign pushes = push && !full;
	assign pops = pop && count != 0;
	always_ff @(posedge clk) begin
		if (pushes) begin
			pairs[last] <= {push_tumbled, push_aligned};
			last <= last + 1;
		end
		if (pops)
			first <= first + 1;
		count <= count + {{BITS{1'b0}}, pushes} - {{BITS{1'b0}}, pops};
		if (clear) begin
			first <= 0;
			last <= 0;
			count <= 0;
		end
	end
	logic [2*ID_BITS-1:0] oldest;
	assign oldest = pairs[first];
	assign {tumbled, aligned} = count != 0 ? oldest : {(2*ID_BITS){1'b1}};
endmodule
