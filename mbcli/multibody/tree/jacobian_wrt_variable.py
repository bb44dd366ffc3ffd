"""The variable of a Jacobian."""

from mbcli.numbered_enum import NumberedEnum


class JacobianWrtVariable(NumberedEnum):
    """The columns of a Jacobian: rates of positions, kQDot (nq), or generalized velocities, kV (nv)."""

    kQDot = 0
    kV = 1
