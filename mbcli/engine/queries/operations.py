"""A list of operations on numbers, as arrays: what was recorded once is done as often as wanted.

Each operation reads numbers of one array and writes another one of it, so that no compiler joins two of them: results
are those of the same operations in NumPy, to the last bit.
"""

from mbcli.engine.runtime.kernel import OutVector, Table, entry
from mbcli.engine.smooth.trigonometry import square_root

# what an operation does with the numbers at places a and b; of LARGEST and CHOSEN a is the first of FOUR
SUM, DIFFERENCE, PRODUCT, QUOTIENT, NEGATIVE, ROOT, COPY = range(7)
LARGEST, CHOSEN, SIGNED = range(7, 10)
FOUR = 4


@entry
def run_operations(operations: Table, numbers: OutVector):
    """operations (n, 4): (what, place of the result, a, b), one after another.

    LARGEST: which of four is the largest, the first of equal ones. CHOSEN: of four the one that b says. SIGNED: b, or
    -b where a < 0.
    """
    for i in range(operations.shape[0]):
        what, a, b = operations[i, 0], numbers[operations[i, 2]], numbers[operations[i, 3]]
        if what == SUM:
            found = a + b
        elif what == DIFFERENCE:
            found = a - b
        elif what == PRODUCT:
            found = a * b
        elif what == QUOTIENT:
            found = a / b
        elif what == NEGATIVE:
            found = -a
        elif what == ROOT:
            found = square_root(a)
        elif what == LARGEST:
            found, largest = 0.0, a
            for k in range(1, FOUR):
                other = numbers[operations[i, 2] + k]
                if other > largest:
                    found, largest = float(k), other
        elif what == CHOSEN:
            found = numbers[operations[i, 2] + int(b)]
        elif what == SIGNED:
            found = -b if a < 0.0 else b
        else:  # COPY
            found = a
        numbers[operations[i, 1]] = found
