"""Whether the right side of a robot mirrors its left: one number that does not, where the others do, is a mistake.

All values are compared in World, with all coordinates zero, so that it does not matter how the frames of links lie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from mbcli.parsers.checks.twin_names import twins
from mbcli.parsers.geometry_inertia import matrix_of, six_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mbcli.parsers.checks.flat_model import FlatModel
    from mbcli.parsers.checks.report import Report
    from mbcli.parsers.spec import InertialSpec, JointSpec, SourceLocation

    from mbcli.math.array_types import Matrix3, Vector

CLOSE = 0.01  # of the size of a value: files round
# Of it, and of the smaller one of masses and inertias, by which copies and other values are off: by less, sides differ
# on purpose.
APART = {
    "TWIN_ORIGIN": (0.15, 0.3),
    "TWIN_LIMITS": (0.15, 0.3),
    "TWIN_CENTER_OF_MASS": (0.15, 0.3),
    "TWIN_EFFORT": (0.5, 0.5),
    "TWIN_AXIS": (0.5, 0.5),
    "TWIN_MASS": (0.5, 0.5),
    "TWIN_INERTIA": (0.01, 3.0),
}
LEAST_LENGTH, LEAST_ANGLE = 2e-3, 0.02  # [m, rad] by which sides may differ
LEAST_PRODUCT = 0.002  # of the largest moment of inertia
LEAST_MIRRORED = 3  # values that mirror each other and would not if one were a copy of the other
MOST_ODD = 2  # values that do not: where there are more, sides are not meant to mirror each other


class Value(NamedTuple):
    """A value of a link on the left, that of its twin, and what that should be."""

    code: str  # of the finding
    what: str
    links: tuple[str, str]
    left: Vector
    right: Vector
    mirrored: Vector  # what the right one should be
    tolerance: float
    size: float
    is_copy: bool  # whether the file has the same numbers on both sides
    places: tuple[SourceLocation, SourceLocation]  # of the left, of the right
    tags: tuple[str, ...]  # of the child that has the value
    is_turned: bool = False  # whether its frames differ on both sides: a copy is the same part turned

    @property
    def tells(self) -> bool:
        """Whether a copy of the left would be wrong on the right."""
        return bool(abs(self.left - self.mirrored).max() > 2 * self.tolerance)

    @property
    def error(self) -> float:
        return float(abs(self.right - self.mirrored).max())

    @property
    def holds(self) -> bool:
        return self.error <= self.tolerance


def check_twins(model: FlatModel, report: Report) -> None:
    """TWIN_ORIGIN, TWIN_AXIS, TWIN_LIMITS, TWIN_EFFORT, TWIN_CENTER_OF_MASS, TWIN_INERTIA, TWIN_MASS and TWIN_PARENT
    of links that are twins by name."""
    pairs = [pair for pair in twins(model.links) if all(report.is_sound(model.links[name]) for name in pair)]
    if len(pairs) < 2 or not report.is_sound(model):
        return
    mirrors = [np.diag(np.where(np.arange(3) == k, -1.0, 1.0)) for k in range(3)]
    values = max(([*_values(model, pairs, S)] for S in mirrors), key=_mirrored_count)
    if _mirrored_count(values) < LEAST_MIRRORED:
        return
    _check_parents(model, pairs, report)
    for value in _odd_ones(values):
        names = " and ".join(f'"{name}"' for name in value.links)
        message = (
            f"{value.what} of {names} do not mirror each other, as those of other links do: {_text(value.left)} on the "
            f"left, {_text(value.right)} on the right, which should be {_text(value.mirrored)}"
        )
        place, other = value.places[1], value.places[0]
        hint = "was it copied without changing the sign?" if value.is_copy else "one of both is likely a mistake"
        report(value.code, message, place, *value.tags, hint=hint, related=[other])


def _mirrored_count(values: Sequence[Value]) -> int:
    return sum(value.tells and value.holds for value in values)


def _odd_ones(values: Sequence[Value]) -> list[Value]:
    """Those that do not mirror where nearly all do; none where there are several: those sides differ by intent."""
    copies = [value for value in values if value.tells and not value.holds]
    odd = [
        value
        for value in values
        if not value.holds
        and not (value.is_copy and value.is_turned)
        and value.error > APART[value.code][not (value.tells and value.is_copy)] * value.size
    ]
    if len(odd) > MOST_ODD or len(copies) > MOST_ODD:
        return []
    return odd


def _values(model: FlatModel, pairs: Sequence[tuple[str, str]], S: Matrix3) -> Iterator[Value]:
    twin = dict(pairs)
    for left, right in pairs:
        one, other = model.inboard.get(left), model.inboard.get(right)
        if one is not None and other is not None and one.type == other.type:
            yield from _of_joints(model, (left, right), (one, other), twin, S)
        body, twin_body = model.links[left].inertial, model.links[right].inertial
        if body is not None and twin_body is not None and body.mass > 0 and twin_body.mass > 0:
            yield from _of_inertials(model, (left, right), (body, twin_body), S)


def _of_joints(
    model: FlatModel, links: tuple[str, str], joints: tuple[JointSpec, JointSpec], twin: dict[str, str], S: Matrix3
) -> Iterator[Value]:
    left, right = joints
    parents = _parents(links, joints)
    if parents[0] != parents[1] and twin.get(parents[0]) != parents[1]:
        return
    ways = [model.poses[link][:3, 3] - model.poses[parent][:3, 3] for link, parent in zip(links, parents, strict=True)]
    size = float(np.linalg.norm(ways[0]))
    is_turned = not _are_parallel(model, parents)
    is_copy = bool(np.array_equal(left.X_PF[:3, 3], right.X_PF[:3, 3]))
    yield Value(
        "TWIN_ORIGIN", "the origins", links, ways[0], ways[1], S @ ways[0], max(LEAST_LENGTH, CLOSE * size), size,
        is_copy, (left.place, right.place), ("origin", "pose"), is_turned,
    )  # fmt: skip
    if len(left.axes) != 1 or left.axes[0].mimic is not None or right.axes[0].mimic is not None:
        return
    places = (left.axes[0].place, right.axes[0].place)
    axes = [model.poses[j.parent][:3, :3] @ j.X_PF[:3, :3] @ j.axes[0].xyz for j in joints]
    mirrored = S @ axes[0] * (1 if left.kind.slides else -1)  # an axis of rotation mirrors the other way
    cosine = float(axes[1] @ mirrored)
    is_copy = left.axes[0].xyz == right.axes[0].xyz
    yield Value(
        "TWIN_AXIS", "the axes of the joints", links, axes[0], axes[1], mirrored if cosine >= 0 else -mirrored, CLOSE,
        1.0, is_copy, places, ("axis",), is_turned,
    )  # fmt: skip
    efforts = [np.array([joint.axes[0].effort, joint.axes[0].velocity]) for joint in joints]
    if np.isfinite(efforts).all():
        yield Value(
            "TWIN_EFFORT", "the limits of effort and velocity", links, efforts[0], efforts[1], efforts[0],
            CLOSE * float(efforts[0].min()), float(min(efforts[0].min(), efforts[1].min())), False, places, ("limit",),
        )  # fmt: skip
    ranges = [np.array([joint.axes[0].lower, joint.axes[0].upper]) for joint in joints]
    if not np.isfinite(ranges).all() or abs(cosine) < 1 - CLOSE:
        return
    size = float(ranges[0][1] - ranges[0][0])
    yield Value(
        "TWIN_LIMITS", "the limits of the joints", links, ranges[0], ranges[1],
        ranges[0] if cosine > 0 else -ranges[0][::-1],
        max(CLOSE * size, 0.0 if left.kind.slides else LEAST_ANGLE), size,
        bool(np.array_equal(ranges[0], ranges[1])), places, ("limit",), is_turned,
    )  # fmt: skip


def _parents(links: tuple[str, str], joints: tuple[JointSpec, JointSpec]) -> tuple[str, str]:
    """The links that carry the twins."""
    left, right = (
        joint.parent if joint.child == link else joint.child for link, joint in zip(links, joints, strict=True)
    )
    return left, right


def _check_parents(model: FlatModel, pairs: Sequence[tuple[str, str]], report: Report) -> None:
    """TWIN_PARENT where twins hang on links that are neither twins nor the same, though one of these has a twin."""
    twin, odd = dict(pairs), []
    sided = {name for pair in pairs for name in pair}
    for links in pairs:
        left, right = model.inboard.get(links[0]), model.inboard.get(links[1])
        if left is None or right is None:
            continue
        parents = _parents(links, (left, right))
        if parents[0] == parents[1] or twin.get(parents[0]) == parents[1] or parents[1] == links[0]:
            continue
        if not sided.isdisjoint(parents):
            odd.append((links, parents, (left, right)))
    if len(odd) > MOST_ODD or len(odd) == len(pairs):
        return
    for links, parents, joints in odd:
        message = (
            f'links "{links[0]}" and "{links[1]}" hang on "{parents[0]}" and "{parents[1]}", which are no twins as '
            "those of other links are"
        )
        report("TWIN_PARENT", message, joints[1].place, "parent", related=[joints[0].place])


def _of_inertials(
    model: FlatModel, links: tuple[str, str], inertials: tuple[InertialSpec, InertialSpec], S: Matrix3
) -> Iterator[Value]:
    left, right = inertials
    places = (left.place, right.place)
    yield Value(
        "TWIN_MASS", "the masses", links, np.array([left.mass]), np.array([right.mass]), np.array([left.mass]),
        CLOSE * left.mass, min(left.mass, right.mass), left.mass == right.mass, places, ("mass",),
    )  # fmt: skip
    R = [model.poses[link][:3, :3] for link in links]
    is_turned = not _are_parallel(model, links)
    centers = [R_WL @ inertial.X_LI[:3, 3] for R_WL, inertial in zip(R, inertials, strict=True)]
    size = float(np.linalg.norm(centers[0]))
    is_copy = bool(np.array_equal(left.X_LI[:3, 3], right.X_LI[:3, 3]))
    yield Value(
        "TWIN_CENTER_OF_MASS", "the centres of mass", links, centers[0], centers[1], S @ centers[0],
        max(LEAST_LENGTH, CLOSE * size), size, is_copy, places, ("origin", "pose"), is_turned,
    )  # fmt: skip
    is_copy = left.inertia == right.inertia and bool(np.array_equal(left.X_LI[:3, :3], right.X_LI[:3, :3]))
    if not (any(left.inertia) and any(right.inertia)):
        return
    turned = [R_WL @ inertial.X_LI[:3, :3] for R_WL, inertial in zip(R, inertials, strict=True)]
    tensors = [T @ matrix_of(i.inertia) @ T.T / i.mass for T, i in zip(turned, inertials, strict=True)]
    size = min(float(abs(tensor).max()) for tensor in tensors)
    sides = [np.array(six_of(tensor)) for tensor in (tensors[0], tensors[1], S @ tensors[0] @ S)]
    yield Value(
        "TWIN_INERTIA", "the inertias per mass", links, sides[0], sides[1], sides[2], LEAST_PRODUCT * size, size,
        is_copy, places, ("inertia",), is_turned,
    )  # fmt: skip


def _are_parallel(model: FlatModel, links: tuple[str, str]) -> bool:
    """Whether the frames of two links are, with all coordinates zero."""
    left, right = (model.poses[link][:3, :3] for link in links)
    return bool(np.allclose(left, right, atol=CLOSE))


def _text(value: Vector) -> str:
    numbers = ", ".join(f"{number:.4g}" for number in value.tolist())
    return numbers if len(value) == 1 else f"({numbers})"
