"""Ends of `tactus run` on a terminal, with a force in the motors of a virtual Falcon: ends.py PROGRAM KEEPER.

KEEPER is a tactus-keep that has the Falcon on its USB bus and mirrors its motors into a file (tests/support/motors.h)."""

import mmap
import os
import pty
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM, KEEPER = sys.argv[1:3]
LIMIT_S = 60  # only a failure takes so long


class Terminal:
    """A run in the foreground of a terminal, as a shell starts it."""

    def __init__(self, folder, *arguments, prepare=lambda: None):
        path = os.path.join(folder, "motors")
        with open(path, "wb") as file:
            file.write(bytes(mmap.PAGESIZE))
        with open(path, "r+b") as file:
            self.file = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        pids, self.statuses = os.pipe(), os.pipe()
        environment = {**os.environ, "TACTUS_KEEPER": KEEPER, "TACTUS_TEST_MOTORS": path, "TERM": "xterm"}
        self.shell, self.master = pty.fork()
        if self.shell == 0:
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)

            def start():
                os.setpgid(0, 0)
                signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                prepare()
            run = subprocess.Popen([PROGRAM, "run", "sphere", "--device", "falcon", "--seconds", "100", *arguments],
                                   env=environment, preexec_fn=start)
            os.tcsetpgrp(0, run.pid)
            os.write(pids[1], struct.pack("i", run.pid))
            os.write(self.statuses[1], struct.pack("i", run.wait()))
            os._exit(0)
        self.run = struct.unpack("i", os.read(pids[0], 4))[0]
        for fd in *pids, self.statuses[1]:
            os.close(fd)
        self.output = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        try:
            while chunk := os.read(self.master, 1 << 16):
                self.output.append(chunk)
        except OSError:  # the other side is closed
            pass

    def motors(self):
        return struct.unpack("Q", self.file[:8])[0]

    def forced(self):
        """How many commands had a force."""
        return struct.unpack("Q", self.file[16:24])[0]

    def state(self):
        """The kernel's letter: T is stopped, Z is dead."""
        try:
            with open(f"/proc/{self.run}/stat") as file:
                return file.read().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return "Z"

    def type(self, key):
        os.write(self.master, key)

    def text(self):
        return b"".join(self.output).decode(errors="replace")

    def close(self):
        """Hangs up, and collects what is left."""
        if self.master >= 0:
            for pid in self.shell, self.run:
                if self.state() != "Z":
                    os.kill(pid, signal.SIGKILL)
        os.waitpid(self.shell, 0)
        self.reader.join(LIMIT_S)
        self.hang_up()
        os.close(self.statuses[0])
        self.file.close()

    def hang_up(self):
        if self.master >= 0:
            os.close(self.master)
        self.master = -1


def wait_until(condition, limit_s=LIMIT_S):
    end = time.monotonic() + limit_s
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    return condition()


class Ends(unittest.TestCase):
    def start(self, *arguments, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        terminal = Terminal(folder.name, *arguments, **options)
        self.addCleanup(terminal.close)
        self.assertTrue(wait_until(lambda: terminal.motors() != 0 or terminal.state() == "Z"))
        self.assertNotEqual(terminal.motors(), 0, terminal.text())
        return terminal

    def assert_ends_at_zero(self, terminal, status):
        self.assertTrue(wait_until(lambda: terminal.state() == "Z"))
        self.assertTrue(wait_until(lambda: terminal.motors() == 0))
        forced = terminal.forced()
        if status is not None:
            self.assertEqual(struct.unpack("i", os.read(terminal.statuses[0], 4))[0], status, terminal.text())
        self.assertEqual(terminal.forced(), forced)

    def test_control_z_lets_go_and_control_c_ends_the_run_that_goes_on(self):
        terminal = self.start()
        terminal.type(b"\x1a")
        self.assertTrue(wait_until(lambda: terminal.state() == "T"))
        self.assertTrue(wait_until(lambda: terminal.motors() == 0))
        time.sleep(0.1)  # the grip moves into the sphere ten times a second
        forced = terminal.forced()
        time.sleep(0.1)
        self.assertEqual(terminal.forced(), forced)
        os.kill(terminal.run, signal.SIGCONT)
        # A busy machine may delay the loop, but not the watchdog.
        back = wait_until(lambda: terminal.motors() != 0, 2)
        terminal.type(b"\x03")
        self.assert_ends_at_zero(terminal, 0)
        self.assertRegex(terminal.text(), "missed (its|their) deadline")
        if not back:
            self.assertIn("the watchdog switched the forces off", terminal.text())

    def test_control_backslash_ends_the_run_with_its_summary(self):
        terminal = self.start()
        terminal.type(b"\x1c")
        self.assert_ends_at_zero(terminal, 0)
        self.assertRegex(terminal.text(), "missed (its|their) deadline")

    def test_a_terminal_that_is_closed_ends_the_run(self):
        terminal = self.start()
        terminal.hang_up()
        self.assert_ends_at_zero(terminal, None)

    def test_outputs_beyond_a_limit_of_size_end_nothing_and_are_named(self):
        names = "run.rec", "run.csv", "run.json"
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in names]
            terminal = self.start("--record", paths[0], "--csv", paths[1], "--trace", paths[2],
                                  prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
            for path in paths:
                self.assertTrue(wait_until(lambda: os.path.getsize(path) == 8192))
            forced = terminal.forced()
            self.assertTrue(wait_until(lambda: terminal.forced() > forced + 100))
            terminal.type(b"\x03")
            self.assert_ends_at_zero(terminal, 1)
            self.assertEqual(terminal.text().count("File too large"), 3, terminal.text())


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main()
