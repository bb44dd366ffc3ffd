"""How much a constraint gives way to its own impulse, by the size of J D^-1 J^T with the diagonal D of A.

D alone is good enough for its use, the regularization of constraints, and pydrake does the same.
"""

from mbcli.engine.fields.contact_fields import VECTOR_INVERSE_DIAGONAL
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import sum_of_lanes
from mbcli.engine.smooth.trigonometry import square_root


@kernel
def compliance(solver, i):
    """The norm (Frobenius) of J D^-1 J^T of constraint i, whose rows that are not there are zero.

    After masses_of_trees().
    """
    J, vectors = solver.jacobian8, solver.vectors8
    xx = yy = zz = xy = xz = yz = 0.0
    for p in range(solver.con_first[i], solver.con_first[i + 1]):
        inverse = vectors[VECTOR_INVERSE_DIAGONAL, solver.piece_vector[p]]
        x, y, z = J[3 * p], J[3 * p + 1], J[3 * p + 2]
        ex, ey = inverse * x, inverse * y
        xx += sum_of_lanes(ex * x)
        yy += sum_of_lanes(ey * y)
        zz += sum_of_lanes(inverse * z * z)
        xy += sum_of_lanes(ex * y)
        xz += sum_of_lanes(ex * z)
        yz += sum_of_lanes(ey * z)
    return square_root(xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz))
