"""Steps of plants with elastic bodies: each is one contact problem of trees of links and of elastic bodies.

Before a step the bodies are linearized and samples of their surfaces that may touch are found. The vertices that take
part in contact, or are fixed to rigid bodies, are the velocities of an additional tree of the contact problem; the
others follow from them. The engine calls solve() by address in place of its own solver, with all other constraints in
place. The elastic forces at the velocities found give the next linear problem, until the velocities stay: the rows and
the matrices are those of the start of the step.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from mbcli.engine.contact.arrays import ContactSolver, trees_of
from mbcli.engine.fields.contact_fields import (
    COUNT_CONSTRAINTS,
    COUNT_ELASTIC_BODIES,
    COUNT_STATUS,
    COUPLING_DISTANCE,
    COUPLING_POINT,
    PROBLEM_NOT_CONVERGED,
    VECTOR_VELOCITY,
)
from mbcli.engine.fields.model_fields import CONTACT_AT_SOLVE
from mbcli.engine.runtime.kernel import argument_types
from mbcli.multibody.contact.contact_arrays import CALLED
from mbcli.multibody.contact.elastic_body import VOLUME, ElasticBody, law_of_material
from mbcli.multibody.contact.elastic_contact import (
    LOOK_AHEAD,
    ElasticContacts,
    Rows,
    Surface,
    fixed_rows,
    row_axes,
)
from mbcli.multibody.contact.elastic_factor import NONE
from mbcli.multibody.contact.elastic_free_step import solve_alone
from mbcli.multibody.contact.elastic_loads import field_forces
from mbcli.multibody.contact.elastic_results import NO_PLACE
from mbcli.multibody.contact.elastic_solution import ElasticSolution
from mbcli.multibody.contact.elastic_surfaces import allowed_pairs, surface_of
from mbcli.multibody.contact.elastic_threads import has_two_cores

WORTH_TWO = 2500  # tetrahedra of a body from which on two threads are faster than one
SPARE = 24  # vertices that may take part beyond those that do
MOST_SEARCHES = 8  # for samples that elastic forces drive into solids, in one step


class ElasticStep(ElasticSolution):
    """As StepContact, for a plant with elastic bodies.

    Attributes:
        elastic_rows: rows that there is room for.
    """

    def __init__(self, plant, model, compiled, earlier=None):
        self._sizes: tuple[int, ...] = ()
        self.elastic_rows = 64 if earlier is None else earlier.elastic_rows
        self.bodies: list[ElasticBody] = [] if earlier is None else earlier.bodies
        self.surfaces: list[Surface] = [] if earlier is None else earlier.surfaces
        self.rows, self.impulses = Rows.empty(0), np.zeros((0, 3))
        self._error: BaseException | None = None
        self._overlooked = False  # whether the last solution lets samples through that have no rows
        self._foreseen: list[list[Any]] = []  # velocities of bodies for which samples are looked for beside
        self.index = np.zeros(0, dtype=np.int64)  # constraint of each row
        self._state: Any = None
        self._callback = CALLED(self._solve_called)
        self._ends: list[Any] = []
        super().__init__(plant, model, compiled, earlier=earlier)

    def make(self):
        super().make()
        self._contacts: Any = None
        self._lasts = [NONE for _ in self.plant.elements.deformable_bodies]

    def compile_solvers(self, kernels):
        from mbcli.engine.contact import elastic_rows

        for name in ("solve_elastic_problem", "solve_problem_again"):
            kernel = getattr(kernels, name)
            if hasattr(kernel, "compile"):  # it is neither interpreted nor precompiled
                types, _ = argument_types(getattr(elastic_rows, name))
                kernel.compile(f"({', '.join(types)},)")

    def make_solver(self, rows, approximation):
        solver: Any = ContactSolver(
            self.model, rows + self.elastic_rows, approximation, blocks_per_tree=self.blocks, elastic=self._sizes
        )
        solver.counts[COUNT_ELASTIC_BODIES] = len(self.plant.elements.deformable_bodies)
        return solver

    def attached(self, state):
        at = super().attached(state)
        at[CONTACT_AT_SOLVE] = (
            float(ctypes.cast(self._callback, ctypes.c_void_p).value or 0) if self.compiled else self._solve_called
        )
        return at

    def make_room(self):
        error, self._error = self._error, None
        if error is not None:
            self._foreseen = []
            raise error
        overlooked, self._overlooked = self._overlooked, False
        if not overlooked:  # else the next search finds what was
            super().make_room()

    # the start of a step

    def begin_step(self, state):
        """Linearizes the elastic bodies at a state and finds what may touch in the step from it."""
        self._error, self._overlooked = None, False
        self._state, h = state, self.plant.time_step()
        deformables = self.plant.elements.deformable_bodies
        if not self.bodies:
            self.bodies = [self._body(body, state.kernels) for body in deformables]
            self.surfaces = [surface_of(self.plant, body) for body in deformables]
        calls = state.at_velocities()
        calls.place_solids_at(self.collision.handle(self.compiled))
        if self._contacts is None:
            self._contacts = ElasticContacts(
                state.kernels,
                self.surfaces,
                self.collision,
                self.collision.handle(self.compiled),
                *allowed_pairs(self.plant, self.geometries.ids),
            )
        self.moving = [state.parameters.get(body, "enabled") for body in deformables]
        two = self.plant.deformable_model().parallelism() > 1 and has_two_cores()
        for body in self.bodies:
            body.threads.are_two = two and len(body.tets) >= WORTH_TWO
        forces = [self._forces(body, own, state) for body, own in zip(self.bodies, deformables, strict=True)]
        for body, own, force in zip(self.bodies, state.deformables, forces, strict=True):
            q = np.where(body.held[:, None], body.reference, own.q)  # walls take their vertices back
            body.start(q, own.v, force, h)
        self.rows = self._find_rows(state, forces, h)
        self._choose_last()
        for body, last, moves in zip(self.bodies, self._lasts, self.moving, strict=True):
            if moves:
                with self._naming(body):
                    body.factorize(last)
        sizes = tuple(
            3 * len(last) for last, moves in zip(self._lasts, self.moving, strict=True) if moves and len(last)
        )
        if sizes != self._sizes or len(self.rows) > self.elastic_rows:
            self._sizes = sizes
            self.elastic_rows = max(self.elastic_rows, len(self.rows) + len(self.rows) // 2)
            self.renew_solver()
        self._place_rows()

    def _body(self, body, kernels):
        config = body.config()
        law = law_of_material(
            config.material_model().name,
            config.youngs_modulus(),
            config.poissons_ratio(),
            config.mass_damping_coefficient(),
            config.stiffness_damping_coefficient(),
        )
        return ElasticBody(kernels, body.reference, body.tetrahedra, config.mass_density(), law, body.on_wall)

    def _forces(self, body, own, state):
        """(n, 3) [N] on the vertices: weight and the fields of users."""
        forces = body.masses[:, None] * own.gravity_vector()
        fields = self.plant.deformable_model().added_forces
        if fields:
            q = state.deformables[int(own.index())].q
            context = self.plant.context_of(state)
            forces = forces + field_forces(fields, context, q, body.tets, body.elements[:, VOLUME])
        return forces

    def _find_rows(self, state, forces, h):
        gravity = float(np.linalg.norm(self.plant.gravity_field().gravity_vector()))
        self._gap = 2.0 * h * h * gravity
        expected = [body.v + h * force / body.masses[:, None] for body, force in zip(self.bodies, forces, strict=True)]
        parts = self._touching(expected, h)
        for velocities in self._foreseen:
            parts.append(Rows.join(self._touching(velocities, h)).without(Rows.join(parts)))
        for a in (a for a, moves in enumerate(self.moving) if moves):
            x = self.bodies[a].q
            for fixed in self.plant.elements.deformable_bodies[a].fixed_vertices:
                n = int(fixed.body.index())
                X_BL, b = self.model.link_X_BL[n], int(self.model.link_body[n])
                p_B = fixed.p_BQ @ X_BL[:9].reshape(3, 3).T + X_BL[9:]
                X_WB = state.data.X_WB[b]
                p_WQ = p_B @ X_WB[:9].reshape(3, 3).T + X_WB[9:]
                # links go by their velocities at the end of the step, vertices by those of the middle: what these lag
                p_WQ += h * h * state.deformables[a].a[fixed.vertices].mean(axis=0)
                parts.append(fixed_rows(a, fixed.vertices, x, b, n, p_WQ))
        rows = Rows.join(parts)
        self._arrest(rows, h)
        return rows

    def _arrest(self, rows, h):
        """Lets samples that come near at speed slow down one step before they touch.

        They move on by half of the speed at the start of a step, which contact cannot change: a sample at distance d
        with speed v stops at the surface if it has no more than the speed d / h - v / 2 at the end of the step.
        """
        d = rows.laws[:, COUPLING_DISTANCE]
        if not (d > 0.0).any():
            return
        v = np.zeros((len(rows), 3))
        for a, body in enumerate(self.bodies):
            for side, sign in ((0, 1.0), (1, -1.0)):
                of = np.flatnonzero(rows.body[:, side] == a)
                columns = slice(3 * side, 3 * side + 3)
                v[of] += sign * np.einsum("ck,cki->ci", rows.weights[of, columns], body.v[rows.vertices[of, columns]])
        for b in np.unique(rows.rigid[rows.rigid > 0]):
            of, twist = np.flatnonzero(rows.rigid == b), self._twist(int(b))
            v[of] -= twist[3:6] + np.cross(twist[:3], rows.places[of, COUPLING_POINT : COUPLING_POINT + 3] - twist[6:])
        closing = np.minimum(0.0, np.einsum("ci,ci->c", v, rows.places[:, :3]))
        rows.laws[:, COUPLING_DISTANCE] = np.where(d > 0.0, np.maximum(0.0, d + 0.5 * h * closing), d)

    def _twist(self, b):
        """9 numbers: angular and translational velocity of a body about a point, and that point."""
        data = self._state.data
        if b == 0:
            return np.zeros(9)
        return np.concatenate([data.V[b], data.X_WB[self.model.body_root[b], 9:]])

    def _choose_last(self):
        """Which vertices take part: those of the rows, and of earlier ones if they are few."""
        rows = self.rows
        sides = rows.body[:, [0, 0, 0, 1, 1, 1]]
        used = rows.weights != 0.0
        for a, body in enumerate(self.bodies):
            takes_part = np.zeros(len(body.held), dtype=bool)
            takes_part[rows.vertices[used & (sides == a)]] = True
            takes_part &= ~body.held
            now, before = np.flatnonzero(takes_part), self._lasts[a]
            if len(before) > 1.5 * len(now) + SPARE or np.count_nonzero(takes_part[before]) < len(now):
                self._lasts[a] = now

    def _place_rows(self):
        """The velocities of the vertices of each row in the contact problem."""
        rows, start = self.rows, int(trees_of(self.model)[0][-1])
        dofs = np.full((len(rows), 6), NO_PLACE)
        self._starts = []
        for a, (body, last, moves) in enumerate(zip(self.bodies, self._lasts, self.moving, strict=True)):
            self._starts.append(start)
            if not moves or not len(last):
                continue
            place = np.full(len(body.masses), NO_PLACE)
            place[last] = start + 3 * np.arange(len(last))
            for first, side in ((0, 0), (3, 1)):
                of = np.flatnonzero(rows.body[:, side] == a)
                dofs[of, first : first + 3] = place[rows.vertices[of, first : first + 3]]
            start += 3 * len(last)
        dofs[rows.weights == 0.0] = NO_PLACE
        weights = rows.weights
        for first in (0, 3):  # the last velocity first
            columns = slice(first, first + 3)
            if (dofs[:, first] >= dofs[:, first + 1]).all() and (dofs[:, first + 1] >= dofs[:, first + 2]).all():
                continue
            order = np.argsort(-dofs[:, columns], axis=1, kind="stable")
            dofs[:, columns] = np.take_along_axis(dofs[:, columns], order, axis=1)
            weights[:, columns] = np.take_along_axis(weights[:, columns], order, axis=1)
            rows.vertices[:, columns] = np.take_along_axis(rows.vertices[:, columns], order, axis=1)
        self._dofs = np.ascontiguousarray(dofs)
        self._weights = np.ascontiguousarray(weights)

    # the solution

    def _solve_called(self, model, data, points, solver, h):
        """As solve_problem_called()."""
        try:
            self._solve(float(h))
        except BaseException as error:  # which may not leave a function that compiled code calls
            self._error = error
            self.solver.counts[COUNT_STATUS] = PROBLEM_NOT_CONVERGED
        return 0.0

    def _solve(self, h):
        solver, counts = self.solver, self.solver.counts
        rigid_rows = int(counts[COUNT_CONSTRAINTS])
        slots = [self._slots_of(a) for a in range(len(self.bodies))]
        found = [body.v for body in self.bodies]
        for a, body in enumerate(self.bodies):
            if slots[a] is not None:
                self._place_masses(a)
                solver.vectors[VECTOR_VELOCITY, slots[a]] = body.v[self._lasts[a]].ravel()
            elif self.moving[a]:
                with self._naming(body):
                    _, found[a] = solve_alone(body)
        self.index = index = np.full(len(self.rows), NO_PLACE)
        if not self._converge(found, slots, h):
            return
        if len(self._foreseen) < MOST_SEARCHES and self._lets_through(found, h):
            counts[COUNT_STATUS], self._overlooked = PROBLEM_NOT_CONVERGED, True
            return
        self._ends, self._foreseen = found, []
        self._keep_impulses(index)
        counts[COUNT_CONSTRAINTS] = rigid_rows  # the others are not those of contact points

    def _lets_through(self, found, h):
        """Whether samples without rows come to touch in the step to the velocities found, or could in the next.

        Elastic forces and other contacts may drive a sample faster than its expected velocity says. At the end it is at
        x0 + h/2 (v0 + v1), and half of the way of the next step, h/2 v1, is out of the reach of contact then: what is
        to stay outside over h (v0/2 + v1) has a row.
        """
        velocities = [(body.v + 2.0 * v) / (2.0 * LOOK_AHEAD) for body, v in zip(self.bodies, found, strict=True)]
        overlooked = len(Rows.join(self._touching(velocities, h)).without(self.rows)) > 0
        if overlooked:
            self._foreseen.append(velocities)
        return overlooked

    def _touching(self, velocities, h):
        """Rows of contacts that velocities (n, 3) of each body lead to, from the positions at the start."""
        contacts, gap = self._contacts, self._gap
        parts: list[Rows] = []
        moving = [a for a, moves in enumerate(self.moving) if moves]
        positions = [np.ascontiguousarray(body.q) for body in self.bodies]
        for a in moving:
            parts += contacts.with_solids(a, positions[a], velocities[a], h, gap, self._twist)
            for b in (b for b in moving if contacts.between[a, b]):
                for k, l in ((a, b), (b, a)):
                    both = [[values[k], values[l]] for values in (positions, velocities)]
                    parts += contacts.between_bodies(k, l, *both, h, gap)
        return parts

    def _keep_impulses(self, index):
        """The impulses of the rows on side A, in W."""
        if not len(index):
            self.impulses = np.zeros((0, 3))
            return
        along = np.where((index != NO_PLACE)[:, None], self.solver.con_impulse[index], 0.0)
        self.impulses = np.einsum("ck,cki->ci", along, row_axes(self.rows))

    def take_step(self):
        """The elastic bodies go to the end of the step that was computed last, and their contacts are counted."""
        self.count_contacts()
        h = self.plant.time_step()
        for body, own, v, moves in zip(self.bodies, self._state.deformables, self._ends, self.moving, strict=True):
            if moves:
                own.set(body.end(v), v, (v - body.v) / h)
