"""Errors and messages of the library."""
import logging
import operator
import os
from typing import Any, List

from ._native import ffi, lib

_log = logging.getLogger("tactus")
_LEVELS = (logging.INFO, logging.WARNING, logging.ERROR)


class Error(RuntimeError):
    """A call of the library failed. The text is the library's own message: what was expected, what was found and where.

    `code` is the short name of the result, such as "argument" or "format"."""

    def __init__(self, message: str, code: str = "argument"):
        super().__init__(message)
        self.code = code


def pass_messages() -> None:
    """Hands warnings and notes of the library to the logger `tactus`."""
    text = ffi.new("char[1024]")
    while (level := lib.native_message(text, 1024)) >= 0:
        _log.log(_LEVELS[level], "%s", ffi.string(text).decode(errors="replace"))


def call(function, *arguments) -> int:
    """Calls a function that returns a tac_result; raises Error with the message that it logged."""
    lib.native_error_clear()
    result = function(*arguments)
    pass_messages()
    if result < 0:
        code = ffi.string(lib.tac_result_name(result)).decode()
        message = ffi.string(lib.native_error()).decode(errors="replace")
        raise Error(message or code, code)
    return result


def path_bytes(path) -> bytes:
    """A file name for the library."""
    try:
        name = os.fsencode(path)
    except TypeError:
        raise Error(f"expected a file name, found {path!r}") from None
    if b"\0" in name:
        raise Error(f"{path!r}: expected a file name, found one with a zero byte")
    return name


def number(what: str, value: Any) -> float:
    """A number that `what` names in the message."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Error(f"{what}: expected a number, found {value!r}") from None


def numbers(what: str, values: Any, *counts: int) -> List[float]:
    """As many numbers as one of `counts`."""
    expected = f"{' or '.join(map(str, counts))} numbers"
    try:
        found = [float(x) for x in values]
    except (TypeError, ValueError):
        raise Error(f"{what}: expected {expected}, found {values!r}") from None
    if len(found) not in counts:
        raise Error(f"{what}: expected {expected}, found {len(found)}")
    return found


def index(what: str, value: Any) -> int:
    """The number of an element."""
    try:
        return operator.index(value)
    except TypeError:
        raise Error(f"{what}: expected a name or a whole number, found {value!r}") from None


def nanoseconds(what: str, seconds: Any) -> int:
    """A time for the library, which checks its range."""
    s = number(what, seconds)
    if not abs(s) < 1e9:
        raise Error(f"{what}: expected a time in seconds, found {s}")
    return round(s * 1e9)


lib.native_init()
