"""The inner loops of a multifrontal Cholesky factorization of symmetric matrices of 3x3 blocks.

A front has the rows and columns of some vertices that are eliminated together (its own, `own` numbers), and of those
behind them that they are connected with (its rest). Of the symmetric matrix the upper triangle is kept, in three dense
arrays: own by own, own by rest, and rest by rest, which is added to the front of the parent (Duff and Reid 1983).
Dense factorizations are those of LAPACK; they are called between these loops.

fronts: a row for each front: own and rest numbers, where its arrays own by own and own by rest start in values, where
its list of rest vertices starts in rest, and its first own number.
"""

from mbcli.engine.runtime.kernel import Blocks, Indices, Int, Matrix, Table, Vector, entry, kernel


@entry
def scatter_blocks(blocks: Blocks, table: Table, own: Matrix, across: Matrix):
    """Adds blocks to a front. table: block, its row and column of blocks in the front, whether it is transposed."""
    size = own.shape[0]
    for n in range(table.shape[0]):
        b, row, column = table[n, 0], 3 * table[n, 1], 3 * table[n, 2]
        for i in range(3):
            for j in range(3):
                x = blocks[b, j, i] if table[n, 3] != 0 else blocks[b, i, j]
                if column < size:
                    own[row + i, column + j] += x
                else:
                    across[row + i, column - size + j] += x


@entry
def add_front(source: Matrix, places: Indices, own: Matrix, across: Matrix, rest: Matrix):
    """Adds what a child leaves to its parent; places: of its vertices, in blocks of the parent's front."""
    size = own.shape[0]
    count = places.shape[0]
    for p in range(count):
        for i in range(3):
            row = 3 * places[p] + i
            for q in range(p, count):
                column = 3 * places[q]
                if row >= size:
                    add_three(source, 3 * p + i, 3 * q, rest, row - size, column - size)
                elif column >= size:
                    add_three(source, 3 * p + i, 3 * q, across, row, column - size)
                else:
                    add_three(source, 3 * p + i, 3 * q, own, row, column)


@kernel
def add_three(source, i, j, target, k, l):
    target[k, l] += source[i, j]
    target[k, l + 1] += source[i, j + 1]
    target[k, l + 2] += source[i, j + 2]


@kernel
def row_of_six(table, i):
    return table[i, 0], table[i, 1], table[i, 2], table[i, 3], table[i, 4], table[i, 5]


@entry
def solve_down(values: Vector, fronts: Table, rest: Indices, x: Vector, gathered: Vector, end: Int):
    """x = U^-T x for the fronts before `end`; the numbers of x are in the order of elimination."""
    for f in range(end):
        own, others, at, across, start, first = row_of_six(fronts, f)
        for k in range(others):
            gathered[k] = 0.0
        for i in range(own):
            row = at + i * own
            y = x[first + i] / values[row + i]
            x[first + i] = y
            for j in range(i + 1, own):
                x[first + j] -= values[row + j] * y
            row = across + i * others
            for j in range(others):
                gathered[j] += values[row + j] * y
        for k in range(others // 3):
            place = 3 * rest[start + k]
            for i in range(3):
                x[place + i] -= gathered[3 * k + i]


@entry
def solve_up(values: Vector, fronts: Table, rest: Indices, x: Vector, gathered: Vector, end: Int):
    """x = U^-1 x for the fronts before `end`, those behind being solved."""
    for f in range(end - 1, -1, -1):
        own, others, at, across, start, first = row_of_six(fronts, f)
        for k in range(others // 3):
            place = 3 * rest[start + k]
            for i in range(3):
                gathered[3 * k + i] = x[place + i]
        for i in range(own - 1, -1, -1):
            row = across + i * others
            a, b, c, d = x[first + i], 0.0, 0.0, 0.0
            whole = others // 4 * 4
            for j in range(0, whole, 4):
                a -= values[row + j] * gathered[j]
                b -= values[row + j + 1] * gathered[j + 1]
                c -= values[row + j + 2] * gathered[j + 2]
                d -= values[row + j + 3] * gathered[j + 3]
            for j in range(whole, others):
                a -= values[row + j] * gathered[j]
            row = at + i * own
            for j in range(i + 1, own):
                b -= values[row + j] * x[first + j]
            x[first + i] = (a + b + c + d) / values[row + i]
