"""Numbers from text: the nearest double, whatever the digits, or a careful look."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from mbcli.batch.number_lines import LinePlan, powers_of_ten
from mbcli.engine import load_kernels
from mbcli.engine.fields.line_fields import PLACE_ROW, PLACE_TEXT
from mbcli.engine.text.number_rows import LARGEST_POWER

COMPILED = pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])


def read(texts, compiled, strict=False):
    """(the numbers that one call of the kernel each has read of the lines `texts`, NaN for others)"""
    lines = [text.encode() for text in texts]
    data = np.frombuffer(b"\n".join([*lines, b""]), np.int8)
    kernel, plan = load_kernels(compiled).read_lines, LinePlan([(b"", 1, 0)], b",", strict)
    values, place = np.full((len(texts), 1), np.nan), np.zeros(2, dtype=np.int64)
    while place[PLACE_ROW] < len(texts):
        kernel(data, plan.marks, plan.numbers, powers_of_ten(), values, place)
        if place[PLACE_ROW] < len(texts):  # leaves this line out
            values[place[PLACE_ROW]] = np.nan
            place[PLACE_TEXT] += len(lines[place[PLACE_ROW]]) + 1
            place[PLACE_ROW] += 1
    return values[:, 0]


def bits(values):
    return np.asarray(values, dtype=float).view(np.int64).tolist()


def random_doubles(count, seed, largest=60):
    random = np.random.default_rng(seed)
    return (random.uniform(-1.0, 1.0, count) * 10.0 ** random.integers(-largest, largest, count)).tolist()


@COMPILED
@pytest.mark.parametrize("form", ["%r", "%.18e", "%.17g", "%.16e", "%.12e", "%.5f", "%.25e", "%d"])
def test_numbers_become_the_nearest_doubles(form, compiled):
    count = 20_000 if compiled else 500
    texts = [form % x for x in random_doubles(count, 1, 4 if form in ("%.5f", "%d") else 60)]
    values = read(texts, compiled)
    assert bits(values) == bits([float(text) for text in texts])


@COMPILED
def test_numbers_next_to_the_middle_of_two_doubles_are_right_or_left_out(compiled):
    """The middle has up to 60 digits here: with fewer, texts are next to it on either side."""
    right, left_out = 0, 0
    for x in random_doubles(1000 if compiled else 100, 2, 8):
        with localcontext() as context:
            context.prec = 60
            middle = (Decimal(x) + Decimal(float(np.nextafter(x, np.inf)))) / 2
            near = [f"{middle:.{digits}e}" for digits in (15, 16, 17, 18, 20, 25, 30)] + [str(middle)]
        values = read(near, compiled)
        known = np.isfinite(values)
        assert bits(values[known]) == bits([float(text) for text, k in zip(near, known, strict=True) if k])
        right, left_out = right + known.sum(), left_out + (~known).sum()
    assert right > left_out > 0


@COMPILED
@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("0", "both"),
        ("-0", "both"),
        ("-0.0e5", "both"),
        ("0e400", "both"),
        ("1e22", "both"),
        ("9007199254740991", "both"),
        ("123456789012345678", "both"),
        ("0.1234567890123456789012345678901234", "both"),
        ("1E5", "both"),
        ("1e+5", "both"),
        (" 1", "both"),
        ("1 ", "both"),
        ("\t1\t", "both"),
        ("1\r", "both"),
        ("+1", "csv"),
        ("01", "csv"),
        ("-00.5", "csv"),
        (".5", "csv"),
        ("5.", "csv"),
        ("5.e3", "csv"),
        ("", "none"),
        (" ", "none"),
        ("-", "none"),
        ("+-1", "none"),
        ("--1", "none"),
        (".", "none"),
        ("e5", "none"),
        ("1e", "none"),
        ("1e+", "none"),
        ("1e5.", "none"),
        ("1.2.3", "none"),
        ("1x", "none"),
        ("1\r\r", "none"),
        ("1,2", "none"),
        ("inf", "none"),
        ("nan", "none"),
        ("0x10", "none"),
        ("1_000", "none"),
        ("\u0661", "none"),
    ],
)
def test_forms_of_numbers(text, forms, compiled):
    expected = np.nan if forms == "none" else float(text)
    assert bits(read([text, "7"], compiled)) == bits([expected, 7.0])
    assert bits(read([text, "7"], compiled, strict=True)) == bits([expected if forms == "both" else np.nan, 7.0])


@COMPILED
@pytest.mark.parametrize(
    "text", ["1e400", "1e-400", "5e-324", "2e308", "1e101", "1234567890123456789", "1" * 40, "1e23"]
)
def test_rare_numbers_are_left_to_a_careful_look(text, compiled):
    assert np.isnan(read([text], compiled)).all()


def test_powers_of_ten_are_known_to_106_bits():
    for k, (high, low, *halves) in enumerate(powers_of_ten().tolist()):
        power = Fraction(10) ** (k - LARGEST_POWER)
        assert high == float(power)
        assert sum(halves) == high
        assert abs(Fraction(high) + Fraction(low) - power) <= power * Fraction(2) ** -106


def test_a_kernel_takes_text_of_bytes_only():
    """Characters of other sizes are refused, not read as if they were bytes."""
    from mbcli.engine.runtime.precompiled import precompiled_library

    if precompiled_library() is None:
        pytest.skip("kernels are not precompiled")
    kernel, plan = load_kernels(True).read_lines, LinePlan([(b"", 1, 0)], b",", False)
    with pytest.raises(TypeError):
        kernel(
            np.zeros(3, np.int64), plan.marks, plan.numbers, powers_of_ten(), np.zeros((1, 1)), np.zeros(2, np.int64)
        )
