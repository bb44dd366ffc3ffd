"""Small files that ask for much: meshes, includes, numbers that are too large. Each gets a bounded answer."""

import json
import resource
import time

import numpy as np
import pytest
from command_line import cli, succeed

from mbcli.errors import MbcliError, ModelError, ResourceError
from mbcli.meshes.triangles import load_triangles

LINK = """<robot name="r"><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<collision><geometry><mesh filename="part.{suffix}"/></geometry></collision></link></robot>"""


def gltf(folder, **document):
    mesh = {"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}], **document}
    (folder / "part.gltf").write_text(json.dumps(mesh))
    (folder / "part.urdf").write_text(LINK.format(suffix="gltf"))


def many_accessors(folder):
    """Zeros without a buffer, each accessor within bounds of its own."""
    primitives = [{"attributes": {"POSITION": k}} for k in range(200)]
    accessors = [{"componentType": 5126, "type": "VEC3", "count": 999_999}] * 200
    gltf(folder, meshes=[{"primitives": primitives}], accessors=accessors)


def one_buffer_often(folder):
    """200 names for one buffer of 4 MB."""
    (folder / "numbers.bin").write_bytes(np.zeros(1_000_000, dtype="<f4").tobytes())
    many = range(200)
    gltf(
        folder,
        buffers=[{"uri": "numbers.bin", "byteLength": 4_000_000} for _ in many],
        bufferViews=[{"buffer": k, "byteLength": 3_999_996} for k in many],
        accessors=[{"bufferView": k, "componentType": 5126, "type": "VEC3", "count": 333_333} for k in many],
        meshes=[{"primitives": [{"attributes": {"POSITION": k}} for k in many]}],
    )


def many_places(folder):
    """One mesh at 100,000 nodes."""
    many = range(90_000)
    (folder / "numbers.bin").write_bytes(np.random.default_rng(0).normal(size=3000).astype("<f4").tobytes())
    gltf(
        folder,
        buffers=[{"uri": "numbers.bin", "byteLength": 12_000}],
        bufferViews=[{"buffer": 0, "byteLength": 12_000}],
        accessors=[{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 999}],
        meshes=[{"primitives": [{"attributes": {"POSITION": 0}}]}],
        nodes=[{"mesh": 0} for _ in many],
        scenes=[{"nodes": list(many)}],
    )


def deep(folder):
    """JSON deeper than its reader goes."""
    (folder / "part.gltf").write_text('{"asset":' + "[" * 200_000 + "]" * 200_000 + "}")
    (folder / "part.urdf").write_text(LINK.format(suffix="gltf"))


@pytest.mark.parametrize("bomb", [many_accessors, one_buffer_often, many_places, deep])
def test_a_mesh_asks_for_no_more_than_its_bounds(tmp_path, bomb):
    bomb(tmp_path)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(MbcliError) as error:
        load_triangles(tmp_path / "part.gltf")
    assert isinstance(error.value, ResourceError) == (bomb is not deep)
    result = cli("check", "--meshes", tmp_path / "part.urdf")
    assert result.code == 0 and "MESH_UNREADABLE" in result.out
    assert cli("convert", tmp_path / "part.urdf", "--to", "sdf", "-o", tmp_path / "x" / "part.sdf").code != 70
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_000_000  # [kB]
    assert time.monotonic() - start < 20.0


@pytest.mark.parametrize("kind", ["sdf", "dmd.yaml"])
def test_includes_that_double_are_bounded(tmp_path, kind):
    for k in range(27):
        twice = range(2) if k < 26 else ()
        if kind == "sdf":
            inner = "".join(f"<include><name>n{n}</name><uri>m{k + 1}.sdf</uri></include>" for n in twice)
            text = f'<sdf version="1.9"><model name="m{k}">{inner or "<link name=&quot;l&quot;/>"}</model></sdf>'
            text = text.replace("&quot;", '"')
        else:
            text = "directives:\n" + (
                "".join(f"- add_directives: {{file: m{k + 1}.{kind}}}\n" for _ in twice) or "- []\n"
            )
            text = text if k < 26 else "directives: []\n"
        (tmp_path / f"m{k}.{kind}").write_text(text)
    start = time.monotonic()
    result = cli("check", tmp_path / f"m0.{kind}")
    assert result.code == 1 and "INCLUDE_TOO_LARGE" in result.out
    assert time.monotonic() - start < 20.0


# ------------------------------------------------------------------------------------------- numbers


def test_a_vertex_that_is_too_far_away_is_named(tmp_path):
    (tmp_path / "part.obj").write_text("v 0 0 0\nv 1e308 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "part.urdf").write_text(LINK.format(suffix="obj"))
    with pytest.raises(ModelError, match=r"vertex 1 is beyond 1e\+100 m"):
        load_triangles(tmp_path / "part.obj")
    result = cli("simulate", tmp_path / "part.urdf", "-t", 0.01, "--no-log", "--ground")
    assert result.code in (0, 3) and "vertex 1 is beyond" in result.err and "RuntimeWarning" not in result.err


BAR = """<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="0 {arm} 0"/><mass value="{mass}"/>
<inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="j" type="continuous"><parent link="a"/>
<child link="b"/><axis xyz="1 0 0"/></joint></robot>"""


@pytest.mark.parametrize(
    "words",
    [
        ("energy", "--v", "1e300"),
        ("energy", "--v", "1e300", "--json"),
        ("bias", "--v", "1e300"),
        ("inverse-dynamics", "--v", "1e250", "--vdot", "1e300"),
    ],
)
def test_a_result_that_is_not_finite_ends_with_5(tmp_path, words):
    (tmp_path / "bar.urdf").write_text(BAR.format(arm="1e90", mass="1e100"))
    result = cli(words[0], tmp_path / "bar.urdf", "--weld-base", *words[1:])
    assert result.code == 5 and "not finite" in result.err and result.out, result


def test_a_model_without_mass_has_no_linearization(tmp_path):
    (tmp_path / "bar.urdf").write_text(
        BAR.format(arm="0", mass="0").replace('"1" iyy="1" izz="1"', '"0" iyy="0" izz="0"')
    )
    result = cli("linearize", tmp_path / "bar.urdf", "--weld-base")
    assert result.code in (3, 5), result


def test_a_matrix_that_cannot_be_factored_is_a_numerical_failure(monkeypatch):
    import mbcli.cli.doctor as doctor

    def fails(*_, **__):
        raise np.linalg.LinAlgError("Matrix is not positive definite")

    monkeypatch.setattr(doctor.doctor, "callback", fails)
    result = cli("doctor")
    assert result.code == 5 and "Matrix is not positive definite" in result.err


def test_a_plane_of_the_world_is_left_out_of_urdf(tmp_path):
    (tmp_path / "floor.xml").write_text(
        '<mujoco model="m"><worldbody><geom name="floor" type="plane" size="1 1 .1"/><body name="a" pos="0 0 1">'
        '<joint name="j"/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>'
    )
    result = succeed("convert", tmp_path / "floor.xml", "--to", "urdf", "--lossy", "-o", tmp_path / "floor.urdf")
    assert "plane" in result.err and (tmp_path / "floor.urdf").exists()
