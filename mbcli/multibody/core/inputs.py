"""Inputs of a plant: actuation, desired states of controllers and applied forces, and the forces that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.query_port import QueryPort
from mbcli.multibody.core.lookup import GetModelInstanceName, num_actuators, num_bodies, of_instance
from mbcli.multibody.core.selectors import u_indices
from mbcli.multibody.tree.index import ModelInstanceIndex
from mbcli.systems.ports import InputPort

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.multibody.tree.pd_law import PdLaw


# ports


def get_actuation_input_port(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> InputPort:
    """u of the plant or of one instance; what is not fixed counts as zero, both add up.

    Args:
      model_instance: default: the whole plant.

    Returns:
      A port of (nu,) [N m or N].

    Raises:
      RuntimeError: before Finalize(); there is no such model instance.

    Example:
      >>> plant.get_actuation_input_port().FixValue(context, [1.5])
      >>> plant.get_net_actuation_output_port().Eval(context)
      array([1.5])
    """
    plant.require_finalized("get_actuation_input_port")
    return plant.GetInputPort(port_name(plant, "actuation", model_instance))


def get_desired_state_input_port(plant: PlantData, model_instance: ModelInstanceIndex) -> InputPort:
    """[q_desired; v_desired] of an instance whose actuators have controllers, in the order of its u.

    Args:
      model_instance: of this plant.

    Returns:
      A port of (2 nu,) [rad or m; rad/s or m/s].

    Raises:
      RuntimeError: before Finalize(); there is no such model instance.

    Example:
      >>> plant.get_desired_state_input_port(plant.GetModelInstanceByName("double_pendulum")).get_name()
      'double_pendulum_desired_state'
    """
    plant.require_finalized("get_desired_state_input_port")
    return plant.GetInputPort(port_name(plant, "desired_state", model_instance))


def get_applied_generalized_force_input_port(plant: PlantData) -> InputPort:
    """tau, added to the forces of the plant as it is.

    Returns:
      A port of (nv,) [N m or N].

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.get_applied_generalized_force_input_port().FixValue(context, [0.0, 1.0])
    """
    plant.require_finalized("get_applied_generalized_force_input_port")
    return plant.GetInputPort("applied_generalized_force")


def get_applied_spatial_force_input_port(plant: PlantData) -> InputPort:
    """Forces on bodies, at points of theirs.

    Returns:
      A port of a list of ExternallyAppliedSpatialForce: F_Bq_W [N m, N] at p_BoBq_B (3,) [m].

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> push = ExternallyAppliedSpatialForce()
      >>> push.body_index, push.p_BoBq_B = plant.GetBodyByName("lower").index(), [0, 0, -0.8]
      >>> push.F_Bq_W = SpatialForce(tau=[0, 0, 0], f=[2.0, 0, 0])
      >>> plant.get_applied_spatial_force_input_port().FixValue(context, [push])
    """
    plant.require_finalized("get_applied_spatial_force_input_port")
    return plant.GetInputPort("applied_spatial_force")


def input_ports(plant: PlantData) -> list[InputPort]:
    """All input ports, by index."""
    plant.require_finalized("input ports")
    if plant.made_input_ports is None:
        from mbcli.multibody.core.applied_forces import check_applied_forces

        sizes: list[tuple[str, int | None]] = [
            ("actuation", plant.model.sizes["nu"]),
            ("applied_generalized_force", plant.model.sizes["nv"]),
            ("applied_spatial_force", None),
        ]
        for instance, name in enumerate(plant.elements.instance_names):
            nu = num_actuators(plant, ModelInstanceIndex(instance))
            on_joints = len(of_instance(plant, plant.elements.actuators, instance))  # what may have controllers
            sizes += [(f"{name}_actuation", nu), (f"{name}_desired_state", 2 * on_joints)]
        plant.made_input_ports = [QueryPort(plant.whole_plant())]
        plant.made_input_ports += [
            InputPort(plant, name, index, size, check_applied_forces) for index, (name, size) in enumerate(sizes, 1)
        ]
    return plant.made_input_ports


def port_name(plant: PlantData, name: str, model_instance: ModelInstanceIndex | None) -> str:
    return name if model_instance is None else f"{GetModelInstanceName(plant, model_instance)}_{name}"


# actuation and controllers


def actuation(plant: PlantData, context: Context) -> Vector:
    """u (nu,): the port of the plant and those of the instances, added; as actuators act where they do as Drake's."""
    inputs = context.inputs
    u = inputs.value("actuation", context)
    u = np.zeros(plant.model.sizes["nu"], context.state.dtype) if u is None else u.copy()
    for name, part in plant.actuation_parts:
        if inputs.has(name):
            u[part] += inputs.value(name, context)
    if plant.settings.drakes_actuators:
        _act_as_in_drake(context, u)
    return u


def _act_as_in_drake(context: Context, u: Vector) -> None:
    """Adds what PD controllers of a continuous plant ask for, if they have a desired state; clamps u to effort limits.

    Controllers that a discrete step takes at its end clamp their sum there.
    """
    plant = context.state.plant
    desired: dict[JointActuator, tuple[Any, Any]] = {}
    if may_act_continuously(plant):
        for instance in {int(a.model_instance()) for a in controlled_actuators(plant)}:
            if context.inputs.has(f"{plant.elements.instance_names[instance]}_desired_state"):
                desired |= _desired_of(plant, context, instance)
    at_end, state = has_controllers(plant), context.state
    for k, actuator in enumerate(plant.elements.actuators):
        law = pd_law(plant, actuator)
        if at_end and law is not None:
            continue
        if actuator in desired and law is not None and not state.parameters.get(actuator.joint(), "locked"):
            joint, (position, velocity) = actuator.joint(), desired[actuator]
            u[k] += law.p * (position - state.q[joint.position_start()])
            u[k] += law.d * (velocity - state.v[joint.velocity_start()])
        u[k] = plant.scalar.clamped(u[k], actuator.effort_limit())


def may_act_continuously(plant: PlantData) -> bool:
    """Whether controllers of a continuous plant act, as in Drake, where they have a desired state."""
    return plant.settings.drakes_actuators and not plant.is_discrete() and bool(controlled_actuators(plant))


def saturated_actuators(plant: PlantData, context: Context) -> list[int]:
    """Places in u of those whose input does not act any more: their effort is at its limit."""
    if not plant.settings.drakes_actuators:
        return []
    limits = np.array([a.effort_limit() for a in plant.elements.actuators])
    u = actuation(plant, context)
    reached = np.abs(plant.scalar.reals(u[: len(limits)])) >= limits
    in_steps = controllers_of_steps(context.state.plant)
    return [int(k) for k in np.flatnonzero(reached) if plant.elements.actuators[k] not in in_steps]


def actuation_parts(plant: PlantData) -> list[tuple[str, list[int]]]:
    """The ports of the actuation of model instances and their parts of u."""
    parts = [(f"{name}_actuation", u_indices(plant, k)) for k, name in enumerate(plant.elements.instance_names)]
    return [(name, part) for name, part in parts if part]


def actuation_ports(plant: PlantData) -> frozenset[str]:
    """The names of the ports of actuation: that of the plant and those of its model instances."""
    return frozenset(["actuation", *(f"{name}_actuation" for name in plant.elements.instance_names)])


def pd_law(plant: PlantData, actuator: JointActuator) -> PdLaw | None:
    """Of the controller that an actuator has in a plant, None for none: that of the run, or its own."""
    controlled: Any = plant.controllers_of_run.get(actuator, actuator)
    law: PdLaw | None = controlled.pd_law()
    return law


def controlled_actuators(plant: PlantData) -> list[JointActuator]:
    """Those with a PD controller."""
    of_run: Any = plant.controllers_of_run
    if not of_run:  # each evaluation of accelerations asks
        return [a for a in plant.elements.actuators if a.has_controller()]
    return [a for a in plant.elements.actuators if of_run.get(a, a).has_controller()]


def controllers_of_steps(plant: PlantData) -> dict[JointActuator, PdLaw]:
    """The controllers that steps take."""
    if not has_controllers(plant):
        return {}
    return {actuator: law for actuator in plant.elements.actuators if (law := pd_law(plant, actuator)) is not None}


def set_controllers(plant: PlantData, context: Context) -> None:
    """Gives the desired states to the context's data. RuntimeError if an instance misses what it needs."""
    plant = context.state.plant
    if not has_controllers(plant):
        return
    controlled = controlled_actuators(plant)
    plant.scalar.require_unlimited_efforts(controlled)
    desired: dict[JointActuator, tuple[Any, Any]] = {}
    for instance in {int(a.model_instance()) for a in controlled}:
        desired |= _desired_of(plant, context, instance)
    state = context.state
    order = [plant.elements.actuators[k] for k in state.model.pd_actuator]
    state.data.pd_desired[:] = np.reshape([desired[a] for a in order], (-1, 2))


def _desired_of(plant: PlantData, context: Context, instance: int) -> dict[JointActuator, tuple[Any, Any]]:
    """{actuator: (position, velocity)} of an instance in which all have controllers."""
    name, actuators = plant.elements.instance_names[instance], of_instance(plant, plant.elements.actuators, instance)
    without = [a.name() for a in actuators if pd_law(plant, a) is None]
    if without and not (plant.mixes_controllers or plant.file_mixes_controllers):
        raise RuntimeError(
            f"model instance '{name}': some of its actuators have a PD controller, '{without[0]}' has none; "
            "give all of them one, or none"
        )
    value = context.inputs.value(f"{name}_desired_state", context)
    if value is None:
        raise RuntimeError(f"model instance '{name}' has PD controllers: its port '{name}_desired_state' has no value")
    n = len(actuators)
    return {a: (value[k], value[n + k]) for k, a in enumerate(actuators)}


def has_controllers(plant: PlantData) -> bool:
    """Whether controllers act: those of continuous plants and of kTamsi are at rest, as in the reference."""
    return bool(controlled_actuators(plant)) and steps_with_controllers(plant)


def steps_with_controllers(plant: PlantData) -> bool:
    """Whether steps take PD controllers: discrete ones, but for those of kTamsi."""
    return plant.is_discrete() and plant.settings.is_convex()


# forces


def input_generalized_forces(plant: PlantData, context: Context, u: Vector) -> Vector:
    """tau (nv,) of all inputs, with the actuation u (nu,) in place of that of the ports."""
    state = context.state
    tau = np.zeros(state.shape_v, state.dtype)
    np.add.at(tau, plant.model.actuator_dof, u[: len(plant.model.actuator_dof)])
    applied = context.inputs.value("applied_generalized_force", context)
    return tau if applied is None else tau + applied


def input_body_forces(plant: PlantData, context: Context) -> Any:
    """(num_bodies, 6), or 0.0 if no force is applied."""
    applied = context.inputs.value("applied_spatial_force", context)
    if not applied:
        return 0.0
    state = context.state
    forces = np.zeros((num_bodies(plant), 6), state.dtype)
    for force in applied:
        n = int(force.body_index)
        if not 0 <= n < num_bodies(plant):
            raise RuntimeError(f"an applied spatial force is on body {n}, the plant has {num_bodies(plant)}")
        R_WB = state.at_links().X_WL[n, :9].reshape(3, 3)
        forces[n] += force.F_Bq_W.Shift(-(R_WB @ force.p_BoBq_B)).get_coeffs()
    return forces
