#!/usr/bin/env python3
"""Breaks the gates on purpose, one edit at a time, and checks that the tests notice.

    mutate.py SOURCE-FOLDER SCRATCH-FOLDER VERILATOR-INCLUDE CXX UNIT-TEST CHIP-TEST…

Each mutant is translated and compiled, and the tests run on it until one fails: first that of the units if the edit is in
one of them, then those of the whole chip. At least 38 of 40 must be caught; those in EQUIVALENT change nothing that can be
seen, and say why."""
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
    ("register_files", ">= 5'd24 || write_data[9:5]", ">= 5'd25 || write_data[9:5]"),
    ("register_files", "{4'b0, row[9:5]} >= now", "{4'b0, row[9:5]} > now"),
    ("register_files", "!= 24'hFFFFFF", "!= 24'hFFFFFE"),
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
]
# index in MUTATIONS: why nothing changes
EQUIVALENT = {
    14: "with 6 stages the second pass begins in clock 12 or later, and the map is loaded in clock 12; deeper pipelines need it",
    36: "START reports the error a few clocks earlier, while bursts of the query before it still arrive",
}
NEEDED = 38
# What tests/hardware/units_top.sv has.
UNITS = {"float_multiply", "float_add", "float_round", "dotadd", "register_files", "results_bank", "it_unit", "stack_engine"}


def build(source, folder, include, cxx, top, plugin, library):
    """Translates the module of the file `top` in the mutant's folder, and compiles it with `plugin`."""
    files = [str(f) for part in ("chip", "board") for f in sorted((folder / "hardware" / part).glob("*.sv"))]
    generated = folder / f"{top.stem}_generated"
    translate = ["verilator", "--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "-Wno-fatal", "-Wno-lint",
                 "--top-module", top.stem, f"-I{folder}/hardware/chip", "--Mdir", str(generated), *files, str(top)]
    model = folder / f"{top.stem}.cpp"
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


def caught_by(source, folder, include, cxx, unit, unit_test, chip_tests):
    """The test that fails on the mutant, or None."""
    if unit:
        library = folder / "librtl_units.so"
        build(source, folder, include, cxx, source / "tests/hardware/units_top.sv", source / "tests/hardware/units_plugin.cpp",
              library)
        if fails(unit_test, "TACTUS_RTL_UNITS", library):
            return unit_test
    library = folder / "libtactus_rtl.so"
    build(source, folder, include, cxx, source / "hardware/simulation/simulation_top.sv",
          source / "hardware/simulation/rtl_plugin.cpp", library)
    return next((test for test in chip_tests if fails(test, "TACTUS_RTL", library)), None)


def main():
    source, scratch, include, cxx = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    caught, survivors = 0, []
    for number, (name, old, new) in enumerate([("none", "", "")] + MUTATIONS, -1):
        folder = scratch / "mutant"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source / "hardware", folder / "hardware")
        if number >= 0:
            file = folder / "hardware/chip" / f"{name}.sv"
            text = file.read_text()
            if old not in text:
                sys.exit(f"mutate: {name}.sv has no '{old}'")
            file.write_text(text.replace(old, new, 1))
        by = caught_by(source, folder, include, cxx, number < 0 or name in UNITS, sys.argv[5], sys.argv[6:])
        if number < 0:
            if by:
                sys.exit(f"mutate: {by} fails on the gates as they are")
            continue
        caught += by is not None
        if by is None:
            survivors.append(number)
        verdict = f"caught by {pathlib.Path(by).name}" if by else "NOT caught: " + EQUIVALENT.get(number, "unexplained")
        print(f"{number:2} {name}: '{old.strip()}' -> '{new.strip()}': {verdict}", flush=True)
    print(f"{caught} of {len(MUTATIONS)} mutations caught")
    if caught < NEEDED or any(s not in EQUIVALENT for s in survivors):
        sys.exit("mutate: a mutation that matters was not caught")


if __name__ == "__main__":
    main()
