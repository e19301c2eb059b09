"""tactus render --renderer chai3d, with a fake CHAI3D: render_chai3d.py PROGRAM PLUGIN."""

import csv
import os
import subprocess
import sys
import tempfile
import unittest

PLUGIN = sys.argv.pop()
PROGRAM = sys.argv.pop()


def render(*arguments, plugin=PLUGIN):
    return subprocess.run([PROGRAM, "render", *arguments], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "TACTUS_CHAI3D_PLUGIN": plugin})


class Render(unittest.TestCase):
    """The ball of the scene `sphere` moves straight down, to 4 mm below the table."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "in.csv")
        with open(self.path, "w") as file:
            for k in range(1100):
                file.write("%.3f,0,0,%.6f,0,0,0,1\n" % (k / 1000, 0.03 - 0.034 * min(1, k / 1000)))

    def tearDown(self):
        self.folder.cleanup()

    def rows(self, *arguments):
        out = os.path.join(self.folder.name, "out.csv")
        result = render("sphere", "--input", self.path, "--output", out, *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        with open(out) as file:
            return list(csv.DictReader(file))

    def test_both_renderers_write_the_same_columns(self):
        ours, theirs = self.rows(), self.rows("--renderer", "chai3d")
        self.assertEqual(list(ours[0]), list(theirs[0]))
        self.assertEqual(len(ours), len(theirs))
        for row in ours[-1], theirs[-1]:
            # 1000 N/m, for the ball's radius of 5 mm and 4 mm of depth.
            self.assertAlmostEqual(float(row["fz"]), 9.0, delta=0.05)
            self.assertAlmostEqual(float(row["sco_z"]), 0.005, delta=5e-5)
            self.assertEqual(row["contacts"], "1")
        self.assertEqual(theirs[0]["contacts"], "0")

    def refuse(self, *arguments, says, **options):
        out = os.path.join(self.folder.name, "no.csv")
        result = render(*arguments, "--renderer", "chai3d", "--input", self.path, "--output", out, **options)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertRegex(result.stderr, says)

    def test_a_missing_plugin_and_a_wrong_tool_get_one_line(self):
        self.refuse("sphere", plugin="/no/such/plugin.so", says="expected the CHAI3D plugin, found none")
        self.refuse("stylus", says="expected a tool that is one sphere")


unittest.main()
