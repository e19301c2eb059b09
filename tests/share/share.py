"""tactus share: share.py [CLASS…] PROGRAM. Stations, a watch, a recording service and commands, in network namespaces that
the test makes: nothing leaves them. No assertion depends on how fast anything is."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from program import BadInputTest, Program

INSIDE = "TACTUS_TEST_NAMESPACE"
LONG = os.environ.get("TACTUS_TEST_LONG") == "1"
BLOCK = 20  # ticks of a block


def enter_namespace():
    """Runs this script again in a network namespace of its own, or skips the test."""
    if os.environ.get(INSIDE):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    command = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]
    if not shutil.which("ip") or subprocess.run([*command, "ip", "link", "set", "lo", "up"], capture_output=True).returncode:
        print("skipped: no network namespaces (unshare, ip)")
        sys.exit(77)
    os.environ[INSIDE] = "1"
    os.execvp(command[0], [*command, sys.executable, "-B", *sys.argv])


enter_namespace()
PROGRAM = sys.argv.pop()
tactus = Program(PROGRAM)


class Process:
    """A process whose lines of standard error can be waited for."""

    def __init__(self, *arguments, inside=(), loss=None):
        environment = dict(os.environ)
        if loss:
            environment["CYCLONEDDS_URI"] = (
                "<CycloneDDS><Domain><Internal><Test><XmitLossiness>%d</XmitLossiness></Test></Internal></Domain></CycloneDDS>" % loss)
        self.lines = []
        self.changed = threading.Condition()
        self.process = subprocess.Popen([*inside, PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=environment)
        self.output = ""
        self.threads = [threading.Thread(target=self.follow), threading.Thread(target=self.keep)]
        for thread in self.threads:
            thread.start()

    def follow(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()

    def keep(self):
        self.output = self.process.stdout.read()

    def until(self, text):
        with self.changed:
            if not self.changed.wait_for(lambda: any(text in line for line in self.lines), timeout=60):
                raise AssertionError("never said '%s': %s" % (text, "".join(self.lines)))

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.wait()

    def wait(self):
        self.process.wait(timeout=120)
        for thread in self.threads:
            thread.join()
        self.process.stderr.close()
        self.process.stdout.close()
        return self.process.returncode


class Shared(unittest.TestCase):
    interface = "lo"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tactus share ")
        self.started = []

    def tearDown(self):
        for process in self.started:
            if process.process.poll() is None:
                process.end(signal.SIGKILL)
        shutil.rmtree(self.folder)

    def start(self, *arguments, **options):
        process = Process(*arguments, **options)
        self.started.append(process)
        return process

    def share(self, *arguments, **options):
        return self.start("share", *arguments, "--interface", self.interface, **options)

    def bridge(self, name, *arguments, **options):
        bridge = self.share("--station", name, *arguments, **options)
        bridge.until("station " + name)
        return bridge

    def watch(self, *names, **options):
        watch = self.share("--watch", **options)
        for name in names:
            watch.until("hears " + name + "\n")
        return watch

    def account(self, watch):
        self.assertEqual(watch.end(), 0)
        return {station["station"]: station for station in json.loads(watch.output)["stations"]}

    def run_shared(self, name, *arguments, **options):
        return self.start("run", "sphere", "--share", name, "--json", *arguments, **options)

    def eventually(self, condition, what):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end, "never: " + what)
            time.sleep(0.02)

    def check_whole(self, heard, ticks):
        """Everything from the first tick that was heard on has arrived, and the bridge's account adds up."""
        self.assertEqual(heard["gaps"], 0, heard)
        self.assertEqual(heard["repeated"], 0, heard)
        self.assertEqual(heard["first"] + heard["ticks"], ticks, heard)
        totals = heard["totals"]
        self.assertEqual(totals["ticks"], ticks, heard)
        self.assertEqual(totals["published"] + totals["dropped"] + totals["refused"], ticks, heard)

    def ticks_of(self, run):
        self.assertEqual(run.wait(), 0, run.lines)
        return json.loads(run.output)["ticks"]


class Lesson(Shared):
    def test_two_stations_are_heard_recorded_and_commanded(self):
        first = self.bridge("s1", "--commands")
        self.bridge("s2")
        watch = self.watch("s1", "s2")
        store = self.share("--store", self.folder, "--count", "1")
        record = os.path.join(self.folder, "local.rec")
        runs = [self.run_shared("s1", "--seconds", "1.2", "--record", record), self.run_shared("s2", "--seconds", "0.3")]
        ticks = self.ticks_of(runs[1])
        tell = tactus("share", "--tell", "s2", "--command", "stop", "--interface", "lo", "--seconds", "60")
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
        tell = lambda *words: tactus("share", "--tell", "s1", "--interface", "lo", "--seconds", "60", *words)
        self.assertEqual(tell("--command", "stop").returncode, 1) # there is no run
        self.assertRegex(tell("--command", "scene", "--text", "../etc").stderr, "expected the name of a scene")
        self.assertEqual(tell("--command", "scene", "--text", "sphere").stdout, "s1: scene\n")
        self.assertEqual(tell("--command", "start").stdout, "s1: start\n")
        self.assertRegex(tell("--command", "start").stderr, "refused: a run is on")
        self.eventually(lambda: tell("--command", "gain", "--value", "0.5").returncode == 0, "the run is there")
        self.assertEqual(tell("--command", "stop").stdout, "s1: stop\n")
        self.assertEqual(tell("--command", "end").stdout, "s1: end\n")
        self.eventually(lambda: "no run is on" in tell("--command", "stop").stderr, "the run has ended")

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
        tell = tactus("share", "--tell", "s1", "--command", "end", "--interface", "lo", "--seconds", "60")
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


class Words(BadInputTest):
    program = tactus

    def test_bad_input_is_one_line(self):
        self.refuse("share", says="expected one of --station, --watch, --store and --tell, found none")
        self.refuse("share", "--watch", "--station", "a", says="found several")
        self.refuse("share", "--station", "a b", says="expected a station's name of 1 to 32 letters.*found 'a b'")
        self.refuse("share", "--tell", "a", says="expected --tell and --command together")
        self.refuse("share", "--store", "/nowhere", says="expected a folder to write to, found '/nowhere'")
        self.refuse("run", "--share", "7", says="share: expected 1 to 32 letters.*found '7'")
        self.refuse("run", "--external-wrench", says="expected --share as well")

    def test_a_missing_bridge_is_one_line(self):
        result = tactus("share", "--watch", env={"TACTUS_SHARE_PROGRAM": "/nowhere/tactus-share", "PATH": "/bin"})
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^tactus share: expected the program tactus-share.*cyclonedds-dev.*\n$")


if __name__ == "__main__":
    unittest.main()
