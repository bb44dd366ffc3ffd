"""Functions of format files whose modules are imported when they are called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class LateFunction:
    """A function by the names of its module and its own. The module stands in a room above: readers of one format
    include files of another, and no start imports a reader that it does not use."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def function(self) -> Callable[..., Any]:
        """The function itself."""
        return getattr(import_module(self.module), self.name)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.function()(*args, **named)


class LateReader(LateFunction):
    """The `read` of a format whose files have one model each, by a function that returns it, or None."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        model = super().__call__(*args, **named)
        return () if model is None else (model,)
