"""One elastic body in time: its masses, forces and the linear problem of a step.

A step finds the velocities v1 at its end from

    M (v1 - v0) + h alpha M v1 + h f(x0, v0, v1) = h f_ext + J^T impulses,    x1 = x0 + h/2 (v0 + v1)

with the consistent mass matrix M, whose moments of inertia are those of the solid, the elastic and viscous forces f of
element_forces.py and the mass damping alpha. Newton's method with one factorization a step: A, the derivative of the
left side, is made semidefinite element by element.
"""

import numpy as np
from scipy.sparse import csr_array, diags_array

from mbcli.engine.deformable.element_forces import WORK
from mbcli.engine.deformable.materials import (
    COROTATED,
    LINEAR,
    LINEAR_COROTATED,
    NEO_HOOKEAN,
)
from mbcli.errors import NumericalError
from mbcli.multibody.contact.elastic_factor import NONE, BlockCholesky
from mbcli.multibody.contact.elastic_threads import Threads

# elements of law, as law_numbers() in materials.py has them
LAW_KIND, LAW_LAMBDA, LAW_MU, LAW_SMALL_LAMBDA, LAW_SMALL_MU, LAW_MASS_DAMPING, LAW_STIFFNESS_DAMPING = range(7)
LAW_STEP, LAW_DISSIPATION, LAW_DENSITY, LAW_NUMBERS = 7, 8, 9, 10
VOLUME = 12  # column of elements
DISSIPATION = 0.5  # c of element_forces.py
ROUNDING = 1e-4  # speed whose share of 1e-10 is rounding, in lengths of the body a step
KINDS = {
    "kLinear": LINEAR,
    "kLinearCorotated": LINEAR_COROTATED,
    "kCorotated": COROTATED,
    "kNeoHookean": NEO_HOOKEAN,
    "kConsistentNeoHookean": NEO_HOOKEAN,
}


def law_of_material(model, youngs_modulus, poissons_ratio, mass_damping=0.0, stiffness_damping=0.0):
    """Numbers LAW_... of a material. model: name of a MaterialModel."""
    E, nu = youngs_modulus, poissons_ratio
    lam, mu = E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), E / (2.0 * (1.0 + nu))
    law = np.zeros(LAW_NUMBERS)
    law[LAW_KIND], law[LAW_LAMBDA], law[LAW_MU] = KINDS[model], lam, mu
    law[LAW_SMALL_LAMBDA], law[LAW_SMALL_MU] = lam, mu
    if model == "kConsistentNeoHookean":
        law[LAW_LAMBDA] = lam + mu
    elif model == "kNeoHookean":
        law[LAW_SMALL_LAMBDA] = max(lam - mu, 0.0)
    law[LAW_MASS_DAMPING], law[LAW_STIFFNESS_DAMPING] = mass_damping, stiffness_damping
    law[LAW_DISSIPATION] = DISSIPATION
    return law


def element_rows(points, tets):
    """(m, 13): gradients of the four shape functions [1/m] and the volume [m^3] of each tetrahedron."""
    edges = points[tets[:, 1:]] - points[tets[:, :1]]
    gradients = np.linalg.inv(edges).transpose(0, 2, 1)
    first = -gradients.sum(axis=1, keepdims=True)
    volumes = np.abs(np.linalg.det(edges)) / 6.0
    rows = np.concatenate([first, gradients], axis=1).reshape(-1, 12)
    return np.ascontiguousarray(np.concatenate([rows, volumes[:, None]], axis=1))


def pair_shares(places, volumes, count):
    """(count,) integrals [m^3] of N_a N_b over all tetrahedra: V/10 of a vertex with itself, V/20 with another."""
    same = np.triu_indices(4)[0] == np.triu_indices(4)[1]
    shares = volumes[:, None] * np.where(same, 0.1, 0.05)
    return np.bincount(places.ravel(), shares.ravel(), count)


def weighted_squares(weights, rows):
    """Sum of the weights (n,) times the squares of the rows (n, 3)."""
    return float(np.einsum("i,ij,ij->", weights, rows, rows))


class ElasticBody:
    """The arrays of one body, and those of the step that it is in.

    Args:
        kernels: of the engine.
        reference (n, 3) [m], tetrahedra (m, 4): the mesh without stress.
        density [kg/m^3].
        law: numbers LAW_... of its material.
        held (n,): vertices that stay where they are.
        threads: Threads that work on it; default: one.
    """

    def __init__(self, kernels, reference, tetrahedra, density, law, held=None, threads=None):
        self.kernels = kernels
        self.reference = np.ascontiguousarray(reference, dtype=float)
        self.tets = np.ascontiguousarray(np.sort(tetrahedra, axis=1), dtype=np.int64)
        self.elements = element_rows(self.reference, self.tets)
        self.law = law.copy()
        self.law[LAW_DENSITY] = density
        self.held = np.zeros(len(reference), dtype=bool) if held is None else held
        self.threads = threads or Threads()
        self.factor = BlockCholesky(kernels, self.reference, self.tets, self.threads)
        self._cells = np.hstack([self.tets, self.factor.places])
        half = len(self.tets) // 16 * 8
        self._halves = (0, half), (half, len(self.tets))
        self._work = np.zeros((2, WORK))
        pairs = self.factor.pairs
        self._blocks = np.zeros((2, len(pairs), 3, 3))  # of each half
        masses = density * pair_shares(self.factor.places, self.elements[:, VOLUME], len(pairs))
        upper = csr_array((masses, tuple(pairs.T)), shape=(len(reference), len(reference)))
        self.mass = (upper + upper.T - diags_array(upper.diagonal())).tocsr()
        self.masses = self.mass.sum(axis=1)
        self._diagonal = np.flatnonzero(pairs[:, 0] == pairs[:, 1])  # in the order of vertices
        self._cut = np.flatnonzero(self.held[pairs].any(axis=1))
        self._length, self._mass = float(np.ptp(self.reference, axis=0).max()), float(self.masses.sum())
        self._held_diagonal = self._diagonal[self.held]

    def energies(self, q, v):
        """(kinetic, elastic) energy [J]."""
        elastic = self.kernels.elastic_energy(np.ascontiguousarray(q), self.tets, self.elements, self.law)
        return 0.5 * float((v * (self.mass @ v)).sum()), float(elastic)

    def start(self, q, v, force, h):
        """A step of length h [s] from positions and velocities (n, 3), under forces (n, 3) [N] on the vertices."""
        self.q, self.v, self.h = q, np.where(self.held[:, None], 0.0, v), h
        self.law[LAW_STEP] = h
        self._given = self.mass @ self.v + h * force
        self.scale = weighted_squares(1.0 / self.masses, self._given)

    def factorize(self, last=NONE, at=None):
        """A at velocities `at`, default those of the start; `last`: vertices whose Schur complement is asked for."""
        v1 = self.v if at is None else at

        def add_half(part):
            blocks = self._blocks[part]
            blocks[:] = 0.0
            arrays = self._cells, self.elements, self.law, *self._halves[part], self._work[part]
            self.kernels.add_element_tangents(self.q, self.v, v1, *arrays, blocks)

        self.threads.both(lambda: add_half(0), lambda: add_half(1))
        blocks = self._blocks[0]
        blocks += self._blocks[1]
        blocks[self._cut] = 0.0
        for k in range(3):
            blocks[self._held_diagonal, k, k] = self.masses[self.held]
        if self.factor.pattern.last != 3 * len(last) or self.last is not last:
            self.factor.end_with(last)
        self.last = last
        self.factor.factorize(blocks)

    last = NONE

    def remainder(self, v1):
        """(n, 3) [N s]: the left side of the equation of a step less the forces that are given."""
        r, other = -self._given, np.zeros_like(v1)

        def add_half(part, out):
            arrays = self.tets, self.elements, self.law, *self._halves[part], self._work[part]
            self.kernels.add_element_impulses(self.q, self.v, v1, *arrays, out)

        self.threads.both(lambda: add_half(0, r), lambda: add_half(1, other))
        r += other
        r[self.held] = 0.0
        return r

    def improved(self, v1):
        """A step of Newton's method from v1, without contact."""
        found = v1 - self.factor.solve(self.remainder(v1))
        if not np.isfinite(found).all():
            raise NumericalError("the velocities of an elastic body are not finite")
        return found

    def halfway(self, v1):
        """As improved(), until the vertices that are last: what completed() takes, and their velocities (3 k,)."""
        x = self.factor.begin(self.remainder(v1))
        if not np.isfinite(x).all():
            raise NumericalError("the velocities of an elastic body are not finite")
        return x, v1[self.last].ravel() - x[x.size - 3 * len(self.last) :]

    def completed(self, v1, x, of_last):
        """The rest of improved(), with velocities (3 k,) that the vertices that are last have after contact."""
        found = v1 - self.factor.finish(x, v1[self.last].ravel() - of_last)
        if not np.isfinite(found).all():
            raise NumericalError("the velocities in contact are not finite")
        return found

    def rate(self, change, v1):
        """How large a change of velocities is, relative to the velocities v1 and those of the start, squared.

        Less than 1e-20 is rounding.
        """
        rounding = ROUNDING * self._length / self.h
        size = self.scale + weighted_squares(self.masses, v1) + rounding * rounding * self._mass
        return weighted_squares(self.masses, change) / size

    def end(self, v1):
        """Positions at the end of the step."""
        return self.q + 0.5 * self.h * (self.v + v1)
