"""tactus share in a classroom: classroom.py [CLASS…] PROGRAM. Eight stations, each in a network namespace of its own, and a console,
joined by a bridge; lost packets; killed processes; latecomers. Only for tests/run --long. No time is asserted."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import unittest

import stations
from stations import Shared

stations.enter_namespace()
stations.PROGRAM = sys.argv.pop()
STATIONS = 8
SECONDS = 10


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

    def station(self, name, inside, loss=None):
        bridge = self.start("share", "--station", name, "--interface", "eth0", "--commands", inside=inside, loss=loss)
        bridge.until("station " + name)
        return bridge

    def lesson(self, loss):
        """Eight runs, heard and stored without a gap while `loss` of a thousand packets are lost."""
        names = ["s%d" % (i + 1) for i in range(STATIONS)]
        spaces = [self.namespace(i + 1) for i in range(STATIONS)]
        for name, inside in zip(names, spaces):
            self.station(name, inside, loss)
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
        return sum(ticks)


class Classroom(Room):
    def test_eight_stations(self):
        print("0 % lost:", self.lesson(None), "ticks, no gap")

    def test_eight_stations_that_lose_1_of_100_packets(self):
        print("1 % lost:", self.lesson(10), "ticks, no gap")

    def test_eight_stations_that_lose_1_of_20_packets(self):
        print("5 % lost:", self.lesson(50), "ticks, no gap")


class Deaths(Room):
    def test_a_hundred_random_kills(self):
        """The run does not notice; whoever is left accounts for every tick."""
        chance = random.Random(23)
        inside = self.namespace(1)
        bridge = self.station("s1", inside)
        watch = self.watch("s1")
        run = self.run_shared("s1", "--seconds", "10000", "--policy", "other", inside=inside)
        for _ in range(100):
            time.sleep(chance.random() * 0.3)
            if chance.random() < 0.6:
                bridge.end(signal.SIGKILL)
                bridge = self.station("s1", inside)
            else:
                watch.end(signal.SIGKILL)
                watch = self.watch("s1")
        watch.end(signal.SIGKILL)
        watch = self.watch("s1")
        bridge.end(signal.SIGKILL)
        bridge = self.station("s1", inside)
        watch.until("s1 has a new bridge")
        self.assertEqual(stations.tell("s1", "end", interface="class0").stdout, "s1: end\n")
        ticks = self.ticks_of(run)
        watch.until("s1 has ended a run")
        heard = self.account(watch)["s1"]
        self.assertEqual(heard["first"] + heard["ticks"] + heard["gaps"], ticks, heard)
        self.assertEqual(heard["totals"]["ticks"], ticks, heard)
        print("100 kills: %d ticks; the last bridge's and watch's gaps: %d" % (ticks, heard["gaps"]))

    def test_a_killed_station_is_gone_and_comes_back(self):
        inside = self.namespace(1)
        bridge = self.station("s1", inside)
        watch = self.watch("s1")
        bridge.end(signal.SIGKILL)
        watch.until("s1 is gone")
        self.station("s1", inside)
        watch.until("s1 is back")
        self.assertTrue(self.account(watch)["s1"]["there"])


class Latecomer(Room):
    def test_a_latecomer_gets_the_scene_and_the_last_events(self):
        inside = self.namespace(1)
        self.station("s1", inside)
        early = self.watch("s1")
        run = self.run_shared("s1", "--seconds", "5", inside=inside)
        self.ticks_of(run)
        early.until("s1 has ended a run")
        late = self.watch("s1")
        time.sleep(1)  # events and totals follow within the same exchange
        heard, again = self.account(early)["s1"], self.account(late)["s1"]
        self.assertEqual(again["run"], heard["run"])
        self.assertEqual(again["totals"], heard["totals"])
        self.assertEqual(again["events"], min(heard["events"], 256))
        self.assertGreater(again["events"], 2)


if __name__ == "__main__":
    unittest.main()
