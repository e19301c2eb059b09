"""The topics of ROS 2: ros.py PROGRAM PEER FOLDER. PEER is a participant of another vendor's DDS. What it receives must be, byte
for byte, what an encoder written here after the specification of XCDR1 makes of the values in the run's own CSV; the decoder
from npm, kept in FOLDER, must read the same from it by ROS's definitions."""

import csv
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

import stations
from stations import Shared

FOLDER = sys.argv[-1]
HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ["@foxglove/rosmsg2-serialization@3.1.0", "@foxglove/rosmsg-msgs-common@3.2.3"]


def install_decoder():
    """Before the namespace is entered, which has no way out."""
    if os.environ.get(stations.INSIDE) or not shutil.which("npm") or not shutil.which("node"):
        return
    if not os.path.isdir(os.path.join(FOLDER, "node_modules", "@foxglove", "rosmsg-msgs-common")):
        os.makedirs(FOLDER, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", FOLDER, "--no-audit", "--no-fund", "--fetch-retries=0", *PACKAGES],
                       capture_output=True)


install_decoder()
stations.enter_namespace()
sys.argv.pop()
PEER = sys.argv.pop()
stations.PROGRAM = sys.argv.pop()

# ROS's definitions (common_interfaces), for the hashes.
TYPES = {
    "builtin_interfaces/msg/Time": [("sec", "int32"), ("nanosec", "uint32")],
    "std_msgs/msg/Header": [("stamp", "builtin_interfaces/msg/Time"), ("frame_id", "string")],
    "std_msgs/msg/String": [("data", "string")],
    "rosgraph_msgs/msg/Clock": [("clock", "builtin_interfaces/msg/Time")],
    "geometry_msgs/msg/Point": [("x", "float64"), ("y", "float64"), ("z", "float64")],
    "geometry_msgs/msg/Vector3": [("x", "float64"), ("y", "float64"), ("z", "float64")],
    "geometry_msgs/msg/Quaternion": [("x", "float64"), ("y", "float64"), ("z", "float64"), ("w", "float64")],
    "geometry_msgs/msg/Pose": [("position", "geometry_msgs/msg/Point"), ("orientation", "geometry_msgs/msg/Quaternion")],
    "geometry_msgs/msg/Wrench": [("force", "geometry_msgs/msg/Vector3"), ("torque", "geometry_msgs/msg/Vector3")],
    "geometry_msgs/msg/PoseStamped": [("header", "std_msgs/msg/Header"), ("pose", "geometry_msgs/msg/Pose")],
    "geometry_msgs/msg/WrenchStamped": [("header", "std_msgs/msg/Header"), ("wrench", "geometry_msgs/msg/Wrench")],
    "sensor_msgs/msg/JointState": [("header", "std_msgs/msg/Header"), ("name", "string[]"), ("position", "float64[]"),
                                   ("velocity", "float64[]"), ("effort", "float64[]")],
}
TYPE_IDS = {"int32": 6, "uint32": 7, "float64": 11, "string": 17}
NESTED, SEQUENCE = 1, 144


def type_hash(name):
    """RIHS01 of REP 2011: the SHA-256 of the type's description as JSON."""

    def field_type(text):
        element = text.removesuffix("[]")
        kind = TYPE_IDS.get(element, NESTED) + (SEQUENCE if text != element else 0)
        return {"type_id": kind, "capacity": 0, "string_capacity": 0, "nested_type_name": "" if element in TYPE_IDS else element}

    def describe(type_name):
        return {"type_name": type_name, "fields": [{"name": f, "type": field_type(t)} for f, t in TYPES[type_name]]}

    def used(type_name):
        return {t for _, t in TYPES[type_name] if t in TYPES}.union(*(used(t) for _, t in TYPES[type_name] if t in TYPES))

    text = json.dumps({"type_description": describe(name), "referenced_type_descriptions": [describe(t) for t in sorted(used(name))]})
    return "RIHS01_" + hashlib.sha256(text.encode()).hexdigest()


class Encoder:
    """XCDR1, little-endian: each number is aligned to its size, counted from behind the encapsulation."""

    def __init__(self):
        self.data = b""

    def number(self, form, value):
        size = struct.calcsize(form)
        self.data += b"\0" * (-len(self.data) % size) + struct.pack("<" + form, value)

    def text(self, value):
        self.number("I", len(value) + 1)
        self.data += value.encode() + b"\0"

    def message(self, name, value):
        for field, kind in TYPES[name]:
            element = kind.removesuffix("[]")
            items = value[field] if kind != element else [value[field]]
            if kind != element:
                self.number("I", len(items))
            for item in items:
                if element == "string":
                    self.text(item)
                elif element in TYPES:
                    self.message(element, item)
                else:
                    self.number({"int32": "i", "uint32": "I", "float64": "d"}[element], item)

    @staticmethod
    def payload(name, value):
        encoder = Encoder()
        encoder.message(name, value)
        return b"\0\1\0\0" + encoder.data + b"\0" * (-len(encoder.data) % 4)


def place(values):
    return dict(zip("xyzw", values))


# The values of a payload, by the places that XCDR1 gives them behind a header with the frame "world".
def pose_of(header, body):
    v = struct.unpack_from("<7d", body, 24)
    return {"header": header, "pose": {"position": place(v[:3]), "orientation": place(v[3:])}}


def wrench_of(header, body):
    v = struct.unpack_from("<6d", body, 24)
    return {"header": header, "wrench": {"force": place(v[:3]), "torque": place(v[3:])}}


def joints_of(header, body):
    return {"header": header, "name": ["s1_gripper"], "position": list(struct.unpack_from("<d", body, 48)), "velocity": [],
            "effort": list(struct.unpack_from("<d", body, 64))}


# Topic: its type, how it is read, the columns of the run's CSV that it shows and their digits.
TOPICS = {
    "tool_pose": ("geometry_msgs/msg/PoseStamped", pose_of, ["sco_x", "sco_y", "sco_z", "sco_qx", "sco_qy", "sco_qz", "sco_qw"], 9),
    "wrench": ("geometry_msgs/msg/WrenchStamped", wrench_of, ["fx", "fy", "fz", "tx", "ty", "tz"], 6),
    "joint_states": ("sensor_msgs/msg/JointState", joints_of, ["gripper_m", "gripper_N"], None),
}


def numbers(value):
    """All floating-point numbers of a message, in order."""
    if isinstance(value, dict):
        return [n for item in value.values() for n in numbers(item)]
    if isinstance(value, list):
        return [n for item in value for n in numbers(item)]
    return [value] if isinstance(value, float) else []


class Ros(Shared):
    def end_run(self, run):
        self.assertEqual(stations.tell("s1", "end").stdout, "s1: end\n")
        self.ticks_of(run)

    def receive(self, topic, kind, count):
        name = kind.replace("/msg/", "::msg::dds_::") + "_"
        peer = subprocess.run([PEER, "read", "rt/s1/" + topic, name, str(count)], capture_output=True, text=True, timeout=300)
        lines = [line.split(" ", 1) for line in peer.stdout.splitlines()]
        self.assertEqual([value for key, value in lines if key == "user"], ["typehash=" + type_hash(kind) + ";"])
        self.assertEqual([value for key, value in lines if key == "type"], [name])
        return [bytes.fromhex(value) for key, value in lines if key == "data"]

    def decode(self, kind, payloads):
        """By ROS's definitions."""
        if not os.path.isdir(os.path.join(FOLDER, "node_modules", "@foxglove", "rosmsg-msgs-common")):
            self.skipTest("no npm: its decoder is not asked")
        shutil.copy(os.path.join(HERE, "ros_read.mjs"), FOLDER)
        words = ["node", os.path.join(FOLDER, "ros_read.mjs"), kind.replace("/msg/", "/"), *(p.hex() for p in payloads)]
        return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    def test_hashes_are_those_of_ros(self):
        # Two that are published; the algorithm is the same for all.
        self.assertEqual(type_hash("std_msgs/msg/String"), "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18")
        self.assertEqual(type_hash("rosgraph_msgs/msg/Clock"), "RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564")

    def test_another_vendor_receives_what_the_run_did(self):
        self.bridge("s1", "--commands", "--ros")
        table = os.path.join(self.folder, "run.csv")
        run = self.run_shared("s1", "--seconds", "100", "--device", "sim:omega7", "--csv", table)
        with ThreadPoolExecutor() as pool:
            received = dict(zip(TOPICS, pool.map(lambda topic: self.receive(topic, TOPICS[topic][0], 20), TOPICS)))
        self.end_run(run)
        with open(table) as file:
            rows = list(csv.DictReader(file))
        messages = {topic: [self.check_payload(topic, payload, rows) for payload in payloads] for topic, payloads in received.items()}
        for topic, (kind, *_) in TOPICS.items():
            decoded = self.decode(kind, received[topic])
            for message in decoded:
                stamp = message["header"]["stamp"]
                stamp["nanosec"] = stamp.pop("nsec", stamp.get("nanosec"))
            self.assertEqual(decoded, messages[topic])

    def check_payload(self, topic, payload, rows):
        kind, read, columns, digits = TOPICS[topic]
        sec, nanosec = struct.unpack_from("<iI", payload, 4)
        message = read({"stamp": {"sec": sec, "nanosec": nanosec}, "frame_id": "world"}, payload[4:])
        self.assertEqual(Encoder.payload(kind, message).hex(), payload.hex())
        if digits:
            shown = ["%.*g" % (digits, number) for number in numbers(message)]
            self.assertTrue(any([row[column] for column in columns] == shown for row in rows), shown)
        return message

    @unittest.skipUnless(os.environ.get("TACTUS_TEST_LONG") == "1", "with --long")
    def test_an_external_wrench_acts_within_the_limits_and_dies_with_its_sender(self):
        kind = "geometry_msgs::msg::dds_::WrenchStamped_"
        header = {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": "world"}
        self.bridge("s1", "--commands", "--ros")
        for force_N, allowed in ((0.5, True), (1e6, True), (float("nan"), True), (0.5, False)):
            payload = Encoder.payload("geometry_msgs/msg/WrenchStamped", {"header": header, "wrench": {
                "force": place((force_N, 0.0, 0.0)), "torque": place((0.0, 0.0, 0.0))}})
            table = os.path.join(self.folder, "run.csv")
            options = ["--external-wrench"] if allowed else []
            run = self.run_shared("s1", "--seconds", "100", "--device", "sim:omega7", "--csv", table, *options)

            def rows():
                if not os.path.exists(table):
                    return []
                with open(table) as file:
                    return [row for row in csv.DictReader(file) if row["needle_opened"]]

            self.eventually(lambda: len(rows()) > 100, "the run has begun")
            peer = subprocess.Popen([PEER, "write", "rt/s1/external_wrench", kind, payload.hex()])
            felt = allowed and force_N == force_N
            begin = len(rows())
            if felt:
                self.eventually(lambda: float(rows()[-1]["effects_x"]) >= min(force_N, 5), "the wrench acts")
            else:
                self.eventually(lambda: len(rows()) > begin + 1500, "it would have acted")
            peer.kill()
            peer.wait()
            end = len(rows())
            self.eventually(lambda: len(rows()) > end + 500 and float(rows()[-1]["effects_x"]) == 0, "it ends")
            self.end_run(run)
            table_rows = rows()
            self.assertEqual(any(float(row["effects_x"]) != 0 for row in table_rows), felt)
            for row in table_rows:
                self.assertLessEqual(sum(float(row[axis]) ** 2 for axis in ("fx", "fy", "fz")) ** 0.5, 12.0001, row)
            os.remove(table)


if __name__ == "__main__":
    unittest.main()
