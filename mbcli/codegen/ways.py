"""Functions of models in the frames of their bodies, as record_function() takes them: others than by the kernels."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.codegen.body_frames import KINDS, Tree
from mbcli.codegen.point_inertia import ZERO, times, transposed
from mbcli.engine.runtime.model import Data
from mbcli.engine.smooth.forward_dynamics import forward_dynamics, forward_dynamics_again
from mbcli.engine.smooth.spatial import add, cross, dot
from mbcli.tracing.model_functions import factors_of
from mbcli.tracing.recording import recorded_kernels_with

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.tracing.model_functions import ModelFunction
    from mbcli.tracing.recording import Way


def is_covered(model: Any) -> bool:
    """Whether a Tree can be made of a model: one axis or none for each joint, gravity on all mass, plain elements."""
    of_free = [d for b in np.flatnonzero(model.body_free) for d in range(model.body_v[b], model.body_v[b] + 6)]
    kinds = zip(model.body_free[1:], model.body_joint_type[1:].tolist(), strict=True)
    is_simple = all(free or kind in KINDS for free, kind in kinds)
    is_simple = is_simple and not any(model.dof_armature[of_free]) and not np.isin(of_free, model.locked_dof).any()
    return bool(is_simple and model.is_plain and model.uniform_gravity[0])


def _inverse_dynamics(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    q, v, vdot = inputs
    model = tree.model
    tree.place(q)
    tau = tree.in_world_axes(tree.inverse_dynamics(v, vdot, tuple(model.gravity)))
    given = _joint_forces(tree, data, q, v)
    return [x + model.dof_armature[d] * vdot[d] - given[d] for d, x in enumerate(tau)]


def _joint_forces(tree: Tree, data: Any, q: Any, v: Any) -> Any:
    """tau (nv,) of damping, springs and stops."""
    data.q[:], data.v[:], data.tau[:] = q, v, 0.0
    tree.kernels.add_joint_forces(tree.model, data)
    return data.tau


def _forward_dynamics(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    q, v, tau = inputs
    model = tree.model
    tree.place(q)
    bias = tree.inverse_dynamics(v, [0.0] * len(v), tuple(model.gravity))
    total = tree.in_own_axes(tau + _joint_forces(tree, data, q, v))
    data.diagonal[:] = model.dof_armature
    tree.kernels.apply_joint_locks(model, data)
    return tree.in_world_axes(tree.accelerations([x - y for x, y in zip(total, bias, strict=True)], data.diagonal))


def _mass_matrix(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    tree.place(*inputs)
    _add_masses(tree, data.M)
    for d, armature in enumerate(tree.model.dof_armature):
        data.M[d, d] += armature
    return list(data.M.ravel())


def _add_masses(tree: Tree, M: Any) -> None:
    """M (nv, nv), which is zero, becomes the mass matrix without armatures, along World's axes."""
    tree.mass_matrix(M)
    if tree.R_WB:
        for axis in (M, M.T):
            for k in range(len(axis)):
                axis[:, k] = tree.in_world_axes(axis[:, k])


def _mass_matrix_factor(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    n = tree.model.sizes["nv"]
    L, D = np.array(_mass_matrix(tree, data, inputs), dtype=object).reshape(n, n), np.zeros(n, object)
    return [*factors_of(tree.kernels, tree.model, L, D)[0].ravel(), *D]


def _bias(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    q, v = inputs
    tree.place(q)
    return tree.in_world_axes(tree.inverse_dynamics(v, [0.0] * len(v), ZERO))


def _gravity(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    tree.place(*inputs)
    rest = [0.0] * tree.model.sizes["nv"]
    return [-x for x in tree.in_world_axes(tree.inverse_dynamics(rest, rest, tuple(tree.model.gravity)))]


def _articulated(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    q, v, tau = inputs
    model = tree.model
    tree.place(q)
    total = tau + _joint_forces(tree, data, q, v)
    data.diagonal[:] = model.dof_armature
    tree.kernels.apply_joint_locks(model, data)
    return _accelerations(tree, v, total, data.diagonal)


def _accelerations(tree: Tree, v: Any, tau: Any, diagonal: Any) -> list[Any]:
    own = tree.in_own_axes(tau)
    return tree.in_world_axes(tree.articulated_accelerations(v, own, diagonal, tuple(tree.model.gravity)))


def _momentum(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    q, v = inputs
    tree.place(q)
    spin, linear, _ = tree.momentum(v)
    return [*spin, *linear]


def _energy(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    q, v = inputs
    model = tree.model
    tree.place(q)
    data.q[:], data.v[:] = q, v
    twice = tree.momentum(v)[2]
    moment = add(tree.first_moment(), tuple(model.gravitating_mass[0, 1:]))  # scenery has its height too
    potential = model.spring_energy[0] + tree.kernels.stop_energy(model, data) - dot(tuple(model.gravity), moment)
    for d, armature in enumerate(model.dof_armature):
        twice = twice + armature * v[d] * v[d]
        stretch = tree.kernels.spring_stretch(model, q, d)
        potential = potential + 0.5 * model.dof_stiffness[d] * stretch * stretch
    return [0.5 * twice, potential]


def _center_of_mass(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    tree.place(*inputs)
    return _by_mass(tree, tree.first_moment())


def _com_velocity(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    q, v = inputs
    tree.place(q)
    return _by_mass(tree, tree.momentum(v)[1])


def _by_mass(tree: Tree, moment: Any) -> list[Any]:
    """A moment over the mass of all that moves."""
    model = tree.model
    mass = sum(model.link_inertia[np.flatnonzero(model.link_body), 0].tolist())
    return [x / mass for x in moment]


IN_BODY_FRAMES: dict[str, tuple[Callable[[Tree, Any, Any], list[Any]], ...]] = {
    "inverse_dynamics": (_inverse_dynamics,),
    "forward_dynamics": (_forward_dynamics, _articulated),
    "mass_matrix": (_mass_matrix,),
    "mass_matrix_factor": (_mass_matrix_factor,),
    "bias": (_bias,),
    "gravity": (_gravity,),
    "momentum": (_momentum,),
    "energy": (_energy,),
    "center_of_mass": (_center_of_mass,),
    "com_velocity": (_com_velocity,),
}
WAYS = ((True, True), (True, False), (False, False))  # lumped, slid


def ways_in_body_frames(name: str, model: Any, of: Any = None) -> list[Way]:
    """Ways to compute a function of a model in the frames of its bodies, as record_function() takes them.

    of: as there; links of which some that move do not count have no such way.
    """
    if name not in IN_BODY_FRAMES or not is_covered(model):
        return []
    has_mass = model.link_inertia[:, 0] != 0.0
    if of is not None and not np.array_equal(np.asarray(of)[has_mass], (model.link_body != 0)[has_mass]):
        return []

    def way(function: Any, lumped: bool, slid: bool) -> Way:
        return lambda kernels, model, inputs: function(
            Tree(model, kernels, lumped, slid), Data(model.sizes, np.dtype(object)), inputs
        )

    return [way(function, *each) for function in IN_BODY_FRAMES[name] for each in WAYS]


def step_ways(function: ModelFunction, start: Callable[..., None], model: Any) -> list[Way]:
    """As ways_in_body_frames(), of a step whose accelerations alone are computed there.

    start: (kernels, model, data, inputs) -> does what comes before forces; q is where they are taken then.
    """
    trees: list[Tree] = []

    def accelerate(model: Any, data: Any) -> None:
        data.vdot[:] = _accelerations(trees[-1], data.v, data.tau, data.diagonal)

    @functools.cache
    def kernels_in_body_frames() -> Any:
        return recorded_kernels_with({forward_dynamics: accelerate, forward_dynamics_again: accelerate})

    def way(lumped: bool, slid: bool) -> Way:
        def numbers(kernels: Any, model: Any, inputs: Any) -> list[Any]:
            trees[:], before = [Tree(model, kernels, lumped, slid)], Data(model.sizes, np.dtype(object))
            start(kernels, model, before, inputs)
            trees[-1].place(before.q)
            return _flat(
                function.evaluate(kernels_in_body_frames(), model, Data(model.sizes, np.dtype(object)), inputs, None)
            )

        return numbers

    return [way(*each) for each in WAYS] if is_covered(model) else []


def constrained_ways(function: ModelFunction, model: Any) -> list[Way]:
    """As ways_in_body_frames(), of a function that calls take_system() with the `of` that it is given."""

    def way(each: tuple[bool, bool]) -> Way:
        return lambda kernels, model, inputs: _flat(
            function.evaluate(kernels, model, Data(model.sizes, np.dtype(object)), inputs, each)
        )

    return [way(each) for each in WAYS] if is_covered(model) else []


def _flat(arrays: Sequence[Any]) -> list[Any]:
    return [x for array in arrays for x in array.flat]


def take_system(way: tuple[bool, bool], kernels: Any, model: Any, data: Any, cons: Any, work: Any) -> None:
    """bias and packed_H of constraint_stages.py, at the q and v of `data`, computed in the frames of bodies.

    way: one of WAYS.
    """
    tree = Tree(model, kernels, *way)
    tree.place(data.q)
    n = len(data.v)
    M = np.zeros((n, n), object)
    _add_masses(tree, M)
    work.bias[:] = tree.in_world_axes(tree.inverse_dynamics(data.v, [0.0] * n, tuple(model.gravity)))
    for d in range(n):
        M[d, d] += data.diagonal[d]
        k, e = cons.dof_packed[d] + cons.dof_level[d], d
        while e >= 0:
            work.packed_H[k] = M[d, e]
            k, e = k - 1, model.dof_parent[e]


def regressor_ways(model: Any, frames: Sequence[int]) -> list[Way]:
    """As ways_in_body_frames(), of the regressor with columns for the bodies of these frames."""
    if not is_covered(model):
        return []

    def way(kernels: Any, model: Any, inputs: Any) -> list[Any]:
        q, v, vdot = inputs
        tree = Tree(model, kernels, False, False)
        tree.place(q)
        motion, by = tree.motion(v, vdot, tuple(model.gravity)), tree.velocities_by()
        Y = np.zeros((len(v), 10 * len(frames)), object)
        for k, f in enumerate(frames):
            b, X = int(model.frame_body[f]), model.frame_X_BF[f].tolist()
            R, p = transposed((X[0:3], X[3:6], X[6:9])), (X[9], X[10], X[11])
            w, alpha, U, a = motion[b]
            w, alpha, a = times(R, w), times(R, alpha), times(R, add(a, times(U, p)))
            for d, (s_w, s_v) in by[b].items():
                s_v, s_w = times(R, add(s_v, cross(s_w, p))), times(R, s_w)
                mass, moment = kernels.mass_elements(s_v, s_w, w, alpha, a)
                first, second = kernels.inertia_elements(s_w, w, alpha)
                Y[d, 10 * k : 10 * k + 10] = [mass, *moment, *first, *second]
        return list(Y.ravel())

    return [way]
