// The register file and the rules of CTRL, for every sequence of accesses and of ends of a query. A query is lost by nothing
// but its end, an error, ABORT or RESET; a failed write is never followed by an answer; settings stand while it runs.
module formal_registers (input clk, input write, input read, input [15:0] address, input [31:0] data, input outside,
	input window_write, input finish_i, input [2:0] error_i, input hit_i);
	reg started = 0;
	always @(posedge clk) started <= 1;
	wire busy, start, stop, clear, interrupt_line, matrix_write, corr_write;
	wire [7:0] mode, ag2_delay;
	wire [31:0] root_tumbled, root_aligned, read_data, status;
	wire [4:0] sram_words;
	reg running = 0; // the Master Controller: only a running query ends
	wire finish = running && finish_i && error_i == 0;
	wire [2:0] error = running && error_i < 7 ? error_i : 3'd0;
	pci_interface #(.SRAM_BITS(4), .HIT_BITS(4)) dut (.clk(clk), .power_on(!started), .write(write && !read), .read(read),
		.address(address), .write_data(data), .read_data(read_data), .interrupt_line(interrupt_line), .busy(busy), .status(status),
		.window_outside(outside), .window_write(window_write), .sram_size(5'd12), .start(start), .stop(stop), .clear(clear),
		.mode(mode), .root_tumbled(root_tumbled), .root_aligned(root_aligned), .ag2_delay(ag2_delay), .sram_words(sram_words),
		.matrix_write(matrix_write), .matrix_read(), .matrix_line(), .matrix_column(), .matrix_data(32'd0), .corr_write(corr_write),
		.corr_read(), .corr_line(), .corr_data(32'd0), .counter_read(), .counter_index(), .counter_value(64'd0), .hit_count(5'd0),
		.hit_tumbled(32'd0), .hit_aligned(32'd0), .hit_pop(), .finish(finish), .error(error), .hit_event(running && hit_i));
	wire ended = finish || error != 0;
	always @(posedge clk) running <= started && (start || (running && !ended && !stop));

	wire [2:0] err = status[10:8];
	wire done = status[1];
	reg was_busy = 0, was_ended, was_stopped, was_started;
	reg [2:0] was_err;
	reg [31:0] was_root;
	reg [7:0] was_delay;
	reg [4:0] was_words;
	reg was_reset;
	always @(posedge clk) begin
		was_busy <= busy && started;
		was_ended <= ended;
		was_stopped <= stop;
		was_started <= start;
		was_err <= err;
		was_root <= root_tumbled;
		was_delay <= ag2_delay;
		was_words <= sram_words;
		was_reset <= write && !read && address == 16'h008 && data[2];
	end
	reg second = 0;
	always @(posedge clk) second <= started;
	always @(posedge clk) if (second) begin
		assert (busy == running);                                     // the status is the Master Controller's
		assert (!(busy && done));
		if (was_busy && !busy)
			assert (was_ended || was_stopped);                        // BUSY is never lost
		if (busy && !was_busy)
			assert (was_started);
		if (was_started)
			assert (busy && err == 0);                                // a query begins without an error
		if (was_err != 0 && !was_reset)
			assert (err == was_err && !was_started);                  // the first error stands until RESET
		if (done)
			assert (!busy);
		if (was_busy && busy)
			assert (root_tumbled == was_root && ag2_delay == was_delay && sram_words == was_words); // settings stand
		assert (!(busy && (matrix_write || corr_write)));
		assert (sram_words <= 5'd12);
		assert (err != 3'd7);
		assert (!interrupt_line || done);
	end
endmodule
