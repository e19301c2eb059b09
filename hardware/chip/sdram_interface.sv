// SDRAM interface: fetches node pairs in bursts of eight beats of 256 bits, in the order of the requests. It keeps the
// tumbled pair of the list and up to four aligned pairs, which it fetches ahead of the scan: the Stack Engine gives it
// the words of the source list. Beats of triangle records pass through to the triangle unit.
//
// `bad` marks a pair outside of the memory. It counts only when the pair is used: what was fetched in advance and is not
// needed raises no error.
module sdram_interface #(parameter LENGTH_BITS = 17) (
	input  logic                   clk, reset,
	// memory: requests while `memory_ready`; beats in order
	output logic                   memory_request,
	output logic [31:0]            memory_address,
	input  logic                   memory_ready,
	input  logic                   memory_valid,
	input  logic                   memory_bad,
	input  logic [255:0]           memory_data,
	output logic                   idle,          // no beat is on its way
	// requests, of which the tumbled pair comes first, then records
	input  logic                   tumbled_ask,
	input  logic [31:0]            tumbled_address,
	output logic                   tumbled_taken,
	input  logic                   record_ask,
	input  logic [31:0]            record_address,
	output logic                   record_taken,
	// each beat as it arrives
	output logic                   beat_tumbled,
	output logic                   beat_record,
	output logic [2:0]             beat,
	// the pairs of the source list
	input  logic                   list_begin,    // from its first word on
	input  logic                   list_open,     // fetch ahead
	input  logic [LENGTH_BITS-1:0] list_length,
	output logic                   list_get,
	output logic [LENGTH_BITS-1:0] list_index,
	input  logic                   list_get_ready,
	input  logic                   list_got,
	input  logic [31:0]            list_word,
	// the oldest of them
	output logic                   head_valid,
	output logic [31:0]            head_word,
	output logic [3:0]             head_beats,    // that have arrived
	output logic                   head_bad,
	input  logic                   head_pop,
	// a beat of the tumbled pair, or of the oldest aligned pair
	input  logic                   read_tumbled,
	input  logic [2:0]             read_beat,
	output logic [255:0]           read_data
);
	localparam [2:0] TUMBLED = 3'd4, RECORD = 3'd5; // destinations; 0 to 3: slots of aligned pairs

	logic [255:0] pairs [0:63]; // eight beats for each destination
	logic [2:0] destinations [0:7];
	logic [2:0] first, last;
	logic [3:0] outstanding;
	logic [2:0] destination;
	assign destination = destinations[first];
	assign idle = outstanding == 0;
	assign beat_tumbled = memory_valid && destination == TUMBLED;
	assign beat_record = memory_valid && destination == RECORD;

	logic [31:0] slot_word [0:3];
	logic [3:0] slot_beats [0:3];
	logic [3:0] slot_bad;
	logic [1:0] head, tail;
	logic [2:0] slots; // in use
	logic word_valid;
	logic [31:0] word;

	logic pair_ask, pair_taken, taken;
	assign pair_ask = word_valid && list_open && slots != 3'd4;
	assign memory_request = (tumbled_ask || record_ask || pair_ask) && !outstanding[3];
	assign memory_address = tumbled_ask ? tumbled_address : record_ask ? {record_address[31:8], 8'b0} : {word[31:8], 8'b0};
	assign taken = memory_request && memory_ready;
	assign tumbled_taken = taken && tumbled_ask;
	assign record_taken = taken && !tumbled_ask && record_ask;
	assign pair_taken = taken && !tumbled_ask && !record_ask;
	assign list_get = list_open && !word_valid && !list_got && list_index < list_length;

	assign head_valid = slots != 0;
	assign head_word = slot_word[head];
	assign head_beats = slot_beats[head];
	assign head_bad = slot_bad[head];
	logic [5:0] read_address;
	assign read_address = {read_tumbled ? TUMBLED : {1'b0, head}, read_beat};
	assign read_data = pairs[read_address];

	always_ff @(posedge clk) begin
		if (taken) begin
			destinations[last] <= tumbled_ask ? TUMBLED : record_ask ? RECORD : {1'b0, tail};
			last <= last + 1;
		end
		if (memory_valid) begin
			if (destination != RECORD)
				pairs[{destination, beat}] <= memory_data;
			if (!destination[2]) begin
				slot_beats[destination[1:0]] <= slot_beats[destination[1:0]] + 1;
				slot_bad[destination[1:0]] <= memory_bad;
			end
			beat <= beat + 1;
			if (beat == 3'd7)
				first <= first + 1;
		end
		outstanding <= outstanding + {3'b0, taken} - {3'b0, memory_valid && beat == 3'd7};

		if (list_get && list_get_ready)
			list_index <= list_index + 1;
		if (list_got) begin
			word <= list_word;
			word_valid <= 1'b1;
		end
		if (pair_taken) begin
			word_valid <= 1'b0;
			slot_word[tail] <= word;
			slot_beats[tail] <= 0;
			slot_bad[tail] <= 1'b0;
			tail <= tail + 1;
		end
		if (head_pop)
			head <= head + 1;
		slots <= slots + {2'b0, pair_taken} - {2'b0, head_pop};
		if (list_begin) begin
			list_index <= 0;
			word_valid <= 1'b0;
			head <= 0;
			tail <= 0;
			slots <= 0;
		end
		if (reset) begin
			first <= 0;
			last <= 0;
			outstanding <= 0;
			beat <= 0;
			word_valid <= 1'b0;
			slots <= 0;
		end
	end
endmodule
