"""The aerodynamic force on a flat plate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math import RigidTransform
from mbcli.multibody.core.applied_forces import ExternallyAppliedSpatialForce
from mbcli.multibody.core.signal_system import SignalSystem
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.tree.checked_numbers import non_negative
from mbcli.multibody.tree.index import BodyIndex

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector3
    from mbcli.multibody.math import SpatialVelocity
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.systems.diagram_builder import DiagramBuilder
    from mbcli.systems.ports import InputPort, OutputPort

DEFAULT_FLUID_DENSITY = 1.204  # [kg/m^3] of dry air at 20 degrees Celsius and one atmosphere


class Wing(SignalSystem):
    """A flat plate in a flow, as it goes into a plant's input port applied_spatial_force.

    The wing frame has its origin at the aerodynamic centre, x towards the leading edge, y along the span, z upwards.
    At the angle of attack a in the plane of x and z, the coefficients are CL = 2 sin a cos a, CD = 2 sin^2 a, CM = 0:
    together a force along z of density * area * |v|^2 * sin a, where v is the velocity of the aerodynamic centre
    relative to the fluid, without its part along the span. (pydrake 1.51 takes the velocity of the body's origin, which
    differs on a rotating body; with that, a rolling wing would feel no resistance.)

    Args:
        body_index: the body that carries the wing.
        surface_area: [m^2]
        X_BodyWing: pose of the wing frame in the body.
        fluid_density: [kg/m^3] if the port fluid_density has no value.
    """

    def __init__(
        self,
        body_index: BodyIndex,
        surface_area: float,
        X_BodyWing: RigidTransform | None = None,
        fluid_density: float = DEFAULT_FLUID_DENSITY,
    ) -> None:
        self._body_index = body_index
        self._area = non_negative(surface_area, "surface_area of a wing")
        self._X_BW = RigidTransform() if X_BodyWing is None else RigidTransform(X_BodyWing)
        self._density = non_negative(fluid_density, "fluid_density of a wing")
        inputs = {
            "body_poses": None,
            "body_spatial_velocities": None,
            "wind_velocity_at_aerodynamic_center": 3,
            "fluid_density": 1,
        }
        super().__init__(inputs, {"spatial_force": self._force, "aerodynamic_center": self._center})

    def CalcSpatialForce(
        self,
        X_WB: RigidTransform,
        V_WB: SpatialVelocity,
        wind_velocity: ArrayLike = (0.0, 0.0, 0.0),
        fluid_density: float | None = None,
    ) -> ExternallyAppliedSpatialForce:
        """The ExternallyAppliedSpatialForce of a body at X_WB that moves with V_WB (SpatialVelocity in World).

        wind_velocity (3,) [m/s] is that of the fluid at the aerodynamic centre in World.
        """
        density = self._density if fluid_density is None else non_negative(fluid_density, "fluid_density of a wing")
        R_WA = (X_WB.rotation() @ self._X_BW.rotation()).matrix()
        p_BA_W = X_WB.rotation() @ self._X_BW.translation()
        v_A = R_WA.T @ (V_WB.Shift(p_BA_W).translational() - np.asarray(wind_velocity, dtype=float))
        lift = -density * self._area * np.hypot(v_A[0], v_A[2]) * v_A[2]
        force = ExternallyAppliedSpatialForce()
        force.body_index = self._body_index
        force.p_BoBq_B = self._X_BW.translation()
        force.F_Bq_W = SpatialForce(np.zeros(3), lift * R_WA[:, 2])
        return force

    def CalcAerodynamicCenter(self, X_WB: RigidTransform) -> Vector3:
        """p_WA (3,), the aerodynamic centre of a wing whose body is at X_WB."""
        return X_WB @ self._X_BW.translation()

    def MakeSource(
        self,
        plant: MultibodyPlant,
        wind_velocity: Callable[[Context, Vector3], ArrayLike] | None = None,
        fluid_density: Callable[[Context], float] | None = None,
    ) -> Callable[[Context], Any]:
        """The force as a function of a plant's context, for the plant's port: port.Follow(context, source).

        Args:
            plant: whose body carries the wing.
            wind_velocity: a function of the context and of p_WA (3,) that gives the wind there (3,) [m/s].
            fluid_density: a function of the context that gives it [kg/m^3].
        """
        body = plant.get_body(BodyIndex(int(self._body_index)))

        def source(context):
            X_WB = plant.EvalBodyPoseInWorld(context, body)
            wind = wind_velocity(context, self.CalcAerodynamicCenter(X_WB)) if wind_velocity else np.zeros(3)
            density = fluid_density(context) if fluid_density else None
            return [self.CalcSpatialForce(X_WB, plant.EvalBodySpatialVelocityInWorld(context, body), wind, density)]

        return source

    def get_body_poses_input_port(self) -> InputPort:
        """X_WB of all bodies by BodyIndex."""
        return self.GetInputPort("body_poses")

    def get_body_spatial_velocities_input_port(self) -> InputPort:
        """V_WB of all bodies by BodyIndex."""
        return self.GetInputPort("body_spatial_velocities")

    def get_wind_velocity_input_port(self) -> InputPort:
        """(3,) [m/s] in World; zero if it has no value."""
        return self.GetInputPort("wind_velocity_at_aerodynamic_center")

    def get_fluid_density_input_port(self) -> InputPort:
        """(1,) [kg/m^3]; that of the constructor if it has no value."""
        return self.GetInputPort("fluid_density")

    def get_spatial_force_output_port(self) -> OutputPort:
        """A list of one ExternallyAppliedSpatialForce."""
        return self.GetOutputPort("spatial_force")

    def get_aerodynamic_center_output_port(self) -> OutputPort:
        """p_WA (3,); does not depend on the wind."""
        return self.GetOutputPort("aerodynamic_center")

    def _force(self, context):
        n = int(self._body_index)
        X_WB = self._required(context, "body_poses")[n]
        V_WB = self._required(context, "body_spatial_velocities")[n]
        wind = context.inputs.value("wind_velocity_at_aerodynamic_center", context)
        density = context.inputs.value("fluid_density", context)
        return [
            self.CalcSpatialForce(
                X_WB, V_WB, np.zeros(3) if wind is None else wind, None if density is None else density[0]
            )
        ]

    def _center(self, context):
        return self.CalcAerodynamicCenter(self._required(context, "body_poses")[int(self._body_index)])

    @staticmethod
    def AddToBuilder(
        builder: DiagramBuilder,
        plant: MultibodyPlant,
        body_index: BodyIndex,
        surface_area: float,
        X_BodyWing: RigidTransform | None = None,
        fluid_density: float = DEFAULT_FLUID_DENSITY,
    ) -> Wing:
        """Adds a Wing to a builder of diagrams and connects it with the plant; returns it."""
        wing = builder.AddSystem(Wing(body_index, surface_area, X_BodyWing, fluid_density))
        builder.Connect(plant.get_body_poses_output_port(), wing.get_body_poses_input_port())
        builder.Connect(plant.get_body_spatial_velocities_output_port(), wing.get_body_spatial_velocities_input_port())
        builder.Connect(wing.get_spatial_force_output_port(), plant.get_applied_spatial_force_input_port())
        return wing
