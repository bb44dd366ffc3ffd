"""Model and Data as numba structs: passed between kernels as one pointer whatever the number of fields.

Imported only where kernels are compiled. Structs are built inside cached functions, because the constructor that numba
makes for a proxy class would compile in every process.
"""

import numpy as np
from numba import types
from numba.core import cgutils
from numba.experimental import structref
from numba.extending import intrinsic, overload

from mbcli.engine.fields import DATA_FIELDS, MODEL_FIELDS
from mbcli.engine.handles import data_at, model_at
from mbcli.engine.jit import cached_njit


@structref.register
class ModelType(types.StructRef):
    pass


@structref.register
class DataType(types.StructRef):
    pass


class ModelStruct(structref.StructRefProxy):
    pass


class DataStruct(structref.StructRefProxy):
    pass


structref.define_proxy(ModelStruct, ModelType, [field.name for field in MODEL_FIELDS])
structref.define_proxy(DataStruct, DataType, [field.name for field in DATA_FIELDS])


def struct_type(kind, fields, real, readonly):
    """The numba type of a struct whose real fields hold the given scalar type."""
    scalar = {"real": real, "int": types.int64}
    return kind([(f.name, types.Array(scalar[f.kind], len(f.shape), "C", readonly=readonly)) for f in fields])


MODEL = struct_type(ModelType, MODEL_FIELDS, types.float64, True)
DATA = struct_type(DataType, DATA_FIELDS, types.float64, False)


@cached_njit
def make_model(arrays):
    return ModelStruct(*arrays)


@cached_njit
def make_data(arrays):
    return DataStruct(*arrays)


@intrinsic
def _address(typingctx, struct):
    def codegen(context, builder, signature, args):
        helper = context.make_helper(builder, signature.args[0], value=args[0])
        return builder.ptrtoint(helper.meminfo, context.get_value_type(types.intp))

    return types.intp(struct), codegen


@cached_njit
def address_of(struct):
    """Address of a struct that some Python object keeps alive."""
    return _address(struct)


def _struct_from_address(struct):
    @intrinsic
    def from_address(typingctx, address):
        def codegen(context, builder, signature, args):
            helper = context.make_helper(builder, struct)
            helper.meminfo = builder.inttoptr(args[0], cgutils.voidptr_t)
            value = helper._getvalue()
            context.nrt.incref(builder, struct, value)
            return value

        return struct(types.intp), codegen

    return from_address


model_from_address = _struct_from_address(MODEL)
data_from_address = _struct_from_address(DATA)


@overload(model_at)
def _model_at(handle):
    if isinstance(handle, types.Integer):
        return lambda handle: model_from_address(handle)
    return lambda handle: handle


@overload(data_at)
def _data_at(handle):
    if isinstance(handle, types.Integer):
        return lambda handle: data_from_address(handle)
    return lambda handle: handle


def handle_of(struct, dtype):
    """The address where the scalar type is float64, the struct itself for any other."""
    return address_of(struct) if dtype == np.float64 else struct
