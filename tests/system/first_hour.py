"""What a newcomer meets in the first hour: units, sizes, typing errors, missing files, windows, hints:
first_hour.py CLASS … PROGRAM."""

import csv
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from program import BadInputTest, Program

PROGRAM = sys.argv.pop()
tactus = Program(PROGRAM)


def write_box(path, size, at=(0, 0, 0), open_top=False):
    """A box as OFF, `at` is its centre; faces outwards."""
    corners = [[at[k] + (bit - 0.5) * size[k] for k, bit in enumerate((x, y, z))]
               for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = ["0 1 3 2", "4 6 7 5", "0 4 5 1", "2 3 7 6", "0 2 6 4", "1 5 7 3"]
    if open_top:
        faces.pop()
    with open(path, "w") as file:
        file.write(f"OFF\n8 {len(faces)} 0\n" + "".join("%.9g %.9g %.9g\n" % tuple(c) for c in corners) +
                   "".join(f"4 {face}\n" for face in faces))
    return path


class Folder(BadInputTest):
    program = tactus

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="first hour ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def scene(self, text):
        with open(self.path("x.yaml"), "w") as file:
            file.write(text)
        return self.path("x.yaml")


class Units(Folder):
    def test_mesh_asks_about_sizes_beyond_a_metre_and_below_a_millimetre(self):
        for size, hint in ((64, "64 m large: are these millimetres\\? --units mm makes it 64 mm"),
                           (1, None), (0.001, None), (1.001, "1.001 m large"), (2e-5, "20 um large: .*--scale 1e.03"),
                           (5000, "5000 m large: .*--scale 2e-05 makes it 100 mm")):
            result = tactus("mesh", write_box(self.path("a.off"), (size, size / 2, size / 4)))
            self.assertEqual(result.returncode, 0, result)
            if hint:
                self.assertRegex(result.stdout, hint)
            else:
                self.assertNotIn("large", result.stdout)
                self.assertIn("a closed solid, ready to be touched", result.stdout)

    def test_mesh_converts_units(self):
        path = write_box(self.path("a.off"), (64, 32, 16))
        for options, scale in ((["--units", "mm"], 1e-3), (["--units", "inch"], 0.0254), (["--units", "cm"], 1e-2),
                               (["--scale", "0.5"], 0.5), ([], 1)):
            data = json.loads(tactus("mesh", path, "--json", *options).stdout)
            self.assertEqual(data["scale"], scale)
            self.assertAlmostEqual(data["bounds_max"][0], 32 * scale, places=6)
            self.assertAlmostEqual(data["volume_m3"] / (64 * 32 * 16 * scale ** 3), 1, places=6)
            self.assertAlmostEqual(data["area_m2"] / (2 * (64 * 32 + 32 * 16 + 64 * 16) * scale ** 2), 1, places=6)
        self.assertEqual(json.loads(tactus("mesh", path, "--json").stdout)["plausible_scale"], 1e-3)
        self.refuse("mesh", path, "--units", "mm", "--scale", "2", says="expected --units or --scale, found --units mm and")
        self.refuse("mesh", path, "--units", "mn", says="expected auto or m or cm or mm or inch, found 'mn'; did you mean")

    def test_run_keeps_a_plausible_size_and_prints_the_scale(self):
        for size, options, scale, note in (
                (0.064, [], 1, "scale 1 (metres"), (64, [], 1e-3, "scale 0.001 (taken as millimetres"),
                (64, ["--units", "cm"], 1e-2, "scale 0.01 (as given): 640 mm"),
                (64, ["--scale", "0.002"], 2e-3, "scale 0.002 (as given): 128 mm"),
                (0.005, [], 1, "scale 1 (metres"), (0.9, [], 1, "scale 1 (metres")):
            path = write_box(self.path("part.off"), (size, size, size / 2), at=(size, 3 * size, 0))
            dumped = tactus("run", "--dump-scene", path, *options)
            self.assertEqual(dumped.returncode, 0, dumped)
            self.assertIn(chr(34) + "part" + chr(34), dumped.stdout)
            self.assertEqual(float((re.findall(r"scale: ([\d.e-]+)", dumped.stdout.split("objects:")[1]) or [1])[0]), scale)
            result = tactus("run", path, *options, "--seconds", "0.1")
            self.assertEqual(result.returncode, 0, result)
            self.assertIn(note, result.stdout)
            self.assertEqual(result.stderr, "")

    def test_a_tool_may_have_other_units_than_the_part(self):
        part = write_box(self.path("part mm.off"), (64, 32, 16))
        for size, note in ((0.01, "; scale of the tool 1: 10 mm"), (5, None)):
            tool = write_box(self.path("tool.off"), (size, size, size))
            result = tactus("run", part, "--tool", tool, "--seconds", "0.05")
            self.assertEqual(result.returncode, 0, result)
            self.assertNotIn("large", result.stderr)
            if note:
                self.assertIn(note, result.stdout)
            else:
                self.assertNotIn("scale of the tool", result.stdout)

    def test_each_mesh_file_may_have_its_own_unit(self):
        left = write_box(self.path("left @ home.off"), (20, 20, 40), at=(-40, 0, 0))
        right = write_box(self.path("right.off"), (0.02, 0.02, 0.06), at=(0.04, 0, 0))
        probe = write_box(self.path("probe.off"), (0.25, 0.25, 0.8))
        for files, scales, note in (
                ([left + "@mm", right + "@m", "--tool", probe + "@inch"], [0.0254, 1e-3, 1],
                 "scales 0.001 (as given), 1 (as given): 100 mm x 20 mm x 60 mm; scale of the tool 0.0254: 20.32 mm"),
                ([left + "@1e-3", right], [1e-3, 1], "scales 0.001 (as given), 1 (metres; "),
                ([right, left + "@mm", "--units", "m"], [1, 1e-3], "scales 1 (as given), 0.001 (as given): 100 mm")):
            dumped = tactus("run", *files, "--dump-scene", files[0])
            self.assertEqual(dumped.returncode, 0, dumped)
            found = [1 if s is None else float(s[1]) for s in (re.search(r"scale: ([\d.e-]+)", shape) for shape in
                                                              re.findall(r"kind: mesh.*?position_m", dumped.stdout, re.S))]
            self.assertEqual(found, scales, dumped.stdout)
            result = tactus("run", *files, "--seconds", "0.05")
            self.assertEqual((result.returncode, result.stderr), (0, ""), result)
            self.assertIn(note, result.stdout)
        self.refuse("run", right + "@mn", says="right.off: expected m, cm, mm, inch or a factor .* after '@', found 'mn'; did you mean")
        self.refuse("run", right + "@-1", says="right.off: expected m, cm, mm, inch or a factor .* after '@', found '-1'$")
        self.refuse("run", self.path("gone.off@mm"), says="gone.off: expected a scene file .*No such file")
        self.refuse("run", "sphere@mm", says="expected a mesh file together with a unit after '@', found 'sphere'")
        self.refuse("run", left + "@mm", right, "--csv", right, says="expected a file of its own .*right.off' twice")

    def test_a_mesh_in_a_scene_is_asked_about(self):
        write_box(self.path("a.off"), (64, 64, 64))
        tool = "tools: [{name: t, axes: 3, shapes: [{kind: solids, solids: 'sphere:r=0.005'}]}]\n"
        for scale, hint in (("", "a.off: 64 m large: are these millimetres\\? scale: 0.001"), (", scale: 0.001", None)):
            path = self.scene(f"scene: x\n{tool}objects: [{{name: o, position_m: [0, 0, 1], "
                              f"shapes: [{{kind: mesh, file: a.off{scale}}}]}}]\n")
            result = tactus("run", path, "--seconds", "0.1")
            self.assertEqual(result.returncode, 0, result)
            if hint:
                self.assertRegex(result.stderr, "^tactus: warning: .*" + hint)
            else:
                self.assertEqual(result.stderr, "")

    def test_faults_of_a_mesh_are_warnings_in_words(self):
        path = write_box(self.path("a.off"), (0.1, 0.1, 0.1), open_top=True)
        result = tactus("run", path, "--seconds", "0.1")
        self.assertEqual(result.returncode, 0, result)
        self.assertRegex(result.stderr, "^tactus: warning: .*a.off: found 4 open edges: a tool may get through the holes\n$")
        text = tactus("mesh", path).stdout
        self.assertIn("a surface with 4 open edges", text)
        self.assertRegex(text, "surfaces    5 .the file names no parts: divided at edges sharper than 30 degrees")
        self.assertRegex(text, "\n    0    2 triangles\n")


class Aim(Folder):
    def contact(self, *arguments):
        result = tactus("run", *arguments, "--seconds", "1.7", "--json")
        self.assertEqual(result.returncode, 0, result)
        data = json.loads(result.stdout)
        return data["tools"][0]["contact_ticks"] / data["ticks"], data["tools"][0]["max_force_N"]

    def test_the_hand_finds_the_surface(self):
        """Two posts with nothing between them: the hand that went down the middle touched neither."""
        left = write_box(self.path("left.off"), (20, 20, 40), at=(-40, 0, 0))
        right = write_box(self.path("right.off"), (20, 20, 60), at=(40, 0, 0))
        probe = write_box(self.path("probe.off"), (6, 6, 20), at=(500, 0, 0))
        for arguments in ([left, right], [left, right, "--tool", probe]):
            share, force_N = self.contact(*arguments)
            self.assertGreater(share, 0.2, arguments)
            self.assertGreater(force_N, 0.2)
            self.assertLess(force_N, 8)
        # Of any size: the hand's workspace is scaled, and the force is that of a wall of 800 N/m.
        for size in 0.004, 0.9:
            share, force_N = self.contact(write_box(self.path("a.off"), (size, size, size)))
            self.assertGreater(share, 0.2, size)
            self.assertGreater(force_N, 0.2)
            self.assertLess(force_N, 8)

    def test_nothing_touched_is_said(self):
        path = self.scene("scene: x\ntools: [{name: t, axes: 3, shapes: [{kind: solids, solids: 'sphere:r=0.005'}]}]\n"
                          "objects: [{name: o, position_m: [0, 0, 0.2], shapes: [{kind: box}]}]\n")
        result = tactus("run", path, "--seconds", "0.3")
        # The box's face is 150 mm above the ball's centre.
        found = re.search(r"no force: nothing was touched(?:; the tool stayed at least ([\d.]+) mm away)?", result.stdout)
        self.assertTrue(found, result.stdout)
        if found[1]:  # the distance is said where the mover knows it
            self.assertLessEqual(float(found[1]), 145.1)

    def test_mesh_options_need_a_mesh(self):
        probe = write_box(self.path("probe.off"), (0.01, 0.01, 0.02))
        self.refuse("run", "sphere", "--tool", probe, says="expected a mesh file together with --tool, found 'sphere'")
        self.refuse("run", "tooth", probe, says="expected a mesh file together with .*probe.off, found 'tooth'")
        self.refuse("run", "tooth", "--scale", "2", says="expected a mesh file .*'tooth'; in a scene file, each mesh has the key")
        self.refuse("run", probe, self.path("gone.off"), says="gone.off: cannot be opened: No such file")
        self.refuse("run", probe, "--tool", self.path("gone.off"), says="gone.off: cannot be opened: No such file")
        self.refuse("run", probe, *32 * [probe], says="MESH: expected at most 31 further arguments, found")


class Words(Folder):
    def test_a_missing_file_is_missing(self):
        for name in "nofile.stl", "models/part", "./x":
            self.refuse("run", name, says=f"^tactus: {re.escape(name)}: expected a scene file .*found: No such file or directory$")

    def test_typing_errors_get_a_suggestion(self):
        for arguments, suggestion in (
                (["latenc"], "latency"), (["rn"], "run"), (["rnu"], "run"), (["--hlp"], "--help"), (["devises"], "devices"),
                (["run", "spehre"], "sphere"), (["run", "stilus"], "stylus"), (["run", "--dump-scene", "toth"], "tooth"),
                (["run", "--sconds", "3"], "--seconds"), (["run", "--recrd=x"], "--record"), (["mesh", "--jsn"], "--json"),
                (["latency", "--hlp"], "--help"),
                (["run", "--device", "omega7"], "sim:omega7"), (["help", "rnu"], "run"),
                (["run", "--device", "fallcon"], "falcon"), (["run", "--device", "sim:flcon"], "falcon"),
                (["run", "--device", "sim:falcon:stilus"], "stylus"), (["run", "--collider", "doptre"], "doptree"),
                (["emulate", "bord"], "board"), (["emulate", "flacon"], "falcon"),
                (["run", "--policy", "fif"], "fifo"), (["run", "--mover", "reactiv"], "reactive")):
            self.refuse(*arguments, says=f"found .*; did you mean '{suggestion}'\\?$")
        for arguments in ["unicorn"], ["run", "unicorn"], ["run", "--unicorn"], ["run", "--device", "unicorn"]:
            self.refuse(*arguments, says="found '(--)?unicorn'$")

    def test_help_of_a_command(self):
        self.assertEqual(tactus("help", "latency").stdout, tactus("latency", "--help").stdout)
        self.assertEqual(tactus("help").stdout, tactus("--help").stdout)

    def test_a_recording_is_no_scene(self):
        recording = self.path("a.rec")
        self.assertEqual(tactus("run", "--seconds", "0.05", "--record", recording).returncode, 0)
        self.refuse("run", recording, says="a.rec: expected a scene .*found a recording; `tactus view` shows it")
        scene = self.path("a.yaml")
        with open(scene, "w") as file:
            file.write("scene: a\n")
        self.refuse("view", scene, says="a.yaml: expected a recording, found a scene; `tactus run .*a.yaml --view` shows it")

    def test_what_is_no_mesh_is_said_in_our_words(self):
        for name, content, says in (("text.stl", "hello there", "expected a mesh in the format .stl, found none"),
                                    ("picture.png", "x", "expected a mesh file .*, found the ending '.png'"),
                                    ("cut.stl", "solid x\n", "expected intact geometry, found a fault")):
            with open(self.path(name), "w") as file:
                file.write(content)
            self.refuse("mesh", self.path(name), says=f"^tactus: .*{re.escape(name)}: {says}")

    def test_a_file_on_standard_output_is_alone_there(self):
        result = tactus("run", "sphere", "--seconds", "0.05", "--task", "-")
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(json.loads(result.stdout)["scene"], "sphere on plane")
        self.assertRegex(result.stderr, "(?s)^machine .*verdict ")
        for command in ["run", "sphere"], ["latency"]:
            result = tactus(*command, "--seconds", "0.05", "--report", "-")
            self.assertEqual(result.returncode, 0, result)
            self.assertTrue(result.stdout.startswith("<!doctype html>") and result.stdout.endswith("</html>\n"))
            self.assertRegex(result.stderr, "(?s)^machine .*verdict ")
            self.refuse(*command, "--report", "-", "--json", says="report: expected a file, found '-'")
            for option in "log", "trace":
                self.refuse(*command, f"--{option}", "-", says=f"{option}: expected a file, found '-'")
        self.refuse("run", "--record", "-", says="record: expected a file, found '-'")
        self.refuse("run", "--task", "-", "--report", "-", says="a file of its own.*'-' twice")

    def test_a_mouse_without_a_window_is_explained(self):
        result = tactus("run", "--device", "mouse", "--seconds", "0.1")
        self.assertRegex(result.stderr, "^tactus run: without --view, .* add --view to drag the tool in a window\n")


class Hostile(Folder):
    """Files that are none, never end, or are empty."""

    def test_what_is_no_file_is_named(self):
        empty, text = self.path("empty.csv"), self.path("long.csv")
        open(empty, "w").close()
        with open(text, "w") as file:
            file.write("#" + "1" * 100000 + "\n0,0,0,0,0,0,0,1\n")
        commands = {"poses": ["query", "sphere:r=1", "sphere:r=1", "--poses"],
                    "motions": ["sweep", "sphere:r=1", "sphere:r=1", "--csv", self.path("out.csv"), "--motions"],
                    "path": ["render", "sphere", "--output", self.path("out.csv"), "--input"]}
        for content, command in commands.items():
            for path, reason in (("/dev/zero", "it is a device"), ("/dev/null", "it is a device"),
                                 (self.folder, "it is a folder"), (text, "a line is longer than 65536 bytes")):
                self.refuse(*command, path, says=f"cannot read the {content}: {reason}$")
            self.refuse(*command, empty, says="expected (poses|motions), found none$")
        os.mkdir(self.path("folder.yaml"))
        self.refuse("run", self.path("folder.yaml"), says="expected a scene file: it is a folder$")
        self.refuse("run", "/dev/zero", says="is not a regular file, expected a mesh file$")

    def test_nesting_has_a_limit(self):
        self.refuse("run", self.scene("[" * 250000), says="x.yaml:1:17: expected at most 16 levels of nesting, found more$")

    def test_a_large_scene_is_announced(self):
        path = self.scene("scene: x\ntools: [{name: t, shapes: [{kind: solids, solids: 'sphere:r=0.005'}]}]\n"
                          "objects: [{name: o, position_m: [0, 0, 1], shapes: [" +
                          ", ".join(4 * ["{kind: sphere, subdivisions: 7}"]) + "]}]\n")
        process = subprocess.Popen([PROGRAM, "run", path, "--seconds", "0.1"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        line = process.stderr.readline()
        process.kill()
        process.communicate()
        self.assertEqual(line, "tactus: building about 1.3 million triangles, which takes a while\n")


class Csv(Folder):
    def test_every_tick_is_a_row(self):
        path = self.path("run.csv")
        result = tactus("run", "sphere", "--seconds", "2", "--csv", path, "--json")
        self.assertEqual(result.returncode, 0, result)
        summary = json.loads(result.stdout)
        with open(path) as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), summary["ticks"])
        touching = [row for row in rows if int(row["contacts"]) > 0]
        self.assertEqual(len(touching), summary["tools"][0]["contact_ticks"])
        force = max(math.dist((0, 0, 0), [float(row[k]) for k in ("fx", "fy", "fz")]) for row in rows)
        self.assertAlmostEqual(force, summary["tools"][0]["max_force_N"], places=4)
        times = [float(row["t_s"]) for row in rows]
        self.assertTrue(all(b > a for a, b in zip(times, times[1:])))
        depth = max(math.dist([float(row["device_" + k]) for k in "xyz"], [float(row["sco_" + k]) for k in "xyz"])
                    for row in rows)
        self.assertAlmostEqual(depth, summary["tools"][0]["max_depth_m"], places=6)
        self.assertEqual({row["state"] for row in touching}, {"running"})

    def test_effects_are_in_table_summary_report_and_recording(self):
        scene, path, page, recording = (self.path(n) for n in ("fx.yaml", "fx.csv", "fx.html", "fx.rec"))
        with open(scene, "w") as file:
            file.write("scene: pulled\ntools: [{name: ball, axes: 3, shapes: [{kind: sphere}]}]\n"
                       "effects: [{kind: constant, name: wind, force_N: [0.3, 0, -0.4]}]\n")
        result = tactus("run", scene, "--seconds", "0.4", "--csv", path, "--json", "--report", page, "--record",
                        recording)
        self.assertEqual(result.returncode, 0, result)
        with open(path) as file:
            rows = list(csv.DictReader(file))
        forces = [[float(row["effects_" + k]) for k in "xyz"] for row in rows]
        self.assertAlmostEqual(math.dist(forces[-1], (0.3, 0, -0.4)), 0, places=5)
        self.assertAlmostEqual(json.loads(result.stdout)["tools"][0]["max_effects_N"], 0.5, places=5)
        with open(page) as file:
            self.assertIn('id="effects"', file.read())
        replay = self.path("replay.csv")
        result = tactus("run", "--device", "playback:" + recording, "--csv", replay, "--json")
        self.assertEqual(result.returncode, 0, result)
        self.assertAlmostEqual(json.loads(result.stdout)["tools"][0]["max_effects_N"], 0.5, places=5)

    def test_it_grows_while_the_run_goes_on_and_two_tools_have_a_row_each(self):
        path = self.path("hands.csv")
        process = subprocess.Popen([PROGRAM, "run", "hands", "--seconds", "100", "--csv", path], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        process.stderr.readline()
        end = time.monotonic() + 60
        while (not os.path.exists(path) or os.path.getsize(path) < 100000) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        with open(path) as file:
            tools = [row["tool"] for row in csv.DictReader(file)]
        self.assertEqual(tools.count("0"), tools.count("1"))

    def test_a_file_that_cannot_be_written_is_an_error(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        for path, reason in (("/no/such/folder/x.csv", "No such file"), ("/dev/full", "No space left"),
                             (pipe, "No such device or address")):
            result = tactus("run", "sphere", "--seconds", "0.2", "--csv", path)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, f"tactus run: {path}: cannot write: {reason}")
        self.refuse("run", "--csv", "-", says="csv: expected a file, found '-'")


class Driver(Folder):
    """A driver in a shared library, compiled here."""

    SOURCE = """
        #include "devices/registry.h"
        #include <stdlib.h>
        static tac_device_status get(tac_device *d, int64_t now_ns, tac_device_state *s)
        {
            *s = (tac_device_state){.time_ns = now_ns, .T_base_tool = {{0, 0, 0.05}, {0, 0, 0, 1}}};
            return TAC_DEVICE_OK;
        }
        static tac_device_status put(tac_device *d, int64_t now_ns, const tac_wrench *w) { return TAC_DEVICE_OK; }
        static void enable(tac_device *d, bool on) {}
        static void destroy(tac_device *d) { free(d); }
        static void list(tac_driver_report *r) { tac_driver_report_add(r, "pen", "a pen", NULL, TAC_DRIVER_READY, NULL); }
        static tac_result open_pen(const char *which, const tac_open_def *def, tac_device **out)
        {
            tac_device *d = calloc(1, sizeof *d);
            *d = (tac_device){{.name = "pen", .position_axes = 3, .force_axes = 3, .max_force_N = 3}, get, put, enable, destroy};
            *out = d;
            return TAC_OK;
        }
        const tac_driver *FUNCTION(void)
        {
            static const tac_driver pen = {.name = "NAME", .form = "pen", .summary = "the Pen", .list = list, .open = open_pen};
            return &pen;
        }
        const uint32_t tac_driver_abi = ABI;"""

    def compile(self, name="pen", function="tac_driver_plugin", abi="TAC_DRIVER_ABI", library=None):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        path = self.path(library or name + ".so")
        with open(self.path("pen.c"), "w") as file:
            file.write(self.SOURCE.replace("NAME", name).replace("FUNCTION", function).replace("ABI;", abi + ";"))
        subprocess.run([shutil.which("cc") or "gcc", "-std=c17", "-shared", "-fPIC", "-I", root, self.path("pen.c"), "-o", path],
                       check=True)
        return path

    @unittest.skipUnless(shutil.which("cc") or shutil.which("gcc"), "no compiler")
    def test_an_installed_program_loads_it(self):
        pen = self.compile()
        self.assertRegex(tactus("devices", "--driver", pen).stdout, "pen: the Pen\n  --device pen +a pen\n")
        result = tactus("run", "sphere", "--driver", pen, "--device", "pen", "--seconds", "0.2", "--json")
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(json.loads(result.stdout)["tools"][0]["device"], "pen")
        self.refuse("run", "--driver", self.compile("falcon"), says="expected a name that no other driver has, found .*'falcon'$")
        self.refuse("run", "--driver", self.compile("other", "main"), says="expected the function tac_driver_plugin, found none$")
        self.refuse("run", "--driver", self.compile("old", abi="1"), says="expected tac_driver_abi to be 3, found 1$")
        self.refuse("run", "--driver", __file__, says="expected a shared library")
        self.refuse("run", "--driver", self.path("gone.so"), says="expected the file .*gone.so, found No such file")
        os.chmod(pen, 0o666)
        self.refuse("run", "--driver", pen, says="writable by no other user, found")

    @unittest.skipUnless(shutil.which("cc") or shutil.which("gcc"), "no compiler")
    def test_a_folder_of_drivers_is_loaded(self):
        os.mkdir(self.path("drivers"))
        self.compile(library="drivers/pen.so")
        self.compile("old", abi="1", library="drivers/old.so")  # is left out, with its line
        with unittest.mock.patch.dict(os.environ, TACTUS_DRIVERS=self.path("drivers")):
            result = tactus("run", "sphere", "--device", "pen", "--seconds", "0.2", "--json")
            self.assertEqual(json.loads(result.stdout)["tools"][0]["device"], "pen")
            self.assertIn("old.so: expected tac_driver_abi to be 3, found 1", result.stderr)
        with unittest.mock.patch.dict(os.environ, TACTUS_DRIVERS=self.path("none")):
            self.refuse("devices", says="expected a folder of drivers, found .*none: No such file")

    @unittest.skipUnless(shutil.which("cc") or shutil.which("gcc"), "no compiler")
    def test_the_relay_of_the_page_compiles(self):
        """The blocks of "With the relay" in docs/writing-a-device.md, inside the rest of such a driver."""
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        with open(os.path.join(root, "docs", "writing-a-device.md"), encoding="utf-8") as file:
            section = file.read().split("## With the relay\n")[1].split("\n## ")[0]
        exchange, definition = re.findall(r"^```c\n(.*?)^```", section, re.S | re.M)
        with open(self.path("relay.c"), "w") as file:
            file.write(f"""
                #include "devices/vendor/relay.h"
                typedef struct pen {{
                    struct {{ int (*pen_set)(void *, double, double, double), (*pen_get)(void *, double[3]); }} lib;
                    void *handle;
                    int failures;
                }} pen;
                void pen_close(void *user);
                {exchange}
                tac_result open_pen(pen *p, tac_device **out_device) {{ {definition} }}""")
        subprocess.run([shutil.which("cc") or "gcc", "-std=c17", "-Wall", "-Werror", "-fsyntax-only", "-I", root,
                        self.path("relay.c")], check=True)


class Doctor(Folder):
    def test_every_check_has_a_state_and_the_exit_code_follows(self):
        result = tactus("doctor", "--json")
        data = json.loads(result.stdout)
        states = {check["name"]: check["state"] for check in data["checks"]}
        self.assertLessEqual({"scheduler", "memory lock", "idle states", "kernel", "timers", "isolation", "importer",
                              "soft tissue", "display", "falcon"}, set(states))
        self.assertLessEqual(set(states.values()), {"ok", "note", "mend"})
        self.assertEqual(data["ok"], "mend" not in states.values())
        self.assertEqual(result.returncode, 0 if data["ok"] else 1)
        self.assertEqual(states["importer"], "ok")

    def test_what_is_missing_is_mended_by_a_block_to_paste(self):
        """Without the importer, and as a user without permissions where this is root."""
        environment = dict(os.environ, TACTUS_IMPORTER="/no/such/program")
        result = tactus("doctor", env=environment)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, "(?m)^mend  importer     .*/no/such/program")
        self.assertIn("a run would suffer from what is to be mended", result.stdout)
        environment = dict(os.environ, TACTUS_ELASTIC="/no/such/program")
        self.assertRegex(tactus("doctor", env=environment).stdout, "(?m)^note  soft tissue  .*/no/such/program")
        if os.geteuid() != 0:
            return
        nobody = {"preexec_fn": lambda: (os.setgroups([]), os.setgid(65534), os.setuid(65534)), "cwd": "/"}
        try:
            result = tactus("doctor", **nobody)
        except PermissionError:
            self.skipTest("the program is in a folder that only root may enter")
        self.assertEqual(result.returncode, 1, result)
        self.assertRegex(result.stdout, "(?m)^mend  scheduler    SCHED_FIFO 80: refused")
        block = result.stdout.split("to paste")[1]
        self.assertEqual(block.count("usermod -aG realtime"), 1)
        self.assertIn("limits.d/realtime.conf", block)


class Endless(Folder):
    """Runs that a person moves or watches last until they are ended."""

    def test_a_device_in_a_hand_runs_until_it_is_stopped(self):
        mouse = self.path("mouse")
        os.mkfifo(mouse)
        writer = os.open(mouse, os.O_RDWR)
        self.addCleanup(os.close, writer)
        process = subprocess.Popen([PROGRAM, "run", "sphere", "--device", "mouse:" + mouse, "--rate", "100", "--json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertRegex(process.stderr.readline(), "1\\.\\d s  ")
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0)
        self.assertIsNone(json.loads(stdout)["seconds"])

    def test_a_view_without_a_display_ends_after_ten_seconds(self):
        environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        process = subprocess.Popen([PROGRAM, "run", "sphere", "--view", "--rate", "100"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment)
        text = ""
        while "loop  " not in text:
            line = process.stdout.readline()
            self.assertTrue(line, text)
            text += line
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        self.assertIn("100 Hz for 10 s", text)


if __name__ == "__main__":
    unittest.main()
