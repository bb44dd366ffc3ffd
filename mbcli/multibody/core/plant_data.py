"""The data of a plant: its elements, settings and arrays, and what a call asks of the plant first."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from mbcli.multibody.core.plant_elements import PlantElements
from mbcli.multibody.core.plant_settings import BaseBodyJointType, PlantSettings
from mbcli.multibody.scalars import FLOAT, Scalar
from mbcli.multibody.state.context import Context
from mbcli.multibody.state.evaluated_state import EvaluatedState
from mbcli.multibody.tree.checked_numbers import require_finite
from mbcli.systems.system import System

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.geometry.identifiers import FrameId, GeometryId, SourceId
    from mbcli.geometry.scene_graph import SceneGraph
    from mbcli.math.array_types import Array, IntArray, Vector
    from mbcli.math.rigid_transform import RigidTransform
    from mbcli.multibody.compilation.compile_model import MobilizedJoint
    from mbcli.multibody.compilation.cut_joints import DroppedByLoopCut
    from mbcli.multibody.compilation.joint_end_laws import PositionStop, VelocityLimit
    from mbcli.multibody.deformable.deformable_model import DeformableModel
    from mbcli.multibody.state.owning_plant import OwningPlant
    from mbcli.multibody.tree.element import MultibodyElement
    from mbcli.multibody.tree.force_element import ForceElement
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.index import TypeSafeIndex
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.multibody.tree.linear_bushing_roll_pitch_yaw import LinearBushingRollPitchYaw
    from mbcli.multibody.tree.pd_law import ControllerOfRun
    from mbcli.multibody.tree.rigid_body import RigidBody
    from mbcli.multibody.tree.uniform_gravity import UniformGravityFieldElement
    from mbcli.systems.ports import InputPort, OutputPort


class PlantData(System):
    """What the functions of this package compute from. They alone change it.

    Attributes:
        scalar: the numbers of its contexts; state_class: of the states of its contexts.
        elements: PlantElements; settings: PlantSettings.
        model: the Model of the default parameters, with an attribute for each of its fields; None before Finalize().
        free_joints: the joints of six degrees of freedom that move a body from World outward, by the number of the
            body, after Finalize().
        dropped_by_loop_cut: of joints that close loops, after Finalize().
        prefers_interpreted: whether kernels are interpreted: for a few states this costs less than to import numba.
        origin: the plant to which the elements belong: itself, but for the plant of a run, see run_plant.py.
    """

    scalar: Scalar = FLOAT
    state_class: type[EvaluatedState] = EvaluatedState
    class_of_floats: type | None = None  # of plants of other scalars
    mixes_controllers = False  # whether actuators with and without a controller may stand in one model instance
    file_mixes_controllers = False  # whether a file does so whose format allows it
    # what acts in the steps of runs beside what the elements say: run_plant.py
    controllers_of_run: Mapping[JointActuator, ControllerOfRun] = MappingProxyType({})  # in place of the actuators' own
    position_stops: tuple[PositionStop, ...] = ()  # of a continuous plant
    velocity_limits: tuple[VelocityLimit, ...] = ()  # that act
    asks_to_be_held = False  # whether its model was loaded with joints to be held or driven, which runs do

    gravity: UniformGravityFieldElement
    free_joints: dict[int, Joint]
    mobilized_joints: list[MobilizedJoint]  # after Finalize(), depth first: an inboard link comes before

    # what is computed once, by the functions of these names
    number_of_frame: dict[Frame, int]  # kinematics.py
    first_limited_joint: Joint | None  # dynamics.py
    actuation_parts: list[tuple[str, list[int]]]  # inputs.py
    actuation_ports: frozenset[str]  # inputs.py
    joints_by_place: list[Joint]  # coordinate_limits.py
    known_names: dict[tuple[str, bool, bool], list[str]]  # coordinate_names.py
    known_places: dict[tuple[str, int], tuple[list[int], Any]]  # coordinates.py
    sizes_of_forces: tuple[int, int]  # force_elements.py
    user_force_elements: list[ForceElement]  # force_elements.py
    watched_force_elements: tuple[list[Any], list[LinearBushingRollPitchYaw]] | None  # force_elements.py
    special_force_elements: bool  # force_elements.py
    joints_with_rpy: list[Joint]  # rates.py
    map_places: dict[tuple[int, ...], tuple[IntArray, IntArray, IntArray, Any]]  # rates.py
    velocities_are_rates: bool  # rates.py
    selections: dict[Any, Vector]  # mass_properties.py
    output_ports_by_name: dict[str, OutputPort]  # outputs.py
    joint_tree: IntArray  # reaction_forces.py

    def __init__(self, time_step: float) -> None:
        if not time_step >= 0.0:
            raise RuntimeError(f"time_step must not be negative, it is {time_step}")
        self.origin: PlantData = self
        self.step_length = float(time_step)
        self._name = ""
        self.elements = PlantElements()
        self.settings = PlantSettings.of_step(self.step_length)
        self.model: Any = None
        self.dropped_by_loop_cut: list[DroppedByLoopCut] = []
        self.prefers_interpreted = False
        self.default_free_poses: dict[int, RigidTransform] = {}  # X_PB by the number of the body
        # w_WB, v_WBcm by the number of the body; set by model files
        self.default_free_velocities: dict[int, tuple[float, ...]] = {}
        self.base_joint_types: dict[int | None, BaseBodyJointType] = {None: BaseBodyJointType.kQuaternionFloatingJoint}
        self.next_index: dict[type[TypeSafeIndex], int] = {}
        self.taken_names: set[tuple[Any, ...]] = set()  # MultibodyElement.key() of each
        self.deformables: DeformableModel | None = None
        self.wind: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m/s] of the air in World, for plugins
        self.made_input_ports: list[InputPort] | None = None  # None before they were asked for
        self.made_output_ports: list[OutputPort] | None = None
        self.known_default_constraints: tuple[Any, Any] | None = None  # the model, and what its contexts share
        self.mobility: Any = None  # of mujoco_softness.py, under its law of contact
        # geometries
        self.scene_graph: SceneGraph | None = None
        self.source_id: SourceId | None = None
        self.frame_ids: dict[int, FrameId] = {}  # body index -> FrameId
        self.geometry_bodies: dict[GeometryId, RigidBody] = {}
        # of model files: friction, [m] at which they touch, torsional, rolling friction, friction across a direction
        self.contact_pairs: dict[tuple[GeometryId, GeometryId], tuple[Any, ...]] = {}
        self.known_geometries: Any = None  # (revision of the scene graph, Model, Geometries)
        self.hulls: dict[Any, Any] = {}  # CollisionHulls of meshes that were read: compile_collision.py
        self.field_meshes: dict[Any, Any] = {}  # (FieldMesh, finding) of hydroelastic geometries: compile_surfaces.py
        self.known_meeting: Any = None  # (revision of the scene graph, whether solids can touch)

    def whole_plant(self) -> OwningPlant:
        """The plant that this is a part of: itself, to a type checker."""
        return cast("OwningPlant", self)

    def make_state(self, scalar: Scalar | None = None, compiled: bool | None = None) -> EvaluatedState:
        """That of a new context."""
        return self.state_class(self.whole_plant(), scalar, compiled)

    def time_step(self) -> float:
        """The step of a discrete plant.

        Returns:
          [s], 0 for a continuous plant.

        Example:
          >>> plant.time_step()
          0.0
        """
        return self.step_length

    def is_discrete(self) -> bool:
        """Whether the plant has a time step."""
        return self.step_length > 0.0

    def port_array(self, value: Any, what: str) -> Array:
        """A new array of the plant's numbers for a port. TypeError for others, RuntimeError if they are not finite."""
        array = self.scalar.array(value, what)
        require_finite(array, what)
        return array

    def is_finalized(self) -> bool:
        """Whether Finalize() has been called.

        Returns:
          True or False.

        Example:
          >>> plant.is_finalized(), MultibodyPlant(0.0).is_finalized()
          (True, False)
        """
        return self.model is not None

    def require_finalized(self, what: str) -> None:
        """RuntimeError before Finalize()."""
        if self.model is None:
            raise RuntimeError(f"{what}: call Finalize() first")

    def require_not_finalized(self, what: str) -> None:
        """RuntimeError after Finalize()."""
        if self.model is not None:
            raise RuntimeError(f"{what}: the plant is finalized, nothing can be changed")

    def check_context(self, context: Context) -> None:
        """RuntimeError for a context that belongs elsewhere."""
        if not isinstance(context, Context):
            if hasattr(type(context), "find"):
                raise RuntimeError(
                    "a plant was given the root context of a diagram: call plant.GetMyContextFromRoot(context) first"
                )
            raise RuntimeError("this context belongs to another system")
        if context.state.plant.origin is not self.origin:
            raise RuntimeError("this context belongs to another plant")

    def require_own(self, element: MultibodyElement, wanted_by: str) -> None:
        """RuntimeError for an element of another plant, or of none."""
        if element.parent_plant is not self.origin:
            raise RuntimeError(f"{wanted_by}: {element!r} is not part of this plant")
