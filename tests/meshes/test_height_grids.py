"""Grids of heights from files: PNG images of all filters, MuJoCo's format, and damaged ones."""

import struct
import zlib

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from png_images import GREY, GREY_ALPHA, PALETTE, RGB, RGBA, png

from mbcli.errors import ModelError, ResourceError
from mbcli.geometry import HeightField
from mbcli.meshes.height_grids import (
    MOST_HEIGHTS,
    height_surface,
    packed_heights,
    read_grey_image,
    read_height_file,
    unpacked_heights,
)


@pytest.mark.parametrize("filters", [(0,), (1,), (2,), (3,), (4,), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize(("depth", "channels"), [(8, 1), (16, 1), (8, 2), (8, 3), (16, 4)])
def test_levels_of_png_images_are_those_written(filters, depth, channels, tmp_path):
    pixels = np.random.default_rng(1).integers(0, 2**depth, (7, 6, channels))
    colour = {1: GREY, 2: GREY_ALPHA, 3: RGB, 4: RGBA}[channels]
    (tmp_path / "h.png").write_bytes(png(pixels, depth, colour, filters))
    levels = read_grey_image(str(tmp_path / "h.png"))
    np.testing.assert_array_equal(levels, pixels[::-1, :, 0] / (2**depth - 1))


def test_matplotlib_reads_the_same_levels(tmp_path):
    image = pytest.importorskip("matplotlib.image")
    pixels = np.random.default_rng(2).integers(0, 256, (9, 5)).astype(np.uint8)
    image.imsave(tmp_path / "h.png", pixels, cmap="gray", vmin=0, vmax=255)
    theirs = image.imread(tmp_path / "h.png")[::-1, :, 0]
    np.testing.assert_allclose(read_grey_image(str(tmp_path / "h.png")), theirs, atol=1e-7)


def test_files_of_mujoco_are_scaled_to_their_extremes(tmp_path):
    heights = np.array([[1.0, 2.0, 3.0], [5.0, 4.0, 3.5]], "<f4")
    (tmp_path / "h.bin").write_bytes(struct.pack("<ii", 2, 3) + heights.tobytes())
    np.testing.assert_allclose(read_height_file(str(tmp_path / "h.bin")), (heights - 1.0) / 4.0)
    (tmp_path / "flat.bin").write_bytes(struct.pack("<ii", 2, 2) + np.full(4, 7.0, "<f4").tobytes())
    np.testing.assert_array_equal(read_height_file(str(tmp_path / "flat.bin")), np.zeros((2, 2)))


SMALL = np.array([[1, 2], [3, 4]])
HEADER = ">IIBBBBB"
DAMAGES = {
    "neither": (b"P5 2 2 255 abcd", "neither a PNG image nor heights"),
    "empty": (b"", "neither a PNG image nor heights"),
    "counts": (struct.pack("<ii", -2, -2) + bytes(16), "neither a PNG image nor heights"),
    "too many": (struct.pack("<ii", 2**30, 2**30), "neither a PNG image nor heights"),
    "not finite": (struct.pack("<iiffff", 2, 2, 1.0, 2.0, float("nan"), 3.0), "not finite"),
    "cut": (png(SMALL)[:-20], "damaged PNG"),
    "checksum": (png(SMALL).replace(b"IEND", b"IENE"), "a checksum is wrong"),
    "huge": (png(SMALL, header=struct.pack(HEADER, 2**31 - 1, 2**31 - 1, 8, 0, 0, 0, 0)), "heights at most"),
    "bomb": (png(SMALL, packed=zlib.compress(bytes(10**7))), ""),  # what is too much is not unpacked
    "little": (png(SMALL, packed=zlib.compress(bytes(3))), "3 bytes of pixels, not 6"),
    "no deflate": (png(SMALL, packed=b"abcdefgh"), "damaged PNG"),
    "filter": (png(SMALL, packed=zlib.compress(bytes([9, 1, 2, 9, 3, 4]))), "no filter 9"),
    "palette": (png(SMALL, header=struct.pack(HEADER, 2, 2, 8, PALETTE, 0, 0, 0)), "without palette"),
    "interlaced": (png(SMALL, header=struct.pack(HEADER, 2, 2, 8, 0, 0, 0, 1)), "not interlaced"),
    "4 bits": (png(SMALL, header=struct.pack(HEADER, 2, 2, 4, 0, 0, 0, 0)), "8 or 16 bits"),
    "a line": (png(SMALL, header=struct.pack(HEADER, 4, 1, 8, 0, 0, 0, 0)), "2 rows and columns or more"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_one_line(damage, tmp_path):
    content, message = DAMAGES[damage]
    (tmp_path / "h").write_bytes(content)
    if not message:
        np.testing.assert_array_equal(read_height_file(str(tmp_path / "h")), np.zeros((2, 2)))
        return
    with pytest.raises(ModelError, match=message) as error:
        read_height_file(str(tmp_path / "h"))
    assert str(error.value).startswith(str(tmp_path)) and "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_a_resource_error(tmp_path):
    with pytest.raises(ResourceError, match="No such file"):
        read_height_file(str(tmp_path / "h"))


def test_the_surface_faces_out_and_has_the_volume_below_the_heights():
    heights = np.random.default_rng(4).uniform(0.0, 1.0, (4, 6))
    vertices, triangles = height_surface(heights, 1.5, 1.0, 0.5)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    top = 2 * 3 * 5
    assert (normals[:top, 2] > 0.0).all()
    centre = (a + b + c)[top:] / 3.0
    assert (np.einsum("ij,ij->i", normals[top:, :2], centre[:, :2]) > 0.0).all()
    assert normals[:top, 2].sum() / 2.0 == pytest.approx(6.0)
    # the walls and the top together with a flat bottom are closed
    np.testing.assert_allclose(normals.sum(axis=0), [0.0, 0.0, 2.0 * 6.0], atol=1e-12)


@pytest.mark.parametrize(
    ("heights", "message"),
    [
        (np.zeros(4), "2 rows and 2 columns"),
        (np.zeros((1, 5)), "2 rows and 2 columns"),
        (np.zeros((2, MOST_HEIGHTS // 2 + 1)), "at most"),
        (np.array([[0.0, np.nan], [0.0, 0.0]]), "finite"),
        (np.array([[0.0, -0.2], [0.0, 0.0]]), "above its base"),
    ],
)
def test_what_is_no_height_field_is_refused(heights, message):
    with pytest.raises(RuntimeError, match=message):
        HeightField(heights, 1.0, 1.0, 0.1)


def test_heights_in_documents_come_back():
    heights = np.random.default_rng(5).uniform(size=(3, 4))
    values = packed_heights(heights)
    np.testing.assert_array_equal(unpacked_heights(values), heights)
    for change in (
        {"rows": 10**6, "columns": 10**6},
        {"rows": 4},
        {"heights": "????"},
        {"heights": values["heights"][:8]},
    ):
        with pytest.raises(ModelError, match="damaged heights"):
            unpacked_heights(values | change)


def test_a_heightmap_of_sdformat_has_the_first_line_of_its_image_at_plus_y(tmp_path):
    (tmp_path / "hill.png").write_bytes(png(np.array([[0, 0, 0], [10, 20, 30], [100, 50, 25]])))
    heightmap = "<heightmap><uri>hill.png</uri><size>4 2 0.5</size><pos>0 0 1</pos></heightmap>"
    (tmp_path / "world.sdf").write_text(
        '<sdf version="1.9"><model name="m"><static>true</static><link name="l"><collision name="c">'
        f"<geometry>{heightmap}</geometry></collision></link></model></sdf>"
    )
    (model,) = load_models(str(tmp_path / "world.sdf"), diagnostics=Diagnostics())
    (collision,) = model.links[0].collisions
    shape, X = collision.shape, np.asarray(collision.X_LG)
    assert (shape.x, shape.y) == (2.0, 1.0)
    np.testing.assert_allclose(
        X[2, 3] + shape.heights, 1.0 + 0.005 * np.array([[100, 50, 25], [10, 20, 30], [0, 0, 0]])
    )
