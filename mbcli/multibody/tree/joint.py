"""The base class of joints. A joint connects frame F on its parent with frame M on its child."""

from __future__ import annotations

import functools
from math import inf
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.tree.checked_numbers import are_non_negative_floats, non_negative, require_finite
from mbcli.multibody.tree.element import NamedElement
from mbcli.multibody.tree.multibody_forces import MultibodyForces
from mbcli.multibody.tree.random_distribution import checked_distributions, draw

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector
    from mbcli.math.quaternion import Quaternion
    from mbcli.math.rigid_transform import RigidTransform
    from mbcli.multibody.math import SpatialVelocity
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.rigid_body import RigidBody
    from mbcli.parsers.spec import JointSpec


@functools.cache
def _unlimited(size: int) -> tuple[Vector, Vector]:
    """The limits that most joints have, shared by them and never changed."""
    limits = np.full(size, -inf), np.full(size, inf)
    for limit in limits:
        limit.flags.writeable = False
    return limits


def _symmetric(bounds: list[float]) -> tuple[Vector, Vector]:
    if min(bounds) == inf:
        return _unlimited(len(bounds))
    upper = np.array(bounds)
    return -upper, upper


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class Joint(NamedElement):
    """A joint of some type.

    Args:
        name: unique among the joints of its model instance.
        frame_on_parent: F.
        frame_on_child: M.
        damping: viscous coefficients, one per velocity, not negative.
        lower, upper: position limits, one per position.
    """

    kinematics: Any = None  # module of mbcli.engine.smooth.joints: counts, suffixes, zero configuration
    kTypeName = ""
    _rotates = _translates = False  # what motion of M in F the type allows
    made_at_finalize = False
    # (compile_constraints) -> the rows that hold M in F where the joint closes a loop; None: it cannot close one
    held_rows: Any = None
    _damping: Any  # (nv,)
    _locked = False  # default of the parameter: a new context has no locked joints

    def __init__(
        self,
        name: str,
        frame_on_parent: Frame,
        frame_on_child: Frame,
        damping: ArrayLike = (),
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> None:
        self._name = name
        self._frame_on_parent = frame_on_parent
        self._frame_on_child = frame_on_child
        nq, nv = self.num_positions(), self.num_velocities()
        if nv == 1 and type(damping) is float and 0.0 <= damping < inf:
            self._damping = np.array([damping])
        elif nv == 0:
            self._damping = np.zeros(0)
        else:
            self._damping = self._checked_damping(np.resize(damping, nv) if np.size(damping) else np.zeros(nv))
        self.other_limits: dict[str, Any] = {}  # of a model file, which nothing here uses: name -> one for each axis
        self.reflected_inertia = 0.0  # of a drive that is not an actuator, on every velocity; set by model files
        # of position limits in runs of continuous plants, (stiffness [N m/rad or N/m], dissipation [s/rad or s/m]);
        # set by model files
        self.stop_law: tuple[float, float] | None = None
        # of position limits under the law of contact "mujoco": solref (2,), solimp (5,), margin [rad or m]; set by
        # model files
        self.stop_softness: tuple[float, ...] | None = None
        self.turn_limit = inf  # [rad] of a ball joint by a quaternion, about any axis, in steps; set by model files
        self.dry_friction = np.zeros(nv)  # [N m or N], the most that it can be, in steps; set by model files
        self.collides_with_parent = (
            False  # whether its bodies may touch where adjacent bodies do not; set by model files
        )
        # (lower, upper) by kind; nobody changes these arrays
        self.limits = {"position": _unlimited(nq), "velocity": _unlimited(nv), "acceleration": _unlimited(nv)}
        if lower is not None:
            self.set_position_limits(lower, upper)  # type: ignore[arg-type]  # they are given together
        self._default_positions = np.array(self.kinematics.ZERO_POSITIONS)
        # index of the first position -> distributions of some positions from there on, and how many
        self._random_positions: dict[int, tuple[Any, int]] = {}
        self.first_position: Any = None
        self.first_velocity: Any = None

    # identity and structure

    def type_name(self) -> str:
        """The name of the joint type, as "revolute"."""
        return self.kTypeName

    def is_ephemeral(self) -> bool:
        return self.made_at_finalize

    def ordinal(self) -> int:
        """Position among the joints that the plant has now; unlike the index it closes up when joints are removed."""
        present = self.GetParentPlant().GetJointIndices()
        return [int(index) for index in present].index(int(self.index()))

    def parent_body(self) -> RigidBody:
        """The body of frame F."""
        return self._frame_on_parent.body()

    def child_body(self) -> RigidBody:
        """The body of frame M."""
        return self._frame_on_child.body()

    def frame_on_parent(self) -> Frame:
        """Frame F, on the parent body."""
        return self._frame_on_parent

    def frame_on_child(self) -> Frame:
        """Frame M, on the child body."""
        return self._frame_on_child

    def num_positions(self) -> int:
        """The number of positions."""
        return self.kinematics.NUM_POSITIONS

    def num_velocities(self) -> int:
        """The number of velocities."""
        return self.kinematics.NUM_VELOCITIES

    def can_rotate(self) -> bool:
        """Whether M may turn in F. After Finalize()."""
        self._require_finalized()
        return self._rotates

    def can_translate(self) -> bool:
        """Whether the origin of M may move in F. After Finalize()."""
        self._require_finalized()
        return self._translates

    def position_start(self) -> int:
        """Index in q of the first position. After Finalize(); RuntimeError for a joint that closes a loop."""
        return self._after_finalize(self.first_position)

    def velocity_start(self) -> int:
        """Index in v of the first velocity. As position_start()."""
        return self._after_finalize(self.first_velocity)

    def _after_finalize(self, value):
        if self.first_position is None:
            self._require_finalized()
            raise RuntimeError(
                f"joint '{self._name}' closes a loop: it is cut there, a constraint holds it together, and it has no "
                "positions and velocities of its own"
            )
        return value

    def _require_finalized(self):
        if self.first_position is None and not self._is_cut():
            raise RuntimeError(f"joint '{self._name}': the plant must be finalized first")

    def _is_cut(self):
        """Whether the joint closes a loop of a finalized plant."""
        return self.parent_plant is not None and self in self.parent_plant.elements.loop_joints

    @classmethod
    def from_spec(cls, spec: JointSpec, frame_on_parent: Frame, frame_on_child: Frame) -> Self:
        """The joint of a JointSpec between the frames that were made for it."""
        return cls(spec.name, frame_on_parent, frame_on_child, spec.damping)

    @classmethod
    def from_description(
        cls, name: str, frame_on_parent: Frame, frame_on_child: Frame, stated: Mapping[str, Any]
    ) -> Self | None:
        """The joint that an entry of `mbcli inspect --json` states, as far as its motion goes; None if it does not."""
        return cls(name, frame_on_parent, frame_on_child)

    def position_suffix(self, position_index_in_joint: int) -> str:
        """What the name of one position ends in."""
        return self._suffix("position", self.kinematics.POSITION_SUFFIXES, position_index_in_joint)

    def velocity_suffix(self, velocity_index_in_joint: int) -> str:
        """What the name of one velocity ends in."""
        return self._suffix("velocity", self.kinematics.VELOCITY_SUFFIXES, velocity_index_in_joint)

    def is_angular(self, velocity_index_in_joint: int = 0) -> bool:
        """Whether one velocity is in rad/s, not in m/s."""
        return self._suffix("velocity", self.kinematics.IS_ANGULAR, velocity_index_in_joint)

    def _suffix(self, kind, suffixes, k):
        if not 0 <= k < len(suffixes):
            raise RuntimeError(f"joint '{self._name}' has no {kind} {k}")
        return suffixes[k]

    # limits

    def position_lower_limits(self) -> Vector:
        """(num_positions,) [rad or m], -inf if there is none."""
        return self.limits["position"][0].copy()

    def position_upper_limits(self) -> Vector:
        """(num_positions,) [rad or m], inf if there is none."""
        return self.limits["position"][1].copy()

    def velocity_lower_limits(self) -> Vector:
        """(num_velocities,) [rad/s or m/s], -inf if there is none."""
        return self.limits["velocity"][0].copy()

    def velocity_upper_limits(self) -> Vector:
        """(num_velocities,) [rad/s or m/s], inf if there is none."""
        return self.limits["velocity"][1].copy()

    def acceleration_lower_limits(self) -> Vector:
        """(num_velocities,) [rad/s^2 or m/s^2], -inf if there is none."""
        return self.limits["acceleration"][0].copy()

    def acceleration_upper_limits(self) -> Vector:
        """(num_velocities,) [rad/s^2 or m/s^2], inf if there is none."""
        return self.limits["acceleration"][1].copy()

    def set_position_limits(self, lower_limits: ArrayLike, upper_limits: ArrayLike) -> None:
        """[rad or m], (nq,) each; they do not change the default positions."""
        self.limits["position"] = self._limits("position", lower_limits, upper_limits, self.num_positions())

    def set_velocity_limits(self, lower_limits: ArrayLike, upper_limits: ArrayLike) -> None:
        """[rad/s or m/s], (nv,) each."""
        self.limits["velocity"] = self._limits("velocity", lower_limits, upper_limits, self.num_velocities())

    def set_acceleration_limits(self, lower_limits: ArrayLike, upper_limits: ArrayLike) -> None:
        """[rad/s^2 or m/s^2], (nv,) each."""
        self.limits["acceleration"] = self._limits("acceleration", lower_limits, upper_limits, self.num_velocities())

    def limit_rates(self, velocities: list[float], accelerations: list[float]) -> None:
        """Symmetric limits of velocities and of accelerations, one for each velocity, as a model file has them."""
        self.limits["velocity"] = _symmetric(velocities)
        self.limits["acceleration"] = _symmetric(accelerations)

    def _limits(self, kind, lower, upper, size):
        if size == 1 and type(lower) is float and type(upper) is float and lower <= upper:
            return np.array([lower]), np.array([upper])
        lower, upper = (np.array(x, dtype=float, ndmin=1) for x in (lower, upper))
        if lower.shape != (size,) or upper.shape != (size,):
            raise RuntimeError(f"joint '{self._name}': {kind} limits must have {size} elements")
        if not (lower <= upper).all():
            raise RuntimeError(f"joint '{self._name}': lower {kind} limit {lower} is above the upper limit {upper}")
        return lower, upper

    # default and random positions

    def default_positions(self) -> Vector:
        """(num_positions,) [rad or m]: the positions in new contexts."""
        return self._default_positions.copy()

    def set_default_positions(self, default_positions: ArrayLike) -> None:
        """Positions of a new context, (nq,); limits do not bind them."""
        self._default_positions = self._sized(default_positions, self.num_positions()).copy()

    def positions_of(self, stated: ArrayLike) -> Any:
        """The positions of the joint that a file states: those of a ball joint may be in other coordinates there."""
        return stated

    def _set_default_part(self, first, values, size):
        """Changes `size` of the default positions, from index `first` on."""
        self._default_positions[first : first + size] = self._sized(values, size)

    def SetDefaultPose(self, X_FM: RigidTransform) -> None:
        """Default positions from a pose, for joints of six degrees of freedom; others raise."""
        raise self._only_floating("SetDefaultPose")

    def GetDefaultPose(self) -> RigidTransform:
        """X_FM at the default positions, for joints of six degrees of freedom; others raise."""
        raise self._only_floating("GetDefaultPose")

    def SetDefaultPosePair(self, q_FM: Quaternion, p_FM: ArrayLike) -> None:
        """As SetDefaultPose(), from a Quaternion and a position (3,)."""
        raise self._only_floating("SetDefaultPosePair")

    def GetDefaultPosePair(self) -> tuple[Quaternion, Vector]:
        """As GetDefaultPose(), as a Quaternion and a position (3,)."""
        raise self._only_floating("GetDefaultPosePair")

    def _only_floating(self, method):
        return RuntimeError(
            f"{method}: joint '{self._name}' of type {self.kTypeName} has fewer than six degrees of freedom"
        )

    def _set_random_parts(self, *parts):
        """Distributions of positions; a part is (index of the first position, specification, how many positions)."""
        where = f"joint '{self._name}' of type {self.kTypeName}"
        self._random_positions |= {
            first: (checked_distributions(specification, size, where), size) for first, specification, size in parts
        }

    def draw_positions(self, generator: Any) -> Any:
        """Random positions (nq,): the default ones if nothing is random, else zero in what is not random."""
        if not self._random_positions:
            return self.default_positions()
        positions = np.array(self.kinematics.ZERO_POSITIONS)
        for first, (distributions, size) in sorted(self._random_positions.items()):
            where = f"joint '{self._name}' of type {self.kTypeName}"
            positions[first : first + size] = draw(distributions, size, generator, where)
        return positions

    # damping

    def default_damping_vector(self) -> Vector:
        """[N m s or N s/m], (nv,)"""
        return self._damping.copy()

    def set_default_damping_vector(self, damping: ArrayLike) -> None:
        """Damping in new contexts, (nv,), not negative. Before Finalize()."""
        if self.first_position is not None:
            raise RuntimeError(f"joint '{self._name}': the plant is finalized; SetDampingVector() changes a context")
        self._damping = self._checked_damping(damping)

    def GetDampingVector(self, context: Context) -> Vector:
        """[N m s or N s/m], (nv,), as the context has it."""
        self.check_context(context)
        return context.state.parameters.values.get((self, "damping"), self._damping).copy()

    def SetDampingVector(self, context: Context, damping: ArrayLike) -> None:
        """Another damping (nv,) in one context, not negative; the default stays."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        state.set_parameter(self, "damping", self._checked_damping(damping, state.scalar))

    def _checked_damping(self, damping, scalar=FLOAT):
        """(nv,) of floats, or of the scalar type of a context."""
        if are_non_negative_floats(damping, self.num_velocities()) and scalar is FLOAT:
            return damping.copy()
        return non_negative(damping, f"joint '{self._name}': damping", scalar, (self.num_velocities(),))

    # state

    def GetPositions(self, context: Context) -> Vector:
        """(nq,)"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        i = self.position_start()
        return state.q[i : i + self.num_positions()].copy()

    def GetVelocities(self, context: Context) -> Vector:
        """(nv,)"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        d = self.velocity_start()
        return state.v[d : d + self.num_velocities()].copy()

    def SetPositions(self, context: Context, positions: ArrayLike) -> None:
        """(nq,)"""
        self.check_context(context)
        i = self.position_start()
        context.state.set_q_slice(i, self._sized(positions, self.num_positions(), context))

    def SetVelocities(self, context: Context, velocities: ArrayLike) -> None:
        """(nv,)"""
        self.check_context(context)
        d = self.velocity_start()
        context.state.set_v_slice(d, self._sized(velocities, self.num_velocities(), context))

    def _sized(self, value, size, context=None):
        """An array (size,) of floats, or of what the context holds."""
        scalar = FLOAT if context is None else context.state.scalar
        if type(value) is not np.ndarray or value.dtype is not scalar.dtype or not value.ndim:
            value = np.atleast_1d(scalar.array(value, f"joint '{self._name}'"))
        if value.shape != (size,):
            raise RuntimeError(f"joint '{self._name}' takes {size} values here, not {value.size}")
        require_finite(value, f"joint '{self._name}': its values")
        return value

    def GetOnePosition(self, context: Context) -> Scalar:
        """The position of a joint of one degree of freedom [rad or m]. RuntimeError for another joint."""
        self._require_one_dof()
        return context.state.scalar.number(self.GetPositions(context)[0])

    def GetOneVelocity(self, context: Context) -> Scalar:
        """The velocity of a joint of one degree of freedom [rad/s or m/s]. RuntimeError for another joint."""
        self._require_one_dof()
        return context.state.scalar.number(self.GetVelocities(context)[0])

    def _require_one_dof(self):
        if self.num_velocities() != 1:
            raise RuntimeError(f"joint '{self._name}' has {self.num_velocities()} degrees of freedom, not one")

    def GetPose(self, context: Context) -> RigidTransform:
        """X_FM"""
        return self._frame_on_child.CalcPose(context, self._frame_on_parent)

    def SetPose(self, context: Context, X_FM: RigidTransform) -> Any:
        """Positions from a pose, for joints of six degrees of freedom; others raise."""
        raise self._only_floating("SetPose")

    def GetSpatialVelocity(self, context: Context) -> SpatialVelocity:
        """V_FM_F"""
        F = self._frame_on_parent
        return self._frame_on_child.CalcSpatialVelocity(context, F, F)

    def SetSpatialVelocity(self, context: Context, V_FM: SpatialVelocity) -> Any:
        """Velocities from V_FM_F, for joints of six degrees of freedom; others raise."""
        raise self._only_floating("SetSpatialVelocity")

    # locking

    def Lock(self, context: Context) -> None:
        """Stops the joint in one context of a discrete plant: its velocities become 0 until Unlock(), as of a weld.

        Forces on its coordinates, those of actuators, controllers, springs and damping among them, have no effect.
        RuntimeError for a continuous plant.
        """
        d = self.velocity_start()
        self._set_locked(context, True)
        context.state.set_v_slice(d, np.zeros(self.num_velocities()))

    def Unlock(self, context: Context) -> None:
        """Ends Lock()."""
        self._set_locked(context, False)

    def is_locked(self, context: Context) -> bool:
        """Whether the joint is locked in a context."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return state.parameters.values.get((self, "locked"), self._locked)

    def _set_locked(self, context, locked):
        self.check_context(context)
        if not self.GetParentPlant().is_discrete():
            raise RuntimeError(f"joint '{self._name}' cannot be locked: the plant is continuous, its time step is 0")
        context.state.set_parameter(self, "locked", locked)

    # forces

    def AddInOneForce(self, context: Context, joint_dof: int, joint_tau: Scalar, forces: MultibodyForces) -> None:
        """Adds a generalized force along one velocity of the joint [N m or N]; what it is, the types say."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        if type(forces) is not MultibodyForces or forces.sizes is not self.parent_plant.sizes_of_forces:
            self.check_forces(forces)
        if not 0 <= joint_dof < self.kinematics.NUM_VELOCITIES:
            raise RuntimeError(f"joint '{self._name}' has no degree of freedom {joint_dof}")
        if type(joint_tau) is not float:
            joint_tau = state.scalar.one(joint_tau, f"joint '{self._name}': joint_tau")
        forces.tau[self.first_velocity + joint_dof] += joint_tau

    def AddInDamping(self, context: Context, forces: MultibodyForces) -> None:
        """Adds the viscous forces -damping * v."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        if type(forces) is not MultibodyForces or forces.sizes is not self.parent_plant.sizes_of_forces:
            self.check_forces(forces)
        damping = state.parameters.values.get((self, "damping"), self._damping)
        if damping.dtype is not state.dtype:
            damping = state.scalar.array(damping, f"joint '{self._name}': damping")
        state.calls.add_damping(damping, self.first_velocity, forces.tau)

    def check_forces(self, forces: MultibodyForces) -> None:
        """TypeError or RuntimeError for what is not MultibodyForces of this plant."""
        if forces is None:
            raise RuntimeError(f"joint '{self._name}': no forces were given to add to")
        self.GetParentPlant().check_forces(forces)
