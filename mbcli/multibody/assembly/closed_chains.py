"""The constraints of a plant as a whole: are they satisfied, which depend on others, positions that satisfy them."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from mbcli.engine import load_kernels
from mbcli.engine.constraints.constrained_motion import CLEARANCE, find_rank
from mbcli.engine.runtime.kernel import may_compile
from mbcli.engine.runtime.kernel_cache import is_compiled
from mbcli.errors import NumericalError
from mbcli.multibody.assembly.nearest_positions import AssemblySearch, Nearest
from mbcli.multibody.assembly.nearest_velocities import nearest_velocities
from mbcli.multibody.assembly.position_manifold import PositionManifold
from mbcli.multibody.compilation.compile_constraints import Coupling, compile_constraints
from mbcli.multibody.compilation.constrained_model import DEPENDENT, ConstrainedModel
from mbcli.multibody.tree.constraints import TendonConstraint

NEARBY = 0.1  # [rad or m] how far positions are moved to see a rank that is not that of one singular position
NEARBY_STARTS = 4
NEARBY_TOLERANCE = 1e-10  # of the norm of their position errors
FIXED = 1e-6  # part of random velocities that constraints leave, below which they leave none
TOLERANCE = 1e-12  # of the norm of the position errors of an assembly
MOST_ITERATIONS = 100
HELD = 1e-9  # [m] how far beyond a limit a tendon may be that is held there
RESTARTS = 20
MOST_INTERPRETED_ROWS = 60  # interpreted, the rank of so many takes a second, of 400 a minute


class ClosedChains:
    """The constraints that are active in a context, at positions q (nq,) and velocities v (nv,).

    The context stays as it is.

    Args:
        compiled: for thousands of evaluations: it takes 10 s once on a machine. Many rows are always evaluated so.
        held: None: a constraint that is not an equation is a ModelError. Else such constraints are left out, but for
            tendons {constraint: limit} that are held at a limit.

    Attributes:
        owners: constraint of the plant that each row belongs to.
        manifold: PositionManifold.
    """

    def __init__(self, context, compiled=False, held=None):
        state = context.state
        active = state.current_constraints()
        self.owners, self._limited = [], []
        if active is None:
            constraints = compile_constraints(state.model, [])
        elif held is None:
            active.require_equations()
            self.owners, constraints = active.row_owners, active.arrays
        else:
            active.require_rows()
            self.owners, constraints = active.row_owners, active.arrays
            if not active.are_equations:
                rows, self.owners, self._limited = take_equations(active, held)
                constraints = compile_constraints(state.model, rows)
        self.nrow = len(self.owners)
        compiled = (compiled or self.nrow > MOST_INTERPRETED_ROWS) and may_compile()
        self._constrained = ConstrainedModel(state.model, constraints, compiled)
        self.manifold, self._searches = PositionManifold(self._constrained.model), {}

    def has_limits(self):
        """Whether a tendon has limits, which are no equations: they act at some positions only."""
        return bool(self._limited)

    def limits_passed(self, q, tolerance):
        """{tendon: limit} of those that are beyond a limit at q, by more than the tolerance; from which phi counts."""
        found = {}
        for tendon, made in self._limited:
            phi = sum(a * q[k] for k, _, a in made.terms) - made.offset
            nearest = min(max(phi, made.limits[0]), made.limits[1])
            if abs(phi - nearest) > tolerance:
                found[tendon] = nearest
        return found

    def position_errors(self, q):
        """phi (nrow,) and its derivative along velocities (nrow, nv)."""
        constrained = self._constrained
        constrained.data.q[:] = q
        constrained.run("calc_constraint_positions", 1)
        return constrained.rows("err"), constrained.dense("G")

    def velocity_errors(self, q, v):
        """G v (nrow,) and G (nrow, nv)."""
        constrained = self._constrained
        constrained.data.q[:], constrained.data.v[:] = q, v
        constrained.run("calc_constraint_velocities")
        return constrained.rows("errd"), constrained.dense("G")

    def independent(self, q):
        """(nrow,) whether each row is not a combination of others at q."""
        if self.nrow:  # else there is nothing to factorize, which of many bodies takes long
            self._factorize(q)
        return self._constrained.rows("row_sine") > DEPENDENT

    def _factorize(self, q):
        self.impulses(q, np.zeros(self._constrained.model.sizes["nv"]))
        find_rank(self._constrained.constraints, self._constrained.work)

    def impulses(self, q, v):
        """v_plus (nv,) that satisfies the constraints at q, and the impulses (nrow,) that lead from v to it."""
        constrained = self._constrained
        constrained.data.q[:], constrained.data.v[:] = q, v
        constrained.data.diagonal[:] = constrained.model.dof_armature
        constrained.data.diagonal[constrained.model.locked_dof] = np.inf  # no impulse moves a locked joint
        constrained.run("calc_constraint_impulses", DEPENDENT)
        return v + constrained.work.dv, constrained.rows("impulse")

    def operations(self):
        """About how many multiplications one factorization of the multipliers' matrix takes."""
        first = self._constrained.constraints.profile_first
        return float(((np.arange(len(first)) - first + 1.0) ** 2).sum())

    def rank(self, q):
        """The rank of the constraints at q."""
        return int(self.independent(q).sum())

    def rank_nearby(self, q):
        """The largest rank at q and at positions near it that satisfy the constraints; larger if q is singular."""
        return self.regular_rank(q)[0] if self.nrow else 0

    def is_regular(self, q, rank, clearness, lengths):
        """Whether q is a regular position by a regular_rank(), as note_rank() of the engine decides it."""
        scale = self._constrained.work.row_scale
        scale[:] = lengths
        found, least = self._rank_and_least_sine(q)
        scale[:] = 0.0
        return found == rank and least >= CLEARANCE * clearness

    def _rank_and_least_sine(self, q):
        """How many rows are independent at q, and the least square of their sines, by row_scale as it is."""
        self._factorize(q)
        sines = self._constrained.work.row_sine
        independent = sines[sines > DEPENDENT]
        return len(independent), float(independent.min(initial=1.0))

    def regular_rank(self, q):
        """For expect_rank(): that rank, the largest of the least squares of sines, squares of rows' lengths."""
        constrained, rng = self._constrained, np.random.default_rng(0)
        scale = constrained.work.row_scale
        scale[:] = 0.0
        here = np.array(q, dtype=float)
        if not np.linalg.norm(self.position_errors(here)[0]) <= NEARBY_TOLERANCE:
            here = self._projected(here)
        nearby = [] if here is None else [here, *(self._moved_nearby(here, rng) for _ in range(NEARBY_STARTS))]
        starts = [start for start in nearby if start is not None] or [np.array(q, dtype=float)]
        for start in starts:
            self._factorize(start)
            np.maximum(scale, constrained.work.row_square, out=scale)
        found = [self._rank_and_least_sine(start) for start in starts]
        lengths = scale.copy()
        scale[:] = 0.0
        return *max(found), lengths

    def _moved_nearby(self, q, rng):
        """Positions that satisfy the constraints at a distance of about NEARBY from q; None if none were found."""
        constrained = self._constrained
        v = rng.normal(size=constrained.model.sizes["nv"])
        v[constrained.model.locked_dof] = 0.0
        if not v.any():
            return None
        v, _ = self.impulses(q, v / np.linalg.norm(v))
        length = np.linalg.norm(v)
        if not length > FIXED:
            return None
        return self._projected(self.manifold.moved(q, NEARBY / length * v))

    def _projected(self, q):
        """The positions close to q that satisfy the constraints; None if the steps of the engine find none."""
        constrained = self._constrained
        constrained.data.q[:] = q
        steps = constrained.run("project_positions", NEARBY_TOLERANCE / max(1.0, self.nrow) ** 0.5, MOST_ITERATIONS)
        return constrained.data.q.copy() if steps >= 0 else None

    def assemble(self, q, weights=None, tolerance=TOLERANCE, max_iterations=MOST_ITERATIONS, *, restarts=RESTARTS):
        """The Nearest positions to q that satisfy the constraints, as CalcAssemblyQ() finds them; weights (nv,)."""
        weights = np.ones(self._constrained.model.sizes["nv"]) if weights is None else weights
        start = self.manifold.normalized(q)
        return self.search(restarts).nearest(start, weights, tolerance, max_iterations)

    def search(self, restarts=RESTARTS):
        """The AssemblySearch from as many other starts."""
        if restarts not in self._searches:
            self._searches[restarts] = AssemblySearch(self._constrained, restarts)
        return self._searches[restarts]

    def assemble_nearby(self, q):
        """As assemble(); of many constraints, whose nearest assembly takes minutes, one that projection leads to."""
        projected = self._projected(self.manifold.normalized(q)) if self.nrow > MOST_INTERPRETED_ROWS else None
        if projected is None:
            return self.assemble(q)
        return Nearest(projected, True, 0, float(np.linalg.norm(self.position_errors(projected)[0])))

    def assemble_velocities(self, q, v, weights=None):
        """The velocities (nv,) nearest to v that satisfy the constraints at q."""
        errors, G = self.velocity_errors(q, v)
        return nearest_velocities(G, errors, np.array(v, dtype=float), np.ones(len(v)) if weights is None else weights)


def take_equations(active, held):
    """Rows and owners of constraints that are equations, or are held; tendons with limits, with their rows.

    active: ActiveConstraints. held: as of ClosedChains.
    """
    rows, owners, limited = [], [], []
    for made in active.rows:
        owner = active.row_owners[made.numbers[0]] if made.rows else None
        if not all(row.is_equation() for row in made.rows):
            if not isinstance(owner, TendonConstraint) or all(row.spring[0] < np.inf for row in made.rows):
                continue  # a spring
            limited.append((owner, made))
            if owner not in held:
                continue
            made = Coupling(made.terms, made.offset + held[owner], ())
        rows.append(replace(made, numbers=tuple(range(len(owners), len(owners) + len(made.rows)))))
        owners += [owner] * len(made.rows)
    return rows, owners, limited


class Assemblies:
    """Assemblies of one context, whose parameters stay as they are; what they need is made once.

    Args:
        patience: so many assemblies are interpreted, unless their kernels are there already, before they are compiled.
        announce: a function whose result is a context manager, within which kernels are compiled.
    """

    def __init__(self, context, patience=np.inf, announce=nullcontext):
        self._context, self._patience, self._announce = context, patience, announce
        self._compiled, self._chains = False, {}

    def within_limits(self, q, *arguments, **options):
        """(Nearest, ClosedChains): as ClosedChains.assemble(), with tendons that have limits.

        A tendon that is beyond a limit at the assembly without it is held at this limit, in the chains that are
        returned too; springs are left out.
        """
        self._patience -= 1
        with self._waiting():
            return self._within_limits(q, *arguments, **options)

    def _within_limits(self, q, *arguments, **options):
        held = {}
        while True:
            chains = self._chains_of(held)
            found = chains.assemble(q, *arguments, **options)
            passed = chains.limits_passed(found.q, HELD)
            if not found.converged or not passed.keys() - held.keys():
                return found, chains
            held |= passed

    def _chains_of(self, held):
        key = self._compiled, *held.items()
        if key not in self._chains:
            self._chains[key] = ClosedChains(self._context, compiled=key[0], held=dict(held))
        return self._chains[key]

    def _waiting(self):
        """The context of the next assembly: that of a compilation, if kernels will be compiled for it."""
        if self._compiled or self._patience == np.inf or not may_compile():
            return nullcontext()
        model = self._context.state.model
        self._compiled = is_compiled(load_kernels(True, "plain" if model.is_plain else "").find_nearest)
        if self._patience >= 0 or self._compiled:
            return nullcontext()
        self._compiled = True
        return self._announce()


def assemble_within_limits(context, q, *arguments, **options):
    """One assembly, as Assemblies.within_limits()."""
    return Assemblies(context).within_limits(q, *arguments, **options)


def assemble_context(context, tolerance):
    """Moves the state of a context to the nearest one that satisfies the constraints, if it does not.

    Returns the changes, in lines. NumericalError if no such state is found. `tolerance`: of the norm of position
    errors, and of velocity errors relative to the velocities.
    """
    chains, lines = ClosedChains(context, held={}), []
    state = context.state
    error = np.linalg.norm(chains.position_errors(state.q)[0])
    if not error <= tolerance or chains.limits_passed(state.q, tolerance):
        found, chains = assemble_within_limits(context, state.q, tolerance=min(tolerance, TOLERANCE))
        if not (found.converged or found.position_error <= tolerance):
            raise NumericalError(
                f"no assembly was found: the constraints have an error of {error:.3g} at the start, and of "
                f"{found.position_error:.3g} at the best of {found.restarts + 1} attempts"
            )
        state.set_q(found.q)
        lines.append(f"assembled the start: the constraints had an error of {error:.3g}, steps: {found.iterations}")
    speed = np.linalg.norm(chains.velocity_errors(state.q, state.v)[0])
    if not speed <= tolerance * max(1.0, np.abs(state.v).max(initial=0.0)):
        state.set_v(chains.assemble_velocities(state.q, state.v))
        lines.append(f"changed the velocities of the start: those of the constraints had an error of {speed:.3g}")
    return lines
