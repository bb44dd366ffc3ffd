"""Rows of numbers from lines of text that are all alike.

A decimal w 10^e becomes the nearest double: w and the power of ten are sums of two doubles, and so is their product,
whose error is below 2^-100 of it. That decides between two neighbours but for numbers that lie next to the middle of
them; those are left to the caller, and so is whatever else is rare. Products without error: Dekker 1971. The test
whether an error matters: Ziv 1991.

text: characters, the last of which is a line feed. An interpreted number takes 10 us, a compiled one 20 ns.
"""

from mbcli.engine.fields.line_fields import (
    GROUP_COLUMN,
    GROUP_COUNT,
    GROUP_MARK,
    GROUP_MARK_SIZE,
    GROUP_SIZE,
    PLACE_ROW,
    PLACE_TEXT,
    PLAN_BLANK,
    PLAN_END,
    PLAN_GROUPS,
    PLAN_SEPARATOR,
    PLAN_STRICT,
)
from mbcli.engine.runtime.kernel import Indices, Matrix, Text, kernel, unlocked

# characters
LINE_FEED, RETURN, SPACE, PLUS, MINUS, POINT, ZERO, NINE = 10, 13, 32, 43, 45, 46, 48, 57
CAPITAL_E, SMALL_E = 69, 101

MOST_DIGITS = 18  # that an integer of 64 bits has room for, whatever they are
EXACT = 1 << 53  # integers up to here, and powers of ten up to 10^22, are doubles
LARGEST_EXACT_POWER = 22
LARGEST_POWER = 100  # of the table: 10^k for k from -100 to 100
HALVES = 134217729.0  # 2^27 + 1: parts a double into two of half of the digits
CERTAIN = 1.0 + 2.0**-44  # by how much more a remainder may be, for all that is known of it


@kernel
def digits_at(text, i, stop, w):
    """(w with the digits from text[i] to text[stop - 1] behind it, the place after the last one)"""
    c = int(text[i])
    while c >= ZERO and c <= NINE and i < stop:
        w = 10 * w + (c - ZERO)
        i += 1
        c = int(text[i])
    return w, i


@kernel
def is_digit(text, i):
    return text[i] >= ZERO and text[i] <= NINE


@kernel
def after_spaces(text, i, blank):
    """The first place from i on that is neither a space nor `blank`."""
    while text[i] == SPACE or text[i] == blank:
        i += 1
    return i


@kernel
def halves_of(x):
    """x as a sum of two doubles whose products with such halves are exact."""
    c = HALVES * x
    high = c - (c - x)
    return high, x - high


@kernel
def times_power(x, y, k, powers):
    """(x + y) 10^k as a sum of two doubles, the second one small; y is small beside x."""
    row = k + LARGEST_POWER
    p = powers[row, 0]
    product = x * p
    x_high, x_low = halves_of(x)
    p_high, p_low = powers[row, 2], powers[row, 3]
    rest = ((x_high * p_high - product) + x_high * p_low + x_low * p_high) + x_low * p_low
    rest += x * powers[row, 1] + y * p
    total = product + rest
    return total, rest - (total - product)


@kernel
def number_at(text, i, strict, powers):
    """(the number at text[i], the place after it, whether it is one and its digits decide what it is).

    strict: 1: as JSON has them, 0: also +1, 01, 1. and .5.
    """
    sign = 1.0
    if text[i] == MINUS:
        sign = -1.0
        i += 1
    elif text[i] == PLUS and strict == 0:
        i += 1
    w, k = digits_at(text, i, i + MOST_DIGITS, 0)
    before, after = k - i, 0
    has_point = text[k] == POINT
    if has_point:
        w, end = digits_at(text, k + 1, k + 1 + MOST_DIGITS - before, w)
        after, k = end - k - 1, end
    if before + after == 0:
        return 0.0, i, False
    if strict == 1 and (before == 0 or (has_point and after == 0) or (before > 1 and text[i] == ZERO)):
        return 0.0, i, False
    more, num_more = 0, 0
    if is_digit(text, k):
        more, end = digits_at(text, k, k + MOST_DIGITS, 0)
        num_more, k = end - k, end
        if not has_point or is_digit(text, k):
            return 0.0, i, False
    power = -(after + num_more)
    if text[k] == SMALL_E or text[k] == CAPITAL_E:
        k += 1
        direction = 1
        if text[k] == MINUS or text[k] == PLUS:
            direction = 1 if text[k] == PLUS else -1
            k += 1
        exponent, end = digits_at(text, k, k + 4, 0)
        if end == k or is_digit(text, end):
            return 0.0, i, False
        power += direction * exponent
        k = end
    if num_more == 0 and w <= EXACT and power >= -LARGEST_EXACT_POWER and power <= LARGEST_EXACT_POWER:
        if power < 0:
            return sign * (float(w) / powers[LARGEST_POWER - power, 0]), k, True
        return sign * (float(w) * powers[LARGEST_POWER + power, 0]), k, True
    if w == 0 and more == 0:
        return sign * 0.0, k, True
    if power < -LARGEST_POWER or power > LARGEST_POWER:
        return 0.0, i, False
    x = float(w)
    y = float(w - int(x))
    if num_more > 0:
        x, y = times_power(x, y, num_more, powers)
        # the sum of two pairs; that of more is an integer and nearly as exact as an integer of 64 bits
        u = float(more)
        v = float(more - int(u))
        total = x + u
        part = total - x
        rest = (x - (total - part)) + (u - part) + (y + v)
        x = total + rest
        y = rest - (x - total)
    x, y = times_power(x, y, power, powers)
    return sign * x, k, x == x + y * CERTAIN


@kernel
def line_at(text, i, marks, plan, powers, values, row):
    """The place after the line at text[i], whose numbers become a row of values; -1 if it does not follow the plan."""
    separator, blank, strict = plan[PLAN_SEPARATOR], plan[PLAN_BLANK], plan[PLAN_STRICT]
    for g in range(plan[PLAN_GROUPS]):
        group = PLAN_END + GROUP_SIZE * g
        mark, size = plan[group + GROUP_MARK], plan[group + GROUP_MARK_SIZE]
        i = after_spaces(text, i, blank)
        for k in range(size):
            if text[i] != marks[mark + k]:  # no mark has a line feed, the last character
                return -1
            i += 1
        for k in range(plan[group + GROUP_COUNT]):
            i = after_spaces(text, i, blank)
            if k > 0:
                if text[i] != separator:
                    return -1
                i = after_spaces(text, i + 1, blank)
            x, i, is_known = number_at(text, i, strict, powers)
            if not is_known:
                return -1
            values[row, plan[group + GROUP_COLUMN] + k] = x
    i = after_spaces(text, i, blank)
    if text[i] == RETURN:
        i += 1
    if text[i] != LINE_FEED:
        return -1
    return i + 1


@unlocked
def read_lines(text: Text, marks: Text, plan: Indices, powers: Matrix, values: Matrix, place: Indices):
    """Reads lines into rows of values, from place on, until the rows or the text end or a line is of another kind.

    The numbers of a line are in groups, which may be empty, and before each of them is the same text in all lines, its
    mark. Between the numbers of a group are separators. Spaces and the character `blank` stand anywhere but in these.
    powers: a row (high, low, and the two halves of high) for each power of ten. place is moved on.
    """
    i, row = place[PLACE_TEXT], place[PLACE_ROW]
    while i < text.shape[0] and row < values.shape[0]:
        end = line_at(text, i, marks, plan, powers, values, row)
        if end < 0:
            break
        i = end
        row += 1
    place[PLACE_TEXT] = i
    place[PLACE_ROW] = row
