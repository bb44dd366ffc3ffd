"""Whether objects survive pickling, under the name of pydrake.common.test_utilities."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.test_utilities.numpy_compare import assert_equal

if TYPE_CHECKING:
    from collections.abc import Callable


def assert_pickle(test: Any, obj: Any, value_to_compare: Callable[[Any], Any] = vars, T: Any = None) -> None:
    """An object has the same value after it is pickled and read again. AssertionError if not.

    Args:
        test: a unittest.TestCase.
        value_to_compare: obj -> its value: arrays, lists, dictionaries of them, or anything that has ==.
        T: as in pydrake, without a meaning.
    """
    _compare(test, value_to_compare(obj), value_to_compare(pickle.loads(pickle.dumps(obj))))


def _compare(test: Any, a: Any, b: Any) -> None:
    if isinstance(a, dict):
        test.assertEqual(a.keys(), b.keys())
        for key in a:
            _compare(test, a[key], b[key])
    elif isinstance(a, (np.ndarray, list)):
        assert_equal(a, b)
    else:
        test.assertEqual(a, b)
