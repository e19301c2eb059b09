"""tactus console: console.py PROGRAM FOLDER. The page in headless Chromium, and the reference client of its protocol, from npm, kept
in FOLDER. With TACTUS_TEST_PICTURES=FOLDER it leaves screenshots there."""

import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

import stations
from stations import Shared, make_certificate, upgrade
from websocket import BINARY, WebSocket

FOLDER = sys.argv[-1]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from browser import CHROMIUM
from program import BadInputTest, Program

PACKAGES = ["puppeteer-core@25.16.0", "@foxglove/ws-protocol@0.8.0", "ws@8.18.0", "@foxglove/rosmsg@5.0.4",
            "@foxglove/rosmsg2-serialization@3.1.0"]


def install_clients():
    """Before the namespace is entered, which has no way out."""
    if os.environ.get(stations.INSIDE) or not shutil.which("npm") or not shutil.which("node"):
        return
    if not os.path.isdir(os.path.join(FOLDER, "node_modules", "puppeteer-core")):
        os.makedirs(FOLDER, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", FOLDER, "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0",
                        *PACKAGES], capture_output=True)


install_clients()
stations.enter_namespace()
sys.argv.pop()
stations.PROGRAM = sys.argv.pop()
tactus = Program(stations.PROGRAM)


class Console(Shared):
    def setUp(self):
        super().setUp()
        if not os.path.isdir(os.path.join(FOLDER, "node_modules", "puppeteer-core")) or not CHROMIUM:
            self.skipTest("no npm, or no Chromium")
        for name in ("console.mjs", "console_client.mjs"):
            shutil.copy(os.path.join(HERE, name), FOLDER)

    def lesson(self):
        bridges = [self.bridge(name, "--commands") for name in ("s1", "s2")]
        for name, scene in (("s1", "stylus"), ("s2", "sphere")):
            self.start("run", scene, "--share", name, "--json", "--seconds", "1000", "--policy", "other")
        return bridges

    def test_the_page_shows_stations_plots_a_stop_and_a_death(self):
        bridges = self.lesson()
        self.bridge("s3")
        task = os.path.join(self.folder, "task.json")
        self.start("run", "lumbar", "--share", "s3", "--json", "--seconds", "8", "--policy", "other", "--task", task)
        self.bridge("s4")
        part = os.path.join(self.folder, "part.off")
        with open(part, "w") as file:
            file.write("OFF\n4 4 0\n0 0 0\n0.05 0 0\n0 0.05 0\n0 0 0.05\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")
        self.start("run", part, "--share", "s4", "--json", "--seconds", "1000", "--policy", "other")
        url = self.console()
        self.assertEqual(url, "http://127.0.0.1:8765/")
        page = subprocess.Popen(["node", os.path.join(FOLDER, "console.mjs"), CHROMIUM, url, os.environ.get("TACTUS_TEST_PICTURES", "")],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(page.wait)
        self.addCleanup(page.kill)
        said = []
        for line in page.stdout:
            said.append(line.strip())
            if line == "kill\n":
                bridges[1].end(signal.SIGKILL)
                page.stdin.write("done\n")
                page.stdin.flush()
        page.stdin.close()
        page.stdout.close()
        self.assertEqual(said.pop(6), "bodies [1,1,12,12]", said)  # one tool; a tetrahedron
        self.assertEqual(said[:8], ["stations appear", "pictures are drawn", "plots move", "fits", "a stop arrives", "the other goes on",
                                    "kill", "a killed station is gone"], said)
        tables = json.loads(said[8].removeprefix("tables "))
        self.assertEqual({scene: list(group) for scene, group in tables.items()}, {"stylus": ["s1"], "sphere": ["s2"], "lumbar": ["s3"], part: ["s4"]})
        for scene, station in (("stylus", "s1"), ("sphere", "s2"), ("lumbar", "s3")):
            self.assertGreater(int(tables[scene][station]["ticks"].replace(",", "")), 0)
            self.assertGreater(float(tables[scene][station]["largest force, N" + (" (≤ 8)" if station == "s3" else "")]), 0)
        self.check_figures(tables["lumbar"]["s3"], task)
        self.assertEqual(said[9], "errors []")

    def check_figures(self, shown, task):
        """The page shows the figures of the file that the run itself wrote."""
        with open(task) as file:
            tool = json.load(file)["tools"][0]
        self.assertEqual(shown["task"], "passed" if tool["passed"] else "not passed")
        whole = [figure for figure in tool["figures"] if not figure["name"].startswith("puncture ")]
        self.assertGreater(len(whole), 15)
        for figure in whole:
            heading = figure["name"] + (", " + figure["unit"] if figure["unit"] else "")
            if figure["limit"] is not None:
                heading += " (%s %g)" % ("≥" if figure["at_least"] else "≤", figure["limit"])
            text = shown[heading].replace(",", "")
            digits = len(text.partition(".")[2])
            self.assertLessEqual(abs(float(text) - figure["value"]), 0.5001 * 10**-digits, (figure, text))
        self.assertEqual(len(shown), len(whole) + 4)

    def client(self, url):
        words = ["node", os.path.join(FOLDER, "console_client.mjs"), url]
        return subprocess.run(words, capture_output=True, text=True, timeout=300)

    def test_the_reference_client_reads_it(self):
        self.lesson()
        self.assertEqual(self.console(), "http://127.0.0.1:8765/")
        found = json.loads(self.client("ws://127.0.0.1:8765/").stdout)
        self.assertEqual(found["server"]["name"], "tactus console")
        self.assertIn(["/s1/tool_pose", "cdr", "geometry_msgs/msg/PoseStamped"], found["channels"])
        for message in found["messages"]:
            self.assertEqual(message["header"]["frame_id"], "world")
            self.assertAlmostEqual(sum(message["pose"]["orientation"][axis] ** 2 for axis in "xyzw"), 1, places=6)

    def test_strangers_are_turned_away(self):
        self.lesson()
        url = self.console()
        self.assertEqual(upgrade(url), "101")
        self.assertEqual(upgrade(url, "Origin: http://127.0.0.1:8765"), "101")
        self.assertNotEqual(upgrade(url, "Origin: http://evil.example"), "101")
        self.assertNotEqual(upgrade(url, "Host: evil.example", "Origin: http://evil.example"), "101")

    def test_a_client_that_reads_nothing_is_closed(self):
        """It asks for a scene again and again. The console's memory stays bounded, and others are served."""
        self.bridge("s1")
        self.start("run", "tooth", "--share", "s1", "--json", "--seconds", "1000", "--policy", "other")
        url = self.console()
        self.eventually(lambda: self.scene_bytes(url) > 100000, "the scene is there")
        with WebSocket(url) as greedy:
            scene = greedy.channel("/s1/scene")
            closed = False
            for number in range(5000):
                try:
                    greedy.send({"op": "subscribe", "subscriptions": [{"id": number + 1, "channelId": scene}]})
                except OSError:
                    closed = True
                    break
            self.assertTrue(closed)
        with open("/proc/%d/status" % self.consoles[0].pid) as file:
            peak = int(next(line for line in file if line.startswith("VmHWM")).split()[1]) >> 10
        self.assertLess(peak, 400)  # MiB; 5,000 scenes would be more
        self.assertGreater(self.scene_bytes(url), 100000)

    def scene_bytes(self, url):
        with WebSocket(url) as client:
            client.send({"op": "subscribe", "subscriptions": [{"id": 1, "channelId": client.channel("/s1/scene")}]})
            return len(client.receive(BINARY))

    def test_an_encrypted_console_wants_its_token(self):
        self.lesson()
        certificate, key = make_certificate(self.folder, "127.0.0.1")
        url = self.console("--certificate", certificate, "--key", key, "--port", "8766")
        self.assertRegex(url, r"^https://127\.0\.0\.1:8766/\?token=[0-9a-f]{32}$")
        token = url.split("?")[1]
        self.assertNotEqual(self.client("wss://127.0.0.1:8766/").returncode, 0)
        self.assertNotEqual(self.client("wss://127.0.0.1:8766/?token=0" + token[7:]).returncode, 0)
        self.assertEqual(self.client("wss://127.0.0.1:8766/?" + token).returncode, 0)


class Words(BadInputTest):
    program = tactus

    def test_bad_input_is_one_line(self):
        self.refuse("console", "--host", "0.0.0.0", says="expected --certificate and --key for an address that others reach")
        self.refuse("console", "--key", "k", says="expected --certificate and --key together")
        self.refuse("console", "--token", "short", says="expected at least 16 characters, found 5")
        self.refuse("console", "--security", "/nowhere", says="expected credentials made by `tactus share --init-security`, found '/nowhere'")
        self.refuse("console", "--certificate", "/nowhere", "--key", "/nowhere", says="expected a file to read, found '/nowhere'")


if __name__ == "__main__":
    unittest.main()
