"""The output of the examples agrees with physics: examples.py FOLDER-WITH-THE-PROGRAMS."""

import csv
import io
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from program import HoldUps

FOLDER = sys.argv.pop()


def example(name):
    result = subprocess.run([os.path.join(FOLDER, "example_" + name)], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result
    return result.stdout


TRIES = 8
STALL_S = 0.005  # the gate lowers the force after 10 ms; the watcher may be luckier than the loop


class Examples(unittest.TestCase):
    def give_up(self, expected, found, hold_ups_s):
        """Only a machine that holds up every run is an excuse: forces are low for half a second after each stall."""
        self.assertGreater(min(hold_ups_s), STALL_S, f"expected {expected} in one of {TRIES} runs, found {found}")
        print(f"the machine held up every run, for {1e3 * min(hold_ups_s):.0f} ms or more: {expected} not seen", file=sys.stderr)

    def test_the_sphere_pushes_back_with_its_stiffness(self):
        stiffness, hold_ups_s = [], []
        for _ in range(TRIES):  # late ticks lower the stiffness, never raise it
            with HoldUps() as machine:
                text = example("touch_sphere")
            hold_ups_s.append(machine.longest_s)
            force, depth, contacts = re.match(
                r"force ([\d.]+) N, device ([\d.]+) mm behind the surface, (\d+) contact\n$", text).groups()
            self.assertGreater(float(depth), 0.5)
            self.assertEqual(contacts, "1")
            stiffness.append(float(force) / float(depth))
            self.assertLess(stiffness[-1], 1.1)
            if stiffness[-1] > 0.9:  # 1000 N/m is 1 N/mm
                return
        self.give_up("1 N/mm", stiffness, hold_ups_s)

    def test_own_device_feels_the_table(self):
        rows = [[float(x) for x in re.findall(r"-?[\d.]+", line)] for line in example("own_device").splitlines()]
        self.assertEqual(len(rows), 11)
        for _, device, tool, force in rows:
            if device > 5.1:  # the ball is free
                self.assertAlmostEqual(device, tool, delta=0.11)
                self.assertAlmostEqual(force, 0, delta=0.01)
            else:  # it rests on the table: 1000 N/m
                self.assertAlmostEqual(tool, 5, delta=0.11)
                self.assertAlmostEqual(force, tool - device, delta=0.15)
        self.assertGreater(max(row[3] for row in rows), 3)

    def test_guided_is_pulled_to_its_line_and_tells_events(self):
        if not os.path.exists(os.path.join(FOLDER, "example_guided")):
            self.skipTest("no C++ compiler")
        found, hold_ups_s = [], []
        for _ in range(TRIES):  # after a stall the force is zero at first
            with HoldUps() as machine:
                lines = example("guided").splitlines()
            hold_ups_s.append(machine.longest_s)
            self.assertIn("touch plate", lines)
            self.assertIn("enter plate +z", lines)
            beside, pull, plate = (float(x) for x in re.match(
                r"([\d.]+) mm beside the line, guided back with ([\d.]+) N; the plate pushes with ([\d.]+) N",
                lines[-1]).groups())
            found.append((beside, pull, plate))
            self.assertLess(pull, 0.2 * beside + 0.03)  # 200 N/m
            if beside < 3 and plate > 0.1 and pull > 0.2 * beside - 0.03:  # the hand wants to be 4 mm beside the line
                return
        self.give_up("a hand that is pulled to the line", found, hold_ups_s)

    @unittest.skipUnless(os.environ.get("TACTUS_TEST_LONG") == "1", "with --long: it runs for 4 s")
    def test_own_physics_moves_its_blocks(self):
        if not os.path.exists(os.path.join(FOLDER, "example_own_physics")):
            self.skipTest("no Open Dynamics Engine (package libode-dev)")
        for _ in range(3):  # the machine may hold the threads up
            last = [float(x) for x in re.findall(r"at +(-?\d+) +(-?\d+) +(-?\d+) mm", example("own_physics"))[-1]]
            if last[0] > 15:  # pushed along the table
                self.assertAlmostEqual(last[2], 15, delta=1)
                return
        self.fail(f"expected a block that was pushed, found it at {last}")

    def test_living_world_is_pushed_changed_exchanged_and_replayed(self):
        lines = example("living_world").splitlines()
        self.assertIn("hand 0 touches the block", lines)
        self.assertIn("hand 1 touches the pyramid", lines)
        self.assertEqual(lines[-1], "the replay is the same to the bit")
        position, world, ticks, commands = map(float, re.match(
            r"the block is at ([\d.-]+) mm in world (\d) after (\d+) ticks and (\d+) commands", lines[-2]).groups())
        self.assertGreater(position, 5)  # the left hand has pushed it
        self.assertEqual(world, 1)
        self.assertGreater(commands, 600)

    def test_own_renderer_sees_the_loop(self):
        with HoldUps() as machine:
            lines = example("own_renderer").splitlines()
        self.assertGreater(len(lines), 30)
        # The centre of the ball of 5 mm never comes below 5 mm over the table, ten letters.
        self.assertTrue(all(line.index("#") >= 10 for line in lines), lines)
        force = [float(re.search(r"([\d.]+) N", line).group(1)) for line in lines]
        depth = [0.5 * (line.index("#") - line.index("o")) for line in lines]  # mm, to half a millimetre
        contacts = [int(re.search(r"(\d+) contacts", line).group(1)) for line in lines]
        self.assertEqual(contacts[0], 0)
        self.assertAlmostEqual(force[0], 0, delta=0.01)
        self.assertGreater(contacts[-1], 0)
        self.assertGreaterEqual(depth[-1], 2)  # the hand has pushed the device behind the surface,
        # and feels 1000 N/m, or less after late ticks
        self.assertGreater(max(force), 0 if machine.longest_s > STALL_S else 0.5)
        self.assertTrue(all(f < 1.05 * (d + 0.5) for f, d in zip(force, depth)), lines)
        ticks = [int(line.rsplit(" ", 1)[1]) for line in lines]
        self.assertEqual(ticks, sorted(ticks))

    def test_offline_repeats_to_the_bit_and_falls_off_the_edge(self):
        first = example("offline")
        self.assertEqual(first, example("offline"))
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(first))]
        self.assertEqual(len(rows), 2000)
        resting = [row for row in rows if 0.3 < row["t_s"] < 0.39]
        self.assertTrue(all(abs(row["fz_N"] - 1.0) < 0.02 for row in resting))  # 1 mm at 1000 N/m
        self.assertTrue(all(row["sco_z_m"] >= 0.005 for row in rows if row["x_m"] > -0.1))
        self.assertEqual(rows[-1]["fz_N"], 0)  # the edge is at x = -0.1

    def test_the_probe_explains_the_misses_of_an_existing_loop(self):
        # Beside load, other processes may be the cause of all misses: repeat until one is the loop's own.
        for _ in range(5):
            text = example("latency_probe")
            misses, ticks = map(int, re.search(r"(\d+) of (\d+) ticks missed", text).groups())
            causes = {name: int(count) for count, name in re.findall(r"^ *(\d+) (.+)$", text.split("\n", 1)[1], re.M)}
            self.assertEqual(ticks, 1000)
            self.assertEqual(sum(causes.values()), misses)
            self.assertGreaterEqual(misses, 5)  # those that the example provokes
            if causes["long compute"] >= 1:
                return
        self.fail(text)


if __name__ == "__main__":
    unittest.main()
