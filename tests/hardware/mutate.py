#!/usr/bin/env python3
"""Breaks the gates on purpose, one edit at a time, and checks that the tests notice.

    mutate.py SOURCE-FOLDER SCRATCH-FOLDER VERILATOR-INCLUDE CXX BOARD-TEST UNIT-TEST CHIP-TEST…

Each mutant is translated and compiled, and the tests run on it until one fails: first that of the units if the edit is in
one of them, then those of the whole chip, with the paper's pipeline and at last the first of them with that of an FPGA; for
edits of a board's own parts that of the board. Of the chip at least 39 of 41 must be caught, and those in EQUIVALENT change
nothing that can be seen, and say why; of the board all."""
import pathlib
import shutil
import subprocess
import sys

# file, text (its first occurrence is replaced), replacement
MUTATIONS = [
    ("float_multiply", "- 10'sd126", "- 10'sd127"),
    ("float_round", "| sticky_q)", ")"),
    ("float_round", "exponent < 1", "exponent < 0"),
    ("float_multiply", "a[30:0] == 0 || b[30:0] == 0", "a[30:0] == 0"),
    ("float_add", "{aligned[53:28], |aligned[27:0]}", "{aligned[53:28], aligned[27]}"),
    ("float_round", "normal_exponent >= 1", "normal_exponent >= 0"),
    ("float_add", "greater_q[31] & lesser_q[31]", "greater_q[31]"),
    ("float_add", "b[30:0] > a[30:0] ? b : a", "b[30:0] >= a[30:0] ? b : a"),
    ("dotadd", ".a(sum1), .b(constant_late)", ".a(sum1), .b(product2_late)"),
    ("correspondence_register_file", ">= 5'd24 || write_data[9:5]", ">= 5'd25 || write_data[9:5]"),
    ("correspondence_register_file", "{4'b0, row[9:5]} >= now", "{4'b0, row[9:5]} > now"),
    ("correspondence_register_file", "!= 24'hFFFFFF", "!= 24'hFFFFFE"),
    ("address_generators", "ready[ag2_row[4:0]] && ", ""),
    ("address_generators", "now >= {1'b0, ag2_delay}", "now > {1'b0, ag2_delay}"),
    ("address_generators", "(!pass || triangle_map)", "1'b1"),
    ("address_generators", "dop_running <= !sibling && dop_second;", "dop_running <= !sibling;"),
    ("results_bank", "bits == 32'h80000000 ? 32'h80000000 : ", ""),
    ("results_bank", "e[i] < limit1[i]", "e[i] <= limit1[i]"),
    ("results_bank", "store_index - 5'd12", "store_index - 5'd11"),
    ("it_unit", "vertex == 2'd2 ? 2'd0 : vertex + 2'd1", "vertex + 2'd1"),
    ("it_unit", "at_most({1'b0, z[i][30:0]}, t[0])", "at_most({1'b0, z[i][30:0]}, 0)"),
    ("it_unit", "at_most(t[4], 0) && ", ""),
    ("it_unit", "below == 3'b111", "below == 3'b110"),
    ("it_unit", "if (swapped)\n", "if (!swapped)\n"),
    ("triangle_unit", "result_first_pass && ", ""),
    ("triangle_unit", "nan || result[30:0] > 31'h7F800000", "nan"),
    ("triangle_unit", "done = it_done && (it_hit || it_apart || reverse)", "done = it_done && (it_hit || reverse)"),
    ("stack_engine", "used0 <= parent + FRAME", "used0 <= parent"),
    ("stack_engine", "base1 <= side1 ? used0 : used1", "base1 <= used1"),
    ("stack_engine", "used1 <= read_base1", "used1 <= used1"),
    ("stack_engine", "left < FRAME", "left <= FRAME"),
    ("sdram_interface", "slots != 3'd4", "slots != 3'd5"),
    ("sdram_interface", "slot_bad[destination[1:0]] <= memory_bad", "slot_bad[destination[1:0]] <= 1'b0"),
    ("master_controller", "pair_taken && head_beats[3]", "pair_taken"),
    ("master_controller", "node_link[7:0] != 0;", "node_link[6:0] != 0;"),
    ("master_controller", "scan_pairs == 2'd2 && node_word", "node_word"),
    ("master_controller", "memory_idle && (corr_invalid", "(corr_invalid"),
    ("hit_fifo", "count >= capacity", "count > capacity"),
    ("counters", "extended(tests) + 64'd1", "extended(tests)"),
    ("pci_interface", "(!busy || halts) && (err == ERROR_NONE || write_data[CTRL_RESET])", "(!busy || halts)"),
    ("address_generators", "dop_running && sibling && dop_pair_arrived && !dop_second", "1'b0"),
]
# The same in hardware/board: what only a board has.
BOARD_MUTATIONS = [
    ("sdram_controller", "CLOCK_HZ / 1000000 * 200", "CLOCK_HZ / 1000000 * 100"),
    ("sdram_controller", "CLOCK_HZ / 1000000 * 7;", "CLOCK_HZ / 1000000 * 16;"),
    ("sdram_controller", "ROW_TO_COLUMN = 2", "ROW_TO_COLUMN = 0"),
    ("sdram_controller", "refreshes == 4'd7", "refreshes == 4'd3"),
    ("sdram_controller", "byte_address[0] ? 2'b01 : 2'b10", "2'b00"),
    ("sdram_controller", " && beside", ""),
    ("sdram_controller", "pair_address[31:25] != 0", "1'b0"),
    ("sdram_controller", "{read_late[0], read_issued}", "{read_issued, read_issued}"),
    ("sdram_controller", "block == byte_address[24:8]", "1'b1"),
    ("sdram_controller", "block_valid <= byte_read && ", "block_valid <= "),
    ("fx2_bridge", "assign step = ifclk", "assign step = 1'b1"),
    ("fx2_bridge", "slwr_n && full_n", "full_n"),
    ("fx2_bridge", "sloe_n <= 1'b1;\n\t\t\t\t\tstate <= TURN_OUT", "state <= TURN_OUT"),
    ("fx2_bridge", "&& short_q[1] && rx_ready", "&& rx_ready"),
    ("fx2_bridge", "state == SEND && tx_valid && full_n", "state == SEND && tx_valid"),
    ("board_front", "else if (memory_ready)\n", "else\n"),
]
# index in MUTATIONS: why nothing changes
EQUIVALENT = {
    15: "AG1 begins with the empty sibling 1, and the branch before ends it in the next clock, before the results of sibling 0 are out",
    36: "START reports the error a few clocks earlier, while bursts of the query before it still arrive",
}
NEEDED = 39
DEEP = ["-GMULTIPLY_STAGES=4", "-GADD_STAGES=6"]  # the 23 stages of an FPGA
# What tests/hardware/units_top.sv has.
UNITS = {"float_multiply", "float_add", "float_round", "dotadd", "correspondence_register_file", "results_bank", "it_unit", "stack_engine"}


def build(source, folder, include, cxx, top, plugin, library, options):
    """Translates the module of the file `top` in the mutant's folder, and compiles it with `plugin`."""
    files = sorted({top, *(f for part in ("chip", "board") for f in (folder / "hardware" / part).glob("*.sv"))})
    name = top.stem + ("_deep" if options else "")
    generated = folder / f"{name}_generated"
    translate = ["verilator", "--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "-Wno-fatal", "-Wno-lint",
                 "--top-module", top.stem, f"-I{folder}/hardware/chip", "--Mdir", str(generated), *options, *map(str, files)]
    model = folder / f"{name}.cpp"
    compile_ = [cxx, "-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-fvisibility=hidden", f"-I{source}", f"-I{generated}",
                f"-I{include}", f"-I{include}/vltstd", str(plugin), str(model), f"{include}/verilated.cpp",
                f"{include}/verilated_threads.cpp", "-lpthread", "-o", str(library)]
    for command in translate, compile_:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"mutate: {done.stderr}")
        model.write_text("".join(f'#include "{f}"\n' for f in sorted(generated.glob("*.cpp"))))


def fails(test, variable, library):
    try:
        environment = {variable: str(library), "PATH": "/usr/bin:/bin"}
        return subprocess.run([test], env=environment, capture_output=True, timeout=300).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def caught_by(source, folder, include, cxx, part, tests):
    """The test that fails on the mutant of `part` (unit, chip or board), or None. Tests: of the board, of the units, of the chip."""
    board_test, unit_test, *chip_tests = tests
    checks = []
    if part == "board":
        checks.append((folder / "hardware/board/collision_board.sv", "tests/hardware/board_plugin.cpp", "TACTUS_RTL", [board_test], []))
    if part == "unit":
        checks.append((source / "tests/hardware/units_top.sv", "tests/hardware/units_plugin.cpp", "TACTUS_RTL_UNITS", [unit_test], []))
    if part != "board":
        chip = (source / "hardware/simulation/simulation_top.sv", "hardware/simulation/rtl_plugin.cpp", "TACTUS_RTL")
        checks += [(*chip, chip_tests, []), (*chip, chip_tests[:1], DEEP)]
    for top, plugin, variable, tests, options in checks:
        library = folder / f"lib{top.stem}.so"
        build(source, folder, include, cxx, top, source / plugin, library, options)
        for test in tests:
            if fails(test, variable, library):
                return test
    return None


def mutant(source, folder, name, old, new):
    """Copies the gates to `folder` with one edit; None: without."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source / "hardware", folder / "hardware")
    if name is None:
        return
    file = next((folder / "hardware").glob(f"*/{name}.sv"))
    text = file.read_text()
    if old not in text:
        sys.exit(f"mutate: {name}.sv has no '{old}'")
    file.write_text(text.replace(old, new, 1))


def main():
    source, scratch, include, cxx = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    folder = scratch / "mutant"
    for part in "unit", "board":
        mutant(source, folder, None, "", "")
        by = caught_by(source, folder, include, cxx, part, sys.argv[5:])
        if by:
            sys.exit(f"mutate: {by} fails on the gates as they are")
    survivors = {}
    for where, mutations in ("chip", MUTATIONS), ("board", BOARD_MUTATIONS):
        survivors[where] = []
        for number, (name, old, new) in enumerate(mutations):
            mutant(source, folder, name, old, new)
            by = caught_by(source, folder, include, cxx, "unit" if name in UNITS else where, sys.argv[5:])
            if by is None:
                survivors[where].append(number)
            why = EQUIVALENT.get(number, "unexplained") if where == "chip" else "unexplained"
            verdict = f"caught by {pathlib.Path(by).name}" if by else f"NOT caught: {why}"
            print(f"{where} {number:2} {name}: '{old.strip()}' -> '{new.strip()}': {verdict}", flush=True)
        print(f"{len(mutations) - len(survivors[where])} of {len(mutations)} mutations of the {where} caught", flush=True)
    if (len(MUTATIONS) - len(survivors["chip"]) < NEEDED or any(s not in EQUIVALENT for s in survivors["chip"]) or
            survivors["board"]):
        sys.exit("mutate: a mutation that matters was not caught")


if __name__ == "__main__":
    main()
