"""Renders, queries, sweeps and recordings as arrays."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, Optional, Union

import numpy as np

from ._errors import Error, call, path_bytes
from ._native import ffi, lib
from ._scene import Mesh, Scene, SceneLike, World, find_collider, mover_number

_PATH = ("t_s", "x", "y", "z", "qx", "qy", "qz", "qw")
_RENDER = np.dtype([(name, np.float64) for name in (
    *_PATH, "sco_x", "sco_y", "sco_z", "sco_qx", "sco_qy", "sco_qz", "sco_qw", "fx", "fy", "fz", "tx", "ty", "tz")]
    + [("contacts", np.int32), ("flags", np.uint32), ("ns", np.int64)])
_QUERY_NUMBERS = ("pairs", "ns", "overlap_tests", "transforms", "nodes", "triangle_tests", "exact_tests")
_QUERY = np.dtype([(name, np.int64) for name in ("pose", "result", *_QUERY_NUMBERS)])
_QUERY_SHOWN = np.dtype([("pose", np.int64), ("result", "U7"), *((name, np.int64) for name in _QUERY_NUMBERS)])
_RESULTS = np.array(["none", "hit", "unknown"])
_SWEEP_NUMBERS = tuple((name, np.float64) for name in ("px", "py", "pz", "nx", "ny", "nz"))
_FRACTIONS = (("f_translation", np.float64), ("f_rotation", np.float64))
_SWEEP = np.dtype([("motion", np.int64), *_FRACTIONS, ("kind", "S16"), *_SWEEP_NUMBERS, ("ns", np.int64)])
_SWEEP_SHOWN = np.dtype([("motion", np.int64), *_FRACTIONS, ("kind", "U11"), *_SWEEP_NUMBERS, ("ns", np.int64)])
_RECORDING = np.dtype([(name, np.float64) for name in (
    *_PATH, "vx", "vy", "vz", "wx", "wy", "wz", "fx", "fy", "fz", "tx", "ty", "tz")]
    + [("buttons", np.uint32), ("status", np.int32)]
    + [(name, np.float64) for name in ("gripper_m", "gripper_m_per_s", "gripper_N")])

PathLike = Union[np.ndarray, str, os.PathLike]


def _numbers(what: str, values: Any, columns: int) -> np.ndarray:
    """A contiguous array of doubles with `columns` columns, of at least one row."""
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise Error(f"{what}: expected an array of shape (n, {columns}), found: {error}") from None
    if array.ndim != 2 or array.shape[1] != columns or not len(array):
        raise Error(f"{what}: expected an array of shape (n, {columns}) with n > 0, found {array.shape}")
    return array


def _check_poses(what: str, poses: np.ndarray) -> None:
    """Each row is finite and begins with a rotation, by rows."""
    rotations = poses[:, :9].reshape(-1, 3, 3)
    skew = np.abs(np.swapaxes(rotations, 1, 2) @ rotations - np.eye(3)).max(axis=(1, 2))
    bad = np.flatnonzero(~(np.isfinite(poses).all(axis=1) & (skew <= 1e-2)))
    if len(bad):
        raise Error(f"{what}[{bad[0]}]: expected a rotation and finite numbers, found R^T R off 1 by {skew[bad[0]]:.3g}")


def _pointer(array: np.ndarray):
    return ffi.cast("double *", array.ctypes.data)


def _shown(rows: np.ndarray, dtype: np.dtype, **replaced: np.ndarray) -> np.ndarray:
    """The rows with some columns in another form."""
    out = np.empty(len(rows), dtype)
    for name in dtype.names:
        out[name] = replaced.get(name, rows[name])
    return out


def _load_path(path: PathLike):
    """The samples of a path, which free themselves, and their count."""
    if isinstance(path, (str, os.PathLike)):
        out, count = ffi.new("tac_path_sample **"), ffi.new("size_t *")
        call(lib.tac_path_load, path_bytes(path), out, count)
        return ffi.gc(out[0], lib.free), count[0]
    if isinstance(path, np.ndarray) and path.dtype.names:
        missing = [name for name in _PATH if name not in path.dtype.names]
        if missing:
            raise Error(f"path: expected the columns {', '.join(_PATH)}, found no {missing[0]}")
        path = np.stack([path[name] for name in _PATH], axis=1)
    array = _numbers("path", path, len(_PATH))
    bad, reason = ffi.new("size_t *"), ffi.new("char[160]")
    samples = lib.native_path(_pointer(array), len(array), bad, reason, 160)
    if samples == ffi.NULL:
        raise Error(f"path[{bad[0]}]: {ffi.string(reason).decode()}", "format")
    return ffi.gc(samples, lib.free), len(array)


def render(scene: SceneLike, path: PathLike, path2: Optional[PathLike] = None, *, collider: str = "wide",
           mover: str = "continuous", both: bool = False) -> Any:
    """Computes the forces along a path of the device, off line, as `tactus render` does, to the bit.

    `path`: a CSV file t_s,x,y,z,qx,qy,qz,qw, an array with these columns by name (such as the samples of a recording),
    or an array of shape (n, 8). `path2` is that of a second tool; without it the second tool follows the scene's hand.
    Returns a structured array with the columns of the command's CSV; with `both`, one for each of two tools."""
    world = World(scene, collider)
    reactive = mover_number(mover)
    tools = world.scene.tool_count
    if tools < 2 and (path2 is not None or both):
        raise Error(f"path2: expected a scene with 2 tools, found {tools} in '{world.scene.name}'")
    samples, count = _load_path(path)
    samples2, count2 = (ffi.NULL, count) if path2 is None else _load_path(path2)
    if count2 != count:
        raise Error(f"path2: expected {count} poses as in the first path, found {count2}")
    rows = [np.zeros(count, _RENDER) for _ in range(tools)]
    pointers = [ffi.cast("void *", row.ctypes.data) for row in rows] + [ffi.NULL]
    call(lib.native_render, world.pointer, reactive, samples, samples2, count, pointers[0], pointers[1])
    return tuple(rows) if both else rows[0]


def query(a: Union[str, os.PathLike], b: Union[str, os.PathLike], poses: Any, *, mode: str = "first",
          collider: Optional[str] = None, fresh: bool = False) -> np.ndarray:
    """Tests whether two shapes touch at given poses, as `tactus query` does.

    `a` (fixed) and `b` (moving): mesh files, or solids such as "sphere:r=0.01". `poses`: shape (n, 12), R by rows, then
    t; a vertex v of b is at R v + t in a's frame. `mode`: first, pairs or surfaces. `fresh`: use nothing from earlier
    poses. Returns a structured array with the columns of the command's CSV."""
    modes = ("first", "pairs", "surfaces")
    if mode not in modes:
        raise Error(f"mode: expected {', '.join(modes[:-1])} or {modes[-1]}, found '{mode}'")
    numbers = _numbers("poses", poses, 12)
    single = numbers.astype(np.float32).astype(np.float64)  # as the engines take them
    _check_poses("poses", single)
    names = [os.fsdecode(path_bytes(a)), os.fsdecode(path_bytes(b))]
    kinds = ("sphere:", "capsule:", "cylinder:", "cone:", "toroid:")
    engine = collider or ("solid" if any(name.startswith(kinds) for name in names) else "wide")
    find_collider(engine)
    rows = np.zeros(len(single), _QUERY)
    call(lib.native_query, path_bytes(a), path_bytes(b), engine.encode(), modes.index(mode), not fresh, _pointer(single),
         len(single), ffi.cast("void *", rows.ctypes.data))
    return _shown(rows, _QUERY_SHOWN, result=_RESULTS[rows["result"]])


def sweep(a: Union[str, os.PathLike], b: Union[str, os.PathLike], motions: Any, *, zone: float = 10e-6) -> np.ndarray:
    """Computes how far b can translate, and then rotate about its origin, before it touches a, as `tactus sweep` does.

    `motions`: shape (n, 19), b's pose in a (R by rows, then t), translation, axis, angle in rad. `zone`: the distance
    from a at which b stops, m. Returns a structured array with the columns of the command's table."""
    numbers = _numbers("motions", motions, 19)
    _check_poses("motions", numbers)
    if not 0 <= zone <= 1:
        raise Error(f"zone: expected 0 to 1 m, found {zone}")
    rows = np.zeros(len(numbers), _SWEEP)
    call(lib.native_sweep, path_bytes(a), path_bytes(b), float(zone), _pointer(numbers), len(numbers),
         ffi.cast("void *", rows.ctypes.data))
    return _shown(rows, _SWEEP_SHOWN, kind=rows["kind"].astype("U11"))


@dataclass(frozen=True)
class Recording:
    """A recording of a device, tick by tick."""

    samples: np.ndarray  # the columns of `tactus view --csv`; time begins at 0
    device: str
    serial: str
    period_s: float  # of the device
    loop_period_s: float  # of the loop that wrote it; 0: unknown
    max_force_N: float  # of the device; 0: unknown
    max_torque_Nm: float
    complete: bool  # False: part of the file is damaged or missing; a warning was logged
    scenes: tuple[str, ...]  # YAML: what was touched, and what took its place during the session; empty: unknown
    folder: str  # that mesh files in the scenes are relative to
    commands: int  # that changed the world during the session


def _second_recording(path: Union[str, os.PathLike], first):
    """The second tool's recording of the same run, which is in `path` with .2 added."""
    name, second = os.fsdecode(path) + ".2", ffi.new("tac_recording *")
    call(lib.tac_recording_load, path_bytes(name), second)
    if second.header.run != first.header.run or second.count != first.count:
        lib.tac_recording_fini(second)
        raise Error(f"{name}: expected the second tool's recording of the same run, found another")
    return second


def replay(path: Union[str, os.PathLike], *, collider: str = "wide", mover: str = "continuous",
           meshes: Optional[Dict[str, Mesh]] = None, both: bool = False) -> Any:
    """Computes the forces of a recording again, off line, in its own scene and with the commands that changed its world.
    They are those of the run to the bit, if engine and mover are the same; a recording before version 4 lacks what that
    needs, and gives the same bits each time. The table is that of `render`; its time begins at 0. `meshes`: those of
    shapes that the recorded program gave from memory, by name (Scene.make calls them "mesh 0", "mesh 1", ...). With
    `both`, one table for each of two tools."""
    recordings = [ffi.new("tac_recording *")]
    call(lib.tac_recording_load, path_bytes(path), recordings[0])
    try:
        scenes, folder = _recorded_scenes(recordings[0])
        count = recordings[0].count
        if not scenes or not count:
            raise Error(f"{os.fsdecode(path)}: expected a recording with a scene and samples, found one without")
        for name in meshes or {}:
            if not any(f'file: "{name}"' in text for text in scenes):
                raise Error(f"{os.fsdecode(path)}: expected names of meshes in this recording, found '{name}' in meshes")
        worlds = []
        for text in scenes:
            scene = Scene.parse(text, os.path.join(folder, "recorded"))
            for name, mesh in (meshes or {}).items():
                if f'file: "{name}"' in text:
                    scene.give_mesh(name, mesh)
            worlds.append(World(scene, collider))
        tools = worlds[0].scene.tool_count
        if both and tools < 2:
            raise Error(f"{os.fsdecode(path)}: expected a scene with 2 tools for both, found {tools}")
        if tools == 2:
            recordings.append(_second_recording(path, recordings[0]))
        rows = [np.zeros(count, _RENDER) for _ in range(tools)]
        pointers = [ffi.cast("void *", row.ctypes.data) for row in rows] + [ffi.NULL]
        call(lib.native_replay, recordings, tools, [world.pointer for world in worlds], len(worlds), mover_number(mover),
             pointers[0], pointers[1])
        return tuple(rows) if both else rows[0]
    finally:
        for recording in recordings:
            lib.tac_recording_fini(recording)


def _recorded_scenes(recording) -> tuple[tuple[str, ...], str]:
    """The texts of its scenes, and the folder of the first."""
    folder, texts, first = ffi.new("const char **"), [], ""
    for number in range(recording.later_scene_count + 1):
        text = lib.native_recorded_scene(recording, number, folder)
        if text == ffi.NULL:
            break
        first = first or os.fsdecode(ffi.string(folder[0]))
        texts.append(ffi.string(text).decode(errors="replace"))
    return tuple(texts), first


def load_recording(path: Union[str, os.PathLike]) -> Recording:
    """Reads a recording (`tactus run --record`, `Session.record`)."""
    recording = ffi.new("tac_recording *")
    result = call(lib.tac_recording_load, path_bytes(path), recording)
    try:
        rows = np.zeros(recording.count, _RECORDING)
        lib.native_recording(recording, ffi.cast("void *", rows.ctypes.data))
        names = np.array([_status_name(status) for status in range(rows["status"].max(initial=0) + 1)], "U8")
        header = recording.header
        names_shown = [name for name in _RECORDING.names if header.gripper_max_m > 0 or "gripper" not in name]
        dtype = np.dtype([(name, "U8" if name == "status" else _RECORDING[name]) for name in names_shown])
        return Recording(_shown(rows, dtype, status=names[rows["status"]]),
                         ffi.string(header.name).decode(errors="replace"),
                         ffi.string(header.serial).decode(errors="replace"), header.period_ns / 1e9,
                         header.loop_period_ns / 1e9, header.max_force_N, header.max_torque_Nm, result == lib.TAC_OK, *_recorded_scenes(recording),
                         recording.command_count)
    finally:
        lib.tac_recording_fini(recording)


def _status_name(status: int) -> str:
    return ffi.string(lib.tac_device_status_name(status)).decode()
