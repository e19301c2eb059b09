// The bridge from an FX2LP's slave FIFO, eight bits wide, to the byte streams of board_front.
//
// The FX2LP's clock is half of `clk`. The bridge takes its signals and sets its own when that clock falls, half a period after
// the FX2LP has changed its signals and half a period before it takes them: 25 ns either way at 40 MHz, more than its setup and hold
// times with an external clock.
//
// A slave FIFO does not show where a packet ends. So the firmware hands the packets of endpoint 2 over one by one: it commits a
// packet, says with `packet_short` whether it has fewer than 512 bytes, then inverts `packet`. The bridge empties the FIFO and
// answers by making `taken` equal to `packet`. Endpoint 6 commits full packets by itself; PKTEND commits the last, also an empty one.
module fx2_bridge (
	input  logic       clk, power_on,
	// FX2LP; all but the data are as on its pins
	output logic       ifclk,
	output logic       slrd_n, slwr_n, sloe_n, pktend_n,
	output logic [1:0] fifoadr,
	input  logic       empty_n,      // FLAGA: endpoint 2 is not empty
	input  logic       full_n,       // FLAGB: endpoint 6 is not full
	output logic [7:0] fd_out,
	output logic       fd_enable,
	input  logic [7:0] fd_in,
	// its firmware, not in time with the clock
	input  logic       packet, packet_short, unplugged,
	output logic       taken,
	// the front end
	output logic       bus_reset,
	output logic       rx_valid, rx_end,
	output logic [7:0] rx_byte,
	input  logic       rx_ready,
	input  logic       tx_valid, tx_last,
	input  logic [7:0] tx_byte,
	output logic       tx_ready,
	output logic       idle
);
	localparam [1:0] ENDPOINT_2 = 2'b00, ENDPOINT_6 = 2'b10;
	logic [1:0] packet_q, short_q, unplugged_q; // synchronised
	always_ff @(posedge clk) begin
		packet_q <= {packet_q[0], packet};
		short_q <= {short_q[0], packet_short};
		unplugged_q <= {unplugged_q[0], unplugged};
	end
	assign bus_reset = unplugged_q[1];

	// TURN_*: nobody drives the data, and the address settles.
	localparam [2:0] RECEIVE = 0, TURN_OUT = 1, SEND = 2, END = 3, TURN_IN = 4;
	logic [2:0] state;
	logic step, waiting; // step: the clock falls next; waiting: a packet is to be read
	assign step = ifclk;
	assign waiting = packet_q[1] != taken;
	assign rx_byte = fd_in;
	assign rx_valid = step && state == RECEIVE && waiting && empty_n && rx_ready;
	assign rx_end = step && state == RECEIVE && waiting && !empty_n && short_q[1] && rx_ready;
	assign tx_ready = step && state == SEND && tx_valid && full_n;
	assign idle = state == RECEIVE && !waiting && packet_q[0] == packet_q[1];
	always_ff @(posedge clk) begin
		ifclk <= !ifclk;
		if (step) begin
			slrd_n <= 1'b1;
			slwr_n <= 1'b1;
			pktend_n <= 1'b1;
			case (state)
			RECEIVE: begin
				slrd_n <= !rx_valid;
				if (waiting && !empty_n && (rx_end || !short_q[1]))
					taken <= packet_q[1];
				if (tx_valid) begin
					sloe_n <= 1'b1;
					state <= TURN_OUT;
				end
			end
			TURN_OUT: begin
				fifoadr <= ENDPOINT_6;
				state <= SEND;
			end
			SEND: begin
				fd_enable <= 1'b1;
				fd_out <= tx_byte;
				slwr_n <= !tx_ready;
				if (tx_ready && tx_last)
					state <= END;
			end
			END:
				if (slwr_n && full_n) begin // one clock after the last byte
					pktend_n <= 1'b0;
					state <= TURN_IN;
				end
			default: begin
				fd_enable <= 1'b0;
				fifoadr <= ENDPOINT_2;
				sloe_n <= fifoadr != ENDPOINT_2;
				if (fifoadr == ENDPOINT_2)
					state <= RECEIVE;
			end
			endcase
		end
		if (power_on || bus_reset) begin
			state <= TURN_IN;
			fd_enable <= 1'b0;
			sloe_n <= 1'b1;
			slrd_n <= 1'b1;
			slwr_n <= 1'b1;
			pktend_n <= 1'b1;
			fifoadr <= ENDPOINT_2;
			taken <= packet_q[1]; // what was being read is dropped, as the firmware drops it
		end
		if (power_on)
			ifclk <= 1'b0;
	end
endmodule
