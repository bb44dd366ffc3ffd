"""Where it is decided how kernels run: interpreted as plain Python, or compiled by numba and cached on disk.

A kernel is a plain Python function over arrays marked `@kernel`. `load_kernels(False)` returns the functions as they
are written and never imports numba. `load_kernels(True)` returns their compiled twins: each module's functions are
copied with globals in which every kernel is the compiled one, so both kinds live in one process.

numba's own cache does not see an edit in an imported function (numba issue 1833), so the cache directory carries a
hash over the sources of all of mbcli.engine and the versions involved: a stale result is impossible.
"""

import functools
import hashlib
import os
import platform
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType, SimpleNamespace

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
    "contact_calls",
    "step",
    "integrators",
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
        replacements |= import_module("mbcli.engine.constrained_motion").STAND_INS
    if "contact" in kinds:  # its steps hold the constraints
        replacements |= import_module("mbcli.engine.contact").stand_ins("constrained" in kinds)
    if compiled:
        kernels = compile_kernels(replacements, kind)
        kernels.kind = kind
        return kernels
    plain = {f.__name__: f for f in _kernels}
    if replacements:
        twins = interpreted_with(plain, {f.__name__: g for f, g in replacements.items()})
        plain = twins | {f.__name__: twins[g.__name__] for f, g in replacements.items()}
    return SimpleNamespace(**plain)


def compile_kernels(replacements=None, directory=""):
    """Compiled twins of all loaded kernels by name; replacements maps some to what stands in for them.

    That is how another scalar type brings its own way of doing what cannot be written for all types at once. Kernels
    of the same types that call other ones need a directory of the cache of their own. What Python calls and what
    compiled kernels call are twins of their own: few are both.
    """
    bodies = {function: (replacements or {}).get(function, function) for function in _kernels}
    namespaces = {module: dict(vars(sys.modules[module])) for module in {b.__module__ for b in bodies.values()}}
    inner, twins = {}, {}
    for function, body in bodies.items():
        twin = FunctionType(body.__code__, namespaces[body.__module__], body.__name__, body.__defaults__)
        twin.__doc__ = body.__doc__
        inner[function] = cached_njit(twin, os.path.join(directory, "inner"), from_python=False)
        twins[function.__name__] = twin
    for namespace in namespaces.values():
        for name, value in namespace.items():
            if isinstance(value, FunctionType) and value in inner:
                namespace[name] = inner[value]
    return CompiledKernels(twins, directory)


class CompiledKernels:
    """Kernels by name, as Python calls them; each is made when it is first asked for."""

    def __init__(self, functions, directory):
        self._functions, self._directory = functions, directory

    def __getattr__(self, name):
        if name not in self._functions:
            raise AttributeError(f"there is no kernel {name!r}")
        compiled = cached_njit(self._functions[name], self._directory)
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


def cached_njit(function, directory="", from_python=True):
    """The function as numba compiles it, with its machine code in cache_directory() or a directory in it.

    from_python: False for what only compiled functions call. Then it is compiled without what Python would call, a
    fifth of the time; a call from Python would crash.
    """
    import numba

    previous, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(cache_directory() / directory)
    try:
        # contract lets the compiler fuse multiply-add; nothing assumes the absence of NaN
        wrappers = {} if from_python else {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        options = {"cache": True, "fastmath": {"contract"}, "error_model": "numpy", "nogil": True} | wrappers
        dispatcher = numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = previous
    _compile_once_for_constants(dispatcher)
    return dispatcher


def _compile_once_for_constants(dispatcher):
    """Lets calls with the constants 0 and 1 share the code of other integers, where numba would compile it for each.

    The compiler finds the constants again where it inlines the call.
    """
    from numba.core.types import unliteral

    template_for = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: template_for(
        tuple(unliteral(arg) for arg in args), {name: unliteral(arg) for name, arg in kws.items()}
    )


def cache_directory():
    """Directory of the compiled kernels: MBCLI_CACHE_DIR or the user's cache, then a hash of sources and versions."""
    base = os.environ.get("MBCLI_CACHE_DIR")
    if base:
        root = Path(base)
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mbcli"
    return root / f"kernels-{_source_hash()}"


@functools.cache
def _source_hash():
    import llvmlite
    import numba
    import numpy

    digest = hashlib.sha256()
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    versions = (sys.version, platform.machine(), numba.__version__, numpy.__version__, llvmlite.__version__)
    digest.update(repr(versions).encode())
    return digest.hexdigest()[:16]
