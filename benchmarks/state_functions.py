"""Functions of states from Python beside others: `python -m benchmarks.state_functions [--weld] [MODEL.urdf...]`.

The others are Pinocchio and, where they are installed, dynibo and frax.

Each call brings its own state. The programs take turns; processor time, the median over rounds. Models are taken
without geometry, limits and transmissions, with the base that their file gives them, or welded to World. Batches are
of 256 states, eight at once on one core, where Pinocchio is called for one after another; their time is that of a
state.
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
from benchmarks.state_function_peers import dynibo_calls, frax_calls
from mbcli.engine.queries.state_batch import StateBatch
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant, StateFunctions
from mbcli.multibody.tree import BodyIndex

ROUNDS, CALLS, STATES = 15, 2000, 256
OTHERS = {"dynibo": dynibo_calls, "frax": frax_calls}
SAME = 0.3, 0.1, 0.2  # position, velocity, and acceleration or force of all joints at their state
MODEL = Path(__file__).parents[1] / "sample_models" / "arm7.urdf"


def contestants(path, weld):
    """The plant of a model, {what: {program: call}} at one state, and the same of calls for STATES states."""
    with tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
        file.write(urdf_without_geometry(path))
        file.flush()
        plant = MultibodyPlant(0.0)
        Parser(plant).AddModels(file.name)
        if weld:
            plant.WeldFrames(plant.world_frame(), plant.get_body(BodyIndex(1)).body_frame())
        plant.Finalize()
        floats = plant.num_positions() > plant.num_velocities()
        root = (pinocchio.JointModelFreeFlyer(),) if floats else ()
        model = pinocchio.buildModelFromUrdf(file.name, *root)
        others = {name: calls(file.name, floats, *SAME) for name, calls in OTHERS.items()}
    functions, data, rng = StateFunctions(plant), model.createData(), np.random.default_rng(0)
    q, (v, x) = rng.normal(size=plant.num_positions()), rng.normal(size=(2, plant.num_velocities()))
    if floats:
        q[:4] /= np.linalg.norm(q[:4])
    theirs = np.concatenate([q[4:7], q[1:4], q[:1], q[7:]]) if floats else q
    frame = plant.get_body(BodyIndex(plant.num_bodies() - 1)).body_frame()
    number = model.getFrameId(frame.name())
    pose, jacobian = functions.pose(frame), functions.jacobian(frame)
    tau, M = np.empty(len(v)), np.empty((len(v), len(v)))
    matrices = tuple(np.empty((3, len(v), len(v))))
    frame_derivatives = functions.acceleration_derivatives(frame)
    local = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED

    def their_pose():
        pinocchio.forwardKinematics(model, data, theirs)
        return pinocchio.updateFramePlacement(model, data, number)

    def their_frame_derivatives():
        pinocchio.computeForwardKinematicsDerivatives(model, data, theirs, v, x)
        return pinocchio.getFrameAccelerationDerivatives(model, data, number, local)

    np.testing.assert_allclose(pose(q), their_pose().homogeneous, atol=1e-9)
    if not floats:  # else their velocities of the base are others
        expected = [np.array(value) for value in pinocchio.computeRNEADerivatives(model, data, theirs, v, x)[:2]]
        expected[1] += np.diag(plant.model.dof_damping)  # it leaves damping out
        for ours, value in zip(functions.inverse_dynamics_derivatives(q, v, x), expected, strict=False):
            np.testing.assert_allclose(ours, value, atol=1e-9 * abs(value).max())
    many = tuple(np.empty((3, STATES, len(v), len(v))))
    rows, batch = [np.tile(a, (STATES, 1)) for a in (q, v, x)], StateBatch(plant.model)

    def one_by_one(call):
        def calls():
            for _ in range(STATES):
                call(model, data, theirs, v, x)

        return calls

    at_once = {
        "inverse dynamics": {
            "mbcli": lambda: batch.inverse_dynamics(*rows),
            "Pinocchio": one_by_one(pinocchio.rnea),
        },
        "forward dynamics": {
            "mbcli": lambda: batch.forward_dynamics(*rows),
            "Pinocchio": one_by_one(pinocchio.aba),
        },
        "derivatives of inverse dynamics": {
            "mbcli": lambda: batch.inverse_dynamics_derivatives(*rows),
            "mbcli, out=": lambda: batch.inverse_dynamics_derivatives(*rows, out=many),
            "Pinocchio": one_by_one(pinocchio.computeRNEADerivatives),
        },
        "derivatives of forward dynamics": {
            "mbcli": lambda: batch.forward_dynamics_derivatives(*rows),
            "mbcli, out=": lambda: batch.forward_dynamics_derivatives(*rows, out=many),
            "Pinocchio": one_by_one(pinocchio.computeABADerivatives),
        },
    }
    alone = {
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
        "derivatives of inverse dynamics": {
            "mbcli": lambda: functions.inverse_dynamics_derivatives(q, v, x),
            "mbcli, out=": lambda: functions.inverse_dynamics_derivatives(q, v, x, matrices),
            "Pinocchio": lambda: pinocchio.computeRNEADerivatives(model, data, theirs, v, x),
        },
        "derivatives of forward dynamics": {
            "mbcli": lambda: functions.forward_dynamics_derivatives(q, v, x),
            "mbcli, out=": lambda: functions.forward_dynamics_derivatives(q, v, x, matrices),
            "Pinocchio": lambda: pinocchio.computeABADerivatives(model, data, theirs, v, x),
        },
        "derivatives of a frame's acceleration": {
            "mbcli": lambda: frame_derivatives(q, v, x),
            "Pinocchio": their_frame_derivatives,
        },
    }
    same = pinocchio.neutral(model)
    same[7 if floats else 0 :] = SAME[0]
    expected = np.linalg.eigvalsh(pinocchio.crba(model, data, same, pinocchio.Convention.WORLD))
    for name, (calls, matrix) in others.items():
        if calls and not np.allclose(np.linalg.eigvalsh(matrix), expected, rtol=1e-6, atol=1e-6):
            print(f"{name} has another mass matrix than Pinocchio")
        for what, call in calls.items():
            alone[what][name] = call
    return plant, alone, at_once


def seconds_per_state(calls, states=1):
    """{program: median over rounds}, of calls for a number of states."""
    count = max(CALLS // states, 1)
    for call in calls.values():
        call()
    rounds = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(count):
                call()
            rounds[name].append((time.process_time() - start) / (count * states))
    return {name: statistics.median(seconds) for name, seconds in rounds.items()}


def main():
    warnings.simplefilter("ignore")
    weld = "--weld" in sys.argv
    for path in map(Path, [a for a in sys.argv[1:] if a != "--weld"] or [MODEL]):
        plant, alone, at_once = contestants(path, weld)
        print(f"{path.stem}, {plant.num_velocities()} velocities")
        scenes = [(what, calls, 1) for what, calls in alone.items()]
        scenes += [(f"{what}, {STATES} states", calls, STATES) for what, calls in at_once.items()]
        for what, calls, states in scenes:
            seconds = seconds_per_state(calls, states)
            times = ", ".join(f"{name} {1e6 * value:.2f} us" for name, value in seconds.items())
            print(f"  {what:43} {times}; ratio {seconds['Pinocchio'] / seconds['mbcli']:.2f}", flush=True)


if __name__ == "__main__":
    main()
