// Address Generators. AG1 writes arriving words into the DOP Register File, AG2 sends rows into the DOTADD unit, AG3
// carries their destination along the pipeline.
//
// A tumbled DOP: 24 words, one a clock, and after AG2_DELAY clocks 24 rows, one a clock; then the second sibling. Both
// wait together for a word that has not arrived, so the schedule holds with a slow memory, too.
//
// A triangle: nine words, then two passes of nine rows whose results return to the DOP Register File. A row waits until
// the registers that it reads and writes are up to date, so any contents of the Correspondence Register File give the
// result of row after row.
module address_generators #(parameter DEPTH = 6) (
	input  logic        clk, reset,
	input  logic [7:0]  ag2_delay,
	// DOPs
	input  logic        dop_start,
	input  logic        dop_start_sibling,
	input  logic        dop_word_arrived, // the word that AG1 asks for
	input  logic        dop_pair_arrived, // all of the pair, so that dop_second is known
	input  logic        dop_second,       // sibling 1 is to be transformed
	input  logic        dop_drop,         // sibling 0 is empty after all
	output logic        dop_running,
	// triangles
	input  logic        triangle_start,
	input  logic        triangle_reverse,
	input  logic        triangle_map,     // the leaf's map is in the Matrix Register File
	output logic        triangle_running, // until the last result is in the file
	// AG1
	output logic        ag1_write,
	output logic        ag1_sibling,
	output logic [4:0]  ag1_index,
	// AG2
	output logic [6:0]  ag2_line,
	input  logic [19:0] ag2_row,
	output logic        ag2_issue,
	output logic [5:0]  ag2_matrix_line,
	// AG3
	output logic        ag3_valid,
	output logic        ag3_triangle,
	output logic        ag3_first_pass,
	output logic        ag3_sibling,
	output logic        ag3_last, // of this sibling
	output logic [4:0]  ag3_index
);
	`include "definitions.svh"
	logic [8:0] now; // clocks since AG1's first word
	logic sibling;
	logic pass, reverse, issuing;
	logic [3:0] row;
	logic [23:0] ready; // words of the DOP Register File that are up to date

	logic [8:0] dop_row;
	logic dop_writes, dop_issues, dop_last, dop_advance;
	assign dop_row = now - {1'b0, ag2_delay};
	assign dop_writes = now < 9'd24;
	assign dop_issues = now >= {1'b0, ag2_delay};
	assign dop_last = dop_issues && dop_row == 9'd23;
	assign dop_advance = dop_running && (dop_word_arrived || !dop_writes) && (dop_pair_arrived || !dop_last);

	// The file has one write port: the first result must not come before AG1 has written the last of the nine words.
	localparam [31:0] FIRST_ROW = DEPTH < 9 ? 9 - DEPTH : 0;
	logic triangle_ready, triangle_issues;
	assign triangle_ready = ready[ag2_row[4:0]] && ready[ag2_row[9:5]] && ready[ag2_row[14:10]] && ready[ag2_row[19:15]];
	assign triangle_issues = issuing && now >= FIRST_ROW[8:0] && triangle_ready && (!pass || triangle_map);

	assign ag1_write = (dop_advance || triangle_running) && (dop_running ? dop_writes : now < 9'd9);
	assign ag1_sibling = sibling;
	assign ag1_index = now[4:0];
	assign ag2_line = dop_running ? {2'b0, dop_row[4:0]} :
		(pass ? LINE_LEAF : reverse ? LINE_REVERSE : LINE_FORWARD) + {3'b0, row};
	assign ag2_issue = (dop_advance && dop_issues) || triangle_issues;

	// The destination determines the coordinate, and thereby the line of the matrix.
	function automatic [1:0] modulo_3(input [4:0] index);
		case (index)
		5'd0, 5'd3, 5'd6, 5'd9, 5'd12, 5'd15, 5'd18, 5'd21: modulo_3 = 2'd0;
		5'd1, 5'd4, 5'd7, 5'd10, 5'd13, 5'd16, 5'd19, 5'd22: modulo_3 = 2'd1;
		default: modulo_3 = 2'd2;
		endcase
	endfunction
	assign ag2_matrix_line = dop_running ? {1'b0, ag2_row[4:0]} :
		(pass ? MATRIX_LEAF : reverse ? MATRIX_REVERSE : MATRIX_FORWARD) + {4'b0, modulo_3(ag2_row[4:0])};

	always_ff @(posedge clk) begin
		if (dop_start) begin
			dop_running <= 1'b1;
			sibling <= dop_start_sibling;
			now <= 0;
		end else if (dop_running && dop_drop && !sibling) begin
			sibling <= 1'b1;
			now <= 0;
		end else if (dop_running && sibling && dop_pair_arrived && !dop_second) begin
			dop_running <= 1'b0; // sibling 1 is empty after all
		end else if (dop_advance) begin
			now <= now + 1;
			if (dop_last) begin
				now <= 0;
				sibling <= 1'b1;
				dop_running <= !sibling && dop_second;
			end
		end
		if (triangle_start) begin
			triangle_running <= 1'b1;
			issuing <= 1'b1;
			reverse <= triangle_reverse;
			pass <= 1'b0;
			row <= 0;
			now <= 0;
			ready <= 24'hFFFE00;
		end else if (triangle_running) begin
			if (now < 9'd9) begin
				now <= now + 1;
				ready[now[4:0]] <= 1'b1;
			end
			if (ag3_valid)
				ready[ag3_index] <= 1'b1;
			if (triangle_issues) begin
				ready[ag2_row[4:0]] <= 1'b0;
				row <= row == 4'd8 ? 4'd0 : row + 4'd1;
				pass <= row == 4'd8 ? 1'b1 : pass;
				issuing <= !(row == 4'd8 && pass);
			end
			if (!issuing && ready == 24'hFFFFFF)
				triangle_running <= 1'b0;
		end
		if (reset) begin
			dop_running <= 1'b0;
			triangle_running <= 1'b0;
			issuing <= 1'b0;
		end
	end

	// Rows of a sibling that was dropped, and rows in flight when a query ends, come out as well. In a deep pipeline those of a
	// pair of empty siblings may still be there when the next pair starts, so a row of an earlier pair is a bubble.
	logic batch, row_valid, row_batch;
	always_ff @(posedge clk)
		if (dop_start)
			batch <= !batch;
	logic [10:0] tag;
	delay_line #(.WIDTH(11), .DEPTH(DEPTH)) ag3 (.clk(clk),
		.d({ag2_issue && !reset, batch, issuing, !pass, sibling, dop_running && dop_last, ag2_row[4:0]}), .q(tag));
	assign {row_valid, row_batch, ag3_triangle, ag3_first_pass, ag3_sibling, ag3_last, ag3_index} = tag;
	assign ag3_valid = row_valid && (ag3_triangle || row_batch == batch);
endmodule
