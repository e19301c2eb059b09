"""The documentation as a reader uses it: docs.py SOURCE-FOLDER BUILD-FOLDER PROGRAM. Every command of the README works,
every link has a target, the version is the same everywhere, the manual page and completion have every command and
option, and the reference builds without warnings."""

import concurrent.futures
import contextlib
import itertools
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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import display

SOURCE, BUILD, PROGRAM = (os.path.abspath(path) for path in sys.argv[-3:])
del sys.argv[-3:]


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def run(*arguments, **options):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=300, **options)


def blocks():
    """The README's sh blocks: lists of commands without comments."""
    for block in re.findall(r"^```sh\n(.*?)^```", read("README.md"), re.S | re.M):
        lines = [re.sub(r"\s+#.*", "", line).strip() for line in block.splitlines()]
        yield [line for line in lines if line]


def catches_interrupts(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"SigCgt:\s*(\w+)", file.read()).group(1), 16) >> (signal.SIGINT - 1) & 1
    return False


def interrupt(process):
    """Two seconds after the program in the process's group is ready for it."""
    while process.poll() is None:
        for child in run("pgrep", "-g", str(process.pid), "-f", "^[^ ]*tactus").stdout.split():
            if catches_interrupts(child):
                time.sleep(2)
                os.kill(int(child), signal.SIGINT)
                return
        time.sleep(0.1)


def write_cube(path):
    """A cube as binary STL, in place of the reader's mesh file."""
    corners = [(x, y, z) for x in (0, 40) for y in (0, 40) for z in (0, 40)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    triangles = [t for a, b, c, d in faces for t in ((a, c, b), (a, d, c))]
    with open(path, "wb") as file:
        file.write(bytes(80) + struct.pack("<I", len(triangles)))
        for triangle in triangles:
            file.write(struct.pack("<12fH", 0, 0, 0, *(v for corner in triangle for v in corners[corner]), 0))


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        bin_folder = os.path.join(cls.folder.name, "bin")
        os.mkdir(bin_folder)
        os.symlink(PROGRAM, os.path.join(bin_folder, "tactus"))
        cls.environment = {"PATH": bin_folder + ":" + os.environ["PATH"]}
        write_cube(os.path.join(cls.folder.name, "part.stl"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_readme_has_the_commands_that_are_tested(self):
        lines = [line for block in blocks() for line in block]
        self.assertGreater(len(lines), 12)
        for word in "--view", "--report", "view ", "--device mouse", "chip", "emulate", "latency", "mesh":
            self.assertTrue(any(word in line for line in lines), word)

    def run_command(self, line):
        """Runs the line unchanged. A command without a time limit is interrupted."""
        if line.startswith(("./run", "tests/run")):
            self.assertTrue(os.access(os.path.join(SOURCE, line.split()[0]), os.X_OK))
            return  # tests/system/scripts tests these
        window = "--view" in line or " view " in line
        if window and not display.XVFB:
            self.skipTest("no Xvfb")
        process = subprocess.Popen(["sh", "-c", "exec " + line], cwd=self.folder.name, env={**os.environ, **self.environment},
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        if window and "--seconds" not in line:
            interrupt(process)
        stdout, stderr = process.communicate(timeout=300)
        if "emulate" in line and process.returncode != 0:
            self.assertRegex(stderr, "vhci", line)  # the kernel has none, and the message names it
            return
        self.assertEqual(process.returncode, 0, f"{line}\n{stdout}\n{stderr}")

    def run_block(self, lines):
        """One after the other, because a command may use the files of those before it."""
        results = []
        for line in lines:
            try:
                self.run_command(line)
                results.append((line, None))
            except (AssertionError, unittest.SkipTest, subprocess.TimeoutExpired) as error:
                results.append((line, error))
        return results

    def test_every_command_works(self):
        with contextlib.ExitStack() as stack:
            if display.XVFB:
                stack.enter_context(display.display(1300, 820))
            pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(max_workers=4))
            for line, error in itertools.chain(*pool.map(self.run_block, blocks())):
                with self.subTest(line):
                    if error:
                        raise error

    def test_every_link_has_a_target(self):
        for page in ["README.md"] + ["docs/" + name for name in os.listdir(os.path.join(SOURCE, "docs"))
                                     if name.endswith(".md")]:
            for target in re.findall(r"\]\(([^)#\s]+)", re.sub(r"(?ms)^```.*?^```", "", read(page))):
                if "://" not in target:
                    path = os.path.join(SOURCE, os.path.dirname(page), target)
                    self.assertTrue(os.path.exists(path), f"{page}: {target}")


class Version(unittest.TestCase):
    def test_program_citation_and_changelog_agree(self):
        version = run(PROGRAM, "--version").stdout.removeprefix("tactus ").strip()
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(re.search(r"^version: (.*)$", read("CITATION.cff"), re.M).group(1), version)
        self.assertEqual(re.search(r"^## (.*)$", read("CHANGELOG.md"), re.M).group(1).split()[0], version)


class Manual(unittest.TestCase):
    def setUp(self):
        self.page = run(os.path.join(SOURCE, "cmake/make-manpage"), PROGRAM).stdout
        self.names = re.findall(r"^  ([a-z]+) ", run(PROGRAM, "--help").stdout, re.M)

    def test_it_names_every_command_and_option(self):
        plain = self.page.replace("\\-", "-")
        self.assertGreater(len(self.names), 8)
        for name in self.names:
            self.assertIn(f".SS tactus {name}", plain)
            for option in re.findall(r"^  (--[a-z-]+)", run(PROGRAM, name, "--help").stdout, re.M):
                self.assertRegex(plain, rf"(?m)^\.B {re.escape(option)}\b")

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_groff_has_no_warnings(self):
        result = run("groff", "-man", "-Kutf8", "-Tutf8", "-ww", input=self.page)
        self.assertEqual(result.stderr, "")
        self.assertTrue("force-feedback runtime" in result.stdout)


class Completion(unittest.TestCase):
    def complete(self, *words):
        script = f"""source '{SOURCE}/apps/completion/completion.bash'
            COMP_WORDS=({' '.join(f"'{word}'" for word in words)}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _tactus; printf '%s\\n' "${{COMPREPLY[@]}}" """
        result = run("bash", "-c", script)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_bash_completes_commands_options_choices_and_devices(self):
        self.assertEqual(self.complete(PROGRAM, "lat"), ["latency"])
        self.assertIn("--report", self.complete(PROGRAM, "run", "--re"))
        self.assertEqual(self.complete(PROGRAM, "latency", "--policy", "f"), ["fifo"])
        self.assertEqual(self.complete(PROGRAM, "run", "--device", "sim:om"), ["omega3", "omega7"])
        self.assertIn("tooth", self.complete(PROGRAM, "run", "too"))

    def test_bash_completes_a_program_in_a_folder_with_a_space(self):
        with tempfile.TemporaryDirectory(prefix="a b ") as folder:
            os.symlink(PROGRAM, os.path.join(folder, "tactus"))
            typed = os.path.join(folder, "tactus").replace(" ", "\\ ")
            self.assertEqual(self.complete(typed, "lat"), ["latency"])
            self.assertIn("--report", self.complete(typed, "run", "--re"))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_parses_it(self):
        result = run("zsh", "-n", os.path.join(SOURCE, "apps/completion/completion.zsh"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Reference(unittest.TestCase):
    @unittest.skipUnless(shutil.which("doxygen"), "no doxygen")
    def test_doxygen_has_no_warnings(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("doxygen", "docs/Doxyfile", cwd=SOURCE, env={**os.environ, "TACTUS_REFERENCE": folder})
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            with open(os.path.join(folder, "html", "servo_8h.html"), encoding="utf-8") as file:
                self.assertTrue("Runs one tick at" in file.read(), "the description of tac_servo_step")
            with open(os.path.join(folder, "html", "index.html"), encoding="utf-8") as file:
                self.assertIn("Where to begin", file.read())
            with open(os.path.join(folder, "html", "files.html"), encoding="utf-8") as file:
                listed = set(re.findall(r">([a-z0-9_]+\.h)<", file.read()))
            public = {name for room in ("base", "rt", "collision", "devices", "tissue", "haptic")
                      for name in os.listdir(os.path.join(SOURCE, room)) if name.endswith(".h")}
            self.assertEqual(listed, public)


if __name__ == "__main__":
    for tool in "Xvfb", "groff", "zsh", "doxygen":
        if not shutil.which(tool):
            print(f"skipped: what needs {tool}")
    unittest.main()
