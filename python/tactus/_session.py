"""The loop, live."""
from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import Any, Dict, FrozenSet, List, Optional, Sequence, Union

import numpy as np

from ._errors import Error, call, index, nanoseconds, number, numbers, pass_messages, path_bytes
from ._native import ffi, lib
from ._scene import SceneLike, World, mover_number

ObjectLike = Union[int, str]
_TEXTURES = ("none", "grooves", "bumps")
_SIDES = ("both", "inside", "outside")
_REGIONS = ("everywhere", "ball", "half_space")
_EFFECT_KINDS = tuple(ffi.string(lib.tac_effect_kind_name(kind)).decode() for kind in range(lib.TAC_EFFECT_KIND_COUNT))


def _vector(v) -> np.ndarray:
    return np.array([v.x, v.y, v.z])


def _pose(T) -> np.ndarray:
    return np.array([T.position.x, T.position.y, T.position.z, T.rotation.x, T.rotation.y, T.rotation.z, T.rotation.w])


@dataclass(frozen=True)
class Contact:
    """A contact of the tool, in the world frame."""

    point_m: np.ndarray
    normal: np.ndarray  # unit, from the object to the tool
    gap_m: float
    force_N: np.ndarray  # on the tool, along the normal
    object: int  # of the scene
    tool_surface: int  # -1: a round tool has none
    object_surface: int


@dataclass(frozen=True)
class Snapshot:
    """One tick (haptic/snapshot.h). Poses are x, y, z, qx, qy, qz, qw in the world frame."""

    tick: int
    time_ns: int  # on CLOCK_MONOTONIC, as time.monotonic_ns()
    state: str  # waiting, running, clutched or lost
    status: str  # of the device
    buttons: int  # bit i: button i is held
    device: np.ndarray  # pose
    tool: np.ndarray  # pose of the SCO
    objects: np.ndarray  # poses, shape (n, 7)
    force_N: np.ndarray  # what the hand feels
    torque_Nm: np.ndarray
    wanted_force_N: np.ndarray  # before passivity and gate
    wanted_torque_Nm: np.ndarray
    contacts: tuple[Contact, ...]
    distance_m: float  # lower bound of the distance to the nearest object; inf: unknown
    limits: tuple[str, ...]  # why the gate changed the wrench
    gain: float  # of the gate, 0 to 1
    stiffness_N_per_m: float
    passivity_J: float
    compute_ns: int  # from wake-up to the device's write
    faults: int
    unknown_ticks: int
    contact_ticks: int
    hidden: FrozenSet[int]  # objects that cannot be touched
    waits: FrozenSet[int]  # objects that are to be shown as soon as the tool has left them
    moving: FrozenSet[int]  # objects that have not reached the pose they were sent to
    blocked: FrozenSet[int]  # objects that stopped because the tool could not yield
    world: int  # number of exchanges so far
    commands: int  # taken so far
    gripper_m: float  # opening of the device's gripper; 0: closed, or there is none
    gripper_N: float  # sent to it, positive opens
    effect_force_N: np.ndarray  # of all effects, part of wanted_force_N
    effect_torque_Nm: np.ndarray
    effects: FrozenSet[int]  # that act where the tool is


@dataclass(frozen=True)
class Event:
    """What happened to a tool between two looks at its snapshots (haptic/event.h)."""

    tick: int
    time_ns: int
    kind: str  # touch, release, enter, leave, slip, stick, press, ...
    tool: int
    object: int  # of the scene; -1: none
    surface: int  # of the object's mesh; -1: none
    number: int  # of a button or of a limit; -1: none
    object_name: str
    surface_name: str
    point_m: np.ndarray  # of a touch, enter, slip or stick
    force_N: np.ndarray
    lost: int  # events between the one before and this one that were not read in time


@dataclass(frozen=True)
class Timing:
    """The account of the loop's deadlines."""

    ticks: int
    misses: int  # ticks that ended after their deadline
    skipped: int  # periods without a tick, because the one before was late
    misses_by_cause: Dict[str, int]  # of the records read so far


def _bits(mask: int) -> FrozenSet[int]:
    return frozenset(i for i in range(64) if mask >> i & 1)


def _snapshot(s) -> Snapshot:
    contacts = tuple(
        Contact(_vector(c.point_m), _vector(c.normal), c.gap_m, _vector(c.force_N), c.object, c.tool_surface,
                c.object_surface)
        for c in (s.contacts[i] for i in range(s.contact_count)))
    limits = tuple(ffi.string(lib.tac_limit_reason_name(reason)).decode()
                   for reason in range(lib.TAC_LIMIT_REASON_COUNT) if s.limits >> reason & 1)
    objects = np.array([_pose(s.T_world_objects[i]) for i in range(s.object_count)]).reshape(-1, 7)
    return Snapshot(s.tick, s.time_ns, ffi.string(lib.tac_servo_state_name(s.state)).decode(),
                    ffi.string(lib.tac_device_status_name(s.status)).decode(), s.buttons, _pose(s.T_world_device),
                    _pose(s.T_world_sco), objects, _vector(s.sent.force_N), _vector(s.sent.torque_Nm),
                    _vector(s.wanted.force_N), _vector(s.wanted.torque_Nm), contacts, s.distance_m, limits, s.gain,
                    s.stiffness_N_per_m, s.passivity_J, s.compute_ns, s.faults, s.unknown_ticks, s.contact_ticks,
                    _bits(s.live.hidden), _bits(s.live.waits), _bits(s.live.moving), _bits(s.live.blocked), s.live.world,
                    s.live.commands, s.gripper_m, s.gripper_N, _vector(s.effects.wrench.force_N),
                    _vector(s.effects.wrench.torque_Nm), _bits(s.effects.active))


def _choice(name: str, value: Any, names: Sequence[str]) -> int:
    """The number of a choice by its name in a scene file."""
    if value not in names:
        raise Error(f"{name}: expected {' or '.join(names)}, found '{value}'")
    return names.index(value)


def _set(structure, name: str, value: Any) -> None:
    """Sets a field to a number or a flag, or to a vector: three numbers."""
    old = getattr(structure, name)
    if isinstance(old, ffi.CData):
        value = dict(zip("xyz", numbers(name, value, 3)))
    elif isinstance(old, float):
        value = number(name, value)
    setattr(structure, name, value)


class Session:
    """A scene that is touched with a device, in a loop on a real-time thread.

        with tactus.Session("sphere", device="sim:omega3") as session:
            print(session.snapshot().force_N)

    `device`: as in `tactus run --device`; None: the scene's; for a scene with two tools a pair. `rate`: ticks per second, 100 to 10000. `seconds`: the loop
    ends by itself after this long; None: at the end of the `with` block. Forces are switched off when the block is left,
    for whatever reason."""

    def __init__(self, scene: SceneLike, device: Union[None, str, Sequence[Optional[str]]] = None, rate: float = 1000, *, collider: str = "wide",
                 mover: str = "continuous", seconds: Optional[float] = None):
        self._mover = mover_number(mover)
        if not 100 <= number("rate", rate) <= 10000:
            raise Error(f"rate: expected 100 to 10000 Hz, found {rate}")
        if seconds is not None and not 0 < number("seconds", seconds) < 1e6:
            raise Error(f"seconds: expected more than 0, found {seconds}")
        self._collider = collider
        self._world = World(scene, collider)  # that commands are for
        self._worlds: Dict[int, World] = {}  # by number, those that the loop may use
        self._exchanges = 0
        self._materials: List[Any] = []  # of the world, as they are now
        if device is not None and not isinstance(device, (str, tuple, list)):
            raise Error(f"device: expected a name or a pair of them, found {device!r}")
        devices = [device] if device is None or isinstance(device, str) else list(device)
        tools = self._world.scene.tool_count
        if len(devices) > tools:
            raise Error(f"device: expected {tools} of them for '{self._world.scene.name}', found {len(devices)}")
        devices += [None] * (tools - len(devices))
        self._devices = [ffi.NULL if name is None else ffi.new("char[]", path_bytes(name)) for name in devices]
        self._period_ns = round(1e9 / rate)
        self._seconds = seconds
        self._recording: Optional[bytes] = None
        self._session = None
        self._began = 0.0
        self._lock = threading.Lock()  # one reader of snapshots, and none while the session closes
        self._buffer = ffi.new("tac_snapshot *")

    def record(self, path: Union[str, os.PathLike]) -> None:
        """Writes a recording of the device, with its scene and all commands, from the first tick to the last; that of a
        second tool goes to `path` with .2 added. Call it before each start that is to be recorded."""
        if self._session is not None:
            raise Error("record: expected a session that has not started, found one that runs")
        self._recording = path_bytes(path)

    def start(self) -> None:
        """Opens the device, switches its forces on and starts the loop; `with` does it."""
        if self._session is not None:
            raise Error("session: expected one that is not running, found one that runs")
        out = ffi.new("native_session **")
        periods = 0 if self._seconds is None else max(1, round(self._seconds * 1e9 / self._period_ns))
        call(lib.native_session_start, self._world.pointer, self._world.scene._pointer, self._devices, self._mover,
             self._period_ns, periods, self._recording or ffi.NULL, out)
        self._session = out[0]
        self._worlds, self._exchanges = {0: self._world}, 0
        self._copy_materials()
        self._copy_effects()
        self._began = time.monotonic()

    def close(self) -> None:
        """Stops the loop, switches forces off and closes the device; leaving `with` does it. Raises Error if a recording
        is incomplete."""
        with self._lock:
            session, self._session = self._session, None
        if session is None:
            return
        result = call(lib.native_session_close, ffi.new("native_session **", session))
        self._worlds.clear()
        recording, self._recording = self._recording, None  # a session that starts again does not replace it
        if result > 0:
            raise Error(f"{os.fsdecode(recording or b'')}: expected every tick in the recording, found some lost",
                        "partial")

    def __enter__(self) -> Session:
        self.start()
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def __del__(self):
        if getattr(self, "_session", None) is not None:
            lib.native_session_close(ffi.new("native_session **", self._session))

    def _running(self):
        if self._session is None:
            raise Error("session: expected one that runs; use `with`, or start()")
        return self._session

    def _servo(self, tool: int):
        if not 0 <= tool < len(self._devices):
            raise Error(f"tool: expected 0 to {len(self._devices) - 1}, found {tool}")
        return lib.native_session_servo(self._running(), tool)

    def events(self, tool: int = 0) -> List[Event]:
        """What happened to a tool since the last call, oldest first; however short it was, nothing is missed unless
        more than 1024 events wait (Event.lost)."""
        found, e = [], ffi.new("tac_event *")
        with self._lock:
            while lib.tac_servo_next_event(self._servo(tool), e):
                found.append(Event(e.tick, e.time_ns, ffi.string(lib.tac_event_kind_name(e.kind)).decode(), e.tool,
                                   e.object, e.surface, e.number, ffi.string(e.object_name).decode(errors="replace"),
                                   ffi.string(e.surface_name).decode(errors="replace"), _vector(e.point_m),
                                   _vector(e.force_N), e.lost))
        return found

    def snapshot(self, tool: int = 0) -> Snapshot:
        """The newest tick of a tool. Never delays the loop; waits for the first tick."""
        while True:
            with self._lock:
                servo = self._servo(tool)
                if lib.tac_servo_snapshot_read(servo, 0, self._buffer, ffi.sizeof("tac_snapshot")):
                    return _snapshot(self._buffer)
            time.sleep(0.001)

    # ---- a world that changes ----

    def _send(self, function, *arguments) -> None:
        with self._lock:
            live = lib.native_session_live(self._running())
            lib.native_error_clear()
            if not function(live, *arguments):
                raise Error(ffi.string(lib.native_error()).decode(errors="replace") or
                            "session: expected at most 1024 commands that wait, found another")

    def _object(self, name: ObjectLike) -> int:
        if not isinstance(name, str):
            return index("object", name)
        found = lib.tac_scene_find_object(self._world.scene._pointer, name.encode())
        if found < 0:
            raise Error(f"object: expected one of {', '.join(self._world.scene.objects)}, found '{name}'")
        return found

    def _material(self, name: ObjectLike) -> int:
        if not isinstance(name, str):
            return index("material", name)
        found = lib.tac_scene_find_material(self._world.scene._pointer, name.encode())
        if found < 0:
            raise Error(f"material: expected the name of a material of the scene, found '{name}'")
        return found

    def _copy_materials(self) -> None:
        world = self._world.pointer
        self._materials = [ffi.new("tac_material *", world.materials[i]) for i in range(world.material_count)]

    def set_object_pose(self, object: ObjectLike, pose: Sequence[float], over: Optional[float] = None) -> None:
        """Moves an object, by its number or name, to a pose x, y, z or x, y, z, qx, qy, qz, qw. It moves there straight
        and at constant speed within `over` seconds, and pushes the tool; where the tool cannot yield, it stops
        (Snapshot.objects, Snapshot.blocked). `over` None: within a little more than the time since the last call for this
        object, for programs that send a pose in each frame."""
        values = numbers("pose", pose, 3, 7)
        rotation = values[3:] or [0.0, 0.0, 0.0, 1.0]
        T = ffi.new("tac_dpose *", {"position": dict(zip("xyz", values)), "rotation": dict(zip("xyzw", rotation))})
        if over is None:
            self._send(lib.tac_live_set_pose, self._object(object), T[0])
        else:
            self._send(lib.tac_live_move, self._object(object), T[0], nanoseconds("over", over))

    def show(self, object: ObjectLike, show: bool = True) -> None:
        """Lets an object be touched, or not. One that the tool is in waits until the tool has left it (Snapshot.waits)."""
        self._send(lib.tac_live_show, self._object(object), show)

    def hide(self, object: ObjectLike) -> None:
        """Lets an object not be touched; it costs nothing then."""
        self.show(object, False)

    def set_material(self, material: ObjectLike, **properties: Any) -> None:
        """Changes properties of a material of the scene, such as stiffness_N_per_m=800 (docs/scene.md); the others stay.
        The number after the last of the scene's materials is the default material."""
        at = self._material(material)
        if not 0 <= at < len(self._materials):
            raise Error(f"material: expected a number from 0 to {len(self._materials) - 1}, found {at}")
        changed = ffi.new("tac_material *", self._materials[at][0])
        for name, value in properties.items():
            if name in ("name", "smooth", "crease_rad") or name not in dir(changed):
                raise Error(f"material: expected a property that can change, found '{name}'")
            _set(changed, name, _choice(name, value, _TEXTURES) if name == "texture" else value)
        self._send(lib.tac_live_set_material, at, changed)
        self._materials[at] = changed

    def use_material(self, object: ObjectLike, material: ObjectLike, surface: Optional[ObjectLike] = None) -> None:
        """Makes all surfaces of an object of another material of the scene, or those with the name `surface`, or the one
        with that number (Contact.object_surface, Event.surface)."""
        o, m = self._object(object), self._material(material)
        if surface is None:
            self._send(lib.tac_live_use_material, o, m)
        elif not isinstance(surface, str):
            self._send(lib.tac_live_use_surface_material, o, index("surface", surface), m)
        else:
            def next_surface(after: int) -> int:
                return lib.tac_world_find_surface(self._world.pointer, o, surface.encode(), after)

            if not 0 <= o < len(self._world.scene.objects) or (found := next_surface(-1)) < 0:
                raise Error(f"surface: expected the name of a surface of object {o}, found '{surface}'")
            while found >= 0:
                self._send(lib.tac_live_use_surface_material, o, found, m)
                found = next_surface(found)

    def _effect(self, name: ObjectLike, tool: int) -> int:
        if not 0 <= tool < len(self._effects):
            raise Error(f"tool: expected 0 to {len(self._effects) - 1}, found {tool}")
        names = [ffi.string(e.name).decode(errors="replace") for e in self._effects[tool]]
        if isinstance(name, str):
            if not name or name not in names:
                raise Error(f"effect: expected one of {', '.join(filter(None, names)) or 'none'}, found '{name}'")
            return names.index(name)
        found = index("effect", name)
        if not 0 <= found < len(names):
            raise Error(f"effect: expected a number from 0 to {len(names) - 1}, found {name}")
        return found

    def _copy_effects(self) -> None:
        """Each tool has the scene's effects in the first places; those of another tool are off (docs/scene.md)."""
        scene = self._world.scene._pointer
        self._effects = []
        for tool in range(scene.tool_count):
            effects = [ffi.new("tac_effect *", scene.effects[i]) for i in range(lib.TAC_EFFECT_COUNT)]
            for e in effects:
                of = ffi.string(e.tool)
                e.enabled = e.enabled and of in (b"", ffi.string(scene.tools[tool].name))
            self._effects.append(effects)

    def set_effect(self, effect: ObjectLike, tool: int = 0, **properties: Any) -> None:
        """Changes properties of an effect of a tool, by its number or name, such as stiffness_N_per_m=300 or
        position_m=(0, 0, 0.01) (docs/scene.md); the others stay. With `kind` and `name` it becomes a new effect, with
        the defaults of that kind; numbers from the count of the scene's effects to 15 are free. The force follows along
        a ramp. An exchange of worlds leaves the effects as they are."""
        at = self._effect(effect, tool)
        changed = ffi.new("tac_effect *", self._effects[tool][at][0])
        if "kind" in properties:
            name = properties.pop("name", ffi.string(changed.name).decode(errors="replace"))
            changed[0] = lib.tac_effect_default(_choice("kind", properties.pop("kind"), _EFFECT_KINDS))
            if not 0 < len(name.encode()) < ffi.sizeof(changed.name):
                raise Error(f"effect: expected a name of 1 to {ffi.sizeof(changed.name) - 1} bytes, found '{name}'")
            changed.name = name.encode()
        for name, value in properties.items():
            if name in ("name", "tool") or name not in dir(changed):
                raise Error(f"effect: expected a property that can change, found '{name}'")
            choices = {"side": _SIDES, "region": _REGIONS}.get(name)
            _set(changed, name, _choice(name, value, choices) if choices else value)
        self._send(lib.tac_live_set_effect, tool, at, changed)
        self._effects[tool][at] = changed

    def switch_effect(self, effect: ObjectLike, on: bool = True, tool: int = 0) -> None:
        """Switches an effect of a tool on or off; on always begins the envelope of a vibration anew."""
        at = self._effect(effect, tool)
        if not ffi.string(self._effects[tool][at].name):
            raise Error(f"effect: expected the number of an effect, found {at}, which is free")
        self._send(lib.tac_live_switch_effect, tool, at, on)
        self._effects[tool][at].enabled = on

    def set_mapping(self, scale: float = 1, position: Sequence[float] = (0, 0, 0), rotation: Sequence[float] = (0, 0, 0), *,
                    clutch_button: int = -1, over: float = 0, tool: int = 0) -> None:
        """Changes the mapping from the device to the world: world = position + rotation (scale device)."""
        mapping = ffi.new("tac_scene_mapping *", {"workspace_scale": number("scale", scale),
                                                  "position_m": dict(zip("xyz", numbers("position", position, 3))),
                                                  "rotation_rad": dict(zip("xyz", numbers("rotation", rotation, 3))),
                                                  "clutch_button": index("clutch_button", clutch_button)})
        self._send(lib.tac_live_set_mapping, tool, mapping, nanoseconds("over", over))

    def set_gain(self, gain: float, tool: int = 0) -> None:
        """Multiplies all contact forces by 0 to 1; it changes by 1 in a tenth of a second."""
        self._send(lib.tac_live_set_gain, tool, number("gain", gain))

    def exchange(self, scene: SceneLike) -> None:
        """Builds the world of another scene, with the same number of tools, and hands it over between two ticks. The tool
        stays where it is if it is free there; otherwise its force fades out until it is."""
        world = World(scene, self._collider)
        number = ffi.new("int32_t *")
        with self._lock:
            session = self._running()
            while lib.tac_live_returned(lib.native_session_live(session), number) != ffi.NULL:
                del self._worlds[number[0]]  # nobody uses it any more
            lib.native_error_clear()
            if not lib.native_session_exchange(session, world.pointer):
                raise Error(ffi.string(lib.native_error()).decode(errors="replace") or "session: too many commands wait")
            self._exchanges += 1
            self._worlds[self._exchanges] = self._world = world
            self._copy_materials()

    def wait(self) -> None:
        """Waits until the loop has run for `seconds`."""
        if self._seconds is None:
            raise Error("wait: expected a session with `seconds`, found one without an end")
        time.sleep(max(0.0, self._began + self._seconds - time.monotonic()))  # can be interrupted
        lib.native_session_wait(self._running())
        pass_messages()

    def timing(self) -> Timing:
        """How well the loop has kept its deadlines so far."""
        out = ffi.new("native_timing *")
        with self._lock:
            lib.native_session_timing(self._running(), out)
        causes = {ffi.string(lib.tac_cause_name(cause)).decode(): out.by_cause[cause]
                  for cause in range(lib.TAC_CAUSE_COUNT) if out.by_cause[cause]}
        return Timing(out.ticks, out.misses, out.skipped, causes)

    def setup(self) -> list[str]:
        """What the kernel granted to the real-time thread and what it refused, a line each."""
        line, lines = ffi.new("char[512]"), []
        while lib.native_session_report(self._running(), len(lines), line, 512) >= 0:
            lines.append(ffi.string(line).decode(errors="replace"))
        return lines

    def stop_force(self) -> None:
        """Emergency stop: the force is zero from the next tick on, until `resume_force`."""
        for tool in range(len(self._devices)):
            lib.tac_servo_stop(self._servo(tool))

    def resume_force(self) -> None:
        """Ends an emergency stop; the force rises from zero."""
        for tool in range(len(self._devices)):
            lib.tac_servo_reset(self._servo(tool))
