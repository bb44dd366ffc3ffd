"""Inputs of a plant: actuation and applied forces, as ports with the reference's names."""

import numpy as np


class ExternallyAppliedSpatialForce:
    """A spatial force F_Bq_W on a body at point q, given from its origin as p_BoBq_B."""

    def __init__(self):
        self.body_index = None
        self.p_BoBq_B = np.zeros(3)
        self.F_Bq_W = None


class InputPort:
    """A value that a context holds for a plant."""

    def __init__(self, plant, name, size=None):
        self._plant, self._name, self._size = plant, name, size

    def get_name(self):
        return self._name

    def size(self):
        return self._size or 0

    def FixValue(self, context, value):
        """Keeps a constant value in the context."""
        self._plant._check_context(context)
        if self._size is not None:
            value = np.atleast_1d(np.array(value, dtype=float))
            if value.shape != (self._size,):
                raise RuntimeError(f"input '{self._name}' has {self._size} elements, not {value.size}")
        context._set_input(self._name, value)

    def HasValue(self, context):
        return self._name in context._inputs


class OutputPort:
    """A value computed from a context."""

    def __init__(self, name, evaluate):
        self._name, self._evaluate = name, evaluate

    def get_name(self):
        return self._name

    def Eval(self, context):
        return self._evaluate(context)


class Actuation:
    """The part of MultibodyPlant that takes inputs and gives them as forces."""

    def get_actuation_input_port(self, model_instance=None):
        """u (nu,) of the plant or of one instance [N m or N]; what is not fixed counts as zero, both add up."""
        self._require_finalized("get_actuation_input_port")
        size = self.num_actuators(model_instance)
        name = "actuation" if model_instance is None else f"{self.GetModelInstanceName(model_instance)}_actuation"
        return InputPort(self, name, size)

    def get_applied_generalized_force_input_port(self):
        """tau (nv,) [N m or N], added as it is."""
        self._require_finalized("get_applied_generalized_force_input_port")
        return InputPort(self, "applied_generalized_force", self._model.sizes["nv"])

    def get_applied_spatial_force_input_port(self):
        """A list of ExternallyAppliedSpatialForce."""
        self._require_finalized("get_applied_spatial_force_input_port")
        return InputPort(self, "applied_spatial_force")

    def get_state_output_port(self, model_instance=None):
        """[q; v]"""
        return OutputPort("state", lambda context: self.GetPositionsAndVelocities(context, model_instance))

    def get_generalized_acceleration_output_port(self, model_instance=None):
        """vdot of the plant or of one instance."""

        def evaluate(context):
            vdot = self.CalcForwardDynamics(context)
            return vdot if model_instance is None else vdot[self._v_indices(model_instance)]

        return OutputPort("generalized_acceleration", evaluate)

    def _actuation(self, context):
        """u (nu,): the port of the plant and those of the instances, added."""
        u = np.zeros(self._model.sizes["nu"])
        u += context._inputs.get("actuation", 0.0)
        for instance, name in enumerate(self._instances):
            value = context._inputs.get(f"{name}_actuation")
            if value is not None:
                u[[a.input_start() for a in self._of_instance(self._actuators, instance)]] += value
        return u

    def _input_generalized_forces(self, context, u=None):
        """tau (nv,) of all inputs, with the actuation u (nu,) in place of that of the ports where it is given."""
        tau = np.zeros(self._model.sizes["nv"])
        np.add.at(tau, self._model.actuator_dof, self._actuation(context) if u is None else u)
        return tau + context._inputs.get("applied_generalized_force", 0.0)

    def _input_body_forces(self, context):
        forces = np.zeros((self.num_bodies(), 6))
        applied = context._inputs.get("applied_spatial_force", ())
        for force in applied:
            n = int(force.body_index)
            R_WB = context._at_links().X_WL[n, :9].reshape(3, 3)
            forces[n] += force.F_Bq_W.Shift(-(R_WB @ force.p_BoBq_B)).get_coeffs()
        return forces
