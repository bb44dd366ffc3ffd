"""Functions of states from Python beside Pinocchio: `python -m benchmarks.state_functions [MODEL.urdf...]`.

Each call brings its own state. The programs take turns; processor time, the median over rounds. Models are taken
without geometry, limits and transmissions, with the base that their file gives them.
"""

import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pinocchio

from benchmarks.peers import urdf_without_geometry
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant, StateFunctions
from mbcli.multibody.tree import BodyIndex

ROUNDS, CALLS = 15, 2000
MODEL = Path(__file__).parents[1] / "sample_models" / "arm7.urdf"


def contestants(path):
    """{what: {program: call}} of one model, all at one state."""
    with tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
        file.write(urdf_without_geometry(path))
        file.flush()
        plant = MultibodyPlant(0.0)
        Parser(plant).AddModels(file.name)
        plant.Finalize()
        floats = plant.num_positions() > plant.num_velocities()
        root = (pinocchio.JointModelFreeFlyer(),) if floats else ()
        model = pinocchio.buildModelFromUrdf(file.name, *root)
    functions, data, rng = StateFunctions(plant), model.createData(), np.random.default_rng(0)
    q, (v, x) = rng.normal(size=plant.num_positions()), rng.normal(size=(2, plant.num_velocities()))
    if floats:
        q[:4] /= np.linalg.norm(q[:4])
    theirs = np.concatenate([q[4:7], q[1:4], q[:1], q[7:]]) if floats else q
    frame = plant.get_body(BodyIndex(plant.num_bodies() - 1)).body_frame()
    number = model.getFrameId(frame.name())
    pose, jacobian = functions.pose(frame), functions.jacobian(frame)
    tau, M = np.empty(len(v)), np.empty((len(v), len(v)))

    def their_pose():
        pinocchio.forwardKinematics(model, data, theirs)
        return pinocchio.updateFramePlacement(model, data, number)

    np.testing.assert_allclose(pose(q), their_pose().homogeneous, atol=1e-9)
    return plant, {
        "inverse dynamics": {
            "mbcli": lambda: functions.inverse_dynamics(q, v, x),
            "mbcli, out=": lambda: functions.inverse_dynamics(q, v, x, tau),
            "Pinocchio": lambda: pinocchio.rnea(model, data, theirs, v, x),
        },
        "forward dynamics": {
            "mbcli": lambda: functions.forward_dynamics(q, v, x),
            "mbcli, out=": lambda: functions.forward_dynamics(q, v, x, tau),
            "Pinocchio": lambda: pinocchio.aba(model, data, theirs, v, x),
        },
        "mass matrix": {
            "mbcli": lambda: functions.mass_matrix(q),
            "mbcli, out=": lambda: functions.mass_matrix(q, M),
            "Pinocchio": lambda: pinocchio.crba(model, data, theirs),
        },
        "gravity": {
            "mbcli": lambda: functions.gravity_forces(q),
            "Pinocchio": lambda: pinocchio.computeGeneralizedGravity(model, data, theirs),
        },
        "pose": {"mbcli": lambda: pose(q), "Pinocchio": their_pose},
        "Jacobian": {
            "mbcli": lambda: jacobian(q),
            "Pinocchio": lambda: pinocchio.computeFrameJacobian(model, data, theirs, number),
        },
    }


def seconds_per_call(calls):
    """{program: median over rounds}"""
    rounds = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(CALLS):
                call()
            rounds[name].append((time.process_time() - start) / CALLS)
    return {name: statistics.median(seconds) for name, seconds in rounds.items()}


def main():
    warnings.simplefilter("ignore")
    for path in map(Path, sys.argv[1:] or [MODEL]):
        plant, scenes = contestants(path)
        print(f"{path.stem}, {plant.num_velocities()} velocities")
        for what, calls in scenes.items():
            seconds = seconds_per_call(calls)
            times = ", ".join(f"{name} {1e6 * value:.2f} us" for name, value in seconds.items())
            print(f"  {what:17} {times}; ratio {seconds['Pinocchio'] / seconds['mbcli']:.2f}", flush=True)


if __name__ == "__main__":
    main()
