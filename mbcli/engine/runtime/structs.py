"""The arrays of model.py as numba structs: passed between kernels as one pointer whatever the number of fields.

Imported only if kernels are compiled. Structs are built inside cached functions, because the constructor that numba
makes for a proxy class would compile in every process.
"""

from llvmlite import ir
from numba import types
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    overload,
    register_model,
    typeof_impl,
    unbox,
)

from mbcli.engine.fields.assembly_fields import ASSEMBLY_FIELDS
from mbcli.engine.fields.collision_fields import COLLISION_FIELDS
from mbcli.engine.fields.contact_fields import POINT_FIELDS, SAMPLE_FIELDS, SOLVER_FIELDS
from mbcli.engine.fields.model_fields import CONSTRAINT_FIELDS, CONSTRAINT_WORK_FIELDS, DATA_FIELDS, MODEL_FIELDS
from mbcli.engine.fields.run_fields import (
    ACTUATION_FIELDS,
    BALANCE_FIELDS,
    INTEGRATION_FIELDS,
    RECORDING_FIELDS,
    STEPPING_FIELDS,
    WORLD_FIELDS,
)
from mbcli.engine.fields.sleep_fields import SLEEP_FIELDS
from mbcli.engine.runtime import thread_memory_type  # noqa: F401  (numba learns how threads tell one another)
from mbcli.engine.runtime.calls_by_address import NOT_MADE, call_by_address
from mbcli.engine.runtime.handles import (
    actuation_at,
    assembly_at,
    balance_at,
    collision_at,
    constraints_at,
    data_at,
    integration_at,
    lanes_at,
    model_at,
    points_at,
    recording_at,
    samples_at,
    sleep_at,
    solver_at,
    stepping_at,
    work_at,
    worlds_at,
)
from mbcli.engine.runtime.instructions import instructions_of
from mbcli.engine.runtime.kernel_cache import cached_njit
from mbcli.engine.runtime.lane_memory import LaneAddress
from mbcli.engine.runtime.lane_type import as_lanes, lanes_array
from mbcli.engine.runtime.numba_parts import (
    AttributeTemplate,
    NRTContext,
    cgutils,
    impl_ret_borrowed,
    structref,
)
from mbcli.engine.runtime.view_arrays import CountedArray, ViewArray, array_in_memory


@structref.register
class ModelType(types.StructRef):
    pass


@structref.register
class DataType(types.StructRef):
    pass


@structref.register
class ConstraintsType(types.StructRef):
    pass


@structref.register
class ConstraintWorkType(types.StructRef):
    pass


@structref.register
class AssemblyType(types.StructRef):
    pass


@structref.register
class PointsType(types.StructRef):
    pass


@structref.register
class SolverType(types.StructRef):
    pass


@structref.register
class SamplesType(types.StructRef):
    pass


@structref.register
class SleepType(types.StructRef):
    pass


@structref.register
class CollisionType(types.StructRef):
    pass


@structref.register
class IntegrationType(types.StructRef):
    pass


@structref.register
class BalanceType(types.StructRef):
    pass


@structref.register
class SteppingType(types.StructRef):
    pass


@structref.register
class ActuationType(types.StructRef):
    pass


@structref.register
class RecordingType(types.StructRef):
    pass


@structref.register
class WorldsType(types.StructRef):
    pass


class ModelStruct(structref.StructRefProxy):
    pass


class DataStruct(structref.StructRefProxy):
    pass


class ConstraintsStruct(structref.StructRefProxy):
    pass


class ConstraintWorkStruct(structref.StructRefProxy):
    pass


class AssemblyStruct(structref.StructRefProxy):
    pass


class PointsStruct(structref.StructRefProxy):
    pass


class SolverStruct(structref.StructRefProxy):
    pass


class SamplesStruct(structref.StructRefProxy):
    pass


class SleepStruct(structref.StructRefProxy):
    pass


class CollisionStruct(structref.StructRefProxy):
    pass


class IntegrationStruct(structref.StructRefProxy):
    pass


class BalanceStruct(structref.StructRefProxy):
    pass


class SteppingStruct(structref.StructRefProxy):
    pass


class ActuationStruct(structref.StructRefProxy):
    pass


class RecordingStruct(structref.StructRefProxy):
    pass


class WorldsStruct(structref.StructRefProxy):
    pass


def struct_type(kind, fields, real, readonly):
    """The numba type of a struct whose real fields hold the given scalar type."""
    scalar = {"real": real, "int": types.int64}

    def array(field):
        if field.kind == "lanes":
            return lanes_array(len(field.shape))
        return types.Array(scalar[field.kind], len(field.shape), "C", readonly=readonly)

    return kind([(field.name, array(field)) for field in fields])


def _define(proxy, kind, fields, readonly):
    """Makes a struct known to numba; returns its type with real numbers."""
    structref.define_proxy(proxy, kind, [field.name for field in fields])
    return struct_type(kind, fields, types.float64, readonly)


MODEL = _define(ModelStruct, ModelType, MODEL_FIELDS, True)
DATA = _define(DataStruct, DataType, DATA_FIELDS, False)
CONSTRAINTS = _define(ConstraintsStruct, ConstraintsType, CONSTRAINT_FIELDS, True)
CONSTRAINT_WORK = _define(ConstraintWorkStruct, ConstraintWorkType, CONSTRAINT_WORK_FIELDS, False)
ASSEMBLY = _define(AssemblyStruct, AssemblyType, ASSEMBLY_FIELDS, False)
POINTS = _define(PointsStruct, PointsType, POINT_FIELDS, False)
SOLVER = _define(SolverStruct, SolverType, SOLVER_FIELDS, False)
SAMPLES = _define(SamplesStruct, SamplesType, SAMPLE_FIELDS, False)
SLEEP = _define(SleepStruct, SleepType, SLEEP_FIELDS, False)
COLLISION = _define(CollisionStruct, CollisionType, COLLISION_FIELDS, False)
INTEGRATION = _define(IntegrationStruct, IntegrationType, INTEGRATION_FIELDS, False)
BALANCE = _define(BalanceStruct, BalanceType, BALANCE_FIELDS, False)
STEPPING = _define(SteppingStruct, SteppingType, STEPPING_FIELDS, False)
ACTUATION = _define(ActuationStruct, ActuationType, ACTUATION_FIELDS, False)
RECORDING = _define(RecordingStruct, RecordingType, RECORDING_FIELDS, False)
WORLDS = _define(WorldsStruct, WorldsType, WORLD_FIELDS, False)


@cached_njit
def make_model(arrays):
    return ModelStruct(*arrays)


@cached_njit
def make_data(arrays):
    return DataStruct(*arrays)


@cached_njit
def make_constraints(arrays):
    return ConstraintsStruct(*arrays)


@cached_njit
def make_constraint_work(arrays):
    return ConstraintWorkStruct(*arrays)


@cached_njit
def make_assembly(arrays):
    return AssemblyStruct(*arrays)


@cached_njit
def make_points(arrays):
    return PointsStruct(*arrays)


@cached_njit
def make_solver(arrays, lanes):
    return SolverStruct(*arrays, *as_lanes(lanes))


@cached_njit
def make_samples(arrays):
    return SamplesStruct(*arrays)


@cached_njit
def make_sleep(arrays):
    return SleepStruct(*arrays)


@cached_njit
def make_collision(arrays):
    return CollisionStruct(*arrays)


@cached_njit
def make_integration(arrays):
    return IntegrationStruct(*arrays)


@cached_njit
def make_balance(arrays):
    return BalanceStruct(*arrays)


@cached_njit
def make_stepping(arrays):
    return SteppingStruct(*arrays)


@cached_njit
def make_actuation(arrays):
    return ActuationStruct(*arrays)


@cached_njit
def make_recording(arrays):
    return RecordingStruct(*arrays)


@cached_njit
def make_worlds(arrays):
    return WorldsStruct(*arrays)


def make_solver_of_all(arrays):
    """The fields of lanes are the last ones."""
    lanes = sum(field.kind == "lanes" for field in SOLVER_FIELDS)
    return make_solver(arrays[:-lanes], arrays[-lanes:])


MAKERS = {
    "Model": make_model,
    "Data": make_data,
    "Constraints": make_constraints,
    "ConstraintWork": make_constraint_work,
    "AssemblyArrays": make_assembly,
    "ContactPoints": make_points,
    "ContactSolver": make_solver_of_all,
    "ContactSamples": make_samples,
    "SleepArrays": make_sleep,
    "Collision": make_collision,
    "Integration": make_integration,
    "Balance": make_balance,
    "Stepping": make_stepping,
    "Actuation": make_actuation,
    "Recording": make_recording,
    "WorldArrays": make_worlds,
}


def make_struct(name, arrays):
    """The struct of a class of model.py or contact/arrays.py over its arrays."""
    return MAKERS[name](arrays)


class View(types.Type):
    """A struct seen from a kernel: its attributes are borrowed arrays, without reference counts.

    Counting takes an atomic operation at every attribute of every call: a tenth of the time of the algorithms.
    The owner of the handle keeps the arrays alive. Sizes that are declared as numbers are constants for the compiler.
    """

    def __init__(self, struct, name, counted=False):
        self.struct = struct
        self.arrays = {n: (CountedArray if counted else ViewArray)(a) for n, a in struct.field_dict.items()}
        super().__init__(name)


@register_model(View)
class ViewModel(models.OpaqueModel):
    """The address of the fields of the struct."""


@infer_getattr
class ViewAttribute(AttributeTemplate):
    key = View

    def generic_resolve(self, view, name):
        return view.arrays.get(name)


DECLARED_SHAPES = {
    kind: {field.name: field.shape for field in fields}
    for kind, fields in (
        (ModelType, MODEL_FIELDS),
        (DataType, DATA_FIELDS),
        (ConstraintsType, CONSTRAINT_FIELDS),
        (ConstraintWorkType, CONSTRAINT_WORK_FIELDS),
        (AssemblyType, ASSEMBLY_FIELDS),
        (PointsType, POINT_FIELDS),
        (SolverType, SOLVER_FIELDS),
        (SamplesType, SAMPLE_FIELDS),
        (SleepType, SLEEP_FIELDS),
        (CollisionType, COLLISION_FIELDS),
        (IntegrationType, INTEGRATION_FIELDS),
        (BalanceType, BALANCE_FIELDS),
        (SteppingType, STEPPING_FIELDS),
        (ActuationType, ACTUATION_FIELDS),
        (RecordingType, RECORDING_FIELDS),
        (WorldsType, WORLD_FIELDS),
    )
}


@lower_getattr_generic(View)
def _attribute(context, builder, view, address, name):
    fields = context.data_model_manager[view.struct.get_data_type()]
    start = builder.bitcast(address, fields.get_value_type().as_pointer())
    pointer = cgutils.gep_inbounds(builder, start, 0, fields.get_field_position(name))
    declared = DECLARED_SHAPES[type(view.struct)][name]
    return array_in_memory(context, builder, view.arrays[name], pointer, declared)


class LaneAddressType(types.Type):
    """Of addresses of structs of lanes, so that kernels tell them from those of others."""


LANE_ADDRESS = LaneAddressType("lane_address")
LANE_DATA = DataType([(field.name, lanes_array(len(field.shape))) for field in DATA_FIELDS])
LANE_WORK = ConstraintWorkType([(field.name, lanes_array(len(field.shape))) for field in CONSTRAINT_WORK_FIELDS])


@register_model(LaneAddressType)
class LaneAddressModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.IntType(64))


@typeof_impl.register(LaneAddress)
def _type_of_lane_address(value, c):
    return LANE_ADDRESS


@unbox(LaneAddressType)
def _unbox_lane_address(kind, value, c):
    return NativeValue(c.pyapi.long_as_longlong(value))


def _resolve(at, struct, name, counted=False, held=None, lanes=None):
    """The compiled meaning of at(handle): a view, of the struct at an address or of a struct of the type `held`.

    lanes: the struct at an address of lanes.
    """

    @instructions_of(at)
    def resolved(typingctx, handle):
        handle = types.unliteral(handle)
        if isinstance(handle, types.Integer):
            return View(struct, name, counted)(handle), _pointer_to
        if isinstance(handle, types.Float):
            return View(struct, name, counted)(handle), _pointer_to_rounded
        if isinstance(handle, LaneAddressType):
            return View(lanes, f"Lanes{name}")(handle), _pointer_to
        if held is not None and isinstance(handle, held):
            return View(handle, f"View({handle.name})")(handle), _pointer_to_held
        return handle(handle), _itself


def _pointer_to(context, builder, signature, args):
    return builder.inttoptr(args[0], cgutils.voidptr_t)


def _pointer_to_rounded(context, builder, signature, args):
    return builder.inttoptr(builder.fptosi(args[0], context.get_value_type(types.intp)), cgutils.voidptr_t)


def _pointer_to_held(context, builder, signature, args):
    """To the data of a struct that the caller holds."""
    helper = context.make_helper(builder, signature.args[0], value=args[0])
    return NRTContext(context, True).meminfo_data(builder, helper.meminfo)


def _itself(context, builder, signature, args):
    return impl_ret_borrowed(context, builder, signature.return_type, args[0])


_resolve(model_at, MODEL, "ModelView")
_resolve(data_at, DATA, "DataView", held=DataType, lanes=LANE_DATA)
_resolve(constraints_at, CONSTRAINTS, "ConstraintsView")
_resolve(work_at, CONSTRAINT_WORK, "ConstraintWorkView", held=ConstraintWorkType, lanes=LANE_WORK)
_resolve(assembly_at, ASSEMBLY, "AssemblyView")
_resolve(points_at, POINTS, "PointsView", counted=True)
_resolve(solver_at, SOLVER, "SolverView", counted=True)
_resolve(samples_at, SAMPLES, "SamplesView", counted=True)
_resolve(sleep_at, SLEEP, "SleepView")
_resolve(collision_at, COLLISION, "CollisionView", counted=True)
_resolve(integration_at, INTEGRATION, "IntegrationView")
_resolve(stepping_at, STEPPING, "SteppingView")
_resolve(actuation_at, ACTUATION, "ActuationView")
_resolve(recording_at, RECORDING, "RecordingView")
_resolve(worlds_at, WORLDS, "WorldsView")
_resolve(lanes_at, LANE_DATA, "LanesDataView")
_resolve(balance_at, BALANCE, "BalanceView")


CALLED = types.float64(types.float64, types.float64, types.float64, types.float64, types.float64)


@instructions_of(call_by_address)
def _call(typingctx, function, model, data, constraints, work, number):
    def codegen(context, builder, signature, args):
        double = context.get_value_type(types.float64)
        result = cgutils.alloca_once_value(builder, ir.Constant(double, NOT_MADE))
        with builder.if_then(builder.fcmp_ordered("!=", args[0], ir.Constant(double, 0.0)), likely=True):
            address = builder.fptosi(args[0], context.get_value_type(types.intp))
            called = builder.inttoptr(address, ir.FunctionType(double, [double] * 5).as_pointer())
            builder.store(builder.call(called, args[1:]), result)
        return builder.load(result)

    if _are_numbers(function, model, data, constraints, work, number):
        return types.float64(*[types.float64] * 6), codegen
    return None


@overload(call_by_address)
def _call_function(function, model, data, constraints, work, number):
    if _are_numbers(function, model, data, constraints, work, number):
        return None
    return lambda function, model, data, constraints, work, number: function(model, data, constraints, work, number)


def _are_numbers(*kinds):
    return all(isinstance(kind, types.Float) for kind in kinds)
