"""The settings that a plant has, and the choices that they offer."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from mbcli.common.fast_dataclass import dataclass
from mbcli.common.suggestions import alternatives
from mbcli.config.contact_laws import CONTACT_LAWS, SOFT_LAWS
from mbcli.geometry.contact_representation import HydroelasticContactRepresentation
from mbcli.numbered_enum import Numbered, NumberedEnum

if TYPE_CHECKING:
    from typing import Any

# [m/s] stiction tolerance of plants for which none is set
DISCRETE_STICTION, CONTINUOUS_STICTION, DRAKES_STICTION = 1e-6, 1e-3, 1e-4
DISCRETE_ALLOWANCE, DRAKES_ALLOWANCE = 1e-4, 1e-3
NEAR_RIGID, DRAKES_NEAR_RIGID = 0.03, 1.0


class ContactModel(NumberedEnum):
    """How contact forces follow from overlaps."""

    kHydroelastic = 0
    kPoint = 1
    kHydroelasticWithFallback = 2
    kHydroelasticsOnly = kHydroelastic  # earlier names
    kPointContactOnly = kPoint


DiscreteContactApproximation = Enum(  # type: ignore[misc]  # its members are the laws of contact
    "DiscreteContactApproximation",
    [(f"k{law.capitalize()}", n) for n, law in enumerate(CONTACT_LAWS)],
    module=__name__,
    type=Numbered,
)
DiscreteContactApproximation.__doc__ = (
    "How contact enters the step of a discrete plant. Without contact, joint damping is explicit in kTamsi only."
)


class DiscreteContactSolver(NumberedEnum):
    """The algorithm behind a DiscreteContactApproximation."""

    kTamsi = 0
    kSap = 1


class BaseBodyJointType(NumberedEnum):
    """The joint that Finalize() adds between World and a body without a joint to it."""

    kQuaternionFloatingJoint = 0
    kRpyFloatingJoint = 1
    kWeldJoint = 2


OTHER_DEFAULTS: dict[str, Any] = {}  # by names of PlantSettings; mbcli.pydrake fills it


def GetDefaultContactSurfaceRepresentation(time_step: float) -> HydroelasticContactRepresentation:
    """Polygons for a positive time step, triangles for 0."""
    kinds = HydroelasticContactRepresentation
    return kinds.kPolygon if time_step > 0.0 else kinds.kTriangle


@dataclass
class PlantSettings:
    """The settings of a plant, for whoever works with plants. Settings says what each is."""

    sampled_outputs: bool
    contact_surface_representation: HydroelasticContactRepresentation
    penetration_allowance: float | None = None  # [m]; None: the default of the kind of plant, as of the next ones
    contact_defaults: str = "allowance"  # or "drake"
    stiction_tolerance: float | None = None  # [m/s]
    contact_model: ContactModel = ContactModel.kHydroelasticWithFallback
    sap_near_rigid_threshold: float | None = None
    adjacent_bodies_collision_filters: bool = True
    discrete_contact_approximation: str = "lagged"  # as configurations spell it
    joint_dry_friction: bool = True  # whether the dry friction of joints acts in steps
    single_contact_points: bool = False  # whether a pair of geometries gives one contact point
    decompose_meshes: bool = False  # whether meshes that are not convex collide by convex parts of them
    step_scheme: str = "midpoint"  # or "drake"
    continuous_joint_limits: bool = False  # whether those that URDF files state act
    ball_joints: str = "quaternion"  # or "drake": roll, pitch, yaw
    drakes_actuators: bool = False  # effort limits act without controllers; these act in continuous plants
    sleep_tolerance: float = 0.0  # [m/s] below which islands at rest may sleep; 0: nothing sleeps
    leaves_out_broken_meshes: bool = False  # with a note, where they would collide; else they are an error

    @classmethod
    def of_step(cls, time_step: float) -> PlantSettings:
        """The defaults of a plant whose time step [s] is 0 or positive."""
        surfaces = GetDefaultContactSurfaceRepresentation(time_step)
        return cls(sampled_outputs=time_step > 0.0, contact_surface_representation=surfaces, **OTHER_DEFAULTS)

    def contact_law(self) -> Any:
        """The file of its law of contact in steps."""
        from mbcli.engine.contact.laws.registry import contact_law  # for those that step

        return contact_law(self.discrete_contact_approximation)

    def is_convex(self) -> bool:
        """Whether steps are convex problems: constraints, controllers and deformable bodies are in these alone."""
        return bool(self.contact_law().CONVEX)

    def has_soft_limits(self) -> bool:
        """Whether limits and contact are as soft as MuJoCo has them."""
        return self.discrete_contact_approximation in SOFT_LAWS

    def convex_laws(self) -> str:
        """The names of those that are, for messages."""
        from mbcli.engine.contact.laws.registry import CONVEX_LAWS

        return alternatives(CONVEX_LAWS)
