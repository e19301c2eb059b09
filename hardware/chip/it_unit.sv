// IT-Unit: the edges of a triangle against the unit triangle (0,0), (1,0), (0,1) in the plane z = 0. One multiplier, one
// adder, eight temporary registers and a small program; an operation starts when its operands are there. The operands
// come from the DOP Register File through lines 51-65 of the Correspondence Register File: five pairs for each edge P-Q,
// Px Qz, Qx Pz, Py Qz, Qy Pz, Qz Pz.
//
// The printed test takes the edges that cross z = 0 and evaluates Equation 4. The closed test counts |z| up to a tolerance
// as 0, decides triangles on one side, in the plane, and vertices in the plane as well.
module it_unit #(parameter MULTIPLY_STAGES = 2, parameter ADD_STAGES = 1) (
	input  logic        clk, reset,
	input  logic        start,
	input  logic        closed,
	input  logic [31:0] largest, // coordinate after the first transformation
	output logic        reading,
	output logic [3:0]  read_line, // of lines 51 to 65
	input  logic [31:0] read_i, read_k,
	output logic        done,      // a pulse, with the verdict
	output logic        hit,
	output logic        apart,     // the other direction cannot find a hit either
	output logic        edge_event, skipped_event, coplanar_event
);
	localparam [31:0] ONE = 32'h3F800000, TWO_TO_MINUS_20 = 32'h35800000;

	// ---- comparisons; a NaN is neither ----
	function automatic is_nan(input [31:0] x);
		is_nan = x[30:0] > 31'h7F800000;
	endfunction
	function automatic is_positive(input [31:0] x);
		is_positive = !x[31] && x[30:0] != 0 && !is_nan(x);
	endfunction
	function automatic is_negative(input [31:0] x);
		is_negative = x[31] && x[30:0] != 0 && !is_nan(x);
	endfunction
	function automatic [31:0] key(input [31:0] x);
		key = x[30:0] == 0 ? 32'h80000000 : x[31] ? ~x : x | 32'h80000000;
	endfunction
	function automatic at_most(input [31:0] x, input [31:0] y);
		at_most = !is_nan(x) && !is_nan(y) && key(x) <= key(y);
	endfunction
	function automatic [1:0] following(input [1:0] vertex);
		following = vertex == 2'd2 ? 2'd0 : vertex + 2'd1;
	endfunction

	// ---- state ----
	localparam [3:0] IDLE = 0, LOAD_Z = 1, SNAP = 2, LOAD_XY = 3, LOAD_EDGE = 4, EDGE = 5, RUN = 6, HIT = 7, MISS = 8, APART = 9;
	logic [3:0] state;
	logic [31:0] x [0:2]; // the vertices; for the printed test P and Q of an edge
	logic [31:0] y [0:2];
	logic [31:0] z [0:2];
	logic [31:0] t [0:7];
	logic [7:0] pending;  // temporaries that are being computed
	logic [2:0] loads;
	logic [1:0] corner;   // of the current edge
	logic [1:0] other;    // vertex that is compared with an edge in the plane
	logic swapped;        // edges of the triangle, vertices of the unit triangle
	logic [4:0] pc;

	// ---- loading ----
	logic [3:0] edge_line;
	assign edge_line = corner == 2'd0 ? 4'd0 : corner == 2'd1 ? 4'd5 : 4'd10;
	assign reading = state == LOAD_Z || state == LOAD_XY || state == LOAD_EDGE;
	always_comb begin
		case (state)
		LOAD_Z: read_line = edge_line + 4'd1;
		LOAD_XY: read_line = edge_line + (loads[0] ? 4'd2 : 4'd0);
		default: read_line = edge_line + {1'b0, loads};
		endcase
	end

	logic [1:0] p, q; // registers of the edge's ends
	assign p = closed ? corner : 2'd0;
	assign q = closed ? following(corner) : 2'd1;
	logic crosses;
	assign crosses = (is_positive(z[p]) && is_negative(z[q])) || (is_negative(z[p]) && is_positive(z[q]));

	// ---- the program ----
	localparam [1:0] MULTIPLY = 0, ADD = 1, SUBTRACT = 2, DECIDE = 3;
	localparam [4:0] T0 = 0, T1 = 1, T2 = 2, T3 = 3, T4 = 4, T5 = 5, PX = 8, PY = 9, PZ = 10, QX = 11, QY = 12,
		QZ = 13, S0X = 14, S0Y = 15, S1X = 16, S1Y = 17, S2X = 18, S2Y = 19, OX = 20, OY = 21;
	localparam [4:0] PIERCES = 0, IN_UNIT = 9, TURN = 11, SIDE = 18, SIDE_OTHER = 20;
	logic [14:0] instruction; // operation, operands, destination
	always_comb begin
		case (pc)
		// Equation 4
		5'd0: instruction = {MULTIPLY, PX, QZ, 3'd0};
		5'd1: instruction = {MULTIPLY, QX, PZ, 3'd1};
		5'd2: instruction = {MULTIPLY, PY, QZ, 3'd2};
		5'd3: instruction = {MULTIPLY, QY, PZ, 3'd3};
		5'd4: instruction = {SUBTRACT, QZ, PZ, 3'd6};
		5'd5: instruction = {SUBTRACT, T0, T1, 3'd4};
		5'd6: instruction = {SUBTRACT, T2, T3, 3'd5};
		5'd7: instruction = {ADD, T4, T5, 3'd7};
		5'd8: instruction = {DECIDE, T0, T0, 3'd0};
		// a vertex in the plane
		5'd9: instruction = {ADD, PX, PY, 3'd7};
		5'd10: instruction = {DECIDE, T0, T0, 3'd0};
		// the sense of rotation of the triangle whose edges may separate
		5'd11: instruction = {SUBTRACT, S1X, S0X, 3'd0};
		5'd12: instruction = {SUBTRACT, S2Y, S0Y, 3'd1};
		5'd13: instruction = {SUBTRACT, S1Y, S0Y, 3'd2};
		5'd14: instruction = {SUBTRACT, S2X, S0X, 3'd3};
		5'd15: instruction = {MULTIPLY, T0, T1, 3'd4};
		5'd16: instruction = {MULTIPLY, T2, T3, 3'd5};
		5'd17: instruction = {SUBTRACT, T4, T5, 3'd7};
		// the side of its edge P-Q on which a vertex O of the other triangle lies
		5'd18: instruction = {SUBTRACT, QX, PX, 3'd0};
		5'd19: instruction = {SUBTRACT, QY, PY, 3'd1};
		5'd20: instruction = {SUBTRACT, OY, PY, 3'd2};
		5'd21: instruction = {SUBTRACT, OX, PX, 3'd3};
		5'd22: instruction = {MULTIPLY, T0, T2, 3'd4};
		5'd23: instruction = {MULTIPLY, T1, T3, 3'd5};
		5'd24: instruction = {SUBTRACT, T4, T5, 3'd6};
		default: instruction = {DECIDE, T0, T0, 3'd0};
		endcase
	end
	logic [1:0] operation;
	logic [4:0] code_a, code_b;
	logic [2:0] destination;
	assign {operation, code_a, code_b, destination} = instruction;

	// In the plane, one of the two triangles is the unit triangle.
	function automatic [31:0] unit(input [1:0] vertex, input is_y);
		unit = vertex == (is_y ? 2'd2 : 2'd1) ? ONE : 32'd0;
	endfunction
	logic coplanar;
	function automatic [31:0] operand(input [4:0] code);
		logic [1:0] vertex;
		logic from_unit;
		begin
			case (code)
			PX, PY, PZ: vertex = p;
			QX, QY, QZ: vertex = q;
			S0X, S0Y: vertex = 2'd0;
			S1X, S1Y: vertex = 2'd1;
			S2X, S2Y: vertex = 2'd2;
			default: vertex = other;
			endcase
			from_unit = coplanar && ((code == OX || code == OY) ? swapped : !swapped);
			case (code)
			PZ, QZ: operand = z[vertex];
			PX, QX, S0X, S1X, S2X, OX: operand = from_unit ? unit(vertex, 1'b0) : x[vertex];
			PY, QY, S0Y, S1Y, S2Y, OY: operand = from_unit ? unit(vertex, 1'b1) : y[vertex];
			default: operand = t[code[2:0]];
			endcase
		end
	endfunction

	logic operands_there, issues, tolerance;
	assign operands_there = !(code_a < 5'd8 && pending[code_a[2:0]]) && !(code_b < 5'd8 && pending[code_b[2:0]]) &&
		!pending[destination];
	assign issues = state == RUN && operation != DECIDE && operands_there;
	assign tolerance = state == LOAD_Z && corner == 2'd0;
	logic [31:0] a, b;
	always_comb begin
		a = 0;
		b = 0;
		if (issues) begin
			a = operand(code_a);
			b = operand(code_b);
			if (operation == SUBTRACT)
				b[31] = !b[31];
		end else if (tolerance) begin
			a = largest;
			b = TWO_TO_MINUS_20;
		end
	end
	logic product_valid, sum_valid;
	logic [31:0] product, sum;
	logic [2:0] product_to, sum_to;
	float_multiply #(.STAGES(MULTIPLY_STAGES)) multiply (.clk(clk), .valid((issues && operation == MULTIPLY) || tolerance), .a(a),
		.b(b), .valid_out(product_valid), .product(product));
	float_add #(.STAGES(ADD_STAGES)) add (.clk(clk), .valid(issues && operation != MULTIPLY), .a(a), .b(b),
		.valid_out(sum_valid), .sum(sum));
	delay_line #(.WIDTH(3), .DEPTH(MULTIPLY_STAGES)) product_tag (.clk(clk), .d(tolerance ? 3'd0 : destination), .q(product_to));
	delay_line #(.WIDTH(3), .DEPTH(ADD_STAGES)) sum_tag (.clk(clk), .d(destination), .q(sum_to));

	// ---- decisions ----
	logic decides, pierces, in_unit, outside;
	assign decides = state == RUN && operation == DECIDE && pending == 0;
	always_comb begin
		pierces = 1'b0;
		in_unit = 1'b0;
		outside = 1'b0;
		if (decides) begin
			if (is_positive(t[6]))
				pierces = at_most(0, t[4]) && at_most(0, t[5]) && at_most(t[7], t[6]);
			else
				pierces = at_most(t[4], 0) && at_most(t[5], 0) && at_most(t[6], t[7]);
			in_unit = at_most(0, x[p]) && at_most(0, y[p]) && at_most(t[7], ONE);
			outside = is_positive(t[7]) ? is_negative(t[6]) : is_positive(t[6]);
		end
	end

	logic [31:0] snapped [0:2];
	logic [2:0] above, below;
	always_comb
		for (int i = 0; i < 3; i = i + 1) begin
			snapped[i] = z[i];
			above[i] = 1'b0;
			below[i] = 1'b0;
			if (state == SNAP) begin
				if (at_most({1'b0, z[i][30:0]}, t[0]))
					snapped[i] = 0;
				above[i] = is_positive(snapped[i]);
				below[i] = is_negative(snapped[i]);
			end
		end

	assign edge_event = state == EDGE;
	assign skipped_event = state == EDGE && !crosses;
	assign coplanar_event = state == LOAD_XY && loads == 3'd0 && corner == 2'd0 && coplanar;
	assign done = state == HIT || state == MISS || state == APART;
	assign hit = state == HIT;
	assign apart = state == APART;

	// To the next edge, or the verdict of a triangle without a hit.
	task automatic next_edge;
		begin
			corner <= corner + 2'd1;
			loads <= 0;
			if (corner == 2'd2)
				state <= MISS;
			else
				state <= closed ? EDGE : LOAD_EDGE;
		end
	endtask

	always_ff @(posedge clk) begin
		if (product_valid) begin
			t[product_to] <= product;
			pending[product_to] <= 1'b0;
		end
		if (sum_valid) begin
			t[sum_to] <= sum;
			pending[sum_to] <= 1'b0;
		end
		if (issues)
			pending[destination] <= 1'b1;
		case (state)
		IDLE: if (start) begin
			state <= closed ? LOAD_Z : LOAD_EDGE;
			corner <= 0;
			loads <= 0;
			pending <= 0;
			coplanar <= 1'b0;
		end
		LOAD_Z: begin
			if (tolerance)
				pending[0] <= 1'b1;
			z[corner] <= read_k;
			corner <= following(corner);
			if (corner == 2'd2)
				state <= SNAP;
		end
		SNAP: if (pending == 0) begin
			z[0] <= snapped[0];
			z[1] <= snapped[1];
			z[2] <= snapped[2];
			coplanar <= above == 0 && below == 0;
			state <= above == 3'b111 || below == 3'b111 ? APART : LOAD_XY;
		end
		LOAD_XY: begin
			loads <= loads + 1;
			if (loads[0])
				y[corner] <= read_i;
			else
				x[corner] <= read_i;
			if (loads[0])
				corner <= following(corner);
			if (loads == 3'd5) begin
				state <= coplanar ? RUN : EDGE;
				pc <= TURN;
				swapped <= 1'b0;
				other <= 0;
			end
		end
		LOAD_EDGE: begin
			loads <= loads + 1;
			case (loads)
			3'd0: begin x[0] <= read_i; z[1] <= read_k; end
			3'd1: begin x[1] <= read_i; z[0] <= read_k; end
			3'd2: y[0] <= read_i;
			default: begin y[1] <= read_i; state <= EDGE; end
			endcase
		end
		EDGE: begin
			if (closed && z[p][30:0] == 0) begin
				state <= RUN;
				pc <= IN_UNIT;
			end else if (crosses) begin
				state <= RUN;
				pc <= PIERCES;
			end else
				next_edge();
		end
		RUN: begin
			if (issues)
				pc <= pc + 1;
			if (decides) begin
				if (!coplanar) begin
					if (pc == IN_UNIT + 1 ? in_unit : pierces)
						state <= HIT;
					else
						next_edge();
				end else if (outside && other != 2'd2) begin
					other <= other + 2'd1;
					pc <= SIDE_OTHER;
				end else if (outside) begin
					state <= APART; // the whole triangle is outside of this edge
				end else begin
					other <= 0;
					corner <= following(corner);
					pc <= SIDE;
					if (corner == 2'd2) begin
						swapped <= 1'b1;
						pc <= TURN;
						if (swapped)
							state <= HIT;
					end
				end
			end
		end
		default: state <= IDLE; // HIT, MISS, APART
		endcase
		if (reset)
			state <= IDLE;
	end
endmodule
