"""The viewer on a virtual display (Xvfb, software rendering): view.py PROGRAM. Pictures are checked by counting the
pixels with the hue of the tool, of the object and of the overlay, inside and outside the panels."""

import colorsys
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import display
import png

PROGRAM = os.path.abspath(sys.argv.pop())
WIDTH, HEIGHT = 800, 520
XDOTOOL = shutil.which("xdotool")

SCENES = {  # hues of the visible objects in degrees, and whether much of the device's ghost is visible
    "sphere": ((10, 40), False), "stylus": ((10, 30), False), "peg": ((10, 40), True), "tooth": ((10, 30), False),
    "groove": ((10, 40), True), "assembly": ((10, 50), False), "hands": ((10, 30), False),
}


class Picture:
    """Counts pixels by hue, in every second row and column."""

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
        """Text: bright pixels without colour."""
        return sum(value > 0.75 and saturation < 0.25 for _, saturation, value in self.pixels(**region))


STATUS = {"right": 0.3, "bottom": 0.24}  # inside the panel at the upper left


class Fixture(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def show(self, *arguments, name="last.png"):
        """Runs the program and returns its last picture and the completed process."""
        result = subprocess.run([PROGRAM, *arguments, "--width", str(WIDTH), "--height", str(HEIGHT), "--picture",
                                 self.path(name)], capture_output=True, text=True, timeout=300, cwd=self.folder.name)
        self.assertEqual(result.returncode, 0, result.stderr)
        return Picture(self.path(name)), result


class Viewer(Fixture):
    def test_every_scene_shows_tool_object_and_overlay(self):
        for scene, (hues, ghost) in SCENES.items():
            with self.subTest(scene):
                for _ in range(8):  # on a busy machine the last picture may be one from before the contact
                    picture, result = self.show("run", scene, "--view", "--seconds", "2.4", "--json")
                    if not ghost or picture.count((290, 350), bottom=0.68) > 25:
                        break
                self.assertEqual((picture.width, picture.height), (WIDTH, HEIGHT))
                data = json.loads(result.stdout)
                self.assertGreater(data["ticks"], 0)
                self.assertGreater(picture.count((190, 225)), 600, "tool")
                self.assertGreater(picture.count(hues), 2000, "object")
                self.assertGreater(picture.bright(**STATUS), 90, "overlay")
                self.assertGreater(picture.count((200, 220), top=0.6, right=0.8), 40, "plot of the ticks")
                if ghost:
                    self.assertGreater(picture.count((290, 350), bottom=0.68), 25, "ghost of the device")

    def brown_pixels(self, name, scene, seconds):
        with open(self.path(name + ".yaml"), "w") as file:
            file.write(scene)
        picture, _ = self.show("run", name + ".yaml", "--view", "--seconds", seconds, name=name + ".png")
        return sum(10 <= 360 * hue < 45 and saturation > 0.3 and 0.1 < value < 0.65 for hue, saturation, value
                   in picture.pixels(left=0.35, right=0.65, top=0.25, bottom=0.65))

    def test_a_drilled_body_is_drawn_as_it_remains(self):
        # A hand that reaches the caries, which is brown, at once; then the same with a drill that is switched off.
        caries = subprocess.run([PROGRAM, "run", "--dump-scene", "caries"], capture_output=True, text=True, timeout=300).stdout
        for slower in (1, 2, 4, 8):  # a loop that a busy machine holds up removes less
            hand = "  hand:\n" + "".join(f"  - {{time_s: {time * slower:g}, position_m: [0.001, 0, {z}]}}\n" for time, z in
                                         ((0, 0.007), (1.1, 0.0022), (1.4, 0.012), (60, 0.012)))
            scene = re.sub(r"  hand:\n(  - .*\n(    .*\n)*)+", hand, caries)
            self.assertEqual(scene.count(hand), 1)
            drilled = self.brown_pixels("drilled", scene, f"{1.7 * slower:g}")
            if drilled > 60:
                break
        self.assertGreater(drilled, 60)
        self.assertEqual(self.brown_pixels("whole", scene.replace("  drill:\n", "  drill:\n    button: 3\n"), "0.3"), 0)

    def test_no_tick_allocates_while_the_viewer_draws(self):
        ticker = os.path.join(os.path.dirname(PROGRAM), "..", "tests", "apps", "viewer_tick")
        result = subprocess.run([ticker], capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result)
        ticks, contacts, pictures, allocations = map(int, re.findall(r"-?\d+", result.stdout))
        self.assertGreater(ticks, 1500)
        self.assertGreater(contacts, 500)
        self.assertGreaterEqual(pictures, 1)
        self.assertEqual(allocations, 0)

    def test_the_last_picture_shows_no_freed_statistics(self):
        # MALLOC_PERTURB_ fills freed memory: the count of misses would then run out of its panel, in orange.
        with unittest.mock.patch.dict(os.environ, MALLOC_PERTURB_="90"):
            picture, _ = self.show("run", "sphere", "--view", "--seconds", "1")
        beside = {"left": 365 / WIDTH, "right": 450 / WIDTH, "top": 110 / HEIGHT, "bottom": 126 / HEIGHT}
        self.assertEqual(picture.count((25, 45), **beside), 0)

    def test_a_recording_is_replayed(self):
        recording = self.path("session.rec")
        subprocess.run([PROGRAM, "run", "tooth", "--seconds", "3", "--record", recording], check=True,
                       capture_output=True, timeout=300)
        picture, _ = self.show("view", recording, "--scene", "tooth", "--seconds", "4", "--speed", "2")
        self.assertGreater(picture.count((190, 225)), 600, "tool")
        self.assertGreater(picture.count((10, 30)), 2000, "object")
        self.assertGreater(picture.bright(**STATUS), 100, "overlay")
        missing = subprocess.run([PROGRAM, "view", self.path("none.rec")], capture_output=True, text=True, timeout=300)
        self.assertEqual(missing.returncode, 2)
        self.assertEqual(missing.stderr.count("\n"), 1, missing.stderr)

    def test_a_replay_shows_the_world_that_could_be_touched(self):
        # A world with a yellow ball takes the place of one without, then its orange floor is hidden. The bound of time
        # grows, because a loaded machine draws slowly.
        recording = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "recordings", "exchanged.rec")
        for seconds in ("2", "8", "32", "128"):
            picture, result = self.show("view", recording, "--seconds", seconds)
            yellow, orange = picture.count((38, 50), bottom=0.68), picture.count((12, 30), bottom=0.68)
            if yellow > 800 and orange == 0:
                break
        self.assertGreater(yellow, 800, "ball of the second world")
        self.assertEqual(orange, 0, "hidden floor")
        self.assertEqual(result.stderr, "")

    def test_without_a_display_the_run_continues(self):
        unused = next(n for n in range(77, 1000) if not os.path.exists(f"/tmp/.X11-unix/X{n}"))
        for display in None, f":{unused}":
            environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
            if display:
                environment["DISPLAY"] = display
            result = subprocess.run([PROGRAM, "run", "--view", "--seconds", "0.3", "--json"], capture_output=True,
                                    text=True, env=environment, timeout=300)
            self.assertEqual(result.returncode, 0, result)
            self.assertEqual(json.loads(result.stdout)["tools"][0]["ticks"] > 100, True)
            self.assertRegex(result.stderr, r"viewer: expected a display, found none \(.+\)")
            self.assertEqual(result.stderr.count("viewer:"), 1, result.stderr)
        record = subprocess.run([PROGRAM, "run", "--seconds", "0.2", "--record", self.path("r")], capture_output=True,
                                timeout=300)
        self.assertEqual(record.returncode, 0)
        view = subprocess.run([PROGRAM, "view", self.path("r")], capture_output=True, text=True, env=environment, timeout=300)
        self.assertEqual(view.returncode, 1)

    def test_a_picture_that_cannot_be_written_is_an_error(self):
        result = subprocess.run([PROGRAM, "run", "--view", "--seconds", "0.3", "--width", "200", "--height", "150",
                                 "--picture", "/no/such/folder/x.png"], capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 1)
        self.assertIn("/no/such/folder/x.png", result.stderr)


class Window:
    """A run in a window that xdotool drives. Conditions are waited for, because a loaded machine draws slowly."""

    PATIENCE_S = 60

    def __init__(self, folder, *arguments, seconds="120"):
        self.folder, self.pictures = folder, 0
        self.process = subprocess.Popen(
            [PROGRAM, "run", *arguments, "--view", "--seconds", seconds, "--width", str(WIDTH), "--height", str(HEIGHT),
             "--picture", os.path.join(folder, "last.png"), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, cwd=folder)
        self.id = self.wait_for(lambda: self.search()[-1:], "a window")[0]

    def search(self, *options):
        return subprocess.run([XDOTOOL, "search", *options, "--pid", str(self.process.pid)], capture_output=True,
                              text=True).stdout.split()

    def wait_for(self, condition, what):
        end = time.monotonic() + self.PATIENCE_S
        while not (value := condition()):
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                raise AssertionError(f"expected {what}, found none; {self.process.communicate()[1]}")
            time.sleep(0.05)
        return value

    def act(self, *actions):
        for action in actions:
            subprocess.run([XDOTOOL, *action.replace("WINDOW", self.id).split()], check=True, capture_output=True)

    def picture(self):
        """A picture that shows all actions up to now: the window handles its events in order, and P is the last."""
        self.pictures += 1
        path = os.path.join(self.folder, f"tactus-{self.pictures:03}.png")
        self.act("key --window WINDOW p")

        def whole():
            try:
                return Picture(path)
            except (FileNotFoundError, AssertionError, struct.error, zlib.error, IndexError):
                return None  # not yet, or not whole yet
        return self.wait_for(whole, path)

    def still(self, value):
        """The value of a picture when it no longer changes from one picture to the next."""
        last = value(self.picture())
        while abs((now := value(self.picture())) - last) > 0.5:
            last = now
        return now

    def finish(self, interrupt=True):
        """Ends the run; the last picture and the summary."""
        if interrupt:
            self.process.send_signal(signal.SIGINT)
        stdout, stderr = self.process.communicate(timeout=self.PATIENCE_S)
        if self.process.returncode != 0:
            raise AssertionError(stderr)
        return Picture(os.path.join(self.folder, "last.png")), json.loads(stdout)


@unittest.skipUnless(XDOTOOL, "no xdotool")
class Input(Fixture):
    """Keys and mouse, as a person uses them."""

    def open(self, *arguments, **options):
        window = Window(self.folder.name, *arguments, **options)
        self.addCleanup(window.process.kill)
        return window

    def test_keys_toggle_panels_and_write_pictures(self):
        window = self.open("stylus")
        self.assertGreater(window.picture().count((190, 225)), 600)
        window.act("key --window WINDOW o")
        picture = window.picture()
        self.assertLess(picture.bright(**STATUS), 20, "panels are off")
        self.assertGreater(picture.count((190, 225)), 600, "the tool is still there")
        last, _ = window.finish()
        self.assertLess(last.bright(**STATUS), 20, "panels are off")

    def test_a_drag_turns_the_view(self):
        window = self.open("stylus")
        window.act("key --window WINDOW g")
        plain = window.picture()
        window.act("mousemove --window WINDOW 400 300", "mousedown 3", "mousemove --window WINDOW 400 420", "mouseup 3")
        turned = window.picture()
        row = 3 * HEIGHT // 5
        changed = sum(plain.rows[row][3 * x:3 * x + 3] != turned.rows[row][3 * x:3 * x + 3] for x in range(WIDTH))
        self.assertGreater(changed, WIDTH // 2)
        window.finish()

    def test_a_question_mark_opens_the_help(self):
        window = self.open("stylus")
        plain = window.picture()
        window.act("key --window WINDOW question")
        region = {"left": 0.6, "right": 0.99, "top": 0.25, "bottom": 0.75}
        shown = window.picture()
        self.assertGreater(shown.bright(**region), plain.bright(**region) + 500)
        scene = {"left": 0.3, "right": 0.58, "top": 0.25, "bottom": 0.75}  # the help lies beside it
        self.assertLess(abs(shown.bright(**scene) - plain.bright(**scene)), 300)
        window.finish()

    def test_a_closed_window_does_not_end_the_run(self):
        window = self.open("stylus", seconds="6")
        window.act("key --window WINDOW q")
        window.wait_for(lambda: not window.search("--onlyvisible"), "a closed window")
        _, summary = window.finish(interrupt=False)
        self.assertEqual(summary["ticks"] + summary["skipped"], 6000)

    def test_dragging_moves_the_device_mouse(self):
        def middle(picture):
            """The mean column of the tool's pixels."""
            columns = [x for y in range(100, HEIGHT - 180, 2) for x in range(0, WIDTH, 2)
                       if blue(picture.rows[y][3 * x:3 * x + 3])]
            return sum(columns) / len(columns)

        def blue(rgb):
            hue, saturation, value = colorsys.rgb_to_hsv(*(v / 255 for v in rgb))
            return 190 <= 360 * hue < 225 and saturation > 0.4 and value > 0.4

        window = self.open("stylus", "--device", "mouse")
        window.picture()
        window.act("mousemove --window WINDOW 400 300", "mousedown 1", "mousemove --window WINDOW 400 390")
        start = window.still(middle)
        window.act("mousemove --window WINDOW 500 390")
        self.assertAlmostEqual(window.still(middle), start + 100, delta=25)  # the tool is nearer than the target
        window.act("mouseup 1")
        _, summary = window.finish()
        tool = summary["tools"][0]
        self.assertEqual(tool["device"], "mouse")
        self.assertEqual((tool["faults"], tool["contact_ticks"]), (0, 0), "the tool passes in front of the body")

    def test_the_wheel_pushes_the_device_mouse_into_the_body(self):
        window = self.open("stylus", "--device", "mouse")
        window.picture()
        window.act("mousemove --window WINDOW 400 300", "mousedown 1", "mousemove --window WINDOW 400 390",
                   "click --repeat 15 --delay 20 4")
        window.picture()
        time.sleep(1)  # of contact
        _, summary = window.finish()
        tool = summary["tools"][0]
        self.assertGreater(tool["contact_ticks"], 100)
        self.assertGreater(tool["max_force_N"], 0.5)


if __name__ == "__main__":
    if not display.XVFB:
        print("skipped: the test of the viewer (no Xvfb)")
        sys.exit(77)
    probe = subprocess.run([PROGRAM, "run", "--view", "--seconds", "0.05"], capture_output=True, text=True, timeout=300)
    if "found one without" in probe.stderr:
        print("skipped: the test of the viewer (built without it)")
        sys.exit(77)
    os.nice(5)  # software rendering takes all the processors it can get
    with display.display(1024, 768):
        unittest.main()
