"""PNG images of any filter and depth, for tests of what reads them."""

import struct
import zlib

import numpy as np

GREY, GREY_ALPHA, RGB, PALETTE, RGBA = 0, 4, 2, 3, 6


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def predicted(line, upper, step, kind):
    """What filter `kind` takes from each byte (PNG specification, section 9.2)."""
    result = []
    for k in range(len(line)):
        a = line[k - step] if k >= step else 0
        b, c = upper[k], upper[k - step] if k >= step else 0
        distances = [abs(b - c), abs(a - c), abs(a + b - 2 * c)]
        paeth = (a, b, c)[distances.index(min(distances))]
        result.append((0, a, b, (a + b) // 2, paeth)[kind])
    return result


def png(pixels, depth=8, colour=GREY, filters=(0,), header=None, packed=None):
    """A PNG image of integers (rows, columns) or (rows, columns, channels), its lines filtered in turns."""
    rows, columns = pixels.shape[:2]
    data = np.ascontiguousarray(pixels, ">u2" if depth == 16 else np.uint8).reshape(rows, -1).view(np.uint8)
    step, lines, upper = data.shape[1] // columns, [], [0] * data.shape[1]
    for k, line in enumerate(data.tolist()):
        kind = filters[k % len(filters)]
        guess = predicted(line, upper, step, kind)
        lines.append(bytes([kind, *((x - g) & 255 for x, g in zip(line, guess, strict=True))]))
        upper = line
    header = struct.pack(">IIBBBBB", columns, rows, depth, colour, 0, 0, 0) if header is None else header
    packed = zlib.compress(b"".join(lines)) if packed is None else packed
    half = len(packed) // 2
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", packed[:half]), chunk(b"IDAT", packed[half:]), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
