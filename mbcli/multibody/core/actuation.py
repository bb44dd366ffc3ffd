"""Inputs of a plant: actuation, desired states of controllers and applied forces, and the forces that they are."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.query_port import QueryPort
from mbcli.multibody.core.selectors import Selectors
from mbcli.multibody.tree.index import ModelInstanceIndex
from mbcli.systems.system import InputPort

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint_actuator import JointActuator


class Actuation(Selectors):
    """The part of MultibodyPlant that takes inputs and gives them as forces."""

    _inputs: list[InputPort] | None  # None before they were asked for

    # ports

    def get_actuation_input_port(self, model_instance: ModelInstanceIndex | None = None) -> InputPort:
        """u (nu,) of the plant or of one instance [N m or N]; what is not fixed counts as zero, both add up."""
        self.require_finalized("get_actuation_input_port")
        return self.GetInputPort(self._port_name("actuation", model_instance))

    def get_desired_state_input_port(self, model_instance: ModelInstanceIndex) -> InputPort:
        """[q_desired; v_desired] (2 nu,) of an instance whose actuators have controllers, in the order of its u."""
        self.require_finalized("get_desired_state_input_port")
        return self.GetInputPort(self._port_name("desired_state", model_instance))

    def get_applied_generalized_force_input_port(self) -> InputPort:
        """tau (nv,) [N m or N], added as it is."""
        self.require_finalized("get_applied_generalized_force_input_port")
        return self.GetInputPort("applied_generalized_force")

    def get_applied_spatial_force_input_port(self) -> InputPort:
        """A list of ExternallyAppliedSpatialForce."""
        self.require_finalized("get_applied_spatial_force_input_port")
        return self.GetInputPort("applied_spatial_force")

    def input_ports(self) -> list[InputPort]:
        """All input ports, by index."""
        self.require_finalized("input ports")
        if self._inputs is None:
            from mbcli.multibody.core.applied_forces import check_applied_forces

            sizes: list[tuple[str, int | None]] = [
                ("actuation", self.model.sizes["nu"]),
                ("applied_generalized_force", self.model.sizes["nv"]),
                ("applied_spatial_force", None),
            ]
            for instance, name in enumerate(self.elements.instance_names):
                nu = self.num_actuators(ModelInstanceIndex(instance))
                sizes += [(f"{name}_actuation", nu), (f"{name}_desired_state", 2 * nu)]
            self._inputs = [QueryPort(self.whole_plant())]
            self._inputs += [
                InputPort(self, name, index, size, check_applied_forces) for index, (name, size) in enumerate(sizes, 1)
            ]
        return self._inputs

    def _port_name(self, name: str, model_instance: ModelInstanceIndex | None) -> str:
        return name if model_instance is None else f"{self.GetModelInstanceName(model_instance)}_{name}"

    # actuation and controllers

    def actuation(self, context: Context) -> Vector:
        """u (nu,): the port of the plant and those of the instances, added."""
        inputs = context.inputs
        u = inputs.value("actuation", context)
        u = np.zeros(self.model.sizes["nu"], context.state.dtype) if u is None else u.copy()
        for name, part in self._actuation_parts:
            if inputs.has(name):
                u[part] += inputs.value(name, context)
        return u

    @cached_property
    def _actuation_parts(self) -> list[tuple[str, list[int]]]:
        """The ports of the actuation of model instances and their parts of u."""
        parts = [(f"{name}_actuation", self.u_indices(k)) for k, name in enumerate(self.elements.instance_names)]
        return [(name, part) for name, part in parts if part]

    @cached_property
    def actuation_ports(self) -> frozenset[str]:
        """The names of the ports of actuation: that of the plant and those of its model instances."""
        return frozenset(["actuation", *(f"{name}_actuation" for name in self.elements.instance_names)])

    mixes_controllers = False  # whether actuators with and without a controller may stand in one model instance
    file_mixes_controllers = False  # whether a file does so whose format allows it

    asks_to_be_held = False  # whether its model was loaded with joints to be held or driven, which runs do

    def controlled_actuators(self) -> list[JointActuator]:
        """Those with a PD controller."""
        return [a for a in self.elements.actuators if a.has_controller()]

    def set_controllers(self, context: Context) -> None:
        """Gives the desired states to the context's data. RuntimeError if an instance misses what it needs."""
        if not self.has_controllers():
            return
        controlled = self.controlled_actuators()
        self.scalar.require_unlimited_efforts(controlled)
        desired: dict[JointActuator, tuple[Any, Any]] = {}
        for instance in {int(a.model_instance()) for a in controlled}:
            desired |= self._desired_of(context, instance)
        state = context.state
        order = [self.elements.actuators[k] for k in state.model.pd_actuator]
        state.data.pd_desired[:] = np.reshape([desired[a] for a in order], (-1, 2))

    def _desired_of(self, context: Context, instance: int) -> dict[JointActuator, tuple[Any, Any]]:
        """{actuator: (position, velocity)} of an instance in which all have controllers."""
        name, actuators = self.elements.instance_names[instance], self._of_instance(self.elements.actuators, instance)
        without = [a.name() for a in actuators if not a.has_controller()]
        if without and not (self.mixes_controllers or self.file_mixes_controllers):
            raise RuntimeError(
                f"model instance '{name}': some of its actuators have a PD controller, '{without[0]}' has none; "
                "give all of them one, or none"
            )
        value = context.inputs.value(f"{name}_desired_state", context)
        if value is None:
            raise RuntimeError(
                f"model instance '{name}' has PD controllers: its port '{name}_desired_state' has no value"
            )
        n = len(actuators)
        return {a: (value[k], value[n + k]) for k, a in enumerate(actuators)}

    def has_controllers(self) -> bool:
        """Whether controllers act: those of continuous plants and of kTamsi are at rest, as in the reference."""
        return bool(self.controlled_actuators()) and self.steps_with_controllers()

    def steps_with_controllers(self) -> bool:
        """Whether steps take PD controllers: discrete ones, but for those of kTamsi."""
        return self.is_discrete() and self.settings.is_convex()

    # forces

    def input_generalized_forces(self, context: Context, u: Vector) -> Vector:
        """tau (nv,) of all inputs, with the actuation u (nu,) in place of that of the ports."""
        state = context.state
        tau = np.zeros(state.shape_v, state.dtype)
        np.add.at(tau, self.model.actuator_dof, u)
        applied = context.inputs.value("applied_generalized_force", context)
        return tau if applied is None else tau + applied

    def input_body_forces(self, context: Context) -> Any:
        """(num_bodies, 6), or 0.0 if no force is applied."""
        applied = context.inputs.value("applied_spatial_force", context)
        if not applied:
            return 0.0
        state = context.state
        forces = np.zeros((self.num_bodies(), 6), state.dtype)
        for force in applied:
            n = int(force.body_index)
            if not 0 <= n < self.num_bodies():
                raise RuntimeError(f"an applied spatial force is on body {n}, the plant has {self.num_bodies()}")
            R_WB = state.at_links().X_WL[n, :9].reshape(3, 3)
            forces[n] += force.F_Bq_W.Shift(-(R_WB @ force.p_BoBq_B)).get_coeffs()
        return forces
