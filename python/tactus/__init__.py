"""Tactus from Python: force feedback that keeps its time, whatever the interpreter does.

Off line: `render` computes forces along a path, `query` and `sweep` answer collision queries; their results are those of
the commands `tactus render`, `tactus query` and `tactus sweep`, to the bit. Live: a `Session` runs the loop on a
real-time thread of the library, and Python reads snapshots of it. No Python code runs on that thread.

Lengths are in metres, forces in newtons, torques in newton metres, times in seconds unless a name states another unit.
Rotations are quaternions x, y, z, w."""
from ._errors import Error
from ._offline import Recording, load_recording, query, render, replay, sweep
from ._scene import Mesh, Scene, builtin_scenes, colliders
from ._session import Contact, Event, Session, Snapshot, Timing
from ._native import ffi as _ffi, lib as _lib

__version__: str = _ffi.string(_lib.tac_version()).decode()

__all__ = ["Contact", "Error", "Event", "Mesh", "Recording", "Scene", "Session", "Snapshot", "Timing", "builtin_scenes", "colliders",
           "load_recording", "query", "render", "replay", "sweep"]
