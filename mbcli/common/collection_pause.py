"""Work on large models without the garbage collector, which would walk all that was made again and again."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def paused_collection() -> Iterator[None]:
    """Keeps the cyclic garbage collector from running inside, while many objects are made and few are dropped."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():  # the new objects are old now: the next collection need not walk it
                gc.freeze()
                gc.unfreeze()
            gc.enable()
