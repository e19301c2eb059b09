"""tactus share: share.py [CLASS…] PROGRAM. No assertion depends on how fast anything is."""

import os
import signal
import sys
import time
import unittest

import stations
from stations import Shared

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from program import BadInputTest, Program

stations.enter_namespace()
stations.PROGRAM = sys.argv.pop()
tactus = Program(stations.PROGRAM)
LONG = os.environ.get("TACTUS_TEST_LONG") == "1"


class Lesson(Shared):
    def test_two_stations_are_heard_recorded_and_commanded(self):
        first = self.bridge("s1", "--commands")
        self.bridge("s2")
        watch = self.watch("s1", "s2")
        store = self.share("--store", self.folder, "--count", "1")
        record = os.path.join(self.folder, "local.rec")
        runs = [self.run_shared("s1", "--seconds", "1.2", "--record", record), self.run_shared("s2", "--seconds", "0.3")]
        ticks = self.ticks_of(runs[1])
        tell = stations.tell("s2", "stop")
        self.assertEqual(tell.returncode, 1, tell)
        self.assertRegex(tell.stderr, r"^tactus share: station s2: refused: this bridge takes no commands.*\n$")
        self.assertEqual(tactus("share", "--tell", "nobody", "--command", "stop", "--interface", "lo", "--seconds", "0.3").returncode, 1)
        both = [self.ticks_of(runs[0]), ticks]
        self.assertEqual(store.wait(), 0, store.lines)
        stored = [name for name in os.listdir(self.folder) if name.startswith("s1-")]
        self.assertEqual(len(stored), 1, stored)
        with open(record, "rb") as local, open(os.path.join(self.folder, stored[0]), "rb") as remote:
            self.assertEqual(local.read(), remote.read())
        for name in ("s1", "s2"):
            watch.until(name + " has ended a run")
        first.end()
        watch.until("s1 is gone")
        heard = self.account(watch)
        for name, count in zip(("s1", "s2"), both):
            self.check_whole(heard[name], count)
            self.assertGreater(heard[name]["events"], 1)
            self.assertEqual(heard[name]["event_gaps"], 0)
        self.assertFalse(heard["s1"]["there"])
        self.assertTrue(heard["s2"]["there"])

    def test_a_stop_and_an_end_from_the_network_arrive(self):
        self.bridge("s1", "--commands", "--launch", "--json --seconds 100")
        self.assertEqual(stations.tell("s1", "stop").returncode, 1) # there is no run
        self.assertRegex(stations.tell("s1", "scene", "--text", "../etc").stderr, "expected the name of a scene")
        self.assertEqual(stations.tell("s1", "scene", "--text", "sphere").stdout, "s1: scene\n")
        self.assertEqual(stations.tell("s1", "start").stdout, "s1: start\n")
        self.assertRegex(stations.tell("s1", "start").stderr, "refused: a run is on")
        self.eventually(lambda: stations.tell("s1", "gain", "--value", "0.5").returncode == 0, "the run is there")
        self.assertEqual(stations.tell("s1", "stop").stdout, "s1: stop\n")
        self.assertEqual(stations.tell("s1", "end").stdout, "s1: end\n")
        self.eventually(lambda: "no run is on" in stations.tell("s1", "stop").stderr, "the run has ended")

    @unittest.skipUnless(LONG, "with --long")
    def test_a_second_bridge_of_the_name_yields(self):
        self.bridge("s1")
        time.sleep(4) # until it is settled: of two new ones, either may yield
        second = self.share("--station", "s1")
        self.assertEqual(second.wait(), 1)
        self.assertRegex("".join(second.lines), "expected to be the only bridge of station s1, found another one")

    @unittest.skipUnless(LONG, "with --long")
    def test_a_killed_bridge_is_replaced_and_every_missing_tick_is_counted(self):
        bridge = self.bridge("s1", "--commands")
        watch = self.watch("s1")
        store = self.share("--store", self.folder, "--count", "1")
        record = os.path.join(self.folder, "local.rec")
        run = self.run_shared("s1", "--seconds", "100", "--record", record)
        time.sleep(0.6)
        bridge.end(signal.SIGKILL)
        self.bridge("s1", "--commands")
        watch.until("s1 has a new bridge")
        tell = stations.tell("s1", "end")
        self.assertEqual(tell.stdout, "s1: end\n", tell)
        ticks = self.ticks_of(run)
        self.assertEqual(store.wait(), 0, store.lines)
        stored = [name for name in os.listdir(self.folder) if name.startswith("s1-")]
        with open(record, "rb") as local, open(os.path.join(self.folder, stored[0]), "rb") as remote:
            self.assertEqual(local.read(), remote.read())
        watch.until("s1 has ended a run")
        heard = self.account(watch)["s1"]
        self.assertEqual(heard["first"] + heard["ticks"] + heard["gaps"], ticks, heard)
        self.assertEqual(heard["totals"]["ticks"], ticks, heard)


@unittest.skipUnless(LONG, "with --long")
class Security(Shared):
    def credentials(self, authority, kind, name):
        folder = os.path.join(self.folder, authority)
        made = tactus("share", "--init-security", folder, "--" + kind, name)
        self.assertEqual(made.returncode, 0, made)
        return ["--security", os.path.join(folder, name)]

    def test_strangers_are_neither_seen_nor_heard(self):
        ours = self.credentials("ours", "station", "s1")
        console = self.credentials("ours", "console", "desk")
        again = tactus("share", "--init-security", os.path.join(self.folder, "ours"), "--station", "s1")
        self.assertEqual(again.returncode, 2)
        self.assertRegex(again.stderr, "expected a new name, found credentials in")
        self.bridge("s1", "--commands", *ours)
        self.bridge("plain")
        self.bridge("other", *self.credentials("others", "station", "other"))
        watch = self.watch("s1", options=console)
        for security in ([], self.credentials("others", "console", "desk")): # nobody answers a stranger
            tell = tactus("share", "--tell", "s1", "--command", "stop", "--interface", "lo", "--seconds", "2", *security)
            self.assertRegex(tell.stderr, "expected an answer from station s1 within 2 s, found none")
        # A station's certificate may not command.
        tell = tactus("share", "--tell", "s1", "--command", "stop", "--interface", "lo", "--seconds", "2", *ours)
        self.assertEqual(tell.returncode, 1, tell)
        self.assertIn("tactus share: expected to create tactus/command, found: Not Allowed By Security\n", tell.stderr)
        self.assertNotIn("expected an answer", tell.stderr)
        # Nor may a console's pose as a station.
        pose = self.share("--station", "s2", *console)
        self.assertEqual(pose.wait(), 1)
        self.assertIn("tactus share: expected to create tactus/state, found: Not Allowed By Security\n", pose.lines)
        run = self.run_shared("s1", "--seconds", "1")
        ticks = self.ticks_of(run)
        watch.until("s1 has ended a run")
        tell = tactus("share", "--tell", "s1", "--command", "stop", "--interface", "lo", "--seconds", "60", *console)
        self.assertRegex(tell.stderr, "station s1: refused: no run is on")
        heard = self.account(watch)
        self.assertEqual(list(heard), ["s1"])
        self.check_whole(heard["s1"], ticks)


class Words(BadInputTest):
    program = tactus

    def test_bad_input_is_one_line(self):
        self.refuse("share", says="expected one of --station, --watch, --store and --tell, found none")
        self.refuse("share", "--watch", "--station", "a", says="found several")
        self.refuse("share", "--station", "a b", says="expected a station's name of 1 to 32 letters.*found 'a b'")
        self.refuse("share", "--tell", "a", says="expected --tell and --command together")
        self.refuse("share", "--store", "/nowhere", says="expected a folder to write to, found '/nowhere'")
        self.refuse("share", "--watch", "--security", "/nowhere", says="expected credentials made by `tactus share --init-security`, found '/nowhere'")
        self.refuse("share", "--init-security", "/tmp", says="expected --station NAME or --console NAME, found none")
        self.refuse("run", "--share", "7", says="share: expected 1 to 32 letters.*found '7'")
        self.refuse("run", "--external-wrench", says="expected --share as well")

    def test_a_missing_bridge_is_one_line(self):
        result = tactus("share", "--watch", env={"TACTUS_SHARE_PROGRAM": "/nowhere/tactus-share", "PATH": "/bin"})
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^tactus share: expected the program tactus-share.*cyclonedds-dev.*\n$")


if __name__ == "__main__":
    unittest.main()
