"""The loop, live."""
from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import Dict, Optional, Union

import numpy as np

from ._errors import Error, call, pass_messages, path_bytes
from ._native import ffi, lib
from ._scene import SceneLike, World, mover_number


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


@dataclass(frozen=True)
class Timing:
    """The account of the loop's deadlines."""

    ticks: int
    misses: int  # ticks that ended after their deadline
    skipped: int  # periods without a tick, because the one before was late
    misses_by_cause: Dict[str, int]  # of the records read so far


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
                    s.stiffness_N_per_m, s.passivity_J, s.compute_ns, s.faults, s.unknown_ticks, s.contact_ticks)


class Session:
    """A scene that is touched with a device, in a loop on a real-time thread.

        with tactus.Session("sphere", device="sim:omega3") as session:
            print(session.snapshot().force_N)

    `device`: as in `tactus run --device`; None: the scene's. `rate`: ticks per second, 100 to 10000. `seconds`: the loop
    ends by itself after this long; None: at the end of the `with` block. The scene has one tool. Forces are switched off
    when the block is left, for whatever reason."""

    def __init__(self, scene: SceneLike, device: Optional[str] = None, rate: float = 1000, *, collider: str = "wide",
                 mover: str = "continuous", seconds: Optional[float] = None):
        self._mover = mover_number(mover)
        if not 100 <= rate <= 10000:
            raise Error(f"rate: expected 100 to 10000 Hz, found {rate}")
        if seconds is not None and not 0 < seconds < 1e6:
            raise Error(f"seconds: expected more than 0, found {seconds}")
        self._world = World(scene, collider)
        if self._world.scene.tool_count != 1:
            raise Error(f"scene: expected one with 1 tool, found {self._world.scene.tool_count} in "
                        f"'{self._world.scene.name}'")
        self._device = None if device is None else path_bytes(device)
        self._period_ns = round(1e9 / rate)
        self._seconds = seconds
        self._recording: Optional[bytes] = None
        self._session = None
        self._began = 0.0
        self._lock = threading.Lock()  # one reader of snapshots, and none while the session closes
        self._buffer = ffi.new("tac_snapshot *")

    def record(self, path: Union[str, os.PathLike]) -> None:
        """Writes a recording of the device, from the first tick to the last. Call it before the session starts."""
        if self._session is not None:
            raise Error("record: expected a session that has not started, found one that runs")
        self._recording = path_bytes(path)

    def start(self) -> None:
        """Opens the device, switches its forces on and starts the loop; `with` does it."""
        if self._session is not None:
            raise Error("session: expected one that is not running, found one that runs")
        out = ffi.new("native_session **")
        periods = 0 if self._seconds is None else max(1, round(self._seconds * 1e9 / self._period_ns))
        call(lib.native_session_start, self._world.pointer, self._world.scene._pointer, self._device or ffi.NULL,
             self._mover, self._period_ns, periods, self._recording or ffi.NULL, out)
        self._session = out[0]
        self._began = time.monotonic()

    def close(self) -> None:
        """Stops the loop, switches forces off and closes the device; leaving `with` does it. Raises Error if a recording
        is incomplete."""
        with self._lock:
            session, self._session = self._session, None
        if session is None:
            return
        result = call(lib.native_session_close, ffi.new("native_session **", session))
        if result > 0:
            raise Error(f"{os.fsdecode(self._recording or b'')}: expected every tick in the recording, found some lost",
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

    def snapshot(self) -> Snapshot:
        """The newest tick. Never delays the loop; waits for the first tick."""
        while True:
            with self._lock:
                servo = lib.native_session_servo(self._running())
                if lib.tac_servo_snapshot_read(servo, 0, self._buffer, ffi.sizeof("tac_snapshot")):
                    return _snapshot(self._buffer)
            time.sleep(0.001)

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
        lib.tac_servo_stop(lib.native_session_servo(self._running()))

    def resume_force(self) -> None:
        """Ends an emergency stop; the force rises from zero."""
        lib.tac_servo_reset(lib.native_session_servo(self._running()))
