"""The report as a reader opens it: report.py PROGRAM. Without Chromium, only the file is examined."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import browser

PROGRAM = sys.argv.pop()


class Page(HTMLParser):
    """Collects ids, the rows of tables, and the bars of plots with their titles."""

    VOID = {"meta", "link", "br", "hr", "img"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.rows, self.bars, self.buttons, self.data = [], [], {}, {}, [], ""
        self.feed(text)
        self.close()

    def inside(self, tag):
        return next((i for t, i in reversed(self.open) if t == tag), None)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag in self.VOID:
            return
        self.open.append((tag, attributes.get("id") or attributes.get("class")))
        if tag == "tr":
            self.rows[self.inside("table")] = self.rows.get(self.inside("table"), 0) + 1

    def handle_endtag(self, tag):
        opened = self.open.pop()[0]
        if opened != tag:
            raise AssertionError(f"<{opened}> is closed by </{tag}>")

    def handle_data(self, data):
        tag, name = self.open[-1] if self.open else (None, None)
        if tag == "title" and self.inside("svg"):
            self.bars.setdefault(self.inside("svg"), []).append(data)
        elif tag == "button":
            self.buttons.append(data)
        elif tag == "script" and name == "data":
            self.data += data


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "report.html")
        result = subprocess.run([PROGRAM, "latency", "--seconds", "1.5", "--work", "20", "--report", cls.path, "--json"],
                                capture_output=True, text=True, timeout=300)
        assert result.returncode == 0, result
        cls.summary = json.loads(result.stdout)
        with open(cls.path, encoding="utf-8") as file:
            cls.text = file.read()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def examine(self, text):
        page = Page(text)
        self.assertEqual(page.open, [])
        for name in "wake", "compute", "survival", "ticks", "setup", "facts", "percentiles", "data", "downloads":
            self.assertEqual(page.ids.count(name), 1, name)
        for name in "wake", "compute":
            heights = [int(title.rsplit(": ", 1)[1]) for title in page.bars[name]]
            self.assertEqual(sum(heights), self.summary["ticks"], name)
        self.assertEqual(page.rows["setup"], 5)
        self.assertEqual(page.rows.get("worst", 1) - 1, min(16, self.summary["misses"]))
        return page

    def test_the_file_holds_every_tick_and_every_miss(self):
        page = self.examine(self.text)
        tables = {table["name"]: table for table in json.loads(page.data)["tables"]}
        self.assertEqual(set(tables), {"ticks", "histograms", "worst"})
        columns = tables["ticks"]["columns"]
        rows = [dict(zip(columns, row)) for row in tables["ticks"]["rows"]]
        self.assertEqual(sum(row["samples"] for row in rows), self.summary["ticks"])
        missed = sum(round(row["missed_mean"] * row["samples"]) for row in rows)
        self.assertEqual(missed, self.summary["misses"])
        self.assertAlmostEqual(max(row["wake_s_max"] for row in rows), self.summary["wake"]["max_ns"] / 1e9, 9)
        self.assertAlmostEqual(min(row["compute_s_min"] for row in rows), self.summary["compute"]["min_ns"] / 1e9, 9)
        self.assertEqual(sum(row[3] for row in tables["histograms"]["rows"]), 3 * self.summary["ticks"])

    def test_the_file_is_self_contained(self):
        for reference in re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)""", self.text) + re.findall(r"url\(([^)]*)", self.text):
            self.assertTrue(reference.startswith(("#", "data:")), reference)
        self.assertNotIn("@import", self.text)
        self.assertIsNone(re.search(r"https?://", self.text))

    def test_a_run_with_misses_lists_the_worst(self):
        path = os.path.join(self.folder.name, "late.html")
        result = subprocess.run([PROGRAM, "latency", "--seconds", "0.3", "--work", "1500", "--report", path, "--json"],
                                capture_output=True, text=True, timeout=300)
        summary = json.loads(result.stdout)
        with open(path, encoding="utf-8") as file:
            page = Page(file.read())
        self.assertIn("causes", page.ids)
        self.assertEqual(page.rows["worst"] - 1, min(16, summary["misses"]))
        worst = next(t for t in json.loads(page.data)["tables"] if t["name"] == "worst")["rows"]
        self.assertEqual([row[1] for row in worst], [tick["late_ns"] for tick in summary["worst"]])

    def test_a_verdict_is_below_the_cards_and_ticks_beyond_the_threshold_are_listed(self):
        path = os.path.join(self.folder.name, "threshold.html")
        result = subprocess.run([PROGRAM, "latency", "--seconds", "1", "--rate", "100", "--work", "500", "--threshold",
                                 "200", "--report", path], capture_output=True, text=True, timeout=300)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn('<p id="verdict">' + re.search(r"^verdict +(.*)$", result.stdout, re.M).group(1) + ".</p>", text)
        late, noun = re.search(r"^(\d+) (ticks?) met the deadline, but not the threshold$", result.stdout, re.M).groups()
        self.assertIn(f'<p id="late">{late} {noun} met the deadline, but not the threshold.', text)
        missed = re.search(r"(\d+) missed (its|their) deadline", result.stdout).group(1)
        self.assertEqual(Page(text).rows["worst"] - 1, min(16, int(late) + int(missed)))

    def test_a_report_that_cannot_be_written_is_an_error(self):
        for command in "latency", "run":
            for path in "/no/such/folder/x.html", "/dev/full":
                result = subprocess.run([PROGRAM, command, "--seconds", "0.1", "--report", path], capture_output=True,
                                        text=True, timeout=300)
                self.assertEqual(result.returncode, 1, path)
                self.assertIn(path, result.stderr)
                # A path that cannot be opened is reported before the run, not after an hour of it.
                self.assertEqual(result.stdout == "", path.startswith("/no"))

    def test_a_run_adds_forces_and_device(self):
        path = os.path.join(self.folder.name, "run.html")
        result = subprocess.run([PROGRAM, "run", "--seconds", "2.5", "--report", path, "--json"], capture_output=True,
                                text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result)
        summary = json.loads(result.stdout)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        console = []
        if browser.CHROMIUM:
            text, console = browser.opened(path)
        self.assertEqual(console, [])
        page = Page(text)
        for name in "force", "torque", "contacts", "depth", "energy", "device", "wake", "compute":
            self.assertEqual(page.ids.count(name), 1, name)
        forces = next(t for t in json.loads(page.data)["tables"] if t["name"] == "forces")
        rows = [dict(zip(forces["columns"], row)) for row in forces["rows"]]
        self.assertEqual(sum(row["samples"] for row in rows), summary["ticks"])
        tool = summary["tools"][0]
        self.assertAlmostEqual(max(row["force_N_max"] for row in rows), tool["max_force_N"], 4)
        self.assertAlmostEqual(max(row["depth_m_max"] for row in rows), tool["max_depth_m"], 7)
        self.assertGreater(max(row["contacts_max"] for row in rows), 0)

    @unittest.skipUnless(browser.CHROMIUM, "no chromium")
    def test_a_browser_shows_it_without_console_messages(self):
        text, console = browser.opened(self.path)
        self.assertEqual(console, [])
        page = self.examine(text)
        self.assertEqual(len(page.buttons), 1 + 3)  # the theme, three tables

    @unittest.skipUnless(browser.CHROMIUM, "no chromium")
    def test_the_buttons_download_the_data_as_csv(self):
        text, console = browser.opened(self.path, """
            const files = [];
            URL.createObjectURL = blob => { files.push(blob.text()); return "data:,"; };
            document.querySelectorAll("#downloads button").forEach(button => button.click());
            document.getElementById("theme").click();
            Promise.all(files).then(texts => {
                const out = document.createElement("script");
                out.type = "application/json"; out.id = "caught"; out.textContent = JSON.stringify(texts);
                document.body.append(out);
            });""")
        self.assertEqual(console, [])
        self.assertRegex(text, r'<html[^>]*data-theme="(dark|light)"')
        caught = json.loads(re.search(r'id="caught">(.*?)</script>', text, re.S).group(1))
        self.assertEqual(len(caught), 3)
        ticks = list(csv.DictReader(io.StringIO(caught[0])))
        self.assertEqual(sum(int(row["samples"]) for row in ticks), self.summary["ticks"])
        self.assertEqual(caught[1].splitlines()[0], "of,low_ns,high_ns,count")


if __name__ == "__main__":
    if not browser.CHROMIUM:
        print("skipped: the report in a browser (no chromium)")
    unittest.main()
