"""The plugins of Gazebo that act: one file a kind, and its line in NAMES.

The file of a kind has

TITLE       what it does, in words
CLASSES     its last names in Gazebo's `name` attribute, gz::sim::systems::NAME; () of another element
FILES       parts of file names by which older versions of Gazebo know it; () none
REACH       which links it acts on if it is one of a world, those with "wind" or "solids"; "": it is one of a model
GIVES       how it may give energy, in words; "" where it does not, but for what its Law says
JOINTS      {tag: (role, count)}: the joints that it names: "one", "some", "many" (or none), "all" (those of one axis,
            unless it names some) or "any" (one or none, which it does not move)
LINKS       the same of its links
SETTINGS    the paths below <plugin> of what it reads, each a class of settings.py or of mbcli.common.file_settings
ELSEWHERE   paths that are for another program, as names of topics
problem(settings)  why such settings make no sense, "" if they do; the names of joints and links are in it by role
Law         its class: Law(plugin) for a Plugin of mbcli.multibody.tree.plugin

A plugin of a world has these links under the role "link", in LINKS it names none; one that reaches "solids" has the
setting `solids` then, a tuple of Solid (solid.py) for each of them.

What is empty, and a problem() that finds none, need not be stated, but GIVES. No more is needed: the reader, runs and
docs/reference/plugins.md ask PLUGINS. What stands in a <plugin> beside these is a finding. A Law has

inputs      tuple of Command: what a user may ask of it, by name
driven      the joints that it drives at velocities
pushed      the links that it puts forces on
memory      (n,) what it remembers when a run begins
act(now, commands, memory)  reads a Moment (mbcli.simulation.plugins.moment) and the commands, changes memory, and gives
            the Moment efforts, velocities of joints and forces, which hold until it acts again
gives(now)  where GIVES is "": how it may give energy in the wind and gravity of a Moment, "" if it cannot
stored(now) [J] where it has some: the energy that it stores in a Moment
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from mbcli.common.file_settings import no_problem
from mbcli.common.kind_files import give_defaults, require_contents, require_single_owners

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.plugins.settings import Command

    class PluginLaw(Protocol):
        """What a plugin of a plant does at the steps of a run."""

        inputs: tuple[Command, ...]
        driven: tuple[Any, ...]
        pushed: tuple[Any, ...]
        memory: FloatArray

        def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None: ...

    class PluginKind(Protocol):
        """The file of a kind."""

        TITLE: str
        CLASSES: tuple[str, ...]
        FILES: tuple[str, ...]
        REACH: str
        GIVES: str
        JOINTS: dict[str, tuple[str, str]]
        LINKS: dict[str, tuple[str, str]]
        SETTINGS: dict[str, Any]
        ELSEWHERE: tuple[str, ...]

        @staticmethod
        def problem(settings: dict[str, Any]) -> str: ...
        @staticmethod
        def Law(plugin: Any) -> PluginLaw: ...  # noqa: N802  a class


NAMES = (
    "multicopter_motor_model",
    "diff_drive",
    "classic_diff_drive",
    "ackermann_steering",
    "joint_controller",
    "joint_position_controller",
    "joint_trajectory_controller",
    "apply_joint_force",
    "thruster",
    "lift_drag",
    "hydrodynamics",
    "wind_effects",
    "buoyancy",
    "velocity_decay",
)
"""Of the kinds, in the order of docs/reference/plugins.md."""

CONSTANTS: dict[str, type] = {"TITLE": str, "GIVES": str}
OPTIONAL: dict[str, type] = {
    "CLASSES": tuple,
    "FILES": tuple,
    "REACH": str,
    "JOINTS": dict,
    "LINKS": dict,
    "SETTINGS": dict,
    "ELSEWHERE": tuple,
}

NOT_HERE = {
    "TrajectoryFollower": "`--trajectory` moves joints along a table",
    "MecanumDrive": "JointController turns its wheels",
    "MulticopterVelocityControl": "`--controller` gives the speeds of rotors",
    "VelocityControl": "bodies move by forces",
    "TrackController": "there are no tracks",
    "TrackedVehicle": "there are no tracks",
    "BuoyancyEngine": "Buoyancy acts",
    "AdvancedLiftDrag": "LiftDrag acts",
    "DetachableJoint": "joints stay as they are",
    "MechanicalBatteryModel": "there are no batteries",
}
"""Plugins of Gazebo that move things and do not act here, and what does."""


NO_SLIP = (
    "friction sticks up to its coefficient; --set plant_config.stiction_tolerance=V lets all contacts creep, at V m/s "
    "under 0.7 of their whole friction"
)
_ACTS = "the plugin of gz-sim acts"
CLASSIC = {
    "ackermann_drive": f"{_ACTS}: gz::sim::systems::AckermannSteering",
    "tricycle_drive": f"{_ACTS}: gz::sim::systems::JointController",
    "mimic_joint": "<mimic> in the joint couples it to its leader",
    "disable_link": "--set and files leave links out",
    "planar_move": "--push and --controller move bodies",
    "gazebo_ros_force": "--push moves bodies",
    "hand_of_god": "--push moves bodies",
    "InitialVelocity": "--at sets velocities at the start",
    "WheelSlip": NO_SLIP,
    "vacuum_gripper": "friction and joints hold bodies",
    "gazebo_grasp": "friction holds what is grasped",
    "elevator": "--trajectory moves joints along a table",
    "joint_pose_trajectory": "--trajectory moves joints along a table",
    "JointTrajectoryPlugin": f"{_ACTS}: gz::sim::systems::JointTrajectoryController",
    "JointControlPlugin": f"{_ACTS}: gz::sim::systems::JointController",
    "SimpleTrackedVehicle": "there are no tracks",
    "WheelTrackedVehicle": "there are no tracks",
    "HarnessPlugin": "joints stay as they are",
    "CessnaPlugin": f"{_ACTS}: gz::sim::systems::LiftDrag",
    "BuoyancyPlugin": f"{_ACTS}: gz::sim::systems::Buoyancy",
    "WindPlugin": f"{_ACTS}: gz::sim::systems::WindEffects",
}
"""Parts of file names of plugins of Gazebo classic and ROS that move things, and what acts in their place."""


def classic_cure(filename: str) -> str | None:
    """What acts in place of a plugin of Gazebo classic or ROS that moves something; None for others."""
    return next((cure for part, cure in CLASSIC.items() if part.lower() in filename.lower()), None)


def checked_kind(name: str, kind: Any) -> PluginKind:
    """The file of a kind. TypeError, with its name, if something is missing."""
    give_defaults(kind, OPTIONAL, {"problem": no_problem})
    require_contents(f"the plugin '{name}'", kind, CONSTANTS | OPTIONAL, ("Law",))
    return kind


PLUGINS: dict[str, PluginKind] = {name: checked_kind(name, import_module(f"{__name__}.{name}")) for name in NAMES}
require_single_owners("the plugins", {name: kind.CLASSES for name, kind in PLUGINS.items()})


def names_of(kind: PluginKind) -> tuple[str, ...]:
    """By which files know a kind: its classes, else parts of file names."""
    return kind.CLASSES or kind.FILES


def last_name(stated: str) -> str:
    """The class in a `name` attribute: that after the last ::."""
    return stated.rpartition("::")[2].strip()


def kind_of(name: str, filename: str) -> str | None:
    """The kind of a <plugin> by its attributes; None if there is none."""
    for kind, file in PLUGINS.items():
        if last_name(name) in file.CLASSES or any(part in filename for part in file.FILES):
            return kind
    return None
