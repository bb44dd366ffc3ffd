"""What acts in a run: a file a kind, in the order in which they start.

actor            Actor: what each kind states and does
stops            stops at position limits of continuous plants
velocity_limits  velocity limits that hold joints, or are reported
following        joints that follow a plan
holding          joints that are held and driven; controllers of files
inputs           actuation over time, and its end at effort limits
user_controller  the controller that a user gives
plugins          the plugins of the model
pushes           forces on bodies
sensors          what a controller sees of the sensors

A new kind is a file here and a name in ACTORS; its settings are entries of mbcli.simulation.run_arguments.
"""

from mbcli.simulation.actors.actor import Actor
from mbcli.simulation.actors.following import Following
from mbcli.simulation.actors.holding import Holding
from mbcli.simulation.actors.inputs import Inputs
from mbcli.simulation.actors.plugins import Plugins
from mbcli.simulation.actors.pushes import Pushes
from mbcli.simulation.actors.sensors import Sensors
from mbcli.simulation.actors.stops import PositionStops
from mbcli.simulation.actors.user_controller import UserController
from mbcli.simulation.actors.velocity_limits import VelocityLimits

ACTORS: tuple[type[Actor], ...] = (
    PositionStops,
    VelocityLimits,
    Following,
    Holding,
    Inputs,
    UserController,
    Plugins,
    Pushes,
    Sensors,
)

__all__ = [
    "ACTORS",
    "Actor",
    "Following",
    "Holding",
    "Inputs",
    "Plugins",
    "PositionStops",
    "Pushes",
    "Sensors",
    "UserController",
    "VelocityLimits",
]
