"""`tactus run` and `tactus render` as a person and a program meet them: run_render.py PROGRAM."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop()
SCENES = "sphere stylus peg tooth groove assembly hands".split()


def tactus(*arguments, **options):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120, **options)


class Refusing(unittest.TestCase):
    def refuse(self, *arguments, says):
        result = tactus(*arguments)
        self.assertEqual(result.returncode, 2, result)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertRegex(result.stderr, says)


class Run(Refusing):
    def test_without_arguments_it_touches_something_and_tells(self):
        result = tactus("run", "--seconds", "2.5")
        self.assertEqual(result.returncode, 0, result)
        for part in ("machine", "scene     sphere on plane", "sim:six", "set-up", "in contact", "p99.9",
                     "missed their deadline", "the gate stepped in"):
            self.assertIn(part, result.stdout)
        self.assertRegex(result.stderr, r"\d+ Hz  p99 \d+ us  misses \d+ .* contact.* \d\.\d\d N")

    def test_a_program_gets_json_that_adds_up(self):
        result = tactus("run", "--seconds", "2", "--json")
        self.assertEqual(result.returncode, 0, result)
        data = json.loads(result.stdout)
        tool = data["tools"][0]
        self.assertEqual(data["scene"], "sphere on plane")
        self.assertEqual(tool["ticks"], data["ticks"])
        self.assertEqual(data["ticks"] + data["skipped"], 2000)
        self.assertGreater(tool["contact_ticks"], 100)
        self.assertLessEqual(tool["contact_ticks"], tool["ticks"])
        # The hand pulls with 300 N/m at most 9 mm below the table.
        self.assertGreater(tool["max_force_N"], 0.5)
        self.assertLess(tool["max_force_N"], 4)
        self.assertEqual(tool["faults"], 0)
        self.assertEqual(tool["unknowns"], 0)

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
            result = tactus("run", "--seconds", "1.5", "--json", "--record", path)
            self.assertEqual(result.returncode, 0, result)
            self.assertGreater(os.path.getsize(path), 1000)
            again = tactus("run", "--device", "playback:" + path, "--seconds", "5", "--json")
            self.assertEqual(again.returncode, 0, again)
            data = json.loads(again.stdout)
            self.assertLess(data["ticks"], 2000)  # it ended with the recording
            self.assertGreater(data["tools"][0]["contact_ticks"], 0)

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
                file.write("OFF\n8 6 0\n" + "".join(f"{x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) +
                           "4 0 1 3 2\n4 4 6 7 5\n4 0 4 5 1\n4 2 3 7 6\n4 0 2 6 4\n4 1 5 7 3\n")
            result = tactus("run", path, "--seconds", "0.2", "--json")
            self.assertEqual(result.returncode, 0, result)

    def test_bad_input_is_one_line(self):
        self.refuse("run", "spehre", says="scene: expected sphere, .*a scene file .*found 'spehre'")
        self.refuse("run", "--device", "sim:unicorn", says="expected a device of .*found \"unicorn\"")
        self.refuse("run", "--collider", "magic", says="collider: expected wide or .*found 'magic'")
        self.refuse("run", "--mover", "sideways", says="mover: expected continuous or reactive, found 'sideways'")
        self.refuse("run", "nowhere.yaml", says="nowhere.yaml: expected a scene file: No such file")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.yaml")
            with open(path, "w") as file:
                file.write("scene: x\ntools:\n- name: t\n  shapes: [{kind: mesh, file: missing.obj}]\n")
            self.refuse("run", path, says="missing.obj")
            with open(path, "w") as file:
                file.write("scene: x\nmaterals: []\n")
            self.refuse("run", path, says=re.escape(path) + ":2:1: expected a key of a scene, found 'materals'; "
                        "did you mean 'materials'")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
