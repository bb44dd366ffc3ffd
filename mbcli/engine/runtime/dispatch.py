"""Kernels that call the one of a kind: made from a registry, so that a kind is one file and one line.

    joint_place = dispatch(globals(), "joint_place", "place", KINDS, "model, data, b", "Places body b.")

defines a kernel `joint_place(kind, model, data, b)` in a module, which calls `place_revolute(model, data, b)` and so on
of the modules of KINDS. The branch is written out as `if kind == 1: ...`, which compiles to what one would write by
hand. A kind without the operation is an error at import.
"""

from types import ModuleType

from mbcli.engine.runtime.kernel import kernel

WRITTEN = {}  # {name of a kernel: its text}, for the tests of the rules of kernels


def dispatch(namespace, name, operation, kinds, arguments, doc, *, kind="", passed="", within="{}"):
    """Defines and returns the kernel `name` in the namespace of a module.

    Args:
        namespace: globals() of the module.
        operation: the function of a kind is OPERATION_NAME, where its module is NAME.
        kinds: {number of the kind: its module}.
        arguments: those of the kernel, as they are written.
        doc: what the kernel does.
        kind: where the kernel finds the number of the kind, in its arguments; default: in one more, the first.
        passed: arguments of the functions; default: those of the kernel.
        within: what is returned of {}, the result of the function.
    """
    calls = {}  # {what is called: numbers of the kinds}
    for number, module in kinds.items():
        function = operation_of(operation, module)
        namespace[function.__name__] = function
        call = within.format(f"{function.__name__}({passed or arguments})")
        calls.setdefault(f"return {call}", []).append(number)
    *others, (last, _) = sorted(calls.items(), key=lambda item: len(item[1]))
    lines = [f"def {name}({'' if kind else 'kind, '}{arguments}):"]
    if kind and others:
        lines.append(f"    kind = {kind}")
    for call, numbers in others:
        lines.append(f"    if {_is_one_of(numbers)}:\n        {call}")
    lines.append(f"    {last}")  # of the other kinds that there are: numbers are checked where arrays are made
    return _written(namespace, name, lines, doc)


def selects(namespace, name, kinds, doc):
    """Defines and returns the kernel `name(kind)` in the namespace of a module: whether it is one of the kinds."""
    return _written(namespace, name, [f"def {name}(kind):", f"    return {_is_one_of(kinds) or False}"], doc)


def _is_one_of(numbers):
    return " or ".join(f"kind == {number}" for number in numbers)


def _written(namespace, name, lines, doc):
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
