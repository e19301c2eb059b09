"""Errors and messages of the library."""
import logging
import os

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
    name = os.fsencode(path)
    if b"\0" in name:
        raise Error(f"{path!r}: expected a file name, found one with a zero byte")
    return name


lib.native_init()
