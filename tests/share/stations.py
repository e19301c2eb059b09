"""Stations, a watch, a recording service and commands, in network namespaces that the test makes: nothing leaves them."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

INSIDE = "TACTUS_TEST_NAMESPACE"
PROGRAM = None  # the path of tactus, set by the test


def enter_namespace():
    """Runs this script again in a network namespace of its own, or skips the test. Call it before sys.argv is changed."""
    if os.environ.get(INSIDE):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    command = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]
    if not shutil.which("ip") or subprocess.run([*command, "ip", "link", "set", "lo", "up"], capture_output=True).returncode:
        print("skipped: no network namespaces (unshare, ip)")
        sys.exit(77)
    os.environ[INSIDE] = "1"
    os.execvp(command[0], [*command, sys.executable, "-B", *sys.argv])


def upgrade(url, *headers, certificate="", inside=()):
    """The status with which a console answers to whoever wants its web socket: 101 if it lets them in; empty: no connection."""
    client = os.path.join(os.path.dirname(os.path.abspath(__file__)), "websocket.py")
    return subprocess.run([*inside, sys.executable, "-B", client, url, certificate, *headers], capture_output=True, text=True).stdout.strip()


def make_certificate(folder, address):
    """A certificate of an address that has signed itself: (certificate, key)."""
    key, certificate = (os.path.join(folder, name) for name in ("key.pem", "certificate.pem"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
                    "-subj", "/CN=" + address, "-addext", "subjectAltName=IP:" + address], check=True, capture_output=True)
    return certificate, key


def tell(station, *command, interface="lo"):
    """Sends a command and returns the completed process."""
    return subprocess.run([PROGRAM, "share", "--tell", station, "--interface", interface, "--seconds", "60", "--command", *command],
                          capture_output=True, text=True, timeout=300)


class Process:
    """A process whose lines of standard error can be waited for."""

    def __init__(self, *arguments, inside=(), loss=None):
        environment = dict(os.environ)
        if loss:
            environment["CYCLONEDDS_URI"] = (
                "<CycloneDDS><Domain><Internal><Test><XmitLossiness>%d</XmitLossiness></Test></Internal></Domain></CycloneDDS>" % loss)
        self.lines = []
        self.changed = threading.Condition()
        self.process = subprocess.Popen([*inside, PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=environment)
        self.output = ""
        self.threads = [threading.Thread(target=self.follow), threading.Thread(target=self.keep)]
        for thread in self.threads:
            thread.start()

    def follow(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()

    def keep(self):
        self.output = self.process.stdout.read()

    def until(self, text):
        with self.changed:
            if not self.changed.wait_for(lambda: any(text in line for line in self.lines), timeout=300):
                raise AssertionError("never said '%s': %s" % (text, "".join(self.lines)))

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.wait()

    def wait(self):
        self.process.wait(timeout=300)
        for thread in self.threads:
            thread.join()
        self.process.stderr.close()
        self.process.stdout.close()
        return self.process.returncode


class Shared(unittest.TestCase):
    interface = "lo"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tactus share ")
        self.started = []
        self.consoles = []

    def tearDown(self):
        for console in self.consoles:
            console.terminate()
            self.assertEqual(console.wait(timeout=300), 0)
            console.stdout.close()
        for process in self.started:
            if process.process.poll() is None:
                process.end(signal.SIGKILL)
        shutil.rmtree(self.folder)

    def start(self, *arguments, **options):
        process = Process(*arguments, **options)
        self.started.append(process)
        return process

    def share(self, *arguments, **options):
        return self.start("share", *arguments, "--interface", self.interface, **options)

    def bridge(self, name, *arguments, **options):
        bridge = self.share("--station", name, *arguments, **options)
        bridge.until("station " + name)
        return bridge

    def watch(self, *names, options=(), **how):
        watch = self.share("--watch", *options, **how)
        for name in names:
            watch.until("hears " + name + "\n")
        return watch

    def account(self, watch):
        self.assertEqual(watch.end(), 0)
        return {station["station"]: station for station in json.loads(watch.output)["stations"]}

    def run_shared(self, name, *arguments, **options):
        return self.start("run", "sphere", "--share", name, "--json", *arguments, **options)

    def console(self, *arguments):
        """Starts a console, which must end well; returns the address that it prints."""
        process = subprocess.Popen([PROGRAM, "console", "--interface", self.interface, *arguments], stdout=subprocess.PIPE, text=True)
        self.consoles.append(process)
        return process.stdout.readline().strip()

    def eventually(self, condition, what):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end, "never: " + what)
            time.sleep(0.02)

    def check_whole(self, heard, ticks):
        """Everything from the first tick that was heard on has arrived, and the bridge's account adds up."""
        self.assertEqual(heard["gaps"], 0, heard)
        self.assertEqual(heard["repeated"], 0, heard)
        self.assertEqual(heard["first"] + heard["ticks"], ticks, heard)
        totals = heard["totals"]
        self.assertEqual(totals["ticks"], ticks, heard)
        self.assertEqual(totals["published"] + totals["dropped"] + totals["refused"], ticks, heard)

    def ticks_of(self, run):
        self.assertEqual(run.wait(), 0, run.lines)
        return json.loads(run.output)["ticks"]
