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
    COUPLING_STIFFNESS,
    PROBLEM_NOT_CONVERGED,
    PROBLEM_SOLVED,
    VECTOR_FREE,
    VECTOR_VELOCITY,
)
from mbcli.engine.fields.model_fields import CONTACT_AT_SOLVE
from mbcli.engine.runtime.lane_memory import WIDTH
from mbcli.multibody.stepping.contact_arrays import CALLED
from mbcli.multibody.stepping.elastic_body import VOLUME, ElasticBody, law_of_material
from mbcli.multibody.stepping.elastic_contact import (
    ElasticContacts,
    Rows,
    Surface,
    TouchingPair,
    fixed_rows,
    row_axes,
    touching_triangles,
)
from mbcli.multibody.stepping.elastic_factor import NONE
from mbcli.multibody.stepping.elastic_free_step import solve_alone
from mbcli.multibody.stepping.elastic_loads import field_forces
from mbcli.multibody.stepping.step_contact import StepContact

MOST_ITERATIONS = 8  # of bodies in contact
TOLERANCE = 1e-5  # of the change of velocities by an iteration of these, relative to the velocities
SPARE = 24  # vertices that may take part beyond those that do
NO_PLACE = -1


class ElasticStep(StepContact):
    """As StepContact, for a plant with elastic bodies.

    Attributes:
        bodies, surfaces: ElasticBody and Surface of each deformable body of the plant.
        elastic_rows: rows that there is room for.
        rows: Rows of the last step; impulses (c, 3) [N s] along the rows' axes, axes (c, 3, 3), on body A.
    """

    def __init__(self, plant, model, compiled, earlier=None):
        self._sizes: tuple[int, ...] = ()
        self.elastic_rows = 64 if earlier is None else earlier.elastic_rows
        self.bodies: list[ElasticBody] = [] if earlier is None else earlier.bodies
        self.surfaces: list[Surface] = [] if earlier is None else earlier.surfaces
        self.rows, self.impulses = Rows.empty(0), np.zeros((0, 3))
        self._error: BaseException | None = None
        self._state: Any = None
        self._callback = CALLED(self._solve_called)
        self._ends: list[Any] = []
        super().__init__(plant, model, compiled, earlier=earlier)

    def make(self):
        super().make()
        self._contacts: Any = None
        self._lasts = [NONE for _ in self.plant.elements.deformable_bodies]

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

    def attach(self, state):
        """Lets the kernels find the arrays, and begins a step of the elastic bodies from the state."""
        self._error = None
        self._begin(state)
        super().attach(state)

    def make_room(self):
        error, self._error = self._error, None
        if error is not None:
            raise error
        super().make_room()

    # the start of a step

    def _begin(self, state):
        self._state, h = state, self.plant.time_step()
        deformables = self.plant.elements.deformable_bodies
        if not self.bodies:
            self.bodies = [self._body(body, state.kernels) for body in deformables]
            self.surfaces = [self._surface(body) for body in deformables]
        calls = state.at_velocities()
        calls.place_solids_at(self.collision.handle(self.compiled))
        if self._contacts is None:
            self._contacts = ElasticContacts(
                state.kernels,
                self.surfaces,
                self.collision,
                self.collision.handle(self.compiled),
                *self._allowed(),
            )
        self.moving = [state.parameters.get(body, "enabled") for body in deformables]
        forces = [self._forces(body, own, state) for body, own in zip(self.bodies, deformables, strict=True)]
        for body, own, force in zip(self.bodies, state.deformables, forces, strict=True):
            body.start(own.q, own.v, force, h)
        self.rows = self._find_rows(state, forces, h)
        self._choose_last()
        for body, last, moves in zip(self.bodies, self._lasts, self.moving, strict=True):
            if moves:
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

    def _surface(self, body):
        registry = self.plant.scene_graph.registry
        instance = registry.geometries[body.geometry_id()]
        config = self.plant.scene_graph.config
        defaults = None if config is None else config.default_proximity_properties
        own = instance.proximity

        def value(name, default):
            given = None if own is None else own.GetPropertyOrDefault("material", name, None)
            if given is None and defaults is not None:
                given = getattr(defaults, name)
            return default if given is None else float(given)

        friction = None if own is None else own.GetPropertyOrDefault("material", "coulomb_friction", None)
        if friction is None:
            mu = 0.0 if defaults is None or defaults.dynamic_friction is None else defaults.dynamic_friction
        else:
            mu = friction.dynamic_friction()
        material = value("hunt_crossley_dissipation", 0.0), value("relaxation_time", 0.0), mu
        return Surface(
            body.reference, np.asarray(body.tetrahedra), body.config().youngs_modulus(), body.mesh.volume, material
        )

    def _allowed(self):
        """Which bodies and solids, and which pairs of bodies, may touch: those with a proximity role, no filter."""
        graph, deformables = self.plant.scene_graph, self.plant.elements.deformable_bodies
        inspector, ids = graph.model_inspector(), self.geometries.ids
        geometries = graph.registry.geometries
        touches = [geometries[body.geometry_id()].proximity is not None for body in deformables]

        def may(A, B):
            return not inspector.CollisionFiltered(A, B)

        allowed = np.zeros((len(deformables), len(ids)), dtype=bool)
        between = np.zeros((len(deformables), len(deformables)), dtype=bool)
        for a, body in enumerate(deformables):
            if touches[a]:
                allowed[a] = [may(body.geometry_id(), g) for g in ids]
                for b in range(a):
                    between[a, b] = touches[b] and may(body.geometry_id(), deformables[b].geometry_id())
        return allowed, between

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
        contacts, parts = self._contacts, []
        gravity = float(np.linalg.norm(self.plant.gravity_field().gravity_vector()))
        gap = 2.0 * h * h * gravity
        touching = [a for a, moves in enumerate(self.moving) if moves]
        expected = {a: self.bodies[a].v + h * forces[a] / self.bodies[a].masses[:, None] for a in touching}
        for a in touching:
            body = self.bodies[a]
            x = np.ascontiguousarray(body.q)
            parts += contacts.with_solids(a, x, expected[a], h, gap, self._twist)
            for b in touching:
                if b < a and contacts.between[a, b]:
                    speed = sum(np.sqrt((expected[k] ** 2).sum(axis=1).max()) for k in (a, b))
                    margin = gap + h * speed
                    y = np.ascontiguousarray(self.bodies[b].q)
                    parts += contacts.between_bodies(a, b, x, y, margin)
                    parts += contacts.between_bodies(b, a, y, x, margin)
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
        d = rows.laws[:, COUPLING_DISTANCE]
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
            now = np.unique(rows.vertices[used & (sides == a)])
            now = now[~body.held[now]]
            before = self._lasts[a]
            if len(before) > 1.5 * len(now) + SPARE or len(np.setdiff1d(now, before)):
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
        solver, counts, state = self.solver, self.solver.counts, self._state
        rigid_rows = int(counts[COUNT_CONSTRAINTS])
        rows, kernels, handle = self.rows, state.kernels, self.solver.handle(self.compiled)
        places = [self._place_body(a) for a in range(len(self.bodies))]
        coupled = [place is not None for place in places]
        found = [body.v for body in self.bodies]
        for a, body in enumerate(self.bodies):
            if self.moving[a] and not coupled[a]:
                _, found[a] = solve_alone(body)
        index = np.full(len(rows), NO_PLACE)
        for k in range(MOST_ITERATIONS):
            free = [body.improved(v) if here else v for body, v, here in zip(self.bodies, found, coupled, strict=True)]
            for place, last, v in zip(places, self._lasts, free, strict=True):
                if place is not None:
                    solver.vectors[VECTOR_FREE, place] = v[last].ravel()
            if k == 0:
                kernels.solve_elastic_problem(
                    state.model_handle,
                    state.data_handle,
                    handle,
                    self._dofs,
                    self._weights,
                    rows.rigid,
                    rows.places,
                    rows.laws,
                    index,
                    h,
                )
            else:
                kernels.solve_problem_again(handle)
            if counts[COUNT_STATUS] != PROBLEM_SOLVED:
                return
            largest = 0.0
            for a, (body, place) in enumerate(zip(self.bodies, places, strict=True)):
                if place is not None:
                    change = solver.vectors[VECTOR_VELOCITY, place] - free[a][self._lasts[a]].ravel()
                    following = free[a] + body.factor.follow(change)
                    largest = max(largest, body.rate(following - found[a], following))
                    found[a] = following
            if largest <= TOLERANCE * TOLERANCE:
                break
        self._ends = found
        self._keep_impulses(index)
        counts[COUNT_CONSTRAINTS] = rigid_rows  # the others are not those of contact points

    def _place_body(self, a):
        """The slots of the velocities of a body in the problem, with its masses and first velocities; None for none."""
        body, last, solver = self.bodies[a], self._lasts[a], self.solver
        if not self.moving[a] or not len(last):
            return None
        start, size = self._starts[a], 3 * len(last)
        width = -(-size // WIDTH) * WIDTH
        first_row = int(solver.dof_row[start]) + start
        matrix = solver.mass[first_row : first_row + size * width].reshape(size, width)
        upper = np.triu(body.factor.schur)
        matrix[:, :size] = upper + np.triu(upper, 1).T
        slots = slice(int(solver.dof_slot[start]), int(solver.dof_slot[start]) + size)
        solver.vectors[VECTOR_VELOCITY, slots] = body.v[last].ravel()
        return slots

    def _keep_impulses(self, index):
        """The impulses of the rows on side A, in W."""
        along = np.where((index != NO_PLACE)[:, None], self.solver.con_impulse[index], 0.0)
        self.impulses = np.einsum("ck,cki->ci", along, row_axes(self.rows))

    def take_step(self):
        """The elastic bodies go to the end of the step that was computed last."""
        h = self.plant.time_step()
        for body, own, v, moves in zip(self.bodies, self._state.deformables, self._ends, self.moving, strict=True):
            if moves:
                own.q[:], own.a[:] = body.end(v), (v - body.v) / h
                own.v[:] = v

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
            T, V = body.energies(np.ascontiguousarray(own.q), own.v)
            kinetic += T
            potential += V - float(body.masses @ (own.q @ known.gravity_vector()))
        return kinetic, potential
