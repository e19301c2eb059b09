#!/usr/bin/env python3
"""Renders the cases of a study of the force, and checks each against what a good force would be.

    tests/haptic/feel_cases.py TACTUS FOLDER

FOLDER has a scene NAME.yaml and a path NAME.in.csv for each case. Exit code 77: there is no such folder."""
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

K = 1000  # N/m, of every case
TICK_S = 1e-3
RADIUS_M = 0.005  # of the tool in d4_smooth_edge


def render(tactus, folder, name):
    """The rows of a case, numbers by column."""
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "out.csv"
        subprocess.run([tactus, "render", folder / f"{name}.yaml", "--input", folder / f"{name}.in.csv", "--output", out],
                       check=True, capture_output=True)
        with open(out) as file:
            return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def vector(row, kind):
    names = {"force": ("fx", "fy", "fz"), "torque": ("tx", "ty", "tz"), "device": ("x", "y", "z"), "sco": ("sco_x", "sco_y", "sco_z")}
    return tuple(row[name] for name in names[kind])


def lengths(rows, kind):
    return [math.hypot(*vector(row, kind)) for row in rows]


def steps(rows, kind="force"):
    return [math.dist(vector(a, kind), vector(b, kind)) for a, b in zip(rows, rows[1:])]


def dropouts(rows):
    count, strong, vanished = 0, None, False
    for i, force in enumerate(lengths(rows, "force")):
        if force > 1:
            count += vanished and strong is not None and i - strong <= 10
            strong, vanished = i, False
        vanished |= force == 0
    return count


def turned_rad(a, b):
    dot = abs(sum(a[name] * b[name] for name in ("qx", "qy", "qz", "qw")))
    return 2 * math.acos(min(dot, 1))


def over_bound(rows, slew_m_per_s=0.5, arm_m=0.03):
    """The largest step of the force, as a share of its bound."""
    return max(step / (K * (slew_m_per_s * TICK_S + 3 * (moved + arm_m * turned_rad(a, b))))
               for step, moved, a, b in zip(steps(rows), steps(rows, "device"), rows, rows[1:]))


def amplitude(values, hz):
    mean = sum(values) / len(values)
    c = sum((v - mean) * math.cos(2 * math.pi * hz * TICK_S * i) for i, v in enumerate(values))
    s = sum((v - mean) * math.sin(2 * math.pi * hz * TICK_S * i) for i, v in enumerate(values))
    return 2 * math.hypot(c, s) / len(values)


def continuous(rows, most_N):
    step, out = max(steps(rows)), dropouts(rows)
    return f"largest step {step:.3f} N, {out} dropouts", step <= most_N and out == 0


def chatters(rows, most_N):
    step, force = max(steps(rows)), lengths(rows, "force")
    zero = sum(1 for a, b, c in zip(force, force[1:], force[2:]) if b == 0 and a > 0 and c > 0)
    return f"largest step {step:.4f} N, {zero} ticks without force in contact", step <= most_N and zero == 0


def flat(rows):
    force = max(lengths(rows, "force"))
    behind = max(math.hypot(row["sco_x"] - row["x"], row["sco_y"] - row["y"]) for row in rows)
    return f"largest force {force:.3f} N, SCO {1e3 * behind:.3f} mm behind", force <= 2.02 and behind < 1e-3


def edge(rows):
    """A sphere of 5 mm over the edge of a cube of 100 mm: the ideal is the direction to the nearest point of the cube."""
    worst = stronger = 0
    for row in rows[1:]:
        at, force = vector(row, "device"), vector(row, "force")
        off = [a - max(-0.05, min(0.05, a)) for a in at]
        length, felt = math.hypot(*off), math.hypot(*force)
        if length == 0 or felt < 0.5:
            continue
        cosine = sum(a * b for a, b in zip(off, force)) / (length * felt)
        worst = max(worst, math.degrees(math.acos(max(-1, min(1, cosine)))))
        stronger = max(stronger, felt / (K * (RADIUS_M - length)) - 1)
    return f"direction within {worst:.4f} degrees, force {100 * stronger:+.3f} %", worst < 0.1 and stronger < 0.01


def spin(rows):
    most = max(abs(row["tz"]) for row in rows)
    last = abs(rows[-1]["tz"])
    return f"torque {1e3 * last:.2f} mNm sliding, {1e3 * most:.2f} mNm at most", abs(last - 4.6e-3) < 0.1e-3


def texture(rows):
    felt = [row for row in rows if row["fz"] > 0.5]
    felt = felt[len(felt) // 4:]  # the tool is in place and slides
    below = max(amplitude([row[name] for row in felt], hz) for name in ("fx", "fz") for hz in range(5, 300, 5))
    return f"below 300 Hz at most {below:.4f} N", below < 0.01


def no_torque(rows):
    most = max(lengths(rows, "torque"))
    return f"torque {most:g} Nm", most == 0


# case, what is good, check
CASES = [
    ("d1_edge_pop", "at most 0.8 N a tick", lambda rows: continuous(rows, 0.801)),
    ("d1_coarse_ball", "at most 0.8 N a tick", lambda rows: continuous(rows, 0.801)),
    ("d2_receding_box6", "0.04 N a tick", lambda rows: chatters(rows, 0.0405)),
    ("d2_receding_sphere", "0.04 N a tick", lambda rows: chatters(rows, 0.0405)),
    ("d3_flat_on_flat", "2.01 N, SCO less than 1 mm behind", flat),
    ("d4_smooth_edge", "0 degrees, +0 %", edge),
    ("d5_spin_friction", "4.6 mNm", spin),
    ("d6_full_law_wrong_K", "at most 0.8 N a tick", lambda rows: continuous(rows, 0.801)),
    ("d7_texture_alias", "nothing below the true frequency", texture),
    ("d9_axes3_torque", "0", no_torque),
]


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    tactus, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    if not folder.is_dir():
        print(f"skipped: no folder {folder}")
        return 77
    bad = 0
    for name, good, check in CASES:
        rows = render(tactus, folder, name)
        found, passed = check(rows)
        bad += not passed
        print(f"{'good' if passed else 'BAD '}  {name:20} wanted {good:34} found {found}; {over_bound(rows):.2f} of the bound", flush=True)
    print(f"{len(CASES)} cases, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
