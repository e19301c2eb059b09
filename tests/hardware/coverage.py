#!/usr/bin/env python3
"""Line coverage of the gates by the tests of whole queries and of the front end.

    coverage.py SOURCE-FOLDER SCRATCH-FOLDER VERILATOR-INCLUDE CXX TEST…

Builds the gates with verilator --coverage-line, runs the tests on them, and prints the lines that no test reached. At least
98 % must be reached, and the others explained."""
import os
import pathlib
import re
import subprocess
import sys

NEEDED = 98.0
# What these tests cannot reach, and why.
EXPLAINED = {
    "it_unit.sv: SNAP: if (pending == 0) begin": "only a deeper pipeline than that of these tests waits here",
    "triangle_unit.sv: default: state <= IDLE;": "no such state",
}
# Each chip writes its counts when it is destroyed. At the end of the process it is too late: Verilator's own objects are gone then.
WRITER = """
	~tac_rtl()
	{
		static int chips;
		const std::string name = std::getenv("RTL_COVERAGE");
		context.coveragep()->write((name + std::to_string(chips++) + ".dat").c_str());
	}
};

namespace
{

const unsigned char *bytes_at("""
CHANCE = "static_cast<uint32_t>(rtl->now * 0x9E3779B1u) >> 30 == 0"  # one clock of four


def main():
    source, scratch, include, cxx = (pathlib.Path(a) for a in sys.argv[1:5])
    scratch.mkdir(parents=True, exist_ok=True)
    hardware = source / "hardware"
    files = [str(f) for part in ("chip", "board", "simulation") for f in sorted((hardware / part).glob("*.sv"))]
    generated = scratch / "generated"
    subprocess.run(["verilator", "--cc", "--coverage-line", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert",
                    "-Wno-lint", "--top-module", "simulation_top", f"-I{hardware}/chip", "--Mdir", str(generated), *files], check=True)
    model = scratch / "model.cpp"
    model.write_text("".join(f'#include "{f}"\n' for f in sorted(generated.glob("*.cpp"))))
    plugin = scratch / "plugin.cpp"
    text = (hardware / "simulation/rtl_plugin.cpp").read_text()
    text, edits = re.subn(r"\};\n\nnamespace\n\{\n\nconst unsigned char \*bytes_at\(", lambda found: WRITER, text)
    if edits != 1:
        sys.exit("coverage: expected one tac_rtl in rtl_plugin.cpp")
    # Memories that are ready in one clock of four, at random: the plain ones take every request at once.
    text, edits = re.subn(r"memory\.count < REQUESTS", lambda found: f"(memory.count < REQUESTS && {CHANCE})", text)
    text, byte_edits = re.subn(r"byte_ready = 1;", lambda found: f"byte_ready = {CHANCE};", text)
    if (edits, byte_edits) != (2, 1):
        sys.exit("coverage: expected two conditions on REQUESTS and one byte_ready in rtl_plugin.cpp")
    plugin.write_text('#include "verilated_cov.h"\n#include <cstdlib>\n#include <string>\n' + text)
    library = scratch / "libtactus_rtl.so"
    subprocess.run([str(cxx), "-std=c++17", "-O2", "-w", "-fPIC", "-shared", "-fvisibility=hidden", "-DVM_COVERAGE=1", f"-I{source}",
                    f"-I{generated}", f"-I{include}", f"-I{include}/vltstd", str(plugin), str(model), f"{include}/verilated.cpp",
                    f"{include}/verilated_cov.cpp", f"{include}/verilated_threads.cpp", "-lpthread", "-o", str(library)], check=True)
    for old in scratch.glob("*.dat"):
        old.unlink()
    for number, test in enumerate(sys.argv[5:]):
        subprocess.run([test], env={**os.environ, "TACTUS_RTL": str(library), "RTL_COVERAGE": str(scratch / f"{number}-")},
                       check=True, stdout=subprocess.DEVNULL)
        if not any(scratch.glob(f"{number}-*.dat")):
            sys.exit(f"coverage: {test} wrote no counts")
    points = {}
    for counts in scratch.glob("*.dat"):
        for line in counts.read_text(errors="replace").splitlines():
            found = re.match(r"C '(.*)' (\d+)$", line)
            if not found:
                continue
            fields = dict(f.split("\x02", 1) for f in found.group(1).split("\x01") if "\x02" in f)
            place = (pathlib.Path(fields["f"]).name, int(fields["l"]), fields.get("o", ""))
            points[place] = points.get(place, 0) + int(found.group(2))
    unexplained = 0
    reached = sum(1 for hits in points.values() if hits)
    for (file, line, what), hits in sorted(points.items()):
        if not hits:
            text = next(hardware.glob(f"*/{file}")).read_text().splitlines()[line - 1].strip()
            print(f"not reached: {file}:{line} {what}: {text} ({EXPLAINED.get(f'{file}: {text}', 'unexplained')})")
            unexplained += f"{file}: {text}" not in EXPLAINED
    percent = 100.0 * reached / len(points)
    print(f"{percent:.1f} % of {len(points)} lines reached")
    if percent < NEEDED or unexplained:
        sys.exit(f"coverage: expected {NEEDED} % and a reason for each line that is not reached")


if __name__ == "__main__":
    main()
