// The CollisionChip: Figure 5 of the paper.
//
//               register window ── pci_interface ── hit_fifo, counters
//                                          │
//   ┌───────────────────────────── master_controller ────────────────────────────────────────┐
//   │                                                                                        │
//   │  sdram_interface ─► AG 1 ─► dop_register_file ◄─ AG 2 ◄─ correspondence_register_file  │
//   │        │                            │                                                  │
//   │        │                            ▼                                                  │
//   │        │                         dotadd ◄─ matrix_register_file                        │
//   │        │                            │                                                  │
//   │        ▼                            ▼ AG 3                                             │
//   │      e bank ───► comparators ◄─── results_bank                                         │
//   │                                                                                        │
//   │  triangle_unit ── it_unit                                                              │
//   │  stack_engine ──► SRAM                                                                 │
//   └────────────────────────────────────────────────────────────────────────────────────────┘
//
// The hierarchy memory is outside. It takes a request (`memory_request`, `memory_address`, a multiple of 256) in every clock in
// which `memory_ready` is set, and answers in order with eight beats of 32 bytes, `memory_bad` if there is no such memory.
module collision_chip #(
	parameter SRAM_BITS = 16,      // of the address of a word of the stack memory
	parameter HIT_BITS = 16,       // of the address of a pair in the hit FIFO
	parameter COUNTER_BITS = 40,
	parameter MULTIPLY_STAGES = 2, // of the DOTADD unit, which has 1 + MULTIPLY_STAGES + 3 ADD_STAGES: 6 in the paper
	parameter ADD_STAGES = 1
) (
	input  logic               clk, power_on,
	// what the board has
	input  logic [SRAM_BITS:0] sram_size,
	input  logic [HIT_BITS:0]  hit_capacity,
	// register window
	input  logic               register_write, register_read,
	input  logic [15:0]        register_address,
	input  logic [31:0]        register_write_data,
	output logic [31:0]        register_read_data,
	output logic               interrupt_line,
	output logic               busy,
	input  logic               window_outside, window_write,
	// hierarchy memory
	output logic               memory_request,
	output logic [31:0]        memory_address,
	input  logic               memory_ready,
	input  logic               memory_valid, memory_bad,
	input  logic [255:0]       memory_data,
	// for measurements: clocks since START, and directions of triangle tests that were decided in the plane
	output logic [63:0]        clocks,
	output logic [31:0]        coplanar
);
	localparam DEPTH = 1 + MULTIPLY_STAGES + 3 * ADD_STAGES;
	localparam LENGTH_BITS = SRAM_BITS + 1;

	// ---- PCI interface, counters, hits ----
	logic start, stop, clear, finish, kill, hit_event;
	logic [2:0] error;
	logic [7:0] mode, ag2_delay;
	logic [31:0] root_tumbled, root_aligned;
	logic [SRAM_BITS:0] sram_words;
	logic matrix_write, matrix_read, corr_write, corr_read, counter_read, hit_pop, hits_full;
	logic [5:0] matrix_line;
	logic [1:0] matrix_column;
	logic [31:0] matrix_data, corr_data, hit_tumbled, hit_aligned;
	logic [6:0] corr_line;
	logic [4:0] counter_index;
	logic [63:0] counter_value;
	logic [HIT_BITS:0] hit_count;
	pci_interface #(.SRAM_BITS(SRAM_BITS), .HIT_BITS(HIT_BITS)) pci (.clk(clk), .power_on(power_on), .write(register_write),
		.read(register_read), .address(register_address), .write_data(register_write_data), .read_data(register_read_data),
		.interrupt_line(interrupt_line), .busy(busy), .status(), .window_outside(window_outside), .window_write(window_write), .sram_size(sram_size),
		.start(start), .stop(stop), .clear(clear), .mode(mode), .root_tumbled(root_tumbled), .root_aligned(root_aligned),
		.ag2_delay(ag2_delay), .sram_words(sram_words), .matrix_write(matrix_write), .matrix_read(matrix_read),
		.matrix_line(matrix_line), .matrix_column(matrix_column), .matrix_data(matrix_data), .corr_write(corr_write),
		.corr_read(corr_read), .corr_line(corr_line), .corr_data(corr_data), .counter_read(counter_read),
		.counter_index(counter_index), .counter_value(counter_value), .hit_count(hit_count), .hit_tumbled(hit_tumbled),
		.hit_aligned(hit_aligned), .hit_pop(hit_pop), .finish(finish), .error(error), .hit_event(hit_event));

	logic [31:0] tumbled_id, aligned_id;
	hit_fifo #(.BITS(HIT_BITS)) hits (.clk(clk), .clear(clear || power_on), .capacity(hit_capacity), .push(hit_event),
		.push_tumbled(tumbled_id), .push_aligned(aligned_id), .full(hits_full), .pop(hit_pop), .count(hit_count),
		.tumbled(hit_tumbled), .aligned(hit_aligned));

	// ---- Stack Engine and its SRAM ----
	logic [3:0] operation;
	logic operation_sibling, operation_second, stack_busy, stack_full, stack_found, list_get, list_get_ready, list_got;
	logic [31:0] operation_word, stack_pair;
	logic [LENGTH_BITS-1:0] list_index, source_length, length0, length1, used0, used1, level;
	logic frame_read, pushed, word_written, sram_write, sram_read;
	logic [SRAM_BITS-1:0] sram_address;
	logic [31:0] sram_write_data, sram_read_data;
	stack_engine #(.ADDRESS_BITS(SRAM_BITS)) stack (.clk(clk), .reset(kill), .words(sram_words), .operation(operation),
		.sibling(operation_sibling), .word(operation_word), .second(operation_second), .busy(stack_busy), .full(stack_full),
		.found(stack_found), .found_pair(stack_pair), .get(list_get), .get_index(list_index), .get_ready(list_get_ready),
		.got(list_got), .source_length(source_length), .length0(length0), .length1(length1), .used0(used0), .used1(used1), .level(level),
		.frame_read(frame_read), .pushed(pushed), .word_written(word_written), .sram_write(sram_write), .sram_read(sram_read),
		.sram_address(sram_address), .sram_write_data(sram_write_data), .sram_read_data(sram_read_data));
	logic [31:0] sram [0:(1<<SRAM_BITS)-1];
	always_ff @(posedge clk) begin
		if (sram_write)
			sram[sram_address] <= sram_write_data;
		if (sram_read)
			sram_read_data <= sram[sram_address];
	end

	// ---- SDRAM interface ----
	logic memory_idle, tumbled_ask, tumbled_taken, record_ask, record_taken, beat_tumbled, beat_record, list_begin, list_open;
	logic head_valid, head_bad, head_pop, read_tumbled;
	logic [31:0] tumbled_address, record_address, head_word;
	logic [2:0] beat, read_beat;
	logic [3:0] head_beats;
	logic [255:0] read_data;
	sdram_interface #(.LENGTH_BITS(LENGTH_BITS)) sdram (.clk(clk), .reset(power_on), .memory_request(memory_request),
		.memory_address(memory_address), .memory_ready(memory_ready), .memory_valid(memory_valid), .memory_bad(memory_bad),
		.memory_data(memory_data), .idle(memory_idle), .tumbled_ask(tumbled_ask), .tumbled_address(tumbled_address),
		.tumbled_taken(tumbled_taken), .record_ask(record_ask), .record_address(record_address), .record_taken(record_taken),
		.beat_tumbled(beat_tumbled), .beat_record(beat_record), .beat(beat), .list_begin(list_begin), .list_open(list_open),
		.list_length(source_length), .list_get(list_get), .list_index(list_index), .list_get_ready(list_get_ready),
		.list_got(list_got), .list_word(sram_read_data), .head_valid(head_valid), .head_word(head_word), .head_beats(head_beats),
		.head_bad(head_bad), .head_pop(head_pop), .read_tumbled(read_tumbled), .read_beat(read_beat), .read_data(read_data));

	// ---- DOP side ----
	logic dop_start, dop_start_sibling, dop_second, dop_drop, dop_word_arrived, dop_pair_arrived, dop_running;
	logic pass_start, pass_reverse, pass_running, map_loaded, map_write;
	logic [5:0] map_line;
	logic [1:0] map_column;
	logic [31:0] map_word, vertex_word;
	logic ag1_write, ag1_sibling, ag2_issue, ag3_valid, ag3_triangle, ag3_first_pass, ag3_sibling, ag3_last;
	logic [4:0] ag1_index, ag3_index;
	logic [5:0] ag2_matrix_line;
	logic [6:0] ag2_line;
	logic [19:0] row;
	address_generators #(.DEPTH(DEPTH)) ags (.clk(clk), .reset(kill), .ag2_delay(ag2_delay), .dop_start(dop_start),
		.dop_start_sibling(dop_start_sibling), .dop_word_arrived(dop_word_arrived), .dop_pair_arrived(dop_pair_arrived),
		.dop_second(dop_second), .dop_drop(dop_drop), .dop_running(dop_running), .triangle_start(pass_start),
		.triangle_reverse(pass_reverse), .triangle_map(map_loaded), .triangle_running(pass_running), .ag1_write(ag1_write),
		.ag1_sibling(ag1_sibling), .ag1_index(ag1_index), .ag2_line(ag2_line), .ag2_row(row), .ag2_issue(ag2_issue),
		.ag2_matrix_line(ag2_matrix_line), .ag3_valid(ag3_valid), .ag3_triangle(ag3_triangle), .ag3_first_pass(ag3_first_pass),
		.ag3_sibling(ag3_sibling), .ag3_last(ag3_last), .ag3_index(ag3_index));

	logic corr_invalid, corr_check, corr_checking, corr_unschedulable, it_reading;
	logic [3:0] it_line;
	correspondence_register_file corr (.clk(clk), .reset(power_on), .write(corr_write), .write_line(corr_line),
		.write_data(register_write_data), .line(it_reading ? 7'd51 + {3'b0, it_line} : ag2_line), .row(row), .host_read(corr_read),
		.host_line(corr_line), .host_data(corr_data), .invalid(corr_invalid), .check(corr_check), .ag2_delay(ag2_delay),
		.checking(corr_checking), .unschedulable(corr_unschedulable));

	logic [31:0] d, d_k, d_m, d_n, node_word;
	assign node_word = read_data[{ag1_index[2:0], 5'b0} +: 32];
	dop_register_file dop_file (.clk(clk), .write(ag1_write || (ag3_valid && ag3_triangle && pass_running)),
		.write_index(ag1_write ? ag1_index : ag3_index), .write_data(!ag1_write ? d : dop_running ? node_word : vertex_word),
		.read(ag2_issue || it_reading), .k(it_reading ? row[4:0] : row[9:5]), .m(it_reading ? row[9:5] : row[14:10]), .n(row[19:15]),
		.d_k(d_k), .d_m(d_m), .d_n(d_n));

	logic [127:0] m;
	matrix_register_file matrix (.clk(clk), .write(matrix_write || map_write), .write_line(map_write ? map_line : matrix_line),
		.write_column(map_write ? map_column : matrix_column), .write_data(map_write ? map_word : register_write_data),
		.read(ag2_issue), .line(ag2_matrix_line), .m(m), .host_read(matrix_read), .host_line(matrix_line),
		.host_column(matrix_column), .host_data(matrix_data));

	dotadd #(.MULTIPLY_STAGES(MULTIPLY_STAGES), .ADD_STAGES(ADD_STAGES)) dotadd_unit (.clk(clk), .valid(ag2_issue), .x(d_k), .y(d_m),
		.z(d_n), .m(m), .d(d));

	logic result_stored, e_write, e_nan, compare;
	logic [1:0] e_beat, overlap;
	assign result_stored = ag3_valid && !ag3_triangle;
	results_bank bank (.clk(clk), .store(result_stored), .store_sibling(ag3_sibling), .store_index(ag3_index), .store_data(d),
		.e_write(e_write), .e_beat(e_beat), .e_data(read_data), .e_nan(e_nan), .compare(compare), .overlap(overlap));

	// ---- triangle side ----
	logic triangle_start, triangle_done, triangle_hit, it_start, it_done, it_hit, it_apart;
	logic [2:0] triangle_error;
	logic [31:0] triangle_tumbled, triangle_aligned, it_largest;
	logic forward_event, reverse_event, direction_event, edge_event, skipped_event, coplanar_event;
	logic [1:0] record_bursts;
	triangle_unit triangles (.clk(clk), .power_on(power_on), .reset(kill), .start(triangle_start), .tumbled(triangle_tumbled),
		.aligned(triangle_aligned), .done(triangle_done), .hit(triangle_hit), .error(triangle_error), .tumbled_id(tumbled_id),
		.aligned_id(aligned_id), .record_ask(record_ask), .record_address(record_address), .record_taken(record_taken),
		.beat_record(beat_record), .beat(beat), .beat_bad(memory_bad), .beat_data(memory_data), .pass_start(pass_start),
		.pass_reverse(pass_reverse), .pass_running(pass_running), .map_loaded(map_loaded), .vertex_index(ag1_index[3:0]),
		.vertex_word(vertex_word), .map_write(map_write), .map_line(map_line), .map_column(map_column), .map_word(map_word),
		.result_valid(ag3_valid && ag3_triangle), .result_first_pass(ag3_first_pass), .result(d), .it_start(it_start),
		.it_largest(it_largest), .it_done(it_done), .it_hit(it_hit), .it_apart(it_apart), .forward_event(forward_event),
		.reverse_event(reverse_event), .direction_event(direction_event), .bursts(record_bursts));
	it_unit #(.MULTIPLY_STAGES(MULTIPLY_STAGES), .ADD_STAGES(ADD_STAGES)) it (.clk(clk), .reset(kill), .start(it_start), .closed(mode[4]),
		.largest(it_largest), .reading(it_reading), .read_line(it_line), .read_i(d_k), .read_k(d_m), .done(it_done), .hit(it_hit),
		.apart(it_apart), .edge_event(edge_event), .skipped_event(skipped_event), .coplanar_event(coplanar_event));

	// ---- Master Controller ----
	logic transformed, list_event, tumbled_burst, pair_event, pair_burst, pair_waits, node_event, overlap_event;
	logic [9:0] transform_cycles;
	logic [1:0] tumbled_nodes, node_tests;
	logic [4:0] pair_cycles;
	master_controller #(.LENGTH_BITS(LENGTH_BITS), .DEPTH(DEPTH)) master (.clk(clk), .power_on(power_on), .start(start), .stop(stop),
		.mode(mode), .root_tumbled(root_tumbled), .root_aligned(root_aligned), .ag2_delay(ag2_delay), .finish(finish), .error(error),
		.kill(kill), .corr_invalid(corr_invalid), .corr_check(corr_check), .corr_checking(corr_checking),
		.corr_unschedulable(corr_unschedulable), .operation(operation), .operation_sibling(operation_sibling),
		.operation_word(operation_word), .operation_second(operation_second), .stack_busy(stack_busy), .stack_full(stack_full),
		.stack_found(stack_found), .stack_pair(stack_pair), .source_length(source_length), .length0(length0), .length1(length1),
		.memory_idle(memory_idle), .tumbled_ask(tumbled_ask), .tumbled_address(tumbled_address), .tumbled_taken(tumbled_taken),
		.beat_tumbled(beat_tumbled), .beat(beat), .beat_bad(memory_bad), .beat_tail(memory_data[63:0]), .list_begin(list_begin),
		.list_open(list_open), .head_valid(head_valid), .head_word(head_word), .head_beats(head_beats), .head_bad(head_bad),
		.head_pop(head_pop), .read_tumbled(read_tumbled), .read_beat(read_beat), .read_tail(read_data[63:0]), .dop_start(dop_start),
		.dop_start_sibling(dop_start_sibling), .dop_second(dop_second), .dop_drop(dop_drop), .dop_word_arrived(dop_word_arrived),
		.dop_pair_arrived(dop_pair_arrived), .dop_running(dop_running), .ag1_sibling(ag1_sibling), .ag1_index(ag1_index),
		.result_stored(result_stored), .result_last(ag3_last), .result_sibling(ag3_sibling), .result_nan(d[30:0] > 31'h7F800000),
		.e_write(e_write), .e_beat(e_beat), .e_nan(e_nan), .compare(compare), .overlap(overlap), .triangle_start(triangle_start),
		.triangle_tumbled(triangle_tumbled), .triangle_aligned(triangle_aligned), .triangle_done(triangle_done),
		.triangle_hit(triangle_hit), .triangle_error(triangle_error), .hits_full(hits_full), .hit_event(hit_event),
		.transformed(transformed), .list_event(list_event), .transform_cycles(transform_cycles), .tumbled_nodes(tumbled_nodes),
		.tumbled_burst(tumbled_burst), .pair_event(pair_event), .pair_burst(pair_burst), .pair_waits(pair_waits),
		.pair_cycles(pair_cycles), .node_event(node_event), .node_tests(node_tests), .overlap_event(overlap_event));

	// The Stack Engine's registers show an operation one clock later.
	`include "definitions.svh"
	logic maxima_event, maxima_root, maxima_append, maxima_sibling;
	always_ff @(posedge clk) begin
		maxima_root <= operation == STACK_ROOT;
		maxima_append <= operation == STACK_APPEND;
		maxima_sibling <= operation_sibling;
		maxima_event <= !stop && !power_on && (pushed || (!stack_full &&
			(operation == STACK_ROOT || operation == STACK_APPEND || operation == STACK_FRAME)));
	end
	logic [LENGTH_BITS-1:0] longest;
	assign longest = maxima_root ? source_length : !maxima_append ? 0 : maxima_sibling ? length1 : length0;
	counters #(.BITS(COUNTER_BITS), .LENGTH_BITS(LENGTH_BITS)) counts (.clk(clk), .clear(clear || power_on), .sched(mode[5]),
		.read(counter_read), .index(counter_index), .value(counter_value), .transformed(transformed),
		.transform_cycles(transform_cycles), .list_event(list_event), .tumbled_nodes(tumbled_nodes), .pair_event(pair_event),
		.pair_cycles(pair_cycles), .pair_waits(pair_waits), .pair_burst(pair_burst), .tumbled_burst(tumbled_burst),
		.record_bursts(record_bursts), .node_event(node_event), .node_tests(node_tests), .overlap_event(overlap_event),
		.forward_event(forward_event), .reverse_event(reverse_event), .direction_event(direction_event), .edge_event(edge_event),
		.skipped_event(skipped_event), .hit_event(hit_event), .frame_read(frame_read), .word_written(word_written),
		.maxima_event(maxima_event), .level(level), .length(longest), .used(used0 + used1));

	always_ff @(posedge clk)
		if (clear || power_on) begin
			clocks <= 0;
			coplanar <= 0;
		end else begin
			if (busy)
				clocks <= clocks + 1;
			if (coplanar_event)
				coplanar <= coplanar + 1;
		end
endmodule
