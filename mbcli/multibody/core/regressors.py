"""Which bodies a regressor is of, and their parameters: links that are welded together are one body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.multibody.inertia.inertial_parameters import in_frame, of_central_inertia

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Matrix, Vector


class MovedBodies:
    """The bodies that joints move: each with the links that are welded to it.

    Args:
        plant: finalized, with numbers of floats. model: its arrays.

    Attributes:
        leaders: the number of the link of each body that its joint moves, in the order of the velocities; parameters
            are in its frame, which in a URDF file is that of the joint.
        links: the numbers of all links of each body.
        frames: the number of the leaders' frames.
        under_gravity: whether gravity acts on each body.

    ModelError if gravity acts on a part of a body.
    """

    def __init__(self, plant: Any, model: Any) -> None:
        self._model = model
        body_of, leader = model.link_body, {}
        for joint in plant.moving_joints():
            for link in (joint.child_body(), joint.parent_body()) if joint.num_velocities() else ():
                b = int(body_of[int(link.index())])
                if b and model.body_v[b] == joint.velocity_start() and b not in leader:
                    leader[b] = int(link.index())
        self.bodies = list(range(1, len(model.body_parent)))
        self.leaders = [leader.get(b, int(np.flatnonzero(body_of == b)[0])) for b in self.bodies]
        self.links = [np.flatnonzero(body_of == b).tolist() for b in self.bodies]
        self.frames = [int(plant.elements.bodies[n].body_frame().index()) for n in self.leaders]
        mass, weight = model.link_inertia[:, 0], model.link_weight
        self.under_gravity = [all(weight[n] == mass[n] for n in links) for links in self.links]
        for links, heavy in zip(self.links, self.under_gravity, strict=True):
            if not heavy and any(weight[n] != 0.0 for n in links):
                names = " and ".join(plant.elements.bodies[n].name() for n in links)
                raise ModelError(f"gravity acts on a part of the links that are welded together: {names}")

    def parameters(self) -> Vector:
        """(10 m,) of all m bodies, in the frames of their leaders."""
        return np.concatenate(
            [sum((self.in_leader(n, k) for n in links), start=np.zeros(10)) for k, links in enumerate(self.links)]
            or [np.zeros(0)]
        )

    def in_leader(self, link: int, k: int) -> Vector:
        """Parameters (10,) of a link of body k, in the frame of the body's leader."""
        return in_frame(self.of_link(link), *self.pose_in_leader(link, k))

    def pose_in_leader(self, link: int, k: int) -> tuple[Matrix, Vector]:
        """R (3, 3) and p (3,) of a link in the frame of the leader of its body k."""
        X_BL, X_BF = self._model.link_X_BL[link], self._model.link_X_BL[self.leaders[k]]
        R_FB = X_BF[:9].reshape(3, 3).T
        return R_FB @ X_BL[:9].reshape(3, 3), R_FB @ (X_BL[9:] - X_BF[9:])

    def of_link(self, link: int) -> Vector:
        """Parameters (10,) of a link in its own frame."""
        row = self._model.link_inertia[link]
        xx, yy, zz, xy, xz, yz = row[4:]
        return of_central_inertia(row[0], row[1:4], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def energy_regressor(R: Any, p: Any, V: Any, gravity: Vector, under_gravity: Sequence[bool]) -> Any:
    """Y (n, 2, 10 m): kinetic and potential energy of m bodies, from poses R, p and velocities V (n, m, 6) in World."""
    n, m = p.shape[:2]
    w, v = (np.einsum("nmji,nmj->nmi", R, part) for part in (V[:, :, :3], V[:, :, 3:]))
    Y = np.zeros((n, 2, m, 10))
    Y[:, 0, :, 0] = 0.5 * np.einsum("nmi,nmi->nm", v, v)
    Y[:, 0, :, 1:4] = np.cross(v, w)
    for k, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
        Y[:, 0, :, 4 + k] = (0.5 if i == j else 1.0) * w[:, :, i] * w[:, :, j]
    g = np.asarray(under_gravity, dtype=float)[:, None] * gravity
    Y[:, 1, :, 0] = -np.einsum("nmi,mi->nm", p, g)
    Y[:, 1, :, 1:4] = -np.einsum("nmji,mj->nmi", R, g)
    return Y.reshape(n, 2, 10 * m)


def momentum_regressor(R: Any, p: Any, V: Any, p_WP: Vector) -> Any:
    """Y (n, 6, 10 m): momentum of m bodies about the point P of World, rotational first, from the same."""
    n, m = p.shape[:2]
    w, v = (np.einsum("nmji,nmj->nmi", R, part) for part in (V[:, :, :3], V[:, :, 3:]))
    linear, angular = np.zeros((n, m, 3, 10)), np.zeros((n, m, 3, 10))  # along the axes of each body, about its origin
    linear[..., 0] = v
    linear[..., 1:4] = _cross_matrix(w)
    angular[..., 1:4] = -_cross_matrix(v)
    for k, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
        angular[..., i, 4 + k] += w[..., j]
        if i != j:
            angular[..., j, 4 + k] += w[..., i]
    linear, angular = (np.einsum("nmij,nmjk->nmik", R, part) for part in (linear, angular))
    angular = angular + np.einsum("nmij,nmjk->nmik", _cross_matrix(p - p_WP), linear)
    return np.concatenate((angular, linear), axis=2).transpose(0, 2, 1, 3).reshape(n, 6, 10 * m)


def _cross_matrix(a: Any) -> Any:
    zero = np.zeros(a.shape[:-1])
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    rows = (np.stack(row, axis=-1) for row in ((zero, -z, y), (z, zero, -x), (-y, x, zero)))
    return np.stack(tuple(rows), axis=-2)
