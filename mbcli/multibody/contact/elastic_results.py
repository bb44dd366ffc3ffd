"""What a step of elastic bodies gave: contacts and their forces, energies, statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbcli.engine.fields.contact_fields import (
    COUNT_CONSTRAINTS,
    COUNT_MOST_ITERATIONS_SEEN,
    COUPLING_POINT,
    COUPLING_STIFFNESS,
    SETTING_RESIDUAL,
    STATISTIC_ALL_CONTACTS,
    STATISTIC_ALL_ITERATIONS,
    STATISTIC_LARGEST_RESIDUAL,
    STATISTIC_LAST_CONTACTS,
    STATISTIC_LAST_ITERATIONS,
    STATISTIC_MOST_CONTACTS,
    STATISTIC_MOST_ITERATIONS,
)
from mbcli.multibody.contact.elastic_body import ElasticBody
from mbcli.multibody.contact.elastic_contact import Rows, Surface, TouchingPair, touching_triangles
from mbcli.multibody.contact.step_contact import StepContact
from mbcli.multibody.tree.index import BodyIndex

NO_PLACE = -1
TOLERANCE = 1e-5  # of the change of velocities in contact by an iteration, relative to the velocities
SUMS = {  # of the last problem: those of all, the most
    STATISTIC_LAST_CONTACTS: (STATISTIC_ALL_CONTACTS, STATISTIC_MOST_CONTACTS),
    STATISTIC_LAST_ITERATIONS: (STATISTIC_ALL_ITERATIONS, STATISTIC_MOST_ITERATIONS),
}


class ElasticResults(StepContact):
    """The part of ElasticStep that tells what its last step gave.

    Attributes:
        bodies, surfaces: ElasticBody and Surface of each deformable body of the plant.
        rows: Rows of the last step; index (c,): the constraint of each, -1 for none; impulses (c, 3) [N s] on side A.
        change: of the velocities of bodies in contact by the last iteration of the last step, relative.
        unsettled_steps: how many ended before that was as small as TOLERANCE; largest_change: in these.
    """

    bodies: list[ElasticBody]
    surfaces: list[Surface]
    rows: Rows
    index: np.ndarray
    impulses: np.ndarray
    change = largest_change = 0.0
    unsettled_steps = 0
    _state: Any

    def start_run(self, rows, keeps, exact=False):
        super().start_run(rows, keeps, exact)
        self.unsettled_steps, self.largest_change = 0, 0.0

    def statistics(self):
        own = {"unsettled_steps": self.unsettled_steps, "largest_change": self.largest_change}
        return super().statistics() | own

    def complaint(self):
        if not self.unsettled_steps:
            return None
        steps = "a step" if self.unsettled_steps == 1 else f"{self.unsettled_steps} steps"
        return (
            f"the iterations of {steps} of deformable bodies in contact ended before their velocities stayed: the last "
            f"ones changed them by up to {self.largest_change:.2g} of themselves; shorter steps may help"
        )

    def unsolved_pairs(self, members):
        rows, deformables = self.rows, self.plant.elements.deformable_bodies
        at = {int(i): n for n, i in enumerate(self.index) if i != NO_PLACE}
        elastic = np.array([int(i) in at for i in members], dtype=bool)
        pairs: dict[str, None] = {}
        for n in (at[int(i)] for i in members[elastic]):
            a, b = (deformables[k].full_name() if k >= 0 else None for k in rows.body[n])
            if b is None:
                solid, link = rows.solid[n], rows.link[n]
                b = (
                    self.body_name(solid)
                    if solid >= 0
                    else self.plant.name_in_contact(self.plant.get_body(BodyIndex(link)))
                )
            pairs[f"{a} and {b}"] = None
        return [*pairs, *super().unsolved_pairs(members[~elastic])]

    def count_contacts(self):
        """Adds to what note_problem() counts, which is of rigid bodies; its iterations are those of all."""
        if self.change > TOLERANCE:
            self.unsettled_steps += 1
            self.largest_change = max(self.largest_change, self.change)
        total, counts = self.solver.statistics, self.solver.counts
        touching = (self.rows.laws[:, COUPLING_STIFFNESS] > 0.0) & self.impulses.any(axis=1)
        added = {STATISTIC_LAST_CONTACTS: np.count_nonzero(touching)}
        if not counts[COUNT_CONSTRAINTS] and len(self.rows):
            added[STATISTIC_LAST_ITERATIONS] = counts[COUNT_MOST_ITERATIONS_SEEN]
            residual = float(np.sqrt(self.solver.settings[SETTING_RESIDUAL]))
            total[STATISTIC_LARGEST_RESIDUAL] = max(total[STATISTIC_LARGEST_RESIDUAL], residual)
        for last, number in added.items():
            every, most = SUMS[last]
            total[last] += number
            total[every] += number
            total[most] = max(total[most], total[last])

    def touching_pairs(self):
        """TouchingPair of each pair that touches in the step computed last, forces being the mean of the step."""
        rows, deformables = self.rows, self.plant.elements.deformable_bodies
        forces = self.impulses / self.plant.time_step()
        loaded = np.flatnonzero((rows.laws[:, COUPLING_STIFFNESS] > 0.0) & (self.impulses != 0.0).any(axis=1))
        geometry = self.geometries.ids
        pairs: dict[tuple[Any, Any], list[tuple[int, float]]] = {}
        for n in loaded:
            a, b = rows.body[n]
            A = deformables[a].geometry_id()
            B = geometry[rows.solid[n]] if b < 0 else deformables[b].geometry_id()
            turned = b >= 0 and b < a
            pairs.setdefault((B, A) if turned else (A, B), []).append((int(n), -1.0 if turned else 1.0))
        return [self._touching_pair(A, B, members, forces) for (A, B), members in pairs.items()]

    def _touching_pair(self, A, B, members, forces):
        n, sign = np.array([m for m, _ in members]), np.array([s for _, s in members])
        rows, deformables = self.rows, self.plant.elements.deformable_bodies
        a = next(k for k, body in enumerate(deformables) if body.geometry_id() == A)
        on_A = np.where((rows.body[n, 0] == a)[:, None], rows.vertices[n, :3], rows.vertices[n, 3:])
        weights = np.where((rows.body[n, 0] == a)[:, None], rows.weights[n, :3], rows.weights[n, 3:])
        triangles = touching_triangles(self.surfaces[a], on_A, weights)
        points = rows.places[n, COUPLING_POINT : COUPLING_POINT + 3]
        return TouchingPair(A, B, self.bodies[a].q.copy(), triangles, points, sign[:, None] * forces[n])

    def add_forces_on_links(self, F, X_WL):
        """Adds the forces of elastic bodies on links at their origins, (num_bodies, 6) in W, of the last step."""
        rows = self.rows
        links = np.array([int(self.plant.geometry_bodies[g].index()) for g in self.geometries.ids] or [0])
        on_link = np.where(rows.link >= 0, rows.link, links[rows.solid])
        on_link[(rows.body[:, 1] >= 0)] = NO_PLACE
        n = np.flatnonzero(on_link >= 0)
        f = -self.impulses[n] / self.plant.time_step()
        moment = np.cross(rows.places[n, COUPLING_POINT : COUPLING_POINT + 3] - X_WL[on_link[n], 9:], f)
        np.add.at(F, on_link[n], np.hstack([moment, f]))

    def elastic_energies(self):
        """(kinetic, potential) energy [J] of the elastic bodies in the state."""
        kinetic = potential = 0.0
        deformables = self.plant.elements.deformable_bodies
        for body, own, known in zip(self.bodies, self._state.deformables, deformables, strict=True):
            T, V = body.energies(own.q.copy(), own.v)  # kernels take what may be written
            kinetic += T
            potential += V - float(body.masses @ (own.q @ known.gravity_vector()))
        return kinetic, potential
