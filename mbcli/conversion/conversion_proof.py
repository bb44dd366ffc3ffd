"""The proof of a conversion: its text, read back, is the same mechanism."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import fields, is_dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from mbcli.conversion.plant_comparison import TOLERANCE, Correspondence, compare_plants
from mbcli.errors import MbcliError, NumericalError
from mbcli.geometry import SceneGraph
from mbcli.multibody.parsing.add_model import add_models
from mbcli.multibody.plant import MultibodyPlant
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.formats import FORMATS
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.load import load_models
from mbcli.parsers.poses import compose
from mbcli.parsers.sdf.sdf_deformables import NUMBERS
from mbcli.parsers.spec import IDENTITY, Sphere, WeldConstraintSpec

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mbcli.conversion.plant_comparison import PlantComparison
    from mbcli.math.array_types import BoolArray
    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.spec import ConstraintSpec, DeformableSpec, FrameSpec, MimicSpec, ModelSpec
    from mbcli.parsers.writing.conversion import Conversion

_NOT_WRITTEN = {"place", "path"}  # fields of specs that say where something was read
MATERIAL_NUMBERS = tuple(setter.removeprefix("set_") for setter in NUMBERS.values())
SOONER_COMPILED = 1000  # velocities
TIME_STEP = 1e-3  # [s] of plants with deformable bodies, which are discrete; what is compared does not depend on it


def prove(
    plant: MultibodyPlant | None, conversion: Conversion, packages: PackageMap, *, seed: int = 0
) -> PlantComparison:
    """The `PlantComparison` of a finalized plant with that of a `Conversion` of its model, read back.

    plant: None for that of what the conversion keeps. Where the conversion changes motion or inertias, what is compared
    is the plant of what it says. Shapes, frames, couplings, constraints and filter groups must be those that were
    written. Raises NumericalError if the text cannot be read.
    """
    if plant is None or conversion.moves_otherwise:
        plant = _plant_of(conversion.kept)
    model = _read_back(conversion, packages)
    written = _plant_of(model)
    links = [(link, name) for link, name in conversion.links.items() if link != WORLD]
    num_added = conversion.num_added + int(conversion.links.get(WORLD, WORLD) != WORLD)
    named = {body.name(): body for body in written.elements.bodies}  # of one flat model: names are unique
    bodies = [
        (body, named[name], conversion.moved.get(link))
        for body, (link, name) in zip(plant.elements.bodies[1:], links, strict=True)
    ]
    same = Correspondence(bodies, [], num_added, limits=conversion.limits)
    _match_joints(same, plant, written, conversion)
    for each in (plant, written):
        # a few states: loading compiled kernels takes longer, but for the largest models
        each.prefers_interpreted = each.num_velocities() < SOONER_COMPILED
    result = compare_plants(plant, written, same, seed=seed)
    result.tolerance = conversion.tolerance
    result.written = written
    result.differences += _other_differences(conversion.written, model, conversion.tolerance)
    result.differences += shape_differences(conversion, model)
    return result


def prove_by_engine(conversion: Conversion, proof: PlantComparison, *, seed: int = 0) -> None:
    """Has the engine that the text is for prove it, if it is installed; adds what differs to the proof of `prove`."""
    engine_proof = FORMATS[conversion.target].engine_proof
    if engine_proof is not None and not proof.faults():
        engine = engine_proof(conversion, proof, seed=seed)
        proof.engines += [] if engine is None else [engine]


def _match_joints(same: Correspondence, plant: MultibodyPlant, written: MultibodyPlant, conversion: Conversion) -> None:
    """Which joints of the plant are which in the written one."""
    named = {joint.name(): joint for joint in written.elements.joints}
    holders = {joint.child_body().name(): joint for joint in written.elements.joints}
    same.num_constraints = len(conversion.written.constraints) - len(conversion.kept.constraints)
    for spec, joint in zip(conversion.kept.joints, plant.elements.joints, strict=False):
        parts = conversion.parts.get(spec.name, ())
        if spec.name not in conversion.joints:
            same.equalities.append(joint)
        elif spec.name in conversion.unnamed:
            same.joints.append((joint, holders[conversion.unnamed[spec.name]]))
        elif len(parts) > 1:
            same.compounds.append((joint, [(named[part.name], part) for part in parts]))
            same.num_constraints += sum(part.follows is not None for part in parts)
        else:
            same.joints.append((joint, named[conversion.joints[spec.name]]))


def _plant_of(model: ModelSpec) -> MultibodyPlant:
    """Of a flat ModelSpec, without its deformable links: their meshes are not where the text is read."""
    plant = MultibodyPlant(TIME_STEP if model.deformables else 0.0)
    _fill(plant, model)
    return plant


def _fill(plant: MultibodyPlant, model: ModelSpec) -> None:
    add_models(plant, replace(model, deformables=()), [model.name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what joints that close loops leave out: the same in both plants
        plant.Finalize()


def _read_back(conversion: Conversion, packages: PackageMap) -> ModelSpec:
    diagnostics = Diagnostics()
    target = conversion.target
    packages = copy(packages)
    packages.missing_meshes = "ignore"  # the text is not where they are looked for, and the model's were
    models = load_models(
        conversion.text, input_format=target, packages=packages, diagnostics=diagnostics, name="<written>"
    )
    packages.require_answers()
    try:
        diagnostics.raise_if_errors()
    except MbcliError as error:
        raise NumericalError(f"the {target} file would not be read back: {error}") from None
    return models[0]


def _other_differences(written: ModelSpec, read: ModelSpec, tolerance: float) -> list[str]:
    """Sentences on what a plant does not have, or has no numbers of."""
    links = {link.name: link for link in read.links}  # World, if nothing is on it, has no element of its own
    pairs: list[tuple[str, object, object]] = [
        (f"{tag} of link '{one.name}'", getattr(one, tag), getattr(links.get(one.name), tag, ()))
        for one in written.links
        for tag in ("visuals", "collisions")
    ]
    pairs += [
        ("joints that follow others", _mimics(written), _mimics(read)),
        ("deformable links", _deformables(written), _deformables(read)),
        ("frames", _by_name(written.frames), _by_name(read.frames)),
        ("sensors", _sensors(written), _sensors(read)),
        ("constraints", _stated(written.constraints), _stated(read.constraints)),
    ]
    if written.filter_groups is not None:
        pairs.append(("collision filter groups", written.filter_groups, read.filter_groups))
    return [f"{what} are not as written" for what, one, other in pairs if not _same(one, other, tolerance)]


def shape_differences(conversion: Conversion, read: ModelSpec) -> list[str]:
    """Sentences on shapes that are elsewhere than in the model, and on links that may touch in one model alone."""
    found, there = [], {link.name: link for link in read.links}
    for link in conversion.kept.links:
        X_NL = conversion.moved.get(link.name, IDENTITY)
        twin = there.get(conversion.links.get(link.name, ""))
        for tag in ("visuals", "collisions"):
            ours = [compose(X_NL, geometry.X_LG) for geometry in getattr(link, tag)]
            if not _same_poses(ours, [geometry.X_LG for geometry in getattr(twin, tag, ())]):
                found.append(f"{tag} of link '{link.name}' are elsewhere")
    (kept, meant), (others, reached) = touching(conversion.kept), touching(read)
    kept = [conversion.links[name] for name in kept]
    names = sorted({*kept, *others})
    differs = _placed(meant, kept, names) != _placed(reached, others, names)
    for row, column in np.argwhere(np.triu(differs)).tolist():
        pair = names[row], names[column]
        found.append(f"links '{pair[0]}' and '{pair[-1]}' may touch in one and not in the other")
    return found


def _same_poses(ours: list[Any], theirs: list[Any]) -> bool:
    """In any order: MJCF has what is seen and collides first."""
    left = list(theirs)
    for X in ours:
        k = next((k for k, other in enumerate(left) if _same(X, other, TOLERANCE)), None)
        if k is None:
            return False
        del left[k]
    return not left


def _placed(may: BoolArray, names: list[str], among: list[str]) -> BoolArray:
    """Which pairs of `among` may touch, by a matrix of those of `names`; several of these may have one name."""
    index = {name: k for k, name in enumerate(among)}
    place = np.array([index[name] for name in names], dtype=int)
    result = np.zeros((len(among), len(among)), dtype=bool)
    rows, columns = np.nonzero(may)
    result[place[rows], place[columns]] = True
    return result


def touching(model: ModelSpec) -> tuple[list[str], BoolArray]:
    """Links of a flat ModelSpec that collide, and which pairs of them may touch (n, n), symmetric."""
    links = tuple(
        replace(
            link,
            visuals=(),
            collisions=tuple(replace(g, shape=Sphere(1.0), properties={}) for g in link.collisions[:1]),
        )
        for link in model.links
    )
    plant = MultibodyPlant(0.0)
    scene_graph = SceneGraph()
    plant.RegisterAsSourceForSceneGraph(scene_graph)
    _fill(plant, replace(model, links=links, contact_pairs=(), actuators=(), sensors=()))
    body = plant.geometry_bodies
    inspector = scene_graph.model_inspector()
    ids, may = inspector.collision_matrix()  # one geometry a link
    names = [body[g].name() for g in ids]
    row = {name: k for k, name in enumerate(names)}
    members = {group.name: [row[name] for name in group.members if name in row] for group in model.filter_groups}
    for group in model.filter_groups:
        for ignored in group.ignores:
            pairs = np.ix_(members[group.name], members.get(ignored, []))
            may[pairs] = may.T[pairs] = False
    return names, may


def _deformables(model: ModelSpec) -> list[tuple[DeformableSpec, list[float]]]:
    """(DeformableSpec without its material, the numbers of that) of each."""
    return [
        (replace(body, config=None), [getattr(body.config, name)() for name in (*MATERIAL_NUMBERS, "material_model")])
        for body in model.deformables
    ]


def _sensors(model: Any) -> tuple[tuple[Any, ...], ...]:
    """Of each sensor what it is: name, element, mount, reference, joint, actuator, numbers, settings; sorted."""
    if any(isinstance(sensor, tuple) for sensor in model.sensors):
        return tuple(sorted(model.sensors, key=_key))  # as a writer states them
    rows = []
    for s in model.sensors:
        joint = s.joints[0][0] if s.joints and s.actuator is None else None
        numbers = s.cutoff, s.rate, s.delay
        rows.append((s.name, s.type, s.mount, s.reference, joint, s.actuator, *numbers, s.settings, s.noise))
    return tuple(sorted(rows, key=_key))


def _key(row: Any) -> tuple[str, str]:
    return row[0], "" if row[2] is None else row[2][0]


def _by_name(frames: Iterable[FrameSpec]) -> list[FrameSpec]:
    return sorted(frames, key=lambda frame: frame.name)


def _mimics(model: ModelSpec) -> dict[str, MimicSpec]:
    return {joint.name: axis.mimic for joint in model.joints for axis in joint.axes if axis.mimic is not None}


def _stated(constraints: Iterable[ConstraintSpec]) -> list[ConstraintSpec]:
    """In one order for all formats; welds between frames are read as welds between links, and only counted."""
    found = [replace(c, name=None) for c in constraints if not isinstance(c, WeldConstraintSpec)]
    return sorted(found, key=lambda c: type(c).__name__)


def _same(one: Any, other: Any, tolerance: float) -> bool:
    """Whether two values of specs are equal, numbers to a tolerance; of two kinds they are not."""
    if type(one) is float and type(other) is float:  # as allclose() below
        return one == other or (isfinite(other) and abs(one - other) <= tolerance * (1.0 + abs(other)))
    numbers = (float, int, np.number, np.ndarray)
    if all(isinstance(value, numbers) and not isinstance(value, bool) for value in (one, other)):
        equal_shapes = np.shape(one) == np.shape(other)
        return equal_shapes and (np.array_equal(one, other) or np.allclose(one, other, rtol=tolerance, atol=tolerance))
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(_same(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        names = [field.name for field in fields(one) if field.name not in _NOT_WRITTEN]
        return all(_same(getattr(one, n), getattr(other, n), tolerance) for n in names)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(value, other[key], tolerance) for key, value in one.items())
    return one == other
