#!/usr/bin/env python3
"""Proves properties of the gates: yosys makes an and-inverter graph of each harness, ABC checks it.

    check.py [--seconds N] SOURCE-FOLDER SCRATCH-FOLDER

Each harness is checked for every input and every length (property directed reachability) where that ends in time, else to
a stated number of clocks. Then seeded bugs, one at a time, must be found. Exit code 77: no yosys here."""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import time

# harness, files, whether the proof ends, clocks of the bounded check
HARNESSES = {
    "formal_fifo": (["hit_fifo"], True, 20),
    "formal_registers": (["pci_interface"], True, 10),
    "formal_fetch": (["sdram_interface"], False, 20),
    "formal_stack": (["stack_engine"], False, 18),
}
# harness, text of its unit, replacement
BUGS = [
    ("formal_fifo", "count >= capacity", "count > capacity"),
    ("formal_fifo", "pop && count != 0", "pop"),
    ("formal_fifo", "last <= last + 1", "last <= last + {1'b0, !pops}"),
    ("formal_registers", "(raised && busy)", "(raised && busy && !write)"),
    ("formal_registers", "(!busy || halts) && (err == ERROR_NONE || write_data[CTRL_RESET])", "(!busy || halts)"),
    ("formal_registers", "if (write && exists && !busy)", "if (write && exists)"),
    ("formal_fetch", "slots != 3'd4", "1'b1"),
    ("formal_fetch", "&& !outstanding[3]", ""),
    ("formal_fetch", "!word_valid && !list_got", "!word_valid"),
    ("formal_stack", "left == 0) ||", "1'b0) ||"),
    ("formal_stack", "base1 + length1, words)", "base1 + length1 + 1, words)"),
    ("formal_stack", "base0 <= side0 ? used0 : used1", "base0 <= used0"),
]


def graph(harness, files, top_file, out):
    # A quoted path may have spaces, a folder of includes may not: it is the working folder.
    sources = " ".join(f'"{file}"' for file in [*files, top_file])
    script = (f"read_verilog -formal -sv -I. {sources}; prep -top {harness} -flatten; "
              "memory_map; chformal -cover -remove; async2sync; opt -full; techmap; opt -fast; dffunmap; abc -g AND -fast; opt_clean; "
              f"write_aiger -I -B -zinit -no-startoffset \"{out}\"")
    done = subprocess.run(["yosys", "-q", "-p", script], capture_output=True, text=True, cwd=files[0].parent)
    if done.returncode != 0:
        sys.exit(f"check: {harness}: {done.stdout}{done.stderr}")


def abc(out, command, seconds):
    done = subprocess.run(["yosys-abc", "-c", f"read_aiger {out.name}; fold; strash; {command}"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=seconds + 120, cwd=out.parent)
    return done.stdout


def check(harness, files, top_file, scratch, proves, clocks, seconds):
    """('proved' | 'no error in N clocks' | 'error in clock N', whether an error was found)."""
    out = scratch / f"{harness}.aig"
    graph(harness, files, top_file, out)
    text = abc(out, f"bmc3 -F {clocks} -T {seconds}", seconds)
    found = re.search(r"asserted in frame (\d+)", text)
    if found:
        return f"error in clock {found.group(1)}", True
    if proves:
        text = abc(out, f"pdr -T {seconds}", seconds)
        if "Property proved" in text:
            return "proved for every length", False
        if "asserted in frame" in text:
            return "error", True
        sys.exit(f"check: {harness}: expected a proof within {seconds} s, found: {text[-300:]}")
    reached = re.search(r"No output asserted in (\d+) frames", text)
    if not reached or int(reached.group(1)) < clocks:
        sys.exit(f"check: {harness}: expected {clocks} clocks within {seconds} s, found: {text[-300:]}")
    return f"no error in {clocks} clocks", False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--only", help="this harness alone")
    parser.add_argument("--clocks", type=int, default=0, help="of bounded checks, at least")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    options = parser.parse_args()
    if not shutil.which("yosys") or not shutil.which("yosys-abc"):
        print("skipped: the proofs about the gates (no yosys here; Debian: yosys)")
        sys.exit(77)
    options.scratch.mkdir(parents=True, exist_ok=True)
    chip, formal = options.source / "hardware/chip", options.source / "hardware/formal"
    missed = 0
    for harness, (units, proves, clocks) in HARNESSES.items():
        if options.only and harness != options.only:
            continue
        begin = time.monotonic()
        clocks = max(clocks, options.clocks)
        verdict, wrong = check(harness, [chip / f"{u}.sv" for u in units], formal / f"{harness}.sv", options.scratch, proves, clocks,
                               options.seconds)
        print(f"{harness}: {verdict} ({time.monotonic() - begin:.0f} s)", flush=True)
        missed += wrong
    for harness, old, new in BUGS:
        if options.only and harness != options.only:
            continue
        units, proves, clocks = HARNESSES[harness]
        original = chip / f"{units[0]}.sv"
        text = original.read_text()
        if old not in text:
            sys.exit(f"check: {original} has no '{old}'")
        folder = options.scratch / "seeded"
        folder.mkdir(exist_ok=True)
        shutil.copy(chip / "definitions.svh", folder)
        seeded = folder / original.name
        seeded.write_text(text.replace(old, new, 1))
        verdict, found = check(harness, [seeded], formal / f"{harness}.sv", options.scratch, proves, clocks, options.seconds)
        print(f"{harness} with '{new}' for '{old}': {verdict}", flush=True)
        missed += not found
    if missed:
        sys.exit(f"check: {missed} properties or seeded bugs with the wrong verdict")


if __name__ == "__main__":
    main()
