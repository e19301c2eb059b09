// DOP Register File: 24 words, one write port, three read ports. On an FPGA it is three copies.
module dop_register_file (
	input  logic        clk,
	input  logic        write,
	input  logic [4:0]  write_index,
	input  logic [31:0] write_data,
	input  logic        read, // otherwise the ports are 0, so that nothing behind them moves
	input  logic [4:0]  k, m, n,
	output logic [31:0] d_k, d_m, d_n
);
	logic [31:0] copy_k [0:31];
	logic [31:0] copy_m [0:31];
	logic [31:0] copy_n [0:31];
	always_ff @(posedge clk)
		if (write) begin
			copy_k[write_index] <= write_data;
			copy_m[write_index] <= write_data;
			copy_n[write_index] <= write_data;
		end
	always_comb begin
		d_k = 0;
		d_m = 0;
		d_n = 0;
		if (read) begin
			d_k = copy_k[k];
			d_m = copy_m[m];
			d_n = copy_n[n];
		end
	end
endmodule
