"""OBJ files: vertices, faces of any size and manner of counting, groups, colours of materials."""

import numpy as np
import pytest

from mbcli.errors import ModelError
from mbcli.meshes import triangles
from mbcli.meshes.read_obj import read_obj
from mbcli.meshes.triangles import load_triangles

SQUARE = b"v 0 0 0\nv 1 0 0\nv 1 1 0 1.0\nv 0 1 0 0.1 0.2 0.3\n"


def corners(content, folder=""):
    """{(name, colour): [triangles of points]}."""
    return {
        (surface.name, surface.color): surface.vertices[surface.triangles].tolist()
        for surface in read_obj(content, folder)
    }


HALVES = [[[0, 0, 0], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [1, 1, 0], [0, 1, 0]]]


@pytest.mark.parametrize(
    "faces",
    [
        b"f 1 2 3 4",
        b"f 1/1 2/1 3/2 4/1",
        b"  f\t1//1 2//1  3//1 4//1 ",
        b"f 1/1/1 2/2/2 3/3/3 4/4/4\nvn 0 0 1\nvt 0 0",
        b"f -4 -3 -2 -1",
        b"f 1 2 3\nf -4/-1/-1 -2/-1/-1 -1/-1/-1\nv 9 9 9",
        b"f 1 2 \\\n3 4",
        b"f 1 2 \\\r\n3 4\r\n# f 1 1 1\r\nl 1 2\r\ns off\r\n",
        b"f 1 2 3 4\nf 1 2\n",
    ],
)
def test_faces_are_fans_however_their_corners_are_counted(faces):
    assert corners(SQUARE + faces) == {("", None): HALVES}


def test_a_group_that_goes_on_is_one():
    text = SQUARE + b"g  one  two\nf 1 2 3\ng three\nf 1 3 4\ng one two\nf 1 3 4\ng\nf 1 2 3"
    assert corners(text) == {("one two", None): HALVES, ("three", None): HALVES[1:], ("", None): HALVES[:1]}


@pytest.mark.parametrize(
    "text, problem",
    [
        (b"v 0 0 0\nv 1 2\nf 1 1 1", "vertex 2 has 2 coordinates"),
        (SQUARE + b"f 1 2 5", "a face has a vertex that is not there: there are 4"),
        (SQUARE + b"f 1 2 -5", "a face has a vertex that is not there: there are 4"),
    ],
)
def test_what_is_not_there_is_told(text, problem):
    with pytest.raises(ModelError, match=problem):
        list(read_obj(text))


def test_materials_have_colours_unless_they_have_images(tmp_path):
    (tmp_path / "one two.mtl").write_text(
        "newmtl red  paint\nKd 0.5 0 2\nnewmtl wood\nKd 1 1 1\nmap_Kd -o 1 wood.png\nnewmtl odd\nKd x\n# Kd 1 1 1\n"
    )
    faces = b"mtllib one two.mtl\nusemtl red  paint\nf 1 2 3\nusemtl wood\nf 1 3 4\nusemtl none\nf 1 2 4"
    found = corners(SQUARE + faces, str(tmp_path))
    assert list(found) == [("", (0.5, 0.0, 1.0, 1.0)), ("", None)]
    assert [surface.color for surface in read_obj(SQUARE + faces, str(tmp_path))] == [(0.5, 0.0, 1.0, 1.0), None, None]


@pytest.mark.parametrize("content", ["newmtl a\nKd 1 0 nan", "newmtl a\nKd 1 0 x", "newmtl a\nKd 1 0", "Kd 1 0 0", ""])
def test_a_broken_material_is_no_colour(tmp_path, content):
    (tmp_path / "m.mtl").write_text(content)
    (surface,) = read_obj(SQUARE + b"mtllib m.mtl\nusemtl a\nf 1 2 3", str(tmp_path))
    assert surface.color is None


@pytest.mark.parametrize("name", ["../m.mtl", "{outside}/m.mtl", "nothing.mtl", ""])
def test_materials_outside_of_the_folder_are_not_read(tmp_path, name):
    (tmp_path / "in").mkdir()
    (tmp_path / "m.mtl").write_text("newmtl a\nKd 1 0 0\n")
    text = SQUARE + f"mtllib {name.format(outside=tmp_path)}\nusemtl a\nf 1 2 3".encode()
    (surface,) = read_obj(text, str(tmp_path / "in"))
    assert surface.color is None


def test_a_file_is_parsed_once_until_it_changes(tmp_path, monkeypatch):
    reads = []
    read = triangles.FORMATS[".obj"]
    monkeypatch.setitem(triangles.FORMATS, ".obj", lambda *more: reads.append(1) or read(*more))
    path = tmp_path / "m.obj"
    path.write_bytes(SQUARE + b"f 1 2 3")
    first = load_triangles(path)
    again = load_triangles(path, -2.0)
    assert len(reads) == 1
    np.testing.assert_array_equal(np.sort(again[0], axis=0), np.sort(-2.0 * first[0], axis=0))
    first[0][:] = 7.0  # what is returned is the caller's
    assert load_triangles(path)[0].max() == 1.0
    path.write_bytes(SQUARE + b"f 1 2 3 4 ")
    assert len(load_triangles(path)[1]) == 2
    assert len(reads) == 2


def test_what_was_read_long_ago_goes(tmp_path, monkeypatch):
    monkeypatch.setattr(triangles, "_RECENT", {})
    monkeypatch.setattr(triangles, "MAX_RECENT", 3)
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.obj").write_bytes(SQUARE + b"f 1 2 3 4")
        load_triangles(tmp_path / f"{name}.obj")
        assert [path for path, _, _ in triangles._RECENT] == [str(tmp_path / f"{name}.obj")]
