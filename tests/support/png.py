"""Reads PNG files as the viewer writes them: RGB, 8 bits. read(path) returns width, height and rows of bytes."""

import struct
import zlib


def unfilter(kind, line, above):
    if kind == 1:
        for i in range(3, len(line)):
            line[i] = (line[i] + line[i - 3]) & 255
    elif kind == 2:
        line[:] = bytes((a + b) & 255 for a, b in zip(line, above))
    elif kind == 3:
        for i in range(len(line)):
            line[i] = (line[i] + ((line[i - 3] if i >= 3 else 0) + above[i]) // 2) & 255
    elif kind == 4:
        for i in range(len(line)):
            a, b, c = (line[i - 3], above[i], above[i - 3]) if i >= 3 else (0, above[i], 0)
            p, q, r = abs(b - c), abs(a - c), abs(a + b - 2 * c)
            line[i] = (line[i] + (a if p <= q and p <= r else b if q <= r else c)) & 255


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed, width, height = 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, *rest = struct.unpack(">IIBBBBB", chunk)
            assert rest == [8, 2, 0, 0, 0], rest
        elif kind == b"IDAT":
            packed += chunk
        at += 12 + length
    raw, rows, above = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        begin = y * (3 * width + 1)
        line = bytearray(raw[begin + 1:begin + 1 + 3 * width])
        unfilter(raw[begin], line, above)
        rows.append(bytes(line))
        above = line
    return width, height, rows
