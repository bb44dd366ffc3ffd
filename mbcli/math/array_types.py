"""Names for arrays in annotations. A name gives the shape that the docstring states with units and frames.

The aliases are numpy arrays to a type checker, which does not follow shapes. Their elements are what went in: float64,
or complex numbers, dual numbers (AutoDiffXd) and formulas (Expression), so the aliases leave the type of elements open.
Annotations import this module for type checkers only: numpy.typing takes 14 ms to load, a tenth of numpy itself.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Scalar: TypeAlias = Any
"""One number: a float, or a complex number, AutoDiffXd or Expression if those went in."""

Array: TypeAlias = NDArray[Any]
"""Numbers of a scalar type, of a shape that the docstring states."""

Vector: TypeAlias = NDArray[Any]
"""(n,)"""

Vector3: TypeAlias = NDArray[Any]
"""(3,)"""

Vector4: TypeAlias = NDArray[Any]
"""(4,)"""

Vector6: TypeAlias = NDArray[Any]
"""(6,), the rotational part first."""

Matrix: TypeAlias = NDArray[Any]
"""(m, n)"""

Matrix3: TypeAlias = NDArray[Any]
"""(3, 3)"""

Matrix34: TypeAlias = NDArray[Any]
"""(3, 4)"""

Matrix4: TypeAlias = NDArray[Any]
"""(4, 4)"""

Matrix6: TypeAlias = NDArray[Any]
"""(6, 6), rotational rows and columns first."""

Points: TypeAlias = NDArray[Any]
"""(3, n), one point a column."""

FloatArray: TypeAlias = NDArray[np.float64]
"""Numbers that are always floats."""

IntArray: TypeAlias = NDArray[np.int64]
"""Whole numbers: indices and counts."""

BoolArray: TypeAlias = NDArray[np.bool_]
"""Answers, one for each element."""
