"""What tests of code for pydrake compare with: equal numbers of any type, copies by pickle, warnings of old names."""

import unittest
import warnings

import numpy as np
import pytest

from mbcli.autodiffutils import AutoDiffXd
from mbcli.common.deprecation import DrakeDeprecationWarning
from mbcli.common.test_utilities import numpy_compare as compare
from mbcli.common.test_utilities.deprecation import catch_drake_warnings
from mbcli.common.test_utilities.pickle_compare import assert_pickle

X = AutoDiffXd(2.0, [1.0, 0.5])
SAME, OTHER_RATE, OTHER_VALUE = AutoDiffXd(2.0, [1.0, 0.5]), AutoDiffXd(2.0, [1.0, 0.6]), AutoDiffXd(2.1, [1.0, 0.5])


def test_values_are_those_of_any_type():
    assert compare.to_float([[X, 3], [4.5, OTHER_VALUE]]).tolist() == [[2.0, 3.0], [4.5, 2.1]]
    assert compare.to_float(X) == 2.0 and compare.to_float(np.array(7)) == 7.0


EQUAL = (
    (1.5, 1.5),
    ([1.0, np.nan], [1.0, np.nan]),
    (X, SAME),
    ([X, 1.0], [SAME, 1.0]),
    (np.array([1, 2.5], dtype=object), ["1", "2.5"]),
)


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_what_is_equal(a, b):
    compare.assert_equal(a, b)


@pytest.mark.parametrize(("a", "b"), [(1.5, 1.6), ([1.0, 2.0], [1.0, 3.0]), (X, OTHER_RATE), (X, OTHER_VALUE)])
def test_what_is_not(a, b):
    with pytest.raises(AssertionError):
        compare.assert_equal(a, b)
    compare.assert_not_equal(a, b)
    with pytest.raises(AssertionError):
        compare.assert_not_equal(a, a)


def test_no_elements_are_not_unequal():
    with pytest.raises(AssertionError, match="no elements"):
        compare.assert_not_equal([], [])


def test_tolerances_are_of_values_and_of_derivatives():
    compare.assert_allclose([X], [OTHER_VALUE], atol=0.2)
    compare.assert_allclose([X], [OTHER_VALUE], rtol=0.1)
    for other in (OTHER_VALUE, OTHER_RATE):
        with pytest.raises(AssertionError):
            compare.assert_allclose([X], [other], atol=0.01)
    compare.assert_float_equal([X, 1.0], [2.0, 1.0])
    compare.assert_float_not_equal([X, 1.0], [2.0, 1.1])
    compare.assert_float_allclose([X], [2.05], atol=0.1)
    with pytest.raises(AssertionError):
        compare.assert_float_allclose([X], [2.05])
    with pytest.raises(AssertionError):
        compare.assert_float_equal([X], [2.05])
    with pytest.raises(AssertionError):
        compare.assert_float_not_equal([X], [2.0])


def test_the_type_of_elements():
    assert compare.resolve_type(np.array([1.0, 2.0])) in (float, np.float64)
    assert compare.resolve_type(np.array([X, SAME])) is AutoDiffXd
    with pytest.raises(AssertionError, match="have the types"):
        compare.resolve_type(np.array([X, 1.0], dtype=object))


def test_a_check_runs_with_each_type():
    seen = []
    compare.check_nonsymbolic_types(lambda word, T: seen.append((word, T)))("a")
    assert seen == [("a", float), ("a", AutoDiffXd)]
    pytest.importorskip("sympy")
    from mbcli.symbolic import Expression

    compare.check_all_types(lambda T: seen.append(T))()
    assert seen[2:] == [float, AutoDiffXd, Expression]


def test_a_hint_is_printed_of_what_fails_alone(capsys):
    with compare.soft_sub_test("here"):
        pass
    assert capsys.readouterr().out == ""
    with pytest.raises(KeyError), compare.soft_sub_test("here"):
        raise KeyError
    assert capsys.readouterr().out == "soft_sub_test: here\n"


class Kept:
    """Values, of which pickling may lose one."""

    def __init__(self, loses=False):
        self.numbers, self.words, self.loses = np.arange(3.0), {"a": [1, 2]}, loses

    def __getstate__(self):
        return {**vars(self), "words": {}} if self.loses else vars(self)


def test_what_survives_pickling():
    test = unittest.TestCase()
    assert_pickle(test, Kept())
    with pytest.raises(AssertionError):
        assert_pickle(test, Kept(loses=True))
    assert_pickle(test, Kept(loses=True), lambda kept: kept.numbers)


def test_warnings_of_old_names_are_caught_and_counted():
    with catch_drake_warnings(expected_count=1) as caught:
        warnings.warn("old", DrakeDeprecationWarning, stacklevel=1)
    assert [str(each.message) for each in caught] == ["old"]
    with pytest.raises(ValueError, match="expected 2 warnings"), catch_drake_warnings(expected_count=2):
        warnings.warn("old", DrakeDeprecationWarning, stacklevel=1)
