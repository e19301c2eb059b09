// Correspondence Register File: 66 lines (i, k, m, n). After START it walks once through the 24 rows of DOPs, one a
// clock, and finds the schedules that cannot work (ERR 6): a word is read before AG1 has written it, or some d' is
// never computed. AG1 writes word w in clock w, AG2 issues row s in clock delay + s and reads what was written before.
// `invalid` is kept up to date by every write: a line names a register that does not exist (ERR 5).
module correspondence_register_file (
	input  logic        clk, reset,
	input  logic        write,
	input  logic [6:0]  write_line,
	input  logic [31:0] write_data,
	input  logic [6:0]  line,
	output logic [19:0] row, // n, m, k, i
	input  logic        host_read,
	input  logic [6:0]  host_line,
	output logic [31:0] host_data,
	output logic        invalid,
	input  logic        check,
	input  logic [7:0]  ag2_delay,
	output logic        checking,
	output logic        unschedulable // valid when `checking` has ended
);
	logic [31:0] lines [0:127];
	logic [127:0] bad;
	always_ff @(posedge clk) begin
		if (write) begin
			lines[write_line] <= write_data;
			bad[write_line] <= write_data[4:0] >= 5'd24 || write_data[9:5] >= 5'd24 || write_data[14:10] >= 5'd24 ||
				write_data[19:15] >= 5'd24;
		end
		if (reset)
			bad <= 0;
	end
	assign invalid = bad != 0;

	logic [4:0] step;
	logic [6:0] address;
	logic [23:0] computed;
	logic [8:0] now; // the clock in which this row is issued
	assign address = checking ? {2'b0, step} : line;
	assign row = lines[address][19:0];
	assign now = {1'b0, ag2_delay} + {4'b0, step};
	logic early;
	assign early = checking && ({4'b0, row[9:5]} >= now || {4'b0, row[14:10]} >= now || {4'b0, row[19:15]} >= now);
	always_ff @(posedge clk) begin
		if (check) begin
			checking <= 1'b1;
			unschedulable <= 1'b0;
			step <= 0;
			computed <= 0;
		end else if (checking) begin
			computed <= computed | (24'd1 << row[4:0]);
			step <= step + 1;
			if (early || (step == 5'd23 && (computed | (24'd1 << row[4:0])) != 24'hFFFFFF))
				unschedulable <= 1'b1;
			if (step == 5'd23)
				checking <= 1'b0;
		end
		if (reset)
			checking <= 1'b0;
	end

	always_comb begin
		host_data = 0;
		if (host_read)
			host_data = lines[host_line];
	end
endmodule
