// A pipeline register with a valid bit, or a wire where the pipeline is shorter. A bubble keeps the data of the
// operation before it.
module pipeline_register #(parameter WIDTH = 1, parameter bit ON = 1'b1) (
	input  logic             clk,
	input  logic             valid_in,
	input  logic [WIDTH-1:0] d,
	output logic             valid_out,
	output logic [WIDTH-1:0] q
);
	generate if (ON) begin : g_register
		always_ff @(posedge clk) begin
			valid_out <= valid_in;
			if (valid_in)
				q <= d;
		end
	end else begin : g_wire
		assign valid_out = valid_in;
		assign q = d;
	end endgenerate
endmodule

// A word DEPTH clocks later.
module delay_line #(parameter WIDTH = 1, parameter DEPTH = 1) (
	input  logic             clk,
	input  logic [WIDTH-1:0] d,
	output logic [WIDTH-1:0] q
);
	logic [WIDTH-1:0] stage [0:DEPTH-1];
	always_ff @(posedge clk) begin
		stage[0] <= d;
		for (int i = 1; i < DEPTH; i = i + 1)
			stage[i] <= stage[i-1];
	end
	assign q = stage[DEPTH-1];
endmodule
