"""RBDL's functions of constraint sets from Python: `python -m benchmarks.rbdl_functions [assembly | MODEL...]`.

Robots stand on feet that are welded to World, or on contacts below them (MODELS); each call brings its state. Beside a
function stands its compiled kernel, called with arrays that are there: the rest is the way to it, and the method's
dense system. RBDL has no package for Python that can be installed by its name; Pinocchio stands beside what it has, and
dense_systems.cpp measures what RBDL leaves to Eigen.

At last many states in one call, by the clock.

`assembly`: CalcAssemblyQ() from random starts with the minimization, one call each, and all of them in one call of
CalcAssemblyQOfStates() on one thread and on two; times of the clock, since threads count twice in processor time.
"""

import statistics
import sys
import time

import numpy as np

from benchmarks.constrained import ASSEMBLIES, Standing
from benchmarks.measure import BRIEF, seconds_per_call
from benchmarks.own import Case
from benchmarks.peers import Pinocchio, urdf_without_geometry
from benchmarks.scenes import FEET, MODELS
from mbcli.math import RigidTransform
from mbcli.multibody import constraints as rbdl

STARTS, ROUNDS, STATES = 1000, 3, 8192
UP = (0.0, 0.0, 1.0)
CORNERS = np.array([[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.1, 0.0, 0.0]])  # [m] of a foot


def bound_set(case, standing, contacts):
    """Feet welded where they are in the state of `standing`, or held at three points each along the vertical."""
    plant, cs = case.plant, rbdl.ConstraintSet()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, standing.q)
    for name in standing.feet:
        if contacts:
            for corner in CORNERS:
                cs.AddContactConstraint(name, corner, UP)
            continue
        pose = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName(name))
        for axis in np.eye(6):
            cs.AddLoopConstraint("world", name, pose, RigidTransform(), axis)
    cs.Bind(plant)
    cs.SetActuationMap(plant, np.arange(cs.nv) >= 6)
    return cs


def functions_of_robot(case, standing):
    """{function: {what: call}}; `kernel` is the call of the kernel of that function alone."""
    plant, q, v, tau = case.plant, standing.q, standing.v, standing.tau
    cs, on_contacts = bound_set(case, standing, False), bound_set(case, standing, True)
    ones, none, calls = np.ones(cs.nv), np.zeros((0, 6)), cs.calls

    def kernel(name, *arguments):
        call = getattr(calls, name)
        results = np.empty(call.size)
        return lambda: call.run(*arguments, results)

    positions, velocities = kernel("positions", q), kernel("velocities", q, v)
    system, solution = (kernel("system", q, v, tau, none, solve) for solve in (0, 1))
    nv, size = cs.nv, cs.size()
    derivatives = kernel("derivatives", q, v, tau, 0, np.empty((3 * nv + 4 * size, nv)))
    impulses, impulse_solution = (kernel("impulses", q, v, cs.v_plus, solve) for solve in (0, 1))
    wanted = rbdl.ForwardDynamicsConstraintsRangeSpaceSparse(plant, q, v, tau, cs)  # the constraints allow it
    found = {
        "CalcConstraintsPositionError": (lambda: rbdl.CalcConstraintsPositionError(plant, q, cs), positions),
        "CalcConstraintsJacobian": (lambda: rbdl.CalcConstraintsJacobian(plant, q, cs), positions),
        "CalcConstraintsVelocityError": (lambda: rbdl.CalcConstraintsVelocityError(plant, q, v, cs), velocities),
        "CalcConstrainedSystemVariables": (lambda: rbdl.CalcConstrainedSystemVariables(plant, q, v, tau, cs), system),
        "ForwardDynamicsConstraintsDirect": (
            lambda: rbdl.ForwardDynamicsConstraintsDirect(plant, q, v, tau, cs),
            system,
        ),
        "ForwardDynamicsConstraintsRangeSpaceSparse": (
            lambda: rbdl.ForwardDynamicsConstraintsRangeSpaceSparse(plant, q, v, tau, cs),
            solution,
        ),
        "ForwardDynamicsConstraintsNullSpace": (
            lambda: rbdl.ForwardDynamicsConstraintsNullSpace(plant, q, v, tau, cs),
            system,
        ),
        "ForwardDynamicsContactsKokkevis": (
            lambda: rbdl.ForwardDynamicsContactsKokkevis(plant, q, v, tau, on_contacts),
            None,
        ),
        "ComputeConstraintImpulsesDirect": (lambda: rbdl.ComputeConstraintImpulsesDirect(plant, q, v, cs), impulses),
        "ComputeConstraintImpulsesRangeSpaceSparse": (
            lambda: rbdl.ComputeConstraintImpulsesRangeSpaceSparse(plant, q, v, cs),
            impulse_solution,
        ),
        "ComputeConstraintImpulsesNullSpace": (
            lambda: rbdl.ComputeConstraintImpulsesNullSpace(plant, q, v, cs),
            impulses,
        ),
        "InverseDynamicsConstraints": (lambda: rbdl.InverseDynamicsConstraints(plant, q, v, wanted, cs), system),
        "InverseDynamicsConstraintsRelaxed": (
            lambda: rbdl.InverseDynamicsConstraintsRelaxed(plant, q, v, wanted, cs),
            system,
        ),
        "ForwardDynamicsConstraintsDerivatives": (
            lambda: rbdl.ForwardDynamicsConstraintsDerivatives(plant, q, v, tau, cs),
            derivatives,
        ),
        "CalcAssemblyQDot": (lambda: rbdl.CalcAssemblyQDot(plant, q, v, cs, ones), velocities),
    }
    return cs.nv, cs.size(), {name: dict(zip(("mbcli", "kernel"), pair, strict=True)) for name, pair in found.items()}


def measure_robot(name):
    case, model = Case(MODELS[name].path, MODELS[name].weld), MODELS[name]
    standing = Standing(case, FEET[name])
    nv, rows, functions = functions_of_robot(case, standing)
    peer = Pinocchio(case, urdf_without_geometry(model.path), model.weld)
    functions["ForwardDynamicsConstraintsRangeSpaceSparse"]["Pinocchio"] = peer.constrained_call(standing).run
    differentiated = peer.constrained_call(standing, derivatives=True)
    functions["ForwardDynamicsConstraintsDerivatives"]["Pinocchio"] = differentiated.run
    ours, theirs = (
        functions["ForwardDynamicsConstraintsDerivatives"]["mbcli"](),
        differentiated.read(differentiated.run()),
    )
    np.testing.assert_allclose(ours.dQDDot_dTau, theirs, atol=1e-9 * abs(theirs).max(), rtol=0)
    print(f"{name}: {nv} velocities, {rows} rows; us, medians: function, its kernel, Pinocchio")
    for function, calls in functions.items():
        seconds = seconds_per_call({what: call for what, call in calls.items() if call is not None}, BRIEF)
        times = [f"{1e6 * statistics.median(seconds[what]):8.1f}" for what in calls if what in seconds]
        print(f"  {function:44}{''.join(times)}", flush=True)
    measure_states(case, standing, peer)


def measure_states(case, standing, peer):
    """Many states at once, a state's share, beside Pinocchio one after another; by the clock, threads count once."""
    plant, cs = case.plant, bound_set(case, standing, False)
    rows = [np.tile(a, (STATES, 1)) for a in (standing.q, standing.v, standing.tau)]
    one = peer.constrained_call(standing).run
    calls = {
        "dynamics": lambda: rbdl.ForwardDynamicsConstraintsOfStates(plant, *rows, cs),
        "on two threads": lambda: rbdl.ForwardDynamicsConstraintsOfStates(plant, *rows, cs, threads=2),
        "Pinocchio": lambda: [one() for _ in range(STATES)],
        "errors and Jacobians": lambda: rbdl.CalcConstraintsJacobianOfStates(plant, rows[0], cs),
        "of these on two threads": lambda: rbdl.CalcConstraintsJacobianOfStates(plant, rows[0], cs, threads=2),
    }
    times = {what: [] for what in calls}
    for _ in range(3 * ROUNDS):
        for what, call in calls.items():
            started = time.perf_counter()
            call()
            times[what].append((time.perf_counter() - started) / STATES)
    print(f"  {STATES} states: " + ", ".join(f"{w} {1e6 * statistics.median(t):.2f} us" for w, t in times.items()))


def measure_assembly(name):
    plant, cs = ASSEMBLIES[name]()
    starts = np.random.default_rng(0).uniform(-np.pi, np.pi, (STARTS, plant.num_positions()))
    weights, times = np.ones(plant.num_velocities()), {}
    calls = {
        "one by one": lambda: [rbdl.CalcAssemblyQ(plant, q, cs, weights) for q in starts],
        "in one call": lambda: rbdl.CalcAssemblyQOfStates(plant, starts, cs, weights),
        "on two threads": lambda: rbdl.CalcAssemblyQOfStates(plant, starts, cs, weights, threads=2),
    }
    for call in calls.values():
        call()
    for _ in range(ROUNDS):
        for what, call in calls.items():
            started = time.perf_counter()
            results = call()
            times.setdefault(what, []).append(time.perf_counter() - started)
    text = ", ".join(f"{what} {1e3 * statistics.median(t) / STARTS:.3f} ms" for what, t in times.items())
    share = sum(result.converged for result in results) / STARTS
    print(f"{name}: {text}; {share:.1%} assembled, median {statistics.median(r.iterations for r in results):g} steps")


def main(names):
    for name in names or [*FEET, "assembly"]:
        if name != "assembly":
            measure_robot(name)
            continue
        for mechanism in ASSEMBLIES:
            measure_assembly(mechanism)


if __name__ == "__main__":
    main(sys.argv[1:])
