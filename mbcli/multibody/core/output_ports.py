"""Outputs of a plant: of its state, and of the forces and accelerations of its last step."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mbcli.multibody.core.kinematics import Kinematics
from mbcli.multibody.core.reaction_forces import ReactionForces
from mbcli.multibody.math import SpatialAcceleration, SpatialForce
from mbcli.multibody.tree.index import ModelInstanceIndex
from mbcli.systems.system import OutputPort, port_named

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from mbcli.geometry.frame_poses import FramePoseVector, GeometryConfigurationVector
    from mbcli.math.array_types import Vector
    from mbcli.multibody.state.context import Context

    Port: TypeAlias = tuple[str, int | None, Callable[[Context], Any]]  # name, size, value


OF_STATE = ("geometry_pose", "deformable_body_configuration", "body_poses", "body_spatial_velocities")


class OutputPorts(ReactionForces, Kinematics):
    """The part of MultibodyPlant that has output ports.

    State, poses and velocities are always those of the context. Where a discrete plant has sampled output ports, all
    others show what the last step computed, from the state and inputs before it; before the first step they are zero.
    """

    _outputs: list[OutputPort] | None  # None before they were asked for

    def SetUseSampledOutputPorts(self, use_sampled_output_ports: bool) -> None:
        """Before Finalize(). RuntimeError if a continuous plant is to have sampled ports."""
        self.require_not_finalized("SetUseSampledOutputPorts")
        if use_sampled_output_ports and not self.is_discrete():
            raise RuntimeError("SetUseSampledOutputPorts: the plant is continuous, its time step is 0")
        self.settings.sampled_outputs = bool(use_sampled_output_ports)

    def has_sampled_output_ports(self) -> bool:
        """False for a continuous plant."""
        return self.settings.sampled_outputs

    def get_state_output_port(self, model_instance: ModelInstanceIndex | None = None) -> OutputPort:
        """[q; v] of the plant or of one instance."""
        return self._output("get_state_output_port", "state", model_instance)

    def get_body_poses_output_port(self) -> OutputPort:
        """A list of X_WB by BodyIndex."""
        return self._output("get_body_poses_output_port", "body_poses")

    def get_body_spatial_velocities_output_port(self) -> OutputPort:
        """A list of V_WB by BodyIndex."""
        return self._output("get_body_spatial_velocities_output_port", "body_spatial_velocities")

    def get_body_spatial_accelerations_output_port(self) -> OutputPort:
        """A list of A_WB at Bo by BodyIndex."""
        return self._output("get_body_spatial_accelerations_output_port", "body_spatial_accelerations")

    def get_generalized_acceleration_output_port(self, model_instance: ModelInstanceIndex | None = None) -> OutputPort:
        """vdot of the plant or of one instance."""
        return self._output("get_generalized_acceleration_output_port", "generalized_acceleration", model_instance)

    def get_net_actuation_output_port(self, model_instance: ModelInstanceIndex | None = None) -> OutputPort:
        """u of the plant or of one instance that acts, controllers included [N m or N]."""
        return self._output("get_net_actuation_output_port", "net_actuation", model_instance)

    def get_reaction_forces_output_port(self) -> OutputPort:
        """A list by JointIndex of F_CJc_Jc: what the joint does to its child C, at its frame Jc on C, along its axes.

        Whatever passes through the joint is in it: constraint forces, actuation, damping and springs of the joint.
        Parent and child are those of the joint, wherever World is; welds and floating joints count too.
        """
        return self._output("get_reaction_forces_output_port", "reaction_forces")

    def get_contact_results_output_port(self) -> OutputPort:
        """ContactResults."""
        return self._output("get_contact_results_output_port", "contact_results")

    def get_generalized_contact_forces_output_port(self, model_instance: ModelInstanceIndex) -> OutputPort:
        """Generalized forces of contact on the velocities of one instance."""
        name = "generalized_contact_forces"
        return self._output("get_generalized_contact_forces_output_port", name, model_instance)

    def get_geometry_pose_output_port(self) -> OutputPort:
        """A FramePoseVector of X_WB by FrameId of all bodies that are registered with a SceneGraph, without World."""
        return self._output("get_geometry_pose_output_port", "geometry_pose")

    def get_deformable_body_configuration_output_port(self) -> OutputPort:
        """A GeometryConfigurationVector of the vertices of each deformable body (3 n,) [m] in W, by GeometryId."""
        return self._output("get_deformable_body_configuration_output_port", "deformable_body_configuration")

    def GetOutputPort(self, port_name: str) -> OutputPort:
        """The output port of that name. RuntimeError if there is none, or before Finalize()."""
        try:
            return self._output_ports_by_name[port_name]
        except KeyError:
            return port_named(self.output_ports(), port_name, "output")  # raises

    @cached_property
    def _output_ports_by_name(self) -> dict[str, OutputPort]:
        return {port.get_name(): port for port in reversed(self.output_ports())}

    def _output(self, getter: str, name: str, model_instance: ModelInstanceIndex | None = None) -> OutputPort:
        self.require_finalized(getter)
        return self.GetOutputPort(self._port_name(name, model_instance))

    def output_ports(self) -> list[OutputPort]:
        """All output ports, by index."""
        self.require_finalized("output ports")
        if self._outputs is None:
            from mbcli.multibody.core.contact_results import ContactResults

            plant = self.whole_plant()
            sizes, bodies, joints = self.model.sizes, self.num_bodies(), self.num_joints()
            nv, nu = sizes["nv"], sizes["nu"]
            made: list[Port] = [
                ("geometry_pose", None, self._geometry_poses),
                ("deformable_body_configuration", None, self._deformable_configuration),
                ("state", sizes["nq"] + nv, self.GetPositionsAndVelocities),
                ("body_poses", None, self._body_poses),
                ("body_spatial_velocities", None, self._body_velocities),
                self._dynamic(
                    "body_spatial_accelerations",
                    None,
                    self._body_accelerations,
                    lambda: [SpatialAcceleration.Zero() for _ in range(bodies)],
                ),
                self._dynamic("generalized_acceleration", nv, self._all_vdot, lambda: np.zeros(nv)),
                self._dynamic("net_actuation", nu, self.net_actuation, lambda: np.zeros(nu)),
                self._dynamic(
                    "reaction_forces", None, self.reactions_at, lambda: [SpatialForce.Zero() for _ in range(joints)]
                ),
            ]
            made.append(self._dynamic("contact_results", None, self._contact_results, lambda: ContactResults(plant)))
            for instance in range(self.num_model_instances()):
                made += self._instance_ports(ModelInstanceIndex(instance))
            sampled = self.settings.sampled_outputs
            self._outputs = [
                OutputPort(self, name, f, k, size, [] if sampled or self._is_of_state(name) else None)
                for k, (name, size, f) in enumerate(made)
            ]
        return self._outputs

    def _is_of_state(self, name: str) -> bool:
        """Whether an output follows from the state alone."""
        return name.endswith("state") or name in OF_STATE

    def _instance_ports(self, instance: ModelInstanceIndex) -> list[Port]:
        v, u, prefix = self.v_indices(instance), self.u_indices(instance), self.elements.instance_names[int(instance)]
        return [
            (
                f"{prefix}_state",
                self.num_multibody_states(instance),
                lambda context: self.GetPositionsAndVelocities(context, instance),
            ),
            self._dynamic(
                f"{prefix}_generalized_acceleration",
                len(v),
                lambda context: self._all_vdot(context)[v],
                lambda: np.zeros(len(v)),
            ),
            self._dynamic(
                f"{prefix}_generalized_contact_forces",
                len(v),
                lambda context: self._generalized_contact_forces(context)[v],
                lambda: np.zeros(len(v)),
            ),
            self._dynamic(
                f"{prefix}_net_actuation",
                len(u),
                lambda context: self.net_actuation(context)[u],
                lambda: np.zeros(len(u)),
            ),
        ]

    def _dynamic(
        self, name: str, size: int | None, evaluate: Callable[[Context], Any], nothing: Callable[[], Any]
    ) -> Port:
        """A port of forces or accelerations: sampled, nothing() before the first step, or live."""
        if not self.settings.sampled_outputs:
            return name, size, evaluate

        def sample(context: Context) -> Any:
            self.check_context(context)
            before = context.last_step.context_before(context)
            return nothing() if before is None else evaluate(before)

        return name, size, sample

    def _all_vdot(self, context: Context) -> Vector:
        return self._accelerations(context).copy()

    def net_actuation(self, context: Context) -> Vector:
        """A new u (nu,) that acts: what is fed forward, or the effort of a controller."""
        if not self.has_controllers():
            self.check_context(context)
            return self.actuation(context)
        self._accelerations(context)
        return context.state.of_inputs["net_actuation"].copy()

    def _deformable_configuration(self, context: Context) -> GeometryConfigurationVector:
        self.check_context(context)
        from mbcli.geometry.frame_poses import GeometryConfigurationVector

        configuration = GeometryConfigurationVector()
        for body, state in zip(self.elements.deformable_bodies, context.state.deformables, strict=True):
            configuration.set_value(body.geometry_id(), state.q.ravel().copy())
        return configuration

    def _geometry_poses(self, context: Context) -> FramePoseVector:
        from mbcli.geometry.frame_poses import FramePoseVector

        poses = FramePoseVector()
        for body, X_WB in zip(self.elements.bodies[1:], self._body_poses(context)[1:], strict=True):
            if int(body.index()) in self._frame_ids:
                poses.set_value(self._frame_ids[int(body.index())], X_WB)
        return poses
