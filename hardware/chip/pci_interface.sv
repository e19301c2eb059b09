// The host side: the register map of docs/collisionchip.md over a simple bus (one read or write a clock, an answer in the
// same clock), the status, and the rules of CTRL. The bus bridge of a board, PCI or USB, is in front of it.
module pci_interface #(parameter SRAM_BITS = 16, parameter HIT_BITS = 16) (
	input  logic                 clk, power_on,
	// the bus
	input  logic                 write, read,
	input  logic [15:0]          address,       // bytes
	input  logic [31:0]          write_data,
	output logic [31:0]          read_data,
	output logic                 interrupt_line,
	output logic                 busy,
	output logic [31:0]          status,        // the register STATUS
	// the memory window, which is outside: an access beyond the memory; a write, which `busy` forbids
	input  logic                 window_outside, window_write,
	// what the board has
	input  logic [SRAM_BITS:0]   sram_size,
	// to the units
	output logic                 start,         // a query begins
	output logic                 stop,          // no query runs from the next clock on
	output logic                 clear,         // counters and hits
	output logic [7:0]           mode,          // CTRL at START
	output logic [31:0]          root_tumbled, root_aligned,
	output logic [7:0]           ag2_delay,
	output logic [SRAM_BITS:0]   sram_words,
	output logic                 matrix_write, matrix_read,
	output logic [5:0]           matrix_line,
	output logic [1:0]           matrix_column,
	input  logic [31:0]          matrix_data,
	output logic                 corr_write, corr_read,
	output logic [6:0]           corr_line,
	input  logic [31:0]          corr_data,
	output logic                 counter_read,
	output logic [4:0]           counter_index,
	input  logic [63:0]          counter_value,
	input  logic [HIT_BITS:0]    hit_count,
	input  logic [31:0]          hit_tumbled, hit_aligned,
	output logic                 hit_pop,
	// from the Master Controller
	input  logic                 finish,        // the query has ended
	input  logic [2:0]           error,         // so has it, with this error
	input  logic                 hit_event
);
	`include "definitions.svh"
	logic [7:0] ctrl;
	logic done, hit, locked;
	logic [2:0] err;

	assign status = {21'b0, err, 4'b0, locked, hit, done, busy};

	logic aligned_address, is_ctrl, is_matrix, is_corr, is_counter, is_read_only, is_setting, exists;
	logic [15:0] matrix_offset, corr_offset;
	assign aligned_address = address[1:0] == 0;
	assign matrix_offset = address - 16'h200;
	assign corr_offset = address - 16'h500;
	assign is_ctrl = address == 16'h008;
	assign is_matrix = address >= 16'h200 && address < 16'h410;
	assign is_corr = address >= 16'h500 && address < 16'h608;
	assign is_counter = address >= 16'h040 && address < 16'h100;
	assign is_read_only = is_counter || address == 16'h000 || address == 16'h004 || address == 16'h00C ||
		(address >= 16'h020 && address <= 16'h028);
	assign is_setting = address >= 16'h010 && address <= 16'h01C;
	assign exists = aligned_address && (is_ctrl || is_matrix || is_corr || is_read_only || is_setting);

	assign matrix_line = matrix_offset[9:4];
	assign matrix_column = matrix_offset[3:2];
	assign matrix_write = write && exists && is_matrix && !busy;
	assign matrix_read = read && exists && is_matrix;
	assign corr_line = corr_offset[8:2];
	assign corr_write = write && exists && is_corr && !busy;
	assign corr_read = read && exists && is_corr;
	assign counter_read = read && exists && is_counter;
	assign counter_index = address[7:3] - 5'd8;
	assign hit_pop = read && address == 16'h028;

	logic writes_ctrl, halts, raised;
	assign writes_ctrl = write && is_ctrl;
	assign halts = writes_ctrl && (write_data[CTRL_ABORT] || write_data[CTRL_RESET]);
	assign raised = ((read || write) && !exists) || window_outside;
	assign start = writes_ctrl && write_data[CTRL_START] && (!busy || halts) && (err == ERROR_NONE || write_data[CTRL_RESET]);
	assign clear = start || (writes_ctrl && write_data[CTRL_RESET]);
	assign stop = halts || raised;
	assign interrupt_line = ctrl[CTRL_IRQ_EN] && done;

	always_ff @(posedge clk) begin
		if (finish || error != ERROR_NONE || (raised && busy)) begin
			busy <= 1'b0;
			done <= 1'b1;
		end
		if (hit_event)
			hit <= 1'b1;
		if (err == ERROR_NONE) begin
			if (raised)
				err <= ERROR_ADDRESS;
			else if (error != ERROR_NONE)
				err <= error;
		end
		if (busy && ((write && exists && !is_ctrl) || (writes_ctrl && !halts) || (window_write && !window_outside)))
			locked <= 1'b1;
		if (write && exists && !busy)
			case (address)
			16'h010: root_tumbled <= write_data;
			16'h014: root_aligned <= write_data;
			16'h018: ag2_delay <= write_data[7:0];
			16'h01C: sram_words <= write_data > {{(31-SRAM_BITS){1'b0}}, sram_size} ? sram_size : write_data[SRAM_BITS:0];
			default: ;
			endcase
		if (halts) begin
			busy <= 1'b0;
			done <= 1'b0;
		end
		if (writes_ctrl && (!busy || halts)) begin
			ctrl <= {write_data[7:3], 3'b0};
			if (write_data[CTRL_START])
				done <= 1'b1; // and nothing else while an error is raised
		end
		if (clear) begin
			done <= 1'b0;
			hit <= 1'b0;
			locked <= 1'b0;
			err <= ERROR_NONE;
		end
		if (start) begin
			busy <= 1'b1;
			mode <= {write_data[7:3], 3'b0};
		end
		if (power_on) begin
			busy <= 1'b0;
			done <= 1'b0;
			hit <= 1'b0;
			locked <= 1'b0;
			err <= ERROR_NONE;
			ctrl <= 0;
			mode <= 0;
			root_tumbled <= 0;
			root_aligned <= 0;
			ag2_delay <= 8'd12;
			sram_words <= sram_size;
		end
	end

	always_comb begin
		read_data = 0;
		if (read && exists)
			case (address)
			16'h000: read_data = 32'h50494843;
			16'h004: read_data = 32'h00010000;
			16'h008: read_data = {24'b0, ctrl};
			16'h00C: read_data = status;
			16'h010: read_data = root_tumbled;
			16'h014: read_data = root_aligned;
			16'h018: read_data = {24'b0, ag2_delay};
			16'h01C: read_data = {{(31-SRAM_BITS){1'b0}}, sram_words};
			16'h020: read_data = {{(31-HIT_BITS){1'b0}}, hit_count};
			16'h024: read_data = hit_tumbled;
			16'h028: read_data = hit_aligned;
			default: read_data = is_counter ? (address[2] ? counter_value[63:32] : counter_value[31:0]) :
				is_matrix ? matrix_data : corr_data;
			endcase
	end
endmodule
