"""Work on large models without the garbage collector, which would walk all that was made again and again."""

import gc
from contextlib import contextmanager


@contextmanager
def paused_collection():
    """Keeps the cyclic garbage collector from running inside, where many objects are made and few are dropped."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():  # what was made is old now: the next collection need not walk it
                gc.freeze()
                gc.unfreeze()
            gc.enable()
