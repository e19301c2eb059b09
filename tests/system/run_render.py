"""`tactus run` and `tactus render` as people and programs use them: run_render.py CLASS PROGRAM [BOARD [RTL]].

BOARD is a library for LD_PRELOAD that puts a virtual CollisionChip board on the program's USB bus, RTL the chip's gates."""

import csv
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from program import BadInputTest, Program, held_up

PROGRAM, BOARD, RTL = (sys.argv[2:] + [None, None])[:3]
SCENES = "sphere stylus peg tooth groove assembly hands lumbar".split()
tactus = Program(PROGRAM)
CUBE = ("OFF\n8 6 0\n" + "".join(f"{x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) +
        "4 0 1 3 2\n4 4 6 7 5\n4 0 4 5 1\n4 2 3 7 6\n4 0 2 6 4\n4 1 5 7 3\n")


class Run(BadInputTest):
    program = tactus

    def test_without_arguments_it_touches_the_default_scene_and_prints_a_summary(self):
        result = tactus("run", "--seconds", "2.5")
        self.assertEqual(result.returncode, 0, result)
        for text in ("machine", "scene     sphere on plane", "sim:six", "set-up", "in contact", "p99.9",
                     "force gate: "):
            self.assertIn(text, result.stdout)
        self.assertRegex(result.stdout, "missed (its|their) deadline")
        self.assertRegex(result.stderr, r"\d+ Hz  p99 \d+ us  misses \d+ .* contact.* \d\.\d\d N")

    def test_a_program_gets_json_that_adds_up(self):
        result = tactus("run", "--seconds", "2", "--json")
        self.assertEqual(result.returncode, 0, result)
        data = json.loads(result.stdout)
        tool = data["tools"][0]
        self.assertEqual(data["scene"], "sphere on plane")
        self.assertEqual(tool["ticks"], data["ticks"])
        self.assertEqual(data["ticks"] + data["skipped"], 2000)
        self.assertGreater(tool["contact_ticks"], tool["ticks"] / 20)
        self.assertLessEqual(tool["contact_ticks"], tool["ticks"])
        # The hand pulls with 300 N/m at most 9 mm below the table.
        self.assertGreater(tool["max_force_N"], 0 if held_up(data) else 0.5)
        self.assertLess(tool["max_force_N"], 4)
        self.assertEqual(tool["faults"], 0)
        self.assertEqual(tool["unknowns"], 0)
        self.assertEqual(tool["state"], "running")
        self.assertIn(tool["derated_by"], ("device", "rate"))
        self.assertLess(0, tool["mean_force_N"])
        self.assertLess(tool["mean_force_N"], tool["max_force_N"])

    def test_a_tool_that_never_comes_free_is_explained(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.yaml")
            with open(path, "w") as file:
                file.write("scene: x\ntools:\n- name: t\n  axes: 3\n  shapes: [{kind: solids, solids: \"sphere:r=0.01\"}]\n"
                           "objects: [{name: o, shapes: [{kind: box}]}]\n")
            result = tactus("run", path, "--seconds", "0.2")
            self.assertEqual(result.returncode, 0, result)
            self.assertIn("no force: the tool began inside", result.stdout)
            self.assertEqual(json.loads(tactus("run", path, "--seconds", "0.2", "--json").stdout)["tools"][0]["state"],
                             "waiting")

    def test_every_built_in_scene_runs(self):
        for scene in SCENES:
            result = tactus("run", scene, "--seconds", "0.3", "--json")
            self.assertEqual(result.returncode, 0, result)
            data = json.loads(result.stdout)
            self.assertEqual(len(data["tools"]), 2 if scene == "hands" else 1)
            self.assertEqual(sum(tool["faults"] for tool in data["tools"]), 0, scene)

    def test_a_dumped_scene_is_a_scene_and_dumps_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.yaml")
            for scene in SCENES:
                dumped = tactus("run", "--dump-scene", scene)
                self.assertEqual(dumped.returncode, 0, dumped)
                with open(path, "w") as file:
                    file.write(dumped.stdout)
                self.assertEqual(tactus("run", "--dump-scene", path).stdout, dumped.stdout)

    def test_it_records_and_plays_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a recording")
            for _ in range(8):  # until a run without late ticks, after which the stiffness is lowered for a while
                result = tactus("run", "--seconds", "1.5", "--json", "--record", path)
                self.assertEqual(result.returncode, 0, result)
                run = json.loads(result.stdout)
                if not held_up(run):
                    break
            self.assertGreater(os.path.getsize(path), 1000)
            again = tactus("run", "--device", "playback:" + path, "--seconds", "5", "--json")
            self.assertEqual(again.returncode, 0, again)
            data = json.loads(again.stdout)
            self.assertLess(data["ticks"], 2000)  # it ended with the recording
            self.assertGreater(data["tools"][0]["contact_ticks"], 0)
            for each in run, data:
                self.assertGreater(each["tools"][0]["max_force_N"], 0 if held_up(run) or held_up(data) else 0.3)
            # The recording as CSV is an input of `tactus render`.
            text, output = (os.path.join(folder, name) for name in ("in.csv", "out.csv"))
            self.assertEqual(tactus("view", path, "--csv", text).returncode, 0)
            self.assertEqual(tactus("view", path, "--csv", "-").stdout, open(text).read())
            self.assertEqual(tactus("render", "sphere", "--input", text, "--output", output).returncode, 0)
            with open(text) as recorded, open(output) as rendered:
                pairs = list(zip(csv.DictReader(recorded), csv.DictReader(rendered)))
            self.assertGreater(len(pairs), 0.9 * run["ticks"])
            errors = [abs(float(recorded["fz"]) - float(rendered["fz"])) for recorded, rendered in pairs]
            if held_up(run):
                print("the machine held up every run: recorded forces not compared with rendered ones", file=sys.stderr)
            else:
                self.assertLess(sorted(errors)[len(errors) * 9 // 10], 0.02)
            self.assertEqual(tactus("view", "/no/such/file", "--csv", "-").returncode, 2)
            self.assertEqual(tactus("view", path, "--csv", "/no/such/folder/x").returncode, 1)

    def test_a_recording_is_replayed_in_its_own_scene(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a recording")
            mesh, scene = os.path.join(folder, "cube.off"), os.path.join(folder, "scene.yaml")
            with open(mesh, "w") as file:
                file.write(CUBE)
            with open(scene, "w") as file:
                file.write("scene: a cube\ntools: [{name: ball, axes: 3, shapes: [{kind: sphere, radius_m: 0.003}]}]\n"
                           "objects: [{name: cube, shapes: [{kind: mesh, file: cube.off, scale: 0.05}]}]\n")
            short = "--seconds", "0.05", "--policy", "other", "--json"
            self.assertEqual(tactus("run", scene, "--record", path, *short).returncode, 0)
            replay = "run", "--device", "playback:" + path
            result = tactus(*replay, *short)
            self.assertEqual(result.returncode, 0, result)
            self.assertEqual(json.loads(result.stdout)["scene"], "a cube")
            self.assertEqual(tactus(*replay, *short, scene).returncode, 0)
            self.refused(2, "expected the scene in which it was recorded", *replay, "sphere", *short)
            self.refused(2, "expected the scene in which it was recorded", "view", path, "--scene", "sphere")
            self.assertEqual(tactus(*replay, "sphere", "--any-scene", *short).returncode, 0)
            # Never over its own source, under any name.
            link = os.path.join(folder, "link")
            os.symlink("a recording", link)
            with open(path, "rb") as file:
                before = file.read()
            for option, other in ("--record", path), ("--trace", link), ("--report", os.path.join(folder, ".", "a recording")):
                self.refused(2, "a file of its own", *replay, option, other, *short)
            self.refused(2, "a file of its own", "view", path, "--csv", link)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), before)
            # Damage is named, and what is intact is used.
            cut = os.path.join(folder, "cut")
            with open(cut, "wb") as file:
                file.write(before[:-20])
            self.assertEqual(tactus("view", cut, "--csv", "-").stdout, tactus("view", path, "--csv", "-").stdout)
            self.refused(1, "incomplete", "view", cut, "--csv", os.path.join(folder, "cut.csv"))
            self.refused(1, "incomplete", "run", "--device", "playback:" + cut, *short)
            # A mesh that changed.
            with open(mesh, "w") as file:
                file.write(CUBE.replace("1 1 1\n", "1 1 1.5\n"))
            self.refused(2, "expected the mesh of 'cube'", *replay, *short)

    def refused(self, code, line, *arguments):
        result = tactus(*arguments)
        self.assertEqual(result.returncode, code, result)
        self.assertIn(line, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result)

    def test_an_old_recording_needs_the_name_of_its_scene(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/recordings/version1.rec")
        replay = "run", "--device", "playback:" + path, "--seconds", "0.02", "--policy", "other"
        self.refused(2, "version 1", *replay)
        self.assertEqual(tactus(*replay, "sphere").returncode, 0)
        self.assertEqual(tactus("view", path, "--csv", "-").stdout.count("\n"), 301)

    def test_a_second_recorder_is_refused_and_the_first_is_intact(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.rec")
            process = self.start("--record", path)
            self.refused(1, "not in use", "run", "--record", path, "--seconds", "0.02", "--policy", "other")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0)
            result = tactus("view", path, "--csv", "-")
            self.assertEqual(result.returncode, 0, result)
            self.assertGreater(result.stdout.count("\n"), 10)

    def test_a_full_disk_leaves_the_older_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.html")
            with open(path, "w") as file:
                file.write("older")
            result = subprocess.run([PROGRAM, "run", "--seconds", "0.02", "--policy", "other", "--report", path],
                                    capture_output=True, text=True, timeout=300,
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
            self.assertEqual(result.returncode, 1, result)
            self.assertIn("File too large", result.stderr)
            with open(path) as file:
                self.assertEqual(file.read(), "older")
            self.assertEqual(os.listdir(folder), ["report.html"])
            self.assertEqual(tactus("run", "--seconds", "0.02", "--policy", "other", "--log", "/dev/full").returncode, 1)

    def test_it_writes_a_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.json")
            self.assertEqual(tactus("run", "--seconds", "0.3", "--trace", path).returncode, 0)
            with open(path) as file:
                names = {event["name"] for event in json.load(file)}
            self.assertTrue({"device read", "sco", "force", "device write", "publish"} <= names, names)

    def test_a_mesh_file_is_a_scene(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a cube.off")
            with open(path, "w") as file:
                file.write(CUBE)
            result = tactus("run", path, "--seconds", "0.2", "--json")
            self.assertEqual(result.returncode, 0, result)

    def start(self, *arguments):
        """A run that has its forces on: its first status line has been printed."""
        process = subprocess.Popen([PROGRAM, "run", "sphere", "--policy", "other", *arguments], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stderr.readline()
        return process

    def test_a_reader_that_goes_away_does_not_end_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            recording, csv_file = os.path.join(folder, "run.rec"), os.path.join(folder, "run.csv")
            process = subprocess.Popen([PROGRAM, "run", "sphere", "--seconds", "2", "--record", recording],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertIn("machine", process.stdout.readline())
            process.stdout.close()
            errors = process.stderr.read()
            # The run is complete; that its summary could not be printed is a failure with one line.
            self.assertEqual(process.wait(60), 1)
            process.stderr.close()
            self.assertIn("expected to print the result, found standard output full or closed", errors)
            self.assertEqual(tactus("view", recording, "--csv", csv_file).returncode, 0)
            with open(csv_file) as file:
                times_s = [float(row["t_s"]) for row in csv.DictReader(file)]
            self.assertGreater(times_s[-1], 1)

    def test_a_closed_standard_error_does_not_end_the_run(self):
        process = self.start("--seconds", "2.5", "--json")
        process.stderr.close()
        with process.stdout:
            self.assertLessEqual(json.loads(process.stdout.read())["ticks"], 2500)
        self.assertEqual(process.wait(60), 0)

    def test_signals_that_ask_for_an_end_give_the_summary(self):
        for number in signal.SIGHUP, signal.SIGQUIT:
            process = self.start("--seconds", "100")
            process.send_signal(number)
            stdout, _ = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0)
            self.assertRegex(stdout, "missed (its|their) deadline")

    def test_other_signals_end_the_run_with_their_status(self):
        for number in signal.SIGUSR1, signal.SIGALRM:
            process = self.start("--seconds", "100")
            process.send_signal(number)
            process.communicate(timeout=300)
            self.assertEqual(process.returncode, -number)

    def test_a_small_stack_runs_and_a_smaller_one_is_one_line(self):
        def limit(bytes):
            return lambda: resource.setrlimit(resource.RLIMIT_STACK, (bytes, bytes))
        result = tactus("run", "tooth", "--seconds", "0.2", preexec_fn=limit(256 * 1024))
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("memory locked: ", result.stdout)
        result = tactus("run", "tooth", "--seconds", "0.2", preexec_fn=limit(128 * 1024))
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr,
                         "tactus: expected a stack of at least 256 KiB, found 128 KiB: raise it with 'ulimit -s'\n")

    def test_a_real_device_has_a_watchdog(self):
        with tempfile.TemporaryDirectory() as folder:
            mouse = os.path.join(folder, "mouse")
            os.mkfifo(mouse)
            writer = os.open(mouse, os.O_RDWR)
            try:
                for policy, limit_ms in ("fifo", "[15]0"), ("other", "50"):
                    result = tactus("run", "sphere", "--seconds", "0.2", "--policy", policy, "--device", "mouse:" + mouse)
                    self.assertEqual(result.returncode, 0, result)
                    self.assertRegex(result.stdout, rf"watchdog  with(out)? priority: {limit_ms} ms without a tick")
            finally:
                os.close(writer)

    def test_bad_input_is_one_line(self):
        self.refuse("run", "spehre", says="scene: expected sphere, .*a scene file .*found 'spehre'")
        self.refuse("run", "--device", "sim:unicorn", says="expected a device of .*found \"unicorn\"")
        self.refuse("run", "--collider", "magic", says="collider: expected wide or .*found 'magic'")
        self.refuse("run", "--collider", "solid", says="collider: expected an engine for meshes, .*found 'solid'")
        self.refuse("run", "--mover", "sideways", says="mover: expected continuous or reactive, found 'sideways'")
        self.refuse("run", "sphere", "--device2", "sim:six", says="expected a scene with 2 tools, found 1")
        self.refuse("run", "--picture", "x.png", says="picture: expected --view")
        self.refuse("run", "nowhere.yaml", says="nowhere.yaml: expected a scene file: No such file")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.yaml")
            with open(path, "w") as file:
                file.write("scene: x\ntools:\n- name: t\n  shapes: [{kind: mesh, file: missing.obj}]\n")
            self.refuse("run", path, says=re.escape(path) + ":4:31: expected a mesh file, found .*missing.obj")
            with open(path, "w") as file:
                file.write("scene: x\nmaterals: []\n")
            self.refuse("run", path, says=re.escape(path) + ":2:1: expected a key of a scene, found 'materals'; "
                        "did you mean 'materials'")


def write_path(path, ticks, pose, rate=1000):
    with open(path, "w") as file:
        file.write("t_s,x,y,z,qx,qy,qz,qw\n")
        for i in range(ticks):
            file.write(",".join(repr(v) for v in (i / rate, *pose(i / rate))) + "\n")


def wander(t):
    """Down into the objects around the origin, then about inside them."""
    turn = 0.3 * math.sin(4 * t)
    return (0.02 * math.sin(5 * t), 0.015 * math.cos(5 * t) - 0.015, 0.09 - 0.087 * min(1, 4 * t),
            0.0, math.sin(turn / 2), 0.0, math.cos(turn / 2))


def has_variant(simd):
    """Whether the build and the CPU have this instruction set; the program warns otherwise."""
    result = tactus("query", "sphere:r=1", "sphere:r=1", "--poses", os.devnull, env=dict(os.environ, TACTUS_SIMD=simd))
    return f"TACTUS_SIMD={simd}: not in this build" not in result.stderr


class Render(BadInputTest):
    program = tactus

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.input, self.output = (os.path.join(self.folder.name, name) for name in ("in.csv", "out.csv"))

    def tearDown(self):
        self.folder.cleanup()

    def render(self, scene, *options, **environment):
        """The rows, without the times."""
        environment = dict(os.environ, **environment)
        result = tactus("render", scene, "--input", self.input, "--output", self.output, *options, env=environment)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result)
        if "LD_PRELOAD" in environment:  # the board reports its connection
            self.assertRegex(result.stderr, r"\Atactus: board: \S+ connected, .*\n\Z")
        else:
            self.assertEqual(result.stderr, "")
        return self.read(self.output)

    def read(self, path):
        with open(path) as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            self.assertGreater(int(row.pop("ns")), 0)
        return rows

    def test_the_output_has_the_documented_columns(self):
        write_path(self.input, 20, wander)
        self.render("sphere")
        with open(self.output) as file:
            self.assertEqual(file.readline().strip(),
                             "t_s,x,y,z,qx,qy,qz,qw,sco_x,sco_y,sco_z,sco_qx,sco_qy,sco_qz,sco_qw,fx,fy,fz,tx,ty,tz,"
                             "contacts,flags,ns")

    def test_the_same_path_gives_the_same_bits_with_every_instruction_set(self):
        write_path(self.input, 350, wander)
        for scene in "sphere", "groove", "stylus":
            rows = self.render(scene)
            self.assertEqual(rows, self.render(scene))
            self.assertTrue(any(float(row["fz"]) > 0 for row in rows))
            for simd in filter(has_variant, ("scalar", "sse2", "avx2")):
                self.assertEqual(rows, self.render(scene, TACTUS_SIMD=simd), (scene, simd))

    def test_the_reactive_mover_gives_the_same_bits_with_every_collider(self):
        write_path(self.input, 300, wander)
        for scene in "sphere", "groove":
            rows = self.render(scene, "--mover", "reactive")
            self.assertTrue(any(float(row["fz"]) > 0 for row in rows))
            for collider in (["doptree", "classic", "scd", "chip"] + ["board"] * (BOARD is not None) +
                             ["rtl"] * (RTL is not None)):
                # LD_PRELOAD breaks at spaces and colons, so the library gets a name without them.
                preload = os.path.join(self.folder.name, "board.so")
                if collider == "board" and not os.path.exists(preload):
                    os.symlink(os.path.abspath(BOARD), preload)
                library = {"board": {"LD_PRELOAD": preload}, "rtl": {"TACTUS_RTL": RTL}}.get(collider, {})
                self.assertEqual(rows, self.render(scene, "--mover", "reactive", "--collider", collider, **library),
                                 (scene, collider))

    @unittest.skipIf(RTL is None, "no gates")
    def test_a_run_on_the_gates_is_repeated_to_the_bit(self):
        """The clocks of a tick are limited, in the run and when it is repeated."""
        engine = ("--collider", "rtl", "--mover", "reactive")
        environment = dict(os.environ, TACTUS_RTL=RTL)
        self.input = os.path.join(self.folder.name, "run.rec")
        run = tactus("run", "sphere", "--seconds", "1.6", "--record", self.input, *engine, env=environment)
        self.assertEqual(run.returncode, 0, run)
        recorded = os.path.join(self.folder.name, "recorded.csv")
        self.assertEqual(tactus("view", self.input, "--csv", recorded).returncode, 0)
        rendered = self.render("sphere", *engine, TACTUS_RTL=RTL)
        with open(recorded) as file:
            rows = list(csv.DictReader(file))
        self.assertGreater(len(rows), 0)
        self.assertEqual(len(rows), len(rendered))
        for row, other in zip(rows, rendered):
            self.assertEqual([row[name] for name in ("fx", "fy", "fz")], [other[name] for name in ("fx", "fy", "fz")])

    def test_both_movers_end_near_each_other(self):
        """Within 20 um, and the force of 20 um, on a plane, in a groove and in a hole, with rotation as well."""
        paths = {"sphere": lambda t: (0.001, 0.002, max(0.002, 0.03 - 0.03 * t), 0, 0, 0, 1),
                "groove": lambda t: (0.01 * min(1, t), 0.004, max(0.01, 0.06 - 0.06 * t), 0,
                                     math.sin(0.05 * min(1, t)), 0, math.cos(0.05 * min(1, t))),
                "peg": lambda t: (0.0004 * min(1, t), 0, max(0.038, 0.075 - 0.05 * t), 0, 0, 0, 1)}
        for scene, pose in paths.items():
            write_path(self.input, 1500, pose)
            ends = [self.render(scene, "--mover", mover)[-1] for mover in ("continuous", "reactive")]
            self.assertGreater(int(ends[0]["contacts"]), 0, scene)
            for name in "sco_x", "sco_y", "sco_z":
                self.assertAlmostEqual(float(ends[0][name]), float(ends[1][name]), delta=2e-5, msg=scene)
            for name in "fx", "fy", "fz":
                self.assertAlmostEqual(float(ends[0][name]), float(ends[1][name]), delta=0.04, msg=scene)
            if scene == "sphere":
                self.assertAlmostEqual(float(ends[0]["fz"]), 3, delta=0.05)

    def test_both_tools_of_a_scene_for_two_hands_move(self):
        second = {name: os.path.join(self.folder.name, name + "2.csv") for name in ("in", "out")}
        # A finger at rest, and a block that comes from the side and pushes 6 mm into it.
        write_path(self.input, 1200, lambda t: (0, 0, 0.03, 0, 0, 0, 1))
        write_path(second["in"], 1200, lambda t: (max(0.01, 0.05 - 0.04 * t), 0, 0.03, 0, 0, 0, 1))
        first = self.render("hands", "--input2", second["in"], "--output2", second["out"])
        other = self.read(second["out"])
        self.assertEqual(len(first), len(other))
        self.assertEqual(float(first[0]["fx"]), 0)
        self.assertEqual(float(other[0]["sco_x"]), 0.05)
        # Action equals reaction, and the finger's radius and half of the block separate the two.
        self.assertLess(float(first[-1]["fx"]), -2)
        self.assertAlmostEqual(float(first[-1]["fx"]), -float(other[-1]["fx"]), delta=0.1)
        self.assertGreater(float(other[-1]["sco_x"]) - float(first[-1]["sco_x"]), 0.0155)
        self.assertEqual(first, self.render("hands", "--input2", second["in"]))
        # Without an input file the second follows the scene's hand: down to 14 mm within the first second.
        self.render("hands", "--output2", second["out"])
        other = self.read(second["out"])
        self.assertAlmostEqual(float(other[0]["z"]), 0.05, delta=1e-9)
        self.assertAlmostEqual(float(other[1000]["sco_z"]), 0.014, delta=1e-9)

    def test_five_millimetres_at_500_N_per_m_are_two_and_a_half_newtons(self):
        scene = os.path.join(self.folder.name, "plane.yaml")
        with open(scene, "w") as file:
            file.write("scene: plane\nmaterials: [{name: m, stiffness_N_per_m: 500}]\n"
                       "tools: [{name: t, shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: 1}]}]\n"
                       "objects: [{name: o, material: m, position_m: [0, 0, -0.05], "
                       "shapes: [{kind: box, size_m: [0.2, 0.2, 0.1], segments: 4}]}]\n")
        for rate in 1000, 4000, 25:  # a path with few samples per second does not count as a stall
            write_path(self.input, 2 * rate, lambda t: (0, 0, max(0.005, 0.03 - 0.05 * t), 0, 0, 0, 1), rate)
            last = self.render(scene)[-1]
            self.assertAlmostEqual(float(last["fz"]), 2.5, delta=0.01, msg=rate)
            for name in "fx", "fy":
                self.assertAlmostEqual(float(last[name]), 0, delta=0.01)
            for name in "tx", "ty", "tz":
                self.assertAlmostEqual(float(last[name]), 0, delta=1e-4)

    def test_bad_input_is_one_line(self):
        options = "--input", self.input, "--output", self.output
        self.refuse("render", "sphere", says="input: expected --input FILE")
        self.refuse("render", "sphere", *options, says="in.csv: cannot read the path: No such file")
        write_path(self.input, 3, wander)
        self.refuse("render", "sphere", *options, "--input2", self.input,
                    says="input2: expected a scene with 2 tools, found 1")
        second = os.path.join(self.folder.name, "in2.csv")
        write_path(second, 4, wander)
        self.refuse("render", "hands", *options, "--input2", second,
                    says="expected the times of .*found a different one in pose 4")
        for text, says in (("", "expected poses, found none"),
                           ("t_s,x,y,z,qx,qy,qz,qw\n0,1,2\n", "in.csv:2: expected 8 numbers .*found 3"),
                           ("0,0,0,nan,0,0,0,1\n", "in.csv:1: expected 8 numbers .*found 3"),
                           ("0,0,0,0,0,0,0,2\n", "in.csv:1: expected a quaternion of length 1, found one of length 2"),
                           ("0,0,0,0,0,0,0,1\n0,0,0,0,0,0,0,1\n", "in.csv:2: expected a time after"),
                           ("1e99,0,0,0,0,0,0,1\n", "in.csv:1: expected a time below")):
            with open(self.input, "w") as file:
                file.write(text)
            self.refuse("render", "sphere", *options, says=says)
            self.assertFalse(os.path.exists(self.output))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:2])
