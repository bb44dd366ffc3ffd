"""Masks of degrees of freedom and limits of joints, also beside pydrake."""

import numpy as np
import pytest
from repository import SAMPLES

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.planning import DofMask, JointLimits

ARM = SAMPLES / "arm7.urdf"


def two_arms(parser_kind, plant_kind):
    plant = plant_kind(0.0)
    parser = parser_kind(plant)
    parser.SetAutoRenaming(True)
    for _ in range(2):
        parser.AddModels(str(ARM))
    plant.Finalize()
    return plant


@pytest.fixture(scope="module")
def arms():
    return two_arms(Parser, MultibodyPlant)


def test_masks_are_sets():
    a, b = DofMask([True, False, True, False]), DofMask([True, True, False, False])
    assert a.Union(b) == DofMask([True, True, True, False]) and a.Intersect(b) == DofMask([True, False, False, False])
    assert a.Subtract(b) == DofMask([False, False, True, False]) and a.Complement().Complement() == a != b
    assert (a.size(), a.count(), a[2], a[3]) == (4, 2, True, False)
    assert a.GetSelectedToFullIndex() == [0, 2] and a.GetFullToSelectedIndex() == [0, None, 1, None]
    assert DofMask(3, True).count() == 3 and DofMask().size() == 0
    for wrong in (lambda: a.Union(DofMask(3, True)), lambda: DofMask(-1, True)):
        with pytest.raises(RuntimeError):
            wrong()
    with pytest.raises(IndexError):
        a[4]


def test_a_mask_of_a_model_has_its_joints(arms):
    second = arms.GetModelInstanceByName("arm7_1")
    mask = DofMask.MakeFromModel(arms, second)
    assert mask == DofMask.MakeFromModel(arms, "arm7_1") and mask.count() == 7
    assert {arms.get_joint(k).model_instance() for k in mask.GetJoints(arms)} == {second}
    floating = MultibodyPlant(0.0)
    Parser(floating).AddModels(str(SAMPLES / "quadruped.urdf"))
    floating.Finalize()
    with pytest.raises(RuntimeError, match="velocities are the derivatives"):
        DofMask.MakeFromModel(floating, "quadruped")


def test_arguments_have_the_names_of_pydrake(arms):
    mask = DofMask.MakeFromModel(plant=arms, model_name="arm7_1")
    assert mask == DofMask.MakeFromModel(arms, model_index=arms.GetModelInstanceByName("arm7_1"))
    assert DofMask(size=2, value=True) == DofMask(values=[True, True])
    whole = JointLimits(plant=arms, require_finite_positions=True)
    part = JointLimits(other=whole, active_dof=mask)
    np.testing.assert_array_equal(JointLimits(arms, mask, True).position_lower(), part.position_lower())
    names = [f"{what}_{side}" for what in ("position", "velocity", "acceleration") for side in ("lower", "upper")]
    assert JointLimits(**{name: [1.0] for name in names}).CheckInVelocityLimits([1.0])
    for wrong in ({"plant": arms, "active": mask}, {"other": arms, "active_dof": mask}, {"position_lower": [1.0]}):
        with pytest.raises(TypeError, match="expected a plant"):
            JointLimits(**wrong)


def test_limits_of_a_plant_and_of_some_of_it(arms):
    whole, mask = JointLimits(arms), DofMask.MakeFromModel(arms, "arm7_1")
    np.testing.assert_array_equal(whole.position_upper(), arms.GetPositionUpperLimits())
    part = JointLimits(arms, mask)
    np.testing.assert_array_equal(part.velocity_lower(), whole.velocity_lower()[mask.selected])
    np.testing.assert_array_equal(JointLimits(whole, mask).position_lower(), part.position_lower())
    high = part.position_upper()
    assert part.CheckInPositionLimits(high) and not part.CheckInPositionLimits(high + 1e-3)
    assert part.CheckInPositionLimits(high + 1e-3, 2e-3)
    for wrong in (
        lambda: part.CheckInVelocityLimits(np.zeros(3)),
        lambda: part.CheckInVelocityLimits(np.full(7, np.nan)),
        lambda: part.CheckInVelocityLimits(np.zeros(7), -1.0),
        lambda: JointLimits(arms, require_finite_accelerations=True),
        lambda: JointLimits(arms, DofMask(3, True)),
        lambda: JointLimits([1.0], [0.0], [0.0], [0.0], [0.0], [0.0]),
        lambda: JointLimits(MultibodyPlant(0.0)),
    ):
        with pytest.raises(RuntimeError):
            wrong()


@pytest.mark.peers("pydrake")
def test_masks_and_limits_are_those_of_pydrake(arms):
    from pydrake import planning
    from pydrake.multibody.parsing import Parser as TheirParser
    from pydrake.multibody.plant import MultibodyPlant as TheirPlant

    theirs = two_arms(TheirParser, TheirPlant)
    own, other = DofMask.MakeFromModel(arms, "arm7"), planning.DofMask.MakeFromModel(theirs, "arm7")
    assert own.GetFullToSelectedIndex() == other.GetFullToSelectedIndex()
    assert list(map(int, own.GetJoints(arms))) == list(map(int, other.GetJoints(theirs)))
    limits, expected = JointLimits(arms, own), planning.JointLimits(theirs, other)
    for name in ("position_lower", "position_upper", "velocity_lower", "velocity_upper", "acceleration_upper"):
        np.testing.assert_array_equal(getattr(limits, name)(), getattr(expected, name)())
