"""A model of the engine with constraints on it, and quantities computed from both."""

import numpy as np

from mbcli.engine import load_kernels
from mbcli.engine.runtime.bound_kernels import BoundKernels
from mbcli.engine.runtime.model import ConstraintWork, Data

# tolerances of factorize_multipliers
DEPENDENT = 1e-12  # square of the sine below which a row of the constraints counts as a combination of others
AS_BEFORE = -1.0  # the rows are taken out that the last call took out: off the constraints, between steps


class ConstrainedModel:
    """Arrays of a model and of constraints on it; rows are numbered as the caller numbered them.

    Args:
        model: of the engine.
        constraints: of compile_constraints().
        compiled: whether kernels are.

    Attributes:
        compiled: as given.
        kernels, handles: what load_kernels() gives, and the first arguments of those that take constraints.
    """

    def __init__(self, model, constraints, compiled):
        self.model, self.constraints, self.compiled = model, constraints, compiled
        self.data = Data(model.sizes, model.dtype)
        self.work = ConstraintWork(constraints.sizes, model.dtype)
        self.data.diagonal[:] = model.dof_armature
        self.row_number = constraints.row_number
        kernels = self.kernels_for(model, compiled)
        pair = model.handle(compiled), self.data.handle(compiled)
        self.kernels, self.handles = kernels, (*pair, constraints.handle(compiled), self.work.handle(compiled))
        owners = model, self.data, constraints, self.work
        self._stages = BoundKernels(kernels, *pair, owners=owners)
        self._kernels = BoundKernels(kernels, *self.handles, owners=owners)
        self._rows, self._columns = _places(constraints)
        self._packed_places = _packed_places(model, constraints)

    @staticmethod
    def kernels_for(model, compiled):
        """What load_kernels() gives for constraints on a model."""
        return load_kernels(compiled, "plain" if model.is_plain else "")

    def run(self, name, *arguments):
        """A kernel of engine/constraints/constraint_stages.py or contact_response.py; returns its result."""
        return getattr(self._kernels, name)(*arguments)

    def run_stage(self, name, *arguments):
        """A kernel of engine/queries/stages.py."""
        return getattr(self._stages, name)(*arguments)

    def rows(self, name):
        """A vector of ConstraintWork in the caller's order, (nrow,) or (nrow, n)."""
        values = getattr(self.work, name)
        result = np.empty_like(values)
        result[self.row_number] = values
        return result

    def set_rows(self, name, values):
        """Writes a vector that is in the caller's order."""
        getattr(self.work, name)[:] = np.asarray(values)[self.row_number]

    def dense(self, name):
        """The matrix behind G or Y with a row for each row of the caller, (nrow, nv)."""
        result = np.zeros((len(self.row_number), self.model.sizes["nv"]), self.model.dtype)
        result[self._rows, self._columns] = getattr(self.work, name)
        return result

    def set_dense(self, numbers, G):
        """Writes rows of G, (n, nv), whose constraints support all velocities."""
        row = np.full(len(self.row_number), -1)
        row[np.asarray(numbers, dtype=int)] = np.arange(len(numbers))
        chosen = np.flatnonzero(row[self._rows] >= 0)
        self.work.G[chosen] = np.asarray(G)[row[self._rows[chosen]], self._columns[chosen]]

    def packed_matrix(self):
        """The contents of packed_H, as a lower triangular matrix (nv, nv)."""
        nv = self.model.sizes["nv"]
        result = np.zeros((nv, nv), self.model.dtype)
        result[self._packed_places] = self.work.packed_H
        return result

    def set_packed_matrix(self, H):
        """Writes packed_H from a matrix (nv, nv)."""
        self.work.packed_H[:] = H[self._packed_places]

    def mass_matrix(self):
        """H (nv, nv), if packed_H is that and not a factor of it."""
        lower = self.packed_matrix()
        return lower + np.tril(lower, -1).T

    def independent(self):
        """(nrow,) whether each row was not found to be a combination of others."""
        return self.rows("pivot_inverse") != 0.0


def _places(constraints):
    """The caller's row and the velocity of each element of G."""
    rows, columns = [np.zeros(0, int)], [np.zeros(0, int)]
    for (first, end), (start, stop) in zip(constraints.constraint_rows, constraints.constraint_support, strict=True):
        numbers, dofs = constraints.row_number[first:end], constraints.support_dof[start:stop]
        rows.append(np.tile(numbers, len(dofs)))
        columns.append(np.repeat(dofs, len(numbers)))
    return np.concatenate(rows), np.concatenate(columns)


def _packed_places(model, constraints):
    """Rows and columns of the elements of packed_H."""
    rows = np.repeat(np.arange(len(constraints.dof_level)), constraints.dof_level + 1)
    columns = np.empty_like(rows)
    for d, (start, level) in enumerate(zip(constraints.dof_packed, constraints.dof_level, strict=True)):
        parent = model.dof_parent[d]
        if parent >= 0:
            columns[start : start + level] = columns[constraints.dof_packed[parent] :][:level]
        columns[start + level] = d
    return rows, columns
