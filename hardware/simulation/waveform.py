#!/usr/bin/env python3
"""Draws the timing diagram of docs/rtl.md from the waveform of a query.

    waveform.py SOURCE-FOLDER SCRATCH-FOLDER VERILATOR-INCLUDE CXX TACTUS OUTPUT.svg

Translates the gates with verilator --trace, lets `tactus query --collider rtl` run one query on them, and draws clocks of
SCRATCH-FOLDER/query.vcd, which a viewer of waveforms opens too."""
import os
import pathlib
import subprocess
import sys

# Two tetrahedra whose surfaces cross.
MESHES = {"a.off": (0, 0, 0), "b.off": (0.25, 0.25, 0.25)}
FACES = "3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"
SHOWN = 200 # clocks
POSES = "1 0 0 0 1 0 0 0 1 0 0 0\n"
# The plain plugin with one VCD file for the first chip.
MEMBERS = """	VerilatedVcdC trace;
	bool traced;
	uint64_t now;
"""
OPEN = """		static bool first = true;
		traced = first;
		first = false;
		context.traceEverOn(true);
		if (traced) {
			top.trace(&trace, 9);
			trace.open(std::getenv("RTL_TRACE"));
		}
	}
	~tac_rtl()
	{
		trace.close();
	}
"""
DUMP = """	top.eval();
	if (rtl->traced) {
		rtl->trace.dump(rtl->now);
		rtl->trace.flush(); // the process may end without destroying the chip
	}
	rtl->now++;
"""
STATES = ("IDLE", "DRAIN", "CHECK", "CLEAR", "ROOT", "LOAD", "TRANSFORM", "SCAN", "LEAF SCAN", "NEXT", "RETURN", "WAIT")
# label, signal below simulation_top, how it is drawn: a level, a named state, a pulse with the value of another signal
ROWS = [
    ("master: state", "chip.master.state", STATES),
    ("SDRAM: request", "chip.memory_request", None),
    ("SDRAM: beat", "chip.memory_valid", None),
    ("AG 1: word into the DOP file", "chip.ag1_write", "chip.ag1_index"),
    ("AG 2: row into DOTADD", "chip.ag2_issue", "chip.ag2_line"),
    ("AG 3: result into the bank", "chip.result_stored", None),
    ("e bank: beat of an aligned node", "chip.e_write", None),
    ("48 comparators", "chip.compare", None),
    ("Stack Engine: word written", "chip.word_written", None),
]
STYLE = """.wave { font: 11px/1.3 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; --paper: #ffffff; --ink: #1b2330;
	--dim: #5b6675; --grid: #e3e7ec; --line: #0b63ce; --fill: #dbe8f8; }
@media (prefers-color-scheme: dark) {
	.wave { --paper: #12161c; --ink: #e6ebf2; --dim: #97a3b2; --grid: #272f39; --line: #58a6ff; --fill: #1d3552; }
}
.wave .paper { fill: var(--paper); }
.wave text { fill: var(--dim); }
.wave .name, .wave .title { fill: var(--ink); }
.wave .title { font-size: 14px; font-weight: 600; }
.wave .value { fill: var(--ink); font-size: 9px; text-anchor: middle; }
.wave .grid { stroke: var(--grid); }
.wave .level { stroke: var(--line); fill: none; stroke-width: 1.2; }
.wave .box { stroke: var(--line); fill: var(--fill); }
"""


def replace(text, old, new):
    if old not in text:
        sys.exit(f"waveform: rtl_plugin.cpp has no '{old}'")
    return text.replace(old, new, 1)


def build(source, scratch, include, cxx):
    hardware, generated = source / "hardware", scratch / "generated"
    files = [str(f) for part in ("chip", "board") for f in sorted((hardware / part).glob("*.sv"))]
    subprocess.run(["verilator", "--cc", "--trace", "-Wno-lint", "--top-module", "simulation_top", f"-I{hardware}/chip", "--Mdir",
                    str(generated), *files, str(hardware / "simulation/simulation_top.sv")], check=True)
    (scratch / "model.cpp").write_text("".join(f'#include "{f}"\n' for f in sorted(generated.glob("*.cpp"))))
    text = (hardware / "simulation/rtl_plugin.cpp").read_text()
    text = replace(text, "#include <verilated.h>", "#include <verilated_vcd_c.h>\n#include <cstdlib>")
    text = replace(text, "\tuint64_t now;\n", MEMBERS)
    text = replace(text, "\t\tmemory.last_bank = BANKS;\n\t}\n", "\t\tmemory.last_bank = BANKS;\n" + OPEN)
    text = replace(text, "\ttop.eval();\n\ttop.clk = 0;\n\ttop.eval();\n\trtl->now++;\n", "\ttop.eval();\n\ttop.clk = 0;\n" + DUMP)
    (scratch / "plugin.cpp").write_text(text)
    library = scratch / "libtactus_rtl.so"
    subprocess.run([str(cxx), "-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-fvisibility=hidden", f"-I{source}", f"-I{generated}",
                    f"-I{include}", f"-I{include}/vltstd", str(scratch / "plugin.cpp"), str(scratch / "model.cpp"),
                    f"{include}/verilated.cpp", f"{include}/verilated_vcd_c.cpp", f"{include}/verilated_threads.cpp", "-lpthread",
                    "-o", str(library)], check=True)
    return library


def run(scratch, library, tactus):
    for name, (x, y, z) in MESHES.items():
        corners = "".join(f"{x + a} {y + b} {z + c}\n" for a, b, c in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)))
        (scratch / name).write_text(f"OFF\n4 4 6\n{corners}{FACES}")
    (scratch / "poses.txt").write_text(POSES)
    vcd = scratch / "query.vcd"
    subprocess.run([str(tactus), "query", "a.off", "b.off", "--poses", "poses.txt", "--collider", "rtl"], cwd=scratch, check=True,
                   env={**os.environ, "TACTUS_RTL": str(library), "RTL_TRACE": str(vcd)})
    return vcd


def read_vcd(vcd, names):
    """The values of the named signals, clock by clock."""
    scope, codes, now, values, rows = [], {}, None, {}, []
    for line in vcd.read_text().splitlines():
        word = line.split()
        if line.startswith("$scope") or "$scope" in word:
            scope.append(word[2])
        elif "$upscope" in word:
            scope.pop()
        elif "$var" in word:
            codes.setdefault(".".join([*scope, word[4]]).split("simulation_top.", 1)[-1], word[3])
        elif line.startswith("#"):
            if now is not None:
                rows += [dict(values)] * (int(line[1:]) - now)
            now = int(line[1:])
        elif line[:1] == "b":
            values[word[1]] = int(word[0][1:].replace("x", "0"), 2)
        elif line[:1] in ("0", "1"):
            values[line[1:]] = int(line[0])
    rows.append(dict(values))
    missing = [n for n in names if n not in codes]
    if missing:
        sys.exit(f"waveform: {vcd.name} has no {', '.join(missing)}")
    return [{n: row.get(codes[n], 0) for n in names} for row in rows]


def runs_of(values):
    """(first, end, value) of the stretches of equal values."""
    first = 0
    for i in range(1, len(values) + 1):
        if i == len(values) or values[i] != values[first]:
            yield first, i, values[first]
            first = i


def draw(clocks, total):
    left, step, height, top = 200, 5.0, 24, 56
    width, bottom = left + step * len(clocks) + 16, top + height * len(ROWS)
    out = [f'<svg class="wave" xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:.0f} {bottom + 14}" '
           f'width="{width:.0f}" height="{bottom + 14}" aria-label="Timing of the first clocks of a query">',
           f"<style>{STYLE}</style>", f'<rect class="paper" width="{width:.0f}" height="{bottom + 14}"/>',
           f'<text class="title" x="12" y="20">The first {len(clocks)} of {total} clocks of a query: two tetrahedra</text>']
    for clock in range(0, len(clocks) + 1, 10):
        x = left + step * clock
        out += [f'<line class="grid" x1="{x}" x2="{x}" y1="{top - 6}" y2="{bottom}"/>',
                f'<text x="{x}" y="{top - 12}" text-anchor="middle">{clock}</text>']
    for number, (label, signal, how) in enumerate(ROWS):
        low = top + height * (number + 1) - 5
        high = low - height + 9
        out.append(f'<text class="name" x="12" y="{low - 3}">{label}</text>')
        values = [c[signal] for c in clocks]
        if isinstance(how, tuple): # a state
            for first, end, value in runs_of(values):
                x = left + step * first
                out.append(f'<rect class="box" x="{x}" y="{high}" width="{step * (end - first)}" height="{low - high}"/>')
                if step * (end - first) >= 6.0 * len(how[value]):
                    out.append(f'<text class="value" x="{x + step * (end - first) / 2}" y="{low - 4}">{how[value]}</text>')
            continue
        path = f"M{left} {high if values[0] else low}"
        for first, end, value in runs_of(values):
            path += f"V{high if value else low}H{left + step * end}"
            if value and how: # the first and the last index
                ends = f"{clocks[first][how]}–{clocks[end - 1][how]}" if end - first > 1 else str(clocks[first][how])
                if step * (end - first) >= 5.0 * len(ends):
                    out.append(f'<text class="value" x="{left + step * (first + end) / 2}" y="{low - 3}">{ends}</text>')
        out.append(f'<path class="level" d="{path}"/>')
    return "\n".join([*out, "</svg>", ""])


def main():
    source, scratch, include, cxx, tactus, output = (pathlib.Path(a).absolute() for a in sys.argv[1:7])
    scratch.mkdir(parents=True, exist_ok=True)
    cxx = sys.argv[4] # may be a name
    vcd = run(scratch, build(source, scratch, include, cxx), tactus)
    names = ["chip.busy", *(r[1] for r in ROWS), *(r[2] for r in ROWS if isinstance(r[2], str))]
    clocks = read_vcd(vcd, names)
    first = next(i for i, c in enumerate(clocks) if c["chip.busy"])
    total = next(i for i, c in enumerate(clocks[first:]) if not c["chip.busy"])
    output.write_text(draw(clocks[first:first + min(total, SHOWN)], total))
    print(f"{output}: {total} clocks from START to the end")


if __name__ == "__main__":
    main()
