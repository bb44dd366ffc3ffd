"""The forces that joints transmit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.core.contact import contact_body_forces
from mbcli.multibody.core.contact_forces import contact_record
from mbcli.multibody.core.coordinates import kernel_numbers
from mbcli.multibody.core.dynamics import known_accelerations
from mbcli.multibody.core.force_elements import check_forces, force_element_forces
from mbcli.multibody.core.inputs import input_body_forces
from mbcli.multibody.core.kinematics import rows_of
from mbcli.multibody.core.lookup import num_joints
from mbcli.multibody.core.step_forces import step_forces
from mbcli.multibody.core.transmissions import transmission_loads
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.math.spatial_vector import vectors_of
from mbcli.multibody.tree.constraints import LoopConstraint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, IntArray, Matrix, Vector, Vector6
    from mbcli.multibody.core.active_constraints import ActiveConstraints
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.core.step_forces import StepForces
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.evaluated_state import EvaluatedState
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.multibody_forces import MultibodyForces


def CalcReactionForces(
    plant: PlantData, context: Context, known_vdot: ArrayLike, external_forces: MultibodyForces
) -> list[SpatialForce]:
    """F_CJc_Jc by JointIndex, as get_reaction_forces_output_port(), of a motion with given accelerations.

    known_vdot: (nv,) [rad/s^2 or m/s^2]. What acts on bodies is in external_forces, as in CalcInverseDynamics(): the
    result is what joints do then, their generalized forces included. Constraints have no forces in it: it is of the
    tree. Takes q and v of the context. RuntimeError for what does not fit the plant.
    """
    plant.check_context(context)
    check_forces(plant, external_forces)
    state = context.state
    vdot = kernel_numbers(context, known_vdot, state.shape_v, "known_vdot")
    F_link, F = state.forces_on_links(external_forces.F_Bo_W), np.zeros((num_joints(plant), 6), state.dtype)
    calls = state.at_velocities()
    state.data.vdot[...] = vdot
    calls.query_reactions(plant.joint_tree, np.array(F_link), F)
    return vectors_of(SpatialForce, rows_of(F))


def reactions_at(plant: PlantData, context: Context) -> list[SpatialForce]:
    """F_CJc_Jc by JointIndex at the state and inputs of the context, of a discrete plant in the step from it.

    That is the live value of get_reaction_forces_output_port().
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    rows = state.input_cache.get("reactions")
    if rows is None:
        rows = rows_of(_calc_reactions(plant, context))
        state.input_cache["reactions"] = rows
    return vectors_of(SpatialForce, rows)


def joint_reactions(plant: PlantData, context: Context) -> Matrix:
    """F_CJc_Jc of all joints at the state, in a discrete plant of the step from it, (num_joints, 6)."""
    plant.check_context(context)
    return _calc_reactions(plant, context)


def _calc_reactions(plant: PlantData, context: Context) -> Matrix:
    """F_CJc_Jc of all joints, (num_joints, 6)."""
    state = context.state
    if plant.is_discrete():
        steps = step_forces(plant, context)
        with state.elsewhere():
            return reactions_of_step(plant, context, steps, 0, contact_record(plant, context))
    vdot, contact = known_accelerations(plant, context), 0.0
    if plant.scene_graph is not None:
        contact = contact_body_forces(plant, context, contact_record(plant, context))
    F_link, _ = force_element_forces(plant, context, True, True, True)
    for F in (input_body_forces(plant, context), contact, transmission_loads(plant, context)):
        F_link += F
    wrenches = state.input_cache.get("constraint_forces", ())
    return _through_joints(plant, state, vdot, F_link, wrenches)


def reactions_of_step(plant: PlantData, context: Context, steps: StepForces, row: int, contacts: Any) -> Matrix:
    """F_CJc_Jc of all joints in one of these steps, (num_joints, 6), with its ContactRecord, None without contact.

    The context gives the parameters; q and v become those of where the step took its forces.
    """
    state, active = context.state, context.state.constraints
    state.set_q(steps.q[row])
    state.set_v(steps.v[row])
    F_link, _ = force_element_forces(plant, context, True, False, False)  # weights
    F_link += steps.loads[row]
    F_link += contact_body_forces(plant, context, contacts)
    of_rows = steps.wrenches[row]
    wrenches = () if active is None else active.wrenches(of_rows)
    return _through_joints(plant, state, steps.vdot[row], F_link, wrenches)


def reactions_of_steps(plant: PlantData, context: Context, steps: StepForces, contacts: Any) -> FloatArray:
    """F_CJc_Jc of all joints in each step, (n, num_joints, 6), with the SampledContacts of these; None: no contact.

    Context as in reactions_of_step().
    """
    found = np.empty((len(steps.q), num_joints(plant), 6))
    for row in range(len(found)):
        of_row = None if contacts is None else contacts.of_row(row)
        found[row] = reactions_of_step(plant, context, steps, row, of_row)
    return found


def _through_joints(
    plant: PlantData, state: EvaluatedState, vdot: Vector, F_link: Matrix, wrenches: Sequence[Vector6 | None]
) -> Matrix:
    """F_CJc_Jc of all joints under F_link (num_bodies, 6) and the wrenches of the constraints of the state."""
    on_loops = {} if state.constraints is None else _add_constraint_forces(state, state.constraints, wrenches, F_link)
    F = np.zeros((num_joints(plant), 6), state.dtype)
    calls = state.at_velocities()
    state.data.vdot[...] = vdot
    calls.query_reactions(plant.joint_tree, F_link, F)
    for joint, force in on_loops.items():
        F[plant.elements.joints.index(joint)] = force
    return F


def _add_constraint_forces(
    state: EvaluatedState, active: ActiveConstraints, wrenches: Sequence[Vector6 | None], F_link: Matrix
) -> dict[Joint, Vector6]:
    """Adds the forces of constraints between bodies to F_link; {loop joint: F_CJc_Jc}.

    wrenches: of each Tie, as ActiveConstraints.wrenches() has them.
    """
    X_WL, on_loops = state.at_links().X_WL, {}
    for tie, wrench in zip(active.rows, wrenches, strict=True):
        if wrench is None:
            continue
        torque, force = wrench[:3], wrench[3:]
        S, P = tie.successor, tie.predecessor
        R_WS = X_WL[S, :9].reshape(3, 3)
        arm = R_WS @ tie.X_S[:3, 3]
        for link, sign, r in ((S, 1.0, arm), (P, -1.0, X_WL[S, 9:] + arm - X_WL[P, 9:])):
            F_link[link, :3] += sign * (torque + np.cross(r, force))
            F_link[link, 3:] += sign * force
        owner = active.row_owners[tie.numbers[0]]
        if isinstance(owner, LoopConstraint):
            R_WM = R_WS @ tie.X_S[:3, :3]
            on_loops[owner.joint] = np.concatenate([R_WM.T @ torque, R_WM.T @ force])
    return on_loops


def joint_tree(plant: PlantData) -> IntArray:
    """For the engine: outboard link, inboard link, frame on child, whether the child is inboard, place in the list.

    Inboard joints come first. A joint that closes a loop has no row: its force is that of its constraint.
    """
    place = {joint: k for k, joint in enumerate(plant.elements.joints)}
    return np.array(
        [
            (m.outboard, m.inboard, m.joint.frame_on_child().index(), m.reversed, place[m.joint])
            for m in plant.mobilized_joints
        ],
        dtype=np.int64,
    ).reshape(-1, 5)
