#!/usr/bin/env python3
"""Mutates mesh files and runs them through `tactus mesh`: whatever the file, the command must answer with a valid
JSON object and exit code 0, or with one line and exit code 2.

usage: mutate.py TACTUS FOLDER SECONDS [SEED] [IMPORTER]

FOLDER holds the seeds, for example /usr/share/assimp/models of Debian's assimp-testmodels. With IMPORTER, a
tactus-import built with the address sanitizer, each file goes through that directly, and reports whose innermost
frames are in our sources are counted as ours.
"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
import time

SKIP = {".png", ".jpg", ".jpeg", ".tga", ".bmp", ".txt", ".md", ".bin", ".mtl", ".glsl", ".max", ".skp", ".wings"}
LARGEST = 200_000
NUMBERS = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7F800000, 0x7FC00000]


def seeds(folder):
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            if os.path.splitext(name)[1].lower() not in SKIP and 0 < os.path.getsize(path) <= LARGEST:
                yield path


def mutate(rng, data, other):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        at = rng.randrange(len(data)) if data else 0
        kind = rng.randrange(8)
        if kind == 0 and data:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at:at + 4] = rng.choice(NUMBERS).to_bytes(4, rng.choice(["little", "big"]))
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at:at + rng.randrange(1, 64)]
        elif kind == 4:
            data[at:at] = data[at:at + rng.randrange(1, 64)] * rng.randrange(1, 20)
        elif kind == 5 and other:
            start = rng.randrange(len(other))
            data[at:at + 32] = other[start:start + 32]
        elif kind == 6:
            data[at:at] = rng.choice([b"nan", b"-1", b"1e999", b"99999999999", b"inf", b"{", b"[", b"\0", b"\n"])
        else:
            data[at:at + rng.randrange(1, 16)] = rng.randbytes(rng.randrange(1, 16))
    return bytes(data)


def run_command(command, path, counts):
    done = subprocess.run([command, "mesh", path, "--json"], capture_output=True, timeout=120)
    if done.returncode == 0 and not done.stderr:
        json.loads(done.stdout)
        counts["loaded"] += 1
    elif done.returncode == 2 and done.stderr.count(b"\n") == 1 and not done.stdout:
        crashed, stopped = b"crashed" in done.stderr, b"was stopped" in done.stderr
        counts["importer crashed" if crashed else "importer stopped" if stopped else "refused"] += 1
    else:
        counts["WRONG"] += 1
        return False
    return True


def run_sanitized(importer, path, counts):
    try:
        # The descriptors of collision/import/sandbox.h.
        done = subprocess.run(["sh", "-c", 'exec "$0" "$1" 3>/dev/null 4<"$2" 5<"$3"', importer,
                               os.path.basename(path), path, os.path.dirname(path) or "."],
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=20)
    except subprocess.TimeoutExpired:
        counts["sanitized importer stopped"] += 1
        return True
    report = [line for line in done.stderr.decode(errors="replace").splitlines() if "    #" in line][:3]
    ours = any("mesh_" in line and ".c:" in line for line in report) or b"runtime error" in done.stderr
    counts["OUR REPORT" if ours else "reports in assimp" if report else "no report"] += 1
    return not ours


def main():
    command, folder, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    importer = sys.argv[5] if len(sys.argv) > 5 else None
    files = sorted(seeds(folder))
    counts = collections.Counter()
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as work:
        while time.monotonic() < end:
            seed, other = rng.choice(files), rng.choice(files)
            path = os.path.join(work, "mutant" + os.path.splitext(seed)[1])
            with open(seed, "rb") as a, open(other, "rb") as b, open(path, "wb") as out:
                out.write(mutate(rng, a.read(), b.read()))
            if not (run_sanitized(importer, path, counts) if importer else run_command(command, path, counts)):
                keep = f"wrong_{counts.total()}" + os.path.splitext(seed)[1]
                os.rename(path, keep)
                print("kept", keep, "from", seed)
    print(len(files), "seeds,", counts.total(), "mutants:", dict(counts))
    return 1 if counts["WRONG"] or counts["OUR REPORT"] else 0


if __name__ == "__main__":
    sys.exit(main())
