"""Force elements: forces that depend on the state, beyond those of joints and actuators."""

import numpy as np

from mbcli.multibody.tree.element import MultibodyElement


class ForceElement(MultibodyElement):
    """Base of all force elements."""


class UniformGravityFieldElement(ForceElement):
    """The gravity of a plant: one vector, acting on every model instance that is not disabled."""

    kDefaultStrength = 9.81  # [m/s^2]

    def __init__(self, g_W=(0.0, 0.0, -kDefaultStrength), disabled_model_instances=()):
        self.set_gravity_vector(g_W)
        self._disabled = {int(instance) for instance in disabled_model_instances}

    def gravity_vector(self):
        """g_W [m/s^2], (3,)"""
        return self._g_W.copy()

    def set_gravity_vector(self, g_W):
        value = np.array(g_W, dtype=float)
        if value.shape != (3,) or not np.isfinite(value).all():
            raise RuntimeError(f"gravity must be three finite numbers, it is {g_W}")
        if self._plant is not None and self._plant.is_finalized():
            raise RuntimeError("gravity cannot be changed after Finalize()")
        self._g_W = value

    def is_enabled(self, model_instance):
        return int(model_instance) not in self._disabled

    def set_enabled(self, model_instance, is_enabled):
        if self._plant is not None and self._plant.is_finalized():
            raise RuntimeError("gravity cannot be switched after Finalize()")
        (self._disabled.discard if is_enabled else self._disabled.add)(int(model_instance))


class _JointSpring(ForceElement):
    """-stiffness * (q - nominal) along the one coordinate of a joint."""

    def __init__(self, joint, nominal, stiffness):
        if not stiffness >= 0.0:
            raise RuntimeError(f"spring of joint '{joint.name()}': stiffness must not be negative, it is {stiffness}")
        self._joint, self._nominal, self._stiffness = joint, float(nominal), float(stiffness)

    def joint(self):
        return self._joint

    def default_stiffness(self):
        return self._stiffness


class RevoluteSpring(_JointSpring):
    """Torque -stiffness [N m/rad] * (angle - nominal_angle [rad]) on a revolute joint."""

    def __init__(self, joint, nominal_angle, stiffness):
        super().__init__(joint, nominal_angle, stiffness)

    def default_nominal_angle(self):
        return self._nominal


class PrismaticSpring(_JointSpring):
    """Force -stiffness [N/m] * (translation - nominal_position [m]) on a prismatic joint."""

    def __init__(self, joint, nominal_position, stiffness):
        super().__init__(joint, nominal_position, stiffness)

    def default_nominal_position(self):
        return self._nominal
