// Constants of the register map, the memory format and the events of the chip: docs/collisionchip.md in
// numbers. Included inside a module, since Debian 12's yosys does not read package imports.
/* verilator lint_off UNUSEDPARAM */
localparam [1:0] NODE_INNER = 2'd0, NODE_LEAF = 2'd1, NODE_EMPTY = 2'd2;
localparam [2:0] ERROR_NONE = 3'd0, ERROR_STACK = 3'd1, ERROR_TYPE = 3'd2, ERROR_NAN = 3'd3, ERROR_FIFO = 3'd4,
	ERROR_ADDRESS = 3'd5, ERROR_SCHEDULE = 3'd6;
// Bits of CTRL.
localparam CTRL_START = 0, CTRL_ABORT = 1, CTRL_RESET = 2, CTRL_ALL_HITS = 3, CTRL_CLOSED_TRI = 4, CTRL_SCHED = 5,
	CTRL_LAYOUT_R = 6, CTRL_IRQ_EN = 7;
// Lines of the Correspondence Register File, and of the Matrix Register File.
localparam [6:0] LINE_FORWARD = 7'd24, LINE_REVERSE = 7'd33, LINE_LEAF = 7'd42, LINE_IT = 7'd51;
localparam [5:0] MATRIX_FORWARD = 6'd24, MATRIX_REVERSE = 6'd27, MATRIX_LEAF = 6'd30;
// Operations of the Stack Engine.
localparam [3:0]
	STACK_NONE = 4'd0,
	STACK_RESET = 4'd1,   // an empty stack
	STACK_ROOT = 4'd2,    // the source list is one word, that of the aligned root
	STACK_FRAME = 4'd3,   // reserves the frame of this level
	STACK_TARGETS = 4'd4, // begins the new lists of both siblings
	STACK_APPEND = 4'd5,  // adds a word to the new list of sibling x
	STACK_FLIP = 4'd6,    // the new list of sibling x becomes the source, and another begins on the other side
	STACK_RELEASE = 4'd7, // frees the source list
	STACK_HOME = 4'd8,    // begins the (empty) new list of sibling x on its own side again
	STACK_PUSH = 4'd9,    // writes the frame; the new list of sibling x becomes the source
	STACK_CANCEL = 4'd10, // frees the frame of this level
	STACK_RETURN = 4'd11; // up to the next frame whose second list is to be done
localparam [2:0] FRAME_WORDS = 3'd6;
// Counters, in the order of their registers.
localparam COUNTERS = 24;
localparam
	C_CYCLES_TOTAL = 0, C_CYCLES_XFORM = 1, C_CYCLES_COMPARE = 2, C_CYCLES_TRI = 3, C_STALL_SDRAM = 4, C_LISTS = 5,
	C_TUMBLED_NODES = 6, C_ALIGNED_PAIRS = 7, C_ALIGNED_NODES = 8, C_OVERLAP_TESTS = 9, C_OVERLAPS = 10,
	C_TRI_TESTS_FWD = 11, C_TRI_TESTS_REV = 12, C_IT_EDGES = 13, C_IT_SKIPPED = 14, C_HITS = 15, C_DOTADD_OPS = 16,
	C_SDRAM_BURSTS = 17, C_SDRAM_BYTES = 18, C_SRAM_READS = 19, C_SRAM_WRITES = 20, C_MAX_LEVEL = 21, C_MAX_LIST = 22,
	C_MAX_SRAM_WORDS = 23;
/* verilator lint_on UNUSEDPARAM */
