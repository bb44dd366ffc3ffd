"""Arrays of views: what kernels find in the structs that they are given, read and written in few instructions.

numba passes each access through a copy of the array's struct on the stack: 90 instructions for `array[i, j]`, which its
compiler builds one by one and LLVM removes again. Here an access is the address and the load, so that kernels are
compiled in less time; what they do is the same. Imported only if kernels are compiled.
"""

import operator

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, lower_cast, lower_getattr, register_model

from mbcli.engine.runtime.numba_parts import ArrayModel, arrayobj

# places in numba's struct of an array
ARRAY_ITEMS, ARRAY_ITEM_SIZE, ARRAY_DATA, ARRAY_SHAPE, ARRAY_STRIDES = range(2, 7)
INT, SMALL = ir.IntType(64), ir.IntType(32)


class ViewArray(types.Array):
    """As numba's Array."""

    def __init__(self, array):
        super().__init__(array.dtype, array.ndim, array.layout, not array.mutable, aligned=array.aligned)
        self.name = f"{type(self).__name__}({self.name})"

    @property
    def as_array(self):
        return types.Array(self.dtype, self.ndim, self.layout, not self.mutable, aligned=self.aligned)

    def copy(self, *args, **kwargs):
        """The type of a part."""
        return type(self)(super().copy(*args, **kwargs))


class CountedArray(ViewArray):
    """For indices that are not negative: nobody looks whether one counts from the end.

    That costs a comparison and a choice at every access. Such arrays are what structs of contact hand out.
    """


register_model(ViewArray)(ArrayModel)
register_model(CountedArray)(ArrayModel)


def array_in_memory(context, builder, array_type, pointer, declared):
    """The value of an array in C order whose struct is at a pointer, without its owner.

    declared: its shape as the Field has it; sizes that are numbers there become constants.
    """

    def at(*place):
        return builder.load(builder.gep(pointer, [SMALL(0), *map(SMALL, place)], inbounds=True))

    item_size = INT(context.get_abi_sizeof(context.get_data_type(array_type.dtype)))
    sizes = [INT(size) if isinstance(size, int) else at(ARRAY_SHAPE, k) for k, size in enumerate(declared)]
    strides = [item_size]
    for size in reversed(sizes[1:]):
        strides.insert(0, builder.mul(strides[0], size))
    parts = [((ARRAY_ITEMS,), at(ARRAY_ITEMS)), ((ARRAY_ITEM_SIZE,), item_size), ((ARRAY_DATA,), at(ARRAY_DATA))]
    parts += [((ARRAY_SHAPE, k), size) for k, size in enumerate(sizes)]
    parts += [((ARRAY_STRIDES, k), stride) for k, stride in enumerate(strides)]
    array = ir.Constant(context.get_value_type(array_type), None)
    for place, value in parts:
        array = builder.insert_value(array, value, place)
    return array


@lower_getattr(ViewArray, "shape")
def _shape(context, builder, array_type, array):
    return builder.extract_value(array, ARRAY_SHAPE)


@lower_cast(ViewArray, types.Array)
def _cast(context, builder, array_type, other_type, array):
    return array


@lower_builtin(operator.getitem, ViewArray, types.Integer)
@lower_builtin(operator.getitem, ViewArray, types.BaseTuple)
def _getitem(context, builder, sig, args):
    pointer = _pointer_to_element(context, builder, sig.args[0], args[0], sig.args[1], args[1])
    if pointer is not None:
        return arrayobj.load_item(context, builder, sig.args[0], pointer)
    one_index = isinstance(sig.args[1], types.Integer)
    return (arrayobj.getitem_arraynd_intp if one_index else arrayobj.getitem_array_tuple)(context, builder, sig, args)


@lower_builtin(operator.setitem, ViewArray, types.Any, types.Any)
def _setitem(context, builder, sig, args):
    pointer = _pointer_to_element(context, builder, sig.args[0], args[0], sig.args[1], args[1])
    if pointer is None:
        return arrayobj.setitem_array(context, builder, sig, args)
    value = context.cast(builder, args[2], sig.args[2], sig.args[0].dtype)
    return arrayobj.store_item(context, builder, sig.args[0], value, pointer)


def _pointer_to_element(context, builder, array_type, array, index_type, index):
    """None if the index names a part of the array, or its elements do not lie in C order."""
    kinds = index_type.types if isinstance(index_type, types.BaseTuple) else (index_type,)
    integers = len(kinds) == array_type.ndim and all(isinstance(kind, types.Integer) for kind in kinds)
    if not integers or array_type.layout != "C":
        return None
    place = None
    for k, kind in enumerate(kinds):
        size = builder.extract_value(array, (ARRAY_SHAPE, k))
        if isinstance(kind, types.IntegerLiteral):
            number = INT(kind.literal_value)
            if kind.literal_value < 0:
                number = builder.add(size, number)
        else:
            number = builder.extract_value(index, k) if isinstance(index_type, types.BaseTuple) else index
            number = context.cast(builder, number, kind, types.intp)
            if kind.signed and not isinstance(array_type, CountedArray):
                from_end = builder.icmp_signed("<", number, INT(0))
                number = builder.select(from_end, builder.add(number, size), number)
        place = number if place is None else builder.add(builder.mul(place, size), number)
    return builder.gep(builder.extract_value(array, ARRAY_DATA), [place])
