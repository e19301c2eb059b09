"""Scenes and the worlds that are built from them."""
from __future__ import annotations

import os
from typing import Union

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


class Scene:
    """What can be touched, with which tools, and how it feels (docs/scene.md)."""

    def __init__(self, pointer):
        self._pointer = pointer  # owned; use the class methods

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


def _destroy_world(pointer) -> None:
    lib.tac_world_destroy(ffi.new("tac_world **", pointer))


def open_scene(scene: SceneLike) -> Scene:
    """A Scene as it is; the name of a built-in scene, or of a scene file (.yaml, .yml)."""
    if isinstance(scene, Scene):
        return scene
    name = os.fsdecode(scene)
    if name in builtin_scenes():
        return Scene.builtin(name)
    if name.endswith((".yaml", ".yml")):
        return Scene.load(name)
    raise Error(f"scene: expected {', '.join(builtin_scenes())} or a scene file (.yaml), found '{name}'")


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
