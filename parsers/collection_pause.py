"""Reading a large file without the garbage collector, which would walk all that was read again and again."""

import gc
from contextlib import contextmanager


@contextmanager
def paused_collection():
    """Keeps the cyclic garbage collector from running inside; parsers make many objects and drop few of them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
