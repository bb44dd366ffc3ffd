"""What a file says of a joint is in the plant that it becomes: one number changed, one answer changed."""

import numpy as np
import pytest

from mbcli.models.loading import ModelText, load_model

BODY = '<inertial pos="0 0 -0.5" mass="2" diaginertia="0.1 0.1 0.1"/>'
JOINT = '<mujoco><worldbody><body name="b"><joint name="j" axis="0 1 0" {}/>' + BODY + "</body></worldbody></mujoco>"
PLAIN = '<robot name="r"><link name="w"/><link name="b"><inertial><mass value="2"/><inertia ixx=".1" iyy=".1" izz=".1" '
PLAIN += 'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="{}"><parent link="w"/><child link="b"/>'
PLAIN += '<axis xyz="0 1 0"/>{}</joint></robot>'


def of_mjcf(attributes):
    return load_model(ModelText(JOINT.format(attributes).encode(), "joint.xml"), file_type="mjcf", dt=0.0).plant


def of_urdf(kind, elements):
    return load_model(ModelText(PLAIN.format(kind, elements).encode(), "joint.urdf"), file_type="urdf", dt=0.0).plant


def at(plant, q, v):
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [q])
    plant.SetVelocities(context, [v])
    return context


def test_reflected_inertia_is_in_the_mass_matrix():
    plain, driven = of_mjcf(""), of_mjcf('armature="0.7"')
    M, with_drive = (plant.CalcMassMatrix(at(plant, 0.3, 0.0)) for plant in (plain, driven))
    np.testing.assert_allclose(with_drive - M, [[0.7]], atol=1e-15)


def test_damping_and_stiffness_are_in_the_acceleration():
    plain, damped, sprung = of_mjcf(""), of_mjcf('damping="0.4"'), of_mjcf('stiffness="3" springref="30"')

    def effort(plant):
        context = at(plant, 0.3, 2.0)
        M = plant.CalcMassMatrix(context)
        return float(M[0, 0] * plant.EvalTimeDerivatives(context).CopyToVector()[1])

    assert effort(damped) - effort(plain) == pytest.approx(-0.4 * 2.0, abs=1e-12)
    assert effort(sprung) - effort(plain) == pytest.approx(-3.0 * (0.3 - np.radians(30.0)), abs=1e-12)


def test_limits_are_those_of_the_joint():
    joint = of_urdf("prismatic", '<limit lower="-0.2" upper="0.5" effort="3" velocity="4"/>').GetJointByName("j")
    assert (joint.position_lower_limits()[0], joint.position_upper_limits()[0]) == (-0.2, 0.5)
    assert (joint.velocity_lower_limits()[0], joint.velocity_upper_limits()[0]) == (-4.0, 4.0)
    assert list(joint.translation_axis()) == [0.0, 1.0, 0.0]


def test_dry_friction_is_that_of_the_joint():
    (friction,) = of_mjcf('frictionloss="0.6"').GetJointByName("j").dry_friction
    assert friction == 0.6
