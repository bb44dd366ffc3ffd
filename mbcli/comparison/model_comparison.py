"""compare_models(): which elements of two models differ, and whether the models move differently."""

from __future__ import annotations

import hashlib
import math
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.coordinate_names import listed
from mbcli.comparison.differences import LEAST, Comparison, Difference, deviation, largest_where
from mbcli.comparison.matched_names import MODEL_FRAME, MatchedNames, by_name
from mbcli.errors import ArgumentError, MbcliError
from mbcli.models.description import describe
from mbcli.models.element_parameters import KINDS
from mbcli.models.loaded_model import LoadedModel
from mbcli.models.loading import load_model
from mbcli.multibody.tree.joint_kinds import has_angular_rate, has_quaternion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Unpack

    from mbcli.comparison.matched_names import Entry
    from mbcli.math.array_types import Array, IntArray, Matrix4, Vector, Vector3
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.parsers.load_arguments import AllLoadArguments

TOLERANCE = 1e-9  # relative to the numbers of an element
NUM_STATES = 3
# what the description of an element says beside its parameters
OF_DESCRIPTION = {
    "bodies": ("floating",),
    "joints": ("type", "parent", "child", "X_PF", "X_CM", "axis", "pitch"),
    "frames": ("body", "X_BF"),
    "actuators": ("joint",),
    "geometries": ("body", "shape", "X_BG"),
    "deformable_bodies": (
        *("vertices", "tetrahedra", "volume", "material_model", "youngs_modulus", "poissons_ratio", "mass_density"),
        *("mass_damping", "stiffness_damping", "vertices_on_walls", "X_WD"),
    ),
}
ONE = {
    "bodies": "body",
    "joints": "joint",
    "frames": "frame",
    "actuators": "actuator",
    "geometries": "geometry",
    "deformable_bodies": "deformable body",
}
SINGULAR = {word: kind for kind, word in ONE.items()}
OF_PLACE = ("X_PF", "X_CM", "axis")
UNNAMED = ("force_elements", "constraints")
ALL, DYNAMICS, SHAPES = PARTS = ("all", "dynamics", "shapes")
OF_PART = {DYNAMICS: ("bodies", "joints", "actuators", "deformable_bodies"), SHAPES: ("geometries",)}
OF_FILES = ("place", "name", "model_instance")
OF_MESH = {"uri", "scale", "submesh", "center"}  # that say which triangles are meant


def compare_models(
    a: Any, b: Any, *, tolerance: float = TOLERANCE, part: str = ALL, **loading: Unpack[AllLoadArguments]
) -> Comparison:
    """What differs between two models: elements by their names, then the equations of motion at random states.

    Meshes are the same if their files have the same content, wherever they lie, or the same triangles. Actuators that
    have other names, as in SDFormat, which has none for them, are matched by their joints.

    Args:
        a: files, as load_model() takes them, or a LoadedModel that has contact.
        b: the same, compared with a.
        tolerance: relative difference of numbers that counts as none.
        part: "all"; "dynamics": without shapes and frames; "shapes": nothing but these shapes, with their contact.
        loading: arguments of load_model() for both.

    Raises:
        ArgumentError: the tolerance is negative, or the part is none of these. Errors of load_model().

    Returns:
        The differences, and what was compared.

    Example:
        >>> from mbcli.comparison import compare_models
        >>> [d.where for d in compare_models("sample_models/pendulum.urdf", "sample_models/pendulum.sdf").differences]
        ['geometry Cylinder', 'geometry rod']
    """
    if part not in PARTS:
        raise ArgumentError(f"part must be one of {', '.join(PARTS)}, it is {part!r}")
    if not tolerance >= 0.0:
        raise ArgumentError(f"tolerance must not be negative, it is {tolerance}")
    loading.setdefault("contact", True)
    loaded = [m if isinstance(m, LoadedModel) else load_model(m, **loading) for m in (a, b)]
    result = Comparison(tolerance)
    documents = [describe(model, measured=False) for model in loaded]
    names = MatchedNames(*documents)
    kinds = OF_PART.get(part, tuple(OF_DESCRIPTION))
    if part != SHAPES:
        result.values("gravity", "the world", *(document["gravity"] for document in documents))
    for kind in kinds:
        for role in ("visual", "collision") if kind == "geometries" else (None,):
            _compare_descriptions(kind, role, documents, names, result)
    for kind in KINDS:
        if SINGULAR.get(kind) in kinds:
            _compare_parameters(kind, loaded, names, result)
    if part != SHAPES:
        for kind in UNNAMED:
            _compare_unnamed(kind, documents, names, result)
        _compare_motion(loaded, names, result)
    return result


def _stated(kind: str, entries: Sequence[Entry], joints: Sequence[Entry]) -> Sequence[Entry]:
    """The elements of a kind that a file states; some formats give frames to joints and models, others do not."""
    if kind != "frames":
        return entries
    made = {f"{joint['name']}_{end}" for joint in joints for end in ("parent", "child")} | {MODEL_FRAME}
    return [entry for entry in entries if entry["name"] not in made]


def _compare_descriptions(
    kind: str, role: str | None, documents: Sequence[dict[str, Any]], names: MatchedNames, result: Comparison
) -> None:
    """role: that the geometries have which are compared; None for elements of other kinds."""
    ours, theirs = ([e for e in document[kind] if e.get("role") == role] for document in documents)
    joints = [document["joints"] for document in documents]
    joints[1] = [*joints[1], *names.entries("joints", joints[1])]
    stated = _stated(kind, ours, joints[0]), _stated(kind, names.entries(kind, theirs), joints[1])
    one, other = by_name(*stated, kind)
    for name, its_name in names.renamed if kind == "joints" else ():
        result.values("name", f"joint {name}", name, its_name)
    for name in [*(n for n in one if n not in other), *(n for n in other if n not in one)]:
        result.missing(ONE[kind], f"{ONE[kind]} {name}", *(("A", "B") if name in one else ("B", "A")))
    for name in (name for name in one if name in other):
        where = f"{ONE[kind]} {name}"
        keys = OF_DESCRIPTION[kind]
        if kind == "joints" and _are_placed_alike(one[name], other[name], result.tolerance):
            keys = tuple(key for key in keys if key not in OF_PLACE)
            result.compared |= {key: result.compared.get(key, 0.0) for key in OF_PLACE}
        for key in keys:
            if key in one[name] or key in other[name]:
                result.values(key, where, one[name].get(key), other[name].get(key))
        if kind == "geometries":
            _compare_shapes(where, one[name]["parameters"], other[name]["parameters"], result)
        for key in sorted(one[name].keys() | other[name].keys()):
            if key.endswith("_limits") and not key.startswith(("position", "velocity", "acceleration")):
                result.values(key, where, _numbers(one[name].get(key)), _numbers(other[name].get(key)))


def _are_placed_alike(one: Entry, other: Entry, tolerance: float) -> bool:
    """Whether two joints of at most one axis hold their bodies alike: formats choose points of an axis differently."""
    if any(one[key] != other[key] for key in ("type", "parent", "child")):
        return False
    if one["num_velocities"] and "axis" not in one:
        return False
    pairs = zip(_placement(one), _placement(other), strict=True)
    return all(deviation(a, b, LEAST)[1] <= tolerance for a, b in pairs)


def _placement(joint: Entry) -> tuple[Matrix4, Vector3, Vector3]:
    """(pose of the child in the parent at zero, direction of the axis in the child, moment of its line about Co)."""
    X_PF, X_CM = np.array(joint["X_PF"]), np.array(joint["X_CM"])
    X_FM = np.array(joint.get("X_FM", np.eye(4)))
    X_MC = np.linalg.inv(X_CM)
    direction = X_CM[:3, :3] @ np.array(joint.get("axis", np.zeros(3)))
    turns = has_angular_rate(joint["type"])
    return X_PF @ X_FM @ X_MC, direction, np.cross(X_CM[:3, 3], direction) if turns else np.zeros(3)


def _compare_shapes(where: str, one: Entry, other: Entry, result: Comparison) -> None:
    keys = (one.keys() & other.keys()) - {"path"}
    if "uri" in keys and _are_one_surface(one, other, result):
        keys -= OF_MESH
    for key in sorted(keys):
        a, b = one[key], other[key]
        if key == "uri":
            _compare_files(where, one, other, result)
            continue
        if not isinstance(a, (str, int, float, list, type(None))):
            a, b = str(a), str(b)
        if isinstance(a, list) and any(not isinstance(x, (int, float)) for x in a):
            a, b = str(a), str(b)
        result.values(f"shape {key}", where, a, b)


def _compare_files(where: str, one: Entry, other: Entry, result: Comparison) -> None:
    """Meshes by the content of their files; those that are not found by the last part of their names."""
    result.compared.setdefault("shape mesh", 0.0)
    paths = [mesh["path"] for mesh in (one, other)]
    names = [os.path.basename(mesh["uri"]) for mesh in (one, other)]
    if None in paths:
        same = paths == [None, None] and names[0] == names[1]
    else:
        same = os.path.realpath(paths[0]) == os.path.realpath(paths[1]) or _content(paths[0]) == _content(paths[1])
    if same:
        return
    words = [f"{name!r}{' (not found)' if path is None else ''}" for name, path in zip(names, paths, strict=True)]
    cause = f"{words[0]} in A, {words[1]} in B" + ("" if None in paths else ", of another content")
    result.differences.append(Difference("shape mesh", math.inf, where, cause))


def _are_one_surface(one: Entry, other: Entry, result: Comparison) -> bool:
    """Whether two meshes of unlike files, or unlike parts of a file, have the same triangles as they are scaled."""
    from mbcli.meshes.surface_gap import surface_gap
    from mbcli.meshes.triangles import load_triangles

    if None in (one["path"], other["path"]) or _same_part(one, other):
        return False
    try:
        surfaces = [
            load_triangles(mesh["path"], mesh["scale"], submesh=mesh.get("submesh"), center=mesh.get("center", False))
            for mesh in (one, other)
        ]
    except MbcliError:
        return False
    size = float(np.ptp(surfaces[0][0], axis=0).max())
    gap = surface_gap(surfaces[0], surfaces[1], size * result.tolerance)
    if gap > size * result.tolerance:
        return False
    result.compared["shape mesh"] = max(result.compared.get("shape mesh", 0.0), gap / size if size else 0.0)
    return True


def _same_part(one: Entry, other: Entry) -> bool:
    """Whether two meshes are the same file and the same part of it, to be compared by their scales."""
    parts = [(mesh.get("submesh"), mesh.get("center", False)) for mesh in (one, other)]
    return parts[0] == parts[1] and _content(one["path"]) == _content(other["path"])


def _content(path: str) -> str:
    stat = os.stat(path)
    return _digest(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=1024)
def _digest(path: str, _size: int, _modified: int) -> str:
    """Of the content of a file, read anew if it has changed."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _numbers(limits: Any) -> list[float] | None:
    """Limits of a description, one number or a list of them, as numbers, none as NaN."""
    return None if limits is None else [np.nan if limit is None else limit for limit in np.ravel(limits)]


def _compare_parameters(kind: str, loaded: Sequence[LoadedModel], names: MatchedNames, result: Comparison) -> None:
    from mbcli.models.parameter_assignments import elements_of

    elements = (
        [{"name": e.name, "model_instance": e.instance, "body": e.body, "element": e} for e in elements_of(model, kind)]
        for model in loaded
    )
    ours, theirs = elements
    one, other = by_name(ours, names.entries(SINGULAR[kind], theirs), SINGULAR[kind])
    for name in (name for name in one if name in other):
        for parameter, definition in KINDS[kind].table.items():
            if kind == "geometry" and parameter in ("friction", "place"):
                continue  # one stands for two others, the other is a part of X_BG
            a, b = one[name]["element"].read(definition), other[name]["element"].read(definition)
            if a is None and b is None:
                continue
            result.values(parameter, f"{kind} {name}", a, b)


def _compare_unnamed(kind: str, documents: Sequence[dict[str, Any]], names: MatchedNames, result: Comparison) -> None:
    """Elements that need no name: by what they are between, then in their order."""
    one, other = (sorted(e, key=_ends) for e in (documents[0][kind], names.entries(kind, documents[1][kind])))
    label = kind.removesuffix("s").replace("_", " ")
    if len(one) != len(other):
        result.values(f"number of {kind.replace('_', ' ')}", "the model", len(one), len(other))
        return
    for k, (a, b) in enumerate(zip(one, other, strict=True)):
        where = f"{label} {a.get('name') or k}"
        for key in sorted((a.keys() | b.keys()) - set(OF_FILES)):
            x, y = a.get(key), b.get(key)
            if isinstance(x, list) and any(isinstance(item, str) for item in x):
                x, y = str(x), str(y)
            result.values(key, where, x, y)


def _ends(entry: Entry) -> str:
    """The words of an element: its type, and what it is between."""
    words = {key: value for key, value in sorted(entry.items()) if key not in OF_FILES}
    texts = [v for v in words.values() if isinstance(v, str) or (isinstance(v, list) and v and isinstance(v[0], str))]
    return str(texts)


# ---------------------------------------------------------------------------------------------- motion


def _compare_motion(loaded: Sequence[LoadedModel], matched: MatchedNames, result: Comparison) -> None:
    """M, C v, tau_g, forward dynamics and poses at random states of the coordinates that both have."""
    plants = [model.plant for model in loaded]
    names = [_coordinates(plants[0]), _coordinates(plants[1], matched.name)]
    if any(sorted(names[0][k]) != sorted(names[1][k]) for k in (0, 1)):
        return  # the elements say which are missing
    if not names[0][1]:
        return  # nothing rigid moves
    to_b = [np.array([names[0][k].index(name) for name in names[1][k]], dtype=int) for k in (0, 1)]
    random = np.random.default_rng(0)
    contexts = [plant.CreateDefaultContext() for plant in plants]
    elements = [f"{d.name} of {d.where}" for d in result.differences if _may_act(d)]
    cause = f"follows from {listed(elements)}" if elements else "no parameter of an element says why"
    worst: dict[str, tuple] = {}
    for _ in range(NUM_STATES):
        q, v = _random_state(plants[0], random)
        plants[0].SetPositions(contexts[0], q)
        plants[0].SetVelocities(contexts[0], v)
        plants[1].SetPositions(contexts[1], q[to_b[0]])
        plants[1].SetVelocities(contexts[1], v[to_b[1]])
        back = np.argsort(to_b[1])
        speed = float(np.abs(v).max(initial=0.0))
        fall = float(np.linalg.norm(plants[0].gravity_field().gravity_vector()))
        for name, one, other, rows in _quantities(plants, contexts, back, names[0][1]):
            if name == "mass_matrix":
                inertia = float(np.abs(one).max(initial=0.0))
            # what cancels in a sum is rounded as its terms are, which are as large as inertia by acceleration
            least = {"bias": inertia * speed**2, "gravity_forces": inertia * fall}.get(name, 0.0)
            gap, relative = deviation(one, other, least)
            if name not in worst or relative > worst[name][1]:
                worst[name] = gap, relative, largest_where(one, other, rows) if one.shape == other.shape else ""
    for name, (gap, relative, where) in worst.items():
        result.compared[name] = relative
        if relative > max(result.tolerance, TOLERANCE):
            result.differences.append(Difference(name, gap, where, cause))


def _may_act(difference: Difference) -> bool:
    """Whether a difference of an element may change M, C v and gravity."""
    kind = difference.where.partition(" ")[0]
    idle = ("effort_limit", "lower_limit", "upper_limit", "velocity_limit", "acceleration_limit", "damping", "friction")
    return kind in ("body", "joint", "actuator", "the") and difference.name not in idle


def _coordinates(
    plant: MultibodyPlant,
    name_in_a: Callable[[str, str, str], tuple[str, str]] = lambda kind, instance, name: (instance, name),
) -> tuple[list[str], list[str]]:
    """The names of positions and velocities without that of the model, which may be another one in each."""
    joints = [joint for joint in plant.moving_joints() if joint.num_velocities()]
    found = [name_in_a("joints", plant.GetModelInstanceName(j.model_instance()), j.name()) for j in joints]
    names = [name for _, name in found]
    q, v = [""] * plant.num_positions(), [""] * plant.num_velocities()
    for joint, (instance, name) in zip(joints, found, strict=True):
        if names.count(name) > 1:
            name = f"{instance}::{name}"
        for k in range(joint.num_positions()):
            q[joint.position_start() + k] = f"{name}_{joint.position_suffix(k)}" if joint.position_suffix(k) else name
        for k in range(joint.num_velocities()):
            v[joint.velocity_start() + k] = f"{name}_{joint.velocity_suffix(k)}" if joint.velocity_suffix(k) else name
    return q, v


def _random_state(plant: MultibodyPlant, random: np.random.Generator) -> tuple[Vector, Vector]:
    q, v = random.uniform(-1.0, 1.0, plant.num_positions()), random.normal(size=plant.num_velocities())
    for joint in plant.moving_joints():
        if has_quaternion(joint):
            i = joint.position_start()
            q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
    return q, v


def _quantities(
    plants: Sequence[MultibodyPlant], contexts: Sequence[Context], back: IntArray, rows: Sequence[str]
) -> Iterator[tuple[str, Array, Array, Sequence[str]]]:
    """(name, of A, of B in the order of A, names of rows)."""
    results = []
    for plant, context in zip(plants, contexts, strict=True):
        results.append(
            {
                "mass_matrix": plant.CalcMassMatrix(context),
                "bias": plant.CalcBiasTerm(context),
                "gravity_forces": plant.CalcGravityGeneralizedForces(context),
            }
        )
    for name, one in results[0].items():
        other = results[1][name][np.ix_(back, back)] if one.ndim == 2 else results[1][name][back]
        yield name, one, other, rows
