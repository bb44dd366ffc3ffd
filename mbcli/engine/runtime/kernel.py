"""The marks of kernels: `@kernel`, and `@slot(...)` for those in whose place another may run.

Also the modules that have any, and whether kernels run interpreted or compiled. `linking.py` puts kernels together.
"""

import os

from mbcli.engine.fields.joint_names import JOINT_TYPES
from mbcli.engine.fields.law_names import LAW_NAMES

# Modules that define kernels. Interpreted ones are looked for in this order: what one state is asked for comes first.
KERNEL_MODULES = (
    "queries.stages",
    "queries.plant_queries",
    "runtime.tiles",
    "smooth.spatial",
    "smooth.trigonometry",
    "smooth.rotations.quaternion",
    "smooth.rotations.angles",
    "smooth.rotations.registry",
    "smooth.joints.moving_origin",
    *(f"smooth.joints.{name}" for name in JOINT_TYPES),
    "smooth.joints.mobilizers",
    "smooth.impedance",
    "smooth.sleep",
    "smooth.kinematics",
    "smooth.coordinates",
    "smooth.inertia",
    "smooth.state",
    "smooth.inverse_dynamics",
    "smooth.mass_matrix",
    "smooth.middle",
    "smooth.forward_dynamics",
    "smooth.energy",
    "smooth.stops",
    "smooth.joint_forces",
    "smooth.path_springs",
    "smooth.force_elements",
    "smooth.tendon_wraps",
    "smooth.transmissions",
    "smooth.actuator_laws",
    "smooth.element_rows",
    "smooth.frame_motion",
    "smooth.mass_properties",
    "smooth.jacobians",
    "smooth.reaction_forces",
    "smooth.tree_factorization",
    "smooth.dynamics_derivatives",
    "smooth.frame_derivatives",
    "smooth.regressor",
    "limits.bounded_rows",
    "limits.joint_limits",
    "limits.pd_control",
    "limits.dry_friction",
    "limits.limited_dynamics",
    "constraints.constraint_frames",
    "constraints.constraint_errors",
    "constraints.constraint_rows",
    "constraints.constraint_system",
    "constraints.constraint_stages",
    "constraints.constraint_derivatives",
    "constraints.constrained_motion",
    "constraints.position_differences",
    "constraints.orthogonal_rows",
    "constraints.dense_systems",
    "constraints.nearest_positions",
    "collision.shapes",
    "collision.segments",
    "collision.boxes",
    "collision.gjk",
    "collision.epa",
    "collision.convex",
    "collision.pair_laws",
    "collision.soft_pairs",
    "collision.friction_grain",
    "collision.manifold",
    "collision.clipping",
    "collision.surface_faces",
    "collision.near_elements",
    "collision.contact_surfaces",
    "collision.broad_phase",
    "collision.height_prisms",
    "collision.height_fields",
    "collision.height_points",
    "collision.nearest",
    "collision.find_contacts",
    "collision.near_solids",
    "collision.ahead",
    "collision.touch_volumes",
    "constraints.contact_response",
    "contact.contact_calls",
    "contact.laws.without_cost",
    "contact.laws.hunt_crossley",
    *(f"contact.laws.{name}" for name in LAW_NAMES),
    "contact.laws.registry",
    "contact.sticking",
    "contact.dual_friction",
    "contact.problem",
    "contact.patches",
    "contact.substeps",
    "contact.islands",
    "contact.block_cholesky",
    "contact.block_lu",
    "contact.hessian",
    "contact.tree_masses",
    "contact.compliance",
    "contact.tangents",
    "contact.torsional",
    "contact.tamsi",
    "contact.arrivals",
    "contact.impacts",
    "contact.rows",
    "contact.bounce_energy",
    "contact.transmission_rows",
    "contact.turn_rows",
    "contact.adhesion",
    "contact.joint_rows",
    "contact.equality_rows",
    "contact.line_search",
    "contact.newton",
    "contact.newton_step",
    "contact.exact_impulses",
    "contact.samples",
    "contact.sleep",
    "contact.surface_traction",
    "contact.continuous_contact",
    "contact.elastic_rows",
    "deformable.stretches",
    "deformable.materials",
    "deformable.element_forces",
    "deformable.barrier",
    "deformable.block_fronts",
    "deformable.surface_samples",
    "stepping.velocity_terms",
    "stepping.contact_terms",
    "stepping.constrained_step",
    "stepping.step",
    "stepping.integrators",
    "stepping.stop_events",
    "stepping.balance",
    "stepping.pushes",
    "stepping.step_loads",
    "stepping.loop",
    "stepping.trees_apart",
    "stepping.worlds",
    "stepping.contact_work",
    "stepping.contact_step",
    "stepping.exact_forces",
    "stepping.sleeping_step",
    "queries.batch",
    "queries.state_calls",
    "queries.constrained_calls",
    "queries.constraint_batch",
    "queries.world_lanes",
    "queries.derivative_batch",
    "queries.regressor_batch",
    "queries.derivative_calls",
    "queries.operations",
    "text.number_rows",
)

# Modules of no effect on compiled kernels, which therefore outlive their edits: arrays for kernels, and who calls them.
CALLERS = (
    "__main__",
    "precompile",
    "collision.arrays",
    "collision.field_meshes",
    "contact.arrays",
    "queries.lane_data",
    "queries.state_batch",
    "runtime.bound_kernels",
    "stepping.run_arrays",
)

# Types of the arguments of kernels that Python calls, as numba writes them.
Int, Real = "int64", "float64"
Vector, Matrix, Blocks = "float64[::1]", "float64[:, ::1]", "float64[:, :, ::1]"  # arrays of 1, 2 and 3 axes
Indices, Table = "int64[::1]", "int64[:, ::1]"  # of integers
Text = "int8[::1]"  # of characters


class Written(str):
    """The type of an array of a caller that a kernel writes: it can be written and shares no memory with the others."""

    __slots__ = ()


OutVector, OutMatrix, OutIndices = Written(Vector), Written(Matrix), Written(Indices)


class HandleType(str):
    """The type of the handle of a Model, a Data ...: a number to compiled kernels, the object to interpreted ones."""

    __slots__ = ()


Handle = HandleType(Int)  # of runtime/handles.py

KERNELS = []  # every function that is marked, in the order of its module's import
ENTRIES = []  # of them, those that Python calls
UNLOCKED = []  # of these, those during which other threads of Python run
CALLED = []  # of them, those that other kernels call by address
SLOTS = {}  # of them, those that may be replaced: {kernel: {kind: filler}}

# Kinds of sets of kernels. If several hold and a slot has fillers for more than one, the last one here counts.
KINDS = {
    "compiled": "all compiled kernels: what is large and seldom needed is called by address",
    "plain": "models and steps without what few of them have, compiled sooner; compiled kernels only",
    "lanes": "eight states at once, in one register",
    "constrained": "motion under constraints",
    "contact": "steps of discrete plants in which solids may touch",
    "surfaces": "plants in which solids meet in contact surfaces",
    "sleep": "runs with contact in which islands at rest sleep",
    "numbers": "AutoDiffXd or symbols in place of floats, interpreted",
    "python": "time loops with forces or inputs that are functions of Python, interpreted",
}
MANY_VELOCITIES = 200  # for one state of which work by the cube takes longer, interpreted, than to compile it once
INTERPRETED = {"numbers", "python"}  # kinds that are never compiled
ALONE = {"lanes"}  # kinds that are not combined with others
ALWAYS = "compiled"  # the kind of all compiled kernels, which nobody asks for
DEFAULT = "default"  # a filler: the slot's own function, if a kind before would replace it
INJECTED = "injected"  # a filler: a function that whoever asks for the kernels gives


def kernel(function):
    """Mark a function as a kernel. It stays the plain function that it is."""
    KERNELS.append(function)
    return function


def entry(function):
    """Mark a kernel that Python calls; its arguments are annotated with their types, handles first."""
    ENTRIES.append(function)
    return function if function in KERNELS else kernel(function)


def unlocked(function):
    """Mark an entry that lets other threads of Python run until it returns."""
    UNLOCKED.append(function)
    return entry(function)


def called(function):
    """Mark a kernel whose address other kernels call, with five numbers (calls_by_address.py)."""
    CALLED.append(function)
    return kernel(function)


def argument_types(function):
    """The types of the arguments of an entry, and how many of the first ones are handles.

    TypeError for an argument without a type, and for a handle behind another argument.
    """
    code, given = function.__code__, function.__annotations__
    names, place = code.co_varnames[: code.co_argcount], f"{function.__module__}.{function.__name__}"
    missing = [name for name in names if name not in given]
    if missing:
        raise TypeError(f"{place}: {', '.join(missing)} has no type")
    types = [given[name] for name in names]
    handles = sum(kind is Handle for kind in types)
    if any(kind is not Handle for kind in types[:handles]):
        raise TypeError(f"{place}: handles come before the other arguments")
    return types, handles


def written_arguments(function):
    """The places of the arguments of an entry that are Written."""
    types, _ = argument_types(function)
    return tuple(k for k, kind in enumerate(types) if isinstance(kind, Written))


def slot(**fillers):
    """Mark a kernel in whose place another one runs for kernels of some kinds (KINDS).

    fillers: {kind: the other kernel, as `room.module.function` of the engine, or DEFAULT, or INJECTED}. It takes what
    the slot takes.
    """
    unknown = fillers.keys() - KINDS.keys()
    if unknown:
        raise ValueError(f"not kinds of kernels: {sorted(unknown)}")

    def mark(function):
        SLOTS[function] = fillers
        return kernel(function)

    return mark


def compiled_by_default(preferred=True):
    """Whether kernels are compiled unless a caller asks otherwise: MBCLI_JIT=0 or 1 decides; unset, as preferred."""
    setting = os.environ.get("MBCLI_JIT")
    return preferred if setting is None else setting != "0"


def worth_compiling(num_velocities):
    """Whether kernels of one state of a plant are to be compiled: interpreted, work by the cube takes longer."""
    return num_velocities >= MANY_VELOCITIES and may_compile()


def may_compile():
    """Whether many evaluations, worth compiling for, are to be compiled: unless MBCLI_JIT=0."""
    return os.environ.get("MBCLI_JIT") != "0"
