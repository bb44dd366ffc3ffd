"""Outputs of a plant: of its state, and of the forces and accelerations of its last step.

State, poses and velocities are always those of the context. Where a discrete plant has sampled output ports, all others
show what the last step computed, from the state and inputs before it; before the first step they are zero.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mbcli.geometry.frame_poses import FramePoseVector, GeometryConfigurationVector
from mbcli.math import RigidTransform
from mbcli.multibody.core.contact_forces import contact_results, generalized_contact_forces
from mbcli.multibody.core.coordinates import GetPositionsAndVelocities, num_multibody_states, v_indices
from mbcli.multibody.core.dynamics import known_accelerations
from mbcli.multibody.core.inputs import actuation, has_controllers, port_name
from mbcli.multibody.core.kinematics import body_accelerations, body_poses, body_velocities
from mbcli.multibody.core.lookup import num_bodies, num_joints, num_model_instances
from mbcli.multibody.core.reaction_forces import reactions_at
from mbcli.multibody.core.selectors import u_indices
from mbcli.multibody.math import SpatialAcceleration, SpatialForce, SpatialVelocity
from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.tree.index import ModelInstanceIndex
from mbcli.systems.ports import OutputPort, port_named

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from mbcli.math.array_types import Vector
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context

    Port: TypeAlias = tuple[str, int | None, Callable[[Context], Any]]  # name, size, value


OF_STATE = ("geometry_pose", "deformable_body_configuration", "body_poses", "body_spatial_velocities")


def SetUseSampledOutputPorts(plant: PlantData, use_sampled_output_ports: bool) -> None:
    """Whether output ports show the last step of a discrete plant, rather than what the state of the context gives.

    Args:
      use_sampled_output_ports: True for the last step.

    Raises:
      RuntimeError: after Finalize(); a continuous plant is to have sampled ports.

    Example:
      >>> stepping = MultibodyPlant(0.01)
      >>> stepping.SetUseSampledOutputPorts(False)
    """
    plant.require_not_finalized("SetUseSampledOutputPorts")
    if use_sampled_output_ports and not plant.is_discrete():
        raise RuntimeError("SetUseSampledOutputPorts: the plant is continuous, its time step is 0")
    plant.settings.sampled_outputs = bool(use_sampled_output_ports)


def has_sampled_output_ports(plant: PlantData) -> bool:
    """False for a continuous plant."""
    return plant.settings.sampled_outputs


def get_state_output_port(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> OutputPort:
    """[q; v] of the plant or of one instance, as a port.

    Args:
      model_instance: default: the whole plant.

    Returns:
      A port of (nq + nv,) [rad or m; rad/s or m/s].

    Raises:
      RuntimeError: before Finalize(); there is no such model instance.

    Example:
      >>> plant.get_state_output_port().Eval(context)
      array([ 0.4, -0.9,  1.1, -0.6])
    """
    return output_of_instance(plant, "get_state_output_port", "state", model_instance)


def get_body_poses_output_port(plant: PlantData) -> OutputPort:
    """The poses of all bodies, as a port.

    Returns:
      A port of a list of X_WB [m] by BodyIndex.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.get_body_poses_output_port().Eval(context)[2].translation().round(4)
      array([-0.3894,  0.    ,  1.0789])
    """
    return output_of_instance(plant, "get_body_poses_output_port", "body_poses")


def get_body_spatial_velocities_output_port(plant: PlantData) -> OutputPort:
    """A list of V_WB by BodyIndex."""
    return output_of_instance(plant, "get_body_spatial_velocities_output_port", "body_spatial_velocities")


def get_body_spatial_accelerations_output_port(plant: PlantData) -> OutputPort:
    """A list of A_WB at Bo by BodyIndex."""
    return output_of_instance(plant, "get_body_spatial_accelerations_output_port", "body_spatial_accelerations")


def get_generalized_acceleration_output_port(
    plant: PlantData, model_instance: ModelInstanceIndex | None = None
) -> OutputPort:
    """vdot of the plant or of one instance, as a port.

    Args:
      model_instance: default: the whole plant.

    Returns:
      A port of (nv,) [rad/s^2 or m/s^2]; of a discrete plant those of the last step: SetUseSampledOutputPorts().

    Raises:
      RuntimeError: before Finalize(); there is no such model instance.

    Example:
      >>> plant.get_generalized_acceleration_output_port().Eval(context).round(3)
      array([-7.517, 26.864])
    """
    return output_of_instance(
        plant, "get_generalized_acceleration_output_port", "generalized_acceleration", model_instance
    )


def get_net_actuation_output_port(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> OutputPort:
    """u of the plant or of one instance that acts, controllers included, as a port.

    Args:
      model_instance: default: the whole plant.

    Returns:
      A port of (nu,) [N m or N]; of a discrete plant that of the last step: SetUseSampledOutputPorts().

    Raises:
      RuntimeError: before Finalize(); there is no such model instance.

    Example:
      >>> plant.get_actuation_input_port().FixValue(context, [1.5])
      >>> plant.get_net_actuation_output_port().Eval(context)
      array([1.5])
    """
    return output_of_instance(plant, "get_net_actuation_output_port", "net_actuation", model_instance)


def get_reaction_forces_output_port(plant: PlantData) -> OutputPort:
    """A list by JointIndex of F_CJc_Jc: what the joint does to its child C, at its frame Jc on C, along its axes.

    Whatever passes through the joint is in it: constraint forces, actuation, damping and springs of the joint.
    Parent and child are those of the joint, wherever World is; welds and floating joints count too.

    Returns:
      A port of a list of SpatialForce, torque before force [N m, N]; of a discrete plant those of the last step.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> F_CJc_Jc = plant.get_reaction_forces_output_port().Eval(plant.CreateDefaultContext())
      >>> F_CJc_Jc[1].translational().round(3)  # the elbow carries `lower`
      array([0.   , 0.   , 5.886])
    """
    return output_of_instance(plant, "get_reaction_forces_output_port", "reaction_forces")


def get_contact_results_output_port(plant: PlantData) -> OutputPort:
    """What touches, as a port.

    Returns:
      A port of ContactResults: points and surfaces in W [m], forces on B in W [N]; of a discrete plant those of the
      last step: SetUseSampledOutputPorts().

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.get_contact_results_output_port().Eval(context).num_point_pair_contacts()
      0
    """
    return output_of_instance(plant, "get_contact_results_output_port", "contact_results")


def get_generalized_contact_forces_output_port(plant: PlantData, model_instance: ModelInstanceIndex) -> OutputPort:
    """Generalized forces of contact on the velocities of one instance."""
    name = "generalized_contact_forces"
    return output_of_instance(plant, "get_generalized_contact_forces_output_port", name, model_instance)


def get_geometry_pose_output_port(plant: PlantData) -> OutputPort:
    """A FramePoseVector of X_WB by FrameId of all bodies that are registered with a SceneGraph, without World."""
    return output_of_instance(plant, "get_geometry_pose_output_port", "geometry_pose")


def get_deformable_body_configuration_output_port(plant: PlantData) -> OutputPort:
    """A GeometryConfigurationVector of the vertices of each deformable body (3 n,) [m] in W, by GeometryId."""
    return output_of_instance(plant, "get_deformable_body_configuration_output_port", "deformable_body_configuration")


def GetOutputPort(plant: PlantData, port_name: str) -> OutputPort:
    """The output port of that name.

    Args:
      port_name: as "state", "body_poses" or "double_pendulum_state".

    Returns:
      The OutputPort.

    Raises:
      RuntimeError: there is none, or before Finalize().

    Example:
      >>> plant.GetOutputPort("state").size()
      4
    """
    try:
        return plant.output_ports_by_name[port_name]
    except KeyError:
        return port_named(output_ports(plant), port_name, "output")  # raises


def output_ports_by_name(plant: PlantData) -> dict[str, OutputPort]:
    """The output ports by their names."""
    return {port.get_name(): port for port in reversed(output_ports(plant))}


def output_of_instance(
    plant: PlantData, getter: str, name: str, model_instance: ModelInstanceIndex | None = None
) -> OutputPort:
    plant.require_finalized(getter)
    return GetOutputPort(plant, port_name(plant, name, model_instance))


def output_ports(plant: PlantData) -> list[OutputPort]:
    """All output ports, by index."""
    plant.require_finalized("output ports")
    if plant.made_output_ports is None:
        from mbcli.multibody.core.contact_results import ContactResults

        whole = plant.whole_plant()
        sizes, bodies, joints = plant.model.sizes, num_bodies(plant), num_joints(plant)
        nv, nu = sizes["nv"], sizes["nu"]
        examples: dict[str, Callable[[], Any]] = {
            "geometry_pose": FramePoseVector,
            "deformable_body_configuration": GeometryConfigurationVector,
            "body_poses": lambda: [RigidTransform() for _ in range(bodies)],
            "body_spatial_velocities": lambda: [SpatialVelocity.Zero() for _ in range(bodies)],
            "body_spatial_accelerations": lambda: [SpatialAcceleration.Zero() for _ in range(bodies)],
            "reaction_forces": lambda: [SpatialForce.Zero() for _ in range(joints)],
            "contact_results": lambda: ContactResults(whole),
        }
        made: list[Port] = [
            ("geometry_pose", None, partial(_geometry_poses, plant)),
            ("deformable_body_configuration", None, partial(_deformable_configuration, plant)),
            ("state", sizes["nq"] + nv, partial(GetPositionsAndVelocities, plant)),
            ("body_poses", None, partial(body_poses, plant)),
            ("body_spatial_velocities", None, partial(body_velocities, plant)),
            _dynamic_port(
                plant,
                "body_spatial_accelerations",
                None,
                partial(body_accelerations, plant),
                examples["body_spatial_accelerations"],
            ),
            _dynamic_port(plant, "generalized_acceleration", nv, partial(_all_vdot, plant), lambda: np.zeros(nv)),
            _dynamic_port(plant, "net_actuation", nu, partial(net_actuation, plant), lambda: np.zeros(nu)),
            *(
                _dynamic_port(plant, name, None, partial(values, plant), examples[name])
                for name, values in (("reaction_forces", reactions_at), ("contact_results", contact_results))
            ),
        ]
        for instance in range(num_model_instances(plant)):
            made += _instance_ports(plant, ModelInstanceIndex(instance))
        sampled = plant.settings.sampled_outputs
        plant.made_output_ports = [
            OutputPort(plant, name, _in_numbers_of(plant, f), k, size, [] if sampled or _is_of_state(name) else None)
            for k, (name, size, f) in enumerate(made)
        ]
        for port in plant.made_output_ports:
            port.allocator = examples.get(port.get_name())
    return plant.made_output_ports


def _in_numbers_of(plant: PlantData, evaluate: Callable[[Context], Any]) -> Callable[[Context], Any]:
    """The function of a port, with results in the numbers of the plant throughout."""
    if plant.scalar is FLOAT:
        return evaluate
    from mbcli.multibody.core.scalar_results import with_results  # late: most plants are of floats

    return with_results(evaluate, plant.scalar.name)


def _is_of_state(name: str) -> bool:
    """Whether an output follows from the state alone."""
    return name.endswith("state") or name in OF_STATE


def _instance_ports(plant: PlantData, instance: ModelInstanceIndex) -> list[Port]:
    v, u, prefix = v_indices(plant, instance), u_indices(plant, instance), plant.elements.instance_names[int(instance)]
    return [
        (
            f"{prefix}_state",
            num_multibody_states(plant, instance),
            lambda context: GetPositionsAndVelocities(plant, context, instance),
        ),
        _dynamic_port(
            plant,
            f"{prefix}_generalized_acceleration",
            len(v),
            lambda context: _all_vdot(plant, context)[v],
            lambda: np.zeros(len(v)),
        ),
        _dynamic_port(
            plant,
            f"{prefix}_generalized_contact_forces",
            len(v),
            lambda context: generalized_contact_forces(plant, context)[v],
            lambda: np.zeros(len(v)),
        ),
        _dynamic_port(
            plant,
            f"{prefix}_net_actuation",
            len(u),
            lambda context: net_actuation(plant, context)[u],
            lambda: np.zeros(len(u)),
        ),
    ]


def _dynamic_port(
    plant: PlantData, name: str, size: int | None, evaluate: Callable[[Context], Any], nothing: Callable[[], Any]
) -> Port:
    """A port of forces or accelerations: sampled, nothing() before the first step, or live."""
    if not plant.settings.sampled_outputs:
        return name, size, evaluate

    def sample(context: Context) -> Any:
        plant.check_context(context)
        before = context.last_step.context_before(context)
        return nothing() if before is None else evaluate(before)

    return name, size, sample


def _all_vdot(plant: PlantData, context: Context) -> Vector:
    return known_accelerations(plant, context).copy()


def net_actuation(plant: PlantData, context: Context) -> Vector:
    """A new u (nu,) that acts: what is fed forward, or the effort of a controller."""
    if not has_controllers(context.state.plant):
        plant.check_context(context)
        return actuation(plant, context)
    known_accelerations(plant, context)
    return context.state.input_cache["net_actuation"].copy()


def _deformable_configuration(plant: PlantData, context: Context) -> GeometryConfigurationVector:
    plant.check_context(context)
    configuration = GeometryConfigurationVector()
    for body, state in zip(plant.elements.deformable_bodies, context.state.deformables, strict=True):
        configuration.set_value(body.geometry_id(), state.q.ravel().copy())
    return configuration


def _geometry_poses(plant: PlantData, context: Context) -> FramePoseVector:
    poses = FramePoseVector()
    for body, X_WB in zip(plant.elements.bodies[1:], body_poses(plant, context)[1:], strict=True):
        if int(body.index()) in plant.frame_ids:
            poses.set_value(plant.frame_ids[int(body.index())], X_WB)
    return poses
