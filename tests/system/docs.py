"""The pages as a reader uses them: docs.py SOURCE-FOLDER BUILD-FOLDER PROGRAM. Every command of the README is run, every
link leads somewhere, the manual page names every command and option, completion knows them, the reference has no
warnings."""

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

SOURCE, BUILD, PROGRAM = (os.path.abspath(path) for path in sys.argv[-3:])
del sys.argv[-3:]


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def say(*arguments, **options):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=180, **options)


def commands():
    """The lines of the README's sh blocks, without comments."""
    for block in re.findall(r"^```sh\n(.*?)^```", read("README.md"), re.S | re.M):
        for line in block.splitlines():
            line = re.sub(r"\s+#.*", "", line).strip()
            if line:
                yield line


def write_cube(path):
    """A cube as binary STL, for the reader's own mesh file."""
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
        cls.environment = {**os.environ, "PATH": bin_folder + ":" + os.environ["PATH"]}
        write_cube(os.path.join(cls.folder.name, "part.stl"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_page_has_the_commands_this_test_is_about(self):
        lines = list(commands())
        self.assertGreater(len(lines), 12)
        for word in "--view", "--report", "view ", "--device mouse", "chip", "emulate", "latency", "mesh":
            self.assertTrue(any(word in line for line in lines), word)

    def run_command(self, line):
        """As it stands; what has no end of its own gets an interrupt after three seconds."""
        if line.startswith(("./run", "tests/run")):
            self.assertTrue(os.access(os.path.join(SOURCE, line.split()[0]), os.X_OK))
            return  # tests/scripts runs the scripts; tests/run is what runs this
        words = ["sh", "-c", "exec " + line]
        if "--view" in line or " view " in line:
            if not shutil.which("xvfb-run"):
                self.skipTest("no xvfb-run")
            words = ["xvfb-run", "-a", "-s", "-screen 0 1300x820x24", *words]
        process = subprocess.Popen(words, cwd=self.folder.name, env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        if "--seconds" not in line and ("--view" in line or " view " in line):
            time.sleep(4)
            for child in say("pgrep", "-g", str(process.pid), "-f", "^[^ ]*tactus").stdout.split():
                os.kill(int(child), signal.SIGINT)
        stdout, stderr = process.communicate(timeout=180)
        if "emulate" in line and process.returncode != 0:
            self.assertRegex(stderr, "vhci", line)  # this kernel has none, and it says so
            return
        self.assertEqual(process.returncode, 0, f"{line}\n{stdout}\n{stderr}")

    def test_every_command_works(self):
        for line in commands():
            with self.subTest(line):
                self.run_command(line)

    def test_every_link_leads_somewhere(self):
        for page in ["README.md"] + ["docs/" + name for name in os.listdir(os.path.join(SOURCE, "docs"))
                                     if name.endswith(".md")]:
            for target in re.findall(r"\]\(([^)#\s]+)", read(page)):
                if "://" not in target:
                    path = os.path.join(SOURCE, os.path.dirname(page), target)
                    self.assertTrue(os.path.exists(path), f"{page}: {target}")


class Manual(unittest.TestCase):
    def setUp(self):
        self.page = say(os.path.join(SOURCE, "docs/manual"), PROGRAM).stdout
        self.names = re.findall(r"^  ([a-z]+) ", say(PROGRAM, "--help").stdout, re.M)

    def test_it_names_every_command_and_option(self):
        plain = self.page.replace("\\-", "-")
        self.assertGreater(len(self.names), 8)
        for name in self.names:
            self.assertIn(f".SS tactus {name}", plain)
            for option in re.findall(r"^  (--[a-z-]+)", say(PROGRAM, name, "--help").stdout, re.M):
                self.assertRegex(plain, rf"(?m)^\.B {re.escape(option)}\b")

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_roff_has_nothing_to_say_against_it(self):
        result = say("groff", "-man", "-Kutf8", "-Tutf8", "-ww", input=self.page)
        self.assertEqual(result.stderr, "")
        self.assertTrue("force-feedback runtime" in result.stdout)


class Completion(unittest.TestCase):
    def complete(self, *words):
        script = f"""source {SOURCE}/apps/completion.bash
            COMP_WORDS=({' '.join(f"'{word}'" for word in words)}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _tactus; printf '%s\\n' "${{COMPREPLY[@]}}" """
        result = say("bash", "-c", script)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_bash_knows_commands_options_choices_and_devices(self):
        self.assertEqual(self.complete(PROGRAM, "lat"), ["latency"])
        self.assertIn("--report", self.complete(PROGRAM, "run", "--re"))
        self.assertEqual(self.complete(PROGRAM, "latency", "--policy", "f"), ["fifo"])
        self.assertEqual(self.complete(PROGRAM, "run", "--device", "sim:om"), ["omega3", "omega7"])
        self.assertIn("tooth", self.complete(PROGRAM, "run", "too"))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_can_read_it(self):
        result = say("zsh", "-n", os.path.join(SOURCE, "apps/completion.zsh"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Reference(unittest.TestCase):
    @unittest.skipUnless(shutil.which("doxygen"), "no doxygen")
    def test_doxygen_has_no_warnings(self):
        with tempfile.TemporaryDirectory() as folder:
            result = say("doxygen", "docs/Doxyfile", cwd=SOURCE, env={**os.environ, "TACTUS_REFERENCE": folder})
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            with open(os.path.join(folder, "html", "servo_8h.html"), encoding="utf-8") as file:
                self.assertIn("One tick at", file.read())


if __name__ == "__main__":
    for tool in "xvfb-run", "groff", "zsh", "doxygen":
        if not shutil.which(tool):
            print(f"skipped: what needs {tool}")
    unittest.main()
