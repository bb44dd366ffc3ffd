"""Gains of PD controllers that follow from the masses.

A joint moves what is outboard of it, or, if its outboard end stands on the ground, the rest of its robot: the larger of
both inertias about its axis, I, gets the frequency FREQUENCY and critical damping: Kp = I w^2, Kd = 2 I w. Where an
effort limit is known, Kp asks for no more than all of it at an error of FULL_EFFORT. A joint that is driven at a
velocity has Kd = I DRIVE_RATE. Steps take these controllers implicitly, so that gains of any size are stable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.models.mechanisms import mechanisms
from mbcli.multibody.state.context import Context
from mbcli.multibody.tree.constraints import CouplerConstraint
from mbcli.multibody.tree.joint_kinds import slides_along_axis, turns_about_axis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix6, Vector6
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

FREQUENCY = 10.0  # [Hz] of a joint with its load
DRIVE_RATE = 1000.0  # [1/s] at which a driven joint comes to its velocity
FULL_EFFORT = 0.01  # [rad or m] error at which the effort of a joint reaches its limit, or before
LEAST_INERTIA = 1e-9  # [kg m^2 or kg] of joints that move no mass


def gains(inertia: float, effort: float, kp: float | None = None, kd: float | None = None) -> tuple[float, float]:
    """Kp and Kd for an inertia [kg m^2 or kg] and an effort limit, as far as they are not given."""
    if kp is None:
        kp = min(inertia * (2.0 * np.pi * FREQUENCY) ** 2, effort / FULL_EFFORT)
    if kd is None:
        kd = 2.0 * float(np.sqrt(kp) * np.sqrt(inertia))  # their product may be beyond numbers
    return kp, kd


def joint_inertias(plant: MultibodyPlant, q: ArrayLike) -> np.ndarray:
    """(nv,) [kg m^2 or kg] what a controller of each joint of one velocity has to move at q, see above; else 0.

    Joints that follow a joint by a coupler count with it.
    """
    context = Context(plant, compiled=False)
    plant.SetPositions(context, q)
    M = plant.CalcMassMatrix(context)
    lead = np.eye(len(M))
    for coupler in plant.elements.constraints:
        if isinstance(coupler, CouplerConstraint):
            lead[coupler.joint0.velocity_start(), coupler.joint1.velocity_start()] += coupler.gear_ratio
    outboard = np.diag(lead.T @ M @ lead)
    result = np.maximum(np.where(np.isfinite(outboard), outboard, 0.0), LEAST_INERTIA)
    for whole, bodies in _floating_mechanisms(plant, context):
        for joint in plant.moving_joints():
            if int(joint.child_body().index()) not in bodies:
                continue
            axis = _axis_in_world(plant, context, joint)
            if axis is not None:
                d = joint.velocity_start()
                rest = axis @ whole @ axis - M[d, d] + plant.model.dof_armature[d]
                result[d] = max(result[d], rest)
    return result


def _floating_mechanisms(plant: MultibodyPlant, context: Context) -> Iterator[tuple[Matrix6, set[int]]]:
    """Spatial inertia (6, 6) about World's origin, in World, and indices of the bodies, of what floats freely."""
    number, floating = mechanisms(plant), [n for n, joint in plant.free_joints.items() if not joint.is_locked(context)]
    for mechanism in sorted({int(number[n]) for n in floating}):
        bodies = [b.index() for b in plant.elements.bodies if number[int(b.index())] == mechanism]
        whole = plant.CalcSpatialInertia(context, plant.world_frame(), bodies)
        yield whole.CopyToFullMatrix6(), {int(n) for n in bodies}


def _axis_in_world(plant: MultibodyPlant, context: Context, joint: Any) -> Vector6 | None:
    """The spatial velocity (6,) at World's origin of what a revolute or prismatic joint moves; None for others."""
    if not (turns_about_axis(joint) or slides_along_axis(joint)):
        return None
    X_WF = joint.frame_on_parent().CalcPoseInWorld(context)
    axis = X_WF.rotation().matrix() @ joint.axis()
    if slides_along_axis(joint):
        return np.concatenate([np.zeros(3), axis])
    return np.concatenate([axis, np.cross(X_WF.translation(), axis)])
