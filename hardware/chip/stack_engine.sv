// Stack Engine: the stack of lists in one SRAM. Frames and the lists of sibling 0 grow from the bottom, the lists of
// sibling 1 from the top, so that the two new lists of a level need no reserved space. The operations are in
// definitions.svh. All take one clock but PUSH (6 more) and RETURN (6 for each frame), which raise `busy`.
module stack_engine #(parameter ADDRESS_BITS = 16, parameter WORD_BITS = 32) (
	input  logic                    clk, reset,
	input  logic [ADDRESS_BITS:0]   words,    // SRAM_WORDS
	input  logic [3:0]              operation,
	input  logic                    sibling,  // which list
	input  logic [WORD_BITS-1:0]    word,     // APPEND, ROOT: the word; PUSH: the child pair of sibling 1
	input  logic                    second,   // PUSH: descends to sibling 1 at once
	output logic                    busy,
	output logic                    full,     // the operation did not happen
	output logic                    found,    // RETURN has found a frame: a pulse
	output logic [WORD_BITS-1:0]    found_pair,
	// words of the source list, ahead of the scan
	input  logic                    get,
	input  logic [ADDRESS_BITS:0]   get_index,
	output logic                    get_ready,
	output logic                    got,      // the clock after: the word is on sram_read_data
	output logic [ADDRESS_BITS:0]   source_length,
	output logic [ADDRESS_BITS:0]   length0, length1,
	// for the counters
	output logic [ADDRESS_BITS:0]   used0, used1, // words in use from the bottom, from the top
	output logic [ADDRESS_BITS:0]   level,
	output logic                    frame_read, // six words, of which the engine needs four
	output logic                    pushed,
	output logic                    word_written,
	// the SRAM
	output logic                    sram_write, sram_read,
	output logic [ADDRESS_BITS-1:0] sram_address,
	output logic [WORD_BITS-1:0]    sram_write_data,
	input  logic [WORD_BITS-1:0]    sram_read_data
);
	`include "definitions.svh"
	localparam PAD = WORD_BITS - ADDRESS_BITS - 1;
	typedef logic [ADDRESS_BITS:0] offset_t;
	localparam offset_t FRAME = {{(ADDRESS_BITS-2){1'b0}}, FRAME_WORDS};

	// The lists: from `base` on, on a side. A new list of sibling x lies on side x, but that of a leaf may lie on the other.
	offset_t source_base, base0, base1;
	logic source_side, side0, side1;
	offset_t frame, parent;  // the frame of this level, and of the one above
	offset_t left;
	assign left = words - used0 - used1;

	logic pushing, returning;
	logic [2:0] step;
	logic [WORD_BITS-1:0] pair;
	logic pair_second;
	assign busy = pushing || returning;
	// The frame that is read.
	logic [WORD_BITS-1:0] read_pair;
	offset_t read_parent, read_base1, read_length1;
	logic is_next; // its second list is to be done
	assign is_next = !read_pair[0] && read_length1 != 0;

	function automatic [ADDRESS_BITS-1:0] address_of(input side, input offset_t offset, input offset_t size);
		offset_t address;
		begin
			address = side ? size - 1'b1 - offset : offset;
			address_of = address[ADDRESS_BITS-1:0];
		end
	endfunction

	logic adds;
	assign adds = (operation == STACK_APPEND || operation == STACK_ROOT) && left != 0;
	assign full = ((operation == STACK_APPEND || operation == STACK_ROOT) && left == 0) ||
		(operation == STACK_FRAME && left < FRAME);
	assign get_ready = !busy && operation == STACK_NONE;
	assign frame_read = returning && step == 3'd5;
	assign word_written = sram_write;
	assign pushed = pushing && step == 3'd5;

	always_comb begin
		sram_write = 1'b0;
		sram_read = 1'b0;
		sram_address = 0;
		sram_write_data = word;
		if (pushing) begin
			sram_write = 1'b1;
			sram_address = frame[ADDRESS_BITS-1:0] + {{(ADDRESS_BITS-3){1'b0}}, step};
			case (step)
			3'd0: sram_write_data = {pair[WORD_BITS-1:1], pair_second};
			3'd1: sram_write_data = {{PAD{1'b0}}, parent};
			3'd2: sram_write_data = {{PAD{1'b0}}, base0};
			3'd3: sram_write_data = {{PAD{1'b0}}, length0};
			3'd4: sram_write_data = {{PAD{1'b0}}, base1};
			default: sram_write_data = {{PAD{1'b0}}, length1};
			endcase
		end else if (returning) begin
			case (step)
			3'd0: begin sram_read = 1'b1; sram_address = parent[ADDRESS_BITS-1:0]; end
			3'd1: begin sram_read = 1'b1; sram_address = parent[ADDRESS_BITS-1:0] + 1; end
			3'd2: begin sram_read = 1'b1; sram_address = parent[ADDRESS_BITS-1:0] + 4; end
			3'd3: begin sram_read = 1'b1; sram_address = parent[ADDRESS_BITS-1:0] + 5; end
			3'd5: begin
				sram_write = is_next;
				sram_address = parent[ADDRESS_BITS-1:0];
				sram_write_data = {read_pair[WORD_BITS-1:1], 1'b1};
			end
			default: ;
			endcase
		end else if (adds) begin
			sram_write = 1'b1;
			if (operation == STACK_APPEND)
				sram_address = sibling ? address_of(side1, base1 + length1, words) : address_of(side0, base0 + length0, words);
		end else if (get && get_ready) begin
			sram_read = 1'b1;
			sram_address = address_of(source_side, source_base + get_index, words);
		end
	end

	always_ff @(posedge clk) begin
		got <= get && get_ready;
		found <= 1'b0;
		case (operation)
		STACK_RESET: begin
			used0 <= 0;
			used1 <= 0;
			frame <= 0;
			parent <= 0;
			level <= 0;
		end
		STACK_ROOT: if (adds) begin
			used0 <= 1;
			source_base <= 0;
			source_length <= 1;
			source_side <= 1'b0;
		end
		STACK_FRAME: if (!full) begin
			frame <= used0;
			used0 <= used0 + FRAME;
		end
		STACK_TARGETS: begin
			base0 <= used0;
			length0 <= 0;
			side0 <= 1'b0;
			base1 <= used1;
			length1 <= 0;
			side1 <= 1'b1;
		end
		STACK_APPEND: if (adds) begin
			if (sibling)
				length1 <= length1 + 1;
			else
				length0 <= length0 + 1;
			if (sibling ? side1 : side0)
				used1 <= used1 + 1;
			else
				used0 <= used0 + 1;
		end
		STACK_FLIP: begin
			source_base <= sibling ? base1 : base0;
			source_length <= sibling ? length1 : length0;
			source_side <= sibling ? side1 : side0;
			if (sibling) begin
				base1 <= side1 ? used0 : used1;
				length1 <= 0;
				side1 <= !side1;
			end else begin
				base0 <= side0 ? used0 : used1;
				length0 <= 0;
				side0 <= !side0;
			end
		end
		STACK_RELEASE: begin
			if (source_side)
				used1 <= source_base;
			else
				used0 <= source_base;
		end
		STACK_HOME: begin
			if (sibling) begin
				base1 <= used1;
				length1 <= 0;
				side1 <= 1'b1;
			end else begin
				base0 <= used0;
				length0 <= 0;
				side0 <= 1'b0;
			end
		end
		STACK_PUSH: begin
			pushing <= 1'b1;
			step <= 0;
			pair <= word;
			pair_second <= second;
			source_base <= sibling ? base1 : base0;
			source_length <= sibling ? length1 : length0;
			source_side <= sibling ? side1 : side0;
		end
		STACK_CANCEL: used0 <= frame;
		STACK_RETURN: begin
			returning <= level != 0;
			step <= 0;
		end
		default: ;
		endcase
		if (pushing) begin
			step <= step + 1;
			if (step == 3'd5) begin
				pushing <= 1'b0;
				parent <= frame;
				level <= level + 1;
			end
		end
		if (returning) begin
			step <= step + 1;
			case (step)
			3'd1: read_pair <= sram_read_data;
			3'd2: read_parent <= sram_read_data[ADDRESS_BITS:0];
			3'd3: read_base1 <= sram_read_data[ADDRESS_BITS:0];
			3'd4: read_length1 <= sram_read_data[ADDRESS_BITS:0];
			3'd5: if (is_next) begin // the first list is done: everything above the frame is free
				returning <= 1'b0;
				found <= 1'b1;
				found_pair <= {read_pair[WORD_BITS-1:1], 1'b0};
				source_base <= read_base1;
				source_length <= read_length1;
				source_side <= 1'b1;
				used0 <= parent + FRAME;
			end else begin // up one level
				used0 <= parent;
				used1 <= read_base1;
				parent <= read_parent;
				level <= level - 1;
				step <= 0;
				returning <= level != 1;
			end
			default: ;
			endcase
		end
		if (reset) begin
			pushing <= 1'b0;
			returning <= 1'b0;
		end
	end
endmodule
