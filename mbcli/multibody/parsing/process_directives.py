"""Model directives into a plant, in two passes: all names and files are checked before anything is added."""

from functools import partial

from mbcli.common.fast_dataclass import dataclass
from mbcli.common.suggestions import did_you_mean
from mbcli.errors import ModelError, ResourceError
from mbcli.math import RigidTransform
from mbcli.multibody.parsing.add_model import add_model
from mbcli.multibody.parsing.collision_filter_groups import CollisionFilterGroups
from mbcli.multibody.parsing.model_instances import model_instances
from mbcli.multibody.parsing.scene_names import WORLD, NotLoaded, SceneNames, takes
from mbcli.multibody.tree import FixedOffsetFrame, QuaternionFloatingJoint
from mbcli.parsers.load import load_models
from mbcli.parsers.scenes.directives import find_named_file, flatten_directives, scoped


@dataclass(slots=True)
class ModelInstanceInfo:
    """A model that directives added. The frames are those of the last weld of the model as a child, without scope."""

    model_name: str
    model_path: str
    model_instance: object = None
    parent_frame_name: str = ""
    child_frame_name: str = ""
    X_PC: RigidTransform = RigidTransform()


def plan_directives(directives, plant, packages, diagnostics, *, namespace="", sources=None, filter_groups=None):
    """The DirectivePlan of ModelDirectives, includes and all; faults are in `diagnostics`.

    namespace, sources: as of flatten_directives(). filter_groups: to which the plan adds those of the directives.
    """
    plan = DirectivePlan(plant, packages, diagnostics, filter_groups)
    before = len(diagnostics.errors)
    flat, demands = flatten_directives(directives, packages, diagnostics, namespace=namespace, sources=sources)
    plan.add(flat, demands, complete=len(diagnostics.errors) == before)
    return plan


class DirectivePlan:
    """Directives checked against a plant, ready to be applied.

    Every finding goes to `diagnostics`; apply() only after it has no errors.
    """

    def __init__(self, plant, packages, diagnostics, filter_groups=None):
        self.added = []  # (instance name, ModelSpec) of the models to add and those in them
        self._plant, self._packages, self._diagnostics = plant, packages, diagnostics
        self._names = SceneNames(plant)
        self._steps = []  # functions without arguments that change the plant
        self._infos = {}  # instance name -> ModelInstanceInfo
        self._loaded = {}  # path -> models
        self._posed = []  # (body, record): default poses of free bodies
        self._groups = {}  # name -> (members, record, namespace)
        self._filter_groups = CollisionFilterGroups() if filter_groups is None else filter_groups

    def add(self, directives, demands=(), complete=True):
        """Checks flat directives, in order.

        demands: those of flatten_directives(). complete: all files that they include were read.
        """
        demands = list(demands)
        if not complete:
            self._names.not_loaded.add("")
        for k, directive in enumerate(directives.directives):
            while demands and demands[0][0] <= k:
                self._check_namespace(demands.pop(0)[1])
            self._CHECKS[directive.kind](self, directive.record)
        for _, record in demands:
            self._check_namespace(record)
        self._check_groups()
        for body, record in self._posed:
            holder = self._names.holders.get(body)
            if holder is not None:
                message = f'the default pose of "{body[1]}" is not used: joint "{holder}" holds it'
                self._diagnostics.warning("POSE_UNUSED", message, place=record.place)

    def apply(self):
        """Changes the plant; returns the ModelInstanceInfo of every model added, in order."""
        for step in self._steps:
            step()
        return list(self._infos.values())

    def _error(self, record, message, code="NAME_UNKNOWN", hint=None):
        self._diagnostics.error(code, message, place=record.place, hint=hint)

    def _find(self, look_up, record, *names):
        """The result of a look-up of SceneNames, or None after reporting why it fails."""
        try:
            return look_up(*names)
        except NotLoaded:
            return None
        except LookupError as error:
            self._error(record, str(error))
            return None

    def _frame(self, found):
        """The frame of the plant that SceneNames found by name."""
        instance, name = found
        return self._plant.GetFrameByName(name, self._plant.GetModelInstanceByName(instance))

    # --------------------------------------------------------------------------------- instances and models

    def _check_namespace(self, record):
        name = record.model_namespace
        if name not in self._names.frames and not self._names.not_loaded:
            hint = did_you_mean(name, self._names.frames) or "an add_model_instance before it makes one"
            self._error(record, f'the namespace "{name}" is not a model instance', hint=hint)

    def _add_instance(self, record):
        if self._is_free(record):
            self._names.add_instance(record.name)
            self._steps.append(partial(self._plant.AddModelInstance, record.name))

    def _is_free(self, record):
        taken = record.name in self._names.frames
        if taken:
            self._error(record, f'there is a model instance "{record.name}" already', "DUPLICATE_NAME")
        return not taken

    def _add_model(self, record):
        free = self._is_free(record)
        loaded = self._load(record)
        if not free:
            return
        if loaded is None:
            self._names.add_instance(record.name)
            self._names.not_loaded.add(record.name)
            return
        path, spec = loaded
        self._names.add_model(record.name, spec)
        self.added += model_instances(spec, record.name)
        info = self._infos[record.name] = ModelInstanceInfo(record.name, path)
        self._steps.append(partial(self._apply_model, spec, info))
        for joint, positions in record.default_joint_positions.items():
            self._set_default_positions(record, joint, positions)
        for name, pose in record.default_free_body_pose.items():
            self._set_default_pose(record, name, pose)

    def _load(self, record):
        """(path, ModelSpec) of the one model in a file, or None after reporting the faults."""
        path = find_named_file(record, self._packages, self._diagnostics)
        if path is None:
            return None
        try:
            if path not in self._loaded:
                self._loaded[path] = ()
                self._loaded[path] = load_models(path, packages=self._packages, diagnostics=self._diagnostics)
        except ResourceError as error:
            self._diagnostics.error("URI_LOOKUP", str(error), place=record.place, value=record.file)
            return None
        except ModelError as error:
            self._diagnostics.error("FILE_FORMAT", str(error), place=record.place, value=record.file)
            return None
        models = self._loaded[path]
        if len(models) > 1 or (models and models[0].is_world):
            message = f"{path} has not one model but a world or several: add_model adds one"
            self._error(record, message, "FILE_FORMAT")
            return None
        return (path, models[0]) if models else None

    def _apply_model(self, spec, info):
        info.model_instance = add_model(self._plant, spec, info.model_name)
        for name, inner in model_instances(spec, info.model_name):
            self._filter_groups.add_from_model(name, inner)

    def _set_default_positions(self, record, joint, positions):
        size = self._find(self._names.num_positions, record, record.name, joint)
        if size is None:
            return
        if not takes(size, len(positions)):
            message = f'joint "{joint}" has {size} positions, default_joint_positions gives {len(positions)}'
            self._error(record, message, "VALUE_SIZE")
            return

        def apply():
            instance = self._plant.GetModelInstanceByName(record.name)
            moved = self._plant.GetJointByName(joint, instance)
            moved.set_default_positions(moved.positions_of(positions))

        self._steps.append(apply)

    # -------------------------------------------------------------------------------------------- free bodies

    def _set_default_pose(self, record, name, pose):
        frame = self._posed_frame(record, name)
        base = self._find(self._names.frame, record, pose.base_frame or "world")
        if frame is None or base is None:
            return
        body = self._names.body_of(frame)
        if base == (WORLD, "world") and frame == body and pose.IsDeterministic():
            self._posed.append((body, record))
            X_WB = pose.GetDeterministicValue()
            self._steps.append(lambda: self._plant.SetDefaultFreeBodyPose(self._frame(frame).body(), X_WB))
            return
        holder = self._names.holders.get(body)
        if holder is not None:
            self._error(record, f'"{body[1]}" cannot float: joint "{holder}" holds it', "POSE_OF_HELD_BODY")
        elif self._names.body_of(base) == body:
            self._error(record, f'the default pose of "{name}" is relative to its own body', "POSE_RELATIVE_TO_CYCLE")
        elif self._names.has_joint(body[0], body[1]):
            message = f'there is a joint "{body[1]}" already: the floating joint of the body needs this name'
            self._error(record, message, "DUPLICATE_NAME")
        else:
            if not pose.IsDeterministic():
                message = f'the default pose of "{name}" is random: its mean is used unless a state is drawn'
                self._diagnostics.note("POSE_RANDOM", message, place=record.place)
            self._names.add_joint(*body, 7, body)
            self._steps.append(partial(self._apply_floating_joint, frame, base, body, pose))

    def _posed_frame(self, record, name):
        """(instance, name) of the frame that a default_free_body_pose names; the empty name is the only body."""
        if name:
            return self._find(self._names.frame, record, f"{record.name}::{name}")
        bodies = self._names.bodies[record.name]
        if len(bodies) != 1:
            self._error(record, f'"{record.name}" has {len(bodies)} bodies: default_free_body_pose must name one')
            return None
        return record.name, bodies[0]

    def _apply_floating_joint(self, frame, base, body, pose):
        joint = QuaternionFloatingJoint(body[1], self._frame(base), self._frame(frame))
        joint = self._plant.AddJoint(joint)
        joint.SetDefaultPose(pose.Mean())
        if not pose.IsDeterministic():
            drawn = []  # the translation is drawn after the rotation of the same pose

            def quaternion(generator):
                drawn[:] = [pose.Sample(generator)]
                return drawn[0].rotation().ToQuaternion().wxyz()

            joint.set_random_quaternion_distribution(quaternion)
            joint.set_random_translation_distribution(lambda generator: drawn[0].translation())

    # -------------------------------------------------------------------------------------- frames and welds

    def _add_frame(self, record):
        base = self._find(self._names.frame, record, record.X_PF.base_frame)
        scope, _, name = record.name.rpartition("::")
        if base is None:
            self._names.frames.get(scope or WORLD, {}).setdefault(name, None)  # references to it are not wrong
            return
        instance = scope or base[0]
        if self._find(self._names.require_instance, record, instance) is None:
            return
        if name in self._names.frames[instance]:
            self._error(record, f'there is a frame "{name}" in "{instance}" already', "DUPLICATE_NAME")
            return
        self._names.frames[instance][name] = self._names.body_of(base)

        def apply():
            X_PF, index = record.X_PF.GetDeterministicValue(), self._plant.GetModelInstanceByName(instance)
            added = self._plant.AddFrame(FixedOffsetFrame(name, self._frame(base), X_PF, index))
            added.place = record.place

        self._steps.append(apply)

    def _add_weld(self, record):
        parent = self._find(self._names.frame, record, record.parent)
        child = self._find(self._names.frame, record, record.child)
        if parent is None or child is None:
            return
        body, name = self._names.body_of(child), f"{parent[1]}_welds_to_{child[1]}"
        if body is not None and self._names.body_of(parent) == body:
            self._error(record, f'"{record.parent}" and "{record.child}" are on one body', "WELD_TO_SELF")
            return
        if self._names.has_joint(child[0], name):
            self._error(record, f'"{record.parent}" and "{record.child}" are welded already', "DUPLICATE_NAME")
            return
        self._names.add_joint(child[0], name, 0, body)
        X_PC = None if record.X_PC is None else record.X_PC.GetDeterministicValue()

        def apply():
            self._plant.WeldFrames(self._frame(parent), self._frame(child), X_PC).place = record.place
            info = self._infos.get(child[0])
            if info is not None:
                info.parent_frame_name, info.child_frame_name = parent[1], child[1]
                info.X_PC = X_PC or RigidTransform()

        self._steps.append(apply)

    # -------------------------------------------------------------------------------------- collision filters

    def _add_group(self, record):
        namespace, full = record.model_namespace or "", scoped(record.model_namespace, record.name)
        if "::" in record.name:
            self._error(record, f'the name "{record.name}" has a scope: model_namespace takes that', "NAME_INVALID")
        elif full in self._groups:
            self._error(record, f'there is a collision filter group "{full}" already', "DUPLICATE_NAME")
        elif not namespace or self._find(self._names.require_instance, record, namespace) is not None:
            self._groups[full] = record
            for member in record.members:
                self._check_member(record, scoped(namespace, member))

    def _check_member(self, record, member):
        if "::" in member:
            self._find(self._names.body, record, member)
            return
        if self._names.not_loaded:
            return
        instances = [name for name, bodies in self._names.bodies.items() if member in bodies]
        hint = f'did you mean "{instances[0]}::{member}"?' if instances else None
        self._error(record, f'"{member}" lacks the model instance of a body', hint=hint)

    def _check_groups(self):
        """Groups may name groups that come later, so that this is the last check."""
        known = {*self._groups, *self._filter_groups.groups()}
        for instance, info in self._infos.items():
            spec = self._loaded[info.model_path][0]
            known |= {f"{instance}::{group.name}" for group in spec.filter_groups}
        for record in self._groups.values():
            for name in (*record.member_groups, *record.ignored_collision_filter_groups):
                full = scoped(record.model_namespace, name)
                if full not in known and not self._names.not_loaded:
                    self._error(record, f'there is no collision filter group "{full}"', hint=did_you_mean(full, known))
        if self._groups:
            self._steps.append(self._apply_groups)

    def _apply_groups(self):
        for full, record in self._groups.items():
            self._filter_groups.AddGroup(full, self._all_members(full, set()))
            for name in record.ignored_collision_filter_groups:
                self._filter_groups.AddExclusionPair((full, scoped(record.model_namespace, name)))

    def _all_members(self, full, seen):
        """The bodies of a group and of the groups in it; groups may contain each other."""
        seen.add(full)
        record = self._groups.get(full)
        if record is None:
            return self._filter_groups.groups()[full]
        namespace = record.model_namespace
        members = {scoped(namespace, member) for member in record.members}
        inner = [scoped(namespace, name) for name in record.member_groups]
        return members.union(*(self._all_members(name, seen) for name in inner if name not in seen))

    _CHECKS = {
        "add_model": _add_model,
        "add_model_instance": _add_instance,
        "add_frame": _add_frame,
        "add_weld": _add_weld,
        "add_collision_filter_group": _add_group,
    }
