"""convert: colours inside DAE and glTF files are kept where the mesh becomes another file."""

import base64
import json

import numpy as np
import pytest
from command_line import succeed

from mbcli.meshes.triangles import load_triangles
from mbcli.models import load_model

POINTS = np.array([[0, 0, 0], [0.5, 0, 0], [0, 0.3, 0], [0, 0, 0.4]], float)
FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
RED, BLUE = (0.8, 0.1, 0.1, 1.0), (0.1, 0.2, 0.9, 1.0)
FORMATS = ["xml", "usda"]


def dae(materials, uses):
    """A wedge; materials: {name: colour, or None for an image}; uses: [(symbol, faces)]."""
    effects = library = bound = ""
    for name, color in materials.items():
        diffuse = '<texture texture="t"/>' if color is None else f"<color>{' '.join(map(str, color))}</color>"
        effects += f'<effect id="e_{name}"><profile_COMMON><technique sid="c"><lambert><diffuse>{diffuse}</diffuse>'
        effects += "</lambert></technique></profile_COMMON></effect>"
        library += f'<material id="m_{name}"><instance_effect url="#e_{name}"/></material>'
        bound += f'<instance_material symbol="{name}" target="#m_{name}"/>'
    primitives = "".join(
        f'<triangles material="{symbol}" count="{len(faces)}"><input semantic="VERTEX" source="#v" offset="0"/>'
        f"<p>{' '.join(str(k) for f in faces for k in FACES[f])}</p></triangles>"
        for symbol, faces in uses
    )
    numbers = " ".join(map(str, POINTS.ravel()))
    return f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><library_effects>{effects}</library_effects>
<library_materials>{library}</library_materials><library_geometries><geometry id="g"><mesh><source id="p">
<float_array count="12">{numbers}</float_array></source><vertices id="v"><input semantic="POSITION" source="#p"/>
</vertices>{primitives}</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="s"><node>
<instance_geometry url="#g"><bind_material><technique_common>{bound}</technique_common></bind_material>
</instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def gltf(factors):
    """A wedge with a primitive of two faces for each linear colour."""
    corners = [np.array(FACES[2 * k : 2 * k + 2], "<u2").tobytes() for k in range(len(factors))]
    content = POINTS.astype("<f4").tobytes() + b"".join(corners)
    views = [{"buffer": 0, "byteOffset": 0, "byteLength": 48}]
    views += [{"buffer": 0, "byteOffset": 48 + 12 * k, "byteLength": 12} for k in range(len(factors))]
    accessors = [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"}]
    accessors += [
        {"bufferView": k + 1, "componentType": 5123, "count": 6, "type": "SCALAR"} for k in range(len(factors))
    ]
    primitives = [{"attributes": {"POSITION": 0}, "indices": k + 1, "material": k} for k in range(len(factors))]
    uri = "data:application/octet-stream;base64," + base64.b64encode(content).decode()
    return json.dumps(
        {
            "asset": {"version": "2.0"},
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": primitives}],
            "materials": [{"pbrMetallicRoughness": {"baseColorFactor": factor}} for factor in factors],
            "accessors": accessors,
            "bufferViews": views,
            "buffers": [{"byteLength": len(content), "uri": uri}],
        }
    )


def converted(tmp_path, mesh, content, suffix, *, material=""):
    """(visuals of the one link, what convert said)."""
    if suffix == "usda":
        pytest.importorskip("pxr", reason="usd-core is not installed")
    (tmp_path / mesh).write_text(content)
    (tmp_path / "r.urdf").write_text(f"""<robot name="r"><link name="base">
<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<visual name="shell"><geometry><mesh filename="{mesh}" scale="2 2 2"/></geometry>{material}</visual></link></robot>""")
    out = tmp_path / "out" / f"r.{suffix}"
    out.parent.mkdir()
    result = succeed("convert", tmp_path / "r.urdf", "-o", out, "--bundle")
    (link,) = [link for link in load_model(str(out)).read[0].links if link.name == "base"]
    return link.visuals, result.err


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_visual_has_the_one_colour_of_its_mesh(tmp_path, suffix):
    (visual,), _ = converted(tmp_path, "a.dae", dae({"red": RED}, [("red", range(4))]), suffix)
    assert np.allclose(visual.color, RED, atol=1e-5)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_mesh_of_two_colours_becomes_two_visuals(tmp_path, suffix):
    content = dae({"red": RED, "blue": BLUE}, [("red", [0]), ("blue", [1, 2]), ("red", [3])])
    visuals, said = converted(tmp_path, "a.dae", content, suffix)
    assert [visual.name for visual in visuals] == ["shell_1", "shell_2"]
    assert "visual 'shell' of link 'base' is several, one for each colour in its mesh: 'shell_1', 'shell_2'" in said
    for visual, color, faces in zip(visuals, (RED, BLUE), ([0, 3], [1, 2]), strict=True):
        assert np.allclose(visual.color, color, atol=1e-5)
        points, triangles = load_triangles(visual.shape.path, visual.shape.scale)
        found = {tuple(map(tuple, np.roll(t, -np.lexsort(t.T)[0], axis=0))) for t in points[triangles].round(5)}
        meant = [2.0 * POINTS[list(FACES[f])] for f in faces]
        assert found == {tuple(map(tuple, np.roll(t, -np.lexsort(t.T)[0], axis=0).round(5))) for t in meant}


@pytest.mark.parametrize("suffix", FORMATS)
def test_colours_of_gltf_are_linear(tmp_path, suffix):
    """0.5 of the light is 0.735 of sRGB (IEC 61966-2-1)."""
    visuals, _ = converted(tmp_path, "a.gltf", gltf([(0.5, 0, 1, 1), (0, 1, 0, 1)]), suffix)
    assert np.allclose([v.color for v in visuals], [(0.735357, 0, 1, 1), (0, 1, 0, 1)], atol=1e-5)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_part_with_an_image_has_no_colour(tmp_path, suffix):
    content = dae({"red": RED, "image": None}, [("red", [0, 1]), ("image", [2, 3])])
    visuals, _ = converted(tmp_path, "a.dae", content, suffix)
    assert [visual.color is None for visual in visuals] == [False, True]


def test_the_colour_that_a_visual_states_stays(tmp_path):
    green = '<material name="g"><color rgba="0 1 0 1"/></material>'
    content = dae({"red": RED, "blue": BLUE}, [("red", [0, 1]), ("blue", [2, 3])])
    (visual,), _ = converted(tmp_path, "a.dae", content, "xml", material=green)
    assert visual.color == (0.0, 1.0, 0.0, 1.0)


def test_files_that_are_copied_as_they_are_keep_their_colours_themselves(tmp_path):
    content = dae({"red": RED, "blue": BLUE}, [("red", [0, 1]), ("blue", [2, 3])])
    (visual,), _ = converted(tmp_path, "a.dae", content, "sdf")
    assert (tmp_path / "out" / "meshes" / "a.dae").read_text() == content
    assert visual.color is None


@pytest.mark.parametrize("color", ["1 0", "red green blue", "7 0 0 1", "nan 0 0"])
def test_a_broken_colour_is_none(tmp_path, color):
    content = dae({"red": RED}, [("red", range(4))]).replace("0.8 0.1 0.1 1.0", color)
    (visual,), _ = converted(tmp_path, "a.dae", content, "xml")
    assert visual.color is None


WEDGE = "mtllib wedge.mtl\n" + "".join(f"v {x} {y} {z}\n" for x, y, z in POINTS.tolist())


def obj(uses):
    """The wedge; uses: [(material, faces)]."""
    faces = "".join(
        f"usemtl {name}\n" + "".join(f"f {' '.join(str(k + 1) for k in FACES[f])}\n" for f in faces)
        for name, faces in uses
    )
    return WEDGE + faces


MATERIALS = "".join(f"newmtl {name}\nKd {r} {g} {b}\n" for name, (r, g, b, _) in (("red", RED), ("blue", BLUE)))


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_visual_has_the_one_colour_of_the_materials_of_its_obj_file(tmp_path, suffix):
    (tmp_path / "wedge.mtl").write_text(MATERIALS)
    (visual,), _ = converted(tmp_path, "wedge.obj", obj([("red", range(4))]), suffix)
    np.testing.assert_allclose(visual.color, RED, atol=1e-6)


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_obj_file_of_two_materials_becomes_two_visuals(tmp_path, suffix):
    (tmp_path / "wedge.mtl").write_text(MATERIALS)
    visuals, said = converted(tmp_path, "wedge.obj", obj([("red", [0, 1]), ("blue", [2, 3])]), suffix)
    np.testing.assert_allclose([visual.color for visual in visuals], [RED, BLUE], atol=1e-6)
    assert "visual 'shell' of link 'base' is several, one for each colour in its mesh: 'shell_1', 'shell_2'" in said


def test_without_bundle_the_colours_of_an_obj_file_of_two_materials_are_named_as_lost(tmp_path):
    (tmp_path / "wedge.mtl").write_text(MATERIALS)
    (tmp_path / "wedge.obj").write_text(obj([("red", [0, 1]), ("blue", [2, 3])]))
    (tmp_path / "r.urdf").write_text("""<robot name="r"><link name="base">
<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<visual name="shell"><geometry><mesh filename="wedge.obj"/></geometry></visual></link></robot>""")
    result = succeed("convert", tmp_path / "r.urdf", "-o", tmp_path / "r.xml")
    assert "lost: the 2 colours in the mesh of visual 'shell'" in result.err


def test_sdformat_and_urdf_leave_materials_of_obj_files_to_their_readers(tmp_path):
    (tmp_path / "wedge.mtl").write_text(MATERIALS)
    (visual,), said = converted(tmp_path, "wedge.obj", obj([("red", range(4))]), "sdf")
    assert visual.color is None
    assert "colour" not in said
    assert len(list(tmp_path.glob("out/**/wedge.mtl"))) == 1
