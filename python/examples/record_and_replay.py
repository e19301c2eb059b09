"""Records a session, computes its forces again off line, and plays it back as a device.
    record_and_replay.py [FILE.rec]"""
import pathlib
import sys
import tempfile

import numpy as np

import tactus

with tempfile.TemporaryDirectory() as folder:
    file = sys.argv[1] if len(sys.argv) > 1 else str(pathlib.Path(folder) / "session.rec")
    session = tactus.Session("sphere", seconds=1)
    session.record(file)
    with session:
        session.wait()

    recording = tactus.load_recording(file)
    print(f"{recording.device}: {len(recording.samples)} samples, largest force sent "
          f"{np.abs(recording.samples['fz']).max():.3f} N")
    rows = tactus.replay(file)
    same = all(np.array_equal(rows[name], recording.samples[name]) for name in ("fx", "fy", "fz"))
    print(f"off line: {(rows['contacts'] > 0).sum()} ticks in contact, forces {'the same' if same else 'others'}")
    with tactus.Session("sphere", device=f"playback:{file}", seconds=1) as replay:
        replay.wait()
        print(f"replayed {replay.snapshot().tick + 1} of {len(recording.samples)} samples")
