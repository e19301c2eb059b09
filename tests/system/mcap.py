"""tactus view --mcap: mcap.py PROGRAM FOLDER. The file is read by a reader written here after the specification, and by the
reference reader from npm, which is kept in FOLDER; both must find the numbers of --csv, to the bit."""

import csv
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from program import BadInputTest, Program, held_up

FOLDER = sys.argv.pop()
tactus = Program(sys.argv.pop())
HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ["@mcap/core@2.2.2", "@foxglove/rosmsg2-serialization@3.1.0", "@foxglove/rosmsg@5.0.4"]


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def get(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def bytes(self, count):
        self.at += count
        assert self.at <= len(self.data)
        return self.data[self.at - count:self.at]

    def text(self):
        return self.bytes(self.get("I")).decode()

    def map(self, key, value):
        part, entries = Bytes(self.bytes(self.get("I"))), {}
        while part.at < len(part.data):
            entries.update([(key(part), value(part))])
        return entries

    def records(self):
        while self.at < len(self.data):
            start, op = self.at, self.get("B")
            yield start, op, Bytes(self.bytes(self.get("Q")))


def numbers(body, count):
    """The floats after the header of a stamped message in CDR."""
    assert body[:4] == b"\0\1\0\0"
    seconds, nanoseconds, length = struct.unpack_from("<iII", body, 4)
    assert body[16:16 + length] == b"base\0"
    at = 4 + (12 + length + 7) // 8 * 8
    return seconds + nanoseconds / 1e9, list(struct.unpack_from(f"<{count}d", body, at))


def read(path):
    with open(path, "rb") as file:
        return file.read()


class File:
    """Reads chunks front to back, then checks every index of the summary against what was found."""

    def __init__(self, data):
        assert data[:8] == data[-8:] == b"\x89MCAP0\r\n"
        self.topics, self.messages, self.metadata, self.attachments = {}, {}, {}, {}
        places, in_summary, summary_start, indexed = {}, False, None, []
        file = Bytes(data[:-8])
        file.at = 8
        for start, op, r in file.records():
            places[start] = (op, file.at - start)
            if op == 0x04:
                number, schema, topic, encoding = r.get("H"), r.get("H"), r.text(), r.text()
                assert encoding == "cdr" and schema
                self.topics[number] = topic
                self.messages.setdefault(topic, [])
            elif op == 0x06:
                self.chunk(r)
            elif op == 0x0C:
                name = r.text()
                self.metadata[name] = r.map(Bytes.text, Bytes.text)
            elif op == 0x09:
                r.get("QQ")
                name, _ = r.text(), r.text()
                self.attachments[name] = r.bytes(r.get("Q"))
                assert r.get("I") == zlib.crc32(r.data[:-4])
            elif op == 0x0F:
                in_summary, summary_start = True, file.at
            elif op in (0x08, 0x0A, 0x0D):
                assert in_summary
                if op == 0x08:
                    r.get("QQ")
                offset, length = r.get("QQ")
                assert places[offset] == ({0x08: 0x06, 0x0A: 0x09, 0x0D: 0x0C}[op], length)
                indexed.append(offset)
                if op == 0x08:
                    for place in r.map(lambda b: b.get("H"), lambda b: b.get("Q")).values():
                        assert places[place][0] == 0x07
            elif op == 0x0B:
                self.statistics = r.get("QHIIIIQQ"), r.map(lambda b: b.get("H"), lambda b: b.get("Q"))
            elif op == 0x02:
                assert r.get("Q") == summary_start
                r.get("Q")
                assert r.get("I") == zlib.crc32(data[summary_start:start + 9 + 16])
        assert sorted(indexed) == sorted(p for p, (op, _) in places.items() if op in (0x06, 0x09, 0x0C))

    def chunk(self, r):
        first, last, size, crc = r.get("QQQI")
        assert r.text() == "" and r.get("Q") == size
        content = Bytes(r.bytes(size))
        assert crc == zlib.crc32(content.data)
        for _, op, m in content.records():
            channel, sequence, logged, published = m.get("HIQQ")
            assert op == 0x05 and first <= logged == published <= last
            messages = self.messages[self.topics[channel]]
            assert sequence == len(messages)
            messages.append((logged, m.data[m.at:]))


COLUMNS = {"/device/pose": ["x", "y", "z", "qx", "qy", "qz", "qw"], "/device/twist": ["vx", "vy", "vz", "wx", "wy", "wz"],
           "/device/wrench": ["fx", "fy", "fz", "tx", "ty", "tz"]}


class Mcap(BadInputTest):
    program = tactus

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="mcap ")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.recording, cls.path = cls.file("a.rec"), cls.file("a.mcap")
        run = tactus("run", "stylus", "--device", "sim:omega7", "--seconds", "1", "--record", cls.recording)
        assert run.returncode == 0, run
        both = tactus("view", cls.recording, "--mcap", cls.path, "--csv", cls.file("a.csv"))
        assert both.returncode == 0, both
        cls.rows = list(csv.DictReader(read(cls.file("a.csv")).decode().splitlines()))

    @classmethod
    def file(cls, name):
        return os.path.join(cls.folder, name)

    def test_every_sample_is_there_to_the_bit(self):
        found = File(read(self.path))
        self.assertGreater(len(self.rows), 512, "more than two chunks")
        self.assertTrue(any(float(row[c]) for row in self.rows for c in ("fx", "fy", "fz")), "a force")
        for topic, columns in COLUMNS.items():
            self.assertEqual(len(found.messages[topic]), len(self.rows))
            for row, (logged, body) in zip(self.rows, found.messages[topic]):
                stamp, values = numbers(body, len(columns))
                self.assertEqual(values, [float(row[c]) for c in columns])
                self.assertAlmostEqual(stamp, float(row["t_s"]), places=6)
                self.assertAlmostEqual(logged / 1e9, float(row["t_s"]), places=6)
        self.assertEqual(len(found.messages["/device/joy"]), len(self.rows))
        changes = [b["status"] for a, b in zip([{"status": ""}] + self.rows, self.rows) if a["status"] != b["status"]]
        self.assertEqual([body[8:-1].decode() for _, body in found.messages["/device/status"]], changes)
        self.assertEqual(found.metadata["recording"]["device"], "sim:omega7")
        self.assertIn(b"tools:", found.attachments["scene.yaml"])
        totals, by_channel = found.statistics
        self.assertEqual(totals[0], sum(map(len, found.messages.values())))
        self.assertEqual({found.topics[c]: n for c, n in by_channel.items()},
                         {topic: len(m) for topic, m in found.messages.items()})

    def test_the_reference_reader_finds_the_same(self):
        if not shutil.which("npm") or not shutil.which("node"):
            self.skipTest("no npm: the reference reader of MCAP is not asked")
        if not os.path.exists(os.path.join(FOLDER, "node_modules", "@mcap", "core")):
            got = subprocess.run(["npm", "install", "--prefix", FOLDER, "--no-audit", "--no-fund", "--fetch-retries=0",
                                  "--fetch-timeout=20000", *PACKAGES], capture_output=True, text=True)
            if got.returncode != 0:
                self.skipTest("npm offline: the reference reader of MCAP is not asked")
        shutil.copy(os.path.join(HERE, "mcap_read.mjs"), FOLDER)
        printed = subprocess.run(["node", os.path.join(FOLDER, "mcap_read.mjs"), self.path], capture_output=True, text=True)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        found = json.loads(printed.stdout)
        self.assertEqual(found["profile"], "ros2")
        self.assertEqual(found["attachments"], ["scene.yaml"])
        for topic, columns in COLUMNS.items():
            self.assertEqual(found["values"][topic], [[float(row[c]) for c in columns] for row in self.rows])

    def test_a_gripper_is_in_every_file(self):
        scene = self.file("grip.yaml")
        with open(scene, "w") as file:
            file.write("scene: grip\ntools:\n- name: tweezers\n  device: sim:omega7\n  shapes: [{kind: sphere, radius_m: 0.005}]\n"
                       "  gripper: {rest_m: 0.012, stiffness_N_per_m: 500}\n"
                       "  hand:\n  - {time_s: 0, position_m: [0, 0, 0.1], gripper_m: 0.02}\n"
                       "  - {time_s: 0.4, position_m: [0, 0, 0.1], gripper_m: 0.001}\n"
                       "objects:\n- name: box\n  shapes: [{kind: box, size_m: [0.05, 0.05, 0.05]}]\n")
        recording, live = self.file("grip.rec"), self.file("grip.csv")
        for _ in range(8):
            run = tactus("run", scene, "--seconds", "1", "--record", recording, "--csv", live, "--json")
            self.assertEqual(run.returncode, 0, run)
            late = held_up(json.loads(run.stdout))
            if not late:
                break
        self.assertEqual(tactus("view", recording, "--csv", self.file("g.csv"), "--mcap", self.file("g.mcap")).returncode, 0)
        rows = list(csv.DictReader(read(self.file("g.csv")).decode().splitlines()))
        forces = [float(row["gripper_N"]) for row in rows]
        self.assertGreater(max(forces), 0 if late else 1)
        self.assertLessEqual(max(forces), 8)
        for row in rows:
            self.assertLessEqual(float(row["gripper_N"]), max(0, 500 * (0.012 - float(row["gripper_m"]))) + 2.1)
        for row, row_live in zip(rows, csv.DictReader(read(live).decode().splitlines())):
            self.assertAlmostEqual(float(row["gripper_m"]), float(row_live["gripper_m"]), places=8)
            self.assertAlmostEqual(float(row["gripper_N"]), float(row_live["gripper_N"]), places=4)
        joy = [struct.unpack_from("<If", body, 4 + 20) for _, body in File(read(self.file("g.mcap"))).messages["/device/joy"]]
        self.assertEqual([(1, struct.unpack("<f", struct.pack("<f", float(row["gripper_m"])))[0]) for row in rows], joy)

    def test_it_appears_whole_or_not_at_all(self):
        self.assertEqual(subprocess.run([tactus.path, "view", self.recording, "--mcap", "-"],
                                        capture_output=True).stdout, read(self.path))
        self.assertEqual(tactus("view", self.recording, "--mcap", "/no/such/folder/x").returncode, 1)
        self.refuse("view", self.recording, "--mcap", self.recording, says="a file of its own")
        self.refuse("view", self.recording, "--mcap", "-", "--csv", "-", says="a file of its own.*'-' twice")
        self.refuse("view", self.recording, "--scene", "peg", "--mcap", self.file("no.mcap"), says="expected the scene in which")
        self.assertFalse(os.path.exists(self.file("no.mcap")))
        cut = self.file("cut.rec")
        with open(cut, "wb") as out:
            out.write(read(self.recording)[:-20])
        self.assertEqual(tactus("view", cut, "--mcap", self.file("cut.mcap")).returncode, 1)
        self.assertNotEqual(File(read(self.file("cut.mcap"))).metadata["recording"]["damage"], "")


if __name__ == "__main__":
    unittest.main()
