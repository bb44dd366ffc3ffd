"""Pushes on bodies of worlds, as the arrays that their steps take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.simulation.push_forces import link_force
from mbcli.simulation.pushes import drawn_pushes, ending_pushes, pushed_body

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Array
    from mbcli.multibody.stepping.inputs import LinkForce


class WorldPushes:
    """The LinkForces of each of n worlds; lasting: those that act in all of them, all the time.

    Attributes:
        of_world: n lists of those that are given.
        of_actors: n lists of those that actors change at their ticks.
    """

    def __init__(self, count: int, lasting: Sequence[LinkForce] = ()) -> None:
        self._lasting = lasting
        self.of_world: list[list[LinkForce]] = [[] for _ in range(count)]
        self.of_actors: list[list[LinkForce]] = [[] for _ in range(count)]
        self._made: dict[str, Array] = {}

    def __bool__(self) -> bool:
        return bool(self._lasting) or any(self.of_world) or any(self.of_actors)

    def forces(self, world: int) -> list[LinkForce]:
        """All of a world."""
        return [*self._lasting, *self.of_world[world], *self.of_actors[world]]

    def refresh(self) -> None:
        """The arrays have what actors have changed."""
        if self._made["world_push_force"].size:
            forces = [force.force for k in range(len(self.of_world)) for force in self.forces(k)]
            self._made["world_push_force"][:] = forces

    def add(self, world: int, forces: Sequence[LinkForce]) -> None:
        """More forces on a world."""
        self.of_world[world] = [*self.of_world[world], *forces]

    def clear(self, worlds: Sequence[int]) -> None:
        """No forces on some worlds."""
        for k in worlds:
            self.of_world[k] = []

    def arrays(self) -> dict[str, Array]:
        """Of WORLD_FIELDS; `world_pushes` is empty where no world has any."""
        each = [self.forces(k) for k in range(len(self.of_world))]
        forces: list[Any] = [force for own in each for force in own]
        ends = np.cumsum([0, *map(len, each)]) if forces else np.zeros(0)
        self._made = {
            "world_pushes": np.array(ends, dtype=np.int64),
            "world_push_link": np.array([force.link for force in forces], dtype=np.int64),
            "world_push_point": np.array([force.point for force in forces], dtype=float).reshape(-1, 3),
            "world_push_force": np.array([force.force for force in forces], dtype=float).reshape(-1, 6),
            "world_push_times": np.array([(f.start, f.end) for f in forces], dtype=float).reshape(-1, 2),
        }
        return self._made


def push_worlds(worlds: Any, pushes: Any, which: Sequence[int], seed: int, until: float) -> None:
    """As Worlds.push(), on worlds of these numbers."""
    given = ending_pushes(pushes, until)
    bodies = [pushed_body(worlds.plant, push.body) for push in given]
    contexts = worlds.context_of_each()
    for k in which:
        drawn = drawn_pushes(given, seed + k, until)
        forces = [link_force(push, body, contexts[k]) for push, body in zip(drawn, bodies, strict=True)]
        worlds.pushes.add(k, forces)
