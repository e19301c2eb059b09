"""The viewer on a display of its own (Xvfb, software rendering): view.py PROGRAM. Pictures are judged by what is in
them: how many pixels have the tool's hue, the object's, the overlay's, outside and inside of the panels."""

import colorsys
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import png

PROGRAM = os.path.abspath(sys.argv.pop())
WIDTH, HEIGHT = 800, 520
XDOTOOL = shutil.which("xdotool")

SCENES = {  # the hues of the objects that can be seen, degrees, and whether much of the device's ghost is
    "sphere": ((10, 40), False), "stylus": ((10, 30), False), "peg": ((10, 40), True), "tooth": ((10, 30), False),
    "groove": ((10, 40), True), "assembly": ((10, 50), False), "hands": ((10, 30), False),
}


class Picture:
    """A count of the pixels by hue, of every second row and column."""

    def __init__(self, path):
        self.width, self.height, self.rows = png.read(path)

    def pixels(self, left=0.0, top=0.0, right=1.0, bottom=1.0):
        for y in range(int(top * self.height), int(bottom * self.height), 2):
            row = self.rows[y]
            for x in range(int(left * self.width), int(right * self.width), 2):
                yield colorsys.rgb_to_hsv(*(value / 255 for value in row[3 * x:3 * x + 3]))

    def count(self, hues, **region):
        low, high = hues
        return sum(low <= 360 * hue < high and saturation > 0.25 and value > 0.25
                   for hue, saturation, value in self.pixels(**region))

    def bright(self, **region):
        """Text: light and without colour."""
        return sum(value > 0.75 and saturation < 0.25 for _, saturation, value in self.pixels(**region))


STATUS = {"right": 0.3, "bottom": 0.24}  # within the panel at the upper left


class Fixture(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def show(self, *arguments, name="last.png"):
        """Runs the program with a picture at the end; the picture and its summary."""
        result = subprocess.run([PROGRAM, *arguments, "--width", str(WIDTH), "--height", str(HEIGHT), "--picture",
                                 self.path(name)], capture_output=True, text=True, timeout=120, cwd=self.folder.name)
        self.assertEqual(result.returncode, 0, result.stderr)
        return Picture(self.path(name)), result


class Viewer(Fixture):
    def test_every_scene_shows_tool_object_and_overlay(self):
        for scene, (hues, ghost) in SCENES.items():
            with self.subTest(scene):
                picture, result = self.show("run", scene, "--view", "--seconds", "2.4", "--json")
                self.assertEqual((picture.width, picture.height), (WIDTH, HEIGHT))
                self.assertGreater(json.loads(result.stdout)["tools"][0]["ticks"], 1000)
                self.assertGreater(picture.count((190, 225)), 600, "tool")
                self.assertGreater(picture.count(hues), 2000, "object")
                self.assertGreater(picture.bright(**STATUS), 90, "overlay")
                self.assertGreater(picture.count((200, 220), top=0.6, right=0.8), 40, "plot of the ticks")
                if ghost:
                    self.assertGreater(picture.count((290, 350), bottom=0.68), 25, "ghost of the device")

    def test_no_tick_allocates_while_the_viewer_draws(self):
        ticker = os.path.join(os.path.dirname(PROGRAM), "..", "tests", "viewer_tick")
        result = subprocess.run([ticker], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result)
        ticks, contacts, pictures, allocations = map(int, re.findall(r"-?\d+", result.stdout))
        self.assertGreater(ticks, 1500)
        self.assertGreater(contacts, 500)
        self.assertGreaterEqual(pictures, 1)
        self.assertEqual(allocations, 0)

    def test_a_recording_is_seen_again(self):
        recording = self.path("session.rec")
        subprocess.run([PROGRAM, "run", "tooth", "--seconds", "3", "--record", recording], check=True,
                       capture_output=True, timeout=60)
        picture, _ = self.show("view", recording, "--scene", "tooth", "--seconds", "4", "--speed", "2")
        self.assertGreater(picture.count((190, 225)), 600, "tool")
        self.assertGreater(picture.count((10, 30)), 2000, "object")
        self.assertGreater(picture.bright(**STATUS), 100, "overlay")
        missing = subprocess.run([PROGRAM, "view", self.path("none.rec")], capture_output=True, text=True, timeout=60)
        self.assertEqual(missing.returncode, 2)
        self.assertEqual(missing.stderr.count("\n"), 1, missing.stderr)

    def test_without_a_display_the_run_goes_on(self):
        for display in None, ":77":
            environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
            if display:
                environment["DISPLAY"] = display
            result = subprocess.run([PROGRAM, "run", "--view", "--seconds", "0.3", "--json"], capture_output=True,
                                    text=True, env=environment, timeout=60)
            self.assertEqual(result.returncode, 0, result)
            self.assertEqual(json.loads(result.stdout)["tools"][0]["ticks"] > 100, True)
            self.assertRegex(result.stderr, r"viewer: expected a display, found none \(.+\)")
            self.assertEqual(result.stderr.count("viewer:"), 1, result.stderr)
        replay = subprocess.run([PROGRAM, "run", "--seconds", "0.2", "--record", self.path("r")], capture_output=True,
                                timeout=60)
        self.assertEqual(replay.returncode, 0)
        seen = subprocess.run([PROGRAM, "view", self.path("r")], capture_output=True, text=True, env=environment, timeout=60)
        self.assertEqual(seen.returncode, 1)

    def test_a_picture_that_cannot_be_written_is_an_error(self):
        result = subprocess.run([PROGRAM, "run", "--view", "--seconds", "0.3", "--width", "200", "--height", "150",
                                 "--picture", "/no/such/folder/x.png"], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertIn("/no/such/folder/x.png", result.stderr)


@unittest.skipUnless(XDOTOOL, "no xdotool")
class Hands(Fixture):
    """Keys and mouse, as a person uses them."""

    def act(self, *actions, arguments=("stylus",), seconds="4"):
        """Does the actions in the window of a run; the last picture and the summary."""
        process = subprocess.Popen(
            [PROGRAM, "run", *arguments, "--view", "--seconds", seconds, "--width", str(WIDTH), "--height", str(HEIGHT),
             "--picture", self.path("last.png"), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=self.folder.name)
        window = ""
        while not window and process.poll() is None:
            found = subprocess.run([XDOTOOL, "search", "--pid", str(process.pid)], capture_output=True, text=True)
            window = found.stdout.split()[-1] if found.stdout.split() else ""
            time.sleep(0.05)
        self.assertTrue(window, "no window")
        time.sleep(1.2)
        for action in actions:
            subprocess.run([XDOTOOL, *[word.replace("WINDOW", window) for word in action.split()]], check=True,
                           capture_output=True)
            time.sleep(0.25)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, stderr)
        return Picture(self.path("last.png")), json.loads(stdout)

    def test_keys_switch_panels_and_write_pictures(self):
        picture, _ = self.act("key --window WINDOW p", "key --window WINDOW o")
        self.assertLess(picture.bright(**STATUS), 20, "panels are off")
        self.assertGreater(picture.count((190, 225)), 600, "the tool is still there")
        self.assertTrue(os.path.exists(self.path("tactus-001.png")))
        self.assertGreater(Picture(self.path("tactus-001.png")).count((190, 225)), 600)

    def test_a_question_mark_brings_the_help_and_a_drag_turns_the_view(self):
        plain, _ = self.act("key --window WINDOW g")
        turned, _ = self.act("mousemove --window WINDOW 400 300", "mousedown 3", "mousemove --window WINDOW 400 420",
                             "mouseup 3")
        row = 3 * HEIGHT // 5
        changed = sum(plain.rows[row][3 * x:3 * x + 3] != turned.rows[row][3 * x:3 * x + 3] for x in range(WIDTH))
        self.assertGreater(changed, WIDTH // 2)
        helped, _ = self.act("key --window WINDOW question")
        region = {"left": 0.3, "right": 0.85, "top": 0.25, "bottom": 0.7}
        self.assertGreater(helped.bright(**region), plain.bright(**region) + 500)

    def test_a_closed_window_does_not_end_the_run(self):
        _, summary = self.act("key --window WINDOW q")
        self.assertGreater(summary["tools"][0]["ticks"], 3000)

    def test_dragging_moves_the_device_mouse(self):
        def middle(picture):
            """Of the tool, from left to right."""
            columns = [x for y in range(100, HEIGHT - 180, 2) for x in range(0, WIDTH, 2)
                       if blue(picture.rows[y][3 * x:3 * x + 3])]
            return sum(columns) / len(columns)

        def blue(rgb):
            hue, saturation, value = colorsys.rgb_to_hsv(*(v / 255 for v in rgb))
            return 190 <= 360 * hue < 225 and saturation > 0.4 and value > 0.4

        arguments = ("stylus", "--device", "mouse")
        lower = "mousemove --window WINDOW 400 300", "mousedown 1", "mousemove --window WINDOW 400 390"
        start, summary = self.act(*lower, arguments=arguments)
        tool = summary["tools"][0]
        self.assertEqual(tool["device"], "mouse")
        self.assertEqual((tool["faults"], tool["contact_ticks"]), (0, 0), "it begins free, and passes before the body")
        moved, _ = self.act(*lower, "mousemove --window WINDOW 500 390", arguments=arguments)
        self.assertAlmostEqual(middle(moved), middle(start) + 100, delta=25)  # it is nearer than the middle
        # The wheel pushes it away from the eye, into the body.
        _, summary = self.act(*lower, "click --repeat 15 --delay 20 4", arguments=arguments)
        tool = summary["tools"][0]
        self.assertGreater(tool["contact_ticks"], 100)
        self.assertGreater(tool["max_force_N"], 0.5)


if __name__ == "__main__":
    if "--inside" not in sys.argv:
        server = shutil.which("xvfb-run")
        if not server:
            print("skipped: the test of the viewer (no xvfb-run)")
            sys.exit(77)
        probe = subprocess.run([PROGRAM, "run", "--view", "--seconds", "0.05"], capture_output=True, text=True, timeout=60)
        if "found one without" in probe.stderr:
            print("skipped: the test of the viewer (built without it)")
            sys.exit(77)
        os.execv(server, [server, "-a", "-s", "-screen 0 1024x768x24", sys.executable, *sys.argv, "--inside", PROGRAM])
    sys.argv.remove("--inside")
    unittest.main()
