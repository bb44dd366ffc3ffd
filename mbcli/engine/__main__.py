"""`python -m mbcli.engine`: the slots, kernels in whose place another runs, with their fillers and when they run."""

from mbcli.engine.runtime.kernel import KINDS, SLOTS
from mbcli.engine.runtime.linking import ENGINE, all_kernels


def slot_lines():
    """A line for each slot and filler, after the kinds of kernels."""
    all_kernels()
    yield from (f"{kind:12} {meaning}" for kind, meaning in KINDS.items())
    for function in sorted(SLOTS, key=lambda f: (f.__module__, f.__name__)):
        yield f"\n{function.__module__.removeprefix(ENGINE)}.{function.__name__}"
        yield from (f"    {kind:12} {filler}" for kind, filler in SLOTS[function].items())


if __name__ == "__main__":
    print("\n".join(slot_lines()))
