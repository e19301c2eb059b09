"""The command line as people and programs use it: command.py PROGRAM."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from program import BadInputTest, Program

PROGRAM = sys.argv.pop()
tactus = Program(PROGRAM)


class BadInput(BadInputTest):
    program = tactus

    def test_commands(self):
        self.refuse(says="expected a command .*found nothing$")
        self.refuse("latencies", says="found 'latencies'")
        self.refuse("", says="found ''")

    def test_numbers(self):
        for value in "0", "-1", "nan", "NaN", "inf", "99.9", "10001", "1e99", "fast", "", "1000x", " ", "0x":
            self.refuse("latency", "--rate", value,
                        says=rf"rate: expected a number from 100 to 10000, found '{re.escape(value)}'")
        for value in "-3", "0", "nan", "-inf", "inf", "ten":
            self.refuse("latency", "--seconds", value, says=rf"seconds: expected a number .*found '{value}'")
        for value in "0", "100", "8.5", "-", "nan", "99999999999999999999":
            self.refuse("latency", "--priority", value, says="priority: expected a whole number from 1 to 99")
        self.refuse("latency", "--spin", "501", says="at most half a period .500 us., found '501'")

    def test_words(self):
        self.refuse("latency", "--policy", "batch", says="policy: expected other or fifo or deadline, found 'batch'")
        self.refuse("latency", "--timer=sundial", says="expected nanosleep or signal or timerfd, found 'sundial'")

    def test_options(self):
        self.refuse("latency", "--sconds", "1", says="expected one listed by --help, found '--sconds'")
        self.refuse("latency", "--rat", "1000", says="expected one listed by --help, found '--rat'")
        self.refuse("latency", "--rate", says="rate: expected HZ, found nothing")
        self.refuse("latency", "--load=yes", says="load: expected no value, found 'yes'")
        self.refuse("latency", "now", says="arguments: expected no further argument, found 'now'")
        self.refuse("latency", "--log", "", says="log: expected FILE.csv, found ''")

    def test_solids(self):
        with tempfile.NamedTemporaryFile("w") as poses:
            poses.write("1 0 0 0 1 0 0 0 1 0 0 0\n")
            poses.flush()
            for text, expected in (
                    ("sphere:", "r=NUMBER of the sphere"), ("sphere:x=1", "r=NUMBER of the sphere"),
                    ("sphere:r=-1", "r=1e-09 to 1e.09 m"), ("sphere:r=nan", "r=1e-09"), ("sphere:r=inf", "r=1e-09"),
                    ("sphere:r=0", "r=1e-09"), ("sphere:r=1e-60", "r=1e-09"), ("sphere:r=1e300", "r=1e-09"),
                    ("sphere:r= 1", "r=1e-09"), ("sphere:r=0x1", "r=1e-09"), ("sphere:r=", "r=1e-09"),
                    ("sphere:r=1,r=1", "r once"), ("sphere:r=1,axis=x,axis=x", "axis once"),
                    ("sphere:r=1,x=1,x=2", "x once"), ("sphere:r=1,x=nan", "x=-1e.09 to 1e.09 m"),
                    ("sphere:r=1,", "NAME=NUMBER"), ("sphere:r", "NAME=NUMBER"), ("sphere:r=1,h=1", "NAME=NUMBER"),
                    ("sphere:r=1,axis=w", "NAME=NUMBER"), ("capsule:r=1", "h=NUMBER of the capsule"),
                    ("cone:rb=1,h=1", "rt=NUMBER of the cone"), ("cone:rb=0,rt=0,h=1", "a radius above 0"),
                    ("cone:rb=1,rt=1e-10,h=1", "rt=0 or 1e-09"), ("toroid:R=1,r=2,concave", "R >= r"),
                    ("toroid:R=2,r=1,concave,concave", "concave once"), ("toroid:R=1,r=1,z0=.3,z1=.2", "-r <= z0 < z1"),
                    ("sphere:r=1+", "sphere:, capsule:"), ("sphere:r=1+disc:r=1", "sphere:, capsule:"),
                    ("sphere:r=1e-6,x=1", "a radius of at least 1e-5"), ("+".join(17 * ["sphere:r=1"]), "at most 16 solids")):
                self.refuse("query", "sphere:r=1", text, "--poses", poses.name,
                            says=rf"shape '{re.escape(text[:120])}.*': expected {expected}.*, found")
            self.refuse("query", "sphere:r=1", "sphere:r=1", "--poses", poses.name, "--collider", "wide",
                        says="collider: expected solid .* found 'wide'")

    def test_files(self):
        result = tactus("latency", "--seconds", "0.1", "--log", "/no/such/folder/x.csv")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, "/no/such/folder/x.csv.*No such file")
        result = tactus("latency", "--seconds", "0.1", "--trace", "/dev/full")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("No space left", result.stderr)


class Streams(unittest.TestCase):
    """Standard streams that are full or closed."""

    def test_a_full_disk_is_an_error(self):
        for arguments in ["--help"], ["latency", "--help"], ["latency", "--seconds", "0.1", "--json"]:
            with open("/dev/full", "w") as full:
                result = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True,
                                        timeout=300)
            self.assertEqual(result.returncode, 1, result)
            self.assertIn("standard output full or closed", result.stderr)

    def test_output_of_a_closed_stream_does_not_end_up_in_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            runs = []
            for closed, code in ("<&-", 0), (">&-", 1), ("2>&-", 0), ("<&- >&- 2>&-", 1):
                trace = os.path.join(folder, f"trace {len(runs)}.json")
                command = f'exec "$0" latency --seconds 1.1 --trace "$1" {closed}'
                runs.append((closed, code, trace, subprocess.Popen(
                    ["/bin/sh", "-c", command, PROGRAM, trace], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)))
            for closed, code, trace, process in runs:
                self.assertEqual(process.wait(timeout=300), code, closed)
                with open(trace) as file:
                    json.load(file)


class Latency(unittest.TestCase):
    def test_help_names_every_option(self):
        text = tactus("latency", "--help")
        self.assertEqual(text.returncode, 0)
        for option in "seconds rate timer policy priority cpu spin work load threshold rivals log trace report json".split():
            self.assertIn("--" + option, text.stdout)
        self.assertIn("latency", tactus("--help").stdout)
        self.assertRegex(tactus("--version").stdout, r"^tactus \d+\.\d+\.\d+\n$")

    def test_a_person_sees_setup_percentiles_and_misses(self):
        result = tactus("latency", "--seconds", "1.2")
        self.assertEqual(result.returncode, 0, result)
        for text in "machine", "set-up", "SCHED_FIFO 80: ", "p99.9", "wake", "compute":
            self.assertIn(text, result.stdout)
        self.assertRegex(result.stdout, "missed (its|their) deadline")
        self.assertRegex(result.stderr, r"1\.\d s  \d+ ticks  wake p50 .* p99 .* max .* misses \d+")

    def test_a_program_gets_json_that_adds_up(self):
        for timer in "nanosleep", "signal", "timerfd":
            result = tactus("latency", "--seconds", "0.5", "--timer", timer, "--rate", "2000", "--spin", "20",
                            "--work", "30", "--json")
            self.assertEqual(result.returncode, 0, result)
            data = json.loads(result.stdout)
            self.assertEqual(data["loop"]["timer"], timer)
            self.assertEqual(data["ticks"] + data["skipped"], 1000)
            self.assertEqual(data["lost_records"], 0)
            self.assertEqual(sum(data["misses_by_cause"].values()), data["misses"])
            for name in "timer", "wake", "compute":
                h = data[name]
                self.assertEqual(h["count"], data["ticks"])
                self.assertLessEqual(h["p50_ns"], h["p99_ns"])
                self.assertLessEqual(h["p99_99_ns"], h["max_ns"])
                inside = sum(count for _, _, count in h["buckets_low_high_count"])
                self.assertLessEqual(inside, h["count"])
            self.assertGreaterEqual(data["wake_corrected"]["count"], data["wake"]["count"])
            self.assertGreaterEqual(data["compute"]["min_ns"], 30000)

    def test_the_default_spin_fits_the_period(self):
        for rate, spin in ("100", 100), ("10000", 50):
            data = json.loads(tactus("latency", "--seconds", "0.05", "--rate", rate, "--json").stdout)
            self.assertEqual(data["loop"]["spin_us"], spin)

    def test_misses_are_counted_attributed_and_logged(self):
        with tempfile.TemporaryDirectory() as folder:
            log, trace = os.path.join(folder, "log.csv"), os.path.join(folder, "trace.json")
            result = tactus("latency", "--seconds", "0.3", "--work", "1500", "--json", "--log", log, "--trace", trace)
            self.assertEqual(result.returncode, 0, result)
            data = json.loads(result.stdout)
            with open(log) as file:
                rows = list(csv.DictReader(file))
            with open(trace) as file:
                events = json.load(file)
            # Every tick works for 1.5 periods: each misses and skips at least one.
            self.assertGreater(data["ticks"], 10)
            self.assertEqual(data["misses"], data["ticks"])
            self.assertGreaterEqual(data["skipped"], data["ticks"])
            self.assertEqual(len(rows), data["misses"])
            self.assertGreater(data["misses_by_cause"]["long compute"], data["misses"] // 2)
            self.assertTrue(all(row["phase"] == "work" for row in rows if row["cause"] == "long compute"))
            self.assertTrue(all(int(row["cpu_ns"]) > 1000000 for row in rows if row["cause"] == "long compute"))
            self.assertEqual(sum(event["ph"] == "i" for event in events), data["misses"])

    def test_late_ticks_have_causes_and_the_rival_has_a_name(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        cpu = str(min(os.sched_getaffinity(0)))
        # A busy machine may start the hog after the loop has ended, or run it while the loop is held up anyway: the next try
        # lasts longer.
        for longer in range(1, 9):
            process = subprocess.Popen([PROGRAM, "latency", "--seconds", str(longer), "--policy", "other", "--cpu", cpu,
                                        "--rivals", "--threshold", "300", "--json"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
            time.sleep(0.5)
            # A process that holds the CPU for 60 ms or more by its own clock, ahead of the loop.
            hog = ("import os, time\nopen('/proc/self/comm', 'w').write('hog')\n"
                   f"os.sched_setaffinity(0, [{cpu}])\nend = time.monotonic() + {0.06 * longer}\n"
                   "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))\nwhile time.monotonic() < end: pass\n"
                   "os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))\ntime.sleep(0.3)\n")
            subprocess.run([sys.executable, "-c", hog], check=True)
            data = json.loads(process.communicate(timeout=300)[0])
            self.assertEqual(process.returncode, 0)
            self.assertEqual(sum(data["late_by_cause"].values()), data["late"])
            ran_ns = sum(rival["ran_ns"] for rival in data["rivals"] if rival["name"] == "hog")
            if data["rivals_errno"] or ran_ns > 5e6:
                break
        if os.path.exists("/proc/interrupts"):
            found = data["interrupts"]
            self.assertEqual(found["cpu"], int(cpu))
            self.assertLessEqual(found["ticks_on_cpu"], data["ticks"])
            self.assertGreater(found["count"], 0)
            counts = [source["count"] for source in found["sources"]]
            self.assertEqual(counts, sorted(counts, reverse=True))
            self.assertLessEqual(sum(counts), found["count"])
        if data["rivals_errno"]:
            self.skipTest(os.strerror(data["rivals_errno"]))
        self.assertGreater(ran_ns, 5e6)

    def test_two_summaries_are_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("a.json", "b.json")]
            data = []
            for path, work in zip(paths, ("100", "300")):
                with open(path, "w") as file:
                    file.write(tactus("latency", "--seconds", "0.2", "--work", work, "--json").stdout)
                with open(path) as file:
                    data.append(json.load(file))
            text = tactus("latency", "--compare", *paths).stdout
            row = next(line.split() for line in text.splitlines() if line.startswith("compute"))
            self.assertAlmostEqual(float(row[1]), data[0]["compute"]["p50_ns"] / 1e3, delta=0.06)
            self.assertAlmostEqual(float(row[2]), data[1]["compute"]["p50_ns"] / 1e3, delta=0.06)
            self.assertAlmostEqual(float(row[3].rstrip("x")), data[1]["compute"]["p50_ns"] / data[0]["compute"]["p50_ns"],
                                   delta=0.006)
            self.assertRegex(text, rf"(?m)^ticks +{data[0]['ticks']} +{data[1]['ticks']}$")
            for arguments, says in ((["--compare", paths[0]], "expected two summaries, found one"),
                                    (["--compare", paths[0], folder], "it is a folder"),
                                    (["--compare", paths[0], __file__], "expected a summary that --json prints")):
                result = tactus("latency", *arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result)
                self.assertRegex(result.stderr, says)

    def test_the_verdict_is_one_line(self):
        text = tactus("latency", "--seconds", "0.3", "--rate", "500").stdout
        self.assertRegex(text, r"(?m)^verdict   500 Hz (held without a miss|missed in [\d.e-]+ % .*by [a-z /IO]+); the slowest "
                         r"tick took [\d.]+ us .*(sustains \d+ Hz|100 Hz)")

    def test_an_interrupt_ends_it_with_the_summary(self):
        for number in signal.SIGINT, signal.SIGTERM:
            process = subprocess.Popen([PROGRAM, "latency", "--seconds", "100"], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stderr.readline()  # the first progress line, after a second
            process.send_signal(number)
            stdout, _ = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0)
            self.assertRegex(stdout, "missed (its|their) deadline")

    def test_options_reach_the_thread(self):
        for option, value, line in (("policy", "other", "SCHED_OTHER: "), ("priority", "7", "SCHED_FIFO 7: "),
                                    ("policy", "deadline", "SCHED_DEADLINE 800 of 1000 us: "),
                                    ("cpu", "0", "CPU 0 alone: ")):
            self.assertIn(line, tactus("latency", "--seconds", "0.05", "--" + option, value).stdout)

    def test_a_stopped_process_shows_in_the_corrected_times_and_prints_no_backlog_of_progress(self):
        process = subprocess.Popen([PROGRAM, "latency", "--seconds", "5", "--json"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stderr.readline()
        process.send_signal(signal.SIGSTOP)
        time.sleep(3)
        process.send_signal(signal.SIGCONT)
        stdout, stderr = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0)
        data = json.loads(stdout)
        # A wake-up that is 3 s late counts once for each of the 3000 periods.
        self.assertGreater(data["wake_corrected"]["count"], data["wake"]["count"] + 2000)
        times = re.findall(r"([\d.]+) s  \d+ ticks", stderr)
        self.assertEqual(len(times), len(set(times)), stderr)

    def test_an_unprivileged_user_gets_a_reason_and_a_measurement(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to drop privileges from")
        # A copy that everyone can read, because the build folder may be private.
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "tactus")
            with open(PROGRAM, "rb") as source, open(copy, "wb") as target:
                target.write(source.read())
            os.chmod(folder, 0o755)
            os.chmod(copy, 0o755)
            result = subprocess.run(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
                 "prlimit", "--rtprio=0", "--memlock=65536", copy, "latency", "--seconds", "0.2"],
                capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result)
        self.assertRegex(result.stdout, r"SCHED_FIFO 80: refused \(EPERM\): .*limits.conf")
        self.assertRegex(result.stdout, r"\d+ ticks, \d+ missed")


class Query(unittest.TestCase):
    """Solids at poses whose results are obvious."""

    def test_solids_touch_up_to_the_sum_of_their_radii(self):
        with tempfile.NamedTemporaryFile("w") as poses:
            for z in 0.74, 0.76, 0.3:
                poses.write(f"1 0 0 0 1 0 0 0 1 0 0 {z}\n")
            poses.flush()
            result = tactus("query", "capsule:r=0.25,h=2,axis=y", "cylinder:r=0.1,h=0.1,y=3+capsule:r=0.5,h=2,axis=x",
                            "--poses", poses.name, "--mode", "surfaces", "--csv", "-")
            self.assertEqual(result.returncode, 0, result)
            rows = list(csv.DictReader(result.stdout.splitlines()))
            self.assertEqual([r["result"] for r in rows], ["hit", "none", "hit"])
            self.assertEqual([r["pairs"] for r in rows], ["1", "0", "1"])
            self.assertEqual(result.stderr.splitlines()[:2], ["pose 0: capsule | capsule", "pose 2: capsule | capsule"])


class Devices(unittest.TestCase):
    """Every driver reports its devices or a reason, as text and as JSON."""

    def test_text_and_json_agree(self):
        text = tactus("devices")
        self.assertEqual((text.returncode, text.stderr), (0, ""))
        drivers = json.loads(tactus("devices", "--json").stdout)["drivers"]
        self.assertLess({"sim", "playback"}, {driver["driver"] for driver in drivers})
        for driver in drivers:
            self.assertIn(driver["driver"] + ": ", text.stdout)
            self.assertIn(driver["reason"], text.stdout)
            self.assertTrue(driver["devices"] or driver["reason"], driver)
            for device in driver["devices"]:
                self.assertIn("--device " + device["select"], text.stdout)

    def test_bad_input(self):
        result = tactus("devices", "now")
        self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (2, "", 1))


class Bench(unittest.TestCase):
    """Benchmarks are programs in the build tree or in libexec."""

    def copy(self, folder, *benches):
        """The program in FOLDER/bin, and benches in FOLDER/libexec/tactus that print their arguments."""
        os.makedirs(os.path.join(folder, "bin"))
        os.makedirs(os.path.join(folder, "libexec/tactus"))
        program = os.path.join(folder, "bin/tactus")
        shutil.copy(PROGRAM, program)
        for name in benches:
            path = os.path.join(folder, "libexec/tactus", name)
            with open(path, "w") as file:
                file.write('#!/bin/sh\nprintf "%s." "$@"\nexit 7\n')
            os.chmod(path, 0o755)
        return program

    def test_a_bench_gets_its_arguments_and_its_exit_code_is_returned(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.copy(folder, "bench_scd", "bench_new", "unrelated")
            result = subprocess.run([program, "bench", "scd", "a b", "--help"], capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (7, "a b.--help.", ""))
            for arguments in [], ["--help"]:
                result = subprocess.run([program, "bench", *arguments], capture_output=True, text=True)
                self.assertEqual(result.returncode, 0)
                listed = re.findall(r"^  (\S+)", result.stdout, re.M)
                self.assertEqual(listed, ["new", "scd"])
            for name in "unrelated", "../../bin/tactus", "", "bench_scd":
                result = subprocess.run([program, "bench", name], capture_output=True, text=True)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertRegex(result.stderr, r"^tactus bench: expected a name .*, found '[^\n]*'\n$")
            result = subprocess.run([program, "bench", "erit"], capture_output=True, text=True)
            self.assertIn("found 'erit', which is not built", result.stderr)
            result = subprocess.run([program, "bench", "sdc"], capture_output=True, text=True)
            self.assertRegex(result.stderr, "found 'sdc'; did you mean 'scd'\\?\n$")

    def test_missing_benches_are_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.copy(folder)
            result = subprocess.run([program, "bench"], capture_output=True, text=True)
            if result.returncode == 0:
                self.skipTest("benchmarks are installed on this machine")
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertRegex(result.stderr, r"^tactus bench: expected benchmark programs .*, found none; [^\n]*\n$")


if __name__ == "__main__":
    unittest.main()
