"""tactus task: figures of a run and of its recording rendered again, files, comparison, bad input."""
import csv
import json
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from program import BadInputTest, Program

tactus = Program(sys.argv.pop())


def figures(path):
    with open(path) as file:
        return {row["name"]: row for row in json.load(file)["tools"][0]["figures"]}


def differing(a, b):
    """The names of figures that are in one of them only, or whose values differ."""
    names = sorted(set(a) ^ set(b))
    for name in set(a) & set(b):
        x, y = a[name]["value"], b[name]["value"]
        if x is not None and (y is None or abs(x - y) > 1e-3 * abs(x) + 1e-3):
            names.append(name)
    return names


class Task(BadInputTest):
    program = tactus

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="with space ")
        self.addCleanup(folder.cleanup)
        self.path = lambda name: os.path.join(folder.name, name)

    def test_a_recorded_run_rendered_again_gives_the_same_figures(self):
        live, again, path = self.path("live.json"), self.path("again.json"), self.path("path.csv")
        recording, rows = self.path("a.rec"), self.path("rows.csv")
        result = tactus("run", "lumbar", "--seconds", "3", "--task", live, "--record", recording, "--csv", rows,
                        "--report", self.path("a.html"))
        self.assertEqual(result.returncode, 0, result)
        summary = result.stdout
        self.assertEqual(tactus("view", recording, "--csv", path).returncode, 0)
        result = tactus("render", "lumbar", "--input", path, "--output", self.path("out.csv"), "--task", again)
        self.assertEqual(result.returncode, 0, result)
        # From the recording itself the figures are those of the run, to the bit.
        exact = self.path("exact.json")
        result = tactus("render", "lumbar", "--input", recording, "--output", self.path("out.csv"), "--task", exact)
        self.assertEqual(result.returncode, 0, result)
        with open(live, "rb") as first, open(exact, "rb") as second:
            self.assertEqual(first.read(), second.read())
        with open(rows) as file:
            table = list(csv.DictReader(file))
        a, b = figures(live), figures(again)
        # A path has no time at which a tick ran: late ticks change the forces a little.
        if len(table) == 3000:  # one row for each tick that ran
            self.assertEqual(differing(a, b), [])
            self.assertGreaterEqual(a["punctures"]["value"], 2)
        # The rows of the run have the same largest force and the same punctures.
        force = max(sum(float(r[k]) ** 2 for k in ("fx", "fy", "fz")) ** 0.5 for r in table)
        self.assertAlmostEqual(force, a["largest force"]["value"], delta=1e-4 * force)
        self.assertEqual(max(int(r["needle_opened"]) for r in table), a["punctures"]["value"])
        with open(self.path("a.html")) as file:
            page = file.read()
        self.assertNotIn(">warning<", page)  # only of a run that passed
        for text in ('id="task-result"', 'id="punctures"', 'id="structures"', "least distance, mm"):
            self.assertIn(text, page)
        self.assertRegex(page, "<th>nerve root</th><td><span class=.badge (granted|warned).>")
        # A needle in tissue touches, although it has no contacts.
        touch = re.search(r"in contact or in tissue ([\d.]+) % of the time.*\n +force ([\d.]+) N on average", summary)
        self.assertIsNotNone(touch, summary)
        self.assertGreater(float(touch[1]), 0)
        self.assertGreater(float(touch[2]), 0)
        # The layer that should be reached was not.
        self.assertIn("not within all limits", page)

        both = tactus("task", live, exact)
        self.assertEqual(both.returncode, 0, both)
        self.assertIn("lumbar puncture: not passed", both.stdout)
        self.assertRegex(both.stdout, r"largest force +N +\d[\d.]* +\d[\d.]* +\+0 +<= 8")
        other = self.path("other.json")
        self.assertEqual(tactus("run", "sphere", "--seconds", "0.1", "--task", other).returncode, 0)
        result = tactus("task", live, other)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr, "^tactus task: .*other.json: expected figures of 'lumbar puncture' as in .*live.json, "
                                        "found those of 'sphere on plane'\n$")
        one = tactus("task", live)
        self.assertRegex(one.stdout, r"dura reached +no ! +yes\n")

    def test_the_report_shows_what_was_drilled_and_damaged(self):
        scene, page = self.path("block.yaml"), self.path("block.html")
        with open(scene, "w") as file:
            file.write("scene: block\n"
                       "materials: [{name: wax, stiffness_N_per_m: 1000, feed_m_per_N_s: 0.5}]\n"
                       "tools:\n- name: drill\n  shapes: [{kind: sphere, radius_m: 0.001}]\n  drill: {radius_m: 0.001}\n"
                       "  hand: [{time_s: 0, position_m: [0, 0, 0.0035]}, {time_s: 0.8, position_m: [0, 0, 0]}]\n"
                       "objects:\n- name: block\n  shapes: [{kind: box, size_m: [0.005, 0.005, 0.004]}]\n  material: wax\n"
                       "  drillable: {voxel_m: 0.0002}\n"
                       "  protect: [{name: vessel, solids: \"sphere:r=0.0008\", warn_m: 0.001},\n"
                       "            {name: nerve, solids: \"sphere:r=0.0002,x=0.0022,z=-0.0015\", warn_m: 0.0001},\n"
                       "            {name: duct, shapes: [{kind: box, size_m: [0.001, 0.001, 0.001]}]}]\n")
        result = tactus("run", scene, "--seconds", "1.5", "--report", page)
        self.assertEqual(result.returncode, 0, result)
        with open(page) as file:
            text = file.read()
        self.assertIn("<h2>Task: block</h2>", text)
        self.assertRegex(text, '<th>vessel</th><td><span class="badge refused">damaged<')
        self.assertRegex(text, '<th>nerve</th><td><span class="badge granted">kept clear<')
        self.assertRegex(text, '<th>duct</th><td><span class="badge refused">damaged<')
        plot = text[text.index('id="distances"'):]
        plot = plot[:plot.index("</svg>")]
        for words in ("vessel", "vessel: warning", "nerve", "nerve: warning", "duct", "surface"):
            self.assertIn(">" + words + "</text>", plot)
        self.assertNotIn("duct: warning", plot)
        for words in ("wax", "wax, removed", "protected, removed"):
            self.assertEqual(text.count(">" + words + "</text>"), 2, words)  # in both sections

    def test_a_name_that_ends_with_csv_gets_a_table(self):
        table = self.path("a.csv")
        self.assertEqual(tactus("run", "sphere", "--seconds", "0.3", "--task", table).returncode, 0)
        with open(table) as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(rows[0]["name"], "time")
        self.assertAlmostEqual(float(rows[0]["value"]), 0.3, delta=0.1)

    def test_what_is_no_file_of_figures_is_refused(self):
        broken = self.path("broken.json")
        for text in ("", "{}", "[1, 2]", '{"scene": "x", "tools": []}', '{"scene": "x", "tools": [{"name": 1}]}',
                     "[" * 100000, "\0\xff"):
            with open(broken, "w", encoding="latin-1") as file:
                file.write(text)
            result = tactus("task", broken)
            self.assertEqual(result.returncode, 2, text[:40])
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn("expected the figures", result.stderr)
        result = tactus("task", self.path("none.json"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("expected a file of figures", result.stderr)
        self.assertEqual(tactus("task").returncode, 2)

    def test_a_file_that_cannot_be_written_is_named_before_the_run(self):
        result = tactus("run", "sphere", "--seconds", "100", "--task", "/no/such/folder/a.json")
        self.assertEqual((result.returncode, result.stderr), (
            1, "tactus: task: expected to write /no/such/folder/a.json, found: No such file or directory\n"))


if __name__ == "__main__":
    unittest.main()
