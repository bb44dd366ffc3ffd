"""Which bodies of one mechanism touch each other: contact that a maker's file can live with.

Geometries in files of robots are coarse: neighbours of neighbours overlap in the pose in which the robot was drawn, or
lie flat against each other whatever it does. The forces would throw the robot apart. So `auto` leaves out pairs of
bodies of one mechanism

- that overlap at the default positions, at these moved into their limits, or in a named posture of the file;
- that just touch at the default positions, and touch or overlap in each of SAMPLED poses within their limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbcli.geometry.collision_filters import CollisionFilterDeclaration
from mbcli.models.mechanisms import mechanisms
from mbcli.models.placed_solids import PlacedSolids
from mbcli.multibody.plant import MultibodyPlant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.geometry.scene_graph import SceneGraph
    from mbcli.math.array_types import IntArray, Vector

ROUNDING = 1e-6  # [m] solids that overlap by no more just touch
SAMPLED = 8  # poses, the first of which has joints in the middle of their limits
SPREAD = 1.0  # [rad or m] of the sampled positions of joints without limits, about their defaults
MOST_NAMED = 3  # pairs in a sentence

Pairs = list[tuple[str, str]]


def leave_out_self_contact(plant: MultibodyPlant, mode: str, postures: Iterable[np.ndarray] = ()) -> Pairs:
    """Filters contact between bodies of one mechanism in a finalized plant; returns the pairs of names left out.

    Args:
        mode: "auto": see above; "all" leaves out nothing; "none" leaves out all pairs, and returns none.
        postures: positions (nq,) of named postures.

    Raises ModelError or ResourceError for a mesh that cannot be read.
    """
    if mode == "all" or plant.scene_graph is None:
        return []
    number = mechanisms(plant)
    if mode == "none":
        _leave_out_all(plant, plant.scene_graph, number)
        return []
    pairs = _meeting_pairs(plant, number, postures)
    manager, declaration = plant.scene_graph.collision_filter_manager(), CollisionFilterDeclaration()
    bodies = plant.elements.bodies
    for a, b in pairs:
        declaration.ExcludeBetween(*(plant.CollectRegisteredGeometries([bodies[n]]) for n in (a, b)))
    if pairs:
        manager.Apply(declaration)
    return [(plant.name_in_contact(bodies[a]), plant.name_in_contact(bodies[b])) for a, b in pairs]


def _leave_out_all(plant: MultibodyPlant, scene_graph: SceneGraph, number: IntArray) -> None:
    declaration = CollisionFilterDeclaration()
    for mechanism in set(number[1:].tolist()):
        bodies = [plant.elements.bodies[n] for n in np.flatnonzero(number == mechanism)]
        declaration.ExcludeWithin(plant.CollectRegisteredGeometries(bodies))
    scene_graph.collision_filter_manager().Apply(declaration)


def _meeting_pairs(plant: MultibodyPlant, number: IntArray, postures: Iterable[Vector]) -> list[tuple[int, int]]:
    """Sorted pairs of indices of bodies that `auto` leaves out."""
    solids = PlacedSolids(plant)
    group = number[solids.body]
    default = plant.GetDefaultPositions()
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    overlapping, touching = _met(solids, group, default)
    for q in (np.clip(default, lower, upper), *postures):
        if not np.array_equal(q, default):
            overlapping |= _met(solids, group, q)[0]
    touching -= overlapping
    for q in _sampled(default, lower, upper) if touching else ():
        touching &= set().union(*_met(solids, group, q))
    return sorted(overlapping | touching)


def _met(solids: PlacedSolids, group: IntArray, q: Vector) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Pairs of bodies that overlap at positions q, and those that just touch."""
    solids.place(q)
    pairs = list(solids.near_pairs(group, ROUNDING))
    distances = solids.distances(pairs, ROUNDING)
    bodies = [tuple(sorted(solids.body[list(pair)].tolist())) for pair in pairs]
    overlapping = {pair for pair, distance in zip(bodies, distances, strict=True) if distance < -ROUNDING}
    touching = {pair for pair, distance in zip(bodies, distances, strict=True) if abs(distance) <= ROUNDING}
    return overlapping, touching


def _sampled(default: Vector, lower: Vector, upper: Vector) -> Iterator[Vector]:
    """Positions within limits: in their middle, then drawn, the same in every run."""
    bounded = np.isfinite(lower) & np.isfinite(upper)
    low, high = np.where(bounded, lower, default - SPREAD), np.where(bounded, upper, default + SPREAD)
    yield np.where(bounded, 0.5 * (low + high), np.clip(default, lower, upper))
    rng = np.random.default_rng(0)
    for _ in range(SAMPLED - 1):
        yield np.clip(rng.uniform(low, high), lower, upper)


def pairs_in_words(pairs: Sequence[tuple[str, str]]) -> str:
    """`a and b, c and d, and 12 more`; a model's name before a body's is left out if all have it."""
    models = {name.rpartition("::")[0] for pair in pairs for name in pair}
    named = [tuple(name.rpartition("::")[2] if len(models) == 1 else name for name in pair) for pair in pairs]
    shown = ", ".join(" and ".join(pair) for pair in named[:MOST_NAMED])
    return shown + (f", and {len(pairs) - MOST_NAMED} more" if len(pairs) > MOST_NAMED else "")
