// The 24 counters. Inside they have BITS bits, so that an FPGA saves registers; they read as 64. The totals, and in mode
// EQ5 the cycles, follow from the counts when they are read: T = 40 tumbled + 2.5 overlap tests, which is Equation 5 with
// the α that the paper's Table 1 was computed with.
module counters #(parameter BITS = 40, parameter LENGTH_BITS = 17) (
	input  logic                   clk,
	input  logic                   clear,
	input  logic                   sched,
	input  logic                   read,
	input  logic [4:0]             index,
	output logic [63:0]            value,
	// events
	input  logic                   transformed,    // a tumbled pair, with what it took
	input  logic [9:0]             transform_cycles,
	input  logic                   list_event,
	input  logic [1:0]             tumbled_nodes,
	input  logic                   pair_event,     // an aligned pair is used
	input  logic [4:0]             pair_cycles,
	input  logic                   pair_waits,
	input  logic                   pair_burst,
	input  logic                   tumbled_burst,
	input  logic [1:0]             record_bursts,
	input  logic                   node_event,
	input  logic [1:0]             node_tests,
	input  logic                   overlap_event,
	input  logic                   forward_event, reverse_event, direction_event,
	input  logic                   edge_event, skipped_event,
	input  logic                   hit_event,
	input  logic                   frame_read,
	input  logic                   word_written,
	input  logic                   maxima_event,   // look at these
	input  logic [LENGTH_BITS-1:0] level, length, used
);
	`include "definitions.svh"
	localparam [9:0] DIRECTION_CYCLES = 10'd61, SAME_BANK_CYCLES = 10'd8;
	typedef logic [BITS-1:0] count_t;
	count_t xform, compare, triangles, stall, lists, tumbled, pairs, nodes, tests, overlaps, forward, reverse, edges, skipped, hits;
	count_t bursts, reads, writes;
	logic [LENGTH_BITS-1:0] max_level, max_length, max_used;

	function automatic count_t wide(input [9:0] amount);
		wide = {{(BITS-10){1'b0}}, amount};
	endfunction

	always_ff @(posedge clk) begin
		if (transformed)
			xform <= xform + wide(transform_cycles);
		if (list_event)
			lists <= lists + 1;
		if (tumbled_nodes != 0)
			tumbled <= tumbled + wide({8'b0, tumbled_nodes});
		if (pair_event && pair_burst) begin
			pairs <= pairs + 1;
			if (sched)
				compare <= compare + wide({5'b0, pair_cycles});
			if (pair_waits)
				stall <= stall + wide(SAME_BANK_CYCLES);
		end
		if ((pair_event && pair_burst) || tumbled_burst || record_bursts != 0)
			bursts <= bursts + wide({9'b0, pair_event && pair_burst} + {9'b0, tumbled_burst} + {8'b0, record_bursts});
		if (node_event) begin
			nodes <= nodes + 1;
			tests <= tests + wide({8'b0, node_tests});
		end
		if (overlap_event)
			overlaps <= overlaps + 1;
		if (forward_event)
			forward <= forward + 1;
		if (reverse_event)
			reverse <= reverse + 1;
		if (direction_event && sched)
			triangles <= triangles + wide(DIRECTION_CYCLES);
		if (edge_event)
			edges <= edges + 1;
		if (skipped_event)
			skipped <= skipped + 1;
		if (hit_event)
			hits <= hits + 1;
		if (pair_event || frame_read)
			reads <= reads + wide({9'b0, pair_event} + (frame_read ? {7'b0, FRAME_WORDS} : 10'd0));
		if (word_written)
			writes <= writes + 1;
		if (maxima_event) begin
			if (level > max_level)
				max_level <= level;
			if (length > max_length)
				max_length <= length;
			if (used > max_used)
				max_used <= used;
		end
		if (clear) begin
			{xform, compare, triangles, stall, lists, tumbled, pairs, nodes, tests, overlaps} <= 0;
			{forward, reverse, edges, skipped, hits, bursts, reads, writes} <= 0;
			{max_level, max_length, max_used} <= 0;
		end
	end

	logic [63:0] xform_cycles, compare_cycles;
	function automatic [63:0] extended(input count_t count);
		extended = {{(64-BITS){1'b0}}, count};
	endfunction
	function automatic [63:0] maximum(input [LENGTH_BITS-1:0] most);
		maximum = {{(64-LENGTH_BITS){1'b0}}, most};
	endfunction
	always_comb begin
		xform_cycles = 0;
		compare_cycles = 0;
		value = 0;
		if (read) begin
			xform_cycles = sched ? extended(xform) : (extended(tumbled) << 5) + (extended(tumbled) << 3);
			compare_cycles = sched ? extended(compare) : ((extended(tests) << 2) + extended(tests) + 64'd1) >> 1;
			case (index)
			C_CYCLES_TOTAL: value = xform_cycles + compare_cycles + extended(triangles);
			C_CYCLES_XFORM: value = xform_cycles;
			C_CYCLES_COMPARE: value = compare_cycles;
			C_CYCLES_TRI: value = extended(triangles);
			C_STALL_SDRAM: value = extended(stall);
			C_LISTS: value = extended(lists);
			C_TUMBLED_NODES: value = extended(tumbled);
			C_ALIGNED_PAIRS: value = extended(pairs);
			C_ALIGNED_NODES: value = extended(nodes);
			C_OVERLAP_TESTS: value = extended(tests);
			C_OVERLAPS: value = extended(overlaps);
			C_TRI_TESTS_FWD: value = extended(forward);
			C_TRI_TESTS_REV: value = extended(reverse);
			C_IT_EDGES: value = extended(edges);
			C_IT_SKIPPED: value = extended(skipped);
			C_HITS: value = extended(hits);
			C_DOTADD_OPS: value = (extended(tumbled) << 4) + (extended(tumbled) << 3);
			C_SDRAM_BURSTS: value = extended(bursts);
			C_SDRAM_BYTES: value = extended(bursts) << 8;
			C_SRAM_READS: value = extended(reads);
			C_SRAM_WRITES: value = extended(writes);
			C_MAX_LEVEL: value = maximum(max_level);
			C_MAX_LIST: value = maximum(max_length);
			default: value = maximum(max_used);
			endcase
		end
	end
endmodule
