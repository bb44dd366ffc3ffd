"""What the steps of one context need to meet contact and limits of joints."""

from dataclasses import dataclass

import numpy as np

from mbcli.engine.collision.arrays import Collision
from mbcli.engine.collision.fields import STATUS as COLLISION_STATUS
from mbcli.engine.collision.fields import TOO_MANY_PAIRS
from mbcli.engine.contact.arrays import ContactPoints, ContactSolver
from mbcli.engine.contact.problem import (
    BOUNDED,
    CONSTRAINTS,
    LAGGED,
    NEAR_RIGID,
    NOT_CONVERGED,
    SAP,
    SIMILAR,
    SINGULAR,
    SOLVED,
    STATUS,
    STICTION,
    TAMSI,
    TOO_MANY_BLOCKS,
    TOO_MANY_CONSTRAINTS,
    TOO_MANY_POINTS,
)
from mbcli.engine.contact.rows import tangent_of
from mbcli.engine.lane_memory import WIDTH
from mbcli.errors import NumericalError


@dataclass(frozen=True)
class ContactRecord:
    """The contacts of one step, a row for each point: n rows.

    geometry (n, 2): solids A and B; position (n, 3): C in W; normal (n, 3): from B into A; distance (n,): negative
    where they overlap [m]; force (n, 3): on A at C, in W [N]; speed (n,) of parting, slip (n,) at the end [m/s].
    generalized_force (nv,): of all of them.
    """

    geometry: np.ndarray
    position: np.ndarray
    normal: np.ndarray
    distance: np.ndarray
    force: np.ndarray
    speed: np.ndarray
    slip: np.ndarray
    generalized_force: np.ndarray


APPROXIMATIONS = {"sap": SAP, "lagged": LAGGED, "similar": SIMILAR, "tamsi": TAMSI}
FIRST_POINTS = 64  # room for contact points, doubled when it is not enough
PAIRS_OF_A_SOLID = 16


class StepContact:
    """Solids, contact points and solver of a context, and their room.

    Args:
        plant: finalized.
        model: the context's arrays of the engine.
        compiled: whether kernels are.
    """

    def __init__(self, plant, model, compiled):
        self._plant, self._model, self._compiled = plant, model, compiled
        self._solids, self._filters = plant._solids_and_filters()
        self._points_room, self._blocks = FIRST_POINTS, 8
        self._pairs = None
        self._make()

    def _make(self):
        plant = self._plant
        self.collision = Collision(
            self._solids, self._filters, single_points=plant._single_contact_points, pairs=self._pairs
        )
        self.points = ContactPoints(self._points_room)
        rows = self._points_room + self._model.sizes["nline"] + 2 * len(plant._constraints)
        self.solver = ContactSolver(
            self._model, rows, APPROXIMATIONS[plant._discrete_contact_approximation], blocks_per_tree=self._blocks
        )
        settings = self.solver.settings
        settings[NEAR_RIGID], settings[STICTION] = plant._sap_near_rigid_threshold, plant._stiction_tolerance

    def attach(self, data):
        """Lets the kernels find the arrays from the data of the context."""
        arrays = self.points, self.solver, self.collision
        if self._compiled:
            data.contact[:] = [part.handle(True) for part in arrays]
        else:
            data.contact = arrays

    def failed(self):
        """Whether the last step has no result."""
        return self.solver.counts[STATUS] != SOLVED

    def record(self, h):
        """ContactRecord of the step h that was computed last."""
        solver, points = self.solver, self.points
        n = solver.counts[CONSTRAINTS]
        rows = np.flatnonzero(solver.con_kind[:n] < BOUNDED)
        source = solver.con_source[rows]
        normal, v = points.normal[source], solver.con_v[rows]
        tangent = np.array([tangent_of(a) for a in normal]).reshape(-1, 3)
        axes = np.stack([tangent, np.cross(normal, tangent), normal], axis=1)
        impulse = solver.con_impulse[rows]
        return ContactRecord(
            geometry=points.geometry[source].copy(),
            position=points.position[source].copy(),
            normal=normal.copy(),
            distance=points.distance[source].copy(),
            force=np.einsum("nk,nkx->nx", impulse, axes) / h,
            speed=v[:, 2].copy(),
            slip=np.hypot(v[:, 0], v[:, 1]),
            generalized_force=self._generalized(rows) / h,
        )

    def _generalized(self, rows):
        """The sum of J^T impulse of these constraints, (nv,)."""
        solver = self.solver
        slots = np.zeros(solver.vectors.shape[1])
        pieces = solver.jacobian.reshape(-1, 3, WIDTH)
        for i in rows:
            for k in range(solver.con_first[i], solver.con_first[i + 1]):
                start = WIDTH * solver.piece_vector[k]
                slots[start : start + WIDTH] += solver.con_impulse[i] @ pieces[k]
        return slots[solver.dof_slot]

    def make_room(self):
        """After failed(): doubles what was too small; NumericalError where it was not for want of room."""
        status = self.solver.counts[STATUS]
        if status == NOT_CONVERGED:
            raise NumericalError(f"the contact problem of the step has no solution that was found{self._culprits()}")
        if status == SINGULAR:
            raise NumericalError(f"the contact problem of the step is singular{self._culprits()}")
        if status == TOO_MANY_POINTS and self.collision.counts[COLLISION_STATUS] & TOO_MANY_PAIRS:
            self._pairs = 2 * self.collision.sizes["npair"]
        if status in (TOO_MANY_POINTS, TOO_MANY_CONSTRAINTS):
            self._points_room *= 2
        if status == TOO_MANY_BLOCKS:
            self._blocks *= 2
        self._make()

    def _culprits(self):
        """The bodies in contact, for a message."""
        names = self._plant._names_in_contact(self.points)
        return f": in contact are {names}" if names else ""
