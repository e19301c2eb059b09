"""The live display on a terminal: terminal.py PROGRAM. A small terminal emulator reads the bytes."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROGRAM = sys.argv.pop()


class Screen:
    """The few control sequences that the panel uses, on a grid that wraps long rows again when the window changes."""

    def __init__(self, columns):
        self.columns = columns
        self.rows = [""]  # logical lines
        self.row = self.column = 0
        self.blank_frames = 0  # writes after which nothing of the panel was visible
        self.widest = 0
        self.written = []  # every piece of text, including overwritten ones

    def feed(self, text):
        for token in re.findall(r"\x1b\[\d*[A-Za-z]|[\r\n]|[^\r\n\x1b]+|\x1b.", text):
            if token == "\r":
                self.column = 0
            elif token == "\n":
                self.row += 1
                self.column = 0
                if self.row == len(self.rows):
                    self.rows.append("")
            elif token == "\x1b[K":
                self.rows[self.row] = self.rows[self.row][:self.column]
            elif token == "\x1b[J":
                self.rows[self.row] = self.rows[self.row][:self.column]
                del self.rows[self.row + 1:]
            elif re.fullmatch(r"\x1b\[\d+A", token):
                self.up(int(token[2:-1]))
            elif token[0] == "\x1b":
                raise AssertionError(f"expected a control sequence of this emulator, found {token!r}")
            else:
                self.written.append(token)
                line = self.rows[self.row].ljust(self.column)
                self.rows[self.row] = line[:self.column] + token + line[self.column + len(token):]
                self.column += len(token)
                self.widest = max(self.widest, self.column)
        if not any(self.rows):
            self.blank_frames += 1

    def up(self, count):
        """Moves by physical rows: a line that is too long for the window takes several."""
        while count > 0 and self.row > 0:
            self.row -= 1
            count -= max(1, -(-len(self.rows[self.row]) // self.columns))
        self.column = 0


def in_terminal(arguments, columns, resize=None, code=0, **environment):
    """Runs the program with standard error on a terminal. resize: (after seconds, columns); the program is interrupted
    when it has drawn in the changed window, however long a busy machine takes for that."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([PROGRAM, *arguments], stderr=slave, stdout=subprocess.PIPE,
                               env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
    os.close(slave)
    screen, frames, begin, settled, last = Screen(columns), [], time.monotonic(), 0, None
    while True:
        if resize and len(frames) > 2 and time.monotonic() - begin > resize[0]:
            fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, resize[1], 0, 0))
            screen.columns, resize = resize[1], None
            settled = len(frames) + 3  # output in flight when the window changed is ignored
            last = settled + 4
        if select.select([master], [], [], 0.05)[0]:
            try:
                chunk = os.read(master, 1 << 16)
            except OSError:  # the other side is closed
                break
            if not chunk:
                break
            screen.feed(chunk.decode())
            if len(frames) < settled:
                screen.widest = 0
            frames.append(list(screen.rows))
            if len(frames) == last:
                process.send_signal(signal.SIGINT)
    os.close(master)
    output = process.stdout.read().decode()
    process.stdout.close()
    if process.wait(timeout=300) != code:
        raise AssertionError(f"exit code {process.returncode}")
    return screen, frames, output


class Panel(unittest.TestCase):
    def test_a_panel_is_redrawn_in_place_and_removed_at_the_end(self):
        screen, frames, output = in_terminal(["latency", "--seconds", "1.5"], 120)
        self.assertGreater(len(frames), 8)
        for frame in frames[:-1]:
            self.assertEqual(len(frame), 2, frame)
            self.assertRegex(frame[0], r"^ +\d\.\d s  \d+ ticks  wake p50 .* misses \d+$")
            self.assertRegex(frame[1], r"^[█▏▎▍▌▋▊▉ ]{40} 2 s")
        self.assertEqual(screen.rows, [""])
        self.assertEqual(screen.blank_frames, 1)  # the last, when the panel is removed
        self.assertRegex(output, "missed (its|their) deadline")
        full = [frame[1].count("█") for frame in frames[:-1]]
        self.assertEqual(full, sorted(full))
        self.assertGreater(full[-1], 30)

    def test_a_narrower_window_gets_shorter_lines_and_no_remains(self):
        screen, frames, _ = in_terminal(["latency", "--seconds", "30"], 100, resize=(0.7, 30))
        self.assertGreater(screen.widest, 0)
        self.assertLessEqual(screen.widest, 29)
        self.assertEqual(screen.rows, [""])
        self.assertTrue(all(len(frame) == 2 for frame in frames[:-1]), frames)
        self.assertEqual(max(len(row) for row in frames[-2]), 29)

    def test_a_wider_window_gets_longer_lines(self):
        screen, frames, _ = in_terminal(["latency", "--seconds", "30"], 20, resize=(0.7, 100))
        self.assertEqual(max(len(row) for row in frames[1]), 19)
        self.assertGreater(len(frames[-2][0]), 60)

    def test_a_window_of_one_column_is_harmless(self):
        screen, _, _ = in_terminal(["latency", "--seconds", "0.5"], 1)
        self.assertEqual(screen.rows, [""])

    def test_a_character_set_without_block_elements_gets_ascii_bars(self):
        _, frames, _ = in_terminal(["latency", "--seconds", "0.6"], 100, LC_ALL="C")
        self.assertRegex(frames[-2][1], r"^#*\.* 1 s")

    def test_a_pipe_and_a_dumb_terminal_get_plain_lines(self):
        for environment in {}, {"TERM": "dumb"}:
            for _ in range(5):  # on a busy machine the first line may be so late that there is no second
                result = subprocess.run([PROGRAM, "latency", "--seconds", "2.5"], capture_output=True, text=True,
                                        env={**os.environ, **environment}, timeout=300)
                if len(result.stderr.splitlines()) == 2:
                    break
            self.assertEqual(len(result.stderr.splitlines()), 2, result.stderr)
            self.assertNotIn("\x1b", result.stderr)
            self.assertNotIn("\r", result.stderr)


class Progress(unittest.TestCase):
    def test_long_work_has_a_bar_and_short_work_has_none(self):
        with tempfile.NamedTemporaryFile("w") as poses:
            poses.write("1 0 0 0 1 0 0 0 1 0 0 0.5\n" * 1000)
            poses.flush()
            query = ["query", "sphere:r=1", "toroid:R=1,r=0.3", "--poses", poses.name, "--repeat"]
            screen, frames, output = in_terminal([*query, "1"], 80)
            self.assertEqual(frames, [])
            repeat = 2000
            while repeat <= 1000000:  # until it takes long enough for a bar on this machine
                screen, frames, output = in_terminal([*query, str(repeat)], 80)
                if len(frames) > 3:
                    break
                repeat *= 4
        self.assertGreater(len(frames), 3)
        self.assertEqual(screen.rows, [""])
        percents = [int(re.search(r"(\d+) %", frame[0]).group(1)) for frame in frames[:-1]]
        self.assertEqual(percents, sorted(percents))
        self.assertRegex(frames[-2][0], r"^querying  ▕.{30}▏ +\d+ %  \d+ s left$")

    def test_build_steps_are_named_on_a_terminal_only(self):
        with tempfile.TemporaryDirectory() as folder:
            mesh, poses, bad = (os.path.join(folder, name) for name in ("tetra.off", "poses", "bad.off"))
            with open(mesh, "w") as file:
                file.write("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n")
            with open(poses, "w") as file:
                file.write("1 0 0 0 1 0 0 0 1 0 0 0.5\n")
            with open(bad, "w") as file:
                file.write("no mesh\n")
            query = ["query", mesh, mesh, "--poses", poses]
            screen, _, _ = in_terminal(query, 200)
            self.assertEqual(screen.rows, [""])  # nothing is left of it
            self.assertTrue(any("building" in text for text in screen.written), screen.written)
            plain = subprocess.run([PROGRAM, *query], capture_output=True, text=True, timeout=300)
            self.assertEqual(plain.stderr, "")
            # A log line replaces the step that is shown.
            screen, _, _ = in_terminal(["query", mesh, bad, "--poses", poses], 200, code=2)
            self.assertEqual(len(screen.rows), 2, screen.rows)
            self.assertRegex(screen.rows[0], r"^tactus: .*bad\.off")
            self.assertNotIn("building", screen.rows[0])
            self.assertEqual(screen.rows[1], "")


if __name__ == "__main__":
    unittest.main()
