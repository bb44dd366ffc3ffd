"""Random sequences of calls with arrays that are wrong, read-only or shared, of threads and of forks; run as a program
(test_native_promises.py).

Each sequence runs in a process of its own, forked from one that has compiled all that it calls. Errors of Python are
right answers; a signal that ends the process, and a process that does not end, are not. Nor is a changed byte of an
array that is read-only.

usage: python tests/support/hostile_calls.py SEED SEQUENCES
"""

import faulthandler
import os
import signal
import sys
import tempfile
import threading
import warnings

import numpy as np
from repository import SAMPLES

from mbcli.models import load_model
from mbcli.multibody.plant import BatchFunctions, StateFunctions
from mbcli.multibody.tree import BodyIndex, JacobianWrtVariable, MultibodyForces
from mbcli.simulation import Worlds
from mbcli.systems.analysis import Simulator

MODELS = SAMPLES
CALLS = 12  # of a sequence
LONGEST = 120  # [s] of a sequence


class Scene:
    """A plant with all that works on arrays of a user."""

    def __init__(self):
        self.plant = load_model(MODELS / "quadruped.urdf", contact=True, ground=0.0, hold=True).plant
        self.nq, self.nv = self.plant.num_positions(), self.plant.num_velocities()
        self.frame = self.plant.get_body(BodyIndex(3)).body_frame()
        self.context = self.plant.CreateDefaultContext()
        self.functions = StateFunctions(self.plant)
        self.batch = BatchFunctions(self.plant, threads=2)
        arm = load_model(MODELS / "arm7.urdf", dt=0.002).plant
        self.worlds = Worlds(arm, 19, threads=2)
        self.q0 = self.plant.GetPositions(self.context).copy()

    def warm(self):
        """Calls everything once, as it is meant."""
        q, v = self.q0, np.zeros(self.nv)
        for seed in range(3):
            rng = np.random.default_rng(seed)
            for call in self.calls(
                rng, lambda shape, start=None: np.array(np.ones(shape) if start is None else start)
            ).values():
                tried(call)
        Q, V = np.tile(q, (600, 1)), np.tile(v, (600, 1))
        self.batch.mass_matrix(Q), self.batch.inverse_dynamics(Q, V, V)
        self.batch.inverse_dynamics_derivatives(Q, V, V)

    def calls(self, rng, array):
        """{name: a call} on arrays as array(shape, start) makes them."""
        plant, context, functions, batch, worlds = self.plant, self.context, self.functions, self.batch, self.worlds
        nq, nv, world = self.nq, self.nv, plant.world_frame()
        shared = {}

        def q():
            return shared.setdefault("q", array((nq,), self.q0))

        def v():
            return array((nv,))

        def out(*shape):
            return array(shape) if rng.integers(4) else shared.get("q")

        def outs(*shape):
            given = array(shape)
            return [given if rng.integers(6) == 0 else array(shape) for _ in range(3)]

        def set_state():
            plant.SetPositions(context, q())
            plant.SetVelocities(context, v())

        def inverse_dynamics():
            forces = MultibodyForces(plant)
            forces.mutable_generalized_forces()[:] = v()
            plant.CalcInverseDynamics(context, v(), forces)

        def set_worlds():
            worlds.reset()
            worlds.u = array(worlds.u.shape)
            worlds.q[:] = array(worlds.q.shape)

        def jacobian():
            plant.CalcJacobianTranslationalVelocity(
                context, JacobianWrtVariable.kV, self.frame, array((3,)), world, world
            )

        rows = int(rng.choice([1, 9, 600]))
        return {
            "mass matrix": lambda: functions.mass_matrix(q(), out=out(nv, nv)),
            "bias term": lambda: functions.bias_term(q(), v(), out=out(nv)),
            "inverse dynamics": lambda: functions.inverse_dynamics(q(), v(), v(), out=out(nv)),
            "forward dynamics": lambda: functions.forward_dynamics(q(), v(), v(), out=out(nv)),
            "gravity": lambda: functions.gravity_forces(q(), out=out(nv)),
            "pose": lambda: functions.pose(self.frame)(q(), out=out(4, 4)),
            "derivatives": lambda: functions.inverse_dynamics_derivatives(q(), v(), v(), out=outs(nv, nv)),
            "batch mass matrix": lambda: batch.mass_matrix(array((rows, nq))),
            "batch inverse dynamics": lambda: batch.inverse_dynamics(
                array((rows, nq)), array((rows, nv)), array((rows, nv))
            ),
            "batch derivatives": lambda: batch.inverse_dynamics_derivatives(
                array((rows, nq)), array((rows, nv)), array((rows, nv)), out=outs(rows, nv, nv)
            ),
            "set state": set_state,
            "plant mass matrix": lambda: plant.CalcMassMatrix(context),
            "plant inverse dynamics": inverse_dynamics,
            "plant Jacobian": jacobian,
            "mass": lambda: plant.get_body(BodyIndex(2)).SetMass(context, float(rng.uniform(0.5, 2.0))),
            "contacts": lambda: plant.get_contact_results_output_port().Eval(context),
            "steps": lambda: Simulator(plant, context).AdvanceTo(context.get_time() + 0.004),
            "worlds": lambda: worlds.step(int(rng.integers(1, 40))),
            "rollout": lambda: worlds.rollout(4, array((4, worlds.u.shape[1]))),
            "set worlds": set_worlds,
        }


class Arrays:
    """Arrays as they should not be."""

    def __init__(self, rng):
        self._rng = rng
        self.read_only = []  # with their bytes

    def __call__(self, shape, start=None):
        rng = self._rng
        right = rng.normal(size=shape) if start is None else np.array(start, dtype=float)
        kind = int(rng.integers(16))
        if kind == 0:
            return right.astype(rng.choice(["f4", "i8", "c16", ">f8", "O", "?", "S8"]))
        if kind == 1:
            return np.zeros(tuple(n + int(rng.integers(-1, 2)) for n in shape))
        if kind == 2:
            return np.repeat(right, 2, axis=-1)[..., ::2]
        if kind == 3:
            return right[..., ::-1]
        if kind == 4:
            right[...] = rng.choice([np.nan, np.inf, 1e308, 1e-310, 0.0])
            return right
        if kind == 5:
            return np.asfortranarray(right) if right.ndim > 1 else right[None]
        if kind == 6:
            return np.broadcast_to(right[..., :1], shape)
        if kind == 7:  # another address than a multiple of 8
            return np.frombuffer(bytearray(8 * right.size + 1), offset=1).reshape(shape)
        if kind == 8:
            return rng.choice([None, 1.0, "text", -1]) if rng.integers(2) else right.tolist()
        if kind == 9:
            return np.ma.masked_array(right, mask=rng.integers(2, size=shape))
        if kind in (10, 11):
            return self._unwritable(right, mapped=kind == 11)
        return right

    def _unwritable(self, array, mapped):
        if mapped and array.size:
            with tempfile.TemporaryFile() as file:
                file.write(array.tobytes())
                file.flush()
                array = np.memmap(file, dtype=float, mode="r", shape=array.shape)
        elif array.size:
            array = np.frombuffer(array.tobytes()).reshape(array.shape)
        self.read_only.append((array, array.tobytes()))
        return array


def tried(call):
    try:
        with np.errstate(all="ignore"):
            call()
    except Exception:
        pass  # an error of Python is an answer


def in_threads(calls):
    threads = [threading.Thread(target=tried, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_a_fork(calls):
    child = os.fork()
    if child == 0:
        signal.alarm(LONGEST // 2)
        for call in calls:
            tried(call)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        print(f"a forked process ended {code}", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGUSR1)


def sequence(scene, rng):
    """Raises AssertionError if an array changed that is read-only."""
    arrays = Arrays(rng)
    for _ in range(CALLS):
        calls = list(scene.calls(rng, arrays).values())
        chosen = [calls[k] for k in rng.integers(len(calls), size=int(rng.integers(1, 4)))]
        way = int(rng.integers(6))
        if way == 0:
            in_threads(chosen * 2)
        elif way == 1 and rng.integers(3) == 0:
            in_a_fork(chosen)
        elif way == 2 and rng.integers(3) == 0:
            thread = threading.Thread(target=tried, args=(scene.calls(rng, arrays)["worlds"],))
            thread.start()
            in_a_fork([*chosen, scene.calls(rng, arrays)["worlds"], scene.calls(rng, arrays)["batch mass matrix"]])
            thread.join()
        else:
            for call in chosen:
                tried(call)
    for array, held in arrays.read_only:
        assert array.tobytes() == held, "an array that is read-only has changed"


def main(seed, count):
    warnings.simplefilter("ignore")
    scene = Scene()
    scene.warm()
    scene.worlds.reset()
    faults = 0
    for number in range(count):
        child = os.fork()
        if child == 0:
            faulthandler.enable()
            signal.alarm(LONGEST)
            code = 1
            try:
                sequence(scene, np.random.default_rng((seed, number)))
                code = 0
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if number % 50 == 49:
            print(number + 1, "sequences", file=sys.stderr, flush=True)
        if code:
            faults += 1
            print(f"sequence {number} ended {code}", file=sys.stderr, flush=True)
    print("done", count, "sequences,", faults, "faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
