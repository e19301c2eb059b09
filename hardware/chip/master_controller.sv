// Master Controller: Algorithm 2 of the extended paper, completed for leaves that meet inner nodes. The tumbled siblings of
// one pair stay in the Results Register Bank while all aligned nodes of their list are compared with them; a new list for
// each sibling receives those that overlap it.
//
// Nodes are fetched ahead, but everything that shows (hits, counters, errors) happens in the order of the list: a node is
// dealt with when it is the one in the node register, and the first node of a pair brings the events of the pair along.
module master_controller #(parameter LENGTH_BITS = 17, parameter DEPTH = 6) (
	input  logic                   clk, power_on,
	input  logic                   start, stop,
	input  logic [7:0]             mode,
	input  logic [31:0]            root_tumbled, root_aligned,
	input  logic [7:0]             ag2_delay,
	output logic                   finish,
	output logic [2:0]             error,
	output logic                   kill,          // the units drop what they are doing
	// Correspondence Register File
	input  logic                   corr_invalid,
	output logic                   corr_check,
	input  logic                   corr_checking, corr_unschedulable,
	// Stack Engine
	output logic [3:0]             operation,
	output logic                   operation_sibling,
	output logic [31:0]            operation_word,
	output logic                   operation_second,
	input  logic                   stack_busy, stack_full, stack_found,
	input  logic [31:0]            stack_pair,
	input  logic [LENGTH_BITS-1:0] source_length, length0, length1,
	// SDRAM interface
	input  logic                   memory_idle,
	output logic                   tumbled_ask,
	output logic [31:0]            tumbled_address,
	input  logic                   tumbled_taken,
	input  logic                   beat_tumbled,
	input  logic [2:0]             beat,
	input  logic                   beat_bad,
	input  logic [63:0]            beat_tail,     // type and link, in beats 3 and 7
	output logic                   list_begin, list_open,
	input  logic                   head_valid,
	input  logic [31:0]            head_word,
	input  logic [3:0]             head_beats,
	input  logic                   head_bad,
	output logic                   head_pop,
	output logic                   read_tumbled,
	output logic [2:0]             read_beat,
	input  logic [63:0]            read_tail,
	// DOP side
	output logic                   dop_start, dop_start_sibling, dop_second, dop_drop,
	output logic                   dop_word_arrived, dop_pair_arrived,
	input  logic                   dop_running,
	input  logic                   ag1_sibling,
	input  logic [4:0]             ag1_index,
	input  logic                   result_stored, result_last, result_sibling, result_nan,
	output logic                   e_write,
	output logic [1:0]             e_beat,
	input  logic                   e_nan,
	output logic                   compare,
	input  logic [1:0]             overlap,
	// triangle side
	output logic                   triangle_start,
	output logic [31:0]            triangle_tumbled, triangle_aligned,
	input  logic                   triangle_done, triangle_hit,
	input  logic [2:0]             triangle_error,
	input  logic                   hits_full,
	output logic                   hit_event,
	// events for the counters
	output logic                   transformed, list_event,
	output logic [9:0]             transform_cycles,
	output logic [1:0]             tumbled_nodes,
	output logic                   tumbled_burst,
	output logic                   pair_event, pair_burst, pair_waits,
	output logic [4:0]             pair_cycles,
	output logic                   node_event,
	output logic [1:0]             node_tests,
	output logic                   overlap_event
);
	`include "definitions.svh"
	localparam [3:0] IDLE = 0, DRAIN = 1, CHECK = 2, CLEAR = 3, ROOT = 4, LOAD = 5, TRANSFORM = 6, SCAN = 7, LEAF_SCAN = 8, NEXT = 9,
		RETURN = 10, RETURN_WAIT = 11;
	logic [3:0] state;
	logic layout_r, all_hits, sched;
	assign layout_r = mode[CTRL_LAYOUT_R];
	assign all_hits = mode[CTRL_ALL_HITS];
	assign sched = mode[CTRL_SCHED];

	// ---- the tumbled pair ----
	logic [31:0] pair;
	logic [1:0] mask;             // siblings that are meant
	logic [31:0] type0, type1;    // EMPTY also for a sibling that is not meant
	logic [31:0] link0, link1;
	logic [3:0] beats;            // that have arrived
	logic bad_pair, framed, started, dropped;
	logic [1:0] have, nan;        // siblings in the Results Register Bank
	logic [1:0] wanted;
	assign wanted = {type1 != {30'b0, NODE_EMPTY}, type0 != {30'b0, NODE_EMPTY}};
	assign tumbled_ask = state == LOAD;
	assign tumbled_address = pair;
	assign tumbled_burst = state == TRANSFORM && beat_tumbled && beat == 0 && !beat_bad;
	assign dop_start = state == TRANSFORM && !started && beats != 0 && !bad_pair;
	assign dop_start_sibling = !mask[0];
	assign dop_pair_arrived = beats[3];
	assign dop_second = wanted[1];
	assign dop_drop = started && !dropped && mask[0] && beats >= 4'd4 && !wanted[0];
	assign dop_word_arrived = beats > {1'b0, ag1_sibling, ag1_index[4:3]};

	function automatic has_dop(input [1:0] type_of, input with_leaves);
		has_dop = type_of == NODE_INNER || (type_of == NODE_LEAF && with_leaves);
	endfunction
	logic [1:0] has_dops;
	assign has_dops = {has_dop(type1[1:0], layout_r), has_dop(type0[1:0], layout_r)};

	logic transform_ends, type0_bad, type1_bad, nan0_bad, nan1_bad;
	assign transform_ends = state == TRANSFORM && beats[3] && framed && !stack_busy && started && !dop_running &&
		(have & wanted) == wanted;
	assign type0_bad = type0 > {30'b0, NODE_EMPTY};
	assign type1_bad = type1 > {30'b0, NODE_EMPTY};
	assign nan0_bad = wanted[0] && nan[0] && has_dops[0];
	assign nan1_bad = wanted[1] && nan[1] && has_dops[1];
	assign list_event = transform_ends && error == ERROR_NONE;
	assign transformed = list_event && wanted != 0 && sched;
	assign transform_cycles = wanted == 2'b11 ? 10'd58 + DEPTH[9:0] + {1'b0, ag2_delay, 1'b0} : 10'd34 + DEPTH[9:0] + {2'b0, ag2_delay};
	always_comb begin
		tumbled_nodes = 0;
		if (transform_ends && !type0_bad) begin
			tumbled_nodes = {1'b0, wanted[0]};
			if (!nan0_bad && !type1_bad)
				tumbled_nodes = {1'b0, wanted[0]} + {1'b0, wanted[1]};
		end
	end

	// ---- the loader: brings the nodes of the oldest pair to the e bank and to the node register ----
	logic [1:0] scanned;          // the sibling that is scanned for, or BOTH
	localparam [1:0] BOTH = 2'd2;
	logic [LENGTH_BITS-1:0] popped;
	logic loading_second, pair_begun, pair_taken;
	logic [1:0] quarter;
	logic port_free, has_beat, node_meant, loader_takes, loader_skips, loader_last;
	assign port_free = !dop_running && !dop_start;
	assign read_tumbled = dop_running;
	assign read_beat = dop_running ? {ag1_sibling, ag1_index[4:3]} : {loading_second, quarter};
	assign node_meant = loading_second ? head_word[1] : head_word[0];
	assign has_beat = head_valid && !pair_taken && port_free && head_beats > {1'b0, loading_second, quarter} &&
		(state == SCAN || (state == TRANSFORM && started));
	assign e_write = has_beat && node_meant && quarter != 2'd3;
	assign e_beat = quarter;
	assign loader_skips = has_beat && !node_meant; // node 0 of a pair of which node 1 is meant
	assign loader_last = loading_second || !head_word[1];
	logic node_valid, node_done;
	assign loader_takes = has_beat && state == SCAN && node_meant && (quarter == 2'd3 || head_bad) && (!node_valid || node_done);
	assign compare = loader_takes;
	assign head_pop = state == SCAN && pair_taken && head_beats[3];

	// ---- the node register ----
	logic node_fresh, node_first, node_bad, node_nan, node_b, node_x;
	logic [31:0] node_type, node_link, node_word;
	logic [1:0] node_overlap;
	logic [1:0] tested;
	logic node_empty, x, waiting;
	assign tested[0] = wanted[0] && (scanned == BOTH || scanned == 2'd0);
	assign tested[1] = wanted[1] && (scanned == BOTH || scanned == 2'd1);
	assign node_empty = node_type == {30'b0, NODE_EMPTY};
	assign x = node_fresh ? !tested[0] : node_x;

	logic [1:0] scan_pairs; // used in this scan, at most 2
	logic [1:0] last_bank;
	assign pair_event = node_valid && node_fresh && node_first;
	assign pair_burst = !node_bad;
	assign pair_waits = scan_pairs == 2'd2 && node_word[9:8] == last_bank;
	always_comb begin
		if (scanned == BOTH)
			pair_cycles = scan_pairs == 2'd0 ? 5'd4 : scan_pairs == 2'd1 ? 5'd8 : 5'd10;
		else
			pair_cycles = scan_pairs == 2'd0 ? 5'd20 : 5'd10;
	end

	logic is_node, type_bad, nan_bad, both_leaves, overlaps, decides, links_bad;
	logic [1:0] tumbled_type;
	assign tumbled_type = x ? type1[1:0] : type0[1:0];
	assign is_node = node_valid && !node_bad && !node_empty;
	assign type_bad = node_type > {30'b0, NODE_EMPTY};
	assign nan_bad = node_nan && has_dop(node_type[1:0], layout_r);
	assign node_event = is_node && node_fresh && !type_bad;
	assign node_tests = nan_bad ? 2'd0 : {1'b0, tested[0]} + {1'b0, tested[1]};
	assign decides = is_node && !type_bad && !nan_bad && tested[x] && !waiting; // the first clock of sibling x
	assign both_leaves = node_type[1:0] == NODE_LEAF && tumbled_type == NODE_LEAF;
	assign overlaps = decides && (both_leaves || !has_dop(node_type[1:0], layout_r) || !has_dops[x] || node_overlap[x]);
	assign overlap_event = overlaps;
	assign links_bad = node_type[1:0] == NODE_INNER && node_link[7:0] != 0; // its low bits would be read as a mask
	assign triangle_start = overlaps && both_leaves;
	assign triangle_tumbled = layout_r ? (x ? link1 : link0) : {pair[31:8], x, 7'b0};
	assign triangle_aligned = layout_r ? node_link : {node_word[31:8], node_b, 7'b0};
	assign hit_event = triangle_done && triangle_hit;
	logic appends, x_done;
	assign appends = overlaps && !both_leaves && !links_bad;
	assign x_done = waiting ? triangle_done : !triangle_start;
	assign node_done = node_valid && x_done && (x || !tested[1] || !is_node);

	logic scan_ends;
	assign scan_ends = state == SCAN && popped == source_length && !node_valid;
	// The leaf whose list is looked at next, or none.
	logic is_leaf0, is_leaf1, more_leaves, new_list;
	logic [1:0] next_leaf;
	assign is_leaf0 = type0[1:0] == NODE_LEAF;
	assign is_leaf1 = type1[1:0] == NODE_LEAF;
	assign next_leaf = state == SCAN && scanned == BOTH && is_leaf0 ? 2'd0 : 2'd1;
	assign more_leaves = state == SCAN && scanned == BOTH ? is_leaf0 || is_leaf1 : scanned == 2'd0 && is_leaf1;
	assign new_list = (scanned[0] ? length1 : length0) != 0;
	logic descends, next_links_bad;
	assign descends = length0 != 0 || length1 != 0;
	assign next_links_bad = (length0 != 0 && link0[7:0] != 0) || (length1 != 0 && link1[7:0] != 0);

	// ---- operations of the Stack Engine ----
	always_comb begin
		operation = STACK_NONE;
		operation_sibling = x;
		operation_word = 0;
		operation_second = 1'b0;
		case (state)
		CLEAR: operation = STACK_RESET;
		ROOT: begin
			operation = STACK_ROOT;
			operation_word = {root_aligned[31:8], 6'b0, root_aligned[7], !root_aligned[7]};
		end
		TRANSFORM: begin
			if (!framed && !stack_busy && beats != 0 && !bad_pair)
				operation = STACK_FRAME;
			else if (transform_ends)
				operation = STACK_TARGETS;
		end
		SCAN: begin
			if (scan_ends && scanned != BOTH)
				operation = STACK_RELEASE;
			else if (appends) begin
				operation = STACK_APPEND; // an aligned leaf itself is kept for the children of a tumbled inner node
				operation_word = node_type[1:0] == NODE_INNER ? {node_link[31:2], 2'b11} : {node_word[31:8], 6'b0, node_b, !node_b};
			end
		end
		LEAF_SCAN: begin
			operation = new_list ? STACK_FLIP : STACK_HOME;
			operation_sibling = scanned[0];
		end
		NEXT: begin
			operation = next_links_bad ? STACK_NONE : descends ? STACK_PUSH : STACK_CANCEL;
			operation_sibling = length0 == 0;
			operation_second = length0 == 0;
			operation_word = length1 != 0 ? link1 : 0;
		end
		RETURN: operation = STACK_RETURN;
		default: ;
		endcase
	end
	assign list_begin = state == ROOT || (state == LEAF_SCAN && new_list) || state == NEXT || (state == RETURN_WAIT && stack_found);
	assign list_open = state == TRANSFORM || state == SCAN;
	assign corr_check = state == DRAIN && memory_idle;

	// ---- errors, in the order in which they show ----
	always_comb begin
		error = ERROR_NONE;
		case (state)
		DRAIN: if (memory_idle && (corr_invalid || root_tumbled[6:0] != 0 || root_aligned[6:0] != 0))
			error = ERROR_ADDRESS;
		CHECK: if (!corr_checking && corr_unschedulable)
			error = ERROR_SCHEDULE;
		ROOT: if (stack_full)
			error = ERROR_STACK;
		TRANSFORM: begin
			if (bad_pair)
				error = ERROR_ADDRESS;
			else if (stack_full)
				error = ERROR_STACK;
			else if (transform_ends) begin
				if (type0_bad)
					error = ERROR_TYPE;
				else if (nan0_bad)
					error = ERROR_NAN;
				else if (type1_bad)
					error = ERROR_TYPE;
				else if (nan1_bad)
					error = ERROR_NAN;
			end
		end
		SCAN: begin
			if (node_valid && node_bad)
				error = ERROR_ADDRESS;
			else if (is_node && type_bad)
				error = ERROR_TYPE;
			else if (is_node && nan_bad)
				error = ERROR_NAN;
			else if (overlaps && !both_leaves && links_bad)
				error = ERROR_ADDRESS;
			else if (stack_full)
				error = ERROR_STACK;
			else if (triangle_done && triangle_error != ERROR_NONE)
				error = triangle_error;
			else if (hit_event && hits_full)
				error = ERROR_FIFO;
		end
		NEXT: if (next_links_bad)
			error = ERROR_ADDRESS;
		default: ;
		endcase
	end
	assign finish = (hit_event && !all_hits && error == ERROR_NONE) || (state == RETURN_WAIT && !stack_busy && !stack_found);
	assign kill = stop || finish || error != ERROR_NONE || power_on;

	always_ff @(posedge clk) begin
		// the tumbled pair arrives
		if (beat_tumbled && state == TRANSFORM) begin
			beats <= beats + 1;
			bad_pair <= beat_bad;
			if (beat == 3'd3) begin
				type0 <= mask[0] ? beat_tail[31:0] : {30'b0, NODE_EMPTY};
				link0 <= beat_tail[63:32];
			end
			if (beat == 3'd7) begin
				type1 <= mask[1] ? beat_tail[31:0] : {30'b0, NODE_EMPTY};
				link1 <= beat_tail[63:32];
			end
		end
		if (dop_drop)
			dropped <= 1'b1;
		if (operation == STACK_FRAME)
			framed <= 1'b1;
		if (result_stored) begin
			nan[result_sibling] <= nan[result_sibling] || result_nan;
			have[result_sibling] <= have[result_sibling] || result_last;
		end
		if (dop_start) begin // what comes out in this clock is of an earlier pair
			started <= 1'b1;
			have <= 0;
			nan <= 0;
		end

		// the loader
		if (loader_skips)
			loading_second <= 1'b1;
		else if (e_write && !head_bad)
			quarter <= quarter + 1;
		else if (loader_takes) begin
			quarter <= 0;
			loading_second <= 1'b1;
			pair_begun <= 1'b1;
			pair_taken <= loader_last || head_bad;
		end
		if (head_pop) begin
			loading_second <= 1'b0;
			quarter <= 0;
			pair_begun <= 1'b0;
			pair_taken <= 1'b0;
			popped <= popped + 1;
		end

		// the node register
		if (node_done)
			node_valid <= 1'b0;
		else if (node_valid) begin
			node_fresh <= 1'b0;
			node_x <= x || x_done;
		end
		waiting <= (triangle_start || waiting) && !triangle_done;
		if (loader_takes) begin
			node_valid <= 1'b1;
			node_fresh <= 1'b1;
			node_first <= !pair_begun;
			node_bad <= head_bad;
			node_type <= read_tail[31:0];
			node_link <= read_tail[63:32];
			node_word <= head_word;
			node_b <= loading_second;
			node_nan <= e_nan;
			node_overlap <= overlap;
		end
		if (pair_event) begin
			last_bank <= node_word[9:8];
			if (scan_pairs != 2'd2)
				scan_pairs <= scan_pairs + 1;
		end

		case (state)
		DRAIN: if (memory_idle)
			state <= CHECK;
		CHECK: if (!corr_checking)
			state <= CLEAR;
		CLEAR: begin
			state <= ROOT;
			pair <= {root_tumbled[31:8], 8'b0};
			mask <= {root_tumbled[7], !root_tumbled[7]};
		end
		ROOT: state <= LOAD;
		LOAD: if (tumbled_taken)
			state <= TRANSFORM;
		TRANSFORM: if (transform_ends) begin
			state <= SCAN;
			scanned <= BOTH;
			scan_pairs <= 0;
		end
		SCAN: if (scan_ends) begin
			scanned <= next_leaf;
			state <= more_leaves ? LEAF_SCAN : NEXT;
			if (scanned != BOTH) begin // the same leaf again, one level further down
				scanned <= scanned;
				state <= LEAF_SCAN;
			end
		end
		LEAF_SCAN: begin
			if (new_list) begin
				state <= SCAN;
				scan_pairs <= 0;
			end else begin
				scanned <= next_leaf;
				state <= more_leaves ? LEAF_SCAN : NEXT;
			end
		end
		NEXT: begin
			mask <= 2'b11;
			state <= descends ? LOAD : RETURN;
			if (descends)
				pair <= length0 != 0 ? link0 : link1;
		end
		RETURN: state <= RETURN_WAIT;
		RETURN_WAIT: if (stack_found) begin
			state <= LOAD;
			pair <= stack_pair;
		end
		default: ;
		endcase
		if (state == ROOT || state == NEXT || state == RETURN_WAIT) begin
			beats <= 0;
			bad_pair <= 1'b0;
			framed <= 1'b0;
			started <= 1'b0;
			dropped <= 1'b0;
			type0 <= {30'b0, NODE_INNER};
			type1 <= {30'b0, NODE_INNER};
		end
		if (list_begin) begin
			popped <= 0;
			loading_second <= 1'b0;
			quarter <= 0;
			pair_begun <= 1'b0;
			pair_taken <= 1'b0;
		end
		if (kill) begin
			state <= IDLE;
			node_valid <= 1'b0;
			waiting <= 1'b0;
		end
		if (start)
			state <= DRAIN;
	end
endmodule
