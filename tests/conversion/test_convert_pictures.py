"""A robot in each format looks like its source: pictures of the files are the same, shapes, places and colours.

MBCLI_PICTURES=FOLDER keeps them.
"""

import io
import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from command_line import succeed
from repository import SAMPLES

from mbcli.models.loading import load_model
from mbcli.pictures.model_scene import scene_of
from mbcli.pictures.scene import Motion

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

FORMATS = ["sdf", "xml", pytest.param("usda", marks=pytest.mark.skipif(find_spec("pxr") is None, reason="no usd-core"))]
SIZE = (320, 240)
ALIKE = 5e-4  # of the pixels: which of two faces in one place is drawn last depends on the last digit
WEDGE = "v 0 0 0\nv 0.5 0 0\nv 0 0.3 0\nv 0 0 0.4\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


def colored(shape, color, origin=""):
    material = f'<material name="{color.replace(" ", "_")}"><color rgba="{color}"/></material>'
    return f"<visual>{origin}<geometry>{shape}</geometry>{material}</visual>"


ROBOT = f"""<robot name="painted"><link name="base">
<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
{colored('<box size="0.6 0.4 0.2"/>', "0.8 0.1 0.1 1")}
{colored('<mesh filename="wedge.obj" scale="1 -1 1"/>', "0.1 0.6 0.2 1", '<origin xyz="0.1 0.2 0.1" rpy="0.2 0 0.4"/>')}
</link><link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
{colored('<cylinder radius="0.06" length="0.7"/>', "0.2 0.3 0.9 1", '<origin xyz="0 0 0.35"/>')}
{colored('<sphere radius="0.12"/>', "0.9 0.8 0.1 1", '<origin xyz="0 0 0.7"/>')}</link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="-0.2 0 0.1" rpy="0.5 0.2 0"/>
<axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint></robot>"""


@pytest.fixture
def painted(tmp_path):
    (tmp_path / "wedge.obj").write_text(WEDGE)
    (tmp_path / "painted.urdf").write_text(ROBOT)
    return tmp_path / "painted.urdf"


def pixels(path):
    """(height, width, 3) of a picture of a model file at its default positions."""
    from matplotlib.image import imread

    from mbcli.pictures.drawn_images import drawn_images

    scene = scene_of(load_model(str(path), contact=True), roles="visual")
    still = Motion("still", np.zeros(1), scene.X_WB[None])
    image = next(drawn_images([(scene, still)], np.zeros(1), SIZE))
    if os.environ.get("MBCLI_PICTURES"):
        Path(os.environ["MBCLI_PICTURES"], f"{path.stem}_{path.suffix[1:]}.png").write_bytes(image)
    return imread(io.BytesIO(image))[..., :3]


def share_apart(one, other):
    """Of the pixels that differ by more than 1/50."""
    return (np.abs(one - other).max(axis=2) > 0.02).mean()


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_robot_of_each_format_looks_like_its_source(painted, suffix):
    out = painted.parent / "out" / f"painted.{suffix}"
    out.parent.mkdir()
    succeed("convert", painted, "-o", out, "--bundle")
    ours, theirs = pixels(painted), pixels(out)
    drawn = np.ptp(ours, axis=2) > 0.2
    assert drawn.mean() > 0.02  # colours fill a part of it
    assert share_apart(ours, theirs) < ALIKE


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_sample_of_each_format_looks_like_its_source(tmp_path, suffix):
    out = tmp_path / f"quadruped.{suffix}"
    succeed("convert", SAMPLES / "quadruped.urdf", "-o", out, "--bundle")
    assert share_apart(pixels(SAMPLES / "quadruped.urdf"), pixels(out)) < ALIKE


def test_another_colour_or_place_is_seen(painted):
    """The comparison can fail: a shape moved by a tenth, and one of another colour, change pixels."""
    ours = pixels(painted)
    for old, new in (("-0.2 0 0.1", "-0.2 0 0.2"), ("0.9 0.8 0.1 1", "0.9 0.6 0.1 1")):
        other = painted.with_name("other.urdf")
        other.write_text(painted.read_text().replace(old, new))
        assert share_apart(ours, pixels(other)) > 4.0 * ALIKE
