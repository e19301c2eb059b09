// A controller for a 16-bit SDR SDRAM of 32 MB (four banks, 8,192 rows, 512 columns), with two ports: the node pairs of the
// chip, and single bytes for the front end of a board.
//
// Commands are for single words (burst length 1, CAS latency 2), one a clock while a row is open, so a pair of 256 bytes takes
// 128 clocks and about 8 for opening and closing its row. Bytes are written one a clock within a row. A byte is read by fetching
// the 256 bytes around it, which serve until the next reading begins.
//
// The memory's clock is the inverse of `clk`: it takes a command half a clock after it was set, and its word is taken half
// a clock after it was sent.
module sdram_controller #(parameter CLOCK_HZ = 40000000) (
	input  logic         clk, power_on,
	// pairs: eight beats in order, `pair_bad` if there is no such memory
	input  logic         pair_request,
	input  logic [31:0]  pair_address,
	output logic         pair_ready,
	output logic         pair_valid, pair_bad,
	output logic [255:0] pair_data,
	// bytes
	input  logic         byte_write, byte_read,
	input  logic [31:0]  byte_address,
	input  logic [7:0]   byte_write_data,
	output logic         byte_ready,
	output logic [7:0]   byte_read_data,
	// the memory
	output logic         cke, cs_n, ras_n, cas_n, we_n,
	output logic [12:0]  a,
	output logic [1:0]   ba, dqm,
	output logic [15:0]  dq_out,
	output logic         dq_enable,
	input  logic [15:0]  dq_in
);
	// Clocks from a command to the next one that depends on it; enough for memories of 66 ns a cycle up to 60 MHz.
	localparam [3:0] ROW_TO_COLUMN = 2, PRECHARGE_TIME = 2, REFRESH_TIME = 5, WRITE_TIME = 2, MODE_TIME = 2;
	localparam START_CLOCKS = CLOCK_HZ / 1000000 * 200;  // 200 us
	localparam REFRESH_CLOCKS = CLOCK_HZ / 1000000 * 7;  // 8,192 in 64 ms are one in 7.8 us
	localparam [12:0] MODE = 13'h020;                    // CAS latency 2, burst length 1
	localparam [12:0] ALL_BANKS = 13'h400;

	// RAS, CAS, WE
	localparam [2:0] NOTHING = 3'b111, ACTIVATE = 3'b011, READ = 3'b101, WRITE = 3'b100, PRECHARGE = 3'b010, REFRESH = 3'b001,
		SET_MODE = 3'b000;
	localparam [2:0] START = 0, START_REFRESH = 1, START_MODE = 2, IDLE = 3, READING = 4, WRITING = 5, CLOSE = 6, MISSING = 7;
	logic [2:0] state, command;
	logic [15:0] pause;
	logic [3:0] refreshes;
	assign {ras_n, cas_n, we_n} = command;

	logic [15:0] refresh_timer;
	logic refresh_due, refresh_now;
	assign refresh_now = state == IDLE && pause == 0 && refresh_due;
	always_ff @(posedge clk) begin
		refresh_timer <= refresh_timer == 0 ? 16'(REFRESH_CLOCKS - 1) : refresh_timer - 1;
		if (refresh_timer == 0)
			refresh_due <= 1'b1;
		else if (refresh_now)
			refresh_due <= 1'b0;
		if (power_on) begin
			refresh_timer <= 16'(REFRESH_CLOCKS - 1);
			refresh_due <= 1'b0;
		end
	end

	// Byte address: row, bank, column, byte.
	logic [12:0] row;
	logic [1:0] bank;
	logic for_block;          // the open row is read for bytes
	logic [24:8] block;       // the 256 bytes that are being read, or have been
	logic block_valid;
	logic [15:0] block_words [0:127];
	logic [7:0] column;       // of a word within 256 bytes
	logic [1:0] quarter;      // of the row, which has 1,024 bytes
	logic beside;             // the byte is in the open row
	assign beside = byte_address[24:10] == {row, bank};

	assign pair_ready = state == IDLE && pause == 0 && !refresh_due;
	logic write_now, block_hit;
	assign write_now = state == WRITING && pause == 0 && byte_write && beside && !refresh_due && !pair_request;
	assign block_hit = block_valid && block == byte_address[24:8];
	assign byte_ready = write_now || (byte_read && block_hit);
	logic [15:0] block_word;
	assign block_word = block_words[byte_address[7:1]];
	assign byte_read_data = byte_address[0] ? block_word[15:8] : block_word[7:0];

	logic read_issued;
	logic [1:0] read_late;    // one and two clocks later; the second goes with `dq`
	logic [15:0] dq;
	logic [6:0] arrived;      // words
	always_ff @(posedge clk) begin
		command <= NOTHING;
		dqm <= 2'b00;
		dq_enable <= 1'b0;
		read_issued <= 1'b0;
		if (pause != 0)
			pause <= pause - 1;
		else
			case (state)
			START: begin
				command <= PRECHARGE;
				a <= ALL_BANKS;
				pause <= 16'(PRECHARGE_TIME) - 1;
				state <= START_REFRESH;
			end
			START_REFRESH: begin
				command <= REFRESH;
				pause <= 16'(REFRESH_TIME) - 1;
				refreshes <= refreshes + 1;
				if (refreshes == 4'd7)
					state <= START_MODE;
			end
			START_MODE: begin
				command <= SET_MODE;
				a <= MODE;
				ba <= 2'b00;
				pause <= 16'(MODE_TIME) - 1;
				state <= IDLE;
			end
			IDLE: begin
				column <= 0;
				if (refresh_due) begin
					command <= REFRESH;
					pause <= 16'(REFRESH_TIME) - 1;
				end else if (pair_request && pair_address[31:25] != 0)
					state <= MISSING;
				else if (pair_request || byte_write || (byte_read && !block_hit && read_late == 0)) begin
					command <= ACTIVATE;
					{a, ba, quarter} <= pair_request ? pair_address[24:8] : byte_address[24:8];
					{row, bank} <= pair_request ? pair_address[24:10] : byte_address[24:10];
					for_block <= !pair_request;
					if (!pair_request)
						block <= byte_address[24:8];
					pause <= 16'(ROW_TO_COLUMN) - 1;
					state <= pair_request || !byte_write ? READING : WRITING;
				end
			end
			READING: begin
				command <= READ;
				a <= {4'b0, quarter, column[6:0]};
				ba <= bank;
				read_issued <= 1'b1;
				column <= column + 1;
				if (column == 8'd127)
					state <= CLOSE;
			end
			WRITING:
				if (write_now) begin
					command <= WRITE;
					a <= {4'b0, byte_address[9:1]};
					ba <= bank;
					dqm <= byte_address[0] ? 2'b01 : 2'b10; // leaves the other byte
					dq_out <= {byte_write_data, byte_write_data};
					dq_enable <= 1'b1;
				end else begin
					pause <= 16'(WRITE_TIME) - 1;
					state <= CLOSE;
				end
			CLOSE: begin
				command <= PRECHARGE;
				a <= ALL_BANKS;
				pause <= 16'(PRECHARGE_TIME) - 1;
				state <= IDLE;
			end
			MISSING: begin
				column <= column + 1;
				if (column == 8'd7)
					state <= IDLE;
			end
			endcase
		if (power_on) begin
			state <= START;
			pause <= 16'(START_CLOCKS);
			refreshes <= 0;
			command <= NOTHING;
			read_issued <= 1'b0;
		end
	end
	assign cke = 1'b1;
	assign cs_n = 1'b0;

	// What was read. The clocks for closing a row and opening the next one keep two bursts apart.
	always_ff @(posedge clk) begin
		read_late <= {read_late[0], read_issued};
		dq <= dq_in;
		pair_valid <= state == MISSING;
		pair_bad <= state == MISSING;
		if (read_late[1]) begin
			pair_data <= {dq, pair_data[255:16]};
			arrived <= arrived + 1;
			if (for_block)
				block_words[arrived] <= dq;
			else
				pair_valid <= arrived[3:0] == 4'd15;
		end
		block_valid <= byte_read && (block_valid ? block_hit : read_late[1] && for_block && arrived == 7'd127);
		if (power_on) begin
			read_late <= 0;
			arrived <= 0;
			block_valid <= 1'b0;
		end
	end
endmodule
