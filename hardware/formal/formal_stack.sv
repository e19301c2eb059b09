// The Stack Engine under a Master Controller that makes every legal sequence of operations. Nothing is written outside of
// the memory in use; a list never meets a frame or another list; reads of a list see words of lists, reads of frames frames.
module formal_stack (input clk, input [2:0] choice, input pick, input [6:0] any_word, input [4:0] any_index, input leaf0_i,
	input leaf1_i);
	localparam BITS = 4, WORD = 7;
	localparam [4:0] WORDS = 16;
	`include "definitions.svh"
	reg started = 0;
	always @(posedge clk) started <= 1;
	localparam [3:0] CLEAR = 0, ROOT = 1, FRAME = 2, TARGETS = 3, SCAN = 4, LEAF = 5, NEXT = 6, UP = 7, UP_WAIT = 8, DOWN_WAIT = 9,
		END = 14, FULL = 15;
	reg [3:0] state = CLEAR;
	reg leaf0, leaf1;
	reg [1:0] scanned;

	wire busy, full, found, got, get_ready, sram_write, sram_read;
	wire [BITS:0] source_length, length0, length1, used0, used1, level;
	wire [BITS-1:0] sram_address;
	wire [WORD-1:0] sram_write_data, found_pair;
	reg [WORD-1:0] sram_read_data;
	reg [WORD-1:0] sram [0:15];
	always @(posedge clk) begin
		if (sram_write)
			sram[sram_address] <= sram_write_data;
		if (sram_read)
			sram_read_data <= sram[sram_address];
	end

	reg [3:0] operation;
	reg sibling, get;
	wire first_empty = length0 == 0;
	always @* begin
		operation = STACK_NONE;
		sibling = pick;
		get = 0;
		case (state)
		CLEAR: operation = STACK_RESET;
		ROOT: operation = STACK_ROOT;
		FRAME: operation = STACK_FRAME;
		TARGETS: operation = STACK_TARGETS;
		SCAN: begin
			if (choice[0] && (scanned == 2 || pick == scanned[0]))
				operation = STACK_APPEND;
			else if (choice[1])
				get = any_index < source_length;
			else if (choice[2] && scanned != 2)
				operation = STACK_RELEASE;
		end
		LEAF: begin
			sibling = scanned[0];
			if (scanned != 2 && (scanned[0] ? leaf1 : leaf0))
				operation = (scanned[0] ? length1 : length0) != 0 ? STACK_FLIP : STACK_HOME;
		end
		NEXT: begin
			operation = length0 != 0 || length1 != 0 ? STACK_PUSH : STACK_CANCEL;
			sibling = first_empty;
		end
		UP: operation = STACK_RETURN;
		default: ;
		endcase
	end
	stack_engine #(.ADDRESS_BITS(BITS), .WORD_BITS(WORD)) dut (.clk(clk), .reset(!started), .words(WORDS), .operation(operation),
		.sibling(sibling), .word(any_word), .second(first_empty), .busy(busy), .full(full), .found(found), .found_pair(found_pair),
		.get(get), .get_index(any_index), .get_ready(get_ready), .got(got), .source_length(source_length), .length0(length0),
		.length1(length1), .used0(used0), .used1(used1), .level(level), .frame_read(), .pushed(), .word_written(), .sram_write(sram_write),
		.sram_read(sram_read), .sram_address(sram_address), .sram_write_data(sram_write_data), .sram_read_data(sram_read_data));
	always @(posedge clk) if (started) begin
		case (state)
		CLEAR: state <= ROOT;
		ROOT: state <= full ? FULL : FRAME;
		FRAME: state <= full ? FULL : TARGETS;
		TARGETS: begin
			state <= SCAN;
			scanned <= 2;
			leaf0 <= leaf0_i;
			leaf1 <= leaf1_i;
		end
		SCAN: if (full)
			state <= FULL;
		else if (operation == STACK_RELEASE)
			state <= LEAF;
		else if (operation == STACK_NONE && !get && choice[2]) begin
			state <= LEAF;
			scanned <= 0;
		end
		LEAF: if (scanned == 2)
			state <= NEXT;
		else if (operation == STACK_FLIP)
			state <= SCAN;
		else
			scanned <= scanned + 1;
		NEXT: state <= operation == STACK_PUSH ? DOWN_WAIT : UP;
		UP: state <= UP_WAIT;
		UP_WAIT: if (!busy)
			state <= found ? FRAME : END;
		DOWN_WAIT: if (!busy)
			state <= FRAME;
		default: ;
		endcase
	end

	// An arbitrary word of the SRAM: what it is, and its value.
	(* anyconst *) reg [BITS-1:0] watched;
	reg is_list = 0, is_frame = 0, checks = 0;
	reg [WORD-1:0] value;
	wire adds = operation == STACK_APPEND || operation == STACK_ROOT;
	always @(posedge clk) begin
		if (sram_write && sram_address == watched) begin
			is_list <= adds;
			is_frame <= !adds;
			value <= sram_write_data;
		end
		checks <= sram_read && sram_address == watched && started;
	end
	always @(posedge clk) if (started && state > ROOT && state < END) begin
		assert (used0 <= WORDS && used1 <= WORDS - used0);
		if (operation == STACK_APPEND)
			assert (full != sram_write); // no word is lost in silence
		if (sram_write && operation == STACK_APPEND)
			assert ({1'b0, sram_address} >= used0 && {1'b0, sram_address} < WORDS - used1); // a free word
		if (sram_read && sram_address == watched && get)
			assert (is_list);
		if (sram_read && sram_address == watched && !get)
			assert (is_frame);
		if (checks)
			assert (sram_read_data == value);
	end
endmodule
