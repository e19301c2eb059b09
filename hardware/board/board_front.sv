// The front end of a CollisionChip board: the messages of docs/board-protocol.md over a stream of bytes each way, in front of
// the chip's register window and a byte port of the hierarchy memory. The bridge to USB (an FX2LP's slave FIFO, for example)
// gives it the bytes of the bulk endpoints and the ends of messages.
//
// A request is kept whole until its CRC is known, so its length is limited by the buffer, which CAPABILITIES says. The next
// request is received while a query runs; only ABORT is served before the query's end. Answers are made as they are sent.
module board_front #(parameter BUFFER_BITS = 12) (
	input  logic         clk, power_on,
	input  logic         bus_reset,       // USB reset, or unplugged
	// from the host; the end of a message comes with its last byte or alone
	input  logic         rx_valid, rx_end,
	input  logic [7:0]   rx_byte,
	output logic         rx_ready,
	// to the host
	output logic         tx_valid, tx_last,
	output logic [7:0]   tx_byte,
	input  logic         tx_ready,
	output logic         idle,            // nothing is in progress
	// what the board has
	input  logic [32:0]  memory_bytes,
	input  logic [31:0]  sram_words, hit_capacity, clock_hz, out_max, in_max,
	input  logic [127:0] serial,
	// the chip
	output logic         register_write, register_read,
	output logic [15:0]  register_address,
	output logic [31:0]  register_write_data,
	input  logic [31:0]  register_read_data,
	input  logic         chip_busy,
	// the memory, a byte in each clock in which it is ready; what is read comes in that clock
	output logic         memory_write, memory_read,
	input  logic         memory_ready,
	output logic [31:0]  memory_address,
	output logic [7:0]   memory_write_data,
	input  logic [7:0]   memory_read_data
);
	localparam [31:0] MAGIC = 32'h42434354;
	localparam [7:0] HELLO = 8'h01, MEMORY_WRITE = 8'h02, MEMORY_CHECK = 8'h03, QUERY = 8'h04, ABORT = 8'h05, ANSWER = 8'h80,
		REFUSED = 8'hFF;
	localparam [2:0] OK = 3'd0, SHORT = 3'd1, LONG = 3'd2, BAD_MAGIC = 3'd3, BAD_VERSION = 3'd4, BAD_CRC = 3'd5, BAD_TYPE = 3'd6,
		BAD_PAYLOAD = 3'd7;
	localparam [31:0] OVERHEAD = 32'd20, PAYLOAD_MAX = 32'd1048576, RESULT_HEAD = 32'd204;
	localparam [31:0] RESIDUE = 32'hDEBB20E3; // of a message with its own CRC

	function automatic [31:0] crc_of(input [31:0] crc, input [7:0] data);
		logic [31:0] next;
		begin
			next = crc ^ {24'b0, data};
			for (int i = 0; i < 8; i = i + 1)
				next = next[0] ? (next >> 1) ^ 32'hEDB88320 : next >> 1;
			crc_of = next;
		end
	endfunction

	// ---- receiving ----
	logic [31:0] buffer [0:(1<<(BUFFER_BITS-2))-1];
	logic [23:0] assembled;       // bytes of the word that is arriving
	logic [31:0] received;        // bytes
	logic held;                   // a whole message waits to be served
	logic overflow, odd_offset;
	logic [31:0] rx_crc;
	logic [31:0] magic, length, number;
	logic [7:0] version, kind;
	logic [15:0] zeros;
	logic [127:0] head;           // the first 16 bytes of the payload
	logic takes, fits;
	assign rx_ready = !held;
	assign takes = rx_valid && rx_ready;
	assign fits = received < out_max;
	always_ff @(posedge clk) begin
		if (takes) begin
			received <= received + 1;
			overflow <= overflow || !fits;
			rx_crc <= crc_of(rx_crc, rx_byte);
			assembled <= {rx_byte, assembled[23:8]};
			if (received[1:0] == 2'd3 && fits)
				buffer[received[BUFFER_BITS-1:2]] <= {rx_byte, assembled};
			if (received < 32'd4) magic <= {rx_byte, magic[31:8]};
			if (received == 32'd4) version <= rx_byte;
			if (received == 32'd5) kind <= rx_byte;
			if (received == 32'd6 || received == 32'd7) zeros <= {rx_byte, zeros[15:8]};
			if (received >= 32'd8 && received < 32'd12) number <= {rx_byte, number[31:8]};
			if (received >= 32'd12 && received < 32'd16) length <= {rx_byte, length[31:8]};
			if (received >= 32'd16 && received < 32'd32) head <= {rx_byte, head[127:8]};
			if (received >= 32'd32 && received < length + 32'd16 && received[2:0] == 0 && rx_byte[1:0] != 0)
				odd_offset <= 1'b1;
		end
		if (rx_end && rx_ready)
			held <= 1'b1;
		if (release_message || power_on || bus_reset) begin
			held <= 1'b0;
			received <= 0;
			overflow <= 1'b0;
			odd_offset <= 1'b0;
			rx_crc <= 32'hFFFFFFFF;
		end
	end

	// ---- what the message is ----
	logic [2:0] verdict;
	logic trusted;                // its number number
	logic [31:0] address, count;  // of MEMORY_WRITE and MEMORY_CHECK
	logic [31:0] writes;          // of QUERY
	logic has_memory;
	assign writes = (length - 32'd16) >> 3;
	// The first byte is at the bottom once 16 have been received, CRC included.
	logic [127:0] fields;
	always_comb begin
		fields = 0;
		if (held)
			fields = received < 32'd32 ? head >> {6'd32 - received[5:0], 3'b0} : head;
	end
	assign address = fields[31:0];
	assign count = kind == MEMORY_WRITE ? length - 32'd4 : fields[63:32];
	assign has_memory = {2'b0, address} + {2'b0, count} <= {1'b0, memory_bytes};
	always_comb begin
		verdict = OK;
		trusted = 1'b0;
		if (!held)
			verdict = SHORT;
		else if (overflow)
			verdict = LONG;
		else if (received < OVERHEAD)
			verdict = SHORT;
		else if (magic != MAGIC)
			verdict = BAD_MAGIC;
		else if (version != 8'd1)
			verdict = BAD_VERSION;
		else if (length > PAYLOAD_MAX)
			verdict = BAD_PAYLOAD;
		else if (received != length + OVERHEAD)
			verdict = received < length + OVERHEAD ? SHORT : LONG;
		else if (rx_crc != RESIDUE)
			verdict = BAD_CRC;
		else begin
			trusted = 1'b1;
			if (zeros != 0 || kind < HELLO || kind > ABORT)
				verdict = BAD_TYPE;
			else
				case (kind)
				HELLO, ABORT: if (length != 0) verdict = BAD_PAYLOAD;
				MEMORY_WRITE: if (length <= 32'd4 || !has_memory) verdict = BAD_PAYLOAD;
				MEMORY_CHECK: if (length != 32'd8 || !has_memory) verdict = BAD_PAYLOAD;
				default: if (length < 32'd24 || length[2:0] != 0 || writes > 32'd256 || fields[127:96] != writes || odd_offset)
					verdict = BAD_PAYLOAD;
				endcase
		end
	end

	// ---- serving ----
	localparam [3:0] WAIT = 0, STORE = 1, SUM = 2, SETTINGS = 3, STOP = 5, READ_STATUS = 6, READ_COUNT = 7, READ_HITS = 8,
		SEND = 9, SEND_CRC = 10, BUS_RESET = 11;
	logic [3:0] state;
	logic querying, aborting, release_message;
	logic [63:0] limit, spent;
	logic [31:0] hits_max, query_sequence, abort_sequence;
	logic [31:0] position;        // bytes of memory, or register writes
	logic [31:0] target, amount;  // of a memory operation
	logic [31:0] offset;          // of a register write
	logic has_offset;
	logic [31:0] sum;
	logic [31:0] status, hit_count, hit_total;
	// the answer
	logic [7:0] tx_kind;
	logic [31:0] tx_sequence, tx_length, tx_index, tx_crc;
	logic [1:0] tx_part;
	logic [31:0] tx_word;
	logic [2:0] reason;

	logic [31:0] word;            // of the request, at `read_index`
	logic [BUFFER_BITS-3:0] read_index;
	assign word = buffer[read_index];
	// Data of MEMORY_WRITE start at byte 20, the writes of a query at byte 32.
	logic [31:0] data_byte;
	assign data_byte = position + 32'd20;
	assign read_index = state == STORE ? data_byte[BUFFER_BITS-1:2] : position[BUFFER_BITS-3:0] + 8;
	assign memory_write = state == STORE && position != amount;
	assign memory_read = state == SUM && position != amount;
	assign memory_address = target + position;
	assign memory_write_data = word[{data_byte[1:0], 3'b0} +: 8];

	logic serves;
	assign serves = state == WAIT && held && (!querying || (kind == ABORT && verdict == OK));
	assign release_message = (serves && (verdict != OK || kind == HELLO || kind == MEMORY_CHECK || kind == ABORT)) ||
		(state == STORE && position == amount) || (state == SETTINGS && position[31:1] == amount[30:0]);
	assign idle = state == WAIT && !held && !querying;

	// RESULT: words 3 to 50 are the counters, then hits, each two reads of registers.
	logic [31:0] payload_index;
	assign payload_index = tx_index - 32'd4;
	logic sends_register;
	assign sends_register = state == SEND && tx_kind == (ANSWER | QUERY) && tx_index >= 32'd7;
	always_comb begin
		register_write = 1'b0;
		register_read = 1'b0;
		register_address = 0;
		register_write_data = word;
		case (state)
		SETTINGS: begin
			register_write = has_offset && position[31:1] != amount[30:0];
			register_address = offset > 32'hFFFC ? 16'hFFFC : offset[15:0];
		end
		STOP, BUS_RESET: begin
			register_write = 1'b1;
			register_address = 16'h008;
			register_write_data = state == STOP ? 32'd2 : 32'd4;
		end
		READ_STATUS: begin register_read = 1'b1; register_address = 16'h00C; end
		READ_COUNT: begin register_read = 1'b1; register_address = 16'h020; end
		READ_HITS: begin register_read = 1'b1; register_address = 16'h040 + 16'd120; end
		SEND: if (sends_register) begin
			register_read = 1'b1;
			if (payload_index < 32'd51)
				register_address = 16'h040 + {payload_index[13:0] - 14'd3, 2'b0};
			else if (payload_index[0])
				register_address = 16'h024;
			else begin
				register_address = 16'h028;
				register_read = tx_part == 2'd0 && tx_ready; // it removes the pair, so it happens once
			end
		end
		default: ;
		endcase
	end

	logic [31:0] hit_aligned;     // kept from the first byte on
	always_comb begin
		tx_word = 0;
		case (tx_index)
		32'd0: tx_word = MAGIC;
		32'd1: tx_word = {16'b0, tx_kind, 8'd1};
		32'd2: tx_word = tx_sequence;
		32'd3: tx_word = tx_length;
		default: case (tx_kind)
			ANSWER | HELLO: case (payload_index)
				32'd0: tx_word = 32'h50494843;
				32'd1: tx_word = 32'h00010000;
				32'd2: tx_word = memory_bytes[31:0];
				32'd3: tx_word = {31'b0, memory_bytes[32]};
				32'd4: tx_word = sram_words;
				32'd5: tx_word = hit_capacity;
				32'd6: tx_word = clock_hz;
				32'd7: tx_word = out_max;
				32'd8: tx_word = in_max;
				32'd10: tx_word = serial[31:0];
				32'd11: tx_word = serial[63:32];
				32'd12: tx_word = serial[95:64];
				32'd13: tx_word = serial[127:96];
				default: tx_word = 0;
				endcase
			ANSWER | MEMORY_WRITE, ANSWER | MEMORY_CHECK:
				tx_word = payload_index == 0 ? target : payload_index == 1 ? amount : ~sum;
			ANSWER | QUERY: case (payload_index)
				32'd0: tx_word = status;
				32'd1: tx_word = hit_total;
				32'd2: tx_word = hit_count;
				default: tx_word = payload_index >= 32'd51 && !payload_index[0] && tx_part != 2'd0 ? hit_aligned : register_read_data;
				endcase
			default: tx_word = {29'b0, reason};
			endcase
		endcase
		if (state == SEND_CRC)
			tx_word = ~tx_crc;
	end
	assign tx_valid = state == SEND || state == SEND_CRC;
	assign tx_byte = tx_word[{tx_part, 3'b0} +: 8];
	assign tx_last = state == SEND_CRC && tx_part == 2'd3;

	task automatic answer(input [7:0] answer_kind, input [31:0] answer_sequence, input [31:0] answer_length);
		begin
			state <= SEND;
			tx_kind <= answer_kind;
			tx_sequence <= answer_sequence;
			tx_length <= answer_length;
			tx_index <= 0;
			tx_part <= 0;
			tx_crc <= 32'hFFFFFFFF;
		end
	endtask

	logic [31:0] room, offered;
	assign room = (in_max - OVERHEAD - RESULT_HEAD) >> 3;
	assign offered = hit_count < hits_max ? hit_count : hits_max;
	always_ff @(posedge clk) begin
		if (querying && state == WAIT)
			spent <= spent + 1;
		case (state)
		WAIT: begin
			if (serves) begin
				reason <= verdict;
				position <= 0;
				target <= address;
				amount <= kind == QUERY ? writes : count;
				has_offset <= 1'b0;
				sum <= 32'hFFFFFFFF;
				if (verdict != OK)
					answer(REFUSED, trusted ? number : 32'd0, 32'd4);
				else
					case (kind)
					HELLO: answer(ANSWER | HELLO, number, 32'd56);
					MEMORY_WRITE: state <= STORE;
					MEMORY_CHECK: state <= SUM;
					ABORT: begin
						if (querying)
							state <= STOP;
						else
							answer(ANSWER | ABORT, number, 32'd0);
						aborting <= querying;
						abort_sequence <= number;
					end
					default: begin
						state <= SETTINGS;
						limit <= fields[63:0];
						hits_max <= fields[95:64];
						query_sequence <= number;
					end
					endcase
				tx_sequence <= trusted ? number : 32'd0;
			end else if (querying && !chip_busy)
				state <= READ_STATUS;
			else if (querying && spent >= limit)
				state <= STOP;
		end
		STORE: begin
			if (position == amount)
				answer(ANSWER | MEMORY_WRITE, tx_sequence, 32'd8);
			else if (memory_ready)
				position <= position + 1;
		end
		SUM: begin
			if (position == amount)
				answer(ANSWER | MEMORY_CHECK, tx_sequence, 32'd12);
			else if (memory_ready) begin
				position <= position + 1;
				sum <= crc_of(sum, memory_read_data);
			end
		end
		SETTINGS: begin // an offset, then its value
			if (position[31:1] == amount[30:0]) begin
				querying <= 1'b1;
				spent <= 0;
				state <= WAIT;
			end else begin
				position <= position + 1;
				has_offset <= !has_offset;
				offset <= word;
			end
		end
		STOP: state <= READ_STATUS;
		READ_STATUS: begin
			status <= register_read_data;
			state <= READ_COUNT;
		end
		READ_COUNT: begin
			hit_count <= register_read_data;
			state <= READ_HITS;
		end
		READ_HITS: begin
			hit_total <= register_read_data > hit_count ? register_read_data : hit_count;
			hit_count <= offered < room ? offered : room;
			querying <= 1'b0;
			answer(ANSWER | QUERY, query_sequence, RESULT_HEAD + {(offered < room ? offered[28:0] : room[28:0]), 3'b0});
		end
		SEND, SEND_CRC: if (tx_ready) begin
			tx_part <= tx_part + 1;
			if (tx_part == 2'd0)
				hit_aligned <= register_read_data;
			if (state == SEND)
				tx_crc <= crc_of(tx_crc, tx_byte);
			if (tx_part == 2'd3) begin
				tx_index <= tx_index + 1;
				if (state == SEND && tx_index + 1 == (tx_length >> 2) + 32'd4)
					state <= SEND_CRC;
				if (state == SEND_CRC) begin
					state <= WAIT;
					if (aborting) begin
						aborting <= 1'b0;
						answer(ANSWER | ABORT, abort_sequence, 32'd0);
					end
				end
			end
		end
		default: state <= WAIT; // BUS_RESET
		endcase
		if (power_on || bus_reset) begin
			state <= bus_reset ? BUS_RESET : WAIT;
			querying <= 1'b0;
			aborting <= 1'b0;
		end
	end
endmodule
