"""An X display without a screen, from Xvfb. The server picks a free number itself, so several tests may start at once."""

import contextlib
import os
import shutil
import subprocess

XVFB = shutil.which("Xvfb")


@contextlib.contextmanager
def display(width, height):
    """Sets DISPLAY to a new server until the end of the block. -noreset: a server that resets after its last client refuses
    the next one meanwhile."""
    reader, writer = os.pipe()
    server = subprocess.Popen([XVFB, "-displayfd", str(writer), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp", "-noreset"],
                              pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    before = {name: os.environ.pop(name, None) for name in ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY")}
    try:
        with os.fdopen(reader) as file:
            number = file.readline().strip()
        if not number:
            raise RuntimeError("Xvfb does not start")
        os.environ["DISPLAY"] = ":" + number
        yield
    finally:
        server.terminate()
        server.wait()
        os.environ.pop("DISPLAY", None)
        os.environ.update({name: value for name, value in before.items() if value is not None})
