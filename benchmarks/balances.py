"""Energy balances of closed chains in motion: whether they close, warn falsely, or keep silent about a drift.

python -m benchmarks.balances [--time 5] [--starts 2] [--chains NAME...] [--ways NAME...]

Every chain runs in every way from random velocities, with gravity, springs and dampers alone. What dampers take is
summed up from the rows, apart from the balance; what else the energy changes by is the true drift. It is compared with
the error that the balance names, and with the warnings of the run.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mbcli.config.plant_config import MultibodyPlantConfig
from mbcli.errors import MbcliError
from mbcli.geometry.shapes import HalfSpace, Sphere
from mbcli.math import RigidTransform
from mbcli.models.loading import load_model
from mbcli.multibody.assembly.closed_chains import ClosedChains, assemble_context
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlant, CoulombFriction
from mbcli.multibody.tree import (
    BallRpyJoint,
    BodyIndex,
    FixedOffsetFrame,
    RevoluteJoint,
    SpatialInertia,
    UniversalJoint,
)
from mbcli.simulation import simulate
from mbcli.systems.framework import DiagramBuilder

SAMPLES = Path(__file__).resolve().parent.parent / "sample_models" / "closed_chains"
Y = [0.0, 1.0, 0.0]
TOLD = 0.01  # of the energy that flowed: a drift that a run has to tell
WARNINGS = ("error of the integration", "but its energy")


class Way(NamedTuple):
    """How a plant runs: its step [s], 0 for a continuous one, the accuracy of that, and how contact is solved."""

    step: float
    accuracy: float | None = None
    approximation: str | None = None  # of links that could touch


WAYS = {
    "dt 0.001": Way(1e-3),
    "dt 0.005": Way(5e-3),
    "dt 0.001 sap": Way(1e-3, approximation="sap"),
    "dt 0.001 lagged": Way(1e-3, approximation="lagged"),
    "dt 0": Way(0.0),
    "dt 0, accuracy 1e-5": Way(0.0, 1e-5),
}


def new_plant(way):
    """An empty plant, and its builder, which keeps the SceneGraph."""
    config = MultibodyPlantConfig(time_step=way.step, discrete_contact_approximation=way.approximation or "lagged")
    builder = DiagramBuilder()
    return AddMultibodyPlant(config, builder)[0]


def finished(plant, way):
    """With way.approximation its steps are contact problems: a ball of its first link could meet a ground far below."""
    if way.approximation is not None:
        friction = CoulombFriction(1.0, 1.0)
        below = RigidTransform([0.0, 0.0, -100.0])
        plant.RegisterCollisionGeometry(plant.world_body(), below, HalfSpace(), "ground", friction)
        plant.RegisterCollisionGeometry(plant.get_body(BodyIndex(1)), RigidTransform(), Sphere(1e-3), "ball", friction)
    plant.Finalize()
    return plant


def urdf(name):
    """A chain of the sample models."""

    def build(way):
        plant = new_plant(way)
        Parser(plant).AddModels(str(SAMPLES / f"{name}.urdf"))
        return finished(plant, way)

    return build


def loaded(name, **options):
    """A chain of the sample models that needs more than its file, or another format; nothing of it can touch."""
    return lambda way: None if way.approximation else load_model(str(SAMPLES / name), dt=way.step, **options).plant


def rod(plant, name, length, frame, joint, *axis):
    """A uniform rod of 1 kg that hangs from a frame, and its joint."""
    inertia = SpatialInertia.SolidCylinderWithMass(1.0, 0.02, length, [0.0, 0.0, 1.0]).Shift([0.0, 0.0, 0.5 * length])
    body = plant.AddRigidBody(name, inertia)
    return body, plant.AddJoint(joint(f"{name}_joint", frame, body.body_frame(), *axis))


def bars(lengths, angle):
    """A four-bar linkage of rods in the x-z plane: ground, crank, coupler, rocker [m]; the crank's angle from below."""

    def build(way):
        plant = new_plant(way)
        ground, crank, coupler, rocker = lengths
        elbow = crank * np.array([-np.sin(angle), -np.cos(angle)])  # a turn about y moves what hangs towards -x
        foot = np.array([-ground, 0.0])
        reach = np.hypot(*(foot - elbow))
        inner = np.arccos((coupler**2 + reach**2 - rocker**2) / (2.0 * coupler * reach))
        along = from_below(foot - elbow) - inner
        meet = elbow + coupler * np.array([-np.sin(along), -np.cos(along)])
        frame, before = plant.world_frame(), 0.0
        turns = angle, along, from_below(foot - meet)
        for k, (length, turn) in enumerate(zip(lengths[1:], turns, strict=True)):
            body, joint = rod(plant, f"rod{k}", length, frame, RevoluteJoint, Y)
            joint.set_default_angle(turn - before)
            frame = plant.AddFrame(FixedOffsetFrame(f"end{k}", body.body_frame(), RigidTransform([0, 0, -length])))
            before = turn
        place = RigidTransform([-ground, 0.0, 0.0])
        last = plant.AddFrame(FixedOffsetFrame("foot", plant.world_frame(), place))
        plant.AddJoint(RevoluteJoint("closing", last, frame, Y))
        return finished(plant, way)

    return build


def from_below(along):
    """The angle about y of a rod along a vector (x, z)."""
    return np.arctan2(-along[0], -along[1])


def rods_in_space(way):
    """The ends of a pendulum on a universal joint and of one on a ball joint, which a rigid rod without mass ties."""
    plant = new_plant(way)
    one, _ = rod(plant, "one", 1.0, plant.world_frame(), UniversalJoint)
    place = RigidTransform([0.0, 1.5, 0.0])
    two, _ = rod(plant, "two", 1.0, plant.AddFrame(FixedOffsetFrame("place", plant.world_frame(), place)), BallRpyJoint)
    plant.AddDistanceConstraint(one, [0.0, 0.0, -1.0], two, [0.0, 0.0, -1.0], 1.4)
    return finished(plant, way)


CHAINS = {
    "four_bar": urdf("four_bar"),
    "slider_crank": urdf("slider_crank"),
    "bricard": urdf("bricard"),
    "four_bar_chain": urdf("four_bar_chain"),
    "andrews": urdf("andrews"),
    "stewart": loaded("stewart_platform.sdf", constraints=str(SAMPLES / "stewart_platform.yaml")),
    "closed_leg": loaded("closed_leg.xml"),
    "parallelogram": bars((1.0, 1.0, 1.0, 1.0), 0.7),
    "crank and rocker": bars((1.0, 0.35, 0.9, 0.7), 0.4),
    "rods in space": rods_in_space,
}


class Result(NamedTuple):
    """Of one run: energies [J], and what its warnings say of them."""

    kinetic: float  # the largest
    flow: float  # that and what dampers took
    drift: float  # what the energy at the end has changed by beyond dampers
    largest: float  # the same over all rows
    error: float  # that the balance names
    told: bool

    def share(self, value):
        return abs(value) / max(self.flow, 1e-300)


def start_of(plant, rng, speed):
    """Assembled positions, and random velocities of a size [rad/s or m/s] that constraints allow."""
    context = plant.CreateDefaultContext()
    assemble_context(context, 1e-10)
    v = speed * rng.normal(size=plant.num_velocities())
    v = ClosedChains(context).impulses(context.state.q, v)[0]
    return context.state.q.copy(), v


def run(build, way, start, until):
    """Result of a run, or None if the chain has nothing that could touch."""
    plant = build(way)
    if plant is None:
        return None
    said = []
    accuracy = {} if way.accuracy is None else {"accuracy": way.accuracy}
    rate = 1000.0 if way.step == 0.0 else 0.0
    log = simulate(plant, until, start=start, balance=True, log_rate=rate, warn=said.append, **accuracy)
    time, v, energy = np.asarray(log.times), np.asarray(log.v), np.asarray(log.energy).sum(axis=1)
    kinetic = float(np.asarray(log.energy)[:, 0].max())
    power = (plant.model.dof_damping * v**2).sum(axis=1)
    taken = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(time))])
    drift = energy - energy[0] + taken
    balance = log.summary.balance
    error = balance["rest"] + balance["constraints"]
    told = any(words in str(line) for line in said for words in WARNINGS)
    return Result(kinetic, kinetic + float(taken[-1]), float(drift[-1]), float(np.abs(drift).max()), error, told)


def verdict(result):
    """What is wrong: a false warning, or a drift that nobody tells; "" if nothing is."""
    if result.told and result.share(result.largest) < TOLD:
        return "false warning"
    if not result.told and result.share(result.drift) > TOLD:
        return "untold drift"
    return ""


def fast_parallelogram(until):
    """A line on a parallelogram at 8 rad/s in a continuous run of the default accuracy, beside a fine one."""
    build, way = CHAINS["parallelogram"], WAYS["dt 0"]
    plant = build(way)
    start = plant.GetPositions(plant.CreateDefaultContext()), np.array([8.0, -8.0, 8.0])
    result = run(build, way, start, until)
    ends = [simulate(build(way), until, start=start, **a).q[-1] for a in ({}, {"accuracy": 1e-11})]
    off = np.abs(np.subtract(*ends)).max()
    return (
        f"parallelogram at 8 rad/s for {until:g} s: {result.drift:.3g} J ({result.share(result.drift):.2%}) and "
        f"{off:.2g} rad off{', told' if result.told else ''} {verdict(result)}"
    )


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.balances", description=__doc__.split("\n")[0])
    parser.add_argument("--time", type=float, default=5.0, help="[s] of each run")
    parser.add_argument("--starts", type=int, default=2, help="random velocities of each chain in each way")
    parser.add_argument("--speed", type=float, default=3.0, help="[rad/s or m/s] of these")
    parser.add_argument("--chains", nargs="+", choices=CHAINS, default=list(CHAINS), metavar="NAME")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), metavar="NAME")
    options = parser.parse_args()
    runs, failed, told, wrong, unclosed = 0, 0, 0, [], 0.0
    for name in options.chains:
        build, rng = CHAINS[name], np.random.default_rng(sum(map(ord, name)))
        for number in range(options.starts):
            start = start_of(build(Way(0.0)), rng, options.speed)
            for way in options.ways:
                try:
                    result = run(build, WAYS[way], start, options.time)
                except MbcliError as error:
                    failed += 1
                    print(f"{name}, start {number}, {way}: {error}", flush=True)
                    continue
                if result is None:
                    continue
                runs, told = runs + 1, told + result.told
                open_part = result.share(result.error - result.drift)
                unclosed, fault = max(unclosed, open_part), verdict(result)
                wrong += [f"{name}, start {number}, {way}: {fault}"] if fault else []
                shares = f"drift {result.share(result.drift):8.2%} (at most {result.share(result.largest):7.2%})"
                row = (
                    f"{name:16} {number} {way:19} kinetic {result.kinetic:6.3g} J, {shares}, unclosed {open_part:8.1e}"
                )
                print(f"{row}{', told' if result.told else ''} {fault}", flush=True)
    print(f"{runs} runs, {failed} ended early; worst closure error {unclosed:.1e} of what flowed; {told} told a drift")
    if "parallelogram" in options.chains:
        print(*map(fast_parallelogram, (20.0, 40.0)), sep="\n")
    print(*(wrong or ["no false warning, no drift above 1 % untold"]), sep="\n")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
