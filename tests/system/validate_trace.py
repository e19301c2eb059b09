"""Checks the traces written by test_trace: strict JSON in the trace event format that ui.perfetto.dev reads.

validate_trace.py FOLDER checks each FOLDER/*.json that has a .expect file beside it, and that FOLDER/cut.json, which
a full disk truncated, can be read up to its last complete event.
"""
import collections
import decimal
import json
import math
import pathlib
import sys

CAUSES = {"none", "late wake", "stolen", "preempted", "page fault", "long compute", "blocked", "device I/O", "effect",
          "stopped", "undecided", "unknown cause"}
PHASES = ["device read", "sco", "effects", "force", "device write", "work", "publish"]
METADATA = {"process_name": "name", "thread_name": "name", "thread_sort_index": "sort_index",
            "process_labels": "labels"}
MISS_ARGS = {"index", "cause", "phase", "late_ns", "wake_ns", "compute_ns", "skipped"}
EVIDENCE_ARGS = {"cpu_ns", "others_ns", "voluntary", "involuntary", "minor_faults", "major_faults", "migrations",
                 "window_ticks"}


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(w) for w in what))


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    check(len(keys) == len(set(keys)), "duplicate keys", keys)
    return dict(pairs)


def no_constant(name):
    raise AssertionError(f"{name} is not JSON")


def parse(text):
    # Decimals keep nanoseconds exact, so that their sums can be compared.
    return json.loads(text, parse_float=decimal.Decimal, parse_constant=no_constant,
                      object_pairs_hook=no_duplicates)


def time_ns(value):
    check(isinstance(value, decimal.Decimal), "not a number with decimals:", value)
    check(value.is_finite() and value >= 0, "time out of range:", value)
    check(value.as_tuple().exponent == -3, "not in whole ns:", value)
    return int(value.scaleb(3))


def numbers_are_finite(value):
    if isinstance(value, dict):
        for inner in value.values():
            numbers_are_finite(inner)
    elif not isinstance(value, (str, bool)):
        check(isinstance(value, (int, decimal.Decimal)) and math.isfinite(value), "not a finite number:", value)


def validate(events):
    """Returns the counts of events. Raises AssertionError at the first invalid event."""
    decimal.getcontext().prec = 60
    counts = collections.Counter()
    last_ns = collections.defaultdict(int)  # of each track
    named = set()
    tick_begin = phase_end = None
    open_slices = []
    for event in events:
        check(isinstance(event, dict), "not an object:", event)
        numbers_are_finite(event)
        kind = event.get("ph")
        check(event.get("pid") == 1 and isinstance(event.get("name"), str), "no pid or name:", event)
        check(isinstance(event.get("args", {}), dict), "args:", event)
        name, args = event.get("name"), event.get("args", {})
        counts["events"] += 1

        if kind == "M":
            check(set(args) == {METADATA.get(name)}, "metadata:", event)
            check(("tid" in event) == name.startswith("thread"), "metadata of whom:", event)
            named.add((name, event.get("tid")))
            continue

        at_ns = time_ns(event.get("ts"))
        track = ("counter", name) if kind == "C" else ("thread", event.get("tid"))
        check(at_ns >= last_ns[track], "time decreases on", track, event)
        last_ns[track] = at_ns

        if kind == "B":
            check(event.get("tid") == 1, "slice off its track:", event)
            if event.get("cat") == "tick":
                check(name == "tick" and {"index", "slack_ns", "skipped"} <= set(args), "tick:", event)
                check(not open_slices, "tick inside another slice:", event)
                tick_begin, phase_end, order = at_ns, at_ns, -1
                counts["ticks"] += 1
                counts["moved"] += args.get("moved", False)
            else:
                check(event.get("cat") == "phase" and name in PHASES, "phase:", event)
                check(open_slices == ["tick"], "phase not in a tick:", event, open_slices)
                check(PHASES.index(name) > order, "phases out of order:", event)
                check(at_ns == phase_end, "gap before a phase:", event)
                order = PHASES.index(name)
                counts["phases"] += 1
            open_slices.append(name)
        elif kind == "E":
            check(event.get("tid") == 1, "slice off its track:", event)
            check(open_slices and open_slices.pop() == name, "end of another slice:", event)
            if name == "tick":
                counts["slice_ns"] += at_ns - tick_begin
                counts["ended"] += 1
            phase_end = at_ns
        elif kind == "C":
            check(name in ("wake latency", "compute") and set(args) == {"us"}, "counter:", event)
            check(at_ns == tick_begin, "counter not at its tick:", event)
            counts["counter:" + name] += 1
        elif kind == "i":
            check(event.get("s") == "t" and event.get("tid") == 2, "instant:", event)
            if event.get("cat") == "miss":
                check(name in CAUSES and args.get("cause") == name, "cause:", event)
                check(args.get("phase") in PHASES + ["outside", "unknown phase"], "phase of a miss:", event)
                extra = set(args) - MISS_ARGS
                check(MISS_ARGS <= set(args), "miss lacks", MISS_ARGS - set(args))
                check(("rival" in extra) == ("rival_ns" in extra), "half a rival:", event)
                extra -= {"rival", "rival_ns"}
                check(not extra or extra - {"run_delay_ns"} == EVIDENCE_ARGS, "evidence:", event)
                check(args["late_ns"] > 0 and args.get("run_delay_ns", 0) >= 0, "miss:", event)
                counts["misses"] += 1
                counts["cause:" + name] += 1
            else:
                check(name == "records lost" and event.get("cat") == "lost", "instant:", event)
                check(args["records"] > 0, "nothing lost:", event)
                counts["losses"] += 1
        else:
            check(False, "unknown ph:", event)

    for track in (1, 2):
        check(("thread_name", track) in named and ("thread_sort_index", track) in named, "unnamed track", track)
    check(("process_name", None) in named, "unnamed process")
    return counts


def expect(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return {key: int(number) for key, number in (line.rsplit(" ", 1) for line in lines)}


def validate_names(events):
    """Checks the names that test_trace uses against Python's decoding of the bytes."""
    ascii_part = "".join(chr(byte) for byte in range(1, 128))
    check(events[0]["args"]["name"].startswith(ascii_part + "\u20ac\U0001d11e\ufffd"), "name:", events[0])
    check(set(events[0]["args"]["name"][len(ascii_part) + 2:]) == {"\ufffd"}, "name:", events[0])
    check(events[1]["args"]["name"] == "x" * 254, "long name:", events[1])


def main(folder):
    checked = 0
    for path in sorted(folder.glob("*.json")):
        expect_path = path.with_name(path.name + ".expect")
        if not expect_path.exists():
            continue
        try:
            events = parse(path.read_bytes().decode("utf-8"))
            check(isinstance(events, list), "not the array flavour")
            counts = validate(events)
            for key, number in expect(expect_path).items():
                if not (key == "slice_ns" and number < 0):
                    check(counts[key] == number, f"{key}: expected {number}, found {counts[key]}")
            for name in ("wake latency", "compute"):
                check(counts["counter:" + name] == counts["ticks"], "counter", name, counts)
            check(counts["ended"] == counts["ticks"], "ticks left open:", counts)
            check(events[-1]["name"] == "process_labels", "last event:", events[-1])
            if path.name == "names.json":
                validate_names(events)
        except (AssertionError, ValueError) as error:
            sys.exit(f"{path.name}: {error}")
        checked += 1
    check(checked >= 14, f"only {checked} traces found in {folder}")

    # Each complete line of a truncated trace is a complete event, as Perfetto reads it.
    whole = (folder / "cut.json").read_bytes().decode("utf-8").rpartition("\n")[0]
    check(whole.endswith("},"), "cut.json: its last line is not an event")
    cut = validate(parse(whole[:-1] + "]"))
    print(f"{checked} traces valid, and {cut['ticks']} ticks of the truncated one")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
