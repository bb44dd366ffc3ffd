"""Where it is decided how kernels run: interpreted as plain Python, or compiled by numba and cached on disk.

A kernel is a plain Python function over arrays marked `@kernel`. `load_kernels(False)` returns the functions as they
are written and never imports numba. `load_kernels(True)` returns their compiled twins: each module's functions are
copied with globals in which every kernel is the compiled one, so both kinds live in one process.

Compiled kernels are kept on disk (kernel_cache.py).
"""

import functools
import os
import sys
from importlib import import_module
from types import FunctionType, SimpleNamespace

from mbcli.engine.kernel_cache import KeyOfCode, cached_njit

# Modules that define kernels; the order is of no matter.
KERNEL_MODULES = (
    "spatial",
    "trigonometry",
    "joints.revolute",
    "joints.prismatic",
    "joints.screw",
    "joints.universal",
    "joints.planar",
    "joints.ball_rpy",
    "joints.quaternion_floating",
    "joints.rpy_floating",
    "joints.curvilinear",
    "joints.placement",
    "kinematics",
    "coordinates",
    "inertia",
    "state",
    "inverse_dynamics",
    "mass_matrix",
    "forward_dynamics",
    "clamped_lines",
    "joint_limits",
    "pd_control",
    "limited_dynamics",
    "energy",
    "joint_forces",
    "force_elements",
    "frame_motion",
    "mass_properties",
    "jacobians",
    "reaction_forces",
    "constraint_frames",
    "constraint_errors",
    "constraint_rows",
    "tree_factorization",
    "constraint_system",
    "contact_response",
    "stages",
    "queries",
    "constraint_stages",
    "batch",
    "constrained_motion",
    "constrained_step",
    "contact_calls",
    "step",
    "integrators",
    "balance",
    "loop",
    "collision.shapes",
    "collision.segments",
    "collision.boxes",
    "collision.gjk",
    "collision.epa",
    "collision.nearest",
    "collision.manifold",
    "collision.broad_phase",
    "collision.find_contacts",
    "contact.sap",
    "contact.hunt_crossley",
    "contact.bounded_row",
    "contact.tamsi_law",
    "contact.equality",
    "contact.problem",
    "contact.dense_elimination",
    "contact.substeps",
    "contact.tamsi",
    "contact.islands",
    "contact.block_cholesky",
    "contact.tree_masses",
    "contact.delassus",
    "contact.rows",
    "contact.joint_rows",
    "contact.equality_rows",
    "contact.newton",
    "contact.samples",
    "contact.row_work",
    "contact.continuous_contact",
    "contact.contact_step",
)

_kernels = []


def kernel(function):
    """Mark a function as a kernel. It stays the plain function that it is."""
    _kernels.append(function)
    return function


def compiled_by_default(preferred=True):
    """Whether kernels are compiled where nobody asks otherwise: MBCLI_JIT=0 or 1 decides; unset, as preferred."""
    setting = os.environ.get("MBCLI_JIT")
    return preferred if setting is None else setting != "0"


def may_compile():
    """Whether many evaluations, worth compiling for, are to be compiled: unless MBCLI_JIT=0."""
    return os.environ.get("MBCLI_JIT") != "0"


@functools.cache
def load_kernels(compiled, kind=""):
    """All kernels by name, as attributes of one object; compiled ones accept structs, others Python objects.

    Compiled ones also have their kind.

    kind: "plain" for models without what few models have (plain.py), sooner compiled; "contact" for steps with contact,
    "constrained" for motion under constraints; joined by hyphens for several of these.
    """
    kinds = kind.split("-")
    for name in KERNEL_MODULES:
        import_module("mbcli.engine." + name)
    replacements = {}
    if "plain" in kinds and compiled:
        replacements |= import_module("mbcli.engine.plain").STAND_INS
    if "constrained" in kinds:
        replacements |= import_module("mbcli.engine.constrained_step").STAND_INS
    if "contact" in kinds:  # its steps hold the constraints
        replacements |= import_module("mbcli.engine.contact").stand_ins("constrained" in kinds)
    if compiled:
        kernels = compile_kernels(replacements)
        kernels.kind = kind
        return kernels
    plain = {f.__name__: f for f in _kernels}
    if replacements:
        twins = interpreted_with(plain, {f.__name__: g for f, g in replacements.items()})
        plain = twins | {f.__name__: twins[g.__name__] for f, g in replacements.items()}
    return SimpleNamespace(**plain)


def compile_kernels(replacements=None):
    """Compiled twins of all loaded kernels by name; replacements maps some to what stands in for them.

    That is how another scalar type brings its own way of doing what cannot be written for all types at once. What
    Python calls and what compiled kernels call are twins of their own: few are both.
    """
    bodies = {function: (replacements or {}).get(function, function) for function in _kernels}
    namespaces = {module: dict(vars(sys.modules[module])) for module in {b.__module__ for b in bodies.values()}}
    keys = KeyOfCode(bodies)
    inner, twins = {}, {}
    for function, body in bodies.items():
        key = functools.partial(keys.of, body)
        inner[function] = cached_njit(_twin(body, namespaces), key, from_python=False)
        twins[function.__name__] = _twin(body, namespaces), key
    for namespace in namespaces.values():
        for name, value in namespace.items():
            if isinstance(value, FunctionType) and value in inner:
                namespace[name] = inner[value]
    return CompiledKernels(twins)


def _twin(body, namespaces):
    twin = FunctionType(body.__code__, namespaces[body.__module__], body.__name__, body.__defaults__)
    twin.__doc__ = body.__doc__
    return twin


class CompiledKernels:
    """Kernels by name, as Python calls them; each is made when it is first asked for."""

    def __init__(self, functions):
        self._functions = functions

    def __getattr__(self, name):
        if name not in self._functions:
            raise AttributeError(f"there is no kernel {name!r}")
        compiled = cached_njit(*self._functions[name])
        setattr(self, name, compiled)
        return compiled


def interpreted_with(names, replacements):
    """Interpreted kernels by name that call one another, and the replacements (by name) in place of other kernels.

    Replacements that are kernels call the others too.
    """
    load_kernels(False)
    bodies = {function.__name__: function for function in _kernels}
    twins = {}
    for name in names:
        namespace = dict(vars(sys.modules[bodies[name].__module__]))
        twins[name] = FunctionType(bodies[name].__code__, namespace, name, bodies[name].__defaults__)
    chosen = {name: twins.get(f.__name__, f) if f in bodies.values() else f for name, f in replacements.items()}
    for twin in twins.values():
        twin.__globals__.update(twins | chosen)
    return twins
