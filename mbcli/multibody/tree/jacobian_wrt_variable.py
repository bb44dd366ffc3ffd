"""The variable of a Jacobian."""

from enum import Enum


class JacobianWrtVariable(Enum):
    """The columns of a Jacobian: rates of positions, kQDot (nq), or generalized velocities, kV (nv)."""

    kQDot = 0
    kV = 1
