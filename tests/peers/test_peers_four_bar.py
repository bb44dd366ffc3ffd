"""Drake's four-bar linkages: loops held exactly against pydrake's, which holds them by a bushing or a ball constraint.

Drake has no joints that close loops. A bushing of finite stiffness k misses the exact motion by what is proportional to
1 / k; the constraints of a discrete plant are exact but for its steps of length h, so that their error is proportional
to h. Both are what is found.
"""

import math
import re

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.scenes.constraints_file import read_constraints
from peer_modules import peer

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.parsing import Parser
from mbcli.multibody.parsing.constraints_file import add_constraints_of_file
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.run import Run

drake = peer("pydrake.all")
pytestmark = pytest.mark.peers("pydrake")

DURATION, PERIOD = 1.0, 0.05
RATE = 3.0  # [rad/s] of the first joint, before the velocities satisfy the loop


class LoopJoint:
    """four_bar_loop.sdf: four joints, of which the file says that one closes the loop. It moves in the x-y plane."""

    file, gravity = "four_bar_loop.sdf", [0.0, -9.81, 0.0]
    ends, bodies = ("Cr", "Rc"), (("coupler", [4.8, 0, 0]), ("rocker", [0, 2, 0]))
    near = (0.0, 0.0, 0.0)

    def text_for_drake(self, text):
        """Without the joint that closes the loop; links where their joints put them, and no frames on World."""
        text = re.sub(r'<joint name="coupler_rocker".*?</joint>', "", text, flags=re.S)
        text = re.sub(r'<frame name="W[dr]".*?</frame>', "", text, flags=re.S)
        text = re.sub("<parent>W[dr]</parent>", "<parent>world</parent>", text)
        poses = {
            "driver": "<pose>-2 0 0 0 0 0</pose>",
            "rocker": "<pose>2 0 0 0 0 0</pose>",
            "coupler": '<pose relative_to="Dc">0 0 0 0 0 0</pose>',
        }
        for link, pose in poses.items():
            text = text.replace(f'<link name="{link}">', f'<link name="{link}">{pose}')
        return text

    def close(self, plant):
        """Nothing: the file has the joint."""


class FramesForBushing:
    """four_bar.sdf: an open chain with two frames for a bushing, 0.1 m apart normal to the x-z plane of its motion."""

    file, gravity = "four_bar.sdf", [0.0, 0.0, -9.81]
    ends, bodies = ("Bc_bushing", "Cb_bushing"), (("B", [4, 0.1, 0]), ("C", [4, 0, 0]))
    near = (math.atan2(math.sqrt(15.0), 1.0), *(2 * [math.pi - math.atan2(math.sqrt(15.0), 1.0)]))

    def text_for_drake(self, text):
        return text

    def close(self, plant):
        """By the same frames in a file of constraints, in the plane."""
        diagnostics = Diagnostics()
        axes = "[[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]]"
        text = f"constraints: [{{loop: {{predecessor: Bc_bushing, successor: Cb_bushing, axes: {axes}}}}}]"
        add_constraints_of_file(plant, read_constraints(text.encode(), diagnostics), diagnostics)
        diagnostics.raise_if_errors()


@pytest.fixture(scope="module", params=[LoopJoint(), FramesForBushing()], ids=lambda linkage: linkage.file)
def linkage(request, models_dir):
    linkage = request.param
    linkage.path = models_dir / "four_bar" / linkage.file
    linkage.times, linkage.exact, linkage.v = exact_motion(linkage)
    return linkage


def exact_motion(linkage):
    """Times, positions at them, first velocities; error control keeps it to 1e-9 or so."""
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(linkage.path))
    linkage.close(plant)
    plant.mutable_gravity_field().set_gravity_vector(linkage.gravity)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    chains = ClosedChains(context)
    found = chains.assemble(np.array(linkage.near))
    assert found.converged
    plant.SetPositions(context, found.q)
    plant.SetVelocities(context, chains.assemble_velocities(found.q, np.array([RATE, 0.0, 0.0])))
    v = plant.GetVelocities(context)
    config = SimulatorConfig(integration_scheme="runge_kutta5", accuracy=1e-10)
    blocks = list(Run(plant, context, DURATION, config=config, sample_period=PERIOD).blocks())
    assert max(block.constraint_error.max() for block in blocks) <= 1e-10
    times, q = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("time", "q"))
    assert np.ptp(q[:, 0]) > 0.7
    return times, q, v


def largest_difference(linkage, time_step, tie):
    """Between the positions of a pydrake plant, closed by tie(plant), and the exact ones."""
    plant = drake.MultibodyPlant(time_step)
    drake.Parser(plant).AddModelsFromString(linkage.text_for_drake(linkage.path.read_text()), "sdf")
    plant.mutable_gravity_field().set_gravity_vector(linkage.gravity)
    tie(plant)
    plant.Finalize()
    simulator = drake.Simulator(plant)
    if not time_step:
        config = drake.SimulatorConfig(integration_scheme="runge_kutta3", accuracy=1e-8)
        drake.ApplySimulatorConfig(config, simulator)
    context = simulator.get_mutable_context()
    plant.SetPositions(context, linkage.exact[0])
    plant.SetVelocities(context, linkage.v)
    if plant.num_actuators():
        plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))
    rows = []
    for t in linkage.times:
        simulator.AdvanceTo(t)
        rows.append(plant.GetPositions(context).copy())
    return np.abs(np.array(rows) - linkage.exact).max()


def bushing(linkage, stiffness):
    """Free about and along the frames' z axis, with damping that makes it settle within some of its own periods."""

    def tie(plant):
        frames = [plant.GetFrameByName(name) for name in linkage.ends]
        k, d = stiffness, 2.0 * math.sqrt(stiffness)
        element = drake.LinearBushingRollPitchYaw(*frames, [k, k, 0], [d, d, 0], [k, k, 0], [d, d, 0])
        plant.AddForceElement(element)

    return tie


def ball(linkage):
    def tie(plant):
        (A, p_AP), (B, p_BQ) = linkage.bodies
        plant.AddBallConstraint(plant.GetBodyByName(A), p_AP, plant.GetBodyByName(B), p_BQ)

    return tie


def test_a_bushing_comes_closer_to_the_loop_the_stiffer_it_is(linkage):
    soft, stiff, stiffer = (largest_difference(linkage, 0.0, bushing(linkage, k)) for k in (1e5, 1e6, 1e7))
    assert 8.0 < soft / stiff < 13.0
    assert 8.0 < stiff / stiffer < 13.0
    assert stiffer < 1e-5


def test_a_ball_constraint_comes_closer_to_the_loop_the_shorter_its_steps_are(linkage):
    long, short, shorter = (largest_difference(linkage, h, ball(linkage)) for h in (1e-3, 5e-4, 2.5e-4))
    assert 1.9 < long / short < 2.1
    assert 1.9 < short / shorter < 2.1
    assert shorter < 1e-3
