"""Scenes and the worlds that are built from them."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from ._errors import Error, call, path_bytes
from ._native import ffi, lib


def builtin_scenes() -> list[str]:
    """The names of the built-in scenes; the first is the default."""
    names = []
    while (name := lib.tac_scene_builtin_name(len(names))) != ffi.NULL:
        names.append(ffi.string(name).decode())
    return names


def colliders() -> list[str]:
    """The names of the collision engines."""
    names = []
    while (collider := lib.tac_collider_at(len(names))) != ffi.NULL:
        names.append(ffi.string(collider.name).decode())
    return names


class Mesh:
    """A triangle mesh in metres. `vertices`: shape (n, 3); `triangles`: shape (m, 3), indices of vertices,
    counter-clockwise seen from outside."""

    def __init__(self, vertices: Any, triangles: Any, name: str = "mesh"):
        try:
            points = np.ascontiguousarray(vertices, dtype=np.float32)
            given = np.asarray(triangles)
            corners = np.ascontiguousarray(given, dtype=np.int32)
        except (TypeError, ValueError, OverflowError) as error:
            raise Error(f"mesh: expected arrays of numbers, found: {error}") from None
        if given.size and not (given == corners).all():  # cut to 32 bits they would name other vertices
            raise Error("triangles: expected whole numbers of vertices, found others")
        for what, array in (("vertices", points), ("triangles", corners)):
            if array.ndim != 2 or array.shape[1] != 3 or len(array) > 500_000_000:
                raise Error(f"{what}: expected an array of shape (n, 3), found {array.shape}")
        out = ffi.new("tac_mesh **")
        call(lib.native_mesh, path_bytes(name), ffi.cast("float *", points.ctypes.data), len(points),
             ffi.cast("int32_t *", corners.ctypes.data), len(corners), out)
        self._pointer = ffi.gc(out[0], _destroy_mesh)

    @classmethod
    def load(cls, path: Union[str, os.PathLike]) -> Mesh:
        """A mesh file, in the units of the file."""
        out = ffi.new("tac_mesh **")
        call(lib.tac_mesh_load, path_bytes(path), ffi.NULL, out)
        mesh = cls.__new__(cls)
        mesh._pointer = ffi.gc(out[0], _destroy_mesh)
        return mesh

    @property
    def triangle_count(self) -> int:
        """Triangles, without those that have no area."""
        return self._pointer.triangle_count

    @property
    def watertight(self) -> bool:
        """Whether it encloses a volume."""
        return lib.tac_mesh_is_watertight(self._pointer)

    @property
    def bounds(self) -> np.ndarray:
        """The lowest and the highest coordinates, shape (2, 3)."""
        low, high = self._pointer.bounds_min, self._pointer.bounds_max
        return np.array([[low.x, low.y, low.z], [high.x, high.y, high.z]], dtype=np.float64)


class Scene:
    """What can be touched, with which tools, and how it feels (docs/scene.md)."""

    def __init__(self, pointer):
        self._pointer = pointer  # owned; use the class methods
        self._meshes: Dict[str, Mesh] = {}  # of shapes of kind memory

    @classmethod
    def _made_by(cls, function, *arguments) -> Scene:
        out = ffi.new("tac_scene **")
        call(function, *arguments, out)
        return cls(ffi.gc(out[0], _destroy_scene))

    @classmethod
    def builtin(cls, name: str) -> Scene:
        """A built-in scene."""
        return cls._made_by(lib.tac_scene_builtin, path_bytes(name))

    @classmethod
    def load(cls, path: Union[str, os.PathLike]) -> Scene:
        """A scene file."""
        return cls._made_by(lib.tac_scene_load, path_bytes(path))

    @classmethod
    def parse(cls, text: str, name: str = "scene") -> Scene:
        """A scene from YAML text. `name` is used in messages, and mesh files are relative to its folder."""
        data = text.encode()
        return cls._made_by(lib.tac_scene_parse, data, len(data), path_bytes(name))

    @classmethod
    def make(cls, name: str, *, tools: Sequence[Dict[str, Any]], objects: Sequence[Dict[str, Any]] = (),
             materials: Sequence[Dict[str, Any]] = (), effects: Sequence[Dict[str, Any]] = (),
             cameras: Sequence[Dict[str, Any]] = ()) -> Scene:
        """A scene from dictionaries with the keys of a scene file (docs/scene.md). A shape may have `mesh`, a Mesh,
        in place of `kind`:

            tactus.Scene.make("a block", tools=[{"name": "ball", "shapes": [{"kind": "sphere", "radius_m": 0.005}]}],
                              objects=[{"name": "block", "shapes": [{"mesh": tactus.Mesh(vertices, triangles)}]}])"""
        meshes: Dict[str, Mesh] = {}

        def plain(value: Any) -> Any:
            if isinstance(value, dict):
                if isinstance(mesh := value.get("mesh"), Mesh):
                    key = next((k for k, m in meshes.items() if m is mesh), f"mesh {len(meshes)}")
                    meshes[key] = mesh
                    value = {"kind": "memory", "file": key, **{k: v for k, v in value.items() if k != "mesh"}}
                return {str(k): plain(v) for k, v in value.items()}
            if isinstance(value, (list, tuple)):
                return [plain(v) for v in value]
            return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value

        keys = {"scene": name, "materials": materials, "tools": tools, "objects": objects, "effects": effects,
                "cameras": cameras}
        text = json.dumps({k: plain(v) for k, v in keys.items() if k in ("scene", "tools") or v})
        scene = cls.parse(text, name="scene")
        for key, mesh in meshes.items():
            scene.give_mesh(key, mesh)
        return scene

    @classmethod
    def of_mesh(cls, path: Union[str, os.PathLike], scale: Optional[float] = None) -> Scene:
        """A mesh file to be touched with a ball that comes down on it. `scale`: metres per unit of the file; None:
        what makes its size plausible (millimetres are recognised)."""
        mesh = Mesh.load(path)
        low, high = mesh.bounds
        size = float((high - low).max())
        factor = lib.tac_mesh_plausible_scale(size) if scale is None else scale
        centre, size = (low + high) / 2 * factor, size * factor
        top = float((high - low)[2]) / 2 * factor
        ball = {"name": "ball", "axes": 3, "shapes": [{"kind": "sphere", "radius_m": 0.03 * size}],
                "hand": [{"time_s": t, "position_m": [0, 0, z]}
                         for t, z in ((0, top + 0.3 * size), (1, top - 0.05 * size), (2, top + 0.3 * size))]}
        body = {"name": os.path.basename(os.fsdecode(path))[:31] or "mesh", "position_m": (-centre).tolist(),
                "shapes": [{"kind": "mesh", "file": os.path.abspath(os.fsdecode(path)), "scale": factor}]}
        return cls.make(body["name"], tools=[ball], objects=[body])

    def give_mesh(self, name: str, mesh: Mesh) -> None:
        """Gives the shapes of kind memory with that name, such as those of a recorded scene, a mesh."""
        if lib.native_scene_give_mesh(self._pointer, path_bytes(name), mesh._pointer) == 0:
            raise Error(f"mesh: expected the name of a shape of kind memory, found '{name}'")
        self._meshes[name] = mesh

    @property
    def objects(self) -> List[str]:
        """The names of the objects, in their order."""
        return [ffi.string(self._pointer.objects[i].name).decode(errors="replace")
                for i in range(self._pointer.object_count)]

    @property
    def tool_count(self) -> int:
        """1, or 2 for two hands."""
        return self._pointer.tool_count

    @property
    def name(self) -> str:
        """The title in the file."""
        return ffi.string(self._pointer.name).decode(errors="replace")

    def yaml(self) -> str:
        """The scene as YAML, which reads back as the same scene."""
        text = lib.native_scene_text(self._pointer)
        if text == ffi.NULL:
            raise Error("scene: no memory for its text", "memory")
        try:
            return ffi.string(text).decode(errors="replace")
        finally:
            lib.free(text)


SceneLike = Union[Scene, str, os.PathLike]


def _destroy_scene(pointer) -> None:
    lib.tac_scene_destroy(ffi.new("tac_scene **", pointer))


def _destroy_mesh(pointer) -> None:
    lib.tac_mesh_destroy(ffi.new("tac_mesh **", pointer))


def _destroy_world(pointer) -> None:
    lib.tac_world_destroy(ffi.new("tac_world **", pointer))


def open_scene(scene: SceneLike) -> Scene:
    """A Scene as it is; the name of a built-in scene, of a scene file (.yaml, .yml) or of a mesh file."""
    if isinstance(scene, Scene):
        return scene
    name = os.fsdecode(scene)
    if name in builtin_scenes():
        return Scene.builtin(name)
    if name.endswith((".yaml", ".yml")):
        return Scene.load(name)
    if os.path.exists(name):
        return Scene.of_mesh(name)
    raise Error(f"scene: expected {', '.join(builtin_scenes())}, a scene file (.yaml) or a mesh file, found '{name}'")


def find_collider(name: str):
    """The engine of that name."""
    collider = lib.tac_collider_find(path_bytes(name))
    if collider == ffi.NULL:
        raise Error(f"collider: expected {' or '.join(colliders())}, found '{name}'")
    return collider


def mover_number(mover: str) -> int:
    """0 for the continuous mover, 1 for the reactive one."""
    if mover not in ("continuous", "reactive"):
        raise Error(f"mover: expected continuous or reactive, found '{mover}'")
    return int(mover == "reactive")


class World:
    """A scene, prepared for one engine."""

    def __init__(self, scene: SceneLike, collider: str):
        self.scene = open_scene(scene)
        out = ffi.new("tac_world **")
        call(lib.tac_world_build, self.scene._pointer, find_collider(collider), out)
        self.pointer = ffi.gc(out[0], _destroy_world)
