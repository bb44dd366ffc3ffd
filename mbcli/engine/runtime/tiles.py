"""Tiles: eight rows of one register each, in matrices whose rows are some registers apart."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import element, set_element, subtract_product


@kernel
def subtract_products(values, lanes, target, target_step, above, beside, step, count):
    """The tile at target loses the sum over `count` rows of those of `above`, transposed, times those of `beside`.

    target, above and beside: first registers; target_step, step: registers from a row to the next.
    """
    t = target_step
    c0, c1 = element(lanes, target), element(lanes, target + t)
    c2, c3 = element(lanes, target + 2 * t), element(lanes, target + 3 * t)
    c4, c5 = element(lanes, target + 4 * t), element(lanes, target + 5 * t)
    c6, c7 = element(lanes, target + 6 * t), element(lanes, target + 7 * t)
    for k in range(count):
        row, a = element(lanes, beside + k * step), 8 * (above + k * step)
        c0 = subtract_product(c0, row, element(values, a))
        c1 = subtract_product(c1, row, element(values, a + 1))
        c2 = subtract_product(c2, row, element(values, a + 2))
        c3 = subtract_product(c3, row, element(values, a + 3))
        c4 = subtract_product(c4, row, element(values, a + 4))
        c5 = subtract_product(c5, row, element(values, a + 5))
        c6 = subtract_product(c6, row, element(values, a + 6))
        c7 = subtract_product(c7, row, element(values, a + 7))
    set_tile(lanes, target, t, (c0, c1, c2, c3, c4, c5, c6, c7))


@kernel
def set_tile(lanes, target, step, rows):
    """Eight registers, which are step apart."""
    set_element(lanes, target, rows[0])
    set_element(lanes, target + step, rows[1])
    set_element(lanes, target + 2 * step, rows[2])
    set_element(lanes, target + 3 * step, rows[3])
    set_element(lanes, target + 4 * step, rows[4])
    set_element(lanes, target + 5 * step, rows[5])
    set_element(lanes, target + 6 * step, rows[6])
    set_element(lanes, target + 7 * step, rows[7])
