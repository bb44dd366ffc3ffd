"""The mechanisms of a plant: bodies that joints connect, World apart."""

from __future__ import annotations

import numpy as np

from mbcli.multibody.plant import MultibodyPlant


def mechanisms(plant: MultibodyPlant) -> np.ndarray:
    """(num_bodies,) numbers: two bodies have the same one if a chain of joints that does not pass World leads from
    one to the other. World has a number of its own.
    """
    leader = list(range(plant.num_bodies()))

    def first(n: int) -> int:
        while leader[n] != n:
            leader[n] = leader[leader[n]]
            n = leader[n]
        return n

    for joint in plant.elements.joints:
        ends = int(joint.parent_body().index()), int(joint.child_body().index())
        if 0 not in ends:
            a, b = sorted(map(first, ends))
            leader[b] = a
    return np.array([first(n) for n in range(len(leader))])
