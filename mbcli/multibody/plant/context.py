"""The state of one plant and what was computed from it."""

import numpy as np

from mbcli.engine import load_kernels
from mbcli.engine.jit import compiled_by_default
from mbcli.engine.model import Data
from mbcli.multibody.tree.parameters import Parameters


class Context:
    """Time, positions q, velocities v and inputs of a plant, with the arrays computed from them.

    Made by MultibodyPlant.CreateDefaultContext(). What was computed is kept until its inputs change: setting q forgets
    everything, setting v forgets what depends on v.
    """

    def __init__(self, plant):
        self._plant = plant
        self._time = 0.0
        self._model = plant._model
        self._data = Data(self._model.sizes)
        compiled = compiled_by_default()
        self._compiled = compiled
        self._kernels = load_kernels(compiled)
        self._model_handle = self._model.handle(compiled)
        self._parameters = Parameters()
        self._parameters_current = True
        self._data_handle = self._data.handle(compiled)
        self._inputs = {}
        self._q = self._data.q
        self._v = self._data.v
        # what was asked of frames, by their numbers; cleared with what it depends on
        self._poses, self._velocities, self._accelerations = {}, {}, {}
        self._A = self._A_for = None  # accelerations of bodies, and the vdot that they belong to
        self._forget_positions()

    def get_time(self):
        """[s]"""
        return self._time

    def SetTime(self, time_sec):
        self._time = float(time_sec)
        self._accelerations_current = False

    def SetContinuousState(self, xc):
        """[q; v] of a plant with time step 0."""
        self._plant.SetPositionsAndVelocities(self, xc)

    def SetDiscreteState(self, xd):
        """[q; v] of a plant with a time step."""
        self._plant.SetPositionsAndVelocities(self, xd)

    def get_continuous_state_vector(self):
        return StateVector(np.concatenate([self._q, self._v]))

    get_discrete_state_vector = get_continuous_state_vector

    def Clone(self):
        """An independent copy."""
        other = Context(self._plant)
        other._time = self._time
        other._q[:] = self._q
        other._v[:] = self._v
        other._inputs = dict(self._inputs)
        other._parameters = self._parameters.copy()
        other._parameters_current = False
        return other

    # what is current

    def _forget_positions(self):
        self._positions_current = False
        self._poses.clear()
        self._mass_matrix_current = False
        self._forget_velocities()

    def _forget_velocities(self):
        self._velocities_current = False
        self._velocities.clear()
        self._links_current = False
        self._accelerations_current = False

    def _set_q(self, q):
        self._q[:] = q
        self._forget_positions()

    def _set_v(self, v):
        self._v[:] = v
        self._forget_velocities()

    def _set_q_slice(self, start, values):
        self._q[start : start + len(values)] = values
        self._forget_positions()

    def _set_v_slice(self, start, values):
        self._v[start : start + len(values)] = values
        self._forget_velocities()

    def _set_input(self, name, value):
        self._inputs[name] = value
        self._accelerations_current = False

    def _set_parameter(self, element, name, value):
        self._parameters.set(element, name, value)
        self._parameters_current = False
        self._forget_positions()

    def _use_parameters(self):
        """Arrays of this context's own, made from its parameters."""
        self._model = self._plant._compile(self._parameters)
        self._model_handle = self._model.handle(self._compiled)
        self._parameters_current = True

    # stages, each run once until its inputs change

    def _run(self, name, *arguments):
        return getattr(self._kernels, name)(self._model_handle, self._data_handle, *arguments)

    def _at_positions(self):
        if not self._positions_current:
            if not self._parameters_current:
                self._use_parameters()
            self._kernels.position_stage(self._model_handle, self._data_handle)
            self._positions_current = True
        return self._data

    def _at_velocities(self):
        if not self._velocities_current:
            self._at_positions()
            self._kernels.velocity_stage(self._model_handle, self._data_handle)
            self._velocities_current = True
        return self._data

    def _at_links(self):
        if not self._links_current:
            self._at_velocities()
            self._kernels.links_stage(self._model_handle, self._data_handle)
            self._links_current = True
        return self._data


class StateVector:
    """A state as systems return it."""

    def __init__(self, value):
        self._value = value

    def CopyToVector(self):
        return self._value.copy()

    def size(self):
        return self._value.size

    def __len__(self):
        return self._value.size

    def __getitem__(self, i):
        return self._value[i]
