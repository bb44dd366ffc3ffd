"""Results that are kept until what they follow from changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class CacheEntries(dict[Any, Any]):
    """Results by a name or by numbers of frames, all of which follow from the same things.

    Whoever hands one of their arrays to a user copies it.
    """

    def remember(self, key: Any, compute: Callable[..., Any], *arguments: Any) -> Any:
        """The result of that key; compute(*arguments) if it is not known."""
        result = self.get(key)
        if result is None:
            result = self[key] = compute(*arguments)
        return result
