"""What the loop's thread asks of the kernel while its run is shared: calls.py PROGRAM. strace follows that one thread in a run with a
bridge attached, and in one without --share; sharing must add no system call and no page fault. Only for tests/run --long."""

import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import stations
from stations import Shared

if not shutil.which("strace"):
    print("skipped: no strace")
    sys.exit(77)
stations.enter_namespace()
stations.PROGRAM = sys.argv.pop()

THREAD = "tac-servo"
CALLS = 3000  # to follow: at 1 kHz some seconds, in which the run also passes on events, totals and figures
WINDOWS = 3
# A tick sleeps. One that comes late asks for the cause: its CPU time, its switches and what the kernel's scheduler says of it.
SLEEPS, LATE = "clock_nanosleep", {"clock_gettime", "getrusage", "pread64"}


def thread_of(pid):
    for number in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/comm" % (pid, number)) as file:
            if file.read().strip() == THREAD:
                return number
    return None


def faults_of(pid, thread):
    """Minor and major page faults of a thread since it began."""
    with open("/proc/%d/task/%s/stat" % (pid, thread)) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[7]), int(fields[9])


class Calls(Shared):
    def follow(self, thread, path):
        """The thread's next system calls: name to count. They are written to the new file `path`."""
        strace = subprocess.Popen(["strace", "-q", "-o", path, "-p", thread], stderr=subprocess.PIPE, text=True)

        def enough():
            if not os.path.exists(path):
                return False
            with open(path) as file:
                return len(file.readlines()) >= CALLS

        self.eventually(lambda: strace.poll() is not None or enough(), "%d calls" % CALLS)
        if strace.poll() is not None:
            message = strace.stderr.read()
            strace.stderr.close()
            self.skipTest("strace cannot follow a thread here: " + message)
        strace.send_signal(signal.SIGINT)
        strace.communicate()
        with open(path) as file:  # "name(arguments) = result"; signals and strace's own remarks have another form
            return collections.Counter(line.split("(")[0] for line in file if line[0].isalpha())

    def steady(self, run):
        """The calls of some windows, the faults of the best one: the kernel may move pages, but a loop that touches new ones does so
        in every window."""
        pid = run.process.pid
        thread = thread_of(pid)
        calls, least = collections.Counter(), None
        for window in range(WINDOWS):
            before = faults_of(pid, thread)
            calls += self.follow(thread, os.path.join(self.folder, "calls of %d %d" % (pid, window)))
            faults = sum(faults_of(pid, thread)) - sum(before)
            least = faults if least is None else min(least, faults)
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(), 0, run.lines)
        return calls, least, json.loads(run.output)

    def begin(self, *options):
        run = self.start("run", "sphere", "--seconds", "1000", "--policy", "other", "--json", *options)
        self.eventually(lambda: thread_of(run.process.pid), "the loop has begun")
        return run

    def test_sharing_adds_no_system_call_and_no_page_fault(self):
        run = self.begin()
        time.sleep(1)  # until it is past its first ticks
        plain, plain_faults, _ = self.steady(run)
        self.bridge("s1", "--commands", "--ros")
        watch = self.watch("s1")
        run = self.begin("--share", "s1", "--external-wrench")
        self.eventually(lambda: stations.tell("s1", "gain", "--value", "0.9").returncode == 0, "the bridge has the run")
        shared, shared_faults, report = self.steady(run)
        watch.until("s1 has ended a run")
        heard = self.account(watch)["s1"]
        print("calls without --share: %s; with it: %s; ticks shared: %d" % (dict(plain), dict(shared), heard["ticks"]))
        self.check_whole(heard, report["ticks"])
        self.assertGreater(shared[SLEEPS], CALLS / 2)
        self.assertGreater(heard["ticks"], shared[SLEEPS] / 2, "the traced ticks were shared")
        self.assertEqual(set(shared) - set(plain) - LATE - {SLEEPS}, set())
        self.assertLessEqual(set(plain), LATE | {SLEEPS})
        self.assertEqual(report["misses_by_cause"]["page fault"], 0)
        if report["setup"]["memory"]["state"] == "granted":
            self.assertEqual((plain_faults, shared_faults), (0, 0))


if __name__ == "__main__":
    unittest.main()
