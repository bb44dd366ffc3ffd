"""convert --decompose: collision meshes that are not convex become convex parts, each a mesh beside the file."""

from importlib.util import find_spec

import numpy as np
import pytest
from command_line import cli, succeed

# not importorskip(): with the library loaded, Pinocchio and pydrake read no numbers in the tests after it
pytestmark = pytest.mark.skipif(find_spec("coacd") is None, reason="coacd is not installed")

BOXES = (((-0.5, 0.0, 0.0), (0.5, 0.1, 0.1)), ((-0.5, 0.1, 0.0), (-0.4, 0.6, 0.1)), ((0.4, 0.1, 0.0), (0.5, 0.6, 0.1)))
ROBOT = """<robot name="r"><link name="fork"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<visual><geometry><mesh filename="u.obj"/></geometry></visual>
<collision name="solid"><geometry><mesh filename="u.obj"/></geometry></collision></link></robot>"""
QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def u_text():
    lines, faces = [], []
    for box in BOXES:
        start = len(lines) + 1
        lines += [f"v {box[i][0]} {box[j][1]} {box[k][2]}" for i in (0, 1) for j in (0, 1) for k in (0, 1)]
        faces += ["f " + " ".join(str(start + corner) for corner in quad) for quad in QUADS]
    return "\n".join([*lines, *faces]) + "\n"


@pytest.fixture
def fork(tmp_path):
    (tmp_path / "u.obj").write_text(u_text())
    (tmp_path / "fork.urdf").write_text(ROBOT)
    return tmp_path / "fork.urdf"


@pytest.mark.parametrize("suffix", ["xml", "sdf"])
def test_parts_of_a_mesh_that_is_not_convex_are_files_of_their_own(fork, suffix):
    from mbcli.models import load_model

    out = fork.parent / "out" / f"fork.{suffix}"
    out.parent.mkdir()
    succeed("convert", fork, "-o", out, "--decompose", "--bundle")
    (link,) = load_model(str(out)).read[0].links
    assert len(link.collisions) >= 3 and len(link.visuals) == 1
    assert all(solid.shape.path.startswith(str(out.parent)) for solid in link.collisions)


@pytest.mark.peers("mujoco")
def test_mujoco_lets_a_ball_into_the_gap_between_the_parts(fork):
    import mujoco

    touching = {}
    for options in ((), ("--decompose",)):
        out = fork.parent / f"out{len(options)}" / "fork.xml"
        out.parent.mkdir()
        succeed("convert", fork, "-o", out, "--bundle", *options)
        spec = mujoco.MjSpec.from_file(str(out))
        ball = spec.worldbody.add_body(name="ball", pos=[0.0, 0.4, 0.05])
        ball.add_freejoint()
        ball.mass, ball.inertia, ball.explicitinertial = 1.0, [1.0, 1.0, 1.0], True
        ball.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.05, 0.0, 0.0])
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        touching[options] = data.ncon
        assert np.isfinite(data.qacc).all()
    assert touching[()] > 0
    assert touching["--decompose",] == 0


def test_parts_need_a_place_beside_the_file(fork):
    result = cli("convert", fork, "-o", fork.with_suffix(".xml"), "--decompose")
    assert result.code == 2 and "--decompose needs --bundle: the convex parts are files of their own" in result.err
