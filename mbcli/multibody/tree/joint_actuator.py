"""Actuators: which joint a number of the actuation vector drives."""

import numpy as np

from mbcli.multibody.tree.element import NamedElement


class JointActuator(NamedElement):
    """Drives the one velocity of a joint.

    Args:
        name: unique in the joint's model instance.
        joint: has one velocity.
        effort_limit: [N m or N], greater than 0.
    """

    def __init__(self, name, joint, effort_limit=np.inf):
        self._name = name
        self._joint = joint
        if joint.num_velocities() != 1:
            raise RuntimeError(
                f"actuator '{name}': joint '{joint.name()}' has {joint.num_velocities()} degrees of freedom, not one"
            )
        self.set_effort_limit(effort_limit)
        self._rotor_inertia = 0.0
        self._gear_ratio = 1.0
        self._input_start = None

    def joint(self):
        return self._joint

    def num_inputs(self):
        return 1

    def input_start(self):
        """Index in the actuation vector u. After Finalize()."""
        if self._input_start is None:
            raise RuntimeError(f"actuator '{self._name}': the plant must be finalized first")
        return self._input_start

    def effort_limit(self):
        """[N m or N]"""
        return self._effort_limit

    def set_effort_limit(self, effort_limit):
        if not effort_limit > 0.0:
            raise RuntimeError(f"actuator '{self._name}': effort limit must be greater than 0, it is {effort_limit}")
        self._effort_limit = float(effort_limit)

    def default_rotor_inertia(self):
        """[kg m^2]"""
        return self._rotor_inertia

    def set_default_rotor_inertia(self, rotor_inertia):
        if not rotor_inertia >= 0.0:
            raise RuntimeError(f"actuator '{self._name}': rotor inertia must not be negative, it is {rotor_inertia}")
        self._rotor_inertia = float(rotor_inertia)

    def default_gear_ratio(self):
        """Rotor speed over joint speed."""
        return self._gear_ratio

    def set_default_gear_ratio(self, gear_ratio):
        self._gear_ratio = float(gear_ratio)

    def default_reflected_inertia(self):
        """What the rotor adds to the joint's diagonal of the mass matrix: gear ratio squared times rotor inertia."""
        return self._gear_ratio**2 * self._rotor_inertia

    def get_actuation_vector(self, u):
        """This actuator's part (1,) of the actuation vector of the plant."""
        start = self.input_start()
        return np.array(u, dtype=float)[start : start + 1]

    def set_actuation_vector(self, u_actuator, u):
        """Writes this actuator's part of the actuation vector u of the plant."""
        u[self.input_start()] = np.reshape(u_actuator, 1)[0]
