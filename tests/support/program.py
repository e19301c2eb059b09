"""The program under test as a subprocess, and the form of its answer to bad input."""

import subprocess
import unittest


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
