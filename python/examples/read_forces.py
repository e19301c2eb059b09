"""A loop that reads forces while it works, as training does, and how the real-time loop kept its time meanwhile.
    read_forces.py [--seconds S] [--idle]"""
import argparse
import time

import tactus

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=3)
parser.add_argument("--idle", action="store_true", help="sleep between reads instead of computing")
options = parser.parse_args()

with tactus.Session("sphere") as session:
    first = session.snapshot()
    reads, longest_ns, largest_N = 0, 0, 0.0
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        s = session.snapshot()  # the observation
        reads += 1
        longest_ns = max(longest_ns, s.compute_ns)
        largest_N = max(largest_N, abs(s.force_N[2]))
        if options.idle:
            time.sleep(0.001)
        else:
            sum(i * i for i in range(5000))  # the work, which keeps the interpreter busy
    last, timing = session.snapshot(), session.timing()
    print(f"{reads} reads, largest force {largest_N:.3f} N, longest tick seen {longest_ns / 1e3:.1f} us")
    print(f"ticks {last.tick - first.tick} in {(last.time_ns - first.time_ns) / 1e9:.3f} s")
    print(f"ticks {timing.ticks}, missed {timing.misses}, skipped {timing.skipped}, causes {timing.misses_by_cause}")
