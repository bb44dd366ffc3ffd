"""The constraints that are active in a context: their rows, the arrays of the engine, and their rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbcli.engine.constraints.constrained_motion import (
    CONTACT_STEPS,
    DEPENDENT,
    EVERY_CORRECTION,
    MOTION,
    STEPS,
    constraint_addresses,
    expect_rank,
)
from mbcli.engine.fields.model_fields import (
    RANK_CLEAR,
    RANK_CROSSING,
    RANK_EXPECTED,
    RANK_FAULTS,
    RANK_FOUND,
    RANK_REACHED,
    RANK_USUAL,
)
from mbcli.engine.runtime.model import ConstraintWork
from mbcli.engine.smooth.state import SINGULAR_STEP
from mbcli.errors import ModelError, NumericalError
from mbcli.multibody.compilation.compile_constraints import Tie, compile_constraints
from mbcli.multibody.compilation.constraint_rows import constraint_rows
from mbcli.multibody.scalars import FLOAT


class CompiledConstraints:
    """What the ActiveConstraints of contexts with the same parameters share: nobody changes it but to remember more.

    Attributes as in ActiveConstraints; usual_ranks: usual_rank() by the bytes of the default positions.
    """

    def __init__(self, state):
        self.fault, self.rows, self.row_owners = None, [], []
        try:
            state.scalar.require_constrained_motion()
            self.rows, self.row_owners = constraint_rows(state.plant, state.parameters, equations=False)
        except ModelError as error:
            self.fault = error
        self.are_equations = all(row.is_equation() for tie in self.rows for row in tie.rows)
        self.arrays = compile_constraints(state.model, self.rows)
        self.usual_ranks = {}


class ActiveConstraints:
    """The constraints of a plant that are active under the parameters and the model of an EvaluatedState.

    The state makes new ones with each new model.

    Attributes:
        fault: ModelError if they cannot act, else None; there are no rows then.
        rows: list of Tie, of constraint_rows().
        row_owners: the constraint of each row, in the order of rows.
        are_equations: whether all rows are equations, without limits and stiffness.
        arrays: of the engine, made of the rows.
        work: ConstraintWork of these arrays.
        is_crossed, lengths: after ask(), whether the state is close to a singular position and was crossed, and
            row_scale of the work then.
        left_at: x (nq + nv,) where the last run ended, whose memory the work holds; None before that and in runs.
    """

    def __init__(self, state):
        self.plant, self.parameters, self.compiled = state.plant, state.parameters, state.compiled
        compiled = state.plant.constraints_by_default(state.model, state.parameters, lambda: CompiledConstraints(state))
        self.fault, self.rows, self.row_owners = compiled.fault, compiled.rows, compiled.row_owners
        self.are_equations, self.arrays = compiled.are_equations, compiled.arrays
        self._usual_ranks, self._chains = compiled.usual_ranks, None
        self.is_crossed, self.lengths, self.left_at = False, None, None
        work: Any = ConstraintWork(self.arrays.sizes, state.scalar.dtype)  # its arrays are named by fields
        self.work = work
        if state.scalar is not FLOAT:
            work.ranks[RANK_REACHED] = EVERY_CORRECTION
        self._no_memory = work.ranks.copy()
        self._attached = None  # whether the data lead to the calls of contact problems; None: to none

    def require_rows(self):
        """ModelError if constraints cannot act, or numbers are such that they cannot be solved."""
        if self.fault is not None:
            raise self.fault

    def require_equations(self):
        """As require_rows(), and if constraints are not equations."""
        self.require_rows()
        if not self.are_equations:
            constraint_rows(self.plant, self.parameters)  # says which one

    def attach(self, state, in_problems):
        """Lets the kernels find them from the data of the state; in_problems: for steps that are contact problems."""
        if self._attached is in_problems:
            return
        data, compiled = state.data, self.compiled
        handles = state.model_handle, state.data_handle, self.arrays.handle(compiled), self.work.handle(compiled)
        called = CONTACT_STEPS if in_problems else STEPS if self.plant.is_discrete() else MOTION
        addresses = constraint_addresses(state.kernels, compiled, called, *handles)
        if compiled:
            data.constraint_set[:] = addresses
        else:
            data.constraint_set = addresses
        self._attached = in_problems

    def is_attached(self):
        return self._attached is not None

    def multipliers(self):
        """lambda (nrow,) of the last accelerations, in the order of row_owners."""
        result = np.empty_like(self.work.force)
        result[self.arrays.row_number] = self.work.force
        return result

    def forces(self):
        """Of each Tie, after accelerations: (6,) on the successor at So in World, None for a coupling."""
        arrays, work, forces = self.arrays, self.work, {}
        for first, end in arrays.constraint_rows:
            forces[arrays.row_number[first]] = work.force[first:end] @ work.row_axis_W[first:end]
        return [forces[c.numbers[0]] if isinstance(c, Tie) and c.rows else None for c in self.rows]

    def wrenches(self, of_rows):
        """Of each Tie, from those (nrow, 6) of all rows: (6,) on the successor at So in World, None for a coupling."""
        return [of_rows[list(c.numbers)].sum(axis=0) if isinstance(c, Tie) and c.rows else None for c in self.rows]

    # rank

    def chains(self, context):
        """ClosedChains of these constraints."""
        if self._chains is None:
            from mbcli.multibody.assembly.closed_chains import ClosedChains

            self._chains = ClosedChains(context)
        return self._chains

    def usual_rank(self, context):
        """regular_rank() near the default positions of the plant: it follows from parameters alone."""
        q = self.plant.GetDefaultPositions()
        key = q.tobytes()
        if key not in self._usual_ranks:
            self._usual_ranks[key] = self.chains(context).regular_rank(q)
        return self._usual_ranks[key]

    def rank_at(self, context):
        """The usual rank if the positions of the context are regular by it, else regular_rank() near these."""
        return context.state.position_cache.remember("regular rank", self._rank_at, context)

    def _rank_at(self, context):
        usual, q = self.usual_rank(context), context.state.q
        return usual if self.chains(context).is_regular(q, *usual) else self.chains(context).regular_rank(q)

    def begin_run(self, context):
        """Lets the steps of a run know the rank to expect, and nothing of what was computed before."""
        expect_rank(self.work, *self.rank_at(context))
        self.left_at = None

    def ask(self, context, compute):
        """compute() for a question: by parameters, state and inputs alone, and what a run remembers stays.

        compute() leaves the accelerations in the data. NumericalError if the constraints do not tell them.
        """
        work, is_float = self.work, context.state.scalar is FLOAT
        remembered, lengths = work.ranks.copy(), work.row_scale.copy()
        try:
            if is_float:
                self._compute_regular(context, compute)
            else:
                work.ranks[:], work.row_scale[:] = self._no_memory, 0.0
                compute()
            self.is_crossed, self.lengths = work.ranks[RANK_CROSSING] != 0.0, work.row_scale.copy()
            if is_float and self.take_step_fault():
                raise NumericalError(self.singularity())
        finally:
            work.ranks[:], work.row_scale[:] = remembered, lengths

    def _compute_regular(self, context, compute):
        """Only where it finds no regular position by the usual rank, it is asked what is regular nearby."""
        usual = self.usual_rank(context)
        expect_rank(self.work, *usual)
        compute()
        ranks = self.work.ranks
        is_regular = ranks[RANK_FOUND] == ranks[RANK_EXPECTED] and ranks[RANK_CLEAR] == ranks[RANK_USUAL]
        if is_regular and ranks[RANK_CROSSING] == ranks[RANK_FAULTS] == 0.0:
            return
        nearby = self.rank_at(context)
        if nearby is not usual:
            expect_rank(self.work, *nearby)
            compute()

    def take_step_fault(self):
        """As the kernel step_fault(), of the last step; it is forgotten then."""
        if self.work.ranks[RANK_FAULTS] == 0.0:
            return 0
        self.work.ranks[RANK_FAULTS] = 0.0
        return SINGULAR_STEP

    def singularity(self):
        """Why the constraints do not tell the motion at the last positions."""
        rank, found = (int(x) for x in self.work.ranks[[RANK_EXPECTED, RANK_FOUND]])
        if found > rank:
            return (
                f"{found} equations of the constraints are independent at these positions, {rank} where all are "
                "satisfied: redundant constraints do not tell the motion so far off"
            )
        if found == rank:
            sines = self.work.row_sine.real
            least = sines[sines > DEPENDENT].min(initial=1.0) ** 0.5
            return (
                f"the constraints are all but singular: one of their {rank} independent equations is a combination of "
                f"the others but for a part of {least:.1g}, they do not tell the motion"
            )
        return f"the constraints are singular, with rank {found} in place of {rank}: they do not tell the motion"
