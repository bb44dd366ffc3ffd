"""How messages name an argument: as a keyword of a Python function, or as an option of the command line.

A message that advises to change an argument says `argument("dt")`. It is read as `dt` in a script, and as `--dt` in a
shell, where the command line has put its own spelling.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

NO_VALUE = object()


def as_keyword(name: str, value: object = NO_VALUE) -> str:
    """The argument as a call in Python has it: `dt`, `dt=0.01`, `start_limits="clamp"`."""
    if value is NO_VALUE:
        return name
    if isinstance(value, str):
        return f'{name}="{value}"'
    return f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"


Spelling = Callable[[str, object], str]
_spelling: ContextVar[Spelling] = ContextVar("spelling of arguments", default=as_keyword)


def argument(name: str, value: object = NO_VALUE) -> str:
    """An argument of a function of the library in a message, with its value if one is given."""
    return _spelling.get()(name, value)


@contextmanager
def spelled(spelling: Spelling) -> Iterator[None]:
    """Lets messages name arguments by spelling(name, value), value being NO_VALUE if there is none."""
    token = _spelling.set(spelling)
    try:
        yield
    finally:
        _spelling.reset(token)
