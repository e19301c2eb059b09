"""tactus share in a classroom: classroom.py [CLASS…] PROGRAM. Eight stations, each in a network namespace of its own, and a console,
joined by a bridge; lost packets; killed processes; latecomers. Only for tests/run --long. No time is asserted."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import rtps
import stations
from stations import Shared
from websocket import WebSocket

stations.enter_namespace()
stations.PROGRAM = sys.argv.pop()
CONSOLE = os.path.exists(os.path.join(os.path.dirname(stations.PROGRAM), "..", "libexec", "tactus", "tactus-console"))
STATIONS = 8
SECONDS = 30


def same(path, other):
    with open(path, "rb") as a, open(other, "rb") as b:
        return a.read() == b.read()


class Room(Shared):
    """Namespaces that are held by a process each, and joined by a bridge in this one."""

    interface = "class0"

    def setUp(self):
        super().setUp()
        self.holders = []
        self.ip("link", "add", "class0", "type", "bridge")
        self.ip("address", "add", "10.77.0.254/24", "dev", "class0")
        self.ip("link", "set", "class0", "up")

    def tearDown(self):
        super().tearDown()
        for holder in self.holders:
            holder.kill()
            holder.wait()
        self.ip("link", "delete", "class0")

    def ip(self, *words, inside=()):
        subprocess.run([*inside, "ip", *words], check=True)

    def namespace(self, number):
        """A new namespace as the words that begin a command in it."""
        holder = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE)
        holder.stdout.readline()
        holder.stdout.close()
        self.holders.append(holder)
        inside = ["nsenter", "-t", str(holder.pid), "-n"]
        link = "class%d" % number
        self.ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
        self.ip("link", "set", link, "master", "class0", "up")
        self.ip("link", "set", "lo", "up", inside=inside)
        self.ip("address", "add", "10.77.0.%d/24" % number, "dev", "eth0", inside=inside)
        self.ip("link", "set", "eth0", "up", inside=inside)
        return inside

    def station(self, name, inside, *options, loss=None):
        bridge = self.start("share", "--station", name, "--interface", "eth0", "--commands", *options, inside=inside, loss=loss)
        bridge.until("station " + name)
        return bridge

    def lesson(self, loss, *options):
        """Eight runs, heard and stored without a gap while `loss` of a thousand packets are lost, states like all others. Returns how many
        ticks there were, and states of those that were published."""
        names = ["s%d" % (i + 1) for i in range(STATIONS)]
        spaces = [self.namespace(i + 1) for i in range(STATIONS)]
        for name, inside in zip(names, spaces):
            self.station(name, inside, *options, loss=loss)
        states = rtps.States(self.interface)
        self.addCleanup(states.end)
        watch = self.watch(*names, loss=loss)
        store = self.share("--store", self.folder, "--count", str(STATIONS), loss=loss)
        records = [os.path.join(self.folder, name + ".local") for name in names]
        runs = [self.run_shared(name, "--seconds", str(SECONDS), "--policy", "other", "--record", record, inside=inside)
                for name, inside, record in zip(names, spaces, records)]
        ticks = [self.ticks_of(run) for run in runs]
        for name in names:
            watch.until(name + " has ended a run")
        self.assertEqual(store.wait(), 0, store.lines)
        heard = self.account(watch)
        for name, record, count in zip(names, records, ticks):
            self.check_whole(heard[name], count)
            self.assertEqual(heard[name]["event_gaps"], 0)
            self.assertEqual(heard[name]["totals"]["dropped"], 0)
            stored = [file for file in os.listdir(self.folder) if file.startswith(name + "-")]
            self.assertEqual(len(stored), 1)
            with open(record, "rb") as local, open(os.path.join(self.folder, stored[0]), "rb") as remote:
                self.assertEqual(local.read(), remote.read())
        published, lost = self.check_states(states, heard, loss)
        print("%d %% lost: %d ticks, no gap; %d states, of which %d were lost" % ((loss or 0) / 10, sum(ticks), published, lost))
        return sum(ticks), published

    def check_states(self, states, heard, loss):
        """Nobody sends a state again, so those that are lost have the binomial distribution: each station's, and all together. One
        good run of 10^9 fails. Returns how many were published and how many of them were lost."""
        counts = states.end()
        if states.missed:
            self.skipTest("this process was too slow for %d packets: lost states are not counted" % states.missed)
        self.assertEqual(set(counts), {(name, account["run"]) for name, account in heard.items()})
        for (name, _), (published, lost) in counts.items():
            self.assertGreater(heard[name]["states"], 0)
            self.assertLessEqual(heard[name]["states"], published + 2 - lost, "heard what never passed")
        total = tuple(map(sum, zip(*counts.values())))
        for published, lost in (*counts.values(), total):
            if loss:
                self.assertGreater(min(rtps.tails(published, loss / 1000, lost)), 1e-9, (published, lost))
        return total


class Classroom(Room):
    def test_eight_stations(self):
        self.lesson(None)

    def test_eight_stations_that_lose_1_of_100_packets(self):
        self.lesson(10)

    def test_eight_stations_that_lose_1_of_20_packets(self):
        self.lesson(50)

    def test_eight_stations_with_a_state_for_nearly_every_tick(self):
        ticks, published = self.lesson(10, "--rate", "1000")
        self.assertLessEqual(published, ticks)
        self.assertGreater(published, 0.15 * ticks)  # the default rate gives 0.1


class Deaths(Room):
    def test_a_hundred_random_kills(self):
        """Of run, bridge, watch, store and web console. Nobody but the killed one notices; whoever is left accounts for every tick of
        the last run and has its recording; the store holds nothing that differs from a station's file."""
        chance = random.Random(23)
        inside = self.namespace(1)
        records = []

        def run():
            records.append(os.path.join(self.folder, "local%d" % len(records)))
            return self.run_shared("s1", "--seconds", "10000", "--policy", "other", "--record", records[-1], inside=inside)

        begin = {
            "bridge": lambda: self.station("s1", inside),
            "run": run,
            "watch": lambda: self.watch("s1"),
            "store": lambda: self.share("--store", self.folder),
            "console": lambda: self.start("console", "--interface", self.interface),
        }
        if not CONSOLE:
            del begin["console"]
        alive = {name: start() for name, start in begin.items()}

        def replace(name):
            alive[name].end(signal.SIGKILL)
            alive[name] = begin[name]()

        for _ in range(100):
            time.sleep(chance.random() * 0.3)
            for name in begin:
                self.assertIsNone(alive[name].process.poll(), (name, alive[name].lines))
            replace(chance.choice(list(begin)))
        replace("run")
        replace("watch")
        replace("bridge")
        alive["watch"].until("s1 has a new bridge")
        if CONSOLE:
            self.check_console("s1")
        watch, run = alive["watch"], alive["run"]
        self.eventually(lambda: stations.tell("s1", "gain", "--value", "0.9", interface="class0").returncode == 0, "the last run is there")
        self.assertEqual(stations.tell("s1", "end", interface="class0").stdout, "s1: end\n")
        ticks = self.ticks_of(run)
        watch.until("s1 has ended a run")
        heard = self.account(watch)["s1"]
        self.assertEqual(heard["first"] + heard["ticks"] + heard["gaps"], ticks, heard)
        self.assertEqual(heard["totals"]["ticks"], ticks, heard)
        last = os.path.join(self.folder, "s1-%s.rec" % heard["run"])
        self.eventually(lambda: os.path.exists(last), "the last recording is stored")
        self.assertTrue(same(last, records[-1]))
        stored = [os.path.join(self.folder, name) for name in os.listdir(self.folder) if name.startswith("s1-") and name.endswith(".rec")]
        for path in stored:
            self.assertTrue(any(same(path, record) for record in records if os.path.exists(record)), path)
        view = subprocess.run([stations.PROGRAM, "view", last, "--csv", "-"], capture_output=True, text=True)
        self.assertEqual(view.returncode, 0, view.stderr)
        self.assertEqual(len([line for line in view.stdout.splitlines() if line[0] in "-0123456789"]), ticks)
        print("100 kills: %d runs, %d recordings stored; the last run: %d ticks; gaps of its watch: %d"
              % (len(records), len(stored), ticks, heard["gaps"]))

    def check_console(self, name):
        """The web console that was started last serves its page, and knows the station."""
        def knows():
            try:
                with WebSocket("http://127.0.0.1:8765/") as client:
                    return client.channel("/%s/state" % name) is not None
            except OSError:
                return False
        self.eventually(knows, "the console knows " + name)

    def test_a_station_that_was_held_up_is_back_without_a_restart(self):
        bridge = self.station("s1", self.namespace(1))
        watch = self.watch("s1")
        time.sleep(4)  # until it is settled: before, it says so once more
        bridge.process.send_signal(signal.SIGSTOP)
        watch.until("s1 is gone")
        bridge.process.send_signal(signal.SIGCONT)
        time.sleep(3)  # it may flap at first
        self.eventually(lambda: "s1 is back" in [line for line in watch.lines if "s1 is" in line][-1], "it is back for good")

    def test_whoever_has_lost_the_network_still_ends(self):
        inside = self.namespace(1)
        bridge = self.station("s1", inside)
        watch = self.start("share", "--watch", "--interface", "eth0", inside=inside)
        watch.until("hears s1")
        run = self.run_shared("s1", "--seconds", "1000", "--policy", "other", inside=inside)
        self.eventually(lambda: stations.tell("s1", "gain", "--value", "0.9", interface="class0").returncode == 0, "the run is there")
        self.ip("link", "delete", "class1")
        run.end(signal.SIGINT)
        self.assertGreater(json.loads(run.output)["ticks"], 0)
        self.assertEqual((bridge.end(), watch.end()), (0, 0))
        self.assertIn("s1", watch.output)

    def test_a_killed_station_is_gone_and_comes_back(self):
        inside = self.namespace(1)
        bridge = self.station("s1", inside)
        watch = self.watch("s1")
        bridge.end(signal.SIGKILL)
        watch.until("s1 is gone")
        self.station("s1", inside)
        watch.until("s1 is back")
        self.assertTrue(self.account(watch)["s1"]["there"])


@unittest.skipUnless(CONSOLE and shutil.which("curl") and shutil.which("openssl"), "no web console, no curl or no openssl")
class Abroad(Room):
    def test_a_console_at_an_address_that_others_reach(self):
        """From another machine: encrypted, with the token or not at all; with it, the page, the socket and the station's channels."""
        inside = self.namespace(1)
        self.station("s1", inside)
        refused = subprocess.run([stations.PROGRAM, "console", "--host", "10.77.0.254"], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 2)
        self.assertRegex(refused.stderr, r"^tactus console: host: expected --certificate and --key .* found '10.77.0.254' without\n$")
        certificate, key = stations.make_certificate(self.folder, "10.77.0.254")
        url = self.console("--host", "10.77.0.254", "--certificate", certificate, "--key", key)
        self.assertRegex(url, r"^https://10\.77\.0\.254:8765/\?token=[0-9a-f]{32}$")
        bare = url.split("?")[0]

        def ask(address, *headers, trusts=certificate):
            return stations.upgrade(address, *headers, inside=inside, certificate=trusts)

        self.assertEqual(ask(url), "101")
        self.assertEqual(ask(url, "Origin: https://10.77.0.254:8765"), "101")
        self.assertNotEqual(ask(url, "Origin: https://evil.example"), "101")
        self.assertNotEqual(ask(bare), "101")
        self.assertNotEqual(ask(url[:-1] + ("1" if url[-1] == "0" else "0")), "101")
        self.assertNotEqual(ask(url.replace("https", "http")), "101")  # not encrypted
        self.assertEqual(ask(url, trusts=""), "")  # nobody vouches for the certificate
        page = subprocess.run([*inside, "curl", "-s", "--cacert", certificate, bare], capture_output=True, text=True, timeout=300)
        self.assertIn("console.js", page.stdout)
        for path in ("../tactus-console", "%2e%2e/tactus-console", "../../../../../../etc/passwd"):  # nothing beside the page
            found = subprocess.run([*inside, "curl", "-s", "--path-as-is", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", certificate,
                                    bare + path], capture_output=True, text=True, timeout=300)
            self.assertNotEqual(found.stdout, "200", path)


class Latecomer(Room):
    def test_a_latecomer_gets_the_scene_and_the_last_events(self):
        inside = self.namespace(1)
        self.station("s1", inside)
        early = self.watch("s1")
        run = self.start("run", "caries", "--share", "s1", "--json", "--seconds", "15", "--policy", "other", inside=inside)
        self.ticks_of(run)
        early.until("s1 has ended a run")
        late = self.watch("s1")
        time.sleep(1)  # events and totals follow within the same exchange
        heard, again = self.account(early)["s1"], self.account(late)["s1"]
        self.assertEqual(again["run"], heard["run"])
        self.assertEqual(again["totals"], heard["totals"])
        self.assertGreater(heard["events"], 256)
        self.assertEqual((again["events"], again["event_gaps"]), (256, 0))
        self.assertEqual(again["next_event"], heard["next_event"])


if __name__ == "__main__":
    unittest.main()
