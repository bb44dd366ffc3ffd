"""Random SDFormat models without contact beside DART: `python -m benchmarks.dart_worlds --dart PYTHON [--models 40]`.

PYTHON has dartpy. A model has one to six links: trees on a fixed or a free base, joints of all types that DART's reader
takes, damping, poses everywhere but for axes of inertias, which DART's reader does not turn. After a second the places,
axes and velocities of all links are compared. DART's steps are of first order: its states at two steps are
extrapolated, mbcli integrates under error control.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from mbcli.models import load_model
from mbcli.simulation import simulate

TYPES = ("revolute", "prismatic", "universal", "fixed")
STEPS = (2000, 4000)  # of a second
TOLERANCE = 1e-4


def model(seed):
    """The text of a random model."""
    random = np.random.default_rng(seed)
    links = int(random.integers(1, 7))
    parts = []
    for k in range(links):
        squares = random.uniform(0.02, 0.1, 3)  # of a mass distribution, turned
        turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
        I = turn @ np.diag(squares.sum() - squares) @ turn.T
        parts.append(
            f'<link name="l{k}"><pose>{_row(random, 0.5)}</pose><inertial>'
            f"<pose>{_row(random, 0.1, turned=False)}</pose><mass>{random.uniform(0.5, 3.0)}</mass>"
            f"<inertia><ixx>{I[0, 0]}</ixx><iyy>{I[1, 1]}</iyy><izz>{I[2, 2]}</izz>"
            f"<ixy>{I[0, 1]}</ixy><ixz>{I[0, 2]}</ixz><iyz>{I[1, 2]}</iyz></inertia></inertial></link>"
        )
        floats = k == 0 and random.random() < 0.3
        if not floats:
            parent = "world" if k == 0 else f"l{random.integers(0, k)}"
            parts.append(_joint(random, k, parent))
    return f'<?xml version="1.0"?><sdf version="1.6"><model name="m">{"".join(parts)}</model></sdf>'


def _row(random, size, turned=True):
    return " ".join(str(x) for x in (*random.uniform(-size, size, 3), *turned * random.uniform(-1.0, 1.0, 3)))


def _axis(random):
    xyz = random.normal(size=3)
    return xyz / np.linalg.norm(xyz)


def _joint(random, k, parent):
    kind = TYPES[int(random.integers(0, len(TYPES)))] if k else "revolute"
    first = _axis(random)
    second = np.cross(first, _axis(random))
    second /= np.linalg.norm(second)
    axes = {"fixed": (), "universal": (first, second)}.get(kind, (first,))
    damping = random.uniform(0.0, 0.5)  # of both axes of a joint: pydrake has one
    parts = [
        f"<axis{2 * n or ''}><xyz>{' '.join(map(str, axis))}</xyz><dynamics><damping>{damping}</damping></dynamics>"
        f"</axis{2 * n or ''}>"
        for n, axis in enumerate(axes)
    ]
    return (
        f'<joint name="j{k}" type="{kind}"><pose>{_row(random, 0.1)}</pose><parent>{parent}</parent><child>l{k}</child>'
        f"{''.join(parts)}</joint>"
    )


def ours(path):
    """{link: [place, axes, velocity of the centre of mass, angular velocity]} after a second."""
    log = simulate(path, 1.0, contact=False, integrator="runge_kutta5", accuracy=1e-9, warn=lambda line: None)
    plant = load_model(path, contact=False, dt=0.0).plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, log.q[-1])
    plant.SetVelocities(context, log.v[-1])
    found = {}
    for index in plant.GetBodyIndices(plant.GetModelInstanceByName("m")):
        body = plant.get_body(index)
        X, V = plant.EvalBodyPoseInWorld(context, body), plant.EvalBodySpatialVelocityInWorld(context, body)
        centre = X.rotation().matrix() @ body.CalcCenterOfMassInBodyFrame(context)
        axes = X.rotation().matrix().reshape(-1)
        found[body.name()] = [X.translation(), axes, V.Shift(centre).translational(), V.rotational()]
    return found


def theirs(python, path):
    """The same of DART, extrapolated to steps of no length."""
    worker = str(Path(__file__).with_name("dart_states.py"))
    coarse, fine = (
        json.loads(subprocess.run([python, worker, path, str(n), str(1.0 / n)], capture_output=True, check=True).stdout)
        for n in STEPS
    )
    return {
        name: [2.0 * np.array(b) - np.array(a) for a, b in zip(coarse[name], fine[name], strict=True)] for name in fine
    }


def difference(a, b):
    """The largest of all links, relative to what is larger than 1."""
    worst = 0.0
    for name, parts in a.items():
        for own, other in zip(parts, b[name], strict=True):
            worst = max(worst, float(np.abs(own - other).max() / max(1.0, np.abs(own).max())))
    return worst


def main():
    """Prints a line a model, and how many agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dart", required=True, help="a Python that has dartpy")
    parser.add_argument("--models", type=int, default=40)
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.models):
            path = f"{folder}/m{seed}.sdf"
            Path(path).write_text(model(seed))
            found.append(difference(ours(path), theirs(options.dart, path)))
            print(f"model {seed:3}: {found[-1]:.2g}", flush=True)
    close = sum(each <= TOLERANCE for each in found)
    print(f"{close} of {len(found)} agree to {TOLERANCE:g}; the largest difference is {max(found):.2g}")
    return 0 if close == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
