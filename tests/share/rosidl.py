"""The messages of ROS 2 against its own tools: rosidl.py IDL. Debian's rosidl makes IDL of ROS's .msg definitions; what it makes
must have the structs, members, order and types of IDL, which a station publishes. Only for tests/run --long."""

import os
import pathlib
import sys
import tempfile
import unittest

DEBIAN_PYTHON = "/usr/bin/python3"  # the one that Debian's modules are installed for

try:
    from rosidl_adapter.msg import convert_msg_to_idl
    from rosidl_parser.parser import get_ast_from_idl_string
except ImportError:
    if sys.executable != DEBIAN_PYTHON and os.path.exists(DEBIAN_PYTHON):
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, "-B", *sys.argv])
    print("skipped: no rosidl (Debian: python3-rosidl, python3-empy, python3-lark)")
    sys.exit(77)

IDL = sys.argv.pop()

# The definitions of common_interfaces and rcl_interfaces, without their comments.
DEFINITIONS = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1",
    "geometry_msgs/Pose": "Point position\nQuaternion orientation",
    "geometry_msgs/Wrench": "Vector3 force\nVector3 torque",
    "geometry_msgs/PoseStamped": "std_msgs/Header header\nPose pose",
    "geometry_msgs/WrenchStamped": "std_msgs/Header header\nWrench wrench",
    "sensor_msgs/JointState": "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort",
}


def words(tree):
    """The names in a part of the syntax tree."""
    return [str(token) for token in tree.scan_values(lambda token: token != "::")]


def type_of(tree, module):
    """A type as text: a struct's full name, or the rules of the grammar down to a basic type."""
    if tree.data == "scoped_name":
        names = words(tree)
        return "::".join(names if len(names) > 1 else [*module, *names])
    parts = [type_of(child, module) if hasattr(child, "data") else str(child) for child in tree.children]
    if len(parts) == 1 and tree.data != "sequence_type":
        return parts[0]
    return "%s(%s)" % (tree.data, ", ".join(parts)) if parts else str(tree.data)


def structs_of(text):
    """All structs of an IDL: full name to members, each with name and type, in order."""
    found = {}

    def members(struct, module):
        for member in struct.children:
            if getattr(member, "data", None) == "member":
                parts = {child.data: child for child in member.children}
                for declarator in parts["declarators"].children:
                    yield words(declarator)[-1], type_of(parts["type_spec"], module)

    def walk(tree, module):
        if tree.data == "module_dcl":
            module = [*module, *(str(child) for child in tree.children if not hasattr(child, "data"))]
        if tree.data == "struct_def":
            name = [str(child) for child in tree.children if not hasattr(child, "data")]
            found["::".join([*module, *name])] = list(members(tree, module))
        for child in tree.children:
            if hasattr(child, "data"):
                walk(child, module)

    walk(get_ast_from_idl_string(text), [])
    return found


def plain(name):
    """A type without what ROS's middlewares add to its name: the module dds_ and an underscore."""
    return name.replace("dds_::", "").replace("_)", ")").removesuffix("_")


class Rosidl(unittest.TestCase):
    def made_by_rosidl(self):
        found = {}
        with tempfile.TemporaryDirectory(prefix="tactus rosidl ") as folder:
            for name, definition in DEFINITIONS.items():
                package, message = name.split("/")
                home = pathlib.Path(folder, package)
                path = pathlib.Path("msg", message + ".msg")
                (home / "msg").mkdir(parents=True, exist_ok=True)
                (home / path).write_text(definition + "\n")
                made = convert_msg_to_idl(home, package, path, home / "msg")
                found.update(structs_of(made.read_text()))
        return found

    def test_structs_members_order_and_types_are_those_of_ros(self):
        made = self.made_by_rosidl()
        self.assertEqual(len(made), len(DEFINITIONS))
        with open(IDL, encoding="utf-8") as file:
            ours = structs_of(file.read())
        for name in ours:
            self.assertRegex(name, r"^\w+::msg::dds_::[A-Z]\w*_$")
        self.assertEqual({plain(name): [(member, plain(kind)) for member, kind in members] for name, members in ours.items()}, made)


if __name__ == "__main__":
    unittest.main()
