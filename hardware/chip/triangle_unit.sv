// Triangle side: fetches the records of two triangles, sends the vertices of one through two transformations in the DOTADD
// unit (into the other's frame, and to the frame of its unit triangle), and asks the IT-Unit; then, without a verdict, the
// same with the triangles exchanged.
module triangle_unit (
	input  logic         clk, power_on, reset,
	input  logic         start,
	input  logic [31:0]  tumbled, aligned, // addresses of the records
	output logic         done,             // a pulse
	output logic         hit,
	output logic [2:0]   error,
	output logic [31:0]  tumbled_id, aligned_id,
	// SDRAM interface
	output logic         record_ask,
	output logic [31:0]  record_address,
	input  logic         record_taken,
	input  logic         beat_record,
	input  logic [2:0]   beat,
	input  logic         beat_bad,
	input  logic [255:0] beat_data,
	// DOP side
	output logic         pass_start,
	output logic         pass_reverse,
	input  logic         pass_running,
	output logic         map_loaded,
	input  logic [3:0]   vertex_index,
	output logic [31:0]  vertex_word,
	output logic         map_write,
	output logic [5:0]   map_line,
	output logic [1:0]   map_column,
	output logic [31:0]  map_word,
	input  logic         result_valid,     // a row leaves the DOTADD unit
	input  logic         result_first_pass,
	input  logic [31:0]  result,
	// IT-Unit
	output logic         it_start,
	output logic [31:0]  it_largest,
	input  logic         it_done, it_hit, it_apart,
	// events
	output logic         forward_event, reverse_event, direction_event,
	output logic [1:0]   bursts
);
	`include "definitions.svh"
	localparam [2:0] IDLE = 0, ASK_FIRST = 1, ASK_SECOND = 2, WAIT = 3, CHECK = 4, PASS = 5, TEST = 6;
	logic [2:0] state;
	logic reverse;
	logic [31:0] first, second;    // addresses: vertices of the first, map of the second
	logic [255:0] vertices [0:3];  // the halves of the two bursts that are meant
	logic [255:0] map [0:3];
	logic asked_first, second_arrives;
	logic [1:0] expected; // bursts on their way
	logic first_there, second_there, first_bad, second_bad;
	assign record_ask = (state == ASK_FIRST && first[6:0] == 0 && expected == 0) || (state == ASK_SECOND && second[6:0] == 0);
	assign record_address = state == ASK_FIRST ? first : second;

	logic [1:0] slot;
	logic is_second, meant;
	assign is_second = second_arrives || !asked_first;
	assign meant = beat[2] == (is_second ? second[7] : first[7]);
	assign slot = beat[1:0];

	logic [3:0] words; // of the map that are loaded
	logic nan;
	logic [4:0] map_index; // 9 to 20
	assign map_index = 5'd9 + {1'b0, words};
	logic [255:0] map_beat, vertex_beat;
	assign vertex_beat = vertices[{1'b0, vertex_index[3]}];
	assign vertex_word = vertex_beat[{vertex_index[2:0], 5'b0} +: 32];
	assign map_beat = map[map_index[4:3]];
	assign map_word = map_beat[{map_index[2:0], 5'b0} +: 32];
	assign map_write = (state == PASS) && !map_loaded;
	assign map_line = MATRIX_LEAF + {4'b0, words[3:2]};
	assign map_column = words[1:0];
	assign map_loaded = words == 4'd12;

	logic both_there, wrong_type;
	assign both_there = (first_there || first_bad) && (second_there || second_bad);
	assign wrong_type = vertices[3][31:0] != {30'b0, NODE_LEAF} || map[3][31:0] != {30'b0, NODE_LEAF};
	assign pass_start = state == CHECK && !first_bad && !second_bad && !wrong_type;
	assign pass_reverse = reverse;
	logic passed;
	assign passed = state == PASS && !pass_start && !pass_running && map_loaded;
	assign it_start = passed && !nan;
	assign forward_event = state == IDLE && start;
	assign reverse_event = state == TEST && it_done && !it_hit && !it_apart && !reverse;
	assign direction_event = passed && !nan;
	assign bursts = state == CHECK ? {1'b0, !first_bad} + {1'b0, !second_bad} : 2'd0;

	always_comb begin
		done = 1'b0;
		hit = 1'b0;
		error = ERROR_NONE;
		case (state)
		CHECK: begin
			done = first_bad || second_bad || wrong_type;
			error = first_bad || second_bad ? ERROR_ADDRESS : wrong_type ? ERROR_TYPE : ERROR_NONE;
		end
		PASS: begin
			done = passed && nan;
			error = passed && nan ? ERROR_NAN : ERROR_NONE;
		end
		TEST: begin
			done = it_done && (it_hit || it_apart || reverse);
			hit = it_done && it_hit;
		end
		default: ;
		endcase
	end

	always_ff @(posedge clk) begin
		expected <= expected + {1'b0, record_taken} - {1'b0, beat_record && beat == 3'd7};
		if (power_on)
			expected <= 0;
		if (beat_record) begin
			if (meant) begin
				if (is_second)
					map[slot] <= beat_data;
				else
					vertices[slot] <= beat_data;
				if (is_second) begin
					second_bad <= second_bad || beat_bad;
					second_there <= slot == 2'd3;
				end else begin
					first_bad <= first_bad || beat_bad;
					first_there <= slot == 2'd3;
				end
			end
			if (beat == 3'd7)
				second_arrives <= 1'b1;
		end
		case (state)
		IDLE: if (start) begin
			state <= ASK_FIRST;
			reverse <= 1'b0;
			first <= tumbled;
			second <= aligned;
		end
		ASK_FIRST: begin
			if (record_taken || first[6:0] != 0)
				state <= ASK_SECOND;
			asked_first <= first[6:0] == 0;
			first_bad <= first[6:0] != 0;
			first_there <= 1'b0;
			second_there <= 1'b0;
			second_bad <= 1'b0;
			second_arrives <= 1'b0;
		end
		ASK_SECOND: begin
			if (record_taken || !record_ask)
				state <= WAIT;
			if (!record_ask)
				second_bad <= 1'b1;
		end
		WAIT: if (both_there)
			state <= CHECK;
		CHECK: begin
			words <= 0;
			nan <= 1'b0;
			it_largest <= 0;
			if (!reverse) begin
				tumbled_id <= vertices[3][63:32];
				aligned_id <= map[3][63:32];
			end
			state <= done ? IDLE : PASS;
		end
		PASS: begin
			if (map_write)
				words <= words + 1;
			if (result_valid) begin
				nan <= nan || result[30:0] > 31'h7F800000;
				if (result_first_pass && result[30:0] > it_largest[30:0])
					it_largest <= {1'b0, result[30:0]};
			end
			if (passed)
				state <= nan ? IDLE : TEST;
		end
		TEST: if (it_done) begin
			state <= done ? IDLE : ASK_FIRST;
			reverse <= 1'b1;
			first <= second;
			second <= first;
		end
		default: state <= IDLE;
		endcase
		if (reset)
			state <= IDLE;
	end
endmodule
