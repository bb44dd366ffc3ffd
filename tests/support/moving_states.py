"""States of a plant that move along given velocities and accelerations, and derivatives along them.

An oracle that takes only positions (or only velocities) from the plant: fourth-order differences of what a pose is a
little earlier and later.
"""

import numpy as np
from random_trees import bodies_of, random_plant, random_pose, random_state

from mbcli.multibody.tree import FixedOffsetFrame

STEP = 3e-4
# Rounding over that step, 1e-12, and its fourth power times a fifth derivative of up to 1e6: accelerations are large.
DIFFERENCES = 1e-8


def derivative(function, step=STEP):
    """d function(t) / dt at 0."""
    f = [function(k * step) for k in (-2, -1, 1, 2)]
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * step)


def moved(plant, context, t, v=None, vdot=None):
    """A context in which q has moved by t N(q) v, v being that of the context where not given, and v by t vdot."""
    other = context.Clone()
    q, own = plant.GetPositions(context), plant.GetVelocities(context)
    plant.SetPositions(other, q + t * plant.MapVelocityToQDot(context, own if v is None else v))
    plant.SetVelocities(other, own if vdot is None else own + t * vdot)
    return other


def plant_with_frames(seed, **options):
    """A random plant, a random state, and frames B, A, E: offset frames on frames on bodies far out in the tree."""
    plant = random_plant(seed, finalize=False, **options)
    rng = np.random.default_rng(seed + 1000)
    bodies = bodies_of(plant)
    frames = []
    for name, n in zip("BAE", (-1, len(bodies) // 2, -3), strict=True):
        first = plant.AddFrame(FixedOffsetFrame(f"inner{name}", bodies[n], random_pose(rng)))
        frames.append(plant.AddFrame(FixedOffsetFrame(name, first, random_pose(rng))))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    q, v = random_state(plant, rng)
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    return plant, context, frames


def unskew(W):
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


def assert_close(value, expected, tolerance):
    """Equal up to `tolerance` of the largest expected element (of one, where all are smaller)."""
    value, expected = np.asarray(value), np.asarray(expected)
    assert value.shape == expected.shape
    scale = max(1.0, abs(expected).max(initial=0.0))
    np.testing.assert_allclose(value, expected, rtol=0.0, atol=tolerance * scale)
