"""Kernels that call the one of a kind: made from a registry, so that a kind is one file and one line.

    joint_place = dispatch(globals(), "joint", "place", KINDS, "model, data, b", "Places body b.")

defines a kernel `joint_place(kind, model, data, b)` in a module, which calls `place_revolute(model, data, b)` and so on
of the modules of KINDS. The branch is written out as `if kind == 1: ...`, which compiles to what one would write by
hand. A kind without the operation is an error at import.
"""

from types import ModuleType

from mbcli.engine.runtime.kernel import kernel

WRITTEN = {}  # {name of a kernel: its text}, for the tests of the rules of kernels


def dispatch(namespace, what, operation, kinds, arguments, doc):
    """Defines and returns the kernel `WHAT_OPERATION(kind, ...)` in the namespace of a module.

    Args:
        namespace: globals() of the module.
        what: of which the kinds are.
        operation: the function of a kind is OPERATION_NAME, where its module is NAME.
        kinds: {number of the kind: its module}.
        arguments: those of the functions, as they are written.
        doc: what the kernel does.
    """
    calls = {}  # {what is called: numbers of the kinds}
    for number, module in kinds.items():
        function = operation_of(operation, module)
        namespace[function.__name__] = function
        calls.setdefault(f"return {function.__name__}({arguments})", []).append(number)
    *others, (last, _) = sorted(calls.items(), key=lambda item: len(item[1]))
    lines = [f"def {what}_{operation}(kind, {arguments}):"]
    for call, numbers in others:
        lines.append(f"    if {' or '.join(f'kind == {number}' for number in numbers)}:\n        {call}")
    lines.append(f"    {last}")  # of the other kinds that there are: numbers are checked where arrays are made
    name = f"{what}_{operation}"
    WRITTEN[name] = "\n".join(lines)
    exec(compile(WRITTEN[name], namespace["__file__"], "exec"), namespace)
    function = namespace[name]
    function.__doc__ = doc
    return kernel(function)


def operation_of(operation, module: ModuleType):
    """The function of a kind; ImportError, with its name, if the kind lacks it."""
    name = f"{operation}_{short_name(module)}"
    function = getattr(module, name, None)
    if function is None:
        raise ImportError(f"{module.__name__} lacks {name}()", name=module.__name__, path=module.__file__)
    return function


def require_constants(modules, names):
    """ImportError if a module of a kind lacks one of the constants."""
    for module in modules:
        for name in names:
            if not hasattr(module, name):
                raise ImportError(f"{module.__name__} lacks {name}", name=module.__name__, path=module.__file__)


def short_name(module):
    return module.__name__.rpartition(".")[2]
