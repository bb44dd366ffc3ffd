"""Grids of heights: from grey PNG images and MuJoCo's binary files, and as surfaces of triangles.

Files are untrusted: their sizes are bounded before anything is unpacked.
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.math.array_types import FloatArray, IntArray, Matrix, Vector

MOST_HEIGHTS = 2049 * 2049
MOST_BYTES = 8 * MOST_HEIGHTS + 2**20  # of a file
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY, _GREY_ALPHA, _RGB, _PALETTE, _RGBA = 0, 4, 2, 3, 6  # colour types of PNG
_SAMPLES = {_GREY: 1, _GREY_ALPHA: 2, _RGB: 3, _RGBA: 4}


def checked_heights(heights: FloatArray, base: float) -> Matrix:
    """The same, read-only. RuntimeError for a grid that is none of a height field with such a base [m]."""
    if heights.ndim != 2 or min(heights.shape) < 2 or heights.size > MOST_HEIGHTS:
        raise RuntimeError(
            f"HeightField: it needs 2 rows and 2 columns of heights or more, {MOST_HEIGHTS} at most, "
            f"not {' x '.join(map(str, heights.shape)) or 'one'}"
        )
    if not np.isfinite(heights).all() or not float(heights.min()) > -base:
        raise RuntimeError("HeightField: its heights must be finite and above its base")
    heights = np.ascontiguousarray(heights)
    heights.flags.writeable = False
    return heights


def height_surface(heights: FloatArray, x: float, y: float, base: float) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) [m] and triangles (m, 3), outwards, of a height field and its walls, without its bottom.

    heights: (rows, columns) [m]. x, y: [m] half lengths. base: [m] depth of the foot of the walls below z = 0. The
    diagonal of a cell goes from its corner of least x and y to that of largest, as contact has it.
    """
    rows, columns = heights.shape
    X, Y = np.meshgrid(np.linspace(-x, x, columns), np.linspace(-y, y, rows))
    top = np.column_stack([X.ravel(), Y.ravel(), heights.ravel()])
    number = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]
    faces = [np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, d), (d, c, a))]
    rim = np.concatenate([number[0, :-1], number[:-1, -1], number[-1, :0:-1], number[:0:-1, 0]])
    foot = top[rim] * [1.0, 1.0, 0.0] - [0.0, 0.0, base]
    below = len(top) + np.arange(len(rim))
    following = np.roll(rim, -1), np.roll(below, -1)
    walls = [np.column_stack([below, following[1], following[0]]), np.column_stack([below, following[0], rim])]
    return np.concatenate([top, foot]), np.concatenate([*faces, *walls])


def heights_at(heights: Matrix, x: float, y: float, at_x: FloatArray, at_y: FloatArray) -> FloatArray:
    """Heights [m] over places of the plane, as many as there are, on the triangles of height_surface().

    x, y: [m] half lengths of the field. Beyond its ends the height is that of the end.
    """
    rows, columns = heights.shape
    u, v = _in_cells(at_x, x, columns), _in_cells(at_y, y, rows)
    i, j = np.minimum(u.astype(int), columns - 2), np.minimum(v.astype(int), rows - 2)
    u, v = u - i, v - j
    least, most = heights[j, i], heights[j + 1, i + 1]
    between = np.where(u >= v, heights[j, i + 1], heights[j + 1, i])
    result: FloatArray = least + np.maximum(u, v) * (between - least) + np.minimum(u, v) * (most - between)
    return result


def highest_within(heights: Matrix, x: float, y: float, at_x: FloatArray, at_y: FloatArray, reach: float) -> Vector:
    """The highest of the cells (n,) [m] that are within a reach [m] along x and along y of places (n,); see above."""
    rows, columns = heights.shape
    (left, right), (before, behind) = (
        [_in_cells(at + side * reach, half, count) for side in (-1.0, 1.0)]
        for at, half, count in ((at_x, x, columns), (at_y, y, rows))
    )
    first, low = left.astype(int), before.astype(int)
    end, high = np.ceil(right).astype(int) + 1, np.ceil(behind).astype(int) + 1
    return np.array([heights[a:b, c:d].max() for a, b, c, d in zip(low, high, first, end, strict=True)])


def _in_cells(at: FloatArray, half: float, count: int) -> FloatArray:
    """Places along an axis as numbers of cells from the least of `count` heights, inside of the field."""
    return (np.fmax(np.fmin(at / half, 1.0), -1.0) + 1.0) * (0.5 * (count - 1))


def packed_heights(heights: Matrix) -> dict[str, Any]:
    """Heights as values of a JSON document: rows, columns, and the numbers, which zlib has packed, in base 64."""
    rows, columns = heights.shape
    packed = base64.b64encode(zlib.compress(np.ascontiguousarray(heights, "<f8").tobytes())).decode()
    return {"rows": rows, "columns": columns, "heights": packed}


def unpacked_heights(values: Mapping[str, Any]) -> Matrix:
    """What packed_heights() made. ModelError for another text."""
    rows, columns = int(values["rows"]), int(values["columns"])
    size = 8 * rows * columns
    try:
        if min(rows, columns) < 2 or rows * columns > MOST_HEIGHTS:
            raise ValueError("its size is none of a height field")
        data = zlib.decompressobj().decompress(base64.b64decode(values["heights"], validate=True), size)
        return np.frombuffer(data, "<f8").reshape(rows, columns).astype(float)
    except (ValueError, TypeError, zlib.error) as error:
        raise ModelError(f"damaged heights: {error}") from None


def read_height_file(path: str) -> Matrix:
    """(rows, columns) from 0 to 1, first row at -y: a PNG file, or one of MuJoCo's format, scaled to its extremes.

    Raises ResourceError for a file that cannot be read, ModelError for one that is neither.
    """
    data = _read_bounded(path)
    levels = grey_levels(data, path)[::-1] if data.startswith(_SIGNATURE) else _mujoco_heights(data, path)
    return scaled_to_1(levels)


def read_grey_image(path: str) -> Matrix:
    """Grey levels (rows, columns) of a PNG image from 0 to 1, its last row first. Errors as of read_height_file()."""
    data = _read_bounded(path)
    if not data.startswith(_SIGNATURE):
        raise ModelError(f"{path}: not a PNG image: other images and elevation models of terrain are not read")
    return grey_levels(data, path)[::-1].copy()


def _read_bounded(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ResourceError(f"{path}: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise ModelError(f"{path}: a file of heights has at most {MOST_BYTES} bytes")
    return data


def scaled_to_1(levels: FloatArray) -> Matrix:
    """Levels so that the lowest is 0 and the highest 1; 0 if all are equal."""
    low, high = float(levels.min()), float(levels.max())
    return (levels - low) / (high - low) if high > low else np.zeros(levels.shape)


def _mujoco_heights(data: bytes, path: str) -> Matrix:
    """Two 32-bit integers, rows and columns, then 32-bit floats row by row."""
    rows, columns = struct.unpack_from("<ii", data) if len(data) >= 8 else (0, 0)
    if min(rows, columns) < 2 or rows * columns > MOST_HEIGHTS or len(data) != 8 + 4 * rows * columns:
        raise ModelError(
            f"{path}: neither a PNG image nor heights as MuJoCo writes them, rows and columns (2 or more each, "
            f"{MOST_HEIGHTS} heights at most) before as many 32-bit floats"
        )
    heights = np.frombuffer(data, "<f4", offset=8).reshape(rows, columns).astype(float)
    if not np.isfinite(heights).all():
        raise ModelError(f"{path}: some heights are not finite")
    return heights


# ------------------------------------------------------------------------------------------------ PNG


def grey_levels(data: bytes, path: str) -> Matrix:
    """Grey levels (rows, columns) of a PNG image, from 0 to 1, first row on top: the first channel, as it is stored.

    Raises ModelError for what is no such image: damaged, of more than MOST_HEIGHTS pixels, interlaced, of a palette.
    """
    try:
        header, packed = _chunks(data)
        columns, rows, depth, colour, compression, filters, interlaced = struct.unpack(">IIBBBBB", header)
    except (struct.error, ValueError) as error:
        raise ModelError(f"{path}: a damaged PNG image: {error}") from None
    if colour not in _SAMPLES or depth not in (8, 16) or interlaced or compression or filters:
        raise ModelError(f"{path}: heights are read from PNG images of 8 or 16 bits, without palette, not interlaced")
    if min(rows, columns) < 2 or rows * columns > MOST_HEIGHTS:
        raise ModelError(
            f"{path}: {columns} x {rows} pixels: a grid of heights has 2 rows and columns or more, and "
            f"{MOST_HEIGHTS} heights at most"
        )
    step = _SAMPLES[colour] * depth // 8
    size = rows * (1 + columns * step)
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(packed, size)
    except zlib.error as error:
        raise ModelError(f"{path}: a damaged PNG image: {error}") from None
    if len(raw) != size:
        raise ModelError(f"{path}: a damaged PNG image: it has {len(raw)} bytes of pixels, not {size}")
    lines = np.frombuffer(raw, np.uint8).reshape(rows, 1 + columns * step)
    if lines[:, 0].max() > 4:
        raise ModelError(f"{path}: a damaged PNG image: there is no filter {lines[:, 0].max()}")
    pixels = _unfiltered(lines, step)
    first = pixels.reshape(rows, columns, step)[:, :, : depth // 8]
    levels = np.ascontiguousarray(first).view(">u2" if depth == 16 else "u1")[:, :, 0]
    return levels.astype(float) / (2**depth - 1)


def _chunks(data: bytes) -> tuple[bytes, bytes]:
    """The header and the packed pixels; ValueError or struct.error if the chunks are damaged."""
    header, packed, at = b"", [], len(_SIGNATURE)
    while True:
        length, kind = struct.unpack_from(">I4s", data, at)
        content = data[at + 8 : at + 8 + length]
        if len(content) != length:
            raise ValueError("it ends within a chunk")
        (check,) = struct.unpack_from(">I", data, at + 8 + length)
        if zlib.crc32(kind + content) != check:
            raise ValueError("a checksum is wrong")
        if kind == b"IHDR":
            header = content
        elif kind == b"IDAT":
            packed.append(content)
        elif kind == b"IEND":
            return header, b"".join(packed)
        at += 12 + length


def _unfiltered(lines: np.ndarray, step: int) -> np.ndarray:
    """Bytes of pixels (rows, n) of filtered lines (rows, 1 + n), each with the number of its filter first.

    PNG specification, section 9: a byte is stored less a prediction by those of the pixel before, above, or both.
    """
    above = np.zeros(lines.shape[1] - 1, np.uint8)
    result = np.empty((len(lines), len(above)), np.uint8)
    for k, line in enumerate(lines):
        kind, stored = line[0], line[1:]
        if kind == 0:
            above = stored
        elif kind == 1:  # the pixel before: sums over each byte of the pixels
            above = np.add.accumulate(stored.reshape(-1, step), axis=0, dtype=np.uint8).ravel()
        elif kind == 2:
            above = stored + above
        else:
            above = _predicted_by_two(stored.tolist(), above.tolist(), step, kind == 3)
        result[k] = above
    return result


def _predicted_by_two(stored: list[int], above: list[int], step: int, by_mean: bool) -> np.ndarray:
    """A line whose prediction is the mean of left and above, or the nearest of these and above left (Paeth)."""
    line = [0] * step + stored
    upper = [0] * step + above
    for k in range(step, len(line)):
        a, b, c = line[k - step], upper[k], upper[k - step]
        if by_mean:
            guess = (a + b) // 2
        else:
            to_a, to_b, to_c = abs(b - c), abs(a - c), abs(a + b - 2 * c)
            guess = a if to_a <= to_b and to_a <= to_c else (b if to_b <= to_c else c)
        line[k] = (line[k] + guess) & 255
    return np.array(line[step:], np.uint8)
