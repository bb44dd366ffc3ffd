"""Scenes of the whole suite, stepped by one way to run kernels.

`python tests/support/kernel_ways.py FILE.npz` writes their states, and with two such files it compares them.

The way is that of the process: compiled, interpreted (MBCLI_JIT=0), or from the libraries of a wheel. Where kernels are
compiled the scenes are stepped in lanes too.
"""

import sys
import warnings

import numpy as np
from limited_trees import random_limited_urdf, state_at_limits
from random_trees import random_plant, random_state
from repository import SAMPLES

from mbcli.models import load_model
from mbcli.models.loading import ModelText, as_loaded
from mbcli.simulation import RecordedRun, Run, Worlds
from mbcli.simulation.actors.holding import Holding

H = 1e-3  # [s]
STEPS = 6
LANES = 8
SPEEDS = np.linspace(1.0, -1.0, LANES)  # of the worlds in lanes, times the velocities of the scene
TOLERANCE = 1e-9  # of the largest number of a state, or of 1


def sample(name, **options):
    """A scene of a sample model from its default state."""
    return lambda rng: (load_model(str(SAMPLES / name), dt=H, **options), None, None)


def moving(name, **options):
    """A scene of a sample model with random velocities."""

    def make(rng):
        loaded = load_model(str(SAMPLES / name), dt=H, **options)
        return loaded, None, 0.5 * rng.normal(size=loaded.plant.num_velocities())

    return make


def tree(seed, **options):
    """A random plant in a random state."""

    def make(rng):
        plant = random_plant(seed, time_step=H, **options)
        return as_loaded(plant), *random_state(plant, rng)

    return make


def at_limits(seed, floating, approximation, num_joints=8):
    """A random robot at rest with its joints at their limits."""

    def make(rng):
        text, limits = random_limited_urdf(seed, floating=floating, num_joints=num_joints)
        model = ModelText(text.encode(), "limited.urdf")
        loaded = load_model(model, file_type="urdf", dt=H, contact_approximation=approximation)
        plant = loaded.plant
        q = plant.GetPositions(plant.CreateDefaultContext())
        for name, value in state_at_limits(limits, rng, inside=0.0).items():
            q[plant.GetJointByName(name).position_start()] = value
        return loaded, q, None

    return make


def on_ground(approximation, **options):
    """The quadruped that stands in the ground a little."""

    def make(rng):
        loaded = load_model(
            str(SAMPLES / "quadruped.urdf"),
            dt=H,
            contact=True,
            ground=-0.25,
            contact_approximation=approximation,
            **options,
        )
        return loaded, None, 0.1 * rng.normal(size=loaded.plant.num_velocities())

    return make


SCENES = {
    **{f"{name} moves": moving(name) for name in ("double_pendulum.sdf", "double_pendulum.xml", "arm7.urdf")},
    **{f"{name} moves": moving(name) for name in ("cart_pole.sdf", "all_joints.sdf", "quadruped.urdf")},
    "quadruped welded": moving("quadruped.urdf", weld_base=True),
    "arm held": moving("arm7.urdf", hold=True),
    **{f"quadruped on the ground, {law}": on_ground(law) for law in ("lagged", "sap", "similar", "tamsi")},
    "quadruped held on the ground": on_ground("lagged", hold=True),
    **{
        f"{name}, a closed chain": sample(f"closed_chains/{name}")
        for name in ("four_bar.urdf", "slider_crank.urdf", "andrews.urdf", "bricard.urdf", "flyball_governor.sdf")
    },
    **{f"tree {seed}": tree(seed) for seed in range(4)},
    "tree in free fall": tree(4, trees=0, floating_bases=2),
    "tree with elements": tree(5, elements=True),
    "tree with controllers": tree(6, controlled=True),
    **{
        f"tree {seed} at limits, {'floating' if floating else 'fixed'}, {law}": at_limits(seed, floating, law)
        for seed, floating, law in (
            (0, True, "lagged"),
            (1, True, "sap"),
            (2, True, "similar"),
            (3, True, "tamsi"),
            (4, False, "lagged"),
            (5, False, "tamsi"),
        )
    },
}


def states(name, lanes=False, speed=1.0):
    """[q; v] after each step (STEPS, nq + nv) of a scene, its velocities at the start times `speed`.

    In lanes that of all of them at the end (LANES, nq + nv), at SPEEDS.
    """
    rng = np.random.default_rng(sum(map(ord, name)))
    loaded, q, v = SCENES[name](rng)
    plant = loaded.plant
    plant.prefers_interpreted = False
    run = RecordedRun(loaded)
    run.prepare()
    context = run.context
    q = plant.GetPositions(context) if q is None else q
    v = plant.GetVelocities(context) if v is None else v
    if lanes:
        run.release()
        worlds = Worlds(loaded, LANES, threads=1)
        worlds.q, worlds.v = np.tile(q, (LANES, 1)), np.outer(SPEEDS, v)
        worlds.step(STEPS)
        return np.hstack([worlds.q, worlds.v])
    plant.SetPositions(context, q)
    plant.SetVelocities(context, speed * v)
    single = Run(plant, context, STEPS * H, going_on=run.actor(Holding).carried_at_start())
    blocks = [(b.time.copy(), b.q.copy(), b.v.copy()) for b in single.blocks()]
    run.release()
    _, rows = np.unique(np.concatenate([block[0] for block in blocks]), return_index=True)  # a step may be done again
    return np.hstack([np.vstack([block[k] for block in blocks]) for k in (1, 2)])[rows][1:]


def write(path, lanes):
    """The states of all scenes, in lanes too where `lanes`."""
    found = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name in SCENES:
            found[name] = states(name)
            if lanes:
                found[f"{name} (lanes)"] = states(name, lanes=True)
                found[f"{name} (singles)"] = np.array([states(name, speed=speed)[-1] for speed in SPEEDS])
    np.savez(path, **found)


def apart(a, b):
    """The largest difference of states, of their largest number or of 1; infinity where one is not finite."""
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf
    return float(abs(a - b).max() / max(1.0, abs(b).max()))


def differing(one, other):
    """{scene: how far apart} of the scenes of both files that differ."""
    with np.load(one) as a, np.load(other) as b:
        both = [name for name in a.files if name in b.files]
        distances = {name: apart(a[name], b[name]) for name in both}
    return {name: distance for name, distance in distances.items() if not distance <= TOLERANCE}


if __name__ == "__main__":
    if len(sys.argv) == 2:
        from mbcli.engine.runtime.kernel import compiled_by_default

        write(sys.argv[1], compiled_by_default())
    else:
        found = differing(*sys.argv[1:3])
        print("\n".join(f"{name}: {distance:.3g}" for name, distance in found.items()) or "equal")
        sys.exit(bool(found))
