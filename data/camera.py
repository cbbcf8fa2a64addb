#!/usr/bin/env python3
"""Unpacks an 8-bit grey PNG into a PGM, needing nothing but Python: camera.py camera.png camera.pgm."""

import struct
import sys
import zlib


def paeth(left, up, corner):
    estimate = left + up - corner
    return min((left, up, corner), key=lambda near: abs(estimate - near))


def main(png, pgm):
    with open(png, "rb") as file:
        data = file.read()
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        chunk = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", chunk)
            assert form == [8, 0, 0, 0, 0], "8 bits, grey, not interlaced"
        elif kind == b"IDAT":
            packed += chunk
        at += 12 + length
    rows = zlib.decompress(packed)
    before, pixels = bytes(width), b""
    for y in range(height):
        kind, *row = rows[y * (width + 1) : (y + 1) * (width + 1)]
        for x in range(width):
            left, corner = (row[x - 1], before[x - 1]) if x else (0, 0)
            up = before[x]
            row[x] = row[x] + [0, left, up, (left + up) // 2, paeth(left, up, corner)][kind] & 0xFF
        before = bytes(row)
        pixels += before
    with open(pgm, "wb") as file:
        file.write(b"P5\n%d %d\n255\n" % (width, height) + pixels)


if __name__ == "__main__":
    main(*sys.argv[1:])
