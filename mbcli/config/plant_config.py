"""The settings from which a `MultibodyPlant` is built, as in a configuration file."""

from mbcli.common.fast_dataclass import dataclass
from mbcli.config.config_fields import ConfigRecord, setting
from mbcli.config.contact_laws import CONTACT_LAWS

CONTACT_MODELS = ("point", "hydroelastic", "hydroelastic_with_fallback")
CONTACT_DEFAULTS = ("allowance", "drake")
STEP_SCHEMES = ("midpoint", "drake")
BALL_JOINTS = ("quaternion", "drake")
CONTACT_SURFACE_REPRESENTATIONS = ("triangle", "polygon")


@dataclass(kw_only=True)
class MultibodyPlantConfig(ConfigRecord):
    """Settings of a MultibodyPlant.

    Every field is checked when it is assigned. `penetration_allowance`, `stiction_tolerance` and
    `sap_near_rigid_threshold` are those of the kind of plant where they are None: see the setters of MultibodyPlant.
    `contact_defaults` is a setting of mbcli's own: `drake` gives geometries that name no stiffness or dissipation those
    of SceneGraphConfig, 1e6 N/m and 50 s/m, as recent pydrake releases do.
    `joint_dry_friction`, `sleep_tolerance`, `step_scheme`, `ball_joints` and `continuous_joint_limits` are others:
    pydrake has no dry friction of joints, nothing sleeps there, its steps are those of the scheme `drake`, so are its
    ball joints, and continuous joints have limits.

    :raises ModelError: (a RuntimeError) a value is of the wrong type or out of range.
    """

    __hash__ = object.__hash__  # so that one may be the default of a field of a user's dataclass

    time_step: float = setting(
        0.001, "Period of the discrete update; 0 makes the plant a continuous system", unit="s", minimum=0
    )
    use_sampled_output_ports: bool = setting(
        True,
        "Output ports of a discrete plant show the values of its last update; ignored when time_step is 0",
    )
    penetration_allowance: float | None = setting(
        None,
        "Depth to which loads may press point contact of default stiffness; by default 1e-4, and 1e-3 when time_step "
        "is 0, contact_defaults is drake, or bodies are deformable",
        unit="m",
        above=0,
    )
    stiction_tolerance: float | None = setting(
        None,
        "Slip speed below which contact counts as sticking; by default 1e-6, 1e-3 when time_step is 0, and 1e-4 when "
        "contact_defaults is drake",
        unit="m/s",
        above=0,
    )
    contact_model: str = setting(
        "hydroelastic_with_fallback", "How contact forces are computed from overlaps", choices=CONTACT_MODELS
    )
    discrete_contact_approximation: str = setting(
        "lagged", "How contact enters the step of a discrete plant", choices=CONTACT_LAWS
    )
    sap_near_rigid_threshold: float | None = setting(
        None,
        "Above this multiple of the near-rigid stiffness the sap approximation regularises contact; by default 0.03, "
        "and 1 when contact_defaults is drake or bodies are deformable",
        minimum=0,
    )
    contact_surface_representation: str = setting(
        "polygon", "Faces of hydroelastic contact surfaces", choices=CONTACT_SURFACE_REPRESENTATIONS
    )
    adjacent_bodies_collision_filters: bool = setting(
        True, "Bodies that a joint connects do not collide with each other"
    )
    contact_defaults: str = setting(
        "allowance",
        "Stiffness and dissipation of geometries that name none: from penetration_allowance, or drake's numbers",
        choices=CONTACT_DEFAULTS,
    )
    sleep_tolerance: float = setting(
        0.0,
        "Speed below which what contacts hold at rest may sleep in runs of a discrete plant; 0: nothing sleeps",
        unit="m/s",
        minimum=0,
    )
    joint_dry_friction: bool = setting(True, "The dry friction of joints that files state acts in steps")
    step_scheme: str = setting(
        "midpoint",
        "How discrete steps advance: of second order where nothing touches, or as in drake",
        choices=STEP_SCHEMES,
    )
    continuous_joint_limits: bool = setting(
        False, "The position limits that URDF files state for continuous joints act, as in drake"
    )
    ball_joints: str = setting(
        "quaternion",
        "Coordinates of the ball joints of files: a quaternion; as in drake roll, pitch, yaw, which gimbal lock ends",
        choices=BALL_JOINTS,
    )
