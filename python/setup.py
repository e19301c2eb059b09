"""Installs the Python package `tactus`; see docs/library.md. `pip install ./python` needs an installed Tactus, found by
pkg-config (PKG_CONFIG_PATH names its lib/pkgconfig) or in the prefix that TACTUS_PREFIX names, and, from Debian,
python3-cffi, python3-numpy and python3-setuptools. There is no pyproject.toml on purpose: with one, pip would want to
download them again for a build of its own."""
import atexit
import shutil
import tempfile

from setuptools import setup

work = tempfile.mkdtemp(prefix="tactus-python-")  # so that the source folder stays as it is
atexit.register(shutil.rmtree, work, ignore_errors=True)

setup(
    name="tactus",
    version="0.2.0",
    description="Python interface of Tactus, a hard-real-time force-feedback runtime",
    license="BSD-3-Clause",
    packages=["tactus"],
    package_data={"tactus": ["py.typed"]},
    cffi_modules=["build_native.py:ffibuilder"],
    python_requires=">=3.9",
    install_requires=["cffi>=1.15", "numpy>=1.20"],
    zip_safe=False,
    options={"build": {"build_base": work}, "egg_info": {"egg_base": work}},
)
