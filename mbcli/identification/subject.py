"""What is identified of a plant: the parameters, their values in the file, and the equations that runs give."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.coordinate_names import element_named
from mbcli.engine.queries.state_batch import StateBatch
from mbcli.engine.runtime.kernel import may_compile
from mbcli.errors import ArgumentError, ModelError
from mbcli.identification.estimation import Equations
from mbcli.identification.feet import Feet
from mbcli.identification.findings import Finding
from mbcli.identification.followers import follow
from mbcli.identification.friction_signs import friction_sign, stribeck_part
from mbcli.identification.held_joints import HeldJoints, nothing_held
from mbcli.identification.unknowns import (
    ARMATURE,
    ASYMMETRY,
    COULOMB,
    FRICTIONS,
    INERTIAL,
    OFFSET,
    ROOT,
    STIFFNESS,
    STRIBECK,
    VISCOUS,
    WARMTH,
    Parameter,
)
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.core.regressors import MovedBodies
from mbcli.multibody.inertia.inertial_parameters import PARAMETERS, UNITS, parameters_of, pseudo_inertia
from mbcli.multibody.tree.joint_spring import JointSpring

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mbcli.identification.signals import Run
    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.tree import RigidBody

REST = 0.5  # [s] that a joint stands at least; where it is slow for a shorter time it turns back
SHOWN = 60  # states that show what can be known
SPREAD = 2.0  # [rad or m] how far their positions are from the default ones
DENSITY = 1000.0  # [kg/m^3] of the ball that stands for the size of a link whose file has no inertia to speak of
HOLD = "; joints that stand still: --held NAME, NAME=VALUE or all"  # the end of a message
FLATTEST = 1e-3  # a second moment below this part of the ball's is not taken as knowledge


def link_named(name: str, links: Sequence[RigidBody], argument: str) -> int:
    """The index of the body that a name means by any unambiguous ending; links: those that may be. ArgumentError."""
    try:
        return int(element_named(name, links, "link with a mass on a joint").index())
    except LookupError as error:
        raise ArgumentError(f"{argument}: {error.args[0]}") from None


class Subject:
    """The unknowns of a plant.

    Args:
        plant: finalized. frictions: kinds among FRICTIONS that are identified. armature: whether armatures are.
        payload: name of the only link whose parameters are identified, with offsets among frictions; None: all.
        bodies: whether those of links are identified; else they stay what the file says.
        held: joints that do not move, None: there are none.
        laws: {velocity: kinds of friction of its joint}; those that it does not name have all of `frictions`.
        silent: (nv,) of without_efforts(): velocities whose equations are not used; None: of none.
        feet: that may touch something, None: nothing does.

    Attributes:
        independent: velocities whose equations equations() gives: those that are not held nor silent, nor depend on
            others by constraints.
        links: numbers of the links whose inertias are identified. reference: (m, 10) what a file says of them, made
            such that a body can have it.
        joints: velocities of joints with one, whose friction is identified. silent: as given.
        parameters: list of Parameter, in the order of the unknowns. zero: (p,) those that are 0 by the law of their
        joint, whatever the file says: Coulomb friction. frames: (m,) of the links, numbers.
        findings: of the model. payload: whether only a payload is identified.
        usual_warmth: (nv,) temperatures at which viscous friction is what is called so.
    """

    def __init__(
        self,
        plant: Any,
        *,
        frictions: Sequence[str],
        armature: bool,
        payload: str | None = None,
        bodies: bool = True,
        held: HeldJoints | None = None,
        name: str = "",
        laws: Mapping[int, Sequence[str]] = MappingProxyType({}),
        silent: Any = None,
        feet: Feet | None = None,
    ) -> None:
        self.held, self.payload = held or nothing_held(plant), payload is not None
        self.silent = np.zeros(plant.num_velocities(), dtype=bool) if silent is None else silent
        self.independent = np.flatnonzero(~(self.held.velocities | self.silent))
        self.plant, self.context = plant, plant.CreateDefaultContext()
        state = self.context.state
        if not state.parameters_current:
            state.ready_parameters()
        self.model: Any = state.model
        self.moved = MovedBodies(plant, self.model)
        self.findings: list[Finding] = []
        self.batch: Any = StateBatch(self.model, compiled=may_compile())
        self.feet = feet or Feet(plant)
        # a file that offsets have no place in leaves them to be found with each payload, which would pass for them
        there = FRICTIONS if payload is None else (OFFSET,)
        self.frictions = tuple(k for k in there if k in frictions)
        self._laws = laws
        self._with_armature = armature and payload is None
        self._choose_links(payload, name, bodies)
        self._choose_joints()
        self.parameters = self._parameters()
        self.zero = np.array([p.kind == COULOMB and COULOMB not in laws.get(p.element, there) for p in self.parameters])
        self.x0 = np.array([p.old for p in self.parameters])
        self.sizes = np.array([p.size for p in self.parameters])
        # what inverse dynamics of the file have of the unknowns
        self._of_fixed = np.where([p.kind in (INERTIAL, ARMATURE, STIFFNESS) for p in self.parameters], self.x0, 0.0)
        self.chains = None if self._is_tree() else ClosedChains(self.context, held={})
        self._default_q = np.array(plant.GetPositions(self.context))
        self.frames = [int(plant.elements.bodies[n].body_frame().index()) for n in self.links]

    def _choose_links(self, payload: str | None, name: str, identified: bool) -> None:
        bodies = self.plant.elements.bodies
        self.links: list[int] = []
        self._weighs: list[bool] = []
        moves = self._moving_bodies()
        for k, links in enumerate(self.moved.links):
            if not moves[self.moved.bodies[k]]:
                continue
            massive = [n for n in links if self.model.link_inertia[n, 0] > 0.0]
            if not massive and payload is None:
                names = " and ".join(bodies[n].name() for n in links)
                self.findings.append(
                    Finding("MODEL_MASSLESS", f"{names} has no mass in the file, and is left without one", name)
                )
            self.links += massive
            self._weighs += [self.moved.under_gravity[k]] * len(massive)
        if payload is not None:
            n = link_named(payload, [bodies[n] for n in self.links], "payload")
            self.links, self._weighs = [n], [self._weighs[self.links.index(n)]]
        if not self.links:
            raise ModelError("no joint moves a link with a mass: there is nothing to identify")
        if not identified:
            self.links, self._weighs = [], []
        given = [self.moved.of_link(n) for n in self.links]
        self.reference = np.array([possible(pi) for pi in given]).reshape(-1, 10)
        self.given = np.array(given).reshape(-1, 10)

    def _is_tree(self) -> bool:
        """Whether no constraint acts on what moves."""
        held = self.held.velocities
        return all(
            c.kind == "coupler" and held[c.joint0.velocity_start()] and held[c.joint1.velocity_start()]
            for c in self.plant.elements.constraints
        )

    def _moving_bodies(self) -> Any:
        """(bodies,) whether a joint that is not held moves each."""
        parent, start, count = self.model.body_parent, self.model.body_v, self.model.body_nv
        moves = np.zeros(len(parent), dtype=bool)
        for b in self.moved.bodies:
            own = self.held.velocities[start[b] : start[b] + count[b]]
            moves[b] = bool((~own).any()) or moves[parent[b]]
        return moves

    def _choose_joints(self) -> None:
        self.joints: list[int] = []
        self._dry, self._stiffness, self._rest = np.zeros((3, self.plant.num_velocities()))
        self.usual_warmth: FloatArray | float = 0.0
        self.stribeck_speed = np.full(self.plant.num_velocities(), np.inf)  # [rad/s or m/s] of each velocity
        self.joint_of: dict[int, Any] = {}
        for joint in self.plant.moving_joints():
            d = joint.velocity_start()
            if joint.num_velocities() == 1 and not self.held.velocities[d] and not self.silent[d]:
                self.joints.append(d)
                self.joint_of[d] = joint
                self._dry[d] = float(joint.dry_friction[0])
        for spring in self.plant.elements.force_elements:
            if isinstance(spring, JointSpring):
                d = spring.joint().velocity_start()
                if self._stiffness[d]:
                    raise ModelError(f"joint {spring.joint().name()} has two springs: identification knows one")
                self._stiffness[d], self._rest[d] = spring.default_of("stiffness"), spring.default_of("nominal")
        self.joints.sort()

    def _parameters(self) -> list[Parameter]:
        found = []
        for n, pi, reference in zip(self.links, self.given, self.reference, strict=True):
            sizes, link = sizes_of(reference), self.plant.elements.bodies[n].name()
            found += [
                Parameter(f"{link}.{name}", INERTIAL, UNITS[k], n, k, float(pi[k]), float(sizes[k]))
                for k, name in enumerate(PARAMETERS)
            ]
        kinds = ([ARMATURE] if self._with_armature else []) + list(self.frictions)
        for kind in kinds:
            for d in (d for d in self.joints if kind in (ARMATURE, COULOMB, *self._laws.get(d, kinds))):
                angular = self.joint_of[d].is_angular()
                unit = {
                    ARMATURE: ("kg", "kg m^2"),
                    VISCOUS: ("N s/m", "N m s"),
                    COULOMB: ("N", "N m"),
                    OFFSET: ("N", "N m"),
                    ASYMMETRY: ("N s/m", "N m s"),
                    STRIBECK: ("N", "N m"),
                    ROOT: ("N sqrt(s/m)", "N m sqrt(s)"),
                    STIFFNESS: ("N/m", "N m/rad"),
                    WARMTH: ("N s/(m K)", "N m s/K"),
                }[kind][angular]
                old = {
                    ARMATURE: self.model.dof_armature,
                    VISCOUS: self.model.dof_damping,
                    COULOMB: self._dry,
                    STIFFNESS: self._stiffness,
                }.get(kind, np.zeros(len(self._dry)))[d]
                found.append(Parameter(f"{self.joint_of[d].name()}.{kind}", kind, unit, d, 0, float(old), 1.0))
        return found

    @property
    def names(self) -> list[str]:
        return [p.name for p in self.parameters]

    # ------------------------------------------------------------------------------------------ equations

    def complete(self, q: FloatArray, v: FloatArray, vdot: FloatArray, rates: bool = True) -> tuple[Any, ...]:
        """Positions and their rates with those of followers (mimic) that a record does not give.

        ModelError if others are missing; rates: also if their rates are.
        """
        q, v, vdot = q.copy(), v.copy(), vdot.copy()
        follow(self.plant, q, v, vdot)
        for what, values, names in (
            ("positions", q, self.plant.GetPositionNames()),
            ("velocities", v, self.plant.GetVelocityNames() if rates else ()),
        ):
            missing = [name for name, column in zip(names, values.T, strict=False) if np.isnan(column).any()]
            if missing:
                raise ModelError(f"the data have no {what} of {', '.join(missing)}{HOLD}")
        return q, v, vdot

    def equations(self, run: Run, slow: FloatArray | None) -> Equations:
        """The equations of a run.

        d are the velocities of the plant, or those that constraints leave independent. slow (nv,): speeds below which
        Coulomb friction is not known: such equations may not be used, and the friction has a part of its value;
        None: its sign is always taken, of the velocities as they are.
        """
        q, v, vdot = self.complete(run.q, run.v, run.vdot)
        sign = friction_sign(v, slow)
        signs = run.signs_of(v, slow)
        A = self.columns(q, v, vdot, signs, warmth=run.warmth)
        fixed = self.batch.inverse_dynamics(q, v, vdot, damping=VISCOUS not in self.frictions)
        known = fixed - A @ self._of_fixed
        if COULOMB not in self.frictions:
            known = known + self._dry * signs
        usable = run.usable.copy()
        if slow is not None and COULOMB in self.frictions:
            usable[:, self.joints] &= np.abs(v[:, self.joints]) >= slow[self.joints]
        judged = run.usable.copy()
        if slow is not None:
            judged[:, self.joints] &= ~_turns_back(np.abs(v[:, self.joints]) < slow[self.joints], run.rate)
        tau, raw = (np.where(np.isnan(t), 0.0, t) for t in (run.tau, run.raw_tau))
        y = tau - known
        turns = self._turns(v, sign - signs)
        if self.chains is not None:
            N, good = self.motions(q)
            A = np.einsum("nik,nip->nkp", N, A)
            y, tau, raw = (np.einsum("nik,ni->nk", N, part) for part in (y, tau, raw))
            turns = turns[0], np.einsum("nik,nic->nkc", N, turns[1])
            acts = np.abs(N) > 1e-12
            usable, judged = (
                ~np.einsum("nik,ni->nk", acts, ~part).astype(bool) & good[:, None] for part in (usable, judged)
            )
        elif len(self.independent) < A.shape[1]:
            A, y, tau, raw, usable, judged = (part[:, self.independent] for part in (A, y, tau, raw, usable, judged))
            turns = turns[0], turns[1][:, self.independent]
        found = Equations(A, y, usable, tau, raw, run.time, run.source, run.rate, judged, turns)
        return (
            found if run.touch is None else self.feet.without_forces(found, q, run.touch, self.independent, self.batch)
        )

    def _turns(self, v: FloatArray, change: FloatArray) -> tuple[Any, FloatArray]:
        """Of Equations, where signs of velocities (n, nv) change so much."""
        own = [k for k, p in enumerate(self.parameters) if p.kind in (COULOMB, STRIBECK, ROOT)]
        values, kinds = np.zeros((*v.shape, len(own) + 1)), self._with_sign(v, change)
        for n, k in enumerate(own):
            d = self.parameters[k].element
            values[:, d, n] = kinds[self.parameters[k].kind]()[:, d]
        if COULOMB not in self.frictions:
            values[:, :, -1] = self._dry * change
        return np.array(own, dtype=int), values

    def _with_sign(self, v: FloatArray, sign: FloatArray) -> dict[str, Callable[[], FloatArray]]:
        """Columns (n, nv) of friction that has the sign of velocities."""
        return {
            COULOMB: lambda: sign,
            STRIBECK: lambda: stribeck_part(v, sign, self.stribeck_speed),
            ROOT: lambda: sign * np.sqrt(np.abs(v)),
        }

    def columns(
        self,
        q: FloatArray,
        v: FloatArray,
        vdot: FloatArray,
        sign: FloatArray | None = None,
        batch: Any = None,
        warmth: FloatArray | None = None,
    ) -> FloatArray:
        """A (n, nv, p): tau = A x + what is not identified.

        sign: (n, nv) of velocities, for friction; None: as they are. batch: of the model under another gravity.
        warmth: (n, nv) temperatures, None: the usual ones.
        """
        Y = (batch or self.batch).inverse_dynamics_regressor(q, v, vdot, self.frames, self._weighs)
        per_joint = {
            ARMATURE: lambda: vdot,
            VISCOUS: lambda: v,
            OFFSET: lambda: np.ones_like(v),
            ASYMMETRY: lambda: np.abs(v),
            STIFFNESS: lambda: self._stretch(q),
            WARMTH: lambda: np.zeros_like(v) if warmth is None else (warmth - self.usual_warmth) * v,
            **self._with_sign(v, np.sign(v) if sign is None else sign),
        }
        A = np.empty((*v.shape, len(self.parameters)))
        A[:, :, : Y.shape[2]], A[:, :, Y.shape[2] :] = Y, 0.0
        values = {kind: per_joint[kind]() for kind in {p.kind for p in self.parameters} - {INERTIAL}}
        for k, p in enumerate(self.parameters):
            if p.kind != INERTIAL:
                A[:, p.element, k] = values[p.kind][:, p.element]
        return A

    def _stretch(self, q: FloatArray) -> FloatArray:
        """(n, nv) of joints with one velocity: positions less the rest of their springs, of the file, 0 without one."""
        found = np.zeros((len(q), len(self._rest)))
        for d in self.joints:
            found[:, d] = q[:, self.joint_of[d].position_start()] - self._rest[d]
        return found

    def exact_rows(self, runs: Sequence[Run]) -> FloatArray:
        """Rows (k, p) of equations that show all that motions can: of random ones, under constraints of the data."""
        if self.chains is not None:
            picked = [np.linspace(0, len(run) - 1, min(len(run), SHOWN)).astype(int) for run in runs]
            parts = [run.part(rows) for run, rows in zip(runs, picked, strict=True)]
            return np.vstack([self.equations(part, None).A.reshape(-1, len(self.parameters)) for part in parts])
        rng, nv, held = np.random.default_rng(0), self.plant.num_velocities(), self.held
        self.plant.SetPositions(self.context, self._default_q)
        N = self.plant.MakeVelocityToQDotMap(self.context)
        q = self._default_q + SPREAD * (rng.uniform(-1.0, 1.0, (SHOWN, nv)) @ N.T)
        q = ClosedChains(self.context, held={}).manifold.normalized(q)
        v, vdot = rng.normal(size=(2, SHOWN, nv))
        v[:, held.velocities] = vdot[:, held.velocities] = 0.0
        if held.joints:  # held joints stay where the data hold them, at another position in each file
            seen = np.concatenate([run.q[[0, -1]] for run in runs] or [held.q[None, :]])[:, held.positions]
            q[:, held.positions] = seen[rng.integers(len(seen), size=SHOWN)]
            q, v, vdot = self.complete(q, v, vdot)
        warmth = self.usual_warmth + rng.normal(size=v.shape)
        return self.columns(q, v, vdot, warmth=warmth)[:, self.independent].reshape(-1, len(self.parameters))

    def independent_names(self) -> list[str]:
        """Names of the velocities whose equations equations() gives."""
        names = self.plant.GetVelocityNames()
        return [names[k] for k in self.independent]

    def choose_independent(self, q: FloatArray, measured: Any) -> None:
        """Chooses the velocities that constraints leave independent: those of measured efforts first.

        q: (n, nq) positions, of which a few are looked at. ModelError if they do not satisfy the constraints.
        """
        from scipy.linalg import qr

        if self.chains is None:
            return
        free = np.flatnonzero(~self.held.velocities)
        samples = q[np.linspace(0, len(q) - 1, 5).astype(int)]
        errors, G = zip(*(self._constraints_at(x) for x in samples), strict=True)
        if max(float(np.abs(e).max(initial=0.0)) for e in errors) > 1e-2:
            raise ModelError("the positions of the data do not satisfy the constraints of the model")
        stacked = np.vstack(G)[:, free]
        rank = int(np.linalg.matrix_rank(G[0][:, free], tol=1e-8))
        cost = np.where(measured, 1e-3, 1.0)[free]  # what is dependent is taken from those without a measured effort
        dependent = free[qr(stacked * cost, pivoting=True, mode="r")[1][:rank]]
        self.dependent = np.sort(dependent)
        self.independent = np.setdiff1d(free, dependent)

    def _constraints_at(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        chains: Any = self.chains
        errors, G = chains.position_errors(q)
        return np.array(errors), np.array(G)

    def motions(self, q: FloatArray) -> tuple[FloatArray, Any]:
        """N (n, nv, d): velocities by the independent ones; and whether the constraints are regular (n,)."""
        nv, d = self.plant.num_velocities(), len(self.independent)
        N = np.zeros((len(q), nv, d))
        N[:, self.independent, np.arange(d)] = 1.0
        good = np.ones(len(q), dtype=bool)
        for k, x in enumerate(q):
            G = self._constraints_at(x)[1]
            solved, _, rank, sizes = np.linalg.lstsq(G[:, self.dependent], -G[:, self.independent], rcond=1e-6)
            N[k, self.dependent] = solved
            good[k] = rank == len(self.dependent)
        return N, good


def _turns_back(slow: Any, rate: float) -> Any:
    """(n, d) whether a joint that is slow (n, d) is so for a moment only."""
    found = np.zeros_like(slow)
    for k in range(slow.shape[1]):
        edges = np.diff(np.concatenate(([0], slow[:, k].astype(int), [0])))
        for a, b in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
            found[a:b, k] = b - a < REST * rate
    return found


def possible(parameters: FloatArray) -> FloatArray:
    """Parameters (10,) that a body can have: where the file has none of some moment, that of a small ball is added."""
    m = float(parameters[0])
    c = parameters[1:4] / m
    J = pseudo_inertia(parameters)
    central = J[:3, :3] - m * np.outer(c, c)
    ball = m * (3.0 * m / (4.0 * np.pi * DENSITY)) ** (2.0 / 3.0) / 5.0
    values, axes = np.linalg.eigh(central)
    values = np.maximum(values, FLATTEST * max(ball, float(values.max())))
    J[:3, :3] = axes @ np.diag(values) @ axes.T + m * np.outer(c, c)
    return parameters_of(J)


def sizes_of(reference: FloatArray) -> FloatArray:
    """(10,) what counts as a large change of a link's parameters: its mass, times its reach, times that squared."""
    m = float(reference[0])
    J = pseudo_inertia(reference)
    reach = float(np.sqrt(np.trace(J[:3, :3]) / m))
    return m * np.array([1.0, *(reach,) * 3, *(reach * reach,) * 6])
