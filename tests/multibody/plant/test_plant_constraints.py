"""Constraints as elements of a plant: what is kept, what is refused, what a context changes."""

import copy
import math
import pickle

import numpy as np
import pytest

from mbcli.errors import ModelError
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.plant import (
    DiscreteContactApproximation,
    DistanceConstraintParams,
    MultibodyPlant,
    MultibodyPlant_,
)
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import (
    FixedOffsetFrame,
    JointIndex,
    MultibodyConstraintId,
    PrismaticJoint,
    RevoluteJoint,
    SpatialInertia,
    UniversalJoint,
    WeldJoint,
)

ORIGIN = np.zeros(3)
IDENTITY = RigidTransform()


class Chain:
    """Bodies a, b, c, d on World by joints of 1, 1, 2 and 0 degrees of freedom; a, b, c in a chain."""

    def __init__(self, time_step=0.0):
        self.plant = plant = MultibodyPlant(time_step)
        inertia = SpatialInertia.SolidSphereWithMass(1.0, 0.1)
        self.a, self.b, self.c, self.d = (plant.AddRigidBody(name, inertia) for name in "abcd")
        tip = plant.AddFrame(FixedOffsetFrame("tip", self.a.body_frame(), RigidTransform([0.5, 0.0, 0.0])))
        self.turn = plant.AddJoint(RevoluteJoint("turn", plant.world_frame(), self.a.body_frame(), [0, 0, 1]))
        self.slide = plant.AddJoint(PrismaticJoint("slide", tip, self.b.body_frame(), [1, 0, 0]))
        self.cross = plant.AddJoint(UniversalJoint("cross", self.b.body_frame(), self.c.body_frame()))
        self.fixed = plant.AddJoint(WeldJoint("fixed", plant.world_frame(), self.d.body_frame(), IDENTITY))


def add_one_of_each(chain):
    plant = chain.plant
    X = RigidTransform(RollPitchYaw([0.1, 0.2, 0.3]), [1.0, 2.0, 3.0])
    return {
        "weld": plant.AddWeldConstraint(chain.a, X, chain.d, IDENTITY),
        "tendon": plant.AddTendonConstraint([chain.turn.index(), chain.slide.index()], [0.5, -1.0], upper_limit=2.0),
        "ball": plant.AddBallConstraint(chain.a, [1, 0, 0], chain.c, ORIGIN),
        "distance": plant.AddDistanceConstraint(chain.a, ORIGIN, chain.c, [0, 0, 1], 0.4),
        "coupler": plant.AddCouplerConstraint(chain.turn, chain.slide, -2.0, 0.25),
    }


# ------------------------------------------------------------------------------------------------ adding


def test_the_plant_keeps_constraints_in_the_order_of_adding_with_all_they_say():
    chain = Chain()
    add_one_of_each(chain)
    weld, tendon, ball, distance, coupler = chain.plant.elements.constraints
    assert [c.kind for c in chain.plant.elements.constraints] == ["weld", "tendon", "ball", "distance", "coupler"]
    assert weld.bodies() == (chain.a, chain.d)
    assert weld.parameters()["X_AP"][:3, 3].tolist() == [1, 2, 3]
    assert tendon.joints() == (chain.turn, chain.slide)
    assert [b.name() for b in tendon.bodies()] == ["world", "a", "b"]
    assert tendon.parameters()["a"].tolist() == [0.5, -1.0]
    limits = ("offset", "lower_limit", "upper_limit", "stiffness", "damping")
    assert [tendon.parameters()[name] for name in limits] == [0, -math.inf, 2, math.inf, 0]
    assert ball.parameters()["p_AP"].tolist() == [1, 0, 0]
    assert distance.parameters()["distance"] == 0.4
    assert distance.parameters()["stiffness"] == math.inf
    assert coupler.joints() == (chain.turn, chain.slide)
    assert coupler.parameters() == {"gear_ratio": -2.0, "offset": 0.25}


def test_ids_come_by_kind_and_are_counted():
    chain = Chain()
    ids = add_one_of_each(chain)
    plant = chain.plant
    second = plant.AddBallConstraint(chain.b, ORIGIN, chain.d)
    order = ("coupler", "distance", "ball")
    assert plant.GetConstraintIds() == [*(ids[kind] for kind in order), second, ids["weld"], ids["tendon"]]
    assert plant.num_constraints() == 6
    assert plant.num_ball_constraints() == 2
    for kind in ("coupler", "distance", "weld", "tendon"):
        assert getattr(plant, f"num_{kind}_constraints")() == 1


def test_a_removed_constraint_is_gone_and_joints_stay_while_there_are_constraints():
    chain = Chain()
    plant = chain.plant
    ball = plant.AddBallConstraint(chain.a, ORIGIN, chain.c)
    with pytest.raises(RuntimeError, match="joint 'cross' cannot be removed"):
        plant.RemoveJoint(chain.cross)
    plant.RemoveConstraint(ball)
    assert plant.GetConstraintIds() == []
    with pytest.raises(RuntimeError, match=r"RemoveConstraint: the plant has no constraint with the id"):
        plant.RemoveConstraint(ball)
    plant.RemoveJoint(chain.cross)


def ball(c, **changes):
    return c.plant.AddBallConstraint(**{"body_A": c.a, "p_AP": ORIGIN, "body_B": c.c, "p_BQ": ORIGIN} | changes)


def weld(c, **changes):
    return c.plant.AddWeldConstraint(**{"body_A": c.a, "X_AP": IDENTITY, "body_B": c.c, "X_BQ": IDENTITY} | changes)


def distance(c, **changes):
    given = {"body_A": c.a, "p_AP": ORIGIN, "body_B": c.c, "p_BQ": ORIGIN, "distance": 1.0}
    return c.plant.AddDistanceConstraint(**given | changes)


def coupler(c, **changes):
    return c.plant.AddCouplerConstraint(**{"joint0": c.turn, "joint1": c.slide, "gear_ratio": 2.0} | changes)


def tendon(c, **changes):
    given = {"joints": [c.turn.index(), c.slide.index()], "a": [1.0, 2.0], "lower_limit": -1.0, "upper_limit": 1.0}
    return c.plant.AddTendonConstraint(**given | changes)


ADDERS = {"ball": ball, "weld": weld, "distance": distance, "coupler": coupler, "tendon": tendon}

REFUSED = {
    "a ball on one body": (ball, lambda c: {"body_B": c.a}, "ball constraint between 'a' and 'a'"),
    "a ball at no point": (ball, lambda c: {"p_AP": [1, 2]}, "p_AP must be three finite numbers"),
    "a ball at nan": (ball, lambda c: {"p_BQ": [1, 2, math.nan]}, "p_BQ must be three finite numbers"),
    "a weld on one body": (weld, lambda c: {"body_B": c.a}, "weld constraint between 'a' and 'a'"),
    "a weld at nan": (weld, lambda c: {"X_BQ": RigidTransform([0, 0, math.nan])}, "X_BQ must be finite"),
    "a distance on one body": (distance, lambda c: {"body_B": c.a}, "distance constraint between 'a' and 'a'"),
    "no distance": (distance, lambda c: {"distance": 0.0}, "greater than 0, it is 0.0; points that coincide"),
    "a distance of nan": (distance, lambda c: {"distance": math.nan}, "the distance must be finite"),
    "an endless distance": (distance, lambda c: {"distance": math.inf}, "the distance must be finite"),
    "a negative stiffness": (distance, lambda c: {"stiffness": -1.0}, "the stiffness must be greater than 0, it is -1"),
    "no stiffness": (distance, lambda c: {"stiffness": 0.0}, "the stiffness must be greater than 0"),
    "a negative damping": (distance, lambda c: {"damping": -0.5}, "the damping must be .* not negative, it is -0.5"),
    "a coupler of a weld": (coupler, lambda c: {"joint0": c.fixed}, "'fixed' of type weld has 0 degrees of freedom"),
    "a coupler of two": (coupler, lambda c: {"joint1": c.cross}, "'cross' of type universal has 2 degrees of freedom"),
    "a gear ratio of nan": (coupler, lambda c: {"gear_ratio": math.nan}, "the gear ratio must be finite"),
    "an endless offset": (coupler, lambda c: {"offset": math.inf}, "the offset must be finite"),
    "a tendon without joints": (tendon, lambda c: {"joints": []}, "it must have joints"),
    "a tendon twice at a joint": (tendon, lambda c: {"joints": [c.turn.index()] * 2}, "its joints must be different"),
    "a tendon of two": (tendon, lambda c: {"joints": [c.cross.index(), c.turn.index()]}, "'cross' .* has 2 degrees"),
    "a tendon at no joint": (tendon, lambda c: {"joints": [JointIndex(9)], "a": [1]}, "no joint with index 9"),
    "too few a": (tendon, lambda c: {"a": [1.0]}, "a must have a finite number for each of its 2 joints"),
    "limits in the wrong order": (tendon, lambda c: {"lower_limit": 2.0}, "lower limit 2.0 must not be above"),
    "no finite limit": (
        tendon,
        lambda c: {"lower_limit": None, "upper_limit": None},
        "one of its limits must be finite",
    ),
    "a soft tendon without stiffness": (tendon, lambda c: {"stiffness": 0.0}, "the stiffness must be greater than 0"),
    "a tendon with negative damping": (tendon, lambda c: {"damping": -1.0}, "the damping must be .* not negative"),
}


@pytest.mark.parametrize(("add", "changes", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_makes_no_constraint_is_refused_and_leaves_nothing(add, changes, message):
    chain = Chain()
    with pytest.raises(RuntimeError, match=message):
        add(chain, **changes(chain))
    assert chain.plant.elements.constraints == []


@pytest.mark.parametrize("add", ADDERS.values(), ids=ADDERS.keys())
def test_nothing_is_added_or_removed_after_finalize(add):
    chain = Chain()
    added = add(chain)
    chain.plant.Finalize()
    for change in (lambda: add(chain), lambda: chain.plant.RemoveConstraint(added)):
        with pytest.raises(RuntimeError, match="finalized"):
            change()


@pytest.mark.parametrize("add", [ball, weld, distance, coupler])  # a tendon takes indices, which know no plant
def test_elements_of_another_plant_are_refused(add):
    chain, other = Chain(), Chain()
    other.plant, chain.plant = chain.plant, other.plant
    with pytest.raises(RuntimeError, match="not part of this plant"):
        add(chain)


@pytest.mark.parametrize("add", ADDERS.values(), ids=ADDERS.keys())
def test_tamsi_holds_no_constraints_and_the_other_approximations_do(add):
    """Check 16 of the plant's specification."""
    for approximation in DiscreteContactApproximation:
        chain = Chain(time_step=0.01)
        chain.plant.set_discrete_contact_approximation(approximation)
        if approximation == DiscreteContactApproximation.kTamsi:
            with pytest.raises(RuntimeError, match="tamsi"):
                add(chain)
        else:
            add(chain)
            with pytest.raises(RuntimeError, match="tamsi cannot hold the constraints"):
                chain.plant.set_discrete_contact_approximation(DiscreteContactApproximation.kTamsi)


# ---------------------------------------------------------------------------------------------- finalize


def test_a_ball_without_its_second_point_takes_it_from_the_default_positions_at_finalize():
    """Check 16 of the plant's specification."""
    chain = Chain()
    plant = chain.plant
    plant.AddBallConstraint(chain.a, [0.1, 0.2, 0.3], chain.c)
    chain.turn.set_default_angle(0.7)
    chain.slide.set_default_translation(0.4)
    chain.cross.set_default_angles([0.3, -0.2])
    plant.Finalize()
    chain.turn.set_default_angle(-1.0)
    chain.slide.set_default_translation(0.0)
    (constraint,) = plant.elements.constraints
    X_AB = RigidTransform([0.9, 0.0, 0.0])
    X_BC = RigidTransform(RollPitchYaw([0.3, 0.0, 0.0]).ToRotationMatrix(), ORIGIN) @ RigidTransform(
        RollPitchYaw([0.0, -0.2, 0.0]).ToRotationMatrix(), ORIGIN
    )
    expected = (X_AB @ X_BC).inverse().multiply(np.array([0.1, 0.2, 0.3]))
    np.testing.assert_allclose(constraint.p_BQ, expected, atol=1e-15)


def test_a_plant_of_dual_numbers_finds_the_point_too():
    plant = MultibodyPlant_["AutoDiffXd"](0.0)
    body = plant.AddRigidBody("a", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    joint = plant.AddJoint(RevoluteJoint("turn", plant.world_frame(), body.body_frame(), [0, 0, 1]))
    joint.set_default_angle(0.5)
    plant.AddBallConstraint(plant.world_body(), [1, 0, 0], body)
    plant.Finalize()
    np.testing.assert_allclose(plant.elements.constraints[0].p_BQ, [np.cos(0.5), -np.sin(0.5), 0.0], atol=1e-15)


def closed_chain():
    chain = Chain()
    joint = RevoluteJoint("close", chain.d.body_frame(), chain.c.body_frame(), [0, 0, 1])
    chain.plant.AddJoint(joint)
    return chain, joint


def test_a_joint_that_closes_a_loop_becomes_a_constraint_behind_the_others():
    chain, _ = closed_chain()
    plant = chain.plant
    coupler(chain)
    plant.Finalize()
    given, cut = plant.elements.constraints
    assert (given.kind, cut.kind) == ("coupler", "loop")
    assert cut.joint in plant.elements.loop_joints
    assert cut.name == cut.joint.name()
    assert cut.parameters()["joint_type"] == cut.joint.type_name()
    assert (plant.num_constraints(), len(plant.GetConstraintIds())) == (1, 1)


# ----------------------------------------------------------------------------------------------- context


def test_a_context_switches_constraints_on_its_own():
    chain = Chain()
    ids = add_one_of_each(chain)
    plant = chain.plant
    plant.Finalize()
    context, other = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    assert all(plant.GetConstraintActiveStatus(context, i) for i in ids.values())
    plant.SetConstraintActiveStatus(context, ids["weld"], False)
    clone = context.Clone()
    plant.SetConstraintActiveStatus(context, ids["ball"], False)
    assert [c.kind for c in plant.active_constraints(context.state.parameters)] == ["tendon", "distance", "coupler"]
    assert not plant.GetConstraintActiveStatus(clone, ids["weld"])
    assert plant.GetConstraintActiveStatus(clone, ids["ball"])
    assert len(plant.active_constraints(other.state.parameters)) == 5
    plant.SetConstraintActiveStatus(context, ids["weld"], True)
    assert plant.GetConstraintActiveStatus(context, ids["weld"])
    unknown = MultibodyConstraintId.get_new_id()
    for call in (
        lambda: plant.GetConstraintActiveStatus(context, unknown),
        lambda: plant.SetConstraintActiveStatus(context, unknown, True),
    ):
        with pytest.raises(RuntimeError, match="no constraint with the id"):
            call()


def test_distance_parameters_belong_to_the_context():
    chain = Chain()
    ids = add_one_of_each(chain)
    plant = chain.plant
    default = plant.GetDefaultDistanceConstraintParams()[ids["distance"]]
    plant.Finalize()
    context = plant.CreateDefaultContext()
    longer = DistanceConstraintParams(chain.a.index(), ORIGIN, chain.c.index(), [0, 0, 1], 0.5, 100.0, 2.0)
    plant.SetDistanceConstraintParams(context, ids["distance"], longer)
    assert plant.GetDistanceConstraintParams(context) == {ids["distance"]: longer}
    assert plant.GetDistanceConstraintParams(plant.CreateDefaultContext(), ids["distance"]) is default
    assert (longer.distance(), longer.stiffness(), longer.damping()) == (0.5, 100.0, 2.0)
    assert (longer.bodyA(), longer.bodyB()) == (chain.a.index(), chain.c.index())
    assert longer.p_BQ().tolist() == [0, 0, 1]
    with pytest.raises(RuntimeError, match="no distance constraint with the id"):
        plant.GetDistanceConstraintParams(context, ids["ball"])
    with pytest.raises(RuntimeError, match="no body with index 99"):
        plant.SetDistanceConstraintParams(
            context, ids["distance"], DistanceConstraintParams(chain.a.index(), ORIGIN, 99, ORIGIN, 1.0, 1.0, 0.0)
        )


def test_distance_parameters_of_nothing_are_invalid_and_half_of_them_are_refused():
    assert not DistanceConstraintParams().bodyA().is_valid()
    with pytest.raises(TypeError):
        DistanceConstraintParams(1, ORIGIN, 2, ORIGIN, 1.0)
    with pytest.raises(RuntimeError, match="two different bodies"):
        DistanceConstraintParams(1, ORIGIN, 1, ORIGIN, 1.0, 1.0, 0.0)


def test_ids_differ_and_survive_copies():
    first, second = MultibodyConstraintId.get_new_id(), MultibodyConstraintId.get_new_id()
    assert first != second
    assert first < second
    assert copy.deepcopy(first) == first
    assert pickle.loads(pickle.dumps(first)) == first
    assert len({first, second, copy.copy(first)}) == 2
    assert first.is_valid()
    assert first.get_value() < second.get_value()
    with pytest.raises(TypeError):
        MultibodyConstraintId()


def test_a_converted_plant_has_the_same_constraints_and_takes_their_status():
    chain = Chain()
    ids = add_one_of_each(chain)
    plant = chain.plant
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetConstraintActiveStatus(context, ids["weld"], False)
    twin = plant.ToAutoDiffXd()
    assert twin.GetConstraintIds() == plant.GetConstraintIds()
    theirs = twin.CreateDefaultContext()
    theirs.SetTimeStateAndParametersFrom(context)
    assert not twin.GetConstraintActiveStatus(theirs, ids["weld"])
    assert twin.GetConstraintActiveStatus(theirs, ids["ball"])
    assert twin.elements.constraints[0].body_A is twin.GetBodyByName("a")


# ------------------------------------------------------------------------------------------------ motion


@pytest.mark.parametrize("time_step", [0.0, 0.01])
def test_a_coupler_holds_where_it_is_active(time_step, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    chain = Chain(time_step)
    plant = chain.plant
    held = coupler(chain)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    slide, turn = chain.slide.position_start(), chain.turn.position_start()
    constraint = plant.elements.constraints[0]
    q = plant.GetPositions(context)
    q[turn], q[slide] = constraint.gear_ratio * 0.1 + constraint.offset, 0.1
    v = plant.GetVelocities(context)
    v[turn], v[slide] = 0.3 * constraint.gear_ratio, 0.3
    plant.SetPositionsAndVelocities(context, np.concatenate([q, v]))
    vdot = plant.CalcForwardDynamics(context)
    assert abs(vdot[turn] - constraint.gear_ratio * vdot[slide]) < 1e-12 * np.abs(vdot).max()
    for _ in Run(plant, context, 0.02).blocks():
        pass
    q = plant.GetPositions(context)
    assert abs(q[turn] - constraint.gear_ratio * q[slide] - constraint.offset) < 1e-10
    plant.SetConstraintActiveStatus(context, held, False)
    free = plant.CalcForwardDynamics(context)
    assert abs(free[turn] - constraint.gear_ratio * free[slide]) > 1e-3


def test_springs_among_the_constraints_are_refused_at_an_instant_of_a_discrete_plant(monkeypatch):
    """Steps of it hold them, and continuous plants have them as force elements."""
    monkeypatch.setenv("MBCLI_JIT", "0")
    chain = Chain(0.01)
    plant = chain.plant
    plant.AddDistanceConstraint(chain.a, ORIGIN, chain.c, [0, 0, 1], 0.4, stiffness=10.0)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    assert plant.CalcMassMatrix(context).shape == (4, 4)
    with pytest.raises(ModelError, match="distance constraint .* is a spring, which is not an equation"):
        plant.CalcForwardDynamics(context)


# ------------------------------------------------------------------------------------------------ pydrake


@pytest.mark.peers("pydrake")
def test_ids_counts_and_refusals_are_those_of_pydrake():
    from pydrake import math as math_
    from pydrake.multibody import plant as drake, tree

    def build(plant_class, module, transform):
        plant = plant_class(0.01)
        inertia = module.SpatialInertia.SolidSphereWithMass(1.0, 0.1)
        a, b = plant.AddRigidBody("a", inertia), plant.AddRigidBody("b", inertia)
        world = plant.world_frame()
        turn = plant.AddJoint(module.RevoluteJoint("turn", world, a.body_frame(), [0, 0, 1]))
        slide = plant.AddJoint(module.PrismaticJoint("slide", a.body_frame(), b.body_frame(), [1, 0, 0]))
        calls = {
            "ball": lambda: plant.AddBallConstraint(a, ORIGIN, b, ORIGIN),
            "ball on one": lambda: plant.AddBallConstraint(a, ORIGIN, a, ORIGIN),
            "weld": lambda: plant.AddWeldConstraint(a, transform(), b, transform()),
            "weld on one": lambda: plant.AddWeldConstraint(a, transform(), a, transform()),
            "free ball": lambda: plant.AddBallConstraint(a, ORIGIN, plant.world_body()),
            "distance": lambda: plant.AddDistanceConstraint(a, ORIGIN, b, ORIGIN, 1.0),
            "distance 0": lambda: plant.AddDistanceConstraint(a, ORIGIN, b, ORIGIN, 0.0),
            "distance on one": lambda: plant.AddDistanceConstraint(a, ORIGIN, a, ORIGIN, 1.0),
            "stiffness -1": lambda: plant.AddDistanceConstraint(a, ORIGIN, b, ORIGIN, 1.0, -1.0),
            "stiffness 0": lambda: plant.AddDistanceConstraint(a, ORIGIN, b, ORIGIN, 1.0, 0.0),
            "damping -1": lambda: plant.AddDistanceConstraint(a, ORIGIN, b, ORIGIN, 1.0, 1.0, -1.0),
            "soft distance": lambda: plant.AddDistanceConstraint(a, ORIGIN, b, ORIGIN, 2.0, 3.0, 4.0),
            "coupler": lambda: plant.AddCouplerConstraint(turn, slide, 2.0),
            "coupler of one": lambda: plant.AddCouplerConstraint(turn, turn, 2.0, 1.0),
        }
        added, outcome = [], {}
        for name, call in calls.items():
            try:
                added.append(call())
                outcome[name] = True
            except RuntimeError:
                outcome[name] = False
        order = [added.index(i) for i in plant.GetConstraintIds()]
        plant.RemoveConstraint(added[0])
        lengths = sorted(p.distance() for p in plant.GetDefaultDistanceConstraintParams().values())
        plant.Finalize()
        context = plant.CreateDefaultContext()
        plant.SetConstraintActiveStatus(context, added[1], False)
        status = [plant.GetConstraintActiveStatus(context, i) for i in added[1:]]
        return outcome, order, lengths, plant.num_constraints(), status

    import mbcli.multibody.tree

    ours = build(MultibodyPlant, mbcli.multibody.tree, RigidTransform)
    assert ours == build(drake.MultibodyPlant, tree, math_.RigidTransform)
