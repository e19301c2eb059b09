"""The Python package against the command line: the same tables to the bit; sessions, recordings, errors.
    test_tactus.py TACTUS-PROGRAM"""
import csv
import math
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import tactus

PROGRAM = sys.argv.pop(1)
SPHERE = """
scene: a sphere
materials: [{name: rubber, stiffness_N_per_m: 700}]
tools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: "sphere:r=0.005"}], device: "sim:omega3",
  hand: [{time_s: 0, position_m: [0, 0, 0.045]}, {time_s: 0.3, position_m: [0, 0, 0.033]}, {time_s: 90, position_m: [0, 0, 0.033]}]}]
objects: [{name: sphere, material: rubber, shapes: [{kind: sphere, radius_m: 0.03}]}]
"""
TETRAHEDRON = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def rotation(rng):
    """A random rotation matrix."""
    q = rng.normal(size=4)
    x, y, z, w = q / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def stroke(count=600):
    """A path that comes down, strokes something and turns."""
    t = np.arange(1, count + 1) * 1e-3
    angle = 0.4 * np.sin(3 * t)
    zero = np.zeros(count)
    return np.stack([t, 0.02 * np.sin(5 * t), 0.01 * np.cos(4 * t), 0.05 - 0.055 * np.minimum(t / 0.4, 1), np.sin(angle / 2),
                     zero, zero, np.cos(angle / 2)], axis=1)


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="tactus python ")
        self.folder = pathlib.Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def write(self, name, rows):
        """A file with a line of numbers for each row, all digits."""
        path = self.folder / name
        path.write_text("".join(",".join(repr(float(x)) for x in row) + "\n" for row in rows))
        return path

    def assert_same(self, array, text):
        """Every column but ns is that of the CSV, to the bit."""
        rows = list(csv.DictReader(text.splitlines()))
        self.assertEqual(list(array.dtype.names), list(rows[0]))
        self.assertEqual(len(array), len(rows))
        for name in array.dtype.names:
            if name == "ns":
                self.assertTrue((array["ns"] > 0).all())
                continue
            column = [row[name] for row in rows]
            if array.dtype[name].kind == "U":
                self.assertEqual(list(array[name]), column, name)
            else:
                wanted = np.array([float(x) for x in column]).astype(array.dtype[name])
                self.assertEqual(array[name].tobytes(), wanted.tobytes(), name)


    def same_force(self, rows, samples):
        """The replay sends what the run has sent, to the bit, and that is not nothing; world and device have one frame."""
        self.assertTrue(any((samples[name] != 0).any() for name in ("fx", "fy", "fz")))
        for name in ("fx", "fy", "fz", "tx", "ty", "tz"):
            self.assertEqual((rows[name] + 0.0).tobytes(), (samples[name] + 0.0).tobytes(), name)  # 0 is also -0


class Render(WithFolder):
    def test_is_that_of_the_command(self):
        path = self.write("path.csv", stroke())
        for scene, options in (("sphere", {}), ("stylus", {}), ("groove", {"mover": "reactive", "collider": "doptree"}),
                               ("groove", {"mover": "reactive", "collider": "chip"})):
            with self.subTest(scene, **options):
                flags = [word for name, value in options.items() for word in (f"--{name}", value)]
                run("render", scene, "--input", path, "--output", self.folder / "out.csv", *flags)
                text = (self.folder / "out.csv").read_text()
                self.assert_same(tactus.render(scene, path, **options), text)
                self.assert_same(tactus.render(scene, stroke(), **options), text)
        self.assertTrue((tactus.render("sphere", stroke())["contacts"] > 0).any())

    def test_has_two_tools(self):
        path = self.write("path.csv", stroke(300))
        run("render", "hands", "--input", path, "--output", self.folder / "1.csv", "--output2", self.folder / "2.csv")
        first, second = tactus.render("hands", path, both=True)
        self.assert_same(first, (self.folder / "1.csv").read_text())
        self.assert_same(second, (self.folder / "2.csv").read_text())

    def test_of_a_scene_from_text_and_of_its_own_yaml(self):
        scene = tactus.Scene.parse(SPHERE)
        again = tactus.Scene.parse(scene.yaml())
        (self.folder / "scene.yaml").write_text(scene.yaml())
        rows = [tactus.render(s, stroke(100)) for s in (scene, again, self.folder / "scene.yaml")]
        for name in set(rows[0].dtype.names) - {"ns"}:
            self.assertEqual(rows[0][name].tobytes(), rows[1][name].tobytes())
            self.assertEqual(rows[0][name].tobytes(), rows[2][name].tobytes())


class Collision(WithFolder):
    def test_queries_are_those_of_the_command(self):
        rng = np.random.default_rng(5)
        poses = np.array([np.concatenate([rotation(rng).ravel(), rng.uniform(-0.1, 0.1, 3)]) for _ in range(200)])
        file = self.write("poses", poses)
        mesh = self.folder / "a mesh.obj"
        mesh.write_text(TETRAHEDRON)
        for a, b, options in ((mesh, mesh, {}), (mesh, mesh, {"mode": "pairs", "collider": "doptree"}),
                              ("capsule:r=0.02,h=0.1", "sphere:r=0.03", {})):
            with self.subTest(str(b), **options):
                flags = [word for name, value in options.items() for word in (f"--{name}", value)]
                run("query", a, b, "--poses", file, "--csv", self.folder / "out.csv", *flags)
                array = tactus.query(a, b, poses, **options)
                self.assert_same(array, (self.folder / "out.csv").read_text())
                self.assertEqual(set(array["result"]), {"none", "hit"})

    def test_spheres_touch_where_their_centres_are_near(self):
        rng = np.random.default_rng(6)
        centres = rng.uniform(-0.04, 0.04, (500, 3))
        poses = np.hstack([np.tile(np.eye(3).ravel(), (500, 1)), centres])
        hits = tactus.query("sphere:r=0.01", "sphere:r=0.02", poses)["result"] == "hit"
        self.assertEqual(list(hits), list(np.linalg.norm(centres, axis=1) < 0.03))

    def test_sweeps_are_those_of_the_command(self):
        rng = np.random.default_rng(7)
        motions = np.array([np.concatenate([rotation(rng).ravel(), rng.normal(size=3) * 0.15, rng.normal(size=3) * 0.3,
                                            rng.normal(size=3), [rng.uniform(-2, 2)]]) for _ in range(100)])
        file = self.write("motions", motions)
        mesh = self.folder / "mesh.obj"
        mesh.write_text(TETRAHEDRON)
        for b in (mesh, "sphere:r=0.02", "capsule:r=0.01,h=0.05"):
            with self.subTest(str(b)):
                array = tactus.sweep(mesh, b, motions)
                self.assert_same(array, run("sweep", mesh, b, "--motions", file))
                self.assertGreater(len(set(array["kind"])), 1)

    def test_a_sphere_stops_at_a_wall(self):
        (self.folder / "wall.obj").write_text("v -1 -1 0\nv 1 -1 0\nv 0 2 0\nf 1 2 3\n")
        motion = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0.5, 0, 0, -1, 0, 0, 1, 0.1]
        moved = tactus.sweep(self.folder / "wall.obj", "sphere:r=0.1", [motion], zone=0)[0]
        self.assertAlmostEqual(moved["f_translation"], 0.4, delta=1e-6)


class Sessions(WithFolder):
    def touch(self, session):
        """Reads snapshots until the hand has come to rest on the sphere."""
        steady = 0
        last = session.snapshot()
        while steady < 50:
            threading.Event().wait(0.002)
            s = session.snapshot()
            if s.tick > last.tick:
                still = s.contacts and s.gain == 1 and np.abs(s.force_N - last.force_N).max() < 1e-3
                steady = steady + 1 if still else 0
            self.assertGreaterEqual(s.tick, last.tick)
            last = s
        return last

    def test_a_gripper_rests_where_fingers_and_spring_balance(self):
        # Fingers of 250 N/m that want 4 mm against a spring of 500 N/m that rests at 12 mm; dry friction of 0.05 N.
        scene = self.folder / "grip.yaml"
        scene.write_text("scene: grip\ntools: [{name: t, device: 'sim:omega7', shapes: [{kind: sphere, radius_m: 0.005}], "
                         "gripper: {rest_m: 0.012, stiffness_N_per_m: 500, damping_N_s_per_m: 1}, "
                         "hand: [{time_s: 0, position_m: [0, 0, 0.1], gripper_m: 0.004}]}]\n"
                         "objects: [{name: box, shapes: [{kind: box, size_m: [0.05, 0.05, 0.05]}]}]\n")
        with tactus.Session(scene, device="sim:omega7") as session:
            for _ in range(2000):
                s = session.snapshot()
                fingers_N = 250 * (s.gripper_m - 0.004)
                if s.gain == 1 and abs(s.gripper_N - 4 / 3) < 0.05 and abs(s.gripper_N - fingers_N) < 0.06:
                    break
                threading.Event().wait(0.005)
        self.assertAlmostEqual(s.gripper_N, 4 / 3, delta=0.05)
        # The fingers' own balance, which also holds where a late loop has made the spring softer.
        self.assertAlmostEqual(s.gripper_N, fingers_N, delta=0.06)

    def test_force_is_that_of_the_spring(self):
        with tactus.Session(tactus.Scene.parse(SPHERE)) as session:
            self.assertEqual(len(session.setup()), 5)
            s = self.touch(session)
            depth = s.tool[2] - s.device[2]
            self.assertGreater(depth, 1e-4)
            self.assertAlmostEqual(s.force_N[2], s.stiffness_N_per_m * depth, delta=0.02 * s.force_N[2] + 1e-3)
            self.assertAlmostEqual(s.tool[2], 0.035, delta=2e-4)  # on the sphere, whose mesh lies within its radius
            self.assertGreater(s.contacts[0].normal[2], 0.99)
            self.assertEqual((s.state, s.status), ("running", "ok"))
            timing = session.timing()
            self.assertGreater(timing.ticks, 50)
            self.assertGreaterEqual(timing.misses, sum(timing.misses_by_cause.values()))
            session.stop_force()
            tick = session.snapshot().tick
            while (s := session.snapshot()).tick < tick + 2:
                threading.Event().wait(0.002)
            self.assertEqual(list(s.force_N), [0, 0, 0])
        with self.assertRaisesRegex(tactus.Error, "expected one that runs"):
            session.snapshot()

    def test_recording_is_that_of_the_command_and_replays(self):
        file = self.folder / "a.rec"
        session = tactus.Session(tactus.Scene.parse(SPHERE), seconds=0.8)
        session.record(file)
        with session:
            with self.assertRaisesRegex(tactus.Error, "has not started"):
                session.record(file)
            session.wait()
            ticks = session.timing().ticks
        recording = tactus.load_recording(file)
        self.assertEqual(len(recording.samples), ticks)
        self.assertEqual((recording.device, recording.complete), ("sim:omega3", True))
        run("view", file, "--csv", self.folder / "rec.csv")
        self.assert_same(recording.samples, (self.folder / "rec.csv").read_text())
        rows = tactus.render(tactus.Scene.parse(SPHERE), recording.samples)
        self.assertTrue((rows["contacts"] > 0).any())
        with tactus.Session(tactus.Scene.parse(SPHERE), device=f"playback:{file}") as session:
            self.assertIn(session.snapshot().state, ("waiting", "running", "lost"))

    def test_loop_runs_while_the_interpreter_is_busy(self):
        with tactus.Session("sphere", rate=500) as session:
            first = session.snapshot().tick
            total = 0
            while session.snapshot().tick < first + 100:
                total += sum(i * i for i in range(20000))
            self.assertGreater(total, 0)

    def test_readers_on_several_threads_see_whole_snapshots(self):
        with tactus.Session("sphere") as session:
            seen = []

            def read():
                ticks = [session.snapshot().tick for _ in range(200)]
                seen.append(ticks == sorted(ticks))

            threads = [threading.Thread(target=read) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(seen, [True] * 4)


LIFT = [{"name": "lift", "position_m": [0, 0, -0.05], "shapes": [{"kind": "box", "segments": 4}]}]
BALL = {"name": "ball", "axes": 3, "device": "sim:omega3", "grip": "firm",
        "shapes": [{"kind": "solids", "solids": "sphere:r=0.005"}], "hand": [{"time_s": 0, "position_m": [0, 0, 0.01]}]}
TETRAHEDRON_VERTICES = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
TETRAHEDRON_TRIANGLES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]


class Scenes(WithFolder):
    def same(self, a, b):
        for name in set(a.dtype.names) - {"ns"}:
            self.assertEqual(a[name].tobytes(), b[name].tobytes(), name)

    def test_from_dictionaries_equals_yaml(self):
        made = tactus.Scene.make(
            "a sphere", materials=[{"name": "rubber", "stiffness_N_per_m": 700}],
            tools=[{"name": "ball", "axes": 3, "shapes": [{"kind": "solids", "solids": "sphere:r=0.005"}],
                    "device": "sim:omega3", "hand": [{"time_s": t, "position_m": np.array([0, 0, z])}
                                                     for t, z in ((0, 0.045), (0.3, 0.033), (90, 0.033))]}],
            objects=[{"name": "sphere", "material": "rubber", "shapes": [{"kind": "sphere", "radius_m": 0.03}]}],
            effects=[{"kind": "line", "name": "guide", "direction": (1, 0, 0), "max_force_N": 2}])
        self.assertEqual(made.yaml(), tactus.Scene.parse(SPHERE + """
effects:
- {kind: line, name: guide, direction: [1, 0, 0], max_force_N: 2}
""").yaml())
        self.assertEqual(made.objects, ["sphere"])

    def test_a_mesh_in_memory_is_felt_like_its_file(self):
        (self.folder / "mesh.obj").write_text(TETRAHEDRON)
        def scene(shape):
            return tactus.Scene.make("t", tools=[BALL], objects=[
                {"name": "o", "position_m": [-0.02, -0.02, -0.06], "shapes": [shape]}])
        mesh = tactus.Mesh(TETRAHEDRON_VERTICES, TETRAHEDRON_TRIANGLES)
        self.assertEqual((mesh.triangle_count, mesh.watertight), (4, True))
        np.testing.assert_allclose(mesh.bounds, [[0, 0, 0], [0.1, 0.1, 0.1]], rtol=1e-6)
        memory = scene({"mesh": mesh})
        rows = tactus.render(memory, stroke())
        self.same(rows, tactus.render(scene({"kind": "mesh", "file": str(self.folder / "mesh.obj")}), stroke()))
        self.assertTrue((rows["contacts"] > 0).any())
        again = tactus.Scene.parse(memory.yaml())
        with self.assertRaisesRegex(tactus.Error, "mesh 0: expected a mesh from the application"):
            tactus.render(again, stroke(3))
        again.give_mesh("mesh 0", mesh)
        self.same(rows, tactus.render(again, stroke()))
        with self.assertRaisesRegex(tactus.Error, "found 'other'"):
            again.give_mesh("other", mesh)

    def test_a_bare_mesh_file_is_a_scene(self):
        (self.folder / "in mm.obj").write_text(TETRAHEDRON.replace("0.1", "100"))
        scene = tactus.Scene.of_mesh(self.folder / "in mm.obj")
        self.assertIn("scale: 0.001", scene.yaml())
        rows = tactus.render(self.folder / "in mm.obj", stroke(100))
        self.assertEqual(len(rows), 100)
        with self.assertRaisesRegex(tactus.Error, "a mesh file, found 'none.stl'"):
            tactus.render("none.stl", stroke(3))


class Live(WithFolder):
    def until(self, session, condition):
        """The first snapshot for which the condition holds; the machine may be slow."""
        for _ in range(20000):
            if condition(s := session.snapshot()):
                return s
            threading.Event().wait(0.001)
        self.fail(s)

    def test_an_object_is_moved_hidden_and_made_of_something_else(self):
        scene = tactus.Scene.make("a lift", tools=[BALL], objects=LIFT, materials=[
            {"name": "soft", "stiffness_N_per_m": 200}, {"name": "hard", "stiffness_N_per_m": 900}])
        with tactus.Session(scene) as session:
            self.until(session, lambda s: s.state == "running" and s.gain == 1)
            session.set_object_pose("lift", [0, 0, -0.04], over=0.2)
            s = self.until(session, lambda s: s.commands == 1 and not s.moving and s.contacts)
            np.testing.assert_allclose(s.objects[0], [0, 0, -0.04, 0, 0, 0, 1])
            self.assertGreater(s.tool[2], 0.01 + 0.0049)  # lifted with the box, whose top is at 10 mm
            session.use_material("lift", "soft")
            self.until(session, lambda s: abs(s.stiffness_N_per_m - 200) < 1e-9)
            session.set_material("soft", stiffness_N_per_m=500, static_friction=0.4, dynamic_friction=0.3)
            s = self.until(session, lambda s: abs(s.stiffness_N_per_m - 500) < 1e-9)
            self.assertGreater(s.force_N[2], 0)
            session.set_gain(0)
            self.until(session, lambda s: s.force_N[2] == 0)
            session.set_gain(1)
            session.hide(0)
            self.until(session, lambda s: s.hidden == {0} and not s.contacts)
            session.set_object_pose(0, [0, 0, -0.03, 0, 0, 0, 1])
            session.show("lift")
            self.until(session, lambda s: s.waits == {0})
            session.set_mapping(position=[0, 0, 0.05])
            self.until(session, lambda s: not s.waits and not s.hidden)
            for wrong, message in ((lambda: session.hide("lift2"), "expected one of lift, found 'lift2'"),
                                   (lambda: session.hide(3), "expected an object of the world, found 3"),
                                   (lambda: session.set_object_pose(0, [1]), "expected 3 or 7 numbers, found 1"),
                                   (lambda: session.set_material("soft", stifness=3), "found 'stifness'"),
                                   (lambda: session.set_material("soft", stiffness_N_per_m=-1), "found '-1'"),
                                   (lambda: session.set_gain(2), "expected a gain from 0 to 1, found 2")):
                with self.assertRaisesRegex(tactus.Error, message):
                    wrong()

    def test_effects_are_changed_switched_and_added(self):
        scene = tactus.Scene.make("a field", tools=[{**BALL, "hand": [{"time_s": 0, "position_m": [0, 0, 0.05]}]}],
                                  objects=LIFT, effects=[
            {"kind": "constant", "name": "wind", "force_N": [0.5, 0, 0], "enabled": False},
            {"kind": "plane", "name": "floor", "direction": [0, 0, 1], "side": "outside", "stiffness_N_per_m": 100}])
        with tactus.Session(scene) as session:
            s = self.until(session, lambda s: s.state == "running" and s.gain == 1)
            self.assertEqual(list(s.effect_force_N), [0, 0, 0])
            session.switch_effect("wind")
            s = self.until(session, lambda s: s.effect_force_N[0] == 0.5)
            self.assertIn(0, s.effects)
            self.assertGreater(s.force_N[0], 0)
            session.set_effect("wind", force_N=np.array([0, 0.25, 0]))
            self.until(session, lambda s: list(s.effect_force_N) == [0, 0.25, 0])
            session.exchange(scene)  # leaves the effects as they are
            self.until(session, lambda s: s.world == 1 and list(s.effect_force_N) == [0, 0.25, 0])
            session.switch_effect(0, False)
            self.until(session, lambda s: list(s.effect_force_N) == [0, 0, 0])
            session.set_effect(2, kind="constant", name="lift", force_N=(0, 0, 0.3))
            self.until(session, lambda s: list(s.effect_force_N) == [0, 0, 0.3] and 2 in s.effects)
            session.switch_effect("lift", False)
            self.until(session, lambda s: list(s.effect_force_N) == [0, 0, 0])
            for wrong, message in (
                    (lambda: session.switch_effect("wint"), "expected one of wind, floor, lift, found 'wint'"),
                    (lambda: session.switch_effect(5), "found 5, which is free"),
                    (lambda: session.set_effect(16, stiffness_N_per_m=3), "from 0 to 15, found 16"),
                    (lambda: session.set_effect("floor", stifness=3), "found 'stifness'"),
                    (lambda: session.set_effect("floor", side="below"), "both or inside or outside, found 'below'"),
                    (lambda: session.set_effect("floor", stiffness_N_per_m=-1), "found '-1'"),
                    (lambda: session.set_effect("floor", direction=(1, 2)), "expected 3 numbers, found 2"),
                    (lambda: session.set_effect(3, kind="constant"), "expected a name of 1 to 31 bytes"),
                    (lambda: session.switch_effect("wind", tool=1), "expected 0 to 0, found 1")):
                with self.assertRaisesRegex(tactus.Error, message):
                    wrong()

    def test_a_single_surface_gets_another_material(self):
        (self.folder / "two.obj").write_text("v -1 -1 0\nv 1 -1 0\nv 0 1 0\nv 0 0 -1\ng top\nf 1 2 3\n"
                                             "g side\nf 1 4 2\nf 2 4 3\nf 3 4 1\n")
        scene = tactus.Scene.make("named", tools=[{**BALL, "hand": [{"time_s": t, "position_m": [0, 0, z]} for t, z in (
            (0, 0.02), (0.2, 0.003), (0.8, 0.003), (1, 0.02))]}], materials=[{"name": "soft", "stiffness_N_per_m": 200}],
            objects=[{"name": "o", "shapes": [{"kind": "mesh", "file": str(self.folder / "two.obj"), "scale": 0.1}]}])
        with tactus.Session(scene) as session:
            self.until(session, lambda s: s.contacts and s.stiffness_N_per_m > 201)  # 1000, or less in a late loop
            session.use_material("o", "soft", surface="side")
            self.until(session, lambda s: s.commands == 1)
            self.until(session, lambda s: s.contacts and s.stiffness_N_per_m > 201)
            session.use_material("o", "soft", surface="top")
            s = self.until(session, lambda s: s.contacts and abs(s.stiffness_N_per_m - 200) < 1e-9)
            session.use_material("o", 1, surface=s.contacts[0].object_surface)  # the default material, by number
            self.until(session, lambda s: s.contacts and s.stiffness_N_per_m > 201)
            with self.assertRaisesRegex(tactus.Error, "a surface of object 0, found 'bottom'"):
                session.use_material("o", "soft", surface="bottom")

    def test_worlds_are_exchanged_and_the_recording_repeats_them(self):
        file = self.folder / "live.rec"
        scene = tactus.Scene.make("first", tools=[BALL], objects=LIFT)
        other = tactus.Scene.make("second", tools=[BALL], objects=LIFT + [
            {"name": "seed", "position_m": [0.05, 0, 0.03], "shapes": [{"mesh": tactus.Mesh(
                0.1 * np.array(TETRAHEDRON_VERTICES), TETRAHEDRON_TRIANGLES)}]}])
        session = tactus.Session(scene)
        session.record(file)
        with session:
            self.until(session, lambda s: s.state == "running")
            for i in range(6):
                session.set_object_pose(0, [0, 0, -0.05 + 0.002 * i], over=0.05)
                session.exchange(other if i % 2 == 0 else scene)
                self.until(session, lambda s: s.world == i + 1)
                session.set_object_pose(0, [0, 0, -0.044], over=0.05)
                self.until(session, lambda s: not s.moving and s.commands == 3 * (i + 1))
            tick = session.snapshot().tick
            self.until(session, lambda s: s.tick > tick)
        recording = tactus.load_recording(file)
        self.assertEqual((len(recording.scenes), recording.commands, recording.complete), (7, 18, True))
        self.assertIn('scene: "second"', recording.scenes[1])
        meshes = {"mesh 0": tactus.Mesh(0.1 * np.array(TETRAHEDRON_VERTICES), TETRAHEDRON_TRIANGLES)}
        rows = [tactus.replay(file, meshes=meshes) for _ in range(2)]
        with self.assertRaisesRegex(tactus.Error, "expected names of meshes in this recording, found 'seed'"):
            tactus.replay(file, meshes={**meshes, "seed": meshes["mesh 0"]})
        self.assertEqual(len(rows[0]), len(recording.samples))
        self.assertTrue((rows[0]["contacts"] > 0).any())
        for name in set(rows[0].dtype.names) - {"ns"}:
            self.assertEqual(rows[0][name].tobytes(), rows[1][name].tobytes(), name)
        self.same_force(rows[0], recording.samples)
        self.assertEqual(recording.loop_period_s, 1e-3)
        # Without the commands the box would stay below the ball.
        still = tactus.render(scene, recording.samples)
        self.assertLess((still["contacts"] > 0).sum(), (rows[0]["contacts"] > 0).sum())
        # The command replays them up to the first exchange for a world that it cannot build, and says so.
        seconds = recording.samples["t_s"][-1]
        result = subprocess.run([PROGRAM, "run", "--device", f"playback:{file}", "--seconds", str(seconds)],
                                capture_output=True, text=True, check=True)
        self.assertIn("expected a scene that can be built for the world that follows in tick", result.stderr)

    def test_a_command_line_replay_moves_the_objects(self):
        file, table = self.folder / "lift.rec", self.folder / "lift.csv"
        session = tactus.Session(tactus.Scene.make("a lift", tools=[BALL], objects=LIFT))
        session.record(file)
        with session:
            self.until(session, lambda s: s.state == "running")
            session.set_object_pose("lift", [0, 0, -0.04], over=0.1)
            self.until(session, lambda s: s.commands == 1 and not s.moving and s.contacts)
        run("run", "--device", f"playback:{file}", "--seconds", 0.1 + tactus.load_recording(file).samples["t_s"][-1],
            "--csv", table)
        with open(table) as lines:
            self.assertGreater(max(float(row["contacts"]) for row in csv.DictReader(lines)), 0)


class Hands(WithFolder):
    def test_two_tools_have_snapshots_recordings_and_events(self):
        file = self.folder / "hands.rec"
        scene = tactus.Scene.make("a block between two hands", objects=[{"name": "block", "shapes": [{"kind": "box"}]}], tools=[
            {**BALL, "name": name, "hand": [{"time_s": t, "position_m": [x, 0, 0]} for t, x in path]}
            for name, path in (("left", ((0, -0.06), (0.3, -0.05), (9, -0.05))), ("right", ((0, 0.06), (0.3, 0.05), (9, 0.05))))])
        session = tactus.Session(scene, device=["sim:omega3", "sim:omega7"])
        session.record(file)
        with session:
            both, felt = [], [False, False]
            for _ in range(20000):  # a loop that is held up may begin in the block, until the hands come back
                both = [session.snapshot(tool) for tool in (0, 1)]
                felt = [f or np.linalg.norm(s.force_N) > 0 for f, s in zip(felt, both)]
                if all(felt):
                    break
                threading.Event().wait(0.001)
            events = [session.events(tool) for tool in (0, 1)]
            with self.assertRaisesRegex(tactus.Error, "tool: expected 0 to 1, found 2"):
                session.snapshot(2)
        self.assertTrue(all(s.contact_ticks > 0 for s in both))
        self.assertFalse(np.array_equal(both[0].tool, both[1].tool))
        for found in events:
            touches = [e for e in found if e.kind == "touch"]
            self.assertEqual(touches[0].object_name, "block")
            self.assertTrue(all(a.tick <= b.tick and b.lost == 0 for a, b in zip(found, found[1:])))
        recordings = [tactus.load_recording(f) for f in (file, f"{file}.2")]
        self.assertEqual(len(recordings[0].samples), len(recordings[1].samples))
        self.assertEqual(recordings[0].scenes, recordings[1].scenes)
        for rows, recording in zip(tactus.replay(file, both=True), recordings):
            self.same_force(rows, recording.samples)
        pathlib.Path(f"{file}.2").rename(f"{file}.3")
        with self.assertRaisesRegex(tactus.Error, "No such file"):
            tactus.replay(file)


class Errors(WithFolder):
    def assert_error(self, pattern, function, *arguments, **options):
        with self.assertRaisesRegex(tactus.Error, pattern):
            function(*arguments, **options)

    def test_have_the_message_of_the_library(self):
        self.assert_error("expected .*sphere.* found 'spheer'", tactus.render, "spheer", stroke(10))
        self.assert_error(r"bad\.yaml:2:1: .*unknown|bad\.yaml:2", tactus.Scene.parse, "scene: x\nobjets: []\n", "bad.yaml")
        self.assert_error("No such file", tactus.Scene.load, self.folder / "none.yaml")
        here = [[1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]]
        self.assert_error("No such file", tactus.query, self.folder / "none.obj", self.folder / "none.obj", here)
        self.assert_error("expected solid", tactus.query, "sphere:r=1", "sphere:r=1", here, collider="wide")
        self.assert_error("collider: expected wide", tactus.render, "sphere", stroke(10), collider="width")
        self.assert_error("mover: expected continuous or reactive", tactus.render, "sphere", stroke(10), mover="fast")
        self.assert_error("rate: expected 100 to 10000 Hz, found 20000", tactus.Session, "sphere", rate=20000)
        self.assert_error("device: expected 1 of them for .*, found 2", tactus.Session, "sphere", ["sim:omega3", "mouse"])
        self.assert_error("expected .*falcon", tactus.Session("sphere", device="nothing").start)
        self.assert_error("cannot|No such", tactus.load_recording, self.folder / "none.rec")

    def test_name_the_argument_that_is_wrong(self):
        for triangles in ([[0, 1, 2**40]], [[0.5, 1, 2]]):  # cut to 32 bits they would be other vertices
            self.assert_error("^triangles: expected whole numbers", tactus.Mesh, np.zeros((3, 3)), triangles)
        ball, here = "sphere:r=0.01", [[1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]]
        self.assert_error(r"^motions\[0\]: expected a rotation", tactus.sweep, ball, ball, np.zeros((1, 19)))
        self.assert_error("^expected a file name, found None", tactus.query, None, ball, here)
        self.assert_error("^poses: expected an array", tactus.query, ball, ball, "here")
        self.assert_error("^rate: expected a number, found 'fast'", tactus.Session, "sphere", rate="fast")
        self.assert_error("^device: expected a name", tactus.Session, "sphere", device=5)
        with tactus.Session("sphere", device="sim:omega3") as session:
            self.assert_error("^position: expected 3 numbers, found 2", session.set_mapping, 1, (1, 2))
            self.assert_error("^rotation: expected 3 numbers, found None", session.set_mapping, rotation=None)
            self.assert_error("^scale: expected a number, found 'x'", session.set_mapping, "x")
            self.assert_error("^over: expected a time in seconds, found inf", session.set_mapping, over=math.inf)
            self.assert_error("^object: expected a name or a whole number, found 0.5", session.show, 0.5)
            self.assert_error("^pose: expected 3 or 7 numbers, found None", session.set_object_pose, 0, None)

    def test_a_session_that_starts_again_leaves_its_recording(self):
        file = self.folder / "first.rec"
        session = tactus.Session("sphere", device="sim:omega3")
        session.record(file)
        with session:
            session.snapshot()
        first = file.read_bytes()
        with session:
            session.snapshot()
        self.assertEqual(file.read_bytes(), first)

    def test_name_the_row_of_a_bad_path(self):
        path = stroke(20)
        path[7, 7] = 3
        self.assert_error(r"path\[7\]: expected a quaternion of length 1", tactus.render, "sphere", path)
        file = self.write("bad.csv", path)
        self.assert_error(r"bad\.csv:8: expected a quaternion of length 1", tactus.render, "sphere", file)
        path = stroke(20)
        path[5, 0] = math.nan
        self.assert_error(r"path\[5\]: expected a time", tactus.render, "sphere", path)
        path = stroke(20)
        path[5, 2] = math.inf
        self.assert_error(r"path\[5\]: expected a finite position", tactus.render, "sphere", path)
        self.assert_error(r"path: expected an array of shape \(n, 8\)", tactus.render, "sphere", np.zeros((3, 7)))
        self.assert_error(r"poses\[1\]: expected a rotation", tactus.query, "sphere:r=1", "sphere:r=1",
                          [[1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], [2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]])


if __name__ == "__main__":
    unittest.main()
