"""Actuators: table (a) rows 23 and 39 and (c) 27 of the tree specification, section 9 of the plant specification."""

import inspect
import re

import numpy as np
import pytest
from random_trees import random_inertia, random_plant

from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import (
    JointActuator,
    PdControllerGains,
    PlanarJoint,
    PrismaticJoint,
    RevoluteJoint,
    SpatialInertia,
)


def motors(finalize=True):
    """A chain of three bodies, a planar joint between two of one degree of freedom, whose motors come in reverse."""
    plant = MultibodyPlant(0.01)
    parent, joints = plant.world_body(), []
    for n, make in enumerate(
        (
            lambda *f: RevoluteJoint(*f, [0, 0, 1]),
            PlanarJoint,
            lambda *f: PrismaticJoint(*f, [1, 0, 0]),
        )
    ):
        body = plant.AddRigidBody(f"body{n}", random_inertia(np.random.default_rng(n)))
        joints.append(plant.AddJoint(make(f"joint{n}", parent.body_frame(), body.body_frame())))
        parent = body
    slider = plant.AddJointActuator("slider", joints[2], 5.0)
    motor = plant.AddJointActuator("motor", joints[0])
    if finalize:
        plant.Finalize()
    return plant, slider, motor


def test_the_public_names():
    public = {name for name in dir(JointActuator) if not name.startswith("_")}
    expected = """GetParentPlant SetGearRatio SetRotorInertia calc_reflected_inertia default_gear_ratio
    default_reflected_inertia default_rotor_inertia effort_limit gear_ratio get_actuation_vector get_controller_gains
    has_controller index input_start is_ephemeral joint model_instance name num_inputs rotor_inertia scoped_name
    set_actuation_vector set_controller_gains set_default_gear_ratio set_default_rotor_inertia set_effort_limit"""
    # what plants and compilation use, beside pydrake's names
    of_plants = """check_context default_of index_number instance_index join key parent_plant pd_law place
    replace_default replace_gains"""
    assert public == set(f"{expected} {of_plants}".split())


@pytest.mark.peers("pydrake")
def test_names_and_argument_names_are_those_of_pydrake():
    from pydrake.multibody.tree import JointActuator as theirs

    for name in (name for name in dir(theirs) if not name.startswith("_")):
        documented = re.match(r"\w+\(self: [\w.]+(.*)\) -> ", getattr(theirs, name).__doc__ or "")
        arguments = re.findall(r", (\w+): ", documented.group(1)) if documented else []
        ours = list(inspect.signature(getattr(JointActuator, name)).parameters)[1:]
        assert [a for a in ours if a != "u_instance"] == arguments, name  # u_instance: on the reference page


def test_an_actuator_drives_a_joint_of_one_degree_of_freedom():
    """27: each has one input, in the order of their indices; the planar joint can have none."""
    plant, slider, motor = motors()
    assert (slider.num_inputs(), motor.num_inputs()) == (1, 1)
    assert (slider.input_start(), motor.input_start()) == (0, 1)
    assert slider.joint() is plant.GetJointByName("joint2")
    assert motor.GetParentPlant() is plant
    with pytest.raises(RuntimeError, match="actuator 'm': joint 'joint1' has 3 degrees of freedom, not one"):
        JointActuator("m", plant.GetJointByName("joint1"))


def test_input_start_before_and_outside_a_plant():
    plant, slider, motor = motors(finalize=False)
    assert (slider.input_start(), motor.input_start()) == (0, 1)
    alone = JointActuator("alone", plant.GetJointByName("joint0"))
    assert alone.input_start() == -1
    for ask in (alone.GetParentPlant, alone.index, lambda: alone.get_actuation_vector(np.zeros(2))):
        with pytest.raises(RuntimeError, match="alone.* has not been added to a plant"):
            ask()


def test_the_part_of_the_actuation_vector():
    """27: only this actuator's entry is read and written; wrong sizes raise and change nothing."""
    _, slider, motor = motors()
    u = np.array([1.0, 2.0])
    assert (slider.get_actuation_vector(u).tolist(), motor.get_actuation_vector(u).tolist()) == ([1.0], [2.0])
    motor.set_actuation_vector([7.0], u)
    assert u.tolist() == [1.0, 7.0]
    slider.set_actuation_vector(u_instance=[8.0], u=u)  # the argument's name on the reference page
    assert u.tolist() == [8.0, 7.0]
    part = motor.get_actuation_vector(u)
    part[0] = 99.0
    assert u.tolist() == [8.0, 7.0]
    for wrong in (np.zeros(3), np.zeros(1), np.zeros((2, 1)), None):
        with pytest.raises(RuntimeError, match="actuator 'motor' needs an actuation vector of 2 elements"):
            motor.set_actuation_vector([1.0], wrong)
        with pytest.raises(RuntimeError, match="actuator 'motor' needs an actuation vector of 2 elements"):
            motor.get_actuation_vector(wrong)
    for wrong in ([1.0, 2.0], []):
        with pytest.raises(RuntimeError, match=f"actuator 'motor' has 1 input, not {len(wrong)}"):
            motor.set_actuation_vector(wrong, u)
    assert u.tolist() == [8.0, 7.0]


def test_effort_limits_are_positive_and_infinite_where_not_given():
    plant, slider, motor = motors()
    assert (slider.effort_limit(), motor.effort_limit()) == (5.0, np.inf)
    slider.set_effort_limit(6.5)
    assert slider.effort_limit() == 6.5
    for wrong in (0.0, -1.0, np.nan):
        with pytest.raises(RuntimeError, match=f"actuator 'slider': effort limit must be .* it is {wrong}"):
            slider.set_effort_limit(wrong)
        with pytest.raises(RuntimeError, match=f"actuator 'm': effort limit must be .* it is {wrong}"):
            JointActuator("m", plant.GetJointByName("joint0"), wrong)
    assert slider.effort_limit() == 6.5
    slider.set_effort_limit(np.inf)
    assert slider.effort_limit() == np.inf
    np.testing.assert_array_equal(plant.GetEffortUpperLimits(), [np.inf, np.inf])


def test_defaults_of_rotor_and_gear():
    _, slider, _ = motors(finalize=False)
    assert (slider.default_rotor_inertia(), slider.default_gear_ratio(), slider.default_reflected_inertia()) == (
        0,
        1,
        0,
    )
    slider.set_default_rotor_inertia(0.002)
    slider.set_default_gear_ratio(-30.0)
    assert (slider.default_rotor_inertia(), slider.default_gear_ratio()) == (0.002, -30.0)
    assert slider.default_reflected_inertia() == pytest.approx(1.8, rel=1e-15)
    for wrong in (-0.1, np.nan, np.inf):
        with pytest.raises(RuntimeError, match=f"actuator 'slider': rotor inertia must be .*, it is {wrong}"):
            slider.set_default_rotor_inertia(wrong)
    for wrong in (np.nan, np.inf):
        with pytest.raises(RuntimeError, match=f"actuator 'slider': gear ratio must be finite, it is {wrong}"):
            slider.set_default_gear_ratio(wrong)
    assert slider.default_reflected_inertia() == pytest.approx(1.8, rel=1e-15)


def test_defaults_of_rotor_and_gear_are_set_before_finalize():
    _, slider, _ = motors()
    with pytest.raises(RuntimeError, match=r"actuator 'slider': the plant is finalized; SetRotorInertia\(\)"):
        slider.set_default_rotor_inertia(0.1)
    with pytest.raises(RuntimeError, match=r"actuator 'slider': the plant is finalized; SetGearRatio\(\)"):
        slider.set_default_gear_ratio(0.1)


def test_rotor_and_gear_per_context_enter_its_mass_matrix_once():
    """27, 11: on the diagonal, and in no other context nor in the defaults."""
    plant, slider, motor = motors()
    context, other = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    M = plant.CalcMassMatrix(other)
    slider.SetRotorInertia(context, 0.002)
    slider.SetGearRatio(context, -30.0)
    assert (slider.rotor_inertia(context), slider.gear_ratio(context)) == (0.002, -30.0)
    assert slider.calc_reflected_inertia(context) == pytest.approx(1.8, rel=1e-15)
    assert (slider.rotor_inertia(other), slider.gear_ratio(other), slider.calc_reflected_inertia(other)) == (0, 1, 0)
    assert slider.default_reflected_inertia() == motor.calc_reflected_inertia(context) == 0.0
    added = np.zeros_like(M)
    d = slider.joint().velocity_start()
    added[d, d] = 1.8
    np.testing.assert_allclose(plant.CalcMassMatrix(context) - M, added, rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(plant.CalcMassMatrix(other), M)
    for wrong in (-0.1, np.nan):
        with pytest.raises(RuntimeError, match=f"actuator 'slider': rotor inertia must be .* it is {wrong}"):
            slider.SetRotorInertia(context, wrong)
    with pytest.raises(RuntimeError, match="actuator 'slider': gear ratio must be finite, it is nan"):
        slider.SetGearRatio(context, np.nan)
    foreign = motors()[0].CreateDefaultContext()
    for call in (
        lambda: slider.SetRotorInertia(foreign, 0.1),
        lambda: slider.SetGearRatio(foreign, 0.1),
        lambda: slider.rotor_inertia(foreign),
        lambda: slider.calc_reflected_inertia(foreign),
    ):
        with pytest.raises(RuntimeError, match="context belongs to another plant"):
            call()
    assert slider.calc_reflected_inertia(context) == pytest.approx(1.8, rel=1e-15)


def test_defaults_are_what_a_new_context_starts_from():
    plant = random_plant(3)
    context = plant.CreateDefaultContext()
    actuators = [plant.get_joint_actuator(index) for index in plant.GetJointActuatorIndices()]
    assert len(actuators) >= 2
    for actuator in actuators:
        assert actuator.default_reflected_inertia() > 0.0
        assert actuator.calc_reflected_inertia(context) == actuator.default_reflected_inertia()


def test_controller_gains():
    _, slider, motor = motors(finalize=False)
    gains = PdControllerGains(p=100.0, d=2.0)
    assert not slider.has_controller()
    slider.set_controller_gains(gains)
    gains.p = 5.0  # its own copy
    assert slider.has_controller()
    assert not motor.has_controller()
    assert (slider.get_controller_gains().p, slider.get_controller_gains().d) == (100.0, 2.0)
    for wrong in (-1.0, np.nan, np.inf):
        for name in ("p", "d"):
            with pytest.raises(
                RuntimeError, match=f"actuator 'slider': gain {name} must be finite and .* it is {wrong}"
            ):
                slider.set_controller_gains(PdControllerGains(**{name: wrong}))
    assert slider.get_controller_gains() == PdControllerGains(p=100.0, d=2.0)
    slider.set_controller_gains(PdControllerGains(d=1.0))
    assert slider.has_controller()
    slider.set_controller_gains(PdControllerGains())
    assert not slider.has_controller()
    with pytest.raises(RuntimeError, match="actuator 'slider' has no controller"):
        slider.get_controller_gains()


def test_gains_cannot_be_set_after_finalize():
    plant = MultibodyPlant(0.01)
    body = plant.AddRigidBody("body", SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.2, 0.3))
    joint = plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), body.body_frame(), [0, 0, 1]))
    motor = plant.AddJointActuator("motor", joint)
    plant.Finalize()
    with pytest.raises(RuntimeError, match="'motor'.*finalized"):
        motor.set_controller_gains(PdControllerGains(p=1.0, d=1.0))
    assert not motor.has_controller()
