"""Which link hangs on which, the order of coordinates, welded groups, floating bases, loops."""

import random

import numpy as np
import pytest
from random_trees import joints_of, random_inertia, random_plant

from mbcli.common.topology import Edge, Mobod, spanning_forest
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.state.context import Context
from mbcli.multibody.tree import RevoluteJoint, WeldJoint


def forest(num_links, *pairs):
    """The mobilized links of (parent, child) pairs, in order."""
    return spanning_forest(num_links, [Edge(k, *pair) for k, pair in enumerate(pairs)])[0]


def order(num_links, *pairs):
    return [mobod.link for mobod in forest(num_links, *pairs)]


# order, in closed form


def test_a_chain_is_numbered_from_world_whatever_the_order_of_its_joints():
    assert forest(4, (2, 3), (0, 1), (1, 2)) == [Mobod(1, 0, 1, False), Mobod(2, 1, 2, False), Mobod(3, 2, 0, False)]


def test_coordinates_go_depth_first_with_children_in_the_order_of_their_joints():
    #   0 - 1 - 2 - 4
    #         \ 3 - 5
    assert order(6, (0, 1), (1, 3), (1, 2), (2, 4), (3, 5)) == [1, 3, 5, 2, 4]


def test_joints_to_world_start_trees_in_their_order():
    assert order(5, (0, 3), (0, 1), (3, 4), (1, 2)) == [3, 4, 1, 2]


def test_a_joint_whose_child_is_inboard_is_reversed():
    assert forest(4, (1, 0), (2, 1), (2, 3)) == [Mobod(1, 0, 0, True), Mobod(2, 1, 1, True), Mobod(3, 2, 2, False)]


def test_links_without_joints_float_in_the_order_of_their_indices():
    assert forest(4) == [Mobod(1, 0, None, False), Mobod(2, 0, None, False), Mobod(3, 0, None, False)]


def test_a_link_that_is_no_child_is_the_base():
    assert order(4, (3, 2), (2, 1)) == [3, 2, 1]


def test_of_several_such_links_the_parent_of_most_joints_is_the_base():
    # 4 is the parent of two joints, 1 of one; 2 hangs on both
    assert forest(5, (1, 2), (4, 2), (4, 3)) == [
        Mobod(4, 0, None, False),
        Mobod(2, 4, 1, False),
        Mobod(1, 2, 0, True),
        Mobod(3, 4, 2, False),
    ]


def test_trees_on_world_come_before_floating_ones():
    assert order(4, (0, 3)) == [3, 1, 2]


def test_the_forest_of_a_long_chain_needs_no_deep_stack():
    n = 20_000
    assert order(n + 1, *((k, k + 1) for k in range(n))) == list(range(1, n + 1))


@pytest.mark.parametrize(
    ("pairs", "loops"),
    [
        ([(0, 1), (1, 2), (0, 2)], [2]),  # the joint that comes last, whatever is nearer to World
        ([(0, 2), (0, 1), (1, 2)], [2]),
        ([(1, 2), (2, 3), (3, 1)], [2]),  # a floating ring
        ([(0, 1), (0, 1)], [1]),  # two joints between the same links
        ([(0, 1), (1, 2), (2, 3), (3, 0)], [3]),
        ([(3, 4), (0, 1), (4, 3), (1, 4), (0, 3)], [2, 4]),  # two rings that share a joint
    ],
)
def test_a_joint_between_links_that_are_connected_already_closes_a_loop(pairs, loops):
    """multibody_tree (c) 17"""
    num_links = 1 + max(max(pair) for pair in pairs)
    mobods, found = spanning_forest(num_links, [Edge(k, *pair) for k, pair in enumerate(pairs)])
    assert len(mobods) == num_links - 1
    assert {m.joint for m in mobods if m.joint is not None}.isdisjoint(found)
    assert found == loops


@pytest.mark.parametrize("seed", range(20))
def test_every_link_is_mobilized_once_and_after_its_inboard_link(seed):
    rng = random.Random(seed)
    num_links, edges = random_forest(rng)
    mobods, loops = spanning_forest(num_links, [Edge(k, a, b) for k, (a, b, _) in enumerate(edges)])
    assert loops == []
    assert sorted(m.link for m in mobods) == list(range(1, num_links))
    placed = {0}
    for m in mobods:
        assert m.inboard in placed
        placed.add(m.link)
        if m.joint is not None:
            parent, child, _ = edges[m.joint]
            assert (m.inboard, m.link) == ((child, parent) if m.reversed else (parent, child))
    assert sorted(m.joint for m in mobods if m.joint is not None) == list(range(len(edges)))


# in a plant


def ring(kind):
    plant = MultibodyPlant(0.0)
    inertia = random_inertia(np.random.default_rng(0))
    bodies = [plant.world_body(), *(plant.AddRigidBody(f"link{n}", inertia) for n in range(2))]
    for n, body in enumerate(bodies):
        other = bodies[(n + 1) % 3]
        joint = RevoluteJoint(f"joint{n}", body.body_frame(), other.body_frame(), [0.0, 0.0, 1.0])
        if kind == "weld":
            joint = WeldJoint(f"joint{n}", body.body_frame(), other.body_frame())
        plant.AddJoint(joint)
    return plant


@pytest.mark.parametrize(("kind", "rest"), [("revolute", 2), ("weld", 0)])
def test_a_ring_of_bodies_moves_as_far_as_its_joints_let_it(kind, rest):
    """All revolute joints of the ring are at one axis."""
    plant = ring(kind)
    plant.Finalize()
    context = Context(plant, compiled=False)
    assert ClosedChains(context).rank(context.state.q) == plant.num_velocities() - rest
    assert np.isfinite(plant.CalcForwardDynamics(context)).all()


@pytest.mark.parametrize("seed", range(5))
def test_coordinates_are_numbered_in_the_order_of_the_forest(seed):
    """The coordinates of all joints lie side by side without gaps, parents before children along each path."""
    plant = random_plant(seed, trees=2, floating_bases=2, num_bodies=12)
    moving = [j for j in joints_of(plant) if j.num_velocities()]
    for start, count in (("position_start", "num_positions"), ("velocity_start", "num_velocities")):
        expected = 0
        for joint in sorted(moving, key=lambda j: getattr(j, start)()):
            assert getattr(joint, start)() == expected
            expected += getattr(joint, count)()
    model = plant.model
    assert (model.body_parent[1:] < np.arange(1, model.sizes["nbody"])).all()
    assert (model.dof_parent < np.arange(model.sizes["nv"])).all()


def test_welded_links_are_one_body_of_the_engine():
    plant = MultibodyPlant(0.0)
    inertia = random_inertia(np.random.default_rng(0))
    a, b, c, d = (plant.AddRigidBody(name, inertia) for name in "abcd")
    plant.WeldFrames(plant.world_frame(), a.body_frame())
    plant.AddJoint(RevoluteJoint("hinge", a.body_frame(), b.body_frame(), [0.0, 1.0, 0.0]))
    plant.WeldFrames(c.body_frame(), b.body_frame())  # against the tree
    plant.WeldFrames(c.body_frame(), d.body_frame())
    plant.Finalize()
    np.testing.assert_array_equal(plant.model.link_body, [0, 0, 1, 1, 1])
    assert plant.model.sizes["nbody"] == 2
    assert [plant.IsAnchored(body) for body in (a, b, c, d)] == [True, False, False, False]


# the same as pydrake's


def random_forest(rng):
    """(number of links, [(parent, child, whether a weld)]): joints in random directions, without loops."""
    n = rng.randint(2, 10)
    group = list(range(n + 1))
    edges = []
    for _ in range(rng.randint(0, 2 * n)):
        a, b = rng.sample(range(n + 1), 2)
        if rng.random() < 0.6:
            a, b = min(a, b), max(a, b)
        if group[a] != group[b]:
            group = [group[a] if g == group[b] else g for g in group]
            edges.append((a, b, rng.random() < 0.3))
    return n + 1, edges


def plant_of(num_links, edges, *, plant, inertia, revolute, weld):
    """The plant of ours or of pydrake for a forest, finalized."""
    bodies = [plant.world_body(), *(plant.AddRigidBody(f"link{n}", inertia) for n in range(1, num_links))]
    for k, (a, b, welded) in enumerate(edges):
        frames = bodies[a].body_frame(), bodies[b].body_frame()
        plant.AddJoint(weld(f"joint{k}", *frames) if welded else revolute(f"joint{k}", *frames, [0.0, 0.0, 1.0]))
    plant.Finalize()
    return plant


@pytest.mark.peers("pydrake")
def test_coordinates_of_200_random_forests_are_those_of_pydrake():
    from pydrake.math import RigidTransform
    from pydrake.multibody import tree as drake
    from pydrake.multibody.plant import MultibodyPlant as DrakePlant

    inertia = drake.SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.2, 0.3)
    several_bases = reversed_joints = 0
    for seed in range(200):
        num_links, edges = random_forest(random.Random(seed))
        ours = plant_of(
            num_links,
            edges,
            plant=MultibodyPlant(0.0),
            inertia=random_inertia(np.random.default_rng(0)),
            revolute=RevoluteJoint,
            weld=WeldJoint,
        )
        theirs = plant_of(
            num_links,
            edges,
            plant=DrakePlant(0.0),
            inertia=inertia,
            revolute=drake.RevoluteJoint,
            weld=lambda name, F, M: drake.WeldJoint(name, F, M, RigidTransform()),
        )
        assert ours.GetPositionNames() == theirs.GetPositionNames(), seed
        assert ours.GetVelocityNames() == theirs.GetVelocityNames(), seed
        bases = sorted(int(i) for i in ours.GetFloatingBaseBodies())
        assert bases == sorted(int(i) for i in theirs.GetFloatingBaseBodies()), seed
        several_bases += len(bases) > 1
        reversed_joints += bool(ours.model.body_reversed.any()) or any(a > b for a, b, _ in edges)
    assert several_bases > 20
    assert reversed_joints > 100
