"""Scenes that are hard on contact: nothing sinks beyond what its stiffness says, explodes or is not finite."""

import numpy as np
import pytest
from contact_scenes import APPROXIMATIONS, FALL, Scene, own_library

from mbcli.engine.runtime.kernel import compiled_by_default
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlant, MultibodyPlantConfig
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder

pytestmark = pytest.mark.skipif(not compiled_by_default(), reason="takes minutes interpreted")
LIB = own_library()
STEPS = [1e-3, 1e-2]
MOST_SINKING = 4.0  # times what springs say at rest, for what moves or tilts


def scene(approximation, h, **options):
    return Scene(LIB, h, approximation, **options)


def watch(s, until, allowed, every=0.05, speed=0.0):
    """Advances to a time; deepest and largest speed on the way, total energy at the start and at its highest.

    Nothing may be deeper than is allowed, and what a fall of two steps and this speed in one step add: solids do not
    meet before they overlap.
    """
    start = s.energy()
    allowed += 2.0 * FALL * s.h**2 + speed * s.h
    highest, deepest, fastest = start, 0.0, 0.0
    chunk = max(1, round(every / s.h))
    for _ in range(round(until / (s.h * chunk))):
        s.steps(chunk)
        assert np.isfinite(s.q).all() and np.isfinite(s.v).all()
        highest = max(highest, s.energy())
        deepest = max([deepest, *(c.point_pair().depth for c in s.contacts())])
        fastest = max(fastest, abs(s.v).max(initial=0.0))
    assert deepest < allowed, f"{deepest:.4g} m deep, {allowed:.4g} allowed"
    return {"energy": start, "highest": highest, "deepest": deepest, "fastest": fastest}


def stack(s, masses, edge=0.1, gap=0.0):
    s.ground()
    for k, mass in enumerate(masses):
        s.box(f"box_{k}", mass, (edge, edge, edge))
    s.start()
    for k in range(len(masses)):
        s.place(f"box_{k}", (0.0, 0.0, edge / 2 + k * (edge + gap)))


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_ten_boxes_stand_on_each_other(approximation, h):
    s = scene(approximation, h, stiffness=1e5)
    stack(s, [1.0] * 10)
    pair = 5e4
    watch(s, 2.0, MOST_SINKING * 10.0 * FALL / pair)
    heights = np.array([s.where(f"box_{k}")[2] for k in range(10)])
    sinking = np.cumsum(np.arange(10, 0, -1)) * FALL / pair
    np.testing.assert_allclose(heights, 0.05 + 0.1 * np.arange(10) - sinking, atol=3e-4)
    assert max(abs(s.where(f"box_{k}")[:2]).max() for k in range(10)) < 2e-3
    assert abs(s.v).max() < 5e-3


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_box_a_thousand_times_as_heavy_lies_on_a_light_one(approximation, h):
    """For sap with the threshold that is meant for such ratios: at 1 contact is as soft as suits the light one."""
    s = scene(approximation, h, stiffness=2e7)
    s.plant.set_sap_near_rigid_threshold(1e-3)
    stack(s, [0.1, 100.0], edge=0.2)
    watch(s, 1.0, MOST_SINKING * 100.1 * FALL / 1e7)
    assert s.where("box_1")[2] == pytest.approx(0.3, abs=1e-3)
    assert abs(s.where("box_1")[:2]).max() < 2e-3
    assert abs(s.v).max() < 5e-3


def cards(s):
    """Two leaning pairs, a roof across their tops, a third pair upon it."""
    size, lean = (0.09, 0.06, 0.002), 0.35
    names = []

    def pair(x, z, n):
        for side in (1, -1):
            name = f"card_{n}_{'ab'[side < 0]}"
            s.box(name, 0.01, size)
            half = 0.045
            rise = half * np.cos(lean) + 0.001 * np.sin(lean)
            shift = half * np.sin(lean) + 0.001 * np.cos(lean)
            names.append((name, (x - side * shift, 0.0, z + rise), (0.0, -side * (np.pi / 2 - lean), 0.0)))

    s.ground()
    pair(-0.04, 0.0, 0)
    pair(0.04, 0.0, 1)
    top = 0.09 * np.cos(lean) + 0.002 * np.sin(lean)
    s.box("roof", 0.01, (0.16, 0.06, 0.002))
    names.append(("roof", (0.0, 0.0, top + 0.001), (0.0, 0.0, 0.0)))
    pair(0.0, top + 0.002, 2)
    s.start()
    for name, position, rpy in names:
        s.place(name, position, rpy)
    return names


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_card_house_stands_or_falls_but_does_not_explode(approximation, h):
    s = scene(approximation, h, stiffness=2e3, friction=0.8)
    names = cards(s)
    start = s.energy()
    seen = watch(s, 1.0, 2e-3)
    assert seen["highest"] < start + 0.01 * 9 * 0.01 * FALL  # 1 cm more for all of the cards
    assert seen["fastest"] < 100.0
    if h == 1e-3 and approximation != "sap":  # it stands
        for name, position, _ in names:
            np.testing.assert_allclose(s.where(name), position, atol=5e-3)


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_row_of_dominoes_falls_to_its_end(approximation, h):
    count, size = 10, (0.02, 0.04, 0.1)
    s = scene(approximation, h, stiffness=1e4, friction=0.4)
    s.ground()
    for k in range(count):
        s.box(f"domino_{k}", 0.03, size)
    s.start()
    for k in range(count):
        s.place(f"domino_{k}", (0.05 * k, 0.0, 0.05))
    s.place("domino_0", (0.0, 0.0, 0.0505), velocity=(0.2, 0.0, 0.0), spin=(0.0, 4.0, 0.0))
    seen = watch(s, 1.5, 2e-3, speed=1.7)
    assert seen["highest"] < 1.05 * seen["energy"]
    heights = [s.where(f"domino_{k}")[2] for k in range(count)]
    assert max(heights) < 0.04, heights  # none stands
    assert min(heights) > 0.008
    assert abs(s.v).max() < 1.0


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_chain_of_fifty_links_falls_on_the_floor(approximation, h):
    """Hinges about y and z in turn; it falls from 30 cm, lies down and stays."""
    links, length = 50, 0.06
    s = scene(approximation, h, stiffness=1e4)
    s.ground()
    plant = s.plant
    bodies = [s.ball(f"link_{k}", 0.05, 0.02) for k in range(links)]
    for k in range(links - 1):
        at = plant.AddFrame(
            LIB.FixedOffsetFrame(f"end_{k}", bodies[k].body_frame(), LIB.RigidTransform([length, 0.0, 0.0]))
        )
        axis = [0.0, 1.0, 0.0] if k % 2 else [0.0, 0.0, 1.0]
        plant.AddJoint(LIB.RevoluteJoint(f"hinge_{k}", at, bodies[k + 1].body_frame(), axis, 1e-4))
    s.start()
    q = s.q
    q[6] = 0.3
    q[7:] = np.where(np.arange(links - 1) % 2, 0.005, 0.15) * np.random.default_rng(0).normal(size=links - 1)
    s.set(q, np.zeros(len(s.v)))
    seen = watch(s, 2.5, 5e-3, every=0.1, speed=2.5)
    assert seen["highest"] < seen["energy"] * 1.02
    heights = [s.where(f"link_{k}")[2] for k in range(links)]
    assert min(heights) > 0.015 and np.median(heights) < 0.03
    assert abs(s.v[3:6]).max() < 0.3


ROTOR_IN_TRUNK = """<robot name="leg"><link name="trunk"><inertial><mass value="5"/>
<inertia ixx="0.02" iyy="0.07" izz="0.07" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.4 0.1 0.1"/></geometry></collision></link>
<link name="hip"><inertial><mass value="0.6"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hip" type="revolute"><parent link="trunk"/><child link="hip"/><origin xyz="0.2 -0.05 0"/>
<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="20" velocity="30"/></joint>
<link name="rotor"><inertial><mass value="0.1"/>
<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin rpy="1.5707963 0 0"/><geometry><cylinder length="0.04" radius="0.035"/></geometry></collision></link>
<joint name="rotor" type="fixed"><parent link="hip"/><child link="rotor"/><origin xyz="-0.03 -0.01 0"/></joint>
</robot>"""


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_robot_whose_rotor_is_inside_of_its_trunk_falls_as_a_whole(approximation):
    """As drawings of quadrupeds have it: where nobody filters the pair, the bodies press and nothing runs away."""
    config = MultibodyPlantConfig(
        time_step=1e-3, contact_defaults="drake", discrete_contact_approximation=approximation
    )
    plant, _ = AddMultibodyPlant(config, builder := DiagramBuilder())
    Parser(plant).AddModelsFromString(ROTOR_IN_TRUNK, "urdf")
    plant.Finalize()
    simulator = Simulator(builder.Build())
    context = plant.GetMyContextFromRoot(simulator.get_context())
    for time in (0.05, 0.1, 0.15, 0.2):
        simulator.AdvanceTo(time)
        speed = plant.CalcCenterOfMassTranslationalVelocityInWorld(context)
        np.testing.assert_allclose(speed, [0.0, 0.0, -9.81 * time], atol=1e-6)
        assert np.abs(plant.GetVelocities(context)).max() < 30.0
    pairs = plant.get_contact_results_output_port().Eval(context)
    assert pairs.num_point_pair_contacts() > 0
