"""The readers of mesh files: what makers' programs write, what trimesh reads of it, and files that are broken."""

import base64
import json
import struct

import numpy as np
import pytest
from scipy.spatial import cKDTree

from mbcli.errors import ModelError, ResourceError
from mbcli.meshes import read_dae, read_gltf
from mbcli.meshes.triangles import load_triangles

SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
HALVES = [[0, 1, 2], [0, 2, 3]]


@pytest.fixture
def read(tmp_path):
    """Corners (m, 3, 3) of the triangles of a file with some content, in the order of the file."""

    def read(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        vertices, triangles = load_triangles(path)
        return vertices[triangles]

    return read


def assert_same_triangles(found, expected, atol=1e-12):
    """Whether the triangles are the same and face the same way; their order and first corners do not matter."""
    found, expected = np.asarray(found), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    place = cKDTree(expected.mean(axis=1)).query(found.mean(axis=1))[1]
    assert len(set(place.tolist())) == len(expected)
    differences = [np.abs(np.roll(found, k, axis=1) - expected[place]).max(axis=(1, 2)) for k in range(3)]
    np.testing.assert_array_less(np.min(differences, axis=0), atol)


# ------------------------------------------------------------------------------------------- trimesh


@pytest.mark.parametrize("suffix", [".stl", ".obj", ".dae", ".glb"])
def test_a_scene_that_trimesh_wrote_is_read_as_trimesh_reads_it(tmp_path, suffix):
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    rng = np.random.default_rng(7)
    solids = [
        trimesh.creation.icosphere(subdivisions=2, radius=0.3),
        trimesh.creation.box((0.1, 0.2, 0.3)),
        trimesh.creation.cone(0.2, 0.5),
    ]
    scene = trimesh.Scene()
    for solid in solids:
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3)
        X[:3, 0] *= np.sign(np.linalg.det(X[:3, :3]))
        scene.add_geometry(solid, transform=X)
    path = tmp_path / f"scene{suffix}"
    (scene if suffix == ".glb" else scene.to_mesh()).export(path)
    theirs = trimesh.load(path, force="mesh", process=False)
    vertices, triangles = load_triangles(path)
    assert len(triangles) == len(theirs.faces) == sum(len(solid.faces) for solid in solids)
    assert_same_triangles(vertices[triangles], theirs.triangles, atol=1e-6)


# ----------------------------------------------------------------------------------------------- STL


def facets(triangles):
    return b"".join(struct.pack("<12fH", 0, 0, 0, *np.ravel(t), 0) for t in triangles)


def test_a_binary_stl_file_may_begin_with_solid_and_have_more_bytes_at_its_end(read):
    body = struct.pack("<I", 2) + facets(SQUARE[HALVES])
    for head, tail in ((b"solid exported by a program", b""), (b"", b"made by hand"), (b"solid\n", b"")):
        assert_same_triangles(read("a.stl", head.ljust(80, b"\0") + body + tail), SQUARE[HALVES])


def test_an_ascii_stl_file_may_be_in_capitals_and_in_several_solids(read):
    solid = "SOLID A\nFACET NORMAL 0 0 1\nOUTER LOOP\n{}ENDLOOP\nENDFACET\nENDSOLID A\n"
    rows = ["".join(f"  VERTEX {x:e} {y:e} {z:e}\r\n" for x, y, z in SQUARE[t]) for t in HALVES]
    assert_same_triangles(read("a.stl", "".join(solid.format(row) for row in rows)), SQUARE[HALVES])


def test_an_stl_file_that_is_cut_is_refused(read):
    with pytest.raises(ModelError, match=r"a\.stl: .* it has 134 bytes, 2 triangles take 184"):
        read("a.stl", bytes(80) + struct.pack("<I", 2) + facets(SQUARE[HALVES[:1]]))
    with pytest.raises(ModelError, match="a triangle lacks a vertex"):
        read("a.stl", "solid a\nvertex 0 0 0\nvertex 1 0 0\n")


# ----------------------------------------------------------------------------------------------- OBJ

OBJ_HEAD = "mtllib nowhere.mtl\n" + "".join(f"v {x} {y} {z} 0.5 0.5 0.5\n" for x, y, z in SQUARE)


@pytest.mark.parametrize(
    "faces",
    [
        "f 1 2 3\nf 1 3 4\n",
        "f 1/1/1 2/2/2 3/3/3 4/4/4\n",
        "f 1//1 2//1 3//1 4//1\r\n",
        "f -4 -3 -2 -1\n",
        "f 1 2 \\\n 3 4\n",
        "g one\nusemtl steel\nf 1 2 3\ng two\ns off\nf 1 3 4\n",
        "vt 0 0\nvn 0 0 1\n# a comment\n\nl 1 2\no part\nf 1/1 2/1 3/1 4/1\nv 99 99 99\n",
    ],
)
def test_faces_of_obj_files(read, faces):
    corners = read("a.obj", OBJ_HEAD + faces)
    assert_same_triangles(corners, SQUARE[HALVES])
    assert corners.max() == 1.0  # a vertex of no face does not count


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v 0 0\n", "vertex 1 has 2 coordinates"),
        (OBJ_HEAD + "f 1 2 5\n", "a vertex that is not there: there are 4"),
        (OBJ_HEAD + "f 1 2 0\n", "a vertex that is not there"),
        (OBJ_HEAD + "f 1 2 -5\n", "a vertex that is not there"),
        (OBJ_HEAD + "f 1 2 x\n", "ValueError"),
        (OBJ_HEAD, "there are no triangles"),
    ],
)
def test_broken_obj_files_are_refused(read, text, message):
    with pytest.raises(ModelError, match=message):
        read("a.obj", text)


# ----------------------------------------------------------------------------------------------- DAE

PRIMITIVES = {
    "triangles": ('<triangles count="2">{}<p>0 1 2 0 2 3</p></triangles>', [0]),
    "polylist": ('<polylist count="1">{}<vcount>4</vcount><p>0 1 2 3</p></polylist>', [0]),
    "polygons": ('<polygons count="1">{}<p>0 1 2 3</p></polygons>', [0]),
    "holes": ('<polygons count="1">{}<ph><p>0 1 2 3</p><h>0 1 2</h></ph></polygons>', [0]),
    "trifans": ('<trifans count="1">{}<p>0 1 2 3</p></trifans>', [0]),
    "tristrips": ('<tristrips count="1">{}<p>1 2 0 3</p></tristrips>', [0]),
    "normals": (
        '<triangles count="2">{}<input semantic="NORMAL" source="#n" offset="1"/><p>0 9 1 9 2 9 0 9 2 9 3 9</p>'
        "</triangles>",
        [0],
    ),
}


def dae(primitive=PRIMITIVES["triangles"][0], scene=None, more="", unit="1", stride=3):
    numbers = " ".join(str(x) for v in SQUARE for x in [*v, *[7] * (stride - 3)])
    scene = '<node><instance_geometry url="#g"/></node>' if scene is None else scene
    show = f'<library_visual_scenes><visual_scene id="s">{scene}</visual_scene></library_visual_scenes>'
    return f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit meter="{unit}"/></asset>
<library_geometries><geometry id="g" name="square"><mesh><source id="p"><float_array count="12">{numbers}</float_array>
<technique_common><accessor count="4" stride="{stride}"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
{primitive.format('<input semantic="VERTEX" source="#v" offset="0"/>')}</mesh></geometry></library_geometries>
{more}{show if scene else ""}{'<scene><instance_visual_scene url="#s"/></scene>' if scene else ""}</COLLADA>"""


@pytest.mark.parametrize("name", PRIMITIVES)
def test_primitives_of_collada_files(read, name):
    assert_same_triangles(read("a.dae", dae(PRIMITIVES[name][0])), SQUARE[HALVES])
    assert_same_triangles(read("a.dae", dae(PRIMITIVES[name][0], stride=4)), SQUARE[HALVES])


def test_a_missing_texture_does_no_harm_to_the_shape(read):
    """Of such a file, the foot of a well-known robot, trimesh with pycollada gives no triangles."""
    effect = """<library_effects><effect id="e"><profile_COMMON><newparam sid="f"><sampler2D><source>nowhere</source>
</sampler2D></newparam><technique sid="c"><phong><diffuse><texture texture="f" texcoord="UV"/></diffuse></phong>
</technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>"""
    bound = """<node><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="x" target="#m"/></technique_common></bind_material></instance_geometry></node>"""
    assert_same_triangles(read("a.dae", dae(scene=bound, more=effect)), SQUARE[HALVES])


INSTANCE = '<instance_geometry url="#g"/>'


@pytest.mark.parametrize(
    ("scene", "move"),
    [
        (f"<node><translate>1 2 3</translate>{INSTANCE}</node>", lambda p: p + [1, 2, 3]),
        (f"<node><rotate>0 0 2 90</rotate>{INSTANCE}</node>", lambda p: p[..., [1, 0, 2]] * [-1, 1, 1]),
        (f"<node><scale>2 3 4</scale>{INSTANCE}</node>", lambda p: p * [2, 3, 4]),
        (
            f"<node><translate>1 0 0</translate><node><scale>2 2 2</scale>{INSTANCE}</node></node>",
            lambda p: 2 * p + [1, 0, 0],
        ),
        (f"<node><matrix>1 0 0 5 0 1 0 6 0 0 1 7 0 0 0 1</matrix>{INSTANCE}</node>", lambda p: p + [5, 6, 7]),
        ('<node><translate>0 0 1</translate><instance_node url="#n"/></node>', lambda p: p + [0, 1, 1]),
        ('<node><instance_controller url="#c"/></node>', lambda p: p + [3, 0, 0]),
        ("", lambda p: p),
        (f"<node>{INSTANCE}</node><node><translate>9 9 9</translate></node>", lambda p: p),
    ],
)
def test_nodes_of_collada_files_place_their_shapes(read, scene, move):
    more = f"""<library_nodes><node id="n"><translate>0 1 0</translate>{INSTANCE}</node></library_nodes>
<library_controllers><controller id="c"><skin source="#g"><bind_shape_matrix>1 0 0 3 0 1 0 0 0 0 1 0 0 0 0 1
</bind_shape_matrix></skin></controller></library_controllers>"""
    assert_same_triangles(read("a.dae", dae(scene=scene, more=more)), move(SQUARE[HALVES]))
    assert_same_triangles(read("a.dae", dae(scene=scene, more=more, unit="0.001")), 0.001 * move(SQUARE[HALVES]))


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        ('<node id="n"><instance_node url="#n"/></node>', "stand for each other in a circle"),
        (f"<node><lookat>0 0 0 1 0 0 0 0 1</lookat>{INSTANCE}</node>", "placed by <lookat>, which is not supported"),
        ('<node><instance_geometry url="#nothing"/></node>', "there are no triangles"),
        (f"<node><translate>1 x 0</translate>{INSTANCE}</node>", "ValueError"),
    ],
)
def test_broken_collada_files_are_refused(read, scene, message):
    with pytest.raises(ModelError, match=message):
        read("a.dae", dae(scene=scene))


def test_nodes_that_stand_for_many_others_are_refused(read, monkeypatch):
    twice = '<node id="n{}"><instance_node url="#n{}"/><instance_node url="#n{}"/></node>'
    nodes = [twice.format(k, k + 1, k + 1) for k in range(40)]
    more = f"<library_nodes>{''.join(nodes)}</library_nodes>"
    monkeypatch.setattr(read_dae, "MOST_NODES", 1000)
    with pytest.raises(ModelError, match="more than 1000 times"):
        read("a.dae", dae(scene='<node><instance_node url="#n0"/></node>', more=more))


@pytest.mark.parametrize("text", ['<!DOCTYPE x [<!ENTITY a "b">]>' + dae(), dae().encode("utf-16")])
def test_collada_files_with_entities_or_wide_characters_are_refused(read, text):
    with pytest.raises(ModelError, match="a document type or an encoding of wide characters"):
        read("a.dae", text)


# ---------------------------------------------------------------------------------------------- glTF


def gltf(primitive=None, node=None, bytes_=None, uri=None, accessors=None, **more):
    """A document whose mesh is the square: positions, then its triangles as 16-bit integers."""
    numbers = SQUARE.astype("<f4").tobytes() + np.array(HALVES, "<u2").tobytes() if bytes_ is None else bytes_
    uri = "data:application/octet-stream;base64," + base64.b64encode(numbers).decode() if uri is None else uri
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "square", "mesh": 0} | (node or {})],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1} | (primitive or {})]}],
        "accessors": accessors
        or [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 48},
            {"buffer": 0, "byteOffset": 48, "byteLength": len(numbers) - 48},
        ],
        "buffers": [{"byteLength": len(numbers), "uri": uri}],
    } | more


def glb(document, binary):
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def test_buffers_of_gltf_files_are_in_them_or_beside_them(read, tmp_path):
    assert_same_triangles(read("a.gltf", json.dumps(gltf())), SQUARE[HALVES])
    numbers = SQUARE.astype("<f4").tobytes() + np.array(HALVES, "<u2").tobytes()
    (tmp_path / "the buffer.bin").write_bytes(numbers)
    assert_same_triangles(read("a.gltf", json.dumps(gltf(uri="the%20buffer.bin"))), SQUARE[HALVES])
    document = gltf()
    del document["buffers"][0]["uri"]
    assert_same_triangles(read("a.glb", glb(document, numbers)), SQUARE[HALVES])


@pytest.mark.parametrize("uri", ["../secret.bin", "/etc/hostname", "/dev/zero", "missing.bin", "link.bin", "."])
def test_buffers_elsewhere_are_refused(tmp_path, uri):
    folder = tmp_path / "robot"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(60))
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    path = folder / "a.gltf"
    path.write_text(json.dumps(gltf(uri=uri)))
    with pytest.raises(ResourceError, match=r"a\.gltf: cannot read the mesh: its buffer"):
        load_triangles(path)


HALF_TURN = {"rotation": [0, 0, 1, 0]}  # about z


@pytest.mark.parametrize(
    ("node", "move"),
    [
        ({"translation": [1, 2, 3]}, lambda p: p + [1, 2, 3]),
        (HALF_TURN | {"scale": [2, 2, 2], "translation": [5, 0, 0]}, lambda p: 2 * p * [-1, -1, 1] + [5, 0, 0]),
        ({"matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1]}, lambda p: p + [5, 6, 7]),
    ],
)
def test_nodes_of_gltf_files_place_their_shapes(read, node, move):
    assert_same_triangles(read("a.gltf", json.dumps(gltf(node=node))), move(SQUARE[HALVES]), atol=1e-6)
    nodes = [{"children": [1], "translation": [0, 0, 9]}, {"mesh": 0} | node]
    below = json.dumps(gltf(nodes=nodes))
    assert_same_triangles(read("a.gltf", below), move(SQUARE[HALVES]) + [0, 0, 9], atol=1e-6)
    without_scene = gltf(nodes=nodes)
    del without_scene["scenes"], without_scene["scene"]
    assert_same_triangles(read("a.gltf", json.dumps(without_scene)), move(SQUARE[HALVES]) + [0, 0, 9], atol=1e-6)


def test_primitives_of_gltf_files(read):
    def with_corners(corners, mode):
        numbers = SQUARE.astype("<f4").tobytes() + np.array(corners, "<u2").tobytes()
        document = gltf(primitive={"mode": mode}, bytes_=numbers)
        document["accessors"][1]["count"] = len(corners)
        return json.dumps(document)

    assert_same_triangles(read("a.gltf", with_corners([0, 1, 2, 3], 6)), SQUARE[HALVES])
    assert_same_triangles(read("a.gltf", with_corners([1, 2, 0, 3], 5)), SQUARE[HALVES])
    corners = SQUARE[HALVES].reshape(-1, 3)
    document = gltf(bytes_=corners.astype("<f4").tobytes() + b"\0\0")
    document["bufferViews"][0]["byteLength"] = corners.size * 4
    document["accessors"] = [{"bufferView": 0, "componentType": 5126, "count": 6, "type": "VEC3"}]
    del document["meshes"][0]["primitives"][0]["indices"]
    assert_same_triangles(read("a.gltf", json.dumps(document)), SQUARE[HALVES])
    with pytest.raises(ModelError, match="there are no triangles"):
        read("a.gltf", with_corners([0, 1, 1, 2], 1))  # lines


def test_gltf_vertices_may_be_sparse_interleaved_or_short_integers(read):
    raised = np.array([[0.0, 0.0, 5.0]], "<f4").tobytes() + np.array([2], "<u2").tobytes()
    numbers = SQUARE.astype("<f4").tobytes() + np.array(HALVES, "<u2").tobytes() + raised
    document = gltf(bytes_=numbers)
    document["bufferViews"][1]["byteLength"] = 12
    document["bufferViews"] += [{"buffer": 0, "byteOffset": 60, "byteLength": 12}]
    document["bufferViews"] += [{"buffer": 0, "byteOffset": 72, "byteLength": 2}]
    sparse = {"count": 1, "indices": {"bufferView": 3, "componentType": 5123}, "values": {"bufferView": 2}}
    document["accessors"][0]["sparse"] = sparse
    changed = SQUARE.copy()
    changed[2] = [0.0, 0.0, 5.0]
    assert_same_triangles(read("a.gltf", json.dumps(document)), changed[HALVES])

    short = np.zeros((4, 4), "<i2")
    short[:, :3] = np.round(32767 * SQUARE)
    numbers = short.tobytes() + bytes(16) + np.array(HALVES, "<u2").tobytes()
    document = gltf(bytes_=numbers)
    document["bufferViews"][0]["byteStride"] = 8
    document["accessors"][0] |= {"componentType": 5122, "normalized": True}
    assert_same_triangles(read("a.gltf", json.dumps(document)), SQUARE[HALVES])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extensionsRequired": ["KHR_draco_mesh_compression"]}, "compressed by KHR_draco_mesh_compression"),
        ({"nodes": [{"children": [0]}]}, "below each other in a circle"),
        ({"nodes": [{"mesh": 3}]}, "IndexError"),
        ({"nodes": [{"mesh": 0, "rotation": [0, 0, 0, 0]}]}, "ZeroDivisionError"),
        ({"bufferViews": [{"buffer": 0, "byteLength": 10}] * 2}, "reaches beyond its buffer"),
        ({"buffers": [{"byteLength": 60}]}, "a buffer has no bytes"),
        ({"accessors": [{"componentType": 5126, "count": 10**12, "type": "VEC3"}] * 2}, "accessor has 1000000000000"),
    ],
)
def test_broken_gltf_files_are_refused(read, change, message):
    with pytest.raises(ModelError, match=message):
        read("a.gltf", json.dumps(gltf() | change))


def test_gltf_nodes_may_not_be_too_many(read, monkeypatch):
    monkeypatch.setattr(read_gltf, "MOST_NODES", 10)
    with pytest.raises(ModelError, match="more than 10"):
        read("a.gltf", json.dumps(gltf(nodes=[{"children": list(range(1, 20))}, *[{}] * 20])))


# ---------------------------------------------------------------------------------------- all of them


def files():
    numbers = SQUARE.astype("<f4").tobytes() + np.array(HALVES, "<u2").tobytes()
    without = gltf()
    del without["buffers"][0]["uri"]
    return {
        "a.stl": bytes(80) + struct.pack("<I", 2) + facets(SQUARE[HALVES]),
        "b.stl": b"solid a\n" + b"vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n" * 2,
        "a.obj": (OBJ_HEAD + "f 1 2 3 4\n").encode(),
        "a.dae": dae().encode(),
        "a.gltf": json.dumps(gltf()).encode(),
        "a.glb": glb(without, numbers),
    }


@pytest.mark.parametrize("name", files())
def test_damaged_files_give_triangles_or_one_of_our_errors(tmp_path, name):
    content, rng = files()[name], np.random.default_rng(0)
    path = tmp_path / name
    for k in range(150):
        damaged = bytearray(content[: rng.integers(len(content))] if k % 3 == 0 else content)
        for place in rng.integers(0, max(1, len(damaged)), size=k % 4) if damaged else ():
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            vertices, triangles = load_triangles(path)
        except (ModelError, ResourceError) as error:
            assert str(error).startswith(f"{path}: ") and "\n" not in str(error)
        else:
            assert np.isfinite(vertices).all() and 0 <= triangles.min() <= triangles.max() < len(vertices)
