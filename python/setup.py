"""Installs the Python package `tactus`; see docs/library.md. `pip install ./python` needs an installed Tactus, found by
pkg-config (PKG_CONFIG_PATH names its lib/pkgconfig) or in the prefix that TACTUS_PREFIX names, and, from Debian,
python3-cffi, python3-numpy and python3-setuptools. There is no pyproject.toml on purpose: with one, pip would want to
download them again for a build of its own."""
from setuptools import setup

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
)
