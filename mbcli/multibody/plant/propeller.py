"""Propellers: thrust and torque on bodies, proportional to commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.math import RigidTransform
from mbcli.multibody.core.applied_forces import ExternallyAppliedSpatialForce
from mbcli.multibody.core.signal_system import SignalSystem
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.tree.index import BodyIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike

    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.systems.ports import InputPort, OutputPort


@dataclass
class PropellerInfo:
    """One propeller, at the origin of frame P and along its z axis."""

    body_index: BodyIndex
    """The body B that carries it."""
    X_BP: RigidTransform = field(default_factory=RigidTransform)
    """Pose of P in B."""
    thrust_ratio: float = 1.0
    """Force along z of P per command [N]."""
    moment_ratio: float = 0.0
    """Moment about z of P per command [N m]."""


class Propeller(SignalSystem):
    """Forces of propellers as they go into a plant's input port applied_spatial_force.

    Propeller(body_index, X_BP, thrust_ratio, moment_ratio) is one propeller, Propeller(propeller_info) takes a list
    of PropellerInfo.
    """

    def __init__(
        self,
        body_index: BodyIndex | Sequence[PropellerInfo] | None = None,
        X_BP: RigidTransform | None = None,
        thrust_ratio: float = 1.0,
        moment_ratio: float = 0.0,
        *,
        propeller_info: Iterable[PropellerInfo] | None = None,
    ) -> None:
        if propeller_info is None:
            if body_index is None:
                raise TypeError("Propeller takes a body_index, or propeller_info")
            if isinstance(body_index, Sequence):
                propeller_info = body_index
            else:
                propeller_info = [PropellerInfo(body_index, X_BP or RigidTransform(), thrust_ratio, moment_ratio)]
        self._propellers = [replace(info, X_BP=RigidTransform(info.X_BP)) for info in propeller_info]
        super().__init__({"command": len(self._propellers), "body_poses": None}, {"spatial_forces": self._forces})
        for n, info in enumerate(self._propellers):
            if not np.isfinite([info.thrust_ratio, info.moment_ratio]).all():
                raise RuntimeError(
                    f"propeller {n}: its ratios must be finite, they are {info.thrust_ratio} and {info.moment_ratio}"
                )

    def num_propellers(self) -> int:
        """The number of propellers."""
        return len(self._propellers)

    def CalcSpatialForces(
        self, command: ArrayLike, body_poses: Sequence[RigidTransform] | dict[int, RigidTransform]
    ) -> list[ExternallyAppliedSpatialForce]:
        """ExternallyAppliedSpatialForce of each propeller, for commands (num_propellers,) and X_WB by BodyIndex."""
        values = np.array(command, dtype=float).reshape(-1)
        if values.shape != (self.num_propellers(),):
            raise RuntimeError(f"{self.num_propellers()} propellers have {values.size} commands")
        return [
            self._force(info, value, body_poses[int(info.body_index)].rotation())
            for info, value in zip(self._propellers, values, strict=True)
        ]

    @staticmethod
    def _force(info, command, R_WB):
        z_W = (R_WB @ info.X_BP.rotation()).matrix()[:, 2]
        force = ExternallyAppliedSpatialForce()
        force.body_index = info.body_index
        force.p_BoBq_B = info.X_BP.translation()
        force.F_Bq_W = SpatialForce(info.moment_ratio * command * z_W, info.thrust_ratio * command * z_W)
        return force

    def MakeSource(
        self, plant: MultibodyPlant, command: ArrayLike | Callable[[Context], ArrayLike]
    ) -> Callable[[Context], Any]:
        """The forces as a function of a plant's context, for the plant's port: port.Follow(context, source).

        Args:
            plant: whose bodies carry the propellers.
            command: (num_propellers,), or a function of the plant's context that gives it.
        """
        bodies = [plant.get_body(BodyIndex(n)) for n in range(plant.num_bodies())]

        def source(context):
            poses = {
                int(i.body_index): plant.EvalBodyPoseInWorld(context, bodies[int(i.body_index)])
                for i in self._propellers
            }
            return self.CalcSpatialForces(command(context) if callable(command) else command, poses)

        return source

    def get_command_input_port(self) -> InputPort:
        """(num_propellers,)"""
        return self.GetInputPort("command")

    def get_body_poses_input_port(self) -> InputPort:
        """X_WB of all bodies by BodyIndex."""
        return self.GetInputPort("body_poses")

    def get_spatial_forces_output_port(self) -> OutputPort:
        """A list of ExternallyAppliedSpatialForce."""
        return self.GetOutputPort("spatial_forces")

    def _forces(self, context):
        return self.CalcSpatialForces(self._required(context, "command"), self._required(context, "body_poses"))
