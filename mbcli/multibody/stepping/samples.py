"""What a run gives of the states that it goes through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np

    from mbcli.multibody.core.step_forces import StepForces


@dataclass(frozen=True)
class Samples:
    """Rows of a run: time (n,), q (n, nq), v (n, nv), energy (n, 2) kinetic and potential [J], u (n, nu).

    effort (n, nu): of the actuators, with what controllers add and within limits, in a discrete plant in the step from
    the row; NaN in a run that does not keep it.

    constraint_error (n,): norm of the position errors of constraints. contacts: SampledContacts of a run that keeps
    them, else None; they are those of each row's state, in a discrete plant with the forces of the step from it.
    deformables: positions (n, vertices, 3) [m] of each deformable body of the plant, in W.
    vdot (n, nv): of a run that keeps accelerations, else None: those at the row's state, in a discrete plant the mean
    ones of the step from it. steps: StepForces of that step, None without it.

    desired (n, k, 2): positions and velocities that the PD controllers of the plant aim at, in the order of
    `model.pd_actuator`. activations (n, k): of actuators, in their order in u.

    The potential energy is NaN in a plant with a force element that has none, as a bushing.
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    energy: np.ndarray
    u: np.ndarray
    constraint_error: np.ndarray
    contacts: object = None
    deformables: tuple[np.ndarray, ...] = ()
    effort: Any = None
    vdot: np.ndarray | None = None
    desired: Any = None
    activations: Any = None
    steps: StepForces | None = None
