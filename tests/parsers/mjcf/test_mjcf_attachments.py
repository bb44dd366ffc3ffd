"""<attach> of MJCF: bodies of other files, with their own classes and units, and what refers to them."""

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.mjcf.read_mjcf import read_mjcf

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

ARM = """<mujoco model="arm">
<compiler angle="radian" meshdir="meshes" eulerseq="zyx"/>
<default><geom density="500"/><joint damping="0.3"/>
 <default class="big"><geom size="0.2"/><motor gear="4"/></default></default>
<asset><mesh file="block.obj" scale=".1 .1 .1"/></asset>
<worldbody>
 <body name="base" pos="0 0 1" euler="0.5 0.2 0"><geom class="big"/>
  <body name="link" pos="0.5 0 0"><joint name="j" axis="0 1 0" range="-1 1"/><geom type="mesh" mesh="block"/>
   <replicate count="2" euler="0 0 0.3"><site name="s" pos="0 0 1"/></replicate></body></body>
 <body name="other" pos="3 0 0"><joint name="k" type="slide"/><geom size=".1"/></body>
</worldbody>
<contact><exclude body1="base" body2="link"/></contact>
<equality><joint joint1="j" joint2="k"/><connect body1="link" body2="world" anchor="0 0 0"/></equality>
<actuator><motor name="m" joint="j" class="big"/><motor name="mk" joint="k"/></actuator>
</mujoco>"""
BLOCK = """v 0 0 0
v 3 0 0
v 0 2 0
v 0 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""
MAIN = """<mujoco model="main"><default><geom density="2000"/><joint damping="7"/></default>
<asset>{assets}</asset><worldbody><body name="cart"><joint name="c" type="slide"/><geom size=".1"/>{contents}</body>
</worldbody><actuator><motor name="mc" joint="c"/></actuator></mujoco>"""
ASSETS = '<model name="arm" file="parts/arm.xml"/>'
TWICE = """<frame pos="0 0 2" euler="90 0 0"><attach model="arm" body="base" prefix="p-"/></frame>
<attach model="arm" prefix="q-"/>"""


@pytest.fixture
def main(tmp_path):
    """(contents, assets, arm) -> the path of a file that attaches."""
    (tmp_path / "parts" / "meshes").mkdir(parents=True)
    (tmp_path / "parts" / "meshes" / "block.obj").write_text(BLOCK)

    def write(contents=TWICE, assets=ASSETS, arm=ARM):
        (tmp_path / "parts" / "arm.xml").write_text(arm)
        path = tmp_path / "main.xml"
        path.write_text(MAIN.format(contents=contents, assets=assets))
        return str(path)

    return write


def read(path):
    diagnostics = Diagnostics()
    return read_mjcf(path, diagnostics), diagnostics


def test_a_body_or_a_world_is_attached_with_what_refers_to_it_alone(main):
    model, diagnostics = read(main())
    assert not diagnostics.errors and not diagnostics.warnings
    assert [link.name for link in model.links] == ["cart", "p-base", "p-link", "q-base", "q-link", "q-other"]
    assert [actuator.name for actuator in model.actuators] == ["mc", "p-m", "q-m", "q-mk"]
    assert sorted(constraint.place.file.rpartition("/")[2] for constraint in model.constraints) == ["arm.xml"] * 2
    assert {frame.name for frame in model.frames} >= {"p-s0", "p-s1", "q-s0", "q-s1"}
    assert [source.path.rpartition("/")[2] for source in model.sources] == ["main.xml", "arm.xml"]


def test_classes_and_units_are_those_of_the_attached_file(main):
    model, _ = read(main())
    joints = {joint.name: joint for joint in model.joints}
    assert (joints["p-j"].axes[0].lower, joints["p-j"].axes[0].upper) == (-1.0, 1.0)  # radians there
    assert [joints[name].axes[0].damping for name in ("c", "p-j", "q-k")] == [7.0, 0.3, 0.3]
    masses = {link.name: link.inertial.mass for link in model.links}
    sphere = 4 / 3 * np.pi * 0.2**3
    assert masses["p-base"] == pytest.approx(500 * sphere)
    assert masses["p-link"] == masses["q-link"] == pytest.approx(500 * 1e-3)  # a tetrahedron of 1 m^3, scaled
    assert masses["cart"] == pytest.approx(2000 * sphere / 8)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("contents", [TWICE, TWICE.replace('body="base" ', ""), TWICE.replace("q-", "")])
def test_a_model_with_attachments_is_that_of_mujoco(main, contents):
    import mujoco

    path = main(contents)
    theirs = mujoco.MjModel.from_xml_path(path)
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(path)
    plant.Finalize()
    data, q = mujoco.MjData(theirs), np.linspace(0.1, 0.5, theirs.nq)
    data.qpos[:] = q
    mujoco.mj_forward(theirs, data)
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    M = np.zeros((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, M)
    np.testing.assert_allclose(plant.CalcMassMatrix(context), M, rtol=0, atol=1e-6)  # meshes in single precision
    assert plant.GetActuatorNames() == [f"main_{theirs.actuator(k).name}" for k in range(theirs.nu)]
    for n in range(1, theirs.nbody):
        X_WB = plant.GetBodyByName(theirs.body(n).name).EvalPoseInWorld(context)
        np.testing.assert_allclose(X_WB.translation(), data.xpos[n], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("contents", "assets", "arm", "words"),
    [
        ('<attach model="arn" prefix="p"/>', ASSETS, ARM, 'there is no <model> of <asset> "arn"; did you mean "arm"?'),
        ('<attach model="arm" body="bse" prefix="p"/>', ASSETS, ARM, 'there is no body in the attached file "bse"'),
        ('<attach model="arm" prefix="p"/>', ASSETS.replace("arm.xml", "leg.xml"), ARM, "leg.xml does not exist"),
        ('<attach model="arm" prefix="p"/>' * 2, ASSETS, ARM, 'needs another prefix: "p" is taken'),
        ('<attach prefix="p"/>', ASSETS, ARM, 'must have the attribute "model"'),
        ('<attach model="arm" prefix="p"/>', ASSETS, "<robot/>", "an MJCF file starts with <mujoco>"),
        (
            '<attach model="arm" prefix="p"/>',
            ASSETS,
            '<mujoco><asset><model name="a" file="arm.xml"/></asset><worldbody><attach model="a" prefix="x"/>'
            "</worldbody></mujoco>",
            '"arm.xml" attaches itself',
        ),
        ('<attach model="arm" prefix="p"/>', ASSETS, ARM.replace('size="0.2"', 'size="x"'), "arm.xml:4:"),
    ],
)
def test_faults_are_errors_at_their_place(main, contents, assets, arm, words):
    model, diagnostics = read(main(contents, assets, arm))
    assert model is None
    assert any(words in str(finding) for finding in diagnostics.errors), diagnostics.findings


def test_the_outermost_class_may_have_a_name(main):
    arm = ARM.replace("<default><geom", '<default class="x"><geom').replace(
        '<joint name="k"', '<joint class="x" name="k"'
    )
    model, diagnostics = read(main(arm=arm))
    assert not diagnostics.errors
    assert [joint.axes[0].damping for joint in model.joints if joint.name == "q-k"] == [0.3]
