"""Vectors and states that systems read and write, under the names of pydrake.systems.framework."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.value import AbstractValue, copied
from mbcli.math.array_arguments import as_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array


def nothing_changes() -> None:
    """What is told of changes of a vector that no context holds."""


class VectorBase:
    """A vector with methods to read and to set it; what makes one says where its numbers are, by _get and _put."""

    def _get(self) -> Array:
        raise NotImplementedError

    def _put(self, values: Array) -> None:
        raise NotImplementedError

    def size(self) -> int:
        """The number of elements."""
        return int(self._get().size)

    def CopyToVector(self) -> Array:
        """The elements, a new array (n,)."""
        return self._get().copy()

    _get_value_copy = CopyToVector  # of arrays of objects pydrake has no views

    def SetFromVector(self, value: ArrayLike) -> None:
        """Replaces the elements (n,). IndexError for another number of them."""
        self._put(self._fitting(value))

    def SetFrom(self, value: VectorBase) -> None:
        """Takes the elements of another vector."""
        self.SetFromVector(value.CopyToVector())

    def Clone(self) -> BasicVector:
        """A vector of its own with the same elements."""
        return BasicVector(self._get())

    def SetZero(self) -> None:
        """Makes all elements zero."""
        self._put(np.zeros(self.size()))

    def GetAtIndex(self, index: int) -> Any:
        """One element. IndexError if there is none."""
        return self._get()[self._place(index)]

    def SetAtIndex(self, index: int, value: Any) -> None:
        """Replaces one element. IndexError if there is none."""
        values = self._get().copy()
        place = self._place(index)
        if not isinstance(value, (int, float, np.number)) and values.dtype != object:
            values = values.astype(object)
        values[place] = value
        self._put(values)

    def PlusEqScaled(self, scale: Any, rhs: VectorBase) -> VectorBase:
        """Adds a multiple of another vector."""
        self.SetFromVector(self._get() + scale * rhs.CopyToVector())
        return self

    def __len__(self) -> int:
        return self.size()

    def __getitem__(self, index: Any) -> Any:
        found = self._get()[index]
        return float(found) if type(found) is np.float64 else found

    def __setitem__(self, index: int, value: Any) -> None:
        self.SetAtIndex(index, value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self._get(), dtype=dtype)

    def __str__(self) -> str:
        return str(self._get().tolist())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def _place(self, index: int) -> int:
        if not 0 <= index < self.size():
            raise IndexError(f"there is no element {index}, the vector has {self.size()}")
        return index

    def _fitting(self, value: ArrayLike) -> Array:
        array = as_numbers(value, "value")
        if array.size != self.size() or array.ndim > 2 or array.ndim == 2 and 1 not in array.shape:
            raise IndexError(f"the vector has {self.size()} elements, not {array.size}")
        return array.reshape(-1)


class BasicVector(VectorBase):
    """A vector of its own numbers.

    Args:
        data: its elements (n,), or their number; those are zero.
    """

    def __init__(self, data: ArrayLike | int = 0, *, size: int | None = None) -> None:
        given: Any = data if size is None else size
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
            self.numbers = np.zeros(int(given))
        else:
            self.numbers = np.array(as_numbers(given, "data")).reshape(-1)
        self.changed: Callable[[], None] = nothing_changes

    def _get(self) -> Array:
        return self.numbers

    def size(self) -> int:
        """The number of elements."""
        return self.numbers.size

    def CopyToVector(self) -> Array:
        """The elements.

        Returns:
          A new array (n,), in [unit of each element].

        Example:
          >>> BasicVector([1.0, 2.0]).CopyToVector()
          array([1., 2.])
        """
        return self.numbers.copy()

    def SetFromVector(self, value: ArrayLike) -> None:
        """Replaces the elements.

        Args:
          value: (n,), in [unit of each element].

        Raises:
          IndexError: another number of them.

        Example:
          >>> vector = BasicVector(2)
          >>> vector.SetFromVector([1.0, 2.0])
          >>> vector.value()
          array([1., 2.])
        """
        own = self.numbers
        if type(value) is np.ndarray and value.dtype is own.dtype and value.shape == own.shape:
            own[:] = value
            self.changed()
        else:
            self._put(self._fitting(value))

    def SetFrom(self, value: VectorBase) -> None:
        """Takes the elements of another vector."""
        self.SetFromVector(value.numbers if isinstance(value, BasicVector) else value.CopyToVector())

    def _put(self, values: Array) -> None:
        if values.dtype == self.numbers.dtype:
            self.numbers[:] = values
        else:  # numbers of another type
            self.numbers = values.copy()
        self.changed()

    def get_value(self) -> Array:
        """The elements (n,), read-only."""
        view = self.numbers.view()
        view.flags.writeable = False
        return view

    value = get_value

    def get_mutable_value(self) -> Array:
        """The array of the elements (n,) itself, to write into."""
        self.changed()
        return self.numbers

    def set_value(self, value: ArrayLike) -> None:
        """Replaces the elements."""
        self.SetFromVector(value)

    def Clone(self) -> BasicVector:
        """An independent copy."""
        return self.__copy__()

    def __copy__(self) -> BasicVector:
        other = object.__new__(type(self))
        if type(self) is not BasicVector:  # which may have more
            other.__dict__.update(self.__dict__)
        other.numbers, other.changed = self.numbers.copy(), nothing_changes
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> BasicVector:
        return copy(self)

    def follow_changes(self, changed: Callable[[], None]) -> BasicVector:
        """Itself, which tells of its changes from now on."""
        self.changed = changed
        return self


class PlacedVector(VectorBase):
    """A vector whose numbers are elsewhere: read() gives them and write(values) replaces them.

    memory: gives the array itself, to write into, if there is one.
    """

    def __init__(
        self,
        read: Callable[[], Array],
        write: Callable[[Array], object],
        memory: Callable[[], Array] | None = None,
    ) -> None:
        self._read, self._write, self._memory = read, write, memory

    def _get(self) -> Array:
        return self._read()

    def _put(self, values: Array) -> None:
        self._write(values)

    def get_value(self) -> Array:
        """The elements, a new array (n,)."""
        return self._read().copy()

    value = get_value

    def get_mutable_value(self) -> Array:
        """The array of the elements itself. RuntimeError if they are in several arrays."""
        if self._memory is None:
            raise RuntimeError("the vector has its elements in several arrays: SetFromVector() sets them")
        return self._memory()

    def set_value(self, value: ArrayLike) -> None:
        """Replaces the elements."""
        self.SetFromVector(value)


def Subvector(vector: VectorBase, first_element: int, num_elements: int) -> PlacedVector:
    """Elements of a vector as one of its own."""
    part = slice(first_element, first_element + num_elements)

    def write(values: Array) -> None:
        whole = vector.CopyToVector()
        whole = whole.astype(np.result_type(whole, values))
        whole[part] = values
        vector.SetFromVector(whole)

    def memory() -> Array:
        whole: Any = vector
        return whole.get_mutable_value()[part]

    return PlacedVector(lambda: vector[part], write, memory)


def joined(parts: Sequence[VectorBase]) -> VectorBase:
    """Several vectors as one, one after another."""
    parts = [part for part in parts if part.size()]
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(part.size() for part in parts)])

    def write(values: Array) -> None:
        for part, start, end in zip(parts, ends, ends[1:], strict=False):
            part.SetFromVector(values[start:end])

    def read() -> Array:
        return np.concatenate([part.CopyToVector() for part in parts]) if parts else np.zeros(0)

    return PlacedVector(read, write)


class ContinuousState:
    """A continuous state or its time derivative: positions q, velocities v and other numbers z of each system.

    Args:
        state: the whole vector.
        num_q, num_v, num_z: how many of each, one kind after another; all z if not given.
    """

    def __init__(
        self,
        state: VectorBase | None = None,
        num_q: int | None = None,
        num_v: int | None = None,
        num_z: int | None = None,
        kinds: str | None = None,
    ) -> None:
        self._vector = BasicVector(0) if state is None else state
        size = self._vector.size()
        if kinds is None:
            if num_q is None and num_v is None and num_z is None:
                num_z = size
            counts = (num_q or 0, num_v or 0, num_z or 0)
            if sum(counts) != size:
                raise RuntimeError(f"a state of {size} numbers is not {counts[0]} + {counts[1]} + {counts[2]}")
            kinds = "q" * counts[0] + "v" * counts[1] + "z" * counts[2]
        self.kinds = kinds  # a letter q, v or z for each element

    def size(self) -> int:
        """The number of elements."""
        return self._vector.size()

    def num_q(self) -> int:
        """The number of positions."""
        return self.kinds.count("q")

    def num_v(self) -> int:
        """The number of velocities."""
        return self.kinds.count("v")

    def num_z(self) -> int:
        """The number of the others."""
        return self.kinds.count("z")

    def get_vector(self) -> VectorBase:
        """The whole vector."""
        return self._vector

    get_mutable_vector = get_vector

    def CopyToVector(self) -> Array:
        """All elements, a new array (n,)."""
        return self._vector.CopyToVector()

    def SetFromVector(self, value: ArrayLike) -> None:
        """Replaces all elements."""
        self._vector.SetFromVector(value)

    def SetFrom(self, other: ContinuousState) -> None:
        """Takes the elements of another one."""
        self._vector.SetFromVector(other.CopyToVector())

    def Clone(self) -> ContinuousState:
        """An independent copy."""
        return ContinuousState(BasicVector(self._vector.CopyToVector()), kinds=self.kinds)

    def get_generalized_position(self) -> VectorBase:
        """The positions q."""
        return self._of("q")

    get_mutable_generalized_position = get_generalized_position

    def get_generalized_velocity(self) -> VectorBase:
        """The velocities v."""
        return self._of("v")

    get_mutable_generalized_velocity = get_generalized_velocity

    def get_misc_continuous_state(self) -> VectorBase:
        """The others, z."""
        return self._of("z")

    get_mutable_misc_continuous_state = get_misc_continuous_state

    def _of(self, kind: str) -> VectorBase:
        places = np.flatnonzero([k == kind for k in self.kinds])
        start, count = (int(places[0]) if places.size else 0), places.size
        if (places == np.arange(start, start + count)).all():
            return Subvector(self._vector, start, count)

        def write(values: Array) -> None:
            whole = self._vector.CopyToVector()
            whole[places] = values
            self._vector.SetFromVector(whole)

        return PlacedVector(lambda: self._vector.CopyToVector()[places], write)

    def __len__(self) -> int:
        return self.size()

    def __getitem__(self, index: int) -> Any:
        return self._vector[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self._vector.SetAtIndex(index, value)


class DiscreteValues:
    """Groups of discrete state: a list of vectors. With one group, its elements are those of the whole.

    Args:
        data: the groups, or one vector.
    """

    def __init__(self, data: VectorBase | Sequence[VectorBase] = (), *, datum: VectorBase | None = None) -> None:
        data = data if datum is None else datum
        self.groups = [data] if isinstance(data, VectorBase) else list(data)

    def num_groups(self) -> int:
        """The number of groups."""
        return len(self.groups)

    def get_data(self) -> list[VectorBase]:
        """The groups."""
        return list(self.groups)

    def get_vector(self, index: int = 0) -> Any:
        """A group. RuntimeError if there is none."""
        if not 0 <= int(index) < len(self.groups):
            raise RuntimeError(f"there is no discrete state group {int(index)}, there are {len(self.groups)}")
        return self.groups[int(index)]

    get_mutable_vector = get_vector

    def get_value(self, index: int = 0) -> Array:
        """The elements of a group, read-only."""
        return self.get_vector(index).get_value()

    value = get_value

    def get_mutable_value(self, index: int = 0) -> Array:
        """The array of the elements of a group, to write into."""
        return self.get_vector(index).get_mutable_value()

    def set_value(self, *index_and_value: Any, index: Any = None, value: Any = None) -> None:
        """set_value(value) or set_value(index, value) replaces the elements of a group."""
        *place, value = [*index_and_value, *([] if value is None else [value])]
        place = place if index is None else [index]
        self.get_vector(*place).SetFromVector(value)

    def SetFrom(self, other: DiscreteValues) -> None:
        """Takes the elements of all groups of another one."""
        for own, theirs in zip(self.groups, other.groups, strict=True):
            own.SetFrom(theirs)

    def Clone(self) -> DiscreteValues:
        """An independent copy."""
        return DiscreteValues([group.Clone() for group in self.groups])

    def size(self) -> int:
        """The number of elements of the only group."""
        return self._only().size()

    def _only(self) -> Any:
        if len(self.groups) != 1:
            raise RuntimeError(f"the discrete state has {len(self.groups)} groups, say which one is meant")
        return self.groups[0]

    def __len__(self) -> int:
        return self.size()

    def __getitem__(self, index: int) -> Any:
        return self._only()[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self._only().SetAtIndex(index, value)


class AbstractValues:
    """A list of AbstractValue."""

    def __init__(self, data: Sequence[AbstractValue] = ()) -> None:
        self.values = list(data)

    def size(self) -> int:
        """The number of values."""
        return len(self.values)

    def get_data(self) -> list[AbstractValue]:
        """All of them."""
        return list(self.values)

    def get_value(self, index: int) -> AbstractValue:
        """One of them. RuntimeError if there is none."""
        if not 0 <= int(index) < len(self.values):
            raise RuntimeError(f"there is no abstract value {int(index)}, there are {len(self.values)}")
        return self.values[int(index)]

    get_mutable_value = get_value

    def SetFrom(self, other: AbstractValues) -> None:
        """Takes copies of the objects of another one."""
        for own, theirs in zip(self.values, other.values, strict=True):
            own.set_value(copied(theirs.get_value()))

    def Clone(self) -> AbstractValues:
        """An independent copy."""
        return AbstractValues([value.Clone() for value in self.values])


class State:
    """Continuous, discrete and abstract state."""

    def __init__(self, continuous: ContinuousState, discrete: DiscreteValues, abstract: AbstractValues) -> None:
        self._continuous, self._discrete, self._abstract = continuous, discrete, abstract

    def get_continuous_state(self) -> ContinuousState:
        """The ContinuousState."""
        return self._continuous

    get_mutable_continuous_state = get_continuous_state

    def get_discrete_state(self, index: int | None = None) -> Any:
        """The DiscreteValues, or one group of them."""
        return self._discrete if index is None else self._discrete.get_vector(index)

    get_mutable_discrete_state = get_discrete_state

    def get_abstract_state(self, index: int | None = None) -> Any:
        """The AbstractValues, or one AbstractValue of them."""
        return self._abstract if index is None else self._abstract.get_value(index)

    get_mutable_abstract_state = get_abstract_state

    def SetFrom(self, other: State) -> None:
        """Takes all of another one."""
        if self._continuous.size():
            self._continuous.SetFrom(other.get_continuous_state())
        self._discrete.SetFrom(other.get_discrete_state())
        self._abstract.SetFrom(other.get_abstract_state())

    def Clone(self) -> State:
        """An independent copy."""
        return State(self._continuous.Clone(), self._discrete.Clone(), self._abstract.Clone())


class Parameters:
    """Numeric parameters, a list of vectors, and abstract ones."""

    def __init__(self, numeric: Sequence[BasicVector] = (), abstract: Sequence[AbstractValue] = ()) -> None:
        self._numeric, self._abstract = DiscreteValues(numeric), AbstractValues(abstract)

    def num_numeric_parameter_groups(self) -> int:
        """The number of vectors."""
        return self._numeric.num_groups()

    def num_abstract_parameters(self) -> int:
        """The number of other parameters."""
        return self._abstract.size()

    def get_numeric_parameter(self, index: int) -> Any:
        """A vector. RuntimeError if there is none."""
        return self._numeric.get_vector(index)

    get_mutable_numeric_parameter = get_numeric_parameter

    def get_abstract_parameter(self, index: int) -> AbstractValue:
        """An AbstractValue. RuntimeError if there is none."""
        return self._abstract.get_value(index)

    get_mutable_abstract_parameter = get_abstract_parameter

    def get_numeric_parameters(self) -> DiscreteValues:
        """All vectors."""
        return self._numeric

    def get_abstract_parameters(self) -> AbstractValues:
        """All others."""
        return self._abstract

    def SetFrom(self, other: Parameters) -> None:
        """Takes all of another one."""
        self._numeric.SetFrom(other.get_numeric_parameters())
        self._abstract.SetFrom(other.get_abstract_parameters())
