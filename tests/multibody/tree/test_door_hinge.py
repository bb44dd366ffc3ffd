"""DoorHinge: its torques, its edges, its energy. The force element in a plant is in test_force_elements.py."""

import numpy as np
import pytest
from force_element_scene import mbcli, pydrake, wide_hinge
from test_energy_balance import balance_of

from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import (
    DoorHinge,
    DoorHingeConfig,
    PrismaticJoint,
    RevoluteJoint,
    RotationalInertia,
    SpatialInertia,
    default_model_instance,
)
from mbcli.systems.analysis import Simulator

DEFAULTS = {
    "spring_zero_angle_rad": -1.5,
    "spring_constant": 1.5,
    "dynamic_friction_torque": 3.0,
    "static_friction_torque": 2.0,
    "viscous_friction": 1.0,
    "catch_width": 0.02,
    "catch_torque": 15.0,
    "motion_threshold": 0.001,
}


def door(config=None, time_step=0.0, **options):
    """A door about a vertical axis with a hinge, and the hinge."""
    plant = MultibodyPlant(time_step)
    inertia = SpatialInertia.MakeFromCentralInertia(2.0, [0.4, 0.0, 0.0], RotationalInertia(0.1, 0.2, 0.2))
    body = plant.AddRigidBody("door", inertia)
    joint = plant.AddJoint(RevoluteJoint("pin", plant.world_frame(), body.body_frame(), [0.0, 0.0, 1.0]))
    hinge = plant.AddForceElement(DoorHinge(joint, config or DoorHingeConfig(**options)))
    plant.Finalize()
    return plant, hinge


@pytest.mark.parametrize(
    ("angle", "rate", "torque"),
    [
        (0.0, 0.0, -11.8455001),
        (0.01, 0.0, -2.265),
        (0.02, 0.0, 7.31550013),
        (np.pi / 6.0, 0.0, -3.03539816),
        (np.pi / 6.0, 0.001, -6.60058065),
        (np.pi / 6.0, -0.001, 0.529784321),
        (np.pi / 6.0, 0.1, -6.13539816),
    ],
)
def test_torques_of_the_default_hinge(angle, rate, torque):
    """tree (c) 14."""
    plant, hinge = door()
    assert hinge.CalcHingeTorque(angle, rate) == pytest.approx(torque, rel=1e-8)
    assert hinge.CalcHingeSpringTorque(angle) + hinge.CalcHingeFrictionalTorque(rate) == hinge.CalcHingeTorque(
        angle, rate
    )
    context = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(context, [angle, rate])
    np.testing.assert_allclose(plant.CalcRequiredForces(context, gravity=False), [-torque], rtol=1e-8)


def test_the_default_configuration_and_its_names():
    config = DoorHingeConfig()
    assert {name: getattr(config, name) for name in DEFAULTS} == DEFAULTS
    assert DoorHingeConfig(catch_width=0.5).catch_width == 0.5
    config.viscous_friction = 7.0
    _, hinge = door(config)
    config.viscous_friction = 8.0
    assert hinge.config().viscous_friction == 7.0
    hinge.config().viscous_friction = 9.0
    assert hinge.config().viscous_friction == 7.0
    with pytest.raises(TypeError, match="spring"):
        DoorHingeConfig(spring=1.0)


def test_the_torques_are_the_curves_of_the_documentation():
    """tree 1.10, with the signs of tree 0.2: written out here."""
    config = wide_hinge(mbcli())
    _, hinge = door(config)

    def s(t, x):
        return np.tanh(x / t)

    def doublet(t, x):
        return 2.0 * s(t, x) * (1.0 - s(t, x) ** 2)

    for q, w in np.random.default_rng(1).normal(size=(50, 2)):
        half = config.catch_width / 2.0
        spring = -config.spring_constant * (q - config.spring_zero_angle_rad)
        spring += config.catch_torque * doublet(half, q - half)
        friction = -config.dynamic_friction_torque * s(config.motion_threshold, w)
        friction -= config.static_friction_torque * doublet(config.motion_threshold, w) + config.viscous_friction * w
        assert hinge.CalcHingeSpringTorque(q) == pytest.approx(spring, abs=1e-13)
        assert hinge.CalcHingeFrictionalTorque(w) == pytest.approx(friction, abs=1e-13)


def test_friction_is_odd_and_opposes_the_motion():
    """tree (c) 1 and 14."""
    _, hinge = door()
    assert hinge.CalcHingeFrictionalTorque(0.0) == 0.0
    for rate in np.geomspace(1e-6, 10.0, 50):
        torque = hinge.CalcHingeFrictionalTorque(rate)
        assert torque < 0.0
        assert hinge.CalcHingeFrictionalTorque(-rate) == -torque


def test_the_catch_holds_the_door_shut_and_pushes_it_open_beyond_half_its_width():
    _, hinge = door(spring_constant=0.0)
    angles = np.linspace(0.0, 0.02, 101)
    torques = np.array([hinge.CalcHingeSpringTorque(q) for q in angles])
    assert (torques[:50] < 0.0).all()
    assert (torques[51:] > 0.0).all()
    fine = [hinge.CalcHingeSpringTorque(0.01 + 0.01 * x) for x in np.linspace(0.5, 0.8, 3001)]
    assert max(fine) / 15.0 == pytest.approx(0.7698, abs=1e-4)  # 4 / (3 sqrt 3)


@pytest.mark.parametrize("config", [DoorHingeConfig(), wide_hinge(mbcli())], ids=["default", "wide"])
def test_the_stored_energy_loses_what_the_spring_torque_gives(config):
    """tree (c) 14: d(PE)/dq = -CalcHingeSpringTorque, PE(0) = 0."""
    plant, hinge = door(config)
    assert hinge.CalcHingeStoredEnergy(0.0) == pytest.approx(0.0, abs=1e-15)
    step = 1e-4 * config.catch_width
    for q in [*np.linspace(-0.02, 0.04, 25), 0.5, -1.0, 2.0]:
        values = [hinge.CalcHingeStoredEnergy(q + k * step) for k in (-2, -1, 1, 2)]
        slope = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * step)
        assert slope == pytest.approx(-hinge.CalcHingeSpringTorque(q), abs=1e-7)
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [0.7])
    assert hinge.CalcPotentialEnergy(context) == hinge.CalcHingeStoredEnergy(0.7)


def test_without_a_width_there_is_no_catch_and_without_a_threshold_only_viscous_friction():
    """tree (c) 14: no division by zero."""
    plant, hinge = door(catch_width=0.0, motion_threshold=0.0)
    for q in (-0.1, 0.0, 0.3):
        assert hinge.CalcHingeSpringTorque(q) == pytest.approx(-1.5 * (q + 1.5))
        assert hinge.CalcHingeStoredEnergy(q) == pytest.approx(0.75 * ((q + 1.5) ** 2 - 1.5**2), abs=1e-15)
    for w in (-2.0, 0.0, 0.5):
        assert hinge.CalcHingeFrictionalTorque(w) == -w
    context = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(context, [0.3, 0.5])
    np.testing.assert_allclose(plant.CalcRequiredForces(context, gravity=False), [1.5 * 1.8 + 0.5])
    assert hinge.config().catch_width == 0.0


@pytest.mark.parametrize("name", DEFAULTS)
def test_negative_and_not_finite_constants_are_refused(name):
    """tree (c) 14."""
    plant = MultibodyPlant(0.0)
    joint = plant.AddJoint(
        RevoluteJoint("pin", plant.world_frame(), plant.AddRigidBody("door").body_frame(), [0.0, 0.0, 1.0])
    )
    values = [np.nan, np.inf] if name == "spring_zero_angle_rad" else [-0.1, np.nan, np.inf]
    for value in values:
        with pytest.raises(RuntimeError, match=f"'pin'.*{name}.*{value}"):
            DoorHinge(joint, DoorHingeConfig(**{name: value}))
    assert plant.num_force_elements() == 1


def test_a_hinge_belongs_to_a_revolute_joint_of_its_plant():
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("door")
    joint = plant.AddJoint(RevoluteJoint("pin", plant.world_frame(), body.body_frame(), [0.0, 0.0, 1.0]))
    with pytest.raises(TypeError, match="RevoluteJoint"):
        DoorHinge(PrismaticJoint("rail", plant.world_frame(), body.body_frame(), [1.0, 0.0, 0.0]), DoorHingeConfig())
    hinge = DoorHinge(joint, DoorHingeConfig())
    with pytest.raises(RuntimeError, match="not been added"):
        hinge.joint()
    with pytest.raises(RuntimeError, match="not part of this plant"):
        MultibodyPlant(0.0).AddForceElement(hinge)
    plant.AddForceElement(hinge)
    assert hinge.joint() is joint
    assert hinge.model_instance() == default_model_instance()


def test_a_closed_door_stays_shut_and_an_open_one_comes_to_rest():
    plant, hinge = door()
    context = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(context, [0.004, 0.0])
    Simulator(plant, context).AdvanceTo(0.02)
    assert plant.GetPositions(context)[0] < 0.004  # the catch pulls it in
    plant.SetPositionsAndVelocities(context, [0.5, 1.0])
    context.SetTime(0.0)
    Simulator(plant, context).AdvanceTo(0.5)
    # the friction of 3 N m holds a spring of 3 N m nearly still: it creeps by less than the threshold
    assert abs(plant.GetVelocities(context)[0]) < 2.0 * hinge.config().motion_threshold


@pytest.mark.parametrize("spring", [0.0, 1.5])
def test_what_a_swinging_door_loses_is_the_work_of_its_hinge(spring):
    plant, _ = door(time_step=1e-3, spring_constant=spring)
    balance, _ = balance_of(plant, 0.1, [0.5], [1.0])
    assert balance.force_elements < -0.05
    assert balance.energy_change == pytest.approx(balance.force_elements, rel=1e-5)
    assert abs(balance.unexplained) < 1e-12


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("wide", [False, True])
def test_torques_agree_with_pydrake(wide):
    values = []
    for lib in (mbcli(), pydrake()):
        plant = lib.MultibodyPlant(0.0)
        body = plant.AddRigidBody("door", lib.SpatialInertia.SolidBoxWithMass(1.0, 1.0, 1.0, 1.0))
        joint = plant.AddJoint(lib.RevoluteJoint("pin", plant.world_frame(), body.body_frame(), [0.0, 0.0, 1.0]))
        hinge = plant.AddForceElement(lib.DoorHinge(joint, wide_hinge(lib) if wide else lib.DoorHingeConfig()))
        plant.Finalize()
        context = plant.CreateDefaultContext()
        rows = []
        for q, w in np.random.default_rng(2).normal(size=(50, 2)) * [0.02, 0.002] + [0.01, 0.0]:
            plant.SetPositionsAndVelocities(context, [q, w])
            torques = hinge.CalcHingeSpringTorque(q), hinge.CalcHingeFrictionalTorque(w), hinge.CalcHingeTorque(q, w)
            rows.append([*torques, plant.EvalPotentialEnergy(context)])
        values.append(rows)
    np.testing.assert_allclose(*values, rtol=1e-10, atol=1e-12)
