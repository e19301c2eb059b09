"""The program under test as a subprocess, and the form of its answer to bad input."""

import subprocess
import threading
import time
import unittest


class HoldUps:
    """`with HoldUps() as machine:` … `machine.longest_s`: how long the machine held up this process meanwhile, at most."""

    def __enter__(self):
        self.longest_s, self.ends = 0, False
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        before_s = time.monotonic()
        while not self.ends:
            time.sleep(0.001)
            now_s = time.monotonic()
            self.longest_s = max(self.longest_s, now_s - before_s - 0.001)
            before_s = now_s

    def __exit__(self, *unused):
        self.ends = True
        self.thread.join()


class Program:
    """program(*arguments) runs it and returns the completed process with its output as text."""

    def __init__(self, path):
        self.path = path

    def __call__(self, *arguments, **options):
        return subprocess.run([self.path, *arguments], capture_output=True, text=True, timeout=300, **options)


def held_up(data):
    """Whether the machine made a run's loop late. Its stiffness and the gate's gain are lowered for a while then, so that a
    force is only known to be above 0."""
    return data["skipped"] > 0 or any(tool["derated_ticks"] > 0 for tool in data["tools"])


class BadInputTest(unittest.TestCase):
    """Bad input gets one line on standard error, exit code 2 and nothing on standard output."""

    program = None  # a Program, set by the subclass

    def refuse(self, *arguments, says):
        result = self.program(*arguments)
        self.assertEqual(result.returncode, 2, result)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertRegex(result.stderr, says)
