"""Finalize(): from elements to a forest and to the arrays of the engine."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from mbcli.common.collection_pause import paused_collection
from mbcli.common.coordinate_names import listed
from mbcli.common.number_text import counted
from mbcli.common.topology import CUT_EARLY, CUT_FIRST, CUT_LAST, CUT_LATE, Edge, spanning_forest
from mbcli.multibody.compilation.compile_model import MobilizedJoint, StepActions, compile_model
from mbcli.multibody.compilation.cut_joints import has_limits, left_out_at
from mbcli.multibody.core.elements import Elements
from mbcli.multibody.core.kinematics import Kinematics
from mbcli.multibody.scalars import EXPRESSION
from mbcli.multibody.state.context import Context
from mbcli.multibody.state.parameters import DEFAULTS
from mbcli.multibody.tree.constraints import BallConstraint, LoopConstraint
from mbcli.multibody.tree.index import JointIndex
from mbcli.multibody.tree.joint_spring import JointSpring

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.multibody.scalars import Scalar
    from mbcli.multibody.state.parameters import Parameters
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator, PdControllerGains
    from mbcli.multibody.tree.joints import QuaternionFloatingJoint
    from mbcli.multibody.tree.rigid_body import RigidBody


class Finalization(Elements, Kinematics):
    """The part of MultibodyPlant that ends its construction."""

    _constraints_by_default: tuple[Any, Any] | None = None  # the model, and what its contexts share

    @paused_collection()
    def Finalize(self) -> None:
        """Ends construction: bodies without a way to World get floating joints, coordinates get their places."""
        self.require_not_finalized("Finalize")
        if self.settings.sleep_tolerance > 0.0 and self.elements.deformable_bodies:
            raise RuntimeError("Finalize: a plant with deformable bodies has no islands that sleep: set no tolerance")
        forest, loops = self.forest()
        loop_joints = [self.elements.joints[k] for k in loops]
        self._refuse_constraints_at(loop_joints)
        self.elements.loop_joints = loop_joints
        self.free_joints = {}
        mobilized = []
        for mobod in forest:
            if mobod.joint is None:
                joint = self._add_floating_joint(self.elements.bodies[mobod.link])
            else:
                joint = self.elements.joints[mobod.joint]
            if joint.num_velocities() == 6 and not mobod.reversed:
                self.free_joints[mobod.link] = joint
            mobilized.append(MobilizedJoint(joint, mobod.inboard, mobod.link, mobod.reversed))
        self.left_out = left_out_at(self.whole_plant(), loop_joints)
        for line in [*self.left_out, *self.unused_properties()]:
            warnings.warn(str(line), stacklevel=3)
        for actuator in [a for a in self.elements.actuators if loop_joints and a.joint() in loop_joints]:
            self._unregister(actuator, self.elements.actuators)  # the joint has no coordinate to drive
        self._mobilized_joints = mobilized
        self.model = self.compiled_model(DEFAULTS)
        for start, actuator in enumerate(self.elements.actuators):
            actuator.first_input = start
        for n, free_joint in self.free_joints.items():
            if free_joint.made_at_finalize and n in self._default_free_poses:
                free_joint.SetDefaultPose(self._default_free_poses[n])
        self._complete_constraints()
        self._declare_collision_filters()
        if self.num_tendon_constraints() and self._solves_problems():
            from mbcli.multibody.compilation.constraint_rows import require_two_trees  # late: few plants have some

            require_two_trees(self)

    def _complete_constraints(self) -> None:
        """Adds joints that close loops; finds the points that ball constraints leave to the default positions."""
        self.elements.constraints += [LoopConstraint(joint) for joint in self.elements.loop_joints]
        unknown = [c for c in self.elements.constraints if isinstance(c, BallConstraint) and c.p_BQ is None]
        if unknown:
            context = Context(self.whole_plant(), compiled=False)
            context.state.set_q(self.GetDefaultPositions())
            for c in unknown:
                X_BA = self.CalcRelativeTransform(context, c.body_B.body_frame(), c.body_A.body_frame())
                c.complete([self.scalar.real(x) for x in X_BA.multiply(c.p_AP)])
        self._constraints_by_default = None

    def constraints_by_default(self, model: Any, parameters: Parameters, compiled: Callable[[], Any]) -> Any:
        """What compiled() makes of the constraints, once for all contexts that have the plant's own parameters."""
        if model is not self.model or parameters.values:
            return compiled()
        if self._constraints_by_default is None or self._constraints_by_default[0] is not model:
            self._constraints_by_default = model, compiled()
        return self._constraints_by_default[1]

    def _solves_problems(self, parameters: Parameters = DEFAULTS) -> bool:
        """Whether steps are contact problems: if bodies can touch, or a constraint is not an equation."""
        return self.is_discrete() and (not self._has_equations_only(parameters) or self.meets_contact())

    def _has_equations_only(self, parameters: Parameters) -> bool:
        if not self.elements.constraints:
            return True
        from mbcli.multibody.compilation.constraint_rows import are_equations

        return are_equations(self, parameters)

    def compiled_model(self, parameters: Parameters, scalar: Scalar | None = None) -> Any:
        """The arrays of the plant for the given parameter values, of a Scalar; default: the plant's own."""
        scalar = scalar or self.scalar
        model = compile_model(
            self.elements.bodies,
            self.elements.frames,
            self._mobilized_joints,
            self.elements.actuators,
            self._compiled_force_elements(),
            self._gravity.gravity_vector(),
            self._gravity.acts_on,
            parameters,
            StepActions(
                controllers=self.has_controllers(),
                limits=self.is_discrete(),
                friction=self.is_discrete() and self.settings.joint_dry_friction and scalar is not EXPRESSION,
                in_middle=self.is_discrete() and self.settings.step_scheme == "midpoint",
            ),
            scalar.dtype,
        )
        return scalar.convert_model(model)

    def replace_controllers(self, gains: Mapping[JointActuator, PdControllerGains]) -> None:
        """Other gains for actuators of a finalized plant, of which some may have none then.

        They hold in contexts that are made from now on; earlier ones have arrays for other controllers.
        """
        self.require_finalized("replace_controllers")
        geometries = None if self.scene_graph is None else self.compiled_geometries()
        for actuator, its_gains in gains.items():
            actuator.replace_gains(its_gains)
        self.renew_model()
        self.mixes_controllers = True
        if geometries is not None:
            self._compiled_geometries = self.geometry_revision(), self.model, geometries

    def renew_model(self) -> None:
        """Makes the arrays anew after defaults of elements were replaced, for contexts that are made from now on."""
        self.require_finalized("renew_model")
        self.model = self.compiled_model(DEFAULTS)

    def forest(self) -> Any:
        """The spanning forest of the joints as they are now: mobods and the indices of joints that close loops."""
        edges = [
            Edge(k, joint.parent_body().index_number, joint.child_body().index_number)
            for k, joint in enumerate(self.elements.joints)
        ]
        forest, loops = spanning_forest(len(self.elements.bodies), edges)
        if loops:  # only then it matters which joints are cut
            cuts = self._cuts()
            edges = [Edge(*edge[:3], cuts(self.elements.joints[edge.joint])) for edge in edges]
            forest, loops = spanning_forest(len(self.elements.bodies), edges)
        return forest, loops

    def _cuts(self) -> Callable[[Joint], int]:
        """joint -> what it would lose as the joint that closes a loop."""
        if self.is_finalized():  # what was left out is gone, the choice stays
            return lambda joint: CUT_FIRST if joint in self.elements.loop_joints else CUT_LAST
        elements = self.elements
        springs = {e.joint() for e in elements.force_elements if isinstance(e, JointSpring)}
        others = [e for e in elements.force_elements if not isinstance(e, JointSpring)]
        needed = {a.joint() for a in elements.actuators} | {j for c in elements.constraints for j in c.joints()}
        needed |= {part for e in others for part in e.tied_elements()}

        def cut(joint: Joint) -> int:
            from mbcli.multibody.compilation.constraint_rows import JOINT_ROWS

            if joint in needed or joint.num_velocities() == 6 or joint.type_name() not in JOINT_ROWS:
                return CUT_LAST
            if has_limits(joint) or any(joint.dry_friction):
                return CUT_LATE
            return CUT_EARLY if joint in springs or any(joint.default_damping_vector()) else CUT_FIRST

        return cut

    def unused_properties(self) -> list[str]:
        """What a continuous plant does not do that steps do, as lines."""
        if self.is_discrete():
            return []
        limited = [joint.name() for joint in self.moving_joints() if has_limits(joint)]
        rough = [joint.name() for joint in self.moving_joints() if any(joint.dry_friction)]
        lines = []
        if limited:
            lines.append(
                f"a continuous plant does not enforce the position limits of {counted(len(limited), 'joint')}: "
                f"{listed(limited)}"
            )
        if rough and self.settings.joint_dry_friction:
            joints = counted(len(rough), "joint")
            lines.append(f"a continuous plant does not use the dry friction of {joints}: {listed(rough)}")
        return lines

    def _add_floating_joint(self, body: RigidBody) -> QuaternionFloatingJoint:
        from mbcli.multibody.tree.joints import QuaternionFloatingJoint

        instance = body.model_instance()
        name = body.name()
        while self._is_taken(JointIndex, name, instance):
            name = "_" + name
        joint = QuaternionFloatingJoint(name, self.world_frame(), body.body_frame())
        joint.made_at_finalize = True
        return self._register(joint, self.elements.joints, JointIndex, instance)
