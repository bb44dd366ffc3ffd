"""MultibodyPlant: a model of bodies, joints, actuators and forces, and what can be asked of it."""

from enum import Enum

from mbcli.multibody.plant.actuation import Actuation
from mbcli.multibody.plant.coordinates import Coordinates
from mbcli.multibody.plant.dynamics import Dynamics
from mbcli.multibody.plant.elements import Elements
from mbcli.multibody.plant.finalize import Finalization
from mbcli.multibody.plant.force_elements import ForceElements
from mbcli.multibody.plant.jacobians import Jacobians
from mbcli.multibody.plant.kinematics import Kinematics
from mbcli.multibody.plant.lookup import Lookup
from mbcli.multibody.plant.mass_properties import MassProperties
from mbcli.multibody.plant.random_state import RandomState
from mbcli.multibody.plant.reaction_forces import ReactionForces
from mbcli.multibody.plant.removal import Removal
from mbcli.multibody.plant.selectors import Selectors
from mbcli.multibody.plant.topology_queries import TopologyQueries


class DiscreteContactApproximation(Enum):
    """How contact enters the step of a discrete plant. Without contact, joint damping is explicit in kTamsi only."""

    kTamsi = 0
    kSap = 1
    kSimilar = 2
    kLagged = 3


class MultibodyPlant(
    Elements,
    ForceElements,
    Removal,
    Lookup,
    TopologyQueries,
    Selectors,
    Finalization,
    Coordinates,
    Kinematics,
    Jacobians,
    MassProperties,
    Dynamics,
    ReactionForces,
    RandomState,
    Actuation,
):
    """A system of interconnected rigid bodies, under the names of pydrake.multibody.plant.

    Add elements, call Finalize(), make a context, compute. Its subjects are in the files of this package.

    Args:
        time_step: [s]; positive for a discrete plant that steps by it, 0 for a continuous one.
    """

    def __init__(self, time_step):
        if not time_step >= 0.0:
            raise RuntimeError(f"time_step must not be negative, it is {time_step}")
        self._time_step = float(time_step)
        self._model = None
        self._loop_joints = []
        self._default_free_poses = {}
        self._discrete_contact_approximation = "lagged"
        self._start_elements()

    def time_step(self):
        """[s], 0 for a continuous plant"""
        return self._time_step

    def is_discrete(self):
        return self._time_step > 0.0

    def set_discrete_contact_approximation(self, approximation):
        """Chooses a DiscreteContactApproximation, before Finalize(). RuntimeError for a continuous plant."""
        self._require_not_finalized("set_discrete_contact_approximation")
        if not self.is_discrete():
            raise RuntimeError("set_discrete_contact_approximation: the plant is continuous, its time step is 0")
        if not isinstance(approximation, DiscreteContactApproximation):
            raise TypeError(f"expected a DiscreteContactApproximation, not {approximation!r}")
        self._discrete_contact_approximation = approximation.name[1:].lower()  # as configurations spell it

    def get_discrete_contact_approximation(self):
        """The DiscreteContactApproximation, kLagged where none was set."""
        return DiscreteContactApproximation[f"k{self._discrete_contact_approximation.capitalize()}"]

    def __repr__(self):
        state = "finalized" if self.is_finalized() else "not finalized"
        return (
            f"<MultibodyPlant time_step={self._time_step:g} bodies={self.num_bodies()} joints={self.num_joints()} "
            f"{state}>"
        )
