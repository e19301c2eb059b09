// The SDRAM interface between a memory that answers when it likes, an SRAM, and a scan that takes pairs when it likes. Every
// word of the list comes to the head once, in order; the beats at the head are those of its pair and none of another; bursts
// never exceed what the interface can keep track of.
module formal_fetch (input clk, input ready, input answer, input take, input open_i, input tumbled_i, input record_i,
	input [1:0] reads, input get_ready);
	reg started = 0;
	always @(posedge clk) started <= 1;
	(* anyconst *) reg [2:0] length;
	always @* assume (length >= 1 && length <= 5);

	wire request, idle, tumbled_taken, record_taken, beat_tumbled, beat_record, list_get, head_valid, head_bad;
	wire [31:0] address, head_word;
	wire [2:0] beat;
	wire [3:0] list_index;
	wire [3:0] head_beats;
	wire [255:0] read_data;

	// Word i of the list is pair i + 8; the memory answers a beat with the low bits of its pair's address.
	reg got = 0;
	reg [31:0] list_word;
	always @(posedge clk) begin
		got <= started && list_get && get_ready;
		list_word <= {20'd0, 4'd8 + list_index[3:0], 8'd3};
	end
	reg [3:0] queue [0:7];
	reg [2:0] first = 0, last = 0;
	reg [3:0] waiting = 0;
	reg [2:0] sent = 0;
	wire accepts = started && request && ready;
	wire beats_now = started && answer && waiting != 0;
	always @(posedge clk) begin
		if (accepts) begin
			queue[last] <= address[11:8];
			last <= last + 1;
		end
		if (beats_now) begin
			sent <= sent + 1;
			if (sent == 7)
				first <= first + 1;
		end
		waiting <= waiting + accepts - (beats_now && sent == 7);
	end

	// The scan takes a pair whose beats have all arrived.
	wire pop = started && take && head_valid && head_beats == 8;
	reg [3:0] taken = 0;
	always @(posedge clk) taken <= taken + pop;
	sdram_interface #(.LENGTH_BITS(4)) dut (.clk(clk), .reset(!started), .memory_request(request), .memory_address(address),
		.memory_ready(ready && started), .memory_valid(beats_now), .memory_bad(1'b0), .memory_data({252'd0, queue[first]}), .idle(idle),
		.tumbled_ask(tumbled_i && started), .tumbled_address(32'h100), .tumbled_taken(tumbled_taken), .record_ask(record_i && started),
		.record_address(32'h280), .record_taken(record_taken), .beat_tumbled(beat_tumbled), .beat_record(beat_record), .beat(beat),
		.list_begin(!started), .list_open(open_i && started), .list_length({1'b0, length}), .list_get(list_get),
		.list_index(list_index), .list_get_ready(get_ready && started), .list_got(got), .list_word(list_word),
		.head_valid(head_valid), .head_word(head_word), .head_beats(head_beats), .head_bad(head_bad), .head_pop(pop),
		.read_tumbled(1'b0), .read_beat({1'b0, reads}), .read_data(read_data));

	always @(posedge clk) if (started) begin
		assert (waiting <= 8);
		assert (idle == (waiting == 0));
		assert (list_index <= {1'b0, length});
		assert (!(tumbled_taken && record_taken));
		if (head_valid)
			assert (!head_bad);
		if (accepts)
			assert (address[31:12] == 0 && address[7:0] == 0);
		if (beats_now)
			assert (beat == sent && beat_tumbled == (queue[first] == 1) && beat_record == (queue[first] == 2));
		if (head_valid)
			assert (head_word == {20'd0, 4'd8 + taken, 8'd3}); // in order, each once
		if (head_valid && head_beats > {2'b0, reads})
			assert (read_data[3:0] == 4'd8 + taken);           // and with its own beats
		if (head_valid)
			assert (head_beats <= 8);
		assert (taken <= {1'b0, length});
	end
endmodule
