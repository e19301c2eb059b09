"""Builds the extension tactus._native with cffi in API mode: the C compiler sees the headers, so layouts and constants
are Tactus's own, and a mistake in the declarations here is a compile error."""
import os
import pathlib
import shlex
import subprocess
import sys

from cffi import FFI

HERE = pathlib.Path(__file__).resolve().parent


def pkg_config(*options):
    """What pkg-config says about the shared library, or an end with one line."""
    environment = dict(os.environ)
    if "TACTUS_PREFIX" in environment:
        found = sorted(pathlib.Path(environment["TACTUS_PREFIX"]).glob("lib*/**/pkgconfig/tactus-shared.pc"))
        if not found:
            sys.exit(f"tactus: TACTUS_PREFIX: expected tactus-shared.pc in {environment['TACTUS_PREFIX']}/lib, found none")
        environment["PKG_CONFIG_PATH"] = str(found[0].parent)
    command = ["pkg-config", *options, "tactus-shared"]
    try:
        answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        sys.exit("tactus: expected the program pkg-config, found none")
    except subprocess.CalledProcessError as error:
        sys.exit("tactus: expected an installed libtactus (cmake --install), found: "
                 + (error.stderr.strip() or "none").splitlines()[0]
                 + "; TACTUS_PREFIX names the prefix it was installed to")
    return shlex.split(answer)


libraries = pkg_config("--libs")
folders = [word[2:] for word in libraries if word.startswith("-L")] or pkg_config("--variable=libdir")
if os.environ.get("TACTUS_RUN_PATH") == "":  # for Debian's package, whose library the dynamic linker finds
    folders = []

ffibuilder = FFI()
ffibuilder.cdef((HERE / "native.cdef").read_text())
ffibuilder.set_source(
    "tactus._native",
    (HERE / "native.c").read_text(),
    extra_compile_args=[*pkg_config("--cflags"), "-std=c17", "-D_GNU_SOURCE"],
    # A prefix that the dynamic linker does not know is found through the run path.
    extra_link_args=[*libraries, *(f"-Wl,-rpath,{folder}" for folder in folders)],
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
