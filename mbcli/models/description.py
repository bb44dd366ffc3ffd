"""A model as data: the document that `mbcli inspect --json` prints."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.json_text import plain
from mbcli.errors import ModelError
from mbcli.meshes.height_grids import packed_heights
from mbcli.models.loaded_model import LoadedModel
from mbcli.models.loading import as_loaded, load_model
from mbcli.models.measures import measures
from mbcli.multibody.core.inputs import pd_law
from mbcli.multibody.fem.body_config import MATERIAL_NAMES
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree.joint_kinds import is_weld

if TYPE_CHECKING:
    from typing import TypeAlias

    Entry: TypeAlias = dict[str, Any]

    from mbcli.models.postures import Posture
    from mbcli.multibody.tree.deformable_body import DeformableBody
    from mbcli.multibody.tree.element import MultibodyElement
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.multibody.tree.rigid_body import RigidBody
    from mbcli.multibody.tree.sensor import Sensor
    from mbcli.parsers.spec import ModelSpec

# accessors of force elements: the elements that they act between, and their numbers
FORCE_ELEMENT_PARTS = ((("frameA", "frameC"), "frames"), (("bodyA", "bodyB"), "bodies"))
FORCE_ELEMENT_VALUES = (
    "gravity_vector",
    "p_AP",
    "p_BQ",
    "free_length",
    "stiffness",
    "damping",
    "torque_stiffness_constants",
    "torque_damping_constants",
    "force_stiffness_constants",
    "force_damping_constants",
)
MOST_SHARED = 2e7  # velocities that pairs of constraints share: their tables take 8 bytes and 0.1 us for each
MOST_OPERATIONS = 2e8  # of a factorization: the freedom that constraints leave takes dozens


def describe(model: Any, *, measured: bool = True) -> dict:
    """The model as a document of lists, texts and numbers, `schemas` version 1 of mbcli/inspect.

    Counts, masses, measures, named postures, bodies, joints, frames, actuators, force elements, constraints, sensors,
    geometries, names of coordinates in their order, and what of the files was not used. Units are SI, matrices lists of
    rows, a limit that is not set None.

    Args:
        model: a LoadedModel, a finalized MultibodyPlant (of which the names of files are not known), or what
            load_model() takes.
        measured: whether the document has the measures. Those of geometries are None for a LoadedModel
            or plant without contact.

    Returns:
        The document.

    Example:
        >>> mbcli.models.describe(model)["counts"]["nq"]
        2
    """
    if not isinstance(model, (LoadedModel, MultibodyPlant)):
        model = load_model(model, contact=measured, self_contact="all")
    loaded = as_loaded(model)
    plant = loaded.plant
    geometries = _geometries(loaded)
    document = {
        "schema": "mbcli/inspect",
        "schema_version": 1,
        "model": loaded.description(),
        "format": [
            {"name": spec.name, "model_instance": instance, "format": spec.format, "version": spec.version}
            for spec, instance in _models(loaded)
        ],
        "time_step": plant.time_step(),
        "gravity": plant.gravity_field().gravity_vector(),
        "counts": {
            "nq": plant.num_positions(),
            "nv": plant.num_velocities(),
            "nu": plant.num_actuators(),
            "bodies": plant.num_bodies() - 1,
            "deformable_bodies": len(plant.elements.deformable_bodies),
            "joints": plant.num_joints(),
            "frames": plant.num_frames(),
            "actuators": plant.num_actuators(),
            "model_instances": plant.num_model_instances() - 2,
            "force_elements": plant.num_force_elements(),
            "constraints": len(plant.elements.constraints),
            "visuals": sum(g["role"] == "visual" for g in geometries),
            "collisions": sum(g["role"] == "collision" for g in geometries),
            "moving_bodies": plant.model.sizes["nbody"] - 1,
        },
        "total_mass": float(plant.model.link_inertia[:, 0].sum()),
        **(measures(plant) if measured else {}),
        "postures": [_posture(plant, posture) for posture in loaded.postures],
        "position_names": plant.GetPositionNames(),
        "velocity_names": plant.GetVelocityNames(),
        "actuator_names": plant.GetActuatorNames(),
        "default_positions": plant.GetDefaultPositions(),
        "bodies": [_body(plant, body) for body in plant.elements.bodies[1:]],
        "deformable_bodies": [_deformable(plant, body) for body in plant.elements.deformable_bodies],
        "joints": [_joint(plant, joint) for joint in plant.elements.joints],
        "frames": [_frame(plant, frame) for frame in plant.elements.frames if not frame.is_body_frame()],
        "actuators": [_actuator(plant, actuator) for actuator in plant.elements.actuators],
        "force_elements": [_force_element(element) for element in plant.elements.force_elements],
        "constraints": [_constraint(constraint) for constraint in plant.elements.constraints],
        "sensors": [_sensor(plant, sensor) for sensor in plant.elements.sensors],
        "mobility": _mobility(plant),
        "geometries": geometries,
        "collision_filter_groups": _filter_groups(loaded),
        "not_used": [f.as_dict() for f in loaded.diagnostics.findings],
    }
    return plain(document)


def _models(loaded: LoadedModel) -> list[tuple[ModelSpec, str]]:
    """(ModelSpec, name of its instance) of every model; none for a plant whose files are not known."""
    return list(zip(loaded.specs, loaded.instances, strict=True)) if loaded.specs else []


def _instance(plant: MultibodyPlant, element: MultibodyElement) -> str:
    return plant.GetModelInstanceName(element.model_instance())


def _place(element: Any) -> str | None:
    return str(element.place) if element.place is not None else None


def _body(plant: MultibodyPlant, body: RigidBody) -> Entry:
    M = body.default_spatial_inertia()
    I = M.CalcRotationalInertia().CopyToFullMatrix3()
    com = M.get_com()
    central = I - M.get_mass() * ((com @ com) * np.eye(3) - com[:, None] * com[None, :])
    return {
        "name": body.name(),
        "model_instance": _instance(plant, body),
        "mass": M.get_mass(),
        "com": com,
        "inertia_about_com": central,
        "floating": body.is_floating_base_body(),
        "anchored": plant.IsAnchored(body),
        "place": _place(body),
    }


def _deformable(plant: MultibodyPlant, body: DeformableBody) -> Entry:
    config = body.config()
    return {
        "name": body.name(),
        "model_instance": _instance(plant, body),
        "vertices": len(body.reference),
        "tetrahedra": len(body.tetrahedra),
        "volume": body.mesh.volume,
        "mass": body.mass(),
        "material_model": next(name for name, model in MATERIAL_NAMES.items() if model == config.material_model()),
        "youngs_modulus": config.youngs_modulus(),
        "poissons_ratio": config.poissons_ratio(),
        "mass_density": config.mass_density(),
        "mass_damping": config.mass_damping_coefficient(),
        "stiffness_damping": config.stiffness_damping_coefficient(),
        "vertices_on_walls": int(body.on_wall.sum()),
        "vertices_fixed_to_bodies": [
            {"body": fixed.body.name(), "vertices": len(fixed.vertices)} for fixed in body.fixed_vertices
        ],
        "X_WD": body.get_default_pose().GetAsMatrix4(),
        "place": _place(body),
    }


def _posture(plant: MultibodyPlant, posture: Posture) -> Entry:
    return {
        "name": posture.name(),
        "model_instance": plant.GetModelInstanceName(posture.instance),
        "positions": {name: list(values) for name, values in posture.spec.positions},
        "place": str(posture.spec.place),
    }


def _joint(plant: MultibodyPlant, joint: Any) -> Entry:
    nq, nv = joint.num_positions(), joint.num_velocities()
    closes_loop = joint in plant.elements.loop_joints
    result: Entry = {
        "name": joint.name(),
        "model_instance": _instance(plant, joint),
        "type": joint.type_name(),
        "parent": joint.parent_body().name(),
        "parent_model_instance": _instance(plant, joint.parent_body()),
        "child": joint.child_body().name(),
        "position_start": joint.position_start() if nq and not closes_loop else None,
        "num_positions": nq,
        "velocity_start": joint.velocity_start() if nv and not closes_loop else None,
        "num_velocities": nv,
        "X_PF": joint.frame_on_parent().GetFixedPoseInBodyFrame().GetAsMatrix4(),
        "X_CM": joint.frame_on_child().GetFixedPoseInBodyFrame().GetAsMatrix4(),
        "place": _place(joint),
        "added_by_mbcli": joint.is_ephemeral(),
    }
    if hasattr(joint, "axis"):
        result["axis"] = joint.axis()
    if hasattr(joint, "screw_pitch"):
        result["pitch"] = joint.screw_pitch()
    if is_weld(joint):
        result["X_FM"] = joint.X_FM().GetAsMatrix4()
    if nv:
        result["damping"] = joint.default_damping_vector()
        for kind in ("position", "velocity", "acceleration"):
            lower = getattr(joint, f"{kind}_lower_limits")().tolist()
            upper = getattr(joint, f"{kind}_upper_limits")().tolist()
            result[f"{kind}_limits"] = [[_limit(low), _limit(high)] for low, high in zip(lower, upper, strict=True)]
    for name, limits in joint.other_limits.items():
        result[f"{name}_limits"] = [_limit(limit) for limit in limits]
    return result


def _sensor(plant: MultibodyPlant, sensor: Sensor) -> dict[str, Any]:
    mounted: dict[str, Any] = {"body": sensor.body.name(), "X_BS": sensor.X_BS} if sensor.has_frame else {}
    return {
        "name": sensor.name(),
        "model_instance": _instance(plant, sensor),
        "kind": sensor.kind_name(),
        "type": sensor.type_name(),
        "dataset": sensor.path,
        **mounted,
        "joints": [joint.name() for joint, _ in sensor.joints],
        "signals": [
            {"columns": list(signal.column_names()), "units": signal.units, "frame": signal.frame or None}
            for signal in sensor.signals()
        ],
        "update_rate": sensor.rate or None,
        "delay": sensor.delay or None,
        "has_noise": any(noise.acts() for noise in sensor.noise),
        "place": _place(sensor),
    }


def _limit(value: float) -> float | None:
    """A limit that the file does not set is not a number."""
    return value if math.isfinite(value) else None


def _constraint(constraint: Any) -> Entry:
    result = {
        "type": constraint.kind,
        "name": constraint.name,
        "bodies": [body.name() for body in constraint.bodies()],
        "place": str(constraint.place) if constraint.place is not None else None,
    }
    if constraint.joints():
        result["joints"] = [joint.name() for joint in constraint.joints()]
    return result | {name: _number(value) for name, value in constraint.parameters().items()}


def _mobility(plant: MultibodyPlant) -> Entry | None:
    """The freedom that constraints leave at an assembly near the default pose; None without constraints."""
    if not plant.elements.constraints:
        return None
    from mbcli.multibody.assembly.closed_chains import ClosedChains
    from mbcli.multibody.compilation.compile_constraints import share_at_most
    from mbcli.multibody.compilation.constraint_rows import constraint_rows
    from mbcli.multibody.state.context import Context

    context = Context(plant, compiled=False)
    state = context.state
    state.set_q(plant.GetDefaultPositions())
    try:
        rows, owners = constraint_rows(plant)
        if not share_at_most(plant.model, rows, MOST_SHARED):
            return {"rows": len(owners), "problem": "so many coupled equations are not analysed here"}
        chains = ClosedChains(context)
    except ModelError as error:
        return {"problem": str(error)}
    if chains.operations() > MOST_OPERATIONS:
        return {"rows": chains.nrow, "problem": "so many coupled equations are not analysed here"}
    found = chains.assemble_nearby(state.q)
    if not found.converged:
        return {"rows": chains.nrow, "problem": f"no assembly was found, the error is {found.position_error:.3g}"}
    independent = chains.independent(found.q)
    rank = chains.rank_nearby(found.q)
    redundant = Counter(owner for owner, needed in zip(chains.owners, independent, strict=True) if not needed)
    return {
        "rows": chains.nrow,
        "rank": rank,
        "mobility": plant.num_velocities() - rank,
        "singular": rank > int(np.sum(independent)),
        "redundant": [{"type": owner.kind, "name": owner.name, "rows": count} for owner, count in redundant.items()],
        "q": found.q,
    }


def _number(value: Any) -> Any:
    return _limit(value) if isinstance(value, float) else value


def _filter_groups(loaded: LoadedModel) -> list[Entry]:
    """Those of models by their own names, then those of directives by scoped ones."""
    of_models = [
        {
            "name": group.name,
            "model_instance": instance,
            "members": group.members,
            "ignores": group.ignores,
            "place": str(group.place),
        }
        for spec, instance in _models(loaded)
        for group in spec.filter_groups
    ]
    if loaded.filter_groups is None:
        return of_models
    names = {f"{group['model_instance']}::{group['name']}" for group in of_models}
    pairs = loaded.filter_groups.exclusion_pairs()
    of_directives = [
        {
            "name": name,
            "model_instance": None,
            "members": sorted(members),
            "ignores": sorted(
                {second if first == name else first for first, second in pairs if name in (first, second)}
            ),
            "place": None,
        }
        for name, members in loaded.filter_groups.groups().items()
        if name not in names
    ]
    return of_models + of_directives


def _frame(plant: MultibodyPlant, frame: Frame) -> Entry:
    return {
        "name": frame.name(),
        "model_instance": _instance(plant, frame),
        "body": frame.body().name(),
        "X_BF": frame.GetFixedPoseInBodyFrame().GetAsMatrix4(),
    }


def _actuator(plant: MultibodyPlant, actuator: JointActuator) -> Entry:
    law = pd_law(plant, actuator)
    return {
        "name": actuator.name(),
        "model_instance": _instance(plant, actuator),
        "joint": actuator.joint().name(),
        "effort_limit": _limit(actuator.effort_limit()),
        "rotor_inertia": actuator.default_rotor_inertia(),
        "gear_ratio": actuator.default_gear_ratio(),
        "controller_gains": None if law is None else [law.p, law.d],
        "place": _place(actuator),
    }


def _force_element(element: Any) -> Entry:
    result: Entry = {"type": type(element).__name__, "place": _place(element)}
    for names, kind in FORCE_ELEMENT_PARTS:
        if hasattr(element, names[0]):
            result[kind] = [getattr(element, name)().name() for name in names]
    result |= {key: getattr(element, key)() for key in FORCE_ELEMENT_VALUES if hasattr(element, key)}
    if hasattr(element, "joint"):
        result["joint"] = element.joint().name()
    if hasattr(element, "default_stiffness"):
        result["stiffness"] = element.default_stiffness()
    return result


def _geometries(loaded: LoadedModel) -> list[Entry]:
    """Those of the files; of a plant whose files are not known those that were registered."""
    if not loaded.specs:
        return _registered_geometries(loaded.plant)
    result = []
    for spec, instance in _models(loaded):
        for link in spec.links:
            for role, geometries in (("visual", link.visuals), ("collision", link.collisions)):
                for geometry in geometries:
                    shape = geometry.shape
                    result.append(
                        {
                            "name": geometry.name,
                            "role": role,
                            "model_instance": instance,
                            "body": link.name,
                            "shape": type(shape).__name__.lower(),
                            "parameters": {key: getattr(shape, key) for key in shape.__slots__} | _heights(shape),
                            "X_BG": geometry.X_LG,
                            "color": geometry.color,
                        }
                    )
    return result


def _registered_geometries(plant: MultibodyPlant) -> list[Entry]:
    if plant.scene_graph is None:
        return []
    inspector = plant.scene_graph.model_inspector()
    result = []
    for body in plant.elements.bodies:
        for role, ids in (
            ("visual", plant.GetVisualGeometriesForBody(body)),
            ("collision", plant.GetCollisionGeometriesForBody(body)),
        ):
            for g in ids:
                shape = inspector.GetShape(g)
                result.append(
                    {
                        "name": inspector.GetName(g),
                        "role": role,
                        "model_instance": _instance(plant, body),
                        "body": body.name(),
                        "shape": type(shape).__name__.lower(),
                        "parameters": {name: getattr(shape, name)() for name in shape.MEASURES} | _heights(shape),
                        "X_BG": inspector.GetPoseInFrame(g).GetAsMatrix4(),
                    }
                )
    return result


def _heights(shape: Any) -> dict[str, Any]:
    """Those of a height field, of a file or of a plant."""
    heights = getattr(shape, "heights", None)
    return {} if heights is None else packed_heights(heights)
