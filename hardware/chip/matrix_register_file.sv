// Matrix Register File: 33 lines of four words. Written by words, from the host or from a triangle record.
module matrix_register_file (
	input  logic         clk,
	input  logic         write,
	input  logic [5:0]   write_line,
	input  logic [1:0]   write_column,
	input  logic [31:0]  write_data,
	input  logic         read,
	input  logic [5:0]   line,
	output logic [127:0] m,
	input  logic         host_read,
	input  logic [5:0]   host_line,
	input  logic [1:0]   host_column,
	output logic [31:0]  host_data
);
	logic [31:0] column0 [0:63];
	logic [31:0] column1 [0:63];
	logic [31:0] column2 [0:63];
	logic [31:0] column3 [0:63];
	always_ff @(posedge clk)
		if (write) begin
			if (write_column == 2'd0) column0[write_line] <= write_data;
			if (write_column == 2'd1) column1[write_line] <= write_data;
			if (write_column == 2'd2) column2[write_line] <= write_data;
			if (write_column == 2'd3) column3[write_line] <= write_data;
		end
	always_comb begin
		m = 0;
		if (read)
			m = {column3[line], column2[line], column1[line], column0[line]};
	end
	always_comb begin
		host_data = 0;
		if (host_read)
			case (host_column)
			2'd0: host_data = column0[host_line];
			2'd1: host_data = column1[host_line];
			2'd2: host_data = column2[host_line];
			default: host_data = column3[host_line];
			endcase
	end
endmodule
